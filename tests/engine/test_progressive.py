"""Progressive validation: time between errors, the largest mean risk, the draws of predict, and what is certified."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import gammainccinv
from scipy.stats import binomtest, expon, gamma, kstest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import rff_engine as rff
from rff_engine.progressive import BlockErrors, Progress, choices, error_limits, largest_mean_risk, level_of

TREE = rff.CertifiedClassifier(
    estimator=DecisionTreeClassifier(max_depth=3), prior_fraction=0.3, random_state=0, scheme="progressive", n_blocks=4
)


@pytest.mark.slow
def test_time_between_errors_is_exponential_whatever_the_risks_depend_on():
    rng = np.random.default_rng(0)
    gaps, time, unlucky = [], 0.0, 0.0
    while len(gaps) < 4000:
        risk = 0.02 if unlucky < 0 else 0.9 if len(gaps) % 2 else 0.3
        if rng.random() < risk:
            gaps.append(time - np.log1p(-rng.random() * risk))
            time = 0.0
        else:
            time -= np.log1p(-risk)
        unlucky += (time == 0.0) - risk
    assert kstest(gaps, expon.cdf).pvalue > 1e-3


def test_all_limits_hold_at_once_as_often_as_promised():
    limits, epsilon = (3, 5, 11, 12), 0.1
    level = level_of(limits, epsilon)
    assert epsilon / 4 < level < epsilon and level_of((7,), epsilon) == epsilon
    times = np.random.default_rng(0).exponential(size=(40_000, 12)).cumsum(axis=1)
    failed = (times[:, np.array(limits) - 1] > gammainccinv(limits, level)).any(axis=1).sum()
    assert binomtest(int(failed), len(times), epsilon).pvalue > 1e-3
    assert level_of((2000, 2001), 0.05) == pytest.approx(0.05, rel=0.03)  # nearly one limit


def blocks(rng, B=3):
    sizes = rng.integers(5, 60, B)
    n_errors = rng.binomial(sizes, rng.uniform(0, 0.9))
    uniform = [rng.random(k) for k in n_errors]
    moments = np.array([[v.sum(), (v**2).sum()] for v in uniform])
    return sizes.astype(float), n_errors.astype(float), moments


def spent(r, sizes, n_errors, moments):
    return (-(sizes - n_errors) * np.log1p(-r) + r * moments[:, 0] + r**2 * moments[:, 1] / 2).sum()


@pytest.mark.parametrize("seed", range(8))
def test_the_mean_risk_is_the_largest_that_the_budget_allows(seed):
    rng = np.random.default_rng(seed)
    given = blocks(rng)
    sizes, n_errors, _ = given
    budget = float(gamma.ppf(0.95, n_errors.sum() + 1))
    found = float(largest_mean_risk(*given, budget))
    best = minimize(
        lambda r: -(sizes * r).sum() / sizes.sum(),
        np.full(3, 0.1),
        bounds=[(0, 1 - 1e-9)] * 3,
        constraints={"type": "ineq", "fun": lambda r: budget - spent(r, *given)},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert found == pytest.approx(-best.fun, abs=1e-5)
    many = largest_mean_risk(*(np.stack([one, one]) for one in given), budget)
    np.testing.assert_allclose(many, found)


def test_the_largest_mean_risk_of_one_block_and_of_blocks_that_always_err():
    r = float(largest_mean_risk(np.array([50.0]), np.array([0.0]), np.zeros((1, 2)), 3.0))
    assert -50 * np.log1p(-r) == pytest.approx(3.0)
    always = largest_mean_risk(np.array([4.0, 0.0]), np.array([4.0, 0.0]), np.array([[2.0, 1.2], [0, 0]]), 9.0)
    assert float(always) == 1.0
    alone = largest_mean_risk(np.array([1.0, 20.0]), np.array([1.0, 0.0]), np.array([[0.6, 0.36], [0, 0]]), 0.69)
    r = 21 * float(alone)  # of the block that errs; the other gains less for what it spends
    assert 0.6 * r + 0.36 * r**2 / 2 == pytest.approx(0.69)


def test_rows_after_the_limit_do_not_count():
    wrong = np.array([0, 1, 0, 1, 1, 0, 1], dtype=bool)
    uniform = np.linspace(0.1, 0.7, 7)
    found = BlockErrors.up_to(3, 0.03, 0.05, wrong, uniform, [0, 3, 3, 6])  # the second block is empty
    assert found.sizes.tolist() == [3, 0, 2, 0] and found.n_errors.tolist() == [1, 0, 2, 0]
    np.testing.assert_allclose(found.moments, [[0.2, 0.04], [0, 0], [0.9, 0.41], [0, 0]], atol=1e-12)
    assert sum(term.risk for term in found.ledger()) == pytest.approx(float(found.bound))
    assert found.ledger()[2].nats == pytest.approx(np.log(5 / 3))


@pytest.mark.parametrize(("n_errors", "n_first", "n"), [(20, 200, 400), (1, 4, 100)])
def test_limits_surround_the_forecast(n_errors, n_first, n):
    forecast = n * (n_errors + 0.5) / (n_first + 1)  # of a Poisson number whose mean is itself estimated
    deviation = math.sqrt(forecast + forecast * n / (n_first + 1))
    shares = ((0.7, -0.5), (0.85, -0.25), (1, 0), (1, 1))
    limits = tuple(round(share * forecast + steps * deviation) for share, steps in shares)
    assert error_limits(n_errors, n_first, n) == limits
    assert error_limits(0, 0, 1) == (1,)  # of one row


def twice(X):
    """CSR points, each number as two entries at its place."""
    part = sp.csr_array(X)
    data, indices = np.repeat(part.data, 2) / 2, np.repeat(part.indices, 2)
    return sp.csr_array((data, indices, 2 * part.indptr), shape=X.shape)


def test_entries_that_add_up_are_one_number_to_a_certified_classifier():
    X, y = load_iris(return_X_y=True)
    fitted = [clone(TREE).fit(points, y) for points in (sp.csr_array(X), twice(X))]
    assert fitted[0].risk_bound_ == fitted[1].risk_bound_
    np.testing.assert_array_equal(fitted[0].predict(sp.csr_array(X)), fitted[1].predict(twice(X)))


def test_few_different_rows_are_warned_of():
    """Where 4 rows of few values are all there is, the risk of one seed is above the bound far more often than 5 %."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(200, 2)), rng.random(200) < 0.3
    with pytest.warns(UserWarning, match=r"as if there were 4 different ones for the \d+ that count"):
        clone(TREE).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(TREE).fit(rng.integers(100, size=(200, 2)), y)


