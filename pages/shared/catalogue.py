"""The pages of the app: menus, links and the static edition are made from their records.

The module imports nothing of the app, and nothing that takes time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

#: In a `Grid`, all values that a control offers.
EVERY = None
#: Values by control.
Products = tuple[dict[str, tuple | None], ...]


@dataclass(frozen=True)
class Grid:
    """The settings for which the static edition has a page.

    They are products of a few values; a control that a product does not name has the page's default. Defaults, presets
    and lessons are added to them. Sliders of a live view are listed only for the sections below it, whose figures are
    computed beforehand: the browser itself recomputes the view. It also computes all of a view of samples.
    """

    products: Products = ()
    samples: Products = ()
    """Values of the controls that choose a sample, where the browser computes the view from draws"""
    sections: Products = ()
    """The same for the sections below a live view, which take longer to compute"""
    sections_only: tuple[str, ...] = ()
    """Controls that change nothing but these sections, and are not offered"""
    tabs: str = ""
    """The control whose values are parts of the page; all of them are shown, one below the other"""


def settings_of(products: Products, options: Callable[[str], Iterable]) -> Iterator[dict]:
    """Yield the settings of all products; `options(key)` has the values of a control that `EVERY` stands for."""
    for values in products:
        columns = [options(key) if chosen is EVERY else chosen for key, chosen in values.items()]
        yield from (dict(zip(values, row, strict=True)) for row in product(*columns))


@dataclass(frozen=True)
class Page:
    """A page of the app."""

    name: str
    """In its address"""
    title: str
    """In the menus"""
    icon: str = ""
    """Of Material Symbols"""
    menu: str = ""
    """The heading of its menu; empty: an entry of the bar itself"""
    of: str = ""
    """The name of the page that it is a tab of; no menu has it then"""
    former: tuple[str, ...] = ()
    """Addresses of pages that it replaces"""
    tab: str = ""
    """Its label among the tabs of a page"""
    question: str = ""
    """Its heading; empty: the page shows its own"""
    documentation: tuple[str, ...] = ()
    """Files below `docs/`; the page links to the first one at its end"""
    view: str = ""
    """Its live view, one of `live.parts.VIEWS`"""
    folder: str = ""
    """Below `pages/`, where it is not the name"""
    grid: Grid | None = None
    """Its pages in the static edition; None: no page"""
    measured: tuple[str, ...] = ("",)
    """Queries with which benchmarks and tests open it; none for a page that shows no figure by itself"""
    requests_at: tuple[str, ...] = ()
    """Controls at whose sliders the live view asks for more data"""

    @property
    def script(self) -> str:
        """Its script, from the root."""
        return f"pages/{self.folder or self.name}/page.py"

    @property
    def module(self) -> str:
        """Its script as a module."""
        return self.script.removesuffix(".py").replace("/", ".")

    @property
    def tabs(self) -> tuple[Page, ...]:
        """The page that it belongs to, and its tabs; empty if it has none."""
        first = self.of or self.name
        beside = tuple(page for page in PAGES if first in (page.name, page.of))
        return beside if len(beside) > 1 else ()

    @property
    def path(self) -> str:
        """Its address below the app's."""
        return "" if self.name == "start" else self.name


_MORE = "More"
_BETAS = (0.001, 0.01, 0.1, 10.0, 100.0, 1000.0)
_SAMPLES: Products = ({"data": EVERY, "n": (30, 50, 100, 200, 300, 500, 1000), "seed": tuple(range(5))},)
_SHIPPED = ("breast", "digits_odd", "wine_good", "ads", "adult", "farm", "mnist17", "mnist49", "mnist56")
_FEW_INPUTS = ("line", "moons", "clusters")

