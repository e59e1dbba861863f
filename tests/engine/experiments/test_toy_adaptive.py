"""Adaptive frequencies in the plane, compared with naive formulas, pair by pair."""

import numpy as np
import pytest

import rff_engine as rff
from datasets import ToyData
from pages.adaptive import compute
from pages.adaptive.compute import AdaptiveSettings
from rff_engine.studies.feature_methods import fit_features
from rff_engine.studies.toy.plane import plane_points

SIGMA = 0.8
KERNEL = rff.GaussianKernel(SIGMA)


def sample(n=40):
    return ToyData("moons", n, 0.1, 0)


def settings_of(method="sample", n_landmarks=8):
    return AdaptiveSettings(sample(), SIGMA, method, n_landmarks)


def naive_approximation(X, omega, weights):
    """sum_j p_j cos(omega_j . (x_s - x_t)), pair by pair."""
    return np.array([[np.sum(weights * np.cos(omega @ (a - b))) for b in X] for a in X])


def naive_error(X, omega, weights, q=None):
    """||K~ - K|| / ||K||, each pair times q_s^2 q_t^2."""
    q = np.ones(len(X)) if q is None else q
    exact = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * KERNEL.sigma**2))
    pairs = q[:, None] * q[None]
    missed = naive_approximation(X, omega, weights) - exact
    return np.sqrt((pairs * missed**2).sum() / (pairs * exact**2).sum())


# --- weights on a grid --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sample", "cluster"])
def test_weights_on_a_grid_are_optimal_on_the_whole_grid(method):
    X, q = compute.chosen_landmarks(settings_of(method))
    ridge = 0.01
    found = compute.grid_weights(settings_of(method), ridge, cells=6)
    omega, p = plane_points(found.grid), found.weights.ravel()
    np.testing.assert_allclose(p, p[::-1], atol=1e-12)  # opposite frequencies share
    # Optimality over all 36 frequencies, though one of two opposite ones was solved for.
    delta = X[:, None] - X[None]
    pairs = q[:, None] * q[None]
    residual = naive_approximation(X, omega, p) - KERNEL(X)
    gradient = np.array([2 * (pairs * residual * np.cos(delta @ w)).sum() for w in omega]) + 2 * ridge * p
    assert p.min() >= 0 and np.abs(gradient[p > 0]).max() < 1e-8 and gradient.min() > -1e-8
    assert found.error == pytest.approx(naive_error(X, omega, p, q), rel=1e-8)
    assert found.prior_error == pytest.approx(naive_error(X, omega, found.prior.ravel(), q), rel=1e-8)
    assert found.effective == pytest.approx(p.sum() ** 2 / (p @ p))


def test_the_prior_on_a_grid_is_its_density_times_the_cell():
    found = compute.grid_weights(settings_of(), 0.1, cells=40)
    assert found.prior.sum() == pytest.approx(1, abs=1e-3)
    w = np.array([found.grid[3], found.grid[21]])
    density = SIGMA**2 / (2 * np.pi) * np.exp(-(SIGMA**2) * (w @ w) / 2)
    assert found.prior[21, 3] == pytest.approx(density * (found.grid[1] - found.grid[0]) ** 2)


# --- the descent --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sample", "cluster", "nearest"])
def test_a_descent_never_rises_and_its_errors_are_those_of_its_frequencies(method):
    settings = settings_of(method, 12)
    X = compute.inputs(sample())
    landmarks, q = compute.chosen_landmarks(settings)
    found = compute.descent(settings, 6, max_steps=30, n_frames=9)
    assert (np.diff(found.losses) <= 1e-12).all() and len(found.losses) == len(found.landmark_errors)
    assert found.steps[0] == 0 and found.steps[-1] == len(found.losses) - 1 <= 30
    assert len(found.steps) <= 9 and (np.diff(found.steps) > 0).all()
    assert found.drawn_error == pytest.approx(naive_error(X, found.frequencies[0], np.full(6, 1 / 6)), rel=1e-8)
    for frequencies, weights, step, error in zip(
        found.frequencies, found.weights, found.steps, found.errors, strict=True
    ):
        assert error == pytest.approx(naive_error(X, frequencies, weights), rel=1e-6)
        at_landmarks = naive_error(landmarks, frequencies, weights, q)
        assert found.landmark_errors[step] == pytest.approx(at_landmarks, rel=1e-6)
    assert found.errors[-1] < 0.5 * found.drawn_error


def test_descents_of_no_steps_have_one_frame_and_fewer_frequencies_are_the_first_of_more():
    few, more = (compute.descent(settings_of(), r, max_steps=0) for r in (5, 9))
    assert list(few.steps) == [0] and few.frequencies.shape == (1, 5, 2)
    np.testing.assert_array_equal(few.frequencies[0], more.frequencies[0, :5])


# --- importance densities -----------------------------------------------------------------------------------------


