"""Data sets of points in the plane that a reader gives, their code in links, and copies of them to measure errors on.

A point takes four letters of the code: a place on a grid of 1001 x 1001 and a class, as three bytes in base64url.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .dataset import Dataset
from .toy import check_size

#: The fewest points of a class: a pair within a class, or a landmark and another point, needs two.
MIN_OF_A_CLASS = 2
#: Half the side of the square in which points are placed, and cells of the grid along a side.
EXTENT, CELLS = 2.0, 1000
MAX_POINTS = 200
#: Letters of a point in a code.
LETTERS = 4

_SIDE = CELLS + 1
_BYTES = 3
_CODE = re.compile(rf"(?:[\w-]{{{LETTERS}}}){{1,{MAX_POINTS}}}", re.ASCII)

Points = tuple[tuple[float, float, int], ...]


def given_points(points: Sequence[tuple[float, float, int]]) -> Dataset:
    """Make a data set of given points of two classes.

    Parameters
    ----------
    points : sequence of (float, float, int)
        The two coordinates and the class, -1 or 1, of every point; at least two points of each class.

    Returns
    -------
    Dataset
        `X` of shape (n, 2) and `y` of shape (n,), in the order given.

    Raises
    ------
    ValueError
        If a coordinate is not finite, a class is neither -1 nor 1, or a class has fewer than two points.
    """
    table = np.asarray(points, dtype=float)
    if table.ndim != 2 or table.shape[1] != 3:
        raise ValueError(f"points must be triples of two coordinates and a class, but their shape is {table.shape}")
    X, classes = np.ascontiguousarray(table[:, :2]), table[:, 2]
    if not np.isfinite(X).all():
        raise ValueError("a coordinate of the points is not finite, but every one must be a finite number")
    if wrong := sorted({f"{label:g}" for label in classes} - {"-1", "1"}):
        raise ValueError(f"a point has the class {wrong[0]}, but a class must be -1 or 1")
    counts = [int((classes == label).sum()) for label in (-1, 1)]
    if min(counts) < MIN_OF_A_CLASS:
        raise ValueError(
            f"there are {counts[0]} points of class -1 and {counts[1]} of class +1, but each class needs at least "
            f"{MIN_OF_A_CLASS}"
        )
    return Dataset(
        name="points",
        X=X,
        y=classes.astype(np.int64),
        task="classification",
        feature_names=("x1", "x2"),
        source="given to datasets.given_points",
        licence="no rights claimed",
        title="Given points",
        description="Points of two classes, placed by hand.",
        label_names={-1: "class -1", 1: "class +1"},
    )


def noisy_copies(
    sample: Dataset, n_samples: int, noise: float, random_state: int | np.random.RandomState | None = 0
) -> Dataset:
    """Copy the points of a data set in turn, and move each copy by Gaussian noise.

    The copies sample the given points smoothed by the noise, not the distribution of these points: an error on them
    says how well a decision holds nearby.

    Parameters
    ----------
    sample : Dataset
        Dense points.
    n_samples : int
        Number of copies, at least 1.
    noise : float
        Standard deviation of the noise on each coordinate, from 0 to 10.
    random_state : int, RandomState or None
        As in scikit-learn.

    Returns
    -------
    Dataset
        `X` of shape (n_samples, d) and `y` of shape (n_samples,); copy i is of row i modulo n.

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    check_size(n_samples, noise, 1)
    rows = np.arange(int(n_samples)) % sample.n_samples
    X = np.asarray(sample.X)[rows]
    X = X + float(noise) * check_random_state(random_state).standard_normal(X.shape)
    return replace(sample, X=X, y=sample.y[rows])


def encode_points(X: ArrayLike, y: ArrayLike) -> str:
    """Return the code of points (n, 2) with classes -1 and 1; points outside of the square move to its border."""
    cells = np.clip(np.rint((np.asarray(X) / (2 * EXTENT) + 0.5) * CELLS), 0, CELLS).astype(int)
    numbers = ((np.asarray(y) > 0) * _SIDE + cells[:, 1]) * _SIDE + cells[:, 0]
    return urlsafe_b64encode(b"".join(int(number).to_bytes(_BYTES, "big") for number in numbers)).decode("ascii")


def decode_points(code: str) -> Points:
    """Return the points of a code.

    Raises
    ------
    ValueError
        If it is no code, or a class has fewer than two points.
    """
    if not _CODE.fullmatch(code):
        raise ValueError("no code of points")
    letters = urlsafe_b64decode(code)
    numbers = [int.from_bytes(letters[k : k + _BYTES], "big") for k in range(0, len(letters), _BYTES)]
    if max(numbers) >= 2 * _SIDE**2:
        raise ValueError("a point outside of the grid")
    points = tuple((_coordinate(i % _SIDE), _coordinate(i // _SIDE % _SIDE), 2 * (i // _SIDE**2) - 1) for i in numbers)
    positive = sum(label > 0 for _, _, label in points)
    if min(positive, len(points) - positive) < MIN_OF_A_CLASS:
        raise ValueError("too few points of a class")
    return points


def _coordinate(cell: int) -> float:
    return round((2 * cell / CELLS - 1) * EXTENT, 6)
