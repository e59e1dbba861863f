"""Lessons in a browser, click by click, and the projector mode."""

from __future__ import annotations

import re

import pytest
from conftest import go_to, query, settle, show_all, wait_until
from playwright.sync_api import expect

from pages.shared.catalogue import BY_NAME, PAGES
from pages.shared.controls.widgets import as_text
from pages.shared.lesson import Lesson
from pages.shared.lessons import content

# The frame is around the first of the step's parts that the page shows. Header, card and sliders of a live view cover
# neither of them; a part taller than the space that is left starts at its top. The frame is off the sliders.
IN_SIGHT = """looks => {
    const shown = selector => [...document.querySelectorAll(selector)].find(e => e.getBoundingClientRect().height > 0);
    const part = looks.map(shown).find(e => e), frame = document.querySelector('.look-here');
    if (!part || !frame || frame.hidden) return false;
    const a = part.getBoundingClientRect(), b = frame.getBoundingClientRect();
    if (Math.max(Math.abs(a.left - b.left), Math.abs(a.top - b.top), Math.abs(a.right - b.right)) > 9) return false;
    const card = document.querySelector('.lesson').getBoundingClientRect();
    const header = document.querySelector('[data-testid=stHeader]').getBoundingClientRect().bottom;
    const above = card.left < a.right && card.right > a.left;
    const bar = part.parentElement.closest('.live')?.querySelector('.scrubbers').getBoundingClientRect();
    const fits = a.height < innerHeight - header - Math.max(above ? card.height : 0, bar ? bar.height : 0) - 50;
    const top = Math.max(above ? card.bottom : header, bar ? bar.bottom : 0);
    if (bar && b.top < bar.bottom - 4) return false;
    return a.top >= top - 1 && (fits ? a.bottom <= innerHeight : a.top <= top + 80);
}"""


# Parts of a live view's sliders and legend that are covered, or crossed by the frame.
HIDDEN = """() => {
    const frame = document.querySelector('.look-here');
    frame.style.pointerEvents = 'auto';
    const parts = document.querySelectorAll('.live .play, .live .scrubbers output, .live .key > span');
    const hidden = [...parts].filter(e => {
        const box = e.getBoundingClientRect(), y = box.top + box.height / 2;
        return [box.left + 3, box.left + box.width / 2, box.right - 3].some(x => {
            const top = document.elementFromPoint(x, y);
            return top !== e && !e.contains(top) && !(top === frame && frame.getBoundingClientRect().top < box.top - 3);
        });
    }).map(e => e.textContent.trim());
    frame.style.pointerEvents = '';
    return hidden;
}"""


def open_lesson(open_page, lesson: Lesson, step: int = 1, width: int = 1440, more: str = "", **options):
    page = open_page(f"{BY_NAME[lesson.page].path}?lesson={lesson.key}&step={step}{more}", width, **options)
    page.wait_for_selector(".lesson")
    at_step(page, lesson, step)
    return page


def at_step(page, lesson: Lesson, step: int) -> None:
    expect(page.locator(".lesson-count")).to_have_text(f"step {step} of {len(lesson.steps)}")
    expect(page.locator(".lesson-title")).to_have_text(lesson.title)
    wait_until(lambda: (query(page).get("lesson"), query(page).get("step")) == (lesson.key, str(step)))


def shows(page, settings: dict) -> None:
    """Check that the URL has the settings, up to the page's defaults, and that the page's sliders show them."""
    settle(page)
    for key, value in settings.items():
        page.wait_for_function(
            "([key, value]) => [value, null].includes(new URL(location.href).searchParams.get(key))",
            arg=[key, as_text(value)],
        )
        widget = page.locator(f".st-key-controls .st-key-{key} input[type=range]")
        if widget.count():
            zeros = "0*" if "." in as_text(value) else r"(\.0*)?"  # sliders show 0.1 as 0.10
            expect(widget).to_have_attribute("aria-valuetext", re.compile(f"^{re.escape(as_text(value))}{zeros}$"))


def filled(text: str, before: str = "") -> re.Pattern:
    """Pattern of a lesson's text with a number for each that it names, and either of words such as [[right|below]]."""
    pieces = [re.escape(piece) for piece in re.split(r"\{[^}]*\}", text)]
    words = r"\\\[\\\[(.*?)\\\|(.*?)\\\]\\\]|<<(.*?)\\\|(.*?)>>"
    pieces = [
        re.sub(words, lambda two: "(?:{})".format("|".join(g for g in two.groups() if g is not None)), piece)
        for piece in pieces
    ]
    return re.compile(f"^{before}" + r"\d[\de.−-]*(?: %)?".join(pieces) + "$")


