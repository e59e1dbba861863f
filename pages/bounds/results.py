"""Cached results of the page on bounds; a change of beta alone computes nothing."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

import rff_engine as rff
from pages.shared.controls import scales
from pages.shared.controls.toy_data import ToyData, toy_fresh_sample, toy_sample
from pages.shared.live import packing
from pages.shared.server.cache import shared_cache
from rff_engine.studies.toy import bounds as bound_curves, coverage

#: Numbers of landmarks that a bound may hold for at once.
LANDMARK_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)

#: Fresh points that estimate true risks.
RISK_POINTS = 20_000
#: Samples that may be drawn to see whether Theorem 4 holds.
MOST_SAMPLES = 5000


@dataclass(frozen=True)
class BoundSettings:
    """Everything that the losses in the bounds depend on."""

    data: ToyData
    sigma: float
    n_frequencies: int


@dataclass(frozen=True)
class Guarantee:
    """Everything else that a bound depends on, except beta."""

    epsilon: float
    mu: float
    form: str
    pay_for_beta: bool
    n_landmarks: int = 1


@shared_cache
def candidate_risks(settings: BoundSettings) -> bound_curves.CandidateRisks:
    sample = toy_sample(settings.data)
    fresh = toy_fresh_sample(settings.data, RISK_POINTS)
    return bound_curves.candidate_risks(
        sample.X,
        sample.y,
        fresh.X.astype(np.float32),
        fresh.y,
        rff.GaussianKernel(settings.sigma),
        settings.n_frequencies,
        random_state=settings.data.seed,
    )


@shared_cache
def all_bounds(settings: BoundSettings, guarantee: Guarantee) -> bound_curves.BoundCurves:
    return bound_curves.bound_curves(
        candidate_risks(settings),
        scales.BETAS,
        *astuple(guarantee),
    )


@shared_cache
def landmark_union(settings: BoundSettings, beta: float, epsilon: float, form: str) -> bound_curves.LandmarkUnion:
    """Bounds for many landmarks at once, at every number of landmarks of the slider up to n."""
    risks = candidate_risks(settings)
    counts = [*(count for count in LANDMARK_COUNTS if count < risks.n), risks.n]
    return bound_curves.landmark_union(risks, beta, counts, epsilon, form)


@shared_cache
def live_bounds(settings: BoundSettings, guarantee: Guarantee) -> dict:
    """The curves packed for the live view, with the maps of the bounds over beta and n."""
    maps = bound_curves.bound_maps(candidate_risks(settings), scales.BETAS, *astuple(guarantee))
    return packing.pack_bounds(all_bounds(settings, guarantee), bound_curves.MAP_LOG_COUNTS, maps, settings.data.n)


@shared_cache
def promises(n: int, mu: float, epsilon: float, seed: int, samples: int) -> coverage.WorstCase:
    """Theorem 4 on the first `samples` of the samples that may be drawn."""
    return coverage.simulate_promises(n, mu, epsilon, coverage.draw_promises(samples, seed))


@shared_cache
def live_promises(seed: int, allowed: tuple[float, ...]) -> dict:
    """All samples packed for the live view."""
    return packing.pack_promises(coverage.draw_promises(MOST_SAMPLES, seed), allowed)
