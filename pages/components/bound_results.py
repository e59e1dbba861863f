"""Cached results of the Bounds page; moving beta alone computes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import rff_engine as rff
from pages.components import live
from pages.components.controls import powers
from pages.components.keeping import kept
from pages.components.toy_data import ToyData, read_only, toy_fresh_sample, toy_sample
from rff_engine.experiments import bound_curves, coverage

#: Inverse temperatures of the bound curves: every value of the slider for beta is one of them.
BOUND_BETAS = powers(-3, 3, 10)


#: Fresh points that stand for the distribution in true risks, and samples of a simulated promise.
RISK_POINTS = 20_000


PROMISE_SAMPLES = 20_000


@dataclass(frozen=True)
class BoundSettings:
    """All that the losses behind the bounds depend on."""

    data: ToyData
    sigma: float
    n_frequencies: int


@dataclass(frozen=True)
class Promise:
    """All that a bound depends on beside losses and beta."""

    epsilon: float
    mu: float
    form: str
    pay_for_beta: bool


@kept
def candidate_risks(settings: BoundSettings) -> bound_curves.CandidateRisks:
    sample, fresh = toy_sample(settings.data), toy_fresh_sample(settings.data, RISK_POINTS)
    return read_only(
        bound_curves.candidate_risks(
            sample.X,
            sample.y,
            fresh.X.astype(np.float32),
            fresh.y,
            rff.GaussianKernel(settings.sigma),
            settings.n_frequencies,
            random_state=settings.data.seed,
        )
    )


@kept
def promised_curves(settings: BoundSettings, promise: Promise) -> bound_curves.BoundCurves:
    return read_only(
        bound_curves.bound_curves(
            candidate_risks(settings), BOUND_BETAS, promise.epsilon, promise.mu, promise.form, promise.pay_for_beta
        )
    )


@kept
def live_bounds(settings: BoundSettings, promise: Promise, bound: str) -> dict:
    """What the live view needs, with the bound that it takes apart."""
    return live.pack_bounds(promised_curves(settings, promise), bound)


@kept
def worst_case(n: int, mu: float, epsilon: float, seed: int) -> coverage.WorstCase:
    return read_only(coverage.simulate_worst_case("two_classes", n, mu, epsilon, PROMISE_SAMPLES, random_state=seed))
