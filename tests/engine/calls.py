"""A call of each public function, constructor, estimator and method of points, with arguments that it accepts."""

from __future__ import annotations

import inspect
from functools import cache, partial
from types import GeneratorType

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import rff_engine as rff
from rff_engine import bounds, linear, losses
from rff_engine.kernels import KERNELS as NAMED, as_kernel

N, L, D = 12, 3, 5
RNG = np.random.default_rng(0)
X, Y = np.rint(64 * RNG.normal(size=(N, 2))) / 64, np.arange(N) % 2  # exact in 16 bits
X[::3, 0] = 0
OMEGA, LOSS = RNG.normal(size=(D, 2)), np.linspace(0.1, 0.9, D)
Q = np.tile([0.25, 0.25, 0.25, 0.125, 0.125], (L, 1))  # float16 holds its sum, 1
WEIGHTS, TARGETS = 1.0 + np.arange(N) % 3, np.sin(X[:, 0])
KERNEL = rff.GaussianKernel()
PLANE = {"u": np.linspace(-1, 1, 4), "v": np.linspace(-1, 1, 3)}
LABELLED = {"X": X, "y": Y, "omega": OMEGA}
LANDMARKS = {"landmarks": X[:L], "landmark_labels": Y[:L], "omega": OMEGA}
ADAPTED = {"kernel": KERNEL, "omega": OMEGA, "max_steps": 2, "tol": 1e-3, "solver": "variable_projection"}
ADAPTED |= {"learning_rate": 0.1, "inner_steps": 10}
SUPERVISED = {"task": "classification", "decay": 0.1, "agreement": 1.0}
MARGINS = {"decision": X[:, 0], "y": 2.0 * Y - 1}
PAIR = np.array([0.2, 0.3])
OF_VOTES = {"log_ratio": np.array([3.0, -1.0]), "scale": np.array([1.0, 2.0]), "n": 50, "epsilon": 0.05}
BOUNDS = {"loss": PAIR, "kl": 5 * PAIR, "divergence": 5 * PAIR, "chi2": 5 * PAIR, "variance": np.array([0.0, 0.125])}
BOUNDS |= {"n": 50, "t": 5.0, "epsilon": 0.05, "mu": 3.0, "n_landmarks": 2, "form": "paper"}
OF_ROWS = {"y": Y, "groups": Y, "scores": X[:, 0], "thresholds": PAIR}


def batched(X, y, omega, classes, sample_weight):
    return rff.alignment_loss_batched([(X, y, sample_weight), (X, y)], omega, classes)


