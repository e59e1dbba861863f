"""Kernel alignment losses of cosine hypotheses, in time linear in the number of points.

A hypothesis cos(omega . (x - x')) should be large for two points of one class and small otherwise. Averaged over
pairs, its loss needs only the class-wise sums of cos(omega . x) and sin(omega . x) (Letarte et al. 2019, Prop. 7
and 8), which are computed here in blocks of rows and frequencies: peak memory does not grow with n or N. Sums of
disjoint rows add up, so the rows may lie in many files or on many machines.
Distributions are learned from the losses in `posteriors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _blocks
from ._blocks import pieces
from ._typing import ArrayLike, MatrixLike
from ._validation import (
    as_array,
    as_coordinates,
    as_labels,
    as_points,
    as_sample_weight,
    check_fits,
    check_jobs,
    check_labels_alike,
    shown,
)
from ._waves import waves
from .features import PhaseBound, phase_dtype, phases_of_pairs, row_norms, without_zero_columns
from .frequencies import FrequencyBlocks

__all__ = [
    "AlignmentSums",
    "alignment_loss",
    "alignment_loss_batched",
    "alignment_loss_plane",
    "alignment_loss_variance",
    "alignment_sums",
    "landmark_alignment_loss",
]

# Consecutive blocks of rows are joined up to this size.
_JOINED_BYTES = 2**26
# Frequencies up to this size stay in memory between two blocks of rows. Larger ones are drawn again.
_KEPT_BYTES = 2**28
# Phases of one thread in memory at once.
_VARIANCE_ENTRIES = 2**20
# Rows up to this size are copied in the order of their classes.
_SORTED_BYTES = 2**25


@dataclass(frozen=True, eq=False)
class AlignmentSums:
    """Class-wise sums over some rows, which give the losses of D frequencies (Letarte et al. 2019, Prop. 8).

    ``a + b`` holds the sums over the rows of `a` and of `b`, which must be disjoint and have the same frequencies; a
    class may be missing in one of them. ``a - b`` leaves out the rows of `b`, which must be among those of `a`.
    Instances can be pickled: map `alignment_sums` over the parts of a data set and reduce with ``+``.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        Sorted labels.
    counts : ndarray of shape (K,), int64
        Rows of each class, or with sample weights the sum of their weights, float64.
    cosines, sines : ndarray of shape (K, D), float64
        (Weighted) sums of cos(omega . x) and of sin(omega . x) over each class.
    lengths : ndarray of shape (D,), float64
        Euclidean norms of the frequencies: ``+`` compares them to detect different frequencies.
    self_pairs : ndarray of shape (K,), optional
        Sums of w min(w, 1) over each class, the weight of pairs of a row with itself, which the loss leaves out.
        ``None`` stands for `counts`: every row has weight 1.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> omega = np.array([[0.0], [np.pi]])
    >>> sums = rff.alignment_sums(X[:2], y[:2], omega) + rff.alignment_sums(X[2:], y[2:], omega)
    >>> bool(np.allclose(sums.loss(), rff.alignment_loss(X, y, omega)))
    True
    """

    classes: np.ndarray
    counts: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    lengths: np.ndarray
    self_pairs: np.ndarray | None = None

    def __add__(self, other: AlignmentSums) -> AlignmentSums:
        if not isinstance(other, AlignmentSums):
            return NotImplemented
        if len(self.lengths) != len(other.lengths) or not np.allclose(self.lengths, other.lengths, rtol=1e-6, atol=0):
            raise ValueError(
                f"omega differs between the sums, of {len(self.lengths)} and {len(other.lengths)} frequencies; "
                "only sums at the same ones can be added."
            )
        classes = np.unique(_join_labels([self.classes, other.classes]))
        counts = np.zeros(len(classes), dtype=np.result_type(self.counts, other.counts))
        cosines, sines = np.zeros((2, len(classes), len(self.lengths)))
        own = np.zeros(len(classes))
        for part in (self, other):
            rows = np.searchsorted(classes, part.classes)
            counts[rows] += part.counts
            cosines[rows] += part.cosines
            sines[rows] += part.sines
            own[rows] += part.counts if part.self_pairs is None else part.self_pairs
        unweighted = self.self_pairs is None and other.self_pairs is None
        return AlignmentSums(classes, counts, cosines, sines, self.lengths, None if unweighted else own)

    def __sub__(self, other: AlignmentSums) -> AlignmentSums:
        if not isinstance(other, AlignmentSums):
            return NotImplemented
        own = None if other.self_pairs is None else -other.self_pairs
        return self + AlignmentSums(other.classes, -other.counts, -other.cosines, -other.sines, other.lengths, own)

    def loss(self) -> np.ndarray:
        """Empirical alignment loss of every frequency over all pairs of the rows.

        Returns
        -------
        ndarray of shape (D,), float64

        Raises
        ------
        ValueError
            If fewer than two classes have rows of a weight above 0, or one row has all weight.
        """
        own = None if self.self_pairs is None else float(self.self_pairs.sum())
        _check_weights(self.classes, self.counts, own)
        return _loss(self.counts.sum().item(), self.cosines, self.sines, own)


def alignment_sums(
    X: MatrixLike,
    y: ArrayLike,
    omega: ArrayLike,
    classes: ArrayLike | None = None,
    n_jobs: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> AlignmentSums:
    """Sum cosines and sines by class: the parts of the alignment losses (Letarte et al. 2019, Prop. 8).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Its dtype decides the precision: float64, or float32 where phases stay small; sums are always float64.
    y : array of shape (n,)
        Class labels of any type; one class is enough.
    omega : array of shape (D, d), or FrequencyBlocks
        Frequencies, one a row.
    classes : array of shape (K,), optional
        All labels; any other is refused. ``None`` takes the labels in `y`.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; the result does not depend on it.
    sample_weight : array of shape (n,), optional
        Weights of at least 0, not all 0; see `alignment_loss`.

    Returns
    -------
    AlignmentSums
        K x D sums of each kind.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, a weight is negative, or `y` holds a label that is not in `classes`.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> omega = np.array([[0.0], [np.pi]])
    >>> sums = rff.alignment_sums(X, y, omega)
    >>> sums.counts, sums.cosines.round(6)
    (array([2, 2]), array([[ 2.,  2.],
           [ 2., -2.]]))
    """
    X = as_points(X)
    n_jobs = check_jobs(n_jobs)
    weights = as_sample_weight(sample_weight, X.shape[0])
    return _alignment_sums(X, y, _as_frequencies(omega, X.shape[1]), n_jobs, weights, classes)


def _alignment_sums(X, y, frequencies, n_jobs=None, weights=None, classes=None) -> AlignmentSums:
    """Compute `alignment_sums` of checked points, frequencies and weights."""
    labels, codes = as_labels(y, X.shape[0], min_classes=1)
    if classes is not None:
        classes, distinct = as_labels(classes, name="classes", min_classes=1)[0], labels
        labels = np.unique(_join_labels([classes, distinct]))
        if len(labels) > len(classes):
            raise ValueError(f"y holds the labels {np.setdiff1d(labels, classes).tolist()}, which are not in classes.")
        codes = np.searchsorted(labels, distinct)[codes]
    cosines, sines = np.empty((2, len(labels), frequencies.shape[0]))
    lengths = np.empty(frequencies.shape[0])

    def keep(at, block, of_cos, of_sin):
        cosines[:, at], sines[:, at], lengths[at] = of_cos, of_sin, row_norms(block)

    _for_frequency_blocks(X, codes, len(labels), frequencies, keep, n_jobs=n_jobs, weights=weights)
    counts = np.bincount(codes, weights, len(labels))
    own = None if weights is None else np.bincount(codes, _with_itself(weights), len(labels))
    return AlignmentSums(labels, counts, cosines, sines, lengths, own)


def alignment_loss(
    X: MatrixLike,
    y: ArrayLike,
    omega: ArrayLike,
    n_jobs: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Compute each frequency's empirical alignment loss over pairs of points (Letarte et al. 2019, Eq. 9, Prop. 8).

    With weights w_i the loss is a weighted mean over pairs,
    ``sum_ij w_i w_j l_ij / sum_i w_i (W - min(w_i, 1))``, where W is the sum of the weights, l_ij the loss of a pair
    and l_ii = 0. A row of a whole weight w counts as w equal rows. Where no weight is above 1, only pairs of different
    rows count, and a common factor of the weights changes nothing.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Its dtype decides the precision: float64, or float32 where phases stay small; sums are always float64.
    y : array of shape (n,)
        Class labels of any type, two classes or more.
    omega : array of shape (D, d), or FrequencyBlocks
        Frequencies, one a row.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; the result does not depend on it.
    sample_weight : array of shape (n,), optional
        Weights of at least 0; ``None`` stands for 1 each.

    Returns
    -------
    ndarray of shape (D,), float64
        Each loss lies between 0 and 1 up to rounding.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, a weight is negative, all weight is on one row, or `y` holds only
        one class among the rows of a weight above 0.

    Examples
    --------
    Labels that alternate agree with the cosine of period 2, not with a constant.

    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> omega = np.array([[0.0], [np.pi]])
    >>> rff.alignment_loss(X, y, omega).round(3)
    array([0.667, 0.   ])
    """
    X = as_points(X)
    n_jobs = check_jobs(n_jobs)
    classes, codes = as_labels(y, X.shape[0])
    weights = as_sample_weight(sample_weight, X.shape[0])
    n, own = _weight_of_pairs(weights, classes, codes)
    omega = _as_frequencies(omega, X.shape[1])
    loss = np.empty(omega.shape[0])

    def keep(at, _, cosines, sines):
        loss[at] = _loss(n, cosines, sines, own)

    _for_frequency_blocks(X, codes, len(classes), omega, keep, n_jobs=n_jobs, weights=weights)
    return loss


