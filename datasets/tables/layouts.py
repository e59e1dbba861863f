"""Where the cells of delimited text are: lines above the table, what separates cells, and whether names stand above.

Each rule is a function that looks at a few lines or at the first row, and at the columns below it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from .dates import days_of
from .missing import MISSING
from .numerals import parse_any
from .table import Column, counts_rows

SEPARATORS = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "vertical bars",
    "\t+": "runs of tabs",
    " ": "blanks",
}
"""What may separate cells; of the last two, several count as one"""
_RUNS = ("\t+", " ")
_SNIFFED_LINES, _SNIFFED_CHARACTERS = 50, 1 << 16
_SEPARATOR_LINE = re.compile(r"\"?sep=([,;|\t])\"?[,;|\t]*", re.IGNORECASE)
_TABS = re.compile(r"\t++")
_YEARS = range(1800, 2101)


class Layout(NamedTuple):
    """Where the cells of a text are, as a few lines show it."""

    separator: str
    n_above: int
    """Lines above the table"""
    width: int
    """Cells of most lines"""
    ends_empty: bool = False
    """Whether the last cell of each line below the first is empty"""
    names: list[str] | None = None
    """Names from above the table"""
    texts: frozenset[int] = frozenset()
    """Positions of columns that are text whatever their cells"""
    marks: frozenset[str] = MISSING
    """What stands for a missing value"""

    def is_text(self, position: int) -> bool:
        return position in self.texts


def reader(text: str | Iterable[str], separator: str, strict: bool = True):
    """The csv reader of a text or of its lines."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    if separator == "\t+":
        lines = (_TABS.sub("\t", line.strip("\n\t")) for line in lines)
    elif separator == " ":
        lines = (line.strip().replace("\t", " ") for line in lines)
    return csv.reader(lines, delimiter=separator[0], strict=strict, skipinitialspace=separator[0] != "\t")


def find(text: str, separators: Sequence[str]) -> Layout:
    """The layout of a text whose cells are separated by one of `separators`."""
    n_above, marked = _separator_line(text)
    n_comments, comment = _comment_lines(text, n_above)
    sample = _sample(text, n_above + n_comments)
    separator = marked if marked and marked in separators else _best_separator(sample, separators)
    places, rows = _rows(sample, separator)
    n_titles = title_lines(rows)
    names = None if n_titles else _names_in_comment(comment, separator, rows)
    n_above += n_comments + (places[n_titles] if rows else 0)
    return Layout(separator, n_above, _width(rows), all(not row[-1].strip() for row in rows[n_titles + 1 :]), names)


def _separator_line(text: str) -> tuple[int, str | None]:
    """Excel's line “sep=;”: how many lines it takes, and the separator."""
    match = _SEPARATOR_LINE.fullmatch(text[:20].partition("\n")[0].strip(" "))
    return (1, match[1]) if match else (0, None)


def _comment_lines(text: str, start: int) -> tuple[int, str]:
    """How many lines from a start are blank or begin with #, and the last that begins with it."""
    n, comment = 0, ""
    for number, line in enumerate(io.StringIO(text)):
        if number < start:
            continue
        if line.strip() and not line.startswith("#"):
            break
        comment = line.rstrip("\n") if line.strip() else ""
        n += 1
    return n, comment


def _sample(text: str, start: int) -> list[str]:
    """A few lines from a start."""
    lines, size = [], 0
    for number, line in enumerate(io.StringIO(text)):
        if number >= start:
            lines.append(line[:_SNIFFED_CHARACTERS])
            size += len(line)
        if len(lines) == _SNIFFED_LINES or size > _SNIFFED_CHARACTERS:
            break
    return lines


def _rows(lines: Sequence[str], separator: str) -> tuple[list[int], list[list[str]]]:
    """Lines above each row of a sample, and its cells; blank lines are no rows."""
    reading = reader(lines, separator, strict=False)
    places, rows = [], []
    while True:
        above = reading.line_num
        try:
            cells = next(reading)
        except (StopIteration, csv.Error):
            return places, rows
        if any(cell.strip() for cell in cells):
            places.append(above)
            rows.append(cells)


def _best_separator(sample: Sequence[str], separators: Sequence[str]) -> str:
    """The separator that gives as many cells on each line, most of them numbers, else the most cells.

    Several blanks or tabs in a row count as one only where no single sign does so.
    """
    best, best_score = separators[0], (False, 0.0, 1)
    for separator in separators:
        _, rows = _rows(sample, separator)
        if len(sample) == _SNIFFED_LINES:
            rows = rows[:-1]  # a quoted cell may go on below
        width = _width(rows)
        regular = width > 1 and _regular(rows[title_lines(rows) :], width)
        if separator in _RUNS and (best_score[0] or not regular):
            continue
        cells = [cell.strip() for row in rows for cell in row if regular]
        numbers = sum(parse_any(cell) is not None for cell in cells) / max(len(cells), 1)
        score = (regular, numbers, width)
        if score > best_score:
            best, best_score = separator, score
    return best


