"""The player of a descent: it plays in the browser alone, its slider is dragged, and a control brings another one."""

from __future__ import annotations

from conftest import settle, wait_until

# What the player shows: the step, where frequencies are, and where the marks on the curves stand.
SHOWN = """() => {
    const plot = document.querySelector('.st-key-player .js-plotly-plot');
    if (!plot?._fullData || !plot._transitionData._frames.length) return null;
    const [dots, mark] = [plot._fullData[2], plot._fullData[5]];
    const slider = plot._fullLayout.sliders[0];
    return {
        step: Number(slider.steps[slider.active].label), last: Number(slider.steps.at(-1).label),
        dots: [...dots.x, ...dots.y], at: mark.x[0], frames: plot._transitionData._frames.length,
    };
}"""
# Where a dot is drawn, whatever the data say.
DRAWN = """() => [...document.querySelectorAll('.st-key-player .scatterlayer .trace')][2]
    .querySelector('.point').getAttribute('transform')"""

# How often the page's script starts or ends from now on.
COUNT_RUNS = """() => {
    window.scriptRuns = 0;
    const watch = new MutationObserver(() => window.scriptRuns++);
    watch.observe(document.querySelector('[data-testid=stApp]'), {attributeFilter: ['data-test-script-state']});
}"""


def opened(open_page, path="adaptive", **options):
    page = open_page(path, **options)
    wait_until(lambda: page.evaluate(SHOWN) is not None)
    page.locator(".st-key-player").scroll_into_view_if_needed()
    settle(page)
    return page


def play(page):
    return page.locator(".st-key-player .updatemenu-button").nth(0)


def stop(page):
    return page.locator(".st-key-player .updatemenu-button").nth(1)


def test_play_moves_the_frequencies_to_the_last_step_and_asks_nothing_of_the_server(open_page):
    page = opened(open_page)
    before, place = page.evaluate(SHOWN), page.evaluate(DRAWN)
    assert before["step"] == before["at"] == 0 and before["frames"] > 10
    page.evaluate(COUNT_RUNS)
    play(page).click()
    wait_until(lambda: 0 < page.evaluate(SHOWN)["at"] < before["last"])  # it is seen on its way
    wait_until(lambda: page.evaluate(SHOWN)["at"] == before["last"])
    after = page.evaluate(SHOWN)
    assert after["step"] == after["last"] and after["dots"] != before["dots"]
    assert page.evaluate(DRAWN) != place
    assert page.evaluate("window.scriptRuns") == 0
    assert page.complaints == []


def test_it_stops_and_goes_on_from_there(open_page):
    page = opened(open_page)
    play(page).click()
    wait_until(lambda: page.evaluate(SHOWN)["at"] > 3)
    stop(page).click()
    page.wait_for_timeout(300)  # a frame that was under way is shown
    stopped = page.evaluate(SHOWN)
    assert 3 < stopped["at"] < stopped["last"]
    page.wait_for_timeout(500)  # several frames long
    assert page.evaluate(SHOWN) == stopped
    play(page).click()
    wait_until(lambda: page.evaluate(SHOWN)["at"] > stopped["at"])


def test_dragging_the_slider_shows_its_step(open_page):
    page = opened(open_page, "adaptive?data=moons")
    rail = page.locator(".st-key-player .slider-rail-rect").bounding_box()
    grip = page.locator(".st-key-player .slider-grip-rect").bounding_box()
    before, place = page.evaluate(SHOWN), page.evaluate(DRAWN)
    y = grip["y"] + grip["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(rail["x"] + rail["width"] / 2, y, steps=8)
    page.mouse.up()
    wait_until(lambda: page.evaluate(SHOWN)["at"] > 0)
    wait_until(lambda: page.evaluate(SHOWN)["step"] == page.evaluate(SHOWN)["at"])
    middle = page.evaluate(SHOWN)
    assert 0 < middle["step"] < middle["last"] and middle["dots"] != before["dots"]
    assert page.evaluate(DRAWN) != place
    assert page.complaints == []


def test_a_control_brings_another_descent(open_page):
    page = opened(open_page)
    before = page.evaluate(SHOWN)
    thumb = page.locator(".st-key-r input[type=range]")
    thumb.focus()
    thumb.press("ArrowRight")
    page.wait_for_function("() => new URL(location.href).searchParams.get('r') === '30'")
    wait_until(lambda: len((page.evaluate(SHOWN) or before)["dots"]) == 60)
    after = page.evaluate(SHOWN)
    assert after["dots"][:20] == before["dots"][:20]  # more frequencies join the ones there are
    play(page).click()
    wait_until(lambda: page.evaluate(SHOWN)["at"] == after["last"])


def test_it_can_be_read_and_pressed_on_a_narrow_dark_page(open_page):
    page = opened(open_page, width=900, scheme="dark")
    boxes = [
        page.locator(f".st-key-player {part}").first.bounding_box()
        for part in (".updatemenu-button >> nth=1", ".slider-rail-rect")
    ]
    assert boxes[0]["y"] + boxes[0]["height"] < boxes[1]["y"]  # buttons above the slider, not on it
    ink = page.evaluate(
        "() => ['.updatemenu-item-text', '.slider-label'].map(part => "
        "getComputedStyle(document.querySelector(`.st-key-player ${part}`)).fill)"
    )
    text = page.evaluate("() => getComputedStyle(document.querySelector('.st-key-player')).color")
    assert ink == [text, text]
