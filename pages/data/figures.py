"""Figure of the page: what a classifier learns by heart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from rff_engine.plots.style import METHOD_COLOURS, add_note, add_rule, finish, fixed_margin, new_figure

if TYPE_CHECKING:
    from pages.data.compute import Memory


def memory(found: Memory) -> go.Figure:
    """Draw training error, test error and certified risk as bars, with a line at a coin's 50 %."""
    fig = new_figure()
    for name, risk, colour in (
        ("training error", found.train, METHOD_COLOURS["rff"]),
        ("test error", found.test, "#8C8C8C"),
        ("certified risk", found.certified, "#009E73"),
    ):
        label = f"{name}  <b>{100 * risk:.1f} %</b>"
        fig.add_bar(x=[100 * risk], y=[label], orientation="h", marker={"color": colour}, showlegend=False)
    add_rule(fig, x=50)
    add_note(fig, 50, 1, " a coin: 50 %", yref="y domain", xanchor="left", yanchor="bottom")
    fig.update_xaxes(title="error, %", range=[0, 100])
    fig.update_yaxes(autorange="reversed")
    return finish(fig, 230, margin=fixed_margin(left=180, top=24))
