"""Keeps result rows in a database, so that no work is done twice: SQLite by default, or PostgreSQL.

A row is known by what it was computed from: the data of the split, the seed, the method with its parameters, and the
numbers of the protocol that it depends on. Runs refer to rows, so runs that ask for the same share them. A runner
claims rows before it computes them; claims of a runner that has died are void. Who lives is never told from the time of
day, which may jump, or differ between machines. What is run is said by `protocols`, how by `runner`.

Every transaction locks what it writes in one order, so that no two wait for each other: runners by id, results, claims
by key, runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import psutil
import sqlalchemy as sa
from sqlalchemy import exc

from ._problem import COLUMNS
from ._units import Desk
from .protocols import Protocol, RunSpec

__all__ = ["RunInfo", "Store", "StoreError", "default_store"]

VERSION = 1
"""Of the tables"""
_SETTINGS = ("method", "landmarks", "share", "D", "beta", "rho")
_MEASURED = ("gamma", "C", "train_error", "valid_error", "test_error", "seconds", "note")
_KEY_BYTES = 16
_AT_A_TIME = 500  # values in one statement: SQLite took 999 for a long time
_BUSY_SECONDS = 30
# A transaction that the database gives up so that another can go on is tried so many times.
_TRIES = 10
_MOST_SECONDS_BETWEEN_TRIES = 0.5
# What a database says of itself: SQLSTATE, or the primary error code of SQLite.
_VICTIM = {"40001", "40P01"}  # serialization failure, deadlock
_MADE_MEANWHILE = {"23505", "42P07", "42710", "42S01"}  # two who make the same table at once
_FULL_OR_BROKEN = {"53100", "58030", sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_NO_DATABASE = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_KNOW_ON_CONFLICT = ("postgresql", "sqlite")
_PACKAGES = {"psycopg2": "psycopg2-binary", "psycopg": "psycopg[binary]", "MySQLdb": "mysqlclient"}
_T = TypeVar("_T")
_BEAT_SECONDS = 10.0
# A runner of another machine that has not been heard of while we listened for so long is taken to be dead.
_SILENT_SECONDS = 120.0
# Of runners elsewhere: what they said last, and when that was new to us, on our own monotonic clock.
_heard: dict[str, tuple[float, float]] = {}

_tables = sa.MetaData()
_key = sa.LargeBinary(_KEY_BYTES)
_about = sa.Table("rff_about", _tables, sa.Column("version", sa.Integer, primary_key=True))
_makers = sa.Table(
    "rff_makers",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("made_with", sa.String(400), nullable=False, unique=True),
)
_results = sa.Table(
    "rff_results",
    _tables,
    sa.Column("key", _key, primary_key=True),
    sa.Column("method", sa.String(40), nullable=False),
    sa.Column("landmarks", sa.String(40)),
    sa.Column("share", sa.Double),
    sa.Column("D", sa.Integer),
    sa.Column("beta", sa.Double),
    sa.Column("rho", sa.Double),
    sa.Column("gamma", sa.Double),
    sa.Column("C", sa.Double),
    sa.Column("train_error", sa.Double, nullable=False),
    sa.Column("valid_error", sa.Double, nullable=False),
    sa.Column("test_error", sa.Double, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("maker", sa.ForeignKey(_makers.c.id), nullable=False),
)
_runs = sa.Table(
    "rff_runs",
    _tables,
    sa.Column("id", sa.String(120), primary_key=True),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
)
_run_rows = sa.Table(
    "rff_run_rows",
    _tables,
    sa.Column("run", sa.ForeignKey(_runs.c.id), primary_key=True),
    sa.Column("repeat", sa.Integer, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("key", _key, nullable=False, index=True),
)
_runners = sa.Table(
    "rff_runners",
    _tables,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("machine", sa.String(32), nullable=False),
    sa.Column("process", sa.Integer, nullable=False),
    sa.Column("born", sa.Double, nullable=False),
    sa.Column("heard_of", sa.Double, nullable=False),
)
_claims = sa.Table(
    "rff_claims",
    _tables,
    sa.Column("key", _key, primary_key=True),
    sa.Column("runner", sa.ForeignKey(_runners.c.id), nullable=False, index=True),
)


class StoreError(OSError):
    """A store that cannot be opened, read or written; in one sentence."""


@dataclass(frozen=True)
class RunInfo:
    """A run as the store knows it."""

    id: str
    spec: RunSpec
    created: float
    """Seconds since 1970"""
    seconds: float
    """Spent by all runners on its rows so far"""
    n_rows: int
    """Known so far"""
    n_planned: int
    """Of the repeats that have been begun"""
    repeats_planned: int

    @property
    def finished(self) -> bool:
        return self.repeats_planned == self.spec.repeats and self.n_rows == self.n_planned


def default_store() -> str:
    """The URL in the environment variable RFF_STORE, or that of a file in the user's data folder."""
    if given := os.environ.get("RFF_STORE"):
        return given
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return f"sqlite:///{base / 'rff_engine' / 'results.sqlite'}"


