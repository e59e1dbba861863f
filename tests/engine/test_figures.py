"""Figures show the given numbers in the right places."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import datasets
from pages.adaptive import figures as adaptive
from pages.data import view as errors
from pages.shared.figures import paths
from rff_engine.bounds import LANDMARK_BOUNDS
from rff_engine.plots import bounds, landmarks, style
from rff_engine.plots.style import CLASS_COLOURS
from rff_engine.studies import feature_methods
from rff_engine.studies.toy import coverage
from rff_engine.studies.toy.bounds import KERNEL_BOUNDS

COLOURS = 2.0**-12  # the relative precision of a map's values


@pytest.fixture
def sample():
    return datasets.make_toy("moons", 30, 0.1, 0)


def markers(fig, colour):
    return [t for t in fig.data if t.type == "scatter" and t.marker.color == colour]


def test_mosaic_holds_all_maps_and_points_of_both_classes(sample):
    rng = np.random.default_rng(0)
    maps = rng.uniform(-1, 1, (2, 3, 8, 8))
    fig = landmarks.similarity_mosaic(2.0, maps, sample.X[:3], sample.X, sample.y, row_names=("prior", "learned"))
    z = fig.data[0].z
    assert z.shape == (2 * 8 + 1, 3 * 8 + 2)
    for r in range(2):  # the first row is on top
        for l in range(3):
            np.testing.assert_allclose(z[(1 - r) * 9 : (1 - r) * 9 + 8, l * 9 : l * 9 + 8], maps[r, l], rtol=COLOURS)
    for label, colour in CLASS_COLOURS.items():
        (trace,) = markers(fig, colour)
        assert len(trace.x) == 6 * (sample.y == label).sum()
    # The first tile is the unit square, to which [-2, 2]^2 is mapped.
    (trace,) = markers(fig, CLASS_COLOURS[1])
    n = (sample.y == 1).sum()
    np.testing.assert_allclose(trace.x[:n], sample.X[sample.y == 1, 0] / 4 + 0.5, atol=1e-5)


def test_beta_line_crosses_errors_and_divergence():
    betas = np.array([0.01, 1.0, 100.0])
    test = paths.ErrorPath(betas, np.array([0.3, 0.1, 0.2]), np.array([0.05, 0.2, 0.05]))
    train = paths.ErrorPath(betas, np.array([0.3, 0.1, 0.0]))
    fig = paths.errors_and_kl(10.0, {"test": test, "train": train}, betas, np.array([0.0, 1.0, 2.0]))
    band, of_test, of_train, kl = fig.data
    np.testing.assert_allclose(of_test.y, [30, 10, 20])
    np.testing.assert_allclose(of_train.y, [30, 10, 0])
    np.testing.assert_allclose(band.y, [35, 30, 25, 15, 0, 25])  # an error is never below 0
    np.testing.assert_allclose(kl.y, [0, 1, 2])
    assert (of_test.yaxis, kl.yaxis) == ("y", "y2")
    assert [(shape.x0, shape.xref) for shape in fig.layout.shapes] == [(10.0, "x"), (10.0, "x2")]
    fig = paths.errors_and_kl(10.0, {"test": test}, betas, np.array([0.0, 1.0, 2.0]), bound=np.array([0.7, 0.6, 0.9]))
    *_, kl, bound, star = fig.data
    assert (kl.yaxis, bound.yaxis, star.yaxis) == ("y3", "y2", "y2")
    assert (*star.x, *star.y) == (1.0, 0.6)
    lines = [(shape.name, shape.x0, shape.xref) for shape in fig.layout.shapes]
    assert lines == [(name, x, f"x{panel}") for name, x in ((None, 1.0), ("beta", 10.0)) for panel in ("", 2, 3)]


@pytest.mark.parametrize("runs", [3, 4])
def test_interval_needs_four_runs(runs):
    rows = {"method": ["svm", "rff"], "D": [pd.NA, 10], "test_error": 0.2, "half_width": 0.1, "train_error": 0.1}
    run = errors.with_run(errors.NOTHING, "breast", pd.DataFrame(rows | {"runs": runs}))["run"]
    assert (run["svm"], run["runs"], run["curves"][0]["test_error"]) == (pytest.approx(20), runs, [20])
    assert run["curves"][0]["half_width"] == [10 if runs == 4 else 0]


def test_errors_of_methods_have_bands_from_the_best_draw_to_the_worst():
    errors = {"monte_carlo": np.array([[0.5, 0.7], [0.2, 0.4]]), "sample": np.array([[0.3, 0.1], [0.2, 0.2]])}
    band, line, _, other = (fig := adaptive.errors_against_frequencies((5, 10), errors, 10)).data
    np.testing.assert_allclose(band.x, [5, 10, 10, 5])
    np.testing.assert_allclose(band.y, [0.7, 0.4, 0.2, 0.5])
    np.testing.assert_allclose(line.y, [0.6, 0.3])
    np.testing.assert_allclose(other.y, [0.2, 0.2])
    np.testing.assert_array_equal(line.marker.size, [7, 13])  # the chosen number is marked
    assert fig.layout.shapes[0].x0 == 10


def test_methods_differ_in_colour_or_symbol():
    looks = {name: (style.METHOD_COLOURS[name], style.METHOD_SYMBOLS[name]) for name in feature_methods.METHODS}
    assert len(set(looks.values())) == len(looks)
    assert set(looks) <= set(style.METHOD_NAMES) & set(style.METHOD_DASHES)
    assert len(set(style.METHOD_NAMES.values())) == len(style.METHOD_NAMES)


# --- adaptive frequencies -----------------------------------------------------------------------------------------


def test_densities_are_shown_on_the_middle_line_and_as_a_ratio():
    grid = np.linspace(-2, 2, 5)
    plane = SimpleNamespace(
        grid=grid, **{name: k + np.arange(25.0).reshape(5, 5) for k, name in enumerate(("prior", "claim", "data"), 1)}
    )
    prior, claim, data, ratio = adaptive.importance_densities(plane, 2.5).data
    for trace, values in ((prior, plane.prior), (claim, plane.claim), (data, plane.data)):
        np.testing.assert_allclose(trace.y, values[2])
    np.testing.assert_allclose(ratio.z, plane.data / plane.prior, rtol=COLOURS)


def test_landmark_errors_are_means_with_bands_from_best_to_worst():
    errors = {"sample": np.array([[0.3, 0.5], [0.1, 0.2]]), "cluster": np.array([[0.2, 0.2], [0.1, 0.1]])}
    fig = adaptive.landmark_errors((5, 10), errors, 7, 0.4, 10)
    level, band, line, *_ = fig.data
    assert list(level.y) == [0.4, 0.4] and list(band.y) == [0.5, 0.2, 0.1, 0.3]
    np.testing.assert_allclose(line.y, [0.4, 0.15])
    assert fig.layout.shapes[0].x0 == 7


def test_inputs_and_grid_show_points_and_both_weights(sample):
    rng = np.random.default_rng(2)
    grid = SimpleNamespace(prior=rng.uniform(size=(4, 4)), weights=rng.uniform(size=(4, 4)))
    points, landmarks, prior, weights = adaptive.inputs_and_grid(sample.X, sample.X[:3], 2.0, grid, 3.0).data
    assert len(points.x) == 30 and len(landmarks.x) == 3
    np.testing.assert_allclose(prior.z, grid.prior, rtol=COLOURS)
    np.testing.assert_allclose(weights.z, grid.weights, rtol=COLOURS)


def test_values_of_a_map_are_rounded_to_12_bits():
    special = np.array([np.nan, np.inf, -np.inf, 0.0, 3.4e38], dtype=np.float32)
    np.testing.assert_allclose(style.for_colours(special), special, rtol=COLOURS)
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    rounded = style.for_colours(values)
    np.testing.assert_allclose(rounded, values, rtol=COLOURS)
    assert len(zlib.compress(rounded.tobytes())) < 0.8 * len(zlib.compress(values.tobytes()))


def test_every_bound_along_beta_has_a_name_and_a_line_of_its_own():
    assert list(bounds.BOUNDS) == [*LANDMARK_BOUNDS, *KERNEL_BOUNDS]
    assert len(set(bounds.BOUND_NAMES.values())) == len(bounds.BOUNDS)
    assert len({(look.colour, look.dash) for look in bounds.BOUNDS.values()}) == len(bounds.BOUNDS)


def test_bounds_for_many_landmarks_are_named_by_their_number():
    assert bounds.bound_label("landmark_kl", 1) == "Theorem 1"
    assert bounds.bound_label("landmark_kl", 20) == "Theorem 1, 20 landmarks"
    assert bounds.bound_label("second_order_kl", 20) == "Theorem 3"


def test_dots_above_the_diagonal_are_the_failures():
    case = coverage.simulate_promises(1000, 5.0, 0.05, coverage.draw_promises(500, 0))
    rates = {form: np.array([0.1, 0.2]) for form in bounds.FORM_COLOURS}
    fig = bounds.kept_and_broken_promises(case, np.array([0.1, 0.2]), rates)
    dots = [trace for trace in fig.data if trace.mode == "markers"]
    above = [int((trace.y - trace.x > 1e-12).sum()) for trace in dots]
    assert above == [case.printed.failures, case.corrected.failures] and above[0] > 10 and above[1] == 0
