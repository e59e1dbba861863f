"""Tables of the store and the connection to their database: SQLite by default, or PostgreSQL.

`Database` runs transactions, retries those that a database aborts in favour of others or whose connection is lost, and
turns its errors into one sentence. What the rows mean is left to `store` and `leases`. Other programs may keep tables
of their own in the same database, as a subclass with `more_tables`.

Every transaction locks what it writes in one order, so that no two wait for each other: runners by id, results, claims
by key, runs.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self, TypeVar
from urllib.parse import unquote, urlsplit

import sqlalchemy as sa
from sqlalchemy import event, exc

from ..studies.units import Row

VERSION = 1
"""Of the tables"""
KEY_BYTES = 16
_BATCH_SIZE = 500  # values in one statement: the limit of SQLite was 999 for a long time
_BUSY_SECONDS = 30
_MAX_TRIES = 10  # of a transaction that the database aborts in favour of another
_MAX_SECONDS_BETWEEN_TRIES = 0.5
# Error codes: SQLSTATE, or the primary error code of SQLite.
_VICTIM = {"40001", "40P01"}  # serialization failure, deadlock
_STOPPING_OR_STARTING = {"57P01", "57P02", "57P03"}  # shut down, crashed, not yet ready
_CONNECTION_EXCEPTION = "08"  # class of codes
_CREATED_MEANWHILE = {"23505", "42P07", "42710", "42S01"}  # two processes create the same table
_FULL_OR_BROKEN = {"53100", "58030", sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_NOT_A_DATABASE = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_WITH_ON_CONFLICT = ("postgresql", "sqlite")
_PACKAGES = {"psycopg2": "psycopg2-binary", "psycopg": "psycopg[binary]", "MySQLdb": "mysqlclient"}
# PostgreSQL drops its statistics when it recovers from a crash, even of one process, and keeps them when it is shut
# down. The time when the server started does not tell these apart.
_crash_time = sa.func.pg_stat_get_bgwriter_stat_reset_time()
_T = TypeVar("_T")

_tables = sa.MetaData()
_key = sa.LargeBinary(KEY_BYTES)
about: sa.Table = sa.Table("rff_about", _tables, sa.Column("version", sa.Integer, primary_key=True))
makers: sa.Table = sa.Table(
    "rff_makers",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("made_with", sa.String(400), nullable=False, unique=True),
)
results: sa.Table = sa.Table(
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
    sa.Column("maker", sa.ForeignKey(makers.c.id), nullable=False),
)
runs: sa.Table = sa.Table(
    "rff_runs",
    _tables,
    sa.Column("id", sa.String(120), primary_key=True),
    sa.Column("spec", sa.Text, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
)
run_rows: sa.Table = sa.Table(
    "rff_run_rows",
    _tables,
    sa.Column("run", sa.ForeignKey(runs.c.id), primary_key=True),
    sa.Column("repeat", sa.Integer, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("key", _key, nullable=False, index=True),
)
runners: sa.Table = sa.Table(
    "rff_runners",
    _tables,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("machine", sa.String(32), nullable=False),
    sa.Column("process", sa.Integer, nullable=False),
    sa.Column("born", sa.Double, nullable=False),
    sa.Column("heard_of", sa.Double, nullable=False),
)
claims: sa.Table = sa.Table(
    "rff_claims",
    _tables,
    sa.Column("key", _key, primary_key=True),
    sa.Column("runner", sa.ForeignKey(runners.c.id), nullable=False, index=True),
)


class StoreError(OSError):
    """A store cannot be opened, read or written; the message is one sentence."""


class Database:
    """Connection to the database of a store; tables are created if there are none.

    Parameters
    ----------
    url : str or Path
        A SQLAlchemy URL, or the path of a SQLite file.
    read_only : bool, optional
        Open an existing SQLite file for reading alone; ``None`` does so where it cannot be written.

    Raises
    ------
    StoreError
        If it cannot be opened, or its tables are of another version.
    """

    #: Tables that a subclass adds.
    more_tables: sa.MetaData | None = None
    #: Seconds for which a PostgreSQL server that is lost, after it has answered once, is tried again.
    patience: float = 3.0

    def __init__(self, url: str | Path, read_only: bool | None = False):
        self._url = _parsed(url)
        self._path = next(iter(files_of(url)), None)
        if read_only and self._path is not None and not self._path.is_file():
            raise StoreError(f"There is no store at {self._path}.")
        self._read_only = _cannot_be_written(self._path) if read_only is None else read_only
        self._copies = ExitStack()
        with self._translate_errors():
            self._engine = self._connect()
            self._prepare()

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
        self._copies.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, work: Callable[[sa.Connection], _T]) -> _T:
        """Value of `work(connection)`, which only reads; otherwise as `write`."""
        with self._translate_errors():
            return self._retry(work, _VICTIM, self.patience, writes=False)

    def write(self, work: Callable[[sa.Connection], _T], patience: float | None = None) -> _T:
        """Value of `work(connection)`, called in one transaction; database errors become a StoreError.

        `work` is called again if the database aborts the transaction in favour of another. If the connection is lost,
        it is called again for `patience` seconds, by default those of the attribute, unless the lost transaction has
        committed.
        """
        with self._translate_errors():
            return self._retry(work, _VICTIM, self.patience if patience is None else patience)

    def _retry(
        self, work: Callable[[sa.Connection], _T], codes: set[str], patience: float = 0.0, writes: bool = True
    ) -> _T:
        tried, lost_since, value, transaction = 0, None, None, None
        while True:
            try:
                with self._engine.execution_options(writes=writes).begin() as connection:
                    if transaction is not None and _has_committed(connection, transaction):
                        return value  # pyright: ignore[reportReturnType] - of that transaction
                    value = work(connection)
                    if writes and connection.dialect.name == "postgresql":
                        number = sa.func.txid_current(), _crash_time
                        transaction = connection.execute(sa.select(*number)).one()
                return value
            except exc.DBAPIError as error:
                first = _first_error(error)
                if _is_lost(first):
                    lost_since = lost_since or time.monotonic()
                    if time.monotonic() >= lost_since + patience:
                        raise
                else:
                    tried += 1
                    if tried == _MAX_TRIES or _error_code(first) not in codes:
                        raise
            time.sleep(random.uniform(0, _MAX_SECONDS_BETWEEN_TRIES))

    def _connect(self) -> sa.Engine:
        if self._url.get_backend_name() != "sqlite":
            try:
                return sa.create_engine(self._url, pool_pre_ping=True)
            except ImportError as error:
                raise StoreError(_no_driver(self.name, error)) from None
        if self._path is not None and not self._read_only and not self._path.parent.is_dir():
            raise StoreError(f"store is {str(self._path)!r}; there is no folder {self._path.parent}.")
        if self._path is not None and self._read_only:
            file = self._readable(self._path)
            engine = sa.create_engine("sqlite://", creator=lambda: _connect_read_only(file), poolclass=sa.NullPool)
        else:
            engine = sa.create_engine(self._url, connect_args={"timeout": _BUSY_SECONDS})
        event.listen(engine, "connect", self._set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _readable(self, file: Path) -> Path:
        """The file; where SQLite would have to write an index of its log, a copy of both."""
        log = _log_of(file)
        index = file.with_name(f"{file.name}-shm")
        if not _has_rows(log) or index.exists():
            return file
        try:
            folder = Path(self._copies.enter_context(TemporaryDirectory(prefix="rff", ignore_cleanup_errors=True)))
            shutil.copyfile(log, _log_of(folder / file.name))
            return Path(shutil.copyfile(file, folder / file.name))
        except OSError as error:
            raise StoreError(f"{file} and its log cannot be copied, to be read: {error.strerror}.") from None

    def _set_up_sqlite(self, connection, _) -> None:
        connection.isolation_level = None  # `_begin_sqlite` begins transactions
        if not self._read_only:
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    def _prepare(self) -> None:
        if not self._read_only:
            self._retry(self._create_tables, _VICTIM | _CREATED_MEANWHILE)
        with self._engine.connect() as connection:
            self.check_version(connection)

    def check_version(self, connection: sa.Connection) -> None:
        """Raise a StoreError if the tables are of another version."""
        version = connection.scalar(sa.select(about.c.version))
        if version != VERSION:
            raise StoreError(f"{self.name} is a store of version {version}; this program reads version {VERSION}.")

    def _create_tables(self, connection) -> None:
        _tables.create_all(connection)
        if self.more_tables is not None:
            self.more_tables.create_all(connection)
        if connection.scalar(sa.select(about.c.version)) is None:
            insert(connection, about, [{"version": VERSION}])

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn database errors into a StoreError of one sentence."""
        try:
            yield
        except exc.DBAPIError as error:
            first = _first_error(error)
            raise StoreError(self._sentence(_error_code(first), " ".join(str(first.orig).split()))) from None
        except exc.SQLAlchemyError as error:
            raise StoreError(f"{self.name} cannot be used: {' '.join(str(error).split())}.") from None

    def _sentence(self, code: str | int | None, said: str) -> str:
        """One sentence for an error code, with the database's own words where they help."""
        if code in _FULL_OR_BROKEN:
            return f"{self.name} cannot be written, its disk is full or broken ({said}); rows known so far are kept."
        if code in _NOT_A_DATABASE:
            return f"{self.name} is not a store of results: {said}."
        if code in _LOCKED:
            return f"{self.name} has been locked by another program for {_BUSY_SECONDS} s."
        if code in _VICTIM:
            return f"{self.name} aborted a change {_MAX_TRIES} times for others ({said}); rows known so far are kept."
        return f"{self.name} cannot be used: {said}."


