"""Figures against the inverse temperature: errors, a bound, and the divergence from the prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from rff_engine._typing import ArrayLike
from rff_engine.plots.style import (
    METHOD_COLOURS,
    add_band,
    add_curve,
    add_rule,
    finish,
    fixed_margin,
    log_axis,
    new_figure,
)

if TYPE_CHECKING:
    from rff_engine.studies.toy.landmarks import LandmarkPath

_LEARNED, _BOUND, _MARKER = METHOD_COLOURS["pbrff"], "#009E73", "#8C8C8C"
_LOOKS: tuple[dict[str, Any], ...] = (
    {"line": {"color": _LEARNED, "width": 2.5}, "marker": {"symbol": "diamond", "size": 7}},
    {"line": {"color": _LEARNED, "width": 1.5, "dash": "dot"}, "marker": {"symbol": "circle", "size": 5}},
)


@dataclass(frozen=True)
class ErrorPath:
    """An error, as a fraction, for each beta, optionally with the half-width of an interval."""

    betas: np.ndarray
    """(B,)"""
    error: np.ndarray
    """(B,)"""
    margin: np.ndarray | None = None
    """(B,)"""


def errors_and_kl(
    beta: float,
    errors: Mapping[str, ErrorPath],
    kl_betas: ArrayLike,
    kl: ArrayLike,
    kl_name: str = "KL(Q‖P)",
    bound: ArrayLike | None = None,
) -> go.Figure:
    """Plot errors against beta, above a bound on the loss and the divergence from the prior.

    The first of several errors is emphasised. Divergences (K,) are in nats. A line stands at `beta`, and one at the
    smallest bound (K,).
    """
    last = 2 if bound is None else 3
    fig = new_figure(rows=last, heights=(3, 2, 2)[:last], gap=(0, 0.06))
    for (name, path), look in zip(errors.items(), _LOOKS, strict=False):
        margin, hover = np.zeros(len(path.betas)), "β = %{x:.3g}: %{y:.1f} %"
        if path.margin is not None:
            margin, hover = path.margin, "β = %{x:.3g}: %{y:.1f} ± %{customdata:.1f} %"
            low = np.maximum(path.error - margin, 0)
            high = np.minimum(path.error + margin, 1)
            add_band(fig, path.betas, 100 * low, 100 * high, _LEARNED, row=1, col=1)
        look = look | {"mode": "lines+markers", "customdata": 100 * margin}
        add_curve(fig, path.betas, 100 * path.error, name, hover=hover, row=1, col=1, **look)
    line = {"color": "#0072B2", "width": 2.5}
    add_curve(fig, kl_betas, kl, kl_name, line, "β = %{x:.3g}: %{y:.3g} nats", row=last, col=1)
    if bound is not None:
        _add_bound(fig, np.asarray(kl_betas), np.asarray(bound))
    # A live view on the same page finds the line by its name and moves it with its slider.
    add_rule(fig, x=beta, name="beta")
    low, high = np.log10([min(kl_betas), max(kl_betas)])
    decades = 10.0 ** np.arange(np.ceil(low - 1e-9), high + 1e-9)
    fig.update_xaxes(range=[low - 0.08, high + 0.08], fixedrange=True, **log_axis(decades))  # markers at the ends
    for row in range(1, last):
        fig.update_xaxes(row=row, showticklabels=False)
    fig.update_xaxes(row=last, title="inverse temperature β")
    fig.update_yaxes(row=1, title="error (%)", rangemode="tozero", fixedrange=True)
    fig.update_yaxes(row=last, title="KL (nats)", rangemode="tozero", fixedrange=True)
    return finish(fig, 430 if bound is None else 520, margin=fixed_margin(top=62))


def landmark_errors_and_kl(beta: float, path: LandmarkPath, test_error: str = "test error") -> go.Figure:
    """Plot `errors_and_kl` of landmarks; `test_error` names the error on other points."""
    errors = {test_error: path.test_error, "train error": path.train_error}
    paths = {name: ErrorPath(path.betas, error) for name, error in errors.items()}
    return errors_and_kl(beta, paths, path.betas, path.kl, "mean KL(Q‖P) over the landmarks", path.bound)


def _add_bound(fig, betas: np.ndarray, bound: np.ndarray) -> None:
    """Add a bound to the second panel, and a line at its smallest value."""
    line = {"color": _BOUND, "width": 2.5}
    add_curve(fig, betas, bound, "bound on the loss", line, "β = %{x:.3g}: %{y:.3f}", row=2, col=1)
    least = np.argmin(bound)
    fig.add_scatter(
        x=betas[[least]],
        y=bound[[least]],
        name="its smallest value",
        mode="markers",
        marker={"color": _BOUND, "symbol": "star", "size": 12},
        hoverinfo="skip",
        row=2,
        col=1,
    )
    add_rule(fig, x=betas[least], line={"color": _BOUND, "width": 1})
    fig.update_yaxes(row=2, title="bound", fixedrange=True)
