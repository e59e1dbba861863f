"""Progressive validation on the seven sets of Letarte et al. (2019), ten splits, against test-set bounds.

    python -m benchmarks.studies.seven_sets                        # the table of docs/certificates.md
    python -m benchmarks.studies.seven_sets --output rows.csv      # computes what the file lacks, then the table
    python -m benchmarks.studies.seven_sets --output rows.csv --datasets breast --splits 2

The learner is ridge regression of the labels on D random Fourier features of the width "scale"; columns are scaled
where they have units. D is 100, and also 500 on the two smallest sets. Training and validation rows of a random
split certify it at epsilon = 0.05:

- `test_20` to `test_80`: the test-set bound, with that percentage of the rows to teach.
- `blocks`: progressive validation in five blocks after half of the rows; `rate` is the bound with the best rate, chosen
  after looking, on the errors and rows that it counts.

`datasets/data/reruns/seven_sets.csv` has the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import datasets
from benchmarks.studies import frame
from benchmarks.studies.chosen_beta import interval
from rff_engine import CertifiedClassifier, RandomFourierFeatures, bounds
from rff_engine.studies.certificate import SCALED, CertifiedSplit

EPSILON, SPLITS = 0.05, 10
COUNTS = {100: frame.DATASETS, 500: ("breast", "ads")}
FRACTIONS = (0.2, 0.35, 0.5, 0.65, 0.8)
TESTS = [f"test_{100 * fraction:.0f}" for fraction in FRACTIONS]
KEYS = ["dataset", "split", "D"]
SHIPPED = frame.DATA / "seven_sets.csv"


def learner(dataset: str, split: int, D: int) -> Pipeline:
    steps = [StandardScaler(with_mean=False)] if dataset in SCALED else []
    return make_pipeline(*steps, RandomFourierFeatures(None, D, random_state=split), RidgeClassifier())


def rows_of(dataset: str, split: int, D: int) -> list[dict]:
    parts = datasets.random_split(datasets.load(dataset), split)
    certified = CertifiedSplit(parts, split)
    X, y = sp.csr_array(certified.X), certified.y  # a shift of the points changes no kernel
    ridge = learner(dataset, split, D)
    tests = [CertifiedClassifier(None, one, EPSILON, split, ridge).fit(X, y) for one in FRACTIONS]
    blocks = CertifiedClassifier(None, 0.5, EPSILON, split, ridge, "progressive").fit(X, y)
    n = len(blocks.bound_rows_)
    return [
        {name: one.risk_bound_ for name, one in zip(TESTS, tests, strict=True)}
        | {
            "blocks": blocks.risk_bound_,
            "rate": float(bounds.largest_mean(blocks.n_errors_ / n, -np.log(EPSILON) / n)),
            "test_error": float(np.mean(blocks.predict(sp.csr_array(parts.X_test)) != parts.y_test)),
        }
    ]


def tables(rows: pd.DataFrame) -> str:
    """Show mean certified risks in percent, and paired differences to the test-set bound at its best fraction."""
    body = []
    for D, of_count in rows.groupby("D"):
        for name, some in frame.by_dataset(of_count):
            of = 100 * some.drop(columns="dataset")
            best = str(of[TESTS].mean().idxmin())
            cells = [f"{D}", f"{of['test_error'].mean():.2f}", f"{of['blocks'].mean():.2f}"]
            cells += [f"{of[best].mean():.2f} ({best[-2:]} %)", interval(of["blocks"] - of[best])]
            body.append([name, *cells, f"{of['rate'].mean():.2f}"])
    header = ["data", "D", "errs", "blocks", "best test set", "difference", "with a rate"]
    return frame.markdown(header, body)


def settings(asked) -> Iterator[dict]:
    for D, names in COUNTS.items():
        for split, name in product(range(asked.splits), asked.datasets):
            if name in names:
                yield {"dataset": name, "split": split, "D": D}


if __name__ == "__main__":
    own = {"datasets": frame.chosen(), "splits": {"type": int, "default": SPLITS}}
    frame.main(__doc__, settings, rows_of, tables, SHIPPED, **own)