def test_the_best_density_is_proportional_to_the_root_of_the_mean_square():
    X = compute.inputs(sample(25))
    plane = compute.importance_plane(sample(25), SIGMA, cells=61)
    delta = (X[:, None] - X[None]).reshape(-1, 2)
    mean_square = np.array([np.mean(np.cos(delta @ w) ** 2) for w in plane_points(plane.grid)]).reshape(61, 61)
    expected = plane.prior * np.sqrt(mean_square)
    np.testing.assert_allclose(plane.data / plane.data.max(), expected / expected.max(), rtol=1e-8)
    area = (plane.grid[1] - plane.grid[0]) ** 2
    for density in (plane.prior, plane.claim, plane.data):
        assert density.sum() * area == pytest.approx(1, abs=1e-3)
    assert plane.spread == pytest.approx(np.sqrt((delta**2).mean()))
    exact = KERNEL(X)
    # Frequencies of the prior: the mean over pairs of the variance of one cosine, 1/2 + k(2 delta)/2 - k(delta)^2.
    assert plane.squared_errors["prior"] == pytest.approx(np.mean((1 + exact**4) / 2 - exact**2), rel=3e-3)
    assert plane.squared_errors["data"] == min(plane.squared_errors.values())
    saved = 1 - plane.squared_errors["claim"] / plane.squared_errors["prior"]
    assert plane.saving("claim") == pytest.approx(saved)


@pytest.mark.slow
def test_where_differences_are_gaussian_the_claim_is_the_best_density(monkeypatch):
    X = 0.7 * np.random.default_rng(0).standard_normal((4000, 2))
    monkeypatch.setattr(compute, "inputs", lambda data: X)
    plane = compute.importance_plane(ToyData("Gaussian", len(X), 0, 0), SIGMA, cells=41)
    np.testing.assert_allclose(plane.claim, plane.data, rtol=0.03)
    assert plane.spread == pytest.approx(0.7 * 2**0.5, rel=0.03)


def test_squared_errors_are_those_of_estimates():
    X = compute.inputs(sample(20))
    plane = compute.importance_plane(sample(20), SIGMA, cells=61)
    cells, exact = plane_points(plane.grid), KERNEL(X)
    p = plane.prior.ravel() / plane.prior.sum()
    rng = np.random.default_rng(0)
    for name in ("prior", "data"):
        q = getattr(plane, name).ravel() / getattr(plane, name).sum()
        drawn = rng.choice(len(q), 4000, p=q)
        waves = np.cos(np.einsum("jd,std->jst", cells[drawn], X[:, None] - X[None]))
        squares = ((p[drawn] / q[drawn])[:, None, None] * waves - exact) ** 2
        of_draws = squares.mean(axis=(1, 2))
        assert plane.squared_errors[name] == pytest.approx(of_draws.mean(), abs=4 * of_draws.std() / 4000**0.5)


# --- the number of landmarks --------------------------------------------------------------------------------------


def test_more_landmarks_do_not_hurt_and_counts_are_independent():
    errors = compute.landmark_curve(sample(60), SIGMA, 6, "cluster", counts=(3, 8, 40, 99))
    assert errors.shape == (3, 3) and errors[2].mean() < errors[0].mean()
    alone = compute.landmark_curve(sample(60), SIGMA, 6, "cluster", counts=(8,))
    np.testing.assert_allclose(alone[0], errors[1])


def test_curve_without_steps_has_the_best_weights():
    X = compute.inputs(sample(30))
    errors = compute.landmark_curve(sample(30), SIGMA, 5, "sample", counts=(30,), max_steps=0)
    rng = np.random.default_rng((0, 3))
    for error in errors[0]:
        omega = KERNEL.sample_frequencies(5, 2, np.random.default_rng(rng.integers(2**31)))
        p = rff.feature_weights(X, KERNEL, omega, None, compute.RIDGE)
        assert error == pytest.approx(naive_error(X, omega, p), rel=1e-6)


@pytest.mark.parametrize("method", ["monte_carlo", "weight", "nystroem"])
def test_errors_of_methods_are_those_of_every_pair_of_points(method):
    found = compute.method_curve(sample(), SIGMA, 8, method)
    X = compute.inputs(sample())
    for r, draw in ((5, 0), (20, 2)):
        rng = np.random.default_rng((0, compute._METHODS, draw))
        if method == "nystroem":
            fitted = fit_features(method, X, None, KERNEL, r, rng)
            exact = KERNEL(X, fitted.landmarks) @ np.linalg.solve(KERNEL(fitted.landmarks), KERNEL(fitted.landmarks, X))
            expected = np.linalg.norm(exact - KERNEL(X)) / np.linalg.norm(KERNEL(X))
        else:
            omega = KERNEL.sample_frequencies(r, 2, rng)
            weights = np.full(r, 1 / r)
            if method == "weight":
                landmarks, q = rff.kernel_landmarks(X, 8, "sample", rng)
                weights = rff.feature_weights(landmarks, KERNEL, omega, q, compute.RIDGE)
            expected = naive_error(X, omega, weights)
        assert found[compute.FREQUENCY_COUNTS.index(r), draw] == pytest.approx(expected, rel=1e-5, abs=1e-9)
