"""Parameters of kernels inside estimators: get, set, clone and search them; names of kernels; widths from the data."""

import unicodedata

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC

import rff_engine as rff
from rff_engine.kernels import KERNELS as NAMED, KERNELS_BY_TITLE

from .calls import ESTIMATORS as ALL

ESTIMATORS = [one for one in ALL if not isinstance(one, rff.NystroemFeatures | rff.CertifiedClassifier)]
# Each kernel by its name, and the parameter that is its width.
KERNELS = {name: named.kernel for name, named in NAMED.items()}
WIDTHS = {name: kernel._width for name, kernel in KERNELS.items()}
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
every_kernel = pytest.mark.parametrize("name", KERNELS)


def sample(n=30, d=3, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)) * [2.0, 1.0, 5.0][:d]
    return X, (X[:, 0] > 0).astype(int)


def expected_width(name, X):
    length = NAMED[name].distance(X.shape[1]) * np.std(X)
    return 1 / length if WIDTHS[name] == "gamma" else length


# --- kernels on their own -----------------------------------------------------------------------------------------


@every_kernel
def test_kernel_is_rebuilt_from_its_parameters(name):
    for kernel in (KERNELS[name](), KERNELS[name](**{WIDTHS[name]: 2}), KERNELS[name](**{WIDTHS[name]: "scale"})):
        parameters = kernel.get_params()
        assert KERNELS[name](**parameters) == kernel == clone(kernel)
        assert clone(kernel) is not kernel
        assert all(f"{key}={value!r}" in repr(kernel) for key, value in parameters.items())


@every_kernel
def test_parameters_are_set_in_place_and_all_or_none(name):
    kernel, width = KERNELS[name](), WIDTHS[name]
    assert kernel.set_params(**{width: np.float64(3)}) is kernel
    assert getattr(kernel, width) == 3 and kernel == KERNELS[name](**{width: 3.0})
    before = kernel.get_params()
    for wrong, says in (({width: -1}, f"{width} is -1"), ({width: 2, "height": 1}, "has no parameter 'height'")):
        with pytest.raises(ValueError, match=says):
            kernel.set_params(**wrong)
        assert kernel.get_params() == before
    with pytest.raises(AttributeError):
        setattr(kernel, width, 4.0)


@pytest.mark.parametrize("kernel", [rff.MaternKernel, rff.RationalQuadraticKernel, rff.PeriodicKernel])
def test_two_numbers_whose_order_other_libraries_swap_need_their_names(kernel):
    with pytest.raises(TypeError, match=rf"{kernel.__name__}.* takes 1 positional argument"):
        kernel(2.0, 1.5)


def test_parameters_of_the_parts_of_a_kernel_are_searched():
    """By the names of scikit-learn's kernels: k1, k2, ..., also of parts of parts."""
    product = rff.ProductKernel((rff.GaussianKernel(2.0), rff.LaplacianKernel()))
    given = rff.SumKernel((rff.GaussianKernel(1.0), product))
    assert given.get_params()["k2__k1__sigma"] == 2.0 and "k1" not in given.get_params(deep=False)
    X, y = sample()
    model = Pipeline([("features", rff.RandomFourierFeatures(given, 5, random_state=0)), ("svm", LinearSVC())])
    grid = {"features__kernel__k2__k2__gamma": [0.3, 3.0], "features__kernel__k1": [rff.CauchyKernel(0.5)]}
    fitted = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y).best_estimator_["features"].kernel_
    assert fitted.kernels[0] == rff.CauchyKernel(0.5) and fitted.kernels[1].kernels[1].gamma in (0.3, 3.0)
    assert given == rff.SumKernel((rff.GaussianKernel(1.0), product)) and product.kernels[1].gamma == 1.0
    for wrong, says in (({"k3__sigma": 1}, "no parameter 'k3__sigma'"), ({"k1__sigma": -1, "weights": None}, "sigma")):
        with pytest.raises(ValueError, match=says):
            given.set_params(**wrong)
    assert given.kernels[0].sigma == 1.0
    assert given.set_params(k1=rff.CauchyKernel(), k1__gamma=3).kernels[0] == rff.CauchyKernel(3.0)


