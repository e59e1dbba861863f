"""A kernel and its approximations by random features, on the line and in the plane, and their errors.

Data have no labels here; `learning` has kernels learned from labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._typing import ArrayLike, RandomState
from ..._validation import as_points, as_rng, check_count, check_positive
from ...features import fourier_features, random_phase_features
from ...kernels import SpectralKernel
from ...landmarks import similarity_maps
from .plane import cell_centres, plane_points


def approximation_error(
    kernel: SpectralKernel, points: ArrayLike, D_values: Sequence[int], n_draws: int, random_state: RandomState = None
) -> dict[str, np.ndarray]:
    """Root mean square errors of the kernel matrix of points (m, d) as features are added, for both feature maps.

    With D frequencies the cos/sin map has 2 D features; the random-phase map has 2 D frequencies, hence as many. The
    errors (len(D_values),) have the keys "cos_sin" and "random_phase", and are means over independent draws.
    """
    rng = as_rng(random_state)
    points = np.asarray(points, dtype=float)
    exact = kernel(points)
    largest = max(check_count(D, "D") for D in D_values)
    squares = {"cos_sin": np.zeros(len(D_values)), "random_phase": np.zeros(len(D_values))}
    for _ in range(check_count(n_draws, "n_draws")):
        omega = kernel.sample_frequencies(2 * largest, points.shape[1], rng)
        offsets = rng.uniform(0, 2 * np.pi, 2 * largest)
        # Features of all D at once, times sqrt(D): those of a smaller D are the first of a larger one.
        cosines, sines = np.split(fourier_features(points, omega[:largest], np.ones(largest)), 2, axis=1)
        phased = random_phase_features(points, omega, offsets) * np.sqrt(2 * largest)
        for name, features, per_D in (("cos_sin", (cosines, sines), 1), ("random_phase", (phased,), 2)):
            total, done = np.zeros_like(exact), 0
            for i in np.argsort(D_values, kind="stable"):
                more, done = slice(done, per_D * D_values[i]), per_D * D_values[i]
                for wave in features:
                    total += wave[:, more] @ wave[:, more].T
                squares[name][i] += np.mean((total / done - exact) ** 2) / n_draws
    return {name: np.sqrt(values) for name, values in squares.items()}


def draw_frequencies_and_offsets(
    kernel: SpectralKernel, n_frequencies: int, n_features: int, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (n_frequencies, n_features) of a kernel, each with a phase, uniform on [0, 2 pi), for both maps.

    Prefixes of one long draw keep their frequencies as D grows.
    """
    rng = as_rng(random_state)
    omega = kernel.sample_frequencies(n_frequencies, n_features, rng)
    return omega, rng.uniform(0, 2 * np.pi, len(omega))


def uniform_points(extent: float, n: int, random_state: RandomState = None) -> np.ndarray:
    """Points (n, 2) drawn uniformly from the square [-extent, extent]^2."""
    return as_rng(random_state).uniform(-1, 1, (check_count(n, "n"), 2)) * check_positive(extent, "extent")


@dataclass(frozen=True)
class KernelLine:
    """A kernel of one variable, its spectral density, and two estimates from random frequencies."""

    omega: np.ndarray
    """(D,), the frequencies of the cos/sin map"""
    outside: int
    """Number of them beyond the range of `frequencies`"""
    frequencies: np.ndarray
    """(F,), at which the density is computed"""
    density: np.ndarray
    """(F,)"""
    delta: np.ndarray
    """(G,)"""
    exact: np.ndarray
    """(G,), k(delta)"""
    cos_sin: np.ndarray
    """(G,), the mean of the D cosines"""
    random_phase: np.ndarray
    """(G,), phi(delta) . phi(0)"""
    wave_omega: np.ndarray
    """(W,), a few of the frequencies"""
    waves: np.ndarray
    """(W, G), their cosines"""


