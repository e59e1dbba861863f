"""Newton's method for the squared hinge loss, in either of two sets of coordinates.

The problem and its public functions are in `linear`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._blocks import blas_on_one_thread
from ._products import (
    LARGE_SYSTEM,
    add_products,
    cholesky_solver,
    gram_matrix,
    lower_submatrix,
    matvec,
    rmatvec,
    symmetric_matvec,
)

# The path stops at this gap to the optimum, a fraction of the objective.
RELATIVE_GAP = {np.dtype(np.float32): 1e-8, np.dtype(np.float64): 1e-11}
# Relative residual at which conjugate gradients stop; larger in the first step at each C, which changes most rows.
_FIRST_FORCING = 0.1
_FORCING = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-4}
MAX_NEWTON_STEPS = 200
# The full Newton step is taken if it leaves at most this fraction of the slope. Otherwise the best step is searched.
_SLOPE_LEFT = 0.1
# The method stops after so many factored steps in a row without a change of the active rows.
_SETTLED = 2
_ROWS_AT_A_TIME = 4096
_COLUMNS_AT_A_TIME = 1024
# Up to this size a factorisation costs no more than a few products.
_SMALL_SYSTEM = 400
# Limit of conjugate gradient steps if the matrix is too large to factorise.
_MAX_CG_STEPS = 1000
# The primal form is used if features times the first factor are fewer than rows. Small systems use the second factor:
# a Newton step there costs little, while the (n, n) matrix costs the same from the beginning.
_FEWER_FEATURES, _FEWER_IN_SMALL = 8, 2
# Memory limit of one matrix of the solver. Its factor takes as much again.
_MOST_BYTES = 2**30
# Estimated speeds, to choose between conjugate gradients and a factorisation. They are constants, so that results
# do not depend on the load of the machine.
_FLOPS, _BYTES = {np.dtype(np.float32): 5e10, np.dtype(np.float64): 3e10}, 1.5e10
# Inner products in float64 include rows with margins up to this above 1, so that they are seldom recomputed.
_NEARLY_ACTIVE = 0.2
# If rounding may change margins by more than this fraction, inner products are computed in float64.
_MOST_ROUNDING = 0.02
# Precision of sums over many rows: at large C, float32 sums may give no descent direction.
_SUM_DTYPE = np.dtype(np.float64)
# A float32 factor is accurate enough below this condition number.
_FLOAT32_CONDITION = 1e5


def gram_pays(n: int, n_features: int, dtype: np.dtype[Any]) -> bool:
    """Return whether `linear_svm_path` with form "auto" uses the (n, n) matrix of inner products."""
    fewer = _FEWER_IN_SMALL if n_features <= _SMALL_SYSTEM else _FEWER_FEATURES
    return n_features > n / fewer and n**2 * np.dtype(dtype).itemsize <= _MOST_BYTES


class _Form:
    """Coordinates of the SVM in which Newton's method works."""

    dtype: np.dtype
    can_factor = True
    constant: Any = 1.0
    """The last feature of each row, and its margin: for a row of weight w the root of w, as for all its features"""
    hopeless_from = np.inf
    """Smallest C at which conjugate gradients cost more than a factorisation"""
    forcing = _FIRST_FORCING
    rough = False
    """Whether the last system was solved by conjugate gradients"""

    def prepare(self, point, y, C):
        """Start solving for another C."""

    def force_factorization(self, C) -> bool:
        """Factorise from now on. Return whether that may give a descent direction after a step that gave none."""
        self.hopeless_from = min(self.hopeless_from, C)
        return self.rough and self.can_factor


