"""The RBF support vector machine that every later method is compared with and takes its gamma from.

It is trained on the training rows for all pairs (C, gamma); the first pair of the fewest validation errors wins, C
varying slowest (Letarte et al. 2019, Section 6). Distances are shared over gamma, the kernel matrix over C. All of
it is in float64, whatever the precision of later stages: published errors come to the digit.

A machine none of whose dual coefficients reaches C solves the problem of every larger C as well. Since the first of
equal ones wins, these are not trained: with points as far apart as those of unscaled columns, that is most of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import psutil
from sklearn.metrics.pairwise import euclidean_distances

from ._problem import Part, Problem
from ._units import Unit, UnitStep
from .protocols import Protocol

__all__ = ["baseline_notes", "baseline_units"]

# Up to this many rows distances are held for all gammas.
_MOST_ROWS_SHARED = 10000
# Up to this many a kernel matrix is held, where it takes no more than this part of the memory that is free; else libsvm
# computes what it needs, many times over.
_MOST_ROWS_HELD = 30000
_MEMORY_HELD = 0.4
# Kernel values between training rows and others that are held at a time.
_BLOCK_VALUES = 1 << 25
# Of training an SVM, by pairs of training rows.
_SECONDS_A_PAIR = 1e-7
# A dual coefficient this close to C is taken to have reached it.
_REACHED = 0.999


def baseline_units(problem: Problem, protocol: Protocol) -> list[Unit]:
    """One unit a gamma, then the choice, whose row is that of "svm" (wanted or not); the last one is "prior".

    The value of "prior" is the problem at the gamma chosen, or fixed, in the precision of what follows.
    """
    if not _needed(protocol):
        return [Unit("prior", partial(_prior, protocol), ("problem",), (UnitStep("gamma is given", 0.001),))]
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


def baseline_notes(problem: Problem, protocol: Protocol) -> list[str]:
    """What every row must say of the baseline: that it did not see all training rows, if so."""
    n, used = len(problem.train.y), len(_training_rows(problem, protocol).y) if _needed(protocol) else None
    chosen = "C and gamma of the SVM" if protocol.refit_svm else "SVM and gamma"
    return [f"{chosen} from {used} of {n} training rows"] if used not in (None, n) else []


def _refits(problem: Problem, protocol: Protocol) -> bool:
    return protocol.refit_svm and len(_training_rows(problem, protocol).y) < len(problem.train.y)


def _refit_seconds(problem: Problem, protocol: Protocol) -> float:
    return 0.001 + (_SECONDS_A_PAIR * len(problem.train.y) ** 2 if _refits(problem, protocol) else 0)


def _needed(protocol: Protocol) -> bool:
    return protocol.gamma is None or "svm" in protocol.methods


class _Found(NamedTuple):
    """The best machine at a gamma: the first C of the fewest validation errors."""

    wrong: int
    j: int
    """Position of its C in the grid."""
    errors: dict
    seconds: float
    """Spent on all C."""


def _gammas(protocol: Protocol) -> tuple[float, ...]:
    return protocol.gammas if protocol.gamma is None else (protocol.gamma,)


def _training_rows(problem: Problem, protocol: Protocol) -> Part:
    return problem.some_training_rows(protocol.max_train_svm, "svm_rows")


def _search(protocol: Protocol, gamma: float, problem: Problem) -> Iterator[list[dict]]:
    start = time.perf_counter()
    train = _training_rows(problem, protocol)
    given = _Given(problem, train, gamma)
    best, seconds, solved = None, 0.0, False
    for j, C in enumerate(protocol.Cs):
        if not solved:
            machine = given.machine(C).fit(given.training, train.y)
            solved = abs(machine.dual_coef_).max() < _REACHED * C
            errors = given.wrong(machine, "valid", problem.valid)
            if best is None or errors < best[0]:
                best = errors, j, machine
        seconds += time.perf_counter() - start
        yield []
        start = time.perf_counter()
    errors, j, machine = best
    shares = given.shares_wrong(machine)
    return _Found(errors, j, shares, seconds + time.perf_counter() - start)


class _Given:
    """What libsvm is given at a gamma: kernel values with the training rows where they can be held, else the rows."""

    def __init__(self, problem: Problem, train: Part, gamma: float):
        self._problem, self._train, self._gamma = problem, train, gamma
        most_bytes = _MEMORY_HELD * psutil.virtual_memory().available
        self._held = len(train.y) <= _MOST_ROWS_HELD and 8 * len(train.y) ** 2 <= most_bytes
        self._kept = {}
        self.training = self._values("train", train) if self._held else train.X

    def machine(self, C: float):
        kernel = "precomputed" if self._held else "rbf"
        return _machine_class(self._held)(C=C, kernel=kernel, gamma=self._gamma, cache_size=1000)

    def shares_wrong(self, machine) -> dict[str, float]:
        parts = {"train": self._train, "valid": self._problem.valid, "test": self._problem.test}
        return {f"{name}_error": self.wrong(machine, name, part) / len(part.y) for name, part in parts.items()}

    def wrong(self, machine, name: str, part: Part) -> int:
        return sum(int((machine.predict(some) != y).sum()) for some, y in self._blocks(name, part))

    def _blocks(self, name: str, part: Part) -> Iterator[tuple]:
        """What predictions are made from, and the labels, some rows at a time."""
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
        if name in ("train", "valid") and len(self._train.y) <= _MOST_ROWS_SHARED:
            distances = self._problem.shared(f"squared distances of {name}", lambda: self._distances(part))
            return np.exp(-self._gamma * distances)
        values = self._distances(part)
        values *= -self._gamma
        return np.exp(values, out=values)

    def _distances(self, part: Part) -> np.ndarray:
        X, Y = (A.astype(np.float64, copy=False) for A in (part.X, self._train.X))
        return euclidean_distances(X, Y, squared=True)


def _machine_class(held: bool):
    """scikit-learn's SVC; where kernel matrices are not held, the faster one of scikit-learn-intelex if it is here."""
    if not held:
        try:
            from sklearnex.svm import SVC

            return SVC
        except ImportError:
            pass
    from sklearn.svm import SVC

    return SVC


def _choose(protocol: Protocol, problem: Problem, *found: _Found, wanted) -> Iterator[list[dict]]:
    # Each has the best of its gamma; (j, i) keeps C the slower in the order of the grid.
    i = min(range(len(found)), key=lambda i: (found[i].wrong, found[i].j, i))
    gamma, C, errors = _gammas(protocol)[i], protocol.Cs[found[i].j], found[i].errors
    seconds = sum(of_gamma.seconds for of_gamma in found)
    if _refits(problem, protocol):
        start = time.perf_counter()
        problem.forget()  # distances of the fewer rows
        given = _Given(problem, problem.train, gamma)
        errors = given.shares_wrong(given.machine(C).fit(given.training, problem.train.y))
        problem.forget()
        seconds += time.perf_counter() - start
    yield [problem.row("svm", errors, seconds, gamma=gamma, C=C)]
    return gamma


def _gamma_of(rows: list[dict]) -> float:
    return rows[0]["gamma"]


def _prior(protocol: Protocol, problem: Problem, gamma: float | None = None) -> Iterator[list[dict]]:
    problem.forget()  # the distances: their stage is over
    prior = problem.with_gamma(protocol.gamma if gamma is None else gamma, protocol.precision)
    yield []
    return prior
