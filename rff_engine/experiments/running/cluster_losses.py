"""Alignment losses of data in blocks of rows, each block summed by a worker of a Dask cluster.

The sums are additive over rows (Letarte et al. 2019, Prop. 8), so blocks may be on any machine.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized

import numpy as np

from ..._validation import check_count
from ...alignment import AlignmentSums, alignment_loss_batched, alignment_sums, as_block

__all__ = ["alignment_loss_on_cluster"]

_BLOCKS_A_THREAD = 2  # one is summed while the next is sent


def alignment_loss_on_cluster(
    blocks: Iterable,
    omega,
    classes=None,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> np.ndarray:
    """Empirical alignment loss over all pairs of points that come in blocks of rows (Letarte et al. 2019, Prop. 8).

    The sums of blocks are added in the order of the blocks, so the result does not depend on the number of workers.
    Few blocks are in memory at a time.

    Parameters
    ----------
    blocks : iterable of pairs (X, y) or triples (X, y, sample_weight), or of callables that return one
        Arrays or CSR matrices of shape (n_b, d) with their labels (n_b,), some thousand rows each; a block may lack a
        class. A worker calls a callable: data that workers can read need not pass through this process, see
        `rff_engine.experiments.running.row_blocks.row_group_readers`.
    omega : array of shape (D, d), or FrequencyBlocks
        FrequencyBlocks are sent as their seed.
    classes : array of shape (K,), optional
        All labels; any other is refused. ``None`` collects them from the blocks.
    jobs, scheduler
        See `rff_engine.experiments.running.runner.run`.
    progress : callable, optional
        Called after each block with the number of blocks summed so far and in all, ``None`` if that is not known.

    Returns
    -------
    ndarray of shape (D,), float64

    Raises
    ------
    ValueError
        If there is no block, one is no pair or triple, a shape is wrong, a value is not finite, a label is not in
        `classes`, all rows are of one class, or no scheduler answers.
    ConnectionError
        If the scheduler is lost, or one worker after another dies while it sums the same block.
    """
    jobs = 1 if jobs is None else check_count(jobs, "jobs")
    if jobs == 1 and scheduler is None:
        return alignment_loss_batched(_counted(blocks, progress), omega, classes)
    if jobs > 1 and scheduler is not None:
        raise ValueError(f"jobs is {jobs} and scheduler {scheduler!r}; only one of them may be given.")
    from .cluster import connected, result_of, threads_of_workers

    sums, done, pending = None, 0, deque()

    def add() -> None:
        nonlocal sums, done
        part = result_of(client, pending.popleft())
        sums, done = part if sums is None else sums + part, done + 1
        if progress is not None:
            progress(done, _length(blocks))

    with connected(jobs, scheduler) as client:
        shared = client.submit(pickle.loads, pickle.dumps((omega, classes)), pure=False)
        most = _BLOCKS_A_THREAD * max(1, sum(threads_of_workers(client).values()))
        try:
            for block in blocks:
                if len(pending) == most:
                    add()
                pending.append(client.submit(_sums, block, shared, pure=False))
            while pending:
                add()
        finally:
            client.cancel(list(pending))
    if sums is None:
        raise ValueError("blocks holds no block of rows; at least one is needed.")
    return sums.loss()


def _length(blocks) -> int | None:
    return len(blocks) if isinstance(blocks, Sized) else None


def _counted(blocks, progress) -> Iterator:
    """The blocks, loaded; progress is called when the next one is asked for, or the end."""
    for done, block in enumerate(blocks, 1):
        yield _loaded(block)
        if progress is not None:
            progress(done, _length(blocks))


def _loaded(block):
    return block() if callable(block) else block


def _sums(block, shared) -> AlignmentSums:
    """Alignment sums of a block, computed on a worker."""
    from .worker import hold_threads

    hold_threads()
    omega, classes = shared
    X, y, weights = as_block(_loaded(block))
    return alignment_sums(X, y, omega, classes, sample_weight=weights)