#: All pages, in the order of the menus.
PAGES = (
    Page(
        "start",
        "Start",
        "home",
        question="What if a kernel were only a first guess?",
        documentation=("tutorial.md",),
        view="radio",
        grid=Grid(),
    ),
    Page(
        "kernel",
        "Kernel",
        "ssid_chart",
        tab="Without labels",
        question="What does a kernel assume before it sees data?",
        documentation=("examples/01_kernel_as_prior.py",),
        view="prior",
        grid=Grid(
            ({"kernel": EVERY}, {"kernel": ("Matérn",), "nu": (0.5, 50.0)}),
            sections=(
                {"D": (1, 2, 5, 10, 20, 100, 200)},
                {"kernel": EVERY, "width": (0.251, 0.501, 1.0)},
                {"kernel": ("Matérn",), "nu": (0.5, 50.0)},
            ),
        ),
    ),
    Page(
        "learn_kernel",
        "Learn the kernel",
        of="kernel",
        tab="With labels",
        folder="kernel/learn",
        question="Which waves agree with the labels?",
        documentation=("examples/03_learn_a_kernel.py", "examples/04_few_features.py", "how-to/pipeline.md"),
        view="kernel",
        grid=Grid(
            samples=_SAMPLES,
            sections=(
                {"data": EVERY},
                {"beta": _BETAS},
                {"rho": (0.0001, 1.0)},
                {"sigma": (0.501, 1.0)},
                {"seed": (1,)},
                {"n": (30, 1000)},
                {"N": (100,)},
            ),
            sections_only=("D",),
        ),
        measured=("N=2000",),
    ),
    Page(
        "landmarks",
        "Landmarks",
        "star",
        question="What does a landmark learn about its neighbourhood?",
        documentation=("examples/02_landmarks.py",),
        view="landmarks",
        grid=Grid(
            samples=_SAMPLES,
            sections=(
                {"data": EVERY},
                {"beta": _BETAS},
                {"D": (5, 256)},
                {"sigma": (0.2, 1.0)},
                {"seed": (1,)},
                {"noise": (0.3,)},
                {"n": (30, 1000)},
                {"landmarks": (2, 8)},
                {"how": ("k-means",)},
            ),
            sections_only=("C",),
        ),
        measured=("landmarks=5&D=20&n=300", "landmarks=5&D=256&n=300", "landmarks=8&D=256&n=300"),
    ),
    Page(
        "bounds",
        "Bounds",
        "vertical_align_top",
        tab="Bounds on the loss",
        question="What does a bound guarantee, and what does it cost?",
        documentation=("how-to/read-a-bound.md", "examples/05_read_a_bound.py", "theory.md"),
        view="bounds",
        grid=Grid(
            (
                {"data": EVERY, "bound": EVERY},
                {"n": (30, 100, 1000), "bound": EVERY},
                {"form": ("paper",), "bound": EVERY},
                {"price": (True,), "bound": EVERY},
                {"N": (20, 2000), "bound": EVERY},
                {"eps": (0.01, 0.5), "bound": EVERY},
                {"seed": (1, 2), "bound": EVERY},
            ),
            sections=(
                {"data": EVERY},
                {"beta": _BETAS},
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
    ),
    Page(
        "certificates",
        "Certificates",
        of="bounds",
        tab="A certificate",
        folder="bounds/certificates",
        question="What can a classifier promise about itself?",
        documentation=("examples/06_certified_classifier.py", "certificates.md"),
        view="certificate",
        grid=Grid(
            ({"method": EVERY}, {"prior": (0.0, 0.5)}, {"data": ("moons", "circles", "xor")}),
            sections_only=("blocks", "arrived"),
            tabs="question",
        ),
        requests_at=("D",),
    ),
    Page(
        "real_data",
        "Data",
        "database",
        tab="Known data",
        folder="data",
        question="Do learned frequencies help on real data?",
        documentation=("how-to/choose-features.md",),
        view="errors",
        grid=Grid(
            ({"dataset": _SHIPPED, "beta": EVERY}, {"dataset": _SHIPPED, "study": ("landmarks",)}),
            sections=(
                {"dataset": _SHIPPED},
                {"beta": EVERY},
                {"shuffled": (False, True), "D": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)},
            ),
        ),
    ),
    Page(
        "your_data",
        "Your data",
        of="real_data",
        tab="Your table",
        folder="data/your_data",
        question="What does the kernel learn from your data?",
        documentation=("how-to/tables.md", "how-to/pipeline.md"),
        measured=(),
    ),
    Page(
        "adaptive",
        "Adaptive",
        "my_location",
        _MORE,
        question="Which frequencies do these points need?",
        former=("approximate",),
        documentation=("examples/08_adapt_frequencies.py", "examples/07_spread_frequencies.py"),
        view="descent",
        grid=Grid(
            (
                {"data": EVERY, "r": (5, 20, 50)},
                {"data": _FEW_INPUTS, "landmarks": (10, 100), "method": ("Sample", "Cluster")},
                {"data": _FEW_INPUTS, "sigma": (0.501, 2.0), "r": (5, 20)},
                {"data": _FEW_INPUTS, "seed": (1, 2)},
            ),
            sections=(
                {"data": EVERY},
                {"r": (5, 50)},
                {"ridge": (0.001,)},
                {"sigma": (0.501, 2.0)},
                {"landmarks": (10, 100)},
                {"method": ("Cluster",)},
                {"seed": (1,)},
            ),
        ),
    ),
    Page(
        "foundations",
        "Foundations",
        "foundation",
        _MORE,
        question="What lies beneath?",
        documentation=("theory.md",),
        view="lift",
        grid=Grid(
            sections=({"kernel": EVERY}, {"width": (0.251, 1.0)}, {"D": (2, 5, 20, 50, 200)}, {"seed": (1,)}),
            tabs="part",
        ),
    ),
    Page(
        "paper",
        "Papers",
        "compare_arrows",
        _MORE,
        tab="Results",
        folder="papers",
        question="Do the results reproduce?",
        documentation=("how-to/reproduce-a-table.md", "reproduction.md"),
    ),
    Page(
        "errata",
        "Errata",
        of="paper",
        tab="Formulas",
        question="Which printed formulas are wrong?",
        folder="papers/errata",
        measured=(),
    ),
    Page(
        "glossary",
        "Words",
        "menu_book",
        _MORE,
        question="What do the words mean?",
        measured=(),
    ),
)
BY_NAME = {page.name: page for page in PAGES}