def test_kernel_parameters_are_searched_in_an_svm():
    X, y = sample()
    search = GridSearchCV(SVC(kernel=rff.GaussianKernel()), {"kernel__sigma": [1e-6, 2.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernel__sigma": 2.0}


# --- the width "scale" --------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("container", [np.array, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scale_equals_its_formula(name, container, dtype):
    X = sample()[0].astype(dtype)
    X *= X > 0.5
    kernel = KERNELS[name](**{WIDTHS[name]: "scale"}).scaled_to(container(X))
    assert getattr(kernel, WIDTHS[name]) == pytest.approx(expected_width(name, X.astype(float)), rel=1e-10)
    assert kernel.scaled_to(10 * X) is kernel
    constant = KERNELS[name](**{WIDTHS[name]: "scale"}).scaled_to(container(np.ones((4, 2), dtype)))
    one = np.array([[1.0, -1.0]]) / np.sqrt(2)  # d Var(X) = 1
    assert getattr(constant, WIDTHS[name]) == pytest.approx(expected_width(name, one))


@every_kernel
def test_missing_width_raises_one_sentence(name):
    kernel, X = KERNELS[name](**{WIDTHS[name]: "scale"}), sample()[0]
    cube = np.full((2, 4), 0.5)
    for use in (
        lambda: kernel(X),
        lambda: kernel.spectral_density(X),
        lambda: kernel.sample_frequencies(2, 3),
        lambda: kernel.frequencies_at(cube),
        lambda: kernel.sample_scales(2),
        lambda: rff.draw_frequencies(kernel, 2, 3),
        *([lambda: kernel.gamma, lambda: rff.importance_density(X, kernel, 1.0)] if name == "gaussian" else []),
        *([] if name == "laplacian" else [lambda: kernel.coordinate_variance]),
    ):
        with pytest.raises(ValueError, match=f"^{type(kernel).__name__}.*'scale'.* has no width yet; scaled_to"):
            use()
    with pytest.raises(ValueError, match=f"{WIDTHS[name]} is 'wide'; a number above 0 or 'scale' is needed"):
        KERNELS[name](**{WIDTHS[name]: "wide"})


# --- names --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_estimator
def test_name_stands_for_the_kernel_of_width_scale_and_none_for_the_gaussian(estimator):
    X, y = sample()
    for name, kernel in KERNELS.items():
        fitted = clone(estimator).set_params(kernel=name).fit(X, y)
        assert fitted.kernel == name and fitted.get_params()["kernel"] == name
        assert fitted.kernel_ == kernel(**{WIDTHS[name]: "scale"}).scaled_to(X)
    kernels = [clone(estimator).set_params(kernel=name).fit(X, y).kernel_ for name in (None, "rbf", "gaussian")]
    assert kernels[0] == kernels[1] == kernels[2]


@pytest.mark.parametrize("shown", KERNELS_BY_TITLE)
def test_names_and_widths_are_those_of_the_pages(shown):
    X = sample()[0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    name = unicodedata.normalize("NFD", shown).encode("ascii", "ignore").decode().lower()
    ours = rff.RandomFourierFeatures(name, 2).fit(X).kernel_.get_params()
    named = KERNELS_BY_TITLE[shown]
    assert ours == pytest.approx(named.of_width(named.distance(X.shape[1]), nu=1.5).get_params(), rel=1e-12)


@every_estimator
@pytest.mark.parametrize("wrong", ["radial", "Gaussian", "", 2.0, rff.GaussianKernel])
def test_unknown_name_raises_one_sentence(estimator, wrong):
    X, y = sample()
    made = clone(estimator).set_params(kernel=wrong)
    for attempt in (lambda: made.fit(X, y), lambda: made.set_params(kernel__sigma=1.0)):
        with pytest.raises(ValueError) as raised:
            attempt()
        assert str(raised.value).startswith("kernel is ") and repr(wrong) in str(raised.value)
        assert all(name in str(raised.value) for name in KERNELS) and "\n" not in str(raised.value)


# --- parameters of the kernel through the estimator ---------------------------------------------------------------


@pytest.mark.slow
@every_estimator
@every_kernel
def test_kernel_parameters_are_set_through_the_estimator(estimator, name):
    width = WIDTHS[name]
    given = KERNELS[name](**{width: 0.5})
    made = clone(estimator).set_params(kernel=given)
    assert made.kernel is given and made.get_params()[f"kernel__{width}"] == 0.5
    X, y = sample()
    made.fit(X, y)
    assert made.set_params(**{f"kernel__{width}": 2}) is made
    assert made.get_params()[f"kernel__{width}"] == 2.0
    assert getattr(given, width) == 0.5 and getattr(made.kernel_, width) == 0.5  # both unchanged
    copied = clone(made)
    assert copied.kernel == made.kernel and copied.kernel is not made.kernel
    given.set_params(**{width: 7.0})
    assert getattr(clone(estimator).set_params(kernel=given).fit(X, y).kernel_, width) == 7.0
    assert getattr(made.kernel_, width) == 0.5
    assert f"{type(given).__name__}(" in repr(made) and f"{width}=2.0" in repr(made)
    assert type(given).__name__ in made._repr_html_()


@every_estimator
def test_parameters_of_a_default_or_named_kernel_can_be_set(estimator):
    made = clone(estimator)
    assert "kernel__sigma" not in made.get_params() and made.kernel in (None, "learned")
    assert made.set_params(kernel__sigma=2).kernel == rff.GaussianKernel(2.0)
    made = clone(estimator).set_params(kernel="matern", kernel__nu=0.5)
    assert made.kernel == rff.MaternKernel(nu=0.5, length_scale="scale")
    with pytest.raises(
        ValueError, match=r"MaternKernel has no parameter 'sigma'; it must be one of 'nu', 'length_scale'\.$"
    ):
        made.set_params(kernel__sigma=1)
    with pytest.raises(ValueError, match="Invalid parameter"):
        made.set_params(kernels__nu=1)
