"""Units of the kernel approximation: relative errors of kernel matrices (Li et al. 2019, Table 2).

Methods with the same number of frequencies share the blocks of the kernel matrix. In a row, train_error and test_error
are the relative errors on training and test rows; nothing is chosen, so valid_error equals train_error. D is the number
r of frequencies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from .li_problem import LiProblem
from .problem import Part
from .protocols import KernelApproximation
from .units import Unit, UnitStep

_FEATURE_BYTES = 2**29  # of all methods of a unit
_BLOCK_ROWS = 2048


def kernel_approximation_units(problem: LiProblem, protocol: KernelApproximation) -> list[Unit]:
    """One unit for each r, or several if the features of all methods do not fit in memory."""
    most = protocol.max_evaluated
    counts = [len(part.y) if most is None else min(len(part.y), most) for part in (problem.train, problem.test)]
    units = []
    for r in protocol.n_features:
        at_once = max(1, _FEATURE_BYTES // (4 * 2 * r * sum(counts)))
        for start in range(0, len(protocol.methods), at_once):
            some = protocol.methods[start : start + at_once]
            steps = [UnitStep(f"{method}, r = {r}", 0.5 + 2e-8 * r**2 * problem.n_columns) for method in some]
            seconds = 1e-11 * _BLOCK_ROWS**2 * (200 + 4 * r * len(some))
            for name, count in zip(("training", "test"), counts, strict=True):
                for i, j in _blocks(count):
                    steps.append(UnitStep(f"kernel of {name} rows from {i} and {j}, r = {r}", seconds))
            steps += [UnitStep(f"error of {method}, r = {r}", 0.001, {"method": method, "D": r}) for method in some]
            work = partial(_errors, protocol, r, some)
            units.append(Unit(f"approximation-{r}-{start}", work, ("problem",), tuple(steps)))
    return units


def _evaluated(problem: LiProblem, protocol: KernelApproximation) -> list[Part]:
    """Training and test rows that errors are measured on."""
    parts = []
    for key, part in enumerate((problem.train, problem.test)):
        rows = problem.draw_rows("evaluated_rows", len(part.y), protocol.max_evaluated, key)
        parts.append(Part(part.X[rows], part.y[rows]))
    return parts


def _errors(protocol: KernelApproximation, r: int, methods: tuple[str, ...], problem: LiProblem, *, wanted):
    fitted, seconds, warned = {}, {}, {}
    for method in methods:
        if any(row["method"] == method for row in wanted):
            start = time.perf_counter()
            fitted[method], warned[method] = problem.fit_features(method, r)
            seconds[method] = time.perf_counter() - start
        yield []
    parts = _evaluated(problem, protocol)
    by_part = []
    for part in parts:
        single = part.X.astype(np.float32)
        features = [map_.transform(single) for map_ in fitted.values()]
        of_methods = yield from _errors_by_blocks(part.X, problem.kernel, features)
        by_part.append(dict(zip(fitted, of_methods, strict=True)))
    n = len(problem.train.y)
    notes = (f"errors on {len(parts[0].y)} of {n} training rows",) if len(parts[0].y) < n else ()
    for method in fitted:
        on_train, on_test = (errors[method] for errors in by_part)
        of_row = {"train_error": on_train, "valid_error": on_train, "test_error": on_test}
        yield [problem.row(method, of_row, seconds[method], (*notes, *warned[method]), D=r)]


def _errors_by_blocks(X, kernel, features: list[np.ndarray]) -> Iterator[list]:
    """Errors ||K~ - K||_F / ||K||_F of several features of the same points; yields after each block of K."""
    missed, total = np.zeros(len(features)), 0.0
    for i, j in _blocks(X.shape[0]):
        rows = slice(i, i + _BLOCK_ROWS)
        columns = slice(j, j + _BLOCK_ROWS)
        dtype = features[0].dtype if features else np.float64
        K = kernel(X[rows], None if i == j else X[columns]).astype(dtype, copy=False)  # exact at distance 0
        twice = 1 if i == j else 2
        total += twice * _sum_of_squares(K)
        for f, Z in enumerate(features):
            approximation = Z[rows] @ Z[columns].T
            approximation -= K
            missed[f] += twice * _sum_of_squares(approximation)
        yield []
    return [float(error) for error in np.sqrt(missed / total)]


def _blocks(n: int) -> list[tuple[int, int]]:
    starts = range(0, n, _BLOCK_ROWS)
    return [(i, j) for i in starts for j in starts if j >= i]


def _sum_of_squares(block: np.ndarray) -> float:
    """Accumulated in float64, row by row."""
    return float(np.einsum("ij,ij->i", block, block).sum(dtype=np.float64))
