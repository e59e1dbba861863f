"""Figures that compare printed numbers with reruns: tables, and the curves of Figures 2, 3, 5 and 6."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine.plots.style import (
    METHOD_COLOURS,
    METHOD_NAMES,
    add_band,
    add_curve,
    add_note,
    finish,
    fixed_margin,
    new_figure,
)

if TYPE_CHECKING:
    import pandas as pd

#: Colours by the place of a printed number relative to reruns.
AGREEMENT_COLOURS = {
    "not in the paper": "#8C8C8C00",
    "not known yet": "#8C8C8C47",
    "inside the spread of draws": "#0072B247",
    "inside the spread of splits": "#009E7347",
    "paper lower": "#E69F0047",
    "paper higher": "#CC79A747",
}
_SOME_ROWS = re.compile(r"from (\d+) of \d+ training rows")
"""In a note: the number of rows that C and gamma were chosen on"""


def table_beside_paper(table: pd.DataFrame, columns: dict[str, str]) -> str:
    """Write Table 1 in HTML: in each cell the printed error, the rerun's, and mean and spread over random splits.

    The table comes from `letarte.table_1`; `columns` has titles by columns, in order.
    """
    names = list(dict.fromkeys(table["dataset"]))
    cells = {(row["dataset"], row["column"]): row for row in table.to_dict("records")}
    grid = [[cells[name, column] for column in columns] for name in names]
    return _table(
        names,
        ["Test error, %", *columns.values()],
        kinds=[[row["agreement"] for row in line] for line in grid],
        texts=[[_cell(row) for row in line] for line in grid],
        hover=[
            [_hover(name, title, row) for title, row in zip(columns.values(), line, strict=True)]
            for name, line in zip(names, grid, strict=True)
        ],
    )


def methods_beside_paper(
    table: pd.DataFrame, datasets: Sequence[str], methods: Sequence[str], units: dict[str, str]
) -> str:
    """Write Tables 2 and 3 of Li et al. (2019): printed error and mean of the reruns, by method and data set.

    The table comes from `li.table`, for one D. Errors on a data set have the unit "relative", "rmse" or "percent". A
    star marks the least mean of the paper's methods on each data set.
    """
    known = {(row["dataset"], row["method"]): row for row in table.to_dict("records")}
    of_paper = table[table["method"].isin(table.loc[table["paper"].notna(), "method"])]
    least = of_paper.dropna(subset="mean").sort_values("mean", kind="stable").groupby("dataset").first()
    best = least["method"].to_dict()
    kinds, texts, hover = [], [], []
    for method in methods:
        line = [known.get((name, method)) for name in datasets]
        kinds.append(["not in the paper" if row is None else row["agreement"] for row in line])
        texts.append(
            [_method_cell(row, units[name], best.get(name) == method) for name, row in zip(datasets, line, strict=True)]
        )
        hover.append(
            [
                _method_hover(f"{name}, {METHOD_NAMES[method]}", row, units[name])
                for name, row in zip(datasets, line, strict=True)
            ]
        )
    titles = ["Method", *(f"{name}, {_UNIT_TITLES[units[name]]}" for name in datasets)]
    return _table([METHOD_NAMES[method] for method in methods], titles, kinds, texts, hover)


_UNIT_TITLES = {"relative": "error", "rmse": "RMSE", "percent": "%"}
_PRINTED = {"relative": "{:.2f}", "rmse": "{:.3f}", "percent": "{:.2f}"}
_MEASURED = {"relative": "{:.3f}", "rmse": "{:.3f}", "percent": "{:.2f}"}


def _shown(value: float, unit: str, forms: dict[str, str]) -> str:
    if unit == "percent" and forms is _PRINTED and value < 0.01:  # for MNIST, three decimals are printed
        return f"{100 * value:.3f}"
    return forms[unit].format(100 * value if unit == "percent" else value) if np.isfinite(value) else "–"


def _method_cell(row, unit: str, best: bool) -> str:
    if row is None:
        return "paper –<br>ours –"
    lines = [
        f"paper <b>{_shown(row['paper'], unit, _PRINTED)}</b>",
        f"ours <b>{_shown(row['mean'], unit, _MEASURED)}</b>",
    ]
    width = f"± {_shown(row['half_width'], unit, _MEASURED)}" if np.isfinite(row["half_width"]) else ""
    last = f"{'★ ' if best else ''}{width}".strip()
    return "<br>".join([*lines, last] if last else lines)


def _method_hover(name: str, row, unit: str) -> str:
    if row is None:
        return f"{name}\nnot known yet"
    lines = [name, f"paper: {_shown(row['paper'], unit, _PRINTED)}"]
    if np.isfinite(row["mean"]):
        mean, half = (_shown(row[key], unit, _MEASURED) for key in ("mean", "half_width"))
        lines.append(f"mean over {row['splits']:.0f} splits: {mean} ± {half}")
    if np.isfinite(row["spread"]):
        low, high = max(0.0, row["mean"] - row["spread"]), row["mean"] + row["spread"]
        lines.append(f"95 % of single splits: {_shown(low, unit, _MEASURED)} to {_shown(high, unit, _MEASURED)}")
    return "\n".join(lines + _cause_lines(row, _shown(row["cause_error"], unit, _MEASURED)))


def _table(names: Sequence[str], titles: Sequence[str], kinds, texts, hover) -> str:
    """Write an HTML table, its cells coloured by the agreement of printed numbers and reruns, below its legend."""
    seen = {kind for line in kinds for kind in line}
    legend = " ".join(
        f'<span><i style="background: {colour}"></i>{kind}</span>'
        for kind, colour in AGREEMENT_COLOURS.items()
        if kind in seen
    )
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    body = ""
    for name, *cells in zip(names, kinds, texts, hover, strict=True):
        row = "".join(
            f'<td style="background: {AGREEMENT_COLOURS[kind]}" title="{escape(said)}">{text}</td>'
            for kind, text, said in zip(*cells, strict=True)
        )
        body += f'<tr><th scope="row">{escape(name)}</th>{row}</tr>'
    return (
        f'<p class="kinds">{legend}</p><div class="beside" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(row) -> str:
    lines = [f"paper <b>{_percent(row['paper'])}</b>"]
    if row["draws"] > 1:
        lines.append(f"draws <b>{_percent(row['draw_mean'])}</b><br>{_draw_range(row)}")
    else:
        lines.append(f"rerun <b>{_percent(row['published'])}</b>" if np.isfinite(row["published"]) else "rerun –")
    if np.isfinite(row["mean"]):
        width = f" ± {_percent(row['half_width'])}" if np.isfinite(row["half_width"]) else ""
        lines.append(f"splits {_percent(row['mean'])}{width}")
    else:
        lines.append("splits –")
    lines += [f"<i>chosen on {rows} rows</i>" for rows in dict.fromkeys(_SOME_ROWS.findall(row["note"]))]
    return "<br>".join(lines)


def _draw_range(row) -> str:
    return f"{_percent(row['draw_low'])}–{_percent(row['draw_high'])}"


def _hover(name: str, column: str, row) -> str:
    lines = [f"{name}, {column}", f"paper: {_percent(row['paper'])} %"]
    if np.isfinite(row["published"]):
        tied = f"{_percent(row['tied_low'])} to {_percent(row['tied_high'])} %"
        lines += [f"rerun, published split: {_percent(row['published'])} %", f"settings tied on validation: {tied}"]
    if row["draws"] > 1:
        lines.append(f"{row['draws']:.0f} draws there: mean {_percent(row['draw_mean'])} %, {_draw_range(row)} %")
    if np.isfinite(row["mean"]):
        lines.append(f"mean over {row['splits']:.0f} splits: {_percent(row['mean'])} ± {_percent(row['half_width'])} %")
        low, high = max(0.0, row["mean"] - row["spread"]), row["mean"] + row["spread"]
        lines.append(f"95 % of single splits: {_percent(low)} to {_percent(high)} %")
    lines += _cause_lines(row, f"{_percent(row['cause_error'])} %")
    return "\n".join([*lines, *([row["note"]] if row["note"] else [])])


def _cause_lines(row, error: str) -> list[str]:
    """Say what reruns show of the cause of a number outside; `error` belongs to the rerun of the presumed cause."""
    lines = [f"rerun of the presumed cause: {error}"] if np.isfinite(row["cause_error"]) else []
    if row.get("again", 0) > 0:
        lines.append(f"{row['as_far']:.0f} of {row['again']:.0f} more reruns lie at least as far out")
    return [*lines, f"cause: {row['cause']}"] if isinstance(row["cause"], str) else lines


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def curves_beside_paper(comparison: pd.DataFrame, dataset: str, by: str) -> go.Figure:
    """Plot test errors on a data set, a panel per method: printed curve dashed, rerun solid, band of single splits.

    The comparison comes from `letarte.figure`; `by` is "D", or "share" with a row for each way of choosing landmarks.
    """
    comparison = comparison[comparison["dataset"] == dataset].sort_values(by)
    if by == "D":
        panels, columns = [(method, None) for method in ("rff", "pbrff", "okrff")], 3
    else:
        selections = ("clustering", "random")
        panels, columns = [(method, way) for way in selections for method in ("rbf_landmarks", "pb_landmarks")], 2
    rows = len(panels) // columns
    fig = new_figure(rows, columns, gap=(0.03, 0.1), shared_xaxes=True, shared_yaxes=True)
    top = 100 * max(comparison[name].max() for name in ("paper", "published", "mean", "tied_high", "draw_high")) * 1.08
    for i, (method, selection) in enumerate(panels):
        curve = comparison[comparison["method"] == method]
        name = METHOD_NAMES[method]
        if selection is not None:
            curve = curve[curve["landmarks"] == selection]
            name = f"{_SHORT[method]}, {_SHORT[selection]}"
        axis = "" if i == 0 else str(i + 1)
        _add_curves(fig, curve, by, METHOD_COLOURS[method], {"xaxis": f"x{axis}", "yaxis": f"y{axis}"})
        place = {"xref": f"x{axis} domain", "yref": f"y{axis} domain", "yanchor": "bottom", "font": {"size": 13}}
        add_note(fig, 0.5, 1.0, name, **place)
    several = (comparison["draws"] > 1).any()
    for name, trace in _MEANINGS.items():
        if name == DRAWS and not several:
            continue
        fig.add_scatter(x=[None], y=[None], mode="lines", name=name, **trace)
    if by == "D":
        fig.update_xaxes(type="log", title="number of frequencies D", tickvals=[1, 10, 100, 1000])
    else:
        fig.update_xaxes(range=[0, 26])
        fig.update_xaxes(title="landmarks, % of the training points", row=rows)
    fig.update_yaxes(range=[0, top])
    fig.update_yaxes(title="test error, %", col=1)
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.0 + 0.1 / rows, "x": 0, "title": {"text": ""}}
    return finish(fig, height=152 + {1: 330, 2: 460}[rows], margin=fixed_margin(top=104), legend=legend)


_SHORT = {"rbf_landmarks": "RBF", "pb_landmarks": "PB", "clustering": "k-means centroids", "random": "random points"}
DRAWS = "range of draws on the paper's split"
_MEANINGS = {
    "paper": {"line": {"color": "#8C8C8C", "width": 2, "dash": "dash"}},
    "rerun on the paper's split": {"line": {"color": "#8C8C8C", "width": 2.5}},
    "its training error": {"line": {"color": "#8C8C8C", "width": 1, "dash": "dashdot"}},
    DRAWS: {"line": {"color": "#8C8C8C", "width": 7}, "opacity": 0.45},
    "random splits: mean, and 95 % of single ones": {
        "line": {"color": "#8C8C8C", "width": 1.5, "dash": "dot"},
        "fill": "toself",
        "fillcolor": "rgba(140, 140, 140, 0.25)",
    },
}


def _add_curves(fig: go.Figure, curve, by: str, colour: str, panel: dict) -> None:
    x = (100 if by == "share" else 1) * curve[by].to_numpy(float)
    at = "%{x:.3g} % landmarks" if by == "share" else "D = %{x}"
    known = curve["mean"].notna().to_numpy()
    look = {"showlegend": False, **panel}
    if known.any():
        mean = 100 * curve["mean"].to_numpy(float)[known]
        spread = np.nan_to_num(100 * curve["spread"].to_numpy(float)[known])
        add_band(fig, x[known], (mean - spread).clip(min=0), mean + spread, colour, **panel)
        line = {"color": colour, "width": 1.5, "dash": "dot"}
        hover = f"{at}<br>mean over splits %{{y:.2f}} %, single ones ± %{{customdata:.2f}}"
        add_curve(fig, x[known], mean, "", line, hover, customdata=spread, **look)
    known = curve["published"].notna().to_numpy()
    if known.any():
        error, low, high = (100 * curve[name].to_numpy(float)[known] for name in ("published", "tied_low", "tied_high"))
        hover = f"{at}<br>rerun %{{y:.2f}} %, settings tied on validation %{{customdata[0]:.2f}} to "
        hover += "%{customdata[1]:.2f}"
        line, tied = {"color": colour, "width": 2.5}, np.column_stack([low, high])
        add_curve(fig, x[known], error, "", line, hover, customdata=tied, **look)
        train = 100 * curve["published_train"].to_numpy(float)[known]
        line = {"color": colour, "width": 1, "dash": "dashdot"}
        add_curve(fig, x[known], train, "", line, f"{at}<br>training error of the rerun %{{y:.2f}} %", **look)
    _add_draws(fig, curve, x, at, colour, look)
    known = curve["paper"].notna().to_numpy()
    printed = 100 * curve["paper"].to_numpy(float)[known]
    line = {"color": "#777777", "width": 2, "dash": "dash"}
    add_curve(fig, x[known], printed, "", line, f"{at}<br>paper %{{y:.2f}} %", **look)


def _add_draws(fig: go.Figure, curve, x, at: str, colour: str, look: dict) -> None:
    """Draw the range of several draws on the paper's split, as thick bars."""
    several = (curve["draws"].fillna(0) > 1).to_numpy(bool)
    if not several.any():
        return
    mean, low, high = (100 * curve[name].to_numpy(float)[several] for name in ("draw_mean", "draw_low", "draw_high"))
    bars = {"array": high - mean, "arrayminus": mean - low, "symmetric": False, "thickness": 7, "width": 0}
    fig.add_scatter(
        x=x[several],
        y=mean,
        mode="markers",
        opacity=0.45,
        marker={"color": colour, "size": 3},
        error_y=bars,
        customdata=np.column_stack([low, high, curve["draws"].to_numpy(float)[several]]),
        hovertemplate=f"{at}<br>mean of %{{customdata[2]:.0f}} draws %{{y:.2f}} %, from %{{customdata[0]:.2f}} to "
        "%{customdata[1]:.2f}<extra></extra>",
        **look,
    )
