"""The kernel approximation loss of Li et al. (2019) at given landmarks, the quadratic program for its weights, descent.

The objectives that contain it, and the landmarks, are chosen in `adaptive`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.linalg.lapack import dposv
from scipy.optimize import minimize, nnls

from ._blocks import blas_on_one_thread
from ._validation import as_numbers, check_fits, check_range

_MEMORY = 10  # number of past gradients that L-BFGS keeps
_LARGEST_RIDGE = 1e100
_LARGEST_SUM = 1e15  # landmark weights are raised to the fourth power; the inverse of this is the smallest weight
STEPS_JUDGED = 10  # the decrease is judged over so many steps
FARTHEST = 1e150  # the largest coordinate that a descent may try
# Up to this matrix size the products of a descent alternate between NumPy's BLAS and SciPy's. Idle threads of one
# BLAS stall the other.
_SMALL = 512
_NOT_DONE = 1  # SciPy's status when L-BFGS has used up its steps or evaluations


class KernelApproximationLoss:
    """The objective of Li et al. 2019, Eq. 5, at checked landmarks.

    With fewer landmarks than dimensions, the landmarks are rotated into their own span, which keeps all phases: the
    loss does not depend on the part of a frequency outside the span, so no gradient changes it.
    """

    def __init__(self, landmarks, kernel, landmark_weights=None, ridge=0.03):
        n, d = landmarks.shape
        check_fits(3 * n**2, f"landmarks has {n} rows")
        if landmark_weights is None:
            landmark_weights = np.full(n, 1 / n)
        landmark_weights = as_numbers(landmark_weights, "landmark_weights")
        if landmark_weights.shape != (n,) or landmark_weights.min() < 0 or landmark_weights.sum() == 0:
            raise ValueError(f"landmark_weights must be {n} numbers of at least 0, not all 0, one a landmark.")
        check_range(landmark_weights.sum(), "the sum of landmark_weights", 1 / _LARGEST_SUM, _LARGEST_SUM)
        points = (landmarks.toarray() if sp.issparse(landmarks) else landmarks).astype(np.float64, copy=False)
        self.ridge = check_range(ridge, "ridge", 0, _LARGEST_RIDGE)
        self.q = np.sqrt(landmark_weights)[:, None]
        self.kernel = np.asarray(kernel._values(points), dtype=np.float64) * self.q * self.q.T
        self.basis = None
        if d > n:
            self.basis, triangle = qr(points.T, mode="economic")
            points = triangle.T
        self.points = np.ascontiguousarray(points)
        self.n = n

    def inside(self, omega):
        """Return the coordinates of frequencies in the span of the landmarks."""
        return omega if self.basis is None else omega @ self.basis

    def outside(self, omega, V):
        """Replace the coordinates of `omega` in the span of the landmarks by `V`."""
        return V.copy() if self.basis is None else omega + (V - omega @ self.basis) @ self.basis.T

    def gradient_outside(self, gradient):
        """Return the gradient in the frequencies, given the gradient in the span of the landmarks."""
        return gradient if self.basis is None else gradient @ self.basis.T

    def waves(self, V):
        """Return cosines and sines at the landmarks, each row times its q_s."""
        angle = self.points @ V.T
        return np.cos(angle) * self.q, np.sin(angle) * self.q

    def best_weights(self, C, S, free=None):
        """Return the weights p >= 0 of least loss: a quadratic program in r variables (Li et al. 2019, p-step)."""
        return least_nonnegative(*self._quadratic(C, S), free)

    def signed_weights(self, C, S):
        """Return the weights of least loss, of any sign: a ridge regression on the cosines (Chang et al. 2017)."""
        A, b = self._quadratic(C, S)
        U = _upper_triangle(A)
        return solve_triangular(U, solve_triangular(U, b, trans=1))

    def _quadratic(self, C, S):
        """Return A and b: the loss is p'Ap - 2 b'p and a constant, p the weights."""
        A = (C.T @ C) ** 2
        A += (S.T @ S) ** 2
        cross = (C.T @ S) ** 2
        A += cross
        A += cross.T
        A.flat[:: len(A) + 1] += self.ridge
        b = np.einsum("ij,ij->j", C, self.kernel @ C) + np.einsum("ij,ij->j", S, self.kernel @ S)
        return A, b

    def residual(self, C, S, p):
        """Return R: the approximation less the kernel, times q_s q_t."""
        R = (C * p) @ C.T
        R += (S * p) @ S.T
        R -= self.kernel
        return R

    def at(self, V, free=None):
        """Return the objective at the optimal weights, its gradient there, and these weights."""
        C, S = self.waves(V)
        p = self.best_weights(C, S, free)
        R = self.residual(C, S, p)
        return self.value(R, p), self.gradient(C, S, R, p), p

    def refitted(self, V, free=None):
        """Return the objective at the optimal weights, these weights, and the gradient at fixed weights, a function."""
        C, S = self.waves(V)
        p = self.best_weights(C, S, free)

        def gradient(V):
            C, S = self.waves(V)
            return self.gradient(C, S, self.residual(C, S, p), p)

        return self.value(self.residual(C, S, p), p), p, gradient

    def value(self, R, p):
        return float(np.vdot(R, R) + self.ridge * (p @ p))

    def gradient(self, C, S, R, p):
        """Return the gradient in the frequencies at fixed weights (Li et al. 2019, Eq. 6, times 4 as there), (r, .)."""
        pull = C * (R @ S)
        pull -= S * (R @ C)
        pull *= 4 * p
        return pull.T @ self.points


def least_nonnegative(A, b, free=None) -> np.ndarray:
    """Minimise p'Ap - 2 b'p over p >= 0, A positive definite. `free` is a guess of which p are positive.

    Block principal pivoting (Kim and Park 2011): all variables of the wrong sign change sides at once. If that makes
    no progress, one variable changes at a time.
    """
    r = len(b)
    free = np.ones(r, dtype=bool) if free is None else free.copy()
    fewest, patience = r + 1, 3
    tolerance = 1e-11 * max(1e-300, np.abs(b).max())
    try:
        for _ in range(5 * r + 20):
            p = np.zeros(r)
            if free.any():
                p[free] = _solved(A if free.all() else A[np.ix_(free, free)], b[free])
            wrong = np.where(free, p < 0, A @ p - b < -tolerance)
            count = int(wrong.sum())
            if count == 0:
                return p
            if count < fewest:
                fewest, patience = count, 3
            else:
                patience -= 1
            if patience < 0:
                wrong[: np.flatnonzero(wrong)[-1]] = False
            free ^= wrong
    except np.linalg.LinAlgError:  # equal frequencies without a ridge
        A = A + 1e-12 * np.trace(A) / r * np.eye(r)
    U = _upper_triangle(A)
    return nnls(U, solve_triangular(U, b, trans=1), maxiter=30 * r)[0]


def _solved(A, b) -> np.ndarray:
    """Solve Ap = b with LAPACK. SciPy's own functions take several times as long at this size."""
    _, p, failed = dposv(A, b)
    if failed:
        raise np.linalg.LinAlgError("A is not positive definite.")
    return p


