"""Printed numbers of a paper compared with reruns: is a difference chance of the draw, of the split, or neither?

Reruns on one split differ by the draw of frequencies and landmarks; reruns on random splits differ by both. For each of
the two there is a mean and an interval for one more rerun. A printed number outside both needs a cause, which a rerun
of that cause has to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

AGREEMENTS = (
    "not in the paper",
    "not known yet",
    "inside the spread of draws",
    "inside the spread of splits",
    "paper lower",
    "paper higher",
)
OUTSIDE = AGREEMENTS[4:]
"""Of a number outside both spreads"""

RARE_DRAW, RARE_SPLIT = "a rare draw", "a rare split"
"""Causes that more reruns of the method itself show; a rare split has its own draw"""

_LEVEL = 0.95  # level of the intervals for one more rerun


def compared(
    reruns: pd.DataFrame,
    paper: pd.DataFrame,
    by: list[str],
    rounding: float = 5e-5,
    draws: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compare errors of the paper with reruns; validation chooses beta, rho or D for each rerun.

    Parameters
    ----------
    reruns : DataFrame
        Result rows, with the columns `by`. Among rows with equal values of `by`, validation chooses one for each
        split and repeat; of equal validation errors the first, so they must be in the order of `tables.to_frame`.
    paper : DataFrame
        With the columns `by` and test_error.
    by : list of str
        Columns that identify a number of the paper.
    rounding : float
        Error of the paper's numbers, ignored in comparisons: half a unit of the last printed digit, or the error of
        reading a figure.
    draws : DataFrame, optional
        Rows of repeats that share one split and differ by the draw alone; by default the rows of `reruns` on the
        published split.

    Returns
    -------
    DataFrame
        With the columns `by`, and

        - `paper`, and `rounding` as given;
        - `published`, the first repeat on the published split, and `published_train`, its training error; `tied_low`
          and `tied_high`, the smallest and largest error among the settings whose validation errors tie with the
          chosen one;
        - of draws on one split their number `draws`, mean `draw_mean`, smallest `draw_low`, largest `draw_high`, and
          the half-width `draw_spread` of a 95 % interval for one more draw;
        - of random splits their number `splits`, mean `mean`, the half-width `half_width` of the mean's 95 %
          interval, and the half-width `spread` of a 95 % interval for one more split;
        - `chance`, the share of its own reruns that would lie outside if each in turn were the printed number and
          were judged by the others: how likely it is that chance alone leaves a number outside. It is 0.05 for two
          reruns, and 0 where there is no spread, since only a number equal to a rerun is then judged;
        - `note`, the notes of the chosen rows, such as a number of rows that a choice rests on;
        - `agreement`, one of `AGREEMENTS`: the first spread that holds the paper's number, else on which side of the
          reruns it lies. The spread of draws holds what lies between two draws as well.

        Unknown values are missing. Errors are fractions, or what the rows have.
    """
    chosen = chosen_by_validation(reruns, by)
    published = chosen[chosen["split"] == "published"]
    one_split = published if draws is None else chosen_by_validation(draws, by)
    first = published.groupby(by, as_index=False).first()
    first = first[[*by, "test_error", "train_error", "tied_low", "tied_high"]]
    first = first.rename(columns={"test_error": "published", "train_error": "published_train"})
    random = chosen[chosen["split"] == "random"]
    result = paper.rename(columns={"test_error": "paper"})
    splits = _of_splits(random, by)
    chance = _chance(one_split, random, splits if draws is None else splits.iloc[:0], by, rounding)
    for other in (first, _of_draws(one_split, by), splits, chance, _notes(pd.concat([chosen, one_split]), by)):
        result = result.merge(_same_types(other, result, by), on=by, how="outer", sort=False)
    known = result["spread"].notna() | result["draw_spread"].notna()
    return result.assign(
        note=result["note"].fillna(""),
        chance=result["chance"].fillna(known * (1 - _LEVEL)),
        rounding=rounding,
        agreement=_agreement(result, rounding),
    )


