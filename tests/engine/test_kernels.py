"""Kernels: their values, their densities, and draws that agree with both."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from rff_engine import CauchyKernel, GaussianKernel, LaplacianKernel, MaternKernel
from rff_engine.kernels import KERNELS as NAMED
from tests import naive

CASES = [
    (GaussianKernel(1.3), lambda delta: naive.gaussian(delta, 1.3)),
    (LaplacianKernel(0.6), lambda delta: naive.laplacian(delta, 0.6)),
    (CauchyKernel(0.8), lambda delta: naive.cauchy(delta, 0.8)),
    *[
        (MaternKernel(nu=nu, length_scale=1.4), lambda delta, nu=nu: naive.matern(delta, nu, 1.4))
        for nu in (0.5, 0.8, 1.5, 2.5, 3.5, 4)
    ],
]
KERNELS = [kernel for kernel, _ in CASES]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def test_every_named_kernel_has_a_case():
    assert {type(kernel) for kernel in KERNELS} == {named.kernel for named in NAMED.values()}


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def offsets(d):
    """Differences along the axes and off them, of lengths at which the kernels are neither 0 nor 1."""
    oblique = np.random.default_rng(d).normal(size=(3, d))
    oblique *= np.array([[0.3], [1.0], [2.5]]) / np.linalg.norm(oblique, axis=1, keepdims=True)
    return np.vstack([np.eye(d)[:1], 0.5 * np.eye(d)[-1:], np.full((1, d), 0.7 / np.sqrt(d)), oblique])


# --- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "formula"), CASES, ids=lambda case: repr(case) if case in KERNELS else "")
@pytest.mark.parametrize("d", [1, 2, 5])
def test_value_equals_the_formula(kernel, formula, d):
    X, Y = points(6, d), points(4, d, seed=1)
    expected = [[formula(x - y) for y in Y] for x in X]
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-9, atol=1e-14)


@every_kernel
@pytest.mark.parametrize("d", [1, 2, 5])
def test_gram_matrix_is_symmetric_and_positive_semidefinite(kernel, d):
    X = points(12, d)
    K = kernel(X)
    np.testing.assert_allclose(K, kernel(X, X.copy()), rtol=0, atol=1e-7)  # square roots of rounded distances
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.diag(K), 1)
    assert (K > 0).all() and (K <= 1).all()
    assert np.linalg.eigvalsh(K).min() > -1e-10
    np.testing.assert_allclose(kernel(X + 3.0), K, rtol=0, atol=1e-10)


@every_kernel
def test_float32_stays_and_is_close(kernel):
    X, Y = points(7, 3).astype(np.float32), points(5, 3, seed=1).astype(np.float32)
    for K in (kernel(X, Y), kernel(sp.csr_array(X), sp.csr_array(Y))):
        assert K.dtype == np.float32
        np.testing.assert_allclose(K, kernel(X.astype(np.float64), Y.astype(np.float64)), rtol=1e-5)
    assert kernel(X, Y.astype(np.float64)).dtype == np.float64
    assert kernel([[1, 2, 3]], [[0, 1, 0]]).dtype == np.float64


def test_gamma_and_sigma_give_the_same_kernel():
    assert GaussianKernel.from_gamma(0.125).sigma == pytest.approx(2)
    assert GaussianKernel(2.0).gamma == pytest.approx(0.125)
    np.testing.assert_allclose(GaussianKernel.from_gamma(0.3)([[0.0, 0.0]], [[1.0, 2.0]]), np.exp(-0.3 * 5), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 49, 50, 60, 200, 2000])
def test_matern_of_half_integers_equals_the_recurrence(n):
    r = np.append(np.linspace(0, 6, 40), [1e-12, 1e-6, 1e-3])
    K = MaternKernel(nu=n + 0.5)([[0.0, 0.0]], np.outer(r, [0.6, 0.8]))[0]
    np.testing.assert_allclose(K, naive.matern_half_integer(n, r), rtol=0, atol=2e-9)


def test_matern_kernel_reaches_its_limits_and_grows_with_smoothness_near_0():
    X, Y = points(6, 3), points(5, 3, seed=1)
    r = np.linalg.norm(X[:, None] - Y, axis=-1)
    np.testing.assert_allclose(MaternKernel(nu=0.5, length_scale=0.7)(X, Y), np.exp(-r / 0.7), rtol=1e-10)
    for nu in (0.5, 1.5, 2.5):  # the closed forms join the general one
        np.testing.assert_allclose(MaternKernel(nu=nu)(X, Y), MaternKernel(nu=nu + 1e-9)(X, Y), rtol=0, atol=1e-8)
    gaps = [np.abs(MaternKernel(nu=nu)(X, Y) - GaussianKernel()(X, Y)).max() for nu in (10, 100, 1e4, 1e8, np.inf)]
    assert np.all(np.diff(gaps) < 0) and gaps[-1] < 1e-8
    # smoother kernels stay higher near 0
    near = [MaternKernel(nu=nu)([[0.0]], [[0.1]])[0, 0] for nu in (0.3, 0.5, 1, 2, 10, 49.9, 50.1, 1e3)]
    assert np.all(np.diff(near) > 0)
    for nu in (1e-3, 0.1, 0.8, 30, 51):
        assert MaternKernel(nu=nu)([[0.0]])[0, 0] == 1


# --- densities and draws ------------------------------------------------------------------------------------------


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


@every_kernel
@pytest.mark.parametrize("d", [1, 2])
def test_density_integrates_to_one(kernel, d):
    assert total_density(kernel, d) == pytest.approx(1, abs=1e-6)


@pytest.mark.slow
@every_kernel
@pytest.mark.parametrize("d", [1, 2, 5])
def test_mean_cosine_of_the_draws_is_the_kernel(kernel, d):
    m = 40000
    omega = kernel.sample_frequencies(m, d, random_state=d)
    assert omega.shape == (m, d) and omega.dtype == np.float64
    for delta in offsets(d):
        cosines = np.cos(omega @ delta)
        value = kernel(delta[None], np.zeros((1, d)))[0, 0]
        assert abs(cosines.mean() - value) < 4.5 * cosines.std() / np.sqrt(m)
        assert abs(np.sin(omega @ delta).mean()) < 4.5 / np.sqrt(m)


def density_of_draws_is_right(kernel) -> bool:
    """Whether draws in one dimension follow the spectral density, by a test of Kolmogorov and Smirnov."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 40001)[1:-1]
    omega = np.tan(angle)
    mass = kernel.spectral_density(omega[:, None]) * (1 + omega**2)
    distribution = np.append(0, np.cumsum((mass[1:] + mass[:-1]) / 2) * (angle[1] - angle[0]))
    assert distribution[-1] == pytest.approx(1, abs=1e-3)
    draws = kernel.sample_frequencies(20000, 1, random_state=1).ravel()
    return stats.kstest(draws, lambda x: np.interp(np.arctan(x), angle, distribution)).pvalue > 1e-4


