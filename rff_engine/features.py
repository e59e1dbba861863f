"""Random Fourier feature maps: from points and frequencies to features.

Both maps are unbiased, ``E phi(x) . phi(x') = k(x - x')``; they differ in their variance and in the number of
features per frequency. Where the frequencies come from is not decided here.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _blocks
from ._blocks import pieces, rows_of
from ._typing import ArrayLike, MatrixLike
from ._validation import as_numbers, as_points, check_fits, check_jobs
from ._waves import waves

__all__ = ["fourier_features", "phases", "random_phase_features"]

# Beyond so many radians a float32 phase is off by more than 2e-4.
_LARGEST_FLOAT32_PHASE = 4096.0
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
_WORTHWHILE = 0.95  # a copy with more than this share of the columns saves nothing
_ROWS = 4096


def row_norms(points: ArrayLike) -> np.ndarray:
    """Return the Euclidean norm of each row of a dense or CSR array, in float64."""
    if not sp.issparse(points):
        return np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64))
    squares = np.empty(points.shape[0])
    for start in range(0, points.shape[0], _ROWS):
        rows = points[start : start + _ROWS].astype(np.float64)
        squares[start : start + _ROWS] = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.sqrt(squares)


def largest_norm(points: ArrayLike) -> float:
    """Return the largest Euclidean norm among the rows of a dense or CSR array."""
    return float(row_norms(points).max())


def without_zero_columns(X: MatrixLike) -> tuple[Any, Any]:
    """Return `X` without its all-zero columns, if that saves work, and an index of the columns left.

    A column of zeros adds nothing to any phase. In pictures of digits many pixels are black everywhere.
    """
    if not sp.issparse(X):
        used = np.flatnonzero(X.any(axis=0))
        if 0 < len(used) <= _WORTHWHILE * X.shape[1]:
            return X.take(used, axis=1), used
    return X, slice(None)


class PhaseBound:
    """Bound on the phases of points at given frequencies.

    It is the smaller of two: the product of the norms, and a sum over the largest entries of the columns. The sum is
    far smaller if one column dominates.
    """

    def __init__(self, X: MatrixLike):
        self._X = X
        self.norm: float = largest_norm(X)

    @cached_property
    def columns(self) -> np.ndarray:
        """Largest absolute value in each column, (d,), float64."""
        ends = self._X.max(axis=0), self._X.min(axis=0)
        highest, lowest = (end.toarray().ravel() if sp.issparse(end) else end for end in ends)
        return np.maximum(highest.astype(np.float64), -lowest.astype(np.float64))

    def largest_phase(self, omega: ArrayLike) -> float:
        """Bound |omega_j . x_i| over all points and the frequencies (D, d), in radians.

        The bound is infinite if float32 may not hold the frequencies.
        """
        longest = largest_norm(omega)
        if longest > _LARGEST_FLOAT32:
            return np.inf
        by_norms = self.norm * longest
        if by_norms <= _LARGEST_FLOAT32_PHASE:  # float32 is precise enough: no sharper bound is needed
            return by_norms
        return min(by_norms, float((np.abs(omega) @ self.columns).max()))


def phase_dtype(dtype: Any, largest_phase: float) -> np.dtype:
    """Return the precision of phases: float32 for float32 points, unless phases may be too large for it."""
    if dtype == np.float32 and largest_phase <= _LARGEST_FLOAT32_PHASE:
        return np.dtype(np.float32)
    return np.dtype(np.float64)


def phases(X: MatrixLike, omega: ArrayLike) -> np.ndarray:
    """Compute inner products omega_j . x_i, in radians.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        A float32 `X` gives float32 phases as long as they stay below about 4096 radians.
    omega : array of shape (D, d)
        Frequencies, one a row.

    Returns
    -------
    ndarray of shape (n, D)

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.phases([[1.0, 2.0]], [[3.0, 0.0], [0.5, 0.5]])
    array([[3. , 1.5]])
    """
    X = as_points(X)
    omega = as_points(omega, "omega", n_features=X.shape[1], dense=True)
    return _phases(X, omega)


def _phases(X, omega) -> np.ndarray:
    """Compute `phases` of checked arrays."""
    check_fits(X.shape[0] * len(omega), f"X has {X.shape[0]} rows and omega {len(omega)}")
    dtype = phase_dtype(X.dtype, PhaseBound(X).largest_phase(omega))
    return np.asarray(X.astype(dtype, copy=False) @ omega.astype(dtype, copy=False).T)


def phases_of_pairs(points: ArrayLike, which: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Compute omega_j . x_i for each row of the (F, d) array `omega` and its point i = which[j]; (F,), float64.

    Phases are reduced to [-pi, pi], which float32 holds precisely and whose cosines are fastest. `which` ascends.
    Only the points between its first and last are read.
    """
    some = points[which[0] : which[-1] + 1]
    some = np.asarray(some.toarray() if sp.issparse(some) else some, dtype=np.float64)
    phase = np.einsum("jd,jd->j", omega.astype(np.float64, copy=False), some[which - which[0]])
    # Above 1e16 the rounding error of a phase exceeds a turn.
    return np.clip(phase - 2 * np.pi * np.rint(phase / (2 * np.pi)), -np.pi, np.pi)


