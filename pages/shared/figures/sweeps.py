"""Figures of test error against the size of a representation (Letarte et al. 2019, Figures 2, 3, 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    LANDMARK_COLOURS,
    METHOD_COLOURS,
    METHOD_NAMES,
    METHOD_SYMBOLS,
    add_band,
    add_curve,
    finish,
)

if TYPE_CHECKING:
    import pandas as pd

#: Least number of runs with intervals.
_FEWEST_RUNS = 4
_DASHES = {"random": "dot", "clustering": "solid"}


def error_against_features(means: pd.DataFrame, all_D: Sequence[int], chosen: int | None = None) -> go.Figure:
    """Plot test and training error against the number of frequencies D, and the RBF SVM as a line.

    The means come from `tables.error_by_features`. `all_D` has every D of the protocol, so that the axis is fixed while
    points are added. A line marks the `chosen` D.
    """
    fig = Sheet()
    if chosen is not None:
        fig.add_vline(x=chosen, line={"color": "#8C8C8C", "width": 1, "dash": "dot"})
    for method, curve in means[means["method"] != "svm"].groupby("method", sort=False):
        _add_curve(fig, method, curve["D"].astype(int), curve, "D")
    low = np.log10(min(all_D))
    high = np.log10(max(all_D))
    margin = 0.05 * (high - low or 1)
    fig.update_xaxes(
        type="log", title="number of frequencies D", range=[low - margin, high + margin], tickvals=_round_ticks(all_D)
    )
    return _finish(fig, means)


def error_against_landmarks(means: pd.DataFrame, all_shares: Sequence[float]) -> go.Figure:
    """Plot test and training error against the share of training points that are landmarks, and the RBF SVM.

    The means come from `tables.error_by_share`. `all_shares` has every share of the protocol.
    """
    fig = Sheet()
    for (method, selection), curve in means[means["method"] != "svm"].groupby(["method", "landmarks"], sort=False):
        _add_curve(fig, method, 100 * curve["share"], curve, "landmarks %", selection)
    fig.update_xaxes(title="landmarks, % of the training points", range=[0, 105 * max(all_shares)])
    return _finish(fig, means)


def _add_curve(fig, method, x, curve, unit, selection=None):
    name = METHOD_NAMES[method] + (f", {selection}" if selection else "")
    colour = METHOD_COLOURS[method]
    look = {
        "x": x,
        "line": {"color": colour, "width": 2.5, "dash": "solid" if selection is None else _DASHES[selection]},
        "legendgroup": name,
        "name": name,
    }
    # Intervals of two or three runs would be so wide that they hide the curves.
    test, half_width = 100 * curve["test_error"], 100 * curve["half_width"].where(curve["runs"] >= _FEWEST_RUNS)
    if selection is not None:  # few points and crossing curves: bars are clearer than bands
        look["error_y"] = {"array": half_width.fillna(0), "thickness": 1.2, "width": 4}
    elif half_width.notna().any():
        half_width = half_width.fillna(0)
        add_band(fig, x, (test - half_width).clip(lower=0), test + half_width, colour, legendgroup=name)
    fig.add_scatter(
        y=test,
        mode="lines+markers",
        marker={"size": 8, "symbol": METHOD_SYMBOLS[method], "line": {"width": 1, "color": "white"}},
        customdata=half_width.fillna(0),
        hovertemplate=f"{name}<br>{unit} %{{x}}: test error %{{y:.2f}} ± %{{customdata:.2f}} %<extra></extra>",
        **look,
    )
    fig.add_scatter(
        y=100 * curve["train_error"],
        mode="lines",
        opacity=0.4,
        showlegend=False,
        hovertemplate=f"{name}<br>{unit} %{{x}}: training error %{{y:.2f}} %<extra></extra>",
        **(look | {"line": look["line"] | {"width": 1, "dash": "dot"}, "error_y": None}),
    )


def _finish(fig, means: pd.DataFrame) -> go.Figure:
    """Add the RBF SVM and what the figures have in common."""
    if fig.data:
        line = {"color": LANDMARK_COLOURS[6], "width": 1.5, "dash": "dot"}
        add_curve(fig, [None], [None], "training errors", line)  # legend entry for lines that have none
    for error in means.loc[means["method"] == "svm", "test_error"].head(1):
        line = {"color": METHOD_COLOURS["svm"], "width": 2, "dash": "dash"}
        fig.add_hline(y=100 * error, line=line)
        add_curve(fig, [None], [None], f"{METHOD_NAMES['svm']}: {100 * error:.2f} %", line)
    fig.update_yaxes(title="error, %", rangemode="tozero")
    return finish(fig, height=380, margin={"l": 8, "r": 8, "t": 60, "b": 8})


def _round_ticks(values) -> list[int]:
    low = min(values)
    high = max(values)
    ticks = [tick for decade in (1, 10, 100, 1000) for tick in (decade, 2 * decade, 5 * decade) if low <= tick <= high]
    return ticks if ticks[-1] == high else [*ticks, high]
