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

from ..alignment import landmark_alignment_loss
from ..landmarks import landmark_count, landmark_similarity, select_landmarks
from ..linear import linear_svm_path
from ..posteriors import pseudo_posterior
from ._problem import PARTS, Problem, linear_svm_seconds, wave_seconds
from ._units import Unit, UnitStep
from .protocols import LandmarkStudy

__all__ = ["landmark_study_units"]

_SECONDS_A_STEP = 1.0
_FREQUENCY_ENTRIES = 2**25  # of the landmarks of a step: 256 MiB
_SIMILARITY_BYTES = 2**31  # of all settings of a unit
_SELECTIONS = {"random": "random", "clustering": "kmeans"}


def landmark_study_units(problem: Problem, protocol: LandmarkStudy) -> list[Unit]:
    """For each selection and share a unit for the landmarks, one for the kernel, and some for what is learned.

    As many (D, beta) as fit in memory are in one unit: their similarities share their sines and cosines.
    """
    if not {"rbf_landmarks", "pb_landmarks"} & set(protocol.methods):
        return []
    units = []
    n, d, n_rows = len(problem.train.y), problem.n_columns, problem.n_rows
    settings = list(product(sorted(protocol.n_features), protocol.betas))
    itemsize = 8 if protocol.precision == "float64" else 4
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
            steps = tuple(
                UnitStep(
                    f"losses of landmarks {these.start + 1} to {these.stop}: {named}",
                    wave_seconds(n, D * len(these), d),
                )
                for these in _landmark_groups(problem, L, D, n)
            )
            losses = f"losses-{selection}-{share!r}"
            units.append(Unit(losses, partial(_losses, protocol), needs, steps))
            at_once = max(1, _SIMILARITY_BYTES // (itemsize * n_rows * L))
            for start in range(0, len(settings), at_once):
                some = settings[start : start + at_once]
                D = max(D for D, _ in some)
                steps = [
                    UnitStep(
                        f"similarities to landmarks {these.start + 1} to {these.stop}: {named}",
                        wave_seconds(n_rows, D * len(these), d),
                    )
                    for these in _landmark_groups(problem, L, D, n_rows)
                ]
                steps += [
                    UnitStep(
                        f"pb_landmarks, D = {D}, beta = {beta:g}, {named}",
                        fit_seconds,
                        {"method": "pb_landmarks", "D": D, "beta": beta} | setting,
                    )
                    for D, beta in some
                ]
                work = partial(_fit_learned, protocol, selection, share, some)
                units.append(Unit(f"pb-{selection}-{share!r}-{start}", work, (*needs, losses), tuple(steps)))
    return units


def _landmark_groups(problem: Problem, L: int, D: int, n_rows: int) -> list[range]:
    """Landmarks between which a unit can be stopped: some seconds of phases at n_rows points."""
    at_once = int(_SECONDS_A_STEP / wave_seconds(n_rows, D, problem.n_columns))
    at_once = max(1, min(at_once, _FREQUENCY_ENTRIES // (D * problem.n_columns)))
    return [range(first, min(first + at_once, L)) for first in range(0, L, at_once)]


class _Landmarks(NamedTuple):
    """See `select_landmarks`; `key` is that of their seeds.

    They are chosen before points may be cast to float32, for k-means then may end in another optimum.
    """

    points: np.ndarray | sp.csr_array
    labels: np.ndarray
    indices: np.ndarray | None
    key: tuple[int, int]


def _select(selection: str, share: float, problem: Problem) -> Iterator[list[dict]]:
    key = list(_SELECTIONS).index(selection), round(share * 1e9)
    X, y = problem.train
    rng = np.random.default_rng(problem.child("landmarks", *key))
    chosen = select_landmarks(X, y, landmark_count(len(y), 2, share), _SELECTIONS[selection], rng)
    yield []
    return _Landmarks(*chosen, key)


def _points_of(landmarks: _Landmarks, problem: Problem):
    """In the precision of the problem's own."""
    return landmarks.points.astype(problem.train.X.dtype, copy=False)


def _fit_kernel(
    protocol: LandmarkStudy, selection: str, share: float, problem: Problem, landmarks: _Landmarks, *, wanted
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


def _losses(protocol: LandmarkStudy, problem: Problem, landmarks: _Landmarks):
    """The losses of all landmarks at their own frequencies, (L, largest D)."""
    L, D = len(landmarks.labels), max(protocol.n_features)
    points, losses = _points_of(landmarks, problem), np.empty((L, D))
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
    problem: Problem,
    landmarks: _Landmarks,
    losses: np.ndarray,
    *,
    wanted: list[dict],
):
    """The rows of some (D, beta), after their pseudo-posteriors and similarities: all of them, whichever are wanted."""
    L, D = len(landmarks.labels), max(D for D, _ in settings)
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


def _errors(problem: Problem, similarities: dict[str, np.ndarray], Cs) -> dict:
    path = linear_svm_path(similarities["train"], problem.train.y, Cs)
    return problem.best_errors(path, lambda name, rows: similarities[name][rows], Cs)


def _fill_similarities(
    problem: Problem, landmarks: _Landmarks, these: range, settings: list, losses: np.ndarray, similarities: np.ndarray
) -> None:
    """Fill in the similarities (settings, rows of all parts, landmarks) of these landmarks."""
    rows = slice(these.start, these.stop)
    omega = _frequencies(problem, landmarks.key, these, max(D for D, _ in settings))
    Q = np.zeros((len(settings), *omega.shape[:2]))  # zero beyond a setting's own D
    for i, (D, beta) in enumerate(settings):
        Q[i, :, :D] = pseudo_posterior(losses[rows, :D], beta, len(problem.train.y))
    X = problem.shared("rows of all parts", partial(_rows_of_all_parts, problem))
    similarities[:, :, rows] = landmark_similarity(X, _points_of(landmarks, problem)[rows], omega, Q)


def _frequencies(problem: Problem, key: tuple[int, int], these: range, D: int) -> np.ndarray:
    """Each landmark's own, (L, D, d)."""

    def drawn(landmark):
        rng = np.random.default_rng(problem.child("landmark_frequencies", *key, landmark))
        return problem.kernel.sample_frequencies(D, problem.n_columns, rng)

    return np.stack([drawn(landmark) for landmark in these])


def _rows_of_all_parts(problem: Problem):
    points = [getattr(problem, name).X for name in PARTS]
    return sp.vstack(points, format="csr") if sp.issparse(points[0]) else np.concatenate(points)


def _rows_of_parts(problem: Problem) -> dict[str, slice]:
    rows, start = {}, 0
    for name in PARTS:
        end = start + len(getattr(problem, name).y)
        rows[name], start = slice(start, end), end
    return rows
