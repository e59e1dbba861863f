"""Forms of input: lists count as arrays; complex numbers and mixed labels are refused.

Every public function of the engine stands in `CALLS`, every estimator in `ESTIMATORS`.
"""

import inspect
import warnings

import numpy as np
import pytest

import rff_engine as rff
from rff_engine import bounds, linear, losses

N, D_IN, D, L = 12, 2, 5, 3
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, D_IN)), np.arange(N) % 2
OMEGA, Q, LOSS = RNG.normal(size=(D, D_IN)), np.full((L, D), 1 / D), np.linspace(0.1, 0.9, D)
WEIGHTS = 1.0 + np.arange(N) % 3
KERNEL = rff.GaussianKernel()
LENGTHS = {"length_scales": np.array([0.5, 2.0])}
PLANE = {"u": np.linspace(-1, 1, 4), "v": np.linspace(-1, 1, 3)}
LANDMARKS = {"landmarks": X[:L], "landmark_labels": Y[:L], "omega": OMEGA, "landmark_indices": np.arange(L)}
COEF, INTERCEPT = RNG.normal(size=(3, D_IN)), np.zeros(3)
TARGETS = np.sin(X[:, 0])
OF_KL = {"loss": np.array([0.2, 0.3]), "kl": np.array([1.0, 2.0])}
LABELS = ("y", "classes", "landmark_labels")
#: Functions whose `y` is a number a row, not a label.
OF_NUMBERS = ("ridge_path", "kernel_ridge_path", *(f"losses.{name}" for name in losses.__all__))
INDICES = ("landmark_indices", "indices")

