"""A kernel, its approximations by D random frequencies, and their error as D grows.

Two nested circles show what features are for: no line separates them, but three cosines lift them into space, where a
plane does. The map comes from a picture in a thesis chapter.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.features import fourier_features, random_phase_features
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.losses import empirical_risk
from rff_engine.studies.toy import kernel as toy_kernels
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: Numbers of frequencies on the sliders, about evenly spaced in their logarithm.
FREQUENCY_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
#: Half the sides of the axes: frequencies, in radians per unit of x, and differences.
FREQUENCY_RANGE, DELTA_RANGE = 10.0, 4.0
#: Functions drawn from the prior.
FUNCTIONS = 5
#: Points of the square [-1, 1]^2, to approximate their kernel matrix, and draws of each approximation.
APPROXIMATION_POINTS, APPROXIMATION_DRAWS = 25, 20
#: Points of the two circles, of their fresh sample, and their noise.
CIRCLE_POINTS, CIRCLE_FRESH, CIRCLE_NOISE = 300, 5000, 0.05
#: Frequencies and phases of the thesis. Its factor, 3.46, is replaced by sqrt(2 / 3): see docs/errata.md.
LIFT_FREQUENCIES = np.array([[1.76, 2.24], [0.40, 1.87], [0.98, -0.98]])
LIFT_PHASES = np.array([2.75, 5.6, 6.05])
_LIFT_C = 1e3
_LOSSES = ("zero_one", "hinge", "squared_hinge", "logistic")

#: Pairs of the number of a frequency, from 0, and its place at width 1.
Moved = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class KernelSettings:
    """A kernel and the seed of its frequencies; not every kernel uses `nu`."""

    name: str
    width: float
    nu: float
    seed: int

    def kernel(self) -> rff.SpectralKernel:
        return KERNELS_BY_TITLE[self.name].of_width(self.width, nu=self.nu)


def kernel_settings(name: str, width: float, nu: float, seed: int) -> KernelSettings:
    """Return the settings of the controls; `nu` is fixed for kernels that do not use it."""
    return KernelSettings(name, width, nu if "nu" in KERNELS_BY_TITLE[name].parameters else 0.0, seed)


def kernel_draw(settings: KernelSettings, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw frequencies and phases for the largest D; a smaller D uses the first of them."""
    rng = np.random.default_rng((settings.seed, n_features))
    return toy_kernels.draw_frequencies_and_offsets(settings.kernel(), 2 * FREQUENCY_COUNTS[-1], n_features, rng)


def moved_frequencies(settings: KernelSettings, moved: Moved) -> np.ndarray:
    """Return the frequencies on the line; moved ones are at the place that the reader gave them."""
    omega = kernel_draw(settings, 1)[0].copy()
    for number, place in moved:
        omega[number] = place / settings.width
    return omega


def kernel_line(settings: KernelSettings, D: int, moved: Moved = ()) -> toy_kernels.KernelLine:
    """Compare the kernel on the line with its estimates."""
    omega = moved_frequencies(settings, moved)[: 2 * D]
    _, offsets = kernel_draw(settings, 1)
    return toy_kernels.kernel_line(settings.kernel(), omega, offsets[: 2 * D], FREQUENCY_RANGE, DELTA_RANGE)


def function_weights(seed: int) -> np.ndarray:
    """Draw weights of cosines and sines, (FUNCTIONS, 2, D), in the functions of the prior, for the largest D."""
    return np.random.default_rng((seed, FUNCTIONS)).standard_normal((FUNCTIONS, 2, FREQUENCY_COUNTS[-1]))


def kernel_functions(settings: KernelSettings, D: int, moved: Moved = ()) -> np.ndarray:
    """Draw functions (FUNCTIONS, 301) of a Gaussian process whose covariance is the mean of D cosines.

    They are at evenly spaced points of [-DELTA_RANGE, DELTA_RANGE].
    """
    omega = moved_frequencies(settings, moved)[:D]
    points = np.linspace(-1, 1, 301)[:, None] * DELTA_RANGE
    weights = function_weights(settings.seed)[:, :, :D].reshape(FUNCTIONS, 2 * D)
    return weights @ fourier_features(points, omega).T


