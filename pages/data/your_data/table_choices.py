"""Choices on an uploaded table in the URL: how its file is read, and what is learned from it.

Each is a text such as “separator:;”; without it the guess holds. Columns stand as their position from 1, so that a link
hides their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import SimpleNamespace

import streamlit as st

from datasets.tables.body import BEGINS, ENDS, NAMES, SEPARATORS
from datasets.tables.cells import ANSWERS
from datasets.tables.preparation import IMPUTATIONS, SCALINGS
from datasets.tables.readers import ENCODINGS
from pages.shared import escaping

SAMPLES = {"breast": "Breast cancer", "wine": "White wine"}
"""Tables of the app by their names in a link, the first for a link without one"""
_SHOWN_PARTS = 3
_COLUMN, _COLUMNS = r"[1-9]\d{0,2}", r"[1-9]\d{0,2}(?:,[1-9]\d{0,2})*+"


def _any_of(*texts: str) -> str:
    return "|".join(map(re.escape, texts))


_READING = {
    "separator": _any_of(*SEPARATORS),
    BEGINS: r"[1-9]\d{0,6}",
    NAMES: r"[1-9]\d{0,6}|none",
    ENDS: r"[1-9]\d{0,6}",
    "sheet": r"[^\x00-\x1f]{1,100}",
    "encoding": _any_of(*ENCODINGS),
    **{question: _any_of(*answers) for question, answers in ANSWERS.items()},
    rf"kind of column {_COLUMN}": "number|date|text",
}
_LEARNING = {
    "sample": _any_of(*SAMPLES),
    "target": _COLUMN,
    "task": _any_of("classification", "regression"),
    "class": r"-?\d{1,2}",
    "without": _COLUMNS,
    "with": _COLUMNS,
    "groups": _COLUMN,
    "scaling": _any_of(*SCALINGS),
    "imputation": _any_of(*IMPUTATIONS),
    "map": r"[1-9]\d{0,4},[1-9]\d{0,4}",
}
_CHOICE, _IS_READING = (
    re.compile("|".join(f"(?:{question}):(?:{answers})" for question, answers in allowed.items()), re.ASCII)
    for allowed in (_READING | _LEARNING, _READING)
)


class TableChoices:
    """The choices in the URL, one text each."""

    key = "table"
    is_setting = True

    def sanitize(self, raw: list[str]) -> tuple[list[str] | None, str | None]:
        """Return the texts that are choices, and a note on the others."""
        known = [text for text in raw if _CHOICE.fullmatch(text)]
        if known == raw:
            return raw, None
        unknown = [text for text in raw if text not in known]
        asked = escaping.value_as_code(", ".join(unknown[:_SHOWN_PARTS]))
        return known or None, (
            f"The link asked for table = {asked}; allowed are choices on a table, such as separator:; or target:2, so "
            f"{'it is' if len(unknown) == 1 else 'they are'} ignored."
        )

    def settle(self, values: SimpleNamespace) -> list[str]:
        """Return the texts in the URL."""
        return st.query_params.get_all(self.key)


TABLE_CHOICES = TableChoices()


def of_link() -> dict[str, str]:
    """Return the choices in the URL, answers by question."""
    texts = st.query_params.get_all(TABLE_CHOICES.key)
    return dict(text.partition(":")[::2] for text in texts if _CHOICE.fullmatch(text))


def on_reading(choices: Mapping[str, str]) -> dict[str, str]:
    """Return the choices that `datasets.read_table` takes."""
    return {key: answer for key, answer in choices.items() if _IS_READING.fullmatch(f"{key}:{answer}")}


def on_learning(choices: Mapping[str, str], n_columns: int) -> dict[str, str]:
    """Return the choices on what is learned; none if one of them names a column beyond `n_columns`."""
    learning = {key: answer for key, answer in choices.items() if key not in on_reading(choices)}
    named = [place for key in ("target", "without", "with", "groups") for place in positions(learning.get(key, ""))]
    return learning if max(named, default=0) < n_columns else {}


def positions(answer: str) -> list[int]:
    """Return the positions from 0 that a text such as “1,3” names."""
    return [int(place) - 1 for place in answer.split(",") if place]


def as_positions(places) -> str:
    """Return the text that names positions from 0."""
    return ",".join(str(place + 1) for place in places)


def keep(choices: Mapping[str, str]) -> tuple[str, ...]:
    """Put choices into the URL, and return their texts."""
    texts = [text for key, answer in choices.items() if _CHOICE.fullmatch(text := f"{key}:{answer}")]
    if texts != st.query_params.get_all(TABLE_CHOICES.key):
        if texts:
            st.query_params[TABLE_CHOICES.key] = texts
        else:
            del st.query_params[TABLE_CHOICES.key]
    return tuple(texts)
