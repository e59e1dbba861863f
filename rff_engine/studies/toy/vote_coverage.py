"""Simulated failure rates of the bounds on votes, of classifiers that look at the sample in every way that is paid for.

Points are uniform on a finite set, so the true risk is a finite sum, and many samples are computed at once from how
often each point of the set occurs. The bounds are in `rff_engine.bounds`, those on alignment losses in `coverage`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ... import bounds
from ..._typing import RandomState
from ..._validation import as_rng, check_choice, check_count, draw_seed
from ...certificates import TEST_SET_SHARE, catoni_rate
from ...estimators import RandomFourierFeatures
from ...progressive import BlockErrors, error_limits, level_of
from .coverage import BoundFailures, distinct_rows

#: Probabilities of y = 1 left and right of a line. Pure noise has a true risk of one half at any posterior.
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
_LEARNED_FREQUENCIES = 10  # and of one whose kernel is learned
_DRAWS_AT_ONCE = 256
_THRESHOLD = 1.5  # of the margins of `majority_vote` and `tandem`


class _Samples(NamedTuple):
    """Many samples of n rows from the points of the set."""

    rows: np.ndarray
    """(B, n), which point each row is"""
    y: np.ndarray
    """(B, n), -1 or 1"""

    def signed(self) -> np.ndarray:
        """Count rows with y = 1 less rows with y = -1 at each point, (B, S)."""
        samples = len(self.rows)
        at = (np.arange(samples)[:, None] * _SUPPORT + self.rows).ravel()
        return np.bincount(at, self.y.ravel(), samples * _SUPPORT).reshape(samples, _SUPPORT)

    def part(self, low: int, high: int) -> _Samples:
        """Return the rows from `low` to `high` of each sample."""
        return _Samples(self.rows[:, low:high], self.y[:, low:high])

    def without(self, columns: np.ndarray) -> _Samples:
        """Return the samples without some rows of each, (B, L)."""
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
    pay: bool = True,
    copies: int = 1,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """Simulate the bounds on Gibbs classifiers and their votes; frequencies, weights and length look at the sample.

    Frequencies are the `n_components` of 2000 candidates whose cosines and sines agree best with the labels. Each is
    drawn with certainty, at ln N nats. The weights are the mean of the features times labels, at the length of the
    smallest bound.

    Parameters
    ----------
    case : str
        One of `CLASSIFIER_CASES`.
    n_draws : int
        Number of samples.
    pay : bool
        Whether the bounds pay for the choice of the frequencies, D ln N; without it, the learner peeks.
    copies : int
        How often each row occurs; above 1 the rows are not independent, which the bounds assume.
    """
    n = check_count(n, "n")
    D = check_count(n_components, "n_components", high=_CANDIDATES)
    rng = as_rng(random_state)
    support, waves = _support_and_waves(rng, _CANDIDATES)
    log_ratio = D * np.log(_CANDIDATES) if pay else 0.0

    def slacks(samples: _Samples, chances):
        signed = samples.signed()
        agreement = ((signed @ waves) ** 2).sum(axis=0)  # (B, N)
        best = np.argpartition(-agreement, D - 1)[:, :D]
        z = np.concatenate(waves[:, :, best], axis=2).transpose(1, 0, 2) / np.sqrt(D)  # (B, support, 2 D)
        return _slacks(_decision(z, signed), samples, chances, log_ratio, epsilon)

    return _simulated(case, support, n, copies, n_draws, rng, slacks)


def simulate_landmark_classifiers(
    case: str,
    n: int = 50,
    n_landmarks: int = 3,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    copies: int = 1,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """Simulate the bounds on votes over similarities to landmarks from the sample, which then leave it.

    Landmarks are the rows whose neighbours' labels agree best. All labels are seen, so the bound pays the logarithm of
    the number of sets of landmarks, in nats. Arguments are as in `simulate_classifiers`.
    """
    n = check_count(n, "n", low=2)
    L = check_count(n_landmarks, "n_landmarks", high=n - 1)
    rng = as_rng(random_state)
    support = rng.uniform(-1, 1, (_SUPPORT, 2))
    squares = ((support[:, None] - support) ** 2).sum(axis=2)
    similarity = np.exp(-squares / (2 * _SIMILARITY_WIDTH**2))
    log_ratio = math.log(math.comb(n, L))

    def slacks(samples: _Samples, chances):
        agreement = np.abs(samples.signed() @ similarity)
        chosen = np.argpartition(-np.take_along_axis(agreement, samples.rows, axis=1), L - 1)[:, :L]
        z = similarity[:, np.take_along_axis(samples.rows, chosen, axis=1)].transpose(1, 0, 2)
        z = np.concatenate([z, np.ones((*z.shape[:2], 1))], axis=2)
        z /= np.linalg.norm(z, axis=2, keepdims=True)
        others = samples.without(chosen)
        return _slacks(_decision(z, others.signed()), others, chances, log_ratio, epsilon)

    return _simulated(case, support, n, copies, n_draws, rng, slacks)


def simulate_held_out(
    case: str,
    n: int = 50,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    learn_kernel: bool = False,
    copies: int = 1,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """Simulate the bounds on n rows after the prior's n: of its vote, of posteriors, and of the smaller of both.

    The prior's weights are the mean of 100 features times labels on the first rows, whose margin errors also set the
    rate. With `learn_kernel` there are 20 features, of the kernel "learned" by the first rows. The posterior moves the
    weights along the same mean of the other rows. If the smaller of two bounds is taken, the step is best for the bound
    of the vote; alone, a bound is simulated at its worst step. The groups are the quarters of the plane, and the worst
    one counts. Arguments are as in `simulate_classifiers`; each of the 2 n rows has as many copies, some of them among
    the first.
    """
    n = check_count(n, "n")
    rng = as_rng(random_state)
    support, z = _held_out_features(rng)
    quarter = (support > 0) @ [1, 2]
    length = _SCALES.max()

    def slacks(samples: _Samples, chances):
        seen = samples.part(0, n)
        kept = samples.part(n, 2 * n)
        if learn_kernel:
            own = np.stack([_learned_features(support, *one, draw_seed(rng)) for one in zip(*seen, strict=True)])
            prior, step = (_decision(own, half.signed()) for half in (seen, kept))
        else:
            prior, step = (_unit_rows(half.signed() @ z) @ z.T for half in (seen, kept))
        fitted = ndtr(_THRESHOLD - length * _margins(prior, seen)).mean(axis=1)
        errors = ndtr(_THRESHOLD - length * _margins(prior, kept) - np.multiply.outer(_SCALES, _margins(step, kept)))
        errors = errors.mean(axis=2).T  # (B, scales)

        def learned(share: float) -> np.ndarray:
            reached = np.empty(errors.shape)
            for error in np.unique(fitted.round(1)):
                same = fitted.round(1) == error
                rate = catoni_rate(error, n, n, share)
                reached[same] = bounds.majority_vote(errors[same], _THRESHOLD, 0.0, _SCALES, n, share, rate=rate)
            return reached

        one_of_two = learned((1 - TEST_SET_SHARE) * epsilon)
        wrong = _margins(prior, kept) <= 0
        held_out = bounds.test_set(wrong.sum(axis=1), n, TEST_SET_SHARE * epsilon)
        least = one_of_two.min(axis=1)
        decisions = length * prior[:, None] + _SCALES[:, None] * step[:, None]
        chance = np.where(decisions > 0, 1 - chances, chances)  # (B, scales, S)
        risks = chance.mean(axis=2)
        taken = np.where(least < held_out, one_of_two.argmin(axis=1), 0)[:, None]
        return {
            "smaller_of_two": np.take_along_axis(risks, taken, axis=1)[:, 0] - np.minimum(held_out, least),
            "test_set": risks[:, 0] - bounds.test_set(wrong.sum(axis=1), n, epsilon),
            "majority_vote, rate": (risks - learned(epsilon)).max(axis=1),
            "groups": _worst_group(chance[:, 0], wrong, quarter, kept, epsilon),
        }

    return _simulated(case, support, 2 * n, copies, n_draws, rng, slacks)


def _learned_features(support, rows, y, seed: int) -> np.ndarray:
    """Return features (S, F) of length 1 at all points, of the kernel that is learned on rows (n,) with labels y."""
    features = RandomFourierFeatures("learned", _LEARNED_FREQUENCIES, random_state=seed)
    return features._fit_points(support[rows], y)._map(support)


def _worst_group(chance, wrong, group, samples: _Samples, epsilon: float) -> np.ndarray:
    """Return the largest risk of a group of points (S,) less its bound, (B,): errors (B, n), chances (B, S)."""
    slacks = []
    for g in np.unique(group):
        inside = group[samples.rows] == g
        sizes = inside.sum(axis=1)
        bound = np.ones(len(sizes))
        for size in np.unique(sizes[sizes > 0]):
            same = sizes == size
            errors = (inside & wrong)[same].sum(axis=1)
            bound[same] = bounds.test_set(errors, int(size), epsilon / len(np.unique(group)))
        slacks.append(chance[:, group == g].mean(axis=1) - bound)
    return np.max(slacks, axis=0)


def simulate_progressive(
    case: str,
    n: int = 50,
    epsilon: float = 0.05,
    n_draws: int = 2000,
    *,
    n_blocks: int = 5,
    copies: int = 1,
    random_state: RandomState = None,
) -> list[BoundFailures]:
    """Simulate progressive validation on n rows in blocks, after n others: bounds on the classifiers' mean risk.

    A classifier is the mean of 100 features times labels on all rows before its block. A second learner knows the
    distribution and watches its luck. It errs as seldom as possible after fewer errors than the risks so far predict,
    and as often as possible after more. Each learner also has the bound with a rate of 1 on all blocks.
    """
    n = check_count(n, "n", low=2)
    starts = np.linspace(0, n, check_count(n_blocks, "n_blocks", high=n), endpoint=False).astype(int)
    rng = as_rng(random_state)
    support, z = _held_out_features(rng)

    def learned(seen: _Samples, _=None):
        return _unit_rows(seen.signed() @ z) @ z.T

    def slacks(samples: _Samples, chances):
        foreseen = (_margins(learned(samples.part(0, n // 2)), samples.part(n // 2, n)) <= 0).sum(axis=1)
        best = np.where(chances > 0.5, 1.0, -1.0)

        def watching(_, luck):
            return np.where(luck >= 0, 1.0, -1.0)[:, None] * best

        learners = {"progressive": learned, "progressive_watching": watching}
        given = chances, starts, foreseen, epsilon, rng
        by_learner = {name: _mean_risk(samples, learner, *given) for name, learner in learners.items()}
        with_rate = {f"{name}, rate": slack for name, (_, slack) in by_learner.items()}
        return {name: slack for name, (slack, _) in by_learner.items()} | with_rate

    return _simulated(case, support, 2 * n, copies, n_draws, rng, slacks)


def _held_out_features(rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw points of the set (S, 2) and features of length 1 (S, F)."""
    support, waves = _support_and_waves(rng, _HELD_OUT_FEATURES)
    return support, np.concatenate(waves, axis=1) / np.sqrt(_HELD_OUT_FEATURES)


