"""The landmark study: linear SVMs on similarities to landmarks (Letarte et al. 2019, Section 6.1).

"rbf_landmarks" takes the kernel itself as similarity; "pb_landmarks" gives each landmark its own frequencies and
its own pseudo-posterior on them. The frequencies of a landmark are drawn from its own seed when they are needed. A
smaller D has the first frequencies of a larger D.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..alignment import landmark_alignment_loss
from ..landmarks import landmark_count, landmark_similarity, select_landmarks
from ..linear import linear_svm_path
from ..posteriors import pseudo_posterior
from .baseline import prior
from .letarte_problem import PARTS, LetarteProblem
from .problem import Report, Row, Work, wave_seconds
from .protocols import LandmarkStudy

_SECONDS_A_STEP = 1.0
_FREQUENCY_ENTRIES = 2**25  # entries of the landmarks of a step: 256 MiB
_SIMILARITY_BYTES = 2**31  # bytes of the settings that are learned together
_SELECTIONS = {"random": "random", "clustering": "kmeans"}


def landmark_study_rows(problem: LetarteProblem, protocol: LandmarkStudy, work: Work) -> Iterator[Report]:
    """Compute for each selection and share the landmarks, then the rows of the kernel and of learned similarities."""
    with_gamma = yield from prior(problem, protocol, work)
    groups: dict[tuple, list[Row]] = {}
    for row in protocol.settings():
        if row["method"] != "svm":
            groups.setdefault((row["landmarks"], row["share"]), []).append(row)
    for (selection, share), rows in work.in_turn(groups.items()):
        if all(map(work.known, rows)):
            continue
        (landmarks,) = work.each([(_select, problem, selection, share)])
        named = f"{len(landmarks.labels)} landmarks by {selection}"
        yield named, None
        of_kernel = [row for row in rows if row["method"] == "rbf_landmarks" and work.known(row) is None]
        for row in work.each((_fit_kernel, with_gamma, protocol, landmarks, settings) for settings in of_kernel):
            yield f"rbf_landmarks, {named}", row
        learned = [row for row in rows if row["method"] == "pb_landmarks"]
        yield from _learned(with_gamma, protocol, landmarks, learned, named, work)


def _learned(
    problem: LetarteProblem, protocol: LandmarkStudy, landmarks: _Landmarks, rows: list[Row], named: str, work: Work
) -> Iterator[Report]:
    """Compute rows of all (D, beta). As many as fit in memory share sines and cosines, whichever are known."""
    L, losses = len(landmarks.labels), None
    itemsize = 8 if protocol.precision == "float64" else 4
    at_once = max(1, _SIMILARITY_BYTES // (itemsize * problem.n_rows * L))
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        if all(map(work.known, some)):
            continue
        if losses is None:
            losses = np.full((L, max(protocol.n_features)), np.nan)
        similarities = np.empty((len(some), problem.n_rows, L), problem.feature_dtype)
        settings = [(row["D"], row["beta"]) for row in some]
        groups = _landmark_groups(problem, L, losses.shape[1], problem.n_rows)
        calls = ((_similarities, problem, landmarks, these, settings, losses[_rows(these)]) for these in groups)
        for these, of_these, similar in work.each(calls):
            losses[_rows(these)], similarities[:, :, _rows(these)] = of_these, similar
            yield f"similarities to landmarks {these.start + 1} to {these.stop}: {named}", None
        places = [i for i in work.in_turn(range(len(some))) if work.known(some[i]) is None]
        calls = ((_fit, problem, protocol, some[i], similarities[i]) for i in places if work.known(some[i]) is None)
        for row in work.each(calls):
            yield f"pb_landmarks, D = {row['D']}, beta = {row['beta']:g}, {named}", row


def _rows(these: range) -> slice:
    return slice(these.start, these.stop)


def _landmark_groups(problem: LetarteProblem, L: int, D: int, n_rows: int) -> list[range]:
    """Group landmarks whose phases at n_rows points take about a second; a run can stop between groups."""
    at_once = int(_SECONDS_A_STEP / wave_seconds(n_rows, D, problem.n_columns))
    at_once = max(1, min(at_once, _FREQUENCY_ENTRIES // (D * problem.n_columns)))
    return [range(first, min(first + at_once, L)) for first in range(0, L, at_once)]


class _Landmarks(NamedTuple):
    """Landmarks from `select_landmarks`; `key` is part of the seeds of their frequencies.

    They are selected before points are cast to float32, since k-means may then end in another optimum.
    """

    points: np.ndarray | sp.csr_array
    labels: np.ndarray
    indices: np.ndarray | None
    key: tuple[int, int]


def _select(problem: LetarteProblem, selection: str, share: float) -> _Landmarks:
    key = list(_SELECTIONS).index(selection), round(share * 1e9)
    X, y = problem.train
    rng = problem.rng("landmarks", *key)
    return _Landmarks(*select_landmarks(X, y, landmark_count(len(y), 2, share), _SELECTIONS[selection], rng), key)


def _points_of(landmarks: _Landmarks, problem: LetarteProblem):
    """Return landmark points in the precision of the problem."""
    return landmarks.points.astype(problem.train.X.dtype, copy=False)


def _fit_kernel(problem: LetarteProblem, protocol: LandmarkStudy, landmarks: _Landmarks, settings: Row) -> Row:
    start = time.perf_counter()
    points = _points_of(landmarks, problem)
    similarities = {
        name: problem.kernel(getattr(problem, name).X, points).astype(problem.feature_dtype, copy=False)
        for name in PARTS
    }
    errors = _errors(problem, similarities, protocol.Cs)
    return problem.row(errors=errors, seconds=time.perf_counter() - start, **settings)


def _fit(problem: LetarteProblem, protocol: LandmarkStudy, settings: Row, similarities: np.ndarray) -> Row:
    """Compute the row of learned similarities of shape (rows of all parts, landmarks)."""
    start = time.perf_counter()
    errors = _errors(problem, {name: similarities[rows] for name, rows in _rows_of_parts(problem).items()}, protocol.Cs)
    return problem.row(errors=errors, seconds=time.perf_counter() - start, **settings)


def _errors(problem: LetarteProblem, similarities: dict[str, np.ndarray], Cs) -> dict:
    path = linear_svm_path(similarities["train"], problem.train.y, Cs)
    return problem.best_errors(path, lambda name, rows: similarities[name][rows], Cs)


def _similarities(
    problem: LetarteProblem, landmarks: _Landmarks, these: range, settings: list, losses: np.ndarray
) -> tuple[range, np.ndarray, np.ndarray]:
    """Compute losses of these landmarks at their frequencies, and similarities (settings, all rows, landmarks).

    Known losses, which are not NaN, are kept.
    """
    points = _points_of(landmarks, problem)[_rows(these)]
    omega = _frequencies(problem, landmarks.key, these, losses.shape[1])
    if np.isnan(losses).any():
        indices = None if landmarks.indices is None else landmarks.indices[_rows(these)]
        losses = landmark_alignment_loss(*problem.train, points, landmarks.labels[_rows(these)], omega, indices)
    largest = max(D for D, _ in settings)
    Q = np.zeros((len(settings), len(these), largest))  # zero beyond a setting's own D
    for i, (D, beta) in enumerate(settings):
        Q[i, :, :D] = pseudo_posterior(losses[:, :D], beta, len(problem.train.y))
    X = problem.keep("rows of all parts", None, lambda: _rows_of_all_parts(problem))
    return these, losses, landmark_similarity(X, points, omega[:, :largest], Q)


def _frequencies(problem: LetarteProblem, key: tuple[int, int], these: range, D: int) -> np.ndarray:
    """Draw frequencies of each landmark, (L, D, d)."""

    def sample(landmark):
        rng = problem.rng("landmark_frequencies", *key, landmark)
        return problem.kernel.sample_frequencies(D, problem.n_columns, rng)

    return np.stack([sample(landmark) for landmark in these])


def _rows_of_all_parts(problem: LetarteProblem):
    points = [getattr(problem, name).X for name in PARTS]
    return sp.vstack(points, format="csr") if sp.issparse(points[0]) else np.concatenate(points)


def _rows_of_parts(problem: LetarteProblem) -> dict[str, slice]:
    rows, start = {}, 0
    for name in PARTS:
        end = start + len(getattr(problem, name).y)
        rows[name], start = slice(start, end), end
    return rows
