"""Ridge regression: optimality, the representer theorem, and both forms against each other and scikit-learn."""

import numpy as np
import pytest
from scipy.linalg import solve
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from rff_engine import GaussianKernel, MaternKernel, fourier_features, kernel_ridge_path, ridge_path

LAMBDAS = (1e-4, 3.0, 0.01)
KERNEL = GaussianKernel(1.5)


def problem(n=40, d=3, T=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(X @ np.ones(d)) + 0.1 * rng.normal(size=n) + 2
    return X, y if T is None else np.stack([y, *rng.normal(size=(T - 1, n))], axis=1)


@pytest.mark.parametrize("D", [5, 60])
@pytest.mark.parametrize("T", [None, 2])
@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_on_features_is_where_its_gradient_vanishes(D, T, intercept):
    X, y = problem(T=T)
    Z = fourier_features(X, KERNEL.sample_frequencies(D, 3, 0))
    coef, offset = ridge_path(Z, y, LAMBDAS, intercept)
    assert coef.shape == (3, 2 * D, *y.shape[1:]) and offset.shape == (3, *y.shape[1:])
    for w, b, value in zip(coef, offset, LAMBDAS, strict=True):
        missed = Z @ w + b - y
        np.testing.assert_allclose(Z.T @ missed / 40 + value * w, 0, atol=1e-10)
        np.testing.assert_allclose(missed.mean(axis=0) if intercept else b, 0, atol=1e-10)
        model = Ridge(alpha=40 * value, fit_intercept=intercept).fit(Z, y)
        np.testing.assert_allclose(model.predict(Z), Z @ w + b, atol=1e-8)


@pytest.mark.parametrize("T", [None, 2])
def test_kernel_ridge_is_where_its_gradient_vanishes(T):
    """K ((K / n + lambda I) alpha - y / n) = 0, and scikit-learn's predictions are the same."""
    X, y = problem(T=T)
    K = KERNEL(X)
    alphas = kernel_ridge_path(K, y, LAMBDAS)
    assert alphas.shape == (3, *y.shape)
    for alpha, value in zip(alphas, LAMBDAS, strict=True):
        np.testing.assert_allclose(K @ alpha / 40 + value * alpha, y / 40, atol=1e-10)
        model = KernelRidge(alpha=40 * value, kernel="rbf", gamma=KERNEL.gamma).fit(X, y)
        np.testing.assert_allclose(model.predict(X), K @ alpha, atol=1e-8)


def test_only_the_lower_triangle_of_the_kernel_matrix_is_read():
    X, y = problem()
    K = KERNEL(X)
    np.testing.assert_array_equal(kernel_ridge_path(np.tril(K), y, LAMBDAS), kernel_ridge_path(K, y, LAMBDAS))


@pytest.mark.parametrize("value", [1e-3, 0.1])
def test_representer_theorem(value):
    """Among sums of the kernel at the training points and at 20 others, the minimiser uses the training points only."""
    X, y = problem()
    kernel = MaternKernel(nu=0.8)
    everywhere = np.concatenate([X, np.random.default_rng(1).normal(size=(20, 3))])
    K, to_all = kernel(everywhere), kernel(X, everywhere)
    # J(a) = ||k(X, .) a - y||^2 / (2 n) + lambda a'K a / 2; K is invertible, so that there is one minimum.
    best = solve(to_all.T @ to_all / 40 + value * K, to_all.T @ y / 40)
    np.testing.assert_allclose(best[40:], 0, atol=1e-8)
    np.testing.assert_allclose(best[:40], kernel_ridge_path(kernel(X), y, [value])[0], atol=1e-8)


@pytest.mark.parametrize("value", [1e-3, 0.1])
def test_ridge_on_features_is_kernel_ridge_on_their_kernel(value):
    X, y = problem()
    Z = fourier_features(X, KERNEL.sample_frequencies(8, 3, 0))
    coef, _ = ridge_path(Z, y, [value], intercept=False)
    np.testing.assert_allclose(Z @ coef[0], Z @ Z.T @ kernel_ridge_path(Z @ Z.T, y, [value])[0], atol=1e-9)


def test_a_lambda_below_rounding_gives_the_least_squares_fit():
    X, y = problem(n=30)
    twice = np.concatenate([X, X], axis=1)  # directions that no data fix
    coef, offset = ridge_path(twice, y, [1e-30])
    plain = np.linalg.lstsq(np.column_stack([X, np.ones(30)]), y, rcond=None)[0]
    np.testing.assert_allclose(twice @ coef[0] + offset[0], X @ plain[:3] + plain[3], atol=1e-8)
    np.testing.assert_allclose(coef[0][:3], coef[0][3:], atol=1e-6)
