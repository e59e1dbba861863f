"""Work cut into blocks of rows and frequencies that stay within a core's cache, and shared out to threads.

NumPy releases the interpreter lock in products and sines, so threads use all cores while BLAS keeps to one thread in
each. Blocks are cut alike however many threads there are: so are the results, to the last bit. How many there may be,
`threads_allowed` asks of OpenMP and joblib, as scikit-learn does.
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

# A block of phases stays within a core's cache; no other array of a block has more than some 32 MiB.
ROWS = 512
FREQUENCIES = 512
BLOCK_ENTRIES = 2**22
# Rows that a thread takes at a time where rows are shared out: many enough to prepare the frequencies for them.
ROWS_A_THREAD = 4096
# Below this much work, some milliseconds of one core, threads cost more than they save.
WORK_WORTH_THREADS = 2**28
# What a cosine (less in float32, more in float64) and a normal number cost beside a multiplication in a product.
MULTIPLICATIONS_A_COSINE = 128
MULTIPLICATIONS_A_DRAW = 256


def pieces(start: int, stop: int, size: int) -> list[slice]:
    """The range from `start` to `stop` in slices of `size`, the last as long as it comes."""
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]


def rows_of_block(X) -> int:
    """How many rows of `X` make a block."""
    return ROWS if sp.issparse(X) else max(1, min(ROWS, BLOCK_ENTRIES // X.shape[1]))


def phase_work(X, n_frequencies: int) -> float:
    """The work of the phases of `X` with their sines and cosines, in multiplications."""
    entries = X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]
    return n_frequencies * (entries + 2 * MULTIPLICATIONS_A_COSINE * X.shape[0])


_KEPT: ContextVar[int | None] = ContextVar("threads kept", default=None)


def threads_allowed(n_jobs: int | None = None) -> int:
    """How many threads `n_jobs` stands for: so many; of those allowed here all for -1, all but one for -2.

    ``None`` stands for the `n_jobs` of joblib's `parallel_config` around the call, or for all that are allowed here.
    """
    if n_jobs is None:
        n_jobs = get_active_backend()[1]
    if n_jobs is None:
        return threads_here()
    return n_jobs if n_jobs > 0 else max(1, threads_here() + 1 + n_jobs)


def threads_here() -> int:
    """How many threads may compute at a time for this caller.

    As many as OpenMP would take, which knows OMP_NUM_THREADS, a worker's share that joblib sets by it, and
    `threadpool_limits`; no more than there are cores for this process. One where the caller is one of many: in a
    thread of a joblib pool, or in a process of multiprocessing's or Dask's.
    """
    if (kept := _KEPT.get()) is not None:
        return kept
    in_pool = get_active_backend()[0].nesting_level and current_thread() is not main_thread()
    if in_pool or current_process().daemon:
        return 1
    return min([cpu_count(), *(library.num_threads for library in _openmp().lib_controllers)])


@contextmanager
def threads_kept():
    """While it lasts, as many threads are allowed as before it, whatever limit the libraries are given inside."""
    token = _KEPT.set(threads_here())
    try:
        yield
    finally:
        _KEPT.reset(token)


def on_threads(work: Callable[..., None], jobs: Iterable[tuple], size: float, n_jobs: int | None = None) -> None:
    """Call `work(*job)` for every job, on `threads_allowed(n_jobs)` threads where their whole `size` is worth it.

    Jobs run in any order, so each writes to a place of its own.
    """
    jobs = list(jobs)
    workers = min(threads_allowed(n_jobs), len(jobs)) if size >= WORK_WORTH_THREADS else 1
    with blas_on_one_thread():
        if workers <= 1:
            for _ in starmap(work, jobs):
                pass
            return
        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(lambda job: work(*job), jobs):  # an error is raised here, and what waits is dropped
                pass


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@lru_cache(maxsize=1)
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")  # scikit-learn has loaded it


@dataclass
class _Callers:
    """The limit is the whole process's: the first caller sets it, the last to leave lifts it."""

    lock: Lock = field(default_factory=Lock)
    inside: int = 0
    threads_before: list[int] = field(default_factory=list)


_CALLERS = _Callers()


@contextmanager
def blas_on_one_thread():
    """BLAS on one thread in the whole process, as long as any thread is inside."""
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
    """How many threads each BLAS library uses: NumPy and SciPy may each have their own."""
    return [library.num_threads for library in _blas().lib_controllers]


def set_blas_threads(numbers: list[int]) -> None:
    """Let each BLAS library use so many threads, until another number is set, by whatever thread."""
    if numbers != blas_threads():
        for library, number in zip(_blas().lib_controllers, numbers, strict=True):
            library.set_num_threads(number)
        # From threadpoolctl 3.7 on, no other thread could set a number until this one has left a `with`.
        with _blas().limit(limits=None):
            pass
