"""Command line: measures entries, each in its own process, and writes docs/performance.md and the figure.

Results are stored under `benchmarks/results`, by the state of the engine, the entries and the libraries: a stopped
benchmark continues where it was, and a change of the engine starts a new one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from joblib import cpu_count

from benchmarks.engine import growth, table
from benchmarks.engine.entries import ENTRIES, Entry, measure
from benchmarks.engine.measure import Result

ROOT = Path(__file__).parents[2]
MEASURED = ("entries.py", "measure.py", "references.py")


def main() -> int:
    options = parser().parse_args()
    if options.into is not None:
        options.into.write_text(json.dumps(measure(options.only[0], options.quick).stored()))
        return 0
    folder = ROOT / "benchmarks" / "results" / key(options.quick)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for entry in chosen(options):
        stored = folder / f"{entry.name}.json"
        wanted = options.fresh or options.only or not stored.exists() or load(stored).skipped
        if wanted and not measure_apart(entry, stored, options.quick):
            failed.append(entry.name)
            print(f"{entry.name}: FAILED", flush=True)
            continue
        print(table.lines(entry.name, entry.title, load(stored)), flush=True)

    results = {path.stem: load(path) for path in folder.glob("*.json")}
    missed = [name for name, result in results.items() if not all(target.met for target in result.targets)]
    if missed:
        print(f"\nTargets are missed by {', '.join(name for name in ENTRIES if name in missed)}.")
    print(f"\n{table.section(ENTRIES.values(), results)}")
    if not (options.quick or options.no_write):
        write(results)
    return 1 if failed else 0


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__.split("\n")[0])
    arguments.add_argument("--only", nargs="+", choices=ENTRIES, metavar="NAME", help="measure these entries again")
    arguments.add_argument("--quick", action="store_true", help="small sizes, to try the benchmark; writes nothing")
    arguments.add_argument("--long", action="store_true", help="also the entries that take up to an hour")
    arguments.add_argument("--fresh", action="store_true", help="repeat measurements of the same code")
    arguments.add_argument("--no-write", action="store_true", help="write nothing below docs")
    arguments.add_argument("--into", type=Path, help=argparse.SUPPRESS)  # internal: measure one entry into this file
    return arguments


def chosen(options) -> list[Entry]:
    if options.only:
        return [ENTRIES[name] for name in options.only]
    return [entry for entry in ENTRIES.values() if options.long or not entry.long]


def key(quick: bool) -> str:
    """Digest of all that the numbers depend on: engine, data, entries, and libraries of the machine."""
    digest = hashlib.sha256(table.machine().encode())
    here = Path(__file__).parent
    sources = [*(ROOT / "rff_engine").rglob("*.py"), *(ROOT / "datasets").rglob("*.py"), *(here / n for n in MEASURED)]
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12] + ("-quick" if quick else "")


def measure_apart(entry: Entry, stored: Path, quick: bool) -> bool:
    """Measure an entry in its own process; return whether it succeeded."""
    partial = stored.with_suffix(".partial")
    command = [sys.executable, "-m", "benchmarks.engine", "--only", entry.name, "--into", str(partial)]
    threads = {f"{library}_NUM_THREADS": str(cpu_count()) for library in ("OMP", "OPENBLAS", "MKL")}
    ran = subprocess.run(command + ["--quick"] * quick, cwd=ROOT, env=os.environ | threads)
    if ran.returncode == 0:
        partial.replace(stored)
    return ran.returncode == 0


def load(path: Path) -> Result:
    return Result.of(json.loads(path.read_text()))


def write(results: dict[str, Result]) -> None:
    """Write docs/performance.md and docs/growth.svg, unless an entry is missing."""
    there = {name for name, result in results.items() if not result.skipped}
    missing = [name for name, entry in ENTRIES.items() if name not in there and not entry.long]
    if missing:
        print(f"\nNothing is written: {', '.join(missing)} skipped, failed or not measured on this code yet.")
        return
    growth.plot(results, ROOT / "docs" / "growth.svg")
    table.write(ROOT / "docs" / "performance.md", table.section(ENTRIES.values(), results))


if __name__ == "__main__":
    sys.exit(main())
