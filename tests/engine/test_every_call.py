"""Every call of `calls.py` with other forms of its numbers, with any finite numbers, and with what is refused.

`RFF_EXAMPLES=50` tries 50 times as many numbers, and others in each run.
"""

from __future__ import annotations

import inspect
import linecache
import os
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import rff_engine as rff
from rff_engine import bounds, linear, losses

from .calls import CALLS, ESTIMATORS, KERNEL, OMEGA, D, L, N, X, Y, numbers_in

TIMES = int(os.environ.get("RFF_EXAMPLES", "1"))
every_call = pytest.mark.parametrize("name", CALLS)


def outcome(name: str, **changes) -> list[np.ndarray] | str:
    """The numbers that a call gives, or the one sentence with which it is refused; anything else fails."""
    function, arguments = CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # a sentence to the user is an answer
        try:
            return numbers_in(function(**arguments | changes))
        except ValueError as error:
            # Errors of NumPy and SciPy have no full stop: the engine should have refused the input.
            said = str(error)
            assert type(error) is ValueError and said.endswith(".") and "\n" not in said and len(said) < 300, said
            return said


def test_every_public_name_is_called():
    modules = {"": rff, "bounds.": bounds, "losses.": losses, "linear.": linear}
    names = {f"{place}{name}" for place, module in modules.items() for name in module.__all__}
    names -= {f"linear.{name}" for name in linear.__all__ if name in rff.__all__}
    assert all(dir(module) == sorted(module.__all__) for module in (rff, bounds, losses))
    results = {"AlignmentSums", "AdaptedFrequencies", "bounds.KLTerms", "linear.gram_pays", "losses.LOSSES"}
    assert names - {"bounds", "losses", "SpectralKernel"} - results <= set(CALLS)


TENSORS = {"alignment_loss": "X", "landmark_alignment_loss": "omega", "pseudo_posterior": "loss", "kl_divergence": "Q"}
TENSORS |= dict.fromkeys(("phases", "fourier_features", "random_phase_features", "landmark_similarity"), "X")


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_refused(name):
    """On the way to NumPy its device and precision would be lost."""
    tensor, argument = type("Tensor", (), {"__module__": "torch", "shape": (N, 2)})(), TENSORS[name]
    said = f"{argument} is an array of torch; one of NumPy is needed, such as numpy.asarray({argument})."
    assert outcome(name, **{argument: tensor}) == said


# --- forms of input -----------------------------------------------------------------------------------------------


def duplicated(points):
    """CSR with each entry in two halves, in no order."""
    columns = np.tile(np.arange(points.shape[1])[::-1], 2)
    halves, ends = points[:, columns].ravel() / 2, len(columns) * np.arange(len(points) + 1)
    return sp.csr_array((halves, np.tile(columns, len(points)), ends), shape=points.shape)


def outside(points):
    """CSR whose columns SciPy's products would read far outside the memory of the points."""
    broken = sp.csr_array(points)
    broken.indices = broken.indices + 10**6
    return broken


FORMS = {
    "list": lambda a: a.tolist(),
    "Fortran": np.asfortranarray,
    "negative strides": lambda a: a[::-1].copy()[::-1],
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "object": lambda a: a.astype(object),
    "big-endian": lambda a: a.astype(">f8"),
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
}
OF_WHOLE = {kind: FORMS[kind] for kind in ("list", "Fortran", "negative strides", "read-only")}
OF_POINTS = {
    "frame": pd.DataFrame,
    "mixed frame": lambda a: pd.DataFrame(a).astype({0: np.float32}),
    "csr matrix": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csr duplicates": duplicated,
    "csc duplicates": lambda a: duplicated(a.T.copy()).T,
    "csr float32": lambda a: sp.csr_array(a.astype(np.float32)),
    "csc": sp.csc_array,
    "coo": sp.coo_matrix,
    "bsr": sp.bsr_array,
}
NARROW = ("float32", "float16", "mixed frame", "csr float32")


def arrays_of(name: str) -> dict[str, np.ndarray]:
    return {argument: value for argument, value in CALLS[name][1].items() if isinstance(value, np.ndarray)}


