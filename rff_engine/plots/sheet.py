"""A figure under construction: traces and layout as plain dicts, which Plotly validates once at the end.

Plotly's own figures validate at every step, which takes longer. The methods have the names and arguments
of Plotly's, as far as the figures here need them.

A server whose figures are tested leaves the last validation out too: `validate(False)`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import plotly.colors
import plotly.graph_objects as go

_validates = True


def validate(validates: bool) -> None:
    """Choose whether this process validates figures, which takes two thirds of the time of making one."""
    global _validates
    _validates = validates


class Sheet:
    """An empty figure of `rows` x `columns` panels, each with its own axes; panels count from 1, row by row."""

    def __init__(
        self,
        rows: int = 1,
        columns: int = 1,
        *,
        widths: Sequence[float] | None = None,
        heights: Sequence[float] | None = None,
        gap: tuple[float, float] = (0.1, 0.1),
    ):
        self.data: list[dict[str, Any]] = []
        self.rows: int = rows
        self.columns: int = columns
        self.layout: dict[str, Any] = {"shapes": [], "annotations": []}
        across = _intervals(widths or [1] * columns, gap[0])
        down = _intervals((heights or [1] * rows)[::-1], gap[1])[::-1]  # the first row is on top
        for panel, (y, x) in enumerate(itertools.product(down, across), start=1):
            self.layout[_axis("x", panel)] = {"domain": x, "anchor": _reference("y", panel)}
            self.layout[_axis("y", panel)] = {"domain": y, "anchor": _reference("x", panel)}

    def domain(self, panel: int) -> list[float]:
        """Return left and right end of a panel, as fractions of the width of the figure."""
        return self.layout[_axis("x", panel)]["domain"]

    def figure(self) -> go.Figure:
        """Return the Plotly figure, validated unless this process does without."""
        layout = {name: value for name, value in self.layout.items() if value or name not in ("shapes", "annotations")}
        return go.Figure({"data": self.data, "layout": layout}, _validate=_validates)

    # --- traces -------------------------------------------------------------------------------------------------------

    def add_scatter(self, **trace: Any) -> None:
        self._add("scatter", trace)

    def add_bar(self, **trace: Any) -> None:
        self._add("bar", trace)

    def add_heatmap(self, **trace: Any) -> None:
        self._add("heatmap", trace)

    def _add(self, kind, trace):
        panel = self._panels(trace)[0]
        if "coloraxis" in trace:
            trace["coloraxis"] = _coloraxis(trace["coloraxis"])
        trace = _with_stops(trace)
        self.data.append({"type": kind, "xaxis": _reference("x", panel), "yaxis": _reference("y", panel)} | trace)

    # --- layout -------------------------------------------------------------------------------------------------------

    def update_layout(self, **layout: Any) -> None:
        for name, value in layout.items():
            if name.startswith("coloraxis"):
                name = _coloraxis(name)
                value = _with_stops(value)
            self.layout[name] = value

    def update_xaxes(self, **axis: Any) -> None:
        self._update("x", axis)

    def update_yaxes(self, **axis: Any) -> None:
        self._update("y", axis)

    def _update(self, letter, axis):
        if isinstance(axis.get("title"), str):
            axis["title"] = {"text": axis["title"]}
        for panel in self._panels(axis):
            self.layout[_axis(letter, panel)].update(axis)

    def add_annotation(self, **annotation: Any) -> None:
        self.layout["annotations"].append(annotation)

    def add_vline(self, x: float, **shape: Any) -> None:
        self._cross(shape, "line", "x", x, x)

    def add_hline(self, y: float, **shape: Any) -> None:
        self._cross(shape, "line", "y", y, y)

    def add_hrect(self, y0: float, y1: float, **shape: Any) -> None:
        self._cross(shape, "rect", "y", y0, y1)

    def _cross(self, shape, kind, along, low, high):
        """Add a shape across each of its panels, between two values of one axis."""
        across = "y" if along == "x" else "x"
        for panel in self._panels(shape):
            place = {f"{along}0": low, f"{along}1": high, f"{across}0": 0, f"{across}1": 1}
            place |= {f"{along}ref": _reference(along, panel), f"{across}ref": f"{_reference(across, panel)} domain"}
            self.layout["shapes"].append({"type": kind} | place | shape)

    def _panels(self, where: dict) -> list[int]:
        """Take `row` and `col` out of `where` and return their panels; without one, panels of all rows or columns."""
        row = where.pop("row", None)
        column = where.pop("col", None)
        rows = [row] if row else range(1, self.rows + 1)
        columns = [column] if column else range(1, self.columns + 1)
        return [(r - 1) * self.columns + c for r, c in itertools.product(rows, columns)]


def _intervals(sizes, gap) -> list[list[float]]:
    """Return [start, end] of neighbouring parts of [0, 1] with the given relative sizes and gaps between them."""
    lengths = np.asarray(sizes, dtype=float) / np.sum(sizes) * (1 - gap * (len(sizes) - 1))
    starts = [float(lengths[:i].sum() + gap * i) for i in range(len(lengths))]
    return [[start, min(start + float(length), 1.0)] for start, length in zip(starts, lengths, strict=True)]


def _coloraxis(name: str) -> str:
    return "coloraxis" if name == "coloraxis1" else name


def _with_stops(look: dict) -> dict:
    """Replace a named colour scale by its stops, which browsers need."""
    if not isinstance(look.get("colorscale"), str):
        return look
    return look | {"colorscale": _stops(look["colorscale"])}


@cache
def _stops(scale: str) -> list:
    return plotly.colors.get_colorscale(scale)


def _reference(letter, panel) -> str:
    return letter if panel == 1 else f"{letter}{panel}"


def _axis(letter, panel) -> str:
    return f"{letter}axis" if panel == 1 else f"{letter}axis{panel}"
