"""The classifier that bounds its own risk: what it promises, what it pays for, and scikit-learn's checks."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from scipy.stats import binom
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import rff_engine as rff
from rff_engine import bounds, certificates
from rff_engine.certificates import THRESHOLDS, Choice, HeldOutErrors, learn_vote, least_surrogates, unit_features
from rff_engine.certified_classifier import WIDTHS

KERNEL = rff.GaussianKernel(1.5)
RANDOM = rff.RandomFourierFeatures(KERNEL, 8)
LEARNED = rff.PseudoPosteriorFeatures(KERNEL, 4, 50, beta="bound")
OPTIMIZED = rff.OptimizedKernelFeatures(KERNEL, 4, 50, rho=0.01)
CHOSEN = rff.LandmarkSimilarity(KERNEL, 5, "random", "prior")
LANDMARKS = rff.LandmarkSimilarity(n_landmarks=6, n_components=8)
BOOSTED = [rff.LandmarkBoosting(KERNEL, 12, weak_learner, n_components=6) for weak_learner in ("landmark", "cosine")]
MODELS = [
    rff.CertifiedClassifier(LEARNED, random_state=0),
    rff.CertifiedClassifier(LANDMARKS, random_state=0),
    rff.CertifiedClassifier([RANDOM, LANDMARKS], prior_fraction=0.3, epsilon=0.01, random_state=0),
    rff.CertifiedClassifier([RANDOM, LEARNED, OPTIMIZED], prior_fraction=0, random_state=0, n_draws=2),
    rff.CertifiedClassifier([CHOSEN], prior_fraction=0, random_state=0),
]
IDS = ["learned", "landmarks", "two maps", "no prior rows", "chosen landmarks"]
every_model = pytest.mark.parametrize("model", MODELS, ids=IDS)


def sample(n=300, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < noise)


@pytest.mark.slow
@every_model
def test_the_terms_of_the_certificate_add_up_to_the_bound(model):
    fitted = clone(model).fit(*sample())
    assert sum(term.risk for term in fitted.certificate_) == pytest.approx(fitted.risk_bound_, rel=1e-9)
    n, error = len(fitted.bound_rows_), fitted.certificate_[0].risk
    total = sum(term.nats for term in fitted.certificate_)
    if fitted.arm_ == "test set":
        assert binom.cdf(round(n * error), n, fitted.risk_bound_) == pytest.approx(np.exp(-total), rel=1e-6)
        return
    reached = bounds.gibbs_classifier(error, total - np.log(2 * np.sqrt(n) / 0.5), 0.0, n, 0.5)
    threshold = float(fitted.certificate_[-1].name.split()[-1])
    assert fitted.risk_bound_ == pytest.approx(min(1, reached / ndtr(threshold)), rel=1e-6)


@pytest.mark.slow
@every_model
def test_the_bound_is_that_of_its_formula(model):
    X, y = sample()
    fitted = clone(model).fit(X, y)
    rows = fitted.bound_rows_
    signs = 2.0 * y[rows] - 1
    features = np.column_stack([fitted.features_.transform(X[rows]), np.ones(len(rows))])
    z = features / np.sqrt((features**2).sum(axis=1))[:, None]
    margins = signs * (z @ fitted.coef_)
    scale = np.linalg.norm(fitted.coef_ - fitted.prior_coef_)
    n_maps = len(model.features) * model.n_draws if model.prior_fraction == 0 else 1
    learned = model.prior_fraction == 0 and hasattr(fitted.features_, "weights_")
    ratio = 0.0
    if learned:
        chosen = fitted.features_.candidate_indices_
        ratio = sum(np.log(50 * fitted.features_.weights_[i]) for i in chosen)
    if model is MODELS[4]:
        ratio = np.log(math.comb(300, 5))
        assert len(rows) == 295 and not set(rows) & set(fitted.features_.landmark_indices_)
    alone = ratio, scale, len(rows), model.epsilon, n_maps
    paid = (*alone[:-1], n_maps * len(THRESHOLDS))
    if model.prior_fraction == 0:
        votes = [bounds.majority_vote(ndtr(t - margins).mean(), t, *paid) for t in THRESHOLDS]
        assert fitted.arm_ == "posterior" and fitted.test_set_bound_ is fitted.n_errors_ is None
        assert fitted.arm_bounds_ == {"posterior": fitted.risk_bound_}
        assert fitted.risk_bound_ == pytest.approx(min(votes), rel=1e-9)
    else:
        errors = (margins <= 0).sum()
        assert fitted.test_set_bound_ == pytest.approx(bounds.test_set(errors, len(rows), model.epsilon), rel=1e-9)
        assert fitted.arm_ == "test set" and scale == 0  # on this sample
        assert fitted.risk_bound_ == pytest.approx(bounds.test_set(errors, len(rows), 0.9 * model.epsilon), rel=1e-9)
    of_gibbs = paid if model.prior_fraction == 0 else alone
    assert fitted.gibbs_bound_ == pytest.approx(bounds.gibbs_classifier(ndtr(-margins).mean(), *of_gibbs), rel=1e-9)
    tandems = [bounds.tandem((ndtr(t - margins) ** 2).mean(), t, *paid) for t in THRESHOLDS]
    assert fitted.tandem_bound_ == pytest.approx(min(tandems), rel=1e-9)
    disagreement = (2 * ndtr(margins) * ndtr(-margins)).mean()
    c_bound = bounds.c_bound(ndtr(-margins).mean(), disagreement, *alone)
    assert fitted.c_bound_ == pytest.approx(c_bound, rel=1e-9)


@pytest.fixture
def short_prior(monkeypatch):
    """A prior from eight rows, whose weights are short enough for the posterior to move."""
    monkeypatch.setattr(certificates, "_PRIOR_SCALES", np.array([4.0]))
    return rff.CertifiedClassifier(FunctionTransformer(), prior_fraction=0.005, random_state=0)


def half_planes(n=1500):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, X[:, 0] > 0.3


def test_the_posterior_predicts_where_its_bound_is_the_smaller_one(short_prior):
    X, y = half_planes()
    fitted = short_prior.fit(X, y)
    rows, signs = fitted.bound_rows_, 2.0 * y - 1
    z = unit_features(fitted.features_.transform(X))
    assert fitted.arm_ == "posterior" and (fitted.predict(X) == (z @ fitted.coef_ > 0)).all()
    names = [term.name.split(",")[0] for term in fitted.certificate_]
    assert names[:4] == ["margin error on the rows", "rate fixed beforehand", "confidence", "smaller of two bounds"]
    rate = float(fitted.certificate_[1].name.split()[-1])
    error = ndtr(fitted.threshold_ - signs[rows] * (z[rows] @ fitted.coef_)).mean()
    nats = ((fitted.coef_ - fitted.prior_coef_) ** 2).sum() / 2 + np.log(1 / (0.1 * 0.05))
    bound = (1 - np.exp(-rate * error - nats / len(rows))) / (1 - np.exp(-rate)) / ndtr(fitted.threshold_)
    assert fitted.risk_bound_ == pytest.approx(bound, rel=1e-2)  # the rate is printed with three digits
    assert sum(term.nats for term in fitted.certificate_) == pytest.approx(nats)
    assert sum(term.risk for term in fitted.certificate_) == pytest.approx(fitted.risk_bound_, rel=1e-9)
    errors = (signs[rows] * (z[rows] @ fitted.prior_coef_) <= 0).sum()
    held_out = bounds.test_set(errors, len(rows), 0.9 * 0.05)
    assert fitted.risk_bound_ < fitted.test_set_bound_ < held_out and fitted.n_errors_ == errors
    assert fitted.arm_bounds_ == {"test set": pytest.approx(held_out), "posterior": fitted.risk_bound_}


def test_threshold_and_rate_do_not_look_at_the_rows_of_the_bound(short_prior):
    X, y = half_planes()
    first = clone(short_prior).fit(X, y)
    X[first.bound_rows_] += 0.01
    other = clone(short_prior).fit(X, y)
    assert first.threshold_ == other.threshold_
    assert first.gibbs_bound_ != other.gibbs_bound_
    rates = [[t.name for t in one.certificate_ if t.name.startswith("rate")] for one in (first, other)]
    assert rates[0] == rates[1]


def test_the_rate_is_where_catoni_bound_is_least_for_the_errors_foreseen():
    for error, n_valid, n in ((0.1, 200, 1000), (0.0, 20, 100), (0.4, 50, 30)):
        foreseen = (n_valid * error + 0.5) / (n_valid + 1)
        rate = certificates.catoni_rate(error, n_valid, n, 0.005)
        factors = (1, 0.8, 0.95, 1.05, 1.3)
        least, *others = (bounds.gibbs_classifier(foreseen, 0.0, 0.0, n, 0.005, rate=one * rate) for one in factors)
        assert least < min(others)


@pytest.mark.slow
@every_model
def test_predictions_are_the_majority_of_the_votes(model):
    X, y = sample()
    fitted = clone(model).fit(X, np.where(y, "no", "yes"))
    decision, shares = fitted.decision_function(X), fitted.vote_shares(X)
    np.testing.assert_array_equal(fitted.predict(X), np.where(decision > 0, "yes", "no"))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    rng = np.random.default_rng(1)
    voters = fitted.coef_ + rng.standard_normal((20000, len(fitted.coef_)))
    drawn = (unit_features(fitted.features_.transform(X[:10])) @ voters.T > 0).mean(axis=1)
    np.testing.assert_allclose(shares[:10, 1], drawn, atol=5 * 0.5 / np.sqrt(20000))


def test_transformers_may_give_sparse_features_or_frames():
    X, y = sample()
    binned = KBinsDiscretizer(4, encode="onehot", subsample=None)
    dense = clone(binned).set_params(encode="onehot-dense")
    models = [rff.CertifiedClassifier(one, random_state=0).fit(X, y) for one in (binned, dense)]
    assert models[0].risk_bound_ == models[1].risk_bound_
    np.testing.assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))
    framed = rff.CertifiedClassifier(clone(RANDOM).set_output(transform="pandas"), random_state=0).fit(X, y)
    assert framed.risk_bound_ == rff.CertifiedClassifier(RANDOM, random_state=0).fit(X, y).risk_bound_


@pytest.mark.parametrize(
    ("function", "says"),
    [(lambda X: X[:-1], "has 119 rows for 120 points; one row a point is needed"), (np.isnan, None), (np.log, "NaN")],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_features_that_are_no_numbers_of_the_points_are_named(function, says):
    X, y = sample()
    model = rff.CertifiedClassifier(FunctionTransformer(function), random_state=0)
    if says is None:
        assert model.fit(X, y).risk_bound_ <= 1
        return
    with pytest.raises(ValueError, match=rf"^the output of FunctionTransformer .*{says}.*\.$"):
        model.fit(X, y)


@pytest.mark.parametrize(
    "features",
    [LEARNED, *BOOSTED, rff.PseudoPosteriorFeatures("learned", 4, 50)],
    ids=["learned", "landmarks", "cosines", "kernel"],
)
@pytest.mark.slow
def test_other_labels_on_the_rows_of_the_bound_change_neither_features_nor_prior(features):
    X, y = sample()
    first = rff.CertifiedClassifier(features, random_state=0).fit(X, y)
    y[first.bound_rows_] ^= True
    X[first.bound_rows_] *= 3
    other = clone(first).fit(X, y)
    np.testing.assert_array_equal(other.bound_rows_, first.bound_rows_)
    np.testing.assert_array_equal(other.features_.frequencies_, first.features_.frequencies_)
    np.testing.assert_array_equal(other.prior_coef_, first.prior_coef_)
    assert other.risk_bound_ != first.risk_bound_


@pytest.mark.parametrize("features", [RANDOM, LEARNED, OPTIMIZED], ids=["random", "learned", "optimized"])
def test_the_best_of_several_draws_by_the_same_weights_pays_for_them(features):
    X, y = sample()
    one, several = (
        rff.CertifiedClassifier(features, prior_fraction=0, random_state=0, n_draws=n).fit(X, y) for n in (1, 20)
    )
    assert several.risk_bound_ <= one.posterior_.after_look(20).bound + 1e-3
    assert not np.isin(several.features_.frequencies_, one.features_.frequencies_).all()  # the first is not the best
    if features is not RANDOM:
        np.testing.assert_array_equal(several.features_.weights_, one.features_.weights_)
        chosen = several.features_.candidate_indices_
        np.testing.assert_array_equal(several.features_.frequencies_, several.features_._candidates.take(chosen))


@pytest.mark.parametrize("make", [sample, lambda: three_classes()])
def test_prior_rows_choose_among_draws(make):
    X, y = make()
    found = [
        rff.CertifiedClassifier(rff.RandomFourierFeatures(KERNEL, 2), random_state=seed, n_draws=n).fit(X, y)
        for n in (1, 10)
        for seed in range(5)
    ]
    assert np.mean([model.risk_bound_ for model in found[5:]]) < np.mean([model.risk_bound_ for model in found[:5]])
    with pytest.raises(ValueError, match="n_draws is 2, and features holds NystroemFeatures, which draws no freq"):
        rff.CertifiedClassifier(rff.NystroemFeatures(KERNEL, 5), n_draws=2).fit(X, y)


def test_the_surrogate_is_convex_above_the_margin_error_and_minimised():
    rng = np.random.default_rng(0)
    z = unit_features(rng.normal(size=(80, 5)))
    direction = rng.normal(size=6)

    def objective(mean, threshold, cost):
        u = z @ mean - threshold
        psi = np.where(u >= 0, ndtr(-u), 0.5 - u / np.sqrt(2 * np.pi))
        assert (psi >= ndtr(-u) - 1e-15).all()
        return cost * psi.sum() + ((mean - prior_mean) ** 2).sum() / 2

    for threshold, cost, away in ((0.0, 1.0, 1.0), (2.0, 5.0, 1.0), (1.0, 5.0, 100.0)):  # also far from where it curves
        prior_mean = away * direction
        _, found = least_surrogates(z, prior_mean, threshold, (0.1, cost))
        least = objective(found, threshold, cost)
        for _ in range(50):
            assert objective(found + 0.1 * rng.normal(size=6), threshold, cost) >= least
        ends = rng.normal(size=(2, 6))
        middle = objective(ends.mean(axis=0), threshold, cost)
        assert middle <= np.mean([objective(end, threshold, cost) for end in ends]) + 1e-9


def test_the_bound_of_the_posterior_is_at_most_that_of_the_prior_and_of_twice_the_gibbs_risk():
    X, y = sample(200)
    z, signs = unit_features(rff.fourier_features(X, KERNEL.sample_frequencies(10, 2, 0))), 2.0 * y - 1
    found = learn_vote(z, signs, np.zeros(21), 0.05, Choice(3, 2.0))
    prior = bounds.gibbs_classifier(0.5, 2.0, 0.0, 200, 0.05, 3 * len(THRESHOLDS))
    assert found.bound <= min(2 * prior, 1) and found.bound <= 2 * found.gibbs_bound
    assert found.bound >= found.margin_errors[0]


@pytest.mark.parametrize(
    ("features", "fraction", "said"),
    [
        (LANDMARKS, 0, "features holds LandmarkSimilarity with selection 'kmeans' and similarity 'learned'"),
        (clone(CHOSEN).set_params(selection="kmeans"), 0, "selection 'kmeans' and similarity 'prior'"),
        (clone(CHOSEN).set_params(similarity="learned"), 0, "selection 'random' and similarity 'learned'"),
        (clone(CHOSEN).set_params(kernel=None), 0, "with a width taken from the rows"),
        (clone(CHOSEN).set_params(n_landmarks=40), 0, "whose landmarks are all of the 40 rows"),
        (rff.NystroemFeatures(KERNEL, 5), 0, "features holds NystroemFeatures, which depends on the rows"),
        (BOOSTED[0], 0, "features holds LandmarkBoosting, which depends on the rows"),
        (rff.RandomFourierFeatures(), 0, "with a width taken from the rows"),
        ([], 0.5, "features is an empty list"),
        ("rff", 0.5, "features holds 'rff'"),
        (None, 0.0, r"^prior_fraction 0.0 leaves no rows to choose a width on; features with a kernel"),
    ],
)
def test_what_no_term_pays_for_is_refused(features, fraction, said):
    with pytest.raises(ValueError, match=said):
        rff.CertifiedClassifier(features, fraction).fit(*sample(40))


RARE = {"learned": {"features": LEARNED}, "landmarks": {"features": LANDMARKS}}
RARE |= {scheme: {"estimator": LogisticRegression(), "scheme": scheme} for scheme in ("split", "progressive")}


@pytest.mark.filterwarnings("ignore:The .* rows that teach hold one class only")
@pytest.mark.parametrize("settings", RARE.values(), ids=RARE)
@pytest.mark.parametrize("labels", [[1], [1, 1, 1], [1, 2]])
@pytest.mark.slow
@pytest.mark.more(after=4)
def test_no_seed_makes_a_fit_raise_where_classes_are_rare(settings, labels):
    """A vote that always says the prior's only class has the bound of its errors on the other rows."""
    X, constant = sample(60)[0], 0
    y = np.zeros(60, dtype=int)
    y[: len(labels)] = labels
    for seed in range(20):
        model = rff.CertifiedClassifier(**settings, random_state=seed).fit(X, y)
        rows = model.bound_rows_
        alone = len(set(np.delete(y, rows))) < 2
        constant += alone
        if alone and model.arm_ == "test set":
            assert not model.predict(X).any() and model.n_errors_ == (y[rows] > 0).sum()
            assert model.test_set_bound_ == bounds.test_set(model.n_errors_, len(rows), 0.05)
        assert model.n_errors_ / len(rows) < model.risk_bound_ < 1
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert 0 < constant < 20


