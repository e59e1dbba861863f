"""The problem of Letarte et al. (2019): two classes, three parts, and linear SVMs chosen on the validation part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from .._validation import as_labels, as_points, canonical
from ..features import largest_norm, phase_dtype
from ..linear import linear_svm_decision
from .problem import Part, Problem, Row, update_digest

if TYPE_CHECKING:
    from rff_datasets import Split

PARTS = ("train", "valid", "test")
_DECISION_ENTRIES = 2**22  # features held at a time while decisions are computed


@dataclass(frozen=True, kw_only=True)
class LetarteProblem(Problem):
    """A two-class split into training, validation and test rows; y is whether a row has the larger label."""

    valid: Part
    feature_dtype: type = np.float64
    """Of the features that linear SVMs are trained on"""

    purposes: ClassVar[tuple[str, ...]] = (
        "training_rows",
        "svm_rows",
        "candidates",
        "pbrff",
        "okrff",
        "landmarks",
        "landmark_frequencies",
    )

    @classmethod
    def of(
        cls, split: Split, labels: Row, seed: int, scaling: str = "none", max_train: int | None = None
    ) -> LetarteProblem:
        """Check a split, code its two labels, scale its columns and draw at most `max_train` training rows.

        Raises
        ------
        ValueError
            If the split is not of two classes, or a shape or value is wrong.
        """
        classes, _ = as_labels(split.y_train, name="y_train")
        if len(classes) != 2:
            raise ValueError(f"y_train holds {len(classes)} classes; an experiment is for exactly 2.")
        parts = _checked_parts(split, classes)
        if scaling == "standard":
            sparse = sp.issparse(parts["train"].X)
            scaler = StandardScaler(with_mean=not sparse).fit(parts["train"].X)
            parts = {name: Part(scaler.transform(part.X), part.y) for name, part in parts.items()}
        problem = cls(train=parts["train"], valid=parts["valid"], test=parts["test"], labels=labels, seed=seed)
        train = problem.some_training_rows(max_train, "training_rows")
        n = len(problem.train.y)
        notes = ["columns standardised"] if scaling == "standard" else []
        notes += [f"trained on {len(train.y)} of {n} training rows"] if len(train.y) < n else []
        return replace(problem, train=train, notes=tuple(notes))

    @staticmethod
    def digest(split: Split) -> str:
        """Digest all points and labels of a split; labels count by their order, not their names."""
        digest = hashlib.sha256()
        for name in PARTS:
            X = getattr(split, f"X_{name}")
            y = np.asarray(getattr(split, f"y_{name}"))
            larger = y == np.unique(split.y_train)[-1]  # labels may be texts
            X = canonical(X) if sp.issparse(X) else X
            update_digest(digest, (X.data, X.indices.astype(np.int64), larger) if sp.issparse(X) else (X, larger))
            if sp.issparse(X):
                digest.update(np.asarray(X.indptr, np.int64).data)
        return digest.hexdigest()

    def with_gamma(self, gamma: float, precision: str) -> LetarteProblem:
        """Copy with a bandwidth, in the precision of the stages after the baseline.

        "auto" casts features to float32, since they lie in [-1, 1]. It also casts points if float32 holds them
        exactly, or holds every phase of the kernel's frequencies. "float64" casts nothing down.
        """
        parts = [getattr(self, name) for name in PARTS]
        if precision == "float64":
            dtype, feature_dtype = np.dtype(np.float64), np.float64
        else:
            norm = max(largest_norm(part.X) for part in parts)
            phase = norm * _largest_frequency_norm(gamma, self.n_columns)
            dtype, feature_dtype = phase_dtype(np.dtype(np.float32), phase), np.float32
            if all(_fits_float32(part.X) for part in parts):
                dtype = np.dtype(np.float32)  # `phases` chooses its precision block by block
        parts = [Part(part.X.astype(dtype, copy=False), part.y) for part in parts]
        return replace(self, **dict(zip(PARTS, parts, strict=True)), gamma=gamma, feature_dtype=feature_dtype)

    @property
    def n_rows(self) -> int:
        return sum(len(getattr(self, name).y) for name in PARTS)

    def some_training_rows(self, max_rows: int | None, purpose: str) -> Part:
        """Return at most `max_rows` random training rows, in their order.

        Raises
        ------
        ValueError
            If they hold one class only.
        """
        rows = self.draw_rows(purpose, len(self.train.y), max_rows)
        if isinstance(rows, slice):
            return self.train
        sampled = Part(self.train.X[rows], self.train.y[rows])
        if sampled.y.all() or not sampled.y.any():
            raise ValueError(f"{max_rows} training rows drawn at random hold one class only; more rows are needed.")
        return sampled

    def best_errors(
        self, path: tuple[np.ndarray, np.ndarray], features: Callable[[str, slice], np.ndarray], Cs: Sequence[float]
    ) -> dict[str, float]:
        """Return C and errors of the SVM on a path over `Cs` with the fewest validation errors; the first on a tie.

        `features(part, rows)` returns the features of some rows of a part; calls ask for few rows at a time.
        """
        coef, intercept = path

        def error_rates(name: str, chosen: slice) -> np.ndarray:
            y = getattr(self, name).y
            rows_at_once = max(1, _DECISION_ENTRIES // coef.shape[1])
            count = np.zeros(len(intercept[chosen]), dtype=np.int64)
            for start in range(0, len(y), rows_at_once):
                rows = slice(start, start + rows_at_once)
                decision = linear_svm_decision(features(name, rows), coef[chosen], intercept[chosen])
                count += ((decision > 0) != y[rows]).sum(axis=1)
            return count / len(y)

        on_valid = error_rates("valid", slice(None))
        best = int(np.argmin(on_valid))
        chosen = slice(best, best + 1)
        return {
            "C": Cs[best],
            "train_error": float(error_rates("train", chosen)[0]),
            "valid_error": float(on_valid[best]),
            "test_error": float(error_rates("test", chosen)[0]),
        }


def _checked_parts(split: Split, classes) -> dict[str, Part]:
    d = np.shape(split.X_train)[1] if np.ndim(split.X_train) == 2 else None
    parts = {}
    for name in PARTS:
        X = as_points(getattr(split, f"X_{name}"), f"X_{name}", n_features=d)
        y = np.asarray(getattr(split, f"y_{name}"))
        as_labels(y, X.shape[0], f"y_{name}", min_classes=1)
        if not np.isin(y, classes).all():
            raise ValueError(f"y_{name} holds a label that y_train does not; both need the same two classes.")
        parts[name] = Part(X, y == classes[1])
    return parts


def _largest_frequency_norm(gamma: float, d: int) -> float:
    """Bound ||omega||, omega from N(0, 2 gamma I): one draw exceeds the bound with probability e^-50.

    A chi-square of d degrees of freedom exceeds d + 2 sqrt(d t) + 2t at most at rate e^-t (Laurent and Massart 2000).
    """
    t = 50.0
    return float(np.sqrt(2 * gamma * (d + 2 * np.sqrt(d * t) + 2 * t)))


def _fits_float32(X) -> bool:
    """Return whether float32 holds every value exactly, such as whole numbers up to 2^24."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())
