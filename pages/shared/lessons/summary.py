"""A lesson's summary: each question with the reader's prediction, the answer and its reason, to print or to save.

The browser paints, prints and saves it (`summary.js`); the server stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pages.shared import browser
from pages.shared.controls import screen
from pages.shared.lesson import Lesson
from pages.shared.lessons import classroom, predictions

_component = browser.component("lesson_summary", Path(__file__).with_name("summary.js"), styles=["summary.css"])


def show(lesson: Lesson, act: Callable[[], None]) -> None:
    """Show the summary of a lesson; `act` is called when a button is pressed or the browser reports its predictions."""
    steps = [
        {
            "text": screen.words(step.text),
            "question": screen.words(step.question),
            "outcome": screen.words(step.outcome),
            "answers": list(map(screen.words, step.answers)),
            "right": step.right,
            "answer": predictions.answer_at(lesson, k),
            "of_class": classroom.right_at(k, step.right),
        }
        for k, step in enumerate(lesson.steps, 1)
    ]
    data = {
        "lesson": lesson.key,
        "title": lesson.title,
        "takeaway": lesson.takeaway,
        "steps": steps,
        "predicted": predictions.as_text(lesson),
        "problem": classroom.problem(),
    }
    _component(data=data, key="lesson_summary", on_act_change=act)
