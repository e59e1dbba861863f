"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

GRID_WEIGHTS = (".st-key-grid",)
PLAYER = (".live:has(.descent)",)
DENSITIES = (".st-key-densities",)

LESSONS = (
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
                "descent moves each one to where the others leave a gap; 50 that moved reach 0.0006.",
                {"r": 20},
                {"r": 50},
            ),
            Step(
                PLAYER,
                "The descent uses only 50 landmarks among the 300 points. It ends at 0.0002 there and at 0.0006 "
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
