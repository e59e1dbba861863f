"""Turns a Parquet file of unknown origin into plain arrays, in a process of its own.

The file is compressed, its readers are large, and what it says of its own size need not be true: so its metadata is
looked at first, it is decoded in bounded pieces, and all of it happens in a child that may use little memory and time.
Run as a program, this file is that child; it imports nothing of ours. No pickle is read or written, and what pandas or
others have left in the metadata is not interpreted.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time

import numpy as np

SECONDS = 20
MEMORY_BYTES = 1_500_000_000  # of addresses, most of which the libraries take for themselves and never touch
_BATCH_ROWS = 4096
_METADATA_BYTES = 4_000_000


class Refused(ValueError):
    """One sentence on what is wrong; words of the file are the second argument's, at every {}."""

    def __init__(self, sentence: str, *words: str):
        super().__init__(sentence.format(*words))
        self.sentence, self.words = sentence, words


def read(data: bytes, limits) -> list[tuple[str, str, np.ndarray, list[str]]]:
    """Decode a file in a child process.

    Parameters
    ----------
    data : bytes
    limits : Limits

    Returns
    -------
    list of (name, kind, values, categories)
        As in `tables.Column`, with "number", "date" or "text" for a kind; infinite and missing numbers are as they are.

    Raises
    ------
    Refused
        If it is no such file, is too large, or holds what is neither a number, a date nor a text.
    """
    sizes = {name: getattr(limits, name) for name in ("rows", "columns", "cells", "expanded_bytes", "cell_characters")}
    # Isolated, and with an environment of nothing: neither variables nor files beside this one are looked at.
    command = [sys.executable, "-I", __file__]
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    try:
        child = subprocess.run(
            command,
            input=json.dumps(sizes).encode() + b"\n" + data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"The Parquet file took more than {SECONDS} seconds to read, the most allowed.") from None
    if child.returncode != 0 or not child.stdout:
        raise Refused("The Parquet file cannot be read: it is damaged, or needs more memory than is allowed.")
    answer = np.load(io.BytesIO(child.stdout), allow_pickle=False)
    said = json.loads(answer["said"].tobytes())
    if "refused" in said:
        raise Refused(said["refused"], *said["words"])
    return [(name, kind, answer[f"values{i}"], words) for i, (name, kind, words) in enumerate(said["columns"])]


