"""Frequencies and weights that fit the data: landmarks, their kernel approximation loss, and its descent.

The loss compares the kernel with ``sum_j p_j cos(omega_j . (x_s - x_t))`` on a few landmarks instead of all points
(Li et al. 2019, Eq. 5); its minimisers give features through `fourier_features` with `weights`. The caller
chooses the first frequencies.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve
from scipy.special import binom
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.svm import LinearSVC

from ._alternating import alternate
from ._approximation_loss import KernelApproximationLoss, descend
from ._newton import PrimalForm, minimise
from ._typing import ArrayLike, MatrixLike, RandomState
from ._validation import (
    as_labels,
    as_numbers,
    as_points,
    as_rng,
    as_sample_weight,
    check_choice,
    check_count,
    check_nonnegative,
    check_positive,
    check_range,
    check_size,
    draw_seed,
    shown,
    widened_for_squares,
)
from .kernels import GaussianKernel, SpectralKernel, check_kernel

__all__ = [
    "SOLVERS",
    "AdaptedFrequencies",
    "adapt_frequencies",
    "feature_weights",
    "importance_density",
    "kernel_landmarks",
    "relative_kernel_error",
    "supervise_frequencies",
]

_BLOCK_ENTRIES = 2**22  # entries of a kernel matrix in memory at a time: 32 MiB
_SERIES_TERMS = 4000
_LARGEST_RATIO = 1e100  # above it all terms but the first are 0; its square does not overflow
# k-means is fitted to a sample of this many points at most.
_CLUSTERED_ROWS, _CLUSTERED_ROWS_A_LANDMARK = 10_000, 50
_KMEANS_STEPS = 50
_DECAYS = (1e-4, 1e-3, 1e-2)
# Below the inverse of this, factorisations fail.
_LARGEST_DECAY = 1e12
_LARGEST_AGREEMENT = 1e12
_LARGEST_FEATURE = 1e6
LANDMARKS = ("sample", "cluster", "nearest")
SOLVERS = ("variable_projection", "alternating")
# Passes over the rows of an SVM with the hinge loss: "a few steps suffice" (Li et al. 2019, Algorithm 2).
_HINGE_PASSES = 100


def kernel_landmarks(
    X: MatrixLike, n_landmarks: int, method: str = "sample", random_state: RandomState = None
) -> tuple[Any, np.ndarray]:
    """Choose landmarks that stand for all points, without labels (Li et al. 2019, Empirical Kernel Approximation Loss).

    Parameters
    ----------
    X : array or CSR matrix of shape (N, d)
        Points, one a row.
    n_landmarks : int
        From 1 to N.
    method : {"sample", "cluster", "nearest"}
        Rows without replacement (SAMPLE), the centroids of k-means (CLUSTER), or the row nearest to each centroid,
        for dimensions in which centroids lie far from all points. k-means is fitted to a sample of at most
        max(10000, 50 n_landmarks) rows; the sizes of the clusters count all rows.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.

    Returns
    -------
    landmarks : array or CSR matrix of shape (n_landmarks, d)
        CSR for rows of a CSR `X`; centroids are dense.
    weights : ndarray of shape (n_landmarks,)
        The squared landmark weights q_s^2, which sum to 1: 1/n each, or the fraction of the points in each cluster.

    Raises
    ------
    ValueError
        If there are fewer points than landmarks, or the method is unknown.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> landmarks, weights = rff.kernel_landmarks(X, 10, "cluster", random_state=0)
    >>> landmarks.shape, round(float(weights.sum()), 6)
    ((10, 3), 1.0)
    """
    check_choice(method, "method", LANDMARKS)
    return landmarks_of(as_points(X), n_landmarks, method, as_rng(random_state))[:2]


def landmarks_of(X: Any, n_landmarks: int, method: str, rng: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Return `kernel_landmarks`, and their row numbers in `X` unless they are centroids."""
    N = X.shape[0]
    if check_count(n_landmarks, "n_landmarks") > N:
        raise ValueError(f"n_landmarks is {n_landmarks}; there are only {N} points to choose from.")
    if method == "sample":
        rows = rng.permutation(N)[:n_landmarks]
        return X[rows], np.full(n_landmarks, 1 / n_landmarks), rows
    points = widened_for_squares(X)
    enough = max(_CLUSTERED_ROWS, _CLUSTERED_ROWS_A_LANDMARK * n_landmarks)
    with warnings.catch_warnings():
        # Fewer distinct points than centroids: clusters without points have weight 0.
        warnings.simplefilter("ignore", ConvergenceWarning)
        clusters = KMeans(n_landmarks, n_init=1, max_iter=_KMEANS_STEPS, random_state=draw_seed(rng))
        clusters.fit(points if enough >= N else points[rng.permutation(N)[:enough]])
        weights = np.bincount(clusters.predict(points), minlength=n_landmarks) / N
    if method == "cluster":
        return clusters.cluster_centers_.astype(X.dtype, copy=False), weights, None
    rows = pairwise_distances_argmin(clusters.cluster_centers_, points)
    return X[rows], weights, rows


