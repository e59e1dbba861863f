"""The tables and figures of the papers, rerun: what is to be run, and the paper's numbers beside ours.

Those of Letarte et al. (2019) are here; for those of Li et al. (2019) this asks `reproduction_li`.
A number of the paper is one draw of frequencies on one split. Beside it stand a rerun on the same split, and the mean
over random splits with the spread of a single one: by that a difference can be judged. Nothing is run or drawn here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from .._validation import check_choice
from . import reproduction_li as li
from ._beside_paper import AGREEMENTS, compared
from .protocols import FeatureSweep, LandmarkStudy, RunSpec
from .report import to_frame
from .store import Store

__all__ = [
    "AGREEMENTS",
    "COLUMNS_OF_TABLE_1",
    "DATASETS",
    "NOTES",
    "SHIPPED",
    "TARGETS",
    "beside_paper",
    "compared",
    "datasets_of",
    "figure",
    "known_rows",
    "specs",
    "table_1",
]

DATASETS = ("ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56")
TARGETS = {
    "table1": LandmarkStudy,
    "figure2": LandmarkStudy,
    "figure3": FeatureSweep,
    "figure5": FeatureSweep,
    "figure6": LandmarkStudy,
    **li.TARGETS,
}
"""The tables and figures that can be rerun, and by what protocol; Figures 2 and 3 show some data sets of 6 and 5"""

SHIPPED = Path(__file__).parent / "reference" / "reruns.sqlite"
"""The store of finished reruns that travels with the repository"""

# How many random splits: few where n is large, or d.
_REPEATS = {"adult": 5, "farm": 5}
_USUAL_REPEATS = 10
# Of adult's 26048 training rows a run takes hours on the whole grid. C and gamma of the SVM are chosen on some of them;
# the machine of the choice is trained on all.
_ADULT_SVM_ROWS = 2000
_ADULT_D = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100, 200, 300, 500, 1000, 2000)
# Random splits of these thousands of rows have the landmarks of Table 1 alone.
_MANY_ROWS = ("adult", "mnist17", "mnist49", "mnist56")

COLUMNS_OF_TABLE_1 = {
    "svm": "SVM",
    "rbf": "RBF",
    "pb": "PB",
    "pb_beta_1": "PB, β = 1",
    "pb_d_64": "PB, D = 64",
}
_STOPPED = "The published code's solver stops before; with it they err about as often as printed (errata, 7)."
NOTES = {
    "ads": "Learned landmarks (PB) come out as printed. Those of the prior (RBF) do not: with the SVM brought to its "
    f"minimum they err less than a third as often, and less than PB. {_STOPPED}",
    "adult": "One column reaches a million and more and nothing is scaled, so even the widest kernel of the grid sees "
    "hardly more than this column. Learned landmarks find frequencies that leave it out. They err less than printed: "
    "these similarities hardly differ from point to point, so C has to be large, and then the published code's solver "
    "stops before the minimum (errata, 7). With columns standardised all methods err less, and nearly alike.",
    "breast": "One error among 143 test points is 0.7 points, and the paper's split is kinder than most: a difference "
    "of a few points is chance. So is the choice among settings that tie on 86 validation points.",
    "farm": "Learned landmarks (PB) come out as printed. Those of the prior (RBF) err less than printed, and less than "
    f"PB. {_STOPPED}",
    "mnist17": "PB comes out as printed, give or take the points that tied settings differ in. Landmarks of the prior "
    f"(RBF) err less than printed, and about as often as PB. {_STOPPED}",
    "mnist49": "PB errs as printed over random splits. Landmarks of the prior (RBF) err less than printed, and less "
    f"than PB, where the paper has it the other way round. {_STOPPED}",
    "mnist56": "Differences are of a few points among 3298. As in the paper RBF errs less than PB; it errs a little "
    f"less than printed. {_STOPPED}",
}
"""What drives the difference on a data set, as far as the reruns show it"""
_TABLE_1_SHARE = 0.10
_FIGURE_TARGETS = ("figure2", "figure3", "figure5", "figure6")
_REFERENCE = Path(__file__).parent / "reference"
_FIGURES = {
    LandmarkStudy: ("figures_2_and_6.csv", ["method", "landmarks", "share"]),
    FeatureSweep: ("figures_3_and_5.csv", ["method", "D"]),
}


def datasets_of(target: str) -> tuple[str, ...]:
    """The data sets of a table or figure, in the paper's order."""
    return li.DATASETS if check_choice(target, "target", tuple(TARGETS)) in li.TARGETS else DATASETS


