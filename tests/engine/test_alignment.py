"""Alignment losses against the sums over pairs that define them."""

import operator
import pickle
import threading
import tracemalloc
import weakref
from functools import reduce
from itertools import pairwise

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
    alignment_loss_batched,
    alignment_loss_plane,
    alignment_loss_variance,
    alignment_sums,
    features,
    landmark_alignment_loss,
)
from tests import naive

N_POINTS = 23


def problem(n=N_POINTS, d=3, n_classes=2, D=17, seed=0, strings=False, sparse=False):
    """Points, labels and frequencies; every class has a point or more, and rows are not sorted by class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    y = rng.permutation(np.arange(n) % n_classes)
    if strings:
        y = np.array(["ad", "nonad", "b", "zebra", "C"])[y]
    return (sp.csr_array(X) if sparse else X), y, 2 * rng.normal(size=(D, d))


@pytest.fixture(params=["default", (1, 1), (7, 7), (N_POINTS, N_POINTS), (512, 512, 10)])
def blocks(request, monkeypatch):
    """The engine's block sizes, and small ones with threads."""
    if request.param != "default":
        set_blocks(monkeypatch, *request.param)


def set_blocks(monkeypatch, rows, frequencies, entries=2**22, cores=3):
    monkeypatch.setattr(_blocks, "ROWS", rows)
    monkeypatch.setattr(_blocks, "FREQUENCIES", frequencies)
    monkeypatch.setattr(_blocks, "BLOCK_ENTRIES", entries)
    monkeypatch.setattr(_blocks, "WORK_WORTH_THREADS", 0)
    monkeypatch.setattr(_blocks, "threads_here", lambda: cores)


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n", [4, 9])
def test_variance_of_a_pairs_loss_is_that_of_its_definition(blocks, monkeypatch, n, n_classes, sparse):
    monkeypatch.setattr(alignment, "_VARIANCE_ENTRIES", 3 * n)
    X, y, omega = problem(n, n_classes=n_classes, D=7, sparse=sparse)
    expected = naive.alignment_loss_variance(X, y, omega)
    np.testing.assert_allclose(alignment_loss_variance(X, y, omega), expected, rtol=0, atol=1e-12)


@pytest.mark.slow("a mean over many samples")
def test_variance_of_a_pairs_loss_is_unbiased():
    """At frequency 0 a loss is whether the labels differ: a Bernoulli variable of probability 2 p (1 - p)."""
    rng = np.random.default_rng(0)
    samples = (rng.random((4000, 6)) < 0.3) + 0
    found = [alignment_loss_variance(np.ones((6, 1)), y, np.zeros((1, 1)))[0] for y in samples if 0 < y.sum() < 6]
    mean, p = np.sum(found) / 4000, 2 * 0.3 * 0.7  # samples of one class have the variance 0
    assert mean == pytest.approx(p * (1 - p), abs=5 * np.std(found) / np.sqrt(4000))


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("d", [2, 5])
def test_loss_equals_the_sum_over_pairs(blocks, d, n_classes, sparse):
    X, y, omega = problem(d=d, n_classes=n_classes, sparse=sparse, strings=n_classes == 5)
    loss = alignment_loss(X, y, omega)
    np.testing.assert_allclose(loss, naive.alignment_loss(X, y, omega), rtol=0, atol=1e-10)
    assert loss.dtype == np.float64
    assert (loss >= 0).all() and (loss <= 1).all()


@pytest.mark.more(after=20)
@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_landmark_loss_equals_the_sum_over_its_pairs(blocks, n_classes, inside, own, sparse):
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


def test_landmark_of_a_class_without_points_has_the_naive_loss():
    X, y, omega = problem()
    loss = landmark_alignment_loss(X, y, X[:1] + 0.5, [7], omega)
    np.testing.assert_allclose(loss, naive.landmark_alignment_loss(X, y, X[:1] + 0.5, [7], omega), atol=1e-10)


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
    monkeypatch.setattr(_blocks, "threads_here", lambda: 1)
    alignment_loss(X, y, omega)
    assert threads == {threading.current_thread().name}


