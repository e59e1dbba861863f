"""Runs: for each row of a protocol that a store lacks, compute it and keep it.

The calls of a study go through joblib: one after the other in this process, to other processes, or to whatever
`joblib.parallel_config` says, such as a Dask cluster. This process alone writes to the store, each row in its own
transaction. A run that is stopped or killed loses only the calls in work; the same run resumes where it was.

Several runs may write to one store without a word to each other: each looks again before a row, and a run that has
computed a row in vain goes on at another place.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar, cast

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from ..._blocks import threads_kept
from ..._validation import check_count
from ..problem import COLUMNS, Problem, Row
from ..problems import STUDIES, problem_of
from ..protocols import Protocol, RunSpec, split_source
from .processes import end_with
from .store import Store, StoreError, row_key

__all__ = ["Step", "one_thread", "problem_of", "run", "run_stored"]

# A run restarts so often after a worker has ended in the middle of a call.
_MAX_TRIES = 5
_T = TypeVar("_T")


@dataclass(frozen=True)
class Step:
    """A finished call of a run."""

    message: str
    done: float
    """Rows known so far out of `total`; of several repeats, repeats"""
    total: float
    rows: list[Row] = field(default_factory=list)
    """New rows, each with the keys `COLUMNS`; what does not apply is None"""


def run(
    problem: Problem, grid: Protocol, store: Store | None = None, *, jobs: int | None = None
) -> Generator[Step, None, None]:
    """Compute the rows of a problem that a store lacks, and keep them there.

    Parameters
    ----------
    problem : Problem
        See `problem_of`.
    grid : Protocol
        The protocol that the problem was made for; the studies say how a row is computed.
    store : Store, optional
        ``None`` keeps nothing: all rows are computed.
    jobs : int, optional
        Number of processes, with one thread each; ``None`` stands for what `joblib.parallel_config` says, at first
        this process. A script with more needs ``if __name__ == "__main__":``, since each process imports it.

    Returns
    -------
    generator of Step
        Errors in its rows are fractions, `share` too; `rho` is divided by N; `seconds` is the time of the row's own
        features and linear SVMs (of the whole grid for "svm"), and `note` says where fewer training rows were used.
        Rows do not depend on the order and the number of processes (`seconds` aside). On another processor rows of
        Letarte et al. (2019) are the same to the last bit, others within `feature_methods.tolerance`.

    Raises
    ------
    ValueError
        At once, if `jobs` is out of range.
    StoreError
        If the store cannot be read or written. Rows known by then are kept.
    ConnectionError
        If one worker after another ends in the middle of a call.
    """
    jobs = None if jobs is None else check_count(jobs, "jobs")
    return _steps(_Work(problem, grid, store, jobs))


def _steps(work: _Work) -> Generator[Step, None, None]:
    settings, study = work.grid.settings(), STUDIES[type(work.grid)]
    for tries in range(_MAX_TRIES):
        lacking = [row for row in settings if work.known(row) is None]
        if not lacking:
            break
        left = len(lacking)
        try:
            how = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": "n_jobs"}
            # Other backends than processes of this machine take no initializer.
            ending = {"initializer": end_with, "initargs": (os.getpid(),)}
            with Parallel(work.jobs, **how, **ending) as parallel:
                work.parallel = parallel
                with closing(cast(Generator, study(work.problem, work.grid, work))) as reports:
                    for message, row in reports:
                        new = [] if row is None else work.keep(row)
                        left -= len(new)
                        yield Step(message, len(settings) - max(left, 0), len(settings), new)
            break
        except Exception as error:
            # A process of joblib's, or a worker or the scheduler of Dask, may have ended.
            of_dask = type(error).__module__.startswith("distributed")
            if not (of_dask or isinstance(error, BrokenExecutor | CancelledError)):
                raise
            if tries + 1 == _MAX_TRIES:
                raise ConnectionError(f"Workers ended in the middle of a call {_MAX_TRIES} times in a row.") from None
    yield Step("finished", len(settings), len(settings))


class _Work:
    """The part of a run that studies see, `studies.problem.Work`: known rows, and calls."""

    parallel: Parallel

    def __init__(self, problem: Problem, grid: Protocol, store: Store | None, jobs: int | None):
        self.problem, self.grid, self.jobs = problem, grid, jobs
        self._store, self._rows, self._in_vain = store, {}, False

    def known(self, settings: Row) -> Row | None:
        key = row_key(self.problem, self.grid, settings)
        if key not in self._rows and self._store is not None:
            # joblib asks in its own thread, which would lose an error; `keep` raises it again.
            with suppress(StoreError):
                self._rows |= self._store.known([key])
        return self._rows.get(key)

    def keep(self, row: Row) -> list[Row]:
        """Keep a row; return it with the labels of the run, unless the protocol does not ask for its method."""
        self._rows[row_key(self.problem, self.grid, row)] = row
        if self._store is not None and not self._store.keep(self.problem, self.grid, row):
            self._in_vain = True  # another run works at the same place
        return [{column: row[column] for column in COLUMNS}] if row["method"] in self.grid.methods else []

    def each(self, calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        # In one tuple: joblib keeps a separate argument on one worker of Dask, and hangs if that worker ends.
        return self.parallel(delayed(_call)(tuple(call)) for call in calls)

    def in_turn(self, items: Iterable[_T]) -> Iterator[_T]:
        left = list(items)
        while left:
            yield left.pop(random.randrange(len(left)) if self._in_vain else 0)


def _call(call: tuple) -> Any:
    function, *arguments = call
    with one_thread():
        return function(*arguments)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, so that rounding does not depend on the number of cores.

    The engine's own threads are left alone, since results do not depend on them.
    """
    with threads_kept(), _libraries().limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def run_stored(
    store: Store | None, spec: RunSpec, *, jobs: int | None = None, split_of: Callable[[int], Any] | None = None
) -> Generator[Step, None, None]:
    """Compute the rows of all repeats of a run that a store lacks, or all rows without a store; see `run`.

    `split_of` maps the seed of a repeat to its split; the default is the data set's. `done` of a step counts
    repeats. It raises as `run` and `problem_of` do, at once for the first split, and a ValueError if the data set is
    not here.
    """
    splits = split_source(spec.dataset, spec.split, spec.protocol) if split_of is None else split_of
    named = {"dataset": spec.dataset, "split_name": spec.split, "run_id": spec.run_id}

    def problem(r: int) -> Problem:
        return problem_of(spec.protocol, splits(spec.seed + r), repeat=r, seed=spec.seed + r, **named)

    return _repeats(spec, chain([problem(0)], map(problem, range(1, spec.repeats))), store, jobs)


def _repeats(
    spec: RunSpec, problems: Iterable[Problem], store: Store | None, jobs: int | None
) -> Generator[Step, None, None]:
    for r, problem in enumerate(problems):
        where = f" (repeat {r + 1} of {spec.repeats})" if spec.repeats > 1 else ""
        with closing(run(problem, spec.protocol, store, jobs=jobs)) as steps:
            for step in steps:
                yield Step(step.message + where, r + step.done / step.total, spec.repeats, step.rows)
