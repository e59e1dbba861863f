"""Bounds: every PAC-Bayes bound along beta with its terms, the true risk, and a test of a printed theorem.

From the repository's root: python bounds_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from rff_engine.plots.bounds import BOUND_NAMES
from rff_engine.studies.toy.bounds import bound_curves, candidate_risks, landmark_union
from rff_engine.studies.toy.coverage import draw_promises, promise_failures, simulate_promises

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


def numbers(free, paid, beta, together, case) -> pd.DataFrame:
    """All numbers of the page as one table; divergences are from the prior, KL in nats, failures are counts."""
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
    sample = datasets.make_toy(data, n, noise, seed)
    fresh = datasets.make_toy(data, 20_000, noise, seed + 1_000_003)  # estimate the true risk
    kernel = rff.GaussianKernel(sigma)
    risks = candidate_risks(sample.X, sample.y, fresh.X.astype(np.float32), fresh.y, kernel, N, random_state=seed)
    betas = [float(f"{10 ** (k / 10):.3g}") for k in range(-30, 31)]
    held = min(union, n)
    free, paid = (bound_curves(risks, betas, eps, mu, form, pay, held) for pay in (False, True))
    counts = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
    together = landmark_union(risks, beta, [*(count for count in counts if count < n), n], eps, form)
    case = simulate_promises(n, mu, eps, draw_promises(samples, seed))
    numbers(free, paid, beta, together, case).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
