"""Features of this engine and of other libraries: test error of the same linear SVM, and seconds of both.

    python -m benchmarks.peers                           # prints the tables of docs/performance.md
    python -m benchmarks.peers --write                   # and writes them there
    python -m benchmarks.peers --data breast --features 20 --repeats 1

Every method makes the same number of features of the same rows: the published splits, columns scaled to [0, 1] by the
training rows. Kernel width, C and a method's own parameter are chosen on the validation rows, on one grid for all.
Seconds are processor time on one thread at the chosen values: of `fit` and of `transform` of the training rows, and of
the linear SVMs of all C. A library that is not installed is left out, with a line that says so: `pip install rfflearn`.
`--results FILE` keeps what is measured, and goes on where an earlier run was stopped. The data set ads must be fetched
first: `python -m datasets fetch ads`.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

import datasets
import rff_engine as rff
from benchmarks.engine.table import write
from benchmarks.studies import frame

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
MARKS = "<!-- peers: begin, written by `python -m benchmarks.peers --write` -->", "<!-- peers: end -->"
WIDTHS = (0.25, 1.0, 4.0)  # gamma, as a multiple of 1 / (d Var(X))
C_VALUES = tuple(10.0**power for power in range(-2, 5))
BETAS, RHOS = (1.0, 10.0, 100.0), (1e-4, 1e-3, 1e-2)
CANDIDATES = 2000


@dataclass(frozen=True)
class Method:
    """A way to make features; `make(gamma, n_features, seed, value)` is a transformer."""

    library: str
    name: str
    make: Callable[..., Any]
    values: tuple = (None,)
    """Of a parameter of the method's own"""
    widths: tuple[float, ...] = WIDTHS
    at_points: bool = False
    """Whether each feature needs a training row of its own"""


class OfRfflearn:
    """The features within an estimator of rfflearn, which has no transformers."""

    def __init__(self, kind: str, gamma: float, n_features: int, seed: int):
        self.kind, self.gamma, self.n_features, self.seed = kind, gamma, n_features, seed

    def fit(self, X, y):
        library = importlib.import_module("rfflearn.cpu")
        library.seed(self.seed)
        self.map = getattr(library, self.kind)(self.n_features, (2 * self.gamma) ** 0.5)
        self.map.set_weight(X.shape[1])
        return self

    def transform(self, X):
        return self.map.conv(X) * (2 / self.n_features) ** 0.5


def kernel(gamma: float) -> rff.GaussianKernel:
    return rff.GaussianKernel.from_gamma(gamma)


