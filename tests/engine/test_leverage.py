"""Ridge leverage scores and the features drawn by them."""

import numpy as np
import pytest
import scipy.sparse as sp

import rff_engine as rff
from rff_engine import leverage
from tests import naive

KERNELS = [rff.GaussianKernel(1.5), rff.LaplacianKernel(0.5), rff.MaternKernel(nu=1.5)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)


def sample(n=40, d=3, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)).clip(-0.5)
    return np.where(X == -0.5, 0, X)


@every_kernel
@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("ridge", [1e-6, 1e-3, 1.0])
def test_scores_equal_those_of_the_inverted_matrix(kernel, d, ridge):
    X, omega = sample(40, d), kernel.sample_frequencies(25, d, 0)
    for pilot in (omega, omega[:7], kernel.sample_frequencies(60, d, 1)):
        exact = naive.leverage_scores(X, omega, ridge, pilot)
        # Both sides lose a factor of the inverse ridge in digits.
        np.testing.assert_allclose(rff.leverage_scores(X, omega, ridge, pilot), exact, rtol=1e-7)
    np.testing.assert_array_equal(rff.leverage_scores(X, omega, ridge), rff.leverage_scores(X, omega, ridge, omega))


@every_kernel
@pytest.mark.parametrize("ridge", [1e-4, 0.1])
def test_scores_sum_to_the_effective_dimension(kernel, ridge):
    X, omega = sample(60), kernel.sample_frequencies(20, 3, 0)
    features = rff.fourier_features(X, omega)
    eigenvalues = np.linalg.eigvalsh(features @ features.T).clip(0) / 60
    dimension = (eigenvalues / (eigenvalues + ridge)).sum()
    assert rff.leverage_scores(X, omega, ridge).sum() == pytest.approx(dimension, rel=1e-8)


@every_kernel
def test_scores_lie_between_their_bounds(kernel):
    X, omega = sample(), kernel.sample_frequencies(25, 3, 0)
    for ridge in (1e-10, 1e-2, 100.0):
        scores = rff.leverage_scores(X, omega, ridge, omega[:5]) * 25
        assert scores.min() >= 1 / (1 + ridge) * (1 - 1e-12) and scores.max() <= 1 / ridge * (1 + 1e-12)


def test_a_large_ridge_gives_equal_scores():
    X, omega = sample(), KERNELS[0].sample_frequencies(25, 3, 0)
    np.testing.assert_allclose(rff.leverage_scores(X, omega, 1e6), 1 / (25 * 1e6), rtol=1e-5)


def test_scores_depend_neither_on_the_order_nor_on_the_blocks_of_rows(monkeypatch):
    X, omega = sample(50), KERNELS[0].sample_frequencies(25, 3, 0)
    expected = rff.leverage_scores(X, omega, 1e-3, omega[:8])
    monkeypatch.setattr(leverage, "BLOCK_ENTRIES", 7 * 66)
    order = np.random.default_rng(0).permutation(50)
    for points in (X, X[order], sp.csr_array(X[order])):
        np.testing.assert_allclose(rff.leverage_scores(points, omega, 1e-3, omega[:8]), expected, rtol=1e-9)


def test_repeated_rows_change_nothing_and_need_no_matrix_of_rows():
    """A matrix of 120000 x 120000 would need 107 GiB."""
    X, omega = sample(40), KERNELS[0].sample_frequencies(6, 3, 0)
    expected = rff.leverage_scores(X, omega, 1e-3, omega[:4])
    np.testing.assert_allclose(rff.leverage_scores(np.tile(X, (3000, 1)), omega, 1e-3, omega[:4]), expected, rtol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, -1.0, 1e-12, np.nan, "small"])
def test_a_ridge_that_is_too_small_is_refused(ridge):
    with pytest.raises(ValueError, match=f"^ridge is {ridge!r}; .* needed\\.$"):
        rff.leverage_scores(sample(), KERNELS[0].sample_frequencies(5, 3, 0), ridge)


def test_features_are_drawn_by_the_scores_and_weighted_by_their_inverse():
    X, kernel = sample(), KERNELS[0]
    rng = np.random.default_rng(3)
    candidates = kernel.sample_frequencies(30, 3, rng)
    scores = rff.leverage_scores(X, candidates, 1e-3, candidates[:10])
    q = scores / scores.sum()
    drawn = rng.choice(30, size=12, p=q)
    model = rff.LeverageScoreFeatures(kernel, 12, 30, 10, random_state=np.random.default_rng(3)).fit(X)
    np.testing.assert_array_equal(model.candidate_indices_, drawn)
    np.testing.assert_array_equal(model.frequencies_, candidates[drawn])
    assert model.effective_dimension_ == pytest.approx(scores.sum())
    cosines = np.cos((X[:, None] - X[None]) @ candidates[drawn].T)
    expected = (cosines / (12 * 30 * q[drawn])).sum(axis=-1)
    features = model.transform(X)
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-12)


@pytest.mark.more(after=1)
@pytest.mark.slow
@every_kernel
def test_inner_products_are_unbiased_for_the_kernel(kernel):
    X, repeats = sample(12), 800
    estimates = np.empty((repeats, 12, 12))
    for seed in range(repeats):
        features = rff.LeverageScoreFeatures(kernel, 10, 20, 5, 1e-2, random_state=seed).fit_transform(X)
        estimates[seed] = features @ features.T
    error = estimates.std(axis=0) / np.sqrt(repeats)
    assert (np.abs(estimates.mean(axis=0) - kernel(X)) <= 5 * error + 1e-12).all()
    assert error.max() < 0.03


def test_high_frequencies_of_distant_clusters_have_larger_scores():
    """Draws of the kernel are sparse where |omega| > 2, so other frequencies explain less of a wave there."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-20, 0.1, size=(200, 1)), rng.normal(20, 0.1, size=(200, 1)), [[0.0]]])
    model = rff.LeverageScoreFeatures(rff.GaussianKernel(1.0), 50, 400, 400, 1e-4, random_state=0).fit(X)
    far = np.abs(rff.GaussianKernel(1.0).sample_frequencies(400, 1, np.random.default_rng(0))[:, 0]) > 2
    scores = model.leverage_scores_
    assert scores[far].mean() > 1.5 * scores[~far].mean()
