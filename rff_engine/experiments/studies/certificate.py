"""A certified classifier on a data set with a published split: its bounds and its errors on the test rows.

Training and validation rows together are divided in half, for the prior and for the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._validation import check_choice
from ...certificates import CertificateTerm
from ...certified_classifier import CertifiedClassifier
from ...estimators import LandmarkSimilarity, OptimizedKernelFeatures, PseudoPosteriorFeatures, RandomFourierFeatures
from ...landmark_boosting import WEAK_LEARNERS, LandmarkBoosting
from .. import datasets

__all__ = ["METHODS", "CertifiedRun", "certify"]

METHODS = ("rff", "pbrff", "okrff", "landmarks", "boosting")
_N_COMPONENTS, _N_CANDIDATES = 200, 2000
# Chosen on the prior's rows, at no price, like the kernel's width "scale".
_BETAS, _RHOS = (1.0, 10.0, "bound"), (0.01, 0.1, "bound")


@dataclass(frozen=True)
class CertifiedRun:
    """Bounds of one fit and errors on the test rows."""

    terms: tuple[CertificateTerm, ...]
    risk_bound: float
    gibbs_bound: float
    test_set_bound: float | None
    n_bound: int
    test_error: float
    gibbs_error: float


def certify(dataset: str, method: str = "pbrff", epsilon: float = 0.05, random_state=0) -> CertifiedRun:
    """Fit a certified classifier to the training and validation rows of a published split, and test it."""
    check_choice(method, "method", METHODS)
    split = datasets.published_split(dataset)
    stack = sp.vstack if sp.issparse(split.X_train) else np.concatenate
    X, y = stack([split.X_train, split.X_valid]), np.concatenate([split.y_train, split.y_valid])
    model = CertifiedClassifier(_feature_maps(method), epsilon=epsilon, random_state=random_state).fit(X, y)
    wrong = model.predict(split.X_test) != split.y_test
    chances = model.predict_proba(split.X_test)
    gibbs_error = 1 - chances[np.arange(len(wrong)), np.searchsorted(model.classes_, split.y_test)].mean()
    return CertifiedRun(
        model.certificate_,
        model.risk_bound_,
        model.gibbs_bound_,
        model.test_set_bound_,
        len(model.bound_rows_),
        float(wrong.mean()),
        float(gibbs_error),
    )


def _feature_maps(method: str) -> list:
    if method == "rff":
        return [RandomFourierFeatures(n_components=_N_COMPONENTS)]
    if method == "pbrff":
        return [PseudoPosteriorFeatures(None, _N_COMPONENTS, _N_CANDIDATES, beta=beta) for beta in _BETAS]
    if method == "okrff":
        return [OptimizedKernelFeatures(None, _N_COMPONENTS, _N_CANDIDATES, rho=rho) for rho in _RHOS]
    if method == "boosting":
        return [LandmarkBoosting(None, _N_COMPONENTS, weak_learner) for weak_learner in WEAK_LEARNERS]
    return [LandmarkSimilarity(n_landmarks=_N_COMPONENTS, selection="random", beta=beta) for beta in _BETAS]
