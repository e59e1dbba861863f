"""Kernel approximations by every kind of features on a data set: errors, frequencies, error maps and variances.

`feature_methods` fits the features. They are compared on few enough rows that the kernel matrix fits in memory. Only
methods that use labels need them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rff_engine._sampling import covariance_is_matched
from rff_engine._typing import ArrayLike, RandomState
from rff_engine._validation import as_points, as_rng, check_choice, check_count, check_positive
from rff_engine.features import fourier_features, random_phase_features
from rff_engine.frequencies import draw_frequencies
from rff_engine.kernels import KERNELS_BY_TITLE, SpectralKernel
from rff_engine.studies.feature_methods import FourierMap, NystroemMap, fit_features
from rff_engine.studies.toy.kernel import estimate_variances
from rff_engine.studies.toy.plane import cell_centres, plane_points

SEQUENCES = ("monte_carlo", "orthogonal", "structured_orthogonal", "fastfood", "halton", "sobol", "digital_net")
"""Methods that draw frequencies one after the other: the first r of a sample are what they sample for r"""
MOST_FREQUENCIES = 200
"""Size of their samples; other methods are fitted for each r"""
_SHARE_SHOWN = 0.97


def scaled_kernel(name: str, width: float, n_features: int, nu: float = 1.5) -> SpectralKernel:
    """The kernel of a title of `rff_engine.kernels.KERNELS`, its width relative to standardised data of dimension d.

    At width 1 the Gaussian kernel has 2 sigma^2 = d, as in the experiments of Li et al. (2019); the others are about as
    far from 1 at the distances of such data. `nu` is the smoothness of the Matérn kernel alone.
    """
    width = check_positive(width, "width")
    d = check_count(n_features, "n_features")
    named = KERNELS_BY_TITLE[check_choice(name, "name", tuple(KERNELS_BY_TITLE))]
    return named.of_width(width * named.distance(d), nu=nu)


@dataclass(frozen=True)
class ApproximationRows:
    """Rows of a data set whose kernel matrix is approximated, and the plane of their images."""

    X: np.ndarray
    """(n, d), columns of mean 0 and variance 1"""
    y: np.ndarray
    """(n,)"""
    task: str
    """"classification" or "regression\""""
    centre: np.ndarray
    """(d,), the row nearest to the mean"""
    axes: np.ndarray
    """(d, 2), orthonormal: the coordinate axes if d = 2, else the first two principal axes"""
    in_plane: np.ndarray
    """(n, 2), the rows in the plane, relative to the centre"""

    @property
    def extent(self) -> float:
        """Half the side of a square around the centre that holds all rows in the plane."""
        return float(np.ceil(2.1 * np.abs(self.in_plane).max()) / 2)


def approximation_rows(
    X: ArrayLike, y: ArrayLike, task: str, n_rows: int, random_state: RandomState = None
) -> ApproximationRows:
    """Draw rows of a data set and bring their columns to mean 0 and variance 1, as Li et al. (2019) do.

    Columns of X (N, d) that are constant on the drawn rows are left out. If fewer than two are left, a ValueError is
    raised.
    """
    X = as_points(X, dense=True).astype(float)
    chosen = as_rng(random_state).permutation(len(X))[: check_count(n_rows, "n_rows", low=2)]
    X, y = X[chosen], np.asarray(y)[chosen]
    X = X[:, np.ptp(X, axis=0) > 0]
    if X.shape[1] < 2:
        raise ValueError(f"X has {X.shape[1]} columns that are not constant; at least 2 are needed to draw a plane.")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    centre = X[np.argmin((X**2).sum(axis=1))]
    axes = np.eye(2) if X.shape[1] == 2 else _principal_axes(X)
    return ApproximationRows(X, y, task, centre, axes, (X - centre) @ axes)


def _principal_axes(X) -> np.ndarray:
    _, _, rotation = np.linalg.svd(X, full_matrices=False)
    axes = rotation[:2].T
    # The sign of an axis is arbitrary: a positive largest entry makes it the same on every machine.
    return axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])


