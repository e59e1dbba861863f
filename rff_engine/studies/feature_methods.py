"""Methods that fit random features of a kernel, by name: Li et al. (2019, Tables 2 and 3) have most of them.

A method is fitted on training rows. It then maps any rows to features whose inner products approximate the kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import qmc

from .._typing import ArrayLike, MatrixLike, RandomState
from .._validation import as_numbers, as_points, as_rng, check_choice, check_count, draw_seed
from ..adaptive import (
    adapt_frequencies,
    feature_weights,
    kernel_landmarks,
    relative_kernel_error,
    supervise_frequencies,
)
from ..alignment import alignment_loss
from ..features import fourier_features, phases
from ..frequencies import SAMPLING_SCHEMES, draw_frequencies
from ..kernels import SpectralKernel
from ..nystroem import NystroemMap
from ..posteriors import optimized_kernel_weights, pseudo_posterior

TASKS = ("regression", "classification")
# Candidates for each frequency from the pseudo-posterior.
_CANDIDATES = 10
_ROWS = 4096  # of phases in memory at a time
# Stopping rules of descents. Stored rows depend on them, so they do not follow the functions' defaults.
_ADAPTED = {"max_steps": 150, "tol": 1e-3}
_SUPERVISED = {"max_steps": 60, "tol": 1e-3}
# T and S of Algorithms 1 and 2. The paper does not give them; they stop at the same relative decrease as above.
_ALTERNATED = {"max_steps": 150, "inner_steps": 10, "tol": 1e-3, "solver": "alternating"}
# Fixed rates mu by r: SAMPLE descends well with them, but they are too large for the centroids of mnist01. The default
# rate is the inverse of the largest curvature at the start. A gradient is of the order of a weight, 1 / r.
_LARGE_RATE, _LARGER_RATE, _LARGEST_RATE = 1 / 40, 1 / 30, 1 / 26
# The decay of Algorithm 2 is one of the choices of `supervise_frequencies`: choosing takes four times as long.
_ALTERNATED_SUPERVISED = {"max_steps": 30, "inner_steps": 5, "tol": 1e-3, "solver": "alternating", "decay": 1e-3}
# Half the steps: the paper does not say after how many steps it took its numbers.
_ALTERNATED_15_STEPS = _ALTERNATED_SUPERVISED | {"max_steps": 15}
# One step of the descent of the tables, for the same reason.
_ONE_STEP = _SUPERVISED | {"max_steps": 1}
# Defaults of the published generator of Yang et al.
_SKIPPED, _LEAPED = 1000, 700
# Ridges of WEIGHT's regression, chosen on held-out rows.
_WEIGHT_RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class FourierMap:
    """Cosines and sines at chosen frequencies."""

    frequencies: np.ndarray
    """(r, d)"""
    weights: np.ndarray | None = None
    """(r,), see `fourier_features`; ``None`` stands for 1/r each"""

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Compute features of the rows of `X`, (n, 2 r), in its precision."""
        return fourier_features(X, self.frequencies, self.weights)


def fit_features(
    name: str,
    X: MatrixLike,
    y: ArrayLike | None,
    kernel: SpectralKernel,
    r: int,
    random_state: RandomState = None,
    task: str = "classification",
    **parameters: float,
) -> FourierMap | NystroemMap:
    """Fit the features of a method on training rows.

    Methods that start from frequencies of the kernel start from the same ones at the same `random_state`.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    X : array or CSR matrix of shape (N, d)
    y : array of shape (N,), optional
        Classes, or targets of a regression, for the methods in `LABELLED`.
    r : int
        Number of frequencies, and of landmarks for methods that need some.
    task : {"classification", "regression"}
        Kind of `y`.
    **parameters
        ``beta`` of "pbrff", ``rho`` (divided by r) of "align".

    Returns
    -------
    FourierMap or NystroemMap
        With ``transform(X)`` of shape (n, 2 r), for Nyström (n, r).

    Raises
    ------
    ValueError
        If the method is unknown, a method in `LABELLED` has no `y`, or a value is not allowed.
    """
    method = METHODS[check_choice(name, "name", tuple(METHODS))]
    X = as_points(X)
    check_count(r, "r")
    check_choice(task, "task", TASKS)
    rng = as_rng(random_state)
    if name not in LABELLED:
        return method(X, kernel, r, rng, **parameters)
    if y is None:
        raise ValueError(f"y is None; the method {name!r} needs one label a row.")
    return method(X, y, kernel, r, rng, task, **parameters)


def tolerance(name: str) -> float:
    """Return the largest relative difference between errors of a method on two processors."""
    check_choice(name, "name", tuple(METHODS))
    return _DESCENDED_TOLERANCE if name in DESCENDED else _DRAWN_TOLERANCE


