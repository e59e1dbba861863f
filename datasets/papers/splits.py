"""Splits of a data set: training, validation and test rows as in paper A, training and test rows as in paper B.

Draws are not stratified, as in the papers. Callers repeat splits and cross-validate.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils import check_random_state

from ..dataset import Dataset, Task
from .loaders import load

PUBLISHED_SEED = 42
TEST_FRACTION = 0.25
VALID_FRACTION = 0.2  # of the rows that are not test rows
_PUBLISHED = ("ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56")

Inputs = np.ndarray | scipy.sparse.csr_array
Seed = int | np.random.RandomState | None


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
        """The first 16 hex digits of a sha256 of the six arrays, their shapes and types.

        Computed once; later changes of the arrays in place are not noticed.
        """
        digest = hashlib.sha256()
        for part in (self.X_train, self.y_train, self.X_valid, self.y_valid, self.X_test, self.y_test):
            arrays = (part,) if isinstance(part, np.ndarray) else (part.data, part.indices, part.indptr)
            digest.update(repr(part.shape).encode())
            for array in arrays:
                digest.update(array.dtype.str.encode())
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class TwoPartSplit:
    """Training and test parts of a data set, for parameters chosen by cross-validation; attributes as in `Split`.

    Attributes
    ----------
    task : {"classification", "regression"}
    n_samples : int
        Rows of the data set; the parts may have fewer.
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
    """Return the names of the data sets of paper A, which `published_split` splits."""
    return _PUBLISHED


def published_split(name: str) -> Split:
    """Load a data set of paper A and split it as the paper does, row for row.

    This is `random_split(load(name), 42)`, as in the published code: the test part is the test file for adult, a
    quarter of the rows otherwise; a fifth of the remaining rows is for validation.

    Parameters
    ----------
    name : {"ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56"}

    Returns
    -------
    Split
        `X_train`, `y_train`, and the same arrays of the validation and test parts.

    Raises
    ------
    ValueError
        For a data set without a published split.
    DataNotFoundError
        If its file is missing.
    """
    if name not in _PUBLISHED:
        raise ValueError(f"there is no published split of {name!r}, only of {', '.join(_PUBLISHED)}")
    return random_split(load(name), PUBLISHED_SEED)


def random_split(dataset: Dataset, random_state: Seed) -> Split:
    """Split a data set in the proportions of paper A.

    A quarter of the rows is for testing, and a fifth of the others for validation. Test rows that end the data set
    (`dataset.n_train_file`: adult, a9a and mnist) are the test part for every seed; only training and validation rows
    are drawn. For the pairs of MNIST all rows are drawn, as in the paper. The draw is not stratified. If the data set
    has groups, whole groups are drawn, in the same proportions.

    Parameters
    ----------
    dataset : Dataset
        Of at least 3 rows.
    random_state : int, RandomState or None
        As in scikit-learn; 42 gives the split of the paper.

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
    # Splitting row numbers selects the same rows as splitting the arrays, and keeps the numbers.
    rows = np.arange(n)
    if dataset.n_train_file is None:
        rest, test = _two_parts(rows, TEST_FRACTION, rng, dataset.groups)
    else:
        rest, test = rows[: dataset.n_train_file], rows[dataset.n_train_file :]
    train, valid = _two_parts(rest, VALID_FRACTION, rng, dataset.groups)
    X, y = dataset.X, dataset.y
    _check_classes(dataset, y, train)
    return Split(X[train], y[train], X[valid], y[valid], X[test], y[test], train, valid, test, dataset.name)


def two_part_split(dataset: Dataset, random_state: Seed, max_rows: int | None = None) -> TwoPartSplit:
    """Split a data set in the proportions of paper B: a third of the rows is for testing.

    The publisher's test rows (`dataset.test_rows`: adult, a9a, mnist and its pairs) are the test part for every seed;
    paper B keeps a split that the data bring. The draw is not stratified.

    Parameters
    ----------
    dataset, random_state
        As for `random_split`.
    max_rows : int, optional
        Split a random subset of at most this many rows, at least 3. Published parts shrink in proportion.

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
    if dataset.test_rows is None:
        train, test = _two_parts(rows, 1 / 3, rng, dataset.groups)
    else:
        for_test = np.isin(rows, dataset.test_rows)
        train, test = rows[~for_test], rows[for_test]
    X, y = dataset.X, dataset.y
    _check_classes(dataset, y[test], train)
    return TwoPartSplit(X[train], y[train], X[test], y[test], train, test, dataset.task, n, dataset.name)


def _two_parts(rows, test_fraction: float, rng, groups) -> tuple[np.ndarray, np.ndarray]:
    """Split rows at random. The second part has the given fraction of the rows, or of the groups if there are any."""
    if groups is None:
        first, second = train_test_split(rows, test_size=test_fraction, random_state=rng)
        return first, second
    splitter = GroupShuffleSplit(1, test_size=test_fraction, random_state=rng)
    first, second = next(splitter.split(rows, groups=groups[rows]))
    return rows[first], rows[second]


def _check_classes(dataset: Dataset, labels: np.ndarray, train: np.ndarray) -> None:
    """Raise a ValueError if a class of `labels` has no training row."""
    if dataset.task != "classification":
        return
    absent = np.setdiff1d(labels, dataset.y[train])
    if len(absent):
        raise ValueError(
            f"this split of {dataset.name} leaves the class {absent[0]} without a training row "
            f"({len(train)} of {dataset.n_samples} rows are for training): take more rows or another random_state"
        )
