"""The kernel approximation loss of Li et al. (2019) at given landmarks, the quadratic program for its weights, descent.

What is minimised with it, and on which landmarks, is decided in `adaptive`.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve, cholesky, qr, solve_triangular
from scipy.optimize import minimize, nnls

from ._blocks import blas_on_one_thread
from ._validation import as_numbers, as_points, check_range

_MEMORY = 10  # past gradients that L-BFGS keeps
_LARGEST_RIDGE = 1e100
_LARGEST_SUM = 1e15  # of landmark weights, whose fourth powers are formed; its inverse is the smallest
_WINDOW = 10  # steps over which the decrease is judged
_FARTHEST = 1e150  # a coordinate that descent may try
# Up to this size of its matrices a descent makes thousands of small products, in turn by NumPy's and by SciPy's BLAS.
# Idle threads of the one keep the cores from the other for longer than a product takes.
_SMALL = 512
_NOT_DONE = 1  # SciPy's status of an L-BFGS that has used up its steps or evaluations


class KernelApproximationLoss:
    """The objective of Li et al. 2019, Eq. 5, at given landmarks.

    Landmarks in more dimensions than there are of them are turned into their own span, where phases keep their
    values: the loss does not see the rest of a frequency, and no gradient moves it.
    """

    def __init__(self, landmarks, kernel, landmark_weights, ridge):
        landmarks = as_points(landmarks, "landmarks")
        n, d = landmarks.shape
        if landmark_weights is None:
            landmark_weights = np.full(n, 1 / n)
        landmark_weights = as_numbers(landmark_weights, "landmark_weights")
        if landmark_weights.shape != (n,) or landmark_weights.min() < 0 or landmark_weights.sum() == 0:
            raise ValueError(f"landmark_weights must be {n} numbers of at least 0, not all 0, one a landmark.")
        check_range(landmark_weights.sum(), "the sum of landmark_weights", 1 / _LARGEST_SUM, _LARGEST_SUM)
        points = (landmarks.toarray() if sp.issparse(landmarks) else landmarks).astype(np.float64, copy=False)
        self.ridge = check_range(ridge, "ridge", 0, _LARGEST_RIDGE)
        self.q = np.sqrt(landmark_weights)[:, None]
        self.kernel = np.asarray(kernel(points), dtype=np.float64) * self.q * self.q.T
        self.basis = None
        if d > n:
            self.basis, triangle = qr(points.T, mode="economic")
            points = triangle.T
        self.points = np.ascontiguousarray(points)
        self.n = n

    def inside(self, omega):
        """The coordinates of frequencies in the span of the landmarks."""
        return omega if self.basis is None else omega @ self.basis

    def outside(self, omega, V):
        """Frequencies `omega` with the coordinates `V` in the span of the landmarks."""
        return V.copy() if self.basis is None else omega + (V - omega @ self.basis) @ self.basis.T

    def gradient_outside(self, gradient):
        """A gradient in the span of the landmarks as one of the frequencies."""
        return gradient if self.basis is None else gradient @ self.basis.T

    def waves(self, V):
        """Cosines and sines at the landmarks, each row times its q_s."""
        angle = self.points @ V.T
        return np.cos(angle) * self.q, np.sin(angle) * self.q

    def best_weights(self, C, S, free=None):
        """The weights p >= 0 of least loss: a quadratic program in r variables (Li et al. 2019, p-step)."""
        A = (C.T @ C) ** 2
        A += (S.T @ S) ** 2
        cross = (C.T @ S) ** 2
        A += cross
        A += cross.T
        A.flat[:: len(A) + 1] += self.ridge
        b = np.einsum("ij,ij->j", C, self.kernel @ C) + np.einsum("ij,ij->j", S, self.kernel @ S)
        return least_nonnegative(A, b, free)

    def residual(self, C, S, p):
        """R: the approximation less the kernel, times q_s q_t."""
        R = (C * p) @ C.T
        R += (S * p) @ S.T
        R -= self.kernel
        return R

    def at(self, V, free=None):
        """The objective at the best weights, its gradient there, and these weights."""
        C, S = self.waves(V)
        p = self.best_weights(C, S, free)
        R = self.residual(C, S, p)
        return self.value(R, p), self.gradient(C, S, R, p), p

    def value(self, R, p):
        return float(np.vdot(R, R) + self.ridge * (p @ p))

    def gradient(self, C, S, R, p):
        """With respect to the frequencies, the weights held (Li et al. 2019, Eq. 6, with its factor 4), (r, .)."""
        pull = C * (R @ S)
        pull -= S * (R @ C)
        pull *= 4 * p
        return pull.T @ self.points


def least_nonnegative(A, b, free=None) -> np.ndarray:
    """argmin over p >= 0 of p'Ap - 2 b'p, for a positive definite A, from a guess at which p are above 0.

    All variables on the wrong side change it at once, and one at a time where that does not lead on (Kim and Park
    2011, block principal pivoting).
    """
    r = len(b)
    free = np.ones(r, dtype=bool) if free is None else free.copy()
    fewest, patience = r + 1, 3
    tolerance = 1e-11 * max(1e-300, np.abs(b).max())
    try:
        for _ in range(5 * r + 20):
            p = np.zeros(r)
            if free.any():
                p[free] = cho_solve(cho_factor(A[np.ix_(free, free)]), b[free])
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
    except np.linalg.LinAlgError:  # frequencies that coincide, without a ridge
        A = A + 1e-12 * np.trace(A) / r * np.eye(r)
    U = _upper_triangle(A)
    return nnls(U, solve_triangular(U, b, trans=1), maxiter=30 * r)[0]


def _upper_triangle(A) -> np.ndarray:
    """U with U'U = A; the diagonal of A grows as far as its rounding errors make it indefinite."""
    shift = max(1e-12 * np.trace(A) / len(A), np.finfo(np.float64).tiny)
    while True:
        try:
            return cholesky(A)
        except np.linalg.LinAlgError:
            A, shift = A + shift * np.eye(len(A)), 10 * shift


