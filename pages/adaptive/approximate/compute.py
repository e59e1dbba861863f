"""A kernel on the rows of a data set, approximated by every method: errors, frequencies, error maps and variances.

Kernel ridge regression stands beside ridge regression on features; its times differ from machine to machine.

After `pip install ".[experiments]" ./datasets/data` in a copy of the repository, from any folder:
python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
import time
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
from rff_engine.studies.toy.kernel import estimate_variances
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: Real data sets on the page; rows are drawn from them.
REAL_DATA = ("wine", "breast", "digits")
#: Rows of the approximated kernel matrix, and rows of regressions, half of which train.
ROWS, REGRESSION_ROWS = 300, 1200
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
#: Simulated variances: their frequencies, draws and distances. A variance times the number of features does not depend
#: on the number of frequencies; one frequency makes its simulation least noisy.
VARIANCE_FREQUENCIES, VARIANCE_DRAWS, VARIANCE_POINTS = 1, 8000, 33
#: Timing of kernel ridge regression and of ridge regression on two kinds of features: points, and draws.
REGRESSIONS = ("kernel_ridge", "monte_carlo", "nystroem")
N_VALUES = (125, 250, 500, 1000, 2000)
REGRESSION_DRAWS = 3
#: lambda: the values to choose from, the value of the fits on a line, and the value of the timing.
LAMBDAS, LINE_LAMBDA, TIMED_LAMBDA = tuple(10.0**power for power in range(-7, 1)), 1e-2, 1e-3
#: Training points on the line.
LINE_POINTS = 40
_SHARE_SHOWN = 0.97
_REPEATS = 3  # of a measured time; the fastest counts
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


@dataclass(frozen=True)
class VarianceCurves:
    """Variances of the two feature maps' estimates of k(delta), times the number of features E."""

    distances: np.ndarray
    """(P,)"""
    kernel: np.ndarray
    """(P,), k(delta)"""
    expected: dict[str, np.ndarray]
    """(P,) each, by the formulas; keys "cos_sin" and "random_phase\""""
    simulated: dict[str, np.ndarray]
    """(P,) each"""


def variance_curves(
    settings: ApproximationSettings, D: int = VARIANCE_FREQUENCIES, n_draws: int = VARIANCE_DRAWS
) -> VarianceCurves:
    """Compute variances along a coordinate, at distances from 0, by formula (`estimate_variances`) and by simulation.

    The cos/sin map has `D` frequencies, and the random-phase map the same number of features.
    """
    rows, kernel = settings.rows_and_kernel()
    rng = np.random.default_rng(settings.seed)
    delta = np.linspace(0, 2 * rows.extent, VARIANCE_POINTS)
    points = delta[:, None]
    at_delta, at_twice = (kernel(scale * points, np.zeros((1, 1)))[:, 0] for scale in (1, 2))
    # Along a coordinate only that coordinate of a frequency matters, in any dimension. All draws at once.
    omega = kernel.sample_frequencies(2 * D * n_draws, 1, rng)
    offsets = rng.uniform(0, 2 * np.pi, len(omega))
    features = {
        # The cos/sin map takes D of the 2 D frequencies of a draw.
        "cos_sin": rff.fourier_features(points, omega[: D * n_draws], np.ones(D * n_draws)),
        "random_phase": rff.random_phase_features(points, omega, offsets) * np.sqrt(len(omega)),
    }
    products = {name: values * values[0] for name, values in features.items()}  # the first distance is 0
    estimates = {
        "cos_sin": products["cos_sin"].reshape(len(delta), 2, n_draws, D).sum(axis=1).mean(axis=-1),
        "random_phase": products["random_phase"].reshape(len(delta), n_draws, 2 * D).mean(axis=-1),
    }
    return VarianceCurves(
        distances=delta,
        kernel=at_delta,
        expected=estimate_variances(at_delta, at_twice),
        simulated={name: 2 * D * np.var(values, axis=1, ddof=1) for name, values in estimates.items()},
    )


# --- regression -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LineFit:
    """Regressions of noisy points on a line."""

    x: np.ndarray
    """(n,), training points"""
    y: np.ndarray
    """(n,)"""
    grid: np.ndarray
    """(G,)"""
    terms: np.ndarray
    """(n, G), alpha_i k(., x_i): kernel ridge regression is their sum"""
    fits: dict[str, np.ndarray]
    """(G,) each, by method"""
    landmarks: np.ndarray
    """(M,), of the Nyström features"""


