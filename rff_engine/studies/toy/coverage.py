"""Simulated failure rates of the bounds: on many samples, each bound is compared with the true risk.

A bound may fail on a fraction epsilon of all samples. Two kinds of simulation: a single hypothesis that is 1
everywhere, on worst-case label distributions, and posteriors learned on two Gaussian classes, whose true losses are
known in closed form. How often a bound for one landmark fails for some of many has a closed form. The bounds themselves
are in `rff_engine.bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import binom, binomtest

from ... import bounds
from ..._typing import ArrayLike, RandomState
from ..._validation import (
    as_rng,
    check_choice,
    check_count,
    check_interval,
    check_positive,
    check_probability,
)
from ...alignment import loss_variance, mean_loss
from ...kernels import GaussianKernel
from ...posteriors import kl_divergence, power_divergence, pseudo_posterior

WORST_CASES = ("two_classes", "many_classes")
_DRAW_ENTRIES = 2**22  # phases in memory at once


@dataclass(frozen=True)
class BoundFailures:
    """A bound on many samples."""

    name: str
    """A function of `rff_engine.bounds`"""
    form: str
    """"paper" or "corrected\""""
    slack: np.ndarray
    """(n_draws,), true loss less bound; the bound fails where it is above 0"""

    @property
    def failures(self) -> int:
        # Losses are sums: if bound and risk are equal, rounding is not a failure.
        return int((self.slack > 1e-12).sum())

    @property
    def rate(self) -> float:
        """The fraction of samples on which the bound fails."""
        return self.failures / len(self.slack)

    def largest_rate(self, error: float) -> float:
        """Return Clopper and Pearson's upper limit of the probability of failure, wrong with probability `error`."""
        test = binomtest(self.failures, len(self.slack), alternative="less")
        return float(test.proportion_ci(1 - error, method="exact").high)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return Clopper and Pearson's interval for the probability of failure."""
        interval = binomtest(self.failures, len(self.slack)).proportion_ci(level, method="exact")
        return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class WorstCase:
    """Theorem 4 of Letarte et al. (2019) for the one hypothesis h = 1 on many samples."""

    case: str
    n: int
    mu: float
    epsilon: float
    true_loss: float | np.ndarray
    """The probability that two points differ in label; (n_draws,) of the samples, if they differ in it"""
    losses: np.ndarray
    """(n_draws,), the alignment loss of each sample"""
    printed_width: float
    """Bound less empirical loss, as printed"""
    corrected_width: float

    @cached_property
    def deviations(self) -> np.ndarray:
        """True loss less empirical loss, (n_draws,); a bound fails where its width is smaller."""
        return self.true_loss - self.losses

    @property
    def printed(self) -> BoundFailures:
        return BoundFailures("f_divergence", "paper", self.deviations - self.printed_width)

    @property
    def corrected(self) -> BoundFailures:
        return BoundFailures("f_divergence", "corrected", self.deviations - self.corrected_width)


def simulate_worst_case(
    case: str,
    n: int = 1000,
    mu: float = 5.0,
    epsilon: float = 0.05,
    n_draws: int = 20000,
    random_state: RandomState = None,
) -> WorstCase:
    """Simulate Theorem 4 of Letarte et al. (2019) in its worst cases: h = 1, so labels alone make the loss.

    The posterior is the prior and D_mu = 0, so both forms of the bound have a fixed width. A sample's loss is the
    fraction of its pairs that differ in label: a function of the size of its first class, which is binomial. In the
    case "two_classes" a class has probability (1 + sqrt(1/2)) / 2. In "many_classes" one has probability 3/4, and the
    others are so many and tiny that no two other points share a label.
    """
    check_choice(case, "case", WORST_CASES)
    n = check_count(n, "n", low=2)
    n_draws = check_count(n_draws, "n_draws")
    check_interval(mu, "mu", low=1)
    check_probability(epsilon, "epsilon")
    p = (1 + np.sqrt(0.5)) / 2 if case == "two_classes" else 0.75
    size = as_rng(random_state).binomial(n, p, size=n_draws)
    if case == "two_classes":
        true_loss, losses = 2 * p * (1 - p), 2 * size * (n - size) / (n * (n - 1))
    else:
        true_loss, losses = 1 - p**2, 1 - size * (size - 1) / (n * (n - 1))
    return WorstCase(case, n, mu, epsilon, float(true_loss), losses, *theorem_4_widths(n, mu, epsilon))


