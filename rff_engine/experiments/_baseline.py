"""The RBF support vector machine that every later method is compared with and takes its gamma from.

It is trained on the training rows for all pairs (C, gamma); the first pair of the fewest validation errors wins, C
varying slowest (Letarte et al. 2019, Section 6). Distances are shared over gamma, the kernel matrix over C.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC

from ._problem import Part, Problem, Task

__all__ = ["baseline_tasks"]

# Beyond this many rows the kernel matrices are not held: libsvm computes what it needs.
_MOST_ROWS_HELD = 10000


def baseline_tasks(problem: Problem, protocol) -> list[Task]:
    """One task a pair (C, gamma); the last sets the problem's gamma, and returns the row if "svm" is wanted."""
    problem.gamma = protocol.gamma
    if protocol.gamma is not None and "svm" not in protocol.methods:
        return []
    n = len(problem.train.y)
    rows = problem.some_training_rows(protocol.max_train_svm, "svm_rows")
    search = _Search(problem, rows, protocol)
    seconds = 0.001 + 1e-7 * len(rows.y) ** 2
    tasks = [
        Task(f"SVM: gamma = {gamma:g}, C = {C:g}", seconds, partial(search.fit, i, j))
        for i, gamma in enumerate(search.gammas)
        for j, C in enumerate(search.Cs)
    ]
    note = f"SVM and gamma from {len(rows.y)} of {n} training rows" if len(rows.y) < n else None
    return [*tasks, Task("SVM: choice of C and gamma", seconds, partial(search.choose, note))]


class _Search:
    def __init__(self, problem: Problem, train: Part, protocol):
        self.problem, self.train, self.wanted = problem, train, "svm" in protocol.methods
        self.gammas = protocol.gammas if protocol.gamma is None else (protocol.gamma,)
        self.Cs = protocol.Cs
        self.held = len(train.y) <= _MOST_ROWS_HELD
        self._distances, self._kernel, self._kernel_gamma = {}, {}, None
        self._best, self._seconds = None, 0.0

    def fit(self, i: int, j: int) -> list[dict]:
        """Train one machine, and keep it if it is the best so far."""
        start = time.perf_counter()
        gamma, C = self.gammas[i], self.Cs[j]
        kernel = "precomputed" if self.held else "rbf"
        machine = SVC(C=C, kernel=kernel, gamma=gamma, cache_size=1000)
        machine.fit(self._points("train", gamma), self.train.y)
        wrong = int((machine.predict(self._points("valid", gamma)) != self.problem.valid.y).sum())
        # Gamma is the outer loop here, for it costs a kernel matrix; (j, i) keeps C the slower in the order.
        if self._best is None or (wrong, j, i) < self._best[:3]:
            self._best = (wrong, j, i, machine)
        self._seconds += time.perf_counter() - start
        return []

    def choose(self, note: str | None) -> list[dict]:
        _, j, i, machine = self._best
        self.problem.gamma = gamma = self.gammas[i]
        if note:
            self.problem.notes.append(note)
        parts = {"train": self.train, "valid": self.problem.valid, "test": self.problem.test}
        row = []
        if self.wanted:
            start = time.perf_counter()
            errors = {
                f"{name}_error": float((machine.predict(self._points(name, gamma)) != part.y).mean())
                for name, part in parts.items()
            }
            seconds = self._seconds + time.perf_counter() - start
            row = [self.problem.row("svm", errors, seconds, C=self.Cs[j])]
        self._distances, self._kernel, self._best = {}, {}, None
        return row

    def _points(self, name: str, gamma: float):
        """What libsvm is given of a part: its rows, or their kernel values with the training rows."""
        part = self.train if name == "train" else getattr(self.problem, name)
        if not self.held:
            return part.X
        if gamma != self._kernel_gamma:
            self._kernel, self._kernel_gamma = {}, gamma
        if name not in self._distances:
            X, Y = (A.astype(np.float64, copy=False) for A in (part.X, self.train.X))
            self._distances[name] = euclidean_distances(X, Y, squared=True)
        if name not in self._kernel:
            self._kernel[name] = np.exp(-gamma * self._distances[name])
        return self._kernel[name]
