"""Cached results of the page on adaptive frequencies; results that do not depend on r are cached separately."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

import datasets
import rff_engine as rff
from pages.adaptive import toy as toy_adaptive
from pages.shared.controls import scales
from pages.shared.controls.toy_data import ToyData
from pages.shared.live import packing
from pages.shared.server import workers
from pages.shared.server.cache import shared_cache
from rff_engine.adaptive import kernel_landmarks
from rff_engine.plots.style import METHOD_NAMES

#: Ways to choose landmarks, by their labels.
METHODS = {METHOD_NAMES[method]: method for method in ("sample", "cluster", "nearest")}
#: Numbers of landmarks on the slider and of the error curve; draws of the curve, and steps of its descents.
LANDMARK_COUNTS, CURVE_DRAWS, CURVE_STEPS = (2, 5, 10, 20, 50, 100), 3, 15
#: Numbers of frequencies whose losses on landmarks are compared with those on all points.
GAP_R = (5, 20)


@dataclass(frozen=True)
class AdaptiveSettings:
    """The points, the kernel, and the landmarks that represent the points."""

    data: ToyData
    sigma: float
    method: str
    n_landmarks: int

    def kernel(self) -> rff.GaussianKernel:
        return rff.GaussianKernel(self.sigma)


def landmark_counts(n: int) -> tuple[int, ...]:
    """The numbers of landmarks that are no larger than n."""
    return tuple(count for count in LANDMARK_COUNTS if count <= n)


def adaptive_settings(values) -> AdaptiveSettings:
    """The settings of the controls, with no more landmarks than points."""
    data = ToyData(values.data, values.N, values.noise, values.seed)
    allowed = max(count for count in landmark_counts(values.N))
    return AdaptiveSettings(data, values.sigma, METHODS[values.method], min(values.landmarks, allowed))


@shared_cache
def inputs(data: ToyData) -> np.ndarray:
    return datasets.make_toy_inputs(data.name, data.n, data.noise, data.seed)


def data_extent(data: ToyData) -> float:
    """Half the side of the square that shows the points."""
    return float(np.ceil(4.2 * np.abs(inputs(data)).max()) / 4)


def frequency_extent(settings: AdaptiveSettings) -> float:
    """Half the side of the square of frequencies that figures show."""
    return scales.WIDTHS / settings.sigma


@shared_cache
def landmarks(settings: AdaptiveSettings) -> tuple[np.ndarray, np.ndarray]:
    # Not the stream of the points.
    rng = np.random.default_rng((settings.data.seed, 1))
    return kernel_landmarks(inputs(settings.data), settings.n_landmarks, settings.method, rng)


@shared_cache
def grid_weights(settings: AdaptiveSettings, ridge: float) -> toy_adaptive.GridWeights:
    with threadpool_limits(1, user_api="blas"):
        return toy_adaptive.grid_weights(
            *landmarks(settings), settings.kernel(), frequency_extent(settings), ridge=ridge
        )


@shared_cache
def descent(settings: AdaptiveSettings, r: int) -> toy_adaptive.Descent:
    kernel = settings.kernel()
    omega = toy_adaptive.first_frequencies(kernel, r, np.random.default_rng((settings.data.seed, 2)))
    chosen = landmarks(settings)
    return workers.compute(toy_adaptive.descent, inputs(settings.data), *chosen, kernel, omega)


@shared_cache
def live_descent(settings: AdaptiveSettings, r: int) -> dict:
    """The descent, packed for the live view."""
    X = inputs(settings.data)
    extents = data_extent(settings.data), frequency_extent(settings)
    return packing.pack_descent(descent(settings, r), X, landmarks(settings)[0], *extents)


@shared_cache
def importance(data: ToyData, sigma: float) -> toy_adaptive.ImportancePlane:
    return toy_adaptive.importance_plane(inputs(data), rff.GaussianKernel(sigma), scales.WIDTHS / sigma)


@shared_cache
def landmark_curve(data: ToyData, sigma: float, r: int, method: str) -> np.ndarray:
    """Relative errors, (len(landmark_counts(n)), CURVE_DRAWS)."""
    X = inputs(data)
    kernel = rff.GaussianKernel(sigma)
    counts = landmark_counts(data.n)
    curve = partial(toy_adaptive.landmark_curve, max_steps=CURVE_STEPS)
    rng = np.random.default_rng((data.seed, 3))
    return workers.compute(curve, X, kernel, r, counts, method, CURVE_DRAWS, rng)


@shared_cache
def loss_gaps(data: ToyData, sigma: float, r: int) -> toy_adaptive.LossGaps:
    """Losses on landmarks against those on all points, with the propositions that bound the difference."""
    X = inputs(data)
    kernel = rff.GaussianKernel(sigma)
    counts = landmark_counts(data.n)
    rng = np.random.default_rng((data.seed, 4))
    return workers.compute(toy_adaptive.loss_gaps, X, kernel, r, counts, CURVE_DRAWS, rng)
