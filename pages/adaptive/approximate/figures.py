"""Figures of approximated kernels: errors of all methods, and two methods side by side in the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine._typing import ArrayLike
from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    FEATURE_MAP_COLOURS,
    METHOD_DASHES,
    add_curve,
    add_means,
    finish,
    fixed_margin,
    log_axis,
)

if TYPE_CHECKING:
    from pages.adaptive.approximate.toy import VarianceCurves

_ERROR_TICKS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
#: Upper end of the colours of all error maps.
ERROR_LIMIT = 0.3
# Legend entries per row in a narrow window, and the height of a row in pixels.
_ENTRIES_A_ROW, _ROW = 3, 20


def errors_against_frequencies(
    r_values: Mapping[str, Sequence[int]], errors: Mapping[str, ArrayLike], chosen: int
) -> go.Figure:
    """Relative error of the kernel matrix against the number of frequencies, on logarithmic axes.

    Numbers and `errors` (R, n_draws) are by method. Lines are means over draws, bands from the smallest to the largest.
    """
    fig = Sheet()
    fig.add_vline(x=chosen, name="r", line={"color": "#8C8C8C", "width": 1, "dash": "dot"})
    for method, of_method in errors.items():
        r = np.asarray(r_values[method])
        sizes = np.where(r == chosen, 13, 7)
        add_means(fig, r, np.asarray(of_method), method, METHOD_DASHES[method], sizes, "r = %{x}: error %{y:.3g}")
    every_r = sorted({r for values in r_values.values() for r in values})
    fig.update_xaxes(title="number of frequencies r", **log_axis(every_r))
    smallest = min((float(np.min(of_method)) for of_method in errors.values()), default=1)
    ticks = {"tickvals": _ERROR_TICKS} if smallest >= _ERROR_TICKS[0] / 2 else {"dtick": 1, "exponentformat": "power"}
    fig.update_yaxes(type="log", title="error ‖K̃ − K‖ / ‖K‖", **ticks)
    above = 16 + _ROW * -(-len(errors) // _ENTRIES_A_ROW)
    return finish(fig, 400 + above, margin=fixed_margin(top=above))


def error_text(error: float) -> str:
    """A relative error with three decimals, or as a power of ten if they are all 0."""
    return f"{error:.3f}" if error >= 0.0005 else f"{error:.0e}"


def variances(curves: VarianceCurves) -> go.Figure:
    """Variance of the kernel estimates of both feature maps against the distance, by formula and by simulation."""
    fig = Sheet()
    distances = curves.distances.astype(np.float32)
    line = {"color": "#8C8C8C", "width": 3}
    kernel = curves.kernel.astype(np.float32)
    add_curve(fig, distances, kernel, "kernel k(δ)", line, "k(%{x:.2f}) = %{y:.3f}", extra="")
    for key, name, symbol in (("random_phase", "random phase", "square"), ("cos_sin", "cos/sin", "circle")):
        colour = FEATURE_MAP_COLOURS[key]
        hover = "δ = %{x:.2f}: %{y:.3f}"
        line = {"color": colour, "width": 2, "dash": "dash"}
        add_curve(fig, distances, curves.expected[key].astype(np.float32), f"{name}, formula", line, hover, extra=name)
        fig.add_scatter(
            x=distances,
            y=curves.simulated[key].astype(np.float32),
            mode="markers",
            marker={"color": colour, "size": 7, "symbol": symbol},
            name=f"{name}, simulation",
            hovertemplate=f"{hover}<extra>{name}</extra>",
        )
    fig.update_xaxes(title="distance δ between two points", rangemode="tozero")
    fig.update_yaxes(title="variance × features", rangemode="tozero")
    return finish(fig, 360, margin=fixed_margin(top=16 + 2 * _ROW + 6))
