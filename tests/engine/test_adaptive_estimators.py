"""The transformers with frequencies that fit the data: scikit-learn's checks, and the functions they call."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rff_engine import (
    AdaptiveFourierFeatures,
    GaussianKernel,
    LaplacianKernel,
    LeverageScoreFeatures,
    SupervisedFourierFeatures,
    adapt_frequencies,
    adaptive_estimators,
    draw_frequencies,
    fourier_features,
    kernel_landmarks,
    relative_kernel_error,
    supervise_frequencies,
)

ESTIMATORS = [
    AdaptiveFourierFeatures(n_components=5, random_state=0),
    AdaptiveFourierFeatures(LaplacianKernel(0.5), 3, "cluster", 4, random_state=0),
    AdaptiveFourierFeatures(n_components=4, landmarks="nearest", sampling="orthogonal", random_state=0),
    SupervisedFourierFeatures(n_components=3, decay=0.01, random_state=0),
    SupervisedFourierFeatures(n_components=3, task="classification", decay=0.1, agreement=0, random_state=0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


def expected_failures(estimator):
    """Landmarks are drawn among rows, of which a weighted row is one and its repetitions are several."""
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    drawn = isinstance(estimator, SupervisedFourierFeatures)
    return dict.fromkeys(checks, "draws landmarks among rows") if drawn else {}


@pytest.mark.more(after=60)
@pytest.mark.slow
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def sample(n=80, d=4, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)).clip(-0.5)
    return np.where(X == -0.5, 0, X), np.sin(2 * X[:, 0])


@pytest.mark.parametrize("landmarks", ["sample", "cluster", "nearest"])
def test_adaptive_features_equal_the_functions(landmarks):
    X, _ = sample()
    kernel, rng = GaussianKernel(1.5), np.random.default_rng(3)
    omega = draw_frequencies(kernel, 10, 4, random_state=rng)
    points, weights = kernel_landmarks(X, 20, landmarks, rng)
    found = adapt_frequencies(points, kernel, omega, weights)
    estimator = AdaptiveFourierFeatures(kernel, 10, landmarks, 20, random_state=np.random.default_rng(3)).fit(X)
    np.testing.assert_array_equal(estimator.frequencies_, found.frequencies)
    np.testing.assert_array_equal(estimator.weights_, found.weights)
    np.testing.assert_array_equal(estimator.loss_curve_, found.losses)
    np.testing.assert_array_equal(estimator.transform(X), fourier_features(X, found.frequencies, found.weights))


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_supervised_features_equal_the_functions(task):
    X, y = sample()
    y = y if task == "regression" else np.where(y > 0, "yes", "no")
    kernel, rng = GaussianKernel(1.5), np.random.default_rng(3)
    omega = draw_frequencies(kernel, 6, 4, random_state=rng)
    found = supervise_frequencies(X, y, kernel, omega, task, random_state=rng)
    estimator = SupervisedFourierFeatures(kernel, 6, random_state=np.random.default_rng(3)).fit(X, y)
    np.testing.assert_array_equal(estimator.frequencies_, found.frequencies)
    np.testing.assert_array_equal(estimator.loss_curve_, found.losses)
    np.testing.assert_array_equal(estimator.transform(X), fourier_features(X, found.frequencies))


@pytest.mark.slow
@every_estimator
def test_float32_stays_and_csr_equals_dense(estimator):
    X, y = sample()
    y = np.where(y > 0, 1, 0)
    dense = clone(estimator).fit_transform(X, y)
    assert dense.dtype == np.float64
    np.testing.assert_allclose(clone(estimator).fit_transform(sp.csr_array(X), y), dense, atol=1e-4)
    single = clone(estimator).fit(X.astype(np.float32), y)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    names = single.get_feature_names_out()
    assert len(names) == dense.shape[1] and names[0] == "cos0"


def test_all_rows_are_landmarks_if_there_are_too_few():
    X, _ = sample(12)
    kernel = GaussianKernel(1.5)
    estimator = AdaptiveFourierFeatures(kernel, 50, random_state=0).fit(X)
    assert estimator.frequencies_.shape == (50, 4)
    assert relative_kernel_error(X, kernel, estimator.transform(X)) < 0.02


def test_adaptive_features_approximate_better_than_random_ones():
    X, _ = sample(500)
    kernel = GaussianKernel(1.5)
    adaptive = AdaptiveFourierFeatures(kernel, 40, random_state=0).fit(X)
    random = fourier_features(X, draw_frequencies(kernel, 40, 4, random_state=0))
    assert relative_kernel_error(X, kernel, adaptive.transform(X)) < 0.6 * relative_kernel_error(X, kernel, random)


@pytest.mark.slow
def test_supervised_features_predict_better_than_adaptive_ones_in_a_pipeline():
    X, y = sample(600)
    kernel = GaussianKernel(1.5)
    scores = [
        make_pipeline(map_, Ridge(0.1)).fit(X[:400], y[:400]).score(X[400:], y[400:])
        for map_ in (
            SupervisedFourierFeatures(kernel, 8, random_state=0),
            AdaptiveFourierFeatures(kernel, 8, random_state=0),
        )
    ]
    assert scores[0] > scores[1]


@pytest.mark.parametrize(
    ("estimator", "says"),
    [
        (AdaptiveFourierFeatures(landmarks="best"), "landmarks is 'best'"),
        (AdaptiveFourierFeatures(n_landmarks=0), "n_landmarks is 0"),
        (AdaptiveFourierFeatures(n_components=0), "n_components is 0"),
        (AdaptiveFourierFeatures(sampling="best"), "sampling is 'best'"),
        (AdaptiveFourierFeatures(kernel="rbff"), "kernel is 'rbff'"),
        (SupervisedFourierFeatures(task="ranking"), "task is 'ranking'"),
        (SupervisedFourierFeatures(agreement=-1), "agreement is -1"),
    ],
)
def test_bad_parameters_are_refused(estimator, says):
    X, y = sample(20)
    with pytest.raises(ValueError, match=says):
        estimator.fit(X, y)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.arange(60) % 3, "classification"),
        (np.arange(60) % 3 + 0.0, "classification"),
        (np.array(["a", "b", "c"])[np.arange(60) % 3], "classification"),
        (np.arange(60) % 30, "regression"),
        (np.arange(60) / 7, "regression"),
    ],
)
def test_numbers_of_many_values_are_a_regression(y, task):
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert SupervisedFourierFeatures(n_components=2, decay=0.01, max_iter=1, tol=1.0).fit(X, y).task_ == task


def test_leverage_scores_look_at_4000_rows_at_most(monkeypatch):
    seen = []
    scores = adaptive_estimators.leverage_scores
    monkeypatch.setattr(adaptive_estimators, "leverage_scores", lambda X, *of: seen.append(len(X)) or scores(X, *of))
    for n in (3999, 4001):
        LeverageScoreFeatures(n_components=2, n_candidates=4, n_pilot=2, random_state=0).fit(np.ones((n, 1)) * [[1.0]])
    assert seen == [3999, 4000]
