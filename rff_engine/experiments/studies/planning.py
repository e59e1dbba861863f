"""From a protocol and a split to the problem and the units that compute its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from .baseline import baseline_notes, baseline_units
from .feature_comparison import feature_comparison_units
from .feature_sweep import feature_sweep_units
from .kernel_approximation import kernel_approximation_units
from .landmark_study import landmark_study_units
from .letarte_problem import LetarteProblem
from .li_problem import LiProblem
from .problem import LetarteSplit, LiSplit, Problem
from .protocols import FeatureComparison, FeatureSweep, KernelApproximation, LandmarkStudy, LetarteProtocol, LiProtocol
from .units import Row, Unit

_UNITS = {
    FeatureSweep: feature_sweep_units,
    LandmarkStudy: landmark_study_units,
    KernelApproximation: kernel_approximation_units,
    FeatureComparison: feature_comparison_units,
}


def problem_and_units(
    protocol: LetarteProtocol | LiProtocol, split: LetarteSplit | LiSplit, labels: Row, seed: int
) -> tuple[Problem, list[Unit]]:
    """Problem of a split and the units of a protocol on it, each after those it needs.

    Parameters
    ----------
    split : object
        See `runner.run`.
    labels : dict
        Run, dataset, split and repeat of its result rows.

    Returns
    -------
    problem : LetarteProblem or LiProblem
    units : list of Unit

    Raises
    ------
    ValueError
        If the split does not fit the protocol.
    """
    if isinstance(protocol, LiProtocol):
        problem, units = LiProblem.of(cast(LiSplit, split), labels, seed, protocol.scaling, protocol.max_train), []
    else:
        problem = LetarteProblem.of(cast(LetarteSplit, split), labels, seed, protocol.scaling, protocol.max_train)
        problem = replace(problem, notes=(*problem.notes, *baseline_notes(problem, protocol)))
        units = baseline_units(problem, protocol)
    return problem, units + _UNITS[type(protocol)](problem, protocol)
