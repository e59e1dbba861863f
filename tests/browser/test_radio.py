"""Tune the radio: search, keep, compare with the posterior, and come back by the link; by pointer and by keyboard."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from pages.start import compute
from tests.browser.conftest import wait_until

SHOWN = "() => document.querySelector('.live')?.view?.yours !== undefined"


@pytest.fixture
def radio(open_page):
    page = open_page("", apart=True)
    page.wait_for_function(SHOWN)
    return page


def place(page, x: float, y: float) -> tuple[float, float]:
    """Where a frequency is on the card."""
    box = page.locator("canvas.card").bounding_box()
    return box["x"] + box["width"] * (x / 28 + 0.5), box["y"] + box["height"] * (0.5 - y / 28)


def shown(page) -> dict:
    names = ("your-error", "your-kl", "your-bound", "its-error", "its-kl", "its-bound")
    return {name: page.locator(f".duel .{name}").inner_text() for name in names}


def numbers(tuning: compute.Tuning) -> dict:
    rows = compute.numbers(tuning).set_index("similarity")
    texts = {"your": "yours" if tuning.waves else "kernel", "its": "posterior"}
    return {
        f"{who}-{name}": text
        for who, row in texts.items()
        for name, text in (
            ("error", f"{100 * rows.test_error[row]:.1f} %"),
            ("kl", f"{rows.kl[row]:.2f} nats"),
            ("bound", "none" if np.isnan(rows.bound[row]) else f"{rows.bound[row]:.3f}"),
        )
    }


def test_two_waves_that_a_hand_finds_and_the_posterior_have_the_engines_numbers(radio):
    for x, y in ((4.2, 4.2), (4.2, -4.2)):
        radio.mouse.move(*place(radio, x, y))
        assert "agreement +0." in radio.locator(".heard-words").inner_text()
        radio.mouse.click(*place(radio, x, y))
    radio.get_by_role("button", name="Let the posterior do it").click()
    radio.wait_for_url(re.compile(r"\?radio=checkerboard~\d+-\d+~1~2000~0\.251~posterior$"))
    tuning = compute.decode(radio.url.split("=")[1])
    assert len(tuning.waves) == 2 and shown(radio) == numbers(tuning)
    assert re.fullmatch(
        r"You: [\d.]+ % with 2 waves; the posterior: [\d.]+ %\.", radio.locator(".verdict").inner_text()
    )
    radio.reload()  # the link has all of it
    radio.wait_for_function(SHOWN)
    wait_until(lambda: shown(radio) == numbers(tuning))


def test_the_keyboard_searches_keeps_and_lets_go(radio):
    card = radio.locator("canvas.card")
    card.focus()
    for key in ("ArrowRight", "ArrowUp") * 8:
        card.press(key)
    card.press(" ")
    radio.wait_for_url(re.compile(r"radio=checkerboard~\d+~1~2000~0\.251$"))
    assert shown(radio)["your-kl"] == "7.60 nats"  # ln 2000
    radio.get_by_role("button", name="Take back").click()
    radio.wait_for_url(lambda url: "radio=" not in url)
    expect(radio.get_by_role("button", name="Take back")).to_be_hidden()
    card.press("Control+y")
    radio.wait_for_url(re.compile(r"radio=checkerboard~\d+~1~2000~0\.251$"))
    card.press("ArrowLeft")
    card.press("ArrowRight")
    card.press("Enter")  # the same wave again
    radio.wait_for_url(lambda url: "radio=" not in url)
    assert shown(radio)["your-error"] == "50.0 %"


def test_a_star_that_is_moved_has_no_bound(radio):
    radio.locator("canvas.heard").focus()
    radio.locator("canvas.heard").press("ArrowRight")
    wait_until(lambda: shown(radio)["your-bound"] == "none")
    assert "no bound holds" in radio.locator(".verdict").inner_text()
    radio.wait_for_url(re.compile(r"radio=checkerboard~~1~2000~0\.251~0\.42~0\.38$"))
    radio.get_by_role("button", name="data: spirals").click()
    radio.wait_for_url(re.compile(r"radio=spirals~~1~2000~0\.251$"))
    assert shown(radio)["your-bound"] == numbers(compute.decode("spirals~~1~2000~0.251"))["your-bound"]


def test_points_drawn_by_hand_are_in_the_link(radio):
    radio.get_by_role("button", name="draw your own points").click()
    radio.wait_for_url(re.compile(r"radio=own\.[\w-]{16}~~1~2000~0\.5$"))
    box = radio.locator("canvas.heard").bounding_box()
    radio.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    radio.wait_for_url(re.compile(r"radio=own\.[\w-]{20}~~1~2000~0\.5$"))
    radio.get_by_role("button", name="Let the posterior do it").click()
    radio.wait_for_url(re.compile(r"~posterior$"))
    assert shown(radio) == numbers(compute.decode(radio.url.split("=")[1]))
    radio.get_by_role("button", name="rub out").click()
    radio.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    radio.wait_for_url(re.compile(r"radio=own\.[\w-]{16}~"))
    for keys, points in (("Control+z", 20), ("Control+Shift+z", 16), ("Control+z", 20)):
        radio.keyboard.press(keys)  # a gesture back, and forth
        radio.wait_for_url(re.compile(rf"radio=own\.[\w-]{{{points}}}~"))
    radio.locator(".sets .set").nth(1).click()  # of other data nothing is known yet
    expect(radio.locator(".duel .its-error")).to_have_text("?")


def test_play_turns_the_posterior_over_and_back_leaves_a_lesson_of_another_page(radio, server):
    radio.get_by_role("button", name="Play").click()
    radio.wait_for_function("() => document.querySelector('.live').view.value('beta') > 20")
    assert shown(radio)["its-kl"] != "?"
    radio.wait_for_url(re.compile(r"~posterior$"))
    radio.goto(server)
    radio.get_by_role("link", name="From the prior to a single cosine").click()
    radio.wait_for_url("**/landmarks?*beta=*")  # the lesson sets what it needs
    radio.go_back()
    radio.wait_for_url(f"{server}/")
    radio.get_by_role("heading", name="What if a kernel were only a first guess?").wait_for()
