"""Tables and pandas: the arguments with which pandas reads a file as the readers do, and a table of what it read.

Nothing here imports pandas, which the readers do without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .dates import ORDERS, WITHOUT_MARKS, days_of
from .layouts import Layout
from .numerals import PLAIN, Style
from .table import CellColumn, Column, Table, quoted, unique_names

Arguments = Mapping[str, Any]
Way = Style | str

_MARKS = frozenset(
    {*("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA")}
    | {*("NULL", "NaN", "None", "n/a", "nan", "null")}
)
"""What pandas takes for a missing value by itself"""
_THOUSANDS = ("", ",", ".", "'")
_LARGEST_INTEGER, _LONGEST_MARKS = 2.0**63, 2000


def kinds_of(table: Table) -> dict[str, str]:
    """Answers for `table_of`: columns of texts that look like dates and are none, and orders of dates."""
    kinds = {}
    for column in table.columns:
        if column.kind == "text" and days_of(column.categories) is not None:
            kinds[column.name] = "text"
    for guess in table.guesses:
        if guess.taken in ORDERS:
            kinds[table.names[int(guess.key.rpartition(" ")[2]) - 1]] = guess.taken
    return kinds


def table_of(frame, kinds: Mapping[str, str] = MappingProxyType({})) -> Table:
    """The table of a pandas data frame, of which columns of texts may hold dates but no numbers.

    By names of columns, `kinds` are "text", or the order of dates such as 3/4/2020, "month/day/year" or
    "day/month/year".
    """
    names = [str(label) for label in frame.columns]
    if len(set(names)) < len(names):
        names = unique_names(names)
    columns = []
    for name, label in zip(names, frame.columns, strict=True):
        values = frame[label].to_numpy()
        if values.dtype.kind in "fiu":
            columns.append(Column.of_numbers(name, values))
            continue
        if values.dtype.kind == "M":
            days = (values - np.datetime64(0, "D")) / np.timedelta64(1, "D")
            columns.append(Column.of_numbers(name, days, "date"))
            continue
        missing = frame[label].isna().to_numpy()
        cells = CellColumn(frozenset({""}))
        cells.extend(["" if gone else str(value) for value, gone in zip(values, missing, strict=True)])
        columns.append(cells.to_column(name, kinds.get(name, "text or date")))
    return Table(tuple(columns), "pandas")


def arguments(
    first: Sequence[str], layout: Layout, columns: Sequence[Column], cells: Sequence[CellColumn], ways: Sequence[Way]
) -> Arguments | str:
    """Arguments of `pandas.read_csv` for names and cells, or why there are none.

    The line of names as it stands in the file, `first`, is empty if there is none; `ways` say how the cells of each
    column are written, as for `CellColumn.to_column`.
    """
    marks = _number_marks(columns, cells, ways)
    if isinstance(marks, str):
        return marks
    missing = _missing(columns, cells)
    if len(str(missing)) > _LONGEST_MARKS:
        return "missing values are written in too many ways"
    names = [column.name for column in columns]
    dates = [name for name, way in zip(names, ways, strict=True) if way == "dates"]
    kinds = _kinds(columns, cells, marks.get("thousands", ""), marks.get("decimal", "."), dates)
    return _names(first, names, layout) | marks | kinds | missing


def _names(first: Sequence[str], names: list[str], layout: Layout) -> dict:
    """The names, where they are not those that pandas would take from the first line."""
    n_above = layout.n_above
    if list(first) == names:
        return {"skiprows": n_above} if n_above else {}
    return {"skiprows": n_above + bool(first), "header": None, "names": names}


def _number_marks(columns: Sequence[Column], cells: Sequence[CellColumn], ways: Sequence[Way]) -> dict | str:
    """The marks in the numbers of all columns, or why pandas cannot read them."""
    written = [
        (column.name, way, "".join(own.texts()))
        for column, own, way in zip(columns, cells, ways, strict=True)
        if column.kind == "number" and isinstance(way, Style)
    ]
    for name, way, _ in written:
        if way.sign:
            return f"pandas does not take {quoted(way.sign)} off the numbers of {quoted(name)}"
        if way.thousands not in _THOUSANDS:
            return f"pandas reads no blanks between the thousands of {quoted(name)}"
    thousands = {way.thousands for _, way, _ in written} - {""}
    decimals = {way.decimal for _, way, texts in written if way != PLAIN or "." in texts}
    mixed = len(thousands) > 1 or len(decimals) > 1 or bool(thousands & decimals)
    (thousand,) = thousands if len(thousands) == 1 else ("",)
    others = [name for name, way, texts in written if thousand and way.thousands != thousand and thousand in texts]
    if mixed or others or any("’" in texts for _, _, texts in written):
        return "the columns write their numbers in several ways, of which pandas reads one"
    options = {"decimal": ","} if decimals == {","} else {}
    return options | ({"thousands": thousand} if thousand else {})


def _kinds(columns, cells: Sequence[CellColumn], thousands: str, decimal: str, dates: list[str]) -> dict:
    """The kinds of columns that pandas would take for another: dates and texts like numbers, very large numbers."""
    kinds, parsed = {}, {"parse_dates": dates, "date_format": WITHOUT_MARKS} if dates else {}
    for column, own in zip(columns, cells, strict=True):
        if column.name in dates:
            continue
        if column.kind in ("text", "date"):
            if any(_like_a_value(text, thousands, decimal) for text in own.texts()):
                kinds[column.name] = "str"
        elif column.n_values and np.nanmax(np.abs(column.values)) >= _LARGEST_INTEGER:
            kinds[column.name] = "float64"
    return ({"dtype": kinds} if kinds else {}) | parsed


def _like_a_value(text: str, thousands: str, decimal: str) -> bool:
    """Whether pandas takes a text for a number or a truth value."""
    if text.lower() in ("true", "false"):
        return True
    try:
        float((text.replace(thousands, "") if thousands else text).replace(decimal, "."))
    except ValueError:
        return False
    return True


def _missing(columns: Sequence[Column], cells: Sequence[CellColumn]) -> dict:
    """The marks of missing values that pandas does not know, for each column where another has one as a value."""
    gone, there = [], set()
    for column, own in zip(columns, cells, strict=True):
        absent, present = own.split(column.missing)
        gone.append(absent)
        there |= present
    all_gone = set().union(*gone)
    if there & _MARKS:
        own_marks = {column.name: sorted(marks) for column, marks in zip(columns, gone, strict=True) if marks}
        return {"keep_default_na": False, "na_values": own_marks}
    further = all_gone - _MARKS
    if not further:
        return {}
    numbers = {number for text in further if (number := _number(text)) is not None}
    if numbers or there & further:
        own_marks = {
            column.name: sorted(marks - _MARKS) for column, marks in zip(columns, gone, strict=True) if marks - _MARKS
        }
        return {"na_values": own_marks}
    return {"na_values": sorted(further)}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
