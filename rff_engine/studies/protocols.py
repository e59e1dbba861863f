"""Protocols of the papers as data: grids, sizes, methods and caps; and a run of one on splits of a data set.

`LetarteProtocol` has the feature sweep (Letarte et al. 2019, Figures 3 and 5) and the landmark study (Table 1, Figures
2 and 6), `LiProtocol` the kernel approximation (Li et al. 2019, Table 2) and the feature comparison (Table 3). Each has
presets: as in the paper, on a coarser grid for many splits, or a minute long. Nothing is run here.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from itertools import product
from typing import Any, ClassVar, Self

from .._validation import check_choice, check_count
from .feature_methods import METHODS, UNLABELLED, VARIANTS
from .problem import Row

VERSION = 1
"""Of the meaning of protocols. It rises when a change alters results: rows of other versions are then not reused."""
PRESETS = {
    "paper": "the paper's grid and sizes: minutes to hours",
    "splits": "a coarser grid, for many random splits",
    "quick": "fewer sizes and rows, about a minute",
}
"""By name, in words"""


def _powers_of_ten(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{k}") for k in range(low, high + 1))


# fmt: off
_SWEPT_D = (
    1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180, 200, 225, 250, 275,
    300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 950, 1000, 1250, 1500, 1750, 2000, 2500, 3000,
    3500, 4000, 4500, 5000,
)
# fmt: on


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Fields that every protocol has; one that is empty or out of range raises a ValueError.

    Parameters
    ----------
    n_features : tuple of int
        Numbers of frequencies.
    methods : tuple of str
        Some of `known_methods`.
    scaling : {"none", "standard"}
        "standard" brings each column to mean 0 and variance 1 on the training rows (sparse ones to variance 1 alone).
    max_train : int, optional
        Train on at most this many rows, drawn at random; the note of every result row then says how many.
    """

    n_features: tuple[int, ...]
    methods: tuple[str, ...]
    scaling: str = "none"
    max_train: int | None = None

    name: ClassVar[str]
    known_methods: ClassVar[tuple[str, ...]]
    splits: ClassVar[tuple[str, ...]]
    """Kinds of splits; the first is the default"""
    presets: ClassVar[dict[str, dict[str, Any]]]
    """Fields that a preset changes, by its name"""
    min_rows: ClassVar[int]
    """Lower limit of `max_train` and other caps on rows"""

    def __post_init__(self) -> None:
        _check_counts("n_features", self.n_features)
        _check_names("methods", self.methods, self.known_methods)
        check_choice(self.scaling, "scaling", ("none", "standard"))
        self._check_caps("max_train")

    def _check_caps(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) is not None:
                _check_counts(name, (getattr(self, name),), low=self.min_rows)

    def conditions(self, method: str) -> dict[str, Any]:
        """Return fields that a row of a method depends on, without its own settings and the rest of the grid."""
        return {"scaling": self.scaling, "max_train": self.max_train, "version": VERSION}

    def settings(self) -> list[Row]:
        """List settings of all rows on a split, in table order: the method, and what distinguishes its rows."""
        raise NotImplementedError

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """Make the protocol of the paper ("paper"), on a coarser grid ("splits"), or a short one ("quick").

        Parameters
        ----------
        name : str
            One of `PRESETS`.
        **changes
            Fields to set to other values.
        """
        check_choice(name, "preset", tuple(PRESETS))
        return cls(**(cls.presets[name] | changes))


