"""Escaping of untrusted text, so that it is shown literally.

Neither Markdown nor Plotly may interpret it as markup, nor a spreadsheet as a formula.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_MOST_NAMED = 6
_QUOTED = re.compile("“([^“”]*)”")
# Plotly interprets a few HTML tags, and formulas between dollars; it shows entities as characters.
_PLOTLY_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "%": "&#37;"}


def code(text: str) -> str:
    """Return a text as inline code, in which Markdown interprets nothing."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    # Streamlit replaces names of icons in code too; an invisible joiner prevents that.
    text = text.replace(":material/", ":material\u2060/")
    # Markdown strips one blank at each end.
    return f"{fence} {text} {fence}" if text.strip() else "` `"


def value_as_code(raw: object) -> str:
    """Return a value of a link as inline code, shortened if it is long; links are untrusted."""
    text = repr(raw)
    return code(text if len(text) <= 80 else f"{text[:79]}…")


def allowed(names: Sequence[str], asked: str) -> str:
    """List the allowed names; of many, list the most similar to the one that was asked for."""
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    closest = sorted(names, key=lambda name: -SequenceMatcher(None, name.lower(), asked.lower()).ratio())
    return f"{', '.join(closest[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} others"


def markdown(sentence: str) -> str:
    """Escape a sentence for Markdown, with the untrusted text between “ and ” as code (see `datasets.UploadError`)."""
    return _QUOTED.sub(lambda match: code(match[1]), sentence)


def cell(text: str) -> str:
    """Escape a text for a table to download, since a spreadsheet computes what begins like a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def plotly(text: str) -> str:
    """Escape a text for a title, label or hover of a figure."""
    return "".join(_PLOTLY_ENTITIES.get(sign, sign) for sign in text)
