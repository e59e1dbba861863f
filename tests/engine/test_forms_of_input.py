"""Forms of input: any form of the same points counts as a plain array; complex numbers and mixed labels are refused.

Every public function of the engine stands in `CALLS`, every estimator in `ESTIMATORS`.
"""

import inspect
import pickle
import re
import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import rff_engine as rff
from rff_engine import bounds, linear, losses
from rff_engine.kernels import KERNELS as NAMED, as_kernel

N, D_IN, D, L = 12, 2, 5, 3
RNG = np.random.default_rng(0)
X, Y = np.rint(64 * RNG.normal(size=(N, D_IN))) / 64, np.arange(N) % 2  # exact in 16 bits
X[::3, 0] = 0
OMEGA, LOSS = RNG.normal(size=(D, D_IN)), np.linspace(0.1, 0.9, D)
Q = np.tile([0.25, 0.25, 0.25, 0.125, 0.125], (L, 1))  # float16 holds its sum, 1
WEIGHTS = 1.0 + np.arange(N) % 3
KERNEL = rff.GaussianKernel()
LENGTHS = {"length_scales": np.array([0.5, 2.0])}
PLANE = {"u": np.linspace(-1, 1, 4), "v": np.linspace(-1, 1, 3)}
LANDMARKS = {"landmarks": X[:L], "landmark_labels": Y[:L], "omega": OMEGA, "landmark_indices": np.arange(L)}
COEF, INTERCEPT = RNG.normal(size=(3, D_IN)), np.zeros(3)
TARGETS = np.sin(X[:, 0])
OF_KL = {"loss": np.array([0.2, 0.3]), "kl": np.array([1.0, 2.0])}
ARRAYS = OF_KL | {"divergence": OF_KL["kl"], "chi2": OF_KL["kl"], "variance": np.array([0.0, 0.125])}
SCALARS = {"n": 50, "t": 5.0, "epsilon": 0.05, "mu": 3.0}
LABELS = ("y", "classes", "landmark_labels")
#: Functions whose `y` is a number a row, not a label.
OF_NUMBERS = ("ridge_path", "kernel_ridge_path", *(f"losses.{name}" for name in losses.__all__))
INDICES = ("landmark_indices", "indices")