@dataclass(frozen=True, kw_only=True)
class LetarteProtocol(Protocol):
    """Fields of the feature sweep and the landmark study: an RBF SVM chooses gamma, linear SVMs choose C.

    Parameters
    ----------
    n_features, methods, scaling, max_train
        See `Protocol`. The paper does not scale columns.
    gammas : tuple of float
        Grid of the Gaussian kernel's gamma = 1 / (2 sigma^2), which the SVM baseline chooses from.
    Cs : tuple of float
        Grid of C, for the baseline and for every linear SVM. Of equal validation errors the first C wins.
    gamma : float, optional
        A fixed gamma in place of the choice; the baseline then varies C alone, and is left out when it is not
        among the methods.
    max_train_svm : int, optional
        Train the baseline, which chooses gamma, on at most this many rows; the notes then say so.
    refit_svm : bool
        Whether the baseline, once its C and gamma are chosen on these fewer rows, is trained on all of them.
    precision : {"auto", "float64"}
        Precision of all but the baseline, which is in float64. "auto" gives the linear SVMs float32 features, and
        computes these from float32 points if the kernel's phases are small enough for it.
    """

    gammas: tuple[float, ...] = _powers_of_ten(-7, 2)
    Cs: tuple[float, ...] = _powers_of_ten(-5, 4)
    gamma: float | None = None
    max_train_svm: int | None = None
    refit_svm: bool = False
    precision: str = "auto"

    splits: ClassVar[tuple[str, ...]] = ("published", "random")
    min_rows: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_grid("gammas", self.gammas)
        _check_grid("Cs", self.Cs)
        if self.gamma is not None:
            _check_grid("gamma", (self.gamma,))
        self._check_caps("max_train_svm")
        if not isinstance(self.refit_svm, bool):
            raise ValueError(f"refit_svm is {self.refit_svm!r}; it must be True or False.")
        check_choice(self.precision, "precision", ("auto", "float64"))

    def conditions(self, method: str) -> dict[str, Any]:
        names = ["gammas", "Cs", "gamma", "max_train_svm"]
        if method != "svm":
            names.append("precision")
        elif self.refit_svm:
            names.append("refit_svm")
        return super().conditions(method) | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class FeatureSweep(LetarteProtocol):
    """Test error against the number of random features (Letarte et al. 2019, Section 6.2, Figures 3 and 5).

    Parameters
    ----------
    n_candidates : int
        N, frequencies drawn from the prior.
    n_features : tuple of int
        The D's, each up to N.
    betas : tuple of float
        Inverse temperatures of the pseudo-posterior (method "pbrff").
    rhos : tuple of float
        Radii of the optimized kernel (method "okrff"), divided by N: 1 leaves no constraint.
    methods : tuple of str
        Of "svm", "rff", "pbrff", "okrff".
    gammas, Cs, gamma, max_train, max_train_svm, refit_svm, precision, scaling
        See `LetarteProtocol`. The preset "quick" chooses gamma on at most 1000 training rows.
    """

    n_candidates: int = 20000
    n_features: tuple[int, ...] = _SWEPT_D
    betas: tuple[float, ...] = _powers_of_ten(-3, 3)
    rhos: tuple[float, ...] = _powers_of_ten(-4, 0)
    methods: tuple[str, ...] = ("svm", "rff", "pbrff", "okrff")

    name: ClassVar[str] = "features"
    known_methods: ClassVar[tuple[str, ...]] = ("svm", "rff", "pbrff", "okrff")
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {},
        "splits": {
            "n_features": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
            "betas": (1e-2, 1e-1, 1.0, 10.0),
            "rhos": (1e-4, 1e-2, 1.0),
        },
        "quick": {
            "n_candidates": 5000,
            "n_features": (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 400),
            "betas": _powers_of_ten(-1, 2),
            "rhos": _powers_of_ten(-3, -1),
            "max_train_svm": 1000,
        },
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_counts("n_candidates", (self.n_candidates,))
        if max(self.n_features) > self.n_candidates:
            raise ValueError(
                f"n_features contains {max(self.n_features)}; at most n_candidates, {self.n_candidates}, is allowed."
            )
        _check_grid("betas", self.betas)
        _check_grid("rhos", self.rhos, high=1)

    def settings(self) -> list[Row]:
        rows: list[Row] = [{"method": "svm"}] if "svm" in self.methods else []
        for method, field, values in (("rff", "", (None,)), ("pbrff", "beta", self.betas), ("okrff", "rho", self.rhos)):
            for value in values if method in self.methods else ():
                setting = {"method": method} | ({field: value} if field else {})
                rows += [setting | {"D": D} for D in sorted(self.n_features)]
        return rows

    def conditions(self, method: str) -> dict[str, Any]:
        learned = method in ("pbrff", "okrff")
        return super().conditions(method) | ({"n_candidates": self.n_candidates} if learned else {})


