"""Data of the page's live views, packed for the browser."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pages.landmarks import compute
from pages.shared.live.packing import as_base64, pack_draw, with_version
from rff_datasets import ToyData


def landmark_draws(seed: int) -> np.ndarray:
    """Draw frequencies of width 1 for any points, (MAX_LANDMARKS, MAX_FREQUENCIES, 2)."""
    any_points = ToyData("moons", 4 * compute.MAX_LANDMARKS, 0.0, seed)
    most = compute.MAX_FREQUENCIES, compute.MAX_LANDMARKS
    return compute.landmark_problem(compute.LandmarkSettings(any_points, 1.0, *most, "random")).omega


def shown_landmarks(settings: compute.LandmarkSettings) -> dict:
    """Return the landmarks: rows of the training points, or centroids."""
    if isinstance(settings.selection, tuple):
        return {"rows": list(settings.selection), "centroids": None}
    # Landmarks do not depend on the width, nor random rows on the noise.
    settings = replace(settings, sigma=1.0, n_frequencies=1)
    if settings.selection == "random":
        settings = replace(settings, data=settings.data.without_noise)
    problem = compute.landmark_problem(settings)
    if problem.indices is not None:
        return {"rows": problem.indices.tolist(), "centroids": None}
    return {"rows": [], "centroids": {"points": problem.landmarks.ravel().tolist(), "labels": problem.labels.tolist()}}


def drawn_landmarks(data: ToyData) -> dict:
    """Pack draws, from which the view makes the problem of any width, noise and landmarks."""
    return packed_draws(data if data.points else data.without_noise)


def packed_draws(data: ToyData) -> dict:
    """Pack both samples without their noise, and frequencies for the most landmarks.

    Frequencies and training points are in double precision, as in the engine: a large beta multiplies errors of the
    losses. The extent is half the side of the maps; without it, the view derives it from the points on screen.
    """
    frequencies = landmark_draws(data.seed)
    return with_version(
        {
            "draws": {
                "train": pack_draw(data.draws(), "<f8"),
                "test": pack_draw(data.fresh_draws(), "<f4"),
                "frequencies": as_base64(frequencies, "<f8"),
                "count": frequencies.shape[1],
            },
            "extent": data.extent if data.points else None,
            "test_error": data.test_error,
        }
    )