def fourier_features(
    X: MatrixLike, omega: ArrayLike, weights: ArrayLike | None = None, n_jobs: int | None = None
) -> np.ndarray:
    """Compute cosine and sine features (Letarte et al. 2019, Eq. 5).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Points, one a row.
    omega : array of shape (D, d)
        Frequencies, one a row.
    weights : array of shape (D,), optional
        A distribution on the frequencies; features are scaled by its square root, so that phi(x) . phi(x') is
        the weighted average of cosines. ``None`` stands for 1/D each.
    n_jobs : int, optional
        Number of threads, see `rff_engine`; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n, 2 D), in the precision of `X`
        All cosines, then all sines.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or a weight is negative or beyond 1e70.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> kernel = rff.GaussianKernel(1.0)
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> features = rff.fourier_features(X, kernel.sample_frequencies(20000, 2, random_state=0))
    >>> features.shape
    (2, 40000)
    >>> bool(np.abs(features @ features.T - kernel(X)).max() < 0.02)
    True
    """
    X = as_points(X)
    n_jobs = check_jobs(n_jobs)
    omega = as_points(omega, "omega", n_features=X.shape[1], dense=True)
    return _fourier_features(X, omega, weights, n_jobs)


def _fourier_features(X, omega, weights=None, n_jobs: int | None = None) -> np.ndarray:
    """Compute `fourier_features` of checked points and frequencies."""
    n, D = X.shape[0], omega.shape[0]
    check_fits(n * 2 * D, f"X has {n} rows and omega {D}")
    scale = _roots(weights, D, X.dtype)
    dtype = phase_dtype(X.dtype, PhaseBound(X).largest_phase(omega))
    transposed = np.ascontiguousarray(omega.T, dtype=dtype)  # for CSR rows SciPy would copy it in each block
    features = np.empty((n, 2 * D), dtype=X.dtype)
    size = max(1, min(_blocks.FREQUENCIES, _blocks.BLOCK_ENTRIES // X.shape[1]))

    def fill(rows):
        points, block = rows_of(X, rows).astype(dtype, copy=False), features[rows]
        for of_cos in pieces(0, D, size):
            angle = np.asarray(points @ transposed[:, of_cos])
            waves(angle, block[:, of_cos], block[:, D + of_cos.start : D + of_cos.stop])
        block *= scale

    jobs = [(rows,) for rows in pieces(0, n, _blocks.rows_of_block(X))]
    _blocks.on_threads(fill, jobs, _blocks.phase_work(X, D), n_jobs)
    return features


def _roots(weights, D: int, dtype) -> np.ndarray:
    """Return square roots of the weights of D frequencies, twice, or of the default weight 1/D, once."""
    if weights is None:
        return np.asarray(D**-0.5, dtype)
    weights = as_numbers(weights, "weights", largest=1e70)  # float32 holds the root of this
    if weights.shape != (D,) or (weights < 0).any():
        raise ValueError(f"weights must be {D} numbers of at least 0, one a frequency.")
    return np.tile(np.sqrt(weights), 2).astype(dtype, copy=False)


def random_phase_features(X: MatrixLike, omega: ArrayLike, offsets: ArrayLike) -> np.ndarray:
    """Compute cosine features with a random phase, sqrt(2/D) cos(omega . x + b) (Rahimi and Recht 2007).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Points, one a row.
    omega : array of shape (D, d)
        Frequencies, one a row.
    offsets : array of shape (D,)
        The phases b, in radians, uniform on [0, 2 pi) for unbiased features.

    Returns
    -------
    ndarray of shape (n, D), in the precision of `X`

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> rng = np.random.default_rng(0)
    >>> omega = rff.GaussianKernel(1.0).sample_frequencies(100, 2, rng)
    >>> rff.random_phase_features(np.zeros((3, 2)), omega, rng.uniform(0, 2 * np.pi, 100)).shape
    (3, 100)
    """
    angle = phases(X, omega)
    D = angle.shape[1]
    offsets = as_numbers(offsets, "offsets")
    if offsets.shape != (D,):
        raise ValueError(f"offsets has shape {offsets.shape}; {D} numbers, one a frequency, are needed.")
    dtype = X.dtype if getattr(X, "dtype", None) == np.float32 else np.float64
    if np.abs(offsets).max() > _LARGEST_FLOAT32_PHASE:
        offsets = np.remainder(offsets, 2 * np.pi)
    angle += offsets.astype(angle.dtype)
    return (np.sqrt(2 / D) * np.cos(angle, out=angle)).astype(dtype, copy=False)
