"""A class in a browser: a lecturer and students predict together; and what a reader takes home from a lesson."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import query, settle, wait_until
from playwright.sync_api import expect
from test_access import at_rest, axe_core, findings
from test_layout import PHONE, problems, resize, sheets

from pages.shared.catalogue import BY_NAME
from pages.shared.lessons import content

LESSON = content.lessons_of("kernel")["average-of-cosines"]
PATH = f"kernel?lesson={LESSON.key}&step=1"
ON_A_PHONE = {"width": PHONE, "has_touch": True, "is_mobile": True, "viewport": {"width": PHONE, "height": 844}}
#: Parts of the board that lie outside of the window.
OUTSIDE = """() => {
    const parts = ':is(.board-question, li, img, .join-code, button, .board-tally)';
    const shown = [...document.querySelectorAll(`.board[open] ${parts}`)].filter(part => part.checkVisibility());
    const out = shown.filter(part => {
        const {left, right, top, bottom} = part.getBoundingClientRect();
        return left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1;
    });
    return out.map(part => part.className);
}"""
SCROLL = "height => document.querySelector('[data-testid=stMain]').scrollTo(0, height)"
HEIGHT = "(selector) => document.querySelector(selector).getBoundingClientRect().height"


def fragment(page) -> str:
    return urlsplit(page.evaluate("location.href")).fragment


def at_lesson(page):
    page.wait_for_selector(".lesson")
    settle(page)
    return page


@pytest.fixture
def lecturer(open_page):
    """A lecturer's page with a room."""
    page = at_lesson(open_page(PATH, apart=True))
    page.get_by_role("button", name="Open a room for a class").click()
    page.locator(".leading").wait_for()
    wait_until(lambda: "room" in query(page))
    return page


@pytest.fixture
def enter(open_page, lecturer):
    """Function that opens the link of the room as another browser."""

    def enter(**options):
        return at_lesson(open_page(f"{PATH}&room={query(lecturer)['room']}", apart=True, **options))

    return enter


def predict(page, answer: int) -> None:
    page.locator(".lesson .answers button").nth(answer).click()
    expect(page.locator(".lesson .wait")).to_be_visible()
    settle(page)


def count(page) -> str:
    return page.locator(".room-tally").inner_text()


def bars(page) -> list[str]:
    """The predictions that the card shows."""
    shown = page.locator(".lesson-body .bars li:visible")
    return [re.sub(r"\s+", " ", text) for text in shown.all_inner_texts()]


# --- a class ------------------------------------------------------------------------------------------------------


@pytest.mark.first
@pytest.mark.slow("two students and a lecturer, each with a page")
def test_a_class_predicts_and_sees_its_predictions_when_the_lecturer_reveals_them(lecturer, enter):
    step = LESSON.steps[0]
    phone, other = enter(**ON_A_PHONE), enter()
    predict(phone, step.right)
    predict(other, 0)
    wait_until(lambda: count(lecturer) == "2 predictions")
    assert bars(lecturer) == []
    for student in (phone, other):
        assert bars(student) == [] and query(student)["D"] == str(step.before["D"])
        expect(student.locator(".lesson .outcome")).to_have_count(0)
    lecturer.get_by_role("button", name="Reveal").click()
    for page in (lecturer, phone, other):
        expect(page.locator(".lesson .outcome")).to_have_text(step.outcome)
        assert [row.endswith("1 (50 %)") for row in bars(page)] == [True, True, False]
        wait_until(lambda page=page: query(page).get("D") in (None, str(step.after["D"])))
    expect(phone.locator(".lesson .verdict")).to_contain_text("✓ Right")
    expect(other.locator(".lesson .guess")).to_have_text(f"Your prediction: {step.answers[0]}")
    # Both are known again after a reload, the lecturer by what the browser keeps.
    for page in (lecturer, phone):
        page.reload()
        at_lesson(page)
        expect(page.locator(".lesson .outcome")).to_have_text(step.outcome)
    expect(lecturer.locator(".leading")).to_be_visible()
    expect(phone.locator(".lesson .verdict")).to_contain_text("✓ Right")
    lecturer.locator(".close-room").click()
    assert count(lecturer) == "2 predictions"  # the first press asks
    lecturer.get_by_role("button", name="Delete its predictions?").click()
    expect(lecturer.locator(".room")).to_be_hidden()
    wait_until(lambda: "room" not in query(lecturer))
    assert lecturer.evaluate("Object.keys(localStorage).filter(name => name.startsWith('rff-room'))") == []
    assert [page.complaints for page in (lecturer, phone, other)] == [[], [], []]


