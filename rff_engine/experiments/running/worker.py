"""The worker's side of `cluster`: computes a unit and reports each step as soon as it is done."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from typing import NamedTuple

from distributed import get_worker

from ..studies.units import Row
from .executor import one_thread

__all__ = ["Done", "dask_setup", "do", "unpack"]


class Done(NamedTuple):
    """Rows of a unit, step by step, and its value."""

    rows: list[list[Row]]
    value: object


def dask_setup(_: object) -> None:
    """Ignore Ctrl-C: it is meant for the process that waits. Dask calls this in each process of a local cluster."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def unpack(payload: bytes) -> Done:
    """Unpickle the problem on a worker; like all data that Dask sends, it comes from a user of the scheduler."""
    return Done([], pickle.loads(payload))


def do(work: Callable[..., Iterator[list[Row]]], topic: str, *needs: Done) -> Done:
    """Compute a unit and log its rows as events (key, step, rows); stop between two steps if it is cancelled."""
    hold_threads()
    worker = get_worker()
    key = worker.get_current_task()
    known, steps = [], work(*(need.value for need in needs))
    while True:
        try:
            rows = next(steps)
        except StopIteration as end:
            return Done(known, end.value)
        worker.log_event(topic, (key, len(known), rows))
        known.append(rows)
        if worker.state.tasks[key].state == "cancelled":
            raise RuntimeError("cancelled")  # no client waits for it


def hold_threads() -> None:
    """Limit this process to one thread for good: workers of an external cluster may have more than one core."""
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"
    one_thread()