class Store:
    """A database of result rows.

    Parameters
    ----------
    url : str
        "sqlite:///results.sqlite" or "postgresql+psycopg://user@host/name", for which psycopg has to be installed;
        others that SQLAlchemy knows are not tested. A bare path is taken for a SQLite file. Tables are made where
        there are none.
    read_only : bool
        Of a SQLite file: it is not even opened for writing, and has to exist.

    Raises
    ------
    StoreError
        If it cannot be opened, or is no store of this version.
    """

    def __init__(self, url: str | Path, read_only: bool = False):
        self._url = _parsed(url)
        self._read_only = read_only
        self._path = None
        if self._url.get_backend_name() == "sqlite" and self._url.database not in (None, "", ":memory:"):
            self._path = Path(self._url.database)
            if read_only and not self._path.is_file():
                raise StoreError(f"There is no store at {self._path}.")
        with self._explained():
            self._engine = self._connect()
            self._prepare()

    @property
    def url(self) -> str:
        """With its password: for another process of the same user."""
        return self._url.render_as_string(hide_password=False)

    @property
    def name(self) -> str:
        """What to call it: the file, or the URL without its password."""
        return str(self._path) if self._path else self._url.render_as_string(hide_password=True)

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def runs(self) -> list[RunInfo]:
        """All runs, the newest first."""
        return self._infos()

    def find(self, spec: RunSpec) -> RunInfo | None:
        """How far a run is; ``None`` if it was never begun."""
        return next(iter(self._infos(spec.run_id)), None)

    def run(self, run: str) -> RunInfo:
        """A run by its id, or the beginning of it.

        Raises
        ------
        ValueError
            If there is none, or several.
        """
        infos = self.runs()
        exact = [info for info in infos if info.id == run]
        found = exact or [info for info in infos if run and info.id.startswith(run)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"run is {run!r}; that is the beginning of {', '.join(info.id for info in found)}.")
        known = f"known are {', '.join(info.id for info in infos)}" if infos else "there is none yet"
        raise ValueError(f"run is {run!r}; {self.name} has no such run: {known}.")

    def rows(self, spec: RunSpec) -> list[dict]:
        """The rows of a run that are known, with the columns of `runner.COLUMNS`, in the order of its protocol."""
        query = (
            sa.select(_run_rows.c.repeat, *(_results.c[name] for name in (*_SETTINGS, *_MEASURED)))
            .join_from(_run_rows, _results, _run_rows.c.key == _results.c.key)
            .where(_run_rows.c.run == spec.run_id)
            .order_by(_run_rows.c.repeat, _run_rows.c.position)
        )
        with self._explained(), self._reading() as connection:
            found = connection.execute(query).mappings().all()
        labels = {"run": spec.run_id, "dataset": spec.dataset, "split": spec.split}
        return [{column: row.get(column) for column in COLUMNS} for row in (labels | dict(row) for row in found)]

    def _infos(self, run: str | None = None) -> list[RunInfo]:
        """Of all runs, or of one."""
        known = (
            sa.select(
                _run_rows.c.run,
                sa.func.count().label("planned"),
                sa.func.count(_results.c.key).label("known"),
                sa.func.count(sa.distinct(_run_rows.c.repeat)).label("repeats"),
            )
            .join_from(_run_rows, _results, _run_rows.c.key == _results.c.key, isouter=True)
            .where(sa.true() if run is None else _run_rows.c.run == run)
            .group_by(_run_rows.c.run)
            .subquery()
        )
        # A run is known from its first plan on, so it has rows.
        query = (
            sa.select(_runs, known.c.planned, known.c.known, known.c.repeats)
            .join_from(_runs, known, _runs.c.id == known.c.run)
            .order_by(_runs.c.created.desc())
        )
        with self._explained(), self._reading() as connection:
            found = connection.execute(query).all()
        return [
            RunInfo(row.id, RunSpec.from_json(row.spec), row.created, row.seconds, row.known, row.planned, row.repeats)
            for row in found
        ]

    def provenance(self, spec: RunSpec) -> list[str]:
        """What the known rows of a run were made with: versions and machine, each once."""
        query = (
            sa.select(_makers.c.made_with)
            .join(_results, _results.c.maker == _makers.c.id)
            .join(_run_rows, _run_rows.c.key == _results.c.key)
            .where(_run_rows.c.run == spec.run_id)
            .distinct()
        )
        with self._explained(), self._reading() as connection:
            return sorted(connection.scalars(query))

    def relatives(self, spec: RunSpec) -> list[RunInfo]:
        """Other runs that have some of its rows: whichever came first took the time."""
        own = sa.select(_run_rows.c.key).where(_run_rows.c.run == spec.run_id)
        query = sa.select(_run_rows.c.run).where(_run_rows.c.key.in_(own), _run_rows.c.run != spec.run_id).distinct()
        with self._explained(), self._reading() as connection:
            found = set(connection.scalars(query))
        return [info for info in self.runs() if info.id in found] if found else []

    @contextmanager
    def runner(self, spec: RunSpec) -> Iterator[Runner]:
        """One who computes rows of a run, and is heard of as long as the context lasts."""
        runner = Runner(self, spec)
        try:
            yield runner
        finally:
            runner.leave()

    def _connect(self) -> sa.Engine:
        if self._url.get_backend_name() != "sqlite":
            try:
                return sa.create_engine(self._url, pool_pre_ping=True)
            except ImportError as error:
                raise StoreError(_no_driver(self.name, error)) from None
        if self._path is not None and not self._read_only:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"{self._path.parent} cannot be made: {error.strerror}.") from None
        if self._read_only:
            path = f"file:{self._path.resolve().as_posix()}?mode=ro&immutable=1"
            engine = sa.create_engine(
                "sqlite://", creator=lambda: sqlite3.connect(path, uri=True), poolclass=sa.NullPool
            )
        else:
            engine = sa.create_engine(self._url, connect_args={"timeout": _BUSY_SECONDS})
        sa.event.listen(engine, "connect", self._set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _set_up_sqlite(self, connection, _) -> None:
        connection.isolation_level = None  # transactions begin where we say
        if not self._read_only:
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    def _prepare(self) -> None:
        if not self._read_only:
            self._write(self._make_tables, _VICTIM | _MADE_MEANWHILE)
        with self._reading() as connection:
            found = connection.scalar(sa.select(_about.c.version))
        if found != VERSION:
            raise StoreError(f"{self.name} is a store of version {found}; this program reads version {VERSION}.")

    @staticmethod
    def _make_tables(connection) -> None:
        _tables.create_all(connection)
        if connection.scalar(sa.select(_about.c.version)) is None:
            _insert(connection, _about, [{"version": VERSION}])

    def _reading(self):
        return self._engine.connect()

    def _write(self, work: Callable[[sa.Connection], _T], again: set[str] = _VICTIM) -> _T:
        """What `work` does in one transaction; tried again where the database gives it up with a code in `again`."""
        tried = 0
        while True:
            try:
                with self._engine.execution_options(writes=True).begin() as connection:
                    return work(connection)
            except exc.DBAPIError as error:
                tried += 1
                if tried == _TRIES or _code(_first(error)) not in again:
                    raise
            time.sleep(random.uniform(0, _MOST_SECONDS_BETWEEN_TRIES))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Whatever a database says becomes one sentence."""
        try:
            yield
        except exc.DBAPIError as error:
            first = _first(error)
            raise StoreError(self._sentence(_code(first), " ".join(str(first.orig).split()))) from None
        except exc.SQLAlchemyError as error:
            raise StoreError(f"{self.name} cannot be used: {' '.join(str(error).split())}.") from None

    def _sentence(self, code: str | int | None, said: str) -> str:
        """What is wrong, by the code that a database gives, with its words where they help."""
        if code in _FULL_OR_BROKEN:
            return f"{self.name} cannot be written, its disk is full or broken ({said}); rows known so far are kept."
        if code in _NO_DATABASE:
            return f"{self.name} is not a store of results: {said}."
        if code in _LOCKED:
            return f"{self.name} has been locked by another program for {_BUSY_SECONDS} s."
        if code in _VICTIM:
            return f"{self.name} gave up a change {_TRIES} times in favour of others ({said}); rows so far are kept."
        return f"{self.name} cannot be used: {said}."


class Runner:
    """Computes rows of a run and puts them into a store; see `Store.runner`.

    A thread says every few seconds that it lives. All methods may raise a StoreError.
    """

    def __init__(self, store: Store, spec: RunSpec):
        self._store, self._spec, self._run = store, spec, spec.run_id
        self._id, self._last = uuid4().hex, time.monotonic()
        self._me = {"id": self._id, "machine": _machine(), "process": os.getpid(), "born": _born(os.getpid())}
        with store._explained():
            self._maker = store._write(self._begin)
        self._left = threading.Event()
        self._beating = threading.Thread(target=self._beat, name="store", daemon=True)
        self._beating.start()

    def _begin(self, connection) -> int:
        """Be heard of; the number of what rows are made with."""
        _be_heard(connection, self._me)
        made_with = _made_with()
        find = sa.select(_makers.c.id).where(_makers.c.made_with == made_with)
        if connection.scalar(find) is None:
            _insert(connection, _makers, [{"made_with": made_with}])
        return connection.scalar(find)

    def desk(self, data: str, repeat: int, rows: list[dict]) -> Desk:
        """The desk of a plan on a split of this digest; its rows become rows of the run. The first makes that known."""
        protocol = self._spec.protocol
        desk = _StoreDesk(self._store, self._me, _key_maker(data, self._spec.seed + repeat, protocol))
        planned = [row for row in rows if row["method"] in protocol.methods]
        known = sa.select(sa.func.count()).where(_run_rows.c.run == self._run, _run_rows.c.repeat == repeat)
        entries = [
            {"run": self._run, "repeat": repeat, "position": i, "key": desk.key_of(row)}
            for i, row in enumerate(planned)
        ]
        run = {"id": self._run, "spec": self._spec.to_json(), "created": time.time(), "seconds": 0.0}

        def plan(connection) -> None:
            _insert(connection, _runs, [run])
            if not connection.scalar(known):
                _insert(connection, _run_rows, entries)

        with self._store._explained():
            self._store._write(plan)
        return desk

    def put(self, desk: _StoreDesk, rows: list[dict]) -> None:
        """Commit rows that are newly known, and give up the claims on them."""
        if not rows:
            return
        now = time.monotonic()
        spent, self._last = now - self._last, now
        entries = [
            {name: row[name] for name in (*_SETTINGS, *_MEASURED)} | {"key": desk.key_of(row), "maker": self._maker}
            for row in rows
        ]
        keys = [entry["key"] for entry in entries]

        def commit(connection) -> None:
            _insert(connection, _results, entries)
            _give_up(connection, _claims.c.key.in_(keys), _claims.c.runner == self._id)
            connection.execute(sa.update(_runs).where(_runs.c.id == self._run).values(seconds=_runs.c.seconds + spent))

        with self._store._explained():
            self._store._write(commit)

    def leave(self) -> None:
        """Give up all claims. Never raises: a runner that cannot say so is found dead later."""
        self._left.set()
        self._beating.join()
        with suppress(exc.SQLAlchemyError):
            self._store._write(lambda connection: _forget(connection, [self._id]))

    def _beat(self) -> None:
        while not self._left.wait(_BEAT_SECONDS):
            with suppress(exc.SQLAlchemyError):  # the next row that is put will tell
                self._store._write(lambda connection: _be_heard(connection, self._me))


class _StoreDesk(Desk):
    """What is known is in the store; what is taken is claimed there."""

    def __init__(self, store: Store, runner: dict, key_of: Callable[[dict], bytes]):
        self._store, self._me, self._runner, self.key_of = store, runner, runner["id"], key_of

    def known(self, rows: list[dict]) -> list[dict] | None:
        keys = [self.key_of(row) for row in rows]
        with self._store._explained(), self._store._reading() as connection:
            found = {
                row["key"]: dict(row)
                for some in _batches(keys)
                for row in connection.execute(sa.select(_results).where(_results.c.key.in_(some))).mappings()
            }
        return [found[key] for key in keys] if len(found) == len(set(keys)) else None

    def take(self, rows: list[dict]) -> list[dict]:
        keys = {self.key_of(row): row for row in rows}
        with self._store._explained():
            mine = self._store._write(lambda connection: self._claimed(connection, keys))
        return [row for key, row in keys.items() if key in mine]

    def _claimed(self, connection, keys: Iterable[bytes]) -> set[bytes]:
        """Of these keys, those that are not known and that this runner has claimed, now or before."""
        if dead := _dead(connection, self._runner):
            _lock_runners(connection, [*dead, self._runner])
            _forget(connection, dead)
        _be_heard(connection, self._me)
        taken = _those_in(connection, _results, keys) | _those_in(connection, _claims, keys)
        _insert(connection, _claims, [{"key": key, "runner": self._runner} for key in keys if key not in taken])
        own = sa.select(_claims.c.key).where(_claims.c.runner == self._runner)
        mine = set(connection.scalars(own)) & set(keys)
        # What another has put, and given up, since we looked.
        known = _those_in(connection, _results, mine)
        for some in _batches(sorted(known)):
            _give_up(connection, _claims.c.key.in_(some), _claims.c.runner == self._runner)
        return mine - known


def _parsed(url: str | Path) -> sa.URL:
    text = str(url)
    try:
        if "://" not in text:
            return sa.URL.create("sqlite", database=text)
        parsed = sa.make_url(text)
        parsed.get_dialect()
    except (exc.ArgumentError, exc.NoSuchModuleError, ImportError, ValueError):
        raise StoreError(
            f"store is {text!r}; it must be a file, or a URL such as sqlite:///results.sqlite or postgresql://host/name."
        ) from None
    return parsed


def _first(error: BaseException) -> exc.DBAPIError:
    """What went wrong first: where a disk is full, giving up the transaction fails as well."""
    first = error
    while error is not None:
        if isinstance(error, exc.DBAPIError):
            first = error
        error = error.__context__
    return first


def _begin_sqlite(connection) -> None:
    # Whoever is going to write takes the lock at once: two who read first would be in each other's way.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch a SQLite file to its write-ahead log; SQLite itself does not wait where another is doing the same."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _LOCKED or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _no_driver(name: str, error: ImportError) -> str:
    package = _PACKAGES.get(error.name, error.name)
    missing = f"driver {error.name} is not installed (pip install {package})" if package else f"driver fails ({error})"
    return (
        f"store is {name!r}; its {missing}; tested are a file, results.sqlite, and PostgreSQL, "
        "postgresql+psycopg://user@host/name."
    )


def _code(error: exc.DBAPIError) -> str | int | None:
    """The SQLSTATE of a refusal, or SQLite's primary error code; ``None`` where the driver gives neither."""
    found = getattr(error.orig, "sqlite_errorcode", None)
    if found is not None:
        return found & 0xFF
    return getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)


