"""Alignment losses of data in blocks of rows, each block summed by a worker of a Dask cluster.

The sums are additive over rows (Letarte et al. 2019, Prop. 8), so blocks may be on any machine.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..._typing import ArrayLike, MatrixLike
from ..._validation import check_count
from ...alignment import AlignmentSums, alignment_loss_batched, alignment_sums, as_block
from ...frequencies import FrequencyBlocks
from .same_code import CODE

if TYPE_CHECKING:
    from distributed import Future

    from .cluster import Workers
    from .worker import Done

Block: TypeAlias = tuple[MatrixLike, ArrayLike] | tuple[MatrixLike, ArrayLike, ArrayLike]
"""Rows with their labels, and weights if there are any."""
_BLOCKS_A_THREAD = 2  # one is summed while the next is sent


def alignment_loss_on_cluster(
    blocks: Iterable[Block | Callable[[], Block]],
    omega: ArrayLike | FrequencyBlocks,
    classes: ArrayLike | None = None,
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
        return alignment_loss_batched(_count(blocks, progress), omega, classes)
    if jobs > 1 and scheduler is not None:
        raise ValueError(f"jobs is {jobs} and scheduler {scheduler!r}; only one of them may be given.")
    from .cluster import connected

    sums = None
    with connected(jobs, scheduler) as workers, closing(_Pending(workers, (omega, classes))) as pending:
        most = _BLOCKS_A_THREAD * max(1, sum(workers.threads().values()))
        for done, part in enumerate(pending.sums(blocks, most), 1):
            sums = part if sums is None else sums + part
            if progress is not None:
                progress(done, _length(blocks))
    if sums is None:
        raise ValueError("blocks holds no block of rows; at least one is needed.")
    return sums.loss()


class _Pending:
    """Blocks whose sums workers compute; `shared` are the frequencies and classes."""

    def __init__(self, workers: Workers, shared: tuple):
        self._workers, self._shared, self._future = workers, pickle.dumps(shared), None
        self._blocks: deque[tuple[int, object, Future]] = deque()

    def sums(self, blocks: Iterable, most: int) -> Iterator[AlignmentSums]:
        """Sums of blocks in their order; at most so many are pending."""
        for number, block in enumerate(blocks):
            if len(self._blocks) == most:
                yield self._next()
            self._blocks.append((number, block, self._submit(block)))
        while self._blocks:
            yield self._next()

    def close(self) -> None:
        self._workers.client.cancel([future for _, _, future in self._blocks])

    def _next(self) -> AlignmentSums:
        number, block, future = self._blocks.popleft()
        while (done := self._workers.result(str(number), future)) is None:
            future = self._submit(block)
        return cast(AlignmentSums, done.value)

    def _submit(self, block) -> Future:
        from .worker import unpack

        submit, where = self._workers.client.submit, {"workers": self._workers.addresses(), "pure": False}
        if self._future is None or self._future.status in ("error", "cancelled"):
            self._future = submit(unpack, CODE, self._shared, allow_other_workers=True, **where)
        return submit(_sums, CODE, block, self._future, allow_other_workers=True, **where)


def _length(blocks) -> int | None:
    return len(blocks) if isinstance(blocks, Sized) else None


def _count(blocks, progress) -> Iterator:
    """Load each block, and call `progress` after it has been used."""
    for done, block in enumerate(blocks, 1):
        yield _loaded(block)
        if progress is not None:
            progress(done, _length(blocks))


def _loaded(block):
    return block() if callable(block) else block


def _sums(code: str, block, shared: Done) -> Done:
    """Alignment sums of a block, computed on a worker."""
    from .worker import Done, checked, hold_threads

    with checked(code, shared):
        hold_threads()
        omega, classes = cast(tuple, shared.value)
        X, y, weights = as_block(_loaded(block))
        return Done([], alignment_sums(X, y, omega, classes, sample_weight=weights), CODE)
