"""A map of the page Landmarks enlarged: its cosines added one by one, its keyboard, and where it fits."""

from __future__ import annotations

import pytest
from conftest import DRAWN, settle, wait_until
from test_access import equations_are_open, findings
from test_live import move_sliders, open_live

OPEN = "() => document.querySelector('.live dialog')?.open === true"
CLOSED = "() => !document.querySelector('.live dialog')"
# How far the sum of `count` cosines is from the sum of all, at most and at the landmark's cell, and what is written.
REACHED = """() => {
    const {view} = document.querySelector('.live'), {enlarged} = view, whole = view.learnedMaps[enlarged.landmark];
    const text = name => document.querySelector(`.live dialog .${name}`).textContent;
    return {
        count: enlarged.count,
        share: enlarged.reached.shares[enlarged.count],
        apart: enlarged.sum.reduce((most, value, i) => Math.max(most, Math.abs(value - whole[i])), 0),
        highest: Math.max(...whole),
        words: ['count-value', 'share-value', 'lacking-value'].map(text),
    };
}"""


def enlarge(page, landmark: int = 2):
    """Click the learned map of a landmark."""
    page.get_by_role("button", name=f"Enlarge the learned similarity to landmark {landmark}").click()
    page.wait_for_function(OPEN)
    return page.locator(".live dialog")


def reached(page, count: int) -> dict:
    """The numbers of the sum of so many cosines, chosen by the slider."""
    page.locator(".live dialog").get_by_role("slider", name="Cosines in the sum").fill(str(count))
    page.evaluate(DRAWN)
    return page.evaluate(REACHED)


def test_cosines_add_up_to_the_whole_map(open_page):
    page = open_live(open_page)
    dialog = enlarge(page)
    assert dialog.get_by_role("heading", name="Landmark 2").is_visible()
    found = [reached(page, count) for count in (1, 5, 19, 20)]
    assert [numbers["words"][0] for numbers in found] == ["1 of 20", "5 of 20", "19 of 20", "20 of 20"]
    for numbers in found:
        # No cosine is above 1: what is missing is at most the weight of those that are missing.
        assert numbers["apart"] <= 1 - numbers["share"] + 1e-5
        assert numbers["words"][1] == f"{100 * numbers['share']:.1f} %"
    assert found[0]["apart"] > found[1]["apart"] > found[2]["apart"] > 0
    assert found[-1]["apart"] < 1e-5 < 0.5 < found[-1]["highest"]
    assert found[-1]["words"][1:] == ["100.0 %", "0.000"]
    # The last cosine is the next heaviest.
    before, after = reached(page, 3), reached(page, 4)
    weight, top, bottom = page.evaluate(
        """() => {
            const {view} = document.querySelector('.live'), {enlarged} = view, start = enlarged.landmark * view.maxD;
            const weights = Array.from(view.Q.subarray(start, start + view.D)).sort((a, b) => b - a);
            return [weights[3], Math.max(...enlarged.last), Math.min(...enlarged.last)];
        }"""
    )
    assert after["share"] - before["share"] == pytest.approx(weight)
    assert top == pytest.approx(1, abs=0.02) and bottom >= -1 - 1e-5
    # The width moves beside the map.
    before, fastest = reached(page, 5), page.evaluate("document.querySelector('.live').view.enlarged.fastest")
    move_sliders(page, {"sigma": 1.0}, "view.sigma")
    assert page.evaluate("document.querySelector('.live').view.enlarged.fastest") == pytest.approx(0.501 * fastest)
    after = reached(page, 5)
    assert after["share"] != before["share"] and after["apart"] <= 1 - after["share"] + 1e-5
    assert reached(page, 20)["apart"] < 1e-5


def test_beta_moves_inside_and_its_end_is_in_the_url(open_page):
    page = open_live(open_page)
    dialog = enlarge(page)
    share = reached(page, 3)["share"]
    beta = dialog.locator("input[name=beta]")
    moved = move_sliders(page, {"beta": 10}, "view.enlarged.reached.shares[3]")
    assert moved > share + 0.02
    assert page.evaluate(REACHED)["count"] == 3
    beta.focus()
    beta.press("ArrowRight")
    page.wait_for_function("() => Number(new URL(location.href).searchParams.get('beta')) > 9")
    settle(page)
    assert dialog.is_visible() and dialog.locator(".scrubbers").is_visible()
    # All of them, also when there are more.
    reached(page, 20)
    assert move_sliders(page, {"D": 50}, "[view.enlarged.count, view.enlarged.reached.shares[50]]") == [
        50,
        pytest.approx(1),
    ]


