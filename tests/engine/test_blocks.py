"""Work in blocks: every job once, on as many threads as it is worth, with BLAS on one thread meanwhile."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from rff_engine import (
    FrequencyBlocks,
    GaussianKernel,
    _blocks,
    alignment_loss,
    landmark_alignment_loss,
    landmark_similarity,
)


@pytest.fixture
def three_cores(monkeypatch):
    monkeypatch.setattr(_blocks, "cpu_count", lambda: 3)
    _blocks._blas.cache_clear()  # another test may have loaded a library since
    before = _blocks.blas_threads()
    _blocks.set_blas_threads([2] * len(before))  # as if there were cores for it, wherever the test runs
    yield
    _blocks.set_blas_threads(before)


def blas_threads():
    """As others see it; a library that some other package brings may know one thread only."""
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.mark.parametrize("size", [0, _blocks.WORK_WORTH_THREADS])
def test_every_job_is_done_once_with_blas_on_one_thread(three_cores, size):
    done, threads, inside = [], set(), []
    meet = threading.Barrier(3 if size else 1)

    def work(i, j):
        meet.wait(timeout=10)  # three at a time, or the test would stand still
        done.append((i, j))
        threads.add(threading.get_ident())
        inside.append(blas_threads())

    assert blas_threads() == 2
    _blocks.on_threads(work, ((i, -i) for i in range(6)), size)
    assert sorted(done) == [(i, -i) for i in range(6)]
    assert len(threads) == (3 if size else 1) and (threading.get_ident() in threads) == (size == 0)
    assert inside == [1] * 6 and blas_threads() == 2


@pytest.mark.parametrize("size", [0, _blocks.WORK_WORTH_THREADS])
def test_an_error_in_a_job_is_raised_and_blas_set_free(three_cores, size):
    def work(i):
        if i == 1:
            raise ValueError("job 1")

    with pytest.raises(ValueError, match="job 1"):
        _blocks.on_threads(work, [(0,), (1,), (2,)], size)
    assert blas_threads() == 2


def test_callers_that_overlap_leave_blas_as_it_was(three_cores):
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def first():
        first_is_in.set()
        second_is_in.wait(10)

    def second():
        second_is_in.set()
        first_is_out.wait(10)
        seen.append(blas_threads())

    def run_first():
        _blocks.on_threads(first, [()], 0)
        first_is_out.set()

    caller = threading.Thread(target=run_first)
    caller.start()
    first_is_in.wait(10)
    _blocks.on_threads(second, [()], 0)
    caller.join()
    assert seen == [1]  # still limited for the one that is inside
    assert blas_threads() == 2


def test_pieces_make_up_the_range():
    assert _blocks.pieces(3, 10, 3) == [slice(3, 6), slice(6, 9), slice(9, 10)]
    assert _blocks.pieces(0, 0, 3) == []


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_are_the_same_to_the_last_bit_on_any_number_of_threads(monkeypatch, dtype, sparse):
    n, d, L, D = 700, 30, 9, 150
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)).astype(dtype), np.arange(n) % 3
    X = sp.csr_array(X * (X > 1)) if sparse else X
    shared, own = rng.normal(size=(1200, d)), rng.normal(size=(L, D, d))
    drawn = FrequencyBlocks(GaussianKernel(), 2500, d)
    monkeypatch.setattr(_blocks, "ROWS_A_THREAD", 256)

    def results():
        landmarks = X[:L], y[:L]
        yield from (alignment_loss(X, y, omega) for omega in (shared, drawn))
        yield from (landmark_alignment_loss(X, y, *landmarks, omega, np.arange(L)) for omega in (shared, own))
        for omega in (shared, own):
            weights = np.random.default_rng(1).dirichlet(np.ones(omega.shape[-2]), size=(2, L))
            yield landmark_similarity(X, X[:L], omega, weights)

    monkeypatch.setattr(_blocks, "cpu_count", lambda: 1)
    alone = list(results())
    monkeypatch.setattr(_blocks, "WORK_WORTH_THREADS", 0)
    for cores in (2, 5):
        monkeypatch.setattr(_blocks, "cpu_count", lambda cores=cores: cores)
        for found, expected in zip(results(), alone, strict=True):
            np.testing.assert_array_equal(found, expected)
