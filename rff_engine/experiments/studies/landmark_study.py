"""The landmark study: linear SVMs on similarities to landmarks (Letarte et al. 2019, Section 6.1).

"rbf_landmarks" takes the kernel itself as similarity; "pb_landmarks" gives each landmark its own frequencies and
its own pseudo-posterior on them. The frequencies of a landmark are drawn from its own seed when they are needed, and
those of a smaller D are the first of a larger one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...alignment import landmark_alignment_loss
from ...landmarks import landmark_count, landmark_similarity, select_landmarks
from ...linear import linear_svm_path
from ...posteriors import pseudo_posterior
from .letarte_problem import PARTS, LetarteProblem
from .problem import linear_svm_seconds, wave_seconds
from .protocols import LandmarkStudy
from .units import Row, Unit, UnitStep

_SECONDS_A_STEP = 1.0
_FREQUENCY_ENTRIES = 2**25  # of the landmarks of a step: 256 MiB
_SIMILARITY_BYTES = 2**31  # of all settings of a unit
_SELECTIONS = {"random": "random", "clustering": "kmeans"}


def landmark_study_units(problem: LetarteProblem, protocol: LandmarkStudy) -> list[Unit]:
    """For each selection and share, units for the landmarks, the kernel, the losses and the learned similarities.

    A unit has as many (D, beta) as fit in memory: their similarities share sines and cosines.
    """
    if not {"rbf_landmarks", "pb_landmarks"} & set(protocol.methods):
        return []
    n, n_rows, units = len(problem.train.y), problem.n_rows, []
    for selection, share in product(protocol.selections, protocol.shares):
        L = landmark_count(n, 2, share)
        named = f"{L} landmarks by {selection}"
        chosen = f"landmarks-{selection}-{share!r}"
        work = partial(_select, selection, share)
        units.append(Unit(chosen, work, ("problem",), (UnitStep(named, 1e-8 * n * L),)))
        needs, setting = ("prior", chosen), {"landmarks": selection, "share": share}
        fit_seconds = linear_svm_seconds(n, L, len(protocol.Cs))
        if "rbf_landmarks" in protocol.methods:
            seconds = fit_seconds + 1e-8 * n_rows * L
            step = UnitStep(f"rbf_landmarks, {named}", seconds, {"method": "rbf_landmarks"} | setting)
            work = partial(_fit_kernel, protocol, selection, share)
            units.append(Unit(f"rbf-{selection}-{share!r}", work, needs, (step,)))
        if "pb_landmarks" in protocol.methods:
            D = max(protocol.n_features)
            losses = f"losses-{selection}-{share!r}"
            steps = _group_steps(problem, "losses of", named, L, D, n)
            units.append(Unit(losses, partial(_losses, protocol), needs, tuple(steps)))
            units += _learned_units(problem, protocol, setting, L, named, fit_seconds, (*needs, losses))
    return units


def _learned_units(
    problem: LetarteProblem, protocol: LandmarkStudy, setting: Row, L: int, named: str, fit_seconds: float, needs
) -> list[Unit]:
    """Units for the rows of all (D, beta) at a selection and share."""
    settings, units = list(product(sorted(protocol.n_features), protocol.betas)), []
    selection, share = setting["landmarks"], setting["share"]
    itemsize = 8 if protocol.precision == "float64" else 4
    at_once = max(1, _SIMILARITY_BYTES // (itemsize * problem.n_rows * L))
    for start in range(0, len(settings), at_once):
        some = settings[start : start + at_once]
        steps = _group_steps(problem, "similarities to", named, L, max(D for D, _ in some), problem.n_rows)
        for D, beta in some:
            row = {"method": "pb_landmarks", "D": D, "beta": beta} | setting
            steps.append(UnitStep(f"pb_landmarks, D = {D}, beta = {beta:g}, {named}", fit_seconds, row))
        work = partial(_fit_learned, protocol, selection, share, some)
        units.append(Unit(f"pb-{selection}-{share!r}-{start}", work, needs, tuple(steps)))
    return units


def _group_steps(problem: LetarteProblem, what: str, named: str, L: int, D: int, n_rows: int) -> list[UnitStep]:
    """One step for each group of landmarks, with phases at n_rows points."""
    return [
        UnitStep(
            f"{what} landmarks {these.start + 1} to {these.stop}: {named}",
            wave_seconds(n_rows, D * len(these), problem.n_columns),
        )
        for these in _landmark_groups(problem, L, D, n_rows)
    ]


def _landmark_groups(problem: LetarteProblem, L: int, D: int, n_rows: int) -> list[range]:
    """Groups of landmarks whose phases at n_rows points take about a second; a unit can be stopped between groups."""
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


def _select(selection: str, share: float, problem: LetarteProblem) -> Iterator[list[Row]]:
    key = list(_SELECTIONS).index(selection), round(share * 1e9)
    X, y = problem.train
    rng = problem.rng("landmarks", *key)
    chosen = select_landmarks(X, y, landmark_count(len(y), 2, share), _SELECTIONS[selection], rng)
    yield []
    return _Landmarks(*chosen, key)


def _points_of(landmarks: _Landmarks, problem: LetarteProblem):
    """Landmark points in the precision of the problem."""
    return landmarks.points.astype(problem.train.X.dtype, copy=False)


def _fit_kernel(
    protocol: LandmarkStudy, selection: str, share: float, problem: LetarteProblem, landmarks: _Landmarks, *, wanted
):
    start = time.perf_counter()
    points = _points_of(landmarks, problem)
    similarities = {
        name: problem.kernel(getattr(problem, name).X, points).astype(problem.feature_dtype, copy=False)
        for name in PARTS
    }
    errors = _errors(problem, similarities, protocol.Cs)
    seconds = time.perf_counter() - start
    yield [problem.row("rbf_landmarks", errors, seconds, landmarks=selection, share=share)]


def _losses(protocol: LandmarkStudy, problem: LetarteProblem, landmarks: _Landmarks):
    """The losses of all landmarks at their own frequencies, (L, largest D)."""
    L = len(landmarks.labels)
    D = max(protocol.n_features)
    points = _points_of(landmarks, problem)
    losses = np.empty((L, D))
    for these in _landmark_groups(problem, L, D, len(problem.train.y)):
        rows = slice(these.start, these.stop)
        omega = _frequencies(problem, landmarks.key, these, D)
        indices = None if landmarks.indices is None else landmarks.indices[rows]
        some = points[rows], landmarks.labels[rows], omega, indices
        losses[rows] = landmark_alignment_loss(*problem.train, *some)
        yield []
    return losses


def _fit_learned(
    protocol: LandmarkStudy,
    selection: str,
    share: float,
    settings: list,
    problem: LetarteProblem,
    landmarks: _Landmarks,
    losses: np.ndarray,
    *,
    wanted: list[Row],
):
    """Yield the wanted rows of some (D, beta). Similarities of all of them are computed in any case."""
    L = len(landmarks.labels)
    D = max(D for D, _ in settings)
    similarities = np.empty((len(settings), problem.n_rows, L), problem.feature_dtype)
    for these in _landmark_groups(problem, L, D, problem.n_rows):
        _fill_similarities(problem, landmarks, these, settings, losses, similarities)
        yield []
    parts = _rows_of_parts(problem)
    fitted = {(row["D"], row["beta"]) for row in wanted}
    for (D, beta), of_setting in zip(settings, similarities, strict=True):
        if (D, beta) not in fitted:
            continue
        start = time.perf_counter()
        errors = _errors(problem, {name: of_setting[rows] for name, rows in parts.items()}, protocol.Cs)
        seconds = time.perf_counter() - start
        yield [problem.row("pb_landmarks", errors, seconds, landmarks=selection, share=share, D=D, beta=beta)]


def _errors(problem: LetarteProblem, similarities: dict[str, np.ndarray], Cs) -> dict:
    path = linear_svm_path(similarities["train"], problem.train.y, Cs)
    return problem.best_errors(path, lambda name, rows: similarities[name][rows], Cs)


def _fill_similarities(
    problem: LetarteProblem,
    landmarks: _Landmarks,
    these: range,
    settings: list,
    losses: np.ndarray,
    similarities: np.ndarray,
) -> None:
    """Fill in the similarities (settings, rows of all parts, landmarks) of these landmarks."""
    rows = slice(these.start, these.stop)
    omega = _frequencies(problem, landmarks.key, these, max(D for D, _ in settings))
    Q = np.zeros((len(settings), *omega.shape[:2]))  # zero beyond a setting's own D
    for i, (D, beta) in enumerate(settings):
        Q[i, :, :D] = pseudo_posterior(losses[rows, :D], beta, len(problem.train.y))
    X = problem.cached("rows of all parts", partial(_rows_of_all_parts, problem))
    similarities[:, :, rows] = landmark_similarity(X, _points_of(landmarks, problem)[rows], omega, Q)


def _frequencies(problem: LetarteProblem, key: tuple[int, int], these: range, D: int) -> np.ndarray:
    """Frequencies of each landmark, (L, D, d)."""

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