def test_a_constant_vote_says_that_it_is_one():
    y = np.arange(60) == 0
    with pytest.warns(UserWarning, match=r"^The 30 rows that teach hold one class only, False, so .* always says it"):
        for seed in range(5):
            rff.CertifiedClassifier(RANDOM, random_state=seed).fit(sample(60)[0], y)


def three_classes(n=600):
    X = np.random.default_rng(1).normal(size=(n, 2))
    return X, np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]


ANY = {
    "trees": DecisionTreeClassifier(max_depth=5),
    "pipeline": make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
    "neighbours": KNeighborsClassifier(3),
}


@pytest.mark.parametrize("estimator", ANY.values(), ids=ANY)
@pytest.mark.parametrize("make", [sample, three_classes])
def test_any_classifier_has_the_bound_of_its_errors_on_rows_that_it_did_not_see(estimator, make):
    X, y = make()
    X[::50, 0] = np.nan if isinstance(estimator, Pipeline) else 0
    model = rff.CertifiedClassifier(estimator=estimator, random_state=0).fit(X, y)
    rows = model.bound_rows_
    others = np.setdiff1d(np.arange(len(y)), rows)
    assert len(rows) == len(others) and not hasattr(estimator, "classes_")
    errors = (model.predict(X[rows]) != y[rows]).sum()
    assert model.arm_ == "test set"
    assert model.risk_bound_ == model.test_set_bound_ == bounds.test_set(errors, len(rows), 0.05)
    assert sum(term.risk for term in model.certificate_) == pytest.approx(model.risk_bound_)
    y[rows], X[rows] = y[rows][::-1], 9.0
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.predict(X[others]), model.predict(X[others]))


