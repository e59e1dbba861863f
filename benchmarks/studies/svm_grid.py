"""The RBF SVM on all training rows of adult at every C and gamma: its errors, and its row for a store.

    python -m benchmarks.studies.svm_grid                                            # validation errors that ship
    python -m benchmarks.studies.svm_grid --output grid.csv                          # computes what the file lacks
    python -m benchmarks.studies.svm_grid --output grid.csv --store results.sqlite   # and keeps the row of Table 1

`reproduce table1 --recompute` computes the same row with scikit-learn's libsvm, in hours. One column of adult, fnlwgt,
reaches a million and nothing is scaled: with rows in its order the kernel is a band, and 0 in single precision outside
it.
`banded_svm.c` is libsvm's algorithm on a band; it needs a C compiler, cc.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import euclidean_distances

import datasets
from benchmarks.studies import frame
from rff_engine.experiments.reports import letarte
from rff_engine.experiments.running.runner import run_stored
from rff_engine.experiments.running.store import Store
from rff_engine.experiments.studies import baseline

# The kernel is 0 in single precision, the least number of which is 2^-149, if gamma ||x - y||^2 exceeds this.
_VANISHING = 150 * np.log(2)
_TOLERANCE = 1e-3  # libsvm's
_ROWS = 512


class Band(NamedTuple):
    """Kernel between rows in the order of a column: of row i from column first[i] to last[i] - 1."""

    first: np.ndarray
    last: np.ndarray
    start: np.ndarray
    """Of row i in `values`"""
    values: np.ndarray


class Machine(NamedTuple):
    dual: np.ndarray
    """Signed dual coefficients of the training rows, in the order of the band"""
    intercept: float
    n_steps: int


class BandedSVM:
    """RBF SVM of libsvm, where a column spreads the points so far apart that most kernel values are 0.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        Labels; the larger one is the positive class.
    """

    def __init__(self, X, y, gamma: float):
        X = np.asarray(X, float)
        self.column = int(np.argmax(np.std(X, axis=0)))
        self.order = np.argsort(X[:, self.column], kind="stable")
        self.X, self.gamma = X[self.order], gamma
        self.labels = np.where(np.asarray(y)[self.order] == np.max(y), 1.0, -1.0)
        self.band = self._band()
        self._inner: Machine | None = None

    def fit(self, C: float) -> Machine:
        """Solve the dual at C from the start, as libsvm does.

        A solution whose coefficients are all below C is that of every larger C too.
        """
        if self._inner is not None and np.abs(self._inner.dual).max() < C:
            return self._inner
        n = len(self.labels)
        dual = np.empty(n)
        gradient = np.empty(n)
        n_steps = _library().solve(n, *self.band, self.labels, C, _TOLERANCE, dual, gradient)
        if n_steps < 0:
            raise MemoryError("there is no memory for the gradients.")
        rising = dual < np.where(self.labels > 0, C, 0)
        falling = dual > np.where(self.labels > 0, 0, -C)
        free = rising & falling
        middle = (gradient[rising].max() + gradient[falling].min()) / 2
        machine = Machine(dual, float(gradient[free].mean() if free.any() else middle), n_steps)
        self._inner = machine if np.abs(dual).max() < C else None
        return machine

    def decision(self, machine: Machine, X) -> np.ndarray:
        """Decision values of points, shape (n,)."""
        X = np.asarray(X, float)
        order = np.argsort(X[:, self.column], kind="stable")
        decision = np.empty(len(X))
        for start in range(0, len(X), _ROWS):
            rows = order[start : start + _ROWS]
            near, kernel = self._kernel(X[rows])
            decision[rows] = kernel @ machine.dual[near]
        return decision + machine.intercept

    def _kernel(self, points: np.ndarray) -> tuple[slice, np.ndarray]:
        """Kernel values of points with all training rows near one of them."""
        keys, own, reach = self.X[:, self.column], points[:, self.column], np.sqrt(_VANISHING / self.gamma)
        near = slice(np.searchsorted(keys, own.min() - reach), np.searchsorted(keys, own.max() + reach, "right"))
        if near.start == near.stop:
            return near, np.zeros((len(points), 0))
        return near, np.exp(-self.gamma * euclidean_distances(points, self.X[near], squared=True))

    def _band(self) -> Band:
        keys, reach = self.X[:, self.column], np.sqrt(_VANISHING / self.gamma)
        first = np.searchsorted(keys, keys - reach)
        last = np.searchsorted(keys, keys + reach, "right")
        start = np.concatenate([[0], np.cumsum(last - first)[:-1]])
        values = np.empty(int((last - first).sum()), np.float32)
        for begin in range(0, len(keys), _ROWS):
            rows = range(begin, min(begin + _ROWS, len(keys)))
            near, kernel = self._kernel(self.X[rows.start : rows.stop])
            for i, of_row in zip(rows, kernel, strict=True):
                of_row[i - near.start] = 1
                width = last[i] - first[i]
                values[start[i] : start[i] + width] = of_row[first[i] - near.start :][:width]
        return Band(*(places.astype(np.int64) for places in (first, last, start)), values)


@cache
def _library() -> ctypes.CDLL:
    """The compiled solver."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise OSError("there is no C compiler cc; install one, such as gcc.")
    source = Path(__file__).with_name("banded_svm.c")
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "banded_svm.so"
        flags = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "-o", built, source, "-lm"], check=True)
        library = ctypes.CDLL(str(built))
    places, numbers = (np.ctypeslib.ndpointer(kind, flags="C") for kind in (np.int64, np.float64))
    kernel = np.ctypeslib.ndpointer(np.float32, flags="C")
    real = ctypes.c_double
    library.solve.argtypes = [ctypes.c_long, *[places] * 3, kernel, numbers, real, real, numbers, numbers]
    library.solve.restype = ctypes.c_long
    return library


