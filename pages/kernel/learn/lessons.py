"""Lessons of the page."""

from pages.shared.lesson import Lesson, Step

LOSS_PLANE = (".live canvas.plane-loss",)
POSTERIOR_PLANE = (".live canvas.plane-posterior",)
LEARNING_ERRORS = (".st-key-errors",)

LESSONS = (
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
                "A slow prior again, σ = 0.79, stretched along one axis: its ellipse lies flat between the bright "
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
)
