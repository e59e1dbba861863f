"""Blocks of rows of tables that do not fit in memory, for `alignment_loss_batched` and `partial_fit`.

Parquet files, folders of them and other Arrow datasets are read a row group at a time, data frames of Dask a partition
at a time. Sums of blocks add up (Letarte et al. 2019, Prop. 8), so blocks may be on any machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from joblib import Parallel, delayed

from ..._typing import ArrayLike, MatrixLike
from ..._validation import check_count
from ...alignment import AlignmentSums, alignment_sums, as_block
from ...frequencies import FrequencyBlocks
from .run import one_thread

_ROWS = 2**16
Block: TypeAlias = tuple[MatrixLike, ArrayLike] | tuple[MatrixLike, ArrayLike, ArrayLike]
"""Rows with their labels, and weights if there are any"""


class _Columns(NamedTuple):
    """The columns of a table that are read."""

    points: list[str]
    target: str
    weights: list[str]
    """One at most"""
    dtype: Any

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.points, self.target, *self.weights]))

    def arrays(self, table) -> tuple[np.ndarray, ...]:
        """Return X, the labels, and the weights, if any, of a data frame."""
        X = np.column_stack([_numbers(table, name) for name in self.points]).astype(self.dtype, copy=False)
        return X, table[self.target].to_numpy(), *(_numbers(table, name) for name in self.weights)


def _numbers(table, name: str) -> np.ndarray:
    values = table[name].to_numpy()
    if values.dtype.kind not in "biuf":
        raise ValueError(f"column {name!r} holds {values.dtype}; numbers are needed.")
    return values


def _chosen(names: list[str], target: str, columns: list[str] | None, weights: str | None, dtype: Any) -> _Columns:
    """Choose the columns to read; raise a ValueError if one is missing, or none has points."""
    others = [target] if weights is None else [target, weights]
    points = [name for name in names if name not in others] if columns is None else list(columns)
    for name in [*points, *others]:
        if name not in names:
            raise ValueError(f"column {name!r} is not in the table; its columns are {', '.join(map(repr, names))}.")
    if not points:
        raise ValueError(f"columns is {columns!r}; at least one column of X is needed.")
    return _Columns(points, target, others[1:], dtype)


def row_blocks(
    source: Any,
    target: str,
    *,
    columns: list[str] | None = None,
    sample_weight: str | None = None,
    max_rows: int = _ROWS,
    dtype: Any = np.float64,
    progress: Callable[[int, int | None], None] | None = None,
) -> Iterator[tuple[np.ndarray, ...]]:
    """Read points and labels of a table, block by block.

    Parameters
    ----------
    source : path, list of paths, pyarrow Dataset or dask DataFrame
        A path names a Parquet file or a folder of them. Paths need pyarrow.
    target : str
        The column of labels.
    columns : list of str, optional
        The columns of X; ``None`` stands for all others.
    sample_weight : str, optional
        A column of weights.
    max_rows : int
        Rows of a block at most; a row group or partition may have fewer.
    dtype : {float64, float32}
        Of X.
    progress : callable, optional
        Called after each block with the number of rows read so far and in all, ``None`` if that is not known.

    Yields
    ------
    X : ndarray of shape (n_b, d)
    y : ndarray of shape (n_b,)
    sample_weight : ndarray of shape (n_b,)
        If there is such a column.

    Raises
    ------
    ValueError
        If a column is missing, or one of X or the weights does not hold numbers.
    ModuleNotFoundError
        If a path is given and pyarrow is not installed.
    """
    max_rows = check_count(max_rows, "max_rows")
    of_dask = hasattr(source, "partitions")
    if not of_dask and not hasattr(source, "to_batches"):
        source = _parquet(source)
    chosen = _chosen(list(source.columns if of_dask else source.schema.names), target, columns, sample_weight, dtype)
    total = None if of_dask else source.count_rows()
    done = 0
    for table in (_of_partitions if of_dask else _of_batches)(source, chosen.names, max_rows):
        block = chosen.arrays(table)
        yield block
        done += len(block[0])
        if progress is not None:
            progress(done, total)


def _of_batches(dataset, names: list[str], max_rows: int) -> Iterator:
    # Few batches are read ahead: a waiting reader holds one block, not the file.
    for batch in dataset.to_batches(columns=names, batch_size=max_rows, batch_readahead=1, fragment_readahead=1):
        if batch.num_rows:
            yield _frame(batch)


def _of_partitions(frame, names: list[str], max_rows: int) -> Iterator:
    for i in range(frame.npartitions):
        part = frame[names].partitions[i].compute()
        for start in range(0, len(part), max_rows):
            yield part.iloc[start : start + max_rows]


def _frame(table):
    """Convert a table of pyarrow to a data frame, without a copy of columns that have no missing value."""
    return table.to_pandas(ignore_metadata=True, split_blocks=True)


def _parquet(source):
    """Open Parquet files as a dataset of pyarrow."""
    import pyarrow.dataset

    paths = [str(path) for path in source] if isinstance(source, list | tuple) else str(Path(source))
    return pyarrow.dataset.dataset(paths, format="parquet")


def row_group_readers(
    source: Any,
    target: str,
    *,
    columns: list[str] | None = None,
    sample_weight: str | None = None,
    dtype: Any = np.float64,
) -> list[Callable[[], tuple[Any, ...]]]:
    """Return a function for each row group of Parquet files, which reads its points and labels.

    They are the `blocks` of `alignment_loss_on_cluster`: each worker reads the row groups that it sums. No row passes
    through this process, which reads the files' metadata alone.

    Parameters
    ----------
    source : path or list of paths
        Of Parquet files, or a folder of them, which the workers find under the same paths.
    target, columns, sample_weight, dtype
        As for `row_blocks`.

    Returns
    -------
    list of functions without arguments
        Each returns X of shape (n_b, d), y of shape (n_b,), and the weights if there are any. They can be pickled.

    Raises
    ------
    ValueError
        If a column is missing; when one is called, if a column of X or the weights does not hold numbers, or the row
        group is no longer the one that was listed.
    ModuleNotFoundError
        If pyarrow is not installed.
    """
    dataset = _parquet(source)
    chosen = _chosen(list(dataset.schema.names), target, columns, sample_weight, np.dtype(dtype).name)
    groups = [group for file in dataset.get_fragments() for group in file.split_by_row_group()]
    places = [(group.path, group.row_groups[0].id, group.metadata) for group in groups]
    return [partial(_read, path, index, _footer(metadata, index), chosen) for path, index, metadata in places]


def _read(path: str, index: int, footer: str, chosen: _Columns) -> tuple[np.ndarray, ...]:
    """Read a row group of a Parquet file, unless the file has changed."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        if _footer(file.metadata, index) != footer:
            raise ValueError(f"{path} has changed since its row groups were listed; list them again.")
        return chosen.arrays(_frame(file.read_row_group(index, columns=chosen.names)))


def _footer(metadata, index: int) -> str:
    """Digest a file's footer on a row group: sizes, places and extreme values of its columns."""
    described = metadata.row_group(index).to_dict() if index < metadata.num_row_groups else None
    return hashlib.sha256(repr(described).encode()).hexdigest()


def alignment_loss_on_cluster(
    blocks: Iterable[Block | Callable[[], Block]],
    omega: ArrayLike | FrequencyBlocks,
    classes: ArrayLike | None = None,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> np.ndarray:
    """Compute the empirical alignment loss over all pairs of points in blocks (Letarte et al. 2019, Prop. 8).

    A process of joblib's or a worker of Dask sums each block. The sums are added in the order of the blocks, so the
    result does not depend on the number of workers. Few blocks are in memory at a time.

    Parameters
    ----------
    blocks : iterable of pairs (X, y) or triples (X, y, sample_weight), or of callables that return one
        Arrays or CSR matrices of shape (n_b, d) with their labels (n_b,), some thousand rows each; a block may lack a
        class. A worker calls a callable: data that workers can read need not pass through this process, see
        `row_group_readers`.
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
    total = len(blocks) if isinstance(blocks, Sized) else None
    sums = None
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
