"""Your data: the numbers of the page on your own table, which you put into the current folder.

Errors of learned and of random cosines on all columns come first; landmarks on a map of two columns follow, then a
certificate, where there are enough rows for one.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import rff_engine as rff
from rff_datasets import (
    Dataset,
    halves,
    one_of_each_group,
    plane,
    prepare,
    random_split,
    read_table,
    two_classes,
)
from rff_engine.studies.protocols import FeatureSweep, RunSpec
from rff_engine.studies.reports import tables as report
from rff_engine.studies.running.run import run_stored
from rff_engine.studies.toy import landmarks as toy_landmarks
from rff_engine.studies.toy.certificates import Certificate, certificate

#: Most training rows, and most held-out rows.
ROWS = 2000
#: Cosines of the comparison, its random splits, and most rows of either half of a split.
COSINES, COMPARED_SPLITS, COMPARED_ROWS = 50, 3, 1000
#: Splits of the sweep.
SPLITS = 4
SWEEP = FeatureSweep(
    n_candidates=1000,
    n_features=(1, 2, 5, 10, 20, 50, 100),
    betas=(0.1, 1.0, 10.0),
    rhos=(1e-3, 1e-2, 1e-1),
    Cs=(1e-2, 1.0, 100.0),
    gammas=(1e-3, 1e-2, 1e-1, 1.0),
    max_train=1000,
    max_train_svm=400,
)
PATH_BETAS = tuple(float(f"{10**power:.3g}") for power in np.linspace(-3, 3, 31))

_MAX_EXTENT = 4.0
_MIN_CLASS_ROWS = 8
# Columns of which every pair is tried for the map, and rows of a trial.
_TRIED_COLUMNS, _TRIED_ROWS = 6, 300


@dataclass(frozen=True, eq=False)
class Comparison:
    """Errors of classifiers of all columns on held-out rows."""

    errors: dict[str, np.ndarray]
    """(splits,), by "majority" (a guess), "random" (no labels), "width" (by labels), "learned" and "svm" """
    gain: float
    """Error of "random" minus that of "learned", mean over the held-out rows"""
    gain_error: float
    """Its standard error"""
    n_train: int
    n_test: int
    """Rows of either half of a split"""

    @property
    def verdict(self) -> str:
        """ "helped", "width" if weights add nothing, "hurt", or "same" below twice the difference's standard error."""
        if abs(self.gain) <= 2 * self.gain_error:
            return "same"
        if self.gain < 0:
            return "hurt"
        return "width" if self.errors["width"].mean() <= self.errors["learned"].mean() else "helped"


def compare(dataset: Dataset, seed: int) -> Comparison:
    """Compare learned with random cosines, and with a kernel SVM, on random halves of the rows.

    The kernel and the strength of learning are chosen on a held-out part of the training half, as are the SVM's
    parameters.
    """
    errors: dict[str, list[float]] = {}
    gains = np.zeros((2, dataset.n_samples))  # sums over the splits, and how often a row is held out
    for split in range(COMPARED_SPLITS):
        numbered = replace(dataset, y=np.column_stack([dataset.y, np.arange(dataset.n_samples)]))
        train, test = halves(numbered, COMPARED_ROWS, seed + split)
        (y_train, y_test), rows = (part.y[:, 0] for part in (train, test)), test.y[:, 1]
        labels, counts = np.unique(y_train, return_counts=True)
        if len(labels) < 2:
            raise ValueError(f"The {len(y_train)} training rows are all of one class; choose another seed or class.")
        wrong = {"majority": y_test != labels[counts.argmax()]}
        for name, model in _models(train.X, y_train, seed + split).items():
            wrong[name] = model.fit(train.X, y_train).predict(test.X) != y_test
        for name, misses in wrong.items():
            errors.setdefault(name, []).append(float(misses.mean()))
        gains[0, rows] += wrong["random"].astype(float) - wrong["learned"]
        gains[1, rows] += 1
    of_row = gains[0, gains[1] > 0] / gains[1, gains[1] > 0]
    arrays = {name: np.array(of_method) for name, of_method in errors.items()}
    return Comparison(arrays, of_row.mean(), of_row.std() / np.sqrt(len(of_row)), len(y_train), len(y_test))


