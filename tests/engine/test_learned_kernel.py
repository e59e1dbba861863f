"""The kernel "learned": what it chooses by labels, and what its bounds pay."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import rff_engine as rff
from rff_engine._learned_kernel import kernels_to_try, share_of

LEARNERS = {
    "LandmarkSimilarity": {"n_landmarks": 40},
    "PseudoPosteriorFeatures": {"n_components": 30, "n_candidates": 1000},
    "OptimizedKernelFeatures": {"n_components": 30, "n_candidates": 1000},
    "SupervisedFourierFeatures": {"n_components": 20, "decay": 1e-3, "tol": 0.1},
}
DRAWN = {"RandomFourierFeatures": {"n_components": 60}, "NystroemFeatures": {"n_components": 60}}


def made(name: str, kernel="learned", **more):
    return getattr(rff, name)(kernel=kernel, random_state=0, **{**LEARNERS, **DRAWN}[name], **more)


def squares(n: int, seed: int):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.floor(2 * X).sum(axis=1) % 2


@pytest.mark.parametrize("name", [*LEARNERS, *DRAWN])
@pytest.mark.slow
def test_a_fine_pattern_gets_a_narrow_kernel_and_fewer_errors(name):
    X, y = squares(400, 0)
    fresh, labels = squares(2000, 1)
    scores = {}
    for kernel in ("learned", None):
        model = make_pipeline(made(name, kernel), LogisticRegression(C=100, max_iter=1000)).fit(X, y)
        scores[kernel] = model.score(fresh, labels)
    assert made(name).fit(X, y).kernel_ != kernels_to_try(X)[0]
    assert scores["learned"] > 0.8 and (scores["learned"] > scores[None] or name == "SupervisedFourierFeatures")


@pytest.mark.parametrize("name", [*LEARNERS, *DRAWN])
@pytest.mark.slow
def test_the_choice_follows_the_unit_of_the_columns(name):
    X, y = squares(300, 0)
    one, other = made(name).fit(X, y).kernel_, made(name).fit(8 * X, y).kernel_
    assert np.allclose(one(X[:50]), other(8 * X[:50])) and one != kernels_to_try(X)[0]


@pytest.mark.slow
def test_columns_of_noise_get_long_scales_and_the_others_short_ones():
    rng = np.random.default_rng(0)
    (X, y), (fresh, labels) = (
        (np.c_[X, 3 * rng.normal(size=(len(X), 5))], y) for X, y in (squares(800, 0), squares(2000, 1))
    )
    model = make_pipeline(made("LandmarkSimilarity"), LogisticRegression(C=100, max_iter=1000)).fit(X, y)
    lengths = np.array(model[0].kernel_.length_scales) / X.std(axis=0)
    assert lengths[2:].min() >= 4 * lengths[:2].max()
    plain = clone(model).set_params(landmarksimilarity__kernel=None).fit(X, y)
    assert model.score(fresh, labels) > 0.8 > 0.6 > plain.score(fresh, labels)
    given = rff.AnisotropicGaussianKernel("scale").scaled_to(X)
    assert alignment(model[0].kernel_, X, y) > 2 * alignment(given, X, y)
    assert share_of(model[0].kernel_) == pytest.approx(0.1 * 8.0**-7)
    assert 9 * share_of(kernels_to_try(X)[0]) + 8**7 * share_of(given) == pytest.approx(1)


def alignment(kernel, X, y) -> float:
    """Centred alignment of a kernel with the classes, by the centring matrix."""
    H = np.eye(len(X)) - 1 / len(X)
    K, same = H @ kernel(X) @ H, H @ (y[:, None] == y) @ H
    return float((K * same).sum() / np.linalg.norm(K) / np.linalg.norm(same))


def test_without_classes_the_width_is_that_of_scale():
    X, y = squares(200, 0)
    plain = rff.GaussianKernel("scale").scaled_to(X)
    for name in DRAWN:
        assert made(name).fit(X).kernel_ == made(name).fit(X, X[:, 0]).kernel_ == plain
    assert made("SupervisedFourierFeatures").fit(X, X[:, 0]).kernel_ == plain
    assert made("PseudoPosteriorFeatures", beta=1.0).partial_fit(X, y).kernel_ == plain
    one_of_each = made("LandmarkSimilarity").set_params(n_landmarks=2)
    assert one_of_each.fit(X[:2], [0, 1]).kernel_.is_open is False


@pytest.mark.parametrize("name", ["PseudoPosteriorFeatures", "OptimizedKernelFeatures", "LandmarkSimilarity"])
def test_a_bound_pays_for_the_kernels_that_were_tried(name):
    X, y = squares(300, 0)
    more = {"selection": "random"} if name == "LandmarkSimilarity" else {}
    learned = made(name, **more).fit(X, y)
    given = made(name, learned.kernel_, epsilon=0.05 * share_of(learned.kernel_), **more).fit(X, y)
    assert np.array_equal(learned.bound_, given.bound_)
    with pytest.raises(ValueError, match="width taken from the rows"):
        rff.CertifiedClassifier(made(name, **(more and more | {"similarity": "prior"})), prior_fraction=0).fit(X, y)


@pytest.mark.slow
def test_a_grid_may_have_it_and_others_refuse_it():
    X, y = squares(200, 0)
    search = GridSearchCV(
        make_pipeline(made("LandmarkSimilarity"), LogisticRegression()),
        {"landmarksimilarity__kernel": [None, "learned"]},
    ).fit(X, y)
    assert search.best_params_ == {"landmarksimilarity__kernel": "learned"}
    for estimator in (rff.AdaptiveFourierFeatures("learned"), rff.LandmarkBoosting("learned")):
        with pytest.raises(ValueError, match="kernel is 'learned'; None, one of 'gaussian'"):
            estimator.fit(X, y)
