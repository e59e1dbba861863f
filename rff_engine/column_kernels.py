"""Kernels that are products over the columns of the points: a length scale for each column, or a period.

Their frequencies have independent coordinates. Kernels made of other kernels are in `composed_kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import ive, ndtri

from ._typing import ArrayLike
from ._validation import as_numbers, as_points, check_range, check_scale, shown
from .kernels import SCALE, GaussianKernel, SpectralKernel, column_pairs

__all__ = ["AnisotropicGaussianKernel", "PeriodicKernel"]

_SHORTEST, _LONGEST = 1e-3, 1e3  # length scales of a periodic kernel, in radians


@dataclass(frozen=True)
class AnisotropicGaussianKernel(SpectralKernel):
    """exp(-sum_j (x_j - x'_j)^2 / (2 l_j^2)), with frequencies from N(0, diag(l_1^-2, ..., l_d^-2)).

    One length scale a column is known as automatic relevance determination, ARD (Rasmussen and Williams 2006,
    Section 5.1). The kernel serves points of as many columns as it has length scales.

    Parameters
    ----------
    length_scales : array of shape (d,) or "scale"
        In the units of the columns; each above 0, from 1e-50 to 1e50. "scale" stands for (d Var(X_j) / 2)^(1/2) in
        column j: this is the Gaussian kernel with "scale" on standardized columns.
        The variance of a constant column counts as 1 / d.

    Raises
    ------
    ValueError
        If a length scale is not such a number.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> kernel = rff.AnisotropicGaussianKernel(length_scales=np.array([1.0, 100.0]))
    >>> kernel(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).round(3)[0]
    array([1.   , 1.   , 0.607])
    """

    _width: ClassVar[str] = "length_scales"
    length_scales: tuple[float, ...] | str = SCALE

    def __post_init__(self) -> None:
        given = self.length_scales
        if isinstance(given, str):
            if given != SCALE:
                raise ValueError(
                    f"length_scales is {shown(given)}; one number above 0 a column or {SCALE!r} is needed."
                )
            return
        values = as_numbers(given, "length_scales")
        if values.ndim != 1 or len(values) == 0:
            raise ValueError(f"length_scales has shape {values.shape}; one number a column is needed.")
        lengths = tuple(check_scale(value, "length_scales") for value in values.tolist())
        if not isinstance(given, tuple) or given != lengths:  # clones keep the very object
            object.__setattr__(self, "length_scales", lengths)

    @property
    def _lengths(self) -> np.ndarray:
        self._check_width()
        return np.array(self.length_scales)

    @property
    def _columns(self) -> int | None:
        return None if self.is_open else len(self.length_scales)

    def _scaled(self, X, weights):
        variances = _variances(X, weights)
        gammas = 1 / np.where(variances > 0, np.maximum(X.shape[1] * variances, np.finfo(np.float64).tiny), 1.0)
        for gamma in gammas:
            check_range(float(gamma), "1 / (d Var(X_j))", 1e-99, 1e99)
        return {"length_scales": tuple(((2 * gammas) ** -0.5).tolist())}

    def _matrix(self, X, Y):
        lengths, unit = self._lengths, GaussianKernel()
        scale = sp.diags_array(1 / lengths) if sp.issparse(X) or sp.issparse(Y) else None
        if scale is None:
            return unit._matrix(X / lengths, Y / lengths)
        return unit._matrix(*(A @ scale if sp.issparse(A) else A / lengths for A in (X, Y)))

    def _log_density(self, omega):
        lengths = self._lengths
        constant = np.log(lengths / np.sqrt(2 * np.pi)).sum()
        return constant - 0.5 * ((lengths * omega) ** 2).sum(axis=1)

    def _sample(self, rng, n_frequencies, n_features):
        return rng.standard_normal((n_frequencies, n_features)) / self._lengths

    def _quantiles(self, uniforms):
        return ndtri(uniforms) / self._lengths

    @property
    def coordinate_variance(self) -> np.ndarray:
        """l_j^-2, of each coordinate."""
        return self._lengths**-2.0


def _variances(X, weights=None) -> np.ndarray:
    """Return the variance of each column; weights, if any, weigh the rows."""
    share = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    mean = share @ X
    if sp.issparse(X):
        return np.maximum(share @ X.multiply(X) - mean**2, 0.0)
    return share @ (X - mean) ** 2


@dataclass(frozen=True, kw_only=True)
class PeriodicKernel(SpectralKernel):
    """prod_j exp(-2 sin^2(pi (x_j - x'_j) / period) / length_scale^2), of period `period` in every column.

    (Rasmussen and Williams 2006, Eq. 4.31.) Its spectrum is discrete: a coordinate of a frequency is 2 pi m / period
    with probability exp(-z) I_m(z), z = length_scale^-2, by the generating function of the modified Bessel functions
    (Abramowitz and Stegun 1964, 9.6.33). That is the Skellam distribution, of the difference of two independent
    Poisson numbers of mean z / 2. There is no density; `spectral_mass` gives the probabilities.

    Parameters
    ----------
    period : float
        In the units of x; above 0, from 1e-50 to 1e50.
    length_scale : float
        From 0.001 to 1000, in radians of a period: the kernel is near exp(-t^2 / (2 length_scale^2)) at a small
        angle t = 2 pi (x_j - x'_j) / period.

    Raises
    ------
    ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> kernel = rff.PeriodicKernel(period=2.0, length_scale=1.0)
    >>> kernel(np.array([[0.0], [1.0], [2.0]])).round(3)[0]
    array([1.   , 0.135, 1.   ])
    """

    period: float = 1.0
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", check_scale(self.period, "period"))
        length = check_range(check_scale(self.length_scale, "length_scale"), "length_scale", _SHORTEST, _LONGEST)
        object.__setattr__(self, "length_scale", length)

    @property
    def _z(self) -> float:
        return self.length_scale**-2

    def spectral_mass(self, multiples: ArrayLike) -> np.ndarray:
        """Compute the probability of each frequency 2 pi m / period.

        Parameters
        ----------
        multiples : array of shape (D, d)
            The whole numbers m, one frequency a row; others have probability 0.

        Returns
        -------
        ndarray of shape (D,)

        Raises
        ------
        ValueError
            If the shape is wrong or a value is not finite.
        """
        multiples = np.asarray(as_points(multiples, "multiples", dense=True), dtype=np.float64)
        whole = multiples == np.rint(multiples)
        return np.where(whole, _skellam(np.abs(multiples), self._z), 0.0).prod(axis=1)

    def _matrix(self, X, Y):
        product = np.ones((X.shape[0], Y.shape[0]))
        for u, v in column_pairs(X, Y):
            difference = u.astype(np.float64) - v.astype(np.float64)
            product *= np.exp(-2 * self._z * np.sin(np.pi * (difference / self.period)) ** 2)
        return product

    def _log_density(self, omega):
        raise ValueError("PeriodicKernel has no spectral density, as its spectrum is discrete; see spectral_mass.")

    def _sample(self, rng, n_frequencies, n_features):
        first, second = (rng.poisson(self._z / 2, size=(n_frequencies, n_features)) for _ in range(2))
        return 2 * np.pi / self.period * (first - second)

    def _quantiles(self, uniforms):
        multiples, distribution = _skellam_distribution(self._z)
        at = np.minimum(np.searchsorted(distribution, uniforms), len(multiples) - 1)
        return 2 * np.pi / self.period * multiples[at]

    @property
    def coordinate_variance(self) -> float:
        """(2 pi / period)^2 / length_scale^2."""
        return (2 * np.pi / self.period) ** 2 * self._z


def _skellam(m, z: float) -> np.ndarray:
    """Compute exp(-z) I_m(z), for m of at least 0."""
    farthest = 2.0**31  # from here on every probability is 0; the Bessel function of a larger order is not computed
    return np.where(m < farthest, ive(np.minimum(m, farthest), z), 0.0)


@lru_cache(maxsize=16)
def _skellam_distribution(z: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the whole numbers of a probability above rounding, and the distribution function at them."""
    most = int(12 * np.sqrt(z)) + 40
    multiples = np.arange(-most, most + 1)
    return multiples, np.cumsum(_skellam(np.abs(multiples), z))
