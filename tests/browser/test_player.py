"""The live view of a descent: playing, moving the step by keyboard and pointer, and what it shows at a step."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from conftest import DRAWN, drag, inside, show_all, wait_until

from datasets import ToyData
from pages.adaptive.compute import AdaptiveSettings, descent

# What the view shows: the step, the frequencies and their weights, and the marked errors.
SHOWN = """() => {
    const view = document.querySelector('.live').view;
    return {
        place: Number(view.slider.value), step: view.shown.step, last: view.steps.at(-1), kept: view.steps.length,
        omega: [...view.dots.omega], weight: [...view.dots.weight], errors: view.shown.errors,
        button: view.find('.play').textContent, spoken: view.slider.getAttribute('aria-valuetext'),
    };
}"""

# Count starts and ends of the page's script, and reports to the server, from now on.
COUNT_RUNS = """() => {
    window.scriptRuns = 0;
    const watch = new MutationObserver(() => window.scriptRuns++);
    watch.observe(document.querySelector('[data-testid=stApp]'), {attributeFilter: ['data-test-script-state']});
    const view = document.querySelector('.live').view;
    view.report = () => window.scriptRuns++;
}"""

# A checksum of a canvas.
PIXELS = """selector => {
    const canvas = document.querySelector(selector), c = canvas.getContext('2d');
    const {data} = c.getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((sum, v, k) => (31 * sum + v * (k % 97)) | 0, 7);
}"""


def opened(open_page, path="adaptive", **options):
    page = open_page(path, **options)
    page.wait_for_function("() => document.querySelector('.live')?.view?.shown !== undefined")
    page.locator(".live").scroll_into_view_if_needed()
    show_all(page)  # later no part comes near, which would run the script
    return page


def shown(page) -> dict:
    return page.evaluate(SHOWN)


def play(page):
    return page.locator(".live .play")


def thumb(page):
    return page.locator(".live input[name=step]")


def drawn(page) -> list:
    return [page.evaluate(PIXELS, f".live canvas.{name}") for name in ("frequencies", "errors")]


@pytest.fixture(scope="module")
def engine():
    """The default descent, computed by the engine."""
    return descent(AdaptiveSettings(ToyData("line", 300, 0.05, 0), 1.0, "sample", 50), 20)


@pytest.mark.first
def test_kept_steps_are_the_engines_and_interpolated_between(open_page, engine):
    page = opened(open_page)
    arrays = page.evaluate(
        "(({steps, omega, weights, errors, landmarkErrors}) => [steps, omega, weights, errors, landmarkErrors]"
        ".map(values => [...values]))(document.querySelector('.live').view)"
    )
    expected = (engine.steps, engine.frequencies, engine.weights, engine.errors, engine.landmark_errors)
    for received, computed in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(received, np.ravel(computed), rtol=1e-5, atol=1e-6)
    thumb(page).focus()
    for key, k in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("End", -1)):
        page.keyboard.press(key)
        step = engine.steps[k]
        page.wait_for_function(f"() => document.querySelector('.live').view.shown.step === {step}")
        now = shown(page)
        np.testing.assert_allclose(np.reshape(now["omega"], (-1, 2)), engine.frequencies[k], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(now["weight"], engine.weights[k], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(now["errors"], [engine.errors[k], engine.landmark_errors[step]], rtol=1e-5)
    # Between two kept steps, values are interpolated.
    page.evaluate(
        "() => { const {slider} = document.querySelector('.live').view; slider.step = 'any'; slider.value = 30.25;"
        " slider.dispatchEvent(new Event('input')); }"
    )
    page.wait_for_function("() => document.querySelector('.live').view.kept === 30")
    now = shown(page)
    for name, path in (("omega", engine.frequencies), ("weight", engine.weights)):
        expected = 0.75 * path[30] + 0.25 * path[31]
        np.testing.assert_allclose(now[name], expected.ravel(), rtol=1e-4, atol=1e-6)
    assert now["step"] == pytest.approx(0.75 * engine.steps[30] + 0.25 * engine.steps[31])
    # On a logarithmic axis the line between two errors is straight.
    assert now["errors"][0] == pytest.approx(engine.errors[30] ** 0.75 * engine.errors[31] ** 0.25, rel=1e-4)
    assert page.complaints == []


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_plays_and_stops_without_the_server(open_page, key):
    page = opened(open_page)
    before, picture = shown(page), drawn(page)
    assert before["step"] == before["place"] == 0 and before["kept"] > 10
    page.evaluate(COUNT_RUNS)
    play(page).focus()
    page.keyboard.press(key)
    wait_until(lambda: 5 < shown(page)["step"] < before["last"])  # a step on the way is shown
    assert shown(page)["button"] == "❚❚"
    page.keyboard.press(key)
    wait_until(lambda: shown(page)["button"] == "▶" and shown(page)["step"] % 1 == 0)
    stopped = shown(page)
    assert 4 < stopped["step"] < stopped["last"] and stopped["place"] == round(stopped["place"])
    page.wait_for_timeout(500)  # as long as five kept steps
    assert shown(page) == stopped
    page.keyboard.press(key)
    wait_until(lambda: shown(page)["step"] == before["last"])
    after = shown(page)
    assert after["button"] == "▶" and after["omega"] != before["omega"]
    assert all(new != old for new, old in zip(drawn(page), picture, strict=True))
    page.keyboard.press(key)  # at the end, Play starts again
    wait_until(lambda: shown(page)["step"] < before["last"] / 2)
    assert page.evaluate("window.scriptRuns") == 0
    assert "step" not in parse_qs(urlsplit(page.url).query)
    assert page.complaints == []


def test_a_step_is_announced_and_a_key_on_the_slider_ends_play(open_page):
    page = opened(open_page)
    thumb(page).focus()
    page.keyboard.press("End")
    wait_until(lambda: shown(page)["step"] == shown(page)["last"])
    now = shown(page)
    words = re.fullmatch(r"(\d+) of (\d+): error (\S+) over all points, (\S+) at the landmarks", now["spoken"])
    step, last, *errors = (float(word.replace("−", "-")) for word in words.groups())
    assert step == last == now["last"] and errors == pytest.approx(now["errors"], rel=5e-3)
    page.keyboard.press("Home")
    play(page).click()
    wait_until(lambda: shown(page)["place"] > 3)
    thumb(page).focus()
    page.keyboard.press("Home")
    wait_until(lambda: shown(page)["place"] == 0 and shown(page)["button"] == "▶")
    page.wait_for_timeout(300)  # as long as three kept steps
    assert shown(page)["place"] == 0


@pytest.mark.parametrize("playing", [False, True])
def test_dragging_the_slider_shows_its_step(open_page, playing):
    page = opened(open_page, "adaptive?data=moons")
    page.evaluate(COUNT_RUNS)
    if playing:
        play(page).click()
    seen = set()
    drag(page, inside(thumb(page), 0.02), inside(thumb(page), 0.05))
    for fraction in np.linspace(0.1, 0.5, 8):
        page.mouse.move(*inside(thumb(page), fraction))
        page.evaluate(DRAWN)
        seen.add(shown(page)["place"])
    page.mouse.up()
    wait_until(lambda: shown(page)["step"] % 1 == 0)
    middle = shown(page)
    assert len(seen) >= 6 and all(place == round(place) for place in seen)  # it moved while it was held
    assert middle["kept"] * 0.4 < middle["place"] < middle["kept"] * 0.6 and middle["button"] == "▶"
    page.wait_for_timeout(400)  # longer than a slider takes to settle
    assert shown(page) == middle and page.evaluate("window.scriptRuns") == 0
    assert page.complaints == []


def test_the_step_is_dragged_on_the_chart_of_errors(open_page):
    page = opened(open_page)
    chart = page.locator(".live canvas.errors")
    left, right = page.evaluate("(({left, right}) => [left, right])(document.querySelector('.live').view.frame)")
    x, y = inside(chart, 0)
    drag(page, (x + 0.8 * left + 0.2 * right, y), (x + 0.5 * (left + right), y))
    page.mouse.up()
    wait_until(lambda: abs(shown(page)["step"] - 0.5 * shown(page)["last"]) <= 0.03 * shown(page)["last"])


def test_a_frequency_under_the_pointer_shows_its_weight_and_start(open_page, engine):
    page = opened(open_page)
    thumb(page).focus()
    page.keyboard.press("End")
    wait_until(lambda: shown(page)["step"] == shown(page)["last"])
    heaviest = int(np.argmax(engine.weights[-1]))
    plane = page.locator(".live canvas.frequencies")
    plane.scroll_into_view_if_needed()
    box, before = plane.bounding_box(), drawn(page)
    points = page.evaluate(PIXELS, ".live canvas.points")
    x, y = page.evaluate(f"document.querySelector('.live').view.dots.spots[{heaviest}]")
    page.mouse.move(box["x"] + x, box["y"] + y)
    words = page.locator(".live .readout")
    wait_until(lambda: f"weight {engine.weights[-1, heaviest]:.4f}" in words.inner_text())
    start = "Drawn at ({:.2f}, {:.2f})".format(*engine.frequencies[0, heaviest])
    assert start in words.inner_text().replace("−", "-")
    assert drawn(page)[0] != before[0]
    assert page.locator(".live .points-words").inner_text() == (
        "300 points, 50 landmarks (orange), over the wave of this frequency"
    )
    assert page.evaluate(PIXELS, ".live canvas.points") != points
    page.mouse.move(2, 2)
    wait_until(lambda: "Point at" in words.inner_text())
    plane.focus()
    page.keyboard.press("ArrowRight")  # the first one is the heaviest
    wait_until(lambda: page.evaluate("document.querySelector('.live').view.focus.frequency") == heaviest)


def test_another_descent_is_shown_at_its_end_if_the_last_one_was(open_page):
    page = opened(open_page)
    before = shown(page)
    control = page.locator(".st-key-r input[type=range]")
    control.focus()
    control.press("ArrowRight")
    wait_until(lambda: len(shown(page)["weight"]) == 30)
    after = shown(page)
    assert after["omega"][:40] == before["omega"] and after["place"] == 0  # the first frequencies are the same
    thumb(page).focus()
    page.keyboard.press("End")
    control.focus()
    control.press("ArrowRight")
    wait_until(lambda: len(shown(page)["weight"]) == 50)
    wait_until(lambda: shown(page)["step"] == shown(page)["last"])
    play(page).click()
    wait_until(lambda: 0 < shown(page)["place"] < 10)


def test_data_of_a_descent_are_small(open_page):
    page = opened(open_page, "adaptive?r=50&data=moons")
    size = page.evaluate("JSON.stringify(document.querySelector('.live').view.data).length")
    assert 20_000 < size < 100_000


@pytest.mark.parametrize(("width", "scheme", "more"), [(900, "dark", ""), (1440, "light", "?projector=true")])
def test_button_slider_and_both_panels_fit_on_one_screen(open_page, width, scheme, more):
    page = opened(open_page, f"adaptive{more}", width=width, scheme=scheme)
    play(page).evaluate("button => button.scrollIntoView()")
    page.evaluate("() => document.querySelector('.live .descent').scrollIntoView({block: 'end'})")
    boxes = [page.locator(f".live {part}").bounding_box() for part in (".play", "input", "canvas.frequencies")]
    boxes.append(page.locator(".live canvas.errors").bounding_box())
    button, slider, plane, chart = boxes
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= 900 for box in boxes)
    assert button["x"] + button["width"] <= slider["x"]
    assert slider["y"] + slider["height"] <= plane["y"] == chart["y"]
    assert page.locator(".live canvas.points").bounding_box()["x"] < plane["x"]
    assert plane["x"] + plane["width"] <= chart["x"] and abs(plane["width"] - plane["height"]) <= 1
