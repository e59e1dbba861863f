"""What makes a certificate say less than it seems: copies of rows, a column that tells the classes, rows in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import scipy.sparse as sp

from ._typing import ArrayLike
from ._warning import listed, warn
from .progressive import row_codes

_FEWEST_ROWS, _SHARE_OF_COPIES, _SHARE_TOLD = 20, 0.05, 0.99
_MOST_LOOKED_AT, _ROWS_AT_ONCE = 5000, 2048
_meant = ContextVar("copies_are_meant", default=False)


@contextmanager
def copies_are_meant() -> Iterator[None]:
    """Do not warn of copies of rows inside this block: they are intended. Other threads still warn."""
    before = _meant.set(True)
    try:
        yield
    finally:
        _meant.reset(before)


def warn_if_hollow(X, y: ArrayLike, names=None) -> None:
    """Warn once of each of the three problems, for rows X (n, d) with labels y. Only tables are checked.

    Copies are counted by hashes of all rows. Of more than 5000 rows the same random 5000 say whether a column has many
    values, and whether it tells the classes: by values of which each is rare, or of rare classes alone, it is missed.
    """
    if sp.issparse(X) or len(y) < _FEWEST_ROWS:
        return
    X = np.asarray(X)
    if X.ndim != 2 or X.shape[1] == 0:
        return
    if not _meant.get() and (said := copies_in_words(X, y)):
        warn(said)
    some = _some_rows(len(y))
    y = np.asarray(y)
    columns = [_numbers(column) for column in X[some].T]
    names = [f"column {j}" for j in range(len(columns))] if names is None else names
    telling = [str(name) for name, column in zip(names, columns, strict=True) if tells_classes(column, y[some])]
    if telling:
        warn(
            f"A single column tells the classes ({listed(telling)}): leave it out, unless it is known before the "
            "target is."
        )
    in_order = [
        str(name)
        for name, column, whole in zip(names, columns, X.T, strict=True)
        if _is_in_order(column) and _is_in_order(_numbers(whole))
    ]
    if in_order:
        warn(
            f"The rows are in the order of a column ({listed(in_order)}): where each depends on those before, as in a "
            "series, the certificate says nothing about later ones."
        )


def _some_rows(n: int) -> np.ndarray:
    """Return the rows to look at, in ascending order: all, or the same random ones at each call."""
    if n <= _MOST_LOOKED_AT:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, _MOST_LOOKED_AT, replace=False))


def warn_of_few_rows(share: float, n_counted: int) -> None:
    """Warn that so many pairs of rows are equal that one seed of progressive validation says little.

    The risk of one seed is a mean over about 1 / share different rows. In simulations a learner errs on 30 % of the
    rows, on other rows at each fit. Its risk is above the bound in 24 % of fits at 4 rows for 100 that count, in 14 %
    at 30, in 5 % at 100 and in 3 % at 300.
    """
    if share * n_counted > 1 and not _meant.get():
        warn(
            f"Many rows have the same columns, as if there were {1 / share:.0f} different ones for the {n_counted} "
            "that count: equal rows have one classifier, so the risk of this fit may be above risk_bound_, "
            "which bounds its mean over random_state."
        )


def copies_in_words(X: ArrayLike, y: ArrayLike) -> str:
    """Say what copies of rows do to a certificate; return "" if there are few."""
    copies = n_copies(X, y)
    if not copies:
        return ""
    return (
        f"{copies} of {len(y)} rows are copies of others, so the rows are not independent, and the certificate says "
        "nothing; keep one of each."
    )


def n_copies(X: ArrayLike, y: ArrayLike) -> int:
    """Count rows equal to an earlier row and label; 0 if they are few, or if every column has few values."""
    X = np.asarray(X)
    n = len(y)
    values = [len(np.unique(_numbers(column))) for column in X[_some_rows(n)].T]
    most = int(np.argmax(values))
    if values[most] <= min(np.sqrt(n), _MOST_LOOKED_AT / 2) or not _n_repeats(row_codes(_numbers(X[:, most]), 0)):
        return 0
    if X.dtype.kind not in "biuf":
        X = np.column_stack([_numbers(column) for column in X.T])
    codes = np.concatenate([row_codes(X[i : i + _ROWS_AT_ONCE], 0) for i in range(0, n, _ROWS_AT_ONCE)])
    return _n_repeats(codes ^ row_codes(np.unique(y, return_inverse=True)[1], 1))


def _n_repeats(codes: np.ndarray) -> int:
    """Count codes equal to one before them; 0 if they are few."""
    ordered = np.sort(codes)
    repeats = int(np.count_nonzero(ordered[1:] == ordered[:-1]))
    return repeats if repeats >= _SHARE_OF_COPIES * len(codes) else 0


def tells_classes(column: ArrayLike, y: ArrayLike) -> bool:
    """Return whether one column gives the class of nearly all rows: by its values, or by intervals of its numbers."""
    classes, codes = np.unique(y, return_inverse=True)
    n = len(codes)
    if n < _FEWEST_ROWS or np.bincount(codes).max() > (_SHARE_TOLD - 0.04) * n:
        return False
    values, places = np.unique(column, return_inverse=True)
    if len(values) > n / 20:  # intervals, as many as there are classes
        in_order = codes[np.lexsort((codes, places))]
        return bool(np.count_nonzero(np.diff(in_order)) < len(classes))
    counts = np.zeros((len(values), len(classes)))
    np.add.at(counts, (places, codes), 1)
    return bool(counts.max(axis=1).sum() >= _SHARE_TOLD * n)


def _is_in_order(column: np.ndarray) -> bool:
    """Return whether a column of many different numbers ascends or descends."""
    before, after = column[:-1], column[1:]
    return bool((after >= before).all() or (after <= before).all()) and len(np.unique(column)) > len(column) / 2


def _numbers(column: np.ndarray) -> np.ndarray:
    """Return the numbers of a column, or the positions of its texts in sorted order."""
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return np.unique(column.astype(str), return_inverse=True)[1].astype(np.float64)
