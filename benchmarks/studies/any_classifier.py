"""Certificates of scikit-learn's classifiers, next to conformal prediction on the same rows.

    python -m benchmarks.studies.any_classifier --output rows.csv    # computes what the file lacks, prints the table
    python -m benchmarks.studies.any_classifier --output rows.csv --write    # writes it into docs/certificates.md

Half of the rows teach the classifier, the other half certify it: `CertifiedClassifier(estimator=...)` with nothing else
set. The same two halves serve split conformal prediction (Vovk et al. 2005; scores 1 - p(y | x)) at the same 5 %.
Errors and misses are measured on 20,000 fresh points of the plane, and on a random third of the other sets, held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.studies import frame
from rff_engine import CertifiedClassifier

PAGE = frame.DOCS / "certificates.md"
MARKS = (
    "<!-- classifiers: begin, written by `python -m benchmarks.studies.any_classifier --write` -->",
    "<!-- classifiers: end -->",
)
EPSILON, N_FRESH, SEEDS = 0.05, 20_000, 10


def _plane(make: Callable, **of_make) -> Callable:
    """Return a function that draws points of the plane to learn from, and fresh ones."""

    def points(seed: int):
        X, y = make(n_samples=1000 + N_FRESH, random_state=seed, **of_make)
        return X[:1000], X[1000:], y[:1000], y[1000:]

    return points


def _held_out(load: Callable) -> Callable:
    """Return a function that splits rows into those to learn from and a third that is held out."""
    return lambda seed: train_test_split(*load(return_X_y=True), test_size=1 / 3, random_state=seed)


SETS: dict[str, Callable] = {
    "moons": _plane(datasets.make_moons, noise=0.25),
    "five blobs": _plane(datasets.make_blobs, centers=[(0, 0), (3, 0), (0, 3), (-3, 0), (0, -3)], cluster_std=1.2),
    "breast": _held_out(datasets.load_breast_cancer),
    "wine": _held_out(datasets.load_wine),
    "digits": _held_out(datasets.load_digits),
}
CLASSIFIERS: dict[str, Callable] = {
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "nearest neighbours": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(10)),
    "naive Bayes": GaussianNB,
    "random forest": RandomForestClassifier,
    "boosted trees": HistGradientBoostingClassifier,
}


def rows_of(dataset: str, classifier: str, seed: int) -> Iterator[dict]:
    X, X_fresh, y, y_fresh = SETS[dataset](seed)
    estimator = CLASSIFIERS[classifier]()
    model = CertifiedClassifier(estimator=estimator, epsilon=EPSILON, random_state=seed).fit(X, y)
    sets = conformal_sets(model.estimator_, X[model.bound_rows_], y[model.bound_rows_], X_fresh)
    yield {
        "classes": len(model.classes_),
        "rows": len(model.bound_rows_),
        "certified": 100 * model.risk_bound_,
        "error": 100 * float(np.mean(model.predict(X_fresh) != y_fresh)),
        "missed": 100 * float(np.mean(~sets[np.arange(len(y_fresh)), np.searchsorted(model.classes_, y_fresh)])),
        "labels": float(sets.sum(axis=1).mean()),
    }


def conformal_sets(classifier, X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> np.ndarray:
    """Return which classes the sets of split conformal prediction hold, (n_new, K), calibrated on X and y."""
    given = classifier.predict_proba(X)[np.arange(len(y)), np.searchsorted(classifier.classes_, y)]
    k = int(np.ceil((len(y) + 1) * (1 - EPSILON)))
    least = np.sort(given)[::-1][k - 1] if k <= len(y) else 0.0
    return classifier.predict_proba(X_new) >= least


def table(rows: pd.DataFrame) -> str:
    """Show means over the seeds: error, certified risk, how often the error exceeds it; misses and sizes of sets."""

    def cell(part: pd.DataFrame) -> str:
        mean = part.mean(numeric_only=True)
        above = (part.error > part.certified).sum()
        return f"{mean.error:.1f}/{mean.certified:.1f}/{above}, {mean.missed:.1f}/{mean.labels:.2f}"

    body = []
    for dataset, of in rows.groupby("dataset", sort=False):
        cells = [cell(part) for _, part in of.groupby("classifier", sort=False)]
        body.append([f"{dataset}, {of.classes.iloc[0]:.0f}", f"{of.rows.iloc[0]:.0f}", *cells])
    return frame.markdown(["data, classes", "rows", *rows["classifier"].unique()], body)


def settings(asked) -> Iterator[dict]:
    for dataset, classifier, seed in product(asked.sets, CLASSIFIERS, range(asked.seeds)):
        yield {"dataset": dataset, "classifier": classifier, "seed": seed}


if __name__ == "__main__":
    own = {"sets": frame.chosen(SETS), "seeds": {"type": int, "default": SEEDS}}
    frame.main(__doc__, settings, rows_of, table, written=(PAGE, MARKS), **own)
