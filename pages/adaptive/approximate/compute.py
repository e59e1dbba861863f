"""A kernel on the rows of a data set, approximated by every method: errors, frequencies and error maps.

After `pip install ".[experiments]" ./datasets/data` in a copy of the repository, from any folder:
python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd

import rff_engine as rff
from rff_datasets import load, make_toy
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.nystroem import NystroemMap
from rff_engine.studies.feature_methods import SAMPLED, FourierMap, fit_features
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: Real data sets on the page; rows are drawn from them.
REAL_DATA = ("wine", "breast", "digits")
#: Rows of the approximated kernel matrix.
ROWS = 300
#: Methods to compare.
METHODS = (*SAMPLED, "weight", "sample", "cluster", "nearest", "nystroem", "nystroem_kmeans", "align", "pbrff")
#: Methods that draw frequencies in sequence: the first r of a sample are the sample for r.
SEQUENCES = ("monte_carlo", "orthogonal", "structured_orthogonal", "fastfood", "halton", "sobol", "digital_net")
#: Size of their samples; other methods are fitted for each r.
MOST_FREQUENCIES = 200
#: Numbers of frequencies of error curves, and draws at each; fewer of both for descents, which cost more.
R_VALUES, DRAWS = (5, 10, 20, 50, 100, 200), 5
DESCENT = ("sample", "cluster", "nearest")
DESCENT_R_VALUES = (5, 10, 20, 50)
DESCENT_DRAWS = 2
_SHARE_SHOWN = 0.97
Result = TypeVar("Result")


@dataclass(frozen=True)
class ApproximationSettings:
    """The rows and the kernel that all methods approximate; not every kernel uses `nu`."""

    data: str
    kernel_name: str
    width: float
    nu: float
    seed: int
    n_rows: int = ROWS

    def rows_and_kernel(self) -> tuple[ApproximationRows, rff.SpectralKernel]:
        """Draw the rows, and scale the kernel to their dimension."""
        rows = approximation_rows(self.data, self.seed, self.n_rows)
        return rows, self.scaled_kernel(rows.X.shape[1])

    def scaled_kernel(self, d: int) -> rff.SpectralKernel:
        """Return the kernel, its width relative to standardised data of dimension d.

        At width 1 the Gaussian kernel has 2 sigma^2 = d, as in the experiments of Li et al. (2019); the others are
        about as far from 1 at the distances of such data.
        """
        named = KERNELS_BY_TITLE[self.kernel_name]
        return named.of_width(self.width * named.distance(d), nu=self.nu)


@dataclass(frozen=True)
class ApproximationRows:
    """Rows of a data set, whose kernel matrix is approximated, and a plane to project them to."""

    X: np.ndarray
    """(n, d), columns of mean 0 and variance 1"""
    y: np.ndarray
    """(n,)"""
    task: str
    """"classification" or "regression\""""
    centre: np.ndarray
    """(d,), the row nearest to the mean"""
    axes: np.ndarray
    """(d, 2), orthonormal: the coordinate axes if d = 2, else the first two principal axes"""
    in_plane: np.ndarray
    """(n, 2), the rows in the plane, relative to the centre"""

    @property
    def extent(self) -> float:
        """Half the side of a square around the centre that holds all rows in the plane."""
        return float(np.ceil(2.1 * np.abs(self.in_plane).max()) / 2)


def approximation_rows(name: str, seed: int, n_rows: int = ROWS) -> ApproximationRows:
    """Draw rows of a real or a toy data set."""
    sample = load(name) if name in REAL_DATA else make_toy(name, n_rows, 0.1, seed)
    return scaled_rows(sample.X, sample.y, sample.task, n_rows, seed)


