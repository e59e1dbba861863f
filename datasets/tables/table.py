"""A user-uploaded table: its columns as numbers, dates or text, and its limits.

The readers make it of a file, and `preparation` makes a learning problem of it. Values are plain arrays, never Python
objects of a type that the file chooses.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["number", "date", "text", "empty"]

_NAME_CHARACTERS, _QUOTED_CHARACTERS = 80, 40
_MOST_NAMED = 8  # columns, in a message
_UNPRINTABLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # among them marks of writing direction

Choices = Mapping[str, str]
"""Answers to the questions of guesses, by their keys"""


class UploadError(ValueError):
    """An invalid file, table or choice; the message is one sentence.

    Text of the file is enclosed in “ and ” and contains neither mark, so that a page can tell it from the rest.
    """


@dataclass(frozen=True)
class Limits:
    """Largest and smallest sizes of a table.

    Attributes
    ----------
    bytes : int
        Size of the file.
    expanded_bytes : int
        Size of a Parquet file with uncompressed pages.
    rows, columns, cells : int
        Of the table; `cells` also of the prepared matrix.
    cell_characters : int
        Length of a cell.
    classes : int
        Classes of a target.
    categories : int
        Columns made of a text column; the rarest values share the last one.
    fewest_rows : int
        Smallest number of rows of the table, and of rows left after preparation.
    unscaled : float
        Largest absolute value of a prepared matrix without scaling: cosines of larger phases are noise.
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
        """The largest number of rows of so many columns."""
        return min(self.rows, self.cells // n_columns)

    def check(self, n_rows: int, n_columns: int) -> None:
        """Raise an UploadError if a table of this shape is too large."""
        if n_columns > self.columns:
            raise UploadError(f"The table has {n_columns} columns; at most {self.columns} are allowed.")
        if n_rows > self.rows:
            raise UploadError(f"The table has more than {self.rows} rows, the most allowed.")
        if n_rows * n_columns > self.cells:
            raise UploadError(
                f"{n_rows} rows of {n_columns} columns are {n_rows * n_columns} cells; at most {self.cells} are "
                f"allowed, which is {self.cells // n_columns} rows of {n_columns} columns."
            )


def printable(text: str, at_most: int = _NAME_CHARACTERS) -> str:
    """Untrusted text on one line, shortened, with U+FFFD for every unprintable character."""
    cut = text if len(text) <= at_most else text[: at_most - 1] + "…"
    return "".join("\ufffd" if unicodedata.category(sign) in _UNPRINTABLE else sign for sign in cut).strip()


def quoted(text: str) -> str:
    """Untrusted text for a message: printable and between “ and ”."""
    return "“" + printable(text, _QUOTED_CHARACTERS).replace("“", '"').replace("”", '"') + "”"


def counted(n: int, what: str) -> str:
    """A number of things, such as 1 cell or 2 cells."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Printable, distinct names: repeated ones are numbered, empty ones named by position."""
    taken, counts = [], {}
    used = set()
    for position, name in enumerate(names, start=1):
        base = printable(name) or f"column {position}"
        name = base
        while name in used:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base} ({counts[base]})"
        used.add(name)
        taken.append(name)
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
    """A sentence on how the column was interpreted, or an empty string"""

    @classmethod
    def of_numbers(cls, name: str, values: npt.ArrayLike, kind: Kind = "number") -> Column:
        """A column of numbers or dates; infinite values count as missing."""
        numbers = np.array(values, dtype=np.float64)
        infinite = np.isinf(numbers)
        note = ""
        if infinite.any():
            numbers[infinite] = np.nan
            note = f"{infinite.sum()} infinite values count as missing."
        if np.isnan(numbers).all():
            return cls(name, "empty", np.full(len(numbers), np.nan), note=note)
        return cls(name, kind, numbers, note=note)

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

    @property
    def constant(self) -> bool:
        """Whether it has fewer than two distinct values."""
        return self.n_values < 2

    def written(self, row: int) -> str:
        """The number or date of a row as in a file, with all its digits."""
        if self.kind != "number" or self.missing[row]:
            return self.shown(row)
        value = float(self.values[row])
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)

    def shown(self, row: int) -> str:
        """The value of a row as printable text."""
        if self.missing[row]:
            return ""
        value = self.values[row]
        match self.kind:
            case "text":
                return printable(self.categories[value])
            case "date":
                stamp = np.datetime64(0, "s") + np.timedelta64(round(float(value) * 86400), "s")
                return str(stamp)[:10] if float(value).is_integer() else str(stamp).replace("T", " ")
            case _:
                return f"{value:.6g}"


def counts_rows(column: Column) -> bool:
    """Whether a column counts the rows from 0 or 1."""
    first = column.values[0]
    counting = column.kind == "number" and first in (0, 1)
    return bool(counting and np.array_equal(column.values, first + np.arange(len(column.values))))


@dataclass(frozen=True)
class Guess:
    """What was guessed in reading a file, and how to take it back."""

    key: str
    """Name of the question: "separator", "encoding", "sheet", "begins at line", "names at line", "ends at line",
    "decimal mark", "order of dates" or "missing marks"; "kind of column 2" is answered for any
    column without a guess"""
    taken: str
    """The answer taken"""
    others: tuple[str, ...]
    """Other answers; `choices` of the readers take one under the key, and for lines any number"""
    note: str = ""
    """A sentence on the answer and why it was taken; empty if nothing is unusual"""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, and how the file was read.

    Attributes
    ----------
    columns : tuple of Column
        With distinct names.
    format : str
        Format of the file, as text to show.
    notes : tuple of str
        Sentences on what the user may want to check.
    target : str or None
        Name of the target column, if the format defines one.
    guesses : tuple of Guess
        What was guessed, which `choices` take back.
    """

    columns: tuple[Column, ...]
    format: str
    notes: tuple[str, ...] = ()
    target: str | None = None
    guesses: tuple[Guess, ...] = ()

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].values)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column with a name; an UploadError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(map(quoted, self.names[:_MOST_NAMED])) + ", ..." * (len(self.names) > _MOST_NAMED)
        raise UploadError(f"There is no column {quoted(str(name))} in the table, which has {known}.")