@pytest.mark.parametrize("scheme", ["split", "progressive"])
def test_a_classifier_may_take_a_frame_with_texts(scheme):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["red", "green"], 300), "size": rng.normal(size=300)})
    y = np.where((frame["colour"] == "red") & (frame["size"] > -1), "yes", "no")
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    given = {"estimator": make_pipeline(encoder, DecisionTreeClassifier()), "scheme": scheme, "random_state": 0}
    model = rff.CertifiedClassifier(**given, n_blocks=4, prior_fraction=0.3).fit(frame, y)
    assert model.risk_bound_ < 0.15 and list(model.feature_names_in_) == ["colour", "size"]
    np.testing.assert_array_equal(model.predict(frame[5:9]), model.predict(frame)[5:9])
    assert model.predict(frame).dtype == y.dtype
    with pytest.raises(ValueError, match="columns are missing"):
        model.predict(frame[["size"]])


def test_several_classes_have_one_vote_against_the_rest_each():
    X, y = three_classes()
    model = rff.CertifiedClassifier([RANDOM, LANDMARKS], random_state=0).fit(X, y)
    rows = model.bound_rows_
    z = unit_features(model.features_.transform(X))
    assert model.coef_.shape == (3, z.shape[1])
    decisions = model.decision_function(X)
    np.testing.assert_allclose(decisions, np.stack([z @ row for row in model.coef_], axis=1))
    np.testing.assert_array_equal(model.predict(X), model.classes_[decisions.argmax(axis=1)])
    errors = (model.predict(X[rows]) != y[rows]).sum()
    assert model.risk_bound_ == bounds.test_set(errors, len(rows), 0.05) < 0.3
    with pytest.raises(ValueError, match=r"^vote_shares are those of 2 classes; there are 3\.$"):
        model.vote_shares(X)