def _models(X: np.ndarray, y: np.ndarray, seed: int) -> dict:
    """Return the classifiers that are compared; rows of features have norm 1, so C = 100 is a light penalty."""
    features = {
        "random": rff.RandomFourierFeatures(n_components=COSINES, random_state=seed),
        "width": rff.RandomFourierFeatures("learned", COSINES, random_state=seed),
        "learned": rff.PseudoPosteriorFeatures("learned", COSINES, 20 * COSINES, beta="validate", random_state=seed),
    }
    grid = {"gamma": np.array([0.25, 1, 4, 16]) / (X.shape[1] * (X.var() or 1.0)), "C": [1.0, 100.0]}
    once = StratifiedShuffleSplit(1, test_size=0.3, random_state=seed)
    enough = np.unique(y, return_counts=True)[1].min() >= 4
    models = {name: make_pipeline(one, LogisticRegression(C=100, max_iter=1000)) for name, one in features.items()}
    return models | {"svm": GridSearchCV(SVC(), grid, cv=once) if enough else SVC()}


def best_columns(dataset: Dataset, seed: int) -> tuple[int, int] | None:
    """Return the two columns on which an SVM errs least; None if two principal components are better than any two.

    Only rows of the half that `coordinates` trains on are looked at. Of many columns, those that trees use most are
    tried.
    """
    train, _ = halves(dataset, ROWS, seed)
    some = np.random.default_rng(seed).permutation(train.n_samples)[: 2 * _TRIED_ROWS]
    X, y = train.X[some], train.y[some]
    columns = np.arange(train.n_features)
    if len(columns) < 3:
        return (0, 1) if len(columns) == 2 else None
    if len(columns) > _TRIED_COLUMNS:
        trees = ExtraTreesClassifier(100, random_state=seed).fit(X, y)
        columns = np.sort(np.argsort(-trees.feature_importances_)[:_TRIED_COLUMNS])
    part = replace(train, X=X, y=y, groups=None)
    pairs = [*((int(a), int(b)) for a, b in combinations(columns, 2)), None]
    return min(pairs, key=lambda pair: _error_on_map(plane(part, pair)))


