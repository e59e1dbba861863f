"""Classes shared by the executors, and the one that computes units one after the other in this process.

An executor claims the rows of a unit before it computes them, and keeps each row before it reports it. `cluster` is
the executor for several processes, `leases` has the claims of a store.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import NamedTuple, Protocol

from threadpoolctl import ThreadpoolController

from ..._blocks import threads_kept
from ..studies.problem import Problem
from ..studies.units import Row, Unit

FINISHED = "finished"
WAITING = "waiting for rows that another run is working on"
_INTERLEAVED_BYTES = 2**30
_WAITING_SECONDS = 0.2


class Needing(Protocol):
    """What needs values of units, by their names."""

    @property
    def needs(self) -> Sequence[str]: ...


class Claims:
    """Claims on rows without a store: every claim is granted, and no row is known or kept."""

    def lookup(self, rows: list[Row]) -> list[Row] | None:
        """Complete rows for these settings, if all of them are known."""
        return None

    def claim(self, rows: list[Row]) -> list[Row]:
        """Claim rows; return those to compute: not known yet, and claimed by nobody else."""
        return rows

    def keep(self, rows: list[Row]) -> None:
        """Store computed rows and give up the claims on them."""


class Plan(NamedTuple):
    """A problem and the units of a run on it, each after those it needs."""

    problem: Problem
    units: list[Unit]
    claims: Claims = Claims()

    @property
    def seconds(self) -> float:
        return sum(unit.seconds for unit in self.units)

    @property
    def rows(self) -> list[Row]:
        """Settings of all rows."""
        return [row for unit in self.units for row in unit.rows]


class Report(NamedTuple):
    """A finished step of a plan."""

    plan: int
    """Position among the plans"""
    message: str
    seconds: float
    """Estimated time of the step"""
    rows: list[Row]
    """Rows that the step computed; they are already kept"""
    last: bool = False
    """Whether the plan is finished"""


def run_in_process(plans: Iterator[Plan]) -> Generator[Report, None, None]:
    """Compute the rows of plans, in the order of their units, and the values that these need.

    Neighbouring units that allow it take turns, step by step, as long as they hold at most 1 GiB together. During a
    step BLAS and OpenMP have one thread, so that rounding does not depend on the number of cores. The engine's own
    threads are left alone, since results do not depend on them.
    """
    for number, plan in enumerate(plans):
        yield from _PlanInProcess(number, plan).reports()
        yield Report(number, FINISHED, 0.0, [], last=True)


class _PlanInProcess:
    """A plan under way in this process."""

    def __init__(self, number: int, plan: Plan):
        self._number, self._claims = number, plan.claims
        self._units = {unit.name: unit for unit in plan.units}
        self._values: dict[str, object] = {"problem": plan.problem}
        self._left = [unit for unit in plan.units if unit.rows]

    def reports(self) -> Iterator[Report]:
        while self._left:
            before = len(self._left)
            for group in _groups(self._left.copy()):
                yield from self._run_group(group)
            if len(self._left) == before:
                yield from self._wait()

    def _run_group(self, group: list[Unit]) -> Iterator[Report]:
        """Claim and compute rows of some units; drop the units whose other rows are known."""
        claimed = []
        for unit in group:
            own = self._claims.claim(unit.rows)
            if own:
                claimed.append(unit.restricted_to(own))
            others = [row for row in unit.rows if row not in own]
            if not others or self._claims.lookup(others) is not None:
                self._left.remove(unit)
                if others:
                    skipped = unit.seconds - (claimed[-1].seconds if own else 0.0)
                    yield Report(self._number, f"known already: {unit.steps[-1].message}", skipped, [])
        for unit in claimed:
            for name in unit.needs:
                yield from self._provide(name)
        if claimed:
            yield from self._compute(claimed)

    def _provide(self, name: str) -> Iterator[Report]:
        """Look up or compute the value of a unit."""
        while name not in self._values:
            unit = self._units[name]
            if unit.rows and (rows := self._claims.lookup(unit.rows)) is not None:
                self._values[name] = unit.value_from(rows)
            elif unit.rows and not self._claims.claim(unit.rows):
                yield from self._wait()
            else:
                for need in unit.needs:
                    yield from self._provide(need)
                yield from self._compute([unit.restricted_to(unit.rows)], name)

    def _compute(self, units: list[Unit], wanted: str | None = None) -> Iterator[Report]:
        """Compute units in turns; `wanted` names the one whose value is needed."""
        turns = deque()
        for unit in units:
            turns.append((unit, unit.work(*(self._values[name] for name in unit.needs)), iter(unit.steps)))
        needed = needed_values(self._left, self._units, self._values) if wanted is None else self._values
        for name in [name for name in self._values if name not in needed]:
            del self._values[name]  # frees memory as soon as the units under way are done
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
            self._claims.keep(rows)
            yield Report(self._number, message, seconds, rows)
            turns.append((unit, work, steps))

    def _wait(self) -> Iterator[Report]:
        yield Report(self._number, WAITING, 0.0, [])
        time.sleep(_WAITING_SECONDS)


def needed_values(left: Iterable[Needing], units: Mapping[str, Needing], known: Collection[str]) -> set[str]:
    """Names of the values that some units need, and of the unknown values that these need in turn."""
    needed, queue = set(), [name for unit in left for name in unit.needs]
    while queue:
        name = queue.pop()
        if name not in needed:
            needed.add(name)
            if name not in known and name in units:
                queue.extend(units[name].needs)
    return needed


def _groups(units: list[Unit]) -> Iterator[list[Unit]]:
    """Neighbouring units that take turns; most units are alone."""
    group, held = [], 0
    for unit in units:
        own = unit.held_bytes
        if group and (own is None or held + own > _INTERLEAVED_BYTES):
            yield group
            group, held = [], 0
        if own is None:
            yield [unit]
        else:
            group.append(unit)
            held += own
    if group:
        yield group


def one_thread() -> AbstractContextManager[object]:
    """Limit BLAS and OpenMP to one thread, for good or as a context manager."""
    return _libraries().limit(limits=1)


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
