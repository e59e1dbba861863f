"""Preparation of a user-uploaded table as a learning problem: a target, and finite numbers in all columns.

Text is one-hot encoded, up to a limit; missing values are filled, or their rows dropped. Experiments that
need two classes, two columns or two halves make them from the problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..dataset import Dataset, Task
from .roles import target_task
from .table import Column, Limits, Table, UploadError, counted, printable, quoted

SCALINGS = ("standard", "range", "none")
"""Each column to mean 0 and variance 1, to [0, 1], or unchanged"""
IMPUTATIONS = ("fill", "drop")
"""A missing value becomes the median of its column, or the most frequent text; or its row is dropped"""
YOUR_DATA = "your data"
_FEWEST_GROUPS = 4
_FLAT = "has the same value in every row"


def prepare(
    table: Table,
    target: str,
    columns: Sequence[str],
    scaling: str = "standard",
    imputation: str = "fill",
    task: Task | None = None,
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    groups: str | None = None,
) -> Dataset:
    """Turn a table into a learning problem: predict `target` from `columns`. Rows without a target are dropped.

    Parameters
    ----------
    scaling, imputation : str
        See `SCALINGS` and `IMPUTATIONS`; one-hot columns stay 0 and 1 unless the scaling is "standard".
    task : {"classification", "regression"}, optional
        By default `target_task`.
    groups : str, optional
        Name of a column whose equal values mark rows that belong together, such as those of a person.

    Returns
    -------
    Dataset
        Float64 and finite; labels -1 and 1 for two classes, 0, 1, ... for more. The description lists what was left
        out, with text of the file between “ and ”.

    Raises
    ------
    UploadError
        If a name or choice is unknown, or too little is left to learn from.
    """
    goal = table.column(target)
    inputs = [table.column(name) for name in dict.fromkeys(columns)]
    task = target_task(goal) if task is None else task
    allowed = {"scaling": SCALINGS, "imputation": IMPUTATIONS, "task": ("classification", "regression")}
    for (name, answers), value in zip(allowed.items(), (scaling, imputation, task), strict=True):
        if value not in answers:
            raise UploadError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, answers))}.")
    _check_columns(goal, inputs)
    kept, notes = _kept_rows(goal, inputs, imputation, limits)
    y, labels = _classes(goal, kept, limits) if task == "classification" else (_target_numbers(goal, kept), {})
    X, names = _matrix(inputs, kept, scaling, limits, notes)
    codes = None if groups is None else _groups(table.column(groups), [goal, *inputs], kept, notes)
    return Dataset(
        name=YOUR_DATA,
        X=X,
        y=y,
        task=task,
        feature_names=tuple(names),
        source="uploaded by you, kept for this session",
        licence="yours",
        title="Your data",
        description=" ".join(notes),
        label_names=labels,
        groups=codes,
    )


# --- what experiments make of it ------------------------------------------------------------------------------------


def two_classes(dataset: Dataset, label: int | None = None) -> Dataset:
    """Make a problem two-class: the class `label` against all others, or above the median against the rest.

    Labels are -1 and 1. If there is no such class, or one side would be empty, an UploadError is raised.
    """
    if dataset.task == "regression":
        median = _median(dataset.y)
        positive = dataset.y > median
        if not positive.any():  # the median is the largest value
            positive = dataset.y >= median
        names = {1: f"above the median, {median:.6g}", -1: "the others"}
    else:
        if label is None or label not in dataset.label_names:
            raise UploadError(f"There is no class {label!r}; there are {len(dataset.label_names)}.")
        positive = dataset.y == label
        others = [name for other, name in dataset.label_names.items() if other != label]
        names = {1: dataset.label_names[label], -1: others[0] if len(others) == 1 else "the others"}
    if positive.all() or not positive.any():
        raise UploadError("All rows would be of one class; two are needed.")
    return replace(dataset, y=np.where(positive, 1, -1).astype(np.int64), task="classification", label_names=names)


def plane(dataset: Dataset, columns: tuple[int, int] | None = None) -> Dataset:
    """Make a problem two-dimensional; each coordinate has mean 0 and variance 1.

    The coordinates are two columns of X, by default the first two principal components. If there is only one column, or
    the two are the same, an UploadError is raised.
    """
    if dataset.n_features < 2:
        raise UploadError("There is one column to predict from; a map needs two, so choose one more.")
    if columns is None:
        centred = dataset.X - dataset.X.mean(axis=0)
        axes = np.linalg.eigh(centred.T @ centred)[1][:, :-3:-1]
        # The sign of a component is arbitrary: make its largest entry positive.
        X = centred @ (axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]]))
        names = ("first principal component", "second principal component")
    else:
        if columns[0] == columns[1]:
            raise UploadError("Both coordinates are the same column; a map needs two.")
        X = dataset.X[:, list(columns)]
        names = tuple(dataset.feature_names[j] for j in columns)
    return replace(dataset, X=np.ascontiguousarray(np.stack([_standard(x) for x in X.T], axis=1)), feature_names=names)


def one_of_each_group(dataset: Dataset, random_state: int) -> Dataset:
    """Draw one row of each group, in their order: independent rows if the groups are. Without groups, return all."""
    if dataset.groups is None:
        return dataset
    order = np.random.default_rng((random_state, 2)).permutation(dataset.n_samples)
    _, first = np.unique(dataset.groups[order], return_index=True)
    return replace(_part(dataset, order[first]), groups=None)


def halves(dataset: Dataset, at_most: int, random_state: int) -> tuple[Dataset, Dataset]:
    """Split rows at random into two halves of at most `at_most` rows each. The rows of a group stay together.

    Rows keep their order. The second half has one more row if their number is odd. With groups, the first half has the
    number of rows nearest to half.
    """
    if dataset.groups is None:
        rows = _some(np.arange(dataset.n_samples), 2 * at_most, random_state)
        rows = rows[np.random.default_rng((random_state, 1)).permutation(len(rows))]
        n = min(at_most, len(rows) // 2)
        return _part(dataset, rows[:n]), _part(dataset, rows[n:])
    order = np.random.default_rng((random_state, 1)).permutation(dataset.groups.max() + 1)
    n_rows = np.cumsum(np.bincount(dataset.groups)[order])
    n_first = 1 + np.argmin(np.abs(n_rows[:-1] - dataset.n_samples / 2))
    is_first = np.isin(dataset.groups, order[:n_first])
    first, second = (_some(np.flatnonzero(half), at_most, random_state) for half in (is_first, ~is_first))
    return _part(dataset, first), _part(dataset, second)


def _some(rows: np.ndarray, at_most: int, random_state: int) -> np.ndarray:
    """Draw at most `at_most` rows, in their order."""
    if len(rows) <= at_most:
        return rows
    return rows[np.sort(np.random.default_rng(random_state).permutation(len(rows))[:at_most])]


def _part(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Return some rows of a data set, in their order."""
    rows = np.sort(rows)
    groups = None if dataset.groups is None else dataset.groups[rows]
    return replace(dataset, X=dataset.X[rows], y=dataset.y[rows], groups=groups)


