"""What the static edition has: its pages, and the settings for which each is computed.

The settings of a page are products of a few values; what a product does not name has the page's default. Presets and
lessons bring their own settings. Sliders of a live view are not listed: the browser computes what they change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import datasets
from rff_engine.figures.bounds import BOUND_NAMES


@dataclass(frozen=True)
class Edition:
    """A page of the static edition."""

    page: str
    """Name of its file below pages/, and of the file that is written"""
    name: str
    """In the menu"""
    view: str
    """Its live view"""
    products: tuple[dict[str, tuple], ...] = ()
    """Values by control"""
    numbers_only: tuple[str, ...] = ()
    """Controls that change no part of the page that is exported"""

    def settings(self) -> Iterator[dict]:
        """The settings of all products; the first are the page's defaults."""
        yield {}
        for values in self.products:
            yield from (dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


TOY = datasets.toy_names()
PAGES = (
    Edition("start", "Start here", "opening"),
    Edition(
        "landmarks",
        "Landmarks",
        "landmarks",
        (
            {"data": TOY, "sigma": (0.2, 0.501, 1.0)},
            {"data": TOY, "seed": (1,)},
            {"data": TOY, "noise": (0.3,)},
            {"data": ("moons", "circles"), "landmarks": (2, 8)},
            {"data": ("moons", "circles"), "n": (30, 1000)},
            {"data": ("moons", "circles", "spirals"), "how": ("k-means",)},
        ),
        ("C", "plain"),
    ),
    Edition(
        "learn_kernel",
        "Learn the kernel",
        "kernel",
        (
            {"data": TOY, "sigma": (0.251, 0.501)},
            {"data": ("moons", "checkerboard"), "seed": (1,)},
            {"data": ("checkerboard",), "noise": (0.3,)},
            {"data": ("checkerboard",), "n": (30, 1000)},
            {"data": ("checkerboard",), "N": (100, 500)},
        ),
        ("C", "D", "plain"),
    ),
    Edition(
        "bounds",
        "Bounds",
        "bounds",
        (
            {"data": TOY, "bound": tuple(BOUND_NAMES.values())},
            {"n": (30, 100, 1000), "bound": tuple(BOUND_NAMES.values())},
            {"form": ("paper",), "bound": tuple(BOUND_NAMES.values())},
            {"price": (True,), "bound": tuple(BOUND_NAMES.values())},
            {"N": (20, 2000), "bound": tuple(BOUND_NAMES.values())},
            {"eps": (0.01, 0.5), "bound": tuple(BOUND_NAMES.values())},
            {"seed": (1, 2), "bound": tuple(BOUND_NAMES.values())},
        ),
        ("plain", "question"),
    ),
    Edition(
        "adaptive",
        "Adaptive frequencies",
        "descent",
        (
            {"data": datasets.toy_input_names(), "r": (5, 20, 50)},
            {"data": ("line", "moons", "clusters"), "landmarks": (10, 100), "method": ("Sample", "Cluster")},
            {"data": ("line", "moons", "clusters"), "sigma": (0.501, 2.0), "r": (5, 20)},
            {"data": ("line", "moons", "clusters"), "seed": (1, 2)},
        ),
        ("ridge", "plain"),
    ),
)
