"""The worker's side of `_cluster`: does a unit, and tells of each step as soon as it is done."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import NamedTuple

from distributed import get_worker

from ._units import one_thread

__all__ = ["Done", "dask_setup", "do", "unpack"]


class Done(NamedTuple):
    """A unit's rows, step by step, and its value."""

    rows: list[list[dict]]
    value: object


def dask_setup(_) -> None:
    """Called by Dask in every process of a cluster of ours: Ctrl-C in a terminal is for the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def unpack(payload: bytes) -> Done:
    """The problem, where units need it; like all that Dask sends, a pickle of whoever may use the scheduler."""
    return Done([], pickle.loads(payload))


def do(work: Callable, topic: str, *needs: Done) -> Done:
    """A unit, its rows sent ahead as events (key, step, rows); stops between two steps when nobody waits for it."""
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
            raise RuntimeError("cancelled")  # nobody hears it


def hold_threads() -> None:
    """One thread for everything, for good: the workers of other people's clusters may have more than one core."""
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"
    one_thread()
