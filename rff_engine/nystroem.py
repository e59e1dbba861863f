"""Nyström features: a kernel's values at landmarks among the data, made orthonormal.

They need the kernel but not its Fourier transform, and the data: `estimators.NystroemFeatures` chooses the landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from . import _blocks
from ._blocks import pieces
from ._typing import MatrixLike
from .kernels import SpectralKernel

__all__ = ["NystroemMap"]


@dataclass(frozen=True)
class NystroemMap:
    """Nyström features, k(x, landmarks) K_landmarks^(-1/2) (Williams and Seeger 2001), as in scikit-learn.

    Parameters
    ----------
    kernel : SpectralKernel
    landmarks : array or CSR matrix of shape (r, d)
    root : array of shape (r, r)
        Inverse square root of the landmarks' kernel matrix; eigenvalues are at least 1e-12.
    """

    kernel: SpectralKernel
    landmarks: np.ndarray | sp.csr_array
    root: np.ndarray

    @classmethod
    def on(cls, kernel: SpectralKernel, landmarks: MatrixLike) -> NystroemMap:
        """Nyström features of a kernel on given landmarks."""
        values, vectors = np.linalg.eigh(kernel(landmarks).astype(np.float64, copy=False))
        return cls(kernel, landmarks, (vectors / np.sqrt(values.clip(min=1e-12))) @ vectors.T)

    def transform(self, X: MatrixLike, n_jobs: int | None = None) -> np.ndarray:
        """Features of the rows of `X`, (n, r), in its precision, on `n_jobs` threads."""
        n, r = X.shape[0], len(self.root)
        features = np.empty((n, r), dtype=X.dtype if X.dtype == np.float32 else np.float64)

        def fill(at):
            # The root magnifies rounding, so kernel values are in the precision of the landmarks.
            features[at] = self.kernel(X[at], self.landmarks) @ self.root

        jobs = [(at,) for at in pieces(0, n, _blocks.rows_of_block(X))]
        _blocks.on_threads(fill, jobs, _blocks.phase_work(X, r) + n * r * r, n_jobs)
        return features
