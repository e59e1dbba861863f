"""Warnings that point to the line of the caller, not into the engine's own files."""

from __future__ import annotations

import sys
import warnings

# The engine, and libraries that call it on behalf of the caller: a Pipeline, a grid search.
_PASSED_THROUGH = {"rff_engine", "sklearn", "joblib"}
_MOST_LISTED = 5


def listed(names: list[str]) -> str:
    """List the first names, and dots if there are more."""
    return ", ".join(names[:_MOST_LISTED]) + ", ..." * (len(names) > _MOST_LISTED)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside the engine, scikit-learn and joblib."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED_THROUGH:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
