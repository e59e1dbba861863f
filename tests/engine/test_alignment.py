"""Alignment losses against the sums over pairs that define them."""

import threading
import time
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from rff_engine import (
    FrequencyBlocks,
    GaussianKernel,
    LaplacianKernel,
    _blocks,
    alignment,
    alignment_loss,
    alignment_loss_plane,
    features,
    landmark_alignment_loss,
)

from . import naive

N_POINTS = 23


def problem(n=N_POINTS, d=3, n_classes=2, D=17, seed=0, strings=False, sparse=False):
    """Points, labels and frequencies; every class has a point or more, and rows are not sorted by class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    y = rng.permutation(np.arange(n) % n_classes)
    if strings:
        y = np.array(["ad", "nonad", "b", "zebra", "C"])[y]
    return (sp.csr_array(X) if sparse else X), y, 2 * rng.normal(size=(D, d))


@pytest.fixture(params=["default", 1, 7, N_POINTS])
def blocks(request, monkeypatch):
    """The engine's block sizes; the small ones come with threads."""
    if request.param != "default":
        set_blocks(monkeypatch, request.param, request.param)


def set_blocks(monkeypatch, rows, frequencies, entries=2**22, cores=3):
    monkeypatch.setattr(_blocks, "ROWS", rows)
    monkeypatch.setattr(_blocks, "FREQUENCIES", frequencies)
    monkeypatch.setattr(_blocks, "BLOCK_ENTRIES", entries)
    monkeypatch.setattr(_blocks, "WORK_WORTH_THREADS", 0)
    monkeypatch.setattr(_blocks, "cpu_count", lambda: cores)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("d", [2, 5])
def test_loss_is_the_sum_over_pairs(blocks, d, n_classes, sparse):
    X, y, omega = problem(d=d, n_classes=n_classes, sparse=sparse, strings=n_classes == 5)
    loss = alignment_loss(X, y, omega)
    np.testing.assert_allclose(loss, naive.alignment_loss(X, y, omega), rtol=0, atol=1e-10)
    assert loss.dtype == np.float64
    assert (loss >= 0).all() and (loss <= 1).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_landmark_loss_is_the_sum_over_its_pairs(blocks, n_classes, inside, own, sparse):
    X, y, omega = problem(n_classes=n_classes, sparse=sparse, strings=inside)
    rng = np.random.default_rng(1)
    if inside:
        indices = rng.choice(N_POINTS, 6, replace=False)
        landmarks, labels = X[indices], y[indices]
    else:
        landmarks, labels, indices = rng.normal(size=(6, 3)), y[:6], None
    if own:
        omega = rng.normal(size=(6, 11, 3))
    loss = landmark_alignment_loss(X, y, landmarks, labels, omega, indices)
    expected = naive.landmark_alignment_loss(X, y, landmarks, labels, omega, indices)
    np.testing.assert_allclose(loss, expected, rtol=0, atol=1e-10)
    assert loss.dtype == np.float64
    assert (loss >= -1e-14).all() and (loss <= 1 + 1e-14).all()


def test_landmark_of_a_class_without_points():
    X, y, omega = problem()
    loss = landmark_alignment_loss(X, y, X[:1] + 0.5, [7], omega)
    np.testing.assert_allclose(loss, naive.landmark_alignment_loss(X, y, X[:1] + 0.5, [7], omega), atol=1e-10)


def test_mean_of_the_landmark_losses_of_all_points_is_the_loss():
    X, y, omega = problem(n_classes=5)
    every = landmark_alignment_loss(X, y, X, y, omega, np.arange(N_POINTS))
    np.testing.assert_allclose(every.mean(axis=0), alignment_loss(X, y, omega), rtol=0, atol=1e-12)


@pytest.mark.parametrize("entries", [1, 10, 100])
@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_bounded_by_entries(monkeypatch, entries, sparse):
    X, y, omega = problem(n_classes=5, sparse=sparse)
    set_blocks(monkeypatch, 512, 512, entries=entries)
    np.testing.assert_allclose(alignment_loss(X, y, omega), naive.alignment_loss(X, y, omega), rtol=0, atol=1e-10)


