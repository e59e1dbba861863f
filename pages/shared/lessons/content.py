"""Lessons as data: what each step sets, where to look, what to predict, and the outcome with its reason.

A test recomputes the numbers in the texts, and checks what they say of numbers in words, such as "about half".
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One prediction: a figure, a question about it, and the move that answers it."""

    look: tuple[str, ...]
    """CSS selectors of where to see the outcome; the first one on the page is used (live view or plain figure)."""
    text: str
    question: str
    answers: tuple[str, ...]
    right: int
    outcome: str
    before: dict = field(default_factory=dict)
    """Settings by control key, while the reader predicts"""
    after: dict = field(default_factory=dict)
    """Settings that the answer changes"""


@dataclass(frozen=True)
class Lesson:
    """A few steps on one page; other controls have the page's defaults."""

    key: str
    """Its name in the URL"""
    page: str
    title: str
    takeaway: str
    """What the reader learns, in one sentence"""
    steps: tuple[Step, ...]
    settings: dict = field(default_factory=dict)
    """Settings that all steps share"""

    def before(self, step: int) -> dict:
        """Settings while the reader predicts; steps count from 1."""
        return self.settings | self.steps[step - 1].before

    def after(self, step: int) -> dict:
        """Settings after the prediction."""
        return self.before(step) | self.steps[step - 1].after


KERNEL_LINE = (".live .prior-panels", ".st-key-line")
KERNEL_ERRORS = (".st-key-errors",)
MAPS = (".live .maps", ".st-key-maps")
DECISIONS = (".live .decisions", ".st-key-decisions")
WEIGHTS = (".live .weights-figure", ".st-key-weights")
WORTH = (".live .worth-panels", ".st-key-worth")
LOSS_PLANE = (".live canvas.plane-loss", ".st-key-spectrum")
POSTERIOR_PLANE = (".live canvas.plane-posterior", ".st-key-spectrum")
LEARNING_ERRORS = (".st-key-errors",)
KERNEL_CURVES = (".live canvas.curves-kernel", ".st-key-curves")
TERMS = (".live canvas.parts", ".st-key-parts")
BOUND_MAP = (".live canvas.bound-map", ".st-key-curves")
PRICE = (".st-key-price-figure",)
UNION = (".st-key-union-figure",)
PROMISES = (".live:has(.promise-panels)", ".st-key-promise")
LEDGER = (".live canvas.ledger", ".st-key-ledger")
PEEKING = (".st-key-peeking",)
TWO_METHODS = (".live .method-panels", ".st-key-frequencies")
ERROR_MAPS = (".live .method-panels", ".st-key-maps")
APPROXIMATION_ERRORS = (".st-key-errors",)
GRID_WEIGHTS = (".st-key-grid",)
PLAYER = (".live:has(.descent)", ".st-key-player")
DENSITIES = (".st-key-densities",)