def specs(target: str, datasets=None, scaled=()) -> list[RunSpec]:
    """The runs behind a table or figure: for each data set the published split, then random ones.

    Parameters
    ----------
    target : str
        One of `TARGETS`.
    datasets : sequence of str, optional
        Of `datasets_of` the target; by default all.
    scaled : sequence of str
        Those of them whose columns are standardised, which Letarte et al. do not do, and Li et al. always.

    Returns
    -------
    list of RunSpec
        Random splits are run on coarser grids, adult on the published split as well; the specs say on which.

    Raises
    ------
    ValueError
        If the target, or a data set, is none of the paper's.
    """
    datasets = datasets_of(target) if datasets is None else datasets
    if target in li.TARGETS:
        return li.specs(target, datasets)
    found, kind = [], TARGETS[target]
    for name in datasets:
        check_choice(name, "dataset", DATASETS)
        preset, usual = "paper", {"scaling": "standard" if name in scaled else "none"}
        if name == "adult":
            preset = "splits"
            usual |= {"max_train_svm": _ADULT_SVM_ROWS, "refit_svm": True}
        published, random = usual.copy(), usual.copy()
        if name == "adult" and kind is FeatureSweep:
            published["n_features"] = _ADULT_D
        if kind is LandmarkStudy and name in _MANY_ROWS:
            random["selections"] = ("clustering",)
        found.append(RunSpec(kind.preset(preset, **published), name, "published"))
        repeats = _REPEATS.get(name, _USUAL_REPEATS)
        found.append(RunSpec(kind.preset("splits", **random), name, "random", repeats))
    return found


def known_rows(store: Store, target: str, datasets=None, scaled=()) -> list[dict]:
    """The rows behind a table or figure that a store holds; see `specs`."""
    return [row for spec in specs(target, datasets, scaled) for row in store.rows(spec)]


def beside_paper(target: str, rows) -> pd.DataFrame:
    """`table_1`, `figure` or, of Li et al., `reproduction_li.table`, whichever the target is."""
    if target in li.TARGETS:
        return li.table(target, rows)
    return table_1(rows) if target == "table1" else figure(target, rows)


def table_1(rows) -> pd.DataFrame:
    """Table 1 of the paper beside ours: 10 % of the training rows as landmarks, chosen by clustering.

    Parameters
    ----------
    rows : iterable of dict, or DataFrame
        Of landmark studies, on the published and on random splits.

    Returns
    -------
    DataFrame with columns dataset, column, and those of `compared`
        `column` is one of `COLUMNS_OF_TABLE_1`.
    """
    frame = to_frame(rows)
    centroids = frame[(frame["landmarks"] == "clustering") & np.isclose(frame["share"], _TABLE_1_SHARE)]
    learned = centroids[centroids["method"] == "pb_landmarks"]
    cells = {
        "svm": frame[frame["method"] == "svm"],
        "rbf": centroids[centroids["method"] == "rbf_landmarks"],
        "pb": learned,
        "pb_beta_1": learned[learned["beta"] == 1.0],
        "pb_d_64": learned[learned["D"] == 64],
    }
    ours = pd.concat([cell.assign(column=column) for column, cell in cells.items()])
    # The same baseline may stand in several runs.
    ours = ours.drop_duplicates(["column", "dataset", "split", "repeat", "D", "beta"])
    return compared(ours, pd.read_csv(_REFERENCE / "table_1.csv"), ["dataset", "column"])


def figure(target: str, rows) -> pd.DataFrame:
    """Figures 2 and 6, or 3 and 5, of the paper beside ours.

    Parameters
    ----------
    target : str
        "figure2", "figure3", "figure5" or "figure6".
    rows : iterable of dict, or DataFrame
        Of landmark studies, or of feature sweeps, on the published and on random splits.

    Returns
    -------
    DataFrame with columns dataset, method, landmarks and share, or D, and those of `compared`
        The paper's numbers were measured off its images.

    Raises
    ------
    ValueError
        If the target is not a figure.
    """
    check_choice(target, "target", _FIGURE_TARGETS)
    file, by = _FIGURES[TARGETS[target]]
    paper = pd.read_csv(_REFERENCE / file)
    frame = to_frame(rows)
    frame = frame[frame["method"] != "svm"]
    return compared(frame, paper, ["dataset", *by])
