"""Figures of approximated kernels: errors of all methods, and two methods side by side in the plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from .panels import add_dots, add_map, finish_panels, square_panels
from .sheet import Sheet
from .style import (
    FEATURE_MAP_COLOURS,
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    SEQUENTIAL_SCALE,
    add_curve,
    add_means,
    add_note,
    finish,
    fixed_margin,
    log_axis,
)

if TYPE_CHECKING:
    from ..experiments.toy.approximation import MethodView, VarianceCurves

_ERROR_TICKS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
#: Upper end of the colours of all error maps.
ERROR_LIMIT = 0.3
# Diameters in pixels: of a frequency of weight 1/r, or less to keep the largest below the limit.
_EVEN_DOT, _LARGEST_DOT = 7.0, 24.0
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


def two_sets_of_frequencies(
    methods: tuple[str, str],
    views: tuple[MethodView | None, MethodView | None],
    frequency_extent: float,
    data_extent: float,
) -> go.Figure:
    """Frequencies of two methods in the plane side by side, or landmarks of a method without frequencies.

    A view is None for a method that does not support the kernel, which its panel states.
    """
    waves = [view is None or view.frequencies is not None for view in views]
    fig = square_panels(
        [_heading(method, view, frequency_extent) for method, view in zip(methods, views, strict=True)],
        [frequency_extent if wave else data_extent for wave in waves],
        ["ω" if wave else "x" for wave in waves],
    )
    for panel, (method, view) in enumerate(zip(methods, views, strict=True), start=1):
        if view is None:
            _add_misfit(fig, panel)
        elif view.frequencies is None:
            marker = {"size": _EVEN_DOT + 1, "color": METHOD_COLOURS[method], "symbol": "star"}
            add_dots(fig, panel, view.landmarks, marker, "landmark at (%{x:.2f}, %{y:.2f})")
        else:
            _add_frequencies(fig, panel, view.frequencies, view.weights, METHOD_COLOURS[method], frequency_extent)
    return finish_panels(fig, 350, top=78)


def error_text(error: float) -> str:
    """A relative error with three decimals, or as a power of ten if they are all 0."""
    return f"{error:.3f}" if error >= 0.0005 else f"{error:.0e}"


def _heading(method: str, view, extent: float) -> str:
    if view is None:
        return f"<b>{METHOD_NAMES[method]}</b><br> "
    if view.frequencies is None:
        kind = f"{len(view.landmarks)} landmarks"
    else:
        used = view.frequencies[view.weights > 0]
        outside = int((np.abs(used).max(axis=1) > extent).sum())
        kind = f"{len(used)} frequencies" + (f", {outside} beyond the axes" if outside else "")
    return f"<b>{METHOD_NAMES[method]}</b>: error {error_text(view.error)}<br>{kind}"


def _add_misfit(fig, panel) -> None:
    """Add a note in place of a method that does not support the kernel."""
    name = "" if panel == 1 else str(panel)
    # Plotly does not paint a panel without a trace, and would place the note in the other panel.
    fig.add_scatter(x=[0], y=[0], mode="markers", opacity=0, hoverinfo="skip", showlegend=False, row=1, col=panel)
    add_note(fig, 0.5, 0.5, "does not fit<br>this kernel", xref=f"x{name} domain", yref=f"y{name} domain")


def _add_frequencies(fig, panel, omega, weights, colour, extent) -> None:
    shown = (np.abs(omega).max(axis=1) <= extent) & (weights > 0)
    root = np.sqrt(weights * len(weights))
    size = root * min(_EVEN_DOT, _LARGEST_DOT / root.max())
    sizes = np.maximum(size[shown], 1.5).astype(np.float32)
    marker = {"size": sizes, "color": colour, "opacity": 0.75, "line": {"width": 0}}
    hover = "ω = (%{x:.2f}, %{y:.2f})<br>weight %{customdata:.3g} / r"
    share = (weights * len(weights))[shown].astype(np.float32)
    add_dots(fig, panel, omega[shown], marker, hover, customdata=share)


def error_maps(
    methods: tuple[str, str], views: tuple[MethodView | None, MethodView | None], points: ArrayLike, extent: float
) -> go.Figure:
    """Errors of two methods for the kernel between the centre and every point of a plane, in the same colours.

    Views are as for `two_sets_of_frequencies`; points (n, 2) are rows of the data, relative to the centre.
    """
    titles = ["" if view else f"<b>{METHOD_NAMES[method]}</b>" for method, view in zip(methods, views, strict=True)]
    fig = square_panels(titles, [extent] * 2, ["x"] * 2)
    for panel, (method, view) in enumerate(zip(methods, views, strict=True), start=1):
        if view is None:
            _add_misfit(fig, panel)
            continue
        title = f"<b>{METHOD_NAMES[method]}</b>: |k̃ − k|"
        texts = ["0", f"{ERROR_LIMIT / 2:g}", f"≥ {ERROR_LIMIT:g}"]
        look = {"title": title, "scale": SEQUENTIAL_SCALE, "limits": (0, ERROR_LIMIT), "ticktext": texts}
        add_map(fig, panel, view.error_map, extent, "error", **look)
        add_dots(fig, panel, points, {"size": 3, "color": "white", "opacity": 0.45})
        star = {"size": 13, "color": "white", "symbol": "star", "line": {"width": 1, "color": "black"}}
        add_dots(fig, panel, np.zeros((1, 2)), star)
    return finish_panels(fig, 350, top=78)


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
