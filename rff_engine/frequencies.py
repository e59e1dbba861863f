"""Ways to choose the frequencies of a kernel's features.

A sampling scheme turns a kernel's spectral measure into frequencies. `FrequencyBlocks` is a long Monte Carlo
draw that is never held in memory: each block has its own seed, so any frequency can be drawn again.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._sampling import SCHEMES
from ._typing import ArrayLike, RandomState
from ._validation import as_array, as_rng, check_choice, check_count, check_fits, shown
from .kernels import SpectralKernel, check_kernel

__all__ = ["SAMPLING_SCHEMES", "FrequencyBlocks", "draw_frequencies"]


SAMPLING_SCHEMES: dict[str, Any] = SCHEMES


def draw_frequencies(
    kernel: SpectralKernel,
    n_frequencies: int,
    n_features: int,
    sampling: str = "monte_carlo",
    random_state: RandomState = None,
) -> np.ndarray:
    """Choose frequencies for a kernel.

    Schemes for D frequencies in d dimensions; the mean of cos(omega . delta) over them estimates k(delta):

    - ``"monte_carlo"``: independent draws (Rahimi and Recht 2007). Unbiased, like all but three of the others.
    - ``"orthogonal"``: blocks of d orthogonal directions, each with its own length (Yu et al. 2016).
    - ``"structured_orthogonal"``: the directions are rows of products of Hadamard matrices and random signs, in the
      next power of two of dimensions (Yu et al. 2016). The first signs are replaced by random rotations of 16
      coordinates at a time: signs alone have a bias of up to 1/2 if x - x' has one or two entries. With rotations
      there is no bias up to d = 16, and at most 0.01 was seen for larger d (tests/engine/test_frequencies.py). A
      row's length follows the kernel's law; Yu et al. give all rows the same length, which adds another bias.
    - ``"fastfood"``: Hadamard matrices, a permutation, and Gaussian entries that the rows of a block share (Le et al.
      2013), padded likewise. Every row by itself is a draw from the spectral measure.
    - ``"halton"``, ``"sobol"``, ``"lattice"``, ``"digital_net"``: points that fill the unit cube evenly, mapped by
      the quantiles of the spectral measure (Yang et al. 2014). Halton's sequence in permuted digits (Owen 2017);
      Sobol's, scrambled (Matousek 1998); a rank-1 lattice of D points, shifted modulo 1 (Cools et al. 2006); a digital
      net whose digits are shifted (Joe and Kuo 2008). No points are skipped.
    - ``"moment_matching"``: draws shifted and whitened to the mean and covariance of the spectral measure (Shen et al.
      2017); for a Matérn kernel, of the Gaussian vectors behind the draws. The bias is of order 1/D (d/D for the Cauchy
      kernel). The covariance of D draws has rank D - 1 at most: unless D > d, it is matched in the span of the draws,
      and then the mean square of all frequencies, with a warning. A single frequency is left as drawn. For a periodic
      kernel use it within half a period only: matched frequencies are no whole multiples, and after ten periods the
      mean of 4096 of them is below 0.7 where the kernel is 1.
    - ``"moment_matching_unscaled"``: the same with the pseudo-inverse alone, for comparison. Up to D = d the
      frequencies are too short by (d / (D - 1))^(1/2), and the approximated kernel is too wide; Table 2 of Li et al.
      (2019) prints errors of about 1 for it.

    Orthogonal directions and Fastfood need a kernel of ||x - x'|| (Gaussian, Matérn); moment matching needs
    frequencies of finite variance (not the Laplacian kernel's). A shorter draw is not the beginning of a longer one.

    Parameters
    ----------
    kernel : SpectralKernel
        The prior: its spectral measure is sampled.
    n_frequencies, n_features : int
        D and d.
    sampling : str
        One of the above.
    random_state : int, RandomState, Generator or None
        Seed or generator of all draws; a whole number gives the same draws again.

    Returns
    -------
    ndarray of shape (D, d), float64
        Frequencies in radians per unit of x.

    Raises
    ------
    ValueError
        If `kernel` is no kernel, the scheme is unknown or does not support the kernel or the dimension, or a count is
        not a whole number of at least 1.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> omega = rff.draw_frequencies(rff.GaussianKernel(1.0), 4, 4, "orthogonal", random_state=0)
    >>> gram = omega @ omega.T
    >>> bool(np.allclose(gram, np.diag(np.diag(gram))))
    True
    """
    scheme = SAMPLING_SCHEMES[check_choice(sampling, "sampling", tuple(SAMPLING_SCHEMES))]
    D = check_count(n_frequencies, "n_frequencies")
    d = check_count(n_features, "n_features")
    check_fits(2 * D * d, f"n_frequencies is {D} and n_features {d}")
    return scheme(check_kernel(kernel), D, d, as_rng(random_state))


@dataclass(frozen=True)
class FrequencyBlocks:
    """N frequencies of a kernel, drawn block by block, again at every access.

    Two instances with equal arguments hold equal frequencies, and the first frequencies of a longer one are those
    of a shorter one.

    Parameters
    ----------
    kernel : SpectralKernel
        The prior: its spectral measure is sampled.
    n_frequencies : int
        N.
    n_features : int
        d.
    seed : int
        Seed of the whole draw; block b uses its b-th child.

    Raises
    ------
    ValueError
        If a count is not a whole number of at least 1, the seed is not one of at least 0, or the kernel is for points
        of another dimension.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> omega = rff.FrequencyBlocks(rff.GaussianKernel(1.0), 5000, 10, seed=0)
    >>> omega.n_blocks, omega.block(0).shape
    (5, (1024, 10))
    >>> bool(np.array_equal(omega.take([3000]), omega.block(2)[[3000 - 2048]]))
    True
    """

    kernel: SpectralKernel
    n_frequencies: int
    n_features: int
    seed: int = 0

    def __post_init__(self) -> None:
        check_count(self.n_frequencies, "n_frequencies")
        check_kernel(self.kernel)._check_columns(check_count(self.n_features, "n_features"))
        check_count(self.seed, "seed", low=0, high=math.inf)

    @property
    def shape(self) -> tuple[int, int]:
        """N and d, as of the array that the blocks make together."""
        return self.n_frequencies, self.n_features

    @property
    def block_size(self) -> int:
        """Frequencies in a block: a power of two from 16 to 1024 that keeps a block within some 32 MiB."""
        affordable = max(16, 2**22 // self.n_features)
        return min(1024, 1 << (affordable.bit_length() - 1))

    @property
    def n_blocks(self) -> int:
        """How many blocks there are; the last may be shorter than the others."""
        return -(-self.n_frequencies // self.block_size)

    def block(self, b: int) -> np.ndarray:
        """Draw the frequencies of one block.

        Parameters
        ----------
        b : int
            From 0 to n_blocks - 1.

        Returns
        -------
        ndarray of shape (block_size, d), float64
            The last block may be shorter.

        Raises
        ------
        ValueError
            If there is no such block.
        """
        if not isinstance(b, numbers.Integral) or not 0 <= b < self.n_blocks:
            raise ValueError(f"b is {shown(b)}; a whole number between 0 and {self.n_blocks - 1} is needed.")
        child = np.random.SeedSequence(self.seed, spawn_key=(b,))
        # The last block is drawn whole and cut, so that prefixes agree for every kernel.
        sampled = self.kernel.sample_frequencies(self.block_size, self.n_features, np.random.default_rng(child))
        return sampled[: self.n_frequencies - b * self.block_size]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.block(b) for b in range(self.n_blocks))

    def __len__(self) -> int:
        return self.n_frequencies

    def take(self, indices: ArrayLike) -> np.ndarray:
        """Draw the frequencies at the given indices again, one block at a time.

        Parameters
        ----------
        indices : array of shape (k,)
            Each from 0 to N - 1, in any order; an index may come twice.

        Returns
        -------
        ndarray of shape (k, d), float64

        Raises
        ------
        ValueError
            If an index is not a whole number or out of range.
        """
        indices = as_array(indices, "indices")
        if (
            indices.ndim != 1
            or indices.dtype.kind not in "iu"
            or (indices.size and not (indices.min() >= 0 and indices.max() < self.n_frequencies))
        ):
            raise ValueError(f"indices must be a list of whole numbers, each between 0 and {self.n_frequencies - 1}.")
        check_fits(len(indices) * self.n_features, f"indices holds {len(indices)} numbers")
        taken = np.empty((len(indices), self.n_features))
        blocks = indices // self.block_size
        for b in np.unique(blocks):
            wanted = blocks == b
            taken[wanted] = self.block(b)[indices[wanted] - b * self.block_size]
        return taken
