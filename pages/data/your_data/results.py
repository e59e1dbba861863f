"""Results of the page on your data, which are kept in the state of the session alone.

The shared cache is not used, because it belongs to all sessions of a server.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

import rff_engine as rff
from datasets import Dataset, Table, random_split
from datasets.tables.preparation import halves, one_of_each_group, plane
from datasets.tables.table import Column, printable
from pages.data.your_data import recipe
from pages.shared import escaping
from pages.shared.controls import scales
from pages.shared.live import packing
from pages.shared.server.limits import LIMITS
from rff_engine.studies.running.run import run_repeats
from rff_engine.studies.toy import (
    bounds as bound_curves,
    kernel as toy_kernels,
    landmarks as toy_landmarks,
    learning as toy_learning,
)
from rff_engine.studies.toy.certificates import Certificate

#: The order of OKRFF's divergence.
ORDER = 2.0

_RESULTS, _MAX_RESULTS = "results on your data", 12
_SHOWN_ROWS, _MAX_EXTENT = 20, 4.0
_MIN_CLASS_ROWS = 8


def remembered(key: Hashable, make: Callable):
    """The result of `make` for a key, from this session's cache if it is there.

    The cache is bounded in number and in bytes; the least recently used results are dropped first.
    """
    results = st.session_state.setdefault(_RESULTS, OrderedDict())
    if key not in results:
        results[key] = make()
        # The newest stays, whatever its size: the page needs it again at once, and the limits on tables bound it.
        while len(results) > _MAX_RESULTS or (
            len(results) > 1 and len(pickle.dumps(results)) > 1_000_000 * LIMITS.session_megabytes
        ):
            results.popitem(last=False)
    results.move_to_end(key)
    return results[key]


def known(key: Hashable):
    """The cached result for a key, or None."""
    return st.session_state.get(_RESULTS, {}).get(key)


def forget() -> None:
    """Drop all results of this session."""
    st.session_state.pop(_RESULTS, None)


def first_rows(table: Table) -> pd.DataFrame:
    """The first rows of a table, as text."""
    return pd.DataFrame(
        [[_shown(column, i) for column in table.columns] for i in range(min(table.n_rows, _SHOWN_ROWS))],
        columns=[escaping.cell(name) for name in table.names],
    )


def _shown(column: Column, row: int) -> str:
    text = column.shown(row)
    return escaping.cell(text) if column.kind == "text" else text


def class_counts(dataset: Dataset) -> pd.DataFrame:
    """Number of rows of each class."""
    return pd.DataFrame(
        {
            "class": [escaping.cell(printable(name)) for name in dataset.label_names.values()],
            "rows": [int((dataset.y == label).sum()) for label in dataset.label_names],
        }
    )


def most_balanced(dataset: Dataset) -> int:
    """Position of the class that is nearest to half of the rows."""
    counts = np.array([(dataset.y == label).sum() for label in dataset.label_names])
    return int(np.argmin(np.abs(counts - dataset.n_samples / 2)))


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Two coordinates of the rows of a two-class problem."""

    train: Dataset
    test: Dataset
    extent: float
    """Half the side of the square that maps show; points beyond it are shown at the edge."""


def coordinates(dataset: Dataset, columns: tuple[int, int] | None, seed: int) -> Coordinates:
    """Two columns of a two-class problem, or its first two principal components, split into halves."""
    train, test = halves(plane(dataset, columns), recipe.ROWS, seed)
    _two_classes_in(train, test)
    return Coordinates(train, test, float(min(1.05 * np.abs(train.X).max(), _MAX_EXTENT)))


def landmark_problem(where: Coordinates, values, n_frequencies: int, selection: str) -> toy_landmarks.LandmarkProblem:
    kernel = rff.GaussianKernel(values.sigma)
    X, y = where.train.X, where.train.y
    return toy_landmarks.landmark_problem(X, y, kernel, values.landmarks, n_frequencies, selection, values.seed)


def landmark_view(where: Coordinates, problem, values) -> toy_landmarks.LandmarkView:
    test = where.test
    return toy_landmarks.landmark_view(problem, test.X, test.y, values.beta, values.C, where.extent)


def landmark_path(where: Coordinates, problem, values) -> toy_landmarks.LandmarkPath:
    return toy_landmarks.landmark_path(problem, where.test.X, where.test.y, scales.PATH_BETAS, values.C)


def live_landmarks(where: Coordinates, problem, values) -> dict:
    """A problem with the frequencies of the largest D, packed for the live view."""
    test, extent = where.test, where.extent
    maps, prior = toy_landmarks.prior_view(problem, test.X, test.y, values.C, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, maps, prior, test, extent, values.C)