def approximation_errors(
    rows: ApproximationRows, kernel: SpectralKernel, method: str, r_values: Sequence[int], n_draws: int, seed: int
) -> np.ndarray:
    """Relative errors ||K~ - K||_F / ||K||_F of a method's features on the rows they are fitted to (Li et al. 2019).

    They have the shape (R, n_draws), for R numbers of frequencies, of landmarks for the Nystroem methods; those of
    `SEQUENCES` end at `MOST_FREQUENCIES`. Draw i has a seed of its own, the same for every method and r. A method that
    is not defined for the kernel raises a ValueError.
    """
    if method in SEQUENCES:
        chosen = [check_count(r, "r", high=MOST_FREQUENCIES) - 1 for r in r_values]
        return sequence(rows, kernel, method, n_draws, seed).errors.T[chosen]
    exact = kernel(rows.X)
    draws = range(check_count(n_draws, "n_draws"))
    return np.array(
        [[_relative_error(exact, _fit(rows, kernel, method, r, seed, i), rows.X) for i in draws] for r in r_values]
    )


@dataclass(frozen=True)
class FrequencySequence:
    """Samples of one of the `SEQUENCES`, of which r frequencies are the first r."""

    frequencies: np.ndarray
    """(MOST_FREQUENCIES, 2), of the first draw, in the plane"""
    errors: np.ndarray
    """(n_draws, MOST_FREQUENCIES), ||K~ - K||_F / ||K||_F with the first 1, 2, ... frequencies"""


def sequence(
    rows: ApproximationRows, kernel: SpectralKernel, method: str, n_draws: int, seed: int
) -> FrequencySequence:
    """Frequencies of the first draw of one of `SEQUENCES`, and the errors of every number of them for all draws."""
    check_choice(method, "method", SEQUENCES)
    exact = kernel(rows.X)
    draws = [_sample(rows, kernel, method, seed, i) for i in range(check_count(n_draws, "n_draws"))]
    return FrequencySequence(draws[0] @ rows.axes, np.array([_first_errors(exact, rows.X, omega) for omega in draws]))


def _first_errors(exact, X, omega) -> np.ndarray:
    """Errors of the first 1, 2, ... frequencies.

    Frequency j alone has the kernel matrix A_j = c_j c_j' + s_j s_j' of its cosines and sines. The squared error of r
    is ||K||^2 - 2 sum_j <A_j, K> / r + sum_jl <A_j, A_l> / r^2, with products of matrices as of vectors.
    """
    r = np.arange(1, len(omega) + 1)
    waves = fourier_features(X, omega, np.ones(len(omega)))
    with_exact = ((exact @ waves) * waves).sum(axis=0).reshape(2, -1).sum(axis=0)
    with_each_other = ((waves.T @ waves) ** 2).reshape(2, len(r), 2, len(r)).sum(axis=(0, 2))
    squares = with_each_other.cumsum(axis=0).cumsum(axis=1).diagonal()
    total = np.sum(exact**2)
    return np.sqrt(np.maximum(total - 2 * with_exact.cumsum() / r + squares / r**2, 0) / total)


def too_few_to_match(r_values: Sequence[int], n_features: int) -> tuple[int, ...]:
    """Numbers of frequencies at which "moment_matching" matches the covariance in a subspace alone."""
    return tuple(r for r in r_values if not covariance_is_matched(r, n_features))


def _fit(rows, kernel, method, r, seed, draw):
    if method in SEQUENCES:
        return FourierMap(_sample(rows, kernel, method, seed, draw)[: check_count(r, "r", high=MOST_FREQUENCIES)])
    return fit_features(method, rows.X, rows.y, kernel, r, _child(seed, draw), rows.task)


def _sample(rows, kernel, method, seed, draw) -> np.ndarray:
    return draw_frequencies(kernel, MOST_FREQUENCIES, rows.X.shape[1], method, _child(seed, draw))


def _child(seed, draw) -> int:
    return int(np.random.SeedSequence((seed, draw)).generate_state(1)[0])


def _relative_error(exact, fitted, X) -> float:
    features = fitted.transform(X)
    return float(np.linalg.norm(features @ features.T - exact) / np.linalg.norm(exact))


@dataclass(frozen=True)
class MethodView:
    """One draw of a method's features, projected to the plane."""

    frequencies: np.ndarray | None
    """(r, 2), in the plane; None for Nyström features"""
    weights: np.ndarray | None
    """(r,), summing to about 1; None for Nyström features"""
    landmarks: np.ndarray | None
    """(r, 2), in the plane, relative to the centre; None for Fourier features"""
    error: float
    """||K~ - K||_F / ||K||_F on the rows"""
    error_map: np.ndarray
    """(G, G), |k~(x, c) - k(x, c)| for x in the plane through the centre c"""