def test_bounds_of_groups_share_epsilon():
    X, y = three_classes()
    model = rff.CertifiedClassifier(estimator=ANY["trees"], random_state=0).fit(X, y)
    rows = model.bound_rows_
    found = model.certify_groups(X[rows], y[rows], y[rows])
    assert [one.group for one in found] == ["a", "b", "c"]
    for group, n, n_errors, bound in found:
        own = rows[y[rows] == group]
        assert (n, n_errors) == (len(own), (model.predict(X[own]) != group).sum())
        assert bound == bounds.test_set(n_errors, n, 0.05 / 3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.certify_groups(X[rows], y[rows], y)


def test_precisions_and_recalls_have_half_of_epsilon_each_and_share_it_among_classes():
    X, y = three_classes()
    model = rff.CertifiedClassifier(estimator=ANY["trees"], random_state=0).fit(X, y)
    X, y = X[model.bound_rows_], y[model.bound_rows_]
    y[::20] = "d"  # a class that did not teach
    X, y = X[y != "a"], y[y != "a"]
    predicted = model.predict(X)
    found = model.certify_classes(X, y)
    assert [one.label for one in found] == ["a", "b", "c", "d"]
    for label, n, n_predicted, n_right, precision, recall in found:
        said, own = predicted == label, y == label
        assert (n, n_predicted, n_right) == (own.sum(), said.sum(), (said & own).sum())
        for bound, count in ((precision, n_predicted), (recall, n)):
            assert bound == (1 - bounds.test_set(count - n_right, count, 0.05 / 2 / 3) if count else 0)
    assert found[0].recall_bound == found[3].precision_bound == found[3].recall_bound == 0 < found[1].precision_bound
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.certify_classes(X, y[1:])


def test_coverages_and_risks_of_answers_share_epsilon():
    X, y = three_classes()
    model = rff.CertifiedClassifier(estimator=KNeighborsClassifier(9), random_state=0).fit(X, y)
    X, y = X[model.bound_rows_], y[model.bound_rows_]
    scores = model.predict_proba(X).max(axis=1)
    wrong, n = model.predict(X) != y, len(y)
    found = model.certify_selection(X, y, scores, [2.0, 0.8, 0.0])
    for threshold, one in zip((2.0, 0.8, 0.0), found, strict=True):
        own = scores >= threshold
        assert one[:3] == (threshold, own.sum(), wrong[own].sum())
        assert one.coverage_bound == 1 - bounds.test_set(n - own.sum(), n, 0.05 / 6)
        assert one.risk_bound == (bounds.test_set(wrong[own].sum(), own.sum(), 0.05 / 6) if own.any() else 1)
    assert found[0].coverage_bound == 0 and found[1].risk_bound < found[2].risk_bound
    assert model.certify_selection(X, y, scores, []) == ()
    for given in ((scores[1:], [0.5]), (scores, 0.5), (scores, ["high"]), (np.full(n, np.nan), [0.5])):
        with pytest.raises(ValueError, match=r"inconsistent numbers|1d array|thresholds holds text|scores"):
            model.certify_selection(X, y, *given)


@pytest.mark.slow
def test_bounds_on_classes_and_answers_hold_at_once_and_without_shares_would_not():
    """Against risks that are finite sums: points are ten numbers, of which each has chances of three classes."""
    said, scores = np.arange(10) % 3, np.arange(10) / 10
    chances = np.random.default_rng(0).dirichlet(np.ones(3), 10) + 2 * np.eye(3)[said] * scores[:, None]
    chances /= chances.sum(axis=1, keepdims=True)
    right = chances[np.arange(10), said]
    thresholds = np.array([0.0, 0.3, 0.5, 0.7])
    risks = [(1 - right)[scores >= threshold].mean() for threshold in thresholds]
    by_class = [right[said == k].sum() for k in range(3)]
    recalls, precisions = by_class / chances.sum(axis=0), by_class / np.bincount(said)
    fitted = DecisionTreeClassifier().fit(np.arange(10)[:, None], said)
    model = rff.CertifiedClassifier(estimator=FrozenEstimator(fitted)).fit(np.arange(10)[:, None], said)
    rng, draws, failures = np.random.default_rng(1), 120, np.zeros((2, 2), dtype=int)
    for _ in range(draws):
        x = rng.integers(10, size=150)
        y = (chances[x].cumsum(axis=1) < rng.random(150)[:, None]).sum(axis=1)
        for shares, epsilons in enumerate(((0.1, 0.1), (0.6, 0.8))):  # 6 statements, and 8, at 0.1 together or each
            found = model.set_params(epsilon=epsilons[0]).certify_classes(x[:, None], y)
            true = zip(precisions, recalls, strict=True)
            failures[0, shares] += any(
                one.precision_bound > p or one.recall_bound > r for one, (p, r) in zip(found, true, strict=True)
            )
            found = model.set_params(epsilon=epsilons[1]).certify_selection(x[:, None], y, scores[x], thresholds)
            failures[1, shares] += any(
                one.risk_bound < risk or one.coverage_bound > 1 - one.threshold
                for one, risk in zip(found, risks, strict=True)
            )
    most = binom.ppf(0.999, draws, 0.1)
    assert (failures[:, 0] <= most).all() and (failures[:, 1] > most).all(), failures


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"estimator": LinearRegression()}, r"^estimator is LinearRegression\(\); a classifier is needed\.$"),
        ({"estimator": DecisionTreeClassifier}, r"^estimator is .*; a classifier is needed\.$"),
        ({"estimator": ANY["trees"], "features": RANDOM}, r"^estimator and features are both given"),
        ({"scheme": "progressive"}, r"^scheme is 'progressive', which fits .* is not frozen is needed\.$"),
        (
            {"estimator": FrozenEstimator(ANY["trees"]), "scheme": "progressive"},
            r"^scheme is .* is not frozen is needed",
        ),
        (
            {"estimator": ANY["trees"], "prior_fraction": 0},
            r"^prior_fraction 0 leaves .* or FrozenEstimator of a model",
        ),
        (
            {"features": RANDOM, "prior_fraction": 0},
            r"^Only binary .* prior_fraction 0 leaves\. Classes in y: 3, not 2\.$",
        ),
    ],
)
def test_what_a_test_set_cannot_certify_is_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        rff.CertifiedClassifier(**settings).fit(*three_classes())
    with pytest.raises(ValueError, match=r"^y holds one class only, 0\.0; at least 2 are needed\.$"):
        rff.CertifiedClassifier(RANDOM).fit(np.eye(9), np.zeros(9))


