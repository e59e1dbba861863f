"""The cells of a column as people write them: numbers, dates, texts, and marks of missing values.

All cells of a column agree on one way of writing. Where a column allows two, such as 1,234, the others tell.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np

from .table import Column, Guess, Kind, UploadError, quoted

MISSING = frozenset(
    {*("", "na", "n/a", "n.a.", "#n/a", "#na", "<na>", "nan", "-nan", "+nan", "nat", "null", "#null!", "none", "\\n")}
    | {*("?", "-", "--", ".", "..", "...", ":", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "(null)")}
)
"""Cells that count as missing, in lower case."""
DECIMAL, ORDER, MARKS, ONLY_EMPTY = "decimal mark", "order of dates", "missing marks", "only empty cells"
ANSWERS = {DECIMAL: ("point", "comma"), ORDER: ("month first", "day first"), MARKS: (ONLY_EMPTY, "marks such as NA")}
"""Questions on all columns, and their answers"""
_LONGEST_NUMBER, _LONGEST_DATE = 400, 40
_SIGNS = "$€£¥₹%"
_BLANKS = str.maketrans("\u00a0\u202f\u2009’", "   '")  # blanks that do not break a line; a curly apostrophe


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
STYLES: dict[Style, re.Pattern[str]] = {way: _numbers(*way) for way in _EVERY_STYLE}
_TIME = (
    r"(?:[T ,]\s?(?P<hour>\d{1,2}):(?P<min>\d\d)(?::(?P<s>\d\d(?:\.\d{1,9})?))?\s?(?P<half>[AP]M)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
_DATES = tuple(
    re.compile(pattern + _TIME, re.ASCII | re.IGNORECASE)
    for pattern in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2}|[A-Z]{3})(?:(?P=mark)(?P<day>\d{1,2}))?",
        r"(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)",
        r"(?P<day>\d{1,2})[- /](?P<month>[A-Z]{3,9})[- /](?P<year>\d{4}|\d\d)",
        r"(?P<month>[A-Z]{3,9})[- ](?:(?P<day>\d{1,2}),?[- ])?(?P<year>\d{4})",
        r"(?P<year>\d{4})[- ]?(?:Q(?P<quarter>[1-4])|M(?P<month>\d{1,2}))",
        r"Q(?P<quarter>[1-4])[-/ ]?(?P<year>\d{4})",
    )
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS_IN_FULL = frozenset(
    {*("january", "february", "march", "april", "may", "june", "july", "august")}
    | {*("september", "sept", "october", "november", "december")}
)
_NAMED_DATE = re.compile(r"dat[eu]|day|time|ymd|yymm", re.IGNORECASE)
_NAMED_CLOCK = re.compile(r"timestamp|epoch|unix", re.IGNORECASE)
_EIGHT_DIGITS = re.compile(r"(?:1[89]|20)\d{6}", re.ASCII)
_TWO_CAPITALS = re.compile(r"[A-Z]{2}")
_CLOCK = (10**8, 4 * 10**9)  # seconds since 1970, of the years 1973 to 2096
_LOW = (-9, -99, -200, -999, -9999, -99999, -999.9, -9999.9)
_HIGH = (99, 999, 9999, 99999, 999.9, 9999.9, 999999)
_FEWEST, _FARTHEST = 3, 9.0  # of numbers that stand for missing values
_MOST_STRAYS, _SHARE_OF_STRAYS = 3, 0.15


# --- single cells ---------------------------------------------------------------------------------------------------


def split_sign(text: str) -> tuple[str, str]:
    """The currency or percent sign at an end of a number, and the number; no sign if there is none or several."""
    signs = [mark for mark in text if mark in _SIGNS]
    if len(signs) != 1:
        return "", text
    (sign,) = signs
    before, after = (part.strip() for part in text.split(sign))
    if before in ("", "-", "+") and after and sign != "%":
        return sign, before + after
    return (sign, before) if before and not after else ("", text)


def number(text: str, style: Style = PLAIN, sign: str = "") -> float | None:
    """The number that a text stands for, or None."""
    # float() alone accepts underscores and digits of any script.
    if len(text) > _LONGEST_NUMBER:
        return None
    if sign:
        own, text = split_sign(text)
        if own != sign:
            return None
    thousands, decimal = style
    if thousands in (" ", "'"):
        text = text.translate(_BLANKS)
    if not STYLES[style].fullmatch(text):
        return None
    return float((text.replace(thousands, "") if thousands else text).replace(decimal, "."))


def any_number(text: str) -> float | None:
    """The number that a text stands for in the first style that has it, or None."""
    sign = split_sign(text)[0]
    return next((value for style in STYLES if (value := number(text, style, sign)) is not None), None)


def day(text: str, order: str = "month first") -> float | None:
    """Days since 1970 of a month, date or time, read as UTC if it has no offset; None for other text."""
    if len(text) >= _LONGEST_DATE:
        return None
    match = next((match for pattern in _DATES if (match := pattern.fullmatch(text))), None)
    if match is None:
        return None
    parts: dict[str, Any] = {"day": None, "month": None, "quarter": None} | match.groupdict()
    if "a" in parts:
        if parts["mark"] == ".":
            order = "day first"
            if len(parts["year"]) == 2 and len(parts["a"] + parts["b"]) < 4:
                return None  # a version
        parts["month"], parts["day"] = (parts["a"], parts["b"])[:: 1 if order == "month first" else -1]
    try:
        start = date(_year(parts["year"]), _month(parts), int(parts["day"] or 1)).toordinal() - 719163
        return start + _time(match)
    except ValueError:
        return None


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else (1900 if int(text) > 68 else 2000) + int(text)  # as in POSIX


def _month(parts: Mapping[str, str | None]) -> int:
    month = parts["month"]
    if month is None:
        return 3 * int(parts["quarter"] or 0) - 2
    if month.isdigit():
        return int(month)
    if len(month) > 3 and month.lower() not in _MONTHS_IN_FULL:
        raise ValueError
    return _MONTHS.index(month[:3].lower()) + 1


def _time(match: re.Match) -> float:
    """The part of a day."""
    if match["hour"] is None:
        return 0.0
    hour, minute, second = int(match["hour"]), int(match["min"]), float(match["s"] or 0)
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"].lower() == "pm")
    if hour > 23 or minute > 59 or second >= 60:
        raise ValueError
    zone = match["zone"]
    offset = 0 if zone in (None, "Z", "z") else int(zone[:3]) * 60 + int(zone[0] + zone[-2:])
    return (hour * 3600 + (minute - offset) * 60 + second) / 86400


def _eight_digits(text: str) -> float | None:
    return day(f"{text[:4]}-{text[4:6]}-{text[6:]}") if _EIGHT_DIGITS.fullmatch(text) else None


@lru_cache(1 << 16)
def kind_of(cell: str) -> str:
    """What a cell alone looks like: "number", "date", "text", or "" for none."""
    text = cell.strip()
    if text.lower() in MISSING:
        return ""
    if any_number(text) is not None:
        return "number"
    return "text" if day(text) is None and day(text, "day first") is None else "date"


# --- columns --------------------------------------------------------------------------------------------------------


class Cells:
    """The cells of a column; each distinct text is stored once, without surrounding blanks."""

    def __init__(self, cells: Iterable[str], marks: frozenset[str] = MISSING):
        known: dict[str, int] = {}
        codes = array("i", [known.setdefault(cell, len(known)) for cell in map(str.strip, cells)])
        self.codes: np.ndarray = np.array(codes, dtype=np.intc)
        self.texts: list[str] = list(known)
        self.present: np.ndarray = np.array(_present(self.texts, marks), dtype=bool)

    @property
    def shown(self) -> list[str]:
        """The distinct texts that are not missing."""
        return [text for text, there in zip(self.texts, self.present, strict=True) if there]

    @property
    def marks(self) -> set[str]:
        """The distinct texts that stand for a missing value."""
        return {text for text, there in zip(self.texts, self.present, strict=True) if text and not there}

    def times(self) -> dict[str, int]:
        """How many cells have each text that is not missing."""
        counts = np.bincount(self.codes, minlength=len(self.texts)).tolist()
        return {text: n for text, n, there in zip(self.texts, counts, self.present, strict=True) if there}

    def numbers(self, values: Mapping[str, float | None]) -> np.ndarray:
        """A number for each cell, NaN where its text has none."""
        of_text = [values.get(text) for text in self.texts]
        return np.array([np.nan if value is None else value for value in of_text], dtype=np.float64)[self.codes]


def _present(texts: Sequence[str], marks: frozenset[str]) -> list[bool]:
    """Which texts of a column stand for a value: a minus next to plus alone, NA among codes of two capitals."""
    present = [text[:1].isdigit() or text.lower() not in marks for text in texts]
    if "-" not in texts and "NA" not in texts:
        return present
    others = {text for text, there in zip(texts, present, strict=True) if there}
    kept = {"-"} if others == {"+"} else set()
    if "NA" in texts and len(others) > 2 and all(map(_TWO_CAPITALS.fullmatch, others)):
        kept.add("NA")
    return [there or text in kept for text, there in zip(texts, present, strict=True)]


@dataclass(frozen=True)
class _Ways:
    """What the texts of a column can be."""

    kind: Kind
    styles: tuple[Style, ...] = ()
    sign: str = ""
    days: tuple[dict, ...] = ()
    """Days by texts, for month first and day first if both are possible"""
    strays: tuple[str, ...] = ()
    """Texts of another kind, which count as missing"""


def _ways(name: str, cells: Cells, kind: str | None) -> _Ways:
    """What a column can be; cells of another kind than a chosen one are strays, else only a few without digits are."""
    texts = cells.shown
    if not texts:
        return _Ways("empty")
    if kind == "text":
        return _Ways("text")
    ways = _number_ways(texts) if kind != "date" else None
    ways = ways or (_date_ways(texts) if kind != "number" else None)
    if ways is None and kind is None:
        strays = [text for text in texts if not any(map(str.isdigit, text))]
        rest = [text for text in texts if any(map(str.isdigit, text))]
        times = cells.times()
        n_strays = sum(times[text] for text in strays)
        few = len(strays) <= _MOST_STRAYS and n_strays <= _SHARE_OF_STRAYS * sum(times.values())
        of_rest = _number_ways(rest) or _date_ways(rest) if few and rest else None
        return _Ways("text") if of_rest is None else replace(of_rest, strays=tuple(strays))
    ways = ways or _most(texts, kind or "text")
    if ways is None:
        raise UploadError(f"No value of {quoted(name)} is a {kind}.")
    return ways


def _number_ways(texts: Sequence[str]) -> _Ways | None:
    """Ways of writing in which every text is a number; each mark of a way must occur."""
    sign = split_sign(texts[0])[0]
    letters = set("".join(texts).translate(_BLANKS))
    styles = tuple(
        style
        for style in STYLES
        if (style == PLAIN or (style[0] or style[1]) in letters) and _all_numbers(texts, style, sign) is not None
    )
    return _Ways("number", styles, sign) if styles else None


def _all_numbers(texts: Sequence[str], style: Style, sign: str) -> list[float] | None:
    joined = "".join(texts)
    if (
        style == PLAIN
        and not sign
        and joined.isascii()
        and "_" not in joined
        and max(map(len, texts)) < _LONGEST_NUMBER
    ):
        try:  # a million texts one by one would take seconds
            return [float(text) for text in texts]
        except ValueError:
            return None
    numbers = []
    for text in texts:
        value = number(text, style, sign)
        if value is None:
            return None
        numbers.append(value)
    return numbers


def _date_ways(texts: Sequence[str]) -> _Ways | None:
    orders = [by for order in ANSWERS[ORDER] if (by := _all_days(texts, order)) is not None]
    if not orders:
        return None
    return _Ways("date", days=tuple(orders[:1] if len(orders) == 2 and orders[0] == orders[1] else orders))


def _all_days(texts: Sequence[str], order: str) -> dict[str, float] | None:
    days = {}
    for text in texts:
        days[text] = day(text, order)
        if days[text] is None:
            return None
    return days


def _most(texts: Sequence[str], kind: str) -> _Ways | None:
    """The way in which most texts are of a kind; the others are strays."""
    if kind == "date":
        readings = [[text for text in texts if day(text, order) is not None] for order in ANSWERS[ORDER]]
        readings.append([text for text in texts if _eight_digits(text) is not None])
    else:
        signs = sorted({split_sign(text)[0] for text in texts})
        readings = [
            [text for text in texts if number(text, style, sign) is not None] for style in STYLES for sign in signs
        ]
    read = max(readings, key=len)
    if not read:
        return None
    ways = (_date_ways(read) if kind == "date" else _number_ways(read)) or _Ways("date", days=({},))
    return replace(ways, strays=tuple(sorted(set(texts).difference(read))))


def columns_of(
    cells: Sequence[Cells | Column], names: Sequence[str], separator: str, choices: Mapping[str, str]
) -> tuple[list[Column], list[Guess]]:
    """The columns of cells, with a note where a reading is unusual, and what was guessed of all of them.

    A column that is known already stays, unless another kind is chosen.
    """
    kinds = [choices.get(f"kind of column {place}") for place in range(1, len(cells) + 1)]
    known = [isinstance(one, Column) and kind in (None, one.kind) for one, kind in zip(cells, kinds, strict=True)]
    own = [
        Cells([one.written(row) for row in range(len(one.values))], frozenset({""}))
        if isinstance(one, Column) and not stays
        else one
        for one, stays in zip(cells, known, strict=True)
    ]
    ways = [
        None if isinstance(one, Column) else _ways(name, one, kind)
        for one, name, kind in zip(own, names, kinds, strict=True)
    ]
    table = _OfAll(
        [(way, one.shown) for way, one in zip(ways, own, strict=True) if way and isinstance(one, Cells)],
        separator,
        choices,
    )
    columns = []
    for one, name, way, kind in zip(own, names, ways, kinds, strict=True):
        columns.append(
            replace(one, name=name) if isinstance(one, Column) else table.column(name, one, way or _Ways("empty"), kind)
        )
    return columns, table.guesses(own)


class _OfAll:
    """What the columns of a table share: decimal mark and order of dates, where a column alone does not tell."""

    def __init__(self, ways: Sequence[tuple[_Ways, list[str]]], separator: str, choices: Mapping[str, str]):
        self._choices, self._separator = choices, separator
        self._proved = {mark for way, texts in ways if (mark := _proved_decimal(way, texts))}
        self._guesses: dict[str, Guess] = {}
        self._sentinels: list[str] = []

    def column(self, name: str, cells: Cells, way: _Ways, kind: str | None) -> Column:
        """The column of cells that are written in a way."""
        if way.kind == "number":
            made = self._numbers(name, cells, way, kind)
        elif way.kind == "date":
            made = self._dates(name, cells, way)
        elif way.kind == "text":
            return _texts(name, cells)
        else:
            return Column(name, "empty", np.full(len(cells.codes), np.nan))
        if way.strays and kind is None:
            times = cells.times()
            n = sum(times[text] for text in way.strays)
            made = _noted(made, f"{n} cells, such as {quoted(way.strays[0])}, count as missing.")
        return made

    def guesses(self, cells: Sequence[Cells | Column]) -> list[Guess]:
        """What was guessed of all columns."""
        marks = sorted(set().union(*(one.marks for one in cells if isinstance(one, Cells))))
        marks += self._sentinels
        if self._choices.get(MARKS) == ONLY_EMPTY:
            self._guesses[MARKS] = Guess(MARKS, ONLY_EMPTY, ANSWERS[MARKS][1:])
        elif marks:
            self._guesses[MARKS] = Guess(MARKS, ", ".join(dict.fromkeys(marks[:3])), (ONLY_EMPTY,))
        return list(self._guesses.values())

    def _taken(self, key: str, likely: str, possible: Sequence[str]) -> str:
        """The answer to a question on all columns, of those that are possible in one."""
        taken = self._choices.get(key, likely)
        taken = taken if taken in possible else likely
        if len(possible) > 1:
            self._guesses.setdefault(key, Guess(key, taken, tuple(one for one in possible if one != taken)))
        return taken

    def _numbers(self, name: str, cells: Cells, way: _Ways, kind: str | None) -> Column:
        texts = [text for text in cells.shown if text not in way.strays]
        likely, certain = self._likely(way.styles, texts)
        mark = {".": "point", ",": "comma"}
        possible = sorted({mark[decimal] for _, decimal in way.styles}, reverse=True)
        taken = self._taken(DECIMAL, mark[likely[1]], possible)
        style = next(one for one in (likely, *way.styles) if mark[one[1]] == taken)
        values = dict(zip(texts, _all_numbers(texts, style, way.sign) or (), strict=True))
        if kind is None and style == PLAIN and (dates := _hidden_dates(name, texts, values)):
            note = f"{quoted(texts[0])} and the like were read as dates."
            return _noted(Column.of_numbers(name, cells.numbers(dates), "date"), note)
        made = Column.of_numbers(name, cells.numbers(values))
        if style != PLAIN or not certain or way.sign:
            example = max(texts, key=len)
            read = (number(example, one, way.sign) for one in way.styles)
            others = {value for value in read if value is not None} - {values[example]}
            off = f"{quoted(way.sign)} was taken off, and " if way.sign else ""
            doubt = f", though it could be {min(others):.12g}" if others and not certain else ""
            made = _noted(made, f"{off}{quoted(example)} was read as {values[example]:.12g}{doubt}.")
        return self._without_sentinels(made)

    def _likely(self, styles: Sequence[Style], texts: Sequence[str]) -> tuple[Style, bool]:
        """The likely style of several, and whether something tells it from the others."""
        by_mark = [style for style in styles if self._proved == {style[1]}]
        if len(styles) == 1 or by_mark:
            return (by_mark or list(styles))[0], True
        if styles[0][1] == ".":  # 1.234 is a plain number
            return styles[0], styles[0] == PLAIN and self._separator != ";"
        without = [text for text in texts if "," not in text]
        if without and all(sum(map(str.isdigit, text)) <= 3 for text in without):
            return styles[1], True  # a comma from 1000 on
        return styles[0 if self._separator == ";" else 1], False

    def _without_sentinels(self, made: Column) -> Column:
        """A column of which numbers far from all others, such as -999, count as missing."""
        if self._choices.get(MARKS) == ONLY_EMPTY:
            return made
        for value in _sentinels(made.values):
            times = int((made.values == value).sum())
            note = f"{value:g} counts as missing, as it occurs {times} times far from all other numbers."
            made = _noted(replace(made, values=np.where(made.values == value, np.nan, made.values)), note)
            self._sentinels.append(f"{value:g}")
        return made

    def _dates(self, name: str, cells: Cells, way: _Ways) -> Column:
        texts = [text for text in cells.shown if text not in way.strays]
        days = way.days[0] or {text: _eight_digits(text) for text in texts}
        two = len(way.days) == 2
        if two:
            day_first = self._separator == ";" or self._proved == {","}
            taken = self._taken(ORDER, ANSWERS[ORDER][day_first], ANSWERS[ORDER])
            days = way.days[ANSWERS[ORDER].index(taken)]
        made = Column.of_numbers(name, cells.numbers(days), "date")
        if two:
            other = way.days[way.days[0] is days]
            example = next(text for text in texts if days[text] != other[text])
            doubt = f", though it could be {_shown_day(other[example])}"
            return _noted(made, f"{quoted(example)} was read as {_shown_day(days[example])}{doubt}.")
        short = [text for text in texts if (match := _DATES[1].fullmatch(text)) and len(match["year"]) == 2]
        if short:
            example = next((text for text in short if day(text) != day(text, "day first")), short[0])
            first = "month" if days[example] == day(example) else "day"
            note = f"{quoted(example)} was read as {_shown_day(days[example])}, the {first} first."
            return _noted(made, note)
        return made


def _shown_day(days: float) -> str:
    return Column.of_numbers("", [days], "date").shown(0)


def _noted(column: Column, note: str) -> Column:
    return replace(column, note=f"{column.note} {note}".strip())


def _proved_decimal(way: _Ways, texts: Sequence[str]) -> str | None:
    """The decimal mark that a column proves; None if it has none or allows two."""
    marks = {decimal for _, decimal in way.styles}
    if len(marks) != 1 or (way.styles[0][0] == "" and not any(way.styles[0][1] in text for text in texts)):
        return None
    return marks.pop()


def _hidden_dates(name: str, texts: Sequence[str], values: Mapping[str, float]) -> dict | None:
    """Numbers such as 20200131, or seconds since 1970, as days, if the name of their column is that of dates."""
    if _NAMED_DATE.search(name) and _EIGHT_DIGITS.fullmatch(texts[0]):
        days = {text: _eight_digits(text) for text in texts}
        return None if None in days.values() else days
    low, high = _CLOCK
    if _NAMED_CLOCK.search(name) and all(low < value < high for value in values.values()):
        return {text: value / 86400 for text, value in values.items()}
    return None


def _texts(name: str, cells: Cells) -> Column:
    places = {text: place for place, text in enumerate(cells.shown)}
    values = np.array([places.get(text, -1) for text in cells.texts], dtype=np.int32)
    values[~cells.present] = -1
    times = cells.times()
    numbers = {text: n for text, n in times.items() if number(text) is not None}
    n_numbers, n_present = sum(numbers.values()), sum(times.values())
    note = ""
    if n_numbers < n_present <= 2 * n_numbers:
        stray = next(text for text in times if text not in numbers)
        note = f"{n_numbers} of {n_present} values are numbers, but {quoted(stray)} is not: all are read as text."
    return Column(name, "text", values[cells.codes], tuple(places), note)


def _sentinels(values: np.ndarray) -> list[float]:
    """Numbers that may stand for missing values: usual as such, repeated, and far from all others."""
    present = values[~np.isnan(values)]
    usual, counts = np.unique(present[np.isin(present, (*_LOW, *_HIGH))], return_counts=True)
    marks = set(usual[counts >= _FEWEST].tolist())
    while marks:
        others = present[~np.isin(present, list(marks))]
        near = {value for value in marks if not _far(value, others)}
        if not near:
            break
        marks -= near
    return sorted(marks)


def _far(value: float, others: np.ndarray) -> bool:
    """Whether a number is far from all others, of which there are several."""
    if len(np.unique(others)) < _FEWEST:
        return False
    if value > 0:
        return bool(value > _FARTHEST * np.abs(others).max())
    return bool(others.min() >= 0 or others.min() - value > np.ptp(others))
