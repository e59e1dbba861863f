"""What if a kernel were only a first guess? The numbers in the figures of the first page.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.plots.bounds import BOUND_NAMES
from rff_engine.studies.protocols import FeatureSweep, RunSpec
from rff_engine.studies.reports import tables as report
from rff_engine.studies.running.run import run_stored
from rff_engine.studies.toy import bounds as toy_bounds, kernel as toy_kernels, landmarks, learning

#: The points of the figures, and the widths of the Gaussian kernel on them.
MOONS = ToyData("moons", 300, 0.1, 0)
MOONS_SIGMA = 0.501
BOARD = replace(MOONS, name="checkerboard")
BOARD_SIGMA = 0.251
#: Half the side of the square of frequencies: standard deviations of the prior.
FREQUENCY_EXTENT = 3.5 / BOARD_SIGMA
#: Frequencies of the kernel, and of each landmark.
FREQUENCIES = 20
#: Inverse temperatures of the bounds.
BETAS = tuple(float(f"{10 ** (k / 10):.3g}") for k in range(-30, 31))


def kernel_line(seed: int) -> toy_kernels.KernelLine:
    """Compare a kernel on the line with the first frequencies of a longer draw."""
    kernel = rff.GaussianKernel(1.0)
    drawn = toy_kernels.draw_frequencies_and_offsets(kernel, 2000, 1, np.random.default_rng((seed, 1)))
    omega, offsets = (values[: 2 * FREQUENCIES] for values in drawn)
    return toy_kernels.kernel_line(kernel, omega, offsets, frequency_range=10.0, delta_range=4.0)


def landmark_problem(data: ToyData, count: int) -> landmarks.LandmarkProblem:
    """Choose random landmarks, and draw frequencies for each."""
    sample = data.sample()
    kernel = rff.GaussianKernel(MOONS_SIGMA)
    return landmarks.landmark_problem(sample.X, sample.y, kernel, count, FREQUENCIES, random_state=data.seed)


def landmark_view(data: ToyData, count: int) -> landmarks.LandmarkView:
    """Compare prior and learned similarities to landmarks at beta = 1."""
    fresh = data.fresh_sample()
    problem = landmark_problem(data, count)
    return landmarks.landmark_view(problem, fresh.X, fresh.y, beta=1.0, C=1.0, extent=data.extent)


def spectrum(data: ToyData) -> tuple[learning.FrequencyPlane, np.ndarray]:
    """Compute the alignment of every frequency with the labels, and the posterior density at beta = 10."""
    sample = data.sample()
    plane = learning.frequency_plane(sample.X, sample.y, rff.GaussianKernel(BOARD_SIGMA), FREQUENCY_EXTENT)
    return plane, learning.plane_posterior(plane, 10.0)


def bounds(data: ToyData) -> toy_bounds.BoundCurves:
    """Compute every bound along beta."""
    sample = data.sample()
    fresh = data.fresh_sample(20_000)
    points = sample.X, sample.y, fresh.X.astype(np.float32), fresh.y
    risks = toy_bounds.candidate_risks(*points, rff.GaussianKernel(MOONS_SIGMA), 200, random_state=data.seed)
    return toy_bounds.bound_curves(risks, BETAS, epsilon=0.05, mu=5.0, form="corrected")


def breast_rows(repeats: int, seed: int) -> list[dict]:
    """Measure errors by the paper's rules on its split of the breast cancer data."""
    spec = RunSpec(FeatureSweep.preset("quick"), "breast", "published", repeats, seed)
    return [row for step in run_stored(None, spec) for row in step.rows]


def numbers(seed: int, rows: Sequence[dict]) -> pd.DataFrame:
    """Return the numbers of the figures as one table; errors are fractions, frequencies in radians per unit of x."""
    moons = replace(MOONS, seed=seed)
    line = kernel_line(seed)
    plane, posterior = spectrum(replace(BOARD, seed=seed))
    curves = list(bounds(moons).bounds.values())
    believed = {"largest prior density": plane.prior, "smallest loss": -plane.loss, "largest posterior": posterior}
    peaks = [np.unravel_index(values.argmax(), values.shape) for values in believed.values()]
    tables = {
        "first picture, at beta = 1": landmark_view(moons, 3).errors(),
        "1 kernel": {"delta": line.delta, "kernel": line.exact, "mean_of_cosines": line.cos_sin},
        "2 landmarks": landmark_view(moons, 5).errors(),
        "3 frequencies": {
            "which": list(believed),
            "omega_1": [plane.grid[column] for _, column in peaks],
            "omega_2": [plane.grid[row] for row, _ in peaks],
            "prior_density": [plane.prior[peak] for peak in peaks],
            "loss": [plane.loss[peak] for peak in peaks],
            "posterior_density": [posterior[peak] for peak in peaks],
        },
        "4 bounds": {
            "bound": [BOUND_NAMES[curve.name] for curve in curves],
            "best_beta": [curve.best_beta for curve in curves],
            "best_value": [curve.best_value for curve in curves],
        },
        "5 real data": report.error_by_features(rows),
    }
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    # The experiment
    seed = 0
    repeats = 10  # draws on the real data of the fifth figure

    table = numbers(seed, breast_rows(repeats, seed))
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