@pytest.mark.parametrize("zero", [[0], [1, 3, 4], [0, 1, 2, 3, 4]])
def test_zero_columns_are_dropped_without_effect(monkeypatch, zero):
    X, y, omega = problem(d=5)
    X[:, zero] = 0.0
    monkeypatch.setattr(_blocks, "FREQUENCIES", 4)
    original, widths = alignment._class_sums, set()

    def recorded(X, order, codes, n_classes, omega, *others):
        widths.add((X.shape[1], omega.shape[1]))
        return original(X, order, codes, n_classes, omega, *others)

    monkeypatch.setattr(alignment, "_class_sums", recorded)
    np.testing.assert_allclose(alignment_loss(X, y, omega), naive.alignment_loss(X, y, omega), atol=1e-10)
    points, labels = np.random.default_rng(1).normal(size=(3, 5)), y[:3]  # nonzero where all rows are zero
    for frequencies in (omega, np.stack([omega, 2 * omega, -3 * omega])):
        loss = landmark_alignment_loss(X, y, points, labels, frequencies)
        np.testing.assert_allclose(
            loss, naive.landmark_alignment_loss(X, y, points, labels, frequencies), rtol=0, atol=1e-10
        )
    left = 5 - len(zero) or 5  # if none is left, all are kept
    assert widths == {(left, left)}


def test_zero_frequency_counts_the_pairs_of_different_classes():
    X, y, _ = problem(n_classes=5)
    different = np.mean([y[i] != y[j] for i in range(N_POINTS) for j in range(N_POINTS) if i != j])
    np.testing.assert_allclose(alignment_loss(X, y, np.zeros((1, 3))), different, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("shift", "tolerance"), [(0.0, 1e-5), (1e5, 1e-6)])
def test_float32_points_are_precise_and_large_ones_get_float64_phases(monkeypatch, form, shift, tolerance):
    X, y, omega = problem(n=40)
    X = form((X + shift).astype(np.float32))
    expected = naive.alignment_loss(X, y, omega)
    np.testing.assert_allclose(alignment_loss(X, y, omega), expected, rtol=0, atol=tolerance)
    for frequencies in (omega, np.stack([omega, 2 * omega, -omega])):
        given = X, y, X[:3], y[:3], frequencies, np.arange(3)
        of_landmarks = naive.landmark_alignment_loss(*given)
        np.testing.assert_allclose(landmark_alignment_loss(*given), of_landmarks, rtol=0, atol=tolerance)
    monkeypatch.setattr(features, "_LARGEST_FLOAT32_PHASE", np.inf)  # without the guard they are wrong
    assert shift == 0 or np.abs(alignment_loss(X, y, omega) - expected).max() > 1e-4


