"""Two-dimensional toy data: problems with two classes, and inputs without labels.

Each shape is drawn without noise first, then Gaussian noise is added to the positions: at a fixed seed, more noise
moves the same points further. Labels are never flipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .dataset import Dataset

MAX_NOISE = 10.0  # coordinates are of order 1


def toy_names() -> tuple[str, ...]:
    """Return the names of the problems of `make_toy`."""
    return tuple(_PROBLEMS)


def toy_input_names() -> tuple[str, ...]:
    """Return the names of the inputs of `make_toy_inputs`."""
    return (*_INPUTS, *_PROBLEMS)


def make_toy(
    name: str, n_samples: int = 300, noise: float = 0.1, random_state: int | np.random.RandomState | None = 0
) -> Dataset:
    """Draw a two-dimensional problem with two classes.

    Parameters
    ----------
    name : {"moons", "circles", "xor", "spirals", "blobs", "checkerboard"}
    n_samples : int
        Number of points, at least 4; half in each class, an odd one in class -1.
    noise : float
        Standard deviation of the Gaussian noise on each coordinate, from 0 (the classes share at most a border) to 10.
    random_state : int, RandomState or None
        As in scikit-learn.

    Returns
    -------
    Dataset
        `X` of shape (n_samples, 2), roughly within [-2, 2] if the noise is small; `y` in {-1, 1}. Rows are shuffled,
        so any prefix is a fair sample.

    Raises
    ------
    ValueError
        For an unknown name, or a value that is not allowed.
    """
    _check(name, toy_names(), n_samples, noise)
    draw = draw_toy(name, n_samples, random_state)
    title, description, _ = _PROBLEMS[name]
    return Dataset(
        name=name,
        X=draw.positions + float(noise) * draw.normals,
        y=draw.y,
        task="classification",
        feature_names=("x1", "x2"),
        source="drawn by datasets.make_toy",
        licence="no rights claimed",
        title=title,
        description=description,
        label_names={-1: "class -1", 1: "class +1"},
    )


@dataclass(frozen=True)
class ToyDraw:
    """A problem before its noise is chosen: `make_toy` gives positions + noise * normals."""

    positions: np.ndarray
    """(n, 2), without noise"""
    normals: np.ndarray
    """(n, 2), standard normal"""
    y: np.ndarray
    """(n,), labels -1 and 1"""


def draw_toy(name: str, n_samples: int = 300, random_state: int | np.random.RandomState | None = 0) -> ToyDraw:
    """Draw a problem of `make_toy`, with its noise apart from its positions.

    Parameters
    ----------
    name, n_samples, random_state
        As for `make_toy`.

    Raises
    ------
    ValueError
        For an unknown name, or a number of samples that is not allowed.
    """
    _check(name, toy_names(), n_samples, 0.0)
    rng = check_random_state(random_state)
    n_samples = int(n_samples)
    n_positive = n_samples // 2
    shape = _PROBLEMS[name][2]
    positions = np.vstack([shape(rng, n_samples - n_positive, -1), shape(rng, n_positive, 1)])
    normals = rng.standard_normal(positions.shape)
    y = np.repeat(np.array([-1, 1], dtype=np.int64), [n_samples - n_positive, n_positive])
    order = rng.permutation(n_samples)
    return ToyDraw(positions[order], normals[order], y[order])


def make_toy_inputs(name: str, n_samples: int, noise: float, random_state: int | None = None) -> np.ndarray:
    """Draw two-dimensional points without labels, as in Figure 1 of Li et al. (2019).

    Parameters
    ----------
    name : str
        One of `toy_input_names`: a line, a cross, a ring, the knots of a 4 x 4 lattice, two clusters, or the inputs of
        a problem of `make_toy`.
    n_samples, noise, random_state
        As for `make_toy`, but the seed is no RandomState.

    Returns
    -------
    ndarray of shape (n_samples, 2)
        Shuffled, so any prefix is a fair sample.

    Raises
    ------
    ValueError
        For an unknown name, or a value that is not allowed.
    """
    if name in _PROBLEMS:
        return make_toy(name, n_samples, noise, random_state).X
    _check(name, toy_input_names(), n_samples, noise)
    rng = np.random.default_rng(random_state)
    X = _INPUTS[name](rng, int(n_samples))
    X = X + float(noise) * rng.standard_normal(X.shape)
    return X[rng.permutation(len(X))]


def _check(name, known, n_samples, noise) -> None:
    if name not in known:
        raise ValueError(f"unknown toy data set {name!r}: choose one of {', '.join(known)}")
    check_size(n_samples, noise, 4)


def check_size(n_samples: Any, noise: Any, least: int) -> None:
    """Raise a ValueError unless the number is whole and at least `least`, and the noise is from 0 to `MAX_NOISE`."""
    if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < least:
        raise ValueError(f"n_samples is {n_samples!r}, but must be an integer of at least {least}")
    if isinstance(noise, bool) or not isinstance(noise, Real) or noise < 0 or not noise <= MAX_NOISE:
        raise ValueError(f"noise is {noise!r}, but must be a number from 0 to {MAX_NOISE:g}")


# --- problems with two classes: positions of n points of one class -------------------------------------------------


def _moons(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    angle = rng.uniform(0, np.pi, n)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    if label == 1:
        arc = np.array([1.0, 0.5]) - arc  # the other moon: turned by 180 degrees and shifted into the first
    return arc - np.array([0.5, 0.25])


def _circles(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1.4 if label == -1 else 0.7
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _cells(rng: np.random.RandomState, n: int, label: int, n_cells: int) -> np.ndarray:
    """Draw uniform points on the squares of one colour of an n_cells by n_cells board, 3 wide."""
    columns, rows = np.meshgrid(np.arange(n_cells), np.arange(n_cells))
    colour = (columns + rows) % 2 == (0 if label == 1 else 1)
    corners = np.column_stack([columns[colour], rows[colour]])
    # A random order of the squares, taken in turn, fills all of them equally.
    square = rng.permutation(len(corners))[np.arange(n) % len(corners)]
    return (corners[square] + rng.uniform(0, 1, (n, 2))) * (3 / n_cells) - 1.5


def _spirals(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    # The square root spreads the points evenly along the arm, whose length grows with the square of the turn.
    turn = np.sqrt(rng.uniform(0.02, 1, n))
    angle = 3 * np.pi * turn
    arm = 1.6 * turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return label * arm


def _blobs(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    # Discs, not Gaussians, so that the classes do not overlap without noise.
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 0.6 * np.sqrt(rng.uniform(0, 1, n))
    return 0.75 * label + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


# name: (title, description, positions of n points of one class)
_PROBLEMS: dict[str, tuple[str, str, Callable[[np.random.RandomState, int, int], np.ndarray]]] = {
    "moons": ("Two moons", "Two half circles that reach into each other.", _moons),
    "circles": ("Two circles", "A circle inside another one.", _circles),
    "xor": ("Exclusive or", "Opposite quadrants share a class; no line separates them.", partial(_cells, n_cells=2)),
    "spirals": ("Two spirals", "Two arms wound around each other, one and a half turns each.", _spirals),
    "blobs": ("Two blobs", "Two round clouds, which a line separates.", _blobs),
    "checkerboard": ("Checkerboard", "Four by four squares in two colours.", partial(_cells, n_cells=4)),
}


# --- inputs without labels: positions of n points ------------------------------------------------------------------


def _line(rng: np.random.Generator, n: int) -> np.ndarray:
    place = rng.uniform(-1.5, 1.5, n)
    return np.column_stack([place, 0.5 * place])


def _cross(rng: np.random.Generator, n: int) -> np.ndarray:
    place = rng.uniform(-1.5, 1.5, n)
    upright = np.arange(n) % 2 == 1
    return np.where(upright[:, None], np.column_stack([0 * place, place]), np.column_stack([place, 0 * place]))


def _ring(rng: np.random.Generator, n: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    return 1.4 * np.column_stack([np.cos(angle), np.sin(angle)])


def _lattice(rng: np.random.Generator, n: int) -> np.ndarray:
    knots = np.stack(np.meshgrid(*[np.linspace(-1.5, 1.5, 4)] * 2), axis=-1).reshape(-1, 2)
    return knots[rng.permutation(len(knots))[np.arange(n) % len(knots)]]


def _clusters(rng: np.random.Generator, n: int) -> np.ndarray:
    side = np.where(np.arange(n) % 2 == 1, 1.2, -1.2)
    return np.column_stack([side, np.zeros(n)])


_INPUTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "line": _line,
    "cross": _cross,
    "ring": _ring,
    "lattice": _lattice,
    "clusters": _clusters,
}