@dataclass(frozen=True)
class AdaptedFrequencies:
    """Result of a descent of the kernel approximation loss (Li et al. 2019, Algorithms 1 and 2).

    Parameters
    ----------
    frequencies : ndarray of shape (r, d)
        Where the descent ended.
    weights : ndarray of shape (r,)
        At least 0; their sum is about 1, the kernel at 0, without a constraint.
    losses : ndarray of shape (steps + 1,)
        The objective at the start, where the weights are optimal already, and after each step. With variable
        projection it never rises.
    path : tuple of pairs (frequencies, weights), or None
        One pair for each loss, with `keep_path`.
    converged : bool
        Whether the descent stopped before `max_steps`, by its tolerance or by the loss on held-out rows.
    n_iter : int
        Steps of the longest descent, including those that choose a decay.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, kernel = np.random.default_rng(0).normal(size=(30, 2)), rff.GaussianKernel(1.0)
    >>> adapted = rff.adapt_frequencies(X, kernel, kernel.sample_frequencies(10, 2, random_state=0))
    >>> adapted.frequencies.shape, adapted.weights.shape, len(adapted.losses) == adapted.n_iter + 1
    ((10, 2), (10,), True)
    """

    frequencies: np.ndarray
    weights: np.ndarray
    losses: np.ndarray
    path: tuple[tuple[np.ndarray, np.ndarray], ...] | None = None
    converged: bool = False
    n_iter: int = 0


def _check_verbose(verbose) -> bool:
    return bool(verbose if isinstance(verbose, (bool, np.bool_)) else check_count(verbose, "verbose", low=0))


def _as_start(omega, landmarks):
    return as_points(omega, "omega", n_features=landmarks.shape[1], dense=True).astype(np.float64)


def feature_weights(
    landmarks: MatrixLike,
    kernel: SpectralKernel,
    omega: ArrayLike,
    landmark_weights: ArrayLike | None = None,
    ridge: float = 0.03,
    signed: bool = False,
) -> np.ndarray:
    """Return weights that make given frequencies approximate a kernel best at landmarks (Li et al. 2019, p-step).

    Signed weights are the ridge regression of the kernel on the cosines over all pairs of landmarks (Chang et al.
    2017). They need not give a kernel: the approximated matrix may have negative eigenvalues.

    Parameters
    ----------
    landmarks : array or CSR matrix of shape (n, d)
        Landmarks, one a row.
    kernel : SpectralKernel
        The kernel that is approximated.
    omega : array of shape (r, d)
        Frequencies, one a row.
    landmark_weights : array of shape (n,), optional
        The squared landmark weights q_s^2, whose sum is from 1e-15 to 1e15. ``None`` stands for 1/n each.
    ridge : float
        lambda, from 0 to 1e100: the penalty on ||p||^2.
    signed : bool
        Whether weights may be negative.

    Returns
    -------
    ndarray of shape (r,)
        At least 0 each, usually many are 0, unless `signed`.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not allowed.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, kernel = np.random.default_rng(0).normal(size=(30, 2)), rff.GaussianKernel(1.0)
    >>> weights = rff.feature_weights(X, kernel, kernel.sample_frequencies(50, 2, random_state=0))
    >>> weights.shape, bool((weights >= 0).all())
    ((50,), True)
    """
    landmarks = as_points(landmarks, "landmarks")
    kernel = check_kernel(kernel)
    loss = KernelApproximationLoss(landmarks, kernel, landmark_weights, ridge)
    waves = loss.waves(loss.inside(_as_start(omega, landmarks)))
    return loss.signed_weights(*waves) if signed else loss.best_weights(*waves)