def theorem_4_widths(n: int, mu: float, epsilon: float) -> tuple[float, float]:
    """Return Theorem 4 less the empirical loss if the posterior is the prior, as printed and corrected."""
    printed, corrected = (float(bounds.f_divergence(0.0, 0.0, mu, n, epsilon, form)) for form in ("paper", "corrected"))
    return printed, corrected


def draw_promises(n_draws: int, random_state: RandomState = None) -> np.ndarray:
    """Draw uniform numbers in [0, 1) for `simulate_promises`, (n_draws, 2), float32; browsers draw the same."""
    return as_rng(random_state).random((check_count(n_draws, "n_draws"), 2)).astype(np.float32)


def simulate_promises(n: int, mu: float, epsilon: float, draws: np.ndarray) -> WorstCase:
    """Simulate Theorem 4 of Letarte et al. (2019) for h = 1 on samples of two classes, each with its true loss.

    A true loss 2 q (1 - q) is uniform in [0, 1/2). q is the probability of the rarer class, whose size is binomial. The
    true loss and the size of the rarer class are the quantiles at the `draws` (m, 2) of `draw_promises`.
    """
    n = check_count(n, "n", low=2)
    true_loss = np.asarray(draws, dtype=np.float64)[:, 0] / 2
    size = binom.ppf(np.asarray(draws, dtype=np.float64)[:, 1], n, _rarer(true_loss))
    losses = 2 * size * (n - size) / (n * (n - 1))
    return WorstCase("two_classes", n, mu, epsilon, true_loss, losses, *theorem_4_widths(n, mu, epsilon))


def promise_failures(true_loss: ArrayLike, n: int, width: float) -> np.ndarray:
    """Return the probability that loss and width of such a sample are below its true loss, in [0, 1/2] each."""
    true = np.atleast_1d(np.asarray(true_loss, dtype=np.float64))[:, None]
    size = np.arange(n + 1)
    fails = true - 2 * size * (n - size) / (n * (n - 1)) - width > 1e-12
    return (binom.pmf(size, n, _rarer(true)) * fails).sum(axis=1)


def _rarer(true_loss: np.ndarray) -> np.ndarray:
    """Return the probability q <= 1/2 with 2 q (1 - q) = true_loss, without cancellation near 0."""
    return true_loss / (1 + np.sqrt(1 - 2 * true_loss))


def landmark_failures(
    n: int, n_landmarks: int, epsilon: float = 0.05, form: str = "corrected", pay: bool = True
) -> float:
    """Return how often Theorem 1 of Letarte et al. (2019) fails for at least one of several landmarks: a hard case.

    Each landmark is a point of the sample and has its own hypothesis, of values -1 and 1. Coordinate l of a point is 0
    or 1, and hypothesis l has the frequency pi along it. Labels and coordinates are fair, independent coins. So a
    landmark's loss is the fraction of heads among its own n - 1 fair coins, and its expectation is 1/2. The bound uses
    the best t, which depends on no data. If it pays, the bound has ``ln(n_landmarks / epsilon)`` and holds for all
    landmarks at once, else ``ln(1 / epsilon)``, as for a single landmark.
    """
    n = check_count(n, "n", low=2)
    count = check_count(n_landmarks, "n_landmarks", high=n)
    epsilon = check_probability(epsilon, "epsilon")
    held = count if pay else 1
    unit = bounds.kl_terms("landmark_kl", 0.0, 0.0, n, 1.0, epsilon, held, form)
    t = np.sqrt(unit.confidence / unit.deviation)  # the terms are a t and b / t
    width = bounds.landmark_kl(0.0, 0.0, n, t, epsilon, held, form)
    fewest = np.ceil((n - 1) * (0.5 - width) - 1e-9)  # fewest heads with which the bound holds
    return float(-np.expm1(count * np.log1p(-binom.cdf(fewest - 1, n - 1, 0.5))))


