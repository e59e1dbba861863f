"""Live views of a user's own arrays, as HTML with everything inline."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from string import Template
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..._typing import ArrayLike, MatrixLike, RandomState
from ..._validation import (
    as_labels,
    as_points,
    as_rng,
    check_count,
    check_interval,
    check_positive,
    check_range,
    draw_seed,
)
from ...alignment import alignment_loss, alignment_loss_plane
from ...estimators import LandmarkSimilarity
from ...frequencies import FrequencyBlocks
from ...kernels import SpectralKernel, as_kernel
from ...linear import linear_svm_path
from ...posteriors import optimized_kernel_weights
from . import parts
from .javascript import as_expression
from .packing import KERNEL_CELLS, LIVE_CELLS, PLANE_CELLS, pack_kernel, pack_landmarks
from .scales import BETAS, RHO, exponents

#: The radii rho / N of the slider of OKRFF.
RADII = 10.0 ** np.array(exponents(*RHO))
#: What a browser gets at most: rows, cosines of all landmarks at all points (4 bytes each), candidates of a kernel.
MAX_ROWS, MAX_COSINES, MAX_CANDIDATES = 100_000, 20_000_000, 5000
#: The lengths that single precision, in which the browser gets them, holds so that their squares do not overflow.
SPANS = (1e-15, 1e15)
#: The plane shows frequencies up to this multiple of the median size: for the Gaussian kernel, WIDTHS / sigma.
_MEDIANS = 3.33


@dataclass(frozen=True)
class View:
    """A live view: a notebook shows it as the value of a cell, and `html` is the same as a page.

    Attributes
    ----------
    name : {"landmarks", "kernel"}
    data : dict
        What the browser shows, in JSON's types; arrays as base64.
    title : str
    height : int
        Of the frame in a notebook, in pixels.
    """

    name: str
    data: dict[str, Any]
    title: str
    height: int

    def html(self) -> str:
        """One HTML page, which opens without a server or a network.

        Returns
        -------
        str
        """
        page = Template(parts.read("notebook.html"))
        return page.substitute(
            title=escape(self.title),
            style=parts.read("live.css"),
            markup=parts.markup(self.name),
            data=json.dumps(self.data, separators=(",", ":")).replace("<", "\\u003c"),
            script=as_expression(parts.script(self.name)),
        )

    def _repr_html_(self) -> str:
        """A frame with the page, apart from the notebook's own styles and scripts."""
        style = f"width: 100%; height: {self.height}px; border: 0"
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" style="{style}" '
            f'srcdoc="{escape(self.html())}"></iframe>'
        )


@dataclass(frozen=True)
class _Sample:
    """Points of the plane relative to the middle of a square that shows them, with labels -1 and 1."""

    X: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    middle: np.ndarray
    extent: float
    """Half the side of the square"""


def landmarks(
    X: MatrixLike,
    y: ArrayLike,
    kernel: SpectralKernel | str | None = None,
    n_landmarks: int = 5,
    D: int = 64,
    *,
    selection: str = "random",
    X_test: MatrixLike | None = None,
    y_test: ArrayLike | None = None,
    beta: float = 10.0,
    C: float = 1.0,
    random_state: RandomState = None,
    height: int = 720,
) -> View:
    """Landmarks, their prior and learned similarity maps and a linear SVM, under sliders of beta and D.

    Landmarks, frequencies and losses are those of `LandmarkSimilarity` with the same arguments (Letarte et al. 2019,
    Section 4.2), fitted to `X` minus the middle of its range. The browser evaluates the pseudo-posterior (Eq. 19), the
    maps (Eq. 13) and the SVM as the sliders move.

    Parameters
    ----------
    X, y : arrays of shapes (n, 2) and (n,)
        Points in any units, and labels of two classes; the larger one is shown red.
    kernel : SpectralKernel or {"gaussian", "laplacian", "matern", "cauchy"}, optional
        The prior. A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian".
    n_landmarks : int
        L.
    D : int
        Frequencies of each landmark, the right end of its slider.
    selection : {"random", "kmeans"}
    X_test, y_test : arrays of shapes (m, 2) and (m,), optional
        Points of the test error; without them the view shows the error on `X` alone.
    beta : float
        Where its slider begins, from 0.001 to 1000.
    C : float
        Of the linear SVM on the similarities.
    random_state : int, RandomState, Generator or None
    height : int
        Of the frame in a notebook, in pixels.

    Returns
    -------
    View

    Raises
    ------
    ValueError
        If the points are not in the plane, there are not two classes, a value is not allowed, or the browser would
        have to hold more than 20 million cosines.
    """
    sample = _sample(X, y)
    tested = _test_sample(sample, X_test, y_test)
    beta = check_range(beta, "beta", BETAS[0], BETAS[-1])
    C = check_positive(C, "C")
    model = LandmarkSimilarity(
        kernel, check_count(n_landmarks, "n_landmarks"), selection, "learned", D, beta, random_state
    )
    _refuse_many_cosines(len(sample.X) + len(tested.X), n_landmarks, check_count(D, "D"))
    model.fit(sample.X, sample.y)
    maps, prior = _prior(model, sample, tested, C)
    problem = SimpleNamespace(
        omega=model.frequencies_,
        loss=model.alignment_loss_,
        landmarks=model.landmarks_,
        X=sample.X,
        y=sample.y,
        labels=model.landmark_labels_,
        indices=model.landmark_indices_,
    )
    name = "train error" if X_test is None else "test error"
    data = pack_landmarks(problem, maps, prior, tested, sample.extent, C, name)
    return View("landmarks", _with_settings(data, beta=beta, D=D), "Landmarks", check_count(height, "height"))


