"""Who may compute now: slots for scripts of pages, and a line for sweeps on visitors' own data.

Both serve first come, first served; later work of one script or visitor queues as if it came slightly later. As many
scripts compute at a time as there are cores. If all computed at once, they would pass the interpreter's lock around: a
script with many calls of NumPy, each of which releases the lock, would wait for all others at every call. A script that
waits for a worker or for another script's result has no slot meanwhile. Fragments that poll a run each second take no
slot, since they compute nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from pages.components.server.limits import LIMITS

_SECONDS_BETWEEN_REPORTS = 0.5


class ComputeSlots:
    """Slots for scripts, or for work of scripts; a thread holds one at most.

    Parameters
    ----------
    limit : int
        Scripts that compute at a time.
    """

    def __init__(self, limit: int):
        self._free = limit
        self._line: list[tuple[float, int, threading.Event]] = []
        self._numbers = count()
        self._lock = threading.Lock()
        self._mine = threading.local()

    def __len__(self) -> int:
        """Number of scripts that wait."""
        return len(self._line)

    @contextmanager
    def hold(self, late: float = 0.0) -> Iterator[None]:
        """Wait for a slot, hold it, and free it at the end, also after an exception; a thread that has one keeps it.

        In the line it counts as if it had come `late` seconds later.
        """
        if getattr(self._mine, "held", False):
            yield
            return
        self._acquire(late)
        try:
            yield
        finally:
            if self._mine.held:
                self._free_slot()

    @contextmanager
    def release(self) -> Iterator[None]:
        """Free the slot for work that is long or mostly waits, and take one at once afterwards.

        The script resumes at once, even if that briefly exceeds the limit, because it may hold locks that others
        need. After an exception it ends and takes no slot. Without a slot nothing happens.
        """
        held = getattr(self._mine, "held", False)
        if held:
            self._free_slot()
        yield
        if held:
            with self._lock:
                self._free -= 1
            self._mine.held = True

    def _acquire(self, late: float) -> None:
        with self._lock:
            granted = threading.Event()
            if self._free > 0 and not self._line:
                self._free -= 1
                granted.set()
            else:
                heappush(self._line, (time.monotonic() + late, next(self._numbers), granted))
        granted.wait()
        self._mine.held = True

    def _free_slot(self) -> None:
        self._mine.held = False
        with self._lock:
            self._free += 1
            if self._line and self._free > 0:
                self._free -= 1
                heappop(self._line)[-1].set()


@dataclass(frozen=True, eq=False)
class _Place:
    visitor: str


class WaitingLine:
    """A line of visitors for one thing at a time: the first has it, each of the others sees how many are ahead.

    A visitor has one place at most, and loses it at any exception.

    Parameters
    ----------
    name : str
        What is waited for, in the singular.
    limit : int
        Visitors that may wait behind the first.
    """

    def __init__(self, name: str, limit: int):
        self._name, self._limit = name, limit
        self._places: list[_Place] = []
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """Number of visitors in line, the first included."""
        return len(self._places)

    @contextmanager
    def turn(self, visitor: str, report: Callable[[str], None]) -> Iterator[None]:
        """Wait to be first, and stay so; `report` gets a sentence meanwhile, and may end the wait by raising.

        Raises
        ------
        ValueError
            If too many wait already, or if the visitor has joined the line again meanwhile.
        """
        place = _Place(visitor)
        try:
            self._enter(place)
            while ahead := self._ahead_of(place):
                one, more = f"1 {self._name} of another visitor is", f"{ahead} {self._name}s of other visitors are"
                report(f"Waiting: {one if ahead == 1 else more} ahead of this one.")
                with self._changed:
                    self._changed.wait_for(lambda: self._places[:1] == [place], _SECONDS_BETWEEN_REPORTS)
            yield
        finally:
            with self._changed:
                if place in self._places:
                    self._places.remove(place)
                self._changed.notify_all()

    def _enter(self, place: _Place) -> None:
        with self._changed:
            # The visitor's earlier script was ended by a moved control and has not noticed yet: its place is dropped.
            waiting = [other for other in self._places[1:] if other.visitor != place.visitor]
            if self._places and len(waiting) >= self._limit:
                raise too_many_waiting(self._name, len(waiting))
            self._places[1:] = waiting
            self._places.append(place)

    def _ahead_of(self, place: _Place) -> int:
        with self._changed:
            if place not in self._places:
                raise ValueError(f"You have started another {self._name} since; it takes the place of this one.")
            return self._places.index(place)


def too_many_waiting(name: str, count: int) -> ValueError:
    """The error raised when `count` runs or scripts, named `name`, already wait, the most allowed."""
    some = f"1 {name} is" if count == 1 else f"{count} {name}s are"
    return ValueError(f"{some} waiting, the most allowed; try again when one has finished.")


_slots = ComputeSlots(LIMITS.scripts)
compute_slot, release_slot = _slots.hold, _slots.release
