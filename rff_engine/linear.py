"""Linear support vector machines over a whole path of C, each C started from the one before.

The objective is that of scikit-learn's ``LinearSVC`` (squared hinge, two classes), solved to its optimum by
Newton's method. Nothing is chosen here: which C is best, and how features are scaled, is the caller's business.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ._validation import as_labels, as_numbers, as_points, check_positive

__all__ = ["error_rate", "linear_svm_batch", "linear_svm_decision", "linear_svm_path"]

# The objective F is 1-strongly convex, so half its squared gradient norm bounds F - min F.
_RELATIVE_GAP = 1e-11
_MAX_NEWTON_STEPS = 200
_ROWS_AT_A_TIME = 4096


class _PrimalForm:
    """Points u = (w, b) of dimension F + 1; Newton systems of that size."""

    def __init__(self, Z):
        self.Z, (self.n, n_features) = Z, Z.shape
        self.size = n_features + 1
        self._rows = np.zeros(self.n, dtype=bool)
        self._second_moment = np.zeros((self.size, self.size))

    def decision(self, u):
        return self.Z @ u[:-1] + u[-1]

    def pull_back(self, values):
        """sum_i values_i (z_i, 1)."""
        return np.append(self.Z.T @ values, values.sum())

    def inner(self, u, v, decision_v):
        return float(u @ v)

    def squared_norm(self, u):
        return float(u @ u)

    def newton_point(self, active, y, C):
        """The minimiser, were the active rows to stay active: (I/(2C) + S) u = sum_active y_i (z_i, 1)."""
        pulled = self.pull_back(np.where(active, y, 0.0))
        self._move_to(active)
        return _solve_shifted(self._second_moment, 0.5 / C, pulled)

    def _move_to(self, active):
        """Make `_second_moment` the sum of (z, 1)(z, 1)' over the active rows, by difference if that is less work."""
        entering, leaving = active & ~self._rows, self._rows & ~active
        if entering.sum() + leaving.sum() < active.sum():
            self._second_moment += self._moment_of(entering) - self._moment_of(leaving)
        else:
            self._second_moment = self._moment_of(active)
        self._rows = active.copy()

    def _moment_of(self, rows):
        total = np.zeros((self.size, self.size))
        rows = np.flatnonzero(rows)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            Z = self.Z[rows[start : start + _ROWS_AT_A_TIME]]
            total[:-1, :-1] += _dense(Z.T @ Z)
            sums = np.asarray(Z.sum(axis=0)).ravel()
            total[-1, :-1] += sums
            total[:-1, -1] += sums
            total[-1, -1] += Z.shape[0]
        return total

    def weights(self, u):
        return u[:-1], u[-1]


class _GramForm:
    """Points alpha of dimension n, for (w, b) = sum_i alpha_i (z_i, 1); Newton systems on the active rows."""

    def __init__(self, Z):
        self.Z, self.n = Z, Z.shape[0]
        self.size = self.n
        self.K = _dense(Z @ Z.T) + 1.0

    def decision(self, alpha):
        return self.K @ alpha

    def pull_back(self, values):
        return values

    def inner(self, alpha, other, decision_other):
        return float(alpha @ decision_other)

    def squared_norm(self, alpha):
        return float(alpha @ (self.K @ alpha))

    def newton_point(self, active, y, C):
        """(I/(2C) + K_II) alpha_I = y_I on the active rows I, zero elsewhere."""
        rows = np.flatnonzero(active)
        alpha = np.zeros(self.n)
        alpha[rows] = _solve_shifted(self.K[np.ix_(rows, rows)], 0.5 / C, y[rows])
        return alpha

    def weights(self, alpha):
        return self.Z.T @ alpha, alpha.sum()


def _dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def _solve_shifted(A, shift, b):
    """Solve (A + shift I) x = b, A positive semidefinite; the shift grows if rounding leaves A indefinite."""
    if len(b) == 0:
        return b
    smallest = np.finfo(np.float64).eps * max(float(np.trace(A)), np.finfo(np.float64).tiny)
    while True:
        shifted = A.copy()
        shifted.flat[:: len(b) + 1] += shift
        try:
            # A is symmetric: its transpose is the column order that LAPACK works in.
            return cho_solve(cho_factor(shifted.T, overwrite_a=True, check_finite=False), b, check_finite=False)
        except LinAlgError:
            shift = max(10 * shift, smallest)


