"""Certified classifiers in the plane: the vote, the terms of its bound, errors against D, and rows that it would take.

See `CertifiedClassifier` for the bound, docs/theory.md for its proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from ..._hollow import copies_are_meant
from ..._typing import ArrayLike, RandomState
from ..._validation import as_rng, check_choice, check_count, draw_seed
from ...bounds import gibbs_classifier, test_set
from ...certificates import (
    TEST_SET_SHARE,
    THRESHOLDS,
    CertificateTerm,
    HeldOutErrors,
    VotePosterior,
    least_surrogates,
    unit_features,
)
from ...certified_classifier import CertifiedClassifier
from ...estimators import OptimizedKernelFeatures, PseudoPosteriorFeatures, RandomFourierFeatures
from ...kernels import SpectralKernel
from .plane import cell_centres, plane_points

METHODS = ("rff", "pbrff", "okrff")
_N_CANDIDATES = 1000
# Of the step to a stretch of 1 where no step pays for itself.
_NATS = 5.0


@dataclass(frozen=True)
class Certificate:
    """What a classifier promises, and what it does on fresh points."""

    terms: tuple[CertificateTerm, ...]
    """Their risks add up to `risk_bound`"""
    risk_bound: float
    gibbs_bound: float | None
    test_set_bound: float | None
    """For the prior's vote on the rows of the bound, on a line at its share of epsilon; None without prior rows"""
    n_bound: int
    """Rows of the bound"""
    majority_error: float
    """On them, of always saying the most frequent class; as in `CertifiedClassifier`"""
    epsilon: float
    threshold: float | None
    """Of the margin error"""
    test_error: float
    """Of the vote"""
    gibbs_error: float | None
    """Expected, of one random voter a point; an estimator has none"""
    arm: str = "posterior"
    """Or "test set", as in `CertifiedClassifier`"""
    n_errors: int | None = None
    """Of the prior's vote on the rows of the bound; None without prior rows"""


def rows_in_words(n_errors: int, n: int, epsilon: float, aim: float | None = None) -> str:
    """Say how many rows would certify a risk by counting errors; by default halfway from the error to its bound."""
    held_out = HeldOutErrors(n_errors, n, epsilon)
    if aim is None:
        aim = (n_errors / n + held_out.bound) / 2
    as_seen, fewest, most = map(_rows, held_out.rows_for(aim))
    return (
        f"To certify {100 * aim:.3g} % takes {as_seen} to count errors on, if the risk is the share that errs here, "
        f"{n_errors} of {n}. At the ends of its 95 % interval it takes {fewest} and {most.rstrip(',')}."
    )


def _rows(number: float) -> str:
    return f"{number:,.0f} rows" if np.isfinite(number) else "no number of rows, however large,"


@copies_are_meant()
def certified_classifier(
    X: ArrayLike,
    y: ArrayLike,
    kernel: SpectralKernel,
    method: str,
    n_components: int,
    beta: float = 10.0,
    tries: int = 1,
    prior_fraction: float = 0.5,
    epsilon: float = 0.05,
    random_state: RandomState = None,
) -> CertifiedClassifier:
    """Fit a classifier that bounds its own risk, the best of several draws of its frequencies.

    Parameters
    ----------
    kernel : SpectralKernel
        Of a fixed width.
    method : {"rff", "pbrff", "okrff"}
        "pbrff" has the inverse temperature `beta`; "okrff" takes the radius rho of its least bound.
    tries : int
        Draws to compare: on the prior's rows at no price, without such rows on the bound's rows.
    """
    rng = as_rng(random_state)
    features = _feature_map(method, kernel, n_components, beta, draw_seed(rng))
    model = CertifiedClassifier(features, prior_fraction, epsilon, draw_seed(rng), n_draws=check_count(tries, "tries"))
    # In float32 cosines of a few hundred points are as good and ten times as fast.
    return model.fit(np.asarray(X, np.float32), y)


def _feature_map(method: str, kernel: SpectralKernel, n_components: int, beta: float, seed: int | None) -> Any:
    check_choice(method, "method", METHODS)
    D = check_count(n_components, "n_components")
    if method == "rff":
        return RandomFourierFeatures(kernel, D, random_state=seed)
    if method == "pbrff":
        return PseudoPosteriorFeatures(kernel, D, _N_CANDIDATES, beta=beta, random_state=seed)
    return OptimizedKernelFeatures(kernel, D, _N_CANDIDATES, rho="bound", random_state=seed)


