"""Meanings of terms: shown by pointer, tap and keyboard, hidden by Escape, and none of it on paper."""

from __future__ import annotations

from conftest import settle

from pages.shared.glossary import TERMS

MEANING = {term.key: term.meaning for term in TERMS}


def test_a_term_says_what_it_means_to_pointer_keyboard_and_finger(open_page):
    page = open_page("bounds")
    tip = page.locator(".glossary-tip")
    bound, beta = (page.locator(f"p a[href='glossary#{key}']").first for key in ("bound", "beta"))
    assert not tip.is_visible() and bound.inner_text() == "bound"
    bound.hover()
    tip.wait_for()
    assert MEANING["bound"] in tip.inner_text() and bound.get_attribute("aria-describedby") == tip.get_attribute("id")
    box, word = tip.bounding_box(), bound.bounding_box()
    assert box["y"] >= word["y"] + word["height"] and box["x"] + box["width"] <= 1440
    tip.hover()  # the pointer may go to the meaning
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")
    assert bound.get_attribute("aria-describedby") is None
    beta.focus()
    tip.wait_for()
    assert MEANING["beta"] in tip.inner_text()
    page.locator("h1").click()
    tip.wait_for(state="hidden")
    address = page.url
    bound.click()  # a click keeps it, and leads nowhere
    page.mouse.move(0, 0)
    tip.wait_for()
    assert page.url == address and len(page.context.pages) == 1
    bound.click()
    tip.wait_for(state="hidden")
    page.emulate_media(media="print")
    assert bound.evaluate("word => getComputedStyle(word).textDecorationLine") == "none"
    page.emulate_media(media="null")


def test_on_a_phone_a_tap_shows_a_meaning_inside_the_window(open_page):
    page = open_page("", width=390, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    settle(page)
    tip, word = page.locator(".glossary-tip"), page.locator("p a[href='glossary#prior']").first
    word.tap()
    tip.wait_for()
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.locator("h1").tap()
    tip.wait_for(state="hidden")
