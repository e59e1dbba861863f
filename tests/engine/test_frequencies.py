"""Frequencies of every scheme and in blocks: their distribution, and that draws are reproducible."""

import itertools

import numpy as np
import pytest
from scipy import stats

from rff_engine import (
    AnisotropicGaussianKernel,
    CauchyKernel,
    FrequencyBlocks,
    GaussianKernel,
    LaplacianKernel,
    MaternKernel,
    PeriodicKernel,
    ProductKernel,
    RationalQuadraticKernel,
    SumKernel,
    draw_frequencies,
)
from rff_engine.frequencies import SAMPLING_SCHEMES
from rff_engine.kernels import KERNELS as NAMED, MixtureKernel

KERNELS = [named.of_width(0.5, nu=0.8) for named in NAMED.values()]
FURTHER_KERNELS = [
    RationalQuadraticKernel(alpha=0.7),
    PeriodicKernel(period=3.0),
    AnisotropicGaussianKernel([0.5, 1.0, 2.0]),
    SumKernel([GaussianKernel(0.8), MaternKernel(nu=2.0)]),
    ProductKernel([GaussianKernel(2.0), RationalQuadraticKernel(alpha=1.5)]),
    SumKernel([GaussianKernel(), LaplacianKernel()]),
    ProductKernel([GaussianKernel(2.0), CauchyKernel()]),
]
every_kernel = pytest.mark.parametrize("kernel", [*KERNELS, *FURTHER_KERNELS], ids=repr)


def stack(blocks):
    return np.concatenate(list(blocks))


@every_kernel
def test_equal_blocks_hold_equal_frequencies(kernel):
    first, second = FrequencyBlocks(kernel, 2300, 3, seed=7), FrequencyBlocks(kernel, 2300, 3, seed=7)
    assert first == second
    np.testing.assert_array_equal(stack(first), stack(second))
    np.testing.assert_array_equal(stack(first), stack(first))
    np.testing.assert_array_equal(first.block(1), stack(first)[first.block_size : 2 * first.block_size])


@every_kernel
@pytest.mark.parametrize("shorter", [1, 1000, 1024, 1025, 2048])
def test_shorter_draw_is_a_prefix_of_a_longer_one(kernel, shorter):
    longer = stack(FrequencyBlocks(kernel, 3000, 3, seed=1))
    np.testing.assert_array_equal(stack(FrequencyBlocks(kernel, shorter, 3, seed=1)), longer[:shorter])


@every_kernel
def test_take_equals_indexing(kernel):
    blocks = FrequencyBlocks(kernel, 2500, 3, seed=3)
    indices = np.random.default_rng(0).integers(2500, size=60)
    indices = np.append(indices, [0, 2499, 1023, 1024, 1024, indices[0]])
    np.testing.assert_array_equal(blocks.take(indices), stack(blocks)[indices])
    assert blocks.take(np.array([], dtype=int)).shape == (0, 3)


@pytest.mark.parametrize("N", [1, 1023, 1024, 1025, 5000])
def test_shapes_and_sizes_of_blocks_agree(N):
    blocks = FrequencyBlocks(GaussianKernel(), N, 4)
    sizes = [len(block) for block in blocks]
    assert blocks.shape == stack(blocks).shape == (N, 4)
    assert len(blocks) == sum(sizes) == N
    assert len(sizes) == blocks.n_blocks
    assert set(sizes[:-1]) <= {blocks.block_size}


def test_different_seeds_and_blocks_give_different_frequencies():
    draws = [stack(FrequencyBlocks(GaussianKernel(), 2048, 2, seed=seed)) for seed in range(3)]
    rows = np.concatenate(draws)
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_blocks_follow_the_spectral_measure():
    omega = stack(FrequencyBlocks(MaternKernel(nu=1.5), 50000, 2, seed=2))
    for delta in ([1.0, 0.0], [0.4, -0.9]):
        cosines = np.cos(omega @ delta)
        value = MaternKernel(nu=1.5)([delta], [[0.0, 0.0]])[0, 0]
        assert abs(cosines.mean() - value) < 4.5 * cosines.std() / np.sqrt(len(omega))


