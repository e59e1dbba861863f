"""Boosting with cosines: one weak learner a round, the exponential loss, and steps in closed form.

The weak learner of a round is a landmark with a pseudo-posterior on its frequencies, or a single cosine (Gautheron et
al. 2020). Both are fitted to the residuals ``r_i = y_i exp(-y_i H(x_i))`` of the vote H so far by the loss
``mean_i exp(-r_i h(x_i))``. Labels are -1 and 1, and |h| is at most 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar

from ._blocks import BLOCK_ENTRIES, blas_on_one_thread, on_threads, phase_work, pieces, rows_of_block
from ._typing import ArrayLike, MatrixLike
from .features import PhaseBound, phase_dtype, row_norms
from .posteriors import pseudo_posterior

__all__ = [
    "Ensemble",
    "best_offset",
    "boost_cosines",
    "boost_landmarks",
    "descend_frequency",
    "descend_landmark",
    "first_vote",
    "residual_losses",
    "step_size",
]

# Larger residuals count as this much: their exponentials stay below 1e87, and such a row dominates its loss anyway.
_LARGEST_RESIDUAL = 200.0
# Below this exponential loss no weight is left to fit.
_FITTED = 1e-100
_LARGEST_EDGE = 1 - 1e-12
_OFFSETS = 32  # starts of the search for an offset


@dataclass(frozen=True)
class Ensemble:
    """Weak learners of T rounds, K frequencies each (K = 1 for cosines).

    Parameters
    ----------
    intercept : float
        The constant vote H_0.
    steps : ndarray of shape (T,)
        alpha_t.
    frequencies : ndarray of shape (T, K, d)
    landmarks : ndarray of shape (T, d), or None
    offsets : ndarray of shape (T,), or None
        Of the cosines, in radians.
    weights : ndarray of shape (T, K)
        The pseudo-posteriors.
    losses : ndarray of shape (T + 1,)
        The exponential loss ``mean_i exp(-y_i H(x_i))`` on the training rows, at the constant and after each round.
    """

    intercept: float
    steps: np.ndarray
    frequencies: np.ndarray
    landmarks: np.ndarray | None
    offsets: np.ndarray | None
    weights: np.ndarray
    losses: np.ndarray


def _mean(values, sample_weight=None):
    """Compute the mean over rows, of the given weights."""
    return np.average(values, axis=0, weights=sample_weight)


def first_vote(signs: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the constant with the least exponential loss, (1/2) ln((1 + mean y) / (1 - mean y))."""
    return float(np.arctanh(_mean(signs, sample_weight)))


def step_size(weights: ArrayLike, agreement: ArrayLike) -> float:
    """Return the alpha_t that minimises a bound on the exponential loss of H + alpha h; `agreement` is y h.

    For u in [-1, 1] convexity gives ``exp(-alpha u) <= ((1 + u) exp(-alpha) + (1 - u) exp(alpha)) / 2``. The weighted
    mean of the right side is least at ``(1/2) ln((1 + e) / (1 - e))``, e the weighted mean of u; there the bound is
    ``(1 - e^2)^(1/2)`` times the loss of H, so the loss falls unless e = 0.
    """
    edge = float(weights @ agreement / weights.sum())
    return float(np.arctanh(np.clip(edge, -_LARGEST_EDGE, _LARGEST_EDGE)))


def residual_losses(residuals: ArrayLike, predictions: ArrayLike, sample_weight: ArrayLike | None = None) -> np.ndarray:
    """Compute ``mean_i exp(-r_i h(x_i))`` for each column of the predictions (n, K)."""
    return _mean(np.exp(-residuals[:, None] * predictions), sample_weight)