def _line_minimum(slope, curvature, margin, change, C):
    """The s >= 0 that minimises slope s + curvature s^2 / 2 + C sum max(0, margin_i - s change_i)^2, exactly.

    The derivative is increasing and piecewise linear, with a kink where a margin changes sign: its pieces are
    summed in the order of the kinks and its root is found in one of them. Sums are over the last axis of `margin`
    and `change`; `slope`, `curvature` and the answer have their other axes.
    """
    violated = (margin > 0) | ((margin == 0) & (change < 0))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        kink = margin / change
    kink[~(kink > 0)] = np.inf  # behind, or none
    order = np.argsort(kink, axis=-1, kind="stable")
    ends, margin, change, left = (np.take_along_axis(a, order, axis=-1) for a in (kink, margin, change, violated))
    sign = np.where(np.isinf(ends), 0.0, np.where(left, -1.0, 1.0))  # a violator leaves at its kink, another row enters

    def pieces(values):
        first = np.where(left, values, 0.0).sum(axis=-1, keepdims=True)
        return 2 * C * np.concatenate([first, sign * values], axis=-1).cumsum(axis=-1)

    intercepts = slope[..., None] - pieces(change * margin)
    slopes = curvature[..., None] + pieces(change**2)
    with np.errstate(invalid="ignore"):
        rises = np.isinf(ends) | (intercepts[..., :-1] + slopes[..., :-1] * ends >= 0)
    piece = np.argmax(np.insert(rises, rises.shape[-1], True, axis=-1), axis=-1)[..., None]
    edges = np.insert(ends, 0, 0.0, axis=-1)
    start = np.take_along_axis(edges, piece, axis=-1)
    end = np.take_along_axis(np.insert(ends, ends.shape[-1], np.inf, axis=-1), piece, axis=-1)
    intercept, slope = (np.take_along_axis(a, piece, axis=-1) for a in (intercepts, slopes))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slope > 0, np.clip(-intercept / slope, start, end), start)[..., 0]


def _minimise(form, y, C, point):
    """Newton's method from `point` (Chapelle 2007), with an exact line search (Keerthi and DeCoste 2005)."""
    decision = form.decision(point)
    for _ in range(_MAX_NEWTON_STEPS):
        margin = 1 - y * decision
        active = margin > 0
        residual = np.where(active, margin, 0.0)
        gradient = point - form.pull_back(2 * C * y * residual)
        objective = 0.5 * form.inner(point, point, decision) + C * float(residual @ residual)
        if 0.5 * form.squared_norm(gradient) <= _RELATIVE_GAP * objective:
            break
        direction = form.newton_point(active, y, C) - point
        change = form.decision(direction)
        slope, curvature = (np.float64(form.inner(u, direction, change)) for u in (point, direction))
        step = _line_minimum(slope, curvature, margin, y * change, C)
        if not step > 0:  # rounding: no descent is left in this direction
            break
        point, decision = point + step * direction, decision + step * change
    return point


def linear_svm_path(features, y, C_values, form="auto"):
    """Linear SVMs with the squared hinge loss, one for each C.

    Each minimises ``0.5 (||w||^2 + b^2) + C sum_i max(0, 1 - y_i (w . z_i + b))^2``, the objective of
    scikit-learn's ``LinearSVC`` with ``intercept_scaling=1``: the intercept is regularised. Newton's method with
    the margin violators as active set (Chapelle 2007, "Training a support vector machine in the primal"), in
    float64, starts each C from the solution of the next smaller one. It stops when
    ``0.5 ||gradient||^2 <= 1e-11 objective``, which puts the objective within a part 1e-11 of its minimum, or when
    rounding leaves no descent (huge C), or after 200 steps.

    Parameters
    ----------
    features : array or CSR matrix of shape (n, F)
        float32 or float64.
    y : array of shape (n,)
        Two classes, of any labels; the larger label is the positive class.
    C_values : array of shape (n_C,)
        Above 0, in any order.
    form : {"auto", "primal", "gram"}
        Solve for the F + 1 weights, or for n coefficients through the (n, n) matrix of inner products, which is
        formed once. "auto" takes the first when F <= n/2, for the active rows soon are fewer than n. The results
        agree.

    Returns
    -------
    coef : ndarray of shape (n_C, F)
    intercept : ndarray of shape (n_C,)
        In the order of `C_values`.

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, there are not exactly two classes, or a C is not above 0.
    """
    Z = as_points(features, "features").astype(np.float64, copy=False)
    signs = _two_class_signs(y, Z.shape[0])
    C_values = _check_C(C_values)
    if form not in ("auto", "primal", "gram"):
        raise ValueError(f"form is {form!r}; it must be 'auto', 'primal' or 'gram'.")
    primal = form == "primal" or (form == "auto" and 2 * Z.shape[1] <= Z.shape[0])
    solver = _PrimalForm(Z) if primal else _GramForm(Z)

    coef, intercept = np.empty((len(C_values), Z.shape[1])), np.empty(len(C_values))
    point = np.zeros(solver.size)
    for i in np.argsort(C_values, kind="stable"):
        point = _minimise(solver, signs, C_values[i], point)
        coef[i], intercept[i] = solver.weights(point)
    return coef, intercept