@dataclass(frozen=True, kw_only=True)
class LandmarkStudy(LetarteProtocol):
    """Test error of landmark representations (Letarte et al. 2019, Section 6.1, Table 1, Figures 2 and 6).

    Parameters
    ----------
    shares : tuple of float
        Landmarks as fractions of the training rows.
    selections : tuple of str
        Of "random" and "clustering".
    n_features : tuple of int
        The D's: frequencies a landmark has.
    betas : tuple of float
        Inverse temperatures of the pseudo-posteriors (method "pb_landmarks").
    methods : tuple of str
        Of "svm", "rbf_landmarks", "pb_landmarks".
    gammas, Cs, gamma, max_train, max_train_svm, refit_svm, precision, scaling
        See `LetarteProtocol`. The preset "quick" trains on at most 2000 rows, and chooses gamma on at most 1000.
    """

    shares: tuple[float, ...] = (0.01, 0.05, 0.10, 0.15, 0.20, 0.25)
    selections: tuple[str, ...] = ("random", "clustering")
    n_features: tuple[int, ...] = (8, 16, 32, 64, 128)
    betas: tuple[float, ...] = _powers_of_ten(-3, 3)
    methods: tuple[str, ...] = ("svm", "rbf_landmarks", "pb_landmarks")

    name: ClassVar[str] = "landmarks"
    known_methods: ClassVar[tuple[str, ...]] = ("svm", "rbf_landmarks", "pb_landmarks")
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {},
        "splits": {"shares": (0.01, 0.05, 0.10), "n_features": (16, 64), "betas": _powers_of_ten(-2, 2)},
        "quick": {
            "shares": (0.01, 0.05, 0.10),
            "n_features": (16, 64),
            "betas": _powers_of_ten(-1, 2),
            "max_train": 2000,
            "max_train_svm": 1000,
        },
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_grid("shares", self.shares, high=1)
        _check_names("selections", self.selections, ("random", "clustering"))
        _check_grid("betas", self.betas)

    def settings(self) -> list[Row]:
        rows: list[Row] = [{"method": "svm"}] if "svm" in self.methods else []
        for selection, share in product(self.selections, self.shares):
            setting = {"landmarks": selection, "share": share}
            if "rbf_landmarks" in self.methods:
                rows.append({"method": "rbf_landmarks"} | setting)
            if "pb_landmarks" in self.methods:
                grid = product(sorted(self.n_features), self.betas)
                rows += [{"method": "pb_landmarks", "D": D, "beta": beta} | setting for D, beta in grid]
        return rows


@dataclass(frozen=True, kw_only=True)
class LiProtocol(Protocol):
    """Fields of the kernel approximation and the feature comparison: methods of one kernel, each on its own.

    The kernel is Gaussian with 2 sigma^2 = d. Splits are 2:1, except for data sets with their own test rows.

    Parameters
    ----------
    n_features : tuple of int
        The r's: frequencies, and landmarks of the methods that need some.
    methods : tuple of str
        Names of `feature_methods.METHODS`; by default all but `feature_methods.VARIANTS`.
    scaling, max_train
        See `Protocol`. The paper scales columns.
    max_rows : int, optional
        Split at most this many rows of the data set, drawn at random; the note of every result row then says so.
    """

    n_features: tuple[int, ...] = (50, 100, 200)
    methods: tuple[str, ...] = tuple(name for name in UNLABELLED if name not in VARIANTS)
    scaling: str = "standard"
    max_rows: int | None = None

    known_methods: ClassVar[tuple[str, ...]] = UNLABELLED
    splits: ClassVar[tuple[str, ...]] = ("random",)
    min_rows: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_caps("max_rows")

    def conditions(self, method: str) -> dict[str, Any]:
        conditions = super().conditions(method) | {"study": self.name}
        # Rows stored before this condition existed matched only the scale if the covariance is singular.
        return conditions | {"covariance": "of the span"} if method == "moment_matching" else conditions