# --- rows and target ------------------------------------------------------------------------------------------------


def _check_columns(goal: Column, inputs: list[Column]) -> None:
    """Raise an UploadError if there is no target or input, or one of them has no value."""
    if not inputs:
        raise UploadError("No column is chosen; at least one is needed to predict the target from.")
    if goal in inputs:
        raise UploadError(f"The target {quoted(goal.name)} is among the columns to predict it from.")
    for what, column in (("target", goal), *(("column", column) for column in inputs)):
        if column.kind == "empty":
            raise UploadError(f"The {what} {quoted(column.name)} has no value; choose another column.")


def _kept_rows(goal: Column, inputs: list[Column], imputation: str, limits: Limits) -> tuple[np.ndarray, list[str]]:
    """Return a mask of the rows to learn from, and notes on the others."""
    kept = ~goal.missing
    notes = [] if kept.all() else [f"{goal.n_missing} rows without a target were dropped."]
    if imputation == "drop":
        n_before = kept.sum()
        kept = kept & ~np.any([column.missing for column in inputs], axis=0)
        notes += [f"{n_before - kept.sum()} rows with missing values were dropped."] if kept.sum() < n_before else []
    n_rows = kept.sum()
    if n_rows < limits.fewest_rows:
        raise UploadError(
            f"{n_rows} of {len(kept)} rows are left after dropping missing values; at least {limits.fewest_rows} are "
            "needed."
        )
    n_columns = sum(_n_features(column, kept, limits) for column in inputs)
    most = limits.cells // max(n_columns, 1)
    if n_rows <= most:
        return kept, notes
    if most < limits.fewest_rows:
        raise UploadError(
            f"{n_rows} rows of {n_columns} columns exceed {limits.cells} cells, the most allowed: choose fewer columns."
        )
    part = np.zeros(len(kept), dtype=bool)
    part[_some(np.flatnonzero(kept), most, 0)] = True
    note = f"Of {n_rows} rows a random part of {most} was kept: at most {limits.cells} cells are allowed, of "
    return part, [*notes, f"{note}{n_columns} columns."]


def _n_features(column: Column, kept: np.ndarray, limits: Limits) -> int:
    """Return how many columns of numbers a column becomes."""
    if column.kind != "text":
        return 1
    n = len(np.unique(column.values[kept & ~column.missing]))
    return min(n, limits.categories) if n > 2 else max(n - 1, 0)


