"""Dates as people write them: year first, with points, with slashes, or with the name of a month.

A column may mix one order with dates such as 2020-01-31.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

_LONGEST = 40
_DATE = re.compile(
    r"(\d{4})-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?)?",
    re.ASCII,
)
_REST = r"(?P<rest>[T ].*)?"
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})" + _REST, re.ASCII)
_POINTS = re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})" + _REST, re.ASCII)
_MONTH_FIRST = re.compile(r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d\d)" + _REST, re.ASCII)
_DAY_FIRST = re.compile(r"(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>\d{4}|\d\d)" + _REST, re.ASCII)
_DAY_NAME = re.compile(r"(?P<day>\d{1,2})[- ](?P<month>[A-Za-z]{3,9})[- ](?P<year>\d{4}|\d\d)" + _REST, re.ASCII)
_NAME_DAY = re.compile(r"(?P<month>[A-Za-z]{3,9})[- ](?P<day>\d{1,2}),?[- ](?P<year>\d{4})" + _REST, re.ASCII)
_QUARTER = re.compile(r"(?P<year>\d{4})[- ]?Q(?P<quarter>[1-4])", re.ASCII | re.IGNORECASE)
_QUARTER_FIRST = re.compile(r"Q(?P<quarter>[1-4])[-/ ]?(?P<year>\d{4})", re.ASCII | re.IGNORECASE)
_ORDERS = (_YEAR_FIRST, _POINTS, _MONTH_FIRST, _DAY_FIRST, _DAY_NAME, _NAME_DAY, _QUARTER, _QUARTER_FIRST)
ORDERS = {"month/day/year": _MONTH_FIRST, "day/month/year": _DAY_FIRST}
"""Orders of dates such as 3/4/2020 by their names, which choices take"""
WITHOUT_MARKS = "%Y%m%d"
_NAMED_DATE = re.compile(r"dat[eu]|day|time|ymd|yymm", re.IGNORECASE)
_EIGHT_DIGITS = re.compile(r"(?:1[89]|20)\d{6}", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def days_of(texts: Sequence[str], order: str | None = None) -> list[float] | None:
    """All texts as days since 1970, in the first order that has all, or in one of `ORDERS`; None if there is none."""
    ways = _ways(order)
    return next((days for way in ways if (days := _all(texts, way)) is not None), None)


def dates_among(texts: Sequence[str]) -> list[str]:
    """The texts that are dates, in the order that has the most of them."""
    by_order = [[text for text in texts if way(text) is not None] for way in (*_ways(), _without_marks)]
    return max(by_order, key=len)


def in_two_orders(texts: Sequence[str]) -> bool:
    """Whether texts are dates both with the month and with the day first, and differ."""
    first, second = (days_of(texts, order) for order in ORDERS)
    return None not in (first, second) and first != second


def _ways(order: str | None = None) -> list[Callable[[str], float | None]]:
    """Functions from a text to its days since 1970, one for each order, or for one of `ORDERS`."""
    orders = _ORDERS if order is None else (ORDERS[order],)
    ordered = [lambda text, one=one: parse_days(_iso(text, one)) for one in orders]
    return [parse_days, *ordered] if order is None else ordered


def written_without_marks(name: str, texts: Sequence[str]) -> bool:
    """Whether texts such as 20200131 are dates: all of them are, and their column is named like one."""
    return bool(_NAMED_DATE.search(name)) and days_without_marks(texts) is not None


def days_without_marks(texts: Sequence[str]) -> list[float] | None:
    """All texts such as 20200131 as days since 1970; None if one is no date."""
    return _all(texts, _without_marks)


def _without_marks(text: str) -> float | None:
    return parse_days(f"{text[:4]}-{text[4:6]}-{text[6:]}") if _EIGHT_DIGITS.fullmatch(text) else None


def _all(texts: Sequence[str], parse: Callable[[str], float | None]) -> list[float] | None:
    days = []
    for text in texts:
        day = parse(text)
        if day is None:
            return None
        days.append(day)
    return days


def _iso(text: str, order: re.Pattern) -> str:
    """A date in an order as one with the year first; the text itself if it is none."""
    match = order.fullmatch(text) if len(text) < _LONGEST else None
    if match is None:
        return text
    if "quarter" in order.groupindex:
        return f"{match['year']}-{3 * int(match['quarter']) - 2}"
    month, year = match["month"], match["year"]
    if not month.isdigit():
        month = str(_MONTHS.index(month[:3].lower()) + 1) if month[:3].lower() in _MONTHS else ""
    if len(year) == 2:
        year = f"{19 if int(year) > 68 else 20}{year}"  # as in POSIX
    return f"{year}-{month}-{match['day']}{match['rest'] or ''}"


def parse_days(text: str) -> float | None:
    """Days since 1970 of a month, date or time, read as UTC if it has no offset; None for other text."""
    match = _DATE.fullmatch(text) if len(text) < _LONGEST else None
    if match is None:
        return None
    year = match[1]
    month = match[2].zfill(2)
    day = (match[3] or "01").zfill(2)
    rest = text[match.end(3 if match[3] else 2) :].replace(" ", "T")
    if rest and match[4] and len(match[4]) == 1:
        rest = f"T0{rest[1:]}"
    try:
        moment = datetime.fromisoformat(f"{year}-{month}-{day}{rest}")
        return (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86400
    except (ValueError, OverflowError):
        return None