def line_fit(settings: ApproximationSettings, r: int) -> LineFit:
    """Fit kernel ridge regression to a noisy curve, as a sum over its points, and its approximations by features.

    The training points are uniform on [-3, 3]. There are r frequencies and, where there are points enough, as many
    landmarks.
    """
    kernel = settings.scaled_kernel(1)
    rng = np.random.default_rng(settings.seed)
    x = np.sort(rng.uniform(-3, 3, LINE_POINTS))[:, None]
    y = np.sin(2 * x[:, 0]) + 0.3 * x[:, 0] + 0.2 * rng.standard_normal(LINE_POINTS)
    grid = np.linspace(-4, 4, 241)[:, None]
    alpha = rff.kernel_ridge_path(kernel(x), y, [LINE_LAMBDA])[0]
    terms = alpha[:, None] * kernel(x, grid)
    fits = {"kernel_ridge": terms.sum(axis=0)}
    landmarks, _ = rff.kernel_landmarks(x, min(r, LINE_POINTS), "sample", settings.seed)
    maps = {
        "monte_carlo": fit_features("monte_carlo", x, None, kernel, r, settings.seed),
        "nystroem": NystroemMap.on(kernel, landmarks),
    }
    for name, features in maps.items():
        coef, _ = rff.ridge_path(features.transform(x), y, [LINE_LAMBDA], intercept=False)
        fits[name] = features.transform(grid) @ coef[0]
    return LineFit(x[:, 0], y, grid[:, 0], terms, fits, landmarks[:, 0])


@dataclass(frozen=True)
class LearningErrors:
    """Test errors and times to fit against the number r of frequencies or landmarks."""

    r_values: tuple[int, ...]
    n: int
    """Training points"""
    errors: dict[str, np.ndarray]
    """(R, draws) by method; (1, 1) for "kernel_ridge", which has no r"""
    seconds: dict[str, np.ndarray]
    """(R,) by method; (1,) for "kernel_ridge\""""


def learning_errors(settings: ApproximationSettings) -> LearningErrors:
    """Compute errors on held-out rows of kernel ridge regression and of ridge regression on r features."""
    rows = approximation_rows(settings.data, settings.seed, REGRESSION_ROWS)
    kernel = settings.scaled_kernel(rows.X.shape[1])
    return regression_errors(rows, kernel, R_VALUES, REGRESSION_DRAWS, settings.seed)


