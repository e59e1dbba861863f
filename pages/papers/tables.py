"""Tables in HTML that compare printed numbers with reruns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rff_engine.plots.style import METHOD_NAMES

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
