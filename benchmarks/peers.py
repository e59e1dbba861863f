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
import csv
import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits

import datasets
import rff_engine as rff
from benchmarks.engine.table import write

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


def missing(methods=METHODS) -> set[str]:
    """Libraries that are not installed."""
    modules = {"scikit-learn": "sklearn", "rfflearn": "rfflearn.cpu", "rff-engine": "rff_engine"}

    def lacks(name: str) -> bool:
        try:
            importlib.import_module(modules[name])
        except ImportError:
            return True
        return False

    return {name for name in {method.library for method in methods} if lacks(name)}


@dataclass(frozen=True)
class Measured:
    """Of one method at one number of features and one seed."""

    test_error: float
    seconds: float
    """To make the features of the training rows"""
    model_seconds: float
    """To train the linear SVMs on them"""


def best(method: Method, split, n_features: int, seed: int) -> Measured:
    """The test error and the time at the width, value and C of the least validation error."""
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
            measured.append((valid[c], Measured(float(test[c]), made - start, trained - made)))
    return min(measured, key=lambda one: one[0])[1]


def errors(decisions, y, labels) -> np.ndarray:
    """The error rate of each column of decision values."""
    return ((decisions > 0) != (np.asarray(y) == np.unique(labels)[1])[:, None]).mean(axis=0)


def scaled_split(name: str):
    """The published split with columns scaled to [0, 1] by the training rows."""
    split = datasets.published_split(name)
    scaler = MinMaxScaler().fit(split.X_train)
    parts = {part: scaler.transform(getattr(split, part)) for part in ("X_train", "X_valid", "X_test")}
    return type(split)(**{**vars(split), **parts})


class Kept:
    """Measurements by data set, number of features, method and seed, in a file if there is one."""

    def __init__(self, path: Path | None):
        self.path, self.known = path, {}
        if path is not None and path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for name, n, method, seed, *measured in csv.reader(file):
                    self.known[name, int(n), method, int(seed)] = Measured(*map(float, measured))

    def get(self, key: tuple, measure: Callable[[], Measured]) -> Measured:
        if key not in self.known:
            self.known[key] = measured = measure()
            if self.path is not None:
                with self.path.open("a", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerow([*key, *astuple(measured)])
        return self.known[key]


def rows(names, counts, repeats: int, kept: Kept) -> Iterator[tuple[str, int, Method, list[Measured]]]:
    """What every installed method reaches on every data set at every number of features."""
    left_out = missing()
    for name in names:
        split = scaled_split(name)
        for n in counts:
            for method in METHODS:
                if method.library not in left_out and not (method.at_points and n > len(split.y_train)):
                    measured = [
                        kept.get((name, n, method.name, seed), partial(best, method, split, n, seed))
                        for seed in range(repeats)
                    ]
                    yield name, n, method, measured


def table(results, name: str, counts) -> str:
    """The results on a data set in Markdown, a line for each method; the least error of a column is bold."""
    head = f"| {name} | library | " + " | ".join(f"{n} features" for n in counts) + " |"
    cells = {(method, n): seeds for data, n, method, seeds in results if data == name}
    least = {n: min(_mean_error(seeds) for (_, at), seeds in cells.items() if at == n) for n in counts}
    lines = [head, "|---" * (2 + len(counts)) + "|"]
    for method in dict.fromkeys(key[0] for key in cells):
        shown = [_cell(cells[method, n], least[n]) if (method, n) in cells else "–" for n in counts]
        lines.append(f"| {method.name} | {method.library} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def _mean_error(seeds: list[Measured]) -> float:
    return float(np.mean([one.test_error for one in seeds]))


def _medians(seeds: list[Measured]) -> tuple[float, float]:
    """Seconds for the features, and for the SVMs."""
    return tuple(
        float(np.median(values)) for values in zip(*((s.seconds, s.model_seconds) for s in seeds), strict=True)
    )


def _cell(seeds: list[Measured], least: float) -> str:
    error = f"{100 * _mean_error(seeds):.1f}"
    seconds = _medians(seeds)
    error = f"**{error}**" if error == f"{100 * least:.1f}" else error
    return f"{error} % ({_rounded(seconds[0])} + {_rounded(seconds[1])} s)"


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
    results = []
    with threadpool_limits(1):
        for row in rows(asked.data, asked.features, asked.repeats, Kept(asked.results)):
            name, n_features, method, seeds = row
            made, trained = _medians(seeds)
            error = 100 * _mean_error(seeds)
            print(f"{name:8} {n_features:5} {method.name:35} {error:6.2f} % {made:8.3f} + {trained:.3f} s", flush=True)
            results.append(row)
    tables = [table(results, name, asked.features) for name in asked.data]
    text = "\n\n".join([*tables, notes(asked.data, asked.repeats)])
    print(text)
    if asked.write:
        write(PAGE, text, MARKS)


if __name__ == "__main__":
    main()