# Each function with the arguments that are arrays, then the others.
CALLS = {
    **{
        named.kernel.__name__: (named.of_width(1.0, nu=0.8).__call__, {"X": X, "Y": X[:4]}, {})
        for named in NAMED.values()
    },
    "GaussianKernel": (KERNEL.spectral_density, {"omega": OMEGA}, {}),
    "AnisotropicGaussianKernel": (lambda length_scales: rff.AnisotropicGaussianKernel(length_scales)(X), LENGTHS, {}),
    "PeriodicKernel": (rff.PeriodicKernel().spectral_mass, {"multiples": np.arange(-3, 3).reshape(3, 2)}, {}),
    "RationalQuadraticKernel": (rff.RationalQuadraticKernel(alpha=2.0).spectral_density, {"omega": OMEGA}, {}),
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
        {"n_landmarks": 4, "method": "cluster", "random_state": 0},
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
        f"bounds.{name}": (
            bound.function,
            {argument: ARRAYS[argument] for argument in bound.arguments if argument in ARRAYS},
            {argument: SCALARS[argument] for argument in bound.arguments if argument in SCALARS},
        )
        for name, bound in bounds.ALIGNMENT_BOUNDS.items()
    },
    "bounds.kl_terms": (
        lambda **given: np.stack(bounds.kl_terms(**given)[:2]),
        OF_KL,
        {"bound": "landmark_kl", "n": 50, "t": 5.0, "epsilon": 0.05},
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
        {"gibbs_error": np.array([0.0, 0.5]), "disagreement": np.array([0.0, 0.5]), "scale": OF_KL["kl"]},
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
    rff.AdaptiveFourierFeatures(n_components=4, tol=0.5, random_state=0),
    rff.SupervisedFourierFeatures(n_components=4, decay=0.1, tol=0.5, random_state=0),
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


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_lists_count_as_arrays(name):
    function, arrays, others = CALLS[name]
    expected = function(**arrays, **others)
    found = function(**{argument: array.tolist() for argument, array in arrays.items()}, **others)
    np.testing.assert_array_equal(found, expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


@pytest.mark.slow
@pytest.mark.parametrize(("name", "argument"), list(arrays_of()))
def test_complex_numbers_are_refused(name, argument):
    function, arrays, others = CALLS[name]
    for values in (arrays[argument] + 0.5j, (arrays[argument] + 0j).tolist(), arrays[argument].astype(np.complex64)):
        said = refusal(function, **{**arrays, argument: values}, **others)
        assert said.startswith(f"{argument} holds complex numbers, such as ") and said.endswith(
            "real numbers are needed."
        )


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_another_library_give_the_same_or_are_refused(name):
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    function, arrays, others = CALLS[name]
    expected = np.asarray(function(**arrays, **others))
    for changed in (*([argument] for argument in arrays), list(arrays)):
        given = {**arrays, **{argument: strict.asarray(arrays[argument]) for argument in changed}}
        try:
            found = np.asarray(function(**given, **others))
        except ValueError as error:
            assert "array" in str(error) and str(error).endswith("."), error
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-12)


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
    answer = "transform" if hasattr(estimator, "transform") else "decision_function"
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


def entries(points, copies=1, zeros=False, backwards=False):
    """Values, columns and row pointers of a CSR matrix with several entries for each number."""
    rows, columns = np.indices(points.shape).reshape(2, -1) if zeros else np.nonzero(points)
    rows, columns = np.repeat(rows, copies), np.repeat(columns, copies)
    order = np.lexsort((-columns if backwards else columns, rows))
    rows, columns = rows[order], columns[order]
    return points[rows, columns] / copies, columns.astype(np.int32), np.searchsorted(rows, np.arange(len(points) + 1))


def changed(matrix, change, names=("data", "indices", "indptr")):
    """A sparse matrix, some of its arrays replaced."""
    for name in names:
        setattr(matrix, name, change(getattr(matrix, name)))
    return matrix


def cancelling(points):
    """Entries with 1 - 1 for each zero."""
    values, columns, pointers = entries(points, 2, zeros=True)
    return np.where(values == 0, np.where(np.arange(values.size) % 2, 1.0, -1.0), values), columns, pointers


def sparse_forms(kind, points, folder):
    """Forms of the same points, of SciPy's matrices or arrays."""
    csr, csc, coo, bsr = (getattr(sp, f"{name}_{kind}") for name in ("csr", "csc", "coo", "bsr"))
    shape = {"shape": points.shape}
    long = partial(changed, change=np.int64, names=("indices", "indptr"))
    twice = entries(points, 2)
    coordinates = twice[0], (np.repeat(np.arange(len(points)), np.diff(twice[2])), twice[1])
    across = entries(points.T, 4, backwards=True)
    seen = csr(points)
    assert seen.has_canonical_format  # SciPy keeps what it found
    seen.data, seen.indices, seen.indptr = twice
    return {
        "csr": csr(points),
        "duplicates": csr(twice, **shape),
        "duplicates backwards": csr(entries(points, 4, backwards=True), **shape),
        "backwards": csr(entries(points, backwards=True), **shape),
        "zeros": csr(entries(points, zeros=True), **shape),
        "cancelling": csr(cancelling(points), **shape),
        "int64": long(csr(points)),
        "int64 duplicates": long(csr(twice, **shape)),
        "spare room": changed(csr(points), lambda a: np.append(a, a[-1:]), ("data", "indices")),
        "read-only duplicates": changed(csr(twice, **shape), read_only),
        "memmap duplicates": changed(csr(twice, **shape), partial(on_disk, folder=folder)),
        "strides duplicates": changed(csr(twice, **shape), lambda a: a[::-1].copy()[::-1]),
        "changed since looked at": seen,
        "everything": changed(long(csr(entries(points, 2, True, True), **shape)), read_only),
        "csr float32": csr(points.astype(np.float32)),
        "csr float32 duplicates": csr((twice[0].astype(np.float32), *twice[1:]), **shape),
        "csr big-endian": changed(csr(twice, **shape), lambda a: a.astype(">f8"), ["data"]),
        "csr longdouble": csr(points.astype(np.longdouble)),
        "csc": csc(points),
        "csc duplicates backwards": csc(across, **shape),
        "csc read-only": changed(csc(across, **shape), read_only),
        "coo": coo(points),
        "coo duplicates": coo(coordinates, **shape),
        "coo zeros": coo((points.ravel(), np.indices(points.shape).reshape(2, -1)), **shape),
        "bsr": bsr(points),
        "bsr duplicates": bsr((twice[0][:, None, None], *twice[1:]), **shape),
        "lil": csr(points).tolil(),
        "dok": csr(points).todok(),
        "dia": csr(points).todia(),
    }


def read_only(values):
    values = values.copy()
    values.setflags(write=False)
    return values


def on_disk(values, folder):
    path = folder / f"{len(list(folder.iterdir()))}.npy"
    np.save(path, values)
    return np.load(path, mmap_mode="r")


def strided(points):
    """Every other column, from an odd address."""
    wide = np.zeros(8 * points.size * 2 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(len(points), -1)
    wide[:, ::2] = points
    return wide[:, ::2]


def dense_forms(points, folder):
    return {
        "list": points.tolist(),
        "tuple": tuple(map(tuple, points.tolist())),
        "rows": list(points),
        "Fortran": np.asfortranarray(points),
        "negative strides": points[::-1, ::-1].copy()[::-1, ::-1],
        "strided": strided(points),
        "read-only": read_only(points),
        "memmap": on_disk(points, folder),
        "object": points.astype(object),
        "big-endian": points.astype(">f8"),
        "longdouble": points.astype(np.longdouble),
        "float32": points.astype(np.float32),
        "float16": points.astype(np.float16),
        "frame": pd.DataFrame(points),
        "frame of columns": pd.DataFrame(points).astype({0: np.float32}),
        "sparse frame": pd.DataFrame(points).astype(pd.SparseDtype(float, 0.0)),
    }


@pytest.fixture(scope="session")
def forms_of(tmp_path_factory):
    """Dense forms of points by name, and sparse ones, of SciPy's matrices and arrays by turns; no test changes them."""
    made = {}

    def forms(points):
        key = points.shape, points.tobytes()
        if key not in made:
            folder = tmp_path_factory.mktemp("forms")
            kinds = [sparse_forms(kind, points, folder) for kind in ("matrix", "array")]
            made[key] = dense_forms(points, folder), {name: kinds[i % 2][name] for i, name in enumerate(kinds[0])}
        return made[key]

    return forms


KERNELS = [
    *(as_kernel(name) for name in NAMED),
    rff.RationalQuadraticKernel(alpha=2.0, length_scale="scale"),
    rff.AnisotropicGaussianKernel("scale"),
    rff.PeriodicKernel(),
    rff.SumKernel((rff.GaussianKernel("scale"), rff.PeriodicKernel())),
    rff.ProductKernel((rff.LaplacianKernel("scale"), rff.AnisotropicGaussianKernel("scale"))),
]


def methods_of_points(kind):
    """Public methods of a class with an argument for points, and `__call__`."""
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if name == "__call__" or not name.startswith("_"):
            yield from ((f"{kind.__name__}.{name}", argument) for argument in arguments_of_points(method))


def arguments_of_points(function):
    return [
        name for name, given in inspect.signature(function).parameters.items() if "MatrixLike" in str(given.annotation)
    ]


def takers_of_points():
    """All public functions and methods with an argument for points, by their signatures."""
    for prefix, module in (("", rff), ("bounds.", bounds), ("losses.", losses), ("linear.", linear)):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) and not inspect.isabstract(found):
                yield from methods_of_points(found)
            elif inspect.isfunction(found) and (prefix == "" or not hasattr(rff, name)):
                yield from ((f"{prefix}{name}", argument) for argument in arguments_of_points(found))


#: Functions that take sparse points; `alignment_loss_batched` finds them in its blocks.
SPARSE = {*takers_of_points(), ("alignment_loss_batched", "X")}


def call_with(name, argument, points):
    function, arrays, others = CALLS[name]
    return [function(**{**arrays, argument: points}, **others)]


def scaled_kernel_matrix(kernel, points):
    return [kernel.scaled_to(points)(X), kernel.scaled_to(points, WEIGHTS)(X)]


def answers(estimator, points, names=None):
    """What each method of a fitted estimator says of points."""
    names = [name for name, _ in methods_of_points(type(estimator))] if names is None else names
    called = [
        getattr(estimator, name.rpartition(".")[2])(points, *[Y] * 2 * name.endswith("certify_groups"))
        for name in names
        if "fit" not in name
    ]
    return [np.array(answer if isinstance(answer, np.ndarray) else list(answer)) for answer in called]


@cache
def fitted(estimator):
    return clone(estimator).fit(X, Y)


def answers_after_fit(estimator, name, points):
    return answers(fitted(estimator), points, [name])


def fitted_on(estimator, method, points):
    return answers(getattr(clone(estimator), method)(points, Y), X)


def cases():
    """Each function of points by its name and argument, as a function of that argument, and plain points for it."""
    for name, (_, arrays, _) in CALLS.items():
        for argument, array in arrays.items():
            if array.ndim == 2 and not (name.endswith("Kernel") and argument in "XY"):
                yield (name, argument), partial(call_with, name, argument), array
    for kernel in KERNELS:
        name, kernel_of_X = type(kernel).__name__, kernel.scaled_to(X)
        yield (f"{name}.__call__", "X"), lambda points, k=kernel_of_X: [k(points), k(points, X[:4])], X
        yield (f"{name}.__call__", "Y"), lambda points, k=kernel_of_X: [k(X[:4], points)], X
        yield (f"{name}.scaled_to", "X"), partial(scaled_kernel_matrix, kernel), X
    for estimator in ESTIMATORS:
        for name, argument in methods_of_points(type(estimator)):
            method = name.rpartition(".")[2]
            after = partial(answers_after_fit, estimator, name)
            yield (name, argument), partial(fitted_on, estimator, method) if "fit" in method else after, X


CASES = {key: (function, points) for key, function, points in cases()}
NAMES = ["-".join(key) for key in CASES]
#: The forms that caught most.
HOSTILE = ("negative strides", "read-only", "everything", "changed since looked at", "csc duplicates backwards")


def plain(form):
    """The numbers of a form as an ordinary array."""
    values = form.toarray() if sp.issparse(form) else np.asarray(form)
    return values.astype(np.float32 if values.dtype == np.float32 else np.float64, order="C")


def dense(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def check_forms(key, forms_of, chosen=None):
    """Each form gives what the plain array gives, or is refused as sparse, and is not changed."""
    function, points = CASES[key]
    arrays, matrices = forms_of(points)
    expected = {dtype: function(points.astype(dtype)) for dtype in (np.float32, np.float64)}
    for name, form in (arrays | matrices).items():
        if chosen is not None and name not in chosen:
            continue
        before = pickle.dumps(form)
        if name in matrices and key not in SPARSE:
            assert refusal(function, form) == f"{key[1]} is a sparse matrix; a dense array is needed."
        else:
            values = plain(form)
            exact = np.array_equal(values, points.astype(values.dtype))
            wanted = expected[values.dtype.type] if exact else function(values)
            for answer, right in zip(function(form), wanted, strict=True):
                assert type(answer) is type(right) or sp.issparse(answer), f"{key}: {name}"
                compare(dense(answer), dense(right), 1e-4 if values.dtype == np.float32 else 1e-9, f"{key}: {name}")
        assert pickle.dumps(form) == before, f"{key} changes {name}"


def compare(found, right, tolerance, message):
    assert found.dtype == right.dtype, message
    if right.dtype.kind == "f":
        np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance, err_msg=message)
    else:
        np.testing.assert_array_equal(found, right, err_msg=message)


def test_every_function_of_points_has_a_case(forms_of):
    assert set(takers_of_points()) <= set(CASES)
    arrays, matrices = forms_of(X)
    assert len(CASES) * (len(arrays) + len(matrices)) > 4000
    assert len(CASES) * len(HOSTILE) > 500 and {*HOSTILE} <= {*arrays, *matrices}


@pytest.mark.more(after=80)
@pytest.mark.slow
@pytest.mark.parametrize("key", CASES, ids=NAMES)
def test_hostile_forms_of_points_count_as_arrays(key, forms_of):
    check_forms(key, forms_of, HOSTILE)


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(SPARSE - {("PeriodicKernel.scaled_to", "X")}), ids="-".join)  # reads none
def test_entries_outside_a_sparse_matrix_are_refused(key):
    function, points = CASES[key]
    for form in (sp.csr_array, sp.csc_matrix, sp.bsr_array):
        broken = form(points)
        broken.indices = broken.indices + 10**6  # SciPy's products would read there
        said = refusal(function, broken)
        assert "is not a valid sparse matrix; its " in said and " must be < " in said


