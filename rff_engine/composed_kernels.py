"""Kernels made of kernels: sums are mixtures of spectral measures, and products are convolutions of them.

If k_1 and k_2 are averages of cosines under p_1 and p_2, then w k_1 + (1 - w) k_2 is one under w p_1 + (1 - w) p_2, and
k_1 k_2 is one under p_1 * p_2, the law of a sum of independent draws: the characteristic function of a sum is the
product of the characteristic functions (Bochner 1933; Rasmussen and Williams 2006, Section 4.2.4).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from ._validation import as_distribution, shown
from .column_kernels import AnisotropicGaussianKernel
from .kernels import GaussianKernel, SpectralKernel

__all__ = ["ProductKernel", "SumKernel"]


class ComposedKernel(SpectralKernel):
    """A kernel made of the kernels in `kernels`; rotation invariant if all of them are.

    To `get_params` and `set_params` they are `k1`, `k2` and so on, as in scikit-learn, with their parameters as
    ``k1__sigma``.
    """

    kernels: tuple[SpectralKernel, ...]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return arguments of the constructor by name, and the kernels and their parameters.

        Parameters
        ----------
        deep : bool
            Whether to include the kernels, as `k1`, `k2` and so on, and their parameters, as ``k1__sigma``.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=False)
        for name, kernel in self._parts().items() if deep else ():
            params |= {name: kernel} | {f"{name}__{inner}": value for inner, value in kernel.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place, and replace changed kernels; if a value is refused, none changes.

        Parameters
        ----------
        **params : dict
            New values, by the names in `get_params`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter, or a value is not allowed.
        """
        parts = self._parts() if "kernels" not in params else {}
        replaced = parts | {name: params.pop(name) for name in parts if name in params}
        for name, kernel in replaced.items():
            prefix = f"{name}__"
            inner = {key.removeprefix(prefix): params.pop(key) for key in list(params) if key.startswith(prefix)}
            if inner:
                replaced[name] = copy(kernel).set_params(**inner)
        changed = {"kernels": tuple(replaced.values())} if replaced != parts else {}
        return super().set_params(**params, **changed)

    def _parts(self) -> dict[str, SpectralKernel]:
        return {f"k{i}": kernel for i, kernel in enumerate(self.kernels, 1)}

    def _check_kernels(self) -> None:
        given = self.kernels
        kernels = tuple(given) if isinstance(given, tuple | list) else ()
        if not kernels or not all(isinstance(kernel, SpectralKernel) for kernel in kernels):
            raise ValueError(f"kernels is {shown(given)}; a tuple of at least one kernel of rff_engine is needed.")
        object.__setattr__(self, "kernels", kernels)
        object.__setattr__(self, "is_rotation_invariant", all(kernel.is_rotation_invariant for kernel in kernels))

    @property
    def is_open(self) -> bool:
        """Whether a kernel has the width "scale", to be taken from data."""
        return any(kernel.is_open for kernel in self.kernels)

    def _scaled(self, X, weights):
        return {"kernels": tuple(kernel._scaled_to(X, weights) for kernel in self.kernels)}

    def _check_columns(self, n_features):
        for kernel in self.kernels:
            kernel._check_columns(n_features)

    def _uniforms_of_parts(self, n_features: int) -> list[int]:
        return [kernel.uniforms_per_frequency(n_features) for kernel in self.kernels]


