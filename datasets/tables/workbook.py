"""Reader of Excel and OpenDocument workbooks: the cells of a sheet as texts, read on as those of a CSV file.

The file is compressed, so the sizes that it states are checked first; what these hide is bounded by the memory and time
of the child process. Formulas have the values that were saved.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from importlib import import_module
from itertools import chain, islice

from .layouts import Layout, title_lines
from .rows import assemble
from .table import NOT_BY_PANDAS, Choices, Guess, Limits, Table, UploadError, quoted

_OLD = b"\xd0\xcf\x11\xe0"
_PARTS = frozenset({"xl/workbook.xml", "xl/workbook.bin", "content.xml"})
"""Of these files in its archive a workbook has one"""
_TITLE_ROWS = 50
_DAMAGED = "The workbook cannot be read: it is damaged, incomplete or locked by a password."


def is_workbook(data: bytes) -> bool:
    """Whether a file is a workbook, by its first bytes and the files in its archive."""
    try:
        return data.startswith(_OLD) or (
            data.startswith(b"PK\x03\x04") and not _PARTS.isdisjoint(_archive(data).namelist())
        )
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def read(data: bytes, limits: Limits, choices: Choices) -> Table:
    """Read the sheet of a workbook that is chosen, else the first with two columns."""
    if not data.startswith(_OLD):
        _check_expanded(_archive(data), limits)
    try:
        calamine = import_module("python_calamine")
    except ModuleNotFoundError:
        raise UploadError(
            "Workbooks are read by python-calamine, which is not installed; save the sheet as CSV."
        ) from None
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheet = _sheet(book, limits, choices)
        rows = islice(sheet.iter_rows(), sheet.start[0], None)  # it begins above the first cell
        first = list(islice(rows, _TITLE_ROWS))
    except (UploadError, MemoryError):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise UploadError(_DAMAGED) from None
    layout = Layout("", title_lines(first), sheet.width)
    numbered = _numbered(chain(first, rows), layout.n_above, limits)
    table = assemble(numbered, layout, f"sheet {quoted(sheet.name)} of a workbook", limits, choices)
    others = tuple(other for other in book.sheet_names if other != sheet.name)
    note = f"Of {len(others) + 1} sheets {quoted(sheet.name)} was read." if others else ""
    guesses = (Guess("sheet", sheet.name, others, note), *table.guesses)
    return replace(table, guesses=guesses, by_pandas=NOT_BY_PANDAS)


def _archive(data: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(data))


def _check_expanded(archive: zipfile.ZipFile, limits: Limits) -> None:
    expanded = sum(part.file_size for part in archive.infolist())
    if expanded > limits.expanded_bytes:
        raise UploadError(
            f"The workbook would expand to {expanded / 1e6:.1f} MB; at most {limits.expanded_bytes / 1e6:g} MB are "
            "allowed."
        )


def _sheet(book, limits: Limits, choices: Choices):
    """The sheet to read."""
    names = [choices["sheet"]] if choices.get("sheet") in book.sheet_names else book.sheet_names
    for name in names:
        sheet = book.get_sheet_by_name(name)
        if sheet.width > 1:
            limits.check(1, sheet.width)
            return sheet
    raise UploadError("No sheet of the workbook has two columns; a target and something to predict it from are needed.")


def _numbered(rows: Iterable[list], n_above: int, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """Number and texts of the rows below a title that are not empty."""
    for number, row in enumerate(islice(rows, n_above, None), n_above + 1):
        cells = [_text(cell) for cell in row]
        if max(map(len, cells)) > limits.cell_characters:
            raise UploadError(f"A cell of row {number} has more than {limits.cell_characters} characters.")
        if any(cells):
            yield number, cells


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
