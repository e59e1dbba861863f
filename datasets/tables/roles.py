"""What the columns of a table are for: the target, the inputs, and columns left out, each for a reason."""

from __future__ import annotations

import re

import numpy as np

from ..dataset import Task
from .table import Column, Limits, Table, counts_rows, quoted

_FEW_VALUES = 10  # a column of at most so many distinct whole numbers holds classes
_TARGETS = (
    *("target", "class", "classes", "label", "labels", "y", "outcome", "diagnosis", "species", "survived", "quality"),
    *("response", "result", "churn", "attrition", "default", "income", "price", "medv"),
)
_IDS = frozenset({"id", "ids", "index", "idx", "key", "uid", "uuid", "rowid", "number", "no", "nr", "num", "code"})
_TIMES = frozenset({"t", "time", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "step", "age"})
_WORDS = re.compile(r"[A-Z]?[a-z]++|[A-Z]++|\d++")


def target_task(column: Column) -> Task:
    """The likely task of a target: classification for text and for few whole numbers, else regression."""
    if column.kind == "text":
        return "classification"
    return "classification" if _whole(column) and column.n_values <= _FEW_VALUES else "regression"


def suggest_target(table: Table) -> str:
    """The likely target: the one that the format defines, else the first of `suggest_targets`."""
    return suggest_targets(table)[0]


def suggest_targets(table: Table, most: int = 3) -> list[str]:
    """The likely targets, best first: by name, then by place and number of values."""
    if table.target is not None:
        return [table.target]
    scores = [(_target_score(table, place), -place, column.name) for place, column in enumerate(table.columns)]
    return [name for _, _, name in sorted(scores, reverse=True, key=lambda score: (score[0], -score[1]))[:most]]


def suggest_columns(table: Table, target: str) -> tuple[str, ...]:
    """All columns but the target and those of `left_out`."""
    out = left_out(table, target)
    return tuple(column.name for column in table.columns if column.name != target and column.name not in out)


def left_out(table: Table, target: str) -> dict[str, str]:
    """Columns that say nothing about a target, and why; one that counts the rows stays if no other is left."""
    inputs = [column for column in table.columns if column.name != target]
    reasons = {column.name: reason for column in inputs if (reason := _why_left_out(column))}
    if len(reasons) == len(inputs):
        return {name: reason for name, reason in reasons.items() if reason != _COUNTS}
    return reasons


def notes_on_left_out(table: Table, target: str) -> list[str]:
    """A sentence for each reason why columns are left out."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out(table, target).items():
        names.setdefault(reason, []).append(quoted(name))
    return [
        f"{', '.join(own[:3])}{f' and {len(own) - 3} more' if len(own) > 3 else ''} "
        f"{'was' if len(own) == 1 else 'were'} left out: {reason if len(own) == 1 else _OF_SEVERAL[reason]}."
        for reason, own in names.items()
    ]


_CONSTANT, _EMPTY = "it has the same value in every row", "it has no value"
_COUNTS, _DIFFER = "it counts the rows", "nearly all its texts differ"
_ID = "all its values differ, and its name is that of an id"
_OF_SEVERAL = {
    _CONSTANT: "each has the same value in every row",
    _EMPTY: "they have no value",
    _COUNTS: "they count the rows",
    _DIFFER: "nearly all their texts differ",
    _ID: "all their values differ, and their names are those of ids",
}


def _why_left_out(column: Column) -> str | None:
    if column.constant:
        return _CONSTANT if column.n_values else _EMPTY
    if column.kind == "text" and 2 * column.n_values > len(column.values):
        return _DIFFER
    if counts_rows(column) and not _words(column.name) & _TIMES:
        return _COUNTS
    return _ID if _numbered(column) else None


def _numbered(column: Column) -> bool:
    """Whether a column of distinct whole numbers has the name of an id."""
    return _whole(column) and column.n_values == len(column.values) and bool(_words(column.name) & _IDS)


def _whole(column: Column) -> bool:
    present = column.values[~column.missing]
    return column.kind == "number" and bool((present == np.rint(present)).all())


def _words(name: str) -> set[str]:
    """The words of a name, also of one such as PassengerId, in lower case."""
    return {word.lower() for word in _WORDS.findall(name)}


def _target_score(table: Table, place: int) -> float:
    """How likely a column is the target."""
    column, last = table.columns[place], len(table.columns) - 1
    if column.kind in ("empty", "date") or _why_left_out(column):
        return -2.0
    if column.kind == "text" and column.n_values > Limits().classes:
        return -1.0
    score = 2.0 if place == last else 1.0 if place == 0 and column.kind == "text" else 0.0
    if column.kind == "text":
        score += (column.n_values == 2) + _texts_of_its_own(table, column)
    return score + _name_score(table, place)


def _name_score(table: Table, place: int) -> float:
    name = table.columns[place].name.strip().lower()
    if name == "y" and "x" in {other.lower() for other in table.names} and place < len(table.columns) - 1:
        return 0.0  # a coordinate
    if name in _TARGETS:
        return 20.0 - _TARGETS.index(name) / 10
    return 6.0 if _words(table.columns[place].name) & set(_TARGETS[:-1]) - {"y"} else 0.0


def _texts_of_its_own(table: Table, column: Column) -> bool:
    """Whether no other column has one of the texts of a column, while others have the same."""
    others = [set(other.categories) for other in table.columns if other.kind == "text" and other is not column]
    own = set(column.categories)
    return len(others) > 1 and not any(own & other for other in others) and bool(others[0] & others[-1])
