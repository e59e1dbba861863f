"""Frequencies adapted to points of the plane: weights on a grid, the steps of a descent, and the number of landmarks.

It follows Li et al. (2019): Figure 1, Algorithm 1, Claim 1 and Figure 2. Data have no labels here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rff_engine._typing import ArrayLike, RandomState
from rff_engine._validation import as_points, as_rng, check_choice, check_count, check_nonnegative, draw_seed
from rff_engine.adaptive import adapt_frequencies, feature_weights, importance_density, kernel_landmarks
from rff_engine.approximation_bounds import cluster_loss_bound, kernel_approximation_loss, sample_loss_bound
from rff_engine.features import fourier_features
from rff_engine.kernels import GaussianKernel, SpectralKernel
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: Penalty on ||p||^2 in a descent. It can be tiny: in the plane few frequencies suffice, and there are many points.
RIDGE = 1e-6
#: Sets of frequencies whose losses on landmarks are compared with those on all points.
N_FUNCTIONS = 30


@dataclass(frozen=True)
class GridWeights:
    """Weights of a grid of frequencies by the prior and by the p-step.

    Errors are relative, ||K~ - K|| / ||K|| at the landmarks, weighted as in the loss.
    """

    grid: np.ndarray
    """(G,), either coordinate of the frequencies"""
    prior: np.ndarray
    """(G, G), density times the area of a cell"""
    weights: np.ndarray
    """(G, G), of the p-step; opposite frequencies have equal weights"""
    prior_error: float
    error: float
    prior_effective: float
    """(sum p)^2 / sum p^2, the effective number of frequencies"""
    effective: float


def grid_weights(
    landmarks: ArrayLike,
    landmark_weights: np.ndarray,
    kernel: SpectralKernel,
    extent: float,
    cells: int = 30,
    ridge: float = 0.1,
) -> GridWeights:
    """Weights of a grid of frequencies that approximate a kernel best at the landmarks (Li et al. 2019, Figure 1).

    Landmarks (m, 2) and their weights are as from `kernel_landmarks`. `cells` is even, so that each frequency has an
    opposite one, with the same cosine. The larger `ridge`, lambda, the more evenly weights spread over suitable
    frequencies.
    """
    if check_count(cells, "cells") % 2:
        raise ValueError(f"cells is {cells}; an even number is needed, for each frequency to have an opposite one.")
    grid = cell_centres(extent, cells)
    omega = plane_points(grid)
    prior = kernel.spectral_density(omega) * (2 * extent / cells) ** 2
    # One of two opposite frequencies is solved for. At p/2 each they cost half as much ridge as one of them at p.
    half = omega[len(omega) // 2 :]
    p = feature_weights(landmarks, kernel, half, landmark_weights, check_nonnegative(ridge, "ridge") / 2) / 2
    p = np.concatenate([p[::-1], p])
    exact = kernel(landmarks)
    whole = landmark_weights @ exact**2 @ landmark_weights
    prior_error, error = (
        float(np.sqrt(_loss(landmarks, landmark_weights, exact, omega, weights) / whole)) for weights in (prior, p)
    )
    prior_effective, effective = (float(weights.sum() ** 2 / (weights**2).sum()) for weights in (prior, p))
    return GridWeights(
        grid, prior.reshape(cells, cells), p.reshape(cells, cells), prior_error, error, prior_effective, effective
    )


def _loss(points, point_weights, exact, omega, weights) -> float:
    """sum_st q_s^2 q_t^2 (sum_j p_j cos(omega_j . (x_s - x_t)) - k(x_s - x_t))^2, from the exact kernel matrix."""
    features = fourier_features(points, omega, weights)
    return float(point_weights @ (features @ features.T - exact) ** 2 @ point_weights)


def first_frequencies(kernel: SpectralKernel, r: int, random_state: RandomState = None) -> np.ndarray:
    """Initial frequencies (r, 2), drawn from the prior; a smaller r gives the first of a larger one."""
    return kernel.sample_frequencies(r, 2, as_rng(random_state))


@dataclass(frozen=True)
class Descent:
    """Some steps of a descent of frequencies and weights; errors are relative, ||K~ - K|| / ||K||."""

    losses: np.ndarray
    """(steps + 1,), the objective, which never rises"""
    landmark_errors: np.ndarray
    """(steps + 1,), at the landmarks, weighted as in the loss, without its penalty"""
    steps: np.ndarray
    """(F,), steps that are kept, including the first and the last"""
    frequencies: np.ndarray
    """(F, r, 2)"""
    weights: np.ndarray
    """(F, r)"""
    errors: np.ndarray
    """(F,), over all pairs of points"""
    drawn_error: float
    """Over all pairs of points, for the first frequencies at equal weights 1/r"""


def descent(
    X: ArrayLike,
    landmarks: ArrayLike,
    landmark_weights: np.ndarray,
    kernel: SpectralKernel,
    omega: ArrayLike,
    ridge: float = RIDGE,
    max_steps: int = 80,
    n_frames: int = 45,
) -> Descent:
    """Frequencies and weights during a descent (Li et al. 2019, Equation 5 and Algorithm 1).

    It starts at `omega` (r, 2) and uses the landmarks only; X (n, 2), all points, are for the errors. Of more than
    `n_frames` steps some are kept, more of the early ones, since frequencies move furthest there. `ridge` is lambda.
    """
    X = as_points(X)
    check_count(n_frames, "n_frames", low=2)
    adapted = adapt_frequencies(landmarks, kernel, omega, landmark_weights, ridge, max_steps=max_steps, keep_path=True)
    assert adapted.path is not None  # keep_path
    kept = _kept_steps(len(adapted.losses) - 1, n_frames)
    path = [adapted.path[step] for step in kept]
    exact = kernel(X)
    size = np.linalg.norm(exact)

    def error(frequencies, weights) -> float:
        features = fourier_features(X, frequencies, weights)
        return float(np.linalg.norm(features @ features.T - exact) / size)

    at_landmarks = kernel(landmarks)
    whole = landmark_weights @ at_landmarks**2 @ landmark_weights
    seen = [_loss(landmarks, landmark_weights, at_landmarks, *state) for state in adapted.path]
    return Descent(
        adapted.losses,
        np.sqrt(np.array(seen) / whole),
        kept,
        np.stack([frequencies for frequencies, _ in path]),
        np.stack([weights for _, weights in path]),
        np.array([error(*state) for state in path]),
        error(np.asarray(omega), None),
    )


def _kept_steps(last: int, n: int) -> np.ndarray:
    """At most n of 0 .. last, including both ends, at growing distances."""
    return np.unique(np.round(last * np.linspace(0, 1, n) ** 2).astype(int))


@dataclass(frozen=True)
class ImportancePlane:
    """Densities to draw frequencies from, over a square, and their errors."""

    grid: np.ndarray
    """(G,), either coordinate of the frequencies"""
    prior: np.ndarray
    """(G, G), the kernel's own density"""
    claim: np.ndarray
    """(G, G), density of Claim 1, which assumes Gaussian differences of points"""
    data: np.ndarray
    """(G, G), best density for the given points, within the square"""
    spread: float
    """Standard deviation of a coordinate of x - x', for Claim 1"""
    squared_errors: dict[str, float]
    """By "prior", "claim" and "data": r times the mean squared error of the kernel over all pairs of points"""


