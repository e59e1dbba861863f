"""The body of a table: the longest run of rows whose cells agree in kind, column by column.

Everything else follows from it. The separator is the one that gives the most regular body. The first full line of
words above the body holds the names; other lines above are titles and units, lines below are footnotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, starmap, zip_longest
from math import isfinite

from .cells import any_number, kind_of
from .table import Guess, Limits, UploadError, counted, quoted

SEPARATORS = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "vertical bars",
    "\t+": "runs of tabs",
    " ": "blanks",
    "  ": "two or more blanks",
    "aligned": "their places",
}
"""Possible separators of cells; a run of tabs or of blanks counts as one"""
BEGINS, NAMES, ENDS = LINES = "begins at line", "names at line", "ends at line"
"""Questions on the body; the answer is the number of a line, for names also “none”"""
ONE_COLUMN = (
    "The table has one column; at least two are needed, a target and something to predict it from, with commas, "
    "semicolons, tabs or vertical bars between them."
)
_SNIFFED_LINES, _SNIFFED_CHARACTERS, _SEEN_ROWS, _SEEN_CELLS = 300, 1 << 17, 300, 20_000
_SEPARATOR_LINE = re.compile(r" *+\"?sep=([,;|\t])\"?[,;|\t]*+ *+(?:\n|$)", re.IGNORECASE)
_COMMENTS = re.compile(r"(?:[#%][^\n]*+(?:\n|$)|[^\S\n]*+\n)*+")
_TABS = re.compile(r"\t++")
_BLANKS = re.compile(r"\s{2,}+")
_AGREE, _REGULAR, _MISFITS = 0.8, 0.9, 0.01
_LONGEST_COMMENT, _LONGEST_ALIGNED = 10_000, 1000
_YEARS = range(1800, 2101)

Row = tuple[int, list[str]]
"""Number of its first line, and its cells"""


# --- cells of a text ------------------------------------------------------------------------------------------------


def split(text: str, separator: str, quotes: bool = True, strict: bool = True) -> list[Row]:
    """Split a text into rows, and leave out blank ones. Quotation marks in comments at the top have no meaning."""
    comments = _comments(text)
    rows: list[Row] = []
    n_above = comments.count("\n")
    reader = _reader(io.StringIO(text[len(comments) :]), separator, quotes, strict)
    start = n_above + 1
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                rows.append((start, cells))
            start = n_above + reader.line_num + 1
    except csv.Error as error:
        raise UploadError(_problem(str(error), start, n_above + reader.line_num, separator)) from None
    above = [(line, _comment(shown, separator, rows)) for line, shown in enumerate(comments.split("\n"), 1)]
    return [row for row in above if row[1]] + rows


def _comment(line: str, separator: str, rows: Sequence[Row]) -> list[str]:
    """Split a comment; where blanks separate, names with single blanks may stand between longer runs."""
    line = line.removeprefix("# ")[:_LONGEST_COMMENT]
    if not line.strip():
        return []
    apart = _BLANKS.split(line.strip())
    if separator == " " and rows and len(apart) == len(rows[0][1]):
        return apart
    return next(iter(_reader([line], separator, False, False)))


def _comments(text: str) -> str:
    """Return the comments and blank lines at the top of a text."""
    match = _COMMENTS.match(text)
    return match[0] if match else ""


def _reader(lines, separator: str, quotes: bool, strict: bool):
    if separator == "\t+":
        lines = (_TABS.sub("\t", line.strip("\n\t")) for line in lines)
    elif separator == " ":
        lines = (line.strip().replace("\t", " ") for line in lines)
    elif separator == "  ":
        lines, separator = (_BLANKS.sub("\t", line.strip()) for line in lines), "\t"
    elif separator == "aligned":
        return _Aligned(lines)
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    options = {"delimiter": separator[0], "strict": strict, "quoting": quoting}
    return csv.reader(lines, skipinitialspace=separator[0] != "\t", **options)


class _Aligned:
    """Reader of aligned columns: a cell begins where nearly all lines have a blank before it."""

    def __init__(self, lines: Iterable[str]):
        self._lines = [line.rstrip().expandtabs() for line in lines]
        self.line_num = 0
        sample = [line for line in self._lines[:_SNIFFED_LINES] if line]
        length = min(max(map(len, sample), default=0), _LONGEST_ALIGNED)
        n_filled = [sum(line[at : at + 1].strip() != "" for line in sample) for at in range(length)]
        are_filled = [n > _MISFITS * len(sample) for n in n_filled]
        starts = [at for at in range(length) if are_filled[at] and not (at and are_filled[at - 1])]
        self._cells = list(starmap(slice, zip_longest([0, *starts[1:]], starts[1:])))

    def __iter__(self) -> Iterator[list[str]]:
        for line in self._lines:
            self.line_num += 1
            yield [line[cell].strip() for cell in self._cells] if line else []


def _problem(problem: str, first: int, last: int, separator: str) -> str:
    """Turn a message of the csv module into a sentence."""
    if "expected after" in problem:
        name = SEPARATORS[separator[0]][:-1]
        return f'On line {last}, a quoted cell is followed by something other than a {name}; within quotes, write "".'
    if "field larger" in problem:
        return f"A cell that begins on line {first} has more than {csv.field_size_limit()} characters."
    return f"A quotation mark on line {first} or below is not closed."


def check_cells(rows: Sequence[Row], limits: Limits) -> None:
    """Raise an UploadError if a cell is too long."""
    most = limits.cell_characters
    if max(map(len, chain.from_iterable(cells for _, cells in rows)), default=0) > most:
        start, longest = next((start, n) for start, cells in rows if (n := max(map(len, cells), default=0)) > most)
        raise UploadError(
            f"A cell that begins on line {start} has {longest} characters; at most {most} are allowed: is a quotation "
            "mark not closed?"
        )


def rows_of(text: str, separators: Sequence[str], choices: Mapping[str, str]) -> tuple[list[Row], str]:
    """Return the rows of a text, and what separates their cells."""
    if match := _SEPARATOR_LINE.match(text):
        text, separators = "\n" + text[match.end() :], (match[1],)  # line numbers stay
    if choices.get("separator") in SEPARATORS:
        separators = (choices["separator"],)
    separator = separators[0] if len(separators) == 1 else _best_separator(text, separators)
    try:
        rows = split(text, separator)
    except UploadError:
        rows = _loosely_split(text, separator, _REGULAR)
        if not rows:
            raise
    if separator[0] == "\t" and len(rows) < text.count("\n"):
        rows = _loosely_split(text, separator, 1.0) or rows
    return rows, separator


def _loosely_split(text: str, separator: str, share: float) -> list[Row]:
    """Split a text with odd quotation marks if a share of rows have as many cells; between tabs they may be letters."""
    for quotes in (True, False)[: 1 + (separator[0] == "\t")]:
        rows = split(text, separator, quotes, strict=False)
        are_lines = all("\n" not in cell for _, cells in rows for cell in cells)
        width = _width([cells for _, cells in rows])
        if are_lines and sum(len(cells) == width for _, cells in rows) >= share * len(rows):
            return rows
    return []


def _best_separator(text: str, separators: Sequence[str]) -> str:
    """Return the separator with the most regular body. Ties go to more numbers and dates, then to more cells.

    Runs of blanks or tabs are tried only if no single sign separates the cells; two blanks and aligned places last.
    """
    start = len(_comments(text))
    lines = text[start : start + _SNIFFED_CHARACTERS].splitlines(keepends=True)
    sample = "".join(lines[:_SNIFFED_LINES])
    is_cut = start + len(sample) < len(text)
    scores: dict[str, tuple[int, float, int]] = {}
    n_with_signs = sum(any(sign in line for sign in ",;\t|") for line in lines)
    ways = [(",;\t|", 2), (("\t+", " "), 1), (("  ", "aligned"), 1)]
    for some, enough in ways if 2 * n_with_signs < len(lines) else ways[:2]:
        scores |= {one: _score(sample, one, is_cut) for one in separators if one in some}
        if max(scores.values())[0] >= enough:
            break
    return max(scores, key=scores.__getitem__)


def _score(sample: str, separator: str, is_cut: bool) -> tuple[int, float, int]:
    """Return how regular rows are, the share of numbers and dates among their cells, and their width."""
    try:
        rows = [cells for _, cells in split(sample, separator, strict=False) if not _is_comment(cells)]
    except UploadError:
        return 0, 0.0, 0
    rows = rows[:-1] if is_cut and len(rows) > 1 else rows  # a quoted cell may go on below
    width = _width(rows)
    if width < 2:
        return 0, 0.0, 0
    fits = [place for place, cells in enumerate(rows) if len(cells) == width]
    is_clean = all(len(cells) in (1, width - 1) for cells in rows[: fits[0]])
    share = _REGULAR if separator in ",;\t|" else 1 - _MISFITS
    is_regular = len(fits) >= share * (fits[-1] + 1 - fits[0]) and 2 * len(fits) >= len(rows) - fits[0]
    kinds = Counter(kind_of(cell[:100]) for place in fits[:_SEEN_ROWS] for cell in rows[place][:50])
    typed = (kinds["number"] + kinds["date"]) / kinds.total()
    return is_regular + (is_regular and is_clean), typed * is_regular, width


def _is_comment(cells: Sequence[str]) -> bool:
    return cells[0][:1] in ("#", "%")


def _width(rows: Sequence[Sequence]) -> int:
    """Return the most frequent number of cells of rows with several. Ties go to the larger number."""
    widths = Counter(map(len, rows))
    return max((width for width in widths if width > 1), key=lambda width: (widths[width], width), default=1)


# --- the body -------------------------------------------------------------------------------------------------------


def find(rows: list[Row], limits: Limits, choices: Mapping[str, str]) -> tuple[list[str], list[list[str]], list[Guess]]:
    """Return the names and rows of the body, and guesses on its lines. `choices` may replace the guesses.

    Raise an UploadError if rows within the body have other numbers of cells than most.
    """
    check_cells(rows, limits)
    table = [cells for _, cells in rows]
    width = _width(table)
    if width < 2:
        raise UploadError(ONE_COLUMN)
    limits.check_columns(width)
    kinds = _kinds([cells for cells in table if len(cells) == width])
    places = range(len(table))
    first = next((place for place in places if _agrees(table[place], kinds)), 0)
    end = 1 + next((place for place in reversed(places) if _agrees(table[place], kinds)), len(table) - 1)
    names_at, why = _place_of_names(rows, first, end, kinds, choices.get(NAMES))
    first, end = _chosen(rows, first, end, choices)
    if names_at is not None and first <= names_at < end:
        first = names_at + 1
    body = [row for row in rows[first:end] if len(row[1]) == width]
    misfits = [row for row in rows[first:end] if len(row[1]) != width] if len(body) < end - first else []
    if sum(not _is_comment(cells) for _, cells in misfits) > max(1, _MISFITS * len(body)):
        start, cells = misfits[0]
        raise UploadError(
            f"Line {start} has {counted(len(cells), 'cell')}, most lines have {width}; every line needs as many."
        )
    if not body:
        raise UploadError("The table has column names but no rows; a line for each row is needed.")
    above = [rows[place] for place in range(first) if place != names_at]
    left_out = {"above the table": above, f"with other than {width} cells": misfits, "below the table": rows[end:]}
    note = " ".join(_note(some, where) for where, some in left_out.items() if some)
    line = "none" if names_at is None else str(rows[names_at][0])
    guesses = [Guess(BEGINS, str(body[0][0]), (), note), Guess(NAMES, line, (), why), Guess(ENDS, str(body[-1][0]))]
    own = [cells for _, cells in body]
    return [""] * width if names_at is None else _names(rows[names_at][1], own, width), own, guesses


def _note(rows: Sequence[Row], where: str) -> str:
    """Write a sentence on rows that are not read."""
    shown = quoted(" ".join(cell.strip() for cell in rows[0][1] if cell.strip()))
    were = "was" if len(rows) == 1 else "were"
    return f"{counted(len(rows), 'line')} {where} {were} left out, the first line {rows[0][0]}, {shown}."


def _kinds(rows: Sequence[list[str]]) -> list[str]:
    """Return the kind of most cells of each column, from some of the rows; "" for text that most rows lack."""
    n_seen = min(_SEEN_ROWS, 1 + _SEEN_CELLS // len(rows[0]))
    kinds = []
    for cells in zip(*rows[:: max(1, len(rows) // n_seen)], strict=True):
        counts = Counter(kind_of(cell[:500]) for cell in cells)
        n = counts.total() - counts[""]
        kind = next((kind for kind in ("number", "date") if n and counts[kind] >= _AGREE * n), "text")
        kinds.append("" if kind == "text" and 2 * n < counts.total() else kind)
    return kinds


def _agrees(cells: Sequence[str], kinds: Sequence[str]) -> bool:
    """Return whether a row at an end belongs to the body: most of its cells have the kinds of their columns."""
    if len(cells) != len(kinds):
        return False
    pairs = [(one, kind) for cell, kind in zip(cells, kinds, strict=True) if (one := kind_of(cell[:500]))]
    typed = [one == kind for one, kind in pairs if kind in ("number", "date")]
    if typed:
        return 2 * sum(typed) >= len(typed)
    n_texts = [bool(cell.strip()) for cell, kind in zip(cells, kinds, strict=True) if kind == "text"]
    if len(n_texts) > 1 and all(n_texts):
        return True
    n_expected = sum(kind != "" for kind in kinds)
    return 2 * len(pairs) >= n_expected + (kinds.count("text") < n_expected)


def _chosen(rows: Sequence[Row], first: int, end: int, choices: Mapping[str, str]) -> tuple[int, int]:
    """Return the places where the body begins and ends. `choices` may replace `first` and `end` by lines."""
    if BEGINS not in choices and ENDS not in choices:
        return first, end
    begins = choices.get(BEGINS, str(rows[first][0]))
    ends = choices.get(ENDS, str(rows[end - 1][0]))
    is_known = begins.isdecimal() and ends.isdecimal()
    places = [place for place, (line, _) in enumerate(rows) if int(begins) <= line <= int(ends)] if is_known else []
    if not places:
        raise UploadError(f"No row stands from line {quoted(begins)} to line {quoted(ends)}.")
    return places[0], places[-1] + 1


# --- names ----------------------------------------------------------------------------------------------------------


def _place_of_names(
    rows: Sequence[Row], first: int, end: int, kinds: Sequence[str], asked: str | None
) -> tuple[int | None, str]:
    """Return the place of the names among the rows, or None, and a note if it is in doubt."""
    if asked == "none":
        return None, ""
    if asked is not None:
        places = [place for place, (line, _) in enumerate(rows) if str(line) == asked]
        if not places:
            raise UploadError(f"Line {quoted(asked)} is no row of the table, so it has no names.")
        return places[0], ""
    at = _line_of_names(rows, first, len(kinds))
    if at is not None:
        return at, ""
    are_names, reason = _names_stand_first([cells for _, cells in rows[first : min(end, first + _SEEN_CELLS)]], kinds)
    note = f"The first line was read as {'names' if are_names else 'a row'}: {reason}." if reason else ""
    return (first if are_names else None), note


def _names(cells: list[str], body: Sequence[list[str]], width: int) -> list[str]:
    """Return the names in a row, as many as columns."""
    names = [cell.strip().rstrip(",;") for cell in cells]
    if len(names) == width - 1:  # in tables of R the row of names is one cell short
        names = [*names, ""] if all(not row[-1].strip() for row in body) else ["", *names]
    names[0] = names[0].lstrip("#").strip() or names[0]
    if all(len(name) > 1 and name[0] == name[-1] == "'" for name in names):
        names = [name[1:-1] for name in names]
    return (names + [""] * width)[:width]


def _line_of_names(rows: Sequence[Row], first: int, width: int) -> int | None:
    """Return the place of the fullest line just above the body: units, formats and questions stand below the names."""
    best: tuple[int, int] | None = None
    for place in range(first - 1, -1, -1):
        line, cells = rows[place]
        is_apart = best is not None and rows[place + 1][0] - line > 1 + "".join(cells).count("\n")
        if is_apart or not (len(cells) == width or len(cells) == width - 1 > 1):
            break
        n_filled = sum(bool(cell.strip()) for cell in cells)
        is_named = 2 * n_filled >= width or (n_filled > 0 and not cells[0].strip())
        if is_named and (best is None or n_filled >= best[0]):
            best = (n_filled, place)
    return None if best is None else best[1]


def _names_stand_first(rows: Sequence[list[str]], kinds: Sequence[str]) -> tuple[bool, str]:
    """Return whether the first row of a body holds names, and the reason if that is in doubt."""
    cells = [cell.strip() for cell in rows[0]]
    below = [row for row in rows[1:] if len(row) == len(kinds)]
    own = [kind_of(cell) for cell in cells]
    numbers = _finite(cells)
    texts = [place for place, cell in enumerate(cells) if own[place] and not _finite([cell])]
    under = {place: {row[place].strip() for row in below} for place in texts}
    repeating = [place for place in texts if 2 * len(under[place]) <= len(below) or kinds[place] == "date"]
    recurring = [place for place in repeating if cells[place] in under[place] or kinds[place] == "date" == own[place]]
    if 2 * len(recurring) > len(repeating) and not any(kinds[place] == "number" for place in texts):
        return False, "its texts recur below it"
    if not numbers or not below:
        return True, ""
    if len(cells) > 2 and _are_series(numbers) and not _are_series(_finite(below[0])):
        return True, "its numbers count the columns or are years"
    stands_above = any(kinds[place] in ("number", "date") and kinds[place] != own[place] for place in texts)
    if stands_above and all(value.is_integer() for value in numbers):
        return True, "it has texts above columns of numbers"
    return False, "it has numbers"


def _finite(cells: Sequence[str]) -> list[float]:
    """Return the numbers in cells; inf counts as a name, of inflation."""
    values = (any_number(cell.strip()) for cell in cells)
    return [value for value in values if value is not None and isfinite(value)]


def _are_series(numbers: Sequence[float]) -> bool:
    """Return whether numbers rise by one, or are rising years."""
    steps = {b - a for a, b in pairwise(numbers)}
    are_years = all(value in _YEARS for value in numbers) and min(steps, default=0) > 0
    return numbers[:1] != [] and numbers[0].is_integer() and (steps == {1.0} or are_years)
