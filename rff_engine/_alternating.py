"""Algorithms 1 and 2 of Li et al. (2019) as printed: best weights, then gradient steps of a fixed length, in turn.

`_approximation_loss.descend` minimises the same objectives with weights that follow the frequencies.
"""

from __future__ import annotations

import numpy as np

from ._approximation_loss import FARTHEST, STEPS_JUDGED

_POWER_STEPS = 10
_DIFFERENCE = 1e-4  # of a frequency's typical size, for derivatives of the gradient


def alternate(
    refit, start, max_steps: int, inner_steps: int, learning_rate, tol: float, keep_path: bool, verbose: bool
):
    """Minimise a function of frequencies and other variables in turn.

    `refit` takes frequencies of the shape of `start`, computes the other variables, and returns the value, further
    results, and a function for the gradient while these variables are fixed. The default `learning_rate` is the inverse
    of the largest curvature at the start. The result is as in `descend`; the losses may rise.

    Raises
    ------
    ValueError
        If the frequencies leave all bounds.
    """
    losses, path, converged = [], [], False
    V = start.copy()
    value, results, gradient = refit(V)
    if learning_rate is None:
        learning_rate = 1 / max(_largest_curvature(gradient, V), np.finfo(np.float64).tiny ** 0.5)
    while True:
        losses.append(value)
        if keep_path:
            path.append((V, results))
        step = len(losses) - 1
        if verbose and step % STEPS_JUDGED == 0:
            print(f"Iteration {step}, objective {value:.6g}")
        before = losses[-1 - STEPS_JUDGED] if step >= STEPS_JUDGED else np.inf
        converged = not value > 0 or abs(before - value) < tol * before
        if converged or step == max_steps:
            break
        for _ in range(inner_steps):
            with np.errstate(over="ignore"):
                V = V - learning_rate * gradient(V)
            if not np.abs(V).max() < FARTHEST:  # or NaN
                raise ValueError(f"learning_rate is {learning_rate:g}; with it the descent diverges, so lower it.")
        value, results, gradient = refit(V)
    if verbose:
        print(f"{'Converged' if converged else 'Stopped'} at iteration {step}, objective {value:.6g}")
    return np.array(losses), (V, results), path, converged


def _largest_curvature(gradient, V) -> float:
    """Return the largest absolute eigenvalue of the derivative of a gradient: power iteration from the gradient."""
    direction, curvature = gradient(V), 0.0
    step = _DIFFERENCE * (float(np.sqrt((V**2).mean())) or 1.0)
    for _ in range(_POWER_STEPS):
        length = float(np.linalg.norm(direction))
        if not length > 0:
            return curvature
        direction = direction / length
        direction = (gradient(V + step * direction) - gradient(V - step * direction)) / (2 * step)
        curvature = float(np.linalg.norm(direction))
    return curvature
