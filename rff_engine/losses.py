"""Losses of a prediction f(x) for an outcome y, and their mean over points, the empirical risk.

The classification losses take the margin y f(x), y being -1 or 1. Hinge, squared hinge and logistic are convex in f(x)
and lie above the 0-1 loss, which is hard to minimise. The alignment loss of a kernel is in `alignment`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from ._typing import ArrayLike, FloatOrArray
from ._validation import as_numbers, check_choice

__all__ = ["LOSSES", "empirical_risk", "hinge", "logistic", "squared_error", "squared_hinge", "zero_one"]


def __dir__() -> list[str]:
    return __all__


def zero_one(decision: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Compute the 0-1 loss: 1 if y f(x) <= 0, else 0 (Vapnik 1998).

    A decision value of 0 counts as an error.

    Parameters
    ----------
    decision : array of shape (n,)
        f(x) of each point.
    y : array of shape (n,)
        -1 or 1.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the shapes differ, a value is not finite, or an outcome is neither -1 nor 1.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.losses.zero_one([2.0, 0.0, -1.0], [1, 1, 1])
    array([0., 1., 1.])
    """
    return (_margin(decision, y) <= 0).astype(np.float64)


def hinge(decision: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Compute the hinge loss, max(0, 1 - y f(x)) (Cortes and Vapnik 1995).

    Parameters
    ----------
    decision : array of shape (n,)
        f(x) of each point.
    y : array of shape (n,)
        -1 or 1.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the shapes differ, a value is not finite, or an outcome is neither -1 nor 1.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.losses.hinge([2.0, 0.5, -1.0], [1, 1, 1])
    array([0. , 0.5, 2. ])
    """
    return np.maximum(0.0, 1 - _margin(decision, y))


def squared_hinge(decision: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Compute the squared hinge loss of `linear_svm_path`, max(0, 1 - y f(x))^2 (Chapelle 2007).

    Parameters
    ----------
    decision : array of shape (n,)
        f(x) of each point.
    y : array of shape (n,)
        -1 or 1.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the shapes differ, a value is not finite, or an outcome is neither -1 nor 1.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.losses.squared_hinge([2.0, 0.5, -1.0], [1, 1, 1])
    array([0.  , 0.25, 4.  ])
    """
    return hinge(decision, y) ** 2


def logistic(decision: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Compute the logistic loss, ln(1 + exp(-y f(x))) / ln 2: 1 at f(x) = 0 (Friedman, Hastie and Tibshirani 2000).

    Parameters
    ----------
    decision : array of shape (n,)
        f(x) of each point.
    y : array of shape (n,)
        -1 or 1.

    Returns
    -------
    ndarray of shape (n,)
        In bits.

    Raises
    ------
    ValueError
        If the shapes differ, a value is not finite, or an outcome is neither -1 nor 1.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.losses.logistic([0.0, 2.0], [1, -1]).round(3)
    array([1.   , 3.069])
    """
    return np.logaddexp(0.0, -_margin(decision, y)) / np.log(2)


def squared_error(decision: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Compute the least squares loss of `ridge_path`, (f(x) - y)^2 / 2 (Hoerl and Kennard 1970).

    Parameters
    ----------
    decision : array of shape (n,)
        f(x) of each point.
    y : array of shape (n,)
        Any numbers.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the shapes differ or a value is not finite.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.losses.squared_error([1.0, 2.0], [1.5, 0.0])
    array([0.125, 2.   ])
    """
    decision, y = _pair(decision, y)
    return (decision - y) ** 2 / 2


#: The losses by name.
LOSSES: Mapping[str, Callable[[ArrayLike, ArrayLike], FloatOrArray]] = MappingProxyType(
    {
        "zero_one": zero_one,
        "hinge": hinge,
        "squared_hinge": squared_hinge,
        "logistic": logistic,
        "squared_error": squared_error,
    }
)


def empirical_risk(loss: str, decision: ArrayLike, y: ArrayLike) -> float:
    """Compute the mean loss over points, the empirical risk (Vapnik 1998).

    Learning minimises it on the training points. On many points that were not used for learning it estimates the
    risk, the expected loss. The risk less the risk of the best function of the class is the excess risk.

    Parameters
    ----------
    loss : {"zero_one", "hinge", "squared_hinge", "logistic", "squared_error"}
        Its name; each is a function of this module.
    decision : array of shape (n,)
        f(x) of each point.
    y : array of shape (n,)
        -1 or 1; any numbers for "squared_error".

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the loss is unknown, the shapes differ, a value is not finite, or an outcome is not allowed.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.losses.empirical_risk("zero_one", [2.0, 0.5, -1.0, -3.0], [1, 1, 1, -1])
    0.25
    """
    return float(LOSSES[check_choice(loss, "loss", tuple(LOSSES))](decision, y).mean())


def _pair(decision, y) -> tuple[np.ndarray, np.ndarray]:
    decision = as_numbers(decision, "decision")
    y = as_numbers(y, "y")
    if decision.ndim != 1 or decision.shape != y.shape or decision.size == 0:
        raise ValueError(
            f"decision has shape {decision.shape} and y {y.shape}; two lists of one length, at least 1, are needed."
        )
    return decision, y


def _margin(decision, y) -> np.ndarray:
    decision, y = _pair(decision, y)
    wrong = y[np.abs(y) != 1]
    if wrong.size:
        raise ValueError(f"y contains {wrong[0]:g}; every outcome must be -1 or 1.")
    return decision * y
