"""Descriptions of toy samples, by which results are kept and programs repeat them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from .dataset import Dataset
from .points import EXTENT, decode_points, given_points, noisy_copies
from .toy import ToyDraw, draw_toy, make_toy

#: Points of the fresh sample that test errors are measured on.
TEST_POINTS = 2000
#: Added to the seed of a sample for that of its fresh sample.
FRESH_SEED = 1_000_003


@dataclass(frozen=True)
class ToyData:
    """Description of a toy sample and of the fresh sample that its test errors are measured on, seed included."""

    name: str
    n: int
    noise: float
    seed: int
    points: str = ""
    """The code of the reader's own points, which then are the sample"""

    def sample(self) -> Dataset:
        if self.points:
            return given_points(decode_points(self.points))
        return make_toy(self.name, self.n, self.noise, self.seed)

    def fresh_sample(self, n: int = TEST_POINTS) -> Dataset:
        """Other points from the same distribution; of the reader's own points, copies moved by the noise."""
        if self.points:
            return noisy_copies(self.sample(), n, self.noise, self.seed + FRESH_SEED)
        return make_toy(self.name, n, self.noise, self.seed + FRESH_SEED)

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
    def extent(self) -> float:
        """Half the side of the square that maps of the sample show, a little larger than the sample."""
        if self.points:  # the square in which they are placed: a new point moves no map
            return EXTENT
        return float(np.ceil(4.2 * np.abs(self.sample().X).max()) / 4)

    @property
    def test_error(self) -> str:
        """Name of the error on the fresh sample."""
        return "error on noisy copies" if self.points else "test error"

    @property
    def fresh_points(self) -> str:
        """The fresh sample in words."""
        kind = "copies of your points, moved by the noise" if self.points else "fresh points"
        return f"{TEST_POINTS} {kind}"


def _without_noise(sample: Dataset) -> SimpleNamespace:
    """Points without draws of noise."""
    return SimpleNamespace(positions=sample.X, normals=None, y=sample.y)
