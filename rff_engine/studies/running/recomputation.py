"""Stored rows recomputed: some are drawn at random from a store, computed again, and compared.

A row is computed as its run would compute it in a store that lacks it alone: gamma, which an RBF SVM chooses over a
whole grid, comes from the stored row of that SVM, unless this is drawn itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

import rff_datasets as datasets

from ..feature_methods import tolerance
from ..problem import SETTINGS, Row
from ..protocols import PROTOCOLS, LiProtocol, RunSpec, split_source
from .run import problem_of, run
from .store import Store, row_key

MEASURED = ("gamma", "C", "train_error", "valid_error", "test_error")
"""Values that are compared"""


@dataclass(frozen=True)
class Recomputed:
    """A stored row and what was computed for it."""

    spec: RunSpec
    stored: Row
    row: Row
    same_key: bool
    """Whether both rows have the same data, seed and settings"""

    @property
    def name(self) -> str:
        """Run, repeat and settings, in words."""
        settings = [f"{key} {self.stored[key]}" for key in SETTINGS[1:] if self.stored[key] is not None]
        where = f"{self.spec.run_id}, repeat {self.stored['repeat']}"
        return f"{where}: {', '.join([self.stored['method'], *settings])}"

    @property
    def allowed(self) -> float:
        """Relative difference that is allowed; 0 if rows have to be equal."""
        return tolerance(self.row["method"]) if isinstance(self.spec.protocol, LiProtocol) else 0.0

    @property
    def difference(self) -> float:
        """Largest relative difference of the measured values; infinite where only one row has a value."""
        return max(_difference(self.stored[name], self.row[name]) for name in MEASURED)

    @property
    def agrees(self) -> bool:
        return self.same_key and self.difference <= self.allowed


def draw_rows(
    store: Store, specs: Iterable[RunSpec], n: int, seed: int = 0, max_seconds: float = np.inf
) -> list[tuple[RunSpec, Row]]:
    """Draw rows of runs at random without replacement, as many of each protocol as possible.

    There are fewer than `n` if the store has no more. Rows that took longer than `max_seconds`, and rows whose data set
    is not here, are left out.
    """
    pools, here = {name: [] for name in PROTOCOLS}, datasets.available()
    for spec in specs:
        if spec.dataset in here:
            pools[spec.protocol.name] += [(spec, row) for row in store.rows(spec) if row["seconds"] <= max_seconds]
    rng = np.random.default_rng(seed)
    orders = [[pool[i] for i in rng.permutation(len(pool))] for pool in pools.values()]
    return [one for some in zip_longest(*orders) for one in some if one is not None][:n]


def recompute(store: Store, drawn: list[tuple[RunSpec, Row]]) -> Iterator[Recomputed]:
    """Compute rows again, each as soon as the rows of its repeat are known; nothing is kept.

    Raises
    ------
    ValueError
        If the data of a row are not here.
    StoreError
        If the store cannot be read.
    """
    repeats: dict[tuple[RunSpec, int], dict[tuple, Row]] = {}
    for spec, row in drawn:
        repeats.setdefault((spec, row["repeat"]), {})[_settings(row)] = row
    for (spec, repeat), rows in repeats.items():
        seed = spec.seed + repeat
        split = split_source(spec.dataset, spec.split, spec.protocol)(seed)
        named = {"dataset": spec.dataset, "split_name": spec.split}
        problem = problem_of(spec.protocol, split, seed=seed, **named)
        with Store("sqlite://") as others:
            for row in store.rows(spec):
                if row["repeat"] == repeat and _settings(row) not in rows:
                    others.keep(problem, spec.protocol, row | {"made_with": ""})
            with closing(run(problem, spec.protocol, others)) as steps:
                for row in (row for step in steps for row in step.rows if _settings(row) in rows):
                    same_key = bool(store.known([row_key(problem, spec.protocol, row)]))
                    yield Recomputed(spec, rows[_settings(row)], row, same_key)


def _settings(row: Row) -> tuple:
    return tuple(row.get(name) for name in SETTINGS)


def _difference(stored: float | None, recomputed: float | None) -> float:
    if stored == recomputed:
        return 0.0
    if stored is None or recomputed is None or stored == 0:
        return np.inf
    return abs(recomputed / stored - 1)