def test_an_estimator_has_no_voters():
    model = rff.CertifiedClassifier(estimator=ANY["trees"]).fit(*sample())
    with pytest.raises(ValueError, match=r"^vote_shares are those of features; an estimator has no voters\.$"):
        model.vote_shares(sample()[0])


@pytest.mark.parametrize("make", [sample, three_classes])
def test_a_fitted_model_is_certified_as_it_is_by_every_row(make):
    X, y = make()
    fitted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:100], y[:100])
    before = pickle.dumps(fitted)
    model = rff.CertifiedClassifier(estimator=FrozenEstimator(fitted)).fit(X[100:], y[100:])
    n, n_errors = len(y) - 100, (fitted.predict(X[100:]) != y[100:]).sum()
    assert pickle.dumps(fitted) == before and model.estimator_.estimator is fitted
    np.testing.assert_array_equal(model.bound_rows_, np.arange(n))
    assert (model.n_errors_, model.risk_bound_) == (n_errors, bounds.test_set(n_errors, n, 0.05))
    assert model.majority_error_ == pytest.approx(1 - np.unique(y[100:], return_counts=True)[1].max() / n)
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))
    alone = rff.CertifiedClassifier(estimator=model.estimator).fit(X[100:], np.repeat(y[0], n))  # one class
    assert alone.n_errors_ == (fitted.predict(X[100:]) != y[0]).sum() and list(alone.classes_) == list(fitted.classes_)


