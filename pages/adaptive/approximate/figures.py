"""Figures of approximated kernels: errors of all methods, variances, and regressions beside kernel ridge regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine._typing import ArrayLike
from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    FEATURE_MAP_COLOURS,
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    METHOD_SYMBOLS,
    add_band,
    add_curve,
    add_means,
    finish,
    fixed_margin,
    log_axis,
)

if TYPE_CHECKING:
    from pages.adaptive.approximate.compute import LearningErrors, LearningSeconds, LineFit, VarianceCurves

_ERROR_TICKS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
#: Names of the regressions.
NAMES = {
    "kernel_ridge": METHOD_NAMES["kernel_ridge"],
    "monte_carlo": "Ridge, random",
    "nystroem": "Ridge, Nyström",
}
_GREY = "#8C8C8C"
# Legend entries per row in a narrow window, and the height of a row in pixels.
_ENTRIES_A_ROW, _ROW = 3, 20


def errors_against_frequencies(
    r_values: Mapping[str, Sequence[int]], errors: Mapping[str, ArrayLike], chosen: int
) -> go.Figure:
    """Plot the relative error of the kernel matrix against the number of frequencies, on logarithmic axes.

    Numbers and `errors` (R, n_draws) are by method. Lines are means over draws, bands from the smallest to the largest.
    """
    fig = Sheet()
    fig.add_vline(x=chosen, name="r", line={"color": _GREY, "width": 1, "dash": "dot"})
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


def variances(curves: VarianceCurves) -> go.Figure:
    """Plot the variance of both feature maps' kernel estimates against the distance, by formula and by simulation."""
    fig = Sheet()
    distances = curves.distances.astype(np.float32)
    line = {"color": _GREY, "width": 3}
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


def fits_on_a_line(fit: LineFit) -> go.Figure:
    """Plot kernel ridge regression as a sum of kernels at the training points, and regressions on features."""
    fig = Sheet()
    grid = fit.grid.astype(np.float32)
    # One trace for all terms, with gaps between them.
    gaps = np.full((len(fit.terms), 1), np.nan)
    x = np.tile(np.append(grid, np.nan), len(fit.terms))
    y = np.hstack([fit.terms, gaps]).ravel().astype(np.float32)
    add_curve(fig, x, y, "terms", {"color": METHOD_COLOURS["kernel_ridge"], "width": 0.7}, opacity=0.55)
    for name, values in fit.fits.items():
        line = {"color": METHOD_COLOURS[name], "width": 3, "dash": METHOD_DASHES[name]}
        add_curve(fig, grid, values.astype(np.float32), NAMES[name], line, "f(%{x:.2f}) = %{y:.2f}")
    fig.add_scatter(
        x=fit.x.astype(np.float32),
        y=fit.y.astype(np.float32),
        mode="markers",
        marker={"color": _GREY, "size": 6},
        name="points",
        hovertemplate="(%{x:.2f}, %{y:.2f})<extra></extra>",
    )
    low = fit.y.min()
    high = fit.y.max()
    fig.update_xaxes(title="x", range=[fit.grid[0], fit.grid[-1]])
    fig.update_yaxes(title="f(x)", range=[low - 0.6 * (high - low), high + 0.6 * (high - low)])
    return finish(fig, 400, margin=fixed_margin(top=84))


def errors_against_r(learned: LearningErrors, task: str, chosen: int) -> go.Figure:
    """Plot the test error of a "regression" or "classification" against the number of frequencies or landmarks."""
    fig, factor = Sheet(), 100 if task == "classification" else 1
    for name, of_method in learned.errors.items():
        of_method = factor * _for_every_r(of_method, learned)
        add_band(fig, learned.r_values, of_method.min(axis=1), of_method.max(axis=1), METHOD_COLOURS[name])
        _add_line(fig, learned.r_values, of_method.mean(axis=1), name, "r = %{x}: %{y:.3g}")
    unit = "% of rows wrong" if task == "classification" else "RMSE / sd of the target"
    fig.update_yaxes(title=f"test error, {unit}")
    return _against_r(fig, learned.r_values, chosen)


def seconds_against_r(learned: LearningErrors, chosen: int) -> go.Figure:
    """Plot the time to fit against the number of frequencies or landmarks."""
    fig = Sheet()
    for name, seconds in learned.seconds.items():
        _add_line(fig, learned.r_values, 1e3 * _for_every_r(seconds, learned), name, "r = %{x}: %{y:.3g} ms")
    fig.update_yaxes(type="log", title="milliseconds to fit", dtick=1)
    return _against_r(fig, learned.r_values, chosen)


def _for_every_r(values, learned):
    """Return a method's values by r; repeat the one value of kernel ridge regression."""
    return np.repeat(values, len(learned.r_values), axis=0) if len(values) == 1 else values


def _against_r(fig, r_values, chosen: int) -> go.Figure:
    fig.add_vline(x=chosen, name="r", line={"color": _GREY, "width": 1, "dash": "dot"})
    fig.update_xaxes(title="frequencies or landmarks r", **log_axis(r_values))
    return finish(fig, 380, margin=fixed_margin(top=64))


def seconds_and_promises(measured: LearningSeconds) -> go.Figure:
    """Plot the time to fit against the number of training points, and the growth that operation counts promise."""
    fig = Sheet()
    n = np.array(measured.n_values)
    for name, seconds in measured.seconds.items():
        _add_line(fig, n, 1e3 * seconds, name, "n = %{x}: %{y:.3g} ms")
        power = 3 if name == "kernel_ridge" else 1
        promised = 1e3 * seconds[-1] * (n / n[-1]) ** power
        line = {"color": METHOD_COLOURS[name], "width": 1, "dash": "dot"}
        add_curve(fig, n, promised, "∝ n³" if power == 3 else "∝ n", line, showlegend=name != "nystroem")
    fig.update_xaxes(title="training points n", **log_axis(n))
    fig.update_yaxes(type="log", title="milliseconds to fit", dtick=1)
    return finish(fig, 380, margin=fixed_margin(top=84))


def _add_line(fig, x, y, name: str, hover: str) -> None:
    line = {"color": METHOD_COLOURS[name], "width": 2, "dash": METHOD_DASHES[name]}
    look = {"mode": "lines+markers", "marker": {"symbol": METHOD_SYMBOLS[name], "size": 7}}
    add_curve(fig, np.asarray(x), np.asarray(y, dtype=np.float32), NAMES[name], line, hover, **look)
