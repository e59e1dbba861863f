"""Two nested circles, which no line separates, lifted to three dimensions, where a plane does; and its risks.

The map is that of a picture in a thesis chapter: three cosines with random frequencies and phases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rff_engine import losses
from rff_engine._typing import ArrayLike
from rff_engine._validation import as_points
from rff_engine.features import random_phase_features
from rff_engine.linear import linear_svm_path

#: Frequencies and phases of the picture. Its factor, 3.46, is replaced by sqrt(2 / 3): see docs/errata.md.
FREQUENCIES = np.array([[1.76, 2.24], [0.40, 1.87], [0.98, -0.98]])
PHASES = np.array([2.75, 5.6, 6.05])
_C = 1e3
_LOSSES = ("zero_one", "hinge", "squared_hinge", "logistic")


@dataclass(frozen=True)
class Lift:
    """Points of two classes in the plane and in space, and a linear classifier in each."""

    X: np.ndarray
    """(n, 2)"""
    y: np.ndarray
    """(n,), -1 or 1"""
    Z: np.ndarray
    """(n, 3), the lifted points"""
    coef: np.ndarray
    """(3,), normal of the plane w . z + b = 0"""
    intercept: float
    decisions: dict[str, np.ndarray]
    """(n,), f(x) of the points: "flat" for the line, "lifted" for the plane"""
    risks: dict[str, dict[str, tuple[float, float]]]
    """Empirical risk, and risk estimated on fresh points, by classifier and loss"""


def lifted_circles(X: ArrayLike, y: ArrayLike, X_fresh: ArrayLike, y_fresh: ArrayLike) -> Lift:
    """Lift two classes by three cosines and separate them by a plane, and by a line without the lift.

    Both are linear SVMs. The unit of length is the median radius of the outer class. X (n, 2) are points around 0 with
    labels -1 and 1; X_fresh are others of the same distribution, for the risk.
    """
    X = as_points(X, n_features=2, dense=True)
    X_fresh = as_points(X_fresh, n_features=2, dense=True)
    y = np.asarray(y)
    radius = np.linalg.norm(X, axis=1)
    unit = max(np.median(radius[y == label]) for label in (-1, 1))
    X, X_fresh = X / unit, X_fresh / unit
    spaces = {
        "flat": (X, X_fresh),
        "lifted": tuple(random_phase_features(points, FREQUENCIES, PHASES) for points in (X, X_fresh)),
    }
    decisions, risks, planes = {}, {}, {}
    for name, (sample, fresh) in spaces.items():
        (w,), (b,) = planes[name] = linear_svm_path(sample, y, [_C])
        decisions[name] = sample @ w + b
        risks[name] = {
            loss: (
                losses.empirical_risk(loss, decisions[name], y),
                losses.empirical_risk(loss, fresh @ w + b, y_fresh),
            )
            for loss in _LOSSES
        }
    (w,), (b,) = planes["lifted"]
    return Lift(X, y, spaces["lifted"][0], w, float(b), decisions, risks)
