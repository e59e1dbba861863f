"""Readers of user-uploaded files, in the calling process: text, workbooks, ARFF, Parquet and svmlight.

The app calls `uploads` instead, which runs these readers in a child process. A file is refused in one sentence, an
`UploadError`, before it costs more than `Limits` allow. What must be guessed, such as an encoding, is reported in the
table's notes. Nothing is written, and no pickle is read.

Libraries of a format are imported when a file needs them, so that the child starts quickly. Text is split by the csv
module: unlike pandas it gives rows of any width with their lines, among which the body of the table is found.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from . import arff, binary, body
from .cells import MARKS, MISSING, ONLY_EMPTY, Cells, columns_of
from .table import Choices, Column, Guess, Limits, Table, UploadError, quoted, unique_names

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
_FIRST_CHARACTERS, _LONGEST_NUMBER = 1 << 16, 400
_JSON = re.compile(r"\{\s*+\"|\[\s*+[\[{]")
_QUERY = re.compile(r"^[^#\n]*\sqid:", re.MULTILINE)
_NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|[+-]?inf(?:inity)?|nan"
_LABEL, _PAIR = (re.compile(form, re.ASCII | re.IGNORECASE) for form in (_NUMBER, rf"(\d{{1,7}}):(?:{_NUMBER})"))


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
        names, columns, n_rows = binary.parquet(data, limits)
        return _assemble(columns, names, "Parquet", choices, limits, n_rows=n_rows)
    if isinstance(data, bytes) and binary.is_workbook(data):
        rows, guess = binary.sheet(data, limits, choices)
        form = f"sheet {quoted(guess.taken)} of a workbook"
        return _of_rows(rows, "", form, limits, choices, [guess])
    text, guesses = (data, []) if isinstance(data, str) else _decoded(data, choices)
    if "\0" in text:
        raise UploadError(f"The file has null bytes, so it is not text; {_READABLE}.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    _refuse_documents(text)
    if form == "svmlight" or (form in (None, "CSV") and _looks_like_svmlight(text)):
        return _svmlight(text, limits, choices)
    if form == "ARFF" or arff.is_arff(text):
        return _arff(text, limits, choices, guesses)
    separators = ("\t", "\t+") if form == "TSV" else tuple(body.SEPARATORS)
    rows, separator = body.rows_of(text, separators, limits, choices)
    others = tuple(one for one in body.SEPARATORS if one != separator)
    guesses = [*guesses, Guess("separator", separator, others)]
    kind = "TSV" if separator[0] == "\t" else "CSV"
    return _of_rows(
        rows, separator, f"{kind}, cells separated by {body.SEPARATORS[separator]}", limits, choices, guesses
    )


def _of_rows(rows: Sequence[body.Row], separator: str, form: str, limits: Limits, choices, guesses) -> Table:
    """The table of rows of cells, whose body is looked for."""
    found = body.find(rows, limits, choices)
    names = found.names or [f"column {place}" for place in range(1, len(found.rows[0]) + 1)]
    marks = frozenset({""}) if choices.get(MARKS) == ONLY_EMPTY else MISSING
    part = random_part(found.rows, limits.rows_that_fit(len(names)))
    cells = [Cells(column, marks) for column in zip(*part, strict=True)]
    return _assemble(cells, names, form, choices, limits, separator, [*guesses, *found.guesses], n_rows=len(found.rows))


def _assemble(
    cells: Sequence[Cells | Column], names, form: str, choices, limits: Limits, separator="", guesses=(), n_rows=0
) -> Table:
    """A table of columns or their cells, of which there may have been more rows; it has enough rows and values."""
    unique = unique_names(names)
    columns, own = columns_of(cells, unique, separator, choices)
    notes = [f"Several columns are named {quoted(name)}: they were numbered." for name in _twice(names)[:1]]
    n_read = len(columns[0].values)
    if n_read < n_rows:
        notes.append(
            f"Of {n_rows} rows a random part of {n_read} was read: at most {limits.rows} rows and {limits.cells} cells "
            "are allowed."
        )
    return _check_minimum(Table(tuple(columns), form, tuple(notes), guesses=(*guesses, *own)), limits)


def _twice(names: Sequence[str]) -> list[str]:
    """The names that occur twice."""
    stripped = [name.strip() for name in names]
    return [name for place, name in enumerate(stripped) if name and name in stripped[:place]]


def random_part(rows: Sequence[Any], most: int, seed: int = 0) -> Sequence[Any]:
    """All rows, or a random part of the most that fit, in their order."""
    if len(rows) <= most:
        return rows
    return [rows[place] for place in sorted(random.Random(seed).sample(range(len(rows)), most))]


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


def _decoded(data: bytes, choices: Choices) -> tuple[str, list[Guess]]:
    """Text, and what was guessed of its encoding."""
    for start, what in _FOREIGN.items():
        if data.startswith(start):
            raise UploadError(f"The file is {what}; {_READABLE}.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16"), []
        except UnicodeDecodeError:
            raise UploadError("The file begins like UTF-16 text but is not; save it as UTF-8.") from None
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        known = [one for one in ENCODINGS if _text(data, one) is not None]
        likely = _likely_encoding(data, known)
        if likely is None or b"\0" in data:
            raise UploadError(
                f"The text is neither UTF-8 nor in another encoding that can be read (byte {error.start + 1} is "
                f"{data[error.start]:#04x}); save it as UTF-8."
            ) from None
    taken = choices["encoding"] if choices.get("encoding") in known else likely
    note = f"The text is not UTF-8 and was read as {ENCODINGS[taken].partition(' (')[0]}: check its letters."
    others = tuple(one for one in known if one != taken)
    return data.decode(taken), [Guess("encoding", taken, others, note if taken == likely else "")]


def _likely_encoding(data: bytes, known: Sequence[str]) -> str | None:
    """The encoding that charset-normalizer finds, of several that give the same text the most frequent one."""
    if 2 * len(data.translate(None, bytes(range(128)))) > len(data):
        return None  # most bytes are no ASCII, so that it is no table
    try:
        from charset_normalizer import from_bytes
    except ModuleNotFoundError:  # the package alone does without
        return next(iter(known), None)
    best = from_bytes(data[: 1 << 18], cp_isolation=list(known)).best() if known else None
    if best is None:
        return next(iter(known), None)
    return next(one for one in known if one in {best.encoding, *best.could_be_from_charset})


# --- svmlight and ARFF ----------------------------------------------------------------------------------------------


def _looks_like_svmlight(text: str) -> bool:
    for line in text[:_FIRST_CHARACTERS].splitlines():
        parts = [part for part in line.partition("#")[0].split() if not part.startswith("qid:")]
        if parts:
            return len(parts) > 1 and bool(_LABEL.fullmatch(parts[0])) and all(map(_PAIR.fullmatch, parts[1:]))
    return False


def _svmlight(text: str, limits: Limits, choices: Choices) -> Table:
    """A table of lines that are checked first: scikit-learn's messages name no line."""
    from sklearn.datasets import load_svmlight_file

    lines = []
    for at, line in enumerate(io.StringIO(text), start=1):
        parts = [part for part in line.partition("#")[0].split() if not part.startswith("qid:")]
        if parts:
            _check_svmlight(at, parts, limits)
            lines.append(" ".join(_sorted_pairs(parts)))
    smallest = min((int(part.partition(":")[0]) for line in lines for part in line.split()[1:]), default=None)
    if smallest is None:
        raise UploadError("The file has no index:value pairs, which svmlight has after each label.")
    largest = max(int(part.partition(":")[0]) for line in lines for part in line.split()[1:])
    limits.check(1, largest + 1)
    places = range(min(smallest, 1), largest + 1)
    part = random_part(lines, limits.rows_that_fit(1 + len(places)))
    file = io.BytesIO("\n".join(part).encode())
    X, y = load_svmlight_file(file, n_features=largest + 1, zero_based=True)
    columns = [
        Column.of_numbers("label", y),
        *(Column.of_numbers(f"x{i}", x) for i, x in zip(places, X.toarray().T[places.start :], strict=True)),
    ]
    names = [column.name for column in columns]
    table = _assemble(columns, names, "svmlight", choices, limits, n_rows=len(lines))
    notes = ["The numbers of queries, qid, were left out."] if _QUERY.search(text) else []
    return replace(table, notes=(*notes, *table.notes), target="label")


