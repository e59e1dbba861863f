"""Landmarks: errors with prior and with learned similarities, and the weights that each landmark has learned.

From the repository's root: python landmarks_experiment.py [numbers.csv]
"""

import sys

import numpy as np
import pandas as pd

import datasets
import rff_engine as rff
from rff_engine.studies.toy.landmarks import landmark_path, landmark_problem, landmark_view, one_landmark

# The experiment
data = "moons"
points = ()  # your own instead of the data above: (x_1, x_2, class), class -1 or 1
n = 300  # training points
noise = 0.1  # standard deviation added to every coordinate
seed = 0
sigma = 0.501  # bandwidth of the Gaussian prior
D = 20  # frequencies per landmark
landmarks = 5  # how many; ignored where the selection lists rows
selection = "random"  # or "kmeans", or the rows of the training points that are the landmarks
beta = 1.0  # inverse temperature
C = 1.0  # of the linear SVM on the similarities
place = (-1.05, 0.66)  # of a single landmark, with the frequencies of the first one


def numbers(problem, view, path, place, one) -> pd.DataFrame:
    """All numbers of the page as one table; errors are fractions, KL in nats, frequencies in radians per unit of x."""
    L, D = problem.loss.shape
    decisions = [view.prior, view.learned]
    tables = {
        "errors": {
            "similarity": ["prior", "learned"],
            "train_error": [decision.train_error for decision in decisions],
            "test_error": [decision.test_error for decision in decisions],
        },
        "landmarks": {
            "landmark": np.arange(1, L + 1),
            "x_1": problem.landmarks[:, 0],
            "x_2": problem.landmarks[:, 1],
            "label": problem.labels.astype(int),
            "KL": rff.kl_divergence(view.Q),
            "effective_frequencies": 1 / (view.Q**2).sum(axis=1),
        },
        "weights": {
            "landmark": np.repeat(np.arange(1, L + 1), D),
            "frequency": np.tile(np.arange(1, D + 1), L),
            "omega_1": problem.omega[:, :, 0].ravel(),
            "omega_2": problem.omega[:, :, 1].ravel(),
            "loss": problem.loss.ravel(),
            "Q": view.Q.ravel(),
        },
        "along beta": {
            "beta": path.betas,
            "train_error": path.train_error,
            "test_error": path.test_error,
            "KL": path.kl,  # mean over the landmarks
            "bound": path.bound,  # on the loss, at 95 %, mean over the landmarks
        },
        "one landmark": {
            "x_1": [place[0]],
            "x_2": [place[1]],
            "label": one.labels.astype(int),
            "train_error": one.train_error,
            "test_error": one.test_error,
            "KL": one.kl,
        },
    }
    frames = map(pd.DataFrame, tables.values())
    return pd.concat(frames, keys=tables, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    if points:
        sample = datasets.given_points(points)
        fresh = datasets.noisy_copies(sample, 2000, noise, seed + 1_000_003)  # there is no distribution to draw from
    else:
        sample = datasets.make_toy(data, n, noise, seed)
        fresh = datasets.make_toy(data, 2000, noise, seed + 1_000_003)  # other points of the same distribution
    problem = landmark_problem(sample.X, sample.y, rff.GaussianKernel(sigma), landmarks, D, selection, seed)
    view = landmark_view(problem, fresh.X, fresh.y, beta, C, extent=2.0)
    betas = [float(f"{10**power:.3g}") for power in np.linspace(-3, 3, 31)]
    path = landmark_path(problem, fresh.X, fresh.y, betas, C)
    one = one_landmark(sample.X, sample.y, fresh.X, fresh.y, [place], problem.omega[0], beta)
    numbers(problem, view, path, place, one).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