def test_no_link_has_the_secret_of_the_lecturer(lecturer):
    kept = lecturer.evaluate("Object.entries(localStorage).filter(([name]) => name.startsWith('rff-room'))")
    ((name, value),) = kept
    secret = re.search(r'"secret":"([\w-]{32})"', value)[1]
    assert name == f"rff-room-{query(lecturer)['room']}" and secret not in lecturer.url
    lecturer.locator(".show-board").click()
    expect(lecturer.locator(".join img")).to_be_visible()
    link = lecturer.locator(".join img").get_attribute("alt").removeprefix("QR code of ")
    assert parse_qs(urlsplit(link).query) == {
        "lesson": [LESSON.key],
        "step": ["1"],
        "room": [query(lecturer)["room"]],
    }
    assert link.partition("?")[0] == lecturer.url.partition("?")[0]
    lecturer.keyboard.press("Escape")
    shared = lecturer.locator(".sharing")
    shared.get_by_role("button", name="Share…").click()
    assert secret not in shared.locator(".panel textarea").input_value()
    assert secret not in lecturer.locator("body").inner_html()


def on_board(page) -> list:
    """Rules of axe-core that the board breaks; the page behind it cannot be reached."""
    at_rest(page)  # Streamlit fades elements while the script runs
    page.evaluate(axe_core())
    return page.evaluate(
        """async () => (await axe.run('.board', {resultTypes: ['violations']})).violations
            .map(({id, nodes}) => [id, nodes.map(({target}) => target.join(' '))])"""
    )


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 720, "light"), (1920, 1080, "dark")])
def test_on_a_projector_code_question_and_predictions_are_large(lecturer, enter, width, height, scheme):
    student = enter()
    predict(student, 0)
    lecturer.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    resize(lecturer, width, height)
    wait_until(lambda: count(lecturer) == "1 prediction")
    lecturer.locator(".show-board").press("Enter")
    board = lecturer.locator(".board")
    expect(board.locator("img")).to_be_visible()
    expect(board.locator(".board-tally")).to_have_text("1 prediction")
    assert lecturer.evaluate(OUTSIDE) == []
    expect(board.locator(".bar")).to_have_count(0)  # they would influence who predicts later
    board.get_by_label("Bars before the reveal").check()
    for selector, least in ((".join img", 0.4), (".join-code", 0.07), (".board-bars .bar", 0.03)):
        assert lecturer.evaluate(HEIGHT, selector) > least * height, selector
    board.get_by_label("Bars before the reveal").uncheck()
    expect(board.locator(".bar")).to_have_count(0)
    expect(board.locator(".board-tally")).to_have_text("1 prediction")
    assert on_board(lecturer) == []
    # All by keyboard: the focus stays on the board, which the lecturer leaves as it was opened.
    board.locator(".board-reveal").press("Enter")
    expect(board.locator(".board-outcome")).to_have_text(LESSON.steps[0].outcome)
    expect(board.locator(".bar")).to_have_count(3)
    assert lecturer.evaluate(OUTSIDE) == []
    picture = lecturer.locator(LESSON.steps[0].look[0]).first.bounding_box()
    assert picture["x"] + picture["width"] <= board.bounding_box()["x"]  # it changes in sight
    assert on_board(lecturer) == []
    board.locator(".board-next").press("Enter")
    expect(board.locator(".board-count")).to_have_text(f"step 2 of {len(LESSON.steps)}")
    expect(board.locator(".board-tally")).to_have_text("0 predictions")
    assert not lecturer.evaluate("document.querySelector('.board').matches(':modal')")  # the picture stays in sight
    board.get_by_role("button", name="Join").press("Enter")
    assert lecturer.evaluate("document.querySelector('.board').matches(':modal')")
    assert lecturer.evaluate("document.querySelector('.board').contains(document.activeElement)")
    student.get_by_role("button", name="Go to step 2, where the class is").click()
    expect(student.locator(".lesson-count")).to_have_text(f"step 2 of {len(LESSON.steps)}")
    expect(student.locator(".follow")).to_be_hidden()
    lecturer.keyboard.press("Escape")
    expect(board).to_be_hidden()
    expect(lecturer.locator(".show-board")).to_be_focused()


def test_on_a_phone_the_card_of_a_class_stays_in_sight_and_nothing_overlaps(lecturer, enter):
    phone = enter(**ON_A_PHONE)
    at_rest(phone)
    places = []
    assert [found for found in findings(phone) if ".lesson" in found[1]] == []
    for state in ("asked", "waiting", "revealed"):
        if state == "waiting":
            predict(phone, 0)
        elif state == "revealed":
            lecturer.get_by_role("button", name="Reveal").click()
            expect(phone.locator(".lesson .outcome")).to_be_visible()
        at_rest(phone)
        phone.evaluate("document.dispatchEvent(new Event('wheel'))")  # the card scrolls no further by itself
        phone.evaluate(SCROLL, 0)  # it covers what is scrolled
        assert problems(phone) == {}, state
        phone.evaluate(SCROLL, 900)
        top, header = phone.evaluate(
            """() => ['.lesson', '[data-testid=stHeader]'].map((selector, k) =>
                document.querySelector(selector).getBoundingClientRect()[k ? 'bottom' : 'top'])"""
        )
        places.append(abs(top - header))
    assert max(places) < 10
    assert phone.complaints == []


