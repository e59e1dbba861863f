"""What the studies share: their command line, rows that stay in a file, tables in Markdown and in pages of docs.

A study lists the settings of its rows, computes the rows of one setting, and makes tables of all rows. With `--output`
it computes only what the file lacks, so it goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

DOCS = Path(__file__).parents[1] / "docs"


def main(
    about: str | None,
    settings: Callable[[argparse.Namespace], Iterable[dict]],
    rows_of: Callable[..., Iterable[dict]],
    tables: Callable[[pd.DataFrame], str],
    written: tuple[Path, tuple[str, str]],
    **options: dict[str, Any],
) -> None:
    """Run a study, whose docstring is `about`, from the command line.

    `--write` puts its tables into a page between two marks, both in `written`. `options` are its other options, with
    arguments of `add_argument`.
    """
    parser = argparse.ArgumentParser(description=(about or "").split("\n\n")[0])
    for name, kind in options.items():
        parser.add_argument(f"--{name}", **kind)
    parser.add_argument("--output", type=Path, metavar="ROWS.csv", help="file to add the rows to")
    parser.add_argument("--write", action="store_true", help=f"write the tables into docs/{written[0].name}")
    asked = parser.parse_args()
    with threadpool_limits(1):
        text = tables(rows(asked.output, settings(asked), rows_of))
    print(text)
    if asked.write:
        write(written[0], text, written[1])


def chosen(names: Iterable[str]) -> dict[str, Any]:
    """Return an option of several names, by default all."""
    return {"nargs": "+", "choices": names, "default": list(names), "metavar": "NAME"}


def counts(*values: float, kind: type = int) -> dict[str, Any]:
    """Return an option of several numbers."""
    return {"nargs": "+", "type": kind, "default": values}


def rows(output: Path | None, settings: Iterable[dict], rows_of: Callable[..., Iterable[dict]]) -> pd.DataFrame:
    """Add the rows that a file lacks, and return all. Without a file, compute all.

    Print each computed row as a line.
    """
    known = pd.read_csv(output) if output and output.exists() else pd.DataFrame()
    computed = []
    for setting in settings:
        if len(known) and _has(known, setting):
            continue
        new = [setting | row for row in rows_of(**setting)]
        for row in new:
            print(*row.values(), flush=True)
        if output:
            pd.DataFrame(new).to_csv(output, mode="a", header=not output.exists(), index=False)
        computed += new
    return pd.read_csv(output) if output and output.exists() else pd.DataFrame(computed)


def _has(known: pd.DataFrame, setting: dict) -> bool:
    """Return whether a row has this setting."""
    return bool(np.logical_and.reduce([_same(known[key], value) for key, value in setting.items()]).any())


def _same(column: pd.Series, value) -> np.ndarray | pd.Series:
    """Return where a column has a value. What does not apply is None, and empty in the file."""
    if value is None:
        return column.isna()
    if isinstance(value, str):
        return column == value
    return np.isclose(column, value, rtol=1e-9, atol=0)  # numbers are read back from text


def markdown(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (header, *body)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])


def write(path: Path, text: str, marks: tuple[str, str]) -> None:
    """Put `text` between two marks of a page. Raise a ValueError if it does not hold each once, in order."""
    page = path.read_text(encoding="utf-8")
    begin, end = marks
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"{path.name} does not hold the lines {begin!r} and {end!r} once each, in this order.")
    head, rest = page.split(begin)
    path.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def machine() -> str:
    """Return the number of cores, and versions."""
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"
