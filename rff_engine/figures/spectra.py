"""Figures of the frequency plane: where a prior puts its frequencies, what they are worth, what is learned there."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from .sheet import Sheet
from .style import (
    CLASS_COLOURS,
    CLASS_SYMBOLS,
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    SEQUENTIAL_SCALE,
    add_note,
    finish,
    fixed_margin,
    for_colours,
    lying_colorbar,
)

#: The same losses, densities and weights on every page: bright is where a cosine is wanted.
_LOSS_SCALE = f"{SEQUENTIAL_SCALE}_r"


def square_panels(titles, extents, variables) -> Sheet:
    """A row of empty square panels, each with its own pair of axes around 0.

    Parameters
    ----------
    titles : sequence of P strings
        Above the panels; an empty one leaves room for a colour bar of `panel_scale`.
    extents : sequence of P floats
        Half the sides of the squares.
    variables : sequence of P strings
        What either axis is a coordinate of, one letter.

    Returns
    -------
    Sheet
    """
    P = len(extents)
    fig = Sheet(columns=P, gap=(0.22 / P, 0))
    for p, (title, extent, letter) in enumerate(zip(titles, extents, variables, strict=True), start=1):
        fig.update_xaxes(
            # One title for both axes: beside a panel it would run into the next one where the window is narrow.
            title=f"{letter}₁ →   {letter}₂ ↑",
            range=[-extent, extent],
            constrain="domain",
            zeroline=False,
            showgrid=False,
            fixedrange=True,
            nticks=6,
            col=p,
        )
        # What height a narrow window leaves over goes below the panels.
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
    """The figure of a row of panels, with so many pixels above them."""
    return finish(fig, height, margin=fixed_margin(left=40, top=top))


def _axis(letter: str, panel: int) -> str:
    return letter if panel == 1 else f"{letter}{panel}"


def add_map(fig: Sheet, panel: int, values, extent: float, coloraxis: str, name: str) -> None:
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


def panel_scale(fig: Sheet, panel: int, title: str, scale, low: float, high: float, ticks) -> dict:
    """A colour axis whose bar lies above a panel and carries its title."""
    left, right = fig.domain(panel)
    return {
        "colorscale": scale,
        "cmin": low,
        "cmax": high,
        "colorbar": lying_colorbar(title, ticks, centre=(left + right) / 2, length=0.85 * (right - left)),
    }


def frequency_planes(extent: float, prior, loss, posterior, *, height: int = 420) -> go.Figure:
    """Prior density, alignment loss and pseudo-posterior density over the frequency plane.

    Parameters
    ----------
    extent : float
        Half the side of the square of frequencies.
    prior, loss, posterior : arrays of shape (G, G)
        Each has its own colours: densities from 0, losses from the smallest.
    height : int
        In pixels.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    fig = square_panels([""] * 3, [extent] * 3, ["ω"] * 3)
    lowest, highest = float(np.min(loss)), float(np.max(loss))
    for panel, (values, name, title, scale, low, high) in enumerate(
        (
            (prior, "density", "<b>prior density</b> p(ω)", SEQUENTIAL_SCALE, 0.0, float(np.max(prior))),
            (loss, "loss", "<b>alignment loss</b>", _LOSS_SCALE, lowest, highest),
            (posterior, "density", "<b>posterior density</b>", SEQUENTIAL_SCALE, 0.0, float(np.max(posterior))),
        ),
        start=1,
    ):
        coloraxis = f"coloraxis{panel}"
        add_map(fig, panel, values, extent, coloraxis, name)
        bar = panel_scale(fig, panel, title, scale, low, high, [low, (low + high) / 2, high])
        bar["colorbar"]["tickformat"] = ".2g"
        fig.update_layout(**{coloraxis: bar})
    return finish_panels(fig, height, top=78)


