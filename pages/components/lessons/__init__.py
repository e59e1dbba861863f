"""A card that leads through a lesson of `content`, and a frame around the part of the page that matters.

A lesson sets the controls of the page as the reader does, so the URL follows and every control can be moved at any
time. The URL also holds the place, ``lesson`` and ``step``, but not the predictions.

Numbers in the card belong to the settings of the step (`numbers`). Once the reader has moved a control, the figures
show other settings, and the card shows a note.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import streamlit as st

from pages.components import layout
from pages.components.controls import screen
from pages.components.controls.widgets import (
    Control,
    Number,
    Options,
    rerun_with_notes,
    same_setting,
    without_headings,
)
from pages.components.lessons import content, numbers as lesson_numbers
from rff_engine.figures.live.javascript import join_modules

_HERE = Path(__file__).parent
_card = st.components.v2.component(
    "lesson_card",
    html=(_HERE / "card.html").read_text(encoding="utf-8"),
    css=(_HERE / "card.css").read_text(encoding="utf-8"),
    js=join_modules(_HERE / "card.js"),
    isolate_styles=False,
)

_PLACE = "place in a lesson"
_ELSEWHERE = "lesson of another page"
#: Controls that no lesson sets: they change how figures are drawn, not what they show.
_UNTOUCHED = {"plain"}


@dataclass(frozen=True)
class Place:
    """Where the reader is, and the prediction made there."""

    lesson: str
    step: int
    answer: int | None = None


class Tour:
    """The lessons of one page."""

    def __init__(self, page: str, controls):
        self.lessons = content.lessons_of(page)
        self.controls = {control.key: control for control in without_headings(controls)}

    @property
    def parameters(self) -> list[Control]:
        """The two parameters in the URL, to be sanitized like controls."""
        lesson = self.lessons.get(st.query_params.get("lesson"))
        return [
            Options("lesson", "Lesson", options=tuple(self.lessons), default="no lesson"),
            Number("step", "Step", None, 1, len(lesson.steps) if lesson else 1, 1),
        ]

    @property
    def runs(self) -> bool:
        """Whether the reader is in a lesson."""
        return _PLACE in st.session_state

    def enter(self) -> None:
        """Set what the step of a link needs, except what the link itself sets; called before the widgets."""
        if follow := st.session_state.pop(_ELSEWHERE, None):
            st.switch_page(f"pages/{follow.page}.py", query_params=address(follow))
        lesson = self.lessons.get(st.query_params.get("lesson"))
        if lesson is None:
            st.session_state.pop(_PLACE, None)
            st.query_params.pop("step", None)
            return
        step = int(float(st.query_params.get("step", "1")))
        place = st.session_state.get(_PLACE)
        if place is None or (place.lesson, place.step) != (lesson.key, step):
            self._go(lesson, step)
            self._complete_link(lesson.before(step))

    def show(self) -> None:
        """The row of lessons, and the card of the current one."""
        self.show_row()
        self.show_card()

    def show_row(self) -> None:
        """The lessons of the page, each a button."""
        with st.container(horizontal=True, key="lessons", vertical_alignment="center"):
            st.markdown("Lessons:", width="content")
            for lesson in self.lessons.values():
                st.button(
                    lesson.title,
                    help=lesson.takeaway,
                    type="tertiary",
                    icon=":material/school:",
                    on_click=self._start,
                    args=(lesson, 1),
                    key=f"lesson {lesson.key}",
                )

    def show_card(self) -> None:
        """The card of the current lesson."""
        place = st.session_state.get(_PLACE)
        if place is not None:
            self._show_card(self.lessons[place.lesson], place)

    def _show_card(self, lesson: content.Lesson, place: Place) -> None:
        step, after = lesson.steps[place.step - 1], content.following(lesson)
        asking = place.answer is None
        # Only numbers of texts that are shown are computed.
        shown = (step.text, "") if asking else ("", step.outcome)
        with layout.show_errors():
            text, outcome, question, *answers = self._filled(lesson, place.step, *shown, step.question, *step.answers)
        numbers = any(map(lesson_numbers.names, (*shown, step.question, *step.answers)))
        expected = lesson.before(place.step) if asking else lesson.after(place.step)
        _card(
            data={
                "lesson": lesson.key,
                "title": lesson.title,
                "step": place.step,
                "steps": len(lesson.steps),
                "next": after.title if after else "",
                "look": list(step.look),
                "text": text,
                "question": question,
                "answers": answers,
                "right": step.right,
                "outcome": outcome,
                "answer": place.answer,
                "moved": numbers and self._moved(expected),
            },
            key="lesson_card",
            on_act_change=self._act,
        )

    def _filled(self, lesson: content.Lesson, step: int, *texts: str) -> list[str]:
        """Texts of a step with their numbers filled in."""
        settings = {"before": lesson.before(step), "after": lesson.after(step), "also": lesson.also(step)}
        values = {name: SimpleNamespace(**self._complete(chosen)) for name, chosen in settings.items()}
        return [screen.words(lesson_numbers.fill(text, lesson.page, values)) for text in texts]

    def _moved(self, settings: dict) -> bool:
        """Whether the page shows settings other than these."""
        return any(
            not same_setting(st.session_state.get(key, self.controls[key].default), value)
            for key, value in self._complete(settings).items()
        )

    def _act(self) -> None:
        """Handle a button of the card. The event names its lesson and step, so that a second press does nothing."""
        act, place = st.session_state["lesson_card"].act, st.session_state.get(_PLACE)
        lesson = self.lessons.get(act["lesson"])
        if lesson is None or place is None or (place.lesson, place.step) != (lesson.key, act["step"]):
            return
        if act["name"] == "answer":
            st.session_state[_PLACE] = Place(lesson.key, place.step, int(act["answer"]))
            self._set(lesson.steps[place.step - 1].after)
        elif act["name"] == "leave":
            self._leave()
        elif act["name"] == "back":
            self._start(lesson, max(place.step - 1, 1))
        elif place.step < len(lesson.steps):
            self._start(lesson, place.step + 1)
        elif (after := content.following(lesson)) is None:
            self._leave()
        elif after.key in self.lessons:
            self._start(after, 1)
        else:
            st.session_state[_ELSEWHERE] = after

    def _complete_link(self, settings: dict) -> None:
        named, fresh = set(st.query_params), {}
        for key, value in self._complete(settings).items():
            if key in named:
                continue
            if key in st.session_state:
                st.session_state[key] = value
            elif value != self.controls[key].default:
                fresh[key] = in_url(value)
        if fresh:
            st.query_params.update(fresh)
            rerun_with_notes()

    def _start(self, lesson: content.Lesson, step: int) -> None:
        self._set(self._complete(lesson.before(step)))
        self._go(lesson, step)

    def _complete(self, settings: dict) -> dict:
        """Settings of all controls of the page: those that a step does not name have the page's default."""
        return {
            key: settings.get(key, control.default) for key, control in self.controls.items() if key not in _UNTOUCHED
        }

    @staticmethod
    def _set(settings: dict) -> None:
        for key, value in settings.items():
            st.session_state[key] = value

    @staticmethod
    def _go(lesson: content.Lesson, step: int) -> None:
        st.session_state[_PLACE] = Place(lesson.key, step)
        st.query_params.update(address(lesson, step))

    @staticmethod
    def _leave() -> None:
        st.session_state.pop(_PLACE, None)
        for name in ("lesson", "step"):
            st.query_params.pop(name, None)


def in_url(value) -> str:
    """A control's value as text in the URL."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def address(lesson: content.Lesson, step: int = 1) -> dict:
    """The query parameters that open a lesson at a step."""
    return {"lesson": lesson.key, "step": str(step)}


def show_all_links() -> None:
    """Links to all lessons, each with its takeaway."""
    with st.container(key="all_lessons"):
        for lesson in content.LESSONS:
            st.page_link(
                f"pages/{lesson.page}.py",
                label=f"**{lesson.title}.** {lesson.takeaway}",
                icon=":material/school:",
                query_params=address(lesson),
            )
