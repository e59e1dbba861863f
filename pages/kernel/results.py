"""Cached results of the page on kernels; a smaller D uses the first of the same draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

import rff_engine as rff
from pages.kernel import lift as toy_lift
from pages.shared.controls import scales
from pages.shared.controls.moved import Moved
from pages.shared.controls.toy_data import ToyData, toy_fresh_sample, toy_sample
from pages.shared.live import packing
from pages.shared.server.cache import shared_cache
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.studies.toy import kernel as toy_kernels

#: Numbers of frequencies on the sliders, about evenly spaced in their logarithm.
FREQUENCY_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)

#: Half the sides of the axes: frequencies, in radians per unit of x, and differences.
FREQUENCY_RANGE, DELTA_RANGE = 10.0, 4.0

#: Widths on the slider.
WIDTHS = tuple(width for width in scales.powers(*scales.SIGMA_LIVE) if 0.2 <= width < 4)

#: Functions drawn from the prior.
FUNCTIONS = 5

#: Points of the square [-1, 1]^2 whose kernel matrix is approximated, and draws of each approximation.
APPROXIMATION_POINTS, APPROXIMATION_DRAWS = 25, 20

#: Points of the two circles, of their fresh sample, and their noise.
CIRCLE_POINTS, CIRCLE_FRESH, CIRCLE_NOISE = 300, 5000, 0.05


@dataclass(frozen=True)
class KernelSettings:
    """A kernel and the seed of its frequencies; not every kernel uses `nu`."""

    name: str
    width: float
    nu: float
    seed: int

    def kernel(self) -> rff.SpectralKernel:
        return KERNELS_BY_TITLE[self.name].of_width(self.width, nu=self.nu)


def kernel_settings(name: str, width: float, nu: float, seed: int) -> KernelSettings:
    """The settings of the controls; `nu` is fixed for kernels that do not use it."""
    return KernelSettings(name, width, nu if "nu" in KERNELS_BY_TITLE[name].parameters else 0.0, seed)


@shared_cache
def kernel_draw(settings: KernelSettings, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies and phases for the largest D; a smaller D uses the first of them."""
    rng = np.random.default_rng((settings.seed, n_features))
    return toy_kernels.draw_frequencies_and_offsets(
        settings.kernel(), 2 * FREQUENCY_COUNTS[-1], n_features, random_state=rng
    )


def moved_frequencies(settings: KernelSettings, moved: Moved) -> np.ndarray:
    """Frequencies on the line, with those that the reader has moved where they are now."""
    omega = kernel_draw(settings, 1)[0].copy()
    for number, place in moved:
        omega[number] = place / settings.width
    return omega


@shared_cache
def kernel_line(settings: KernelSettings, n_frequencies: int, moved: Moved = ()) -> toy_kernels.KernelLine:
    omega = moved_frequencies(settings, moved)[: 2 * n_frequencies]
    _, offsets = kernel_draw(settings, 1)
    return toy_kernels.kernel_line(settings.kernel(), omega, offsets, FREQUENCY_RANGE, DELTA_RANGE)


def function_weights(seed: int) -> np.ndarray:
    """Weights of cosines and sines in the functions of the prior, for the largest D."""
    return np.random.default_rng((seed, FUNCTIONS)).standard_normal((FUNCTIONS, 2, FREQUENCY_COUNTS[-1]))


@shared_cache
def kernel_functions(settings: KernelSettings, n_frequencies: int, moved: Moved = ()) -> np.ndarray:
    omega = moved_frequencies(settings, moved)[:n_frequencies]
    return toy_kernels.prior_functions(omega, function_weights(settings.seed), DELTA_RANGE)


@shared_cache
def live_prior(name: str, nu: float, seed: int) -> dict:
    """Data of the live view, which are the same for all widths."""
    unit = kernel_settings(name, 1.0, nu, seed)
    weights = function_weights(seed)
    reach = FREQUENCY_RANGE * WIDTHS[-1], DELTA_RANGE / WIDTHS[0]
    prior = toy_kernels.unit_prior(unit.kernel(), *kernel_draw(unit, 1), weights, reach)
    return packing.pack_prior(prior, FREQUENCY_COUNTS, (FREQUENCY_RANGE, DELTA_RANGE))


@shared_cache
def kernel_plane(settings: KernelSettings, n_frequencies: int) -> toy_kernels.KernelPlane:
    omega = kernel_draw(settings, 2)[0][:n_frequencies]
    return toy_kernels.kernel_plane(settings.kernel(), omega, FREQUENCY_RANGE, DELTA_RANGE)


@shared_cache
def kernel_errors(settings: KernelSettings) -> tuple[dict, dict]:
    """Measured and expected errors of both feature maps at every D of the slider."""
    kernel, D_values = settings.kernel(), FREQUENCY_COUNTS
    points = toy_kernels.uniform_points(1.0, APPROXIMATION_POINTS, settings.seed)
    # Products this small gain nothing from threads, and take ten times as long where other sessions compute too.
    with threadpool_limits(1, user_api="blas"):
        measured = toy_kernels.approximation_error(kernel, points, D_values, APPROXIMATION_DRAWS, settings.seed)
    return (measured, toy_kernels.expected_error(kernel, points, [2 * D for D in D_values]))


@shared_cache
def lifted_circles(seed: int) -> toy_lift.Lift:
    circles = ToyData("circles", CIRCLE_POINTS, CIRCLE_NOISE, seed)
    sample = toy_sample(circles)
    fresh = toy_fresh_sample(circles, CIRCLE_FRESH)
    return toy_lift.lifted_circles(sample.X, sample.y, fresh.X, fresh.y)
