"""Figures of kernels as averages of cosines, of the error of random features, and of circles that they lift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine._typing import ArrayLike
from rff_engine.losses import LOSSES
from rff_engine.plots.panels import add_dots, add_map, finish_panels, square_panels
from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    CLASS_COLOURS,
    CLASS_SYMBOLS,
    FEATURE_MAP_COLOURS,
    LANDMARK_COLOURS,
    SEQUENTIAL_SCALE,
    SIMILARITY_SCALE,
    add_curve,
    add_note,
    finish,
    fixed_margin,
)

if TYPE_CHECKING:
    from pages.kernel.compute import KernelPlane, Lift
    from rff_engine.studies.toy.kernel import KernelLine

#: The exact kernel, and its two estimates.
LINE_COLOURS = {"kernel": "#8C8C8C", **FEATURE_MAP_COLOURS}
_EXACT, _COS_SIN, _PHASE = LINE_COLOURS.values()
LINE_DASHES = {"kernel": "solid", "cos_sin": "solid", "random_phase": "dash"}
#: Colours of single cosines; the estimates have others.
WAVE_COLOURS = tuple(LANDMARK_COLOURS[i] for i in (0, 1, 2, 7))
#: Up to this number frequencies are shown as ticks, above it as a histogram.
_MOST_TICKS = 100
_ERROR_TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
#: Differences are shown on a finer scale than kernels.
_DIFFERENCE_LIMIT = 0.5
#: Names of the losses of a classification.
LOSS_NAMES = {"zero_one": "0-1", "hinge": "hinge", "squared_hinge": "squared hinge", "logistic": "logistic"}
_LOSS_LINES = {
    "zero_one": {"color": LANDMARK_COLOURS[6], "width": 4},
    "hinge": {"color": LANDMARK_COLOURS[0], "width": 2.5},
    "squared_hinge": {"color": LANDMARK_COLOURS[1], "width": 2.5, "dash": "dash"},
    "logistic": {"color": LANDMARK_COLOURS[7], "width": 2.5, "dash": "dashdot"},
}


def spectrum_and_kernel(line: KernelLine, *, height: int = 430) -> go.Figure:
    """Plot the spectral density with the sampled frequencies, and the kernel with the mean of their cosines."""
    fig = Sheet(columns=2, widths=(0.42, 0.58))
    half, top = line.frequencies[-1], _add_spectrum(fig, line)
    _add_kernel(fig, line)
    fig.update_xaxes(title="frequency ω (radians per unit of x)", range=[-half, half], col=1)
    fig.update_yaxes(title="density", range=[-0.1 * top, 1.05 * top], col=1)
    fig.update_xaxes(title="difference δ = x − x′", range=[line.delta[0], line.delta[-1]], col=2)
    fig.update_yaxes(title="kernel", range=[-1.1, 1.3], tickvals=[-1, -0.5, 0, 0.5, 1], col=2)
    fig.update_xaxes(zeroline=False)
    fig.update_yaxes(zeroline=False)
    return finish(fig, height, margin=fixed_margin(top=84))


def _add_spectrum(fig, line) -> float:
    """Add density and frequencies; return the height of the highest mark."""
    omega, half = line.omega, line.frequencies[-1]
    top = float(line.density.max())
    if len(omega) > _MOST_TICKS:
        top = max(top, _add_histogram(fig, omega, half))
    else:
        others = omega[~np.isin(omega, line.wave_omega) & (np.abs(omega) <= half)]
        _add_ticks(fig, others, _COS_SIN, -0.05 * top, "the D frequencies")
    x = line.frequencies.astype(np.float32)
    y = line.density.astype(np.float32)
    look = {"color": _EXACT, "width": 3}
    add_curve(fig, x, y, "spectral density p(ω)", look, "p(%{x:.2f}) = %{y:.3g}", extra="", row=1, col=1)
    for omega_w, colour in zip(line.wave_omega, WAVE_COLOURS, strict=False):
        _add_ticks(fig, [omega_w], colour, -0.05 * top, None, size=18)
    return top


def _add_histogram(fig, omega, half) -> float:
    edges = np.linspace(-half, half, 61)
    # Divide by the number of all frequencies, inside and outside the range, to compare with the density.
    heights = np.histogram(omega, edges)[0] / (len(omega) * np.diff(edges))
    fig.add_bar(
        x=((edges[:-1] + edges[1:]) / 2).astype(np.float32),
        y=heights.astype(np.float32),
        marker={"color": _COS_SIN, "line": {"width": 0}},
        opacity=0.45,
        name="the D frequencies, histogram",
        hovertemplate="ω about %{x:.2f}: %{y:.3g}<extra></extra>",
        row=1,
        col=1,
    )
    fig.update_layout(bargap=0)
    return float(heights.max())


def _add_ticks(fig, omega, colour, height, name, size=12) -> None:
    fig.add_scatter(
        x=np.asarray(omega, dtype=np.float32),
        y=np.full(len(omega), height, dtype=np.float32),
        mode="markers",
        marker={"symbol": "line-ns", "size": size, "line": {"color": colour, "width": 1.3 if size < 15 else 2.5}},
        name=name or "",
        showlegend=name is not None,
        hovertemplate="ω = %{x:.2f}<extra></extra>",
        row=1,
        col=1,
    )


def _add_kernel(fig, line) -> None:
    delta = line.delta.astype(np.float32)
    for wave, omega, colour in zip(line.waves, line.wave_omega, WAVE_COLOURS, strict=False):
        fig.add_scatter(
            x=delta,
            y=wave.astype(np.float32),
            mode="lines",
            line={"color": colour, "width": 1},
            opacity=0.55,
            showlegend=False,
            hovertemplate=f"cos({omega:.2f} δ)<extra></extra>",
            row=1,
            col=2,
        )
    for values, colour, width, dash, name in (
        (line.exact, _EXACT, 5, "solid", "kernel k(δ)"),
        (line.random_phase, _PHASE, 1.8, "dash", "random phase, at x′ = 0"),
        (line.cos_sin, _COS_SIN, 2.2, "solid", "cos/sin: mean of D cosines"),
    ):
        look = {"color": colour, "width": width, "dash": dash}
        add_curve(fig, delta, values.astype(np.float32), name, look, "δ = %{x:.2f}: %{y:.3f}", extra="", row=1, col=2)


def approximation_error(
    n_features: ArrayLike, measured: Mapping[str, ArrayLike], expected: Mapping[str, ArrayLike], current: int
) -> go.Figure:
    """Plot the error of the approximated kernel against the number of features, on logarithmic axes.

    The errors (P,) have the keys "cos_sin" and "random_phase"; `current` is the position of the number to mark.
    """
    n_features = np.asarray(n_features)
    fig = Sheet()
    fig.add_vline(x=float(n_features[current]), line={"color": "#8C8C8C", "width": 1, "dash": "dot"})
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


def frequencies_and_kernel(plane: KernelPlane, omega: ArrayLike, frequency_extent: float, extent: float) -> go.Figure:
    """Draw sampled frequencies (D, 2) over the spectral density, and the kernel, over the plane."""
    fig = square_panels([""] * 2, [frequency_extent, extent], ["ω", "δ"])
    look = {"title": "<b>density</b>, share of its maximum", "scale": SEQUENTIAL_SCALE, "limits": (0, 1)}
    add_map(fig, 1, plane.density / plane.density.max(), frequency_extent, "density / its maximum", **look)
    many = len(omega) > _MOST_TICKS
    inside = np.asarray(omega)[np.abs(omega).max(axis=1) <= frequency_extent]
    edge = {"width": 0 if many else 0.5, "color": "white"}
    add_dots(fig, 1, inside, {"size": 3 if many else 6, "color": _COS_SIN, "line": edge}, "ω = (%{x:.2f}, %{y:.2f})")
    look = {"title": "<b>kernel</b> k(δ)", "scale": SIMILARITY_SCALE, "limits": (-1, 1)}
    add_map(fig, 2, plane.exact, extent, "kernel", **look)
    return finish_panels(fig, 350, top=78)


def approximation_and_difference(plane: KernelPlane, extent: float) -> go.Figure:
    """Draw the mean of D cosines over the plane, and its difference from the kernel."""
    fig = square_panels([""] * 2, [extent] * 2, ["δ"] * 2)
    look = {"title": "<b>mean of D cosines</b>", "scale": SIMILARITY_SCALE, "limits": (-1, 1)}
    add_map(fig, 1, plane.approximate, extent, "approximation", **look)
    limits = -_DIFFERENCE_LIMIT, _DIFFERENCE_LIMIT
    look = {"title": "<b>mean minus kernel</b>", "scale": "PuOr", "limits": limits}
    add_map(fig, 2, plane.approximate - plane.exact, extent, "difference", **look)
    return finish_panels(fig, 350, top=78)


def lifted_points(lift: Lift) -> go.Figure:
    """Draw two classes in space, which a plane separates; the reader turns the figure by hand."""
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
    """Draw the separating plane within the cube of the axes, as a polygon of triangles."""
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
    """Compute the corners of the polygon in which the plane w . z + b = 0 cuts a cube, in order around the middle."""
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
    """Return the position of an eye that sees the plane of normal w almost from its edge."""
    across = np.cross(w, [0.0, 0.0, 1.0])
    across = across / (np.linalg.norm(across) or 1.0)
    eye = 2.3 * across + 0.35 * w / (np.linalg.norm(w) or 1.0) + np.array([0, 0, 0.6])
    return dict(zip("xyz", map(float, eye), strict=True))


def losses_against_margin(lift: Lift) -> go.Figure:
    """Plot losses against the margin y f(x), with the margins of the lifted and the flat points below."""
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