@pytest.mark.slow
def test_draws_are_uniform_and_depend_on_the_row_alone():
    X = np.random.default_rng(0).normal(size=(20_000, 3)).round(2)
    X[:, 1] *= X[:, 1] > 0  # zeros of both signs
    shares = np.array([0.2, 0.5, 0.3])
    drawn = choices(X, 7, shares)
    for block, share in enumerate(shares):
        assert binomtest(int((drawn == block).sum()), len(X), share).pvalue > 1e-4
    rows = np.random.default_rng(1).permutation(len(X))[:50]
    for other in (
        X[rows].tolist(),
        sp.csr_array(X[rows]),
        twice(X[rows]),
        X[rows] - 0.0,
        pd.DataFrame(X[rows]),
        X[rows].astype(object),
    ):
        np.testing.assert_array_equal(choices(other, 7, shares), drawn[rows])
    assert (choices(X, 8, shares) != drawn).mean() > 0.3
    assert (choices(X[:, ::-1], 7, shares) != drawn).mean() > 0.3  # columns are told apart
    texts = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 2] > 0, "yes", None)})
    np.testing.assert_array_equal(choices(texts[10:20], 7, shares), choices(texts, 7, shares)[10:20])
    assert (np.bincount(choices(texts, 7, shares)) > 1000).all()


