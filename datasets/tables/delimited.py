"""Reader of delimited text; `layouts` has the rules by which it finds the cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from . import frames, layouts
from .layouts import SEPARATORS, Layout
from .rows import assemble
from .table import Choices, Guess, Limits, Table, UploadError, counted, quoted


def read(text: str, separators: Sequence[str], limits: Limits, choices: Choices) -> Table:
    """Read a text whose cells are separated by one of `separators`, with answers to what is guessed."""
    layout = layouts.find(text, [choices["separator"]] if choices.get("separator") in SEPARATORS else separators)
    guesses = [Guess("separator", layout.separator, tuple(one for one in SEPARATORS if one != layout.separator))]
    if layout.n_above:
        n_above = "0" if choices.get("lines above") == "0" else str(layout.n_above)
        others = tuple({"0", str(layout.n_above)} - {n_above})
        note = _note_on_lines_above(text, layout) if n_above != "0" else ""
        guesses.append(Guess("lines above", n_above, others, note))
        layout = layout._replace(n_above=int(n_above), names=layout.names if n_above != "0" else None)
    kind = "TSV" if layout.separator[0] == "\t" else "CSV"
    form = f"{kind}, cells separated by {SEPARATORS[layout.separator]}"
    table = assemble(_rows(text, layout, limits), layout, form, limits, choices)
    by_pandas = table.by_pandas if isinstance(table.by_pandas, str) else _by_pandas(text, layout, table.by_pandas)
    return replace(table, guesses=(*guesses, *table.guesses), by_pandas=by_pandas)


def _by_pandas(text: str, layout: Layout, arguments: frames.Arguments) -> frames.Arguments | str:
    """Arguments of pandas with those on lines and separators, or why there are none."""
    separator = layout.separator
    if separator == "\t+":
        return "pandas heeds no quotation marks between runs of tabs"
    if any(line.count('"') % 2 for line in islice(io.StringIO(text), layout.n_above)):
        return "a quotation mark above the table is not closed"
    if separator == " ":
        return {"sep": r"\s+", **arguments}
    blanks = separator != "\t" and f"{separator} " in text
    own = ({} if separator == "," else {"sep": separator}) | ({"skipinitialspace": True} if blanks else {})
    return {**own, **arguments}


def _note_on_lines_above(text: str, layout: Layout) -> str:
    lines = [line.strip() for line in islice(io.StringIO(text), layout.n_above) if line.strip()]
    shown = f", the first {quoted(lines[0])}" if lines else ""
    named = "; its last names the columns" if layout.names else ""
    lines_were = f"{counted(layout.n_above, 'line')} above the table {'was' if layout.n_above == 1 else 'were'}"
    return f"{lines_were} skipped{shown}{named}."


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
