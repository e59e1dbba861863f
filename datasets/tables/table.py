"""A user-uploaded table: its columns as numbers, dates or text, and its limits.

The readers make it from a file, and `preparation` turns it into a learning problem. Values are plain arrays, never
Python objects of a type that the file chooses.
"""

from __future__ import annotations

import json
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["number", "date", "text", "empty"]

_NAME_CHARACTERS, _QUOTED_CHARACTERS = 80, 40
_MOST_NAMED = 8  # columns, in a message
_UNPRINTABLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # among them marks of writing direction

Choices = Mapping[str, str]
"""Answers to the questions of guesses, by key"""


class UploadError(ValueError):
    """An invalid file, table or choice; the message is one sentence.

    Text of the file is enclosed in “ and ” and contains neither mark, so that a page can tell it from the rest.
    """


@dataclass(frozen=True)
class Limits:
    """Largest and smallest sizes of a table and of its file, in bytes as it is and expanded.

    `cells` and `fewest_rows` also hold for the prepared matrix. The rarest texts of a column share the last of its
    `categories`. Without scaling no number of the matrix is above `unscaled`: cosines of larger phases are noise.
    """

    bytes: int = 10_000_000
    expanded_bytes: int = 50_000_000
    rows: int = 20_000
    columns: int = 500
    cells: int = 1_000_000
    cell_characters: int = 10_000
    classes: int = 50
    categories: int = 20
    fewest_rows: int = 10
    unscaled: float = 1e9

    def rows_that_fit(self, n_columns: int) -> int:
        """Return the largest number of rows that a table of so many columns may have."""
        return min(self.rows, self.cells // max(n_columns, 1))

    def check_columns(self, n_columns: int) -> None:
        """Raise an UploadError if a table has too many columns."""
        if n_columns > self.columns:
            raise UploadError(f"The table has {n_columns} columns; at most {self.columns} are allowed.")


def printable(text: str, at_most: int = _NAME_CHARACTERS) -> str:
    """Put untrusted text on one line, shorten it, and replace every unprintable character by U+FFFD."""
    cut = text if len(text) <= at_most else text[: at_most - 1] + "…"
    return "".join("\ufffd" if unicodedata.category(sign) in _UNPRINTABLE else sign for sign in cut).strip()


def quoted(text: str) -> str:
    """Make untrusted text fit for a message: printable and between “ and ”."""
    return "“" + printable(text, _QUOTED_CHARACTERS).replace("“", '"').replace("”", '"') + "”"


def counted(n: int, what: str) -> str:
    """Write a number of things, such as 1 cell or 2 cells."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Make names printable and distinct: repeated ones are numbered, empty ones named by position."""
    taken: dict[str, None] = {}
    counts: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        base = printable(name) or f"column {position}"
        name = base
        while name in taken:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base} ({counts[base]})"
        taken[name] = None
    return tuple(taken)


# eq=False: identity, not an element-wise comparison.
@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table."""

    name: str
    kind: Kind
    """"empty": every value is missing"""
    values: np.ndarray
    """(n,), float64 numbers, or days since 1970 for dates, NaN where missing; for text int32 positions in `categories`,
    -1 where missing"""
    categories: tuple[str, ...] = ()
    """Distinct values of a text column in order of appearance, unchanged from the file"""
    note: str = ""
    """Sentences on how the column was interpreted, or an empty string"""

    @classmethod
    def of_numbers(cls, name: str, values: npt.ArrayLike, kind: Kind = "number", note: str = "") -> Column:
        """Make a column of numbers or dates; infinite values count as missing."""
        numbers = np.array(values, dtype=np.float64)
        infinite = np.isinf(numbers)
        if infinite.any():
            numbers[infinite] = np.nan
            note = f"{infinite.sum()} infinite values count as missing. {note}".strip()
        return cls(name, "empty" if np.isnan(numbers).all() else kind, numbers, note=note)

    @property
    def missing(self) -> np.ndarray:
        """Mask of the missing values, (n,)."""
        return self.values < 0 if self.kind == "text" else np.isnan(self.values)

    @cached_property
    def n_missing(self) -> int:
        """Number of missing values."""
        return int(self.missing.sum())

    @cached_property
    def n_values(self) -> int:
        """Number of distinct values, missing ones not counted."""
        return len(np.unique(self.values[~self.missing]))

    @cached_property
    def _has_times(self) -> bool:
        """Whether it holds times of a day, without dates."""
        return bool(np.all(self.missing | ((self.values >= 0) & (self.values < 1))))

    @property
    def constant(self) -> bool:
        """Whether it has fewer than two distinct values."""
        return self.n_values < 2

    def shown(self, row: int) -> str:
        """Return the value of a row as printable text."""
        if self.missing[row]:
            return ""
        value = self.values[row]
        match self.kind:
            case "text":
                return printable(self.categories[value])
            case "date":
                stamp = str(np.datetime64(0, "s") + np.timedelta64(round(float(value) * 86400), "s"))
                if self._has_times:
                    return stamp[11:].removesuffix(":00")
                return stamp[:10] if float(value).is_integer() else stamp.replace("T", " ")
            case _:
                return f"{value:.6g}"


@dataclass(frozen=True)
class Guess:
    """What was guessed in reading a file: the key of a question, such as "separator", and the answer taken.

    `choices` of the readers may give one of the others under the key, for lines any number. The note says why the
    answer was taken; it is empty if nothing is unusual.
    """

    key: str
    taken: str
    others: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, and how the file was read."""

    columns: tuple[Column, ...]
    """With distinct names"""
    format: str
    """As text to show"""
    notes: tuple[str, ...] = ()
    """Sentences on what the user may want to check"""
    target: str | None = None
    """Name of the target column, if the format defines one"""
    guesses: tuple[Guess, ...] = ()
    """Guesses that `choices` may replace"""

    def encoded(self) -> bytes:
        """Encode the table as lines of JSON: all but the columns, then each column. No pickle is written or loaded."""
        head = {**vars(self), "columns": [], "guesses": [vars(guess) for guess in self.guesses]}
        fields = [
            (one.name, one.kind, b64encode(one.values.tobytes()).decode(), one.categories, one.note)
            for one in self.columns
        ]
        return "\n".join(map(json.dumps, [head, *fields])).encode()

    @classmethod
    def decoded(cls, head: dict[str, Any], lines: Iterable[bytes]) -> Table:
        """Decode the table from its first line and the others. Between the lines, other threads can run."""
        columns = []
        for name, kind, values, categories, note in map(json.loads, lines):
            numbers = np.frombuffer(b64decode(values), np.int32 if kind == "text" else np.float64).copy()
            columns.append(Column(name, kind, numbers, tuple(categories), note))
        guesses = tuple(Guess(**{**guess, "others": tuple(guess["others"])}) for guess in head["guesses"])
        return cls(**{**head, "columns": tuple(columns), "notes": tuple(head["notes"]), "guesses": guesses})

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].values)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """Return the column with a name. Raise an UploadError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(map(quoted, self.names[:_MOST_NAMED])) + ", ..." * (len(self.names) > _MOST_NAMED)
        raise UploadError(f"There is no column {quoted(str(name))} in the table, which has {known}.")
