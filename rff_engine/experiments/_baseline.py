"""The RBF support vector machine that every later method is compared with and takes its gamma from.

It is trained on the training rows for all pairs (C, gamma); the first pair of the fewest validation errors wins, C
varying slowest (Letarte et al. 2019, Section 6). Distances are shared over gamma, the kernel matrix over C. All of
it is in float64, whatever the precision of later stages: published errors come to the digit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from ._problem import Part, Problem
from ._units import Unit, UnitStep
from .protocols import Protocol

__all__ = ["baseline_notes", "baseline_units"]

# Beyond this many rows the kernel matrices are not held: libsvm computes what it needs.
_MOST_ROWS_HELD = 10000


def baseline_units(problem: Problem, protocol: Protocol) -> list[Unit]:
    """One unit a gamma, then the choice, whose row is that of "svm" (wanted or not); the last one is "prior".

    The value of "prior" is the problem at the gamma chosen, or fixed, in the precision of what follows.
    """
    if not _needed(protocol):
        return [Unit("prior", partial(_prior, protocol), ("problem",), (UnitStep("gamma is given", 0.001),))]
    n = len(_training_rows(problem, protocol).y)
    seconds = 0.001 + 1e-7 * n**2
    units = []
    for gamma in _gammas(protocol):
        steps = tuple(UnitStep(f"SVM: gamma = {gamma:g}, C = {C:g}", seconds) for C in protocol.Cs)
        units.append(Unit(f"svm-{gamma:g}", partial(_search, protocol, gamma), ("problem",), steps))
    needs = ("problem", *(unit.name for unit in units))
    chosen = UnitStep("SVM: choice of C and gamma", 0.001, {"method": "svm"})
    units.append(Unit("choice", partial(_choose, protocol), needs, (chosen,), value_of=_gamma_of))
    units.append(Unit("prior", partial(_prior, protocol), ("problem", "choice"), (UnitStep("SVM: done", 0.001),)))
    return units


def baseline_notes(problem: Problem, protocol: Protocol) -> list[str]:
    """What every row must say of the baseline: that it did not see all training rows, if so."""
    n, used = len(problem.train.y), len(_training_rows(problem, protocol).y) if _needed(protocol) else None
    return [f"SVM and gamma from {used} of {n} training rows"] if used not in (None, n) else []


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
    parts = {"train": train, "valid": problem.valid, "test": problem.test}
    held = len(train.y) <= _MOST_ROWS_HELD
    kernels = {}

    def points(name):
        """What libsvm is given of a part: its rows, or their kernel values with the training rows."""
        if not held:
            return parts[name].X
        if name not in kernels:
            kernels[name] = np.exp(-gamma * _squared_distances(problem, name, parts[name], train))
        return kernels[name]

    best, seconds = None, 0.0
    for j, C in enumerate(protocol.Cs):
        machine = _machine_class(held)(C=C, kernel="precomputed" if held else "rbf", gamma=gamma, cache_size=1000)
        machine.fit(points("train"), train.y)
        wrong = int((machine.predict(points("valid")) != problem.valid.y).sum())
        if best is None or wrong < best[0]:
            best = wrong, j, machine
        seconds += time.perf_counter() - start
        yield []
        start = time.perf_counter()
    wrong, j, machine = best
    errors = {f"{name}_error": float((machine.predict(points(name)) != part.y).mean()) for name, part in parts.items()}
    return _Found(wrong, j, errors, seconds + time.perf_counter() - start)


def _squared_distances(problem: Problem, name: str, part: Part, train: Part) -> np.ndarray:
    def make():
        X, Y = (A.astype(np.float64, copy=False) for A in (part.X, train.X))
        return euclidean_distances(X, Y, squared=True)

    # Those of the test rows are needed once a gamma only, and may be the smallest or the largest of the three.
    return make() if name == "test" else problem.shared(f"squared distances of {name}", make)


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
    gamma, best = _gammas(protocol)[i], found[i]
    seconds = sum(of_gamma.seconds for of_gamma in found)
    yield [problem.row("svm", best.errors, seconds, gamma=gamma, C=protocol.Cs[best.j])]
    return gamma


def _gamma_of(rows: list[dict]) -> float:
    return rows[0]["gamma"]


def _prior(protocol: Protocol, problem: Problem, gamma: float | None = None) -> Iterator[list[dict]]:
    problem.forget()  # the distances: their stage is over
    prior = problem.with_gamma(protocol.gamma if gamma is None else gamma, protocol.precision)
    yield []
    return prior
