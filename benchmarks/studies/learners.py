"""Boosting and leverage scores next to the paper's learned landmarks and features, on random splits.

    python -m benchmarks.studies.learners                                      # the tables of docs/learners.md
    python -m benchmarks.studies.learners --datasets breast --output rows.csv  # computes what it lacks, then the tables

A split, and gamma on it, are those of the bundled reruns: so are the rows of PB landmarks at 1, 5 and 10 %, RFF, PBRFF
and OKRFF. `--output` adds to a file: PB landmarks at 2 %; boosting, whose rounds are as many as these landmarks; a
linear SVM on the boosted landmarks; and frequencies drawn by their leverage scores. Settings and C are chosen on
validation rows. `rff_engine/experiments/reports/data/learners.csv` is such a file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import rff_engine as rff
from benchmarks.studies import frame
from benchmarks.studies.frame import DATASETS
from rff_engine.experiments.reports import reproduction
from rff_engine.experiments.reports.comparison import chosen_by_validation
from rff_engine.experiments.reports.tables import to_frame
from rff_engine.experiments.running.runner import run
from rff_engine.experiments.running.store import Store
from rff_engine.experiments.studies.letarte_problem import PARTS, LetarteProblem
from rff_engine.experiments.studies.protocols import LandmarkStudy, split_source
from rff_engine.landmarks import landmark_count

SHIPPED = frame.DATA / "learners.csv"
SHARES = (0.01, 0.02, 0.05, 0.10)
FREQUENCIES = (10, 50, 200)
METHODS = {
    "pb_landmarks": "PB landmarks",
    "landmarks": "boosted landmarks",
    "landmarks_svm": "boosted landmarks, SVM",
    "cosines": "boosted cosines",
}
FEATURES = {"rff": "RFF", "pbrff": "PBRFF", "okrff": "OKRFF", "leverage": "leverage scores"}
KEYS = ["dataset", "repeat", "method", "share", "D", "K", "beta", "ridge"]
COLUMNS = [*KEYS, "gamma", "C", "valid_error", "test_error", "seconds"]
_REPEATS = dict.fromkeys(DATASETS, 10) | {"farm": 5, "adult": 5}  # as many as the bundled reruns have
_K, _BETA = 32, 10.0  # of boosted landmarks
_RIDGE, _CANDIDATES, _PILOT = 1e-4, 2000, 200  # of leverage scores
_CS = LandmarkStudy().Cs


def main() -> None:
    parser = frame.options(__doc__)
    parser.add_argument("--repeats", type=int, help="random splits (default: 10, of farm and adult 5)")
    asked = parser.parse_args()
    with threadpool_limits(1):
        print(tables(frame.rows(asked.output, settings(asked.datasets, asked.repeats), rows_of, SHIPPED)))


# --- rows ---------------------------------------------------------------------------------------------------------


def settings(names: Sequence[str], repeats: int | None) -> Iterator[dict]:
    """Fits: the first splits of all data sets come first."""
    asked = {name: repeats or _REPEATS[name] for name in names}
    for repeat, name, method in product(range(max(asked.values())), names, FITS):
        if repeat < asked[name]:
            yield {"dataset": name, "repeat": repeat, "method": method}


def rows_of(dataset: str, repeat: int, method: str) -> list[dict]:
    """The rows of one fit on a split, of all shares or numbers of frequencies."""
    start = time.perf_counter()
    rows = FITS[method](dataset, repeat)
    fixed = dict.fromkeys(COLUMNS) | {"dataset": dataset, "repeat": repeat, "method": method}
    return [fixed | row | {"seconds": round(time.perf_counter() - start, 2)} for row in rows]


def _pb_landmarks(name: str, repeat: int) -> list[dict]:
    """The share that the bundled reruns do not have, by the same protocol, chosen among its settings by validation."""
    protocol = LandmarkStudy.preset(
        "splits", shares=(0.02,), selections=("clustering",), methods=("pb_landmarks",), gamma=gamma_of(name, repeat)
    )
    split = split_source(name, "random")(repeat)
    steps = run(protocol, split, dataset=name, split_name="random", repeat=repeat, seed=repeat)
    rows = to_frame([row for step in steps for row in step.rows])
    best = rows.loc[rows["valid_error"].idxmin()]
    named = {"K": "D", "beta": "beta", "C": "C", "valid_error": "valid_error", "test_error": "test_error"}
    cells = {column: best[source] for column, source in named.items()}
    return [cells | {"share": 0.02, "D": landmark_count(len(split.y_train), 2, 0.02), "gamma": best["gamma"]}]


def _boosted(name: str, repeat: int, weak: str) -> list[dict]:
    """The vote after as many rounds as landmarks in each share and, for landmarks, a linear SVM on them."""
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


def _leverage(name: str, repeat: int) -> list[dict]:
    """Linear SVMs on frequencies drawn by their scores."""
    problem, rows = problem_of(name, repeat), []
    for D in FREQUENCIES:
        drawn = rff.LeverageScoreFeatures(problem.kernel, D, _CANDIDATES, _PILOT, _RIDGE, random_state=repeat)
        drawn.fit(problem.train.X)
        features = {part: drawn.transform(getattr(problem, part).X) for part in PARTS}
        rows.append({"D": D, "gamma": problem.gamma, "ridge": _RIDGE} | svm_errors(problem, features))
    return rows


def svm_errors(problem: LetarteProblem, features: dict, Cs: Sequence[float] = _CS) -> dict:
    """C and errors of the linear SVM with the fewest validation errors."""
    features = {part: np.ascontiguousarray(values, problem.feature_dtype) for part, values in features.items()}
    path = rff.linear_svm_path(features["train"], problem.train.y, Cs)
    best = problem.best_errors(path, lambda part, rows: features[part][rows], Cs)
    return {key: best[key] for key in ("C", "valid_error", "test_error")}


FITS = {
    "pb_landmarks": _pb_landmarks,
    "landmarks": partial(_boosted, weak="landmark"),
    "cosines": partial(_boosted, weak="cosine"),
    "leverage": _leverage,
}


@cache
def _splits(name: str) -> Callable:
    return split_source(name, "random")


def problem_of(name: str, repeat: int) -> LetarteProblem:
    """A split of the bundled reruns, with their kernel."""
    problem = LetarteProblem.of(_splits(name)(repeat), {}, repeat)
    return problem.with_gamma(gamma_of(name, repeat), "auto")


def gamma_of(name: str, repeat: int) -> float:
    """gamma that the RBF SVM of the bundled reruns chose on a split."""
    rows = bundled("table1", name)
    (gamma,) = rows.loc[rows["repeat"] == repeat, "gamma"].unique()
    return float(gamma)


@cache
def bundled(target: str, name: str) -> pd.DataFrame:
    """Bundled rows of a data set on random splits: landmark studies for "table1", feature sweeps for a figure."""
    store = Store(f"sqlite:///{reproduction.SHIPPED}", read_only=True)
    rows = to_frame(reproduction.known_rows(store, target, (name,)))
    return rows[(rows["split"] == "random") & (rows["method"] != "svm")]


# --- tables -------------------------------------------------------------------------------------------------------


def tables(rows: pd.DataFrame) -> str:
    """Both tables, in Markdown: mean test errors in percent over the splits that all methods have, by share and by D.

    The last column is the largest of their standard errors.
    """
    of_landmarks = _table("landmarks", rows, "table1", "share", METHODS)
    of_features = _table("D", rows, "figure5", "D", FEATURES)
    return f"{of_landmarks}\n\n{won_by_pb_landmarks(rows)}\n\n{of_features}"


def won_by_pb_landmarks(rows: pd.DataFrame) -> str:
    """A sentence on where no other method errs as little."""
    won = []
    for name in DATASETS:
        by_share = mean_errors(rows, "table1", name, "share", METHODS)
        shares = [f"{share:.0%}" for share, errors in by_share if errors.mean().idxmin() == "pb_landmarks"]
        won += [f"{name} at {', '.join(shares)}"] if shares else []
    return f"PB landmarks err least on {' and '.join(won) or 'none'}."


def _table(size: str, rows: pd.DataFrame, target: str, by: str, methods: dict) -> str:
    def body():
        for name in (name for name in DATASETS if (rows["dataset"] == name).any()):
            for value, errors in mean_errors(rows, target, name, by, methods):
                at = f"{value:.0%}" if by == "share" else f"{value}"
                percents = [f"{100 * mean:.2f}" for mean in errors.mean()]
                cells = [f"**{percent}**" if percent == min(percents, key=float) else percent for percent in percents]
                spread = f"{100 * errors.sem().max():.2f}" if len(errors) > 1 else "–"
                yield [name, str(len(errors)), at, *cells, spread]

    return frame.markdown(["data", "splits", size, *methods.values(), "standard error"], body())


def mean_errors(rows: pd.DataFrame, target: str, name: str, by: str, methods: dict) -> Iterator:
    """For each share or D the test errors, (splits, methods), on the splits that all methods have."""
    known = to_frame(bundled(target, name))
    if by == "share":
        known = known[(known["landmarks"] == "clustering") & (known["method"] == "pb_landmarks")]
    keys = ["dataset", "method", by]
    own = rows[(rows["dataset"] == name) & rows["method"].isin(methods)].assign(split="random")
    both = pd.concat([known.drop(columns="landmarks"), own.assign(train_error=np.nan, note="")])
    errors = chosen_by_validation(both, keys).pivot_table("test_error", "repeat", [by, "method"])
    for value in sorted(own[by].dropna().unique()):
        if set(methods) <= set(errors[value].columns):
            complete = errors[value][list(methods)].dropna()
            if len(complete):
                yield value, complete


if __name__ == "__main__":
    main()
