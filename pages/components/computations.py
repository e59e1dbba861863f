"""Engine calls, cached by frozen descriptions of what is computed.

Arrays are shared between sessions and therefore read-only. What depends on beta is cached apart from what does not,
so that moving beta never draws or sums anything anew.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import streamlit as st

import datasets
import rff_engine as rff
from rff_engine.experiments import toy

#: Points of the fresh sample that test errors are measured on, and cells along a side of a map.
TEST_POINTS = 2000
MAP_CELLS = 64


@dataclass(frozen=True)
class ToyData:
    """A toy sample, to the seed."""

    name: str
    n: int
    noise: float
    seed: int

    def sample(self) -> datasets.Dataset:
        return datasets.make_toy(self.name, self.n, self.noise, self.seed)

    def fresh_sample(self, n: int = TEST_POINTS) -> datasets.Dataset:
        """Other points of the same distribution."""
        return datasets.make_toy(self.name, n, self.noise, self.seed + 1_000_003)


@dataclass(frozen=True)
class LandmarkSettings:
    """All that a landmark experiment depends on but beta and C."""

    data: ToyData
    sigma: float
    n_frequencies: int
    n_landmarks: int
    selection: str | tuple[int, ...]


def _frozen(value):
    """Make all arrays inside a result read-only."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif is_dataclass(value):
        for field in fields(value):
            _frozen(getattr(value, field.name))
    elif isinstance(value, dict):
        for part in value.values():
            _frozen(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _frozen(part)
    return value


@st.cache_resource(max_entries=64, show_spinner=False)
def toy_sample(data: ToyData) -> datasets.Dataset:
    return _frozen(data.sample())


@st.cache_resource(max_entries=64, show_spinner=False)
def toy_fresh_sample(data: ToyData, n: int = TEST_POINTS) -> datasets.Dataset:
    return _frozen(data.fresh_sample(n))


def map_extent(data: ToyData) -> float:
    """Half the side of the square that maps of a sample show: a little beyond its points."""
    return float(np.ceil(4.2 * np.abs(toy_sample(data).X).max()) / 4)


@st.cache_resource(max_entries=64, show_spinner=False)
def landmark_problem(settings: LandmarkSettings) -> toy.LandmarkProblem:
    sample = toy_sample(settings.data)
    return _frozen(
        toy.landmark_problem(
            sample.X,
            sample.y,
            rff.GaussianKernel(settings.sigma),
            settings.n_landmarks,
            settings.n_frequencies,
            settings.selection,
            random_state=settings.data.seed,
        )
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def landmark_view(settings: LandmarkSettings, beta: float, C: float) -> toy.LandmarkView:
    fresh = toy_fresh_sample(settings.data)
    problem = landmark_problem(settings)
    return _frozen(toy.landmark_view(problem, fresh.X, fresh.y, beta, C, map_extent(settings.data), MAP_CELLS))
