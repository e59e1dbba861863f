"""Formulas as MathML, which browsers show without a script."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert

_FUNCTION = r"<mi>(?:cos|sin|exp|ln|log|max|min)</mi>"
_SPACE = '<mspace width="0.17em"/>'
_OPENING = r"(<mo[^>]*>(?:&#x00028;|&#x0005B;|&#x0002C;|\(|\[|,)</mo>)"
_NORM = re.compile(r"\\lVert((?:(?!\\rVert).)*)\\rVert(?=[_^])")
_MINUS = "<mo>(&#x02212;|−)</mo>"


def mathml(formula: str, display: str = "inline") -> str:
    """A formula in LaTeX as MathML; a norm is one thing, which its exponent follows."""
    return spaced(convert(_NORM.sub(r"{\\lVert\1\\rVert}", formula), display=display))


def spaced(mathml: str) -> str:
    """Space around functions, as in cos a cos b, and none after a sign, as in exp(-x)."""
    mathml = re.sub(rf"({_FUNCTION})(?!<mo|</)", rf"\1{_SPACE}", mathml)
    mathml = re.sub(rf"(</mi>|</mn>|</m\w*sqrt>|</m(?:sub|sup|subsup|frac)>)({_FUNCTION})", rf"\1{_SPACE}\2", mathml)
    return re.sub(_OPENING + _MINUS, r'\1<mo form="prefix">\2</mo>', mathml)


def inline(writer, node) -> None:
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def block(writer, node) -> None:
    formula = mathml(node.astext(), "block")
    writer.body.append(f'<div class="formula" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
