"""Ridge regression over a path of regularizations: on features, and on a kernel matrix by the representer theorem.

Both minimise the mean of half the squared errors plus lambda / 2 times the squared norm of the function. On the
features of a kernel approximation the cost grows with n linearly, on the kernel matrix with its cube.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ._products import cholesky_solver
from ._typing import ArrayLike, MatrixLike
from ._validation import as_numbers, as_points, check_fits, check_size

__all__ = ["kernel_ridge_path", "ridge_path"]

# Limits below which products are far from overflow.
_LARGEST_FEATURE, _LARGEST_ENTRY, _LARGEST_LAMBDA = 1e40, 1e80, 1e30


def ridge_path(
    features: MatrixLike, y: ArrayLike, lambdas: ArrayLike, intercept: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Fit ridge regressions on features, one for each lambda (Hoerl and Kennard 1970).

    Each minimises ``||Z w + b - y||^2 / (2 n) + lambda ||w||^2 / 2``, Z the features: without an intercept b,
    ``w = (Z'Z / n + lambda I)^-1 Z'y / n``. The intercept is not regularised. scikit-learn's ``Ridge`` with
    ``alpha = n lambda`` is the same. All share one eigendecomposition, of the smaller of Z'Z and ZZ': the cost is
    O(min(n, F)^2 max(n, F)).

    Parameters
    ----------
    features : array or CSR matrix of shape (n, F)
        Up to 1e40 in size; a CSR matrix is made dense.
    y : array of shape (n,) or (n, T)
        Targets; the columns of a matrix are T regressions.
    lambdas : array of shape (n_lambda,)
        From 1e-30 to 1e30, in any order. One that is lost in the rounding of Z'Z / n gives least squares of least norm.
    intercept : bool
        Whether there is an intercept; else it is 0.

    Returns
    -------
    coef : ndarray of shape (n_lambda, F) or (n_lambda, F, T)
    intercept : ndarray of shape (n_lambda,) or (n_lambda, T)
        In the order of `lambdas`.

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not allowed.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> x = np.arange(5.0)[:, None]
    >>> coef, intercept = rff.ridge_path(x, 3 * x[:, 0] + 1, [1e-12, 1.0])
    >>> coef.round(3).ravel(), intercept.round(3)
    (array([3., 2.]), array([1., 3.]))
    """
    Z = as_points(features, "features")
    n, F = Z.shape
    check_fits(n * F * 2 + min(n, F) ** 2 * 2, f"features has shape {(n, F)}")
    Z = np.asarray(Z.toarray() if sp.issparse(Z) else Z, dtype=np.float64)
    check_size(Z, "features", _LARGEST_FEATURE)
    targets, columns = _targets(y, len(Z))
    shifts = len(Z) * _check_lambdas(lambdas)
    mean, centre = (Z.mean(axis=0), targets.mean(axis=0)) if intercept else (np.zeros(Z.shape[1]), np.zeros(columns))
    Z, targets = Z - mean, targets - centre
    wide = Z.shape[1] > len(Z)
    values, vectors = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    values, shifts = values.clip(min=0), shifts[:, None]
    along = vectors.T @ (targets if wide else Z.T @ targets)
    # If eigenvalue and shift are at the level of rounding, the target has only noise along the eigenvector.
    rounding = len(values) * np.finfo(float).eps * values[-1]
    inverse = np.where(np.maximum(values, shifts) > rounding, 1 / np.maximum(values + shifts, np.finfo(float).tiny), 0)
    solved = vectors @ (along * inverse[:, :, None])
    coef = Z.T @ solved if wide else solved
    offset = centre - np.einsum("f,lfk->lk", mean, coef)
    return (coef, offset) if np.ndim(y) == 2 else (coef[:, :, 0], offset[:, 0])


def kernel_ridge_path(K: ArrayLike, y: ArrayLike, lambdas: ArrayLike) -> np.ndarray:
    """Fit kernel ridge regressions, a lambda each (Kimeldorf and Wahba 1971; Saunders, Gammerman and Vovk 1998).

    The function in the kernel's reproducing kernel Hilbert space that minimises
    ``sum_i (f(x_i) - y_i)^2 / (2 n) + lambda ||f||^2 / 2`` is ``f = sum_i alpha_i k(., x_i)``, by the representer
    theorem, with ``alpha = (K + n lambda I)^-1 y``. At other points it is ``kernel(X_new, X) @ alpha``. The cost is
    O(n^3) for each lambda.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel matrix of the training points, positive semidefinite, up to 1e80 in size. Only its lower triangle is
        read. Where rounding leaves K + n lambda I indefinite, the shift grows to the level of rounding.
    y : array of shape (n,) or (n, T)
        Targets; the columns of a matrix are T regressions.
    lambdas : array of shape (n_lambda,)
        From 1e-30 to 1e30, in any order.

    Returns
    -------
    ndarray of shape (n_lambda, n) or (n_lambda, n, T)
        The coefficients alpha, in the order of `lambdas`.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not allowed, or a diagonal entry of `K` is negative.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> x, y = np.linspace(0, 3, 20)[:, None], np.sin(np.linspace(0, 3, 20))
    >>> K = rff.GaussianKernel(1.0)(x)
    >>> alpha = rff.kernel_ridge_path(K, y, [1e-6, 1.0])
    >>> alpha.shape, bool(np.abs(K @ alpha[0] - y).max() < 0.01)
    ((2, 20), True)
    """
    K = np.asarray(as_points(K, "K", dense=True), dtype=np.float64)
    check_size(K, "K", _LARGEST_ENTRY)
    n = len(K)
    if K.shape != (n, n):
        raise ValueError(f"K has shape {K.shape}; a square matrix, one row and column a training point, is needed.")
    if (lowest := K.diagonal().min()) < 0:
        raise ValueError(f"K has {lowest:g} on its diagonal; a kernel matrix has no negative number there.")
    targets, _ = _targets(y, n)
    alphas = np.array([cholesky_solver(K, n * value)(targets) for value in _check_lambdas(lambdas)])
    return alphas if np.ndim(y) == 2 else alphas[:, :, 0]


def _targets(y, n: int) -> tuple[np.ndarray, int]:
    """Return targets as an (n, T) array, and T."""
    y = as_numbers(y, "y")
    if y.ndim not in (1, 2) or len(y) != n or y.size == 0:
        raise ValueError(f"y has shape {y.shape}; {(n,)} or {(n, 'T')} is needed, one row a training point.")
    y = y.reshape(n, -1)
    return y, y.shape[1]


def _check_lambdas(lambdas) -> np.ndarray:
    lambdas = as_numbers(lambdas, "lambdas", np.inf)
    if lambdas.ndim != 1 or lambdas.size == 0:
        raise ValueError(f"lambdas has shape {lambdas.shape}; a list of at least one number is needed.")
    bad = lambdas[~((lambdas >= 1 / _LARGEST_LAMBDA) & (lambdas <= _LARGEST_LAMBDA))]
    if bad.size:
        raise ValueError(
            f"lambdas contains {bad[0]:g}; every lambda must be a number between {1 / _LARGEST_LAMBDA:g} and "
            f"{_LARGEST_LAMBDA:g}."
        )
    return lambdas
