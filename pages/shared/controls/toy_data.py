"""Toy samples, cached by a frozen description."""

from __future__ import annotations

import datasets
from datasets.toy_data import TEST_POINTS, ToyData
from pages.shared.server.cache import shared_cache


@shared_cache
def toy_sample(data: ToyData) -> datasets.Dataset:
    return data.sample()


@shared_cache
def toy_fresh_sample(data: ToyData, n: int = TEST_POINTS) -> datasets.Dataset:
    return data.fresh_sample(n)


@shared_cache
def map_extent(data: ToyData) -> float:
    """Return half the side of the square that maps of a sample show."""
    return data.extent
