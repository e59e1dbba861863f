"""Certified risks, test errors and test-set bounds on the seven sets of Letarte et al. (2019), on random splits.

    python -m benchmarks.certificates rows.csv                         # compute; again, to go on after a stop
    python -m benchmarks.certificates rows.csv --datasets breast mnist17 --splits 2 --D 5 20
    python -m benchmarks.certificates --table                          # the tables of docs/certificates.md
    python -m benchmarks.certificates --table rows.csv

A row is one method with D frequencies or landmarks on one random split, and is computed once. The seed of a split is
its number; training and validation rows are halved, for the prior and for the bound, by the same seed. The kernel's
width, the strength of the posterior and the scaling of columns are chosen on the prior's half.
`rff_engine/experiments/reports/data/certificates.csv` is such a file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import datasets
from rff_engine.experiments.reports import letarte
from rff_engine.experiments.studies.certificate import METHODS, CertifiedSplit

DATASETS = ("breast", "ads", "mnist17", "mnist49", "mnist56", "farm", "adult")
COUNTS = (5, 20, 100, 500)
KEYS = ["dataset", "split", "method", "D"]
SHIPPED = Path(letarte.__file__).parent / "data" / "certificates.csv"
MEASURED = ["test_error", "risk_bound", "test_set_bound", "gibbs_error", "gibbs_bound", "tandem_bound", "c_bound"]
N_CANDIDATES = 1000
NAMES = {"rff": "RFF", "pbrff": "PBRFF", "okrff": "OKRFF", "landmarks": "landmarks", "boosting": "boosting"}
# Landmarks are rows, of which breast has too few; on farm each has frequencies in 54 877 columns.
_MOST_LANDMARKS = {"breast": 100, "farm": 100}


def main() -> None:
    asked = _asked()
    if asked.table:
        print(tables(pd.read_csv(asked.rows or SHIPPED)))
        return
    compute(asked.rows, asked.datasets, asked.splits, asked.methods, asked.D)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rows", type=Path, nargs="?", metavar="ROWS.csv", help="file to add the rows to")
    parser.add_argument("--table", action="store_true", help="print tables of the rows (default: of the shipped ones)")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS, metavar="NAME")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--D", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--splits", type=int, default=10)
    asked = parser.parse_args()
    if asked.rows is None and not asked.table:
        parser.error("a file for the rows, or --table, is needed")
    return asked


def compute(path: Path, names: Sequence[str], n_splits: int, methods: Sequence[str], counts: Sequence[int]) -> None:
    """Append the rows that the file lacks, split by split."""
    known = set()
    if path.exists():
        known = set(pd.read_csv(path)[KEYS].itertuples(index=False, name=None))
    for split in range(n_splits):
        for name in names:
            wanted = [
                (method, D)
                for D in counts
                for method in methods
                if method != "landmarks" or _MOST_LANDMARKS.get(name, D) >= D
            ]
            lacking = [cell for cell in wanted if (name, split, *cell) not in known]
            for row in rows(name, split, lacking):
                print(f"{name} {split} {row['method']} {row['D']}: {row['risk_bound']:.4f}", flush=True)
                pd.DataFrame([row]).to_csv(path, mode="a", header=not path.exists(), index=False)


def rows(name: str, split: int, cells: Sequence[tuple[str, int]]) -> Iterator[dict]:
    """One row for each method and D of `cells`."""
    if not cells:
        return
    certified = CertifiedSplit(datasets.random_split(datasets.load(name), split), split, N_CANDIDATES)
    kernel = certified.kernel()
    for method, D in cells:
        certificate = certified.run(method, D, kernel)
        row = {"dataset": name, "split": split, "method": method, "D": D, "n_bound": certificate.n_bound}
        yield row | {"sigma": kernel.sigma} | {key: getattr(certificate, key) for key in MEASURED}


def tables(results: pd.DataFrame) -> str:
    """Tables in Markdown: against D, and all bounds at D = 100."""
    return f"{table_against_D(results)}\n\n{table_of_bounds(results)}"


def markdown(header: Sequence[str], body: Iterator[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (header, *body)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])


def table_against_D(results: pd.DataFrame) -> str:
    """Mean test error, certified risk and test-set bound in percent, and the number of splits at each D."""
    counts = sorted(results["D"].unique())

    def body():
        for name in DATASETS:
            for method in METHODS:
                of = results[(results["dataset"] == name) & (results["method"] == method)]
                if len(of):
                    cells = [of[of["D"] == D] for D in counts]
                    splits = ", ".join(str(len(cell)) for cell in cells)
                    yield [name, NAMES[method], *map(_errors_and_bounds, cells), splits]

    return markdown(["data", "features", *(f"D = {D}" for D in counts), "splits"], body())


def _errors_and_bounds(cell: pd.DataFrame) -> str:
    if not len(cell):
        return ""
    return " / ".join(f"{100 * cell[key].mean():.1f}" for key in ("test_error", "risk_bound", "test_set_bound"))


def table_of_bounds(results: pd.DataFrame, D: int = 100) -> str:
    """Means in percent at one D of the method with the smallest certified risk of each set."""

    def body():
        for name in DATASETS:
            of = results[(results["dataset"] == name) & (results["D"] == D)]
            if not len(of):
                continue
            means = of.groupby("method")[["n_bound", *MEASURED]].mean()
            best = means.loc[means["risk_bound"].idxmin()]
            names = ["test_error", "risk_bound", "tandem_bound", "c_bound", "test_set_bound", "gibbs_error"]
            numbers = [f"{100 * best[key]:.2f}" for key in [*names, "gibbs_bound"]]
            yield [name, NAMES[best.name], f"{best['n_bound']:.0f}", *numbers]

    header = ["test error", "certified", "tandem", "C-bound", "test-set bound", "Gibbs test error", "Gibbs certified"]
    return markdown(["data", "features", "rows", *header], body())


def interval(values) -> str:
    """The mean with its sign, and the half-width of its 95 % interval if there is more than one value."""
    mean = f"{np.mean(values):+.2f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {1.96 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


if __name__ == "__main__":
    main()
