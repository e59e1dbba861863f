"""Figures of the paper's numbers beside reruns: Table 1 as a chart, and the curves of Figures 2, 3, 5 and 6."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from .sheet import Sheet
from .style import METHOD_COLOURS, METHOD_NAMES, METHOD_SYMBOLS, add_note, finish

__all__ = ["AGREEMENTS", "agreement", "curves_beside_paper", "table_beside_paper"]

#: How a number of the paper lies to the interval for one more random split, and the colour of that.
AGREEMENTS = {
    "not known yet": "#8C8C8C",
    "within the spread of splits": "#0072B2",
    "paper lower": "#E69F00",
    "paper higher": "#CC79A7",
}
_ROW_PIXELS = 78


def agreement(row) -> str:
    """Which of `AGREEMENTS` holds for a row of `reproduction.compared`.

    The paper's numbers are rounded to 0.01 points: so much is no difference.
    """
    if not np.isfinite(row["spread"]):
        return "not known yet"
    difference = row["paper"] - row["mean"]
    if abs(difference) <= row["spread"] + 5e-5:
        return "within the spread of splits"
    return "paper lower" if difference < 0 else "paper higher"


def table_beside_paper(table, columns: dict[str, str]) -> go.Figure:
    """Table 1: in each cell the paper's error, ours on the published split, and mean and spread over random splits.

    Parameters
    ----------
    table : DataFrame
        As `reproduction.table_1` gives it.
    columns : dict
        From its names of columns to those in the figure, in their order.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    names = list(dict.fromkeys(table["dataset"]))
    cells = table.set_index(["dataset", "column"])
    kinds = list(AGREEMENTS)
    z = np.array([[kinds.index(agreement(cells.loc[name, column])) for column in columns] for name in names])
    fig = Sheet()
    edges = np.linspace(0, 1, len(kinds) + 1)
    scale = [
        stop for k, colour in enumerate(AGREEMENTS.values()) for stop in ((edges[k], colour), (edges[k + 1], colour))
    ]
    hover = [[_hover(name, columns[column], cells.loc[name, column]) for column in columns] for name in names]
    fig.add_heatmap(
        z=z,
        zmin=-0.5,
        zmax=len(kinds) - 0.5,
        x=list(range(len(columns))),
        y=list(range(len(names))),
        colorscale=scale,
        showscale=False,
        opacity=0.28,
        xgap=3,
        ygap=3,
        text=hover,
        hovertemplate="%{text}<extra></extra>",
    )
    for i, name in enumerate(names):
        for j, column in enumerate(columns):
            add_note(fig, j, i, _cell(cells.loc[name, column]), font={"size": 13})
    for kind, colour in AGREEMENTS.items():
        marker = {"size": 14, "symbol": "square", "color": colour, "opacity": 0.5}
        fig.add_scatter(x=[None], y=[None], mode="markers", name=kind, marker=marker)
    fig.update_xaxes(tickvals=list(range(len(columns))), ticktext=list(columns.values()), side="top", showgrid=False)
    fig.update_xaxes(range=[-0.5, len(columns) - 0.5], zeroline=False)
    fig.update_yaxes(tickvals=list(range(len(names))), ticktext=names, showgrid=False, zeroline=False)
    fig.update_yaxes(range=[len(names) - 0.5, -0.5])
    legend = {"orientation": "h", "yanchor": "top", "y": -0.01, "x": 0, "title": {"text": ""}}
    return finish(fig, height=90 + _ROW_PIXELS * len(names), legend=legend)


def _cell(row) -> str:
    lines = [f"paper <b>{_percent(row['paper'])}</b>"]
    lines.append(f"rerun <b>{_percent(row['published'])}</b>" if np.isfinite(row["published"]) else "rerun –")
    if np.isfinite(row["mean"]):
        width = f" ± {_percent(row['half_width'])}" if np.isfinite(row["half_width"]) else ""
        lines.append(f"splits {_percent(row['mean'])}{width}")
    else:
        lines.append("splits –")
    return "<br>".join(lines)