@dataclass(frozen=True)
class KernelPlane:
    """A kernel of two variables, its spectral density, and its estimate from random frequencies."""

    outside: int
    """Number of frequencies outside the square of the density"""
    density: np.ndarray
    """(G, G), on the frequency plane"""
    exact: np.ndarray
    """(G, G), on the plane of differences"""
    approximate: np.ndarray
    """(G, G)"""


def kernel_plane(settings: KernelSettings, D: int, cells: int = 121) -> KernelPlane:
    """Compare the kernel with the mean of D cosines in the plane (Letarte et al. 2019, Eq. 3 and 5)."""
    kernel = settings.kernel()
    omega = kernel_draw(settings, 2)[0][:D]
    frequencies = plane_points(cell_centres(FREQUENCY_RANGE, cells))
    return KernelPlane(
        outside=int((np.abs(omega).max(axis=1) > FREQUENCY_RANGE).sum()),
        density=kernel.spectral_density(frequencies).reshape(cells, cells),
        exact=toy_kernels.kernel_map(kernel, DELTA_RANGE, cells),
        approximate=toy_kernels.weighted_kernel_map(omega, np.full(D, 1 / D), DELTA_RANGE, cells),
    )


def approximation_error(
    kernel: rff.SpectralKernel, points: np.ndarray, counts: tuple[int, ...], n_draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Measure root mean square errors of the kernel matrix of points (m, d) as features are added, for both maps.

    With D frequencies the cos/sin map has 2 D features; the random-phase map has 2 D frequencies, hence as many. The
    errors (len(counts),) have the keys "cos_sin" and "random_phase", and are means over independent draws.
    """
    rng = np.random.default_rng(seed)
    exact = kernel(points)
    largest = max(counts)
    squares = {"cos_sin": np.zeros(len(counts)), "random_phase": np.zeros(len(counts))}
    for _ in range(n_draws):
        omega, offsets = toy_kernels.draw_frequencies_and_offsets(kernel, 2 * largest, points.shape[1], rng)
        # Features of all D at once, times sqrt(D): a smaller D has the first features of a larger one.
        cosines, sines = np.split(fourier_features(points, omega[:largest], np.ones(largest)), 2, axis=1)
        phased = random_phase_features(points, omega, offsets) * np.sqrt(2 * largest)
        for name, features, per_D in (("cos_sin", (cosines, sines), 1), ("random_phase", (phased,), 2)):
            total = np.zeros_like(exact)
            done = 0
            for i in np.argsort(counts, kind="stable"):
                more = slice(done, per_D * counts[i])
                for wave in features:
                    total += wave[:, more] @ wave[:, more].T
                done = more.stop
                squares[name][i] += np.mean((total / done - exact) ** 2) / n_draws
    return {name: np.sqrt(values) for name, values in squares.items()}


def expected_error(kernel: rff.SpectralKernel, points: np.ndarray, counts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Compute the expected value of `approximation_error` in closed form: the root of the mean variance over pairs."""
    variances = toy_kernels.estimate_variances(kernel(points), kernel(2 * points))
    return {name: np.sqrt(np.mean(variance) / (2 * np.array(counts))) for name, variance in variances.items()}


def kernel_errors(settings: KernelSettings) -> tuple[dict, dict]:
    """Compute measured and expected errors of both feature maps at every one of FREQUENCY_COUNTS."""
    kernel = settings.kernel()
    points = np.random.default_rng(settings.seed).uniform(-1, 1, (APPROXIMATION_POINTS, 2))
    # Threads gain nothing on such small products, and make them ten times slower if other programs compute too.
    with threadpool_limits(1, user_api="blas"):
        measured = approximation_error(kernel, points, FREQUENCY_COUNTS, APPROXIMATION_DRAWS, settings.seed)
    return measured, expected_error(kernel, points, FREQUENCY_COUNTS)


@dataclass(frozen=True)
class Lift:
    """Points of two classes in the plane and in space, and a linear classifier in each."""

    X: np.ndarray
    """(n, 2), where the median radius of the outer class is 1"""
    y: np.ndarray
    """(n,), -1 or 1"""
    Z: np.ndarray
    """(n, 3), the lifted points"""
    coef: np.ndarray
    """(3,), normal of the plane w . z + b = 0"""
    intercept: float
    decisions: dict[str, np.ndarray]
    """(n,), f(x) of the points: "flat" for the line, "lifted" for the plane"""
    risks: dict[str, dict[str, tuple[float, float]]]
    """Empirical risk, and risk estimated on fresh points, by classifier and loss"""


def lifted_circles(seed: int, noise: float = CIRCLE_NOISE) -> Lift:
    """Lift two circles by three cosines and separate them by a plane, and by a line without the lift: linear SVMs."""
    data = ToyData("circles", CIRCLE_POINTS, noise, seed)
    sample = data.sample()
    fresh = data.fresh_sample(CIRCLE_FRESH)
    radius = np.linalg.norm(sample.X, axis=1)
    unit = max(np.median(radius[sample.y == label]) for label in (-1, 1))
    flat = [points / unit for points in (sample.X, fresh.X)]
    lifted = [random_phase_features(points, LIFT_FREQUENCIES, LIFT_PHASES) for points in flat]
    decisions = {}
    risks = {}
    for name, (points, fresh_points) in (("flat", flat), ("lifted", lifted)):
        (w,), (b,) = rff.linear_svm_path(points, sample.y, [_LIFT_C])
        decisions[name] = points @ w + b
        unseen = fresh_points @ w + b
        risks[name] = {
            loss: (empirical_risk(loss, decisions[name], sample.y), empirical_risk(loss, unseen, fresh.y))
            for loss in _LOSSES
        }
    return Lift(flat[0], sample.y, lifted[0], w, float(b), decisions, risks)


def numbers(settings: KernelSettings, D: int, moved: Moved = ()) -> pd.DataFrame:
    """Return all numbers as one table; frequencies are in radians per unit of x, errors root mean squares."""
    line = kernel_line(settings, D, moved)
    functions = kernel_functions(settings, D, moved)
    plane_omega = kernel_draw(settings, 2)[0][:D]
    measured, expected = kernel_errors(settings)
    lift = lifted_circles(settings.seed)
    tables = {
        "kernel": {
            "delta": line.delta,
            "kernel": line.exact,
            "cos_sin": line.cos_sin,
            "random_phase": line.random_phase,
        },
        "density": {"omega": line.frequencies, "density": line.density},
        "frequencies on the line": {"omega": line.omega},
        "functions": {
            "function": np.repeat(np.arange(len(functions)) + 1, functions.shape[1]),
            "x": np.tile(line.delta[::2], len(functions)),
            "value": functions.ravel(),
        },
        "frequencies in the plane": {"omega_1": plane_omega[:, 0], "omega_2": plane_omega[:, 1]},
        "errors": {
            "feature_map": np.repeat(list(measured), len(FREQUENCY_COUNTS)),
            "features": np.tile(2 * np.array(FREQUENCY_COUNTS), len(measured)),
            "measured_error": np.concatenate(list(measured.values())),
            "expected_error": np.concatenate([expected[name] for name in measured]),
        },
        "lifted circles": {
            "x_1": lift.X[:, 0],
            "x_2": lift.X[:, 1],
            "label": lift.y,
            **{f"phi_{j + 1}": lift.Z[:, j] for j in range(3)},
            "f_of_line": lift.decisions["flat"],
            "f_of_plane": lift.decisions["lifted"],
        },
        "risks": {
            "classifier": [name for name, risks in lift.risks.items() for _ in risks],
            "loss": [loss for risks in lift.risks.values() for loss in risks],
            "empirical_risk": [risk for risks in lift.risks.values() for risk, _ in risks.values()],
            "risk": [risk for risks in lift.risks.values() for _, risk in risks.values()],
        },
    }
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    # The experiment
    kernel = "Gaussian"  # or "Laplacian", "Matérn", "Cauchy"
    width = 0.501  # sigma, the length scale or 1 / gamma
    nu = 1.5  # smoothness of the Matérn kernel; the others have none
    D = 50  # frequencies
    moved = ()  # pairs: the number of a frequency on the line, from 0, and where it is put, at width 1
    seed = 0

    table = numbers(kernel_settings(kernel, width, nu, seed), D, moved)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
