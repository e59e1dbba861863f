"""Ridge leverage scores: how much a frequency matters to ridge regression on the points at hand.

They measure, without labels, how far a cosine and a sine lie outside what the rest of the kernel explains. Frequencies
drawn by their scores need fewer features than draws from the kernel for the same risk of ridge regression.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ._blocks import BLOCK_ENTRIES, pieces
from ._typing import ArrayLike, MatrixLike
from ._validation import as_points, check_fits, check_interval, shown
from .features import phases

__all__ = ["SMALLEST_RIDGE", "leverage_scores"]

# Rounding errors of a score are of the order of 1e-16 / ridge.
SMALLEST_RIDGE = 1e-10


def leverage_scores(X: MatrixLike, omega: ArrayLike, ridge: float, pilot: ArrayLike | None = None) -> np.ndarray:
    """Ridge leverage scores of frequencies (Avron et al. 2017; Li, Ton, Oglic and Sejdinovic 2019).

    With the waves ``z(omega) = (exp(i omega . x_1), .., exp(i omega . x_n))`` the score of one of N frequencies drawn
    from the kernel is ``z(omega)^* (K + n lambda I)^-1 z(omega) / N``. The kernel matrix K is approximated by pilot
    frequencies. With the N frequencies themselves as pilots the scores sum to the effective dimension
    ``tr(K (K + n lambda I)^-1)`` of the approximated kernel. M pilots cost O(n M (M + N)).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Points, one a row; no labels are needed.
    omega : array of shape (N, d)
        Frequencies drawn from the kernel.
    ridge : float
        lambda, at least 1e-10.
    pilot : array of shape (M, d), optional
        Frequencies drawn from the kernel, for K. ``None`` stands for `omega`.

    Returns
    -------
    ndarray of shape (N,), float64
        Each from 1 / (N (1 + lambda)) to 1 / (N lambda).

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or the ridge is too small.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> omega = rff.GaussianKernel(1.0).sample_frequencies(200, 2, random_state=0)
    >>> scores = rff.leverage_scores(X, omega, ridge=0.01)
    >>> scores.shape, bool(0 < scores.sum() < 50)
    ((200,), True)
    """
    X = as_points(X)
    ridge = check_interval(ridge, "ridge", low=0)
    if ridge < SMALLEST_RIDGE:
        raise ValueError(f"ridge is {shown(ridge)}; a number of at least {SMALLEST_RIDGE:g} is needed.")
    omega = as_points(omega, "omega", n_features=X.shape[1], dense=True)
    pilot = omega if pilot is None else as_points(pilot, "pilot", n_features=X.shape[1], dense=True)
    N = len(omega)
    own, shared = _products(X, omega, pilot)
    # By Woodbury's identity z^* (K + n lambda I)^-1 z = (1 - b^* A^-1 b) / lambda, b = Z'z / n and A = Z'Z / n +
    # lambda I for the pilots' features Z: a system of 2 M equations in place of n.
    own[np.diag_indices_from(own)] += ridge
    explained = solve_triangular(cholesky(own, lower=True), shared, lower=True)
    of_waves = np.einsum("ij,ij->j", explained, explained)
    scores = (1 - of_waves[:N] - of_waves[N:]) / ridge
    return np.maximum(scores, 1 / (1 + ridge)) / N  # no eigenvalue of K exceeds n


def _products(X, omega, pilot) -> tuple[np.ndarray, np.ndarray]:
    """Z'Z / n, (2 M, 2 M), and Z'z / n, (2 M, 2 N), for the pilots' features Z and all waves z, summed over rows."""
    n = X.shape[0]
    M = len(pilot)
    N = len(omega)
    check_fits(4 * M * (M + 2 * N), f"omega has {N} rows and pilot {M}")
    own = np.zeros((2 * M, 2 * M))
    shared = np.zeros((2 * M, 2 * N))
    for rows in pieces(0, n, max(1, BLOCK_ENTRIES // (2 * (M + N)))):
        features = _waves(X[rows], pilot) / np.sqrt(M)
        own += features.T @ features
        shared += features.T @ _waves(X[rows], omega)
    return own / n, shared / n


def _waves(X, omega) -> np.ndarray:
    """All cosines, then all sines, (n, 2 D); in float64, since a small ridge magnifies rounding errors."""
    angle = phases(X, omega).astype(np.float64, copy=False)
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
