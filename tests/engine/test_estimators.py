"""The transformers: scikit-learn's own checks, and the functions that they call."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from rff_engine import (
    FrequencyBlocks,
    GaussianKernel,
    LandmarkSimilarity,
    LaplacianKernel,
    MaternKernel,
    NystroemFeatures,
    OptimizedKernelFeatures,
    PseudoPosteriorFeatures,
    RandomFourierFeatures,
    _strength,
    alignment_loss,
    bounds,
    draw_frequencies,
    estimators,
    fourier_features,
    kernel_landmarks,
    kl_divergence,
    landmark_alignment_loss,
    landmark_similarity,
    nystroem,
    optimized_kernel_weights,
    power_divergence,
    pseudo_posterior,
)
from rff_engine.frequencies import SAMPLING_SCHEMES

ESTIMATORS = [
    RandomFourierFeatures(n_components=5, random_state=0),
    RandomFourierFeatures(kernel=LaplacianKernel(0.5), n_components=1, random_state=0),
    PseudoPosteriorFeatures(n_components=5, n_candidates=30, random_state=0),
    PseudoPosteriorFeatures(kernel=MaternKernel(nu=2.5), n_components=3, n_candidates=2, beta=0, random_state=0),
    OptimizedKernelFeatures(n_components=5, n_candidates=30, random_state=0),
    OptimizedKernelFeatures(n_components=5, n_candidates=30, rho=0.01, mu=3, random_state=0),
    LandmarkSimilarity(n_components=4, random_state=0),
    LandmarkSimilarity(n_landmarks=0.5, selection="random", n_components=4, random_state=0),
    LandmarkSimilarity(n_landmarks=0.2, similarity="prior", random_state=0),
    PseudoPosteriorFeatures(n_components=5, n_candidates=30, beta="bound", random_state=0),
    OptimizedKernelFeatures(n_components=5, n_candidates=30, rho="bound", random_state=0),
    LandmarkSimilarity(n_landmarks=0.5, selection="random", n_components=4, beta="bound", random_state=0),
    NystroemFeatures(n_components=5, random_state=0),
    NystroemFeatures(kernel=LaplacianKernel(0.5), n_components=3, landmarks="cluster", random_state=0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


def sample(n=60, d=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, d)) + y[:, None] * [1.0, -1.0, 0.0, 0.0][:d], np.array(["b", "a", "c"])[y]


# --- the functions they call ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", SAMPLING_SCHEMES)
def test_random_fourier_features_equal_the_functions(sampling):
    X, _ = sample()
    fitted = RandomFourierFeatures(MaternKernel(nu=0.8), 9, sampling, random_state=3).fit(X)
    omega = draw_frequencies(MaternKernel(nu=0.8), 9, 4, sampling, 3)
    np.testing.assert_array_equal(fitted.frequencies_, omega)
    np.testing.assert_array_equal(fitted.transform(X), fourier_features(X, omega))


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("estimator", "learn"),
    [
        (PseudoPosteriorFeatures(beta=3.0), lambda loss, n: pseudo_posterior(loss, 3.0, n)),
        (OptimizedKernelFeatures(rho=0.1), lambda loss, n: optimized_kernel_weights(loss, 0.1)),
        (OptimizedKernelFeatures(rho=0.1, mu=3), lambda loss, n: optimized_kernel_weights(loss, 0.1, 3)),
    ],
)
def test_learned_features_equal_the_functions(estimator, learn, n_classes):
    X, y = sample(n_classes=n_classes)
    kernel = GaussianKernel(1.5)
    fitted = clone(estimator).set_params(kernel=kernel, n_components=6, n_candidates=1500, random_state=4).fit(X, y)
    rng = np.random.default_rng(4)
    candidates = FrequencyBlocks(kernel, 1500, 4, int(rng.integers(2**31)))
    loss = alignment_loss(X, y, candidates)
    Q = learn(loss, 60)
    omega = candidates.take(rng.choice(1500, size=6, p=Q))
    np.testing.assert_allclose(fitted.alignment_loss_, loss, rtol=0, atol=1e-14)
    np.testing.assert_allclose(fitted.weights_, Q, rtol=1e-12)
    np.testing.assert_array_equal(fitted.frequencies_, omega)
    np.testing.assert_array_equal(fitted.transform(X), fourier_features(X, omega))


@pytest.mark.parametrize("selection", ["kmeans", "random"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_landmark_similarity_equals_the_functions(selection, n_classes):
    X, y = sample(n_classes=n_classes)
    kernel = GaussianKernel(1.5)
    fitted = LandmarkSimilarity(kernel, 7, selection, n_components=5, beta=2.0, random_state=1).fit(X, y)
    assert fitted.frequencies_.shape == (7, 5, 4)
    assert (fitted.landmark_indices_ is None) == (selection == "kmeans")
    loss = landmark_alignment_loss(
        X, y, fitted.landmarks_, fitted.landmark_labels_, fitted.frequencies_, fitted.landmark_indices_
    )
    np.testing.assert_allclose(fitted.alignment_loss_, loss, rtol=0, atol=1e-14)
    Q = pseudo_posterior(loss, 2.0, 60)
    np.testing.assert_allclose(fitted.weights_, Q, rtol=1e-12)
    expected = landmark_similarity(X, fitted.landmarks_, fitted.frequencies_, Q)
    np.testing.assert_allclose(fitted.transform(X), expected, rtol=0, atol=1e-13)
    prior = LandmarkSimilarity(kernel, 7, selection, similarity="prior", random_state=1).fit(X, y)
    np.testing.assert_array_equal(prior.landmarks_, fitted.landmarks_)  # only the similarity differs
    np.testing.assert_allclose(prior.transform(X), kernel(X, fitted.landmarks_), rtol=1e-12)


@pytest.mark.parametrize("landmarks", ["sample", "cluster", "nearest"])
def test_nystroem_features_are_exact_at_their_landmarks(landmarks):
    """phi(x) . phi(z) = k(x, L) K_L^+ k(L, z), which is k(x, z) if x is a landmark."""
    X, _ = sample()
    kernel = MaternKernel(nu=0.8)
    fitted = NystroemFeatures(kernel, 12, landmarks, random_state=3).fit(X)
    expected, _ = kernel_landmarks(X, 12, landmarks, 3)
    np.testing.assert_array_equal(fitted.landmarks_, expected)
    rows = fitted.component_indices_
    assert (rows is None) == (landmarks == "cluster")
    assert rows is None or np.array_equal(X[rows], expected)
    given = clone(NystroemFeatures(kernel, landmarks=expected)).fit(X)
    np.testing.assert_array_equal(given.transform(X), fitted.transform(X))
    assert given.component_indices_ is None
    with pytest.raises(ValueError, match="landmarks has 2 columns; 4 are needed"):
        clone(given).set_params(landmarks=expected[:, :2]).fit(X)
    phi, at_landmarks = fitted.transform(X), fitted.transform(fitted.landmarks_)
    low_rank = kernel(X, expected) @ np.linalg.pinv(kernel(expected)) @ kernel(expected, X)
    np.testing.assert_allclose(phi @ phi.T, low_rank, atol=1e-9)
    np.testing.assert_allclose(phi @ at_landmarks.T, kernel(X, expected), atol=1e-9)
    with pytest.warns(UserWarning, match="n_components is 1000, and there are 60 points, so there are 60 features"):
        every = NystroemFeatures(kernel, 1000, random_state=0).fit_transform(X)
    assert every.shape == (60, 60)
    np.testing.assert_allclose(every @ every.T, kernel(X), atol=1e-9)


@pytest.mark.parametrize("columns", [5, 128])
def test_nystroem_features_are_those_of_scikit_learn_rotated(columns, monkeypatch):
    monkeypatch.setattr(nystroem, "_COLUMNS", columns)
    X, _ = sample()
    fitted = NystroemFeatures(GaussianKernel.from_gamma(0.3), 12, random_state=3).fit(X)
    theirs = Nystroem(gamma=0.3, n_components=12, random_state=0).fit(fitted.landmarks_)
    features, others = fitted.transform(X), theirs.transform(X)
    np.testing.assert_allclose(features @ features.T, others @ others.T, atol=1e-8)
    root = fitted.root_
    assert (root == np.tril(root)).all()
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(fitted.kernel_(fitted.landmarks_)), rtol=1e-8)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_nystroem_features_of_a_function_and_of_a_kernel_matrix_are_those_of_the_kernel(container):
    X, y = sample()
    kernel = GaussianKernel(1.5)
    expected = NystroemFeatures(kernel, 12, random_state=3).fit(X)
    by_rows = NystroemFeatures(lambda x, z: np.exp(-((x - z) ** 2).sum() / 4.5), 12, random_state=3).fit(X)
    np.testing.assert_allclose(by_rows.transform(X), expected.transform(X), atol=1e-7)
    K = kernel(X)
    computed = NystroemFeatures("precomputed", 12, random_state=3).fit(container(K))
    np.testing.assert_array_equal(computed.component_indices_, expected.component_indices_)
    np.testing.assert_allclose(computed.transform(container(K[:7])), expected.transform(X[:7]), atol=1e-7)
    search = GridSearchCV(make_pipeline(computed, LinearSVC()), {"nystroemfeatures__n_components": [5]}, cv=2)
    assert search.fit(K, y).predict(K).shape == (60,)  # both sides of K are split
    with pytest.raises(ValueError, match="landmarks is 'cluster'; kernel='precomputed' needs 'sample'"):
        clone(computed).set_params(landmarks="cluster").fit(K)
    with pytest.raises(ValueError, match=r"X has shape \(60, 4\); kernel='precomputed' needs a square matrix"):
        computed.fit(X)


@pytest.mark.parametrize(
    ("n_landmarks", "n_classes", "L"),
    [(0.1, 2, 6), (0.05, 2, 2), (0.12, 2, 8), (1.0, 2, 60), (1e-9, 3, 3), (0.1, 3, 6), (5, 2, 5), (1, 3, 1)],
)
def test_number_of_landmarks_is_a_number_or_a_rounded_fraction(n_landmarks, n_classes, L):
    X, y = sample(n_classes=n_classes)
    fitted = LandmarkSimilarity(n_landmarks=n_landmarks, n_components=2, selection="random").fit(X, y)
    assert fitted.landmarks_.shape == (L, 4)
    assert fitted.transform(X).shape == (60, L)


def test_default_kernel_is_gaussian_with_the_scale_of_the_data():
    X, y = sample()
    for shift in (0.0, 1e6):
        for estimator in ESTIMATORS:
            if estimator.kernel is None:
                kernel = clone(estimator).fit(X + shift, y).kernel_
                assert kernel.gamma == pytest.approx(1 / (4 * X.var()), rel=1e-6)
    sparse = X * (X > 0)
    fitted = RandomFourierFeatures().fit(sp.csr_array(sparse))
    assert fitted.kernel_.gamma == pytest.approx(1 / (4 * sparse.var()), rel=1e-12)
    assert RandomFourierFeatures().fit(np.ones((5, 2))).kernel_.gamma == pytest.approx(1)


# --- what all of them keep ----------------------------------------------------------------------------------------


@pytest.mark.slow
@every_estimator
def test_results_are_reproducible_from_a_seed(estimator):
    X, y = sample()
    first, again = (clone(estimator).set_params(random_state=11).fit_transform(X, y) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    old = [clone(estimator).set_params(random_state=np.random.RandomState(2)).fit_transform(X, y) for _ in range(2)]
    np.testing.assert_array_equal(*old)
    if not (isinstance(estimator, LandmarkSimilarity) and estimator.similarity == "prior"):
        assert not np.array_equal(first, clone(estimator).set_params(random_state=12).fit_transform(X, y))


@pytest.mark.slow
@every_estimator
def test_feature_names_are_columns_of_the_output(estimator):
    X, y = sample()
    fitted = clone(estimator).fit(X, y)
    names = list(fitted.get_feature_names_out())
    n_features = fitted.transform(X).shape[1]
    if isinstance(estimator, LandmarkSimilarity):
        assert names == [f"landmark{l}" for l in range(n_features)]
    elif isinstance(estimator, NystroemFeatures):
        assert names == [f"nystroem{m}" for m in range(estimator.n_components)] and n_features == len(names)
    else:
        D = estimator.n_components
        assert names == [f"cos{j}" for j in range(D)] + [f"sin{j}" for j in range(D)] and n_features == 2 * D
    table = fitted.set_output(transform="pandas").transform(X)
    assert list(table.columns) == names


# --- beta and rho by the minimum of a bound -------------------------------------------------------------------------

KERNEL_LEARNERS = {"beta": PseudoPosteriorFeatures, "rho": OptimizedKernelFeatures}


def bound_of_kernel(name, loss, strength, epsilon, mu=2.0):
    """The bound that an estimator promises, from its formula; its divergence has order 2, whatever the radius has."""
    if name == "beta":
        Q = pseudo_posterior(loss, strength, 60)
        return bounds.second_order_kl_inverse(Q @ loss, kl_divergence(Q), 60, epsilon)
    Q = optimized_kernel_weights(loss, strength, mu)
    return bounds.chi_square(Q @ loss, power_divergence(Q, 2.0), 60, epsilon, "sub_gaussian")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "order"), [("beta", {}), ("rho", {}), ("rho", {"mu": 1.3}), ("rho", {"mu": 4.0})])
@pytest.mark.parametrize("epsilon", [0.05, 1e-4])
def test_the_bound_of_a_kernel_is_smallest_at_the_chosen_strength(name, order, epsilon):
    X, y = sample()
    make = partial(KERNEL_LEARNERS[name], GaussianKernel(1.5), 5, 200, epsilon=epsilon, random_state=0, **order)
    fitted = make(**{name: "bound"}).fit(X, y)
    strength = getattr(fitted, f"{name}_")

    def bound(strength):
        return bound_of_kernel(name, fitted.alignment_loss_, strength, epsilon, **order)

    assert fitted.bound_ == pytest.approx(bound(strength), rel=1e-9)
    assert fitted.bound_ <= min(bound(other) for other in [0, *np.logspace(-6, 3, 300)]) + 1e-9
    same = make(**{name: strength}).fit(X, y)
    np.testing.assert_array_equal(same.frequencies_, fitted.frequencies_)
    assert same.bound_ == fitted.bound_ and getattr(same, f"{name}_") == strength


@pytest.mark.slow
def test_the_bounds_of_landmarks_hold_for_every_point_as_a_landmark():
    X, y = sample()
    fitted = LandmarkSimilarity(
        GaussianKernel(1.5), 8, "random", n_components=50, beta="bound", epsilon=0.1, random_state=0
    ).fit(X, y)

    def landmark_bounds(beta):
        Q = pseudo_posterior(fitted.alignment_loss_, beta, 60)
        loss = (Q * fitted.alignment_loss_).sum(axis=1)
        return bounds.landmark_kl_inverse(loss, kl_divergence(Q), 60, 0.1, n_landmarks=60)

    np.testing.assert_allclose(fitted.bound_, landmark_bounds(fitted.beta_), rtol=1e-9)
    assert fitted.bound_.mean() <= min(landmark_bounds(beta).mean() for beta in np.logspace(-3, 3, 200)) + 1e-9


def test_centroids_have_no_bound():
    X, y = sample()
    assert LandmarkSimilarity(n_landmarks=4, n_components=3, random_state=0).fit(X, y).bound_ is None
    with pytest.raises(ValueError, match=r"selection 'kmeans'; 'random' is needed, as no bound covers centroids\.$"):
        LandmarkSimilarity(beta="bound").fit(X, y)


def test_without_anything_to_learn_the_bound_keeps_the_prior():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    for name, make in KERNEL_LEARNERS.items():
        fitted = make(n_components=3, n_candidates=10, **{name: "bound"}, random_state=0).fit(X, y)
        np.testing.assert_allclose(fitted.weights_, 0.1)


# --- warnings and validation --------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("n_wide", "listed"), [(1, "0"), (5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, 3, 4, ...")])
def test_columns_that_set_the_width_alone_are_named_in_a_warning(form, n_wide, listed):
    X, wide = np.random.default_rng(0).normal(size=(50, 13)), np.arange(13)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RandomFourierFeatures(n_components=2).fit(form(X * np.where(wide == 2, 90, 1)))
        RandomFourierFeatures(GaussianKernel(1.0), n_components=2).fit(form(X * np.where(wide == 2, 1e4, 1)))
    start = re.escape(f"{n_wide} of 13 columns ({listed}) have more than 10000 times the variance")
    with pytest.warns(UserWarning, match=f"^{start}.* StandardScaler"):
        RandomFourierFeatures(n_components=2).fit(form(X * np.where(wide < n_wide, 1e4, 1)))


@pytest.mark.parametrize("learned", [PseudoPosteriorFeatures, OptimizedKernelFeatures])
def test_a_strength_that_leaves_too_few_candidates_is_named_in_a_warning(learned):
    X, y = make_moons(200, noise=0.2, random_state=0)
    name = learned._strength_name
    with pytest.warns(UserWarning, match=rf"draws 20 frequencies from an effective number of 1 candidates at {name}=1"):
        sharp = learned(n_components=20, n_candidates=100, **{name: 1e6}, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sharp.partial_fit(X, y)  # it is said once
        fitted = learned(n_components=20, n_candidates=1000, random_state=0).fit(X, y)
    assert 1 / (fitted.weights_**2).sum() > 10


@pytest.mark.parametrize("learned", [PseudoPosteriorFeatures, OptimizedKernelFeatures])
def test_validated_weights_leave_one_of_the_effective_numbers_to_choose_among(learned):
    X, y = make_moons(600, noise=0.2, random_state=0)
    fitted = learned(n_components=10, n_candidates=1000, random_state=0).fit(X, y)
    left = 1 / (fitted.weights_**2).sum()
    assert min(abs(left - allowed) / allowed for allowed in (10, 20, 50, 150, 500, 1000)) < 0.05
    assert left < 1000  # labels of moons are worth following


@pytest.mark.slow
@pytest.mark.parametrize("learned", [PseudoPosteriorFeatures, OptimizedKernelFeatures])
def test_validation_looks_neither_at_the_order_of_rows_nor_at_how_often_all_repeat(learned):
    X, y = make_moons(300, noise=0.2, random_state=0)
    estimator = learned(GaussianKernel(0.5), n_components=10, n_candidates=1000, random_state=0)
    order = np.random.default_rng(0).permutation(300)
    strength = estimator._strength_name + "_"
    chosen = getattr(clone(estimator).fit(X, y), strength)
    assert getattr(clone(estimator).fit(X[order], y[order]), strength) == pytest.approx(chosen, rel=1e-4)
    once = clone(estimator).fit(X, y, sample_weight=np.full(300, 2.0)).weights_
    twice = clone(estimator).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).weights_
    np.testing.assert_allclose(once, twice, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("n_components", [3, 40])
def test_the_held_out_error_is_that_of_the_best_ridge_regression(n_components):
    rng = np.random.default_rng(0)
    omega, sizes = rng.standard_normal((n_components, 2)), (60, 25)
    parts = [(rng.standard_normal((n, 2)), rng.standard_normal((n, 3)), rng.uniform(0.5, 2, n)) for n in sizes]
    (X, targets, weights), (held, answers, counts) = parts
    errors = []
    for ridge in _strength._RIDGES:
        model = Ridge(ridge * weights.sum()).fit(fourier_features(X, omega), targets, sample_weight=weights)
        errors.append(counts @ ((model.predict(fourier_features(held, omega)) - answers) ** 2).sum(axis=1))
    assert _strength._held_out_error(omega, *parts) == pytest.approx(min(errors), rel=1e-6)


@pytest.mark.parametrize("learner", [PseudoPosteriorFeatures, OptimizedKernelFeatures])
def test_losses_of_many_rows_are_those_of_random_rows(learner, monkeypatch):
    monkeypatch.setattr(estimators, "_MOST_ROWS", 100)
    X, y = make_moons(400, noise=0.2, random_state=0)
    weights = np.where(np.arange(400) % 2, 1.0, 0.0)  # 200 rows have no weight
    learned = learner(GaussianKernel(), 5, 50, random_state=0).fit(X, y, weights)
    assert learned.n_samples_fit_ == 100 == learned.alignment_sums_.counts.sum()
    omega = FrequencyBlocks(GaussianKernel(), 50, 2, learned._candidates.seed)
    exact = alignment_loss(X, y, omega, sample_weight=weights)
    assert 0 < np.abs(learned.alignment_loss_ - exact).max() < 5 / np.sqrt(100)
    assert learned.bound_ > learned.weights_ @ learned.alignment_loss_
    rare = np.arange(400) == 7  # the random rows lack it: all rows count, and no bound covers that
    learned = learner(GaussianKernel(), 5, 50, random_state=1).fit(X, rare)
    assert learned.n_samples_fit_ == 400 and learned.bound_ is None


@pytest.mark.parametrize("spacing", [1e-4, 1.0])
def test_nystroem_features_of_float32_are_close_to_those_of_float64(spacing):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(100, 5)), 2, axis=0).astype(np.float32) + 10
    X[1::2] += spacing  # near landmarks make the root large, and rounding of kernel values with it
    narrow = NystroemFeatures(GaussianKernel(1.0), landmarks=X[:60], random_state=0).fit(X).transform(X)
    exact = NystroemFeatures(GaussianKernel(1.0), landmarks=X[:60]).fit(X).transform(X.astype(float))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, exact, rtol=0, atol=3e-5)
