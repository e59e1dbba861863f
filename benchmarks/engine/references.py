"""References for the engine: plain NumPy and scikit-learn in float64, and lower bounds on the time of any code.

The plain references are the papers' formulas with nothing shared or skipped, in blocks only if memory requires it. The
floors are the arithmetic that every implementation needs, in float32.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import cpu_count
from scipy.linalg.blas import ssyrk
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from threadpoolctl import ThreadpoolController

from benchmarks.engine.measure import available_memory

# A block of phases is 1 MB in float32: matrix products run at full speed, and sines stay in cache.
_BLOCK = 512
_BLAS = ThreadpoolController()


def alignment_loss(X, y, omega):
    """Losses over all pairs (Letarte et al. 2019, Prop. 7), for X in float64 and y in {-1, 1}.

    As in the authors' code, the (n, N) arrays of the cosines and of y times the cosines are in memory in full, then
    those of the sines; chunked over the frequencies only if they would take most of the available memory.
    """
    n, N = X.shape[0], len(omega)
    at_once = max(1, min(N, int(0.6 * available_memory() / (16 * n))))
    losses = []
    for start in range(0, N, at_once):
        frequencies = omega[start : start + at_once]
        cosines = np.sum(y[:, None] * np.cos(X @ frequencies.T), axis=0)
        sines = np.sum(y[:, None] * np.sin(X @ frequencies.T), axis=0)
        losses.append(n / (2 * (n - 1)) - (cosines**2 + sines**2) / (2 * n * (n - 1)))
    return np.concatenate(losses)


def landmark_alignment_loss(X, y, landmarks, labels, omega):
    """Losses over the pairs of each landmark, itself a row of X (Letarte et al. 2019, Eq. 10); omega (L, D, d)."""
    losses = []
    for point, label, frequencies in zip(landmarks, labels, omega, strict=True):
        same = np.where(y == label, 1.0, -1.0)
        aligned = (np.einsum("j,jm->m", same, np.cos((X - point) @ frequencies.T)) - 1) / (len(X) - 1)
        losses.append((1 - aligned) / 2)
    return np.array(losses)


def landmark_similarity(X, landmarks, omega, Q):
    """Similarities to the landmarks (Letarte et al. 2019, Eq. 13), omega (L, D, d)."""
    columns = [
        np.einsum("jm,m->j", np.cos((X - point) @ frequencies.T), weights)
        for point, frequencies, weights in zip(landmarks, omega, Q, strict=True)
    ]
    return np.stack(columns, axis=1)


def linear_svms(features, y, C_values):
    """scikit-learn's LinearSVC with its default settings at every C: coef (n_C, F), intercept (n_C,)."""
    coef, intercept = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stops at max_iter for large C, as in the paper
        for C in C_values:
            svm = LinearSVC(C=C, random_state=0).fit(features, y)
            coef.append(svm.coef_[0])
            intercept.append(svm.intercept_[0])
    return np.array(coef), np.array(intercept)


def svm_objective(features, y, C_values, coef, intercept):
    """The squared hinge objective, intercept regularised, of each C (y in {-1, 1})."""
    violation = np.maximum(0, 1 - y[:, None] * (features @ coef.T + intercept))
    return 0.5 * ((coef**2).sum(axis=1) + intercept**2) + C_values * (violation**2).sum(axis=0)


def wave_floor(X, omega, sines: bool = True) -> None:
    """The float32 matrix product of all phases, then the cosines (and sines) of as many actual phases."""
    X = X.astype(np.float32, copy=False)
    omega = omega.astype(np.float32, copy=False)
    n = len(X)
    N = len(omega)

    def products(start):
        transposed = np.ascontiguousarray(omega[start : start + _BLOCK].T)
        out = np.empty((_BLOCK, transposed.shape[1]), dtype=np.float32)
        for i in range(0, n, _BLOCK):
            rows = X[i : i + _BLOCK]
            np.matmul(rows, transposed, out=out[: len(rows)])

    phases = X[: 4 * _BLOCK] @ omega[:_BLOCK].T  # actual ones, since the time depends on their size

    def waves(start):
        columns = min(_BLOCK, N - start)
        out = np.empty((_BLOCK, columns), dtype=np.float32)
        for i in range(0, n, _BLOCK):
            rows = min(_BLOCK, n - i)
            first = i % max(1, len(phases) - rows + 1)
            real = phases[first : first + rows, :columns]
            for function in (np.cos, np.sin) if sines else (np.cos,):
                function(real, out=out[:rows])

    _on_all_cores(products, range(0, N, _BLOCK))
    _on_all_cores(waves, range(0, N, _BLOCK))


def draw_floor(blocks) -> None:
    """The draw of all frequencies of a `FrequencyBlocks`."""
    _on_all_cores(lambda b: blocks.block(b) is None, range(blocks.n_blocks))


def gram_floor(features) -> None:
    """The float32 Gram matrix, (n, n) or (F, F), whichever is smaller (ssyrk)."""
    ssyrk(1.0, features.T, trans=int(features.shape[0] <= features.shape[1]))


def _on_all_cores(work, items) -> None:
    with _BLAS.limit(limits=1, user_api="blas"), ThreadPoolExecutor(cpu_count()) as pool:
        for _ in pool.map(work, items):
            pass