LESSONS = (
    Lesson(
        "average-of-cosines",
        "kernel",
        "A kernel is an average of cosines",
        "Where a kernel's bump comes from, and which cosines make it wide, narrow or pointed.",
        (
            Step(
                KERNEL_LINE,
                "The thick grey line [[on the right|below]] is the Gaussian kernel. The orange line is one cosine, its "
                "frequency drawn from the density [[on the left|above]]. It looks nothing like the kernel.",
                "Draw 19 more and average all 20. What will the orange line look like?",
                ("A faster cosine", "A bump in the middle, ripples further out", "Noise, since the draws are random"),
                1,
                "At δ = 0 every cosine is 1, so their average is 1 too. Further out they cancel: the bump is where "
                "they still agree.",
                {"D": 1},
                {"D": 20},
            ),
            Step(
                KERNEL_ERRORS,
                "How far is the average from the kernel? The large orange circle: 50 cosines, 100 features, miss it by "
                "0.061 (root mean square).",
                "How many cosines halve that error?",
                ("About 70", "100", "200", "2500"),
                2,
                "With 200 cosines, four times as many, the error is 0.029. It falls like 1/√D: the first few cosines "
                "reduce it most.",
                {"D": 50},
                {"D": 200},
            ),
            Step(
                KERNEL_LINE,
                "The ticks under the density[[, on the left,|]] are the 50 frequencies; the kernel's width σ is 1.",
                "Make the kernel wider: σ = 2.51. Where do the ticks go?",
                ("They gather around 0", "They spread out", "They stay: σ concerns points, not frequencies"),
                0,
                "A wide kernel changes slowly, so it is made of slow cosines. Width and frequencies always change in "
                "opposite directions.",
                {"D": 50},
                {"width": 2.51},
            ),
            Step(
                KERNEL_LINE,
                "None of the 50 frequencies of the Gaussian kernel lies beyond the axis. The Laplacian kernel is "
                "pointed at δ = 0.",
                "Which cosines make a kernel pointed?",
                ("Slow cosines only", "A few very fast cosines", "The same cosines with other weights"),
                1,
                "Every cosine is smooth at its top; only ever faster ones can add up to a kink. The Laplacian's "
                "density has heavy tails: now 5 of the 50 frequencies lie beyond the axis.",
                {"D": 50, "width": 0.501},
                {"kernel": "Laplacian"},
            ),
        ),
        {"kernel": "Gaussian", "width": 1.0},
    ),
    Lesson(
        "prior-to-cosine",
        "landmarks",
        "From the prior to a single cosine",
        "What β does: at 0 there is only the prior, at its largest value one cosine is left, and KL measures the "
        "change.",
        (
            Step(
                MAPS,
                "β is almost 0: labels are ignored, and the learned [[row|column]] is the plain average of 20 random "
                "cosines for each landmark. The prior [[row above|column]] is the Gaussian kernel.",
                "Give each landmark 256 cosines. What becomes of the learned [[row|column]]?",
                (
                    "It follows the two classes",
                    "It turns <<white|dark grey>>",
                    "It comes close to the prior [[row|column]]",
                ),
                2,
                "β = 0 is the prior: with more cosines, their average converges to the Gaussian bump. The distance "
                "between the [[rows|columns]] fell to about a quarter.",
                {"beta": 0.001},
                {"D": 256},
            ),
            Step(
                WEIGHTS,
                "One row per landmark, one cell per cosine: all weights are equal, so the KL divergence from the prior "
                "is 0.",
                "Use the labels: β = 1. What will happen to the weights?",
                (
                    "They hardly change: one cosine matters little",
                    "They concentrate on the few cosines that agree with the labels",
                    "They move to the slowest cosines",
                ),
                1,
                "Of 20 cosines 3 to 6 carry the weight now (1/ΣQ²), and KL has grown to between 0.86 and 1.58 nats: "
                "that is the distance from the prior.",
                {"beta": 0.001},
                {"beta": 1.0},
            ),
            Step(
                WEIGHTS,
                "At β = 1 KL is between 0.86 and 1.58. Now set β = 1000.",
                "How far can KL grow?",
                ("Without limit, as β grows", "It falls back to 0", "To ln 20, which is 3.00"),
                2,
                "All the weight is on one cosine for each landmark. From 20 equal weights KL cannot grow further: it "
                "is at most ln D. The learned maps above are now plain stripes.",
                {"beta": 1.0},
                {"beta": 1000.0},
            ),
            Step(
                DECISIONS,
                "One cosine for each landmark: 12 % of fresh points are on the wrong side of the learned decision. At "
                "β = 0.001, where labels are ignored, it is 12 %.",
                "Where is the test error lowest?",
                ("At an even smaller β", "In between, near β = 1", "It is about the same everywhere"),
                1,
                "It is 8 % at β = 1. Too small a β ignores the labels, too large a β drops all cosines but one. Drag β "
                "and watch the error fall and rise.",
                {"beta": 1000.0},
                {"beta": 1.0},
            ),
        ),
        {"data": "moons", "sigma": 0.501, "D": 20, "landmarks": 5, "how": "random"},
    ),
    Lesson(
        "beat-the-rbf-map",
        "landmarks",
        "Why 20 cosines beat the RBF map",
        "What a learned similarity can express that a bump cannot, and why 20 frequencies per landmark are enough.",
        (
            Step(
                DECISIONS,
                "Figure 1 of the paper: five landmarks on two moons. A linear SVM on five Gaussian (RBF) similarities "
                "errs on 16 % of fresh points: the prior's decision map. On five averages of 20 random cosines it errs "
                "on 12 %: the learned one.",
                "Weigh the cosines by the labels, β = 1. What will be the error on the learned map?",
                ("Hardly lower", "About half the RBF's", "Higher than the RBF's: it fits noise"),
                1,
                "8 %: half the errors, with the same five landmarks. The next step shows why.",
                {"beta": 0.001},
                {"beta": 1.0},
            ),
            Step(
                MAPS,
                "The prior [[row|column]] fades from green to <<white|dark grey>>: it is high near the landmark and 0 "
                "elsewhere. The learned [[row|column]] does not use the labels yet.",
                "At β = 1, what will the learned [[row|column]] show that the prior cannot?",
                ("Purple on the other class", "A wider green bump", "A sharper green bump"),
                0,
                "A sum of cosines can go below 0: it is green, similar, on the landmark's own moon and purple, "
                "dissimilar, on the other, far away too.",
                {"beta": 0.001},
                {"beta": 1.0},
            ),
            Step(
                DECISIONS,
                "Three landmarks only. The learned similarities err on 8 %, the RBF similarities on 21 %.",
                "How many RBF landmarks are as good as three learned ones?",
                ("Four", "Six", "More than eight"),
                2,
                "With eight the RBF still errs on 15 %. Eight bumps describe eight neighbourhoods; every learned "
                "similarity describes the whole plane. With eight learned ones the error is 5 %.",
                {"beta": 1.0, "landmarks": 3},
                {"landmarks": 8},
            ),
            Step(
                DECISIONS,
                "Back to five landmarks with 20 cosines each: 8 % errors.",
                "What if each had 256 cosines to choose from?",
                ("Far fewer errors", "No fewer errors", "As many as with the RBF: 16 %"),
                1,
                "10 %. Among 256 cosines the same β spreads its weight over 42 to 55, and the maps are closer to the "
                "prior's again. Twenty are enough, and cheap.",
                {"beta": 1.0},
                {"D": 256},
            ),
            Step(
                WORTH,
                "One landmark alone, with a threshold on its learned similarity. The labels count little, β = 0.1: at "
                "five random points it errs on 23 % of fresh points, in the mean. Drag the star to try a place; the "
                "map says how every place does.",
                "At β = 1, where is a single landmark worth most?",
                ("In the middle of its class", "Between the two moons", "Where no point is near"),
                2,
                "5 % errors at the best place, 0.7 away from the nearest point, and 13 % at the random points. A "
                "landmark only shifts its cosines: what counts is that their sum separates the moons.",
                {"beta": 0.1},
                {"beta": 1.0},
            ),
        ),
        {"data": "moons", "sigma": 0.501, "D": 20, "landmarks": 5, "how": "random"},
    ),
    Lesson(
        "power-spectrum",
        "learn_kernel",
        "The loss is a power spectrum",
        "How a spectrum shows which cosines agree with the labels, and how β and the prior use it.",
        (
            Step(
                LOSS_PLANE,
                "Each point of this plane is a cosine: slow near the centre, fast outside. Bright means a small "
                "alignment loss. Two blobs: the labels change once across the plane, so slow cosines agree with them.",
                "Take a 4 × 4 checkerboard instead. Where will the bright spots be?",
                (
                    "Still near the centre",
                    "Further out, four spots on the diagonals",
                    "On a ring around the centre",
                ),
                1,
                "For two classes the loss is a constant minus the power spectrum of the labels. A checkerboard is a "
                "product of two waves: four peaks, in the directions of its diagonals.",
                {"data": "blobs"},
                {"data": "checkerboard"},
            ),
            Step(
                LOSS_PLANE,
                "The checkerboard has 4 × 4 squares. XOR is a checkerboard of 2 × 2 larger ones.",
                "Where do the four spots go?",
                ("Closer to the centre", "Further out", "They stay where they are"),
                0,
                "Larger squares, slower waves: the spots are now less than half as far from the centre. The loss "
                "depends on the scale of the labels, not of the points.",
                {"data": "checkerboard"},
                {"data": "xor"},
            ),
            Step(
                POSTERIOR_PLANE,
                "Prior, loss, posterior: at β = 0.1 the posterior is still the prior's disc, and KL is 0.00.",
                "Set β = 10. What will the posterior look like?",
                ("A smaller disc", "The bright spots of the loss", "A ring around the disc"),
                1,
                "Posterior ∝ prior × exp(−β√n loss): the disc is gone, the spots of the loss remain. KL is 4.59, and "
                "about 11 of 2000 candidates carry the weight.",
                {"beta": 0.1},
                {"beta": 10.0},
            ),
            Step(
                LEARNING_ERRORS,
                "The posterior found the checkerboard: 10 frequencies drawn from it (PBRFF) err on 20 % of fresh "
                "points, 10 drawn from the prior on 29 %.",
                "Make the prior slow, σ = 1, so that the spots lie far outside its disc. Can PBRFF still find them?",
                ("Yes, the labels decide", "Yes, if D is larger", "No, it errs nearly as often as chance"),
                2,
                "45 %. Weights can only choose among what the prior drew: a cosine that was never drawn cannot be "
                "learned. The prior still matters.",
                {"D": 10},
                {"sigma": 1.0},
            ),
            Step(
                LOSS_PLANE,
                "A slow prior again, σ = 0.794, stretched along one axis: its ellipse lies flat between the bright "
                "spots, and 10 frequencies of PBRFF err on 42 %.",
                "Turn the same ellipse by 45°. Which bright spots can PBRFF use now?",
                ("None: the prior is no wider", "The two that the ellipse reaches", "All four: the labels decide"),
                1,
                "27 %: the wave of the two spots along the ellipse was drawn, that of the other two was not. But "
                "whoever turns a prior until the labels agree has learned from them: the bound below holds only for an "
                "ellipse fixed beforehand.",
                {"D": 10, "sigma": 0.794, "along": 2.51, "across": 0.501},
                {"angle": 45},
            ),
        ),
        {"data": "checkerboard", "sigma": 0.251, "beta": 10.0},
    ),
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
                "instead. At β = 5.01 the terms balance: 0.434.",
                {"beta": 0.1},
                {"beta": 5.01},
            ),
            Step(
                BOUND_MAP,
                "Here n is 30. Theorem 3 is smallest at β = 3.98, where it is 0.67.",
                "Take 1000 points. Where is it smallest then?",
                ("At a β about six times as large", "At nearly the same β", "At a much smaller β"),
                1,
                "At β = 5.01, where it is 0.36. The best t = β√n grows like √n, so the best β hardly moves: on the map "
                "of the bound over β and n its valley runs straight up.",
                {"n": 30, "beta": 5.01},
                {"n": 1000},
            ),
            Step(
                KERNEL_CURVES,
                "The lowest point of Theorem 3 is 0.434, at β = 5.01. But that β was chosen after looking, among 61, "
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
                "22.8 %. Each nat costs more with fewer points, but hardly any are spent: what was learned on the "
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
                "the others are counted. The vote errs on 49 % of fresh points, and 69 % is certified: little to "
                "promise, but true.",
                "Now there are only 40 points like these, and each stands five times among the 200, as after a "
                "careless join of tables. What is certified?",
                ("About as much as before", "Less than half of the true error", "More than before"),
                1,
                "8 %, and on fresh points the vote errs on 52 %. Copies of one point are in both halves: what is "
                "learned by heart in one is counted as right in the other. A bound assumes independent rows; keep one "
                "of each.",
                {"method": "RFF (prior)", "prior": 0.5, "tries": 1, "n": 200, "noise": 0.5, "sigma": 0.1, "D": 100}
                | {"copies": 1},
                {"copies": 5},
            ),
        ),
        {"method": "PBRFF (pseudo-posterior)", "data": "checkerboard", "n": 2000, "noise": 0.1, "seed": 0}
        | {"sigma": 0.251, "beta": 1.0, "D": 20, "eps": 0.05},
    ),
    Lesson(
        "draws-that-keep-apart",
        "approximate",
        "Random draws waste frequencies",
        "Why evenly spread frequencies need fewer cosines, and why that fades in many dimensions.",
        (
            Step(
                TWO_METHODS,
                "100 frequencies, drawn independently from the kernel's density; both panels show the same draw. There "
                "are clusters and gaps. The kernel matrix of 300 points on two moons is wrong by 0.096.",
                "[[On the right|Below]], let a Sobol sequence choose the 100. What will they look like?",
                (
                    "A regular grid in a square",
                    "The same disc, without clusters and gaps",
                    "Fewer in the middle, more outside",
                ),
                1,
                "The sequence fills the unit square evenly, and the kernel's quantiles turn the square into the same "
                "disc. No frequency repeats its neighbour: the error is 0.045.",
                {"second": "Monte Carlo"},
                {"second": "Sobol"},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Means of five draws at r = 20: Monte Carlo errs by 0.251, Sobol by 0.193.",
                "Take ten times as many. Monte Carlo's error falls to about a third. And Sobol's?",
                ("To about a half", "To about a third as well", "To about a ninth"),
                2,
                "To 0.022; Monte Carlo's fell to 0.085. Its line is straight and has the slope of 1/√r, Sobol's is "
                "steeper: each further point falls into a gap between the others.",
                {"second": "Sobol", "r": 20},
                {"r": 200},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Two moons have two columns. At r = 100 Sobol errs by 0.049, Monte Carlo by 0.122.",
                "Now digits: 59 columns, so the frequencies have 59 dimensions. By how much does Sobol win?",
                ("By more: there is more space to fill", "By as much", "Hardly at all"),
                2,
                "0.252 against 0.263. A hundred points cannot fill 59 dimensions evenly: they do not even cover all "
                "combinations of the halves of each coordinate.",
                {"second": "Sobol"},
                {"data": "digits"},
            ),
            Step(
                TWO_METHODS,
                "Is nothing gained in 59 dimensions? Monte Carlo's draw errs by 0.266, Sobol's by 0.251.",
                "Take frequencies at right angles to each other, with lengths as before: Orthogonal.",
                (
                    "The error falls by about a seventh",
                    "The error falls to about a seventh",
                    "No change: random directions are nearly at right angles anyway",
                ),
                0,
                "0.226. Nearly is not exactly: with many frequencies, small overlaps add up. Exact right angles, 59 "
                "frequencies at a time, are cheap.",
                {"data": "digits", "second": "Sobol"},
                {"second": "Orthogonal"},
            ),
        ),
        {"data": "moons", "kernel": "Gaussian", "width": 1.0, "r": 100, "first": "Monte Carlo"},
    ),
    Lesson(
        "frequencies-that-know-the-data",
        "approximate",
        "Frequencies fitted to the data",
        "What is gained, and where, when weights and then frequencies are fitted to rows of the data.",
        (
            Step(
                TWO_METHODS,
                "Two moons: 50 drawn frequencies, the same ones [[on both sides|in both panels]], and every one of "
                "them weighs 1/50. The error is 0.241.",
                "[[On the right|Below]], keep them, but fit their weights to the kernel on 50 rows. None may go below "
                "0.",
                (
                    "All keep about their weight",
                    "Weights spread, and the error falls to about a fifth",
                    "One takes nearly all the weight",
                ),
                1,
                "0.044. Weights now range from 0.4 to 2.6 times 1/50: frequencies in a cluster share the weight of "
                "one, and a frequency next to a gap gets more.",
                {"data": "moons", "second": "Monte Carlo"},
                {"second": "Weight"},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Wine, 11 columns. Means at r = 50: Monte Carlo 0.294, Weight 0.234.",
                "Let the frequencies move as well, downhill on the same error: Sample. How many drawn ones are as good "
                "as 50 of these?",
                ("About 60", "About 100", "About 200"),
                2,
                "Sample's 50 err by 0.138; Monte Carlo takes 200 for 0.149. The data need not be approximated in every "
                "direction: frequencies go where the rows differ.",
                {"second": "Weight"},
                {"second": "Sample"},
            ),
            Step(
                ERROR_MAPS,
                "Two circles and a narrow kernel, 20 frequencies. Bright is where the similarity to the row at the "
                "star is wrong; for Sobol, [[on the right|below]], that is both among the rows and off them.",
                "Sample fits its 20 to 20 of the rows. Where will it still be wrong?",
                ("Everywhere, a little less", "Off the rows, hardly at them", "Around the star"),
                1,
                "At the rows the mean error falls from 0.08 to 0.03, further away it is 0.08, and the largest error is "
                "as before: 0.41. The fit does not use points there.",
                {"data": "circles", "width": 0.398, "r": 20, "second": "Sobol", "seed": 1},
                {"second": "Sample"},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Back to wine. Nyström has no cosines: its features are made of the kernel's values at r rows. With 50 "
                "rows it has 50 features, Sample with 50 frequencies has 100.",
                "Which of the two errs less?",
                ("Nyström, though with half the features", "Sample, by far", "They are the same method"),
                0,
                "0.118 against 0.138: Nyström is better here. But cosines need no rows to be stored, and their weights "
                "are a distribution that labels can change.",
                {"first": "Sample", "second": "Monte Carlo"},
                {"second": "Nyström"},
            ),
        ),
        {"data": "wine", "kernel": "Gaussian", "width": 1.0, "r": 50, "first": "Monte Carlo"},
    ),
    Lesson(
        "points-choose-frequencies",
        "adaptive",
        "Frequencies depend on the points",
        "Why the same kernel needs other frequencies for other points, and why a better density gains so little.",
        (
            Step(
                GRID_WEIGHTS,
                "Points on a ring, and a grid of frequencies weighted twice: by the prior, and by a fit of the kernel "
                "between the landmarks. Both are round hills.",
                "Put the points on a line instead. Where does the weight [[on the right|in the last map]] go?",
                ("Along the line", "Across the line", "It stays a round hill"),
                1,
                "Points on a line do not differ across it: there every cosine is 1, so any frequency will do, and the "
                "weight spreads out. Along the line the weights still follow the prior's hill.",
                {"data": "ring"},
                {"data": "line"},
            ),
            Step(
                GRID_WEIGHTS,
                "λ penalizes large weights, so they spread where they can. The error at the landmarks is 0.0081; the "
                "prior's own weights have 0.00066.",
                "Lower λ from 0.1 to 0.001. How does the long hill change?",
                ("Longer still", "Nearly the prior's round hill", "A few single frequencies"),
                1,
                "The error is 0.00065 now. The line of points has some width, and so small an error has to take it "
                "into account: the weights are nearly those of the prior.",
                {"ridge": 0.1},
                {"ridge": 0.001},
            ),
            Step(
                DENSITIES,
                "Now frequencies are drawn, at best from the density that minimizes the squared error. [[On the "
                "right|Below]] is its ratio to the prior: a stripe across the line. It saves 5.1 % of the squared "
                "error.",
                "Take the ring again. How much does the best density save there?",
                ("About half", "About a fifth", "Next to nothing"),
                2,
                "1.2 %. The mean of cos² over all pairs lies between ½ and 1, so no density can differ much from the "
                "prior. Where frequencies lie matters, but a better density hardly helps: they have to be moved.",
                {"data": "line"},
                {"data": "ring"},
            ),
        ),
        {"N": 300, "noise": 0.05, "seed": 0, "sigma": 1.0, "ridge": 0.1, "method": "Sample", "landmarks": 50},
    ),
    Lesson(
        "move-do-not-draw",
        "adaptive",
        "Move frequencies, do not draw more",
        "What a descent on a few landmarks gains, and which landmarks it needs.",
        (
            Step(
                PLAYER,
                "Press Play. 20 frequencies as drawn miss the kernel on two moons by 0.304; with their best weights by "
                "0.110; after 80 steps by 0.00526.",
                "Draw 50 and leave them where they are. How wrong are they, against the 20 that moved?",
                ("About as wrong", "Five times as wrong", "Forty times as wrong"),
                2,
                "0.219, the dotted line. Errors of drawn frequencies fall like 1/√r, so more draws help little. A "
                "descent moves each one to where the others leave a gap; 50 that moved reach 0.00056.",
                {"r": 20},
                {"r": 50},
            ),
            Step(
                PLAYER,
                "The descent uses only 50 landmarks among the 300 points. It ends at 0.00021 there and at 0.00056 "
                "over all points.",
                "Give it only 10 landmarks. What happens to the two errors?",
                ("Both rise", "It falls at the landmarks, and rises over all points", "Both fall"),
                1,
                "50 frequencies fit 10 points easily, and the error there is about 3e−5. Nothing controls the error "
                "between them: over all points it ends at about 0.04, well above its lowest on the way.",
                {"landmarks": 50},
                {"landmarks": 10},
            ),
            Step(
                PLAYER,
                "Ten landmarks, drawn among the points: about 0.04 over all of them.",
                "Take the ten centroids of k-means instead, each with the weight of its cluster.",
                ("Several times better", "About the same", "Worse: centroids are not even points"),
                0,
                "0.0105. Centroids are spread out and represent their clusters, so their differences are a good sample "
                "of all. In many dimensions use the points nearest to them: centroids far from all data mislead.",
                {"method": "Sample", "landmarks": 10},
                {"method": "Cluster"},
            ),
        ),
        {"data": "moons", "N": 300, "noise": 0.05, "seed": 0, "sigma": 0.501, "r": 50, "landmarks": 50},
    ),
)


def lessons_of(page: str) -> dict[str, Lesson]:
    """The lessons of a page, by key."""
    return {lesson.key: lesson for lesson in LESSONS if lesson.page == page}


def lesson_named(key: str) -> Lesson:
    """The lesson with a key.

    Raises
    ------
    ValueError
        If there is none.
    """
    for lesson in LESSONS:
        if lesson.key == key:
            return lesson
    raise ValueError(f"There is no lesson {key!r} in this version.")


def following(lesson: Lesson) -> Lesson | None:
    """The next lesson, or None after the last."""
    after = LESSONS[LESSONS.index(lesson) + 1 :]
    return after[0] if after else None
