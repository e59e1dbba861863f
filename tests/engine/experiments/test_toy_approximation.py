"""Approximated kernels in the plane, compared with naive formulas, and their properties."""

import warnings

import numpy as np
import pytest

import rff_engine as rff
from pages.adaptive.approximate import compute
from pages.adaptive.approximate.compute import ApproximationSettings
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.studies.feature_methods import FourierMap, fit_features
from rff_engine.studies.toy.plane import cell_centres


def settings_of(data="wine", n_rows=40, seed=0, kernel="Gaussian", width=0.85):
    return ApproximationSettings(data, kernel, width, 1.5, seed, n_rows)


# --- rows ---------------------------------------------------------------------------------------------------------


def test_rows_are_distinct_and_standardised():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 10, 100] + [5, 0, -5]
    rows = compute.scaled_rows(X, np.arange(30), "regression", 12, 1)
    assert len(set(rows.y)) == len(rows.X) == 12
    chosen = X[rows.y]
    np.testing.assert_allclose(rows.X, (chosen - chosen.mean(axis=0)) / chosen.std(axis=0))
    np.testing.assert_array_equal(rows.y, compute.scaled_rows(X, np.arange(30), "regression", 12, 1).y)
    assert set(rows.y) != set(compute.scaled_rows(X, np.arange(30), "regression", 12, 2).y)
    assert len(compute.scaled_rows(X, np.arange(30), "regression", 99, 1).X) == 30


def test_constant_columns_are_left_out():
    X = np.random.default_rng(0).normal(size=(20, 4))
    X[:, 1] = 3
    assert compute.scaled_rows(X, np.zeros(20), "regression", 20, 0).X.shape == (20, 3)


def test_the_plane_holds_the_two_directions_of_largest_variance():
    rows = compute.approximation_rows("wine", 0, 200)
    np.testing.assert_allclose(rows.axes.T @ rows.axes, np.eye(2), atol=1e-12)
    _, vectors = np.linalg.eigh(rows.X.T @ rows.X)
    for k in range(2):
        assert abs(rows.axes[:, k] @ vectors[:, -1 - k]) == pytest.approx(1)
    np.testing.assert_allclose(rows.in_plane, [[(x - rows.centre) @ axis for axis in rows.axes.T] for x in rows.X])
    assert np.abs(rows.in_plane).max() < rows.extent
    assert min(np.linalg.norm(x) for x in rows.X) == np.linalg.norm(rows.centre)


def test_in_two_dimensions_the_plane_is_that_of_the_data():
    rows = compute.approximation_rows("moons", 0, 40)
    np.testing.assert_array_equal(rows.axes, np.eye(2))
    np.testing.assert_allclose(rows.in_plane + rows.centre, rows.X)


@pytest.mark.parametrize("name", KERNELS_BY_TITLE)
@pytest.mark.parametrize("d", [2, 11, 60])
def test_width_is_comparable_across_kernels_and_dimensions(name, d):
    X = np.random.default_rng(0).normal(size=(200, d))
    kernels = [settings_of(kernel=name, width=width).scaled_kernel(d) for width in (0.5, 1, 2)]
    middle = [np.median(kernel(X)[np.triu_indices(200, 1)]) for kernel in kernels]
    assert 0.1 < middle[1] < 0.45
    assert middle[0] < 0.7 * middle[1] < 0.7 * middle[2]


def test_gaussian_kernel_of_width_one_is_that_of_the_paper():
    assert 2 * settings_of(width=1.0).scaled_kernel(11).sigma ** 2 == pytest.approx(11)
    assert ApproximationSettings("wine", "Matérn", 1.0, 2.5, 0).scaled_kernel(11).nu == 2.5


# --- errors and views ---------------------------------------------------------------------------------------------


def naive_error(kernel, X, features) -> float:
    """The relative error, pair by pair."""
    above = below = 0.0
    for i in range(len(X)):
        for j in range(len(X)):
            k = kernel(X[i : i + 1], X[j : j + 1])[0, 0]
            above += (features[i] @ features[j] - k) ** 2
            below += k**2
    return np.sqrt(above / below)


def fitted_by(rows, kernel, method, r, seed, draw=0):
    """What a method gives for r; of a sequence, the first r of a whole sample."""
    child = int(np.random.SeedSequence((seed, draw)).generate_state(1)[0])
    if method not in compute.SEQUENCES:
        return fit_features(method, rows.X, rows.y, kernel, r, child, rows.task)
    return FourierMap(rff.draw_frequencies(kernel, compute.MOST_FREQUENCIES, rows.X.shape[1], method, child)[:r])


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("method", [*compute.SEQUENCES, "weight", "sample", "nystroem"])
def test_errors_are_those_of_every_pair_of_rows(method):
    settings = settings_of(n_rows=25, seed=5)
    rows, kernel = settings.rows_and_kernel()
    if method in compute.SEQUENCES:
        errors = compute.sequence(settings, method, n_draws=2).errors.T[[2, 7]]
    else:
        errors = compute.fitted_errors(settings, method, (3, 8), 2)
    assert errors.shape == (2, 2) and len(np.unique(errors)) == 4
    for i, r in enumerate((3, 8)):
        for draw in range(2):
            features = fitted_by(rows, kernel, method, r, 5, draw).transform(rows.X)
            assert errors[i, draw] == pytest.approx(naive_error(kernel, rows.X, features), rel=1e-9)


