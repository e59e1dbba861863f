"""The features of every method: shapes, what they begin with, and the formulas behind them."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

import rff_engine as rff
from rff_engine.studies.feature_methods import LABELLED, METHODS, NystroemMap, _alignment_loss, fit_features

KERNEL = rff.GaussianKernel.from_gamma(0.25)


@pytest.fixture(scope="session")
def points():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(90)


@pytest.mark.more(after=15)
@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_every_method_gives_features_that_resemble_the_kernel(name, task, points):
    X, y = points
    y = y if task == "regression" else np.where(y > 0, "b", "a")
    fitted = fit_features(name, X[:60], y[:60], KERNEL, 32, 0, task)
    Z = fitted.transform(X[60:])
    assert Z.shape == (30, 32 if name.startswith("nystroem") else 64) and np.isfinite(Z).all()
    assert fitted.transform(X.astype(np.float32)).dtype == np.float32
    # The error of 32 random frequencies is about 32^-1/2 per entry; supervised ones also fit the labels.
    limit = 0.25 if name not in LABELLED else 0.5
    assert np.sqrt(np.mean((Z @ Z.T - KERNEL(X[60:])) ** 2)) < limit
    np.testing.assert_array_equal(Z, fit_features(name, X[:60], y[:60], KERNEL, 32, 0, task).transform(X[60:]))


def test_nystroem_equals_scikit_learn(points):
    X, _ = points
    ours = NystroemMap.on(KERNEL, X[:15]).transform(X)
    theirs = Nystroem(kernel="rbf", gamma=0.25, n_components=15, random_state=0).fit(X[:15]).transform(X)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-10)
    # and exact where all points are landmarks
    everywhere = NystroemMap.on(KERNEL, X).transform(X)
    np.testing.assert_allclose(everywhere @ everywhere.T, KERNEL(X), atol=1e-8)


def test_the_loss_of_a_regression_is_the_mean_over_pairs(points):
    X, y = points
    omega = KERNEL.sample_frequencies(6, 4, 0)
    z = (y - y.mean()) / y.std()
    cosines = np.cos((X[:, None] - X) @ omega.T)
    products = np.outer(z, z)[..., None] * cosines
    n = len(y)
    mean = (products.sum(axis=(0, 1)) - (z**2).sum()) / (n * (n - 1))
    np.testing.assert_allclose(_alignment_loss(X, y, omega, "regression"), (1 - mean) / 2, rtol=1e-12)
    signs = np.where(y > np.median(y), 1, -1)  # balanced: standardised already
    np.testing.assert_allclose(
        _alignment_loss(X, signs.astype(float), omega, "regression"), rff.alignment_loss(X, signs, omega), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fourier", 0, 5), "'fourier'"),
        (("supervise", None, 5), "y is None"),
        (("monte_carlo", None, 0), "r is 0"),
        (("cluster", None, 5, 0, "ranking"), "'ranking'"),
    ],
)
def test_invalid_input_is_rejected_in_one_sentence(arguments, said, points):
    name, y, *rest = arguments
    with pytest.raises(ValueError) as error:
        fit_features(name, points[0], y, KERNEL, *rest)
    assert said in str(error.value) and "\n" not in str(error.value)
