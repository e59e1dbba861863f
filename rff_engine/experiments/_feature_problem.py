"""What the units of a run on features share: standardised points with their targets, the kernel, seeds, rows.

Unlike `_problem` it is for targets of a regression and for many classes as well, and has no validation part: what is
chosen is chosen by cross-validation. Nothing here knows which methods there are, or where a unit runs.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from .._validation import as_labels, as_numbers, as_points, check_choice
from ..kernels import GaussianKernel
from ._problem import COLUMNS, Part
from .feature_methods import TASKS, fit_features

__all__ = ["FeatureProblem", "two_part_digest"]

# Each purpose has its own child seed; new ones go to the end, or old runs would change.
_PURPOSES = ("training_rows", "features", "evaluated_rows", "folds")


@dataclass(frozen=True)
class FeatureProblem:
    """A split into training and test rows, with the names its rows carry and the seed of all that is drawn.

    The kernel is Gaussian with 2 sigma^2 = d (Li et al. 2019, Experiments).
    """

    train: Part
    test: Part
    task: str
    labels: dict
    seed: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, split, labels: dict, seed: int, scaling: str, max_train: int | None = None) -> FeatureProblem:
        """Check a split, code its classes, scale its columns; a ValueError says what is wrong with it.

        Two classes are coded as whether it is the larger one, more as numbers from 0.
        """
        task = check_choice(split.task, "task", TASKS)
        X = as_points(split.X_train, "X_train"), as_points(split.X_test, "X_test", n_features=split.X_train.shape[1])
        if task == "classification":
            classes, _ = as_labels(split.y_train, X[0].shape[0], "y_train")
            as_labels(split.y_test, X[1].shape[0], "y_test", min_classes=1)
            if not np.isin(split.y_test, classes).all():
                raise ValueError("y_test holds a label that y_train does not; both need the same classes.")
            y = tuple(np.searchsorted(classes, part) for part in (split.y_train, split.y_test))
            if len(classes) == 2:
                y = tuple(part == 1 for part in y)
        else:
            y = as_numbers(split.y_train, "y_train"), as_numbers(split.y_test, "y_test")
            if y[0].shape != (X[0].shape[0],) or y[1].shape != (X[1].shape[0],):
                raise ValueError(f"y has shapes {y[0].shape} and {y[1].shape}; one target a row is needed.")
        if sp.issparse(X[0]):  # frequencies are dense all the same, and so few columns that this is small
            X = tuple(part.toarray() for part in X)
        notes, n = [], X[0].shape[0] + X[1].shape[0]
        if n < getattr(split, "n_samples", n):
            notes.append(f"{n} of {split.n_samples} rows, drawn at random")
        if scaling == "standard":
            scaler = StandardScaler().fit(X[0].astype(np.float64))
            X = tuple(scaler.transform(part.astype(np.float64)) for part in X)
        X = tuple(np.ascontiguousarray(part, dtype=np.float64) for part in X)
        parts = Part(X[0], y[0]), Part(X[1], y[1])
        found = cls(*parts, task=task, labels=labels, seed=seed, notes=tuple(notes))
        return found if max_train is None else found._with_fewer(max_train)

    def _with_fewer(self, max_train: int) -> FeatureProblem:
        n = len(self.train.y)
        if n <= max_train:
            return self
        rows = self.some_rows("training_rows", n, max_train)
        train = Part(self.train.X[rows], self.train.y[rows])
        notes = (*self.notes, f"trained on {max_train} of {n} training rows")
        return FeatureProblem(train, self.test, self.task, self.labels, self.seed, notes)

    @property
    def gamma(self) -> float:
        return 1.0 / self.n_columns

    @property
    def kernel(self) -> GaussianKernel:
        return GaussianKernel.from_gamma(self.gamma)

    @property
    def n_columns(self) -> int:
        return self.train.X.shape[1]

    def child(self, purpose: str, *key: int) -> np.random.Generator:
        seed = np.random.SeedSequence(self.seed, spawn_key=(_PURPOSES.index(purpose), *key))
        return np.random.default_rng(seed)

    def fitted(self, method: str, r: int, rows=slice(None), **parameters):
        """Features of a method fitted on training rows, and what it warns of, for the notes; see `fit_features`.

        All methods of an r have the same generator: they begin with the same frequencies.
        """
        given = self.train.X[rows], self.train.y[rows], self.kernel, r, self.child("features", r), self.task
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            features = fit_features(method, *given, **parameters)
        own = [str(warning.message).rstrip(".") for warning in caught if warning.category is UserWarning]
        for other in (warning for warning in caught if warning.category is not UserWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
        return features, tuple(dict.fromkeys(own))

    def some_rows(self, purpose: str, n: int, at_most: int | None, *key: int) -> np.ndarray | slice:
        """All of n rows, or so many of them, drawn at random, in their order."""
        if at_most is None or n <= at_most:
            return slice(None)
        return np.sort(self.child(purpose, *key).choice(n, size=at_most, replace=False))

    def row(self, method: str, errors: dict, seconds: float, notes: tuple[str, ...] = (), **fields) -> dict:
        values = {**self.labels, "method": method, "gamma": self.gamma, "note": "; ".join((*self.notes, *notes))}
        values |= {**fields, **errors, "seconds": seconds}
        return {column: values.get(column) for column in COLUMNS}


def two_part_digest(split) -> str:
    """Of all points and targets of a split into training and test rows, and of its task."""
    found = hashlib.sha256(f"two parts {split.task}".encode())
    for X, y in ((split.X_train, split.y_train), (split.X_test, split.y_test)):
        arrays = (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)) if sp.issparse(X) else (X,)
        for values in (*arrays, y):
            values = np.ascontiguousarray(values)
            found.update(f"{values.shape} {values.dtype.str}".encode())
            found.update(values.data)
    return found.hexdigest()
