"""Boosting with landmarks and with cosines: each step of a round, the vote, and what scikit-learn asks for."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize_scalar
from sklearn.base import clone

import rff_engine as rff
from rff_engine import boosting
from tests import naive

KERNEL = rff.GaussianKernel(1.5)
LANDMARKS = rff.LandmarkBoosting(KERNEL, 12, n_components=6, random_state=0)
COSINES = rff.LandmarkBoosting(KERNEL, 12, weak_learner="cosine", random_state=0)
MODELS = [
    LANDMARKS,
    COSINES,
    rff.LandmarkBoosting("laplacian", 8, n_components=1, beta=0.0, max_steps=0, random_state=0),
    rff.LandmarkBoosting(None, 8, n_components=20, beta=100.0, random_state=0),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=["landmarks", "cosines", "no descent", "large beta"])


def sample(n=120, d=2, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).clip(-0.5)
    X = np.where(X == -0.5, 0, X)
    return X, np.where((np.sin(2 * X[:, 0]) > 0.3) ^ (rng.random(n) < noise), 1.0, -1.0)


# --- the steps of a round -----------------------------------------------------------------------------------------


def residuals_and_waves(d, K, seed=0, scale=1.0):
    X, y = sample(60, d, seed)
    rng = np.random.default_rng(seed)
    residuals, omega = scale * y * rng.exponential(size=60), rng.normal(size=(K, d))
    return X, residuals, omega, np.concatenate([np.cos(X @ omega.T), np.sin(X @ omega.T)], axis=1)


def test_first_vote_has_the_least_exponential_loss():
    for count in (1, 7, 20, 39):
        signs = np.where(np.arange(40) < count, 1.0, -1.0)
        least = minimize_scalar(lambda vote, signs=signs: np.exp(-signs * vote).mean()).x
        assert boosting.first_vote(signs) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 30.0])
def test_slope_of_the_scaled_loss_equals_finite_differences(scale):
    rng = np.random.default_rng(0)
    residuals, h = scale * rng.normal(size=9), rng.uniform(-1, 1, size=9)
    value, slope = boosting._log_loss(residuals, h)
    exact = np.log(naive.residual_loss(residuals, h)) / np.abs(residuals).mean()
    assert value == pytest.approx(exact, abs=1e-15 / scale + 1e-9)
    found = approx_fprime(h, lambda at: boosting._log_loss(residuals, at)[0], 1e-6)
    np.testing.assert_allclose(slope, found, atol=1e-4 * max(1.0, scale))


def test_scaled_loss_of_tiny_residuals_is_minus_the_weighted_mean():
    residuals, h = 1e-60 * np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.25, -1.0])
    value, slope = boosting._log_loss(residuals, h)
    assert value == pytest.approx(-(0.5 - 0.5 - 3.0) / 6)
    np.testing.assert_allclose(slope, np.array([-1.0, 2.0, -3.0]) / 6)


@pytest.mark.parametrize("K", [1, 4])
@pytest.mark.parametrize("d", [1, 3])
def test_landmark_is_a_stationary_point_of_the_loss_at_equal_weights(d, K):
    X, residuals, omega, waves = residuals_and_waves(d, K)
    start = X[3]

    def loss(landmark):
        return naive.residual_loss(residuals, np.cos((landmark - X) @ omega.T).mean(axis=1))

    found = boosting.descend_landmark(waves, residuals, omega, start, 500)
    assert loss(found) < loss(start)
    assert np.abs(approx_fprime(found, loss, 1e-6)).max() < 1e-3 * np.abs(approx_fprime(start, loss, 1e-6)).max()
    few = [loss(boosting.descend_landmark(waves, residuals, omega, start, steps)) for steps in range(4)]
    assert few == sorted(few, reverse=True) and few[0] == pytest.approx(loss(start))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1e-6, 1.0, 20.0])
def test_offset_has_the_least_loss_on_the_circle(seed, scale):
    X, residuals, omega, waves = residuals_and_waves(2, 1, seed, scale)

    def loss(b):
        return boosting._log_loss(residuals, np.cos(X @ omega[0] - b))[0]

    found = boosting.best_offset(waves, residuals)
    assert -np.pi <= found <= np.pi
    assert loss(found) <= min(loss(b) for b in np.linspace(-np.pi, np.pi, 2001)) + 1e-6


@pytest.mark.parametrize("d", [1, 3])
def test_frequency_is_a_stationary_point_of_the_loss(d):
    X, residuals, omega, _ = residuals_and_waves(d, 1)
    start = omega[0]

    def loss(frequency):
        return naive.residual_loss(residuals, np.cos(X @ frequency - 0.7))

    found = boosting.descend_frequency(X, residuals, start, 0.7, 0.5, 500)
    assert loss(found) < loss(start)
    assert np.abs(approx_fprime(found, loss, 1e-6)).max() < 1e-3 * np.abs(approx_fprime(start, loss, 1e-6)).max()
    np.testing.assert_array_equal(boosting.descend_frequency(X, residuals, start, 0.7, 0.5, 0), start)


def test_step_minimises_the_bound_on_the_exponential_loss():
    rng = np.random.default_rng(0)
    for _ in range(5):
        weights, u = rng.exponential(size=30), rng.uniform(-1, 1, size=30)

        def bound(alpha, weights=weights, u=u):
            return weights @ ((1 + u) * np.exp(-alpha) + (1 - u) * np.exp(alpha)) / (2 * weights.sum())

        found = boosting.step_size(weights, u)
        least = minimize_scalar(bound, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
        assert found == pytest.approx(least.x, abs=1e-6)
        edge = weights @ u / weights.sum()
        assert bound(found) == pytest.approx(np.sqrt(1 - edge**2))
        assert weights @ np.exp(-found * u) / weights.sum() <= bound(found)


def test_step_of_a_perfect_weak_learner_is_finite():
    assert np.isfinite(boosting.step_size(np.ones(4), np.ones(4)))
    assert boosting.step_size(np.ones(4), -np.ones(4)) == -boosting.step_size(np.ones(4), np.ones(4))


@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_weights_are_the_pseudo_posterior_of_the_residual_losses(beta):
    X, y = sample(50)
    model = clone(LANDMARKS).set_params(beta=beta).fit(X, y)
    vote = naive.boosted_vote(X, y, model)
    for t, omega in enumerate(model.frequencies_):
        residuals = y * np.exp(-y * vote[t])
        cosines = np.cos((model.landmarks_[t] - X) @ omega.T)
        losses = np.array([naive.residual_loss(residuals, column) for column in cosines.T])
        q = np.exp(-beta * np.sqrt(50) * losses)
        np.testing.assert_allclose(model.weights_[t], q / q.sum(), rtol=1e-6)


@pytest.mark.parametrize("model", [LANDMARKS, COSINES], ids=["landmarks", "cosines"])
def test_step_sizes_are_those_of_the_paper(model):
    X, y = sample(50)
    fitted = clone(model).fit(X, y)
    vote, h = naive.boosted_vote(X, y, fitted), fitted.transform(X)
    for t, alpha in enumerate(fitted.step_sizes_):
        w = np.exp(-y * vote[t])
        right, wrong = ((1 + y * h[:, t]) * w).sum(), ((1 - y * h[:, t]) * w).sum()
        assert alpha == pytest.approx(np.log(right / wrong) / 2, rel=1e-7)


# --- the vote -----------------------------------------------------------------------------------------------------


@every_model
def test_vote_equals_its_sum_after_every_round(model):
    X, y = sample()
    new, _ = sample(15, seed=1)
    fitted = clone(model).fit(X, y)
    votes = naive.boosted_vote(new, [0.0], fitted) + fitted.intercept_
    np.testing.assert_allclose(list(fitted.staged_decision_function(new)), votes[1:], atol=1e-9)
    np.testing.assert_allclose(fitted.decision_function(new), votes[-1], atol=1e-9)
    np.testing.assert_allclose(fitted.transform(new) @ fitted.step_sizes_ + fitted.intercept_, votes[-1], atol=1e-9)


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("seed", range(3))
def test_exponential_loss_falls_every_round_by_the_edge_at_least(model, seed):
    X, y = sample(seed=seed)
    fitted = clone(model).set_params(random_state=seed).fit(X, y)
    votes = naive.boosted_vote(X, y, fitted)
    losses = [np.exp(-y * vote).mean() for vote in votes]
    np.testing.assert_allclose(fitted.loss_curve_, losses, rtol=1e-7)
    assert len(losses) == model.n_estimators + 1 and (np.diff(fitted.loss_curve_) < 0).all()
    # A round multiplies it by (1 - e^2)^(1/2) at most, with alpha = artanh(e).
    factors = np.sqrt(1 - np.tanh(fitted.step_sizes_) ** 2)
    assert (fitted.loss_curve_[1:] <= fitted.loss_curve_[:-1] * factors * (1 + 1e-9)).all()


@every_model
def test_fewer_rounds_are_the_first_of_more(model):
    X, y = sample()
    few, many = (clone(model).set_params(n_estimators=T).fit(X, y) for T in (3, 7))
    for name in ("step_sizes_", "frequencies_", "landmarks_", "offsets_", "weights_"):
        first, all_of_them = getattr(few, name), getattr(many, name)
        if first is not None:
            np.testing.assert_allclose(first, all_of_them[:3], rtol=1e-6, atol=1e-9)


def test_rounds_do_not_depend_on_how_many_phases_are_computed_at_once(monkeypatch):
    X, y = sample()
    expected = [clone(model).fit(X, y).decision_function(X) for model in (LANDMARKS, COSINES)]
    monkeypatch.setattr(boosting, "BLOCK_ENTRIES", 1)
    for model, votes in zip((LANDMARKS, COSINES), expected, strict=True):
        np.testing.assert_allclose(clone(model).fit(X, y).decision_function(X), votes, rtol=1e-4, atol=1e-4)


def test_without_steps_landmarks_are_training_points_and_cosines_keep_their_draws():
    X, y = sample()
    landmarks, cosines = (clone(model).set_params(max_steps=0).fit(X, y) for model in (LANDMARKS, COSINES))
    assert all((landmark == X).all(axis=1).any() for landmark in landmarks.landmarks_)
    drawn = landmarks.frequencies_.reshape(-1, 2)[: len(cosines.frequencies_)]
    np.testing.assert_array_equal(cosines.frequencies_, drawn)


def test_rounds_end_where_no_weight_is_left():
    X = np.array([[0.0], [1.0]])
    model = rff.LandmarkBoosting(KERNEL, 500, "cosine", random_state=0).fit(X, ["no", "yes"])
    assert len(model.step_sizes_) < 500 and model.loss_curve_[-1] < 1e-100 < model.loss_curve_[-2]
    assert model.predict(X).tolist() == ["no", "yes"] and np.isfinite(model.decision_function(X)).all()
    assert model.transform(X).shape == (2, len(model.step_sizes_)) == (2, len(model.get_feature_names_out()))


@pytest.mark.slow
@pytest.mark.parametrize("weak_learner", ["landmark", "cosine"])
def test_a_row_of_large_weight_does_not_overflow(weak_learner):
    """One of 4000 rows has the label that none of its copies has, and a vote of thousands against it."""
    X = np.repeat([[0.0], [1.0]], 2000, axis=0)
    signs = np.repeat([-1.0, 1.0], 2000)
    signs[0] = 1.0
    with np.errstate(all="raise", under="ignore"):
        residuals = signs * np.minimum(np.exp(np.where(np.arange(4000) == 0, 8.0, -8.0)), boosting._LARGEST_RESIDUAL)
        omega = KERNEL.sample_frequencies(4, 1, 0)
        waves = np.concatenate([np.cos(X @ omega.T), np.sin(X @ omega.T)], axis=1)
        landmark = boosting.descend_landmark(waves, residuals, omega, X[0], 10)
        losses = boosting.residual_losses(residuals, boosting._turned(waves, omega @ landmark))
        assert np.isfinite(losses).all() and losses.max() < 1e87
        assert np.isfinite(rff.pseudo_posterior(losses, 1.0, 4000)).all()
        model = rff.LandmarkBoosting(KERNEL, 20, weak_learner, random_state=0).fit(X, signs)
    assert (np.diff(model.loss_curve_) < 0).all()


@pytest.mark.slow
def test_descent_and_pseudo_posterior_lower_the_loss():
    X, y = sample(600)
    plain, descended, weighted = (
        rff.LandmarkBoosting(KERNEL, 30, beta=beta, max_steps=steps, random_state=0).fit(X, y).loss_curve_[-1]
        for beta, steps in ((0.0, 0), (0.0, 10), (1.0, 10))
    )
    assert weighted < descended < plain


# --- forms --------------------------------------------------------------------------------------------------------


def test_features_are_named_by_the_weak_learner():
    X, y = sample()
    assert clone(LANDMARKS).fit(X, y).get_feature_names_out().tolist()[:2] == ["landmark0", "landmark1"]
    assert clone(COSINES).fit(X, y).get_feature_names_out().tolist()[-1] == "cosine11"


@pytest.mark.slow
@pytest.mark.parametrize("weak_learner", ["landmark", "cosine"])
def test_of_several_classes_each_has_a_vote_against_the_others(weak_learner):
    X, y = sample()
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0)]
    model = rff.LandmarkBoosting(None, 8, weak_learner, random_state=0).fit(X, y)
    again = clone(model).fit(X, y == "a").fit(X, y)
    assert not hasattr(again, "step_sizes_") and len(again.estimators_) == 3
    votes = np.column_stack([one.decision_function(X) for one in model.estimators_])
    np.testing.assert_array_equal(model.decision_function(X), votes)
    np.testing.assert_array_equal(model.predict(X), np.array(["a", "b", "c"])[votes.argmax(axis=1)])
    for one, label in zip(model.estimators_, "abc", strict=True):
        alone = clone(model).set_params(kernel=model.kernel_, random_state=one.random_state).fit(X, y == label)
        np.testing.assert_array_equal(one.decision_function(X), alone.decision_function(X))
    stages = list(model.staged_decision_function(X))
    assert len(stages) == 8 and model.transform(X).shape == (120, len(model.get_feature_names_out())) == (120, 24)
    np.testing.assert_array_equal(stages[-1], votes)
    assert model.score(X, y) > 0.8


@pytest.mark.slow
def test_a_class_that_is_fitted_early_keeps_its_vote(monkeypatch):
    monkeypatch.setattr(boosting, "_FITTED", 0.3)
    X = np.repeat([[0.0], [1.0], [1.0]], 20, axis=0)  # the last two classes cannot be told apart
    model = rff.LandmarkBoosting(rff.GaussianKernel(1.0), 60, "cosine", random_state=0)
    model.fit(X, np.repeat([0, 1, 2], 20))
    rounds = [len(one.step_sizes_) for one in model.estimators_]
    assert min(rounds) < max(rounds) == len(list(model.staged_decision_function(X)))
    np.testing.assert_array_equal(list(model.staged_decision_function(X))[-1], model.decision_function(X))


@pytest.mark.parametrize("model", [LANDMARKS, COSINES], ids=["landmarks", "cosines"])
def test_whole_weights_count_as_repeated_rows(model):
    X, y = sample()
    weights = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_allclose(weighted.loss_curve_, repeated.loss_curve_, rtol=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)
    assert not np.allclose(weighted.loss_curve_, clone(model).fit(X, y).loss_curve_, rtol=1e-2)
