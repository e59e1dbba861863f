"""Fits that raise: they leave an estimator as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


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
