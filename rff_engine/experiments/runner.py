"""Runs a protocol on a split, in this process or on many, and hands out result rows as they become known.

A consumer stops a run by closing the generator: no step is long. Which repetitions there are, and whether rows go to a
store, is decided by the caller. What a unit of a run is stands in `_units`, how a cluster does them in `_cluster`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .._validation import check_count
from ._baseline import baseline_notes, baseline_units
from ._feature_comparison import feature_comparison_units
from ._feature_problem import FeatureProblem, two_part_digest
from ._feature_sweep import feature_sweep_units
from ._kernel_approximation import kernel_approximation_units
from ._landmark_study import landmark_study_units
from ._problem import COLUMNS, Problem, split_digest
from ._units import Plan, Report, run_here
from .protocols import (
    PROTOCOLS,
    FeatureComparison,
    FeatureProtocol,
    FeatureSweep,
    KernelApproximation,
    LandmarkStudy,
    Protocol,
    RunSpec,
    split_source,
)

if TYPE_CHECKING:
    from .store import Store

__all__ = ["COLUMNS", "Step", "run", "run_repeats", "run_stored"]

_NEARLY = 0.999  # done of a repeat, as long as it is not over
_UNITS = {
    FeatureSweep: feature_sweep_units,
    LandmarkStudy: landmark_study_units,
    KernelApproximation: kernel_approximation_units,
    FeatureComparison: feature_comparison_units,
}


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
    protocol: Protocol | FeatureProtocol,
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
    """Run a protocol.

    Of a feature sweep or landmark study (Letarte et al. 2019, Section 6) first the RBF SVM, whose gamma is the prior of
    all that follows; then the linear SVMs of every other method, one row each, with C chosen on the validation part.
    Nothing is refitted on training and validation rows together. Of a kernel approximation or feature comparison (Li
    et al. 2019) every method on its own.

    Parameters
    ----------
    protocol : FeatureSweep, LandmarkStudy, KernelApproximation or FeatureComparison
    split : object
        With X_train, X_valid, X_test, arrays or CSR matrices of shapes (n, d), and y_train, y_valid, y_test of
        shapes (n,); two classes of any labels. For the last two protocols without a validation part, and with `task`,
        "regression" or "classification".
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
        Address of a running Dask scheduler, "tcp://host:port", in place of `jobs`. It and its workers have to import
        the same rff_engine, from a checkout of the same commit; that is checked on connecting.

    Returns
    -------
    iterator of Step
        Errors in its rows are fractions, `share` too; `rho` is divided by N; `seconds` is the time of the row's own
        features and linear SVMs (of the whole grid for "svm"), and `note` says where fewer training rows were used.
        What errors and D are for the last two protocols, they say themselves.
        On one processor the rows are the same in whatever order and in however many processes they are computed
        (`seconds` aside). On another, those of a feature sweep or landmark study are the same to the last bit; those
        of a kernel approximation or feature comparison are within the relative tolerance that
        `feature_methods.tolerance` gives for their method, for a descent that is not convex ends elsewhere when
        rounding changes.

    Raises
    ------
    ValueError
        At once, if the protocol is of no known kind, the split is not of two classes, or a number is out of range;
        later, if no scheduler answers, it has no workers, or these cannot import the same code.
    """
    labels = {"dataset": dataset, "split_name": split_name, "repeat": repeat, "run_id": run_id}
    plan = _plan(protocol, split, seed=seed, **labels)
    executor = _executor(jobs, scheduler)

    def steps() -> Iterator[Step]:
        with closing(_stepped(executor, protocol, lambda r: plan, 1)) as found:
            for step in found:
                yield replace(step, done=step.done * plan.seconds, total=plan.seconds)

    return steps()


def run_repeats(
    protocol: Protocol | FeatureProtocol,
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
    protocol : FeatureSweep, LandmarkStudy, KernelApproximation or FeatureComparison
    split_of : callable
        From the seed of a repeat to its split, see `run`.
    repeats : int
        How many.
    dataset : str
        Carried by the rows, like the number of the repeat.
    split_name : {"published", "random"}
        Carried by the rows.
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
    spec = RunSpec(protocol, dataset, split_name, repeats, seed)
    executor = _executor(jobs, scheduler)

    def plan_of(r: int) -> Plan:
        return _plan_of_repeat(spec, split_of(seed + r), r)

    first = plan_of(0)
    return _stepped(executor, protocol, lambda r: plan_of(r) if r else first, repeats)


def run_stored(
    store: Store,
    spec: RunSpec,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    split_of: Callable | None = None,
) -> Iterator[Step]:
    """Do what is left of a run, and keep its rows in a store, under the name `spec.run_id`.

    Every row is committed before its step is handed out. Rows that the store has already, from this or another run,
    are not computed again, nor those that another runner is working on: these are waited for, and taken over if it
    dies. So a run that was stopped, or killed, goes on; and several runners, on several machines, share the work.

    Parameters
    ----------
    store : Store
    spec : RunSpec
        What to run; of a run that the store knows, `Store.run` tells it.
    jobs, scheduler
        See `run`.
    split_of : callable, optional
        From the seed of a repeat to its split; by default those of the run's data set.

    Returns
    -------
    iterator of Step
        `done` counts repeats, `total` is their number. Rows computed by other runners are not among its rows.

    Raises
    ------
    ValueError
        As `run` does, or if the data set is not here: a run that cannot begin is not stored.
    StoreError
        If the store cannot be read or written. Rows known by then are kept.
    """
    executor = _executor(jobs, scheduler)
    split_of = split_source(spec.dataset, spec.split, spec.protocol) if split_of is None else split_of
    digest = two_part_digest if isinstance(spec.protocol, FeatureProtocol) else split_digest

    def steps() -> Iterator[Step]:
        desks = {}
        with store.runner(spec) as runner:

            def plan_of(r: int) -> Plan:
                split = split_of(spec.seed + r)
                plan = _plan_of_repeat(spec, split, r)
                rows = [row for unit in plan.units for row in unit.rows]
                desks[r] = runner.desk(digest(split), r, rows)
                return plan._replace(desk=desks[r])

            def keep(r: int, rows: list[dict]) -> None:
                runner.put(desks[r], rows)

            yield from _stepped(executor, spec.protocol, plan_of, spec.repeats, keep)

    return steps()


def _stepped(
    executor: Callable,
    protocol: Protocol | FeatureProtocol,
    plan_of: Callable[[int], Plan],
    repeats: int,
    keep: Callable[[int, list[dict]], None] = lambda r, rows: None,
) -> Iterator[Step]:
    """The steps of all repeats; `keep` has the rows of a repeat before anyone else."""
    seconds, done = {}, dict.fromkeys(range(repeats), 0.0)

    def plans() -> Iterator[Plan]:
        for r in range(repeats):
            plan = plan_of(r)
            seconds[r] = plan.seconds
            yield plan

    with closing(executor(plans())) as reports:
        for r, message, spent, rows, last in reports:
            keep(r, rows)
            done[r] = 1.0 if last else min(done[r] + spent / seconds[r], _NEARLY)
            where = f" (repeat {r + 1} of {repeats})" if repeats > 1 else ""
            rows = [row for row in rows if row["method"] in protocol.methods]
            yield Step(message + where, sum(done.values()), repeats, rows)


def _plan_of_repeat(spec: RunSpec, split, r: int) -> Plan:
    named = {"dataset": spec.dataset, "split_name": spec.split, "run_id": spec.run_id}
    return _plan(spec.protocol, split, repeat=r, seed=spec.seed + r, **named)


def _plan(protocol, split, *, dataset, split_name, repeat, seed, run_id) -> Plan:
    """Check everything, and say what is to be done."""
    if type(protocol) not in _UNITS:
        known = ", ".join(kind.__name__ for kind in PROTOCOLS.values())
        raise ValueError(f"protocol is {protocol!r}; it must be one of {known}.")
    check_count(repeat, "repeat", low=0)
    check_count(seed, "seed", low=0)
    if run_id is None:
        run_id = f"{protocol.name}-{dataset}-{split_name}-{repeat}-{seed}"
    labels = {"run": run_id, "dataset": dataset, "split": split_name, "repeat": repeat}
    if isinstance(protocol, FeatureProtocol):
        problem = FeatureProblem.of(split, labels, seed, protocol.scaling, protocol.max_train)
        return Plan(problem, _UNITS[type(protocol)](problem, protocol))
    problem = Problem.of(split, labels, seed, protocol.scaling)
    n = len(problem.train.y)
    train = problem.some_training_rows(protocol.max_train, "training_rows")
    notes = ["columns standardised"] if protocol.scaling == "standard" else []
    notes += [f"trained on {len(train.y)} of {n} training rows"] if len(train.y) < n else []
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