class PrimalForm(_Form):
    """Points u = (w, b) of dimension F + 1; Newton systems of that size. Weights are for dense Z."""

    def __init__(self, Z, weights=None):
        if weights is not None:
            self.constant = np.sqrt(weights)
            Z = Z * self.constant[:, None]
        self.Z, (self.n, n_features) = Z, Z.shape
        self.dtype = Z.dtype
        self.size = n_features + 1
        self.can_factor = self.size**2 * _SUM_DTYPE.itemsize <= _MOST_BYTES
        self._rows = np.zeros(self.n, dtype=bool)
        self._second_moment = None
        self._products = 0

    def decision(self, u):
        return matvec(self.Z, u[:-1]) + u[-1] * self.constant

    def pull_back(self, values):
        """Return sum_i values_i (z_i, 1)."""
        return np.append(rmatvec(self.Z, values), (values * self.constant).sum())

    def system_size(self, active):
        return self.size

    def inner(self, u, v, decision_v):
        return float(u @ v)

    def squared_norm(self, u):
        return float(u @ u)

    def direction(self, point, decision, gradient, active, y, C, enough):
        """Return Newton's direction: (I/(2C) + sum_active (z, 1)(z, 1)') d = -gradient / (2C).

        A residual r of this system costs the objective at most 2 C^2 |r|^2; `enough` is the accepted cost.
        """
        shift, b = 0.5 / C, -gradient / (2 * C)

        def product(v, _=None):
            self._products += 1
            return shift * v + self.pull_back(np.where(active, self.decision(v), 0.0))

        enough = np.sqrt(enough / 2) / C
        self.rough = True
        if not self.can_factor or (self.size > _SMALL_SYSTEM and self.hopeless_from > C):
            most = self._products_for_a_factor(active) if self.can_factor else _MAX_CG_STEPS
            direction, solved = conjugate_gradients(product, b, self.forcing, enough, most)
            if solved or not self.can_factor:
                return direction
            self.hopeless_from = C
        self.rough = False
        self._move_to(active)
        return cholesky_solver(self._second_moment, shift)(b)

    def _products_for_a_factor(self, active) -> int:
        """Return the number of products that take as long as a factorisation.

        The first second moment is updated along the whole path, so all products before it count.
        """
        changed = min(np.count_nonzero(active != self._rows), np.count_nonzero(active))
        seconds = (changed * self.size**2 + self.size**3 / 3) / _FLOPS[_SUM_DTYPE]
        products = int(seconds / (2 * self.n * self.size * self.dtype.itemsize / _BYTES))
        return products if self._second_moment is not None else max(0, products - self._products)

    def _move_to(self, active):
        """Set `_second_moment` to the sum of (z, 1)(z, 1)' over the active rows, by differences if that is cheaper."""
        entering, leaving = active & ~self._rows, self._rows & ~active
        moment = self._second_moment
        if moment is None or entering.sum() + leaving.sum() >= active.sum():
            moment = np.zeros((self.size, self.size), dtype=_SUM_DTYPE, order="F")
            entering, leaving = active, np.zeros_like(active)
        moment = self._add_rows(moment, entering, 1.0)
        self._second_moment = self._add_rows(moment, leaving, -1.0)
        self._rows = active.copy()

    def _add_rows(self, moment, rows, sign):
        """Add `sign` times the sum of (z, 1)(z, 1)' over some rows to the lower triangle of `moment`."""
        rows = np.flatnonzero(rows)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            some = self.Z[rows[start : start + _ROWS_AT_A_TIME]]
            if sp.issparse(some):
                moment[:-1, :-1] += sign * (some.T @ some).toarray()
                sums = np.asarray(some.sum(axis=0)).ravel()
                moment[-1, :-1] += sign * sums
                moment[-1, -1] += sign * some.shape[0]
            else:
                padded = np.empty((len(some), self.size), dtype=_SUM_DTYPE)
                padded[:, :-1] = some
                padded[:, -1] = np.broadcast_to(self.constant, self.n)[rows[start : start + _ROWS_AT_A_TIME]]
                moment = add_products(moment, padded.T, sign)
        return moment

    def weights(self, points):
        return points[:, :-1], points[:, -1]