def importance_plane(X: ArrayLike, kernel: GaussianKernel, extent: float, cells: int = 101) -> ImportancePlane:
    """Prior and importance densities that minimise the mean squared error (Li et al. 2019, Claim 1).

    An estimate from frequencies of q with weights p/q has the variance ``E_q (p/q)^2 c - E k^2`` over r, where c is the
    mean of cos^2(omega . (x - x')) over pairs; q in proportion to p sqrt(c) makes it least (Cauchy and Schwarz). For n
    points c = (1 + |phi(2 omega)|^2) / 2, phi their characteristic function, so that it costs O(n) a frequency.
    Integrals are over the square.
    """
    X = as_points(X, n_features=2, dense=True).astype(np.float64)
    grid = cell_centres(extent, cells)
    omega = plane_points(grid)
    spread = float(np.sqrt(2 * X.var(axis=0).mean()))
    prior = kernel.spectral_density(omega)
    claim = importance_density(omega, kernel, spread)
    along, up = (np.exp(2j * np.outer(grid, coordinate)) for coordinate in X.T)
    agreement = (1 + np.abs(up @ along.T / len(X)).ravel() ** 2) / 2
    area = (2 * extent / cells) ** 2
    data = prior * np.sqrt(agreement)
    data /= data.sum() * area
    whole = np.mean(kernel(X) ** 2)
    errors = {
        name: float((prior**2 / q * agreement).sum() * area - whole)
        for name, q in (("prior", prior), ("claim", claim), ("data", data))
    }
    prior, claim, data = (values.reshape(cells, cells) for values in (prior, claim, data))
    return ImportancePlane(grid, prior, claim, data, spread, errors)


def saving(plane: ImportancePlane, density: str) -> float:
    """Relative reduction of the prior's mean squared error by the density "claim" or "data"; negative if it rises."""
    check_choice(density, "density", ("claim", "data"))
    return 1 - plane.squared_errors[density] / plane.squared_errors["prior"]


