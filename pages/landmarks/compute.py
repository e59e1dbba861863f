"""Landmarks: errors with prior and with learned similarities, and the weights that each landmark has learned.

It follows Letarte et al. (2019), Section 4.2.

After `pip install ".[experiments]"` in a copy of the repository, from any folder: python compute.py [numbers.csv]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

import rff_engine as rff
from rff_datasets import ToyData
from rff_engine.studies.toy import landmarks as toy_landmarks
from rff_engine.studies.toy.plane import cell_centres, plane_points

#: The most landmarks of a problem, and frequencies of a landmark.
MAX_LANDMARKS = 8
MAX_FREQUENCIES = 256
#: Cells along a side of the map of one landmark's errors.
PLACES = 32
#: Inverse temperatures of the curves.
BETAS = tuple(float(f"{10 ** (k / 5):.3g}") for k in range(-15, 16))

#: A place of the plane.
Place = tuple[float, float]


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


def landmarks_of_methods(settings: LandmarkSettings) -> dict[str, np.ndarray]:
    """Choose landmarks, (L, 2), by each method, as many as the settings have."""
    chosen = {
        method: landmark_problem(replace(settings, n_landmarks=settings.count, selection=selection)).landmarks
        for method, selection in (("random", "random"), ("k-means", "kmeans"))
    }
    sample = settings.data.sample()
    boosting = rff.LandmarkBoosting(
        rff.GaussianKernel(settings.sigma), settings.count, n_components=settings.n_frequencies, random_state=0
    )
    return chosen | {"boosted": boosting.fit(sample.X, sample.y).landmarks_}


@dataclass(frozen=True)
class OneLandmark:
    """A single landmark at each of P places, (P,) each."""

    labels: np.ndarray
    """The class of the nearest training point"""
    kl: np.ndarray
    """KL(Q || P) in nats"""
    train_error: np.ndarray
    test_error: np.ndarray


def one_landmark(settings: LandmarkSettings, beta: float, places: tuple[Place, ...] | int) -> OneLandmark:
    """Measure the worth of a single landmark at places, or, for a number, at the cells of a square grid of that side.

    The landmark has the frequencies of the first one.
    """
    sample = settings.data.sample()
    fresh = settings.data.fresh_sample()
    grid = isinstance(places, int)
    at = plane_points(cell_centres(settings.data.extent, places)) if grid else np.array(places)
    return worth_of_places(sample.X, sample.y, fresh.X, fresh.y, at, landmark_problem(settings).omega[0], beta)


def worth_of_places(
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    places: np.ndarray,
    omega: np.ndarray,
    beta: float,
) -> OneLandmark:
    """Measure the errors of a threshold on the learned similarity of a single landmark at `places` (P, 2).

    A point whose similarity is above the threshold gets the landmark's class. Of the thresholds with the fewest errors
    on the training points the lowest is used. Weights follow Letarte et al. (2019), Equation 12; frequencies `omega`
    (D, 2) are the same at all places. Labels are -1 and 1.
    """
    labels = y[cdist(places, X).argmin(axis=1)]
    Q = rff.pseudo_posterior(rff.landmark_alignment_loss(X, y, places, labels, omega), beta, len(X))
    # cos(a - b) = cos a cos b + sin a sin b avoids the cosines of all pairs.
    at = places @ omega.T
    of = omega @ np.concatenate([X, X_test]).T
    similar = (Q * np.cos(at)) @ np.cos(of) + (Q * np.sin(at)) @ np.sin(of)
    errors = []
    for row, label in zip(similar, labels, strict=True):
        above = row > _best_threshold(row[: len(X)], y == label)
        wrong = above != (np.concatenate([y, y_test]) == label)
        errors.append((wrong[: len(X)].mean(), wrong[len(X) :].mean()))
    train_error, test_error = np.transpose(errors)
    return OneLandmark(labels, np.asarray(rff.kl_divergence(Q)), train_error, test_error)


def _best_threshold(similar: np.ndarray, own: np.ndarray) -> float:
    order = np.argsort(similar, kind="stable")
    similar = similar[order]
    own = own[order]
    wrong = np.sum(~own) + np.concatenate([[0], np.cumsum(np.where(own, 1, -1))])  # k least similar ones below
    wrong[1:-1][similar[1:] == similar[:-1]] = len(own) + 1
    k = int(wrong.argmin())
    if k in (0, len(own)):
        return -np.inf if k == 0 else float(similar[-1])
    return float(similar[k - 1] + similar[k]) / 2


def numbers(settings: LandmarkSettings, beta: float, C: float, place: Place) -> pd.DataFrame:
    """Return all numbers as one table; errors are fractions, KL in nats, frequencies in radians per unit of x."""
    problem = landmark_problem(settings)
    view = landmark_view(settings, beta, C)
    path = landmark_path(settings, C)
    one = one_landmark(settings, beta, (place,))
    of_landmarks = problem.columns(view.Q)
    learned = {"KL": rff.kl_divergence(view.Q), "effective_frequencies": 1 / (view.Q**2).sum(axis=1)}
    tables = {
        "errors": view.errors(),
        "landmarks": of_landmarks["landmarks"] | learned,
        "weights": of_landmarks["weights"],
        "along beta": path.columns(),  # means over the landmarks; the bound on the loss is at 95 %
        "one landmark": {
            "x_1": [place[0]],
            "x_2": [place[1]],
            "label": one.labels.astype(int),
            "train_error": one.train_error,
            "test_error": one.test_error,
            "KL": one.kl,
        },
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
    place = (-1.05, 0.66)  # of a single landmark, with the frequencies of the first one

    settings = LandmarkSettings(ToyData(data, n, noise, seed, points), sigma, D, landmarks, selection)
    numbers(settings, beta, C, place).to_csv(sys.argv[1] if sys.argv[1:] else sys.stdout, index=False)
