"""Numbers as people write them: decimal commas, marks between thousands, currency and percent signs.

Each column has one way of writing, a `Style`. Where a column allows two, such as 1,234, the other columns tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_LONGEST = 400
_SIGNS = "$€£¥₹%"
_BLANKS = str.maketrans("\u00a0\u202f\u2009’", "   '")  # blanks that do not break a line; a curly apostrophe


class Style(NamedTuple):
    """How the numbers of a column are written: mark between thousands, decimal mark, currency or percent sign."""

    thousands: str
    decimal: str
    sign: str = ""


PLAIN = Style("", ".")
STYLES = {
    "decimal points": PLAIN,
    "decimal commas": Style("", ","),
    "commas between thousands": Style(",", "."),
    "points between thousands": Style(".", ","),
    "apostrophes between thousands": Style("'", "."),
    "blanks between thousands": Style(" ", "."),
    "blanks between thousands, decimal commas": Style(" ", ","),
}
"""Ways of writing by their names, which choices take"""


def name_of(style: Style) -> str:
    """The name of a way of writing, whatever its sign."""
    return next(name for name, way in STYLES.items() if way[:2] == style[:2])


# Possessive quantifiers (++): with backtracking, digits before a letter would take quadratic time.
_PLAIN = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d++(?:,\d*+)?|,\d++)(?:e[+-]?\d++)?", re.ASCII | re.IGNORECASE)
_THOUSANDS_COMMA = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})++|\d++)(?:\.\d*+)?", re.ASCII)
_THOUSANDS_POINT = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:\.\d{3})++|\d++)(?:,\d*+)?", re.ASCII)
_THOUSANDS_APOSTROPHE = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:'\d{3})++|\d++)(?:\.\d*+)?", re.ASCII)
_THOUSANDS_BLANK = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?: \d{3})++|\d++)(?:\.\d*+)?", re.ASCII)
_THOUSANDS_BLANK_COMMA = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?: \d{3})++|\d++)(?:,\d*+)?", re.ASCII)
_PATTERNS = {
    ("", "."): _PLAIN,
    ("", ","): _DECIMAL_COMMA,
    (",", "."): _THOUSANDS_COMMA,
    (".", ","): _THOUSANDS_POINT,
    ("'", "."): _THOUSANDS_APOSTROPHE,
    (" ", "."): _THOUSANDS_BLANK,
    (" ", ","): _THOUSANDS_BLANK_COMMA,
}


def parse(text: str, style: Style = PLAIN) -> float | None:
    """The number that a text stands for, or None."""
    # float() alone accepts underscores and digits of any script.
    if len(text) > _LONGEST:
        return None
    if style.sign:
        own, text = split_sign(text)
        if own != style.sign:
            return None
    if style.thousands in (" ", "'"):
        text = text.translate(_BLANKS)
    if not _PATTERNS[style[:2]].fullmatch(text):
        return None
    return float((text.replace(style.thousands, "") if style.thousands else text).replace(style.decimal, "."))


def parse_any(text: str) -> float | None:
    """The number that a text stands for in the first style that has it, or None."""
    sign = split_sign(text)[0]
    return next(
        (number for way in STYLES.values() if (number := parse(text, way._replace(sign=sign))) is not None), None
    )


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


def styles(texts: Sequence[str]) -> list[Style]:
    """All ways of writing in which every text is a number; each mark of a way must occur.

    A plain number has no other way, unless its points may stand between thousands.
    """
    sign = split_sign(texts[0])[0]
    signs = set("".join(texts).translate(_BLANKS))
    ways = [style._replace(sign=sign) for style in STYLES.values()]
    return [style for style in ways if _used(style, signs) and parse_all(texts, style) is not None]


def _used(style: Style, signs: set[str]) -> bool:
    """Whether the mark of a style is among the signs of a column: the one between thousands, or the decimal comma."""
    return style[:2] == PLAIN[:2] or (style.thousands or style.decimal) in signs


def numbers_among(texts: Sequence[str]) -> list[str]:
    """The texts that are numbers, in the way of writing that has the most of them."""
    if parse_all(texts) is not None:
        return list(texts)
    signs = {split_sign(text)[0] for text in texts}
    ways = [style._replace(sign=sign) for style in STYLES.values() for sign in sorted(signs)]
    return max(([text for text in texts if parse(text, way) is not None] for way in ways), key=len, default=[])


def parse_all(texts: Sequence[str], style: Style = PLAIN) -> list[float] | None:
    """All texts as numbers; None if one is none."""
    if style == PLAIN and _float_suffices(texts):  # a million texts one by one would take seconds
        try:
            return [float(text) for text in texts]
        except ValueError:
            return None
    numbers = []
    for text in texts:
        number = parse(text, style)
        if number is None:
            return None
        numbers.append(number)
    return numbers


def _float_suffices(texts: Sequence[str]) -> bool:
    """Whether float() accepts the same of these texts as `parse`."""
    joined = "".join(texts)
    return joined.isascii() and "_" not in joined and max(map(len, texts), default=0) <= _LONGEST


def decimal_mark(ways: Sequence[Style], texts: Sequence[str]) -> str | None:
    """The decimal mark that a column proves; None if it has none or allows two."""
    marks = {style.decimal for style in ways}
    if len(marks) != 1 or (ways[0].thousands == "" and not any(ways[0].decimal in text for text in texts)):
        return None
    return marks.pop()


def likely(ways: Sequence[Style], texts: Sequence[str], marks: set[str], separator: str) -> tuple[Style, bool]:
    """The likely one of several `styles` of writing texts, and whether something tells it from the others.

    Decimal marks that columns of the table prove are `marks`; where they are commas, the separator of cells is a
    semicolon.
    """
    by_mark = [style for style in ways if marks == {style.decimal}]
    if len(ways) == 1 or by_mark:
        return (by_mark or list(ways))[0], True
    if ways[0].decimal == ".":  # 1.234 is a plain number
        return ways[0], ways[0] == PLAIN and separator != ";"
    if _grouped(texts):
        return ways[1], True
    return ways[0 if separator == ";" else 1], False


def _grouped(texts: Sequence[str]) -> bool:
    """Whether numbers without a comma are below 1000, as where it stands between thousands."""
    without = [text for text in texts if "," not in text]
    return bool(without) and all(sum(map(str.isdigit, text)) <= 3 for text in without)
