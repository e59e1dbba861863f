"""Cached results of the page on certificates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Self

import numpy as np

import rff_engine as rff
from pages.shared.controls.toy import toy_data
from pages.shared.controls.toy_data import ToyData, map_extent, toy_fresh_sample, toy_sample
from pages.shared.live.packing import pack_blocks, pack_certificate
from pages.shared.server import workers
from pages.shared.server.cache import shared_cache
from rff_engine.plots.style import METHOD_NAMES
from rff_engine.studies.toy import certificates as toy_certificates

#: Methods by their labels.
METHODS = {METHOD_NAMES[method]: method for method in toy_certificates.METHODS}
#: Numbers of frequencies.
COUNTS = (5, 10, 20, 50, 100)
#: Numbers of classifiers that are looked at.
LOOKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)


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

    @classmethod
    def of(cls, values) -> Self:
        """The settings that the page's controls have."""
        data = replace(toy_data(values), n=values.n // values.copies)
        return cls(data, values.sigma, values.beta, values.tries, values.prior, values.eps, values.copies)

    @property
    def sample(self) -> tuple[np.ndarray, np.ndarray]:
        """All points, (n, 2), and their labels."""
        sample = toy_sample(self.data)
        return np.repeat(sample.X, self.copies, axis=0), np.repeat(sample.y, self.copies)

    @property
    def points(self) -> tuple:
        """All points, fresh ones, and half the side of the plane, as `certified_vote` takes them."""
        fresh = toy_fresh_sample(self.data)
        return *self.sample, fresh.X, fresh.y, map_extent(self.data)

    @property
    def choices(self) -> tuple:
        """Arguments of `certified_classifier` from beta on."""
        # A random stream separate from that of the points.
        seed = int(np.random.SeedSequence((self.data.seed, 5)).generate_state(1)[0])
        return self.beta, self.tries, self.prior_fraction, self.epsilon, seed


@shared_cache
def certified_vote(settings: CertificateSettings, method: str, D: int) -> toy_certificates.CertifiedVote:
    """The certified vote of a method with D frequencies."""
    points, kernel = settings.points, rff.GaussianKernel(settings.sigma)
    (vote,) = workers.compute(toy_certificates.certified_votes, *points, kernel, method, (D,), *settings.choices)
    return vote


@shared_cache
def live_certificate(settings: CertificateSettings, method: str, counts: tuple[int, ...]) -> dict:
    """Data of the live view, with the votes at these numbers of frequencies."""
    votes = workers.results({D: partial(certified_vote, settings, method, D) for D in counts})
    return pack_certificate(votes, toy_sample(settings.data), map_extent(settings.data), COUNTS)


@shared_cache
def certified_blocks(
    settings: CertificateSettings, method: str, D: int, n_blocks: int
) -> toy_certificates.CertifiedBlocks:
    """Blocks that test and then teach, with the same points as a test set; the other half teaches the first one."""
    beta, *_, epsilon, seed = settings.choices
    blocks = workers.compute(
        toy_certificates.certified_blocks,
        *settings.points,
        rff.GaussianKernel(settings.sigma),
        *(method, D, n_blocks, beta, epsilon, seed),
    )
    return blocks


@shared_cache
def live_blocks(settings: CertificateSettings, method: str, D: int, n_blocks: int) -> dict:
    """The same, packed for the live view."""
    blocks = certified_blocks(settings, method, D, n_blocks)
    X, y = settings.sample
    return pack_blocks(blocks, SimpleNamespace(X=X, y=y), map_extent(settings.data))


@shared_cache
def peeking(n: int, epsilon: float) -> toy_certificates.Peeking:
    """How often bounds on n rows fail for the best of LOOKS guesses."""
    return toy_certificates.peeking(n, epsilon, LOOKS)


@shared_cache
def certificate_curves(settings: CertificateSettings) -> dict[str, tuple[toy_certificates.PosteriorCertificate, ...]]:
    """Certificates of all methods at COUNTS."""
    every = [(method, D) for method in METHODS.values() for D in COUNTS]
    votes = workers.results({one: partial(certified_vote, settings, *one) for one in every})
    return {method: tuple(votes[method, D].certificate() for D in COUNTS) for method in METHODS.values()}