@dataclass(frozen=True)
class TwoGaussians:
    """Two classes in the plane, x ~ N(y m, s^2 I) with y = 1 or -1, whose alignment losses are known."""

    mean: tuple[float, float] = (1.0, 0.0)
    """m"""
    scale: float = 1.0
    """s, above 0"""
    positive: float = 0.5
    """The probability of y = 1"""

    def __post_init__(self) -> None:
        check_positive(self.scale, "scale")
        check_probability(self.positive, "positive")

    def sample(
        self, shape: tuple[int, ...], rng: np.random.Generator | np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw points of shape (*shape, 2) and labels of that shape."""
        y = np.where(rng.random(shape) < self.positive, 1.0, -1.0)
        return y[..., None] * np.asarray(self.mean) + self.scale * rng.standard_normal((*shape, 2)), y

    def true_losses(self, omega: np.ndarray) -> np.ndarray:
        """Compute the expected alignment loss L_D of each frequency of `omega`, (D, 2): an array (D,).

        A class's characteristic function at omega is ``exp(i y omega.m - s^2 ||omega||^2 / 2)``; the expected cosine
        over two classes is the real part of a product of two.
        """
        p = self.positive
        damping = self._damping(omega)
        turn = 2 * omega @ np.asarray(self.mean)
        same = p**2 + (1 - p) ** 2 - 2 * p * (1 - p) * np.cos(turn)
        return (1 - damping**2 * same) / 2

    def true_landmark_losses(self, X: np.ndarray, y: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Compute expected losses (L, D) with one point of X (L, 2), y (L,) fixed (Letarte et al. 2019, Eq. 10)."""
        phase, turn = X @ omega.T, omega @ np.asarray(self.mean)
        difference = self.positive * np.cos(phase - turn) - (1 - self.positive) * np.cos(phase + turn)
        return (1 - y[:, None] * self._damping(omega) * difference) / 2

    def _damping(self, omega):
        return np.exp(-(self.scale**2) * (omega**2).sum(axis=1) / 2)


#: Distributions of pairs of classes, from no difference to no overlap.
PAIR_CASES = {
    "two classes": TwoGaussians(),
    "no difference": TwoGaussians(mean=(0.0, 0.0)),
    "far apart": TwoGaussians(mean=(1.5, 0.0), scale=0.3),
    "one point a class": TwoGaussians(mean=(0.7, 0.7), scale=1e-3),
    "one class in 20": TwoGaussians(positive=0.05),
    "four classes in 5, wide": TwoGaussians(mean=(0.5, -1.0), scale=2.0, positive=0.8),
}


def simulate_two_gaussians(
    n: int = 100,
    n_candidates: int = 20,
    beta: float = 1.0,
    mu: float = 2.0,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    gamma: float = 0.5,
    distribution: TwoGaussians | None = None,
    copies: int = 1,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """Simulate every bound on posteriors learned from fresh samples of two Gaussian classes.

    The candidate frequencies are drawn once, before any sample. Each sample gives the losses, the pseudo-posterior,
    the bounds on its expected loss and, in closed form, the true risk. The landmark bounds are for the first point of
    each sample. "every_landmark" is `bounds.landmark_kl_inverse` for all its points at once, at the worst point.

    Parameters
    ----------
    n_candidates : int
        Frequencies, from the Gaussian kernel of `gamma`.
    beta : float
        Inverse temperature, above 0; t = beta sqrt(n).
    mu : float
        Of the f-divergence bound; above 1.
    n_draws : int
        Number of samples.
    copies : int
        How often each point occurs, a part of n; above 1 the points are not independent, which the bounds assume.

    Returns
    -------
    list of BoundFailures
        Of `bounds.ALIGNMENT_BOUNDS` in all forms, then of every_landmark; one that has one form is "corrected". Below 4
        points empirical_bernstein is left out.
    """
    n = check_count(n, "n", low=2)
    n_draws = check_count(n_draws, "n_draws")
    n_candidates = check_count(n_candidates, "n_candidates")
    check_positive(beta, "beta")
    distinct = distinct_rows(n, copies)
    distribution = distribution or TwoGaussians()
    rng = as_rng(random_state)
    omega = GaussianKernel.from_gamma(gamma).sample_frequencies(n_candidates, 2, rng)
    at_once = max(1, _DRAW_ENTRIES // (n * n_candidates))
    slacks: dict[tuple[str, str], list] = {}
    for start in range(0, n_draws, at_once):
        X, y = distribution.sample((min(at_once, n_draws - start), distinct), rng)
        X = np.tile(X, (1, copies, 1))
        y = np.tile(y, copies)
        for key, slack in _slacks(distribution, X, y, omega, beta, mu, epsilon).items():
            slacks.setdefault(key, []).append(slack)
    return [BoundFailures(name, form, np.concatenate(parts)) for (name, form), parts in slacks.items()]


def distinct_rows(n: int, copies: int) -> int:
    """Return how many of n rows are distinct if each occurs `copies` times."""
    if n % check_count(copies, "copies", high=n):
        raise ValueError(f"copies is {copies}; a number that divides the {n} rows is needed.")
    return n // copies


def _slacks(distribution, X, y, omega, beta, mu, epsilon) -> dict[tuple[str, str], np.ndarray]:
    """Return true loss less bound for samples X (B, n, 2) and y (B, n): an array (B,) for each name and form."""
    n = y.shape[1]
    t = beta * np.sqrt(n)
    pair_losses, landmark_losses, variances = _losses(X, y, omega)
    Q, landmark_Q = (pseudo_posterior(losses, beta, n) for losses in (pair_losses, landmark_losses))
    loss = (Q * pair_losses).sum(axis=1)
    landmark_loss = (landmark_Q * landmark_losses).sum(axis=2)
    landmark_kl = np.asarray(kl_divergence(landmark_Q))
    kernel_truth = Q @ distribution.true_losses(omega)
    landmark_truth = distribution.true_landmark_losses(X.reshape(-1, 2), y.ravel(), omega).reshape(landmark_Q.shape)
    landmark_truth = (landmark_Q * landmark_truth).sum(axis=2)
    shared = {"n": n, "t": t, "mu": mu, "epsilon": epsilon}
    of_landmark = shared | {"loss": landmark_loss[:, 0], "kl": landmark_kl[:, 0]}
    of_kernel = shared | {"loss": loss, "kl": kl_divergence(Q), "variance": (Q * variances).sum(axis=1)}
    of_kernel |= {"divergence": power_divergence(Q, mu), "chi2": power_divergence(Q, 2.0)}
    slacks = {}
    for bound, form in _forms():
        if "variance" not in bound.arguments or n >= 4:
            truth, given = (landmark_truth[:, 0], of_landmark) if bound.of_landmark else (kernel_truth, of_kernel)
            slacks[bound.name, form] = truth - bound.value(form=form, **given)
    of_all = bounds.landmark_kl_inverse(landmark_loss, landmark_kl, n, epsilon, n)
    return slacks | {("every_landmark", "corrected"): (landmark_truth - of_all).max(axis=1)}


def _forms() -> list[tuple[bounds.AlignmentBound, str]]:
    """List all bounds on alignment losses in all forms; bounds of one form are last, under the name "corrected"."""
    every = bounds.ALIGNMENT_BOUNDS.values()
    with_forms = [(bound, form) for form in bounds.CHI_SQUARE_FORMS for bound in every if form in bound.forms]
    without = [(bound, "corrected") for bound in every if not bound.forms]
    return with_forms + sorted(without, key=lambda pair: pair[0].of_landmark)


def _losses(X, y, omega) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute losses (B, D) over all pairs, (B, n, D) over each point's pairs, and variances (B, D), of samples.

    `rff_engine.alignment_loss` and similar functions take one sample, of both classes.
    """
    n = y.shape[1]
    wave = np.exp(1j * (X @ omega.T))
    aligned = y[:, :, None] * wave
    total = aligned.sum(axis=1)
    with_one = (np.conj(aligned) * total[:, None]).real - 1
    of_all = mean_loss(with_one.sum(axis=1), n * (n - 1))
    return of_all, mean_loss(with_one, n - 1), loss_variance(wave, with_one)
