"""A split and protocols so small that a run takes a fraction of a second, for the tests of this folder."""

from types import SimpleNamespace

import numpy as np

from rff_engine.studies.protocols import FeatureSweep, LandmarkStudy

SMALL_SWEEP = FeatureSweep(
    gammas=(0.01, 0.1, 1.0),
    Cs=(0.01, 1.0, 100.0),
    n_candidates=300,
    n_features=(1, 3, 10),
    betas=(0.1, 10.0),
    rhos=(0.01, 1.0),
)
SMALL_STUDY = LandmarkStudy(
    gammas=(0.01, 0.1, 1.0), Cs=(0.01, 1.0, 100.0), shares=(0.05, 0.2), n_features=(4, 8), betas=(0.1, 10.0)
)


def make_split(n=120, d=3, seed=0, labels=(-1, 1)):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n) > 0, labels[1], labels[0])
    a, b = n // 2, 3 * n // 4
    return SimpleNamespace(X_train=X[:a], y_train=y[:a], X_valid=X[a:b], y_valid=y[a:b], X_test=X[b:], y_test=y[b:])
