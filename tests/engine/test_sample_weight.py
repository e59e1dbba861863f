"""Sample weights: a whole weight counts as repeated rows, others make a weighted mean; and fits by blocks of rows."""

import operator
import pickle
from functools import reduce

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import rff_engine as rff

N, D_IN = 14, 3
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, D_IN)), np.array(["a", "b", "c"])[np.arange(N) % 3]
OMEGA = RNG.normal(size=(6, D_IN))
WHOLE = np.array([0, 1, 2, 3, 1, 0, 4, 1, 1, 2, 5, 1, 0, 2])
FRACTIONS = RNG.uniform(0.1, 1.0, N)
KERNEL = rff.GaussianKernel(1.5)
LEARNERS = [
    rff.PseudoPosteriorFeatures(KERNEL, 5, 40, beta=3.0, random_state=0),
    rff.PseudoPosteriorFeatures(None, 5, 40, beta="bound", random_state=0),
    rff.OptimizedKernelFeatures(KERNEL, 5, 40, rho=0.1, random_state=0),
    rff.OptimizedKernelFeatures(None, 5, 40, rho="bound", random_state=0),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda e: type(e).__name__)


def pair_losses(X, y, landmarks=None, labels=None):
    """Loss of every pair at every frequency, (n, m, D), from the definition."""
    landmarks, labels = (X, y) if landmarks is None else (landmarks, labels)
    signs = np.where(np.asarray(labels)[:, None] == np.asarray(y), 1, -1)
    cosines = np.cos((landmarks[:, None] - X[None]) @ OMEGA.T)
    return (1 - signs[..., None] * cosines) / 2


def weighted_mean(weights):
    """The formula of `alignment_loss`, as a sum over pairs."""
    numerator = np.einsum("i,j,ijm->m", weights, weights, pair_losses(X, Y))
    return numerator / sum(w * (weights.sum() - min(w, 1)) for w in weights)


