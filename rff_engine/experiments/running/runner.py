"""Runs a protocol on a split, in this process or on a cluster, and yields result rows as they become known.

A consumer stops a run by closing the generator: no step is long. `studies.planning` has the units of a run, `executor`
and `cluster` compute them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..._validation import check_count
from ..studies.planning import problem_and_units
from ..studies.problem import COLUMNS, LetarteSplit, LiSplit
from ..studies.protocols import Protocol, RunSpec, check_protocol, split_source
from ..studies.units import Row
from .executor import Plan, Report, run_in_process

if TYPE_CHECKING:
    from .store import Store

__all__ = ["COLUMNS", "Step", "run", "run_repeats", "run_stored"]

_NEARLY = 0.999  # shown of a repeat that is not finished


@dataclass(frozen=True)
class Step:
    """A finished step of a run."""

    message: str
    done: float
    """Work done, out of `total`, by a rough estimate of its time"""
    total: float
    rows: list[Row] = field(default_factory=list)
    """New rows, each with the keys `COLUMNS`; what does not apply is None"""


def run(
    protocol: Protocol,
    split: LetarteSplit | LiSplit,
    *,
    dataset: str,
    split_name: str = "published",
    repeat: int = 0,
    seed: int = 0,
    run_id: str | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> Generator[Step, None, None]:
    """Run a protocol.

    A feature sweep or landmark study (Letarte et al. 2019, Section 6) begins with the RBF SVM, whose gamma is that of
    the prior; the linear SVMs of every other method follow, one row each, with C chosen on the validation part.
    Nothing is refitted on training and validation rows together. A kernel approximation or feature comparison (Li et
    al. 2019) computes each method on its own.

    Parameters
    ----------
    split : object
        With X_train, X_valid, X_test, arrays or CSR matrices of shapes (n, d), and y_train, y_valid, y_test of
        shapes (n,); two classes of any labels. For the last two protocols without a validation part, and with `task`,
        "regression" or "classification".
    dataset, split_name, run_id : str
        Fields of the rows; `run_id` defaults to the name of the protocol with the other two, `repeat` and `seed`.
    repeat : int
        Field of the rows.
    seed : int
        Of all random draws. What a method draws depends on the seed and the protocol's numbers, not on which other
        methods are run.
    jobs : int, optional
        Number of processes on this machine, with one thread each; ``None`` and 1 stand for this process. A script
        with more needs ``if __name__ == "__main__":``, since each process imports it.
    scheduler : str, optional
        Address of a running Dask scheduler, "tcp://host:port", in place of `jobs`. It and its workers have to import
        the same rff_engine, from a checkout of the same commit; that is checked on connecting.

    Returns
    -------
    generator of Step
        Errors in its rows are fractions, `share` too; `rho` is divided by N; `seconds` is the time of the row's own
        features and linear SVMs (of the whole grid for "svm"), and `note` says where fewer training rows were used.
        The last two protocols define errors and D themselves.
        On one processor the rows do not depend on the order and the number of processes (`seconds` aside). On
        another, those of a feature sweep or landmark study are the same to the last bit; those of a kernel
        approximation or feature comparison are within the relative tolerance `feature_methods.tolerance` of their
        method, since rounding changes where a descent that is not convex ends.

    Raises
    ------
    ValueError
        At once, if the protocol is of no known kind, the split is not of two classes, or a number is out of range;
        later, if no scheduler answers, it has no workers, or these cannot import the same code.
    """
    labels = {"dataset": dataset, "split_name": split_name, "repeat": repeat, "run_id": run_id}
    plan = _plan(protocol, split, seed=seed, **labels)
    executor = _executor(jobs, scheduler)

    def steps() -> Generator[Step, None, None]:
        with closing(_steps(executor, protocol, lambda r: plan, 1)) as steps_of_plan:
            for step in steps_of_plan:
                yield replace(step, done=step.done * plan.seconds, total=plan.seconds)

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
) -> Generator[Step, None, None]:
    """Run a protocol on one split after another with consecutive seeds, as one run.

    Parameters
    ----------
    split_of : callable
        Function from the seed of a repeat to its split, see `run`.
    dataset : str
        Field of the rows, as is the number of the repeat.
    split_name : {"published", "random"}
        Field of the rows.
    seed : int
        Of the first repeat.
    jobs, scheduler
        See `run`; units of several repeats then run at the same time.

    Returns
    -------
    generator of Step
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
    return _steps(executor, protocol, lambda r: plan_of(r) if r else first, repeats)


