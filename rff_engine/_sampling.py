"""Sampling schemes: independent draws of a kernel's frequencies, and ways to spread them better.

A scheme takes a kernel, D, d and a generator of random numbers, and returns a (D, d) array. Three families: blocks of
orthogonal directions, points that fill the unit cube evenly, and draws whose moments are corrected. Schemes see the
spectral measure through the methods of the kernel. The public function is `draw_frequencies`.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.stats import qmc

from ._validation import draw_seed
from ._warning import warn
from .kernels import SpectralKernel

_BITS = 52  # bits of a coordinate
_ROTATED = 16  # coordinates rotated at a time
# Lengths of Joe and Kuo's table of direction numbers and of Kuo's generating vector.
_MOST_DIMENSIONS = {"sobol": 21201, "digital_net": 21201, "lattice": 9125}


def monte_carlo(kernel, D, d, rng):
    """Draw independently (Rahimi and Recht 2007)."""
    return kernel.sample_frequencies(D, d, rng)


# --- orthogonal directions ----------------------------------------------------------------------------------------


def _require_rotation_invariance(kernel: SpectralKernel, sampling: str) -> None:
    if not kernel.is_rotation_invariant:
        raise ValueError(
            f"sampling is {sampling!r}, which needs a kernel of ||x - x'|| alone; {type(kernel).__name__} is not one."
        )


def _radii(kernel, D, dimension, rng):
    """Draw the lengths of D independent frequencies in the given dimension."""
    return np.sqrt(rng.chisquare(dimension, size=D)) * kernel.sample_scales(D, rng)


def orthogonal(kernel, D, d, rng):
    """Draw blocks of d orthogonal directions, uniform on the sphere, each with its own length (Yu et al. 2016)."""
    _require_rotation_invariance(kernel, "orthogonal")
    n_blocks, rest = divmod(D, d)
    blocks = [_orthonormal_rows(rng.standard_normal((n_blocks, d, d))).reshape(n_blocks * d, d)] if n_blocks else []
    if rest:
        blocks.append(_orthonormal_rows(rng.standard_normal((d, rest))))
    return np.concatenate(blocks) * _radii(kernel, D, d, rng)[:, None]


def _orthonormal_rows(normal):
    Q, R = np.linalg.qr(normal)
    # QR chooses the signs arbitrarily. With the signs of R's diagonal, Q is uniform (Mezzadri 2007).
    return np.swapaxes(Q * np.sign(np.diagonal(R, axis1=-2, axis2=-1))[..., None, :], -1, -2)


def structured_orthogonal(kernel, D, d, rng):
    """Draw rows of H D1 H D2 H Q as directions: signs, Hadamard matrices, rotations of 16 coordinates at a time.

    Yu et al. (2016, Eq. 6) have signs in place of Q; then only few directions occur if x - x' has one or two entries.
    """
    _require_rotation_invariance(kernel, "structured_orthogonal")
    padded = _power_of_two(d)
    rows = _hadamard_rows(D, padded)
    for _ in range(2):
        rows = _hadamard_transform(rows * _signs(rng, len(rows), padded)) / np.sqrt(padded)
    size = min(padded, _ROTATED)
    n_rotations = padded // size
    rotations = _orthonormal_rows(rng.standard_normal((len(rows), n_rotations, size, size)))
    rows = rows.reshape(len(rows), -1, n_rotations, size).swapaxes(1, 2) @ rotations
    rows = rows.swapaxes(1, 2).reshape(-1, padded)[:D] / np.sqrt(padded)
    return rows[:, :d] * _radii(kernel, D, padded, rng)[:, None]


def fastfood(kernel, D, d, rng):
    """Draw rows of S H G P H B: signs, a permutation, Gaussian entries, and a length for each row (Le et al. 2013)."""
    _require_rotation_invariance(kernel, "fastfood")
    padded = _power_of_two(d)
    rows = _hadamard_rows(D, padded)
    gaussian = rng.standard_normal((len(rows), 1, padded))
    gaussian /= np.linalg.norm(gaussian, axis=2, keepdims=True)
    permutations = np.argsort(rng.uniform(size=(len(rows), 1, padded)), axis=2)
    permuted = np.empty_like(rows)
    np.put_along_axis(permuted, permutations, rows * gaussian, axis=2)
    rows = _hadamard_transform(permuted) * _signs(rng, len(rows), padded)
    rows = rows.reshape(-1, padded)[:D] / np.sqrt(padded)
    return rows[:, :d] * _radii(kernel, D, padded, rng)[:, None]


def _power_of_two(d: int) -> int:
    return 1 << (d - 1).bit_length()


def _signs(rng, n_blocks, padded):
    """Draw random signs of the columns, the same within a block of frequencies."""
    return np.where(rng.uniform(size=(n_blocks, 1, padded)) < 0.5, -1.0, 1.0)


def _hadamard_rows(D, padded):
    """Return the first rows of the Hadamard matrix of +1 and -1 for each block, in all at least D frequencies."""
    rows = _hadamard_transform(np.eye(min(D, padded), padded))
    return np.broadcast_to(rows, (-(-D // padded), *rows.shape))


def _hadamard_transform(rows):
    """Multiply each row by the (symmetric) Hadamard matrix of +1 and -1, in O(d log d)."""
    shape, half = rows.shape, 1
    while half < shape[-1]:
        pairs = rows.reshape(-1, 2, half)
        rows = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        half *= 2
    return rows.reshape(shape)


# --- points that fill the unit cube -------------------------------------------------------------------------------


def _low_discrepancy(sampling, points):
    """Return a scheme that maps points(dimension, D, seed), each uniform on the unit cube, to frequencies."""

    def scheme(kernel, D, d, rng):
        dimension = kernel.uniforms_per_frequency(d)
        most = _MOST_DIMENSIONS.get(sampling, dimension)
        if dimension > most:
            raise ValueError(
                f"sampling is {sampling!r}, whose points have {most} coordinates at most, not {dimension}."
            )
        uniforms = points(dimension, D, draw_seed(rng))
        # The quantile at a coordinate of 0 is infinite.
        smallest = 2.0**-53
        return kernel.frequencies_at(np.clip(uniforms, smallest, 1 - smallest))

    return scheme


def _sobol(dimension, D, **scrambling):
    with warnings.catch_warnings():  # D need not be a power of two
        warnings.filterwarnings("ignore", message="The balance properties of Sobol", category=UserWarning)
        return qmc.Sobol(dimension, bits=_BITS, **scrambling).random(D)


def _halton_points(dimension, D, seed):
    """Return Halton's sequence in permuted digits (Owen 2017)."""
    return qmc.Halton(dimension, scramble=True, rng=np.random.default_rng(seed)).random(D)


