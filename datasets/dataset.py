"""A data set: its arrays, with what is needed to use and to cite them.

It holds values only: `loaders` and `toy` make it, `splits` divides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy.sparse

Task = Literal["classification", "regression"]


# eq=False: neither `==` nor a cache key should compare two data sets element by element.
@dataclass(frozen=True, eq=False)
class Dataset:
    """A learning problem and its origin.

    Attributes
    ----------
    name : str
        As in `load` or `make_toy`.
    X : ndarray or scipy.sparse.csr_array of shape (n, d)
        Inputs: float64 and C-contiguous; float32 for the MNIST family; sparse float64 for farm.
    y : ndarray of shape (n,)
        int64 labels, -1 and 1 where there are two classes, or float64 targets for regression.
    task : {"classification", "regression"}
    feature_names : tuple of str
        One name per column of `X`.
    source : str
        Origin of the data, as text for a caption.
    licence : str
    title : str
        Name to show.
    description : str
        One or two sentences on the rows and the target.
    label_names : mapping of int to str
        Name of each class; empty for regression.
    n_train_file : int or None
        Number of leading rows that are published as training rows, the others being the published test rows; None
        without a published division.
    image_shape : tuple of int or None
        (height, width) if a row is an image.
    test_rows : ndarray of shape (n_test,) or None
        The rows of the publisher's test file, in ascending order; None without a published division.
    groups : ndarray of shape (n,) or None
        The group of each row, as an integer from 0; `random_split` keeps the rows of a group in one part.
    """

    name: str
    X: np.ndarray | scipy.sparse.csr_array
    y: np.ndarray
    task: Task
    feature_names: tuple[str, ...]
    source: str
    licence: str
    title: str = ""
    description: str = ""
    label_names: Mapping[int, str] = field(default_factory=dict)
    n_train_file: int | None = None
    image_shape: tuple[int, int] | None = None
    test_rows: np.ndarray | None = None
    groups: np.ndarray | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns, d."""
        return self.X.shape[1]
