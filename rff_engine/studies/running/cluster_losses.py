"""Alignment losses of data in blocks of rows, each block summed by a process of joblib's or a worker of Dask.

The sums are additive over rows (Letarte et al. 2019, Prop. 8), so blocks may be on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed

from ..._typing import ArrayLike, MatrixLike
from ..._validation import check_count
from ...alignment import AlignmentSums, alignment_sums, as_block
from ...frequencies import FrequencyBlocks
from .run import one_thread

Block: TypeAlias = tuple[MatrixLike, ArrayLike] | tuple[MatrixLike, ArrayLike, ArrayLike]
"""Rows with their labels, and weights if there are any."""


def alignment_loss_on_cluster(
    blocks: Iterable[Block | Callable[[], Block]],
    omega: ArrayLike | FrequencyBlocks,
    classes: ArrayLike | None = None,
    *,
    jobs: int | None = None,
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
        `rff_engine.studies.running.row_blocks.row_group_readers`.
    omega : array of shape (D, d), or FrequencyBlocks
        FrequencyBlocks are sent as their seed.
    classes : array of shape (K,), optional
        All labels; any other is refused. ``None`` collects them from the blocks.
    jobs
        See `rff_engine.studies.running.run.run`.
    progress : callable, optional
        Called after each block with the number of blocks summed so far and in all, ``None`` if that is not known.

    Returns
    -------
    ndarray of shape (D,), float64

    Raises
    ------
    ValueError
        If there is no block, one is no pair or triple, a shape is wrong, a value is not finite, a label is not in
        `classes`, or all rows are of one class.
    """
    jobs = None if jobs is None else check_count(jobs, "jobs")
    parallel = Parallel(jobs, return_as="generator", batch_size=1)
    total, sums = len(blocks) if isinstance(blocks, Sized) else None, None
    for done, part in enumerate(parallel(delayed(_sums)((block, omega, classes)) for block in blocks), 1):
        sums = part if sums is None else sums + part
        if progress is not None:
            progress(done, total)
    if sums is None:
        raise ValueError("blocks holds no block of rows; at least one is needed.")
    return sums.loss()


def _sums(given: tuple) -> AlignmentSums:
    block, omega, classes = given  # in one tuple, see `run`
    with one_thread():
        X, y, weights = as_block(block() if callable(block) else block)
        return alignment_sums(X, y, omega, classes, sample_weight=weights)
