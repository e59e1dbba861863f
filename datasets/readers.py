"""Reads a file of unknown origin, as CSV, TSV, Parquet or svmlight, into a table, in the process that asks for it.

The app asks `uploads` instead, which runs these readers in a process of its own. A file is refused in one sentence, an
`UploadError`, before it costs more than `Limits` allow. What cannot be known for certain, such as an encoding, is
guessed and said among the table's notes. Nothing is written, and no pickle is read.

The readers import the standard library and NumPy alone, so that the process starts quickly; for Parquet, PyArrow too.
"""

from __future__ import annotations

import csv
import io
import re

import numpy as np

from datasets import parquet_reader
from datasets.tables import CellColumn, Column, Limits, Table, UploadError, _number, quoted, unique_names

FORMATS = ("CSV", "TSV", "Parquet", "svmlight")
_BY_ENDING = {
    "csv": "CSV",
    "tsv": "TSV",
    "tab": "TSV",
    "parquet": "Parquet",
    "pq": "Parquet",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
}
ENDINGS = (*_BY_ENDING, "txt", "data")
"""Of files that are welcome; what the last two hold is seen from their content."""
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_FOREIGN = {  # leading bytes of what people hand in by mistake
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
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
_SNIFFED_LINES, _SNIFFED_CHARACTERS = 20, 1 << 16
_ROWS_AT_ONCE = 500
_PAIR = re.compile(r"(-?\d{1,19}):(\S+)", re.ASCII)


def read(data: bytes | str, name: str = "", limits: Limits = Limits()) -> Table:  # noqa: B008 (it is frozen)
    """Read a file, or text that was pasted, in this process; see `uploads.read_table`.

    Time and memory are bounded by `limits` alone: a damaged Parquet file may end the process.
    """
    check_size(data, limits)
    if not data.strip():
        raise UploadError("The file is empty; a table with a line for each row is needed.")
    form = _BY_ENDING.get(name.rpartition(".")[2].lower())
    if isinstance(data, bytes) and (data[:4] == b"PAR1" or form == "Parquet"):
        return _enough(_read_parquet(data, limits), limits)
    text, notes = (data, []) if isinstance(data, str) else _decoded(data)
    if "\0" in text:
        raise UploadError("The file holds zero bytes, so it is no text; CSV, TSV, Parquet and svmlight can be read.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if form == "svmlight" or (form is None and _looks_like_svmlight(text)):
        table = _read_svmlight(text, notes, limits)
    else:
        table = _read_delimited(text, "\t" if form == "TSV" else None, notes, limits)
    return _enough(table, limits)


def check_size(data: bytes | str, limits: Limits) -> None:
    """Raise an UploadError if a file or a text has too many bytes."""
    size = len(data.encode("utf-8", "replace")) if isinstance(data, str) else len(data)
    if size > limits.bytes:
        raise UploadError(f"The file has {size / 1e6:.2f} MB; at most {limits.bytes / 1e6:g} MB are allowed.")


def _enough(table: Table, limits: Limits) -> Table:
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


def _decoded(data: bytes) -> tuple[str, list[str]]:
    """Text, and what had to be guessed."""
    for start, what in _FOREIGN.items():
        if data.startswith(start):
            raise UploadError(f"The file is {what}; CSV, TSV, Parquet and svmlight can be read.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16"), []
        except UnicodeDecodeError:
            raise UploadError("The file begins like UTF-16 text but is none; save it as UTF-8.") from None
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        try:
            return data.decode("cp1252"), ["The text is not UTF-8 and was read as Windows-1252: look at its letters."]
        except UnicodeDecodeError:
            raise UploadError(
                f"The text is neither UTF-8 nor Windows-1252 (byte {error.start + 1} is {data[error.start]:#04x}); "
                "save it as UTF-8."
            ) from None


# --- text with a delimiter ------------------------------------------------------------------------------------------


def _read_delimited(text: str, delimiter: str | None, notes: list[str], limits: Limits) -> Table:
    delimiter = delimiter or _sniffed(text)
    rows = _rows(text, delimiter, limits)
    line, first = next(rows, (0, []))
    if not first:
        raise UploadError("The file holds no cell; a table with a line for each row is needed.")
    limits.check(1, len(first))
    headed = not any(_number(cell.strip()) is not None for cell in first)
    cells = [CellColumn() for _ in first]
    if headed:
        raw_names = first
    else:
        notes = [*notes, "The first line holds numbers, so it was taken for a row: columns are named by their place."]
        raw_names = [f"column {i}" for i in range(1, len(first) + 1)]
        _append(cells, [first])
    n_rows, waiting = 0 if headed else 1, []
    for at, row in rows:
        if len(row) != len(first):
            raise UploadError(
                f"Line {at} has {_count(len(row), 'cell')}, line {line} has {len(first)}; every line must have as many."
            )
        n_rows += 1
        if n_rows > limits.rows or n_rows * len(first) > limits.cells:
            limits.check(n_rows, len(first))
        waiting.append(row)
        if len(waiting) == _ROWS_AT_ONCE:
            _append(cells, waiting)
            waiting = []
    _append(cells, waiting)
    if n_rows == 0:
        raise UploadError("The table has names of columns but no row; a line for each row is needed.")
    names = unique_names(raw_names)
    if headed:
        notes = [*notes, *_note_on_names(raw_names)]
    columns = tuple(
        column.column(name, decimal_comma=delimiter != ",") for column, name in zip(cells, names, strict=True)
    )
    form = "TSV" if delimiter == "\t" else "CSV"
    return Table(columns, f"{form}, cells divided by {_DELIMITERS[delimiter]}", tuple(notes))


def _note_on_names(raw: list[str]) -> list[str]:
    seen = set()
    for name in map(str.strip, raw):
        if name and name in seen:
            return [f"Several columns are called {quoted(name)}: they were numbered."]
        seen.add(name)
    return []


def _append(cells: list[CellColumn], rows: list[list[str]]) -> None:
    for column, own in zip(cells, zip(*rows, strict=True), strict=bool(rows)):
        column.extend(own)


def _rows(text: str, delimiter: str, limits: Limits):
    """(line, cells) of every line that is not blank."""
    # The standard library's limit on a cell belongs to the whole process; it is left alone, and ours is the smaller.
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=delimiter != "\t"
    )
    while True:
        before = reader.line_num
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UploadError(_sentence(str(error), before + 1, reader.line_num, delimiter)) from None
        longest = max(map(len, row), default=0)
        if longest > limits.cell_characters:
            raise UploadError(
                f"A cell that begins on line {before + 1} has {longest} characters; at most {limits.cell_characters} "
                "are allowed: is a quotation mark never closed?"
            )
        if row and (len(row) > 1 or row[0].strip()):
            yield reader.line_num, row


def _sentence(problem: str, first: int, last: int, delimiter: str) -> str:
    if "expected after" in problem:
        name = _DELIMITERS[delimiter][:-1]
        return f'On line {last}, a quoted cell is followed by something other than a {name}; within quotes, write "".'
    if "unexpected end" in problem:
        return f"A quotation mark on line {first} or below is never closed."
    if "field larger" in problem:
        return f"A cell on line {first} never seems to end: is a quotation mark never closed?"
    return f"Line {last} cannot be read as a line of a table."


def _sniffed(text: str) -> str:
    """The delimiter that divides the first lines into the most cells, as many on every line where there is one."""
    lines = [line for line in text[:_SNIFFED_CHARACTERS].split("\n", _SNIFFED_LINES)[:_SNIFFED_LINES] if line.strip()]
    best, best_score = ",", (False, 1)
    for delimiter in _DELIMITERS:
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row]
        except csv.Error:
            continue
        if counts and counts[0] > 1:
            score = (len(set(counts)) == 1, counts[0])
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


