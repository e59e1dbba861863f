"""Posteriors on linear classifiers that minimise a bound on the risk of their vote, and the terms of that bound.

Features are given, as rows of length 1, and so is the price of choosing them. `CertifiedClassifier` chooses them, and
takes the bound of a test set if that is smaller. docs/theory.md has the bounds and their proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import betaincinv, ndtr

from . import bounds
from ._typing import ArrayLike, FloatOrArray
from .linear import linear_svm_path

__all__ = [
    "CONFIDENCE",
    "CertificateTerm",
    "Choice",
    "HeldOutErrors",
    "Margin",
    "PriorChoice",
    "VotePosterior",
    "catoni_rate",
    "learn_prior",
    "learn_rest",
    "learn_vote",
    "least_surrogates",
    "svm_weights",
    "unit_features",
]

#: The test set's share of epsilon. The posterior has the rest.
TEST_SET_SHARE = 0.9
#: Thresholds of `bounds.majority_vote`. One is chosen: on the prior's rows, or at a price on the bound's rows.
THRESHOLDS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
# Paths without a price: the bound holds for all weights at once.
_SURROGATE_COSTS = (0.1, 0.4, 1.6, 6.4, 25.0)
# Without a margin that is fixed beforehand: with another one bounds are hardly smaller.
_SURROGATE_THRESHOLD = 1.0
# Means of least surrogate only propose posteriors: their bounds differ by 1e-5 from those of exact minima.
_NEAR_ENOUGH = {"maxiter": 100, "ftol": 1e-6}
_STRETCHES = np.array([0.5, 0.7, 1.0, 1.4, 2.0, 3.0])
#: Costs of the prior's weights, which have rows of their own.
SVM_COSTS = 10.0 ** np.arange(-2, 5)
_PRIOR_SCALES = 2.0 ** np.arange(17)
_PEAK = 1 / np.sqrt(2 * np.pi)
# Typical curvature of the surrogate, within so far of its threshold; most features that are turned; ends of the table.
_CURVATURE, _CURVED, _MOST_TURNED, _REACH = 0.1, 3.0, 256, 9.0
_PHI = ndtr(np.linspace(-_REACH, _REACH, 2**14 + 1))
_RATES = 1e-3, 50.0


class CertificateTerm(NamedTuple):
    """A term of a certificate."""

    name: str
    nats: float
    """What it adds to the logarithm that the bound pays: of 1 / epsilon, of choices, of the divergence."""
    risk: float
    """What it adds to the bound; these add up to it."""


class Choice(NamedTuple):
    """How features were chosen on the rows of the bound."""

    n_choices: int = 1
    log_ratio: float = 0.0
    """Nats of the frequencies drawn or of the landmarks chosen"""
    name: str = "frequencies drawn"


class Margin(NamedTuple):
    """How a margin error is bounded, fixed before the rows of the bound."""

    threshold: float
    rate: float
    """lambda of Catoni (2007)"""
    epsilon: float
    """Probability that this bound fails"""


class HeldOutErrors(NamedTuple):
    """Errors of a classifier that was fixed before n rows, and the bound that they give at ``share * epsilon``.

    No rows bound nothing: the bound is 1.
    """

    n_errors: int
    n: int
    epsilon: float
    share: float = 1.0

    @property
    def bound(self) -> float:
        return float(bounds.test_set(self.n_errors, self.n, self.share * self.epsilon)) if self.n else 1.0

    def ledger(self) -> tuple[CertificateTerm, ...]:
        """List the terms of `bound` in the order of their addition."""
        error, alone = self.n_errors / self.n, float(bounds.test_set(self.n_errors, self.n, self.epsilon))
        terms = (
            CertificateTerm("errors on the rows", 0.0, error),
            CertificateTerm(CONFIDENCE, -float(np.log(self.epsilon)), alone - error),
        )
        if self.share == 1:
            return terms
        return (*terms, CertificateTerm(_arms(self.share), -float(np.log(self.share)), self.bound - alone))

    def rows_for(self, bound: float) -> tuple[float, float, float]:
        """Return the fewest rows where as many errors a row give a bound: as seen, and at the ends of a 95 % interval.

        It is infinite if that many errors are not below the bound. Clopper and Pearson (1934) give the interval.
        """
        low = 1 - float(bounds.test_set(self.n - self.n_errors, self.n, 0.025))
        high = float(bounds.test_set(self.n_errors, self.n, 0.025))
        as_seen, fewest, most = (
            _rows_for(risk, bound, self.share * self.epsilon) for risk in (self.n_errors / self.n, low, high)
        )
        return as_seen, fewest, most


def _rows_for(risk: float, bound: float, epsilon: float) -> float:
    """Return the least n at which ``risk * n`` errors, which need not be a whole number, give a bound."""

    def above(n: float) -> float:
        return float(betaincinv(risk * n + 1, (1 - risk) * n, 1 - epsilon)) - bound

    if risk >= bound or above(_MOST_ROWS) > 0:
        return np.inf
    logarithm = brentq(lambda log_n: above(np.exp(log_n)), -20.0, np.log(_MOST_ROWS))
    return float(np.ceil(np.exp(logarithm)))


#: More rows than anyone has.
_MOST_ROWS = 1e12

CONFIDENCE = "confidence, ln(1 / epsilon)"


def _arms(share: float) -> str:
    return f"smaller of two bounds, ln(1 / {share:.3g})"


def unit_features(features: ArrayLike) -> np.ndarray:
    """Append a constant 1 to features (n, F) and scale each row to length 1: an array (n, F + 1)."""
    z = np.column_stack([np.asarray(features, dtype=np.float64), np.ones(len(features))])
    z /= np.abs(z).max(axis=1, keepdims=True)  # lengths would overflow before their squares do
    return z / np.linalg.norm(z, axis=1, keepdims=True)


@dataclass(frozen=True)
class VotePosterior:
    """Normal weights N(mean, I) on features of length 1, with the prior N(prior_mean, I), and errors on n rows.

    `mean` and the errors of several may be stacked, for `risks` alone.

    Attributes
    ----------
    mean, prior_mean : ndarray of shape (F,)
    margin_errors, tandem_errors : ndarray of shape (T,)
        The means of ``Phi(threshold - y mean . z)`` and of its square for each of `THRESHOLDS`.
    n : int
    epsilon : float
    choice : Choice
    margin : Margin, optional
        None stands for the least bound over `THRESHOLDS` at `epsilon`, by PAC-Bayes-kl.
    """

    mean: np.ndarray
    prior_mean: np.ndarray
    margin_errors: np.ndarray
    tandem_errors: np.ndarray
    n: int
    epsilon: float
    choice: Choice
    margin: Margin | None = None

    @classmethod
    def of_prior(cls, z: ArrayLike, signs: ArrayLike, prior_mean: ArrayLike, epsilon: float, margin: Margin) -> Self:
        """Certify the prior itself, for features z (n, F) of length 1 that do not depend on these rows."""
        errors = _margin_errors(z * signs[:, None], prior_mean)
        return cls(prior_mean, prior_mean, *errors, len(z), epsilon, Choice(), margin)

    def after_look(self, n_looks: int) -> Self:
        """Return the same where `n_looks` feature maps were looked at; the bound holds for all of these."""
        return replace(self, choice=self.choice._replace(n_choices=self.choice.n_choices * n_looks))

    @property
    def scale(self) -> Any:
        return np.linalg.norm(self.mean - self.prior_mean, axis=-1)

    @property
    def _terms(self) -> tuple:
        return self.choice.log_ratio, self.scale, self.n, self.epsilon, self.choice.n_choices * len(THRESHOLDS)

    @cached_property
    def vote_bounds(self) -> np.ndarray:
        """The bound on the vote for each of `THRESHOLDS`; all hold at once. With a `margin`, at its threshold."""
        scale = self.scale[..., None]
        return _vote_bounds(self.margin_errors, scale, self.n, self.epsilon, self.choice, self.margin)

    @property
    def bound(self) -> float:
        return float(self.vote_bounds.min())

    @property
    def threshold(self) -> float:
        """Of the margin error in `bound`."""
        return THRESHOLDS[int(self.vote_bounds.argmin())]

    @property
    def gibbs_bound(self) -> float:
        """It holds together with `vote_bounds`, or with a `margin` alone."""
        ratio, scale, n, epsilon, n_choices = self._terms
        n_choices = self.choice.n_choices if self.margin else n_choices
        return float(bounds.gibbs_classifier(self.margin_errors[0], ratio, scale, n, epsilon, n_choices))

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

    @property
    def _prices(self) -> dict[str, Any]:
        """Nats of the terms between the margin error and the vote, in the order of their addition."""
        choice, confidence, margin = self.choice, {CONFIDENCE: -np.log(self.epsilon)}, self.margin
        chosen = {f"choice of feature map, ln({choice.n_choices})": np.log(choice.n_choices)}
        if margin:
            share = margin.epsilon / self.epsilon
            rate = {f"rate fixed beforehand, {margin.rate:.3g}": 0.0}
            prices = rate | confidence | {_arms(share): -np.log(share)} | chosen
        else:
            sample = {"sample, ln(2 sqrt(n))": np.log(2 * np.sqrt(self.n))}
            threshold = {f"choice of threshold, ln({len(THRESHOLDS)})": np.log(len(THRESHOLDS))}
            prices = confidence | sample | chosen | threshold
        return prices | {choice.name: choice.log_ratio, "weights": self.scale**2 / 2}

    def risks(self) -> np.ndarray:
        """Return what each term of `ledger` adds, (.., terms)."""
        at = self.vote_bounds.argmin(axis=-1)[..., None]
        error = np.take_along_axis(self.margin_errors, at, axis=-1)[..., 0]
        spent, reached = 0.0, [np.zeros_like(error), error]
        for nats in self._prices.values():
            spent = spent + nats
            budget, margin = np.maximum(spent, 0.0) / self.n, self.margin
            after = bounds.catoni_mean(error, budget, margin.rate) if margin else bounds.largest_mean(error, budget)
            reached.append(after)
        return np.diff(np.stack([*reached, self.vote_bounds.min(axis=-1)], axis=-1))

    def ledger(self) -> tuple[CertificateTerm, ...]:
        """List the terms of `bound` in the order of their addition."""
        prices = self._prices
        names = "margin error on the rows", *prices, f"from margins to the vote, threshold {self.threshold:g}"
        nats = (0.0, *map(float, prices.values()), 0.0)
        return tuple(map(CertificateTerm, names, nats, self.risks().tolist()))


def _vote_bounds(errors, scale, n: int, epsilon: float, choice: Choice, margin: Margin | None) -> np.ndarray:
    """Bound the vote at margin errors (.., T) for each of `THRESHOLDS`; infinite where `margin` has another."""
    if margin is None:
        given = choice.log_ratio, scale, n, epsilon, choice.n_choices * len(THRESHOLDS)
        return bounds.majority_vote(errors, THRESHOLDS, *given)
    given = choice.log_ratio, scale, n, margin.epsilon, choice.n_choices, margin.rate
    return np.where(np.equal(THRESHOLDS, margin.threshold), bounds.majority_vote(errors, THRESHOLDS, *given), np.inf)


def learn_vote(
    z: ArrayLike,
    signs: ArrayLike,
    prior_mean: ArrayLike,
    epsilon: float,
    choice: Choice,
    margin: Margin | None = None,
) -> VotePosterior:
    """Return the tried posterior of least bound on the vote, for features z (n, F) of length 1, labels -1 and 1.

    Means minimise a convex surrogate of the margin error plus the divergence (Germain et al. 2009), over a path of
    costs. Points on the lines from the prior's mean through them are tried too.
    """
    aligned = z * signs[:, None]
    threshold = margin.threshold if margin else _SURROGATE_THRESHOLD
    path = least_surrogates(aligned, prior_mean, threshold, _SURROGATE_COSTS) - prior_mean
    along = np.multiply.outer(_STRETCHES, path).reshape(-1, len(prior_mean))
    steps = np.vstack([np.zeros_like(prior_mean), along])
    decisions = aligned @ (prior_mean + steps).T
    errors = np.stack([_nearly_ndtr(each - decisions).mean(axis=0) for each in THRESHOLDS], axis=-1)
    reached = _vote_bounds(errors, np.linalg.norm(steps, axis=1)[:, None], len(z), epsilon, choice, margin)
    mean = prior_mean + steps[int(reached.min(axis=1).argmin())]
    return VotePosterior(mean, prior_mean, *_margin_errors(aligned, mean), len(z), epsilon, choice, margin)


def _nearly_ndtr(x) -> np.ndarray:
    """Return Phi(x) to 2e-4, with which to choose: its means over rows are far nearer, and it is six times as fast."""
    cells = (np.clip(x, -_REACH, _REACH) + _REACH) * ((len(_PHI) - 1) / (2 * _REACH)) + 0.5
    return _PHI[cells.astype(np.intp)]


def _margin_errors(aligned, mean) -> tuple[np.ndarray, np.ndarray]:
    """Return means of ``Phi(threshold - aligned . mean)`` and of its square, (T,) each."""
    wrong = ndtr(np.array(THRESHOLDS)[:, None] - aligned @ mean)
    return wrong.mean(axis=1), np.square(wrong).mean(axis=1)


def least_surrogates(aligned, prior_mean, threshold: float, costs: ArrayLike) -> np.ndarray:
    """Minimise ``cost sum_i psi(u_i) + ||mean - prior_mean||^2 / 2``, u = aligned mean - threshold, for each cost.

    psi(u) is Phi(-u) for u >= 0 and its tangent at 0 for u < 0, so it is convex and at least Phi(-u). If it is curved
    at most rows, the search follows the principal axes of few features, scaled by their curvature: half the steps.
    """
    base = aligned @ prior_mean - threshold
    axes, squares, turned = None, np.zeros(len(prior_mean)), aligned
    if len(prior_mean) <= _MOST_TURNED and np.median(np.abs(base)) < _CURVED:
        squares, axes = np.linalg.eigh(aligned.T @ aligned)
        turned = aligned @ axes
    away, path = np.zeros(len(prior_mean)), []
    for cost in costs:
        scales = 1 / np.sqrt(1 + _CURVATURE * cost * np.maximum(squares, 0.0))

        def value(scaled, cost=cost, scales=scales):
            away = scales * scaled
            u = base + turned @ away
            positive = np.maximum(u, 0.0)
            psi = ndtr(-positive) - _PEAK * np.minimum(u, 0.0)
            slope = -_PEAK * np.exp(-(positive**2) / 2)
            return cost * psi.sum() + away @ away / 2, scales * (cost * (slope @ turned) + away)

        away = scales * minimize(value, away / scales, jac=True, method="L-BFGS-B", options=_NEAR_ENOUGH).x
        path.append(away)
    return prior_mean + (np.array(path) if axes is None else path @ axes.T)


class PriorChoice(NamedTuple):
    """C of the linear SVM that gives the prior's mean, its length, and the bound on the vote that it foresees."""

    C: float
    scale: float
    threshold: float
    rate: float
    """lambda of Catoni (2007), of the least bound"""
    bound: float


