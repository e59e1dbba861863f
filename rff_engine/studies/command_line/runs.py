"""Commands that compute rows and keep them, or list what is kept: run, runs, recompute."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from joblib import parallel_config

import rff_datasets as datasets

from ..protocols import PROTOCOLS, RunSpec
from ..reports.reproduction import SHIPPED, all_specs, require_rows
from ..reports.tables import to_csv
from ..running.recomputation import draw_rows, recompute as recomputed_rows
from ..running.run import run_stored
from ..running.store import Store, default_store, files_of
from .output import Output, Progress, duration

_CONNECT_SECONDS = 10


def run(options: Namespace) -> int:
    """Run a protocol, or resume the same run; Ctrl-C and SIGTERM keep known rows."""
    spec = spec_of(options)
    output = Output(options.output, inputs=inputs_of(store_of(options), [spec.dataset]))
    with open_store(options) as store:
        code = compute(store, spec, options)
        output.write(to_csv(store.rows(spec)))
    return code


def spec_of(options: Namespace) -> RunSpec:
    """Return the run that the options of a command ask for."""
    changes = {} if options.methods is None else {"methods": tuple(dict.fromkeys(options.methods))}
    changes |= {} if options.scaling is None else {"scaling": options.scaling}
    protocol = PROTOCOLS[options.protocol].preset(options.preset, **changes)
    return RunSpec(protocol, options.dataset, options.split, options.repeats, options.seed)


def compute(store: Store, spec: RunSpec, options: Namespace) -> int:
    """Compute the missing rows of a run; return 130 if it is interrupted."""
    known = 0
    try:
        with (
            _workers(options.scheduler),
            Progress(f"reading {spec.dataset}") as progress,
            closing(run_stored(store, spec, jobs=options.jobs)) as steps,
        ):
            for step in steps:
                known += len(step.rows)
                progress.show(step.message, step.done / step.total)
    except KeyboardInterrupt:
        print(f"interrupted: {known} new rows of {spec.run_id} are kept; the same command goes on", file=sys.stderr)
        return 130
    print(f"{spec.run_id}: {known} new rows in {store.name}", file=sys.stderr)
    return 0


@contextmanager
def _workers(scheduler: str | None) -> Iterator[None]:
    """Let the workers of a Dask scheduler compute, if there is one."""
    if scheduler is None:
        yield
        return
    from distributed import Client

    try:
        client = Client(scheduler, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError):
        raise ValueError(f"scheduler is {scheduler!r}; no Dask scheduler answers there.") from None
    with client:
        if not client.nthreads():
            raise ValueError(f"scheduler is {scheduler!r}; it has no workers: start some with `dask worker`.")
        with parallel_config("dask"):
            yield


def recompute(options: Namespace) -> int:
    """Recompute rows of the papers' reruns in a store, by default the bundled one; return 1 if some differ."""
    if options.store is None:
        require_rows()
    given = options.store or SHIPPED
    with Store(given, read_only=True if options.store is None else None) as store, Progress("drawing rows") as progress:
        drawn = draw_rows(store, all_specs(), options.rows, options.seed, options.max_seconds)
        recomputed = []
        progress.show(f"computing {len(drawn)} rows")
        for row in recomputed_rows(store, drawn):
            recomputed.append(row)
            progress.show(f"{len(recomputed)} of {len(drawn)} rows recomputed", len(recomputed) / len(drawn))
            progress.clear()
            allowed = f"{row.allowed:g} allowed" if row.allowed else "must be equal"
            verdict = "agrees" if row.agrees else "DIFFERS" if row.same_key else "OTHER DATA OR SETTINGS"
            print(f"{row.name}: {verdict}, relative difference {row.difference:.2g}, {allowed}", flush=True)
    equal = sum(row.difference == 0 for row in recomputed)
    near = sum(row.agrees for row in recomputed)
    print(f"{len(recomputed)} rows recomputed: {equal} equal, {near - equal} more within what is allowed")
    return 0 if near == len(recomputed) else 1


def open_store(options: Namespace, only_read: bool = False) -> Store:
    """Return the store of a command; a store that is only read may be a copy without write access."""
    return Store(store_of(options), read_only=None if only_read else False)


def store_of(options: Namespace) -> str:
    """Return file or URL of the store of a command."""
    return default_store() if options.store is None else options.store


def inputs_of(store: str | Path, names: Iterable[str] = ()) -> list[Path]:
    """Return the files that a command reads: of a store and of data sets."""
    return [*files_of(store), *(file for name in names for file in datasets.found_files(name))]


def runs(options: Namespace) -> int:
    """List what a store has, by data set, split and method."""
    with open_store(options, only_read=True) as store:
        for kept in store.contents():
            made = time.strftime("%Y-%m-%d %H:%M", time.localtime(kept.made))
            of = f"{kept.dataset:<16} {kept.split:<9} {kept.method:<24}"
            print(f"{of} {made}  {kept.seeds:>4} seeds, {kept.rows:>6} rows, {duration(kept.seconds)}")
    return 0