@dataclass(frozen=True)
class SumKernel(ComposedKernel):
    """The weighted mean sum_i w_i k_i of kernels, with frequencies of kernel i with probability w_i.

    Its spectral measure is the mixture sum_i w_i p_i (Rasmussen and Williams 2006, Section 4.2.4). Length scales of
    several sizes make a kernel that looks at several scales at once.

    Parameters
    ----------
    kernels : tuple of SpectralKernel
        At least one. A width may be "scale".
    weights : tuple of float, optional
        At least 0, with sum 1, one a kernel; ``None`` stands for equal ones.

    Raises
    ------
    ValueError
        If `kernels` is no such tuple, or `weights` are not such numbers.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> kernel = rff.SumKernel((rff.GaussianKernel(0.1), rff.GaussianKernel(10.0)), weights=(0.25, 0.75))
    >>> kernel(np.array([[0.0], [1.0]])).round(3)[0]
    array([1.   , 0.746])
    """

    kernels: tuple[SpectralKernel, ...] = (GaussianKernel(0.5), GaussianKernel(2.0))
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self._check_kernels()
        if self.weights is None:
            return
        weights = as_distribution(self.weights, "weights")
        if weights.shape != (len(self.kernels),):
            raise ValueError(
                f"weights has shape {weights.shape}; {len(self.kernels)} numbers, one a kernel, are needed."
            )
        if not isinstance(self.weights, tuple) or self.weights != tuple(weights.tolist()):
            object.__setattr__(self, "weights", tuple(weights.tolist()))

    @property
    def _shares(self) -> np.ndarray:
        """Probabilities of the kernels, with sum 1 to the last bit or nearly."""
        weights = np.ones(len(self.kernels)) if self.weights is None else np.array(self.weights)
        return weights / weights.sum()

    def _uniforms(self, n_features):
        return 1 + max(self._uniforms_of_parts(n_features))

    def _matrix(self, X, Y):
        total = sum(share * kernel._matrix(X, Y) for share, kernel in zip(self._shares, self.kernels, strict=True))
        return np.minimum(total, 1.0)  # the shares may sum to 1 + 1e-16

    def _log_density(self, omega):
        used = [(share, kernel) for share, kernel in zip(self._shares, self.kernels, strict=True) if share > 0]
        logs = np.stack([kernel._log_density(omega) for _, kernel in used])
        return logsumexp(logs, axis=0, b=np.array([share for share, _ in used])[:, None])

    def _sample(self, rng, n_frequencies, n_features):
        omega = np.empty((n_frequencies, n_features))
        for kernel, rows in self._chosen(rng.random(n_frequencies)):
            omega[rows] = kernel._sample(rng, len(rows), n_features)
        return omega

    def _scales(self, rng, n_frequencies):
        if not self.is_rotation_invariant:
            return super()._scales(rng, n_frequencies)
        scales = np.empty(n_frequencies)
        for kernel, rows in self._chosen(rng.random(n_frequencies)):
            scales[rows] = kernel._scales(rng, len(rows))
        return scales

    def _quantiles(self, uniforms):
        d = self._n_columns(uniforms.shape[1])
        omega = np.empty((len(uniforms), d))
        for kernel, rows in self._chosen(uniforms[:, 0]):
            omega[rows] = kernel._quantiles(uniforms[rows, 1 : 1 + kernel.uniforms_per_frequency(d)])
        return omega

    def _chosen(self, uniforms) -> list[tuple[SpectralKernel, np.ndarray]]:
        """Return each kernel that a uniform number chooses, with the positions of these numbers."""
        which = np.minimum(np.searchsorted(np.cumsum(self._shares), uniforms, side="right"), len(self.kernels) - 1)
        return [(kernel, rows) for i, kernel in enumerate(self.kernels) if len(rows := np.flatnonzero(which == i))]

    @property
    def coordinate_variance(self) -> float | np.ndarray:
        """sum_i w_i times that of kernel i."""
        used = zip(self._shares, self.kernels, strict=True)
        return sum((share * kernel.coordinate_variance for share, kernel in used if share > 0), 0.0)


@dataclass(frozen=True)
class ProductKernel(ComposedKernel):
    """The product of kernels, with sums of independent frequencies, one of each kernel.

    Its spectral measure is the convolution of theirs (Rasmussen and Williams 2006, Section 4.2.4). The density is known
    if all kernels are Gaussian: then the variances of the frequencies add up.

    Parameters
    ----------
    kernels : tuple of SpectralKernel
        At least one. A width may be "scale".

    Raises
    ------
    ValueError
        If `kernels` is no such tuple.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> X = np.array([[0.0], [0.5]])
    >>> kernel = rff.ProductKernel((rff.GaussianKernel(1.0), rff.PeriodicKernel(period=1.0)))
    >>> bool(np.allclose(kernel(X), rff.GaussianKernel(1.0)(X) * rff.PeriodicKernel(period=1.0)(X)))
    True
    """

    kernels: tuple[SpectralKernel, ...] = (GaussianKernel(), GaussianKernel())

    def __post_init__(self) -> None:
        self._check_kernels()

    def _uniforms(self, n_features):
        return sum(self._uniforms_of_parts(n_features))

    def _matrix(self, X, Y):
        return reduce(np.multiply, [kernel._matrix(X, Y) for kernel in self.kernels])

    def _log_density(self, omega):
        if not all(isinstance(kernel, GaussianKernel | AnisotropicGaussianKernel) for kernel in self.kernels):
            names = ", ".join(type(kernel).__name__ for kernel in self.kernels)
            raise ValueError(f"ProductKernel of {names} has no density in closed form; only Gaussian kernels have one.")
        lengths = np.broadcast_to(np.asarray(self.coordinate_variance) ** -0.5, omega.shape[1])
        return AnisotropicGaussianKernel(tuple(lengths.tolist()))._log_density(omega)

    def _sample(self, rng, n_frequencies, n_features):
        return reduce(np.add, [kernel._sample(rng, n_frequencies, n_features) for kernel in self.kernels])

    def _scales(self, rng, n_frequencies):
        """Draw scales: a sum of independent N(0, s_i^2 I) is N(0, sum_i s_i^2 I)."""
        if not self.is_rotation_invariant:
            return super()._scales(rng, n_frequencies)
        return reduce(np.hypot, [kernel._scales(rng, n_frequencies) for kernel in self.kernels])

    def _quantiles(self, uniforms):
        needed = self._uniforms_of_parts(self._n_columns(uniforms.shape[1]))
        parts = np.split(uniforms, np.cumsum(needed)[:-1], axis=1)
        return reduce(np.add, [kernel._quantiles(part) for kernel, part in zip(self.kernels, parts, strict=True)])

    @property
    def coordinate_variance(self) -> float | np.ndarray:
        """The sum of those of the kernels."""
        return sum((kernel.coordinate_variance for kernel in self.kernels), 0.0)
