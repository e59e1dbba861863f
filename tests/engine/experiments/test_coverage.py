"""Bounds in simulations: the corrected ones hold as often as they claim, a printed one does not."""

import numpy as np
import pytest
from scipy.stats import binom

import rff_engine as rff
from rff_engine.bounds import ALIGNMENT_BOUNDS
from rff_engine.studies.toy.coverage import (
    PAIR_CASES,
    WORST_CASES,
    BoundFailures,
    TwoGaussians,
    _losses,
    draw_promises,
    landmark_failures,
    simulate_promises,
    simulate_two_gaussians,
    simulate_worst_case,
)

EPSILON = 0.05


def too_many(failures, n_draws):
    """Whether a bound that fails with probability epsilon has as many failures in less than one of 1000 simulations."""
    return failures > binom.ppf(0.999, n_draws, EPSILON)


@pytest.mark.parametrize("case", WORST_CASES)
@pytest.mark.parametrize("mu", [1.2, 1.5, 2.0, 3.0, 5.0, 10.0])
@pytest.mark.parametrize("n", [10, 1000])
def test_corrected_theorem_4_holds_in_the_worst_cases(case, mu, n):
    result = simulate_worst_case(case, n, mu, EPSILON, 4000, 0)
    assert not too_many(result.corrected.failures, 4000)


@pytest.mark.parametrize("case", WORST_CASES)
@pytest.mark.parametrize("n", [10, 100, 1000])
def test_the_other_corrected_bounds_hold_in_the_worst_cases(case, n):
    result = simulate_worst_case(case, n, 2.0, EPSILON, 4000, 1)
    for beta in (0.1, 1.0, 3.0):
        t = beta * np.sqrt(n)
        for bound in (rff.bounds.first_order_kl, rff.bounds.second_order_kl):
            failed = bound(result.losses, 0.0, n, t, EPSILON, form="corrected") < result.true_loss - 1e-12
            assert not too_many(failed.sum(), 4000)
    for without_t in (
        rff.bounds.second_order_kl_inverse(result.losses, 0.0, n, EPSILON),
        rff.bounds.chi_square(result.losses, 0.0, n, EPSILON, "sub_gaussian"),
    ):
        assert not too_many((without_t < result.true_loss - 1e-12).sum(), 4000)


@pytest.mark.parametrize("n", [10, 100])
def test_the_landmark_bounds_hold_where_they_are_tightest(n):
    """One hypothesis h = 1: the loss of a landmark is the fraction of the other points with another label."""
    rng = np.random.default_rng(2)
    for p in (0.5, 0.9):
        losses = rng.binomial(n - 1, p, 20000) / (n - 1)
        for beta in (0.5, 1.0, 2.0, 5.0):
            bound = rff.bounds.landmark_kl(losses, 0.0, n, beta * np.sqrt(n), EPSILON, form="corrected")
            assert not too_many((bound < p - 1e-12).sum(), 20000)
        assert not too_many((rff.bounds.landmark_kl_inverse(losses, 0.0, n, EPSILON) < p - 1e-12).sum(), 20000)


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("pay", [True, False])
def test_failures_for_some_landmark_are_those_of_simulated_samples(pay):
    """The hard case made of points: coordinates 0 or 1, the frequency pi along one of them for each landmark."""
    n, L, epsilon, draws = 21, 15, 0.3, 500
    rng = np.random.default_rng(0)
    omega = np.pi * np.eye(L)[:, None, :]
    t = np.sqrt(8 * (n - 1) * np.log((L if pay else 1) / epsilon))
    failed = 0
    for _ in range(draws):
        X, y = rng.integers(2, size=(n, L)).astype(float), rng.choice([-1, 1], n)
        if len(set(y)) == 2:
            loss = rff.landmark_alignment_loss(X, y, X[:L], y[:L], omega, np.arange(L), n_jobs=1)[:, 0]
            bound = rff.bounds.landmark_kl(loss, 0.0, n, t, epsilon, L if pay else 1)
            failed += (bound < 0.5 - 1e-9).any()
    expected = landmark_failures(n, L, epsilon, pay=pay)
    assert abs(failed / draws - expected) < 5 * np.sqrt(expected * (1 - expected) / draws) + 1e-3
    assert (expected <= epsilon) == pay