def kernel(
    X: MatrixLike,
    y: ArrayLike,
    kernel: SpectralKernel | str | None = None,
    N: int = 500,
    *,
    mu: float = 2.0,
    beta: float = 10.0,
    rho: float = 0.1,
    random_state: RandomState = None,
    height: int = 900,
) -> View:
    """A kernel learned by PBRFF and by OKRFF, frequency by frequency, under sliders of beta and rho / N.

    Candidates and losses are those of `PseudoPosteriorFeatures` and `OptimizedKernelFeatures` with ``n_candidates=N``
    and the same `random_state`, fitted to `X` minus the middle of its range (Letarte et al. 2019, Sections 5.3 and 5.4;
    Sinha and Duchi 2016).

    Parameters
    ----------
    X, y : arrays of shapes (n, 2) and (n,)
        Points in any units, and labels of two classes; the larger one is shown red.
    kernel : SpectralKernel or {"gaussian", "laplacian", "matern", "cauchy"}, optional
        The prior. A name stands for that kernel with the width "scale", ``None`` and "rbf" for "gaussian".
    N : int
        Candidate frequencies, at most 5000.
    mu : float
        Order of the divergence of OKRFF, above 1.
    beta : float
        Where the slider of PBRFF begins, from 0.001 to 1000.
    rho : float
        Where the slider of OKRFF begins: the radius divided by N, from 0.0001 to 1. The view has 21 values of it.
    random_state : int, RandomState, Generator or None
    height : int
        Of the frame in a notebook, in pixels.

    Returns
    -------
    View

    Raises
    ------
    ValueError
        If the points are not in the plane, there are not two classes, or a value is not allowed.
    """
    sample = _sample(X, y)
    N = check_count(N, "N", high=MAX_CANDIDATES)
    mu = check_interval(mu, "mu", 1)
    beta = check_range(beta, "beta", BETAS[0], BETAS[-1])
    rho = check_range(rho, "rho", RADII[0], RADII[-1])
    prior = as_kernel(kernel).scaled_to(sample.X)
    omega = FrequencyBlocks(prior, N, 2, draw_seed(as_rng(random_state))).take(np.arange(N))
    loss = alignment_loss(sample.X, sample.y, omega)
    frequency_extent = _MEDIANS * float(np.median(np.abs(omega).max(axis=1)))
    grid, delta_extent = _grid(frequency_extent, PLANE_CELLS), 2 * sample.extent
    plane = SimpleNamespace(
        prior=prior.spectral_density(_points(grid)).reshape(PLANE_CELLS, PLANE_CELLS),
        loss=alignment_loss_plane(sample.X, sample.y, grid, grid),
    )
    candidates = SimpleNamespace(omega=omega, loss=loss, n=len(sample.y))
    optimized = np.stack([optimized_kernel_weights(loss, radius, mu) for radius in RADII])
    prior_map = prior(_points(_grid(delta_extent, KERNEL_CELLS)), np.zeros((1, 2))).reshape(KERNEL_CELLS, KERNEL_CELLS)
    data = pack_kernel(
        plane, candidates, optimized, sample, prior_map, mu, frequency_extent, delta_extent, sample.extent
    )
    return View("kernel", _with_settings(data, beta=beta, rho=rho), "A learned kernel", check_count(height, "height"))


