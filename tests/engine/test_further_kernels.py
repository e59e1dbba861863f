"""Kernels with a length scale a column, of a period, of rational quadratic shape, and sums and products of kernels."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import integrate, stats
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import rff_engine as rff
from tests import naive

from .test_kernels import density_of_draws_is_right, offsets, points, total_density

LENGTHS = (0.7, 2.0, 1.2, 0.4, 3.0)
PARTS = (rff.GaussianKernel(1.3), rff.LaplacianKernel(0.6), rff.MaternKernel(nu=0.8, length_scale=1.4))
SHARES = (0.2, 0.5, 0.3)
OF_PARTS = (
    lambda delta: naive.gaussian(delta, 1.3),
    lambda delta: naive.laplacian(delta, 0.6),
    lambda delta: naive.matern(delta, 0.8, 1.4),
)
ROUND = (
    rff.GaussianKernel(0.8),
    rff.MaternKernel(nu=2.0, length_scale=1.4),
    rff.RationalQuadraticKernel(alpha=1.5, length_scale=2.0),
)

# The kernel in d dimensions, and its formula.
CASES = {
    "anisotropic": (
        lambda d: rff.AnisotropicGaussianKernel(LENGTHS[:d]),
        lambda delta: math.exp(-sum((t / l) ** 2 for t, l in zip(delta, LENGTHS, strict=False)) / 2),
    ),
    **{
        f"rational quadratic {alpha}": (
            lambda d, alpha=alpha: rff.RationalQuadraticKernel(alpha=alpha, length_scale=1.4),
            lambda delta, alpha=alpha: naive.rational_quadratic(delta, alpha, 1.4),
        )
        for alpha in (0.3, 1.0, 2.5, 7.0)
    },
    "periodic": (
        lambda d: rff.PeriodicKernel(period=2.5, length_scale=0.8),
        lambda delta: naive.periodic(delta, 2.5, 0.8),
    ),
    "sum": (
        lambda d: rff.SumKernel(PARTS, SHARES),
        lambda delta: sum(w * k(delta) for w, k in zip(SHARES, OF_PARTS, strict=True)),
    ),
    "product": (lambda d: rff.ProductKernel(PARTS), lambda delta: math.prod(k(delta) for k in OF_PARTS)),
    "Gaussian product": (
        lambda d: rff.ProductKernel((rff.GaussianKernel(1.3), rff.AnisotropicGaussianKernel(LENGTHS[:d]))),
        lambda delta: OF_PARTS[0](delta) * CASES["anisotropic"][1](delta),
    ),
    "locally periodic": (
        lambda d: rff.ProductKernel((rff.PeriodicKernel(period=2.5, length_scale=0.8), rff.GaussianKernel(1.3))),
        lambda delta: naive.periodic(delta, 2.5, 0.8) * OF_PARTS[0](delta),
    ),
    "nested": (
        lambda d: rff.SumKernel(
            [rff.ProductKernel(PARTS[:2]), PARTS[2], rff.PeriodicKernel(period=2.5, length_scale=0.8)]
        ),
        lambda delta: (
            (OF_PARTS[0](delta) * OF_PARTS[1](delta) + OF_PARTS[2](delta) + naive.periodic(delta, 2.5, 0.8)) / 3
        ),
    ),
}
WITH_DENSITY = ["anisotropic", *(f"rational quadratic {a}" for a in (1.0, 2.5, 7.0)), "sum", "Gaussian product"]
every_case = pytest.mark.parametrize("case", CASES)
every_dimension = pytest.mark.parametrize("d", [1, 2, 5])


def mean_is(samples, value, sigmas=4.5):
    """Whether a Monte Carlo mean is the value up to its standard error."""
    return abs(samples.mean() - value) < sigmas * samples.std() / np.sqrt(len(samples)) + 1e-12


# --- values -------------------------------------------------------------------------------------------------------


@every_case
@every_dimension
def test_value_equals_the_formula(case, d):
    make, formula = CASES[case]
    X, Y = points(6, d), points(4, d, seed=1)
    expected = [[formula(x - y) for y in Y] for x in X]
    np.testing.assert_allclose(make(d)(X, Y), expected, rtol=1e-9, atol=1e-14)


@pytest.mark.slow
@every_case
def test_gram_matrix_is_positive_semidefinite_and_nearly_the_same_for_float32_points(case):
    kernel, X = CASES[case][0](5), points(12, 5) * (np.random.default_rng(3).random((12, 5)) < 0.6)
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diag(K), 1, rtol=0, atol=1e-15)
    assert K.max() <= 1 and np.linalg.eigvalsh(K).min() > -1e-10
    narrow = kernel(X.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, K, rtol=0, atol=1e-4)


def test_values_equal_those_of_scikit_learn():
    X, Y = points(6, 3), points(4, 3, seed=1)
    for ours, other in (
        (rff.AnisotropicGaussianKernel(LENGTHS[:3]), theirs.RBF(LENGTHS[:3])),
        (rff.RationalQuadraticKernel(alpha=0.7, length_scale=1.3), theirs.RationalQuadratic(1.3, 0.7)),
    ):
        np.testing.assert_allclose(ours(X, Y), other(X, Y), rtol=1e-10)
    one = theirs.ExpSineSquared(0.8, 2.5)
    np.testing.assert_allclose(
        rff.PeriodicKernel(period=2.5, length_scale=0.8)(X[:, :1], Y[:, :1]), one(X[:, :1], Y[:, :1]), rtol=1e-10
    )


def test_special_cases_are_the_kernels_they_should_be():
    X, Y = points(6, 3), points(4, 3, seed=1)
    gaussian = rff.GaussianKernel(1.3)(X, Y)
    np.testing.assert_allclose(rff.AnisotropicGaussianKernel([1.3] * 3)(X, Y), gaussian, rtol=1e-12)
    np.testing.assert_allclose(
        rff.RationalQuadraticKernel(alpha=1e6, length_scale=1.3)(X, Y), gaussian, rtol=0, atol=1e-5
    )
    product = rff.ProductKernel((rff.GaussianKernel(3.0), rff.GaussianKernel(4.0)))
    np.testing.assert_allclose(product(X, Y), rff.GaussianKernel(12 / 5)(X, Y), rtol=1e-12)
    alone = rff.SumKernel((rff.GaussianKernel(1.3), rff.PeriodicKernel()), (1.0, 0.0))
    np.testing.assert_allclose(alone(X, Y), gaussian, rtol=1e-14)
    omega = points(5, 3, seed=2)
    np.testing.assert_allclose(
        product.spectral_density(omega), rff.GaussianKernel(12 / 5).spectral_density(omega), rtol=1e-10
    )
    np.testing.assert_allclose(alone.spectral_density(omega), rff.GaussianKernel(1.3).spectral_density(omega))


# --- densities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", WITH_DENSITY)
@pytest.mark.parametrize("d", [1, 2])
def test_density_integrates_to_one(case, d):
    total = total_density(CASES[case][0](d), d)
    # At alpha = d / 2 the density has a pole of logarithmic order at 0, which the rule meets with fewer digits.
    assert total == pytest.approx(1, abs=1e-3 if case == "rational quadratic 1.0" and d == 2 else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_DENSITY)
def test_kernel_in_one_dimension_is_the_fourier_transform_of_the_density(case):
    make, formula = CASES[case]

    def density(omega):
        return make(1).spectral_density([[omega]])[0]

    for delta in (0.3, 1.0, 2.5):
        transform, _ = integrate.quad(density, 0, np.inf, weight="cos", wvar=delta, limit=500)
        assert 2 * transform == pytest.approx(formula([delta]), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_DENSITY)
@every_dimension
def test_density_reweighs_draws_of_a_heavier_tail_to_the_kernel(case, d):
    """E_q[p / q cos(omega . delta)] = k(delta) for draws from q, at delta = 0 the integral of p."""
    kernel, formula = CASES[case][0](d), CASES[case][1]
    if case == "sum":
        others = rff.SumKernel(
            (rff.LaplacianKernel(0.7), rff.MaternKernel(nu=0.5)), None
        )  # as heavy in every direction
    else:
        others = rff.MaternKernel(nu=1.0, length_scale=0.9)
    omega = others.sample_frequencies(60000, d, random_state=d)
    ratio = kernel.spectral_density(omega) / others.spectral_density(omega)
    for delta in np.vstack([np.zeros((1, d)), offsets(d)]):
        assert mean_is(ratio * np.cos(omega @ delta), formula(delta))


@pytest.mark.parametrize(("alpha", "d"), [(0.4, 1), (1.0, 2), (2.5, 5), (2.0, 5)])
def test_density_of_the_rational_quadratic_kernel_is_infinite_at_0_for_small_alpha(alpha, d):
    kernel = rff.RationalQuadraticKernel(alpha=alpha)
    near = kernel.spectral_density(np.vstack([np.full((1, d), 10.0**-k) for k in (3, 5, 8)]))
    assert np.all(np.diff(near) > 0) and np.isfinite(near).all()
    with pytest.raises(ValueError, match="omega has a density of exp"):
        kernel.spectral_density(np.zeros((1, d)))


@pytest.mark.parametrize("alpha", [49.0, 50.9, 51.1, 300.0, 1e4, 1e6])
def test_density_of_the_rational_quadratic_kernel_for_large_alpha_is_the_integral_over_scales(alpha):
    """By quadrature over the inverse squared length scale, whose law is gamma."""
    omega = np.array([0.0, 0.1, 1.0, 3.0, 5.0])
    node, weight = np.polynomial.legendre.leggauss(400)
    spread = 10 / np.sqrt(alpha)
    tau = np.exp(spread * node)
    law = stats.gamma(alpha, scale=1 / alpha).logpdf(tau) + np.log(tau * spread)
    gaussian = np.exp(-(omega[:, None] ** 2) / (2 * tau)) / np.sqrt(2 * np.pi * tau)
    expected = gaussian @ (weight * np.exp(law))
    density = rff.RationalQuadraticKernel(alpha=alpha).spectral_density(omega[:, None])
    np.testing.assert_allclose(density, expected, rtol=1e-6)


@pytest.mark.parametrize("kernel", [rff.PeriodicKernel(), rff.ProductKernel(PARTS), CASES["locally periodic"][0](2)])
def test_a_missing_density_raises_one_sentence(kernel):
    with pytest.raises(ValueError, match=rf"^{type(kernel).__name__}.* has no .*density.*\.$"):
        kernel.spectral_density(np.ones((3, 2)))


def test_periodic_kernel_is_the_cosine_series_of_its_masses():
    kernel, m = rff.PeriodicKernel(period=2.5, length_scale=0.5), np.arange(-60, 61)
    mass = kernel.spectral_mass(m[:, None])
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(mass, stats.skellam(2.0, 2.0).pmf(m), rtol=1e-8, atol=1e-15)
    for delta in (0.1, 0.9, 1.7):
        series = mass @ np.cos(2 * np.pi * m * delta / 2.5)
        assert series == pytest.approx(naive.periodic([delta], 2.5, 0.5), abs=1e-12)
    pairs = np.stack(np.meshgrid(m, m), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(kernel.spectral_mass(pairs), np.outer(mass, mass).ravel(), rtol=1e-12)
    np.testing.assert_array_equal(kernel.spectral_mass([[0.5], [1e12], [-1e90]]), 0)


def test_periodic_frequencies_are_multiples_drawn_by_their_masses():
    kernel = rff.PeriodicKernel(period=2.5, length_scale=0.5)
    multiples = kernel.sample_frequencies(20000, 1, 0).ravel() * 2.5 / (2 * np.pi)
    np.testing.assert_allclose(multiples, np.rint(multiples), atol=1e-9)
    values = np.arange(-4, 5)
    expected = kernel.spectral_mass(values[:, None])
    shares = np.array([(np.rint(multiples) == value).mean() for value in values])
    assert (np.abs(shares - expected) < 4.5 * np.sqrt(expected / 20000)).all()


# --- draws --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_case
@every_dimension
def test_mean_cosine_of_the_draws_is_the_kernel_at_the_monte_carlo_rate(case, d):
    """The standard error is at most (2 m)^(-1/2) (1 + k(2 delta) - 2 k(delta)^2)^(1/2), itself at most m^(-1/2)."""
    make, formula = CASES[case]
    omega = make(d).sample_frequencies(40000, d, random_state=d)
    assert omega.shape == (40000, d) and np.isfinite(omega).all()
    for delta in offsets(d):
        for m in (400, 4000, 40000):
            cosines = np.cos(omega[:m] @ delta)
            error = np.sqrt(max(1 + formula(2 * delta) - 2 * formula(delta) ** 2, 0) / 2 / m)
            assert abs(cosines.mean() - formula(delta)) < 4.5 * error + 20 / m
        assert mean_is(np.sin(omega @ delta), 0.0)


@pytest.mark.parametrize("case", ["rational quadratic 1.0", "rational quadratic 7.0", "sum", "Gaussian product"])
def test_draws_in_one_dimension_follow_the_density(case):
    assert density_of_draws_is_right(CASES[case][0](1))


@pytest.mark.slow
@every_case
@every_dimension
def test_quantiles_at_even_points_approximate_the_kernel_better_than_draws(case, d):
    make, formula = CASES[case]
    kernel = make(d)
    dimension = kernel.uniforms_per_frequency(d)
    omega = rff.draw_frequencies(kernel, 4096, d, "sobol", random_state=0)
    uniforms = np.random.default_rng(0).random((7, dimension))
    assert kernel.frequencies_at(uniforms).shape == (7, d)
    errors = [np.cos(omega @ delta).mean() - formula(delta) for delta in offsets(d)]
    # Most of the gain is in few dimensions; a product of three kernels takes 16 for d = 5.
    assert np.sqrt(np.mean(np.square(errors))) < {1: 0.4, 2: 0.6, 5: 0.9}[d] / np.sqrt(2 * 4096)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [rff.SumKernel(ROUND, SHARES), rff.ProductKernel(ROUND), ROUND[2]])
@pytest.mark.parametrize("sampling", ["orthogonal", "fastfood", "moment_matching"])
def test_kernels_of_the_distance_serve_every_scheme(kernel, sampling):
    assert kernel.is_rotation_invariant
    draws = [rff.draw_frequencies(kernel, 40, 4, sampling, random_state=seed) for seed in range(400)]
    for delta in offsets(4):
        means = np.array([np.cos(omega @ delta).mean() for omega in draws])
        value = kernel(delta[None], np.zeros((1, 4)))[0, 0]
        bias = 4 / 40 if sampling == "moment_matching" else 0.0
        assert abs(means.mean() - value) < 4.5 * means.std() / 20 + bias


@pytest.mark.parametrize("case", ["anisotropic", "periodic", "product", "sum", "locally periodic"])
def test_other_kernels_are_refused_by_schemes_that_need_the_distance(case):
    kernel = CASES[case][0](3)
    assert not kernel.is_rotation_invariant
    with pytest.raises(ValueError, match=f"{type(kernel).__name__} is not one"):
        rff.draw_frequencies(kernel, 5, 3, "orthogonal")
    with pytest.raises(ValueError, match=f"{type(kernel).__name__} is not rotation invariant"):
        kernel.sample_scales(5)


@pytest.mark.parametrize("case", ["anisotropic", "periodic", "Gaussian product", "rational quadratic 2.5"])
def test_coordinate_variance_is_that_of_the_draws(case):
    kernel = CASES[case][0](3)
    omega = kernel.sample_frequencies(40000, 3, random_state=0)
    for column, variance in zip(omega.T, np.broadcast_to(kernel.coordinate_variance, 3), strict=True):
        assert mean_is(column**2, variance)
    matched = rff.draw_frequencies(kernel, 50, 3, "moment_matching", random_state=0)
    assert matched.shape == (50, 3)
    mixed = rff.SumKernel((kernel, rff.GaussianKernel(2.0)), (0.25, 0.75))
    expected = 0.25 * np.asarray(kernel.coordinate_variance) + 0.75 * 0.25
    np.testing.assert_allclose(mixed.coordinate_variance, expected, rtol=1e-12)
    assert rff.SumKernel((rff.LaplacianKernel(), kernel)).coordinate_variance is not None


@every_case
def test_blocks_are_drawn_again_and_begin_alike(case):
    kernel = CASES[case][0](3)
    long, short = rff.FrequencyBlocks(kernel, 2500, 3, seed=4), rff.FrequencyBlocks(kernel, 1100, 3, seed=4)
    stored = np.concatenate(list(long))
    np.testing.assert_array_equal(np.concatenate(list(short)), stored[:1100])
    np.testing.assert_array_equal(long.take([2400, 3, 1024]), stored[[2400, 3, 1024]])
    legacy = [kernel.sample_frequencies(5, 3, np.random.RandomState(4)) for _ in range(2)]
    np.testing.assert_array_equal(*legacy)


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_case
def test_kernels_are_cloned_compared_and_used_by_estimators(case):
    kernel, X = CASES[case][0](3), points(30, 3)
    y = (X[:, 0] > 0).astype(int)
    assert clone(kernel) == kernel and hash(clone(kernel)) == hash(kernel)
    for estimator in (
        rff.RandomFourierFeatures(kernel, 2000, random_state=0),
        rff.PseudoPosteriorFeatures(kernel, 4, 30, random_state=0),
        rff.LandmarkSimilarity(kernel, 4, n_components=5, random_state=0),
        rff.NystroemFeatures(kernel, 5, random_state=0),
    ):
        assert clone(estimator).kernel == kernel
        features = clone(estimator).fit(X, y).transform(X)
        assert np.isfinite(features).all()
    approximate = rff.RandomFourierFeatures(kernel, 2000, random_state=0).fit_transform(X)
    assert np.abs(approximate @ approximate.T - kernel(X)).max() < 6 / np.sqrt(2000)


def test_parameters_are_searched_through_an_estimator():
    X = points(40, 3)
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(rff.RandomFourierFeatures(rff.SumKernel(), 20, random_state=0), LinearSVC())
    name = "randomfourierfeatures__kernel__"
    grid = {f"{name}weights": [(0.0, 1.0), (0.5, 0.5)], f"{name}kernels": [PARTS[:2], ROUND[:2]]}
    best = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y).best_estimator_[0]
    assert best.kernel_.weights in ((0.0, 1.0), (0.5, 0.5))
    changed = rff.SumKernel(PARTS[:2]).set_params(kernels=ROUND[:2])
    assert changed.is_rotation_invariant and changed == rff.SumKernel(ROUND[:2])


def test_scale_of_each_column_makes_the_kernel_invariant_to_its_unit():
    X = points(50, 3) * [1.0, 100.0, 1e-3]
    fitted = rff.AnisotropicGaussianKernel("scale").scaled_to(X)
    np.testing.assert_allclose(fitted.length_scales, np.sqrt(3 * X.var(axis=0) / 2), rtol=1e-10)
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(fitted(X), rff.GaussianKernel("scale").scaled_to(standardized)(standardized), rtol=1e-9)
    sparse = sp.csr_array(X * (X > 0))
    np.testing.assert_allclose(
        rff.AnisotropicGaussianKernel().scaled_to(sparse).length_scales,
        rff.AnisotropicGaussianKernel().scaled_to(sparse.toarray()).length_scales,
        rtol=1e-9,
    )
    weights = np.arange(50) % 3
    np.testing.assert_allclose(
        rff.AnisotropicGaussianKernel().scaled_to(X, weights).length_scales,
        rff.AnisotropicGaussianKernel().scaled_to(X.repeat(weights, axis=0)).length_scales,
        rtol=1e-10,
    )
    constant = rff.AnisotropicGaussianKernel().scaled_to(np.ones((4, 2)))
    assert constant.length_scales == pytest.approx([2**-0.5] * 2)
    assert rff.RationalQuadraticKernel(alpha=2.0, length_scale="scale").scaled_to(X).length_scale == pytest.approx(
        np.sqrt(3 * X.var() / 2)
    )


@pytest.mark.parametrize("make", [rff.SumKernel, rff.ProductKernel])
def test_open_widths_inside_a_composed_kernel_are_taken_from_the_data(make):
    X, inside = points(20, 2), (rff.GaussianKernel("scale"), rff.PeriodicKernel(), rff.AnisotropicGaussianKernel())
    kernel = make(inside)
    assert kernel.is_open and make(inside[1:2]).is_open is False
    for use in (lambda: kernel(X), lambda: kernel.sample_frequencies(3, 2), lambda: kernel.frequencies_at(X)):
        with pytest.raises(ValueError, match=f"{make.__name__}.*has no width yet"):
            use()
    assert kernel.scaled_to(X) == make(tuple(k.scaled_to(X) for k in inside))
    closed = kernel.scaled_to(X)
    assert closed.scaled_to(2 * X) is closed
    fitted = rff.RandomFourierFeatures(kernel, 4, random_state=0).fit(X)
    assert fitted.kernel_ == closed and fitted.kernel is kernel


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: rff.AnisotropicGaussianKernel("wide"), "length_scales is 'wide'; one number above 0 a column"),
        (lambda: rff.AnisotropicGaussianKernel((1.0, 0.0)), "length_scales is 0.0; a finite number above 0"),
        (lambda: rff.AnisotropicGaussianKernel(2.0), r"length_scales has shape \(\)"),
        (lambda: rff.AnisotropicGaussianKernel([]), r"length_scales has shape \(0,\)"),
        (lambda: rff.RationalQuadraticKernel(alpha=0.0), "alpha is 0.0; a finite number above 0"),
        (lambda: rff.RationalQuadraticKernel(alpha=1e7), "alpha is 10000000.0; a number between 1e-06 and 1e"),
        (lambda: rff.RationalQuadraticKernel(alpha=1.0, length_scale=-1), "length_scale is -1"),
        (lambda: rff.PeriodicKernel(period=0), "period is 0; a finite number above 0"),
        (
            lambda: rff.PeriodicKernel(period=1.0, length_scale=1e-4),
            "length_scale is 0.0001; a number between 0.001 and 1000",
        ),
        (lambda: rff.SumKernel(()), r"kernels is \(\); a tuple of at least one kernel"),
        (lambda: rff.SumKernel(rff.GaussianKernel()), "kernels is GaussianKernel"),
        (lambda: rff.ProductKernel(("gaussian",)), r"kernels is \('gaussian',\)"),
        (lambda: rff.SumKernel(PARTS, (0.5, 0.5)), r"weights has shape \(2,\); 3 numbers, one a kernel"),
        (lambda: rff.SumKernel(PARTS, (0.5, 0.5, 0.5)), "weights sums to 1.5"),
        (lambda: rff.SumKernel(PARTS, (1.5, -0.5, 0.0)), "weights has a weight of -0.5"),
    ],
)
def test_bad_parameters_are_named(make, says):
    with pytest.raises(ValueError, match=rf"^{says}.*\.$"):
        make()


@pytest.mark.parametrize(
    "kernel", [rff.AnisotropicGaussianKernel((1.0, 2.0)), rff.SumKernel((rff.AnisotropicGaussianKernel((1.0, 2.0)),))]
)
def test_points_must_have_a_column_for_each_length_scale(kernel):
    X = points(4, 3)
    for use in (
        lambda: kernel(X),
        lambda: kernel.spectral_density(X),
        lambda: kernel.sample_frequencies(4, 3),
        lambda: rff.RandomFourierFeatures(kernel).fit(X),
        lambda: kernel.frequencies_at(np.full((2, kernel.uniforms_per_frequency(3)), 0.5)),
    ):
        with pytest.raises(
            ValueError, match="has 2 length scales, one a column; the points have 3 columns, and as many"
        ):
            use()


def test_uniform_numbers_must_be_those_of_a_whole_dimension():
    kernel = rff.ProductKernel((rff.GaussianKernel(), rff.MaternKernel()))
    assert kernel.uniforms_per_frequency(3) == 7
    with pytest.raises(ValueError, match=r"uniforms has 6 columns; uniforms_per_frequency\(d\) are needed, such as 7"):
        kernel.frequencies_at(np.full((2, 6), 0.5))
    with pytest.raises(ValueError, match="two dimensions and at least 3 columns are needed"):
        kernel.frequencies_at(np.full((2, 2), 0.5))
