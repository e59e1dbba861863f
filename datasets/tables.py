"""A table of unknown origin: its columns as numbers, dates or text, and the limits that it must keep to.

What a file becomes once `uploads` has read it. Values are kept as plain arrays, never as Python objects of the file's
choosing; what they are used for is the business of `preparation`.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

import numpy as np

Kind = Literal["number", "date", "text", "empty"]

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "."})
"""Cells that stand for no value, in lower case."""
_NAME_CHARACTERS, _QUOTED_CHARACTERS, _NUMBER_CHARACTERS = 80, 40, 400
_UNPRINTABLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # among them the marks that turn the direction of writing
_DATE = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
# What has been taken is not given back (++): else the digits before a letter are tried in every division into two runs.
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)


class UploadError(ValueError):
    """What is wrong with a file or with what was asked of its table, in one sentence.

    Words of the file stand between “ and ”, without either of these marks in them: whoever shows the sentence can
    tell them from ours.
    """


@dataclass(frozen=True)
class Limits:
    """What a table may have at most, and at least.

    Attributes
    ----------
    bytes : int
        Of the file.
    expanded_bytes : int
        Of a Parquet file, once its pages are uncompressed.
    rows, columns, cells : int
        Of the table; `cells` also of the matrix that it becomes.
    cell_characters : int
        Of one cell.
    classes : int
        Of a target that stands for classes.
    categories : int
        Of a text column, each a column of its own: what is rarer shares the last of them.
    fewest_rows : int
        At least so many, of the table and of the rows without gaps.
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

    def check(self, n_rows: int, n_columns: int) -> None:
        """Raise an UploadError if a table of this shape is too large."""
        if n_columns > self.columns:
            raise UploadError(f"The table has {n_columns} columns; at most {self.columns} are allowed.")
        if n_rows > self.rows:
            raise UploadError(f"The table has more than {self.rows} rows, the most allowed.")
        if n_rows * n_columns > self.cells:
            raise UploadError(
                f"{n_rows} rows of {n_columns} columns are {n_rows * n_columns} cells; at most {self.cells} are "
                f"allowed: {self.cells // n_columns} rows of so many columns would fit."
            )


def printable(text: str, at_most: int = _NAME_CHARACTERS) -> str:
    """One line of a text of unknown origin, with a sign for every character that cannot be seen."""
    cut = text if len(text) <= at_most else text[: at_most - 1] + "…"
    return "".join("\ufffd" if unicodedata.category(sign) in _UNPRINTABLE else sign for sign in cut).strip()


