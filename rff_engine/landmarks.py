"""Landmarks: choosing them, and the representation of points by their similarities to them.

A landmark's similarity is ``k_Q(x_l - x) = sum_m Q_m cos(omega_m . (x_l - x))`` with its own weights and, as a rule,
its own frequencies (Letarte et al. 2019, Eq. 13). The losses behind the weights come from `alignment`.
"""

from __future__ import annotations

import math
import warnings
from itertools import product
from typing import Literal, overload

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from . import _blocks
from ._blocks import pieces
from ._typing import ArrayLike, MatrixLike, RandomState
from ._validation import (
    as_array,
    as_coordinates,
    as_labels,
    as_losses,
    as_points,
    as_rng,
    as_sample_weight,
    check_choice,
    check_count,
    check_fits,
    check_jobs,
    draw_seed,
    widened_for_squares,
)
from ._waves import waves
from .features import PhaseBound, phase_dtype, phases_of_pairs, without_zero_columns

__all__ = ["landmark_similarity", "select_landmarks", "similarity_maps"]

# Landmarks of one job if landmarks share frequencies.
_LANDMARKS = 64


@overload
def select_landmarks(
    X: MatrixLike,
    y: ArrayLike,
    n_landmarks: int,
    method: Literal["random"] = "random",
    random_state: RandomState = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray | sp.csr_array, np.ndarray, np.ndarray]: ...


@overload
def select_landmarks(
    X: MatrixLike,
    y: ArrayLike,
    n_landmarks: int,
    method: str,
    random_state: RandomState = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray | sp.csr_array, np.ndarray, np.ndarray | None]: ...


def select_landmarks(
    X: MatrixLike,
    y: ArrayLike,
    n_landmarks: int,
    method: str = "random",
    random_state: RandomState = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray | sp.csr_array, np.ndarray, np.ndarray | None]:
    """Choose landmarks, as evenly over the classes as they allow (Letarte et al. 2019, Section 6.1).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Points, one a row.
    y : array of shape (n,)
        Class labels of any type.
    n_landmarks : int
        From 1 to n. A remainder goes to the first classes; if a class has too few points, all are landmarks and the
        other classes have more.
    method : {"random", "kmeans"}
        Training points without replacement, or the centroids of k-means within each class.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.
    sample_weight : array of shape (n,), optional
        Weights of at least 0 in k-means. Only rows of a weight above 0 are chosen; otherwise "random" does not look at
        weights. ``None`` stands for 1 each.

    Returns
    -------
    landmarks : array or CSR matrix of shape (n_landmarks, d)
        In the order of the classes; CSR only for random landmarks of a CSR `X`. At the same seed, fewer random
        landmarks are a subset of more.
    labels : ndarray of shape (n_landmarks,)
    indices : ndarray of shape (n_landmarks,), or None
        Row numbers of the landmarks in `X`; ``None`` for centroids.

    Raises
    ------
    ValueError
        If there are fewer points than landmarks, one class only, a weight is negative, or the method is unknown.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    >>> landmarks, labels, indices = rff.select_landmarks(X, y, 4, random_state=0)
    >>> labels, bool(np.array_equal(landmarks, X[indices]))
    (array([0, 0, 1, 1]), True)
    """
    X = as_points(X)
    as_labels(y, X.shape[0])
    weights = as_sample_weight(sample_weight, X.shape[0])
    return _select_landmarks(X, y, n_landmarks, method, as_rng(random_state), weights)


