"""Inverse temperatures and radii at which a bound on the alignment loss is smallest.

The bounds hold for all posteriors at once, so the minimum over beta or rho is a bound too, at no price.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from . import bounds
from ._validation import check_nonnegative
from .posteriors import kl_divergence, optimized_kernel_weights, power_divergence, pseudo_posterior

#: What a parameter is set to for the minimum of its bound.
BOUND = "bound"
# beta sqrt(n) times the range of the losses, beyond which the posterior is the prior or has one frequency.
_TEMPERATURES = np.logspace(-2, 4, 49)
_RADII = np.logspace(-6, 0, 49)  # rho over the largest divergence


def check_or_bound(value, name: str) -> float | str:
    """A number of at least 0, or "bound"."""
    return BOUND if isinstance(value, str) and value == BOUND else check_nonnegative(value, name)


def kernel_bound(loss, Q, n: int, epsilon: float) -> float:
    """PAC-Bayes-kl bound on the alignment loss of a kernel (docs/theory.md)."""
    return float(bounds.second_order_kl_inverse(_mean_loss(loss, Q), kl_divergence(Q), n, epsilon))


def landmark_bounds(loss, Q, n: int, epsilon: float) -> np.ndarray:
    """PAC-Bayes-kl bounds (L,) on the alignment losses of landmarks, which hold for every point as a landmark."""
    return bounds.landmark_kl_inverse(_mean_loss(loss, Q), kl_divergence(Q), n, epsilon, n_landmarks=n)


def optimized_kernel_bound(loss, Q, n: int, epsilon: float) -> float:
    """Corollary 5 with sub-Gaussian tails, for the alignment loss of a kernel (docs/theory.md)."""
    return float(bounds.chi_square(_mean_loss(loss, Q), power_divergence(Q, 2.0), n, epsilon, "sub_gaussian"))


def least_beta(loss, n: int, epsilon: float, bound: Callable) -> float:
    """The beta of the pseudo-posterior, one for all rows of `loss`, at which the mean bound is smallest."""
    spread = float(np.ptp(loss, axis=-1).max())
    if spread < 1e-12:  # rounding: all frequencies are alike
        return 0.0
    betas = _TEMPERATURES / (spread * np.sqrt(n))
    return _least(lambda beta: np.mean(bound(loss, pseudo_posterior(loss, beta, n), n, epsilon)), betas)


def least_rho(loss, n: int, epsilon: float, mu: float) -> float:
    """The rho, a share of the number of frequencies, at which the optimized kernel's bound is smallest."""
    N = len(loss)

    def value(rho):
        return optimized_kernel_bound(loss, optimized_kernel_weights(loss, rho, mu), n, epsilon)

    return _least(value, _RADII)


def _mean_loss(loss, Q):
    return np.clip((Q * loss).sum(axis=-1), 0.0, 1.0)  # losses in float32 may round beyond


def _least(bound: Callable, values: np.ndarray) -> float:
    """Where a bound is smallest: 0, or near the best of the positive, ascending `values`."""
    bound_values = [bound(value) for value in values]
    best = int(np.argmin(bound_values))
    low, high = np.log(values[[max(best - 1, 0), min(best + 1, len(values) - 1)]])
    refined = minimize_scalar(lambda u: bound(np.exp(u)), bounds=(low, high), method="bounded")
    candidates = [(bound(0.0), 0.0), (bound_values[best], values[best]), (refined.fun, np.exp(refined.x))]
    return float(min(candidates)[1])
