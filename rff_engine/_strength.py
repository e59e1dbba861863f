"""Inverse temperatures and radii: at the minimum of a bound on the alignment loss, or validated on held-out rows.

The bounds hold for all posteriors at once, so the minimum over beta or rho is a bound too, at no price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from . import bounds
from ._validation import check_nonnegative, shown
from .features import _fourier_features
from .posteriors import kl_divergence, log_growth, power_divergence, pseudo_posterior

#: The value of a parameter that stands for the minimum of its bound.
BOUND = "bound"
#: The value of a parameter that stands for the least error on held-out rows.
VALIDATE = "validate"
# beta sqrt(n) times the range of the losses; beyond these the posterior is the prior or has one frequency.
_TEMPERATURES = np.logspace(-2, 4, 49)
_TRIED, _FARTHEST = 49, 1e4  # thresholds of optimized kernels in a round, and the largest over the range of the losses
# Effective numbers of candidates to choose among, over the number of frequencies drawn. The prior is one more choice.
_SPREADS = (50, 15, 5, 2, 1)
_HELD_OUT = 0.25
_WRAPS = 16
_MOST_ROWS = 3000  # for validation
_DRAWS = 3
_RIDGES = (1e-4, 1e-3, 1e-2)
_LARGEST_EXPONENT = 600.0


def check_strength(value, name: str, rules: tuple[str, ...] = (BOUND, VALIDATE)) -> float | str:
    """Check a number of at least 0, or one of the rules by which it is chosen."""
    if isinstance(value, str) and value in rules:
        return value
    if isinstance(value, str):
        allowed = " or ".join(map(repr, rules))
        raise ValueError(f"{name} is {shown(value)}; a number of at least 0, {allowed}, is needed.")
    return check_nonnegative(value, name)


def spreads(n_components: int, N: int) -> list[int]:
    """Return the effective numbers of candidates to choose among, ``1 / sum_m Q_m^2``, the prior's N first."""
    return [N, *(spread * n_components for spread in _SPREADS if spread * n_components < N)]


def beta_of_spread(loss, n: float, spread: float, posterior: Callable) -> float:
    """Return the beta at which the pseudo-posterior has an effective number of candidates."""
    width = float(np.ptp(loss))
    if spread >= len(loss) or width < 1e-12:  # rounding: all frequencies are alike
        return 0.0
    betas = _TEMPERATURES[[0, -1]] / (width * np.sqrt(n))

    def excess(log_beta):
        return np.log(effective_number(posterior(loss, np.exp(log_beta), n)) / spread)

    low, high = np.log(betas)
    if excess(low) <= 0 or excess(high) >= 0:  # so many of the smallest losses are equal
        return float(betas[int(excess(high) >= 0)])
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))


def rho_of_spread(N: int, spread: float, mu: float) -> float:
    """Return rho: the divergence of the uniform distribution on an effective number of N candidates."""
    return float(np.expm1(min((mu - 1) * np.log(N / spread), _LARGEST_EXPONENT)) / N)


def effective_number(Q) -> float:
    """Compute 1 / sum_m Q_m^2: as many candidates of equal weight have the same sum of squares."""
    return float(1 / (Q**2).sum())


