"""Frequencies drawn in blocks: the same ones, however they are asked for."""

import numpy as np
import pytest

from rff_engine import CauchyKernel, FrequencyBlocks, GaussianKernel, LaplacianKernel, MaternKernel, draw_frequencies

KERNELS = [GaussianKernel(0.5), LaplacianKernel(2.0), MaternKernel(0.8), CauchyKernel()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def stack(blocks):
    return np.concatenate(list(blocks))


@every_kernel
def test_two_instances_hold_the_same_frequencies(kernel):
    first, second = FrequencyBlocks(kernel, 2300, 3, seed=7), FrequencyBlocks(kernel, 2300, 3, seed=7)
    assert first == second
    np.testing.assert_array_equal(stack(first), stack(second))
    np.testing.assert_array_equal(stack(first), stack(first))
    np.testing.assert_array_equal(first.block(1), stack(first)[first.block_size : 2 * first.block_size])


@every_kernel
@pytest.mark.parametrize("shorter", [1, 1000, 1024, 1025, 2048])
def test_a_shorter_draw_is_the_beginning_of_a_longer_one(kernel, shorter):
    longer = stack(FrequencyBlocks(kernel, 3000, 3, seed=1))
    np.testing.assert_array_equal(stack(FrequencyBlocks(kernel, shorter, 3, seed=1)), longer[:shorter])


@every_kernel
def test_take_equals_indexing_the_stack(kernel):
    blocks = FrequencyBlocks(kernel, 2500, 2, seed=3)
    indices = np.random.default_rng(0).integers(2500, size=60)
    indices = np.append(indices, [0, 2499, 1023, 1024, 1024, indices[0]])
    np.testing.assert_array_equal(blocks.take(indices), stack(blocks)[indices])
    assert blocks.take(np.array([], dtype=int)).shape == (0, 2)


@pytest.mark.parametrize("N", [1, 1023, 1024, 1025, 5000])
def test_shapes(N):
    blocks = FrequencyBlocks(GaussianKernel(), N, 4)
    sizes = [len(block) for block in blocks]
    assert blocks.shape == stack(blocks).shape == (N, 4)
    assert len(blocks) == sum(sizes) == N
    assert len(sizes) == blocks.n_blocks
    assert set(sizes[:-1]) <= {blocks.block_size}


def test_seeds_and_blocks_differ():
    draws = [stack(FrequencyBlocks(GaussianKernel(), 2048, 2, seed=seed)) for seed in range(3)]
    rows = np.concatenate(draws)
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_blocks_are_draws_of_the_kernel_together():
    omega = stack(FrequencyBlocks(MaternKernel(1.5), 50000, 2, seed=2))
    for delta in ([1.0, 0.0], [0.4, -0.9]):
        cosines = np.cos(omega @ delta)
        value = MaternKernel(1.5)([delta], [[0.0, 0.0]])[0, 0]
        assert abs(cosines.mean() - value) < 4.5 * cosines.std() / np.sqrt(len(omega))


@pytest.mark.parametrize("d", [1, 100, 4096, 54877, 200000])
def test_a_block_stays_within_32_mib(d):
    blocks = FrequencyBlocks(GaussianKernel(), 20000, d)
    assert blocks.block_size * d * 8 <= 2**25
    assert blocks.block_size * d * 8 > 2**22 or blocks.block_size == 1024  # nor are they needlessly many


def test_a_block_of_many_dimensions():
    blocks = FrequencyBlocks(GaussianKernel(), 20000, 54877, seed=1)
    block = blocks.block(3)
    assert block.nbytes <= 2**25
    np.testing.assert_array_equal(blocks.take([3 * blocks.block_size + 2])[0], block[2])


@every_kernel
def test_draw_frequencies_by_monte_carlo_is_the_kernels_draw(kernel):
    np.testing.assert_array_equal(
        draw_frequencies(kernel, 10, 3, random_state=5), kernel.sample_frequencies(10, 3, random_state=5)
    )