def _hover(name: str, column: str, row) -> str:
    lines = [f"<b>{name}, {column}</b>", f"paper: {_percent(row['paper'])} %"]
    if np.isfinite(row["published"]):
        tied = f"{_percent(row['tied_low'])} to {_percent(row['tied_high'])} %"
        lines += [f"rerun, published split: {_percent(row['published'])} %", f"settings tied on validation: {tied}"]
    if np.isfinite(row["mean"]):
        lines.append(f"mean over {row['splits']:.0f} splits: {_percent(row['mean'])} ± {_percent(row['half_width'])} %")
        low, high = max(0.0, row["mean"] - row["spread"]), row["mean"] + row["spread"]
        lines.append(f"95 % of single splits: {_percent(low)} to {_percent(high)} %")
    return "<br>".join(lines)


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def curves_beside_paper(found, dataset: str, by: str) -> go.Figure:
    """Test error of each method on a data set: the paper's curve dashed, ours solid, with the spread of a split.

    Parameters
    ----------
    found : DataFrame
        As `reproduction.figure` gives it.
    dataset : str
    by : {"D", "share"}
        What the errors are drawn against.

    Returns
    -------
    plotly.graph_objects.Figure
        With a panel for each way of choosing landmarks, where there are two.
    """
    found = found[found["dataset"] == dataset]
    selections = ["clustering", "random"] if by == "share" else [None]
    fig = Sheet(columns=len(selections), gap=(0.07, 0.1))
    for panel, selection in enumerate(selections, start=1):
        shown = found if selection is None else found[found["landmarks"] == selection]
        for method, curve in shown.sort_values(by).groupby("method", sort=False):
            _add_curves(fig, panel, method, curve, by, first=panel == 1)
        if selection is not None:
            text = {"clustering": "k-means centroids", "random": "random training points"}[selection]
            x = "x domain" if panel == 1 else f"x{panel} domain"
            y = "y domain" if panel == 1 else f"y{panel} domain"
            add_note(fig, 0.5, 1.0, text, xref=x, yref=y, yanchor="bottom")
    if by == "D":
        fig.update_xaxes(
            type="log", title="number of frequencies D", tickvals=[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
        )
    else:
        fig.update_xaxes(title="landmarks, % of the training points", range=[0, 26])
    fig.update_yaxes(rangemode="tozero")
    fig.update_yaxes(title="test error, %", col=1)
    return finish(fig, height=460, margin={"l": 8, "r": 8, "t": 74, "b": 8})


def _add_curves(fig: Sheet, panel: int, method: str, curve, by: str, first: bool) -> None:
    colour, name = METHOD_COLOURS[method], METHOD_NAMES[method]
    x = (100 if by == "share" else 1) * curve[by].to_numpy(float)
    group = {"legendgroup": method, "col": panel}
    known = curve["mean"].notna().to_numpy()
    if known.any():
        mean, spread = 100 * curve["mean"][known], 100 * curve["spread"][known].fillna(0.0)
        fig.add_scatter(
            x=np.concatenate([x[known], x[known][::-1]]),
            y=np.concatenate([mean + spread, (mean - spread).clip(lower=0)[::-1]]),
            fill="toself",
            fillcolor=colour,
            opacity=0.16,
            mode="none",
            hoverinfo="skip",
            showlegend=False,
            **group,
        )
        fig.add_scatter(
            x=x[known],
            y=mean,
            mode="lines",
            line={"color": colour, "width": 1.5, "dash": "dot"},
            name=f"{name}: mean over splits",
            hovertemplate=f"{name}, mean over splits<br>%{{x}}: %{{y:.2f}} %<extra></extra>",
            showlegend=False,
            **group,
        )
    known = curve["published"].notna().to_numpy()
    fig.add_scatter(
        x=x[known],
        y=100 * curve["published"][known],
        mode="lines+markers",
        line={"color": colour, "width": 2.5},
        marker={"size": 6, "symbol": METHOD_SYMBOLS[method]},
        name=name,
        hovertemplate=f"{name}, rerun<br>%{{x}}: %{{y:.2f}} %<extra></extra>",
        showlegend=first,
        **group,
    )
    fig.add_scatter(
        x=x,
        y=100 * curve["paper"],
        mode="lines",
        line={"color": colour, "width": 2, "dash": "dash"},
        name=f"{name}: paper",
        hovertemplate=f"{name}, paper<br>%{{x}}: %{{y:.2f}} %<extra></extra>",
        showlegend=first,
        **group,
    )
