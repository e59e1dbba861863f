"""Certified classifiers on real data: their bounds, and their errors on the test rows.

Training and validation rows together are divided in half, for the prior and for the bound. Strengths and scalings of
columns are chosen on the prior's half.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rff_datasets as datasets

from .._typing import MatrixLike
from .._validation import check_choice, check_count, check_fits
from ..certificates import CertificateTerm
from ..certified_classifier import CertifiedClassifier, prior_sizes
from ..estimators import (
    LandmarkSimilarity,
    OptimizedKernelFeatures,
    PseudoPosteriorFeatures,
    RandomFourierFeatures,
)
from ..landmark_boosting import WEAK_LEARNERS, LandmarkBoosting

METHODS = ("rff", "pbrff", "okrff", "landmarks", "boosting")
DEFAULT_COMPONENTS, _N_CANDIDATES = 200, 2000
_PRIOR_FRACTION = 0.5
# Chosen on the prior's rows, at no price.
_BETAS, _RHOS = (1.0, 10.0, "bound"), (0.01, 0.1, "bound")
_LANDMARK_FREQUENCIES = 32
#: Sets with a unit for each column.
SCALED = ("ads", "adult", "breast")


@dataclass(frozen=True)
class CertifiedRun:
    """Bounds of one fit and errors on the test rows."""

    arm: str
    """As in `CertifiedClassifier`"""
    terms: tuple[CertificateTerm, ...]
    risk_bound: float
    gibbs_bound: float
    tandem_bound: float
    c_bound: float
    test_set_bound: float | None
    majority_error: float
    """On the rows of the bound"""
    n_bound: int
    test_error: float
    gibbs_error: float
    n_components: int


def certify(
    dataset: str, method: str = "pbrff", epsilon: float = 0.05, random_state: int = 0, n_components: int | None = None
) -> CertifiedRun:
    """Fit a certified classifier to the training and validation rows of a published split, and test it.

    `n_components`, D, is the number of frequencies, landmarks or rounds; ``None`` stands for
    DEFAULT_COMPONENTS, or for as many landmarks as there are rows to take them from.
    """
    check_choice(method, "method", METHODS)
    split = CertifiedSplit(datasets.published_split(dataset), random_state)
    if n_components is None:
        n_components = min(DEFAULT_COMPONENTS, split.most_components(method))
    return split.run(method, n_components, epsilon)


class CertifiedSplit:
    """The rows of a split, and feature maps to choose among on the prior's rows.

    Parameters
    ----------
    random_state : int
        Of the prior's rows, which all methods share, and of the features.
    """

    def __init__(self, split: datasets.Split, random_state: int = 0):
        stack = sp.vstack if sp.issparse(split.X_train) else np.concatenate
        self.X: MatrixLike = stack([split.X_train, split.X_valid])
        self.y: np.ndarray = np.concatenate([split.y_train, split.y_valid])
        self.split: datasets.Split = split
        self.random_state: int = random_state

    def run(self, method: str, n_components: int, epsilon: float) -> CertifiedRun:
        """Compute bounds and test errors of a method with D features or landmarks, of a kernel of width "scale"."""
        model, split = self._fitted(method, n_components, epsilon), self.split
        wrong = model.predict(split.X_test) != split.y_test
        chances = model.vote_shares(split.X_test)
        gibbs_error = 1 - chances[np.arange(len(wrong)), np.searchsorted(model.classes_, split.y_test)].mean()
        return CertifiedRun(
            model.arm_,
            model.certificate_,
            model.risk_bound_,
            model.gibbs_bound_,
            model.tandem_bound_,
            model.c_bound_,
            model.test_set_bound_,
            model.majority_error_,
            len(model.bound_rows_),
            float(wrong.mean()),
            float(gibbs_error),
            n_components,
        )

    def _fitted(self, method: str, n_components: int, epsilon: float) -> CertifiedClassifier:
        check_choice(method, "method", METHODS)
        most = self.most_components(method)
        if check_count(n_components, "n_components") > most:
            raise ValueError(
                f"n_components is {n_components}; landmarks are rows of the prior's half, of which {most} are for "
                f"fitting, so at most {most} are allowed."
            )
        check_fits(n_components * sum(self.X.shape), f"n_components is {n_components} for {self.X.shape[0]} rows")
        # All seeds are given, so that all maps have the same prior's rows.
        maps = self._maps(method, n_components)
        return CertifiedClassifier(maps, _PRIOR_FRACTION, epsilon, self.random_state).fit(self.X, self.y)

    def most_components(self, method: str) -> int:
        """Return the largest D: landmarks are distinct rows of the prior's half, other features have no limit."""
        return prior_sizes(len(self.y), _PRIOR_FRACTION)[1] if method == "landmarks" else sys.maxsize

    def _maps(self, method: str, D: int) -> list:
        N, seed = _N_CANDIDATES, self.random_state
        if method == "rff":
            maps = [RandomFourierFeatures(None, D, random_state=seed)]
        elif method == "pbrff":
            maps = [PseudoPosteriorFeatures(None, D, N, beta=beta, random_state=seed) for beta in _BETAS]
        elif method == "okrff":
            maps = [OptimizedKernelFeatures(None, D, N, rho=rho, random_state=seed) for rho in _RHOS]
        elif method == "boosting":
            maps = [LandmarkBoosting(None, D, weak_learner, random_state=seed) for weak_learner in WEAK_LEARNERS]
        else:
            frequencies = _LANDMARK_FREQUENCIES
            maps = [
                LandmarkSimilarity(None, D, "random", n_components=frequencies, beta=beta, random_state=seed)
                for beta in _BETAS
            ]
        return [self._scaled(one) for one in maps]

    def _scaled(self, features):
        """Return the map, on scaled columns if the set needs it; the scaling is learned with the map."""
        return make_pipeline(StandardScaler(), features) if self.split.name in SCALED else features
