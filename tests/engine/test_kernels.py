"""Kernels and compositions of them: their values, their densities, draws that agree with both, and their parameters."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import clone

import rff_engine as rff
from rff_engine.kernels import KERNELS as NAMED
from tests import naive

LENGTHS = (0.7, 2.0, 1.2, 0.4, 3.0)
PARTS = (rff.GaussianKernel(1.3), rff.LaplacianKernel(0.6), rff.MaternKernel(nu=0.8, length_scale=1.4))
SHARES = (0.2, 0.5, 0.3)
OF_PARTS = (
    lambda delta: naive.gaussian(delta, 1.3),
    lambda delta: naive.laplacian(delta, 0.6),
    lambda delta: naive.matern(delta, 0.8, 1.4),
)
PERIODIC = rff.PeriodicKernel(period=2.5, length_scale=0.8)


def of_period(delta):
    return naive.periodic(delta, 2.5, 0.8)


# The kernel in d dimensions, and its formula.
CASES = {
    "gaussian": (lambda d: PARTS[0], OF_PARTS[0]),
    "laplacian": (lambda d: PARTS[1], OF_PARTS[1]),
    "cauchy": (lambda d: rff.CauchyKernel(0.8), lambda delta: naive.cauchy(delta, 0.8)),
    **{
        f"matern {nu}": (
            lambda d, nu=nu: rff.MaternKernel(nu=nu, length_scale=1.4),
            lambda delta, nu=nu: naive.matern(delta, nu, 1.4),
        )
        for nu in (0.5, 0.8, 1.5, 2.5, 3.5, 4)
    },
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
    "sum": (
        lambda d: rff.SumKernel(PARTS, SHARES),
        lambda delta: sum(w * k(delta) for w, k in zip(SHARES, OF_PARTS, strict=True)),
    ),
    "Gaussian product": (
        lambda d: rff.ProductKernel((PARTS[0], rff.AnisotropicGaussianKernel(LENGTHS[:d]))),
        lambda delta: OF_PARTS[0](delta) * CASES["anisotropic"][1](delta),
    ),
    "periodic": (lambda d: PERIODIC, of_period),
    "product": (lambda d: rff.ProductKernel(PARTS), lambda delta: math.prod(k(delta) for k in OF_PARTS)),
    "locally periodic": (
        lambda d: rff.ProductKernel((PERIODIC, PARTS[0])),
        lambda delta: of_period(delta) * OF_PARTS[0](delta),
    ),
    "nested": (
        lambda d: rff.SumKernel([rff.ProductKernel(PARTS[:2]), PARTS[2], PERIODIC]),
        lambda delta: (OF_PARTS[0](delta) * OF_PARTS[1](delta) + OF_PARTS[2](delta) + of_period(delta)) / 3,
    ),
}
WITH_DENSITY = [name for name in CASES if name not in ("periodic", "product", "locally periodic", "nested")]
IN_ONE_DIMENSION = [name for name in WITH_DENSITY if name not in ("rational quadratic 0.3", "rational quadratic 2.5")]
every_case = pytest.mark.parametrize("case", CASES)
every_dimension = pytest.mark.parametrize("d", [1, 2, 5])


def test_every_named_kernel_has_a_case():
    assert {type(make(2)) for make, _ in CASES.values()} >= {named.kernel for named in NAMED.values()}


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def offsets(d):
    """Differences along the axes and off them, of lengths at which the kernels are neither 0 nor 1."""
    oblique = np.random.default_rng(d).normal(size=(3, d))
    oblique *= np.array([[0.3], [1.0], [2.5]]) / np.linalg.norm(oblique, axis=1, keepdims=True)
    return np.vstack([np.eye(d)[:1], 0.5 * np.eye(d)[-1:], np.full((1, d), 0.7 / np.sqrt(d)), oblique])


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


@every_case
@every_dimension
def test_gram_matrix_is_symmetric_and_positive_semidefinite(case, d):
    kernel, X = CASES[case][0](d), np.round(1024 * points(12, d)) / 1024
    K = kernel(X)
    np.testing.assert_allclose(K, kernel(X, X.copy()), rtol=0, atol=1e-7)  # square roots of rounded distances
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diag(K), 1, rtol=0, atol=1e-14)
    assert (K > 0).all() and (K <= 1).all()
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(kernel(X + 2.0**20), K, rtol=0, atol=1e-8)  # a column may be far from 0


@every_case
def test_float32_stays_and_is_close(case):
    kernel, X, Y = CASES[case][0](3), points(7, 3).astype(np.float32), points(5, 3, seed=1).astype(np.float32)
    for K in (kernel(X, Y), kernel(sp.csr_array(X), sp.csr_array(Y))):
        assert K.dtype == np.float32
        np.testing.assert_allclose(K, kernel(X.astype(np.float64), Y.astype(np.float64)), rtol=1e-5)
    assert kernel(X, Y.astype(np.float64)).dtype == np.float64
    assert kernel([[1, 2, 3]], [[0, 1, 0]]).dtype == np.float64


def test_gamma_and_sigma_give_the_same_kernel():
    assert rff.GaussianKernel.from_gamma(0.125).sigma == pytest.approx(2)
    assert rff.GaussianKernel(2.0).gamma == pytest.approx(0.125)
    np.testing.assert_allclose(
        rff.GaussianKernel.from_gamma(0.3)([[0.0, 0.0]], [[1.0, 2.0]]), np.exp(-0.3 * 5), rtol=1e-12
    )


@pytest.mark.parametrize("n", [1, 2, 3, 10, 49, 50, 60, 200, 2000])
def test_matern_of_half_integers_equals_the_recurrence(n):
    r = np.append(np.linspace(0, 6, 40), [1e-12, 1e-6, 1e-3])
    K = rff.MaternKernel(nu=n + 0.5)([[0.0, 0.0]], np.outer(r, [0.6, 0.8]))[0]
    np.testing.assert_allclose(K, naive.matern_half_integer(n, r), rtol=0, atol=2e-9)


def test_matern_kernel_reaches_its_limits_and_grows_with_smoothness_near_0():
    X, Y = points(6, 3), points(5, 3, seed=1)
    r = np.linalg.norm(X[:, None] - Y, axis=-1)
    np.testing.assert_allclose(rff.MaternKernel(nu=0.5, length_scale=0.7)(X, Y), np.exp(-r / 0.7), rtol=1e-10)
    for nu in (0.5, 1.5, 2.5):  # the closed forms join the general one
        np.testing.assert_allclose(
            rff.MaternKernel(nu=nu)(X, Y), rff.MaternKernel(nu=nu + 1e-9)(X, Y), rtol=0, atol=1e-8
        )
    gaps = [
        np.abs(rff.MaternKernel(nu=nu)(X, Y) - rff.GaussianKernel()(X, Y)).max() for nu in (10, 100, 1e4, 1e8, np.inf)
    ]
    assert np.all(np.diff(gaps) < 0) and gaps[-1] < 1e-8
    # smoother kernels stay higher near 0
    near = [rff.MaternKernel(nu=nu)([[0.0]], [[0.1]])[0, 0] for nu in (0.3, 0.5, 1, 2, 10, 49.9, 50.1, 1e3)]
    assert np.all(np.diff(near) > 0)
    for nu in (1e-3, 0.1, 0.8, 30, 51):
        assert rff.MaternKernel(nu=nu)([[0.0]])[0, 0] == 1


@every_case
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_points_whose_sum_is_nan_are_accepted(case, form):
    X = np.zeros((4, 4), dtype=np.float32)
    X.flat[[0, 8]], X.flat[[1, 9]] = 3e38, -3e38  # a sum in pieces meets inf - inf
    K = CASES[case][0](4)(form(X))
    assert np.isfinite(K).all() and (np.diag(K) == 1).all() and K[1, 3] == 1


# --- densities ----------------------------------------------------------------------------------------------------


def half_line():
    """Nodes and weights on (0, infinity) of the exp-sinh rule, which integrates heavy tails."""
    t = np.linspace(-4, 4, 161)
    node = np.exp(np.pi / 2 * np.sinh(t))
    return node, node * np.pi / 2 * np.cosh(t) * (t[1] - t[0])


def total_density(kernel, d):
    """The integral of a spectral density over d = 1 or 2 dimensions."""
    node, weight = half_line()
    node, weight = np.append(-node, node), np.append(weight, weight)
    if d == 1:
        return weight @ kernel.spectral_density(node[:, None])
    grid = np.stack(np.meshgrid(node, node), axis=-1).reshape(-1, 2)
    return weight @ kernel.spectral_density(grid).reshape(len(node), -1) @ weight


@pytest.mark.parametrize("case", [name for name in WITH_DENSITY if name != "rational quadratic 0.3"])
@pytest.mark.parametrize("d", [1, 2])
def test_density_integrates_to_one(case, d):
    total = total_density(CASES[case][0](d), d)
    # At alpha = d / 2 the density has a pole of logarithmic order at 0, which the rule meets with fewer digits.
    assert total == pytest.approx(1, abs=1e-3 if case == "rational quadratic 1.0" and d == 2 else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH_DENSITY)
@every_dimension
def test_density_reweighs_draws_of_a_heavier_tail_to_the_kernel(case, d):
    """E_q[p / q cos(omega . delta)] = k(delta) for draws from q, at delta = 0 the integral of p."""
    make, formula = CASES[case]
    others = rff.SumKernel((rff.LaplacianKernel(0.7), rff.MaternKernel(nu=0.5)))  # as heavy in every direction
    omega = others.sample_frequencies(60000, d, random_state=d)
    ratio = make(d).spectral_density(omega) / others.spectral_density(omega)
    for delta in np.vstack([np.zeros((1, d)), offsets(d)]):
        assert mean_is(ratio * np.cos(omega @ delta), formula(delta))


def test_a_part_without_a_density_may_have_the_weight_0():
    alone, omega = rff.SumKernel((PARTS[0], rff.PeriodicKernel()), (1.0, 0.0)), points(5, 3)
    np.testing.assert_allclose(alone.spectral_density(omega), PARTS[0].spectral_density(omega))


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


@pytest.mark.parametrize("case", ["periodic", "product", "locally periodic"])
def test_a_missing_density_raises_one_sentence(case):
    kernel = CASES[case][0](2)
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
def test_mean_cosine_of_the_draws_is_the_kernel(case, d):
    make, formula = CASES[case]
    omega = make(d).sample_frequencies(40000, d, random_state=d)
    assert omega.shape == (40000, d) and omega.dtype == np.float64 and np.isfinite(omega).all()
    for delta in offsets(d):
        assert mean_is(np.cos(omega @ delta), formula(delta))
        assert mean_is(np.sin(omega @ delta), 0.0)


@pytest.mark.parametrize("case", IN_ONE_DIMENSION)
def test_draws_in_one_dimension_follow_the_density(case):
    """By a test of Kolmogorov and Smirnov."""
    kernel = CASES[case][0](1)
    angle = np.linspace(-np.pi / 2, np.pi / 2, 40001)[1:-1]
    omega = np.tan(angle)
    mass = kernel.spectral_density(omega[:, None]) * (1 + omega**2)
    distribution = np.append(0, np.cumsum((mass[1:] + mass[:-1]) / 2) * (angle[1] - angle[0]))
    assert distribution[-1] == pytest.approx(1, abs=1e-3)
    draws = kernel.sample_frequencies(20000, 1, random_state=1).ravel()
    assert stats.kstest(draws, lambda x: np.interp(np.arctan(x), angle, distribution)).pvalue > 1e-4


@pytest.mark.parametrize(
    "case", ["gaussian", "cauchy", "matern 4", "anisotropic", "periodic", "Gaussian product", "rational quadratic 2.5"]
)
def test_coordinate_variance_is_that_of_the_draws(case):
    kernel = CASES[case][0](3)
    omega = kernel.sample_frequencies(40000, 3, random_state=0)
    for column, variance in zip(omega.T, np.broadcast_to(kernel.coordinate_variance, 3), strict=True):
        assert mean_is(column**2, variance)
    mixed = rff.SumKernel((kernel, rff.GaussianKernel(2.0)), (0.25, 0.75))
    expected = 0.25 * np.asarray(kernel.coordinate_variance) + 0.75 * 0.25
    np.testing.assert_allclose(mixed.coordinate_variance, expected, rtol=1e-12)
    assert np.isinf([rff.LaplacianKernel().coordinate_variance, rff.MaternKernel(nu=1.0).coordinate_variance]).all()


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_case
def test_kernels_are_cloned_compared_and_approximated_by_features(case):
    kernel, X = CASES[case][0](3), points(30, 3)
    assert clone(kernel) == kernel != rff.GaussianKernel(0.1) and hash(clone(kernel)) == hash(kernel)
    phi = rff.RandomFourierFeatures(kernel, 2000, random_state=0).fit_transform(X)
    assert np.abs(phi @ phi.T - kernel(X)).max() < 6 / np.sqrt(2000)


def test_scale_of_each_column_makes_the_kernel_invariant_to_its_unit():
    X = points(50, 3) * [1.0, 100.0, 1e-3]
    fitted = rff.AnisotropicGaussianKernel("scale").scaled_to(X)
    np.testing.assert_allclose(fitted.length_scales, np.sqrt(3 * X.var(axis=0) / 2), rtol=1e-10)
    constant = rff.AnisotropicGaussianKernel().scaled_to(np.ones((4, 2)))
    assert constant.length_scales == pytest.approx([2**-0.5] * 2)
    open_width = rff.RationalQuadraticKernel(alpha=2.0, length_scale="scale")
    assert open_width.scaled_to(X).length_scale == pytest.approx(np.sqrt(3 * X.var() / 2))


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
