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
    means = compute.shipped_means(study, methods, beta)
    sets = [_curves(name, means[name]) for name in compute.DATASETS if name in means]
    return with_version(NOTHING | {"study": study, "sets": sets})


def with_run(packed: dict[str, Any], name: str, means: pd.DataFrame) -> dict[str, Any]:
    """Add the means of a run, which are enlarged in place of those that ship."""
    return with_version(packed | {"run": _curves(name, means)})


def _curves(name: str, means: pd.DataFrame) -> dict[str, Any]:
    """Pack the means of one set: errors in %, D or the percentage of the rows that are landmarks."""
    by = "D" if "D" in means else "share"
    curves = [
        {
            "method": method,
            "random": "random" in rest,
            "x": [float(x) * (100 if by == "share" else 1) for x in curve[by]],
            **{name: (100 * curve[name]).round(4).tolist() for name in ("test_error", "train_error")},
            "half_width": (100 * curve["half_width"].where(curve["runs"] >= _FEWEST_RUNS, 0)).round(4).tolist(),
        }
        for (method, *rest), curve in means[means["method"] != "svm"].groupby(
            ["method", "landmarks"] if "landmarks" in means else ["method"], sort=False
        )
    ]
    svm = (100 * means.loc[means["method"] == "svm", "test_error"]).tolist()
    return {"name": name, "runs": int(means["runs"].max()), "curves": curves, "svm": svm[0] if svm else None}
