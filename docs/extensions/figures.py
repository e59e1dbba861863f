"""Figures of the examples, and of code in pages: their data in the page, painted by Plotly's script, of which the site
has one copy."""

from __future__ import annotations

import ast
import re
from html import escape
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from rff_engine.figures.narrow import stack
from rff_engine.figures.style import darken

_TAG = re.compile(r"<[^>]+>")
_MARKED = re.compile(r"```python\n((?:(?!```).)*)```((?:(?!```).)*)<!-- figure of the code above -->", re.DOTALL)


def add_figures(app, page: str, content: list[str]) -> None:
    """Draw the figure that a block of code ends with, where the page has the mark."""
    content[0] = _MARKED.sub(
        lambda match: f"```python\n{match[1]}```{match[2]}{embed(_last_value(match[1]))}", content[0]
    )


def _last_value(code: str) -> go.Figure:
    *statements, last = ast.parse(code).body
    space: dict = {}
    exec(compile(ast.Module(statements, []), "page", "exec"), space)
    return eval(compile(ast.Expression(last.value), "page", "eval"), space)


def embed(fig: go.Figure) -> str:
    """A figure as HTML: for a wide and for a narrow screen, each of which `figures.js` gives the theme's colours."""
    if fig.layout.margin.t is None:  # Plotly's margins are wide, and its legend takes width
        legend = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}
        fig = go.Figure(fig).update_layout(margin={"l": 8, "r": 8, "t": 36, "b": 8}, legend=legend)
        fig.update_xaxes(automargin=True).update_yaxes(automargin=True)
    kinds = {"wide": darken(go.Figure(fig)), "narrow": darken(stack(go.Figure(fig)))}
    data = "".join(
        f'<script type="application/json" class="{kind}">{_json(figure)}</script>' for kind, figure in kinds.items()
    )
    heights = "; ".join(f"--{kind}: {_height(figure)}" for kind, figure in kinds.items())
    place = f'<div class="canvas" style="{heights}"></div>'
    return f'<div class="rff-figure" role="img" aria-label="{escape(_alt(fig))}">{place}{data}</div>'


def _height(fig: go.Figure) -> str:
    """The height of a figure in CSS; pictures in one row become less high where the page is narrow."""
    layout = fig.layout
    most = f"{layout.height or 400}px"
    if layout.yaxis.scaleanchor != "x" or layout.yaxis.constraintoward != "top" or len(list(fig.select_xaxes())) != 1:
        return most
    (left, right), (bottom, top), margin = layout.xaxis.range, layout.yaxis.range, layout.margin
    of_width = f"(100cqw - {margin.l + margin.r}px) * {(top - bottom) / (right - left):.4f}"
    return f"min({most}, {margin.t + margin.b}px + {of_width})"


def _json(fig: go.Figure) -> str:
    return (fig.to_json() or "").replace("</", "<\\/")  # a tag would end the script


def _alt(fig: go.Figure) -> str:
    """What a screen reader says of a figure: its axes, panels and lines."""
    layout = fig.layout.to_plotly_json()
    axes = [layout[name].get("title", {}).get("text") for name in layout if name[1:5] == "axis"]
    notes = [note.get("text") for note in layout.get("annotations", ())]
    traces = [trace.name for trace in fig.data if trace.name]
    words = [_TAG.sub(" ", text).strip() for text in (*notes, *axes, *traces) if text]
    return "Figure: " + "; ".join(dict.fromkeys(" ".join(word.split()) for word in words if word))


def write_script(app, error) -> None:
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")


def setup(app):
    go.Figure._repr_html_ = embed  # which sphinx-gallery asks for
    app.connect("source-read", add_figures)
    app.connect("build-finished", write_script)
    return {"parallel_read_safe": True}
