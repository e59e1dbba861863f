"""The lessons of all pages, in the order of the menus; a page's folder has its lessons."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from pages.shared.catalogue import BY_NAME, PAGES
from pages.shared.lesson import Lesson

_ROOT = Path(__file__).parents[3]


@cache
def lessons_of(page: str) -> dict[str, Lesson]:
    """Return the lessons in the folder of a page, by key."""
    record = BY_NAME[page]
    if not (_ROOT / record.script).with_name("lessons.py").exists():
        return {}
    lessons = import_module(f"{record.module.removesuffix('.page')}.lessons").LESSONS
    return {lesson.key: lesson for lesson in lessons}


@cache
def all_lessons() -> tuple[Lesson, ...]:
    """Return the lessons of all pages."""
    return tuple(lesson for page in PAGES for lesson in lessons_of(page.name).values())


def lesson_named(key: str) -> Lesson:
    """Return the lesson with a key.

    Raises
    ------
    ValueError
        If there is no such lesson.
    """
    for lesson in all_lessons():
        if lesson.key == key:
            return lesson
    raise ValueError(f"There is no lesson {key!r} in this version.")


def following(lesson: Lesson) -> Lesson | None:
    """Return the next lesson, or None after the last."""
    lessons = all_lessons()
    after = lessons[lessons.index(lesson) + 1 :]
    return after[0] if after else None
