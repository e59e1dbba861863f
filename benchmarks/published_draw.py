"""Figure 5 of Letarte et al. (2019) with the frequencies that its published code draws.

    python -m benchmarks.published_draw --datasets mnist17 --method rff --D 1 2 3 4 5     # close to the figure's
    python -m benchmarks.published_draw --datasets mnist17 --method okrff --D 10

The published code splits the data, fits its RBF SVM and draws the 20000 frequencies from one generator, seeded with 42.
beta and rho start from the state that it then has: for each D in the grid they draw from their distribution, and each
of the ten linear SVMs takes a seed. NumPy keeps these streams, so the same numbers come out today. `--output
draws.csv` adds them to a file, with those of the exact SVM on the same features, and computes only what it lacks;
`rff_engine/experiments/reports/data/published_draw.csv` is such a file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from benchmarks.stopped_solver import CS, chosen, chosen_gamma, merged, said, svms
from rff_engine.experiments.studies.protocols import FeatureSweep

KEYS = ["dataset", "method", "D", "beta", "rho"]
_SEED, _CANDIDATES = 42, 20000
_LARGEST_SEED = np.iinfo("i").max
_PARTS = ("train", "valid", "test")


def main() -> None:
    asked = _asked()
    known = pd.read_csv(asked.output) if asked.output and asked.output.exists() else pd.DataFrame(columns=KEYS)
    for name in asked.datasets:
        for setting in settings(asked.method, asked.values):
            fixed = {"dataset": name, "method": asked.method, **setting}
            same = [known[key].isna() if value is None else known[key] == value for key, value in fixed.items()]
            lacking = set(asked.D) - set(known.loc[np.logical_and.reduce(same), "D"])
            for D, errors_by_C in errors(name, asked.method, setting, lacking):
                row = chosen({**fixed, "D": D}, errors_by_C)
                print(said(row), flush=True)
                if asked.output:
                    row = {key: row[key] for key in KEYS} | row
                    pd.DataFrame([row]).to_csv(asked.output, mode="a", header=not asked.output.exists(), index=False)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--datasets", nargs="+", default=["mnist17"])
    parser.add_argument("--method", choices=["rff", "pbrff", "okrff"], default="okrff")
    parser.add_argument("--D", nargs="+", type=int, default=[10], choices=FeatureSweep().n_features, metavar="D")
    parser.add_argument("--values", nargs="+", type=float, help="beta or rho (default: the paper's grid)")
    parser.add_argument("--output", type=Path, help="CSV file to add the numbers to")
    return parser.parse_args()


def settings(method: str, values=None) -> list[dict]:
    """beta and rho of a method, None where it has none: those asked for, or the paper's."""
    grid = {"rff": (None,), "pbrff": FeatureSweep().betas, "okrff": FeatureSweep().rhos}[method]
    field = {"pbrff": "beta", "okrff": "rho"}.get(method)
    chosen = grid if values is None or field is None else values
    return [{name: value if name == field else None for name in ("beta", "rho")} for value in chosen]


def errors(name: str, method: str, setting: dict, sizes: set[int]) -> Iterator[tuple[int, pd.DataFrame]]:
    """For each of the D's, errors of LinearSVC and of the exact SVM at every C."""
    if not sizes:
        return
    points, labels = _points(name)
    omega, state = candidates(name)
    generator = np.random.RandomState()
    generator.set_state(state)
    weights = _weights(name, method, setting)
    for D in (D for D in FeatureSweep().n_features if max(sizes) >= D):
        drawn = np.arange(D) if weights is None else generator.choice(_CANDIDATES, D, replace=True, p=weights)
        if D in sizes:
            features = {part: rff.fourier_features(X, omega[drawn]) for part, X in points.items()}
            yield D, svms(merged(features), labels, generator)
        else:
            generator.randint(_LARGEST_SEED, size=len(CS))  # as many seeds as the linear SVMs take


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


def _weights(name: str, method: str, setting: dict) -> np.ndarray | None:
    """The distribution that the frequencies are drawn from; none for the first ones."""
    if method == "rff":
        return None
    losses = _losses(name)
    if method == "pbrff":
        return rff.pseudo_posterior(losses, setting["beta"], len(_points(name)[1]["train"]))
    return rff.optimized_kernel_weights(losses, setting["rho"] * _CANDIDATES)


@cache
def _losses(name: str) -> np.ndarray:
    points, labels = _points(name)
    return rff.alignment_loss(points["train"], labels["train"], candidates(name)[0])


if __name__ == "__main__":
    main()
