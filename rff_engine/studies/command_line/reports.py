"""Commands that show rows: report, reproduce."""

from __future__ import annotations

from argparse import Namespace
from textwrap import fill

import pandas as pd

from ..problem import COLUMNS
from ..protocols import PROTOCOLS
from ..reports import reproduction
from ..reports.comparison import judgement, summary
from ..reports.tables import error_by_features, error_by_share, to_csv, to_frame
from ..running.store import Store
from .output import Output, Progress
from .parser import title
from .runs import compute, inputs_of, open_store, spec_of, store_of


def report(options: Namespace) -> int:
    """Print mean errors, or all rows."""
    inputs = inputs_of(store_of(options)) if options.rows in PROTOCOLS else [options.rows]
    output = Output(options.output or "-", inputs=inputs)
    with Progress("writing the report"):
        text = _report_text(options)
    output.write(text)
    return 0


def _report_text(options: Namespace) -> str:
    rows = _stored(options) if options.rows in PROTOCOLS else _rows_of(options.rows)
    if options.format == "csv":
        return to_csv(rows)
    of = "D" if rows["D"].notna().any() and rows["landmarks"].isna().all() else "share"
    means = error_by_features(rows) if of == "D" else error_by_share(rows)
    return means.to_string(index=False, float_format="%.4f", na_rep="") + "\n"


def _stored(options: Namespace) -> pd.DataFrame:
    """Return the rows of a run that a store has."""
    if options.dataset is None:
        raise ValueError(f"report {options.rows} needs --dataset.")
    options.protocol = options.rows
    spec = spec_of(options)
    with open_store(options, only_read=True) as store:
        rows = store.rows(spec)
        if not rows:
            raise ValueError(f"{store.name} has no row of {spec.run_id}; `run` with the same options computes them.")
    return to_frame(rows)


def _rows_of(name: str) -> pd.DataFrame:
    """Read the result rows of a CSV file."""
    try:
        rows = pd.read_csv(name)
    except OSError as error:
        raise ValueError(
            f"{name} cannot be read: {error.strerror}; a CSV file of rows is needed, or one of {', '.join(PROTOCOLS)}."
        ) from None
    except ValueError as error:
        raise ValueError(f"{name} is no CSV file of rows: {' '.join(str(error).split())}") from None
    missing = [column for column in COLUMNS if column not in rows]
    if missing:
        raise ValueError(f"{name} has no column {missing[0]!r}; a CSV file that run or report has written is needed.")
    return rows


def reproduce(options: Namespace) -> int:
    """Print the numbers of a table or figure next to their reruns, which `--recompute` computes."""
    reproduction.require_rows()
    known = reproduction.datasets_of(options.target)
    names = tuple(dict.fromkeys(options.datasets or known))
    for name in names:
        if name not in known:
            raise ValueError(f"--datasets contains {name!r}; {options.target} has {', '.join(known)}.")
    for given in ("split", "jobs", "scheduler"):
        if not options.recompute and getattr(options, given):
            raise ValueError(f"--{given} is for rows that are computed; give --recompute as well.")
    own = options.recompute or options.store is not None
    source = store_of(options) if own else reproduction.SHIPPED
    output = Output(options.output, inputs=inputs_of(source, names))
    scaled = names if options.scaling == "standard" else ()
    with open_store(options, only_read=not options.recompute) if own else Store(source, read_only=True) as store:
        for spec in reproduction.specs(options.target, names, scaled) if options.recompute else ():
            if options.split in (spec.split, "both", None) and (code := compute(store, spec, options)):
                return code
        with Progress("comparing"):
            rows = reproduction.known_rows(store, options.target, names, scaled)
            comparison = reproduction.compare_with_paper(options.target, rows)
    comparison = comparison[comparison["dataset"].isin(names)]
    if options.output is None:
        _print_comparison(comparison, options)
    else:
        output.write(comparison.to_csv(index=False))
    return 0


def _print_comparison(comparison: pd.DataFrame, options: Namespace) -> None:
    bundled = "" if options.recompute or options.store else " that come with the package; --recompute computes them"
    print(f"{title(options.target)}: errors in print and in reruns{bundled}\n")
    print(summary(comparison))
    words = (
        "rerun: the first on the paper's split; draws: the range there; splits: mean and standard deviation over "
        "random ones. The agreement says where the paper's number lies, not the rerun's."
    )
    print(f"\n{fill(words, 120)}\n{fill(judgement(comparison).sentence(), 120)}")
