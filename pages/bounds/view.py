"""Data of the page's live views: curves, terms and maps of the bounds, and samples on which a theorem is tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.bounds import compute
from pages.bounds.compute import BoundSettings, Guarantee
from pages.shared.live.packing import as_base64, with_version
from rff_engine.plots import bounds as figures
from rff_engine.studies.toy.bounds import MAP_LOG_COUNTS
from rff_engine.studies.toy.coverage import draw_promises

#: Numbers of samples on which Theorem 4 may be tried.
MOST_SAMPLES = 5000
# Largest value in a map of a bound; values above 1 are grey.
_MAP_LIMIT = 2.0


def live_bounds(settings: BoundSettings, guarantee: Guarantee) -> dict[str, Any]:
    """Pack every curve, and the terms of every bound."""
    curves = compute.all_bounds(settings, guarantee)
    bounds = [
        {
            "name": name,
            "side": "landmark" if curves.posterior(name) is curves.landmark else "kernel",
            "label": figures.bound_label(name, curve.n_landmarks),
            "kind": figures.BOUNDS[name].kind,
            "colour": figures.BOUNDS[name].colour,
            "dash": figures.BOUNDS[name].dash,
            "values": as_base64(curve.values, "<f8"),
            "best": curve.best,
            "parts": [
                {
                    "name": term,
                    "label": figures.TERM_NAMES[term],
                    "colour": figures.TERM_COLOURS[term],
                    "values": as_base64(values, "<f8"),
                }
                for term, values in curve.terms.items()
            ],
        }
        for name, curve in curves.bounds.items()
    ]
    losses = [
        {"side": side, "truth": truth, "label": label, "values": as_base64(values, "<f8")}
        | {"colour": line["color"], "dash": line.get("dash", "solid")}
        for side, posterior in (("landmark", curves.landmark), ("kernel", curves.kernel))
        for truth, label, values, line in (
            (False, "empirical loss", posterior.loss, figures.EMPIRICAL_LINE),
            (True, "true risk", posterior.risk, figures.TRUE_LINE),
        )
    ]
    top = figures.top_of(curve.best_value for curve in curves.bounds.values())
    return with_version(
        {"betas": as_base64(curves.betas, "<f8"), "bounds": bounds, "losses": losses, "top": top}
        | {
            "n": settings.data.n,
            "log_counts": list(MAP_LOG_COUNTS),
            "map_limit": _MAP_LIMIT,
            "grey": figures.OTHER_COLOUR,
        }
    )


def chosen_bound(settings: BoundSettings, guarantee: Guarantee, name: str) -> dict[str, Any]:
    """Pack a bound's map over beta and n, rounded to 16 bits."""
    values = compute.bound_map(settings, guarantee, name)
    packed = as_base64(np.round(np.minimum(values, _MAP_LIMIT) * (65535 / _MAP_LIMIT)), "<u2")
    return {"name": name, "map": packed, "valley": values.argmin(axis=1).tolist()}


def live_promises(seed: int, allowed: Sequence[float]) -> dict[str, Any]:
    """Pack all samples that Theorem 4 may be tried on; `allowed` are the values of epsilon."""
    draws = as_base64(draw_promises(MOST_SAMPLES, seed), "<f4")
    return with_version({"uniform": draws, "allowed": list(allowed), "colours": figures.FORM_COLOURS})