def takes_sparse(name: str, argument: str) -> bool:
    """Whether the annotation says so; the calls of `calls.py` that have none pass points on."""
    parameter = inspect.signature(CALLS[name][0]).parameters.get(argument)
    if parameter is None or parameter.annotation is inspect.Parameter.empty:
        return argument in ("X", "Z")
    return "MatrixLike" in str(parameter.annotation)


def plain(form):
    """The numbers of a form as an ordinary array."""
    values = form.toarray() if sp.issparse(form) else np.asarray(form)
    return values.astype(np.float32 if values.dtype in (np.float16, np.float32) else np.float64, order="C")


@pytest.mark.slow("three hundred forms of arguments, and fits of estimators")
@every_call
def test_any_form_of_the_same_numbers_counts_as_a_plain_array(name):
    for argument, array in arrays_of(name).items():
        whole = array.dtype.kind == "i"
        forms = OF_WHOLE if whole else FORMS if array.ndim != 2 else FORMS | OF_POINTS
        for kind, make in forms.items():
            form = make(array)
            before = pickle.dumps(form)
            found = outcome(name, **{argument: form})
            assert pickle.dumps(form) == before, f"{name} changes {argument} as {kind}"
            if isinstance(found, str) or (sp.issparse(form) and not takes_sparse(name, argument)):
                assert sp.issparse(form) and not takes_sparse(name, argument), f"{name} {argument} {kind}: {found}"
                assert found == f"{argument} is a sparse matrix; a dense array is needed."
                continue
            expected = outcome(name, **{argument: array if whole else plain(form)})
            tolerance = 1e-3 if kind in NARROW else 1e-9
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, tolerance, tolerance, err_msg=f"{name} {argument} {kind}")


# --- any finite numbers -------------------------------------------------------------------------------------------

_SIZES = [0.0, 5e-324, 1e-308, 1e-162, 1e-50, 1e-16, 1e-8, 0.5, 1.0, 3.0, 1e8, 1e16, 1e50, 1e77, 1e100, 1e101]
_SIZES += [1e154, 1e160, 1e300, float(np.finfo(float).max)]
NUMBERS = st.one_of(st.sampled_from(_SIZES), st.floats(allow_nan=False, allow_infinity=False), st.floats(-3, 3))
SCALARS = st.one_of(NUMBERS, st.sampled_from([0, -1, 1, 2, 10**20, 10**400]), st.integers(-3, 9))
COUNTS = st.one_of(st.integers(-1, 9), st.sampled_from([-(10**30), 10**30, 10**400]))


