"""Toy samples, cached by a frozen description."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

import datasets
from datasets.toy import ToyDraw, draw_toy
from pages.shared.controls import own_points
from pages.shared.server.cache import shared_cache

#: Points of the fresh sample that test errors are measured on.
TEST_POINTS = 2000
#: Added to the seed of a sample for that of its fresh sample.
FRESH_SEED = 1_000_003


@dataclass(frozen=True)
class ToyData:
    """Description of a toy sample, seed included."""

    name: str
    n: int
    noise: float
    seed: int
    points: str = ""
    """The code of the reader's own points, which then are the sample"""

    def sample(self) -> datasets.Dataset:
        if self.points:
            return datasets.given_points(own_points.decode(self.points))
        return datasets.make_toy(self.name, self.n, self.noise, self.seed)

    def fresh_sample(self, n: int = TEST_POINTS) -> datasets.Dataset:
        """Other points from the same distribution; of the reader's own points, copies moved by the noise."""
        if self.points:
            return datasets.noisy_copies(self.sample(), n, self.noise, self.seed + FRESH_SEED)
        return datasets.make_toy(self.name, n, self.noise, self.seed + FRESH_SEED)

    def draws(self) -> ToyDraw | SimpleNamespace:
        """What the sample is made of, whatever its noise; the reader's own points have none."""
        if self.points:
            return _without_noise(self.sample())
        return draw_toy(self.name, self.n, self.seed)

    def fresh_draws(self, n: int = TEST_POINTS) -> ToyDraw | SimpleNamespace:
        """The same of the fresh sample; copies of the reader's own points are moved by the noise already."""
        if self.points:
            return _without_noise(self.fresh_sample(n))
        return draw_toy(self.name, n, self.seed + FRESH_SEED)

    @property
    def without_noise(self) -> ToyData:
        """The sample that has the same draws."""
        return replace(self, noise=0.0)

    @property
    def test_error(self) -> str:
        """Name of the error on the fresh sample."""
        return "error on noisy copies" if self.points else "test error"

    @property
    def fresh_points(self) -> str:
        """The fresh sample in words."""
        kind = "copies of your points, moved by the noise" if self.points else "fresh points"
        return f"{TEST_POINTS} {kind}"


def _without_noise(sample: datasets.Dataset) -> SimpleNamespace:
    """Points without draws of noise."""
    return SimpleNamespace(positions=sample.X, normals=None, y=sample.y)


@shared_cache
def toy_sample(data: ToyData) -> datasets.Dataset:
    return data.sample()


@shared_cache
def toy_fresh_sample(data: ToyData, n: int = TEST_POINTS) -> datasets.Dataset:
    return data.fresh_sample(n)


def map_extent(data: ToyData) -> float:
    """Half the side of the square that maps of a sample show, a little larger than the sample."""
    if data.points:  # the square in which they are placed: a new point moves no map
        return own_points.EXTENT
    return float(np.ceil(4.2 * np.abs(toy_sample(data).X).max()) / 4)
