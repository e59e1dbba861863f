"""Words of a stranger, shown letter by letter.

Neither Markdown nor Plotly may take them for marks of their own, nor a spreadsheet for formulas.
"""

from __future__ import annotations

import re

_QUOTED = re.compile("“([^“”]*)”")
# Plotly reads a few tags of HTML, and formulas between dollars where a page can draw them; entities are letters to it.
_OF_PLOTLY = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "%": "&#37;"}


def code(text: str) -> str:
    """A text as Markdown's inline code, the one place where nothing else is read as a mark."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    # Streamlit rewrites the names of icons in code too; a joiner, which is not seen, keeps it from finding one.
    text = text.replace(":material/", ":material\u2060/")
    # Blanks at both ends belong to the fence.
    return f"{fence} {text} {fence}" if text.strip() else "` `"


def asked(raw: object) -> str:
    """What a link asks for, as code, and cut where it is long: whoever wrote the link may want it to be more."""
    text = repr(raw)
    return code(text if len(text) <= 80 else f"{text[:79]}…")


def markdown(sentence: str) -> str:
    """A sentence of ours in which a stranger's words stand between “ and ” (see `datasets.UploadError`)."""
    return _QUOTED.sub(lambda found: code(found[1]), sentence)


def cell(text: str) -> str:
    """A text for a table: such tables can be downloaded, and a spreadsheet computes what begins like a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def plotly(text: str) -> str:
    """A text for a title, label or hover of a figure."""
    return "".join(_OF_PLOTLY.get(sign, sign) for sign in text)
