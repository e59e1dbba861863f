"""Nyström features: a kernel's values at landmarks among the data, made orthonormal.

They need the kernel but not its Fourier transform, and the data: `estimators.NystroemFeatures` chooses the landmarks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from . import _blocks
from ._blocks import pieces, rows_of
from ._typing import MatrixLike
from ._validation import check_size, shown
from .features import row_norms
from .kernels import BLOCK_ENTRIES, SpectralKernel

_LONGEST_ROW = 100.0
_COLUMNS = 96  # of a triangular root at once

__all__ = ["KernelOfRows", "NystroemMap", "PrecomputedKernel"]


class _Called(ABC):
    """A kernel that is called with two arrays, as `NystroemMap` uses it."""

    @abstractmethod
    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray: ...

    def _values(self, X):
        return self(X)

    def _values_from(self, others):
        return lambda X: self(X, others)


@dataclass(frozen=True)
class KernelOfRows(_Called):
    """The kernel matrix of a function of two rows."""

    function: Callable[..., Any]

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        try:
            values = np.asarray(pairwise_kernels(X, Y, metric=self.function), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"kernel is {shown(self.function)}, which gives no number for two rows: {error}."
            ) from error
        check_size(values, "kernel")
        return values


@dataclass(frozen=True)
class PrecomputedKernel(_Called):
    """The columns of a kernel matrix that belong to the landmarks."""

    rows: Any

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        columns = X[:, self.rows]
        return np.asarray(columns.toarray() if sp.issparse(columns) else columns)


@dataclass(frozen=True)
class NystroemMap:
    """Nyström features, k(x, landmarks) R with R R' = K_landmarks^-1 (Williams and Seeger 2001).

    R is triangular, for half the multiplications of the symmetric root in scikit-learn; the features are rotated by it,
    and their inner products the same. Points and landmarks are taken as they are, without a check.

    Parameters
    ----------
    kernel : SpectralKernel, KernelOfRows or PrecomputedKernel
    landmarks : array or CSR matrix of shape (r, d)
    root : array of shape (r, r)
        R, lower triangular. An eigenvalue of K_landmarks below 1e-12, as of equal landmarks, is rounding and left out.
    """

    kernel: Any
    landmarks: np.ndarray | sp.csr_array
    root: np.ndarray

    @classmethod
    def on(cls, kernel: Any, landmarks: MatrixLike) -> NystroemMap:
        """Make Nyström features of a kernel on given landmarks."""
        values, vectors = np.linalg.eigh(kernel._values(landmarks).astype(np.float64, copy=False))
        roots = np.sqrt(values, out=np.full(len(values), np.inf), where=values >= 1e-12)
        triangle = np.linalg.qr((vectors / roots).T).R.T
        return cls(kernel, landmarks, triangle * np.where(triangle.diagonal() < 0, -1.0, 1.0))

    def transform(self, X: MatrixLike, n_jobs: int | None = None) -> np.ndarray:
        """Compute features of the rows of `X`, (n, r), in its precision, on `n_jobs` threads."""
        n, r = X.shape[0], len(self.root)
        features = np.empty((n, r), dtype=X.dtype if X.dtype == np.float32 else np.float64)
        landmarks, root = self.landmarks, self.root
        # A feature is off by the rounding of kernel values, times the length of its row of the root: by some 1e-5.
        if X.dtype == np.float32 and isinstance(self.kernel, SpectralKernel) and row_norms(root).max() < _LONGEST_ROW:
            rounded = landmarks.astype(np.float32)
            if not abs(rounded - landmarks).max():  # rows of `X`
                landmarks, root = rounded, root.astype(np.float32)

        values_of = self.kernel._values_from(landmarks)

        def fill(at):
            values = values_of(rows_of(X, at)).astype(root.dtype, copy=False)
            for some in pieces(0, r, _COLUMNS):
                to = features[at, some]
                np.matmul(values[:, some.start :], root[some.start :, some], out=to, casting="same_kind")

        jobs = [(at,) for at in pieces(0, n, max(1, min(_blocks.ROWS, BLOCK_ENTRIES // r)))]
        _blocks.on_threads(fill, jobs, _blocks.phase_work(X, r) + n * r * r, n_jobs)
        return features
