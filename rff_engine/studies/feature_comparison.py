"""The feature comparison: linear models on the features of every method (Li et al. 2019, Table 3).

In a row, train_error and test_error belong to the chosen model, fitted on all training rows, and valid_error to
cross-validation: a root mean square in the units of the target, or a fraction. D is the number r of frequencies, and
C belongs to the model.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from .. import ridge
from .._typing import ArrayLike
from .._validation import draw_seed
from ..linear import linear_svm_decision, linear_svm_path
from .feature_methods import LABELLED
from .li_problem import LiProblem
from .problem import Part, Report, Row, Work
from .protocols import FeatureComparison


def feature_comparison_rows(problem: LiProblem, protocol: FeatureComparison, work: Work) -> Iterator[Report]:
    """Compute each row by a call."""
    wanted = (row for row in work.in_turn(protocol.settings()) if work.known(row) is None)
    for row in work.each((_compare, problem, protocol, settings) for settings in wanted):
        yield f"{row['method']}, r = {row['D']}", row


def _compare(problem: LiProblem, protocol: FeatureComparison, settings: Row) -> Row:
    setting = dict(settings)
    method, r = setting.pop("method"), setting.pop("D")
    start = time.perf_counter()
    train, regression = problem.train, problem.task == "regression"
    features, notes = problem.fit_features(method, r, **setting)
    Z = None if method in LABELLED else _features(problem, features, train.X)
    losses = np.zeros(len(protocol.Cs))
    for fit_on, held_out in _folds(problem, protocol.folds):
        if Z is None:  # features fitted to held-out labels would bias their error
            of_fold, _ = problem.fit_features(method, r, fit_on, **setting)
            parts = [_features(problem, of_fold, train.X[rows]) for rows in (fit_on, held_out)]
        else:
            parts = [Z[fit_on], Z[held_out]]
        path = _path(regression, parts[0], train.y[fit_on], protocol.Cs)
        losses += _losses(regression, path, parts[1], train.y[held_out])
    best = int(np.argmin(losses))
    chosen = protocol.Cs[best]
    Z = _features(problem, features, train.X) if Z is None else Z
    model = _path(regression, Z, train.y, (chosen,))
    on_test = _losses(regression, model, _features(problem, features, problem.test.X), problem.test.y)[0]
    on_train = _losses(regression, model, Z, train.y)[0]
    sums = {"train": (on_train, train), "valid": (losses[best], train), "test": (on_test, problem.test)}
    errors = {f"{name}_error": _error(regression, loss, part) for name, (loss, part) in sums.items()}
    seconds = time.perf_counter() - start
    return problem.row(method, errors | {"C": chosen}, seconds, notes, D=r, **setting)


def _features(problem: LiProblem, features, X) -> np.ndarray:
    """Compute features in float32 for a classification, for faster SVM paths; in float64 for a regression."""
    return features.transform(X if problem.task == "regression" else X.astype(np.float32))


def _folds(problem: LiProblem, folds: int):
    """Return training and held-out rows of each fold, the same for all methods."""
    kind = KFold if problem.task == "regression" else StratifiedKFold
    shuffled = kind(folds, shuffle=True, random_state=draw_seed(problem.rng("folds")))
    return shuffled.split(problem.train.X, problem.train.y)


def _path(regression: bool, features, y, Cs) -> dict:
    """Fit paths of models over C by class: for more than two classes, one of each class against the others."""
    if regression:
        return {None: ridge_path(features, y, Cs)}
    classes = [True] if y.dtype == bool else np.unique(y)
    return {k: linear_svm_path(features, y == k, Cs) for k in classes}


def _losses(regression: bool, path: dict, features, y) -> np.ndarray:
    """Return the sum of squares, or the number of errors, of each model of a path."""
    if regression:
        coef, intercept = path[None]
        return ((features @ coef.T + intercept - y[:, None]) ** 2).sum(axis=0)
    decisions = [linear_svm_decision(features, *of_class) for of_class in path.values()]
    predicted = decisions[0] > 0 if y.dtype == bool else np.array(list(path))[np.argmax(decisions, axis=0)]
    return (predicted != y).sum(axis=1).astype(np.float64)


def _error(regression: bool, loss: float, part: Part) -> float:
    mean = loss / len(part.y)
    return float(np.sqrt(mean) if regression else mean)


def ridge_path(features: np.ndarray, y: ArrayLike, Cs: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Fit ridge regressions, one for each C, that minimise ||w||^2 / 2 + C sum_i (y_i - w . z_i - b)^2.

    It equals scikit-learn's ``Ridge`` at alpha = 1 / (2 C), and `rff_engine.ridge_path` at lambda = 1 / (2 C n). For
    features (n, F) the coefficients have the shape (n_C, F), and the intercepts (n_C,).
    """
    return ridge.ridge_path(features, y, 1 / (2 * len(features) * np.asarray(Cs, dtype=np.float64)))