def test_small_blocks_run_on_threads(monkeypatch):
    X, y, omega = problem()
    set_blocks(monkeypatch, 7, 3)
    threads, sums = set(), alignment._class_sums
    monkeypatch.setattr(
        alignment, "_class_sums", lambda *given: threads.add(threading.current_thread().name) or sums(*given)
    )
    alignment_loss(X, y, omega)
    assert threads and threading.main_thread().name not in threads
    threads.clear()
    monkeypatch.setattr(_blocks, "cpu_count", lambda: 1)
    alignment_loss(X, y, omega)
    assert threads == {threading.current_thread().name}


@pytest.mark.parametrize("n_classes", [2, 5])
def test_row_order_shifts_and_names_of_classes_change_nothing(n_classes):
    X, y, omega = problem(n_classes=n_classes)
    loss = alignment_loss(X, y, omega)
    order, shift = np.random.default_rng(2).permutation(N_POINTS), np.array([3.0, -50.0, 0.1])
    np.testing.assert_allclose(alignment_loss(X[order], y[order], omega), loss, rtol=0, atol=1e-12)
    np.testing.assert_allclose(alignment_loss(X + shift, y, omega), loss, rtol=0, atol=1e-11)
    np.testing.assert_allclose(alignment_loss(X, 10.5 - 2 * y, omega), loss, rtol=0, atol=1e-12)
    np.testing.assert_allclose(alignment_loss(X, y, -omega), loss, rtol=0, atol=1e-12)


def test_landmark_losses_do_not_change_under_a_common_shift():
    X, y, omega = problem()
    shift = np.array([3.0, -50.0, 0.1])
    moved = landmark_alignment_loss(X + shift, y, (X + shift)[:4], y[:4], omega, np.arange(4))
    np.testing.assert_allclose(
        moved, landmark_alignment_loss(X, y, X[:4], y[:4], omega, np.arange(4)), rtol=0, atol=1e-11
    )


