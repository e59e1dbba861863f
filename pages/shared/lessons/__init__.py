"""A card that leads through a lesson of `content`, and a frame around the part of the page that matters.

A lesson sets the controls of the page as the reader does, so the URL follows and every control can be moved at any
time. The URL also holds the place, ``lesson`` and ``step``, its fragment the predictions (`predictions`), and
``summary`` shows all of them (`summary`). With ``room`` the reader is in a class (`classroom`): predictions go to its
room, and the outcome waits for the lecturer.

Numbers in the card belong to the settings of the step. Once the reader has moved a control, the figures show other
settings, and the card shows a note.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.shared import browser, layout
from pages.shared.catalogue import BY_NAME
from pages.shared.controls import screen
from pages.shared.controls.widgets import (
    Code,
    Control,
    Number,
    Options,
    Switch,
    as_text,
    rerun_with_notes,
    same_setting,
    without_headings,
)
from pages.shared.lesson import Lesson
from pages.shared.lessons import classroom, content, predictions, summary

_card = browser.component("lesson_card", Path(__file__).with_name("card.js"), styles=["card.css"])

_PLACE = "place in a lesson"
_ELSEWHERE = "lesson of another page"
_WHOLE_PAGE = "the card has changed the page"
#: Step asked while the outcome was hidden; step revealed before a prediction.
_ASKED, _MISSED = "asked in class", "missed in class"
#: Events that the browser sends without the reader.
_BY_ITSELF = {"show code", "restore", "lead"}
#: Seconds between looks at a room.
_BETWEEN_LOOKS = 2.0


@dataclass(frozen=True)
class Place:
    """The reader's step and prediction; once a lecturer has revealed a step, the right answer."""

    lesson: str
    step: int
    answer: int | None = None
    waits: bool = False
    """Whether the outcome waits for the lecturer"""
    missed: bool = False
    """Whether the lecturer has revealed the outcome before the reader predicted; `answer` is then the right one"""

    @property
    def decided(self) -> bool:
        """Whether the outcome is shown."""
        return self.answer is not None and not self.waits


