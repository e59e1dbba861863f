"""Bounds against their formulas, and properties of all bounds."""

import inspect
import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binom

import rff_engine as rff
from rff_engine import bounds
from tests import naive

POINTS = [  # loss, divergence, n, t, epsilon
    (0.31, 1.7, 100, 8.0, 0.05),
    (0.0, 0.0, 2, 0.3, 0.5),
    (0.5, 12.0, 7, 40.0, 0.01),
    (1.0, 0.02, 20001, 300.0, 1e-6),
]
every_point = pytest.mark.parametrize(("loss", "kl", "n", "t", "epsilon"), POINTS)


# --- formulas -----------------------------------------------------------------------------------------------------


@every_point
def test_theorem_1(loss, kl, n, t, epsilon):
    for form, factor, n_landmarks in (("paper", 2, 1), ("paper", 2, 25), ("corrected", 8, 25)):
        expected = loss + (kl + t**2 / (factor * (n - 1)) + math.log(n_landmarks / epsilon)) / t
        assert bounds.landmark_kl(loss, kl, n, t, epsilon, n_landmarks, form) == pytest.approx(expected, rel=1e-13)
        if n_landmarks == 1:  # by default
            assert bounds.landmark_kl(loss, kl, n, t, epsilon, form=form) == pytest.approx(expected, rel=1e-13)


@every_point
def test_corollary_2(loss, kl, n, t, epsilon):
    for form, factor in (("paper", 2), ("corrected", 8)):
        expected = loss + 2 / t * (kl + t**2 / (factor * (n - 1)) + math.log((n + 1) / epsilon))
        assert bounds.first_order_kl(loss, kl, n, t, epsilon, form=form) == pytest.approx(expected, rel=1e-13)


@every_point
def test_theorem_3(loss, kl, n, t, epsilon):
    assert bounds.second_order_kl(loss, kl, n, t, epsilon, form="paper") == pytest.approx(
        loss + (kl + t**2 / (2 * n) + math.log(1 / epsilon)) / t, rel=1e-13
    )
    assert bounds.second_order_kl(loss, kl, n, t, epsilon, form="corrected") == pytest.approx(
        loss + (kl + t**2 / (8 * math.floor(n / 2)) + math.log(1 / epsilon)) / t, rel=1e-13
    )