@pytest.mark.parametrize("settings", [{"estimator": ANY["trees"]}, {"features": RANDOM}, {"features": LANDMARKS}])
def test_the_majority_is_that_of_the_rows_that_teach_and_errs_on_the_others(settings):
    X, y = three_classes(100)
    model = rff.CertifiedClassifier(**settings, prior_fraction=0.2, random_state=0).fit(X, y)
    names, counts = np.unique(np.delete(y, model.bound_rows_), return_counts=True)
    assert model.majority_error_ == (y[model.bound_rows_] != names[counts.argmax()]).mean()


@pytest.mark.slow
def test_a_classifier_answers_what_its_estimator_answers():
    X = sample(400)[0]
    y = X.sum(axis=1) > 0
    estimators = HistGradientBoostingClassifier(max_iter=5), RidgeClassifier(), None
    for estimator, methods in zip(estimators, (2, 1, 1), strict=True):
        model = rff.CertifiedClassifier(estimator=estimator, random_state=0)
        for one in (model, clone(model).fit(X, y)):
            assert [hasattr(one, name) for name in ("decision_function", "predict_proba")] == [True, methods == 2]
        assert cross_val_score(model, X, y, scoring="roc_auc", cv=2, error_score="raise").min() > 0.6
        assert CalibratedClassifierCV(model, cv=2).fit(X, y).predict_proba(X).shape == (400, 2)
        assert StackingClassifier([("one", model)], cv=2).fit(X, y).score(X, y) > 0.6
    model.set_params(estimator=estimators[0])
    assert cross_val_score(model, X, y, scoring="neg_log_loss", cv=2, error_score="raise").min() > -0.7
    assert VotingClassifier([("one", model)], voting="soft").fit(X, y).score(X, y) > 0.6
    assert not hasattr(model.set_params(scheme="progressive"), "predict_proba")


