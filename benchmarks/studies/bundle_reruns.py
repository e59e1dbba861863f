"""Copy finished runs of other stores into the store of reruns that ships with the repository.

    python -m benchmarks.studies.bundle_reruns results.sqlite     # every finished run of a table or figure in it

Runs that no table or figure needs stay out. The bundled store remains one file without a log, claims or free pages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from rff_engine.experiments.reports import reproduction
from rff_engine.experiments.running.store import Store

_MEASURED = "method, landmarks, share, D, beta, rho, gamma, C, train_error, valid_error, test_error, seconds, note"
_COPY = (
    "INSERT OR IGNORE INTO rff_makers (made_with) SELECT made_with FROM other.rff_makers",
    f"""INSERT OR IGNORE INTO rff_results (key, {_MEASURED}, maker) SELECT key, {_MEASURED}, own.id
    FROM other.rff_results JOIN other.rff_makers AS theirs ON theirs.id = maker
    JOIN main.rff_makers AS own ON own.made_with = theirs.made_with
    WHERE key IN (SELECT key FROM other.rff_run_rows WHERE run = :run)""",
    "INSERT OR IGNORE INTO rff_runs SELECT * FROM other.rff_runs WHERE id = :run",
    "INSERT OR IGNORE INTO rff_run_rows SELECT * FROM other.rff_run_rows WHERE run = :run",
)
_TIDY = (
    "DELETE FROM rff_claims",
    "DELETE FROM rff_runners",
    "DELETE FROM rff_results WHERE key NOT IN (SELECT key FROM rff_run_rows)",
    "DELETE FROM rff_makers WHERE id NOT IN (SELECT maker FROM rff_results)",
)


def bundle(source: Path, target: Path = reproduction.SHIPPED) -> list[str]:
    """Copy the finished runs that some table or figure needs and the target lacks; return their ids."""
    needed = {spec.run_id for name in reproduction.TARGETS for spec in reproduction.specs(name)}
    with Store(source) as store:
        finished = {info.id for info in store.runs() if info.finished}
    with Store(target, read_only=True) as store:
        copied = sorted(needed & finished - {info.id for info in store.runs()})
    with TemporaryDirectory(dir=target.parent) as folder:
        partial = Path(shutil.copyfile(target, Path(folder) / target.name))
        _copy(source, copied, partial)
        os.replace(partial, target)
    return copied


def _copy(source: Path, copied: list[str], target: Path) -> None:
    with closing(sqlite3.connect(target)) as file:
        file.execute("ATTACH ? AS other", (str(source),))
        for run in copied:
            for statement in _COPY:
                file.execute(statement, {"run": run} if ":run" in statement else {})
        for statement in _TIDY:
            file.execute(statement)
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
