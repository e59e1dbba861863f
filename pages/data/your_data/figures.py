"""Figure of the page: errors of classifiers of all columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from rff_engine.plots.style import METHOD_COLOURS, finish, fixed_margin, new_figure

if TYPE_CHECKING:
    from pages.data.your_data.compute import Comparison

#: Words and colours of the classifiers, from top to bottom.
LABELS = {
    "majority": ("always one class", "#8C8C8C"),
    "random": ("random cosines", METHOD_COLOURS["rff"]),
    "width": ("random, learned width", METHOD_COLOURS["rff"]),
    "learned": ("learned cosines", METHOD_COLOURS["pbrff"]),
    "svm": ("kernel SVM", METHOD_COLOURS["svm"]),
}


def errors(comparison: Comparison) -> go.Figure:
    """Draw the mean error of every classifier as a bar, and the error on every split as a dot."""
    fig = new_figure()
    for name, (label, colour) in LABELS.items():
        of_splits = 100 * comparison.errors[name]
        label = f"{label}  <b>{of_splits.mean():.1f} %</b>"
        fig.add_bar(
            x=[of_splits.mean()],
            y=[label],
            orientation="h",
            marker={"color": colour},
            opacity=0.55,
            showlegend=False,
            hovertemplate="%{y}<extra></extra>",
        )
        fig.add_scatter(
            x=of_splits,
            y=[label] * len(of_splits),
            mode="markers",
            marker={"color": colour, "size": 7, "line": {"width": 1, "color": "white"}},
            showlegend=False,
            hovertemplate="one split: %{x:.1f} %<extra></extra>",
        )
    most = 100 * max(float(of_splits.max()) for of_splits in comparison.errors.values())
    fig.update_xaxes(title="error on held-out rows, %", range=[0, 1.05 * most or 1])
    fig.update_yaxes(autorange="reversed")
    return finish(fig, 250, margin=fixed_margin(left=190, top=8))
