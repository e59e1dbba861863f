"""The body of a table: the longest run of rows whose cells agree in kind, column by column.

Everything else follows from it: what separates cells is what gives the most regular body; the first full line of words
above it holds the names; other lines above are titles and units, lines below are footnotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, islice, pairwise
from math import isfinite

from .cells import MISSING, any_number, kind_of
from .table import Guess, Limits, UploadError, counted, quoted

SEPARATORS = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "vertical bars",
    "\t+": "runs of tabs",
    " ": "blanks",
}
"""What may separate cells; of the last two, several count as one"""
BEGINS, NAMES, ENDS = LINES = "begins at line", "names at line", "ends at line"
"""Questions on the body, each answered by the number of a line, names also by “none”"""
_RUNS = ("\t+", " ")
_SNIFFED_LINES, _SNIFFED_CHARACTERS, _SEEN_ROWS = 300, 1 << 17, 300
_SEPARATOR_LINE = re.compile(r"\"?sep=([,;|\t])\"?[,;|\t]*", re.IGNORECASE)
_TABS = re.compile(r"\t++")
_AGREE, _REGULAR, _MISFITS, _CLEAN = 0.8, 0.9, 0.01, 2
_LONGEST_COMMENT, _MANY, _SEEN_CELLS = 10_000, 5, 20_000
_YEARS = range(1800, 2101)

Row = tuple[int, list[str]]
"""The number of the line where it begins, and its cells"""


@dataclass(frozen=True)
class Body:
    """The rows of a table, its names, and where it stands."""

    names: list[str] | None
    rows: list[list[str]]
    guesses: list[Guess]


# --- cells of a text ------------------------------------------------------------------------------------------------


def split(text: str, separator: str, limits: Limits, quotes: bool = True, strict: bool = True) -> list[Row]:
    """The rows of a text that are not blank; comments at the top are split without regard to quotation marks."""
    rows: list[Row] = []
    lines = io.StringIO(text, newline="")
    n_above = 0
    for line in lines:
        if line.strip() and line[0] not in "#%":
            break
        n_above += 1
        if line.strip():
            shown = line.removeprefix("# ")[:_LONGEST_COMMENT]
            rows.append((n_above, next(_reader([shown], separator, False, False), [])))
    lines.seek(0)
    for _ in range(n_above):
        lines.readline()
    reader = _reader(lines, separator, quotes, strict)
    while True:
        number = n_above + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return rows
        except csv.Error as error:
            raise UploadError(_problem(str(error), number, n_above + reader.line_num, separator)) from None
        if strict:
            _check(number, cells, limits)
        if (any(cells) and any(map(str.strip, cells))) or len(cells) > 1:
            rows.append((number, cells))


def _reader(lines, separator: str, quotes: bool, strict: bool):
    if separator == "\t+":
        lines = (_TABS.sub("\t", line.strip("\n\t")) for line in lines)
    elif separator == " ":
        lines = (line.strip().replace("\t", " ") for line in lines)
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    options = {"delimiter": separator[0], "strict": strict, "quoting": quoting}
    return csv.reader(lines, skipinitialspace=separator[0] != "\t", **options)


def _check(number: int, cells: list[str], limits: Limits) -> None:
    longest = max(map(len, cells), default=0)
    if longest > limits.cell_characters:
        raise UploadError(
            f"A cell that begins on line {number} has {longest} characters; at most {limits.cell_characters} are "
            "allowed: is a quotation mark not closed?"
        )
    if len(cells) > limits.columns + 1:
        limits.check(1, len(cells))


def _problem(problem: str, first: int, last: int, separator: str) -> str:
    """A message of the csv module as a sentence."""
    if "expected after" in problem:
        name = SEPARATORS[separator[0]][:-1]
        return f'On line {last}, a quoted cell is followed by something other than a {name}; within quotes, write "".'
    if "unexpected end" in problem:
        return f"A quotation mark on line {first} or below is not closed."
    if "field larger" in problem:
        return f"A cell that begins on line {first} has more than {csv.field_size_limit()} characters."
    return f"Line {last} cannot be read as a line of a table."


def rows_of(text: str, separators: Sequence[str], limits: Limits, choices: Mapping[str, str]) -> tuple[list[Row], str]:
    """The rows of a text, and what separates their cells."""
    match = _SEPARATOR_LINE.fullmatch(text[:20].partition("\n")[0].strip(" "))
    if match:
        text, separators = "\n" + text.partition("\n")[2], (match[1],)  # the numbers of lines stay
    if choices.get("separator") in SEPARATORS:
        separators = (choices["separator"],)
    separator = separators[0] if len(separators) == 1 else _best_separator(text, separators, limits)
    if separator[0] != "\t":
        return split(text, separator, limits), separator
    plain = split(text, separator, limits, quotes=False, strict=False)
    try:
        rows = split(text, separator, limits)
    except UploadError:
        if '"' not in text:
            raise
        rows = None
    regular = len({len(cells) for _, cells in plain}) == 1
    if rows is None or (regular and len(rows) < len(plain)):  # a quotation mark within a cell is a letter
        rows = [(number, cells) for number, cells in plain if _check(number, cells, limits) is None]
    return rows, separator


def _best_separator(text: str, separators: Sequence[str], limits: Limits) -> str:
    """The separator with the most regular body, most of whose cells are numbers or dates, else the most cells.

    Several blanks or tabs in a row count as one only where no single sign does so.
    """
    lines = dropwhile(lambda line: line[0] in "#%" or not line.strip(), io.StringIO(text))
    sample = "".join(islice(lines, _SNIFFED_LINES))[:_SNIFFED_CHARACTERS]
    best, best_score = separators[0], (0, 0.0, 1)
    for separator in separators:
        if separator in _RUNS and best_score[0] == _CLEAN:
            continue
        score = _score(sample, separator, limits, len(sample) < len(text))
        if score > best_score:
            best, best_score = separator, score
    return best


def _score(sample: str, separator: str, limits: Limits, cut: bool) -> tuple[int, float, int]:
    """How regular rows are, the share of numbers and dates among their cells, and their width."""
    try:
        rows = [cells for _, cells in split(sample, separator, limits, strict=False)]
    except UploadError:
        return 0, 0.0, 0
    rows = rows[:-1] if cut and len(rows) > 1 else rows  # a quoted cell may go on below
    width = _width(rows)
    fits = [place for place, cells in enumerate(rows) if len(cells) == width]
    if width < 2:
        return 0, 0.0, 0
    clean = all(len(cells) in (1, width - 1) for cells in rows[: fits[0]])
    regular = len(fits) >= _REGULAR * (fits[-1] + 1 - fits[0]) and 2 * len(fits) >= len(rows) - fits[0]
    if not regular:  # a report with a table within
        low, high = _stretch(list(enumerate(rows)), width)
        fits, clean = list(range(low, high)), False
        regular = len(fits) >= max(limits.fewest_rows, len(rows) / 5)
    kinds = Counter(kind_of(cell[:100]) for place in fits[:_SEEN_ROWS] for cell in rows[place][:50])
    typed = (kinds["number"] + kinds["date"]) / kinds.total()
    return int(regular) * (_CLEAN if clean else 1), typed * regular, width


def _width(rows: Sequence[list]) -> int:
    """The number of cells of most rows that have several, the larger one of two that are as frequent."""
    widths = Counter(len(cells) for cells in rows if len(cells) > 1)
    return max(widths, key=lambda width: (widths[width], width), default=1)


# --- the body -------------------------------------------------------------------------------------------------------


def find(rows: Sequence[Row], limits: Limits, choices: Mapping[str, str]) -> Body:
    """The body of rows, with its names.

    `choices` may give its lines; an UploadError says that rows within it have other numbers of cells than most.
    """
    width = _width([cells for _, cells in rows])
    if width < 2:
        raise UploadError(
            "The table has one column; at least two are needed, a target and something to predict it from, with "
            "commas, semicolons, tabs or vertical bars between them."
        )
    kinds = _kinds([cells for _, cells in rows if len(cells) == width])
    first, end = _ends(rows, kinds)
    low, high = _stretch(rows, width)
    n_misfits = sum(len(cells) != width for _, cells in rows[first:end])
    if n_misfits >= _MANY and n_misfits > _MISFITS * (high - low):  # lines of words above the numbers, as in a report
        own = _kinds([cells for _, cells in rows[low:high]])
        outside = sum(_agrees(cells, own) for _, cells in (*rows[:low], *rows[high:]))
        if outside < min(n_misfits, (high - low) / 5):
            kinds = own
            first, end = _ends(rows[:high], kinds, low)
    names_at, why = _place_of_names(rows, first, end, kinds, choices)
    first, end = _chosen(rows, first, end, choices)
    if names_at is not None and first <= names_at < end:
        first = names_at + 1
    body = [(number, cells) for number, cells in rows[first:end] if len(cells) == width]
    misfits = [(number, cells) for number, cells in rows[first:end] if len(cells) != width]
    if sum(cells[0][:1] != "#" for _, cells in misfits if cells) > max(1, _MISFITS * len(body)):
        number, cells = misfits[0]
        raise UploadError(
            f"Line {number} has {counted(len(cells), 'cell')}, most lines have {width}; every line needs as many."
        )
    if not body:
        raise UploadError("The table has column names but no rows; a line for each row is needed.")
    limits.check(1, width)
    skipped = [rows[place] for place in range(first) if place != names_at]
    notes = [_note(skipped, "above the table"), _note(misfits, f"with other than {width} cells")]
    notes.append(_note(rows[end:], "below the table"))
    line = "none" if names_at is None else str(rows[names_at][0])
    guesses = [
        Guess(BEGINS, str(body[0][0]), (), " ".join(note for note in notes if note)),
        Guess(NAMES, line, (), why),
        Guess(ENDS, str(body[-1][0]), ()),
    ]
    own = [cells for _, cells in body]
    return Body(None if names_at is None else _names(rows[names_at][1], own, width), own, guesses)


def _note(rows: Sequence[Row], where: str) -> str:
    """A sentence on rows that are not read."""
    if not rows:
        return ""
    shown = quoted(" ".join(cell.strip() for cell in rows[0][1] if cell.strip()))
    were = "was" if len(rows) == 1 else "were"
    return f"{counted(len(rows), 'line')} {where} {were} left out, the first line {rows[0][0]}, {shown}."


def _kinds(rows: Sequence[list[str]]) -> list[str]:
    """What most cells of each column look like, as a part of the rows shows: "number", "date" or "text"."""
    n_seen = min(_SEEN_ROWS, 1 + _SEEN_CELLS // len(rows[0]))
    part = rows[:: max(1, len(rows) // n_seen)]
    kinds = []
    for cells in zip(*part, strict=True):
        counts = Counter(map(kind_of, (cell[:500] for cell in cells)))
        n = counts.total() - counts[""]
        kinds.append(next((kind for kind in ("number", "date") if n and counts[kind] >= _AGREE * n), "text"))
    return kinds


def _agrees(cells: Sequence[str], kinds: Sequence[str]) -> bool:
    """Whether a row at an end belongs to the body: most of its cells are of the kinds of their columns."""
    if len(cells) != len(kinds):
        return False
    own = [kind_of(cell[:500]) for cell in cells]
    pairs = [(one, kind) for one, kind in zip(own, kinds, strict=True) if one]
    same = sum(one == kind for one, kind in pairs if kind != "text")
    other = sum(one != kind for one, kind in pairs if kind != "text")
    if kinds.count("text") == len(kinds):
        return 2 * len(pairs) >= len(kinds)
    if not same and not other:
        return 2 * len(pairs) > len(kinds)
    return same >= other


def _stretch(rows: Sequence[Row], width: int) -> tuple[int, int]:
    """The places where the most rows in a row have a width."""
    best, begin = (0, 0), 0
    for place, (_, cells) in enumerate(rows):
        if len(cells) != width:
            begin = place + 1
        elif place + 1 - begin > best[1] - best[0]:
            best = begin, place + 1
    return best


def _ends(rows: Sequence[Row], kinds: Sequence[str], start: int = 0) -> tuple[int, int]:
    """The places of the first row of the body and of the row below its last."""
    places = range(start, len(rows))
    first = next((place for place in places if _agrees(rows[place][1], kinds)), start)
    if kinds.count("text") == len(kinds):
        first = _first_that_recurs(rows, first, len(kinds))
    last = next((place for place in reversed(places) if _agrees(rows[place][1], kinds)), len(rows) - 1)
    return first, last + 1


def _first_that_recurs(rows: Sequence[Row], first: int, width: int) -> int:
    """The place of the first row of texts that does not differ from all below it where these repeat, as formats do."""
    below = [cells for _, cells in rows[first:] if len(cells) == width]
    counts = [Counter(cell.strip() for cell in column) for column in zip(*below, strict=True)]
    repeating = [place for place, of_column in enumerate(counts) if 4 * len(of_column) <= len(below)]
    for place in range(first, min(first + _MANY, len(rows))):
        cells = rows[place][1]
        own = [cells[at].strip() for at in repeating] if len(cells) == width else []
        alone = [counts[at][cell] == 1 for at, cell in zip(repeating, own, strict=False) if cell]
        if not alone or not all(alone) or len(repeating) < 2:
            return place if len(cells) == width else first
    return first


def _chosen(rows: Sequence[Row], first: int, end: int, choices: Mapping[str, str]) -> tuple[int, int]:
    """The places where the body begins and ends, by the lines that are chosen or else as it was found."""
    begins = choices.get(BEGINS, str(rows[first][0]))
    ends = choices.get(ENDS, str(rows[end - 1][0]))
    known = begins.isdecimal() and ends.isdecimal()
    places = [place for place, (number, _) in enumerate(rows) if known and int(begins) <= number <= int(ends)]
    if not places:
        raise UploadError(f"No row stands from line {quoted(begins)} to line {quoted(ends)}.")
    return places[0], places[-1] + 1


def _place_of_names(
    rows: Sequence[Row], first: int, end: int, kinds: Sequence[str], choices: Mapping[str, str]
) -> tuple[int | None, str]:
    """The place of the names among the rows, and a note if it is not plain."""
    asked = choices.get(NAMES)
    if asked == "none":
        return None, ""
    if asked is not None:
        at = next((place for place, (number, _) in enumerate(rows) if str(number) == asked), None)
        if at is None:
            raise UploadError(f"Line {quoted(asked)} is no row of the table, so it has no names.")
        return at, ""
    at = _line_of_names(rows, first, len(kinds))
    if at is not None:
        return at, ""
    stand, reason = names_stand_first(rows[first : min(end, first + _SEEN_CELLS)], kinds)
    note = f"The first line was read as {'names' if stand else 'a row'}: {reason}." if reason else ""
    return (first if stand else None), note


def _names(cells: list[str], body: Sequence[list[str]], width: int) -> list[str]:
    """The names in a row, as many as columns."""
    names = [cell.strip() for cell in cells]
    if len(names) == width - 1:  # R's names are one cell shorter than its rows
        names = [*names, ""] if all(not row[-1].strip() for row in body) else ["", *names]
    names[0] = names[0].lstrip("#").strip() or names[0]
    if all(len(name) > 1 and name[0] == name[-1] == "'" for name in names):
        names = [name[1:-1] for name in names]
    return (names + [""] * width)[:width]


def _line_of_names(rows: Sequence[Row], first: int, width: int) -> int | None:
    """The place of the first full line directly above the body: units, formats and questions stand below the names."""
    block: list[int] = []
    for place in range(first - 1, -1, -1):
        number, cells = rows[place]
        gap = bool(block) and rows[place + 1][0] - number > 1 + sum(cell.count("\n") for cell in cells)
        if gap or not (len(cells) == width or (len(cells) == width - 1 > 0 and width > 2)):
            break
        block.append(place)
    block = [place for place in block if 2 * _filled(rows[place]) >= width or not rows[place][1][0].strip()]
    block = [place for place in block if rows[place][1][0][:1] != "#"] or block[:1]
    full = [place for place in block if len(rows[place][1]) == width] or block
    most = max((_filled(rows[place]) for place in full), default=0)
    return min((place for place in full if _filled(rows[place]) == most), default=None)


def _filled(row: Row) -> int:
    return sum(bool(cell.strip()) for cell in row[1])


def names_stand_first(rows: Sequence[Row], kinds: Sequence[str]) -> tuple[bool, str]:
    """Whether the first row of a body holds names, and why if that is not plain."""
    cells = [cell.strip() for cell in rows[0][1]]
    below = [row for _, row in rows[1:] if len(row) == len(kinds)]
    if not below:
        return True, ""
    numbers = [value for cell in cells if (value := _finite(cell)) is not None]
    texts = [place for place, cell in enumerate(cells) if cell.lower() not in MISSING and _finite(cell) is None]
    under = {place: Counter(row[place].strip() for row in below) for place in texts}
    above_numbers = any(kinds[place] == "number" for place in texts)
    repeating = [place for place in texts if 2 * len(under[place]) <= len(below) or kinds[place] == "date"]
    recurring = sum(
        cells[place] in under[place] or kinds[place] == "date" == kind_of(cells[place]) for place in repeating
    )
    if repeating and not above_numbers and 2 * recurring > len(repeating):
        return False, "its texts recur below it"
    if not numbers:
        return True, ""
    second = [value for cell in below[0] if (value := _finite(cell.strip())) is not None]
    if _years_above_others(numbers, second):
        return True, "its numbers are years"
    if not cells[0] and _counts([row[0] for row in below]):
        return True, "it has nothing above the column that counts the rows"
    if _rise_by_one(numbers) and not _rise_by_one(second) and len(numbers) + len(texts) > 2:
        return True, "its numbers count the columns"
    whole = all(value.is_integer() for value in numbers)
    if whole and any(kinds[place] in ("number", "date") != kind_of(cells[place]) for place in texts):
        return True, "it has texts above columns of numbers"
    if whole and any(kinds[place] == "text" and min(under[place].values()) > 1 for place in texts):
        return True, "it has texts that occur nowhere below it"
    return False, "it has numbers"


def _finite(cell: str) -> float | None:
    """The number in a cell, or None: inf is a name, of inflation."""
    value = any_number(cell)
    return value if value is not None and isfinite(value) else None


def _counts(cells: Sequence[str]) -> bool:
    """Whether cells count the rows from 0 or 1."""
    return any(all(cell.strip() == str(start + n) for n, cell in enumerate(cells)) for start in (0, 1))


def _rise_by_one(numbers: Sequence[float]) -> bool:
    return len(numbers) > 1 and numbers[0].is_integer() and all(b - a == 1 for a, b in pairwise(numbers))


def _years_above_others(numbers: Sequence[float], below: Sequence[float]) -> bool:
    """Whether two or more numbers are rising years, and no number below is a year."""
    rising = len(numbers) > 1 and all(a < b for a, b in pairwise(numbers))
    return rising and all(value in _YEARS for value in numbers) and not any(value in _YEARS for value in below)