def _classes(goal: Column, kept: np.ndarray, limits: Limits) -> tuple[np.ndarray, dict[int, str]]:
    """Return the labels of the rows, and the names of labels: texts in alphabetical, numbers in ascending order."""
    values, rows, codes = np.unique(goal.values[kept], return_index=True, return_inverse=True)
    if len(values) > limits.classes:
        raise UploadError(
            f"The target {quoted(goal.name)} has {len(values)} different values; at most {limits.classes} classes are "
            "allowed."
        )
    if len(values) < 2:
        raise UploadError(f"The target {quoted(goal.name)} has only one class in the remaining rows; two are needed.")
    shown = [goal.shown(row) for row in np.flatnonzero(kept)[rows]]
    order = np.argsort(shown, kind="stable") if goal.kind == "text" else np.arange(len(values))
    labels = np.array((-1, 1) if len(values) == 2 else range(len(values)), dtype=np.int64)
    return labels[np.argsort(order)[codes]], dict(zip(labels.tolist(), (shown[at] for at in order), strict=True))


def _target_numbers(goal: Column, kept: np.ndarray) -> np.ndarray:
    if goal.kind == "text":
        raise UploadError(
            f"The target {quoted(goal.name)} is text; predict its classes, or choose a column of numbers."
        )
    y = np.array(goal.values[kept])
    if (y == y[0]).all():
        raise UploadError(f"The target {quoted(goal.name)} has the same value in every remaining row; choose another.")
    return y


def _groups(column: Column, others: list[Column], kept: np.ndarray, notes: list[str]) -> np.ndarray:
    """Group the rows by the values of a column; rows without a value are one group."""
    if column in others:
        raise UploadError(
            f"The column {quoted(column.name)} says which rows belong together, so it is neither target nor input."
        )
    values, codes = np.unique(column.values[kept], return_inverse=True)
    if len(values) < _FEWEST_GROUPS:
        raise UploadError(
            f"The column {quoted(column.name)} makes {counted(len(values), 'group')} of rows; a split needs at least "
            f"{_FEWEST_GROUPS}."
        )
    notes.append(f"Rows with the same value of {quoted(column.name)} belong together: {len(values)} groups.")
    return codes


# --- inputs ---------------------------------------------------------------------------------------------------------


def _matrix(inputs: list[Column], kept, scaling: str, limits: Limits, notes: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return the inputs as numbers, and their names."""
    parts = {}
    for column in inputs:
        one_hot = column.kind == "text"
        for name, values in (_one_hot if one_hot else _number)(column, kept, limits, notes):
            if scaling == "none" and np.abs(values).max() > limits.unscaled:
                raise UploadError(
                    f"The column {quoted(column.name)} reaches {np.abs(values).max():.3g}; without scaling at most "
                    f"{limits.unscaled:g} is allowed."
                )
            parts[len(parts), name] = {"standard": _standard, "range": _to_range, "none": np.array}[scaling](values)
    if not parts:
        raise UploadError(f"Every chosen column {_FLAT}; choose one that varies.")
    return np.ascontiguousarray(np.stack(list(parts.values()), axis=1)), [name for _, name in parts]


def _number(column: Column, kept: np.ndarray, limits: Limits, notes: list[str]) -> list[tuple[str, np.ndarray]]:
    """Return the filled values of a column of numbers or dates, unless they are all the same."""
    values = column.values[kept]
    present = values[~np.isnan(values)]
    if len(present) == 0 or (present == present[0]).all():
        notes.append(f"The column {quoted(column.name)} {_FLAT} and was left out.")
        return []
    return [(column.name, np.where(np.isnan(values), _median(present), values))]


def _one_hot(column: Column, kept: np.ndarray, limits: Limits, notes: list[str]) -> list[tuple[str, np.ndarray]]:
    """Return 0 and 1 for each text of a column. The rarest texts share a column; two texts need one column."""
    codes = column.values[kept]
    counts = np.bincount(codes[codes >= 0], minlength=len(column.categories))
    common = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if len(common) < 2:
        notes.append(f"The column {quoted(column.name)} {_FLAT} and was left out.")
        return []
    codes = np.where(codes < 0, common[0], codes)
    own = common[1:] if len(common) == 2 else common
    rest = []
    if len(common) > limits.categories:
        own, rest = np.split(common, [limits.categories - 1])
        notes.append(
            f"Of the {len(common)} values of {quoted(column.name)} the {len(own)} most frequent have a column each; "
            f"the other {len(rest)} share one."
        )
    hot = [(f"{column.name} = {printable(column.categories[code], 40)}", codes == code) for code in own]
    hot += [(f"{column.name} = any other", np.isin(codes, rest))] if len(rest) else []
    return [(name, values.astype(np.float64)) for name, values in hot]


def _median(values: np.ndarray) -> float:
    present = np.sort(values)
    return float(present[(len(present) - 1) // 2] / 2 + present[len(present) // 2] / 2)  # the sum might overflow


def _to_range(values: np.ndarray) -> np.ndarray:
    largest = np.abs(values).max()
    values = values / largest if largest > 0 else values  # high - low might overflow
    low = values.min()
    spread = values.max() - low
    return (values - low) / spread if spread > 0 else np.zeros_like(values)


def _standard(values: np.ndarray) -> np.ndarray:
    """Scale values to mean 0 and variance 1, also where their squares overflow or underflow."""
    values = _to_range(values)
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)