def test_a_class_that_did_not_teach_has_a_column():
    X = sample(60)[0]
    y = np.digitize(np.arange(60), [25, 59])
    for seed in range(20):
        model = rff.CertifiedClassifier(estimator=LogisticRegression(), random_state=seed).fit(X, y)
        chances, decisions = model.predict_proba(X), model.decision_function(X)
        assert chances.shape == decisions.shape == (60, 3)
        np.testing.assert_array_equal(decisions.argmax(axis=1), model.predict(X))
        assert (chances[:, 2] == 0).all() == (59 in model.bound_rows_)


@pytest.mark.parametrize("make", [sample, three_classes])
def test_features_may_fill_and_encode(make):
    X, y = make()
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(kind=np.where(X[:, 0] > 0, "a", "b"))
    frame.loc[::9, "y"] = np.nan
    encoded = make_column_transformer((OneHotEncoder(), ["kind"]), (SimpleImputer(), ["x", "y"]))
    model = rff.CertifiedClassifier(make_pipeline(encoded, RANDOM), random_state=0).fit(frame, y)
    assert model.risk_bound_ < 0.5 and model.predict(frame[:5]).tolist() == model.predict(frame)[:5].tolist()
    for features in (RANDOM, [make_pipeline(encoded, RANDOM), RANDOM]):
        with pytest.raises(ValueError, match=r"^Input X contains NaN|could not convert string"):
            rff.CertifiedClassifier(features).fit(frame.drop(columns="kind"), y)


