"""Plotly figures of the app's pages as small data, each for wide and narrow screens, and for light and dark themes.

The app's own functions make the variants (`rff_engine.plots`); a variant is kept as what it changes. Colours of maps
are rounded to 255 levels between their lowest and highest value, all other numbers to float32.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.shared.figures import narrow
from pages.shared.live.packing import as_base64
from rff_engine.plots.style import darken

#: Levels of a map's colours; the next one marks a missing value.
LEVELS = 255


def compact(spec: str) -> dict:
    """Return a Plotly figure, given as JSON, for the browser: the wide and light ``figure``, and changes to it.

    The changes ``dark`` and ``narrow`` have the form of `changes`; both may be applied.
    """
    wide = plain(read(spec))
    variants = {"dark": darken(read(spec)), "narrow": narrow.stack(read(spec))}
    return {"figure": small(wide)} | {name: small(changes(wide, plain(fig))) for name, fig in variants.items()}


def heights(figure: dict) -> tuple[int, int]:
    """Return the heights in pixels of a compact figure on a wide and on a narrow screen."""
    wide = figure["figure"]["layout"]["height"]
    return wide, figure["narrow"].get("layout", {}).get("height", wide)


def changes(before: Any, after: Any) -> Any:
    """Return the changes from one JSON value to another: the parts of objects and lists that differ; None removes."""
    if isinstance(before, dict) and isinstance(after, dict):
        changed = {
            key: changes(before[key], value) if key in before else value
            for key, value in after.items()
            if key not in before or before[key] != value
        }
        return changed | dict.fromkeys(key for key in before if key not in after)
    if _are_objects(before) and _are_objects(after) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return {str(k): changes(old, new) for k, (old, new) in pairs if old != new}
    return after


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def read(spec: str) -> go.Figure:
    """Read a figure from JSON, without its template: the page has its own."""
    figure = json.loads(spec)
    figure["layout"].pop("template", None)
    return go.Figure(figure)


def plain(fig: go.Figure) -> dict:
    """Return a figure as JSON, without its template."""
    plain = json.loads(fig.to_json())
    plain["layout"].pop("template", None)
    return plain


def small(value: Any, kind: str = "") -> Any:
    """Return a JSON value with shorter numbers. `kind` is the kind of the trace around it."""
    if isinstance(value, dict) and "bdata" in value:
        return _small_array(value, kind)
    if isinstance(value, dict):
        return {key: small(part, value.get("type", kind)) for key, part in value.items()}
    if isinstance(value, list):
        return [small(part, kind) for part in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _small_array(array: dict, kind: str) -> dict:
    values = np.frombuffer(b64decode(array["bdata"]), array["dtype"])
    if kind == "heatmap" and array["dtype"] == "f4":  # colours, see style.for_colours
        return _levels(values) | {"shape": array["shape"]}
    if array["dtype"] == "f8":
        return array | {"dtype": "f4", "bdata": as_base64(values, "<f4")}
    return array


def _levels(values: np.ndarray) -> dict:
    low = float(np.nanmin(values))
    high = float(np.nanmax(values))
    step = (high - low) / (LEVELS - 1) or 1.0
    levels = np.where(np.isnan(values), LEVELS, np.round((values - low) / step))
    return {"levels": as_base64(levels, "u1"), "low": low, "step": step}