def descend(objective, start, max_steps: int, tol: float, keep_path: bool, verbose: bool, n_landmarks: int):
    """Lower a function of frequencies by L-BFGS, until ten steps lower it by less than the share `tol`.

    `objective` takes coordinates of the shape of `start`, and gives the value, the gradient, and anything that belongs
    to it. Returned are the losses of all steps, the last coordinates with what belongs to them, for `keep_path` a list
    of such pairs, one a step, and whether the descent ended before its most steps or evaluations.
    """
    with blas_on_one_thread() if max(len(start), n_landmarks) <= _SMALL else nullcontext():
        return _descend(objective, start, max_steps, tol, keep_path, verbose)


def _descend(objective, start, max_steps, tol, keep_path, verbose):
    last, losses, path, converged = None, [], [], False

    def evaluate(flat):
        nonlocal last
        V = flat.reshape(start.shape).copy()
        if not np.abs(V).max() < _FARTHEST:  # nor a number: the line search leapt, and is to come back
            return np.inf, np.zeros(V.size)
        value, gradient, belongings = objective(V)
        last = value, V, belongings
        return value, gradient.ravel()

    def record():
        losses.append(last[0])
        if keep_path:
            path.append(last[1:])
        step = len(losses) - 1
        if verbose and step % _WINDOW == 0:
            print(f"Iteration {step}, objective {last[0]:.6g}")

    def after_step(intermediate_result):
        nonlocal converged
        if not np.array_equal(last[1].ravel(), intermediate_result.x):
            evaluate(intermediate_result.x)
        record()
        before = losses[-1 - _WINDOW] if len(losses) > _WINDOW else np.inf
        if before - last[0] < tol * before:
            converged = True
            raise StopIteration

    evaluate(start.ravel())
    record()
    if not last[0] > 0:
        converged = True
    elif max_steps:
        found = minimize(
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
        if not np.array_equal(last[1].ravel(), found.x):  # a line search that led nowhere
            evaluate(found.x)
        converged = converged or found.status != _NOT_DONE
    if verbose:
        print(f"{'Converged' if converged else 'Stopped'} at iteration {len(losses) - 1}, objective {losses[-1]:.6g}")
    return np.array(losses), last[1:], path, converged
