"""Data of the page's live view: the numbers of a figure of Letarte et al. (2019) on one data set, in percent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from pages.papers.tables import AGREEMENT_COLOURS
from pages.shared.live.packing import with_version
from rff_engine.plots.style import METHOD_NAMES

#: Printed errors, reruns on the paper's split and their range over draws, and means over random splits.
NUMBERS = ("paper", "published", "published_train", "draw_low", "draw_high", "mean", "spread")
_LANDMARKS = {"clustering": "k-means centroids", "random": "random points"}


def pack_reruns(comparison: pd.DataFrame, by: str) -> dict[str, Any]:
    """Pack rows of `letarte.figure`: a panel for each method, by "share" also for each way of choosing landmarks."""
    table = comparison.sort_values(by)
    table.loc[~(table["draws"] > 1), ["draw_low", "draw_high"]] = np.nan
    table[by] = table["D"] if by == "D" else (100 * table["share"]).round(6)
    panels = []
    for way in (None,) if by == "D" else _LANDMARKS:
        for method in ("rff", "pbrff", "okrff") if by == "D" else ("rbf_landmarks", "pb_landmarks"):
            rows = table[(table["method"] == method) & (way is None or table["landmarks"] == way)]
            name = METHOD_NAMES[method] if way is None else f"{method[:-10].upper()}, {_LANDMARKS[way]}"
            errors = {key: [None if np.isnan(e) else round(100 * e, 4) for e in rows[key]] for key in NUMBERS}
            known = {"x": rows[by].tolist(), "agreement": rows["agreement"].tolist()}
            panels.append({"name": name} | known | errors)
    curves = 100 * table[[*NUMBERS[:2], *NUMBERS[4:6]]]
    low = curves.min(axis=None)
    high = curves.max(axis=None)
    return with_version(
        {
            "by": by,
            "low": 0 if low < high / 2 else 0.9 * low,
            "top": 1.08 * high,
            "counts": sorted({x for panel in panels for x in panel["x"]}),
            "panels": panels,
            "colours": {kind: colour[:7] for kind, colour in AGREEMENT_COLOURS.items()},
        }
    )
