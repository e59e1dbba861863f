"""Figures: what is drawn are the numbers that were given, where they belong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datasets
from rff_engine.figures import landmarks, sweeps
from rff_engine.figures.style import CLASS_COLOURS


@pytest.fixture
def sample():
    return datasets.make_toy("moons", 30, 0.1, 0)


def markers(fig, colour):
    return [t for t in fig.data if t.type == "scatter" and t.marker.color == colour]


def test_a_mosaic_holds_every_map_and_the_points_of_both_classes(sample):
    rng = np.random.default_rng(0)
    maps = rng.uniform(-1, 1, (2, 3, 8, 8))
    fig = landmarks.similarity_mosaic(2.0, maps, sample.X[:3], sample.X, sample.y, row_names=("prior", "learned"))
    z = fig.data[0].z
    assert z.shape == (2 * 8 + 1, 3 * 8 + 2)
    for r in range(2):  # the first row is on top
        for l in range(3):
            np.testing.assert_allclose(z[(1 - r) * 9 : (1 - r) * 9 + 8, l * 9 : l * 9 + 8], maps[r, l], rtol=1e-6)
    for label, colour in CLASS_COLOURS.items():
        (trace,) = markers(fig, colour)
        assert len(trace.x) == 6 * (sample.y == label).sum()
    # The first tile is the unit square: points lie in it where they lie in [-2, 2]^2.
    (trace,) = markers(fig, CLASS_COLOURS[1])
    n = (sample.y == 1).sum()
    np.testing.assert_allclose(trace.x[:n], sample.X[sample.y == 1, 0] / 4 + 0.5, atol=1e-5)


def test_decision_maps_mark_points_and_stars_in_every_tile(sample):
    values = np.random.default_rng(1).normal(size=(2, 8, 8))
    fig = landmarks.decision_maps(2.0, values, sample.X[:2], sample.X, sample.y, titles=("a", "b"))
    assert sum(t.type == "contour" for t in fig.data) == 2
    assert sum(len(t.x) for t in fig.data if t.type == "scatter") == 2 * 30 + 2 * 2


@pytest.mark.parametrize("rows", [[4, 7], None])
def test_every_mark_that_answers_says_its_row(sample, rows):
    stars = sample.X[[4, 7]]
    fig = landmarks.points_and_landmarks(sample.X, sample.y, stars, rows, 2.0)
    answering = [t for t in fig.data if t.hoverinfo != "skip"]
    said = {int(row): (x, y) for t in answering for row, x, y in zip(t.customdata, t.x, t.y, strict=True)}
    for row, place in said.items():
        np.testing.assert_allclose(place, sample.X[row])
    if rows is None:  # centroids do not answer, all points do
        assert len(said) == 30
    else:
        # Under a star only the star answers.
        near = np.linalg.norm(sample.X[:, None] - stars[None], axis=2).min(axis=1) < 0.08 * 2.0
        assert set(said) == set(np.flatnonzero(~near)) | {4, 7}


def test_an_interval_is_drawn_from_four_runs_on():
    def means(runs):
        return pd.DataFrame(
            {"method": "rff", "D": [1, 10], "test_error": 0.2, "half_width": 0.1, "train_error": 0.1, "runs": runs}
        )

    assert len(sweeps.error_against_features(means(4), (1, 10)).data) == 3
    assert len(sweeps.error_against_features(means(3), (1, 10)).data) == 2


def test_the_svm_is_a_line_at_its_error():
    means = pd.DataFrame(
        {"method": ["svm"], "D": [pd.NA], "test_error": 0.049, "half_width": 0.0, "train_error": 0.0, "runs": 1}
    )
    fig = sweeps.error_against_features(means, (1, 10))
    assert fig.layout.shapes[0].y0 == pytest.approx(4.9)