def held_out_rows(X, weights, direction, most: int = _MOST_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to hold out and the rows to train on, by their values, so that equal rows stay together.

    A projection of the rows, scaled and wrapped to [0, 1), is evenly spread and independent of the rows' order.
    """
    projection = np.where(weights > 0, np.asarray(X @ direction, dtype=np.float64), 0.0)
    projection /= np.abs(projection).max() or 1.0
    scale = np.sqrt(np.average(projection**2, weights=weights)) or 1.0
    place = np.mod(_WRAPS * projection / scale, 1.0)
    share = min(1.0, most / weights.sum())
    return place < _HELD_OUT * share, place >= 1 - (1 - _HELD_OUT) * share


def least_held_out(distributions: list, candidates, train, held, n_components: int, rng) -> int:
    """Return which distribution gives ridge regression on the classes the least error on held-out rows.

    Parameters
    ----------
    distributions : list of ndarray of shape (N,)
    candidates : FrequencyBlocks
    train, held : tuple of (X, targets of shape (n, K), weights of shape (n,))
    n_components : int
    rng : Generator
        Every distribution inverts its cumulative sum at the same uniform numbers.

    Returns
    -------
    int
        The first, the prior, if there are no rows to choose by.
    """
    if min(train[2].sum(), held[2].sum()) <= 0 or np.ptp(train[1][train[2] > 0], axis=0).max() == 0:
        return 0
    uniform = np.asarray(rng.random((_DRAWS, n_components)))
    chosen = np.array([_inverted(Q, uniform) for Q in distributions])
    distinct, places = np.unique(chosen, return_inverse=True)
    omega = candidates.take(distinct)[places.reshape(chosen.shape)]
    return int(np.argmin([sum(_held_out_error(W, train, held) for W in draws) for draws in omega]))


def _inverted(Q, uniform):
    cumulative = np.cumsum(Q)
    return np.minimum(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"), len(Q) - 1)


def _held_out_error(omega, train, held) -> float:
    """Return the weighted squared error of ridge regression on the features of `omega`, at the best of `_RIDGES`."""
    X, targets, weights = held
    features = _fourier_features(train[0], omega, n_jobs=1)
    predicted = ridge_predictions((features, *train[1:]), _fourier_features(X, omega, n_jobs=1), _RIDGES)
    return min(float(weights @ ((one - targets) ** 2).sum(axis=1)) for one in predicted)


def ridge_predictions(train, held, ridges) -> Iterator[np.ndarray]:
    """Yield what ridge regression predicts for the features `held` (m, F), at each of several penalties.

    It is fitted to `train`: features (n, F), targets (n, K) and weights (n,).
    """
    features, targets, weights = train
    share = weights / weights.sum()
    features = features.astype(np.float64, copy=False)
    mean, middle = share @ features, share @ targets
    features = features - mean
    values, vectors = np.linalg.eigh((features.T * share) @ features)
    slopes = vectors.T @ ((features.T * share) @ (targets - middle))
    waves = (held - mean) @ vectors
    return (waves @ (slopes / (np.maximum(values, 0) + ridge)[:, None]) + middle for ridge in ridges)


def kernel_bound(loss, Q, n: int, epsilon: float) -> float:
    """Compute the PAC-Bayes-kl bound on the alignment loss of a kernel (docs/theory.md)."""
    return float(bounds.second_order_kl_inverse(_mean_loss(loss, Q), kl_divergence(Q), n, epsilon))


def landmark_bounds(loss, Q, n: int, epsilon: float) -> np.ndarray:
    """Compute PAC-Bayes-kl bounds (L,) on alignment losses of landmarks, valid for every point as a landmark."""
    return bounds.landmark_kl_inverse(_mean_loss(loss, Q), kl_divergence(Q), n, epsilon, n_landmarks=n)


def optimized_kernel_bound(loss, Q, n: int, epsilon: float):
    """Compute Corollary 5 with sub-Gaussian tails, for the alignment loss of kernels Q (.., N) (docs/theory.md)."""
    return bounds.chi_square(_mean_loss(loss, Q), power_divergence(Q, 2.0), n, epsilon, "sub_gaussian")


def least_beta(loss, n: int, epsilon: float, bound: Callable) -> float:
    """Return the beta, one for all rows of `loss`, at which the mean bound of the pseudo-posterior is smallest."""
    spread = float(np.ptp(loss, axis=-1).max())
    if spread < 1e-12:  # rounding: all frequencies are alike
        return 0.0
    betas = _TEMPERATURES / (spread * np.sqrt(n))
    return _least(lambda beta: np.mean(bound(loss, pseudo_posterior(loss, beta, n), n, epsilon)), betas)


def least_rho(loss, n: int, epsilon: float, mu: float) -> float:
    """Return the rho, a share of the number of frequencies, at which the optimized kernel's bound is smallest.

    Every optimum has weights ``(1 - (loss - least) / t)_+^(1 / (mu - 1))`` up to scale, for a threshold t > 0.
    """
    N = len(loss)
    above = np.asarray(loss, dtype=np.float64) - np.min(loss)
    if above.max() < 1e-12:  # rounding: all frequencies are alike
        return 0.0
    power = 1 / (mu - 1)

    def along(thresholds):
        weights = np.maximum(1 - above / thresholds[:, None], 0) ** power
        bound_values = optimized_kernel_bound(loss, weights / weights.sum(axis=1, keepdims=True), n, epsilon)
        return weights, bound_values, int(bound_values.argmin())

    reached = np.interp(np.geomspace(1, N, _TRIED) - 1, np.arange(N), np.sort(above))  # from few frequencies to all
    far = above.max() * max(power, 1.0) * np.geomspace(1, _FARTHEST, _TRIED)  # to the prior
    thresholds = np.unique(np.append(reached[reached > 0], far))
    for _ in range(2):
        best = along(thresholds)[2]
        around = thresholds[max(best - 1, 0) : best + 2]
        thresholds = np.geomspace(around[0], around[-1], _TRIED)
    weights, bound_values, best = along(thresholds)
    if optimized_kernel_bound(loss, np.full(N, 1 / N), n, epsilon) <= bound_values[best]:
        return 0.0
    return float(np.expm1(min(log_growth(weights[best], N, mu), _LARGEST_EXPONENT)) / N)


def _mean_loss(loss, Q):
    return np.clip((Q * loss).sum(axis=-1), 0.0, 1.0)  # losses in float32 may round beyond


def _least(bound: Callable, values: np.ndarray) -> float:
    """Return the value of the smallest bound: 0, or near the best of the positive, ascending `values`."""
    bound_values = [bound(value) for value in values]
    best = int(np.argmin(bound_values))
    neighbours = [max(best - 1, 0), min(best + 1, len(values) - 1)]
    low, high = np.log(values[neighbours])
    refined = minimize_scalar(lambda u: bound(np.exp(u)), bounds=(low, high), method="bounded")
    candidates = [(bound(0.0), 0.0), (bound_values[best], values[best]), (refined.fun, np.exp(refined.x))]
    return float(min(candidates)[1])
