"""Parts of a page that wait until the reader scrolls to them."""

from __future__ import annotations

import pytest
from conftest import SAVES_DATA, scroll_to, settle

SHOWN = "() => [...document.querySelectorAll('.place')].map(place => place.dataset.near === 'true')"


def test_parts_appear_when_the_reader_scrolls_or_prints(open_page, server):
    page = open_page("errata", apart=True)
    page.add_init_script("window.print = () => { window.printed = document.querySelectorAll('.main-svg').length; }")
    page.goto(f"{server}/adaptive")
    page.wait_for_selector(".live canvas")
    settle(page)
    top = page.evaluate(SHOWN)
    assert len(top) == 4 and not any(top[1:])
    scroll_to(page, "curve")
    assert page.evaluate(SHOWN)[2]
    # A part that has been left follows the controls once more, and then waits again.
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    slider = page.locator(".st-key-controls .st-key-r input[type=range]")
    for r in (30, 50):
        slider.press("ArrowRight")
        page.wait_for_function(f"() => location.search.includes('r={r}')")
        settle(page)
    page.wait_for_function("() => document.querySelectorAll('.place')[2].dataset.near === 'false'")
    assert page.locator(".st-key-landmark_curve").count() == 0
    page.keyboard.press("Control+p")
    page.wait_for_function("() => window.printed !== undefined")
    assert page.evaluate("window.printed") >= 3 and all(page.evaluate(SHOWN))


ON_PAPER = "() => [...document.querySelectorAll('.place')].map(place => getComputedStyle(place, '::after').content)"


@pytest.mark.parametrize("path", ["kernel", "certificates", "landmarks"])
def test_paper_has_all_parts_of_a_page_at_rest(open_page, server, path):
    page = open_page("errata", apart=True)
    page.add_init_script(SAVES_DATA % "false")
    page.goto(f"{server}/{path}")
    page.wait_for_selector(".live canvas")
    page.wait_for_function(f"() => ({SHOWN})().length && ({SHOWN})().every(Boolean)")
    settle(page)
    page.emulate_media(media="print")
    assert set(page.evaluate(ON_PAPER)) == {"none"}
    page.emulate_media(media="null")


def test_a_page_printed_too_early_says_so_and_fetches_its_parts(open_page):
    page = open_page("learn_kernel")
    page.emulate_media(media="print")
    assert page.evaluate(ON_PAPER)[-1] == '"This part was not computed yet: print the page once more."'
    page.pdf()
    page.wait_for_function(f"() => ({SHOWN})().every(Boolean)")
    assert set(page.evaluate(ON_PAPER)) == {"none"}
    page.emulate_media(media="null")
    # For these settings alone: the next ones compute what is in sight.
    page.locator(".live .scrubbers input[type=range]").first.press("ArrowRight")
    page.wait_for_function(f"() => !({SHOWN})().at(-1)")
    settle(page)
    assert page.locator(".st-key-along_beta").count() == 0
