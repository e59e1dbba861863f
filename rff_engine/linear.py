"""Linear support vector machines over a whole path of C, each C started from the one before.

The objective is the one of scikit-learn's ``LinearSVC`` (squared hinge, two classes), solved to its optimum by
Newton's method. The caller scales the features and selects C.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from . import _products
from ._newton import (
    MAX_NEWTON_STEPS,
    RELATIVE_GAP,
    GramForm,
    PrimalForm,
    gram_pays,
    line_minimum,
    minimise,
    threads_for,
)
from ._products import cholesky_solver
from ._typing import ArrayLike, MatrixLike
from ._validation import (
    as_array,
    as_labels,
    as_numbers,
    as_points,
    check_choice,
    check_positive,
    check_range,
    check_size,
    widened_for_squares,
)

# Limits below which the terms of Newton's method are far from overflow.
_LARGEST_FEATURE, _LARGEST_C, _LARGEST_FLOAT32_C = 1e40, 1e30, 1e16

__all__ = ["error_rate", "gram_matrix", "gram_pays", "linear_svm_batch", "linear_svm_decision", "linear_svm_path"]


def gram_matrix(Z: MatrixLike, gram: ArrayLike | None = None) -> np.ndarray:
    """Compute inner products of points, for `linear_svm_path`: the lower triangle of Z Z', or of `gram` + Z Z'.

    Parameters
    ----------
    Z : array or CSR matrix of shape (n, F)
    gram : array of shape (n, n), optional
        An earlier result, added to in place.

    Returns
    -------
    ndarray of shape (n, n), in Fortran order
        Entries above the diagonal are undefined. The dtype is float64 unless `Z` is a float32 array of many rows.

    Raises
    ------
    ValueError
        If `Z` has a wrong shape or a value that is not finite.
    """
    return _products.gram_matrix(as_points(Z, "Z"), gram)


def linear_svm_path(
    features: MatrixLike, y: ArrayLike, C_values: ArrayLike, form: str = "auto", gram: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Fit linear SVMs with the squared hinge loss, one for each C.

    Each minimises ``0.5 (||w||^2 + b^2) + C sum_i max(0, 1 - y_i (w . z_i + b))^2``, the objective of
    scikit-learn's ``LinearSVC`` with ``intercept_scaling=1``: the intercept is regularised. Newton's method with
    the margin violators as active set (Chapelle 2007, "Training a support vector machine in the primal") starts each
    C from the solution of the next smaller one. Conjugate gradients solve its systems at small C, a factorisation at
    larger ones. It stops when the last step was to lower the objective by less than 1e-11 of it (1e-8 for
    float32 features), when rounding leaves no descent (huge C), or after 200 steps.

    Parameters
    ----------
    features : array or CSR matrix of shape (n, F)
        float32 or float64, up to 1e40 in size. Products of a large float32 array are made in float32 where that is
        precise enough, all others in float64; the answer is float64.
    y : array of shape (n,)
        Two classes, of any labels; the larger label is the positive class.
    C_values : array of shape (n_C,)
        Above 0, from 1e-30 to 1e30, in any order.
    form : {"auto", "primal", "gram"}
        Solve for the F + 1 weights, or for n coefficients through the (n, n) matrix of inner products, which is
        formed once. "auto" takes the first if F is small compared to n, or if the matrix would take more than 1 GiB.
        The results agree.
    gram : array of shape (n, n), optional
        Inner products of the rows of `features`, if known, see `gram_matrix`: only the lower triangle is read. Used by
        `form` "gram".

    Returns
    -------
    coef : ndarray of shape (n_C, F)
    intercept : ndarray of shape (n_C,)
        In the order of `C_values`.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not allowed, or there are not exactly two classes.

    Examples
    --------
    >>> import numpy as np, rff_engine as rff
    >>> Z, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["a", "a", "b", "b"])
    >>> coef, intercept = rff.linear_svm_path(Z, y, [1.0, 100.0])
    >>> coef.round(3).ravel(), bool(np.abs(intercept).max() < 1e-6)
    (array([0.8  , 0.998]), True)
    """
    Z = as_points(features, "features")
    check_size(Z.data if sp.issparse(Z) else Z, "features", _LARGEST_FEATURE)
    n, F = Z.shape
    signs = _two_class_signs(y, n)
    C_values = _check_C(C_values)
    if sp.issparse(Z) or C_values.max() > _LARGEST_FLOAT32_C:
        Z = Z.astype(np.float64, copy=False)
    if not sp.issparse(Z):
        Z = np.ascontiguousarray(widened_for_squares(Z))
    check_choice(form, "form", ("auto", "primal", "gram"))
    if gram is not None:
        gram = as_array(gram, "gram")
        if gram.shape != (n, n):
            raise ValueError(f"gram has shape {gram.shape}; {(n, n)} is needed, one row and column a row of features.")
        given = as_points(gram, "gram", dense=True)
        gram = given if given.dtype == Z.dtype or Z.dtype == np.float32 else given.astype(np.float64)
    if form == "auto":
        form = "gram" if gram_pays(n, F, Z.dtype) else "primal"
    solver = GramForm(Z, gram) if form == "gram" else PrimalForm(Z)

    points = np.empty((len(C_values), solver.size))
    point = np.zeros(solver.size)
    with threads_for(solver.size):
        for i in np.argsort(C_values, kind="stable"):
            solver.prepare(point, signs, C_values[i])
            points[i] = point = minimise(solver, signs, C_values[i], point)
        return solver.weights(points)


