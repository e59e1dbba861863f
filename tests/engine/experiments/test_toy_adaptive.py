"""Adaptive frequencies in the plane, compared with naive formulas, pair by pair."""

import numpy as np
import pytest

import datasets
import rff_engine as rff
from pages.adaptive import figures as adaptive_figures, toy as toy_adaptive
from rff_engine.adaptive import kernel_landmarks
from rff_engine.studies.toy.plane import plane_points

KERNEL = rff.GaussianKernel(0.8)


def points(n=40, name="moons", seed=0):
    return datasets.make_toy_inputs(name, n, 0.1, seed)


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
    X, q = kernel_landmarks(points(), 8, method, 0)
    ridge = 0.01
    found = toy_adaptive.grid_weights(X, q, KERNEL, 4.0, 6, ridge)
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
    X, q = kernel_landmarks(points(), 8, "sample", 0)
    found = toy_adaptive.grid_weights(X, q, KERNEL, 6.0, 40, 0.1)
    assert found.prior.sum() == pytest.approx(1, abs=1e-4)
    w = np.array([found.grid[3], found.grid[21]])
    density = KERNEL.sigma**2 / (2 * np.pi) * np.exp(-(KERNEL.sigma**2) * (w @ w) / 2)
    assert found.prior[21, 3] == pytest.approx(density * 0.3**2)


def test_odd_grid_is_rejected():
    X, q = kernel_landmarks(points(), 8, "sample", 0)
    with pytest.raises(ValueError, match="7"):
        toy_adaptive.grid_weights(X, q, KERNEL, 4.0, 7)


# --- the descent --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sample", "cluster", "nearest"])
def test_a_descent_never_rises_and_its_errors_are_those_of_its_frequencies(method):
    X = points()
    landmarks, q = kernel_landmarks(X, 12, method, 0)
    omega = toy_adaptive.first_frequencies(KERNEL, 6, 1)
    found = toy_adaptive.descent(X, landmarks, q, KERNEL, omega, max_steps=30, n_frames=9)
    assert (np.diff(found.losses) <= 1e-12).all() and len(found.losses) == len(found.landmark_errors)
    assert found.steps[0] == 0 and found.steps[-1] == len(found.losses) - 1 <= 30
    assert len(found.steps) <= 9 and (np.diff(found.steps) > 0).all()
    np.testing.assert_array_equal(found.frequencies[0], omega)
    assert found.drawn_error == pytest.approx(naive_error(X, omega, np.full(6, 1 / 6)), rel=1e-8)
    for frequencies, weights, step, error in zip(
        found.frequencies, found.weights, found.steps, found.errors, strict=True
    ):
        assert error == pytest.approx(naive_error(X, frequencies, weights), rel=1e-6)
        at_landmarks = naive_error(landmarks, frequencies, weights, q)
        assert found.landmark_errors[step] == pytest.approx(at_landmarks, rel=1e-6)
    assert found.errors[-1] < 0.5 * found.drawn_error


def test_a_descent_of_no_steps_has_one_frame():
    X = points()
    found = toy_adaptive.descent(X, *kernel_landmarks(X, 9, "sample", 0), KERNEL, np.ones((3, 2)), max_steps=0)
    assert list(found.steps) == [0] and found.frequencies.shape == (1, 3, 2)


def test_fewer_frequencies_are_the_first_of_more():
    few, more = (toy_adaptive.first_frequencies(KERNEL, r, np.random.default_rng(4)) for r in (5, 9))
    np.testing.assert_array_equal(few, more[:5])


# --- importance densities -----------------------------------------------------------------------------------------


def test_the_best_density_is_proportional_to_the_root_of_the_mean_square():
    X = points(25)
    plane = toy_adaptive.importance_plane(X, KERNEL, 7.0, 61)
    delta = (X[:, None] - X[None]).reshape(-1, 2)
    mean_square = np.array([np.mean(np.cos(delta @ w) ** 2) for w in plane_points(plane.grid)]).reshape(61, 61)
    expected = plane.prior * np.sqrt(mean_square)
    np.testing.assert_allclose(plane.data / plane.data.max(), expected / expected.max(), rtol=1e-8)
    area = (14 / 61) ** 2
    for density in (plane.prior, plane.claim, plane.data):
        assert density.sum() * area == pytest.approx(1, abs=1e-3)
    assert plane.spread == pytest.approx(np.sqrt((delta**2).mean()))
    exact = KERNEL(X)
    # Frequencies of the prior: the mean over pairs of the variance of one cosine, 1/2 + k(2 delta)/2 - k(delta)^2.
    assert plane.squared_errors["prior"] == pytest.approx(np.mean((1 + exact**4) / 2 - exact**2), rel=1e-3)
    assert plane.squared_errors["data"] == min(plane.squared_errors.values())
    saved = 1 - plane.squared_errors["claim"] / plane.squared_errors["prior"]
    assert toy_adaptive.saving(plane, "claim") == pytest.approx(saved)


