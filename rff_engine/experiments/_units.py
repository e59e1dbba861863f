"""The pieces that a run is made of, and the executor that does them one after the other in this process.

A unit is pure and can be pickled: what it yields and returns depends on the values of the units it needs, not on
which others there are, their order, the process or the number of threads. Another executor is `_cluster`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from threadpoolctl import ThreadpoolController

from ._problem import Problem

__all__ = ["Plan", "Report", "Unit", "one_thread", "run_here"]

_INTERLEAVED_BYTES = 2**30


@dataclass(frozen=True)
class Unit:
    """A pure piece of a run."""

    name: str
    """No other unit of the run has it."""
    work: Callable[..., Iterator[list[dict]]]
    """A generator function that can be pickled. It is called with the values of `needs`, yields the rows newly known
    (often none) once a step, and returns its own value."""
    needs: tuple[str, ...]
    """Names of earlier units, or "problem"."""
    steps: tuple[tuple[str, float], ...]
    """What each step does, in words, and a rough guess of its seconds."""
    held_bytes: int | None = None
    """What it holds between two steps, if its steps may alternate with those of its neighbours."""

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds in self.steps)


class Plan(NamedTuple):
    """A problem and the units of a run on it, each after those it needs."""

    problem: Problem
    units: list[Unit]

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


def run_here(plans: Iterator[Plan]) -> Iterator[Report]:
    """Do all units in this process, in their order.

    Neighbours that allow it take turns, step by step, as long as what they hold fits in about 1 GiB together. While
    a step is done, BLAS and OpenMP have one thread: rounding must not depend on the number of cores.
    """
    for number, plan in enumerate(plans):
        values = {"problem": plan.problem}
        uses = Counter(name for unit in plan.units for name in unit.needs)
        for group in _groups(plan.units):
            turns = deque()
            for unit in group:
                turns.append((unit, unit.work(*(values[name] for name in unit.needs)), iter(unit.steps)))
                uses.subtract(unit.needs)
            for name in [name for name in values if not uses[name]]:
                del values[name]  # only units under way still hold it
            while turns:
                unit, work, steps = turns.popleft()
                try:
                    with one_thread():  # never across a yield: the consumer keeps its own
                        rows = next(work)
                except StopIteration as end:
                    if uses[unit.name]:
                        values[unit.name] = end.value
                    continue
                yield Report(number, *next(steps), rows)
                turns.append((unit, work, steps))


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
