"""Runs a protocol on a split, in this process or on many, and hands out result rows as they become known.

A consumer stops a run by closing the generator: no step is long. Where rows go, and which repetitions there are, is
decided by the caller. What a unit of a run is stands in `_units`, how a cluster does them in `_cluster`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

from .._validation import check_count
from ._baseline import baseline_notes, baseline_units
from ._feature_sweep import feature_sweep_units
from ._landmark_study import landmark_study_units
from ._problem import COLUMNS, Problem
from ._units import Plan, Report, run_here
from .protocols import FeatureSweep, LandmarkStudy, Protocol

__all__ = ["COLUMNS", "Step", "run", "run_repeats"]

_UNITS = {FeatureSweep: feature_sweep_units, LandmarkStudy: landmark_study_units}


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
    jobs: int | None = None,
    scheduler: str | None = None,
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
    jobs : int, optional
        Processes of this machine to work in, each with one thread; ``None`` and 1 stand for this process. A script
        that asks for more does so under ``if __name__ == "__main__":``, for each process imports it.
    scheduler : str, optional
        Address of a running Dask scheduler, "tcp://host:port", in place of `jobs`; its workers can import
        rff_engine, of the same version.

    Returns
    -------
    iterator of Step
        Errors in its rows are fractions, `share` too; `rho` is divided by N; `seconds` is the time of the row's own
        features and linear SVMs (of the whole grid for "svm"), and `note` says where fewer training rows were used.
        Wherever they are computed, the rows are the same (`seconds` aside); their order is another on a cluster.

    Raises
    ------
    ValueError
        At once, if the protocol is of no known kind, the split is not of two classes, or a number is out of range;
        later, if no scheduler answers.
    """
    labels = {"dataset": dataset, "split_name": split_name, "repeat": repeat, "run_id": run_id}
    plan = _plan(protocol, split, seed=seed, **labels)
    executor = _executor(jobs, scheduler)

    def steps() -> Iterator[Step]:
        left, done, total = sum(len(unit.steps) for unit in plan.units), 0.0, plan.seconds
        with closing(executor(iter([plan]))) as reports:
            for report in reports:
                left, done = left - 1, done + report.seconds
                yield Step(report.message, done if left else total, total, report.rows)

    return steps()


def run_repeats(
    protocol: Protocol,
    split_of: Callable,
    repeats: int,
    *,
    dataset: str,
    split_name: str = "published",
    seed: int = 0,
    jobs: int | None = None,
    scheduler: str | None = None,
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
    jobs, scheduler
        See `run`; units of several repeats then run side by side.

    Returns
    -------
    iterator of Step
        `done` counts repeats, `total` is their number.

    Raises
    ------
    ValueError
        As `run` does.
    """
    repeats = check_count(repeats, "repeats")
    executor = _executor(jobs, scheduler)

    def plan_of(r: int) -> Plan:
        return _plan(
            protocol, split_of(seed + r), dataset=dataset, split_name=split_name, repeat=r, seed=seed + r, run_id=None
        )

    return _joined(executor, plan_of(0), plan_of, repeats)


def _joined(executor: Callable, first: Plan, plan_of: Callable[[int], Plan], repeats: int) -> Iterator[Step]:
    seconds, left, done = {}, {}, dict.fromkeys(range(repeats), 0.0)

    def plans() -> Iterator[Plan]:
        for r in range(repeats):
            plan = first if r == 0 else plan_of(r)
            seconds[r], left[r] = plan.seconds, sum(len(unit.steps) for unit in plan.units)
            yield plan

    with closing(executor(plans())) as reports:
        for r, message, spent, rows in reports:
            left[r] -= 1
            done[r] = done[r] + spent / seconds[r] if left[r] else 1.0
            where = f" (repeat {r + 1} of {repeats})" if repeats > 1 else ""
            yield Step(message + where, sum(done.values()), repeats, rows)


def _plan(protocol, split, *, dataset, split_name, repeat, seed, run_id) -> Plan:
    """Check everything, and say what is to be done."""
    if type(protocol) not in _UNITS:
        raise ValueError(f"protocol is {protocol!r}; it must be a FeatureSweep or a LandmarkStudy.")
    check_count(repeat, "repeat", low=0)
    check_count(seed, "seed", low=0)
    if run_id is None:
        run_id = f"{protocol.name}-{dataset}-{split_name}-{repeat}-{seed}"
    labels = {"run": run_id, "dataset": dataset, "split": split_name, "repeat": repeat}
    problem = Problem.of(split, labels, seed)
    n = len(problem.train.y)
    train = problem.some_training_rows(protocol.max_train, "training_rows")
    notes = [f"trained on {len(train.y)} of {n} training rows"] if len(train.y) < n else []
    problem = replace(problem, train=train)
    notes += baseline_notes(problem, protocol)
    problem = replace(problem, notes=tuple(notes))
    return Plan(problem, baseline_units(problem, protocol) + _UNITS[type(protocol)](problem, protocol))


def _executor(jobs: int | None, scheduler: str | None) -> Callable[[Iterator[Plan]], Iterator[Report]]:
    jobs = 1 if jobs is None else check_count(jobs, "jobs")
    if jobs == 1 and scheduler is None:
        return run_here
    if jobs > 1 and scheduler is not None:
        raise ValueError(f"jobs is {jobs} and scheduler {scheduler!r}; only one of them may be given.")
    from ._cluster import run_on_cluster

    return lambda plans: run_on_cluster(plans, jobs, scheduler)
