"""Kernel alignment losses of cosine hypotheses, in time linear in the number of points.

A hypothesis cos(omega . (x - x')) should be large for two points of one class and small otherwise. Averaged over
pairs, its loss needs only the class-wise sums of cos(omega . x) and sin(omega . x) (Letarte et al. 2019, Prop. 7
and 8), which are computed here in blocks of rows and frequencies: peak memory does not grow with n or N.
What is learned from the losses is the business of `posteriors`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

from ._validation import as_coordinates, as_labels, as_points
from .features import largest_norm, phase_dtype
from .frequencies import FrequencyBlocks

__all__ = ["alignment_loss", "alignment_loss_plane", "landmark_alignment_loss"]

# A block of phases stays within a core's cache; a block of frequencies stays within a few MiB whatever d is.
_ROWS = 512
_FREQUENCIES = 512
_BLOCK_ENTRIES = 2**22
# Below this much work (rows x frequencies) threads cost more than they save.
_WORK_WORTH_THREADS = 2**22


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def alignment_loss(X, y, omega) -> np.ndarray:
    """Empirical alignment loss of every frequency over all pairs of points (Letarte et al. 2019, Eq. 9, Prop. 8).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Its dtype decides the precision: float64, or float32 where phases stay small; sums are always float64.
    y : array of shape (n,)
        Class labels of any type, two classes or more.
    omega : array of shape (D, d), or FrequencyBlocks

    Returns
    -------
    ndarray of shape (D,), float64
        Each loss lies between 0 and 1 up to rounding.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or `y` holds only one class.
    """
    X = as_points(X)
    n = X.shape[0]
    classes, codes = as_labels(y, n)

    def loss(cosines, sines, *_):
        within = (cosines**2).sum(axis=0) + (sines**2).sum(axis=0)
        total = cosines.sum(axis=0) ** 2 + sines.sum(axis=0) ** 2
        return n / (2 * (n - 1)) - (2 * within - total) / (2 * n * (n - 1))

    return _over_frequency_blocks(X, codes, len(classes), omega, loss)


def landmark_alignment_loss(X, y, landmarks, landmark_labels, omega, landmark_indices=None) -> np.ndarray:
    """Empirical alignment loss of every frequency over the pairs of each landmark (Letarte et al. 2019, Eq. 10).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    y : array of shape (n,)
        Class labels of any type, two classes or more.
    landmarks : array or CSR matrix of shape (L, d)
    landmark_labels : array of shape (L,)
        A label that `y` does not hold makes every pair of that landmark one of different classes.
    omega : array of shape (D, d), or FrequencyBlocks, or array of shape (L, D, d)
        Frequencies shared by all landmarks, in O(n D) together, or each landmark's own, in O(n L D).
    landmark_indices : array of shape (L,), optional
        The rows of `X` that the landmarks are. A landmark then leaves itself out and its loss is a mean over the
        n - 1 other points; without indices (independent points, centroids) it is a mean over all n.

    Returns
    -------
    ndarray of shape (L, D), float64

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, `y` holds only one class, or an index names a row that is not
        its landmark.
    """
    X = as_points(X)
    n, d = X.shape
    landmarks = as_points(landmarks, "landmarks", n_features=d)
    L = landmarks.shape[0]
    as_labels(y, n)
    labels = np.asarray(landmark_labels)
    as_labels(labels, L, "landmark_labels", min_classes=1)
    if landmark_indices is not None:
        _check_indices(X, y, landmarks, labels, landmark_indices)
    own = 0 if landmark_indices is None else 1

    classes, codes = as_labels(np.concatenate([np.asarray(y), labels]), name="y with landmark_labels")
    codes, landmark_codes = codes[:n], codes[n:]
    landmark_points = np.asarray(landmarks.toarray() if sp.issparse(landmarks) else landmarks, dtype=np.float64)

    if not isinstance(omega, FrequencyBlocks) and np.ndim(omega) == 3:
        omega = np.asarray(omega)
        if omega.shape[0] != L:
            raise ValueError(
                f"omega holds frequencies for {omega.shape[0]} landmarks; one set for each of {L} is needed."
            )
        D = omega.shape[1]
        omega = omega.reshape(L * D, omega.shape[2])

        def block(cosines, sines, start, frequencies):
            columns = np.arange(len(frequencies))
            landmark = (start + columns) // D
            angle = np.einsum("jd,jd->j", frequencies, landmark_points[landmark])
            return aligned(angle, cosines, sines, (landmark_codes[landmark], columns))

    else:

        def block(cosines, sines, _, frequencies):
            return aligned(landmark_points @ frequencies.T, cosines, sines, landmark_codes)

    def aligned(angle, cosines, sines, same):
        """sum_j lambda_lj cos(omega . (x_l - x_j)), less the landmark's pair with itself."""
        of_cos = 2 * cosines[same] - cosines.sum(axis=0)
        of_sin = 2 * sines[same] - sines.sum(axis=0)
        return np.cos(angle) * of_cos + np.sin(angle) * of_sin - own

    total = _over_frequency_blocks(X, codes, len(classes), omega, block)
    return 0.5 - total.reshape(L, -1) / (2 * (n - own))


