"""Colours of the live view of kernels, and the figure of the error of random features."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from rff_engine._typing import ArrayLike
from rff_engine.plots.style import (
    FEATURE_MAP_COLOURS,
    LANDMARK_COLOURS,
    add_curve,
    add_rule,
    finish,
    fixed_margin,
    new_figure,
)

#: The exact kernel, and its two estimates.
LINE_COLOURS = {"kernel": "#8C8C8C", **FEATURE_MAP_COLOURS}
_COS_SIN, _PHASE = FEATURE_MAP_COLOURS.values()
LINE_DASHES = {"kernel": "solid", "cos_sin": "solid", "random_phase": "dash"}
#: Colours of single cosines; the estimates have others.
WAVE_COLOURS = tuple(LANDMARK_COLOURS[i] for i in (0, 1, 2, 7))
_ERROR_TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)


def approximation_error(
    n_features: ArrayLike, measured: Mapping[str, ArrayLike], expected: Mapping[str, ArrayLike], current: int
) -> go.Figure:
    """Plot the error of the approximated kernel against the number of features, on logarithmic axes.

    The errors (P,) have the keys "cos_sin" and "random_phase"; `current` is the position of the number to mark.
    """
    n_features = np.asarray(n_features)
    fig = new_figure()
    add_rule(fig, x=float(n_features[current]))
    for key, name, colour, symbol in (
        ("random_phase", "random phase", _PHASE, "square"),
        ("cos_sin", "cos/sin", _COS_SIN, "circle"),
    ):
        hover = "%{x} features: error %{y:.3g}<extra>" + name + "</extra>"
        line = {"color": colour, "width": 1.5, "dash": "dash"}
        add_curve(fig, n_features, expected[key].astype(np.float32), f"{name}, expected ∝ 1/√features", line)
        fig.add_scatter(
            x=n_features,
            y=measured[key].astype(np.float32),
            mode="markers",
            marker={"color": colour, "size": 6, "symbol": symbol},
            name=f"{name}, measured",
            hovertemplate=hover,
        )
        fig.add_scatter(
            x=n_features[[current]],
            y=measured[key][[current]].astype(np.float32),
            mode="markers",
            marker={"color": colour, "size": 16, "symbol": f"{symbol}-open", "line": {"width": 2.5}},
            showlegend=False,
            hovertemplate=hover,
        )
    fig.update_xaxes(type="log", title="number of features, 2D", dtick=1)
    fig.update_yaxes(type="log", title="error of the kernel matrix (RMS)", tickvals=_ERROR_TICKS)
    return finish(fig, 380, margin=fixed_margin(top=62))
