"""Alignment losses of data that come in blocks of rows, each block summed by a worker of a Dask cluster.

The sums add up over rows (Letarte et al. 2019, Prop. 8), so blocks may lie anywhere; what learning makes of the losses
is the business of `posteriors`.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable

import numpy as np

from .._validation import check_count
from ..alignment import AlignmentSums, alignment_loss_of_blocks, alignment_sums, as_block

__all__ = ["alignment_loss_on_cluster"]

_BLOCKS_A_THREAD = 2  # under way: one is summed, the next is on its way


def alignment_loss_on_cluster(
    blocks: Iterable, omega, classes=None, *, jobs: int | None = None, scheduler: str | None = None
) -> np.ndarray:
    """Empirical alignment loss over all pairs of points that come in blocks of rows (Letarte et al. 2019, Prop. 8).

    Blocks are added up in their order, whoever summed them: the answer does not depend on the number of workers.
    Few are under way at a time, so they may be more than fit in memory.

    Parameters
    ----------
    blocks : iterable of pairs (X, y), or of callables that return one
        Arrays or CSR matrices of shape (n_b, d) with their labels (n_b,), some thousand rows each; a block may lack a
        class. A callable is called by the worker: data that workers can reach need not pass through this process.
    omega : array of shape (D, d), or FrequencyBlocks
        FrequencyBlocks are sent as their seed.
    classes : array of shape (K,), optional
        All the labels there are, so that any other is refused. ``None`` finds them on the way.
    jobs, scheduler
        See `rff_engine.experiments.runner.run`.

    Returns
    -------
    ndarray of shape (D,), float64

    Raises
    ------
    ValueError
        If there is no block, one is no pair, a shape is wrong, a value is not finite, a label is not in `classes`, all
        rows are of one class, or no scheduler answers.
    ConnectionError
        If the scheduler is lost, or a block with one worker after another.
    """
    jobs = 1 if jobs is None else check_count(jobs, "jobs")
    if jobs == 1 and scheduler is None:
        return alignment_loss_of_blocks((_loaded(block) for block in blocks), omega, classes)
    if jobs > 1 and scheduler is not None:
        raise ValueError(f"jobs is {jobs} and scheduler {scheduler!r}; only one of them may be given.")
    from ._cluster import connected, result_of

    sums, under_way = None, deque()

    def add() -> None:
        nonlocal sums
        part = result_of(under_way.popleft())
        sums = part if sums is None else sums + part

    with connected(jobs, scheduler) as client:
        shared = client.submit(pickle.loads, pickle.dumps((omega, classes)), pure=False)
        most = _BLOCKS_A_THREAD * max(1, sum(client.nthreads().values()))
        try:
            for block in blocks:
                if len(under_way) == most:
                    add()
                under_way.append(client.submit(_sums, block, shared, pure=False))
            while under_way:
                add()
        finally:
            client.cancel(list(under_way))
    if sums is None:
        raise ValueError("blocks holds no block of rows; at least one is needed.")
    return sums.loss()


def _loaded(block):
    return block() if callable(block) else block


def _sums(block, shared) -> AlignmentSums:
    """On a worker: those of a block."""
    from ._worker import hold_threads

    hold_threads()
    omega, classes = shared
    return alignment_sums(*as_block(_loaded(block)), omega, classes)
