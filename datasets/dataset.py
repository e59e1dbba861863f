"""What a data set is here: its arrays, with what must be known to use and to cite them.

It holds values only: where they come from is `loaders` and `toy`, how they are divided is `splits`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy.sparse

Task = Literal["classification", "regression"]


# eq=False: comparing two data sets element by element is never what `==` or a cache key should do.
@dataclass(frozen=True, eq=False)
class Dataset:
    """A learning problem and its origin.

    Attributes
    ----------
    name : str
        The name that `load` or `make_toy` knows it by.
    X : ndarray or scipy.sparse.csr_array of shape (n, d)
        Inputs: float64 and C-contiguous; float32 for the MNIST family; sparse float64 for farm.
    y : ndarray of shape (n,)
        int64 labels, -1 and 1 where there are two classes, or float64 targets for regression.
    task : {"classification", "regression"}
    feature_names : tuple of str
        One name per column of `X`.
    source : str
        Where the data come from, fit to be shown under a figure.
    licence : str
    title : str
        The name for people.
    description : str
        One or two sentences: what a row is, what is predicted.
    label_names : mapping of int to str
        What each class stands for; empty for regression.
    n_train_file : int or None
        Number of leading rows that the publisher calls training rows, the others being the published test
        rows; None where the publisher makes no such division.
    image_shape : tuple of int or None
        (height, width) where a row is an image.
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

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns, d."""
        return self.X.shape[1]

    @property
    def n_test_tail(self) -> int:
        """Number of rows at the end that the publisher calls test rows; 0 without such a division."""
        return 0 if self.n_train_file is None else self.n_samples - self.n_train_file
