"""The kernel "learned": of several widths, their mixture and other shapes, the one with the least held-out error.

One of them has a length scale for each column, which agrees with the labels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from ._strength import held_out_rows, ridge_predictions
from .column_kernels import AnisotropicGaussianKernel
from .composed_kernels import SumKernel
from .kernels import SCALE, GaussianKernel, LaplacianKernel, MaternKernel, SpectralKernel

#: Value of `kernel` that stands for a choice by labels.
LEARNED = "learned"
#: Widths of Gaussian kernels to try, in units of "scale"; the mixture has all but the narrowest.
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
# Number of kernels to try: those of `kernels_to_try`, and the one with a length scale for each column.
_N_KERNELS = len(FACTORS) + 4
# Length scales of a column are powers of 2 in units of "scale", with these exponents.
_EXPONENTS = range(-3, 5)
_STARTS = (0.0, -2.0)  # the exponents to learn from
_MOST_COLUMNS, _MOST_ROWS, _STEPS = 64, 400, 10  # of the kernel whose columns have length scales
# Penalties of the ridge regressions that judge, over the number of rows: as logistic regression at C = 16 and at C = 1.
_PENALTIES = (1.0, 16.0)
# Added to shares of errors before they are compared; by how much another kernel must be better.
_FEW_ERRORS, _MARGIN = 0.01, 0.05


def is_learned(kernel) -> bool:
    """Return whether an argument is "learned"."""
    return isinstance(kernel, str) and kernel == LEARNED


def share_of(kernel) -> float:
    """Return a learned kernel's share of epsilon; the shares of all kernels that may be learned sum to one."""
    one = 1 / _N_KERNELS
    return one / len(_EXPONENTS) ** len(kernel.length_scales) if isinstance(kernel, AnisotropicGaussianKernel) else one


def kernels_to_try(X, weights=None) -> list[SpectralKernel]:
    """Return the kernels of which one is learned, the Gaussian one of the width "scale" first."""
    sigma = float(GaussianKernel(SCALE)._scaled_to(X, weights).sigma)
    widths = {factor: GaussianKernel(factor * sigma) for factor in FACTORS}
    others = [kernel for factor, kernel in widths.items() if factor != 1.0]
    shapes = LaplacianKernel(SCALE)._scaled_to(X, weights), MaternKernel(length_scale=SCALE)._scaled_to(X, weights)
    return [widths[1.0], *others, SumKernel(tuple(widths[factor] for factor in FACTORS[1:])), *shapes]


def learned_kernel(X, y, weights, trial: Callable, rng) -> SpectralKernel:
    """Return the kernel whose features predict held-out classes best.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Checked points.
    y : ndarray of shape (n,)
        Class labels.
    weights : ndarray of shape (n,), or None
    trial : callable
        ``trial(kernel, X, y, weights)`` fits features and returns the function that maps points to them.
    rng : Generator
        Chooses the rows; 3000 at most are looked at.

    Returns
    -------
    SpectralKernel
        That of the width "scale" if the rows are too few to choose by, or no other kernel is clearly better.
    """
    kernels = kernels_to_try(X, weights)
    own = np.ones(X.shape[0]) if weights is None else weights
    held, train = held_out_rows(X, own, rng.standard_normal(X.shape[1]))
    train &= own > 0
    if not own[held].any() or len(np.unique(y[train])) < 2:
        return kernels[0]
    targets = (y[:, None] == np.unique(y)).astype(np.float64)
    if 1 < X.shape[1] <= _MOST_COLUMNS:
        few = held_out_rows(X, np.where(train, own, 0.0), rng.standard_normal(X.shape[1]), _MOST_ROWS)[1] & train
        lengths = np.array(AnisotropicGaussianKernel(SCALE)._scaled_to(X, weights).length_scales)
        kernels.append(_kernel_of_columns(X[few], targets[few], own[few], lengths))
    errors = []
    for kernel in kernels:
        transform = trial(kernel, X[train], y[train], None if weights is None else own[train])
        errors.append(
            _errors((transform(X[train]), targets[train], own[train]), transform(X[held]), targets[held], own[held])
        )
    judged = (np.array(errors) / errors[0]).mean(axis=1)
    best = int(np.argmin(judged))
    return kernels[best if judged[best] < 1 - _MARGIN else 0]


def _kernel_of_columns(X, targets, weights, lengths) -> AnisotropicGaussianKernel:
    """Return the kernel whose length scales agree with the classes, by its centred alignment (Cortes et al. 2012).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    targets : ndarray of shape (n, K)
        Indicators of the classes.
    weights : ndarray of shape (n,)
    lengths : ndarray of shape (d,)
        The length scales "scale".
    """
    points = (X.toarray() if sp.issparse(X) else X) / lengths
    share = weights / weights.sum()
    pairs = np.outer(share, share)
    same = _centred(targets @ targets.T, share)
    weighted = pairs * same

    def loss(exponents):
        scaled = points * 2.0**-exponents
        squares = (scaled**2).sum(axis=1)
        K = np.exp(scaled @ scaled.T - 0.5 * (squares + squares[:, None]))
        centred = _centred(K, share)
        size = np.sqrt((pairs * centred**2).sum()) + 1e-12
        alignment = (weighted * centred).sum() / size
        # `same` and `centred` are centred, so centring changes nothing in the derivative by K.
        slope = (weighted - (alignment / size) * pairs * centred) * K / size
        gradient = slope.sum(axis=1) @ scaled**2 - (scaled * (slope @ scaled)).sum(axis=0)
        return -alignment, -2 * np.log(2) * gradient

    limits = [(_EXPONENTS[0], _EXPONENTS[-1])] * points.shape[1]
    found = [
        minimize(loss, np.full(points.shape[1], start), jac=True, bounds=limits, options={"maxiter": _STEPS})
        for start in _STARTS
    ]
    best = min(found, key=lambda result: result.fun).x
    return AnisotropicGaussianKernel(tuple((lengths * 2.0 ** np.rint(best)).tolist()))


def _centred(K, share):
    means = K @ share
    return K - means - means[:, None] + share @ means


def _errors(train, held, targets, weights) -> tuple[float, float]:
    """Return the squared error of ridge regression on held-out rows, and the share of classes that it misses."""
    share = weights / weights.sum()
    predicted = list(ridge_predictions(train, held, np.array(_PENALTIES) / train[2].sum()))
    squared = sum(share @ ((one - targets) ** 2).sum(axis=1) for one in predicted)
    missed = sum(share @ (one.argmax(axis=1) != targets.argmax(axis=1)) for one in predicted)
    return float(squared) + 1e-9, float(missed) / len(predicted) + _FEW_ERRORS
