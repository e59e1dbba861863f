"""Boosting next to the paper's learned landmarks, on random splits.

    python -m benchmarks.studies.learners                                      # the table of docs/how-to
    python -m benchmarks.studies.learners --datasets breast --output rows.csv  # computes what it lacks, then the table

Splits, their gamma, and the rows of PB landmarks at 1, 5 and 10 % come from the bundled reruns. `--output` adds to a
file: PB landmarks at 2 %; boosting with as many rounds as landmarks; and a linear SVM on the boosted landmarks.
Settings and C are chosen on validation rows.
`datasets/data/reruns/learners.csv` is such a file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product

import numpy as np
import pandas as pd

import rff_engine as rff
from benchmarks.studies import frame
from benchmarks.studies.frame import DATASETS
from rff_engine.landmarks import landmark_count
from rff_engine.studies.letarte_problem import PARTS, LetarteProblem
from rff_engine.studies.protocols import LandmarkStudy, split_source
from rff_engine.studies.reports.comparison import chosen_by_validation
from rff_engine.studies.reports.tables import to_frame
from rff_engine.studies.running.run import problem_of as posed, run

SHIPPED = frame.DATA / "learners.csv"
SHARES = (0.01, 0.02, 0.05, 0.10)
METHODS = ("pb_landmarks", "landmarks", "landmarks_svm", "cosines")
KEYS = ["dataset", "repeat", "method", "share", "D", "K", "beta"]
COLUMNS = [*KEYS, "gamma", "C", "valid_error", "test_error", "seconds"]
_REPEATS = dict.fromkeys(DATASETS, 10) | {"farm": 5, "adult": 5}  # as many as the bundled reruns have
_K, _BETA = 32, 10.0  # of boosted landmarks
_CS = LandmarkStudy().Cs


# --- rows ---------------------------------------------------------------------------------------------------------


def settings(asked) -> Iterator[dict]:
    """Yield fits; the first splits of all data sets come first."""
    for repeat, name, method in product(range(10), asked.datasets, FITS):
        if repeat < (asked.repeats or _REPEATS[name]):
            yield {"dataset": name, "repeat": repeat, "method": method}


def rows_of(dataset: str, repeat: int, method: str) -> list[dict]:
    """Return the rows of one fit on a split, for all shares or numbers of frequencies."""
    start = time.perf_counter()
    rows = FITS[method](dataset, repeat)
    fixed = dict.fromkeys(COLUMNS) | {"dataset": dataset, "repeat": repeat, "method": method}
    return [fixed | row | {"seconds": round(time.perf_counter() - start, 2)} for row in rows]


def _pb_landmarks(name: str, repeat: int) -> list[dict]:
    """Compute the share that the bundled reruns lack, by the same protocol. Validation chooses among its settings."""
    protocol = LandmarkStudy.preset(
        "splits", shares=(0.02,), selections=("clustering",), methods=("pb_landmarks",), gamma=gamma_of(name, repeat)
    )
    split = split_source(name, "random")(repeat)
    problem = posed(protocol, split, dataset=name, split_name="random", repeat=repeat, seed=repeat)
    rows = to_frame([row for step in run(problem, protocol) for row in step.rows])
    best = rows.loc[rows["valid_error"].idxmin()]
    named = {"K": "D", "beta": "beta", "C": "C", "valid_error": "valid_error", "test_error": "test_error"}
    cells = {column: best[source] for column, source in named.items()}
    return [cells | {"share": 0.02, "D": landmark_count(len(split.y_train), 2, 0.02), "gamma": best["gamma"]}]


def _boosted(name: str, repeat: int, weak: str) -> list[dict]:
    """Compute the vote after as many rounds as landmarks in each share and, for landmarks, a linear SVM on them."""
    problem = problem_of(name, repeat)
    counts = [landmark_count(len(problem.train.y), 2, share) for share in SHARES]
    model = rff.LandmarkBoosting(
        problem.kernel, max(counts), weak_learner=weak, n_components=_K, beta=_BETA, random_state=repeat
    ).fit(*problem.train)
    values = {part: model.transform(getattr(problem, part).X).astype(np.float32) for part in PARTS}
    rows = []
    for share, count in zip(SHARES, counts, strict=True):
        count = min(count, len(model.step_sizes_))
        row = {"share": share, "D": count, "gamma": problem.gamma}
        row |= {"K": _K, "beta": _BETA} if weak == "landmark" else {}
        rows.append(row | {f"{part}_error": _vote_error(model, values, problem, part, count) for part in PARTS[1:]})
        if weak == "landmark":
            rows.append(
                row | {"method": "landmarks_svm"} | svm_errors(problem, {p: v[:, :count] for p, v in values.items()})
            )
    return rows


def _vote_error(model, values: dict, problem: LetarteProblem, part: str, count: int) -> float:
    vote = model.intercept_ + values[part][:, :count] @ model.step_sizes_[:count]
    return float(((vote > 0) != getattr(problem, part).y).mean())


def svm_errors(problem: LetarteProblem, features: dict, Cs: Sequence[float] = _CS) -> dict:
    """Return C and errors of the linear SVM with the fewest validation errors."""
    features = {part: np.ascontiguousarray(values, problem.feature_dtype) for part, values in features.items()}
    path = rff.linear_svm_path(features["train"], problem.train.y, Cs)
    best = problem.best_errors(path, lambda part, rows: features[part][rows], Cs)
    return {key: best[key] for key in ("C", "valid_error", "test_error")}


FITS = {
    "pb_landmarks": _pb_landmarks,
    "landmarks": partial(_boosted, weak="landmark"),
    "cosines": partial(_boosted, weak="cosine"),
}


@cache
def _splits(name: str) -> Callable:
    return split_source(name, "random")


def problem_of(name: str, repeat: int) -> LetarteProblem:
    """Return a split of the bundled reruns, with their kernel."""
    problem = LetarteProblem.of(_splits(name)(repeat), {}, repeat)
    return problem.with_gamma(gamma_of(name, repeat), "auto")


def gamma_of(name: str, repeat: int) -> float:
    """Return the gamma that the RBF SVM of the bundled reruns chose on a split."""
    rows = bundled(name)
    (gamma,) = rows.loc[rows["repeat"] == repeat, "gamma"].unique()
    return float(gamma)


# --- tables -------------------------------------------------------------------------------------------------------


def tables(rows: pd.DataFrame) -> str:
    """Show mean test errors in percent by share, over splits that all methods have, and where PB landmarks err least.

    A cell has the errors of `METHODS` and the largest of their standard errors.
    """
    rows, won, body = rows[rows["method"].isin(METHODS)], {}, []
    for name, of in frame.by_dataset(rows):
        cells = []
        for share, errors in mean_errors(of, name):
            spread = f" ± {100 * errors.sem().max():.2f}" if len(errors) > 1 else ""
            cells.append("/".join(f"{100 * mean:.2f}" for mean in errors.mean()) + spread)
            if errors.mean().idxmin() == "pb_landmarks":
                won.setdefault(name, []).append(f"{share:.0%}")
        body.append([name, str(len(errors)), *cells])
    table = frame.markdown(["data", "splits", *(f"{share:.0%}" for share in SHARES)], body)
    where = " and ".join(f"{name} at {', '.join(shares)}" for name, shares in won.items())
    return f"{table}\n\nPB landmarks err least on {where or 'none'}."


def mean_errors(rows: pd.DataFrame, name: str) -> Iterator[tuple[float, pd.DataFrame]]:
    """Yield each share with its test errors, (splits, methods), on the splits that all methods have."""
    known = bundled(name)
    known = known[(known["landmarks"] == "clustering") & (known["method"] == "pb_landmarks")]
    own = rows.assign(split="random")
    both = pd.concat([known.drop(columns="landmarks"), own.assign(train_error=np.nan, note="")])
    errors = chosen_by_validation(both, ["dataset", "method", "share"])
    errors = errors.pivot_table("test_error", "repeat", ["share", "method"])
    for share in sorted(own["share"].dropna().unique()):
        if set(METHODS) <= set(errors[share].columns):
            complete = errors[share][list(METHODS)].dropna()
            if len(complete):
                yield share, complete


def bundled(name: str) -> pd.DataFrame:
    """Return the bundled rows of landmarks of a data set on random splits."""
    rows = frame.reruns("table1", name)
    return rows[(rows["split"] == "random") & (rows["method"] != "svm")]


if __name__ == "__main__":
    repeats = {"type": int, "help": "random splits (default: 10, of farm and adult 5)"}
    frame.main(__doc__, settings, rows_of, tables, SHIPPED, datasets=frame.chosen(), repeats=repeats)
