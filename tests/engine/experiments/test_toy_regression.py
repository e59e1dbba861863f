"""Kernel ridge regression beside ridge regression on features: against scikit-learn, and as features are added."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import rff_engine as rff
from pages.adaptive.approximate import compute, figures
from pages.adaptive.approximate.compute import ApproximationSettings

KERNEL = rff.GaussianKernel(0.7)
SETTINGS = ApproximationSettings("moons", "Gaussian", 1.0, 1.5, 0)


def rows(task="regression", n=400, classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    wave = np.sin(2 * X[:, 0]) + X[:, 1]
    y = wave if task == "regression" else np.digitize(wave, np.linspace(-0.5, 0.5, classes - 1))
    return compute.scaled_rows(X, y, task, n, 0)


def test_kernel_ridge_on_the_line_is_the_sum_of_its_terms():
    fit = compute.line_fit(SETTINGS, 15)
    model = KernelRidge(alpha=40 * compute.LINE_LAMBDA, kernel="rbf", gamma=SETTINGS.scaled_kernel(1).gamma).fit(
        fit.x[:, None], fit.y
    )
    np.testing.assert_allclose(fit.fits["kernel_ridge"], model.predict(fit.grid[:, None]), atol=1e-8)
    np.testing.assert_array_equal(fit.terms.sum(axis=0), fit.fits["kernel_ridge"])
    assert fit.landmarks.shape == (15,) and np.isin(fit.landmarks, fit.x).all()


def test_fits_on_features_approach_kernel_ridge():
    few, many = (compute.line_fit(SETTINGS, r) for r in (4, 400))
    inside = np.abs(few.grid) < 3
    for method, enough in (("monte_carlo", 0.2), ("nystroem", 1e-6)):
        far, near = (np.abs(fit.fits[method] - fit.fits["kernel_ridge"])[inside].max() for fit in (few, many))
        assert near < enough and near < far / 2


@pytest.mark.slow
@pytest.mark.parametrize(("task", "classes"), [("regression", 0), ("classification", 2), ("classification", 3)])
def test_errors_fall_to_that_of_kernel_ridge(task, classes):
    given = rows(task, classes=classes)
    learned = compute.regression_errors(given, KERNEL, (2, 150), 2, 0)
    exact = learned.errors["kernel_ridge"].item()
    chance = 1.0 if task == "regression" else 1 - np.bincount(given.y).max() / len(given.y)
    assert learned.n == 200 and exact < 0.7 * chance
    for name in ("monte_carlo", "nystroem"):
        assert learned.errors[name].shape == (2, 2) and (learned.seconds[name] > 0).all()
        few, many = learned.errors[name].mean(axis=1)
        assert abs(many - exact) < 0.1 < few - exact


def test_times_are_measured_for_every_n():
    measured = compute.learning_seconds(SETTINGS, 5, n_values=(20, 40))
    assert set(measured.seconds) == set(compute.REGRESSIONS)
    assert all(seconds.shape == (2,) and (seconds > 0).all() for seconds in measured.seconds.values())
    fig = figures.seconds_and_promises(measured)
    dotted = [trace for trace in fig.data if trace.line.dash == "dot" and trace.line.width == 1]
    growth = [round(np.log2(trace.y[1] / trace.y[0])) for trace in dotted]
    assert growth == [3, 1, 1]


def test_errors_of_a_classification_are_shown_in_percent():
    learned = compute.regression_errors(rows("classification"), KERNEL, (5, 20), 1, 0)
    fig = figures.errors_against_r(learned, "classification", 5)
    shown = next(trace for trace in fig.data if trace.name == figures.NAMES["nystroem"])
    np.testing.assert_allclose(shown.y, 100 * learned.errors["nystroem"][:, 0], rtol=1e-6)


def test_numbers_of_frequencies_out_of_range_are_refused():
    for r, method in ((0, "sobol"), (201, "sobol"), (0, "sample")):
        with pytest.raises(ValueError, match=f"r is {r}"):
            compute.method_view(SETTINGS, method, r)
