"""The landmark experiment in the plane: similarity maps and decisions (Letarte et al. 2019, Figures 1 and 4).

It follows Section 4.2 of the paper. Results that do not depend on beta are computed separately, so that a caller can
keep them while beta changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._typing import ArrayLike, RandomState
from ..._validation import as_points, as_rng, check_count, draw_seed
from ...alignment import landmark_alignment_loss
from ...bounds import landmark_kl_inverse
from ...kernels import SpectralKernel
from ...landmarks import landmark_similarity, select_landmarks, similarity_maps
from ...linear import error_rate, linear_svm_batch, linear_svm_path
from ...posteriors import kl_divergence, pseudo_posterior
from .plane import cell_centres, plane_points

_EPSILON = 0.05


@dataclass(frozen=True)
class LandmarkProblem:
    """Landmarks with their frequencies and losses, none of which depends on beta."""

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

    def columns(self, Q: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
        """Return columns of two tables: the landmarks, and the losses of their frequencies with weights Q (L, D)."""
        L, D = self.loss.shape
        numbers = np.arange(1, L + 1)
        x_1, x_2 = self.landmarks.T
        omega_1, omega_2 = self.omega.reshape(-1, 2).T
        frequency = {"landmark": np.repeat(numbers, D), "frequency": np.tile(np.arange(1, D + 1), L)}
        weights = {"omega_1": omega_1, "omega_2": omega_2, "loss": self.loss.ravel(), "Q": Q.ravel()}
        return {
            "landmarks": {"landmark": numbers, "x_1": x_1, "x_2": x_2, "label": self.labels.astype(int)},
            "weights": frequency | weights,
        }


def landmark_problem(
    X: ArrayLike,
    y: ArrayLike,
    kernel: SpectralKernel,
    n_landmarks: int,
    n_frequencies: int,
    selection: str | ArrayLike = "random",
    random_state: RandomState = None,
) -> LandmarkProblem:
    """Choose landmarks, draw frequencies for each and compute their losses (Letarte et al. 2019, Section 4.2).

    `selection` says how landmarks are chosen, "random" or "kmeans", or gives the rows of `X` to use in place of
    `n_landmarks`.
    """
    X = as_points(X, dense=True)
    y = np.asarray(y)
    D = check_count(n_frequencies, "n_frequencies")
    choosing, sampling = np.random.default_rng(draw_seed(as_rng(random_state))).spawn(2)
    if isinstance(selection, str):
        landmarks, labels, indices = select_landmarks(X, y, n_landmarks, selection, choosing)
        order = _alternating(labels)
        landmarks, labels, indices = landmarks[order], labels[order], None if indices is None else indices[order]
    else:
        indices = np.asarray(selection, dtype=np.intp)
        if indices.size == 0 or indices.min() < 0 or indices.max() >= len(X):
            raise ValueError(
                f"selection must name rows of X, each between 0 and {len(X) - 1}; it is {indices.tolist()}."
            )
        landmarks, labels = X[indices], y[indices]
    # One random stream for each landmark: more landmarks do not change the frequencies of the others.
    omega = np.stack([kernel.sample_frequencies(D, X.shape[1], rng) for rng in sampling.spawn(len(labels))])
    loss = landmark_alignment_loss(X, y, landmarks, labels, omega, indices)
    return LandmarkProblem(kernel, X, y, landmarks, labels, indices, omega, loss)


def _alternating(labels) -> np.ndarray:
    """Return an order that alternates between classes, so that one more landmark is added at the end."""
    _, codes = np.unique(labels, return_inverse=True)
    rank = np.empty(len(codes), dtype=int)
    for k in range(codes.max() + 1):
        own = codes == k
        rank[own] = np.arange(own.sum())
    return np.lexsort((codes, rank))


@dataclass(frozen=True)
class Decision:
    """A linear SVM on similarities, with its errors and decision map."""

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

    def errors(self) -> dict[str, list]:
        """Return the errors of both decisions, as columns of a table."""
        decisions = {"prior": self.prior, "learned": self.learned}
        errors = {name: [getattr(one, name) for one in decisions.values()] for name in ("train_error", "test_error")}
        return {"similarity": list(decisions), **errors}


def landmark_view(
    problem: LandmarkProblem,
    X_test: ArrayLike,
    y_test: ArrayLike,
    beta: float,
    C: float,
    extent: float,
    cells: int = 64,
) -> LandmarkView:
    """Compare the kernel itself with the learned similarities (Letarte et al. 2019, Figure 1); C is the SVM's."""
    p = problem
    grid = cell_centres(extent, cells)
    Q = pseudo_posterior(p.loss, beta, len(p.X))
    prior_maps, prior = prior_view(problem, X_test, y_test, C, extent, cells)
    learned_maps = similarity_maps(grid, grid, p.landmarks, p.omega, Q)

    def learned(X):
        return landmark_similarity(X, p.landmarks, p.omega, Q)

    decision = _decide(learned, p.X, p.y, X_test, y_test, C, learned_maps)
    return LandmarkView(Q, prior_maps, learned_maps, prior, decision)


