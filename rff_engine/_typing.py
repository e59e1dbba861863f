"""Types of the arguments of public functions.

They say what is meant; the functions check the values. To the type checker arrays are open: SciPy, whose sparse
matrices count as arrays here, has no types.
"""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np

ArrayLike: TypeAlias = Any
"""An array, or what NumPy makes one of, such as a list or a column of a data frame."""
MatrixLike: TypeAlias = Any
"""An array, what NumPy makes one of, such as a data frame, or a sparse matrix of SciPy."""
Estimator: TypeAlias = Any
"""An estimator of this package, or a pipeline of scikit-learn with one."""
FloatOrArray: TypeAlias = Any
"""A NumPy number for numbers, an array for arrays."""
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""A seed, a generator, or `None`."""


class BaseEstimator:
    """What users call of scikit-learn's class of this name, for the type checker alone."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def set_params(self, **params: Any) -> Self: ...

    def set_fit_request(self, **requests: bool | str | None) -> Self: ...

    def __sklearn_tags__(self) -> Any: ...


class TransformerMixin:
    """What users call of scikit-learn's class of this name, for the type checker alone."""

    def fit_transform(self, X: MatrixLike, y: Any = None, **fit_params: Any) -> np.ndarray: ...

    def set_output(self, *, transform: str | None = None) -> Self: ...


class ClassifierMixin:
    """What users call of scikit-learn's class of this name, for the type checker alone."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
