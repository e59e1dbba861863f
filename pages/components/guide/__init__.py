"""The guide: a card that leads through a lesson of `tours`, and the pointer to the part of the picture that matters.

A lesson moves a page by the state of its controls, as the reader's own hand does, so the URL follows and everything
can be moved at any time. Where one is, ``lesson`` and ``step``, is in the URL too; what was predicted is not.

Numbers in the card are those of the step's own settings (`tour_numbers`). Once the reader has moved a control, the
picture shows others, and the card says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import streamlit as st

from pages.components import layout, tour_numbers, tours
from pages.components.controls import Control, Number, Options, start_again

_HERE = Path(__file__).parent
_card = st.components.v2.component(
    "guide",
    html=(_HERE / "guide.html").read_text(encoding="utf-8"),
    css=(_HERE / "guide.css").read_text(encoding="utf-8"),
    js=(_HERE / "guide.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)

_PLACE = "place in a lesson"
_ELSEWHERE = "lesson of another page"
#: Controls that no lesson moves: how the pictures are drawn, not what they show.
_NOT_OURS = {"plain"}


@dataclass(frozen=True)
class Place:
    """Where the reader is, and what he has predicted there."""

    lesson: str
    step: int
    answer: int | None = None


class Tour:
    """The lessons of one page."""

    def __init__(self, page: str, controls):
        self.lessons = tours.of(page)
        self.controls = {control.key: control for control in controls if isinstance(control, Control)}

    @property
    def parameters(self) -> list[Control]:
        """The two names in the URL, to be mended like those of controls."""
        lesson = self.lessons.get(st.query_params.get("lesson"))
        return [
            Options("lesson", "Lesson", options=tuple(self.lessons), default="no lesson"),
            Number("step", "Step", None, 1, len(lesson.steps) if lesson else 1, 1),
        ]

    def enter(self) -> None:
        """Before the widgets: a link to a step sets what the step needs, except what the link itself names."""
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
        """The row of lessons, and the card while one is on."""
        with st.container(horizontal=True, key="lessons", vertical_alignment="center"):
            st.markdown("Lessons:", width="content")
            for lesson in self.lessons.values():
                st.button(
                    lesson.title,
                    help=lesson.know,
                    type="tertiary",
                    icon=":material/school:",
                    on_click=self._start,
                    args=(lesson, 1),
                    key=f"lesson {lesson.key}",
                )
        place = st.session_state.get(_PLACE)
        if place is not None:
            self._show_card(self.lessons[place.lesson], place)

    def _show_card(self, lesson: tours.Lesson, place: Place) -> None:
        step, after = lesson.steps[place.step - 1], tours.following(lesson)
        asking = place.answer is None
        # What is not shown yet, or no longer, is not computed either.
        shown = (step.text, "") if asking else ("", step.outcome)
        with layout.problems_explained():
            text, outcome, question, *answers = self._filled(lesson, place.step, *shown, step.question, *step.answers)
        numbers = any(map(tour_numbers.names, (*shown, step.question, *step.answers)))
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
            key="guide",
            on_act_change=self._act,
        )

    def _filled(self, lesson: tours.Lesson, step: int, *texts: str) -> list[str]:
        """Texts of a step with their numbers."""
        settings = {"before": lesson.before(step), "after": lesson.after(step), "also": lesson.also(step)}
        values = {name: SimpleNamespace(**self._whole(those)) for name, those in settings.items()}
        return [tour_numbers.fill(text, lesson.page, values) for text in texts]

    def _moved(self, settings: dict) -> bool:
        """Whether the page shows other settings than these."""
        return any(
            not _same(st.session_state.get(key, self.controls[key].default), value)
            for key, value in self._whole(settings).items()
        )

    def _act(self) -> None:
        """The reader has pressed a button of the card, which says where it belongs: a second press is then harmless."""
        act, place = st.session_state["guide"].act, st.session_state.get(_PLACE)
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
        elif (after := tours.following(lesson)) is None:
            self._leave()
        elif after.key in self.lessons:
            self._start(after, 1)
        else:
            st.session_state[_ELSEWHERE] = after

    def _complete_link(self, settings: dict) -> None:
        named, fresh = set(st.query_params), {}
        for key, value in self._whole(settings).items():
            if key in named:
                continue
            if key in st.session_state:
                st.session_state[key] = value
            elif value != self.controls[key].default:
                fresh[key] = in_url(value)
        if fresh:
            st.query_params.update(fresh)
            start_again()

    def _start(self, lesson: tours.Lesson, step: int) -> None:
        self._set(self._whole(lesson.before(step)))
        self._go(lesson, step)

    def _whole(self, settings: dict) -> dict:
        """Settings of all controls of the page: what a step does not name is at the page's default."""
        return {
            key: settings.get(key, control.default) for key, control in self.controls.items() if key not in _NOT_OURS
        }

    @staticmethod
    def _set(settings: dict) -> None:
        for key, value in settings.items():
            st.session_state[key] = value

    @staticmethod
    def _go(lesson: tours.Lesson, step: int) -> None:
        st.session_state[_PLACE] = Place(lesson.key, step)
        st.query_params.update(address(lesson, step))

    @staticmethod
    def _leave() -> None:
        st.session_state.pop(_PLACE, None)
        for name in ("lesson", "step"):
            st.query_params.pop(name, None)


def _same(shown, expected) -> bool:
    """Whether a widget shows this value of its control; the order of several names does not count."""
    if isinstance(expected, float):
        return math.isclose(shown, expected)
    if isinstance(expected, tuple):
        return set(shown) == set(expected)
    return shown == expected


def in_url(value) -> str:
    """A control's value as the URL has it."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def address(lesson: tours.Lesson, step: int = 1) -> dict:
    """The part of a URL that opens a lesson at a step."""
    return {"lesson": lesson.key, "step": str(step)}


def offer_all() -> None:
    """Every lesson with its sentence, each a link."""
    with st.container(key="all_lessons"):
        for lesson in tours.LESSONS:
            st.page_link(
                f"pages/{lesson.page}.py",
                label=f"**{lesson.title}.** {lesson.know}",
                icon=":material/school:",
                query_params=address(lesson),
            )
