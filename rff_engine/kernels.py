"""Shift-invariant kernels, each seen as a spectral measure.

By Bochner's theorem such a kernel is an average of cosines, ``k(x - x') = E_{omega ~ p} cos(omega . (x - x'))``
(Letarte et al. 2019, Eq. 3). A kernel here therefore knows its value, the density ``p`` of its frequencies, and how
to draw them from ``p``: from a generator, from points of the unit cube, or as Gaussian vectors of random scale. It
does not know how many features are made of them. More kernels are in `column_kernels` and `composed_kernels`.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaincinv, gammaln, kv, kve, ndtri
from sklearn import config_context
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis

from ._blocks import pieces, rows_of
from ._typing import ArrayLike, MatrixLike, RandomState
from ._validation import (
    as_numbers,
    as_points,
    as_rng,
    as_sample_weight,
    check_count,
    check_fits,
    check_positive,
    check_range,
    check_scale,
    shown,
)

__all__ = [
    "CauchyKernel",
    "GaussianKernel",
    "LaplacianKernel",
    "MaternKernel",
    "RationalQuadraticKernel",
    "SpectralKernel",
]


# Stands for a width from data, see `SpectralKernel.scaled_to`.
SCALE = "scale"
# Above this nu, K_nu overflows while the kernel is still below 1; the expansion is exact to 1e-9.
_LARGE_NU = 50.0
# Beyond this nu the Matérn kernel is the Gaussian one to 1e-9, and sums of log-gamma functions lose precision.
_LARGEST_NU = 1e9
# Farther away every Matérn kernel is below the smallest float.
_FARTHEST = 1e4
_LARGEST_LOG_DENSITY = 700.0
# Of a kernel matrix: so many are computed at once, and stay in a core's cache.
BLOCK_ENTRIES = 2**17


class SpectralKernel(ABC):
    """A kernel k(x - x') with k(0) = 1, given by the probability measure p of its frequencies.

    A width may be "scale": then `scaled_to`, which the estimators call in `fit`, takes it from the data. Attributes
    are read-only; `set_params` changes them in place, as scikit-learn's nested parameters require.

    Attributes
    ----------
    is_rotation_invariant : bool
        Whether k depends on ||x - x'|| alone; then p is a mixture of Gaussians, see `sample_scales`.
    coordinate_variance : float, or ndarray of shape (d,)
        Of one coordinate of a frequency, or of each where they differ; infinite where p has no second moment.

    Examples
    --------
    >>> import rff_engine as rff
    >>> kernel = rff.GaussianKernel(sigma=2.0)
    >>> isinstance(kernel, rff.SpectralKernel)
    True
    >>> kernel.sample_frequencies(100, 3, random_state=0).shape
    (100, 3)
    """

    is_rotation_invariant: ClassVar[bool] = False
    _width: ClassVar[str] = ""
    """Name of the parameter that may be "scale", empty if none may."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return arguments of the constructor by name, for scikit-learn's `clone` and searches.

        Parameters
        ----------
        deep : bool
            Whether to include the parameters of kernels that the kernel is made of.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place; if a value is refused, none changes.

        The hash changes with them: do not change a kernel that is the key of a dictionary.

        Parameters
        ----------
        **params : dict
            New values, by name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter, or a value is not allowed.
        """
        known = self.get_params(deep=False)
        for name in params:
            if name not in known:
                allowed = ", ".join(map(repr, self.get_params()))
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it must be one of {allowed}.")
        vars(self).update(vars(type(self)(**known | params)))
        return self

    def scaled_to(self, X: MatrixLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return the kernel, with the width "scale" replaced by a number that fits the points.

        The Gaussian kernel gets the width of gamma = 1 / (d Var(X)), as gamma="scale" of scikit-learn's SVC. Each other
        kernel documents its own width. Var(X) is the variance of all entries; a constant X counts as Var(X) = 1 / d.
        `AnisotropicGaussianKernel` takes the variance of each column for Var(X). A sum or product scales each of its
        kernels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points whose variance sets the width.
        sample_weight : array of shape (n,), optional
            Weights of the rows in the variance, at least 0; ``None`` stands for 1 each.

        Returns
        -------
        SpectralKernel
            Of the same class; the kernel itself if no width is "scale".

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, a weight is negative, or 1 / (d Var(X)) is not from 1e-99 to
            1e99.
        """
        if not self.is_open:
            return self
        X = as_points(X)
        return self._scaled_to(X, as_sample_weight(sample_weight, X.shape[0]))

    def _scaled_to(self, X, weights=None) -> Self:
        """Return the kernel `scaled_to` checked points."""
        return type(self)(**self.get_params(deep=False) | self._scaled(X, weights)) if self.is_open else self

    def _scaled(self, X, weights) -> dict[str, Any]:
        """Fit the open parameters to the points and return them."""
        gamma = check_range(_scale_gamma(X, weights), "1 / (d Var(X))", 1e-99, 1e99)
        return {self._width: self._width_at(gamma, X.shape[1])}

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        """Compute the kernel matrix.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Points, one a row.
        Y : array or CSR matrix of shape (m, d), optional
            ``None`` stands for `X`.

        Returns
        -------
        ndarray of shape (n, m), in the precision of `X` and `Y`

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, or the width is still "scale".
        """
        X = as_points(X)
        return self._values(X, None if Y is None else as_points(Y, "Y", n_features=X.shape[1]))

    def _values(self, X, Y=None) -> np.ndarray:
        """Compute the kernel matrix of checked points."""
        values = self._values_from(X if Y is None else Y)(X)
        if Y is None:
            np.fill_diagonal(values, 1.0)
        return values

    def _values_from(self, others) -> Callable[[Any], np.ndarray]:
        """Return the function of checked points that computes their kernel matrix with `others`, prepared once."""
        self._check_width()
        self._check_columns(others.shape[1])
        m = others.shape[0]
        n_rows = max(1, BLOCK_ENTRIES // m)
        matrix = self._matrix_from(others)

        def values_of(X):
            n = X.shape[0]
            check_fits(n * m, f"X has {n} rows and Y {m}")
            dtype = np.result_type(X.dtype, others.dtype)
            # If a distance overflows, the kernel is 0 there. All points have been checked to be finite.
            with np.errstate(over="ignore"), config_context(assume_finite=True):
                if n <= n_rows:
                    return matrix(X).astype(dtype, copy=False)
                values = np.empty((n, m), dtype)
                for at in pieces(0, n, n_rows):
                    values[at] = matrix(rows_of(X, at))
            return values

        return values_of

    def spectral_density(self, omega: ArrayLike) -> np.ndarray:
        """Compute the density p of the spectral measure.

        Parameters
        ----------
        omega : array of shape (D, d)
            Frequencies, one a row, in radians per unit of x.

        Returns
        -------
        ndarray of shape (D,)

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not finite, a density is beyond 1e304 or not known, or the width is still
            "scale".
        """
        self._check_width()
        omega = np.asarray(as_points(omega, "omega", dense=True), dtype=np.float64)
        self._check_columns(omega.shape[1])
        with np.errstate(over="ignore"):  # the density is 0 so far away
            log_density = self._log_density(omega)
        if (highest := log_density.max()) > _LARGEST_LOG_DENSITY:
            raise ValueError(f"omega has a density of exp({highest:.3g}); at most 1e304 can be returned.")
        return np.exp(log_density)

    def sample_frequencies(self, n_frequencies: int, n_features: int, random_state: RandomState = None) -> np.ndarray:
        """Draw independent frequencies from the spectral measure.

        Parameters
        ----------
        n_frequencies : int
            D, the number of draws.
        n_features : int
            d, the dimension of the points.
        random_state : int, RandomState, Generator or None
            Seed or generator of all draws; a whole number gives the same draws again.

        Returns
        -------
        ndarray of shape (D, d), float64
            Frequencies in radians per unit of x.

        Raises
        ------
        ValueError
            If a count is not a whole number of at least 1, or the width is still "scale".
        """
        self._check_width()
        shape = check_count(n_frequencies, "n_frequencies"), check_count(n_features, "n_features")
        self._check_columns(shape[1])
        check_fits(2 * shape[0] * shape[1], f"n_frequencies is {shape[0]} and n_features {shape[1]}")
        return self._sample(as_rng(random_state), *shape)

    def uniforms_per_frequency(self, n_features: int) -> int:
        """Return the number of uniform numbers that `frequencies_at` maps to one frequency.

        Each dimension takes one. The Matérn and the rational quadratic kernel take one more, the first, for a
        chi-square number. A product needs the numbers of all its kernels. A sum needs as many as its largest kernel
        and one more, the first, which chooses the kernel.

        Parameters
        ----------
        n_features : int
            d, the dimension of the points.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If `n_features` is not a whole number of at least 1.
        """
        return self._uniforms(check_count(n_features, "n_features"))

    def frequencies_at(self, uniforms: ArrayLike) -> np.ndarray:
        """Map points of the unit cube to frequencies by the quantiles of the spectral measure.

        Points that are uniform on the cube become samples from p; points that fill it evenly fill p evenly.

        Parameters
        ----------
        uniforms : array of shape (D, uniforms_per_frequency(d))
            Each strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (D, d), float64
            Frequencies in radians per unit of x.

        Raises
        ------
        ValueError
            If a shape is wrong, a value is not strictly between 0 and 1, the quantiles are not known, or the width is
            still "scale".
        """
        self._check_width()
        uniforms = as_numbers(uniforms, "uniforms")
        fewest = self.uniforms_per_frequency(1)
        if uniforms.ndim != 2 or uniforms.shape[1] < fewest:
            raise ValueError(
                f"uniforms has shape {uniforms.shape}; two dimensions and at least {fewest} columns are needed."
            )
        self._check_columns(self._n_columns(uniforms.shape[1]))
        if uniforms.size and not (uniforms.min() > 0 and uniforms.max() < 1):
            raise ValueError("uniforms reach 0 or 1; each must lie strictly between.")
        return self._quantiles(uniforms)

    def sample_scales(self, n_frequencies: int, random_state: RandomState = None) -> np.ndarray:
        """Draw scales s such that s z with z from N(0, I) is a draw from the spectral measure.

        A kernel of ||x - x'|| that is positive definite in every dimension is a mixture of Gaussian kernels
        (Schoenberg 1938). So the length of a frequency is s times the length of z, which is chi-distributed with as
        many degrees of freedom as there are dimensions.

        Parameters
        ----------
        n_frequencies : int
            D, the number of draws.
        random_state : int, RandomState, Generator or None
            Seed or generator of the draws.

        Returns
        -------
        ndarray of shape (D,), float64

        Raises
        ------
        ValueError
            If the kernel is not rotation invariant, the count not a whole number of at least 1, or the width is
            still "scale".
        """
        self._check_width()
        n_frequencies = check_count(n_frequencies, "n_frequencies")
        check_fits(3 * n_frequencies, f"n_frequencies is {n_frequencies}")
        rng = as_rng(random_state)
        return self._scales(rng, n_frequencies)

    @property
    def coordinate_variance(self) -> float | np.ndarray:
        return math.inf

    @property
    def is_open(self) -> bool:
        """Whether the width is "scale", to be taken from data."""
        return bool(self._width) and isinstance(getattr(self, self._width), str)

    def _uniforms(self, n_features: int) -> int:
        return n_features

    def _n_columns(self, n_uniforms: int) -> int:
        """Return the dimension in which a frequency takes this many uniform numbers."""
        d = bisect_left(range(1, n_uniforms + 1), n_uniforms, key=self.uniforms_per_frequency) + 1
        if self.uniforms_per_frequency(d) != n_uniforms:
            raise ValueError(
                f"uniforms has {n_uniforms} columns; uniforms_per_frequency(d) are needed, such as "
                f"{self.uniforms_per_frequency(d)} for d = {d}."
            )
        return d

    @property
    def _columns(self) -> int | None:
        """Number of columns of the points that the kernel is for, ``None`` for any."""
        return None

    def _check_columns(self, n_features: int) -> None:
        if self._columns not in (None, n_features):
            raise ValueError(
                f"{type(self).__name__} has {self._columns} length scales, one a column; the points have {n_features} "
                "columns, and as many are needed."
            )

    def _check_width(self):
        if self.is_open:
            raise ValueError(f"{self!r} has no width yet; scaled_to(X) gives it one, and so does an estimator's fit.")

    @property
    def _numeric_width(self) -> float:
        """The width, which must not be "scale"."""
        self._check_width()
        return getattr(self, self._width)

    def _width_at(self, gamma: float, n_features: int) -> float:
        """Return the width for `gamma` of a Gaussian kernel: the sigma of that kernel, unless overridden."""
        return (2.0 * gamma) ** -0.5

    @abstractmethod
    def _matrix(self, X, Y) -> np.ndarray: ...

    def _matrix_from(self, Y) -> Callable[[Any], np.ndarray]:
        """Return `_matrix` as a function of `X`; what depends on `Y` alone may be computed once."""
        return lambda X: self._matrix(X, Y)

    @abstractmethod
    def _log_density(self, omega: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _sample(self, rng, n_frequencies: int, n_features: int) -> np.ndarray: ...

    def _quantiles(self, uniforms: np.ndarray) -> np.ndarray:
        raise ValueError(f"{type(self).__name__} does not know the quantiles of its spectral measure.")

    def _scales(self, rng, n_frequencies: int) -> np.ndarray:
        raise ValueError(f"{type(self).__name__} is not rotation invariant; its frequencies have no common scale.")


def check_kernel(kernel: Any) -> SpectralKernel:
    if not isinstance(kernel, SpectralKernel):
        raise ValueError(f"kernel is {shown(kernel)}; a kernel of rff_engine is needed.")
    return kernel


def as_kernel(kernel: Any, others: str = "") -> SpectralKernel:
    """Return the kernel that an estimator's argument stands for: itself, or one of `KERNELS` of width "scale".

    `others` says what else an estimator takes.
    """
    if isinstance(kernel, SpectralKernel):
        return kernel
    name = "gaussian" if kernel is None or (isinstance(kernel, str) and kernel == "rbf") else kernel
    if isinstance(name, str) and name in KERNELS:
        named = KERNELS[name].kernel
        return named(**{named._width: SCALE})
    allowed = ", ".join(map(repr, [*KERNELS, "rbf"]))
    raise ValueError(f"kernel is {shown(kernel)}; None, one of {allowed}, {others}or a kernel of rff_engine is needed.")


def _scale_gamma(X, weights=None) -> float:
    """Compute 1 / (d Var(X)), in float64, dense or sparse."""
    means, variances = column_moments(X, weights)
    variance = np.mean(variances, dtype=np.float64) + np.var(means, dtype=np.float64)
    return 1 / max(X.shape[1] * float(variance), np.finfo(np.float64).tiny) if variance > 0 else 1.0


def column_moments(X, weights=None) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean and the variance of each column in float64, in one pass over blocks of rows."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    if sp.issparse(X):
        return mean_variance_axis(X.astype(np.float64, copy=False), axis=0, weights=weights)
    near = X[np.argmax(weights)].astype(np.float64)  # squares of differences from a row cancel less than the entries'
    total, squares = np.zeros((2, X.shape[1]))
    for at in pieces(0, len(X), max(1, BLOCK_ENTRIES // X.shape[1])):
        rows = X[at] - near
        total += weights[at] @ rows
        squares += weights[at] @ np.square(rows, out=rows)
    offset = total / weights.sum()
    return near + offset, np.maximum(squares / weights.sum() - offset**2, 0.0)


def _width(value, name: str):
    """Check that a width is a number above 0 or "scale"."""
    if isinstance(value, str):
        if value != SCALE:
            raise ValueError(f"{name} is {shown(value)}; a number above 0 or {SCALE!r} is needed.")
        return value
    return check_scale(value, name)


@dataclass(frozen=True)
class GaussianKernel(SpectralKernel):
    """exp(-||x - x'||^2 / (2 sigma^2)), with frequencies from N(0, sigma^-2 I) (Letarte et al. 2019, Eq. 20).

    Parameters
    ----------
    sigma : float or "scale"
        Bandwidth, in the units of x; above 0, from 1e-50 to 1e50. "scale" stands for (d Var(X) / 2)^(1/2), that is
        gamma = 1 / (d Var(X)); see `scaled_to`.

    Raises
    ------
    ValueError
        If `sigma` is not such a number.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> kernel = rff.GaussianKernel(sigma=2.0)
    >>> kernel.gamma
    0.125
    >>> kernel(np.array([[0.0, 0.0], [2.0, 0.0]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    is_rotation_invariant: ClassVar[bool] = True
    _width: ClassVar[str] = "sigma"
    sigma: float | str = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", _width(self.sigma, "sigma"))

    @classmethod
    def from_gamma(cls, gamma: float) -> GaussianKernel:
        """Make the kernel exp(-gamma ||x - x'||^2), so sigma = (2 gamma)^(-1/2).

        Parameters
        ----------
        gamma : float
            Above 0, per squared unit of x, from 1e-99 to 1e99.

        Returns
        -------
        GaussianKernel

        Raises
        ------
        ValueError
            If `gamma` is not such a number.
        """
        return cls((2.0 * check_range(check_positive(gamma, "gamma"), "gamma", 1e-99, 1e99)) ** -0.5)

    @property
    def gamma(self) -> float:
        """1 / (2 sigma^2), the other name of the bandwidth."""
        return 0.5 / self._numeric_width**2

    def _matrix(self, X, Y):
        return self._matrix_from(Y)(X)

    def _matrix_from(self, Y):
        distances_of = squared_distances_from(Y)

        def matrix(X):
            # Float32 is precise enough for the exponential, of a number that was computed in float64.
            dtype = np.result_type(X.dtype, Y.dtype)
            exponent = np.multiply(distances_of(X), -self.gamma, dtype=dtype, casting="same_kind")
            return np.exp(exponent, out=exponent)

        return matrix

    def _log_density(self, omega):
        d, sigma = omega.shape[1], self._numeric_width
        return d * np.log(sigma / np.sqrt(2 * np.pi)) - 0.5 * sigma**2 * (omega**2).sum(axis=1)

    def _sample(self, rng, n_frequencies, n_features):
        return rng.standard_normal((n_frequencies, n_features)) / self._numeric_width

    def _quantiles(self, uniforms):
        return ndtri(uniforms) / self._numeric_width

    def _scales(self, rng, n_frequencies):
        return np.full(n_frequencies, 1 / self._numeric_width)

    @property
    def coordinate_variance(self) -> float:
        """sigma^-2."""
        return self._numeric_width**-2


@dataclass(frozen=True)
class LaplacianKernel(SpectralKernel):
    """exp(-gamma ||x - x'||_1), with independent Cauchy(0, gamma) frequencies (Rahimi and Recht 2007, Figure 1).

    Parameters
    ----------
    gamma : float or "scale"
        Inverse length, per unit of x; above 0, from 1e-50 to 1e50. "scale" stands for 1 / (d Var(X)^(1/2)): then the
        mean of gamma ||x - x'||_1 depends on neither the unit of x nor d; see `scaled_to`.

    Raises
    ------
    ValueError
        If `gamma` is not such a number.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> rff.LaplacianKernel(gamma=1.0)(np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    _width: ClassVar[str] = "gamma"
    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _width(self.gamma, "gamma"))

    def _width_at(self, gamma, n_features):
        return (gamma / n_features) ** 0.5

    def _matrix(self, X, Y):
        return laplacian_kernel(*_in_dtype_for(self._numeric_width, X, Y), gamma=self._numeric_width)

    def _log_density(self, omega):
        return -(np.log(np.pi * self._numeric_width) + 2 * np.log(np.hypot(1, omega / self._numeric_width))).sum(axis=1)

    def _sample(self, rng, n_frequencies, n_features):
        return self._numeric_width * rng.standard_cauchy((n_frequencies, n_features))

    def _quantiles(self, uniforms):
        return self._numeric_width * np.tan(np.pi * (uniforms - 0.5))


class MixtureKernel(SpectralKernel):
    """A kernel whose frequencies are Gaussian vectors times a random scale, a function of half a chi-square draw."""

    is_rotation_invariant: ClassVar[bool] = True

    def _uniforms(self, n_features):
        return 1 + n_features

    def _sample(self, rng, n_frequencies, n_features):
        normal = rng.standard_normal((n_frequencies, n_features))
        return normal * self._scales(rng, n_frequencies)[:, None]

    def _quantiles(self, uniforms):
        return ndtri(uniforms[:, 1:]) * self._scales_of(gammaincinv(self._shape, uniforms[:, :1]))

    def _scales(self, rng, n_frequencies):
        return self._scales_of(rng.chisquare(2 * self._shape, size=n_frequencies) / 2)

    @property
    @abstractmethod
    def _shape(self) -> float:
        """Half the degrees of freedom of the chi-square draw."""

    @abstractmethod
    def _scales_of(self, half_chi_square: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True, kw_only=True)
class MaternKernel(MixtureKernel):
    """The Matérn kernel, with frequencies from a multivariate Student t of 2 nu degrees of freedom.

    Its value is ``2^(1-nu) / Gamma(nu) z^nu K_nu(z)`` with ``z = sqrt(2 nu) ||x - x'|| / length_scale``
    (Rasmussen and Williams 2006, Eq. 4.14). All coordinates of a frequency share one chi-square draw: independent
    Student coordinates would belong to another kernel.

    Parameters
    ----------
    nu : float
        Smoothness; from 1e-50 to 1e9, or infinity. 0.5 gives exp(-r / length_scale), infinity the Gaussian kernel.
    length_scale : float or "scale"
        In the units of x; above 0, from 1e-50 to 1e50. "scale" stands for (d Var(X) / 2)^(1/2), the sigma of the
        Gaussian kernel that is the limit; see `scaled_to`.

    Raises
    ------
    ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> rff.MaternKernel(nu=0.5, length_scale=2.0)(np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    _width: ClassVar[str] = "length_scale"
    nu: float = 1.5
    length_scale: float | str = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.nu, float) and self.nu == math.inf):
            object.__setattr__(self, "nu", check_range(check_positive(self.nu, "nu"), "nu", 1e-50, _LARGEST_NU))
        object.__setattr__(self, "length_scale", _width(self.length_scale, "length_scale"))

    def _matrix(self, X, Y):
        r = np.sqrt(squared_distances_from(Y)(X)) / self._numeric_width
        nu = self._shape
        if nu == 0.5:
            return np.exp(-r)
        if nu > _LARGE_NU:
            return _matern_of_large_nu(nu, np.minimum(r, _FARTHEST))
        z = np.minimum(np.sqrt(2 * nu) * r, _FARTHEST)
        if nu == 1.5:
            return (1 + z) * np.exp(-z)
        if nu == 2.5:
            return (1 + z + z**2 / 3) * np.exp(-z)
        z = np.maximum(z.astype(np.float64), np.finfo(np.float64).tiny)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            log_value = (1 - nu) * np.log(2) - gammaln(nu) + nu * np.log(z) + np.log(kv(nu, z))
        # K_nu overflows if z is tiny: there the kernel is 1 to machine precision.
        value = np.exp(np.where(np.isposinf(log_value), 0.0, log_value))
        return np.minimum(value, 1.0)

    def _log_density(self, omega):
        d, dof, length = omega.shape[1], 2 * self._shape, self._numeric_width
        constant = gammaln((dof + d) / 2) - gammaln(dof / 2) - 0.5 * d * np.log(dof * np.pi) + d * np.log(length)
        return constant - 0.5 * (dof + d) * np.log1p(((length * omega) ** 2).sum(axis=1) / dof)

    def _sample(self, rng, n_frequencies, n_features):
        normal = rng.standard_normal((n_frequencies, n_features))
        chi_square = rng.chisquare(2 * self._shape, size=(n_frequencies, 1))
        return normal * self._mixing(chi_square / 2) / self._numeric_width

    @property
    def _shape(self):
        """nu, where it is infinite the largest."""
        return min(self.nu, _LARGEST_NU)

    def _scales_of(self, half_chi_square):
        return self._mixing(half_chi_square) / self._numeric_width

    def _mixing(self, half_chi_square):
        # A chi-square number of few degrees of freedom may round to 0, but frequencies must be finite. Phases of so
        # long a frequency are uniform whatever its length.
        return np.sqrt(self._shape / np.maximum(half_chi_square, 1e-90 * self._shape))

    @property
    def coordinate_variance(self) -> float:
        """nu / ((nu - 1) length_scale^2), infinite for nu up to 1."""
        return self._shape / (self._shape - 1) / self._numeric_width**2 if self._shape > 1 else math.inf


def _in_dtype_for(scale: float, X, Y) -> tuple:
    """Return `X` and `Y`, in float64 if float32 cannot hold the square of a kernel's scale or of its inverse."""
    if 1e-15 <= scale <= 1e15:
        return X, Y
    return X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)


def squared_distances_from(Y: MatrixLike) -> Callable[[Any], np.ndarray]:
    """Return the function of X that computes ||x - y||^2 of all rows, (n, m).

    It is in float64: close points have small differences of large squares. Dense points are centred first, as a column
    far from 0, such as a year, makes these squares larger than needed; one product then adds the squares, too.
    """
    Y = Y.astype(np.float64, copy=False)
    squares = row_norms(Y, squared=True)
    products = (-2.0 * Y).T.tocsr() if sp.issparse(Y) else -2.0 * Y.T
    centre, summed = 0.0, None
    if not sp.issparse(Y):
        centre = Y.mean(axis=0)
        centred = Y - centre
        summed = np.vstack([-2.0 * centred.T, np.ones(len(Y)), row_norms(centred, squared=True)])

    def distances_of(X):
        X = X.astype(np.float64, copy=False)
        if summed is None or sp.issparse(X):
            distances = np.asarray(safe_sparse_dot(X, products, dense_output=True))
            distances += row_norms(X, squared=True)[:, None]
            distances += squares
        else:
            rows = np.ones((len(X), X.shape[1] + 2))
            np.subtract(X, centre, out=rows[:, :-2])
            np.einsum("ij,ij->i", rows[:, :-2], rows[:, :-2], out=rows[:, -2])
            distances = rows @ summed
        # Rounding may leave a small one below 0. A maximum takes thrice as long.
        return np.abs(distances, out=distances)

    return distances_of


def column_pairs(X: MatrixLike, Y: MatrixLike) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield each column of `X`, (n, 1), and of `Y`, (1, m), unless both are 0.

    The differences of all columns at once would be an (n, m, d) array.
    """
    columns_x, columns_y = (sp.csc_array(A) if sp.issparse(A) else A for A in (X, Y))
    for j in range(X.shape[1]):
        u, v = (A[:, [j]].toarray() if sp.issparse(A) else A[:, [j]] for A in (columns_x, columns_y))
        if u.any() or v.any():
            yield u, v.T


def _matern_of_large_nu(nu: float, r) -> np.ndarray:
    """Compute the Matérn kernel by the expansion of K_nu(nu z) uniform in z (DLMF 10.41.4), over its value at r = 0."""
    z_squared = 2 / nu * r.astype(np.float64) ** 2
    root = np.sqrt(1 + z_squared)
    rise = z_squared / (1 + root)  # root - 1
    return np.exp(nu * (np.log1p(rise / 2) - rise)) * _debye(nu, 1 / root) / (np.sqrt(root) * _debye(nu, 1.0))


def _debye(nu: float, p):
    """Compute 1 - U_1(p)/nu + U_2(p)/nu^2 - U_3(p)/nu^3 (DLMF 10.41.10)."""
    q = p**2
    u1 = p * (3 - 5 * q) / 24
    u2 = q * (81 + q * (-462 + q * 385)) / 1152
    u3 = p * q * (30375 + q * (-369603 + q * (765765 - q * 425425))) / 414720
    return 1 - u1 / nu + u2 / nu**2 - u3 / nu**3


@dataclass(frozen=True, kw_only=True)
class RationalQuadraticKernel(MixtureKernel):
    """(1 + ||x - x'||^2 / (2 alpha length_scale^2))^-alpha, a mixture of Gaussian kernels of all length scales.

    The inverse squared length scale of the mixture is gamma distributed with shape alpha and mean length_scale^-2
    (Rasmussen and Williams 2006, Eq. 4.19 and 4.20); given it, frequencies are Gaussian. A frequency has the density
    of a multivariate variance-gamma distribution, which is infinite at 0 for alpha up to d / 2.

    Parameters
    ----------
    alpha : float
        Above 0, from 1e-6 to 1e6; the Gaussian kernel is the limit of large ones.
    length_scale : float or "scale"
        In the units of x; above 0, from 1e-50 to 1e50. "scale" stands for (d Var(X) / 2)^(1/2), the sigma of the
        Gaussian kernel that is the limit; see `scaled_to`.

    Raises
    ------
    ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> rff.RationalQuadraticKernel(alpha=1.0, length_scale=1.0)(np.array([[0.0], [2.0]])).round(3)[0]
    array([1.   , 0.333])
    """

    _width: ClassVar[str] = "length_scale"
    alpha: float = 1.0
    length_scale: float | str = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_range(check_positive(self.alpha, "alpha"), "alpha", 1e-6, 1e6))
        object.__setattr__(self, "length_scale", _width(self.length_scale, "length_scale"))

    @property
    def _shape(self):
        return self.alpha

    def _matrix(self, X, Y):
        r = np.sqrt(squared_distances_from(Y)(X)) / self._numeric_width
        return np.exp(-self.alpha * np.log1p(r**2 / (2 * self.alpha)))

    def _log_density(self, omega):
        d, rate = omega.shape[1], self.alpha * self._numeric_width**2
        order, length = self.alpha - d / 2, np.sqrt((omega**2).sum(axis=1))
        z = np.maximum(length * np.sqrt(2 * rate), 1e-150)
        constant = self.alpha * np.log(rate) - gammaln(self.alpha) + np.log(2) - 0.5 * d * np.log(2 * np.pi)
        log_density = constant + order * np.log(z / (2 * rate)) + _log_kv(abs(order), z)
        return np.where((length == 0) & (order <= 0), np.inf, log_density)

    def _scales_of(self, half_chi_square):
        return np.sqrt(half_chi_square / self.alpha) / self._numeric_width

    @property
    def coordinate_variance(self) -> float:
        """length_scale^-2."""
        return self._numeric_width**-2.0


def _log_kv(order: float, z) -> np.ndarray:
    """Compute ln K_order(z), for an order of at least 0 and z above 0."""
    if order > _LARGE_NU:  # the expansion that is uniform in z (DLMF 10.41.4)
        x = z / order
        root = np.sqrt(1 + x**2)
        exponent = root + np.log(x / (1 + root))
        log_debye = np.log(_debye(order, 1 / root))
        return 0.5 * np.log(np.pi / (2 * order * root)) - order * exponent + log_debye
    with np.errstate(over="ignore", divide="ignore"):
        scaled = np.log(kve(order, np.minimum(z, 1e8))) - z
    # K overflows only at z so small that its first term is exact (DLMF 10.30.2).
    small = gammaln(order) + order * np.log(2 / z) - np.log(2) if order > 0 else scaled
    return np.where(np.isposinf(scaled), small, scaled)


@dataclass(frozen=True)
class CauchyKernel(SpectralKernel):
    """prod_j 1 / (1 + gamma^2 (x_j - x'_j)^2), with independent Laplace(0, gamma) coordinates as frequencies.

    The third kernel of Rahimi and Recht 2007, Figure 1.

    Parameters
    ----------
    gamma : float or "scale"
        Inverse length, per unit of x; above 0, from 1e-50 to 1e50. "scale" stands for (d Var(X))^(-1/2): then the
        kernel decreases near 0 like the Gaussian kernel of that scale; see `scaled_to`.

    Raises
    ------
    ValueError
        If `gamma` is not such a number.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> rff.CauchyKernel(gamma=1.0)(np.array([[0.0, 0.0], [1.0, 1.0]]))
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    _width: ClassVar[str] = "gamma"
    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _width(self.gamma, "gamma"))

    def _width_at(self, gamma, n_features):
        return gamma**0.5

    def _matrix(self, X, Y):
        X, Y = _in_dtype_for(self._numeric_width, X, Y)
        product = np.ones((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
        for u, v in column_pairs(X, Y):
            product /= 1 + (self._numeric_width * (u - v)) ** 2
        return product

    def _log_density(self, omega):
        return -(np.abs(omega) / self._numeric_width + np.log(2 * self._numeric_width)).sum(axis=1)

    def _sample(self, rng, n_frequencies, n_features):
        return rng.laplace(scale=self._numeric_width, size=(n_frequencies, n_features))

    def _quantiles(self, uniforms):
        tail = np.minimum(uniforms, 1 - uniforms)  # exact, for uniforms above a half
        return -self._numeric_width * np.sign(uniforms - 0.5) * np.log(2 * tail)

    @property
    def coordinate_variance(self) -> float:
        """2 gamma^2."""
        return 2 * self._numeric_width**2


# --- records ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedKernel:
    """A kernel that estimators take by its name and pages by its title."""

    title: str
    kernel: type[SpectralKernel]
    distance: Callable[[int], float]
    """Of standardised points, by their number of columns; a width "scale" is in proportion to it"""

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.kernel).parameters)

    def of_width(self, width: float, **others: float) -> SpectralKernel:
        """Return the kernel of a width in units of x; of `others` it takes its own parameters."""
        own = {name: others[name] for name in self.parameters if name in others}
        return self.kernel(**own, **{self.kernel._width: 1 / width if self.kernel._width == "gamma" else width})


#: By the names that estimators accept.
KERNELS: dict[str, NamedKernel] = {
    "gaussian": NamedKernel("Gaussian", GaussianKernel, lambda d: np.sqrt(d / 2)),
    "laplacian": NamedKernel("Laplacian", LaplacianKernel, float),
    "matern": NamedKernel("Matérn", MaternKernel, lambda d: np.sqrt(d / 2)),
    "cauchy": NamedKernel("Cauchy", CauchyKernel, np.sqrt),
}
KERNELS_BY_TITLE = {named.title: named for named in KERNELS.values()}