def _upper_triangle(A) -> np.ndarray:
    """Return upper triangular U with U'U = A; the diagonal of A grows until A is positive definite despite rounding."""
    shift = max(1e-12 * np.trace(A) / len(A), np.finfo(np.float64).tiny)
    while True:
        try:
            return cholesky(A)
        except np.linalg.LinAlgError:
            A, shift = A + shift * np.eye(len(A)), 10 * shift


def descend(objective, start, max_steps: int, tol: float, keep_path: bool, verbose: bool, n_landmarks: int):
    """Minimise a function of frequencies by L-BFGS, until ten steps lower it by less than the fraction `tol`.

    `objective` takes coordinates of the shape of `start`. It returns the value, the gradient and further results.
    Returned are the losses of all steps, the last coordinates with their further results, a list of such pairs (one a
    step) if `keep_path`, and whether the descent stopped before its limits of steps and evaluations.
    """
    with blas_on_one_thread() if max(len(start), n_landmarks) <= _SMALL else nullcontext():
        return _descend(objective, start, max_steps, tol, keep_path, verbose)


def _descend(objective, start, max_steps, tol, keep_path, verbose):
    losses, path, converged = [], [], False
    last: tuple[Any, ...] = ()  # value, coordinates, further results

    def evaluate(flat):
        nonlocal last
        V = flat.reshape(start.shape).copy()
        if not np.abs(V).max() < FARTHEST:  # or NaN; at infinity the line search steps back
            return np.inf, np.zeros(V.size)
        value, gradient, results = objective(V)
        last = value, V, results
        return value, gradient.ravel()

    def record():
        losses.append(last[0])
        if keep_path:
            path.append(last[1:])
        step = len(losses) - 1
        if verbose and step % STEPS_JUDGED == 0:
            print(f"Iteration {step}, objective {last[0]:.6g}")

    def after_step(intermediate_result):
        nonlocal converged
        if not np.array_equal(last[1].ravel(), intermediate_result.x):
            evaluate(intermediate_result.x)
        record()
        before = losses[-1 - STEPS_JUDGED] if len(losses) > STEPS_JUDGED else np.inf
        if before - last[0] < tol * before:
            converged = True
            raise StopIteration

    evaluate(start.ravel())
    record()
    if not last[0] > 0:
        converged = True
    elif max_steps:
        minimum = minimize(
            evaluate,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=after_step,
            options={
                "maxiter": max_steps,
                "maxfun": 2 * max_steps + 20,
                "ftol": 0.0,
                "gtol": 0.0,
                "maxcor": _MEMORY,
            },
        )
        if not np.array_equal(last[1].ravel(), minimum.x):  # the last line search did not lower the value
            evaluate(minimum.x)
        converged = converged or minimum.status != _NOT_DONE
    if verbose:
        print(f"{'Converged' if converged else 'Stopped'} at iteration {len(losses) - 1}, objective {losses[-1]:.6g}")
    return np.array(losses), last[1:], path, converged
