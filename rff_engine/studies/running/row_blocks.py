"""Blocks of rows of tables that do not fit in memory, for `alignment_loss_batched` and `partial_fit`.

Parquet files, folders of them and other Arrow datasets are read a row group at a time, data frames of Dask a partition
at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._validation import check_count

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
    wanted = _columns_of_points(names, target, columns, sample_weight)
    others = [target] if sample_weight is None else [target, sample_weight]
    done = 0
    for table in tables(list(dict.fromkeys([*wanted, *others]))):
        block = _arrays(table, wanted, others, dtype)
        yield block
        done += len(block[0])
        if progress is not None:
            progress(done, total)


def row_group_readers(
    source: Any,
    target: str,
    *,
    columns: list[str] | None = None,
    sample_weight: str | None = None,
    dtype: Any = np.float64,
) -> list[Callable[[], tuple[Any, ...]]]:
    """A function for each row group of Parquet files, which reads its points and labels.

    They are the `blocks` of `alignment_loss_on_cluster`: each worker reads the row groups that it sums (Letarte et al.
    2019, Prop. 8), and no row passes through this process, which reads the files' metadata alone.

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
    wanted = _columns_of_points(list(dataset.schema.names), target, columns, sample_weight)
    groups = (group for file in dataset.get_fragments() for group in file.split_by_row_group())
    return [
        _RowGroup(
            group.path,
            group.row_groups[0].id,
            _footer(group.metadata, group.row_groups[0].id),
            tuple(wanted),
            target,
            sample_weight,
            np.dtype(dtype).name,
        )
        for group in groups
    ]


@dataclass(frozen=True)
class _RowGroup:
    """A row group of a Parquet file, read when it is called."""

    path: str
    index: int
    footer: str
    columns: tuple[str, ...]
    target: str
    sample_weight: str | None
    dtype: str

    def __call__(self) -> tuple:
        import pyarrow.parquet

        others = [self.target] if self.sample_weight is None else [self.target, self.sample_weight]
        with pyarrow.parquet.ParquetFile(self.path) as file:
            if _footer(file.metadata, self.index) != self.footer:
                raise ValueError(f"{self.path} has changed since its row groups were listed; list them again.")
            rows = file.read_row_group(self.index, columns=list(dict.fromkeys([*self.columns, *others])))
        return _arrays(lambda name: rows.column(name).to_numpy(), list(self.columns), others, self.dtype)


def _footer(metadata, index: int) -> str:
    """Digest of what the end of a file says of a row group: sizes, places and extreme values of its columns."""
    described = metadata.row_group(index).to_dict() if index < metadata.num_row_groups else None
    return hashlib.sha256(repr(described).encode()).hexdigest()


def _columns_of_points(names: list[str], target: str, columns: list[str] | None, sample_weight: str | None) -> list:
    """The columns of X; a ValueError if one, the target or the weights are missing."""
    others = [target] if sample_weight is None else [target, sample_weight]
    wanted = [name for name in names if name not in others] if columns is None else list(columns)
    for name in [*wanted, *others]:
        if name not in names:
            raise ValueError(f"column {name!r} is not in the table; its columns are {', '.join(map(repr, names))}.")
    if not wanted:
        raise ValueError(f"columns is {columns!r}; at least one column of X is needed.")
    return wanted


def _arrays(table: Callable, wanted: list[str], others: list[str], dtype) -> tuple:
    """X, the labels, and the weights if there are any."""
    X = np.column_stack([_numbers(table(name), name) for name in wanted]).astype(dtype, copy=False)
    return X, table(others[0]), *(_numbers(table(name), name) for name in others[1:])


def _parquet(source):
    """Parquet files as a dataset of pyarrow."""
    import pyarrow.dataset

    paths = [str(path) for path in source] if isinstance(source, list | tuple) else str(Path(source))
    return pyarrow.dataset.dataset(paths, format="parquet")


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
        source = _parquet(source)
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