def insert(connection: sa.Connection, table: sa.Table, entries: list[Row]) -> None:
    """Insert entries whose keys are not there yet, in the order of their keys.

    Of two transactions that insert the same keys, one then waits for the other.
    """
    if not entries:
        return
    order = [column.name for column in table.primary_key if column.name in entries[0]]
    entries = sorted(entries, key=lambda entry: [entry[name] for name in order])
    if connection.dialect.name in _WITH_ON_CONFLICT:
        dialect = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
        for some in batches(entries, _BATCH_SIZE // len(entries[0])):
            connection.execute(dialect.insert(table).values(some).on_conflict_do_nothing())
    else:
        _insert_one_by_one(connection, table, entries)


def _insert_one_by_one(connection, table: sa.Table, entries: list[Row]) -> None:
    """`insert` for databases known to have savepoints, and no more."""
    for entry in entries:
        with suppress(exc.IntegrityError), connection.begin_nested():
            connection.execute(sa.insert(table), entry)


def keys_in(connection: sa.Connection, table: sa.Table, keys: Iterable[bytes]) -> set[bytes]:
    """The given keys that the table already has."""
    return {
        key
        for some in batches(sorted(keys))
        for key in connection.scalars(sa.select(table.c.key).where(table.c.key.in_(some)))
    }


def batches(items: list[_T], size: int = _BATCH_SIZE) -> Iterator[list[_T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


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


def files_of(url: str | Path) -> tuple[Path, ...]:
    """The SQLite file of a store, its log and the index of that; none of another database."""
    parsed = _parsed(url)
    name = parsed.database or ":memory:"
    if "uri" in parsed.query:  # a file: URI in the place of the path
        name = unquote(urlsplit(name).path)
    if parsed.get_backend_name() != "sqlite" or name == ":memory:":
        return ()
    return tuple(Path(f"{name}{ending}") for ending in ("", "-wal", "-shm"))


def _no_driver(name: str, error: ImportError) -> str:
    package = _PACKAGES.get(error.name or "", error.name)
    missing = f"driver {error.name} is not installed (pip install {package})" if package else f"driver fails ({error})"
    return (
        f"store is {name!r}; its {missing}; tested are a file, results.sqlite, and PostgreSQL, "
        "postgresql+psycopg://user@host/name."
    )


def _cannot_be_written(file: Path | None) -> bool:
    """Whether an existing file, or the folder where its log would be, cannot be written."""
    return file is not None and file.is_file() and not all(os.access(one, os.W_OK) for one in (file, file.parent))


def _connect_read_only(file: Path) -> sqlite3.Connection:
    # Of an immutable file SQLite does not read the log.
    immutable = "" if _has_rows(_log_of(file)) else "&immutable=1"
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro{immutable}", uri=True)


def _log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def _has_rows(log: Path) -> bool:
    return log.is_file() and log.stat().st_size > 0


def _begin_sqlite(connection) -> None:
    # A writer takes the lock at once: two transactions that read before they write would block each other.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch a SQLite file to its write-ahead log; SQLite itself does not wait while another process does the same."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _LOCKED or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _first_error(error: exc.DBAPIError) -> exc.DBAPIError:
    """The first database error of a chain: on a full disk the rollback fails as well."""
    first = error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, exc.DBAPIError):
            first = cause
        cause = cause.__context__
    return first


def _is_lost(error: exc.DBAPIError) -> bool:
    """Whether the connection to a PostgreSQL server is lost, or there is none to be had."""
    if isinstance(error.orig, sqlite3.Error):
        return False
    code = _error_code(error)
    if code is None:  # libpq gives none where the server has not answered
        return error.connection_invalidated or (isinstance(error, exc.OperationalError) and error.statement is None)
    return code in _STOPPING_OR_STARTING or str(code).startswith(_CONNECTION_EXCEPTION)


def _has_committed(connection: sa.Connection, transaction: Sequence) -> bool:
    """Whether a transaction that was lost while it committed is known to have done so; one under way is waited for."""
    number, crash_time = transaction
    # After a crash of the server the number may be another transaction's, or not given yet. The work is then done
    # again, so that no row is lost: results, claims and predictions that are there stay as they are. At worst a step's
    # seconds or an event of a rate count twice, or a room stays empty for a day.
    if connection.scalar(sa.select(_crash_time)) != crash_time:
        return False
    while (status := connection.scalar(sa.select(sa.func.txid_status(number)))) == "in progress":
        time.sleep(_MAX_SECONDS_BETWEEN_TRIES)
    return status == "committed"


def _error_code(error: exc.DBAPIError) -> str | int | None:
    """SQLSTATE, or SQLite's primary error code; ``None`` if the driver gives neither."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF
    return getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
