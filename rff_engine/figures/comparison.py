"""One side of a comparison of two settings: small, so that two of them stand beside each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from .sheet import Sheet
from .style import DECISION_SCALE, SIMILARITY_SCALE, add_note, finish, fixed_margin
from .tiles import GAP, add_boundary, add_points, add_stars, add_tiles, in_tile, square_tiles

# The decision map is as high as two rows of maps.
_LARGE = 2 + GAP
# Sizes of stars on the two in a figure of 520 pixels, and the largest side of a tile, as a fraction of the width.
_STARS, _WIDTH, _LARGEST = (18, 15), 520, 0.36
_POINTS_ON_A_MAP = 60


def landmark_side(
    extent: float,
    maps: ArrayLike,
    decision: ArrayLike,
    landmarks: np.ndarray,
    X: ArrayLike,
    y: ArrayLike,
    *,
    columns: int = 1,
    width: int = _WIDTH,
) -> go.Figure:
    """A decision map (G, G), and on its right the similarity maps (L, G, G) of its landmarks, in two rows.

    Parameters
    ----------
    columns : int
        The fewest maps in a row that there is space for, so that the tiles of two figures have one size.
    width : int
        Width in pixels for which the height is made.
    """
    X = np.asarray(X)
    y = np.asarray(y)
    maps = np.asarray(maps)
    most_columns, columns = columns, -(-len(maps) // 2)
    left = _LARGE + 2 * GAP + np.arange(columns) * (1 + GAP)
    bottom = np.array([1 + GAP, 0.0])
    corners = [(at, low) for low in bottom for at in left][: len(maps)]
    fig = Sheet()
    add_tiles(fig, np.asarray(decision)[None, None], np.zeros(1), np.zeros(1), "coloraxis2", "decision", _LARGE)
    add_tiles(fig, _filled(maps, columns), left, bottom, "coloraxis", "similarity")
    add_boundary(fig, np.asarray(decision), 0.0, 0.0, _LARGE)
    add_points(fig, X, y, extent, [(0.0, 0.0)], 4, _LARGE)
    add_points(fig, X[:_POINTS_ON_A_MAP], y[:_POINTS_ON_A_MAP], extent, corners, 2.5)
    for l, corner in enumerate(corners):
        large = in_tile(landmarks[l : l + 1], extent, 0.0, 0.0, _LARGE)
        small = in_tile(landmarks[l : l + 1], extent, *corner)
        for place, size in zip((large, small), _STARS, strict=True):
            add_stars(fig, *place, l, size=round(size * min(1, width / _WIDTH)))
    right = left[0] + (max(most_columns, columns) - 1) * (1 + GAP) + 1.02
    square_tiles(fig, -0.02, right, -0.02, _LARGE + 0.02)
    return _finish(fig, right + 0.02, _LARGE + 0.04, width, 0)


def kernel_side(maps: Mapping[str, ArrayLike], *, width: int = _WIDTH) -> go.Figure:
    """Kernels (G, G) over the plane of differences, by the titles above them, for a width in pixels."""
    left = np.arange(len(maps)) * (1 + GAP)
    fig = Sheet()
    add_tiles(fig, np.stack(list(maps.values()))[None], left, np.zeros(1), "coloraxis", "kernel")
    for at, title in zip(left, maps, strict=True):
        add_note(fig, at + 0.5, 1, title, yanchor="bottom", yshift=1)
    right = left[-1] + 1.02
    square_tiles(fig, -0.02, right, -0.02, 1.02)
    return _finish(fig, right + 0.02, 1.04, width, 26)


def _filled(maps, columns: int):
    """Maps as (2, columns, G, G); the last place may be empty."""
    whole = np.full((2 * columns, *maps.shape[1:]), np.nan, dtype=maps.dtype)
    whole[: len(maps)] = maps
    return whole.reshape(2, columns, *maps.shape[1:])


def _finish(fig, across: float, up: float, width: int, above: int) -> go.Figure:
    """The figure of tiles that are so many units wide and high, with some pixels above them."""
    fig.update_xaxes(constraintoward="left")
    return finish(
        fig,
        height=round(min(width / across, _LARGEST * width) * up) + above + 4,
        margin=fixed_margin(left=2, top=above + 2, bottom=2),
        coloraxis={"colorscale": SIMILARITY_SCALE, "cmin": -1, "cmax": 1, "showscale": False},
        coloraxis2={"colorscale": DECISION_SCALE, "cmin": -1, "cmax": 1, "showscale": False},
    )
