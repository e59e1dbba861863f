"""A table, or why there is none, as bytes that pass from the process that reads files to the one that asked.

They are plain arrays and JSON: no pickle is written or loaded.
"""

from __future__ import annotations

import io
import json

import numpy as np

from datasets.tables import Column, Table, UploadError


class ReaderError(RuntimeError):
    """A fault of a reader, not of the file: its type and where it came up, in no words of the file."""


def packed(table: Table) -> bytes:
    """A table as bytes; all columns of one type are one array, and so are the categories of all columns."""
    numbers = [column.values for column in table.columns if column.kind != "text"]
    codes = [column.values for column in table.columns if column.kind == "text"]
    # Lone surrogates, which a text in memory may have, stay as they are.
    words = [word.encode("utf-8", "surrogatepass") for column in table.columns for word in column.categories]
    said = {
        "columns": [[column.name, column.kind, len(column.categories), column.note] for column in table.columns],
        "format": table.format,
        "notes": table.notes,
        "target": table.target,
    }
    return _archive(
        said,
        numbers=np.array(numbers, dtype=np.float64),
        codes=np.array(codes, dtype=np.int32),
        words=np.frombuffer(b"".join(words), dtype=np.uint8),
        ends=np.cumsum([len(word) for word in words], dtype=np.int64),
    )


def packed_refusal(sentence: str) -> bytes:
    """What is wrong with the file, as bytes."""
    return _archive({"refused": sentence})


def packed_fault(place: str) -> bytes:
    """What is wrong with a reader, as bytes."""
    return _archive({"fault": place})


def unpacked(answer: bytes) -> Table:
    """The table of these bytes.

    Raises
    ------
    UploadError
        If they are a refusal.
    ReaderError
        If they are a fault, or not what `packed` makes.
    """
    try:
        arrays = np.load(io.BytesIO(answer), allow_pickle=False)
        said = json.loads(arrays["said"].tobytes())
        if "columns" in said:
            return _table(said, arrays)
    except Exception as error:
        raise ReaderError(f"the answer cannot be unpacked ({type(error).__name__})") from None
    if "refused" in said:
        raise UploadError(said["refused"])
    raise ReaderError(said["fault"])


def _archive(said: dict, **arrays: np.ndarray) -> bytes:
    archive = io.BytesIO()
    np.savez(archive, said=np.frombuffer(json.dumps(said).encode(), dtype=np.uint8), **arrays)
    return archive.getvalue()


def _table(said: dict, arrays) -> Table:
    numbers, codes = iter(arrays["numbers"]), iter(arrays["codes"])
    blob, ends = arrays["words"].tobytes(), arrays["ends"].tolist()
    # One by one, so that other threads have their turn between any two.
    words = (str(blob[a:b], "utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False))
    columns = []
    for name, kind, n_words, note in said["columns"]:
        categories = tuple(next(words) for _ in range(n_words))
        columns.append(Column(name, kind, next(codes if kind == "text" else numbers), categories, note))
    return Table(tuple(columns), said["format"], tuple(said["notes"]), said["target"])
