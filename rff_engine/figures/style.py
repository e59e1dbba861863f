"""Colours of classes, landmarks and methods, and layout common to all figures.

Colours are distinguishable with the common colour-vision deficiencies, and not the only mark: landmarks are numbered,
methods differ in dash or symbol, classes in the sign of the scale. Methods of one kind share a dash: independent,
orthogonal, evenly spread, and fitted frequencies.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.colors
import plotly.graph_objects as go

from .._typing import ArrayLike
from .sheet import Sheet

BLUE, RED = "#2C6FB3", "#C8372D"
CLASS_COLOURS = {-1: BLUE, 1: RED}
CLASS_SYMBOLS = {-1: "circle", 1: "diamond"}
LANDMARK_COLOURS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#9A7B4F", "#F0E442", "#8C8C8C", "#7A5CD6")

METHOD_NAMES = {
    "svm": "RBF SVM",
    "rff": "RFF (prior)",
    "pbrff": "PBRFF (pseudo-posterior)",
    "okrff": "OKRFF (optimized kernel)",
    "rbf_landmarks": "RBF landmarks (prior)",
    "pb_landmarks": "PB landmarks (learned)",
    "monte_carlo": "Monte Carlo",
    "orthogonal": "Orthogonal",
    "structured_orthogonal": "Structured orthogonal",
    "fastfood": "Fastfood",
    "halton": "Halton",
    "sobol": "Sobol",
    "lattice": "Lattice",
    "digital_net": "Digital net",
    "moment_matching": "Moment matching",
    "weight": "Weight",
    "align": "Align",
    "sample": "Sample",
    "cluster": "Cluster",
    "nearest": "Cluster, nearest rows",
    "supervise": "Supervise",
    "nystroem": "Nyström",
    "nystroem_kmeans": "Nyström, k-means",
    "kernel_ridge": "Kernel ridge",
    "moment_matching_unscaled": "Moment matching, not scaled",
    "sobol_leaped": "Sobol, leaped",
    "weight_regression": "Weight, by regression",
    "sample_alternating": "Sample, alternating",
    "cluster_alternating": "Cluster, alternating",
    "sample_large_steps": "Sample, large steps",
    "cluster_large_steps": "Cluster, large steps",
    "cluster_larger_steps": "Cluster, larger steps",
    "cluster_largest_steps": "Cluster, largest steps",
    "supervise_alternating": "Supervise, alternating",
    "supervise_alternating_15": "Supervise, 15 alternating steps",
    "supervise_one_step": "Supervise, one step",
    "leverage": "Leverage scores",
}
METHOD_COLOURS = {
    "svm": "#8C8C8C",
    "rff": "#56B4E9",
    "pbrff": "#D55E00",
    "okrff": "#009E73",
    "rbf_landmarks": "#56B4E9",
    "pb_landmarks": "#D55E00",
    # Sampling schemes of the prior; the same method under another name has the same colour.
    "monte_carlo": "#56B4E9",
    "align": "#009E73",
    "orthogonal": "#7A5CD6",
    "structured_orthogonal": "#A98BEF",
    "fastfood": "#9A7B4F",
    "halton": "#C9A800",
    "sobol": "#E69F00",
    "lattice": "#B5762A",
    "digital_net": "#8FA31E",
    "moment_matching": "#3D7EA6",
    "weight": "#CC79A7",
    "sample": "#D6336C",
    "cluster": "#B146C2",
    "nearest": "#E28AB8",
    "supervise": "#C2571A",
    "nystroem": "#8C8C8C",
    "nystroem_kmeans": "#6E7B8B",
    "kernel_ridge": "#00A6A6",
    "moment_matching_unscaled": "#3D7EA6",
    "sobol_leaped": "#E69F00",
    "weight_regression": "#CC79A7",
    "sample_alternating": "#D6336C",
    "cluster_alternating": "#B146C2",
    "sample_large_steps": "#A3123F",
    "cluster_large_steps": "#7A1FA2",
    "cluster_larger_steps": "#4A148C",
    "cluster_largest_steps": "#2A0A4A",
    "supervise_alternating": "#C2571A",
    "supervise_alternating_15": "#8F3F12",
    "supervise_one_step": "#B8653A",
    "leverage": "#5B8C5A",
}
METHOD_SYMBOLS = {
    "svm": "line-ew",
    "rff": "circle",
    "pbrff": "diamond",
    "okrff": "square",
    "rbf_landmarks": "circle",
    "pb_landmarks": "diamond",
    "monte_carlo": "circle",
    "align": "square",
    "orthogonal": "cross",
    "structured_orthogonal": "cross-open",
    "fastfood": "x",
    "halton": "triangle-up",
    "sobol": "triangle-down",
    "lattice": "triangle-left",
    "digital_net": "triangle-right",
    "moment_matching": "circle-open",
    "weight": "star-open",
    "sample": "star",
    "cluster": "hexagram",
    "nearest": "hexagram-open",
    "supervise": "pentagon",
    "nystroem": "square-open",
    "nystroem_kmeans": "diamond-open",
    "kernel_ridge": "hourglass",
    "moment_matching_unscaled": "hexagon-open",
    "sobol_leaped": "triangle-down-open",
    "weight_regression": "star-triangle-up-open",
    "sample_alternating": "star-square",
    "cluster_alternating": "hexagon",
    "sample_large_steps": "star-square-open",
    "cluster_large_steps": "hexagon-open-dot",
    "cluster_larger_steps": "hexagon2-open-dot",
    "cluster_largest_steps": "octagon-open-dot",
    "supervise_alternating": "pentagon-open",
    "supervise_alternating_15": "pentagon-open-dot",
    "supervise_one_step": "pentagon-dot",
    "leverage": "bowtie",
}
_ORTHOGONAL, _EVEN, _FITTED = "dash", "dashdot", "solid"
METHOD_DASHES = {
    "rff": "dot",
    "pbrff": "solid",
    "okrff": "dash",
    "monte_carlo": "dot",
    "moment_matching": "dot",
    "orthogonal": _ORTHOGONAL,
    "structured_orthogonal": _ORTHOGONAL,
    "fastfood": _ORTHOGONAL,
    "halton": _EVEN,
    "sobol": _EVEN,
    "lattice": _EVEN,
    "digital_net": _EVEN,
    "weight": _FITTED,
    "align": _FITTED,
    "sample": _FITTED,
    "cluster": _FITTED,
    "nearest": _FITTED,
    "supervise": _FITTED,
    "nystroem": "longdash",
    "nystroem_kmeans": "longdash",
    "kernel_ridge": "solid",
    "moment_matching_unscaled": "dot",
    "sobol_leaped": _EVEN,
    "weight_regression": _FITTED,
    "sample_alternating": _FITTED,
    "cluster_alternating": _FITTED,
    "sample_large_steps": _FITTED,
    "cluster_large_steps": _FITTED,
    "cluster_larger_steps": _FITTED,
    "cluster_largest_steps": _FITTED,
    "supervise_alternating": _FITTED,
    "supervise_alternating_15": _FITTED,
    "supervise_one_step": _FITTED,
    "leverage": "dashdot",
}

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
    """Colours as "#rrggbb", scales as evenly spaced stops, for drawings without Plotly."""
    return {
        "blue": BLUE,
        "red": RED,
        "landmarks": list(LANDMARK_COLOURS),
        "methods": METHOD_COLOURS,
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
    """A diverging scale for a dark ground: the same hues with a dark centre, brighter towards both ends."""
    return [(place, _with_inverted_lightness(colour)) for place, colour in scale]


def _with_inverted_lightness(colour: str) -> str:
    hue, lightness, saturation = colorsys.rgb_to_hls(*(value / 255 for value in _rgb(colour)))
    inverted = colorsys.hls_to_rgb(hue, _DARKEST + (_BRIGHTEST - _DARKEST) * (1 - lightness), 0.8 * saturation)
    return "#{:02x}{:02x}{:02x}".format(*(round(255 * value) for value in inverted))


def darken(fig: go.Figure) -> go.Figure:
    """Give the maps of a figure with a white centre a dark one, and lines on them a light colour.

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