def prior_view(
    problem: LandmarkProblem, X_test: ArrayLike, y_test: ArrayLike, C: float, extent: float, cells: int = 64
) -> tuple[np.ndarray, Decision]:
    """Compute maps (L, cells, cells) and decision of the prior in `landmark_view`, the same at every beta."""
    p = problem
    maps = p.kernel(p.landmarks, plane_points(cell_centres(extent, cells))).reshape(-1, cells, cells)
    return maps, _decide(lambda X: p.kernel(X, p.landmarks), p.X, p.y, X_test, y_test, C, maps)


def _decide(represent, X, y, X_test, y_test, C, maps) -> Decision:
    psi = represent(X)
    coefficients, intercept = (a[0] for a in linear_svm_path(psi, y, [C]))
    train = error_rate(psi @ coefficients + intercept, y)
    test = error_rate(represent(X_test) @ coefficients + intercept, y_test)
    values = np.tensordot(coefficients, maps, axes=1) + intercept
    return Decision(coefficients, float(intercept), train, test, values)


@dataclass(frozen=True)
class LandmarkPath:
    """Errors and divergence of a landmark experiment at every beta, (B,) each."""

    betas: np.ndarray
    train_error: np.ndarray
    test_error: np.ndarray
    kl: np.ndarray
    """KL(Q || P) in nats, the mean over the landmarks"""
    bound: np.ndarray | None
    """PAC-Bayes-kl bound on the loss, the mean over the landmarks; None for centroids, which depend on all points"""

    def columns(self) -> dict[str, np.ndarray | None]:
        """Return all values by name, as columns of a table."""
        errors = {"train_error": self.train_error, "test_error": self.test_error}
        return {"beta": self.betas, **errors, "KL": self.kl, "bound": self.bound}


def landmark_path(
    problem: LandmarkProblem, X_test: ArrayLike, y_test: ArrayLike, betas: ArrayLike, C: float
) -> LandmarkPath:
    """Compute errors, divergence and bound of learned similarities at every beta (Letarte et al. 2019, Section 4.2).

    Errors equal those of `landmark_view` at each beta. The cosines do not depend on beta and are computed once. With
    probability 1 - `_EPSILON` the bound holds for every beta and for every point as a landmark at once.
    """
    p, n = problem, len(problem.X)
    Q = np.stack([pseudo_posterior(p.loss, beta, n) for beta in betas])  # (B, L, D)
    points = np.concatenate([p.X, X_test])
    psi = np.empty((len(Q), len(points), len(p.labels)))
    for l, (landmark, omega) in enumerate(zip(p.landmarks, p.omega, strict=True)):
        psi[:, :, l] = Q[:, l] @ np.cos(omega @ (landmark - points).T)
    coefficients, intercepts = linear_svm_batch(psi[:, :n], p.y, C)
    decisions = (psi @ coefficients[:, :, None])[:, :, 0] + intercepts[:, None]
    kl = kl_divergence(Q)
    bound = None
    if p.indices is not None:
        loss = np.einsum("bld,ld->bl", Q, p.loss)
        bound = landmark_kl_inverse(loss, kl, n, _EPSILON, n_landmarks=n).mean(axis=1)
    return LandmarkPath(
        np.asarray(betas, dtype=float),
        np.array([error_rate(decision, p.y) for decision in decisions[:, :n]]),
        np.array([error_rate(decision, y_test) for decision in decisions[:, n:]]),
        np.mean(kl, axis=1),
        bound,
    )
