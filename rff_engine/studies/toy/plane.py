"""Grids on the plane for images."""

from __future__ import annotations

import numpy as np

from ..._typing import ArrayLike
from ..._validation import check_count, check_positive


def cell_centres(extent: float, cells: int) -> np.ndarray:
    """Return centres of `cells` equal cells that fill [-extent, extent]."""
    extent = check_positive(extent, "extent")
    return extent * (2 * (np.arange(check_count(cells, "cells")) + 0.5) / cells - 1)


def plane_points(grid: ArrayLike) -> np.ndarray:
    """Return points of a square grid, (G * G, 2); the first coordinate varies fastest."""
    return np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
