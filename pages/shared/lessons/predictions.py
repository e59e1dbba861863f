"""The reader's predictions in a lesson: in the session's memory and in the fragment of the page's address.

Browsers send no fragment with a request. `predictions.js` writes it when a prediction is made. It reports it to a
session without predictions, after a reload or when another process has taken over. Nothing is stored on the server.
"""

from __future__ import annotations

import streamlit as st

from pages.shared.lesson import Lesson

_KEPT = "predictions by lesson"
_NONE = "-"


def answer_at(lesson: Lesson, step: int) -> int | None:
    """Return the answer that the reader has predicted at a step."""
    return _of(lesson).get(step)


def as_text(lesson: Lesson) -> str | None:
    """Return a digit per step, or a dash without a prediction; None if the session has not asked the browser yet."""
    if lesson.key not in _kept():
        return None
    answers = [_of(lesson).get(step) for step in range(1, len(lesson.steps) + 1)]
    return "".join(_NONE if answer is None else str(answer) for answer in answers).rstrip(_NONE)


def keep(lesson: Lesson, step: int, answer: int) -> None:
    """Keep the prediction at a step."""
    _kept()[lesson.key] = _of(lesson) | {step: answer}


def forget(lesson: Lesson) -> None:
    """Drop all predictions, in the fragment as well."""
    _kept()[lesson.key] = {}


def restore(lesson: Lesson, text: object) -> None:
    """Keep the predictions of a fragment, unless the session knows others.

    Raises
    ------
    ValueError
        If `as_text` does not write such a text; then there are no predictions.
    """
    if lesson.key in _kept():
        return
    forget(lesson)
    known = [_NONE + "".join(map(str, range(len(step.answers)))) for step in lesson.steps]
    fits = isinstance(text, str) and len(text) <= len(known)
    if not (fits and all(sign in signs for sign, signs in zip(str(text), known, strict=False))):
        raise ValueError(
            f"The address has the predictions {str(text)[:40]!r}; allowed are up to {len(lesson.steps)} digits or "
            "dashes, 0 for the first answer of a step, so they are ignored."
        )
    for step, sign in enumerate(text, 1):
        if sign != _NONE:
            keep(lesson, step, int(sign))


def _kept() -> dict[str, dict[int, int]]:
    return st.session_state.setdefault(_KEPT, {})


def _of(lesson: Lesson) -> dict[int, int]:
    return _kept().get(lesson.key, {})