@pytest.mark.more(after=20)
@pytest.mark.slow("fits estimators of forty milliseconds to fifty forms of the same points")
@pytest.mark.parametrize("key", CASES, ids=NAMES)
def test_any_form_of_points_counts_as_an_array(key, forms_of):
    check_forms(key, forms_of)


# --- arguments of a wrong kind ------------------------------------------------------------------------------------

WRONG = [
    None,
    True,
    3,
    -1.5,
    np.nan,
    10**400,
    "gaussian",
    b"x",
    object(),
    [],
    [[]],
    [None],
    [[1.0], [1.0, 2.0]],
    {},
    {"a": 1},
    (1, "a"),
    np.array(1.0),
    np.empty((0, 2)),
    np.full((3, 2, 2), 7.0),
    np.full(40, object(), dtype=object),
    np.array(["2020-01-01"] * 12, dtype="datetime64[D]"),
    sp.csr_matrix((2, 2)),
    sp.csr_array((0, 0)),
    rff.GaussianKernel,
    rff.LaplacianKernel(),
    range(999),
    lambda: 0,
]
# Further calls, of functions that take no arrays and of others' other arguments.
OTHERS = {
    "draw_frequencies": (
        rff.draw_frequencies,
        {},
        {"kernel": KERNEL, "n_frequencies": 3, "n_features": 2, "sampling": "sobol", "random_state": 0},
    ),
    "bounds.kl_terms": (bounds.kl_terms, OF_KL, CALLS["bounds.kl_terms"][2]),
    "sample_loss_bound": (
        rff.sample_loss_bound,
        {},
        {"n": 9, "r": 2, "d": 2, "radius": 1.0, "diameter": 1.0, "delta": 0.1},
    ),
    "FrequencyBlocks": (rff.FrequencyBlocks, {}, {"kernel": KERNEL, "n_frequencies": 3, "n_features": 2, "seed": 0}),
    "FrequencyBlocks.block": (rff.FrequencyBlocks(KERNEL, 10, 2).block, {}, {"b": 0}),
    "kernel": (KERNEL, {"X": X, "Y": X}, {}),
    "sample_frequencies": (
        rff.MaternKernel().sample_frequencies,
        {},
        {"n_frequencies": 3, "n_features": 2, "random_state": 0},
    ),
    "scaled_to": (rff.GaussianKernel("scale").scaled_to, {"X": X, "sample_weight": WEIGHTS}, {}),
    **{
        f"{named.kernel.__name__}()": (named.kernel, {}, named.of_width(1.0, nu=0.5).get_params())
        for named in NAMED.values()
    },
    "PeriodicKernel()": (rff.PeriodicKernel, {}, {"period": 1.0, "length_scale": 1.0}),
    "RationalQuadraticKernel()": (rff.RationalQuadraticKernel, {}, {"alpha": 1.0, "length_scale": 1.0}),
    "AnisotropicGaussianKernel()": (rff.AnisotropicGaussianKernel, {}, LENGTHS),
    "SumKernel()": (rff.SumKernel, {}, {"kernels": [KERNEL], "weights": None}),
    "ProductKernel()": (rff.ProductKernel, {}, {"kernels": [KERNEL]}),
    "alignment_loss": (rff.alignment_loss, {"X": X, "y": Y, "omega": OMEGA}, {"n_jobs": 1}),
    "alignment_loss_batched": (rff.alignment_loss_batched, {}, {"blocks": [(X, Y)], "omega": OMEGA}),
    "weighted approximation": (
        rff.kernel_approximation_loss,
        {},
        {"X": X, "kernel": KERNEL, "omega": OMEGA, "weights": None, "distinct": True},
    ),
}


