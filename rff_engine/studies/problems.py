"""The problem that a protocol poses on a split, and the study that computes its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .._validation import check_count
from .baseline import with_notes
from .feature_comparison import feature_comparison_rows
from .feature_sweep import feature_sweep_rows
from .kernel_approximation import kernel_approximation_rows
from .landmark_study import landmark_study_rows
from .letarte_problem import LetarteProblem
from .li_problem import LiProblem
from .problem import Report
from .protocols import (
    FeatureComparison,
    FeatureSweep,
    KernelApproximation,
    LandmarkStudy,
    LiProtocol,
    Protocol,
    check_protocol,
)

if TYPE_CHECKING:
    from rff_datasets import Split, TwoPartSplit

STUDIES: dict[type, Callable[..., Iterator[Report]]] = {
    FeatureSweep: feature_sweep_rows,
    LandmarkStudy: landmark_study_rows,
    KernelApproximation: kernel_approximation_rows,
    FeatureComparison: feature_comparison_rows,
}


def problem_of(
    protocol: Protocol,
    split: Split | TwoPartSplit,
    *,
    dataset: str,
    split_name: str = "published",
    repeat: int = 0,
    seed: int = 0,
    run_id: str | None = None,
) -> LetarteProblem | LiProblem:
    """Make the problem that a protocol poses on a split.

    Parameters
    ----------
    split : object
        With X_train, X_valid, X_test, arrays or CSR matrices of shapes (n, d), and y_train, y_valid, y_test of
        shapes (n,); two classes of any labels. For Li et al. (2019) without a validation part, and with `task`,
        "regression" or "classification".
    dataset, split_name, run_id : str
        Fields of the rows; `run_id` defaults to the name of the protocol with the other two, `repeat` and `seed`.
    repeat : int
        Field of the rows.
    seed : int
        Of all random draws.

    Raises
    ------
    ValueError
        If the protocol is of no known kind, the split does not fit it, or a number is out of range.
    """
    check_protocol(protocol)
    check_count(repeat, "repeat", low=0)
    check_count(seed, "seed", low=0)
    run_id = run_id or f"{protocol.name}-{dataset}-{split_name}-{repeat}-{seed}"
    labels = {"run": run_id, "dataset": dataset, "split": split_name, "repeat": repeat}
    kind = LiProblem if isinstance(protocol, LiProtocol) else LetarteProblem
    problem = kind.of(cast(Any, split), labels, seed, protocol.scaling, protocol.max_train)
    problem = replace(problem, data=problem.digest(cast(Any, split)))
    return problem if isinstance(problem, LiProblem) else with_notes(problem, cast(Any, protocol))
