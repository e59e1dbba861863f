"""The feature sweep: test error against the number D of random features (Letarte et al. 2019, Section 6.2).

The losses of N candidate frequencies are computed once. "rff" takes the first D candidates, "pbrff" and "okrff" draw
D of them, with replacement, from the pseudo-posterior of every beta and the optimized kernel of every rho.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..alignment import alignment_loss
from ..features import fourier_features, phases
from ..frequencies import FrequencyBlocks
from ..kernels import GaussianKernel
from ..posteriors import optimized_kernel_weights, pseudo_posterior
from ._problem import Problem, Task, linear_svm_seconds, wave_seconds
from .protocols import FeatureSweep

__all__ = ["feature_sweep_tasks"]

_SECONDS_A_TASK = 0.5


def feature_sweep_tasks(problem: Problem, protocol: FeatureSweep) -> list[Task]:
    """Tasks for the candidates and their losses, then one for each D, method and beta or rho: small D first."""
    settings = _settings(protocol)
    if not settings:
        return []
    sweep = _Sweep(problem, protocol)
    n, d = len(problem.train.y), problem.n_columns
    tasks = []
    for blocks in sweep.runs_of_blocks():
        first, end = blocks.start * sweep.blocks.block_size, min(blocks.stop * sweep.blocks.block_size, sweep.N)
        message = f"candidates {first + 1} to {end} of {sweep.N}"
        tasks.append(Task(message, wave_seconds(n, end - first, d), partial(sweep.draw, blocks)))
    for D in protocol.n_features:
        seconds = wave_seconds(problem.n_rows, D, d) + linear_svm_seconds(n, 2 * D, len(protocol.Cs))
        for method, field, value in settings:
            named = method if field is None else f"{method}, {field} = {value:g}"
            tasks.append(Task(f"{named}, D = {D}", seconds, partial(sweep.fit, method, field, value, D)))
    return tasks


def _settings(protocol: FeatureSweep) -> list[tuple]:
    settings = [("rff", None, None)] if "rff" in protocol.methods else []
    settings += [("pbrff", "beta", beta) for beta in protocol.betas if "pbrff" in protocol.methods]
    return settings + [("okrff", "rho", rho) for rho in protocol.rhos if "okrff" in protocol.methods]


class _Sweep:
    def __init__(self, problem: Problem, protocol: FeatureSweep):
        self.problem, self.protocol = problem, protocol
        self.learns = bool({"pbrff", "okrff"} & set(protocol.methods))
        # The first candidates are the same however many there are: without a posterior no others are needed.
        self.N = protocol.n_candidates if self.learns else max(protocol.n_features)
        seed = int(problem.child("candidates").generate_state(1, np.uint64)[0])
        self.blocks = FrequencyBlocks(GaussianKernel(), self.N, problem.n_columns, seed)
        # Kept are the candidates or, where that is less (a great many columns), the phases of all rows at them.
        self.keeps_phases = problem.n_columns > problem.n_rows
        self._kept, self._losses, self._indices = [], [], {}

    def runs_of_blocks(self) -> list[range]:
        """The blocks of candidates, so many at a time as take about half a second."""
        one = wave_seconds(len(self.problem.train.y), self.blocks.block_size, self.problem.n_columns)
        at_once = max(1, int(_SECONDS_A_TASK / one))
        n_blocks = self.blocks.n_blocks
        return [range(b, min(b + at_once, n_blocks)) for b in range(0, n_blocks, at_once)]

    def draw(self, blocks: range) -> list[dict]:
        """Draw candidates, compute their losses, and keep what features will be made of."""
        problem = self.problem
        drawn = replace(self.blocks, kernel=problem.kernel)
        omega = np.concatenate([drawn.block(b) for b in blocks])
        if self.learns:
            self._losses.append(alignment_loss(problem.train.X, problem.train.y, omega))
        if self.keeps_phases:
            parts = (problem.train, problem.valid, problem.test)
            self._kept.append(np.concatenate([phases(part.X, omega) for part in parts]))
        else:
            self._kept.append(omega)
        if blocks.stop == self.blocks.n_blocks:
            axis = 1 if self.keeps_phases else 0
            self._kept = np.concatenate(self._kept, axis=axis)
            self._losses = np.concatenate(self._losses) if self.learns else None
        return []

    def fit(self, method: str, field: str | None, value: float | None, D: int) -> list[dict]:
        """The row of one method, beta or rho, and D."""
        indices = self._candidates(method, value)[:D]
        setting = {} if field is None else {field: value}
        features = partial(self._features, indices)
        return [self.problem.timed_row(method, features, self.protocol.Cs, D=D, **setting)]

    def _candidates(self, method: str, value: float | None) -> np.ndarray:
        """The long draw of a method: what fewer features use is a prefix of it."""
        if (method, value) not in self._indices:
            D = max(self.protocol.n_features)
            if method == "rff":
                self._indices[method, value] = np.arange(D)
            else:
                # Every beta, or rho, inverts its distribution function at the same uniform numbers.
                uniform = np.random.default_rng(self.problem.child(method)).random(D)
                cumulative = np.cumsum(self._weights(method, value))
                drawn = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
                self._indices[method, value] = drawn
        return self._indices[method, value]

    def _weights(self, method: str, value: float) -> np.ndarray:
        if method == "pbrff":
            return pseudo_posterior(self._losses, value, len(self.problem.train.y))
        return optimized_kernel_weights(self._losses, value * self.N)

    def _features(self, indices: np.ndarray, part: str) -> np.ndarray:
        X = getattr(self.problem, part).X
        if not self.keeps_phases:
            return fourier_features(X, self._kept[indices])
        first = sum(len(getattr(self.problem, name).y) for name in _PARTS[: _PARTS.index(part)])
        angle = self._kept[first : first + X.shape[0]][:, indices]
        return np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / np.sqrt(len(indices))


_PARTS = ("train", "valid", "test")
