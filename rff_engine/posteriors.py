"""Distributions learned on a finite set of frequencies, and their divergence from the uniform prior.

Two of them: the pseudo-posterior, which minimises a KL bound, and the optimized kernel of Sinha and Duchi (2016), which
minimises the loss under an f-divergence constraint. Both need the losses alone, so a new beta or rho costs no pass over
the data.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from ._typing import ArrayLike
from ._validation import as_distribution, as_losses, check_count, check_interval, check_nonnegative

__all__ = ["kl_divergence", "optimized_kernel_weights", "power_divergence", "pseudo_posterior"]


def pseudo_posterior(loss: ArrayLike, beta: float, n: int) -> np.ndarray:
    """Compute the pseudo-posterior Q_m, in proportion to exp(-beta sqrt(n) loss_m) (Letarte et al. 2019, Eq. 12, 19).

    It minimises ``<Q, loss> + KL(Q || P) / t`` over all Q, at ``t = beta sqrt(n)`` with P uniform.

    Parameters
    ----------
    loss : array of shape (D,) or (L, D)
        Alignment losses of the frequencies, for a whole kernel or for each landmark.
    beta : float
        Inverse temperature, at least 0; 0 gives the prior.
    n : int
        The sample size behind the losses.

    Returns
    -------
    ndarray of the shape of `loss`
        Sums to 1 on the last axis.

    Raises
    ------
    ValueError
        If beta is negative or not finite, n is below 1, or a loss is not finite.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.pseudo_posterior([0.2, 0.3, 0.4], beta=1.0, n=100).round(3)
    array([0.665, 0.245, 0.09 ])
    """
    loss = as_losses(loss)
    beta = check_nonnegative(beta, "beta")
    root_n = np.sqrt(check_count(n, "n"))
    # In this order, as beta sqrt(n) may overflow, and infinity times a difference of 0 is NaN.
    with np.errstate(over="ignore"):
        weights = np.exp(-(beta * (loss - loss.min(axis=-1, keepdims=True))) * root_n)
    return weights / weights.sum(axis=-1, keepdims=True)  # the largest weight is 1, so no sum underflows


def kl_divergence(Q: ArrayLike) -> np.ndarray | float:
    """Compute KL(Q || P) = ln D + sum_m Q_m ln Q_m against the uniform P, in nats (Letarte et al. 2019, Section 4.2).

    Parameters
    ----------
    Q : array of shape (D,) or (L, D)
        Weights that sum to 1 on the last axis.

    Returns
    -------
    float, or ndarray of shape (L,)
        Between 0 and ln D.

    Raises
    ------
    ValueError
        If a weight is negative or the weights do not sum to 1.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.kl_divergence([0.5, 0.5, 0.0, 0.0])), 3)  # ln 2
    0.693
    """
    Q = as_distribution(Q)
    return np.maximum(np.log(Q.shape[-1]) + xlogy(Q, Q).sum(axis=-1), 0.0)


def power_divergence(Q: ArrayLike, mu: float) -> np.ndarray | float:
    """Compute D_mu(Q || P) = mean_m (D Q_m)^mu - 1 against the uniform P (Letarte et al. 2019, Theorem 4).

    Parameters
    ----------
    Q : array of shape (D,) or (L, D)
        Weights that sum to 1 on the last axis.
    mu : float
        Above 1; at 2 this is the chi-square divergence.

    Returns
    -------
    float, or ndarray of shape (L,)
        Between 0 and D^(mu - 1) - 1.

    Raises
    ------
    ValueError
        If a weight is negative, the weights do not sum to 1, mu is not above 1, or the divergence
        overflows.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.power_divergence([0.5, 0.5, 0.0, 0.0], mu=2.0)), 6)
    1.0
    """
    Q = as_distribution(Q)
    mu = check_interval(mu, "mu", low=1)
    with np.errstate(over="ignore"):
        divergence = np.maximum(((Q.shape[-1] * Q) ** mu).mean(axis=-1) - 1, 0.0)
    if np.isinf(divergence).any():
        raise ValueError(f"mu is {mu!r}, at which the divergence of Q overflows; a smaller number above 1 is needed.")
    return divergence


def optimized_kernel_weights(loss: ArrayLike, rho: float, mu: float = 2.0) -> np.ndarray:
    """Compute weights of the best-aligned kernel within a divergence of the prior (Sinha and Duchi 2016).

    They minimise ``<Q, loss>`` over distributions with ``D_mu(Q || P) <= rho N``, P uniform (Letarte et al. 2019,
    Eq. 17-18). The optimum is ``Q proportional to (a - tau)_+^(1 / (mu - 1))`` with ``a = -loss``. A sort and a
    bisection give its support; on it, mu = 2 has a closed form, otherwise tau is the root of a monotone equation.
    If rho allows more, Q is uniform on the frequencies of smallest loss.

    Parameters
    ----------
    loss : array of shape (N,)
        Alignment losses of the frequencies.
    rho : float
        Radius over N, at least 0; 0 gives the prior. The grid of the paper is 1e-4 .. 1. At mu = 2 the effective number
        of frequencies, ``1 / sum_m Q_m^2``, is at least ``N / (1 + rho N)``, about 1 / rho.
    mu : float
        Above 1, at most 1e6.

    Returns
    -------
    ndarray of shape (N,)
        Sums to 1.

    Raises
    ------
    ValueError
        If the shape is wrong, a loss not finite, rho negative, or mu not above 1 or beyond 1e6.

    Examples
    --------
    >>> import rff_engine as rff
    >>> Q = rff.optimized_kernel_weights([0.1, 0.2, 0.3, 0.4], rho=0.05)
    >>> Q.round(3)
    array([0.4, 0.3, 0.2, 0.1])
    >>> round(float(rff.power_divergence(Q, 2.0)), 6)  # rho N
    0.2
    """
    loss = as_losses(loss)
    if loss.ndim != 1:
        raise ValueError(f"loss has shape {loss.shape}; one dimension, (N,), is needed.")
    N = len(loss)
    rho = check_nonnegative(rho, "rho") * N
    mu = check_interval(mu, "mu", low=1, high=1e6)
    gain = loss.min() - loss  # at most 0; a common shift of the losses changes nothing
    best = gain == 0
    if best.all() or log_growth(best, N, mu) <= np.log1p(rho):  # of equal losses the growth is 0 but for rounding
        return best / best.sum()
    if rho == 0:
        return np.full(N, 1 / N)
    gain = gain / -gain.min()  # nor does their scale: the gains now fill [-1, 0]
    Q = _project(gain, rho) if mu == 2 else _find_root(gain, rho, mu)
    return Q / Q.sum()


def log_growth(weights: np.ndarray, N: int, mu: float) -> float:
    """Compute ln(1 + D_mu) of weights >= 0, the largest 1 up to scale, on N frequencies; no power of N overflows."""
    return (mu - 1) * np.log(N) + np.log((weights**mu).sum()) - mu * np.log(weights.sum())


def _support(gain: np.ndarray, rho: float, mu: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Return an order of decreasing gains, the gains in it, and how many of the first have a weight above 0.

    The first k are the support while tau lies between the gains k - 1 and k. The divergence falls with tau, so the
    right k is the first at which lowering tau to the next gain satisfies the constraint.
    """
    N = len(gain)
    order = np.argsort(-gain, kind="stable")
    a = gain[order]

    def fits(k):  # at tau = a[k], from the differences themselves: prefix sums would cancel
        height = (a[:k] - a[k]) / -a[k]
        return log_growth(height ** (1 / (mu - 1)), N, mu) <= np.log1p(rho)

    n_best = int((gain == 0).sum())
    return order, a, n_best + bisect_left(range(n_best, N), True, key=fits)