@every_kernel
def test_draws_in_one_dimension_follow_the_density(kernel):
    assert density_of_draws_is_right(kernel)


def projected(kernel, direction):
    """Distribution of direction . omega, where it has a name."""
    if isinstance(kernel, GaussianKernel):
        return stats.norm(scale=np.linalg.norm(direction) / kernel.sigma)
    if isinstance(kernel, MaternKernel):
        return stats.t(2 * kernel.nu, scale=np.linalg.norm(direction) / kernel.length_scale)
    if isinstance(kernel, LaplacianKernel):
        return stats.cauchy(scale=kernel.gamma * np.abs(direction).sum())
    return stats.laplace(scale=kernel.gamma * np.abs(direction).max())  # of one coordinate


@pytest.mark.slow
@every_kernel
@pytest.mark.parametrize("d", [2, 5])
def test_projections_of_the_draws_follow_their_distribution(kernel, d):
    omega = kernel.sample_frequencies(20000, d, random_state=10 + d)
    directions = [np.eye(d)[0], np.eye(d)[-1]]
    if not isinstance(kernel, CauchyKernel):
        directions += [np.ones(d), np.arange(1.0, d + 1)]
    for direction in directions:
        assert stats.kstest(omega @ direction, projected(kernel, direction).cdf).pvalue > 1e-4