class GramForm(_Form):
    """Points alpha of dimension n, for (w, b) = sum_i alpha_i (z_i, 1); Newton systems on the active rows.

    Only the lower triangle of K, the matrix of inner products of the rows (z, 1), is formed and read.
    """

    def __init__(self, Z, gram=None):
        self.Z, self.n = Z, Z.shape[0]
        self.size = self.n
        self.K = gram_matrix(Z) if gram is None else np.array(gram, order="F")
        self.K += self.K.dtype.type(1.0)
        self.dtype = self.K.dtype
        self._largest = float(self.K.diagonal().max())
        self._careful = False
        self._held, self._held_Z, self._held_K = np.zeros(0, dtype=np.intp), None, None

    def prepare(self, point, y, C):
        """Start solving for another C, and decide whether float32 is precise enough.

        Coefficients are 2 C times a margin, so rounding in K changes margins more at larger C.
        """
        rows = np.count_nonzero(point) or self.n
        rounding = np.finfo(self.dtype).eps * 2 * C * self._largest * np.sqrt(rows)  # relative change of margins
        self._careful = self.dtype == np.float32 and rounding > _MOST_ROUNDING
        if self._careful:
            self._hold(np.flatnonzero(y * symmetric_matvec(self.K, point) < 1 + _NEARLY_ACTIVE))

    def decision(self, alpha):
        if self._careful:
            held = self._hold(np.flatnonzero(alpha))
            if len(held) == 0:
                return np.zeros(self.n)
            some = np.zeros(len(self._held))
            some[held] = alpha[self._held[held]]
            return matvec(self.Z, rmatvec(self._held_Z, some)) + some.sum()
        return symmetric_matvec(self.K, alpha)

    def pull_back(self, values):
        return values

    def system_size(self, active):
        return np.count_nonzero(active)

    def inner(self, alpha, other, decision_other):
        return float(alpha @ decision_other)

    def squared_norm(self, alpha):
        return float(alpha @ self.decision(alpha))

    def direction(self, point, decision, gradient, active, y, C, enough):
        """Return Newton's direction in coefficients: to (I/(2C) + K_II) alpha_I = y_I on active rows I, 0 elsewhere.

        Conjugate gradients, with inner products through K, give the direction of `PrimalForm`: always a descent.
        """
        shift, rows = 0.5 / C, np.flatnonzero(active)
        self.rough = not self._careful and len(rows) > _SMALL_SYSTEM and self.hopeless_from > C
        if self.rough:
            seconds = len(rows) ** 3 / 3 / _FLOPS[self.dtype]
            product_seconds = self.n**2 / 2 * self.dtype.itemsize / _BYTES
            direction, solved = conjugate_gradients(
                lambda v, K_v: shift * v + np.where(active, K_v, 0.0),
                -gradient / (2 * C),
                self.forcing,
                np.sqrt(enough / 2) / C,
                int(seconds / product_seconds),
                metric=self.decision,
            )
            if solved:
                return direction
            self.hopeless_from, self.rough = C, False
        direction = -point
        if self._careful:
            self._hold(np.flatnonzero(y * decision < 1 + _NEARLY_ACTIVE))
            if len(rows):
                K = lower_submatrix(self._held_K, self._hold(rows))
                direction[rows] += cholesky_solver(K, shift)(y[rows])
        elif len(rows):
            left = np.where(active, 0.0, point)
            reached = decision - self.decision(left) if left.any() else decision
            b = y[rows] - reached[rows] - shift * point[rows]
            K = lower_submatrix(self.K, rows)
            sharp = 2 * C * len(rows) * self._largest > _FLOAT32_CONDITION
            solve = cholesky_solver(K, shift, np.dtype(np.float64) if sharp else self.dtype)
            direction[rows] = solve(b)
            if not sharp:
                direction[rows] += solve(b - shift * direction[rows] - symmetric_matvec(K, direction[rows]))
        return direction

    def _hold(self, rows):
        """Keep rows and their inner products in float64, together with earlier ones. Return the positions of `rows`."""
        if len(np.setdiff1d(rows, self._held)):
            self._held = np.union1d(rows, self._held)
            self._held_Z = self.Z[self._held].astype(np.float64)
            self._held_K = gram_matrix(self._held_Z) + 1.0
        return np.searchsorted(self._held, rows)

    def weights(self, points):
        rows = np.flatnonzero(points.any(axis=0))
        some = np.ascontiguousarray(points[:, rows])
        if sp.issparse(self.Z):
            return some @ self.Z[rows], points.sum(axis=1)
        coef = np.empty((len(points), self.Z.shape[1]))
        for start in range(0, coef.shape[1], _COLUMNS_AT_A_TIME):
            columns = slice(start, start + _COLUMNS_AT_A_TIME)
            coef[:, columns] = some @ self.Z[rows, columns].astype(np.float64, copy=False)
        return coef, points.sum(axis=1)


