"""Kernel ridge regression, and ridge regression on features that approximate its kernel: fits, errors and times.

Times are measured as the functions run, so they differ from machine to machine; all else is reproducible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rff_engine._typing import ArrayLike
from rff_engine._validation import check_choice, check_count
from rff_engine.adaptive import kernel_landmarks
from rff_engine.kernels import SpectralKernel
from rff_engine.nystroem import NystroemMap
from rff_engine.ridge import kernel_ridge_path, ridge_path
from rff_engine.studies.feature_methods import TASKS, fit_features

#: Kernel ridge regression, and ridge regression on two kinds of features.
METHODS = ("kernel_ridge", "monte_carlo", "nystroem")
LAMBDAS = tuple(10.0**power for power in range(-7, 1))
_REPEATS = 3  # of which the fastest counts


@dataclass(frozen=True)
class LineFit:
    """Regressions of noisy points on a line."""

    x: np.ndarray
    """(n,), training points"""
    y: np.ndarray
    """(n,)"""
    grid: np.ndarray
    """(G,)"""
    terms: np.ndarray
    """(n, G), alpha_i k(., x_i): kernel ridge regression is their sum"""
    fits: dict[str, np.ndarray]
    """(G,) each, by method"""
    landmarks: np.ndarray
    """(M,), of the Nyström features"""


def line_fit(kernel: SpectralKernel, r: int, decay: float, seed: int, n: int = 40) -> LineFit:
    """Kernel ridge regression of a noisy curve, as a sum over its points, and its approximations by features.

    The n training points are uniform on [-3, 3]. There are r frequencies and, where n allows it, as many landmarks;
    `decay` is lambda.
    """
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3, 3, check_count(n, "n", low=2)))[:, None]
    y = np.sin(2 * x[:, 0]) + 0.3 * x[:, 0] + 0.2 * rng.standard_normal(n)
    grid = np.linspace(-4, 4, 241)[:, None]
    alpha = kernel_ridge_path(kernel(x), y, [decay])[0]
    terms = alpha[:, None] * kernel(x, grid)
    fits = {"kernel_ridge": terms.sum(axis=0)}
    nystroem = NystroemMap.on(kernel, kernel_landmarks(x, min(check_count(r, "r"), n), "sample", seed)[0])
    maps = {"monte_carlo": fit_features("monte_carlo", x, None, kernel, r, seed), "nystroem": nystroem}
    for name, features in maps.items():
        coef, _ = ridge_path(features.transform(x), y, [decay], intercept=False)
        fits[name] = features.transform(grid) @ coef[0]
    return LineFit(x[:, 0], y, grid[:, 0], terms, fits, nystroem.landmarks[:, 0])


@dataclass(frozen=True)
class LearningErrors:
    """Test errors and times to fit against the number r of frequencies or landmarks."""

    r_values: tuple[int, ...]
    n: int
    """Training points"""
    errors: dict[str, np.ndarray]
    """(R, draws) by method; (1, 1) for "kernel_ridge", which has no r"""
    seconds: dict[str, np.ndarray]
    """(R,) by method; (1,) for "kernel_ridge\""""