def adapt_frequencies(
    landmarks: MatrixLike,
    kernel: SpectralKernel,
    omega: ArrayLike,
    landmark_weights: ArrayLike | None = None,
    ridge: float = 0.03,
    max_steps: int = 500,
    tol: float = 1e-3,
    keep_path: bool = False,
    verbose: bool = False,
    solver: str = "variable_projection",
    learning_rate: float | None = None,
    inner_steps: int = 10,
) -> AdaptedFrequencies:
    """Fit frequencies and weights to a kernel on landmarks (Li et al. 2019, Eq. 5 and Algorithm 1).

    Algorithm 1, the solver "alternating", alternates between weights and frequencies: optimal weights, then
    `inner_steps` gradient steps of a fixed rate at these weights. With "variable_projection" the weights are optimal at
    every evaluation, so the objective depends on the frequencies alone. Its gradient is that of Eq. 6 at these weights,
    and L-BFGS minimises it. This solver ends lower, after fewer evaluations.

    Parameters
    ----------
    landmarks : array or CSR matrix of shape (n, d)
        Landmarks, one a row.
    kernel : SpectralKernel
        The kernel that is approximated.
    omega : array of shape (r, d)
        The frequencies to start from.
    landmark_weights : array of shape (n,), optional
        The squared landmark weights q_s^2, whose sum is from 1e-15 to 1e15. ``None`` stands for 1/n each.
    ridge : float
        lambda, from 0 to 1e100: the penalty on ||p||^2.
    max_steps : int
        Maximum number of steps, at least 0.
    tol : float
        Stop once ten steps lower the objective by less than this fraction of it; at least 0.
    keep_path : bool
        Keep the frequencies and weights after each step.
    verbose : bool or int
        Whether to print the objective after every ten steps.
    solver : {"variable_projection", "alternating"}
        How the objective is descended, as above.
    learning_rate : float, optional
        mu of the alternating steps, above 0. ``None`` stands for the inverse of the largest curvature at the start.
    inner_steps : int
        S, gradient steps between two updates of the other variables, for the alternating solver.

    Returns
    -------
    AdaptedFrequencies

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not allowed, or alternating steps diverge.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, kernel = np.random.default_rng(0).normal(size=(30, 2)), rff.GaussianKernel(1.0)
    >>> adapted = rff.adapt_frequencies(X, kernel, kernel.sample_frequencies(10, 2, random_state=0))
    >>> bool(adapted.losses[-1] < adapted.losses[0])
    True
    """
    landmarks = as_points(landmarks, "landmarks")
    loss = KernelApproximationLoss(landmarks, check_kernel(kernel), landmark_weights, ridge)
    omega = _as_start(omega, landmarks)
    return _adapted(loss, omega, _as_rule(max_steps, tol, verbose, solver, learning_rate, inner_steps), keep_path)


def _adapted(loss, omega, rule, keep_path=False) -> AdaptedFrequencies:
    """Compute `adapt_frequencies` of a loss at landmarks from checked frequencies."""
    V = loss.inside(omega)
    losses, (V, p), path, converged = _minimise(_projected(loss), loss.refitted, loss.n, V, rule, keep_path)
    path = tuple((loss.outside(omega, V), p) for V, p in path) if keep_path else None
    return AdaptedFrequencies(loss.outside(omega, V), p, losses, path, converged, len(losses) - 1)


class _Rule(NamedTuple):
    """Steps, tolerance and verbosity of a descent, and arguments of `alternate`, or None for variable projection."""

    max_steps: int
    tol: float
    show: bool
    alternating: dict[str, Any] | None