def conjugate_gradients(product, b, rtol, atol, maxiter, metric=None):
    """Solve A x = b until the norm of the residual is below `rtol` of the norm of b, or below `atol`.

    Returns x, and whether `maxiter` steps were enough. `metric` times a vector gives its inner products with others
    (Euclidean by default), and `product(v, metric(v))` is A v.
    """
    x = np.zeros_like(b)
    r = b.copy()
    of_r = r if metric is None else metric(r)
    p, of_p, rho = r, of_r, r @ of_r
    target = max(rtol * np.sqrt(max(rho, 0.0)), atol)
    for _ in range(maxiter):
        q = product(p, of_p)
        step = rho / (of_p @ q)
        x += step * p
        r = r - step * q  # not in place: p is this array at first
        of_r = r if metric is None else metric(r)
        before, rho = rho, r @ of_r
        if rho <= target**2:
            return x, True
        p, of_p = r + (rho / before) * p, of_r + (rho / before) * of_p
    return x, False


def line_minimum(slope, curvature, margin, change, C):
    """Return the s >= 0 that minimises slope s + curvature s^2 / 2 + C sum max(0, margin_i - s change_i)^2, exactly.

    The derivative increases and is piecewise linear, with a kink where a margin changes sign. Its pieces are summed
    in the order of the kinks; one of them holds the root. Sums are over the last axis of `margin` and `change`;
    `slope`, `curvature` and the answer have their other axes.
    """
    violated = (margin > 0) | ((margin == 0) & (change < 0))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        kink = margin / change
    kink[~(kink > 0)] = np.inf  # at a negative step, or nowhere
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


def threads_for(size):
    """Return a context with one BLAS thread for small systems: several would mostly wait for each other."""
    return blas_on_one_thread() if size <= LARGE_SYSTEM else nullcontext()


def _full_step_will_do(slope, curvature, margin, residual, change, C) -> bool:
    """Return whether s = 1 lowers the objective of `line_minimum` and leaves little of its slope."""
    after = np.maximum(margin - change, 0.0)
    left = slope + curvature - 2 * C * (after @ change)
    lowered = slope + curvature / 2 + C * (after @ after - residual @ residual)
    return lowered < 0 and abs(left) <= _SLOPE_LEFT * abs(slope - 2 * C * (residual @ change))


def minimise(form, y, C, point):
    """Minimise by Newton's method from `point` (Chapelle 2007).

    The full step is taken if it leaves little of the slope. Otherwise the best step is computed exactly (Keerthi and
    DeCoste 2005).
    """
    decision, solved_for, settled = form.decision(point), None, 0
    for steps in range(MAX_NEWTON_STEPS):
        margin = form.constant - y * decision
        active = margin > 0
        # A factored step that keeps the active rows ends at the minimum. A second one corrects its rounding.
        settled = settled + 1 if solved_for is not None and np.array_equal(active, solved_for) else 0
        if settled == _SETTLED:
            break
        residual = np.where(active, margin, 0.0)
        gradient = point - form.pull_back(2 * C * y * residual)
        objective = 0.5 * form.inner(point, point, decision) + C * float(residual @ residual)
        enough = RELATIVE_GAP[form.dtype] * objective
        # The objective is 1-strongly convex: half its squared gradient norm bounds the gap to the optimum.
        if 0.5 * form.squared_norm(gradient) <= enough:
            break
        form.forcing = _FORCING[form.dtype] if steps else _FIRST_FORCING
        with threads_for(form.system_size(active)):
            direction = form.direction(point, decision, gradient, active, y, C, enough)
        solved_for = None if form.rough else active
        change = form.decision(direction)
        promised = -0.5 * form.inner(gradient, direction, change)
        if not promised > 0:
            if form.force_factorization(C):
                continue
            break  # no descent beyond rounding errors
        slope, curvature = (np.float64(form.inner(u, direction, change)) for u in (point, direction))
        change_of_margin = y * change
        step = 1.0
        if not _full_step_will_do(slope, curvature, margin, residual, change_of_margin, C):
            step = line_minimum(slope, curvature, margin, change_of_margin, C)
        if not step > 0:
            if form.force_factorization(C):
                continue
            break
        point, decision = point + step * direction, decision + step * change
        if promised <= enough:
            break
    return point
