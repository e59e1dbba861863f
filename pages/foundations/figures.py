"""Figures of what lies beneath: lifted circles, losses and risks, two feature maps, regressions, and spectra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine.losses import LOSSES
from rff_engine.plots.style import (
    FEATURE_MAP_COLOURS,
    LANDMARK_COLOURS,
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    METHOD_SYMBOLS,
    add_band,
    add_curve,
    add_note,
    add_rule,
    finish,
    fixed_margin,
    log_axis,
    new_figure,
)

if TYPE_CHECKING:
    from pages.foundations.compute import Lift, LineClassifiers, LineFit, VarianceCurves

#: Names of the losses of a classification.
LOSS_NAMES = {"zero_one": "0-1", "hinge": "hinge", "squared_hinge": "squared hinge", "logistic": "logistic"}
_LOSS_LINES = {
    "zero_one": {"color": LANDMARK_COLOURS[6], "width": 4},
    "hinge": {"color": LANDMARK_COLOURS[0], "width": 2.5},
    "squared_hinge": {"color": LANDMARK_COLOURS[1], "width": 2.5, "dash": "dash"},
    "logistic": {"color": LANDMARK_COLOURS[7], "width": 2.5, "dash": "dashdot"},
}
#: Names of the regressions.
NAMES = {"kernel_ridge": METHOD_NAMES["kernel_ridge"], "monte_carlo": "Ridge, random", "nystroem": "Ridge, Nyström"}
_GREY = "#8C8C8C"
_HINGE, _LOGISTIC = (_LOSS_LINES[name]["color"] for name in ("hinge", "logistic"))
_COS_SIN = FEATURE_MAP_COLOURS["cos_sin"]
#: Dashes and symbols of the points of kernel matrices; smaller eigenvalues and errors are rounding.
_POINTS, _LEAST = {"clusters": ("solid", "circle"), "uniform": ("dot", "square-open")}, 1e-10


def losses_against_margin(lift: Lift) -> go.Figure:
    """Plot losses against the margin y f(x), with the margins of the lifted and the flat points below."""
    fig = new_figure()
    margins = np.linspace(-2, 3, 501)
    for name, label in LOSS_NAMES.items():
        losses = LOSSES[name](margins, np.ones(len(margins))).astype(np.float32)
        add_curve(fig, margins.astype(np.float32), losses, label, _LOSS_LINES[name], "margin %{x:.2f}: %{y:.2f}")
    for row, (key, label) in enumerate((("lifted", "lifted"), ("flat", "in the plane"))):
        colour = LANDMARK_COLOURS[1 if key == "lifted" else 6]
        # One line like a comb: Plotly takes far longer to draw a mark for each point.
        x = np.repeat(np.sort(np.clip(lift.decisions[key] * lift.y, -2, 3)), 3).astype(np.float32)
        y = np.tile(np.array([-0.42, -0.28, -0.42], dtype=np.float32) - 0.4 * row, len(lift.y))
        line = {"width": 1, "color": colour}
        add_curve(fig, x, y, label, line, "margin %{x:.2f}", opacity=0.5, showlegend=False)
        add_note(fig, -2, -0.35 - 0.4 * row, label, xanchor="left", font={"size": 12})
    fig.update_xaxes(title="margin y f(x)", range=[-2, 3.05], zeroline=False)
    fig.update_yaxes(title="loss", range=[-1, 4], tickvals=[0, 1, 2, 3, 4], zeroline=False)
    return finish(fig, 400, margin=fixed_margin(top=52))


def risks_against_n(n_values: Sequence[int], risks: Mapping[str, np.ndarray]) -> go.Figure:
    """Plot risk and empirical risk (P, draws) of planes against the number of points that they are fitted to."""
    fig = new_figure()
    least = risks["limit"].item()
    looks = {
        "risk": (LANDMARK_COLOURS[1], "solid", "circle"),
        "empirical_risk": (LANDMARK_COLOURS[2], "dash", "square"),
    }
    for key, look in looks.items():
        _add_draws(fig, n_values, risks[key], (key.replace("_", " "), *look), "n = %{x}: %{y:.3f}")
    line = {"color": _GREY, "width": 2, "dash": "dot"}
    add_curve(fig, [n_values[0], n_values[-1]], [least] * 2, "least risk", line, "%{y:.3f}")
    fig.update_xaxes(title="training points n", **log_axis(n_values))
    fig.update_yaxes(title="mean squared hinge loss", range=[0, 3 * least])
    return finish(fig, 360, margin=fixed_margin(top=64))


def variances(curves: VarianceCurves) -> go.Figure:
    """Plot the variance of both feature maps' kernel estimates against the distance, by formula and by simulation."""
    fig = new_figure()
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
    return finish(fig, 360, margin=fixed_margin(top=62))


