"""Reader of ARFF, the format of Weka: names and kinds of columns, then lines of cells.

SciPy's reader takes neither text nor sparse rows, and liac-arff has had no release since 2020 and takes no dates.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from .table import Limits, UploadError, quoted

_ATTRIBUTE = re.compile(
    r"@attribute\s++(?:'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\]|\\.)*+)\"|([^\s{]++))\s*+(.++)", re.IGNORECASE
)
_ESCAPED = re.compile(r"\\(.)")
_QUOTE = re.compile(r"(?:^|[,{ ])(['\"])")
_NUMERIC = ("numeric", "real", "integer")


class Attribute(NamedTuple):
    name: str
    is_text: bool
    default: str
    """What a sparse row leaves out"""
    only: str
    """The value of an attribute that has one, so that ? means that it is absent"""


def is_arff(text: str) -> bool:
    """Whether a text begins as ARFF does, below its comments."""
    for line in io.StringIO(text[: 1 << 16]):
        if line.strip() and not line.startswith("%"):
            return line.lstrip()[:9].lower() == "@relation"
    return False


def read(text: str, limits: Limits) -> tuple[list[Attribute], list[list[str]]]:
    """The columns that a text declares, and its rows."""
    lines = enumerate(io.StringIO(text), 1)
    attributes = _attributes(lines, limits)
    return attributes, list(_rows(lines, attributes, limits))


def _attributes(lines: Iterator[tuple[int, str]], limits: Limits) -> list[Attribute]:
    attributes = []
    for number, line in lines:
        line = line.strip()
        word = line[:10].lower()
        if word.startswith("@data"):
            break
        if word == "@attribute":
            attributes.append(_attribute(number, line))
            limits.check(1, len(attributes))
        elif line and not line.startswith("%") and not word.startswith("@relation"):
            raise UploadError(f"Line {number} is {quoted(line)}; above @data, ARFF has lines of @attribute.")
    if not attributes:
        raise UploadError("The ARFF file has no line of @attribute; at least two are needed.")
    return attributes


def _attribute(number: int, line: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise UploadError(f"Line {number} is {quoted(line)}; ARFF has @attribute, a name and a kind.")
    name = _ESCAPED.sub(r"\1", match[1] or match[2] or match[3] or "")
    kind = match[4].strip()
    if kind.startswith("{"):
        first, comma, _ = kind[1:].partition(",")
        first = first.strip(" '\"}")
        return Attribute(name, True, first, "" if comma else first)
    word = kind.split()[0].lower()
    if word not in (*_NUMERIC, "date", "string"):
        raise UploadError(f"Line {number} has the kind {quoted(kind)}; numeric, string, date and lists can be read.")
    return Attribute(name, word == "string", "0" if word in _NUMERIC else "", "")


def _rows(lines: Iterator[tuple[int, str]], attributes: list[Attribute], limits: Limits) -> Iterator[list[str]]:
    """The cells of the lines below @data."""
    for number, line in lines:
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        sparse = line.startswith("{")
        first_quote = _QUOTE.search(line)
        quote = first_quote[1] if first_quote else '"'
        comma = sparse or "," in line or len(attributes) == 1  # Weka takes blanks and tabs too
        cut = line.strip("{}") if comma else line.replace("\t", " ")
        options = {"delimiter": "," if comma else " ", "quotechar": quote, "escapechar": "\\", "skipinitialspace": True}
        try:
            cells = next(csv.reader([cut], **options))
        except csv.Error:
            raise UploadError(f"A cell on line {number} has more than {csv.field_size_limit()} characters.") from None
        cells = _dense(number, cells, attributes) if sparse else cells
        if len(cells) != len(attributes):
            raise UploadError(f"Line {number} has {len(cells)} cells; there are {len(attributes)} lines of @attribute.")
        if max(map(len, cells)) > limits.cell_characters:
            raise UploadError(f"A cell on line {number} has more than {limits.cell_characters} characters.")
        yield [
            f"not {one.only}" if one.only and cell.strip() == "?" else cell
            for cell, one in zip(cells, attributes, strict=True)
        ]


def _dense(number: int, parts: list[str], attributes: list[Attribute]) -> list[str]:
    """All cells of a sparse row, whose parts are a position and a value."""
    cells: dict[int, str] = {}
    for part in filter(None, map(str.strip, parts)):
        place, _, value = part.replace("\t", " ").partition(" ")
        if not (place.isascii() and place.isdigit() and len(place) < 7 and int(place) < len(attributes)):
            raise UploadError(
                f"Line {number} has {quoted(part)}; a position from 0 to {len(attributes) - 1} and a value are needed."
            )
        if int(place) in cells:
            raise UploadError(f"Line {number} has the position {int(place)} twice; once is allowed.")
        cells[int(place)] = value.strip(" '\"")
    return [cells.get(place, one.default) for place, one in enumerate(attributes)]
