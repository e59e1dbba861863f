"""A kernel, its approximations by D random frequencies, and their error as D grows.

From the repository's root: python kernel_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import rff_engine as rff
from rff_engine.experiments.toy import kernel as toy_kernels

# The experiment
kernel = "Gaussian"  # or "Laplacian", "Matérn", "Cauchy"
width = 0.501  # sigma, 1 / gamma, the length scale, 1 / gamma
nu = 1.5  # smoothness of the Matérn kernel; the others have none
D = 50  # frequencies
seed = 0


def numbers(line, omega, n_features, measured, expected) -> pd.DataFrame:
    """All numbers of the page as one table; frequencies are in radians per unit of x, errors root mean squares."""
    tables = {
        "kernel": {
            "delta": line.delta,
            "kernel": line.exact,
            "cos_sin": line.cos_sin,
            "random_phase": line.random_phase,
        },
        "density": {"omega": line.frequencies, "density": line.density},
        "frequencies on the line": {"omega": line.omega},
        "frequencies in the plane": {"omega_1": omega[:, 0], "omega_2": omega[:, 1]},
        "errors": {
            "feature_map": np.repeat(list(measured), len(n_features)),
            "features": np.tile(n_features, len(measured)),
            "measured_error": np.concatenate(list(measured.values())),
            "expected_error": np.concatenate([expected[name] for name in measured]),
        },
    }
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    prior = {
        "Gaussian": lambda: rff.GaussianKernel(width),
        "Laplacian": lambda: rff.LaplacianKernel(1 / width),
        "Matérn": lambda: rff.MaternKernel(nu, width),
        "Cauchy": lambda: rff.CauchyKernel(1 / width),
    }[kernel]()
    D_values = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)

    def draw(d: int):
        """Frequencies and phases for the largest D; a smaller D uses the first of them."""
        return toy_kernels.draw_frequencies_and_offsets(prior, 2 * D_values[-1], d, np.random.default_rng((seed, d)))

    omega, offsets = draw(1)
    line = toy_kernels.kernel_line(prior, omega[: 2 * D], offsets[: 2 * D], frequency_range=10.0, delta_range=4.0)
    points = toy_kernels.uniform_points(1.0, 25, seed)
    n_features = [2 * D for D in D_values]
    measured = toy_kernels.approximation_error(prior, points, D_values, 20, seed)
    expected = toy_kernels.expected_error(prior, points, n_features)
    table = numbers(line, draw(2)[0][:D], n_features, measured, expected)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
