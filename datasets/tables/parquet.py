"""Decoding of user-uploaded Parquet files into plain arrays.

The file is compressed and its metadata may lie about its size, so the metadata are checked first and the data are
decoded in bounded batches, of which chosen rows are kept. If memory runs out, or PyArrow crashes on a damaged file,
`uploads` handles it: it reads all files in a child process. Metadata of pandas and other libraries are ignored.
"""

from __future__ import annotations

import random

import numpy as np

from .table import Kind, Limits, UploadError, quoted

_BATCH_ROWS = 4096
_METADATA_BYTES = 4_000_000
_CELL_BYTES = 8

Decoded = tuple[str, Kind, np.ndarray, list[str]]
"""Name, kind, values and categories of a column, as in `table.Column`, with infinite numbers kept"""


def decode(data: bytes, limits: Limits) -> tuple[list[Decoded], int]:
    """Decode a file, or a random part of its rows that fits: the columns, and the number of rows in the file.

    An UploadError says that it is not a Parquet file, is too large, or has values other than numbers, dates and text.
    There may be no memory for it, a MemoryError.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(
            pa.BufferReader(data),
            thrift_string_size_limit=_METADATA_BYTES,
            thrift_container_size_limit=_METADATA_BYTES // 8,
        )
        fields = _checked_fields(file, limits)
        budget = [limits.expanded_bytes]
        columns = [_ColumnBuilder(field.name, budget) for field in fields]
        n_rows, n_stated = 0, file.metadata.num_rows
        most = min(limits.rows_that_fit(max(len(fields), 1)), n_stated)
        chosen = np.array(sorted(random.Random(0).sample(range(n_stated), most)), dtype=np.int64)
        for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
            inside = chosen[(chosen >= n_rows) & (chosen < n_rows + batch.num_rows)] - n_rows
            n_rows += batch.num_rows
            if n_rows > n_stated:
                raise UploadError("The Parquet file cannot be read: it has more rows than it states.")
            for column, values in zip(columns, batch.columns, strict=True):
                column.append(values, inside, limits.cell_characters)
        return [column.decoded() for column in columns], n_rows
    except (UploadError, MemoryError):
        raise
    except Exception:  # on damaged files PyArrow raises various types, RuntimeError among them
        raise UploadError("The Parquet file cannot be read: it is damaged or incomplete.") from None


def _checked_fields(file, limits):
    """The fields of the file, if its metadata are within the limits."""
    import pyarrow as pa

    metadata, fields = file.metadata, list(file.schema_arrow)
    if len(fields) > limits.columns:
        raise UploadError(f"The table has {len(fields)} columns; at most {limits.columns} are allowed.")
    most = limits.expanded_bytes // _CELL_BYTES
    if metadata.num_rows * len(fields) > most:
        raise UploadError(
            f"{metadata.num_rows} rows of {len(fields)} columns are {metadata.num_rows * len(fields)} cells; a random "
            f"part can be read of at most {most}."
        )
    # Of row groups, not of columns: PyArrow crashes on the size of a column in some damaged metadata. Sizes that these
    # hide are bounded by the memory of the child.
    n_groups = min(metadata.num_row_groups, limits.rows + 1)
    expanded = sum(metadata.row_group(i).total_byte_size for i in range(n_groups))
    if expanded > limits.expanded_bytes:
        raise UploadError(
            f"The Parquet file would expand to {expanded / 1e6:.1f} MB; at most "
            f"{limits.expanded_bytes / 1e6:g} MB are allowed."
        )
    for field in fields:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if not any(is_a(kind) for is_a in _readable(pa)):
            raise UploadError(
                f"The column {quoted(field.name)} of the Parquet file has the type {quoted(str(field.type))}; only "
                "numbers, Booleans, text and dates can be read."
            )
    return fields


def _readable(pa):
    kinds = pa.types
    return (
        *(kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean, kinds.is_null),
        *(kinds.is_string, kinds.is_large_string, kinds.is_string_view, kinds.is_date, kinds.is_timestamp),
        *_binary(pa),
    )


def _binary(pa):
    """Types of bytes, which some writers use for text."""
    return pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view


class _ColumnBuilder:
    """A column, built batch by batch; all columns share a budget of characters."""

    def __init__(self, name: str, budget: list[int]):
        self.name, self.budget = name, budget
        self.kind: Kind = "number"
        self.parts: list[np.ndarray] = []
        self.known: dict[str, int] = {}

    def append(self, values, rows: np.ndarray, cell_characters: int) -> None:
        """Add some rows of a batch."""
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if any(is_a(values.type) for is_a in _binary(pa)):
            values = self._decoded_text(values)
        values = values.take(pa.array(rows)) if len(rows) < len(values) else values
        kind = values.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            self.kind = "date"
            micros = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
            self.parts.append(_floats(pa, micros) / 86400e6)
        elif _is_numeric(pa, kind):
            self.parts.append(_floats(pa, values))
        else:
            self.kind = "text"
            self.parts.append(np.array([self._code(cell, cell_characters) for cell in values.to_pylist()], np.int32))

    def _decoded_text(self, values):
        import pyarrow as pa

        try:
            return values.cast(pa.large_string())
        except pa.ArrowInvalid:
            raise UploadError(
                f"The column {quoted(self.name)} of the Parquet file has bytes that are not UTF-8; only numbers, "
                "Booleans, text and dates can be read."
            ) from None

    def _code(self, cell, cell_characters: int) -> int:
        if cell is None:
            return -1
        cell = str(cell).lower() if isinstance(cell, bool) else cell
        if len(cell) > cell_characters:
            raise UploadError(
                f"A cell of the column {quoted(self.name)} has {len(cell)} characters; at most {cell_characters} are "
                "allowed."
            )
        if cell not in self.known:
            self.known[cell] = len(self.known)
            self.budget[0] -= len(cell)
            if self.budget[0] < 0:
                raise UploadError("The text of the Parquet file is longer than allowed.")
        return self.known[cell]

    def decoded(self) -> Decoded:
        values = np.concatenate(self.parts) if self.parts else np.empty(0)
        return self.name, self.kind, values, list(self.known)


def _is_numeric(pa, kind) -> bool:
    kinds = pa.types
    return any(is_a(kind) for is_a in (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_null))


def _floats(pa, values) -> np.ndarray:
    """Values as float64, NaN where missing."""
    return np.array(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
