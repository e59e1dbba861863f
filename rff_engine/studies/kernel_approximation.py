"""The kernel approximation: relative errors of kernel matrices (Li et al. 2019, Table 2).

All methods share the blocks of the kernel matrix. In a row, train_error and test_error are the relative errors on
training and test rows; nothing is chosen, so valid_error equals train_error. D is the number r of frequencies.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from .li_problem import LiProblem
from .problem import Part, Report, Row, Work
from .protocols import KernelApproximation

_KEPT_BYTES = 2**28  # bytes of the kernel matrix of training, or test, rows
_BLOCK_ROWS = 2048


def kernel_approximation_rows(problem: LiProblem, protocol: KernelApproximation, work: Work) -> Iterator[Report]:
    """Compute each row by a call."""
    wanted = (row for row in work.in_turn(protocol.settings()) if work.known(row) is None)
    for row in work.each((_errors, problem, protocol, settings) for settings in wanted):
        yield f"{row['method']}, r = {row['D']}", row


def _evaluated(problem: LiProblem, protocol: KernelApproximation) -> list[Part]:
    """Return the training and test rows for the errors."""
    parts = []
    for key, part in enumerate((problem.train, problem.test)):
        rows = problem.draw_rows("evaluated_rows", len(part.y), protocol.max_evaluated, key)
        parts.append(Part(part.X[rows], part.y[rows]))
    return parts


def _errors(problem: LiProblem, protocol: KernelApproximation, settings: Row) -> Row:
    method, r = settings["method"], settings["D"]
    start = time.perf_counter()
    features, warned = problem.fit_features(method, r)
    seconds = time.perf_counter() - start
    parts, n = _evaluated(problem, protocol), len(problem.train.y)
    on_train, on_test = (_error(problem, protocol, i, part.X, features) for i, part in enumerate(parts))
    notes = (f"errors on {len(parts[0].y)} of {n} training rows",) if len(parts[0].y) < n else ()
    errors = {"train_error": on_train, "valid_error": on_train, "test_error": on_test}
    return problem.row(method, errors, seconds, (*notes, *warned), D=r)


def _error(problem: LiProblem, protocol: KernelApproximation, part: int, X: np.ndarray, features) -> float:
    """Compute the error ||K~ - K||_F / ||K||_F of features on the rows of a part."""
    Z = features.transform(X.astype(np.float32))
    missed = total = 0.0
    for (i, j), K in _kernel_blocks(problem, protocol, part, X):
        twice = 1 if i == j else 2
        total += twice * _sum_of_squares(K)
        approximation = Z[i : i + _BLOCK_ROWS] @ Z[j : j + _BLOCK_ROWS].T
        approximation -= K
        missed += twice * _sum_of_squares(approximation)
    return float(np.sqrt(missed / total))


def _kernel_blocks(
    problem: LiProblem, protocol: KernelApproximation, part: int, X: np.ndarray
) -> Iterable[tuple[tuple[int, int], np.ndarray]]:
    """Return blocks of the kernel matrix on and above its diagonal, by first row and column; keep them if few."""
    make = partial(_computed_blocks, problem, X)
    if 2 * len(X) ** 2 > _KEPT_BYTES:
        return make()
    return problem.keep(f"kernel of part {part}", protocol.max_evaluated, lambda: list(make()))


def _computed_blocks(problem: LiProblem, X: np.ndarray) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
    starts = range(0, len(X), _BLOCK_ROWS)
    for i, j in ((i, j) for i in starts for j in starts if j >= i):
        columns = None if i == j else X[j : j + _BLOCK_ROWS]  # exact at distance 0
        yield (i, j), problem.kernel(X[i : i + _BLOCK_ROWS], columns).astype(np.float32, copy=False)


def _sum_of_squares(block: np.ndarray) -> float:
    """Sum squares in float64, row by row."""
    return float(np.einsum("ij,ij->i", block, block).sum(dtype=np.float64))
