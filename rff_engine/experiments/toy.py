"""Small experiments in the plane: data and settings in, the arrays that one picture needs out.

They compose the engine's functions in the order of the papers and add no mathematics of their own. What does not
depend on beta is computed apart from what does, so that a caller can keep it while beta moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._validation import as_rng, check_count, check_positive
from ..alignment import landmark_alignment_loss
from ..features import fourier_features, random_phase_features
from ..kernels import SpectralKernel
from ..landmarks import landmark_similarity, select_landmarks, similarity_maps
from ..linear import linear_svm_path
from ..posteriors import optimized_kernel_weights, pseudo_posterior

__all__ = [
    "Decision",
    "LandmarkProblem",
    "LandmarkView",
    "approximation_error",
    "cell_centres",
    "feature_test_error",
    "landmark_problem",
    "landmark_view",
    "learned_weights",
]


def cell_centres(extent: float, cells: int) -> np.ndarray:
    """Centres of `cells` equal cells that fill [-extent, extent]."""
    extent = check_positive(extent, "extent")
    return extent * (2 * (np.arange(check_count(cells, "cells")) + 0.5) / cells - 1)


@dataclass(frozen=True)
class LandmarkProblem:
    """Landmarks, their frequencies and the losses of these: all that stays while beta moves."""

    kernel: SpectralKernel
    X: np.ndarray
    """(n, 2)"""
    y: np.ndarray
    """(n,), labels -1 and 1"""
    landmarks: np.ndarray
    """(L, 2)"""
    labels: np.ndarray
    """(L,)"""
    indices: np.ndarray | None
    """(L,), or None for centroids"""
    omega: np.ndarray
    """(L, D, 2)"""
    loss: np.ndarray
    """(L, D)"""


def landmark_problem(
    X, y, kernel: SpectralKernel, n_landmarks: int, n_frequencies: int, selection="random", random_state=None
) -> LandmarkProblem:
    """Choose landmarks, draw frequencies for each and compute their losses (Letarte et al. 2019, Section 4.2).

    Parameters
    ----------
    X, y : arrays of shapes (n, d) and (n,)
    kernel : SpectralKernel
    n_landmarks, n_frequencies : int
    selection : {"random", "kmeans"} or array of int
        How landmarks are chosen, or the rows of `X` that they are (then `n_landmarks` does not count).
    random_state : int, RandomState, Generator or None

    Returns
    -------
    LandmarkProblem

    Raises
    ------
    ValueError
        If there are fewer points than landmarks, or a value is out of range.
    """
    D = check_count(n_frequencies, "n_frequencies")
    choosing, drawing = as_rng(random_state).spawn(2)
    if isinstance(selection, str):
        landmarks, labels, indices = select_landmarks(X, y, n_landmarks, selection, choosing)
    else:
        indices = np.asarray(selection, dtype=np.intp)
        if indices.size == 0 or indices.min() < 0 or indices.max() >= len(X):
            raise ValueError(
                f"selection must name rows of X, each between 0 and {len(X) - 1}; it is {indices.tolist()}."
            )
        landmarks, labels = X[indices], y[indices]
    # One stream a landmark: adding a landmark does not change the frequencies of the others.
    omega = np.stack([kernel.sample_frequencies(D, X.shape[1], rng) for rng in drawing.spawn(len(labels))])
    loss = landmark_alignment_loss(X, y, landmarks, labels, omega, indices)
    return LandmarkProblem(kernel, X, y, landmarks, labels, indices, omega, loss)


@dataclass(frozen=True)
class Decision:
    """A linear SVM on similarities, with its errors and its map."""

    coefficients: np.ndarray
    """(L,)"""
    intercept: float
    train_error: float
    test_error: float
    values: np.ndarray
    """(G, G), decision values on the grid"""


@dataclass(frozen=True)
class LandmarkView:
    """Similarity maps and decisions of the prior and of the pseudo-posterior at one beta."""

    Q: np.ndarray
    """(L, D)"""
    prior_maps: np.ndarray
    """(L, G, G)"""
    learned_maps: np.ndarray
    """(L, G, G)"""
    prior: Decision
    learned: Decision


def landmark_view(
    problem: LandmarkProblem, X_test, y_test, beta: float, C: float, extent: float, cells: int = 64
) -> LandmarkView:
    """Compare the kernel itself with the learned similarities (Letarte et al. 2019, Figure 1).

    Parameters
    ----------
    problem : LandmarkProblem
    X_test, y_test : arrays of shapes (m, 2) and (m,)
    beta : float
        Inverse temperature.
    C : float
        Of the linear SVM on the similarities.
    extent : float
        Half the side of the square that the maps show.
    cells : int
        Cells along a side.

    Returns
    -------
    LandmarkView

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    p = problem
    grid = cell_centres(extent, cells)
    plane = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    Q = pseudo_posterior(p.loss, beta, len(p.X))
    prior_maps = p.kernel(p.landmarks, plane).reshape(-1, cells, cells)
    learned_maps = similarity_maps(grid, grid, p.landmarks, p.omega, Q)

    def learned(X):
        return landmark_similarity(X, p.landmarks, p.omega, Q)

    def prior(X):
        return p.kernel(X, p.landmarks)

    return LandmarkView(
        Q,
        prior_maps,
        learned_maps,
        _decide(prior, p.X, p.y, X_test, y_test, C, prior_maps),
        _decide(learned, p.X, p.y, X_test, y_test, C, learned_maps),
    )