def _with_settings(data: dict[str, Any], **settings: float) -> dict:
    """The data with where the sliders begin; no slider is hidden, nothing is clicked."""
    return data | {"settings": settings, "hidden": [], "clickable": False, "alone": None, "chosen": None}


def _sample(X, y) -> _Sample:
    X = _plane(X, "X")
    if len(X) > MAX_ROWS:
        raise ValueError(f"X has {len(X)} rows; the browser draws at most {MAX_ROWS}: give a sample of them.")
    classes, codes = as_labels(y, len(X))
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; a live view shows two.")
    low = X.min(axis=0)
    high = X.max(axis=0)
    span = float((high - low).max())
    if not SPANS[0] <= span <= SPANS[1]:
        raise ValueError(
            f"The points of X span {span:g}; between {SPANS[0]:g} and {SPANS[1]:g} is needed: multiply X by a constant."
        )
    middle = (low + high) / 2
    return _Sample(X - middle, 2 * codes - 1, classes, middle, 0.525 * span)


def _plane(X, name: str) -> np.ndarray:
    X = as_points(X, name, dense=True)
    if X.shape[1] != 2:
        raise ValueError(f"{name} has shape {X.shape}; a live view shows points in the plane, of shape (n, 2).")
    return X.astype(np.float64, copy=False)


def _test_sample(sample: _Sample, X_test, y_test) -> SimpleNamespace:
    """The points of the test error, with labels -1 and 1; without them the sample itself."""
    if X_test is None and y_test is None:
        return SimpleNamespace(X=sample.X, y=sample.y)
    if X_test is None or y_test is None:
        given, lacking = ("y_test", "X_test") if X_test is None else ("X_test", "y_test")
        raise ValueError(f"{given} is given without {lacking}; both or neither are needed.")
    X = _plane(X_test, "X_test") - sample.middle
    classes, codes = as_labels(y_test, len(X), "y_test", min_classes=1)
    unknown = np.setdiff1d(classes, sample.classes).tolist()
    if unknown:
        raise ValueError(f"y_test holds {unknown[0]!r}; the classes of y are {sample.classes.tolist()}.")
    return SimpleNamespace(X=X, y=np.where(classes[codes] == sample.classes[1], 1, -1))


def _refuse_many_cosines(n: int, n_landmarks: int, D: int) -> None:
    count = n * n_landmarks * D
    if count > MAX_COSINES:
        raise ValueError(
            f"{n} points, {n_landmarks} landmarks and {D} frequencies make {count} cosines; the browser holds at most "
            f"{MAX_COSINES}: give a sample of the points, fewer landmarks or a smaller D."
        )


def _prior(model: LandmarkSimilarity, sample: _Sample, tested, C: float) -> tuple[np.ndarray, SimpleNamespace]:
    """Maps of the kernel itself, and the linear SVM on its values at the landmarks with its decision map and errors."""
    at, represent = model.landmarks_, model.kernel_
    maps = represent(at, _points(_grid(sample.extent, LIVE_CELLS))).reshape(-1, LIVE_CELLS, LIVE_CELLS)
    psi = represent(sample.X, at)
    coefficients, intercept = (values[0] for values in linear_svm_path(psi, sample.y, [C]))

    def error(psi, y) -> float:
        return float(np.mean((psi @ coefficients + intercept > 0) != (y > 0)))

    prior = SimpleNamespace(
        values=np.tensordot(coefficients, maps, axes=1) + intercept,
        train_error=error(psi, sample.y),
        test_error=error(represent(tested.X, at), tested.y),
    )
    return maps, prior


def _grid(extent: float, cells: int) -> np.ndarray:
    """Centres of equal cells that fill [-extent, extent]."""
    return extent * (2 * np.arange(cells) + 1 - cells) / cells


def _points(grid: np.ndarray) -> np.ndarray:
    """Points of a square grid, (G * G, 2); the first coordinate varies fastest."""
    return np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
