"""Certified classifiers in the plane: terms, rows that a bound would need, and their figures."""

import warnings
from base64 import b64decode

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import datasets
import rff_engine as rff
from pages.bounds.certificates import view
from pages.shared.figures import certificates as figures
from rff_engine.studies.toy import certificates as toy

KERNEL = rff.GaussianKernel(0.5)
SAMPLE, FRESH = datasets.make_toy("moons", 400, 0.2, 0), datasets.make_toy("moons", 500, 0.2, 1)


def vote(method="pbrff", D=10, cells=11, **settings) -> toy.CertifiedVote:
    model = toy.certified_classifier(SAMPLE.X, SAMPLE.y, KERNEL, method, D, **({"random_state": 0} | settings))
    return toy.certified_vote(model, SAMPLE.X, SAMPLE.y, FRESH.X, FRESH.y, 1.5, cells)


def certified(*arguments, **settings) -> toy.Certificate:
    return vote(*arguments, **settings).certificate()


@pytest.mark.parametrize("method", toy.METHODS)
def test_the_learned_vote_has_the_certificate_of_its_classifier(method):
    made = vote(method, prior_fraction=0.0)
    found, model = made.certificate(), made.model
    assert found.risk_bound == pytest.approx(model.risk_bound_, abs=1e-5)
    assert found.gibbs_bound == pytest.approx(model.gibbs_bound_, abs=1e-5)
    np.testing.assert_allclose([term.nats for term in found.terms], [t.nats for t in model.certificate_], atol=1e-3)
    assert found.test_error == pytest.approx(np.mean(model.predict(FRESH.X) != FRESH.y), abs=0.004)


@pytest.mark.parametrize("D", [2, 10])
def test_with_prior_rows_the_line_has_both_arms_of_the_classifier(D):
    made = vote("rff", D, prior_fraction=0.5)
    found, arms = made.certificate(float(made.pays)), made.model.arm_bounds_
    assert found.risk_bound == pytest.approx(arms["posterior"], abs=1e-5)
    assert found.test_set_bound == arms["test set"]
    along = [made.certificate(s).risk_bound for s in (0.0, 0.5, 1.0, 2.0)]
    assert made.pays or (np.diff(along) > 0).all()
    looked = made.certificate(0.0, 5)
    assert looked.test_set_bound > found.test_set_bound and looked.risk_bound > along[0]
    promised = toy.certificate(made.model, FRESH.X, FRESH.y)
    assert (promised.arm, promised.risk_bound) == (made.model.arm_, min(arms.values()))


def test_the_vote_without_a_step_is_the_prior_s_and_spends_nothing_on_weights():
    made = vote("rff", prior_fraction=0.5)
    found = made.certificate(0.0)
    assert next(term.nats for term in found.terms if term.name == "weights") == 0
    z = made.model.features_.transform(FRESH.X)
    decision = np.column_stack([z, np.ones(len(z))]) @ made.model.prior_coef_
    assert found.test_error == pytest.approx(np.mean(np.sign(decision) != FRESH.y), abs=0.004)


def test_the_learned_step_is_nearly_the_best_of_its_line():
    made = vote(prior_fraction=0.0)
    bounds = {s: made.certificate(s).risk_bound for s in (0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0)}
    assert bounds[1.0] <= min(bounds.values()) + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("method", toy.METHODS)
@pytest.mark.parametrize("prior_fraction", [0.0, 0.5])
def test_terms_add_up_to_the_bound(method, prior_fraction):
    found = certified(method, prior_fraction=prior_fraction)
    assert sum(term.risk for term in found.terms) == pytest.approx(found.risk_bound)
    assert (found.test_set_bound is None) == (prior_fraction == 0)
    assert found.n_bound == 400 * (1 - prior_fraction)


