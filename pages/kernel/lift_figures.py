"""Figures of a feature map that lifts the plane into space, and of the losses of a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine.losses import LOSSES
from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    CLASS_COLOURS,
    CLASS_SYMBOLS,
    LANDMARK_COLOURS,
    add_curve,
    add_note,
    finish,
    fixed_margin,
)

if TYPE_CHECKING:
    from pages.kernel.lift import Lift

#: Names of the losses of a classification.
LOSS_NAMES = {"zero_one": "0-1", "hinge": "hinge", "squared_hinge": "squared hinge", "logistic": "logistic"}
_LOSS_LINES = {
    "zero_one": {"color": LANDMARK_COLOURS[6], "width": 4},
    "hinge": {"color": LANDMARK_COLOURS[0], "width": 2.5},
    "squared_hinge": {"color": LANDMARK_COLOURS[1], "width": 2.5, "dash": "dash"},
    "logistic": {"color": LANDMARK_COLOURS[7], "width": 2.5, "dash": "dashdot"},
}


def lifted_points(lift: Lift) -> go.Figure:
    """Two classes in space, where a plane separates them; the reader turns it by hand."""
    points = [
        {
            "type": "scatter3d",
            **dict(zip("xyz", lift.Z[lift.y == label].T.astype(np.float32), strict=True)),
            "mode": "markers",
            "marker": {"size": 3, "color": CLASS_COLOURS[label], "symbol": CLASS_SYMBOLS[label]},
            "name": name,
            "hovertemplate": "φ(x) = (%{x:.2f}, %{y:.2f}, %{z:.2f})<extra>" + name + "</extra>",
        }
        for label, name in ((-1, "class −1"), (1, "class 1"))
    ]
    axes = {
        f"{axis}axis": {"title": {"text": f"φ{index}"}, "range": [-0.9, 0.9], "showspikes": False, "nticks": 4}
        for axis, index in zip("xyz", "₁₂₃", strict=True)
    }
    layout = {
        "height": 480,
        "margin": {"l": 0, "r": 0, "t": 30, "b": 0},
        "legend": {"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom", "itemsizing": "constant"},
        "scene": axes
        | {
            "aspectmode": "cube",
            "dragmode": "turntable",
            "camera": {"eye": _along(lift.coef)},
        },
        "uirevision": "keep",
    }
    return go.Figure({"data": [*points, _plane(lift)], "layout": layout})


def _plane(lift) -> dict:
    """The part of the separating plane that lies in the cube of the axes, as a polygon of triangles."""
    w, corners = lift.coef, _corners(lift.coef, lift.intercept, 0.9)
    n = len(corners)
    return {
        "type": "mesh3d",
        **dict(zip("xyz", corners.T.astype(np.float32), strict=True)),
        "i": [0] * max(n - 2, 0),
        "j": list(range(1, n - 1)),
        "k": list(range(2, n)),
        "color": LANDMARK_COLOURS[1] if np.any(w) else "#8C8C8C",
        "opacity": 0.35,
        "hoverinfo": "skip",
        "name": "plane f(x) = 0",
        "showlegend": True,
    }


def _corners(w, b: float, half: float) -> np.ndarray:
    """Corners, in order around the middle, of the polygon in which the plane w . z + b = 0 cuts a cube."""
    ends = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    edges = [(p, q) for p in range(8) for q in range(p) if np.sum(ends[p] != ends[q]) == 1]
    values, cuts = ends @ w + b, []
    for p, q in edges:
        if values[p] * values[q] < 0:
            cuts.append(ends[p] + (ends[q] - ends[p]) * values[p] / (values[p] - values[q]))
    if not cuts:
        return np.zeros((0, 3))
    cuts = np.array(cuts)
    centred = cuts - cuts.mean(axis=0)
    _, _, axes = np.linalg.svd(centred)
    angle = np.arctan2(centred @ axes[1], centred @ axes[0])
    return cuts[np.argsort(angle)]


def _along(w) -> dict:
    """Position of an eye that sees the plane of normal w almost from its edge."""
    across = np.cross(w, [0.0, 0.0, 1.0])
    across = across / (np.linalg.norm(across) or 1.0)
    eye = 2.3 * across + 0.35 * w / (np.linalg.norm(w) or 1.0) + np.array([0, 0, 0.6])
    return dict(zip("xyz", map(float, eye), strict=True))


def losses_against_margin(lift: Lift) -> go.Figure:
    """Losses against the margin y f(x), with the margins of the lifted and the flat points below."""
    fig = Sheet()
    margins = np.linspace(-2, 3, 501)
    for name, label in LOSS_NAMES.items():
        losses = LOSSES[name](margins, np.ones(len(margins))).astype(np.float32)
        add_curve(fig, margins.astype(np.float32), losses, label, _LOSS_LINES[name], "margin %{x:.2f}: %{y:.2f}")
    for row, (key, label) in enumerate((("lifted", "lifted"), ("flat", "in the plane"))):
        clipped = np.clip(lift.decisions[key] * lift.y, -2, 3)
        fig.add_scatter(
            x=clipped.astype(np.float32),
            y=np.full(len(clipped), -0.35 - 0.4 * row, dtype=np.float32),
            mode="markers",
            marker={
                "symbol": "line-ns",
                "size": 10,
                "opacity": 0.5,
                "line": {"width": 1, "color": LANDMARK_COLOURS[1] if key == "lifted" else LANDMARK_COLOURS[6]},
            },
            showlegend=False,
            hovertemplate="margin %{x:.2f}<extra>" + label + "</extra>",
        )
        add_note(fig, -2, -0.35 - 0.4 * row, label, xanchor="left", font={"size": 12})
    fig.update_xaxes(title="margin y f(x)", range=[-2, 3.05], zeroline=False)
    fig.update_yaxes(title="loss", range=[-1, 4], tickvals=[0, 1, 2, 3, 4], zeroline=False)
    return finish(fig, 400, margin=fixed_margin(top=52))