def certificate(model: CertifiedClassifier, X: ArrayLike, y: np.ndarray) -> Certificate:
    """Return the certificate of a fitted classifier, and its errors on fresh points X (n, d) with labels y (n,)."""
    wrong = model.predict(X) != y
    gibbs_error = None
    if model.estimator is None:
        gibbs_error = float(1 - model.vote_shares(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean())
    return Certificate(
        model.certificate_,
        model.risk_bound_,
        getattr(model, "gibbs_bound_", None),
        model.test_set_bound_,
        len(model.bound_rows_),
        model.majority_error_,
        model.epsilon,
        getattr(model, "threshold_", None),
        float(wrong.mean()),
        gibbs_error,
        model.arm_,
        model.n_errors_,
    )


@dataclass(frozen=True)
class CertifiedVote:
    """The vote of a posterior, the vote of its prior, and all votes on the line through both, by their margins.

    A stretch of 0 is the prior's vote, 1 the learned one. The bound is that of the classifier's arm "posterior", and
    holds for all of them at once. If nothing that the rows teach pays for itself, the learned vote is the prior's; the
    line then goes, a step of 5 nats long, towards a vote that errs less often on these rows.
    """

    model: CertifiedClassifier
    mean: np.ndarray
    """(F + 1,), the mean of the weights at a stretch of 1"""
    prior_margins: np.ndarray
    """(n_bound,), y v0 . z(x) on the rows of the bound, v0 the prior's mean"""
    step_margins: np.ndarray
    """(n_bound,), y (v - v0) . z(x)"""
    prior_test_margins: np.ndarray
    """(n_test,)"""
    step_test_margins: np.ndarray
    """(n_test,)"""
    prior_map: np.ndarray
    """(G, G), v0 . z(x) at the cells of the plane"""
    step_map: np.ndarray
    """(G, G)"""

    @property
    def pays(self) -> bool:
        """Whether the learned vote is another than the prior's."""
        return bool(self.model.posterior_.scale > 0)

    def posterior(self, stretch: ArrayLike = 1.0) -> VotePosterior:
        """Return the posterior at a stretch, or those at several, with the errors that `VotePosterior.risks` reads."""
        learned, stretch = self.model.posterior_, np.asarray(stretch)[..., None]
        decision = self.prior_margins + stretch.astype(np.float32) * self.step_margins  # as exact as the margins
        read = THRESHOLDS if learned.margin is None or stretch.ndim == 1 else (learned.margin.threshold,)
        wrong = [ndtr(each - decision) if each in read else np.ones_like(decision) for each in THRESHOLDS]
        return replace(
            learned,
            mean=learned.prior_mean + stretch * (self.mean - learned.prior_mean),
            margin_errors=np.stack([each.mean(axis=-1) for each in wrong], axis=-1),
            tandem_errors=np.stack([np.square(each).mean(axis=-1) for each in wrong], axis=-1),
        )

    def held_out(self, n_looks: int = 1) -> HeldOutErrors | None:
        """Return the errors of the prior's vote on the rows of the bound; None without prior rows."""
        n_errors, epsilon = self.model.n_errors_, self.model.epsilon / n_looks
        return None if n_errors is None else HeldOutErrors(n_errors, self.prior_margins.size, epsilon, TEST_SET_SHARE)

    def certificate(self, stretch: float = 1.0, n_looks: int = 1) -> Certificate:
        """Return what the vote at a stretch promises, and its errors on the test points.

        If its feature map was chosen after a look at `n_looks` maps, the bound holds for all of these.
        """
        model, held_out = self.model, self.held_out(n_looks)
        posterior = self.posterior(stretch).after_look(n_looks)
        test = self.prior_test_margins + stretch * self.step_test_margins
        return Certificate(
            posterior.ledger(),
            posterior.bound,
            posterior.gibbs_bound,
            held_out and held_out.bound,
            posterior.n,
            model.majority_error_,
            model.epsilon,
            posterior.threshold,
            float((test <= 0).mean()),
            float(ndtr(-test).mean()),
        )


def certified_vote(
    model: CertifiedClassifier,
    X: np.ndarray,
    y: np.ndarray,
    X_test: ArrayLike,
    y_test: np.ndarray,
    extent: float,
    cells: int = 61,
) -> CertifiedVote:
    """Return the margins of the posterior that the rows of the bound teach, and of its prior.

    X (n, 2) are the points that the model was fitted to, X_test fresh ones; their labels are -1 and 1.
    """
    rows, learned = model.bound_rows_, model.posterior_

    def unit(points):
        return unit_features(model.features_.transform(np.asarray(points, np.float32)))

    mean, prior = learned.mean, learned.prior_mean
    if learned.scale == 0:
        (best,) = least_surrogates(y[rows, None] * unit(X[rows]), prior, learned.threshold, (1.0,))
        step = best - prior
        mean = prior + np.sqrt(2 * _NATS) * step / max(np.linalg.norm(step), 1e-300)
    means = np.stack([prior, mean - prior], axis=1)

    def decisions(points):
        return (unit(points) @ means).T.astype(np.float32)

    on_plane = decisions(plane_points(cell_centres(extent, cells))).reshape(2, cells, cells)
    margins = (*(np.float32(y[rows]) * decisions(X[rows])), *(np.float32(y_test) * decisions(X_test)))
    return CertifiedVote(model, mean, *margins, *on_plane)


@dataclass(frozen=True)
class Peeking:
    """How often the best of several guesses is certified to be better than guessing, which it is not."""

    counts: np.ndarray
    """(K,), guesses that were looked at"""
    test_set: np.ndarray
    """(K,), by the test-set bound for a single classifier"""
    unpaid: np.ndarray
    """(K,), by the PAC-Bayes bound for a single classifier"""
    paid: np.ndarray
    """(K,), by the PAC-Bayes bound that pays ln(K)"""


def peeking(n: int, epsilon: float, counts: ArrayLike) -> Peeking:
    """Compute how often bounds fail if the best of K classifiers is kept; each errs with probability 1/2 on a row.

    Their errors on n rows are independent, so the probabilities are exact. The best one fails if any one does.
    `counts` are the values of K.
    """
    counts = np.asarray(counts)
    errors = np.arange(check_count(n, "n") + 1)

    def fails(bounds, k):
        chance = binom.pmf(errors, n, 0.5)[bounds < 0.5].sum()
        return -np.expm1(k * np.log1p(-min(chance, 1.0)))

    alone = gibbs_classifier(errors / n, 0.0, 0.0, n, epsilon)
    held_out = test_set(errors, n, epsilon)
    paid = [fails(gibbs_classifier(errors / n, 0.0, 0.0, n, epsilon, int(k)), k) for k in counts]
    return Peeking(counts, fails(held_out, counts), fails(alone, counts), np.array(paid))


@dataclass(frozen=True)
class CertifiedBlocks:
    """Blocks of points that test a classifier each and then teach the next, and the same points as a test set.

    The points of the other half teach the first classifier. The test set counts the errors of this one alone.
    """

    rows: np.ndarray
    """(n,), the points in their order: first points that teach only, then the blocks"""
    n_first: int
    """Points that teach only"""
    sizes: np.ndarray
    """(B,), points that are counted in each block; none after counting ends"""
    wrong: np.ndarray
    """(sum of sizes,), errors among them"""
    maps: np.ndarray
    """(B, G, G), what each block's classifier says at the cells of the plane, negative for the class -1"""
    counts: np.ndarray
    """(N,), numbers of counted points"""
    bounds: np.ndarray
    """(N,), the certified risk if counting had ended there"""
    ends: np.ndarray
    """(L, 2), for numbers of errors fixed on the first half: the points counted by then, and the bound"""
    risk_bound: float
    """The smallest of these bounds, on the mean risk of the blocks' classifiers"""
    majority_error: float
    """On the counted points, of always saying the class that is most frequent in the first half"""
    test_error: float
    """On fresh points, each classified by a random one of the blocks' classifiers"""
    test_set_bound: float
    test_set_error: float
    """Of the first classifier, on the fresh points"""
    n_bound: int
    """Points of the test set: all of the second half"""


_COUNTS = 300


@copies_are_meant()
def certified_blocks(
    X: ArrayLike,
    y: np.ndarray,
    X_test: ArrayLike,
    y_test: np.ndarray,
    extent: float,
    kernel: SpectralKernel,
    method: str,
    n_components: int,
    n_blocks: int,
    beta: float = 10.0,
    epsilon: float = 0.05,
    random_state: int = 0,
    cells: int = 61,
) -> CertifiedBlocks:
    """Certify ridge regression of the labels on features by progressive validation, and by a test set.

    The second half of the points makes `n_blocks`. `certified_vote` and `certified_classifier` explain the other
    arguments.
    """
    X = np.asarray(X, np.float32)
    X_test = np.asarray(X_test, np.float32)
    learner = make_pipeline(_feature_map(method, kernel, n_components, beta, None), RidgeClassifier())
    # The same seed gives both the same halves and the same first classifier.
    settings = {"epsilon": epsilon, "random_state": random_state, "estimator": learner}
    model = CertifiedClassifier(scheme="progressive", n_blocks=n_blocks, **settings).fit(X, y)
    held_out = CertifiedClassifier(**settings).fit(X, y)
    progress, n_counted = model.progress_, int(model.block_sizes_.sum())
    ends = [progress.ending_at(limit) for limit in progress.limits]
    counts = np.unique(np.append(np.linspace(1, n_counted, _COUNTS), np.cumsum(model.block_sizes_)).astype(int))
    plane = plane_points(cell_centres(extent, cells)).astype(np.float32)
    first = np.setdiff1d(np.arange(len(y)), progress.rows)
    return CertifiedBlocks(
        rows=np.append(first, progress.rows),
        n_first=len(first),
        sizes=model.block_sizes_,
        wrong=progress.wrong[:n_counted],
        maps=np.stack([one.decision_function(plane).reshape(cells, cells) for one in model.estimators_]),
        counts=counts,
        bounds=progress.bounds_after(counts),
        ends=np.array([[one.sizes.sum(), float(one.bound)] for one in ends]),
        risk_bound=model.risk_bound_,
        majority_error=model.majority_error_,
        test_error=float(np.mean(model.predict(X_test) != y_test)),
        test_set_bound=held_out.risk_bound_,
        test_set_error=float(np.mean(held_out.predict(X_test) != y_test)),
        n_bound=len(held_out.bound_rows_),
    )
