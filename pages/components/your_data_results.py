"""What the page on your data computes; it is kept with the session, and with nothing else.

Streamlit's caches belong to all sessions of a server, so they are not used here: a session's last results lie in its
own state, and go with it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

import rff_engine as rff
from datasets import Dataset, Table, random_split
from datasets.preparation import plane, some_rows
from datasets.tables import Column, printable
from pages.components import literal, live
from pages.components.bound_results import BOUND_BETAS
from pages.components.landmark_results import MAP_CELLS, PATH_BETAS
from pages.components.learning_results import OptimizedKernel, PseudoPosterior
from rff_engine.experiments import bound_curves, report, toy_kernels, toy_landmarks, toy_learning
from rff_engine.experiments.protocols import FeatureSweep
from rff_engine.experiments.runner import run_repeats

#: Training rows and test rows of a map or a bound, drawn at random from more.
MOST_ROWS = 2000
#: Candidates of the learned kernel in the plane, and the order of OKRFF's divergence.
CANDIDATES, ORDER = 1000, 2.0
#: Random splits of the feature sweep; with four there is an interval.
SPLITS = 4

_RESULTS, _KEPT_RESULTS = "results on your data", 12
_SHOWN_ROWS, _FARTHEST = 20, 4.0
_FEWEST_OF_A_CLASS = 8

SWEEP = FeatureSweep(
    n_candidates=1000,
    n_features=(1, 2, 5, 10, 20, 50, 100),
    betas=(0.1, 1.0, 10.0),
    rhos=(1e-3, 1e-2, 1e-1),
    Cs=(1e-2, 1.0, 100.0),
    gammas=(1e-3, 1e-2, 1e-1, 1.0),
    max_train=1000,
    max_train_svm=400,
)


def remembered(key: Hashable, make: Callable):
    """What this session has computed for a key; the oldest results are forgotten."""
    results = st.session_state.setdefault(_RESULTS, OrderedDict())
    if key not in results:
        results[key] = make()
        while len(results) > _KEPT_RESULTS:
            results.popitem(last=False)
    results.move_to_end(key)
    return results[key]


def known(key: Hashable):
    """The same, if it is there."""
    return st.session_state.get(_RESULTS, {}).get(key)


def forget() -> None:
    """Of this session, all that was computed on its data."""
    st.session_state.pop(_RESULTS, None)


def summary(table: Table) -> pd.DataFrame:
    """A line for each column: what it was taken for."""
    return pd.DataFrame(
        {
            "column": [literal.cell(name) for name in table.names],
            "is": [column.kind + (", constant" if column.n_values == 1 else "") for column in table.columns],
            "different values": [column.n_values for column in table.columns],
            "missing": [column.n_missing for column in table.columns],
            "for example": [
                next((_shown(column, i) for i in np.flatnonzero(~column.missing)[:1]), "") for column in table.columns
            ],
        }
    )


def first_rows(table: Table) -> pd.DataFrame:
    """The first rows, as text."""
    return pd.DataFrame(
        [[_shown(column, i) for column in table.columns] for i in range(min(table.n_rows, _SHOWN_ROWS))],
        columns=[literal.cell(printable(name, 40)) for name in table.names],
    )


def _shown(column: Column, row: int) -> str:
    text = column.shown(row)
    return literal.cell(text) if column.kind == "text" else text


def class_counts(dataset: Dataset) -> pd.DataFrame:
    """How many rows each class has."""
    return pd.DataFrame(
        {
            "class": [literal.cell(printable(name)) for name in dataset.label_names.values()],
            "rows": [int((dataset.y == label).sum()) for label in dataset.label_names],
        }
    )


def halves(dataset: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Training rows, and those held back, at most MOST_ROWS of each, drawn at random."""
    drawn = some_rows(dataset, 2 * MOST_ROWS, seed)
    order = np.random.default_rng((seed, 1)).permutation(drawn.n_samples)
    n_train = min(MOST_ROWS, drawn.n_samples // 2)
    return _rows(drawn, np.sort(order[:n_train])), _rows(drawn, np.sort(order[n_train:]))


def _rows(dataset: Dataset, rows: np.ndarray) -> Dataset:
    return type(dataset)(**{**vars(dataset), "X": dataset.X[rows], "y": dataset.y[rows]})


def most_balanced(dataset: Dataset) -> int:
    """Position of the class that comes nearest to half of the rows."""
    counts = np.array([(dataset.y == label).sum() for label in dataset.label_names])
    return int(np.argmin(np.abs(counts - dataset.n_samples / 2)))


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Two coordinates of your rows, of two classes."""

    train: Dataset
    test: Dataset
    extent: float
    """Half the side of the square that maps show; what lies farther out is drawn at the edge."""


def coordinates(dataset: Dataset, columns: tuple[int, int] | None, seed: int) -> Coordinates:
    """Two columns of a two-class problem, or its first two principal components."""
    train, test = halves(plane(dataset, columns), seed)
    _two_classes_in(train, test)
    return Coordinates(train, test, float(min(1.05 * np.abs(train.X).max(), _FARTHEST)))


def landmark_problem(where: Coordinates, values, n_frequencies: int, selection: str) -> toy_landmarks.LandmarkProblem:
    kernel = rff.GaussianKernel(values.sigma)
    X, y = where.train.X, where.train.y
    return toy_landmarks.landmark_problem(X, y, kernel, values.landmarks, n_frequencies, selection, values.seed)


def landmark_view(where: Coordinates, problem, values) -> toy_landmarks.LandmarkView:
    test = where.test
    return toy_landmarks.landmark_view(problem, test.X, test.y, values.beta, values.C, where.extent, MAP_CELLS)


def landmark_path(where: Coordinates, problem, values) -> toy_landmarks.LandmarkPath:
    return toy_landmarks.landmark_path(problem, where.test.X, where.test.y, PATH_BETAS, values.C)


def live_landmarks(where: Coordinates, problem, values) -> dict:
    """What the live view needs of a problem with all frequencies that D may reach."""
    test, extent = where.test, where.extent
    maps, prior = toy_landmarks.prior_view(problem, test.X, test.y, values.C, extent, live.LIVE_CELLS)
    return live.pack_landmarks(problem, maps, prior, test, extent, values.C)


@dataclass(frozen=True, eq=False)
class KernelPlane:
    """Frequencies of the plane, drawn from the prior and all there are, with what they lose on your data."""

    frequency_extent: float
    delta_extent: float
    plane: toy_learning.FrequencyPlane
    drawn: toy_learning.Candidates


def kernel_plane(where: Coordinates, values) -> KernelPlane:
    kernel, extent = rff.GaussianKernel(values.sigma), 3.5 / values.sigma
    X, y = where.train.X, where.train.y
    return KernelPlane(
        extent,
        2 * where.extent,
        toy_learning.frequency_plane(X, y, kernel, extent),
        toy_learning.draw_candidates(X, y, kernel, CANDIDATES, values.seed),
    )


def live_kernel(where: Coordinates, made: KernelPlane, values, rho_shares: tuple[float, ...]) -> dict:
    """What the live view needs: planes, candidates, and the weights of OKRFF for every radius of the slider."""
    drawn = made.drawn
    optimized = np.stack([OptimizedKernel(share, ORDER)(drawn.loss, drawn.n) for share in rho_shares])
    prior = toy_kernels.kernel_map(rff.GaussianKernel(values.sigma), made.delta_extent, live.KERNEL_CELLS)
    extents = made.frequency_extent, made.delta_extent, where.extent
    return live.pack_kernel(made.plane, drawn, optimized, where.train, prior, ORDER, *extents)


def kernel_maps(made: KernelPlane, values) -> dict[str, np.ndarray]:
    """The prior kernel and those learned, over the plane of differences."""
    drawn, extent = made.drawn, made.delta_extent
    weights = {
        "pbrff": PseudoPosterior(values.beta)(drawn.loss, drawn.n),
        "okrff": OptimizedKernel(values.rho, ORDER)(drawn.loss, drawn.n),
    }
    return {"rff": toy_kernels.kernel_map(rff.GaussianKernel(values.sigma), extent)} | {
        method: toy_kernels.weighted_kernel_map(drawn.omega, Q, extent) for method, Q in weights.items()
    }


@dataclass(frozen=True, eq=False)
class BoundResult:
    """All bounds on your data, along beta."""

    curves: bound_curves.BoundCurves
    n: int
    n_fresh: int
    width: float


def bounds_along_beta(dataset: Dataset, values, epsilon: float = 0.05) -> BoundResult:
    """Every bound at every beta; rows that were held back stand for the distribution."""
    train, fresh = halves(dataset, values.seed)
    _two_classes_in(train, fresh)
    width = values.sigma * float(np.sqrt(dataset.n_features / 2))
    risks = bound_curves.candidate_risks(
        train.X, train.y, fresh.X, fresh.y, rff.GaussianKernel(width), values.D, random_state=values.seed
    )
    return BoundResult(bound_curves.bound_curves(risks, BOUND_BETAS, epsilon), train.n_samples, fresh.n_samples, width)


def _two_classes_in(train: Dataset, test: Dataset) -> None:
    for part, name in ((train, "training"), (test, "held-back")):
        if len(np.unique(part.y)) < 2:
            raise ValueError(
                f"The {part.n_samples} {name} rows are all of one class; take another seed or a more frequent class."
            )


def sweep_steps(dataset: Dataset, seed: int) -> Iterator:
    """The feature sweep on SPLITS random splits of a two-class problem, step by step.

    Raises
    ------
    ValueError
        If the rarer class would soon be missing from a part.
    """
    rarer = int(min((dataset.y == label).sum() for label in dataset.label_names))
    if rarer < _FEWEST_OF_A_CLASS:
        raise ValueError(
            f"The rarer class has {rarer} rows; at least {_FEWEST_OF_A_CLASS} are needed for training, validation and "
            "test rows."
        )
    return run_repeats(
        SWEEP, lambda s: random_split(dataset, s), SPLITS, dataset=dataset.name, split_name="random", seed=seed
    )


def sweep_means(rows: list[dict]) -> pd.DataFrame:
    return report.error_by_features(rows)


@st.cache_resource(show_spinner=False)
def _turn() -> threading.Lock:
    """Of all sessions: the cores are few, and a sweep needs one for some seconds."""
    return threading.Lock()


@contextmanager
def turn(say: Callable[[str], None]):
    """Wait until no other session's sweep runs; `say` is told while it waits, and may end the wait by raising."""
    lock = _turn()
    while not lock.acquire(timeout=0.5):
        say("Waiting: the sweep of another session is ahead of this one.")
    try:
        yield
    finally:
        lock.release()
