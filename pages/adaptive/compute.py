"""Frequencies adapted to points of the plane: weights on a grid, a descent, densities, and errors of many methods.

It follows Li et al. (2019): Figure 1, Algorithm 1, Claim 1, Figure 2 and Table 2. Data have no labels here.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import rff_engine as rff
from rff_datasets import ToyData, make_toy_inputs
from rff_engine.studies.feature_methods import SAMPLED, fit_features
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: Ways to choose landmarks.
METHODS = ("sample", "cluster", "nearest")
#: Ways whose errors are compared.
COMPARED = METHODS[:2]
#: Numbers of landmarks on the slider and of the error curve; draws of the curve, and steps of its descents.
LANDMARK_COUNTS, CURVE_DRAWS, CURVE_STEPS = (2, 5, 10, 20, 50, 100), 3, 15
#: Methods whose errors are compared, and numbers of frequencies (for Nyström: of landmarks).
FITTED = ("weight", *METHODS)
FEATURES = (*SAMPLED, *FITTED, "nystroem", "nystroem_kmeans")
FREQUENCY_COUNTS = (5, 10, 20, 50, 100)
#: Penalty on ||p||^2 in a descent. It can be tiny: in the plane few frequencies suffice, and there are many points.
RIDGE = 1e-6
#: Standard deviations of the prior that the square of frequencies shows, to either side.
_WIDTHS = 3.5
# Streams of random numbers; the points are drawn from the seed alone.
_LANDMARKS, _FREQUENCIES, _CURVE, _METHODS = 1, 2, 3, 4


@dataclass(frozen=True)
class AdaptiveSettings:
    """The points, the kernel, and the landmarks that represent the points."""

    data: ToyData
    sigma: float
    method: str
    n_landmarks: int


def landmark_counts(n: int) -> tuple[int, ...]:
    """Return the numbers of landmarks that are no larger than n."""
    return tuple(count for count in LANDMARK_COUNTS if count <= n)


def inputs(data: ToyData) -> np.ndarray:
    """Draw the points (N, 2)."""
    return make_toy_inputs(data.name, data.n, data.noise, data.seed)


def data_extent(data: ToyData) -> float:
    """Return half the side of the square that shows the points."""
    return float(np.ceil(4.2 * np.abs(inputs(data)).max()) / 4)


def frequency_extent(sigma: float) -> float:
    """Return half the side of the square of frequencies that figures show."""
    return _WIDTHS / sigma


def chosen_landmarks(settings: AdaptiveSettings) -> tuple[np.ndarray, np.ndarray]:
    """Choose the landmarks (m, 2), and their weights in the loss (m,)."""
    rng = np.random.default_rng((settings.data.seed, _LANDMARKS))
    return rff.kernel_landmarks(inputs(settings.data), settings.n_landmarks, settings.method, rng)


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


def grid_weights(settings: AdaptiveSettings, ridge: float, cells: int = 30) -> GridWeights:
    """Weigh a grid of frequencies so that it approximates the kernel best at the landmarks (Li et al. 2019, Figure 1).

    `cells` is even, so that each frequency has an opposite one, with the same cosine. The larger `ridge`, lambda, the
    more evenly weights spread over suitable frequencies.
    """
    landmarks, shares = chosen_landmarks(settings)
    kernel = rff.GaussianKernel(settings.sigma)
    extent = frequency_extent(settings.sigma)
    grid = cell_centres(extent, cells)
    omega = plane_points(grid)
    prior = kernel.spectral_density(omega) * (2 * extent / cells) ** 2
    # Solve for one of two opposite frequencies. At p/2 each they cost half as much ridge as one of them at p.
    half = rff.feature_weights(landmarks, kernel, omega[len(omega) // 2 :], shares, ridge / 2) / 2
    p = np.concatenate([half[::-1], half])
    exact = kernel(landmarks)
    whole = shares @ exact**2 @ shares
    prior_error, error = (
        float(np.sqrt(_loss(landmarks, shares, exact, omega, weights) / whole)) for weights in (prior, p)
    )
    prior_effective, effective = (float(weights.sum() ** 2 / (weights**2).sum()) for weights in (prior, p))
    return GridWeights(
        grid, prior.reshape(cells, cells), p.reshape(cells, cells), prior_error, error, prior_effective, effective
    )


def _loss(points, point_weights, exact, omega, weights) -> float:
    """Compute sum_st q_s^2 q_t^2 (sum_j p_j cos(omega_j . (x_s - x_t)) - k(x_s - x_t))^2, `exact` being k."""
    features = rff.fourier_features(points, omega, weights)
    return float(point_weights @ (features @ features.T - exact) ** 2 @ point_weights)


def _relative_error(X, exact, omega, weights) -> float:
    """Compute ||K~ - K|| / ||K|| over all pairs of points."""
    features = rff.fourier_features(X, omega, weights)
    return float(np.linalg.norm(features @ features.T - exact) / np.linalg.norm(exact))


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


def descent(settings: AdaptiveSettings, r: int, max_steps: int = 80, n_frames: int = 45) -> Descent:
    """Let r frequencies and their weights descend (Li et al. 2019, Equation 5 and Algorithm 1).

    The descent starts at frequencies of the prior; a smaller r has the first of them. It uses the landmarks only;
    errors are over all points. At most `n_frames` steps are kept, more of the early ones, in which frequencies move
    furthest.
    """
    X = inputs(settings.data)
    landmarks, shares = chosen_landmarks(settings)
    kernel = rff.GaussianKernel(settings.sigma)
    omega = kernel.sample_frequencies(r, 2, np.random.default_rng((settings.data.seed, _FREQUENCIES)))
    adapted = rff.adapt_frequencies(landmarks, kernel, omega, shares, RIDGE, max_steps=max_steps, keep_path=True)
    assert adapted.path is not None  # keep_path
    last = len(adapted.losses) - 1
    kept = np.unique(np.round(last * np.linspace(0, 1, n_frames) ** 2).astype(int))  # at growing distances
    path = [adapted.path[step] for step in kept]
    exact = kernel(X)
    at_landmarks = kernel(landmarks)
    whole = shares @ at_landmarks**2 @ shares
    penalties = RIDGE * np.array([p @ p for _, p in adapted.path])
    return Descent(
        adapted.losses,
        np.sqrt((adapted.losses - penalties) / whole),
        kept,
        np.stack([frequencies for frequencies, _ in path]),
        np.stack([weights for _, weights in path]),
        np.array([_relative_error(X, exact, *state) for state in path]),
        _relative_error(X, exact, omega, None),
    )


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

    def saving(self, density: str) -> float:
        """Return the share of the prior's squared error that "claim" or "data" saves; below 0 if it adds."""
        return 1 - self.squared_errors[density] / self.squared_errors["prior"]


