"""Cached results of the page on kernel learning; those that do not depend on beta or rho are cached separately."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import rff_engine as rff
from pages.shared.controls import scales
from pages.shared.controls.toy import toy_data
from pages.shared.controls.toy_data import ToyData, map_extent, toy_fresh_sample, toy_sample
from pages.shared.live import packing
from pages.shared.server import workers
from pages.shared.server.cache import shared_cache
from rff_engine.studies.toy import kernel as toy_kernels, learning as toy_learning

#: Numbers of frequencies of the error curves, and draws at each.
CURVE_COUNTS, CURVE_DRAWS = (1, 2, 5, 10, 20, 50), 10

#: Inverse temperatures of the curves of the error: fewer than of the divergence, since it costs more.
ERROR_BETAS = scales.powers(*scales.BETA[:2], 2)


#: Stretch of the prior along its axis and across it, and the angle of the axis in degrees.
Ellipse = tuple[float, float, float]
CIRCLE: Ellipse = (1.0, 1.0, 0.0)


@dataclass(frozen=True)
class CandidateSettings:
    """Everything that the losses of the candidates depend on."""

    data: ToyData
    sigma: float
    n_candidates: int
    ellipse: Ellipse = CIRCLE


def candidate_settings(values) -> CandidateSettings:
    """The settings of the page's controls."""
    return CandidateSettings(toy_data(values), values.sigma, values.N, (values.along, values.across, values.angle))


@dataclass(frozen=True)
class PriorWeights:
    """Weights of RFF: all equal."""

    method = "rff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return np.full(len(loss), 1 / len(loss))


@dataclass(frozen=True)
class PseudoPosterior:
    """Weights of PBRFF: the pseudo-posterior."""

    beta: float
    method = "pbrff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return rff.pseudo_posterior(loss, self.beta, n)


@dataclass(frozen=True)
class OptimizedKernel:
    """Weights of OKRFF: the best aligned ones within a divergence rho N from the prior."""

    rho: float
    mu: float
    method = "okrff"

    def __call__(self, loss: np.ndarray, n: int) -> np.ndarray:
        return rff.optimized_kernel_weights(loss, self.rho, self.mu)


Weighting = PriorWeights | PseudoPosterior | OptimizedKernel


@shared_cache
def frequency_plane(
    data: ToyData, sigma: float, extent: float, ellipse: Ellipse = CIRCLE
) -> toy_learning.FrequencyPlane:
    sample = toy_sample(data)
    kernel = toy_learning.TurnedGaussianKernel(sigma, *ellipse)
    return toy_learning.frequency_plane(sample.X, sample.y, kernel, extent)


@shared_cache
def candidates(settings: CandidateSettings) -> toy_learning.Candidates:
    sample = toy_sample(settings.data)
    kernel = toy_learning.TurnedGaussianKernel(settings.sigma, *settings.ellipse)
    return toy_learning.draw_candidates(sample.X, sample.y, kernel, settings.n_candidates, settings.data.seed)


@shared_cache
def candidate_weights(settings: CandidateSettings, weighting: Weighting) -> np.ndarray:
    sampled = candidates(settings)
    return weighting(sampled.loss, sampled.n)


@shared_cache
def prior_map(sigma: float, extent: float, ellipse: Ellipse = CIRCLE, cells: int = 121) -> np.ndarray:
    return toy_kernels.kernel_map(toy_learning.TurnedGaussianKernel(sigma, *ellipse), extent, cells)


@shared_cache
def feature_errors(
    settings: CandidateSettings, weighting: Weighting, C: float, D_values: tuple[int, ...]
) -> np.ndarray:
    """Test errors, (len(D_values), CURVE_DRAWS); the draws do not depend on `D_values`."""
    return _test_errors(settings, candidate_weights(settings, weighting), C, D_values)


def feature_errors_at(settings: CandidateSettings, weighting: Weighting, C: float, D: int) -> np.ndarray:
    """Test errors at one D, (CURVE_DRAWS,); from the curve if D is on it."""
    if D in CURVE_COUNTS:
        return feature_errors(settings, weighting, C, CURVE_COUNTS)[CURVE_COUNTS.index(D)]
    return feature_errors(settings, weighting, C, (D,))[0]


@shared_cache
def posterior_path(settings: CandidateSettings) -> toy_learning.PosteriorPath:
    """Divergence and bound of the pseudo-posterior at every one of `scales.BETAS`."""
    return toy_learning.posterior_path(candidates(settings), scales.BETAS)


@shared_cache
def feature_error_path(settings: CandidateSettings, C: float, D: int) -> np.ndarray:
    """Test errors of PBRFF at D features for every one of ERROR_BETAS, (len(ERROR_BETAS), CURVE_DRAWS)."""
    sampled = candidates(settings)
    Q = np.stack([rff.pseudo_posterior(sampled.loss, beta, sampled.n) for beta in ERROR_BETAS])
    return _test_errors(settings, Q, C, (D,))[:, 0]


def _test_errors(settings: CandidateSettings, Q: np.ndarray, C: float, D_values: tuple[int, ...]) -> np.ndarray:
    sample = toy_sample(settings.data)
    fresh = toy_fresh_sample(settings.data)
    return workers.compute(
        toy_learning.feature_error_curve,
        sample.X,
        sample.y,
        fresh.X,
        fresh.y,
        candidates(settings).omega,
        Q,
        D_values,
        C,
        CURVE_DRAWS,
        # Not the stream of the candidates.
        np.random.default_rng((settings.data.seed, 1)),
    )


def plane_extents(settings: CandidateSettings) -> tuple[float, float]:
    """Half the sides of the squares of frequencies and of differences that figures show."""
    return scales.WIDTHS / settings.sigma, 2 * map_extent(settings.data)


def drawn_kernel(settings: CandidateSettings) -> dict:
    """Draws packed for the live view, which makes the candidates of any width, ellipse and noise from them."""
    return _drawn_kernel(replace(settings, data=settings.data.without_noise, sigma=1.0, ellipse=CIRCLE))


@shared_cache
def _drawn_kernel(settings: CandidateSettings) -> dict:
    data = settings.data
    omega = rff.GaussianKernel(settings.sigma).sample_frequencies(settings.n_candidates, 2, data.seed)
    return packing.pack_kernel_draws(data.draws(), omega, map_extent(data) if data.points else None)


@shared_cache
def live_kernel(settings: CandidateSettings, rho_shares: tuple[float, ...], mu: float) -> dict:
    """Planes, candidates, and weights of OKRFF for every radius, packed for the live view."""
    frequency_extent, delta_extent = plane_extents(settings)
    sampled = candidates(settings)
    sample = toy_sample(settings.data)
    optimized = np.stack([OptimizedKernel(share, mu)(sampled.loss, sampled.n) for share in rho_shares])
    prior_kernel = prior_map(settings.sigma, delta_extent, settings.ellipse, packing.KERNEL_CELLS)
    plane = frequency_plane(settings.data, settings.sigma, frequency_extent, settings.ellipse)
    extents = frequency_extent, delta_extent, map_extent(settings.data)
    return packing.pack_kernel(plane, sampled, optimized, sample, prior_kernel, mu, *extents)
