"""PAC-Bayesian bounds on the alignment loss of a learned kernel or similarity, and on the risk of a classifier.

`gibbs_classifier`, `majority_vote` and `test_set` are about a classifier. Each of the others holds with probability
1 - epsilon over the sample, for all posteriors Q at once. What must be fixed before the data are seen: t, epsilon, the
frequencies and the kernel's width; a t chosen among g values afterwards costs ``epsilon / g`` in place of epsilon.
``form="corrected"``, the default, has proved constants, which are smaller for the KL bounds; ``form="paper"`` is the
bound as printed by Letarte et al. (2019).
Arguments may be arrays of one shape; the result has that shape. It is never NaN, but infinite where a term overflows,
such as KL / t at t = 1e-308. Arguments that cannot come from one sample are refused, except for rounding: numbers up to
1e-5 outside their range are moved to its end.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, gammaln, lambertw, ndtr, xlogy

from ._typing import ArrayLike, FloatOrArray
from ._validation import LARGEST, as_numbers, as_within, check_choice, check_count, check_interval, check_probability

__all__ = [
    "KLTerms",
    "c_bound",
    "chi_square",
    "empirical_bernstein",
    "f_divergence",
    "first_order_kl",
    "gibbs_classifier",
    "kl_terms",
    "landmark_kl",
    "landmark_kl_inverse",
    "majority_vote",
    "second_order_kl",
    "second_order_kl_inverse",
    "second_order_two_class",
    "tandem",
    "test_set",
]


def __dir__() -> list[str]:
    return __all__


FORMS = ("paper", "corrected")
#: Forms of Corollary 5.
CHI_SQUARE_FORMS = (*FORMS, "sub_gaussian")


class KLTerms(NamedTuple):
    """The terms of a KL bound, each nonnegative; the bound is their sum.

    Examples
    --------
    >>> import rff_engine as rff
    >>> terms = rff.bounds.kl_terms("landmark_kl", 0.3, 2.0, n=1001, t=40.0, epsilon=0.05)
    >>> {name: round(float(value), 3) for name, value in terms._asdict().items()}
    {'loss': 0.3, 'complexity': 0.05, 'deviation': 0.005, 'confidence': 0.075}
    """

    loss: np.ndarray | float
    """Empirical alignment loss <Q, loss>."""
    complexity: np.ndarray | float
    """KL / t, twice that for Corollary 2."""
    deviation: np.ndarray | float
    """What t costs: proportional to t / n."""
    confidence: np.ndarray | float
    """ln(. / epsilon) / t, twice that for Corollary 2."""


def kl_terms(
    bound: str,
    loss: ArrayLike,
    kl: ArrayLike,
    n: int,
    t: ArrayLike,
    epsilon: float,
    n_landmarks: int = 1,
    form: str = "corrected",
) -> KLTerms:
    """Compute the terms of a KL bound.

    Parameters
    ----------
    bound : {"landmark_kl", "first_order_kl", "second_order_kl"}
        Theorem 1, Corollary 2 or Theorem 3.
    loss, kl, n, t, epsilon, n_landmarks, form
        As in the functions of these names; `n_landmarks` is used by Theorem 1 only.

    Returns
    -------
    KLTerms

    Raises
    ------
    ValueError
        If a name is unknown or a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> terms = rff.bounds.kl_terms("second_order_kl", 0.3, 2.0, n=1000, t=40.0, epsilon=0.05)
    >>> bound = rff.bounds.second_order_kl(0.3, 2.0, n=1000, t=40.0, epsilon=0.05)
    >>> bool(abs(sum(terms) - bound) < 1e-12)
    True
    """
    check_choice(bound, "bound", KL_BOUNDS)
    check_choice(form, "form", FORMS)
    n = check_count(n, "n", low=2)
    epsilon = check_probability(epsilon, "epsilon")
    loss = _unit(loss)
    kl = as_within(kl, "kl")
    t = _above_zero(t, "t")
    _check_shapes(loss=loss, kl=kl, t=t)
    constants = ALIGNMENT_BOUNDS[bound].constants
    assert constants is not None  # it is one of KL_BOUNDS
    width, factor, events = constants(n, form, n_landmarks)
    with np.errstate(over="ignore"):
        return KLTerms(loss, factor * kl / t, factor * t / width, factor * (np.log(events) - np.log(epsilon)) / t)


def landmark_kl(
    loss: ArrayLike, kl: ArrayLike, n: int, t: ArrayLike, epsilon: float, n_landmarks: int = 1, form: str = "corrected"
) -> FloatOrArray:
    """Bound a landmark's alignment loss (Letarte et al. 2019, Theorem 1, with the union of Section 4.2).

    ``loss + (KL + t^2 / (2 (n - 1)) + ln(n_landmarks / epsilon)) / t``; corrected, 8 takes the place of 2, which
    is Hoeffding's lemma for losses in [0, 1].

    Parameters
    ----------
    loss : float or array
        Empirical loss <Q, L^l_S> of the landmark, in [0, 1].
    kl : float or array
        KL(Q || P), in nats.
    n : int
        Sample size, the landmark included; the loss is a mean over n - 1 points.
    t : float or array
        Fixed before the data are seen; beta sqrt(n) in the paper.
    epsilon : float
        Probability of failure.
    n_landmarks : int
        How many landmarks the bound holds for at once.
    form : {"corrected", "paper"}
        With the proved constants, or with those printed.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.landmark_kl(0.3, 2.0, n=1000, t=40.0, epsilon=0.05)), 3)
    0.43
    """
    return sum(kl_terms("landmark_kl", loss, kl, n, t, epsilon, n_landmarks, form))


def first_order_kl(
    loss: ArrayLike, kl: ArrayLike, n: int, t: ArrayLike, epsilon: float, form: str = "corrected"
) -> FloatOrArray:
    """Bound the alignment loss over pairs from n landmark bounds (Letarte et al. 2019, Corollary 2).

    ``loss + 2 (KL + t^2 / (2 (n - 1)) + ln((n + 1) / epsilon)) / t``; corrected, 8 takes the place of 2 in the
    denominator.

    Parameters
    ----------
    loss, kl : float or array
        Empirical loss <Q, L_S> in [0, 1]; KL(Q || P) in nats.
    n : int
        Sample size; the loss is a mean over its n (n - 1) pairs.
    t : float or array
        Fixed before the data are seen; beta sqrt(n) in the paper.
    epsilon : float
        Probability of failure.
    form : {"corrected", "paper"}
        With the proved constants, or with those printed.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.first_order_kl(0.3, 2.0, n=1000, t=40.0, epsilon=0.05)), 3)
    0.905
    """
    return sum(kl_terms("first_order_kl", loss, kl, n, t, epsilon, form=form))


def second_order_kl(
    loss: ArrayLike, kl: ArrayLike, n: int, t: ArrayLike, epsilon: float, form: str = "corrected"
) -> FloatOrArray:
    """Bound the alignment loss over pairs as a U-statistic (Letarte et al. 2019, Theorem 3; Lever et al. 2013).

    ``loss + (KL + t^2 / (2 n) + ln(1 / epsilon)) / t``; corrected, ``t^2 / (8 floor(n / 2))`` (Hoeffding 1963).

    Parameters
    ----------
    loss, kl : float or array
        Empirical loss <Q, L_S> in [0, 1]; KL(Q || P) in nats.
    n : int
        Sample size; the loss is a mean over its n (n - 1) pairs.
    t : float or array
        Fixed before the data are seen; beta sqrt(n) in the paper.
    epsilon : float
        Probability of failure.
    form : {"corrected", "paper"}
        With the proved constants, or with those printed.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.second_order_kl(0.3, 2.0, n=1000, t=40.0, epsilon=0.05)), 3)
    0.435
    """
    return sum(kl_terms("second_order_kl", loss, kl, n, t, epsilon, form=form))


def landmark_kl_inverse(loss: ArrayLike, kl: ArrayLike, n: int, epsilon: float, n_landmarks: int = 1) -> FloatOrArray:
    """Bound a landmark's alignment loss by PAC-Bayes-kl, with no t to choose (Maurer 2004).

    It is the largest L with ``kl(loss || L) <= (KL + ln(2 sqrt(n - 1) n_landmarks / epsilon)) / (n - 1)``, where
    kl(p || q) compares two Bernoulli variables.

    Parameters
    ----------
    loss, kl : float or array
        Empirical loss <Q, L^l_S> in [0, 1]; KL(Q || P) in nats.
    n : int
        Sample size, the landmark included.
    epsilon : float
        Probability of failure.
    n_landmarks : int
        How many landmarks the bound holds for at once.

    Returns
    -------
    float or ndarray
        In [loss, 1].

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.landmark_kl_inverse(0.3, 2.0, n=1000, epsilon=0.05)), 3)
    0.364
    """
    n = check_count(n, "n", low=2)
    epsilon = check_probability(epsilon, "epsilon")
    return _kl_inverse(loss, kl, n - 1, np.log(check_count(n_landmarks, "n_landmarks")) - np.log(epsilon))


def second_order_kl_inverse(loss: ArrayLike, kl: ArrayLike, n: int, epsilon: float) -> FloatOrArray:
    """Bound the alignment loss over pairs by PAC-Bayes-kl, with no t to choose.

    It is the largest L with ``kl(loss || L) <= (KL + ln(2 sqrt(m) / epsilon)) / m``, m = floor(n / 2). The loss over
    pairs is a mean, over ways to split the sample, of means of m independent pairs (Hoeffding 1963). kl is jointly
    convex, so Maurer's (2004) bound on the moment of m independent losses holds for the loss over pairs too.
    docs/theory.md has the proof. It holds for all posteriors at once: beta may be chosen after looking.

    Parameters
    ----------
    loss, kl : float or array
        Empirical loss <Q, L_S> in [0, 1]; KL(Q || P) in nats.
    n : int
        Sample size; the loss is a mean over its n (n - 1) pairs.
    epsilon : float
        Probability of failure.

    Returns
    -------
    float or ndarray
        In [loss, 1].

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.second_order_kl_inverse(0.3, 2.0, n=1000, epsilon=0.05)), 3)
    0.39
    """
    n = check_count(n, "n", low=2)
    return _kl_inverse(loss, kl, n // 2, -np.log(check_probability(epsilon, "epsilon")))


def second_order_two_class(loss: ArrayLike, kl: ArrayLike, n: int, epsilon: float) -> FloatOrArray:
    """Bound the alignment loss over pairs for two classes by Bernstein; the loss itself bounds its variance.

    It is the least over r of the largest L <= 1/2 with
    ``r (n - 1) (L - loss) <= KL + ln(K / epsilon) - ln(1 - r) - r L + n r^2 L (1 - 2 L) / (1 - r)``. Here r is one of
    the K numbers 1/2, 1/4, ... down to about 5 / sqrt(n). With two classes the loss is (1 - ||mu||^2) / 2, mu the mean
    of unit vectors in the plane. So it is at most 1/2, and the variance of its first projection (Hoeffding 1948) is at
    most L (1 - 2 L) / 2 (docs/theory.md). The bound holds for all posteriors at once: choose beta after looking.

    Parameters
    ----------
    loss, kl : float or array
        Empirical loss <Q, L_S> of labels of two classes, at most ``n / (2 (n - 1))``; KL(Q || P) in nats.
    n : int
        Sample size; the loss is a mean over its n (n - 1) pairs.
    epsilon : float
        Probability of failure.

    Returns
    -------
    float or ndarray
        In [0, 1/2].

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> bound = rff.bounds.second_order_two_class(0.3, 1.0, n=5000, epsilon=0.05)
    >>> bool(0.3 < bound < rff.bounds.second_order_kl_inverse(0.3, 1.0, 5000, 0.05))
    True
    """
    n = check_count(n, "n", low=2)
    epsilon = check_probability(epsilon, "epsilon")
    # Over all n^2 pairs, each row's pair with itself included, the mean is at most 1/2.
    loss = as_within(loss, "loss", 0.0, n / (2 * (n - 1)), "n and two classes")
    kl = as_within(kl, "kl")
    _check_shapes(loss=loss, kl=kl)
    rates = _rates(np.sqrt(n) / 7)
    bound = np.full(np.broadcast_shapes(np.shape(loss), np.shape(kl)), 0.5)
    for r in rates / 2:
        nats = kl + np.log(len(rates)) - np.log(epsilon) - np.log1p(-r)
        # A root of 2 r L^2 + (1 - 2 r) L = (1 - r) rest.
        rest = np.minimum((n - 1) / n * loss + nats / (n * r), 1.0)  # from 1/2 on the root is above 1/2
        root = (np.sqrt((1 - 2 * r) ** 2 + 8 * r * (1 - r) * rest) - (1 - 2 * r)) / (4 * r)
        bound = np.minimum(bound, root)
    return bound[()]


def empirical_bernstein(loss: ArrayLike, variance: ArrayLike, kl: ArrayLike, n: int, epsilon: float) -> FloatOrArray:
    """Bound the alignment loss over pairs by empirical Bernstein (Maurer and Pontil 2009; Tolstikhin and Seldin 2013).

    With m = floor(n / 2) it is the least over s of
    ``loss + (KL + ln(2 K / epsilon) + m V (exp(s) - 1 - s)) / (m s)``, s among the K numbers 2, 1, 1/2, ... down to
    about 5 / sqrt(m). V is an upper bound on the variance of a pair's loss: 2 V is the largest value with
    ``kl(2 variance || 2 V) <= (KL + ln(4 sqrt(k) / epsilon)) / k``, k = floor(n / 4). The deviation is as for m
    independent pairs. The smaller variance of the first projection does not enter. docs/theory.md has the proof. It
    holds for all posteriors at once: beta may be chosen after looking.

    Parameters
    ----------
    loss : float or array
        Empirical loss <Q, L_S>, in [0, 1].
    variance : float or array
        <Q, V_S>, V_S as in `alignment_loss_variance`; at most ``loss (1 - loss) m / (m - 1)``.
    kl : float or array
        KL(Q || P), in nats.
    n : int
        Sample size, at least 4.
    epsilon : float
        Probability of failure.

    Returns
    -------
    float or ndarray
        At most 1.

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> few, many = (rff.bounds.empirical_bernstein(0.3, 0.02, 1.0, n, 0.05) for n in (200, 20_000))
    >>> bool(0.3 < many < few)
    True
    """
    n = check_count(n, "n", low=4)
    epsilon = check_probability(epsilon, "epsilon")
    loss = _unit(loss)
    kl = as_within(kl, "kl")
    _check_shapes(loss=loss, variance=variance, kl=kl)
    m = n // 2
    # It is a mean over ways to split the sample into pairs. For each, the variance of m numbers in [0, 1] is at most
    # m / (m - 1) times mean (1 - mean), which is concave in the mean.
    variance = as_within(variance, "variance", 0.0, m / (m - 1) * loss * (1 - loss), "loss and n")
    largest = _kl_inverse(2 * variance, kl, n // 4, np.log(2) - np.log(epsilon)) / 2
    rates = _rates(2 * np.sqrt(m) / 7)
    bound = np.ones(np.broadcast_shapes(np.shape(loss), np.shape(largest)))
    for s in 2 * rates:
        nats = kl + np.log(2 * len(rates)) - np.log(epsilon) + m * largest * (np.expm1(s) - s)
        with np.errstate(over="ignore"):
            bound = np.minimum(bound, loss + nats / (m * s))
    return bound[()]


def _rates(smallest_inverse: float) -> np.ndarray:
    """Return 1, 1/2, 1/4, ... down to the first below 1 / smallest_inverse."""
    return 0.5 ** np.arange(max(1, int(np.ceil(np.log2(max(smallest_inverse, 1.0)))) + 1))


def _kl_inverse(loss, kl, n_terms: int, confidence: float):
    """Return the largest L with n_terms kl(loss || L) <= KL + ln(2 sqrt(n_terms)) + confidence."""
    _check_shapes(loss=loss, kl=kl)
    return largest_mean(_unit(loss), (as_within(kl, "kl") + np.log(2 * np.sqrt(n_terms)) + confidence) / n_terms)


def largest_mean(loss: ArrayLike, budget: ArrayLike) -> FloatOrArray:
    """Return the largest L with kl(loss || L) <= budget."""
    loss, budget = np.broadcast_arrays(np.asarray(loss, dtype=float), budget)
    rest = 1 - loss
    with np.errstate(divide="ignore", invalid="ignore"):
        # kl is at least 2 (L - loss)^2 and at least rest ln(rest / (1 - L)) + loss ln(loss), so the root is below both.
        tail = rest * np.exp((xlogy(loss, loss) - budget) / rest)
        root = np.where(rest > 0, np.minimum(loss + np.sqrt(budget / 2), 1 - tail), 1.0)
        for _ in range(12):  # Newton's method on a convex function, from above: never below the root
            step = (_bernoulli_kl(loss, root) - budget) * root * (1 - root) / (root - loss)
            root = np.where(step > 0, root - step, root)
    return np.maximum(root, loss)[()]


def gibbs_classifier(
    gibbs_error: ArrayLike,
    log_ratio: ArrayLike,
    scale: ArrayLike,
    n: int,
    epsilon: float,
    n_choices: int = 1,
    rate: float | None = None,
) -> FloatOrArray:
    """Bound the risk of a Gibbs classifier with drawn features (Maurer 2004; Rivasplata et al. 2020).

    It is the largest R with
    ``kl(gibbs_error || R) <= (log_ratio + scale^2 / 2 + ln(2 sqrt(n) n_choices / epsilon)) / n``; with a `rate` it is
    ``(1 - exp(-rate gibbs_error - (log_ratio + scale^2 / 2 + ln(n_choices / epsilon)) / n)) / (1 - exp(-rate))``, at
    most 1 (Catoni). The classifier is the sign of ``w . z(x)``, with a new w from N(v, I) for each x; the prior on w is
    N(v0, I). It holds for the features drawn and for all v at once; docs/theory.md has the proof.

    Parameters
    ----------
    gibbs_error : float or array
        Mean over the n rows of the probability of an error, in [0, 1].
    log_ratio : float or array
        sum_j ln(N Q_(i_j)) over the indices drawn from Q out of N candidates, which may be negative; 0 for features
        that were fixed before these rows.
    scale : float or array
        ``||v - v0||``, at least 0.
    n : int
        Independent rows. Neither v0 nor the candidates depend on them.
    epsilon : float
        Probability of failure.
    n_choices : int
        How many draws of features, priors or losses the bound holds for at once.
    rate : float, optional
        lambda of Catoni (2007), above 0 and fixed before these rows.

    Returns
    -------
    float or ndarray
        In [gibbs_error, 1].

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.gibbs_classifier(0.1, 0.0, 3.0, n=1000, epsilon=0.05)), 3)
    0.152
    """
    n = check_count(n, "n")
    epsilon = check_probability(epsilon, "epsilon")
    count = check_count(n_choices, "n_choices")
    gibbs_error = _unit(gibbs_error, "gibbs_error")
    log_ratio = as_numbers(log_ratio, "log_ratio", np.finfo(float).max)
    scale = as_within(scale, "scale")
    _check_shapes(gibbs_error=gibbs_error, log_ratio=log_ratio, scale=scale)
    sample = np.log(2 * np.sqrt(n)) if rate is None else 0.0
    with np.errstate(over="ignore"):
        information = log_ratio + scale**2 / 2
        budget = np.maximum((information + sample + np.log(count) - np.log(epsilon)) / n, 0.0)
    if rate is None:
        return largest_mean(gibbs_error, budget)
    return catoni_mean(gibbs_error, budget, check_interval(rate, "rate", low=0))


def catoni_mean(loss: ArrayLike, budget: ArrayLike, rate: float) -> FloatOrArray:
    """Return the root L of ``-ln(1 - (1 - exp(-rate)) L) = rate loss + budget``, in [loss, 1]."""
    with np.errstate(over="ignore"):
        root = np.expm1(-rate * np.asarray(loss, dtype=float) - budget) / np.expm1(-rate)
    return np.maximum(np.minimum(root, 1.0), loss)[()]


def majority_vote(
    margin_error: ArrayLike,
    threshold: ArrayLike,
    log_ratio: ArrayLike,
    scale: ArrayLike,
    n: int,
    epsilon: float,
    n_choices: int = 1,
    rate: float | None = None,
) -> FloatOrArray:
    """Bound the risk of the vote of a Gibbs classifier, sign(v . z(x)) (Langford and Shawe-Taylor 2003).

    ``gibbs_classifier(margin_error, ...) / Phi(threshold)``, at most 1. An error of the vote is a Gibbs margin error of
    probability at least Phi(threshold): at threshold 0 this is twice the Gibbs risk, and at a large one the factor is
    near 1. docs/theory.md has the proof. A threshold chosen among g values costs a factor g in `n_choices`.

    Parameters
    ----------
    margin_error : float or array
        Mean over the rows of ``Phi(threshold - y v . z(x))``, ||z(x)|| = 1; at threshold 0 the Gibbs error.
    threshold : float or array
        At least 0.
    log_ratio, scale, n, epsilon, n_choices, rate
        As in `gibbs_classifier`.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.majority_vote(0.1, 2.0, 0.0, 3.0, n=1000, epsilon=0.05)), 3)
    0.155
    """
    threshold = as_within(threshold, "threshold")
    margin_error = _unit(margin_error, "margin_error")
    _check_shapes(margin_error=margin_error, threshold=threshold, log_ratio=log_ratio, scale=scale)
    bound = gibbs_classifier(margin_error, log_ratio, scale, n, epsilon, n_choices, rate)
    return np.minimum(bound / ndtr(threshold), 1.0)


def tandem(
    tandem_error: ArrayLike,
    threshold: ArrayLike,
    log_ratio: ArrayLike,
    scale: ArrayLike,
    n: int,
    epsilon: float,
    n_choices: int = 1,
) -> FloatOrArray:
    """Bound the risk of the vote by the errors that two voters make together (Masegosa et al. 2020, Theorem 8).

    It is ``T / Phi(threshold)^2``, at most 1, where T is the largest value with
    ``kl(tandem_error || T) <= (log_ratio + scale^2 + ln(2 sqrt(n) n_choices / epsilon)) / n``. If the vote errs, two
    independent voters both err by the margin with probability at least Phi(threshold)^2. The divergence of a pair of
    voters from a pair of the prior is twice that of one voter. At threshold 0 the bound is four times the tandem loss.
    docs/theory.md has the proof.

    Parameters
    ----------
    tandem_error : float or array
        Mean over the rows of ``Phi(threshold - y v . z(x))^2``, in [0, 1].
    threshold, log_ratio, scale, n, epsilon, n_choices
        As in `majority_vote`.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> bool(0.01 < rff.bounds.tandem(0.01, 0.0, 0.0, 1.0, n=5000, epsilon=0.05) < 0.1)
    True
    """
    threshold = as_within(threshold, "threshold")
    scale = as_within(scale, "scale")
    tandem_error = _unit(tandem_error, "tandem_error")
    _check_shapes(tandem_error=tandem_error, threshold=threshold, log_ratio=log_ratio, scale=scale)
    bound = gibbs_classifier(tandem_error, log_ratio, np.sqrt(2) * np.minimum(scale, LARGEST), n, epsilon, n_choices)
    return np.minimum(bound / ndtr(threshold) ** 2, 1.0)


def c_bound(
    gibbs_error: ArrayLike,
    disagreement: ArrayLike,
    log_ratio: ArrayLike,
    scale: ArrayLike,
    n: int,
    epsilon: float,
    n_choices: int = 1,
) -> FloatOrArray:
    """Bound the risk of the vote by the mean and the variance of its margin (Lacasse et al. 2006).

    ``1 - (1 - 2 R)^2 / (1 - 2 d)`` for R < 1/2, else 1: R is the upper bound `gibbs_classifier` on the Gibbs risk and d
    a lower bound of the same kind on the probability that two voters disagree, each at epsilon / 2. docs/theory.md
    has the proof.

    Parameters
    ----------
    gibbs_error : float or array
        Mean over the rows of ``Phi(-y v . z(x))``, in [0, 1].
    disagreement : float or array
        Mean over the rows of ``2 Phi(v . z(x)) Phi(-v . z(x))``, at most ``2 gibbs_error (1 - gibbs_error)``.
    log_ratio, scale, n, epsilon, n_choices
        As in `gibbs_classifier`.

    Returns
    -------
    float or ndarray
        In [0, 1].

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> bool(rff.bounds.c_bound(0.1, 0.15, 0.0, 1.0, n=5000, epsilon=0.05) < 0.5)
    True
    """
    gibbs_error = _unit(gibbs_error, "gibbs_error")
    scale = as_within(scale, "scale")
    count = 2 * check_count(n_choices, "n_choices")
    _check_shapes(gibbs_error=gibbs_error, disagreement=disagreement, log_ratio=log_ratio, scale=scale)
    # Take errors a of n rows with mean R. The mean of 2 a (1 - a) is largest if each is R, and least if all but one are
    # 0 or 1.
    rest = check_count(n, "n") * gibbs_error % 1.0
    least_of_all = 2 * rest * (1 - rest) / n
    most_of_all = 2 * gibbs_error * (1 - gibbs_error)
    disagreement = as_within(disagreement, "disagreement", least_of_all, most_of_all, "gibbs_error and n")
    risk = gibbs_classifier(gibbs_error, log_ratio, scale, n, epsilon, count)
    # The least mean is one less the largest mean of the complement.
    least = 1 - gibbs_classifier(1 - disagreement, log_ratio, np.sqrt(2) * scale, n, epsilon, count)
    mean_margin = np.maximum(1 - 2 * risk, 0.0)
    return np.maximum(1 - mean_margin**2 / np.maximum(1 - 2 * np.minimum(least, 0.5), 1e-300), 0.0)[()]


def test_set(n_errors: ArrayLike, n: int, epsilon: float) -> FloatOrArray:
    """Bound the risk of a classifier by its errors on a test set: binomial tail inversion (Langford 2005).

    It is the largest R at which at most `n_errors` errors on n rows have a probability of `epsilon`.

    Parameters
    ----------
    n_errors : int or array
        From 0 to n.
    n : int
        Independent rows that were not used for training.
    epsilon : float
        Probability of failure.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> rff.bounds.test_set([0, 10], n=1000, epsilon=0.05).round(4)
    array([0.003 , 0.0169])
    """
    n = check_count(n, "n")
    epsilon = check_probability(epsilon, "epsilon")
    errors = as_numbers(n_errors, "n_errors")
    bad = ~((errors >= 0) & (errors <= n) & (errors == np.floor(errors)))
    if bad.any():
        raise ValueError(f"n_errors is {errors[bad].flat[0]:g}; a whole number between 0 and {n} is needed.")
    # P(Bin(n, R) <= k) = epsilon is a quantile of the beta distribution; with n errors nothing is excluded.
    return np.where(errors == n, 1.0, betaincinv(errors + 1, np.maximum(n - errors, 1), 1 - epsilon))[()]


def f_divergence(
    loss: ArrayLike, divergence: ArrayLike, mu: float, n: int, epsilon: float, form: str = "corrected"
) -> FloatOrArray:
    """Bound the alignment loss over pairs by the divergence D_mu (Letarte et al. 2019, Theorem 4).

    It reads ``loss + c (D_mu + 1)^(1/mu) epsilon^(1/mu - 1)``. By Hölder's inequality c bounds the root
    ``(E |Delta|^q)^(1/q)`` of the moment conjugate to mu, q = mu / (mu - 1), of the deviation Delta of the empirical
    loss at one frequency. The corrected form takes c = V^(1/2) for mu >= 2, with the variance V = 1/(2n) (Hoeffding
    1948). For mu < 2 it takes the smallest of V^(1/q), since |Delta| <= 1, and bounds from V and a higher moment:
    Delta is sub-Gaussian (Hoeffding 1963), so ``E |Delta|^r <= r Gamma(r/2) (2 floor(n/2))^(-r/2)``.
    Printed are c = (4n)^(-(mu-1)/2) for mu <= 2, which is proved for epsilon <= 0.05 except at n = 7, 9 and 11, and
    c = (4n)^(1/mu - 1) for mu > 2, which fails more often than epsilon allows.

    Parameters
    ----------
    loss, divergence : float or array
        Empirical loss <Q, L_S> in [0, 1]; D_mu(Q || P).
    mu : float
        Above 1.
    n : int
        Sample size; the loss is a mean over its n (n - 1) pairs.
    epsilon : float
        Probability of failure.
    form : {"corrected", "paper"}
        With the proved constants, or with those printed.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(float(rff.bounds.f_divergence(0.3, 2.0, mu=3.0, n=1000, epsilon=0.05)), 3)
    0.538
    """
    check_choice(form, "form", FORMS)
    mu = check_interval(mu, "mu", low=1)
    n = check_count(n, "n", low=2)
    epsilon = check_probability(epsilon, "epsilon")
    loss = _unit(loss)
    divergence = as_within(divergence, "divergence")
    _check_shapes(loss=loss, divergence=divergence)
    if form == "corrected":
        constant = (2 * n) ** -0.5 if mu >= 2 else _conjugate_moment(mu, n)
    else:
        constant = (4 * n) ** (-(mu - 1) / 2) if mu <= 2 else (4 * n) ** -(1 - 1 / mu)
    with np.errstate(over="ignore"):
        return loss + constant * (divergence + 1) ** (1 / mu) * np.float64(epsilon) ** -(1 - 1 / mu)


# Orders of the higher moments, less the conjugate order; any gives a valid bound.
_MORE_ORDERS = np.array([0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 16.0])


def _conjugate_moment(mu: float, n: int) -> float:
    """Bound (E |Delta|^q)^(1/q) for q = mu / (mu - 1) > 2, Delta the deviation of a U-statistic of order 2.

    The logarithm of E |Delta|^r is convex in r (Lyapunov), so moments of orders 2 and r >= q bound that of order q.
    """
    q, log_variance = mu / (mu - 1), -np.log(2 * n)
    r = q + _MORE_ORDERS
    log_moment = np.log(r) + gammaln(r / 2) - r / 2 * np.log(2 * (n // 2))
    between = ((r - q) * log_variance + (q - 2) * log_moment) / (r - 2)
    return float(np.exp(min(log_variance, between.min()) / q))


def chi_square(loss: ArrayLike, chi2: ArrayLike, n: int, epsilon: float, form: str = "corrected") -> FloatOrArray:
    """Bound the alignment loss over pairs by the chi-square divergence (Letarte et al. 2019, Corollary 5).

    As printed it is ``loss + sqrt((chi2 + 1) / (4 n epsilon))``; corrected, 2 n takes the place of 4 n. The printed
    form is proved for epsilon <= 0.05 too, except at n = 7, 9 and 11, but not for every epsilon.
    ``form="sub_gaussian"`` is ``loss + sqrt((chi2 + 1) a / (4 floor(n / 2)))``, where a > 1 solves
    ``sqrt(a) exp((1 - a) / 2) = epsilon``: deviations of the empirical loss have sub-Gaussian tails (Hoeffding 1963).
    The other forms use only the variance (docs/theory.md). This form grows like the root of ln(1 / epsilon), and is
    below the printed form for epsilon <= 0.05 at every even n.

    Parameters
    ----------
    loss, chi2 : float or array
        Empirical loss <Q, L_S> in [0, 1]; D_2(Q || P).
    n : int
        Sample size; the loss is a mean over its n (n - 1) pairs.
    epsilon : float
        Probability of failure.
    form : {"corrected", "paper", "sub_gaussian"}
        Proved constants, those printed, or tails in place of the variance, as above.

    Returns
    -------
    float or ndarray

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import rff_engine as rff
    >>> [round(float(rff.bounds.chi_square(0.3, 2.0, 1000, 0.05, form)), 3) for form in ("corrected", "sub_gaussian")]
    [0.473, 0.418]
    """
    check_choice(form, "form", CHI_SQUARE_FORMS)
    chi2 = as_within(chi2, "chi2")
    _check_shapes(loss=loss, chi2=chi2)
    if form != "sub_gaussian":
        return f_divergence(loss, chi2, 2.0, n, epsilon, form)
    n = check_count(n, "n", low=2)
    epsilon = check_probability(epsilon, "epsilon")
    with np.errstate(over="ignore"):
        return _unit(loss) + np.sqrt((chi2 + 1) * _tail_root(epsilon) / (4 * (n // 2)))


def _tail_root(epsilon: float) -> float:
    """Return the root a > 1 of sqrt(a) exp((1 - a) / 2) = epsilon."""
    below = np.exp(-1 + 2 * np.log(epsilon))
    if below > 1e-300:
        return float(-lambertw(-below, k=-1).real)
    a = 1 - 2 * np.log(epsilon)
    for _ in range(20):  # a contraction: its derivative is 1 / a
        a = 1 - 2 * np.log(epsilon) + np.log(a)
    return float(a)


def _bernoulli_kl(p, q):
    with np.errstate(divide="ignore"):
        return xlogy(p, p) - xlogy(p, q) + xlogy(1 - p, 1 - p) - xlogy(1 - p, 1 - q)


def _unit(loss, name: str = "loss") -> np.ndarray:
    return as_within(loss, name, 0.0, 1.0)


def _above_zero(values, name: str) -> np.ndarray:
    numbers = as_numbers(values, name, np.finfo(float).max)
    if not (numbers > 0).all():
        raise ValueError(f"{name} is {numbers.min():g}; a finite number above 0 is needed.")
    return numbers[()]


def _check_shapes(**arguments) -> None:
    """Refuse arguments whose shapes do not broadcast to one shape."""
    shapes = {name: as_numbers(value, name, np.inf).shape for name, value in arguments.items()}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ValueError(f"shapes differ: {given}; arrays of one shape, or numbers, are needed.") from None


# --- records ------------------------------------------------------------------------------------------------------

# Constants of the KL bounds: the width (it divides t in the deviation term), the factor of all terms but the loss,
# and the number of events that share epsilon. Corrected: Hoeffding's lemma for losses in [0, 1]; for the
# U-statistic, Hoeffding (1963) averages floor(n / 2) independent pairs.


def _landmark_constants(n: int, form: str, n_landmarks: int) -> tuple[int, int, int]:
    return (2 if form == "paper" else 8) * (n - 1), 1, check_count(n_landmarks, "n_landmarks")


def _first_order_constants(n: int, form: str, n_landmarks: int) -> tuple[int, int, int]:
    return (2 if form == "paper" else 8) * (n - 1), 2, n + 1


def _second_order_constants(n: int, form: str, n_landmarks: int) -> tuple[int, int, int]:
    return 2 * n if form == "paper" else 8 * (n // 2), 1, 1


@dataclass(frozen=True)
class AlignmentBound:
    """A bound on an alignment loss, from which lists of bounds, curves, simulations and tests are made.

    An argument has the same name in all functions: the signature says what a bound depends on.
    """

    function: Callable[..., FloatOrArray]
    forms: tuple[str, ...] = ()
    """Empty: it has one form, and no argument `form`"""
    constants: Callable[[int, str, int], tuple[int, int, int]] | None = None
    """Of a KL bound, by n, form and n_landmarks: width, factor and number of events"""

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.function).parameters)

    @property
    def of_landmark(self) -> bool:
        """Whether it is about one landmark, or several at once; otherwise it is about the whole kernel."""
        return "n_landmarks" in self.arguments

    def value(self, **given: Any) -> FloatOrArray:
        """Compute the bound; of `given` take the values that are its arguments."""
        return self.function(**self._own(given))

    def terms(self, **given: Any) -> dict[str, Any]:
        """Return the terms that add up to the bound: `KLTerms`, or "loss" and "rest"."""
        if self.constants:
            return kl_terms(self.name, **self._own(given))._asdict()
        return {"loss": given["loss"], "rest": self.value(**given) - given["loss"]}

    def _own(self, given: dict[str, Any]) -> dict[str, Any]:
        return {name: given[name] for name in self.arguments if name in given}


#: By name, landmark bounds first, in the order of the figures.
ALIGNMENT_BOUNDS = {
    bound.name: bound
    for bound in (
        AlignmentBound(landmark_kl, FORMS, _landmark_constants),
        AlignmentBound(landmark_kl_inverse),
        AlignmentBound(first_order_kl, FORMS, _first_order_constants),
        AlignmentBound(second_order_kl, FORMS, _second_order_constants),
        AlignmentBound(second_order_kl_inverse),
        AlignmentBound(second_order_two_class),
        AlignmentBound(empirical_bernstein),
        AlignmentBound(f_divergence, FORMS),
        AlignmentBound(chi_square, CHI_SQUARE_FORMS),
    )
}
#: Bounds that hold at a t fixed in advance. The others have no t.
KL_BOUNDS = tuple(name for name, bound in ALIGNMENT_BOUNDS.items() if bound.constants)
#: Bounds for one landmark, or several at once.
LANDMARK_BOUNDS = tuple(name for name, bound in ALIGNMENT_BOUNDS.items() if bound.of_landmark)
