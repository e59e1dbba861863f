"""Formulas as MathML, which browsers show without a script."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert


def inline(writer, node) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer, node) -> None:
    writer.body.append(f'<div class="formula" tabindex="0">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