def learn_prior(
    features: ArrayLike, signs: ArrayLike, valid_features: ArrayLike, valid_signs: ArrayLike, n: int, epsilon: float
) -> PriorChoice:
    """Choose the C of a linear SVM, and length and threshold of its weights, by the bound that its vote would have.

    It is Catoni's at its best rate and a probability `epsilon`, on n rows that err by the margin as often as the
    validation rows do, for `THRESHOLDS`.
    """
    aligned = unit_features(valid_features) * valid_signs[:, None]
    directions = svm_weights(features, signs > 0, SVM_COSTS)
    directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
    margins = _PRIOR_SCALES * (aligned @ directions.T)[:, :, None]
    errors = np.stack([_nearly_ndtr(one - margins).mean(axis=0) for one in THRESHOLDS], axis=-1)  # (C, scale, T)
    foreseen = bounds.largest_mean(_smoothed(errors, len(aligned)), -np.log(epsilon) / n) / ndtr(THRESHOLDS)
    least = c, s, t = np.unravel_index(int(foreseen.argmin()), foreseen.shape)
    rate = catoni_rate(float(errors[least]), len(aligned), n, epsilon)
    return PriorChoice(float(SVM_COSTS[c]), float(_PRIOR_SCALES[s]), THRESHOLDS[t], rate, float(foreseen[least]))


