"""The first picture of the app moves once by itself, where motion may be shown."""

from __future__ import annotations

import pytest

READY = "document.querySelector('.live')?.view?.ink !== undefined"
# Every position of the slider from the first drawing on is kept.
WATCH = """window.seen = [];
    const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    Object.defineProperty(HTMLInputElement.prototype, 'value', {...write, set(text) {
        if (this.name === 'beta') window.seen.push(Number(text));
        write.set.call(this, text);
    }});"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_first_picture_plays_once_and_not_where_motion_is_reduced(open_page, server, motion):
    page = open_page("errata", apart=True)  # another page: what is seen begins with the first picture
    page.emulate_media(reduced_motion=motion)
    page.add_init_script(WATCH)
    page.goto(server)
    page.wait_for_function(f"() => {READY} && document.querySelector('.live').view.glideTimer === null")
    seen, shown = page.evaluate("[window.seen, document.querySelector('.live .learned-errors').textContent]")
    assert seen[-1] == 0  # beta = 1
    if motion == "reduce":
        assert set(seen) == {0}
        return
    played = seen[seen.index(-2) :]
    assert len(played) > 2 and played == sorted(played)
    # It stays where it is: the reader moves it from here on, and the links follow.
    thumb = page.locator(".live input[name=beta]")
    thumb.focus()
    thumb.press("End")
    page.wait_for_function(
        "before => document.querySelector('.live .learned-errors').textContent !== before", arg=shown
    )
    page.wait_for_function("() => document.querySelector('.st-key-first_steps a').href.includes('beta=1000')")
    assert float(page.evaluate("document.querySelector('.live').view.beta.value")) == 3


def test_back_leaves_a_lesson_that_began_on_the_first_page(open_page, server):
    page = open_page("", apart=True)
    page.get_by_role("link", name="Take a quiz").click()
    page.wait_for_url("**/landmarks?*beta=*")  # the lesson sets what it needs
    page.go_back()
    page.wait_for_url(f"{server}/")
    page.get_by_role("heading", name="What if a kernel were only a first guess?").wait_for()
