"""What the page on your data computes; it is kept with the session, and with nothing else.

The cache of the other pages belongs to all sessions of a server, so it is not used here: a session's last results lie
in its own state, and go with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

import rff_engine as rff
from datasets import Dataset, Table, random_split
from datasets.preparation import halves, plane
from datasets.tables import Column, printable
from pages.components import literal, live
from pages.components.bound_results import BOUND_BETAS
from pages.components.keeping import n_bytes
from pages.components.landmark_results import MAP_CELLS, PATH_BETAS
from pages.components.learning_results import OptimizedKernel, PseudoPosterior
from pages.components.limits import LIMITS, visitor
from pages.components.sharing.recipes import your_data as recipe
from pages.components.waiting_line import WaitingLine
from rff_engine.experiments import bound_curves, report, toy_kernels, toy_landmarks, toy_learning
from rff_engine.experiments.runner import run_repeats

#: The order of OKRFF's divergence.
ORDER = 2.0

_RESULTS, _KEPT_RESULTS = "results on your data", 12
_SHOWN_ROWS, _FARTHEST = 20, 4.0
_FEWEST_OF_A_CLASS = 8


def remembered(key: Hashable, make: Callable):
    """What this session has computed for a key; the oldest results are forgotten, by number and by bytes."""
    results = st.session_state.setdefault(_RESULTS, OrderedDict())
    if key not in results:
        results[key] = make()
        # The newest stays, whatever its size: the limits on tables bound it, and a page asks for it again at once.
        while len(results) > _KEPT_RESULTS or (
            len(results) > 1 and n_bytes(results) > 1_000_000 * LIMITS.session_megabytes
        ):
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
    train, test = halves(plane(dataset, columns), recipe.ROWS, seed)
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
        toy_learning.draw_candidates(X, y, kernel, recipe.CANDIDATES, values.seed),
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
    train, fresh = halves(dataset, recipe.ROWS, values.seed)
    _two_classes_in(train, fresh)
    width = values.sigma * float(np.sqrt(dataset.n_features / 2))
    risks = bound_curves.candidate_risks(
        train.X, train.y, fresh.X, fresh.y, rff.GaussianKernel(width), values.D, random_state=values.seed
    )
    curves = bound_curves.bound_curves(risks, BOUND_BETAS, epsilon, form="corrected")
    return BoundResult(curves, train.n_samples, fresh.n_samples, width)


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
    splits = recipe.SPLITS
    return run_repeats(
        recipe.SWEEP, lambda s: random_split(dataset, s), splits, dataset=dataset.name, split_name="random", seed=seed
    )


def sweep_means(rows: list[dict]) -> pd.DataFrame:
    return report.error_by_features(rows)


# One at a time of all sessions: the cores are few, and a sweep needs one for some seconds.
_line = WaitingLine("sweep", LIMITS.waiting_sweeps)


def turn(say: Callable[[str], None]):
    """Wait in line until no other session's sweep runs, see `WaitingLine.turn`."""
    return _line.turn(visitor(), say)
