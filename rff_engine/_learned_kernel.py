"""The kernel "learned": of several widths, their mixture and other shapes, the one with the least held-out error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._strength import held_out_rows, ridge_predictions
from .composed_kernels import SumKernel
from .kernels import SCALE, GaussianKernel, LaplacianKernel, MaternKernel, SpectralKernel

#: Value of `kernel` that stands for a choice by labels.
LEARNED = "learned"
#: Widths of Gaussian kernels to try, in units of "scale"; the mixture has all but the narrowest.
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
#: Number of kernels to try.
N_KERNELS = len(FACTORS) + 3
# Penalties of the ridge regressions that judge, over the number of rows: as logistic regression at C = 16 and at C = 1.
_PENALTIES = (1.0, 16.0)
# Added to shares of errors before they are compared; by how much another kernel must be better.
_FEW_ERRORS, _MARGIN = 0.01, 0.05


def is_learned(kernel) -> bool:
    """Return whether an argument is "learned"."""
    return isinstance(kernel, str) and kernel == LEARNED


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
    errors = []
    for kernel in kernels:
        transform = trial(kernel, X[train], y[train], None if weights is None else own[train])
        errors.append(
            _errors((transform(X[train]), targets[train], own[train]), transform(X[held]), targets[held], own[held])
        )
    judged = (np.array(errors) / errors[0]).mean(axis=1)
    best = int(np.argmin(judged))
    return kernels[best if judged[best] < 1 - _MARGIN else 0]


def _errors(train, held, targets, weights) -> tuple[float, float]:
    """Return the squared error of ridge regression on held-out rows, and the share of classes that it misses."""
    share = weights / weights.sum()
    predicted = list(ridge_predictions(train, held, np.array(_PENALTIES) / train[2].sum()))
    squared = sum(share @ ((one - targets) ** 2).sum(axis=1) for one in predicted)
    missed = sum(share @ (one.argmax(axis=1) != targets.argmax(axis=1)) for one in predicted)
    return float(squared) + 1e-9, float(missed) / len(predicted) + _FEW_ERRORS
