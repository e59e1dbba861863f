"""Every bound along a path of inverse temperatures, with the true risk that it bounds.

It combines the engine's losses, posteriors and bounds for one problem in the plane. The losses need the data and are
computed separately from the curves: a new epsilon or mu costs milliseconds, a new beta nothing. `coverage` simulates
how often a bound fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ... import bounds
from ..._typing import ArrayLike, RandomState
from ..._validation import (
    as_points,
    as_rng,
    check_choice,
    check_count,
    check_positive,
    check_probability,
    draw_seed,
)
from ...alignment import alignment_loss, alignment_sums, landmark_alignment_loss
from ...kernels import SpectralKernel
from ...landmarks import select_landmarks
from ...posteriors import kl_divergence, power_divergence, pseudo_posterior
from .coverage import landmark_failures

#: Bounds on the risk of the whole kernel that need no variances, by name.
KERNEL_BOUNDS = tuple(
    name
    for name, bound in bounds.ALIGNMENT_BOUNDS.items()
    if not bound.of_landmark and "variance" not in bound.arguments
)


@dataclass(frozen=True)
class CandidateRisks:
    """Empirical and true alignment losses of candidate frequencies, for a landmark and for the whole kernel."""

    n: int
    """Sample size of the empirical losses."""
    landmark: int
    """The training point that is the landmark."""
    landmark_loss: np.ndarray
    """(D,)"""
    landmark_risk: np.ndarray
    """(D,)"""
    kernel_loss: np.ndarray
    """(D,)"""
    kernel_risk: np.ndarray
    """(D,)"""


def candidate_risks(
    X: ArrayLike,
    y: ArrayLike,
    X_fresh: ArrayLike,
    y_fresh: ArrayLike,
    kernel: SpectralKernel,
    n_frequencies: int,
    random_state: RandomState = None,
) -> CandidateRisks:
    """Draw candidates from the prior and compute their losses on the sample and on fresh points.

    Many points X_fresh (m, d) that are not in the sample approximate the distribution; float32 suffices. The landmark
    is a random training point and shares the candidates with the whole kernel. A smaller D has the first candidates of
    a larger D.
    """
    X = as_points(X)
    rng = as_rng(random_state)
    choosing = draw_seed(rng)
    seed_of_frequencies = draw_seed(rng)
    landmark, label, index = select_landmarks(X, y, 1, "random", choosing)
    omega = kernel.sample_frequencies(check_count(n_frequencies, "n_frequencies"), X.shape[1], seed_of_frequencies)
    fresh = alignment_sums(X_fresh, y_fresh, omega)
    phases = omega @ landmark[0]
    similar = np.where(fresh.classes == label, 1, -1) @ (np.cos(phases) * fresh.cosines + np.sin(phases) * fresh.sines)
    return CandidateRisks(
        X.shape[0],
        int(index[0]),
        landmark_alignment_loss(X, y, landmark, label, omega, index)[0],
        (1 - similar / fresh.counts.sum()) / 2,
        alignment_loss(X, y, omega),
        fresh.loss(),
    )


@dataclass(frozen=True)
class PosteriorCurve:
    """The pseudo-posterior along the betas: its losses and its distances from the prior, (B,) each."""

    loss: np.ndarray
    """Empirical, <Q, L_S>."""
    risk: np.ndarray
    """True, <Q, L_D>."""
    kl: np.ndarray
    chi2: np.ndarray
    divergence: np.ndarray
    """D_mu."""


@dataclass(frozen=True)
class BoundCurve:
    """One bound along the betas, as the sum of its terms."""

    name: str
    """A function of `rff_engine.bounds`."""
    betas: np.ndarray
    """(B,)"""
    terms: Mapping[str, np.ndarray]
    """Terms of shape (B,): the terms of `bounds.KLTerms`, or "loss" and "rest" for a bound with no others."""
    n_landmarks: int = 1
    """How many landmarks it holds for at once"""

    @cached_property
    def values(self) -> np.ndarray:
        """The bound, (B,)."""
        return reduce(np.add, self.terms.values())

    @property
    def best(self) -> int:
        """Position of the smallest bound."""
        return int(np.argmin(self.values))

    @property
    def best_beta(self) -> float:
        return float(self.betas[self.best])

    @property
    def best_value(self) -> float:
        return float(self.values[self.best])

    def at(self, beta: float) -> float:
        """Return the bound at the beta of the path that is nearest to `beta` on a logarithmic scale."""
        return float(self.values[np.argmin(np.abs(np.log(self.betas / check_positive(beta, "beta"))))])

    def largest_parts(self) -> list[tuple[str, float, float]]:
        """Return the largest term apart from the loss along the path: (name, first beta, last beta) by section."""
        names = [name for name in self.terms if name != "loss"]
        largest = np.argmax([self.terms[name] for name in names], axis=0)
        starts = [0, *(np.flatnonzero(np.diff(largest)) + 1)]
        ends = [*starts[1:], len(largest)]
        return [
            (names[largest[a]], float(self.betas[a]), float(self.betas[b - 1]))
            for a, b in zip(starts, ends, strict=True)
        ]


@dataclass(frozen=True)
class BoundCurves:
    """All bounds of a problem along the betas."""

    betas: np.ndarray
    """(B,), increasing"""
    landmark: PosteriorCurve
    kernel: PosteriorCurve
    bounds: Mapping[str, BoundCurve]
    """By name: first `bounds.LANDMARK_BOUNDS`, then `KERNEL_BOUNDS`."""

    def posterior(self, name: str) -> PosteriorCurve:
        """Return the posterior curve whose risk the bound `name` bounds."""
        return self.landmark if name in bounds.LANDMARK_BOUNDS else self.kernel


def bound_curves(
    risks: CandidateRisks,
    betas: ArrayLike,
    epsilon: float,
    mu: float = 2.0,
    form: str = "corrected",
    pay_for_beta: bool = False,
    n_landmarks: int = 1,
) -> BoundCurves:
    """Compute bounds on the pseudo-posterior at every beta, with t = beta sqrt(n) (Letarte et al. 2019, Sections 4, 5).

    Parameters
    ----------
    betas : array of shape (B,)
        Increasing and above 0.
    epsilon : float
        Probability of failure.
    mu : float
        Of Theorem 4; above 1.
    form : {"corrected", "paper"}
        As in `rff_engine.bounds`. The PAC-Bayes-kl bounds have one form.
    pay_for_beta : bool
        Whether `bounds.KL_BOUNDS` hold at all betas at once, with epsilon / B for each (union bound), so that the best
        may be read off the curve. The others hold at all betas anyway.
    n_landmarks : int
        Number of landmarks that each of `bounds.LANDMARK_BOUNDS` covers at once (Section 4.2).
    """
    betas = np.asarray(betas, dtype=np.float64)
    if betas.ndim != 1 or len(betas) == 0 or not (betas > 0).all() or not (np.diff(betas) > 0).all():
        raise ValueError("betas must be increasing numbers above 0, in one dimension.")
    check_choice(form, "form", bounds.FORMS)
    guarantee = check_probability(epsilon, "epsilon"), mu, form, pay_for_beta, n_landmarks
    landmark, kernel = (_posterior_curve(risks, betas, mu, of_landmark) for of_landmark in (True, False))
    curves = {}
    for name in (*bounds.LANDMARK_BOUNDS, *KERNEL_BOUNDS):
        of_landmark = bounds.ALIGNMENT_BOUNDS[name].of_landmark
        posterior = vars(landmark if of_landmark else kernel)
        terms = bounds.ALIGNMENT_BOUNDS[name].terms(**_given(name, risks.n, betas, *guarantee), **posterior)
        curves[name] = BoundCurve(name, betas, terms, n_landmarks if of_landmark else 1)
    return BoundCurves(betas, landmark, kernel, curves)


#: Logarithms to base 10 of the numbers of points at the rows of a map.
MAP_LOG_COUNTS = tuple(1.3 + 0.05 * row for row in range(35))


def bound_map(
    risks: CandidateRisks, betas: ArrayLike, name: str, epsilon: float, mu: float, *guarantee: Any
) -> np.ndarray:
    """Compute a bound at `MAP_LOG_COUNTS` (rows) and betas (columns), with the same losses at each n.

    The last arguments are those of `bound_curves` after mu.
    """
    betas = np.asarray(betas)
    bound = bounds.ALIGNMENT_BOUNDS[name]
    loss = risks.landmark_loss if bound.of_landmark else risks.kernel_loss
    rows = []
    for n in (round(10**log_n) for log_n in MAP_LOG_COUNTS):
        Q = _posteriors(loss, betas, n)
        distances = {key: distance(Q, mu) for key, distance in _DISTANCES.items() if key in bound.arguments}
        rows.append(bound.value(loss=Q @ loss, **distances, **_given(name, n, betas, epsilon, mu, *guarantee)))
    return np.stack(rows)


@dataclass(frozen=True)
class LandmarkUnion:
    """What it costs to bound the losses of many landmarks at once, against their number."""

    counts: np.ndarray
    """(P,), numbers of landmarks n_L"""
    risk: float
    """True risk of one landmark's pseudo-posterior"""
    alone: float
    """Theorem 1 for this landmark alone, with ln(1 / epsilon)"""
    together: np.ndarray
    """(P,), Theorem 1 with ln(n_L / epsilon)"""
    inverse: np.ndarray
    """(P,), PAC-Bayes-kl with ln(n_L / epsilon)"""
    failures_alone: np.ndarray
    """(P,), probability that ln(1 / epsilon) fails for some landmark, see `coverage.landmark_failures`"""
    failures_together: np.ndarray
    """(P,), that ln(n_L / epsilon) does"""


