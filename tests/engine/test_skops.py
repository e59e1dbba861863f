"""Fitted estimators go through skops, which, unlike a pickle, names the types in a file before it makes them."""

import inspect
import pickle

import numpy as np
import pytest

import rff_engine as rff

from .calls import KERNELS

#: In one process: importing skops takes a second.
pytestmark = pytest.mark.xdist_group("skops")

PUBLIC = [getattr(rff, name) for name in rff.__all__]
ESTIMATORS = [value for value in PUBLIC if inspect.isclass(value) and hasattr(value, "fit")]


@pytest.fixture(scope="session")
def io():
    return pytest.importorskip("skops.io", reason="skops is not installed")


@pytest.fixture(scope="session")
def sample():
    X = np.random.default_rng(0).normal(size=(60, 2))
    return X, (X[:, 0] > 0).astype(int)


def output(model, X) -> np.ndarray:
    return model.transform(X) if hasattr(model, "transform") else model.decision_function(X)


def reread(io, model):
    """The model from its file, which names no types but those of this package."""
    data = io.dumps(model)
    names = io.get_untrusted_types(data=data)
    assert names and all(name.startswith("rff_engine.") for name in names)
    return io.loads(data, trusted=names)


@pytest.mark.more(after=2)
@pytest.mark.slow("fits every estimator")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_fitted_estimator_gives_the_same_output(estimator, io, sample):
    X, y = sample
    model = estimator().fit(X, y)
    again = reread(io, model)
    np.testing.assert_array_equal(output(again, X), output(model, X))
    assert repr(again) == repr(model)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_an_estimator_keeps_its_kernel(kernel, io, sample):
    X, y = sample
    model = rff.PseudoPosteriorFeatures(kernel, 5, 50, random_state=0).fit(X[:40], y[:40])
    copies = [reread(io, model), pickle.loads(pickle.dumps(model))]
    expected = [model.transform(X), model.partial_fit(X[40:], y[40:]).transform(X)]
    for again in copies:
        assert again.kernel == kernel
        np.testing.assert_array_equal(again.transform(X), expected[0])
        np.testing.assert_array_equal(again.partial_fit(X[40:], y[40:]).transform(X), expected[1])


@pytest.mark.slow
def test_types_that_are_not_trusted_are_refused(io, sample):
    data = io.dumps(rff.RandomFourierFeatures(n_components=5).fit(*sample))
    with pytest.raises(io.exceptions.UntrustedTypesFoundException, match="RandomFourierFeatures"):
        io.loads(data)