@pytest.mark.parametrize("d", [1, 100, 4096, 54877, 200000])
def test_a_block_stays_within_32_mib(d):
    blocks = FrequencyBlocks(GaussianKernel(), 20000, d)
    assert blocks.block_size * d * 8 <= 2**25
    assert blocks.block_size * d * 8 > 2**22 or blocks.block_size == 1024  # blocks are not smaller than needed


@every_kernel
def test_monte_carlo_frequencies_are_those_of_the_kernel(kernel):
    np.testing.assert_array_equal(
        draw_frequencies(kernel, 10, 3, random_state=5), kernel.sample_frequencies(10, 3, random_state=5)
    )


# --- the schemes --------------------------------------------------------------------------------------------------

ORTHOGONAL = ["orthogonal", "structured_orthogonal", "fastfood"]
LOW_DISCREPANCY = ["halton", "sobol", "lattice", "digital_net"]
MATCHED = ["moment_matching", "moment_matching_unscaled"]
SCHEMES = ["monte_carlo", *ORTHOGONAL, *LOW_DISCREPANCY, *MATCHED]
SENSIBLE = [
    (kernel, sampling)
    for kernel in KERNELS
    for sampling in SCHEMES
    if (kernel.is_rotation_invariant or sampling not in ORTHOGONAL)
    and (isinstance(kernel, MixtureKernel) or np.isfinite(kernel.coordinate_variance) or sampling not in MATCHED)
]


def can_be_drawn(kernel, sampling):
    try:
        return len(draw_frequencies(kernel, 8, 3, sampling)) == 8
    except ValueError:
        return False


EVERY_DRAW = [pair for pair in itertools.product([*KERNELS, *FURTHER_KERNELS], SCHEMES) if can_be_drawn(*pair)]
every_sensible = pytest.mark.parametrize(("kernel", "sampling"), SENSIBLE, ids=lambda value: str(value))


