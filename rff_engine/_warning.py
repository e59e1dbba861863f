"""Warnings that point to the line of the caller, not into the engine's own files."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn"]

# Libraries that call the engine on the caller's behalf: a Pipeline, a grid search.
_PASSED_THROUGH = {"rff_engine", "sklearn", "joblib"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line that is neither of the engine nor of scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED_THROUGH:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
