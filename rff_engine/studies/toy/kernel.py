"""A kernel and its approximations by random features on the line, and candidates to learn another from labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import ArrayLike, RandomState
from ..._validation import as_points, as_rng, check_count, check_positive
from ...alignment import alignment_loss
from ...features import fourier_features, random_phase_features
from ...kernels import KERNELS_BY_TITLE, SpectralKernel


@dataclass(frozen=True)
class KernelSettings:
    """A kernel and the seed of its frequencies; not every kernel uses `nu`."""

    name: str
    width: float
    nu: float
    seed: int

    def kernel(self) -> SpectralKernel:
        return KERNELS_BY_TITLE[self.name].of_width(self.width, nu=self.nu)


def kernel_settings(name: str, width: float, nu: float, seed: int) -> KernelSettings:
    """Return the settings of the controls; `nu` is fixed for kernels that do not use it."""
    return KernelSettings(name, width, nu if "nu" in KERNELS_BY_TITLE[name].parameters else 0.0, seed)


def draw_frequencies_and_offsets(
    kernel: SpectralKernel, n_frequencies: int, n_features: int, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw frequencies (n_frequencies, n_features) of a kernel, each with a uniform phase in [0, 2 pi), for both maps.

    Prefixes of one long draw keep their frequencies as D grows.
    """
    rng = as_rng(random_state)
    omega = kernel.sample_frequencies(n_frequencies, n_features, rng)
    return omega, rng.uniform(0, 2 * np.pi, len(omega))


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


def kernel_line(
    kernel: SpectralKernel,
    omega: ArrayLike,
    offsets: np.ndarray,
    frequency_range: float,
    delta_range: float,
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
    """
    omega = as_points(omega, "omega", n_features=1)
    D = check_count(len(omega) // 2, "half the number of frequencies")
    # An odd number of points includes 0.
    frequencies = np.linspace(-1, 1, 601) * check_positive(frequency_range, "frequency_range")
    delta = np.linspace(-1, 1, 601) * check_positive(delta_range, "delta_range")
    points, origin = delta[:, None], np.zeros((1, 1))
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
    )


def estimate_variances(at_delta: np.ndarray, at_twice: np.ndarray) -> dict[str, np.ndarray]:
    """Compute variances of the estimates of k(delta) from both feature maps, times the number of features E.

    They are ``1 + k(2 delta) - 2 k(delta)^2`` for the cos/sin map and ``1 + k(2 delta) / 2 - k(delta)^2`` for the
    random-phase map, and both estimates are unbiased (Sutherland and Schneider 2015, Section 2.1).
    """
    return {"cos_sin": 1 + at_twice - 2 * at_delta**2, "random_phase": 1 + at_twice / 2 - at_delta**2}


@dataclass(frozen=True)
class Candidates:
    """Frequencies drawn from a kernel and their losses; neither depends on beta, rho or mu."""

    omega: np.ndarray
    """(N, d)"""
    loss: np.ndarray
    """(N,)"""
    n: int
    """Sample size of the losses"""


def draw_candidates(
    X: ArrayLike, y: ArrayLike, kernel: SpectralKernel, n_candidates: int, random_state: RandomState = None
) -> Candidates:
    """Draw candidate frequencies and compute their alignment losses (Letarte et al. 2019, Section 5.4)."""
    X = as_points(X)
    omega = kernel.sample_frequencies(n_candidates, X.shape[1], random_state)
    return Candidates(omega, alignment_loss(X, y, omega), X.shape[0])
