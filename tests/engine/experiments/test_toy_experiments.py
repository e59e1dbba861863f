"""Experiments in the plane, compared with naive formulas, and their properties."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.svm import LinearSVC

import datasets
import rff_engine as rff
from pages.kernel import compute
from pages.kernel.learn import compute as learning
from rff_datasets import ToyData
from rff_engine.kernels import KERNELS as NAMED
from rff_engine.studies.toy import kernel as toy_kernels, landmarks as toy_landmarks
from rff_engine.studies.toy.plane import cell_centres
from tests import naive

KERNELS = [named.of_width(0.7, nu=1.5) for named in NAMED.values()]
SETTINGS = [compute.KernelSettings(named.title, 0.7, 1.5, 0) for named in NAMED.values()]


def sample(n=60, seed=0, name="moons"):
    data = datasets.make_toy(name, n, 0.1, seed)
    return data.X, data.y


# --- grids and draws ----------------------------------------------------------------------------------------------


# --- landmarks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [(), (-1,), (60,)])
def test_landmarks_outside_the_data_are_rejected(rows):
    X, y = sample()
    with pytest.raises(ValueError, match="between 0 and 59"):
        toy_landmarks.landmark_problem(X, y, rff.GaussianKernel(0.5), 1, 7, rows)


@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_a_landmark_view_is_an_svm_on_the_similarities(beta):
    X, y = sample(80)
    X_test, y_test = sample(200, seed=9)
    problem = toy_landmarks.landmark_problem(X, y, rff.GaussianKernel(0.5), 4, 9, random_state=0)
    view = toy_landmarks.landmark_view(problem, X_test, y_test, beta, 10.0, 2.0, cells=5)

    weights = np.exp(-beta * np.sqrt(80) * problem.loss)
    np.testing.assert_allclose(view.Q, weights / weights.sum(axis=1, keepdims=True), rtol=1e-10)

    def psi(points):
        angle = np.einsum("nld,lmd->nlm", problem.landmarks - points[:, None], problem.omega)
        return (view.Q * np.cos(angle)).sum(axis=2)

    def prior(points):
        return np.exp(-((points[:, None] - problem.landmarks) ** 2).sum(axis=2) / (2 * 0.5**2))

    axis = cell_centres(2.0, 5)
    cells = np.array([(u, v) for v in axis for u in axis])
    for represent, maps, decision in ((psi, view.learned_maps, view.learned), (prior, view.prior_maps, view.prior)):
        np.testing.assert_allclose(maps, represent(cells).T.reshape(4, 5, 5), atol=1e-10)
        svc = LinearSVC(C=10.0, dual=False, tol=1e-12, max_iter=10000).fit(represent(X), y)
        np.testing.assert_allclose(decision.coefficients, svc.coef_[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(decision.values, svc.decision_function(represent(cells)).reshape(5, 5), atol=1e-3)
        assert decision.train_error == pytest.approx(1 - svc.score(represent(X), y), abs=1e-12)
        assert decision.test_error == pytest.approx(1 - svc.score(represent(X_test), y_test), abs=0.006)


@pytest.mark.parametrize("selection", ["random", "kmeans"])
def test_landmark_path_equals_landmark_views(selection):
    X, y = sample(80)
    X_test, y_test = sample(200, seed=9)
    problem = toy_landmarks.landmark_problem(X, y, rff.GaussianKernel(0.5), 4, 9, selection, random_state=0)
    betas = (0.0, 0.01, 1.0, 7.0, 1000.0)
    path = toy_landmarks.landmark_path(problem, X_test, y_test, betas, 10.0)
    np.testing.assert_array_equal(path.betas, betas)
    for i, beta in enumerate(betas):
        view = toy_landmarks.landmark_view(problem, X_test, y_test, beta, 10.0, 2.0, cells=2)
        assert path.train_error[i] == pytest.approx(view.learned.train_error, abs=1e-12)
        assert path.test_error[i] == pytest.approx(view.learned.test_error, abs=1e-12)
        kl = rff.kl_divergence(view.Q)
        assert path.kl[i] == pytest.approx(np.mean(kl), abs=1e-12)
        if selection == "random":
            loss = (view.Q * problem.loss).sum(axis=1)
            each = [
                rff.bounds.landmark_kl_inverse(*one, n=80, epsilon=0.05, n_landmarks=80)
                for one in zip(loss, kl, strict=True)
            ]
            assert path.bound[i] == pytest.approx(np.mean(each), abs=1e-12)
    assert (path.bound is None) == (selection == "kmeans")
    assert len(set(path.test_error)) > 1 and path.kl[0] == pytest.approx(0, abs=1e-12)


# --- a kernel and its estimates -----------------------------------------------------------------------------------


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
def test_the_measured_error_is_the_expected_one(kernel):
    points = np.random.default_rng(0).uniform(-1, 1, (8, 2))
    D_values = (1, 4, 30)
    expected = compute.expected_error(kernel, points, D_values)
    # Squared errors of batches of draws against the variance: with t-tests that reject one time in 10^4.
    batches = [compute.approximation_error(kernel, points, D_values, 40, seed) for seed in range(25)]
    for name in ("cos_sin", "random_phase"):
        squares = np.array([batch[name] ** 2 for batch in batches])
        for i in range(len(D_values)):
            assert ttest_1samp(squares[:, i], expected[name][i] ** 2).pvalue > 1e-4
        np.testing.assert_allclose(expected[name] * np.sqrt(D_values), expected[name][0], rtol=1e-12)


# --- the frequency plane ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_many_candidates_have_the_posterior_density():
    X, y = sample(200)
    kernel, beta = rff.GaussianKernel(0.5), 1.0
    plane = naive.frequency_plane(X, y, kernel, 9.0, cells=60)
    density = naive.plane_posterior(plane, beta)
    drawn = toy_kernels.draw_candidates(X, y, kernel, 40_000, 0)
    Q = rff.pseudo_posterior(drawn.loss, beta, 200)
    within = (np.abs(plane.grid[:, None]) < 3) & (np.abs(plane.grid[None]) < 3)
    share = density[within].sum() * (18 / 60) ** 2
    assert Q[(np.abs(drawn.omega) < 3).all(axis=1)].sum() == pytest.approx(share, abs=0.02)


# --- candidates and their weights ---------------------------------------------------------------------------------


def test_weight_summary_of_uniform_and_concentrated_weights():
    uniform = learning.weight_summary(np.full(8, 1 / 8), 3.0)
    assert (uniform.kl, uniform.divergence, uniform.effective) == pytest.approx((0, 0, 8))
    point = learning.weight_summary(np.eye(8)[2], 3.0)
    assert (point.kl, point.divergence, point.effective) == pytest.approx((np.log(8), 8**2 - 1, 1))
    Q = np.array([0.5, 0.25, 0.25, 0.0])
    some = learning.weight_summary(Q, 2.0)
    assert some.kl == pytest.approx(0.5 * np.log(2) + 0.5 * np.log(1))
    assert some.divergence == pytest.approx(4 * 0.375 - 1)
    assert some.effective == pytest.approx(1 / 0.375)


# --- test errors --------------------------------------------------------------------------------------------------


def by_hand_error(X, y, X_test, y_test, omega, C):
    def features(points):
        return np.hstack([np.cos(points @ omega.T), np.sin(points @ omega.T)]) / np.sqrt(len(omega))

    svc = LinearSVC(C=C, dual=False, tol=1e-12, max_iter=10000).fit(features(X), y)
    return 1 - svc.score(features(X_test), y_test)


CANDIDATES = learning.CandidateSettings(ToyData("moons", 80, 0.1, 0), 0.4, 40)


def test_error_curve_equals_svms_on_growing_prefixes():
    train, fresh = CANDIDATES.data.sample(), CANDIDATES.data.fresh_sample()
    sampled = learning.candidates(CANDIDATES)
    omega = sampled.omega
    Q = learning.candidate_weights(sampled, ("pbrff", 3.0))  # concentrated: frequencies repeat
    errors = learning.errors_of_weights(CANDIDATES, omega, Q, (1, 3, 12), 2.0)
    assert errors.shape == (3, 10)
    rng = np.random.default_rng((0, 1))
    seeds = [int(rng.integers(2**31)) for _ in range(10)]
    for draw, seed in enumerate(seeds):
        chosen = np.random.default_rng(seed).choice(40, size=12, p=Q)
        for i, D in enumerate((1, 3, 12)):
            by_hand = by_hand_error(train.X, train.y, fresh.X, fresh.y, omega[chosen[:D]], 2.0)
            assert errors[i, draw] == pytest.approx(by_hand, abs=0.005)


def errors_of(*weighting):
    """Measure test errors of a weighting by numbers of frequencies."""
    drawn = learning.candidates(CANDIDATES)
    return partial(learning.errors_of_weights, CANDIDATES, drawn.omega, learning.candidate_weights(drawn, weighting))


def test_error_does_not_depend_on_other_points_of_the_curve():
    curve, alone, backwards = (errors_of("rff")(counts) for counts in ((1, 5, 20), (5,), (20, 5, 1)))
    np.testing.assert_array_equal(alone[0], curve[1])
    np.testing.assert_array_equal(backwards[::-1], curve)


def test_several_weightings_at_once_have_the_errors_of_each():
    together = learning.feature_error_path(CANDIDATES, 15)
    assert together.shape == (13, 10)
    for one, beta in zip(together, learning.ERROR_BETAS, strict=True):
        alone = errors_of("pbrff", beta)((15,))[0]
        np.testing.assert_allclose(one, alone, atol=1 / 2000 + 1e-12)  # rounding may move a point on the boundary
    assert np.ptp(together.mean(axis=1)) > 0.01


def test_the_divergence_along_betas_is_that_of_each_posterior():
    drawn, path = learning.candidates(CANDIDATES), learning.posterior_path(CANDIDATES)
    for value, beta in zip(path.kl, path.betas, strict=True):
        weights = np.exp(-beta * np.sqrt(80) * (drawn.loss - drawn.loss.min()))
        weights /= weights.sum()
        seen = weights[weights > 0]
        assert value == pytest.approx(np.log(len(weights)) + (seen * np.log(seen)).sum(), abs=1e-9)
    loss = [rff.pseudo_posterior(drawn.loss, beta, 80) @ drawn.loss for beta in path.betas]
    expected = rff.bounds.second_order_kl_inverse(loss, path.kl, 80, 0.05)
    np.testing.assert_allclose(path.bound, expected, atol=1e-12)


def test_interval_of_a_mean_has_its_coverage():
    values = np.random.default_rng(0).standard_normal((4000, 10)) + 5
    mean, margin = learning.mean_and_margin(values)
    np.testing.assert_allclose(mean, values.mean(axis=1))
    assert np.mean(np.abs(mean - 5) <= margin) == pytest.approx(0.95, abs=0.015)