def predict(page, lesson: Lesson, step: int, correct: bool) -> None:
    """Answer a step by a click, and check its outcome, with the figure in sight."""
    now = lesson.steps[step - 1]
    page.wait_for_function(IN_SIGHT, arg=list(now.look))
    shows(page, lesson.before(step))
    expect(page.locator(".lesson-text")).to_have_text(filled(now.text))
    expect(page.locator(".radio .turn:visible")).to_have_count(0)  # the posterior is not asked first
    answer = now.right if correct else (now.right + 1) % len(now.answers)
    page.locator(".lesson .answers button").nth(answer).click()
    expect(page.locator(".lesson .outcome")).to_have_text(filled(now.outcome))
    expect(page.locator(".lesson .verdict")).to_have_text(filled(now.answers[now.right], "(✓|Not quite.) Right: "))
    expect(page.locator(".lesson .guess")).to_have_count(0 if correct else 1)
    if not correct:
        expect(page.locator(".lesson .guess")).to_have_text(filled(now.answers[answer], "Your prediction: "))
    shows(page, lesson.after(step))
    page.wait_for_function(IN_SIGHT, arg=list(now.look))


def walk(page, lesson: Lesson, correct: bool = True) -> None:
    for step in range(1, len(lesson.steps) + 1):
        predict(page, lesson, step, correct)
        if step < len(lesson.steps):
            page.locator(".lesson .next").click()
            at_step(page, lesson, step + 1)
    assert page.complaints == []
    assert page.locator("[data-testid=stException], [data-testid=stAlertContentError]").count() == 0


@pytest.mark.slow("walks through every step of every lesson")
@pytest.mark.parametrize("lesson", content.all_lessons(), ids=lambda lesson: lesson.key)
def test_a_lesson_leads_to_the_next_one(open_page, lesson):
    """Every other lesson with reduced motion, which is faster: no frames of gliding and scrolling are drawn."""
    motion = "reduce" if content.all_lessons().index(lesson) % 2 else "no-preference"
    page = open_lesson(open_page, lesson, reduced_motion=motion)
    walk(page, lesson)
    page.locator(".lesson .next").click()
    after = content.following(lesson)
    if after is None:
        page.wait_for_selector(".lesson", state="detached")
        wait_until(lambda: not {"lesson", "step"} & set(query(page)))
        return
    page.wait_for_url(re.compile(f"/{BY_NAME[after.page].path}.*lesson={after.key}"))
    at_step(page, after, 1)
    page.wait_for_function(IN_SIGHT, arg=list(after.steps[0].look))
    shows(page, after.before(1))


@pytest.mark.slow("walks through every step of a lesson")
def test_wrong_predictions_are_shown_and_lead_on_as_well(open_page):
    lesson = content.lesson_named("prior-to-cosine")
    walk(open_lesson(open_page, lesson, width=900), lesson, correct=False)


def test_a_link_opens_a_step_on_a_new_server(open_page, start_server):
    """Slow, because it starts a server."""
    lesson = content.lesson_named("prior-to-cosine")
    page = open_page(f"{BY_NAME[lesson.page].path}?lesson={lesson.key}&step=3", address=start_server())
    page.wait_for_selector(".lesson")
    at_step(page, lesson, 3)
    page.locator(".lesson .answers button").nth(lesson.steps[2].right).click()
    page.wait_for_function("() => new URL(location.href).searchParams.get('beta') === '1000'")
    again = open_page(page.url.split("/", 3)[3])
    at_step(again, lesson, 3)
    # Settings in the link are kept: it opens the view that was sent.
    wait_until(lambda: query(again).get("beta") == "1000")
    expect(again.locator(".lesson .answers button")).to_have_count(len(lesson.steps[2].answers))


def test_controls_can_be_moved_in_a_lesson_and_stay_after_it(open_page):
    lesson = content.lesson_named("average-of-cosines")
    page = open_lesson(open_page, lesson)
    thumb = page.locator(".live input[name=D]")
    thumb.focus()
    thumb.press("ArrowRight")
    page.wait_for_function("() => new URL(location.href).searchParams.get('D') === '2'")
    at_step(page, lesson, 1)
    page.locator(".lesson .next").click()  # Next and Back restore a step's settings
    at_step(page, lesson, 2)
    expect(page.locator(".lesson-note")).to_be_hidden()
    text = page.locator(".lesson-text").text_content()
    thumb.press("ArrowRight")
    expect(page.locator(".lesson-note")).to_be_visible()  # the figure has another error now, the text has not
    expect(page.locator(".lesson-text")).to_have_text(text)
    page.locator(".lesson .back").click()
    at_step(page, lesson, 1)
    shows(page, lesson.before(1))
    page.locator(".lesson .leave").click()
    page.wait_for_selector(".lesson", state="detached")
    page.wait_for_selector(".look-here", state="detached")
    settle(page)
    wait_until(lambda: query(page) == {"width": "1", "D": "1"})
    page.get_by_role("button", name=lesson.title).click()
    page.wait_for_selector(".lesson")
    at_step(page, lesson, 1)