def _regular(rows: Sequence[list[str]], width: int) -> bool:
    """Whether each row has so many cells, or the first one less, as R's names."""
    return width - len(rows[0]) in (0, 1) and all(len(row) == width for row in rows[1:])


def _width(rows: Sequence[list]) -> int:
    """The number of cells of most rows."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def title_lines(rows: Sequence[list]) -> int:
    """How many of the first rows hold a title: one cell, or one that is not empty, above rows of several; or sizes."""
    width = _width(rows)
    for n, cells in enumerate(rows):
        filled = sum(bool(str(cell).strip()) for cell in cells)
        titled = len(cells) == 1 < width or (filled == 1 and width > 2 and str(cells[0]).strip())
        if not titled and not _are_sizes(cells, width):
            return n
    return 0


def _are_sizes(cells: Sequence, width: int) -> bool:
    """Whether a short first line, such as “150,4,setosa”, has the number of columns, with or without the target."""
    return 1 < len(cells) < width - 1 and str(cells[0]).isdigit() and str(cells[1]) in (str(width), str(width - 1))


def _names_in_comment(comment: str, separator: str, rows: Sequence[list[str]]) -> list[str] | None:
    """The names in the last comment line, as NumPy writes them, if the line below has none."""
    names = next(reader([comment], separator, strict=False), [])
    if not rows or len(names) < 2 or len(names) != len(rows[0]):
        return None
    numbers = sum(parse_any(cell.strip()) is not None for cell in rows[0])
    return [names[0].lstrip("# ") or "#", *names[1:]] if numbers else None


# --- names ----------------------------------------------------------------------------------------------------------


def names_stand_first(first: Sequence[str], second: Sequence[str], columns: Sequence[Column]) -> tuple[bool, str]:
    """Whether the first line holds names, seen from the columns below it, and why if that is not plain."""
    cells = [cell.strip() for cell in first]
    numbers = [number for cell in cells if (number := _finite(cell)) is not None]
    texts = [
        (cell, column)
        for cell, column in zip(cells, columns, strict=True)
        if cell.lower() not in MISSING and _finite(cell) is None
    ]
    below = [number for cell in second if (number := _finite(cell.strip())) is not None]
    above_numbers = any(column.kind == "number" for _, column in texts)
    if texts and not above_numbers and 2 * sum(_recurs(cell, column) for cell, column in texts) > len(texts):
        return False, "its texts recur below it"
    if not numbers:
        return True, ""
    if _years_above_others(numbers, below):
        return True, "its numbers are years"
    if not cells[0] and counts_rows(columns[0]):
        return True, "it has nothing above the column that counts the rows"
    if _count(numbers) and not _count(below) and len(numbers) + len(texts) > 2:
        return True, "its numbers count the columns"
    whole = all(number.is_integer() for number in numbers)
    if whole and any(column.kind in ("number", "date") for _, column in texts):
        return True, "it has texts above columns of numbers"
    if whole and any(_values_repeat(column) for _, column in texts):
        return True, "it has texts that occur nowhere below it"
    return False, "it has numbers"


def _finite(cell: str) -> float | None:
    """The number in a cell of the first line, or None: inf is a name, of inflation."""
    number = parse_any(cell)
    return number if number is not None and isfinite(number) else None


def _recurs(cell: str, column: Column) -> bool:
    """Whether a text is a value of the column below it, or a date above dates."""
    return cell in column.categories or (column.kind == "date" and days_of([cell]) is not None)


def _values_repeat(column: Column) -> bool:
    """Whether no text of a column stands alone, as with classes."""
    return column.kind == "text" and min(Counter(column.values.tolist()).values()) > 1


def _count(numbers: Sequence[float]) -> bool:
    """Whether whole numbers rise by one."""
    return len(numbers) > 1 and numbers[0].is_integer() and all(b - a == 1 for a, b in pairwise(numbers))


def _years_above_others(numbers: Sequence[float], below: Sequence[float]) -> bool:
    """Whether two or more numbers are rising years, and no number below is a year."""
    rising = len(numbers) > 1 and all(a < b for a, b in pairwise(numbers))
    return rising and all(number in _YEARS for number in numbers) and not any(number in _YEARS for number in below)