def _select_landmarks(X, y, n_landmarks: int, method: str, rng, weights=None):
    """Return `select_landmarks` of checked points and weights."""
    rows = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
    n = len(rows)
    classes, codes = as_labels(np.asarray(y)[rows], n)
    check_choice(method, "method", ("random", "kmeans"))
    if check_count(n_landmarks, "n_landmarks") > n:
        raise ValueError(f"n_landmarks is {n_landmarks}; there are only {n} points to choose from.")
    quotas = _quotas(np.bincount(codes), n_landmarks)
    labels = np.repeat(classes, quotas)
    members = [rows[codes == k] for k in range(len(classes))]
    if method == "random":
        indices = np.concatenate([rng.permutation(rows)[:quota] for rows, quota in zip(members, quotas, strict=True)])
        return X[indices], labels, indices
    centroids = [
        _centroids(X[of_class], quota, rng, None if weights is None else weights[of_class])
        for of_class, quota in zip(members, quotas, strict=True)
        if quota > 0
    ]
    return np.concatenate(centroids), labels, None


def landmark_count(n: int, n_classes: int, fraction: float) -> int:
    """Return the number of landmarks in a fraction of n points: equal for all classes, 1 each or more, at most n."""
    # n * fraction is rounded first: 100 * 0.07 must not become 8 landmarks.
    per_class = max(1, int(math.ceil(round(n * fraction, 6)) / n_classes))
    return min(n_classes * per_class, n)


