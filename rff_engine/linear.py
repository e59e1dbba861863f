"""Linear support vector machines over a whole path of C, each C started from the one before.

The objective is that of scikit-learn's ``LinearSVC`` (squared hinge, two classes), solved to its optimum by
Newton's method. Nothing is chosen here: which C is best, and how features are scaled, is the caller's business.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from ._blocks import blas_on_one_thread
from ._validation import as_labels, as_numbers, as_points, check_positive

__all__ = ["error_rate", "gram_matrix", "linear_svm_batch", "linear_svm_decision", "linear_svm_path"]

# What is left to gain when a path stops, as a share of the objective.
_RELATIVE_GAP = {np.dtype(np.float32): 1e-8, np.dtype(np.float64): 1e-11}
# A Newton system solved by conjugate gradients is left with this share of its residual, the first at a C, whose active
# rows will change most, with more.
_FIRST_FORCING = 0.1
_FORCING = {np.dtype(np.float32): 1e-2, np.dtype(np.float64): 1e-4}
_MAX_NEWTON_STEPS = 200
# Newton's full step is taken where it leaves this share of the slope; elsewhere the best step is looked for.
_SLOPE_LEFT = 0.1
_ROWS_AT_A_TIME = 4096
_COLUMNS_AT_A_TIME = 1024
# Up to this size a factorisation costs no more than a few products.
_SMALL_SYSTEM = 400
# Beyond this size a single factorisation is work for several threads, and float64 for float32 features is dear.
_LARGE_SYSTEM = 2048
# Where a factorisation may not be made, conjugate gradients go on for so long.
_MAX_CG_STEPS = 1000
# A rounded factor is a preconditioner that needs but a few.
_REFINING_CG_STEPS = 20
# The primal form pays where there are fewer features than rows, by this factor.
_FEWER_FEATURES = 8
# What one matrix of the solver may take; a second one of its size, to factorise, comes on top.
_MOST_BYTES = 2**30
# Guesses that weigh conjugate gradients against a factorisation: fixed, so that the way does not depend on the day.
_FLOPS, _BYTES = {np.dtype(np.float32): 5e10, np.dtype(np.float64): 3e10}, 2e10
# Inner products in float64 are made of rows with margins up to this beyond 1 too: so they seldom have to be made anew.
_NEARLY_ACTIVE = 0.2
# Where rounding would change margins by more than this share of them, inner products are made in float64.
_MOST_ROUNDING = 0.02
# A float32 factor is good enough below this condition number.
_FLOAT32_CONDITION = 1e5


class _Form:
    """What Newton's method asks of a set of coordinates."""

    dtype: np.dtype
    can_factor = True
    hopeless_from = np.inf
    """The smallest C at which conjugate gradients cost more than a factorisation"""
    forcing = _FIRST_FORCING
    rough = False
    """Whether the last system was solved without a factor of its own"""

    def prepare(self, point, y, C):
        """Begin with another C."""

    def insist(self, C) -> bool:
        """Have the next system factored: after a rough solution, that may give a descent where there was none."""
        self.hopeless_from = min(self.hopeless_from, C)
        return self.rough and self.can_factor