@pytest.mark.parametrize("kernel", [GaussianKernel(0.7), LaplacianKernel(0.4)])
@pytest.mark.parametrize("N", [1, 1024, 2500])
def test_frequency_blocks_give_the_loss_of_their_array(kernel, N):
    X, y, _ = problem(d=4)
    omega = FrequencyBlocks(kernel, N, 4, seed=5)
    stacked = np.concatenate(list(omega))
    np.testing.assert_array_equal(alignment_loss(X, y, omega), alignment_loss(X, y, stacked))
    shared = landmark_alignment_loss(X, y, X[:3], y[:3], omega, np.arange(3))
    np.testing.assert_allclose(
        shared, landmark_alignment_loss(X, y, X[:3], y[:3], stacked, np.arange(3)), rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("n_classes", [2, 5])
def test_plane_equals_the_loss_on_the_grid(n_classes):
    X, y, _ = problem(d=2, n_classes=n_classes)
    u, v = np.linspace(-3, 3, 8), np.linspace(-1, 2, 5)
    plane = alignment_loss_plane(X, y, u, v)
    assert plane.shape == (5, 8)
    grid = np.array([[a, b] for b in v for a in u])
    np.testing.assert_allclose(plane.ravel(), naive.alignment_loss(X, y, grid), rtol=0, atol=1e-10)
    np.testing.assert_allclose(plane.ravel(), alignment_loss(X, y, grid), rtol=0, atol=1e-12)


def test_each_frequency_block_is_drawn_once_on_its_thread(monkeypatch):
    X, y, _ = problem(d=2)
    set_blocks(monkeypatch, 512, 300, cores=2)
    drawn, alive, most, lock = [], [], [], threading.Lock()
    draw = FrequencyBlocks.block

    def counted(self, b):
        block = draw(self, b)
        with lock:
            drawn.append((b, threading.current_thread()))
            alive.append(weakref.ref(block))
            most.append(sum(ref() is not None for ref in alive))
        return block

    monkeypatch.setattr(FrequencyBlocks, "block", counted)
    alignment_loss(X, y, FrequencyBlocks(GaussianKernel(), 20 * 1024, 2))
    assert sorted(b for b, _ in drawn) == list(range(20))
    assert threading.main_thread() not in {thread for _, thread in drawn}
    assert max(most) <= 4  # each thread holds the current one and, until reassignment, the one before


# --- sums over parts of the rows ----------------------------------------------------------------------------------


def parts(X, y, sizes):
    """The rows in parts of these sizes; the last may be shorter."""
    edges = [0, *np.cumsum(sizes), len(y)]
    return [(X[a:b], y[a:b]) for a, b in pairwise(edges)]


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("sizes", [[], [1], [1, 1, 2, 6], [11]])
def test_sums_of_parts_add_up_to_the_sums_of_all_rows(sizes, known, n_classes, sparse):
    X, y, omega = problem(n_classes=n_classes, sparse=sparse, strings=n_classes == 5)
    classes = np.unique(y)[::-1] if known else None
    given = [alignment_sums(*part, omega, classes) for part in parts(X, y, sizes)]
    assert not known or all(list(sums.classes) == sorted(classes) for sums in given)
    sums = reduce(operator.add, pickle.loads(pickle.dumps(given)))
    k = list(np.unique(y)).index(y[3])
    np.testing.assert_allclose(sums.cosines[k], np.cos(naive.dense(X)[y == y[3]] @ omega.T).sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(sums.sines[k], np.sin(naive.dense(X)[y == y[3]] @ omega.T).sum(axis=0), atol=1e-12)
    np.testing.assert_array_equal(sums.counts, np.unique(y, return_counts=True)[1])
    np.testing.assert_allclose(sums.loss(), naive.alignment_loss(X, y, omega), rtol=0, atol=1e-12)
    if not sizes:
        np.testing.assert_array_equal(sums.loss(), alignment_loss(X, y, omega))


def test_sums_may_lack_a_known_class():
    X, y, omega = problem()
    sums = alignment_sums(X, y, omega, [0, 1, 7])
    np.testing.assert_array_equal(sums.counts, [12, 11, 0])
    np.testing.assert_allclose(sums.loss(), alignment_loss(X, y, omega), rtol=1e-14)


def test_sums_at_drawn_and_stored_frequencies_can_be_added():
    X, y, _ = problem()
    blocks = FrequencyBlocks(GaussianKernel(), 1500, 3, seed=1)
    stored = np.concatenate(list(blocks)).astype(np.float32)
    sums = alignment_sums(X[:9], y[:9], blocks) + alignment_sums(X[9:], y[9:], stored)
    np.testing.assert_allclose(sums.loss(), alignment_loss(X, y, blocks), rtol=0, atol=1e-6)


def test_sums_of_different_frequencies_or_labels_cannot_be_added():
    X, y, omega = problem()
    sums = alignment_sums(X, y, omega)
    for other in (omega[:-1], omega[::-1], 1.001 * omega):
        with pytest.raises(ValueError, match="omega differs between the sums"):
            sums + alignment_sums(X, y, other)
    with pytest.raises(ValueError, match="labels of different types, such as 1 and '1';"):
        sums + alignment_sums(X, y.astype(str), omega)
    with pytest.raises(TypeError):
        sums + 0.0


@pytest.mark.parametrize("rows", [1, 8])
def test_sums_of_one_class_have_no_loss(rows):
    X, y, omega = problem()
    X, y = X[y == 1][:rows], y[y == 1][:rows]
    for classes in (None, [0, 1]):
        with pytest.raises(ValueError, match="only the class 1 in all; at least 2"):
            alignment_sums(X, y, omega, classes).loss()


@pytest.mark.more(after=40)
@pytest.mark.slow
@pytest.mark.parametrize("form", ["dense", "sparse", "some sparse"])
@pytest.mark.parametrize("sizes", [[], [1] * 22, [1, 2, 9, 1], [20]])
@pytest.mark.parametrize("joined_bytes", [0, 200, 2**26])
@pytest.mark.parametrize("kept_bytes", [0, 2**28])
def test_batched_loss_equals_that_of_all_rows(monkeypatch, kept_bytes, joined_bytes, sizes, form):
    monkeypatch.setattr(alignment, "_JOINED_BYTES", joined_bytes)
    monkeypatch.setattr(alignment, "_KEPT_BYTES", kept_bytes)
    X, y, _ = problem(n_classes=3, strings=True)
    omega = FrequencyBlocks(GaussianKernel(0.5), 19, 3)
    given = parts(X, y, sizes)
    if form != "dense":
        given = [(rows if form != "sparse" and i % 2 else sp.csr_array(rows), y) for i, (rows, y) in enumerate(given)]
    loss = alignment_loss_batched(iter(given), omega)
    np.testing.assert_allclose(loss, naive.alignment_loss(X, y, np.concatenate(list(omega))), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(alignment_loss_batched(given, omega, np.unique(y)), loss)
    if joined_bytes == 2**26 and form == "dense":
        np.testing.assert_array_equal(loss, alignment_loss(X, y, omega))


@pytest.mark.parametrize("kept", [False, True])
def test_small_blocks_are_joined_and_frequencies_drawn_once_for_each_joined_one(monkeypatch, kept):
    X, y, _ = problem(n=40)
    monkeypatch.setattr(alignment, "_JOINED_BYTES", 10 * X[0].nbytes)
    if not kept:
        monkeypatch.setattr(alignment, "_KEPT_BYTES", 8 * 3 * 1500 - 1)
    drawn, rows = [], []
    draw, sums = FrequencyBlocks.block, alignment._alignment_sums
    monkeypatch.setattr(FrequencyBlocks, "block", lambda self, b: drawn.append(b) or draw(self, b))
    monkeypatch.setattr(alignment, "_alignment_sums", lambda X, *given: rows.append(len(X)) or sums(X, *given))
    omega = FrequencyBlocks(GaussianKernel(), 1500, 3)
    alignment_loss_batched(parts(X, y, [1, 1, 4, 4, 15, 1, 4, 6]), omega)  # and the remaining 4
    assert rows == [10, 15, 11, 4]
    assert drawn == ([0, 1] if kept else [0, 1] * 4)


@pytest.mark.parametrize("joined_bytes", [0, 7 * 24])
def test_block_is_released_before_the_next_is_read(monkeypatch, joined_bytes):
    monkeypatch.setattr(alignment, "_JOINED_BYTES", joined_bytes)
    X, y, omega = problem()
    made, alive = [], []

    def block(start):
        alive.append(sum(ref() is not None for ref in made))
        rows = X[start : start + 3].copy()
        made.append(weakref.ref(rows))
        return rows, y[start : start + 3]

    alignment_loss_batched(map(block, range(0, N_POINTS, 3)), omega)
    # A block that is large enough is released, and so are three that were joined.
    assert alive == ([0] * 8 if joined_bytes == 0 else [0, 1, 2, 0, 1, 2, 0, 1])


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "no block of rows"),
        ([np.zeros((3, 3))], "pair"),
        ([(np.zeros((2, 3)), [0, 1], None, None)], "pair"),
        ([(np.zeros((2, 4)), [0, 1])], "4 columns"),
        ([(np.zeros((2, 3)), [0, 1]), (np.zeros((0, 3)), [])], "at least one row"),
        ([(np.zeros((2, 3)), [0, 1]), (np.zeros((2, 3)), [0])], "1 labels for 2 rows"),
        ([(np.zeros((2, 3)), [0, 1]), (np.full((1, 3), np.nan), [0])], "NaN"),
        ([(np.zeros((2, 3)), [0, 1]), (np.zeros((1, 3)), ["a"])], "labels of different types, such as [01] and 'a';"),
        ([(np.zeros((2, 3)), [0, 0]), (np.zeros((1, 3)), [0])], "at least 2 classes"),
        ([(np.zeros((2, 3)), [0, 5])], "5"),
    ],
)
@pytest.mark.parametrize("joined_bytes", [0, 2**26])
def test_bad_blocks_are_refused(monkeypatch, joined_bytes, blocks, message):
    monkeypatch.setattr(alignment, "_JOINED_BYTES", joined_bytes)
    with pytest.raises(ValueError, match=message):
        alignment_loss_batched(blocks, np.ones((5, 3)), [0, 1] if message == "5" else None)