@pytest.mark.slow
@every_kernel
@pytest.mark.parametrize("d", [2, 5])
def test_fraction_of_draws_in_a_box_is_the_integral_of_the_density(kernel, d):
    m = 200000
    omega = kernel.sample_frequencies(m, d, random_state=20 + d)
    node, weight = np.polynomial.legendre.leggauss(8)
    high = 2.0 * np.median(np.abs(omega))
    for low in (0.0, 0.2 * high):  # off the origin, so that no density has a kink inside
        axis, length = low + (node + 1) / 2 * (high - low), (high - low) / 2
        grid = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
        weights = np.prod(np.meshgrid(*[weight * length] * d), axis=0).ravel()
        expected = weights @ kernel.spectral_density(grid)
        share = np.mean(((np.abs(omega) > low) & (np.abs(omega) < high)).all(axis=1)) / 2**d  # all orthants alike
        assert expected * 2**d * m > 500
        assert abs(share - expected) < 4.5 * np.sqrt(expected / 2**d / m)


@every_kernel
def test_draws_are_reproducible(kernel):
    draws = kernel.sample_frequencies(5, 3, random_state=4)
    np.testing.assert_array_equal(draws, kernel.sample_frequencies(5, 3, random_state=4))
    np.testing.assert_array_equal(draws, kernel.sample_frequencies(5, 3, np.random.default_rng(4)))
    assert not np.array_equal(draws, kernel.sample_frequencies(5, 3, random_state=5))
    old = [kernel.sample_frequencies(5, 3, np.random.RandomState(4)) for _ in range(2)]
    np.testing.assert_array_equal(*old)


# --- parameters ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "1", None, True])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (GaussianKernel, "sigma"),
        (GaussianKernel.from_gamma, "gamma"),
        (LaplacianKernel, "gamma"),
        (CauchyKernel, "gamma"),
        (lambda nu: MaternKernel(nu=-nu if nu == np.inf else nu), "nu"),  # infinity is allowed
        (lambda scale: MaternKernel(nu=1.5, length_scale=scale), "length_scale"),
    ],
)
def test_bad_parameters_are_named(make, name, bad):
    with pytest.raises(ValueError, match=rf"^{name} is .*above 0.*\.$"):
        make(bad)


def test_kernels_compare_and_hash_by_value():
    assert MaternKernel(nu=1.5) == MaternKernel(nu=1.5, length_scale=1.0) != MaternKernel(nu=2.5)
    assert len({GaussianKernel(), GaussianKernel(1.0), LaplacianKernel()}) == 2
    with pytest.raises(AttributeError):
        GaussianKernel().sigma = 2.0


@every_kernel
@pytest.mark.parametrize("sparse", [False, True])
def test_points_whose_sum_is_nan_are_accepted(kernel, sparse):
    X = np.zeros((4, 4), dtype=np.float32)
    X.flat[[0, 8]], X.flat[[1, 9]] = 3e38, -3e38  # a sum in pieces meets inf - inf
    K = kernel(sp.csr_array(X) if sparse else X)
    assert np.isfinite(K).all() and (np.diag(K) == 1).all() and K[1, 3] == 1


def test_scale_of_sparse_points_is_that_of_their_dense_copy():
    X = np.random.default_rng(0).poisson(0.7, size=(60, 4)) * 3.0  # a mean well above 0
    for points in (X, sp.csr_array(X)):
        assert GaussianKernel("scale").scaled_to(points).sigma == pytest.approx(np.sqrt(X.var() * 4 / 2))
