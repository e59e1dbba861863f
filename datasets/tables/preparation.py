"""Preparation of a user-uploaded table as a learning problem: a target, and finite numbers in all columns.

Text is one-hot encoded, up to a limit; missing values are filled, or their rows dropped. What experiments need besides,
two classes, two columns or two halves, is made from the problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..dataset import Dataset, Task
from .roles import target_task
from .table import Column, Limits, Table, UploadError, counted, printable, quoted

SCALINGS = ("standard", "range", "none")
"""Each column to mean 0 and variance 1, to [0, 1], or unchanged."""
IMPUTATIONS = ("fill", "drop")
"""Missing values become the median of the column, or its most frequent text; or their rows are dropped."""
YOUR_DATA = "your data"
_FEWEST_GROUPS = 4


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
    """Turn a table into a learning problem.

    Parameters
    ----------
    target : str
        Name of the column to predict; rows in which it is missing are dropped.
    columns : sequence of str
        Names of the columns to predict it from.
    scaling : {"standard", "range", "none"}
        See `SCALINGS`; one-hot columns stay 0 and 1 unless it is "standard".
    imputation : {"fill", "drop"}
        See `IMPUTATIONS`.
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
    _check_choice(scaling, "scaling", SCALINGS)
    _check_choice(imputation, "imputation", IMPUTATIONS)
    goal = table.column(target)
    inputs = [table.column(name) for name in dict.fromkeys(columns)]
    _check_columns(goal, inputs)
    task = target_task(goal) if task is None else task
    _check_choice(task, "task", ("classification", "regression"))
    kept, notes = _kept_rows(goal, inputs, imputation, limits)
    kept, note = _rows_that_fit(inputs, kept, limits)
    notes += note
    y, labels = _classes(goal, kept, limits) if task == "classification" else (_target_numbers(goal, kept), {})
    X, names, more_notes = _matrix(inputs, kept, scaling, limits)
    codes = None
    if groups is not None:
        codes, note = _groups(table.column(groups), [goal, *inputs], kept)
        more_notes += note
    return Dataset(
        name=YOUR_DATA,
        X=X,
        y=y,
        task=task,
        feature_names=tuple(names),
        source="uploaded by you, kept for this session",
        licence="yours",
        title="Your data",
        description=" ".join(notes + more_notes),
        label_names=labels,
        groups=codes,
    )


def two_classes(dataset: Dataset, label: int | None = None) -> Dataset:
    """A two-class version of a problem: the class `label` against all others, or above the median against the rest.

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
    """A two-dimensional version of a problem, each coordinate of mean 0 and variance 1.

    The coordinates are two columns of X, by default the first two principal components. If there is only one column, or
    the two are the same, an UploadError is raised.
    """
    if dataset.n_features < 2:
        raise UploadError("There is one column to predict from; a map needs two, so choose one more.")
    if columns is None:
        centred = dataset.X - dataset.X.mean(axis=0)
        _, axes = np.linalg.eigh(centred.T @ centred)
        axes = axes[:, :-3:-1]
        # The sign of a component is arbitrary: make its largest entry positive.
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
        X, names = centred @ axes, ("first principal component", "second principal component")
    else:
        if columns[0] == columns[1]:
            raise UploadError("Both coordinates are the same column; a map needs two.")
        X = dataset.X[:, list(columns)]
        names = tuple(dataset.feature_names[j] for j in columns)
    return replace(dataset, X=np.ascontiguousarray(np.stack([_standard(x) for x in X.T], axis=1)), feature_names=names)


def some_rows(dataset: Dataset, at_most: int, random_state: int) -> Dataset:
    """A random subset of at most `at_most` rows, in their order."""
    if dataset.n_samples <= at_most:
        return dataset
    return _part(dataset, np.random.default_rng(random_state).permutation(dataset.n_samples)[:at_most])


def one_of_each_group(dataset: Dataset, random_state: int) -> Dataset:
    """One random row of each group, in their order; such rows are independent where groups are. All without groups."""
    if dataset.groups is None:
        return dataset
    order = np.random.default_rng((random_state, 2)).permutation(dataset.n_samples)
    _, first = np.unique(dataset.groups[order], return_index=True)
    return replace(_part(dataset, order[first]), groups=None)


def _part(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Some rows, in their order."""
    rows = np.sort(rows)
    groups = None if dataset.groups is None else dataset.groups[rows]
    return replace(dataset, X=dataset.X[rows], y=dataset.y[rows], groups=groups)


