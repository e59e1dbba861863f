"""A table made of rows of cells, wherever they are from: names, columns, and what was guessed about both."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TypeVar

import numpy as np

from . import dates, frames, layouts, missing, numerals
from .layouts import Layout
from .table import CellColumn, Choices, Column, Guess, Limits, Table, UploadError, counted, quoted, unique_names

Row = TypeVar("Row")
_ROWS_AT_ONCE, _MOST_MARKS = 500, 3
_MARKS, _ONLY_EMPTY = "missing marks", "only empty cells"


def assemble(
    rows: Iterable[tuple[int, list[str]]], layout: Layout, form: str, limits: Limits, choices: Choices
) -> Table:
    """The table of rows, each with the number of its line; of too many rows a random part."""
    if choices.get(_MARKS) == _ONLY_EMPTY:
        layout = layout._replace(marks=frozenset({""}))
    first, below, n_rows = _rows_below(rows, layout, limits)
    cells = _cells(below, layout, len(first))
    columns, ways, of_numbers = typed(cells, unique_names(first), layout, choices)
    guesses, line = [], first
    if layout.names is None:
        guesses = [_guess_on_names(first, below[0] if below else [""] * len(first), columns, choices)]
    if layout.names is not None or guesses[0].taken == "none":
        n_rows += 1
        if len(below) == limits.rows_that_fit(len(first)):
            cells = _cells(below[:-1], layout, len(first))
        for column, cell in zip(cells, first, strict=True):
            column.prepend(cell)
        line, first = [], layout.names or [f"column {i}" for i in range(1, len(first) + 1)]
        columns, ways, of_numbers = typed(cells, unique_names(first), layout, choices)
    elif not below:
        raise UploadError("The table has column names but no rows; a line for each row is needed.")
    by_pandas = frames.arguments(line, layout, columns, cells, ways)
    notes = note_on_names(first)
    if cells[0].n_rows < n_rows:
        by_pandas = "pandas would take other rows at random"
        notes.append(note_on_part(n_rows, cells[0].n_rows, limits))
    guesses += _guess_on_marks(cells, layout)
    return Table(tuple(columns), form, tuple(notes), None, (*guesses, *of_numbers), by_pandas)


def _guess_on_marks(cells: Sequence[CellColumn], layout: Layout) -> list[Guess]:
    """What stands for a missing value besides empty cells."""
    if layout.marks == {""}:
        return [Guess(_MARKS, _ONLY_EMPTY, ("marks such as NA",))]
    marks = sorted(set().union(*(column.marks() for column in cells)))
    return [Guess(_MARKS, ", ".join(marks[:_MOST_MARKS]), (_ONLY_EMPTY,))] if marks else []


def note_on_part(n_rows: int, n_read: int, limits: Limits) -> str:
    return (
        f"Of {n_rows} rows a random part of {n_read} was read: at most {limits.rows} rows and {limits.cells} cells are "
        "allowed."
    )


def note_on_names(raw: Sequence[str]) -> list[str]:
    """A note on the first name that occurs twice, if there is one."""
    seen = set()
    for name in map(str.strip, raw):
        if name and name in seen:
            return [f"Several columns are named {quoted(name)}: they were numbered."]
        seen.add(name)
    return []


def _guess_on_names(first, second, columns, choices: Choices) -> Guess:
    stand, why = layouts.names_stand_first(first, second, columns)
    likely, other = ("first line", "none") if stand else ("none", "first line")
    taken = choices.get("names", likely)
    if taken != likely:
        return Guess("names", taken, (likely,))
    note = f"The first line was read as {'names' if stand else 'a row'}: {why}." if why else ""
    return Guess("names", taken, (other,), note)


def _rows_below(
    rows: Iterable[tuple[int, list[str]]], layout: Layout, limits: Limits
) -> tuple[list[str], list[list[str]], int]:
    """The first row, those below it or a random part that fits, and the number of all below it."""
    rows = iter(rows)
    line, first = next(rows, (0, []))
    if not first:
        raise UploadError("The file has no cells; a table with a line for each row is needed.")
    n_first = len(first)
    if n_first == layout.width - 1 > 1:  # R's names are one cell shorter than its rows
        first = [*first, ""] if layout.ends_empty else ["", *first]
    limits.check(1, len(first))

    def checked() -> Iterator[list[str]]:
        for number, row in rows:
            if len(row) != len(first):
                raise UploadError(
                    f"Line {number} has {counted(len(row), 'cell')}, line {line} has {n_first}; every line needs as "
                    "many."
                )
            yield row

    most = limits.rows_that_fit(len(first))
    below, n_rows = random_part(checked(), most)
    return first, below, n_rows


def random_part(rows: Iterable[Row], most: int, seed: int = 0) -> tuple[list[Row], int]:
    """All rows, or a random part of the most that fit, in their order; and the number of all (Vitter's algorithm R)."""
    chance, kept, n = random.Random(seed), [], 0
    for n, row in enumerate(rows, 1):
        if n <= most:
            kept.append((n, row))
        elif (place := int(n * chance.random())) < most:
            kept[place] = n, row
    kept.sort(key=itemgetter(0))
    return [row for _, row in kept], n


def _cells(rows: Sequence[list[str]], layout: Layout, n_columns: int) -> list[CellColumn]:
    """The columns of rows."""
    cells = [CellColumn(layout.marks) for _ in range(n_columns)]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        for column, own in zip(cells, zip(*rows[start : start + _ROWS_AT_ONCE], strict=True), strict=True):
            column.extend(own)
    return cells


def typed(
    cells: Sequence[CellColumn | Column], names: Sequence[str], layout: Layout, choices: Choices
) -> tuple[list[Column], list[frames.Way], list[Guess]]:
    """The columns of cells, how their numbers are written, and what was guessed about these.

    A column that is known already stays, unless its kind is chosen.
    """
    cells = [_as_chosen(column, choices.get(_of_kind(position))) for position, column in enumerate(cells)]
    texts = [
        [] if isinstance(column, Column) or _is_text(position, layout, choices) else column.texts()
        for position, column in enumerate(cells)
    ]
    ways = [numerals.styles(own) if own else [] for own in texts]
    marks = {numerals.decimal_mark(of, own) for of, own in zip(ways, texts, strict=True) if of} - {None}
    columns, written, guesses = [], [], []
    for position, (column, name) in enumerate(zip(cells, names, strict=True)):
        if isinstance(column, Column):
            columns.append(replace(column, name=name))
            written.append("text" if column.kind == "text" else numerals.PLAIN)
            continue
        way, own = _way(position, name, ways[position], texts[position], marks, layout, choices)
        made = column.to_column(name, way)
        asked = choices.get(_of_kind(position), made.kind)
        if asked != made.kind and made.kind == "empty":
            raise UploadError(f"No value of {quoted(name)} is a {asked}.")
        for value in missing.sentinels(made.values) if made.kind == "number" else ():
            guess = _guess_on_sentinel(position, made, value, choices)
            own.append(guess)
            if guess.taken == "missing":
                made = replace(made, values=np.where(made.values == value, np.nan, made.values))
        columns.append(made)
        written.append(way)
        guesses += own
    return columns, written, guesses


def _of_kind(position: int) -> str:
    return f"kind of column {position + 1}"


def _is_text(position: int, layout: Layout, choices: Choices) -> bool:
    """Whether a column is text whatever its cells."""
    return choices.get(_of_kind(position), "text" if layout.is_text(position) else "") == "text"


def _as_chosen(column: CellColumn | Column, kind: str | None) -> CellColumn | Column:
    """A column whose texts of other kinds than the chosen one are missing."""
    if isinstance(column, Column):
        if kind in (None, column.kind):
            return column
        column = CellColumn.of(column)
    column.keep(kind)
    return column


def _way(position, name, ways, texts, marks, layout, choices: Choices) -> tuple[frames.Way, list[Guess]]:
    """How the cells of a column are written, and what was guessed about it."""
    asked = choices.get(_of_kind(position))
    if _is_text(position, layout, choices):
        return "text", []
    if asked == "date" and dates.days_without_marks(texts) is not None:
        return "dates", []
    if asked is None and ways == [numerals.PLAIN] and dates.written_without_marks(name, texts):
        note = f"{quoted(name)}: {quoted(texts[0])} and the like were read as dates."
        return "dates", [Guess(_of_kind(position), "date", ("number", "text"), note)]
    if ways and asked != "date":
        guess = _guess_on_numbers(position, name, ways, texts, marks, layout.separator, choices)
        style = numerals.PLAIN if guess is None else numerals.STYLES[guess.taken]
        return style._replace(sign=ways[0].sign), [guess] if guess else []
    if asked != "number" and texts and dates.in_two_orders(texts):
        guess = _guess_on_order(position, name, texts, layout.separator, choices)
        return guess.taken, [guess]
    return numerals.PLAIN if asked is None else "text or date", []


def _guess_on_sentinel(position: int, column: Column, value: float, choices: Choices) -> Guess:
    """Whether a number far from all others stands for a missing value."""
    key = f"{value:g} in column {position + 1}"
    times = int((column.values == value).sum())
    note = f"{quoted(column.name)}: {value:g} counts as missing, as it occurs {times} times far from all other numbers."
    if choices.get(key) == "a number":
        return Guess(key, "a number", ("missing",))
    return Guess(key, "missing", ("a number",), note)


def _guess_on_numbers(position, name, ways, texts, marks, separator, choices: Choices) -> Guess | None:
    """How the numbers of a column are written; None for those that can only be plain."""
    if ways == [numerals.PLAIN]:
        return None
    style, certain = numerals.likely(ways, texts, marks, separator)
    key, answers = f"numbers in column {position + 1}", [*map(numerals.name_of, ways)]
    taken = choices[key] if choices.get(key) in answers else numerals.name_of(style)
    note = ""
    if taken == numerals.name_of(style) and (style != numerals.PLAIN or not certain):
        example = max(texts, key=len)
        value = numerals.parse(example, style)
        sign = f"{quoted(style.sign)} was taken off, and " if style.sign else ""
        note = f"{quoted(name)}: {sign}{quoted(example)} was read as {value:.12g}"
        other = next((numerals.parse(example, way) for way in ways if way != style and not certain), None)
        note += "." if other is None else f", though it could be {other:.12g}."
    return Guess(key, taken, tuple(answer for answer in answers if answer != taken), note)


def _guess_on_order(position, name, texts, separator, choices: Choices) -> Guess:
    """Whether month or day stands first in dates such as 3/4/2020: the month, where commas are no decimal marks."""
    key = f"dates in column {position + 1}"
    likely, other = dates.ORDERS if separator != ";" else reversed(dates.ORDERS)
    taken, left = (other, likely) if choices.get(key) == other else (likely, other)
    read = dates.days_of(texts, taken) or []
    unread = dates.days_of(texts, left) or []
    text, *two = next((text, one, two) for text, one, two in zip(texts, read, unread, strict=True) if one != two)
    first, second = (Column.of_numbers(name, [day], "date").shown(0) for day in two)
    note = (
        f"{quoted(name)}: {quoted(text)} was read as {first}, though it could be {second}." if taken == likely else ""
    )
    return Guess(key, taken, (left,), note)