def scaled_rows(X: np.ndarray, y: np.ndarray, task: str, n_rows: int, seed: int) -> ApproximationRows:
    """Draw rows in random order and bring their columns to mean 0 and variance 1, as Li et al. (2019) do.

    Leave out the columns of X (N, d) that are constant on the drawn rows.
    """
    chosen = np.random.default_rng(seed).permutation(len(X))[:n_rows]
    X = X[chosen].astype(float)
    X = X[:, np.ptp(X, axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    centre = X[np.argmin((X**2).sum(axis=1))]
    axes = np.eye(2)
    if X.shape[1] > 2:
        axes = np.linalg.svd(X, full_matrices=False)[2][:2].T
        # The sign of an axis is arbitrary: a positive largest entry makes it the same on every machine.
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    return ApproximationRows(X, y[chosen], task, centre, axes, (X - centre) @ axes)


# --- errors ---------------------------------------------------------------------------------------------------------


def curve_counts(method: str) -> tuple[int, ...]:
    """Return the numbers of frequencies of the error curve of a method."""
    return DESCENT_R_VALUES if method in DESCENT else R_VALUES


def approximation_errors(settings: ApproximationSettings, method: str) -> np.ndarray:
    """Compute errors ||K~ - K||_F / ||K||_F on the rows that features are fitted to (Li et al. 2019), (R, draws).

    R counts the values of `curve_counts`: frequencies, or landmarks of the Nystroem methods. Raise a ValueError if the
    kernel does not allow the method.
    """
    counts = curve_counts(method)
    if method in SEQUENCES:
        return sequence(settings, method).errors.T[[r - 1 for r in counts]]
    return fitted_errors(settings, method, counts, DESCENT_DRAWS if method in DESCENT else DRAWS)


def fitted_errors(settings: ApproximationSettings, method: str, r_values: tuple[int, ...], n_draws: int) -> np.ndarray:
    """Compute the errors of features that are fitted for each r; draw i has a seed for all methods and r."""
    rows, kernel = settings.rows_and_kernel()
    exact = kernel(rows.X)

    def error(r: int, draw: int) -> float:
        return _relative_error(exact, _fit(rows, kernel, method, r, settings.seed, draw), rows.X)

    return np.array([[error(r, draw) for draw in range(n_draws)] for r in r_values])


@dataclass(frozen=True)
class FrequencySequence:
    """Samples of one of the `SEQUENCES`: the first r frequencies are the sample for r."""

    frequencies: np.ndarray
    """(MOST_FREQUENCIES, 2), of the first draw, in the plane"""
    errors: np.ndarray
    """(n_draws, MOST_FREQUENCIES), ||K~ - K||_F / ||K||_F with the first 1, 2, ... frequencies"""


def sequence(settings: ApproximationSettings, method: str, n_draws: int = DRAWS) -> FrequencySequence:
    """Draw one of `SEQUENCES`: frequencies of the first draw, and the errors of every number of them for all draws."""
    rows, kernel = settings.rows_and_kernel()
    exact = kernel(rows.X)
    draws = [_sample(rows, kernel, method, settings.seed, i) for i in range(n_draws)]
    return FrequencySequence(draws[0] @ rows.axes, np.array([_first_errors(exact, rows.X, omega) for omega in draws]))


def _first_errors(exact, X, omega) -> np.ndarray:
    """Compute the errors of the first 1, 2, ... frequencies.

    Frequency j alone has the kernel matrix A_j = c_j c_j' + s_j s_j' of its cosines and sines. The squared error of r
    is ||K||^2 - 2 sum_j <A_j, K> / r + sum_jl <A_j, A_l> / r^2, with products of matrices as of vectors.
    """
    r = np.arange(1, len(omega) + 1)
    waves = rff.fourier_features(X, omega, np.ones(len(omega)))
    with_exact = ((exact @ waves) * waves).sum(axis=0).reshape(2, -1).sum(axis=0)
    with_each_other = ((waves.T @ waves) ** 2).reshape(2, len(r), 2, len(r)).sum(axis=(0, 2))
    squares = with_each_other.cumsum(axis=0).cumsum(axis=1).diagonal()
    total = np.sum(exact**2)
    return np.sqrt(np.maximum(total - 2 * with_exact.cumsum() / r + squares / r**2, 0) / total)


def too_few_to_match(r_values: Iterable[int], d: int) -> list[int]:
    """Return the numbers of frequencies at which "moment_matching" matches the covariance in a subspace alone."""
    return [r for r in r_values if r <= d]


def _fit(rows, kernel, method, r, seed, draw) -> FourierMap | NystroemMap:
    if method not in SEQUENCES:
        return fit_features(method, rows.X, rows.y, kernel, r, _child(seed, draw), rows.task)
    if not 1 <= r <= MOST_FREQUENCIES:
        raise ValueError(f"r is {r}, but must be from 1 to {MOST_FREQUENCIES}.")
    return FourierMap(_sample(rows, kernel, method, seed, draw)[:r])


def _sample(rows, kernel, method, seed, draw) -> np.ndarray:
    return rff.draw_frequencies(kernel, MOST_FREQUENCIES, rows.X.shape[1], method, _child(seed, draw))


def _child(*seeds) -> int:
    return int(np.random.SeedSequence(seeds).generate_state(1)[0])


def _relative_error(exact, fitted, X) -> float:
    features = fitted.transform(X)
    return float(np.linalg.norm(features @ features.T - exact) / np.linalg.norm(exact))


def of_fitting(methods: Iterable[str], compute: Callable[[str], Result]) -> tuple[dict[str, Result], dict[str, str]]:
    """Return the results of `compute` by method, and the reasons why other methods do not fit the kernel."""
    results: dict[str, Result] = {}
    refused: dict[str, str] = {}
    for method in methods:
        try:
            results[method] = compute(method)
        except ValueError as error:
            refused[method] = str(error)
    return results, refused


# --- in the plane ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MethodView:
    """One draw of a method's features, projected to the plane."""

    frequencies: np.ndarray | None
    """(r, 2), in the plane; None for Nyström features"""
    weights: np.ndarray | None
    """(r,), summing to about 1; None for Nyström features"""
    landmarks: np.ndarray | None
    """(r, 2), in the plane, relative to the centre; None for Fourier features"""
    error: float
    """||K~ - K||_F / ||K||_F on the rows"""
    error_map: np.ndarray
    """(G, G), |k~(x, c) - k(x, c)| for x in the plane through the centre c"""


def method_view(settings: ApproximationSettings, method: str, r: int, cells: int = 71) -> MethodView:
    """Compute frequencies and error map of the first draw; the extent of the rows is half the side of the map."""
    rows, kernel = settings.rows_and_kernel()
    fitted = _fit(rows, kernel, method, r, settings.seed, 0)
    approximate = fitted.transform(_plane(rows, cells)) @ fitted.transform(rows.centre[None])[0]
    error_map = np.abs(approximate.reshape(cells, cells) - plane_kernel(settings, cells))
    error = _relative_error(kernel(rows.X), fitted, rows.X)
    if isinstance(fitted, NystroemMap):
        return MethodView(None, None, (fitted.landmarks - rows.centre) @ rows.axes, error, error_map)
    weights = np.full(r, 1 / r) if fitted.weights is None else fitted.weights
    return MethodView(fitted.frequencies @ rows.axes, weights, None, error, error_map)


def plane_kernel(settings: ApproximationSettings, cells: int = 71) -> np.ndarray:
    """Compute k(x, c) for x in the plane through the centre c, (cells, cells), as `MethodView.error_map`."""
    rows, kernel = settings.rows_and_kernel()
    return kernel(_plane(rows, cells), rows.centre[None])[:, 0].reshape(cells, cells)


def _plane(rows, cells) -> np.ndarray:
    return rows.centre + plane_points(cell_centres(rows.extent, cells)) @ rows.axes.T


def frequency_extent(settings: ApproximationSettings) -> float:
    """Return half the side of a square that holds the share `_SHARE_SHOWN` of the frequencies in a plane."""
    _, kernel = settings.rows_and_kernel()
    sampled = kernel.sample_frequencies(4000, 2, 0)
    return float(np.quantile(np.abs(sampled).max(axis=1), _SHARE_SHOWN))


# --- numbers --------------------------------------------------------------------------------------------------------


def numbers(settings: ApproximationSettings, pair: tuple[str, str], r: int, methods: Sequence[str]) -> pd.DataFrame:
    """Return all numbers of the page except the maps, as one table; a method that does not fit the kernel has none.

    Frequencies and landmarks are those in the plane.
    """
    views, _ = of_fitting(pair, lambda method: method_view(settings, method, r))
    errors, _ = of_fitting(methods, partial(approximation_errors, settings))
    frames = {
        **of_two_methods(pair, [views.get(method) for method in pair]),
        "errors": _of_curves({method: curve_counts(method) for method in errors}, errors),
    }
    frames = {name: frame for name, frame in frames.items() if len(frame)}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


def of_two_methods(pair: Sequence[str], views: Sequence[MethodView | None]) -> dict[str, pd.DataFrame]:
    """Return errors, frequencies and landmarks of both sides; a view is None if its method does not fit."""
    errors, frequencies, landmarks = [], [], []
    for side, method, view in zip(("left", "right"), pair, views, strict=True):
        if view is None:
            continue
        errors.append((side, method, view.error, view.error_map.max()))
        if view.landmarks is not None:
            landmarks += [(side, method, *x) for x in view.landmarks]
        else:
            weighted = zip(view.frequencies, view.weights, strict=True)
            frequencies += [(side, method, *omega, weight) for omega, weight in weighted]
    return {
        "two methods": pd.DataFrame(errors, columns=["side", "method", "error", "largest_error_in_plane"]),
        "frequencies": pd.DataFrame(frequencies, columns=["side", "method", "omega_1", "omega_2", "weight"]),
        "landmarks": pd.DataFrame(landmarks, columns=["side", "method", "x_1", "x_2"]),
    }


def _of_curves(counts, errors) -> pd.DataFrame:
    """Return the error of every method, number r of features and draw."""
    rows = [
        (method, r, draw, error)
        for method, of_method in errors.items()
        for r, draws in zip(counts[method], of_method, strict=True)
        for draw, error in enumerate(draws)
    ]
    return pd.DataFrame(rows, columns=["method", "r", "draw", "error"])


if __name__ == "__main__":
    # The experiment
    first = "monte_carlo"  # see METHODS
    second = "sample"
    r = 50  # frequencies of these two, at most MOST_FREQUENCIES
    data = "wine"  # or "breast", "digits", or a toy data set
    kernel = "Gaussian"  # or "Laplacian", or another title in rff_engine.kernels.KERNELS
    width = 1.0  # 1: 2 sigma^2 is the number of columns
    nu = 1.5  # smoothness of the Matérn kernel; the others have none
    seed = 0
    methods = ("monte_carlo", "orthogonal", "sobol", "weight", "sample", "nystroem")  # of the error curves

    settings = ApproximationSettings(data, kernel, width, nu, seed)
    table = numbers(settings, (first, second), r, methods)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
