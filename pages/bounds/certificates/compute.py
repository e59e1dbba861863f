"""Certificates: a classifier that bounds its own risk, term by term.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.studies.toy import certificates as toy_certificates

#: Numbers of frequencies.
COUNTS = (5, 10, 20, 50, 100)
#: Numbers of classifiers to look at.
LOOKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
METHODS = toy_certificates.METHODS
#: What the table has of a certificate.
SUMMARY = "n_bound", "risk_bound", "majority_error", "test_error", "gibbs_bound", "gibbs_error", "test_set_bound"


@dataclass(frozen=True)
class CertificateSettings:
    """The points, and how the classifier is fitted and certified, except for its frequencies."""

    data: ToyData
    """The points, without their copies"""
    sigma: float
    beta: float
    tries: int
    prior_fraction: float
    epsilon: float
    copies: int = 1
    """How often each point is in the sample"""

    @property
    def sample(self) -> tuple[np.ndarray, np.ndarray]:
        """All points, (n, 2), and their labels."""
        sample = self.data.sample()
        return np.repeat(sample.X, self.copies, axis=0), np.repeat(sample.y, self.copies)

    @property
    def points(self) -> tuple:
        """All points, fresh ones, and half the side of the plane, as `certified_vote` takes them."""
        fresh = self.data.fresh_sample()
        return *self.sample, fresh.X, fresh.y, self.data.extent

    @property
    def seed(self) -> int:
        """Seed of a random stream that is separate from the points' stream."""
        return int(np.random.SeedSequence((self.data.seed, 5)).generate_state(1)[0])


def certified_vote(settings: CertificateSettings, method: str, D: int) -> toy_certificates.CertifiedVote:
    """Fit the vote of a method with D frequencies, and certify it."""
    choices = settings.beta, settings.tries, settings.prior_fraction, settings.epsilon, settings.seed
    kernel = rff.GaussianKernel(settings.sigma)
    points = settings.points
    model = toy_certificates.certified_classifier(*points[:2], kernel, method, D, *choices)
    return toy_certificates.certified_vote(model, *points)


def certified_blocks(
    settings: CertificateSettings, method: str, D: int, n_blocks: int
) -> toy_certificates.CertifiedBlocks:
    """Test, then teach in blocks, with the same points as a test set; the other half teaches the first classifier."""
    choices = settings.beta, settings.epsilon, settings.seed
    kernel = rff.GaussianKernel(settings.sigma)
    return toy_certificates.certified_blocks(*settings.points, kernel, method, D, n_blocks, *choices)


def peeking(n: int, epsilon: float) -> toy_certificates.Peeking:
    """Compute how often bounds on n rows fail for the best of `LOOKS` guesses."""
    return toy_certificates.peeking(n, epsilon, LOOKS)


def numbers(settings: CertificateSettings, method: str, D: int, stretch: float, n_blocks: int) -> pd.DataFrame:
    """Return all numbers of the page as one table; risks are fractions, nats add to n kl(error || bound)."""
    vote = certified_vote(settings, method, D)
    certificate = vote.certificate(stretch)
    peeked = peeking(certificate.n_bound, settings.epsilon)
    blocked = certified_blocks(settings, method, D, n_blocks)
    tables = {
        "terms": pd.DataFrame(certificate.terms),
        "certificate": pd.DataFrame([{name: getattr(certificate, name) for name in SUMMARY}]),
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


if __name__ == "__main__":
    # The experiment
    data = "checkerboard"
    n = 2000  # points for prior and bound together
    copies = 1  # how often each point stands among these
    noise = 0.1  # standard deviation added to every coordinate
    seed = 0
    sigma = 0.251  # bandwidth of the Gaussian prior
    method = "pbrff"  # or "rff", "okrff"
    beta = 1.0  # inverse temperature of PBRFF
    D = 20  # frequencies: 5, 10, 20, 50 or 100
    stretch = 1.0  # step away from the prior's weights, 1 to those with the smallest bound
    tries = 1  # draws of frequencies that are compared
    prior = 0.5  # share of the points that are set aside to learn from first
    eps = 0.05  # allowed failures
    blocks = 5  # into which the second half of the points is divided, to test and then to teach

    points = ToyData(data, n // copies, noise, seed)
    settings = CertificateSettings(points, sigma, beta, tries, prior, eps, copies)
    table = numbers(settings, method, D, stretch, blocks)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
