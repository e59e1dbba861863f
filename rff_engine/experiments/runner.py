"""Runs a protocol on a split, step by step, and hands out result rows as they become known.

A consumer stops a run by closing the generator: no step is long. Where rows go, and which repetitions there are, is
decided by the caller.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache

from threadpoolctl import ThreadpoolController

from .._validation import check_count
from ._baseline import baseline_tasks
from ._feature_sweep import feature_sweep_tasks
from ._landmark_study import landmark_study_tasks
from ._problem import COLUMNS, Problem, Task
from .protocols import FeatureSweep, LandmarkStudy, Protocol

__all__ = ["COLUMNS", "Step", "run", "run_repeats"]

# Up to about this much work, several BLAS threads wait for each other longer than they compute: on two busy cores the
# SVM paths of a 340 x 200 matrix took nine times as long with two threads as with one, of 26048 x 800 five times.
_SECONDS_ON_ONE_THREAD = 5.0
_TASKS = {FeatureSweep: feature_sweep_tasks, LandmarkStudy: landmark_study_tasks}


@dataclass(frozen=True)
class Step:
    """What a run has just done."""

    message: str
    """The piece that is finished, in words."""
    done: float
    """Work behind, out of `total`, by a rough guess of its time."""
    total: float
    rows: list[dict] = field(default_factory=list)
    """Rows newly known, each with the keys `COLUMNS`; what does not apply is None."""


def run(
    protocol: Protocol,
    split,
    *,
    dataset: str,
    split_name: str = "published",
    repeat: int = 0,
    seed: int = 0,
    run_id: str | None = None,
) -> Iterator[Step]:
    """Run a protocol (Letarte et al. 2019, Section 6).

    First the RBF SVM, whose gamma is the prior of all that follows; then the linear SVMs of every other method, one
    row each, with C chosen on the validation part. Nothing is refitted on training and validation rows together.

    Parameters
    ----------
    protocol : FeatureSweep or LandmarkStudy
    split : object
        With X_train, X_valid, X_test, arrays or CSR matrices of shapes (n, d), and y_train, y_valid, y_test of
        shapes (n,); two classes of any labels.
    dataset, split_name, run_id : str
        Carried by the rows; `run_id` defaults to a name made of the others, `repeat` and `seed`.
    repeat : int
        Carried by the rows.
    seed : int
        Of all that is drawn. What a method draws depends on the seed and the protocol's numbers, not on which other
        methods are run.

    Returns
    -------
    iterator of Step
        Errors in its rows are fractions, `share` too; `rho` is divided by N; `seconds` is the time of the row's own
        features and linear SVMs (of the whole grid for "svm"), and `note` says where fewer training rows were used.

    Raises
    ------
    ValueError
        At once, if the protocol is of no known kind, the split is not of two classes, or a number is out of range.
    """
    if type(protocol) not in _TASKS:
        raise ValueError(f"protocol is {protocol!r}; it must be a FeatureSweep or a LandmarkStudy.")
    check_count(repeat, "repeat", low=0)
    check_count(seed, "seed", low=0)
    if run_id is None:
        run_id = f"{protocol.name}-{dataset}-{split_name}-{repeat}-{seed}"
    labels = {"run": run_id, "dataset": dataset, "split": split_name, "repeat": repeat}
    problem = Problem.of(split, labels, seed)
    n = len(problem.train.y)
    problem.train = problem.some_training_rows(protocol.max_train, "training_rows")
    if len(problem.train.y) < n:
        problem.notes.append(f"trained on {len(problem.train.y)} of {n} training rows")
    tasks = baseline_tasks(problem, protocol) + _TASKS[type(protocol)](problem, protocol)
    return _steps(deque(tasks))


def run_repeats(
    protocol: Protocol, split_of: Callable, repeats: int, *, dataset: str, split_name: str = "published", seed: int = 0
) -> Iterator[Step]:
    """Run a protocol again and again with consecutive seeds, as one run.

    Parameters
    ----------
    protocol : FeatureSweep or LandmarkStudy
    split_of : callable
        From the seed of a repeat to its split, see `run`.
    repeats : int
        How many.
    dataset, split_name : str
        Carried by the rows, like the number of the repeat.
    seed : int
        Of the first repeat.

    Returns
    -------
    iterator of Step
        `done` counts repeats, `total` is their number.

    Raises
    ------
    ValueError
        As `run` does, at once.
    """
    repeats = check_count(repeats, "repeats")

    def steps_of(r: int) -> Iterator[Step]:
        return run(protocol, split_of(seed + r), dataset=dataset, split_name=split_name, repeat=r, seed=seed + r)

    return _joined(steps_of(0), steps_of, repeats)


def _joined(first: Iterator[Step], steps_of: Callable, repeats: int) -> Iterator[Step]:
    for r in range(repeats):
        where = f" (repeat {r + 1} of {repeats})" if repeats > 1 else ""
        for step in first if r == 0 else steps_of(r):
            yield Step(step.message + where, r + step.done / step.total, repeats, step.rows)


def _steps(tasks: deque[Task]) -> Iterator[Step]:
    total, done = sum(task.seconds for task in tasks), 0.0
    while tasks:  # a task is let go once it is done, and with it what only it held
        task = tasks.popleft()
        with _threads(task.seconds):  # never across a yield: the consumer keeps its own
            rows = task.work()
        done += task.seconds
        yield Step(task.message, done if tasks else total, total, rows)


def _threads(seconds: float):
    return _blas().limit(limits=1, user_api="blas") if seconds <= _SECONDS_ON_ONE_THREAD else nullcontext()


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