@dataclass(frozen=True, eq=False)
class KernelPlane:
    """Losses of frequencies on your data: over a grid of the plane, and of candidates from the prior."""

    frequency_extent: float
    delta_extent: float
    plane: toy_learning.FrequencyPlane
    candidates: toy_learning.Candidates


def kernel_plane(where: Coordinates, values) -> KernelPlane:
    kernel, extent = rff.GaussianKernel(values.sigma), scales.WIDTHS / values.sigma
    X, y = where.train.X, where.train.y
    return KernelPlane(
        extent,
        2 * where.extent,
        toy_learning.frequency_plane(X, y, kernel, extent),
        toy_learning.draw_candidates(X, y, kernel, recipe.CANDIDATES, values.seed),
    )


def live_kernel(where: Coordinates, made: KernelPlane, values, rho_shares: tuple[float, ...]) -> dict:
    """Planes, candidates, and weights of OKRFF for every radius, packed for the live view."""
    candidates = made.candidates
    optimized = np.stack([rff.optimized_kernel_weights(candidates.loss, share, ORDER) for share in rho_shares])
    prior = toy_kernels.kernel_map(rff.GaussianKernel(values.sigma), made.delta_extent, packing.KERNEL_CELLS)
    extents = made.frequency_extent, made.delta_extent, where.extent
    return packing.pack_kernel(made.plane, candidates, optimized, where.train, prior, ORDER, *extents)


def kernel_maps(made: KernelPlane, values) -> dict[str, np.ndarray]:
    """The prior kernel and the learned ones, over the plane of differences."""
    candidates, extent = made.candidates, made.delta_extent
    weights = {
        "pbrff": rff.pseudo_posterior(candidates.loss, values.beta, candidates.n),
        "okrff": rff.optimized_kernel_weights(candidates.loss, values.rho, ORDER),
    }
    return {"rff": toy_kernels.kernel_map(rff.GaussianKernel(values.sigma), extent)} | {
        method: toy_kernels.weighted_kernel_map(candidates.omega, Q, extent) for method, Q in weights.items()
    }


@dataclass(frozen=True, eq=False)
class BoundResult:
    """All bounds on your data along beta."""

    curves: bound_curves.BoundCurves
    n: int
    n_fresh: int
    width: float


def bounds_along_beta(dataset: Dataset, values, epsilon: float = 0.05) -> BoundResult:
    """Every bound at every beta; the held-out rows estimate the true risk."""
    train, fresh = halves(one_of_each_group(dataset, values.seed), recipe.ROWS, values.seed)
    _two_classes_in(train, fresh)
    width = values.sigma * float(np.sqrt(dataset.n_features / 2))
    risks = bound_curves.candidate_risks(
        train.X, train.y, fresh.X, fresh.y, rff.GaussianKernel(width), values.D, random_state=values.seed
    )
    curves = bound_curves.bound_curves(risks, scales.BETAS, epsilon, form="corrected")
    return BoundResult(curves, train.n_samples, fresh.n_samples, width)


def certificate(dataset: Dataset, seed: int) -> Certificate:
    """A classifier on half of the rows that bounds its own risk, and its errors on the held-out rows."""
    train, fresh = halves(one_of_each_group(dataset, seed), recipe.ROWS, seed)
    _two_classes_in(train, fresh)
    return recipe.certified(train, fresh, seed)


def _two_classes_in(train: Dataset, test: Dataset) -> None:
    for part, name in ((train, "training"), (test, "held-out")):
        if len(np.unique(part.y)) < 2:
            raise ValueError(
                f"The {part.n_samples} {name} rows are all of one class; choose another seed or a more frequent class."
            )


def sweep_steps(dataset: Dataset, seed: int) -> Iterator:
    """The feature sweep on SPLITS random splits of a two-class problem, step by step.

    Raises
    ------
    ValueError
        If the rarer class has too few rows for all parts of a split.
    """
    rarer = int(min((dataset.y == label).sum() for label in dataset.label_names))
    if rarer < _MIN_CLASS_ROWS:
        raise ValueError(
            f"The rarer class has {rarer} rows; at least {_MIN_CLASS_ROWS} are needed to split them into training, "
            "validation and test rows."
        )
    splits = recipe.SPLITS
    return run_repeats(
        recipe.SWEEP, lambda s: random_split(dataset, s), splits, dataset=dataset.name, split_name="random", seed=seed
    )