def _as_rule(max_steps, tol, verbose: int = 0, solver="variable_projection", learning_rate=None, inner_steps=10):
    """Check the arguments of a descent and return them as a `_Rule`."""
    steps = check_count(max_steps, "max_steps", low=0)
    tol = check_nonnegative(tol, "tol")
    show = _check_verbose(verbose)
    check_choice(solver, "solver", SOLVERS)
    inner_steps = check_count(inner_steps, "inner_steps")
    if learning_rate is not None:
        learning_rate = check_positive(learning_rate, "learning_rate")
    alternating = {"inner_steps": inner_steps, "learning_rate": learning_rate} if solver == "alternating" else None
    return _Rule(steps, tol, show, alternating)


def _minimise(objective, refitted, n_landmarks: int, start, rule: _Rule, keep_path: bool):
    """Descend with one of `SOLVERS`; see `descend`."""
    steps, tol, show, alternating = rule
    if alternating is None:
        return descend(objective, start, steps, tol, keep_path, show, n_landmarks)
    return alternate(refitted, start, steps, **alternating, tol=tol, keep_path=keep_path, verbose=show)


def _projected(loss: KernelApproximationLoss):
    """Return the objective at the optimal weights; the search for these starts from the last positive ones."""
    free = None

    def objective(V):
        nonlocal free
        value, gradient, p = loss.at(V, free)
        free = p > 0
        return value, gradient, p

    return objective


def relative_kernel_error(X: MatrixLike, kernel: SpectralKernel, features: ArrayLike) -> float:
    """Compute the relative error of a kernel approximation, ||K~ - K||_F / ||K||_F (Li et al. 2019, Experiments).

    Both matrices are computed block by block, and only their upper triangles.

    Parameters
    ----------
    X : array or CSR matrix of shape (N, d)
        Points, one a row.
    kernel : SpectralKernel
        The kernel that is approximated.
    features : array of shape (N, F)
        One row for each point, up to 1e6 in size. Products have its precision, the kernel that of `X`, and sums are in
        float64.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, kernel = np.random.default_rng(0).normal(size=(60, 3)), rff.GaussianKernel(1.5)
    >>> features = rff.RandomFourierFeatures(kernel, n_components=2000, random_state=0).fit_transform(X)
    >>> rff.relative_kernel_error(X, kernel, features) < 0.1
    True
    """
    X = as_points(X)
    kernel = check_kernel(kernel)
    features = as_points(features, "features", dense=True)
    check_size(features, "features", _LARGEST_FEATURE)
    N = X.shape[0]
    if features.shape[0] != N:
        raise ValueError(f"features has {features.shape[0]} rows for {N} points; one row a point is needed.")
    size = max(1, min(N, int(_BLOCK_ENTRIES**0.5)))
    missed = total = 0.0
    for i in range(0, N, size):
        rows = slice(i, i + size)
        for j in range(i, N, size):
            columns = slice(j, j + size)
            K = kernel._values(X[rows], None if i == j else X[columns])  # exact at distance 0
            twice = 1 if i == j else 2
            total += twice * _sum_of_squares(K)
            K -= features[rows] @ features[columns].T
            missed += twice * _sum_of_squares(K)
    return float(np.sqrt(missed / total))


def _sum_of_squares(block) -> float:
    """Sum squared entries in float64, a row at a time."""
    return float(np.einsum("ij,ij->i", block, block).sum(dtype=np.float64))


