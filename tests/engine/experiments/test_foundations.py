"""Foundations: variances of both feature maps, and kernel ridge regression beside ridge regression on features."""

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
