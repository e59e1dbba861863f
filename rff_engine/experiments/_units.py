"""The pieces that a run is made of, and the executor that does them one after the other in this process.

A unit is pure and can be pickled: what it yields and returns depends on the values of the units it needs, not on
which others there are, their order, the process or the number of threads. Which of its rows are wanted, a desk says:
there may be a store that holds some already, and other runners that work on others. Another executor is `_cluster`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import NamedTuple

from threadpoolctl import ThreadpoolController

from .._blocks import threads_kept
from ._problem import Problem

__all__ = [
    "FINISHED",
    "WAITING",
    "Desk",
    "Plan",
    "Report",
    "Unit",
    "UnitStep",
    "one_thread",
    "run_here",
    "still_needed",
]

FINISHED = "finished"
WAITING = "waiting for rows that another run is working on"
_INTERLEAVED_BYTES = 2**30
_WAITING_SECONDS = 0.2


class UnitStep(NamedTuple):
    """A step of a unit, after which it can be stopped."""

    message: str
    """What it does, in words."""
    seconds: float
    """A rough guess."""
    row: dict | None = None
    """Of the row it yields: the method, and what sets it apart from others of the method."""


@dataclass(frozen=True)
class Unit:
    """A pure piece of a run."""

    name: str
    """No other unit of the run has it."""
    work: Callable[..., Iterator[list[dict]]]
    """A generator function that can be pickled. It is called with the values of `needs`, yields the rows newly known
    (often none) once a step, and returns its own value. Where steps have rows, it takes those wanted as `wanted`."""
    needs: tuple[str, ...]
    """Names of earlier units, or "problem"."""
    steps: tuple[UnitStep, ...]
    held_bytes: int | None = None
    """What it holds between two steps, if its steps may alternate with those of its neighbours."""
    value_of: Callable[[list[dict]], object] | None = None
    """Its value, from its rows: for a unit with rows that others need."""

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def rows(self) -> list[dict]:
        return [step.row for step in self.steps if step.row is not None]

    def only(self, wanted: list[dict]) -> Unit:
        """The unit that yields no other of its rows; what it yields is the same."""
        steps = tuple(step for step in self.steps if step.row is None or step.row in wanted)
        return replace(self, steps=steps, work=partial(self.work, wanted=wanted)) if self.rows else self


class Desk:
    """Says which rows are to be computed; this one: all of them, once."""

    def known(self, rows: list[dict]) -> list[dict] | None:
        """These rows in full, where all of them are known already."""
        return None

    def take(self, rows: list[dict]) -> list[dict]:
        """Of these, those that nobody has computed and nobody else works on: they are the caller's to compute."""
        return rows


class Plan(NamedTuple):
    """A problem and the units of a run on it, each after those it needs."""

    problem: Problem
    units: list[Unit]
    desk: Desk = Desk()

    @property
    def seconds(self) -> float:
        return sum(unit.seconds for unit in self.units)


class Report(NamedTuple):
    """That a step of a plan is done."""

    plan: int
    """Its position among the plans."""
    message: str
    seconds: float
    rows: list[dict]
    last: bool = False
    """Whether nothing of the plan is left."""


def run_here(plans: Iterator[Plan]) -> Iterator[Report]:
    """Do in this process, in their order, all units that have rows nobody knows, and what they need.

    Neighbours that allow it take turns, step by step, as long as what they hold fits in about 1 GiB together. While
    a step is done, BLAS and OpenMP have one thread: rounding must not depend on the number of cores. The engine's own
    threads stay as many as they were, since results do not depend on them.
    """
    for number, plan in enumerate(plans):
        yield from _Here(number, plan).reports()
        yield Report(number, FINISHED, 0.0, [], last=True)


class _Here:
    """A plan under way in this process."""

    def __init__(self, number: int, plan: Plan):
        self._number, self._desk = number, plan.desk
        self._units = {unit.name: unit for unit in plan.units}
        self._values = {"problem": plan.problem}
        self._left = [unit for unit in plan.units if unit.rows]

    def reports(self) -> Iterator[Report]:
        while self._left:
            before = len(self._left)
            for group in _groups(self._left.copy()):
                yield from self._group(group)
            if len(self._left) == before:
                yield from self._wait()

    def _group(self, group: list[Unit]) -> Iterator[Report]:
        """Do what is ours of some units, and be done with those of which nothing is elsewhere."""
        some = []
        for unit in group:
            mine = self._desk.take(unit.rows)
            if mine:
                some.append(unit.only(mine))
            if len(mine) == len(unit.rows) or self._desk.known(_without(unit.rows, mine)) is not None:
                self._left.remove(unit)
                if len(mine) < len(unit.rows):
                    skipped = unit.seconds - (some[-1].seconds if mine else 0.0)
                    yield Report(self._number, f"known already: {unit.steps[-1].message}", skipped, [])
        for unit in some:
            for name in unit.needs:
                yield from self._have(name)
        if some:
            yield from self._do(some)

    def _have(self, name: str) -> Iterator[Report]:
        """See that the value of a unit is there."""
        while name not in self._values:
            unit = self._units[name]
            if unit.rows and (rows := self._desk.known(unit.rows)) is not None:
                self._values[name] = unit.value_of(rows)
            elif unit.rows and not self._desk.take(unit.rows):
                yield from self._wait()
            else:
                for need in unit.needs:
                    yield from self._have(need)
                yield from self._do([unit.only(unit.rows)], name)

    def _do(self, units: list[Unit], wanted: str | None = None) -> Iterator[Report]:
        turns = deque()
        for unit in units:
            turns.append((unit, unit.work(*(self._values[name] for name in unit.needs)), iter(unit.steps)))
        needed = still_needed(self._left, self._units, self._values) if wanted is None else self._values
        for name in [name for name in self._values if name not in needed]:
            del self._values[name]  # only units under way still hold it
        while turns:
            unit, work, steps = turns.popleft()
            try:
                with threads_kept(), one_thread():  # never across a yield: the consumer keeps its own
                    rows = next(work)
            except StopIteration as end:
                if unit.name == wanted or unit.name in needed:
                    self._values[unit.name] = end.value
                continue
            message, seconds, _ = next(steps)
            yield Report(self._number, message, seconds, rows)
            turns.append((unit, work, steps))

    def _wait(self) -> Iterator[Report]:
        yield Report(self._number, WAITING, 0.0, [])
        time.sleep(_WAITING_SECONDS)


def still_needed(left: Iterable[Unit], units: dict[str, Unit], known) -> set[str]:
    """Names of the values, known or not, that some units need, and of those that must be made before them."""
    needed, queue = set(), [name for unit in left for name in unit.needs]
    while queue:
        name = queue.pop()
        if name not in needed:
            needed.add(name)
            if name not in known and name in units:
                queue.extend(units[name].needs)
    return needed


def _without(rows: list[dict], others: list[dict]) -> list[dict]:
    return [row for row in rows if row not in others]


def _groups(units: list[Unit]) -> Iterator[list[Unit]]:
    """Runs of neighbours that take turns; most units are alone."""
    group, held = [], 0
    for unit in units:
        alone = unit.held_bytes is None
        if group and (alone or held + unit.held_bytes > _INTERLEAVED_BYTES):
            yield group
            group, held = [], 0
        if alone:
            yield [unit]
        else:
            group.append(unit)
            held += unit.held_bytes
    if group:
        yield group


def one_thread():
    """Holds the libraries that compute to one thread: for good, or as a context while it lasts."""
    return _libraries().limit(limits=1)


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