def _decide(represent, X, y, X_test, y_test, C, maps) -> Decision:
    psi = represent(X)
    coefficients, intercept = (a[0] for a in linear_svm_path(psi, y, [C]))
    train = _error(psi @ coefficients + intercept, y)
    test = _error(represent(X_test) @ coefficients + intercept, y_test)
    values = np.tensordot(coefficients, maps, axes=1) + intercept
    return Decision(coefficients, float(intercept), train, test, values)


def _error(decision, y) -> float:
    positive = np.max(y)
    return float(np.mean((decision > 0) != (y == positive)))


def learned_weights(loss, beta: float, rho_over_n: float, mu: float, n: int) -> dict[str, np.ndarray]:
    """Weights of three methods on one set of candidates: the prior, PBRFF and OKRFF.

    Parameters
    ----------
    loss : array of shape (N,)
    beta : float
    rho_over_n : float
        The divergence D_mu of OKRFF may reach this number times N.
    mu : float
    n : int
        The sample size behind the losses.

    Returns
    -------
    dict of ndarrays of shape (N,), with keys "rff", "pbrff" and "okrff"

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    N = len(loss)
    return {
        "rff": np.full(N, 1 / N),
        "pbrff": pseudo_posterior(loss, beta, n),
        "okrff": optimized_kernel_weights(loss, rho_over_n * N, mu),
    }


def feature_test_error(
    X, y, X_test, y_test, candidates, Q, n_frequencies: int, C: float, n_draws: int, random_state=None
) -> np.ndarray:
    """Test errors of a linear SVM on features drawn from Q (Letarte et al. 2019, Section 5.4), draw by draw.

    Parameters
    ----------
    X, y, X_test, y_test : arrays
        Training and test points and their labels.
    candidates : array of shape (N, d)
        Frequencies.
    Q : array of shape (N,)
        Weights on the candidates; D of them are drawn with replacement.
    n_frequencies : int
        D.
    C : float
    n_draws : int
    random_state : int, RandomState, Generator or None

    Returns
    -------
    ndarray of shape (n_draws,)

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    rng = as_rng(random_state)
    D = check_count(n_frequencies, "n_frequencies")
    errors = np.empty(check_count(n_draws, "n_draws"))
    for i in range(len(errors)):
        omega = candidates[rng.choice(len(Q), size=D, p=Q)]
        coefficients, intercept = (a[0] for a in linear_svm_path(fourier_features(X, omega), y, [C]))
        errors[i] = _error(fourier_features(X_test, omega) @ coefficients + intercept, y_test)
    return errors


def approximation_error(kernel: SpectralKernel, points, D_values, n_draws: int, random_state=None) -> dict:
    """Root mean square error of the approximated kernel matrix as features are added, for both feature maps.

    At D frequencies the cos/sin map has 2 D features; the random-phase map is given 2 D frequencies, hence as many.

    Parameters
    ----------
    kernel : SpectralKernel
    points : array of shape (m, d)
    D_values : sequence of int
    n_draws : int
        Independent draws; the errors are means over them.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    dict of ndarrays of shape (len(D_values),), with keys "cos_sin" and "random_phase"

    Raises
    ------
    ValueError
        If a value is out of range.
    """
    rng = as_rng(random_state)
    points = np.asarray(points, dtype=float)
    exact = kernel(points)
    largest = max(check_count(D, "D") for D in D_values)
    squares = {"cos_sin": np.zeros(len(D_values)), "random_phase": np.zeros(len(D_values))}
    for _ in range(check_count(n_draws, "n_draws")):
        omega = kernel.sample_frequencies(2 * largest, points.shape[1], rng)
        offsets = rng.uniform(0, 2 * np.pi, 2 * largest)
        for i, D in enumerate(D_values):
            for name, phi in (
                ("cos_sin", fourier_features(points, omega[:D])),
                ("random_phase", random_phase_features(points, omega[: 2 * D], offsets[: 2 * D])),
            ):
                squares[name][i] += np.mean((phi @ phi.T - exact) ** 2) / n_draws
    return {name: np.sqrt(values) for name, values in squares.items()}