#: Arguments of functions, by their names in `rff_engine`.
GIVEN = {
    "draw_frequencies": {"kernel": KERNEL, "n_frequencies": 3, "n_features": 2, "sampling": "sobol", "random_state": 0},
    "FrequencyBlocks": {"kernel": KERNEL, "n_frequencies": 4, "n_features": 2, "seed": 0},
    "phases": {"X": X, "omega": OMEGA},
    "fourier_features": {"X": X, "omega": OMEGA, "weights": np.full(D, 1 / D)},
    "random_phase_features": {"X": X, "omega": OMEGA, "offsets": np.zeros(D)},
    "alignment_loss": {**LABELLED, "sample_weight": WEIGHTS, "n_jobs": None},
    "alignment_loss_variance": LABELLED,
    "alignment_sums": {**LABELLED, "classes": np.array([0, 1]), "sample_weight": WEIGHTS, "n_jobs": None},
    "alignment_loss_plane": {"X": X, "y": Y, **PLANE},
    "landmark_alignment_loss": {"X": X, "y": Y, **LANDMARKS, "landmark_indices": np.arange(L), "n_jobs": 2},
    "pseudo_posterior": {"loss": LOSS, "beta": 1.0, "n": 10},
    "optimized_kernel_weights": {"loss": LOSS, "rho": 1.0, "mu": 2.0},
    "kl_divergence": {"Q": Q},
    "power_divergence": {"Q": Q, "mu": 3.0},
    "select_landmarks": {"X": X, "y": Y, "n_landmarks": 4, "method": "kmeans", "random_state": 0},
    "landmark_similarity": {"X": X, "landmarks": X[:L], "omega": OMEGA, "Q": Q, "n_jobs": -1},
    "similarity_maps": {**PLANE, "landmarks": X[:L], "omega": OMEGA, "Q": Q},
    "kernel_landmarks": {"X": X, "n_landmarks": 4, "method": "cluster", "random_state": 0},
    "feature_weights": {"landmarks": X[:L], "kernel": KERNEL, "omega": OMEGA, "landmark_weights": np.full(L, 1 / L)},
    "adapt_frequencies": {"landmarks": X[:L], **ADAPTED, "landmark_weights": np.full(L, 1 / L), "ridge": 0.1},
    "supervise_frequencies": {**LABELLED, **ADAPTED, **SUPERVISED, "random_state": 0},
    "relative_kernel_error": {"X": X, "kernel": KERNEL, "features": X},
    "kernel_approximation_loss": {"X": X, "kernel": KERNEL, "omega": OMEGA, "weights": np.full(D, 1 / D)},
    "sample_loss_bound": {"n": 9, "r": 2, "d": 2, "radius": 1.0, "diameter": 1.0, "delta": 0.1},
    "cluster_loss_bound": {"distances": X[:, 0] ** 2, "radius": 1.0, "lipschitz": 1.0},
    "importance_density": {"omega": OMEGA, "kernel": KERNEL, "spread": 1.0},
    "linear_svm_path": {"features": X, "y": Y, "C_values": np.array([0.1, 1.0]), "form": "gram", "gram": X @ X.T},
    "ridge_path": {"features": X, "y": TARGETS, "lambdas": np.array([0.1, 1.0])},
    "kernel_ridge_path": {"K": KERNEL(X), "y": TARGETS, "lambdas": np.array([0.1, 1.0])},
    **{f"losses.{name}": MARGINS for name in losses.LOSSES},
    "losses.empirical_risk": {"loss": "hinge", **MARGINS},
    "linear.linear_svm_batch": {"features": np.stack([X, X[::-1]]), "y": Y, "C": 1.0},
    "linear.linear_svm_decision": {"features": X, "coef": RNG.normal(size=(3, 2)), "intercept": np.zeros(3)},
    "linear.error_rate": {"decision": X[:, 0], "y": Y},
    "bounds.kl_terms": {"bound": "landmark_kl", **{name: BOUNDS[name] for name in ("loss", "kl", "n", "t", "epsilon")}},
    "bounds.gibbs_classifier": {"gibbs_error": PAIR, **OF_VOTES},
    "bounds.majority_vote": {"margin_error": PAIR, "threshold": np.array([0.0, 1.0]), **OF_VOTES},
    "bounds.tandem": {"tandem_error": PAIR, "threshold": np.array([0.0, 1.0]), **OF_VOTES},
    "bounds.c_bound": {"gibbs_error": np.array([0.0, 0.5]), "disagreement": np.array([0.0, 0.5]), **OF_VOTES},
    "bounds.test_set": {"n_errors": np.array([0.0, 3.0]), "n": 50, "epsilon": 0.05},
    **{
        f"bounds.{name}": {each: BOUNDS[each] for each in inspect.signature(bound.function).parameters}
        for name, bound in bounds.ALIGNMENT_BOUNDS.items()
    },
}
KERNELS = [
    *(named.of_width(1.0, nu=0.8) for named in NAMED.values()),
    rff.RationalQuadraticKernel(alpha=2.0, length_scale=1.0),
    rff.AnisotropicGaussianKernel(np.array([0.5, 2.0])),
    rff.PeriodicKernel(),
    rff.SumKernel((KERNEL, rff.PeriodicKernel()), np.array([0.25, 0.75])),
    rff.ProductKernel((rff.LaplacianKernel(), rff.AnisotropicGaussianKernel([0.5, 2.0]))),
]
ESTIMATORS = [
    rff.RandomFourierFeatures(n_components=4, random_state=0),
    rff.PseudoPosteriorFeatures(n_components=4, n_candidates=20, random_state=0),
    rff.OptimizedKernelFeatures(n_components=4, n_candidates=20, random_state=0),
    rff.LandmarkSimilarity(n_components=4, n_landmarks=4, random_state=0),
    rff.NystroemFeatures(n_components=4, random_state=0),
    rff.AdaptiveFourierFeatures(n_components=4, tol=0.5, random_state=0),
    rff.SupervisedFourierFeatures(n_components=4, decay=0.1, tol=0.5, random_state=0),
    rff.LandmarkBoosting(n_estimators=4, n_components=3, random_state=0),
    rff.CertifiedClassifier(rff.RandomFourierFeatures(KERNEL, 4), prior_fraction=0, random_state=0),
]


