"""The documentation's site as `make docs` wrote it: each kind of page fits a phone and is accessible, light and dark.

Of the second group, for which `.ci/run 2` builds the site; links are checked when it is built.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import wait_until
from test_access import findings

SITE = Path(__file__).parents[2] / "build" / "docs"
PAGES = (
    "index.html",
    "tutorial.html",
    "theory.html",
    "gallery/02_landmarks.html",
    "reference/generated/rff_engine.GaussianKernel.html",
    "search.html",
)
pytestmark = [pytest.mark.second, pytest.mark.slow("opens each page twice, and axe-core takes a second")]


@pytest.fixture(scope="module")
def site(serve_folder):
    if not (SITE / "index.html").exists():
        reason = "the documentation is not built; `make docs` does"
        if "docs" in os.environ.get("RFF_TEST_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason)
        pytest.skip(reason)
    return f"http://127.0.0.1:{serve_folder(SITE)}"


@pytest.fixture
def opened(new_context, site):
    """Function that opens a page of the site, with its figures drawn, and notes what a script or request fails at."""

    def open_(path: str, width: int, scheme: str):
        page = new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("response", lambda answer: answer.status >= 400 and page.complaints.append(answer.url))
        page.goto(f"{site}/{path}")
        for figure in page.locator(".plotly-graph-div").all():
            figure.scroll_into_view_if_needed()
        wait_until(lambda: page.evaluate(PAINTED))
        return page

    return open_


PAINTED = """() => [...document.querySelectorAll('.plotly-graph-div')].every(one => one.querySelector('.main-svg'))
    && [...document.querySelectorAll('.math')].every(one => one.querySelector('mjx-container'))"""
# A title or a figure may be wider than its column even where the page does not scroll.
CUT = """() => [...document.querySelectorAll('.bd-article :is(h1, h2, h3, p, .main-svg)')]
    .filter(element => element.checkVisibility() && !element.closest('table, pre, mjx-container'))
    .filter(element => element.scrollWidth > element.clientWidth + 1
        || element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(element => element.tagName + ' ' + element.textContent.trim().slice(0, 40))"""


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_and_axe_finds_nothing_serious(opened, path, width, scheme):
    page = opened(path, width, scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert (page.evaluate(overflow), page.evaluate(CUT)) == (0, [])
    assert page.complaints == []
    assert findings(page) == []


def test_axe_and_the_check_of_widths_find_planted_defects(opened):
    page = opened("tutorial.html", 390, "light")
    page.evaluate(
        """() => document.querySelector('article h1').insertAdjacentHTML('afterend',
            '<p style="color: #bbb; white-space: nowrap">' + 'faint words '.repeat(20) + '</p><button></button>')"""
    )
    assert {rule for rule, *_ in findings(page)} == {"color-contrast", "button-name"}
    assert page.evaluate(CUT)
