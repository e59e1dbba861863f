"""The glossary: terms in texts show their meaning on hover, tap and keyboard focus, and a page lists them all.

A text marks a term as ``[[prior]]`` or ``[[landmarks]]``. The mark becomes a link to the list, which reads as a word on
paper; the browser shows the meaning next to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pages.shared import browser


@dataclass(frozen=True)
class Term:
    """A term of the glossary."""

    key: str
    """Its name in addresses"""
    name: str
    meaning: str
    """One sentence, without Markdown; formulas in plain characters"""
    forms: tuple[str, ...] = ()
    """Other words for it in texts, in lower case, such as its plural"""


# One a line, in the order of ideas: key | name | forms | meaning.
TERMS = tuple(
    Term(key, name, meaning, tuple(forms.split(", ")))
    for line in Path(__file__).with_name("terms.txt").read_text(encoding="utf-8").splitlines()
    for key, name, forms, meaning in [line.split(" | ")]
)

_MARK = re.compile(r"\[\[([^|\[\]]+)\]\]")
_TERM_OF = {form: term for term in TERMS for form in term.forms}
TIP = '<div class="glossary-tip" id="glossary-tip" role="tooltip"></div>'
_component = browser.component("glossary", Path(__file__).with_name("tip.js"), TIP, ["tip.css"])


def mount() -> None:
    """Let the browser show meanings; called once a page."""
    _component(data={"terms": {term.key: [term.name, term.meaning] for term in TERMS}}, key="glossary_tip")


def linked(text: str) -> str:
    """Replace the marks of a text by links in Markdown; marks of no term stay as they are."""

    def link(mark: re.Match) -> str:
        term = _TERM_OF.get(mark[1].lower())
        return f"[{mark[1]}](glossary#{term.key})" if term else mark[0]

    return _MARK.sub(link, text)
