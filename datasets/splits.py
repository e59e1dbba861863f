"""Divides a data set into training, validation and test rows: the paper's split, or others like it.

Rows are drawn without regard to their classes, as in the paper; so are those of paper B, into training and test rows
alone. Repeats and cross-validation are the caller's.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state

from datasets.dataset import Dataset, Task
from datasets.loaders import load

PUBLISHED_SEED = 42
TEST_SHARE = 0.25
VALID_SHARE = 0.2  # of what is left after the test rows
_PUBLISHED = ("ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56")

Inputs = np.ndarray | scipy.sparse.csr_array


@dataclass(frozen=True, eq=False)
class Split:
    """Training, validation and test parts of a data set.

    Attributes
    ----------
    X_train, X_valid, X_test : ndarray or csr_array of shape (n_part, d)
    y_train, y_valid, y_test : ndarray of shape (n_part,)
    rows_train, rows_valid, rows_test : ndarray of shape (n_part,)
        Which rows of the data set they are: X_train is X[rows_train].
    name : str
        Name of the data set.
    """

    X_train: Inputs
    y_train: np.ndarray
    X_valid: Inputs
    y_valid: np.ndarray
    X_test: Inputs
    y_test: np.ndarray
    rows_train: np.ndarray
    rows_valid: np.ndarray
    rows_test: np.ndarray
    name: str

    @cached_property
    def checksum(self) -> str:
        """Key of the six arrays, their shapes and types: the first 16 hex digits of a sha256.

        Computed once: arrays changed in place afterwards are not noticed.
        """
        digest = hashlib.sha256()
        for part in (self.X_train, self.y_train, self.X_valid, self.y_valid, self.X_test, self.y_test):
            arrays = (part.data, part.indices, part.indptr) if scipy.sparse.issparse(part) else (part,)
            digest.update(repr(part.shape).encode())
            for array in arrays:
                digest.update(array.dtype.str.encode())
                digest.update(np.ascontiguousarray(array))
        return digest.hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class TwoPartSplit:
    """Training and test parts of a data set, where what is chosen is chosen by cross-validation.

    Attributes
    ----------
    X_train, X_test : ndarray or csr_array of shape (n_part, d)
    y_train, y_test : ndarray of shape (n_part,)
    rows_train, rows_test : ndarray of shape (n_part,)
        Which rows of the data set they are: X_train is X[rows_train].
    task : {"classification", "regression"}
    n_samples : int
        Rows of the data set; the parts may hold fewer.
    name : str
        Name of the data set.
    """

    X_train: Inputs
    y_train: np.ndarray
    X_test: Inputs
    y_test: np.ndarray
    rows_train: np.ndarray
    rows_test: np.ndarray
    task: Task
    n_samples: int
    name: str


def published_names() -> tuple[str, ...]:
    """Names of the data sets that `published_split` knows: those of paper A."""
    return _PUBLISHED


def published_split(name: str) -> Split:
    """Load a data set of paper A in the very split of the paper, row for row.

    It is `random_split(load(name), 42)`, after the published code: for adult the test file is the test part,
    otherwise a quarter of the rows; of the others a fifth is for validation.

    Parameters
    ----------
    name : {"ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56"}

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        For a data set without a published split.
    DataNotFoundError
        If its file is in none of the places where it is looked for.
    """
    if name not in _PUBLISHED:
        raise ValueError(f"there is no published split of {name!r}, only of {', '.join(_PUBLISHED)}")
    return random_split(load(name), PUBLISHED_SEED)


def random_split(dataset: Dataset, random_state) -> Split:
    """Divide a data set in the proportions of paper A, with any seed.

    A quarter of the rows is for testing, and a fifth of the others for validation. Where the publisher sets
    test rows apart (`dataset.n_train_file`: adult and mnist) these stay the test part, whatever the seed, and
    only training and validation rows are redrawn. Like the paper's, the draw is not stratified.

    Parameters
    ----------
    dataset : Dataset
        Of at least 3 rows.
    random_state : int, RandomState or None
        As in scikit-learn; with 42 the split of the paper comes out.

    Returns
    -------
    Split
        Every row is in exactly one part.

    Raises
    ------
    ValueError
        If there are too few rows, or a class has no training row.
    """
    n = dataset.n_samples
    if n < 3:
        raise ValueError(f"{dataset.name} has {n} rows, but a split into three parts needs at least 3")
    rng = check_random_state(random_state)
    # Splitting row numbers instead of the arrays gives the same rows, and tells which they are.
    rows = np.arange(n)
    if dataset.n_train_file is None:
        rest, test = train_test_split(rows, test_size=TEST_SHARE, random_state=rng)
    else:
        rest, test = rows[: dataset.n_train_file], rows[dataset.n_train_file :]
    train, valid = train_test_split(rest, test_size=VALID_SHARE, random_state=rng)
    if dataset.task == "classification":
        absent = np.setdiff1d(dataset.y, dataset.y[train])
        if absent.size:
            raise ValueError(
                f"this split of {dataset.name} leaves the class {absent[0]} without a training row "
                f"({len(train)} of {n} rows are for training): take more rows or another random_state"
            )
    X, y = dataset.X, dataset.y
    return Split(X[train], y[train], X[valid], y[valid], X[test], y[test], train, valid, test, dataset.name)


def two_part_split(dataset: Dataset, random_state, max_rows: int | None = None) -> TwoPartSplit:
    """Divide a data set in the proportions of paper B: a third of the rows is for testing.

    Where the publisher sets test rows apart (`dataset.n_train_file`: adult, a9a and mnist) these are the test part,
    whatever the seed. The draw is not stratified.

    Parameters
    ----------
    dataset : Dataset
        Of at least 3 rows.
    random_state : int, RandomState or None
        As in scikit-learn.
    max_rows : int, optional
        Draw at most so many rows first, and divide these; of data with test rows apart, as many of both kinds in
        proportion. At least 3.

    Returns
    -------
    TwoPartSplit

    Raises
    ------
    ValueError
        If there are too few rows, or a class has no training row.
    """
    n = dataset.n_samples
    kept = n if max_rows is None else min(n, max_rows)
    if kept < 3:
        raise ValueError(f"{dataset.name} has {n} rows and max_rows is {max_rows}, but a split needs at least 3 rows")
    rng = check_random_state(random_state)
    rows = np.arange(n) if kept == n else np.sort(rng.permutation(n)[:kept])
    if dataset.n_train_file is None:
        train, test = train_test_split(rows, test_size=1 / 3, random_state=rng)
    else:
        train, test = rows[rows < dataset.n_train_file], rows[rows >= dataset.n_train_file]
    X, y = dataset.X, dataset.y
    if dataset.task == "classification":
        absent = np.setdiff1d(y[test], y[train])
        if absent.size:
            raise ValueError(
                f"this split of {dataset.name} leaves the class {absent[0]} without a training row "
                f"({len(train)} of {n} rows are for training): take more rows or another random_state"
            )
    return TwoPartSplit(X[train], y[train], X[test], y[test], train, test, dataset.task, n, dataset.name)