# --- precision and memory -----------------------------------------------------------------------------------------


def test_sparse_landmarks_stay_sparse():
    n, d, L = 600, 20000, 500
    X = sp.random_array((n, d), density=1e-3, rng=np.random.default_rng(0), format="csr")
    omega, y, rows = np.ones((4, d)), np.arange(n) % 2, np.arange(L)
    landmark_alignment_loss(X[:9], y[:9], X[:2], y[:2], omega)  # imports and caches are not counted
    tracemalloc.start()
    landmark_alignment_loss(X, y, X[:L], y[:L], omega, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * L * d / 4  # dense landmarks take 80 MB


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
def test_memory_does_not_grow_with_rows_or_frequencies(monkeypatch, sparse):
    d = 20

    def peak(n, N, cores=1):
        rng = np.random.default_rng(0)
        X = sp.random_array((n, d), density=0.2, rng=rng, format="csr") if sparse else rng.normal(size=(n, d))
        y, omega = np.arange(n) % 2, FrequencyBlocks(GaussianKernel(), N, d)
        monkeypatch.setattr(_blocks, "threads_here", lambda: cores)
        tracemalloc.start()
        alignment_loss(X, y, omega)
        of_loss = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        landmark_alignment_loss(X, y, X[:2], y[:2], omega, np.arange(2))
        of_landmarks = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return np.array([of_loss, of_landmarks])

    peak(10, 10)  # imports and caches are not counted
    small, more_rows, more_frequencies = peak(1600, 1100), peak(5600, 1100), peak(1600, 4200)
    # A few integers a row for the order of the classes; the output, held twice while its parts are joined.
    noise = 2**20
    assert (more_rows < small + 64 * 4000 + noise).all()
    assert (more_frequencies < small + 2 * 8 * 3100 * np.array([1, 2]) + noise).all()
    # On two threads two blocks are worked on; all phases of one would be 54 MB.
    assert (peak(1600, 4200, cores=2) < 3 * small + 2 * 8 * 3100 * np.array([1, 2])).all()
    assert 3 * small.max() < 28e6


@pytest.mark.parametrize("inside", [False, True])
def test_landmark_losses_stay_in_0_1_at_huge_phases(inside):
    rng = np.random.default_rng(0)
    X, omega = 1e99 * rng.uniform(-1, 1, size=(3, 3)), 1e50 * rng.normal(size=(2, 200, 3))
    y, indices = np.array([0, 1, 0]), np.array([0, 1])
    loss = landmark_alignment_loss(sp.csr_array(X), y, X[indices], y[indices], omega, indices if inside else None)
    assert loss.min() >= 0 and loss.max() <= 1


def test_sums_of_rows_are_taken_out_again():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    omega = np.random.default_rng(1).normal(size=(7, 2))
    weights = np.random.default_rng(2).uniform(size=30)
    for given in (None, weights):
        part, rest = ((X[rows], y[rows], omega) for rows in (slice(12), slice(12, None)))
        of_part, of_rest = (None, None) if given is None else (given[:12], given[12:])
        whole = alignment_sums(X, y, omega, sample_weight=given)
        left = whole - alignment_sums(*part, sample_weight=of_part)
        np.testing.assert_allclose(left.loss(), alignment_sums(*rest, sample_weight=of_rest).loss(), rtol=1e-10)
