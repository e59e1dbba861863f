"""Figures of landmark similarities in the plane (Letarte et al. 2019, Figures 1 and 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from .style import SEQUENTIAL_SCALE, SIMILARITY_SCALE, add_note, finish, fixed_margin, lying_colorbar, new_figure
from .tiles import GAP, add_points, add_stars, add_tiles, in_tile, square_tiles

# Space above a tile with a title; tiles are unit squares.
_TITLE_GAP = 0.1
# Width in pixels of maps that stand one below the other.
_UPRIGHT_PIXELS = 338
# Number of points on each similarity map: few enough to paint quickly.
_POINTS_ON_A_MAP = 100


def similarity_mosaic(
    extent: float,
    rows: ArrayLike,
    landmarks: np.ndarray,
    X: ArrayLike,
    y: ArrayLike,
    *,
    row_names: Sequence[str],
    upright: bool = False,
) -> go.Figure:
    """Show similarity maps of all landmarks, (R, L, G, G), one row for each of R methods.

    A landmark is a white star. Maps are evaluated at the centres of the cells. Every map shows the first hundred points
    (n, 2); their labels are -1 and 1. If `upright`, for a narrow screen, methods are columns and landmarks rows.
    """
    tiles = np.swapaxes(rows, 0, 1) if upright else rows
    left, bottom = (np.arange(count) * (1 + GAP) for count in (tiles.shape[1], tiles.shape[0]))
    bottom = -bottom
    fig = new_figure()
    add_tiles(fig, tiles, left, bottom, "coloraxis", "similarity")
    corners = [(at, low) for low in bottom for at in left]
    add_points(fig, np.asarray(X)[:_POINTS_ON_A_MAP], np.asarray(y)[:_POINTS_ON_A_MAP], extent, corners, size=3)
    for l in range(len(landmarks)):
        corners = [(at, bottom[l]) for at in left] if upright else [(left[l], at) for at in bottom]
        place = [in_tile(landmarks[l : l + 1], extent, *corner) for corner in corners]
        add_stars(fig, [p[0][0] for p in place], [p[1][0] for p in place], l)
    if upright:
        for at, name in zip(left, row_names, strict=True):
            add_note(fig, at + 0.5, 1, name, yanchor="bottom", yshift=1)
        square_tiles(fig, -0.02, left[-1] + 1.02, bottom[-1] - 0.02, 1 + _TITLE_GAP)
        height = round(_UPRIGHT_PIXELS / (left[-1] + 1.04) * (1 + _TITLE_GAP + 0.02 - bottom[-1])) + 82
    else:
        for at, name in zip(bottom, row_names, strict=True):
            add_note(fig, 0, at + 0.5, name, textangle=-90, xanchor="right", xshift=-4)
        square_tiles(fig, -0.12, left[-1] + 1.02, bottom[-1] - 0.02, 1.02)
        height = int(np.clip(1000 / (left[-1] + 1.14) * (len(rows) + 0.1) + 82, 276, 536))
    return _finish_tiles(fig, height, upright, SIMILARITY_SCALE, "similarity to the star")


def _finish_tiles(fig: go.Figure, height: int, upright: bool, scale, title: str) -> go.Figure:
    bar = lying_colorbar(title, (-1, 0, 1))
    return finish(
        fig,
        height=height,
        margin=fixed_margin(left=8 if upright else 24, top=74, bottom=8),
        coloraxis={"colorscale": scale, "cmin": -1, "cmax": 1, "colorbar": bar},
    )


def spectral_weights(Q: ArrayLike, order: np.ndarray | None = None, height: int = 260) -> go.Figure:
    """Show each landmark's weights (L, D) on its frequencies as a heatmap, in increasing `order` of keys, if given."""
    Q = np.asarray(Q)
    L, D = Q.shape
    shown = Q if order is None else np.take_along_axis(Q, np.argsort(order, axis=1, kind="stable"), axis=1)
    fig = new_figure()
    fig.add_heatmap(
        x=np.arange(1, D + 1),
        y=[f"{l + 1}" for l in range(L)],
        z=(shown * D).astype(np.float32),
        coloraxis="coloraxis",
        hovertemplate="landmark %{y}, frequency %{x}<br>%{z:.2f} times the prior's weight<extra></extra>",
    )
    fig.update_xaxes(title="frequency ω of the landmark" + ("" if order is None else ", slow to fast"), showgrid=False)
    fig.update_yaxes(title="landmark", autorange="reversed", showgrid=False, type="category")
    largest = max(float(shown.max()) * D, 1.0 + 1e-6)
    return finish(
        fig,
        height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        coloraxis={
            "colorscale": SEQUENTIAL_SCALE,
            "cmin": 0,
            "cmax": max(2.0, largest),
            "colorbar": {"title": {"text": "weight Q·D", "side": "right"}, "thickness": 12},
        },
    )