def kernel_and_feature_errors(
    X: np.ndarray, y: ArrayLike, task: str, kernel: SpectralKernel, r_values: Sequence[int], n_draws: int, seed: int
) -> LearningErrors:
    """Errors on held-out rows of kernel ridge regression and of ridge regression on r features.

    Half of the rows train, a quarter chooses lambda for each method, and a quarter tests. A regression's error is the
    root mean square in standard deviations of the target. A classification regresses on -1 and 1, one class against the
    others if there are more than two; its error is the fraction of wrong classes. Rows X (N, d) are in random order.
    """
    targets, error = _as_regression(y, task)
    parts = np.split(np.arange(len(X)), [len(X) // 2, 3 * len(X) // 4])
    train, valid, test = parts
    K = [kernel(X[rows], X[train]) for rows in parts]
    best = _chosen(kernel_ridge_path(K[0], targets[train], LAMBDAS), K[1], targets[valid], error)
    [alpha] = kernel_ridge_path(K[0], targets[train], [best])
    errors = {"kernel_ridge": np.array([[error(K[2] @ alpha, targets[test])]])}
    seconds = {
        "kernel_ridge": np.array([_seconds(lambda: kernel_ridge_path(kernel(X[train]), targets[train], [best]))])
    }
    for name in METHODS[1:]:
        measured = [
            [_feature_error(name, X, targets, parts, kernel, r, (seed, r, i), error) for i in range(n_draws)]
            for r in r_values
        ]
        errors[name] = np.array([[one for one, _ in row] for row in measured])
        seconds[name] = np.array([min(time for _, time in row) for row in measured])
    return LearningErrors(tuple(r_values), len(train), errors, seconds)


def _feature_error(name, X, targets, parts, kernel, r, seed, error) -> tuple[float, float]:
    """Test error of ridge regression on the features of a method, and seconds to fit it."""
    child = int(np.random.SeedSequence(seed).generate_state(1)[0])
    features = fit_features(name, X[parts[0]], None, kernel, r, child)
    Z = [features.transform(X[rows]) for rows in parts]
    coefs = ridge_path(Z[0], targets[parts[0]], LAMBDAS, intercept=False)[0]
    best = _chosen(coefs, Z[1], targets[parts[1]], error)
    coef = coefs[LAMBDAS.index(best)]
    work = _feature_work(name, X[parts[0]], targets[parts[0]], kernel, r, best, child)
    return error(Z[2] @ coef, targets[parts[2]]), _seconds(work)


def _feature_work(name, X, targets, kernel, r, decay, seed) -> Callable[[], object]:
    """A function that draws and computes features and solves for their coefficients."""

    def work():
        Z = fit_features(name, X, None, kernel, r, seed).transform(X)
        return ridge_path(Z, targets, [decay], intercept=False)

    return work


def _chosen(coefs, features, targets, error) -> float:
    """The lambda of the smallest error on rows that were not fitted."""
    errors = [error(features @ coef, targets) for coef in coefs]
    return LAMBDAS[int(np.argmin(errors))]


def _as_regression(y, task: str):
    """Targets (N, T) of a regression, and the error of predictions."""
    check_choice(task, "task", TASKS)
    if task == "regression":
        y = np.asarray(y, dtype=float)
        return ((y - y.mean()) / (y.std() or 1.0))[:, None], _root_mean_square
    classes, codes = np.unique(y, return_inverse=True)
    signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
    return signs[:, 1:] if len(classes) == 2 else signs, _fraction_wrong


def _root_mean_square(predicted, targets) -> float:
    return float(np.sqrt(np.mean((predicted - targets) ** 2)))


def _fraction_wrong(predicted, targets) -> float:
    if targets.shape[1] == 1:
        return float(np.mean((predicted > 0) != (targets > 0)))
    return float(np.mean(predicted.argmax(axis=1) != targets.argmax(axis=1)))


@dataclass(frozen=True)
class LearningSeconds:
    """Times to fit against the number of training points."""

    n_values: tuple[int, ...]
    seconds: dict[str, np.ndarray]
    """(P,) by method"""


def seconds_against_n(
    X: np.ndarray, kernel: SpectralKernel, n_values: Sequence[int], r: int, seed: int
) -> LearningSeconds:
    """Measure how the times of kernel ridge regression and of ridge regression on r features grow with n.

    Kernel ridge regression costs O(n^2 (d + n)), ridge regression O(n r (d + r)) for random features and for Nyström's,
    at n much larger than r. Rows of X (N, d) are drawn with replacement and moved a little.
    """
    rng = np.random.default_rng(seed)
    largest = max(check_count(n, "n_values") for n in n_values)
    rows = X[rng.integers(len(X), size=largest)]
    rows = rows + 0.1 * rng.standard_normal(rows.shape)
    targets = np.sin(rows.sum(axis=1))
    seconds = {
        name: np.array([_seconds(_work(name, rows[:n], targets[:n], kernel, r, seed)) for n in n_values])
        for name in METHODS
    }
    return LearningSeconds(tuple(n_values), seconds)


def _work(name, X, targets, kernel, r, seed) -> Callable[[], object]:
    if name == "kernel_ridge":
        return lambda: kernel_ridge_path(kernel(X), targets, [1e-3])
    return _feature_work(name, X, targets, kernel, r, 1e-3, seed)


def _seconds(work: Callable[[], object]) -> float:
    """Time that a function takes, the shortest of a few calls."""
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
