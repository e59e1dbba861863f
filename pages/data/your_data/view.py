"""Data of the live views of landmarks and of a learned kernel, from a visitor's table."""

from __future__ import annotations

from typing import Any

import numpy as np

import rff_engine as rff
from pages.data.your_data.compute import ORDER, Coordinates, candidates
from pages.shared.controls import scales
from pages.shared.live import packing
from rff_engine.studies.toy import kernel as toy_kernels, landmarks as toy_landmarks, learning as toy_learning


def live_landmarks(where: Coordinates, problem: toy_landmarks.LandmarkProblem, C: float) -> dict[str, Any]:
    """Pack a problem with the frequencies of the largest D."""
    test, extent = where.test, where.extent
    maps, prior = toy_landmarks.prior_view(problem, test.X, test.y, C, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, maps, prior, test, extent, C)


def live_kernel(where: Coordinates, sigma: float, seed: int, rho_shares: tuple[float, ...]) -> dict[str, Any]:
    """Pack planes, candidates, and weights of OKRFF for every radius."""
    kernel, extent, delta_extent = rff.GaussianKernel(sigma), scales.WIDTHS / sigma, 2 * where.extent
    drawn = candidates(where, sigma, seed)
    plane = toy_learning.frequency_plane(where.train.X, where.train.y, kernel, extent)
    optimized = np.stack([rff.optimized_kernel_weights(drawn.loss, share, ORDER) for share in rho_shares])
    prior = toy_kernels.kernel_map(kernel, delta_extent, packing.KERNEL_CELLS)
    return packing.pack_kernel(plane, drawn, optimized, where.train, prior, ORDER, extent, delta_extent, where.extent)
