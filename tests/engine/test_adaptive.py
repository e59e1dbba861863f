"""Adaptive frequencies: the objectives by their definitions, their gradients, optimality, descent, and landmarks."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.optimize import nnls
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score
from sklearn.svm import LinearSVC

from rff_engine import (
    AdaptiveFourierFeatures,
    GaussianKernel,
    SupervisedFourierFeatures,
    adapt_frequencies,
    draw_frequencies,
    feature_weights,
    fourier_features,
    importance_density,
    kernel_landmarks,
    relative_kernel_error,
    supervise_frequencies,
)
from rff_engine._approximation_loss import KernelApproximationLoss, least_nonnegative
from rff_engine.adaptive import _TASKS, SOLVERS, _Hinge, _JointObjective
from rff_engine.kernels import KERNELS as NAMED

KERNELS = [named.of_width(1.5, nu=1.5) for named in NAMED.values()]
SHAPES = [(9, 3, 5), (6, 15, 8), (12, 1, 4)]  # landmarks, dimensions, frequencies


def naive_objective(points, weights, kernel, omega, p, ridge):
    """Li et al. 2019, the objective above Eq. 5, one pair of landmarks at a time."""
    total = 0.0
    for s in range(len(points)):
        for t in range(len(points)):
            delta = points[s] - points[t]
            estimate = sum(p[j] * np.cos(omega[j] @ delta) for j in range(len(omega)))
            exact = kernel(points[s : s + 1], points[t : t + 1])[0, 0]
            total += weights[s] * weights[t] * (estimate - exact) ** 2
    return total + ridge * sum(p**2)


def finite_differences(function, W, step=1e-5):
    slopes = np.empty_like(W)
    for at in np.ndindex(*W.shape):
        there = np.zeros_like(W)
        there[at] = step
        slopes[at] = (function(W + there) - function(W - there)) / (2 * step)
    return slopes


def problem(shape=(9, 3, 5), seed=0, kernel=KERNELS[0]):
    n, d, r = shape
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n))
    return rng.normal(size=(n, d)), weights, kernel.sample_frequencies(r, d, rng), rng.uniform(0, 0.4, r)


# --- the objective ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_objective_equals_its_definition(kernel, shape):
    points, weights, omega, p = problem(shape, kernel=kernel)
    loss = KernelApproximationLoss(points, kernel, weights, 0.1)
    C, S = loss.waves(loss.inside(omega))
    value = loss.value(loss.residual(C, S, p), p)
    assert value == pytest.approx(naive_objective(points, weights, kernel, omega, p, 0.1), rel=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_gradient_equals_finite_differences(shape, seed):
    points, weights, omega, p = problem(shape, seed)
    loss = KernelApproximationLoss(points, KERNELS[0], weights, 0.1)

    def value(omega):
        C, S = loss.waves(loss.inside(omega))
        return loss.value(loss.residual(C, S, p), p)

    C, S = loss.waves(loss.inside(omega))
    gradient = loss.gradient_outside(loss.gradient(C, S, loss.residual(C, S, p), p))
    slopes = finite_differences(value, omega)
    assert gradient.shape == omega.shape
    assert np.abs(gradient - slopes).max() <= 1e-6 * np.abs(slopes).max()


# --- the weights --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [1e-6, 0.03, 1.0])
@pytest.mark.parametrize("shape", [*SHAPES, (30, 4, 60)])
def test_weights_are_optimal(shape, ridge):
    """Karush-Kuhn-Tucker: p >= 0, slope >= 0, and one of the two 0 everywhere; slopes by sums over all pairs."""
    points, weights, omega, _ = problem(shape, 2)
    p = feature_weights(points, KERNELS[0], omega, weights, ridge)
    cosines = np.cos((points[:, None] - points[None]) @ omega.T)
    pairs = np.outer(weights, weights)[:, :, None]
    residual = cosines @ p - KERNELS[0](points)
    slope = 2 * (pairs * residual[:, :, None] * cosines).sum(axis=(0, 1)) + 2 * ridge * p
    assert p.min() >= 0
    assert slope.min() >= -1e-8
    assert np.abs(slope * p).max() <= 1e-8


def test_quadratic_program_agrees_with_nnls():
    rng = np.random.default_rng(0)
    for r in (1, 2, 7, 40):
        for _ in range(10):
            U = rng.normal(size=(r + 3, r))
            goal = rng.normal(size=r + 3)
            found = least_nonnegative(U.T @ U, U.T @ goal, rng.random(r) < 0.5)
            np.testing.assert_allclose(found, nnls(U, goal)[0], atol=1e-8)


@pytest.mark.parametrize("error", [1e-15, 1e-12, 1e-9])
def test_equal_frequencies_are_solved_despite_rounding(error):
    """Three equal cosines: A is ones, b is 1, and the weights sum to 1 however A has been rounded."""
    found = least_nonnegative(np.ones((3, 3)) - error * np.eye(3), np.ones(3))
    assert found.min() >= 0 and found.sum() == pytest.approx(1, abs=1e-6)


def test_equal_frequencies_need_no_ridge():
    points, weights, omega, _ = problem()
    twice = feature_weights(points, KERNELS[0], np.vstack([omega, omega]), weights, ridge=0)
    once = feature_weights(points, KERNELS[0], omega, weights, ridge=0)
    np.testing.assert_allclose(twice[: len(omega)] + twice[len(omega) :], once, atol=1e-4)


# --- the descent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 3, 20), (15, 40, 30)])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_loss_decreases_and_agrees_with_the_path(kernel, shape):
    points, weights, omega, _ = problem(shape, 3, kernel)
    found = adapt_frequencies(points, kernel, omega, weights, max_steps=25, keep_path=True)
    assert (np.diff(found.losses) <= 0).all()
    assert found.losses[-1] < 0.8 * found.losses[0]
    assert len(found.path) == len(found.losses) <= 26
    for i in (0, -1):
        frequencies, p = found.path[i]
        again = KernelApproximationLoss(points, kernel, weights, 0.03)
        C, S = again.waves(again.inside(frequencies))
        assert again.value(again.residual(C, S, p), p) == pytest.approx(found.losses[i], rel=1e-9)
    np.testing.assert_array_equal(found.path[-1][0], found.frequencies)
    np.testing.assert_array_equal(found.path[-1][1], found.weights)
    np.testing.assert_allclose(found.path[0][0], omega, atol=1e-12)


def test_frequencies_change_only_in_the_span_of_the_landmarks():
    points, weights, omega, _ = problem((6, 15, 8))
    moved = adapt_frequencies(points, KERNELS[0], omega, weights).frequencies - omega
    assert np.abs(moved).max() > 1e-3
    outside = np.linalg.svd(points)[2][6:]
    np.testing.assert_allclose(moved @ outside.T, 0, atol=1e-10)


def test_descent_stops_by_max_steps_and_by_tol():
    points, weights, omega, _ = problem((40, 3, 20))
    few = adapt_frequencies(points, KERNELS[0], omega, weights, max_steps=3)
    assert len(few.losses) == 4
    assert few.path is None
    none = adapt_frequencies(points, KERNELS[0], omega, weights, max_steps=0)
    np.testing.assert_allclose(none.frequencies, omega)
    np.testing.assert_allclose(none.weights, feature_weights(points, KERNELS[0], omega, weights), atol=1e-10)
    rough = adapt_frequencies(points, KERNELS[0], omega, weights, tol=0.5)
    fine = adapt_frequencies(points, KERNELS[0], omega, weights, tol=1e-3)
    assert len(rough.losses) < len(fine.losses)
    assert rough.losses[-1] > fine.losses[-1]


# --- alternating steps, as printed ---------------------------------------------------------------------------------


@pytest.mark.second("the plain formula solves a program for each frequency")
def test_alternating_steps_are_those_of_algorithm_1():
    points, weights, omega, _ = problem((7, 3, 4))
    kernel, rate = KERNELS[0], 0.3
    found = adapt_frequencies(
        points, kernel, omega, weights, 0.1, 3, 0.0, True, solver="alternating", learning_rate=rate, inner_steps=2
    )
    W = omega
    for step in range(4):
        p = feature_weights(points, kernel, W, weights, 0.1)
        np.testing.assert_allclose(found.path[step][0], W, atol=1e-9)
        np.testing.assert_allclose(found.path[step][1], p, atol=1e-9)
        assert found.losses[step] == pytest.approx(naive_objective(points, weights, kernel, W, p, 0.1))
        for _ in range(2):
            slopes = finite_differences(lambda W: naive_objective(points, weights, kernel, W, p, 0.1), W)  # noqa: B023
            W = W - rate * slopes
    np.testing.assert_array_equal(found.frequencies, found.path[-1][0])
    assert not found.converged and found.n_iter == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_variable_projection_ends_below_alternating_steps(shape):
    points, weights, omega, _ = problem(shape)
    losses = {
        solver: adapt_frequencies(points, KERNELS[0], omega, weights, max_steps=60, tol=0, solver=solver).losses
        for solver in SOLVERS
    }
    assert losses["alternating"][0] == pytest.approx(losses["variable_projection"][0])
    assert losses["variable_projection"][-1] < losses["alternating"][-1] < losses["alternating"][0]


def test_a_learning_rate_that_is_too_large_is_named():
    points, weights, omega, _ = problem()
    with pytest.raises(ValueError, match=r"learning_rate is 1e\+308; .* diverges"):
        adapt_frequencies(points, KERNELS[0], 9 * omega, weights, solver="alternating", learning_rate=1e308)


@pytest.mark.slow
@pytest.mark.parametrize("labels", ["regression", "classification", "three"])
@pytest.mark.parametrize("loss", ["smooth", "hinge"])
def test_alternating_steps_improve_the_predictor_too(labels, loss):
    task = "regression" if labels == "regression" else "classification"
    if loss == "hinge" and task == "regression":
        return
    X, y = labelled(labels, 150)
    kernel = GaussianKernel(2.0)
    given = X, y, kernel, kernel.sample_frequencies(6, 4, 0), task, 1e-3
    found = supervise_frequencies(*given, max_steps=15, random_state=0, loss=loss, solver="alternating", keep_path=True)
    assert found.losses[-1] < 0.995 * found.losses[0] and len(found.path) == len(found.losses)
    if loss == "smooth":
        projected = supervise_frequencies(*given, max_steps=15 * 10, random_state=0)
        assert found.losses[0] == pytest.approx(projected.losses[0])
        assert projected.losses[-1] < found.losses[-1]


def test_gradient_with_the_others_held_equals_finite_differences():
    X, y = labelled("regression", 60, 5)
    kernel = GaussianKernel(1.5)
    W = kernel.sample_frequencies(6, 5, 0)
    loss = KernelApproximationLoss(X[:4], kernel, None, 0.03)
    predictor = _TASKS["regression"](X, y)
    joint = _JointObjective(X, predictor, np.arange(60), loss, 2.0, 0.01)
    value, (p, (coef, intercept)), gradient = joint.refitted(W)

    def held(W):
        C, S = loss.waves(loss.inside(W))
        features = fourier_features(X, W)
        return predictor.losses(np.arange(60), features @ coef + intercept)[0] + 2 * loss.value(
            loss.residual(C, S, p), p
        )

    assert held(W) + 0.01 * (coef**2).sum() == pytest.approx(value)
    for at in (W, W + 0.1):
        slopes = finite_differences(held, at)
        assert np.abs(gradient(at) - slopes).max() <= 1e-6 * np.abs(slopes).max()


def test_hinge_loss_and_its_slope_are_those_of_the_paper():
    X, y = labelled("classification", 40)
    predictor, rows = _Hinge(X, y), np.arange(40)
    signs = np.where(y == np.unique(y)[1], 1, -1)
    predictions = np.random.default_rng(0).normal(size=(40, 1))
    value, slope = predictor.losses(rows, predictions)
    assert value == pytest.approx(np.mean([max(0, 1 - t * g) for t, g in zip(signs, predictions[:, 0], strict=True)]))
    slopes = finite_differences(lambda g: predictor.losses(rows, g)[0], predictions)
    np.testing.assert_allclose(slope, slopes, atol=1e-9)
    features = fourier_features(X, GaussianKernel(2.0).sample_frequencies(5, 4, 0))

    def objective(coef, intercept):
        hinge = np.maximum(1 - signs * (features @ coef + intercept), 0).mean()
        return hinge + 0.01 * (np.sum(coef**2) + np.sum(intercept**2))

    coef, intercept = predictor.fit(rows, features, 0.01)
    best = objective(coef[:, 0], intercept[0])
    rng = np.random.default_rng(1)
    nearby = [objective(coef[:, 0] + 0.1 * rng.normal(size=10), intercept[0] + 0.1 * rng.normal()) for _ in range(50)]
    assert best <= min(nearby) + 1e-3


def test_signed_weights_are_a_ridge_regression_on_all_pairs():
    points, weights, omega, _ = problem((9, 3, 5))
    pairs = [(s, t) for s in range(9) for t in range(9)]
    cosines = np.array([np.cos(omega @ (points[s] - points[t])) for s, t in pairs])
    K = np.array([KERNELS[0](points)[pair] for pair in pairs])
    q = np.array([weights[s] * weights[t] for s, t in pairs])
    expected = np.linalg.solve(cosines.T @ (q[:, None] * cosines) + 0.01 * np.eye(5), cosines.T @ (q * K))
    found = feature_weights(points, KERNELS[0], omega, weights, 0.01, signed=True)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


# --- landmarks ----------------------------------------------------------------------------------------------------


def test_sampled_landmarks_are_rows_of_equal_weight():
    X = np.random.default_rng(0).normal(size=(50, 3))
    landmarks, weights = kernel_landmarks(X, 20, "sample", 0)
    rows = [int(np.flatnonzero((point == X).all(axis=1))[0]) for point in landmarks]
    assert len(set(rows)) == 20
    np.testing.assert_array_equal(weights, np.full(20, 1 / 20))


def test_cluster_weights_are_cluster_sizes():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.1, (10, 2)), rng.normal(5, 0.1, (30, 2)), rng.normal((9, 0), 0.1, (60, 2))])
    centroids, weights = kernel_landmarks(X, 3, "cluster", 0)
    order = np.argsort(weights)
    np.testing.assert_allclose(weights[order], [0.1, 0.3, 0.6])
    np.testing.assert_allclose(centroids[order], [X[:10].mean(0), X[10:40].mean(0), X[40:].mean(0)])
    nearest, nearest_weights = kernel_landmarks(X, 3, "nearest", 0)
    np.testing.assert_array_equal(nearest_weights, weights)
    for point, centroid in zip(nearest, centroids, strict=True):
        np.testing.assert_array_equal(point, X[np.argmin(((X - centroid) ** 2).sum(axis=1))])


def test_many_rows_are_clustered_by_a_sample(monkeypatch):
    monkeypatch.setattr("rff_engine.adaptive._CLUSTERED_ROWS", 200)
    monkeypatch.setattr("rff_engine.adaptive._CLUSTERED_ROWS_A_LANDMARK", 1)
    X = np.random.default_rng(0).normal(size=(5000, 2))
    centroids, weights = kernel_landmarks(X, 4, "cluster", 0)
    assert weights.sum() == pytest.approx(1)
    nearest = np.argmin(((X[:, None] - centroids[None]) ** 2).sum(axis=2), axis=1)
    np.testing.assert_allclose(weights, np.bincount(nearest, minlength=4) / 5000)
    whole = KMeans(4, n_init=1, random_state=0).fit(X).inertia_
    assert ((X - centroids[nearest]) ** 2).sum() < 1.2 * whole


# --- what it is good for ------------------------------------------------------------------------------------------


def test_relative_error_equals_that_of_whole_matrices(monkeypatch):
    monkeypatch.setattr("rff_engine.adaptive._BLOCK_ENTRIES", 49)
    X = np.random.default_rng(0).normal(size=(23, 4))
    for kernel in KERNELS:
        features = fourier_features(X, kernel.sample_frequencies(10, 4, 0))
        K = kernel(X)
        expected = np.linalg.norm(features @ features.T - K) / np.linalg.norm(K)
        assert relative_kernel_error(X, kernel, features) == pytest.approx(expected, rel=1e-12)
        assert relative_kernel_error(sp.csr_array(X), kernel, features) == pytest.approx(expected, rel=1e-12)
        single = relative_kernel_error(X.astype(np.float32), kernel, features.astype(np.float32))
        assert single == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0])
def test_importance_density_integrates_to_one_and_has_the_claimed_shape(d, spread):
    kernel = GaussianKernel(1.3)
    radii = np.linspace(0, 3, 7)
    omega = np.zeros((7, d))
    omega[:, 0] = radii
    density = importance_density(omega, kernel, spread)
    claimed = np.sqrt(np.exp(-((1.3 * radii) ** 2)) + np.exp(-(1.3**2 + 2 * spread**2) * radii**2))
    np.testing.assert_allclose(density / density[0], claimed / claimed[0], rtol=1e-10)
    sphere = {1: 2.0, 2: 2 * np.pi, 3: 4 * np.pi}[d]

    def shell(radius):
        return sphere * radius ** (d - 1) * importance_density([[radius, *[0.0] * (d - 1)]], kernel, spread)[0]

    assert quad(shell, 0, 20, limit=200, points=[0.5, 2])[0] == pytest.approx(1, abs=1e-6)
    if spread == 0:
        np.testing.assert_allclose(density, kernel.spectral_density(omega))


# --- with a predictor ---------------------------------------------------------------------------------------------


def labelled(task, n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    wave = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, {
        "regression": 10 + 5 * wave,
        "classification": np.where(wave > 0, "up", "down"),
        "three": np.digitize(wave, [-0.5, 0.5]),
    }[task]


@pytest.mark.slow
@pytest.mark.parametrize("labels", ["regression", "classification", "three"])
@pytest.mark.parametrize("d", [3, 9])
def test_joint_objective_and_gradient_equal_definition_and_finite_differences(labels, d):
    X, y = labelled(labels, 60, d)
    task = "regression" if labels == "regression" else "classification"
    kernel = GaussianKernel(1.5)
    W = kernel.sample_frequencies(6, d, 0)
    rows = np.arange(60)
    landmarks = X[:5]
    loss = KernelApproximationLoss(landmarks, kernel, None, 0.03)
    objective = _JointObjective(X, _TASKS[task](X, y), rows, loss, 2.0, 0.01)
    value, gradient, (p, _) = objective(W)
    slopes = finite_differences(lambda W: objective(W)[0], W)
    close = 1e-6 if task == "regression" else 1e-5  # the hinge has no second derivative where a margin is 1
    assert np.abs(gradient - slopes).max() <= close * np.abs(slopes).max()

    features = fourier_features(X, W)
    if task == "regression":
        target = (y - y.mean()) / y.std()
        head = Ridge(alpha=0.01 * 60).fit(features, target)
        of_labels = np.mean((head.predict(features) - target) ** 2) + 0.01 * (head.coef_**2).sum()
    else:
        of_labels = 0
        for label in np.unique(y)[1:] if labels == "classification" else np.unique(y):
            signs = np.where(y == label, 1, -1)
            head = LinearSVC(C=0.5 / (0.01 * 60), tol=1e-10, max_iter=100_000).fit(features, signs)
            hinge = np.maximum(1 - signs * head.decision_function(features), 0)
            of_labels += np.mean(hinge**2) + 0.01 * ((head.coef_**2).sum() + head.intercept_[0] ** 2)
    of_kernel = naive_objective(landmarks, np.full(5, 0.2), kernel, W, p, 0.03)
    assert value == pytest.approx(of_labels + 2.0 * of_kernel, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("labels", ["regression", "classification", "three"])
def test_supervised_frequencies_improve_the_predictor(labels):
    X, y = labelled(labels, 600)
    task = "regression" if labels == "regression" else "classification"
    kernel = GaussianKernel(2.0)
    start = kernel.sample_frequencies(12, 4, 0)
    found = supervise_frequencies(X[:400], y[:400], kernel, start, task, random_state=0, keep_path=True)
    assert (np.diff(found.losses) <= 0).all()
    assert len(found.path) == len(found.losses)
    assert found.weights.shape == (12,) and found.weights.min() >= 0

    def missed(omega):
        features = fourier_features(X, omega)
        if task == "regression":
            head = Ridge(alpha=0.4).fit(features[:400], y[:400])
            return np.mean((head.predict(features[400:]) - y[400:]) ** 2)
        head = LinearSVC(C=1).fit(features[:400], y[:400])
        return 1 - accuracy_score(y[400:], head.predict(features[400:]))

    assert missed(found.frequencies) < 0.7 * missed(start)


def test_large_agreement_weight_keeps_the_kernel():
    X, y = labelled("regression", 300)
    kernel = GaussianKernel(2.0)
    start = kernel.sample_frequencies(20, 4, 0)
    errors = []
    for agreement in (0, 1000):
        found = supervise_frequencies(X, y, kernel, start, decay=1e-3, agreement=agreement, random_state=0)
        errors.append(relative_kernel_error(X, kernel, fourier_features(X, found.frequencies, found.weights)))
    assert errors[1] < errors[0]


def test_supervised_frequencies_accept_few_rows_and_constant_targets():
    X, y = labelled("regression", 40)
    kernel = GaussianKernel(2.0)
    start = kernel.sample_frequencies(3, 4, 0)
    every = supervise_frequencies(X, y, kernel, start, decay=0.01, random_state=0)
    assert np.isfinite(supervise_frequencies(X[:2], y[:2], kernel, start, random_state=0).losses).all()
    assert np.isfinite(supervise_frequencies(X, np.ones(40), kernel, start, random_state=0).losses).all()
    fewer = supervise_frequencies(X, y, kernel, start, decay=0.01, max_rows=20, random_state=0)
    assert fewer.losses[0] != every.losses[0]


# --- the transformers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["sample", "cluster", "nearest"])
def test_adaptive_features_equal_the_functions(landmarks):
    X, _ = labelled("regression", 80)
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
    X, y = labelled(task, 80)
    kernel, rng = GaussianKernel(1.5), np.random.default_rng(3)
    omega = draw_frequencies(kernel, 6, 4, random_state=rng)
    found = supervise_frequencies(X, y, kernel, omega, task, random_state=rng)
    estimator = SupervisedFourierFeatures(kernel, 6, random_state=np.random.default_rng(3)).fit(X, y)
    np.testing.assert_array_equal(estimator.frequencies_, found.frequencies)
    np.testing.assert_array_equal(estimator.loss_curve_, found.losses)
    np.testing.assert_array_equal(estimator.transform(X), fourier_features(X, found.frequencies))


def test_all_rows_are_landmarks_if_there_are_too_few():
    X, _ = labelled("regression", 12)
    kernel = GaussianKernel(1.5)
    estimator = AdaptiveFourierFeatures(kernel, 50, random_state=0).fit(X)
    assert estimator.frequencies_.shape == (50, 4)
    assert relative_kernel_error(X, kernel, estimator.transform(X)) < 0.02


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