# --- losses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_whole_weights_equal_repeated_rows(container):
    expected = rff.alignment_loss(X.repeat(WHOLE, axis=0), Y.repeat(WHOLE), OMEGA)
    loss = rff.alignment_loss(container(X), Y, OMEGA, sample_weight=WHOLE)
    np.testing.assert_allclose(loss, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(loss, weighted_mean(WHOLE), rtol=0, atol=1e-12)


@pytest.mark.parametrize("weights", [np.ones(N), *(scale * FRACTIONS for scale in (1, 0.3, 3, 1e-80, 1e80))])
def test_loss_is_the_weighted_mean_over_pairs(weights):
    loss = rff.alignment_loss(X, Y, OMEGA, sample_weight=weights)
    np.testing.assert_allclose(loss, weighted_mean(weights), rtol=0, atol=1e-12)
    assert (loss >= 0).all() and (loss <= 1).all()


def test_float32_rows_are_weighted_in_float64():
    weights = 1e30 * FRACTIONS
    loss = rff.alignment_loss(X.astype(np.float32), Y, OMEGA, sample_weight=weights)
    np.testing.assert_allclose(loss, weighted_mean(weights), rtol=0, atol=1e-6)


@pytest.mark.parametrize("own", [False, True], ids=["shared", "own"])
@pytest.mark.parametrize("weights", [WHOLE, FRACTIONS], ids=["whole", "fractions"])
@pytest.mark.parametrize("indexed", [False, True])
def test_landmark_loss_is_the_weighted_mean_over_the_other_points(own, weights, indexed):
    rows = np.array([1, 3, 10])
    omega = np.broadcast_to(OMEGA, (3, *OMEGA.shape)) if own else OMEGA
    given = rows if indexed else None
    loss = rff.landmark_alignment_loss(X, Y, X[rows], Y[rows], omega, given, sample_weight=weights)
    pairs = pair_losses(X, Y, X[rows], Y[rows])
    left_out = np.minimum(weights[rows], 1) if indexed else np.zeros(3)
    expected = np.einsum("j,ljm->lm", weights, pairs) / (weights.sum() - left_out)[:, None]
    np.testing.assert_allclose(loss, expected, rtol=0, atol=1e-12)
    if weights is WHOLE:
        first = np.concatenate([[0], np.cumsum(WHOLE)])[rows] if indexed else None
        repeated = X.repeat(WHOLE, axis=0), Y.repeat(WHOLE)
        again = rff.landmark_alignment_loss(*repeated, X[rows], Y[rows], omega, first)
        np.testing.assert_allclose(loss, again, rtol=0, atol=1e-12)


def test_weighted_sums_of_parts_add_up():
    whole = rff.alignment_sums(X, Y, OMEGA, sample_weight=FRACTIONS)
    parts = [slice(0, 1), slice(1, 6), slice(6, N)]
    sums = [rff.alignment_sums(X[at], Y[at], OMEGA, sample_weight=FRACTIONS[at]) for at in parts]
    total = reduce(operator.add, pickle.loads(pickle.dumps(sums)))
    np.testing.assert_allclose(total.counts, whole.counts, rtol=1e-14)
    np.testing.assert_allclose(total.loss(), weighted_mean(FRACTIONS), rtol=0, atol=1e-12)
    blocks = [(X[at], Y[at], FRACTIONS[at]) for at in parts]
    np.testing.assert_allclose(rff.alignment_loss_batched(blocks, OMEGA), total.loss(), rtol=0, atol=1e-12)


def test_blocks_without_weights_have_weights_of_one():
    mixed = [(X[:5], Y[:5]), (X[5:], Y[5:], WHOLE[5:])]
    weights = np.append(np.ones(5), WHOLE[5:])
    expected = rff.alignment_loss(X, Y, OMEGA, sample_weight=weights)
    np.testing.assert_allclose(rff.alignment_loss_batched(mixed, OMEGA), expected, rtol=0, atol=1e-12)
    sums = rff.alignment_sums(X[:5], Y[:5], OMEGA) + rff.alignment_sums(X[5:], Y[5:], OMEGA, sample_weight=WHOLE[5:])
    np.testing.assert_allclose(sums.loss(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (-np.ones(N), "sample_weight holds -1; numbers of at least 0"),
        (np.where(Y == "a", 1.0, 0.0), "y holds only the class 'a' in all weighted rows"),
        (np.append(1.0, np.full(N - 1, 1e-30)), "sample_weight has all its weight on one row"),
    ],
)
def test_bad_weights_are_named(weights, says):
    rows = [0, 1, 2]
    calls = [
        lambda: rff.alignment_loss(X, Y, OMEGA, sample_weight=weights),
        lambda: rff.alignment_sums(X, Y, OMEGA, sample_weight=weights).loss(),
        lambda: rff.landmark_alignment_loss(X, Y, X[rows], Y[rows], OMEGA, rows, sample_weight=weights),
        *[lambda e=e: clone(e).fit(X, Y, sample_weight=weights) for e in LEARNERS],
    ]
    for call in calls:
        with pytest.raises(ValueError, match=rf"^{says}.*\.$"):
            call()


# --- estimators ---------------------------------------------------------------------------------------------------


@every_learner
def test_an_estimator_fitted_with_whole_weights_equals_one_fitted_on_repeated_rows(learner):
    weighted = clone(learner).fit(X, Y, sample_weight=WHOLE)
    repeated = clone(learner).fit(X.repeat(WHOLE, axis=0), Y.repeat(WHOLE))
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-9)
    np.testing.assert_allclose(weighted.frequencies_, repeated.frequencies_, rtol=1e-9)
    assert weighted.kernel_.sigma == pytest.approx(repeated.kernel_.sigma, rel=1e-12)
    assert weighted.bound_ is None
    kept = clone(learner).fit(X, Y, sample_weight=WHOLE > 0)
    assert kept.bound_ == pytest.approx(clone(learner).fit(X[WHOLE > 0], Y[WHOLE > 0]).bound_, rel=1e-9)


@every_learner
def test_fractional_weights_are_a_sample_size(learner):
    fitted = clone(learner).set_params(kernel=KERNEL).fit(X, Y, sample_weight=FRACTIONS)
    np.testing.assert_allclose(
        fitted.alignment_loss_,
        rff.alignment_loss(X, Y, fitted._candidates, sample_weight=FRACTIONS),
        rtol=1e-12,
    )
    if isinstance(learner, rff.PseudoPosteriorFeatures):
        logits = -fitted.beta_ * np.sqrt(FRACTIONS.sum()) * fitted.alignment_loss_
        np.testing.assert_allclose(fitted.weights_, np.exp(logits) / np.exp(logits).sum(), rtol=1e-10)


@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_weighted_widths_equal_those_of_repeated_rows(container):
    for kernel in (rff.GaussianKernel("scale"), rff.AnisotropicGaussianKernel("scale")):
        (expected,) = kernel.scaled_to(X.repeat(WHOLE, axis=0)).get_params().values()
        (found,) = kernel.scaled_to(container(X), WHOLE).get_params().values()
        assert found == pytest.approx(expected, rel=1e-12)
    assert rff.GaussianKernel(2.0).scaled_to(X, WHOLE).sigma == 2.0


