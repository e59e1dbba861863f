"""Simulated failure rates of the bounds on votes, of classifiers that look at the sample in every way that is paid for.

Points are uniform on a finite set, so the true risk is a finite sum, and many samples are computed at once from how
often each point of the set occurs. The bounds are in `rff_engine.bounds`, those on alignment losses in `coverage`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr

from ... import bounds
from ..._typing import RandomState
from ..._validation import as_rng, check_choice, check_count
from ...certificates import TEST_SET_SHARE, catoni_rate
from ...progressive import BlockErrors, error_limits, level_of
from .coverage import BoundFailures

#: Probabilities of y = 1 on the left and the right of a line; pure noise has a true risk of one half at any posterior.
CLASSIFIER_CASES = {
    "separable": (0.0, 1.0),
    "noise 10 %": (0.1, 0.9),
    "noise 30 %": (0.3, 0.7),
    "one-sided noise": (0.0, 0.5),
    "one class in 20": (0.05, 0.05),
    "pure noise": (0.5, 0.5),
}
_SUPPORT, _CANDIDATES = 512, 2000  # points and frequencies
_SCALES = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
_SIMILARITY_WIDTH = 0.1
_HELD_OUT_FEATURES = 50  # frequencies of the prior's vote
_DRAWS_AT_ONCE = 256


class _Samples(NamedTuple):
    """Many samples of n rows from the points of the set."""

    rows: np.ndarray
    """(B, n), which point each row is"""
    y: np.ndarray
    """(B, n), -1 or 1"""

    def signed(self) -> np.ndarray:
        """Rows with y = 1 less rows with y = -1 at each point, (B, S)."""
        samples = len(self.rows)
        at = (np.arange(samples)[:, None] * _SUPPORT + self.rows).ravel()
        return np.bincount(at, self.y.ravel(), samples * _SUPPORT).reshape(samples, _SUPPORT)

    def part(self, low: int, high: int) -> _Samples:
        """The rows from `low` to `high` of each sample."""
        return _Samples(self.rows[:, low:high], self.y[:, low:high])

    def without(self, columns: np.ndarray) -> _Samples:
        """The samples without some rows of each, (B, L)."""
        kept = np.ones(self.rows.shape, dtype=bool)
        np.put_along_axis(kept, columns, False, axis=1)
        return _Samples(self.rows[kept].reshape(len(kept), -1), self.y[kept].reshape(len(kept), -1))


def simulate_classifiers(
    case: str,
    n: int = 50,
    n_components: int = 5,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    threshold: float = 1.5,
    pay: bool = True,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """The bounds on Gibbs classifiers and on their votes, whose frequencies, weights and length look at the sample.

    Frequencies are the `n_components` of 2000 candidates whose cosines and sines agree best with the labels; each is
    drawn with certainty, at ln N nats. The weights are the mean of the features times labels, at the length for which
    a bound is smallest.

    Parameters
    ----------
    case : str
        One of `CLASSIFIER_CASES`.
    n : int
        Sample size.
    epsilon : float
        The probability of failure that each bound allows.
    n_draws : int
        Number of samples.
    threshold : float
        Of the margins of `majority_vote` and `tandem`.
    pay : bool
        Whether the bounds pay for the choice of the frequencies, D ln N; without it, the learner peeks.

    Returns
    -------
    list of BoundFailures
        Of gibbs_classifier, majority_vote, tandem and c_bound.
    """
    n = check_count(n, "n")
    D = check_count(n_components, "n_components", high=_CANDIDATES)
    rng = as_rng(random_state)
    support = rng.uniform(-1, 1, (_SUPPORT, 2))
    angle = support @ rng.normal(scale=30.0, size=(_CANDIDATES, 2)).T
    waves = np.stack([np.cos(angle), np.sin(angle)])  # (2, support, N)
    log_ratio = D * np.log(_CANDIDATES) if pay else 0.0

    def slacks(samples: _Samples, chances):
        signed = samples.signed()
        agreement = ((signed @ waves) ** 2).sum(axis=0)  # (B, N)
        best = np.argpartition(-agreement, D - 1)[:, :D]
        z = np.concatenate(waves[:, :, best], axis=2).transpose(1, 0, 2) / np.sqrt(D)  # (B, support, 2 D)
        return _slacks(_decision(z, signed), samples, chances, log_ratio, epsilon, threshold)

    return _simulated(case, support, n, n_draws, rng, slacks)


def simulate_landmark_classifiers(
    case: str,
    n: int = 50,
    n_landmarks: int = 3,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    threshold: float = 1.5,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """The bounds on votes over similarities to landmarks that are chosen from the sample, which then leave it.

    Landmarks are the rows in whose neighbourhood the labels agree best, chosen with a look at all labels, at the
    logarithm of the number of sets of landmarks in nats.

    Parameters
    ----------
    case, n, epsilon, n_draws, threshold, random_state
        As in `simulate_classifiers`.
    n_landmarks : int
        Less than `n`.

    Returns
    -------
    list of BoundFailures
        Of gibbs_classifier, majority_vote, tandem and c_bound.
    """
    n = check_count(n, "n", low=2)
    L = check_count(n_landmarks, "n_landmarks", high=n - 1)
    rng = as_rng(random_state)
    support = rng.uniform(-1, 1, (_SUPPORT, 2))
    squares = ((support[:, None] - support) ** 2).sum(axis=2)
    similarity = np.exp(-squares / (2 * _SIMILARITY_WIDTH**2))
    log_ratio = float(gammaln(n + 1) - gammaln(L + 1) - gammaln(n - L + 1))

    def slacks(samples: _Samples, chances):
        agreement = np.abs(samples.signed() @ similarity)
        chosen = np.argpartition(-np.take_along_axis(agreement, samples.rows, axis=1), L - 1)[:, :L]
        z = similarity[:, np.take_along_axis(samples.rows, chosen, axis=1)].transpose(1, 0, 2)
        z = np.concatenate([z, np.ones((*z.shape[:2], 1))], axis=2)
        z /= np.linalg.norm(z, axis=2, keepdims=True)
        others = samples.without(chosen)
        return _slacks(_decision(z, others.signed()), others, chances, log_ratio, epsilon, threshold)

    return _simulated(case, support, n, n_draws, rng, slacks)


def simulate_smaller_of_two(
    case: str,
    n: int = 50,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    threshold: float = 1.5,
    repeated: bool = False,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """The smaller bound of a test set and of a posterior, for the vote that it is about.

    The prior's weights are the mean of 100 features times labels on n rows of its own, whose margin errors also set
    the rate. The posterior moves them along the same mean of the other n rows, by the step for which its bound is
    smallest. What counts is the risk of the vote whose bound is taken.

    Parameters
    ----------
    case, n, epsilon, n_draws, threshold, random_state
        As in `simulate_classifiers`.
    repeated : bool
        Whether the rows of the bound are copies of the prior's, which breaks the assumption of independent rows.

    Returns
    -------
    list of BoundFailures
        Of smaller_of_two.
    """
    n = check_count(n, "n")
    rng = as_rng(random_state)
    support = rng.uniform(-1, 1, (_SUPPORT, 2))
    angle = support @ rng.normal(scale=30.0, size=(_HELD_OUT_FEATURES, 2)).T
    z = np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / np.sqrt(_HELD_OUT_FEATURES)
    length = _SCALES.max()

    def slacks(samples: _Samples, chances):
        seen = samples.part(0, n)
        kept = seen if repeated else samples.part(n, 2 * n)
        prior, step = (_unit_rows(half.signed() @ z) @ z.T for half in (seen, kept))
        fitted = ndtr(threshold - length * _margins(prior, seen)).mean(axis=1)
        share = (1 - TEST_SET_SHARE) * epsilon
        errors = ndtr(threshold - length * _margins(prior, kept) - np.multiply.outer(_SCALES, _margins(step, kept)))
        errors = errors.mean(axis=2).T  # (B, scales)
        learned = np.empty(errors.shape)
        for error in np.unique(fitted.round(1)):
            same = fitted.round(1) == error
            rate = catoni_rate(error, n, n, share)
            learned[same] = bounds.majority_vote(errors[same], threshold, 0.0, _SCALES, n, share, rate=rate)
        best = learned.argmin(axis=1)
        held_out = bounds.test_set((_margins(prior, kept) <= 0).sum(axis=1), n, TEST_SET_SHARE * epsilon)
        moved = (learned.min(axis=1) < held_out)[:, None]
        decision = np.where(moved, length * prior + _SCALES[best][:, None] * step, prior)
        risk = np.where(decision > 0, 1 - chances, chances).mean(axis=1)
        return {"smaller_of_two": risk - np.minimum(held_out, learned.min(axis=1))}

    return _simulated(case, support, 2 * n, n_draws, rng, slacks)


def simulate_progressive(
    case: str,
    n: int = 50,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    n_blocks: int = 5,
    repeated: bool = False,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """Progressive validation on n rows in blocks, after n others: the bound on the mean risk of their classifiers.

    A classifier is the mean of 100 features times labels on all rows before its block. A second learner knows the
    distribution and watches its luck: it errs as little as anyone can once there were fewer errors than the risks so
    far foresaw, and as often as anyone can after more.

    Parameters
    ----------
    case, n, epsilon, n_draws, random_state
        As in `simulate_classifiers`.
    n_blocks : int
        At most n.
    repeated : bool
        Whether the rows of the blocks are copies of the first ones, which breaks the assumption of independent rows.

    Returns
    -------
    list of BoundFailures
        Of progressive and progressive_watching.
    """
    n = check_count(n, "n", low=2)
    starts = np.linspace(0, n, check_count(n_blocks, "n_blocks", high=n), endpoint=False).astype(int)
    rng = as_rng(random_state)
    support = rng.uniform(-1, 1, (_SUPPORT, 2))
    angle = support @ rng.normal(scale=30.0, size=(_HELD_OUT_FEATURES, 2)).T
    z = np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / np.sqrt(_HELD_OUT_FEATURES)

    def learned(seen: _Samples, _=None):
        return _unit_rows(seen.signed() @ z) @ z.T

    def slacks(samples: _Samples, chances):
        first = samples.part(0, n)
        rows = _Samples(np.tile(first.rows, 2), np.tile(first.y, 2)) if repeated else samples
        foreseen = (_margins(learned(samples.part(0, n // 2)), samples.part(n // 2, n)) <= 0).sum(axis=1)
        best = np.where(chances > 0.5, 1.0, -1.0)

        def watching(_, luck):
            return np.where(luck >= 0, 1.0, -1.0)[:, None] * best

        learners = {"progressive": learned, "progressive_watching": watching}
        given = chances, starts, foreseen, epsilon, rng
        return {name: _mean_risk(rows, learner, *given) for name, learner in learners.items()}

    return _simulated(case, support, 2 * n, n_draws, rng, slacks)


def _mean_risk(samples: _Samples, learner, chances, starts, foreseen, epsilon: float, rng) -> np.ndarray:
    """The mean risk of the blocks' classifiers less its bound, (B,); learners see rows and their luck so far."""
    n = samples.rows.shape[1] // 2
    wrong = np.zeros((len(samples.rows), n), dtype=bool)
    risks = np.zeros((len(wrong), len(starts)))
    expected = np.zeros(len(wrong))
    for block, (low, high) in enumerate(zip(starts, [*starts[1:], n], strict=True)):
        decision = learner(samples.part(0, n + low), expected - wrong.sum(axis=1))
        wrong[:, low:high] = _margins(decision, samples.part(n + low, n + high)) <= 0
        risks[:, block] = np.where(decision > 0, 1 - chances, chances).mean(axis=1)
        expected += (high - low) * risks[:, block]
    limits, levels = np.swapaxes([_limits(int(count), n - n // 2, n, epsilon) for count in foreseen], 0, 1)
    tried = BlockErrors.up_to(limits, levels, epsilon, wrong[:, None], rng.random((len(wrong), 1, n)), starts)
    true = (tried.sizes * risks[:, None]).sum(axis=2) / tried.sizes.sum(axis=2)
    reached = tried.bound
    best = reached.argmin(axis=1)[:, None]
    return np.take_along_axis(true - reached, best, axis=1)[:, 0]


def _limits(foreseen: int, n_first: int, n: int, epsilon: float) -> np.ndarray:
    """Numbers of errors to end at, and the level at which all hold, (2, 4); the last may be repeated."""
    limits = error_limits(foreseen, n_first, n)
    return np.array([[*limits, *limits[-1:] * (4 - len(limits))], [level_of(limits, epsilon)] * 4])


def _margins(decision, samples: _Samples) -> np.ndarray:
    """y times the decision value (B, S) at each row of the samples, (B, n)."""
    return samples.y * np.take_along_axis(decision, samples.rows, axis=1)


def _simulated(case: str, support, n: int, n_draws: int, rng, slacks) -> list[BoundFailures]:
    """Slacks of many samples, some at a time."""
    check_choice(case, "case", tuple(CLASSIFIER_CASES))
    n_draws = check_count(n_draws, "n_draws")
    chances = np.where(support[:, 0] > 0, *CLASSIFIER_CASES[case][::-1])
    parts: dict[str, list] = {}
    for start in range(0, n_draws, _DRAWS_AT_ONCE):
        B = min(_DRAWS_AT_ONCE, n_draws - start)
        rows = rng.integers(_SUPPORT, size=(B, n))
        y = np.where(rng.random((B, n)) < chances[rows], 1, -1)
        for name, slack in slacks(_Samples(rows, y), chances).items():
            parts.setdefault(name, []).append(slack)
    return [BoundFailures(name, "corrected", np.concatenate(slack)) for name, slack in parts.items()]


def _decision(z, signed) -> np.ndarray:
    """Decision values (B, S) of the mean of features z (B, S, F) times labels, scaled to length 1."""
    return np.einsum("bsf,bf->bs", z, _unit_rows(np.einsum("bs,bsf->bf", signed, z)))


def _unit_rows(means) -> np.ndarray:
    return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)


def _slacks(decision, samples: _Samples, chances, log_ratio, epsilon, threshold) -> dict[str, np.ndarray]:
    """True risk less the smallest bound over `_SCALES`, which one event gives for all of them, (B,) each."""
    given = log_ratio, _SCALES[:, None], samples.rows.shape[1], epsilon
    margins = np.multiply.outer(_SCALES, _margins(decision, samples))
    wrong = ndtr(-margins)
    wrong_by_margin = ndtr(threshold - margins)
    errors = wrong.mean(axis=2)
    disagreement = (2 * wrong * (1 - wrong)).mean(axis=2)
    gibbs = bounds.gibbs_classifier(errors, *given)
    least = {
        "majority_vote": bounds.majority_vote(wrong_by_margin.mean(axis=2), threshold, *given).min(axis=0),
        "tandem": bounds.tandem((wrong_by_margin**2).mean(axis=2), threshold, *given).min(axis=0),
        "c_bound": bounds.c_bound(errors, disagreement, *given).min(axis=0),
    }
    best = gibbs.argmin(axis=0)
    share = ndtr(_SCALES[best][:, None] * decision)
    gibbs_risk = (chances * (1 - share) + (1 - chances) * share).mean(axis=1)
    vote_risk = np.where(decision > 0, 1 - chances, chances).mean(axis=1)
    return {"gibbs_classifier": gibbs_risk - gibbs.min(axis=0)} | {name: vote_risk - one for name, one in least.items()}