ALL_CALLS = {name: call for name, call in CALLS.items() if name != "bounds.kl_terms"}
ALL_CALLS |= {f"{name} again" if name in ALL_CALLS else name: call for name, call in OTHERS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL_CALLS)
def test_arguments_of_a_wrong_kind_are_taken_or_refused_in_a_short_sentence(name):
    function, arrays, others = ALL_CALLS[name]
    given = {**arrays, **others}
    for argument in given:
        for wrong in WRONG:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    function(**given | {argument: wrong})
                except ValueError as error:
                    said = str(error)
                    assert said.endswith(".") and "\n" not in said and len(said) < 300, (argument, wrong, said)
                    assert names_it(said, argument, given), (argument, wrong, said)
                else:
                    assert not isinstance(wrong, np.ndarray) or wrong.dtype != object, (argument, wrong)


def names_it(said, argument, given):
    """Whether a message names an argument, or another one that it must fit, as the call spells them."""
    named = set(re.findall(r"\w+", said))
    return (
        argument in named
        or argument.replace("_", " ") in said
        or (np.size(given.get(argument)) > 1 and bool(named & set(given)))
    )


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_parameters_of_a_wrong_kind_are_named_in_a_short_sentence(estimator):
    for name in clone(estimator).get_params(deep=False):
        for wrong in (object(), -1.5, "radial", [[]], {}, rff.GaussianKernel):
            try:
                clone(estimator).set_params(**{name: wrong}).fit(X, Y)
            except ValueError as error:
                said = str(error)
                assert said.startswith(name) and said.endswith(".") and "\n" not in said and len(said) < 300, said
            else:
                assert not isinstance(wrong, type), (name, wrong)