def finite(value):
    """A strategy of finite numbers in the place of an argument, or None for what is no number."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        alike = st.tuples(hnp.arrays(float, value.shape, elements=st.floats(-1, 1)), st.sampled_from(_SIZES))
        mixed = hnp.arrays(float, value.shape, elements=st.one_of(NUMBERS, NUMBERS.map(lambda x: -x)))
        own = st.sampled_from(_SIZES).map(lambda size: value * min(size, 1e306))
        return st.one_of(mixed, own, alike.map(lambda pair: pair[0] * pair[1]))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return COUNTS if isinstance(value, int) else SCALARS


@pytest.mark.slow("calls each function a few dozen times")
@every_call
@settings(
    derandomize=TIMES == 1,
    deadline=None,
    database=None,
    max_examples=25 * TIMES,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_any_finite_numbers_give_finite_ones_or_one_sentence(name, data):
    arguments = CALLS[name][1]
    drawn = {argument: finite(value) for argument, value in arguments.items() if argument not in ("n_jobs", "verbose")}
    drawn = {argument: strategy for argument, strategy in drawn.items() if strategy is not None}
    chosen = data.draw(st.sets(st.sampled_from(sorted(drawn)), min_size=1)) if drawn else ()
    found = outcome(name, **{argument: data.draw(drawn[argument]) for argument in chosen})
    # A bound is infinite where one of its terms overflows: see the docstring of `bounds`.
    allowed = np.isnan if name.startswith("bounds.") else lambda part: ~np.isfinite(part)
    assert isinstance(found, str) or not any(allowed(part).any() for part in found), (name, chosen)


def test_an_error_that_is_not_one_sentence_fails(monkeypatch):
    for call in (lambda: np.linalg.cholesky([[-1.0]]), lambda: float("x"), lambda: np.float64(1e308) * 10):
        monkeypatch.setitem(CALLS, "planted", (call, {}))
        with pytest.raises((AssertionError, np.linalg.LinAlgError, RuntimeWarning)):
            outcome("planted")


# --- what is refused ----------------------------------------------------------------------------------------------


def changed(array, value, at=0):
    array = np.array(array, dtype=float)
    array.flat[at] = value
    return array


WIDTH = [0, -1.0, np.nan, "wide", "1", None, True, [1.0]]
COUNT = [0, -1, 2.5, np.nan, "3", None, True]
NOT_NEGATIVE = [-1.0, -1e-12, np.nan, np.inf, "1", None]
NAME = ["unknown", None, 3, ["random"]]
POINTS = [np.zeros(2), np.zeros((2, 2, 2, 2)), np.zeros((0, 2)), np.zeros((3, 0)), "text", [["a", "b"]], X + 0.5j]
WEIGHTED = [np.full(D, np.nan), 1.0, ["a"] * D, np.ones(D) + 1j]
SHARE = [-0.1, 1.1, np.nan, np.inf, ["a"]]
LABELS = [np.zeros((N, 1)), [1, "a"] * (N // 2), [None, 1] * (N // 2), 3, Y + 1j]
#: Values of an argument that no call takes.
WRONG = {
    "X": [*POINTS, changed(X, np.nan), changed(X, -np.inf, 5), sp.csr_array(changed(X, np.nan))],
    "Y": [*POINTS, changed(X, np.nan)],
    "omega": [*POINTS, changed(OMEGA, np.nan), sp.csr_array(OMEGA)],
    "landmarks": [*POINTS, changed(X[:L], np.inf)],
    "y": [*LABELS, np.arange(N - 1) % 2, changed(Y, np.nan)],
    "a number a row": [changed(Y, np.nan), np.zeros(N - 1), np.zeros((N, 1, 1)), ["a"] * N, Y + 1j],
    "classes": [[0, np.nan], [[0], [1]], 1, ["a", "b"]],
    "landmark_labels": [[0, 1], np.zeros((3, 1)), [0, 1, np.nan], 1],
    "landmark_indices": [[0, 1], [0, 1, N], [0, 1, -1], [0.5, 1.0, 2.0], [2, 1, 0], 1],
    "weights": WEIGHTED,
    "offsets": [*WEIGHTED, np.ones(D + 1)],
    "sample_weight": [np.ones(N - 1), np.ones((N, 1)), -np.ones(N), np.full(N, np.nan), np.zeros(N), 1.0, ["a"] * N],
    "landmark_weights": [np.ones(L - 1), -np.ones(L), np.full(L, np.nan), ["a"] * L],
    **{key: [np.zeros((2, 2)), [], [0, np.nan], 1.0, ["a"]] for key in ("u", "v")},
    "Q": [[], [np.nan, 1.0], ["a"]],
    "loss": [[0.1, np.nan], [0.1, np.inf], ["a"], None],
    **dict.fromkeys(("gibbs_error", "margin_error", "tandem_error", "disagreement"), SHARE),
    **{key: [[], 1.0, [-1.0], [1.0, 0.0], [np.nan], [np.inf], ["a"]] for key in ("lambdas", "C_values")},
    **dict.fromkeys(("method", "sampling", "form", "bound", "selection", "similarity", "task", "scheme"), NAME),
    **dict.fromkeys(("weak_learner", "solver"), NAME),
    "random_state": [-1, 1.5, "seed", True],
    "seed": [-1, 1.5, None],
    "n_jobs": [0, 1.5, np.nan, "2", True],
    "indices": [[10], [-1], [[0]], [0.5], 3, ["a"]],
    "b": [3, -1],
    **dict.fromkeys(("n_frequencies", "n_features", "n", "n_components", "n_candidates", "n_pilot"), COUNT),
    **dict.fromkeys(("n_estimators", "max_iter", "n_blocks", "n_draws", "inner_steps"), COUNT),
    "n_landmarks": [0, -1, 2.5, "4"],
    **dict.fromkeys(("beta", "rho", "tol", "agreement"), NOT_NEGATIVE),
    "mu": [1, 0, -2.0, np.nan, np.inf, "2", None],
    **{key: [0, 1, -0.1, 1.5, np.nan, "0.05", None] for key in ("epsilon", "delta")},
    "t": [0, -1.0, np.nan, np.inf, [1.0, 0.0]],
    **{key: [-1.0, np.nan, np.inf, [0.0, -1e-3]] for key in ("kl", "divergence", "chi2")},
    "variance": [-0.1, 0.6, np.nan, np.inf, ["a"]],
    "ridge": [-1.0, np.nan, np.inf, "0.1", None],
    "decay": [-1.0, 0.0, np.nan, np.inf, "1"],
    "max_steps": [-1, 0.5, np.nan, "3", None, True],
    "verbose": [-1, 0.5, "yes", None],
    "prior_fraction": [-0.1, 0.95, np.nan, np.inf, "0.5", None, True],
    "features": [[], "rbf", np.zeros(N), np.full((N, 2), np.nan)],
    "kernel": ["radial", 1.0, rff.GaussianKernel],
    **{key: [*WIDTH, np.inf] for key in ("sigma", "gamma", "length_scale", "alpha", "period")},
    "nu": WIDTH,  # infinity is allowed
    "learning_rate": [0, -1.0, np.nan, "fast", [1.0]],
    "uniforms": [[[0.5, np.nan]], "a", [0.5]],
    "decision": [[], [[1.0]] * N, [np.nan] * N, "a", None],
    "threshold": [-1.0, np.nan, "a"],
    "log_ratio": [np.nan, "a", np.inf],
    **{key: [-1, np.nan, "a"] for key in ("scale", "n_errors")},
    "C": [0.0, -1, np.nan, "a"],
    **{key: [np.zeros((2, 3)), "a"] for key in ("gram", "K")},
    **{key: ["a", [np.nan] * 3] for key in ("coef", "intercept", "pilot")},
    "length_scales": [[], [-1.0], [1.0, 0.0], 2.0, "a"],
    "kernels": [[], ["gaussian"], KERNEL, None],
    "distances": [[], [-1.0], [np.nan], "far"],
    **{key: [-1.0, np.nan, "1"] for key in ("radius", "diameter", "spread")},
    "lipschitz": [0, -1.0, np.nan, "1"],
}
#: An argument that a value may be said not to fit.
PARTNERS = {"landmarks": "omega|landmark_indices|Q", "omega": "Q|X", "Q": "omega", "X": "omega|Y|landmarks|y"}
PARTNERS |= {"classes": "y", "landmark_labels": "landmark_indices", "y": "landmark_indices|decision", "decision": "y"}


@pytest.mark.slow
@every_call
def test_what_is_refused_is_named_in_one_sentence(name):
    estimators = {type(estimator).__name__ for estimator in ESTIMATORS}
    # Points and labels of estimators are scikit-learn's to refuse, in its words: see test_every_estimator.py.
    left_out = {"X", "y"} if name.split(".")[0] in estimators else set()
    for argument in set(WRONG) & set(CALLS[name][1]) - left_out:
        expected = (argument, *PARTNERS.get(argument, argument).split("|"))
        numbers = argument == "y" and name.startswith(("ridge", "kernel_ridge", "losses"))
        for value in WRONG["a number a row" if numbers else argument]:
            said = outcome(name, **{argument: value})
            assert isinstance(said, str), (name, argument, value)
            assert said.startswith(expected), (name, argument, value, said)


MANY, TOO_MANY = np.zeros((2 * 10**6, 1)), 10**11
#: Further calls, with what is said of them.
REFUSED = {
    r"^beta is -0.5; ": lambda: rff.pseudo_posterior([0.1], -0.5, 3),
    r"^sampling is 'sobolev'; it must be one of ": lambda: rff.draw_frequencies(KERNEL, 2, 2, sampling="sobolev"),
    r"'ham'": lambda: rff.alignment_loss(np.zeros((2, 2)), ["ham", "ham"], OMEGA),
    r"landmark_labels holds labels of different types": lambda: rff.landmark_alignment_loss(X, Y, X[:1], ["0"], OMEGA),
    r"^landmark_indices names rows": lambda: rff.landmark_alignment_loss(X, Y, X[:1] + 1e-9, Y[:1], OMEGA, [0]),
    r"^omega .*2 landmarks.* 3": lambda: rff.landmark_alignment_loss(X, Y, X[:3], Y[:3], np.zeros((2, 5, 2))),
    r"^omega has 3 columns; 2 are needed": lambda: rff.alignment_loss(X, Y, rff.FrequencyBlocks(KERNEL, 4, 3)),
    r"^X reaches 1e\+308 in size; .* at most 1e\+100 in size\.$": lambda: rff.phases(np.full((4, 2), 1e308), OMEGA),
    r"^X is not a valid sparse matrix; its .* must be < ": lambda: rff.phases(outside(X), OMEGA),
    r"needs at least 2 classes.*'ham'": lambda: rff.LandmarkSimilarity().fit(X, ["ham"] * N),
    r"^y holds only the class 1; at least 2": lambda: rff.LandmarkBoosting().fit(X, Y, sample_weight=Y),
    r"^y holds labels of different types, such as 1 and 'a'; ": lambda: rff.LandmarkBoosting().fit(X, [1, "a"] * 6),
    r"^n_components is .* takes [\d,.]+ GiB of memory; .* are free": lambda: rff.LandmarkSimilarity(
        n_components=TOO_MANY
    ).fit(X, Y),
    r"^X holds text, such as '0.0'; numbers are": lambda: rff.phases(X.astype(str), OMEGA),
    r"^X holds text, such as '0.0'; ": lambda: rff.LandmarkBoosting().fit(X.astype(str).tolist(), Y),
    r"gamma.*from_gamma": lambda: make_pipeline(rff.NystroemFeatures()).set_params(nystroemfeatures__gamma=1.0),
    r"or estimator= for a classifier": lambda: rff.CertifiedClassifier(RidgeClassifier()).fit(X, Y),
    r"^omega has .* GiB": lambda: rff.alignment_loss(X, Y, rff.FrequencyBlocks(KERNEL, TOO_MANY, 2)),
    r"^X has .* GiB": lambda: KERNEL(MANY),
    r"^the maps have .* GiB": lambda: rff.similarity_maps(MANY[:, 0], MANY[:, 0], X[:1], OMEGA[:1], [[1.0]]),
    r"^landmarks has .* GiB": lambda: rff.feature_weights(MANY, KERNEL, [[0.0]]),
    r"^n_landmarks is 13; there are only 12": lambda: rff.kernel_landmarks(X, 13),
    r"^omega has 3 columns": lambda: rff.feature_weights(X, KERNEL, np.ones((2, 3))),
    r"^omega has 3 columns; .": lambda: rff.kernel_approximation_loss(X, KERNEL, np.ones((2, 3))),
    r"^features has 3 rows for 12 points": lambda: rff.relative_kernel_error(X, KERNEL, X[:3]),
    r"^loss is 'hinge'": lambda: rff.supervise_frequencies(X, Y, KERNEL, OMEGA, "classification", loss="hinge"),
    r"^loss is 'log'": lambda: rff.supervise_frequencies(X, Y, KERNEL, OMEGA, "classification", loss="log"),
    r"at least 2 classes": lambda: rff.supervise_frequencies(X, ["a"] * N, KERNEL, OMEGA, "classification"),
    r"a GaussianKernel is needed": lambda: rff.importance_density(OMEGA, rff.LaplacianKernel(), 1),
    r"^X has 1 row;": lambda: rff.kernel_approximation_loss(X[:1], KERNEL, OMEGA, distinct=True),
    r"^X has 3 rows; 4 or more are needed": lambda: rff.alignment_loss_variance(X[:3], [0, 1, 1], OMEGA),
    r"^n is 1": lambda: rff.sample_loss_bound(1, 2, 3, 1, 1, 0.1),
    r"^lipschitz is 1e.308; a finite number above 0 and at": lambda: rff.cluster_loss_bound([1e100], 1, 1e308),
    r"^radius is 1e.308": lambda: rff.cluster_loss_bound([1e100], 1e308, 1),
    r"only the class": lambda: rff.linear_svm_path(X, np.ones(N), [1.0]),
    r"only the class 1": lambda: linear.linear_svm_batch(X[None], np.ones(N), 1.0),
    r"3 classes": lambda: rff.linear_svm_path(X, np.arange(N) % 3, [1.0]),
    r"three dimensions": lambda: linear.linear_svm_batch(X, Y, 1.0),
    r"infinity": lambda: linear.linear_svm_batch(np.full((1, N, 2), np.inf), Y, 1.0),
    r"columns": lambda: linear.linear_svm_decision(X, np.ones((1, 4)), [0.0]),
    r"intercept": lambda: linear.linear_svm_decision(X, np.ones((1, 2)), [0.0, 1.0]),
    r"-1 on its diagonal": lambda: rff.kernel_ridge_path(-np.eye(N), X[:, 0], [1.0]),
    r"square matrix": lambda: rff.kernel_ridge_path(np.ones((N, 3)), X[:, 0], [1.0]),
    r"^y contains 0": lambda: losses.hinge([1.0], [0.0]),
    r"^decision contains": lambda: losses.hinge([np.inf], [1.0]),
    r"^decision has shape": lambda: losses.hinge([1.0], [1.0, 1.0]),
    r"^n_choices is 0": lambda: bounds.gibbs_classifier(0.1, 0.0, 1.0, 10, 0.05, 0),
    r"^rate is 0": lambda: bounds.gibbs_classifier(0.1, 0.0, 1.0, 10, 0.05, rate=0.0),
    r"^n_errors is 11": lambda: bounds.test_set(11, 10, 0.05),
    r"^n_errors is 0.5": lambda: bounds.test_set(0.5, 10, 0.05),
    r"^n is 3": lambda: bounds.empirical_bernstein(0.3, 0.1, 1.0, 3, 0.05),
    r"^alpha is 10000000.0; a number between 1e-06 and 1e": lambda: rff.RationalQuadraticKernel(alpha=1e7),
    r"^length_scale is 0.0001; a number between 0.001 and 1000": lambda: rff.PeriodicKernel(length_scale=1e-4),
    r"^weights has shape \(1,\); 2 numbers, one a kernel": lambda: rff.SumKernel((KERNEL, KERNEL), (1.0,)),
    r"^weights sums to 1.5": lambda: rff.SumKernel((KERNEL, KERNEL), (0.5, 1.0)),
    r"^weights has a weight of -0.5": lambda: rff.SumKernel((KERNEL, KERNEL), (1.5, -0.5)),
    r"^features has .* GiB": lambda: rff.ridge_path(sp.csr_array((10**7, 10**7)), MANY[:, 0], [1.0]),
}


@pytest.mark.parametrize("said", REFUSED)
def test_the_sentence_of_a_wrong_call(said):
    with pytest.raises(ValueError, match=said) as raised:
        REFUSED[said]()
    assert str(raised.value).endswith(".") and "\n" not in str(raised.value)


def test_a_warning_points_to_the_line_of_the_caller():
    wide = np.random.default_rng(0).normal(size=(N, 5))  # three frequencies are too few to match a covariance
    few = rff.AdaptiveFourierFeatures(n_components=3, sampling="moment_matching")
    with pytest.warns(UserWarning, match="too few to match a covariance") as caught:
        make_pipeline(few, RidgeClassifier()).fit(wide, Y)
    assert caught[0].filename == __file__ and "make_pipeline" in linecache.getline(__file__, caught[0].lineno)