def halves(dataset: Dataset, at_most: int, random_state: int) -> tuple[Dataset, Dataset]:
    """Two random halves of the rows, each of at most `at_most` rows; the rows of a group are in one of them.

    Rows are in their order; the second part has one more if the number is odd. Of groups, the first half has as many
    rows as is nearest to half.
    """
    if dataset.groups is not None:
        first, second = (_part(dataset, rows) for rows in _halves_of_groups(dataset.groups, random_state))
        return some_rows(first, at_most, random_state), some_rows(second, at_most, random_state)
    sampled = some_rows(dataset, 2 * at_most, random_state)
    order = np.random.default_rng((random_state, 1)).permutation(sampled.n_samples)
    n = min(at_most, sampled.n_samples // 2)
    return _part(sampled, order[:n]), _part(sampled, order[n:])


def _halves_of_groups(groups: np.ndarray, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the groups that come first in a random order, and those of the others."""
    order = np.random.default_rng((random_state, 1)).permutation(groups.max() + 1)
    n_rows = np.cumsum(np.bincount(groups)[order])
    n_first = 1 + np.argmin(np.abs(n_rows[:-1] - len(groups) / 2))
    first = np.isin(groups, order[:n_first])
    return np.flatnonzero(first), np.flatnonzero(~first)


def _groups(column: Column, others: list[Column], kept: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The groups of the rows by the values of a column, and a note; rows without a value are one group."""
    if column in others:
        raise UploadError(
            f"{quoted(column.name)} says which rows belong together, so it is neither the target nor an input."
        )
    values, codes = np.unique(column.values[kept], return_inverse=True)
    if len(values) < _FEWEST_GROUPS:
        raise UploadError(
            f"{quoted(column.name)} makes {counted(len(values), 'group')} of rows; a split needs at least "
            f"{_FEWEST_GROUPS}."
        )
    return codes, [f"Rows with the same value of {quoted(column.name)} belong together: {len(values)} groups."]


def _check_choice(value, name: str, allowed) -> None:
    if value not in allowed:
        raise UploadError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}.")


def _check_columns(goal: Column, inputs: list[Column]) -> None:
    if not inputs:
        raise UploadError("No column is chosen; at least one is needed to predict the target from.")
    if goal in inputs:
        raise UploadError(f"The target {quoted(goal.name)} is among the columns to predict it from.")
    if goal.kind == "empty":
        raise UploadError(f"The target {quoted(goal.name)} has no value; choose another column.")
    for column in inputs:
        if column.kind == "empty":
            raise UploadError(f"The column {quoted(column.name)} has no value; leave it out.")


def _kept_rows(goal: Column, inputs: list[Column], imputation: str, limits: Limits) -> tuple[np.ndarray, list[str]]:
    """Mask of the rows to learn from, and notes on the others."""
    kept, notes = ~goal.missing, []
    if not kept.all():
        notes.append(f"{(~kept).sum()} rows without a target were dropped.")
    if imputation == "drop":
        before = kept.sum()
        for column in inputs:
            kept = kept & ~column.missing
        if kept.sum() < before:
            notes.append(f"{before - kept.sum()} rows with missing values were dropped.")
    if kept.sum() < limits.fewest_rows:
        raise UploadError(
            f"{kept.sum()} of {len(kept)} rows are left after dropping missing values; at least {limits.fewest_rows} "
            "are needed."
        )
    return kept, notes


def _rows_that_fit(inputs: list[Column], kept, limits: Limits) -> tuple[np.ndarray, list[str]]:
    """A mask of a random part of the rows if all would have too many cells, and a note on it."""
    n_columns = sum(_n_features(column, kept, limits) for column in inputs)
    most = limits.cells // max(n_columns, 1)
    rows = np.flatnonzero(kept)
    if len(rows) <= most:
        return kept, []
    if most < limits.fewest_rows:
        raise UploadError(
            f"{len(rows)} rows of {n_columns} columns exceed {limits.cells} cells, the most allowed: choose fewer "
            "columns."
        )
    part = np.zeros(len(kept), dtype=bool)
    part[np.random.default_rng(0).permutation(rows)[:most]] = True
    return part, [
        f"Of {len(rows)} rows a random part of {most} was kept: at most {limits.cells} cells are allowed, of "
        f"{n_columns} columns."
    ]


def _n_features(column: Column, kept, limits: Limits) -> int:
    """How many columns of numbers a column becomes."""
    if column.kind != "text":
        return 1
    n = len(np.unique(column.values[kept & ~column.missing]))
    return min(n, limits.categories) if n > 2 else n - 1 if n else 0


def _matrix(inputs: list[Column], kept, scaling: str, limits: Limits) -> tuple[np.ndarray, list[str], list[str]]:
    """The inputs as numbers, their names, and notes."""
    parts, names, notes = [], [], []
    for column in inputs:
        part, own_names, note = _features(column, kept, scaling, limits)
        if part.shape[1] == 0:
            notes.append(f"The column {quoted(column.name)} has the same value in every row and was left out.")
            continue
        parts.append(part)
        names += own_names
        notes += [note] if note else []
    if not parts:
        raise UploadError("Every chosen column has the same value in every row; choose one that varies.")
    return np.ascontiguousarray(np.concatenate(parts, axis=1)), names, notes


def _classes(goal: Column, kept, limits: Limits) -> tuple[np.ndarray, dict[int, str]]:
    values, codes = np.unique(goal.values[kept], return_inverse=True)
    if len(values) > limits.classes:
        raise UploadError(
            f"The target {quoted(goal.name)} has {len(values)} different values; at most {limits.classes} classes are "
            "allowed."
        )
    if len(values) < 2:
        raise UploadError(f"The target {quoted(goal.name)} has only one class in the remaining rows; two are needed.")
    rows = {value: int(np.flatnonzero(goal.values == value)[0]) for value in values}
    shown = [goal.shown(rows[value]) for value in values]
    # Texts in alphabetical order, numbers in ascending order.
    order = np.argsort(shown, kind="stable") if goal.kind == "text" else np.arange(len(values))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    labels = (-1, 1) if len(values) == 2 else range(len(values))
    names = {label: shown[at] for label, at in zip(labels, order, strict=True)}
    return np.asarray(labels, dtype=np.int64)[rank[codes]], names


def _target_numbers(goal: Column, kept) -> np.ndarray:
    if goal.kind == "text":
        raise UploadError(
            f"The target {quoted(goal.name)} is text; predict its classes, or choose a column of numbers."
        )
    y = np.array(goal.values[kept])
    if (y == y[0]).all():
        raise UploadError(f"The target {quoted(goal.name)} has the same value in every remaining row; choose another.")
    return y


def _features(column: Column, kept, scaling: str, limits: Limits) -> tuple[np.ndarray, list[str], str]:
    """Numbers of a column, (n, k), their names and a note; k is 0 if the column is constant."""
    if column.kind == "text":
        return _one_hot(column, kept, scaling, limits)
    values = column.values[kept]
    if np.isnan(values).all():
        return np.empty((len(values), 0)), [], ""
    values = np.where(np.isnan(values), _median(values), values)
    if (values == values[0]).all():
        return np.empty((len(values), 0)), [], ""
    if scaling == "none":
        largest = np.abs(values).max()
        if largest > limits.unscaled:
            raise UploadError(
                f"The column {quoted(column.name)} reaches {largest:.3g}; without scaling at most "
                f"{limits.unscaled:g} is allowed."
            )
    else:
        values = _standard(values) if scaling == "standard" else _to_range(values)
    return values[:, None], [column.name], ""


def _median(values: np.ndarray) -> float:
    present = np.sort(values[~np.isnan(values)])
    middle = present[(len(present) - 1) // 2], present[len(present) // 2]
    return float(middle[0] / 2 + middle[1] / 2)  # the sum might overflow


def _to_range(values: np.ndarray) -> np.ndarray:
    largest = np.abs(values).max()
    values = values / largest if largest > 0 else values  # high - low might overflow
    low = values.min()
    high = values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def _standard(values: np.ndarray) -> np.ndarray:
    """Values scaled to mean 0 and variance 1, also where their squares overflow or underflow."""
    values = _to_range(values)
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def _one_hot(column: Column, kept, scaling: str, limits: Limits) -> tuple[np.ndarray, list[str], str]:
    codes = column.values[kept]
    counts = np.bincount(codes[codes >= 0], minlength=len(column.categories))
    common = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    if len(common) < 2:
        return np.empty((len(codes), 0)), [], ""
    codes = np.where(codes < 0, common[0], codes)
    note = ""
    if len(common) > limits.categories:
        own, rest = common[: limits.categories - 1], common[limits.categories - 1 :]
        note = (
            f"Of the {len(common)} values of {quoted(column.name)} the {len(own)} most frequent have a column each; "
            f"the other {len(rest)} share one."
        )
    else:
        # For two values one column suffices.
        own, rest = (common[1:], common[:0]) if len(common) == 2 else (common, common[:0])
    hot = [codes == code for code in own] + ([np.isin(codes, rest)] if len(rest) else [])
    names = [f"{column.name} = {printable(column.categories[code], 40)}" for code in own]
    names += [f"{column.name} = any other"] if len(rest) else []
    X = np.stack(hot, axis=1).astype(np.float64)
    if scaling == "standard":
        X = np.stack([_standard(x) for x in X.T], axis=1)
    return X, names, note
