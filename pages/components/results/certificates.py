"""Cached results of the page on certificates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

import rff_engine as rff
from pages.components.controls.toy_data import ToyData, map_extent, read_only, toy_fresh_sample, toy_sample
from pages.components.server import workers
from pages.components.server.cache import shared_cache
from rff_engine.experiments.toy import certificates as toy_certificates
from rff_engine.figures.style import METHOD_NAMES

#: Methods by their labels.
METHODS = {METHOD_NAMES[method]: method for method in toy_certificates.METHODS}
#: Numbers of frequencies of the curves.
CURVE_COUNTS = (5, 10, 20, 50, 100)
#: Numbers of classifiers that are looked at.
LOOKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)


@dataclass(frozen=True)
class CertificateSettings:
    """The points, and how the classifier is fitted and certified, except for its frequencies."""

    data: ToyData
    sigma: float
    beta: float
    tries: int
    prior_fraction: float
    epsilon: float

    def fit(self, method: str, D: int):
        """The certified classifier of a method with D frequencies."""
        sample = toy_sample(self.data)
        return toy_certificates.certified_classifier(
            sample.X, sample.y, rff.GaussianKernel(self.sigma), method, D, *self.choices
        )

    @property
    def choices(self) -> tuple:
        """Arguments of `certified_classifier` from beta on."""
        # Not the stream of the points.
        seed = int(np.random.SeedSequence((self.data.seed, 5)).generate_state(1)[0])
        return self.beta, self.tries, self.prior_fraction, self.epsilon, seed


@shared_cache
def certificate_and_votes(
    settings: CertificateSettings, method: str, D: int
) -> tuple[toy_certificates.Certificate, np.ndarray]:
    """The certificate, and the votes over the plane, (G, G)."""
    model, fresh = settings.fit(method, D), toy_fresh_sample(settings.data)
    votes = toy_certificates.share_of_votes(model, map_extent(settings.data))
    return toy_certificates.certificate(model, fresh.X, fresh.y), read_only(votes)


@shared_cache
def certificate_curve(settings: CertificateSettings, method: str) -> tuple[toy_certificates.Certificate, ...]:
    """Certificates of a method at CURVE_COUNTS."""
    sample, fresh = toy_sample(settings.data), toy_fresh_sample(settings.data)
    points = sample.X, sample.y, fresh.X, fresh.y, rff.GaussianKernel(settings.sigma)
    return workers.compute(toy_certificates.certificate_curves, *points, method, CURVE_COUNTS, *settings.choices)


@shared_cache
def peeking(n: int, epsilon: float) -> toy_certificates.Peeking:
    """How often bounds on n rows fail for the best of LOOKS guesses."""
    return read_only(toy_certificates.peeking(n, epsilon, LOOKS))


def certificate_curves(settings: CertificateSettings) -> dict[str, tuple[toy_certificates.Certificate, ...]]:
    """Certificates of all methods at CURVE_COUNTS."""
    return workers.results({method: partial(certificate_curve, settings, method) for method in METHODS.values()})
