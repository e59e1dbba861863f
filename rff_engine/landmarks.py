"""Landmarks: choosing them, and the representation of points by their similarities to them.

A landmark's similarity is ``k_Q(x_l - x) = sum_m Q_m cos(omega_m . (x_l - x))`` with its own weights and, as a rule,
its own frequencies (Letarte et al. 2019, Eq. 13). The losses behind the weights come from `alignment`.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ._validation import as_coordinates, as_labels, as_losses, as_points, as_rng, check_choice, check_count, draw_seed
from .features import phases

__all__ = ["landmark_similarity", "select_landmarks", "similarity_maps"]

# Entries of a block of phases: some 32 MiB in float64.
_BLOCK_ENTRIES = 2**22


def select_landmarks(X, y, n_landmarks: int, method: str = "random", random_state=None):
    """Choose landmarks, as evenly over the classes as they allow (Letarte et al. 2019, Section 6.1).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    y : array of shape (n,)
    n_landmarks : int
        From 1 to n. What does not divide by the number of classes goes to the first classes; a class with too few
        points gives all it has and the others make up for it.
    method : {"random", "kmeans"}
        Training points without replacement, or the centroids of k-means within each class.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    landmarks : array or CSR matrix of shape (n_landmarks, d)
        In the order of the classes; CSR only for random landmarks of a CSR `X`. Fewer random landmarks at the same
        seed are some of the more.
    labels : ndarray of shape (n_landmarks,)
    indices : ndarray of shape (n_landmarks,), or None
        The rows of `X` that the landmarks are; ``None`` for centroids.

    Raises
    ------
    ValueError
        If there are fewer points than landmarks, one class only, or the method is unknown.
    """
    X = as_points(X)
    n = X.shape[0]
    classes, codes = as_labels(y, n)
    check_choice(method, "method", ("random", "kmeans"))
    if check_count(n_landmarks, "n_landmarks") > n:
        raise ValueError(f"n_landmarks is {n_landmarks}; there are only {n} points to choose from.")
    rng = as_rng(random_state)
    quotas = _quotas(np.bincount(codes), n_landmarks)
    labels = np.repeat(classes, quotas)
    members = [np.flatnonzero(codes == k) for k in range(len(classes))]
    if method == "random":
        indices = np.concatenate([rng.permutation(rows)[:quota] for rows, quota in zip(members, quotas, strict=True)])
        return X[indices], labels, indices
    centroids = [_centroids(X[rows], quota, rng) for rows, quota in zip(members, quotas, strict=True) if quota > 0]
    return np.concatenate(centroids), labels, None


def landmark_count(n: int, n_classes: int, share: float) -> int:
    """How many landmarks a share of n points is: the same number for each class, at least one, at most n in all."""
    # n * share is rounded first: 100 * 0.07 must not become 8 landmarks.
    per_class = max(1, int(math.ceil(round(n * share, 6)) / n_classes))
    return min(n_classes * per_class, n)


def _quotas(available: np.ndarray, total: int) -> np.ndarray:
    """Share `total` out evenly, no class above what it has; leftovers to the first classes."""
    quotas = np.zeros_like(available)
    while (missing := total - quotas.sum()) > 0:
        # Equal shares as long as there is one for each class that has points left, then one point each.
        classes = np.flatnonzero(quotas < available)[:missing]
        quotas[classes] = np.minimum(quotas[classes] + missing // len(classes), available[classes])
    return quotas


def _centroids(points, n_clusters: int, rng) -> np.ndarray:
    with warnings.catch_warnings():
        # Fewer distinct points than centroids: some centroids coincide, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if sp.issparse(points):  # KMeans takes no indices of 64 bits
            parts = points.data, points.indices.astype(np.int32), points.indptr.astype(np.int32)
            points = sp.csr_array(parts, shape=points.shape)
        return KMeans(n_clusters, n_init=1, random_state=draw_seed(rng)).fit(points).cluster_centers_


def landmark_similarity(X, landmarks, omega, Q) -> np.ndarray:
    """Similarities psi(x) of points to landmarks (Letarte et al. 2019, Eq. 13).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    landmarks : array or CSR matrix of shape (L, d)
    omega : array of shape (D, d) or (L, D, d)
        Frequencies shared by all landmarks, or each landmark's own.
    Q : array of shape (L, D)
        Each landmark's weights.

    Returns
    -------
    ndarray of shape (n, L), in the precision of `X`
        Between -1 and 1 up to rounding.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.
    """
    X, landmarks, omega, Q = _check_representation(X, landmarks, omega, Q)
    n, (L, D) = X.shape[0], Q.shape
    similarity = np.empty((n, L), dtype=X.dtype)
    shared = omega.ndim == 2
    group = L if shared else max(1, min(L, _BLOCK_ENTRIES // (D * X.shape[1])))
    for first in range(0, L, group):
        these = slice(first, min(first + group, L))
        weights = Q[these]
        frequencies = omega if shared else omega[these].reshape(-1, X.shape[1])
        rows_at_once = max(1, _BLOCK_ENTRIES // frequencies.shape[0])
        points = landmarks[these].astype(np.float64)  # few: their phases are in float64 whatever their size
        if shared:
            at_landmarks = np.asarray(points @ omega.T)
        else:
            points = points.toarray() if sp.issparse(points) else points
            at_landmarks = np.einsum("ld,lmd->lm", points, omega[these])
        of_cos, of_sin = weights * np.cos(at_landmarks), weights * np.sin(at_landmarks)
        for start in range(0, n, rows_at_once):
            rows = slice(start, start + rows_at_once)
            angle = phases(X[rows], frequencies)
            if shared:
                similarity[rows, these] = np.cos(angle) @ of_cos.T + np.sin(angle) @ of_sin.T
            else:
                angle = angle.reshape(len(angle), len(weights), D)
                similarity[rows, these] = np.einsum("nlm,lm->nl", np.cos(angle), of_cos)
                similarity[rows, these] += np.einsum("nlm,lm->nl", np.sin(angle), of_sin)
    return similarity


def similarity_maps(u, v, landmarks, omega, Q) -> np.ndarray:
    """Similarities of the points of a product grid of the plane to landmarks (Letarte et al. 2019, Figure 1).

    On a grid the cosine of a difference splits into two small matrix products, with no array over the grid and the
    frequencies.

    Parameters
    ----------
    u, v : arrays of shapes (U,) and (V,)
        First and second coordinates of the grid.
    landmarks : array of shape (L, 2)
    omega : array of shape (D, 2) or (L, D, 2)
    Q : array of shape (L, D)

    Returns
    -------
    ndarray of shape (L, V, U), float64

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.
    """
    u, v = as_coordinates(u, "u"), as_coordinates(v, "v")
    landmarks = as_points(landmarks, "landmarks", dense=True)
    _, landmarks, omega, Q = _check_representation(np.zeros((1, 2)), landmarks, omega, Q)
    omega = np.broadcast_to(omega, (*Q.shape, 2))
    maps = np.empty((len(Q), len(v), len(u)))
    for grid, point, frequencies, weights in zip(maps, landmarks, omega, Q, strict=True):
        a = np.outer(point[0] - u, frequencies[:, 0])  # (U, D)
        b = np.outer(point[1] - v, frequencies[:, 1])  # (V, D)
        grid[:] = (np.cos(b) * weights) @ np.cos(a).T - (np.sin(b) * weights) @ np.sin(a).T
    return maps


def _check_representation(X, landmarks, omega, Q):
    X = as_points(X)
    d = X.shape[1]
    landmarks = as_points(landmarks, "landmarks", n_features=d)
    Q = as_losses(Q, "Q")
    L = landmarks.shape[0]
    if Q.ndim != 2 or len(Q) != L:
        raise ValueError(f"Q has shape {Q.shape}; one row of weights for each of {L} landmarks is needed.")
    shape = np.shape(omega)
    if shape not in ((Q.shape[1], d), (*Q.shape, d)):
        raise ValueError(f"omega has shape {shape}; {(Q.shape[1], d)} or {(*Q.shape, d)} is needed.")
    omega = as_points(np.reshape(omega, (-1, d)), "omega", dense=True)
    return X, landmarks, omega.reshape(shape), Q
