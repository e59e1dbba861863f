"""The executor that computes units in parallel: in processes of this machine, or on any running Dask cluster.

Units are submitted with the values they need, so that Dask can recompute what is lost with a worker. Rows are sent as
soon as they are known; those that arrive twice are dropped here. Each unit carries the code of this process: a worker
of other code, which may join at any time, refuses it, and it is submitted again.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import dask.config
from distributed import Client, Future, LocalCluster
from distributed.scheduler import KilledWorker

from ..studies.units import Row, Unit
from .executor import FINISHED, WAITING, Claims, Plan, Report, needed_values
from .same_code import CODE, REMEDY, check_code, check_scheduler
from .worker import Done, OtherCode, do, is_of_same_code, unpack

_log = logging.getLogger(__name__)

_CONNECT_SECONDS = 10
_POLL_SECONDS = 1.0
# Repeats at a time: workers that the last units of one do not use compute the next.
_PLANS_UNDER_WAY = 2
# How often a unit is submitted that Dask loses, with a worker or without.
_MAX_TRIES = 5
_REFUSED_SECONDS = 30.0
# Looks in a row at which workers are free and none computes, though units are submitted.
_IDLE_POLLS = 5
# Errors of a worker that cannot read a unit, or refuses it.
_OF_OTHER_CODE = (OtherCode, ImportError, AttributeError, TypeError)
_LOST = "The Dask scheduler was lost, and the units it was running."
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 20,  # a worker that dies costs time, not results
    "distributed.admin.large-graph-warning-threshold": "1 TiB",  # graphs hold whole problems
    "distributed.worker.profile.enabled": False,
    "distributed.worker.preload": ["rff_engine.experiments.running.worker"],
    # Without Dask's own MALLOC_TRIM_THRESHOLD_, which returns the memory of every array to the system at once.
    "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, "1"),
}


@contextmanager
def _keep_environment() -> Iterator[None]:
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
def connected(jobs: int | None, scheduler: str | None) -> Iterator[Workers]:
    """Workers of a running scheduler or, without one, `jobs` processes of this machine with one thread each.

    How many workers were refused is logged in the end.

    Raises
    ------
    ValueError
        If no scheduler answers, it has no workers, or it or all of them cannot import the rff_engine of this process.
    """
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(_SETTINGS))
        if scheduler is not None:
            check_scheduler(scheduler, _CONNECT_SECONDS)
            address = scheduler
        else:
            stack.enter_context(_keep_environment())
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
        workers = Workers(client, set() if scheduler is None else check_code(client, scheduler))
        try:
            yield workers
        finally:
            if workers.n_refused:
                _log.warning(workers.refusals)


def run_on_cluster(plans: Iterator[Plan], jobs: int | None, scheduler: str | None) -> Generator[Report, None, None]:
    """Compute the units of two plans at a time on a cluster, see `connected`.

    Rows are reported as they become known. Closing the generator cancels running units between two steps, and ends the
    processes that were started.

    Raises
    ------
    ValueError
        If no scheduler answers, or a unit raises it.
    ConnectionError
        If the scheduler is lost, all workers have other code, or one worker after another dies while it computes the
        same unit.
    """
    with connected(jobs, scheduler) as workers:
        yield from _Running(workers, plans).reports()


class Workers:
    """The workers of a cluster that may compute: all that did not refuse, or fail to import, the code of this process.

    Parameters
    ----------
    refused : set of str
        Addresses of workers that are known to have other code.
    """

    def __init__(self, client: Client, refused: set[str]):
        self.client: Client = client
        self.n_refused: int = len(refused)
        self._refused = set(refused)
        self._tries = Counter()
        self._said, self._last_fit = "", time.monotonic()

    @property
    def refusals(self) -> str:
        """One sentence on the workers that were refused so far."""
        workers = "worker was" if self.n_refused == 1 else "workers were"
        return f"{self.n_refused} Dask {workers} refused for other code than {CODE}{self._said}: {REMEDY}."

    def threads(self) -> dict[str, int]:
        """Number of threads of each worker that may compute, by its address.

        Raises
        ------
        ConnectionError
            If the scheduler does not answer, or all workers have been refused for half a minute.
        """
        present = _threads_of_workers(self.client)
        self._refused &= present.keys()  # another worker may come to the address of one that has gone
        fit = {worker: threads for worker, threads in present.items() if worker not in self._refused}
        if fit or not present:
            self._last_fit = time.monotonic()
        elif time.monotonic() - self._last_fit > _REFUSED_SECONDS:
            raise ConnectionError(f"No Dask worker is left that may compute; {self.refusals}")
        return fit

    def addresses(self) -> list[str]:
        """Addresses of the workers that may compute, as soon as there is one; raises as `threads`."""
        while not (addresses := list(self.threads())):
            time.sleep(_POLL_SECONDS)
        return addresses

    def result(self, name: str, future: Future) -> Done | None:
        """Result of a future, or ``None`` if it has to be submitted again, since Dask or a worker failed.

        Raises
        ------
        ConnectionError
            If the scheduler is lost, or what has this name fails too often.
        Exception
            That a unit has raised.
        """
        try:
            with self.client.as_current():
                done = future.result()
            if isinstance(done, Done) and done.code == CODE:
                return done
            error = None
        except Exception as failed:
            error = failed
        if error is not None and is_of_same_code(error):
            raise error
        if self.client.status != "running":
            raise ConnectionError(_LOST)
        if not self._refuse(str(future.key), error):
            self.count_loss(name, error)
        return None

    def count_loss(self, name: str, error: BaseException | None = None) -> None:
        """Count that Dask has lost what has this name; raise ConnectionError at the last of its tries."""
        self._tries[name] += 1
        if self._tries[name] == _MAX_TRIES:
            raise ConnectionError(_failure(error))

    def _refuse(self, key: str, error: BaseException | None) -> bool:
        """Refuse the workers that other code made fail outside a unit; return whether there is one."""
        if not isinstance(error, _OF_OTHER_CODE):  # a worker may lack memory or a file for a moment
            return False
        # A coroutine of an asynchronous client alone.
        places: list[str] = self.client.run_on_scheduler(_places_function(key))  # pyright: ignore[reportAssignmentType]
        refused = set(places) & _threads_of_workers(self.client).keys()
        self.n_refused += len(refused - self._refused)
        self._refused |= refused
        if refused:
            self._said = f" ({' '.join(str(error).split())})"
        return bool(refused)


def _places_function(key: str) -> Callable[..., list[str]]:
    """Function that returns the workers on which a task, or one that it needs, has failed; pickled by value."""

    def places(dask_scheduler) -> list[str]:
        task = dask_scheduler.tasks.get(key)
        return list(task.exception_blame.erred_on) if task is not None and task.exception_blame else []

    return places


def _failure(error: BaseException | None) -> str:
    if isinstance(error, KilledWorker):
        return "One Dask worker after another died while it computed the same unit."
    said = "" if error is None else f" ({' '.join(f'{type(error).__name__}: {error}'.split())})"
    return f"Dask lost the same unit {_MAX_TRIES} times{said}."


class _Todo(NamedTuple):
    """An unfinished unit."""

    plan: int
    claims: Claims
    unit: Unit
    needs: list[str]


@dataclass
class _Value:
    """How a value is computed, and its future once it is submitted."""

    function: Callable[..., Done]
    arguments: tuple
    needs: list[str]
    future: Future | None = None

    @property
    def is_submitted(self) -> bool:
        return self.future is not None and self.future.status not in ("error", "cancelled")


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

    def __init__(self, workers: Workers, plans: Iterator[Plan]):
        self._workers, self._client, self._plans = workers, workers.client, enumerate(plans)
        self._topic = f"rff-{uuid4().hex}"
        self._inbox = queue.SimpleQueue()
        self._client.subscribe_topic(self._topic, lambda event: self._inbox.put(event[1]))
        self._values: dict[str, _Value] = {}  # being computed or still needed, by name
        self._todo: dict[str, _Todo] = {}  # by name, in the order they start
        self._tasks: dict[str, _Task] = {}  # by their key in Dask
        self._again: dict[str, _Task] = {}  # to be submitted again, by name
        self._left: Counter[int] = Counter()  # unfinished units of each plan

    def reports(self) -> Iterator[Report]:
        idle = 0
        try:
            while True:
                yield from self._start_work()
                if not self._todo:
                    return
                try:
                    code, key, step, rows = self._inbox.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    if self._client.status != "running":
                        raise ConnectionError(_LOST) from None
                    idle = idle + 1 if self._is_idle() else 0
                    if idle == _IDLE_POLLS:
                        self._submit_again()
                    continue
                idle = 0
                if key not in self._tasks:
                    continue
                if step is None:
                    yield from self._end(key)
                elif code == CODE and step == self._tasks[key].reported:
                    yield self._report(self._tasks[key], rows)  # else reported before its worker died
        finally:
            self._client.cancel([self._values[task.name].future for task in self._tasks.values()])

    def _is_idle(self) -> bool:
        """Whether units are submitted, workers are there, and none of them computes."""
        if not self._tasks or not self._workers.threads():
            return False
        return not any(_answer(self._client.processing).values())

    def _submit_again(self) -> None:
        """Let all units under way, and what they need, be submitted again.

        While workers die, Dask's scheduler can let a task wait for one that it has released and computes no more.
        """
        for task in self._tasks.values():
            self._workers.count_loss(task.name)
            self._again[task.name] = task
        self._tasks.clear()
        for value in self._values.values():
            value.future = None

    def _start_work(self) -> Iterator[Report]:
        """Start plans as long as few are running, and units as long as a worker is free."""
        while len(self._left) < _PLANS_UNDER_WAY:
            numbered = next(self._plans, None)
            if numbered is None:
                break
            yield from self._add(*numbered)
        # Units are long and share data: by itself Dask would let them wait for the worker that has their data.
        free = Counter(self._workers.threads())
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
            self._keep_value(name_of(name), units[name].value_from(known[name]))
        self._keep_value(name_of("problem"), plan.problem)
        depth = dict.fromkeys(("problem", *known), 0)
        for unit in plan.units:
            if unit.name in left:
                depth[unit.name] = 1 + max(depth[name] for name in unit.needs)
        for unit in sorted((units[name] for name in units if name in left), key=lambda u: (depth[u.name], -u.seconds)):
            self._todo[name_of(unit.name)] = _Todo(number, plan.claims, unit, [name_of(need) for need in unit.needs])
        self._left[number] = len(left)

    def _begin(self, name: str, todo: _Todo, worker: str) -> Generator[Report, None, bool]:
        """Submit a unit and return True, or return False if none of its rows can be claimed."""
        if name in self._again:
            self._submit_task(self._again.pop(name), worker)
            return True
        own = todo.claims.claim(todo.unit.rows) if todo.unit.rows else []
        if todo.unit.rows and not own:
            rows = todo.claims.lookup(todo.unit.rows)
            if rows is None:
                yield Report(todo.plan, WAITING, 0.0, [])
            else:
                if todo.unit.value_of is not None:
                    self._keep_value(name, todo.unit.value_of(rows))
                yield Report(todo.plan, f"known already: {todo.unit.steps[-1].message}", todo.unit.seconds, [])
                yield from self._finish(name)
            return False
        unit = todo.unit.restricted_to(own)
        self._values[name] = _Value(do, (unit.work, self._topic), todo.needs)
        self._submit_task(_Task(name, worker, unit), worker)
        return True

    def _submit_task(self, task: _Task, worker: str) -> None:
        task.worker = worker
        future = self._submit(task.name, worker)
        self._tasks[str(future.key)] = task
        future.add_done_callback(lambda future: self._inbox.put((CODE, future.key, None, None)))

    def _submit(self, name: str, worker: str) -> Future:
        """Submit the computation of a value, and of those that it needs and that no worker has or computes."""
        value, needs = self._values[name], []
        for need in value.needs:
            kept = self._values[need]
            needs.append(kept.future if kept.is_submitted else self._submit(need, worker))
        key = f"{name}-{uuid4().hex}"
        where = {"workers": [worker], "allow_other_workers": True}  # others if this one dies
        value.future = self._client.submit(value.function, CODE, *value.arguments, *needs, key=key, **where)
        return value.future

    def _keep_value(self, name: str, value: object) -> None:
        """Keep a value that is known here; it is sent with the first unit that needs it."""
        self._values[name] = _Value(unpack, (pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL),), [])

    def _report(self, task: _Task, rows: list[Row]) -> Report:
        """Keep the rows of a task's next step and report it."""
        todo = self._todo[task.name]
        message, seconds, _ = task.unit.steps[task.reported]
        task.reported += 1
        todo.claims.keep(rows)
        return Report(todo.plan, message, seconds, rows)

    def _end(self, key: str) -> Iterator[Report]:
        """Report the remaining steps of a task that has ended, or let it be submitted again."""
        task = self._tasks.pop(key)
        value, todo = self._values[task.name], self._todo[task.name]
        if task.reported < len(task.unit.steps) or not value.is_submitted:
            assert value.future is not None  # the task was submitted
            n_refused = self._workers.n_refused
            done = self._workers.result(task.name, value.future)
            if self._workers.n_refused > n_refused:
                yield Report(todo.plan, self._workers.refusals, 0.0, [])
            if done is None:
                self._again[task.name] = task
                return
            for rows in done.rows[task.reported :]:
                yield self._report(task, rows)
        if len(task.unit.rows) == len(todo.unit.rows) or todo.claims.lookup(todo.unit.rows) is not None:
            yield from self._finish(task.name)

    def _finish(self, name: str) -> Iterator[Report]:
        """Mark a unit as done, and release values that no unit left needs, not even to compute a lost value again."""
        todo = self._todo.pop(name)
        needed = needed_values(self._todo.values(), self._values, ())
        for value in self._values.keys() - needed - self._todo.keys():
            del self._values[value]
        self._left[todo.plan] -= 1
        if not self._left[todo.plan]:
            del self._left[todo.plan]
            yield Report(todo.plan, FINISHED, 0.0, [], last=True)


def _threads_of_workers(client: Client) -> dict[str, int]:
    """Number of threads of each worker, by its address; a ConnectionError if the scheduler does not answer."""
    return _answer(client.nthreads)


def _answer(request: Callable[[], Any]) -> Any:
    """What the scheduler answers to a request of a client that is not asynchronous."""
    try:
        return request()
    except OSError:  # a CommClosedError, if the scheduler is lost during the request
        raise ConnectionError(_LOST) from None