def regression_errors(
    rows: ApproximationRows, kernel: rff.SpectralKernel, r_values: tuple[int, ...], n_draws: int, seed: int
) -> LearningErrors:
    """Fit a half of the rows, choose lambda on a quarter for each method, and test on a quarter.

    A regression's error is the root mean square in standard deviations of the target. A classification regresses on -1
    and 1, one class against the others if there are more than two; its error is the fraction of wrong classes.
    """
    X = rows.X
    targets, error = _as_regression(rows)
    parts = np.split(np.arange(len(X)), [len(X) // 2, 3 * len(X) // 4])
    train, valid, test = parts
    K = [kernel(X[part], X[train]) for part in parts]
    best = _chosen(rff.kernel_ridge_path(K[0], targets[train], LAMBDAS), K[1], targets[valid], error)
    [alpha] = rff.kernel_ridge_path(K[0], targets[train], [best])
    errors = {"kernel_ridge": np.array([[error(K[2] @ alpha, targets[test])]])}
    seconds = {"kernel_ridge": np.array([_seconds("kernel_ridge", X[train], targets[train], kernel, 0, best, seed)])}
    for name in REGRESSIONS[1:]:
        measured = [
            [_feature_error(name, X, targets, parts, kernel, r, _child(seed, r, i), error) for i in range(n_draws)]
            for r in r_values
        ]
        errors[name] = np.array([[one for one, _ in row] for row in measured])
        seconds[name] = np.array([min(time for _, time in row) for row in measured])
    return LearningErrors(r_values, len(train), errors, seconds)


def _feature_error(name, X, targets, parts, kernel, r, seed, error) -> tuple[float, float]:
    """Return the test error of ridge regression on the features of a method, and the seconds to fit it."""
    train, valid, test = parts
    features = fit_features(name, X[train], None, kernel, r, seed)
    Z = [features.transform(X[part]) for part in parts]
    coefs = rff.ridge_path(Z[0], targets[train], LAMBDAS, intercept=False)[0]
    best = _chosen(coefs, Z[1], targets[valid], error)
    of_test = error(Z[2] @ coefs[LAMBDAS.index(best)], targets[test])
    return of_test, _seconds(name, X[train], targets[train], kernel, r, best, seed)


def _chosen(coefs, features, targets, error) -> float:
    """Return the lambda with the smallest error on rows that were not fitted."""
    errors = [error(features @ coef, targets) for coef in coefs]
    return LAMBDAS[int(np.argmin(errors))]


def _as_regression(rows: ApproximationRows):
    """Return the targets (N, T) of a regression, and the error of predictions."""
    if rows.task == "regression":
        y = rows.y.astype(float)
        return ((y - y.mean()) / (y.std() or 1.0))[:, None], _root_mean_square
    classes, codes = np.unique(rows.y, return_inverse=True)
    signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
    return signs[:, 1:] if len(classes) == 2 else signs, _fraction_wrong


def _root_mean_square(predicted, targets) -> float:
    return float(np.sqrt(np.mean((predicted - targets) ** 2)))


def _fraction_wrong(predicted, targets) -> float:
    if targets.shape[1] == 1:
        return float(np.mean((predicted > 0) != (targets > 0)))
    return float(np.mean(predicted.argmax(axis=1) != targets.argmax(axis=1)))


@dataclass(frozen=True)
class LearningSeconds:
    """Times to fit against the number of training points."""

    n_values: tuple[int, ...]
    seconds: dict[str, np.ndarray]
    """(P,) by method"""


def learning_seconds(settings: ApproximationSettings, r: int, n_values: tuple[int, ...] = N_VALUES) -> LearningSeconds:
    """Measure how the times of kernel ridge regression and of ridge regression on r features grow with n.

    Kernel ridge regression costs O(n^2 (d + n)), ridge regression O(n r (d + r)) for random features and for Nyström's,
    at n much larger than r. Rows are drawn with replacement and moved a little.
    """
    rows, kernel = settings.rows_and_kernel()
    rng = np.random.default_rng(settings.seed)
    X = rows.X[rng.integers(len(rows.X), size=max(n_values))]
    X = X + 0.1 * rng.standard_normal(X.shape)
    targets = np.sin(X.sum(axis=1))
    seconds = {
        name: np.array([_seconds(name, X[:n], targets[:n], kernel, r, TIMED_LAMBDA, settings.seed) for n in n_values])
        for name in REGRESSIONS
    }
    return LearningSeconds(n_values, seconds)


def _seconds(name, X, targets, kernel, r, decay, seed) -> float:
    """Measure the seconds to compute a kernel matrix or r features and to solve for coefficients; take the shortest."""
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        if name == "kernel_ridge":
            rff.kernel_ridge_path(kernel(X), targets, [decay])
        else:
            Z = fit_features(name, X, None, kernel, r, seed).transform(X)
            rff.ridge_path(Z, targets, [decay], intercept=False)
        times.append(time.perf_counter() - start)
    return min(times)


# --- numbers --------------------------------------------------------------------------------------------------------


def numbers(settings: ApproximationSettings, pair: tuple[str, str], r: int, methods: Sequence[str]) -> pd.DataFrame:
    """Return all numbers of the page except the maps, as one table; a method that does not fit the kernel has none.

    Frequencies and landmarks are those in the plane.
    """
    views, _ = of_fitting(pair, lambda method: method_view(settings, method, r))
    errors, _ = of_fitting(methods, partial(approximation_errors, settings))
    variances = variance_curves(settings)
    fit = line_fit(settings, r)
    learned = learning_errors(settings)
    frames = {
        **of_two_methods(pair, [views.get(method) for method in pair]),
        "errors": _of_curves({method: curve_counts(method) for method in errors}, errors),
        "variances times features": pd.DataFrame(
            {"distance": variances.distances, "kernel": variances.kernel}
            | {f"{name}_formula": values for name, values in variances.expected.items()}
            | {f"{name}_simulation": values for name, values in variances.simulated.items()}
        ),
        "regression on a line": pd.DataFrame({"x": fit.grid, **fit.fits}),
        # Kernel ridge regression has one error and no features.
        "test errors of regressions": _of_curves(
            dict.fromkeys(REGRESSIONS, learned.r_values) | {"kernel_ridge": (0,)}, learned.errors
        ),
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
    kernel = "Gaussian"  # or "Laplacian", "Matérn", "Cauchy"
    width = 1.0  # 1: 2 sigma^2 is the number of columns
    nu = 1.5  # smoothness of the Matérn kernel; the others have none
    seed = 0
    methods = ("monte_carlo", "orthogonal", "sobol", "weight", "sample", "nystroem")  # of the error curves

    settings = ApproximationSettings(data, kernel, width, nu, seed)
    table = numbers(settings, (first, second), r, methods)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
