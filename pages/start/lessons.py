"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

HEARD = (".live .heard-figure",)
DUEL = (".live .duel",)

ONE, TWO = "checkerboard~1791~1~2000~0.251", "checkerboard~1791-143~1~2000~0.251"
MOONS, BETWEEN, OUTSIDE = (f"moons~~1~2000~0.251~posterior{star}" for star in ("", "~0.4~-0.4", "~-1.6~1.8"))
UNTAUGHT = OUTSIDE.replace("~posterior", "")
SPIRALS = "spirals~1760-277~1~2000~0.251"

LESSONS = (
    Lesson(
        "three-stations",
        "start",
        "Find three stations",
        "What a kernel is made of: one wave cuts the corners of a checkerboard's squares, two make them whole, and "
        "where two do not do it, the posterior keeps many.",
        (
            Step(
                HEARD,
                "For the prior, near points are similar. So all points get the star's class, and half of them are "
                "wrong. Each dot of the dark plane is a wave.",
                "Keep the one wave that agrees best with the labels. How many points are wrong then?",
                ("still about half of them", "about a quarter", "hardly any"),
                1,
                "23 % are wrong. The stripes run through the middle of every square, and cut two of its corners off.",
                {},
                {"radio": ONE},
            ),
            Step(
                HEARD,
                "One wave is kept, and its stripes cut two corners off every square.",
                "Which second wave mends it?",
                (
                    "one with stripes along the other diagonal",
                    "the same stripes, twice as narrow",
                    "none: a mean of waves is a wave",
                ),
                0,
                "The mean of two waves across each other is a checkerboard: 8 % are wrong. Its price, the KL "
                "divergence, is ln(2000 / 2) = 6.9 nats.",
                {"radio": ONE},
                {"radio": TWO},
            ),
            Step(
                DUEL,
                "The posterior weighs all 2000 waves by their agreement with the labels. The two waves of the "
                "checkerboard err on 8 % of the points.",
                "Does the posterior at β = 1 beat these two?",
                (
                    "yes, with more waves it errs less",
                    "no, but it pays a lower price",
                    "no, and its price is higher too",
                ),
                1,
                "It errs on 13 % of the points, for a price of 0.8 nats: it also keeps waves that agree a little. The "
                "prior, in which the star is similar to what is near, is still seen in its map. In a class: take the "
                "two waves away and search for two of your own. Who beats the posterior?",
                {"radio": TWO},
                {"radio": f"{TWO}~posterior"},
            ),
            Step(
                DUEL,
                "Two spirals. The two waves that are kept are about as good as two can be: 20 % are wrong.",
                "Now the posterior keeps many waves. How many points are wrong?",
                ("about as many", "a third as many", "a fifth as many"),
                2,
                "4 %. Two waves cannot follow a spiral, and many can: that is why the posterior is a distribution, and "
                "why β sets how many waves it keeps.",
                {"radio": SPIRALS},
                {"radio": f"{SPIRALS}~posterior"},
            ),
        ),
    ),
    Lesson(
        "worth-of-a-landmark",
        "start",
        "Where is a landmark worth most?",
        "Why a landmark need not lie among the points: it only shifts its waves.",
        (
            Step(
                HEARD,
                "Two moons, and a star at the end of one. The posterior at β = 1 errs on 9.6 % of the points.",
                "Put the star between the moons, where both classes are near. What happens?",
                ("its error falls", "its error more than doubles", "it errs as often"),
                1,
                "25 %. Around it both classes lie in every direction, so few waves agree with the labels.",
                {"radio": MOONS},
                {"radio": BETWEEN},
            ),
            Step(
                HEARD,
                "The star stands between the moons: 25 % errors. It may stand anywhere; drag it.",
                "Where is a landmark worth most?",
                ("in the middle of its class", "at a tip of a moon", "far outside, where no point is near"),
                2,
                "In the corner, 1.1 away from the nearest point, it errs on 0.2 %. A landmark only shifts its waves: "
                "what counts is that their mean separates the moons.",
                {"radio": BETWEEN},
                {"radio": OUTSIDE},
            ),
            Step(
                HEARD,
                "The star in the corner, with the map that the labels have taught it: 0.2 % errors.",
                "Take the labels away. What does it know then?",
                ("nothing: half of the points are wrong", "less: about a quarter are wrong", "as much as before"),
                0,
                "The prior finds similar what is near, and nothing is near. The waves that agree with the labels reach "
                "across the whole plane.",
                {"radio": OUTSIDE},
                {"radio": UNTAUGHT},
            ),
        ),
    ),
)