def test_weights_of_rows_teach_and_do_not_count():
    X, y = sample()
    weights = np.random.default_rng(0).random(len(y))
    model = rff.CertifiedClassifier(estimator=LogisticRegression(), random_state=0).fit(X, y, sample_weight=weights)
    taught = np.setdiff1d(np.arange(len(y)), model.bound_rows_)
    alone = LogisticRegression().fit(X[taught], y[taught], sample_weight=weights[taught])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-4)
    n_errors = (model.predict(X) != y)[model.bound_rows_].sum()
    assert model.risk_bound_ == bounds.test_set(n_errors, len(model.bound_rows_), 0.05)
    for one in (model.set_params(scheme="progressive"), rff.CertifiedClassifier()):
        with pytest.raises(ValueError, match=r"^fit is given sample_weight, which only an estimator .* once\.$"):
            one.fit(X, y, sample_weight=weights)


def test_by_default_a_width_is_chosen_on_the_rows_of_the_prior():
    X, y = sample(200)
    X = 30 * X
    model = rff.CertifiedClassifier(random_state=0).fit(X, y)
    others = np.setdiff1d(np.arange(200), model.bound_rows_)
    scale = np.sqrt(X[others].var() * X.shape[1] / 2)
    assert scale > 2 * max(WIDTHS)  # no width fits without it
    assert any(model.features_.kernel_.sigma == pytest.approx(width * scale) for width in WIDTHS)
    with pytest.raises(ValueError, match="prior_fraction above 0"):
        rff.CertifiedClassifier(prior_fraction=0).fit(X, y)


@pytest.mark.parametrize(("n_errors", "n"), [(0, 50), (3, 40), (36, 300), (500, 10_000)])
def test_rows_for_a_bound_are_the_fewest_that_give_it(n_errors, n):
    found = HeldOutErrors(n_errors, n, 0.05)
    as_seen, fewest, most = found.rows_for(found.bound)
    assert abs(as_seen - n) <= 1 and fewest <= as_seen <= most
    aim = (n_errors / n + found.bound) / 2
    rows = int(found.rows_for(aim)[0])
    errors = rows * n_errors / n
    if n_errors == 0:  # a whole number
        assert bounds.test_set(0, rows, 0.05) <= aim < bounds.test_set(0, rows - 1, 0.05)
    assert bounds.test_set(int(errors), rows, 0.05) <= aim <= bounds.test_set(int(errors) + 1, rows - 1, 0.05)
    assert found.rows_for(n_errors / n)[0] == found.rows_for(n_errors / n)[2] == np.inf