def _quotas(available: np.ndarray, total: int) -> np.ndarray:
    """Split `total` evenly over the classes, at most what each has; a remainder goes to the first classes."""
    quotas = np.zeros_like(available)
    while (missing := total - quotas.sum()) > 0:
        # Equal parts for all classes that have points left, then one point each.
        classes = np.flatnonzero(quotas < available)[:missing]
        quotas[classes] = np.minimum(quotas[classes] + missing // len(classes), available[classes])
    return quotas


def _centroids(points, n_clusters: int, rng, weights=None) -> np.ndarray:
    dtype, points = points.dtype, widened_for_squares(points)
    weights = None if weights is None else weights / weights.max()  # k-means takes weights in the points' dtype
    with warnings.catch_warnings():
        # Fewer distinct points than centroids: some centroids coincide, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        kmeans = KMeans(n_clusters, n_init=1, random_state=draw_seed(rng)).fit(points, sample_weight=weights)
    return kmeans.cluster_centers_.astype(dtype, copy=False)


def landmark_similarity(
    X: MatrixLike,
    landmarks: MatrixLike,
    omega: ArrayLike,
    Q: ArrayLike,
    out: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Compute similarities psi(x) of points to landmarks (Letarte et al. 2019, Eq. 13).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Its dtype decides the precision: float64, or float32 where phases stay small.
    landmarks : array or CSR matrix of shape (L, d)
        Landmarks, one a row.
    omega : array of shape (D, d) or (L, D, d)
        Frequencies shared by all landmarks, or each landmark's own.
    Q : array of shape (L, D) or (S, L, D)
        Weights of each landmark, up to 1e30 in size, or weights of S settings, which share all sines and cosines:
        several values of beta, or fewer frequencies followed by weights of 0.
    out : array of the shape and dtype of the result, optional
        Array to write to; it need not be contiguous.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n, L) or (S, n, L), in the precision of `X`
        Between -1 and 1 up to rounding.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or `out` does not fit.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, landmarks = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0]])
    >>> omega, Q = np.array([[0.0], [np.pi]]), np.array([[0.5, 0.5]])
    >>> rff.landmark_similarity(X, landmarks, omega, Q).round(6).ravel()
    array([1., 0., 1.])
    """
    n_jobs = check_jobs(n_jobs)
    X, landmarks, omega, Q = _check_representation(X, landmarks, omega, Q, settings=True)
    return _landmark_similarity(X, landmarks, omega, Q, out, n_jobs)


def _landmark_similarity(X, landmarks, omega, Q, out=None, n_jobs: int | None = None) -> np.ndarray:
    """Compute `landmark_similarity` of checked arrays."""
    shape = (*Q.shape[:-2], X.shape[0], Q.shape[-2])
    if out is None:
        check_fits(math.prod(shape), f"Q has shape {Q.shape} and X {X.shape[0]} rows")
        out = np.empty(shape, dtype=X.dtype)
    elif not isinstance(out, np.ndarray) or (out.shape, out.dtype) != (shape, X.dtype):
        given = f"shape {np.shape(out)} and dtype {getattr(out, 'dtype', type(out).__name__)}"
        raise ValueError(f"out has {given}; an array of shape {shape} and dtype {X.dtype} is needed.")
    fill = _fill_from_own_frequencies if omega.ndim == 3 else _fill_from_shared_frequencies
    fill(X, landmarks, omega, Q.reshape(-1, *Q.shape[-2:]), out if out.ndim == 3 else out[None], n_jobs)
    return out


def _fill_from_own_frequencies(X, landmarks, omega, Q, out, n_jobs) -> None:
    """Fill a few landmarks at a time: one cosine, of omega . x - omega . x_l, for each frequency and point."""
    S, L, D = Q.shape
    n, d = X.shape
    bound = PhaseBound(X)
    X, columns = without_zero_columns(X)
    size = max(1, min(_blocks.FREQUENCIES, _blocks.BLOCK_ENTRIES // d))
    some_landmarks = max(1, min(size // D, _blocks.BLOCK_ENTRIES // (_blocks.ROWS * S)))
    rows_at_once = _blocks.rows_of_block(X)

    def work(group, rows):
        for part in pieces(0, D, size):
            frequencies = omega[group, part]
            L_group, D_part, _ = frequencies.shape
            frequencies = frequencies.reshape(-1, d)
            dtype = phase_dtype(X.dtype, bound.largest_phase(frequencies))
            which = np.repeat(np.arange(group.start, group.stop), D_part)
            offset = phases_of_pairs(landmarks, which, frequencies).astype(dtype, copy=False)
            transposed = np.ascontiguousarray(frequencies[:, columns].T, dtype=dtype)
            weights = np.ascontiguousarray(Q[:, group, part].transpose(1, 2, 0), dtype=dtype)
            for at in pieces(rows.start, rows.stop, rows_at_once):
                wave = np.asarray(X[at].astype(dtype, copy=False) @ transposed)
                wave -= offset
                waves(wave, wave)
                similarity = wave.reshape(-1, L_group, D_part).transpose(1, 0, 2) @ weights
                if part.start == 0:
                    out[:, at, group] = similarity.T
                else:
                    out[:, at, group] += similarity.T

    jobs = product(pieces(0, L, some_landmarks), pieces(0, n, _blocks.ROWS_A_THREAD))
    _blocks.on_threads(work, jobs, _blocks.phase_work(X, L * D), n_jobs)


def _fill_from_shared_frequencies(X, landmarks, omega, Q, out, n_jobs) -> None:
    """Fill all landmarks together: weighted products of cos and sin(omega . x) with cos and sin(omega . x_l)."""
    S, L, D = Q.shape
    n, d = X.shape
    bound = PhaseBound(X)
    rows_at_once = min(_blocks.rows_of_block(X), max(1, _blocks.BLOCK_ENTRIES // (S * L)))
    for part in pieces(0, D, max(1, _blocks.BLOCK_ENTRIES // max(d, S * L))):
        frequencies = omega[part]
        dtype = phase_dtype(X.dtype, bound.largest_phase(frequencies))
        of_cos, of_sin = np.empty((2, S, L, len(frequencies)), dtype=dtype)
        exact = frequencies.astype(np.float64, copy=False).T  # landmarks are few, and may be large

        def weigh(some, part=part, exact=exact, of_cos=of_cos, of_sin=of_sin):
            angle = np.asarray(landmarks[some].astype(np.float64, copy=False) @ exact)
            weights = Q[:, some, part]
            np.multiply(weights, np.cos(angle), out=of_cos[:, some], casting="same_kind")
            np.multiply(weights, np.sin(angle), out=of_sin[:, some], casting="same_kind")

        groups = [(some,) for some in pieces(0, L, _LANDMARKS)]
        _blocks.on_threads(weigh, groups, _blocks.phase_work(landmarks, D), n_jobs)
        transposed = np.ascontiguousarray(frequencies.T, dtype=dtype)
        of_cos = of_cos.reshape(S * L, -1)
        of_sin = of_sin.reshape(S * L, -1)

        def add(at, part=part, dtype=dtype, transposed=transposed, of_cos=of_cos, of_sin=of_sin):
            rows = X[at].astype(dtype, copy=False)
            similarity = np.zeros((rows.shape[0], S * L), dtype=dtype)
            for some in pieces(0, transposed.shape[1], _blocks.FREQUENCIES):
                angle = np.asarray(rows @ transposed[:, some])
                cosines = np.empty_like(angle)
                waves(angle, cosines, angle)
                similarity += cosines @ of_cos[:, some].T
                similarity += angle @ of_sin[:, some].T
            similarity = similarity.reshape(-1, S, L).transpose(1, 0, 2)
            if part.start == 0:
                out[:, at] = similarity
            else:
                out[:, at] += similarity

        blocks = [(at,) for at in pieces(0, n, rows_at_once)]
        _blocks.on_threads(add, blocks, _blocks.phase_work(X, len(frequencies)), n_jobs)


def similarity_maps(u: ArrayLike, v: ArrayLike, landmarks: ArrayLike, omega: ArrayLike, Q: ArrayLike) -> np.ndarray:
    """Compute similarities of a plane's grid points to landmarks (Letarte et al. 2019, Figure 1).

    On a grid the cosine of a difference splits into two small matrix products. No array covers both the grid and the
    frequencies.

    Parameters
    ----------
    u, v : arrays of shapes (U,) and (V,)
        First and second coordinates of the grid.
    landmarks : array of shape (L, 2)
        Landmarks, one a row.
    omega : array of shape (D, 2) or (L, D, 2)
        Frequencies, one a row.
    Q : array of shape (L, D)
        Weights, up to 1e30 in size.

    Returns
    -------
    ndarray of shape (L, V, U), float64

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> u, v = np.linspace(-1, 1, 5), np.linspace(-1, 1, 3)
    >>> maps = rff.similarity_maps(u, v, [[0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5]])
    >>> maps.shape, round(float(maps[0, 1, 2]), 6)  # at the landmark
    ((1, 3, 5), 1.0)
    """
    u = as_coordinates(u, "u")
    v = as_coordinates(v, "v")
    landmarks = as_points(landmarks, "landmarks", dense=True)
    _, landmarks, omega, Q = _check_representation(np.zeros((1, 2)), landmarks, omega, Q)
    omega = np.broadcast_to(omega, (*Q.shape, 2))
    shape = len(Q), len(v), len(u)
    check_fits(math.prod(shape), f"the maps have shape {shape}")
    maps = np.empty(shape)
    for grid, point, frequencies, weights in zip(maps, landmarks, omega, Q, strict=True):
        a = np.outer(point[0] - u, frequencies[:, 0])  # (U, D)
        b = np.outer(point[1] - v, frequencies[:, 1])  # (V, D)
        grid[:] = (np.cos(b) * weights) @ np.cos(a).T - (np.sin(b) * weights) @ np.sin(a).T
    return maps


def _check_representation(X, landmarks, omega, Q, settings: bool = False):
    X = as_points(X)
    d = X.shape[1]
    landmarks = as_points(landmarks, "landmarks", n_features=d)
    Q = as_losses(Q, "Q", largest=1e30)  # float32 holds sums of it
    L, dimensions = landmarks.shape[0], (2, 3) if settings else (2,)
    if Q.ndim not in dimensions or Q.shape[-2] != L:
        raise ValueError(f"Q has shape {Q.shape}; one row of weights for each of {L} landmarks is needed.")
    omega = as_array(omega, "omega")
    shape, own = omega.shape, (*Q.shape[-2:], d)
    if shape not in (own[1:], own):
        raise ValueError(f"omega has shape {shape}; {own[1:]} or {own} is needed.")
    omega = as_points(np.reshape(omega, (-1, d)), "omega", dense=True)
    return X, landmarks, omega.reshape(shape), Q
