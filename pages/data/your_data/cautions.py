"""Flaws of a table that weaken its certificate: copies of rows, ids, answers among the inputs, order.

A certificate assumes that rows are independent draws, and that inputs are known before the target.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from datasets import Dataset
from datasets.tables.roles import GROUPS, why_left_out, words
from datasets.tables.table import Column, Table, quoted
from rff_engine._hollow import copies_in_words, tells_classes

_FEWEST_BLOCKS = 10
_RANKS_TOLD = 0.9999


def cautions(table: Table, dataset: Dataset, target: str, columns: Sequence[str]) -> list[str]:
    """Return sentences on what to mend before a certificate is believed, each with what to do.

    Parameters
    ----------
    dataset : Dataset
        Result of `prepare` for the table with this target and these columns.
    """
    goal = table.column(target)
    inputs = [table.column(name) for name in columns]
    cautions = [copies_in_words(dataset.X, dataset.y)]
    cautions += [
        f"{quoted(one.name)} tells rows apart, as {why}: leave it out." for one in inputs if (why := why_left_out(one))
    ]
    cautions += [_on_answer(column, goal, dataset.task == "classification") for column in inputs]
    cautions += [_on_time(column) for column in table.columns]
    cautions += [_on_blocks(dataset)] if dataset.groups is None else []
    cautions += [_on_groups(column) for column in inputs]
    return [caution for caution in cautions if caution]


def _on_answer(column: Column, goal: Column, classes: bool) -> str:
    there = ~(column.missing | goal.missing)
    x, y = column.values[there], goal.values[there]
    if len(y) < 20 or not (_tells_classes(column, x, y) if classes else _tells_numbers(column, x, y)):
        return ""
    return f"{quoted(column.name)} alone tells the target: leave it out, unless it is known before the target is."


def _tells_classes(column: Column, x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether one column gives the class of nearly all rows; never for texts that hardly repeat."""
    return not (column.kind == "text" and column.n_values > len(y) / 20) and tells_classes(x, y)


def _tells_numbers(column: Column, x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether the numbers of a column have the order of the target, or the opposite one."""
    if column.kind != "number" or column.constant or len(np.unique(y)) < 10:
        return False
    ranks = np.stack([np.unique(values, return_inverse=True)[1] for values in (x, y)])
    return bool(ranks.any(axis=1).all() and abs(np.corrcoef(ranks[0], ranks[1])[0, 1]) >= _RANKS_TOLD)


def _on_time(column: Column) -> str:
    """Warn of rows in the order of a date or year, as in a series."""
    timed = column.kind == "date" or (column.kind == "number" and words(column.name) & {"year", "time"})
    values = column.values
    if not timed or column.n_missing or column.constant or not (np.diff(values) >= 0).all():
        return ""
    return (
        f"The rows are in the order of {quoted(column.name)}: where each depends on those before, as in a series, the "
        "certificate says nothing about later ones."
    )


def _on_blocks(dataset: Dataset) -> str:
    """Warn of classes in a few blocks of rows: the file is sorted, or the rows of a person are together."""
    if dataset.task != "classification":
        return ""
    shares = np.unique(dataset.y, return_counts=True)[1] / dataset.n_samples
    expected = 1 + (dataset.n_samples - 1) * (1 - (shares**2).sum())  # in a random order
    n_blocks = 1 + np.count_nonzero(np.diff(dataset.y))
    if expected < _FEWEST_BLOCKS or n_blocks > expected / 4:
        return ""
    return (
        f"The classes come in {n_blocks} blocks of rows: a column that rises with the rows would tell them, so leave "
        "such out; if a block has the rows of one person or day, choose its column under *Rows that belong together*."
    )


def _on_groups(column: Column) -> str:
    """Warn of a column that names persons or things with several rows each."""
    n = len(column.values)
    if not words(column.name) & GROUPS or not 3 <= column.n_values <= n / 2 or column.kind == "date":
        return ""
    return (
        f"{quoted(column.name)} may name what several rows are of ({column.n_values} of them, {n} rows): such rows are "
        "not independent, so choose it under *Rows that belong together*."
    )
