"""Readers of files that are no text: workbooks by calamine, Parquet by PyArrow.

Sizes that the files state are checked first; what these hide is bounded by the memory and time of the child process.
Formulas have the values that were saved; metadata of pandas and other libraries are ignored.
"""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Mapping
from datetime import date, datetime
from importlib import import_module
from itertools import islice

import numpy as np

from .body import Row
from .cells import Cells
from .table import Column, Guess, Limits, UploadError, quoted

_OLD = b"\xd0\xcf\x11\xe0"
_PARTS = frozenset({"[Content_Types].xml", "content.xml"})
"""Of these files in its archive a workbook has one"""
_BATCH_ROWS, _METADATA_BYTES, _CELL_BYTES = 4096, 4_000_000, 8


def is_workbook(data: bytes) -> bool:
    """Whether a file is a workbook, by its first bytes and the files in its archive."""
    try:
        return data.startswith(_OLD) or (
            data.startswith(b"PK\x03\x04") and not _PARTS.isdisjoint(zipfile.ZipFile(io.BytesIO(data)).namelist())
        )
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def sheet(data: bytes, limits: Limits, choices: Mapping[str, str]) -> tuple[list[Row], Guess]:
    """The rows of the sheet of a workbook that is chosen, else of the first with two columns."""
    if not data.startswith(_OLD):
        expanded = sum(part.file_size for part in zipfile.ZipFile(io.BytesIO(data)).infolist())
        _check_expanded("workbook", expanded, limits)
    try:
        calamine = import_module("python_calamine")
    except ModuleNotFoundError:
        raise UploadError(
            "Workbooks are read by python-calamine, which is not installed; save the sheet as CSV."
        ) from None
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        own = _sheet(book, limits, choices)
        rows = islice(own.iter_rows(), own.start[0], None)  # it begins above the first cell
        numbered = [(number, [_text(cell) for cell in row]) for number, row in enumerate(rows, own.start[0] + 1)]
    except (UploadError, MemoryError):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise UploadError("The workbook cannot be read: it is damaged, incomplete or locked by a password.") from None
    for number, cells in numbered:
        if max(map(len, cells)) > limits.cell_characters:
            raise UploadError(f"A cell of row {number} has more than {limits.cell_characters} characters.")
    others = tuple(name for name in book.sheet_names if name != own.name)
    note = f"Of {len(others) + 1} sheets {quoted(own.name)} was read." if others else ""
    return [row for row in numbered if any(row[1])], Guess("sheet", own.name, others, note)


def _check_expanded(what: str, expanded: int, limits: Limits) -> None:
    if expanded > limits.expanded_bytes:
        raise UploadError(
            f"The {what} would expand to {expanded / 1e6:.1f} MB; at most {limits.expanded_bytes / 1e6:g} MB are "
            "allowed."
        )


def _sheet(book, limits: Limits, choices: Mapping[str, str]):
    """The sheet to read."""
    names = [choices["sheet"]] if choices.get("sheet") in book.sheet_names else book.sheet_names
    for name in names:
        own = book.get_sheet_by_name(name)
        if own.width > 1:
            limits.check(1, own.width)
            return own
    raise UploadError("No sheet of the workbook has two columns; a target and something to predict it from are needed.")


def _text(cell) -> str:
    """A cell as it would stand in a CSV file."""
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