def _insert(connection, table: sa.Table, entries: list[dict]) -> None:
    """Insert what is not there yet, in the order of its keys: of two who insert the same, one waits for the other."""
    if not entries:
        return
    order = [column.name for column in table.primary_key if column.name in entries[0]]
    entries = sorted(entries, key=lambda entry: [entry[name] for name in order])
    if connection.dialect.name in _KNOW_ON_CONFLICT:
        dialect = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
        for some in _batches(entries, _AT_A_TIME // len(entries[0])):
            connection.execute(dialect.insert(table).values(some).on_conflict_do_nothing())
    else:
        _insert_one_by_one(connection, table, entries)


def _insert_one_by_one(connection, table: sa.Table, entries: list[dict]) -> None:
    """`_insert` for a database of which no more is known than that it has savepoints."""
    for entry in entries:
        with suppress(exc.IntegrityError), connection.begin_nested():
            connection.execute(sa.insert(table), entry)


def _those_in(connection, table: sa.Table, keys: Iterable[bytes]) -> set[bytes]:
    return {
        key
        for some in _batches(sorted(keys))
        for key in connection.scalars(sa.select(table.c.key).where(table.c.key.in_(some)))
    }


def _batches(items: list, size: int = _AT_A_TIME) -> Iterator[list]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _be_heard(connection, me: dict) -> None:
    """Say that a runner lives; again who it is, should another have taken it for dead, for claims refer to that."""
    now = time.time()
    if connection.execute(sa.update(_runners).where(_runners.c.id == me["id"]).values(heard_of=now)).rowcount == 0:
        _insert(connection, _runners, [me | {"heard_of": now}])


def _dead(connection, but: str) -> list[str]:
    """The ids of runners that have died; whoever asks lives."""
    runners = connection.execute(sa.select(_runners).where(_runners.c.id != but)).all()
    return [runner.id for runner in runners if not _lives(runner)]


def _forget(connection, runners: list[str]) -> None:
    """Void the claims of these runners, and delete them."""
    _lock_runners(connection, runners)
    _give_up(connection, _claims.c.runner.in_(runners))
    connection.execute(sa.delete(_runners).where(_runners.c.id.in_(runners)))
    for runner in runners:
        _heard.pop(runner, None)


def _lock_runners(connection, ids: list[str]) -> None:
    """Lock the rows of these runners in the order of their ids, where a database locks rows."""
    these = sa.select(_runners.c.id).where(_runners.c.id.in_(ids)).order_by(_runners.c.id)
    connection.execute(these.with_for_update()).all()


def _give_up(connection, *which) -> None:
    """Delete claims, which are locked in the order of their keys."""
    connection.execute(sa.select(_claims.c.key).where(*which).order_by(_claims.c.key).with_for_update()).all()
    connection.execute(sa.delete(_claims).where(*which))


def _lives(runner) -> bool:
    if runner.machine == _machine():
        born = _born(runner.process)
        return born is not None and abs(born - runner.born) < 1.0
    now = time.monotonic()
    said, since = _heard.get(runner.id, (None, now))
    if said != runner.heard_of:
        since = now
    _heard[runner.id] = runner.heard_of, since
    return now - since < _SILENT_SECONDS


def _born(process: int) -> float | None:
    """When a process began: on Linux in seconds after the machine did, which setting the clock does not move."""
    if sys.platform != "linux":
        try:
            return psutil.Process(process).create_time()
        except psutil.NoSuchProcess:
            return None
    try:
        said = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *fields = said.rpartition(")")[2].split()
    # One that has ended, and only waits for whoever started it to notice, computes nothing.
    return None if state in "ZX" else int(fields[18]) / os.sysconf("SC_CLK_TCK")


@lru_cache(maxsize=1)
def _machine() -> str:
    """Of a machine that is running: another after it has been started anew."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        start = f"{psutil.boot_time():.0f}"
    return hashlib.sha256(f"{socket.gethostname()} {start}".encode()).hexdigest()[:32]


def _made_with() -> str:
    names = ("numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    cores = psutil.cpu_count() or 1
    return f"Python {platform.python_version()}, {versions}; {platform.system()} {platform.machine()}, {cores} cores"


def _key_maker(data: str, seed: int, protocol: Protocol) -> Callable[[dict], bytes]:
    """From a row, or what sets it apart, to its key; `data` is the digest of the split."""
    base = {"data": data, "seed": seed}

    def key_of(row: dict) -> bytes:
        settings = {name: row[name] for name in _SETTINGS if row.get(name) is not None}
        content = base | {"settings": settings, "protocol": protocol.conditions(settings["method"])}
        text = json.dumps(content, sort_keys=True, default=lambda number: number.item())
        return hashlib.sha256(text.encode()).digest()[:_KEY_BYTES]

    return key_of
