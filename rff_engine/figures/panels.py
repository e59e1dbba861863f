"""Rows of square panels of the plane, and the maps and colour bars in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from .._typing import ArrayLike
from .sheet import Sheet
from .style import add_note, finish, fixed_margin, for_colours, lying_colorbar


def square_panels(titles: Sequence[str], extents: Sequence[float], variables: Sequence[str]) -> Sheet:
    """A row of empty square panels, each with its own pair of axes around 0.

    Parameters
    ----------
    titles : sequence of P strings
        Titles above the panels; an empty one leaves space for a colour bar of `panel_scale`.
    extents : sequence of P floats
        Half the sides of the squares.
    variables : sequence of P strings
        Variable of both axes, one letter.
    """
    P = len(extents)
    fig = Sheet(columns=P, gap=(0.22 / P, 0))
    for p, (title, extent, letter) in enumerate(zip(titles, extents, variables, strict=True), start=1):
        fig.update_xaxes(
            # One title for both axes: in a narrow window, a title of the y axis would overlap the next panel.
            title=f"{letter}₁ →   {letter}₂ ↑",
            range=[-extent, extent],
            constrain="domain",
            zeroline=False,
            showgrid=False,
            fixedrange=True,
            nticks=6,
            col=p,
        )
        # In a narrow window, unused height is below the panels.
        fig.update_yaxes(
            range=[-extent, extent],
            scaleanchor=_axis("x", p),
            constrain="domain",
            constraintoward="top",
            zeroline=False,
            showgrid=False,
            fixedrange=True,
            nticks=6,
            col=p,
        )
        if title:
            add_note(fig, 0.5, 1, title, xref=f"{_axis('x', p)} domain", yref="paper", yanchor="bottom", yshift=4)
    return fig


def finish_panels(fig: Sheet, height: int, top: int) -> go.Figure:
    """The figure of a row of panels, with `top` pixels above them."""
    return finish(fig, height, margin=fixed_margin(left=40, top=top))


def _axis(letter: str, panel: int) -> str:
    return letter if panel == 1 else f"{letter}{panel}"


def add_map(fig: Sheet, panel: int, values: ArrayLike, extent: float, coloraxis: str, name: str) -> None:
    """Show `values` (V, U), known at the centres of equal cells of [-extent, extent]^2, in a panel."""
    values = for_colours(values)
    V, U = values.shape
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


def panel_scale(
    fig: Sheet,
    panel: int,
    title: str,
    scale: str | Sequence[tuple[float, str]],
    low: float,
    high: float,
    ticks: Sequence[float],
) -> dict[str, Any]:
    """A colour axis with its bar and title above a panel."""
    left, right = fig.domain(panel)
    return {
        "colorscale": scale,
        "cmin": low,
        "cmax": high,
        "colorbar": lying_colorbar(title, ticks, centre=(left + right) / 2, length=0.85 * (right - left)),
    }