def landmark_union(
    risks: CandidateRisks, beta: float, counts: Sequence[int], epsilon: float, form: str = "corrected"
) -> LandmarkUnion:
    """Bound n_L landmarks at once (Letarte et al. 2019, Section 4.2), with t = beta sqrt(n)."""
    n, t = risks.n, check_positive(beta, "beta") * np.sqrt(risks.n)
    Q = pseudo_posterior(risks.landmark_loss, beta, n)
    loss = float(Q @ risks.landmark_loss)
    kl = kl_divergence(Q)
    failures = [[landmark_failures(n, L, epsilon, form, pay) for L in counts] for pay in (False, True)]
    return LandmarkUnion(
        np.array(counts),
        float(Q @ risks.landmark_risk),
        float(bounds.landmark_kl(loss, kl, n, t, epsilon, form=form)),
        np.array([bounds.landmark_kl(loss, kl, n, t, epsilon, L, form) for L in counts]),
        np.array([bounds.landmark_kl_inverse(loss, kl, n, epsilon, L) for L in counts]),
        *map(np.array, failures),
    )


def _posterior_curve(risks: CandidateRisks, betas, mu: float, of_landmark: bool) -> PosteriorCurve:
    loss, risk = (risks.landmark_loss, risks.landmark_risk) if of_landmark else (risks.kernel_loss, risks.kernel_risk)
    Q = _posteriors(loss, betas, risks.n)
    distances = {key: np.asarray(distance(Q, mu)) for key, distance in _DISTANCES.items()}
    return PosteriorCurve(Q @ loss, Q @ risk, **distances)


def _posteriors(loss: np.ndarray, betas: np.ndarray, n: int) -> np.ndarray:
    """Return the pseudo-posterior at each beta, (B, D)."""
    return pseudo_posterior(np.multiply.outer(betas, loss - loss.min()), 1.0, n)


#: Distances of distributions (B, D) from the prior, by their names in bounds; the second argument is the order mu.
_DISTANCES: dict[str, Callable] = {
    "kl": lambda Q, _mu: kl_divergence(Q),
    "chi2": lambda Q, _mu: power_divergence(Q, 2.0),
    "divergence": power_divergence,
}


def _given(name, n, betas, epsilon, mu, form, pay_for_beta, n_landmarks) -> dict[str, Any]:
    """Return what a bound along the betas depends on, besides its posteriors."""
    share = epsilon / len(betas) if pay_for_beta and name in bounds.KL_BOUNDS else epsilon
    return {"n": n, "t": betas * np.sqrt(n), "mu": mu, "n_landmarks": n_landmarks, "form": form, "epsilon": share}