def fourier(sampling: str, gamma, n, seed, _):
    return rff.RandomFourierFeatures(kernel(gamma), n // 2, sampling, random_state=seed)


def learned(gamma, n, seed, beta):
    return rff.PseudoPosteriorFeatures(kernel(gamma), n // 2, CANDIDATES, beta, random_state=seed)


def optimized(gamma, n, seed, rho):
    return rff.OptimizedKernelFeatures(kernel(gamma), n // 2, CANDIDATES, rho, random_state=seed)


def landmarks(gamma, n, seed, beta):
    return rff.LandmarkSimilarity(kernel(gamma), n, beta=beta, random_state=seed)


def nystroem(chosen: str, gamma, n, seed, _):
    return rff.NystroemFeatures(kernel(gamma), n, chosen, random_state=seed)


def of_rfflearn(kind: str, gamma, n, seed, _):
    return OfRfflearn(kind, gamma, n, seed)


METHODS = (
    Method("scikit-learn", "RBFSampler", lambda g, n, seed, _: RBFSampler(gamma=g, n_components=n, random_state=seed)),
    Method(
        "scikit-learn",
        "Nystroem",
        lambda g, n, seed, _: Nystroem(gamma=g, n_components=n, random_state=seed),
        at_points=True,
    ),
    Method(
        "scikit-learn",
        "PolynomialCountSketch",
        lambda _, n, seed, degree: PolynomialCountSketch(degree=degree, coef0=1, n_components=n, random_state=seed),
        values=(2, 3),
        widths=(1.0,),
    ),
    Method("rfflearn", "RFF", partial(of_rfflearn, "RFFSVC")),
    Method("rfflearn", "ORF", partial(of_rfflearn, "ORFSVC")),
    Method("rfflearn", "QRF", partial(of_rfflearn, "QRFSVC")),
    Method("rff-engine", "RandomFourierFeatures", partial(fourier, "monte_carlo")),
    Method("rff-engine", "RandomFourierFeatures, orthogonal", partial(fourier, "orthogonal")),
    Method("rff-engine", "NystroemFeatures, k-means", partial(nystroem, "cluster"), at_points=True),
    Method("rff-engine", "PseudoPosteriorFeatures", learned, values=BETAS),
    Method("rff-engine", "OptimizedKernelFeatures", optimized, values=RHOS),
    Method("rff-engine", "LandmarkSimilarity", landmarks, values=BETAS, at_points=True),
)


def missing() -> set[str]:
    """Libraries that are not installed."""
    modules = {"scikit-learn": "sklearn", "rfflearn": "rfflearn.cpu", "rff-engine": "rff_engine"}

    def lacks(name: str) -> bool:
        try:
            importlib.import_module(modules[name])
        except ImportError:
            return True
        return False

    return {name for name in {method.library for method in METHODS} if lacks(name)}


def best(method: Method, split, n_features: int, seed: int) -> dict:
    """The test error at the width, value and C of the least validation error.

    With seconds to make the features of the training rows, and to train the linear SVMs on them.
    """
    scale = 1 / (split.X_train.shape[1] * split.X_train.var())
    measured = []
    for width in method.widths:
        for value in method.values:
            features = method.make(width * scale, n_features, seed, value)
            start = time.process_time()
            Z = np.asarray(features.fit(split.X_train, split.y_train).transform(split.X_train))
            made = time.process_time()
            coef, intercept = rff.linear_svm_path(Z, split.y_train, C_VALUES)
            trained = time.process_time()
            valid, test = (
                errors(features.transform(X) @ coef.T + intercept, y, split.y_train)
                for X, y in ((split.X_valid, split.y_valid), (split.X_test, split.y_test))
            )
            c = int(valid.argmin())
            seconds = {"seconds": made - start, "model_seconds": trained - made}
            measured.append((valid[c], {"test_error": float(test[c])} | seconds))
    return min(measured, key=lambda one: one[0])[1]


def errors(decisions, y, labels) -> np.ndarray:
    """The error rate of each column of decision values."""
    return ((decisions > 0) != (np.asarray(y) == np.unique(labels)[1])[:, None]).mean(axis=0)


@lru_cache(1)
def scaled_split(name: str):
    """The published split with columns scaled to [0, 1] by the training rows."""
    split = datasets.published_split(name)
    scaler = MinMaxScaler().fit(split.X_train)
    parts = {part: scaler.transform(getattr(split, part)) for part in ("X_train", "X_valid", "X_test")}
    return type(split)(**{**vars(split), **parts})


def settings(names, counts, repeats: int) -> Iterator[dict]:
    """What every installed method is measured at."""
    left_out = missing()
    for name in names:
        n_train = len(scaled_split(name).y_train)
        for n, method, seed in product(counts, METHODS, range(repeats)):
            if method.library not in left_out and not (method.at_points and n > n_train):
                yield {"dataset": name, "features": n, "method": method.name, "seed": seed}


def rows_of(dataset: str, features: int, method: str, seed: int) -> list[dict]:
    (chosen,) = (one for one in METHODS if one.name == method)
    return [best(chosen, scaled_split(dataset), features, seed)]


def table(rows: pd.DataFrame, name: str, counts) -> str:
    """The results on a data set in Markdown, a line for each method; the least error of a column is bold."""
    of_set = rows[rows["dataset"] == name]
    errors = 100 * of_set.pivot_table("test_error", "method", "features")
    seconds = of_set.groupby(["method", "features"])[["seconds", "model_seconds"]].median()

    def cell(method: str, n: int) -> str:
        if np.isnan(errors[n][method]):
            return "–"
        error = f"{errors[n][method]:.1f}"
        error = f"**{error}**" if error == f"{errors[n].min():.1f}" else error
        made, trained = seconds.loc[method, n]
        return f"{error} % ({_rounded(made)} + {_rounded(trained)} s)"

    measured = [method for method in METHODS if method.name in errors.index]
    body = [[one.name, one.library, *(cell(one.name, n) for n in counts)] for one in measured]
    return frame.markdown([name, "library", *(f"{n} features" for n in counts)], body)


def _rounded(seconds: float) -> str:
    """Two digits, and no more than four places."""
    return f"{seconds:.0f}" if seconds >= 10 else f"{float(f'{seconds:.2g}'):.4g}" if seconds >= 1e-3 else "0.001"


def notes(names, repeats: int) -> str:
    """Sizes of the data, and what was left out."""
    sizes = ", ".join(
        f"{name} {split.X_train.shape[0]} x {split.X_train.shape[1]}"
        for name, split in ((name, datasets.published_split(name)) for name in names)
    )
    text = (
        f"Training rows and columns: {sizes}. Mean test error of {repeats} seeds; medians of processor seconds, for "
        "the features and for the SVMs of all C, at least 0.001. –: more features than training rows."
    )
    if lacking := missing():
        text += f" Not installed, so left out: {', '.join(sorted(lacking))}."
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", nargs="+", default=["breast", "ads", "mnist49"], metavar="NAME")
    parser.add_argument("--features", nargs="+", type=int, default=[20, 100, 500], metavar="F")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/performance.md")
    asked = parser.parse_args()
    with threadpool_limits(1):
        rows = frame.rows(asked.results, settings(asked.data, asked.features, asked.repeats), rows_of)
    tables = [table(rows[rows["seed"] < asked.repeats], name, asked.features) for name in asked.data]
    text = "\n\n".join([*tables, notes(asked.data, asked.repeats)])
    print(text)
    if asked.write:
        write(PAGE, text, MARKS)


if __name__ == "__main__":
    main()