def rows_of(gamma: float, C: float) -> list[dict]:
    start = time.process_time()
    numbers = errors(_machine(gamma), C, _split())
    return [numbers | {"seconds": round(time.process_time() - start, 1)}]


def errors(svm: BandedSVM, C: float, split) -> dict:
    """Numbers of steps, of support vectors and of errors."""
    machine = svm.fit(C)
    numbers = {"steps": machine.n_steps, "support_vectors": int(np.count_nonzero(machine.dual))}
    for part in ("train", "valid", "test"):
        y = getattr(split, f"y_{part}")
        decision = svm.decision(machine, getattr(split, f"X_{part}"))
        numbers[part] = int(((decision > 0) != (y == np.max(split.y_train))).sum())
    return numbers


@cache
def _split() -> datasets.Split:
    return datasets.published_split("adult")


@lru_cache(1)
def _machine(gamma: float) -> BandedSVM:
    return BandedSVM(_split().X_train, _split().y_train, gamma)


def searched(table: pd.DataFrame, split) -> Callable:
    """In place of the search of `studies.baseline`: what it finds at a gamma, from the table."""
    sizes = {f"{part}_error": len(getattr(split, f"y_{part}")) for part in ("train", "valid", "test")}

    def search(protocol, gamma: float, problem):
        of_gamma = table[table["gamma"] == gamma].set_index("C").loc[list(protocol.Cs)].reset_index()
        j = int(of_gamma["valid"].idxmin())
        best = of_gamma.loc[j]
        rates = {name: int(best[name.removesuffix("_error")]) / n for name, n in sizes.items()}
        yield from ([] for _ in protocol.Cs)
        return baseline._BestC(int(best["valid"]), j, rates, float(of_gamma["seconds"].sum()))

    return search


def main() -> None:
    parser = frame.options(__doc__, ())
    parser.add_argument("--store", help="keep the row of the SVM in this store")
    asked = parser.parse_args()
    if asked.store and not asked.output:
        parser.error("--store needs --output: the errors that ship lack a pair of gamma and C")
    (spec,) = [spec for spec in letarte.specs("table1", ["adult"]) if spec.protocol.methods == ("svm",)]
    grid = product(sorted(spec.protocol.gammas, reverse=True), spec.protocol.Cs)
    settings = ({"gamma": gamma, "C": C} for gamma, C in grid)
    table = frame.rows(asked.output, settings, rows_of, frame.DATA / "adult_svm_grid.csv")
    print(table.pivot(index="C", columns="gamma", values="valid").to_string())
    if asked.store:
        baseline._search = searched(table, _split())
        with Store(asked.store) as store:
            for step in run_stored(store, spec):
                print(*step.rows, sep="\n", end="\n" if step.rows else "")


if __name__ == "__main__":
    main()
