"""Test error on real data against the number of features, or of landmarks, by the protocols of Letarte et al. (2019).

Rows over random splits of nine sets ship. `python -m rff_engine reproduce figure3 --recompute --store COPY` makes those
of the paper's sets, `run features --dataset digits_odd --preset splits --split random --repeats 10 --store COPY` more.
Widths, β, ρ and C are chosen on validation rows.

After `pip install ".[experiments]" ./datasets/data` in a copy of the repository, from any folder:
python compute.py [rows.csv]; it reproduces all columns except seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rff_datasets import load
from rff_engine import CertifiedClassifier, RandomFourierFeatures
from rff_engine.studies.problem import COLUMNS, Row
from rff_engine.studies.protocols import FeatureSweep, LandmarkStudy, RunSpec
from rff_engine.studies.reports import letarte, reproduction, tables
from rff_engine.studies.running.run import run_stored
from rff_engine.studies.running.store import Store

#: Data sets whose rows ship.
DATASETS = ("breast", *letarte.OTHERS, *(name for name in letarte.DATASETS if name != "breast"))
VALIDATED = "validated"
#: Numbers of frequencies to choose from; rows that ship have all of them.
COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
KINDS = {"features": FeatureSweep, "landmarks": LandmarkStudy}


def shipped_spec(study: str, dataset: str) -> RunSpec:
    """Return the run over random splits that ships."""
    target = next(name for name, kind in letarte.TARGETS.items() if kind is KINDS[study])
    return letarte.specs(target, (dataset,))[-1]


def shipped_rows(study: str, dataset: str) -> list[Row]:
    """Return the rows that ship; none if the package of the data is not installed."""
    if dataset not in DATASETS or not reproduction.SHIPPED.is_file():
        return []
    with Store(reproduction.SHIPPED, read_only=True) as store:
        return store.rows(shipped_spec(study, dataset))


def chosen(rows: Sequence[Row], methods: Sequence[str], repeats: int, beta: str = VALIDATED) -> list[Row]:
    """Return the rows of these methods and of the first splits, PBRFF's at one β unless validation chooses it."""
    return [
        row
        for row in rows
        if row["method"] in methods
        and row["repeat"] < repeats
        and (beta == VALIDATED or row["method"] != "pbrff" or row["beta"] == float(beta))
    ]


def shipped_table(study: str) -> pd.DataFrame:
    """Return the rows of all sets that ship as one table."""
    return pd.DataFrame([row for name in DATASETS for row in shipped_rows(study, name)], columns=list(COLUMNS))


def shipped_means(study: str, method: str, beta: str = VALIDATED) -> dict[str, pd.DataFrame]:
    """Return `means` of the rows of a method that ship, by data set; at one β unless validation chooses it."""
    rows = shipped_table(study)
    rows = rows[rows["method"] == method]
    rows = rows if beta == VALIDATED else rows[rows["beta"] == float(beta)]
    return dict(list(means(study, rows).groupby("dataset", sort=False)))


def means(study: str, rows: Sequence[Row]) -> pd.DataFrame:
    """Return mean errors by number of features, or by share of landmarks."""
    return tables.error_by_features(rows) if study == "features" else tables.error_by_share(rows)


def seconds(study: str, dataset: str, settings: Sequence[Row], repeats: int) -> float | None:
    """Estimate the time of a run by that of shipped rows of its data set; None without any."""
    rows = pd.DataFrame(shipped_rows(study, dataset))
    if rows.empty:
        return None
    each = rows.groupby("method")["seconds"].mean()
    return repeats * float(sum(each.get(setting["method"], 0.0) for setting in settings))


@dataclass(frozen=True)
class Memory:
    """Errors of a classifier on half of breast's rows, which teach it, and on the others, and what can be promised."""

    train: float
    test: float
    certified: float
    """Risk that half of the first half certifies, by counting errors, of a classifier that the rest of it teaches"""


def memory(D: int, shuffled: bool, seed: int = 0) -> Memory:
    """Fit logistic regression on D random cosines and sines, to labels as they are or in random order."""
    X, y = load("breast").X, load("breast").y
    rng = np.random.default_rng(seed)
    y = rng.permutation(y) if shuffled else y
    taught, fresh = np.array_split(rng.permutation(len(y)), 2)
    features = RandomFourierFeatures(n_components=D, random_state=seed)
    model = make_pipeline(StandardScaler(), features, LogisticRegression(C=1e4, max_iter=2000))
    certified = CertifiedClassifier(estimator=model, random_state=seed).fit(X[taught], y[taught])
    model.fit(X[taught], y[taught])
    train, test = (float(np.mean(model.predict(X[rows]) != y[rows])) for rows in (taught, fresh))
    return Memory(train, test, certified.risk_bound_)


def memory_row(D: int, shuffled: bool) -> Row:
    """Return `memory` as a row with the columns of a run's rows."""
    found = memory(D, shuffled)
    note = f"labels {'shuffled' if shuffled else 'as they are'}; certified risk {found.certified:.4f}"
    errors = {"train_error": found.train, "test_error": found.test}
    return dict.fromkeys(COLUMNS) | {"dataset": "breast", "method": "rff_by_heart", "D": D, "note": note} | errors


if __name__ == "__main__":
    # The experiment
    study = "features"  # test error against "features", or "landmarks"
    dataset = "breast"
    preset = "splits"  # the grid; or "quick", "paper"
    split = "random"  # drawn from the seed; or "published"
    scaling = "none"  # of the columns; or "standard"
    seed = 0  # of the first repeat
    repeats = 10
    methods = ("svm", "rff", "pbrff", "okrff")
    D = 5  # random cosines that learn breast by heart
    shuffled = False  # its labels

    protocol = KINDS[study].preset(preset, methods=methods, scaling=scaling)
    steps = run_stored(None, RunSpec(protocol, dataset, split, repeats, seed))
    rows = [row for step in steps for row in step.rows]
    rows += [memory_row(D, shuffled)] if study == "features" else []
    tables.to_frame(rows).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
