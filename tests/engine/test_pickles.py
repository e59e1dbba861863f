"""A pickled estimator is the same estimator."""

import pickle

import numpy as np

import rff_engine as rff


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
