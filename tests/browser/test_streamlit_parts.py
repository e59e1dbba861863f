"""Streamlit's own elements, which style sheets, scripts and tests find by names that a new Streamlit may change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import streamlit
from conftest import show_all

ROOT = Path(__file__).parents[2]
PHONE = 390

#: What the app looks for, `{name}` for `[data-testid="name"]`, by a page and a width at which it is there.
PARTS = {
    ("landmarks?beta=many&lesson=prior-to-cosine", 1440): [
        "{stApp}.stApp",
        "{stHeader}",
        "{stMain} h1",
        "{stMainBlockContainer} {stElementContainer}",
        "{stMainBlockContainer}:has(.lesson)",
        "{stLayoutWrapper}:has(> .st-key-unseen)",
        "{stLayoutWrapper}:has(> * > * > .st-key-steps)",
        "{stLayoutWrapper}:has(> * > * > .st-key-presets)",
        "{stLayoutWrapper}:has(> * > .st-key-lesson_card)",
        "{stExpander} summary",
        "{stExpander} > details > div{stExpanderDetails}",
        "{stCaptionContainer} p",
        "{stMarkdownContainer} p",
        "{stSlider} :has(> {stSliderThumbValue})",
        "{stBaseButton-primary}",
        "{stButtonGroup}",
        "{stPlotlyChart} .js-plotly-plot .main-svg",
        ".st-key-controls > {stLayoutWrapper}:has(> .st-key-lessons)",
        ".st-key-controls {stElementContainer}:has(> {stButtonGroup})",
        ".st-key-more_settings {stHorizontalBlock} > {stElementContainer}",
        ".st-key-more_settings {stElementContainer}:has(> {stMarkdown})",
        ".st-key-link_note",
        ".st-key-step_entries",
        ".st-key-steps button",
        "[class*=st-key-near_] .place",
    ],
    ("landmarks?data=your+own+points", 1440): [".st-key-drawing > div > {stHorizontalBlock} > {stColumn}:first-child"],
    ("", 1440): [".st-key-first_steps {stPageLink} a", "{stPageLink} a > :has(> {stIconMaterial})"],
    ("", PHONE): [
        "{stSidebar}",
        "{stSidebarNavLink}",
        "{stExpandSidebarButton}",
        ".st-key-first_steps {stPopover}",
    ],
    ("bounds", 1440): ['.st-key-question [role="tab"] p'],
    ("your_data", 1440): ["{stDataFrame}", "{stElementContainer}:has(> {stHtml} > .on-paper)"],
}


def selector(part: str) -> str:
    return re.sub(r"\{([\w-]+)\}", r'[data-testid="\1"]', part)


def names(folder: str, *kinds: str) -> set[str]:
    """Streamlit's names in the files of a folder."""
    texts = [path.read_text(encoding="utf-8") for kind in kinds for path in (ROOT / folder).rglob(f"*.{kind}")]
    return set(re.findall(r"\bst[A-Z][\w-]*", " ".join(texts)))


def test_the_list_has_every_name_that_style_sheets_and_scripts_use():
    listed = re.findall(r"\{([\w-]+)\}", " ".join(part for parts in PARTS.values() for part in parts))
    assert names("pages", "css", "js") == set(listed)


def test_streamlit_has_every_name_that_tests_look_for():
    """Some wait until a part is gone, or see that an error is not there."""
    scripts = (Path(streamlit.__file__).parent / "static").rglob("*.js")
    known = re.findall(r"[\"'`](st[A-Z][\w-]*)([\"'`]|\$\{)", " ".join(path.read_text("utf-8") for path in scripts))
    begun = tuple(name for name, end in known if end == "${")
    used = names("tests", "py") | names("benchmarks", "py")
    assert {name for name in used - {name for name, _ in known} if not name.startswith(begun)} == set()


@pytest.mark.parametrize(("path", "width"), PARTS)
def test_streamlit_has_every_part_where_the_app_looks_for_it(open_page, path, width):
    page = open_page(path, width)
    show_all(page)
    missing = [part for part in PARTS[path, width] if not page.locator(selector(part)).count()]
    assert not missing
