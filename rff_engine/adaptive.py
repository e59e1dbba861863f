"""Frequencies and weights that fit the data: landmarks, their kernel approximation loss, and its descent.

The loss compares the kernel with ``sum_j p_j cos(omega_j . (x_s - x_t))`` on a few landmarks instead of all points
(Li et al. 2019, Eq. 5); its minimisers give features through `fourier_features` with `weights`. Where the first
frequencies come from is not decided here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve, cholesky, qr, solve_triangular
from scipy.optimize import minimize, nnls
from scipy.special import binom
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

from ._validation import (
    as_numbers,
    as_points,
    as_rng,
    check_choice,
    check_count,
    check_nonnegative,
    draw_seed,
)
from .kernels import GaussianKernel

__all__ = [
    "AdaptedFrequencies",
    "adapt_frequencies",
    "feature_weights",
    "importance_density",
    "kernel_landmarks",
    "relative_kernel_error",
]

_BLOCK_ENTRIES = 2**22  # of a kernel matrix in memory at a time: 32 MiB
_SERIES_TERMS = 4000
_MEMORY = 10  # past gradients that L-BFGS keeps
_WINDOW = 10  # steps over which the decrease is judged


def kernel_landmarks(X, n_landmarks: int, method: str = "sample", random_state=None):
    """Choose landmarks that stand for all points, without labels (Li et al. 2019, Empirical Kernel Approximation Loss).

    Parameters
    ----------
    X : array or CSR matrix of shape (N, d)
    n_landmarks : int
        From 1 to N.
    method : {"sample", "cluster", "nearest"}
        Rows without replacement (SAMPLE), the centroids of k-means (CLUSTER), or the row nearest to each centroid,
        for dimensions in which centroids lie far from all points.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    landmarks : array or CSR matrix of shape (n_landmarks, d)
        CSR for rows of a CSR `X`; centroids are dense.
    weights : ndarray of shape (n_landmarks,)
        The squared landmark weights q_s^2, which sum to 1: 1/n each, or the share of the points in each cluster.

    Raises
    ------
    ValueError
        If there are fewer points than landmarks, or the method is unknown.
    """
    X = as_points(X)
    check_choice(method, "method", ("sample", "cluster", "nearest"))
    N = X.shape[0]
    if check_count(n_landmarks, "n_landmarks") > N:
        raise ValueError(f"n_landmarks is {n_landmarks}; there are only {N} points to choose from.")
    rng = as_rng(random_state)
    if method == "sample":
        return X[rng.permutation(N)[:n_landmarks]], np.full(n_landmarks, 1 / n_landmarks)
    if sp.issparse(X):  # KMeans takes no indices of 64 bits
        X = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    with warnings.catch_warnings():
        # Fewer distinct points than centroids: clusters without points weigh nothing.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters = KMeans(n_landmarks, n_init=1, random_state=draw_seed(rng)).fit(X)
    weights = np.bincount(clusters.labels_, minlength=n_landmarks) / N
    if method == "cluster":
        return clusters.cluster_centers_, weights
    return X[pairwise_distances_argmin(clusters.cluster_centers_, X)], weights


@dataclass(frozen=True)
class AdaptedFrequencies:
    """What a descent found, and how it went.

    Attributes
    ----------
    frequencies : ndarray of shape (r, d)
    weights : ndarray of shape (r,)
        At least 0; they sum to about 1, the kernel at 0, without being made to.
    losses : ndarray of shape (steps + 1,)
        The objective at the start, the weights already at their best, and after each step; it never rises.
    path : tuple of pairs (frequencies, weights), or None
        One a loss, if asked for.
    """

    frequencies: np.ndarray
    weights: np.ndarray
    losses: np.ndarray
    path: tuple[tuple[np.ndarray, np.ndarray], ...] | None = None


class _KernelApproximationLoss:
    """The objective of Li et al. 2019, Eq. 5, at given landmarks.

    Landmarks in more dimensions than there are of them are turned into their own span, where phases keep their
    values: the loss does not see the rest of a frequency, and no gradient moves it.
    """

    def __init__(self, landmarks, kernel, landmark_weights, ridge):
        landmarks = as_points(landmarks, "landmarks")
        n, d = landmarks.shape
        if landmark_weights is None:
            landmark_weights = np.full(n, 1 / n)
        landmark_weights = as_numbers(landmark_weights, "landmark_weights")
        if landmark_weights.shape != (n,) or landmark_weights.min() < 0 or landmark_weights.sum() == 0:
            raise ValueError(f"landmark_weights must be {n} numbers of at least 0, not all 0, one a landmark.")
        points = (landmarks.toarray() if sp.issparse(landmarks) else landmarks).astype(np.float64, copy=False)
        self.ridge = check_nonnegative(ridge, "ridge")
        self.q = np.sqrt(landmark_weights)[:, None]
        self.kernel = np.asarray(kernel(points), dtype=np.float64) * self.q * self.q.T
        self.basis = None
        if d > n:
            self.basis, triangle = qr(points.T, mode="economic")
            points = triangle.T
        self.points = np.ascontiguousarray(points)

    def inside(self, omega):
        """The coordinates of frequencies in the span of the landmarks."""
        return omega if self.basis is None else omega @ self.basis

    def outside(self, omega, V):
        """Frequencies `omega` with the coordinates `V` in the span of the landmarks."""
        return V.copy() if self.basis is None else omega + (V - omega @ self.basis) @ self.basis.T

    def waves(self, V):
        """Cosines and sines at the landmarks, each row times its q_s."""
        angle = self.points @ V.T
        return np.cos(angle) * self.q, np.sin(angle) * self.q

    def best_weights(self, C, S, free=None):
        """The weights p >= 0 of least loss: a quadratic program in r variables (Li et al. 2019, p-step)."""
        A = (C.T @ C) ** 2
        A += (S.T @ S) ** 2
        cross = (C.T @ S) ** 2
        A += cross
        A += cross.T
        A.flat[:: len(A) + 1] += self.ridge
        b = np.einsum("ij,ij->j", C, self.kernel @ C) + np.einsum("ij,ij->j", S, self.kernel @ S)
        return _least_nonnegative(A, b, free)

    def residual(self, C, S, p):
        """R: the approximation less the kernel, times q_s q_t."""
        R = (C * p) @ C.T
        R += (S * p) @ S.T
        R -= self.kernel
        return R

    def value(self, R, p):
        return float(np.vdot(R, R) + self.ridge * (p @ p))

    def gradient(self, C, S, R, p):
        """With respect to the frequencies, the weights held (Li et al. 2019, Eq. 6, with its factor 4), (r, .)."""
        pull = C * (R @ S)
        pull -= S * (R @ C)
        pull *= 4 * p
        return pull.T @ self.points


def _least_nonnegative(A, b, free=None) -> np.ndarray:
    """argmin over p >= 0 of p'Ap - 2 b'p, for a positive definite A, from a guess at which p are above 0.

    All variables on the wrong side change it at once, and one at a time where that does not lead on (Kim and Park
    2011, block principal pivoting).
    """
    r = len(b)
    free = np.ones(r, dtype=bool) if free is None else free.copy()
    fewest, patience = r + 1, 3
    tolerance = 1e-11 * max(1e-300, np.abs(b).max())
    try:
        for _ in range(5 * r + 20):
            p = np.zeros(r)
            if free.any():
                p[free] = cho_solve(cho_factor(A[np.ix_(free, free)]), b[free])
            wrong = np.where(free, p < 0, A @ p - b < -tolerance)
            count = int(wrong.sum())
            if count == 0:
                return p
            if count < fewest:
                fewest, patience = count, 3
            else:
                patience -= 1
            if patience < 0:
                wrong[: np.flatnonzero(wrong)[-1]] = False
            free ^= wrong
    except np.linalg.LinAlgError:  # frequencies that coincide, without a ridge
        A = A + 1e-12 * np.trace(A) / r * np.eye(r)
    U = cholesky(A)
    return nnls(U, solve_triangular(U, b, trans=1), maxiter=30 * r)[0]


def _as_start(omega, landmarks):
    return as_points(omega, "omega", n_features=landmarks.shape[1], dense=True).astype(np.float64)


def feature_weights(landmarks, kernel, omega, landmark_weights=None, ridge: float = 0.03) -> np.ndarray:
    """Weights of given frequencies that approximate a kernel best at the landmarks (Li et al. 2019, p-step).

    Parameters
    ----------
    landmarks : array or CSR matrix of shape (n, d)
    kernel : SpectralKernel
    omega : array of shape (r, d)
    landmark_weights : array of shape (n,), optional
        The squared landmark weights q_s^2. ``None`` stands for 1/n each.
    ridge : float
        lambda, at least 0: the price of ||p||^2.

    Returns
    -------
    ndarray of shape (r,)
        At least 0 each, many of them 0 as a rule.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not allowed.
    """
    loss = _KernelApproximationLoss(landmarks, kernel, landmark_weights, ridge)
    return loss.best_weights(*loss.waves(loss.inside(_as_start(omega, landmarks))))


def adapt_frequencies(
    landmarks,
    kernel,
    omega,
    landmark_weights=None,
    ridge: float = 0.03,
    max_steps: int = 150,
    tol: float = 1e-3,
    keep_path: bool = False,
) -> AdaptedFrequencies:
    """Frequencies and weights that approximate a kernel on landmarks (Li et al. 2019, Eq. 5 and Algorithm 1).

    Where Algorithm 1 alternates, the weights here are at their best for every frequencies looked at, which leaves a
    function of the frequencies alone; its gradient is that of Eq. 6 at these weights, and L-BFGS descends it.

    Parameters
    ----------
    landmarks : array or CSR matrix of shape (n, d)
    kernel : SpectralKernel
    omega : array of shape (r, d)
        The frequencies to start from.
    landmark_weights : array of shape (n,), optional
        The squared landmark weights q_s^2. ``None`` stands for 1/n each.
    ridge : float
        lambda, at least 0: the price of ||p||^2.
    max_steps : int
        The most steps to take, at least 0.
    tol : float
        Stop once ten steps have lowered the objective by less than this share of it; at least 0.
    keep_path : bool
        Keep the frequencies and weights after each step.

    Returns
    -------
    AdaptedFrequencies

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not allowed.
    """
    loss = _KernelApproximationLoss(landmarks, kernel, landmark_weights, ridge)
    omega = _as_start(omega, landmarks)
    steps = check_count(max_steps, "max_steps", low=0)
    check_nonnegative(tol, "tol")
    start = loss.inside(omega)
    record = []  # of each step: the objective, the coordinates, the weights
    last = None

    def objective(flat):
        nonlocal last
        V = flat.reshape(start.shape)
        C, S = loss.waves(V)
        p = loss.best_weights(C, S, None if last is None else last[2] > 0)
        R = loss.residual(C, S, p)
        last = loss.value(R, p), V.copy(), p
        return last[0], loss.gradient(C, S, R, p).ravel()

    def after_step(intermediate_result):
        if not np.array_equal(last[1].ravel(), intermediate_result.x):
            objective(intermediate_result.x)
        record.append(last if keep_path else (last[0], None, None))
        before = record[-1 - _WINDOW][0] if len(record) > _WINDOW else np.inf
        if before - last[0] < tol * before:
            raise StopIteration

    first = objective(start.ravel())
    record.append(last)
    best = last
    if steps and first[0] > 0:
        found = minimize(
            objective,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=after_step,
            options={"maxiter": steps, "maxfun": 2 * steps + 20, "ftol": 0.0, "gtol": 0.0, "maxcor": _MEMORY},
        )
        if not np.array_equal(last[1].ravel(), found.x):
            objective(found.x)
        best = last
    path = None
    if keep_path:
        path = tuple((loss.outside(omega, V), p) for _, V, p in record)
    return AdaptedFrequencies(loss.outside(omega, best[1]), best[2], np.array([value for value, _, _ in record]), path)


def relative_kernel_error(X, kernel, features) -> float:
    """How far inner products of features are from a kernel, ||K~ - K||_F / ||K||_F (Li et al. 2019, Experiments).

    The two matrices are formed block by block, and their upper half only.

    Parameters
    ----------
    X : array or CSR matrix of shape (N, d)
    kernel : SpectralKernel
    features : array of shape (N, F)
        One row a point. Products are made in its precision and those of the kernel in that of `X`; sums in float64.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.
    """
    X = as_points(X)
    features = as_points(features, "features", dense=True)
    N = X.shape[0]
    if features.shape[0] != N:
        raise ValueError(f"features has {features.shape[0]} rows for {N} points; one row a point is needed.")
    size = max(1, min(N, int(_BLOCK_ENTRIES**0.5)))
    missed = total = 0.0
    for i in range(0, N, size):
        rows = slice(i, i + size)
        for j in range(i, N, size):
            columns = slice(j, j + size)
            K = kernel(X[rows], X[columns])
            twice = 1 if i == j else 2
            total += twice * _sum_of_squares(K)
            K -= features[rows] @ features[columns].T
            missed += twice * _sum_of_squares(K)
    return float(np.sqrt(missed / total))


def _sum_of_squares(block) -> float:
    """In float64, a row at a time."""
    return float(np.einsum("ij,ij->i", block, block).sum(dtype=np.float64))


def importance_density(omega, kernel, spread: float) -> np.ndarray:
    """The density from which frequencies are best drawn if x - x' ~ N(0, spread^2 I) (Li et al. 2019, Claim 1).

    With weights p/q it makes the mean squared error of the kernel estimate least: by the inequality of Cauchy and
    Schwarz q is in proportion to p (E cos^2(omega . (x - x')))^(1/2), and the mean is (1 + exp(-2 spread^2
    ||omega||^2)) / 2. The claim leaves the constant open; here it is the binomial series of the root, whose terms are
    Gaussian integrals.

    Parameters
    ----------
    omega : array of shape (D, d)
    kernel : GaussianKernel
    spread : float
        Standard deviation of each coordinate of x - x', at least 0; sqrt(2) for standardised independent points. 0
        gives the kernel's own density.

    Returns
    -------
    ndarray of shape (D,)
        It integrates to 1.

    Raises
    ------
    ValueError
        If the kernel is not a GaussianKernel, a shape is wrong or a value is not allowed.
    """
    omega = as_points(omega, "omega", dense=True).astype(np.float64)
    if not isinstance(kernel, GaussianKernel):
        raise ValueError(f"kernel is {kernel!r}; a GaussianKernel is needed, for which alone the density is known.")
    spread = check_nonnegative(spread, "spread")
    d = omega.shape[1]
    k = np.arange(_SERIES_TERMS)
    terms = binom(0.5, k) * (1 + 4 * k * (spread / kernel.sigma) ** 2) ** (-d / 2)
    # The signs alternate from k = 1 on: half of the last term halves the order of what is left out.
    constant = terms.sum() - terms[-1] / 2
    return kernel.spectral_density(omega) * np.sqrt(1 + np.exp(-2 * spread**2 * (omega**2).sum(axis=1))) / constant
