"""Rows of square panels of the plane, and the maps and colour bars in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from .style import add_note, finish, fixed_margin, for_colours, lying_colorbar, new_figure


def square_panels(titles: Sequence[str], extents: Sequence[float], variables: Sequence[str]) -> go.Figure:
    """Make a row of empty square panels, each with its own pair of axes around 0.

    An empty title leaves space for the colour bar of `add_map`. A variable is one letter and names both axes.
    """
    P = len(extents)
    fig = new_figure(columns=P, gap=(0.22 / P, 0))
    for p, (title, extent, letter) in enumerate(zip(titles, extents, variables, strict=True), start=1):
        square_panel(fig, p, extent, letter)
        if title:
            add_note(fig, 0.5, 1, title, xref=f"{_axis('x', p)} domain", yref="paper", yanchor="bottom", yshift=4)
    return fig


def square_panel(fig: go.Figure, panel: int, extent: float, letter: str) -> None:
    """Make a panel of the first row a square around 0; `letter` is the variable of both axes."""
    axis = {"range": [-extent, extent], "constrain": "domain", "fixedrange": True, "nticks": 6, "col": panel}
    axis |= {"zeroline": False, "showgrid": False}
    # One title serves both axes: in a narrow window a title of the y axis would overlap the next panel.
    fig.update_xaxes(title=f"{letter}₁ →   {letter}₂ ↑", **axis)
    # In a narrow window, unused height is below the panels.
    fig.update_yaxes(scaleanchor=_axis("x", panel), constraintoward="top", **axis)


def finish_panels(fig: go.Figure, height: int, top: int) -> go.Figure:
    """Return the figure of a row of panels, with `top` pixels above them."""
    return finish(fig, height, margin=fixed_margin(left=40, top=top))


def _axis(letter: str, panel: int) -> str:
    return letter if panel == 1 else f"{letter}{panel}"


def add_dots(fig: go.Figure, panel: int, points: ArrayLike, marker: dict, **kwargs: Any) -> None:
    """Add points (n, 2) to a panel of the first row, without an entry of the legend."""
    x, y = np.asarray(points, dtype=np.float32).T
    place = {"showlegend": False, "row": 1, "col": panel}
    fig.add_scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip", **place, **kwargs)


def add_map(
    fig: go.Figure,
    panel: int,
    values: ArrayLike,
    extent: float,
    name: str,
    *,
    title: str,
    scale: str | Sequence[tuple[float, str]],
    limits: tuple[float, float],
    **bar: Any,
) -> None:
    """Show `values` (V, U), known at the centres of equal cells of [-extent, extent]^2, with a colour bar above them.

    The pointer calls a value `name`. The colour scale ends at `limits`, with a third tick in the middle.
    """
    values = for_colours(values)
    V, U = values.shape
    coloraxis = _axis("coloraxis", panel)
    fig.add_heatmap(
        x0=-extent * (1 - 1 / U),
        dx=2 * extent / U,
        y0=-extent * (1 - 1 / V),
        dy=2 * extent / V,
        z=values,
        coloraxis=coloraxis,
        hovertemplate=f"{name} %{{z:.3g}}<br>at (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
        row=1,
        col=panel,
    )
    left, right = fig.layout[_axis("xaxis", panel)].domain
    low, high = limits
    ticks = [low, (low + high) / 2, high]
    bar = lying_colorbar(title, ticks, centre=(left + right) / 2, length=0.85 * (right - left)) | bar
    fig.update_layout(**{coloraxis: {"colorscale": scale, "cmin": low, "cmax": high, "colorbar": bar}})
