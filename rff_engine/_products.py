"""Dense products, Gram matrices and factorisations, for the solver of linear SVMs.

All of them use SciPy's BLAS, like the factorisations: NumPy has its own BLAS, and idle threads of one compete with
working threads of the other. Symmetric matrices are in Fortran order, and only their lower triangle is formed and read.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_blas_funcs, get_lapack_funcs

# Above this size a factorisation is worth several threads, and float64 is expensive for float32 features.
LARGE_SYSTEM = 2048
_COLUMNS_AT_A_TIME = 1024


def gram_matrix(Z, gram=None):
    """Compute `linear.gram_matrix` of a validated dense or CSR array."""
    n, F = Z.shape
    if gram is None:
        precise = sp.issparse(Z) or n <= LARGE_SYSTEM
        gram = np.zeros((n, n), dtype=np.float64 if precise else Z.dtype, order="F")
    if sp.issparse(Z):
        gram += (Z @ Z.T).toarray()
        return gram
    step = F if Z.dtype == gram.dtype else _COLUMNS_AT_A_TIME
    for start in range(0, F, step):
        some = np.ascontiguousarray(Z[:, start : start + step], dtype=gram.dtype)
        gram = add_products(gram, some.T, 1.0, transposed=True)
    return gram


def add_products(total, A, sign, transposed=False):
    """Add sign A A' (A'A if `transposed`) to the lower triangle of `total`, in place; both in Fortran order."""
    syrk = get_blas_funcs("syrk", (total, A))
    return syrk(sign, A, beta=1.0, c=total, trans=int(transposed), lower=1, overwrite_c=1)


def matvec(Z, v):
    """Compute Z v in float64."""
    if sp.issparse(Z):
        return np.asarray(Z @ v, dtype=np.float64)
    return get_blas_funcs("gemv", (Z,))(1.0, Z.T, v.astype(Z.dtype, copy=False), trans=1).astype(np.float64)


def rmatvec(Z, v):
    """Compute Z' v in float64."""
    if sp.issparse(Z):
        return np.asarray(Z.T @ v, dtype=np.float64)
    return get_blas_funcs("gemv", (Z,))(1.0, Z.T, v.astype(Z.dtype, copy=False)).astype(np.float64)


def lower_submatrix(K, rows):
    """Return the lower triangle of K on the given ascending rows and columns, in Fortran order."""
    return K.T[np.ix_(rows, rows)].T


def symmetric_matvec(K, v):
    """Compute K v in float64 from the lower triangle of K."""
    return get_blas_funcs("symv", (K,))(1.0, K, v.astype(K.dtype, copy=False), lower=1).astype(np.float64)


def cholesky_solver(A, shift, dtype=None):
    """Return a function of b that solves (A + shift I) x = b. A is positive semidefinite; its lower triangle is read.

    The shift grows if rounding leaves A indefinite. A shift too large for float32 is computed in float64.
    """
    dtype = A.dtype if dtype is None else dtype
    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), dtype=dtype)
    diagonal = A.diagonal().astype(np.float64)
    smallest = float(np.finfo(dtype).eps) * max(float(diagonal.sum()), np.finfo(np.float64).tiny)
    while True:
        if dtype == np.float32 and float(diagonal.max(initial=0.0)) + shift > float(np.finfo(np.float32).max):
            return cholesky_solver(A, shift, np.float64)
        shifted = np.array(A, dtype=dtype, order="F")
        np.fill_diagonal(shifted, diagonal + shift)
        triangle, info = potrf(shifted, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return lambda b: potrs(triangle, b.astype(dtype), lower=1)[0].astype(np.float64)
        shift = max(10 * shift, smallest)
