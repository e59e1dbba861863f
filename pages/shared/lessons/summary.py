"""A lesson's summary: each question with the reader's prediction, the answer and its reason, to print or to save.

The browser paints, prints and saves it (`summary.js`); the server stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pages.shared import browser
from pages.shared.lessons import classroom, predictions
from pages.shared.lessons.content import Lesson

_component = browser.component("lesson_summary", Path(__file__).with_name("summary.js"), styles=["summary.css"])


def show(lesson: Lesson, texts: Sequence[Sequence[str]], act: Callable[[], None]) -> None:
    """Show the summary of a lesson.

    Parameters
    ----------
    texts : sequence
        Text, question, outcome and answers of each step, for the reader.
    act : callable
        Called when the reader presses a button, or the browser reports its predictions.
    """
    steps = [
        {
            "text": text,
            "question": question,
            "outcome": outcome,
            "answers": answers,
            "right": lesson.steps[k - 1].right,
            "answer": predictions.answer_at(lesson, k),
        }
        for k, (text, question, outcome, *answers) in enumerate(texts, 1)
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