def test_random_landmarks_have_weight_and_weighted_losses():
    model = rff.LandmarkSimilarity(KERNEL, 6, "random", n_components=5, beta=2.0, random_state=0)
    fitted = model.fit(X, Y, sample_weight=WHOLE)
    rows = fitted.landmark_indices_
    assert (WHOLE[rows] > 0).all() and fitted.bound_ is None
    np.testing.assert_array_equal(fitted.landmarks_, X[rows])
    loss = rff.landmark_alignment_loss(X, Y, X[rows], Y[rows], fitted.frequencies_, rows, sample_weight=WHOLE)
    np.testing.assert_allclose(fitted.weights_, rff.pseudo_posterior(loss, 2.0, int(WHOLE.sum())), rtol=1e-10)


@pytest.mark.parametrize("weights", [None, WHOLE])
def test_one_centroid_a_class_is_its_weighted_mean(weights):
    landmarks, labels, _ = rff.select_landmarks(X, Y, 3, "kmeans", 0, weights)
    for point, label in zip(landmarks, labels, strict=True):
        mean = np.average(X[label == Y], axis=0, weights=None if weights is None else weights[label == Y])
        np.testing.assert_allclose(point, mean, atol=1e-12)


@pytest.mark.parametrize("learner", [LEARNERS[0], rff.LandmarkSimilarity(KERNEL, 4, "random", random_state=0)])
def test_weights_are_routed_through_a_pipeline_and_a_grid_search(learner):
    with sklearn.config_context(enable_metadata_routing=True):
        scaler, svm = StandardScaler().set_fit_request(sample_weight=False), LinearSVC()
        step = clone(learner).set_fit_request(sample_weight=True)
        model = make_pipeline(scaler, step, svm.set_fit_request(sample_weight=True))
        fitted = model.fit(X, Y, sample_weight=WHOLE)[1]
        alone = clone(learner).fit(StandardScaler().fit_transform(X), Y, sample_weight=WHOLE)
        np.testing.assert_allclose(fitted.weights_, alone.weights_, rtol=1e-12)
        ignored = make_pipeline(clone(scaler), clone(learner).set_fit_request(sample_weight=False), clone(svm))
        unweighted = ignored.fit(X, Y, sample_weight=WHOLE)[1]
        assert not np.allclose(unweighted.alignment_loss_, fitted.alignment_loss_)
        search = GridSearchCV(
            make_pipeline(clone(step), clone(svm).set_score_request(sample_weight=True)),
            {f"{type(learner).__name__.lower()}__beta": [0.0, 5.0]},
            cv=2,
            error_score="raise",
        ).fit(X, Y, sample_weight=np.maximum(WHOLE, 1))
        best = clone(learner).set_params(**{"beta": next(iter(search.best_params_.values()))})
        best.fit(X, Y, sample_weight=np.maximum(WHOLE, 1))
        np.testing.assert_allclose(search.best_estimator_[0].weights_, best.weights_, rtol=1e-12)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_supervised_frequencies_count_a_whole_weight_as_repeated_rows(task):
    """Where all rows are landmarks and none is held out."""
    targets = np.sin(X[:, 0]) if task == "regression" else Y
    given = {"task": task, "decay": 0.01, "max_steps": 4}
    weighted, repeated, plain = (
        rff.supervise_frequencies(points, labels, KERNEL, OMEGA, n_landmarks=n, sample_weight=weights, **given)
        for points, labels, n, weights in (
            (X, targets, (WHOLE > 0).sum(), WHOLE),
            (X.repeat(WHOLE, axis=0), targets.repeat(WHOLE), WHOLE.sum(), None),
            (X, targets, N, None),
        )
    )
    np.testing.assert_allclose(weighted.losses, repeated.losses, rtol=1e-5)
    np.testing.assert_allclose(weighted.frequencies, repeated.frequencies, atol=1e-4)
    assert not np.allclose(weighted.losses, plain.losses, rtol=1e-3)


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
@pytest.mark.parametrize(
    "model",
    [
        rff.SupervisedFourierFeatures(n_components=6, max_iter=3, random_state=0),
        rff.LandmarkBoosting(n_estimators=4, random_state=0),
        rff.LandmarkSimilarity(n_landmarks=0.5, random_state=0),
        rff.LandmarkSimilarity("rbf", 5, "random", random_state=0),
    ],
)
@pytest.mark.slow
def test_draws_of_rows_do_not_tell_a_whole_weight_from_repeated_rows(model, container):
    repeated = clone(model).fit(container(X.repeat(WHOLE, axis=0)), Y.repeat(WHOLE)).transform(X)
    plain = clone(model).fit(X, Y).transform(X)
    back = slice(None, None, -1)
    weighted = clone(model).fit(container(X[back]), Y[back], sample_weight=WHOLE[back]).transform(X)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-9)
    assert plain.shape != repeated.shape or not np.allclose(plain, repeated, atol=1e-3)


