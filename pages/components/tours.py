"""The lessons as data: what each step sets, where to look, what to predict, and what is then seen and why.

No code but the look-up of a step's settings. Texts hold no number that a page computes: they name it, as in
``{after.error:.3f}``, and `tour_numbers` fills it in from the results that the page draws. What a text says of numbers
in words, "about half", is what the lesson teaches; a test asks the engine for that, with room for rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One prediction: a picture, a question about it, and the move that answers it.

    The text, the question, the answers and the outcome are format strings over ``before``, ``after`` and ``also``.
    """

    look: tuple[str, ...]
    """Where the outcome is seen, as CSS selectors; the first that the page has counts (live picture or plain one)."""
    text: str
    question: str
    answers: tuple[str, ...]
    right: int
    outcome: str
    before: dict = field(default_factory=dict)
    """Settings by control key, while the reader predicts"""
    after: dict = field(default_factory=dict)
    """Those that the answer changes"""
    also: dict = field(default_factory=dict)
    """Those of a third setting, different from ``before``, whose numbers a text compares with"""


@dataclass(frozen=True)
class Lesson:
    """A few steps on one page; a control that no settings name is at the page's default."""

    key: str
    """Its name in the URL"""
    page: str
    title: str
    know: str
    """What the reader knows in the end, in one sentence"""
    steps: tuple[Step, ...]
    settings: dict = field(default_factory=dict)
    """Those that all steps share"""

    def before(self, step: int) -> dict:
        """Settings while the reader predicts; steps count from 1."""
        return self.settings | self.steps[step - 1].before

    def after(self, step: int) -> dict:
        """Settings once the reader has predicted."""
        return self.before(step) | self.steps[step - 1].after

    def also(self, step: int) -> dict:
        """Settings that the texts of the step compare with."""
        return self.before(step) | self.steps[step - 1].also