def landmark_curve(
    X: ArrayLike,
    kernel: SpectralKernel,
    r: int,
    n_landmarks: Sequence[int],
    method: str,
    n_draws: int,
    random_state: RandomState = None,
    ridge: float = RIDGE,
    max_steps: int = 15,
) -> np.ndarray:
    """Relative error over all points against the number of landmarks of the descent (Li et al. 2019, Figure 2).

    It has the shape (len(n_landmarks), n_draws). `method` is one of `kernel_landmarks`, and `ridge` is lambda. A draw
    starts from the same `r` frequencies for every number of landmarks, and for every method at one `random_state`.
    """
    X = as_points(X)
    rng = as_rng(random_state)
    seeds = [draw_seed(rng) for _ in range(check_count(n_draws, "n_draws"))]
    exact = kernel(X)
    size = np.linalg.norm(exact)
    errors = np.empty((len(n_landmarks), n_draws))
    for draw, seed in enumerate(seeds):
        omega = kernel.sample_frequencies(r, X.shape[1], np.random.default_rng(seed))
        for i, count in enumerate(n_landmarks):
            chosen = kernel_landmarks(X, count, method, np.random.default_rng((seed, 1)))
            adapted = adapt_frequencies(chosen[0], kernel, omega, chosen[1], ridge, max_steps=max_steps)
            features = fourier_features(X, adapted.frequencies, adapted.weights)
            errors[i, draw] = np.linalg.norm(features @ features.T - exact) / size
    return errors


@dataclass(frozen=True)
class LossGaps:
    """How far the loss on landmarks is from that on all points; (P, draws) each, P numbers of landmarks."""

    counts: tuple[int, ...]
    """Numbers of landmarks"""
    sampled: np.ndarray
    """The largest |L_n - L| among many frequencies drawn from the prior: from below, what Proposition 1 bounds"""
    sampled_fitted: np.ndarray
    """|L_n - L| at frequencies and weights fitted to these landmarks"""
    sample_bound: np.ndarray
    """Proposition 1, for frequencies no longer than the longest of these"""
    clustered: np.ndarray
    """The largest |L^c - L| among the same drawn frequencies: from below, what Proposition 2 bounds"""
    clustered_fitted: np.ndarray
    """|L^c - L| at frequencies and weights fitted to the centroids"""
    cluster_bound: np.ndarray
    """Proposition 2"""


def loss_gaps(
    X: ArrayLike,
    kernel: GaussianKernel,
    r: int,
    n_landmarks: Sequence[int],
    n_draws: int,
    random_state: RandomState = None,
    delta: float = 0.05,
    max_steps: int = 15,
    n_functions: int = N_FUNCTIONS,
) -> LossGaps:
    """The loss on landmarks against that on all points (Li et al. 2019, Propositions 1 and 2).

    Fitted weights are divided by their sum, as the propositions have them on the simplex. Landmarks of Proposition 1,
    which holds with probability 1 - delta, are drawn with replacement. The largest difference is taken over
    `n_functions` sets of `r` frequencies.
    """
    X = as_points(X, dense=True)
    (N, d), rng = X.shape, as_rng(random_state)
    counts = tuple(check_count(n, "n_landmarks", low=2) for n in n_landmarks)
    sampled = [kernel.sample_frequencies(r, d, rng) for _ in range(check_count(n_functions, "n_functions"))]
    on_all = np.array([kernel_approximation_loss(X, kernel, W) for W in sampled])
    diameter = float(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)).max())
    gaps = np.empty((6, len(counts), check_count(n_draws, "n_draws")))
    for i, n in enumerate(counts):
        for draw in range(n_draws):
            rows = X[rng.choice(N, size=n)]
            W, p = _on_the_simplex(rows, kernel, sampled[0], None, max_steps)
            of_sampled = np.array([kernel_approximation_loss(rows, kernel, W, distinct=True) for W in sampled])
            of_fitted = kernel_approximation_loss(rows, kernel, W, p, distinct=True)
            bound = sample_loss_bound(n, r, d, _longest([*sampled, W]), diameter, delta)
            gaps[:3, i, draw] = *_gaps(X, kernel, of_sampled - on_all, of_fitted, W, p), bound
            centroids, shares = kernel_landmarks(X, n, "cluster", rng)
            W, p = _on_the_simplex(centroids, kernel, sampled[0], shares, max_steps)
            exact = kernel(centroids)
            of_sampled = np.array([_loss(centroids, shares, exact, W, None) for W in sampled])
            of_fitted = _loss(centroids, shares, exact, W, p)
            distances = np.sqrt(((X[:, None] - centroids) ** 2).sum(axis=2)).min(axis=1)
            bound = cluster_loss_bound(distances, _longest([*sampled, W]), np.exp(-0.5) / float(kernel.sigma))
            gaps[3:, i, draw] = *_gaps(X, kernel, of_sampled - on_all, of_fitted, W, p), bound
    return LossGaps(counts, *gaps)


def _gaps(X, kernel, of_sampled, of_fitted, W, p) -> tuple[float, float]:
    """The largest difference among drawn frequencies, and that of fitted ones."""
    return np.abs(of_sampled).max(), abs(of_fitted - kernel_approximation_loss(X, kernel, W, p))


def _on_the_simplex(landmarks, kernel, omega, landmark_weights, max_steps):
    """Fitted frequencies, and their weights divided by the sum."""
    adapted = adapt_frequencies(landmarks, kernel, omega, landmark_weights, RIDGE, max_steps=max_steps)
    return adapted.frequencies, adapted.weights / adapted.weights.sum()


def _longest(frequencies) -> float:
    return float(np.linalg.norm(np.concatenate(frequencies), axis=1).max())
