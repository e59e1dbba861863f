"""Nyström features: a kernel's values at landmarks among the data, made orthonormal.

They need the kernel but not its Fourier transform, and the data: `estimators.NystroemFeatures` chooses the landmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from . import _blocks
from ._blocks import pieces
from ._typing import MatrixLike
from ._validation import check_size, shown
from .features import row_norms
from .kernels import BLOCK_ENTRIES, SpectralKernel

_LONGEST_ROW = 100.0

__all__ = ["KernelOfRows", "NystroemMap", "PrecomputedKernel"]


@dataclass(frozen=True)
class KernelOfRows:
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

    _values = __call__


@dataclass(frozen=True)
class PrecomputedKernel:
    """The columns of a kernel matrix that belong to the landmarks."""

    rows: Any

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        columns = X[:, self.rows]
        return np.asarray(columns.toarray() if sp.issparse(columns) else columns)

    _values = __call__


@dataclass(frozen=True)
class NystroemMap:
    """Nyström features, k(x, landmarks) K_landmarks^(-1/2) (Williams and Seeger 2001), as in scikit-learn.

    Points and landmarks are taken as they are, without a check.

    Parameters
    ----------
    kernel : SpectralKernel, KernelOfRows or PrecomputedKernel
    landmarks : array or CSR matrix of shape (r, d)
    root : array of shape (r, r)
        Inverse square root of the landmarks' kernel matrix; eigenvalues are at least 1e-12.
    """

    kernel: Any
    landmarks: np.ndarray | sp.csr_array
    root: np.ndarray

    @classmethod
    def on(cls, kernel: Any, landmarks: MatrixLike) -> NystroemMap:
        """Make Nyström features of a kernel on given landmarks."""
        values, vectors = np.linalg.eigh(kernel._values(landmarks).astype(np.float64, copy=False))
        return cls(kernel, landmarks, (vectors / np.sqrt(values.clip(min=1e-12))) @ vectors.T)

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

        def fill(at):
            values = self.kernel._values(X[at], landmarks)
            np.matmul(values.astype(root.dtype, copy=False), root, out=features[at], casting="same_kind")

        jobs = [(at,) for at in pieces(0, n, max(1, BLOCK_ENTRIES // r))]
        _blocks.on_threads(fill, jobs, _blocks.phase_work(X, r) + n * r * r, n_jobs)
        return features
