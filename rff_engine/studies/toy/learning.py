"""Kernel learning in the plane: the frequency plane, and candidates with their losses.

It follows Letarte et al. (2019), Sections 5.3 and 5.4. Results that do not depend on beta or rho are computed
separately.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import ArrayLike, RandomState
from ..._validation import as_points
from ...alignment import alignment_loss, alignment_loss_plane
from ...kernels import SpectralKernel
from .plane import cell_centres, plane_points


@dataclass(frozen=True)
class FrequencyPlane:
    """Prior density and alignment loss over a square of frequencies; neither depends on beta."""

    grid: np.ndarray
    """(G,), either coordinate of the frequencies"""
    prior: np.ndarray
    """(G, G), density"""
    loss: np.ndarray
    """(G, G)"""
    n: int
    """Sample size of the losses"""


def frequency_plane(
    X: ArrayLike, y: ArrayLike, kernel: SpectralKernel, extent: float, cells: int = 121
) -> FrequencyPlane:
    """Compute prior density and alignment loss of points (n, 2) on a grid (Letarte et al. 2019, Prop. 8)."""
    grid = cell_centres(extent, cells)
    prior = kernel.spectral_density(plane_points(grid)).reshape(cells, cells)
    return FrequencyPlane(grid, prior, alignment_loss_plane(X, y, grid, grid), len(X))


@dataclass(frozen=True)
class Candidates:
    """Frequencies drawn from a kernel and their losses; neither depends on beta, rho or mu."""

    omega: np.ndarray
    """(N, d)"""
    loss: np.ndarray
    """(N,)"""
    n: int
    """Sample size of the losses"""


def draw_candidates(
    X: ArrayLike, y: ArrayLike, kernel: SpectralKernel, n_candidates: int, random_state: RandomState = None
) -> Candidates:
    """Draw candidate frequencies and compute their alignment losses (Letarte et al. 2019, Section 5.4)."""
    X = as_points(X)
    omega = kernel.sample_frequencies(n_candidates, X.shape[1], random_state)
    return Candidates(omega, alignment_loss(X, y, omega), X.shape[0])
