"""Descriptions of toy samples: keys of stored results, and what programs need to repeat them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from .dataset import Dataset
from .points import EXTENT, decode_points, given_points, noisy_copies
from .toy import ToyDraw, draw_toy, make_toy

#: Number of points of the fresh sample, which gives the test errors.
TEST_POINTS = 2000
#: The seed of a fresh sample is the seed of the sample plus this number.
FRESH_SEED = 1_000_003


@dataclass(frozen=True)
class ToyData:
    """Description of a toy sample, seed included, and of the fresh sample that gives its test errors."""

    name: str
    n: int
    noise: float
    seed: int
    points: str = ""
    """The code of the reader's own points; if it is not empty, they are the sample"""

    def sample(self) -> Dataset:
        if self.points:
            return given_points(decode_points(self.points))
        return make_toy(self.name, self.n, self.noise, self.seed)

    def fresh_sample(self, n: int = TEST_POINTS) -> Dataset:
        """Draw other points from the same distribution. The reader's own points are copied and moved by the noise."""
        if self.points:
            return noisy_copies(self.sample(), n, self.noise, self.seed + FRESH_SEED)
        return make_toy(self.name, n, self.noise, self.seed + FRESH_SEED)

    def draws(self) -> ToyDraw | SimpleNamespace:
        """Return positions, draws of noise and labels of the sample. The reader's own points have no draws of noise."""
        if self.points:
            return _without_noise(self.sample())
        return draw_toy(self.name, self.n, self.seed)

    def fresh_draws(self, n: int = TEST_POINTS) -> ToyDraw | SimpleNamespace:
        """Return the same for the fresh sample. Copies of the reader's own points are moved by the noise already."""
        if self.points:
            return _without_noise(self.fresh_sample(n))
        return draw_toy(self.name, n, self.seed + FRESH_SEED)

    @property
    def without_noise(self) -> ToyData:
        """The sample with the same draws and no noise."""
        return replace(self, noise=0.0)

    @property
    def extent(self) -> float:
        """Half the side of the square that maps of the sample show, a little larger than the sample."""
        if self.points:  # the square to place them in: a new point does not move the map
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
    """Return the points of a sample, without draws of noise."""
    return SimpleNamespace(positions=sample.X, normals=None, y=sample.y)