def of_points(kind: type) -> list[str]:
    """Public methods of a class whose first argument is points."""
    methods = inspect.getmembers(kind, inspect.isfunction)
    return [name for name, method in methods if name[0] != "_" and "X" in inspect.signature(method).parameters]


def fitted_to(model, /, X, y, **parameters):
    """Numbers that a fit learns, and answers to the training points."""
    fitted = clone(model).set_params(**parameters).fit(X, y)
    answer = fitted.transform(X) if hasattr(fitted, "transform") else fitted.decision_function(X)
    return [answer, *(value for name, value in vars(fitted).items() if name.endswith("_"))]


@cache
def fitted(estimator):
    return clone(estimator).fit(X, Y)


def answer_of(estimator, method, X, **others):
    return getattr(fitted(estimator), method)(X, **others)


def scaled(kernel, X, sample_weight):
    return list(kernel.scaled_to(X, sample_weight).get_params().values())


def calls():
    """Name, function and arguments of every call."""
    for name, given in GIVEN.items():
        module, _, function = name.rpartition(".")
        yield name, getattr({"": rff, "bounds": bounds, "losses": losses, "linear": linear}[module], function), given
    own = {"landmark_indices": None, "sample_weight": WEIGHTS}
    yield "landmark_alignment_loss of points", rff.landmark_alignment_loss, {"X": X, "y": Y, **LANDMARKS, **own}
    yield "linear.gram_matrix", lambda Z: np.tril(linear.gram_matrix(Z)), {"Z": X}
    yield "alignment_loss_batched", batched, {**LABELLED, "classes": np.array([0, 1]), "sample_weight": WEIGHTS}
    yield "FrequencyBlocks.take", rff.FrequencyBlocks(KERNEL, 10, 2).take, {"indices": np.array([0, 9])}
    yield "FrequencyBlocks.block", rff.FrequencyBlocks(KERNEL, 10, 2).block, {"b": 0}
    yield "GaussianKernel.from_gamma", rff.GaussianKernel.from_gamma, {"gamma": 2.0}
    yield "PeriodicKernel.spectral_mass", rff.PeriodicKernel().spectral_mass, {"multiples": np.eye(2, dtype=int)}
    for kernel in KERNELS:
        name, parameters = type(kernel).__name__, kernel.get_params(deep=False)
        yield name, type(kernel), parameters
        yield f"{name}()", kernel.__call__, {"X": X, "Y": X[:4]}
        if not isinstance(kernel, rff.PeriodicKernel | rff.SumKernel | rff.ProductKernel):
            yield f"{name}.spectral_density", kernel.spectral_density, {"omega": OMEGA}
        counts = {"n_frequencies": 3, "n_features": 2, "random_state": 0}
        yield f"{name}.sample_frequencies", kernel.sample_frequencies, counts
        uniforms = RNG.uniform(0.1, 0.9, size=(4, kernel.uniforms_per_frequency(2)))
        yield f"{name}.frequencies_at", kernel.frequencies_at, {"uniforms": uniforms}
    for kernel in (as_kernel("matern"), rff.AnisotropicGaussianKernel("scale")):
        yield f"{type(kernel).__name__}.scaled_to", partial(scaled, kernel), {"X": X, "sample_weight": WEIGHTS}
    for estimator in ESTIMATORS:
        name, parameters = type(estimator).__name__, estimator.get_params(deep=False)
        yield name, partial(fitted_to, estimator), {"X": X, "y": Y, **parameters}
        for method in of_points(type(estimator)):
            if "fit" not in method and hasattr(estimator, method):
                taken = inspect.signature(getattr(estimator, method)).parameters
                others = {one: value for one, value in OF_ROWS.items() if one in taken}
                yield f"{name}.{method}", partial(answer_of, estimator, method), {"X": X, **others}


CALLS = {name: (function, given) for name, function, given in calls()}


def numbers_in(found) -> list[np.ndarray]:
    """All arrays of numbers in a result."""
    if isinstance(found, rff.SpectralKernel):
        return numbers_in(list(found.get_params().values()))
    if isinstance(found, tuple | list | GeneratorType):
        return [part for some in found for part in numbers_in(some)]
    if sp.issparse(found):
        return [found.toarray()]
    if hasattr(found, "__dict__") and not isinstance(found, np.ndarray | rff.FrequencyBlocks):
        return numbers_in(list(vars(found).values()))
    array = np.asarray(found) if found is not None else np.empty(0)
    return [array] if array.dtype.kind in "fiub" else []
