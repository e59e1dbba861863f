"""Printed numbers of a paper compared with reruns: the mean over random splits, and an interval for one more split.

The interval shows whether a single printed number differs by more than chance.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

__all__ = ["AGREEMENTS", "compared"]

AGREEMENTS = ("not in the paper", "not known yet", "within the spread of splits", "paper lower", "paper higher")


def compared(reruns: pd.DataFrame, paper: pd.DataFrame, by: list[str], rounding: float = 5e-5) -> pd.DataFrame:
    """Test errors of the paper and of reruns, with beta, rho or D chosen on validation for each split.

    Parameters
    ----------
    reruns : DataFrame
        Result rows, with the columns `by`. Among rows with equal values of `by`, validation chooses one for each
        split; of equal validation errors the first, so they must be in the order of `tables.to_frame`.
    paper : DataFrame
        With the columns `by` and test_error.
    by : list of str
        Columns that identify a number of the paper.
    rounding : float
        Half a unit of the last printed digit, ignored in comparisons.

    Returns
    -------
    DataFrame
        With the columns `by`; `paper`; `published`, the rerun on the published split; `tied_low` and `tied_high`, the
        smallest and largest error among the settings whose validation errors tie with the chosen one; over random
        splits the mean `mean`, the half-width `half_width` of its 95 % interval, that of a 95 % interval for one more
        split, `spread`, and their number `splits`; and `agreement`, one of `AGREEMENTS`, by the position of the
        paper's number relative to the interval for one more split. Unknown values are missing. Errors are fractions.
    """
    chosen = _chosen(reruns, by)
    published = chosen[chosen["split"] == "published"].groupby(by, as_index=False).first()
    published = published[[*by, "test_error", "tied_low", "tied_high"]].rename(columns={"test_error": "published"})
    random = chosen[chosen["split"] == "random"].groupby(by)["test_error"]
    found = random.agg(mean="mean", deviation="std", splits="size").reset_index()
    reach = student_t.ppf(0.975, (found["splits"] - 1).clip(lower=1)) * found["deviation"]
    found["half_width"] = reach / np.sqrt(found["splits"])
    found["spread"] = reach * np.sqrt(1 + 1 / found["splits"])
    result = paper.rename(columns={"test_error": "paper"})
    for other in (published, found.drop(columns="deviation")):
        result = result.merge(_same_types(other, result, by), on=by, how="outer", sort=False)
    return result.assign(agreement=_agreement(result, rounding))


def _agreement(found: pd.DataFrame, rounding: float) -> np.ndarray:
    above = found["paper"] - found["mean"]
    outside = above.abs() > found["spread"] + rounding
    unprinted, unknown, within, lower, higher = AGREEMENTS
    cases = [found["paper"].isna(), found["spread"].isna(), ~outside, above < 0]
    return np.select(cases, [unprinted, unknown, within, lower], higher)


def _chosen(reruns: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The row that validation chooses for each number and split, and the test errors of those that tie with it."""
    one = [*by, "split", "repeat"]
    fewest = reruns.groupby(one, dropna=False)["valid_error"].transform("min")
    ties = reruns[reruns["valid_error"] == fewest].groupby(one, dropna=False, sort=False)["test_error"]
    return ties.agg(test_error="first", tied_low="min", tied_high="max").reset_index()


def _same_types(frame: pd.DataFrame, like: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    return frame.astype({name: like[name].dtype for name in by})
