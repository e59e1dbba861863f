"""Figures of known data: the error on every set as small multiples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import METHOD_COLOURS, METHOD_NAMES, add_curve, add_note, finish, fixed_margin

if TYPE_CHECKING:
    import pandas as pd

    from pages.data.compute import Memory

_COLUMNS = 4


def small_multiples(means: Mapping[str, pd.DataFrame], x: str, chosen: str, mark: float | None = None) -> go.Figure:
    """Draw the mean test error of every method on every data set against `x`, "D" or "share".

    A point of a panel has the name of its data set as custom data. The title of the `chosen` one is bold, and a line
    marks a value of x.
    """
    rows = -(-len(means) // _COLUMNS)
    fig = Sheet(rows, _COLUMNS, gap=(0.06, 0.3))
    for panel, (dataset, curves) in enumerate(means.items()):
        place = {"row": panel // _COLUMNS + 1, "col": panel % _COLUMNS + 1}
        for method, curve in curves[curves["method"] != "svm"].groupby("method", sort=False):
            if "landmarks" in curve:
                curve = curve[curve["landmarks"] == "clustering"]
            at = curve[x].astype(float) * (100 if x == "share" else 1)
            line = {"color": METHOD_COLOURS[method], "width": 2}
            hover = f"{dataset}, {METHOD_NAMES[method]}: %{{y:.2f}} % at %{{x}}"
            look = {"mode": "lines+markers", "marker": {"size": 5}, "customdata": [dataset] * len(curve)}
            look |= {"legendgroup": method, "showlegend": panel == 0}
            add_curve(fig, at, 100 * curve["test_error"], METHOD_NAMES[method], line, hover, extra="", **look, **place)
        for error in curves.loc[curves["method"] == "svm", "test_error"].head(1):
            fig.add_hline(y=100 * error, line={"color": METHOD_COLOURS["svm"], "width": 1.5, "dash": "dash"}, **place)
        if mark is not None:
            fig.add_vline(x=mark, line={"color": "#8C8C8C", "width": 1, "dash": "dot"}, **place)
        fig.update_yaxes(rangemode="tozero", nticks=4, **place)
        if x == "D":
            fig.update_xaxes(type="log", tickvals=[1, 10, 100, 1000], **place)
        axis = "" if panel == 0 else panel + 1
        name = f"<b>{dataset}</b>" if dataset == chosen else dataset
        where = {"xref": f"x{axis} domain", "yref": f"y{axis} domain", "xanchor": "center", "yanchor": "bottom"}
        add_note(fig, 0.5, 1, name, **where)
    for panel in range(len(means), rows * _COLUMNS):
        place = {"row": panel // _COLUMNS + 1, "col": panel % _COLUMNS + 1}
        fig.update_xaxes(visible=False, **place)
        fig.update_yaxes(visible=False, **place)
    legend = {"orientation": "h", "x": 0, "y": 1 + 0.2 / rows, "yanchor": "bottom"}
    return finish(fig, 180 + 130 * rows, margin=fixed_margin(left=40, top=82), legend=legend)


def memory(found: Memory) -> go.Figure:
    """Draw training error, test error and certified risk as bars, with a line at a coin's 50 %."""
    fig = Sheet()
    for name, risk, colour in (
        ("training error", found.train, METHOD_COLOURS["rff"]),
        ("test error", found.test, "#8C8C8C"),
        ("certified risk", found.certified, "#009E73"),
    ):
        label = f"{name}  <b>{100 * risk:.1f} %</b>"
        fig.add_bar(x=[100 * risk], y=[label], orientation="h", marker={"color": colour}, showlegend=False)
    fig.add_vline(x=50, line={"color": "#8C8C8C", "width": 1.5, "dash": "dot"})
    add_note(fig, 50, 1, " a coin: 50 %", yref="y domain", xanchor="left", yanchor="bottom")
    fig.update_xaxes(title="error, %", range=[0, 100])
    fig.update_yaxes(autorange="reversed")
    return finish(fig, 230, margin=fixed_margin(left=180, top=24))