def root_of_conjugate_moment(mu, n):
    """(E |Delta|^q)^(1/q) at most: by E Delta^2 <= 1/(2n), and by sub-Gaussian moments of order q and above."""
    q, variance = mu / (mu - 1), 1 / (2 * n)
    found = [variance]
    for r in (q + more for more in (0, 1, 2, 4, 6, 8, 16)):
        # E |Delta|^r = int r x^(r-1) P(|Delta| > x) dx, with P <= 2 exp(-2 m x^2), m = floor(n/2); u = (2m)^(1/2) x.
        moment = (2 * (n // 2)) ** (-r / 2) * quad(lambda u, r=r: 2 * r * u ** (r - 1) * math.exp(-u * u), 0, 30)[0]
        found.append(variance ** ((r - q) / (r - 2)) * moment ** ((q - 2) / (r - 2)))
    return min(found) ** (1 / q)


@every_point
@pytest.mark.parametrize("mu", [1.1, 1.5, 1.9, 2, 2.5, 3, 10])
def test_theorem_4(loss, kl, n, t, epsilon, mu):
    complexity = (kl + 1) ** (1 / mu) * (1 / epsilon) ** (1 - 1 / mu)
    printed = (1 / (4 * n)) ** ((mu - 1) / 2) if mu <= 2 else (1 / (4 * n)) ** (1 - 1 / mu)
    right = math.sqrt(1 / (2 * n)) if mu >= 2 else root_of_conjugate_moment(mu, n)
    assert bounds.f_divergence(loss, kl, mu, n, epsilon, form="paper") == pytest.approx(loss + printed * complexity)
    assert bounds.f_divergence(loss, kl, mu, n, epsilon) == pytest.approx(loss + right * complexity)


@every_point
def test_corollary_5(loss, kl, n, t, epsilon):
    assert bounds.chi_square(loss, kl, n, epsilon, form="paper") == pytest.approx(
        loss + math.sqrt((kl + 1) / (4 * n * epsilon)), rel=1e-13
    )
    assert bounds.chi_square(loss, kl, n, epsilon) == pytest.approx(
        loss + math.sqrt((kl + 1) / (2 * n * epsilon)), rel=1e-13
    )
    for form in ("paper", "corrected"):
        assert bounds.chi_square(loss, kl, n, epsilon, form) == bounds.f_divergence(loss, kl, 2, n, epsilon, form)


@every_point
def test_kl_inverse_inverts(loss, kl, n, t, epsilon):
    for n_landmarks in (1, 10):
        budget = (kl + math.log(2 * math.sqrt(n - 1) * n_landmarks / epsilon)) / (n - 1)
        bound = bounds.landmark_kl_inverse(loss, kl, n, epsilon, n_landmarks)
        assert loss <= bound <= 1
        if bound < 1 - 1e-12:
            assert naive.bernoulli_kl(loss, bound) == pytest.approx(budget, rel=1e-6)
        elif loss < 1:  # no L below 1 is out of the budget
            assert naive.bernoulli_kl(loss, 1 - 1e-12) <= budget


@every_point
def test_kl_inverse_over_pairs_is_that_of_half_as_many_independent_losses(loss, kl, n, t, epsilon):
    of_landmark = bounds.landmark_kl_inverse(loss, kl, n // 2 + 1, epsilon)
    assert bounds.second_order_kl_inverse(loss, kl, n, epsilon) == pytest.approx(of_landmark, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.9, 0.5, 0.05, 1e-3, 1e-100, 1e-300])
@pytest.mark.parametrize("n", [2, 7, 1000])
def test_sub_gaussian_corollary_5(n, epsilon):
    width = bounds.chi_square(0.3, 2.0, n, epsilon, "sub_gaussian") - 0.3
    a = 4 * (n // 2) * width**2 / 3  # chi2 + 1 = 3
    assert a > 1
    assert math.log(a) / 2 + (1 - a) / 2 == pytest.approx(math.log(epsilon), rel=1e-9)


# --- Bernstein bounds over pairs ------------------------------------------------------------------------------------


def rates(most, least):
    """most, most / 2, ... down to the first of at most `least`."""
    found = [most]
    while found[-1] > least:
        found.append(found[-1] / 2)
    return found


@pytest.mark.parametrize("n", [2, 40, 426, 10_000])
@pytest.mark.parametrize(("loss", "kl"), [(0.1, 0.0), (0.3, 2.0), (0.45, 5.0), (0.0, 0.3)])
def test_bound_for_two_classes_is_the_least_root_of_its_inequality(n, loss, kl):
    found = [0.5]
    grid = rates(0.5, 3.5 / math.sqrt(n))
    for r in grid:

        def excess(L, r=r):
            nats = kl + math.log(len(grid) / 0.05) - math.log(1 - r) - r * L + n * r**2 * L * (1 - 2 * L) / (1 - r)
            return r * (n - 1) * (L - loss) - nats

        if excess(0.5) > 0:
            found.append(brentq(excess, 0, 0.5))
    assert bounds.second_order_two_class(loss, kl, n, 0.05) == pytest.approx(min(found), abs=1e-9)


@pytest.mark.parametrize("n", [4, 41, 10_000])
@pytest.mark.parametrize(
    ("loss", "variance", "kl"), [(0.1, 0.05, 0.0), (0.4, 0.13, 2.0), (0.0, 0.0, 1.0), (0.5, 0.25, 30)]
)
def test_empirical_bernstein_is_its_formula(n, loss, variance, kl):
    m, k = n // 2, n // 4
    budget = (kl + math.log(4 * math.sqrt(k) / 0.05)) / k
    largest = bounds.largest_mean(2 * variance, budget) / 2
    assert largest == pytest.approx(0.5) or naive.bernoulli_kl(2 * variance, 2 * largest) == pytest.approx(budget)
    grid = rates(2.0, 7 / math.sqrt(m))
    found = [loss + (kl + math.log(2 * len(grid) / 0.05) + m * largest * (math.exp(s) - 1 - s)) / (m * s) for s in grid]
    assert bounds.empirical_bernstein(loss, variance, kl, n, 0.05) == pytest.approx(min(1, *found), rel=1e-9)


# --- classifiers ----------------------------------------------------------------------------------------------------


every_vote = pytest.mark.parametrize(
    ("error", "ratio", "scale", "n"), [(0.1, 5.0, 2.0, 200), (0.0, -2.0, 0.0, 50), (0.4, 0, 3, 90)]
)


@every_vote
@pytest.mark.parametrize("n_choices", [1, 12])
def test_gibbs_classifier_inverts_its_budget(error, ratio, scale, n, n_choices):
    budget = (ratio + scale**2 / 2 + math.log(2 * math.sqrt(n) * n_choices / 0.05)) / n
    bound = bounds.gibbs_classifier(error, ratio, scale, n, 0.05, n_choices)
    assert naive.bernoulli_kl(error, bound) == pytest.approx(budget, rel=1e-6)
    for threshold in (0.0, 1.5):
        vote = bounds.majority_vote(error, threshold, ratio, scale, n, 0.05, n_choices)
        assert vote == pytest.approx(min(1, 2 * bound / (1 + math.erf(threshold / math.sqrt(2)))), rel=1e-9)


@every_vote
@pytest.mark.parametrize("n_choices", [1, 12])
def test_catoni_bounds_solve_their_equation_and_the_best_rate_is_pac_bayes_kl(error, ratio, scale, n, n_choices):
    nats = ratio + scale**2 / 2 + math.log(n_choices / 0.05)
    rates = np.geomspace(1e-2, 15, 150)
    found = [bounds.gibbs_classifier(error, ratio, scale, n, 0.05, n_choices, rate=rate) for rate in rates]
    for rate, bound in zip(rates, found, strict=True):

        def excess(R, rate=rate):
            return n * (-math.log(1 - (1 - math.exp(-rate)) * R) - rate * error) - nats

        assert bound == pytest.approx(brentq(excess, error, 1) if excess(1) > 0 else 1, rel=1e-6)
    assert naive.bernoulli_kl(error, min(found)) == pytest.approx(nats / n, rel=1e-2)
    vote = bounds.majority_vote(error, 1.5, ratio, scale, n, 0.05, n_choices, rate=rates[0])
    assert vote == pytest.approx(min(1, found[0] / (0.5 + math.erf(1.5 / math.sqrt(2)) / 2)))


@pytest.mark.parametrize("threshold", [0.0, 1.5])
@pytest.mark.parametrize("n_choices", [1, 12])
def test_tandem_bound_inverts_the_budget_of_two_voters(threshold, n_choices):
    budget = (5.0 + 2.0**2 + math.log(2 * math.sqrt(200) * n_choices / 0.05)) / 200
    bound = bounds.tandem(0.03, threshold, 5.0, 2.0, 200, 0.05, n_choices)
    of_pairs = bound * (0.5 + math.erf(threshold / math.sqrt(2)) / 2) ** 2
    assert naive.bernoulli_kl(0.03, of_pairs) == pytest.approx(budget, rel=1e-6)
    assert bounds.tandem(0.9, threshold, 5.0, 2.0, 200, 0.05) == 1
    assert bounds.tandem(0.03, threshold, 5.0, np.finfo(float).max, 200, 0.05) == 1


def test_c_bound_is_that_of_its_two_parts():
    risk = bounds.gibbs_classifier(0.1, 1.0, 0.5, 5000, 0.05 / 2)
    budget = (1.0 + 0.5**2 + math.log(2 * math.sqrt(5000) * 2 / 0.05)) / 5000
    least = brentq(lambda d: naive.bernoulli_kl(0.15, d) - budget, 1e-9, 0.15)
    expected = 1 - (1 - 2 * risk) ** 2 / (1 - 2 * least)
    assert bounds.c_bound(0.1, 0.15, 1.0, 0.5, 5000, 0.05) == pytest.approx(expected, rel=1e-6)
    assert bounds.c_bound(0.5, 0.5, 1.0, 0.5, 5000, 0.05) == 1


def test_a_negative_budget_leaves_the_empirical_error():
    assert bounds.gibbs_classifier(0.2, -1e3, 1.0, 30, 0.05) == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize("n", [1, 5, 300])
def test_test_set_bound_inverts_the_binomial_tail(n):
    for k in sorted({0, n // 3, n - 1}):
        assert binom.cdf(k, n, bounds.test_set(k, n, 0.05)) == pytest.approx(0.05, rel=1e-6)
    assert bounds.test_set(n, n, 0.05) == 1


# --- arguments that fit each other --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_c_bound_takes_the_disagreement_of_any_errors_and_no_other(n):
    """The largest and the smallest mean of 2 a (1 - a) of n errors a with a given mean are reached."""
    rng = np.random.default_rng(n)
    for a in (rng.random(n), rng.random(n) ** 9, np.full(n, 0.3), np.r_[np.ones(n // 2), 0.6, np.zeros(n)][:n]):
        fits = 2 * (a * (1 - a)).mean()
        assert 0 <= bounds.c_bound(a.mean(), fits, 0.0, 1.0, n, 0.05) <= 1
    highest, ones = 2 * 0.3 * 0.7, np.r_[np.ones(n - 1), 0.5]
    lowest = 2 * (ones * (1 - ones)).mean()
    for error, limit, off in ((0.3, highest, 1e-4), (ones.mean(), lowest, -1e-4)):
        assert bounds.c_bound(error, limit + off / 1e5, 0.0, 1.0, n, 0.05) >= 0
        with pytest.raises(ValueError, match=r"disagreement is .* is needed to fit gibbs_error and n\.$"):
            bounds.c_bound(error, limit + off, 0.0, 1.0, n, 0.05)


def test_moments_that_no_sample_has_are_refused():
    """The C-bound of the first was 0."""
    with pytest.raises(ValueError, match=r"disagreement is 0\.4; a number between 0 and 0\.0198 is needed"):
        bounds.c_bound(0.01, 0.4, 0, 0, 1000, 0.05)
    with pytest.raises(ValueError, match=r"disagreement is 0\.4; a number between 0 and 0\.18 is needed"):
        bounds.c_bound([0.5, 0.1], 0.4, 0, 0, 10, 0.05)
    with pytest.raises(ValueError, match=r"loss is 0\.51; .* 0\.505051 is needed to fit n and two classes\.$"):
        bounds.second_order_two_class(0.51, 1.0, 100, 0.05)
    with pytest.raises(ValueError, match=r"variance is 0\.3; .* 0\.255102 is needed to fit loss and n\.$"):
        bounds.empirical_bernstein(0.5, 0.3, 1.0, 100, 0.05)


@pytest.mark.parametrize("n", [4, 5, 10])
def test_losses_and_variances_of_samples_fit(n):
    """At frequencies where every pair has a loss of 0 or 1."""
    rng = np.random.default_rng(n)
    X, omega = rng.integers(2, size=(n, 3)).astype(float), np.pi * rng.integers(4, size=(200, 3))
    for y in (np.arange(n) < 1, np.arange(n) % 2):
        loss, variance = rff.alignment_loss(X, y, omega), rff.alignment_loss_variance(X, y, omega)
        assert (bounds.second_order_two_class(loss, 0.0, n, 0.05) <= 0.5).all()
        assert (bounds.empirical_bernstein(loss, variance, 0.0, n, 0.05) <= 1).all()
    assert loss.max() > 0.5


NUMBERS = {
    "loss": 0.3,
    "kl": 1.0,
    "t": 9.0,
    "variance": 0.1,
    "divergence": 1.0,
    "chi2": 1.0,
    "gibbs_error": 0.3,
    "margin_error": 0.3,
    "tandem_error": 0.3,
    "disagreement": 0.2,
    "threshold": 0.5,
    "log_ratio": 1.0,
    "scale": 1.0,
}
SETTINGS = {"bound": "landmark_kl", "n": 100, "epsilon": 0.05, "mu": 3.0, "n_errors": 3}
# Of functions of the engine: what a computed number may be, 0 or the two ends.
OF_ROUNDING = {name: 0.0 for name in NUMBERS if name not in ("t", "log_ratio", "disagreement")}


def given_to(bound):
    taken = inspect.signature(bound).parameters
    return {name: value for name, value in (NUMBERS | SETTINGS).items() if name in taken}


BY_NAME = [name for name in bounds.__all__ if name != "KLTerms"]


@pytest.mark.parametrize("name", BY_NAME)
def test_shapes_that_do_not_fit_are_refused_by_name(name):
    bound = getattr(bounds, name)
    given = given_to(bound)
    for one, other in itertools.combinations([argument for argument in given if argument in NUMBERS], 2):
        shaped = given | {one: np.full(2, given[one]), other: np.full(3, given[other])}
        with pytest.raises(ValueError, match=r"shapes differ: .*; arrays of one shape.*needed\.$") as refused:
            bound(**shaped)
        assert f"{one} (2,)" in str(refused.value) and f"{other} (3,)" in str(refused.value)


@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "test_set"])
def test_every_argument_may_leave_its_range_by_rounding_and_no_more(name):
    bound = getattr(bounds, name)
    given = given_to(bound) | ({"variance": 0.0} if name == "empirical_bernstein" else {})
    given |= {"disagreement": 0.0} if name == "c_bound" else {}
    for argument in [argument for argument in given if argument in OF_ROUNDING]:
        ends = [0.0, 1.0] if argument.endswith("error") or argument == "loss" else [0.0]
        for end in ends if name != "second_order_two_class" else [0.0]:
            off = -1 if end == 0 else 1
            exact = bound(**given | {argument: end})
            for rounding in (1.1e-16, 1e-12, 9e-6):
                np.testing.assert_array_equal(bound(**given | {argument: end + off * rounding}), exact)
            with pytest.raises(ValueError, match=f"^{argument.split('_')[0]}.* is needed"):
                bound(**given | {argument: end + off * 2e-5})


# --- properties of every bound ------------------------------------------------------------------------------------


def of_divergence(bound, form, mu):
    def value(loss, divergence, n, epsilon):
        given = {"loss": loss, "variance": 0.1, "n": n, "epsilon": epsilon, "form": form, "mu": mu, "t": 20.0}
        return bound.value(**given, **dict.fromkeys(("kl", "chi2", "divergence"), divergence))

    return value


BOUNDS = {  # as functions of loss, divergence, n and epsilon, t being fixed
    f"{name}, {form}, {mu}": of_divergence(bound, form, mu)
    for name, bound in bounds.ALIGNMENT_BOUNDS.items()
    for form in bound.forms or [None]
    for mu in ([1.2, 2, 4] if "mu" in bound.arguments else [None])
}
every_bound = pytest.mark.parametrize("name", BOUNDS)


@every_bound
def test_bounds_increase_in_loss_and_divergence_and_decrease_in_n_and_epsilon(name):
    bound = BOUNDS[name]
    losses, divergences = np.linspace(0.2, 0.3, 30), np.linspace(0, 30, 30)
    assert (np.diff(bound(losses, 1.0, 2000, 0.05)) > 0).all()
    assert (np.diff(bound(0.2, divergences, 2000, 0.05)) > 0).all()
    assert np.all(np.diff([bound(0.3, 1.0, 2000, epsilon) for epsilon in (1e-6, 1e-3, 0.05, 0.5)]) < 0)
    if "first_order_kl" not in name:  # its union bound over n + 1 events grows with n at fixed t
        assert np.all(np.diff([bound(0.3, 1.0, n, 0.05) for n in (200, 400, 2000, 10**5)]) < 0)
    assert (bound(losses, 1.0, 2000, 0.05) > losses).all()


@every_bound
def test_arrays_equal_their_entries(name):
    bound = BOUNDS[name]
    rng = np.random.default_rng(0)
    loss, divergence = rng.uniform(0.2, 0.45, (3, 4)), rng.random((3, 4))
    together = bound(loss, divergence, 50, 0.05)
    assert together.shape == (3, 4)
    for i in np.ndindex(3, 4):
        assert together[i] == pytest.approx(bound(loss[i], divergence[i], 50, 0.05), rel=1e-14)
    assert np.ndim(bound(0.2, 0.3, 50, 0.05)) == 0
    assert bound(0.2, divergence, 50, 0.05).shape == (3, 4)


WITH_FORMS = sorted(name for name in bounds.__all__ if "form" in inspect.signature(getattr(bounds, name)).parameters)


@pytest.mark.parametrize("name", WITH_FORMS)
def test_corrected_form_is_the_default(name):
    bound = getattr(bounds, name)
    given = given_to(bound)
    assert bound(**given) == bound(**given, form="corrected") != bound(**given, form="paper")


@pytest.mark.parametrize("name", bounds.KL_BOUNDS)
@pytest.mark.parametrize("form", bounds.FORMS)
def test_terms_sum_to_the_bound(name, form):
    kl = np.array([0.0, 1.0, 5.0])
    terms = bounds.kl_terms(name, 0.2, kl, 90, 12.0, 0.05, form=form)
    np.testing.assert_allclose(sum(terms), getattr(bounds, name)(0.2, kl, 90, 12.0, 0.05, form=form), rtol=1e-14)
    double = 2 if name == "first_order_kl" else 1
    np.testing.assert_allclose(terms.complexity, double * kl / 12)
    assert terms.loss == 0.2 and terms.deviation > 0 and terms.confidence > 0
    union = bounds.kl_terms("landmark_kl", 0.2, kl, 90, 12.0, 0.05, n_landmarks=9, form=form)
    assert union.confidence == pytest.approx(math.log(9 / 0.05) / 12)


def test_conjugate_moments_bound_those_of_a_u_statistic():
    """Of h = 1 and two classes, whose loss is a function of a binomial number: by summation over its values."""
    for n in (2, 3, 10, 51, 400):
        size = np.arange(n + 1)
        for p in (0.5, 0.7, (1 + math.sqrt(0.5)) / 2, 0.99):
            deviation = np.abs(2 * size * (n - size) / (n * (n - 1)) - 2 * p * (1 - p))
            for mu in (1.05, 1.3, 1.7, 1.99):
                q = mu / (mu - 1)
                moment = (binom.pmf(size, n, p) * deviation**q).sum()
                assert bounds.f_divergence(0, 0, mu, n, 0.5) / 0.5 ** (1 / mu - 1) >= moment ** (1 / q)


@pytest.mark.parametrize("n", [8, 40])
def test_corrected_bounds_hold_on_simulated_samples(n):
    """Pairs of a two-class sample and the constant hypothesis h = 1: its true loss is 2 p (1 - p)."""
    rng = np.random.default_rng(n)
    epsilon, p, draws = 0.2, 0.8, 20000
    true_loss = 2 * p * (1 - p)
    positive = rng.binomial(n, p, size=draws)
    loss = 2 * positive * (n - positive) / (n * (n - 1))
    allowed = epsilon + 4.5 * math.sqrt(epsilon / draws)
    for bound in (
        bounds.second_order_kl(loss, 0.0, n, math.sqrt(n), epsilon, form="corrected"),
        bounds.first_order_kl(loss, 0.0, n, math.sqrt(n), epsilon, form="corrected"),
        *(bounds.f_divergence(loss, 0.0, mu, n, epsilon) for mu in (1.5, 2, 5, 20)),
        bounds.chi_square(loss, 0.0, n, epsilon, "sub_gaussian"),
        bounds.second_order_kl_inverse(loss, 0.0, n, epsilon),
        bounds.second_order_two_class(loss, 0.0, n, epsilon),
    ):
        assert np.mean(bound < true_loss) <= allowed
    # One landmark, of the positive class: a mean of n - 1 independent terms of mean 1 - p.
    of_landmark = rng.binomial(n - 1, 1 - p, size=draws) / (n - 1)
    assert np.mean(bounds.landmark_kl(of_landmark, 0.0, n, math.sqrt(n), epsilon, form="corrected") < 1 - p) <= allowed
    assert np.mean(bounds.landmark_kl_inverse(of_landmark, 0.0, n, epsilon) < 1 - p) <= allowed
