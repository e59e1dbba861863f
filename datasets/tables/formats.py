"""Readers of workbooks, Parquet, svmlight and ARFF; each gives texts, which are read like the cells of CSV.

Sizes that a file states are checked first; limits of memory and time of the child process bound the true sizes.
Formulas have their saved values; metadata of pandas and other libraries are ignored.
"""

from __future__ import annotations

import csv
import io
import random
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

from .body import Row
from .cells import LONGEST_NUMBER
from .table import Guess, Limits, UploadError, quoted

_OLD = b"\xd0\xcf\x11\xe0"
_PARTS = frozenset({"[Content_Types].xml", "content.xml"})
"""The archive of a workbook has one of these files"""
_METADATA_BYTES, _CELL_BYTES = 4_000_000, 8
_NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|[+-]?inf(?:inity)?|nan"
_LABEL, _PAIR = (re.compile(form + rf"({_NUMBER})", re.ASCII | re.IGNORECASE) for form in ("()", r"(\d{1,7}):"))

_ATTRIBUTE = re.compile(
    r"@attribute\s++(?:'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\]|\\.)*+)\"|([^\s{]++))\s*+(.++)", re.IGNORECASE
)
_ESCAPED = re.compile(r"\\(.)")
_QUOTE = re.compile(r"(?:^|[,{ ])(['\"])")
_POSITION = re.compile(r"(\d{1,6})\s++(.*+)", re.ASCII)
_NUMERIC = ("numeric", "real", "integer")


@dataclass
class Found:
    """The texts of a table, and what its format says of them."""

    form: str
    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    """All rows, or a random part that fits"""
    n_rows: int
    guesses: Sequence[Guess] = ()
    separator: str = ""
    marks: frozenset[str] | None = None
    """Marks of missing values, if not the usual ones"""
    kinds: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    target: str | None = None


def random_part(rows: Sequence[Any], most: int, seed: int = 0) -> Sequence[Any]:
    """Return all rows, or a random part of `most` rows, in their order."""
    if len(rows) <= most:
        return rows
    return [rows[place] for place in sorted(random.Random(seed).sample(range(len(rows)), most))]


def _check_expanded(what: str, expanded: int, limits: Limits) -> None:
    if expanded > limits.expanded_bytes:
        raise UploadError(
            f"The {what} would expand to {expanded / 1e6:.1f} MB; at most {limits.expanded_bytes / 1e6:g} MB are "
            "allowed."
        )


# --- workbooks ------------------------------------------------------------------------------------------------------