def importance_plane(data: ToyData, sigma: float, cells: int = 101) -> ImportancePlane:
    """Compute importance densities that minimise the mean squared error (Li et al. 2019, Claim 1).

    An estimate from r frequencies of q with weights p/q has the variance ``(E_q (p/q)^2 c - E k^2) / r``, where c is
    the mean of cos^2(omega . (x - x')) over pairs. It is least for q in proportion to p sqrt(c) (Cauchy and Schwarz).
    For n points c = (1 + |phi(2 omega)|^2) / 2 with their characteristic function phi, which costs O(n) a frequency.
    Integrals are over the square.
    """
    X = inputs(data)
    kernel = rff.GaussianKernel(sigma)
    extent = frequency_extent(sigma)
    grid = cell_centres(extent, cells)
    omega = plane_points(grid)
    spread = float(np.sqrt(2 * X.var(axis=0).mean()))
    prior = kernel.spectral_density(omega)
    claim = rff.importance_density(omega, kernel, spread)
    along, up = (np.exp(2j * np.outer(grid, coordinate)) for coordinate in X.T)
    agreement = (1 + np.abs(up @ along.T / len(X)).ravel() ** 2) / 2
    area = (2 * extent / cells) ** 2
    best = prior * np.sqrt(agreement)
    best /= best.sum() * area
    whole = np.mean(kernel(X) ** 2)
    densities = {"prior": prior, "claim": claim, "data": best}
    errors = {name: float((prior**2 / q * agreement).sum() * area - whole) for name, q in densities.items()}
    planes = {name: density.reshape(cells, cells) for name, density in densities.items()}
    return ImportancePlane(grid, **planes, spread=spread, squared_errors=errors)


def landmark_curve(
    data: ToyData,
    sigma: float,
    r: int,
    method: str,
    counts: Sequence[int] = LANDMARK_COUNTS,
    max_steps: int = CURVE_STEPS,
) -> np.ndarray:
    """Compute errors over all points by numbers of landmarks of a descent, (P, draws) (Li et al. 2019, Figure 2).

    A draw starts from the same `r` frequencies for every number of landmarks and for every method.
    """
    X = inputs(data)
    kernel = rff.GaussianKernel(sigma)
    rng = np.random.default_rng((data.seed, _CURVE))
    exact = kernel(X)
    counts = [count for count in counts if count <= data.n]
    errors = np.empty((len(counts), CURVE_DRAWS))
    for draw, seed in enumerate(rng.integers(2**31) for _ in range(CURVE_DRAWS)):
        omega = kernel.sample_frequencies(r, 2, np.random.default_rng(seed))
        for i, count in enumerate(counts):
            landmarks, shares = rff.kernel_landmarks(X, count, method, np.random.default_rng((seed, 1)))
            adapted = rff.adapt_frequencies(landmarks, kernel, omega, shares, RIDGE, max_steps=max_steps)
            errors[i, draw] = _relative_error(X, exact, adapted.frequencies, adapted.weights)
    return errors