# Each function with the arguments that are arrays, then the others.
CALLS = {
    "MaternKernel": (lambda X, Y: rff.MaternKernel(0.8)(X, Y), {"X": X, "Y": X[:4]}, {}),
    "LaplacianKernel": (lambda X: rff.LaplacianKernel()(X), {"X": X}, {}),
    "GaussianKernel": (KERNEL.spectral_density, {"omega": OMEGA}, {}),
    "AnisotropicGaussianKernel": (lambda length_scales: rff.AnisotropicGaussianKernel(length_scales)(X), LENGTHS, {}),
    "PeriodicKernel": (rff.PeriodicKernel().spectral_mass, {"multiples": np.arange(-3, 3).reshape(3, 2)}, {}),
    "RationalQuadraticKernel": (rff.RationalQuadraticKernel(2.0).spectral_density, {"omega": OMEGA}, {}),
    "SumKernel": (
        lambda X, weights: rff.SumKernel((KERNEL, rff.PeriodicKernel()), weights)(X),
        {"X": X, "weights": np.array([0.25, 0.75])},
        {},
    ),
    "ProductKernel": (rff.ProductKernel((KERNEL, rff.CauchyKernel())), {"X": X, "Y": X[:4]}, {}),
    "CauchyKernel": (rff.CauchyKernel().frequencies_at, {"uniforms": RNG.uniform(0.1, 0.9, size=(D, D_IN))}, {}),
    "FrequencyBlocks": (rff.FrequencyBlocks(KERNEL, 10, 2).take, {"indices": np.array([0, 9])}, {}),
    "phases": (rff.phases, {"X": X, "omega": OMEGA}, {}),
    "fourier_features": (rff.fourier_features, {"X": X, "omega": OMEGA, "weights": np.full(D, 1 / D)}, {}),
    "random_phase_features": (rff.random_phase_features, {"X": X, "omega": OMEGA, "offsets": np.zeros(D)}, {}),
    "alignment_loss": (rff.alignment_loss, {"X": X, "y": Y, "omega": OMEGA, "sample_weight": WEIGHTS}, {}),
    "alignment_loss_variance": (rff.alignment_loss_variance, {"X": X, "y": Y, "omega": OMEGA}, {}),
    "alignment_sums": (
        lambda X, y, omega, classes, **weights: rff.alignment_sums(X, y, omega, classes, **weights).cosines,
        {"X": X, "y": Y, "omega": OMEGA, "classes": np.array([0, 1]), "sample_weight": WEIGHTS},
        {},
    ),
    "alignment_loss_batched": (
        lambda X, y, omega, classes, sample_weight: rff.alignment_loss_batched(
            [(X, y, sample_weight), (X, y)], omega, classes
        ),
        {"X": X, "y": Y, "omega": OMEGA, "classes": np.array([0, 1]), "sample_weight": WEIGHTS},
        {},
    ),
    "alignment_loss_plane": (rff.alignment_loss_plane, {"X": X, "y": Y, **PLANE}, {}),
    "landmark_alignment_loss": (
        rff.landmark_alignment_loss,
        {"X": X, "y": Y, **LANDMARKS, "sample_weight": WEIGHTS},
        {},
    ),
    "pseudo_posterior": (rff.pseudo_posterior, {"loss": LOSS}, {"beta": 1.0, "n": 10}),
    "optimized_kernel_weights": (rff.optimized_kernel_weights, {"loss": LOSS}, {"rho": 1.0}),
    "kl_divergence": (rff.kl_divergence, {"Q": Q}, {}),
    "power_divergence": (rff.power_divergence, {"Q": Q}, {"mu": 3.0}),
    "select_landmarks": (
        lambda X, y, **others: rff.select_landmarks(X, y, **others)[0],
        {"X": X, "y": Y, "sample_weight": WEIGHTS},
        {"n_landmarks": 4, "method": "kmeans", "random_state": 0},
    ),
    "landmark_similarity": (rff.landmark_similarity, {"X": X, "landmarks": X[:L], "omega": OMEGA, "Q": Q}, {}),
    "similarity_maps": (rff.similarity_maps, {**PLANE, "landmarks": X[:L], "omega": OMEGA, "Q": Q}, {}),
    "kernel_landmarks": (
        lambda X, **others: rff.kernel_landmarks(X, **others)[0],
        {"X": X},
        {"n_landmarks": 4, "method": "nearest", "random_state": 0},
    ),
    "feature_weights": (
        rff.feature_weights,
        {"landmarks": X[:L], "omega": OMEGA, "landmark_weights": np.full(L, 1 / L)},
        {"kernel": KERNEL},
    ),
    "adapt_frequencies": (
        lambda **given: rff.adapt_frequencies(**given).frequencies,
        {"landmarks": X[:L], "omega": OMEGA, "landmark_weights": np.full(L, 1 / L)},
        {"kernel": KERNEL, "max_steps": 2},
    ),
    "supervise_frequencies": (
        lambda **given: rff.supervise_frequencies(**given).frequencies,
        {"X": X, "y": Y, "omega": OMEGA},
        {"kernel": KERNEL, "task": "classification", "decay": 0.1, "max_steps": 2, "random_state": 0},
    ),
    "leverage_scores": (
        rff.leverage_scores,
        {"X": X, "omega": OMEGA, "pilot": OMEGA[:3]},
        {"ridge": 0.01},
    ),
    "relative_kernel_error": (rff.relative_kernel_error, {"X": X, "features": X}, {"kernel": KERNEL}),
    "kernel_approximation_loss": (rff.kernel_approximation_loss, {"X": X, "omega": OMEGA}, {"kernel": KERNEL}),
    "cluster_loss_bound": (rff.cluster_loss_bound, {"distances": X[:, 0] ** 2}, {"radius": 1.0, "lipschitz": 1.0}),
    "importance_density": (rff.importance_density, {"omega": OMEGA}, {"kernel": KERNEL, "spread": 1.0}),
    "linear_svm_path": (
        lambda **given: rff.linear_svm_path(**given)[0],
        {"features": X, "y": Y, "C_values": np.array([0.1, 1.0]), "gram": X @ X.T},
        {"form": "gram"},
    ),
    "ridge_path": (
        lambda **given: rff.ridge_path(**given)[0],
        {"features": X, "y": TARGETS, "lambdas": np.array([0.1, 1.0])},
        {},
    ),
    "kernel_ridge_path": (
        rff.kernel_ridge_path,
        {"K": KERNEL(X), "y": TARGETS, "lambdas": np.array([0.1, 1.0])},
        {},
    ),
    **{
        f"losses.{name}": (getattr(losses, name), {"decision": X[:, 0], "y": 2.0 * Y - 1}, {}) for name in losses.LOSSES
    },
    "losses.empirical_risk": (
        losses.empirical_risk,
        {"decision": X[:, 0], "y": 2.0 * Y - 1},
        {"loss": "hinge"},
    ),
    "linear.linear_svm_batch": (
        lambda **given: linear.linear_svm_batch(**given)[0],
        {"features": np.stack([X, X[::-1]]), "y": Y},
        {"C": 1.0},
    ),
    "linear.linear_svm_decision": (
        linear.linear_svm_decision,
        {"features": X, "coef": COEF, "intercept": INTERCEPT},
        {},
    ),
    "linear.error_rate": (linear.error_rate, {"decision": X[:, 0], "y": Y}, {}),
    "linear.gram_matrix": (lambda Z: np.tril(linear.gram_matrix(Z)), {"Z": X}, {}),
    **{
        f"bounds.{name}": (getattr(bounds, name), OF_KL, {"n": 50, "t": 5.0, "epsilon": 0.05})
        for name in bounds.KL_BOUNDS
    },
    "bounds.kl_terms": (
        lambda **given: np.stack(bounds.kl_terms(**given)[:2]),
        OF_KL,
        {"bound": "landmark_kl", "n": 50, "t": 5.0, "epsilon": 0.05},
    ),
    "bounds.landmark_kl_inverse": (bounds.landmark_kl_inverse, OF_KL, {"n": 50, "epsilon": 0.05}),
    "bounds.second_order_kl_inverse": (bounds.second_order_kl_inverse, OF_KL, {"n": 50, "epsilon": 0.05}),
    "bounds.second_order_two_class": (bounds.second_order_two_class, OF_KL, {"n": 50, "epsilon": 0.05}),
    "bounds.empirical_bernstein": (
        bounds.empirical_bernstein,
        OF_KL | {"variance": np.array([0.0, 0.5])},
        {"n": 50, "epsilon": 0.05},
    ),
    "bounds.f_divergence": (
        bounds.f_divergence,
        {"loss": OF_KL["loss"], "divergence": OF_KL["kl"]},
        {"mu": 3.0, "n": 50, "epsilon": 0.05},
    ),
    "bounds.chi_square": (
        bounds.chi_square,
        {"loss": OF_KL["loss"], "chi2": OF_KL["kl"]},
        {"n": 50, "epsilon": 0.05},
    ),
    "bounds.gibbs_classifier": (
        bounds.gibbs_classifier,
        {"gibbs_error": OF_KL["loss"], "log_ratio": np.array([3.0, -1.0]), "scale": OF_KL["kl"]},
        {"n": 50, "epsilon": 0.05},
    ),
    "bounds.majority_vote": (
        bounds.majority_vote,
        {"margin_error": OF_KL["loss"], "threshold": np.array([0.0, 1.0]), "scale": OF_KL["kl"]},
        {"log_ratio": 0.0, "n": 50, "epsilon": 0.05},
    ),
    "bounds.tandem": (
        bounds.tandem,
        {"tandem_error": OF_KL["loss"], "threshold": np.array([0.0, 1.0]), "scale": OF_KL["kl"]},
        {"log_ratio": 0.0, "n": 50, "epsilon": 0.05},
    ),
    "bounds.c_bound": (
        bounds.c_bound,
        {"gibbs_error": OF_KL["loss"], "disagreement": np.array([0.0, 0.5]), "scale": OF_KL["kl"]},
        {"log_ratio": 0.0, "n": 50, "epsilon": 0.05},
    ),
    "bounds.test_set": (bounds.test_set, {"n_errors": np.array([0.0, 3.0])}, {"n": 50, "epsilon": 0.05}),
}
# Names that take no arrays, and containers of results.
WITHOUT_ARRAYS = {"sample_loss_bound", "SpectralKernel", "draw_frequencies", "linear.gram_pays"}
RESULTS = {"AlignmentSums", "AdaptedFrequencies", "bounds.KLTerms"}
ESTIMATORS = [
    rff.RandomFourierFeatures(n_components=4, random_state=0),
    rff.PseudoPosteriorFeatures(n_components=4, n_candidates=20, random_state=0),
    rff.OptimizedKernelFeatures(n_components=4, n_candidates=20, random_state=0),
    rff.LandmarkSimilarity(n_components=4, n_landmarks=4, random_state=0),
    rff.NystroemFeatures(n_components=4, random_state=0),
    rff.AdaptiveFourierFeatures(n_components=4, random_state=0),
    rff.SupervisedFourierFeatures(n_components=4, decay=0.1, random_state=0),
    rff.LeverageScoreFeatures(n_components=4, n_candidates=20, n_pilot=5, random_state=0),
    rff.LandmarkBoosting(n_estimators=4, n_components=3, random_state=0),
    rff.CertifiedClassifier(rff.RandomFourierFeatures(KERNEL, 4), prior_fraction=0, random_state=0),
]
LEARNERS = [estimator for estimator in ESTIMATORS if "y" in inspect.signature(estimator.fit).parameters]
LEARNERS = [e for e in LEARNERS if inspect.signature(e.fit).parameters["y"].default is inspect.Parameter.empty]
MIXED = [[1, "a"] * (N // 2), ["a", 1.5] * (N // 2), [b"a", "b"] * (N // 2), [None, 1] * (N // 2)]


def refusal(function, *given, **named) -> str:
    """Message with which a call is refused, without a warning."""
    with warnings.catch_warnings(), pytest.raises(ValueError) as raised:
        warnings.simplefilter("error")
        function(*given, **named)
    said = str(raised.value)
    assert said.endswith(".") and "\n" not in said and ". " not in said, said
    return said


def forms(values) -> list:
    """The same values as an array of objects and as a list."""
    return [np.array(values, dtype=object), list(values)]


def arrays_of(kinds=None):
    """Pairs of a function and one of its array arguments, of the given kinds if any."""
    for name, (_, arrays, _) in CALLS.items():
        for argument in arrays:
            if argument not in INDICES and (kinds is None or (argument in kinds and name not in OF_NUMBERS)):
                yield name, argument


def test_every_public_function_and_estimator_is_called():
    names = {*rff.__all__, *(f"bounds.{name}" for name in bounds.__all__)} - {"bounds", "losses"}
    names |= {f"losses.{name}" for name in losses.__all__} - {"losses.LOSSES"}
    names |= {f"linear.{name}" for name in linear.__all__ if name not in rff.__all__}
    classes = {type(estimator).__name__ for estimator in ESTIMATORS}
    assert names == set(CALLS) | classes | WITHOUT_ARRAYS | RESULTS
    assert len(LEARNERS) == 6


@pytest.mark.parametrize("name", CALLS)
def test_lists_count_as_arrays(name):
    function, arrays, others = CALLS[name]
    expected = function(**arrays, **others)
    found = function(**{argument: array.tolist() for argument, array in arrays.items()}, **others)
    np.testing.assert_array_equal(found, expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize(("name", "argument"), list(arrays_of()))
def test_complex_numbers_are_refused(name, argument):
    function, arrays, others = CALLS[name]
    for values in (arrays[argument] + 0.5j, (arrays[argument] + 0j).tolist(), arrays[argument].astype(np.complex64)):
        said = refusal(function, **{**arrays, argument: values}, **others)
        assert said.startswith(f"{argument} holds complex numbers, such as ") and said.endswith(
            "real numbers are needed."
        )


@pytest.mark.parametrize(("name", "argument"), list(arrays_of(LABELS)))
def test_labels_of_mixed_types_are_refused(name, argument):
    function, arrays, others = CALLS[name]
    for labels in MIXED:
        for values in forms(labels[: len(arrays[argument])]):
            said = refusal(function, **{**arrays, argument: values}, **others)
            assert said == (
                f"{argument} holds labels of different types, such as {labels[0]!r} and {labels[1]!r}; "
                "all must be numbers, or all text."
            )


def test_labels_of_one_kind_are_accepted_in_any_type():
    expected = rff.alignment_loss(X, Y, OMEGA)
    for labels in (
        np.where(Y, 1.0, False).tolist(),
        [True if label else 0 for label in Y],
        [np.int64(1) if label else 0.0 for label in Y],
        np.where(Y, "b", "a").tolist(),
        [np.str_("b") if label else "a" for label in Y],
    ):
        for values in forms(labels):
            np.testing.assert_array_equal(rff.alignment_loss(X, values, OMEGA), expected)


@pytest.mark.parametrize("labels", [["0", "1", "0"], [0, "1", 0]])
def test_landmark_labels_must_have_the_type_of_the_labels(labels):
    assert "labels of different types" in refusal(rff.landmark_alignment_loss, X, Y, X[:L], labels, OMEGA)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_estimators_accept_lists_and_refuse_complex_points(estimator):
    answer = "transform" if hasattr(estimator, "transform") else "predict_proba"
    expected = getattr(estimator.fit(X, Y), answer)(X)
    np.testing.assert_array_equal(getattr(estimator.fit(X.tolist(), Y.tolist()), answer)(X.tolist()), expected)
    for values in (X + 0.5j, (X + 0.5j).tolist(), np.array(X + 0.5j, dtype=object)):
        for method in (lambda values: estimator.fit(values, Y), getattr(estimator, answer)):
            assert refusal(method, values) == "Complex data not supported: X must hold real numbers."


@pytest.mark.parametrize("estimator", LEARNERS, ids=lambda estimator: type(estimator).__name__)
def test_estimators_refuse_mixed_and_complex_labels(estimator):
    for labels in MIXED:
        for values in forms(labels):
            said = refusal(estimator.fit, X, values)
            assert said.startswith(f"y holds labels of different types, such as {labels[0]!r} and {labels[1]!r}; ")
    for values in (Y + 1j, (Y + 1j).tolist(), np.array(Y + 1j, dtype=object)):
        assert refusal(estimator.fit, X, values) == "Complex data not supported: y must hold real numbers."
