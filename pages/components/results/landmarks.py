"""Cached results of the page on landmarks; results that do not depend on beta are cached separately."""

from __future__ import annotations

from dataclasses import dataclass

import rff_engine as rff
from pages.components.controls.toy_data import ToyData, map_extent, read_only, toy_fresh_sample, toy_sample
from pages.components.controls.widgets import powers
from pages.components.server.cache import shared_cache
from rff_engine.experiments.toy import landmarks as toy_landmarks
from rff_engine.figures.live import packing

#: The most landmarks of a problem, and frequencies of a landmark.
MAX_LANDMARKS, MAX_FREQUENCIES = 8, 256

#: What a page says of a click beyond the most landmarks.
TOO_MANY = f"There are {MAX_LANDMARKS} landmarks already, the most allowed: click a star to remove it first."

#: Cells along a side of a map.
MAP_CELLS = 64

#: Inverse temperatures of the curves along beta.
PATH_BETAS = powers(-3, 3, 5)


@dataclass(frozen=True)
class LandmarkSettings:
    """Everything that a landmark experiment depends on, except beta and C."""

    data: ToyData
    sigma: float
    n_frequencies: int
    n_landmarks: int
    selection: str | tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of landmarks."""
        return self.n_landmarks if isinstance(self.selection, str) else len(self.selection)


@shared_cache
def landmark_problem(settings: LandmarkSettings) -> toy_landmarks.LandmarkProblem:
    sample = toy_sample(settings.data)
    return read_only(
        toy_landmarks.landmark_problem(
            sample.X,
            sample.y,
            rff.GaussianKernel(settings.sigma),
            settings.n_landmarks,
            settings.n_frequencies,
            settings.selection,
            random_state=settings.data.seed,
        )
    )


@shared_cache
def landmark_view(settings: LandmarkSettings, beta: float, C: float) -> toy_landmarks.LandmarkView:
    fresh = toy_fresh_sample(settings.data)
    problem = landmark_problem(settings)
    return read_only(
        toy_landmarks.landmark_view(problem, fresh.X, fresh.y, beta, C, map_extent(settings.data), MAP_CELLS)
    )


@shared_cache
def landmark_path(settings: LandmarkSettings, C: float) -> toy_landmarks.LandmarkPath:
    """Errors and mean KL at every beta, so that a change of beta computes nothing."""
    fresh = toy_fresh_sample(settings.data)
    return read_only(toy_landmarks.landmark_path(landmark_problem(settings), fresh.X, fresh.y, PATH_BETAS, C))


@shared_cache
def drawn_landmarks(settings: LandmarkSettings, C: float) -> dict:
    """Draws packed for the live view, which makes the problem of any width from them; `settings` have width 1."""
    problem, fresh = landmark_problem(settings), toy_fresh_sample(settings.data)
    return packing.pack_landmark_draws(problem, fresh, map_extent(settings.data), C, settings.data.test_error)


@shared_cache
def live_landmarks(settings: LandmarkSettings, C: float) -> dict:
    """The problem packed for the live view, with the frequencies of the largest D, and the prior's maps."""
    problem, fresh, extent = landmark_problem(settings), toy_fresh_sample(settings.data), map_extent(settings.data)
    prior_maps, prior = toy_landmarks.prior_view(problem, fresh.X, fresh.y, C, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, prior_maps, prior, fresh, extent, C, settings.data.test_error)