def chosen_by_validation(reruns: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the row that validation chooses for each number, split and repeat, and the test errors of its ties.

    Rows are in the order of `tables.to_frame`: the first of equal validation errors is chosen. The columns are `by`,
    which identify a number of the paper, split, repeat, test_error, train_error, note, tied_low and tied_high.
    """
    one = [*by, "split", "repeat"]
    fewest = reruns.groupby(one, dropna=False)["valid_error"].transform("min")
    ties = reruns[reruns["valid_error"] == fewest].groupby(one, dropna=False, sort=False)
    return ties.agg(
        test_error=("test_error", "first"),
        train_error=("train_error", "first"),
        note=("note", "first"),
        tied_low=("test_error", "min"),
        tied_high=("test_error", "max"),
    ).reset_index()


@dataclass(frozen=True)
class Judgement:
    """Count of a paper's numbers by where they lie relative to reruns."""

    printed: int
    """Numbers in the paper"""
    inside_draws: int
    """Inside the spread of draws"""
    inside_splits: int
    """Not there, but inside the spread of splits"""
    outside: int
    """In neither"""
    causes: dict[str, int]
    """Number of those outside by the cause that a rerun shows"""
    by_chance: float
    """Number that chance alone is expected to leave outside"""

    @property
    def judged(self) -> int:
        """Numbers that have a rerun to be compared with."""
        return self.inside_draws + self.inside_splits + self.outside

    @property
    def unexplained(self) -> int:
        """Numbers outside without a cause that a rerun shows."""
        return self.outside - sum(self.causes.values())

    def sentence(self) -> str:
        """Say the counts in words."""
        words = (
            f"Of {self.printed} printed numbers {self.judged} have reruns: {self.inside_draws} lie inside the spread "
            f"of draws, {self.inside_splits} more inside the spread of splits, {self.outside} outside"
        )
        causes = [f"{count} by {cause}" for cause, count in sorted(self.causes.items(), key=lambda item: -item[1])]
        causes += [f"{self.unexplained} without a known cause"] if self.unexplained else []
        words += f" ({', '.join(causes)})" if self.outside else ""
        return f"{words}; chance alone would leave about {self.by_chance:.0f} outside." if self.judged else f"{words}."


def judgement(comparison: pd.DataFrame) -> Judgement:
    """Count the results of a comparison of `compared` or `with_causes`."""
    outside = comparison["agreement"].isin(OUTSIDE)
    judged = outside | comparison["agreement"].isin(AGREEMENTS[2:4])
    causes = comparison.loc[outside, "cause"].dropna().value_counts() if "cause" in comparison else {}
    return Judgement(
        printed=int(comparison["paper"].notna().sum()),
        inside_draws=int((comparison["agreement"] == AGREEMENTS[2]).sum()),
        inside_splits=int((comparison["agreement"] == AGREEMENTS[3]).sum()),
        outside=int(outside.sum()),
        causes={str(cause): int(count) for cause, count in dict(causes).items()},
        by_chance=float(comparison.loc[judged, "chance"].sum()),
    )


def summary(comparison: pd.DataFrame) -> str:
    """Write a comparison as text of at most 120 columns, one line for each number.

    It is one of `with_causes`. A line identifies a number and gives the paper's value; the first rerun on its split;
    the range of the draws there; mean and standard deviation of the random splits; where the paper's number lies, and
    why. Columns without an entry are left out, and so are missing values of a number.
    """
    cells = comparison.loc[:, :"published"].rename(columns={"column": "method", "published": "rerun"})
    cells["method"] = cells["method"].str.removesuffix("_landmarks")
    if "share" in cells:
        cells["share"] = cells["share"].map("{:.2f}".format)
    for name in ("paper", "rerun"):
        cells[name] = cells[name].map(_decimals)
    ends = [comparison[name].map(_decimals) for name in ("draw_low", "draw_high")]
    cells["draws"] = (ends[0] + "–" + ends[1]).where(comparison["draws"] > 1, "")
    deviation = comparison["spread"] / _reach(1.0, comparison["splits"])
    cells["splits"] = [_mean_of(*pair) for pair in zip(comparison["mean"], deviation, strict=True)]
    lies = comparison["agreement"].str.replace("inside the spread of", "inside").str.removeprefix("paper ")
    cells["agreement"] = lies.replace({AGREEMENTS[0]: "", AGREEMENTS[1]: "not judged"})
    lines = [list(cells), *cells.assign(cause=comparison["cause"].fillna("")).astype(str).values.tolist()]
    lines[0].append("cause")
    columns = [column for column in zip(*lines, strict=True) if any(column[1:])]
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in columns]
    return "\n".join(" ".join(line).rstrip() for line in zip(*padded, strict=True))


def _decimals(error: float, like: float | None = None) -> str:
    """Format an error, by default with four decimals, or five below 0.01."""
    return "" if np.isnan(error) else f"{error:.{5 if (error if like is None else like) < 0.01 else 4}f}"


def _mean_of(mean: float, deviation: float) -> str:
    return "" if np.isnan(deviation) else f"{_decimals(mean)}±{_decimals(deviation, mean)}"


