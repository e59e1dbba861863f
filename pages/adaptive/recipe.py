"""Frequencies that adapt to points: weights on a grid, a descent, importance densities, and the number of landmarks.

From the repository's root: python adaptive_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from pages.adaptive import toy as toy_adaptive
from rff_engine.adaptive import kernel_landmarks

# The experiment
data = "line"  # or a cross, a ring, ..., see datasets.toy_input_names()
N = 300  # points
noise = 0.05  # standard deviation added to every coordinate
seed = 0
sigma = 1.0  # width of the Gaussian kernel
r = 20  # frequencies
ridge = 0.1  # of the weights on the grid; a descent takes toy_adaptive.RIDGE
method = "Sample"  # landmarks; or "Cluster", "Cluster, nearest rows"
landmarks = 50


def numbers(grid, descent, plane, counts, curves, gaps) -> pd.DataFrame:
    """All numbers of the page as one table; frequencies are in radians per unit of x, errors are relative."""
    F, r, _ = descent.frequencies.shape
    omega_1, omega_2 = (axis.ravel() for axis in np.meshgrid(grid.grid, grid.grid))
    tables = {
        "grid": {"omega_1": omega_1, "omega_2": omega_2, "prior": grid.prior.ravel(), "weight": grid.weights.ravel()},
        "grid errors": {
            "weights": ["prior", "points"],
            "error": [grid.prior_error, grid.error],
            "effective_frequencies": [grid.prior_effective, grid.effective],
        },
        "descent": {
            "step": np.repeat(descent.steps, r),
            "frequency": np.tile(np.arange(r), F),
            "omega_1": descent.frequencies[..., 0].ravel(),
            "omega_2": descent.frequencies[..., 1].ravel(),
            "weight": descent.weights.ravel(),
        },
        "errors at the landmarks": {
            "step": np.arange(len(descent.losses)),
            "loss": descent.losses,
            "error": descent.landmark_errors,
        },
        "errors over all points": {"step": descent.steps, "error": descent.errors},
        "errors as drawn": {"error": [descent.drawn_error]},
        "densities": {
            "omega_1": plane.grid,
            **{name: getattr(plane, name)[len(plane.grid) // 2] for name in ("prior", "claim", "data")},
        },
        "squared errors": {
            "density": list(plane.squared_errors),
            "squared_error": list(plane.squared_errors.values()),  # of one frequency; of r it is 1/r of that
        },
        "landmarks": {
            "method": np.repeat(list(curves), len(counts)),
            "landmarks": np.tile(counts, len(curves)),
            "error": np.concatenate([of_method.mean(axis=1) for of_method in curves.values()]),
            "best": np.concatenate([of_method.min(axis=1) for of_method in curves.values()]),
            "worst": np.concatenate([of_method.max(axis=1) for of_method in curves.values()]),
        },
        "differences of losses": {
            "frequencies": np.repeat(list(gaps), len(counts)),
            "landmarks": np.tile(counts, len(gaps)),
            **{
                name: np.concatenate([getattr(gap, name).mean(axis=1) for gap in gaps.values()])
                for name in (
                    "sampled",
                    "sampled_fitted",
                    "sample_bound",
                    "clustered",
                    "clustered_fitted",
                    "cluster_bound",
                )
            },
        },
    }
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    X = datasets.make_toy_inputs(data, N, noise, seed)
    kernel = rff.GaussianKernel(sigma)
    choice = {"Sample": "sample", "Cluster": "cluster", "Cluster, nearest rows": "nearest"}[method]
    counts = [count for count in (2, 5, 10, 20, 50, 100) if count <= N]

    def stream(k: int):
        """A stream of random numbers other than that of the points."""
        return np.random.default_rng((seed, k))

    chosen = kernel_landmarks(X, min(landmarks, counts[-1]), choice, stream(1))
    extent = 3.5 / sigma  # half the side of the square of frequencies
    grid = toy_adaptive.grid_weights(*chosen, kernel, extent, ridge=ridge)
    path = toy_adaptive.descent(X, *chosen, kernel, toy_adaptive.first_frequencies(kernel, r, stream(2)))
    plane = toy_adaptive.importance_plane(X, kernel, extent)
    curves = {
        name: toy_adaptive.landmark_curve(X, kernel, r, counts, name, 3, stream(3), max_steps=15)
        for name in ("sample", "cluster")
    }
    gaps = {F: toy_adaptive.loss_gaps(X, kernel, F, counts, 3, stream(4)) for F in (5, 20)}
    table = numbers(grid, path, plane, counts, curves, gaps)
    table.to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
