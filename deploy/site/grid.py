"""What the static edition has: its pages, and the settings for which each is computed.

The settings of a page are products of a few values; what a product does not name has the page's default. Presets and
lessons bring their own settings. Sliders of a live view are listed only for the sections below it, whose figures are
computed beforehand: of the view itself the browser computes what they change. A view of samples is computed by the
browser altogether.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import datasets
from rff_engine.experiments.toy import certificates
from rff_engine.figures.bounds import BOUND_NAMES
from rff_engine.figures.style import METHOD_NAMES


@dataclass(frozen=True)
class Edition:
    """A page of the static edition."""

    page: str
    """Name of its file below pages/, and of the file that is written"""
    name: str
    """In the menu"""
    view: str = ""
    """Its live view, if it has one"""
    products: tuple[dict[str, tuple], ...] = ()
    """Values by control"""
    samples: tuple[dict[str, tuple], ...] = ()
    """Values of the controls that choose a sample, where the browser computes the view from draws"""
    sections: tuple[dict[str, tuple], ...] = ()
    """The same for the sections below a live view, which take longer to compute"""
    sections_only: tuple[str, ...] = ()
    """Controls that change nothing but these sections, and are not offered"""
    tabs: str = ""
    """The control whose values are parts of the page; all of them are shown, one below the other"""
    left_out: tuple[str, ...] = ()
    """Deferred parts of the page that are not exported"""

    def settings(self) -> Iterator[dict]:
        """The settings of all products; the first are the page's defaults."""
        yield {}
        yield from _combined(self.products)

    def settings_of_samples(self) -> Iterator[dict]:
        """The settings of all samples."""
        yield from _combined(self.samples)

    def settings_of_sections(self) -> Iterator[dict]:
        """The settings for which the sections below a live view are computed, besides the page's defaults."""
        yield from _combined(self.sections)


def _combined(products: Iterable[dict[str, tuple]]) -> Iterator[dict]:
    for values in products:
        yield from (dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


TOY = datasets.toy_names()
INPUTS = datasets.toy_input_names()
KERNELS = ("Gaussian", "Laplacian", "Matérn", "Cauchy")
CERTIFIED = tuple(METHOD_NAMES[method] for method in certificates.METHODS)
BETAS = (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0)
SAMPLES = ({"data": TOY, "n": (30, 50, 100, 200, 300, 500, 1000), "seed": tuple(range(5))},)
PAGES = (
    Edition("start", "Start here", "opening"),
    Edition(
        "kernel",
        "A kernel is a prior",
        products=(
            {"D": (1, 2, 5, 10, 20, 100, 200)},
            {"kernel": KERNELS, "width": (0.251, 0.501, 1.0)},
            {"kernel": ("Matérn",), "nu": (0.5, 50.0)},
        ),
    ),
    Edition(
        "landmarks",
        "Landmarks",
        "landmarks",
        (),
        SAMPLES,
        (
            {"data": TOY},
            {"beta": BETAS},
            {"D": (5, 256)},
            {"sigma": (0.2, 1.0)},
            {"seed": (1,)},
            {"noise": (0.3,)},
            {"n": (30, 1000)},
            {"landmarks": (2, 8)},
            {"how": ("k-means",)},
        ),
        ("C",),
    ),
    Edition(
        "learn_kernel",
        "Learn the kernel",
        "kernel",
        (),
        SAMPLES,
        (
            {"data": TOY},
            {"beta": BETAS},
            {"rho": (0.0001, 1.0)},
            {"sigma": (0.501, 1.0)},
            {"seed": (1,)},
            {"n": (30, 1000)},
            {"N": (100,)},
        ),
        ("C", "D"),
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
        sections=(
            {"data": TOY},
            {"beta": BETAS},
            {"n": (30, 100, 1000)},
            {"form": ("paper",)},
            {"price": (True,)},
            {"bound": ("Theorem 4",)},
            {"N": (20, 2000)},
            {"eps": (0.01, 0.5)},
            {"seed": (1, 2)},
            {"union": (10, 100)},
            {"mu": (2.0, 10.0)},
        ),
        tabs="question",
    ),
    Edition(
        "certificates",
        "Certificates",
        "certificate",
        ({"method": CERTIFIED}, {"prior": (0.0, 0.5)}, {"data": ("moons", "circles", "xor")}),
    ),
    Edition(
        "approximate",
        "Approximate a kernel",
        products=(
            {"second": ("Orthogonal", "Sobol", "Weight", "Sample", "Cluster", "Nyström"), "data": ("wine", "moons")},
            {"first": ("Sobol", "Sample"), "second": ("Nyström", "Sample")},
            {"r": (10, 20, 100, 200)},
            {"data": (*TOY, "digits")},
            {"kernel": KERNELS},
            {"width": (0.501, 2.0)},
            {"seed": (1,)},
        ),
        left_out=("learning",),  # its times belong to the machine that measures them
    ),
    Edition(
        "adaptive",
        "Adaptive frequencies",
        "descent",
        (
            {"data": INPUTS, "r": (5, 20, 50)},
            {"data": ("line", "moons", "clusters"), "landmarks": (10, 100), "method": ("Sample", "Cluster")},
            {"data": ("line", "moons", "clusters"), "sigma": (0.501, 2.0), "r": (5, 20)},
            {"data": ("line", "moons", "clusters"), "seed": (1, 2)},
        ),
        sections=(
            {"data": INPUTS},
            {"r": (5, 50)},
            {"ridge": (0.001,)},
            {"sigma": (0.501, 2.0)},
            {"landmarks": (10, 100)},
            {"method": ("Cluster",)},
            {"seed": (1,)},
        ),
    ),
)