def _support_and_waves(rng, n_frequencies: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw points of the set (S, 2), and cosines and sines of random frequencies at them, (2, S, N)."""
    support = rng.uniform(-1, 1, (_SUPPORT, 2))
    angle = support @ rng.normal(scale=30.0, size=(n_frequencies, 2)).T
    return support, np.stack([np.cos(angle), np.sin(angle)])


def _mean_risk(samples: _Samples, learner, chances, starts, foreseen, epsilon: float, rng) -> tuple:
    """Return the mean risk of the blocks' classifiers less its bounds by errors and by a rate, (B,) each.

    Learners see the rows and their luck so far.
    """
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
    with_rate = bounds.catoni_mean(wrong.mean(axis=1), -np.log(epsilon) / n, 1.0)
    return np.take_along_axis(true - reached, best, axis=1)[:, 0], expected / n - with_rate


def _limits(foreseen: int, n_first: int, n: int, epsilon: float) -> np.ndarray:
    """Return numbers of errors to end at, and the level at which all hold, (2, 4); the last may repeat."""
    limits = error_limits(foreseen, n_first, n)
    return np.array([[*limits, *limits[-1:] * (4 - len(limits))], [level_of(limits, epsilon)] * 4])


def _margins(decision, samples: _Samples) -> np.ndarray:
    """Return y times the decision values (B, S) or (B, K, S) at each row of the samples, (B, n) or (B, K, n)."""
    rows, y = (part if decision.ndim == 2 else part[:, None] for part in samples)
    return y * np.take_along_axis(decision, rows, axis=-1)


def _simulated(case: str, support, n: int, copies: int, n_draws: int, rng, slacks) -> list[BoundFailures]:
    """Simulate slacks of many samples, some at a time."""
    distinct = distinct_rows(n, copies)
    check_choice(case, "case", tuple(CLASSIFIER_CASES))
    n_draws = check_count(n_draws, "n_draws")
    chances = np.where(support[:, 0] > 0, *CLASSIFIER_CASES[case][::-1])
    parts: dict[str, list] = {}
    for start in range(0, n_draws, _DRAWS_AT_ONCE):
        B = min(_DRAWS_AT_ONCE, n_draws - start)
        rows = rng.integers(_SUPPORT, size=(B, distinct))
        y = np.where(rng.random((B, distinct)) < chances[rows], 1, -1)
        for name, slack in slacks(_Samples(np.tile(rows, copies), np.tile(y, copies)), chances).items():
            parts.setdefault(name, []).append(slack)
    return [BoundFailures(name, "corrected", np.concatenate(slack)) for name, slack in parts.items()]


def _decision(z, signed) -> np.ndarray:
    """Compute decision values (B, S) of the mean of features z (B, S, F) times labels, scaled to length 1."""
    return np.einsum("bsf,bf->bs", z, _unit_rows(np.einsum("bs,bsf->bf", signed, z)))


def _unit_rows(means) -> np.ndarray:
    return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)


def _slacks(decision, samples: _Samples, chances, log_ratio, epsilon) -> dict[str, np.ndarray]:
    """Return true risk less the smallest bound over `_SCALES`, (B,) each; one event gives it for all scales."""
    given = log_ratio, _SCALES[:, None], samples.rows.shape[1], epsilon
    margins = np.multiply.outer(_SCALES, _margins(decision, samples))
    wrong = ndtr(-margins)
    wrong_by_margin = ndtr(_THRESHOLD - margins)
    errors = wrong.mean(axis=2)
    disagreement = (2 * wrong * (1 - wrong)).mean(axis=2)
    gibbs = bounds.gibbs_classifier(errors, *given)
    least = {
        "majority_vote": bounds.majority_vote(wrong_by_margin.mean(axis=2), _THRESHOLD, *given).min(axis=0),
        "tandem": bounds.tandem((wrong_by_margin**2).mean(axis=2), _THRESHOLD, *given).min(axis=0),
        "c_bound": bounds.c_bound(errors, disagreement, *given).min(axis=0),
    }
    best = gibbs.argmin(axis=0)
    share = ndtr(_SCALES[best][:, None] * decision)
    gibbs_risk = (chances * (1 - share) + (1 - chances) * share).mean(axis=1)
    vote_risk = np.where(decision > 0, 1 - chances, chances).mean(axis=1)
    return {"gibbs_classifier": gibbs_risk - gibbs.min(axis=0)} | {name: vote_risk - one for name, one in least.items()}
