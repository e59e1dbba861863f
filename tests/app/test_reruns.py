"""The page Paper against rerun: what it says of the reruns that ship is so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pages.components import rerun_results
from rff_engine.experiments import reproduction
from rff_engine.experiments.store import Store

# Errors of the RBF SVM on the published split, of so many test points; the paper prints these numbers.
SVM = {
    "ads": (25, 820),
    "breast": (7, 143),
    "farm": (120, 1036),
    "mnist17": (13, 3793),
    "mnist49": (40, 3446),
    "mnist56": (18, 3298),
}


@pytest.fixture(scope="module")
def shipped():
    with Store(reproduction.SHIPPED, read_only=True) as store:
        yield store


@pytest.mark.parametrize("target", ["table1", "figure5"])
def test_every_rerun_that_ships_is_whole(shipped, target):
    for spec in reproduction.specs(target):
        info = shipped.find(spec)
        assert info is not None and info.finished, spec.run_id
        assert shipped.provenance(spec)
    scaled, _ = reproduction.specs(target, ["adult"], scaled=["adult"])
    assert shipped.find(scaled).finished


def test_the_svm_column_is_the_papers_to_the_digit(shipped):
    table = reproduction.table_1(reproduction.known_rows(shipped, "table1")).set_index(["dataset", "column"])
    for name, (errors, n) in SVM.items():
        cell = table.loc[name, "svm"]
        assert cell["published"] == pytest.approx(errors / n) and round(cell["published"], 4) == cell["paper"]
    assert table.loc["adult", "svm"]["published"] == pytest.approx(0.1970, abs=0.001)


def table(cells):
    """A Table 1 of some data sets: by name, paper and mean of PB, of RBF, and the half-width of an interval."""
    rows = [
        {"dataset": name, "column": column, "paper": paper, "mean": mean, "half_width": half, "agreement": said}
        for name, columns in cells.items()
        for column, (paper, mean, half, said) in columns.items()
    ]
    return pd.DataFrame(rows)


def test_agreement_counts_numbers_and_orders():
    within, lower, unknown = "within the spread of splits", "paper lower", "not known yet"
    found = table(
        {
            "a": {"pb": (0.10, 0.11, 0.02, within), "rbf": (0.20, 0.23, 0.02, within)},
            "b": {"pb": (0.10, 0.30, 0.02, lower), "rbf": (0.20, 0.20, 0.02, within)},
            "c": {"pb": (0.30, 0.10, 0.02, "paper higher"), "rbf": (0.20, 0.20, 0.02, within)},
            "d": {"pb": (0.10, np.nan, np.nan, unknown), "rbf": (0.20, np.nan, np.nan, unknown)},
        }
    )
    seen = rerun_results.agreement(found)
    assert (seen.within, seen.known, seen.in_mean) == (4, 6, 3)
    assert seen.better == ("a", "b", "d") and seen.better_here == ("a",)


def test_ties_are_counted_where_there_is_a_choice():
    found = pd.DataFrame({"tied_low": [0.1, 0.2, np.nan], "tied_high": [0.1, 0.25, np.nan]})
    seen = rerun_results.ties(found)
    assert seen[:2] == (2, 1) and seen.largest == pytest.approx(0.05)


def test_differences_are_in_percent_at_the_features_of_the_table():
    found = pd.DataFrame(
        {
            "dataset": ["a", "a", "b"],
            "method": "rff",
            "D": pd.array([5, 6, 5], dtype="Int64"),
            "paper": [0.10, 0.2, 0.3],
            "published": [0.12, 0.2, 0.3],
            "mean": [0.11, 0.2, 0.3],
            "spread": [0.05, 0.2, 0.3],
        }
    )
    (row,) = rerun_results.differences(found, "a").to_dict("records")
    assert row == {"method": "rff", "D": 5, "paper": 10, "published": 12, "difference": 2, "mean": 11, "spread": 5}
