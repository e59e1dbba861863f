"""What the columns of a table are for: the target, the inputs, and columns left out, each for a reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

import numpy as np

from ..dataset import Task
from .table import Column, Limits, Table, counts_rows, quoted

_FEW_VALUES = 10  # a column of at most so many distinct whole numbers holds classes
_TARGETS = (
    *("target", "class", "classes", "label", "labels", "y", "outcome", "response", "diagnosis", "species", "survived"),
    *("quality", "churn", "attrition", "default", "vote", "winner", "grade", "type", "direction", "status", "result"),
    *(
        "price",
        "medv",
        "mpg",
        "sales",
        "salary",
        "wage",
        "score",
        "yield",
        "tip",
        "purchase",
        "category",
        "group",
        "death",
        "dead",
        "died",
    ),
)
"""Names of targets, the surest first"""
_SURE_NAMES, _SURE_WORDS = (
    13,
    ("target", "class", "label", "outcome", "diagnosis", "species", "survived", "churn", "risk"),
)
_MEASURES = frozenset({"value", "price", "cost", "rate"})
"""Words of long names, such as median_house_value, of what is predicted"""
_IDS = frozenset({"id", "ids", "index", "idx", "key", "uid", "uuid", "rowid", "number", "no", "nr", "num", "code"})
_IDS |= {"rownames", "rowname", "row", "identifier", "obs"}
_TIMES = frozenset({"t", "time", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "step", "date"})
_GIVEN = _TIMES | _IDS | {"age", "sex", "gender", "race", "lat", "lon", "long", "latitude", "longitude", "x", "name"}
"""Words of what is given rather than predicted"""
GROUPS = frozenset({"subject", "subjects", "patient", "person", "participant", "user", "customer", "id", "session"})
"""Words of columns that name whom several rows are of"""
_WORDS = re.compile(r"[A-Z]?[a-z]++|[A-Z]++|\d++")


def target_task(column: Column) -> Task:
    """The likely task of a target: classification for text and for few whole numbers, else regression."""
    if column.kind == "text":
        return "classification"
    return "classification" if _whole(column) and column.n_values <= _FEW_VALUES else "regression"


def suggest_target(table: Table) -> str:
    """The likely target: the one that the format defines, else the first of `suggest_targets`."""
    return suggest_targets(table)[0]


def suggest_targets(table: Table) -> list[str]:
    """The three likeliest targets, best first: by name, then by kind, number of values and place."""
    if table.target is not None:
        return [table.target]
    seen = _Seen(table)
    scores = [_target_score(table, place, seen) for place in range(len(table.columns))]
    best = np.argsort(-np.array(scores), kind="stable")[:3]
    return [table.columns[place].name for place in best]


def suggest_columns(table: Table, target: str) -> tuple[str, ...]:
    """All columns but the target and those of `left_out`."""
    out = left_out(table, target)
    return tuple(column.name for column in table.columns if column.name != target and column.name not in out)


def left_out(table: Table, target: str) -> dict[str, str]:
    """Columns that say nothing about a target, or all, and why; if no other is left, some of them stay."""
    goal = table.column(target)
    inputs = [column for column in table.columns if column.name != target]
    reasons = {
        column.name: reason for column in inputs if (reason := _why_out(table, column) or _why_told(column, goal))
    }
    if len(reasons) == len(inputs):
        return {name: reason for name, reason in reasons.items() if reason not in (_COUNTS, _TELLS)}
    return reasons


def possible_groups(table: Table, target: str) -> list[str]:
    """Columns that may say which rows belong together: several rows have the same value, and there are several."""
    return [
        column.name
        for column in table.columns
        if column.name != target and 4 <= column.n_values <= len(column.values) / 2
    ]


def notes_on_left_out(table: Table, target: str, chosen: Collection[str] = ()) -> list[str]:
    """A sentence for each reason why columns are left out, but for those that were chosen all the same."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out(table, target).items():
        if name not in chosen:
            names.setdefault(reason, []).append(quoted(name))
    return [
        f"{', '.join(own[:3])}{f' and {len(own) - 3} more' if len(own) > 3 else ''} "
        f"{'was' if len(own) == 1 else 'were'} left out: {reason if len(own) == 1 else _OF_SEVERAL[reason]}."
        for reason, own in names.items()
    ]


_CONSTANT, _EMPTY = "it has the same value in every row", "it has no value"
_COUNTS, _DIFFER = "it counts the rows", "nearly all its texts differ"
_ID = "nearly all its values differ, and its name is that of an id"
_UNNAMED = "it has no name, and all its values differ"
_TELLS = "each of its values stands for one class of the target"
_OF_SEVERAL = {
    _CONSTANT: "each has the same value in every row",
    _EMPTY: "they have no value",
    _COUNTS: "they count the rows",
    _DIFFER: "nearly all their texts differ",
    _ID: "nearly all their values differ, and their names are those of ids",
    _TELLS: "each of their values stands for one class of the target",
}


def _why_out(table: Table, column: Column) -> str | None:
    """Why a column is left out whatever the target, or None; a first one without a name may hold names of rows."""
    unnamed = column is table.columns[0] and column.name == "column 1" and table.names[1] != "column 2"
    names_rows = unnamed and _whole(column) and column.n_values == len(column.values)
    return why_left_out(column) or (_UNNAMED if names_rows else None)


