"""What the columns of a table are for: the target, the inputs, and columns left out, each for a reason."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from ..dataset import Task
from .table import Column, Limits, Table, quoted

_FEW_VALUES = 10  # a column of at most so many distinct whole numbers holds classes
_SURE_TARGETS = (
    *("target", "class", "classes", "label", "labels", "y", "outcome", "response", "diagnosis", "species", "survived"),
    *("quality", "churn"),
)
"""Names of targets, the surest first"""
_LIKELY_TARGETS = (
    *("attrition", "default", "vote", "winner", "grade", "type", "direction", "status", "result", "price", "medv"),
    *("mpg", "sales", "salary", "wage", "score", "yield", "tip", "purchase", "category", "group", "death", "dead"),
    "died",
)
_SURE_WORDS = frozenset({"target", "class", "label", "outcome", "diagnosis", "species", "survived", "churn", "risk"})
_MEASURES = frozenset({"value", "price", "cost", "rate"})
"""Words that mark long names, such as median_house_value, as targets"""
_IDS = frozenset({"id", "ids", "index", "idx", "key", "uid", "uuid", "rowid", "number", "no", "nr", "num", "code"})
_IDS |= {"rownames", "rowname", "row", "identifier", "obs"}
_TIMES = frozenset({"t", "time", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "step", "date"})
_GIVEN = _TIMES | _IDS | {"age", "sex", "gender", "race", "lat", "lon", "long", "latitude", "longitude", "x", "name"}
"""Words that mark inputs rather than targets"""
GROUPS = frozenset({"subject", "subjects", "patient", "person", "participant", "user", "customer", "id", "session"})
"""Words that mark columns whose values name a person with several rows"""
_WORDS = re.compile(r"[A-Z]?[a-z]++|[A-Z]++|\d++")
_COUNTS, _TELLS = "it counts the rows", "each of its values stands for one class of the target"
_SURE, _LIKELY = 20.0, 10.0  # scores of names


def words(name: str) -> set[str]:
    """Return the words of a name, also of one such as PassengerId, in lower case."""
    return {word.lower() for word in _WORDS.findall(name)}


def _is_whole(column: Column) -> bool:
    present = column.values[~column.missing]
    return column.kind == "number" and bool((present == np.rint(present)).all())


def target_task(column: Column) -> Task:
    """Return the likely task of a target: classification for text and for few whole numbers, else regression."""
    has_classes = column.kind == "text" or (_is_whole(column) and column.n_values <= _FEW_VALUES)
    return "classification" if has_classes else "regression"


def possible_groups(table: Table, target: str) -> list[str]:
    """Return columns that may say which rows belong together: several rows share a value, and values are several."""
    return [
        column.name
        for column in table.columns
        if column.name != target and 4 <= column.n_values <= len(column.values) / 2
    ]


# --- columns that are left out --------------------------------------------------------------------------------------


def suggest_columns(table: Table, target: str) -> tuple[str, ...]:
    """Return all columns except the target and the columns of `left_out`."""
    out = left_out(table, target)
    return tuple(name for name in table.names if name != target and name not in out)


def left_out(table: Table, target: str) -> dict[str, str]:
    """Return columns that say nothing about a target, or all, and why. If no other is left, some of them stay."""
    goal = table.column(target)
    inputs = [column for column in table.columns if column.name != target]
    reasons = {column.name: _why_out(table, column) or _why_told(column, goal) for column in inputs}
    if all(reasons.values()):
        return {name: reason for name, reason in reasons.items() if reason not in (_COUNTS, _TELLS)}
    return {name: reason for name, reason in reasons.items() if reason}


def notes_on_left_out(table: Table, target: str, chosen: Collection[str] = ()) -> list[str]:
    """Write a sentence for each reason why columns are left out. Chosen columns are not mentioned."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out(table, target).items():
        if name not in chosen:
            names.setdefault(reason, []).append(quoted(name))
    return [
        f"{own[0]} was left out: {reason}."
        if len(own) == 1
        else f"{', '.join(own[:3])}{f' and {len(own) - 3} more' * (len(own) > 3)} were left out, each because {reason}."
        for reason, own in names.items()
    ]


def _why_out(table: Table, column: Column) -> str:
    """Return why a column is left out whatever the target, or "". A first one without a name may hold row names."""
    is_unnamed = column is table.columns[0] and column.name == "column 1" and table.names[1] != "column 2"
    names_rows = is_unnamed and _is_whole(column) and column.n_values == len(column.values)
    return why_left_out(column) or "it has no name, and all its values differ" * names_rows


