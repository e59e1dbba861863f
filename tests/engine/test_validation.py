"""Bad arguments: each is refused with a ValueError of one sentence that names it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import rff_engine as rff
from rff_engine import _validation

from .test_forms_of_input import ALL_CALLS, D_IN, KERNEL, OMEGA, D, L, N, X, Y


def changed(array, value, at=0):
    array = np.array(array, dtype=float)
    array.flat[at] = value
    return array


def of_call(name, **more):
    """A function and arguments that it accepts, with more of them than the forms of input need."""
    function, arrays, others = ALL_CALLS[name]
    return function, arrays | others | more


OF_BOUNDS = {"loss": 0.3, "n": 50, "t": 5.0, "epsilon": 0.05, "mu": 2.0, "n_landmarks": 2, "form": "paper"}
OF_BOUNDS |= {"kl": 1.0, "chi2": 1.0, "divergence": 1.0, "variance": 0.1}
FUNCTIONS = {
    "kernel": of_call("MaternKernel"),
    "density": of_call("GaussianKernel"),
    "sample_frequencies": of_call("sample_frequencies"),
    "draw_frequencies": of_call("draw_frequencies"),
    "FrequencyBlocks": (rff.FrequencyBlocks, {"kernel": KERNEL, "n_frequencies": 4, "n_features": 2, "seed": 0}),
    "take": of_call("FrequencyBlocks"),
    "block": of_call("FrequencyBlocks.block"),
    **{name: of_call(name) for name in ("phases", "fourier_features", "random_phase_features")},
    **{name: of_call(name, n_jobs=None) for name in ("alignment_loss", "alignment_sums")},
    "alignment_loss_batched": (
        lambda X, y, omega, classes, n_jobs: rff.alignment_loss_batched([(X, y)], omega, classes, n_jobs),
        {"X": X, "y": Y, "omega": OMEGA, "classes": np.array([0, 1]), "n_jobs": None},
    ),
    **{name: of_call(name) for name in ("alignment_loss_variance", "alignment_loss_plane")},
    "landmark_alignment_loss": of_call("landmark_alignment_loss", n_jobs=2),
    "pseudo_posterior": of_call("pseudo_posterior"),
    "optimized_kernel_weights": of_call("optimized_kernel_weights", mu=2.0),
    **{name: of_call(name) for name in ("kl_divergence", "power_divergence")},
    "select_landmarks": of_call("select_landmarks", method="random"),
    "landmark_similarity": of_call("landmark_similarity", n_jobs=-1),
    "similarity_maps": of_call("similarity_maps"),
    **{
        name: (bound.function, {argument: OF_BOUNDS[argument] for argument in bound.arguments})
        for name, bound in rff.bounds.ALIGNMENT_BOUNDS.items()
    },
    "kl_terms": of_call("bounds.kl_terms", n_landmarks=2),
}

_NONNEGATIVE = [-1.0, -1e-12, np.nan, np.inf, "1", None]
_COUNT = [0, -1, 2.0, np.nan, "3", None, True]
_NAME = ["unknown", None, 3, ["random"]]
_POINTS = [
    np.zeros(2),
    np.zeros((2, 2, 2, 2)),
    np.zeros((0, 2)),
    np.zeros((3, 0)),
    np.zeros((3, 7)),
    "text",
    None,
    [["a", "b"]],
]
BAD = {
    "X": [
        *[X for X in _POINTS if np.shape(X) != (3, 7)],
        changed(X, np.nan),
        changed(X, -np.inf, 5),
        sp.csr_array(changed(X, np.nan)),
        changed(X, np.nan).astype(np.float32),
    ],
    "Y": [*[Y for Y in _POINTS if Y is not None], changed(X, np.nan)],
    "omega": [*_POINTS, changed(OMEGA, np.nan), sp.csr_array(OMEGA)],
    "landmarks": [*_POINTS, changed(X[:L], np.inf)],
    "y": [
        np.zeros(N),
        np.full(N, "same"),
        np.arange(N - 1) % 2,
        np.zeros((N, 1)),
        changed(Y, np.nan),
        np.array([1, "a", None] * 4, dtype=object),
        3,
    ],
    "classes": [[0, np.nan], [[0], [1]], [0, 2], 1, ["a", "b"]],
    "landmark_labels": [[0, 1], np.zeros((3, 1)), [0, 1, np.nan], 1, [0, 0, 0]],
    "landmark_indices": [[0, 1], [0, 1, N], [0, 1, -1], [0.0, 1.0, 2.0], [2, 1, 0], 1],
    "weights": [np.ones(D - 1), -np.ones(D), np.full(D, np.nan), 1.0, ["a"] * D],
    "offsets": [np.ones(D + 1), np.full(D, np.inf), 1.0, ["a"] * D],
    "u": [np.zeros((2, 2)), [], [0, np.nan], 1.0, ["a"]],
    "v": [np.zeros((2, 2)), [], [0, np.inf], 1.0, ["a"]],
    "n_landmarks": [0, -1, N + 1, 2.5, "4", None],
    "method": _NAME,
    "sampling": _NAME,
    "form": _NAME,
    "bound": _NAME,
    "random_state": [-1, 1.5, "seed", True],
    "seed": [-1, 1.5, None],
    "n_jobs": [0, 1.5, np.nan, "2", True],
    "indices": [[10], [-1], [[0]], [0.5], 3, ["a"]],
    "b": [1, -1],
    "n_frequencies": _COUNT,
    "n_features": _COUNT,
    "n": _COUNT,
    "beta": _NONNEGATIVE,
    "rho": _NONNEGATIVE,
    "mu": [1, 0, -2.0, np.nan, np.inf, "2", None],
    "epsilon": [0, 1, -0.1, 1.5, np.nan, "0.05", None],
    "t": [0, -1.0, np.nan, np.inf, [1.0, 0.0]],
    "kl": [-1.0, np.nan, np.inf, [0.0, -1e-3]],
    "variance": [-0.1, 0.6, np.nan, np.inf, ["a"]],
    "divergence": [-1.0, np.nan, np.inf],
    "chi2": [-1.0, np.nan, np.inf],
}
LOSSES = [[], 0.5, [0.1, np.nan], [0.1, np.inf], ["a"], None]
LOSS_OF = {
    "pseudo_posterior": LOSSES,
    "optimized_kernel_weights": [*LOSSES, [[0.1, 0.2]]],
}
# `sample_weight` has tests of its own.
WITHOUT_BAD = ("kernel", "sample_weight")
UNIT_LOSSES = [-0.1, 1.1, np.nan, np.inf, [0.5, 2.0], ["a"]]
DISTRIBUTIONS = [[], 0.5, [0.5, 0.4], [1.5, -0.5], [np.nan, 1.0], [[0.5, 0.5], [0.9, 0.2]], ["a"]]
WEIGHTS = [np.full((L, D), np.nan), np.ones(D), np.ones((L + 1, D)), np.ones((L, D + 1)), np.ones((L, 0)), ["a"]]


def cases():
    for function, (_, arguments) in FUNCTIONS.items():
        for name in arguments:
            bad = BAD.get(name)
            if name == "loss":
                bad = LOSS_OF.get(function, UNIT_LOSSES)
            elif name == "Q":
                bad = DISTRIBUTIONS if function.endswith("divergence") else WEIGHTS
            elif name == "n_landmarks" and function != "select_landmarks":
                bad = _COUNT
            elif name == "y" and function == "alignment_sums":
                bad = bad[1:]  # one class is enough
            elif name == "omega" and function == "density":
                bad = [omega for omega in bad if np.shape(omega) != (3, 7)]
            elif name == "n" and function != "pseudo_posterior":
                bad = [*bad, 1]
            if name in WITHOUT_BAD:
                continue
            for i, value in enumerate(bad):
                yield pytest.param(function, name, value, id=f"{function}-{name}-{i}")


def call(function, **changes):
    does, arguments = FUNCTIONS[function]
    return does(**arguments | changes)


def assert_one_sentence(error):
    message = str(error)
    assert message.endswith(".") and "\n" not in message and message.count(". ") == 0, message


@pytest.mark.parametrize("function", FUNCTIONS)
def test_good_arguments_are_accepted(function):
    call(function)


@pytest.mark.more(after=500)
@pytest.mark.slow
@pytest.mark.parametrize(("function", "name", "value"), list(cases()))
def test_bad_argument_is_named_in_one_sentence(function, name, value):
    with warnings.catch_warnings(), pytest.raises(ValueError) as raised:
        warnings.simplefilter("error")
        call(function, **{name: value})
    assert_one_sentence(raised.value)
    # A mismatch of two arguments may be reported for either.
    partners = {"landmarks": "omega|landmark_indices|Q", "omega": "Q|X", "Q": "omega", "X": "omega|Y|landmarks|y"}
    partners |= {"classes": "y", "landmark_labels": "landmark_indices", "y": "landmark_indices"}
    expected = [name, *partners.get(name, name).split("|")]
    assert any(str(raised.value).startswith(word) for word in expected), str(raised.value)


def test_every_argument_has_bad_values():
    assert {name for _, arguments in FUNCTIONS.values() for name in arguments} - set(BAD) <= {"loss", "Q", *WITHOUT_BAD}


def test_messages_name_the_value():
    for value, attempt in (
        ("-0.5", lambda: rff.pseudo_posterior([0.1], -0.5, 3)),
        ("'sobolev'", lambda: rff.draw_frequencies(rff.GaussianKernel(), 2, 2, sampling="sobolev")),
        ("13", lambda: call("select_landmarks", n_landmarks=13)),
        ("(2,)", lambda: rff.alignment_loss(np.zeros(2), [0, 1], np.zeros((1, 2)))),
        ("'ham'", lambda: rff.alignment_loss(np.zeros((2, 2)), ["ham", "ham"], np.zeros((1, 2)))),
        ("only the class 1;", lambda: rff.alignment_loss(np.zeros((2, 2)), np.array([1, 1]), np.zeros((1, 2)))),
        ("1.2", lambda: rff.bounds.chi_square([0.2, 1.2], 0.1, 10, 0.05)),
        ("0.9", lambda: rff.kl_divergence([0.5, 0.4])),
    ):
        with pytest.raises(ValueError) as raised:
            attempt()
        assert value in str(raised.value)


def test_landmarks_must_be_the_rows_of_their_indices():
    for change in ({"landmarks": X[:L] + 1e-9}, {"landmark_labels": 1 - Y[:L]}):
        with pytest.raises(ValueError, match="landmark_indices names rows") as raised:
            call("landmark_alignment_loss", **change)
        assert_one_sentence(raised.value)


def test_own_frequencies_must_be_of_all_landmarks():
    with pytest.raises(ValueError, match=r"omega .*2 landmarks.* 3") as raised:
        call("landmark_alignment_loss", omega=np.zeros((2, D, D_IN)))
    assert_one_sentence(raised.value)
    for empty in (np.zeros((L, 0, D_IN)), np.zeros((0, D_IN))):
        with pytest.raises(ValueError, match="omega"):
            call("landmark_alignment_loss", omega=empty)


def test_frequency_blocks_of_another_dimension_are_refused():
    with pytest.raises(ValueError, match=r"omega has 3 columns; 2 are needed to match X\.$"):
        call("alignment_loss", omega=rff.FrequencyBlocks(rff.GaussianKernel(), 4, 3))


def test_large_finite_values_are_not_reported_as_infinite():
    X = np.full((4, 1), 1e100)
    assert _validation.as_points(X) is X
    with pytest.raises(ValueError, match=r"X reaches 1e\+308 in size; every value must be at most 1e\+100 in size\.$"):
        _validation.as_points(1e208 * X)


def test_integers_beyond_floats_are_named():
    for attempt in (
        lambda: rff.GaussianKernel(10**400),
        lambda: rff.pseudo_posterior([0.1], 1.0, 10**400),
        lambda: rff.bounds.chi_square(0.1, 10**400, 10, 0.05),
        lambda: rff.phases([[10**400]], [[1.0]]),
        lambda: rff.linear_svm_path([[0.0], [1.0]], [0, 1], [10**400]),
    ):
        with pytest.raises(ValueError) as raised:
            attempt()
        assert_one_sentence(raised.value)


# --- what does not fit into memory --------------------------------------------------------------------------------

TOO_MANY = 10**11
SIZES = {
    "n_components": [
        lambda: rff.RandomFourierFeatures(n_components=TOO_MANY),
        lambda: rff.RandomFourierFeatures(n_components=TOO_MANY, sampling="orthogonal"),
        lambda: rff.PseudoPosteriorFeatures(n_components=TOO_MANY, n_candidates=20),
        lambda: rff.LandmarkSimilarity(n_components=TOO_MANY),
        lambda: rff.AdaptiveFourierFeatures(n_components=10**7),
        lambda: rff.SupervisedFourierFeatures(n_components=10**7),
        lambda: rff.LeverageScoreFeatures(n_components=TOO_MANY),
        lambda: rff.LandmarkBoosting(n_components=TOO_MANY),
    ],
    "n_candidates": [
        lambda: rff.OptimizedKernelFeatures(n_candidates=TOO_MANY),
        lambda: rff.LeverageScoreFeatures(n_candidates=TOO_MANY),
    ],
    "n_estimators": [lambda: rff.LandmarkBoosting(n_estimators=TOO_MANY)],
    "n_frequencies": [
        lambda: rff.GaussianKernel().sample_frequencies(TOO_MANY, 2),
        lambda: rff.GaussianKernel().sample_scales(TOO_MANY),
        lambda: rff.draw_frequencies(rff.GaussianKernel(), TOO_MANY, 2, "sobol"),
    ],
    "omega": [lambda: rff.alignment_loss(X, Y, rff.FrequencyBlocks(rff.GaussianKernel(), TOO_MANY, D_IN))],
    "X": [
        lambda: rff.GaussianKernel()(MANY),
        lambda: rff.fourier_features(MANY, MANY),
        lambda: rff.random_phase_features(MANY, MANY, MANY[:, 0]),
    ],
    "u": [lambda: rff.alignment_loss_plane(X, Y, MANY[:, 0], MANY[:, 0])],
    "maps": [lambda: rff.similarity_maps(MANY[:, 0], MANY[:, 0], [[0.0, 0.0]], [[1.0, 0.0]], [[1.0]])],
    "pilot": [lambda: rff.leverage_scores(MANY[:3], MANY, 0.1)],
    "landmarks": [lambda: rff.feature_weights(MANY, rff.GaussianKernel(), [[0.0]])],
    "features": [lambda: rff.ridge_path(sp.csr_array((10**7, 10**7)), MANY[:, 0], [1.0])],
}
MANY = np.zeros((2 * 10**6, 1))


@pytest.mark.parametrize(
    ("name", "call"), [pytest.param(n, c, id=f"{n}-{i}") for n, calls in SIZES.items() for i, c in enumerate(calls)]
)
def test_what_does_not_fit_is_refused_before_it_is_allocated(name, call):
    with pytest.raises(ValueError, match=rf"\b{name}\b.* takes [\d,.]+ GiB of memory; [\d,.]+ GiB are free\.$"):
        made = call()
        made.fit(X, Y)


def test_free_memory_is_some_of_the_machine():
    assert 2**20 < _validation.free_memory() < 2**50


# --- estimators ---------------------------------------------------------------------------------------------------

ESTIMATOR_PARAMETERS = [
    (rff.RandomFourierFeatures, "n_components", _COUNT),
    (rff.RandomFourierFeatures, "sampling", _NAME),
    (rff.RandomFourierFeatures, "kernel", ["radial", "Gaussian", 1.0, rff.GaussianKernel]),
    (rff.RandomFourierFeatures, "random_state", BAD["random_state"]),
    (rff.RandomFourierFeatures, "n_jobs", BAD["n_jobs"]),
    *[
        (estimator, name, bad)
        for estimator in (rff.PseudoPosteriorFeatures, rff.OptimizedKernelFeatures)
        for name, bad in (
            ("n_components", _COUNT),
            ("n_candidates", _COUNT),
            ("kernel", ["radial"]),
            ("random_state", BAD["random_state"]),
            ("n_jobs", BAD["n_jobs"]),
            ("epsilon", BAD["epsilon"]),
        )
    ],
    (rff.PseudoPosteriorFeatures, "beta", _NONNEGATIVE),
    (rff.OptimizedKernelFeatures, "rho", _NONNEGATIVE),
    (rff.OptimizedKernelFeatures, "mu", BAD["mu"]),
    (rff.LandmarkSimilarity, "n_landmarks", [0, -1, N + 1, 0.0, 1.5, -0.2, np.nan, "4", None, True]),
    (rff.LandmarkSimilarity, "n_components", _COUNT),
    (rff.LandmarkSimilarity, "selection", _NAME),
    (rff.LandmarkSimilarity, "similarity", _NAME),
    (rff.LandmarkSimilarity, "beta", _NONNEGATIVE),
    (rff.LandmarkSimilarity, "kernel", ["radial"]),
    (rff.LandmarkSimilarity, "random_state", BAD["random_state"]),
    (rff.LandmarkSimilarity, "n_jobs", BAD["n_jobs"]),
    (rff.LandmarkSimilarity, "epsilon", BAD["epsilon"]),
    (rff.LeverageScoreFeatures, "n_components", _COUNT),
    (rff.LeverageScoreFeatures, "n_candidates", _COUNT),
    (rff.LeverageScoreFeatures, "n_pilot", _COUNT),
    (rff.LeverageScoreFeatures, "ridge", [0.0, -1.0, 1e-11, np.nan, np.inf, "0.1", None, True]),
    (rff.LeverageScoreFeatures, "kernel", ["radial"]),
    (rff.LeverageScoreFeatures, "random_state", BAD["random_state"]),
    (rff.LandmarkBoosting, "n_estimators", _COUNT),
    (rff.LandmarkBoosting, "n_components", _COUNT),
    (rff.LandmarkBoosting, "weak_learner", _NAME),
    (rff.LandmarkBoosting, "beta", [*BAD["beta"], "bound"]),
    (rff.LandmarkBoosting, "max_steps", [-1, 0.5, np.nan, "3", None, True]),
    (rff.LandmarkBoosting, "kernel", ["radial"]),
    (rff.LandmarkBoosting, "random_state", BAD["random_state"]),
    (rff.NystroemFeatures, "n_components", _COUNT),
    (rff.NystroemFeatures, "landmarks", _NAME),
    (rff.NystroemFeatures, "kernel", ["radial", rff.GaussianKernel, lambda x, z: "far"]),
    (rff.NystroemFeatures, "random_state", BAD["random_state"]),
    (rff.NystroemFeatures, "n_jobs", BAD["n_jobs"]),
    *[
        (estimator, name, bad)
        for estimator in (rff.AdaptiveFourierFeatures, rff.SupervisedFourierFeatures)
        for name, bad in (
            ("n_components", _COUNT),
            ("kernel", ["radial"]),
            ("random_state", BAD["random_state"]),
            ("max_iter", _COUNT),
            ("tol", _NONNEGATIVE),
            ("verbose", [-1, 0.5, "yes", None]),
            ("n_jobs", BAD["n_jobs"]),
        )
    ],
    (rff.AdaptiveFourierFeatures, "landmarks", _NAME),
    (rff.AdaptiveFourierFeatures, "n_landmarks", [0, -1, 2.5, "4"]),
    (rff.AdaptiveFourierFeatures, "sampling", _NAME),
    (rff.SupervisedFourierFeatures, "task", _NAME),
    (rff.SupervisedFourierFeatures, "decay", [-1.0, 0.0, np.nan, np.inf, "1"]),
    (rff.SupervisedFourierFeatures, "agreement", _NONNEGATIVE),
    (rff.CertifiedClassifier, "prior_fraction", [-0.1, 0.95, np.nan, np.inf, "0.5", None, True]),
    (rff.CertifiedClassifier, "epsilon", BAD["epsilon"]),
    (rff.CertifiedClassifier, "features", ["rbf", [], 1.0]),
    (rff.CertifiedClassifier, "estimator", ["svc", 1.0, True, rff.RandomFourierFeatures()]),
    (rff.CertifiedClassifier, "random_state", BAD["random_state"]),
    (rff.CertifiedClassifier, "scheme", _NAME),
    (rff.CertifiedClassifier, "n_blocks", _COUNT),
]
ESTIMATORS = [
    rff.RandomFourierFeatures(),
    rff.PseudoPosteriorFeatures(n_candidates=20),
    rff.OptimizedKernelFeatures(n_candidates=20),
    rff.LandmarkSimilarity(),
    rff.LandmarkBoosting(n_estimators=3),
]


def test_every_parameter_of_every_estimator_has_bad_values():
    listed = {(estimator, name) for estimator, name, _ in ESTIMATOR_PARAMETERS}
    estimators = [value for value in map(vars(rff).get, rff.__all__) if hasattr(value, "fit")]
    assert listed == {(kind, name) for kind in estimators for name in kind().get_params()}


@pytest.mark.more(after=200)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [
        pytest.param(estimator, name, value, id=f"{estimator.__name__}-{name}-{i}")
        for estimator, name, bad in ESTIMATOR_PARAMETERS
        for i, value in enumerate(bad)
    ],
)
def test_bad_parameters_are_named_by_fit(estimator, name, value):
    made = estimator(**{name: value})  # the constructor only stores
    if name != "n_candidates" and hasattr(made, "n_candidates"):
        made.set_params(n_candidates=20)
    with pytest.raises(ValueError) as raised:
        made.fit(X, Y)
    assert_one_sentence(raised.value)
    assert str(raised.value).startswith(name)
    assert repr(value) in str(raised.value) or not isinstance(value, str | float)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_estimators_refuse_bad_points(estimator):
    for bad in (changed(X, np.nan), changed(X, np.inf), X[0], X[:0], X[:, :0], [["a", "b"]] * N):
        with pytest.raises(ValueError):  # a message of scikit-learn
            estimator.fit(bad, Y)
    with pytest.raises(NotFittedError):
        type(estimator)().transform(X)
    fitted = estimator.fit(X, Y)
    for bad in (changed(X, np.nan), X[:, :1]):
        with pytest.raises(ValueError):
            fitted.transform(bad)


@pytest.mark.parametrize("estimator", ESTIMATORS[1:], ids=lambda e: type(e).__name__)
def test_estimators_that_learn_need_classes(estimator):
    with pytest.raises(ValueError, match=f"{type(estimator).__name__} needs at least 2 classes.*'ham'") as raised:
        estimator.fit(X, ["ham"] * N)
    assert_one_sentence(raised.value)
    for bad in (np.zeros(N - 1), np.linspace(0, 1, N), changed(np.arange(N) % 2, np.nan), None):
        with pytest.raises(ValueError):
            estimator.fit(X, bad)
