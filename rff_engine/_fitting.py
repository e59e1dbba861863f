"""Fits that raise, which leave an estimator as it was; and rows that occur several times, which count as one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_CLOSE = 1e-9  # projections of equal rows differ by rounding alone


def distinct_rows(X: Any, y: np.ndarray, weights: np.ndarray | None = None) -> tuple:
    """Return the rows (X, y) without copies, the sums of the copies' weights, and row numbers.

    Rows of weight 0 are left out. Sums that are all 1 are ``None``; otherwise rows are in an order of their values. So
    draws by the places of these rows do not tell a row of weight w from w equal rows, in any order.
    """
    rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
    codes = np.unique(y, return_inverse=True)[1]
    place = np.asarray(X @ np.random.default_rng(0).standard_normal(X.shape[1]))
    rows = rows[np.lexsort((place[rows], codes[rows]))]
    before, after = rows[:-1], rows[1:]
    equal = (codes[before] == codes[after]) & (place[after] - place[before] <= _CLOSE * np.abs(place).max())
    close = np.flatnonzero(equal)
    equal[close] = np.asarray((X[before[close]] != X[after[close]]).sum(axis=1)).ravel() == 0
    first = np.flatnonzero(np.append(True, ~equal))
    sums = np.add.reduceat(np.ones(len(rows)) if weights is None else weights[rows], first)
    rows = rows[first]
    if (sums == 1).all():
        rows, sums = np.sort(rows), None
    return (X, y, sums, rows) if sums is None and len(rows) == len(y) else (X[rows], y[rows], sums, rows)


class WholeFits:
    """Base of estimators whose `fit` and `partial_fit` set all attributes or none.

    To scikit-learn one attribute that ends in _ makes an estimator a fitted one.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        for name in {"fit", "partial_fit"} & vars(cls).keys():
            setattr(cls, name, _whole(vars(cls)[name]))
        super().__init_subclass__(**options)


def _whole(fit: Callable) -> Callable:
    @wraps(fit)
    def whole(self: Any, *given: Any, **named: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *given, **named)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole
