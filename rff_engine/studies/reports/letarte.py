"""Table 1 and Figures 2, 3, 5 and 6 of Letarte et al. (2019): their runs, and the paper's numbers with the reruns.

A number of the paper comes from one split and one draw of frequencies and landmarks. It is compared with several draws
on the same split, and with random splits, each with its own draw. Nothing is run or drawn here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import rff_datasets

from ..._validation import check_choice
from ..problem import Row
from ..protocols import TARGETS_OF_LETARTE as TARGETS, FeatureSweep, LandmarkStudy, RunSpec
from .comparison import RARE_DRAW, chosen_by_validation, compared, with_causes
from .tables import to_frame

DATASETS = ("ads", "adult", "breast", "farm", "mnist17", "mnist49", "mnist56")
OTHERS = ("digits_odd", "wine_good")
"""Sets of two classes that the paper lacks: random splits alone"""

# Numbers of random splits: fewer if n or d is large.
_REPEATS = {"adult": 5, "farm": 5}
_USUAL_REPEATS = 10
# Draws on the published split: their number, and their part of the paper's grid. Few if a draw takes long.
_DRAWS: dict[type, dict[str, tuple[int, dict[str, Any]]]] = {
    LandmarkStudy: {
        "breast": (20, {"shares": (0.01, 0.05, 0.10)}),
        "farm": (5, {"shares": (0.01,), "selections": ("random",)}),
        "mnist49": (5, {"shares": (0.01,), "selections": ("clustering",), "methods": ("rbf_landmarks",)}),
    },
    FeatureSweep: {
        "ads": (10, {"n_features": (1, 2, 5, 10)}),
        "farm": (5, {"n_features": (1, 2, 5, 10)}),
        "mnist17": (5, {"n_features": (1, 2, 5, 10)}),
    },
}
# Many draws on the published split if a number lies outside: they say how rare it is, but count in no spread.
_MANY_DRAWS: dict[type, dict[str, tuple[int, dict[str, Any]]]] = {
    FeatureSweep: {"mnist17": (25, {"n_features": (10,), "methods": ("okrff",)})}
}
# Choices of the RBF SVM on the published split, if they do not depend on the draw.
_GAMMAS = {"ads": 1e-3, "breast": 1e-5, "farm": 1e-3, "mnist17": 1e-3, "mnist49": 1e-2}
# On adult's 26048 training rows an SVM takes minutes. So some rows choose C and gamma for all other methods, and on
# random splits. On the published split they choose the same gamma as all rows; the SVM itself has its own run on all
# rows there.
_ADULT_SVM_ROWS = 2000
# On all rows the largest C takes too long at the smallest gamma.
_ADULT_SVM_CS = tuple(C for C in LandmarkStudy().Cs if C <= 1000)
_ADULT_D = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100, 200, 300, 500, 1000, 2000)
# From this many rows on, random splits have only the landmarks of Table 1.
_MANY_ROWS = ("adult", "mnist17", "mnist49", "mnist56")

COLUMNS_OF_TABLE_1 = {
    "svm": "SVM",
    "rbf": "RBF",
    "pb": "PB",
    "pb_beta_1": "PB, β = 1",
    "pb_d_64": "PB, D = 64",
}
_METHOD_OF = {
    "rbf": "rbf_landmarks",
    "pb": "pb_landmarks",
    "pb_beta_1": "pb_landmarks",
    "pb_d_64": "pb_landmarks",
}
STOPPED = "a solver that stops early"
"""The cause of most numbers outside the spreads"""
OWN_DRAW = "the published code's draw"
"""The cause of a number that the frequencies from the published code's seed give, and other draws do not"""
_STOPPED = "The published code's solver stops before; with it they err about as often as printed (errata, 7)."
NOTES = {
    "ads": "Learned landmarks (PB) err as often as printed. Those of the prior (RBF) do not: with the SVM "
    f"brought to its minimum they err less than a third as often, and less than PB. {_STOPPED}",
    "adult": "One column reaches a million and more and nothing is scaled, so even the widest kernel of the grid sees "
    "hardly more than this column. Learned landmarks find frequencies that leave it out. They err less than printed: "
    "these similarities hardly differ from point to point, so C has to be large, and then the published code's solver "
    "stops before the minimum (errata, 7). With columns standardised all methods err less, and nearly alike.",
    "breast": "One error among 143 test points is 0.7 points, and the paper's split is kinder than most: a difference "
    "of a few points is chance. So is the choice among settings that tie on 86 validation points.",
    "farm": "Learned landmarks (PB) err as often as printed. Those of the prior (RBF) err less than printed, and less "
    f"than PB. {_STOPPED}",
    "mnist17": "PB errs as often as printed, up to the points in which tied settings differ. Landmarks of the prior "
    f"(RBF) err less than printed, and about as often as PB. {_STOPPED}",
    "mnist49": "PB errs as printed over random splits. Landmarks of the prior (RBF) err less than printed, and less "
    f"than PB, where the paper has it the other way round. {_STOPPED}",
    "mnist56": "Differences are of a few points among 3298. As in the paper RBF errs less than PB; it errs a little "
    f"less than printed. {_STOPPED}",
}
"""Causes of the differences on a data set, as far as the reruns show them"""
SVM_GRID_NOTE = (
    "Validation errors of adult's RBF SVM, of 6513, trained on all 26048 rows. The fewest, at C = 1000, gamma = 1e-07, "
    "give the printed test error. Other runs on adult choose C and gamma on 2000 random rows, and say so. They find "
    "C = 1 and the same gamma: all other methods have the same kernel as with all rows, and the SVM errs on 19.77 %. "
    "C = 10000 was not run at this gamma; at any other it gives at least 1380 errors."
)
_TABLE_1_SHARE = 0.10
_FIGURE_TARGETS = tuple(target for target in TARGETS if target != "table1")
_REFERENCE = rff_datasets.BUNDLED / "reruns"
_FIGURES = {
    LandmarkStudy: ("figures_2_and_6.csv", ["method", "landmarks", "share"], 0.0005),
    FeatureSweep: ("figures_3_and_5.csv", ["method", "D"], 0.002),
}
"""File of the measured curves, the columns that identify a point, and the error of the measurement"""


def specs(target: str, datasets: Sequence[str] = DATASETS, scaled: Collection[str] = ()) -> list[RunSpec]:
    """List the runs behind a table or figure: for each data set the published split, then random ones.

    Each data set has one draw on the published split with the paper's grid, several draws there for some of the
    numbers, and random splits with coarser grids, which adult has on the published split as well. The SVM of adult is
    also run on all training rows. `reproduction.specs` explains the arguments, and raises the same errors.
    """
    check_choice(target, "target", tuple(TARGETS))
    kind = TARGETS[target]
    for name in datasets:
        check_choice(name, "dataset", (*DATASETS, *OTHERS))
    return [spec for name in datasets for spec in _specs_of(kind, name, name in scaled)]


def _specs_of(kind: type[LandmarkStudy | FeatureSweep], name: str, scaled: bool) -> list[RunSpec]:
    preset = "splits" if name == "adult" else "paper"
    usual: dict[str, Any] = {"scaling": "standard" if scaled else "none"}
    if name == "adult":
        usual |= {"max_train_svm": _ADULT_SVM_ROWS, "refit_svm": True}
    published = usual.copy()
    random = usual.copy()
    if name == "adult" and kind is FeatureSweep:
        published["n_features"] = _ADULT_D
    if kind is LandmarkStudy and name in _MANY_ROWS:
        random["selections"] = ("clustering",)
    runs = [] if name in OTHERS else [RunSpec(kind.preset(preset, **published), name, "published")]
    if not scaled and name == "adult" and kind is LandmarkStudy:
        # The SVM of Table 1 over the grid on all training rows; other runs choose it on some rows.
        runs.append(RunSpec(LandmarkStudy(methods=("svm",), Cs=_ADULT_SVM_CS), name, "published"))
    if not scaled:
        runs += _draws(kind, name, _DRAWS) + _draws(kind, name, _MANY_DRAWS)
    return [*runs, RunSpec(kind.preset("splits", **random), name, "random", _REPEATS.get(name, _USUAL_REPEATS))]


def _draws(kind: type[LandmarkStudy | FeatureSweep], name: str, asked: dict) -> list[RunSpec]:
    """List several draws on the published split, if `asked` has some for the data set."""
    if name not in asked.get(kind, {}):
        return []
    repeats, given = asked[kind][name]
    methods = tuple(method for method in kind.known_methods if method != "svm")
    protocol = kind.preset("paper", **{"gamma": _GAMMAS[name], "methods": methods} | given)
    return [RunSpec(protocol, name, "published", repeats)]


def table_1(rows: Iterable[Row] | pd.DataFrame) -> pd.DataFrame:
    """Compare Table 1 with its reruns: 10 % of the training rows as landmarks, chosen by clustering.

    Rows are of landmark studies, on the published split and on random ones. The columns are dataset, column (one of
    `COLUMNS_OF_TABLE_1`), and the columns of `compared` and `with_causes`.
    """
    # Several runs may have the same baseline. One on all rows, without a note, comes before one chosen on some.
    frame = to_frame(to_frame(rows).sort_values("note", key=lambda notes: notes != "", kind="stable"))
    centroids = frame[(frame["landmarks"] == "clustering") & np.isclose(frame["share"], _TABLE_1_SHARE)]
    learned = centroids[centroids["method"] == "pb_landmarks"]
    cells = {
        "svm": frame[frame["method"] == "svm"],
        "rbf": centroids[centroids["method"] == "rbf_landmarks"],
        "pb": learned,
        "pb_beta_1": learned[learned["beta"] == 1.0],
        "pb_d_64": learned[learned["D"] == 64],
    }
    reruns = pd.concat([cell.assign(column=column) for column, cell in cells.items()])
    reruns = reruns.drop_duplicates(["column", "dataset", "split", "repeat", "D", "beta"])
    by = ["dataset", "column"]
    comparison = compared(reruns, pd.read_csv(_REFERENCE / "table_1.csv"), by)
    stopped = _stopped_solver(["dataset", "method", "landmarks", "share"])
    stopped = stopped[(stopped["landmarks"] == "clustering") & np.isclose(stopped["share"], _TABLE_1_SHARE)]
    columns = pd.DataFrame([(_METHOD_OF[column], column) for column in _METHOD_OF], columns=["method", "column"])
    return _with_stopped_solver(comparison, stopped.merge(columns, on="method"), by)


def svm_grid() -> pd.DataFrame:
    """Read numbers of errors of adult's RBF SVM on all training rows, over the paper's grid of C and gamma.

    If no dual coefficient reaches C, larger C have the same numbers.
    """
    return pd.read_csv(_REFERENCE / "adult_svm_grid.csv")


def figure(target: str, rows: Iterable[Row] | pd.DataFrame) -> pd.DataFrame:
    """Compare Figures 2 and 6, or 3 and 5, with their reruns.

    Rows are of landmark studies, or of feature sweeps, on the published split and on random ones. The columns are
    dataset, method, landmarks and share, or D, and the columns of `compared` and `with_causes`. The paper's numbers
    were measured in its images, with the errors in `_FIGURES`.
    """
    check_choice(target, "target", _FIGURE_TARGETS)
    file, by, reading = _FIGURES[TARGETS[target]]
    paper = pd.read_csv(_REFERENCE / file)
    frame = to_frame(rows)
    frame = frame[frame["method"] != "svm"]
    by = ["dataset", *by]
    of_many = [spec.run_id for name in DATASETS for spec in _draws(TARGETS[target], name, _MANY_DRAWS)]
    is_many = frame["run"].isin(of_many)
    comparison = compared(frame[~is_many], paper, by, reading)
    many = chosen_by_validation(frame[is_many], by).rename(columns={"test_error": "error"})[[*by, "error"]]
    own = _published_draw(by) if "D" in by else None
    return _with_stopped_solver(comparison, _stopped_solver(by), by, many, own)


def _published_draw(by: list[str]) -> pd.DataFrame:
    """Return errors with the published code's frequencies and solver, at the beta or rho that validation chooses."""
    rows = pd.read_csv(_REFERENCE / "published_draw.csv")
    best = rows.sort_values("stopped_valid", kind="stable").groupby(by, as_index=False).first()
    same = best["stopped_test"] == best["exact_test"]
    return best[by].assign(cause=np.where(same, OWN_DRAW, STOPPED), error=best["stopped_test"])


def _stopped_solver(by: list[str]) -> pd.DataFrame:
    """Return draws with the published code's solver, which stops early (errata, 7), and with an exact one.

    Validation with the published solver chooses the settings of each.
    """
    rows = pd.read_csv(_REFERENCE / "stopped_solver.csv").dropna(subset=by)
    best = rows.sort_values("stopped_valid", kind="stable").groupby([*by, "draw"], as_index=False).first()
    return best[best["stopped_test"] != best["exact_test"]]  # the solver made a difference


def _with_stopped_solver(
    comparison: pd.DataFrame,
    stopped: pd.DataFrame,
    by: list[str],
    many: pd.DataFrame | None = None,
    own: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Call `with_causes` for solver and published draw; draws with the exact solver, and `many` more, show chance."""
    causes = stopped[by].assign(cause=STOPPED, error=stopped["stopped_test"])
    again = stopped[by].assign(error=stopped["exact_test"])
    if many is not None:
        again = pd.concat([again, many], ignore_index=True)
    if own is not None:
        causes = pd.concat([causes, own], ignore_index=True)
    return with_causes(comparison, causes, by, again=again.assign(cause=RARE_DRAW))
