"""Colours of classes, landmarks and methods, and layout common to all figures.

Colours are distinguishable with the common colour-vision deficiencies, and not the only mark: landmarks are numbered,
methods differ in dash or symbol, classes in the sign of the scale. Methods of one kind share a dash: independent,
orthogonal, evenly spread, and fitted frequencies.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import plotly.colors
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .._typing import ArrayLike

BLUE, RED = "#2C6FB3", "#C8372D"
CLASS_COLOURS = {-1: BLUE, 1: RED}
CLASS_SYMBOLS = {-1: "circle", 1: "diamond"}
LANDMARK_COLOURS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#9A7B4F", "#F0E442", "#8C8C8C", "#7A5CD6")


class Method(NamedTuple):
    """How a method is named and painted; one under another name has the same colour."""

    name: str
    colour: str
    symbol: str
    dash: str = ""
    """Empty if no curve shows it"""


_ORTHOGONAL, _EVEN, _FITTED = "dash", "dashdot", "solid"
METHODS = {
    "svm": Method("RBF SVM", "#8C8C8C", "line-ew"),
    "rff": Method("RFF (prior)", "#56B4E9", "circle", "dot"),
    "pbrff": Method("PBRFF (pseudo-posterior)", "#D55E00", "diamond", "solid"),
    "okrff": Method("OKRFF (optimized kernel)", "#009E73", "square", "dash"),
    "rbf_landmarks": Method("RBF landmarks (prior)", "#56B4E9", "circle"),
    "pb_landmarks": Method("PB landmarks (learned)", "#D55E00", "diamond"),
    "monte_carlo": Method("Monte Carlo", "#56B4E9", "circle", "dot"),
    "orthogonal": Method("Orthogonal", "#7A5CD6", "cross", _ORTHOGONAL),
    "structured_orthogonal": Method("Structured orthogonal", "#A98BEF", "cross-open", _ORTHOGONAL),
    "fastfood": Method("Fastfood", "#9A7B4F", "x", _ORTHOGONAL),
    "halton": Method("Halton", "#C9A800", "triangle-up", _EVEN),
    "sobol": Method("Sobol", "#E69F00", "triangle-down", _EVEN),
    "lattice": Method("Lattice", "#B5762A", "triangle-left", _EVEN),
    "digital_net": Method("Digital net", "#8FA31E", "triangle-right", _EVEN),
    "moment_matching": Method("Moment matching", "#3D7EA6", "circle-open", "dot"),
    "weight": Method("Weight", "#CC79A7", "star-open", _FITTED),
    "align": Method("Align", "#009E73", "square", _FITTED),
    "sample": Method("Sample", "#D6336C", "star", _FITTED),
    "cluster": Method("Cluster", "#B146C2", "hexagram", _FITTED),
    "nearest": Method("Cluster, nearest rows", "#E28AB8", "hexagram-open", _FITTED),
    "supervise": Method("Supervise", "#C2571A", "pentagon", _FITTED),
    "nystroem": Method("Nyström", "#8C8C8C", "square-open", "longdash"),
    "nystroem_kmeans": Method("Nyström, k-means", "#6E7B8B", "diamond-open", "longdash"),
    "kernel_ridge": Method("Kernel ridge", "#00A6A6", "hourglass", "solid"),
    "moment_matching_unscaled": Method("Moment matching, not scaled", "#3D7EA6", "hexagon-open", "dot"),
    "sobol_leaped": Method("Sobol, leaped", "#E69F00", "triangle-down-open", _EVEN),
    "weight_regression": Method("Weight, by regression", "#CC79A7", "star-triangle-up-open", _FITTED),
    "sample_alternating": Method("Sample, alternating", "#D6336C", "star-square", _FITTED),
    "cluster_alternating": Method("Cluster, alternating", "#B146C2", "hexagon", _FITTED),
    "sample_large_steps": Method("Sample, large steps", "#A3123F", "star-square-open", _FITTED),
    "cluster_large_steps": Method("Cluster, large steps", "#7A1FA2", "hexagon-open-dot", _FITTED),
    "cluster_larger_steps": Method("Cluster, larger steps", "#4A148C", "hexagon2-open-dot", _FITTED),
    "cluster_largest_steps": Method("Cluster, largest steps", "#2A0A4A", "octagon-open-dot", _FITTED),
    "supervise_alternating": Method("Supervise, alternating", "#C2571A", "pentagon-open", _FITTED),
    "supervise_alternating_15": Method("Supervise, 15 alternating steps", "#8F3F12", "pentagon-open-dot", _FITTED),
    "supervise_one_step": Method("Supervise, one step", "#B8653A", "pentagon-dot", _FITTED),
}
METHOD_NAMES = {key: method.name for key, method in METHODS.items()}
METHOD_COLOURS = {key: method.colour for key, method in METHODS.items()}
METHOD_SYMBOLS = {key: method.symbol for key, method in METHODS.items()}
METHOD_DASHES = {key: method.dash for key, method in METHODS.items() if method.dash}

#: The two feature maps of random frequencies.
FEATURE_MAP_COLOURS = {"cos_sin": "#D55E00", "random_phase": "#56B4E9"}

#: Similarities: purple is -1, white (in a dark theme dark grey) is 0, green is +1, at every beta.
SIMILARITY_SCALE = "PRGn"
#: Decision values: blue is the class -1, red the class +1.
DECISION_SCALE = ((0.0, BLUE), (0.5, "#F4F1EE"), (1.0, RED))
#: Weights, densities and losses.
SEQUENTIAL_SCALE = "Viridis"
#: Lines on maps with a dark centre.
LINE_IN_DARK = "#EEEEEE"
# Lightness of the centre and of the brightest possible end of a scale in a dark theme; the least channel of a white.
_DARKEST, _BRIGHTEST, _WHITE = 0.12, 0.86, 230


def palette() -> dict[str, Any]:
    """Return colours as "#rrggbb", scales as even stops, and dashes of methods, for drawings without Plotly."""
    return {
        "blue": BLUE,
        "red": RED,
        "methods": METHOD_COLOURS,
        "dashes": METHOD_DASHES,
        "lineInDark": LINE_IN_DARK,
        "similarity": _stops(plotly.colors.get_colorscale(SIMILARITY_SCALE)),
        "decision": _stops(DECISION_SCALE),
        "similarityInDark": _stops(dark_scale(plotly.colors.get_colorscale(SIMILARITY_SCALE))),
        "decisionInDark": _stops(dark_scale(DECISION_SCALE)),
        "sequential": _stops(plotly.colors.get_colorscale(SEQUENTIAL_SCALE)),
    }


def _stops(scale) -> list[str]:
    return ["#{:02x}{:02x}{:02x}".format(*map(round, _rgb(colour))) for _, colour in scale]


def _rgb(colour: str) -> tuple[float, float, float]:
    return plotly.colors.hex_to_rgb(colour) if colour.startswith("#") else plotly.colors.unlabel_rgb(colour)


def dark_scale(scale: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return a diverging scale for a dark ground: the same hues with a dark centre, brighter towards both ends."""
    return [(place, _with_inverted_lightness(colour)) for place, colour in scale]