def _sorted_pairs(parts: list[str]) -> list[str]:
    """The label, then the pairs in the order of their indices, which scikit-learn wants."""
    return [parts[0], *sorted(parts[1:], key=lambda part: int(part.partition(":")[0]))]


def _check_svmlight(at: int, parts: list[str], limits: Limits) -> None:
    """Raise an UploadError if the label or pairs of a line are none."""
    if not _LABEL.fullmatch(parts[0]) or len(parts[0]) > _LONGEST_NUMBER:
        raise UploadError(f"On line {at} the label is {quoted(parts[0])}; a number is needed.")
    seen = set()
    for part in parts[1:]:
        if not _PAIR.fullmatch(part) or len(part) > _LONGEST_NUMBER:
            raise UploadError(f"Line {at} has {quoted(part)} where svmlight has index:value.")
        index = int(part.partition(":")[0])
        if index > limits.columns:
            raise UploadError(f"Line {at} has the index {index}; indices from 0 to {limits.columns} are allowed.")
        if index in seen:
            raise UploadError(f"Line {at} has the index {index} twice; once is allowed.")
        seen.add(index)


def _arff(text: str, limits: Limits, choices: Choices, guesses: list[Guess]) -> Table:
    """A table of ARFF; columns whose values are listed are text, also where these are numbers."""
    attributes, rows = arff.read(text, limits)
    if not rows:
        raise UploadError("The ARFF file has no rows below @data; a line for each row is needed.")
    part = random_part(rows, limits.rows_that_fit(len(attributes)))
    cells = [Cells(column, frozenset({"?"})) for column in zip(*part, strict=True)]
    texts = {f"kind of column {place}": "text" for place, one in enumerate(attributes, 1) if one.is_text}
    table = _assemble(
        cells, [one.name for one in attributes], "ARFF", {**texts, **choices}, limits, "", guesses, len(rows)
    )
    only = [one for one in attributes if one.only]
    note = f"{quoted(only[0].name)} and the like: ? was read as not {quoted(only[0].only)}." if only else ""
    return replace(table, notes=(*table.notes, note)) if only and "?" in text else table