def run_stored(
    store: Store,
    spec: RunSpec,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    split_of: Callable | None = None,
) -> Generator[Step, None, None]:
    """Compute the missing rows of a run, and keep them in a store under the name `spec.run_id`.

    Every row is committed before its step is yielded. Rows that the store has already, from this or another run, are
    not computed again. Rows that another process works on are waited for, and claimed if it dies. So a run that was
    stopped, or killed, can be resumed, and several processes, on several machines, share the work.

    Parameters
    ----------
    spec : RunSpec
        See `Store.run` for the one of a stored run.
    jobs, scheduler
        See `run`.
    split_of : callable, optional
        Function from the seed of a repeat to its split; by default those of the run's data set.

    Returns
    -------
    generator of Step
        `done` counts repeats, `total` is their number. Rows computed by other processes are not among its rows.

    Raises
    ------
    ValueError
        As `run` does, or if the data set is not here; the run is then not stored.
    StoreError
        If the store cannot be read or written. Rows known by then are kept.
    """
    executor = _executor(jobs, scheduler)
    split_of = split_source(spec.dataset, spec.split, spec.protocol) if split_of is None else split_of

    def steps() -> Generator[Step, None, None]:
        from .leases import RunLease  # SQLAlchemy is needed only here

        with RunLease(store, spec) as lease:

            def plan_of(r: int) -> Plan:
                split = split_of(spec.seed + r)
                plan = _plan_of_repeat(spec, split, r)
                return plan._replace(claims=lease.claims(plan.problem.digest(split), r, plan.rows))

            yield from _steps(executor, spec.protocol, plan_of, spec.repeats)

    return steps()


def _steps(
    executor: Callable, protocol: Protocol, plan_of: Callable[[int], Plan], repeats: int
) -> Generator[Step, None, None]:
    """Steps of all repeats, with the rows of the protocol's methods."""
    seconds, done = {}, dict.fromkeys(range(repeats), 0.0)

    def plans() -> Iterator[Plan]:
        for r in range(repeats):
            plan = plan_of(r)
            seconds[r] = plan.seconds
            yield plan

    with closing(executor(plans())) as reports:
        for r, message, spent, rows, last in reports:
            done[r] = 1.0 if last else min(done[r] + spent / seconds[r], _NEARLY)
            where = f" (repeat {r + 1} of {repeats})" if repeats > 1 else ""
            rows = [row for row in rows if row["method"] in protocol.methods]
            yield Step(message + where, sum(done.values()), repeats, rows)


def _plan_of_repeat(spec: RunSpec, split, r: int) -> Plan:
    named = {"dataset": spec.dataset, "split_name": spec.split, "run_id": spec.run_id}
    return _plan(spec.protocol, split, repeat=r, seed=spec.seed + r, **named)


def _plan(protocol, split, *, dataset, split_name, repeat, seed, run_id) -> Plan:
    check_protocol(protocol)
    check_count(repeat, "repeat", low=0)
    check_count(seed, "seed", low=0)
    if run_id is None:
        run_id = f"{protocol.name}-{dataset}-{split_name}-{repeat}-{seed}"
    labels = {"run": run_id, "dataset": dataset, "split": split_name, "repeat": repeat}
    return Plan(*problem_and_units(protocol, split, labels, seed))


def _executor(jobs: int | None, scheduler: str | None) -> Callable[[Iterator[Plan]], Generator[Report, None, None]]:
    jobs = 1 if jobs is None else check_count(jobs, "jobs")
    if jobs == 1 and scheduler is None:
        return run_in_process
    if jobs > 1 and scheduler is not None:
        raise ValueError(f"jobs is {jobs} and scheduler {scheduler!r}; only one of them may be given.")
    from .cluster import run_on_cluster

    return lambda plans: run_on_cluster(plans, jobs, scheduler)
