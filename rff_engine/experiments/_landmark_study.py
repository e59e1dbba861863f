"""The landmark study: linear SVMs on similarities to landmarks (Letarte et al. 2019, Section 6.1).

"rbf_landmarks" takes the kernel itself as similarity; "pb_landmarks" gives each landmark its own frequencies and
its own pseudo-posterior on them. The frequencies of a landmark are drawn from its own seed when they are needed, and
those of a smaller D are the first of a larger one.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import product

import numpy as np
from threadpoolctl import ThreadpoolController

from ..alignment import landmark_alignment_loss
from ..landmarks import landmark_count, landmark_similarity, select_landmarks
from ..posteriors import pseudo_posterior
from ._problem import Problem, Task, linear_svm_seconds, wave_seconds
from .protocols import LandmarkStudy

__all__ = ["landmark_study_tasks"]

_SECONDS_A_TASK = 1.0
_FREQUENCY_ENTRIES = 2**25  # of the landmarks of a task: 256 MiB
_SIMILARITY_ENTRIES = 2**28  # of all settings made at once: 2 GiB
_SELECTIONS = {"random": "random", "clustering": "kmeans"}


def landmark_study_tasks(problem: Problem, protocol: LandmarkStudy) -> list[Task]:
    """Tasks for each selection and share: the landmarks, the kernel, then the learned similarities in groups."""
    tasks = []
    for selection, share in product(protocol.selections, protocol.shares):
        study = _Study(problem, protocol, selection, share)
        named = f"{study.L} landmarks by {selection}"
        tasks.append(Task(named, 1e-8 * len(problem.train.y) * study.L, study.select))
        if "rbf_landmarks" in protocol.methods:
            seconds = study.fit_seconds + 1e-8 * problem.n_rows * study.L
            tasks.append(Task(f"rbf_landmarks, {named}", seconds, study.fit_kernel))
        if "pb_landmarks" in protocol.methods:
            tasks += study.learning_tasks(named)
    return tasks


class _Study:
    """One selection of one share of landmarks."""

    def __init__(self, problem: Problem, protocol: LandmarkStudy, selection: str, share: float):
        self.problem, self.protocol, self.selection, self.share = problem, protocol, selection, share
        n = len(problem.train.y)
        self.L = landmark_count(n, 2, share)
        self.D = max(protocol.n_features)
        self.key = (list(_SELECTIONS).index(selection), round(share * 1e9))
        self.fit_seconds = linear_svm_seconds(n, self.L, len(protocol.Cs))
        self.landmarks = self.labels = self.indices = self.losses = self.similarities = None

    def select(self) -> list[dict]:
        rng = np.random.default_rng(self.problem.child("landmarks", *self.key))
        X, y = self.problem.train
        self.landmarks, self.labels, self.indices = select_landmarks(X, y, self.L, _SELECTIONS[self.selection], rng)
        return []

    def fit_kernel(self) -> list[dict]:
        def features(part):
            return self.problem.kernel(getattr(self.problem, part).X, self.landmarks)

        return [self._row("rbf_landmarks", features)]

    def learning_tasks(self, named: str) -> list[Task]:
        """As many (D, beta) at a time as fit in memory: their similarities share their sines and cosines."""
        settings = list(product(self.protocol.n_features, self.protocol.betas))
        at_once = max(1, _SIMILARITY_ENTRIES // (self.problem.n_rows * self.L))
        tasks = []
        for start in range(0, len(settings), at_once):
            some = settings[start : start + at_once]
            tasks += self._similarity_tasks(named, some, first_time=start == 0)
            for i, (D, beta) in enumerate(some):
                message = f"pb_landmarks, D = {D}, beta = {beta:g}, {named}"
                tasks.append(Task(message, self.fit_seconds, partial(self.fit_learned, i, D, beta)))
        return tasks

    def _similarity_tasks(self, named: str, settings: list, first_time: bool) -> list[Task]:
        problem, d = self.problem, self.problem.n_columns
        D = max(D for D, _ in settings)
        one = wave_seconds(problem.n_rows, D, d)
        if first_time:
            one += wave_seconds(len(problem.train.y), self.D, d)
        group = max(1, min(int(_SECONDS_A_TASK / one), _FREQUENCY_ENTRIES // (self.D * d)))
        tasks = []
        for first in range(0, self.L, group):
            these = range(first, min(first + group, self.L))
            message = f"similarities to landmarks {first + 1} to {these.stop}: {named}"
            tasks.append(Task(message, one * len(these), partial(self.learn, these, settings, first_time)))
        return tasks

    def learn(self, these: range, settings: list, first_time: bool = True) -> list[dict]:
        """Pseudo-posteriors and similarities of some landmarks, for every (D, beta); the first time their losses."""
        problem, n = self.problem, len(self.problem.train.y)
        D_most = self.D if first_time else max(D for D, _ in settings)
        if these.start == 0:
            self.similarities = None  # before the next are made
            dtype = np.result_type(problem.train.X.dtype, np.float32)
            self.similarities = np.empty((len(settings), problem.n_rows, self.L), dtype=dtype)
            if first_time:
                self.losses = np.empty((self.L, self.D))
        rows = slice(these.start, these.stop)
        omega = np.stack([self._frequencies(landmark, D_most) for landmark in these])
        if first_time:
            indices = None if self.indices is None else self.indices[rows]
            chosen = self.landmarks[rows], self.labels[rows]
            self.losses[rows] = landmark_alignment_loss(*problem.train, *chosen, omega, indices)
            omega = omega[:, : max(D for D, _ in settings)]
        Q = np.zeros((len(these), len(settings), omega.shape[1]))  # zero beyond a setting's own D
        for i, (D, beta) in enumerate(settings):
            Q[:, i, :D] = pseudo_posterior(self.losses[rows, :D], beta, n)
        self._fill_similarities(these, self.landmarks[rows], omega, Q)
        return []

    def _frequencies(self, landmark: int, D: int) -> np.ndarray:
        rng = np.random.default_rng(self.problem.child("landmark_frequencies", *self.key, landmark))
        return self.problem.kernel.sample_frequencies(D, self.problem.n_columns, rng)

    def _fill_similarities(self, these: range, landmarks, omega, Q) -> None:
        parts = _rows_of_parts(self.problem)

        def fill(i):
            # Seen as landmarks at one point with shared frequencies, the settings share their phases.
            copies = landmarks[[i] * Q.shape[1]]
            for name, rows in parts.items():
                X = getattr(self.problem, name).X
                self.similarities[:, rows, these[i]] = landmark_similarity(X, copies, omega[i], Q[i]).T

        with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(fill, range(len(these))))

    def fit_learned(self, i: int, D: int, beta: float) -> list[dict]:
        parts = _rows_of_parts(self.problem)
        return [self._row("pb_landmarks", lambda part: self.similarities[i, parts[part]], D=D, beta=beta)]

    def _row(self, method: str, features, **setting) -> dict:
        fields = {"landmarks": self.selection, "share": self.share, **setting}
        return self.problem.timed_row(method, features, self.protocol.Cs, **fields)


def _rows_of_parts(problem: Problem) -> dict[str, slice]:
    rows, start = {}, 0
    for name in ("train", "valid", "test"):
        end = start + len(getattr(problem, name).y)
        rows[name], start = slice(start, end), end
    return rows


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