def parquet(data: bytes, limits: Limits) -> tuple[list[str], list[Cells | Column], int]:
    """The names and columns of a file, or of a random part of its rows that fits, and the number of all its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(data) < 12 or data[:4] != b"PAR1" or data[-4:] != b"PAR1":
        raise UploadError("The Parquet file is damaged or incomplete: it must begin and end with the letters PAR1.")
    sizes = {
        "thrift_string_size_limit": _METADATA_BYTES,
        "thrift_container_size_limit": _METADATA_BYTES // 8,
    }
    try:
        file = pq.ParquetFile(pa.BufferReader(data), **sizes)
        fields = _checked_fields(file, limits)
        n_stated, n_rows, parts = file.metadata.num_rows, 0, []
        most = min(limits.rows_that_fit(max(len(fields), 1)), n_stated)
        chosen = np.array(sorted(random.Random(0).sample(range(n_stated), most)), dtype=np.int64)
        for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
            inside = chosen[(chosen >= n_rows) & (chosen < n_rows + batch.num_rows)] - n_rows
            n_rows += batch.num_rows
            if n_rows > n_stated:
                raise UploadError("The Parquet file cannot be read: it has more rows than it states.")
            arrays = [_without_views(values).take(pa.array(inside)) for values in batch.columns]
            parts.append(pa.RecordBatch.from_arrays(arrays, [field.name for field in fields]))
        table = pa.Table.from_batches(parts) if parts else file.schema_arrow.empty_table()
        columns = [_column(field, column, limits) for field, column in zip(fields, table.columns, strict=True)]
    except (UploadError, MemoryError):
        raise
    except Exception:  # on damaged files PyArrow raises various types, RuntimeError among them
        raise UploadError("The Parquet file cannot be read: it is damaged or incomplete.") from None
    if not columns:
        raise UploadError("The Parquet file has no columns; at least two are needed.")
    _check_text(columns, limits)
    return [field.name for field in fields], columns, n_rows


def _checked_fields(file, limits: Limits):
    """The fields of the file, if its metadata are within the limits."""
    metadata, fields = file.metadata, list(file.schema_arrow)
    if len(fields) > limits.columns:
        raise UploadError(f"The table has {len(fields)} columns; at most {limits.columns} are allowed.")
    most = limits.expanded_bytes // _CELL_BYTES
    if metadata.num_rows * len(fields) > most:
        raise UploadError(
            f"{metadata.num_rows} rows of {len(fields)} columns are {metadata.num_rows * len(fields)} cells; a random "
            f"part can be read of at most {most}."
        )
    # Of row groups, not of columns: PyArrow crashes on the size of a column in some damaged metadata.
    n_groups = min(metadata.num_row_groups, limits.rows + 1)
    _check_expanded("Parquet file", sum(metadata.row_group(i).total_byte_size for i in range(n_groups)), limits)
    return fields


def _without_views(values):
    """An array of a type that rows can be taken of."""
    import pyarrow as pa

    views = pa.types.is_binary_view(values.type) or pa.types.is_string_view(values.type)
    return values.cast(pa.large_binary()) if views else values


def _column(field, values, limits: Limits) -> Cells | Column:
    """A column as numbers or dates, or as the cells of its texts."""
    import pyarrow as pa

    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    is_a = {name: getattr(pa.types, f"is_{name}")(kind) for name in _KINDS_READ}
    if not any(is_a.values()):
        raise UploadError(
            f"The column {quoted(field.name)} of the Parquet file has the type {quoted(str(field.type))}; only "
            "numbers, Booleans, text and dates can be read."
        )
    values = values.cast(kind) if pa.types.is_dictionary(field.type) else values
    if is_a["date"] or is_a["timestamp"]:
        micros = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return Column.of_numbers(field.name, _floats(micros) / 86400e6, "date")
    if any(is_a[name] for name in _KINDS_READ[:4]):
        return Column.of_numbers(field.name, _floats(values))
    try:
        texts = values.cast(pa.large_string()).to_pylist()
    except pa.ArrowInvalid:
        raise UploadError(
            f"The column {quoted(field.name)} of the Parquet file has bytes that are not UTF-8; only numbers, "
            "Booleans, text and dates can be read."
        ) from None
    longest = max((len(text) for text in texts if text), default=0)
    if longest > limits.cell_characters:
        raise UploadError(
            f"A cell of the column {quoted(field.name)} has {longest} characters; at most {limits.cell_characters} are "
            "allowed."
        )
    return Cells([text or "" for text in texts])


_KINDS_READ = (
    *("integer", "floating", "decimal", "null", "boolean", "date", "timestamp"),
    *("string", "large_string", "string_view", "binary", "large_binary", "binary_view"),
)


def _floats(values) -> np.ndarray:
    """Values as float64, NaN where missing."""
    import pyarrow as pa

    return np.array(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def _check_text(columns, limits: Limits) -> None:
    if sum(len(text) for one in columns if isinstance(one, Cells) for text in one.texts) > limits.expanded_bytes:
        raise UploadError("The text of the Parquet file is longer than allowed.")
