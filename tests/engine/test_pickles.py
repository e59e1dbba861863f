"""Fitted estimators and sums that an earlier version pickled are read, and give the results they gave then.

The file was written before estimators had `n_jobs` and sums had weights. It is loaded by this test alone: the package
itself loads no pickle (tests/test_no_pickle.py).
"""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import rff_engine as rff

#: Estimators that the file is older than.
NEWER = {rff.LandmarkBoosting, rff.LeverageScoreFeatures}


@pytest.fixture(scope="module")
def kept():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn may be another version
        return pickle.loads((Path(__file__).parent / "data" / "fitted_0.1.0.pickle").read_bytes())


def test_estimators_of_an_earlier_version_transform_as_they_did(kept):
    classes = [type(model) for model in kept["fitted"]]
    today = {one for one in vars(rff).values() if isinstance(one, type) and hasattr(one, "transform")}
    assert set(classes) == today - NEWER
    for model, features in zip(kept["fitted"], kept["features"], strict=True):
        np.testing.assert_allclose(model.transform(kept["X"]), features, rtol=0, atol=1e-9)
        assert model.get_params()["n_jobs"] is None and clone(model).get_params().keys() == model.get_params().keys()
        assert len(model.get_feature_names_out()) == features.shape[1]
    np.testing.assert_allclose(kept["classifier"].decision_function(kept["X"]), kept["decision"], rtol=0, atol=1e-9)


def test_sums_of_an_earlier_version_add_up_with_those_of_this_one(kept):
    X, y, omega = kept["X"], kept["y"], kept["omega"]
    np.testing.assert_allclose(kept["sums"].loss(), kept["loss"], rtol=1e-12)
    weights = 1.0 + np.arange(len(y)) % 3
    both = kept["sums"] + rff.alignment_sums(X, y, omega, sample_weight=weights)
    expected = rff.alignment_loss(X, y, omega, sample_weight=1 + weights)
    np.testing.assert_allclose(both.loss(), expected, rtol=0, atol=1e-12)


def test_a_clone_of_an_earlier_estimator_learns_the_same_weights(kept):
    model = next(model for model in kept["fitted"] if isinstance(model, rff.PseudoPosteriorFeatures))
    again = clone(model).partial_fit(kept["X"], kept["y"])
    np.testing.assert_allclose(again.weights_, model.weights_, rtol=1e-9)


def test_a_pickle_of_this_version_is_the_same_estimator():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.arange(30) % 2
    kernel = rff.SumKernel((rff.GaussianKernel(), rff.PeriodicKernel()))
    model = rff.PseudoPosteriorFeatures(kernel, 4, 20, random_state=0).fit(X[:20], y[:20])
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.transform(X), model.transform(X))
    for one in (model, copied):
        one.partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(copied.frequencies_, model.frequencies_)
