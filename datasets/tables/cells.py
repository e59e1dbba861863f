"""The cells of a column as people write them: numbers, dates, texts, and marks of missing values.

All cells of a column agree on one way of writing. Where a column allows two, such as 1,234, other columns decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from .table import Column, Guess, Kind, UploadError, quoted

MISSING = frozenset(
    {*("", "na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "-nan", "+nan", "nat", "null", "#null!", "none", "\\n")}
    | {*("?", "-", "--", ".", "..", "...", ":", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "(null)")}
    | {"undefined", "--undefined--"}
)
"""Cells that count as missing, in lower case"""
DECIMAL, ORDER, MARKS, ONLY_EMPTY = "decimal mark", "order of dates", "missing marks", "only empty cells"
MONTH_FIRST, DAY_FIRST = "month first", "day first"
ANSWERS = {DECIMAL: ("point", "comma"), ORDER: (MONTH_FIRST, DAY_FIRST), MARKS: (ONLY_EMPTY, "marks such as NA")}
"""Questions on all columns, and their answers"""
LONGEST_NUMBER, _LONGEST_DATE = 400, 40
_SIGNS = "$€£¥₹%"
_BLANKS = str.maketrans("\u00a0\u202f\u2009’", "   '")  # blanks that do not break a line; a curly apostrophe
_MOST_STRAYS, _SHARE_OF_STRAYS, _SHARE_WITH_DIGITS = 3, 0.15, 0.01
_EARLIEST_YEAR, _LATEST_YEAR = 1000, 2999


def _numbers(thousands: str, decimal: str) -> re.Pattern:
    # Possessive quantifiers (++): with backtracking, digits before a letter would take quadratic time.
    mark = re.escape(thousands)
    point = re.escape(decimal)
    groups = rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})++(?!\d)|" if thousands else ""
    whole = rf"[+-]?(?:(?:{groups}\d++)(?:{point}\d*+)?|{point}\d++)(?:e[+-]?\d++)?"
    return re.compile(whole + ("" if thousands or decimal == "," else "|[+-]?inf(?:inity)?"), re.ASCII | re.IGNORECASE)


Style = tuple[str, str]
"""Mark between thousands, and decimal mark"""
PLAIN: Style = ("", ".")
_EVERY_STYLE: tuple[Style, ...] = (PLAIN, ("", ","), (",", "."), (".", ","), ("'", "."), (" ", "."), (" ", ","))
STYLES: dict[Style, re.Pattern[str]] = {style: _numbers(*style) for style in _EVERY_STYLE}
_CLOCK_TIME = r"(?P<hour>\d{1,2}):(?P<min>\d\d)(?::(?P<s>\d\d(?:\.\d{1,9})?))?\s?(?P<half>[AP]M)?"
_TIME = rf"(?:[T ,]\s?{_CLOCK_TIME}(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
_DAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
_DATES = [
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        _DAY + r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2}|[A-Z]{3})(?:(?P=mark)(?P<day>\d{1,2}))?" + _TIME,
        _DAY + r"(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)" + _TIME,
        _DAY + r"(?P<day>\d{1,2})[- /](?P<month>[A-Z]{3,9})[- /](?P<year>\d{4}|\d\d)" + _TIME,
        _DAY + r"(?P<month>[A-Z]{3,9})[- ](?:(?P<day>\d{1,2}),?[- ])?(?P<year>\d{4})" + _TIME,
        _DAY + r"(?P<year>\d{4})[- ](?P<month>[A-Z]{3,9})" + _TIME,
        _DAY + r"(?P<year>\d{4})[- ]?(?:Q(?P<quarter>[1-4])|M(?P<month>\d{1,2}))" + _TIME,
        _DAY + r"Q(?P<quarter>[1-4])[-/ ]?(?P<year>\d{4})" + _TIME,
        _CLOCK_TIME,
    )
]
_MONTHS_IN_FULL = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTHS = {name[:n]: at for at, name in enumerate(_MONTHS_IN_FULL, 1) for n in (3, len(name))} | {"sept": 9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMED_DATE = re.compile(r"dat[eu]|day|time|ymd|yymm", re.IGNORECASE)
_NAMED_CLOCK = re.compile(r"timestamp|epoch|unix", re.IGNORECASE)
_DIGITS = re.compile(r"((?:1[89]|20)\d\d)(\d\d)(\d\d)?", re.ASCII)
_SHORT_YEAR = re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d\d", re.ASCII)
_TWO_CAPITALS = re.compile(r"[A-Z]{2}")
_CLOCK = (10**8, 4 * 10**9)  # seconds since 1970, of the years 1973 to 2096
_SENTINELS = (-9, -99, -200, -999, -9999, -99999, -999.9, -9999.9, 99, 999, 9999, 99999, 999.9, 9999.9, 999999)
_FEWEST, _FARTHEST = 3, 9.0  # least count, and ratio to the others, of a number that means a missing value


# --- single cells ---------------------------------------------------------------------------------------------------


def split_sign(text: str) -> tuple[str, str]:
    """Split off the currency or percent sign at an end of a number. The sign is "" if there is none or several."""
    signs = [mark for mark in text if mark in _SIGNS]
    if len(signs) != 1:
        return "", text
    before, after = (part.strip() for part in text.split(signs[0]))
    if before in ("", "-", "+") and after and signs[0] != "%":
        return signs[0], before + after
    return (signs[0], before) if before and not after else ("", text)


def number(text: str, style: Style = PLAIN, sign: str = "") -> float | None:
    """Return the number that a text stands for, or None."""
    if len(text) > LONGEST_NUMBER:
        return None
    if sign:
        own, text = split_sign(text)
        if own != sign:
            return None
    thousands, decimal = style
    if thousands in (" ", "'"):
        text = text.translate(_BLANKS)
    if not STYLES[style].fullmatch(text):  # float() alone accepts underscores and digits of any script
        return None
    return float((text.replace(thousands, "") if thousands else text).replace(decimal, "."))


def any_number(text: str) -> float | None:
    """Return the number that a text stands for in the first style that fits, or None."""
    sign = split_sign(text)[0]
    return next((value for style in STYLES if (value := number(text, style, sign)) is not None), None)


def day(text: str, order: str = MONTH_FIRST) -> float | None:
    """Return the days since 1970 of a month, date or time, in UTC if it has no offset; None for other text.

    A time without a date is of the first day.
    """
    matches = (pattern.fullmatch(text) for pattern in _DATES) if len(text) < _LONGEST_DATE else ()
    match = next(filter(None, matches), None)
    if match is None:
        return None
    parts = {"year": "1970", "month": "1", "zone": ""} if "year" not in match.re.groupindex else {}
    parts |= {name: value or "" for name, value in match.groupdict().items()}
    if "a" in parts:
        if parts["mark"] == "." and len(parts["year"]) == 2 and len(parts["a"] + parts["b"]) < 4:
            return None  # a version
        day_first = parts["mark"] == "." or order == DAY_FIRST
        parts["day"], parts["month"] = (parts["a"], parts["b"]) if day_first else (parts["b"], parts["a"])
    hour = int(parts["hour"] or 0)
    if parts["half"]:
        hour = hour % 12 + 12 * (parts["half"].lower() == "pm")
    year = int(parts["year"])
    if len(parts["year"]) < 4:
        year += 1900 if year > 68 else 2000  # as in POSIX
    if not _EARLIEST_YEAR <= year <= _LATEST_YEAR:
        return None
    stamp = f"{year:04d}-{_month(parts):02d}-{int(parts.get('day') or 1):02d}T{hour:02d}"
    try:
        moment = datetime.fromisoformat(f"{stamp}:{parts['min'] or '00'}:{parts['s'] or '00'}{parts['zone'].upper()}")
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) / timedelta(days=1)


def _month(parts: Mapping[str, str]) -> int:
    """Return the number of a month, 0 for a word that is no month."""
    month = parts.get("month")
    if not month:
        return 3 * int(parts["quarter"]) - 2
    return int(month) if month.isdigit() else _MONTHS.get(month.lower(), 0)


def _digits(text: str) -> float | None:
    """Return the days since 1970 of a date such as 20200131, or of a month such as 202001."""
    match = _DIGITS.fullmatch(text)
    return day("-".join(filter(None, match.groups()))) if match else None


@lru_cache(1 << 16)
def kind_of(cell: str) -> str:
    """Return the kind of a cell on its own: "number", "date", "text", or "" for no value."""
    text = cell.strip()
    if text.lower() in MISSING or not any(map(str.isalnum, text)):
        return ""
    if any_number(text) is not None:
        return "number"
    return "text" if day(text) is None and day(text, DAY_FIRST) is None else "date"


# --- ways to read a column ------------------------------------------------------------------------------------------


class Cells:
    """The cells of a column; each distinct text is stored once, without surrounding blanks."""

    def __init__(self, cells: Iterable[str], marks: frozenset[str] = MISSING):
        known: dict[str, int] = {}
        self.codes: np.ndarray = np.array(
            [known.setdefault(cell, len(known)) for cell in map(str.strip, cells)], dtype=np.intc
        )
        self.texts: list[str] = list(known)
        there = [text[:1].isdigit() or text.lower() not in marks for text in self.texts]
        shown = [text for text, is_there in zip(self.texts, there, strict=True) if is_there]
        if shown == ["+"]:  # if plus is the only other text, minus is a value
            shown += [text for text in self.texts if text == "-"]
        if len(shown) > 2 and all(map(_TWO_CAPITALS.fullmatch, shown)):  # so is NA among codes
            shown += [text for text in self.texts if text == "NA" and text not in shown]
        self.shown: list[str] = sorted(shown, key=known.__getitem__)
        """The distinct texts that stand for a value"""
        self.marks: set[str] = set(self.texts).difference(self.shown, [""])
        """The other texts, except the empty one"""

    def times(self) -> dict[str, int]:
        """Return how many cells have each text."""
        return dict(zip(self.texts, np.bincount(self.codes, minlength=len(self.texts)).tolist(), strict=True))

    def numbers(self, values: Mapping[str, float]) -> np.ndarray:
        """Return a number for each cell, NaN where its text has none."""
        return np.array([values.get(text, np.nan) for text in self.texts], dtype=np.float64)[self.codes]


class Reading(NamedTuple):
    """A way to read the texts of a column."""

    kind: Kind
    way: str
    """An answer to the question on numbers or dates; empty if the texts allow any"""
    values: dict[str, float]
    """Values of the texts that can be read in this way"""
    style: Style = PLAIN
    sign: str = ""


def _values(texts: Sequence[str], read: Callable, most_unread: int) -> dict[str, float]:
    """Return the values of the texts that can be read; nothing if too many cannot."""
    values = {}
    for n_seen, text in enumerate(texts, 1):
        value = read(text)
        if value is not None:
            values[text] = value
        elif n_seen - len(values) > most_unread:
            return {}
    return values


def _plain_numbers(joined: str, texts: Sequence[str]) -> dict[str, float]:
    """Return the values of texts if all are plain numbers. One by one, a million would take seconds."""
    if not joined.isascii() or "_" in joined or max(map(len, texts)) > LONGEST_NUMBER:
        return {}
    try:
        return dict(zip(texts, map(float, texts), strict=True))
    except ValueError:
        return {}


def _as_numbers(texts: Sequence[str], most_unread: int) -> Iterable[Reading]:
    """Yield a reading for each style of numbers whose marks occur in the texts."""
    joined = "".join(texts)
    marks = set(joined.translate(_BLANKS))
    signs = Counter(split_sign(text)[0] for text in texts) if marks.intersection(_SIGNS) else Counter([""])
    sign = signs.most_common(1)[0][0]
    plain = _plain_numbers(joined, texts)
    for style in STYLES:
        if style == PLAIN or (style[0] or style[1]) in marks:
            read = partial(number, style=style, sign=sign)
            values = plain if plain and style == PLAIN else _values(texts, read, most_unread)
            says = style[0] in (".", ",") or style[1] in marks
            yield Reading("number", ("point" if style[1] == "." else "comma") if says else "", values, style, sign)


def _as_dates(texts: Sequence[str], most_unread: int) -> Iterable[Reading]:
    """Yield a reading of dates for each order of day and month."""
    month_first, day_first = (_values(texts, partial(day, order=order), most_unread) for order in ANSWERS[ORDER])
    yield Reading("date", "" if month_first == day_first else MONTH_FIRST, month_first)
    yield Reading("date", DAY_FIRST, day_first)


def _readings(name: str, cells: Cells, kind: str | None) -> list[Reading]:
    """Return the ways to read most texts of a column; none if it is text.

    Texts that cannot be read count as missing. Unless a kind is chosen, these must be few.
    """
    texts = cells.shown
    if not texts or kind == "text":
        return []
    most_unread = _MOST_STRAYS if kind is None else len(texts)
    found = [] if kind == "date" else list(_as_numbers(texts, most_unread))
    if kind == "date" or (kind is None and all(len(one.values) < len(texts) for one in found)):
        found += _as_dates(texts, most_unread)
    if kind == "date":
        found.append(Reading("date", "", _values(texts, _digits, most_unread)))
    n_read = max(len(one.values) for one in found)
    best = [one for one in found if len(one.values) == n_read]
    best = [one for place, one in enumerate(best) if all(one.values != other.values for other in best[:place])]
    if kind is not None and not n_read:
        raise UploadError(f"No value of {quoted(name)} is a {kind}.")
    if not n_read or (kind is None and not _are_strays(set(texts).difference(best[0].values), cells)):
        return []
    return [one for one in best if one.kind == best[0].kind]


def _are_strays(texts: set[str], cells: Cells) -> bool:
    """Return whether texts stand in few cells, in very few if they have digits."""
    times = cells.times()
    n_present = sum(times[text] for text in cells.shown)
    share = _SHARE_WITH_DIGITS if any(map(str.isdigit, "".join(texts))) else _SHARE_OF_STRAYS
    return sum(times[text] for text in texts) <= share * n_present


# --- columns --------------------------------------------------------------------------------------------------------


def columns_of(
    cells: Sequence[Cells], names: Sequence[str], separator: str, choices: Mapping[str, str]
) -> tuple[list[Column], list[Guess]]:
    """Make columns of cells, with a note where a reading is unusual; also return the guesses on all columns."""
    kinds = [choices.get(f"kind of column {place}") for place in range(1, len(cells) + 1)]
    readings = [_readings(name, one, kind) for name, one, kind in zip(names, cells, kinds, strict=True)]
    table = _OfAll(readings, separator, choices)
    columns = [
        table.column(name, one, ways, kind) for name, one, ways, kind in zip(names, cells, readings, kinds, strict=True)
    ]
    return columns, table.guesses(set().union(*(one.marks for one in cells)))


class _OfAll:
    """What the columns of a table share: decimal mark and order of dates, where one column leaves them open."""

    def __init__(self, readings: Sequence[list[Reading]], separator: str, choices: Mapping[str, str]):
        self._choices, self._separator = choices, separator
        self._proved: dict[str, set[str]] = {"number": set(), "date": set()}
        for ways in readings:
            if len(ways) == 1 and ways[0].way:
                self._proved[ways[0].kind].add(ways[0].way)
        self._guesses: dict[str, Guess] = {}
        self._sentinels: list[str] = []

    def guesses(self, marks: set[str]) -> list[Guess]:
        """Return the guesses on all columns."""
        shown = [*sorted(marks)[:3], *self._sentinels]
        if self._choices.get(MARKS) == ONLY_EMPTY:
            self._guesses[MARKS] = Guess(MARKS, ONLY_EMPTY, ANSWERS[MARKS][1:])
        elif shown:
            self._guesses[MARKS] = Guess(MARKS, ", ".join(dict.fromkeys(shown[:3])), (ONLY_EMPTY,))
        return list(self._guesses.values())

    def column(self, name: str, cells: Cells, ways: list[Reading], kind: str | None) -> Column:
        """Make a column of cells that can be read in the given ways."""
        if not ways:
            return _texts(name, cells)
        taken, is_sure = self._taken(ways)
        if kind is None and taken.style == PLAIN and (dates := _hidden_dates(name, taken)):
            note = f"{quoted(next(iter(dates)))} and the like were read as dates."
            return Column.of_numbers(name, cells.numbers(dates), "date", note)
        column = Column.of_numbers(name, cells.numbers(taken.values), taken.kind, _note(taken, ways, is_sure))
        if taken.kind == "number" and self._choices.get(MARKS) != ONLY_EMPTY:
            column = self._without_sentinels(column)
        strays = [text for text in cells.shown if text not in taken.values]
        if strays and kind is None:
            times = cells.times()
            n_strays = sum(times[text] for text in strays)
            column = _noted(column, f"{n_strays} cells, such as {quoted(strays[0])}, count as missing.")
        return column

    def _taken(self, ways: list[Reading]) -> tuple[Reading, bool]:
        """Return the chosen or likely way, and whether it is sure."""
        taken, is_sure = self._likely(ways)
        possible = [one.way for one in ways]
        if len(ways) > 1:
            key = DECIMAL if taken.kind == "number" else ORDER
            answer = self._choices.get(key)
            if answer in possible:
                taken, is_sure = ways[possible.index(answer)], True
            others = tuple(dict.fromkeys(way for way in possible if way != taken.way))
            self._guesses.setdefault(key, Guess(key, taken.way, others))
        return taken, is_sure

    def _likely(self, ways: list[Reading]) -> tuple[Reading, bool]:
        """Return the likely way, and whether it is sure."""
        kind = ways[0].kind
        by_others = [one for one in ways if self._proved[kind] == {one.way}]
        if len(ways) == 1 or by_others:
            return (by_others or ways)[0], True
        if ways[0].way == "point":  # 1.234 is a plain number
            return ways[0], self._separator != ";"
        without = [text for text in ways[0].values if "," not in text]
        if kind == "number" and without and all(sum(map(str.isdigit, text)) <= 3 for text in without):
            return ways[1], True  # commas occur from 1000 on
        is_continental = self._separator == ";" or self._proved["number"] == {"comma"}
        usual = ("comma", DAY_FIRST) if is_continental else ("point", MONTH_FIRST)
        return next(one for one in ways if one.way in usual), False

    def _without_sentinels(self, column: Column) -> Column:
        """Count numbers far from all others, such as -999, as missing."""
        for value in _sentinels(column.values):
            times = int((column.values == value).sum())
            note = f"{value:g} counts as missing, as it occurs {times} times far from all other numbers."
            values = np.where(column.values == value, np.nan, column.values)
            column = _noted(replace(column, values=values), note)
            self._sentinels.append(f"{value:g}")
        return column


def _note(taken: Reading, ways: Sequence[Reading], is_sure: bool) -> str:
    """Write a sentence on how texts were read; nothing if that is plain."""
    is_short = taken.kind == "date" and any(map(_SHORT_YEAR.fullmatch, taken.values))
    if is_sure and taken.style == PLAIN and not taken.sign and not is_short:
        return ""
    if taken.kind == "date":
        apart = [text for text in taken.values if day(text) != day(text, DAY_FIRST)]
    else:
        apart = [text for text, value in taken.values.items() if any(one.values[text] != value for one in ways)]
    example = max(apart or taken.values, key=len)
    value, *others = (_shown(one.kind, one.values[example]) for one in sorted(ways, key=lambda one: one is not taken))
    off = f"{quoted(taken.sign)} was taken off, and " if taken.sign else ""
    order = f", the {taken.way}" if is_short and taken.way else ""
    doubt = f", though it could be {others[0]}" if others and not is_sure else ""
    return f"{off}{quoted(example)} was read as {value}{order}{doubt}."


def _shown(kind: Kind, value: float) -> str:
    return f"{value:.12g}" if kind == "number" else Column.of_numbers("", [value], "date").shown(0)


def _noted(column: Column, note: str) -> Column:
    return replace(column, note=f"{column.note} {note}".strip())


def _hidden_dates(name: str, taken: Reading) -> dict[str, float]:
    """Read numbers such as 20200131, 202001, or seconds since 1970 as days if the name is that of dates."""
    if _NAMED_DATE.search(name) and (days := _values(list(taken.values), _digits, 0)):
        return days
    is_clock = _NAMED_CLOCK.search(name) and all(_CLOCK[0] < value < _CLOCK[1] for value in taken.values.values())
    return {text: value / 86400 for text, value in taken.values.items()} if is_clock else {}


def _texts(name: str, cells: Cells) -> Column:
    """Make a column of classes, or an empty one."""
    if not cells.shown:
        return Column(name, "empty", np.full(len(cells.codes), np.nan))
    places = {text: place for place, text in enumerate(cells.shown)}
    values = np.array([places.get(text, -1) for text in cells.texts], dtype=np.int32)[cells.codes]
    times = cells.times()
    n_present = sum(times[text] for text in cells.shown)
    numbers = {text for text in cells.shown if not text[0].isalpha() and number(text) is not None}
    n_numbers = sum(times[text] for text in numbers)
    note = ""
    if n_numbers < n_present <= 2 * n_numbers:
        stray = next(text for text in cells.shown if text not in numbers)
        note = f"{n_numbers} of {n_present} values are numbers, but {quoted(stray)} is not: all are read as text."
    return Column(name, "text", values, tuple(places), note)


def _sentinels(values: np.ndarray) -> list[float]:
    """Return numbers that may mean missing values: they are usual marks, repeated, and far from all others."""
    present = values[~np.isnan(values)]
    usual, counts = np.unique(present[np.isin(present, _SENTINELS)], return_counts=True)
    marks = usual[counts >= _FEWEST]
    others = present[~np.isin(present, marks)]
    return [float(value) for value in marks if _far(value, others)]


def _far(value: float, others: np.ndarray) -> bool:
    """Return whether a number is far from all others, and there are several others."""
    if len(np.unique(others)) < _FEWEST:
        return False
    if value > 0:
        return bool(value > _FARTHEST * np.abs(others).max())
    return bool(others.min() >= 0 or others.min() - value > np.ptp(others))
