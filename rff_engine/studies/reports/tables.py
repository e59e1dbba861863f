"""Tables of result rows: choice by validation error, the curves of the figures, CSV.

Rows are dictionaries, as `run` yields them, or a DataFrame of the same columns. Nothing is run or drawn here.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from scipy.stats import t as student_t

from ..feature_methods import METHODS
from ..problem import COLUMNS, Row

_METHODS = ("svm", "rff", "pbrff", "okrff", "rbf_landmarks", "pb_landmarks", *METHODS)
_ORDER = ["dataset", "split", "repeat", "method", "landmarks", "share", "D", "beta", "rho"]
_UNITS = ("dataset", "split", "repeat", "method", "landmarks", "share", "D")


def to_frame(rows: Iterable[Row] | pd.DataFrame) -> pd.DataFrame:
    """Return a DataFrame with the 17 columns of a result, sorted by settings; raise a ValueError if one is missing.

    The order is data set, split, repeat, method, landmarks, share, D, beta, rho. D is a nullable integer; what does not
    apply is missing.
    """
    frame = pd.DataFrame(rows if isinstance(rows, pd.DataFrame) else list(rows))
    if frame.empty:
        frame = pd.DataFrame(columns=list(COLUMNS))
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise ValueError(f"rows lack the column {missing[0]!r}; result rows have {', '.join(COLUMNS)}.")
    floats = ["share", "beta", "rho", "gamma", "C", "train_error", "valid_error", "test_error", "seconds"]
    types = {**dict.fromkeys(floats, "float64"), "D": "Int64"}
    frame = frame[list(COLUMNS)].astype(types)
    return frame.sort_values(_ORDER, key=_rank, kind="stable", ignore_index=True)


def _rank(values: pd.Series) -> pd.Series:
    if values.name != "method":
        return values
    return values.map({method: i for i, method in enumerate(dict.fromkeys(_METHODS))}).fillna(len(_METHODS))


def best_by_validation(rows: Iterable[Row] | pd.DataFrame, over: tuple[str, ...] = ("beta", "rho")) -> pd.DataFrame:
    """Choose the smallest validation error of each dataset, split, repeat, method, selection, share and D.

    Ties go to the smallest D, then the smallest beta or rho, in any order of the rows: the first of the papers' grids.
    `over` has the columns to choose over. ``("beta", "rho")`` leaves one row for each D, as in Figures 3 and 5 of
    Letarte et al. (2019). ``("beta", "rho", "D")`` leaves one for each method and share, as in Table 1 and Figures 2
    and 6.
    """
    frame = to_frame(rows)
    for name in over:
        if name not in ("beta", "rho", "D"):
            raise ValueError(f"over contains {name!r}; allowed are 'beta', 'rho' and 'D'.")
    units = [unit for unit in _UNITS if unit not in over]
    units += [setting for setting in ("beta", "rho") if setting not in over]
    ordered = frame.sort_values("valid_error", kind="stable")
    first = ordered.groupby(units, dropna=False, sort=False, observed=True).head(1)
    return first.sort_index().reset_index(drop=True)


def error_by_features(rows: Iterable[Row] | pd.DataFrame) -> pd.DataFrame:
    """Return test error by number of features; validation chooses beta and rho (Letarte et al. 2019, Figure 5).

    Rows are of runs of a `FeatureSweep`. The columns are dataset, method, D, and the columns of `_mean_error`; "svm"
    has no D.
    """
    return _mean_error(best_by_validation(rows), ["dataset", "method", "D"])


def error_by_share(rows: Iterable[Row] | pd.DataFrame) -> pd.DataFrame:
    """Return test error by share of landmarks; validation chooses beta and D (Letarte et al. 2019, Figure 6).

    Rows are of runs of a `LandmarkStudy`. The columns are dataset, method, landmarks, share, and the columns of
    `_mean_error`; "svm" has no share.
    """
    best = best_by_validation(rows, over=("beta", "rho", "D"))
    return _mean_error(best, ["dataset", "method", "landmarks", "share"])


def to_csv(rows: Iterable[Row] | pd.DataFrame) -> str:
    """Write rows as CSV, with a header; what does not apply is empty."""
    return to_frame(rows).to_csv(index=False, lineterminator="\n")


def _mean_error(best: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return means of test_error and train_error over runs, their number, and test_error's half-width (95 %).

    Errors are fractions. A single run has no half-width.
    """
    means = (
        best.groupby(by, dropna=False, sort=False)
        .agg(
            test_error=("test_error", "mean"),
            half_width=("test_error", "sem"),
            train_error=("train_error", "mean"),
            runs=("test_error", "size"),
        )
        .reset_index()
    )
    # Student's t, since runs are few.
    means["half_width"] *= student_t.ppf(0.975, (means["runs"] - 1).clip(lower=1))
    return means
