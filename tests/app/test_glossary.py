"""The glossary: every mark in a text is a term, and a mark becomes a link to the list."""

from __future__ import annotations

import re

import pytest

from pages.shared import glossary
from pages.shared.glossary import TERMS

from .sessions import ROOT, opened

FORMS = {form: term for term in TERMS for form in term.forms}


def marks() -> set[str]:
    """Every mark in the source of the pages, in lower case; a line of source may break it."""
    marked = set()
    for path in (ROOT / "pages").rglob("page.py"):
        source = re.sub(r'"\n\s*f?"', "", path.read_text(encoding="utf-8"))
        marked |= {mark.lower() for mark in re.findall(r"\[\[([^|\[\]\"]+)\]\]", source)}
    return marked


def test_every_mark_is_a_term():
    assert marks() <= FORMS.keys()


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.key)
def test_a_term_is_one_plain_sentence_with_forms_of_its_own(term):
    assert re.fullmatch(r"[A-Za-z-]+", term.key) and term.meaning.endswith(".")
    assert not re.search(r"[*_`$\\\[\]]", term.meaning) and len(re.findall(r"\.(?=\s|$)", term.meaning)) == 1
    assert term.forms == tuple(form.lower() for form in term.forms) != ()
    assert all(FORMS[form] is term for form in term.forms)


def test_marks_become_links_and_anything_else_stays():
    assert glossary.linked("Each [[Landmark]] has a **[[prior]]**.") == (
        "Each [Landmark](glossary#landmark) has a **[prior](glossary#prior)**."
    )
    for text in ("[[right|below]]", "[[no such term]]", "x[[1]]", "[a](b)"):
        assert glossary.linked(text) == text


@pytest.mark.slow
def test_the_list_has_every_term():
    app = opened("glossary")
    assert {(header.value, header.proto.anchor) for header in app.header} == {(term.name, term.key) for term in TERMS}
    assert {term.meaning for term in TERMS} <= {text.value for text in app.markdown}
