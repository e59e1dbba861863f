"""The finished reruns that travel with the repository, beside the paper's numbers: read once, kept for all sessions."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import streamlit as st

from rff_engine.experiments import reproduction
from rff_engine.experiments.html_report import provenance
from rff_engine.experiments.store import Store

#: The features that a figure's table names.
TABLED_D = (1, 5, 10, 20, 50, 100, 200, 500, 1000)
#: The methods that Li et al. (2019) propose.
LEARNED = ("sample", "cluster", "supervise")


def _shipped() -> Store:
    return Store(reproduction.SHIPPED, read_only=True)


@st.cache_data(max_entries=8, show_spinner=False)
def beside_paper(target: str, scaled: tuple[str, ...]) -> pd.DataFrame:
    """A table or figure of a paper and its reruns, see `reproduction.beside_paper`."""
    with _shipped() as store:
        return reproduction.beside_paper(target, reproduction.known_rows(store, target, scaled=scaled))


@st.cache_data(max_entries=8, show_spinner=False)
def made_by(target: str, scaled: tuple[str, ...]) -> pd.DataFrame:
    """Of each finished run behind a table or figure: what was run, the time it took, what made it."""
    with _shipped() as store:
        return provenance(store, reproduction.specs(target, scaled=scaled))


class Closeness(NamedTuple):
    known: int
    """Numbers of the paper that ours stand beside"""
    near: int
    """Those that our mean is within a third of"""
    best: tuple[str, ...]
    """Data sets whose rerun is known for several methods"""
    best_learned: tuple[str, ...]
    """Those of them on which SAMPLE, CLUSTER or SUPERVISE has the least mean of the methods that the paper has"""


def closeness(found: pd.DataFrame) -> Closeness:
    """How the means of reruns lie to what Li et al. (2019) print."""
    known = found[found["paper"].notna() & found["mean"].notna()]
    near = (known["mean"] - known["paper"]).abs() <= known["paper"] / 3
    several = [(name, cells) for name, cells in known.groupby("dataset", sort=False) if len(cells) > 1]
    least = [name for name, cells in several if cells.loc[cells["mean"].idxmin(), "method"] in LEARNED]
    return Closeness(len(known), int(near.sum()), tuple(name for name, _ in several), tuple(least))


class Agreement(NamedTuple):
    within: int
    """Numbers of the paper within the interval for one more split"""
    known: int
    """Of how many this is known"""
    in_mean: int
    """Those within the interval of the mean over splits"""
    better: tuple[str, ...]
    """Data sets on which the paper has PB below RBF"""
    better_here: tuple[str, ...]
    """Those of them on which the mean over splits has it so as well"""


def agreement(found: pd.DataFrame) -> Agreement:
    """What Table 1 and its reruns agree on."""
    known = found[found["paper"].notna() & found["spread"].notna()]
    in_mean = (known["paper"] - known["mean"]).abs() <= known["half_width"] + 5e-5
    by_name = found.pivot(index="dataset", columns="column", values=["paper", "mean"])
    better = by_name.index[by_name["paper"]["pb"] < by_name["paper"]["rbf"]]
    here = by_name.index[by_name["mean"]["pb"] < by_name["mean"]["rbf"]]
    within = int((known["agreement"] == "within the spread of splits").sum())
    return Agreement(within, len(known), int(in_mean.sum()), tuple(better), tuple(better.intersection(here)))


class Ties(NamedTuple):
    cases: int
    """Choices by validation error on the published split"""
    moving: int
    """Those whose tied settings differ on the test points"""
    largest: float
    """The largest such difference"""


def ties(found: pd.DataFrame) -> Ties:
    width = (found["tied_high"] - found["tied_low"]).dropna()
    return Ties(len(width), int((width > 0).sum()), float(width.max()) if len(width) else 0.0)


def differences(found: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Of Figures 3 and 5, on a data set: paper, ours and what lies between, in percent, at some D."""
    rows = found[(found["dataset"] == dataset) & found["D"].isin(TABLED_D)]
    table = rows[["method", "D", "paper", "published", "mean", "spread"]].copy()
    table["difference"] = table["published"] - table["paper"]
    errors = ["paper", "published", "mean", "spread", "difference"]
    table[errors] = (100 * table[errors]).round(2)
    return table[["method", "D", "paper", "published", "difference", "mean", "spread"]]
