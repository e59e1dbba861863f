"""Landmarks: errors with prior and with learned similarities, and the weights that each landmark has learned.

It follows Letarte et al. (2019), Section 4.2.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pandas as pd

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.studies.toy import landmarks as toy_landmarks

#: The most landmarks of a problem, and frequencies of a landmark.
MAX_LANDMARKS = 8
MAX_FREQUENCIES = 256
#: Inverse temperatures of the curves.
BETAS = tuple(float(f"{10 ** (k / 5):.3g}") for k in range(-15, 16))


@dataclass(frozen=True)
class LandmarkSettings:
    """Everything that a landmark experiment depends on, except beta and C."""

    data: ToyData
    sigma: float
    n_frequencies: int
    n_landmarks: int
    selection: str | tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of landmarks."""
        return self.n_landmarks if isinstance(self.selection, str) else len(self.selection)


def landmark_problem(settings: LandmarkSettings) -> toy_landmarks.LandmarkProblem:
    """Choose landmarks, draw frequencies for each and compute their losses."""
    sample = settings.data.sample()
    return toy_landmarks.landmark_problem(
        sample.X,
        sample.y,
        rff.GaussianKernel(settings.sigma),
        settings.n_landmarks,
        settings.n_frequencies,
        settings.selection,
        random_state=settings.data.seed,
    )


def landmark_view(settings: LandmarkSettings, beta: float, C: float) -> toy_landmarks.LandmarkView:
    """Compare the kernel itself with the learned similarities."""
    fresh = settings.data.fresh_sample()
    return toy_landmarks.landmark_view(landmark_problem(settings), fresh.X, fresh.y, beta, C, settings.data.extent)


def landmark_path(settings: LandmarkSettings, C: float) -> toy_landmarks.LandmarkPath:
    """Compute errors, mean KL and bound at every one of BETAS, so that a change of beta computes nothing."""
    fresh = settings.data.fresh_sample()
    return toy_landmarks.landmark_path(landmark_problem(settings), fresh.X, fresh.y, BETAS, C)


def numbers(settings: LandmarkSettings, beta: float, C: float) -> pd.DataFrame:
    """Return all numbers as one table; errors are fractions, KL in nats, frequencies in radians per unit of x."""
    problem = landmark_problem(settings)
    view = landmark_view(settings, beta, C)
    path = landmark_path(settings, C)
    of_landmarks = problem.columns(view.Q)
    learned = {"KL": rff.kl_divergence(view.Q), "effective_frequencies": 1 / (view.Q**2).sum(axis=1)}
    tables = {
        "errors": view.errors(),
        "landmarks": of_landmarks["landmarks"] | learned,
        "weights": of_landmarks["weights"],
        "along beta": path.columns(),  # means over the landmarks; the bound on the loss is at 95 %
    }
    frames = {name: pd.DataFrame(columns) for name, columns in tables.items()}
    return pd.concat(frames, names=["table"]).reset_index("table").convert_dtypes()


if __name__ == "__main__":
    # The experiment
    data = "moons"
    points = ""  # code of points placed by hand, instead of the data above
    n = 300  # training points
    noise = 0.1  # standard deviation added to every coordinate
    seed = 0
    sigma = 0.501  # bandwidth of the Gaussian prior
    D = 20  # frequencies per landmark
    landmarks = 5  # how many; ignored where the selection lists rows
    selection = "random"  # or "kmeans", or the rows of the training points that are the landmarks
    beta = 1.0  # inverse temperature
    C = 1.0  # of the linear SVM on the similarities

    settings = LandmarkSettings(ToyData(data, n, noise, seed, points), sigma, D, landmarks, selection)
    numbers(settings, beta, C).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