def importance_density(omega: ArrayLike, kernel: SpectralKernel, spread: float) -> np.ndarray:
    """Return the best density to draw frequencies from if x - x' ~ N(0, spread^2 I) (Li et al. 2019, Claim 1).

    With weights p/q it minimises the mean squared error of the kernel estimate. By the Cauchy-Schwarz inequality q is
    in proportion to p (E cos^2(omega . (x - x')))^(1/2), and the mean is (1 + exp(-2 spread^2 ||omega||^2)) / 2. The
    claim leaves the constant open. Here it is the binomial series of the root, whose terms are Gaussian integrals.

    Parameters
    ----------
    omega : array of shape (D, d)
        Frequencies to evaluate the density at.
    kernel : GaussianKernel
        The Gaussian kernel that is approximated.
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

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> kernel, omega = rff.GaussianKernel(1.0), np.linspace(-8, 8, 801)[:, None]
    >>> density = rff.importance_density(omega, kernel, spread=2**0.5)
    >>> round(float(density.sum() * 0.02), 3)  # it integrates to 1
    1.0
    """
    omega = as_points(omega, "omega", dense=True).astype(np.float64)
    if not isinstance(kernel, GaussianKernel):
        raise ValueError(
            f"kernel is {shown(kernel)}; a GaussianKernel is needed, for which alone the density is known."
        )
    spread = check_nonnegative(spread, "spread")
    density, d = kernel.spectral_density(omega), omega.shape[1]
    k = np.arange(_SERIES_TERMS)
    terms = binom(0.5, k) * (1 + 4 * k * min(spread / float(kernel.sigma), _LARGEST_RATIO) ** 2) ** (-d / 2)
    # The signs alternate from k = 1 on: half of the last term halves the order of the remainder.
    constant = terms.sum() - terms[-1] / 2
    with np.errstate(over="ignore"):
        shared = np.exp(-2 * ((spread * omega) ** 2).sum(axis=1))
    return density * np.sqrt(1 + shared) / constant


class _RowWeights:
    """Weights of rows, as factors with mean 1 over these rows."""

    def __init__(self, sample_weight: ArrayLike | None):
        self.given = sample_weight

    def of(self, rows) -> np.ndarray | None:
        return None if self.given is None else self.given[rows] / self.given[rows].mean()

    def times(self, values, rows) -> np.ndarray:
        factors = self.of(rows)
        return values if factors is None else values * factors[:, None]


class _Regression:
    """Mean squared error of ridge regression on the features at given frequencies, at the optimal coefficients."""

    def __init__(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None):
        y = as_numbers(y, "y")
        if y.shape != (X.shape[0],):
            raise ValueError(f"y has shape {y.shape}; {X.shape[0]} numbers, one a row, are needed.")
        self.weights = _RowWeights(sample_weight)
        mean = np.average(y, weights=sample_weight)
        spread = np.average((y - mean) ** 2, weights=sample_weight) ** 0.5
        self.targets = ((y - mean) / (spread or 1.0))[:, None]

    def fit(self, rows, features, decay, last=None):
        targets = self.targets[rows]
        weighted = self.weights.times(features, rows)
        mean = weighted.mean(axis=0)
        centre = self.weights.times(targets, rows).mean(axis=0)
        n = len(features)
        moment = weighted.T @ features / n - np.outer(mean, mean)
        moment.flat[:: len(moment) + 1] += decay
        coef = solve(moment, weighted.T @ (targets - centre) / n, assume_a="pos")
        return coef, centre - mean @ coef

    def losses(self, rows, predictions: ArrayLike):
        """Return the mean loss of predictions, and its derivative in each of them."""
        missed = predictions - self.targets[rows]
        weighted = self.weights.times(missed, rows)
        return float((weighted * missed).mean()), 2 * weighted / len(missed)

    def penalty(self, coef: ArrayLike, intercept: ArrayLike):
        return float((coef**2).sum())


class _Classification:
    """Mean squared hinge loss of linear SVMs on the features, one class against the others, at their optimum."""

    def __init__(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None):
        self.weights = _RowWeights(sample_weight)
        classes, codes = as_labels(y, X.shape[0])
        if sample_weight is not None:
            as_labels(classes[codes][sample_weight > 0])
        columns = [1] if len(classes) == 2 else range(len(classes))
        self.targets = np.column_stack([np.where(codes == k, 1.0, -1.0) for k in columns])

    def fit(self, rows, features, decay, last=None):
        # The objective is 1 / (C n) times that of `linear_svm_path`.
        form = PrimalForm(features, self.weights.of(rows))
        C = 0.5 / (decay * len(features))
        points = np.zeros((self.targets.shape[1], form.size)) if last is None else np.vstack(last).T
        solutions = np.empty_like(points)
        for k, signs in enumerate(self.targets[rows].T):
            form.prepare(points[k], signs, C)
            solutions[k] = minimise(form, signs, C, points[k])
        return solutions[:, :-1].T, solutions[:, -1]

    def losses(self, rows, predictions: ArrayLike):
        signs = self.targets[rows]
        hinge = np.maximum(1 - signs * predictions, 0)
        weighted = self.weights.times(hinge, rows)
        return float((weighted * hinge).sum(axis=1).mean()), -2 * signs * weighted / len(hinge)

    def penalty(self, coef: ArrayLike, intercept: ArrayLike):
        return float((coef**2).sum() + (intercept**2).sum())


