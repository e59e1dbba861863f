"""The RBF support vector machine that is the baseline of every other method and chooses their gamma.

It is trained on the training rows for all pairs (C, gamma); the first pair with the fewest validation errors wins, C
varying slowest (Letarte et al. 2019, Section 6). Distances are shared over gamma, the kernel matrix over C. All is in
float64, whatever the precision of later stages, and reproduces published errors to the digit.

An SVM none of whose dual coefficients reaches C solves the problem of every larger C as well. Since the first of equal
ones wins, these are not trained: on the distant points of unscaled columns, that is most of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import psutil
from sklearn.metrics.pairwise import euclidean_distances

from .letarte_problem import LetarteProblem
from .problem import Part
from .protocols import LetarteProtocol
from .units import Row, Unit, UnitStep

# Up to this many rows, distances are kept for all gammas.
_MAX_ROWS_SHARED = 10000
# Up to this many rows, a kernel matrix is kept if it takes at most this fraction of free memory; else libsvm computes
# kernel values many times over.
_MAX_ROWS_HELD = 30000
_MEMORY_HELD = 0.4
# Kernel values between training rows and others in memory at a time.
_BLOCK_VALUES = 1 << 25
# Training time of an SVM, by pairs of training rows.
_SECONDS_A_PAIR = 1e-7
# A dual coefficient above this fraction of C counts as having reached it.
_REACHED = 0.999


def baseline_units(problem: LetarteProblem, protocol: LetarteProtocol) -> list[Unit]:
    """One unit for each gamma, then "choice" with the row of "svm" (among the methods or not), and "prior".

    The value of "prior" is the problem with the chosen or fixed gamma, in the precision of later stages.
    """
    if not _needed(protocol):
        (gamma,) = _gammas(protocol)
        step = UnitStep("gamma is given", 0.001)
        return [Unit("prior", partial(_prior, protocol, gamma=gamma), ("problem",), (step,))]
    n = len(_training_rows(problem, protocol).y)
    seconds = 0.001 + _SECONDS_A_PAIR * n**2
    units = []
    for gamma in _gammas(protocol):
        steps = tuple(UnitStep(f"SVM: gamma = {gamma:g}, C = {C:g}", seconds) for C in protocol.Cs)
        units.append(Unit(f"svm-{gamma:g}", partial(_search, protocol, gamma), ("problem",), steps))
    needs = ("problem", *(unit.name for unit in units))
    chosen = UnitStep("SVM: choice of C and gamma", _refit_seconds(problem, protocol), {"method": "svm"})
    units.append(Unit("choice", partial(_choose, protocol), needs, (chosen,), value_of=_gamma_of))
    units.append(Unit("prior", partial(_prior, protocol), ("problem", "choice"), (UnitStep("SVM: done", 0.001),)))
    return units


def baseline_notes(problem: LetarteProblem, protocol: LetarteProtocol) -> list[str]:
    """Notes for every row: the number of training rows of the baseline, if it is not all of them."""
    n = len(problem.train.y)
    used = len(_training_rows(problem, protocol).y) if _needed(protocol) else None
    chosen = "C and gamma of the SVM" if protocol.refit_svm else "SVM and gamma"
    return [f"{chosen} from {used} of {n} training rows"] if used not in (None, n) else []


def _refits(problem: LetarteProblem, protocol: LetarteProtocol) -> bool:
    return protocol.refit_svm and len(_training_rows(problem, protocol).y) < len(problem.train.y)


def _refit_seconds(problem: LetarteProblem, protocol: LetarteProtocol) -> float:
    return 0.001 + (_SECONDS_A_PAIR * len(problem.train.y) ** 2 if _refits(problem, protocol) else 0)


def _needed(protocol: LetarteProtocol) -> bool:
    return protocol.gamma is None or "svm" in protocol.methods


class _BestC(NamedTuple):
    """The best SVM at a gamma: the first C with the fewest validation errors."""

    n_errors: int
    """On validation rows"""
    j: int
    """Position of its C in the grid"""
    errors: Row
    seconds: float
    """Spent on all C"""


def _gammas(protocol: LetarteProtocol) -> tuple[float, ...]:
    return protocol.gammas if protocol.gamma is None else (protocol.gamma,)


def _training_rows(problem: LetarteProblem, protocol: LetarteProtocol) -> Part:
    return problem.some_training_rows(protocol.max_train_svm, "svm_rows")


def _search(protocol: LetarteProtocol, gamma: float, problem: LetarteProblem) -> Iterator[list[Row]]:
    start = time.perf_counter()
    train = _training_rows(problem, protocol)
    given = _SVMInput(problem, train, gamma)
    best, seconds, solved = None, 0.0, False
    for j, C in enumerate(protocol.Cs):
        if not solved:
            machine = given.machine(C).fit(given.training, train.y)
            solved = abs(machine.dual_coef_).max() < _REACHED * C
            errors = given.n_errors(machine, "valid", problem.valid)
            if best is None or errors < best[0]:
                best = errors, j, machine
        seconds += time.perf_counter() - start
        yield []
        start = time.perf_counter()
    assert best is not None  # Cs is not empty
    errors, j, machine = best
    rates = given.error_rates(machine)
    return _BestC(errors, j, rates, seconds + time.perf_counter() - start)


class _SVMInput:
    """Input of libsvm at a gamma: kernel values with the training rows if they fit in memory, else the rows."""

    def __init__(self, problem: LetarteProblem, train: Part, gamma: float):
        self._problem, self._train, self._gamma = problem, train, gamma
        most_bytes = _MEMORY_HELD * psutil.virtual_memory().available
        self._held = len(train.y) <= _MAX_ROWS_HELD and 8 * len(train.y) ** 2 <= most_bytes
        self._kept = {}
        self.training = self._values("train", train) if self._held else train.X

    def machine(self, C: float):
        kernel = "precomputed" if self._held else "rbf"
        return _machine_class(self._held)(C=C, kernel=kernel, gamma=self._gamma, cache_size=1000)

    def error_rates(self, machine) -> dict[str, float]:
        parts = {"train": self._train, "valid": self._problem.valid, "test": self._problem.test}
        return {f"{name}_error": self.n_errors(machine, name, part) / len(part.y) for name, part in parts.items()}

    def n_errors(self, machine, name: str, part: Part) -> int:
        return sum(int((machine.predict(some) != y).sum()) for some, y in self._blocks(name, part))

    def _blocks(self, name: str, part: Part) -> Iterator[tuple]:
        """Inputs of predictions and their labels, some rows at a time."""
        if not self._held or name == "train":
            yield (self.training if name == "train" else part.X), part.y
        elif len(part.y) * len(self._train.y) <= _BLOCK_VALUES:
            if name not in self._kept:
                self._kept[name] = self._values(name, part)
            yield self._kept[name], part.y
        else:
            rows = max(1, _BLOCK_VALUES // len(self._train.y))
            for first in range(0, len(part.y), rows):
                some = Part(part.X[first : first + rows], part.y[first : first + rows])
                yield self._values("", some), some.y

    def _values(self, name: str, part: Part) -> np.ndarray:
        if name in ("train", "valid") and len(self._train.y) <= _MAX_ROWS_SHARED:
            distances = self._problem.cached(f"squared distances of {name}", lambda: self._distances(part))
            return np.exp(-self._gamma * distances)
        values = self._distances(part)
        values *= -self._gamma
        return np.exp(values, out=values)

    def _distances(self, part: Part) -> np.ndarray:
        X, Y = (A.astype(np.float64, copy=False) for A in (part.X, self._train.X))
        return euclidean_distances(X, Y, squared=True)


def _machine_class(held: bool):
    """SVC of scikit-learn; if kernel matrices are not kept, the faster one of scikit-learn-intelex if installed."""
    if not held:
        try:
            from sklearnex.svm import SVC  # pyright: ignore[reportMissingImports] - an optional package

            return SVC
        except ImportError:
            pass
    from sklearn.svm import SVC

    return SVC


def _choose(protocol: LetarteProtocol, problem: LetarteProblem, *by_gamma: _BestC, wanted) -> Iterator[list[Row]]:
    # (j, i) is the order of the grid, in which C varies slowest.
    i = min(range(len(by_gamma)), key=lambda i: (by_gamma[i].n_errors, by_gamma[i].j, i))
    gamma, C, errors = _gammas(protocol)[i], protocol.Cs[by_gamma[i].j], by_gamma[i].errors
    seconds = sum(of_gamma.seconds for of_gamma in by_gamma)
    if _refits(problem, protocol):
        start = time.perf_counter()
        problem.clear_cache()  # distances of the fewer rows
        given = _SVMInput(problem, problem.train, gamma)
        errors = given.error_rates(given.machine(C).fit(given.training, problem.train.y))
        problem.clear_cache()
        seconds += time.perf_counter() - start
    yield [problem.row("svm", errors, seconds, gamma=gamma, C=C)]
    return gamma


def _gamma_of(rows: list[Row]) -> float:
    return rows[0]["gamma"]


def _prior(protocol: LetarteProtocol, problem: LetarteProblem, gamma: float) -> Iterator[list[Row]]:
    problem.clear_cache()  # no later stage needs the distances
    prior = problem.with_gamma(gamma, protocol.precision)
    yield []
    return prior
