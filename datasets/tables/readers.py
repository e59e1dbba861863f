"""Readers of user-uploaded files, in the calling process: text, workbooks, ARFF, Parquet and svmlight.

The app calls `uploads` instead, which runs these readers in a child process. A file is refused in one sentence, an
`UploadError`, before it costs more than `Limits` allow. What must be guessed, such as an encoding, is reported in the
table's notes. Nothing is written, and no pickle is read.

Libraries of a format are imported when a file needs them, so that the child starts quickly. The csv module
splits text: unlike pandas it gives rows of any width with their lines, and `body` picks the table from these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from . import body, formats
from .body import ONE_COLUMN, SEPARATORS
from .cells import MARKS, MISSING, ONLY_EMPTY, Cells, columns_of
from .formats import Found, random_part
from .table import Choices, Guess, Limits, Table, UploadError, counted, quoted, unique_names

FORMATS = ("CSV", "TSV", "Excel", "OpenDocument", "ARFF", "Parquet", "svmlight")
_READABLE = f"{', '.join(FORMATS[:-1])} and {FORMATS[-1]} can be read"
_BY_ENDING = {
    "csv": "CSV",
    **dict.fromkeys(("tsv", "tab"), "TSV"),
    **dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls"), "Excel"),
    "ods": "OpenDocument",
    "arff": "ARFF",
    **dict.fromkeys(("parquet", "pq"), "Parquet"),
    **dict.fromkeys(("svm", "svmlight", "libsvm"), "svmlight"),
}
ENDINGS = (*_BY_ENDING, "txt", "data")
"""Accepted file name endings; for the last two the content decides"""
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
    **{bytes([0x80, protocol]): "a Python pickle" for protocol in range(2, 6)},
}
ENCODINGS = {
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "mac_roman": "Mac Roman",
}
"""Encodings of text that is not Unicode; `choices` may name one"""
_FIRST_CHARACTERS = 1 << 16
_MARKUP = re.compile(r"\s*+<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_JSON = re.compile(r"\s*+(?:\{\s*+\"|\[\s*+[\[{])")


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
    found = _found(data, _BY_ENDING.get(name.rpartition(".")[2].lower(), ""), limits, choices)
    return _table(found, limits, choices)


def check_size(data: bytes | str, limits: Limits) -> None:
    """Raise an UploadError if a file or text has too many bytes."""
    size = len(data.encode("utf-8", "replace")) if isinstance(data, str) else len(data)
    if size > limits.bytes:
        raise UploadError(f"The file has {size / 1e6:.2f} MB; at most {limits.bytes / 1e6:g} MB are allowed.")


def _found(data: bytes | str, form: str, limits: Limits, choices: Choices) -> Found:
    """Read the texts of a table from a file. The content decides its format, or else the ending of its name."""
    if isinstance(data, bytes) and (data[:4] == b"PAR1" or form == "Parquet"):
        return formats.parquet(data, limits)
    if isinstance(data, bytes) and formats.is_workbook(data):
        rows, guess = formats.sheet(data, limits, choices)
        names, own, on_lines = body.find(rows, limits, choices)
        return Found(f"sheet {quoted(guess.taken)} of a workbook", names, own, len(own), [guess, *on_lines])
    text, guesses = (data, []) if isinstance(data, str) else _decoded(data, choices)
    if "\0" in text:
        raise UploadError(f"The file has null bytes, so it is not text; {_READABLE}.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if _MARKUP.match(text):
        raise UploadError(f"The file is a web page or XML; download the table that it shows: {_READABLE}.")
    if _JSON.match(text):
        raise UploadError(f"The file is JSON; save it as a table, such as CSV: {_READABLE}.")
    if form == "svmlight" or (form in ("", "CSV") and formats.looks_like_svmlight(text[:_FIRST_CHARACTERS])):
        return formats.svmlight(text, limits)
    if form == "ARFF" or formats.is_arff(text):
        return replace(formats.arff(text, limits), guesses=guesses)
    rows, separator = body.rows_of(text, ("\t", "\t+") if form == "TSV" else tuple(SEPARATORS), choices)
    note = "No sign separates the cells; they are split by position, so check the columns."
    others = tuple(one for one in SEPARATORS if one != separator)
    guesses.append(Guess("separator", separator, others, note if separator == "aligned" else ""))
    names, own, on_lines = body.find(rows, limits, choices)
    form = "TSV" if separator[0] == "\t" else "CSV"
    form = f"{form}, cells separated by {SEPARATORS[separator]}"
    return Found(form, names, own, len(own), [*guesses, *on_lines], separator)


def _table(found: Found, limits: Limits, choices: Choices) -> Table:
    """Make a table of texts, if they have enough rows, columns and values."""
    if len(found.names) < 2:
        raise UploadError(ONE_COLUMN)
    part = random_part(found.rows, limits.rows_that_fit(len(found.names)))
    if len(part) < limits.fewest_rows:
        raise UploadError(f"The table has {counted(len(part), 'row')}; at least {limits.fewest_rows} are needed.")
    body.check_cells(list(enumerate(part, 1)), limits)
    marks = frozenset({""}) if choices.get(MARKS) == ONLY_EMPTY else found.marks or MISSING
    cells = [Cells(column, marks) for column in zip(*part, strict=True)]
    names = unique_names(found.names)
    columns, own = columns_of(cells, names, found.separator, {**found.kinds, **choices})
    if all(column.kind == "empty" for column in columns):
        raise UploadError("Every cell of the table is missing; at least two columns with values are needed.")
    stripped = [name.strip() for name in found.names]
    twice = [name for place, name in enumerate(stripped) if name and name in stripped[:place]]
    notes = [*found.notes, *(f"Several columns are named {quoted(name)}: they were numbered." for name in twice[:1])]
    if len(part) < found.n_rows:
        notes.append(
            f"Of {found.n_rows} rows a random part of {len(part)} was read: at most {limits.rows} rows and "
            f"{limits.cells} cells are allowed."
        )
    return Table(tuple(columns), found.form, tuple(notes), found.target, (*found.guesses, *own))


# --- encodings ------------------------------------------------------------------------------------------------------


def _decoded(data: bytes, choices: Choices) -> tuple[str, list[Guess]]:
    """Decode text; return it with the guess of its encoding."""
    for start, what in _FOREIGN.items():
        if data.startswith(start):
            raise UploadError(f"The file is {what}; {_READABLE}.")
    is_utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if is_utf16 else "utf-8"), []
    except UnicodeDecodeError as error:
        known = [one for one in ENCODINGS if _can_be(data, one)]
        likely = None if is_utf16 or b"\0" in data else _likely_encoding(data, known)
        if likely is None:
            raise UploadError(
                f"The text is neither UTF-8 nor in another encoding that can be read (byte {error.start + 1} is "
                f"{data[error.start]:#04x}); save it as UTF-8."
            ) from None
    taken = choices["encoding"] if choices.get("encoding") in known else likely
    note = f"The text is not UTF-8 and was read as {ENCODINGS[taken].partition(' (')[0]}: check its letters."
    others = tuple(one for one in known if one != taken)
    return data.decode(taken), [Guess("encoding", taken, others, note if taken == likely else "")]


def _can_be(data: bytes, encoding: str) -> bool:
    try:
        return bool(data.decode(encoding))
    except UnicodeDecodeError:
        return False


def _likely_encoding(data: bytes, known: Sequence[str]) -> str | None:
    """Return the encoding that charset-normalizer detects; of those that are nearly as likely, the first of `known`."""
    if not known or 2 * len(data.translate(None, bytes(range(128)))) > len(data):
        return None  # most bytes are not ASCII, so it is no table
    try:
        from charset_normalizer import from_bytes
    except ModuleNotFoundError:  # the package alone does not install it
        return known[0]
    found = list(from_bytes(data[: 1 << 18], cp_isolation=list(known)))
    near = [one for one in found if one.chaos <= found[0].chaos + 0.02 and one.coherence >= found[0].coherence - 0.1]
    likely = {name for one in near for name in (one.encoding, *one.could_be_from_charset)} or known
    return next(one for one in known if one in likely)
