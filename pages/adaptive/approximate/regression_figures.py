"""Figures of kernel ridge regression beside ridge regression on features: fits, errors and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    METHOD_SYMBOLS,
    add_band,
    add_curve,
    finish,
    fixed_margin,
    log_axis,
)

if TYPE_CHECKING:
    from pages.adaptive.approximate.toy_regression import LearningErrors, LearningSeconds, LineFit

#: Names of the methods here: each is a regression.
NAMES = {
    "kernel_ridge": METHOD_NAMES["kernel_ridge"],
    "monte_carlo": "Ridge, random",
    "nystroem": "Ridge, Nyström",
}
_GREY = "#8C8C8C"


def fits_on_a_line(fit: LineFit) -> go.Figure:
    """Kernel ridge regression as a sum of kernels at the training points, and regressions on features."""
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
    """Test error of a "regression" or "classification" against the number of frequencies or landmarks."""
    fig, factor = Sheet(), 100 if task == "classification" else 1
    for name, of_method in learned.errors.items():
        of_method = factor * _for_every_r(of_method, learned)
        add_band(fig, learned.r_values, of_method.min(axis=1), of_method.max(axis=1), METHOD_COLOURS[name])
        _add_line(fig, learned.r_values, of_method.mean(axis=1), name, "r = %{x}: %{y:.3g}")
    unit = "% of rows wrong" if task == "classification" else "RMSE / sd of the target"
    fig.update_yaxes(title=f"test error, {unit}")
    return _against_r(fig, learned.r_values, chosen)


def seconds_against_r(learned: LearningErrors, chosen: int) -> go.Figure:
    """Time to fit against the number of frequencies or landmarks."""
    fig = Sheet()
    for name, seconds in learned.seconds.items():
        _add_line(fig, learned.r_values, 1e3 * _for_every_r(seconds, learned), name, "r = %{x}: %{y:.3g} ms")
    fig.update_yaxes(type="log", title="milliseconds to fit", dtick=1)
    return _against_r(fig, learned.r_values, chosen)


def _for_every_r(values, learned):
    """Values of a method by r; kernel ridge regression has one for all."""
    return np.repeat(values, len(learned.r_values), axis=0) if len(values) == 1 else values


def _against_r(fig, r_values, chosen: int) -> go.Figure:
    fig.add_vline(x=chosen, name="r", line={"color": _GREY, "width": 1, "dash": "dot"})
    fig.update_xaxes(title="frequencies or landmarks r", **log_axis(r_values))
    return finish(fig, 380, margin=fixed_margin(top=64))


def seconds_and_promises(measured: LearningSeconds) -> go.Figure:
    """Time to fit against the number of training points, and the growth that counting operations promises."""
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
