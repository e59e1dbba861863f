"""What an experiment runs, as data: grids, sizes, methods and caps.

Two protocols, the feature sweep (Letarte et al. 2019, Figures 3 and 5) and the landmark study (Table 1, Figures 2
and 6), each as in the paper or small enough to watch. How they are run is the business of `runner`.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace

from .._validation import check_choice

__all__ = ["PRESETS", "FeatureSweep", "LandmarkStudy", "Protocol"]

PRESETS = ("paper", "quick")


def _powers_of_ten(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{k}") for k in range(low, high + 1))


# fmt: off
_SWEPT_D = (
    1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180, 200, 225, 250, 275,
    300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 950, 1000, 1250, 1500, 1750, 2000, 2500, 3000,
    3500, 4000, 4500, 5000,
)
# fmt: on


@dataclass(frozen=True)
class Protocol:
    """What both protocols share.

    Parameters
    ----------
    gammas : tuple of float
        Grid of the Gaussian kernel's gamma = 1 / (2 sigma^2), which the SVM baseline chooses from.
    Cs : tuple of float
        Grid of C, for the baseline and for every linear SVM. Of equal validation errors the first C wins.
    gamma : float, optional
        A fixed gamma in place of the choice; the baseline then varies C alone, and is left out when it is not
        among the methods.
    max_train : int, optional
        Train on at most so many rows, drawn at random; every row of the result then says so in its note.
    max_train_svm : int, optional
        The same for the baseline alone, hence for the choice of gamma; the notes say so.
    precision : {"auto", "float64"}
        Of all but the baseline, which is in float64. "auto" gives the linear SVMs float32 features, and computes
        these from float32 points where the kernel's phases are small enough for it.
    """

    gammas: tuple[float, ...] = _powers_of_ten(-7, 2)
    Cs: tuple[float, ...] = _powers_of_ten(-5, 4)
    gamma: float | None = None
    max_train: int | None = None
    max_train_svm: int | None = None
    precision: str = "auto"

    def __post_init__(self):
        _check_grid("gammas", self.gammas)
        _check_grid("Cs", self.Cs)
        if self.gamma is not None:
            _check_grid("gamma", (self.gamma,))
        for name in ("max_train", "max_train_svm"):
            if getattr(self, name) is not None:
                _check_counts(name, (getattr(self, name),), low=2)
        check_choice(self.precision, "precision", ("auto", "float64"))


@dataclass(frozen=True)
class FeatureSweep(Protocol):
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
    gammas, Cs, gamma, max_train, max_train_svm, precision
        See `Protocol`.

    Raises
    ------
    ValueError
        If a field is empty or out of range.
    """

    n_candidates: int = 20000
    n_features: tuple[int, ...] = _SWEPT_D
    betas: tuple[float, ...] = _powers_of_ten(-3, 3)
    rhos: tuple[float, ...] = _powers_of_ten(-4, 0)
    methods: tuple[str, ...] = ("svm", "rff", "pbrff", "okrff")

    name = "features"
    known_methods = ("svm", "rff", "pbrff", "okrff")

    def __post_init__(self):
        super().__post_init__()
        _check_counts("n_candidates", (self.n_candidates,))
        _check_counts("n_features", self.n_features)
        if max(self.n_features) > self.n_candidates:
            raise ValueError(
                f"n_features contains {max(self.n_features)}; at most n_candidates, {self.n_candidates}, is allowed."
            )
        _check_grid("betas", self.betas)
        _check_grid("rhos", self.rhos, high=1)
        _check_names("methods", self.methods, self.known_methods)

    @classmethod
    def preset(cls, name: str, **changes) -> FeatureSweep:
        """The protocol of the paper ("paper"), or one of a minute or less ("quick"), with fields changed at will.

        "quick" chooses gamma on at most 1000 training rows.
        """
        _check_preset(name)
        return cls(**changes) if name == "paper" else replace(_QUICK_SWEEP, **changes)


@dataclass(frozen=True)
class LandmarkStudy(Protocol):
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
    gammas, Cs, gamma, max_train, max_train_svm, precision
        See `Protocol`.

    Raises
    ------
    ValueError
        If a field is empty or out of range.
    """

    shares: tuple[float, ...] = (0.01, 0.05, 0.10, 0.15, 0.20, 0.25)
    selections: tuple[str, ...] = ("random", "clustering")
    n_features: tuple[int, ...] = (8, 16, 32, 64, 128)
    betas: tuple[float, ...] = _powers_of_ten(-3, 3)
    methods: tuple[str, ...] = ("svm", "rbf_landmarks", "pb_landmarks")

    name = "landmarks"
    known_methods = ("svm", "rbf_landmarks", "pb_landmarks")

    def __post_init__(self):
        super().__post_init__()
        _check_grid("shares", self.shares, high=1)
        _check_names("selections", self.selections, ("random", "clustering"))
        _check_counts("n_features", self.n_features)
        _check_grid("betas", self.betas)
        _check_names("methods", self.methods, self.known_methods)

    @classmethod
    def preset(cls, name: str, **changes) -> LandmarkStudy:
        """The protocol of the paper ("paper"), or one of a minute or less ("quick"), with fields changed at will.

        "quick" trains on at most 2000 rows, and chooses gamma on at most 1000.
        """
        _check_preset(name)
        return cls(**changes) if name == "paper" else replace(_QUICK_STUDY, **changes)


def _check_preset(name) -> None:
    if name not in PRESETS:
        raise ValueError(f"preset is {name!r}; it must be one of {', '.join(map(repr, PRESETS))}.")


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
        if not (real and math.isfinite(value) and 0 < value <= high):
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


_QUICK_SWEEP = FeatureSweep(
    n_candidates=5000,
    n_features=(1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 400),
    betas=_powers_of_ten(-1, 2),
    rhos=_powers_of_ten(-3, -1),
    max_train_svm=1000,
)
_QUICK_STUDY = LandmarkStudy(
    shares=(0.01, 0.05, 0.10),
    n_features=(16, 64),
    betas=_powers_of_ten(-1, 2),
    max_train=2000,
    max_train_svm=1000,
)