def _sampled(sampling: str, X, kernel, r, rng):
    return FourierMap(draw_frequencies(kernel, r, X.shape[1], sampling, rng))


def _weighted(X, kernel, r, rng):
    """Draw Monte Carlo frequencies; fit nonnegative weights to the kernel on sampled rows (Chang et al. 2017)."""
    omega = draw_frequencies(kernel, r, X.shape[1], random_state=rng)
    landmarks, shares = kernel_landmarks(X, min(r, X.shape[0]), "sample", rng)
    return FourierMap(omega, feature_weights(landmarks, kernel, omega, shares))


def _regressed(X, kernel, r, rng):
    """Draw Monte Carlo frequencies, weighted by a ridge regression of the kernel (Chang et al. 2017).

    Half of the sampled rows fit the weights, the other half choose the ridge. Negative weights, which no feature map
    has, are set to 0.
    """
    omega = draw_frequencies(kernel, r, X.shape[1], random_state=rng)
    rows, _ = kernel_landmarks(X, min(2 * r, X.shape[0]), "sample", rng)
    fitted, held_out = np.split(rows, [-(-rows.shape[0] // 2)])
    held_out = held_out if len(held_out) else fitted
    weights = [feature_weights(fitted, kernel, omega, ridge=ridge, signed=True).clip(min=0) for ridge in _WEIGHT_RIDGES]
    errors = [relative_kernel_error(held_out, kernel, fourier_features(held_out, omega, p)) for p in weights]
    return FourierMap(omega, weights[int(np.argmin(errors))])


def _leaped(X, kernel, r, rng):
    """Take every 701st point of Sobol's scrambled sequence after the first 1000, as the code of Yang et al. (2014)."""
    sequence = qmc.Sobol(kernel.uniforms_per_frequency(X.shape[1]), rng=np.random.default_rng(draw_seed(rng)))
    sequence.fast_forward(_SKIPPED)
    points = []
    with warnings.catch_warnings():  # one point is no balanced set
        warnings.filterwarnings("ignore", message="The balance properties of Sobol", category=UserWarning)
        for _ in range(r):
            points.append(sequence.random(1)[0])
            sequence.fast_forward(_LEAPED)
    return FourierMap(kernel.frequencies_at(np.clip(points, 2.0**-53, 1 - 2.0**-53)))


def _adapted(selection: str, X, kernel, r, rng, rule=None, rate_by_r: float | None = None):
    """Fit frequencies and weights to the kernel on landmarks: SAMPLE and CLUSTER of Li et al. (2019)."""
    omega = draw_frequencies(kernel, r, X.shape[1], random_state=rng)
    landmarks, shares = kernel_landmarks(X, min(r, X.shape[0]), selection, rng)
    rule = _ADAPTED if rule is None else rule
    rate = None if rate_by_r is None else rate_by_r * r
    adapted = adapt_frequencies(landmarks, kernel, omega, shares, learning_rate=rate, **rule)
    return FourierMap(adapted.frequencies, adapted.weights)


def _nystroem(selection: str, X, kernel, r, rng):
    return NystroemMap.on(kernel, kernel_landmarks(X, min(r, X.shape[0]), selection, rng)[0])


def _aligned(X, y, kernel, r, rng, task, rho: float = 0.01):
    """Draw Monte Carlo frequencies weighted by the optimized kernel: ALIGN (Sinha and Duchi 2016)."""
    omega = draw_frequencies(kernel, r, X.shape[1], random_state=rng)
    return FourierMap(omega, optimized_kernel_weights(_alignment_loss(X, y, omega, task), rho))


def _pseudo_posterior(X, y, kernel, r, rng, task, beta: float = 1.0):
    """Draw frequencies from the pseudo-posterior on ten times as many candidates (Letarte et al. 2019)."""
    omega = draw_frequencies(kernel, _CANDIDATES * r, X.shape[1], random_state=rng)
    Q = pseudo_posterior(_alignment_loss(X, y, omega, task), beta, X.shape[0])
    return FourierMap(omega[rng.choice(len(omega), size=r, p=Q)])


def _supervised(X, y, kernel, r, rng, task, rule=None):
    """Minimise a predictor's loss and the kernel approximation's loss together: SUPERVISE of Li et al. (2019).

    The predictor has unweighted features: the weights belong to the approximation.
    """
    omega = draw_frequencies(kernel, r, X.shape[1], random_state=rng)
    rule = _SUPERVISED if rule is None else rule
    supervised = supervise_frequencies(X, y, kernel, omega, task=task, random_state=rng, **rule)
    return FourierMap(supervised.frequencies)


def _supervised_as_printed(rule, X, y, kernel, r, rng, task):
    """Run SUPERVISE by Algorithm 2, for a classification with the hinge loss."""
    loss = "hinge" if task == "classification" else "smooth"
    return _supervised(X, y, kernel, r, rng, task, rule | {"loss": loss})


def _alignment_loss(X, y, omega, task):
    """Return `alignment_loss`; a regression uses products of standardised targets in place of +1 and -1."""
    if task == "classification":
        return alignment_loss(X, y, omega)
    y = as_numbers(y, "y")
    n = len(y)
    y = (y - y.mean()) / (y.std() or 1.0)
    cosines, sines = np.zeros((2, len(omega)))
    for start in range(0, n, _ROWS):
        rows = slice(start, start + _ROWS)
        angle = phases(X[rows], omega)
        cosines += y[rows] @ np.cos(angle)
        sines += y[rows] @ np.sin(angle)
    return (1 - (cosines**2 + sines**2 - y @ y) / (n * (n - 1))) / 2


VARIANTS = {
    "moment_matching_unscaled": "moment_matching",
    "sobol_leaped": "sobol",
    "weight_regression": "weight",
    "sample_alternating": "sample",
    "cluster_alternating": "cluster",
    "sample_large_steps": "sample",
    "cluster_large_steps": "cluster",
    "cluster_larger_steps": "cluster",
    "cluster_largest_steps": "cluster",
    "supervise_alternating": "supervise",
    "supervise_alternating_15": "supervise",
    "supervise_one_step": "supervise",
}
"""Methods as their papers or published code have them, and the methods that stand for them here"""
#: Schemes of `draw_frequencies`.
SAMPLED = tuple(name for name in SAMPLING_SCHEMES if name not in VARIANTS)
METHODS: dict[str, Callable[..., FourierMap | NystroemMap]] = {
    **{name: partial(_sampled, name) for name in SAMPLED},
    "weight": _weighted,
    "align": _aligned,
    "pbrff": _pseudo_posterior,
    "sample": partial(_adapted, "sample"),
    "cluster": partial(_adapted, "cluster"),
    "nearest": partial(_adapted, "nearest"),
    "supervise": _supervised,
    "nystroem": partial(_nystroem, "sample"),
    "nystroem_kmeans": partial(_nystroem, "cluster"),
    "moment_matching_unscaled": partial(_sampled, "moment_matching_unscaled"),
    "sobol_leaped": _leaped,
    "weight_regression": _regressed,
    "sample_alternating": partial(_adapted, "sample", rule=_ALTERNATED),
    "cluster_alternating": partial(_adapted, "cluster", rule=_ALTERNATED),
    "sample_large_steps": partial(_adapted, "sample", rule=_ALTERNATED, rate_by_r=_LARGE_RATE),
    "cluster_large_steps": partial(_adapted, "cluster", rule=_ALTERNATED, rate_by_r=_LARGE_RATE),
    "cluster_larger_steps": partial(_adapted, "cluster", rule=_ALTERNATED, rate_by_r=_LARGER_RATE),
    "cluster_largest_steps": partial(_adapted, "cluster", rule=_ALTERNATED, rate_by_r=_LARGEST_RATE),
    "supervise_alternating": partial(_supervised_as_printed, _ALTERNATED_SUPERVISED),
    "supervise_alternating_15": partial(_supervised_as_printed, _ALTERNATED_15_STEPS),
    "supervise_one_step": partial(_supervised, rule=_ONE_STEP),
}
"""Functions by name, called by `fit_features`. "nearest" is "cluster" with the row nearest to each centroid."""
LABELLED = ("align", "pbrff", *(name for name in METHODS if name.startswith("supervise")))
"""Methods that use labels"""
DESCENDED = (
    "sample",
    "cluster",
    "nearest",
    "supervise",
    *(name for name, usual in VARIANTS.items() if usual in ("sample", "cluster", "supervise")),
)
"""Methods whose frequencies minimise a nonconvex loss: which minimum they reach depends on the processor's rounding"""
# Relative differences between processors, measured between OpenBLAS's kernels for AVX2 and AVX-512 and between two
# machines: at most 7.3e-9 for drawn features, for descended ones 1e-3 on wine, 2.1e-2 on parkinson. Drawn features are
# float32, and so is now their factor D^-1/2, which moves errors by up to 3.4e-7.
# More steps do not help: tol 1e-5 in place of 1e-3 takes ten times as many, and errors still differ by up to 6 %.
_DRAWN_TOLERANCE, _DESCENDED_TOLERANCE = 1e-6, 0.05
UNLABELLED = tuple(name for name in METHODS if name not in LABELLED)
"""Methods without labels, `VARIANTS` included"""
