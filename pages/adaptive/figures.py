"""Figures of adaptive frequencies: weights on a grid, densities, errors by landmarks and by frequencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine._typing import ArrayLike
from rff_engine.plots.panels import add_dots, add_map, finish_panels, square_panel, square_panels
from rff_engine.plots.style import (
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    SEQUENTIAL_SCALE,
    add_curve,
    add_means,
    add_rule,
    finish,
    fixed_margin,
    log_axis,
    new_figure,
)

if TYPE_CHECKING:
    from pages.adaptive.compute import GridWeights, ImportancePlane

_POINT, _LANDMARK = "#8C8C8C", "#E69F00"
#: Colours of a descent: landmarks, start and trail of a frequency, errors over all points, at landmarks, at the start.
DESCENT_COLOURS = {
    "chosen": _LANDMARK,
    "start": "#8C8C8C",
    "trail": "#7A5CD6",
    "all": METHOD_COLOURS["sample"],
    "landmarks": METHOD_COLOURS["weight"],
    "drawn": METHOD_COLOURS["monte_carlo"],
}
DESCENT_DASHES = {"all": "solid", "landmarks": "dash", "drawn": "dot"}
_CURVE_TICKS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_GREY = "#8C8C8C"
# Legend entries per row in a narrow window, and the height of a row in pixels.
_ENTRIES_A_ROW, _ROW = 3, 20
_ERROR_TICKS = tuple(float(f"{lead}e{power}") for power in range(-6, 1) for lead in (1, 3))
_ERROR_TEXTS = tuple(f"{tick:g}" for tick in _ERROR_TICKS)


def inputs_and_grid(
    X: ArrayLike, landmarks: ArrayLike, data_extent: float, grid: GridWeights, frequency_extent: float
) -> go.Figure:
    """Draw points (n, 2) with landmarks, and the prior's and the fitted weights on a grid of frequencies."""
    fig = square_panels(
        [
            f"<b>points</b>, {len(X)}<br><span style='color:{_LANDMARK}'>●</span> {len(landmarks)} landmarks<br> ",
            "",
            "",
        ],
        [data_extent, frequency_extent, frequency_extent],
        ["x", "ω", "ω"],
    )
    for points, marker in (
        (X, {"size": 4, "color": _POINT, "opacity": 0.7}),
        (landmarks, {"size": 7, "color": _LANDMARK, "line": {"width": 0.8, "color": "#333333"}}),
    ):
        add_dots(fig, 1, points, marker)
    for panel, (values, title) in enumerate(((grid.prior, "by the prior"), (grid.weights, "by the points")), start=2):
        look = {"title": f"<b>weights {title}</b>", "scale": SEQUENTIAL_SCALE, "limits": (0.0, float(np.max(values)))}
        add_map(fig, panel, values, frequency_extent, "weight", **look, tickformat=".2g")
    return finish_panels(fig, 400, top=78)


def importance_densities(plane: ImportancePlane, frequency_extent: float) -> go.Figure:
    """Plot prior and importance densities on the line through 0, and the ratio of the best one to the prior.

    The plane has an odd number of cells, so that the frequency 0 is in the middle.
    """
    fig = new_figure(columns=2, widths=(0.6, 0.4), gap=(0.12, 0))
    middle = len(plane.grid) // 2
    for values, name, colour, dash in (
        (plane.prior, "prior", METHOD_COLOURS["monte_carlo"], "dot"),
        (plane.claim, "Claim 1", "#8C8C8C", "dash"),
        (plane.data, "best", METHOD_COLOURS["sample"], "solid"),
    ):
        line = {"color": colour, "width": 2.4, "dash": dash}
        x = plane.grid.astype(np.float32)
        y = values[middle].astype(np.float32)
        add_curve(fig, x, y, name, line, "ω = (%{x:.2f}, 0): %{y:.3g}", row=1, col=1)
    look = {"title": "<b>best density / prior</b>", "scale": "PuOr_r", "limits": (0.5, 1.5)}
    add_map(fig, 2, plane.data / plane.prior, frequency_extent, "ratio", **look)
    fig.update_xaxes(title="ω₁, at ω₂ = 0", range=[-frequency_extent, frequency_extent], fixedrange=True, col=1)
    fig.update_yaxes(title="density", rangemode="tozero", fixedrange=True, col=1)
    square_panel(fig, 2, frequency_extent, "ω")
    return finish(fig, 400, margin=fixed_margin(top=78))


def landmark_errors(
    counts: ArrayLike, errors: Mapping[str, ArrayLike], r: int, drawn_error: float, chosen: int
) -> go.Figure:
    """Plot the error over all points against the number of landmarks: means over draws, bands from best to worst.

    The `errors` (P, draws) are by landmark selection; `drawn_error` belongs to the `r` frequencies of the prior.
    """
    counts = np.asarray(counts)
    fig = new_figure()
    add_rule(fig, x=r, line={"color": "#8C8C8C", "width": 1, "dash": "dash"})
    fig.add_annotation(
        x=float(np.log10(r)), y=0, yref="y domain", text=" n = r", showarrow=False, xanchor="left", yanchor="bottom"
    )
    name = f"{METHOD_NAMES['monte_carlo']}: {drawn_error:.3g}"
    line = {"color": METHOD_COLOURS["monte_carlo"], "width": 2, "dash": METHOD_DASHES["monte_carlo"]}
    add_curve(fig, counts[[0, -1]], [drawn_error] * 2, name, line, "as drawn: error %{y:.3g}", extra="")
    for method, of_method in errors.items():
        dash = {"cluster": "dash"}.get(method, "solid")
        sizes = np.where(counts == chosen, 14, 8)
        add_means(fig, counts, of_method, method, dash, sizes, "%{x} landmarks: error %{y:.3g}")
    fig.update_xaxes(title="number of landmarks n", **log_axis(counts))
    fig.update_yaxes(type="log", title="error ‖K̃ − K‖ / ‖K‖", tickvals=_ERROR_TICKS, ticktext=_ERROR_TEXTS)
    return finish(fig, 400, margin=fixed_margin(top=62))


def errors_against_frequencies(r_values: Sequence[int], errors: Mapping[str, ArrayLike], chosen: int) -> go.Figure:
    """Plot the relative error of the kernel matrix against the number of frequencies, on logarithmic axes.

    The `errors` (R, n_draws) are by method. Lines are means over draws, bands from the smallest to the largest.
    """
    fig = new_figure()
    add_rule(fig, x=chosen, name="r")
    for method, of_method in errors.items():
        r = np.asarray(r_values)
        sizes = np.where(r == chosen, 13, 7)
        add_means(fig, r, np.asarray(of_method), method, METHOD_DASHES[method], sizes, "r = %{x}: error %{y:.3g}")
    fig.update_xaxes(title="number of frequencies r", **log_axis(r_values))
    smallest = min((float(np.min(of_method)) for of_method in errors.values()), default=1)
    ticks = {"tickvals": _CURVE_TICKS} if smallest >= _CURVE_TICKS[0] / 2 else {"dtick": 1, "exponentformat": "power"}
    fig.update_yaxes(type="log", title="error ‖K̃ − K‖ / ‖K‖", **ticks)
    above = 16 + _ROW * -(-len(errors) // _ENTRIES_A_ROW)
    return finish(fig, 400 + above, margin=fixed_margin(top=above))