def linear_svm_batch(features: ArrayLike, y: ArrayLike, C: float) -> tuple[np.ndarray, np.ndarray]:
    """Fit linear SVMs to the same labels and at the same C, each on its own features.

    Each is the SVM of `linear_svm_path`, by the same Newton steps (Chapelle 2007) to the same precision. The steps are
    taken for all SVMs at once, which saves the overhead of many small problems.

    Parameters
    ----------
    features : array of shape (R, n, F)
        Problems with fewer features than others are padded with zeros.
    y : array of shape (n,)
        Two classes, of any labels; the larger label is the positive class.
    C : float
        Above 0, from 1e-30 to 1e30.

    Returns
    -------
    coef : ndarray of shape (R, F)
    intercept : ndarray of shape (R,)

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, there are not exactly two classes, or C is not allowed.
    """
    features = as_numbers(features, "features", _LARGEST_FEATURE)
    if features.ndim != 3:
        raise ValueError(f"features has shape {features.shape}; three dimensions, (R, n, F), are needed.")
    R, n, _ = features.shape
    y = _two_class_signs(y, n)
    C = check_range(check_positive(C, "C"), "C", 1 / _LARGEST_C, _LARGEST_C)
    Z = np.concatenate([features, np.ones((R, n, 1))], axis=2)
    everywhere = Z.transpose(0, 2, 1) @ Z if Z.shape[2] <= n else [None] * R
    point = np.zeros((R, Z.shape[2]))
    decision = np.zeros((R, n))
    for _ in range(MAX_NEWTON_STEPS):
        margin = 1 - y * decision
        active = margin > 0
        residual = np.where(active, margin, 0.0)
        gradient = point - 2 * C * ((y * residual)[:, None, :] @ Z)[:, 0, :]
        objective = 0.5 * (point**2).sum(axis=1) + C * (residual**2).sum(axis=1)
        unsolved = np.flatnonzero(0.5 * (gradient**2).sum(axis=1) > RELATIVE_GAP[point.dtype] * objective)
        if len(unsolved) == 0:
            break
        direction = np.zeros_like(point)
        for r in unsolved:
            direction[r] = _newton_point(Z[r], active[r], y, C, everywhere[r]) - point[r]
        change = (Z @ direction[:, :, None])[:, :, 0]
        slope = (point * direction).sum(axis=1)
        curvature = (direction**2).sum(axis=1)
        step = line_minimum(slope, curvature, margin, y * change, C)[:, None]
        if not step[unsolved].any():  # rounding: no descent is left in these directions
            break
        point, decision = point + step * direction, decision + step * change
    return point[:, :-1], point[:, -1]


def _newton_point(Z, active, y, C, everywhere):
    """Return the minimiser if the active rows A of Z stay active; `everywhere` is Z'Z.

    (I/(2C) + A'A) u = A'y, or u = A'v with (I/(2C) + AA') v = y: the smaller system.
    """
    rows = Z[active]
    if len(rows) == 0:
        return np.zeros(Z.shape[1])
    if len(rows) < Z.shape[1]:
        return rows.T @ cholesky_solver(rows @ rows.T, 0.5 / C)(y[active])
    if 2 * len(rows) < len(Z):
        moment = rows.T @ rows
    else:
        others = Z[~active]
        moment = everywhere - others.T @ others
    return cholesky_solver(moment, 0.5 / C)(rows.T @ y[active])


def error_rate(decision: ArrayLike, y: ArrayLike) -> float:
    """Compute the fraction of points on the wrong side.

    Parameters
    ----------
    decision : array of shape (n,)
        Decision values; a value above 0 stands for the larger label.
    y : array of shape (n,)
        Labels of two classes, both present.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not a number, or labels are of different types.
    """
    decision = as_numbers(decision, "decision", np.inf)
    if decision.ndim != 1:
        raise ValueError(f"decision has shape {decision.shape}; one dimension, (n,), is needed.")
    classes, codes = as_labels(y, decision.size, min_classes=1)
    return float(np.mean((decision > 0) != (codes == len(classes) - 1)))


def linear_svm_decision(features: MatrixLike, coef: ArrayLike, intercept: ArrayLike) -> np.ndarray:
    """Compute decision values of a path of linear SVMs; above 0 stands for the larger label.

    Parameters
    ----------
    features : array or CSR matrix of shape (n, F)
    coef : array of shape (n_C, F)
    intercept : array of shape (n_C,)

    Returns
    -------
    ndarray of shape (n_C, n)

    Raises
    ------
    ValueError
        If a shape is wrong or a value is not finite.
    """
    coef = as_points(coef, "coef", dense=True)
    Z = as_points(features, "features", n_features=coef.shape[1])
    intercept = as_numbers(intercept, "intercept", np.inf)
    if intercept.shape != (len(coef),):
        raise ValueError(f"intercept has shape {intercept.shape}; one value a row of coef, {len(coef)}, is needed.")
    return np.asarray(Z @ coef.T).T + intercept[:, None]


def _two_class_signs(y, n):
    classes, codes = as_labels(y, n)
    if len(classes) != 2:
        raise ValueError(f"y holds {len(classes)} classes; a linear SVM path is for exactly 2.")
    return 2.0 * codes - 1.0


def _check_C(C_values):
    C_values = as_numbers(C_values, "C_values", np.inf)
    if C_values.ndim != 1 or C_values.size == 0:
        raise ValueError(f"C_values has shape {C_values.shape}; a list of at least one number is needed.")
    bad = C_values[~((C_values >= 1 / _LARGEST_C) & (C_values <= _LARGEST_C))]
    if bad.size:
        raise ValueError(
            f"C_values contains {bad[0]:g}; every C must be a number between {1 / _LARGEST_C:g} and {_LARGEST_C:g}."
        )
    return C_values
