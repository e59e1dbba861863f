"""A report as one HTML file of headings, text, tables and figures, which a browser shows offline."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from itertools import accumulate
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from pandas.api.types import is_extension_array_dtype
from plotly.offline import get_plotlyjs

_STYLE = """
body {max-width: 75rem; margin: 2rem auto; padding: 0 1.5rem; font: 16px/1.5 system-ui, sans-serif; color: #1f2430}
h1 {font-size: 1.7rem} h2 {font-size: 1.3rem; margin-top: 2.5rem}
table {border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums}
th, td {padding: 0.2rem 0.7rem; border-bottom: 1px solid #d9dce3; text-align: right}
th {position: sticky; top: 0; background: #fff}
th:first-child, td:first-child {text-align: left}
:is(th, td):nth-child(2):last-child {text-align: left; overflow-wrap: anywhere}
.wide {overflow-x: auto; margin-top: 1rem}
.long {max-height: 40rem}
.ledger {display: block; width: 100%; max-width: 26rem; font-size: 13px; fill: #1f2430}
summary {cursor: pointer; margin: 0.6rem 0}
@page {margin: 15mm}
@media print {
  body {max-width: none; margin: 0; padding: 0}
  .wide {overflow: visible; max-height: none}
  th {position: static}
  tr, [role=img] {break-inside: avoid}
  h2, summary, p:has(+ [role=img]) {break-after: avoid}
  .modebar-container {display: none}
}
"""
# Space for Plotly's toolbar, in the upper right corner while the mouse is over a figure, in pixels.
_TOOLBAR = 30
# Default margin above the axes in pixels.
_PLOTLY_MARGIN = 100
_LONG = 40  # rows of a table that scrolls by itself
_BAR_WIDTH, _BAR_STEP, _BAR_COLOURS = 360, 28, ("#9aa1b0", "#2f5fd0")


class Document:
    """An HTML page, built from top to bottom."""

    def __init__(self, title: str):
        self._title = title
        self._parts = [f"<h1>{escape(title)}</h1>"]
        self._has_figures = False

    def heading(self, text: str) -> None:
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def words(self, text: str) -> None:
        self._parts.append(f"<p>{escape(text)}</p>")

    def table(self, frame: pd.DataFrame, folded: str | None = None, digits: int = 4) -> None:
        """Add a DataFrame; with `folded`, hidden behind a line of this text."""
        table = _without_na(frame).to_html(index=False, border=0, na_rep="", float_format=f"{{:.{digits}f}}".format)
        kind = "wide long" if len(frame) > _LONG else "wide"
        table = f'<div class="{kind}" tabindex="0">{table}</div>'
        if folded is not None:
            table = f"<details><summary>{escape(folded)}</summary>{table}</details>"
        self._parts.append(table)

    def figure(self, fig: go.Figure, alt: str) -> None:
        """Add an interactive figure of fixed height; `alt` describes it to screen readers."""
        self._has_figures = True
        height = fig.layout.height + _TOOLBAR
        top = _PLOTLY_MARGIN if fig.layout.margin.t is None else fig.layout.margin.t
        html = pio.to_html(
            go.Figure(fig).update_layout(template="plotly_white", height=height, margin_t=top + _TOOLBAR),
            full_html=False,
            include_plotlyjs=False,
            config={"displaylogo": False},
            default_height=f"{height}px",
        )
        self._parts.append(f'<div role="img" aria-label="{escape(alt)}">{html}</div>')

    def ledger(self, terms: Sequence[tuple[str, float]], total: str) -> None:
        """Add a picture of terms (name, share) that add up, each bar from where the last one ends, and of their sum."""
        ends = [0.0, *accumulate(share for _, share in terms)]
        bars = [(name, share, *sorted(ends[i : i + 2])) for i, (name, share) in enumerate(terms)]
        bars.append((total, ends[-1], *sorted((0.0, ends[-1]))))
        scale = _BAR_WIDTH / (max(map(abs, ends)) or 1.0)
        drawn = "".join(
            f'<text y="{_BAR_STEP * i + 12}">{escape(name)}</text>'
            f'<text x="{_BAR_WIDTH}" y="{_BAR_STEP * i + 12}" text-anchor="end">{100 * share:.3g} %</text>'
            f'<rect x="{low * scale:.2f}" y="{_BAR_STEP * i + 16}" width="{(high - low) * scale:.2f}" height="8"'
            f' fill="{_BAR_COLOURS[i == len(terms)]}"/>'
            for i, (name, share, low, high) in enumerate(bars)
        )
        alt = f"{total} {100 * ends[-1]:.3g} %, the sum of {len(terms)} terms"
        view = f"0 0 {_BAR_WIDTH} {_BAR_STEP * len(bars)}"
        self._parts.append(f'<svg class="ledger" role="img" aria-label="{escape(alt)}" viewBox="{view}">{drawn}</svg>')

    def data(self, record: Any) -> None:
        """Add what JSON can hold, for programs that read the page."""
        text = json.dumps(record).replace("<", "\\u003c")
        self._parts.append(f'<script type="application/json">{text}</script>')

    def html(self) -> str:
        """The page as HTML."""
        body = "\n".join(self._parts)
        plotly = f"\n<script>{get_plotlyjs()}</script>" if self._has_figures else ""
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(self._title)}</title>\n'
            f"<style>{_STYLE}</style>{plotly}\n</head>\n<body>\n{body}\n</body>\n</html>\n"
        )


def _without_na(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace missing values of nullable columns, for which pandas ignores `na_rep`, by empty text."""
    lacking = [name for name in frame if is_extension_array_dtype(frame[name].dtype) and frame[name].isna().any()]
    return frame.assign(**{name: frame[name].astype(object).where(frame[name].notna(), "") for name in lacking})