def quoted(text: str) -> str:
    """A word of a file, for a sentence of ours."""
    return "“" + printable(text, _QUOTED_CHARACTERS).replace("“", '"').replace("”", '"') + "”"


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Printable names that differ: a number is added to what is there already or empty."""
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


# eq=False: a column is known by where it stands.
@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "text", "empty"}
        "empty" has no value at all.
    values : ndarray of shape (n,)
        float64 numbers, or days since 1970 for a date, NaN where missing; positions in `categories` for text, -1
        where missing.
    categories : tuple of str
        The different values of a text column, in the order of their appearance, as they are in the file.
    note : str
        What a reader should know about how it was understood; a sentence, or nothing.
    """

    name: str
    kind: Kind
    values: np.ndarray
    categories: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def of_numbers(cls, name: str, values, kind: Kind = "number") -> Column:
        """A column of numbers; infinite ones count as missing."""
        values = np.array(values, dtype=np.float64)
        infinite = np.isinf(values)
        note = ""
        if infinite.any():
            values[infinite] = np.nan
            note = f"{infinite.sum()} infinite values count as missing."
        if np.isnan(values).all():
            return cls(name, "empty", np.full(len(values), np.nan), note=note)
        return cls(name, kind, values, note=note)

    @property
    def missing(self) -> np.ndarray:
        """Which rows have no value, (n,)."""
        return self.values < 0 if self.kind == "text" else np.isnan(self.values)

    @cached_property
    def n_missing(self) -> int:
        return int(self.missing.sum())

    @cached_property
    def n_values(self) -> int:
        """How many different values there are, not counting missing ones."""
        return len(np.unique(self.values[~self.missing]))

    @property
    def constant(self) -> bool:
        return self.n_values < 2

    def shown(self, row: int) -> str:
        """The value of a row, for people."""
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


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length, with what was understood of the file.

    Attributes
    ----------
    columns : tuple of Column
        Their names differ.
    format : str
        What the file was read as, for people.
    notes : tuple of str
        Sentences on what a reader may want to check.
    target : str or None
        The column that the format itself says to be the target.
    """

    columns: tuple[Column, ...]
    format: str
    notes: tuple[str, ...] = ()
    target: str | None = None

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].values)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of this name.

        Raises
        ------
        UploadError
            If there is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise UploadError(f"There is no column {quoted(str(name))} in the table.")


class CellColumn:
    """The cells of a column while they are read: each different text is kept once."""

    def __init__(self):
        self._codes, self._known = array("i"), {}

    def extend(self, cells) -> None:
        known = self._known
        self._codes.extend([known.setdefault(cell, len(known)) for cell in cells])

    def column(self, name: str, decimal_comma: bool = False) -> Column:
        """What the cells are: numbers if all of them are, else dates if all of them are, else text."""
        codes = np.frombuffer(self._codes, dtype=np.intc)
        texts = [text.strip() for text in self._known]
        present = [text.lower() not in MISSING for text in texts]
        if not any(present):
            return Column(name, "empty", np.full(len(codes), np.nan))
        for kind, parse in (("number", _number), ("number", _comma_number), ("date", _days)):
            if parse is _comma_number and not decimal_comma:
                continue
            parsed = _parsed(texts, present, parse)
            if parsed is not None:
                return Column.of_numbers(name, parsed[codes], kind)
        return _text_column(name, codes, texts, present)


def _parsed(texts, present, parse) -> np.ndarray | None:
    """Every text as a number, or None as soon as one is none."""
    values = np.full(len(texts), np.nan)
    if parse is _number and _plain(texts):  # a million of them one by one would take seconds
        try:
            values[present] = [float(text) for text, there in zip(texts, present, strict=True) if there]
            return values
        except ValueError:
            return None
    for i, text in enumerate(texts):
        if present[i]:
            value = parse(text)
            if value is None:
                return None
            values[i] = value
    return values


def _number(text: str) -> float | None:
    # float() alone would take underscores and digits of any script.
    return float(text) if len(text) < _NUMBER_CHARACTERS and _NUMBER.fullmatch(text) else None


def _plain(texts: Sequence[str]) -> bool:
    """Whether float() takes those of these texts that `_number` does, and no others."""
    joined = "".join(texts)
    return joined.isascii() and "_" not in joined and max(map(len, texts)) < _NUMBER_CHARACTERS


def _comma_number(text: str) -> float | None:
    return None if "." in text else _number(text.replace(",", ".", 1))


def _days(text: str) -> float | None:
    """Days since 1970, UTC where nothing else is said."""
    found = _DATE.fullmatch(text) if len(text) < 40 else None
    if found is None:
        return None
    year, month, day = found[1], found[2].zfill(2), found[3].zfill(2)
    rest = text[found.end(3) :].replace(" ", "T")
    if rest and found[4] and len(found[4]) == 1:
        rest = f"T0{rest[1:]}"
    try:
        moment = datetime.fromisoformat(f"{year}-{month}-{day}{rest}")
        return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86400
    except (ValueError, OverflowError):
        return None


def _text_column(name, codes, texts, present) -> Column:
    """Cells that differ by blanks around them alone are the same value."""
    known: dict[str, int] = {}
    new = np.array(
        [known.setdefault(text, len(known)) if there else -1 for text, there in zip(texts, present, strict=True)],
        dtype=np.int32,
    )
    values = new[codes]
    note = ""
    numbers = [there and _number(text) is not None for text, there in zip(texts, present, strict=True)]
    n_present, n_numbers = int((values >= 0).sum()), int(np.array(numbers)[codes].sum())
    if 2 * n_numbers >= n_present:
        stray = next(text for text, there, number in zip(texts, present, numbers, strict=True) if there and not number)
        note = f"{n_numbers} of {n_present} values are numbers, but {quoted(stray)} is not: all are taken as text."
    return Column(name, "text", values, tuple(known), note)
