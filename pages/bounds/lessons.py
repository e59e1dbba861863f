"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

KERNEL_CURVES = (".live canvas.curves-kernel",)
TERMS = (".live canvas.parts",)
BOUND_MAP = (".live canvas.bound-map",)
PRICE = (".st-key-price-figure",)
UNION = (".st-key-union-figure",)
PROMISES = (".live:has(.promise-panels)", ".st-key-promise")  # the second in the static edition

LESSONS = (
    Lesson(
        "price-of-peeking",
        "bounds",
        "What a bound guarantees, and the price of peeking",
        "How to read a bound, what its terms are, and what choosing β after looking costs.",
        (
            Step(
                KERNEL_CURVES,
                "A bound is computed from the sample alone. It guarantees: the true risk, the dashed line, is no "
                "higher, in at least 95 % of samples. Here n is 100; at β = 1 the green line, Theorem 3, is 0.75 and "
                "the true risk 0.40.",
                "Take ten times as many points. What happens to the gap between the two?",
                ("It stays: the guarantee is the same", "It shrinks to less than half", "It shrinks to a tenth"),
                1,
                "0.47 against 0.31. What a bound adds to the empirical loss shrinks with n, but slowly: ten times the "
                "data do not reduce the gap to a tenth.",
                {"n": 100, "beta": 1.0},
                {"n": 1000},
            ),
            Step(
                TERMS,
                "Theorem 3 is a sum of terms. At β = 0.1 it is 2.16; a loss is never above 1, so this bound is "
                "vacuous.",
                "Which term makes it so large?",
                (
                    "The ln term: the cost of certainty",
                    "The KL term: the distance of Q from the prior",
                    "The empirical loss",
                ),
                0,
                "The ln term is ln(1/ε)/t with t = β√n, and a small β makes it huge. Towards larger β the t term grows "
                "instead. At β = 5 the terms balance: 0.434.",
                {"beta": 0.1},
                {"beta": 5.01},
            ),
            Step(
                BOUND_MAP,
                "Here n is 30. Theorem 3 is smallest at β = 3.98, where it is 0.67.",
                "Take 1000 points. Where is it smallest then?",
                ("At a β about six times as large", "At nearly the same β", "At a much smaller β"),
                1,
                "At β = 5, where it is 0.36. The best t = β√n grows like √n, so the best β hardly moves: on the map "
                "of the bound over β and n its valley runs straight up.",
                {"n": 30, "beta": 5.01},
                {"n": 1000},
            ),
            Step(
                KERNEL_CURVES,
                "The lowest point of Theorem 3 is 0.434, at β = 5. But that β was chosen after looking, among 61, "
                "and the bound holds for a β fixed beforehand.",
                "Which value is guaranteed for the best of all 61?",
                (
                    "Still 0.434",
                    "A little more: 0.476",
                    "61 × 0.434, useless",
                ),
                1,
                "To hold at all 61 at once, each may fail with probability ε/61 only. That enters through a logarithm, "
                "ln(61)/t: peeking costs, but not much.",
                {"beta": 5.01},
                {"price": True},
            ),
            Step(
                PRICE,
                "Diamonds: the best β, price paid. Now require more certainty: failure in 1 of 1000 samples, not in 1 "
                "of 20.",
                "Which bound grows most?",
                ("Theorem 3", "All grow equally", "Theorem 4"),
                2,
                "Bounds with ln(1/ε) hardly change: Theorem 3 goes from 0.476 to 0.508. Theorem 4 contains a power of "
                "1/ε: it grows from 0.884 to 10.7, beyond the axis.",
                {"beta": 5.01, "price": True, "question": "At what price?"},
                {"eps": 0.001},
            ),
            Step(
                UNION,
                "Theorem 1 holds for one landmark, fixed beforehand. The panel on the right is a hard case: there the "
                "bound for one landmark fails in 0.8 % of samples, where 5 % are allowed.",
                "Use the same bound for 100 landmarks of the sample. How often does it fail for one of them?",
                ("In 5 % of samples", "In 53 % of samples", "In nearly every sample"),
                1,
                "So landmarks that were chosen by looking, per class or as the best, have no guarantee from it. With "
                "ln(n_L/ε) some landmark fails in 0.4 %; with n_L = n any choice is covered. Centroids are no points "
                "of the sample and never are. A width chosen on the sample costs likewise.",
                {"beta": 5.01, "union": 1, "question": "At what price?"},
                {"union": 100},
            ),
        ),
        {"data": "moons", "n": 300, "sigma": 0.501, "N": 200, "eps": 0.05, "mu": 5.0, "bound": "Theorem 3"},
    ),
    Lesson(
        "theorem-that-fails",
        "bounds",
        "A printed theorem that fails, and its repair",
        "How a simulation shows that a bound is false, and how one exponent repairs it.",
        (
            Step(
                PROMISES,
                "Each dot is a sample of 1000 points, at its bound and at the loss that is true; above the diagonal "
                "the bound fails. At μ = 2 no sample breaks Theorem 4 as printed.",
                "Raise μ to 5. A bound may fail for up to 5 % of samples; for how many does the printed one fail where "
                "the true loss is ¼?",
                ("None", "Just about 5 %", "Several times as many"),
                2,
                "18.7 %: at μ = 5 the printed theorem is false. Its dots moved so far left that their ordinary scatter "
                "crosses the diagonal.",
                {"mu": 2.0},
                {"mu": 5.0},
            ),
            Step(
                PROMISES,
                "With 100 points the printed bound fails in 3.4 % of samples at a true loss of ¼, and nowhere in "
                "clearly more than the 5 % allowed: the error would go unnoticed.",
                "Do more data help? Take 1000 points.",
                ("It fails less often", "It fails as often", "It fails more often"),
                2,
                "18.7 % now. At μ = 5 the printed bound shrinks like n^(−0.8), the scatter only like n^(−0.5): the "
                "more data, the worse.",
                {"n": 100},
                {"n": 1000},
            ),
            Step(
                PROMISES,
                "The repair: where μ > 2, the proof gives the power ½, not 1 − 1/μ, to the variance of the loss. Those "
                "are the green dots, corrected.",
                "Push μ to 10. The printed bound then fails in 30 % of samples at a true loss of ¼. And the corrected "
                "one?",
                ("In about 5 %", "In none of the 1000", "In as many"),
                1,
                "It shrinks no faster than the scatter. Its distance is the price of a valid bound.",
                {},
                {"mu": 10.0},
            ),
            Step(
                KERNEL_CURVES,
                "Back to the curves, in their corrected form. Theorem 4 is the dashed line in colour; its best value "
                "is 0.679.",
                "Switch to the form as printed. What happens to that line?",
                ("It drops, and looks better", "It rises, and looks worse", "Nothing to be seen"),
                0,
                "0.418, well below the valid 0.679. Only a proof or a simulation shows that a bound is too low: one "
                "sample never does.",
                {"question": "How tight?", "bound": "Theorem 4"},
                {"form": "paper"},
            ),
        ),
        {"data": "moons", "n": 1000, "eps": 0.05, "mu": 5.0, "form": "corrected", "question": "Does it hold?"},
    ),
)
