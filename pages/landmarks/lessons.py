"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

MAPS = (".live .maps",)
DECISIONS = (".live .decisions",)
WEIGHTS = (".live .weights-figure",)

LESSONS = (
    Lesson(
        "prior-to-cosine",
        "landmarks",
        "From the prior to a single cosine",
        "What β does: at 0 there is only the prior, at its largest value one cosine is left, and KL measures the "
        "change.",
        (
            Step(
                MAPS,
                "β is almost 0: labels are ignored, and each learned map is the plain average of 20 random cosines. "
                "The prior maps are the Gaussian kernel.",
                "Give each landmark 256 cosines. What becomes of the learned maps?",
                (
                    "They follow the two classes",
                    "They turn <<white|dark grey>>",
                    "They come close to the prior maps",
                ),
                2,
                "β = 0 is the prior: with more cosines, their average converges to the Gaussian bump. The distance "
                "between prior and learned maps fell to about a quarter.",
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
                "The prior maps fade from green to <<white|dark grey>>: they are high near the landmark and 0 "
                "elsewhere. The learned maps do not use the labels yet.",
                "At β = 1, what will the learned maps show that the prior cannot?",
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
        ),
        {"data": "moons", "sigma": 0.501, "D": 20, "landmarks": 5, "how": "random"},
    ),
)