@pytest.mark.parametrize("n", [5, 101, 1000])
@pytest.mark.parametrize("form", ["paper", "corrected"])
def test_union_over_landmarks_holds_and_without_its_price_fails(n, form):
    counts = [1, 3, n]
    paid, free = ([landmark_failures(n, L, EPSILON, form, pay) for L in counts] for pay in (True, False))
    assert max(paid) <= EPSILON and paid[0] == free[0]
    assert (np.diff(free) >= 0).all()
    if n > 100 and form == "corrected":
        assert free[-1] > 0.4


def test_printed_theorem_4_fails_too_often():
    """Failures in 3.6 % of samples at mu = 3, 18.8 % at mu = 5 and 30 % at mu = 10; the theorem allows 5 %."""
    for mu, share in ((3.0, 0.036), (5.0, 0.188), (10.0, 0.300)):
        result = simulate_worst_case("two_classes", 1000, mu, EPSILON, 50000, 0)
        assert abs(result.printed.rate - share) < 0.01
        low, high = result.printed.interval(0.999)
        assert low < result.printed.rate < high
        if mu >= 5:
            assert too_many(result.printed.failures, 50000) and low > EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("case", WORST_CASES)
def test_worst_case_losses_are_alignment_losses_of_a_constant(case):
    """Against the engine's loss at frequency 0, on labels made one by one."""
    result = simulate_worst_case(case, 12, 3.0, EPSILON, 200, 5)
    p = (1 + np.sqrt(0.5)) / 2 if case == "two_classes" else 0.75
    size = np.random.default_rng(5).binomial(12, p, size=200)
    for loss, k in zip(result.losses, size, strict=True):
        others = np.ones(12 - k) if case == "two_classes" else 1 + np.arange(12 - k)
        y = np.append(np.zeros(k), others)
        if len(set(y)) > 1:
            assert loss == pytest.approx(rff.alignment_loss(np.ones((12, 1)), y, np.zeros((1, 1)))[0])
        else:
            assert loss == pytest.approx(0)
    many = simulate_worst_case(case, 12, 3.0, EPSILON, 100_000, 0)
    assert many.losses.mean() == pytest.approx(many.true_loss, abs=5 * many.losses.std() / np.sqrt(100_000))
    np.testing.assert_array_equal(many.deviations, many.true_loss - many.losses)


@pytest.mark.slow
@pytest.mark.parametrize("distribution", [TwoGaussians(), TwoGaussians(mean=(0.5, -1.0), scale=0.3, positive=0.8)])
def test_losses_of_many_samples_and_true_losses_are_the_engines(distribution):
    rng = np.random.default_rng(0)
    omega = rng.standard_normal((6, 2))
    X, y = distribution.sample((3, 40), rng)
    pairs, landmark, variance = _losses(X, y, omega)
    for b in range(3):
        np.testing.assert_allclose(pairs[b], rff.alignment_loss(X[b], y[b], omega), atol=1e-12)
        every = rff.landmark_alignment_loss(X[b], y[b], X[b], y[b], omega, landmark_indices=np.arange(40))
        np.testing.assert_allclose(landmark[b], every, atol=1e-12)
        np.testing.assert_allclose(variance[b], rff.alignment_loss_variance(X[b], y[b], omega), atol=1e-12)
    large, labels = distribution.sample((200_000,), rng)
    np.testing.assert_allclose(rff.alignment_loss(large, labels, omega), distribution.true_losses(omega), atol=5e-3)
    expected = rff.landmark_alignment_loss(large, labels, X[0, :4], y[0, :4], omega)
    np.testing.assert_allclose(distribution.true_landmark_losses(X[0, :4], y[0, :4], omega), expected, atol=8e-3)