def boost_landmarks(
    X: MatrixLike,
    signs: ArrayLike,
    frequencies: ArrayLike,
    beta: float,
    max_steps: int,
    rng: np.random.Generator | np.random.RandomState,
    sample_weight: ArrayLike | None = None,
) -> Ensemble:
    """Learn a landmark a round, with a pseudo-posterior on the round's K frequencies (Gautheron et al. 2020).

    The landmark minimises the loss at equal weights. It starts at a row drawn by the weights of boosting. The
    pseudo-posterior then weighs the frequencies by their losses at this landmark.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    signs : array of shape (n,)
        Labels -1 and 1, both present.
    frequencies : array of shape (T, K, d)
    beta : float
        Inverse temperature of the pseudo-posteriors.
    max_steps : int
        Of the descent of a landmark.
    rng : Generator or RandomState
    sample_weight : array of shape (n,), optional
        Weights of the rows, above 0: means over rows are weighted, and their sum is the sample size.
    """
    n = len(signs) if sample_weight is None else float(np.sum(sample_weight))
    landmarks = np.empty((len(frequencies), X.shape[1]))
    weights = np.empty(frequencies.shape[:2])
    waves_of_round = _waves_of_rounds(X, frequencies)

    def fit(t, row_weights, residuals):
        waves = next(waves_of_round)
        start = _dense_row(X, rng.choice(len(signs), p=row_weights / row_weights.sum()))
        landmarks[t] = descend_landmark(waves, residuals, frequencies[t], start, max_steps, sample_weight)
        predictions = _turned(waves, frequencies[t] @ landmarks[t])
        losses = residual_losses(residuals, predictions, sample_weight)
        weights[t] = pseudo_posterior(losses, beta * n**0.5, 1)
        return predictions @ weights[t]

    intercept, steps, losses = _boost(signs, len(frequencies), fit, sample_weight)
    T = len(steps)
    return Ensemble(intercept, steps, frequencies[:T], landmarks[:T], None, weights[:T], losses)


def boost_cosines(
    X: MatrixLike,
    signs: ArrayLike,
    frequencies: ArrayLike,
    max_steps: int,
    sample_weight: ArrayLike | None = None,
) -> Ensemble:
    """Learn one cosine a round, cos(omega . x - b) (Gautheron et al. 2020).

    With one frequency the landmark enters through b = omega . x_t alone. A search on [-pi, pi] gives b, then a
    descent from the drawn omega gives omega.

    Parameters
    ----------
    X, signs, max_steps, sample_weight
        See `boost_landmarks`.
    frequencies : array of shape (T, d)
        To start from.
    """
    waves_of_round = _waves_of_rounds(X, frequencies[:, None])
    offsets = np.empty(len(frequencies))
    frequencies = frequencies.copy()
    points = X.astype(phase_dtype(X.dtype, PhaseBound(X).largest_phase(frequencies)), copy=False)
    unit = _inverse(float(np.sqrt(_mean(row_norms(points) ** 2, sample_weight))))

    def fit(t, row_weights, residuals):
        offsets[t] = best_offset(next(waves_of_round), residuals, sample_weight)
        frequencies[t] = descend_frequency(
            points, residuals, frequencies[t], float(offsets[t]), unit, max_steps, sample_weight
        )
        return np.cos(_product(points, frequencies[t]) - offsets[t])

    intercept, steps, losses = _boost(signs, len(frequencies), fit, sample_weight)
    T = len(steps)
    return Ensemble(intercept, steps, frequencies[:T, None], None, offsets[:T], np.ones((T, 1)), losses)


def _boost(signs, n_rounds: int, fit, sample_weight) -> tuple[float, np.ndarray, np.ndarray]:
    """Return H_0, the steps, and the exponential losses; `fit(t, weights, residuals)` returns h on all rows.

    It ends early if the loss leaves no weight to fit.
    """
    intercept = first_vote(signs, sample_weight)
    margins = signs * intercept
    steps, losses = [], [float(_mean(np.exp(-margins), sample_weight))]
    with blas_on_one_thread():  # the products of a descent are too small for more threads
        while len(steps) < n_rounds and losses[-1] > _FITTED:
            weights = np.exp(-margins)  # at most n, since their mean never rises above 1
            residuals = signs * np.minimum(weights, _LARGEST_RESIDUAL)
            weights = weights if sample_weight is None else weights * sample_weight
            agreement = signs * fit(len(steps), weights, residuals)
            steps.append(step_size(weights, agreement))
            margins += steps[-1] * agreement
            losses.append(float(_mean(np.exp(-margins), sample_weight)))
    return intercept, np.array(steps), np.array(losses)


