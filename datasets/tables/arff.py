"""Reader of ARFF, the format of Weka: names and kinds of columns, then lines of cells.

SciPy's reader takes neither text, dates nor sparse rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from .layouts import Layout
from .rows import assemble
from .table import NOT_BY_PANDAS, Choices, Limits, Table, UploadError, quoted

_ATTRIBUTE = re.compile(r"@attribute\s++(?:'([^']*+)'|\"([^\"]*+)\"|([^\s{]++))\s*+(.++)", re.IGNORECASE)
_QUOTE = re.compile(r"(?:^|[,{ ])(['\"])")
_NUMERIC, _DATE = ("numeric", "real", "integer"), "date"


class _Attribute(NamedTuple):
    name: str
    is_text: bool
    default: str
    """What a sparse row leaves out"""


def is_arff(text: str) -> bool:
    """Whether a text begins as ARFF does, below its comments."""
    for line in io.StringIO(text[: 1 << 16]):
        if line.strip() and not line.startswith("%"):
            return line.lstrip()[:9].lower() == "@relation"
    return False


def read(text: str, limits: Limits, choices: Choices) -> Table:
    """Read a text in ARFF; columns whose values are listed are text, also where these are numbers."""
    lines = enumerate(io.StringIO(text), 1)
    attributes = _attributes(lines, limits)
    texts = frozenset(place for place, attribute in enumerate(attributes) if attribute.is_text)
    layout = Layout(",", 0, len(attributes), names=[one.name for one in attributes], texts=texts, marks=frozenset("?"))
    table = assemble(_rows(lines, attributes, limits), layout, "ARFF", limits, choices)
    return replace(table, by_pandas=NOT_BY_PANDAS)


def _attributes(lines: Iterator[tuple[int, str]], limits: Limits) -> list[_Attribute]:
    """The columns that the lines above @data declare."""
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


def _attribute(number: int, line: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise UploadError(f"Line {number} is {quoted(line)}; ARFF has @attribute, a name and a kind.")
    name, kind = match[1] or match[2] or match[3] or "", match[4].strip()
    if kind.startswith("{"):
        return _Attribute(name, True, kind[1:].partition(",")[0].strip(" '\"}"))
    word = kind.split()[0].lower()
    if word not in (*_NUMERIC, _DATE, "string"):
        raise UploadError(f"Line {number} has the kind {quoted(kind)}; numeric, string, date and lists can be read.")
    return _Attribute(name, word == "string", "0" if word in _NUMERIC else "")


def _rows(
    lines: Iterator[tuple[int, str]], attributes: list[_Attribute], limits: Limits
) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of the lines below @data."""
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
        parts = next(csv.reader([cut], **options))
        cells = _dense(number, parts, attributes) if sparse else parts
        if len(cells) != len(attributes):
            raise UploadError(f"Line {number} has {len(cells)} cells; there are {len(attributes)} lines of @attribute.")
        if max(map(len, cells)) > limits.cell_characters:
            raise UploadError(f"A cell on line {number} has more than {limits.cell_characters} characters.")
        yield number, cells


def _dense(number: int, parts: list[str], attributes: list[_Attribute]) -> list[str]:
    """All cells of a sparse row, whose parts are a position and a value."""
    cells = [attribute.default for attribute in attributes]
    for part in filter(None, map(str.strip, parts)):
        place, _, value = part.partition(" ")
        if not (place.isascii() and place.isdigit() and len(place) < 7 and int(place) < len(cells)):
            raise UploadError(
                f"Line {number} has {quoted(part)}; a position from 0 to {len(cells) - 1} and a value are needed."
            )
        cells[int(place)] = value.strip(" '\"")
    return cells