# --- what a reader takes home -------------------------------------------------------------------------------------


def test_predictions_stay_in_the_address_through_reloads_and_are_not_sent(open_page):
    page = open_page(PATH, apart=True)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    at_lesson(page).locator(".lesson .answers button").nth(2).click()
    expect(page.locator(".lesson .outcome")).to_be_visible()
    wait_until(lambda: fragment(page) == f"predicted={LESSON.key}.2")
    page.locator(".lesson .next").click()
    expect(page.locator(".lesson-count")).to_have_text("step 2 of 4")
    wait_until(lambda: fragment(page) == f"predicted={LESSON.key}.2" and query(page)["step"] == "2")
    page.locator(".lesson .answers button").nth(0).click()
    wait_until(lambda: fragment(page) == f"predicted={LESSON.key}.20")
    page.reload()
    at_lesson(page)
    expect(page.locator(".lesson .guess")).to_have_text(f"Your prediction: {LESSON.steps[1].answers[0]}")
    page.locator(".lesson .back").click()
    expect(page.locator(".lesson-count")).to_have_text("step 1 of 4")
    expect(page.locator(".lesson .guess")).to_have_text(f"Your prediction: {LESSON.steps[0].answers[2]}")
    page.locator(".lesson .next").click()
    expect(page.locator(".lesson-count")).to_have_text("step 2 of 4")
    wait_until(lambda: fragment(page) == f"predicted={LESSON.key}.20")
    assert requests and not any("predicted" in url for url in requests)
    page.locator(".lesson .leave").click()
    page.locator(".st-key-lessons").get_by_role("button", name=LESSON.title).click()  # begins without predictions
    expect(page.locator(".lesson-count")).to_have_text("step 1 of 4")
    expect(page.locator(".lesson .answers button")).to_have_count(3)
    wait_until(lambda: fragment(page) == "")
    assert page.complaints == []


def test_the_last_step_leads_to_a_summary_that_is_printed_and_saved(open_page, tmp_path):
    page = at_lesson(open_page(f"kernel?lesson={LESSON.key}&step=4#predicted={LESSON.key}.1-2", apart=True))
    page.locator(".lesson .answers button").nth(LESSON.steps[3].right).click()
    page.get_by_role("button", name="Summary").click()
    rows = page.locator(".summary li")
    expect(rows).to_have_count(4)
    expect(page.locator("h1")).to_have_text(f"Your predictions: {LESSON.title}")
    expect(page.locator(".summary-score")).to_have_text("2 of 4 right; 1 not predicted.")
    for row, step, own in zip(rows.all(), LESSON.steps, (1, None, 2, LESSON.steps[3].right), strict=True):
        expect(row.locator(".asked")).to_have_text(step.question)
        mark = " ✓" if own == step.right else ""
        given = ["none" if own is None else step.answers[own] + mark, step.answers[step.right]]
        assert row.locator("dd").all_inner_texts() == given
    page.get_by_label("Name").fill("<b>Ann</b>")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save (HTML)").click()
    saved.value.save_as(tmp_path / "saved.html")
    assert saved.value.suggested_filename == f"{LESSON.key}.html"
    text = (tmp_path / "saved.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;Ann&lt;/b&gt;, " in text and "<script" not in text
    assert all(step.question in text for step in LESSON.steps)
    at_rest(page)
    assert findings(page) == []
    page.emulate_media(media="print")
    expect(page.locator(".summary-buttons")).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.locator(".summary li").last).to_be_visible()
    assert sheets(page.pdf(format="A4")) == 1
    page.emulate_media(media="null")
    page.get_by_role("button", name="Back to the lesson").click()
    expect(page.locator(".lesson-count")).to_have_text("step 4 of 4")
    expect(page.locator(".lesson .verdict")).to_contain_text("✓ Right")
    assert page.complaints == []


@pytest.mark.parametrize("lesson", content.all_lessons(), ids=lambda lesson: lesson.key)
def test_every_summary_fits_a_sheet_and_a_phone(open_page, lesson):
    predicted = "".join(str(step.right) for step in lesson.steps)
    page = open_page(
        f"{BY_NAME[lesson.page].path}?lesson={lesson.key}&summary=true#predicted={lesson.key}.{predicted}",
        apart=True,
        width=PHONE,
    )
    count = len(lesson.steps)
    expect(page.locator(".summary-score")).to_have_text(f"{count} of {count} right.")
    at_rest(page)
    assert problems(page) == {}
    assert sheets(page.pdf(format="A4")) == 1