def landmark_colour(index: int) -> str:
    """Colour of a landmark, the same on every page."""
    return LANDMARK_COLOURS[index % len(LANDMARK_COLOURS)]


def finish(fig: Sheet, height: int, **layout: Any) -> go.Figure:
    """The figure of a sheet, with the common margins, legend and hover, which `layout` overrides."""
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
    return fig.figure()


def for_colours(values: ArrayLike) -> np.ndarray:
    """Values of a map in float32, rounded to 12 bits (the labels show 3 digits), which saves bytes."""
    values = np.asarray(values, dtype=np.float32)
    bits = values.view(np.uint32)
    rounded = ((bits + np.uint32(0x400)) & np.uint32(0xFFFFF800)).view(np.float32)
    return np.where(np.isfinite(rounded), rounded, values)


def fixed_margin(*, left: int = 62, right: int = 12, top: int = 36, bottom: int = 48) -> dict[str, int]:
    """Fixed margins around the panels in pixels.

    With automatic margins, Plotly draws a figure twice: to measure labels, legend and colour bars, and again.
    """
    return {"l": left, "r": right, "t": top, "b": bottom, "autoexpand": False}


def add_band(fig: Sheet, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str, **kwargs: Any) -> None:
    """Add a light band between two curves."""
    x, low, high = (np.asarray(values, dtype=float) for values in (x, low, high))
    look = {"fill": "toself", "fillcolor": colour, "opacity": 0.18, "mode": "none", "hoverinfo": "skip"}
    closed = {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([high, low[::-1]])}
    fig.add_scatter(**closed, **look, showlegend=False, **kwargs)


def add_note(fig: Sheet, x: float, y: float | str, text: str, **kwargs: Any) -> None:
    """Add text without an arrow."""
    fig.add_annotation(x=x, y=y, text=text, showarrow=False, **kwargs)


def lying_colorbar(title: str, ticks: Sequence[float], *, centre: float = 0.5, length: float = 0.5) -> dict[str, Any]:
    """A horizontal colour bar above the plot with its title on top; `centre` and `length` as fractions of the width."""
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
