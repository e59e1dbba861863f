"""Blocks of rows and frequencies that fit a core's cache, and their distribution to threads.

NumPy releases the interpreter lock in products and sines, so threads use all cores while BLAS runs on one thread in
each. Blocks do not depend on the number of threads, so results are the same to the last bit. `threads_allowed` takes
that number from OpenMP and joblib, as scikit-learn does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import starmap
from multiprocessing import current_process
from threading import Lock, current_thread, main_thread

import scipy.sparse as sp
from joblib import cpu_count
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

# A block of phases fits into a core's cache. No other array of a block takes more than about 32 MiB.
ROWS = 512
FREQUENCIES = 512
BLOCK_ENTRIES = 2**22
# Rows of one job, if threads share the rows: enough to be worth preparing the frequencies.
ROWS_A_THREAD = 4096
# Below this much work (some milliseconds of one core) threads cost more than they save.
WORK_WORTH_THREADS = 2**28
# Costs of a cosine (less in float32, more in float64) and of a normal sample, in multiplications of a matrix product.
MULTIPLICATIONS_A_COSINE = 128
MULTIPLICATIONS_A_DRAW = 256


def pieces(start: int, stop: int, size: int) -> list[slice]:
    """Return slices of length `size` from `start` to `stop`; the last may be shorter."""
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]


def rows_of(X, at: slice):
    """Return rows of a dense or CSR array; they share its memory, which SciPy would copy."""
    if not sp.issparse(X):
        return X[at]
    ends = X.indptr[at.start : at.stop + 1]
    rows = type(X)((len(ends) - 1, X.shape[1]), dtype=X.dtype)
    rows.data, rows.indices, rows.indptr = X.data[ends[0] : ends[-1]], X.indices[ends[0] : ends[-1]], ends - ends[0]
    return rows


def rows_of_block(X) -> int:
    """Return the number of rows of `X` in a block."""
    return ROWS if sp.issparse(X) else max(1, min(ROWS, BLOCK_ENTRIES // X.shape[1]))


def phase_work(X, n_frequencies: int) -> float:
    """Return the cost of the phases of `X` with their sines and cosines, in multiplications."""
    entries = X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]
    return n_frequencies * (entries + 2 * MULTIPLICATIONS_A_COSINE * X.shape[0])


_KEPT: ContextVar[int | None] = ContextVar("threads kept", default=None)


def threads_allowed(n_jobs: int | None = None) -> int:
    """Return the number of threads for `n_jobs`: a positive number itself, -1 all that are allowed, -2 all but one.

    ``None`` stands for the `n_jobs` of joblib's `parallel_config` around the call, or for all that are allowed.
    """
    if n_jobs is None:
        n_jobs = get_active_backend()[1]
    if n_jobs is None:
        return threads_here()
    return n_jobs if n_jobs > 0 else max(1, threads_here() + 1 + n_jobs)


def threads_here() -> int:
    """Return the number of threads that this caller may use.

    It is OpenMP's number, which follows OMP_NUM_THREADS, joblib's limit in its workers, and `threadpool_limits`. It is
    at most the number of cores of this process. In a thread of a joblib pool and in a process of multiprocessing or
    Dask it is 1, because other workers use the other cores.
    """
    if (kept := _KEPT.get()) is not None:
        return kept
    in_pool = get_active_backend()[0].nesting_level and current_thread() is not main_thread()
    if in_pool or current_process().daemon:
        return 1
    return min([cpu_count(), *(library.num_threads for library in _openmp().lib_controllers)])


@contextmanager
def threads_kept():
    """Keep the number of allowed threads, even if libraries are limited inside."""
    token = _KEPT.set(threads_here())
    try:
        yield
    finally:
        _KEPT.reset(token)


def on_threads(work: Callable[..., None], jobs: Iterable[tuple], size: float, n_jobs: int | None = None) -> None:
    """Call `work(*job)` for every job, on `threads_allowed(n_jobs)` threads if the total cost `size` is worth it.

    Jobs run in any order and must write to different places.
    """
    jobs = list(jobs)
    workers = min(threads_allowed(n_jobs), len(jobs)) if size >= WORK_WORTH_THREADS else 1
    with blas_on_one_thread():
        if workers <= 1:
            for _ in starmap(work, jobs):
                pass
            return
        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(lambda job: work(*job), jobs):  # raises the first error; waiting jobs are dropped
                pass


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@lru_cache(maxsize=1)
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")  # scikit-learn has loaded it


@dataclass
class _Callers:
    """Threads inside `blas_on_one_thread`: the limit is global, so the first one sets it and the last one lifts it."""

    lock: Lock = field(default_factory=Lock)
    inside: int = 0
    threads_before: list[int] = field(default_factory=list)


_CALLERS = _Callers()


@contextmanager
def blas_on_one_thread():
    """Limit BLAS to one thread in the whole process while any thread is inside."""
    with _CALLERS.lock:
        if _CALLERS.inside == 0:
            _CALLERS.threads_before = blas_threads()
            set_blas_threads([1] * len(_CALLERS.threads_before))
        _CALLERS.inside += 1
    try:
        yield
    finally:
        with _CALLERS.lock:
            _CALLERS.inside -= 1
            if _CALLERS.inside == 0:
                set_blas_threads(_CALLERS.threads_before)


def blas_threads() -> list[int]:
    """Return the number of threads of each BLAS library: NumPy and SciPy may each have their own."""
    return [library.num_threads for library in _blas().lib_controllers]


def set_blas_threads(numbers: list[int]) -> None:
    """Set the number of threads of each BLAS library, for the whole process."""
    if numbers != blas_threads():
        for library, number in zip(_blas().lib_controllers, numbers, strict=True):
            library.set_num_threads(number)
        # From threadpoolctl 3.7 on, other threads cannot set a number while this one is inside a `with`.
        with _blas().limit(limits=None):
            pass
