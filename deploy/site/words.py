"""The Markdown of the app's texts as HTML.

The texts use little of Markdown: paragraphs, lists, tables, bold, italics, code, links, formulas, and a colour.
`[[right|below]]` names a place on a wide and on a narrow screen, `<<white|dark grey>>` a colour in a light and in a
dark theme: the page has both words, and its style sheet shows one.
"""

from __future__ import annotations

import re
from html import escape

from latex2mathml.converter import convert

#: Patterns and what takes their place, in a text in which &, <, > and quotes are escaped.
_MARKS = (
    (re.compile(r"\[\[([^|\]]*)\|([^|\]]*)\]\]"), r'<span class="wide">\1</span><span class="narrow">\2</span>'),
    (re.compile(r"&lt;&lt;([^|;]*)\|([^|;]*)&gt;&gt;"), r'<span class="light">\1</span><span class="dark">\2</span>'),
    (re.compile(r"\*\*(.+?)\*\*", re.DOTALL), r"<strong>\1</strong>"),
    (re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)"), r"<em>\1</em>"),
    (re.compile(r":red\[((?:[^\[\]]|\[[^\]]*\])*)\]"), r'<span class="red">\1</span>'),
)
_LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
_KEPT = re.compile(r"\$([^$]+)\$|`([^`]+)`")


def html(text: str) -> str:
    """Turn Markdown into HTML: paragraphs, lists and tables."""
    return "".join(_block(block) for block in re.split(r"\n\s*\n", text.strip()))


def display(text: str) -> str:
    """Turn a formula between double dollar signs into HTML."""
    return f'<div class="formula">{mathml(text.strip().strip("$"), display=True)}</div>'


def mathml(latex: str, display: bool = False) -> str:
    """Turn a formula into MathML, which browsers show without a script. `display` gives it a line of its own.

    Raise a ValueError if a command is not known.
    """
    mathml = convert(latex, display="block" if display else "inline")
    if left := re.findall(r"\\\w*", mathml):
        raise ValueError(f"The formula {latex!r} has the command {left[0]}, which cannot be drawn.")
    return mathml


def _block(block: str) -> str:
    if block.startswith("|"):
        return _table(block)
    if block.startswith("$$"):
        return display(block)
    lead, *items = re.split(r"^- ", block, flags=re.MULTILINE)
    shown = f"<p>{inline(lead)}</p>" if lead.strip() else ""
    return shown + ("<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>" if items else "")


def _table(block: str) -> str:
    """Turn a table in Markdown into HTML. Its second line separates the head."""
    head, _, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines())
    body = "".join(f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f'<th scope="col">{inline(cell)}</th>' for cell in head)
    table = f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide-table" tabindex="0">{table}</div>'


def inline(text: str) -> str:
    """Turn a line in Markdown into HTML."""
    kept: list[str] = []

    def keep(match: re.Match) -> str:
        kept.append(mathml(match[1]) if match[1] else f"<code>{escape(match[2])}</code>")
        return f"\0{len(kept) - 1}\0"

    text = escape(_KEPT.sub(keep, text).strip(), quote=False).replace("&amp;nbsp;", "\u00a0")
    text = _LINK.sub(lambda match: f'<a href="{address(match[2])}">{match[1]}</a>', text)
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)


def address(link: str) -> str:
    """Turn a link of the app into one of the static edition, where the pages are files."""
    return link.replace("glossary#", "glossary.html#") if link.startswith("glossary#") else link