# --- svmlight -------------------------------------------------------------------------------------------------------


def _looks_like_svmlight(text: str) -> bool:
    for line in text[:_SNIFFED_CHARACTERS].split("\n", _SNIFFED_LINES)[:_SNIFFED_LINES]:
        parts = line.partition("#")[0].split()
        if parts:
            return len(parts) > 1 and _number(parts[0]) is not None and all(map(_PAIR.fullmatch, parts[1:]))
    return False


def _read_svmlight(text: str, notes: list[str], limits: Limits) -> Table:
    labels, places, values = [], [], []
    largest, smallest = -1, None
    for at, line in enumerate(io.StringIO(text), start=1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        labels.append(_svmlight_number(parts[0], at, "label"))
        if len(labels) > limits.rows:
            limits.check(len(labels), 1)
        seen = set()
        for part in parts[1:]:
            if part.startswith("qid:"):
                continue
            found = _PAIR.fullmatch(part)
            if found is None:
                raise UploadError(f"Line {at} has {quoted(part)} where svmlight has index:value.")
            index = int(found[1])
            if not 0 <= index <= limits.columns:
                raise UploadError(f"Line {at} has the index {index}; indices from 0 to {limits.columns} are allowed.")
            if index in seen:
                raise UploadError(f"Line {at} has the index {index} twice; an index may stand on a line once.")
            seen.add(index)
            places.append((len(labels) - 1, index))
            values.append(_svmlight_number(found[2], at, f"value of index {index}"))
            largest, smallest = max(largest, index), index if smallest is None else min(smallest, index)
        limits.check(1, largest + 1)
        if len(labels) * (largest + 2) > limits.cells:
            limits.check(len(labels), largest + 2)
    if not values:
        raise UploadError("The file holds no index:value, as svmlight has them after each label.")
    X = np.zeros((len(labels), largest + 1))
    rows, indices = np.array(places).T
    X[rows, indices] = values
    start = 0 if smallest == 0 else 1
    columns = [Column.of_numbers("label", labels)]
    columns += [Column.of_numbers(f"x{i}", X[:, i]) for i in range(start, largest + 1)]
    return Table(tuple(columns), "svmlight", tuple(notes), target="label")


def _svmlight_number(text: str, line: int, what: str) -> float:
    value = np.nan if text.lower() == "nan" else _number(text)
    if value is None:
        raise UploadError(f"On line {line} the {what} is {quoted(text)}; a number is needed.")
    return value


# --- Parquet --------------------------------------------------------------------------------------------------------


def _read_parquet(data: bytes, limits: Limits) -> Table:
    if len(data) < 12 or data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise UploadError("The Parquet file is damaged, or cut off: it must begin and end with the letters PAR1.")
    return parquet_table(parquet_reader.decode(data, limits), limits)


def parquet_table(decoded: list[parquet_reader.Decoded], limits: Limits) -> Table:
    """The table of what `parquet_reader` has made of a file."""
    if not decoded:
        raise UploadError("The Parquet file has no column; at least two are needed.")
    columns = []
    for name, (_, kind, values, words) in zip(unique_names([part[0] for part in decoded]), decoded, strict=True):
        if kind != "text":
            columns.append(Column.of_numbers(name, values, kind))
            continue
        cells = CellColumn()
        cells.extend([words[code] if code >= 0 else "" for code in values])
        columns.append(cells.column(name))
    limits.check(len(decoded[0][2]), len(columns))
    return Table(tuple(columns), "Parquet", tuple(_note_on_names([part[0] for part in decoded])))
