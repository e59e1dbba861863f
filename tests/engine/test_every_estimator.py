"""What all estimators have in common: scikit-learn's checks, float32 that stays, and CSR points that equal dense."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

import rff_engine as rff
from rff_engine import _validation, estimators
from rff_engine._validation import largest_size
from rff_engine.frequencies import SAMPLING_SCHEMES

from .test_boosting import MODELS as BOOSTED
from .test_certified_classifier import MODELS as CERTIFIED
from .test_estimators import ESTIMATORS as DRAWN, sample

ADAPTIVE = [
    rff.AdaptiveFourierFeatures(n_components=5, random_state=0),
    rff.AdaptiveFourierFeatures(rff.LaplacianKernel(0.5), 3, "cluster", 4, random_state=0),
    rff.AdaptiveFourierFeatures(n_components=4, landmarks="nearest", sampling="orthogonal", random_state=0),
    rff.SupervisedFourierFeatures(n_components=3, decay=0.01, random_state=0),
    rff.SupervisedFourierFeatures(n_components=3, task="classification", decay=0.1, agreement=0, random_state=0),
]


# --- scikit-learn's checks ----------------------------------------------------------------------------------------

OTHER_SAMPLING = [
    rff.RandomFourierFeatures(n_components=5, sampling=sampling, random_state=0)
    for sampling in list(SAMPLING_SCHEMES)[1:]
]
BOOSTING = [rff.LandmarkBoosting(n_estimators=6, random_state=0)]
BOOSTING += [rff.LandmarkBoosting(None, 6, "cosine", random_state=0)]
# Estimators, and how many of their checks are of the first group.
CHECKED = [
    (DRAWN + OTHER_SAMPLING, 100),
    (ADAPTIVE, 60),
    (BOOSTING, 20),
    ([CERTIFIED[0], CERTIFIED[3]], 15),
    ([rff.CertifiedClassifier(estimator=LogisticRegression(), random_state=0, scheme="progressive", n_blocks=4)], 15),
]


def checks():
    for some, n_first in CHECKED:
        cases = [
            pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}")
            for estimator in some
            for estimator, check in estimator_checks_generator(estimator, mark=None)
        ]
        yield from cases[:n_first]
        yield from (pytest.param(*case.values, id=case.id, marks=pytest.mark.second) for case in cases[n_first:])


# Some checks have more dimensions than there are components.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*too few to match a covariance")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- checks of points ---------------------------------------------------------------------------------------------

DEFAULT = [getattr(rff, name)() for name in rff.__all__ if hasattr(getattr(rff, name), "fit")]
FIXED = rff.PseudoPosteriorFeatures(rff.GaussianKernel(), beta="bound")
LOOKS = [
    *((estimator, 2) for estimator in DEFAULT),
    (FIXED, 2),
    (rff.OptimizedKernelFeatures(rho="bound"), 2),
    (rff.LandmarkSimilarity(selection="random", beta="bound"), 2),
    (rff.CertifiedClassifier(FIXED, prior_fraction=0), 2),
    (rff.CertifiedClassifier(), 3),
    (rff.LandmarkBoosting(n_estimators=5), 3),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_components is 100, and there are")
@pytest.mark.parametrize(("estimator", "n_classes"), LOOKS)
def test_points_are_looked_at_once_in_a_fit_and_in_an_answer(estimator, n_classes, monkeypatch):
    looks, d = [], 13  # columns of points, of their rows, of landmarks and of frequencies

    def looked(values):
        if values.ndim == 2 and values.shape[1] == d:
            looks.append(values.shape)
        return largest_size(values)

    for module in (_validation, estimators):
        monkeypatch.setattr(module, "largest_size", looked)
    X = np.random.default_rng(0).normal(size=(30, d))
    fitted = clone(estimator).fit(X, np.arange(30) % n_classes)
    assert looks == [(30, d)]
    getattr(fitted, "transform", getattr(fitted, "predict", None))(X[:9])
    assert looks == [(30, d), (9, d)]


# --- a fit that raises --------------------------------------------------------------------------------------------

EVERY = DRAWN + ADAPTIVE + BOOSTING + CERTIFIED
EVERY += [rff.CertifiedClassifier(estimator=LogisticRegression(), scheme="progressive", random_state=0)]


@pytest.mark.parametrize("estimator", EVERY, ids=lambda one: type(one).__name__)
@pytest.mark.slow
def test_a_fit_that_raises_leaves_an_estimator_as_it_was(estimator):
    X, y = sample()
    fitted = clone(estimator).fit(X, y)
    before = dict(vars(fitted))
    with pytest.raises(ValueError):
        fitted.fit(np.full((len(X), 1), np.nan), y)
    assert vars(fitted) == before
    for name in estimator.get_params(deep=False):
        broken = clone(estimator)
        setattr(broken, name, lambda: None)
        try:
            broken.fit(X, y)
        except (TypeError, ValueError, AttributeError):
            use = broken.predict if hasattr(broken, "predict") else broken.transform
            with pytest.raises(NotFittedError):
                use(X)


# --- forms of points ----------------------------------------------------------------------------------------------

# Estimators, and how far features of CSR points may be from those of dense ones, in float64 and float32, after a fit
# to each. Where rounding changes the end of a descent much, they are not compared.
ANYWHERE = 1e9
FORMS = [
    *(pytest.param(estimator, 1e-9, 2e-4) for estimator in DRAWN[:8]),
    *(pytest.param(estimator, 1e-9, 2e-4, marks=pytest.mark.second) for estimator in DRAWN[8:]),
    *(pytest.param(estimator, 1e-4, ANYWHERE) for estimator in ADAPTIVE),
    *(pytest.param(estimator, 1e-3, ANYWHERE) for estimator in BOOSTED),
]


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "close", "close_32"), FORMS)
def test_float32_stays_and_csr_equals_dense(estimator, close, close_32):
    X, y = sample()
    X = X * (np.abs(X) > 0.3)
    features = []
    for dtype, after_fit, after_transform in ((np.float64, close, 1e-9), (np.float32, close_32, 2e-4)):
        points = X.astype(dtype)
        dense = clone(estimator).fit(points, y)
        phi = dense.transform(points)
        assert isinstance(phi, np.ndarray) and phi.dtype == dtype
        for container in (sp.csr_array, sp.csr_matrix):
            sparse = clone(estimator).fit(container(points), y).transform(container(points))
            assert isinstance(sparse, np.ndarray) and sparse.dtype == dtype
            np.testing.assert_allclose(sparse, phi, rtol=0, atol=after_fit)
            np.testing.assert_allclose(dense.transform(container(points)), phi, rtol=0, atol=after_transform)
        features.append(phi)
    np.testing.assert_allclose(features[1], features[0], rtol=0, atol=5 * close_32)
    names = dense.get_feature_names_out()
    assert len(names) == phi.shape[1] and names[0] in ("cos0", "landmark0", "nystroem0", "cosine0")