def largest_errors(D_values: Sequence[int], largest: Mapping[str, np.ndarray]) -> go.Figure:
    """Plot the largest errors of several draws against D, with two rates and the bound."""
    fig = new_figure()
    D = np.array(D_values)
    _add_draws(fig, D, largest["error"], ("mean, all draws", _COS_SIN, "solid", "circle"), "D = %{x}: %{y:.3g}")
    last = largest["error"][-1].mean()
    for name, rate, dash in (("∝ 1/√D", 1 / np.sqrt(D), "dot"), ("∝ √(ln D/D)", np.sqrt(np.log(D) / D), "dashdot")):
        add_curve(fig, D, last * rate / rate[-1], name, {"color": _GREY, "width": 2, "dash": dash})
    if np.isfinite(largest["bound"]).all():
        line = {"color": LANDMARK_COLOURS[7], "width": 2.5, "dash": "dash"}
        add_curve(fig, D, largest["bound"][:, 0], "bound", line, "D = %{x}: at most %{y:.3g}")
    fig.update_xaxes(title="frequencies D", **log_axis(D))
    fig.update_yaxes(type="log", title="largest error", dtick=1)
    return finish(fig, 360, margin=fixed_margin(top=64))


def fits_on_a_line(fit: LineFit) -> go.Figure:
    """Plot kernel ridge regression as a sum of kernels at the training points, and regressions on features."""
    fig = new_figure()
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
    low, high = fit.y.min(), fit.y.max()
    fig.update_xaxes(title="x", range=[fit.grid[0], fit.grid[-1]])
    fig.update_yaxes(title="f(x)", range=[low - 0.6 * (high - low), high + 0.6 * (high - low)])
    return finish(fig, 400, margin=fixed_margin(top=84))


def classifiers_on_a_line(fit: LineClassifiers) -> go.Figure:
    """Plot decision functions of two losses over the points' classes, and below them the weights of the points."""
    fig = new_figure(2, 1, heights=[3, 2], gap=(0.1, 0.06))
    for loss, colour, symbol in (("logistic", _LOGISTIC, "diamond-open"), ("hinge", _HINGE, "circle")):
        line = {"color": colour, "width": 2.5, "dash": "solid" if loss == "hinge" else "dashdot"}
        add_curve(fig, fit.grid, fit.fits[loss], loss, line, "f(%{x:.2f}) = %{y:.2f}", row=1, col=1)
        weights, look = np.abs(fit.alpha[loss]), {"color": colour, "size": 7, "symbol": symbol}
        hover = "x = %{x:.2f}: |α| = %{y:.3g}"
        add_curve(fig, fit.x, weights, loss, {}, hover, mode="markers", marker=look, showlegend=False, row=2, col=1)
    support = fit.alpha["hinge"] != 0
    for some, name, marker in ((~support, "points", "circle"), (support, "support vectors", "circle-cross-open")):
        look = {"color": _GREY, "size": 7, "symbol": marker}
        add_curve(
            fig, fit.x[some], fit.y[some], name, {}, "(%{x:.2f}, %{y})", mode="markers", marker=look, row=1, col=1
        )
    fig.update_xaxes(range=[fit.grid[0], fit.grid[-1]])
    fig.update_xaxes(row=1, showticklabels=False)
    fig.update_xaxes(row=2, title="x")
    fig.update_yaxes(row=1, title="f(x)")
    fig.update_yaxes(row=2, title="weight |α|", rangemode="tozero")
    return finish(fig, 400, margin=fixed_margin(top=84))


