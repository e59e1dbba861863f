"""Readers of user-uploaded files, in the calling process: delimited text, workbooks, ARFF, Parquet and svmlight.

The app calls `uploads` instead, which runs these readers in a child process. A file is refused in one sentence, an
`UploadError`, before it costs more than `Limits` allow. What must be guessed, such as an encoding, is reported in the
table's notes. Nothing is written, and no pickle is read.

The readers import only the standard library and NumPy, and PyArrow for Parquet, so that the child starts quickly.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from . import arff, delimited, layouts, parquet, workbook
from .layouts import Layout
from .rows import note_on_names, note_on_part, random_part, typed
from .table import CellColumn, Choices, Column, Guess, Limits, Table, UploadError, parse_number, quoted, unique_names

FORMATS = ("CSV", "TSV", "Excel", "OpenDocument", "ARFF", "Parquet", "svmlight")
_READABLE = f"{', '.join(FORMATS[:-1])} and {FORMATS[-1]} can be read"
_BY_ENDING = {
    "csv": "CSV",
    "tsv": "TSV",
    "tab": "TSV",
    **dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls"), "Excel"),
    "ods": "OpenDocument",
    "arff": "ARFF",
    "parquet": "Parquet",
    "pq": "Parquet",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
}
ENDINGS = (*_BY_ENDING, "txt", "data")
"""Accepted file name endings; for the last two the content decides."""
_FOREIGN = {  # leading bytes of files that are uploaded by mistake
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"ARROW1": "an Arrow file",
    b"SQLite format 3": "an SQLite database",
    b"\x80\x02": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
}
ENCODINGS = {
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "mac_roman": "Mac Roman",
}
"""Encodings of text that is not Unicode, which choices take"""
_FIRST_CHARACTERS = 1 << 16
_JSON = re.compile(r"\{\s*+\"|\[\s*+[\[{]")
_QUERY = re.compile(r"^[^#\n]*\sqid:", re.MULTILINE)
_PAIR = re.compile(r"(-?\d{1,19}):(\S+)", re.ASCII)


def read(
    data: bytes | str,
    name: str = "",
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    choices: Choices = MappingProxyType({}),
) -> Table:
    """Read a file or pasted text in this process; see `uploads.read_table`.

    Only `limits` bound time and memory: a damaged Parquet file may crash the process.
    """
    check_size(data, limits)
    if not data.strip():
        raise UploadError("The file is empty; a table with a line for each row is needed.")
    form = _BY_ENDING.get(name.rpartition(".")[2].lower())
    if isinstance(data, bytes) and (data[:4] == b"PAR1" or form == "Parquet"):
        return _check_minimum(_read_parquet(data, limits, choices), limits)
    if isinstance(data, bytes) and workbook.is_workbook(data):
        return _check_minimum(workbook.read(data, limits, choices), limits)
    text, encoding = (data, "utf-8") if isinstance(data, str) else _decoded(data, choices)
    if "\0" in text:
        raise UploadError(f"The file has null bytes, so it is not text; {_READABLE}.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    _refuse_documents(text)
    if form == "svmlight" or (form in (None, "CSV") and _looks_like_svmlight(text)):
        table = _read_svmlight(text, limits, choices)
    elif form == "ARFF" or arff.is_arff(text):
        table = arff.read(text, limits, choices)
    else:
        separators = ("\t", "\t+") if form == "TSV" else tuple(layouts.SEPARATORS)
        table = delimited.read(text, separators, limits, choices)
    if encoding != "utf-8" and not isinstance(table.by_pandas, str):
        table = replace(table, by_pandas={"encoding": encoding, **table.by_pandas})
    if isinstance(data, bytes) and encoding in ENCODINGS:
        table = replace(table, guesses=(_guess_on_encoding(data, encoding), *table.guesses))
    return _check_minimum(table, limits)


def _guess_on_encoding(data: bytes, taken: str) -> Guess:
    """Which of several encodings the text of a file has."""
    others = tuple(one for one in ENCODINGS if one != taken and _text(data, one) is not None)
    note = f"The text is not UTF-8 and was read as {ENCODINGS[taken].partition(' ')[0]}: check its letters."
    return Guess("encoding", taken, others, note if taken == next(iter(ENCODINGS)) else "")


def _text(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _refuse_documents(text: str) -> None:
    """Raise an UploadError for a web page or JSON, which people save in place of the table that it shows."""
    start = text[:1000].lstrip()
    if start.lower().startswith(("<!doctype", "<html", "<head", "<body", "<?xml")):
        raise UploadError(f"The file is a web page or XML; download the table that it shows: {_READABLE}.")
    if _JSON.match(start):
        raise UploadError(f"The file is JSON; save it as a table, such as CSV: {_READABLE}.")


def check_size(data: bytes | str, limits: Limits) -> None:
    """Raise an UploadError if a file or text has too many bytes."""
    size = len(data.encode("utf-8", "replace")) if isinstance(data, str) else len(data)
    if size > limits.bytes:
        raise UploadError(f"The file has {size / 1e6:.2f} MB; at most {limits.bytes / 1e6:g} MB are allowed.")


def _check_minimum(table: Table, limits: Limits) -> Table:
    """The table itself, if it has enough rows, columns and values."""
    if len(table.columns) < 2:
        raise UploadError(
            "The table has one column; at least two are needed, a target and something to predict it from, with "
            "commas, semicolons, tabs or vertical bars between them."
        )
    if table.n_rows < limits.fewest_rows:
        raise UploadError(
            f"The table has {table.n_rows} row{'s' * (table.n_rows != 1)}; at least {limits.fewest_rows} are needed."
        )
    if all(column.kind == "empty" for column in table.columns):
        raise UploadError("Every cell of the table is missing; at least two columns with values are needed.")
    return table


def _decoded(data: bytes, choices: Choices) -> tuple[str, str]:
    """Text, and the name of its encoding."""
    for start, what in _FOREIGN.items():
        if data.startswith(start):
            raise UploadError(f"The file is {what}; {_READABLE}.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16"), "utf-16"
        except UnicodeDecodeError:
            raise UploadError("The file begins like UTF-16 text but is not; save it as UTF-8.") from None
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        likely = next(iter(ENCODINGS))
        encoding = choices["encoding"] if choices.get("encoding") in ENCODINGS else likely
        text = _text(data, encoding)
        if text is None:
            raise UploadError(
                f"The text is neither UTF-8 nor {ENCODINGS[encoding].partition(' (')[0]} (byte {error.start + 1} is "
                f"{data[error.start]:#04x}); save it as UTF-8."
            ) from None
        return text, encoding


# --- svmlight -------------------------------------------------------------------------------------------------------


def _looks_like_svmlight(text: str) -> bool:
    for line in text[:_FIRST_CHARACTERS].splitlines():
        parts = [part for part in line.partition("#")[0].split() if not part.startswith("qid:")]
        if parts:
            return len(parts) > 1 and parse_number(parts[0]) is not None and all(map(_PAIR.fullmatch, parts[1:]))
    return False


def _read_svmlight(text: str, limits: Limits, choices: Choices) -> Table:
    largest, smallest, n_pairs = -1, limits.columns, 0
    for _, pairs in _svmlight_rows(text, limits):
        largest = max(largest, *pairs, -1)
        smallest = min(smallest, *pairs, limits.columns)
        n_pairs += len(pairs)
    if not n_pairs:
        raise UploadError("The file has no index:value pairs, which svmlight has after each label.")
    limits.check(1, largest + 1)
    places = range(min(smallest, 1), largest + 1)
    rows, n_rows = random_part(_svmlight_rows(text, limits), limits.rows_that_fit(1 + len(places)))
    X = np.zeros((len(rows), largest + 1))
    for row, (_, pairs) in zip(X, rows, strict=True):
        row[list(pairs)] = list(pairs.values())
    columns = [Column.of_numbers("label", [label for label, _ in rows])]
    columns += [Column.of_numbers(f"x{i}", X[:, i]) for i in places]
    table = _typed_table(columns, [column.name for column in columns], "svmlight", choices)
    notes = ["The numbers of queries, qid, were left out."] if _QUERY.search(text) else []
    notes += [note_on_part(n_rows, len(rows), limits)] if len(rows) < n_rows else []
    return replace(table, notes=tuple(notes), target="label")


def _typed_table(columns, names: Sequence[str], form: str, choices: Choices) -> Table:
    """A table of columns that are known, or whose cells are, with the kinds that were chosen."""
    made, _, guesses = typed(columns, names, Layout("", 0, len(columns)), choices)
    return Table(tuple(made), form, guesses=tuple(guesses))


def _svmlight_rows(text: str, limits: Limits) -> Iterator[tuple[float, dict[int, float]]]:
    """Label, and values by index, of each line."""
    for at, line in enumerate(io.StringIO(text), start=1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        pairs: dict[int, float] = {}
        for part in parts[1:]:
            if part.startswith("qid:"):
                continue
            match = _PAIR.fullmatch(part)
            if match is None:
                raise UploadError(f"Line {at} has {quoted(part)} where svmlight has index:value.")
            index = int(match[1])
            if not 0 <= index <= limits.columns:
                raise UploadError(f"Line {at} has the index {index}; indices from 0 to {limits.columns} are allowed.")
            if index in pairs:
                raise UploadError(f"Line {at} has the index {index} twice; once is allowed.")
            pairs[index] = _svmlight_number(match[2], at, f"value of index {index}")
        yield _svmlight_number(parts[0], at, "label"), pairs


def _svmlight_number(text: str, line: int, what: str) -> float:
    value = np.nan if text.lower() == "nan" else parse_number(text)
    if value is None:
        raise UploadError(f"On line {line} the {what} is {quoted(text)}; a number is needed.")
    return value


# --- Parquet --------------------------------------------------------------------------------------------------------


def _read_parquet(data: bytes, limits: Limits, choices: Choices) -> Table:
    if len(data) < 12 or data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise UploadError("The Parquet file is damaged or incomplete: it must begin and end with the letters PAR1.")
    decoded, n_rows = parquet.decode(data, limits)
    if not decoded:
        raise UploadError("The Parquet file has no columns; at least two are needed.")
    columns = []
    raw_names = [part[0] for part in decoded]
    for name, kind, values, texts in decoded:
        if kind != "text":
            columns.append(Column.of_numbers(name, values, kind))
            continue
        cells = CellColumn()
        cells.extend([texts[code] if code >= 0 else "" for code in values])
        columns.append(cells)
    notes = note_on_names(raw_names)
    n_read = len(decoded[0][2])
    notes += [note_on_part(n_rows, n_read, limits)] if n_read < n_rows else []
    return replace(_typed_table(columns, unique_names(raw_names), "Parquet", choices), notes=tuple(notes))
