"""Commands that compute rows and keep them: run, resume, runs, recompute."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterable
from contextlib import closing
from itertools import product
from pathlib import Path

from .. import datasets
from ..reports.reproduction import SHIPPED
from ..reports.tables import to_csv
from ..running.interrupts import Interrupts
from ..running.recomputation import draw_rows, recompute as recomputed_rows
from ..running.runner import run_stored
from ..running.schema import files_of
from ..running.store import Store, StoreError, default_store
from ..studies.protocols import PROTOCOLS, RunSpec
from .output import Output, Progress, duration, same_file


def run(options: Namespace) -> int:
    """Run a protocol, or resume the same run."""
    changes = {} if options.methods is None else {"methods": tuple(dict.fromkeys(options.methods))}
    changes |= {} if options.scaling is None else {"scaling": options.scaling}
    protocol = PROTOCOLS[options.protocol].preset(options.preset, **changes)
    spec = RunSpec(protocol, options.dataset, options.split, options.repeats, options.seed)
    output = Output(options.output, inputs=inputs_of(store_of(options), [spec.dataset]))
    with open_store(options) as store:
        return _run_and_write(store, spec, output, options)


def resume(options: Namespace) -> int:
    """Resume a run that was stopped."""
    with open_store(options) as store:
        spec = store.run(options.run)
        output = Output(options.output, inputs=inputs_of(store_of(options), [spec.dataset]))
        return _run_and_write(store, spec, output, options)


def _run_and_write(store: Store, spec: RunSpec, output: Output, options: Namespace) -> int:
    """Compute the missing rows of a run and write all; known rows are kept on Ctrl-C or SIGTERM."""
    code = compute(store, spec, options)
    output.write(to_csv(store.rows(spec)))
    return code


def compute(store: Store, spec: RunSpec, options: Namespace) -> int:
    """Compute the missing rows of a run; 130 if it is interrupted."""
    known = 0
    try:
        with Interrupts() as interrupts, Progress(f"reading {spec.dataset}") as progress:
            steps = run_stored(store, spec, jobs=options.jobs, scheduler=options.scheduler)
            with closing(steps):
                for step in steps:
                    known += len(step.rows)
                    progress.show(step.message, step.done / step.total)
                    interrupts.check()
    except KeyboardInterrupt:
        print(f"interrupted: {known} new rows of {spec.run_id} are kept; the same command goes on", file=sys.stderr)
        return 130
    print(f"{spec.run_id}: {known} new rows in {store.name}", file=sys.stderr)
    return 0


def recompute(options: Namespace) -> int:
    """Recompute rows of the given store, or of the reruns of the papers, and compare; 1 if some differ."""
    given = SHIPPED if options.store is None else options.store
    into = files_of(options.into or "sqlite://")
    if any(same_file(one, other) for one, other in product(into, files_of(given))):
        raise StoreError(f"--into is {options.into!r}; that is the store that is read; another is needed.")
    with (
        Store(given, read_only=True if options.store is None else None) as store,
        _store_into(options) as target,
        Progress("drawing rows") as progress,
    ):
        drawn = draw_rows(store, options.rows, options.seed, options.max_seconds)
        recomputed = []
        progress.show(f"computing {len(drawn)} rows")
        for row in recomputed_rows(store, drawn, target):
            recomputed.append(row)
            progress.show(f"{len(recomputed)} of {len(drawn)} rows recomputed", len(recomputed) / len(drawn))
            progress.clear()
            allowed = f"{row.allowed:g} allowed" if row.allowed else "must be equal"
            verdict = "agrees" if row.agrees else "DIFFERS" if row.same_key else "OTHER DATA OR SETTINGS"
            print(f"{row.drawn.name}: {verdict}, relative difference {row.difference:.2g}, {allowed}", flush=True)
    equal = sum(row.difference == 0 for row in recomputed)
    near = sum(row.agrees for row in recomputed)
    print(f"{len(recomputed)} rows recomputed: {equal} equal, {near - equal} more within what is allowed")
    return 0 if near == len(recomputed) else 1


def _store_into(options: Namespace) -> Store:
    try:
        return Store(options.into or "sqlite://")
    except StoreError as error:
        raise StoreError(f"--into{str(error).removeprefix('store')}") from None


def open_store(options: Namespace, only_read: bool = False) -> Store:
    """The store of a command; one that is only read may be a copy that cannot be written."""
    return Store(store_of(options), read_only=None if only_read else False)


def store_of(options: Namespace) -> str:
    """File or URL of the store of a command."""
    return default_store() if options.store is None else options.store


def inputs_of(store: str | Path, names: Iterable[str] = ()) -> list[Path]:
    """The files that a command reads: those of a store and of data sets."""
    return [*files_of(store), *(file for name in names for file in datasets.found_files(name))]


def runs(options: Namespace) -> int:
    """List the runs of a store."""
    with open_store(options, only_read=True) as store:
        for info in store.runs():
            if info.spec is None:
                state = "of another version"
            else:
                state = "finished" if info.finished else f"{info.repeats_planned} of {info.spec.repeats} repeats begun"
            made = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.created))
            print(f"{info.id:<44} {made}  {info.n_rows:>6} rows, {duration(info.seconds)}, {state}")
    return 0
