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
_PRIMES = re.compile(r"<msup>(<m[ion]>[^<]*</m[ion]>)<m[io]>(&#x0203[23];)</m[io]></msup>")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", re.DOTALL)
_RELATIONS = {r"\le", r"\ge", "=", "<", ">"}
#: Letters of a formula that may break before a relation, where a phone has no room for it.
_LONG = 30
#: What follows a formula on its line.
_AFTER = re.compile(r"[.,;:)?!]+")


def mathml(formula: str, display: str = "inline") -> str:
    """A formula in LaTeX as MathML; a norm is one thing, which its exponent follows."""
    return spaced(convert(_NORM.sub(r"{\\lVert\1\\rVert}", formula), display=display))


def spaced(mathml: str) -> str:
    """Space around functions, as in cos a cos b, and none after a sign, as in exp(-x)."""
    mathml = _PRIMES.sub(r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>', mathml)  # they are raised themselves
    mathml = re.sub(rf"({_FUNCTION})(?!<mo|</)", rf"\1{_SPACE}", mathml)
    mathml = re.sub(rf"(</mi>|</mn>|</m\w*sqrt>|</m(?:sub|sup|subsup|frac)>)({_FUNCTION})", rf"\1{_SPACE}\2", mathml)
    return re.sub(_OPENING + _MINUS, r'\1<mo form="prefix">\2</mo>', mathml)


def pieces(formula: str) -> list[str]:
    """A formula, cut before each relation outside brackets if it is long."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(formula):
        depth += (token in "([{") - (token in ")]}")
        if token in _RELATIONS and depth == 0 and len(formula) > _LONG:
            parts.append("{}")
        parts[-1] += token
    return parts


def keep_punctuation(app, doctree) -> None:
    """Hand a formula the comma that follows it, so that no line begins with one."""
    for node in list(doctree.findall(nodes.math)):
        follower = node.next_node(nodes.Text, siblings=True, descend=False, ascend=False)
        marks = follower is not None and node.parent.index(follower) == node.parent.index(node) + 1
        if marks and (found := _AFTER.match(follower)):
            node["after"] = found[0]
            node.parent.replace(follower, nodes.Text(follower[found.end() :]))


def inline(writer, node) -> None:
    parts = [mathml(piece) for piece in pieces(node.astext())]
    parts[-1] += node.get("after", "")
    writer.body.append("&#8203;".join(f'<span class="whole">{part}</span>' for part in parts))
    raise nodes.SkipNode


def block(writer, node) -> None:
    formula = mathml(node.astext(), "block")
    writer.body.append(f'<div class="formula" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def setup(app):
    app.connect("doctree-read", keep_punctuation)
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