def test_zero_frequency_counts_the_pairs_of_different_classes():
    X, y, _ = problem(n_classes=5)
    different = np.mean([y[i] != y[j] for i in range(N_POINTS) for j in range(N_POINTS) if i != j])
    np.testing.assert_allclose(alignment_loss(X, y, np.zeros((1, 3))), different, rtol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_float32_is_close_where_phases_are_small(sparse, own):
    X, y, omega = problem(n=40, sparse=sparse)
    X = X.astype(np.float32)
    np.testing.assert_allclose(alignment_loss(X, y, omega), naive.alignment_loss(X, y, omega), rtol=0, atol=1e-5)
    if own:
        omega = np.stack([omega, 2 * omega, -omega])
    loss = landmark_alignment_loss(X, y, X[:3], y[:3], omega, np.arange(3))
    expected = naive.landmark_alignment_loss(X, y, X[:3], y[:3], omega, np.arange(3))
    np.testing.assert_allclose(loss, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_float32_points_of_order_1e5_get_float64_phases(monkeypatch, sparse):
    X, y, omega = problem(n=40)
    X = (X + 1e5).astype(np.float32)
    X = sp.csr_array(X) if sparse else X
    expected = naive.alignment_loss(X, y, omega)
    own = np.stack([omega, 2 * omega, -omega])
    expected_of_landmarks = naive.landmark_alignment_loss(X, y, X[:3], y[:3], own, np.arange(3))
    np.testing.assert_allclose(alignment_loss(X, y, omega), expected, rtol=0, atol=1e-9)
    loss = landmark_alignment_loss(X, y, X[:3], y[:3], own, np.arange(3))
    np.testing.assert_allclose(loss, expected_of_landmarks, rtol=0, atol=1e-9)
    monkeypatch.setattr(features, "_LARGEST_FLOAT32_PHASE", np.inf)  # and without the guard they are wrong
    assert np.abs(alignment_loss(X, y, omega) - expected).max() > 1e-4


@pytest.mark.parametrize("kernel", [GaussianKernel(0.7), LaplacianKernel(0.4)])
@pytest.mark.parametrize("N", [1, 1024, 2500])
def test_frequency_blocks_are_the_array_they_stand_for(kernel, N):
    X, y, _ = problem(d=4)
    omega = FrequencyBlocks(kernel, N, 4, seed=5)
    stacked = np.concatenate(list(omega))
    np.testing.assert_array_equal(alignment_loss(X, y, omega), alignment_loss(X, y, stacked))
    shared = landmark_alignment_loss(X, y, X[:3], y[:3], omega, np.arange(3))
    np.testing.assert_allclose(
        shared, landmark_alignment_loss(X, y, X[:3], y[:3], stacked, np.arange(3)), rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("n_classes", [2, 5])
def test_plane_is_the_loss_on_the_grid(n_classes):
    X, y, _ = problem(d=2, n_classes=n_classes)
    u, v = np.linspace(-3, 3, 8), np.linspace(-1, 2, 5)
    plane = alignment_loss_plane(X, y, u, v)
    assert plane.shape == (5, 8)
    grid = np.array([[a, b] for b in v for a in u])
    np.testing.assert_allclose(plane.ravel(), naive.alignment_loss(X, y, grid), rtol=0, atol=1e-10)
    np.testing.assert_allclose(plane.ravel(), alignment_loss(X, y, grid), rtol=0, atol=1e-12)


def test_blocks_of_frequencies_are_drawn_only_as_they_are_needed(monkeypatch):
    X, y, _ = problem(d=2)
    set_blocks(monkeypatch, 512, 1024, cores=2)
    drawn, ahead = [], []
    draw, sums = FrequencyBlocks.block, alignment._class_sums

    def slow_sums(*given):
        time.sleep(0.005)
        ahead.append(len(drawn))
        return sums(*given)

    monkeypatch.setattr(FrequencyBlocks, "block", lambda self, b: drawn.append(b) or draw(self, b))
    monkeypatch.setattr(alignment, "_class_sums", slow_sums)
    alignment_loss(X, y, FrequencyBlocks(GaussianKernel(), 20 * 1024, 2))
    assert drawn == list(range(20)) and len(ahead) == 20
    assert max(count - done for done, count in enumerate(sorted(ahead))) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
def test_memory_grows_neither_with_rows_nor_with_frequencies(monkeypatch, sparse):
    d = 20

    def peak(n, N, cores=1):
        rng = np.random.default_rng(0)
        X = sp.random_array((n, d), density=0.2, rng=rng, format="csr") if sparse else rng.normal(size=(n, d))
        y, omega = np.arange(n) % 2, FrequencyBlocks(GaussianKernel(), N, d)
        monkeypatch.setattr(_blocks, "cpu_count", lambda: cores)
        tracemalloc.start()
        alignment_loss(X, y, omega)
        of_loss = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        landmark_alignment_loss(X, y, X[:2], y[:2], omega, np.arange(2))
        of_landmarks = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return np.array([of_loss, of_landmarks])

    peak(10, 10)  # what is imported or cached once is not counted
    small, more_rows, more_frequencies = peak(1600, 1100), peak(5600, 1100), peak(1600, 4200)
    # A few integers a row for the order of the classes; the output, held twice while its parts are joined.
    noise = 2**19
    assert (more_rows < small + 64 * 4000 + noise).all()
    assert (more_frequencies < small + 2 * 8 * 3100 * np.array([1, 2]) + noise).all()
    # On two threads two blocks are worked on; all phases of one would be 54 MB.
    assert (peak(1600, 4200, cores=2) < 3 * small + 2 * 8 * 3100 * np.array([1, 2])).all()
    assert 3 * small.max() < 25e6
