"""Two-dimensional problems with two classes, to look at kernels with.

Each shape is drawn clean first and Gaussian noise is added to the positions, so at a fixed seed a growing
noise moves the same points further and further. Labels are never flipped.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from datasets.dataset import Dataset

MAX_NOISE = 10.0  # coordinates are of order 1: more than this leaves nothing of the shape


def toy_names() -> tuple[str, ...]:
    """Names that `make_toy` knows."""
    return tuple(_SHAPES)


def make_toy(name: str, n_samples: int = 300, noise: float = 0.1, random_state=0) -> Dataset:
    """Draw a two-dimensional problem with two classes.

    Parameters
    ----------
    name : {"moons", "circles", "xor", "spirals", "blobs", "checkerboard"}
    n_samples : int
        Number of points, at least 4; the classes have half each, and the class -1 the odd one.
    noise : float
        Standard deviation of the Gaussian noise on each coordinate, from 0 (clean: the classes have at most a
        border in common) to 10.
    random_state : int, RandomState or None
        As in scikit-learn; with an int the same points come every time.

    Returns
    -------
    Dataset
        `X` of shape (n_samples, 2), about within [-2, 2] while the noise is small; `y` in {-1, 1}. The rows
        are shuffled: any prefix is a fair sample.

    Raises
    ------
    ValueError
        For an unknown name, or values outside those above.
    """
    if name not in _SHAPES:
        raise ValueError(f"unknown toy data set {name!r}: choose one of {', '.join(_SHAPES)}")
    if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 4:
        raise ValueError(f"n_samples is {n_samples!r}, but must be an integer of at least 4")
    if isinstance(noise, bool) or not isinstance(noise, Real) or not 0 <= noise <= MAX_NOISE:
        raise ValueError(f"noise is {noise!r}, but must be a number from 0 to {MAX_NOISE:g}")
    rng = check_random_state(random_state)

    n_samples = int(n_samples)
    n_positive = n_samples // 2
    title, description, shape = _SHAPES[name]
    X = np.vstack([shape(rng, n_samples - n_positive, -1), shape(rng, n_positive, 1)])
    X += float(noise) * rng.standard_normal(X.shape)
    y = np.repeat(np.array([-1, 1], dtype=np.int64), [n_samples - n_positive, n_positive])
    order = rng.permutation(n_samples)
    return Dataset(
        name=name,
        X=np.ascontiguousarray(X[order]),
        y=y[order],
        task="classification",
        feature_names=("x1", "x2"),
        source="drawn by datasets.make_toy",
        licence="no rights claimed",
        title=title,
        description=description,
        label_names={-1: "class -1", 1: "class +1"},
    )


def _moons(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    angle = rng.uniform(0, np.pi, n)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    if label == 1:
        arc = np.array([1.0, 0.5]) - arc  # the other moon: turned by half a turn and pushed into the first
    return arc - np.array([0.5, 0.25])


def _circles(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1.4 if label == -1 else 0.7
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _xor(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    return _cells(rng, n, label, n_cells=2)


def _checkerboard(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    return _cells(rng, n, label, n_cells=4)


def _cells(rng: np.random.RandomState, n: int, label: int, n_cells: int) -> np.ndarray:
    """Uniform points on the squares of one colour of an n_cells by n_cells board, 3 wide."""
    columns, rows = np.meshgrid(np.arange(n_cells), np.arange(n_cells))
    colour = (columns + rows) % 2 == (0 if label == 1 else 1)
    corners = np.column_stack([columns[colour], rows[colour]])
    # Going round the squares in a random order, rather than drawing them, fills all of them alike.
    square = rng.permutation(len(corners))[np.arange(n) % len(corners)]
    return (corners[square] + rng.uniform(0, 1, (n, 2))) * (3 / n_cells) - 1.5


def _spirals(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    # The square root spreads the points about evenly along the arm, which grows longer with its radius.
    turn = np.sqrt(rng.uniform(0.02, 1, n))
    angle = 3 * np.pi * turn
    arm = 1.6 * turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return label * arm


def _blobs(rng: np.random.RandomState, n: int, label: int) -> np.ndarray:
    # Discs rather than Gaussians: without noise the classes are apart for certain.
    angle, radius = rng.uniform(0, 2 * np.pi, n), 0.6 * np.sqrt(rng.uniform(0, 1, n))
    return 0.75 * label + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


# name: (title, description, positions of n points of one class)
_SHAPES: dict[str, tuple[str, str, Callable[[np.random.RandomState, int, int], np.ndarray]]] = {
    "moons": ("Two moons", "Two half circles that reach into each other.", _moons),
    "circles": ("Two circles", "A circle inside another one.", _circles),
    "xor": ("Exclusive or", "Opposite quadrants share a class; no line separates them.", _xor),
    "spirals": ("Two spirals", "Two arms wound around each other, one and a half turns each.", _spirals),
    "blobs": ("Two blobs", "Two round clouds, which a line separates.", _blobs),
    "checkerboard": ("Checkerboard", "Four by four squares in two colours.", _checkerboard),
}
