"""A table made of rows of cells, wherever they are from: names, columns, and what was guessed about both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from . import layouts, missing, numerals
from .layouts import Layout
from .table import CellColumn, Choices, Column, Guess, Limits, Table, UploadError, counted, quoted, unique_names

_ROWS_AT_ONCE = 500


def assemble(
    rows: Iterable[tuple[int, list[str]]], layout: Layout, form: str, limits: Limits, choices: Choices
) -> Table:
    """The table of rows, each with the number of its line."""
    first, second, cells = _cells(rows, layout, limits)
    names = unique_names(first)
    columns, of_numbers = _columns(cells, names, layout, choices)
    guesses = []
    if layout.names is None:
        guesses = [_guess_on_names(first, second, columns, choices)]
    if layout.names is not None or guesses[0].taken == "none":
        limits.check(cells[0].n_rows + 1, len(first))
        for column, cell in zip(cells, first, strict=True):
            column.prepend(cell)
        first = layout.names or [f"column {i}" for i in range(1, len(first) + 1)]
        columns, of_numbers = _columns(cells, unique_names(first), layout, choices)
    elif cells[0].n_rows == 0:
        raise UploadError("The table has column names but no rows; a line for each row is needed.")
    return Table(tuple(columns), form, tuple(note_on_names(first)), guesses=(*guesses, *of_numbers))


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


def _cells(
    rows: Iterable[tuple[int, list[str]]], layout: Layout, limits: Limits
) -> tuple[list[str], list[str], list[CellColumn]]:
    """The first two rows, and the columns below the first."""
    rows = iter(rows)
    line, first = next(rows, (0, []))
    if not first:
        raise UploadError("The file has no cells; a table with a line for each row is needed.")
    n_first = len(first)
    if n_first == layout.width - 1 > 1:  # R's names are one cell shorter than its rows
        first = [*first, ""] if layout.ends_empty else ["", *first]
    limits.check(1, len(first))
    cells = [CellColumn(layout.marks) for _ in first]
    pending, second = [], []
    for n_rows, (number, row) in enumerate(rows, 1):
        if len(row) != len(first):
            raise UploadError(
                f"Line {number} has {counted(len(row), 'cell')}, line {line} has {n_first}; every line needs as many."
            )
        second = second or row
        if n_rows > limits.rows or n_rows * len(first) > limits.cells:
            limits.check(n_rows, len(first))
        pending.append(row)
        if len(pending) == _ROWS_AT_ONCE:
            _append(cells, pending)
            pending = []
    _append(cells, pending)
    return first, second or [""] * len(first), cells


def _append(cells: list[CellColumn], rows: list[list[str]]) -> None:
    for column, own in zip(cells, zip(*rows, strict=True), strict=bool(rows)):
        column.extend(own)


def _columns(
    cells: Sequence[CellColumn], names: Sequence[str], layout: Layout, choices: Choices
) -> tuple[list[Column], list[Guess]]:
    """The columns, and what was guessed about their numbers."""
    texts = [[] if layout.is_text(position) else column.texts() for position, column in enumerate(cells)]
    ways = [numerals.styles(own) if own else [] for own in texts]
    marks = {numerals.decimal_mark(of, own) for of, own in zip(ways, texts, strict=True) if of} - {None}
    columns, guesses = [], []
    for position, (column, name) in enumerate(zip(cells, names, strict=True)):
        way: numerals.Style | Literal["text"] = "text" if layout.is_text(position) else numerals.PLAIN
        guess = _guess_on_numbers(position, name, ways[position], texts[position], marks, layout.separator, choices)
        if guess is not None:
            style = numerals.STYLES.get(guess.taken)
            way = "text" if style is None else style._replace(sign=ways[position][0].sign)
            guesses.append(guess)
        made = column.to_column(name, way)
        guess = _guess_on_sentinel(position, made, choices)
        if guess is not None:
            guesses.append(guess)
            if guess.taken == "missing":
                made = replace(made, values=np.where(made.values == missing.sentinel(made.values), np.nan, made.values))
        columns.append(made)
    return columns, guesses


def _guess_on_sentinel(position: int, column: Column, choices: Choices) -> Guess | None:
    """Whether a number far from all others stands for a missing value; None if there is no such number."""
    value = missing.sentinel(column.values) if column.kind == "number" else None
    if value is None:
        return None
    key = f"{value:g} in column {position + 1}"
    times = int((column.values == value).sum())
    note = f"{quoted(column.name)}: {value:g} counts as missing, as it occurs {times} times far from all other numbers."
    if choices.get(key) == "a number":
        return Guess(key, "a number", ("missing",))
    return Guess(key, "missing", ("a number",), note)


def _guess_on_numbers(position, name, ways, texts, marks, separator, choices: Choices) -> Guess | None:
    """How the numbers of a column are written; None for text, and for numbers that can only be plain."""
    if not ways or ways == [numerals.PLAIN]:
        return None
    key = f"numbers in column {position + 1}"
    style, certain = numerals.likely(ways, texts, marks, separator)
    taken = choices.get(key, numerals.name_of(style))
    answers = [*map(numerals.name_of, ways), "text"]
    note = ""
    if taken == numerals.name_of(style) and (style != numerals.PLAIN or not certain):
        example = max(texts, key=len)
        value = numerals.parse(example, style)
        sign = f"{quoted(style.sign)} was taken off, and " if style.sign else ""
        note = f"{quoted(name)}: {sign}{quoted(example)} was read as {value:.12g}"
        other = next((numerals.parse(example, way) for way in ways if way != style and not certain), None)
        note += "." if other is None else f", though it could be {other:.12g}."
    return Guess(key, taken, tuple(answer for answer in answers if answer != taken), note)
