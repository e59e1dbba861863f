"""Stored rows recomputed: some are drawn at random from a store, computed again, and compared.

A row is computed as its run would compute it in an empty store, with one exception: gamma, which an RBF SVM chooses
over a whole grid, comes from the stored row of that SVM, unless this is drawn itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..studies.feature_methods import tolerance
from ..studies.planning import problem_and_units
from ..studies.protocols import PROTOCOLS, LetarteProtocol, LiProtocol, RunSpec, split_source
from ..studies.units import Row
from .executor import Claims, Plan, run_in_process
from .store import Store, insert_results, maker_id, row_key_function

SETTINGS = ("method", "landmarks", "share", "D", "beta", "rho")
MEASURED = ("gamma", "C", "train_error", "valid_error", "test_error")
"""Values that are compared"""


@dataclass(frozen=True)
class DrawnRow:
    """A row of a stored run."""

    spec: RunSpec
    row: Row

    @property
    def repeat(self) -> int:
        return self.row["repeat"]

    @property
    def name(self) -> str:
        """Run, repeat and settings, in words."""
        settings = [f"{key} {self.row[key]}" for key in SETTINGS[1:] if self.row[key] is not None]
        return f"{self.spec.run_id}, repeat {self.repeat}: {', '.join([self.row['method'], *settings])}"


@dataclass(frozen=True)
class Recomputed:
    """A drawn row and what was computed for it."""

    drawn: DrawnRow
    row: Row
    """The new row"""
    same_key: bool
    """Whether the new row has the key of the stored one: the same data, seed and settings"""

    @property
    def allowed(self) -> float:
        """Relative difference that is allowed; 0 if rows have to be equal."""
        return tolerance(self.row["method"]) if isinstance(self.drawn.spec.protocol, LiProtocol) else 0.0

    @property
    def difference(self) -> float:
        """Largest relative difference of the measured values; infinite where only one row has a value."""
        return max(_difference(self.drawn.row[name], self.row[name]) for name in MEASURED)

    @property
    def agrees(self) -> bool:
        return self.same_key and self.difference <= self.allowed


def draw_rows(store: Store, n: int, seed: int = 0, max_seconds: float = np.inf) -> list[DrawnRow]:
    """Rows of finished runs, drawn at random without replacement, as many of each protocol as can be.

    There are fewer than `n` if the store has no more. Rows that took longer than `max_seconds`, or whose data set is
    not here, are left out.
    """
    from .. import datasets

    pools, here = {name: [] for name in PROTOCOLS}, datasets.available()
    for info in sorted(store.runs(), key=lambda info: info.id):
        if info.finished and info.spec is not None and info.spec.dataset in here:
            rows = [row for row in store.rows(info.spec) if row["seconds"] <= max_seconds]
            pools[info.spec.protocol.name] += [DrawnRow(info.spec, row) for row in rows]
    rng = np.random.default_rng(seed)
    orders = [[pool[i] for i in rng.permutation(len(pool))] for pool in pools.values() if pool]
    in_turn = [rows[i] for i in range(max(map(len, orders), default=0)) for rows in orders if i < len(rows)]
    return in_turn[:n]


def recompute(store: Store, drawn: list[DrawnRow], target: Store) -> Iterator[Recomputed]:
    """Compute rows again and keep them in another store.

    Parameters
    ----------
    store : Store
        That the rows were drawn from.
    target : Store
        For the new rows. What it has already is computed all the same.

    Yields
    ------
    Recomputed
        As soon as a row is known; rows of one repeat are computed together.

    Raises
    ------
    ValueError
        If the data of a row are not here.
    StoreError
        If a store cannot be read or written.
    """
    repeats = defaultdict(list)
    for one in drawn:
        repeats[one.spec, one.repeat].append(one)
    for (spec, repeat), rows in repeats.items():
        yield from _recompute_repeat(store, spec, repeat, rows, target)


def _recompute_repeat(
    store: Store, spec: RunSpec, repeat: int, drawn: list[DrawnRow], target: Store
) -> Iterator[Recomputed]:
    assert isinstance(spec.protocol, LetarteProtocol | LiProtocol)  # there are no others
    seed = spec.seed + repeat
    split = split_source(spec.dataset, spec.split, spec.protocol)(seed)
    labels = {"run": spec.run_id, "dataset": spec.dataset, "split": spec.split, "repeat": repeat}
    problem, units = problem_and_units(spec.protocol, split, labels, seed)
    key_of = row_key_function(problem.digest(split), seed, spec.protocol)
    by_key = {_settings(one.row): one for one in drawn}
    claims = _Recomputing([row for row in store.rows(spec) if row["repeat"] == repeat], list(by_key))
    for report in run_in_process(iter([Plan(problem, units, claims)])):
        for row in report.rows:
            if (one := by_key.get(_settings(row))) is not None:
                key = key_of(row)
                target.write(lambda connection, new={key: row}: insert_results(connection, new, maker_id(connection)))
                yield Recomputed(one, row, key in store.rows_by_key([key]))


class _Recomputing(Claims):
    """Claims on the drawn rows of a repeat; the others are known from the store."""

    def __init__(self, stored: list[Row], wanted: list[tuple]):
        self._known = {_settings(row): row for row in stored if _settings(row) not in wanted}

    def lookup(self, rows: list[Row]) -> list[Row] | None:
        known = [self._known[settings] for row in rows if (settings := _settings(row)) in self._known]
        return known if len(known) == len(rows) else None

    def claim(self, rows: list[Row]) -> list[Row]:
        return [row for row in rows if _settings(row) not in self._known]

    def keep(self, rows: list[Row]) -> None:
        self._known |= {_settings(row): row for row in rows}


def _settings(row: Row) -> tuple:
    return tuple(row.get(name) for name in SETTINGS)


def _difference(stored: float | None, recomputed: float | None) -> float:
    if stored == recomputed:
        return 0.0
    if stored is None or recomputed is None or stored == 0:
        return np.inf
    return abs(recomputed / stored - 1)
