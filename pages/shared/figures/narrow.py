"""Figures for a narrow screen: panels one below the other, and space for legends that need more rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

#: Width of a figure on a narrow screen, in pixels. On a wider screen, square panels leave space at their sides.
WIDTH = 358
# Heights in pixels: of a panel that is not square, of its axis with and without a title, of a colour bar with title and
# ticks, of a line of a title, of a row of a legend, of the space between panels, of the margin above the first one.
_PANEL, _AXIS, _BARE_AXIS, _COLORBAR, _LINE, _ROW, _GAP, _ABOVE = 240, 48, 26, 74, 19, 20, 14, 16
# Widths in pixels of a legend entry's mark, and of a letter of its name.
_MARK, _LETTER = 44, 6.4
_TAG = re.compile(r"<[^>]+>")


@dataclass
class _Panel:
    """A panel with its titles, colour bars and legends."""

    x: str
    """Names of its axes in the layout"""
    y: str
    left: float
    right: float
    top: float
    square: bool
    above: int = 0
    """Pixels of titles and colour bars"""
    notes: list[dict] = field(default_factory=list)
    bars: list[dict] = field(default_factory=list)
    legends: list[tuple[dict, int]] = field(default_factory=list)
    """Legends below it, with their numbers of rows"""


def stack(fig: go.Figure) -> go.Figure:
    """Put the panels of a figure one below the other, and its legend above in as many rows as it needs; return it.

    Titles and colour bars move with the panel below them.
    """
    layout = fig.layout.to_plotly_json()
    panels = _panels(layout)
    if len({panel.left for panel in panels}) > 1:
        _stack_panels(layout, fig.data, panels)
    else:
        _make_room_for_legend(layout, fig.data)
    fig.layout = layout
    return fig


def _panels(layout: dict) -> list[_Panel]:
    """Return the panels in reading order."""
    panels = []
    for name in layout:
        if not name.startswith("xaxis"):
            continue
        x = layout[name]
        y_name = (x.get("anchor") or "y").replace("y", "yaxis")
        y = layout.get(y_name, {})
        left, right = x.get("domain", (0, 1))
        _, top = y.get("domain", (0, 1))
        panels.append(_Panel(name, y_name, left, right, top, y.get("scaleanchor") == _reference(name)))
    return sorted(panels, key=lambda panel: (-panel.top, panel.left))


def _stack_panels(layout: dict, data, panels: list[_Panel]) -> None:
    _collect_titles(layout, panels)
    _collect_bars(layout, panels)
    above = _collect_legends(layout, data, panels)
    _name_axes(layout, panels)
    margin = layout["margin"]
    side = WIDTH - max(margin["l"], 44) - margin["r"]
    starts, heights, end = [], [], 0
    for k, panel in enumerate(panels):
        starts.append(end + (panel.above if k else 0))
        heights.append(side if panel.square else _PANEL)
        end = starts[-1] + heights[-1] + (_below(layout, panel) + _GAP if k < len(panels) - 1 else 0)
    margin["t"] = _ABOVE + _ROW * above + panels[0].above
    if not (layout.get("sliders") or layout.get("updatemenus")):  # they stand in the margin below
        margin["b"] = max(_below(layout, panels[-1]), 8)
    layout["height"] = end + margin["t"] + margin["b"]
    for panel, start, height in zip(panels, starts, heights, strict=True):
        _place(layout, panel, 1 - (start + height) / end, 1 - start / end, end)
    if "legend" in layout and above:
        layout["legend"] |= {"x": 0, "xanchor": "left", "y": 1 + (panels[0].above + 4) / end, "yanchor": "bottom"}


def _below(layout: dict, panel: _Panel) -> int:
    """Return the pixels below a panel: its axis, and its legends."""
    rows = sum(rows for _, rows in panel.legends)
    return (_AXIS if _title(layout[panel.x]) else _BARE_AXIS) + (_ROW * rows + 8 if rows else 0)


def _place(layout: dict, panel: _Panel, bottom: float, top: float, pixels: int) -> None:
    """Put a panel between two heights, as fractions of `pixels`, with its titles, colour bars and legends."""
    layout[panel.x]["domain"], layout[panel.y]["domain"] = [0.0, 1.0], [max(bottom, 0.0), min(top, 1.0)]
    for note in panel.notes:
        note |= {"xref": f"{_reference(panel.x)} domain", "yref": f"{_reference(panel.y)} domain", "x": 0.5, "y": 1}
        note |= {"xanchor": "center", "yanchor": "bottom"}
    for bar in panel.bars:
        bar |= {"x": 0.5, "xanchor": "center", "y": top, "yanchor": "bottom", "len": 0.8}
    for legend, _ in panel.legends:
        low = bottom - _AXIS / pixels
        legend |= {"x": 0, "xanchor": "left", "y": low, "yanchor": "top"}


def _collect_titles(layout: dict, panels: list[_Panel]) -> None:
    """Give each panel the notes that stand in the middle above it."""
    for note in layout.get("annotations", ()):
        if note.get("yanchor") != "bottom" or note.get("y") != 1 or "axis" in note.get("yref", "y"):
            continue
        if not (note.get("yref") == "paper" or note.get("yref", "").endswith("domain")):
            continue
        for panel in panels:
            of_axis = note.get("xref") == f"{_reference(panel.x)} domain" and note.get("x") == 0.5
            if of_axis or (note.get("xref") == "paper" and panel.left < note["x"] < panel.right):
                panel.notes.append(note)
                lines = 1 + _TAG.sub(lambda tag: "\n" if "br" in tag[0] else "", note["text"]).count("\n")
                panel.above = max(panel.above, 8 + _LINE * lines)
                break


def _collect_bars(layout: dict, panels: list[_Panel]) -> None:
    for name, axis in layout.items():
        bar = axis.get("colorbar") if name.startswith("coloraxis") else None
        for panel in panels:
            if bar and panel.left <= bar.get("x", 2) <= panel.right:
                panel.bars.append(bar)
                panel.above = max(panel.above, _COLORBAR)


def _collect_legends(layout: dict, data, panels: list[_Panel]) -> int:
    """Give each panel the legends below it; return the number of rows of the legend above all."""
    rows_above = 0
    for name in [name for name in layout if name.startswith("legend")]:
        legend, entries = layout[name], _entries(data, name)
        rows = _rows(entries, legend, WIDTH - 62)
        if legend.get("y", 1) >= 0.5:
            rows_above = max(rows_above, rows)
            continue
        of_legend = {trace.xaxis or "x" for trace in data if (trace.legend or "legend") == name}
        for panel in panels:
            if _reference(panel.x) in of_legend:
                panel.legends.append((legend, rows))
                break
    return rows_above


def _name_axes(layout: dict, panels: list[_Panel]) -> None:
    """Give each panel the titles and tick labels that it shared with a neighbour."""
    for panel in panels:
        x, y = layout[panel.x], layout[panel.y]
        column = [other for other in panels if other.left == panel.left]
        row = [other for other in panels if other.top == panel.top]
        if not _title(x):
            x["title"] = dict(layout[column[-1].x].get("title") or {})
        if not _title(y) and not panel.square and not row[0].square:
            y["title"] = dict(layout[row[0].y].get("title") or {})
        for axis in (x, y):
            axis.pop("showticklabels", None)


def _make_room_for_legend(layout: dict, data) -> None:
    """Raise the margin above a figure until its legend fits."""
    legend = layout.get("legend", {})
    margin = layout.get("margin", {})
    if legend.get("y", 1) < 0.5 or layout.get("showlegend") is False:
        return
    above = margin.get("t") or 0
    has = (above - _ABOVE) // _ROW
    more = _ROW * max(0, _rows(_entries(data, "legend"), legend, WIDTH - max(margin.get("l") or 0, 62)) - has)
    margin["t"] = above + more
    layout["height"] += more


def _entries(data, name: str) -> Sequence[str]:
    """Return the names of the traces in a legend."""
    return [
        trace.name
        for trace in data
        if trace.type in ("scatter", "bar")
        and trace.name
        and trace.showlegend is not False
        and (trace.legend or "legend") == name
    ]


def _rows(entries: Sequence[str], legend: dict, width: float) -> int:
    """Return the number of rows that the entries of a legend take, each as wide as the widest."""
    if not entries:
        return 0
    widest = max(_MARK + _LETTER * len(_TAG.sub("", entry)) for entry in entries)
    columns = 1 if legend.get("orientation") == "v" else max(1, int(width / widest))
    return -(-len(entries) // columns)


def _title(axis: dict) -> str:
    title = axis.get("title") or {}
    return title.get("text") or ""


def _reference(axis: str) -> str:
    return axis.replace("axis", "")