def linear_svm_batch(features, y, C: float):
    """Linear SVMs on the same labels and at the same C, each with its own features.

    Each is the SVM that `linear_svm_path` gives, by the same Newton steps (Chapelle 2007) to the same precision, but
    the steps are taken for all of them at once: a hundred small problems cost little more than their arithmetic.

    Parameters
    ----------
    features : array of shape (R, n, F)
        A problem with fewer features than others is filled up with zeros.
    y : array of shape (n,)
        Two classes, of any labels; the larger label is the positive class.
    C : float
        Above 0.

    Returns
    -------
    coef : ndarray of shape (R, F)
    intercept : ndarray of shape (R,)

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, there are not exactly two classes, or C is not above 0.
    """
    features = as_numbers(features, "features")
    if features.ndim != 3:
        raise ValueError(f"features has shape {features.shape}; three dimensions, (R, n, F), are needed.")
    R, n, _ = features.shape
    y, C = _two_class_signs(y, n), check_positive(C, "C")
    Z = np.concatenate([features, np.ones((R, n, 1))], axis=2)
    everywhere = Z.transpose(0, 2, 1) @ Z if Z.shape[2] <= n else [None] * R
    point, decision = np.zeros((R, Z.shape[2])), np.zeros((R, n))
    for _ in range(_MAX_NEWTON_STEPS):
        margin = 1 - y * decision
        active = margin > 0
        residual = np.where(active, margin, 0.0)
        gradient = point - 2 * C * _pull_back(Z, y * residual)
        objective = 0.5 * (point**2).sum(axis=1) + C * (residual**2).sum(axis=1)
        unsolved = np.flatnonzero(0.5 * (gradient**2).sum(axis=1) > _RELATIVE_GAP * objective)
        if len(unsolved) == 0:
            break
        direction = np.zeros_like(point)
        for r in unsolved:
            direction[r] = _newton_point(Z[r], active[r], y, C, everywhere[r]) - point[r]
        change = (Z @ direction[:, :, None])[:, :, 0]
        slope, curvature = (point * direction).sum(axis=1), (direction**2).sum(axis=1)
        step = _line_minimum(slope, curvature, margin, y * change, C)[:, None]
        if not step[unsolved].any():  # rounding: no descent is left in these directions
            break
        point, decision = point + step * direction, decision + step * change
    return point[:, :-1], point[:, -1]


def _pull_back(Z, values):
    """sum_i values_i z_i of each problem."""
    return (values[:, None, :] @ Z)[:, 0, :]


def _newton_point(Z, active, y, C, everywhere):
    """The minimiser, were the active rows A of Z to stay active; `everywhere` is Z'Z.

    (I/(2C) + A'A) u = A'y, or u = A'v with (I/(2C) + AA') v = y: the smaller system.
    """
    rows = Z[active]
    if len(rows) < Z.shape[1]:
        return rows.T @ _solve_shifted(rows @ rows.T, 0.5 / C, y[active])
    if 2 * len(rows) < len(Z):
        moment = rows.T @ rows
    else:
        others = Z[~active]
        moment = everywhere - others.T @ others
    return _solve_shifted(moment, 0.5 / C, rows.T @ y[active])


def error_rate(decision, y) -> float:
    """The fraction of points on the wrong side.

    Parameters
    ----------
    decision : array of shape (n,)
        Decision values; a value above 0 speaks for the larger label.
    y : array of shape (n,)
        Labels of two classes, both present.

    Returns
    -------
    float
    """
    return float(np.mean((np.asarray(decision) > 0) != (np.asarray(y) == np.max(y))))


def linear_svm_decision(features, coef, intercept):
    """Decision values of a path of linear SVMs; above 0 stands for the larger label.

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
    coef = as_points(coef, "coef")
    Z = as_points(features, "features", n_features=coef.shape[1])
    intercept = np.asarray(intercept, dtype=np.float64)
    if intercept.shape != (len(coef),):
        raise ValueError(f"intercept has shape {intercept.shape}; one value a row of coef, {len(coef)}, is needed.")
    return np.asarray(Z @ coef.T).T + intercept[:, None]


def _two_class_signs(y, n):
    classes, codes = as_labels(y, n)
    if len(classes) != 2:
        raise ValueError(f"y holds {len(classes)} classes; a linear SVM path is for exactly 2.")
    return 2.0 * codes - 1.0


def _check_C(C_values):
    C_values = np.asarray(C_values, dtype=np.float64)
    if C_values.ndim != 1 or C_values.size == 0:
        raise ValueError(f"C_values has shape {C_values.shape}; a list of at least one number is needed.")
    bad = C_values[~(np.isfinite(C_values) & (C_values > 0))]
    if bad.size:
        raise ValueError(f"C_values contains {bad[0]:g}; every C must be a finite number above 0.")
    return C_values
