"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

TWO_METHODS = (".live .method-panels",)
ERROR_MAPS = (".live .method-panels",)
APPROXIMATION_ERRORS = (".st-key-errors",)

LESSONS = (
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
)
