"""Reader of delimited text; `layouts` and `numerals` have the rules by which it guesses."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice

from . import layouts, numerals
from .layouts import SEPARATORS, Layout
from .table import CellColumn, Choices, Column, Guess, Limits, Table, UploadError, quoted, unique_names

_ROWS_AT_ONCE = 500


def read(text: str, separators: Sequence[str], notes: Sequence[str], limits: Limits, choices: Choices) -> Table:
    """Read a text whose cells are separated by one of `separators`, with answers to what is guessed."""
    layout = layouts.find(text, [choices["separator"]] if "separator" in choices else separators)
    above = Guess("lines above", str(layout.n_above), ("0",), _note_on_lines_above(text, layout.n_above))
    layout = layout._replace(n_above=int(choices.get("lines above", layout.n_above)))
    first, second, cells = _cells(text, layout, limits)
    names = unique_names(first)
    columns, of_numbers = _columns(cells, names, layout.separator, choices)
    place = _guess_on_names(layout, first, second, columns, choices)
    if place.taken == "none":
        limits.check(cells[0].n_rows + 1, len(first))
        for column, cell in zip(cells, first, strict=True):
            column.prepend(cell)
        names = unique_names(layout.names or [f"column {i}" for i in range(1, len(first) + 1)])
        columns, of_numbers = _columns(cells, names, layout.separator, choices)
    elif cells[0].n_rows == 0:
        raise UploadError("The table has column names but no rows; a line for each row is needed.")
    repeated = note_on_names(layout.names or first if place.taken == "first line" else [])
    separator = Guess("separator", layout.separator, tuple(one for one in SEPARATORS if one != layout.separator))
    form = "TSV" if layout.separator[0] == "\t" else "CSV"
    return Table(
        tuple(columns),
        f"{form}, cells separated by {SEPARATORS[layout.separator]}",
        (*notes, *repeated),
        guesses=(separator, *([above] if above.taken != "0" else []), place, *of_numbers),
    )


def note_on_names(raw: Sequence[str]) -> list[str]:
    """A note on the first name that occurs twice, if there is one."""
    seen = set()
    for name in map(str.strip, raw):
        if name and name in seen:
            return [f"Several columns are named {quoted(name)}: they were numbered."]
        seen.add(name)
    return []


def _note_on_lines_above(text: str, n: int) -> str:
    lines = [line.strip() for line in islice(io.StringIO(text), n) if line.strip()]
    shown = f", the first {quoted(lines[0])}" if lines else ""
    return f"{_count(n, 'line')} above the table {'was' if n == 1 else 'were'} skipped{shown}."


def _guess_on_names(layout: Layout, first, second, columns, choices: Choices) -> Guess:
    if layout.names:
        stand, why = False, "names were taken from the comment above it"
    else:
        stand, why = layouts.names_stand_first(first, second, columns)
    taken = choices.get("names", "first line" if stand else "none")
    if (taken == "first line") != stand:
        why = ""
    elif not stand:
        why = f"The first line was read as a row: {why}."
    elif why:
        why = f"The first line was read as names: {why}."
    return Guess("names", taken, ("none" if taken == "first line" else "first line",), why)


# --- cells ----------------------------------------------------------------------------------------------------------


def _cells(text: str, layout: Layout, limits: Limits) -> tuple[list[str], list[str], list[CellColumn]]:
    """The first two rows, and the columns below the first."""
    rows = _rows(text, layout, limits)
    line, first = next(rows, (0, []))
    if not first:
        raise UploadError("The file has no cells; a table with a line for each row is needed.")
    n_first = len(first)
    if n_first == layout.width - 1 > 1:  # R's names are one cell shorter than its rows
        first = [*first, ""] if layout.ends_empty else ["", *first]
    limits.check(1, len(first))
    cells = [CellColumn() for _ in first]
    pending, second = [], []
    for n_rows, (number, row) in enumerate(rows, 1):
        if len(row) != len(first):
            raise UploadError(
                f"Line {number} has {_count(len(row), 'cell')}, line {line} has {n_first}; every line needs as many."
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


def _rows(text: str, layout: Layout, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every line of the table that is not blank."""
    # csv.field_size_limit holds for the whole process and is left alone; `cell_characters` is smaller.
    lines = io.StringIO(text, newline="")
    for _ in range(layout.n_above):
        lines.readline()
    reader = layouts.reader(lines, layout.separator)
    while True:
        before = layout.n_above + reader.line_num
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UploadError(
                _csv_problem(str(error), before + 1, layout.n_above + reader.line_num, layout.separator)
            ) from None
        longest = max(map(len, row), default=0)
        if longest > limits.cell_characters:
            raise UploadError(
                f"A cell that begins on line {before + 1} has {longest} characters; at most {limits.cell_characters} "
                "are allowed: is a quotation mark not closed?"
            )
        if row and (len(row) > 1 or row[0].strip()):
            yield layout.n_above + reader.line_num, row


def _csv_problem(problem: str, first: int, last: int, separator: str) -> str:
    """A message of the csv module as a sentence."""
    if "expected after" in problem:
        name = SEPARATORS[separator[0]][:-1]
        return f'On line {last}, a quoted cell is followed by something other than a {name}; within quotes, write "".'
    if "unexpected end" in problem:
        return f"A quotation mark on line {first} or below is not closed."
    if "field larger" in problem:
        return f"A cell on line {first} does not end: is a quotation mark not closed?"
    return f"Line {last} cannot be read as a line of a table."


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


# --- columns --------------------------------------------------------------------------------------------------------


def _columns(
    cells: Sequence[CellColumn], names: Sequence[str], separator: str, choices: Choices
) -> tuple[list[Column], list[Guess]]:
    """The columns, and what was guessed about their numbers."""
    texts = [column.texts() for column in cells]
    ways = [numerals.styles(own) if own else [] for own in texts]
    marks = {numerals.decimal_mark(of, own) for of, own in zip(ways, texts, strict=True) if of} - {None}
    columns, guesses = [], []
    for position, (column, name) in enumerate(zip(cells, names, strict=True)):
        guess = _guess_on_numbers(position, name, ways[position], texts[position], marks, separator, choices)
        if guess is None:
            columns.append(column.to_column(name))
            continue
        style = numerals.STYLES.get(guess.taken)
        columns.append(column.to_column(name, "text" if style is None else style._replace(sign=ways[position][0].sign)))
        guesses.append(guess)
    return columns, guesses


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
