"""Encoding of a table, or of the reason why there is none, as bytes from the child process to its parent.

The bytes hold plain arrays and JSON; no pickle is written or loaded.
"""

from __future__ import annotations

import io
import json

import numpy as np

from .table import Column, Guess, Table, UploadError


class ReaderError(RuntimeError):
    """An error of a reader, not of the file: its type and place, with no text of the file."""


def encode_table(table: Table) -> bytes:
    """A table as bytes; one array holds all columns of a type, one the categories of all columns."""
    numbers = [column.values for column in table.columns if column.kind != "text"]
    codes = [column.values for column in table.columns if column.kind == "text"]
    # surrogatepass: a text in memory may have lone surrogates.
    words = [word.encode("utf-8", "surrogatepass") for column in table.columns for word in column.categories]
    content = {
        "columns": [[column.name, column.kind, len(column.categories), column.note] for column in table.columns],
        "format": table.format,
        "notes": table.notes,
        "target": table.target,
        "guesses": [[guess.key, guess.taken, guess.others, guess.note] for guess in table.guesses],
    }
    archive = io.BytesIO()
    np.savez(
        archive,
        content=_json_array(content),
        numbers=np.array(numbers, dtype=np.float64),
        codes=np.array(codes, dtype=np.int32),
        words=np.frombuffer(b"".join(words), dtype=np.uint8),
        ends=np.cumsum([len(word) for word in words], dtype=np.int64),
    )
    return archive.getvalue()


def encode_refusal(sentence: str) -> bytes:
    """The message of an `UploadError` as bytes."""
    return _message({"refusal": sentence})


def encode_reader_error(place: str) -> bytes:
    """The message of a `ReaderError` as bytes."""
    return _message({"reader_error": place})


def decode(reply: bytes) -> Table:
    """The table that the bytes encode.

    Raises
    ------
    UploadError
        If they encode one.
    ReaderError
        If they encode one, or cannot be decoded.
    """
    try:
        arrays = np.load(io.BytesIO(reply), allow_pickle=False)
        content = json.loads(arrays["content"].tobytes())
        if "columns" in content:
            return _table(content, arrays)
    except Exception as error:
        raise ReaderError(f"the reply cannot be decoded ({type(error).__name__})") from None
    if "refusal" in content:
        raise UploadError(content["refusal"])
    raise ReaderError(content["reader_error"])


def _message(content: dict[str, str]) -> bytes:
    archive = io.BytesIO()
    np.savez(archive, content=_json_array(content))
    return archive.getvalue()


def _json_array(content: dict) -> np.ndarray:
    return np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)


def _table(content: dict, arrays) -> Table:
    numbers = iter(arrays["numbers"])
    codes = iter(arrays["codes"])
    blob = arrays["words"].tobytes()
    ends = arrays["ends"].tolist()
    # One by one, so that other threads can run in between.
    words = (str(blob[a:b], "utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False))
    columns = []
    for name, kind, n_words, note in content["columns"]:
        categories = tuple(next(words) for _ in range(n_words))
        columns.append(Column(name, kind, next(codes if kind == "text" else numbers), categories, note))
    guesses = tuple(Guess(key, taken, tuple(others), note) for key, taken, others, note in content["guesses"])
    notes = tuple(content["notes"])
    return Table(tuple(columns), content["format"], notes, content["target"], guesses)
