"""Scripts of pages take turns: as many compute at a time as there are cores, first come, first served.

All at once they would hand the interpreter's lock around, and one whose work is many calls of NumPy, each of which lets
go of the lock, would wait for all others at every call. Fragments that look after a run each second take no turn: they
compute nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from pages.components.limits import LIMITS


class Turns:
    """For scripts, of which at most so many have their turn at a time."""

    def __init__(self, most: int):
        self._left = most
        self._line: deque[threading.Event] = deque()
        self._lock = threading.Lock()
        self._mine = threading.local()

    def __len__(self) -> int:
        """Scripts that wait."""
        return len(self._line)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, have it, and pass it on, however it ends."""
        self._take()
        try:
            yield
        finally:
            if self._mine.turn:
                self._pass_on()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Give the turn away for work that is long or mostly waits, and wait for another one to go on after it.

        What leaves by an exception is at its end, and waits for nothing. Without a turn nothing is given away.
        """
        had = getattr(self._mine, "turn", False)
        if had:
            self._pass_on()
        yield
        if had:
            self._take()

    def _take(self) -> None:
        with self._lock:
            my_turn = threading.Event()
            if self._left and not self._line:
                self._left -= 1
                my_turn.set()
            else:
                self._line.append(my_turn)
        my_turn.wait()
        self._mine.turn = True

    def _pass_on(self) -> None:
        self._mine.turn = False
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._left += 1


_turns = Turns(LIMITS.scripts)
turn, aside = _turns.turn, _turns.aside
