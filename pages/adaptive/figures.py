"""Figures of adaptive frequencies: weights on a grid, densities, and errors by landmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine._typing import ArrayLike
from rff_engine.plots.panels import add_dots, add_map, finish_panels, square_panel, square_panels
from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    METHOD_COLOURS,
    METHOD_DASHES,
    METHOD_NAMES,
    SEQUENTIAL_SCALE,
    add_curve,
    add_means,
    finish,
    fixed_margin,
    log_axis,
)

if TYPE_CHECKING:
    from pages.adaptive.compute import GridWeights, ImportancePlane, LossGaps

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
    fig = Sheet(columns=2, widths=(0.6, 0.4), gap=(0.12, 0))
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
    fig = Sheet()
    fig.add_vline(r, line={"color": "#8C8C8C", "width": 1, "dash": "dash"})
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


def loss_gaps(gaps: Mapping[str, LossGaps]) -> go.Figure:
    """Plot the difference of losses on landmarks and on all points against the number of landmarks, and its bounds.

    The `gaps` are by the number of frequencies r. One panel has landmarks drawn with replacement, the other centroids.
    """
    fig = Sheet(columns=2, gap=(0.1, 0))
    kinds = (("", "largest", 2.4, 0), ("_fitted", "fitted", 1.2, 1), ("_bound", "Proposition", 2.4, 2))
    for column, (start, bound, method) in enumerate(
        (("sampled", "sample", "sample"), ("clustered", "cluster", "cluster")), start=1
    ):
        for (r, gap), dash in zip(gaps.items(), ("solid", "dash", "dot"), strict=False):
            for end, what, width, k in kinds:
                name = f"{what} {column}, r = {r}" if k == 2 else f"{METHOD_NAMES[method]}, {what}, r = {r}"
                y = getattr(gap, (bound if k == 2 else start) + end).mean(axis=1).astype(np.float32)
                line = {
                    "color": DESCENT_COLOURS["drawn"] if k == 2 else METHOD_COLOURS[method],
                    "width": width,
                    "dash": dash,
                }
                add_curve(
                    fig,
                    np.asarray(gap.counts),
                    y,
                    name,
                    line,
                    "%{x} landmarks: %{y:.3g}",
                    row=1,
                    col=column,
                    mode="lines+markers",
                    marker={"symbol": ("circle", "circle-open", "square")[k]},
                )
    counts = next(iter(gaps.values())).counts
    fig.update_xaxes(title="number of landmarks n", fixedrange=True, **log_axis(counts))
    # Smaller differences of fitted frequencies would make the panels too coarse.
    fig.update_yaxes(type="log", range=[-6, 3], dtick=1, exponentformat="power", fixedrange=True)
    fig.update_yaxes(title="difference of the losses", col=1)
    return finish(fig, 460, margin=fixed_margin(left=70, top=110))
