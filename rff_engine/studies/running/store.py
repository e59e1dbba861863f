"""Result rows in one table of a database, so that no row is computed twice: SQLite by default, or PostgreSQL.

The key of a row is a digest of its inputs: the data of the split, the seed, the method with its
parameters, and the fields of the protocol that it depends on. So runs share rows. A second digest, its origin, has the
name of the data set in place of the data: rows can be read where the data are not.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

import platformdirs
import sqlalchemy as sa
from sqlalchemy import event, exc

import rff_datasets as datasets

from ..problem import COLUMNS, MEASURED, SETTINGS, Problem, Row

if TYPE_CHECKING:
    from ..protocols import Protocol, RunSpec

KEY_BYTES = 16
_BATCH_SIZE = 500  # values in one statement: SQLite's limit was 999 for a long time
_BUSY_SECONDS = 30
# Calls wait for a database that restarts. A page only looks, so it waits less.
_PATIENCE_SECONDS = 3.0
_PATIENCE_OF_RUNS = 30.0
_MAX_TRIES = 10  # of a transaction that the database aborts in favour of another
_MAX_SECONDS_BETWEEN_TRIES = 0.5
# SQLSTATE of retried errors: serialization failure, deadlock, and tables that another process creates.
_AGAIN = {"40001", "40P01", "23505", "42P07", "42710"}
_T = TypeVar("_T")

_tables = sa.MetaData()
_digest = sa.LargeBinary(KEY_BYTES)
_numbers = ("share", "beta", "rho", "gamma", "C")
rows_table: sa.Table = sa.Table(
    "rff_rows",
    _tables,
    sa.Column("key", _digest, primary_key=True),
    sa.Column("origin", _digest, nullable=False, index=True),
    sa.Column("dataset", sa.String(60), nullable=False),
    sa.Column("split", sa.String(20), nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("method", sa.String(40), nullable=False),
    sa.Column("landmarks", sa.String(40)),
    sa.Column("D", sa.Integer),
    *(sa.Column(name, sa.Double) for name in _numbers),
    *(sa.Column(name, sa.Double, nullable=False) for name in ("train_error", "valid_error", "test_error", "seconds")),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("made", sa.Double, nullable=False),  # seconds since 1970
    sa.Column("made_with", sa.String(400), nullable=False),
)


class StoreError(OSError):
    """A store cannot be opened, read or written; the message is one sentence."""


class Database:
    """Connection to a database; it creates missing tables.

    Parameters
    ----------
    url : str or Path
        "sqlite:///results.sqlite", or a bare path, or "postgresql+psycopg://user@host/name" with psycopg installed.
    read_only : bool, optional
        Open a SQLite file, which has to exist, for reading alone; with ``None``, one that cannot be written.

    Raises
    ------
    StoreError
        If it cannot be opened.
    """

    #: Tables that a subclass needs.
    tables: sa.MetaData = _tables

    def __init__(self, url: str | Path, read_only: bool | None = False):
        self._url, self._path = _parsed(url), next(iter(files_of(url)), None)
        if self._path is not None and read_only and not self._path.is_file():
            raise StoreError(f"There is no store at {self._path}.")
        if self._path is not None and not self._path.parent.is_dir():
            raise StoreError(f"store is {str(self._path)!r}; there is no folder {self._path.parent}.")
        if read_only is None and self._path is not None and self._path.is_file():
            read_only = not all(os.access(one, os.W_OK) for one in (self._path, self._path.parent))  # its log is there
        self._read_only = bool(read_only)
        try:
            self._engine = self._connect()
        except exc.SQLAlchemyError as error:
            raise self._refusal(error) from None
        if not self._read_only:
            self.write(self.tables.create_all, patience=0)

    @property
    def url(self) -> str:
        """URL with its password, for another process of the same user."""
        return self._url.render_as_string(hide_password=False)

    @property
    def name(self) -> str:
        """File, or URL without its password, for messages."""
        return str(self._path) if self._path else self._url.render_as_string(hide_password=True)

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, work: Callable[[sa.Connection], _T], patience: float = _PATIENCE_SECONDS) -> _T:
        """Return `work(connection)`, which only reads; otherwise as `write`."""
        return self._do(work, patience, writes=False)

    def write(self, work: Callable[[sa.Connection], _T], patience: float = _PATIENCE_SECONDS) -> _T:
        """Return `work(connection)`, called in one transaction; database errors become a StoreError.

        `work` is called again if the database aborts the transaction in favour of another, and for `patience` seconds
        if the connection is lost. The lost transaction may have been committed.
        """
        return self._do(work, patience, writes=True)

    def _do(self, work: Callable[[sa.Connection], _T], patience: float, writes: bool) -> _T:
        lost_since = None
        for tried in count(1):
            try:
                with self._engine.execution_options(writes=writes).begin() as connection:
                    return work(connection)
            except exc.SQLAlchemyError as error:
                state = getattr(getattr(error, "orig", None), "sqlstate", None)
                again = tried < _MAX_TRIES and state in _AGAIN
                if _is_lost(error):
                    lost_since = lost_since or time.monotonic()
                    again = time.monotonic() < lost_since + patience
                if not again:
                    raise self._refusal(error) from None
            time.sleep(random.uniform(0, _MAX_SECONDS_BETWEEN_TRIES))
        raise AssertionError  # the loop does not end

    def _refusal(self, error: exc.SQLAlchemyError) -> StoreError:
        said = " ".join(str(getattr(error, "orig", error)).split()).rstrip(".")
        return StoreError(f"{self.name} cannot be used: {said}; rows known so far are kept.")

    def _connect(self) -> sa.Engine:
        if self._url.get_backend_name() != "sqlite":
            try:
                return sa.create_engine(self._url, pool_pre_ping=True)
            except ImportError as error:
                raise StoreError(
                    f"store is {self.name!r}; its driver {error.name} is not installed; tested are a file, "
                    "results.sqlite, and postgresql+psycopg://user@host/name (pip install 'psycopg[binary]')."
                ) from None
        if self._path is None:  # one database for all threads
            engine = sa.create_engine(self._url, connect_args={"check_same_thread": False}, poolclass=sa.StaticPool)
        elif self._read_only:
            connect = partial(_connect_read_only, self._path)
            engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool)
        else:
            engine = sa.create_engine(self._url, connect_args={"timeout": _BUSY_SECONDS})
        event.listen(engine, "connect", self._set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _set_up_sqlite(self, connection, _) -> None:
        connection.isolation_level = None  # `_begin_sqlite` begins transactions
        if not self._read_only:
            with suppress(sqlite3.OperationalError):  # another process does the same at this moment
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")


class Store(Database):
    """A database of result rows."""

    def keep(self, problem: Problem, protocol: Protocol, row: Row) -> bool:
        """Insert a row of a problem and return True, or False if the store has one of its key, which stays as it is."""
        labels = problem.labels
        entry = {name: row[name] for name in (*SETTINGS, *MEASURED, "made_with")} | {
            "key": row_key(problem, protocol, row),
            "origin": _origin(protocol, labels["dataset"], labels["split"], problem.seed, row["method"]),
            "dataset": labels["dataset"],
            "split": labels["split"],
            "seed": problem.seed,
            "made": time.time(),
        }
        return self.write(lambda connection: insert(connection, rows_table, [entry]), _PATIENCE_OF_RUNS) == 1

    def known(self, keys: list[bytes]) -> dict[bytes, Row]:
        """Return the stored rows of the given keys, by key, without the labels of a run."""
        return {row["key"]: row for row in self._select(rows_table.c.key, keys, _PATIENCE_OF_RUNS)}

    def rows(self, spec: RunSpec) -> list[Row]:
        """Return known rows of a run, with the keys `COLUMNS`, in the order of its protocol."""
        labels = {"run": spec.run_id, "dataset": spec.dataset, "split": spec.split}
        found = self._rows_by_settings(spec)
        return [
            {column: whole[column] for column in COLUMNS}
            for r in range(spec.repeats)
            for settings in spec.protocol.settings()
            if (row := found.get((r, *map(settings.get, SETTINGS)))) is not None
            for whole in (row | labels | {"repeat": r},)
        ]

    def provenance(self, spec: RunSpec) -> list[str]:
        """Return what the known rows of a run were made with, each once."""
        return sorted({row["made_with"] for row in self._rows_by_settings(spec).values()})

    def _rows_by_settings(self, spec: RunSpec) -> dict[tuple, Row]:
        """Return rows by number of repeat and settings; if several have other data, the last one made."""
        origins = {
            _origin(spec.protocol, spec.dataset, spec.split, spec.seed + r, method): r
            for r in range(spec.repeats)
            for method in spec.protocol.methods
        }
        stored = sorted(self._select(rows_table.c.origin, list(origins)), key=lambda row: row["made"])
        return {(origins[row["origin"]], *(row[name] for name in SETTINGS)): row for row in stored}

    def _select(self, column: sa.Column, values: list[bytes], patience: float = _PATIENCE_SECONDS) -> list[Row]:
        """Return all rows with one of these values in a column."""

        def found(connection: sa.Connection) -> list[Row]:
            starts = range(0, len(values), _BATCH_SIZE)
            queries = (sa.select(rows_table).where(column.in_(values[i : i + _BATCH_SIZE])) for i in starts)
            names = rows_table.c.keys()  # rows as mappings take twice as long
            return [dict(zip(names, row, strict=True)) for query in queries for row in connection.execute(query)]

        return self.read(found, patience)

    def contents(self) -> Sequence[sa.Row]:
        """Return numbers of seeds and rows, seconds, and the last time `made`, by data set, split and method."""
        of = rows_table.c
        by, count = (of.dataset, of.split, of.method), sa.func.count
        sums = (
            count(sa.distinct(of.seed)).label("seeds"),
            count().label("rows"),
            sa.func.sum(of.seconds).label("seconds"),
        )
        query = sa.select(*by, *sums, sa.func.max(of.made).label("made")).group_by(*by).order_by(*by)
        return self.read(lambda connection: connection.execute(query).all())


def default_store() -> str:
    """Return the URL in RFF_STORE (environment), or of a SQLite file in the user's data folder; make the folder."""
    if given := os.environ.get("RFF_STORE"):
        return given
    folder = Path(platformdirs.user_data_dir("rff", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}.") from None
    return f"sqlite:///{folder / 'results.sqlite'}"


def row_key(problem: Problem, protocol: Protocol, row: Row) -> bytes:
    """Return the key of a row of a problem, or of its settings alone."""
    settings = {name: row[name] for name in SETTINGS if row.get(name) is not None}
    conditions = protocol.conditions(settings["method"])
    return _hashed({"data": problem.data, "seed": problem.seed, "settings": settings, "protocol": conditions})


def _origin(protocol: Protocol, dataset: str, split: str | None, seed: int, method: str) -> bytes:
    """Digest what all rows of a method on a split have in common, without the data."""
    most = getattr(protocol, "max_rows", None)
    if most is not None and dataset in datasets.names() and most >= datasets.describe(dataset).n_samples:
        most = None  # the data are the same
    if seed == datasets.PUBLISHED_SEED and dataset in datasets.published_names():
        split = "published"  # drawn from the same seed
    conditions = protocol.conditions(method) | {"max_rows": most}
    return _hashed({"dataset": dataset, "split": split, "seed": seed, "protocol": conditions})


def _hashed(content: Any) -> bytes:
    text = json.dumps(content, sort_keys=True, default=lambda number: number.item())
    return hashlib.sha256(text.encode()).digest()[:KEY_BYTES]


def insert(connection: sa.Connection, table: sa.Table, entries: list[Row]) -> int:
    """Insert entries whose keys are new, and return how many they were."""
    dialect = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
    return connection.execute(dialect.insert(table).values(entries).on_conflict_do_nothing()).rowcount


def _parsed(url: str | Path) -> sa.URL:
    text = str(url)
    parsed = sa.URL.create("sqlite", database=text)
    try:
        parsed = sa.make_url(text) if "://" in text else parsed
        known = parsed.get_backend_name() in ("sqlite", "postgresql") and parsed.get_dialect() is not None
        text = parsed.render_as_string(hide_password=True)
    except (exc.ArgumentError, exc.NoSuchModuleError, ImportError, ValueError):
        known = False
    if not known:
        raise StoreError(
            f"store is {text!r}; it must be a file, or a URL such as sqlite:///results.sqlite or postgresql://host/name."
        )
    return parsed


def files_of(url: str | Path) -> tuple[Path, ...]:
    """Return the SQLite file of a store, its log and the log's index; nothing for another database."""
    parsed = _parsed(url)
    name = parsed.database or ":memory:"
    if "uri" in parsed.query:  # a file: URI in the place of the path
        name = unquote(urlsplit(name).path)
    if parsed.get_backend_name() != "sqlite" or name == ":memory:":
        return ()
    return tuple(Path(f"{name}{ending}") for ending in ("", "-wal", "-shm"))


def _connect_read_only(file: Path) -> sqlite3.Connection:
    log = file.with_name(f"{file.name}-wal")
    # SQLite does not read the log of an immutable file.
    immutable = "" if log.is_file() and log.stat().st_size else "&immutable=1"
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro{immutable}", uri=True)


def _begin_sqlite(connection) -> None:
    # A writer takes the lock at once: two transactions that read before they write would block each other.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def _is_lost(error: exc.SQLAlchemyError) -> bool:
    """Return whether the connection to a server is lost, or cannot be made."""
    if not isinstance(error, exc.DBAPIError) or isinstance(error.orig, sqlite3.Error):
        return False
    return error.connection_invalidated or (isinstance(error, exc.OperationalError) and error.statement is None)
