"""Cached results of the Landmarks page; what depends on beta is kept apart from what does not."""

from __future__ import annotations

from dataclasses import dataclass

import rff_engine as rff
from pages.components import live
from pages.components.controls import powers
from pages.components.keeping import kept
from pages.components.toy_data import ToyData, map_extent, read_only, toy_fresh_sample, toy_sample
from rff_engine.experiments import toy_landmarks

MAP_CELLS = 64

#: Inverse temperatures of the curves along beta.
PATH_BETAS = powers(-3, 3, 5)


@dataclass(frozen=True)
class LandmarkSettings:
    """All that a landmark experiment depends on but beta and C."""

    data: ToyData
    sigma: float
    n_frequencies: int
    n_landmarks: int
    selection: str | tuple[int, ...]


@kept
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


@kept
def landmark_view(settings: LandmarkSettings, beta: float, C: float) -> toy_landmarks.LandmarkView:
    fresh = toy_fresh_sample(settings.data)
    problem = landmark_problem(settings)
    return read_only(
        toy_landmarks.landmark_view(problem, fresh.X, fresh.y, beta, C, map_extent(settings.data), MAP_CELLS)
    )


@kept
def landmark_path(settings: LandmarkSettings, C: float) -> toy_landmarks.LandmarkPath:
    """Errors and mean KL at every beta: moving beta computes nothing."""
    fresh = toy_fresh_sample(settings.data)
    return read_only(toy_landmarks.landmark_path(landmark_problem(settings), fresh.X, fresh.y, PATH_BETAS, C))


@kept
def live_landmarks(settings: LandmarkSettings, C: float) -> dict:
    """What the live view needs: all frequencies that D may reach, and the prior's side, which never moves."""
    problem, fresh, extent = landmark_problem(settings), toy_fresh_sample(settings.data), map_extent(settings.data)
    prior_maps, prior = toy_landmarks.prior_view(problem, fresh.X, fresh.y, C, extent, live.LIVE_CELLS)
    return live.pack_landmarks(problem, prior_maps, prior, fresh, extent, C)
