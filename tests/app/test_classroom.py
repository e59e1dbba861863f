"""A lesson in a class, without a browser: whose prediction counts, who sees what when, and what a reader keeps."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shared import lessons
from pages.shared.lessons import classroom, content
from pages.shared.server import navigation, rooms as server_rooms
from pages.shared.server.limits import LIMITS
from pages.shared.server.room_codes import RoomEndedError, shown
from rff_engine.studies.running.store import StoreError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LESSON = content.lessons_of("kernel")["average-of-cosines"]
FIRST = LESSON.steps[0]
PRESSED = "pressed by the test"


@pytest.fixture
def rooms(store):
    server_rooms.rooms.cache_clear()
    yield server_rooms.rooms()
    server_rooms.rooms.cache_clear()


class Reader:
    """A session on the page of the lesson, whose card is pressed as the browser does."""

    def __init__(self, visitor: str, **query: str):
        self.app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
        self.app.session_state["browser"] = visitor
        self.app.session_state[navigation._ENTERED] = "kernel"  # from here on the page runs without app.py
        self.app.query_params.update({"lesson": LESSON.key, "step": "1"} | query)
        self.app.switch_page("pages/kernel/page.py").run()
        assert not self.app.exception

    def run(self) -> None:
        self.app.run()
        assert not self.app.exception

    @property
    def card(self) -> dict:
        return self.shown("lesson_card")

    def shown(self, component: str) -> dict:
        (found,) = [part for part in self.app.get("bidi_component") if part.proto.component_name == component]
        return json.loads(found.proto.json)

    @property
    def room(self) -> dict | None:
        return self.card["app"]["room"]

    @property
    def address(self) -> dict[str, str]:
        return {name: "".join(self.app.query_params[name]) for name in self.app.query_params}

    def act(self, name: str, component: str = "lesson_card", **more) -> None:
        """Press a button of the card: its callback runs in this session, before the page runs again."""
        card = self.shown(component)
        act = {"name": name, "lesson": card["lesson"], "step": card.get("step"), **more}
        self.app.session_state[PRESSED] = component, act
        self.run()


@pytest.fixture(autouse=True)
def presses(monkeypatch):
    """Let a test press buttons of the card: a run begins with what was pressed, as it does with a browser."""
    enter = lessons.Tour.enter

    def press_and_enter(tour):
        component, act = st.session_state.pop(PRESSED, (None, None))
        if act is not None:
            (tour._handle if component == "lesson_card" else tour._handle_on_summary)(act)
        enter(tour)

    monkeypatch.setattr(lessons.Tour, "enter", press_and_enter)


def opened_room() -> tuple[Reader, str]:
    """A lecturer with a room, and its code."""
    lecturer = Reader("lecturer")
    lecturer.act("open room")
    return lecturer, lecturer.address["room"]


# --- a class ------------------------------------------------------------------------------------------------------


def test_a_class_sees_its_predictions_and_the_outcome_once_the_lecturer_reveals_them(rooms):
    lecturer, code = opened_room()
    assert lecturer.room["counts"] == [0, 0, 0] and lecturer.room["secret"]
    students = [Reader(name, room=code) for name in "ab"]
    for student, answer in zip(students, (FIRST.right, 0), strict=True):
        student.act("answer", answer=answer)
        assert student.room["waits"] and student.room["counts"] is None and student.room["secret"] is None
        assert student.card["outcome"] == "" and student.app.session_state["D"] == FIRST.before["D"]
    lecturer.run()
    assert lecturer.room["counts"] == [1, 1, 0] and lecturer.card["outcome"] == ""
    lecturer.act("reveal")
    assert lecturer.card["outcome"] == FIRST.outcome and lecturer.app.session_state["D"] == FIRST.after["D"]
    for student, answer in zip(students, (FIRST.right, 0), strict=True):
        student.run()
        assert not student.room["waits"] and student.room["counts"] == [1, 1, 0]
        assert student.card["answer"] == answer and student.card["outcome"] == FIRST.outcome
        assert student.app.session_state["D"] == FIRST.after["D"]
    for reader, whose in ((lecturer, "The class's"), (students[0], "Your")):
        reader.act("summary")
        assert reader.app.title[0].value == f"{whose} predictions: {LESSON.title}"
        assert [step["of_class"] for step in reader.shown("lesson_summary")["steps"]] == ["1 of 2 right", "", "", ""]


@pytest.mark.second
def test_who_has_not_predicted_sees_the_outcome_too_and_is_not_counted(rooms):
    lecturer, code = opened_room()
    student = Reader("a", room=code)
    lecturer.act("reveal")
    student.run()
    assert student.room["missed"] and student.room["counts"] == [0, 0, 0]
    assert student.card["outcome"] == FIRST.outcome and student.app.session_state["D"] == FIRST.after["D"]
    student.act("answer", answer=0)  # a press that was under way
    assert student.room["missed"] and student.room["counts"] == [0, 0, 0] and not student.card["app"]["predicted"]
    student.act("next")
    assert not student.room["missed"] and student.card["answer"] is None and student.card["outcome"] == ""
    # Who comes afterwards is asked first.
    late = Reader("b", room=code)
    late.run()
    assert late.card["answer"] is None and late.card["outcome"] == ""


@pytest.mark.second
def test_a_second_prediction_of_a_browser_is_not_counted(rooms):
    lecturer, code = opened_room()
    for answer in (0, 1):  # a reloaded page is another session of the same browser
        Reader("one", room=code).act("answer", answer=answer)
    lecturer.run()
    assert lecturer.room["counts"] == [1, 0, 0]


@pytest.mark.second
def test_a_session_without_the_secret_leads_nothing(rooms):
    lecturer, code = opened_room()
    student = Reader("a", room=code)
    student.act("lead", secret="guessed")
    student.act("reveal")
    student.act("close room")
    assert student.room["secret"] is None and student.room["counts"] is None
    assert rooms.room(code).revealed == frozenset()
    # The lecturer's browser has kept the secret, and leads again in another session.
    again = Reader("lecturer", room=code)
    assert again.room["secret"] is None
    again.act("lead", secret=lecturer.room["secret"])
    assert again.room["secret"] == lecturer.room["secret"] and again.room["counts"] == [0, 0, 0]


@pytest.mark.second
def test_a_closed_room_leaves_the_lesson_with_a_sentence(rooms):
    lecturer, code = opened_room()
    student = Reader("a", room=code)
    student.act("answer", answer=FIRST.right)
    lecturer.act("close room")
    assert lecturer.room is None and "room" not in lecturer.address and lecturer.card["answer"] is None
    with pytest.raises(RoomEndedError):
        rooms.room(code)
    student.run()
    assert student.room is None and "room" not in student.address
    assert student.card["app"]["problem"] == f"The room {shown(code)} has ended; its predictions are deleted."
    assert student.card["outcome"] == FIRST.outcome  # nothing to wait for


@pytest.mark.second
def test_those_who_enter_the_code_come_to_the_step_of_the_lecturer(rooms):
    lecturer, code = opened_room()
    lecturer.act("next")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    app.text_input(key="room_code").set_value(f" {shown(code).lower()} ")
    next(button for button in app.button if button.label == "Join").click().run()
    assert not app.exception and not app.error
    assert {name: "".join(app.query_params[name]) for name in ("lesson", "step", "room")} == {
        "lesson": LESSON.key,
        "step": "2",
        "room": code,
    }


@pytest.mark.more(after=1)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abc", "The code is ` 'abc' `; a code has 6 letters and digits, without vowels, 0, 1 and L."),
        ("<b>*x*</b>", "The code is ` '<b>*x*</b>' `; a code has 6 letters and digits, without vowels, 0, 1 and L."),
        ("222222", "There is no room 222 222; it may have been closed, and a room lasts a day."),
    ],
)
def test_a_wrong_code_is_refused_in_one_sentence(rooms, text, said):
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    app.text_input(key="room_code").set_value(text)
    next(button for button in app.button if button.label == "Join").click().run()
    assert [error.value for error in app.error] == [said] and not app.exception


@pytest.mark.parametrize(("code", "warned"), [("222222", False), ("x", True)])
def test_a_link_with_a_wrong_code_opens_the_lesson_without_a_class(rooms, code, warned):
    reader = Reader("a", room=code)
    assert reader.room is None and "room" not in reader.address
    assert bool(reader.app.warning) == warned
    assert reader.card["app"]["problem"].startswith("" if warned else "There is no room 222 222;")
    reader.act("answer", answer=0)
    assert reader.card["outcome"] == FIRST.outcome


def test_a_room_of_another_lesson_is_not_entered(rooms):
    code, _ = rooms.open("theorem-that-fails")
    reader = Reader("a", room=code)
    assert reader.room is None
    assert reader.card["app"]["problem"] == (f"The room {shown(code)} is for another lesson; enter its code on Start.")


def test_a_store_that_cannot_be_used_costs_the_class_but_not_the_lesson(tmp_path, monkeypatch):
    (tmp_path / "results.sqlite").write_text("no database " * 100)
    server_rooms.rooms.cache_clear()
    monkeypatch.setattr(server_rooms, "default_store", lambda: tmp_path / "results.sqlite")
    reader = Reader("a")
    reader.act("open room")
    assert re.fullmatch(r"\S*results.sqlite cannot be used: file is not a database.*\.", reader.card["app"]["problem"])
    reader.act("answer", answer=0)
    assert reader.card["outcome"] == FIRST.outcome and reader.card["app"]["problem"] == ""
    student = Reader("b", room="222222")
    assert "file is not a database" in student.card["app"]["problem"] and student.room is None
    assert student.address["room"] == "222222"  # for when the store is back


@pytest.mark.second
def test_a_prediction_that_could_not_be_stored_can_be_made_again(rooms, monkeypatch):
    _, code = opened_room()
    student, predict = Reader("a", room=code), rooms.predict
    monkeypatch.setattr(rooms, "predict", lambda *_: (_ for _ in ()).throw(StoreError("The disk is full.")))
    student.act("answer", answer=2)
    assert student.card["answer"] is None and student.card["app"]["problem"] == "The disk is full."
    monkeypatch.setattr(rooms, "predict", predict)
    student.act("answer", answer=1)
    student.act("answer", answer=0)  # the second press of two
    assert student.card["answer"] == 1 and student.room["waits"] and student.card["app"]["problem"] == ""


@pytest.mark.second
def test_a_full_room_does_not_count_and_lets_the_reader_wait_with_the_class(rooms, monkeypatch):
    monkeypatch.setattr(rooms, "_limits", replace(LIMITS, room_predictions=2))
    lecturer, code = opened_room()
    students = [Reader(name, room=code) for name in "abc"]
    for student in students:
        student.act("answer", answer=2)
    assert students[2].room["waits"] and students[2].card["app"]["problem"] == (
        "The room has 2 predictions for this step, the most allowed; yours is not counted."
    )
    lecturer.run()
    assert lecturer.room["counts"] == [0, 0, 2]


@pytest.mark.second
def test_a_server_without_rooms_offers_none(monkeypatch):
    monkeypatch.setattr(classroom, "offered", lambda: False)
    assert not Reader("a").card["app"]["rooms"]
    assert not AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run().text_input


# --- what a reader keeps ------------------------------------------------------------------------------------------


@pytest.mark.second
def test_predictions_are_kept_through_the_lesson_and_restored_from_the_address(rooms):
    reader = Reader("a")
    assert reader.card["app"]["predicted"] is None  # the browser has not been asked
    reader.act("answer", answer=2)
    reader.act("next")
    reader.act("next")
    reader.act("answer", answer=0)
    assert reader.card["app"]["predicted"] == "2-0"
    reader.act("back")
    reader.act("back")
    assert (reader.card["answer"], reader.card["outcome"]) == (2, FIRST.outcome)
    again = Reader("a")
    again.act("restore", predicted="2-0")
    assert (again.card["answer"], again.card["app"]["predicted"]) == (2, "2-0")
    assert again.app.session_state["D"] == FIRST.after["D"]
    again.act("restore", predicted="0")  # the session knows better
    assert again.card["app"]["predicted"] == "2-0"


def test_a_lesson_that_is_begun_again_has_no_predictions(rooms):
    reader = Reader("a")
    reader.act("answer", answer=2)
    next(button for button in reader.app.button if button.label == LESSON.title).click()
    reader.run()
    assert reader.card["answer"] is None and reader.card["app"]["predicted"] == ""


@pytest.mark.more(after=1)
@pytest.mark.parametrize("text", ["3", "00000", "x", "-²", "0 1", None, 7, "٣", "0" * 10**6])
def test_wrong_predictions_in_an_address_are_ignored_with_a_sentence(rooms, text):
    reader = Reader("a")
    reader.act("restore", predicted=text)
    said = reader.card["app"]["problem"]
    assert said.startswith(f"The address has the predictions {str(text)[:40]!r}; allowed are up to 4 digits or dashes,")
    assert reader.card["answer"] is None and len(said) < 250


def test_the_summary_has_every_question_with_prediction_answer_and_reason(rooms):
    reader = Reader("a", summary="true")
    assert reader.app.title[0].value == f"Your predictions: {LESSON.title}"
    assert not reader.app.get("plotly_chart")
    reader.act("restore", "lesson_summary", predicted="1-0")
    steps = reader.shown("lesson_summary")["steps"]
    assert [step["answer"] for step in steps] == [1, None, 0, None]
    for step, of_lesson in zip(steps, LESSON.steps, strict=True):
        assert step["right"] == of_lesson.right and len(step["answers"]) == len(of_lesson.answers)
        assert step["question"] and step["outcome"] and "{" not in "".join(map(str, step.values()))
    reader.act("return", "lesson_summary")
    assert reader.card["answer"] == 1 and "summary" not in reader.address