def descend_landmark(
    waves: ArrayLike,
    residuals: ArrayLike,
    omega: ArrayLike,
    start: ArrayLike,
    max_steps: int,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Return the landmark at which equal weights have the least loss, by L-BFGS from `start`.

    With known cosines and sines of the points, a step is two products with n x 2K numbers.
    """
    K = len(omega)
    unit = _inverse(np.sqrt(np.mean(row_norms(omega) ** 2)))  # turns a phase by a radian or so
    scaled, first = omega * unit, omega @ start

    def objective(move):
        angle = first + scaled @ move
        of_cos = np.cos(angle) / K
        of_sin = np.sin(angle) / K
        value, slope = _log_loss(residuals, waves @ np.concatenate([of_cos, of_sin]), sample_weight)
        along = slope @ waves
        return value, scaled.T @ (of_cos * along[K:] - of_sin * along[:K])

    return start + unit * _descended(objective, len(start), max_steps)


def best_offset(waves: ArrayLike, residuals: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the b in [-pi, pi] where cos(omega . x - b) has the least loss; `waves` is its cosine and sine, (n, 2)."""

    def objective(b):
        return _log_loss(residuals, waves @ np.array([np.cos(b), np.sin(b)]), sample_weight)[0]

    grid = np.linspace(-np.pi, np.pi, _OFFSETS, endpoint=False)
    best = grid[np.argmin([objective(b) for b in grid])]
    step = 2 * np.pi / _OFFSETS
    minimum = minimize_scalar(objective, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-4})
    return float((minimum.x + np.pi) % (2 * np.pi) - np.pi)


def descend_frequency(
    X: MatrixLike,
    residuals: ArrayLike,
    omega: ArrayLike,
    offset: float,
    unit: float,
    max_steps: int,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Return the frequency where cos(omega . x - offset) has the least loss: L-BFGS from `omega`, steps of `unit`."""

    def objective(move):
        angle = _product(X, omega + unit * move) - offset
        value, slope = _log_loss(residuals, np.cos(angle), sample_weight)
        return value, unit * _product(X.T, -slope * np.sin(angle))

    return omega + unit * _descended(objective, len(omega), max_steps)


def _log_loss(residuals, predictions, sample_weight=None) -> tuple[float, np.ndarray]:
    """Compute ``ln(mean_i exp(-r_i h_i)) / mean_i |r_i|`` and its slope in h: minima as of the loss, at any scale."""
    exponents = -residuals * predictions
    largest = exponents.max()
    scale = _mean(np.abs(residuals), sample_weight)
    less_one = np.expm1(exponents - largest)  # precise where all residuals are tiny
    value = (largest + np.log1p(_mean(less_one, sample_weight))) / scale
    shares = less_one + 1 if sample_weight is None else sample_weight * (less_one + 1)
    return float(value), -residuals * shares / (shares.sum() * scale)


def _descended(objective, d: int, max_steps: int) -> np.ndarray:
    if max_steps == 0:
        return np.zeros(d)
    return minimize(objective, np.zeros(d), jac=True, method="L-BFGS-B", options={"maxiter": max_steps}).x


def _waves_of_rounds(X, frequencies) -> Iterator[np.ndarray]:
    """Yield each round's cosines, then sines, of its K frequencies, (n, 2K); many rounds' phases are made at once."""
    (T, K, d), n = frequencies.shape, X.shape[0]
    bound = PhaseBound(X)
    for group in pieces(0, T, max(1, BLOCK_ENTRIES // (2 * n * K))):
        omega = frequencies[group].reshape(-1, d)
        dtype = phase_dtype(X.dtype, bound.largest_phase(omega))
        transposed = np.ascontiguousarray(omega.T, dtype=dtype)
        waves = np.empty((len(omega) // K, n, 2 * K))

        def fill(rows, transposed=transposed, waves=waves):
            angle = np.asarray(X[rows].astype(transposed.dtype, copy=False) @ transposed)
            angle = angle.reshape(-1, len(waves), K).transpose(1, 0, 2)
            waves[:, rows, :K] = np.cos(angle)
            waves[:, rows, K:] = np.sin(angle)

        on_threads(fill, [(rows,) for rows in pieces(0, n, rows_of_block(X))], phase_work(X, len(omega)))
        yield from waves


def _turned(waves, angle) -> np.ndarray:
    """Compute cos(angle_k - omega_k . x_i), (n, K)."""
    K = len(angle)
    return waves[:, :K] * np.cos(angle) + waves[:, K:] * np.sin(angle)


def _product(X, vector) -> np.ndarray:
    return np.asarray(X @ vector.astype(X.dtype, copy=False), dtype=np.float64).ravel()


def _dense_row(X, i: int) -> np.ndarray:
    row = X[[i]]
    return np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float64).ravel()


def _inverse(length: float) -> float:
    """Return 1 / length, or 1 for a length of 0."""
    return 1 / length if length > 0 else 1.0
