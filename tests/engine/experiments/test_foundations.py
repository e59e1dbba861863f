"""Foundations: errors of feature maps, sums over training points, regression on features, and spectra."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from pages.foundations import compute, figures
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.studies.toy.kernel import kernel_settings

SETTINGS = kernel_settings("Gaussian", 0.7, 1.5, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS_BY_TITLE)
def test_variances_agree_with_formulas_and_simulation(name):
    settings = kernel_settings(name, 0.7, 1.5, 0)
    kernel = settings.kernel()
    curves = compute.variance_curves(settings, 7, 4000)
    np.testing.assert_allclose(curves.distances, np.linspace(0, 4, 33))
    rng = np.random.default_rng(1)
    omega, b = kernel.sample_frequencies(200_000, 1, rng)[:, 0], rng.uniform(0, 2 * np.pi, 200_000)
    for i, delta in list(enumerate(curves.distances))[::8]:
        assert curves.kernel[i] == pytest.approx(kernel([[delta]], [[0.0]])[0, 0])
        # One frequency is two features of the cos/sin map, one of the random-phase map.
        terms = {"cos_sin": 2 * np.var(np.cos(omega * delta))}
        terms["random_phase"] = np.var(2 * np.cos(omega * delta + b) * np.cos(b))
        for name, variance in terms.items():
            assert curves.expected[name][i] == pytest.approx(variance, abs=0.02)
            # Five standard errors of a variance of 4000 draws that are nearly normal.
            error = 5 * np.sqrt(2 / 4000) * curves.expected[name][i] + 1e-12
            assert curves.simulated[name][i] == pytest.approx(curves.expected[name][i], abs=error)


def test_kernel_ridge_on_the_line_is_the_sum_of_its_terms():
    fit = compute.line_fit(SETTINGS, 15)
    model = KernelRidge(alpha=40 * compute.LINE_LAMBDA, kernel="rbf", gamma=SETTINGS.kernel().gamma)
    model.fit(fit.x[:, None], fit.y)
    np.testing.assert_allclose(fit.fits["kernel_ridge"], model.predict(fit.grid[:, None]), atol=1e-8)
    np.testing.assert_array_equal(fit.terms.sum(axis=0), fit.fits["kernel_ridge"])
    assert fit.landmarks.shape == (15,) and np.isin(fit.landmarks, fit.x).all()


@pytest.mark.parametrize("name", ["Gaussian", "Laplacian"])
def test_weights_of_classifiers_are_slopes_of_their_losses(name):
    settings = kernel_settings(name, 0.7, 1.5, 3)
    fit, kernel = compute.line_classifiers(settings), settings.kernel()
    bound = 1 / (len(fit.x) * compute.LINE_LAMBDA)
    for loss, alpha in fit.alpha.items():
        # The constant is the same everywhere; a free one makes the weights sum to 0.
        constants = fit.fits[loss] - alpha @ kernel(fit.x[:, None], fit.grid[:, None])
        np.testing.assert_allclose(constants, constants[0], atol=1e-9)
        margins = fit.y * (alpha @ kernel(fit.x[:, None]) + constants[0])
        assert alpha.sum() == pytest.approx(0, abs=1e-5)
        weights = fit.y * alpha
        if loss == "logistic":
            np.testing.assert_allclose(weights, bound / (1 + np.exp(margins)), atol=1e-5)
        else:
            assert weights.min() >= 0 and weights.max() <= bound + 1e-9
            assert (weights[margins > 1 + 1e-5] == 0).all()
            np.testing.assert_allclose(weights[margins < 1 - 1e-5], bound)
            assert name == "Laplacian" or 0 < np.count_nonzero(weights) < 0.8 * len(weights)


def test_classifiers_are_drawn_with_the_support_vectors_apart():
    fit = compute.line_classifiers(SETTINGS)
    drawn = {trace.name: trace for trace in figures.classifiers_on_a_line(fit).data if trace.showlegend is None}
    np.testing.assert_array_equal(drawn["support vectors"].x, fit.x[fit.alpha["hinge"] != 0])
    assert len(drawn["points"].x) + len(drawn["support vectors"].x) == len(fit.x)
    np.testing.assert_array_equal(drawn["hinge"].y, fit.fits["hinge"])


@pytest.mark.parametrize("name", KERNELS_BY_TITLE)
def test_largest_errors_fall_like_the_root_and_stay_below_their_bound(name):
    settings = kernel_settings(name, 0.7, 1.5, 0)
    kernel, D = settings.kernel(), 200
    found = compute.largest_errors(settings, (20, D, 2000))
    omega = kernel.sample_frequencies(2000 * compute.UNIFORM_DRAWS, 1, np.random.default_rng(0))
    distances = np.linspace(0, 4, compute.UNIFORM_POINTS)
    errors = [np.cos(omega[:D, 0] * delta).mean() - kernel([[delta]], [[0.0]])[0, 0] for delta in distances]
    assert found["error"][1, 0] == pytest.approx(np.abs(errors).max())
    few, _, many = found["error"].mean(axis=1)
    assert 5 < few / many < 20  # the root of 100 is 10
    assert (found["error"] < found["bound"]).all()
    spread = 4 * np.sqrt(kernel.coordinate_variance)
    for count, bound in zip((20, D, 2000), found["bound"][:, 0], strict=True):
        if np.isfinite(spread):
            chance = 12 * (spread / bound) ** (2 / 3) * np.exp(-count * bound**2 / 12)
            assert chance == pytest.approx(compute.UNIFORM_DELTA, rel=1e-2)  # 12 is rounded
    lines = [trace.name for trace in figures.largest_errors((20, D, 2000), found).data]
    assert ("bound" in lines) == np.isfinite(spread) == (name != "Laplacian")


def test_only_clusters_have_an_eigengap_and_few_landmarks_suffice_there():
    kernel, n = SETTINGS.kernel(), compute.CLUSTERS_ALONG**2
    values, errors = compute.matrix_eigenvalues(SETTINGS), compute.matrix_errors(SETTINGS, (5, 100))
    gaps = {}
    for name, X in compute.matrix_points(SETTINGS.seed).items():
        K = kernel(X)
        # Moments of a spectrum: the traces of K / n and of its square.
        assert values[name].sum() == pytest.approx(1) and (np.diff(values[name]) <= 0).all()
        assert (values[name] ** 2).sum() == pytest.approx((K**2).mean())
        gaps[name] = values[name][n - 1] / values[name][n]
        assert (errors[name]["monte_carlo"] > 0.05).all()
        # No matrix of 5 features is nearer than the best one.
        best = np.sqrt((values[name][5:] ** 2).sum() / (values[name] ** 2).sum())
        assert (errors[name]["nystroem"][0] >= best).all()
    assert gaps["clusters"] > 50 and gaps["uniform"] < 2
    assert errors["clusters"]["nystroem"][1].max() < 1e-4 < 0.02 < errors["uniform"]["nystroem"][1].min()
    fig = figures.matrix_errors((5, 100), errors)
    drawn = {trace.name: trace.y for trace in fig.data if trace.name}
    np.testing.assert_allclose(drawn["random, uniform"], errors["uniform"]["monte_carlo"].mean(axis=1), rtol=1e-6)


def test_fits_on_features_approach_kernel_ridge():
    few, many = (compute.line_fit(SETTINGS, D) for D in (4, 400))
    inside = np.abs(few.grid) < 3
    for method, enough in (("monte_carlo", 0.2), ("nystroem", 1e-6)):
        far, near = (np.abs(fit.fits[method] - fit.fits["kernel_ridge"])[inside].max() for fit in (few, many))
        assert near < enough and near < far / 2


@pytest.mark.slow
def test_errors_fall_to_that_of_kernel_ridge():
    errors = compute.regression_errors(SETTINGS, (2, 150))
    exact = errors["kernel_ridge"].item()
    X, y = compute.plane_sample(compute.REGRESSION_ROWS, 0)
    half, end = len(X) // 2, 3 * len(X) // 4
    misses = [
        KernelRidge(alpha=half * decay, kernel="rbf", gamma=SETTINGS.kernel().gamma).fit(X[:half], y[:half]).predict(X)
        - y
        for decay in compute.LAMBDAS
    ]
    best = min(misses, key=lambda miss: np.mean(miss[half:end] ** 2))
    assert exact == pytest.approx(np.sqrt(np.mean(best[end:] ** 2)), rel=1e-4) and exact < 0.7
    for name in ("monte_carlo", "nystroem"):
        few, many = errors[name].mean(axis=1)
        assert abs(many - exact) < 0.1 < few - exact


def test_times_are_measured_for_every_n():
    measured = compute.regression_seconds(SETTINGS, 5, n_values=(20, 40))
    assert set(measured) == set(compute.REGRESSIONS)
    assert all(seconds.shape == (2,) and (seconds > 0).all() for seconds in measured.values())
    fig = figures.seconds_and_promises((20, 40), measured)
    dotted = [trace for trace in fig.data if trace.line.dash == "dot" and trace.line.width == 1]
    growth = [round(np.log2(trace.y[1] / trace.y[0])) for trace in dotted]
    assert growth == [3, 1, 1]