@dataclass(frozen=True, kw_only=True)
class KernelApproximation(LiProtocol):
    """Relative error of kernel matrices approximated by features (Li et al. 2019, Table 2).

    A result's train_error is ||K~ - K||_F / ||K||_F on the training rows, its test_error that on the test rows.

    Parameters
    ----------
    n_features, methods, scaling, max_rows, max_train
        See `LiProtocol`. Methods that use labels are not among those known.
    max_evaluated : int, optional
        Measure the errors on at most this many training rows, and test rows, drawn at random; the notes then say so.
    """

    max_evaluated: int | None = 10000

    name: ClassVar[str] = "approximation"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {},
        "splits": {},
        "quick": {"n_features": (10, 20, 40), "max_rows": 3000},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_evaluated is not None:
            _check_counts("max_evaluated", (self.max_evaluated,), low=2)

    def settings(self) -> list[Row]:
        return [{"method": method, "D": r} for r, method in product(self.n_features, self.methods)]

    def conditions(self, method: str) -> dict[str, Any]:
        return super().conditions(method) | {"max_evaluated": self.max_evaluated}


@dataclass(frozen=True, kw_only=True)
class FeatureComparison(LiProtocol):
    """Test error of linear models on features (Li et al. 2019, Table 3).

    Ridge regression, with root mean squares as errors, or the linear SVM with the squared hinge loss, one class
    against the others if there are more than two. Both minimise ``||w||^2 / 2 + C sum of losses``; C is chosen by
    cross-validation on the training rows. Its error is a result's valid_error. Methods that use labels are fitted
    again on the training rows of each fold.

    Parameters
    ----------
    n_features, methods, scaling, max_rows, max_train
        See `LiProtocol`.
    Cs : tuple of float
        Grid of C. Of equal errors the first wins.
    betas : tuple of float
        Inverse temperatures of the pseudo-posterior (method "pbrff").
    rhos : tuple of float
        Radii of the optimized kernel (method "align"), divided by r.
    folds : int
        Of the cross-validation, at least 2.
    """

    n_features: tuple[int, ...] = (200,)
    methods: tuple[str, ...] = tuple(name for name in METHODS if name not in VARIANTS)
    Cs: tuple[float, ...] = _powers_of_ten(-3, 5)
    betas: tuple[float, ...] = (0.1, 1.0)
    rhos: tuple[float, ...] = (1e-3, 1e-2)
    folds: int = 5

    name: ClassVar[str] = "comparison"
    known_methods: ClassVar[tuple[str, ...]] = tuple(METHODS)
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {},
        "splits": {},
        "quick": {"n_features": (40,), "max_rows": 3000},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_grid("Cs", self.Cs)
        _check_grid("betas", self.betas)
        _check_grid("rhos", self.rhos, high=1)
        _check_counts("folds", (self.folds,), low=2)

    def settings(self) -> list[Row]:
        grids: dict[str, list[Row]] = {
            "pbrff": [{"beta": beta} for beta in self.betas],
            "align": [{"rho": rho} for rho in self.rhos],
        }
        return [
            {"method": method, "D": r} | setting
            for r, method in product(self.n_features, self.methods)
            for setting in grids.get(method, [{}])
        ]

    def conditions(self, method: str) -> dict[str, Any]:
        return super().conditions(method) | {"Cs": self.Cs, "folds": self.folds}


PROTOCOLS: dict[str, type[FeatureSweep | LandmarkStudy | KernelApproximation | FeatureComparison]] = {
    kind.name: kind for kind in (FeatureSweep, LandmarkStudy, KernelApproximation, FeatureComparison)
}
"""By the names that commands and run ids use"""
TARGETS_OF_LETARTE: dict[str, type[LandmarkStudy | FeatureSweep]] = {
    "table1": LandmarkStudy,
    "figure2": LandmarkStudy,
    "figure3": FeatureSweep,
    "figure5": FeatureSweep,
    "figure6": LandmarkStudy,
}
"""Tables and figures with their protocols; Figures 2 and 3 show some data sets of Figures 6 and 5"""
TARGETS_OF_LI: dict[str, type[KernelApproximation | FeatureComparison]] = {
    "li-table2": KernelApproximation,
    "li-table3": FeatureComparison,
}
TARGETS: dict[str, type[LetarteProtocol | LiProtocol]] = {**TARGETS_OF_LETARTE, **TARGETS_OF_LI}
"""Tables and figures of both papers that can be rerun"""