@pytest.mark.slow
def test_copies_that_are_meant_are_not_warned_of():
    X, y = np.repeat(SAMPLE.X, 5, axis=0), np.repeat(SAMPLE.y, 5)
    with pytest.warns(UserWarning, match="copies of others"):
        rff.CertifiedClassifier(random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        toy.certified_classifier(X, y, KERNEL, "rff", 5)


def test_votes_agree_with_predictions():
    made = vote("rff", 20, prior_fraction=0.0)
    votes = made.prior_map + made.step_map
    centres = 1.5 * (2 * (np.arange(11) + 0.5) / 11 - 1)
    at = np.array([[votes[row, column] > 0 for column in range(11)] for row in range(11)])
    grid = np.array([(x, y) for y in centres for x in centres])
    np.testing.assert_array_equal(at.ravel(), made.model.predict(grid) == 1)


@pytest.mark.slow
def test_the_live_view_has_the_terms_of_every_step_and_pays_for_a_look():
    made = vote("pbrff", prior_fraction=0.0)
    packed = view._pack_vote(5, made, n_looks=2)["terms"]
    plain, after_look = (np.frombuffer(b64decode(risks), "<f4").reshape(61, -1) for risks in packed)
    for place, stretch in ((0, 0.0), (20, 1.0), (43, 2.15)):
        found = made.certificate(stretch)
        np.testing.assert_allclose(plain[place], [term.risk for term in found.terms], atol=1e-7)
        looked = made.certificate(stretch, 2)
        assert after_look[place].sum() == pytest.approx(looked.risk_bound, abs=1e-6)
        spent = [sum(term.nats for term in one.terms) for one in (found, looked)]
        assert looked.risk_bound >= found.risk_bound and spent[1] - spent[0] == pytest.approx(np.log(2))
    # A vote that comes alone was fixed beforehand.
    assert view._pack_vote(10, made, n_looks=1)["terms"] == [packed[0]] * 2


def test_the_figure_of_the_terms_ends_at_the_certified_risk():
    found = certified(prior_fraction=0.0)
    bars = [trace for trace in figures.ledger(found).data if trace.type == "bar"]
    *terms, total = ((bar.base[0], bar.x[0]) for bar in bars)
    assert len(terms) == len(found.terms)
    ends = [base + length for base, length in terms]
    np.testing.assert_allclose([base for base, _ in terms[1:]], ends[:-1])
    assert ends[-1] == pytest.approx(100 * found.risk_bound) and total == (0, pytest.approx(ends[-1]))


@pytest.mark.parametrize(
    ("settings", "message"), [({"method": "svm"}, "method is 'svm'"), ({"tries": 0}, "tries is 0")]
)
def test_a_value_that_is_not_allowed_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        certified(**settings)


@pytest.fixture(scope="module")
def blocks():
    points = SAMPLE.X, SAMPLE.y, FRESH.X, FRESH.y, 1.5
    return toy.certified_blocks(*points, rff.GaussianKernel(0.5), "rff", 10, 4, epsilon=0.1, random_state=3)


@pytest.mark.slow
def test_blocks_and_test_set_have_the_same_halves_and_the_same_first_classifier(blocks):
    n = len(SAMPLE.y)
    np.testing.assert_array_equal(np.sort(blocks.rows), np.arange(n))
    assert blocks.n_first + blocks.n_bound == n and blocks.sizes.sum() == len(blocks.wrong) <= blocks.n_bound
    learner = make_pipeline(rff.RandomFourierFeatures(rff.GaussianKernel(0.5), 10), RidgeClassifier())
    model = rff.CertifiedClassifier(epsilon=0.1, random_state=3, estimator=learner).fit(np.float32(SAMPLE.X), SAMPLE.y)
    assert model.risk_bound_ == blocks.test_set_bound
    np.testing.assert_array_equal(model.bound_rows_, np.sort(blocks.rows[blocks.n_first :]))
    first = blocks.rows[blocks.n_first :][: blocks.sizes[0]]
    wrong = model.predict(np.float32(SAMPLE.X[first])) != SAMPLE.y[first]
    np.testing.assert_array_equal(wrong, blocks.wrong[: blocks.sizes[0]])


def test_the_line_of_blocks_passes_through_its_ends_and_the_least_is_certified(blocks):
    assert blocks.ends[:, 1].min() == blocks.risk_bound
    counted, bound = blocks.ends[blocks.ends[:, 1].argmin()]
    assert counted == blocks.sizes.sum() == blocks.counts[-1]
    reached = blocks.wrong[-1]  # the end is an error, or that of the points
    assert not reached or blocks.bounds[-1] == pytest.approx(bound)
    drawn = figures.blocks_and_test_set(blocks)
    assert {round(trace.y[0], 6) for trace in drawn.data[2:]} == {
        round(100 * risk, 6) for risk in (blocks.test_set_bound, blocks.test_error)
    }
