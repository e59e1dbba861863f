"""Bounds: every PAC-Bayes bound along beta with its terms, the true risk, and a test of a printed theorem.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.plots.bounds import BOUND_NAMES
from rff_engine.studies.toy import bounds as toy_bounds
from rff_engine.studies.toy.coverage import WorstCase, draw_promises, promise_failures, simulate_promises

#: Inverse temperatures of the curves.
BETAS = tuple(float(f"{10 ** (k / 10):.3g}") for k in range(-30, 31))
#: Numbers of landmarks that a bound may hold for at once.
LANDMARK_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
#: Fresh points that estimate true risks.
RISK_POINTS = 20_000


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


def candidate_risks(settings: BoundSettings) -> toy_bounds.CandidateRisks:
    """Compute the losses of the candidates on the sample, and on many fresh points."""
    sample = settings.data.sample()
    fresh = settings.data.fresh_sample(RISK_POINTS)
    kernel = rff.GaussianKernel(settings.sigma)
    X_fresh = fresh.X.astype(np.float32)
    return toy_bounds.candidate_risks(
        sample.X, sample.y, X_fresh, fresh.y, kernel, settings.n_frequencies, random_state=settings.data.seed
    )


def all_bounds(settings: BoundSettings, guarantee: Guarantee) -> toy_bounds.BoundCurves:
    """Compute every bound along beta."""
    return toy_bounds.bound_curves(candidate_risks(settings), BETAS, *astuple(guarantee))


def bound_map(settings: BoundSettings, guarantee: Guarantee, name: str) -> np.ndarray:
    """Compute a bound over the number of points and beta, (C, B)."""
    return toy_bounds.bound_map(candidate_risks(settings), BETAS, name, *astuple(guarantee))


def landmark_union(settings: BoundSettings, beta: float, epsilon: float, form: str) -> toy_bounds.LandmarkUnion:
    """Compute bounds for many landmarks at once, at every one of `LANDMARK_COUNTS` up to n."""
    risks = candidate_risks(settings)
    counts = [*(count for count in LANDMARK_COUNTS if count < risks.n), risks.n]
    return toy_bounds.landmark_union(risks, beta, counts, epsilon, form)


def promises(n: int, mu: float, epsilon: float, seed: int, samples: int) -> WorstCase:
    """Try Theorem 4 on the first `samples` of the samples that may be drawn."""
    return simulate_promises(n, mu, epsilon, draw_promises(samples, seed))


def numbers(
    settings: BoundSettings, beta: float, epsilon: float, mu: float, form: str, held: int, case: WorstCase
) -> pd.DataFrame:
    """Return all numbers of the page as one table; divergences are from the prior, KL in nats, failures are counts."""
    free, paid = (all_bounds(settings, Guarantee(epsilon, mu, form, pay, held)) for pay in (False, True))
    together = landmark_union(settings, beta, epsilon, form)
    posteriors = [
        pd.DataFrame(
            {"loss_of": whose, "beta": free.betas, "loss": at.loss, "true_loss": at.risk}
            | {"KL": at.kl, "chi2": at.chi2, "D_mu": at.divergence}
        )
        for whose, at in (("one landmark", free.landmark), ("the whole kernel", free.kernel))
    ]
    bounds = [
        pd.DataFrame(
            {"bound": BOUND_NAMES[name], "price": price, "beta": curve.betas, "value": curve.values, **curve.terms}
        )
        for price, curves in (("not paid", free), ("paid", paid))
        for name, curve in curves.bounds.items()
    ]
    tables = {
        "posteriors": pd.concat(posteriors),
        "bounds": pd.concat(bounds),
        "choosing beta": pd.DataFrame(
            {
                "bound": [BOUND_NAMES[name] for name in free.bounds],
                "fixed_beta": beta,
                "at_fixed_beta": [curve.at(beta) for curve in free.bounds.values()],
                "best_not_paid": [curve.best_value for curve in free.bounds.values()],
                "best_paid": [curve.best_value for curve in paid.bounds.values()],
            }
        ),
        "landmarks at once": pd.DataFrame(
            {
                "landmarks": together.counts,
                "theorem_1": together.together,
                "pac_bayes_kl": together.inverse,
                "failure_not_paid": together.failures_alone,
                "failure_paid": together.failures_together,
            }
        ),
        "promise of Theorem 4": pd.DataFrame(
            {
                "form": ["printed", "corrected"],
                "width": (widths := [case.printed_width, case.corrected_width]),
                "samples": len(case.losses),
                "failures": [case.printed.failures, case.corrected.failures],
                "failures_at_a_quarter": [promise_failures(0.25, case.n, width)[0] for width in widths],
            }
        ),
    }
    return pd.concat(tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    # The experiment
    data = "moons"
    n = 300  # training points
    noise = 0.1  # standard deviation added to every coordinate
    seed = 0
    sigma = 0.501  # bandwidth of the Gaussian prior
    N = 200  # candidate frequencies drawn from it
    beta = 1.0  # inverse temperature fixed beforehand
    eps = 0.05  # allowed failures
    mu = 5.0  # order of Theorem 4
    form = "corrected"  # or "paper"
    samples = 1000  # on which Theorem 4 is tried, each with a true loss of its own
    union = 1  # landmarks that Theorem 1 and PAC-Bayes-kl hold for at once

    settings = BoundSettings(ToyData(data, n, noise, seed), sigma, N)
    table = numbers(settings, beta, eps, mu, form, min(union, n), promises(n, mu, eps, seed, samples))
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
