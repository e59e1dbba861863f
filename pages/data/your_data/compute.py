"""Your data: the numbers of a view of the page on your own table, which you put into the current folder.

They end with a certificate of your data, where there are enough rows for one.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

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
from rff_engine.studies.toy.certificates import Certificate, certificate, certified_classifier

#: Most training rows, and most held-out rows.
ROWS = 2000
#: Frequencies of the certified classifier, and draws of them among which the prior's rows choose.
CERTIFIED_FREQUENCIES, CERTIFIED_DRAWS = 50, 3
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
    _two_classes_in(train, test)
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
    """Certify a classifier on half of the rows: half of these choose the kernel's width and the frequencies."""
    train, fresh = _halves_of_groups(dataset, seed)
    kernel, D, draws = rff.GaussianKernel("scale"), CERTIFIED_FREQUENCIES, CERTIFIED_DRAWS
    model = certified_classifier(train.X, train.y, kernel, "rff", D, tries=draws, epsilon=epsilon, random_state=seed)
    return certificate(model, fresh.X, fresh.y)


def _halves_of_groups(dataset: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    train, fresh = halves(one_of_each_group(dataset, seed), ROWS, seed)
    _two_classes_in(train, fresh)
    return train, fresh


def _two_classes_in(train: Dataset, test: Dataset) -> None:
    for part, name in ((train, "training"), (test, "held-out")):
        if len(np.unique(part.y)) < 2:
            raise ValueError(
                f"The {part.n_samples} {name} rows are all of one class; choose another seed or a more frequent class."
            )


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


def landmark_numbers(problem, path, beta) -> pd.DataFrame:
    """Return landmarks, their frequencies, and errors along beta; errors are fractions, KL in nats."""
    Q = rff.pseudo_posterior(problem.loss, beta, len(problem.X))
    # Values along beta are means over the landmarks; the bound on the loss is at 95 %.
    tables = problem.columns(Q) | {"along beta": path.columns()}
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


def with_certificate(results, view, certify) -> pd.DataFrame:
    """Return the numbers of a view, then the terms and bounds of the certificate of `certify`, if rows allow."""
    tables = [results if "table" in results or results.empty else results.assign(table=view)]
    try:
        promise = certify()
    except ValueError as error:
        print(f"No certificate: {error}", file=sys.stderr)
    else:
        names = "n_bound", "risk_bound", "majority_error", "test_error", "gibbs_bound", "gibbs_error", "test_set_bound"
        tables.append(pd.DataFrame(promise.terms).assign(table="terms of the certificate"))
        tables.append(pd.DataFrame([{name: getattr(promise, name) for name in names}]).assign(table="certificate"))
    joined = pd.concat([one for one in tables if len(one)] or tables, ignore_index=True).convert_dtypes()
    return joined[sorted(joined, key=lambda name: name != "table")]


if __name__ == "__main__":
    # The experiment
    file = "yours.csv"  # or .tsv, .xlsx, .ods, .arff, .parquet, .svmlight
    choices = {}  # of datasets.read_table, such as {"names at line": "none"} where no line has names
    target = "class"
    columns = ("height", "width")  # to predict it from
    task = "classification"  # or "regression": rows above the median against the others
    label = 1  # the class against all others: 1 or -1 of two, else its position; None of numbers
    scaling = "standard"  # of each column; or "range", "none"
    imputation = "fill"  # of missing values; or "drop"
    groups = None  # column whose equal values mark rows that belong together; None: each row is a draw of its own
    view = "landmarks"  # or "error against D"
    axes = None  # positions of the two columns of a map; None: the first two principal components
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
    dataset = two_classes(prepare(table, target, columns, scaling, imputation, task, groups=groups), label)
    if view == "error against D":
        results = report.error_by_features([row for step in sweep_steps(dataset, seed) for row in step.rows])
    else:
        where = coordinates(dataset, axes, seed)
        problem = landmark_problem(where, sigma, landmarks, D, selection, seed)
        results = landmark_numbers(problem, landmark_path(where, problem, C), beta)
    numbers = with_certificate(results, view, lambda: certified(dataset, seed))
    numbers.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
