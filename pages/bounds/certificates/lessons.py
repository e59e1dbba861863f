"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

LEDGER = (".live canvas.ledger",)
PEEKING = (".st-key-peeking",)

LESSONS = (
    Lesson(
        "what-may-be-looked-at",
        "certificates",
        "What may a learner look at?",
        "Why a classifier can promise more if it learns on some points and counts on others, and what peeking breaks.",
        (
            Step(
                LEDGER,
                "Here all points serve both ends: they choose the weights, and they are counted. The vote errs on 20.9 "
                "% of fresh points, but only 63.9 % is certified.",
                "Set half of the points aside, to learn from before the bound looks. It then counts half as many "
                "points. What becomes of the certificate?",
                ("It doubles", "It stays about the same", "It falls to less than half"),
                2,
                "23.6 %. Each nat costs more with fewer points, but hardly any are spent: what was learned on the "
                "other half is free.",
                {"prior": 0.0},
                {"prior": 0.5},
            ),
            Step(
                LEDGER,
                "All points serve both ends again. Now the learner draws ten sets of frequencies, looks at all of "
                "them on the points of the bound, and keeps the best.",
                "What does it cost to have looked at all ten?",
                ("Less than one per cent of risk", "Several per cent", "The certificate is lost"),
                0,
                "0.6 %: the bound holds for all ten at once, each with a tenth of ε. The price grows with the "
                "logarithm, so that honest choices are cheap.",
                {"prior": 0.0, "tries": 1},
                {"tries": 10},
            ),
            Step(
                PEEKING,
                "A test set is used once: its bound fails for 4.7 % of samples, as promised. Now labels are coins, ten "
                "classifiers that only guess are tried on the same test set, and the best is shown with its bound.",
                "How often does that bound say that it is better than guessing?",
                ("As often as before", "In more than a quarter of samples", "Always"),
                1,
                "38.1 %. Nobody lied about any single number; the look at the other nine was not paid for. With the "
                "price paid, the bound holds.",
                {"prior": 0.5, "tries": 1},
                {"tries": 10},
            ),
            Step(
                LEDGER,
                "200 points, and so much noise that hardly anything can be learned; half of them choose the weights, "
                "the others are counted. The vote errs on 49 % of fresh points, and 66 % is certified: little to "
                "promise, but true.",
                "Now there are only 40 points like these, and each stands five times among the 200, as after a "
                "careless join of tables. What is certified?",
                ("About as much as before", "Less than half of the true error", "More than before"),
                1,
                "9.8 %, and on fresh points the vote errs on 52 %. Copies of one point are in both halves: what is "
                "learned by heart in one is counted as right in the other. A bound assumes independent rows; keep one "
                "of each.",
                {"method": "RFF (prior)", "prior": 0.5, "tries": 1, "n": 200, "noise": 0.5, "sigma": 0.1, "D": 100}
                | {"copies": 1, "stretch": 0.0},
                {"copies": 5},
            ),
        ),
        {"method": "PBRFF (pseudo-posterior)", "data": "checkerboard", "n": 2000, "noise": 0.1, "seed": 0}
        | {"sigma": 0.251, "beta": 1.0, "D": 20, "eps": 0.05},
    ),
)
