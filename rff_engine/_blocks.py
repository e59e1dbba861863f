"""Work cut into blocks of rows and frequencies that stay within a core's cache, and shared out to threads.

NumPy releases the interpreter lock in products and sines, so threads use all cores while BLAS keeps to one thread in
each. Blocks are cut alike however many threads there are: so are the results, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import starmap
from threading import Lock

import scipy.sparse as sp
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

# A block of phases stays within a core's cache; no other array of a block has more than some 32 MiB.
ROWS = 512
FREQUENCIES = 512
BLOCK_ENTRIES = 2**22
# Rows that a thread takes at a time where rows are shared out: many enough to prepare the frequencies for them.
ROWS_A_THREAD = 4096
# Below this much work, some milliseconds of one core, threads cost more than they save.
WORK_WORTH_THREADS = 2**28
# What a cosine costs beside a multiplication within a matrix product.
_MULTIPLICATIONS_A_COSINE = 64


def pieces(start: int, stop: int, size: int) -> list[slice]:
    """The range from `start` to `stop` in slices of `size`, the last as long as it comes."""
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]


def rows_of_block(X) -> int:
    """How many rows of `X` make a block."""
    return ROWS if sp.issparse(X) else max(1, min(ROWS, BLOCK_ENTRIES // X.shape[1]))


def phase_work(X, n_frequencies: int) -> float:
    """The work of the phases of `X` with their sines and cosines, in multiplications."""
    entries = X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]
    return n_frequencies * (entries + 2 * _MULTIPLICATIONS_A_COSINE * X.shape[0])


def on_threads(work: Callable[..., None], jobs: Iterable[tuple], size: float) -> None:
    """Call `work(*job)` for every job, on a thread for each core where their whole `size` is worth it.

    Jobs run in any order, so each writes to a place of its own.
    """
    jobs = list(jobs)
    workers = min(cpu_count(), len(jobs)) if size >= WORK_WORTH_THREADS else 1
    with _blas_on_one_thread():
        if workers <= 1:
            for _ in starmap(work, jobs):
                pass
            return
        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(lambda job: work(*job), jobs):  # an error is raised here, and what waits is dropped
                pass


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class _Limit:
    """The limit is the whole process's: the first caller sets it, the last to leave lifts it."""

    def __init__(self):
        self.lock, self.callers, self.set = Lock(), 0, None


_LIMIT = _Limit()


@contextmanager
def _blas_on_one_thread():
    with _LIMIT.lock:
        if _LIMIT.callers == 0:
            _LIMIT.set = _blas().limit(limits=1, user_api="blas")
        _LIMIT.callers += 1
    try:
        yield
    finally:
        with _LIMIT.lock:
            _LIMIT.callers -= 1
            if _LIMIT.callers == 0:
                _LIMIT.set.restore_original_limits()
