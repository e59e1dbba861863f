"""Figure 5 of Letarte et al. (2019) with the frequencies that its published code draws.

    python -m benchmarks.studies.published_draw --datasets mnist17 --method rff --D 1 2 3 4 5    # close to the figure's
    python -m benchmarks.studies.published_draw --datasets mnist17 --method okrff --D 10

The published code splits the data, fits its RBF SVM and draws the 20000 frequencies from one generator, seeded with 42.
beta and rho start from the state that it then has: for each D in the grid they draw from their distribution, and each
of the ten linear SVMs takes a seed. NumPy keeps these streams, so the same numbers come out today. `--output
draws.csv` adds them to a file, with those of the exact SVM on the same features;
`rff_engine/experiments/reports/data/published_draw.csv` is such a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from benchmarks.studies import frame
from benchmarks.studies.stopped_solver import CS, chosen, chosen_gamma, merged, said, svms
from rff_engine.experiments.studies.protocols import FeatureSweep

#: By method, what it varies, and the paper's values.
FIELDS = {"rff": ("beta", (None,)), "pbrff": ("beta", FeatureSweep().betas), "okrff": ("rho", FeatureSweep().rhos)}
_SEED, _CANDIDATES = 42, 20000
_LARGEST_SEED = np.iinfo("i").max
_PARTS = ("train", "valid", "test")


def main() -> None:
    parser = frame.options(__doc__, ["mnist17"])
    parser.add_argument("--method", choices=list(FIELDS), default="okrff")
    parser.add_argument("--D", nargs="+", type=int, default=[10], choices=FeatureSweep().n_features, metavar="D")
    parser.add_argument("--values", nargs="+", type=float, help="beta or rho (default: the paper's grid)")
    asked = parser.parse_args()
    frame.rows(asked.output, settings(asked), lambda method, **cell: [chosen(errors(**cell))], line=said)


def settings(asked) -> Iterator[dict]:
    """Of beta and rho at most one is not None."""
    field, grid = FIELDS[asked.method]
    values = grid if asked.method == "rff" else asked.values or grid
    for name, value, D in product(asked.datasets, values, asked.D):
        yield {"dataset": name, "method": asked.method, "D": D, "beta": None, "rho": None, field: value}


def errors(dataset: str, D: int, beta: float | None = None, rho: float | None = None) -> pd.DataFrame:
    """Errors of LinearSVC and of the exact SVM at every C."""
    points, labels = _points(dataset)
    omega, state = candidates(dataset)
    generator = np.random.RandomState()
    generator.set_state(state)
    weights = _weights(dataset, beta, rho)
    for size in FeatureSweep().n_features:
        drawn = np.arange(size) if weights is None else generator.choice(_CANDIDATES, size, replace=True, p=weights)
        if size == D:
            break
        generator.randint(_LARGEST_SEED, size=len(CS))  # as many seeds as the linear SVMs take
    return svms(merged({part: rff.fourier_features(X, omega[drawn]) for part, X in points.items()}), labels, generator)


@cache
def _points(name: str) -> tuple[dict, dict]:
    split = datasets.published_split(name)
    points = {part: np.asarray(getattr(split, f"X_{part}"), float) for part in _PARTS}
    return points, {part: getattr(split, f"y_{part}") for part in _PARTS}


@cache
def candidates(name: str) -> tuple[np.ndarray, tuple]:
    """All frequencies, (20000, d), and the generator's state after their draw."""
    points, labels = _points(name)
    sizes = {part: len(y) for part, y in labels.items()}
    generator = np.random.RandomState(_SEED)
    if name != "adult":  # which brings its test rows
        generator.permutation(sum(sizes.values()))
    generator.permutation(sizes["train"] + sizes["valid"])
    generator.randint(_LARGEST_SEED)  # the RBF SVM's seed
    omega = generator.randn(points["train"].shape[1], _CANDIDATES) * np.sqrt(2 * chosen_gamma(name))
    return omega.T, generator.get_state()


def _weights(name: str, beta: float | None, rho: float | None) -> np.ndarray | None:
    """The distribution that the frequencies are drawn from; none for the first ones."""
    if beta is not None:
        return rff.pseudo_posterior(_losses(name), beta, len(_points(name)[1]["train"]))
    return None if rho is None else rff.optimized_kernel_weights(_losses(name), rho)


@cache
def _losses(name: str) -> np.ndarray:
    points, labels = _points(name)
    return rff.alignment_loss(points["train"], labels["train"], candidates(name)[0])


if __name__ == "__main__":
    main()
