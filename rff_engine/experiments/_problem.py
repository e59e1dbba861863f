"""What the units of a run share: the data of a split, seeds by purpose, rows, and linear SVMs chosen by validation.

Nothing here knows which methods there are, or where a unit runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from .._validation import as_labels, as_points
from ..features import largest_norm, phase_dtype
from ..kernels import GaussianKernel
from ..linear import linear_svm_decision

__all__ = ["COLUMNS", "PARTS", "Part", "Problem", "linear_svm_seconds", "split_digest", "wave_seconds"]

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
PARTS = ("train", "valid", "test")

# Each purpose has its own child seed: what one method draws does not depend on which others are run.
# New purposes go to the end, or old runs would change.
_PURPOSES = ("training_rows", "svm_rows", "candidates", "pbrff", "okrff", "landmarks", "landmark_frequencies")

_DECISION_ENTRIES = 2**22  # of the features that a decision is computed from at a time


class Part(NamedTuple):
    """Points of shape (n, d) and whether each is of the larger label, (n,)."""

    X: np.ndarray | sp.csr_array
    y: np.ndarray


@dataclass(frozen=True)
class Problem:
    """A split of a two-class data set, with the names its rows carry and the seed of all that is drawn.

    It is what every unit of a run starts from, so it can be pickled; what is shared (`shared`) stays behind.
    """

    train: Part
    valid: Part
    test: Part
    labels: dict
    seed: int
    notes: tuple[str, ...] = ()
    gamma: float | None = None
    feature_dtype: type = np.float64
    """Of what linear SVMs are trained on."""
    _shared: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self):
        return {**self.__dict__, "_shared": {}}

    @classmethod
    def of(cls, split, labels: dict, seed: int, scaling: str = "none") -> Problem:
        """Check a split, code its two labels, scale its columns; a ValueError says what is wrong with it."""
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
        if scaling == "standard":
            sparse = sp.issparse(parts[0].X)
            scaler = StandardScaler(with_mean=not sparse).fit(parts[0].X)
            parts = [Part(scaler.transform(part.X), part.y) for part in parts]
        return cls(*parts, labels=labels, seed=seed)

    def with_gamma(self, gamma: float, precision: str) -> Problem:
        """The problem at a bandwidth, in the precision of the stages after the baseline.

        "auto" casts features to float32, for they lie in [-1, 1]; points too if that does not change them, or if no
        frequency of the kernel makes a phase that float32 cannot hold. "float64" casts nothing down.
        """
        parts = [getattr(self, name) for name in PARTS]
        if precision == "float64":
            dtype, feature_dtype = np.dtype(np.float64), np.float64
        else:
            norm = max(largest_norm(part.X) for part in parts)
            phase = norm * _largest_frequency_norm(gamma, self.n_columns)
            dtype, feature_dtype = phase_dtype(np.dtype(np.float32), phase), np.float32
            if all(_fits_float32(part.X) for part in parts):
                dtype = np.dtype(np.float32)  # phases are decided on block by block
        parts = [Part(part.X.astype(dtype, copy=False), part.y) for part in parts]
        return replace(self, **dict(zip(PARTS, parts, strict=True)), gamma=gamma, feature_dtype=feature_dtype)

    def shared(self, name: str, make: Callable):
        """What several units in one process need, made by the first; `forget` lets it go."""
        if name not in self._shared:
            self._shared[name] = make()
        return self._shared[name]

    def forget(self) -> None:
        self._shared.clear()

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

    def best_errors(self, path, features: Callable[[str, slice], np.ndarray], Cs) -> dict:
        """Of the SVMs of a path over `Cs`, the first of the fewest errors on "valid": its C and its errors.

        `features(part, rows)` are those of some rows of a part; they are asked for in pieces that stay small.
        """
        coef, intercept = path

        def wrong(name, chosen):
            y = getattr(self, name).y
            rows_at_once = max(1, _DECISION_ENTRIES // coef.shape[1])
            count = 0
            for start in range(0, len(y), rows_at_once):
                rows = slice(start, start + rows_at_once)
                decision = linear_svm_decision(features(name, rows), coef[chosen], intercept[chosen])
                count = count + ((decision > 0) != y[rows]).sum(axis=1)
            return count / len(y)

        on_valid = wrong("valid", slice(None))
        best = int(np.argmin(on_valid))
        chosen = slice(best, best + 1)
        return {
            "C": Cs[best],
            "train_error": float(wrong("train", chosen)[0]),
            "valid_error": float(on_valid[best]),
            "test_error": float(wrong("test", chosen)[0]),
        }


def split_digest(split) -> str:
    """Of all points and labels of a split, whatever their names are."""
    found = hashlib.sha256()
    for name in PARTS:
        X, y = getattr(split, f"X_{name}"), np.asarray(getattr(split, f"y_{name}"))
        larger = y == np.max(split.y_train)
        for values in (X.data, X.indices.astype(np.int64), larger) if sp.issparse(X) else (np.asarray(X), larger):
            found.update(f"{values.shape} {values.dtype.str}".encode())
            found.update(np.ascontiguousarray(values).data)
        if sp.issparse(X):
            found.update(np.asarray(X.indptr, np.int64).data)
    return found.hexdigest()


def _largest_frequency_norm(gamma: float, d: int) -> float:
    """A bound on ||omega||, omega from N(0, 2 gamma I): one draw exceeds it with probability e^-50.

    A chi-square of d degrees of freedom stays below d + 2 sqrt(d t) + 2t but for e^-t (Laurent and Massart 2000).
    """
    t = 50.0
    return float(np.sqrt(2 * gamma * (d + 2 * np.sqrt(d * t) + 2 * t)))


def _fits_float32(X) -> bool:
    """Whether float32 holds every value as it is: whole numbers up to 2^24, say."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())


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
