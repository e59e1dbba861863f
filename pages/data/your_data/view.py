"""Data of the live view of landmarks, from a visitor's table."""

from __future__ import annotations

from typing import Any

from pages.data.your_data.compute import Coordinates
from pages.shared.live import packing
from rff_engine.studies.toy import landmarks as toy_landmarks


def live_landmarks(where: Coordinates, problem: toy_landmarks.LandmarkProblem, C: float) -> dict[str, Any]:
    """Pack a problem with the frequencies of the largest D."""
    test, extent = where.test, where.extent
    maps, prior = toy_landmarks.prior_view(problem, test.X, test.y, C, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, maps, prior, test, extent, C)