class _PrimalForm(_Form):
    """Points u = (w, b) of dimension F + 1; Newton systems of that size."""

    def __init__(self, Z):
        self.Z, (self.n, n_features) = Z, Z.shape
        self.dtype = Z.dtype
        self.size = n_features + 1
        # Sums over many rows: float64 as long as that is cheap; beyond, a float32 factor is refined.
        self.sum_dtype = np.dtype(np.float64) if self.size <= _LARGE_SYSTEM else self.dtype
        self.can_factor = self.size**2 * self.sum_dtype.itemsize <= _MOST_BYTES
        self._rows = np.zeros(self.n, dtype=bool)
        self._second_moment = None

    def decision(self, u):
        return _times(self.Z, u[:-1]) + u[-1]

    def pull_back(self, values):
        """sum_i values_i (z_i, 1)."""
        return np.append(_times_transposed(self.Z, values), values.sum())

    def system_size(self, active):
        return self.size

    def inner(self, u, v, decision_v):
        return float(u @ v)

    def squared_norm(self, u):
        return float(u @ u)

    def direction(self, point, decision, gradient, active, y, C, enough):
        """Newton's direction: (I/(2C) + sum_active (z, 1)(z, 1)') d = -gradient / (2C).

        A residual r of this system costs the objective up to 2 C^2 |r|^2; `enough` is what it may cost.
        """
        shift, b = 0.5 / C, -gradient / (2 * C)

        def product(v, _=None):
            return shift * v + self.pull_back(np.where(active, self.decision(v), 0.0))

        changed = min(np.count_nonzero(active != self._rows), np.count_nonzero(active))
        seconds = (2 * changed * self.size**2 + self.size**3 / 3) / _FLOPS[self.sum_dtype]
        product_seconds = 2 * self.n * self.size * self.dtype.itemsize / _BYTES
        enough = np.sqrt(enough / 2) / C
        self.rough = True
        if not self.can_factor or (self.size > _SMALL_SYSTEM and self.hopeless_from > C):
            most = int(seconds / product_seconds) if self.can_factor else _MAX_CG_STEPS
            direction, solved = _conjugate_gradients(product, b, self.forcing, enough, most)
            if solved or not self.can_factor:
                return direction
            self.hopeless_from = C
        exact = self.sum_dtype == np.float64
        self.rough = False
        self._move_to(active)
        solve = _factor(self._second_moment, shift)
        if exact:
            return solve(b)
        return _conjugate_gradients(product, b, self.forcing, enough, _REFINING_CG_STEPS, precondition=solve)[0]

    def _move_to(self, active):
        """Make `_second_moment` the sum of (z, 1)(z, 1)' over the active rows, by difference if that is less work."""
        entering, leaving = active & ~self._rows, self._rows & ~active
        if self._second_moment is None or entering.sum() + leaving.sum() >= active.sum():
            self._second_moment = np.zeros((self.size, self.size), dtype=self.sum_dtype, order="F")
            entering, leaving = active, np.zeros_like(active)
        self._add_moment_of(entering, 1.0)
        self._add_moment_of(leaving, -1.0)
        self._rows = active.copy()

    def _add_moment_of(self, rows, sign):
        """Add to the lower triangle of `_second_moment`."""
        rows = np.flatnonzero(rows)
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            some = self.Z[rows[start : start + _ROWS_AT_A_TIME]]
            if sp.issparse(some):
                self._second_moment[:-1, :-1] += sign * (some.T @ some).toarray()
                sums = np.asarray(some.sum(axis=0)).ravel()
                self._second_moment[-1, :-1] += sign * sums
                self._second_moment[-1, -1] += sign * some.shape[0]
            else:
                padded = np.ones((len(some), self.size), dtype=self.sum_dtype)
                padded[:, :-1] = some
                self._second_moment = _add_products(self._second_moment, padded.T, sign)

    def weights(self, points):
        return points[:, :-1], points[:, -1]


