"""Landmarks: how they are chosen, and similarities to them against brute force."""

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from rff_engine import (
    _blocks,
    landmark_similarity,
    landmarks,
    select_landmarks,
    similarity_maps,
)
from tests import naive


def sample(sizes, d=3, seed=0, names=None):
    """Points in random order; class k has sizes[k] of them."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(y), d)) + 4 * y[:, None]
    return X, (y if names is None else np.array(names)[y])


# --- choosing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["random", "kmeans"])
@pytest.mark.parametrize(
    ("sizes", "total", "quotas"),
    [
        ([20, 20], 8, [4, 4]),
        ([20, 20], 7, [4, 3]),
        ([20, 20], 1, [1, 0]),
        ([20, 2], 8, [6, 2]),
        ([2, 20], 9, [2, 7]),
        ([20, 20, 20, 20, 20], 12, [3, 3, 2, 2, 2]),
        ([1, 20, 3, 20, 20], 30, [1, 9, 3, 9, 8]),
        ([1, 2, 3], 6, [1, 2, 3]),
    ],
)
def test_every_class_gets_its_quota_of_landmarks(sizes, total, quotas, method):
    X, y = sample(sizes)
    points, labels, _ = select_landmarks(X, y, total, method, random_state=1)
    assert points.shape == (total, 3) and labels.shape == (total,)
    np.testing.assert_array_equal(labels, np.repeat(np.arange(len(sizes)), quotas))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("names", [None, ["nonad", "ad"]])
def test_random_landmarks_are_different_rows_with_their_labels(container, names):
    X, y = sample([15, 12], names=names)
    X = container(X)
    points, labels, indices = select_landmarks(X, y, 9, random_state=3)
    assert len(set(indices)) == 9
    np.testing.assert_array_equal(naive.dense(points), naive.dense(X)[indices])
    np.testing.assert_array_equal(labels, y[indices])
    assert type(points) is type(X) and labels.dtype == y.dtype


@pytest.mark.parametrize("sparse", [False, True])
def test_centroids_are_of_their_class(sparse):
    X, y = sample([30, 25], d=4)
    given = sp.csr_array(X) if sparse else X
    points, labels, indices = select_landmarks(given, y, 7, "kmeans", random_state=3)
    assert indices is None and isinstance(points, np.ndarray)
    for point, label in zip(points, labels, strict=True):
        inside = X[y == label]
        assert (point >= inside.min(axis=0)).all() and (point <= inside.max(axis=0)).all()
        nearest = np.argmin(np.linalg.norm(X - point, axis=1))
        assert y[nearest] == label


@pytest.mark.parametrize("method", ["random", "kmeans"])
def test_choices_are_reproducible_and_keep_float32(method):
    X, y = sample([30, 25])
    first, again, other = (select_landmarks(X, y, 6, method, random_state=seed)[0] for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert select_landmarks(X.astype(np.float32), y, 6, method)[0].dtype == np.float32
    assert select_landmarks(X, y, 6, method, np.random.RandomState(0))[0].shape == (6, 3)


def test_coinciding_points_make_coinciding_centroids_without_a_warning(recwarn):
    X, y = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0), np.repeat([0, 1], 10)
    points, labels, _ = select_landmarks(X, y, 6, "kmeans", random_state=0)
    np.testing.assert_array_equal(points, X[10 * labels])
    assert not recwarn.list


# --- similarities -------------------------------------------------------------------------------------------------


def representation(n=13, L=5, D=9, d=3, own=True, seed=0):
    rng = np.random.default_rng(seed)
    X, points = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7), rng.normal(size=(L, d))
    omega = 2 * rng.normal(size=(L, D, d) if own else (D, d))
    return X, points, omega, rng.dirichlet(np.full(D, 0.5), size=L)


def set_blocks(monkeypatch, entries, cores=3):
    """Small blocks, with threads."""
    monkeypatch.setattr(_blocks, "BLOCK_ENTRIES", entries)
    monkeypatch.setattr(_blocks, "ROWS_A_THREAD", 5)
    monkeypatch.setattr(_blocks, "WORK_WORTH_THREADS", 0)
    monkeypatch.setattr(_blocks, "threads_here", lambda: cores)
    monkeypatch.setattr(landmarks, "_LANDMARKS", 2)


@pytest.mark.parametrize("entries", [2**22, 200, 60, 1])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.slow
def test_similarity_is_the_weighted_sum_of_cosines(monkeypatch, d, own, entries):
    set_blocks(monkeypatch, entries)
    X, points, omega, Q = representation(d=d, own=own)
    expected = naive.landmark_similarity(X, points, omega, Q)
    for given, chosen in itertools.product((X, sp.csr_array(X)), (points, sp.csr_array(points))):
        similarity = landmark_similarity(given, chosen, omega, Q)
        np.testing.assert_allclose(similarity, expected, rtol=0, atol=1e-10)
        assert isinstance(similarity, np.ndarray) and similarity.dtype == np.float64
        assert (np.abs(similarity) <= 1 + 1e-12).all()


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("zero", [[1], [0, 2], [0, 1, 2]])
def test_landmarks_may_have_columns_that_are_zero_in_all_points(own, zero):
    X, points, omega, Q = representation(own=own)
    X[:, zero] = 0.0
    similarity = landmark_similarity(X, points, omega, Q)
    np.testing.assert_allclose(similarity, naive.landmark_similarity(X, points, omega, Q), rtol=0, atol=1e-10)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("shift", "tolerance"), [(0.0, 1e-5), (1e5, 1e-6)])
def test_float32_is_precise_for_large_points(own, shift, tolerance):
    X, points, omega, Q = representation(own=own)
    X, points, omega = ((A + s).astype(np.float32) for A, s in ((X, shift), (points, shift), (omega, 0)))
    found = landmark_similarity(X, points, omega, Q.astype(np.float32))
    assert found.dtype == np.float32
    expected = naive.landmark_similarity(X, points, omega.astype(np.float64), Q)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("entries", [2**22, 60])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_settings_together_equal_settings_one_by_one(monkeypatch, dtype, entries, own):
    set_blocks(monkeypatch, entries)
    X, points, omega, Q = representation(own=own)
    X = X.astype(dtype)
    Q = np.stack([Q, Q**2, Q * (np.arange(9) < 4)])  # the last has fewer frequencies, followed by zeros
    found = landmark_similarity(X, points, omega, Q)
    assert found.shape == (3, 13, 5) and found.dtype == dtype
    for similarity, weights in zip(found, Q, strict=True):
        expected = naive.landmark_similarity(X, points, omega, weights)
        np.testing.assert_allclose(similarity, expected, rtol=0, atol=1e-10 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("settings", [False, True])
def test_out_receives_the_similarities(monkeypatch, settings, own):
    set_blocks(monkeypatch, 60)
    X, points, omega, Q = representation(own=own)
    Q = np.stack([Q, Q[::-1]]) if settings else Q
    room = np.full((*Q.shape[:-2], 20, 8), 7.0)
    out = room[..., 3:16, 1:6]
    assert landmark_similarity(X, points, omega, Q, out=out) is out
    np.testing.assert_array_equal(out, landmark_similarity(X, points, omega, Q))
    assert (room == 7.0).sum() == room.size - out.size


@pytest.mark.parametrize(
    "out", [np.empty((13, 4)), np.empty((1, 13, 5)), np.empty((13, 5), dtype=np.float32), [[0.0] * 5] * 13]
)
def test_bad_out_is_refused(out):
    X, points, omega, Q = representation()
    with pytest.raises(ValueError, match=r"out has shape .* of shape \(13, 5\) and dtype float64 is needed"):
        landmark_similarity(X, points, omega, Q, out=out)


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_no_array_of_points_and_frequencies_is_made(own):
    n, L, D, d = 3000, 40, 100, 4
    rng = np.random.default_rng(0)
    X, points, Q = rng.normal(size=(n, d)), rng.normal(size=(L, d)), rng.random((L, D))
    omega = rng.normal(size=(L, D, d) if own else (D, d))
    landmark_similarity(X[:9], points, omega, Q)  # imports and caches are not counted
    tracemalloc.start()
    landmark_similarity(X, points, omega, Q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # n x L x D entries take 96 MB, the output takes 1 MB


@pytest.mark.parametrize("own", [False, True])
def test_maps_are_the_similarities_on_the_grid(own):
    _, points, omega, Q = representation(d=2, own=own)
    u, v = np.linspace(-2, 2, 6), np.linspace(-1, 3, 4)
    maps = similarity_maps(u, v, points, omega, Q)
    assert maps.shape == (5, 4, 6) and maps.dtype == np.float64
    grid = np.array([[a, b] for b in v for a in u])
    expected = landmark_similarity(grid, points, omega, Q).T.reshape(5, 4, 6)
    np.testing.assert_allclose(maps, expected, rtol=0, atol=1e-10)


def test_maps_of_large_float32_landmarks_are_in_float64():
    _, points, omega, Q = representation(d=2)
    points, omega = (points + 1e5).astype(np.float32), omega.astype(np.float32)
    u, v = 1e5 + np.linspace(-2, 2, 6), 1e5 + np.linspace(-1, 3, 4)
    maps = similarity_maps(u, v, points, omega, Q)
    grid = np.array([[a, b] for b in v for a in u])
    expected = naive.landmark_similarity(grid, points, omega, Q).T.reshape(5, 4, 6)
    np.testing.assert_allclose(maps, expected, rtol=0, atol=1e-8)


def test_centroids_do_not_depend_on_the_type_of_sparse_indices():
    rng = np.random.default_rng(0)
    X = sp.random_array((40, 6), density=0.5, format="csr", rng=rng)
    y = np.arange(40) % 2
    expected, _, _ = select_landmarks(X, y, 6, "kmeans", random_state=0)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    landmarks, _, _ = select_landmarks(X, y, 6, "kmeans", random_state=0)
    np.testing.assert_array_equal(landmarks, expected)


@pytest.mark.parametrize(("n", "fraction", "expected"), [(100, 0.07, 6), (340, 0.1, 34), (10, 0.01, 2), (5, 1.0, 4)])
def test_fraction_of_landmarks_is_split_evenly_over_two_classes(n, fraction, expected):
    assert landmarks.landmark_count(n, 2, fraction) == expected
