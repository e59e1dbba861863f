"""Square pictures of the plane side by side in one pair of axes, with points and landmarks on them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from .style import CLASS_COLOURS, CLASS_SYMBOLS, for_colours

#: Space between tiles, which are unit squares.
GAP = 0.06


def add_points(
    fig: go.Figure,
    X: np.ndarray,
    y: np.ndarray,
    extent: float,
    corners: Iterable[tuple[float, float]],
    size: float,
    side: float = 1.0,
) -> None:
    """Add the points of both classes to every tile, as one trace for each class."""
    for label, colour in CLASS_COLOURS.items():
        own = [in_tile(X[y == label], extent, corner[0], corner[1], side) for corner in corners]
        fig.add_scatter(
            x=np.concatenate([place[0] for place in own]).astype(np.float32),
            y=np.concatenate([place[1] for place in own]).astype(np.float32),
            mode="markers",
            marker={
                "size": size,
                "color": colour,
                "symbol": CLASS_SYMBOLS[label],
                "line": {"width": 0.7 if size > 4 else 0.3, "color": "white"},
            },
            hoverinfo="skip",
            showlegend=False,
        )


def in_tile(
    points: ArrayLike, extent: float, left: float, bottom: float, side: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates of points of the plane in the tile with corner (left, bottom)."""
    inside = np.clip(np.asarray(points) / (2 * extent) + 0.5, 0, 1)
    return left + side * inside[:, 0], bottom + side * inside[:, 1]


def square_tiles(fig: go.Figure, left: float, right: float, bottom: float, top: float) -> None:
    """Give a figure bare axes of one scale over these ranges."""
    fig.update_xaxes(visible=False, range=[left, right], constrain="domain", fixedrange=True)
    # In a narrow window, unused height is below the tiles.
    fig.update_yaxes(
        visible=False,
        scaleanchor="x",
        range=[bottom, top],
        constrain="domain",
        constraintoward="top",
        fixedrange=True,
    )


def add_tiles(
    fig: go.Figure,
    tiles: np.ndarray,
    left: np.ndarray,
    bottom: np.ndarray,
    coloraxis: str,
    name: str,
    side: float = 1.0,
) -> None:
    """Add tiles (R, C, V, U) at squares as one heatmap, with gaps of NaN; the pointer calls a value `name`.

    A browser paints one heatmap much faster than a dozen.
    """
    R, C, V, U = tiles.shape
    # Edges of the cells.
    x = np.concatenate([at + np.linspace(0, side, U + 1) for at in left])
    y = np.concatenate([at + np.linspace(0, side, V + 1) for at in bottom[::-1]])
    z = np.full((len(y) - 1, len(x) - 1), np.nan, dtype=np.float32)
    for r in range(R):
        for c in range(C):
            top = (R - 1 - r) * (V + 1)
            z[top : top + V, c * (U + 1) : c * (U + 1) + U] = tiles[r, c]
    hover = f"{name} %{{z:.2f}}<extra></extra>"
    fig.add_heatmap(x=x, y=y, z=for_colours(z), coloraxis=coloraxis, hoverongaps=False, hovertemplate=hover)


def add_stars(fig: go.Figure, x: ArrayLike, y: ArrayLike, index: int) -> None:
    """Add the white star of a landmark at every place."""
    fig.add_scatter(
        x=x,
        y=y,
        mode="markers+text",
        marker={"symbol": "star", "size": 20, "color": "#FFFFFF", "line": {"color": "#111111", "width": 1.2}},
        text=f"<b>{index + 1}</b>",
        textfont={"size": 10, "color": "#111111"},
        textposition="middle center",
        hovertemplate=f"landmark {index + 1}<extra></extra>",
        showlegend=False,
    )