def _error_on_map(part: Dataset) -> float:
    fitted = slice(None, None, 2)
    held_out = slice(1, None, 2)
    if len(np.unique(part.y[fitted])) < 2:
        return 1.0
    return 1 - SVC(gamma=1.0).fit(part.X[fitted], part.y[fitted]).score(part.X[held_out], part.y[held_out])


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Two coordinates of the rows of a two-class problem."""

    train: Dataset
    test: Dataset
    extent: float
    """Half the side of the square that maps show; points beyond it are shown at the edge."""


def coordinates(dataset: Dataset, columns: tuple[int, int] | None, seed: int) -> Coordinates:
    """Split two columns of a two-class problem, or its first two principal components, into halves."""
    train, test = halves(plane(dataset, columns), ROWS, seed)
    for part, name in ((train, "training"), (test, "held-out")):
        if len(np.unique(part.y)) < 2:
            raise ValueError(
                f"The {part.n_samples} {name} rows are all of one class; choose another seed or a more frequent class."
            )
    return Coordinates(train, test, float(min(1.05 * np.abs(train.X).max(), _MAX_EXTENT)))


def landmark_problem(
    where: Coordinates, sigma: float, count: int, D: int, selection: str, seed: int
) -> toy_landmarks.LandmarkProblem:
    """Choose landmarks among the training rows, and draw D frequencies for each."""
    kernel = rff.GaussianKernel(sigma)
    return toy_landmarks.landmark_problem(where.train.X, where.train.y, kernel, count, D, selection, seed)


def landmark_path(where: Coordinates, problem: toy_landmarks.LandmarkProblem, C: float) -> toy_landmarks.LandmarkPath:
    """Compute errors, a bound and the KL divergence along beta."""
    return toy_landmarks.landmark_path(problem, where.test.X, where.test.y, PATH_BETAS, C)


def certified(dataset: Dataset, seed: int, epsilon: float = 0.05) -> Certificate:
    """Certify the classifier of learned cosines: half of the rows teach it, the others count its errors."""
    rows = one_of_each_group(dataset, seed)
    some = np.random.default_rng(seed).permutation(rows.n_samples)[: 2 * ROWS]
    X, y = rows.X[some], rows.y[some]
    learned = _models(X, y, seed)["learned"]
    model = rff.CertifiedClassifier(epsilon=epsilon, random_state=seed, estimator=learned).fit(X, y)
    return certificate(model, X[model.bound_rows_], y[model.bound_rows_])


def sweep_steps(dataset: Dataset, seed: int) -> Iterator:
    """Run the feature sweep on `SPLITS` random splits of a two-class problem, step by step.

    Raises
    ------
    ValueError
        If the rarer class has too few rows for all parts of a split.
    """
    rarer = int(min((dataset.y == label).sum() for label in dataset.label_names))
    if rarer < _MIN_CLASS_ROWS:
        raise ValueError(
            f"The rarer class has {rarer} rows; at least {_MIN_CLASS_ROWS} are needed to split them into training, "
            "validation and test rows."
        )
    spec = RunSpec(SWEEP, dataset.name, "random", SPLITS, seed)
    return run_stored(None, spec, split_of=lambda one: random_split(dataset, one))


def numbers(comparison, problem, path, beta, sweep: list[dict], certify) -> pd.DataFrame:
    """Return all numbers of the page as one table; errors are fractions, KL in nats.

    `certify` makes the certificate; where the rows are too few for one, say so.
    """
    Q = rff.pseudo_posterior(problem.loss, beta, len(problem.X))
    # Values along beta are means over the landmarks; the bound on the loss is at 95 %.
    tables = {"errors on all columns": comparison.errors}
    tables |= problem.columns(Q) | {"along beta": path.columns()}
    if sweep:
        tables["error against D"] = report.error_by_features(sweep)
    try:
        promise = certify()
    except ValueError as error:
        print(f"No certificate: {error}", file=sys.stderr)
    else:
        names = "n_bound", "risk_bound", "majority_error", "test_error"
        tables["terms of the certificate"] = promise.terms
        tables["certificate"] = {name: [getattr(promise, name)] for name in names}
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    # The experiment
    file = "yours.csv"  # or .tsv, .xlsx, .ods, .arff, .parquet, .svmlight
    choices = {}  # of datasets.read_table, such as {"names at line": "none"} where no line has names
    target = "class"
    columns = ("height", "width")  # to predict it from
    task = "classification"  # or "regression": rows above the median against the others
    label = 1  # the class against all others: 1 or -1 of two, else its position; None of numbers
    groups = None  # column whose equal values mark rows that belong together; None: each row is a draw of its own
    axes = (0, 1)  # positions of the two columns of the map; None: the first two principal components
    sweep = False  # the error against D as well, which takes a minute
    seed = 0
    sigma = 0.501  # bandwidth of the Gaussian prior
    D = 50  # frequencies of each landmark
    landmarks = 5  # how many
    selection = "kmeans"  # or "random"
    beta = 1.0  # inverse temperature
    C = 1.0  # of the linear SVM on the similarities

    if sys.argv[1:] and Path(sys.argv[1]).exists() and Path(sys.argv[1]).samefile(file):
        sys.exit(f"{sys.argv[1]} is the table itself; another file is needed for the numbers.")
    table = read_table(Path(file).read_bytes(), file, choices=choices)
    whole = prepare(table, target, columns, task=task, groups=groups)
    dataset = two_classes(whole, label)
    where = coordinates(dataset, axes, seed)
    problem = landmark_problem(where, sigma, landmarks, D, selection, seed)
    found = numbers(
        compare(whole if task == "classification" else dataset, seed),
        problem,
        landmark_path(where, problem, C),
        beta,
        [row for step in sweep_steps(dataset, seed) for row in step.rows] if sweep else [],
        lambda: certified(dataset, seed),
    )
    found.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