class _Hinge(_Classification):
    """Mean hinge loss of linear SVMs on the features, one class against the others, nearly at their optimum."""

    def fit(self, rows, features, decay, last=None):
        machine = LinearSVC(C=0.5 / (decay * len(features)), random_state=0, loss="hinge", max_iter=_HINGE_PASSES)
        weights = self.weights.of(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solutions = [
                machine.fit(features, signs, weights) and (machine.coef_[0], machine.intercept_)
                for signs in self.targets[rows].T
            ]
        return np.column_stack([coef for coef, _ in solutions]), np.concatenate(
            [intercept for _, intercept in solutions]
        )

    def losses(self, rows, predictions: ArrayLike):
        signs = self.targets[rows]
        hinge = np.maximum(1 - signs * predictions, 0)
        slope = -self.weights.times(signs * (hinge > 0), rows) / len(hinge)
        return float(self.weights.times(hinge, rows).sum(axis=1).mean()), slope


_TASKS = {"regression": _Regression, "classification": _Classification}
_CLASSIFICATION_LOSSES = ("smooth", "hinge")


def supervise_frequencies(
    X: MatrixLike,
    y: ArrayLike,
    kernel: SpectralKernel,
    omega: ArrayLike,
    task: str = "regression",
    decay: float | None = None,
    agreement: float = 1.0,
    n_landmarks: int | None = None,
    ridge: float = 0.03,
    max_steps: int = 60,
    tol: float = 1e-3,
    max_rows: int = 8000,
    random_state: RandomState = None,
    keep_path: bool = False,
    verbose: bool = False,
    loss: str = "smooth",
    solver: str = "variable_projection",
    learning_rate: float | None = None,
    inner_steps: int = 10,
    sample_weight: ArrayLike | None = None,
) -> AdaptedFrequencies:
    """Fit frequencies to a linear predictor while they still approximate a kernel (Li et al. 2019, Eq. 9 and 10).

    The objective is the predictor's loss plus decay times its squared coefficients, plus `agreement` times the
    kernel approximation loss on sampled landmarks. The solver "alternating" updates predictor, weights and frequencies
    in turn, as Algorithm 2. With "variable_projection" predictor and weights are optimal at every evaluation, and
    L-BFGS minimises the resulting function of the frequencies. The predictor is linear in the unweighted
    `fourier_features`: the weights belong to the approximation.

    Parameters
    ----------
    X : array or CSR matrix of shape (N, d)
        Points, one a row.
    y : array of shape (N,)
        Numbers, which are standardised here, or the labels of two classes or more.
    kernel : SpectralKernel
        Approximated on the sampled landmarks, with the weight `agreement`.
    omega : array of shape (r, d)
        The frequencies to start from; the paper draws them from the kernel's spectral measure.
    task : {"regression", "classification"}
        Squared loss with a free intercept, or a hinge loss, one class against the others where there are more than
        two.
    decay : float, optional
        gamma, from 1e-12 to 1e12. ``None`` chooses 1e-4, 1e-3 or 1e-2, and how many of `max_steps` to take, by the loss
        on a third of the rows, held out from a first descent for each.
    agreement : float
        eta, from 0 to 1e12: the weight of the kernel approximation loss.
    n_landmarks : int, optional
        From 1 to N. ``None`` stands for the number of frequencies, or all rows if there are fewer.
    ridge : float
        lambda, from 0 to 1e100: the penalty on ||p||^2.
    max_steps : int
        Maximum number of steps, at least 0.
    tol : float
        Stop once ten steps lower the objective by less than this fraction of it; at least 0.
    max_rows : int
        If there are more rows, a sample of this size is used; at least 6.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    keep_path : bool
        Keep the frequencies and weights after each step.
    verbose : bool or int
        Whether to print the objective after every ten steps.
    loss : {"smooth", "hinge"}
        Of a classification: the squared hinge loss of `linear_svm_path`, or the paper's hinge loss, which needs the
        solver "alternating": L-BFGS needs a derivative everywhere.
    solver : {"variable_projection", "alternating"}
        How the objective is descended, as above.
    learning_rate : float, optional
        mu of the alternating steps, above 0. ``None`` stands for the inverse of the largest curvature at the start.
    inner_steps : int
        S, gradient steps between two updates of the other variables, for the alternating solver.
    sample_weight : array of shape (N,), optional
        Weights of the rows, at least 0, in the predictor's loss and among landmarks; ``None`` stands for 1 each. A row
        of a whole weight w counts as w rows, but in the draws of landmarks, of `max_rows` rows and of held-out rows,
        which look only for weights above 0.

    Returns
    -------
    AdaptedFrequencies

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not allowed, or alternating steps diverge.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> kernel = rff.GaussianKernel(1.0)
    >>> start = kernel.sample_frequencies(10, 2, random_state=0)
    >>> supervised = rff.supervise_frequencies(X, np.sin(3 * X[:, 0]), kernel, start, decay=1e-3, random_state=0)
    >>> bool(supervised.losses[-1] < supervised.losses[0])
    True
    """
    X = as_points(X)
    kernel = check_kernel(kernel)
    start = _as_start(omega, X)
    check_choice(task, "task", tuple(_TASKS))
    rule = _as_rule(max_steps, tol, verbose, solver, learning_rate, inner_steps)
    most = check_count(max_rows, "max_rows", low=6)
    if check_choice(loss, "loss", _CLASSIFICATION_LOSSES) == "hinge" and (task, solver) != (
        "classification",
        "alternating",
    ):
        raise ValueError(
            f"loss is 'hinge'; it is for classifications with the solver 'alternating', not {task}, {solver}."
        )
    weights = as_sample_weight(sample_weight, X.shape[0])
    predictor = (_Hinge if loss == "hinge" else _TASKS[task])(X, y, weights)
    rng = as_rng(random_state)
    return _supervised(X, predictor, kernel, start, decay, agreement, rule, rng, n_landmarks, ridge, most, keep_path)


def _supervised(
    X, predictor, kernel, start, decay, agreement, rule, rng, n_landmarks=None, ridge=0.03, most=8000, keep_path=False
) -> AdaptedFrequencies:
    """Compute `supervise_frequencies` of checked points, from checked frequencies."""
    agreement = check_range(agreement, "agreement", 0, _LARGEST_AGREEMENT)
    if decay is not None:
        decay = check_range(decay, "decay", 1 / _LARGEST_DECAY, _LARGEST_DECAY)
    weights = predictor.weights.given
    rows = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
    n_landmarks = min(len(start), len(rows)) if n_landmarks is None else n_landmarks
    landmarks, shares, chosen = landmarks_of(X if weights is None else X[rows], n_landmarks, "sample", rng)
    if weights is not None:
        shares = weights[rows[chosen]] / weights[rows[chosen]].sum()
    approximation = KernelApproximationLoss(landmarks, kernel, shares, ridge)
    rows = rng.permutation(rows)[:most]
    X = X.astype(np.float64, copy=False)
    joint = partial(_JointObjective, X, predictor, approximation=approximation, agreement=agreement)
    taken, longest = rule.max_steps, 0
    if decay is None:
        decay, taken, longest = _chosen_decay(joint, rows, start, rule)
    objective = joint(rows=rows, decay=decay)
    losses, (W, (p, _)), path, converged = objective.minimised(start, rule._replace(max_steps=taken), keep_path)
    path = tuple((W, p) for W, (p, _) in path) if keep_path else None
    return AdaptedFrequencies(W, p, losses, path, converged or taken < rule.max_steps, max(longest, len(losses) - 1))


class _JointObjective:
    """Objective of Li et al. 2019, Eq. 9, at the optimal predictor and weights, as a function of the frequencies."""

    def __init__(self, X, predictor, rows, approximation, agreement, decay):
        self.X, self.predictor, self.rows, self.approximation = X, predictor, rows, approximation
        self.agreement, self.decay = agreement, decay
        self.points = X[rows]
        self._free: np.ndarray | None = None
        self._predicted: tuple[Any, Any] | None = None

    def __call__(self, W):
        """Return the value, the gradient, and the weights with the predictor."""
        of_kernel, pull_of_kernel, p = self.approximation.at(self.approximation.inside(W), self._free)
        self._free = p > 0
        features = _features(self.points, W)
        value, slope, predictor = self._fit(features, of_kernel)
        return value, self._gradient(features, slope, predictor[0], pull_of_kernel), (p, predictor)

    def minimised(self, start, rule: _Rule, keep_path: bool):
        """Descend from `start`; see `descend`."""
        return _minimise(self, self.refitted, self.approximation.n, start, rule, keep_path)

    def refitted(self, W):
        """Return the value, the weights with the predictor, and the gradient at these as a function."""
        V = self.approximation.inside(W)
        of_kernel, p, pull_of_kernel = self.approximation.refitted(V, self._free)
        self._free = p > 0
        value, _, (coef, intercept) = self._fit(_features(self.points, W), of_kernel)

        def gradient(W):
            features = _features(self.points, W)
            slope = self.predictor.losses(self.rows, features @ coef + intercept)[1]
            return self._gradient(features, slope, coef, pull_of_kernel(self.approximation.inside(W)))

        return value, (p, (coef, intercept)), gradient

    def _fit(self, features, of_kernel):
        """Fit a predictor; return the objective, the slope of its loss at each prediction, and the predictor."""
        self._predicted = coef, intercept = self.predictor.fit(self.rows, features, self.decay, self._predicted)
        of_labels, slope = self.predictor.losses(self.rows, features @ coef + intercept)
        value = of_labels + self.decay * self.predictor.penalty(coef, intercept) + self.agreement * of_kernel
        return value, slope, (coef, intercept)

    def _gradient(self, features, slope, coef, pull_of_kernel):
        r = features.shape[1] // 2
        # d cos(omega . x) = -sin(omega . x) x, and d sin = cos x.
        pull = features[:, :r] * (slope @ coef[r:].T)
        pull -= features[:, r:] * (slope @ coef[:r].T)
        return (self.points.T @ pull).T + self.agreement * self.approximation.gradient_outside(pull_of_kernel)


def _chosen_decay(joint, rows, start, rule: _Rule) -> tuple[float, int, int]:
    """Return decay and number of steps of the smallest loss on held-out rows, and the steps of the longest descent."""
    if len(rows) < 6:  # too few for held-out rows
        return _DECAYS[1], rule.max_steps, 0
    held_out, used = np.split(rows, [len(rows) // 3])
    best, longest = (np.inf, _DECAYS[1], rule.max_steps), 0
    for decay in _DECAYS:
        objective = joint(rows=used, decay=decay)
        if rule.show:
            print(f"Decay {decay:g}, without the held-out rows:")
        path = objective.minimised(start, rule, keep_path=True)[2]
        longest = max(longest, len(path) - 1)
        points, predictor = objective.X[held_out], objective.predictor
        for i, (W, (_, (coef, intercept))) in enumerate(path):
            best = min(best, (predictor.losses(held_out, _features(points, W) @ coef + intercept)[0], decay, i))
    if rule.show:
        print(f"The loss on held-out rows is smallest at decay {best[1]:g} after {best[2]} iterations. With all rows:")
    return best[1], best[2], longest


def _features(points, W) -> np.ndarray:
    """Compute `fourier_features` of the predictor, without validation."""
    angle = np.asarray(points @ W.T)
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1) * len(W) ** -0.5
