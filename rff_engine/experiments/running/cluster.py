"""The executor that computes units in parallel: in processes of this machine, or on any running Dask cluster.

Units are submitted with the values they need, so that Dask can recompute what is lost with a worker. Rows are sent as
soon as they are known; those that arrive twice are dropped here.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import dask.config
from distributed import Client, Future, LocalCluster, wait
from distributed.scheduler import KilledWorker

from ..studies.units import Row, Unit
from .executor import FINISHED, WAITING, Claims, Plan, Report, needed_values
from .same_code import check_code, check_scheduler
from .worker import Done, do, unpack

__all__ = ["check_finished", "connected", "result_of", "run_on_cluster", "threads_of_workers"]

_CONNECT_SECONDS = 10
_POLL_SECONDS = 1.0
# Repeats at a time: while the last units of one run, those of the next use the other workers.
_PLANS_UNDER_WAY = 2
_LOST = "The Dask scheduler was lost, and the units it was running."
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 100,  # a worker that dies costs time, not results
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # a problem is meant to be in the graph
    "distributed.worker.profile.enabled": False,
    "distributed.worker.preload": ["rff_engine.experiments.running.worker"],
    # Without Dask's own MALLOC_TRIM_THRESHOLD_, which returns the memory of every array to the system at once.
    "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, "1"),
}


@contextmanager
def _kept_environment() -> Iterator[None]:
    """Restore the variables that Dask sets while it starts workers: two that start at once may leave them behind."""
    before = {name: os.environ.get(name) for name in (*_THREADS, "PYTHONHASHSEED", "__DASK_PARENT_PID")}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def connected(jobs: int | None, scheduler: str | None) -> Iterator[Client]:
    """A client of a running scheduler or, without one, of `jobs` processes of this machine with one thread each.

    Raises
    ------
    ValueError
        If no scheduler answers, it has no workers, or it or they cannot import the rff_engine of this process.
    """
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(_SETTINGS))
        if scheduler is not None:
            check_scheduler(scheduler, _CONNECT_SECONDS)
            address = scheduler
        else:
            stack.enter_context(_kept_environment())
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            address = stack.enter_context(
                LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,  # pyright: ignore[reportArgumentType] - None stands for no dashboard
                    # The scheduler starts a bare HTTP server even without a dashboard.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    memory_limit=None,
                    local_directory=folder,
                    silence_logs=logging.CRITICAL + 1,  # errors are raised; closing cuts connections at any time
                )
            )
        try:
            client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError):
            raise ValueError(f"scheduler is {address!r}; no Dask scheduler answers there.") from None
        stack.enter_context(client)
        if scheduler is not None:
            check_code(client, scheduler)
        yield client


def run_on_cluster(plans: Iterator[Plan], jobs: int | None, scheduler: str | None) -> Generator[Report, None, None]:
    """Compute the units of two plans at a time on a cluster, see `connected`.

    Rows are reported as they become known. Closing the generator cancels running units between two steps, and ends the
    processes that were started.

    Raises
    ------
    ValueError
        If no scheduler answers, or a unit raises it.
    ConnectionError
        If the scheduler is lost, or one worker after another dies while it computes the same unit.
    """
    with connected(jobs, scheduler) as client:
        yield from _Running(client, plans).reports()


class _Todo(NamedTuple):
    """An unfinished unit."""

    plan: int
    claims: Claims
    unit: Unit
    needs: list[str]


@dataclass
class _Task:
    """A unit, or some rows of it, on a worker."""

    name: str
    worker: str
    unit: Unit
    reported: int = 0
    """Number of its steps reported so far"""


class _Running:
    """Plans under way on a cluster."""

    def __init__(self, client: Client, plans: Iterator[Plan]):
        self._client, self._plans = client, enumerate(plans)
        self._topic, self._inbox = f"rff-{uuid4().hex}", queue.SimpleQueue()
        client.subscribe_topic(self._topic, lambda event: self._inbox.put(event[1]))
        self._futures: dict[str, Future] = {}  # values being computed or still needed, by name
        self._todo: dict[str, _Todo] = {}  # by name, in the order they start
        self._tasks: dict[str, _Task] = {}  # by their key in Dask
        self._left: Counter[int] = Counter()  # unfinished units of each plan

    def reports(self) -> Iterator[Report]:
        try:
            while True:
                yield from self._start_work()
                if not self._todo:
                    return
                try:
                    key, step, rows = self._inbox.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    if self._client.status != "running":
                        raise ConnectionError(_LOST) from None
                    continue
                if step is None:
                    yield from self._ended(key)
                elif key in self._tasks and step == self._tasks[key].reported:  # else reported before its worker died
                    yield self._reported(key, rows)
        finally:
            self._client.cancel([self._futures[task.name] for task in self._tasks.values()])

    def _start_work(self) -> Iterator[Report]:
        """Start plans as long as few are running, and units as long as a worker is free."""
        while len(self._left) < _PLANS_UNDER_WAY:
            numbered = next(self._plans, None)
            if numbered is None:
                break
            yield from self._add(*numbered)
        # Units are long and share data: by itself Dask would let them wait for the worker that has their data.
        free = Counter(threads_of_workers(self._client))
        free.subtract(task.worker for task in self._tasks.values() if task.worker in free)
        under_way = {task.name for task in self._tasks.values()}
        for name, todo in list(self._todo.items()):
            if max(free.values(), default=0) <= 0:
                break
            if name not in under_way and not any(need in self._todo for need in todo.needs):
                worker = max(free, key=free.__getitem__)
                if (yield from self._begin(name, todo, worker)):
                    free[worker] -= 1

    def _add(self, number: int, plan: Plan) -> Iterator[Report]:
        """Schedule the units of a plan whose rows are not known, and those they need."""
        name_of = f"{self._topic}-{number}-{{}}".format
        units = {unit.name: unit for unit in plan.units}
        known = {unit.name: rows for unit in plan.units if unit.rows and (rows := plan.claims.lookup(unit.rows))}
        unknown = [unit for unit in plan.units if unit.rows and unit.name not in known]
        needed = needed_values(unknown, units, known)
        left = {unit.name for unit in unknown} | (needed & set(units) - set(known))
        if len(left) < len(units):
            seconds = sum(unit.seconds for unit in plan.units if unit.name not in left)
            yield Report(number, f"{len(units) - len(left)} of {len(units)} units known already", seconds, [])
        if not left:
            yield Report(number, FINISHED, 0.0, [], last=True)
            return
        for name in needed & set(known):
            self._send_value(name_of(name), units[name].value_from(known[name]))
        payload = pickle.dumps(plan.problem, protocol=pickle.HIGHEST_PROTOCOL)
        self._futures[name_of("problem")] = self._client.submit(unpack, payload, key=name_of("problem"))
        depth = dict.fromkeys(("problem", *known), 0)
        for unit in plan.units:
            if unit.name in left:
                depth[unit.name] = 1 + max(depth[name] for name in unit.needs)
        for unit in sorted((units[name] for name in units if name in left), key=lambda u: (depth[u.name], -u.seconds)):
            self._todo[name_of(unit.name)] = _Todo(number, plan.claims, unit, [name_of(need) for need in unit.needs])
        self._left[number] = len(left)

    def _begin(self, name: str, todo: _Todo, worker: str) -> Generator[Report, None, bool]:
        """Submit a unit and return True, or return False if none of its rows can be claimed."""
        own = todo.claims.claim(todo.unit.rows) if todo.unit.rows else []
        if todo.unit.rows and not own:
            rows = todo.claims.lookup(todo.unit.rows)
            if rows is None:
                yield Report(todo.plan, WAITING, 0.0, [])
            else:
                if todo.unit.value_of is not None:
                    self._send_value(name, todo.unit.value_of(rows))
                yield Report(todo.plan, f"known already: {todo.unit.steps[-1].message}", todo.unit.seconds, [])
                yield from self._done(name)
            return False
        key, unit = f"{name}-{uuid4().hex}", todo.unit.restricted_to(own)
        needs = [self._futures[need] for need in todo.needs]
        where = {"workers": [worker], "allow_other_workers": True}  # others if this one dies
        self._futures[name] = self._client.submit(do, unit.work, self._topic, *needs, key=key, **where)
        self._tasks[key] = _Task(name, worker, unit)
        self._futures[name].add_done_callback(lambda future: self._inbox.put((future.key, None, None)))
        return True

    def _send_value(self, name: str, value) -> None:
        """Send a value that is known here to the workers."""
        self._futures[name] = self._client.submit(Done, [], value, key=name)

    def _reported(self, key: str, rows: list[Row]) -> Report:
        """Keep the rows of a task's next step and report it."""
        task = self._tasks[key]
        todo = self._todo[task.name]
        message, seconds, _ = task.unit.steps[task.reported]
        task.reported += 1
        todo.claims.keep(rows)
        return Report(todo.plan, message, seconds, rows)

    def _ended(self, key: str) -> Iterator[Report]:
        """Report the remaining steps of a task that has ended."""
        task = self._tasks[key]
        future = self._futures[task.name]
        check_finished(future)
        if task.reported < len(task.unit.steps):
            for rows in future.result().rows[task.reported :]:
                yield self._reported(key, rows)
        del self._tasks[key]
        todo = self._todo[task.name]
        if len(task.unit.rows) == len(todo.unit.rows) or todo.claims.lookup(todo.unit.rows) is not None:
            yield from self._done(task.name)

    def _done(self, name: str) -> Iterator[Report]:
        """Mark a unit as done, and release values that no other unit needs."""
        todo = self._todo.pop(name)
        used = {*todo.needs, name}
        for value in used.difference(*(other.needs for other in self._todo.values())):
            self._futures.pop(value, None)
        self._left[todo.plan] -= 1
        if not self._left[todo.plan]:
            del self._left[todo.plan]
            yield Report(todo.plan, FINISHED, 0.0, [], last=True)


def threads_of_workers(client: Client) -> dict[str, int]:
    """Number of threads of each worker, by its address; a ConnectionError if the scheduler does not answer."""
    try:
        return client.nthreads()  # pyright: ignore[reportReturnType] - a coroutine of an asynchronous client alone
    except OSError:  # a CommClosedError, if the scheduler is lost during the request
        raise ConnectionError(_LOST) from None


def result_of(client: Client, future: Future) -> Any:
    """Wait for the result of a client's future; see `check_finished`."""
    with client.as_current(), suppress(CancelledError):
        wait(future)
    check_finished(future)
    return future.result()


def check_finished(future: Future) -> None:
    """Raise the error of a worker, or a ConnectionError if Dask failed."""
    if future.status == "error":
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise ConnectionError("One Dask worker after another died while it computed the same unit.") from None
        raise error  # pyright: ignore[reportGeneralTypeIssues] - a coroutine of an asynchronous client alone
    if future.status != "finished":
        raise ConnectionError("The Dask scheduler was lost, or dropped the units it was running.")
