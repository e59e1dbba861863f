"""Shares the rows of a run between processes: each claims rows in the store before it computes them.

A process holds a lease while it works on a run, and renews it with heartbeats. Claims of a process that has died are
deleted by the next process that claims rows. The time of day decides nothing: clocks jump, and differ between machines.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Self
from uuid import uuid4

import psutil
import sqlalchemy as sa

from ..studies.protocols import RunSpec
from ..studies.units import Row
from .executor import Claims
from .schema import StoreError, batches, claims, insert, keys_in, results, runners, runs
from .store import Store, insert_results, maker_id, row_key_function

_HEARTBEAT_SECONDS = 10.0
# A run waits this long for a database that restarts; a page, which only looks, does not.
_PATIENCE_SECONDS = 30.0
# A process of another machine counts as dead if no heartbeat arrives while this process listens for so long.
_SILENT_SECONDS = 120.0
# Last heartbeat of each process of another machine, and when it arrived on the monotonic clock of this one.
_heartbeats: dict[str, tuple[float, float]] = {}


class RunLease:
    """Lease of this process on a run, renewed by a thread until the context ends.

    Raises
    ------
    StoreError
        If the store cannot be read or written; so do all methods.
    """

    def __init__(self, store: Store, spec: RunSpec):
        self.store: Store = copy(store)  # with the same connections and a patience of its own
        self.store.patience = max(store.patience, _PATIENCE_SECONDS)
        self.spec: RunSpec = spec
        self._last = time.monotonic()
        pid = os.getpid()
        self._runner = {"id": uuid4().hex, "machine": _machine(), "process": pid, "born": _process_start_time(pid)}
        self.maker: int = store.write(self._begin)
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="store", daemon=True)
        self._thread.start()

    @property
    def id(self) -> str:
        return self._runner["id"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Give up all claims. Never raises: a lease that cannot be given up ends with its heartbeats."""
        # Ctrl-C may leave a transaction open, and the frames of its traceback would keep the lock on a file.
        while error is not None:
            traceback.clear_frames(error.__traceback__)
            error = error.__context__
        self._released.set()
        self._thread.join()
        with suppress(StoreError):
            self.store.write(lambda connection: _delete_runners(connection, [self.id]), patience=0)

    def claims(self, data: str, repeat: int, rows: list[Row]) -> StoreClaims:
        """Claims on the rows of a repeat, whose split has the digest `data`.

        Those of the protocol's methods become rows of the run, in this order.
        """
        protocol = self.spec.protocol
        key_of = row_key_function(data, self.spec.seed + repeat, protocol)
        self.store.plan(self.spec, repeat, [key_of(row) for row in rows if row["method"] in protocol.methods])
        return StoreClaims(self, key_of)

    def heartbeat(self, connection: sa.Connection) -> None:
        """Renew the lease; insert it again if another process has deleted it, since claims refer to it.

        Raises
        ------
        StoreError
            Also if a program of another version has changed the tables.
        """
        self.store.check_version(connection)
        now = time.time()
        own = sa.update(runners).where(runners.c.id == self.id).values(heard_of=now)
        if connection.execute(own).rowcount == 0:
            insert(connection, runners, [self._runner | {"heard_of": now}])

    def seconds_since_last(self) -> float:
        """Seconds since the last call, at first since the lease began."""
        now = time.monotonic()
        spent, self._last = now - self._last, now
        return spent

    def _begin(self, connection) -> int:
        self.heartbeat(connection)
        return maker_id(connection)

    def _beat(self) -> None:
        while not self._released.wait(_HEARTBEAT_SECONDS):
            with suppress(StoreError):  # the next row that is kept raises it again
                self.store.write(self.heartbeat, patience=0)