@pytest.mark.more(after=3)
@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("n", [10, 100])
def test_corrected_bounds_hold_on_learned_posteriors(beta, n):
    found = simulate_two_gaussians(n, 20, beta, 3.0, EPSILON, 2000, random_state=0)
    forms = {(name, form) for name, bound in ALIGNMENT_BOUNDS.items() for form in bound.forms or ("corrected",)}
    forms |= {("every_landmark", "corrected")}
    assert len(found) == len(forms) and {(bound.name, bound.form) for bound in found} == forms
    for bound in found:
        assert bound.slack.shape == (2000,) and np.isfinite(bound.slack).all()
        if bound.form != "paper":
            assert not too_many(bound.failures, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("case", PAIR_CASES)
def test_bounds_over_pairs_hold_on_other_distributions(case):
    for bound in simulate_two_gaussians(40, 20, 3.0, 2.0, 0.5, 500, distribution=PAIR_CASES[case], random_state=0):
        if bound.form != "paper":
            assert bound.failures <= binom.ppf(0.999, 500, 0.5)


def test_a_bound_for_two_classes_without_its_variance_fails():
    """One hypothesis h = 1: without the term of the variance the bound is too small more often than epsilon."""
    n, epsilon, p = 1000, 0.3, 0.85
    size = np.random.default_rng(0).binomial(n, p, 20000)
    losses = 2 * size * (n - size) / (n * (n - 1))
    bound = rff.bounds.second_order_two_class(losses, 0.0, n, epsilon)
    assert (bound < 2 * p * (1 - p)).mean() < epsilon
    r = 4 / np.sqrt(n)
    without = losses + (np.log(1 / epsilon) - np.log1p(-r) - r * losses) / (r * (n - 1))
    assert (without < 2 * p * (1 - p)).mean() > 2 * (bound < 2 * p * (1 - p)).mean()


@pytest.mark.slow
def test_true_risk_is_unchanged_by_learning():
    """Slack plus bound less loss: with a beta near 0 the posterior is the prior, and losses are unbiased."""
    found = {(b.name, b.form): b for b in simulate_two_gaussians(50, 20, 1e-6, 2.0, EPSILON, 4000, random_state=1)}
    width = rff.bounds.chi_square(0.0, 0.0, 50, EPSILON)
    deviation = found["chi_square", "corrected"].slack + width
    assert abs(deviation.mean()) < 5 * deviation.std() / np.sqrt(4000)


def test_equal_seeds_give_equal_simulations():
    one, other = (simulate_two_gaussians(10, 5, n_draws=30, random_state=4) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.slack, b.slack)
    one, other = (simulate_worst_case("two_classes", random_state=1) for _ in range(2))
    np.testing.assert_array_equal(one.losses, other.losses)


def test_interval_of_a_failure_rate_is_that_of_clopper_and_pearson():
    bound = BoundFailures("chi_square", "paper", np.array([1.0, *[-1.0] * 19]))
    assert bound.failures == 1 and bound.rate == 0.05
    low, high = bound.interval()
    assert binom.sf(0, 20, low) == pytest.approx(0.025) and binom.cdf(1, 20, high) == pytest.approx(0.025)
    assert binom.cdf(1, 20, bound.largest_rate(0.001)) == pytest.approx(0.001)


PROMISE = {"n": 50, "mu": 2.0, "epsilon": 0.05, "draws": draw_promises(2, 0)}


@pytest.mark.parametrize(
    ("simulate", "given", "changes"),
    [
        (draw_promises, {}, {"n_draws": 0}),
        (simulate_promises, PROMISE, {"n": 1, "mu": 1.0, "epsilon": 0.0}),
        (simulate_worst_case, {"case": "two_classes"}, {"n": 1, "mu": 1.0, "epsilon": 0.0, "n_draws": 0}),
        (simulate_worst_case, {}, {"case": "three_classes"}),
        (simulate_two_gaussians, {"n_draws": 5}, {"n": 1, "beta": 0.0, "mu": 1.0, "epsilon": 1.0, "gamma": 0.0}),
        (simulate_two_gaussians, {"n_draws": 5}, {"n_draws": 0, "n_candidates": 0, "copies": 3}),
        (TwoGaussians, {}, {"positive": 1.0, "scale": 0.0}),
    ],
)
def test_invalid_input_is_refused_by_name(simulate, given, changes):
    for name, value in changes.items():
        with pytest.raises(ValueError, match=name):
            simulate(**given | {name: value})


@pytest.mark.parametrize("n", [1, 10, 200])
@pytest.mark.parametrize("risk", [0.01, 0.2, 0.5])
def test_bounds_of_one_fixed_classifier_hold_by_the_binomial_distribution(n, risk):
    """All numbers of errors at once; the test-set bound is nearly as tight as epsilon allows."""
    errors = np.arange(n + 1)
    chance = binom.pmf(errors, n, risk)
    assert chance[rff.bounds.test_set(errors, n, EPSILON) < risk - 1e-12].sum() <= EPSILON
    assert chance[rff.bounds.gibbs_classifier(errors / n, 0.0, 0.0, n, EPSILON) < risk - 1e-12].sum() <= EPSILON
