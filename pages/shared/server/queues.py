"""Slots to compute: one for each core, for scripts of pages, and one for a sweep on a visitor's own data.

If all scripts computed at once, each of a script's many NumPy calls would release the interpreter's lock and wait for
all others. Fragments that poll a run compute nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pages.shared.server.limits import LIMITS

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