def _smoothed(error: ArrayLike, n: int) -> FloatOrArray:
    """Return the error that n rows make likely: none on few rows is not none."""
    return (n * error + 0.5) / (n + 1)


def catoni_rate(error: float, n_valid: int, n: int, epsilon: float) -> float:
    """Return the rate of the least Catoni bound on n rows, if these err as often as `n_valid` others did."""
    q = _smoothed(error, n_valid)
    p = min(float(bounds.largest_mean(q, -np.log(epsilon) / n)), 1 - 1e-12)
    return float(np.clip(np.log(p / q) + np.log((1 - q) / (1 - p)), *_RATES))


def learn_rest(features: ArrayLike, codes: ArrayLike, n_classes: int, C_values: ArrayLike = SVM_COSTS) -> np.ndarray:
    """Learn weights of each class 0, 1, .. against the rest at each C, (n_C, n_classes, F + 1); intercept last."""
    return np.stack([svm_weights(features, np.equal(codes, k), C_values) for k in range(n_classes)], axis=1)


def svm_weights(features: ArrayLike, own: np.ndarray, C_values: ArrayLike) -> np.ndarray:
    """Learn weights (n_C, F + 1) that tell own rows from others; if there is one kind only, a constant that says so."""
    if own.any() and not own.all():
        return np.column_stack(linear_svm_path(features, np.where(own, 1.0, -1.0), C_values))
    weights = np.zeros((len(C_values), np.shape(features)[1] + 1))
    weights[:, -1] = 1.0 if own.any() else -1.0
    return weights