@pytest.mark.slow
def test_each_point_has_the_answer_of_one_classifier_and_their_mean_risk_is_what_is_certified():
    """On points with known chances of y = 1, whose mean risk is a sum."""
    rng = np.random.default_rng(3)
    support = rng.uniform(size=(200, 2))
    chances = np.where(support[:, 0] > 0.5, 0.9, 0.2)
    rows = rng.integers(200, size=1500)
    model = clone(TREE).fit(support[rows], rng.random(1500) < chances[rows])
    sizes = model.block_sizes_
    assert sizes.min() > 0 and sizes.sum() == len(model.bound_rows_) and len(sizes) == len(model.estimators_) <= 4
    answers = np.stack([one.predict(support) for one in model.estimators_])
    risks = np.where(answers, 1 - chances, chances).mean(axis=1)
    mean_risk = (sizes * risks).sum() / sizes.sum()
    assert mean_risk <= model.risk_bound_ < mean_risk + 0.06
    drawn = []
    for seed in range(400):
        model._seed = seed
        predicted = model.predict(support)
        assert (predicted == answers).any(axis=0).all()
        drawn.append(np.where(predicted, 1 - chances, chances).mean())
    assert np.mean(drawn) == pytest.approx(mean_risk, abs=5 * np.std(drawn) / np.sqrt(400) + 1e-9)


def test_classifiers_are_tested_by_rows_that_they_have_not_seen():
    X, y = load_iris(return_X_y=True)
    model = clone(TREE).fit(X, y)
    assert model.arm_ == "progressive" and model.arm_bounds_ == {"progressive": model.risk_bound_}
    assert model.test_set_bound_ is None and sum(t.risk for t in model.certificate_) == pytest.approx(model.risk_bound_)
    order = np.random.RandomState(0).permutation(150)  # which rows come last is not told: change what is not counted
    assert len(order) - len(model.bound_rows_) >= 45
    first = np.setdiff1d(np.arange(150), model.bound_rows_)
    changed = y.copy()
    changed[model.bound_rows_] = (changed[model.bound_rows_] + 1) % 3
    again = clone(TREE).fit(X, changed)
    for one, other in zip(model.estimators_[:1], again.estimators_[:1], strict=True):
        np.testing.assert_array_equal(one.predict(X[first]), other.predict(X[first]))
    assert again.n_errors_ > model.n_errors_ == round(model.certificate_[0].risk * len(model.bound_rows_))


def test_few_rows_and_many_blocks_still_certify():
    X, y = load_iris(return_X_y=True)
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    model = clone(TREE).set_params(estimator=scaled, n_blocks=1000, prior_fraction=0.5).fit(X[40:60], y[40:60])
    assert 0 < model.risk_bound_ <= 1 and (model.block_sizes_ == 1).all()


def test_the_bound_after_so_many_rows_is_that_of_a_certificate_which_ends_there():
    rng = np.random.default_rng(0)
    n, starts = 60, np.array([0, 15, 40])
    progress = Progress(np.arange(n), starts, rng.random(n) < 0.2, rng.random(n), (4, 8), 0.03, 0.05)
    bounds = progress.bounds_after(np.arange(1, n + 1))
    for limit in (1, 4, 8):
        row = np.flatnonzero(progress.wrong)[limit - 1]
        assert bounds[row] == pytest.approx(float(progress.ending_at(limit).bound))


def test_the_rows_of_a_fit_are_its_progress():
    X, y = load_iris(return_X_y=True)
    model = clone(TREE).fit(X, y)
    progress = model.progress_
    counted = progress.rows[: model.block_sizes_.sum()]
    np.testing.assert_array_equal(np.sort(counted), model.bound_rows_)
    assert progress.wrong[: len(counted)].sum() == model.n_errors_
    assert min(float(progress.ending_at(limit).bound) for limit in progress.limits) == model.risk_bound_
