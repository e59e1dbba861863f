"""What the studies share: options, rows that stay in a file, tables in Markdown.

A study lists the settings of its rows, and computes the rows of one setting. With `--output` it computes only what the
file lacks, so it goes on where it stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rff_engine.experiments.reports import reproduction

DATA = reproduction.SHIPPED.parent
DATASETS = ("breast", "ads", "mnist17", "mnist49", "mnist56", "farm", "adult")


def options(about: str, datasets: Sequence[str] = DATASETS) -> argparse.ArgumentParser:
    """A parser of `--output` and of `--datasets` with a default, unless there is nothing to choose from."""
    parser = argparse.ArgumentParser(description=about.split("\n\n")[0])
    if datasets:
        parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=datasets, metavar="NAME")
    parser.add_argument("--output", type=Path, metavar="ROWS.csv", help="file to add the rows to")
    return parser


def rows(
    output: Path | None,
    settings: Iterable[dict],
    rows_of: Callable[..., Iterable[dict]],
    shipped: Path | None = None,
    line: Callable[[dict], str] = lambda row: " ".join(map(str, row.values())),
) -> pd.DataFrame:
    """The rows of a file after those that it lacks have been added; without a file those that ship, or all, computed.

    A row that is computed is printed as a line.
    """
    if output is None and shipped:
        return pd.read_csv(shipped)
    known = pd.read_csv(output) if output and output.exists() else pd.DataFrame()
    computed = []
    for setting in settings:
        if len(known) and _has(known, setting):
            continue
        new = [setting | row for row in rows_of(**setting)]
        print(*map(line, new), sep="\n", flush=True)
        if output:
            pd.DataFrame(new).to_csv(output, mode="a", header=not output.exists(), index=False)
        computed += new
    return pd.read_csv(output) if output and output.exists() else pd.DataFrame(computed)


def _has(known: pd.DataFrame, setting: dict) -> bool:
    """Whether a row has this setting."""
    return bool(np.logical_and.reduce([_same(known[key], value) for key, value in setting.items()]).any())


def _same(column: pd.Series, value) -> np.ndarray | pd.Series:
    """Where a column has a value; what does not apply is None, and empty in the file."""
    if value is None:
        return column.isna()
    if isinstance(value, str):
        return column == value
    return np.isclose(column, value, rtol=1e-9, atol=0)  # numbers are read back from text


def markdown(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (header, *body)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])
