"""Copy finished runs of other stores into the store of reruns that ships with the repository.

    python -m benchmarks.studies.bundle_reruns results.sqlite     # every finished run of a table or figure in it

Rows that no table or figure needs stay out. The bundled store remains one file without a log or free pages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from rff_engine.studies.reports import reproduction
from rff_engine.studies.running.store import Store


def bundle(source: Path, target: Path = reproduction.SHIPPED) -> list[str]:
    """Copy the rows of the finished runs that some table or figure needs; return the ids of runs that were lacking."""
    copied = {}
    with Store(source, read_only=True) as theirs, Store(target, read_only=True) as ours:
        for spec in reproduction.all_specs():
            there = theirs.keys(spec)
            n_rows = spec.repeats * len(spec.protocol.settings())
            if len(there) == n_rows and len(ours.keys(spec)) < n_rows:
                copied[spec.run_id] = there
    with TemporaryDirectory(dir=target.parent) as folder:
        partial = Path(shutil.copyfile(target, Path(folder) / target.name))
        _copy(source, [key for there in copied.values() for key in there], partial)
        os.replace(partial, target)
    return sorted(copied)


def _copy(source: Path, keys: list[bytes], target: Path) -> None:
    with closing(sqlite3.connect(target)) as file:
        file.execute("ATTACH ? AS other", (str(source),))
        file.executemany(
            "INSERT OR IGNORE INTO rff_rows SELECT * FROM other.rff_rows WHERE key = ?", [(key,) for key in keys]
        )
        file.commit()
        file.execute("DETACH other")
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("VACUUM")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("stores", type=Path, nargs="+", help="SQLite files")
    for source in parser.parse_args().stores:
        print("\n".join(bundle(source)) or f"{source} has no run that is missing")


if __name__ == "__main__":
    main()
