"""The worker's side of `cluster`: computes a unit and reports each step as soon as it is done.

Whatever is computed here begins with `checked`: a worker of other code, which may join at any time, refuses it.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import NamedTuple

from distributed import get_worker

from ..studies.units import Row
from .executor import one_thread
from .same_code import CODE


class Done(NamedTuple):
    """Rows of a unit, step by step, its value, and the code that computed them."""

    rows: list[list[Row]]
    value: object
    code: str


class OtherCode(Exception):
    """A unit was sent by a process of other code than this worker's."""


def dask_setup(_: object) -> None:
    """Ignore Ctrl-C: it is meant for the process that waits. Dask calls this in each process of a local cluster."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def checked(code: str, *needs: Done) -> Iterator[None]:
    """Raise OtherCode if a unit or what it needs is of other code; mark errors of the unit itself with the code."""
    if any(other != CODE for other in (code, *(need.code for need in needs))):
        raise OtherCode(f"this worker has {CODE}")
    try:
        yield
    except CancelledError:
        raise
    except Exception as error:
        error.__dict__["rff_code"] = CODE
        raise


def is_of_same_code(error: BaseException) -> bool:
    """Whether an error was raised by a unit, under the code of this process, and not by Dask or other code."""
    return getattr(error, "rff_code", None) == CODE


def unpack(code: str, payload: bytes) -> Done:
    """Unpickle a value on a worker; like all data that Dask sends, it comes from a user of the scheduler."""
    with checked(code):
        return Done([], pickle.loads(payload), CODE)


def do(code: str, work: Callable[..., Iterator[list[Row]]], topic: str, *needs: Done) -> Done:
    """Compute a unit and log its rows as events (code, key, step, rows); stop between two steps if it is cancelled."""
    with checked(code, *needs):
        hold_threads()
        worker = get_worker()
        key = worker.get_current_task()
        known, steps = [], work(*(need.value for need in needs))
        while True:
            try:
                rows = next(steps)
            except StopIteration as end:
                return Done(known, end.value, CODE)
            worker.log_event(topic, (CODE, key, len(known), rows))
            known.append(rows)
            if worker.state.tasks[key].state == "cancelled":
                raise CancelledError  # no client waits for it


def hold_threads() -> None:
    """Limit this process to one thread for good: workers of an external cluster may have more than one core."""
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"
    one_thread()