def kernel_line(
    kernel: SpectralKernel,
    omega: ArrayLike,
    offsets: np.ndarray,
    frequency_range: float,
    delta_range: float,
    n_waves: int = 4,
) -> KernelLine:
    """Compare k(delta) with its estimates from 2 D features of either kind (Letarte et al. 2019, Eq. 3 to 5).

    Parameters
    ----------
    omega : array of shape (2 D, 1)
        The cos/sin map uses the first D, the random-phase map all: both then have 2 D features.
    offsets : array of shape (2 D,)
        Phases of the random-phase map.
    frequency_range, delta_range : float
        Half-lengths of the intervals of frequencies and differences, both centred at 0.
    n_waves : int
        Number of single cosines to return, of the first frequencies within the range.
    """
    omega = as_points(omega, "omega", n_features=1)
    D = check_count(len(omega) // 2, "half the number of frequencies")
    # An odd number of points includes 0.
    frequencies = np.linspace(-1, 1, 601) * check_positive(frequency_range, "frequency_range")
    delta = np.linspace(-1, 1, 601) * check_positive(delta_range, "delta_range")
    points, origin = delta[:, None], np.zeros((1, 1))
    inside = omega[:D, 0][np.abs(omega[:D, 0]) <= frequency_range][: check_count(n_waves, "n_waves", low=0)]
    return KernelLine(
        omega=omega[:D, 0],
        outside=int((np.abs(omega[:D, 0]) > frequency_range).sum()),
        frequencies=frequencies,
        density=kernel.spectral_density(frequencies[:, None]),
        delta=delta,
        exact=kernel(points, origin)[:, 0],
        cos_sin=fourier_features(points, omega[:D]) @ fourier_features(origin, omega[:D])[0],
        random_phase=random_phase_features(points, omega[: 2 * D], offsets[: 2 * D])
        @ random_phase_features(origin, omega[: 2 * D], offsets[: 2 * D])[0],
        wave_omega=inside,
        waves=np.cos(np.outer(inside, delta)),
    )


def prior_functions(omega: ArrayLike, weights: np.ndarray, delta_range: float) -> np.ndarray:
    """Functions (S, 301) of a Gaussian process whose covariance is the mean of D cosines, an estimate of the kernel.

    They are at evenly spaced points of [-delta_range, delta_range], for `omega` (D, 1) and standard normal `weights`
    (S, 2, D) of the cosines and of the sines; further weights are left out.
    """
    omega = as_points(omega, "omega", n_features=1)
    points = np.linspace(-1, 1, 301)[:, None] * check_positive(delta_range, "delta_range")
    used = weights[:, :, : len(omega)].reshape(len(weights), 2 * len(omega))
    return used @ fourier_features(points, omega).T


@dataclass(frozen=True)
class UnitPrior:
    """A kernel of width 1 in tables, with random frequencies: another width stretches the one, divides the other."""

    omega: np.ndarray
    """(2 D,), frequencies of the random-phase map; the first D are those of the cos/sin map"""
    offsets: np.ndarray
    """(2 D,), phases of the random-phase map"""
    weights: np.ndarray
    """(S, 2, D), of cosines and sines in functions of the prior"""
    density: np.ndarray
    """(T,), the spectral density at evenly spaced frequencies from 0"""
    kernel: np.ndarray
    """(T,), the kernel at evenly spaced differences from 0"""
    reach: tuple[float, float]
    """The last frequency and the last difference of the tables"""


def unit_prior(
    kernel: SpectralKernel,
    omega: ArrayLike,
    offsets: np.ndarray,
    weights: np.ndarray,
    reach: tuple[float, float],
    n_entries: int = 1001,
) -> UnitPrior:
    """Tabulate a kernel of width 1 up to the frequency and the difference in `reach`, with `n_entries` in each table.

    Frequencies `omega` have the shape (2 D, 1), `offsets` (2 D,) and `weights` (S, 2, D).
    """
    omega = as_points(omega, "omega", n_features=1)[:, 0]
    entries = np.linspace(0, 1, check_count(n_entries, "n_entries"))[:, None]
    frequencies, differences = (entries * check_positive(end, "reach") for end in reach)
    density = kernel.spectral_density(frequencies)
    return UnitPrior(omega, offsets, weights, density, kernel(differences, np.zeros((1, 1)))[:, 0], reach)


def kernel_map(kernel: SpectralKernel, extent: float, cells: int = 121) -> np.ndarray:
    """The kernel k(delta) over the plane, (cells, cells)."""
    return kernel(plane_points(cell_centres(extent, cells)), np.zeros((1, 2))).reshape(cells, cells)


def weighted_kernel_map(omega: ArrayLike, Q: ArrayLike, extent: float, cells: int = 121) -> np.ndarray:
    """The kernel k_Q(delta) = sum_m Q_m cos(omega_m . delta) over the plane (Letarte et al. 2019, Section 5.3).

    It has the shape (cells, cells), for `omega` (N, 2) and `Q` (N,).
    """
    grid = cell_centres(extent, cells)
    omega = np.asarray(omega)
    Q = np.asarray(Q)
    used = Q > 0  # most weights of the optimized kernel are 0
    return similarity_maps(grid, grid, np.zeros((1, 2)), omega[used], Q[None, used])[0]


@dataclass(frozen=True)
class KernelPlane:
    """A kernel of two variables, its spectral density, and its estimate from random frequencies."""

    outside: int
    """Number of frequencies outside the square of the density"""
    density: np.ndarray
    """(G, G), on the frequency plane"""
    exact: np.ndarray
    """(G, G), on the plane of differences"""
    approximate: np.ndarray
    """(G, G)"""


def kernel_plane(
    kernel: SpectralKernel, omega: ArrayLike, frequency_extent: float, extent: float, cells: int = 121
) -> KernelPlane:
    """Compare the kernel with the mean of the cosines of `omega` (D, 2) (Letarte et al. 2019, Eq. 3 and 5)."""
    omega = as_points(omega, "omega", n_features=2)
    return KernelPlane(
        outside=int((np.abs(omega).max(axis=1) > frequency_extent).sum()),
        density=kernel.spectral_density(plane_points(cell_centres(frequency_extent, cells))).reshape(cells, cells),
        exact=kernel_map(kernel, extent, cells),
        approximate=weighted_kernel_map(omega, np.full(len(omega), 1 / len(omega)), extent, cells),
    )


def expected_error(kernel: SpectralKernel, points: ArrayLike, n_features: ArrayLike) -> dict[str, np.ndarray]:
    """Expected value of `approximation_error`, in closed form; see `estimate_variances`.

    It is for numbers of features E, even for the cos/sin map: the root of the mean variance over all pairs of points.
    """
    E = np.array([check_count(int(e), "n_features") for e in n_features])
    points = np.asarray(points, dtype=float)
    variances = estimate_variances(kernel(points), kernel(2 * points))
    return {name: np.sqrt(np.mean(variance) / E) for name, variance in variances.items()}


def estimate_variances(at_delta: np.ndarray, at_twice: np.ndarray) -> dict[str, np.ndarray]:
    """Variances of the estimates of k(delta) from both feature maps, times the number of features E.

    They are ``1 + k(2 delta) - 2 k(delta)^2`` for the cos/sin map and ``1 + k(2 delta) / 2 - k(delta)^2`` for the
    random-phase map, and both estimates are unbiased (Sutherland and Schneider 2015, Section 2.1).
    """
    return {"cos_sin": 1 + at_twice - 2 * at_delta**2, "random_phase": 1 + at_twice / 2 - at_delta**2}