def check_protocol(protocol: object) -> None:
    """Raise a ValueError unless it is an instance of one of `PROTOCOLS`."""
    if type(protocol) not in PROTOCOLS.values():
        known = ", ".join(kind.__name__ for kind in PROTOCOLS.values())
        raise ValueError(f"protocol is {protocol!r}; it must be one of {known}.")


@dataclass(frozen=True)
class RunSpec:
    """A protocol on splits of a data set, with consecutive seeds.

    Parameters
    ----------
    dataset : str
        A name that the package `datasets` knows.
    split : {"published", "random"}
        The paper's, the same for every repeat, or one drawn from the seed of the repeat. By default the first that
        the protocol has: no split of Li et al. (2019) is published.
    seed : int
        Of the first repeat.

    Raises
    ------
    ValueError
        If a field is of the wrong kind or out of range.
    """

    protocol: Protocol
    dataset: str
    split: str | None = None
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_protocol(self.protocol)
        if self.split is None:
            object.__setattr__(self, "split", self.protocol.splits[0])
        check_choice(self.split, "split", self.protocol.splits)
        check_count(self.repeats, "repeats")
        check_count(self.seed, "seed", low=0)

    @property
    def run_id(self) -> str:
        """Protocol, data set, split, and a digest of all fields."""
        digest = hashlib.sha256(f"{VERSION} {self.to_json()}".encode()).hexdigest()[:8]
        return f"{self.protocol.name}-{self.dataset}-{self.split}-{digest}"

    def to_json(self) -> str:
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        content["protocol"] = {"study": self.protocol.name} | asdict(self.protocol)
        if not content["protocol"].get("refit_svm", True):
            # Stores hold runs from before this field existed; their ids must stay the same.
            del content["protocol"]["refit_svm"]
        return json.dumps(content, sort_keys=True, default=lambda number: number.item())

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        content = json.loads(text)
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in content["protocol"].items()
        }
        protocol = PROTOCOLS[values.pop("study")](**values)
        return cls(**content | {"protocol": protocol})


def split_source(dataset: str, split: str | None, protocol: Protocol | None = None) -> Callable[[int], Any]:
    """Return a function from the seed of a repeat to its split; it reads the data once.

    Parameters
    ----------
    dataset, split : str
        See `RunSpec`.
    protocol : Protocol, optional
        Protocol that the split is for; ``None`` stands for one of Letarte et al. (2019).

    Raises
    ------
    ValueError
        If there is no such data set, it is not here, the protocol is not for it, or the paper does not split it so.
    """
    import rff_datasets as datasets

    if isinstance(protocol, LiProtocol):
        data = datasets.load(dataset)
        return lambda seed: datasets.two_part_split(data, seed, protocol.max_rows)
    if split is None:
        split = LetarteProtocol.splits[0]
    if split == "published":
        published = datasets.published_split(dataset)
        return lambda seed: published
    data = datasets.load(dataset)
    if data.task != "classification":
        raise ValueError(f"{dataset} is a data set for {data.task}; the protocols are for two classes.")
    return lambda seed: datasets.random_split(data, seed)


def _check_filled(name: str, values) -> None:
    if not isinstance(values, tuple) or not values:
        raise ValueError(f"{name} is {values!r}; a tuple of at least one value is needed.")
    if len(set(values)) < len(values):
        raise ValueError(f"{name} is {values!r}; every value may stand in it once.")


def _check_grid(name: str, values, high: float = math.inf) -> None:
    _check_filled(name, values)
    allowed = "every value must be a finite number above 0" + ("" if math.isinf(high) else f" and at most {high:g}")
    for value in values:
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not (real and math.isfinite(value) and value <= high and not value <= 0):
            raise ValueError(f"{name} contains {value!r}; {allowed}.")


def _check_counts(name: str, values, low: int = 1) -> None:
    _check_filled(name, values)
    for value in values:
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < low:
            raise ValueError(f"{name} contains {value!r}; every value must be a whole number of at least {low}.")


def _check_names(name: str, values, allowed) -> None:
    _check_filled(name, values)
    for value in values:
        if value not in allowed:
            raise ValueError(f"{name} contains {value!r}; allowed are {', '.join(map(repr, allowed))}.")
