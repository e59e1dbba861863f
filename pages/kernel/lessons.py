"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

KERNEL_LINE = (".live .prior-panels",)
KERNEL_ERRORS = (".st-key-errors",)

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
                "Make the kernel wider: σ = 2.5. Where do the ticks go?",
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
)
