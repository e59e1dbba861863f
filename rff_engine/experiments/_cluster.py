"""The executor that has units done side by side: by processes of this machine, or by any running Dask cluster.

Units are submitted with what they need, the problem among them, so that Dask can do again whatever is lost with a
worker. Rows are sent as soon as they are known; what comes twice is sorted out here.
"""

from __future__ import annotations

import logging
import pickle
import queue
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple
from uuid import uuid4

import dask
from distributed import Client, Future, LocalCluster, wait
from distributed.scheduler import KilledWorker

from ._same_code import check_code, check_scheduler
from ._units import FINISHED, WAITING, Desk, Plan, Report, Unit, still_needed
from ._worker import Done, do, unpack

__all__ = ["check_finished", "connected", "result_of", "run_on_cluster"]

_CONNECT_SECONDS = 10
_POLL_SECONDS = 1.0
# So many repeats at a time: while the last units of one are done, those of the next fill the other workers.
_PLANS_UNDER_WAY = 2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 100,  # a worker that dies costs time, not results
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # a problem is meant to be in the graph
    "distributed.worker.profile.enabled": False,
    "distributed.worker.preload": ["rff_engine.experiments._worker"],
    # Without Dask's own MALLOC_TRIM_THRESHOLD_, which returns the memory of every array to the system at once.
    "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, "1"),
}


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
        given = scheduler
        if given is not None:
            check_scheduler(given, _CONNECT_SECONDS)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            scheduler = stack.enter_context(
                LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address=None,
                    scheduler_kwargs={
                        "dashboard_address": "127.0.0.1:0"
                    },  # of a bare HTTP server that it has all the same
                    memory_limit=None,
                    local_directory=folder,
                    silence_logs=logging.CRITICAL + 1,  # what matters is raised; on closing comms are cut at any time
                )
            )
        try:
            client = Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError):
            raise ValueError(f"scheduler is {scheduler!r}; no Dask scheduler answers there.") from None
        stack.enter_context(client)
        if given is not None:
            check_code(client, given)
        yield client


def run_on_cluster(plans: Iterator[Plan], jobs: int | None, scheduler: str | None) -> Iterator[Report]:
    """Have the units of two plans at a time done by a cluster, see `connected`.

    Rows come as they become known. Closing the generator cancels what is under way between two steps, and ends the
    processes that were started.

    Raises
    ------
    ValueError
        If no scheduler answers, or a unit raises it.
    ConnectionError
        If the scheduler is lost, or a unit with one worker after another.
    """
    with connected(jobs, scheduler) as client:
        yield from _Running(client, plans).reports()


class _Todo(NamedTuple):
    """A unit that is not done."""

    plan: int
    desk: Desk
    unit: Unit
    needs: list[str]


@dataclass
class _Task:
    """A unit, or some rows of it, that a worker is doing."""

    name: str
    worker: str
    unit: Unit
    reported: int = 0
    """Steps of which we know."""