def _with_inverted_lightness(colour: str) -> str:
    hue, lightness, saturation = colorsys.rgb_to_hls(*(value / 255 for value in _rgb(colour)))
    inverted = colorsys.hls_to_rgb(hue, _DARKEST + (_BRIGHTEST - _DARKEST) * (1 - lightness), 0.8 * saturation)
    return "#{:02x}{:02x}{:02x}".format(*(round(255 * value) for value in inverted))


def darken(fig: go.Figure) -> go.Figure:
    """Give the maps of a figure with a white centre a dark centre, and lines on them a light colour.

    The light colours stay in ``layout.meta``, for files.
    """
    light = {"scales": {}, "lines": {}}
    for name in fig.layout:
        scale = fig.layout[name].colorscale if name.startswith("coloraxis") else None
        if scale and min(_rgb(scale[len(scale) // 2][1])) > _WHITE:
            light["scales"][name] = [list(stop) for stop in scale]
            fig.layout[name].colorscale = dark_scale(scale)
    for k, trace in enumerate(fig.data):
        if trace.type == "contour":
            light["lines"][str(k)] = trace.line.color
            trace.line.color = LINE_IN_DARK
    if light["scales"] or light["lines"]:
        fig.layout.meta = {"light": light}
    return fig


def new_figure(
    rows: int = 1,
    columns: int = 1,
    *,
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
    gap: tuple[float, float] = (0.1, 0.1),
) -> go.Figure:
    """Make an empty figure of panels; `gap` is between columns, then between rows."""
    sizes = {"column_widths": widths and tuple(widths), "row_heights": heights and tuple(heights)}
    panels = _panels(rows, columns, **sizes, horizontal_spacing=gap[0], vertical_spacing=gap[1])
    # Without its template, the default one, whose check takes most of the time.
    fig = go.Figure(layout={**panels.layout.to_plotly_json(), "template": None})
    vars(fig).update(_grid_ref=panels._grid_ref, _grid_str=panels._grid_str)
    return fig


_panels = lru_cache()(make_subplots)  # it takes ten times as long as a figure of the same layout


def add_rule(fig: go.Figure, *, x: float | None = None, y: float | None = None, **shape: Any) -> None:
    """Add a line across panels, also empty ones, at a value of x or of y; by default thin, dotted and grey."""
    shape = {"line": {"color": "#8C8C8C", "width": 1, "dash": "dot"}, "exclude_empty_subplots": False} | shape
    if y is None:
        fig.add_vline(x, **shape)
    else:
        fig.add_hline(y, **shape)


def finish(fig: go.Figure, height: int, **layout: Any) -> go.Figure:
    """Return a figure with the common margins, legend and hover, which `layout` overrides."""
    defaults = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 36, "b": 8},
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": {"text": ""}},
        "hovermode": "closest",
        "dragmode": False,
        "uirevision": "keep",  # keeps zoom and hidden traces when a control changes
    }
    layout = defaults | layout
    if layout["margin"].get("autoexpand") is False:
        fig.update_xaxes(automargin=False)
        fig.update_yaxes(automargin=False)
    fig.update_layout(**layout)
    return fig


def for_colours(values: ArrayLike) -> np.ndarray:
    """Round the values of a map to 12 bits in float32 (the labels show 3 digits), which saves bytes."""
    values = np.asarray(values, dtype=np.float32)
    bits = values.view(np.uint32)
    rounded = ((bits + np.uint32(0x400)) & np.uint32(0xFFFFF800)).view(np.float32)
    return np.where(np.isfinite(rounded), rounded, values)


def fixed_margin(*, left: int = 62, right: int = 12, top: int = 36, bottom: int = 48) -> dict[str, int]:
    """Return fixed margins around the panels in pixels.

    With automatic margins Plotly paints a figure twice: first to measure labels, legend and colour bars.
    """
    return {"l": left, "r": right, "t": top, "b": bottom, "autoexpand": False}


def add_band(fig: go.Figure, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str, **kwargs: Any) -> None:
    """Add a light band between two curves."""
    x, low, high = (np.asarray(values, dtype=float) for values in (x, low, high))
    look = {"fill": "toself", "fillcolor": colour, "opacity": 0.18, "mode": "none", "hoverinfo": "skip"}
    look |= {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([high, low[::-1]]), "showlegend": False}
    panel = kwargs.pop("row", None), kwargs.pop("col", None)
    fig.add_trace({"type": "scatter"} | look | kwargs, *panel)


def add_curve(
    fig: go.Figure,
    x: Any,
    y: Any,
    name: str,
    line: Mapping,
    hover: str = "",
    *,
    extra: str | None = None,
    **kwargs: Any,
) -> None:
    """Add a curve; the pointer shows `hover`, then `extra`, by default the name; nothing without `hover`."""
    after = name if extra is None else extra
    shown = {"hovertemplate": f"{hover}<extra>{after}</extra>"} if hover else {"hoverinfo": "skip"}
    curve = {"type": "scatter", "x": x, "y": y, "name": name, "mode": "lines", "line": line}
    panel = kwargs.pop("row", None), kwargs.pop("col", None)
    fig.add_trace(curve | shown | kwargs, *panel)  # `add_scatter` checks twice


def add_means(
    fig: go.Figure, x: np.ndarray, draws: np.ndarray, method: str, dash: str, sizes: np.ndarray, hover: str
) -> None:
    """Draw a method's means over draws, (P, draws), in a band from smallest to largest; sizes of marks (P,)."""
    colour = METHOD_COLOURS[method]
    add_band(fig, x, draws.min(axis=1), draws.max(axis=1), colour, opacity=0.15, legendgroup=method)
    line = {"color": colour, "width": 2, "dash": dash}
    look = {"mode": "lines+markers", "marker": {"symbol": METHOD_SYMBOLS[method], "size": sizes}}
    add_curve(fig, x, draws.mean(axis=1), METHOD_NAMES[method], line, hover, legendgroup=method, **look)


def log_axis(values: Sequence[float] | np.ndarray) -> dict[str, Any]:
    """Return a logarithmic axis with a tick at each of these values."""
    return {"type": "log", "tickvals": values, "ticktext": [f"{value:.12g}" for value in values]}


def add_note(fig: go.Figure, x: float, y: float | str, text: str, **kwargs: Any) -> None:
    """Add text without an arrow."""
    fig.add_annotation(x=x, y=y, text=text, showarrow=False, **kwargs)


def lying_colorbar(title: str, ticks: Sequence[float], *, centre: float = 0.5, length: float = 0.5) -> dict[str, Any]:
    """Return a horizontal colour bar on top of the plot; `centre` and `length` are fractions of the width."""
    return {
        "orientation": "h",
        "x": centre,
        "xanchor": "center",
        "y": 1.02,
        "yanchor": "bottom",
        "len": length,
        "thickness": 9,
        "title": {"text": title, "side": "top"},
        "tickvals": ticks,
        "ypad": 4,
    }