def method_view(
    rows: ApproximationRows, kernel: SpectralKernel, method: str, r: int, seed: int, cells: int = 71
) -> MethodView:
    """Frequencies and error map of the first of `approximation_errors`; `rows.extent` is half the side of the map."""
    fitted = _fit(rows, kernel, method, r, seed, 0)
    approximate = fitted.transform(_plane(rows, cells)) @ fitted.transform(rows.centre[None])[0]
    error_map = np.abs(approximate.reshape(cells, cells) - plane_kernel(rows, kernel, cells))
    error = _relative_error(kernel(rows.X), fitted, rows.X)
    if isinstance(fitted, NystroemMap):
        return MethodView(None, None, (fitted.landmarks - rows.centre) @ rows.axes, error, error_map)
    weights = np.full(r, 1 / r) if fitted.weights is None else fitted.weights
    return MethodView(fitted.frequencies @ rows.axes, weights, None, error, error_map)


def plane_kernel(rows: ApproximationRows, kernel: SpectralKernel, cells: int = 71) -> np.ndarray:
    """k(x, c) for x in the plane through the centre c, (cells, cells), as `MethodView.error_map`."""
    return kernel(_plane(rows, cells), rows.centre[None])[:, 0].reshape(cells, cells)


def _plane(rows, cells) -> np.ndarray:
    return rows.centre + plane_points(cell_centres(rows.extent, cells)) @ rows.axes.T


def frequency_extent(kernel: SpectralKernel) -> float:
    """Half the side of a square that holds the share `_SHARE_SHOWN` of the kernel's frequencies in a plane."""
    sampled = kernel.sample_frequencies(4000, 2, 0)
    return float(np.quantile(np.abs(sampled).max(axis=1), _SHARE_SHOWN))


@dataclass(frozen=True)
class VarianceCurves:
    """Variances of the two feature maps' estimates of k(delta), times the number of features E."""

    distances: np.ndarray
    """(P,)"""
    kernel: np.ndarray
    """(P,), k(delta)"""
    expected: dict[str, np.ndarray]
    """(P,) each, by the formulas; keys "cos_sin" and "random_phase\""""
    simulated: dict[str, np.ndarray]
    """(P,) each"""


def variance_curves(
    kernel: SpectralKernel,
    distance: float,
    n_points: int,
    n_frequencies: int,
    n_draws: int,
    random_state: RandomState = None,
) -> VarianceCurves:
    """Variances along a coordinate, at distances from 0, by formula (`estimate_variances`) and by simulation.

    The cos/sin map has `n_frequencies`, and the random-phase map the same number of features.
    """
    rng = as_rng(random_state)
    D = check_count(n_frequencies, "n_frequencies")
    n_draws = check_count(n_draws, "n_draws", low=2)
    delta = np.linspace(0, check_positive(distance, "distance"), check_count(n_points, "n_points", low=2))
    points = delta[:, None]
    at_delta, at_twice = (kernel(scale * points, np.zeros((1, 1)))[:, 0] for scale in (1, 2))
    # Along a coordinate only that coordinate of a frequency matters, in any dimension. All draws at once.
    omega = kernel.sample_frequencies(2 * D * n_draws, 1, rng)
    offsets = rng.uniform(0, 2 * np.pi, len(omega))
    features = {
        # Of the 2 D frequencies of a draw the cos/sin map takes D.
        "cos_sin": fourier_features(points, omega[: D * n_draws], np.ones(D * n_draws)),
        "random_phase": random_phase_features(points, omega, offsets) * np.sqrt(len(omega)),
    }
    products = {name: values * values[0] for name, values in features.items()}  # the first distance is 0
    estimates = {
        "cos_sin": products["cos_sin"].reshape(len(delta), 2, n_draws, D).sum(axis=1).mean(axis=-1),
        "random_phase": products["random_phase"].reshape(len(delta), n_draws, 2 * D).mean(axis=-1),
    }
    return VarianceCurves(
        distances=delta,
        kernel=at_delta,
        expected=estimate_variances(at_delta, at_twice),
        simulated={name: 2 * D * np.var(values, axis=1, ddof=1) for name, values in estimates.items()},
    )
