"""Blocks of rows of tables that do not fit in memory, for `alignment_loss_batched` and `partial_fit`.

Parquet files, folders of them and other Arrow datasets are read a row group at a time, data frames of Dask a partition
at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..._validation import check_count

__all__ = ["row_blocks"]

_ROWS = 2**16


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
    """Points and labels of a table, block by block (the sums of blocks add up, Letarte et al. 2019, Prop. 8).

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
    names, total, tables = _opened(source, max_rows)
    others = [target] if sample_weight is None else [target, sample_weight]
    wanted = [name for name in names if name not in others] if columns is None else list(columns)
    for name in [*wanted, *others]:
        if name not in names:
            raise ValueError(f"column {name!r} is not in the table; its columns are {', '.join(map(repr, names))}.")
    if not wanted:
        raise ValueError(f"columns is {columns!r}; at least one column of X is needed.")
    done = 0
    for table in tables(list(dict.fromkeys([*wanted, *others]))):
        X = np.column_stack([_numbers(table(name), name) for name in wanted]).astype(dtype, copy=False)
        weights = () if sample_weight is None else (_numbers(table(sample_weight), sample_weight),)
        yield X, table(target), *weights
        done += len(X)
        if progress is not None:
            progress(done, total)


def _numbers(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"column {name!r} holds {values.dtype}; numbers are needed.")
    return values


def _opened(source, max_rows: int):
    """Names of the columns, the number of rows if known, and a function of columns that yields blocks.

    A block is a function from a name to an array.
    """
    if hasattr(source, "partitions"):
        return list(source.columns), None, lambda names: _of_partitions(source, names, max_rows)
    if not hasattr(source, "to_batches"):
        import pyarrow.dataset

        paths = [str(path) for path in source] if isinstance(source, list | tuple) else str(Path(source))
        source = pyarrow.dataset.dataset(paths, format="parquet")
    names = list(source.schema.names)
    return names, source.count_rows(), lambda names: _of_batches(source, names, max_rows)


def _of_batches(dataset, names, max_rows):
    # Few batches are read ahead: a reader that is waited for holds one block, not the file.
    for batch in dataset.to_batches(columns=names, batch_size=max_rows, batch_readahead=1, fragment_readahead=1):
        if batch.num_rows:
            yield lambda name, batch=batch: batch.column(name).to_numpy(zero_copy_only=False)


def _of_partitions(frame, names, max_rows):
    for i in range(frame.npartitions):
        part = frame[names].partitions[i].compute()
        for start in range(0, len(part), max_rows):
            yield lambda name, rows=part.iloc[start : start + max_rows]: rows[name].to_numpy()