class StoreClaims(Claims):
    """Claims of a lease on rows of one repeat; see `RunLease.claims`."""

    def __init__(self, lease: RunLease, key_of: Callable[[Row], bytes]):
        self._lease, self._store = lease, lease.store
        self.key_of: Callable[[Row], bytes] = key_of

    def lookup(self, rows: list[Row]) -> list[Row] | None:
        keys = [self.key_of(row) for row in rows]
        stored = self._store.rows_by_key(keys)
        return [stored[key] for key in keys] if len(stored) == len(set(keys)) else None

    def claim(self, rows: list[Row]) -> list[Row]:
        keys = {self.key_of(row): row for row in rows}
        own = self._store.write(lambda connection: self._claim(connection, keys))
        return [row for key, row in keys.items() if key in own]

    def keep(self, rows: list[Row]) -> None:
        if not rows:
            return
        spent = self._lease.seconds_since_last()
        by_key = {self.key_of(row): row for row in rows}
        run = self._lease.spec.run_id

        def commit(connection) -> None:
            self._store.check_version(connection)
            insert_results(connection, by_key, self._lease.maker)
            _delete_claims(connection, claims.c.key.in_(list(by_key)), claims.c.runner == self._lease.id)
            connection.execute(sa.update(runs).where(runs.c.id == run).values(seconds=runs.c.seconds + spent))

        self._store.write(commit)

    def _claim(self, connection, keys: Iterable[bytes]) -> set[bytes]:
        """Claim those keys that are neither known nor claimed; return those claimed by this lease, now or before."""
        _reap_dead_runners(connection, self._lease.id)
        self._lease.heartbeat(connection)
        taken = keys_in(connection, results, keys) | keys_in(connection, claims, keys)
        insert(connection, claims, [{"key": key, "runner": self._lease.id} for key in keys if key not in taken])
        of_lease = sa.select(claims.c.key).where(claims.c.runner == self._lease.id)
        own = set(connection.scalars(of_lease)) & set(keys)
        # Another process may have kept rows, and given up their claims, since `taken` was read.
        known = keys_in(connection, results, own)
        for some in batches(sorted(known)):
            _delete_claims(connection, claims.c.key.in_(some), claims.c.runner == self._lease.id)
        return own - known


def _reap_dead_runners(connection, own: str) -> None:
    """Delete the leases of dead processes and their claims; `own` is the id of a living one."""
    others = connection.execute(sa.select(runners).where(runners.c.id != own)).all()
    if dead := [runner.id for runner in others if not _is_alive(runner)]:
        _lock_runners(connection, [*dead, own])
        _delete_runners(connection, dead)


def _delete_runners(connection, ids: list[str]) -> None:
    _lock_runners(connection, ids)
    _delete_claims(connection, claims.c.runner.in_(ids))
    connection.execute(sa.delete(runners).where(runners.c.id.in_(ids)))
    for runner in ids:
        _heartbeats.pop(runner, None)


def _lock_runners(connection, ids: list[str]) -> None:
    """Lock rows of runners in the order of their ids, where a database locks rows."""
    these = sa.select(runners.c.id).where(runners.c.id.in_(ids)).order_by(runners.c.id)
    connection.execute(these.with_for_update()).all()


def _delete_claims(connection, *which) -> None:
    """Delete claims, locked in the order of their keys."""
    connection.execute(sa.select(claims.c.key).where(*which).order_by(claims.c.key).with_for_update()).all()
    connection.execute(sa.delete(claims).where(*which))


def _is_alive(runner) -> bool:
    if runner.machine == _machine():
        born = _process_start_time(runner.process)
        return born is not None and abs(born - runner.born) < 1.0
    now = time.monotonic()
    last, arrived = _heartbeats.get(runner.id, (None, now))
    if last != runner.heard_of:
        arrived = now
    _heartbeats[runner.id] = runner.heard_of, arrived
    return now - arrived < _SILENT_SECONDS


def _process_start_time(pid: int) -> float | None:
    """Start of a process, or ``None`` if it has ended; on Linux in seconds after boot, which no clock change moves."""
    if sys.platform != "linux":
        try:
            return psutil.Process(pid).create_time()
        except psutil.NoSuchProcess:
            return None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    # A zombie has ended, and only its parent has not noticed yet.
    return None if state in "ZX" else int(fields[18]) / os.sysconf("SC_CLK_TCK")


@lru_cache(maxsize=1)
def _machine() -> str:
    """Identifier of this machine since it was booted."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = f"{psutil.boot_time():.0f}"
    return hashlib.sha256(f"{socket.gethostname()} {boot}".encode()).hexdigest()[:32]