def decode(data: bytes, sizes: dict) -> list[tuple[str, str, np.ndarray, list[str]]]:
    """What the child does; see `read`, of whose limits `sizes` are the ones that count here."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(
            pa.BufferReader(data),
            thrift_string_size_limit=_METADATA_BYTES,
            thrift_container_size_limit=_METADATA_BYTES // 8,
        )
        fields = _checked(file, sizes)
        budget = [sizes["expanded_bytes"]]
        columns = [_Decoded(field.name, budget) for field in fields]
        end, n_rows = time.monotonic() + SECONDS, 0
        for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
            n_rows += batch.num_rows
            if n_rows > sizes["rows"] or time.monotonic() > end:  # whatever the metadata said
                raise Refused(f"The table has more than {sizes['rows']} rows, the most allowed.")
            for column, values in zip(columns, batch.columns, strict=True):
                column.append(values, sizes["cell_characters"])
        return [column.finished() for column in columns]
    except Refused:
        raise
    except MemoryError:
        raise Refused("The Parquet file needs more memory than is allowed.") from None
    except Exception:  # of damaged files the library raises whatever its C++ does, RuntimeError among others
        raise Refused("The Parquet file cannot be read: it is damaged, or cut off.") from None


def _checked(file, sizes):
    """The fields of the file, if its metadata keeps to the limits."""
    import pyarrow as pa

    metadata, fields = file.metadata, list(file.schema_arrow)
    if len(fields) > sizes["columns"]:
        raise Refused(f"The table has {len(fields)} columns; at most {sizes['columns']} are allowed.")
    if metadata.num_rows > sizes["rows"]:
        raise Refused(f"The table has {metadata.num_rows} rows; at most {sizes['rows']} are allowed.")
    if metadata.num_rows * len(fields) > sizes["cells"]:
        raise Refused(
            f"{metadata.num_rows} rows of {len(fields)} columns are {metadata.num_rows * len(fields)} cells; at most "
            f"{sizes['cells']} are allowed."
        )
    # Asked for a column's own size, the library ends the process over some damaged metadata; what these hide is met
    # with the memory that the child may have.
    n_groups = min(metadata.num_row_groups, sizes["rows"] + 1)
    expanded = sum(metadata.row_group(i).total_byte_size for i in range(n_groups))
    if expanded > sizes["expanded_bytes"]:
        raise Refused(
            f"The Parquet file would expand to {expanded / 1e6:.1f} MB; at most "
            f"{sizes['expanded_bytes'] / 1e6:g} MB are allowed."
        )
    for field in fields:
        of = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if not any(is_a(of) for is_a in _readable(pa)):
            raise Refused(
                "The column {} of the Parquet file holds {}; only numbers, truth values, text and dates can be read.",
                field.name,
                str(field.type),
            )
    return fields


def _readable(pa):
    kinds = pa.types
    return (
        *(kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean, kinds.is_null),
        *(kinds.is_string, kinds.is_large_string, kinds.is_string_view, kinds.is_date, kinds.is_timestamp),
    )


class _Decoded:
    """A column, batch by batch; all columns share a budget of characters."""

    def __init__(self, name: str, budget: list[int]):
        self.name, self.budget, self.parts, self.known, self.kind = name, budget, [], {}, "number"

    def append(self, values, cell_characters: int) -> None:
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        kind = values.type
        if pa.types.is_boolean(kind) or pa.types.is_string(kind) or not _is_numeric(pa, kind):
            if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
                self.kind = "date"
                micros = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
                self.parts.append(_floats(pa, micros) / 86400e6)
                return
            self.kind = "text"
            self.parts.append(np.array([self._code(cell, cell_characters) for cell in values.to_pylist()], np.int32))
            return
        self.parts.append(_floats(pa, values))

    def _code(self, cell, cell_characters: int) -> int:
        if cell is None:
            return -1
        cell = str(cell).lower() if isinstance(cell, bool) else cell
        if len(cell) > cell_characters:
            raise Refused(
                f"A cell of the column {{}} has {len(cell)} characters; at most {cell_characters} are allowed.",
                self.name,
            )
        if cell not in self.known:
            self.known[cell] = len(self.known)
            self.budget[0] -= len(cell)
            if self.budget[0] < 0:
                raise Refused("The text of the Parquet file is longer than is allowed.")
        return self.known[cell]

    def finished(self):
        values = np.concatenate(self.parts) if self.parts else np.empty(0)
        return self.name, self.kind, values, list(self.known)


def _is_numeric(pa, kind) -> bool:
    kinds = pa.types
    return any(is_a(kind) for is_a in (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_null))


def _floats(pa, values) -> np.ndarray:
    """Float64, NaN where nothing is."""
    return np.array(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def _be_small() -> None:
    """Give up, rather than take the memory or the time of others; where the system knows such limits."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes no file


def _main() -> None:
    sizes, data = json.loads(sys.stdin.buffer.readline()), sys.stdin.buffer.read()
    _be_small()
    arrays = {}
    try:
        columns = decode(data, sizes)
        said = {"columns": [[name, kind, words] for name, kind, _, words in columns]}
        arrays = {f"values{i}": values for i, (_, _, values, _) in enumerate(columns)}
    except Refused as refusal:
        said = {"refused": refusal.sentence, "words": refusal.words}
    arrays["said"] = np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)
    answer = io.BytesIO()
    np.savez(answer, **arrays)
    sys.stdout.buffer.write(answer.getvalue())


if __name__ == "__main__":
    _main()
