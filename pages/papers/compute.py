"""Errors printed by Letarte et al. (2019) or Li et al. (2019), and errors of the reruns in this repository.

They are fractions, except for the relative errors of "li-table2" and the root mean squares of "li-table3".

After `pip install ".[experiments]" ./datasets/data` in a copy of the repository, from any folder:
python compute.py [errors.csv]
"""

from __future__ import annotations

import sys

import pandas as pd

from rff_engine.studies.reports import reproduction
from rff_engine.studies.running.store import Store

#: The methods that Li et al. (2019) propose.
LEARNED = ("sample", "cluster", "supervise")


def beside_paper(target: str) -> pd.DataFrame:
    """Compare a table or figure of a paper with its reruns, see `reproduction.compare_with_paper`."""
    with Store(reproduction.SHIPPED, read_only=True) as store:
        return reproduction.compare_with_paper(target, reproduction.known_rows(store, target))


def made_by(target: str) -> pd.DataFrame:
    """Read settings, time and provenance of each finished run behind a table or figure."""
    with Store(reproduction.SHIPPED, read_only=True) as store:
        return reproduction.provenance(store, reproduction.specs(target))


def numbers(target: str, dataset: str, r: int) -> pd.DataFrame:
    """Return the rows of one figure, of one number of frequencies, or of the whole table."""
    return rows_of(beside_paper(target), target, dataset, r)


def rows_of(comparison: pd.DataFrame, target: str, dataset: str, r: int) -> pd.DataFrame:
    """Return those rows of a comparison."""
    if target == "li-table2":
        return comparison[comparison["D"] == r]
    return comparison if target in ("table1", "li-table3") else comparison[comparison["dataset"] == dataset]


def closeness(comparison: pd.DataFrame) -> tuple[int, int, list[str], list[str]]:
    """Count the numbers of Li et al. (2019) with a rerun, and those from which its mean differs by at most a third.

    Return also the data sets with reruns of several methods, and those of them on which one of `LEARNED` has the
    lowest mean of the paper's methods.
    """
    known = comparison[comparison["paper"].notna() & comparison["mean"].notna()]
    near = (known["mean"] - known["paper"]).abs() <= known["paper"] / 3
    several = [(name, cells) for name, cells in known.groupby("dataset", sort=False) if len(cells) > 1]
    least = [name for name, cells in several if cells.loc[cells["mean"].idxmin(), "method"] in LEARNED]
    return len(known), int(near.sum()), [name for name, _ in several], least


def orders(comparison: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Find the data sets on which PB is below RBF in Table 1, and those of them on which means over splits agree."""
    by_name = comparison.pivot(index="dataset", columns="column", values=["paper", "mean"])
    better = by_name.index[by_name["paper"]["pb"] < by_name["paper"]["rbf"]]
    here = by_name.index[by_name["mean"]["pb"] < by_name["mean"]["rbf"]]
    return list(better), list(better.intersection(here))


if __name__ == "__main__":
    # The experiment
    target = "table1"  # or "figure2", "figure3", "figure5", "figure6", "li-table2", "li-table3"
    dataset = "breast"  # that of a figure; a table has all
    r = 200  # frequencies, of "li-table2"

    table = numbers(target, dataset, r)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