@pytest.mark.parametrize(("asked", "distinct"), [(N, N), (1.0, N), (2 * N, None)])
def test_equal_rows_are_one_landmark_unless_more_are_asked_for(asked, distinct):
    fitted = rff.LandmarkSimilarity("rbf", asked, "random", random_state=0).fit(np.tile(X, (3, 1)), np.tile(Y, 3))
    np.testing.assert_array_equal(fitted.landmarks_, np.tile(X, (3, 1))[fitted.landmark_indices_])
    assert len(fitted.landmarks_) == len(set(fitted.landmark_indices_)) == (distinct or asked)
    assert distinct is None or len(np.unique(fitted.landmarks_, axis=0)) == distinct


# --- blocks of rows -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_learner
@pytest.mark.parametrize("weights", [None, WHOLE])
def test_partial_fits_on_blocks_end_where_fit_does(learner, weights):
    learner = clone(learner).set_params(kernel=KERNEL)
    whole = clone(learner).fit(X, Y, sample_weight=weights)
    order = np.argsort(Y, kind="stable")  # the first block has one class only
    streamed = clone(learner)
    for at in np.split(order, [4, 9]):
        streamed.partial_fit(X[at], Y[at], sample_weight=None if weights is None else weights[at])
    np.testing.assert_allclose(streamed.alignment_loss_, whole.alignment_loss_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(streamed.weights_, whole.weights_, rtol=1e-9)
    np.testing.assert_allclose(streamed.transform(X), whole.transform(X), rtol=0, atol=1e-12)
    assert streamed.bound_ == (None if whole.bound_ is None else pytest.approx(whole.bound_, rel=1e-9))


@pytest.mark.slow
@every_learner
def test_partial_fit_continues_after_fit_and_fit_starts_over(learner):
    learner = clone(learner).set_params(kernel=KERNEL)
    continued = clone(learner).fit(X[:6], Y[:6]).partial_fit(X[6:], Y[6:])
    np.testing.assert_allclose(continued.weights_, clone(learner).fit(X, Y).weights_, rtol=1e-9)
    again = continued.fit(X[:6], Y[:6])
    np.testing.assert_array_equal(again.weights_, clone(learner).fit(X[:6], Y[:6]).weights_)


def test_there_is_nothing_to_learn_from_one_class():
    model = clone(LEARNERS[0]).partial_fit(X[Y == "a"], Y[Y == "a"])
    with pytest.raises(NotFittedError):
        model.transform(X)
    model.partial_fit(X[Y != "a"], Y[Y != "a"])
    assert model.transform(X).shape == (N, 10)
    with pytest.raises(ValueError, match="2 features, but PseudoPosteriorFeatures is expecting 3"):
        model.partial_fit(X[:, :2], Y)
    with pytest.raises(ValueError, match="labels of different types"):
        model.partial_fit(X, np.arange(N) % 2)


# --- threads ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        rff.RandomFourierFeatures(KERNEL, 600, random_state=0),
        rff.NystroemFeatures(KERNEL, 9, random_state=0),
        rff.AdaptiveFourierFeatures(KERNEL, 8, random_state=0, max_iter=3, tol=1.0),
        rff.SupervisedFourierFeatures(KERNEL, 8, decay=0.1, random_state=0, max_iter=3, tol=1.0),
        LEARNERS[0],
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("container", [np.array, sp.csr_array])
def test_features_do_not_depend_on_the_number_of_threads(monkeypatch, estimator, container):
    monkeypatch.setattr(rff._blocks, "WORK_WORTH_THREADS", 0)
    points = np.random.default_rng(1).normal(size=(1300, D_IN))
    fitted = clone(estimator).fit(X, Y)
    expected = fitted.transform(container(points))
    for n_jobs in (1, 2, 3):
        np.testing.assert_array_equal(fitted.set_params(n_jobs=n_jobs).transform(container(points)), expected)
    one_by_one = np.vstack([fitted.transform(container(points[[i]])) for i in (0, 700, 1299)])
    np.testing.assert_allclose(expected[[0, 700, 1299]], one_by_one, rtol=0, atol=1e-8)
    with pytest.raises(ValueError, match="n_jobs is 0; None or a whole number other than 0"):
        fitted.set_params(n_jobs=0).transform(points)
