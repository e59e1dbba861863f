"""Given points: they are the data set as they are, and copies of them move by the noise alone."""

from __future__ import annotations

import numpy as np
import pytest

from datasets import given_points, noisy_copies

POINTS = ((0.5, -1.0, 1), (2.0, 0.25, -1), (-0.5, 1.5, -1), (0.0, 0.0, 1), (1.0, 1.0, 1))


def test_given_points_are_the_data_in_their_order():
    sample = given_points(POINTS)
    assert sample.X.tolist() == [[x, y] for x, y, _ in POINTS] and sample.y.tolist() == [1, -1, -1, 1, 1]
    assert sample.X.dtype == np.float64 and sample.y.dtype == np.int64 and sample.X.flags.c_contiguous
    assert sample.task == "classification" and set(sample.label_names) == {-1, 1}


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "their shape is (0,)"),
        ([(0, 1), (1, 1)], "their shape is (2, 2)"),
        ([*POINTS, (np.inf, 0, 1)], "not finite"),
        ([*POINTS, (0, 0, 2)], "the class 2, but a class must be -1 or 1"),
        ([*POINTS, (0, 0, 0.5)], "the class 0.5"),
        (POINTS[:2] + POINTS[3:], "1 points of class -1 and 3 of class +1, but each class needs at least 2"),
    ],
)
def test_points_that_are_no_data_set_are_refused(points, said):
    with pytest.raises(ValueError) as refused:
        given_points(points)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_copies_take_the_points_in_turn_and_keep_their_classes():
    sample = given_points(POINTS)
    copies = noisy_copies(sample, 12, 0.0)
    rows = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    np.testing.assert_array_equal(copies.X, sample.X[rows])
    np.testing.assert_array_equal(copies.y, sample.y[rows])


def test_copies_move_by_the_noise():
    sample = given_points(POINTS)
    moved = noisy_copies(sample, 5000, 0.3, 1).X - noisy_copies(sample, 5000, 0.0, 1).X
    # The standard deviation and the mean of 10000 draws are within six standard errors.
    assert moved.std() == pytest.approx(0.3, rel=6 / np.sqrt(2 * moved.size))
    assert abs(moved.mean()) < 6 * 0.3 / np.sqrt(moved.size)
    again, other = (noisy_copies(sample, 9, 0.3, seed).X for seed in (1, 2))
    np.testing.assert_array_equal(again, noisy_copies(sample, 9, 0.3, 1).X)
    assert not np.array_equal(again, other)


@pytest.mark.parametrize(
    ("n", "noise", "said"), [(0, 0.1, "n_samples is 0"), (True, 0.1, "n_samples"), (5, -0.1, "noise is -0.1")]
)
def test_copies_refuse_values_that_are_not_allowed(n, noise, said):
    with pytest.raises(ValueError, match=said):
        noisy_copies(given_points(POINTS), n, noise)
