"""What all units of a run share: the rows of a split, seeds by purpose, the kernel and result rows.

`letarte_problem` and `li_problem` hold the problem of each paper. Nothing here depends on the methods, or on where a
unit runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from ..._typing import ArrayLike, MatrixLike
from ...kernels import GaussianKernel
from .units import Row

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
"""Of a result row"""


class _Split(Protocol):
    """Training and test rows (n, d), arrays or CSR matrices, with their labels or targets (n,)."""

    @property
    def X_train(self) -> MatrixLike: ...

    @property
    def y_train(self) -> ArrayLike: ...

    @property
    def X_test(self) -> MatrixLike: ...

    @property
    def y_test(self) -> ArrayLike: ...


class LetarteSplit(_Split, Protocol):
    """A split with validation rows, such as `datasets.Split`."""

    @property
    def X_valid(self) -> MatrixLike: ...

    @property
    def y_valid(self) -> ArrayLike: ...


class LiSplit(_Split, Protocol):
    """A split without validation rows, such as `datasets.TwoPartSplit`."""

    @property
    def task(self) -> str:
        """ "regression" or "classification" """
        ...


class Part(NamedTuple):
    """Points of shape (n, d) and their targets or coded labels, (n,)."""

    X: np.ndarray | sp.csr_array
    y: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A checked split with a Gaussian kernel, the labels of its result rows and one seed for all random draws.

    It can be pickled: every unit of a run starts from it.
    """

    train: Part
    test: Part
    labels: Row
    """Values of every result row: run, dataset, split and repeat"""
    seed: int
    notes: tuple[str, ...] = ()
    """Part of every result row"""
    gamma: float | None = None
    """Of the kernel; ``None`` before it is chosen"""

    purposes: ClassVar[tuple[str, ...]] = ()
    """Of random draws. Each has its own child seed: a method draws the same whichever other methods run. New ones go
    to the end, since the position of a purpose is part of its seed."""

    @staticmethod
    def digest(split: Any) -> str:
        """Digest of what a problem takes from a split."""
        raise NotImplementedError

    @property
    def kernel(self) -> GaussianKernel:
        if self.gamma is None:
            raise ValueError("gamma is not chosen yet; without it there is no kernel.")
        return GaussianKernel.from_gamma(self.gamma)

    @property
    def n_columns(self) -> int:
        return self.train.X.shape[1]

    def child_seed(self, purpose: str, *key: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(self.purposes.index(purpose), *key))

    def rng(self, purpose: str, *key: int) -> np.random.Generator:
        return np.random.default_rng(self.child_seed(purpose, *key))

    def draw_rows(self, purpose: str, n: int, max_rows: int | None, *key: int) -> np.ndarray | slice:
        """Sorted indices of `max_rows` random rows out of n, or a slice of all n if that is not fewer."""
        if max_rows is None or n <= max_rows:
            return slice(None)
        return np.sort(self.rng(purpose, *key).choice(n, size=max_rows, replace=False))

    def row(self, method: str, errors: Row, seconds: float, notes: tuple[str, ...] = (), **fields: Any) -> Row:
        """Result row of a method, with the keys `COLUMNS`; what does not apply is None."""
        values = {**self.labels, "method": method, "gamma": self.gamma, "note": "; ".join((*self.notes, *notes))}
        values |= {**fields, **errors, "seconds": seconds}
        return {column: values.get(column) for column in COLUMNS}


class _Digest(Protocol):
    def update(self, data: Any, /) -> None: ...


def update_digest(digest: _Digest, arrays: Iterable[np.ndarray]) -> None:
    """Feed the shape, type and bytes of each array to a hash object."""
    for values in arrays:
        values = np.ascontiguousarray(values)
        digest.update(f"{values.shape} {values.dtype.str}".encode())
        digest.update(values.data)


def linear_svm_seconds(n: int, n_features: int, n_C: int) -> float:
    """Estimated time of a linear SVM path over C, from the operations of its Newton steps."""
    size = n_features if 2 * n_features <= n else n / 2
    formed = n * n_features * min(n, n_features)
    return 0.005 + (formed + n_C * (size**3 + n * min(n, n_features) ** 2 / 4)) / 5e10


def wave_seconds(n: int, n_frequencies: int, d: int) -> float:
    """Estimated time of n x D phases in d dimensions with their sines and cosines."""
    return 0.001 + n * n_frequencies * (20e-9 + d * 2e-11)