@pytest.mark.parametrize("d", [2, 10, 11])
def test_frequencies_too_few_to_match_are_those_with_a_warning(d):
    warned = []
    for r in range(2, 16):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rff.draw_frequencies(rff.GaussianKernel(), r, d, "moment_matching", 0)
        warned += [r] * len(caught)
    assert compute.too_few_to_match(range(2, 16), d) == warned != []


@pytest.mark.more(after=12)
@pytest.mark.slow
@pytest.mark.parametrize("method", compute.SEQUENCES)
@pytest.mark.parametrize("r", [1, 7, 33])
def test_the_first_of_a_sample_are_distributed_as_a_sample_of_as_many(method, r):
    kernel, seeds = rff.GaussianKernel(1.3), range(100)
    few, many = (
        np.array([toy_sample(kernel, method, count, seed)[:r] for seed in seeds])
        for count in (r, compute.MOST_FREQUENCIES)
    )
    delta = np.array([0.7, -0.2, 0.4, 1.1, -0.6])
    for power in (1, 2):
        a, b = (np.cos(omega @ delta).mean(axis=1) ** power for omega in (few, many))
        assert abs(a.mean() - b.mean()) < 4 * np.sqrt((a.var() + b.var()) / len(seeds)) + 1e-12


def toy_sample(kernel, method, count, seed):
    return rff.draw_frequencies(kernel, count, 5, method, seed)


def test_a_sequence_has_the_views_frequencies_and_errors():
    found = compute.sequence(settings_of(seed=4), "sobol", n_draws=2)
    assert found.frequencies.shape == (compute.MOST_FREQUENCIES, 2) and found.errors.shape == (
        2,
        compute.MOST_FREQUENCIES,
    )
    for r in (1, 30, compute.MOST_FREQUENCIES):
        view = compute.method_view(settings_of(seed=4), "sobol", r, cells=3)
        np.testing.assert_allclose(found.frequencies[:r], view.frequencies, atol=1e-12)
        assert found.errors[0, r - 1] == pytest.approx(view.error, rel=1e-9)


def test_the_plane_has_the_kernels_values_at_the_cells():
    rows, kernel = settings_of().rows_and_kernel()
    cells = cell_centres(rows.extent, 3)
    expected = np.exp(-(cells**2 + cells[:, None] ** 2) / (2 * kernel.sigma**2))
    np.testing.assert_allclose(compute.plane_kernel(settings_of(), 3), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["moons", "wine"])
@pytest.mark.parametrize("method", ["monte_carlo", "sample"])
@pytest.mark.slow
def test_method_view_is_one_draw_projected_to_the_plane(name, method):
    settings = settings_of(name, seed=3)
    rows, kernel = settings.rows_and_kernel()
    view = compute.method_view(settings, method, 9, cells=4)
    fitted = fitted_by(rows, kernel, method, 9, 3)
    assert view.error == pytest.approx(naive_error(kernel, rows.X, fitted.transform(rows.X)), rel=1e-9)
    assert isinstance(fitted, FourierMap) and view.landmarks is None
    weights = np.full(9, 1 / 9) if method == "monte_carlo" else fitted.weights
    np.testing.assert_allclose(view.weights, weights)
    np.testing.assert_allclose(view.frequencies, [[w @ axis for axis in rows.axes.T] for w in fitted.frequencies])
    cells = cell_centres(rows.extent, 4)
    for row, v in enumerate(cells):
        for column, u in enumerate(cells):
            delta = u * rows.axes[:, 0] + v * rows.axes[:, 1]
            wrong = weights @ np.cos(fitted.frequencies @ delta) - np.exp(-(delta @ delta) / (2 * kernel.sigma**2))
            assert view.error_map[row, column] == pytest.approx(abs(wrong), abs=1e-9)


def test_nystroem_view_is_exact_at_its_landmarks():
    settings = settings_of("moons", width=0.5)
    rows, _ = settings.rows_and_kernel()
    view = compute.method_view(settings, "nystroem", 12)
    assert view.frequencies is None and view.weights is None and view.landmarks.shape == (12, 2)
    for landmark in view.landmarks + rows.centre:
        assert np.abs(rows.X - landmark).max(axis=1).min() < 1e-10
    # With every row as a landmark, the kernel matrix is exact.
    assert compute.method_view(settings, "nystroem", len(rows.X)).error < 1e-5


@pytest.mark.parametrize("name", KERNELS_BY_TITLE)
def test_frequency_extent_holds_the_given_fraction(name):
    extent = compute.frequency_extent(settings_of(kernel=name))
    _, kernel = settings_of(kernel=name).rows_and_kernel()
    fresh = kernel.sample_frequencies(20000, 2, 99)
    assert (np.abs(fresh).max(axis=1) <= extent).mean() == pytest.approx(0.97, abs=0.01)


def test_numbers_of_frequencies_out_of_range_are_refused():
    for r, method in ((0, "sobol"), (201, "sobol"), (0, "sample")):
        with pytest.raises(ValueError, match=f"r is {r}"):
            compute.method_view(settings_of("moons"), method, r)
