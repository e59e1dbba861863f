"""The loss over pairs by its definition, and Propositions 1 and 2 of Li et al. (2019) by hand and on samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from rff_engine import (
    GaussianKernel,
    LaplacianKernel,
    RationalQuadraticKernel,
    approximation_bounds,
    cluster_loss_bound,
    fourier_features,
    kernel_approximation_loss,
    relative_kernel_error,
    sample_loss_bound,
)

KERNEL = GaussianKernel(1.3)


def points(n=7, d=3, r=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(r, d)), rng.dirichlet(np.ones(r))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [KERNEL, LaplacianKernel(0.4)], ids=repr)
@pytest.mark.parametrize("entries", [1, 20, 2**22])
def test_loss_equals_its_definition(kernel, entries, monkeypatch):
    monkeypatch.setattr(approximation_bounds, "_BLOCK_ENTRIES", entries)
    X, omega, p = points()
    errors = {}
    for s in range(7):
        for t in range(7):
            f = sum(p[j] * np.cos(omega[j] @ (X[s] - X[t])) for j in range(4))
            errors[s, t] = (f - kernel(X[s : s + 1], X[t : t + 1])[0, 0]) ** 2
    assert kernel_approximation_loss(X, kernel, omega, p) == pytest.approx(sum(errors.values()) / 49)
    half = 2 / (7 * 6) * sum(error for (s, t), error in errors.items() if s < t)
    assert kernel_approximation_loss(X, kernel, omega, p, distinct=True) == pytest.approx(half)
    assert kernel_approximation_loss(sp.csr_array(X), kernel, omega, p) == pytest.approx(sum(errors.values()) / 49)
    uniform = kernel_approximation_loss(X, kernel, omega, np.full(4, 1 / 4))
    assert kernel_approximation_loss(X, kernel, omega) == pytest.approx(uniform)


@pytest.mark.second("a mean over many samples")
def test_loss_on_landmarks_drawn_with_replacement_is_unbiased():
    X, omega, p = points(20)
    rng = np.random.default_rng(1)
    drawn = [kernel_approximation_loss(X[rng.integers(20, size=4)], KERNEL, omega, p, True) for _ in range(4000)]
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert abs(np.mean(drawn) - kernel_approximation_loss(X, KERNEL, omega, p)) < 4 * error


def test_bounds_by_hand():
    expected = 4 * np.sqrt(2 * np.log(20) / 50) + 16 * np.sqrt((3 * 2 + 2 - 1) * (np.log(50) + 2 * np.log(15)) / 50)
    assert sample_loss_bound(50, 2, 3, 0.5, 4.0, 0.05) == pytest.approx(expected)
    assert sample_loss_bound(50, 2, 3, 0.0, 4.0, 0.05) < expected < sample_loss_bound(50, 2, 4, 0.5, 4.0, 0.05)
    assert cluster_loss_bound([0.1, 0.25, 0.0], 3.0, 0.5) == pytest.approx(8 * 0.25 * 3.5)
    assert cluster_loss_bound([0.0], 3.0, 0.5) == 0


@pytest.mark.parametrize("seed", range(3))
def test_cluster_bound_holds_for_any_frequencies(seed):
    """Li et al. 2019, Proposition 2: |a^2 - b^2| <= 4 |a - b|, and both functions are Lipschitz continuous."""
    X, omega, p = points(40, seed=seed)
    rng = np.random.default_rng(seed)
    centroids = X[rng.permutation(40)[:15]]
    nearest = np.linalg.norm(X[:, None] - centroids, axis=2).argmin(axis=1)
    moved = centroids[nearest]  # the loss on weighted centroids is that of points moved to them
    gap = abs(kernel_approximation_loss(moved, KERNEL, omega, p) - kernel_approximation_loss(X, KERNEL, omega, p))
    radius = np.linalg.norm(omega, axis=1).max()
    assert gap <= cluster_loss_bound(np.linalg.norm(X - moved, axis=1), radius, np.exp(-0.5) / KERNEL.sigma)


@pytest.mark.parametrize(
    "make", [GaussianKernel, lambda width: RationalQuadraticKernel(alpha=2.5, length_scale=width), LaplacianKernel]
)
def test_a_point_is_at_distance_0_of_itself_at_any_width(make):
    rng = np.random.default_rng(0)
    X, omega = 10 * rng.normal(size=(40, 7)), rng.normal(size=(3, 7))
    features = fourier_features(X, omega)
    missed = np.sum((features @ features.T - np.eye(40)) ** 2)  # no two points are alike at this width
    kernel = make(1e50 if make is LaplacianKernel else 1e-50)
    assert kernel_approximation_loss(X, kernel, omega) == pytest.approx(missed / 40**2, rel=1e-12)
    assert relative_kernel_error(X, kernel, features) == pytest.approx(np.sqrt(missed / 40), rel=1e-12)
