"""A table made of rows of cells, wherever they are from: names, columns, and what was guessed about both."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np

from . import dates, frames, layouts, missing, numerals
from .layouts import Layout
from .table import CellColumn, Choices, Column, Guess, Limits, Table, UploadError, counted, quoted, unique_names

_ROWS_AT_ONCE = 500


def assemble(
    rows: Iterable[tuple[int, list[str]]], layout: Layout, form: str, limits: Limits, choices: Choices
) -> Table:
    """The table of rows, each with the number of its line; of too many rows a random part."""
    first, below, n_rows = _rows_below(rows, layout, limits)
    cells = _cells(below, layout, len(first))
    columns, ways, of_numbers = _columns(cells, unique_names(first), layout, choices)
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
        columns, ways, of_numbers = _columns(cells, unique_names(first), layout, choices)
    elif not below:
        raise UploadError("The table has column names but no rows; a line for each row is needed.")
    by_pandas = frames.arguments(line, layout, columns, cells, ways)
    notes = note_on_names(first)
    if cells[0].n_rows < n_rows:
        by_pandas = "pandas would take other rows at random"
        notes.append(_note_on_part(n_rows, cells[0].n_rows, limits))
    return Table(tuple(columns), form, tuple(notes), None, (*guesses, *of_numbers), by_pandas)


def _note_on_part(n_rows: int, n_read: int, limits: Limits) -> str:
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
    below, n_rows = _random_part(checked(), most)
    return first, below, n_rows


def _random_part(rows: Iterable[list[str]], most: int, seed: int = 0) -> tuple[list[list[str]], int]:
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


def _columns(
    cells: Sequence[CellColumn], names: Sequence[str], layout: Layout, choices: Choices
) -> tuple[list[Column], list[frames.Way], list[Guess]]:
    """The columns, how their numbers are written, and what was guessed about these."""
    texts = [[] if layout.is_text(position) else column.texts() for position, column in enumerate(cells)]
    ways = [numerals.styles(own) if own else [] for own in texts]
    marks = {numerals.decimal_mark(of, own) for of, own in zip(ways, texts, strict=True) if of} - {None}
    columns, written, guesses = [], [], []
    for position, (column, name) in enumerate(zip(cells, names, strict=True)):
        way: frames.Way = "text" if layout.is_text(position) else numerals.PLAIN
        guess = _guess_on_numbers(position, name, ways[position], texts[position], marks, layout.separator, choices)
        if guess is not None:
            style = numerals.STYLES.get(guess.taken)
            if style is not None:
                way = style._replace(sign=ways[position][0].sign)
            else:
                way = "dates" if guess.taken == "dates" else "text"
            guesses.append(guess)
        made = column.to_column(name, way)
        for value in missing.sentinels(made.values) if made.kind == "number" else ():
            guess = _guess_on_sentinel(position, made, value, choices)
            guesses.append(guess)
            if guess.taken == "missing":
                made = replace(made, values=np.where(made.values == value, np.nan, made.values))
        columns.append(made)
        written.append(way)
    return columns, written, guesses


def _guess_on_sentinel(position: int, column: Column, value: float, choices: Choices) -> Guess:
    """Whether a number far from all others stands for a missing value."""
    key = f"{value:g} in column {position + 1}"
    times = int((column.values == value).sum())
    note = f"{quoted(column.name)}: {value:g} counts as missing, as it occurs {times} times far from all other numbers."
    if choices.get(key) == "a number":
        return Guess(key, "a number", ("missing",))
    return Guess(key, "missing", ("a number",), note)


def _guess_on_numbers(position, name, ways, texts, marks, separator, choices: Choices) -> Guess | None:
    """How the numbers of a column are written; None for text, and for numbers that can only be plain."""
    key = f"numbers in column {position + 1}"
    if ways == [numerals.PLAIN] and dates.written_without_marks(name, texts):
        return _guess_on_dates(key, name, texts[0], choices)
    if not ways or ways == [numerals.PLAIN]:
        return None
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


def _guess_on_dates(key: str, name: str, example: str, choices: Choices) -> Guess:
    """Whether numbers such as 20200131 are dates."""
    answers = ("dates", numerals.name_of(numerals.PLAIN), "text")
    taken = choices[key] if choices.get(key) in answers else "dates"
    note = f"{quoted(name)}: {quoted(example)} and the like were read as dates." if taken == "dates" else ""
    return Guess(key, taken, tuple(answer for answer in answers if answer != taken), note)
