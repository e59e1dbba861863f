"""Units: the pieces of a run.

A unit is pure and can be pickled: what it yields and returns depends on the values of the units it needs, not on
which other units there are, their order, the process or the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = dict[str, Any]
"""Values of a result row by column, or some of them: text, numbers, and None for what does not apply."""


class UnitStep(NamedTuple):
    """A step of a unit, after which it can be stopped."""

    message: str
    """For the user"""
    seconds: float
    """Rough estimate"""
    row: Row | None = None
    """Settings of the row that it yields: the method, and what sets it apart from other rows of the method"""


@dataclass(frozen=True)
class Unit:
    """A piece of a run, whose rows and value depend only on its inputs."""

    name: str
    """Unique in the run"""
    work: Callable[..., Iterator[list[Row]]]
    """Generator function that can be pickled. It is called with the values of `needs`, yields the new rows (often
    none) once a step, and returns the value of the unit. If steps have rows, it takes those to compute as `wanted`."""
    needs: tuple[str, ...]
    """Names of earlier units, or "problem" """
    steps: tuple[UnitStep, ...]
    held_bytes: int | None = None
    """Memory held between two steps, if its steps may alternate with those of its neighbours"""
    value_of: Callable[[list[Row]], object] | None = None
    """Function from its rows to its value, for a unit with rows that others need"""

    def value_from(self, rows: list[Row]) -> object:
        """Its value, from all its rows.

        Raises
        ------
        ValueError
            If its rows do not have its value.
        """
        if self.value_of is None:
            raise ValueError(f"The value of the unit {self.name!r} does not follow from its rows.")
        return self.value_of(rows)

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def rows(self) -> list[Row]:
        """Settings of all its rows."""
        return [step.row for step in self.steps if step.row is not None]

    def restricted_to(self, wanted: list[Row]) -> Unit:
        """The unit that computes only these of its rows; their values do not change."""
        steps = tuple(step for step in self.steps if step.row is None or step.row in wanted)
        return replace(self, steps=steps, work=partial(self.work, wanted=wanted)) if self.rows else self
