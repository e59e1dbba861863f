"""Where the app computes: slots for scripts, one a core, and processes for long computations.

If all scripts computed at once, each of a script's many NumPy calls would release the interpreter's lock and wait for
all others. Sweeps on a visitor's own data have one slot. Fragments that poll a run compute nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib import import_module

from cachetools import cached
from loky import ProcessPoolExecutor
from streamlit.logger import get_logger
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx
from threadpoolctl import threadpool_limits

from pages.shared.server.limits import LIMITS
from rff_engine.studies.running.processes import end_with

_log = get_logger(__name__)
# Threads gain nothing on small products, and slow them down if other processes compute too.
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}

_slots = threading.Semaphore(LIMITS.scripts)
_mine = threading.local()
_sweeps: list[object] = []
_first = threading.Condition()


@contextmanager
def compute_slot() -> Iterator[None]:
    """Wait for a slot and hold it; a thread that has one keeps it."""
    if not getattr(_mine, "held", False):
        _slots.acquire()
        _mine.held = True
        try:
            yield
        finally:
            release_slot()
    else:
        yield


def release_slot() -> None:
    """Free this thread's slot before a wait. The script resumes without one, since it may hold a lock of a cache."""
    if getattr(_mine, "held", False):
        _mine.held = False
        _slots.release()


@contextmanager
def sweep_turn(report: Callable[[str], None]) -> Iterator[None]:
    """Wait until no sweep is ahead; `report` gets a sentence meanwhile, and may end the wait by raising."""
    place = object()
    with _first:
        if len(_sweeps) > LIMITS.waiting_sweeps:
            raise too_many_waiting("sweep", len(_sweeps) - 1)
        _sweeps.append(place)
    try:
        while ahead := _sweeps.index(place):
            others = "1 sweep of another visitor is" if ahead == 1 else f"{ahead} sweeps of other visitors are"
            report(f"Waiting: {others} ahead of this one.")
            with _first:
                _first.wait_for(lambda: _sweeps[0] is place, 0.5)
        yield
    finally:
        with _first:
            _sweeps.remove(place)
            _first.notify_all()


def too_many_waiting(name: str, count: int) -> ValueError:
    """Return the error raised when `count` runs or sweeps, named `name`, already wait, the most allowed."""
    some = f"1 {name} is" if count == 1 else f"{count} {name}s are"
    return ValueError(f"{some} waiting, the most allowed; try again when one has finished.")


def compute(function: Callable, *arguments, **keywords):
    """Return what an importable function returns, computed in a worker if there are any."""
    if LIMITS.workers:
        release_slot()
        named = function.__module__, function.__qualname__
        try:
            return _workers().submit(_call, *named, *arguments, **keywords).result()
        except (BrokenProcessPool, OSError) as error:  # killed, or the system allows no further process
            _workers.cache_clear()
            _log.warning("The app computes what a worker process could not finish: %s", error)
    with threadpool_limits(1, user_api="blas"):
        return function(*arguments, **keywords)


def start() -> None:
    """Start the processes, and let them import what takes longest, before anything waits for them."""
    with suppress(BrokenProcessPool, OSError):  # `compute` will meet it again
        for _ in range(LIMITS.workers):
            _workers().submit(_import_most)


def _import_most() -> None:
    import_module("pages.bounds.certificates.compute")


def _call(module: str, name: str, *arguments, **keywords):
    """Call a function of the app by its name: a worker gets the version without a cache."""
    return getattr(import_module(module), name)(*arguments, **keywords)


@cached({}, condition=threading.Condition())
def _workers() -> ProcessPoolExecutor:
    # loky makes one reusable executor for each thread, and every script has its own thread.
    ending = {"initializer": end_with, "initargs": (os.getpid(),)}
    return ProcessPoolExecutor(LIMITS.workers, timeout=3600, env=_ONE_THREAD, **ending)


def side_by_side(calls: Mapping) -> dict[object, Future]:
    """Make calls of `compute` at the same time and wait for all; an error in one call ends no other."""
    if LIMITS.workers:  # for its own work the script keeps a slot
        release_slot()
    session = get_script_run_ctx(suppress_warning=True)  # whose cached results the calls may need
    join = None if session is None else lambda: add_script_run_ctx(threading.current_thread(), session)
    with ThreadPoolExecutor(len(calls) if LIMITS.workers and calls else 1, initializer=join) as threads:
        return {name: threads.submit(call) for name, call in calls.items()}


def results(calls: Mapping) -> dict:
    """Return the results of calls made at the same time; raise the error of the first call that fails."""
    return {name: future.result() for name, future in side_by_side(calls).items()}