def why_left_out(column: Column) -> str | None:
    """Why a column is left out whatever the target, or None."""
    if column.constant:
        return _CONSTANT if column.n_values else _EMPTY
    if column.kind == "text" and 2 * column.n_values > len(column.values):
        return _DIFFER
    if counts_rows(column) and not words(column.name) & _TIMES:
        return _COUNTS
    return _ID if _numbered(column) else None


def _why_told(column: Column, goal: Column) -> str | None:
    """A reason if the values of a column are the classes of a target by other names."""
    classes = goal.n_values <= _FEW_VALUES and column.n_values == goal.n_values > 1 and goal.kind != "date"
    if not classes or column.kind == "date" or (column.missing != goal.missing).any():
        return None
    pairs = np.stack([column.values, goal.values], axis=1)[~goal.missing]
    return _TELLS if len(np.unique(pairs, axis=0)) == goal.n_values else None


def _numbered(column: Column) -> bool:
    """Whether a column of whole numbers, nearly all different, has the name of an id, unlike “number of days”."""
    named = words(column.name) & _IDS and "of" not in words(column.name)
    return _whole(column) and column.n_values > 0.9 * len(column.values) and bool(named)


def _whole(column: Column) -> bool:
    present = column.values[~column.missing]
    return column.kind == "number" and bool((present == np.rint(present)).all())


def words(name: str) -> set[str]:
    """The words of a name, also of one such as PassengerId, in lower case."""
    return {word.lower() for word in _WORDS.findall(name)}


class _Seen:
    """What the scores of all columns need, found once."""

    def __init__(self, table: Table):
        self.out = [bool(_why_out(table, column)) for column in table.columns]
        rest = [(place, column) for place, column in enumerate(table.columns) if not self.out[place]]
        self.usable = [place for place, column in rest if column.kind != "date"]
        self.measured = [
            place
            for place, column in rest
            if column.kind == "number" and not words(column.name) & (_IDS | _TIMES)
            if column.n_values > _FEW_VALUES or not _whole(column)
        ]
        texts = Counter(text for column in table.columns for text in column.categories)
        self.shared = {text for text, n in texts.items() if n > 1}


def _target_score(table: Table, place: int, seen: _Seen) -> float:
    """How likely a column is the target."""
    column = table.columns[place]
    if column.kind in ("empty", "date") or seen.out[place]:
        return -9.0
    if column.kind == "text" and column.n_values > Limits().classes:
        return -8.0
    by_place = _by_place(table, place, seen.usable)
    # The others may be factors of an experiment, or share their texts.
    if seen.measured == [place]:
        by_place = max(by_place + 0.75, 2.25)
    factor = len(seen.measured) == 1 and place != seen.usable[-1]
    own_texts = column.kind == "text" and bool(seen.shared) and seen.shared.isdisjoint(column.categories)
    by_name = _by_name(table, place, seen.usable)
    if factor and by_name < _LIKELY:  # a type or a group
        by_name = 0.0
    if place == seen.usable[0] and 0 < by_name < _LIKELY and column.kind == "text" and table.names[0] != "rownames":
        by_place = 0.0  # a status or a type is as often given
    elif _alone(table, place, seen):
        by_place += 1.0
    score = by_name + own_texts + 0.5 * (column.n_values == 2 and not factor)
    score -= 3.0 * (bool(words(column.name) & _GIVEN) and score < _SURE)
    return score + by_place


_SURE, _LIKELY = 20.0, 10.0


def _alone(table: Table, place: int, seen: _Seen) -> bool:
    """Whether a first column has the only texts of a table of numbers, few and each several times, as of classes."""
    column = table.columns[place]
    texts = [other for other in seen.usable if table.columns[other].kind == "text"]
    if texts != [place] or place != seen.usable[0] or len(seen.usable) < 4 or column.name == "column 1":
        return False
    counts = np.unique(column.values[~column.missing], return_counts=True)[1]
    return bool(len(counts) <= Limits().classes and counts.min() > 1)


def _by_name(table: Table, place: int, usable: list[int]) -> float:
    """The larger the surer a name is one of a target."""
    name = table.columns[place].name.strip().strip("'").lower()
    if name == "y" and place != usable[-1] and ("x" in {other.lower() for other in table.names} or place != usable[0]):
        return 0.0  # a coordinate, or one of several with a letter
    if name in _TARGETS:
        at = _TARGETS.index(name)
        return _SURE - at / 10 if at < _SURE_NAMES else 6.0 - at / 100
    own = words(table.columns[place].name)
    if name == "income" and table.columns[place].kind == "text":
        return 6.0
    if own & set(_SURE_WORDS):
        return 4.0
    return 3.6 if len(own) > 2 and own & _MEASURES and table.columns[place].kind == "number" else 0.0


def _by_place(table: Table, place: int, usable: list[int]) -> float:
    """The last column is often the target, in ARFF by custom; in tables of R, whose rows are named, the first one."""
    if table.format == "ARFF" and place == len(table.columns) - 1:
        return 5.0
    if place == usable[-1]:
        return 2.0
    if place != usable[0]:
        return 0.0
    return 2.5 if len(usable) > 3 and table.names[0] == "rownames" else 1.5
