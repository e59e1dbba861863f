"""The problem of Li et al. (2019): a regression or classification, with a training and a test part.

There is no validation part: parameters are chosen by cross-validation.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from .._validation import as_labels, as_numbers, as_points, canonical, check_choice
from ..nystroem import NystroemMap
from .feature_methods import TASKS, FourierMap, fit_features
from .problem import Part, Problem, Row, update_digest

if TYPE_CHECKING:
    from rff_datasets import TwoPartSplit


@dataclass(frozen=True, kw_only=True)
class LiProblem(Problem):
    """A split into training and test rows, with the Gaussian kernel of 2 sigma^2 = d.

    y is a target, whether a row has the larger of two labels, or the number of its class.
    """

    task: str

    purposes: ClassVar[tuple[str, ...]] = ("training_rows", "features", "evaluated_rows", "folds")

    @classmethod
    def of(cls, split: TwoPartSplit, labels: Row, seed: int, scaling: str, max_train: int | None = None) -> LiProblem:
        """Check a split, code its classes, scale its columns and draw at most `max_train` training rows.

        Raises
        ------
        ValueError
            If the task is unknown, or a shape, label or value is wrong.
        """
        task = check_choice(split.task, "task", TASKS)
        X = as_points(split.X_train, "X_train"), as_points(split.X_test, "X_test", n_features=split.X_train.shape[1])
        y = (_coded_labels if task == "classification" else _checked_targets)(split, *X)
        if sp.issparse(X[0]):  # frequencies are dense anyway, and with so few columns this is small
            X = tuple(part.toarray() for part in X)
        notes, n = [], X[0].shape[0] + X[1].shape[0]
        of = getattr(split, "n_samples", n)
        if n < of:
            notes.append(f"{n} of {of} rows, drawn at random")
        if scaling == "standard":
            scaler = StandardScaler().fit(X[0].astype(np.float64))
            X = tuple(scaler.transform(part.astype(np.float64)) for part in X)
        train, test = (Part(np.ascontiguousarray(A, dtype=np.float64), b) for A, b in zip(X, y, strict=True))
        problem = cls(
            train=train, test=test, task=task, labels=labels, seed=seed, notes=tuple(notes), gamma=1 / train.X.shape[1]
        )
        rows = problem.draw_rows("training_rows", len(train.y), max_train)
        if isinstance(rows, slice):
            return problem
        notes.append(f"trained on {max_train} of {len(train.y)} training rows")
        return replace(problem, train=Part(train.X[rows], train.y[rows]), notes=tuple(notes))

    @staticmethod
    def digest(split: TwoPartSplit) -> str:
        """Digest all points and targets of a split, and its task."""
        digest = hashlib.sha256(f"two parts {split.task}".encode())
        parts: list[tuple[Any, np.ndarray]] = [(split.X_train, split.y_train), (split.X_test, split.y_test)]
        for X, y in parts:
            X = canonical(X) if sp.issparse(X) else X
            arrays = (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)) if sp.issparse(X) else (X,)
            update_digest(digest, (*arrays, y))
        return digest.hexdigest()

    def fit_features(
        self, method: str, r: int, rows: np.ndarray | slice = slice(None), **parameters: float
    ) -> tuple[FourierMap | NystroemMap, tuple[str, ...]]:
        """Fit the features of a method on training rows; return them and its warnings as notes.

        All methods with the same r get the same generator, so the same first frequencies. See
        `feature_methods.fit_features`.
        """
        given = self.train.X[rows], self.train.y[rows], self.kernel, r, self.rng("features", r), self.task
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            features = fit_features(method, *given, **parameters)
        own = [str(warning.message).rstrip(".") for warning in caught if warning.category is UserWarning]
        for other in (warning for warning in caught if warning.category is not UserWarning):
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
        return features, tuple(dict.fromkeys(own))


def _coded_labels(split: TwoPartSplit, X_train, X_test) -> tuple[np.ndarray, np.ndarray]:
    classes, _ = as_labels(split.y_train, X_train.shape[0], "y_train")
    as_labels(split.y_test, X_test.shape[0], "y_test", min_classes=1)
    if not np.isin(split.y_test, classes).all():
        raise ValueError("y_test holds a label that y_train does not; both need the same classes.")
    train, test = (np.searchsorted(classes, part) for part in (split.y_train, split.y_test))
    return (train == 1, test == 1) if len(classes) == 2 else (train, test)


def _checked_targets(split: TwoPartSplit, X_train, X_test) -> tuple[np.ndarray, np.ndarray]:
    y = as_numbers(split.y_train, "y_train"), as_numbers(split.y_test, "y_test")
    if y[0].shape != (X_train.shape[0],) or y[1].shape != (X_test.shape[0],):
        raise ValueError(f"y has shapes {y[0].shape} and {y[1].shape}; one target a row is needed.")
    return y
