"""Distributions learned on a finite set of frequencies, and their divergence from the uniform prior.

Two of them: the pseudo-posterior, which a KL bound asks for, and the optimized kernel of Sinha and Duchi (2016),
which an f-divergence constraint asks for. Both start from the losses alone, so every new beta or rho costs no pass
over the data.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, xlogy

from ._validation import as_distribution, as_losses, check_count, check_interval, check_nonnegative

__all__ = ["kl_divergence", "optimized_kernel_weights", "power_divergence", "pseudo_posterior"]


def pseudo_posterior(loss, beta: float, n: int) -> np.ndarray:
    """Pseudo-posterior Q_m proportional to exp(-beta sqrt(n) loss_m) (Letarte et al. 2019, Eq. 12 and 19).

    It minimises ``<Q, loss> + KL(Q || P) / t`` over all Q, at ``t = beta sqrt(n)`` with P uniform.

    Parameters
    ----------
    loss : array of shape (D,) or (L, D)
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
        If beta is negative or not finite, n below 1, or a loss not finite.
    """
    loss = as_losses(loss)
    t = check_nonnegative(beta, "beta") * np.sqrt(check_count(n, "n"))
    log_weights = -t * (loss - loss.min(axis=-1, keepdims=True))
    return np.exp(log_weights - logsumexp(log_weights, axis=-1, keepdims=True))


def kl_divergence(Q) -> np.ndarray | float:
    """KL(Q || P) = ln D + sum_m Q_m ln Q_m against the uniform P, in nats (Letarte et al. 2019, Section 4.2).

    Parameters
    ----------
    Q : array of shape (D,) or (L, D)

    Returns
    -------
    float, or ndarray of shape (L,)
        Between 0 and ln D.

    Raises
    ------
    ValueError
        If a weight is negative or the weights do not sum to 1.
    """
    Q = as_distribution(Q)
    return np.maximum(np.log(Q.shape[-1]) + xlogy(Q, Q).sum(axis=-1), 0.0)


def power_divergence(Q, mu: float) -> np.ndarray | float:
    """D_mu(Q || P) = mean_m (D Q_m)^mu - 1 against the uniform P (Letarte et al. 2019, Theorem 4).

    Parameters
    ----------
    Q : array of shape (D,) or (L, D)
    mu : float
        Above 1; at 2 this is the chi-square divergence.

    Returns
    -------
    float, or ndarray of shape (L,)
        Between 0 and D^(mu - 1) - 1.

    Raises
    ------
    ValueError
        If a weight is negative, the weights do not sum to 1, or mu is not above 1.
    """
    Q = as_distribution(Q)
    mu = check_interval(mu, "mu", low=1)
    return np.maximum(((Q.shape[-1] * Q) ** mu).mean(axis=-1) - 1, 0.0)


def optimized_kernel_weights(loss, rho: float, mu: float = 2.0) -> np.ndarray:
    """Weights of the best-aligned kernel within a divergence of the prior (Sinha and Duchi 2016).

    They minimise ``<Q, loss>`` over distributions with ``D_mu(Q || P) <= rho``, P uniform (Letarte et al. 2019,
    Eq. 17-18). The optimum is ``Q proportional to (a - tau)_+^(1 / (mu - 1))`` with ``a = -loss``. For mu = 2 a sort
    and a bisection over the size of the support give it exactly, otherwise tau is the root of a monotone equation.
    Where rho allows more, Q is uniform on the frequencies of smallest loss.

    Parameters
    ----------
    loss : array of shape (N,)
    rho : float
        Radius, at least 0; 0 gives the prior. The grid of the paper is 1e-4 N .. N.
    mu : float
        Above 1.

    Returns
    -------
    ndarray of shape (N,)
        Sums to 1.

    Raises
    ------
    ValueError
        If the shape is wrong, a loss not finite, rho negative, or mu not above 1.
    """
    loss = as_losses(loss)
    if loss.ndim != 1:
        raise ValueError(f"loss has shape {loss.shape}; one dimension, (N,), is needed.")
    rho, mu = check_nonnegative(rho, "rho"), check_interval(mu, "mu", low=1)
    N = len(loss)
    gain = loss.min() - loss  # at most 0; a common shift of the losses changes nothing
    best = gain == 0
    if rho >= (N / best.sum()) ** (mu - 1) - 1:
        return best / best.sum()
    if rho == 0:
        return np.full(N, 1 / N)
    gain = gain / -gain.min()  # nor does their scale: the gains now fill [-1, 0]
    Q = _project(gain, rho) if mu == 2 else _find_root(gain, rho, mu)
    return Q / Q.sum()


def _project(gain: np.ndarray, rho: float) -> np.ndarray:
    """Exact weights for mu = 2, where the constraint reads N sum_m Q_m^2 <= 1 + rho.

    On a support of the k largest gains ``Q_i = 1/k + (a_i - mean_k) s``, and the constraint gives s in closed form.
    The right k is the first at which lowering tau to the next gain satisfies the constraint.
    """
    N = len(gain)
    a = np.sort(gain)[::-1]

    def divergence(k):  # at tau = a[k], from the differences themselves: prefix sums would cancel
        height = a[:k] - a[k]
        return N * (height**2).sum() / height.sum() ** 2 - 1

    n_best = int((gain == 0).sum())
    size = n_best + bisect_left(range(n_best, N), -rho, key=lambda k: -divergence(k))
    support = a[:size]
    deviation = support - support.mean()
    slope = np.sqrt(max((1 + rho) / N - 1 / size, 0.0) / (deviation**2).sum())
    return np.where(gain >= a[size - 1], np.maximum(1 / size + (gain - support.mean()) * slope, 0), 0)


def _find_root(gain: np.ndarray, rho: float, mu: float) -> np.ndarray:
    """Weights (a - tau)_+^(1/(mu-1)) for the tau whose divergence is rho; the search is over ln(-tau)."""

    def weights(log_depth):
        # Divided by -tau, the base of the power stays within [0, 1] at any depth.
        Q = np.maximum(1 + gain * np.exp(-log_depth), 0) ** (1 / (mu - 1))
        return Q / Q.sum()

    def excess(log_depth):
        return power_divergence(weights(log_depth), mu) - rho

    shallow, deep = -1.0, 1.0
    while excess(shallow) < 0:  # ends: at depth 0 only the maxima are left, and they are out of reach of rho
        shallow *= 2
    while excess(deep) > 0:  # ends: at infinite depth Q is uniform
        deep *= 2
    root = brentq(excess, shallow, deep, xtol=1e-14, rtol=4 * np.finfo(float).eps, maxiter=500)
    # Of the last two floating-point neighbours, keep the one inside the constraint.
    step = 1e-15
    while excess(root) > 0:
        root += step
        step *= 2
    return weights(root)