@pytest.mark.slow
def test_where_differences_are_gaussian_the_claim_is_the_best_density():
    X = 0.7 * np.random.default_rng(0).standard_normal((4000, 2))
    plane = toy_adaptive.importance_plane(X, KERNEL, 5.0, 41)
    np.testing.assert_allclose(plane.claim, plane.data, rtol=0.03)
    assert plane.spread == pytest.approx(0.7 * 2**0.5, rel=0.03)


def test_squared_errors_are_those_of_estimates():
    X = points(20)
    plane = toy_adaptive.importance_plane(X, KERNEL, 7.0, 61)
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


def test_saving_rejects_unknown_density():
    with pytest.raises(ValueError, match="prior"):
        toy_adaptive.saving(toy_adaptive.importance_plane(points(), KERNEL, 5.0, 11), "prior")


# --- the number of landmarks --------------------------------------------------------------------------------------


def test_more_landmarks_do_not_hurt_and_counts_are_independent():
    X = points(60)
    errors = toy_adaptive.landmark_curve(X, KERNEL, 6, (3, 8, 40), "cluster", 3, 0)
    assert errors.shape == (3, 3) and errors[2].mean() < errors[0].mean()
    alone = toy_adaptive.landmark_curve(X, KERNEL, 6, (8,), "cluster", 3, 0)
    np.testing.assert_allclose(alone[0], errors[1])


def test_curve_without_steps_has_the_best_weights():
    X = points(30)
    errors = toy_adaptive.landmark_curve(X, KERNEL, 5, (30,), "sample", 2, np.random.default_rng(8), max_steps=0)
    rng = np.random.default_rng(8)
    for error in errors[0]:
        seed = toy_adaptive.draw_seed(rng)
        omega = KERNEL.sample_frequencies(5, 2, np.random.default_rng(seed))
        p = toy_adaptive.feature_weights(X, KERNEL, omega, None, toy_adaptive.RIDGE)
        assert error == pytest.approx(naive_error(X, omega, p), rel=1e-6)


@pytest.mark.slow
def test_losses_on_landmarks_approach_that_on_all_points_within_the_propositions():
    X, kernel = np.random.default_rng(0).normal(size=(60, 2)), rff.GaussianKernel(1.0)
    found = toy_adaptive.loss_gaps(X, kernel, 5, (3, 40), 4, 0, n_functions=10)
    for seen, bound in (("sampled", "sample_bound"), ("clustered", "cluster_bound")):
        for gap in (getattr(found, seen), getattr(found, f"{seen}_fitted")):
            assert gap.shape == (2, 4) and (gap >= 0).all()
            assert (gap <= getattr(found, bound)).all()
            assert gap[1].mean() < gap[0].mean()
    again = toy_adaptive.loss_gaps(X, kernel, 5, (3, 40), 4, 0, n_functions=10)
    np.testing.assert_array_equal(found.sampled, again.sampled)


@pytest.mark.slow
def test_figure_of_losses_has_every_curve():
    X, kernel = np.random.default_rng(0).normal(size=(30, 2)), rff.GaussianKernel(1.0)
    gaps = {r: toy_adaptive.loss_gaps(X, kernel, r, (3, 10), 2, 0, n_functions=3) for r in (3, 6)}
    figure = adaptive_figures.loss_gaps(gaps)
    shown = {trace.name: trace.y for trace in figure.data}
    assert len(shown) == 12
    np.testing.assert_allclose(shown["Sample, largest, r = 3"], gaps[3].sampled.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(shown["Proposition 2, r = 6"], gaps[6].cluster_bound.mean(axis=1), rtol=1e-6)
