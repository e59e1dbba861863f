"""Progressive validation: a bound on the mean risk of classifiers that learn from the rows that tested those before.

docs/theory.md has the bound and its proof. Samples may be many at once, along the first axes.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import gammainccinv, gammaln, xlog1py, xlogy

from ._typing import ArrayLike
from ._validation import canonical
from .certificates import CONFIDENCE, CertificateTerm

__all__ = ["BlockErrors", "Progress", "choices", "error_limits", "largest_mean_risk", "level_of"]

#: Numbers of errors at which counting may end: multiples of the forecast number, and of its spread.
_LIMITS = np.array([[0.7, -0.5], [0.85, -0.25], [1.0, 0.0], [1.0, 1.0]])
_HALVINGS = 52


class BlockErrors(NamedTuple):
    """Rows of B blocks up to a limit of errors, the errors among them, and the bound that they give."""

    sizes: np.ndarray
    """(.., B), the rows that count"""
    n_errors: np.ndarray
    """(.., B)"""
    moments: np.ndarray
    """(.., B, 2), the sums of V and of its square over the errors, V uniform on (0, 1)"""
    limit: int | np.ndarray
    """One, or (..)"""
    level: float | np.ndarray
    """One, or (..)"""
    epsilon: float

    @classmethod
    def up_to(
        cls,
        limit: int | np.ndarray,
        level: float | np.ndarray,
        epsilon: float,
        wrong: np.ndarray,
        uniform: np.ndarray,
        starts: np.ndarray,
    ) -> Self:
        """Count up to the limit-th error over rows in order (.., n), with the blocks' first rows; ignore later rows."""
        counts = np.cumsum(wrong, axis=-1) - wrong < np.expand_dims(limit, -1)
        errors = counts & wrong
        ends = np.append(starts[1:], np.shape(wrong)[-1])
        sizes, n_errors, *moments = (
            _sums(values, starts, ends) for values in (counts, errors, errors * uniform, errors * uniform**2)
        )
        return cls(sizes, n_errors, np.stack(moments, axis=-1), limit, level, epsilon)

    @property
    def bound(self) -> np.ndarray:
        return self._bound_at(self.level)

    def _bound_at(self, level) -> np.ndarray:
        return largest_mean_risk(self.sizes, self.n_errors, self.moments, gammainccinv(self.limit, level))

    def ledger(self) -> tuple[CertificateTerm, ...]:
        """List the terms of `bound` of one sample in the order of their addition."""
        error = float(self.n_errors.sum() / self.sizes.sum())
        alone = float(self._bound_at(self.epsilon))
        chosen = f"{len(_LIMITS)} numbers of errors to end at, ln({self.epsilon / self.level:.3g})"
        return (
            CertificateTerm("errors on the rows", 0.0, error),
            CertificateTerm(CONFIDENCE, -float(np.log(self.epsilon)), alone - error),
            CertificateTerm(chosen, float(np.log(self.epsilon / self.level)), float(self.bound) - alone),
        )


class Progress(NamedTuple):
    """n rows in the order of B classifiers that they came to, and numbers of errors at which counting might end."""

    rows: np.ndarray
    """(n,), of the sample"""
    starts: np.ndarray
    """(B,), position in `rows` of each block's first row"""
    wrong: np.ndarray
    """(n,), whether the classifier of the rows before its block errs; False after the last limit"""
    uniform: np.ndarray
    """(n,), V of `BlockErrors.moments`"""
    limits: tuple[int, ...]
    level: float
    epsilon: float

    def ending_at(self, limit: int) -> BlockErrors:
        """Return the certificate if counting ends at a number of errors."""
        return BlockErrors.up_to(limit, self.level, self.epsilon, self.wrong, self.uniform, self.starts)

    def bounds_after(self, counts: np.ndarray) -> np.ndarray:
        """Return the bounds after the first `counts` (N,) rows, if counting ends at the next error."""
        ends = np.append(self.starts[1:], len(self.rows))
        at = np.clip(counts[:, None], self.starts, ends)

        limits = (np.cumsum(self.wrong) - self.wrong)[counts - 1] + 1
        moments = [_sums(self.wrong * self.uniform**power, self.starts, at) for power in (1, 2)]
        sizes = (at - self.starts).astype(float)
        errors = _sums(self.wrong, self.starts, at)
        return BlockErrors(sizes, errors, np.stack(moments, axis=-1), limits, self.level, self.epsilon).bound


def _sums(values, starts, ends) -> np.ndarray:
    """Sum values (.., n) over the rows from `starts` to `ends`; 0 if there are none."""
    total = np.insert(np.cumsum(values, axis=-1, dtype=np.float64), 0, 0.0, axis=-1)
    return total[..., ends] - total[..., starts]


