"""Toy data: every shape at every noise and seed has the documented properties."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from datasets import Dataset, make_toy, make_toy_inputs, toy_input_names, toy_names
from datasets.toy import draw_toy

NAMES = ("moons", "circles", "xor", "spirals", "blobs", "checkerboard")
NOISES = (0.0, 0.05, 0.1, 0.3, 1.0)
SEEDS = (0, 1, 42)


def test_names_are_complete():
    assert toy_names() == NAMES


@pytest.mark.more(after=300)
@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [4, 5, 6, 7, 31, 300])
def test_toy_data_have_the_documented_shape_balance_and_range(name, n, noise, seed):
    toy = make_toy(name, n, noise, seed)
    assert isinstance(toy, Dataset)
    assert toy.name == name and toy.task == "classification" and len(toy.feature_names) == 2
    assert toy.X.shape == (n, 2) and toy.X.dtype == np.float64 and toy.X.flags.c_contiguous
    assert np.isfinite(toy.X).all()
    assert (toy.n_samples, toy.n_features, toy.n_train_file) == (n, 2, None)
    assert toy.y.dtype == np.int64
    assert [(toy.y == label).sum() for label in (-1, 1)] == [n - n // 2, n // 2]
    # Six standard deviations beyond the clean shape: exceeded by about one in 10^8 coordinates.
    assert np.abs(toy.X).max() <= 1.7 + 6 * noise


@pytest.mark.parametrize("name", NAMES)
def test_toy_data_are_positions_plus_noise_times_normals(name):
    draw, clean = draw_toy(name, 2001, 3), make_toy(name, 2001, 0.0, 3)
    for noise in (0.0, 0.17, 0.5):
        toy = make_toy(name, 2001, noise, 3)
        np.testing.assert_array_equal(toy.X, draw.positions + noise * draw.normals)
        np.testing.assert_array_equal(toy.y, draw.y)
    np.testing.assert_array_equal(draw.positions, clean.X)
    assert (draw_toy(name, 2001, 4).positions != draw.positions).any()
    assert np.abs(draw.normals.mean(axis=0)).max() < 5 / 2001**0.5 and np.abs(draw.normals.std() - 1) < 0.1


@pytest.mark.parametrize("name", NAMES)
def test_toy_data_fill_their_range(name):
    X = make_toy(name, 1000, 0.1).X
    assert 1.0 < np.abs(X).max() < 2.2
    assert np.abs(X.mean(axis=0)).max() < 0.2
    assert X.std(axis=0).min() > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_classes_are_separate_without_noise_and_mix_with_it(name, seed):
    def neighbour_error(noise: float) -> float:
        toy = make_toy(name, 1200, noise, seed)
        nearest = KNeighborsClassifier(3).fit(toy.X[:900], toy.y[:900])
        return 1 - nearest.score(toy.X[900:], toy.y[900:])

    clean, much = neighbour_error(0.0), neighbour_error(1.0)
    assert clean < 0.1
    assert much > clean + 0.1


@pytest.mark.parametrize("name", NAMES)
def test_only_blobs_are_linearly_separable(name):
    toy = make_toy(name, 1000, 0.0)
    design = np.column_stack([toy.X, np.ones(1000)])
    weights = np.linalg.lstsq(design, toy.y, rcond=None)[0]
    error = np.mean(np.sign(design @ weights) != toy.y)
    assert error == 0 if name == "blobs" else error > 0.05


def test_labels_follow_from_positions_without_noise():
    xor = make_toy("xor", 500, 0.0)
    np.testing.assert_array_equal(np.sign(xor.X[:, 0] * xor.X[:, 1]), xor.y)
    board = make_toy("checkerboard", 500, 0.0)
    cell = np.floor((board.X + 1.5) / 0.75).astype(int)
    np.testing.assert_array_equal(np.where(cell.sum(axis=1) % 2 == 0, 1, -1), board.y)
    circles = make_toy("circles", 500, 0.0)
    np.testing.assert_allclose(np.hypot(*circles.X.T), np.where(circles.y == 1, 0.7, 1.4))
    spirals = make_toy("spirals", 500, 0.0)
    radius = np.hypot(*spirals.X.T)
    angle = 3 * np.pi * radius / 1.6
    arm = spirals.y * radius * np.array([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(spirals.X.T, arm, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_any_prefix_is_a_fair_sample(name):
    """Labels of a prefix are distributed as under sampling without replacement."""
    labels = np.array([make_toy(name, 200, 0.1, seed).y[:50] for seed in range(100)])
    # 100 prefixes of 50 out of 200: the standard error of their mean label is 0.012.
    assert abs(labels.mean()) < 0.06
    assert (np.abs(labels.sum(axis=1)) < 50).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "moon"}, r"'moon'.*moons, circles, xor, spirals, blobs, checkerboard"),
        ({"n_samples": 3}, r"n_samples is 3.*at least 4"),
        ({"n_samples": -5}, r"n_samples is -5.*at least 4"),
        ({"n_samples": 10.0}, r"n_samples is 10\.0.*integer"),
        ({"n_samples": True}, r"n_samples is True.*integer"),
        ({"n_samples": None}, r"n_samples is None.*integer"),
        ({"noise": -0.1}, r"noise is -0\.1.*from 0"),
        ({"noise": float("nan")}, r"noise is nan.*from 0"),
        ({"noise": float("inf")}, r"noise is inf.*to 10"),
        ({"noise": 11}, r"noise is 11.*to 10"),
        ({"noise": "much"}, r"noise is 'much'.*number"),
        ({"random_state": -1}, r"2\*\*32"),
        ({"random_state": "today"}, r"'today'"),
    ],
)
def test_invalid_arguments_are_reported_on_one_line(arguments, says):
    with pytest.raises(ValueError, match=says) as caught:
        make_toy(**{"name": "moons", **arguments})
    assert "\n" not in str(caught.value)


# --- inputs without labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", toy_input_names())
def test_inputs_are_reproducible_centred_and_shuffled(name):
    X = make_toy_inputs(name, 400, 0.05, 3)
    assert X.shape == (400, 2) and np.abs(X.mean(axis=0)).max() < 0.2 and 1 < np.abs(X).max() < 2.5
    np.testing.assert_array_equal(X, make_toy_inputs(name, 400, 0.05, 3))
    assert (make_toy_inputs(name, 400, 0.05, 4) != X).any()
    assert np.abs(X[:100].mean(axis=0) - X.mean(axis=0)).max() < 0.4  # a prefix is a fair sample


def test_inputs_without_noise_have_their_shape():
    line, cross, ring, lattice, clusters = (
        make_toy_inputs(name, 200, 0.0, 0) for name in ("line", "cross", "ring", "lattice", "clusters")
    )
    np.testing.assert_allclose(line[:, 1], line[:, 0] / 2)
    assert (np.abs(cross).min(axis=1) == 0).all()
    np.testing.assert_allclose(np.linalg.norm(ring, axis=1), 1.4)
    assert len(np.unique(lattice.round(9), axis=0)) == 16 and len(np.unique(clusters, axis=0)) == 2
    np.testing.assert_array_equal(make_toy_inputs("xor", 60, 0.2, 5), make_toy("xor", 60, 0.2, 5).X)


@pytest.mark.parametrize(
    ("arguments", "said"), [(("heart", 50, 0.1), "'heart'"), (("line", 3, 0.1), "is 3"), (("line", 50, -1.0), "is -1")]
)
def test_invalid_inputs_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        make_toy_inputs(*arguments, 0)