def test_the_keyboard_opens_stays_inside_and_returns_to_the_map(open_page):
    page = open_live(open_page)
    picture = "document.querySelector('.live').view.picture().length"
    before = page.evaluate(picture)
    opener = page.get_by_role("button", name="Enlarge the learned similarity to landmark 1")
    inside = "document.activeElement === document.body || !!document.activeElement.closest('.live dialog')"
    for key in ("Enter", " "):
        opener.focus()
        page.keyboard.press(key)
        page.wait_for_function(OPEN)
        assert page.evaluate("document.activeElement.matches('.live dialog .adding input')")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('.live dialog .count-value').textContent === '2 of 20'")
        for _ in range(12):
            page.keyboard.press("Tab")
            assert page.evaluate(inside)
        page.keyboard.press("Escape")
        page.wait_for_function(CLOSED)
        assert opener.evaluate("map => map === document.activeElement")
    # The view is as before, with the sliders where they were, and moves on.
    assert page.evaluate("document.querySelector('.live').view.panels.length") == page.locator(".live canvas").count()
    assert page.evaluate(picture) == pytest.approx(before, rel=1e-3)
    assert page.evaluate("document.querySelector('.live > .scrubbers') === document.querySelector('.live').children[0]")
    for _ in range(5):
        page.locator(".live input[name=beta]").press("ArrowRight")
    page.wait_for_function("() => new URL(location.href).searchParams.has('beta')")
    assert page.complaints == []


def test_buttons_go_to_the_next_landmark_and_close(open_page):
    page = open_live(open_page, "landmarks?landmarks=3")
    dialog = enlarge(page, 3)
    dialog.get_by_role("button", name="Next landmark").click()
    dialog.get_by_role("heading", name="Landmark 1").wait_for()
    dialog.get_by_role("button", name="Previous landmark").click()
    dialog.get_by_role("heading", name="Landmark 3").wait_for()
    assert reached(page, 20)["apart"] < 1e-5
    dialog.get_by_role("button", name="Close").click()
    page.wait_for_function(CLOSED)
    enlarge(page, 1)
    page.mouse.click(3, 450)  # the page behind
    page.wait_for_function(CLOSED)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_play_adds_all_cosines(open_page, motion):
    page = open_live(open_page, "landmarks?D=12", reduced_motion=motion)
    dialog = enlarge(page)
    play = dialog.get_by_role("button", name="Play: add the cosines one by one")
    page.evaluate(
        """() => {
            window.seen = [];
            const {enlarged} = document.querySelector('.live').view, setCount = enlarged.setCount.bind(enlarged);
            enlarged.setCount = count => { setCount(count); seen.push(enlarged.count); };
        }"""
    )
    play.click()
    page.wait_for_function("() => seen[seen.length - 1] === 12")
    assert play.get_attribute("aria-pressed") == "false"
    assert page.evaluate("seen") == ([2, 4, 8, 12] if motion == "reduce" else list(range(2, 13)))


@pytest.mark.first
def test_a_click_on_a_frequency_or_on_the_chart_goes_there(open_page):
    page = open_live(open_page)
    dialog = enlarge(page)
    plane, chart = dialog.locator("canvas.frequency-plane"), dialog.locator("canvas.reached")
    at = page.evaluate(
        """() => {
            const {enlarged} = document.querySelector('.live').view, [a, b] = enlarged.frequency(enlarged.order[4]);
            return [a / enlarged.fastest, b / enlarged.fastest];
        }"""
    )
    box = plane.bounding_box()
    # The opposite frequency has the same cosine.
    page.mouse.click(box["x"] + box["width"] * (0.5 - at[0] / 2), box["y"] + box["height"] * (0.5 + at[1] / 2))
    page.wait_for_function("() => document.querySelector('.live dialog .count-value').textContent === '5 of 20'")
    left, right = page.evaluate(
        "(({left, right}) => [left, right])(document.querySelector('.live').view.enlarged.frame)"
    )
    box = chart.bounding_box()
    page.mouse.click(box["x"] + left + 0.6 * (right - left), box["y"] + box["height"] / 2)
    page.wait_for_function("() => document.querySelector('.live dialog .count-value').textContent === '12 of 20'")


def test_other_data_close_it(open_page):
    page = open_live(open_page, "landmarks?seed=3")
    enlarge(page, 5)
    page.evaluate(
        """() => {
            const {view} = document.querySelector('.live');
            view.update({...view.data, version: 'other'}, view.report);
        }"""
    )
    page.wait_for_function(CLOSED)
    assert page.locator(".live > .scrubbers").is_visible()


@pytest.mark.parametrize(
    ("width", "scheme", "more"),
    [(1440, "light", ""), (768, "light", ""), (390, "dark", ""), (1280, "light", "?projector=true")],
)
def test_it_fits_shows_the_map_with_its_slider_and_is_accessible(open_page, width, scheme, more):
    page = open_live(open_page, f"landmarks{more}", width=width, scheme=scheme, reduced_motion="reduce")
    wait_until(lambda: equations_are_open(page))  # the dialog covers them
    dialog = enlarge(page)
    box = dialog.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] >= 0 and box["y"] + box["height"] <= 900
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    for part in (".scrubbers input[name=beta]", "canvas.sum", ".adding input", ".leave"):
        seen = dialog.locator(part).bounding_box()
        assert seen["height"] > 0 and seen["y"] >= 0 and seen["y"] + seen["height"] <= box["y"] + box["height"], part
    assert dialog.locator("canvas.sum").bounding_box()["width"] > 0.5 * min(width / 2, 900)
    reached(page, 4)
    assert [found for found in findings(page) if not found[1].endswith(".katex-display")] == []
