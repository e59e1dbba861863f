"""Controls that several pages share, so that a setting means the same everywhere."""

from __future__ import annotations

from dataclasses import replace

import datasets
from datasets.points import decode_points
from datasets.toy_data import ToyData
from pages.shared.controls import own_points, scales
from pages.shared.controls.widgets import Number, Options, Scale
from rff_engine.kernels import KERNELS_BY_TITLE

DATA = Options("data", "Toy data", "Drawn from the seed.", options=datasets.toy_names(), default="moons")
N_POINTS = Number("n", "Training points n", None, 20, 1000, 300, 10)
NOISE = Number("noise", "Noise", "Standard deviation added to every coordinate.", *scales.NOISE)
#: For pages on which the reader can place the points.
DATA_OR_OWN = replace(
    DATA,
    help=f"Drawn from the seed; or choose {own_points.OWN}, at the end, and draw them.",
    options=(*DATA.options, own_points.OWN),
)
NUMBER_SAMPLED = replace(N_POINTS, only_if=(DATA.key, DATA.options))
NOISE_OR_COPIES = replace(
    NOISE,
    help="Standard deviation added to every coordinate; of points of your own, to the copies that errors are "
    "measured on.",
)
SEED = Number("seed", "Seed", "Another seed: other points, other frequencies.", 0, 99, 0, 1)
SIGMA = Scale(
    "sigma",
    "Bandwidth σ of the Gaussian prior",
    "Small: fast frequencies. Large: slow ones.",
    scales.powers(*scales.SIGMA),
    0.501,
)
#: Width for pages whose live view has its slider; each value is a place on it.
SIGMA_LIVE = replace(SIGMA, values=scales.powers(*scales.SIGMA_LIVE))
BETA = Scale(
    "beta",
    "Inverse temperature β",
    "How strongly labels outweigh the prior: near 0 they are ignored, at 1000 nearly all weight is on one cosine.",
    scales.powers(*scales.BETA),
    1.0,
)
EPSILON = Scale(
    "eps",
    "Allowed failures ε",
    "The bound may fail for this fraction of all samples.",
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    0.05,
)
KERNEL = Options("kernel", "Kernel", None, tuple(KERNELS_BY_TITLE), "Gaussian")
NU = Scale(
    "nu",
    "Smoothness ν",
    "At 0.5 the kernel has a kink at 0; as ν grows it becomes the Gaussian.",
    (0.5, 1.0, 1.5, 2.5, 5.0, 10.0, 50.0),
    1.5,
    only_if=("kernel", tuple(title for title, named in KERNELS_BY_TITLE.items() if "nu" in named.parameters)),
)
COST = Scale("C", "C of the linear SVM", "Larger fits the training points more closely.", scales.powers(-2, 4, 1), 1.0)


def toy_data(values) -> ToyData:
    """Return the toy sample that the controls describe."""
    if values.data == own_points.OWN:
        return ToyData(values.data, len(decode_points(values.points)), values.noise, values.seed, values.points)
    return ToyData(values.data, values.n, values.noise, values.seed)
