"""Tables 2 and 3 of Li et al. (2019): their runs, and the paper's numbers with the reruns.

No split of that paper is published, so each of its numbers is compared with the mean over random splits, each with its
own draw of frequencies. Nothing is run or drawn here.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..._validation import check_choice
from ..studies.feature_methods import METHODS
from ..studies.protocols import FeatureComparison, KernelApproximation, RunSpec
from .comparison import compared
from .tables import to_frame

__all__ = [
    "DATASETS",
    "HEADINGS",
    "METHODS_OF",
    "NOTES",
    "REGRESSIONS",
    "SIZES",
    "TARGETS",
    "sizes",
    "specs",
    "table",
    "units",
]

DATASETS = ("wine", "parkinson_motor", "cpu", "a9a", "covtype", "mnist01")
REGRESSIONS = ("wine", "parkinson_motor", "cpu")
"""Data sets whose errors in Table 3 are root mean squares; those of the others are fractions"""
TARGETS = {"li-table2": KernelApproximation, "li-table3": FeatureComparison}
METHODS_OF = {target: kind().methods for target, kind in TARGETS.items()}
"""Methods of each table: those of the paper and some others"""
SIZES = (50, 100, 200)
"""Numbers of frequencies in Table 2; Table 3 has the last"""
NOTES = {
    "halton, sobol": "The paper's generator skips points and leaps over others; the one here does neither.",
    "moment_matching": "With no more frequencies than dimensions the covariance that the method whitens with is "
    "singular. Here only mean and scale are matched then, and the rows say so; errors near 1 are printed only where r "
    "is below the dimension.",
    "lattice": "The paper's generator ends at 250 dimensions, so it has no number for MNIST.",
    "nearest": "CLUSTER with the row nearest to each centroid, which the paper proposes and does not tabulate.",
    "nystroem, nystroem_kmeans": "r landmarks give r features, not 2 r.",
    "parkinson_motor": "The paper does not say which score is the target. With the motor score Monte Carlo errs as "
    "printed; with the total one, the data set parkinson, about a third more.",
    "covtype": "Splits of 58101 rows drawn at random, as many as the paper has.",
    "a9a": "The publisher's test rows are the test rows of all repeats: only the frequencies and landmarks differ.",
    "mnist01": "14780 rows, split 2:1 at random.",
}
"""Differences from the paper, and other notes on a method or data set"""

HEADINGS = {
    "li-table2": "Table 2: relative error of the kernel matrix, r = {}",
    "li-table3": "Table 3: error of linear models on test rows, r = {}",
}
"""Formats of headings, for the number of frequencies"""

_REFERENCE = Path(__file__).parent / "data"
_REPEATS = 10
_ROWS_OF = {"covtype": 58101}
# Large data sets take most of the time: they have fewer repeats, or fewer folds of the cross-validation.
_LARGE = ("a9a", "covtype", "mnist01")
_FEWER = {"li-table2": {"repeats": 5}, "li-table3": {"folds": 3}}


def specs(target: str, datasets=DATASETS) -> list[RunSpec]:
    """The runs behind a table, one for each data set.

    Parameters
    ----------
    target : {"li-table2", "li-table3"}
    datasets : sequence of str
        Of the paper's six, `DATASETS`.

    Returns
    -------
    list of RunSpec

    Raises
    ------
    ValueError
        If the target, or a data set, is none of the paper's.
    """
    kind, found = TARGETS[check_choice(target, "target", tuple(TARGETS))], []
    for name in datasets:
        check_choice(name, "dataset", DATASETS)
        changes = dict(_FEWER[target]) if name in _LARGE else {}
        repeats = changes.pop("repeats", _REPEATS)
        found.append(RunSpec(kind.preset("paper", max_rows=_ROWS_OF.get(name), **changes), name, repeats=repeats))
    return found


def sizes(target: str) -> tuple[int, ...]:
    """Numbers of frequencies r in a table."""
    return SIZES if target == "li-table2" else SIZES[-1:]


def units(target: str) -> dict[str, str]:
    """Unit of the errors of a table on each data set: "relative", "rmse" or "percent"."""
    if target == "li-table2":
        return dict.fromkeys(DATASETS, "relative")
    return {name: "rmse" if name in REGRESSIONS else "percent" for name in DATASETS}


def table(target: str, rows) -> pd.DataFrame:
    """A table of the paper and its reruns.

    Parameters
    ----------
    target : {"li-table2", "li-table3"}
    rows : iterable of dict, or DataFrame
        Of the runs of `specs`.

    Returns
    -------
    DataFrame with columns dataset, D, method, and those of `comparison.compared`
        D is r. Errors of Table 2 are relative, on the training rows; those of Table 3 are root mean squares on
        `REGRESSIONS`, else fractions, on test rows, with beta or rho chosen by cross-validation. For methods that are
        not in the paper its number is missing.

    Raises
    ------
    ValueError
        If the target is none of the paper's.
    """
    check_choice(target, "target", tuple(TARGETS))
    number = target.removeprefix("li-table")
    paper = pd.read_csv(_REFERENCE / f"li_table_{number}.csv").rename(columns={"error": "test_error"})
    reruns, by = to_frame(rows), ["dataset", "D", "method"]
    if target == "li-table2":
        reruns["test_error"] = reruns["train_error"]
        found = compared(reruns, paper, by, rounding=0.005)
    else:
        # RMSE is printed to 0.001, errors to 0.01 points, those of MNIST to 0.001.
        regression = [frame["dataset"].isin(REGRESSIONS) for frame in (reruns, paper)]
        parts = [
            compared(reruns[rerun_kind], paper[paper_kind], by, rounding)
            for rerun_kind, paper_kind, rounding in (
                (*regression, 0.0005),
                (~regression[0], ~regression[1], 0.00005),
            )
        ]
        found = pd.concat(parts, ignore_index=True)
    order = [found["dataset"].map(DATASETS.index), found["D"], found["method"].map(list(METHODS).index)]
    keys = pd.concat(order, axis=1, keys=["dataset", "D", "method"])
    return found.loc[keys.sort_values(["dataset", "D", "method"]).index].reset_index(drop=True)