def notes(comparison: pd.DataFrame) -> list[str]:
    """List all different notes of the rows of a comparison, such as rows that a choice was made on."""
    return list(dict.fromkeys(note for notes in comparison["note"] for note in notes.split("; ") if note))


def with_causes(
    comparison: pd.DataFrame, causes: pd.DataFrame, by: list[str], again: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Compare, with causes of the numbers outside, each judged by its own rerun.

    Parameters
    ----------
    comparison : DataFrame
        As `compared` gives it.
    causes : DataFrame
        Reruns of a presumed cause, with the columns `by`, `cause`, and `error`, one row for each rerun. Several
        reruns of one number and cause are draws.
    by : list of str
        Columns that identify a number of the paper.
    again : DataFrame, optional
        More reruns of the method itself, with the same columns; their `cause` says what differs between them, the
        draw or the split.

    Returns
    -------
    DataFrame
        `comparison` with the columns

        - `again` and `as_far`, for numbers outside: how many reruns of the method itself there are, and how many of
          them lie at least as far out as the paper's number, on its side, up to rounding;
        - `cause`, for numbers outside alone, and `cause_error`, the mean error of the cause's reruns, wherever there
          are some.

        A cause holds if two things are true. The paper's number lies between its reruns, or no further from their
        mean than the largest of the spreads of draws, of splits, and of one more rerun of the cause, up to rounding. It
        is also at most half as far from that mean as from the mean of the reruns without the cause, on the same split
        if there are some. If several hold, the one with the nearest mean is given. If none does, chance is the cause if
        `as_far` is at least 1. A cause also holds if the number lies between its reruns, and of at least as many reruns
        of the method itself, from `again` or the draws, none lies as far out. Else the cause is missing.
    """
    chance = _as_far(comparison, again, by)
    pairs = _cells_with_causes(comparison, causes, by).join(chance[["again", "as_far"]], on="cell")
    between = (pairs["min"] - pairs["rounding"] <= pairs["paper"]) & (
        pairs["paper"] <= pairs["max"] + pairs["rounding"]
    )
    reach = pairs[["spread", "draw_spread", "cause_spread"]].max(axis=1).fillna(0) + pairs["rounding"]
    without = (pairs["paper"] - pairs["draw_mean"].fillna(pairs["split_mean"])).abs()
    holds = (pairs["distance"] <= without / 2) & (between | (pairs["distance"] <= reach))
    n_without = pairs[["again", "draws"]].astype(float).max(axis=1)
    never_without = between & ~(pairs["as_far"] > 0) & (n_without >= pairs["size"])
    first = [_first(pairs, holds), chance["cause"], _first(pairs, never_without)]
    names = reduce(pd.Series.combine_first, first).reindex(comparison.index).astype(object)
    shown = pd.concat([pairs[holds], pairs[never_without], pairs]).drop_duplicates("cell").set_index("cell")["mean"]
    return comparison.assign(
        cause=names.where(comparison["agreement"].isin(OUTSIDE)),
        cause_error=shown.reindex(comparison.index).astype(float),
        again=chance["again"].reindex(comparison.index),
        as_far=chance["as_far"].reindex(comparison.index),
    )


def _cells_with_causes(comparison: pd.DataFrame, causes: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return each number and cause, with mean, range and spread of the cause's reruns; the nearest mean first."""
    reruns = causes.groupby([*by, "cause"], as_index=False, sort=False)["error"].agg(
        ["mean", "min", "max", "std", "size"]
    )
    reruns["cause_spread"] = _reach(reruns["std"], reruns["size"])
    cells = comparison[[*by, "paper", "mean", "spread", "draws", "draw_mean", "draw_spread", "rounding"]]
    cells = cells.rename(columns={"mean": "split_mean"}).reset_index(names="cell")
    pairs = cells.merge(_same_types(reruns, cells, by), on=by)
    pairs["distance"] = (pairs["paper"] - pairs["mean"]).abs()
    return pairs.sort_values("distance", kind="stable")


def _first(pairs: pd.DataFrame, holds: pd.Series) -> pd.Series:
    """Return the first cause that holds for each number."""
    return pairs[holds].drop_duplicates("cell").set_index("cell")["cause"]


def _as_far(comparison: pd.DataFrame, again: pd.DataFrame | None, by: list[str]) -> pd.DataFrame:
    """Return the number of the method's own reruns, how many lie as far out as the paper's number, and their cause."""
    cells = comparison.loc[comparison["agreement"].isin(OUTSIDE), [*by, "paper", "rounding", "agreement"]]
    if again is None or again.empty or cells.empty:
        return pd.DataFrame(columns=["again", "as_far", "cause"], index=comparison.index[:0])
    pairs = cells.reset_index(names="cell").merge(_same_types(again, cells, by), on=by)
    further = pairs["error"] >= pairs["paper"] - pairs["rounding"]
    nearer = pairs["error"] <= pairs["paper"] + pairs["rounding"]
    pairs["far"] = np.where(pairs["agreement"] == OUTSIDE[0], nearer, further)
    counts = pairs.groupby("cell").agg(again=("far", "size"), as_far=("far", "sum"), cause=("cause", "first"))
    return counts.assign(cause=counts["cause"].where(counts["as_far"] > 0))


def _chance(
    one_split: pd.DataFrame, random: pd.DataFrame, splits: pd.DataFrame, by: list[str], rounding: float
) -> pd.DataFrame:
    """Return the share of a number's own reruns that would lie outside, each judged by the others.

    It uses draws on one split if there are three, judged by the spread of `splits` as well; else random splits.
    """
    draws = _left_out(one_split, by, rounding, between=True)
    spreads = draws[by].merge(_same_types(splits, draws, by), on=by, how="left")
    inside = (draws["test_error"] - spreads["mean"]).abs() <= spreads["spread"] + rounding
    draws["outside"] &= ~inside
    shares = [
        left["outside"].groupby([left[name] for name in by]).mean() for left in (draws, _left_out(random, by, rounding))
    ]
    return shares[0].combine_first(shares[1]).rename("chance").reset_index()


def _left_out(reruns: pd.DataFrame, by: list[str], rounding: float, between: bool = False) -> pd.DataFrame:
    """Return reruns in cells of three or more, and whether each lies outside the spread of the others.

    With `between`, a rerun that lies between others is inside."""
    left = reruns.groupby(by).filter(lambda cell: len(cell) >= 3)[[*by, "test_error"]].reset_index(drop=True)
    errors = left.groupby(by)["test_error"]
    n = errors.transform("size")
    distance = left["test_error"] - errors.transform("mean")
    squares = (n - 1) * errors.transform("var") - distance**2 * n / (n - 1)
    reach = _reach(np.sqrt(squares.clip(lower=0) / (n - 2)), n - 1)
    left["outside"] = distance.abs() * n / (n - 1) > reach + rounding
    if between:
        left["outside"] &= (errors.rank(method="max") == 1) | (errors.rank(method="min") == n)
    return left


def _of_draws(one_split: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return number, mean, range and spread of the repeats on one split."""
    errors = one_split.groupby(by)["test_error"]
    summary = errors.agg(draw_mean="mean", draw_low="min", draw_high="max", deviation="std", draws="size").reset_index()
    summary["draw_spread"] = _reach(summary["deviation"], summary["draws"])
    return summary.drop(columns="deviation")


def _of_splits(random: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return number, mean, its half-width and spread of random splits."""
    summary = random.groupby(by)["test_error"].agg(mean="mean", deviation="std", splits="size").reset_index()
    summary["spread"] = _reach(summary["deviation"], summary["splits"])
    summary["half_width"] = summary["spread"] / np.sqrt(summary["splits"] + 1)
    return summary.drop(columns="deviation")


def _notes(chosen: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Join all different notes."""
    notes = chosen.groupby(by, as_index=False)["note"]
    return notes.agg(lambda some: "; ".join(note for note in dict.fromkeys(some) if note))


def _reach(deviation: pd.Series, number: pd.Series) -> pd.Series:
    """Return the half-width of the 95 % interval for one more value, by Student's t."""
    return student_t.ppf((1 + _LEVEL) / 2, (number - 1).clip(lower=1)) * deviation * np.sqrt(1 + 1 / number)


def _agreement(cells: pd.DataFrame, rounding: float) -> np.ndarray:
    unprinted, unknown, by_draw, by_split, lower, higher = AGREEMENTS
    of_draws = (cells["paper"] - cells["draw_mean"]).abs() <= cells["draw_spread"] + rounding
    of_draws |= cells["paper"].between(cells["draw_low"] - rounding, cells["draw_high"] + rounding)
    of_splits = (cells["paper"] - cells["mean"]).abs() <= cells["spread"] + rounding
    known = cells["draw_spread"].notna() | cells["spread"].notna()
    middle = cells["mean"].fillna(cells["draw_mean"])
    cases = [cells["paper"].isna(), of_draws, of_splits, ~known, cells["paper"] < middle]
    return np.select(cases, [unprinted, by_draw, by_split, unknown, lower], higher)


def _same_types(frame: pd.DataFrame, like: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    return frame.astype({name: like[name].dtype for name in by})
