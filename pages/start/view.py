"""Data of the first picture, packed for the browser."""

from __future__ import annotations

from pages.shared.live import packing
from pages.start import compute
from rff_engine.studies.toy.landmarks import prior_view


def opening(count: int) -> dict:
    """Pack landmarks among two moons, and the prior's maps."""
    fresh = compute.MOONS.fresh_sample()
    problem = compute.landmark_problem(compute.MOONS, count)
    extent = compute.MOONS.extent
    maps, prior = prior_view(problem, fresh.X, fresh.y, 1.0, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, maps, prior, fresh, extent, 1.0)
