"""The RBF support vector machine that is the baseline of every other method and chooses their gamma.

It is trained on the training rows for all pairs (C, gamma); the first pair with the fewest validation errors wins, C
varying slowest (Letarte et al. 2019, Section 6). Distances are shared over gamma, the kernel matrix over C. All is in
float64, whatever the precision of later stages, and reproduces published errors to the digit.

An SVM without a dual coefficient at C also solves the problem of every larger C. Since the first of equal ones wins,
the larger ones are not trained: on the distant points of unscaled columns, that is most of them.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import psutil
from sklearn.metrics.pairwise import euclidean_distances

from .letarte_problem import LetarteProblem
from .problem import Part, Report, Row, Work
from .protocols import LetarteProtocol

# Up to so many rows, distances are kept for all gammas.
_MAX_ROWS_SHARED = 10000
# Up to so many rows, a kernel matrix is kept if it takes at most this fraction of free memory. Otherwise libsvm
# computes kernel values many times.
_MAX_ROWS_HELD = 30000
_MEMORY_HELD = 0.4
# Kernel values between training rows and other rows in memory at a time.
_BLOCK_VALUES = 1 << 25
# A dual coefficient above this fraction of C counts as having reached it.
_REACHED = 0.999


def prior(problem: LetarteProblem, protocol: LetarteProtocol, work: Work) -> Generator[Report, None, LetarteProblem]:
    """Return the problem with the chosen or fixed gamma, in the precision of later stages; report the row of "svm"."""
    gamma = protocol.gamma
    if _needed(protocol):
        row = work.known({"method": "svm"})
        if row is None:
            row = yield from _choose(problem, protocol, work)
        gamma = row["gamma"]
    problem.kept.clear()  # no later stage needs the distances
    assert gamma is not None  # it is chosen unless it is given
    return problem.with_gamma(gamma, protocol.precision)


def _choose(problem: LetarteProblem, protocol: LetarteProtocol, work: Work) -> Generator[Report, None, Row]:
    """Return the row of the SVM with the fewest validation errors; one call searches each gamma."""
    found, gammas = {}, protocol.gammas if protocol.gamma is None else (protocol.gamma,)
    for gamma, best in work.each((_search, problem, protocol, gamma) for gamma in gammas):
        found[gamma] = best
        yield f"SVM: {len(found)} of {len(gammas)} values of gamma", None
    # (j, i) is the order of the grid: C varies slowest.
    i = min(range(len(gammas)), key=lambda i: (found[gammas[i]].n_errors, found[gammas[i]].j, i))
    gamma, C, errors = gammas[i], protocol.Cs[found[gammas[i]].j], found[gammas[i]].errors
    seconds = sum(of_gamma.seconds for of_gamma in found.values())
    if protocol.refit_svm and len(_training_rows(problem, protocol).y) < len(problem.train.y):
        problem.kept.clear()  # distances of the subset
        ((errors, more),) = work.each([(_refit, problem, gamma, C)])
        seconds += more
    row = problem.row("svm", errors, seconds, gamma=gamma, C=C)
    yield "SVM: choice of C and gamma", row
    return row


def _refit(problem: LetarteProblem, gamma: float, C: float) -> tuple[dict[str, float], float]:
    """Return errors of the SVM on all training rows, and the seconds that they took."""
    start = time.perf_counter()
    given = _SVMInput(problem, problem.train, gamma)
    errors = given.error_rates(given.machine(C).fit(given.training, problem.train.y))
    problem.kept.clear()
    return errors, time.perf_counter() - start


def with_notes(problem: LetarteProblem, protocol: LetarteProtocol) -> LetarteProblem:
    """Return the problem with a note for every row: on how many training rows the baseline is, if not on all."""
    n = len(problem.train.y)
    used = len(_training_rows(problem, protocol).y) if _needed(protocol) else n
    if used == n:
        return problem
    chosen = "C and gamma of the SVM" if protocol.refit_svm else "SVM and gamma"
    return replace(problem, notes=(*problem.notes, f"{chosen} from {used} of {n} training rows"))


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


def _training_rows(problem: LetarteProblem, protocol: LetarteProtocol) -> Part:
    return problem.some_training_rows(protocol.max_train_svm, "svm_rows")


def _search(problem: LetarteProblem, protocol: LetarteProtocol, gamma: float) -> tuple[float, _BestC]:
    start = time.perf_counter()
    train = _training_rows(problem, protocol)
    given = _SVMInput(problem, train, gamma)
    best, solved = None, False
    for j, C in enumerate(protocol.Cs):
        if solved:
            break
        machine = given.machine(C).fit(given.training, train.y)
        solved = abs(machine.dual_coef_).max() < _REACHED * C
        errors = given.n_errors(machine, "valid", problem.valid)
        if best is None or errors < best[0]:
            best = errors, j, machine
    assert best is not None  # Cs is not empty
    errors, j, machine = best
    return gamma, _BestC(errors, j, given.error_rates(machine), time.perf_counter() - start)


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
        """Yield inputs of predictions and their labels, some rows at a time."""
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
            distances = self._problem.keep(f"squared distances of {name}", None, lambda: self._distances(part))
            return np.exp(-self._gamma * distances)
        values = self._distances(part)
        values *= -self._gamma
        return np.exp(values, out=values)

    def _distances(self, part: Part) -> np.ndarray:
        X, Y = (A.astype(np.float64, copy=False) for A in (part.X, self._train.X))
        return euclidean_distances(X, Y, squared=True)


def _machine_class(held: bool):
    """Return SVC: scikit-learn's, or scikit-learn-intelex's, if installed, when kernel matrices are not kept."""
    if not held:
        try:
            from sklearnex.svm import SVC  # pyright: ignore[reportMissingImports] - an optional package

            return SVC
        except ImportError:
            pass
    from sklearn.svm import SVC

    return SVC
