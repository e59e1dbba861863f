"""The transformers with frequencies that fit the data: scikit-learn's checks, and the functions they call."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from rff_engine import (
    AdaptiveFourierFeatures,
    GaussianKernel,
    SupervisedFourierFeatures,
    adapt_frequencies,
    draw_frequencies,
    fourier_features,
    kernel_landmarks,
    relative_kernel_error,
    supervise_frequencies,
)


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


def test_all_rows_are_landmarks_if_there_are_too_few():
    X, _ = sample(12)
    kernel = GaussianKernel(1.5)
    estimator = AdaptiveFourierFeatures(kernel, 50, random_state=0).fit(X)
    assert estimator.frequencies_.shape == (50, 4)
    assert relative_kernel_error(X, kernel, estimator.transform(X)) < 0.02


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
