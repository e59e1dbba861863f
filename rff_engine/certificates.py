"""Posteriors on linear classifiers that minimise a bound on the risk of their vote, and the terms of that bound.

Features are given, as rows of length 1, and so is the price at which they were chosen; `CertifiedClassifier` chooses
them. docs/theory.md has the bound and its proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

from . import bounds
from ._typing import ArrayLike
from .linear import linear_svm_path

__all__ = ["CertificateTerm", "Choice", "PriorChoice", "VotePosterior", "learn_prior", "learn_vote", "unit_features"]

#: Thresholds of `bounds.majority_vote`, one of which is chosen, and paid for.
THRESHOLDS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
# Paths that need not be paid for: the bound holds for all weights at once.
_SURROGATE_COSTS = (0.1, 0.4, 1.6, 6.4, 25.0)
_STRETCHES = np.array([0.5, 0.7, 1.0, 1.4, 2.0, 3.0])
# Of the prior's weights, on rows of their own.
_SVM_COSTS = 10.0 ** np.arange(-2, 5)
_PRIOR_SCALES = 2.0 ** np.arange(17)
_PEAK = 1 / np.sqrt(2 * np.pi)


class CertificateTerm(NamedTuple):
    """A term of a certificate."""

    name: str
    nats: float
    """What it adds to ``n kl(error || bound)``."""
    risk: float
    """What it adds to the bound; these add up to it."""


class Choice(NamedTuple):
    """How features were chosen on the rows of the bound."""

    n_choices: int = 1
    log_ratio: float = 0.0
    """Nats of the frequencies drawn or of the landmarks chosen"""
    name: str = "frequencies drawn"


def unit_features(features: ArrayLike) -> np.ndarray:
    """Features (n, F) with a constant 1 appended, each row scaled to length 1: an array (n, F + 1)."""
    z = np.column_stack([np.asarray(features, dtype=np.float64), np.ones(len(features))])
    z /= np.abs(z).max(axis=1, keepdims=True)  # lengths would overflow before their squares do
    return z / np.linalg.norm(z, axis=1, keepdims=True)


@dataclass(frozen=True)
class VotePosterior:
    """Normal weights N(mean, I) on features of length 1, with the prior N(prior_mean, I), and errors on n rows.

    Attributes
    ----------
    mean, prior_mean : ndarray of shape (F,)
    margin_errors, tandem_errors : ndarray of shape (T,)
        The means of ``Phi(threshold - y mean . z)`` and of its square for each of `THRESHOLDS`.
    n : int
    epsilon : float
    choice : Choice
    """

    mean: np.ndarray
    prior_mean: np.ndarray
    margin_errors: np.ndarray
    tandem_errors: np.ndarray
    n: int
    epsilon: float
    choice: Choice

    @property
    def scale(self) -> float:
        return float(np.linalg.norm(self.mean - self.prior_mean))

    @property
    def _terms(self) -> tuple:
        return self.choice.log_ratio, self.scale, self.n, self.epsilon, self.choice.n_choices * len(THRESHOLDS)

    @cached_property
    def vote_bounds(self) -> np.ndarray:
        """The bound on the vote for each of `THRESHOLDS`; all hold at once."""
        return bounds.majority_vote(self.margin_errors, THRESHOLDS, *self._terms)

    @property
    def bound(self) -> float:
        return float(self.vote_bounds.min())

    @property
    def threshold(self) -> float:
        """Of the margin error in `bound`."""
        return THRESHOLDS[int(self.vote_bounds.argmin())]

    @property
    def gibbs_bound(self) -> float:
        return float(bounds.gibbs_classifier(self.margin_errors[0], *self._terms))

    @property
    def tandem_bound(self) -> float:
        """The smallest of the tandem bounds for `THRESHOLDS`, which all hold at once, but not with `vote_bounds`."""
        return float(bounds.tandem(self.tandem_errors, THRESHOLDS, *self._terms).min())

    @property
    def c_bound(self) -> float:
        """The C-bound, which holds alone."""
        ratio, scale, n, epsilon, _ = self._terms
        # Two voters are right and wrong, or wrong and right.
        disagreement = 2 * (self.margin_errors[0] - self.tandem_errors[0])
        return float(
            bounds.c_bound(self.margin_errors[0], disagreement, ratio, scale, n, epsilon, self.choice.n_choices)
        )

    def ledger(self) -> tuple[CertificateTerm, ...]:
        """The terms of `bound`, in the order in which they are added."""
        best = int(self.vote_bounds.argmin())
        error = float(self.margin_errors[best])
        prices = {
            "confidence, ln(1 / epsilon)": -np.log(self.epsilon),
            "sample, ln(2 sqrt(n))": np.log(2 * np.sqrt(self.n)),
            f"choice of feature map, ln({self.choice.n_choices})": np.log(self.choice.n_choices),
            f"choice of threshold, ln({len(THRESHOLDS)})": np.log(len(THRESHOLDS)),
            self.choice.name: self.choice.log_ratio,
            "weights": self.scale**2 / 2,
        }
        terms, spent, reached = [CertificateTerm("margin error on the rows", 0.0, error)], 0.0, error
        for name, nats in prices.items():
            spent += nats
            after = float(bounds.largest_mean(error, max(spent, 0.0) / self.n))
            terms.append(CertificateTerm(name, float(nats), after - reached))
            reached = after
        name = f"from margins to the vote, threshold {self.threshold:g}"
        return (*terms, CertificateTerm(name, 0.0, self.bound - reached))


def learn_vote(z: ArrayLike, signs: ArrayLike, prior_mean: ArrayLike, epsilon: float, choice: Choice) -> VotePosterior:
    """The posterior of least bound on the vote among those tried, for features z (n, F) of length 1, labels -1 and 1.

    Means are minima of a convex surrogate of the margin error plus the divergence (Germain et al. 2009), over a path of
    costs and two thresholds, and points on the lines from the prior's mean through them.
    """
    aligned = z * signs[:, None]

    def best_of(means) -> VotePosterior:
        decisions = aligned @ means.T
        wrong = [ndtr(threshold - decisions) for threshold in THRESHOLDS]
        errors, together = (np.mean(part, axis=1).T for part in (wrong, np.square(wrong)))
        posteriors = [
            VotePosterior(mean, prior_mean, one, two, len(z), epsilon, choice)
            for mean, one, two in zip(means, errors, together, strict=True)
        ]
        scales = np.array([[one.scale] for one in posteriors])
        n_choices = choice.n_choices * len(THRESHOLDS)
        reached = bounds.majority_vote(errors, THRESHOLDS, choice.log_ratio, scales, len(z), epsilon, n_choices)
        return posteriors[int(reached.min(axis=1).argmin())]

    best = best_of(prior_mean[None])
    for _ in range(2):  # the second time at the threshold that is best so far
        threshold, mean = best.threshold, prior_mean
        for cost in _SURROGATE_COSTS:
            mean = _least_surrogate(aligned, prior_mean, threshold, cost, mean)
            best = min(best, best_of(prior_mean + _STRETCHES[:, None] * (mean - prior_mean)), key=lambda one: one.bound)
    return best


def _least_surrogate(aligned, prior_mean, threshold: float, cost: float, start) -> np.ndarray:
    """The minimum of ``cost sum_i psi(u_i) + ||mean - prior_mean||^2 / 2``, u = aligned mean - threshold.

    psi(u) is Phi(-u) for u >= 0 and its tangent at 0 for u < 0, so it is convex and at least Phi(-u).
    """

    def value(mean):
        u = aligned @ mean - threshold
        positive = np.maximum(u, 0.0)
        psi = ndtr(-positive) - _PEAK * np.minimum(u, 0.0)
        away = mean - prior_mean
        slope = -_PEAK * np.exp(-(positive**2) / 2)
        return cost * psi.sum() + away @ away / 2, cost * (slope @ aligned) + away

    return minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x


class PriorChoice(NamedTuple):
    """C of the linear SVM that gives the prior's mean, its length, and what the vote's bound would contain."""

    C: float
    scale: float
    error: float


def learn_prior(
    features: ArrayLike, signs: ArrayLike, valid_features: ArrayLike, valid_signs: ArrayLike
) -> PriorChoice:
    """The C of a linear SVM and the length of its weights at which the vote errs least on validation rows.

    Judged by what its bound contains, the margin error over Phi(threshold) at the best of `THRESHOLDS`.
    """
    coef, intercept = linear_svm_path(features, signs, _SVM_COSTS)
    aligned = unit_features(valid_features) * valid_signs[:, None]
    directions = np.column_stack([coef, intercept])
    directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
    margins = _PRIOR_SCALES * (aligned @ directions.T)[:, :, None]
    errors = np.min([ndtr(one - margins).mean(axis=0) / ndtr(one) for one in THRESHOLDS], axis=0)  # (C, scale)
    c, s = np.unravel_index(int(errors.argmin()), errors.shape)
    return PriorChoice(float(_SVM_COSTS[c]), float(_PRIOR_SCALES[s]), float(errors[c, s]))
