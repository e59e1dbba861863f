"""Work in blocks: every job once, on as many threads as are allowed and worth it, with BLAS on one thread."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from rff_engine import (
    FrequencyBlocks,
    GaussianKernel,
    LandmarkSimilarity,
    OptimizedKernelFeatures,
    PseudoPosteriorFeatures,
    _blocks,
    alignment_loss,
    alignment_loss_batched,
    alignment_sums,
    landmark_alignment_loss,
    landmark_similarity,
)


@pytest.fixture
def three_cores(monkeypatch):
    monkeypatch.setattr(_blocks, "threads_here", lambda: 3)
    _blocks._blas.cache_clear()  # another test may have loaded a library since
    before = _blocks.blas_threads()
    _blocks.set_blas_threads([2] * len(before))  # as on a machine with two cores
    yield
    _blocks.set_blas_threads(before)


def blas_threads():
    """BLAS threads as other callers see them; a library of another package may have one thread only."""
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.mark.parametrize("size", [0, _blocks.WORK_WORTH_THREADS])
def test_every_job_is_done_once_with_blas_on_one_thread(three_cores, size):
    done, threads, inside = [], set(), []
    meet = threading.Barrier(3 if size else 1)

    def work(i, j):
        meet.wait(timeout=10)  # passes only with three jobs at a time
        done.append((i, j))
        threads.add(threading.get_ident())
        inside.append(blas_threads())

    assert blas_threads() == 2
    _blocks.on_threads(work, ((i, -i) for i in range(6)), size)
    assert sorted(done) == [(i, -i) for i in range(6)]
    assert len(threads) == (3 if size else 1) and (threading.get_ident() in threads) == (size == 0)
    assert inside == [1] * 6 and blas_threads() == 2


@pytest.mark.parametrize("size", [0, _blocks.WORK_WORTH_THREADS])
def test_error_in_a_job_is_raised_and_lifts_the_blas_limit(three_cores, size):
    def work(i):
        if i == 1:
            raise ValueError("job 1")

    with pytest.raises(ValueError, match="job 1"):
        _blocks.on_threads(work, [(0,), (1,), (2,)], size)
    assert blas_threads() == 2


def test_overlapping_callers_restore_the_blas_threads(three_cores):
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


@pytest.mark.more(after=2)
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

    def results(n_jobs):
        landmarks = X[:L], y[:L]
        for omega in (shared, drawn):
            yield alignment_loss(X, y, omega, n_jobs)
            yield alignment_sums(X, y, omega, n_jobs=n_jobs).sines
            yield alignment_loss_batched([(X, y)], omega, n_jobs=n_jobs)
        for omega in (shared, own):
            yield landmark_alignment_loss(X, y, *landmarks, omega, np.arange(L), n_jobs)
        for omega in (shared, own):
            weights = np.random.default_rng(1).dirichlet(np.ones(omega.shape[-2]), size=(2, L))
            yield landmark_similarity(X, X[:L], omega, weights, n_jobs=n_jobs)

    alone = list(results(1))
    monkeypatch.setattr(_blocks, "WORK_WORTH_THREADS", 0)
    for n_jobs in (2, 5, None):
        for found, expected in zip(results(n_jobs), alone, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        PseudoPosteriorFeatures(n_components=4, n_candidates=3000, random_state=0),
        OptimizedKernelFeatures(n_components=4, n_candidates=3000, random_state=0),
        LandmarkSimilarity(n_landmarks=6, n_components=200, selection="random", random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_pass_n_jobs_on_without_effect_on_results(monkeypatch, estimator):
    rng, made = np.random.default_rng(0), []
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 2
    alone = clone(estimator).set_params(n_jobs=1).fit(X, y).transform(X)
    pool = _blocks.ThreadPoolExecutor
    monkeypatch.setattr(_blocks, "WORK_WORTH_THREADS", 0)
    monkeypatch.setattr(_blocks, "ROWS_A_THREAD", 20)
    monkeypatch.setattr(_blocks, "ThreadPoolExecutor", lambda workers: made.append(workers) or pool(workers))
    for n_jobs, threads in ((1, set()), (2, {2})):
        made.clear()
        found = clone(estimator).set_params(n_jobs=n_jobs).fit(X, y).transform(X)
        np.testing.assert_array_equal(found, alone)
        assert set(made) == threads


# --- how many threads ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_jobs", "threads"), [(None, 4), (1, 1), (3, 3), (9, 9), (-1, 4), (-2, 3), (-9, 1)])
def test_n_jobs_counts_as_in_scikit_learn(monkeypatch, n_jobs, threads):
    monkeypatch.setattr(_blocks, "threads_here", lambda: 4)
    assert _blocks.threads_allowed(n_jobs) == threads
    with parallel_config(n_jobs=2):
        assert _blocks.threads_allowed(n_jobs) == (2 if n_jobs is None else threads)
    with parallel_config(n_jobs=-2):
        assert _blocks.threads_allowed(n_jobs) == (3 if n_jobs is None else threads)


def test_threads_are_limited_by_openmp_and_cores(monkeypatch):
    monkeypatch.setattr(_blocks, "cpu_count", lambda: 4)
    for limit, threads in ((1, 1), (3, 3), (7, 4)):
        with threadpool_limits(limit, user_api="openmp"), threadpool_limits(1, user_api="blas"):
            assert _blocks.threads_here() == threads
            with _blocks.threads_kept(), threadpool_limits(2 if limit == 1 else 1):
                assert _blocks.threads_here() == threads
                with _blocks.threads_kept():
                    assert _blocks.threads_here() == threads


def test_a_thread_of_a_joblib_pool_starts_no_threads(monkeypatch):
    monkeypatch.setattr(_blocks, "cpu_count", lambda: 4)
    with threadpool_limits(4, user_api="openmp"):
        assert Parallel(1)(delayed(_blocks.threads_here)() for _ in range(2)) == [4, 4]
        found = Parallel(2, backend="threading")(delayed(_blocks.threads_allowed)(n) for n in (None, -1, 3))
    assert found == [1, 1, 3]
