"""The loss of a kernel approximation over pairs of points, and how far landmarks may mislead about it.

Li et al. (2019, Generalization Error Analysis) bound, for all frequencies and weights at once, the difference between
the loss on landmarks and that on all points. Weights are on the simplex there, and frequencies in a ball.
"""

from __future__ import annotations

import numpy as np

from ._typing import ArrayLike, MatrixLike
from ._validation import (
    LARGEST,
    as_coordinates,
    as_points,
    as_within,
    check_count,
    check_interval,
    check_nonnegative,
    check_probability,
    check_range,
    shown,
)
from .features import fourier_features
from .kernels import SpectralKernel, check_kernel

__all__ = ["cluster_loss_bound", "kernel_approximation_loss", "sample_loss_bound"]

_BLOCK_ENTRIES = 2**22  # entries of a kernel matrix in memory at a time: 32 MiB


def kernel_approximation_loss(
    X: MatrixLike, kernel: SpectralKernel, omega: ArrayLike, weights: ArrayLike | None = None, distinct: bool = False
) -> float:
    """Compute the mean squared error of a kernel approximation over pairs of points (Li et al. 2019, L and L_n).

    The approximation is f(x - x') = sum_j p_j cos(omega_j . (x - x')). Over all pairs of a data set this is L(f). Over
    the pairs of different landmarks it is L_n(f). L(f) is its expectation for landmarks drawn with replacement.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Points, one a row.
    kernel : SpectralKernel
        The kernel that is approximated.
    omega : array of shape (r, d)
        Frequencies, one a row.
    weights : array of shape (r,), optional
        p, at least 0 each; ``None`` stands for 1/r each.
    distinct : bool
        Leave out the pairs of a point with itself; at least two points are then needed.

    Returns
    -------
    float
        From 0 to 4 if the weights sum to 1.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not allowed.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X, kernel = np.random.default_rng(0).normal(size=(30, 2)), rff.GaussianKernel(1.0)
    >>> few, many = (kernel.sample_frequencies(r, 2, random_state=0) for r in (5, 5000))
    >>> rff.kernel_approximation_loss(X, kernel, many) < rff.kernel_approximation_loss(X, kernel, few)
    True
    """
    X = as_points(X)
    kernel = check_kernel(kernel)
    n = X.shape[0]
    if not isinstance(distinct, bool | np.bool_):
        raise ValueError(f"distinct is {shown(distinct)}; True or False is needed.")
    if distinct and n < 2:
        raise ValueError(f"X has {n} row; at least 2 are needed for pairs of different points.")
    features = fourier_features(X, omega, weights).astype(np.float64, copy=False)
    total, size = 0.0, max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n, size):
        rows = slice(start, start + size)
        missed = features[rows] @ features.T
        K = kernel._values(X[rows], X)
        diagonal = np.arange(len(K)), start + np.arange(len(K))
        K[diagonal] = kernel._values(X[:1])  # exact at distance 0
        missed -= K
        if distinct:
            missed[diagonal] = 0
        total += float(np.einsum("ij,ij->", missed, missed))
    return total / (n * (n - 1) if distinct else n**2)


def sample_loss_bound(n: int, r: int, d: int, radius: float, diameter: float, delta: float) -> float:
    """Bound the difference of L_n and L for landmarks drawn with replacement (Li et al. 2019, Proposition 1).

    It holds with probability 1 - delta, for all weights on the simplex and frequencies in a ball at once, for a kernel
    with values from -1 to 1. The loss is at most 4, so the bound says something only for n far above d r.

    Parameters
    ----------
    n, r, d : int
        Numbers of landmarks, at least 2, of frequencies, and of dimensions.
    radius : float
        Of the ball of frequencies around 0, at least 0.
    diameter : float
        The largest distance of two points, at least 0.
    delta : float
        Between 0 and 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a value is not allowed.

    Examples
    --------
    >>> import rff_engine as rff
    >>> bounds = [rff.sample_loss_bound(n, r=20, d=2, radius=5.0, diameter=4.0, delta=0.05) for n in (10**6, 10**8)]
    >>> round(bounds[0] / bounds[1])  # nearly as the root of n
    9
    """
    n = check_count(n, "n", low=2)
    r = check_count(r, "r")
    d = check_count(d, "d")
    radius = check_nonnegative(radius, "radius")
    diameter = check_nonnegative(diameter, "diameter")
    delta = check_probability(delta, "delta")
    # log(3 a b + 9) without overflow of the product
    spread = np.logaddexp(np.log(3) + _log(radius) + _log(diameter), np.log(9))
    covering = (d * r + r - 1) * (np.log(n) + 2 * spread)
    return float(4 * np.sqrt(2 * -np.log(delta) / n) + 16 * np.sqrt(covering / n))


def cluster_loss_bound(distances: ArrayLike, radius: float, lipschitz: float) -> float:
    """Bound the difference of L^c, the loss on weighted centroids, and L (Li et al. 2019, Proposition 2).

    Parameters
    ----------
    distances : array of shape (n,)
        Of each point to the centroid of its cluster, at least 0; the largest counts.
    radius : float
        Largest length of a frequency, from 0 to 1e100.
    lipschitz : float
        The Lipschitz constant of the kernel, above 0 and at most 1e100: exp(-1/2) / sigma for the Gaussian one.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not allowed.

    Examples
    --------
    >>> import rff_engine as rff
    >>> round(rff.cluster_loss_bound([0.01, 0.02], radius=4.0, lipschitz=0.6), 3)
    0.736
    """
    distances = as_within(as_coordinates(distances, "distances"), "distances", 0.0, LARGEST)
    slope = check_range(radius, "radius", 0.0, LARGEST) + check_interval(lipschitz, "lipschitz", 0.0, LARGEST)
    return float(8 * distances.max() * slope)


def _log(value: float) -> float:
    return float(np.log(value)) if value > 0 else -np.inf
