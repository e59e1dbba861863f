"""The executor that has units done side by side: by processes of this machine, or by any running Dask cluster.

Units are submitted with what they need, the problem among them, so that Dask can do again whatever is lost with a
worker. Rows are sent as soon as they are known; what comes twice, or too early for the order, is sorted out here.
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
from uuid import uuid4

import dask
from distributed import Client, Future, LocalCluster, wait
from distributed.scheduler import KilledWorker

from ._units import Plan, Report, Unit
from ._worker import do, unpack

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
        If no scheduler answers.
    """
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(_SETTINGS))
        if scheduler is None:
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
        yield stack.enter_context(client)


def run_on_cluster(plans: Iterator[Plan], jobs: int | None, scheduler: str | None) -> Iterator[Report]:
    """Have the units of two plans at a time done by a cluster, see `connected`.

    Rows come plan by plan, in a plan stage by stage, in a stage those of the longest units first. Closing the
    generator cancels what is under way between two steps, and ends the processes that were started.

    Raises
    ------
    ValueError
        If no scheduler answers, or a unit raises it.
    ConnectionError
        If the scheduler is lost, or a unit with one worker after another.
    """
    with connected(jobs, scheduler) as client:
        yield from _Running(client, plans).reports()


class _Running:
    """Plans under way on a cluster."""

    def __init__(self, client: Client, plans: Iterator[Plan]):
        self._client, self._plans = client, enumerate(plans)
        self._topic, self._inbox = f"rff-{uuid4().hex}", queue.SimpleQueue()
        client.subscribe_topic(self._topic, lambda event: self._inbox.put(event[1]))
        self._futures: dict[str, Future] = {}  # of what is under way or still needed
        self._needs: dict[str, list[str]] = {}  # of the units not done, in the order they are begun
        self._worker_of: dict[str, str] = {}  # of the units under way
        self._units: dict[str, tuple[int, Unit]] = {}  # not handed out completely, in the order they will be
        self._rows: dict[str, list[list[dict]]] = {}  # of these, the rows known so far, step by step
        self._handed_out = 0  # steps of the first of them

    def reports(self) -> Iterator[Report]:
        try:
            while self._keep_busy():
                try:
                    key, step, rows = self._inbox.get(timeout=_POLL_SECONDS)
                except queue.Empty:
                    if self._client.status != "running":
                        raise ConnectionError("The Dask scheduler was lost, and what was under way with it.") from None
                    continue
                if step is None:
                    yield from self._ended(key)
                elif key in self._rows and step == len(self._rows[key]):  # else known before its worker died
                    yield self._learned(key, rows)
        finally:
            self._client.cancel([self._futures[key] for key in self._worker_of])

    def _keep_busy(self) -> bool:
        """Begin plans as long as few are under way, and units as long as a worker is free; whether any is left."""
        while len({number for number, _ in self._units.values()}) < _PLANS_UNDER_WAY:
            number, plan = next(self._plans, (None, None))
            if plan is None:
                break
            self._add(number, plan)
        # Units are long and share much: left to itself Dask would rather have them wait where their data are.
        free = Counter(self._client.nthreads())
        free.subtract(address for address in self._worker_of.values() if address in free)
        for key, needs in self._needs.items():
            if max(free.values(), default=0) <= 0:
                break
            if key not in self._worker_of and not any(need in self._needs for need in needs):
                self._begin(key, [self._futures[need] for need in needs], max(free, key=free.get))
                free[self._worker_of[key]] -= 1
        return bool(self._units)

    def _add(self, number: int, plan: Plan) -> None:
        key_of = f"{self._topic}-{number}-{{}}".format
        payload = pickle.dumps(plan.problem, protocol=pickle.HIGHEST_PROTOCOL)
        self._futures[key_of("problem")] = self._client.submit(unpack, payload, key=key_of("problem"))
        depth = {"problem": 0}
        for unit in plan.units:
            depth[unit.name] = 1 + max(depth[name] for name in unit.needs)
        for unit in sorted(plan.units, key=lambda unit: (depth[unit.name], -unit.seconds)):
            key = key_of(unit.name)
            self._units[key], self._rows[key] = (number, unit), []
            self._needs[key] = [key_of(name) for name in unit.needs]

    def _begin(self, key: str, needs: list[Future], address: str) -> None:
        where = {"workers": [address], "allow_other_workers": True}  # others, should this one die
        self._futures[key] = self._client.submit(do, self._units[key][1].work, self._topic, *needs, key=key, **where)
        self._worker_of[key] = address
        self._futures[key].add_done_callback(lambda future: self._inbox.put((future.key, None, None)))

    def _learned(self, key: str, rows: list[dict]) -> Report:
        """The report of a unit's next step: with it come all rows whose turn it is by now."""
        number, unit = self._units[key]
        message, seconds = unit.steps[len(self._rows[key])]
        self._rows[key].append(rows)
        ready = []
        while self._units:
            key, (_, first) = next(iter(self._units.items()))
            for known in self._rows[key][self._handed_out :]:
                ready += known
            self._handed_out = len(self._rows[key])
            if self._handed_out < len(first.steps):
                break
            del self._units[key], self._rows[key]
            self._handed_out = 0
        return Report(number, message, seconds, ready)

    def _ended(self, key: str) -> Iterator[Report]:
        """The steps of a unit that is done, or failed, of which nothing was heard; what is not needed is let go."""
        future = self._futures[key]
        check_finished(future)
        _, unit = self._units.get(key, (None, None))
        if unit is not None and len(self._rows[key]) < len(unit.steps):
            for rows in future.result().rows[len(self._rows[key]) :]:
                yield self._learned(key, rows)
        del self._worker_of[key]
        used = {*self._needs.pop(key), key}
        for name in used.difference(*self._needs.values()):
            del self._futures[name]


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
