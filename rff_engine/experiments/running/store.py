"""Result rows and runs in a database, so that no row is computed twice.

The key of a row is a digest of what it was computed from: the data of the split, the seed, the method with its
parameters, and the fields of the protocol that it depends on. Runs refer to keys, so runs that need the same row share
it. `leases` shares the work between processes, `schema` has the tables and the connection.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs
import psutil
import sqlalchemy as sa

from ..studies.problem import COLUMNS
from ..studies.protocols import Protocol, RunSpec
from ..studies.units import Row
from .same_code import CODE
from .schema import KEY_BYTES, Database, StoreError, batches, insert, makers, results, run_rows, runs

__all__ = ["RunInfo", "Store", "StoreError", "default_store", "row_key_function"]

_SETTINGS = ("method", "landmarks", "share", "D", "beta", "rho")
_MEASURED = ("gamma", "C", "train_error", "valid_error", "test_error", "seconds", "note")


@dataclass(frozen=True)
class RunInfo:
    """Progress of a stored run."""

    id: str
    spec: RunSpec | None
    """None if the run is of another version of this program, which cannot read its settings"""
    created: float
    """Seconds since 1970"""
    seconds: float
    """Spent by all processes on its rows so far"""
    n_rows: int
    """Known so far"""
    n_planned: int
    """Of the repeats that have begun"""
    repeats_planned: int

    @property
    def finished(self) -> bool:
        known = self.n_rows == self.n_planned
        return self.spec is not None and self.repeats_planned == self.spec.repeats and known


def default_store() -> str:
    """URL in the environment variable RFF_STORE, or that of a SQLite file in the user's data folder, which is made."""
    if given := os.environ.get("RFF_STORE"):
        return given
    folder = Path(platformdirs.user_data_dir("rff", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}.") from None
    return f"sqlite:///{folder / 'results.sqlite'}"


class Store(Database):
    """A database of result rows.

    Parameters
    ----------
    url : str
        "sqlite:///results.sqlite" or "postgresql+psycopg://user@host/name", for which psycopg has to be installed;
        others that SQLAlchemy knows are not tested. A bare path is the path of a SQLite file. Tables are created if
        there are none.
    read_only : bool, optional
        Open a SQLite file, which has to exist, for reading alone; with ``None``, one that cannot be written.

    Raises
    ------
    StoreError
        If it cannot be opened, or is no store of this version.
    """

    def runs(self) -> list[RunInfo]:
        """All runs, the newest first."""
        return self._infos()

    def find(self, spec: RunSpec) -> RunInfo | None:
        """Progress of a run, or ``None`` if it has not begun."""
        return next((replace(info, spec=spec) for info in self._infos(spec.run_id)), None)

    def run(self, run: str) -> RunSpec:
        """The run with the given id, or the only run whose id begins with it.

        Raises
        ------
        ValueError
            If there is none, or several, or it is of another version.
        """
        infos = self.runs()
        exact = [info for info in infos if info.id == run]
        matches = exact or [info for info in infos if run and info.id.startswith(run)]
        if len(matches) == 1:
            if matches[0].spec is None:
                raise ValueError(
                    f"run is {run!r}; {matches[0].id} is of another version of rff_engine; use that version."
                )
            return matches[0].spec
        if matches:
            raise ValueError(f"run is {run!r}; that is the beginning of {', '.join(info.id for info in matches)}.")
        known = f"known are {', '.join(info.id for info in infos)}" if infos else "there is none yet"
        raise ValueError(f"run is {run!r}; {self.name} has no such run: {known}.")

    def rows(self, spec: RunSpec) -> list[Row]:
        """Known rows of a run, with the keys `COLUMNS`, in the order of its protocol."""
        query = (
            sa.select(run_rows.c.repeat, *(results.c[name] for name in (*_SETTINGS, *_MEASURED)))
            .join_from(run_rows, results, run_rows.c.key == results.c.key)
            .where(run_rows.c.run == spec.run_id)
            .order_by(run_rows.c.repeat, run_rows.c.position)
        )
        stored = self.read(lambda connection: connection.execute(query).mappings().all())
        labels = {"run": spec.run_id, "dataset": spec.dataset, "split": spec.split}
        return [{column: row.get(column) for column in COLUMNS} for row in (labels | dict(row) for row in stored)]

    def rows_by_key(self, keys: list[bytes]) -> dict[bytes, Row]:
        """The known rows among the given keys, by key, without the labels of a run."""
        return self.read(
            lambda connection: {
                row["key"]: dict(row)
                for some in batches(keys)
                for row in connection.execute(sa.select(results).where(results.c.key.in_(some))).mappings()
            }
        )

    def provenance(self, spec: RunSpec) -> list[str]:
        """Code, library versions and machines that the known rows of a run were computed with, each once."""
        query = (
            sa.select(makers.c.made_with)
            .join(results, results.c.maker == makers.c.id)
            .join(run_rows, run_rows.c.key == results.c.key)
            .where(run_rows.c.run == spec.run_id)
            .distinct()
        )
        return self.read(lambda connection: sorted(connection.scalars(query)))

    def relatives(self, spec: RunSpec) -> list[RunInfo]:
        """Other runs of this version that share rows with a run, the newest first."""
        own = sa.select(run_rows.c.key).where(run_rows.c.run == spec.run_id)
        query = sa.select(run_rows.c.run).where(run_rows.c.key.in_(own), run_rows.c.run != spec.run_id).distinct()
        sharing = self.read(lambda connection: set(connection.scalars(query)))
        return [info for info in self.runs() if info.id in sharing and info.spec is not None] if sharing else []

    def plan(self, spec: RunSpec, repeat: int, keys: list[bytes]) -> None:
        """Store the keys of a repeat's rows in their order, and the run if it is new; the first call decides."""
        entries = [{"run": spec.run_id, "repeat": repeat, "position": i, "key": key} for i, key in enumerate(keys)]
        known = sa.select(sa.func.count()).where(run_rows.c.run == spec.run_id, run_rows.c.repeat == repeat)

        def commit(connection) -> None:
            run = {"id": spec.run_id, "spec": spec.to_json(), "created": time.time(), "seconds": 0.0}
            insert(connection, runs, [run])
            if not connection.scalar(known):
                insert(connection, run_rows, entries)

        self.write(commit)

    def _infos(self, run: str | None = None) -> list[RunInfo]:
        """Of one run, or of all."""
        known = (
            sa.select(
                run_rows.c.run,
                sa.func.count().label("planned"),
                sa.func.count(results.c.key).label("known"),
                sa.func.count(sa.distinct(run_rows.c.repeat)).label("repeats"),
            )
            .join_from(run_rows, results, run_rows.c.key == results.c.key, isouter=True)
            .where(sa.true() if run is None else run_rows.c.run == run)
            .group_by(run_rows.c.run)
            .subquery()
        )
        # `plan` stores a run together with rows, so the inner join loses none.
        query = (
            sa.select(runs, known.c.planned, known.c.known, known.c.repeats)
            .join_from(runs, known, runs.c.id == known.c.run)
            .order_by(runs.c.created.desc())
        )
        stored = self.read(lambda connection: connection.execute(query).all())
        return [
            RunInfo(row.id, _spec(row.id, row.spec), row.created, row.seconds, row.known, row.planned, row.repeats)
            for row in stored
        ]


def _spec(run: str, text: str) -> RunSpec | None:
    """The stored settings of a run, or ``None`` if this version has no such settings or gives them another id."""
    try:
        spec = RunSpec.from_json(text)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return spec if spec.run_id == run else None


def insert_results(connection: sa.Connection, rows: dict[bytes, Row], maker: int) -> None:
    """Insert rows by their keys; those that are there already stay as they are."""
    entries = [
        {name: row[name] for name in (*_SETTINGS, *_MEASURED)} | {"key": key, "maker": maker}
        for key, row in rows.items()
    ]
    insert(connection, results, entries)


def maker_id(connection: sa.Connection) -> int:
    """Id of the code, library versions and machine of this process."""
    made_with = _made_with()
    find = sa.select(makers.c.id).where(makers.c.made_with == made_with)
    if connection.scalar(find) is None:
        insert(connection, makers, [{"made_with": made_with}])
    return connection.execute(find).scalar_one()


def _made_with() -> str:
    cores = psutil.cpu_count() or 1
    return f"{CODE}; Python {platform.python_version()}, {platform.system()} {platform.machine()}, {cores} cores"


def row_key_function(data: str, seed: int, protocol: Protocol) -> Callable[[Row], bytes]:
    """Function from a row, or its settings alone, to its key; `data` is the digest of the split."""
    base = {"data": data, "seed": seed}

    def key_of(row: Row) -> bytes:
        settings = {name: row[name] for name in _SETTINGS if row.get(name) is not None}
        content = base | {"settings": settings, "protocol": protocol.conditions(settings["method"])}
        text = json.dumps(content, sort_keys=True, default=lambda number: number.item())
        return hashlib.sha256(text.encode()).digest()[:KEY_BYTES]

    return key_of
