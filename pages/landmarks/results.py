"""Cached results of the page on landmarks; results that do not depend on beta are cached separately."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import rff_engine as rff
from pages.shared.controls import scales
from pages.shared.controls.toy_data import ToyData, map_extent, toy_fresh_sample, toy_sample
from pages.shared.live import packing
from pages.shared.server.cache import shared_cache
from rff_engine.studies.toy import landmarks as toy_landmarks
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: The most landmarks of a problem, and frequencies of a landmark.
MAX_LANDMARKS, MAX_FREQUENCIES = 8, 256

#: What a page says of a click beyond the most landmarks.
TOO_MANY = f"There are {MAX_LANDMARKS} landmarks already, the most allowed: click a star to remove it first."

#: Cells along a side of a map, and of that of one landmark's errors.
MAP_CELLS, PLACES = 64, 32


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
    return toy_landmarks.landmark_problem(
        sample.X,
        sample.y,
        rff.GaussianKernel(settings.sigma),
        settings.n_landmarks,
        settings.n_frequencies,
        settings.selection,
        random_state=settings.data.seed,
    )


@shared_cache
def landmark_view(settings: LandmarkSettings, beta: float, C: float) -> toy_landmarks.LandmarkView:
    fresh = toy_fresh_sample(settings.data)
    problem = landmark_problem(settings)
    return toy_landmarks.landmark_view(problem, fresh.X, fresh.y, beta, C, map_extent(settings.data), MAP_CELLS)


@shared_cache
def landmark_path(settings: LandmarkSettings, C: float) -> toy_landmarks.LandmarkPath:
    """Errors and mean KL at every beta, so that a change of beta computes nothing."""
    fresh = toy_fresh_sample(settings.data)
    return toy_landmarks.landmark_path(landmark_problem(settings), fresh.X, fresh.y, scales.PATH_BETAS, C)


def landmark_draws(seed: int) -> np.ndarray:
    """Frequencies of width 1, (MAX_LANDMARKS, MAX_FREQUENCIES, 2), that landmarks have, whatever the points."""
    any_points = ToyData("moons", 4 * MAX_LANDMARKS, 0.0, seed)
    return landmark_problem(LandmarkSettings(any_points, 1.0, MAX_FREQUENCIES, MAX_LANDMARKS, "random")).omega


def shown_landmarks(settings: LandmarkSettings) -> dict:
    """Landmarks for the live view: rows of the training points, or centroids."""
    if isinstance(settings.selection, tuple):
        return {"rows": list(settings.selection), "centroids": None}
    # Neither depends on the width; random rows do not depend on the noise.
    settings = replace(settings, sigma=1.0, n_frequencies=1)
    if settings.selection == "random":
        settings = replace(settings, data=settings.data.without_noise)
    problem = landmark_problem(settings)
    if problem.indices is not None:
        return {"rows": problem.indices.tolist(), "centroids": None}
    return {"rows": [], "centroids": {"points": problem.landmarks.ravel().tolist(), "labels": problem.labels.tolist()}}


def drawn_landmarks(data: ToyData) -> dict:
    """Draws packed for the live view, which makes the problem of any width, noise and landmarks from them."""
    return _drawn_landmarks(data if data.points else data.without_noise)


@shared_cache
def _drawn_landmarks(data: ToyData) -> dict:
    extent = map_extent(data) if data.points else None
    draws = data.draws(), data.fresh_draws(), landmark_draws(data.seed)
    return packing.pack_landmark_draws(*draws, extent, data.test_error)


@shared_cache
def live_landmarks(settings: LandmarkSettings, C: float) -> dict:
    """The problem packed for the live view, with the frequencies of the largest D, and the prior's maps."""
    problem = landmark_problem(settings)
    fresh = toy_fresh_sample(settings.data)
    extent = map_extent(settings.data)
    prior_maps, prior = toy_landmarks.prior_view(problem, fresh.X, fresh.y, C, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, prior_maps, prior, fresh, extent, C, settings.data.test_error)


@shared_cache
def landmarks_of_methods(settings: LandmarkSettings) -> dict[str, np.ndarray]:
    """Landmarks that each method chooses, (L, 2), as many as the page has."""
    chosen = {
        method: landmark_problem(replace(settings, n_landmarks=settings.count, selection=selection)).landmarks
        for method, selection in (("random", "random"), ("k-means", "kmeans"))
    }
    sample = toy_sample(settings.data)
    boosting = rff.LandmarkBoosting(
        rff.GaussianKernel(settings.sigma), settings.count, n_components=settings.n_frequencies, random_state=0
    )
    return chosen | {"boosted": boosting.fit(sample.X, sample.y).landmarks_}


@shared_cache
def live_one_landmark(settings: LandmarkSettings) -> dict:
    """A single landmark with the frequencies of the first one, packed for the live view."""
    return packing.pack_one_landmark(
        toy_sample(settings.data),
        toy_fresh_sample(settings.data),
        landmark_problem(settings).omega[0],
        landmarks_of_methods(settings),
        map_extent(settings.data),
        settings.data.test_error,
    )


@shared_cache
def one_landmark(
    settings: LandmarkSettings, beta: float, places: tuple[tuple[float, float], ...] | int
) -> toy_landmarks.OneLandmark:
    """What a single landmark is worth at these places, or, for a number, at the cells of a square grid of that side."""
    sample = toy_sample(settings.data)
    fresh = toy_fresh_sample(settings.data)
    at = plane_points(cell_centres(map_extent(settings.data), places)) if isinstance(places, int) else np.array(places)
    omega = landmark_problem(settings).omega[0]
    return toy_landmarks.one_landmark(sample.X, sample.y, fresh.X, fresh.y, at, omega, beta)