def weighted_candidates(
    X, y, data_extent: float, omega, weights: dict, titles: dict, frequency_extent: float, *, height: int = 370
) -> go.Figure:
    """The data, and the candidates in the frequency plane by their weights, one panel a method.

    Parameters
    ----------
    X, y : arrays of shapes (n, 2) and (n,)
        Labels -1 and 1.
    data_extent, frequency_extent : float
        Half the sides of the squares shown.
    omega : array of shape (N, 2)
    weights : dict of arrays of shape (N,)
        By method; in each panel the area of a dot is proportional to its weight.
    titles : dict of strings
        By method.
    height : int
        In pixels.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    methods = list(weights)
    P = 1 + len(methods)
    fig = square_panels(
        ["<b>data</b><br> <br> ", *(titles[m] for m in methods)],
        [data_extent, *[frequency_extent] * (P - 1)],
        ["x", *["ω"] * (P - 1)],
    )
    for label, colour in CLASS_COLOURS.items():
        own = np.asarray(X)[np.asarray(y) == label].astype(np.float32)
        fig.add_scatter(
            x=own[:, 0],
            y=own[:, 1],
            mode="markers",
            marker={
                "size": 5,
                "color": colour,
                "symbol": CLASS_SYMBOLS[label],
                "line": {"width": 0.5, "color": "white"},
            },
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=1,
        )
    for panel, method in enumerate(methods, start=2):
        _add_weighted_dots(fig, panel, omega, weights[method], METHOD_COLOURS[method], frequency_extent)
    return finish_panels(fig, height, top=72)


# Diameters in pixels: of a dot with the prior's weight, unless the largest would then be above the other.
_PRIOR_DOT, _LARGEST_DOT = 3.0, 26.0
#: Of candidates below five times the prior's weight the first so many are drawn, a fair sample: a browser draws
#: hundreds of dots much faster than thousands.
MOST_LIGHT_DOTS = 1000


def _add_weighted_dots(fig, panel, omega, Q, colour, extent) -> None:
    omega, Q = np.asarray(omega), np.asarray(Q)
    ratio = Q * len(Q)
    root = np.sqrt(ratio)
    size = root * min(_PRIOR_DOT, _LARGEST_DOT / root.max())
    shown = (np.abs(omega).max(axis=1) <= extent) & ((np.arange(len(Q)) < MOST_LIGHT_DOTS) | (ratio > 5))
    seen = size >= 1
    for chosen, opacity, sizes in (
        (shown & ~seen, 0.25, 1.5),
        (shown & seen, 0.65, size[shown & seen].astype(np.float32)),
    ):
        fig.add_scatter(
            x=omega[chosen, 0].astype(np.float32),
            y=omega[chosen, 1].astype(np.float32),
            mode="markers",
            marker={
                "size": sizes,
                "color": colour if opacity > 0.5 else "#8C8C8C",
                "opacity": opacity,
                "line": {"width": 0},
            },
            customdata=ratio[chosen].astype(np.float32),
            hovertemplate="ω = (%{x:.2f}, %{y:.2f})<br>%{customdata:.3g} times the prior's weight<extra></extra>",
            showlegend=False,
            row=1,
            col=panel,
        )


def sorted_weights(weights: dict, *, height: int = 370) -> go.Figure:
    """Weights of the candidates from largest to smallest, as multiples of the prior's, on logarithmic axes.

    Parameters
    ----------
    weights : dict of arrays of shape (N,)
        By method, "rff" among them for the prior.
    height : int
        In pixels.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    fig = Sheet()
    lowest = 1e-4
    for method, Q in weights.items():
        ratio = np.sort(np.asarray(Q))[::-1] * len(Q)
        ranks = np.unique(np.round(np.geomspace(1, len(ratio), 300)).astype(int))
        shown = np.where(ratio[ranks - 1] >= lowest, ratio[ranks - 1], np.nan)
        fig.add_scatter(
            x=ranks,
            y=shown.astype(np.float32),
            mode="lines+markers" if np.isfinite(shown).sum() == 1 else "lines",
            line={"color": METHOD_COLOURS[method], "width": 2.5, "dash": METHOD_DASHES[method]},
            name=METHOD_NAMES[method],
            hovertemplate="rank %{x}: %{y:.3g} times the prior's weight<extra></extra>",
        )
    N = max(len(Q) for Q in weights.values())
    fig.update_xaxes(type="log", title="candidates, largest weight first", range=[-0.03, np.log10(N)], dtick=1)
    fig.update_yaxes(
        type="log", title="weight Q·N", range=[np.log10(lowest), np.log10(N) + 0.1], dtick=1, exponentformat="power"
    )
    return finish(fig, height, margin=fixed_margin(top=84))
