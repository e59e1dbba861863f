"""Figures of landmark similarities in the plane (Letarte et al. 2019, Figures 1 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from .panels import add_map, square_panels
from .sheet import Sheet
from .style import (
    CLASS_COLOURS,
    SEQUENTIAL_SCALE,
    SIMILARITY_SCALE,
    add_note,
    finish,
    fixed_margin,
    lying_colorbar,
)
from .tiles import GAP, add_points, add_stars, add_tiles, in_tile, square_tiles

if TYPE_CHECKING:
    from ..studies.toy.landmarks import LandmarkProblem, LandmarkView

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
    labels: Sequence[int] | None = None,
    upright: bool = False,
) -> go.Figure:
    """Show similarity maps of all landmarks, (R, L, G, G), one row for each of R methods.

    A landmark is a star in the colour of its label, white without `labels`.

    Maps are evaluated at the centres of the cells. Every map shows the first hundred points (n, 2); their labels are
    -1 and 1. If `upright`, for a narrow screen, methods are columns and landmarks rows.
    """
    tiles = np.swapaxes(rows, 0, 1) if upright else rows
    left, bottom = (np.arange(count) * (1 + GAP) for count in (tiles.shape[1], tiles.shape[0]))
    bottom = -bottom
    fig = Sheet()
    add_tiles(fig, tiles, left, bottom, "coloraxis", "similarity")
    corners = [(at, low) for low in bottom for at in left]
    add_points(fig, np.asarray(X)[:_POINTS_ON_A_MAP], np.asarray(y)[:_POINTS_ON_A_MAP], extent, corners, size=3)
    for l in range(len(landmarks)):
        corners = [(at, bottom[l]) for at in left] if upright else [(left[l], at) for at in bottom]
        place = [in_tile(landmarks[l : l + 1], extent, *corner) for corner in corners]
        add_stars(fig, [p[0][0] for p in place], [p[1][0] for p in place], l, labels[l] if labels is not None else 0)
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


def _finish_tiles(fig: Sheet, height: int, upright: bool, scale, title: str) -> go.Figure:
    bar = lying_colorbar(title, (-1, 0, 1))
    return finish(
        fig,
        height=height,
        margin=fixed_margin(left=8 if upright else 24, top=74, bottom=8),
        coloraxis={"colorscale": scale, "cmin": -1, "cmax": 1, "colorbar": bar},
    )


def prior_and_learned_maps(
    problem: LandmarkProblem, view: LandmarkView, extent: float, *, upright: bool = False
) -> go.Figure:
    """Show the `similarity_mosaic` of the prior and of the learned weights."""
    maps = np.stack([view.prior_maps, view.learned_maps])
    names = "prior", "learned"
    shown = {"row_names": names, "labels": problem.labels, "upright": upright}
    return similarity_mosaic(extent, maps, problem.landmarks, problem.X, problem.y, **shown)


def spectral_weights(Q: ArrayLike, order: np.ndarray | None = None, height: int = 260) -> go.Figure:
    """Show each landmark's weights (L, D) on its frequencies as a heatmap, in increasing `order` of keys, if given."""
    Q = np.asarray(Q)
    L, D = Q.shape
    shown = Q if order is None else np.take_along_axis(Q, np.argsort(order, axis=1, kind="stable"), axis=1)
    fig = Sheet()
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


def errors_by_place(
    errors: ArrayLike, extent: float, marks: Mapping[str, ArrayLike], place: Sequence[float]
) -> go.Figure:
    """Show the error (G, G) of one landmark at every place, bright if low, and landmarks of several methods.

    The `marks` (L, 2) are by method; a star stands at `place`.
    """
    fig = square_panels([""], [extent], ["x"])
    look = {"title": "<b>error of one landmark, by its place</b>", "scale": f"{SEQUENTIAL_SCALE}_r", "limits": (0, 0.5)}
    add_map(fig, 1, errors, extent, "error", **look)
    for (name, places), symbol in zip(marks.items(), ("circle", "square", "triangle-up"), strict=True):
        marker = {"symbol": symbol, "size": 9, "color": "white", "line": {"width": 1.2, "color": "black"}}
        x, y = np.transpose(places)
        fig.add_scatter(x=x, y=y, mode="markers", name=name, marker=marker)
    star = {"symbol": "star", "size": 18, "color": CLASS_COLOURS[1], "line": {"width": 1.5, "color": "white"}}
    fig.add_scatter(x=[place[0]], y=[place[1]], mode="markers", name="yours", marker=star)
    below = {"orientation": "h", "x": 0, "y": -0.15, "yanchor": "top"}  # the scale is above
    return finish(fig, 502, margin=fixed_margin(left=40, top=78, bottom=90), legend=below)
