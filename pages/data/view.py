"""Data of the page's live view: mean errors of every method on every set that is known, and those of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from pages.data import compute
from pages.shared.live.packing import with_version

#: Least number of runs with intervals: those of two or three would hide the curves.
_FEWEST_RUNS = 4
#: Nothing that is known, for a run alone.
NOTHING: dict[str, Any] = {"study": "features", "counts": compute.COUNTS, "sets": [], "run": None}


def live_errors(study: str, methods: Sequence[str], beta: str) -> dict[str, Any]:
    """Pack the means of all sets whose rows ship."""
    each = [shipped_curves(study, method, beta if method == "pbrff" else compute.VALIDATED) for method in methods]
    sets = {name: [of[name] for of in each if name in of] for name in compute.DATASETS}
    return with_version(NOTHING | {"study": study, "sets": [_together(curves) for curves in sets.values() if curves]})


def shipped_curves(study: str, method: str, beta: str) -> dict[str, dict[str, Any]]:
    """Pack the means of a method by data set."""
    return {name: _curves(name, means) for name, means in compute.shipped_means(study, method, beta).items()}


def _together(methods: list[dict[str, Any]]) -> dict[str, Any]:
    """Join the packed means of several methods on one set."""
    svm = next((one["svm"] for one in methods if one["svm"] is not None), None)
    return methods[0] | {"curves": [curve for one in methods for curve in one["curves"]], "svm": svm}


def with_run(packed: dict[str, Any], name: str, means: pd.DataFrame) -> dict[str, Any]:
    """Add the means of a run, which are enlarged in place of those that ship."""
    return with_version(packed | {"run": _curves(name, means)})


def _curves(name: str, means: pd.DataFrame) -> dict[str, Any]:
    """Pack the means of one set: errors in %, D or the percentage of the rows that are landmarks."""
    curves: dict[tuple, dict[str, Any]] = {}
    svm = None
    for row in means.to_dict("records"):  # faster than many operations on few rows
        if row["method"] == "svm":
            svm = 100 * row["test_error"]
            continue
        random = row.get("landmarks") == "random"
        empty = {"x": [], "test_error": [], "train_error": [], "half_width": []}
        curve = curves.setdefault((row["method"], random), {"method": row["method"], "random": random} | empty)
        curve["x"].append(100 * float(row["share"]) if "share" in row else float(row["D"]))
        if row["runs"] < _FEWEST_RUNS:
            row["half_width"] = 0.0
        for error in ("test_error", "train_error", "half_width"):
            curve[error].append(round(100 * row[error], 4))
    return {"name": name, "runs": int(means["runs"].max()), "curves": list(curves.values()), "svm": svm}
