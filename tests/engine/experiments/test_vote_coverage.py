"""Bounds on votes in simulations: they hold as often as they claim, and not for a learner that does not pay."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from rff_engine import bounds
from rff_engine.studies.command_line.bounds import CERTIFICATES, COPIES
from rff_engine.studies.toy.coverage import BoundFailures
from rff_engine.studies.toy.vote_coverage import (
    CLASSIFIER_CASES,
    simulate_classifiers,
    simulate_held_out,
    simulate_landmark_classifiers,
    simulate_progressive,
)

EPSILON, DRAWS = 0.05, 600
NAMES = ["gibbs_classifier", "majority_vote", "tandem", "c_bound"]


def too_many(failures):
    """Whether a bound that fails with probability epsilon fails as often in less than one of 1000 simulations."""
    return failures > binom.ppf(0.999, DRAWS, EPSILON)


@pytest.mark.more(after=6)
@pytest.mark.slow
@pytest.mark.parametrize("simulate", [simulate_classifiers, simulate_landmark_classifiers])
@pytest.mark.parametrize("case", CLASSIFIER_CASES)
@pytest.mark.parametrize("n", [5, 100])
def test_bounds_of_learned_classifiers_hold(simulate, case, n):
    found = simulate(case, n, 3, EPSILON, DRAWS, random_state=0)
    assert [bound.name for bound in found] == NAMES
    for bound in found:
        assert bound.slack.shape == (DRAWS,) and not too_many(bound.failures)


@pytest.mark.slow
@pytest.mark.parametrize("case", CLASSIFIER_CASES)
@pytest.mark.parametrize("n", [5, 60])
def test_bounds_after_the_rows_of_a_prior_hold_for_the_worst_step_and_group(case, n):
    found = simulate_held_out(case, n, EPSILON, DRAWS, random_state=0)
    assert [bound.name for bound in found] == ["smaller_of_two", "test_set", "majority_vote, rate", "groups"]
    for bound in found:
        assert bound.slack.shape == (DRAWS,) and not too_many(bound.failures)


@pytest.mark.slow
@pytest.mark.parametrize("case", CLASSIFIER_CASES)
@pytest.mark.parametrize(("n", "n_blocks"), [(5, 5), (60, 4)])
def test_the_mean_risk_of_the_blocks_is_bounded_for_a_learner_that_watches_its_luck_as_well(case, n, n_blocks):
    found = simulate_progressive(case, n, EPSILON, DRAWS, n_blocks=n_blocks, random_state=0)
    learners = ["progressive", "progressive_watching"]
    assert [bound.name for bound in found] == [*learners, *(f"{name}, rate" for name in learners)]
    for bound in found:
        assert bound.slack.shape == (DRAWS,) and not too_many(bound.failures)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CERTIFICATES)
def test_rows_that_repeat_break_every_bound(kind):
    """Four rows of noise, 125 times each; the learner who watches its luck does not look at the rows."""
    simulate, _, noise = CERTIFICATES[kind]
    for bound in simulate(*noise, epsilon=EPSILON, n_draws=400, copies=COPIES, random_state=0):
        assert bound.name.startswith("progressive_watching") or bound.interval(0.999)[0] > EPSILON, bound.name


def documented() -> list[list[str]]:
    """The table of docs/theory.md: bound, what it is of, failures, limit, rates on noise."""
    page = (Path(__file__).parents[3] / "docs" / "theory.md").read_text(encoding="utf-8")
    table = re.search("<!-- failures: begin.*?-->\n(.*?)\n<!-- failures: end -->", page, re.DOTALL)[1]
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


@pytest.mark.more(after=1)
@pytest.mark.slow("draws the samples of three kinds, as the table has them")
@pytest.mark.parametrize(("kind", "column"), [("held out", 4), ("blocks", 3), ("learned kernel", 2)])
def test_documented_failures_are_counted_again(kind, column):
    simulate, cases, _ = CERTIFICATES[kind]
    found = simulate(list(cases)[column], epsilon=EPSILON, n_draws=20_000, random_state=0)
    shown = {name: int(counts.split("/")[column]) for name, of, counts, *_ in documented() if of == kind}
    few = len(found[0].slack) / 1000  # rounding may turn a few
    assert {bound.name: bound.failures for bound in found} == pytest.approx(shown, abs=few)


def test_the_documented_table_has_all_bounds_and_its_limits():
    rows = documented()
    pairs = 6 * len(rows)
    assert len({(name, of) for name, of, *_ in rows}) == len(rows) and {row[1] for row in rows} == set(CERTIFICATES)
    for name, of, counts, limit, independent, repeated in rows:
        draws = 2000 if of == "learned kernel" else 20_000
        most = BoundFailures(name, "", np.arange(draws) < max(map(int, counts.split("/"))))
        assert float(limit.strip("%")) == pytest.approx(100 * most.largest_rate(EPSILON / pairs), abs=1e-3)
        assert float(independent.strip("%")) <= 100 * EPSILON < float(repeated.strip("%"))


@pytest.mark.slow
def test_a_learner_that_peeks_without_paying_breaks_its_bound():
    paid, peeked = (
        simulate_classifiers("pure noise", 50, 20, EPSILON, DRAWS, pay=pay, random_state=0)[0] for pay in (True, False)
    )
    assert not too_many(paid.failures) and too_many(peeked.failures)
    assert peeked.interval(0.999)[0] > EPSILON


def test_slacks_are_those_of_samples_that_are_computed_one_by_one():
    """Few draws of the simulation repeated with loops over rows, on the same random numbers."""
    n, L = 8, 2
    found = {
        bound.name: bound.slack for bound in simulate_landmark_classifiers("noise 30 %", n, L, 0.2, 3, random_state=5)
    }
    rng = np.random.default_rng(5)
    support = rng.uniform(-1, 1, (512, 2))
    similarity = np.exp(-((support[:, None] - support) ** 2).sum(axis=2) / (2 * 0.1**2))
    chances = np.where(support[:, 0] > 0, 0.7, 0.3)
    rows = rng.integers(512, size=(3, n))
    y = np.where(rng.random((3, n)) < chances[rows], 1, -1)
    for b in range(3):
        score = [abs(sum(y[b, i] * similarity[rows[b, i], rows[b, j]] for i in range(n))) for j in range(n)]
        landmarks = np.argsort(score)[-L:]
        kept = [i for i in range(n) if i not in landmarks]
        z = np.column_stack([similarity[:, rows[b, landmarks]], np.ones(512)])
        z /= np.linalg.norm(z, axis=1)[:, None]
        mean = sum(y[b, i] * z[rows[b, i]] for i in kept)
        decision = z @ mean / np.linalg.norm(mean)
        wrong = np.where(decision > 0, 1 - chances, chances).mean()
        margins = np.array([y[b, i] * decision[rows[b, i]] for i in kept])
        least = 1.0
        for scale in (0, 0.5, 1, 2, 4, 8, 16):
            errors = ndtr(1.5 - scale * margins).mean()
            vote = bounds.majority_vote(errors, 1.5, np.log(28), scale, n - L, 0.2)
            least = min(least, float(vote))
        assert found["majority_vote"][b] == pytest.approx(wrong - least, abs=1e-9)


@pytest.mark.parametrize("change", [{"case": "no such"}, {"n": 1}, {"n_draws": 0}, {"n_landmarks": 50}])
def test_invalid_input_is_rejected(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        simulate_landmark_classifiers(**{"case": "pure noise", "n": 50, "n_draws": 5} | change)
