"""What the parts of a run share: the data of a split, seeds by purpose, rows, and linear SVMs chosen by validation.

Nothing here knows which methods there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._validation import as_labels, as_points
from ..kernels import GaussianKernel
from ..linear import linear_svm_decision, linear_svm_path

__all__ = ["COLUMNS", "Part", "Problem", "Task", "linear_svm_seconds", "wave_seconds"]

COLUMNS = (
    "run",
    "dataset",
    "split",
    "repeat",
    "method",
    "landmarks",
    "share",
    "D",
    "beta",
    "rho",
    "gamma",
    "C",
    "train_error",
    "valid_error",
    "test_error",
    "seconds",
    "note",
)

# Each purpose has its own child seed: what one method draws does not depend on which others are run.
# New purposes go to the end, or old runs would change.
_PURPOSES = ("training_rows", "svm_rows", "candidates", "pbrff", "okrff", "landmarks", "landmark_frequencies")


class Part(NamedTuple):
    """Points of shape (n, d) and whether each is of the larger label, (n,)."""

    X: np.ndarray | sp.csr_array
    y: np.ndarray


class Task(NamedTuple):
    """A piece of a run between two of which it can be stopped."""

    message: str
    seconds: float
    """A rough guess, for a progress bar."""
    work: Callable[[], list[dict]]
    """Does the piece and returns the rows newly known."""


@dataclass
class Problem:
    """A split of a two-class data set, with the names its rows carry and the seed of all that is drawn."""

    train: Part
    valid: Part
    test: Part
    labels: dict
    seed: int
    gamma: float | None = None
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, split, labels: dict, seed: int) -> Problem:
        """Check a split and code its two labels; a ValueError says what is wrong with it."""
        classes, _ = as_labels(split.y_train, name="y_train")
        if len(classes) != 2:
            raise ValueError(f"y_train holds {len(classes)} classes; an experiment is for exactly 2.")
        d = np.shape(split.X_train)[1] if np.ndim(split.X_train) == 2 else None
        parts = []
        for name in ("train", "valid", "test"):
            X = as_points(getattr(split, f"X_{name}"), f"X_{name}", n_features=d)
            y = np.asarray(getattr(split, f"y_{name}"))
            as_labels(y, X.shape[0], f"y_{name}", min_classes=1)
            if not np.isin(y, classes).all():
                raise ValueError(f"y_{name} holds a label that y_train does not; both need the same two classes.")
            parts.append(Part(_with_short_indices(X), y == classes[1]))
        return cls(*parts, labels=labels, seed=seed)

    @property
    def kernel(self) -> GaussianKernel:
        return GaussianKernel.from_gamma(self.gamma)

    @property
    def n_rows(self) -> int:
        return sum(len(part.y) for part in (self.train, self.valid, self.test))

    @property
    def n_columns(self) -> int:
        return self.train.X.shape[1]

    def child(self, purpose: str, *key: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(_PURPOSES.index(purpose), *key))

    def some_training_rows(self, at_most: int | None, purpose: str) -> Part:
        """The training part, or so many of its rows, drawn at random, in their order."""
        n = len(self.train.y)
        if at_most is None or n <= at_most:
            return self.train
        rng = np.random.default_rng(self.child(purpose))
        rows = np.sort(rng.choice(n, size=at_most, replace=False))
        drawn = Part(self.train.X[rows], self.train.y[rows])
        if drawn.y.all() or not drawn.y.any():
            raise ValueError(f"{at_most} training rows drawn at random hold one class only; more rows are needed.")
        return drawn

    def row(self, method: str, errors: dict, seconds: float, **fields) -> dict:
        values = {**self.labels, "method": method, "gamma": self.gamma, "note": "; ".join(self.notes)}
        values |= {**fields, **errors, "seconds": seconds}
        return {column: values.get(column) for column in COLUMNS}

    def best_linear_svm(self, features: Callable[[str], np.ndarray], Cs) -> dict:
        """Train on the features of "train"; C is the first of the fewest errors on those of "valid"."""
        train = features("train")
        coef, intercept = linear_svm_path(train, self.train.y, Cs)
        wrong = (linear_svm_decision(features("valid"), coef, intercept) > 0) != self.valid.y
        best = int(np.argmin(wrong.sum(axis=1)))
        chosen = slice(best, best + 1)

        def error(Z, y):
            return float(((linear_svm_decision(Z, coef[chosen], intercept[chosen])[0] > 0) != y).mean())

        return {
            "C": Cs[best],
            "train_error": error(train, self.train.y),
            "valid_error": float(wrong[best].mean()),
            "test_error": error(features("test"), self.test.y),
        }

    def timed_row(self, method: str, features: Callable[[str], np.ndarray], Cs, **fields) -> dict:
        start = time.perf_counter()
        errors = self.best_linear_svm(features, Cs)
        return self.row(method, errors, time.perf_counter() - start, **fields)


def _with_short_indices(X):
    """A CSR matrix with 32-bit indices, the only ones that k-means and libsvm take; a dense array as it is."""
    if not sp.issparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def linear_svm_seconds(n: int, n_features: int, n_C: int) -> float:
    """A guess at the time of a path of C, from the operations of its Newton steps."""
    size = n_features if 2 * n_features <= n else n / 2
    formed = n * n_features * min(n, n_features)
    return 0.005 + (formed + n_C * (size**3 + n * min(n, n_features) ** 2 / 4)) / 5e10


def wave_seconds(n: int, n_frequencies: int, d: int) -> float:
    """A guess at the time of n x D phases in d dimensions with their sines and cosines."""
    return 0.001 + n * n_frequencies * (20e-9 + d * 2e-11)