def _project(gain: np.ndarray, rho: float) -> np.ndarray:
    """Compute the exact weights for mu = 2: the constraint is N sum_m Q_m^2 <= 1 + rho.

    On a support of the k largest gains ``Q_i = 1/k + (a_i - mean_k) s``, and the constraint gives s in closed form.
    """
    order, a, size = _support(gain, rho, 2.0)
    deviation = a[:size] - a[:size].mean()
    spread = (deviation**2).sum()
    # Gains so close that their squares underflow are ties.
    slope = np.sqrt(max((1 + rho) / len(gain) - 1 / size, 0.0) / spread) if spread > 0 else 0.0
    Q = np.zeros(len(gain))
    Q[order[:size]] = np.maximum(1 / size + deviation * slope, 0)
    return Q


def _find_root(gain: np.ndarray, rho: float, mu: float) -> np.ndarray:
    """Compute weights (a - tau)_+^(1/(mu-1)) for the tau whose divergence is rho."""
    N = len(gain)
    power = max(mu - 1, 1.0)
    order, a, size = _support(gain, rho, mu)
    height = a[:size] - a[size - 1]

    # tau lies below the support's smallest gain by widest * s**power, s in [0, 1]. The smallest weight is about
    # proportional to s, even where the power of the weights is steep.
    def weights(s):
        above = height + widest * s**power
        return (above / above[0]) ** (1 / (mu - 1))

    def excess(s):
        return log_growth(weights(s), N, mu) - np.log1p(rho)

    widest = a[size - 1] - a[size] if size < N else 1.0
    while size == N and excess(1.0) > 0:  # ends: far enough below all gains Q is uniform
        widest *= 2
    if excess(1.0) >= 0:  # the two ends up to rounding, or the root between them
        s = 1.0
    elif excess(0.0) <= 0:
        s = 0.0
    else:
        s = brentq(excess, 0.0, 1.0, xtol=1e-16, rtol=4 * np.finfo(float).eps, maxiter=500)
        step = 1e-16
        while excess(s) > 0:  # of the neighbours of the root, one inside the constraint
            s, step = min(s + step, 1.0), 2 * step
    Q = np.zeros(N)
    Q[order[:size]] = weights(s)
    return Q / Q.sum()