def test_another_page_ends_a_lesson_and_a_link_starts_it_again(open_page):
    lesson = content.lesson_named("prior-to-cosine")
    page = open_lesson(open_page, lesson, 2)
    go_to(page, "Bounds")
    page.wait_for_url(re.compile("/bounds"))
    page.wait_for_selector(".lesson", state="detached")
    settle(page)
    wait_until(lambda: not {"lesson", "step", "beta"} & set(query(page)))
    go_to(page, "Start")
    page.wait_for_selector(".st-key-all_lessons a")
    settle(page)
    expect(page.locator(".st-key-all_lessons a")).to_have_count(
        len(PAGES) - 1 + sum(one.page != "start" for one in content.all_lessons())
    )
    page.locator(".st-key-all_lessons a", has_text=lesson.title).click()
    page.wait_for_selector(".lesson")
    at_step(page, lesson, 1)
    shows(page, lesson.before(1))


@pytest.mark.first
def test_the_card_works_by_keyboard_and_announces_its_outcome(open_page):
    lesson = content.lesson_named("average-of-cosines")
    page = open_lesson(open_page, lesson)
    page.locator(".lesson .answers button").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".lesson [role=status]")).to_contain_text(lesson.steps[0].outcome)
    expect(page.locator(".lesson .next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".lesson .answers button").first).to_be_focused()
    at_step(page, lesson, 2)


def test_the_frame_does_not_cover_the_sliders_of_a_live_view(open_page):
    """In a low window, also after scrolling."""
    lesson = content.lessons_of("landmarks")["prior-to-cosine"]
    page = open_lesson(open_page, lesson)
    page.set_viewport_size({"width": 1440, "height": 560})
    page.locator(".lesson .answers button").nth(lesson.steps[0].right).click()
    expect(page.locator(".lesson .outcome")).to_be_visible()
    settle(page)
    page.wait_for_function(IN_SIGHT, arg=list(lesson.steps[0].look))
    assert page.evaluate(HIDDEN) == []
    page.mouse.move(700, 400)
    top = page.evaluate("document.querySelector('.live').getBoundingClientRect().top")
    page.mouse.wheel(0, 30)
    page.wait_for_function("top => document.querySelector('.live').getBoundingClientRect().top < top - 20", arg=top)
    assert page.evaluate(HIDDEN) == []


# --- projector mode -----------------------------------------------------------------------------------------------


def root_font(page) -> float:
    return page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")


def tick_font(page, key: str) -> float:
    return page.evaluate(f"document.querySelector('.st-key-{key} .js-plotly-plot')._fullLayout.xaxis.tickfont.size")


def test_projector_mode_enlarges_all_pages_hides_their_bars_and_can_be_left(open_page):
    page = open_page("kernel")
    show_all(page)
    fonts = root_font(page), tick_font(page, "errors")
    bars = [page.locator(".st-key-controls"), page.get_by_test_id("stHeader").first]
    for bar in bars:
        expect(bar).to_be_visible()
    page.get_by_role("button", name="Projector mode").click()
    page.wait_for_function("() => location.search.includes('projector=true')")
    show_all(page)
    wait_until(lambda: root_font(page) > 1.3 * fonts[0] and tick_font(page, "errors") > 1.3 * fonts[1])
    for bar in bars:
        expect(bar).to_be_hidden()
    page.get_by_role("button", name="Controls and pages").click()
    expect(bars[0]).to_be_visible()
    expect(page.locator(".st-key-kernel")).to_be_visible()
    go_to(page, "Bounds")
    page.wait_for_url(re.compile("/bounds.*projector=true"))
    settle(page)
    wait_until(lambda: root_font(page) > 1.3 * fonts[0])
    assert page.locator("[data-testid=stAlert]").count() == 0
    page.get_by_role("button", name="Leave projector mode").click()
    page.wait_for_function("() => !location.search.includes('projector')")
    settle(page)
    wait_until(lambda: root_font(page) == fonts[0])


def test_a_lesson_keeps_projector_mode(open_page):
    lesson = content.all_lessons()[5]
    page = open_lesson(open_page, lesson, more="&projector=true")
    predict(page, lesson, 1, True)
    page.locator(".lesson .next").click()
    at_step(page, lesson, 2)
    wait_until(lambda: query(page).get("projector") == "true" and root_font(page) > 20)