def errors_against_D(D_values: Sequence[int], errors: Mapping[str, np.ndarray], chosen: int) -> go.Figure:
    """Plot test errors (P, draws) of regressions against the number of frequencies or landmarks."""
    fig = new_figure()
    for name, of_method in errors.items():
        drawn = np.broadcast_to(of_method, (len(D_values), of_method.shape[1]))  # kernel ridge regression has one error
        _add_draws(fig, D_values, drawn, _look(name), "D = %{x}: %{y:.3g}")
    add_rule(fig, x=chosen, name="D")
    fig.update_xaxes(title="frequencies or landmarks D", **log_axis(D_values))
    fig.update_yaxes(title="test error (RMSE)")
    return finish(fig, 380, margin=fixed_margin(top=64))


def seconds_and_promises(n_values: Sequence[int], measured: Mapping[str, np.ndarray]) -> go.Figure:
    """Plot the time to fit against the number of training points, and the growth that operation counts promise."""
    fig = new_figure()
    n = np.array(n_values)
    for name, seconds in measured.items():
        _add_draws(fig, n, 1e3 * seconds[:, None], _look(name), "n = %{x}: %{y:.3g} ms")
        power = 3 if name == "kernel_ridge" else 1
        promised = 1e3 * seconds[-1] * (n / n[-1]) ** power
        line = {"color": METHOD_COLOURS[name], "width": 1, "dash": "dot"}
        add_curve(fig, n, promised, "∝ n³" if power == 3 else "∝ n", line, showlegend=name != "nystroem")
    fig.update_xaxes(title="training points n", **log_axis(n))
    fig.update_yaxes(type="log", title="milliseconds to fit", dtick=1)
    return finish(fig, 380, margin=fixed_margin(top=84))


def eigenvalues(values: Mapping[str, np.ndarray], shown: int) -> go.Figure:
    """Plot the largest eigenvalues of kernel matrices in falling order."""
    fig = new_figure()
    for name, (dash, symbol) in _POINTS.items():
        look = {"mode": "lines+markers", "marker": {"size": 6, "symbol": symbol}}
        largest = values[name][:shown].clip(min=_LEAST)
        line = {"color": _GREY, "width": 1.5, "dash": dash}
        add_curve(fig, np.arange(1, shown + 1), largest, name, line, "number %{x}: %{y:.3g}", **look)
    fig.update_xaxes(title="number of the eigenvalue")
    fig.update_yaxes(type="log", title="eigenvalue / n", dtick=2, exponentformat="power")
    return finish(fig, 400, margin=fixed_margin(top=64))


def matrix_errors(D_values: Sequence[int], errors: Mapping[str, Mapping[str, np.ndarray]]) -> go.Figure:
    """Plot relative errors (P, draws) of kernel matrices by method against the number of frequencies or landmarks."""
    fig = new_figure()
    for name, (dash, symbol) in _POINTS.items():
        for method, drawn in errors[name].items():
            look = f"{NAMES[method].removeprefix('Ridge, ')}, {name}", METHOD_COLOURS[method], dash, symbol
            _add_draws(fig, D_values, drawn.clip(min=_LEAST), look, "D = %{x}: %{y:.3g}")
    fig.update_xaxes(title="frequencies or landmarks D", **log_axis(D_values))
    fig.update_yaxes(type="log", title="relative error of the kernel matrix", dtick=2, exponentformat="power")
    return finish(fig, 400, margin=fixed_margin(top=84))


def _look(method: str) -> tuple[str, str, str, str]:
    """Return label, colour, dash and symbol of a regression."""
    return NAMES[method], METHOD_COLOURS[method], METHOD_DASHES[method], METHOD_SYMBOLS[method]


def _add_draws(fig, x, draws: np.ndarray, look: tuple[str, str, str, str], hover: str) -> None:
    """Add means over draws, (P, draws), in a band from smallest to largest."""
    label, colour, dash, symbol = look
    add_band(fig, x, draws.min(axis=1), draws.max(axis=1), colour)
    marks = {"mode": "lines+markers", "marker": {"symbol": symbol, "size": 7}}
    means = draws.mean(axis=1).astype(np.float32)
    add_curve(fig, np.asarray(x), means, label, {"color": colour, "width": 2, "dash": dash}, hover, **marks)
