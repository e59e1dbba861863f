"""A kernel, its approximations by D random frequencies, and their error as D grows.

From the repository's root: python kernel_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
from pages.kernel import lift as toy_lift
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.studies.toy import kernel as toy_kernels

# The experiment
kernel = "Gaussian"  # or "Laplacian", "Matérn", "Cauchy"
width = 0.501  # sigma, the length scale or 1 / gamma
nu = 1.5  # smoothness of the Matérn kernel; the others have none
D = 50  # frequencies
moved = ()  # pairs: the number of a frequency on the line, from 0, and where it is put, at width 1
seed = 0


def numbers(line, functions, omega, n_features, measured, expected, lift) -> pd.DataFrame:
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
        "functions": {
            "function": np.repeat(np.arange(len(functions)) + 1, functions.shape[1]),
            "x": np.tile(line.delta[::2], len(functions)),
            "value": functions.ravel(),
        },
        "frequencies in the plane": {"omega_1": omega[:, 0], "omega_2": omega[:, 1]},
        "errors": {
            "feature_map": np.repeat(list(measured), len(n_features)),
            "features": np.tile(n_features, len(measured)),
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
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    prior = KERNELS_BY_TITLE[kernel].of_width(width, nu=nu)
    D_values = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)

    def sampled(d: int):
        """Frequencies and phases for the largest D; a smaller D uses the first of them."""
        return toy_kernels.draw_frequencies_and_offsets(prior, 2 * D_values[-1], d, np.random.default_rng((seed, d)))

    omega, offsets = sampled(1)
    for number, place in moved:
        omega[number] = place / width
    line = toy_kernels.kernel_line(prior, omega[: 2 * D], offsets[: 2 * D], frequency_range=10.0, delta_range=4.0)
    weights = np.random.default_rng((seed, 5)).standard_normal((5, 2, D_values[-1]))
    functions = toy_kernels.prior_functions(omega[:D], weights, delta_range=4.0)
    points = toy_kernels.uniform_points(1.0, 25, seed)
    n_features = [2 * D for D in D_values]
    measured = toy_kernels.approximation_error(prior, points, D_values, 20, seed)
    expected = toy_kernels.expected_error(prior, points, n_features)
    circles = datasets.make_toy("circles", 300, 0.05, seed)
    fresh = datasets.make_toy("circles", 5000, 0.05, seed + 1_000_003)  # estimates the risk
    lift = toy_lift.lifted_circles(circles.X, circles.y, fresh.X, fresh.y)
    table = numbers(line, functions, sampled(2)[0][:D], n_features, measured, expected, lift)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
