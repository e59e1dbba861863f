"""A line of visitors, first come, first served: one has its turn, each of the others knows its place.

Whoever leaves, by whatever exception, leaves the line; a visitor has one place in it at most.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_SECONDS_BETWEEN_WORDS = 0.5


@dataclass(frozen=True, eq=False)
class _Place:
    visitor: str


class WaitingLine:
    """For one thing at a time, of all visitors.

    Parameters
    ----------
    name : str
        What is waited for, in the singular.
    most : int
        Places beside that of who has its turn.
    """

    def __init__(self, name: str, most: int):
        self._name, self._most = name, most
        self._places: list[_Place] = []
        self._moved = threading.Condition()

    def __len__(self) -> int:
        return len(self._places)

    @contextmanager
    def turn(self, visitor: str, say: Callable[[str], None]) -> Iterator[None]:
        """Wait for the turn and have it; `say` is told the place meanwhile, and may end the wait by raising.

        Raises
        ------
        ValueError
            If too many wait already, or if the visitor has come again and waits there.
        """
        place = _Place(visitor)
        try:
            self._enter(place)
            while ahead := self._ahead_of(place):
                one, more = f"1 {self._name} of another visitor is", f"{ahead} {self._name}s of other visitors are"
                say(f"Waiting: {one if ahead == 1 else more} ahead of this one.")
                with self._moved:
                    self._moved.wait_for(lambda: self._places[:1] == [place], _SECONDS_BETWEEN_WORDS)
            yield
        finally:
            with self._moved:
                if place in self._places:
                    self._places.remove(place)
                self._moved.notify_all()

    def _enter(self, place: _Place) -> None:
        with self._moved:
            # The visitor's earlier wait is one that a moved control has ended, and that has not noticed yet.
            waiting = [other for other in self._places[1:] if other.visitor != place.visitor]
            if self._places and len(waiting) >= self._most:
                some = f"1 {self._name} is" if len(waiting) == 1 else f"{len(waiting)} {self._name}s are"
                raise ValueError(f"{some} waiting, the most allowed; try again when one has finished.")
            self._places[1:] = waiting
            self._places.append(place)

    def _ahead_of(self, place: _Place) -> int:
        with self._moved:
            if place not in self._places:
                raise ValueError(f"You have asked for another {self._name} since; it has the place of this one.")
            return self._places.index(place)
