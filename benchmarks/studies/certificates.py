"""Certified risks, test errors and test-set bounds on the seven sets of Letarte et al. (2019), on random splits.

    python -m benchmarks.studies.certificates                          # the tables of docs/certificates.md
    python -m benchmarks.studies.certificates --output rows.csv        # computes what the file lacks, then the tables
    python -m benchmarks.studies.certificates --output rows.csv --datasets breast mnist17 --splits 2 --D 5 20

A row is one method with D frequencies or landmarks on one random split, and is computed once. Its bounds are those of
the posterior alone, by PAC-Bayes-kl. The seed of a split is its number. The same seed halves training and validation
rows, for the prior and for the bound. The kernel's width, the strength of the posterior and the scaling of columns are
chosen on the prior's half.
`datasets/data/reruns/certificates.csv` is such a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import pandas as pd

import datasets
from benchmarks.studies import frame
from rff_engine.studies.certificate import METHODS, CertifiedSplit

COUNTS = (20, 100)
KEYS = ["dataset", "split", "method", "D"]
SHIPPED = frame.DATA / "certificates.csv"
MEASURED = ["test_error", "risk_bound", "tandem_bound", "c_bound", "test_set_bound", "gibbs_error", "gibbs_bound"]
N_CANDIDATES = 1000
NAMES = {"rff": "RFF", "pbrff": "PBRFF", "okrff": "OKRFF", "landmarks": "landmarks", "boosting": "boosting"}


def settings(asked) -> Iterator[dict]:
    for split, name, D, method in product(range(asked.splits), asked.datasets, asked.D, asked.methods):
        yield {"dataset": name, "split": split, "method": method, "D": D}


def rows_of(dataset: str, split: int, method: str, D: int) -> list[dict]:
    certified, kernel = _certified(dataset, split)
    model = certified.fitted(method, D, kernel)
    row = {"n_bound": len(model.bound_rows_), "sigma": kernel.sigma, "test_set_bound": model.test_set_bound_}
    return [row | certified.posterior_alone(model)]


@lru_cache(1)
def _certified(name: str, split: int) -> tuple:
    """Return the rows of a split and the kernel that all methods share."""
    certified = CertifiedSplit(datasets.random_split(datasets.load(name), split), split, N_CANDIDATES)
    return certified, certified.kernel()


def tables(results: pd.DataFrame) -> str:
    """Show tables in Markdown: against D, and all bounds at D = 100."""
    return f"{table_against_D(results)}\n\n{table_of_bounds(results)}"


def table_against_D(results: pd.DataFrame) -> str:
    """Show mean test error, certified risk and test-set bound in percent, at each D."""
    counts = sorted(results["D"].unique())

    body = [
        [name, NAMES[method], *(_errors_and_bounds(of[of["D"] == D]) for D in counts)]
        for name, rows in frame.by_dataset(results)
        for method in METHODS
        if len(of := rows[rows["method"] == method])
    ]
    return frame.markdown(["data", "features", *(f"D = {D}" for D in counts)], body)


def _errors_and_bounds(cell: pd.DataFrame) -> str:
    return "/".join(f"{100 * cell[key].mean():.1f}" for key in ("test_error", "risk_bound", "test_set_bound"))


def table_of_bounds(results: pd.DataFrame, D: int = 100) -> str:
    """Show means in percent at one D, for the method with the smallest certified risk on each set."""

    body = []
    for name, of in frame.by_dataset(results[results["D"] == D]):
        means = of.groupby("method")[["n_bound", *MEASURED]].mean()
        best = means.loc[means["risk_bound"].idxmin()]
        numbers = [f"{100 * best[key]:.2f}" for key in MEASURED]
        body.append([name, NAMES[best.name], f"{best['n_bound']:.0f}", *numbers])
    header = ["test error", "certified", "tandem", "C-bound", "test-set bound", "Gibbs test error", "Gibbs certified"]
    return frame.markdown(["data", "features", "rows", *header], body)


if __name__ == "__main__":
    own = {
        "datasets": frame.chosen(),
        "methods": frame.chosen(METHODS),
        "D": frame.counts(*COUNTS),
        "splits": {"type": int, "default": 5},
    }
    frame.main(__doc__, settings, rows_of, tables, SHIPPED, **own)