class _GramForm(_Form):
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
        """Begin with another C, and decide whether float32 will do for it.

        Coefficients are 2 C times a margin, and what rounding in K does to margins grows with them.
        """
        rows = np.count_nonzero(point) or self.n
        rounding = np.finfo(self.dtype).eps * 2 * C * self._largest * np.sqrt(rows)  # of margins, as a share of them
        self._careful = self.dtype == np.float32 and rounding > _MOST_ROUNDING
        if self._careful:
            self._hold(np.flatnonzero(y * _symmetric_times(self.K, point) < 1 + _NEARLY_ACTIVE))

    def decision(self, alpha):
        if self._careful:
            held = self._hold(np.flatnonzero(alpha))
            if len(held) == 0:
                return np.zeros(self.n)
            some = np.zeros(len(self._held))
            some[held] = alpha[self._held[held]]
            return _times(self.Z, _times_transposed(self._held_Z, some)) + some.sum()
        return _symmetric_times(self.K, alpha)

    def pull_back(self, values):
        return values

    def system_size(self, active):
        return np.count_nonzero(active)

    def inner(self, alpha, other, decision_other):
        return float(alpha @ decision_other)

    def squared_norm(self, alpha):
        return float(alpha @ self.decision(alpha))

    def direction(self, point, decision, gradient, active, y, C, enough):
        """Newton's direction, in coefficients: towards (I/(2C) + K_II) alpha_I = y_I on the active rows I, 0 elsewhere.

        By conjugate gradients it is that of `_PrimalForm`, with inner products through K: always one of descent.
        """
        shift, rows = 0.5 / C, np.flatnonzero(active)
        self.rough = not self._careful and len(rows) > _SMALL_SYSTEM and self.hopeless_from > C
        if self.rough:
            seconds = len(rows) ** 3 / 3 / _FLOPS[self.dtype]
            product_seconds = self.n**2 / 2 * self.dtype.itemsize / _BYTES
            direction, solved = _conjugate_gradients(
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
            K = _lower(self._held_K, self._hold(rows))
            direction[rows] += _factor(K, shift)(y[rows])
        elif len(rows):
            left = np.where(active, 0.0, point)
            reached = decision - self.decision(left) if left.any() else decision
            b = y[rows] - reached[rows] - shift * point[rows]
            K = _lower(self.K, rows)
            sharp = 2 * C * len(rows) * self._largest > _FLOAT32_CONDITION
            solve = _factor(K, shift, np.dtype(np.float64) if sharp else self.dtype)
            direction[rows] = solve(b)
            if not sharp:
                direction[rows] += solve(b - shift * direction[rows] - _symmetric_times(K, direction[rows]))
        return direction

    def _hold(self, rows):
        """Have rows and their inner products in float64, with those held before: where these rows are among them."""
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


def gram_matrix(Z, gram=None):
    """The lower triangle of Z Z', or of `gram` + Z Z'.

    Parameters
    ----------
    Z : array or CSR matrix of shape (n, F)
    gram : array of shape (n, n), optional
        An earlier answer, added to in place.

    Returns
    -------
    ndarray of shape (n, n), in Fortran order
        Above the diagonal it holds nothing of use. It is of float64 unless `Z` is a float32 array of many rows.
    """
    n, F = Z.shape
    if gram is None:
        precise = sp.issparse(Z) or n <= _LARGE_SYSTEM
        gram = np.zeros((n, n), dtype=np.float64 if precise else Z.dtype, order="F")
    if sp.issparse(Z):
        gram += (Z @ Z.T).toarray()
        return gram
    step = F if Z.dtype == gram.dtype else _COLUMNS_AT_A_TIME
    for start in range(0, F, step):
        some = np.ascontiguousarray(Z[:, start : start + step], dtype=gram.dtype)
        gram = _add_products(gram, some.T, 1.0, transposed=True)
    return gram


# All dense products come from SciPy's BLAS, where the factorisations are: NumPy brings another one, and the idle
# threads of the one would compete with the working ones of the other.


def _add_products(total, A, sign, transposed=False):
    """total + sign A A' (A'A if `transposed`) in the lower triangle, in place; both in Fortran order."""
    syrk = get_blas_funcs("syrk", (total, A))
    return syrk(sign, A, beta=1.0, c=total, trans=int(transposed), lower=1, overwrite_c=1)


def _times(Z, v):
    if sp.issparse(Z):
        return np.asarray(Z @ v, dtype=np.float64)
    return get_blas_funcs("gemv", (Z,))(1.0, Z.T, v.astype(Z.dtype, copy=False), trans=1).astype(np.float64)


def _times_transposed(Z, v):
    if sp.issparse(Z):
        return np.asarray(Z.T @ v, dtype=np.float64)
    return get_blas_funcs("gemv", (Z,))(1.0, Z.T, v.astype(Z.dtype, copy=False)).astype(np.float64)


def _lower(K, rows):
    """The lower triangle of K, in Fortran order, on some rows and columns; they ascend."""
    return K.T[np.ix_(rows, rows)].T


def _symmetric_times(K, v):
    """K v for a K of which the lower triangle is given."""
    return get_blas_funcs("symv", (K,))(1.0, K, v.astype(K.dtype, copy=False), lower=1).astype(np.float64)


def _conjugate_gradients(product, b, share, enough, at_most, metric=None, precondition=None):
    """Solve A x = b in at most so many steps, until the residual has less than this share of b's norm, or `enough`.

    Returns x, and whether the steps were enough for it. `metric` times a vector gives its inner products with others
    (by default they are Euclidean), and `product(v, metric(v))` is A v.
    """
    x, r = np.zeros_like(b), b.copy()
    z = r if precondition is None else precondition(r)
    of_z = z if metric is None else metric(z)
    p, of_p, rho = z, of_z, r @ of_z
    target = max(share * np.sqrt(max(rho if precondition is None else b @ b, 0.0)), enough)
    for _ in range(at_most):
        q = product(p, of_p)
        step = rho / (of_p @ q)
        x += step * p
        r = r - step * q  # a new array: the first p and z are the old one
        z = r if precondition is None else precondition(r)
        of_z = z if metric is None else metric(z)
        before, rho = rho, r @ of_z
        if (rho if precondition is None else r @ r) <= target**2:
            return x, True
        p, of_p = z + (rho / before) * p, of_z + (rho / before) * of_p
    return x, False


def _factor(A, shift, dtype=None):
    """A function that solves (A + shift I) x = b; A is positive semidefinite, its lower triangle is read.

    The shift grows if rounding leaves A indefinite.
    """
    dtype = A.dtype if dtype is None else dtype
    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), dtype=dtype)
    diagonal = A.diagonal()
    smallest = np.finfo(dtype).eps * max(float(diagonal.sum()), np.finfo(np.float64).tiny)
    while True:
        shifted = np.array(A, dtype=dtype, order="F")
        np.fill_diagonal(shifted, diagonal + shift)
        triangle, info = potrf(shifted, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return lambda b: potrs(triangle, b.astype(dtype), lower=1)[0].astype(np.float64)
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


def _threads(size):
    """For small systems one thread: more would wait for each other, on busy cores ten times longer than they work."""
    return blas_on_one_thread() if size <= _LARGE_SYSTEM else nullcontext()


def _full_step_will_do(slope, curvature, margin, residual, change, C) -> bool:
    """Whether s = 1 lowers what `_line_minimum` minimises, and leaves little of its slope."""
    after = np.maximum(margin - change, 0.0)
    left = slope + curvature - 2 * C * (after @ change)
    lowered = slope + curvature / 2 + C * (after @ after - residual @ residual)
    return lowered < 0 and abs(left) <= _SLOPE_LEFT * abs(slope - 2 * C * (residual @ change))


def _minimise(form, y, C, point):
    """Newton's method from `point` (Chapelle 2007), with a line search that is exact (Keerthi and DeCoste 2005)."""
    decision = form.decision(point)
    for steps in range(_MAX_NEWTON_STEPS):
        margin = 1 - y * decision
        active = margin > 0
        residual = np.where(active, margin, 0.0)
        gradient = point - form.pull_back(2 * C * y * residual)
        objective = 0.5 * form.inner(point, point, decision) + C * float(residual @ residual)
        enough = _RELATIVE_GAP[form.dtype] * objective
        # The objective is 1-strongly convex: half its squared gradient norm bounds what is left to gain.
        if 0.5 * form.squared_norm(gradient) <= enough:
            break
        form.forcing = _FORCING[form.dtype] if steps else _FIRST_FORCING
        with _threads(form.system_size(active)):
            direction = form.direction(point, decision, gradient, active, y, C, enough)
        change = form.decision(direction)
        promised = -0.5 * form.inner(gradient, direction, change)
        if not promised > 0:
            if form.insist(C):
                continue
            break  # rounding: no descent is left in this direction
        slope, curvature = (np.float64(form.inner(u, direction, change)) for u in (point, direction))
        change_of_margin = y * change
        step = 1.0
        if not _full_step_will_do(slope, curvature, margin, residual, change_of_margin, C):
            step = _line_minimum(slope, curvature, margin, change_of_margin, C)
        if not step > 0:
            if form.insist(C):
                continue
            break
        point, decision = point + step * direction, decision + step * change
        if promised <= enough:
            break
    return point


def linear_svm_path(features, y, C_values, form="auto", gram=None):
    """Linear SVMs with the squared hinge loss, one for each C.

    Each minimises ``0.5 (||w||^2 + b^2) + C sum_i max(0, 1 - y_i (w . z_i + b))^2``, the objective of
    scikit-learn's ``LinearSVC`` with ``intercept_scaling=1``: the intercept is regularised. Newton's method with
    the margin violators as active set (Chapelle 2007, "Training a support vector machine in the primal") starts each
    C from the solution of the next smaller one. Its systems are solved by conjugate gradients where C is small, and
    by a factorisation beyond. It stops when the last step was to lower the objective by less than a part 1e-11 of it
    (1e-8 for float32 features), or when rounding leaves no descent (huge C), or after 200 steps.

    Parameters
    ----------
    features : array or CSR matrix of shape (n, F)
        float32 or float64. Products of a large float32 array are made in float32 where that is precise enough, all
        others in float64; the answer is float64.
    y : array of shape (n,)
        Two classes, of any labels; the larger label is the positive class.
    C_values : array of shape (n_C,)
        Above 0, in any order.
    form : {"auto", "primal", "gram"}
        Solve for the F + 1 weights, or for n coefficients through the (n, n) matrix of inner products, which is
        formed once. "auto" takes the first when F is small beside n, or when the matrix would take more than 1 GiB.
        The results agree.
    gram : array of shape (n, n), optional
        The inner products of the rows of `features` where they are known already, see `gram_matrix`: only the lower
        triangle is read. For `form` "gram".

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
    Z = as_points(features, "features")
    Z = Z.astype(np.float64, copy=False) if sp.issparse(Z) else np.ascontiguousarray(Z)
    n, F = Z.shape
    signs = _two_class_signs(y, n)
    C_values = _check_C(C_values)
    if form not in ("auto", "primal", "gram"):
        raise ValueError(f"form is {form!r}; it must be 'auto', 'primal' or 'gram'.")
    if gram is not None and np.shape(gram) != (n, n):
        raise ValueError(f"gram has shape {np.shape(gram)}; {(n, n)} is needed, one row and column a row of features.")
    if form == "auto":
        form = "gram" if gram_pays(n, F, Z.dtype) else "primal"
    solver = _GramForm(Z, gram) if form == "gram" else _PrimalForm(Z)

    points, point = np.empty((len(C_values), solver.size)), np.zeros(solver.size)
    with _threads(solver.size):
        for i in np.argsort(C_values, kind="stable"):
            solver.prepare(point, signs, C_values[i])
            points[i] = point = _minimise(solver, signs, C_values[i], point)
        return solver.weights(points)


def gram_pays(n: int, n_features: int, dtype) -> bool:
    """Whether `linear_svm_path` solves through the (n, n) matrix of inner products when it may choose."""
    return n_features > n / _FEWER_FEATURES and n**2 * np.dtype(dtype).itemsize <= _MOST_BYTES


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
        unsolved = np.flatnonzero(0.5 * (gradient**2).sum(axis=1) > _RELATIVE_GAP[point.dtype] * objective)
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
        return rows.T @ _factor(rows @ rows.T, 0.5 / C)(y[active])
    if 2 * len(rows) < len(Z):
        moment = rows.T @ rows
    else:
        others = Z[~active]
        moment = everywhere - others.T @ others
    return _factor(moment, 0.5 / C)(rows.T @ y[active])


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