def alignment_loss_batched(
    blocks: Iterable[Any],
    omega: ArrayLike,
    classes: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Compute the empirical alignment loss over all pairs of points in blocks (Letarte et al. 2019, Prop. 8).

    The points need not fit in memory: a block is released before the next is read. Blocks of less than 64 MiB are
    joined up to that size, so their sizes matter little.

    Parameters
    ----------
    blocks : iterable of pairs (X, y) or triples (X, y, sample_weight)
        Arrays or CSR matrices of shape (n_b, d) with their labels (n_b,), and weights if any, as for `alignment_loss`.
    omega : array of shape (D, d), or FrequencyBlocks
        FrequencyBlocks of more than 256 MiB are drawn again for each block of rows of 64 MiB or more, which should
        then have several thousand rows.
    classes : array of shape (K,), optional
        All labels; any other is refused. ``None`` collects them from the blocks.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; the result does not depend on it.

    Returns
    -------
    ndarray of shape (D,), float64

    Raises
    ------
    ValueError
        If there is no block, a block is not a pair or triple, a shape is wrong, a value is not finite, a weight is
        negative, a label is not in `classes`, or all rows are of one class.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> omega = np.array([[0.0], [np.pi]])
    >>> blocks = ((X[i : i + 2], y[i : i + 2]) for i in (0, 2))  # read from files, say
    >>> rff.alignment_loss_batched(blocks, omega).round(3)
    array([0.667, 0.   ])
    """
    n_jobs = check_jobs(n_jobs)
    omega = _as_frequencies(omega)
    if isinstance(omega, FrequencyBlocks) and 8 * omega.shape[0] * omega.shape[1] <= _KEPT_BYTES:
        omega = _stored(omega, n_jobs)
    if not isinstance(blocks, Iterable) or isinstance(blocks, np.ndarray):
        raise ValueError(f"blocks is {shown(blocks)}; pairs (X, y) or triples (X, y, sample_weight) are needed.")
    sums = None
    for block in _join(blocks, omega.shape[1]):
        X, y, weights = block
        part = _alignment_sums(X, y, omega, n_jobs, as_sample_weight(weights, X.shape[0]), classes)
        del block, X, y  # free the block before the next is read
        sums = part if sums is None else sums + part
    if sums is None:
        raise ValueError("blocks holds no block of rows; at least one is needed.")
    return sums.loss()


def landmark_alignment_loss(
    X: MatrixLike,
    y: ArrayLike,
    landmarks: MatrixLike,
    landmark_labels: ArrayLike,
    omega: ArrayLike,
    landmark_indices: ArrayLike | None = None,
    n_jobs: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Compute each frequency's empirical alignment loss over pairs of each landmark (Letarte et al. 2019, Eq. 10).

    With weights w_j the loss of landmark l is ``sum_j w_j l_lj / (W - min(w_l, 1))``. W is the sum of the weights. w_l
    is the weight of the landmark's own row, 0 without `landmark_indices`. A row of a whole weight w counts as w equal
    rows.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Points, one a row.
    y : array of shape (n,)
        Class labels of any type, two classes or more.
    landmarks : array or CSR matrix of shape (L, d)
        Landmarks, one a row.
    landmark_labels : array of shape (L,)
        With a label that is not in `y`, every pair of that landmark is of different classes.
    omega : array of shape (D, d), or FrequencyBlocks, or array of shape (L, D, d)
        Frequencies shared by all landmarks, in O(n D) together, or each landmark's own, in O(n L D).
    landmark_indices : array of shape (L,), optional
        Row numbers of the landmarks in `X`. The loss of a landmark is then a mean over the n - 1 other points; without
        indices (independent points, centroids) it is a mean over all n.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; the result does not depend on it.
    sample_weight : array of shape (n,), optional
        Weights of at least 0; ``None`` stands for 1 each.

    Returns
    -------
    ndarray of shape (L, D), float64

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, a weight is negative, all weight is on one row, `y` holds only one
        class among the rows of a weight above 0, or an index names a row that is not its landmark.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> omega = np.array([[0.0], [np.pi]])
    >>> rff.landmark_alignment_loss(X, y, X[:1], y[:1], omega, landmark_indices=np.array([0])).round(3)
    array([[0.667, 0.   ]])
    """
    X = as_points(X)
    n_jobs = check_jobs(n_jobs)
    landmarks = as_points(landmarks, "landmarks", n_features=X.shape[1])
    L = landmarks.shape[0]
    weights = as_sample_weight(sample_weight, X.shape[0])
    as_labels(y, X.shape[0])
    as_labels(landmark_labels, L, "landmark_labels", min_classes=1)
    labels = np.asarray(landmark_labels)
    if landmark_indices is not None:
        landmark_indices = _check_indices(X, y, landmarks, labels, landmark_indices)
    omega = _as_frequencies_of(omega, L, X.shape[1])
    return _landmark_alignment_loss(X, y, landmarks, labels, omega, landmark_indices, n_jobs, weights)


def _landmark_alignment_loss(X, y, landmarks, labels, omega, indices, n_jobs, weights) -> np.ndarray:
    """Compute `landmark_alignment_loss` of checked arrays."""
    (n, d), L = X.shape, landmarks.shape[0]
    itself = np.full(L, 0.0 if indices is None else 1.0)
    if indices is not None and weights is not None:
        itself = np.minimum(weights[indices], 1)

    classes, codes = as_labels(_join_labels([y, labels], "y with landmark_labels"))
    codes, landmark_codes = codes[:n], codes[n:]
    total, _ = _weight_of_pairs(weights, classes, codes)

    def loss_of(aligned, itself):
        """Compute the loss from sum_j lambda_lj cos(omega . (x_l - x_j)), with the landmark's pair with itself.

        That pair's cosine is 1, but rounding changes it at large phases. Then the mean may leave [0, 1].
        """
        return np.clip(mean_loss(aligned - itself, total - itself), 0.0, 1.0)

    if len(omega.shape) == 3:
        D = omega.shape[1]
        loss = np.empty(L * D)

        def offsets(at, block):
            return phases_of_pairs(landmarks, np.arange(at.start, at.stop) // D, block)

        def keep_own(at, _, cosines):
            columns = np.arange(at.stop - at.start)
            of = (at.start + columns) // D
            loss[at] = loss_of(2 * cosines[landmark_codes[of], columns] - cosines.sum(axis=0), itself[of])

        own = omega.reshape(L * D, d)
        _for_frequency_blocks(X, codes, len(classes), own, keep_own, offsets, n_jobs, weights)
        return loss.reshape(L, D)

    loss = np.empty((L, omega.shape[0]))

    def keep_shared(at, block, cosines, sines):
        block = block.astype(np.float64, copy=False)
        of_cos = 2 * cosines - cosines.sum(axis=0)
        of_sin = 2 * sines - sines.sum(axis=0)
        for some in pieces(0, L, _blocks.ROWS):
            angle = np.asarray(landmarks[some].astype(np.float64, copy=False) @ block.T)
            wave = np.cos(angle)
            wave *= of_cos[landmark_codes[some]]
            np.sin(angle, out=angle)
            angle *= of_sin[landmark_codes[some]]
            wave += angle
            loss[some, at] = loss_of(wave, itself[some, None])

    _for_frequency_blocks(X, codes, len(classes), omega, keep_shared, n_jobs=n_jobs, weights=weights)
    return loss


def alignment_loss_variance(X: MatrixLike, y: ArrayLike, omega: ArrayLike | FrequencyBlocks) -> np.ndarray:
    """Estimate without bias the variance of a pair's loss, for every frequency (Hoeffding 1948).

    It is half the mean of ``(loss of the pair (i, j) - loss of (k, l))^2`` over all four different points i, j, k, l:
    the `variance` of `bounds.empirical_bernstein`. It takes O(n D) from the sums of `alignment_loss` and, of points
    alone, the sums at twice the frequency.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        At least 4 points.
    y : array of shape (n,)
        Class labels of any type, two classes or more.
    omega : array of shape (D, d), or FrequencyBlocks
        Frequencies, one a row.

    Returns
    -------
    ndarray of shape (D,), float64
        Each is between 0 and 1/2 up to rounding.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, `y` holds only one class, or there are fewer than 4 points.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> bool(abs(rff.alignment_loss_variance(X, y, np.array([[np.pi]]))[0]) < 1e-9)  # every pair has loss 0
    True
    """
    X = as_points(X)
    n = X.shape[0]
    if n < 4:
        raise ValueError(f"X has {n} rows; 4 or more are needed for the variance of a pair's loss.")
    classes, codes = as_labels(y, n)
    omega = _as_frequencies(omega, X.shape[1])
    members = np.eye(len(classes))[codes]
    precise = X.astype(np.float64, copy=False)
    variance = np.empty(omega.shape[0])

    def keep(at, block, cosines, sines):
        of_cos = 2 * cosines - cosines.sum(axis=0)
        of_sin = 2 * sines - sines.sum(axis=0)
        for some in pieces(0, at.stop - at.start, max(1, _VARIANCE_ENTRIES // n)):
            angle = np.asarray(precise @ block[some].T.astype(np.float64, copy=False))
            wave = np.exp(1j * angle)
            # Of the pairs' cosines, times 1 for equal labels and -1 for others.
            with_one = (np.conj(wave) * (members @ (of_cos + 1j * of_sin)[:, some])).real - 1
            variance[at][some] = loss_variance(wave, with_one)

    _for_frequency_blocks(X, codes, len(classes), omega, keep)
    return variance


def loss_variance(wave: np.ndarray, with_one: np.ndarray) -> np.ndarray:
    """Estimate the variance of a pair's loss from arrays (.., n, D), an array (.., D).

    `wave` has exp(i omega . x) of each point, `with_one` the sum over its pairs of their cosines, times 1 for equal
    labels and -1 for others. Below 4 points the estimate is biased.
    """
    n = wave.shape[-2]
    pairs = n * (n - 1)
    squares = (n * (n - 2) + np.abs((wave**2).sum(axis=-2)) ** 2) / 2
    disjoint = with_one.sum(axis=-2) ** 2 - 4 * (with_one**2).sum(axis=-2) + 2 * squares
    return np.clip((squares / pairs - disjoint / (pairs * max((n - 2) * (n - 3), 1))) / 4, 0.0, 0.5)


def mean_loss(aligned: np.ndarray, pairs: Any) -> np.ndarray:
    """Compute the mean loss over pairs (Letarte et al. 2019, Eq. 7).

    The pairs' cosines, times 1 for equal labels and -1 for others, add up to `aligned`.
    """
    return 0.5 - aligned / (2 * pairs)


def alignment_loss_plane(X: ArrayLike, y: ArrayLike, u: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the alignment loss of every frequency on a product grid of the plane (Letarte et al. 2019, Prop. 8).

    On a grid the class-wise sums are products of small matrices: O(n (U + V)) sines serve U x V frequencies.

    Parameters
    ----------
    X : array of shape (n, 2)
        Points, one a row.
    y : array of shape (n,)
        Class labels of any type, two classes or more.
    u, v : arrays of shapes (U,) and (V,)
        First and second coordinates of the frequencies.

    Returns
    -------
    ndarray of shape (V, U), float64

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or `y` holds only one class.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    >>> u, v = np.linspace(-1, 1, 5), np.linspace(-2, 2, 9)
    >>> plane = rff.alignment_loss_plane(X, y, u, v)
    >>> plane.shape, bool(np.allclose(plane[2, 4], rff.alignment_loss(X, y, [[u[4], v[2]]])))
    ((9, 5), True)
    """
    X = as_points(X, n_features=2, dense=True).astype(np.float64, copy=False)
    n = len(X)
    classes, codes = as_labels(y, n)
    u = as_coordinates(u, "u")
    v = as_coordinates(v, "v")
    check_fits(2 * len(classes) * len(v) * len(u), f"u has {len(u)} numbers and v {len(v)}")
    cosines, sines = np.empty((2, len(classes), len(v), len(u)))
    for k in range(len(classes)):
        rows = X[codes == k]
        phase_u = np.outer(rows[:, 0], u)
        phase_v = np.outer(v, rows[:, 1])
        cos_u = np.cos(phase_u)
        sin_u = np.sin(phase_u)
        cos_v = np.cos(phase_v)
        sin_v = np.sin(phase_v)
        cosines[k] = cos_v @ cos_u - sin_v @ sin_u
        sines[k] = sin_v @ cos_u + cos_v @ sin_u
    return _loss(n, cosines, sines)


def _check_indices(X, y, landmarks, labels, indices) -> np.ndarray:
    indices = as_array(indices, "landmark_indices")
    L, n = landmarks.shape[0], X.shape[0]
    if indices.shape != (L,) or indices.dtype.kind not in "iu" or not ((indices >= 0) & (indices < n)).all():
        raise ValueError(f"landmark_indices must be {L} row numbers of X, each between 0 and {n - 1}.")
    with np.errstate(over="ignore"):  # float32 differences
        difference = X[indices] - landmarks
    if abs(difference).max() > 0 or (np.asarray(y)[indices] != labels).any():
        raise ValueError("landmark_indices names rows of X and y that are not the landmarks and their labels.")
    return indices


def _loss(n: float, cosines, sines, self_pairs=None) -> np.ndarray:
    """Compute the loss from class-wise sums over rows of total weight n (Letarte et al. 2019, Prop. 8); classes first.

    `self_pairs` is the weight of all pairs of a row with itself; ``None`` stands for n.
    """
    within = (cosines**2).sum(axis=0) + (sines**2).sum(axis=0)
    total = cosines.sum(axis=0) ** 2 + sines.sum(axis=0) ** 2
    own = n if self_pairs is None else self_pairs
    return mean_loss(2 * within - total - own, n**2 - own)


def _with_itself(weights):
    """Return the weight of each row's pair with itself: a row of weight 3 stands for 3 rows with 6 pairs, not 9."""
    return weights * np.minimum(weights, 1)


def _weight_of_pairs(weights, classes, codes) -> tuple[float, float | None]:
    """Return total weight of the rows, and of their pairs with themselves, ``None`` for rows of weight 1."""
    if weights is None:
        return len(codes), None
    own = float(_with_itself(weights).sum())
    _check_weights(classes, np.bincount(codes, weights, len(classes)), own)
    return float(weights.sum()), own


def _check_weights(classes, counts, self_pairs: float | None) -> None:
    """Refuse rows without weight, of one class only, or without pairs; `counts` are weights of the classes."""
    present = classes[counts > 0]
    total = float(counts.sum())
    if len(present) < 2:
        only = f"only the class {shown(present.tolist()[0])} in all" + ("" if self_pairs is None else " weighted rows")
        raise ValueError(f"y holds {only}; at least 2 classes are needed.")
    if self_pairs is not None and total**2 - self_pairs < 1e-6 * total**2:
        raise ValueError("sample_weight has all its weight on one row; pairs of different rows are needed.")


def _as_frequencies(omega, d: int | None = None) -> Any:
    if not isinstance(omega, FrequencyBlocks):
        omega = as_points(omega, "omega", dense=True)
    if d is not None and omega.shape[1] != d:
        raise ValueError(f"omega has {omega.shape[1]} columns; {d} are needed to match X.")
    check_fits(6 * omega.shape[0], f"omega has {omega.shape[0]} frequencies")
    return omega


def _as_frequencies_of(omega, L: int, d: int):
    """Return frequencies that landmarks share, or of each of L landmarks, (L, D, d)."""
    if isinstance(omega, FrequencyBlocks) or sp.issparse(omega) or (omega := as_array(omega, "omega")).ndim != 3:
        return _as_frequencies(omega, d)
    if omega.shape[0] != L:
        raise ValueError(f"omega holds frequencies for {omega.shape[0]} landmarks; one set for each of {L} is needed.")
    return _as_frequencies(omega.reshape(L * omega.shape[1], omega.shape[2]), d).reshape(omega.shape)


def _join_labels(parts: Iterable, name: str = "y") -> np.ndarray:
    parts = [np.asarray(part) for part in parts]
    if len({part.dtype.kind in "biuf" for part in parts}) > 1:  # NumPy may turn the numbers into text
        check_labels_alike(np.concatenate([part.astype(object) for part in parts]), name)
    return np.concatenate(parts)


def _join(blocks: Iterable, d: int) -> Iterator[tuple[Any, Any, Any]]:
    """Join small blocks of rows. No block stays in memory here while the next is read."""
    waiting, size, large = [], 0, []
    for block in map(as_block, blocks):
        X = as_points(block[0])
        if X.shape[1] != d:
            raise ValueError(f"X has {X.shape[1]} columns; {d} are needed to match omega.")
        own = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
        (waiting if own < _JOINED_BYTES else large).append((X, *block[1:]))
        del block, X
        if large:
            yield large.pop()
            continue
        size += own
        if size >= _JOINED_BYTES:
            yield _concatenate(waiting)
            size = 0
    if waiting:
        yield _concatenate(waiting)


def _stored(omega: FrequencyBlocks, n_jobs: int | None) -> np.ndarray:
    """Draw all frequencies of `omega` on threads, as an array."""
    stored = np.empty(omega.shape)
    size = omega.block_size

    def sample(b):
        stored[b * size : (b + 1) * size] = omega.block(b)

    work_in_all = _blocks.MULTIPLICATIONS_A_DRAW * stored.size
    _blocks.on_threads(sample, [(b,) for b in range(omega.n_blocks)], work_in_all, n_jobs)
    return stored


def as_block(block: Any) -> tuple[Any, Any, Any]:
    """Return X, y and the weights, or `None`, of a block of rows: a tuple or list of two or three."""
    if not isinstance(block, tuple | list) or len(block) not in (2, 3):
        raise ValueError(
            f"blocks gave a {type(block).__name__}; each block must be a pair (X, y) or a triple (X, y, sample_weight)."
        )
    X, y, *weights = block
    return X, y, weights[0] if weights else None


def _concatenate(blocks: list) -> tuple[Any, Any, Any]:
    """Concatenate the blocks and release them."""
    X, y, weights = zip(*blocks, strict=True)
    blocks.clear()
    for rows, labels in zip(X, y, strict=True):
        as_labels(labels, rows.shape[0], min_classes=1)
    if len(X) == 1:
        return X[0], y[0], weights[0]
    joined = None
    if any(part is not None for part in weights):
        sizes = [rows.shape[0] for rows in X]
        given = [as_sample_weight(part, size) for part, size in zip(weights, sizes, strict=True)]
        joined = np.concatenate([np.ones(n) if part is None else part for part, n in zip(given, sizes, strict=True)])
    X = sp.vstack(X, format="csr") if any(map(sp.issparse, X)) else np.concatenate(X)
    return X, _join_labels(y), joined


def _for_frequency_blocks(
    X,
    codes,
    n_classes: int,
    omega,
    keep: Callable,
    offsets: Callable | None = None,
    n_jobs: int | None = None,
    weights: np.ndarray | None = None,
) -> None:
    """Call `keep(at, frequencies, cosines, sines)` for each block of frequencies, on threads.

    `at` is the slice of the block among all frequencies, `frequencies` the (F, d) array, `cosines` and `sines` the
    class-wise sums, (n_classes, F) each, weighted if rows have `weights`. With `offsets(at, frequencies)`, (F,), `keep`
    gets the sums of cos(omega . x - offset) alone.
    """
    order = np.argsort(codes, kind="stable")  # then each class is one run of rows
    codes = codes[order]
    weights = None if weights is None else weights[order]
    bound = PhaseBound(X)
    own = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    columns = slice(None)
    if own <= _SORTED_BYTES and omega.shape[0] > _blocks.FREQUENCIES:  # others are gathered for each block
        X, columns = without_zero_columns(X)
        X, order = X[order], None
    size = max(1, min(_blocks.FREQUENCIES, _blocks.BLOCK_ENTRIES // max(X.shape[1], n_classes)))
    in_blocks = isinstance(omega, FrequencyBlocks)

    def work(start, stop):
        part = omega.block(start // omega.block_size) if in_blocks else omega[start:stop]
        for piece in pieces(0, stop - start, size):
            block, at = part[piece], slice(start + piece.start, start + piece.stop)
            offset = None if offsets is None else offsets(at, block)
            dtype = phase_dtype(X.dtype, bound.largest_phase(block))
            used = block[:, columns].astype(dtype, copy=False)
            keep(at, block, *_class_sums(X, order, codes, n_classes, used, offset, weights))

    jobs = pieces(0, omega.shape[0], omega.block_size if in_blocks else size)
    work_in_all = _blocks.phase_work(X, omega.shape[0])
    _blocks.on_threads(work, [(job.start, job.stop) for job in jobs], work_in_all, n_jobs)


def _class_sums(X, order, codes, n_classes: int, omega, offset=None, weights=None) -> np.ndarray:
    """Sum cos(omega . x) and sin(omega . x) over each class, for rows in `order` (``None``: as given).

    Returns the (2, n_classes, F) sums, or with an `offset` the sums of cos(omega . x - offset), (1, n_classes, F).
    `codes` and `weights` are in `order`.
    """
    sums = np.zeros((2 if offset is None else 1, n_classes, omega.shape[0]))
    transposed = np.ascontiguousarray(omega.T)
    if offset is not None:
        offset = offset.astype(omega.dtype, copy=False)
    for at in pieces(0, len(codes), _blocks.rows_of_block(X)):
        run = codes[at]
        rows = X[at if order is None else order[at]]
        angle = np.asarray(rows.astype(omega.dtype, copy=False) @ transposed)
        if offset is not None:
            angle -= offset
        both = (np.empty_like(angle), angle)[-len(sums) :]
        waves(angle, *both)
        present, first = np.unique(run, return_index=True)
        edges = [*first, len(run)]
        for wave, into in zip(both, sums, strict=True):
            for k, a, b in zip(present, edges, edges[1:], strict=False):
                if weights is None:
                    into[k] += wave[a:b].sum(axis=0, dtype=np.float64)
                else:
                    into[k] += weights[at][a:b] @ wave[a:b].astype(np.float64, copy=False)
    return sums