def directions(d):
    """Unit vectors: one-hot, pairs, runs of equal or alternating signs, random ones; all of 0, 1 and -1 for d <= 3."""
    if d <= 3:
        found = [row for row in itertools.product((-1, 0, 1), repeat=d) if any(row)]
    else:
        lengths = sorted({1, 2, 3, 4, 5, 8, 16, 17, d // 2, d - 1, d} & set(range(1, d + 1)))
        starts = {length: sorted({0, 1, (d - length) // 2, d - length}) for length in lengths}
        runs = [(np.arange(d) >= at) & (np.arange(d) < at + n) for n in lengths for at in starts[n] if at + n <= d]
        apart = [np.eye(d)[0] + np.eye(d)[j] for j in range(2, d)]
        found = [*runs, *apart, *(run * (-1.0) ** np.arange(d) for run in runs)]
        found = [*found, *np.random.default_rng(d).normal(size=(20, d))]
    found = np.array(found, dtype=float)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def means_of_draws(kernel, sampling, delta, seeds, D=4096):
    """Estimates of the kernel at each displacement, one row for each seed."""
    draws = (draw_frequencies(kernel, D, delta.shape[1], sampling, seed) for seed in seeds)
    return np.array([np.cos((omega @ delta.T).astype(np.float32)).mean(axis=0, dtype=float) for omega in draws])


@pytest.mark.more(after=7)
@pytest.mark.slow("draws 150,000 frequencies of every kernel and scheme in each of four dimensions")
@pytest.mark.parametrize(("kernel", "sampling"), EVERY_DRAW, ids=str)
def test_the_bias_is_below_a_hundredth_in_the_worst_direction_of_a_search(kernel, sampling):
    """The worst displacements of 4 draws are measured with 32 others, to 4 standard errors: 0.008 for most schemes."""
    farthest = 1.5 if isinstance(kernel, PeriodicKernel) and sampling in MATCHED else 30.0  # half a period
    for d in [3] if isinstance(kernel, AnisotropicGaussianKernel) else (2, 4, 16, 24):
        delta = (np.geomspace(0.25, farthest, 12)[:, None, None] * directions(d)).reshape(-1, d)
        value = kernel(delta, np.zeros((1, d)))[:, 0]
        apart = np.abs(means_of_draws(kernel, sampling, delta, range(4)).mean(axis=0) - value)
        worst = np.argsort(apart)[-5:]
        found = means_of_draws(kernel, sampling, delta[worst], range(100, 132))
        error = found.std(axis=0, ddof=1) / np.sqrt(32)
        assert (np.abs(found.mean(axis=0) - value[worst]) < 0.01 + 4 * error).all(), (d, delta[worst])


def test_every_kernel_and_scheme_is_tested():
    assert list(SAMPLING_SCHEMES) == SCHEMES


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["orthogonal", "structured_orthogonal", *LOW_DISCREPANCY, *MATCHED])
def test_the_spread_of_the_estimates_is_below_that_of_monte_carlo(sampling):
    d, D = 11, 200
    kernel = GaussianKernel(np.sqrt(d / 2))
    X = np.random.default_rng(0).normal(size=(60, d))
    differences = (X[:, None] - X)[np.triu_indices(60, 1)]
    K = kernel(differences, np.zeros((1, d)))[:, 0]

    def error(scheme):
        draws = [draw_frequencies(kernel, D, d, scheme, seed) for seed in range(12)]
        return np.mean([np.square(np.cos(differences @ omega.T).mean(axis=1) - K).mean() for omega in draws])

    assert error(sampling) < 0.9 * error("monte_carlo")


@pytest.mark.slow
@every_sensible
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (7, 3), (9, 4), (40, 6), (3, 17)])
@pytest.mark.filterwarnings("ignore:.*too few to match")
def test_frequencies_of_any_shape_are_finite_and_reproducible(kernel, sampling, shape):
    omega = draw_frequencies(kernel, *shape, sampling, 3)
    assert omega.shape == shape and omega.dtype == np.float64 and np.isfinite(omega).all()
    np.testing.assert_array_equal(omega, draw_frequencies(kernel, *shape, sampling, 3))
    for generator in (np.random.default_rng, np.random.RandomState):
        rng = generator(5)
        drawn = draw_frequencies(kernel, *shape, sampling, rng)
        np.testing.assert_array_equal(drawn, draw_frequencies(kernel, *shape, sampling, generator(5)))
        assert not np.array_equal(drawn, draw_frequencies(kernel, *shape, sampling, rng))
    assert not np.array_equal(draw_frequencies(kernel, *shape, sampling), draw_frequencies(kernel, *shape, sampling))


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[2]], ids=repr)
@pytest.mark.parametrize(
    ("sampling", "d", "block"), [("orthogonal", 1, 1), ("orthogonal", 5, 5), ("structured_orthogonal", 8, 8)]
)
def test_rows_of_a_block_are_orthogonal_with_different_lengths(kernel, sampling, d, block):
    omega = draw_frequencies(kernel, 3 * block + 2, d, sampling, 0)
    lengths = np.linalg.norm(omega, axis=1)
    assert len(np.unique(lengths)) == len(lengths)
    directions = omega / lengths[:, None]
    for start in range(0, len(omega), block):
        rows = directions[start : start + block]
        np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), rtol=0, atol=1e-12)
    assert np.abs(directions[:block] @ directions[block : 2 * block].T).max() > 1e-3


@pytest.mark.parametrize("sampling", MATCHED)
@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[3]], ids=repr)
def test_moments_are_matched(kernel, sampling):
    variance = kernel.coordinate_variance
    for D in (7, 30):
        omega = draw_frequencies(kernel, D, 6, sampling, 0)
        np.testing.assert_allclose(omega.mean(axis=0), 0, atol=1e-10)
        np.testing.assert_allclose(omega.T @ omega / D, variance * np.eye(6), rtol=0, atol=1e-10 * variance)
    for D in (2, 6):
        with pytest.warns(UserWarning, match=f"{D} frequencies in 6 dimensions") as caught:
            omega = draw_frequencies(kernel, D, 6, sampling, 0)
        assert caught[0].filename == __file__
        np.testing.assert_allclose(omega.mean(axis=0), 0, atol=1e-10)
        # The covariance is a multiple of a projection of rank D - 1.
        values = np.linalg.eigvalsh(omega.T @ omega / D)
        multiple = variance * (6 / (D - 1) if sampling == "moment_matching" else 1)
        np.testing.assert_allclose(values, [0] * (7 - D) + [multiple] * (D - 1), atol=1e-10 * variance)


