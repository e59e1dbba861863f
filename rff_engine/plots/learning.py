"""Figures of learning a kernel: losses and weights of frequencies, learned kernels, and their test errors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from .style import (
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    METHOD_SYMBOLS,
    add_band,
    add_curve,
    add_rule,
    finish,
    fixed_margin,
    log_axis,
    new_figure,
)


def sorted_weights(weights: Mapping[str, ArrayLike], *, height: int = 370) -> go.Figure:
    """Plot weights (N,) of the candidates, largest first, as multiples of the prior's, on logarithmic axes.

    They are by method; "rff" is the prior.
    """
    fig = new_figure()
    lowest = 1e-4
    for method, Q in weights.items():
        ratio = np.sort(np.asarray(Q))[::-1] * len(Q)
        ranks = np.unique(np.round(np.geomspace(1, len(ratio), 300)).astype(int))
        shown = np.where(ratio[ranks - 1] >= lowest, ratio[ranks - 1], np.nan)
        line = {"color": METHOD_COLOURS[method], "width": 2.5, "dash": METHOD_DASHES[method]}
        hover = "rank %{x}: %{y:.3g} times the prior's weight"
        mode = "lines+markers" if np.isfinite(shown).sum() == 1 else "lines"
        add_curve(fig, ranks, shown.astype(np.float32), METHOD_NAMES[method], line, hover, extra="", mode=mode)
    N = max(len(Q) for Q in weights.values())
    fig.update_xaxes(type="log", title="candidates, largest weight first", range=[-0.03, np.log10(N)], dtick=1)
    fig.update_yaxes(
        type="log", title="weight Q·N", range=[np.log10(lowest), np.log10(N) + 0.1], dtick=1, exponentformat="power"
    )
    return finish(fig, height, margin=fixed_margin(top=84))


def error_curves(
    D_values: ArrayLike,
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    chosen: int,
    *,
    height: int = 430,
    error_name: str = "test error",
) -> go.Figure:
    """Plot test error against the number of frequencies, a line a method, with the interval of its mean.

    Curves are means and half-widths of their intervals, (P,) each. `chosen`, one of the numbers, is marked.
    """
    D_values = np.asarray(D_values)
    fig = new_figure()
    add_rule(fig, x=chosen)
    at = list(D_values).index(chosen)
    for method, (mean, margin) in curves.items():
        colour, symbol = METHOD_COLOURS[method], METHOD_SYMBOLS[method]
        low = np.maximum(mean - margin, 0)
        high = np.minimum(mean + margin, 1)
        add_band(fig, D_values, 100 * low, 100 * high, colour, legendgroup=method)
        fig.add_scatter(
            x=D_values,
            y=100 * mean,
            mode="lines+markers",
            line={"color": colour, "width": 2},
            marker={"symbol": symbol, "size": 7},
            name=f"{METHOD_NAMES[method]}: {_percent(mean[at], margin[at])} at D = {chosen}",
            legendgroup=method,
            customdata=100 * margin,
            hovertemplate="D = %{x}: %{y:.1f} ± %{customdata:.1f} %<extra>" + METHOD_NAMES[method] + "</extra>",
        )
        fig.add_scatter(
            x=[chosen],
            y=[100 * mean[at]],
            mode="markers",
            marker={"symbol": symbol, "size": 13, "color": colour, "line": {"color": "#111111", "width": 1.5}},
            hovertemplate="D = %{x}: %{y:.1f} %<extra>" + METHOD_NAMES[method] + "</extra>",
            legendgroup=method,
            showlegend=False,
        )
    fig.update_xaxes(title="number of frequencies D", **log_axis(D_values))
    fig.update_yaxes(title=f"{error_name} (%)", rangemode="tozero")
    return finish(fig, height, margin=fixed_margin(top=84))


def _percent(mean: float, margin: float) -> str:
    return f"<b>{100 * mean:.1f}</b> ± {100 * margin:.1f} %"