def _sobol_points(dimension, D, seed):
    """Return Sobol's sequence, its matrices scrambled and its digits shifted (Matousek 1998)."""
    return _sobol(dimension, D, scramble=True, rng=np.random.default_rng(seed))


def _lattice_points(dimension, D, seed):
    """Return the rank-1 lattice of D points, generating vector by Cools, Kuo and Nuyens (2006), shifted modulo 1.

    It has exactly D points: the first D points of a larger lattice are not a lattice.
    """
    points = np.outer(np.arange(D), _generating_vector()[:dimension] % D) % D / D
    return (points + np.random.default_rng(seed).uniform(size=dimension)) % 1.0


@lru_cache(maxsize=1)
def _generating_vector() -> np.ndarray:
    return np.loadtxt(Path(__file__).parent / "data" / "lattice_vector.txt", dtype=np.int64)


def _digital_net_points(dimension, D, seed):
    """Return the digital net in base 2 with direction numbers by Joe and Kuo (2008), its digits shifted."""
    digits = (_sobol(dimension, D, scramble=False) * 2.0**_BITS).astype(np.uint64)
    shift = np.random.default_rng(seed).integers(2**_BITS, size=dimension, dtype=np.uint64)
    return (digits ^ shift) / 2.0**_BITS


# --- corrected moments --------------------------------------------------------------------------------------------


def moment_matching(kernel, D, d, rng):
    """Shift and whiten draws to mean and covariance of the spectral measure (Shen et al. 2017), then rescale.

    The covariance of D draws has rank D - 1 at most. If that is less than d, it is matched in the span of the draws.
    The factor (d / (D - 1))^(1/2) then corrects the mean square of a frequency.
    """
    return _matched(kernel, D, d, rng, rescaled=True)


def moment_matching_unscaled(kernel, D, d, rng):
    """Shift draws; multiply by the inverse root of their covariance, or its pseudo-inverse (Shen et al. 2017).

    If the covariance is singular, the frequencies are too short and the approximated kernel is too wide.
    """
    return _matched(kernel, D, d, rng, rescaled=False)


def covariance_is_matched(D: int, d: int) -> bool:
    """Return whether D draws in d dimensions are enough to match the covariance."""
    return d < D


def _matched(kernel, D, d, rng, rescaled):
    if kernel.is_rotation_invariant:
        # The Gaussian factors are matched. A Student t has a covariance only for nu > 1, and then estimates it poorly.
        standard = rng.standard_normal((D, d))
        scales = kernel.sample_scales(D, rng)[:, None]
    elif np.isfinite(kernel.coordinate_variance).all():
        scales = np.sqrt(kernel.coordinate_variance)
        standard = kernel.sample_frequencies(D, d, rng) / scales
    else:
        raise ValueError(
            "sampling is 'moment_matching', which needs frequencies with a finite variance;"
            f" those of {type(kernel).__name__} have none."
        )
    return (standard if D == 1 else _whitened(standard, rescaled)) * scales  # one draw is its own mean


def _whitened(standard, rescaled):
    """Return centred rows whose covariance is a projection of rank min(D - 1, d): the identity for D > d."""
    D, d = standard.shape
    # With the singular value decomposition U diag(s) V', whitening by the pseudo-inverse leaves sqrt(D) U V'.
    U, _, Vt = np.linalg.svd(standard - standard.mean(axis=0), full_matrices=False)
    rank = min(D - 1, d)
    white = np.sqrt(D) * U[:, :rank] @ Vt[:rank]
    if covariance_is_matched(D, d):
        return white
    done = "their mean square are matched" if rescaled else "nothing else are matched, and the frequencies are short"
    warn(f"{D} frequencies in {d} dimensions are too few to match a covariance; that of their span and {done}.")
    return white * np.sqrt(d / rank) if rescaled else white


SCHEMES = {
    "monte_carlo": monte_carlo,
    "orthogonal": orthogonal,
    "structured_orthogonal": structured_orthogonal,
    "fastfood": fastfood,
    "halton": _low_discrepancy("halton", _halton_points),
    "sobol": _low_discrepancy("sobol", _sobol_points),
    "lattice": _low_discrepancy("lattice", _lattice_points),
    "digital_net": _low_discrepancy("digital_net", _digital_net_points),
    "moment_matching": moment_matching,
    "moment_matching_unscaled": moment_matching_unscaled,
}