@pytest.mark.parametrize("D", [5, 30])
@pytest.mark.filterwarnings("ignore:.*too few to match")
def test_unscaled_moment_matching_is_the_pseudo_inverse_of_the_covariance(D):
    drawn = np.random.default_rng(4).standard_normal((D, 8))
    omega = draw_frequencies(GaussianKernel(), D, 8, "moment_matching_unscaled", np.random.default_rng(4))
    centred = drawn - drawn.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred / D)
    root = np.where(values > 1e-9, 1 / np.sqrt(np.maximum(values, 1e-9)), 0)
    np.testing.assert_allclose(omega, centred @ (axes * root) @ axes.T, atol=1e-10)


@pytest.mark.parametrize(
    "kernel", [GaussianKernel(0.5), MaternKernel(nu=4.0, length_scale=0.5), CauchyKernel(3.0)], ids=repr
)
def test_the_variance_of_a_coordinate_is_that_of_the_draws(kernel):
    squares = np.square(kernel.sample_frequencies(40000, 2, 0))
    assert abs(squares.mean() - kernel.coordinate_variance) < 4.5 * squares.std() / np.sqrt(squares.size)
    assert np.isinf([LaplacianKernel().coordinate_variance, MaternKernel(nu=1.0).coordinate_variance]).all()


@every_kernel
def test_quantiles_of_uniform_numbers_are_draws(kernel):
    uniforms = np.random.default_rng(1).uniform(size=(3000, kernel.uniforms_per_frequency(3)))
    made, drawn = kernel.frequencies_at(uniforms), kernel.sample_frequencies(3000, 3, 2)
    for direction in ([1.0, 0.0, 0.0], [0.6, -0.8, 0.3]):
        assert stats.ks_2samp(made @ direction, drawn @ direction).pvalue > 0.005
    ends = np.full((1, uniforms.shape[1]), 2.0**-53)
    assert np.isfinite(kernel.frequencies_at(np.vstack([ends, 1 - ends]))).all()
    for bad, words in ((uniforms[0], "shape"), (uniforms * 0, "0 or 1"), (uniforms[:, :0], "columns")):
        with pytest.raises(ValueError, match=words):
            kernel.frequencies_at(bad)


@pytest.mark.slow
@pytest.mark.parametrize("sampling", SCHEMES)
@pytest.mark.filterwarnings("ignore:.*too few to match")
def test_frequencies_of_many_dimensions_have_the_right_length_and_differ(sampling):
    omega = draw_frequencies(GaussianKernel(28.0), 200, 784, sampling, 0)
    # Lengths near sqrt(784) / 28 = 1, or as short as 199 of 784 dimensions make them, and directions that differ.
    length = np.sqrt(199 / 784) if sampling == "moment_matching_unscaled" else 1
    np.testing.assert_allclose(np.linalg.norm(omega, axis=1), length, atol=0.2)
    assert len(np.unique(omega.round(12), axis=0)) == 200


@pytest.mark.parametrize(("sampling", "most"), [("sobol", 21201), ("digital_net", 21201), ("lattice", 9125)])
def test_too_many_coordinates_are_refused(sampling, most):
    with pytest.raises(ValueError, match=f"{most} coordinates at most, not {most + 1}"):
        draw_frequencies(GaussianKernel(), 2, most + 1, sampling)
    with pytest.raises(ValueError, match=f"not {most + 1}"):
        draw_frequencies(MaternKernel(), 2, most, sampling)


@pytest.mark.parametrize("kernel", [k for k in [*KERNELS, *FURTHER_KERNELS] if not k.is_rotation_invariant], ids=repr)
@pytest.mark.parametrize("sampling", ORTHOGONAL)
def test_orthogonal_directions_need_a_rotation_invariant_kernel(kernel, sampling):
    with pytest.raises(ValueError, match=f"{sampling!r}.*{type(kernel).__name__} is not one"):
        draw_frequencies(kernel, 4, 3, sampling)
    with pytest.raises(ValueError, match=f"no common scale|{type(kernel).__name__} is not rotation invariant"):
        kernel.sample_scales(3)


def test_moment_matching_needs_moments():
    with pytest.raises(ValueError, match="LaplacianKernel have none"):
        draw_frequencies(LaplacianKernel(), 40, 2, "moment_matching")