def method_curve(data: ToyData, sigma: float, n_landmarks: int, method: str) -> np.ndarray:
    """Compute errors over all points by the `FREQUENCY_COUNTS` of a method, (R, draws) (Li et al. 2019, Table 2).

    Draw i has the same seed for all methods and counts. Methods that fit frequencies or weights do so at `n_landmarks`.
    """
    X = inputs(data)
    kernel = rff.GaussianKernel(sigma)
    exact = kernel(X)
    errors = np.empty((len(FREQUENCY_COUNTS), CURVE_DRAWS))
    for i, r in enumerate(FREQUENCY_COUNTS):
        for draw in range(CURVE_DRAWS):
            seed = (data.seed, _METHODS, draw)
            features = _features_of(method, X, kernel, r, n_landmarks, seed)
            errors[i, draw] = np.linalg.norm(features @ features.T - exact) / np.linalg.norm(exact)
    return errors


def _features_of(method, X, kernel, r, n_landmarks, seed) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if method not in FITTED:
        return fit_features(method, X, None, kernel, r, rng).transform(X)
    omega = kernel.sample_frequencies(r, 2, rng)
    landmarks, shares = rff.kernel_landmarks(X, n_landmarks, "sample" if method == "weight" else method, rng)
    if method == "weight":
        return rff.fourier_features(X, omega, rff.feature_weights(landmarks, kernel, omega, shares, RIDGE))
    adapted = rff.adapt_frequencies(landmarks, kernel, omega, shares, RIDGE, max_steps=CURVE_STEPS)
    return rff.fourier_features(X, adapted.frequencies, adapted.weights)


def numbers(settings: AdaptiveSettings, r: int, ridge: float, methods: Sequence[str]) -> pd.DataFrame:
    """Return all numbers of the page as one table; frequencies are in radians per unit of x, errors are relative."""
    points = settings.data, settings.sigma
    grid = grid_weights(settings, ridge)
    path = descent(settings, r)
    plane = importance_plane(*points)
    counts = landmark_counts(settings.data.n)
    curves = {name: landmark_curve(*points, r, name) for name in COMPARED}
    by_method = {name: method_curve(*points, settings.n_landmarks, name) for name in methods}
    omega_1, omega_2 = plane_points(grid.grid).T
    tables = {
        "grid": {"omega_1": omega_1, "omega_2": omega_2, "prior": grid.prior.ravel(), "weight": grid.weights.ravel()},
        "grid errors": {
            "weights": ["prior", "points"],
            "error": [grid.prior_error, grid.error],
            "effective_frequencies": [grid.prior_effective, grid.effective],
        },
        "descent": {
            "step": np.repeat(path.steps, r),
            "frequency": np.tile(np.arange(r), len(path.steps)),
            "omega_1": path.frequencies[..., 0].ravel(),
            "omega_2": path.frequencies[..., 1].ravel(),
            "weight": path.weights.ravel(),
        },
        "errors at the landmarks": {
            "step": np.arange(len(path.losses)),
            "loss": path.losses,
            "error": path.landmark_errors,
        },
        "errors over all points": {"step": path.steps, "error": path.errors},
        "errors as drawn": {"error": [path.drawn_error]},
        "densities": {
            "omega_1": plane.grid,
            **{name: getattr(plane, name)[len(plane.grid) // 2] for name in ("prior", "claim", "data")},
        },
        "squared errors": {
            "density": list(plane.squared_errors),
            "squared_error": list(plane.squared_errors.values()),  # of one frequency; of r it is 1/r of that
        },
        "landmarks": _of_curves("landmarks", counts, curves),
        "methods": _of_curves("frequencies", FREQUENCY_COUNTS, by_method),
    }
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


def _of_curves(name: str, counts: Sequence[int], curves: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the mean, the best and the worst error of every method and count."""
    errors = np.concatenate(list(curves.values())) if curves else np.empty((0, 1))
    return {
        "method": np.repeat(list(curves), len(counts)),
        name: np.tile(counts, len(curves)),
        "error": errors.mean(axis=1),
        "best": errors.min(axis=1),
        "worst": errors.max(axis=1),
    }


if __name__ == "__main__":
    # The experiment
    data = "line"  # or a cross, a ring, ..., see rff_datasets.toy_input_names()
    N = 300  # points
    noise = 0.05  # standard deviation added to every coordinate
    seed = 0
    sigma = 1.0  # width of the Gaussian kernel
    r = 20  # frequencies
    ridge = 0.1  # of the weights on the grid; a descent takes RIDGE
    method = "sample"  # landmarks; or "cluster", "nearest"
    landmarks = 50  # at most N
    methods = ("monte_carlo", "weight", "sample")  # of the error curves, see FEATURES

    settings = AdaptiveSettings(ToyData(data, N, noise, seed), sigma, method, landmarks)
    numbers(settings, r, ridge, methods).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