def is_workbook(data: bytes) -> bool:
    """Return whether a file is a workbook, by its first bytes and the files in its archive."""
    try:
        return data.startswith(_OLD) or (
            data.startswith(b"PK\x03\x04") and not _PARTS.isdisjoint(zipfile.ZipFile(io.BytesIO(data)).namelist())
        )
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def sheet(data: bytes, limits: Limits, choices: Mapping[str, str]) -> tuple[list[Row], Guess]:
    """Read the rows of the chosen sheet of a workbook, else of the first sheet with two columns."""
    if not data.startswith(_OLD):
        _check_expanded(
            "workbook", sum(part.file_size for part in zipfile.ZipFile(io.BytesIO(data)).infolist()), limits
        )
    try:
        calamine = import_module("python_calamine")
    except ModuleNotFoundError:
        raise UploadError(
            "Workbooks are read by python-calamine, which is not installed; save the sheet as CSV."
        ) from None
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        own = _sheet(book, limits, choices)
        rows = islice(own.iter_rows(), own.start[0], None)  # iter_rows begins above the first cell
        numbered = [(line, [_text(cell) for cell in row]) for line, row in enumerate(rows, own.start[0] + 1)]
    except (UploadError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException:  # a panic of the library is not an Exception
        raise UploadError("The workbook cannot be read: it is damaged, incomplete or locked by a password.") from None
    others = tuple(name for name in book.sheet_names if name != own.name)
    note = f"Of {len(others) + 1} sheets {quoted(own.name)} was read." if others else ""
    return [row for row in numbered if any(row[1])], Guess("sheet", own.name, others, note)


def _sheet(book, limits: Limits, choices: Mapping[str, str]):
    """Return the sheet to read."""
    names = [choices["sheet"]] if choices.get("sheet") in book.sheet_names else book.sheet_names
    for name in names:
        own = book.get_sheet_by_name(name)
        if own.width > 1:
            limits.check_columns(own.width)
            return own
    raise UploadError("No sheet of the workbook has two columns; a target and something to predict it from are needed.")


def _text(cell) -> str:
    """Return a cell as a CSV file would have it."""
    match cell:
        case bool():
            return str(cell).lower()
        case float() if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        case datetime():
            return cell.isoformat(" ", "seconds").removesuffix(" 00:00:00")
        case date():
            return cell.isoformat()
    return "" if cell is None else str(cell)


# --- Parquet --------------------------------------------------------------------------------------------------------


def parquet(data: bytes, limits: Limits) -> Found:
    """Read the columns of a file, or a random part of its rows that fits."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sizes = {"thrift_string_size_limit": _METADATA_BYTES, "thrift_container_size_limit": _METADATA_BYTES // 8}
    try:
        file = pq.ParquetFile(pa.BufferReader(data), **sizes)
        check_metadata(file, limits)
        table = file.read(use_threads=False)
        chosen = random_part(range(len(table)), limits.rows_that_fit(table.num_columns))
        columns = [_texts(field, values, chosen) for field, values in zip(table.schema, table.columns, strict=True)]
    except (UploadError, MemoryError):
        raise
    except Exception:  # on damaged files PyArrow raises various types, RuntimeError among them
        raise UploadError("The Parquet file cannot be read: it is damaged or incomplete.") from None
    if sum(map(len, (text for column in columns for text in set(column)))) > limits.expanded_bytes:
        raise UploadError("The text of the Parquet file is longer than allowed.")
    return Found("Parquet", table.column_names, list(zip(*columns, strict=True)), len(table))


def check_metadata(file: Any, limits: Limits) -> None:
    """Raise an UploadError if a Parquet file is too large or has values that cannot be read."""
    metadata = file.metadata
    n_columns = len(file.schema_arrow)
    limits.check_columns(n_columns)
    most = limits.expanded_bytes // _CELL_BYTES
    if metadata.num_rows * n_columns > most:
        raise UploadError(
            f"{metadata.num_rows} rows of {n_columns} columns are {metadata.num_rows * n_columns} cells; a random part "
            f"can be read of at most {most}."
        )
    # Sizes of row groups, not of columns: PyArrow crashes on the size of a column in some damaged metadata.
    n_groups = min(metadata.num_row_groups, limits.rows + 1)
    _check_expanded("Parquet file", sum(metadata.row_group(i).total_byte_size for i in range(n_groups)), limits)


def _texts(field, values, chosen) -> list[str]:
    """Return the chosen values of a column as a CSV file would have them."""
    import pyarrow as pa
    from pyarrow import types

    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    try:
        if types.is_nested(kind) or types.is_time(kind) or types.is_duration(kind):
            raise pa.ArrowInvalid
        if types.is_binary_view(kind) or types.is_string_view(kind):
            values = values.cast(pa.large_binary())
        values = values.take(pa.array(chosen, pa.int64()))
        values = values.cast(pa.int8()) if types.is_boolean(kind) else values
        return [text or "" for text in values.cast(pa.large_string()).to_pylist()]
    except pa.ArrowInvalid:
        raise UploadError(
            f"The column {quoted(field.name)} of the Parquet file has the type {quoted(str(field.type))}; only "
            "numbers, Booleans, dates and text in UTF-8 can be read."
        ) from None


# --- svmlight -------------------------------------------------------------------------------------------------------


def _parts(line: str) -> list[str]:
    return [part for part in line.partition("#")[0].split() if not part.startswith("qid:")]


def looks_like_svmlight(text: str) -> bool:
    """Return whether the first line with cells has the form of svmlight."""
    label, *pairs = next(filter(None, map(_parts, text.splitlines())), [""])
    return bool(pairs and _LABEL.fullmatch(label)) and all(map(_PAIR.fullmatch, pairs))


def svmlight(text: str, limits: Limits) -> Found:
    """Read the label and the values of each line; a value that is not written is 0."""
    rows = []
    for at, line in enumerate(io.StringIO(text), start=1):
        row: dict[int, str] = {}
        for part in _parts(line):
            match = (_PAIR if row else _LABEL).fullmatch(part) if len(part) <= LONGEST_NUMBER else None
            index = int(match[1] or -1) if match else -1  # -1 is the label
            if match is None or index in row or index > limits.columns:
                raise UploadError(
                    f"Line {at} has {quoted(part)}; svmlight has a number, then index:value, each index once and from "
                    f"0 to {limits.columns}."
                )
            row[index] = match[2]
        rows += [row] if row else []
    places = set().union(*rows) - {-1}
    if not places:
        raise UploadError("The file has no index:value pairs, which svmlight has after each label.")
    own = range(min(1, *places), max(places) + 1)
    part = random_part(rows, limits.rows_that_fit(1 + len(own)))
    dense = [[row.get(place, "0") for place in (-1, *own)] for row in part]
    notes = ["The numbers of queries, qid, were left out."] if " qid:" in text else []
    return Found("svmlight", ["label", *(f"x{place}" for place in own)], dense, len(rows), notes=notes, target="label")


# --- ARFF -----------------------------------------------------------------------------------------------------------


class Attribute(NamedTuple):
    """A column that ARFF declares."""

    name: str
    kind: str
    """"text", "date" for digits such as 202001, or "" if the cells tell"""
    default: str
    """Value that a sparse row leaves out"""
    only: str
    """The value of an attribute that lists a single one: ? then means that it is absent"""


def is_arff(text: str) -> bool:
    """Return whether a text begins like ARFF, below its comments."""
    lines = (line for line in io.StringIO(text[: 1 << 16]) if line.strip() and not line.startswith("%"))
    return next(lines, "").lstrip()[:9].lower() == "@relation"


def arff(text: str, limits: Limits) -> Found:
    """Read the columns and rows of ARFF. A column whose values are listed is text, even if these are numbers."""
    stripped = enumerate(map(str.strip, io.StringIO(text)), 1)
    lines = ((number, line) for number, line in stripped if line and line[0] != "%")
    attributes: list[Attribute] = []
    for number, line in lines:
        word = line[:10].lower()
        if word.startswith("@data"):
            break
        if not word.startswith("@relation"):
            attributes.append(_attribute(number, line))
            limits.check_columns(len(attributes))
    rows = [_row(number, line, attributes) for number, line in lines] if attributes else []
    if not rows:
        raise UploadError("The ARFF file has no line of @attribute, or no rows below @data.")
    part = random_part(rows, limits.rows_that_fit(len(attributes)))
    only = {place: one for place, one in enumerate(attributes) if one.only and any(row[place] == "?" for row in part)}
    for place, one in only.items():
        for row in part:
            row[place] = f"not {one.only}" if row[place] == "?" else row[place]
    return Found(
        "ARFF",
        [one.name for one in attributes],
        part,
        len(rows),
        marks=frozenset({"", "?"}),
        kinds={f"kind of column {place}": one.kind for place, one in enumerate(attributes, 1) if one.kind},
        notes=[f"{quoted(one.name)} and the like: ? was read as not {quoted(one.only)}." for one in only.values()][:1],
    )


def _attribute(number: int, line: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise UploadError(f"Line {number} is {quoted(line)}; above @data, ARFF has @attribute, a name and a kind.")
    name = _ESCAPED.sub(r"\1", match[1] or match[2] or match[3] or "")
    kind = match[4].strip()
    if kind.startswith("{"):
        first, comma, _ = kind[1:].partition(",")
        first = first.strip(" '\"}")
        return Attribute(name, "text", first, "" if comma else first)
    word = kind.split()[0].lower()
    if word not in (*_NUMERIC, "date", "string"):
        raise UploadError(f"Line {number} has the kind {quoted(kind)}; numeric, string, date and lists can be read.")
    is_date = word == "date" and kind[4:].strip(" '\"") in ("yyyyMM", "yyyyMMdd")
    return Attribute(name, "text" if word == "string" else "date" * is_date, "0" if word in _NUMERIC else "", "")


def _row(number: int, line: str, attributes: list[Attribute]) -> list[str]:
    """Return the cells of a line below @data. Cells of a sparse line have positions."""
    is_sparse = line.startswith("{")
    first_quote = _QUOTE.search(line)
    has_commas = is_sparse or "," in line or len(attributes) == 1  # Weka takes blanks and tabs too
    reader = csv.reader(
        [line.strip("{}") if has_commas else line.replace("\t", " ")],
        delimiter="," if has_commas else " ",
        quotechar=first_quote[1] if first_quote else '"',
        escapechar="\\",
        skipinitialspace=True,
    )
    try:
        cells = [cell.strip() for cell in next(reader)]
    except csv.Error:
        raise UploadError(f"A cell on line {number} has more than {csv.field_size_limit()} characters.") from None
    if is_sparse:
        sparse = [_POSITION.fullmatch(cell) for cell in cells if cell]
        values = {int(match[1]): match[2].strip(" '\"") for match in sparse if match}
        if len(values) < len(sparse) or max(values, default=0) >= len(attributes):
            raise UploadError(
                f"Line {number} is {quoted(line)}; positions from 0 to {len(attributes) - 1}, each once and with a "
                "value, are needed."
            )
        cells = [values.get(place, one.default) for place, one in enumerate(attributes)]
    if len(cells) != len(attributes):
        raise UploadError(f"Line {number} has {len(cells)} cells; there are {len(attributes)} lines of @attribute.")
    return cells