def alignment_loss_plane(X, y, u, v) -> np.ndarray:
    """Alignment loss of every frequency on a product grid of the plane (Letarte et al. 2019, Prop. 8).

    On a grid the class-wise sums are products of small matrices: O(n (U + V)) sines serve U x V frequencies.

    Parameters
    ----------
    X : array of shape (n, 2)
    y : array of shape (n,)
    u, v : arrays of shapes (U,) and (V,)
        First and second coordinates of the frequencies.

    Returns
    -------
    ndarray of shape (V, U), float64

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or `y` holds only one class.
    """
    X = as_points(X, n_features=2, dense=True).astype(np.float64, copy=False)
    n = len(X)
    classes, codes = as_labels(y, n)
    u, v = as_coordinates(u, "u"), as_coordinates(v, "v")
    within = np.zeros((len(v), len(u)))
    total_cos, total_sin = np.zeros_like(within), np.zeros_like(within)
    for k in range(len(classes)):
        rows = X[codes == k]
        phase_u, phase_v = np.outer(rows[:, 0], u), np.outer(v, rows[:, 1])
        cos_u, sin_u, cos_v, sin_v = np.cos(phase_u), np.sin(phase_u), np.cos(phase_v), np.sin(phase_v)
        cosines = cos_v @ cos_u - sin_v @ sin_u
        sines = sin_v @ cos_u + cos_v @ sin_u
        within += cosines**2 + sines**2
        total_cos += cosines
        total_sin += sines
    return n / (2 * (n - 1)) - (2 * within - total_cos**2 - total_sin**2) / (2 * n * (n - 1))


def _check_indices(X, y, landmarks, labels, indices) -> None:
    indices = np.asarray(indices)
    L, n = landmarks.shape[0], X.shape[0]
    if indices.shape != (L,) or indices.dtype.kind not in "iu" or not ((indices >= 0) & (indices < n)).all():
        raise ValueError(f"landmark_indices must be {L} row numbers of X, each between 0 and {n - 1}.")
    difference = X[indices] - landmarks
    if abs(difference).max() > 0 or (np.asarray(y)[indices] != labels).any():
        raise ValueError("landmark_indices names rows of X and y that are not the landmarks and their labels.")


def _over_frequency_blocks(X, codes, n_classes: int, omega, reduce: Callable) -> np.ndarray:
    """Apply `reduce` to the class-wise sums of cos and sin of each block of frequencies, and join the answers.

    `reduce(cosines, sines, start, frequencies)` gets two (n_classes, F) arrays, the position of the block's first
    frequency, and the (F, d) frequencies in float64; it returns an array whose last axis is F.
    """
    n, d = X.shape
    if not isinstance(omega, FrequencyBlocks):
        omega = as_points(omega, "omega", dense=True)
    D = omega.shape[0]
    if omega.shape[1] != d:
        raise ValueError(f"omega has {omega.shape[1]} columns; {d} are needed to match X.")
    order = np.argsort(codes, kind="stable")  # class-wise sums are then sums over runs of rows
    codes = codes[order]
    norm = largest_norm(X)

    def sums(block, start):
        dtype = phase_dtype(X.dtype, norm * largest_norm(block))
        cosines, sines = _class_sums(X, order, codes, n_classes, block.astype(dtype, copy=False))
        return reduce(cosines, sines, start, block.astype(np.float64, copy=False))

    blocks = _frequency_blocks(omega, d, n_classes)
    workers = min(cpu_count(), -(-D // _FREQUENCIES))
    if workers == 1 or n * D < _WORK_WORTH_THREADS:
        return np.concatenate([sums(block, start) for start, block in blocks], axis=-1)
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        # A few blocks in flight at a time: all of them at once would be all frequencies at once.
        answers, waiting = [], []
        for start, block in blocks:
            waiting.append(pool.submit(sums, block, start))
            if len(waiting) > workers:
                answers.append(waiting.pop(0).result())
        answers += [future.result() for future in waiting]
    return np.concatenate(answers, axis=-1)


def _frequency_blocks(omega, d: int, n_classes: int):
    """(start, block) pairs over the frequencies, each block small enough to hold with its class-wise sums."""
    size = max(1, min(_FREQUENCIES, _BLOCK_ENTRIES // max(d, n_classes)))
    start = 0
    for part in omega if isinstance(omega, FrequencyBlocks) else (omega,):
        for i in range(0, part.shape[0], size):
            yield start + i, part[i : i + size]
        start += part.shape[0]


def _class_sums(X, order, codes, n_classes: int, omega) -> tuple[np.ndarray, np.ndarray]:
    """Sums of cos(omega . x) and of sin(omega . x) over each class, (n_classes, F) each; rows taken in `order`."""
    cosines, sines = np.zeros((2, n_classes, omega.shape[0]))
    transposed = np.ascontiguousarray(omega.T)
    rows_at_once = _ROWS if sp.issparse(X) else max(1, min(_ROWS, _BLOCK_ENTRIES // X.shape[1]))
    for start in range(0, len(order), rows_at_once):
        run = codes[start : start + rows_at_once]
        rows = X[order[start : start + rows_at_once]]
        angle = np.asarray(rows.astype(omega.dtype, copy=False) @ transposed)
        wave = np.empty_like(angle)
        present, first = np.unique(run, return_index=True)
        edges = [*first, len(run)]
        for function, into in ((np.cos, cosines), (np.sin, sines)):
            function(angle, out=wave)
            for k, a, b in zip(present, edges, edges[1:], strict=False):
                into[k] += wave[a:b].sum(axis=0, dtype=np.float64)
    return cosines, sines
