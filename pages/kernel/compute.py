"""A kernel, its approximations by D random frequencies, and their error as D grows.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import rff_engine as rff
from rff_engine.features import fourier_features, random_phase_features
from rff_engine.studies.toy import kernel as toy_kernels
from rff_engine.studies.toy.kernel import KernelSettings, kernel_settings

#: Numbers of frequencies on the sliders, about evenly spaced in their logarithm.
FREQUENCY_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
#: Half the sides of the axes: frequencies, in radians per unit of x, and differences.
FREQUENCY_RANGE, DELTA_RANGE = 10.0, 4.0
#: Functions drawn from the prior.
FUNCTIONS = 5
#: Points of the square [-1, 1]^2, to approximate their kernel matrix, and draws of each approximation.
APPROXIMATION_POINTS, APPROXIMATION_DRAWS = 25, 20

#: Pairs of the number of a frequency, from 0, and its place at width 1.
Moved = tuple[tuple[int, float], ...]


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


def numbers(settings: KernelSettings, D: int, moved: Moved = ()) -> pd.DataFrame:
    """Return all numbers as one table; frequencies are in radians per unit of x, errors root mean squares."""
    line = kernel_line(settings, D, moved)
    functions = kernel_functions(settings, D, moved)
    measured, expected = kernel_errors(settings)
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
        "errors": {
            "feature_map": np.repeat(list(measured), len(FREQUENCY_COUNTS)),
            "features": np.tile(2 * np.array(FREQUENCY_COUNTS), len(measured)),
            "measured_error": np.concatenate(list(measured.values())),
            "expected_error": np.concatenate([expected[name] for name in measured]),
        },
    }
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    # The experiment
    kernel = "Gaussian"  # or "Laplacian", or another title in rff_engine.kernels.KERNELS
    width = 0.501  # sigma, the length scale or 1 / gamma
    nu = 1.5  # smoothness of the Matérn kernel; the others have none
    D = 50  # frequencies
    moved = ()  # pairs: the number of a frequency on the line, from 0, and where it is put, at width 1
    seed = 0

    table = numbers(kernel_settings(kernel, width, nu, seed), D, moved)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