def why_left_out(column: Column) -> str:
    """Return why a column is left out whatever the target, or ""."""
    own = words(column.name)
    n_rows = len(column.values)
    if column.constant:
        return "it has the same value in every row" if column.n_values else "it has no value"
    if column.kind == "text":
        return "nearly all its texts differ" if 2 * column.n_values > n_rows else ""
    first = column.values[0]
    counts = column.kind == "number" and first in (0, 1) and np.array_equal(column.values, first + np.arange(n_rows))
    if counts and not own & _TIMES:
        return _COUNTS
    is_id = own & _IDS and "of" not in own and column.n_values > 0.9 * n_rows and _is_whole(column)
    return "nearly all its values differ, and its name is that of an id" if is_id else ""


def _why_told(column: Column, goal: Column) -> str:
    """Return a reason if the values of a column are the classes of a target by other names, else ""."""
    has_classes = goal.n_values <= _FEW_VALUES and column.n_values == goal.n_values > 1
    if not has_classes or "date" in (column.kind, goal.kind) or (column.missing != goal.missing).any():
        return ""
    pairs = np.stack([column.values, goal.values], axis=1)[~goal.missing]
    return _TELLS if len(np.unique(pairs, axis=0)) == goal.n_values else ""


# --- the target -----------------------------------------------------------------------------------------------------


def suggest_targets(table: Table) -> list[str]:
    """Return the three likeliest targets, best first: by name, then by kind, number of values and place."""
    if table.target is not None:
        return [table.target]
    seen = _Seen(table)
    scores = np.array([seen.score(place) for place in range(len(table.columns))])
    return [table.columns[place].name for place in np.argsort(-scores, kind="stable")[:3]]


class _Seen:
    """What the scores of all columns need, computed once."""

    def __init__(self, table: Table):
        self.table = table
        self.rest = [
            place
            for place, column in enumerate(table.columns)
            if column.kind not in ("date", "empty") and not _why_out(table, column)
        ]
        """Places of columns that may be the target"""
        columns = {place: table.columns[place] for place in self.rest}
        self.texts = [place for place, column in columns.items() if column.kind == "text"]
        self.measured = [
            place
            for place, column in columns.items()
            if column.kind == "number" and not words(column.name) & (_IDS | _TIMES)
            if column.n_values > _FEW_VALUES or not _is_whole(column)
        ]

    def score(self, place: int) -> float:
        """Return how likely a column is the target, as a score."""
        column = self.table.columns[place]
        if place not in self.rest:
            return -9.0
        if column.kind == "text" and column.n_values > Limits().classes:
            return -8.0
        by_place = self._by_place(place)
        if self.measured == [place]:
            by_place = max(by_place + 0.75, 2.25)  # the others may be factors of an experiment
        is_factor = len(self.measured) == 1 and place != self.rest[-1]
        by_name = self._by_name(place)
        if is_factor and by_name < _LIKELY:  # a type or a group
            by_name = 0.0
        is_first = place == self.rest[0]
        if is_first and 0 < by_name < _LIKELY and column.kind == "text" and self.table.names[0] != "rownames":
            by_place = 0.0  # a status or a type is as often an input
        elif is_first and self._is_alone(column):
            by_place += 1.0
        score = by_name + 0.5 * (column.n_values == 2 and not is_factor)
        return score + by_place - 3.0 * (bool(words(column.name) & _GIVEN) and score < _SURE)

    def _is_alone(self, column: Column) -> bool:
        """Return whether a column has the only texts of a table of numbers: few, each several times, like classes."""
        if column.kind != "text" or len(self.texts) > 1 or len(self.rest) < 4 or column.name == "column 1":
            return False
        counts = np.bincount(column.values[~column.missing])
        return bool(len(counts) <= Limits().classes and counts.min() > 1)

    def _by_name(self, place: int) -> float:
        """Score a name: the surer it is that of a target, the higher."""
        column = self.table.columns[place]
        name = column.name.strip().strip("'").lower()
        own = words(column.name)
        has_x = "x" in {other.lower() for other in self.table.names}
        if name == "y" and place != self.rest[-1] and (has_x or place != self.rest[0]):
            return 0.0  # a coordinate, or one of several with a letter
        if name in _SURE_TARGETS:
            return _SURE - _SURE_TARGETS.index(name) / 10
        if name in _LIKELY_TARGETS:
            return 6.0 - _LIKELY_TARGETS.index(name) / 100
        if own & _SURE_WORDS:
            return 4.0
        return 3.6 if len(own) > 2 and own & _MEASURES and column.kind == "number" else 0.0

    def _by_place(self, place: int) -> float:
        """Score a place: targets are often last, in ARFF by custom, or first in tables of R, whose rows have names."""
        if self.table.format == "ARFF" and place == len(self.table.columns) - 1:
            return 5.0
        if place == self.rest[-1]:
            return 2.0
        if place != self.rest[0]:
            return 0.0
        return 2.5 if len(self.rest) > 3 and self.table.names[0] == "rownames" else 1.5