class Tour:
    """The lessons of one page."""

    def __init__(self, page: str, controls, codes: Iterable[Code] = ()):
        self.lessons = content.lessons_of(page)
        self.controls = {control.key: control for control in (*without_headings(controls), *codes)}

    @property
    def parameters(self) -> list[Control | classroom.RoomCode]:
        """The parameters in the URL, to be sanitized like controls."""
        lesson = self.lessons.get(st.query_params.get("lesson"))
        return [
            Options("lesson", "Lesson", options=tuple(self.lessons), default="no lesson"),
            Number("step", "Step", None, 1, len(lesson.steps) if lesson else 1, 1),
            Switch("summary", "Summary"),
            classroom.RoomCode(),
        ]

    @property
    def runs(self) -> bool:
        """Whether the reader is in a lesson."""
        return _PLACE in st.session_state

    def enter(self) -> None:
        """Set the controls for the step of a link, except what the link itself sets; call it before the widgets."""
        if follow := st.session_state.pop(_ELSEWHERE, None):
            st.switch_page(BY_NAME[follow.page].script, query_params=address(follow))
        st.session_state.pop(_WHOLE_PAGE, None)
        lesson = self.lessons.get(st.query_params.get("lesson"))
        if lesson is None:
            self._leave()
            return
        classroom.take_seat(lesson.key)
        if st.query_params.get("summary") == "true":
            whose = "The class's" if classroom.leads() else "Your"
            layout.title(heading=f"{whose} predictions: {lesson.title}")
            summary.show(lesson, self._act_on_summary)
            st.stop()  # in place of the page
        step = int(float(st.query_params.get("step", "1")))
        place = st.session_state.get(_PLACE)
        if place is None or (place.lesson, place.step) != (lesson.key, step):
            self._go(lesson, step)
            self._complete_link(self._settings_here(lesson))
        elif not place.decided and self._place_at(lesson, step).decided:
            self._decide(lesson, step)
        elif st.session_state.pop(_MISSED, None) == (lesson.key, step) and place.answer is None:
            right = lesson.steps[step - 1].right
            st.session_state[_PLACE] = Place(lesson.key, step, right, missed=True)
            self._reveal(lesson.steps[step - 1].after)

    def show_row(self) -> None:
        """Show the lessons of the page, each as a button."""
        with st.container(horizontal=True, key="lessons", vertical_alignment="center"):
            st.markdown("Lessons:", width="content")
            for lesson in self.lessons.values():
                st.button(
                    lesson.title,
                    help=lesson.takeaway,
                    type="tertiary",
                    icon=":material/school:",
                    on_click=self._begin,
                    args=(lesson,),
                    key=f"lesson {lesson.key}",
                )

    def show_card(self) -> None:
        """Show the card of the current lesson."""
        place = st.session_state.get(_PLACE)
        if place is not None:
            self._show_card(self.lessons[place.lesson], place)

    def _show_card(self, lesson: Lesson, place: Place) -> None:
        step, after = lesson.steps[place.step - 1], content.following(lesson)
        data = {
            "lesson": lesson.key,
            "title": lesson.title,
            "step": place.step,
            "steps": len(lesson.steps),
            "next": after.title if after else "",
            "look": list(step.look),
            "text": "" if place.decided else screen.words(step.text),
            "question": screen.words(step.question),
            "answers": list(map(screen.words, step.answers)),
            "right": step.right,
            "outcome": screen.words(step.outcome) if place.decided else "",
            "answer": place.answer,
            "moved": self._moved(self._settings_at(lesson, place)),
        }
        if classroom.seat() is None:
            with st.container():  # a fragment has a container too; with the same tree the browser keeps the card
                self._mount(lesson, data)
        else:
            st.fragment(self._show_in_room, run_every=_BETWEEN_LOOKS)(lesson, data, place)

    def _show_in_room(self, lesson: Lesson, data: dict, place: Place) -> None:
        """Show the card in a class; it checks the room by itself."""
        if st.session_state.pop(_WHOLE_PAGE, False):
            st.rerun()
        room = classroom.seen(place.step, len(data["answers"]))
        if room is None or (room["revealed"] and (place.waits or (classroom.leads() and not place.decided))):
            st.rerun()  # the class has ended, or the outcome is shown
        if place.answer is None and not classroom.leads():
            if room["revealed"] and st.session_state.get(_ASKED) == (place.lesson, place.step):
                st.session_state[_MISSED] = place.lesson, place.step
                st.rerun()
            # A reader who comes after the reveal may still guess; it does not count.
            st.session_state[_ASKED] = None if room["revealed"] else (place.lesson, place.step)
        self._mount(lesson, data, room | {"waits": place.waits, "missed": place.missed})

    def _mount(self, lesson: Lesson, data: dict, room: dict | None = None) -> None:
        app = {
            "predicted": predictions.as_text(lesson),
            "rooms": classroom.offered(),
            "room": room,
            "problem": classroom.problem(),
        }
        _card(data=data | {"app": app}, key="lesson_card", on_act_change=self._act)

    def _moved(self, settings: dict) -> bool:
        """Return whether the page shows settings other than these."""
        return any(
            not same_setting(self.controls[key].current(), value) for key, value in self._complete(settings).items()
        )

    def _act(self) -> None:
        self._handle(st.session_state["lesson_card"].get("act"))

    def _act_on_summary(self) -> None:
        self._handle_on_summary(st.session_state["lesson_summary"].get("act"))

    def _handle(self, act: object) -> None:
        """Handle a button of the card. The event names its lesson and step, so that a second press does nothing.

        A browser may send anything; ignore what no button sends.
        """
        place = st.session_state.get(_PLACE)
        match act:
            case {"lesson": str(key), "step": int(step), "name": str(name)}:
                if place is not None and (place.lesson, place.step) == (key, step) and key in self.lessons:
                    self._handle_here(self.lessons[key], place, name, act)

    def _handle_here(self, lesson: Lesson, place: Place, name: str, act: dict) -> None:
        if name not in _BY_ITSELF:
            classroom.report(None)
        if name == "show code":
            classroom.paint_code(act.get("link"))
            return
        st.session_state[_WHOLE_PAGE] = True
        match name:
            case "answer":
                self._predict(lesson, place, act.get("answer"))
            case "restore":
                self._try_to_restore(lesson, act.get("predicted"))
                if not place.decided:
                    self._decide(lesson, place.step)
            case "summary":
                st.query_params["summary"] = "true"
            case "leave":
                self._leave()
            case "back":
                self._start(lesson, max(place.step - 1, 1))
            case "next":
                self._go_on(lesson, place.step)
            case "follow":
                self._start(lesson, classroom.step_of_class(place.step))
            case _:
                self._act_in_class(lesson, place.step, act)

    def _act_in_class(self, lesson: Lesson, step: int, act: dict) -> None:
        """Handle a button of the lecturer."""
        match act["name"]:
            case "open room":
                if classroom.open_room(lesson.key):
                    self._start(lesson, step)
            case "close room":
                classroom.close_room()
                self._start(lesson, step)
            case "reveal":
                classroom.reveal(step)
            case "lead":
                if classroom.lead(act.get("secret")):
                    self._go(lesson, step)
                    self._set(self._settings_here(lesson))

    def _handle_on_summary(self, act: object) -> None:
        """Handle a button of the summary."""
        match act:
            case {"lesson": str(key), "name": "restore"} if key in self.lessons:
                self._try_to_restore(self.lessons[key], act.get("predicted"))
            case {"lesson": str(key), "name": str()} if key in self.lessons:
                lesson = self.lessons[key]
                st.query_params.pop("summary", None)
                steps = {str(step): step for step in range(1, len(lesson.steps) + 1)}
                self._start(lesson, steps.get(st.query_params.get("step"), 1))

    def _predict(self, lesson: Lesson, place: Place, answer: object) -> None:
        """Keep a prediction, unless there is one already. If the class cannot be reached, the reader may try again."""
        known = range(len(lesson.steps[place.step - 1].answers))
        if not isinstance(answer, int) or answer not in known or place.answer is not None or classroom.leads():
            return
        if classroom.predict(place.step, answer):
            predictions.keep(lesson, place.step, answer)
            self._decide(lesson, place.step)

    def _decide(self, lesson: Lesson, step: int) -> None:
        """Show the outcome, unless it waits for the lecturer."""
        st.session_state[_PLACE] = place = self._place_at(lesson, step)
        if place.decided:
            self._reveal(lesson.steps[step - 1].after)

    @staticmethod
    def _try_to_restore(lesson: Lesson, predicted: object) -> None:
        """Restore the predictions of the address, after a reload."""
        try:
            predictions.restore(lesson, predicted)
        except ValueError as error:
            classroom.report(error)

    def _go_on(self, lesson: Lesson, step: int) -> None:
        """Go to the next step, or to the next lesson."""
        if step < len(lesson.steps):
            self._start(lesson, step + 1)
        elif (after := content.following(lesson)) is None:
            self._leave()
        elif after.key in self.lessons:
            self._begin(after)
        else:
            st.session_state[_ELSEWHERE] = after

    def _place_at(self, lesson: Lesson, step: int) -> Place:
        """Return a step with the prediction that was made there."""
        if classroom.leads():
            right = lesson.steps[step - 1].right
            return Place(lesson.key, step, right if classroom.is_revealed(step) else None)
        answer = predictions.answer_at(lesson, step)
        return Place(lesson.key, step, answer, answer is not None and not classroom.is_revealed(step))

    @staticmethod
    def _settings_at(lesson: Lesson, place: Place) -> dict:
        """Return the settings of a place: after the prediction if the outcome is shown, else before it."""
        return lesson.after(place.step) if place.decided else lesson.before(place.step)

    def _settings_here(self, lesson: Lesson) -> dict:
        return self._settings_at(lesson, st.session_state[_PLACE])

    def _complete_link(self, settings: dict) -> None:
        named, fresh = set(st.query_params), {}
        for key, value in self._complete(settings).items():
            if key in named:
                continue
            if key in st.session_state:
                st.session_state[key] = value
            elif value != self.controls[key].default:
                fresh[key] = as_text(value)
        if fresh:
            st.query_params.update(fresh)
            rerun_with_notes()

    def _begin(self, lesson: Lesson) -> None:
        """Begin a lesson without predictions; in a class the first ones count."""
        if (seat := classroom.seat()) is None or seat.lesson != lesson.key:
            predictions.forget(lesson)
        self._start(lesson, 1)

    def _start(self, lesson: Lesson, step: int) -> None:
        self._go(lesson, step)
        self._set(self._complete(self._settings_here(lesson)))

    def _complete(self, settings: dict) -> dict:
        """Return the settings of all controls of the page; those that a step does not name have the page's default."""
        return {key: settings.get(key, control.default) for key, control in self.controls.items()}

    def _set(self, settings: dict) -> None:
        for key, value in settings.items():
            self.controls[key].put(value)

    def _reveal(self, settings: dict) -> None:
        """Set what the answer changes; a code may keep what the reader has found."""
        codes = {key: control for key, control in self.controls.items() if isinstance(control, Code)}
        self._set(
            {key: codes[key].outcome(codes[key].current(), to) if key in codes else to for key, to in settings.items()}
        )

    def _go(self, lesson: Lesson, step: int) -> None:
        classroom.arrive(lesson.key, step)
        st.session_state[_PLACE] = self._place_at(lesson, step)
        st.query_params.update(address(lesson, step))

    @staticmethod
    def _leave() -> None:
        st.session_state.pop(_PLACE, None)
        classroom.leave()
        classroom.report(None)
        for name in ("lesson", "step", "summary"):
            st.query_params.pop(name, None)


def address(lesson: Lesson, step: int = 1) -> dict:
    """Return the query parameters that open a lesson at a step."""
    return {"lesson": lesson.key, "step": str(step)}


def offer_to_join() -> None:
    """Show a field for the code of a class's room, which leads to its lesson."""
    if not classroom.offered():
        return
    with st.popover("Join a class", icon=":material/groups:"), st.form("join_a_class", border=False):
        code = st.text_input("Code of the room", key="room_code", max_chars=20, autocomplete="off")
        joined = st.form_submit_button("Join")
        if joined:
            try:
                room = classroom.join(code)
                lesson = content.lesson_named(room.lesson)
            except layout.EXPECTED_ERRORS as error:
                layout.show_error(error)
            else:
                query = address(lesson, room.step) | {classroom.RoomCode.key: room.code}
                st.switch_page(BY_NAME[lesson.page].script, query_params=query)