KERNEL_LINE = (".st-key-line",)
KERNEL_ERRORS = (".st-key-errors",)
MAPS = (".live .maps", ".st-key-maps")
DECISIONS = (".live .lower", ".st-key-decisions")
WEIGHTS = (".live .weights-figure", ".st-key-weights")
LOSS_PLANE = (".live canvas.plane-loss", ".st-key-spectrum")
POSTERIOR_PLANE = (".live canvas.plane-posterior", ".st-key-spectrum")
LEARNING_ERRORS = (".st-key-errors",)
KERNEL_CURVES = (".live canvas.curves-kernel", ".st-key-curves")
PARTS = (".live canvas.parts", ".st-key-parts")
PRICE = (".st-key-price-figure",)
PROMISE = (".st-key-promise",)
TWO_METHODS = (".st-key-frequencies",)
ERROR_MAPS = (".st-key-maps",)
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
                "The thick grey line on the right is the Gaussian kernel. The orange line is one cosine, its frequency "
                "drawn from the density on the left. It looks nothing like the kernel.",
                "Draw 19 more and average all 20. What will the orange line look like?",
                ("A faster cosine", "A bump in the middle, ripples further out", "Noise, since the draws are random"),
                1,
                "At δ = 0 every cosine is 1, so their average is 1 too. Further out they disagree and cancel: the bump "
                "is where they still agree.",
                {"D": 1},
                {"D": 20},
            ),
            Step(
                KERNEL_ERRORS,
                "How far is the average from the kernel? The large orange circle: 50 cosines, 100 features, miss it by "
                "{before.error:.3f} (root mean square).",
                "How many cosines halve that error?",
                ("About 70", "100", "200", "2500"),
                2,
                "With 200 cosines, four times as many, the error is {after.error:.3f}. It shrinks like 1/√D: the first "
                "few cosines do most of the work.",
                {"D": 50},
                {"D": 200},
            ),
            Step(
                KERNEL_LINE,
                "The ticks under the density, on the left, are the 50 frequencies; the kernel's width σ is 1.",
                "Make the kernel wider: σ = 2.51. Where do the ticks go?",
                ("They gather around 0", "They spread out", "They stay: σ is about points, not about frequencies"),
                0,
                "A wide kernel changes slowly, so it is made of slow cosines. Width and frequencies always move in "
                "opposite directions.",
                {"D": 50},
                {"width": 2.51},
            ),
            Step(
                KERNEL_LINE,
                "None of the 50 frequencies of the Gaussian kernel lies beyond the axis. The Laplacian kernel is "
                "pointed at δ = 0.",
                "What does it take to make a point?",
                ("Slow cosines only", "A few very fast cosines", "The same cosines, with other weights"),
                1,
                "Every cosine is smooth at its top; only ever faster ones add up to a point. The Laplacian's density "
                "has heavy tails: now {after.outside} of the 50 frequencies lie beyond the axis.",
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
        "What β does: at 0 there is only the prior, at its largest one cosine is left, and KL counts the way.",
        (
            Step(
                MAPS,
                "β is as good as 0: labels count for nothing, and the learned row is the plain average of 20 random "
                "cosines for each landmark. The prior row above is the Gaussian kernel.",
                "Give each landmark 256 cosines. What becomes of the learned row?",
                ("It follows the two classes", "It turns white", "It comes close to the prior row"),
                2,
                "β = 0 is the prior: as cosines join, their average settles on the Gaussian bump. The distance between "
                "the rows fell to about a quarter.",
                {"beta": 0.001},
                {"D": 256},
            ),
            Step(
                WEIGHTS,
                "One row a landmark, one cell a cosine: all weigh the same, so the KL divergence from the prior is 0.",
                "Let the labels count: β = 1. What will the weights do?",
                (
                    "Hardly move: one cosine says little",
                    "Gather on the few cosines that agree with the labels",
                    "Move to the slowest cosines",
                ),
                1,
                "Of 20 cosines {after.fewest_cosines:.0f} to {after.most_cosines:.0f} carry the weight now (1/ΣQ²), "
                "and KL has grown to between {after.least_kl:.2f} and {after.most_kl:.2f} nats: that is how far belief "
                "has moved.",
                {"beta": 0.001},
                {"beta": 1.0},
            ),
            Step(
                WEIGHTS,
                "At β = 1 KL is between {before.least_kl:.2f} and {before.most_kl:.2f}. Now go on to β = 1000.",
                "How far can KL grow?",
                ("Without limit, with β", "It falls back to 0", "To ln 20, which is {before.highest_kl:.2f}"),
                2,
                "All the weight is on one cosine for each landmark. From 20 equal weights there is no further to go: "
                "KL is at most ln D. The learned maps above are now plain stripes.",
                {"beta": 1.0},
                {"beta": 1000.0},
            ),
            Step(
                DECISIONS,
                "One cosine for each landmark: {before.learned_error:.0%} of fresh points are on the wrong side of the "
                "learned decision, the map on the right. At β = 0.001, where labels count for nothing, it is "
                "{also.learned_error:.0%}.",
                "Where is the test error lowest?",
                ("At an even smaller β", "In between, near β = 1", "It is about the same everywhere"),
                1,
                "It is {after.learned_error:.0%} at β = 1. Too small a β ignores the labels, too large a one throws "
                "all cosines but one away. Drag β and watch the error fall and rise.",
                {"beta": 1000.0},
                {"beta": 1.0},
                {"beta": 0.001},
            ),
        ),
        {"data": "moons", "sigma": 0.501, "D": 20, "landmarks": 5, "how": "random"},
    ),
    Lesson(
        "beat-the-rbf-map",
        "landmarks",
        "Why 20 cosines beat the RBF map",
        "What a learned similarity can say that a bump cannot, and why 20 frequencies a landmark are enough.",
        (
            Step(
                DECISIONS,
                "Figure 1 of the paper: five landmarks on two moons. A linear SVM on five Gaussian (RBF) similarities "
                "errs on {before.prior_error:.0%} of fresh points, the map in the middle. On five averages of 20 "
                "random cosines it errs on {before.learned_error:.0%}, the map on the right.",
                "Weigh the cosines by the labels, β = 1. What will be the error on the right?",
                ("Hardly lower", "About half the RBF's", "Higher than the RBF's: it fits noise"),
                1,
                "{after.learned_error:.0%}: half the errors, with the same five landmarks. Let us see why.",
                {"beta": 0.001},
                {"beta": 1.0},
            ),
            Step(
                MAPS,
                "The prior row fades from green to white: a bump says ‘near’ and is silent about the rest. In the "
                "learned row the labels do not count yet.",
                "At β = 1, what will the learned row show that the prior row cannot?",
                ("Purple on the other class", "A wider green bump", "A sharper green bump"),
                0,
                "A sum of cosines can go below 0. It says ‘like me’ on the landmark's own moon and ‘unlike me’, "
                "purple, on the other, far away too.",
                {"beta": 0.001},
                {"beta": 1.0},
            ),
            Step(
                DECISIONS,
                "Three landmarks only. The learned similarities err on {before.learned_error:.0%}, the RBF "
                "similarities on {before.prior_error:.0%}.",
                "How many RBF landmarks are as good as three learned ones?",
                ("Four", "Six", "More than eight"),
                2,
                "With eight the RBF still errs on {after.prior_error:.0%}. Eight bumps know eight neighbourhoods; "
                "every learned similarity says something about the whole plane. With eight learned ones the error is "
                "{after.learned_error:.0%}.",
                {"beta": 1.0, "landmarks": 3},
                {"landmarks": 8},
            ),
            Step(
                DECISIONS,
                "Back to five landmarks with 20 cosines each: {before.learned_error:.0%} errors.",
                "What if each had 256 cosines to choose from?",
                ("Far fewer errors", "No fewer errors", "As many as with the RBF: {before.prior_error:.0%}"),
                1,
                "{after.learned_error:.0%}. Among 256 cosines the same β spreads its weight over "
                "{after.fewest_cosines:.0f} to {after.most_cosines:.0f}, and the maps are closer to the prior's again. "
                "Twenty are plenty, and cheap.",
                {"beta": 1.0},
                {"D": 256},
            ),
        ),
        {"data": "moons", "sigma": 0.501, "D": 20, "landmarks": 5, "how": "random"},
    ),
    Lesson(
        "power-spectrum",
        "learn_kernel",
        "The loss is a power spectrum",
        "Which cosines agree with the labels can be read off a spectrum, and what β and the prior make of it.",
        (
            Step(
                LOSS_PLANE,
                "Each point of this plane is a cosine: slow near the centre, fast outside. Bright means a small "
                "alignment loss. Two blobs: the labels change once across the plane, and slow cosines agree with them.",
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
                "reads the scale of the labels, not of the points.",
                {"data": "checkerboard"},
                {"data": "xor"},
            ),
            Step(
                POSTERIOR_PLANE,
                "Prior, loss, posterior: at β = 0.1 the posterior is still the prior's disc, and KL is "
                "{before.kl:.2f}.",
                "Set β = 10. What will the posterior look like?",
                ("A smaller disc", "The bright spots of the loss", "A ring around the disc"),
                1,
                "Posterior ∝ prior × exp(−β√n loss): the disc is gone, the spots of the loss are left. KL is "
                "{after.kl:.2f}, and some {after.effective:.0f} of 2000 candidates carry the weight.",
                {"beta": 0.1},
                {"beta": 10.0},
            ),
            Step(
                LEARNING_ERRORS,
                "The posterior found the checkerboard: 10 frequencies drawn from it (PBRFF) err on "
                "{before.learned_error:.0%} of fresh points, 10 drawn from the prior on {before.prior_error:.0%}.",
                "Make the prior slow, σ = 1, so that the spots lie far outside its disc. Can PBRFF still find them?",
                ("Yes, the labels decide", "Yes, if D is larger", "No, it errs nearly as often as chance"),
                2,
                "{after.learned_error:.0%}. Weights can only choose among what the prior drew: a cosine that was never "
                "drawn cannot be learned. The prior still matters.",
                {"D": 10},
                {"sigma": 1.0},
            ),
        ),
        {"data": "checkerboard", "sigma": 0.251, "beta": 10.0},
    ),
    Lesson(
        "price-of-peeking",
        "bounds",
        "What a bound promises, and the price of peeking",
        "How to read a bound, what it is made of, and what choosing β after looking costs.",
        (
            Step(
                KERNEL_CURVES,
                "A bound is computed from the sample alone. It promises: the true risk, the dashed line, is no higher, "
                "in at least 95 % of samples. Here n is 100; at β = 1 the green line, Theorem 3, says "
                "{before.theorem_3:.2f} where the truth is {before.risk:.2f}.",
                "Take ten times as many points. What happens to the gap between the two?",
                ("It stays: the promise is the same", "It shrinks to less than half", "It shrinks to a tenth"),
                1,
                "{after.theorem_3:.2f} against {after.risk:.2f}. What a bound adds to the empirical loss shrinks with "
                "n, but slowly: ten times the data do not buy a tenth of the gap.",
                {"n": 100, "beta": 1.0},
                {"n": 1000},
            ),
            Step(
                PARTS,
                "Theorem 3 is a sum of parts. At β = 0.1 it says {before.theorem_3:.2f}; a loss is never above 1, so "
                "that is no news at all.",
                "Which part is to blame?",
                (
                    "The ln term: what certainty costs",
                    "The KL term: what Q has learned",
                    "The empirical loss",
                ),
                0,
                "The ln term is ln(1/ε)/t with t = β√n, and a small β makes it huge. Towards larger β the t "
                "term grows instead. At β = 5.01 the parts balance: {after.theorem_3:.3f}.",
                {"beta": 0.1},
                {"beta": 5.01},
            ),
            Step(
                KERNEL_CURVES,
                "The lowest point of Theorem 3 is {before.best_theorem_3:.3f}, at β = {before.best_beta:.3g}. But we "
                "chose that β after looking, among 61, and the promise is for a β fixed beforehand.",
                "What is an honest claim for the best of all 61?",
                (
                    "Still {before.best_theorem_3:.3f}",
                    "A little more: {after.best_theorem_3:.3f}",
                    "61 × {before.best_theorem_3:.3f}, useless",
                ),
                1,
                "To hold at all 61 at once, each may fail in a part ε/61 only. That enters through a logarithm, "
                "ln(61)/t: peeking costs, but not much.",
                {"beta": 5.01},
                {"price": True},
            ),
            Step(
                PRICE,
                "Diamonds: the best β, price paid. Now ask for more certainty: wrong in 1 of 1000 samples, not in 1 "
                "of 20.",
                "Which bound minds most?",
                ("Theorem 3", "All mind the same", "Theorem 4"),
                2,
                "Bounds with ln(1/ε) hardly move: Theorem 3 goes from {before.best_theorem_3:.3f} to "
                "{after.best_theorem_3:.3f}. Theorem 4 holds a power of 1/ε: it leaps from {before.best_theorem_4:.3f} "
                "to {after.best_theorem_4:.1f}, beyond the axis.",
                {"beta": 5.01, "price": True},
                {"eps": 0.001},
            ),
        ),
        {"data": "moons", "n": 300, "sigma": 0.501, "N": 200, "eps": 0.05, "mu": 5.0, "bound": "Theorem 3"},
    ),
    Lesson(
        "theorem-that-fails",
        "bounds",
        "A printed theorem that fails, and its repair",
        "How a simulation unmasks a bound, and how one exponent repairs it.",
        (
            Step(
                PROMISE,
                "20 000 samples of 1000 points. The bars show by how much the true loss exceeds the sample's; a bar to "
                "the right of a line breaks that bound's promise. At μ = 2 no sample breaks Theorem 4 as printed.",
                "Raise μ to 5. Up to 5 % of samples may break a promise; how many break the printed one?",
                ("None", "Just about 5 %", "Several times as many"),
                2,
                "{after.printed_failures:.1%}: at μ = 5 the printed theorem is false. Its line moved so far left that "
                "the sample's ordinary scatter jumps over it.",
                {"mu": 2.0},
                {"mu": 5.0},
            ),
            Step(
                PROMISE,
                "With 100 points the printed bound fails in {before.printed_failures:.1%} of samples: fewer than the 5 "
                "% allowed, and nobody would notice.",
                "Surely more data help? Take 1000 points.",
                ("It fails less often", "It fails as often", "It fails more often"),
                2,
                "{after.printed_failures:.1%} now. At μ = 5 the printed bound shrinks like n^(−0.8), the scatter only "
                "like n^(−0.5): the more data, the worse.",
                {"n": 100},
                {"n": 1000},
            ),
            Step(
                PROMISE,
                "The repair: where μ > 2, the proof gives the power ½, not 1 − 1/μ, to the variance of the loss. That "
                "is the green line, corrected.",
                "Push μ to 10. The printed bound then fails in {after.printed_failures:.0%} of samples. And the "
                "corrected one?",
                ("In about 5 %", "In none of the 20 000", "In as many"),
                1,
                "It shrinks no faster than the scatter does. Its distance is the price of a promise that is kept.",
                {},
                {"mu": 10.0},
            ),
            Step(
                KERNEL_CURVES,
                "Back to the curves, in their corrected form. Theorem 4 is the dashed vermilion line; its best value "
                "is {before.best_theorem_4:.3f}.",
                "Switch to the form as printed. What happens to that line?",
                ("It drops, and looks better", "It rises, and looks worse", "Nothing to be seen"),
                0,
                "{after.best_theorem_4:.3f}, well below the honest {before.best_theorem_4:.3f}. A bound that is too "
                "good can only be caught by proof or by simulation: looking at one sample never shows it.",
                {},
                {"form": "paper"},
            ),
        ),
        {"data": "moons", "n": 1000, "eps": 0.05, "mu": 5.0, "form": "corrected"},
    ),
    Lesson(
        "draws-that-keep-apart",
        "approximate",
        "Random draws waste frequencies",
        "Why evenly spread frequencies need fewer cosines, and why that fades in many dimensions.",
        (
            Step(
                TWO_METHODS,
                "100 frequencies, drawn one by one from the kernel's density; both panels show the same draw. There "
                "are heaps and there are holes. The kernel matrix of 300 points on two moons is wrong by "
                "{before.first.error:.3f}.",
                "On the right, let a Sobol sequence choose the 100. What will they look like?",
                (
                    "A regular grid in a square",
                    "The same disc, without heaps and holes",
                    "Fewer in the middle, more outside",
                ),
                1,
                "The sequence fills the unit square evenly, and the kernel's quantiles turn the square into the same "
                "disc. No frequency repeats what its neighbour says already: the error is {after.second.error:.3f}.",
                {"second": "Monte Carlo"},
                {"second": "Sobol"},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Means of five draws at r = 20: Monte Carlo errs by {before.mean[Monte Carlo]:.3f}, Sobol by "
                "{before.mean[Sobol]:.3f}.",
                "Take ten times as many. Monte Carlo's error falls to about a quarter. And Sobol's?",
                ("To about a half", "To about a quarter as well", "To about a sixth"),
                2,
                "To {after.mean[Sobol]:.3f}; Monte Carlo's fell to {after.mean[Monte Carlo]:.3f}. Its line is straight "
                "and has the slope of 1/√r, Sobol's is steeper: each further point falls where the others have left "
                "room.",
                {"second": "Sobol", "r": 20},
                {"r": 200},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Two moons have two columns. At r = 100 Sobol errs by {before.mean[Sobol]:.3f}, Monte Carlo by "
                "{before.mean[Monte Carlo]:.3f}.",
                "Now digits: 59 columns, so the frequencies live in 59 dimensions. By how much does Sobol win?",
                ("By more: there is more room to fill", "By as much", "Not at all"),
                2,
                "{after.mean[Sobol]:.3f} against {after.mean[Monte Carlo]:.3f}. A hundred points cannot fill 59 "
                "dimensions evenly: there are not even enough for both halves of every coordinate with both halves of "
                "all others.",
                {"second": "Sobol"},
                {"data": "digits"},
            ),
            Step(
                TWO_METHODS,
                "Is there nothing to save in 59 dimensions? Monte Carlo's draw errs by {before.first.error:.3f}, "
                "Sobol's by {before.second.error:.3f}.",
                "Take frequencies at right angles to each other, with lengths as before: Orthogonal.",
                (
                    "The error falls by about a seventh",
                    "The error falls to about a seventh",
                    "No change: random directions are nearly at right angles anyway",
                ),
                0,
                "{after.second.error:.3f}. Nearly is not quite: with many frequencies small overlaps add up. Exact "
                "right angles, 59 frequencies at a time, are cheap.",
                {"data": "digits", "second": "Sobol"},
                {"second": "Orthogonal"},
            ),
        ),
        {"data": "moons", "kernel": "Gaussian", "width": 1.0, "r": 100, "first": "Monte Carlo"},
    ),
    Lesson(
        "frequencies-that-know-the-data",
        "approximate",
        "Frequencies that know the data",
        "What is gained when weights, then frequencies, are fitted to rows of the data, and where it is not gained.",
        (
            Step(
                TWO_METHODS,
                "Two moons: 50 drawn frequencies, the same ones on both sides, and every one of them weighs 1/50. The "
                "error is {before.second.error:.3f}.",
                "On the right, keep them, but fit their weights to the kernel on 50 rows. None may go below 0.",
                (
                    "All keep about their weight",
                    "Weights spread, and the error falls to about a quarter",
                    "One takes nearly all the weight",
                ),
                1,
                "{after.second.error:.3f}. Weights now reach from nothing to {after.largest_weight:.1f} times 1/50: "
                "frequencies in a heap share what one would carry alone, and one beside a hole carries more.",
                {"data": "moons", "second": "Monte Carlo"},
                {"second": "Weight"},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Wine, 11 columns. Means at r = 50: Monte Carlo {before.mean[Monte Carlo]:.3f}, Weight "
                "{before.mean[Weight]:.3f}.",
                "Let the frequencies move as well, downhill on the same error: Sample. How many drawn ones are as good "
                "as 50 of these?",
                ("About 60", "About 100", "About 200"),
                2,
                "Sample's 50 err by {after.mean[Sample]:.3f}; Monte Carlo takes 200 for {also.mean[Monte Carlo]:.3f}. "
                "The data need not be approximated in every direction: frequencies go where the rows differ.",
                {"second": "Weight"},
                {"second": "Sample"},
                {"r": 200},
            ),
            Step(
                ERROR_MAPS,
                "Two circles and a narrow kernel, 20 frequencies. Bright is where the similarity to the row at the "
                "star is wrong; for Sobol, on the right, that is among the rows and off them alike.",
                "Sample fits its 20 to 20 of the rows. Where will it still be wrong?",
                ("Everywhere, a little less", "Off the rows, hardly at them", "Around the star"),
                1,
                "At the rows the mean error falls from {before.error_at_rows:.2f} to {after.error_at_rows:.2f}, "
                "further off it is {after.error_off_rows:.2f}, and the worst spot is as bad as ever: "
                "{after.worst_error:.2f}. Nobody asked there.",
                {"data": "circles", "width": 0.398, "r": 20, "second": "Sobol"},
                {"second": "Sample"},
            ),
            Step(
                APPROXIMATION_ERRORS,
                "Back to wine. Nyström has no cosines: its features are made of the kernel's values at r rows. With 50 "
                "rows it has 50 features, Sample with 50 frequencies has 100.",
                "Which of the two errs less?",
                ("Nyström, though with half the features", "Sample, by far", "They are the same method"),
                0,
                "{after.mean[Nyström]:.3f} against {after.mean[Sample]:.3f}: the yardstick still measures. But cosines "
                "need no rows to be kept, and their weights are a distribution that labels can change.",
                {"first": "Sample", "second": "Monte Carlo"},
                {"second": "Nyström"},
            ),
        ),
        {"data": "wine", "kernel": "Gaussian", "width": 1.0, "r": 50, "first": "Monte Carlo"},
    ),
    Lesson(
        "points-choose-frequencies",
        "adaptive",
        "The points choose their frequencies",
        "Why the same kernel needs other frequencies on other points, and why drawing them better gains so little.",
        (
            Step(
                GRID_WEIGHTS,
                "Points on a ring, and a grid of frequencies weighed twice: by the prior, and by the points, so that "
                "the kernel comes out between the landmarks. Both are round hills.",
                "Put the points on a line instead. Where does the weight on the right go?",
                ("Along the line", "Across the line", "It stays a round hill"),
                1,
                "Points on a line do not differ across it: there every cosine is 1, so any frequency will do, and the "
                "weight spreads out. Along the line the kernel still asks for its hill.",
                {"data": "ring"},
                {"data": "line"},
            ),
            Step(
                GRID_WEIGHTS,
                "λ is the price of large weights, so they spread where they can. The error at the landmarks is "
                "{before.grid.error:.2g}; the prior's own weights have {before.grid.prior_error:.2g}.",
                "Lower λ from 0.1 to 0.001. What becomes of the long hill?",
                ("Longer still", "Nearly the prior's round hill", "A few single frequencies"),
                1,
                "The error is {after.grid.error:.2g} now. The points have some width after all, and who wants to be "
                "that exact has to mind it: then nearly all is as the prior has it.",
                {"ridge": 0.1},
                {"ridge": 0.001},
            ),
            Step(
                DENSITIES,
                "Now frequencies are drawn, at best from the density that makes the squared error least. On the right "
                "is its ratio to the prior: a stripe across the line. It saves {before.saving:.1%} of the squared "
                "error.",
                "Take the ring again. How much does the best density save there?",
                ("About half", "About a fifth", "Next to nothing"),
                2,
                "{after.saving:.1%}. The mean of cos² over all pairs lies between ½ and 1, so no density can differ "
                "much from the prior. Where frequencies lie matters, but not through drawing: they have to be moved.",
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
        "What a descent on a few landmarks is worth, and what it needs from them.",
        (
            Step(
                PLAYER,
                "Press Play. 20 frequencies as drawn miss the kernel on two moons by "
                "{before.descent.drawn_error:#.3g}; with their best weights by {before.weighted_error:#.3g}; after 80 "
                "steps by {before.last_error:#.3g}.",
                "Draw 50 and leave them where they are. How wrong are they, against the 20 that moved?",
                ("About as wrong", "Five times as wrong", "Forty times as wrong"),
                2,
                "{after.descent.drawn_error:#.3g}, the dotted line. Errors of drawn frequencies fall like 1/√r, so "
                "patience does not help. Moved, each one serves where the others leave a gap; 50 that moved come to "
                "{after.last_error:#.3g}.",
                {"r": 20},
                {"r": 50},
            ),
            Step(
                PLAYER,
                "The descent never sees the 300 points, only 50 landmarks among them. It ends at "
                "{before.last_landmark_error:#.3g} there and at {before.last_error:#.3g} over all points.",
                "Show it 10 landmarks only. What happens to the two errors?",
                ("Both rise", "It falls at the landmarks, and rises over all points", "Both fall"),
                1,
                "50 frequencies have an easy time with 10 points, and the error there ends at "
                "{after.last_landmark_error:#.3g}. Between them nothing holds the frequencies: over all points it ends "
                "at {after.last_error:#.3g}, well above its lowest on the way.",
                {"landmarks": 50},
                {"landmarks": 10},
            ),
            Step(
                PLAYER,
                "Ten landmarks, drawn among the points: {before.last_error:#.3g} over all of them.",
                "Take the ten centroids of k-means instead, each with the weight of its cluster.",
                ("Several times better", "About the same", "Worse: centroids are not even points"),
                0,
                "{after.last_error:#.3g}. Centroids keep apart and stand for their neighbourhoods, so their "
                "differences are a fair sample of all. In many dimensions take the points nearest to them: far from "
                "all data they mislead.",
                {"method": "Sample", "landmarks": 10},
                {"method": "Cluster"},
            ),
        ),
        {"data": "moons", "N": 300, "noise": 0.05, "seed": 0, "sigma": 0.501, "r": 50, "landmarks": 50},
    ),
)


def of(page: str) -> dict[str, Lesson]:
    """The lessons of a page, by key."""
    return {lesson.key: lesson for lesson in LESSONS if lesson.page == page}


def following(lesson: Lesson) -> Lesson | None:
    """The lesson after this one."""
    after = LESSONS[LESSONS.index(lesson) + 1 :]
    return after[0] if after else None
