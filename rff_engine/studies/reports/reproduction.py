"""The tables and figures of both papers that can be rerun: their runs, known rows, and comparison with the paper.

`letarte` and `li` have one paper each. Nothing is run or drawn here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pandas as pd

import rff_datasets

from ..._validation import check_choice
from ..problem import Row
from ..protocols import TARGETS, RunSpec
from ..running.store import Store
from . import letarte, li

SHIPPED = rff_datasets.BUNDLED / "reruns" / "reruns.sqlite"
"""Store of finished reruns, part of the repository and of the package rff-data"""


def require_rows() -> None:
    """Raise a FileNotFoundError that says what to install, if the rows of the reruns are missing."""
    if not SHIPPED.is_file():
        raise FileNotFoundError(
            "The rows of the reruns are in the package rff-data, which is not installed: in a copy of the repository, "
            "pip install ./datasets/data adds it."
        )


def datasets_of(target: str) -> tuple[str, ...]:
    """Return the data sets of a table or figure, in the paper's order."""
    check_choice(target, "target", tuple(TARGETS))
    return li.DATASETS if target in li.TARGETS else letarte.DATASETS


def specs(target: str, datasets: Sequence[str] | None = None, scaled: Collection[str] = ()) -> list[RunSpec]:
    """List the runs behind a table or figure.

    Parameters
    ----------
    target : str
        One of `TARGETS`.
    datasets : sequence of str, optional
        Of `datasets_of` the target, by default all; for those of Letarte et al. (2019) also `letarte.OTHERS`.
    scaled : sequence of str
        Data sets whose columns are standardised. Letarte et al. (2019) do this for none, Li et al. (2019) for all,
        whatever is given here.

    Raises
    ------
    ValueError
        If the target, or a data set, is not the papers'.
    """
    datasets = datasets_of(target) if datasets is None else datasets
    if target in li.TARGETS:
        return li.specs(target, datasets) + [cause.spec for cause in li.causes(target, datasets)]
    return letarte.specs(target, datasets, scaled)


def all_specs() -> list[RunSpec]:
    """List the runs behind all tables and figures, each once, and those of sets that the papers lack."""
    every = [spec for target in TARGETS for spec in specs(target)]
    every += [spec for target in letarte.TARGETS for spec in letarte.specs(target, letarte.OTHERS)]
    return list({spec.run_id: spec for spec in every}.values())


def known_rows(
    store: Store, target: str, datasets: Sequence[str] | None = None, scaled: Collection[str] = ()
) -> list[Row]:
    """Return the rows in a store of the runs behind a table or figure; see `specs`."""
    return [row for spec in specs(target, datasets, scaled) for row in store.rows(spec)]


def compare_with_paper(target: str, rows: Iterable[Row] | pd.DataFrame) -> pd.DataFrame:
    """Compare a table or figure with its reruns by `letarte.table_1`, `letarte.figure` or `li.table`."""
    if target in li.TARGETS:
        return li.table(target, rows)
    return letarte.table_1(rows) if target == "table1" else letarte.figure(target, rows)


def provenance(store: Store, specs: Iterable[RunSpec]) -> pd.DataFrame:
    """Return protocol, seeds, time, library versions and machine of the runs with rows in a store.

    Minutes count the rows alone, see `run`.
    """
    made = ((spec, store.rows(spec)) for spec in specs)
    return pd.DataFrame([_made(store, spec, rows) for spec, rows in made if rows])


def _made(store: Store, spec: RunSpec, rows: list[Row]) -> Row:
    finished = len(rows) == spec.repeats * len(spec.protocol.settings())
    return {
        "run": spec.run_id,
        "data set": spec.dataset,
        "split": spec.split,
        "columns": "as they are" if spec.protocol.scaling == "none" else "standardised",
        "repeats": f"{spec.repeats}" if finished else f"{len({row['repeat'] for row in rows})}, unfinished",
        "first seed": spec.seed,
        "rows": len(rows),
        "minutes": round(sum(row["seconds"] for row in rows) / 60, 1),
        "made with": "; ".join(store.provenance(spec)),
    }
