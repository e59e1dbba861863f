"""Certificates: a classifier that bounds its own risk, term by term, and against the number of its frequencies.

From the repository's root: python certificates_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from rff_engine.studies.toy import certificates

# The experiment
data = "checkerboard"
n = 2000  # points for prior and bound together
copies = 1  # how often each point stands among these
noise = 0.1  # standard deviation added to every coordinate
seed = 0
sigma = 0.251  # bandwidth of the Gaussian prior
method = "PBRFF (pseudo-posterior)"  # or "RFF (prior)", "OKRFF (optimized kernel)"
beta = 1.0  # inverse temperature of PBRFF
D = 20  # frequencies: 5, 10, 20, 50 or 100
stretch = 1.0  # step away from the prior's weights, 1 to those with the smallest bound
tries = 1  # draws of frequencies that are compared
prior = 0.0  # share of the points for the prior
eps = 0.05  # allowed failures
blocks = 5  # into which the second half of the points is divided, to test and then to teach


def numbers(vote, certificate, D_values, curves, peeked, blocked) -> pd.DataFrame:
    """All numbers of the page as one table; risks are fractions, nats add to n kl(error || bound)."""
    arms = vote.model.arm_bounds_
    tables = {
        "terms": pd.DataFrame(certificate.terms),
        "certificate": summary([certificate]),
        "arms": pd.DataFrame({"arm": list(arms), "risk_bound": list(arms.values()), "test_error": vote.error}),
        "against D": pd.concat(
            [summary(certified).assign(method=name, frequencies=list(D_values)) for name, certified in curves.items()]
        ),
        "failures of peeking": pd.DataFrame(
            {
                "looked_at": peeked.counts,
                "test_set": peeked.test_set,
                "nothing_paid": peeked.unpaid,
                "looks_paid_for": peeked.paid,
            }
        ),
        "blocks": pd.DataFrame({"points": blocked.counts, "risk_bound": blocked.bounds}),
        "blocks and test set": pd.DataFrame(
            {
                "scheme": ["blocks", "test set"],
                "n_bound": [blocked.sizes.sum(), blocked.n_bound],
                "risk_bound": [blocked.risk_bound, blocked.test_set_bound],
                "test_error": [blocked.test_error, blocked.test_set_error],
            }
        ),
    }
    return pd.concat(tables, names=["table"]).reset_index("table").convert_dtypes()


def summary(certified) -> pd.DataFrame:
    """A row for each certificate."""
    names = ("n_bound", "risk_bound", "test_error", "gibbs_bound", "gibbs_error", "test_set_bound")
    return pd.DataFrame({name: [getattr(one, name) for one in certified] for name in names})


if __name__ == "__main__":
    sample = datasets.make_toy(data, n // copies, noise, seed)
    fresh = datasets.make_toy(data, 2000, noise, seed + 1_000_003)
    X = np.repeat(sample.X, copies, axis=0)
    y = np.repeat(sample.y, copies)
    points = X, y, fresh.X, fresh.y, 1.0, rff.GaussianKernel(sigma)
    stream = int(np.random.SeedSequence((seed, 5)).generate_state(1)[0])  # not that of the points
    settings = beta, tries, prior, eps, stream
    names = {"RFF (prior)": "rff", "PBRFF (pseudo-posterior)": "pbrff", "OKRFF (optimized kernel)": "okrff"}
    D_values = (5, 10, 20, 50, 100)
    votes = {name: certificates.certified_votes(*points, name, D_values, *settings) for name in names.values()}
    curves = {name: [vote.certificate() for vote in of_method] for name, of_method in votes.items()}
    vote = votes[names[method]][D_values.index(D)]
    certificate = vote.certificate(stretch)
    looks = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
    peeked = certificates.peeking(certificate.n_bound, eps, looks)
    blocked = certificates.certified_blocks(*points, names[method], D, blocks, beta, eps, stream)
    table = numbers(vote, certificate, D_values, curves, peeked, blocked)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
