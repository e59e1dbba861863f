"""A lesson as data: what each step sets, where to look, what to predict, and the outcome with its reason.

A test recomputes the numbers in the texts, and checks numbers in words, such as "about half".
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One prediction: a figure, a question about it, and the move that answers it."""

    look: tuple[str, ...]
    """CSS selectors of where to see the outcome; the first one on the page is used."""
    text: str
    question: str
    answers: tuple[str, ...]
    right: int
    outcome: str
    before: dict = field(default_factory=dict)
    """Settings by control key, while the reader predicts"""
    after: dict = field(default_factory=dict)
    """Settings that the answer changes"""


@dataclass(frozen=True)
class Lesson:
    """A few steps on one page; other controls have the page's defaults."""

    key: str
    """Its name in the URL"""
    page: str
    title: str
    takeaway: str
    """What the reader learns, in one sentence"""
    steps: tuple[Step, ...]
    settings: dict = field(default_factory=dict)
    """Settings that all steps share"""

    def before(self, step: int) -> dict:
        """Return the settings while the reader predicts; steps count from 1."""
        return self.settings | self.steps[step - 1].before

    def after(self, step: int) -> dict:
        """Return the settings after the prediction."""
        return self.before(step) | self.steps[step - 1].after