def largest_mean_risk(sizes, n_errors, moments, budget: ArrayLike) -> np.ndarray:
    """Return the largest mean of risks r (.., B), weighted by sizes, within a budget (..): an array (..).

    A block spends ``-(size - errors) ln(1 - r) + r m_1 + r^2 m_2 / 2``, convex in r. At the largest mean its slopes are
    in proportion to the sizes, and r is the smaller root of a quadratic equation.
    """
    right, (m1, m2) = sizes - n_errors, np.moveaxis(moments, -1, 0)
    n = np.maximum(sizes, 1e-300)

    def risks(slope) -> np.ndarray:
        a = np.maximum(slope[..., None] * n - m1 - right, 0.0)
        b = slope[..., None] * n + m2 - m1
        root = 2 * a / np.maximum(b + np.sqrt(np.maximum(b**2 - 4 * a * m2, 0.0)), 1e-300)
        return np.where(sizes > 0, np.minimum(root, 1.0), 0.0)

    low = np.zeros(sizes.shape[:-1])  # the slope, as slope / (1 + slope)
    high = np.ones(sizes.shape[:-1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        r = risks(middle / np.maximum(1 - middle, 1e-16))
        spent = (-xlog1py(right, -r) + r * m1 + r**2 * m2 / 2).sum(axis=-1)
        low = np.where(spent < budget, middle, low)
        high = np.where(spent < budget, high, middle)
    r = risks(high / np.maximum(1 - high, 1e-16))
    return (sizes * r).sum(axis=-1) / sizes.sum(axis=-1)


def error_limits(n_errors: int, n_first: int, n: int) -> tuple[int, ...]:
    """Return where counting may end among n rows, if `n_first` others had so many errors."""
    forecast = n * (n_errors + 0.5) / (n_first + 1)
    spread = np.sqrt(forecast * (1 + n / (n_first + 1)))
    return tuple(np.unique(np.clip(np.round(_LIMITS @ [forecast, spread]), 1, n).astype(int)).tolist())


@lru_cache(1024)
def level_of(limits: tuple[int, ...], epsilon: float) -> float:
    """Return the level at which the budgets of all limits hold at once with probability ``1 - epsilon``."""
    if len(limits) == 1:
        return epsilon
    ends = np.log(epsilon / len(limits)), np.log(epsilon)
    log_level = brentq(lambda log: np.log(_failure(limits, np.exp(log)) / epsilon), *ends, xtol=1e-9)
    return float(np.exp(log_level - 1e-8))


def _failure(limits: tuple[int, ...], level: float) -> float:
    """Return the probability that a Poisson process has fewer events at one of the budgets than the limit there."""
    most, failed, time = limits[-1], 0.0, 0.0
    chances = np.eye(1, most + 1)[0]  # of each number of events, the last one and more together
    for limit in limits:
        budget = float(gammainccinv(limit, level))
        chances = _added(chances, budget - time)
        failed += chances[:limit].sum()
        chances[:limit], time = 0.0, budget
    return failed


def _added(chances: np.ndarray, mean: float) -> np.ndarray:
    """Return the distribution of a count plus a Poisson number of this mean."""
    k = np.arange(len(chances))
    step = np.exp(xlogy(k, mean) - mean - gammaln(k + 1))
    length = 2 * len(chances)
    new = np.fft.irfft(np.fft.rfft(chances, length) * np.fft.rfft(step, length), length)[: len(chances)]
    new[-1] = chances.sum() - new[:-1].sum()
    return np.maximum(new, 0.0)


def choices(X, seed: int, shares: np.ndarray) -> np.ndarray:
    """Choose one of the blocks for each row of X by their shares; equal rows have the same block.

    It depends on the row's values alone, so on no other row. Zeros may be left out.
    """
    with np.errstate(over="ignore"):
        uniform = _mixed(row_codes(X, seed) + np.uint64(1), np.zeros(1, dtype=int), seed) / 2.0**64
    return np.minimum(np.searchsorted(np.cumsum(shares), uniform, side="right"), len(shares) - 1)


def share_of_equal_pairs(X) -> float:
    """Return the share of equal pairs of rows, which estimates without bias how often two new rows are equal."""
    counts = np.unique(row_codes(X, 0), return_counts=True)[1].astype(float)
    return float((counts * (counts - 1)).sum() / max(counts.sum() * (counts.sum() - 1), 1.0))


def row_codes(X, seed: int) -> np.ndarray:
    """Return a number for each row of X, the same for equal rows: (n,)."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            X = canonical(X).tocoo()
            totals = np.zeros(X.shape[0], dtype=np.uint64)
            np.add.at(totals, X.row, _mixed(_codes(X.data), X.col, seed))
            return totals
        codes = _codes(X)
        codes = codes.reshape(len(codes), -1)
        return _mixed(codes, np.arange(codes.shape[1]), seed).sum(axis=1, dtype=np.uint64)


def _codes(X) -> np.ndarray:
    """Return the bits of numbers, 0 for both zeros, and hashes of texts: unsigned integers in the shape of X."""
    try:
        numbers = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.asarray(X, dtype=object)
        return np.array([_code(cell) for cell in cells.ravel()], dtype=np.uint64).reshape(cells.shape)
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0).view(np.uint64)


def _code(cell) -> int:
    try:
        return int(_codes(float(cell))[()])
    except (TypeError, ValueError):
        return int.from_bytes(blake2b(repr(cell).encode(), digest_size=8).digest(), "big")


def _mixed(codes: np.ndarray, columns: np.ndarray, seed: int) -> np.ndarray:
    """Mix codes into random bits, others for each column; 0 stays 0 (the finaliser of SplitMix64)."""
    odd = np.random.default_rng(seed).integers(0, 2**64, dtype=np.uint64) | np.uint64(1)
    mixed = codes * (odd + np.uint64(2) * columns.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