class _Running:
    """Plans under way on a cluster."""

    def __init__(self, client: Client, plans: Iterator[Plan]):
        self._client, self._plans = client, enumerate(plans)
        self._topic, self._inbox = f"rff-{uuid4().hex}", queue.SimpleQueue()
        client.subscribe_topic(self._topic, lambda event: self._inbox.put(event[1]))
        self._futures: dict[str, Future] = {}  # values under way or still needed, by name
        self._todo: dict[str, _Todo] = {}  # by name, in the order they are begun
        self._tasks: dict[str, _Task] = {}  # by the key that Dask knows them by
        self._left: Counter[int] = Counter()  # units of each plan that are not done

    def reports(self) -> Iterator[Report]:
        try:
            while True:
                yield from self._keep_busy()
                if not self._todo:
                    return
                try:
                    key, step, rows = self._inbox.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    if self._client.status != "running":
                        raise ConnectionError("The Dask scheduler was lost, and what was under way with it.") from None
                    continue
                if step is None:
                    yield from self._ended(key)
                elif key in self._tasks and step == self._tasks[key].reported:  # else known before its worker died
                    yield self._reported(key, rows)
        finally:
            self._client.cancel([self._futures[task.name] for task in self._tasks.values()])

    def _keep_busy(self) -> Iterator[Report]:
        """Begin plans as long as few are under way, and units as long as a worker is free."""
        while len(self._left) < _PLANS_UNDER_WAY:
            number, plan = next(self._plans, (None, None))
            if plan is None:
                break
            yield from self._add(number, plan)
        # Units are long and share much: left to itself Dask would rather have them wait where their data are.
        free = Counter(self._client.nthreads())
        free.subtract(task.worker for task in self._tasks.values() if task.worker in free)
        under_way = {task.name for task in self._tasks.values()}
        for name, todo in list(self._todo.items()):
            if max(free.values(), default=0) <= 0:
                break
            if name not in under_way and not any(need in self._todo for need in todo.needs):
                worker = max(free, key=free.get)
                if (yield from self._begin(name, todo, worker)):
                    free[worker] -= 1

    def _add(self, number: int, plan: Plan) -> Iterator[Report]:
        """What of a plan is not known already is to be done."""
        name_of = f"{self._topic}-{number}-{{}}".format
        units = {unit.name: unit for unit in plan.units}
        known = {unit.name: rows for unit in plan.units if unit.rows and (rows := plan.desk.known(unit.rows))}
        unknown = [unit for unit in plan.units if unit.rows and unit.name not in known]
        needed = still_needed(unknown, units, known)
        left = {unit.name for unit in unknown} | (needed & set(units) - set(known))
        if len(left) < len(units):
            seconds = sum(unit.seconds for unit in plan.units if unit.name not in left)
            yield Report(number, f"{len(units) - len(left)} of {len(units)} pieces known already", seconds, [])
        if not left:
            yield Report(number, FINISHED, 0.0, [], last=True)
            return
        for name in needed & set(known):
            self._hand_over(name_of(name), units[name].value_of(known[name]))
        payload = pickle.dumps(plan.problem, protocol=pickle.HIGHEST_PROTOCOL)
        self._futures[name_of("problem")] = self._client.submit(unpack, payload, key=name_of("problem"))
        depth = dict.fromkeys(("problem", *known), 0)
        for unit in plan.units:
            if unit.name in left:
                depth[unit.name] = 1 + max(depth[name] for name in unit.needs)
        for unit in sorted((units[name] for name in units if name in left), key=lambda u: (depth[u.name], -u.seconds)):
            self._todo[name_of(unit.name)] = _Todo(number, plan.desk, unit, [name_of(need) for need in unit.needs])
        self._left[number] = len(left)

    def _begin(self, name: str, todo: _Todo, worker: str) -> Iterator[Report]:
        """Have a unit done, and say so; unless nothing of it is ours to do."""
        mine = todo.desk.take(todo.unit.rows) if todo.unit.rows else []
        if todo.unit.rows and not mine:
            rows = todo.desk.known(todo.unit.rows)
            if rows is None:
                yield Report(todo.plan, WAITING, 0.0, [])
            else:
                if todo.unit.value_of is not None:
                    self._hand_over(name, todo.unit.value_of(rows))
                yield Report(todo.plan, f"known already: {todo.unit.steps[-1].message}", todo.unit.seconds, [])
                yield from self._done(name)
            return False
        key, unit = f"{name}-{uuid4().hex}", todo.unit.only(mine)
        needs = [self._futures[need] for need in todo.needs]
        where = {"workers": [worker], "allow_other_workers": True}  # others, should this one die
        self._futures[name] = self._client.submit(do, unit.work, self._topic, *needs, key=key, **where)
        self._tasks[key] = _Task(name, worker, unit)
        self._futures[name].add_done_callback(lambda future: self._inbox.put((future.key, None, None)))
        return True

    def _hand_over(self, name: str, value) -> None:
        """Let workers have a value that is known here."""
        self._futures[name] = self._client.submit(Done, [], value, key=name)

    def _reported(self, key: str, rows: list[dict]) -> Report:
        """The report of a task's next step."""
        task = self._tasks[key]
        message, seconds, _ = task.unit.steps[task.reported]
        task.reported += 1
        return Report(self._todo[task.name].plan, message, seconds, rows)

    def _ended(self, key: str) -> Iterator[Report]:
        """The steps of a task that is done, or failed, of which nothing was heard."""
        task = self._tasks[key]
        future = self._futures[task.name]
        check_finished(future)
        if task.reported < len(task.unit.steps):
            for rows in future.result().rows[task.reported :]:
                yield self._reported(key, rows)
        del self._tasks[key]
        unit, desk = self._todo[task.name].unit, self._todo[task.name].desk
        if len(task.unit.rows) == len(unit.rows) or desk.known(unit.rows) is not None:
            yield from self._done(task.name)

    def _done(self, name: str) -> Iterator[Report]:
        """A unit is done: what is not needed any more is let go."""
        todo = self._todo.pop(name)
        used = {*todo.needs, name}
        for value in used.difference(*(other.needs for other in self._todo.values())):
            self._futures.pop(value, None)
        self._left[todo.plan] -= 1
        if not self._left[todo.plan]:
            del self._left[todo.plan]
            yield Report(todo.plan, FINISHED, 0.0, [], last=True)


def result_of(future: Future):
    """The result of a future, waited for; see `check_finished`."""
    with future.client.as_current(), suppress(CancelledError):
        wait(future)
    check_finished(future)
    return future.result()


def check_finished(future: Future) -> None:
    """Raises what a worker raised, or a ConnectionError where it is Dask that failed."""
    if future.status == "error":
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise ConnectionError("One Dask worker after another died while doing the same unit.") from None
        raise error
    if future.status != "finished":
        raise ConnectionError("The Dask scheduler was lost, or dropped what was under way.")
