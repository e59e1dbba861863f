"""Lesson of the page."""

from pages.shared.lesson import Lesson, Step

MEMORY = (".st-key-memory",)

LESSONS = (
    Lesson(
        "labels-learned-by-heart",
        "real_data",
        "Shuffle the labels",
        "Why a training error of 0 promises nothing, and why a bound is not fooled.",
        (
            Step(
                MEMORY,
                "100 random cosines learn breast cancer: 0 % errors on the rows that teach, 5 % on others.",
                "Shuffle the labels, so that nothing can be learned. What becomes of the training error?",
                ("It is as large as a coin's", "It hardly changes", "It doubles"),
                1,
                "1 %: 200 features remember 285 rows by heart. On others the classifier errs like a coin, "
                "49 %. The training error cannot tell learning from memory.",
                {"D": 100},
                {"shuffled": True},
            ),
            Step(
                MEMORY,
                "The certificate counts errors on rows that did not teach. With shuffled labels it says 56 %.",
                "Give the labels back. What is certified?",
                ("8 %", "Still 56 %: a bound is a bound", "0 %, the training error"),
                0,
                "The bound follows the test error, 5 %, not the training error: it sees whether there was "
                "something to learn.",
                {"D": 100, "shuffled": True},
                {"shuffled": False},
            ),
            Step(
                MEMORY,
                "Shuffled again: 1 % on the rows that teach, 49 % on others.",
                "Take 5 cosines in place of 100. What becomes of the training error?",
                ("It stays near 0", "It falls", "It rises to 37 %"),
                2,
                "Few cosines cannot remember 285 labels. That is what a bound prices: how much a "
                "classifier could have learned by heart.",
                {"D": 100, "shuffled": True},
                {"D": 5},
            ),
        ),
    ),
)
