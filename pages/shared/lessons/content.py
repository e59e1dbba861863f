"""The lessons of all pages, in the order of the menus; a page's folder has its lessons."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pages.shared.catalogue import PAGES, Page
from pages.shared.lesson import Lesson

_ROOT = Path(__file__).parents[3]


def _in_folder(page: Page) -> tuple[Lesson, ...]:
    """Return the lessons in the folder of a page."""
    if not (_ROOT / page.script).with_name("lessons.py").exists():
        return ()
    return import_module(f"{page.module.removesuffix('.page')}.lessons").LESSONS


LESSONS = tuple(lesson for page in PAGES for lesson in _in_folder(page))


def lessons_of(page: str) -> dict[str, Lesson]:
    """Return the lessons of a page, by key."""
    return {lesson.key: lesson for lesson in LESSONS if lesson.page == page}


def lesson_named(key: str) -> Lesson:
    """Return the lesson with a key.

    Raises
    ------
    ValueError
        If there is no such lesson.
    """
    for lesson in LESSONS:
        if lesson.key == key:
            return lesson
    raise ValueError(f"There is no lesson {key!r} in this version.")


def following(lesson: Lesson) -> Lesson | None:
    """Return the next lesson, or None after the last."""
    after = LESSONS[LESSONS.index(lesson) + 1 :]
    return after[0] if after else None
