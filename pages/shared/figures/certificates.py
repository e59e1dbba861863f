"""Figures of certified classifiers: a certificate term by term, the vote, and errors with their bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine.plots.sheet import Sheet
from rff_engine.plots.style import (
    METHOD_COLOURS,
    METHOD_NAMES,
    METHOD_SYMBOLS,
    add_curve,
    add_note,
    finish,
    fixed_margin,
    log_axis,
)

if TYPE_CHECKING:
    from rff_engine.studies.toy.certificates import Certificate, CertifiedBlocks, Peeking, PosteriorCertificate

#: Terms of a certificate by the beginnings of their names, in short words, with colours.
TERM_LABELS = {
    "errors on": ("errors on the rows", "#56B4E9"),
    "margin error": ("margin error on the rows", "#56B4E9"),
    "rate": ("rate fixed beforehand", "#56B4E9"),
    "smaller of two": ("smaller of two bounds", "#D55E00"),
    "confidence": ("certainty, ln 1/ε", "#7A5CD6"),
    "sample": ("sample, ln 2√n", "#7A5CD6"),
    "choice of feature map": ("choice of frequencies", "#D55E00"),
    "choice of threshold": ("choice of the threshold", "#D55E00"),
    "frequencies drawn": ("learned frequencies", "#CC79A7"),
    "landmarks chosen": ("chosen landmarks", "#CC79A7"),
    "weights": ("learned weights", "#CC79A7"),
    "from margins": ("from margins to the vote", "#E69F00"),
}
ARM_LABELS = {"test set": "points that only test", "posterior": "points that also teach"}
ERROR_COLOUR = "#8C8C8C"
TOTAL_COLOUR = "#009E73"


def term_label(name: str) -> tuple[str, str]:
    """Return short words for a term, and its colour."""
    return next(label for start, label in TERM_LABELS.items() if name.startswith(start))


def ledger(certificate: Certificate) -> go.Figure:
    """Draw the terms of a certificate as bars, each from the end of the one before, and their sum."""
    fig, base = Sheet(), 0.0
    rows = [(*term_label(term.name), 100 * term.risk, term.nats) for term in certificate.terms]
    for label, colour, risk, nats in rows:
        _bar(fig, label, colour, risk, base, f"{risk:+.3g} %, {nats:.3g} nats")
        base += risk
    total = 100 * certificate.risk_bound
    _bar(fig, "<b>certified risk</b>", TOTAL_COLOUR, total, 0.0, f"at most {total:.3g} %")
    marks = {"test error": (100 * certificate.test_error, "dot")}
    if certificate.test_set_bound is not None:
        marks["test-set bound"] = (100 * certificate.test_set_bound, "dash")
    for name, (value, dash) in marks.items():
        line = {"color": ERROR_COLOUR, "width": 2, "dash": dash}
        fig.add_vline(x=value, line=line)
        add_curve(fig, [None], [None], f"{name} {value:.3g} %", line)  # the entry of the legend
    fig.update_xaxes(title="risk, %", range=[0, 1.12 * max(total, *(value for value, _ in marks.values()))])
    fig.update_yaxes(autorange="reversed", tickfont={"size": 12})
    return finish(fig, 460, margin=fixed_margin(left=178, top=40), barmode="overlay", bargap=0.3)


def arms(bounds: Mapping[str, float], error: float) -> go.Figure:
    """Draw the bounds that hold at once as bars, the smallest in colour, and the error on fresh points as a line."""
    fig = Sheet()
    least = min(bounds.values())
    for arm, bound in bounds.items():
        colour = TOTAL_COLOUR if bound == least else ERROR_COLOUR
        _bar(fig, ARM_LABELS[arm], colour, 100 * bound, 0.0, f"at most {100 * bound:.3g} %", f"≤ {100 * bound:.3g} %")
    fig.add_vline(x=100 * error, line={"color": ERROR_COLOUR, "width": 2, "dash": "dot"})
    add_note(fig, 100 * error, 1, f"error on fresh points {100 * error:.3g} %", yref="paper", yanchor="bottom")
    fig.update_xaxes(title="certified risk, %", range=[0, 130 * max(*bounds.values(), error)])
    fig.update_yaxes(autorange="reversed", tickfont={"size": 12})
    return finish(fig, 230, margin=fixed_margin(left=178, top=40), bargap=0.35)


def _bar(fig: Sheet, label: str, colour: str, length: float, base: float, text: str, shown: str = "") -> None:
    fig.add_bar(
        x=[length],
        y=[label],
        base=[base],
        orientation="h",
        marker={"color": colour},
        text=[shown or f"{length:.2g}"],
        textposition="outside",
        cliponaxis=False,
        showlegend=False,
        hovertemplate=f"{label}: {text}<extra></extra>",
    )


def errors_and_bounds(D_values: Sequence[int], curves: Mapping[str, Sequence[Certificate]], chosen: int) -> go.Figure:
    """Plot certified risks, test errors and test-set bounds against D; a curve has a certificate for each D."""
    fig = Sheet(columns=2, gap=(0.1, 0))
    panels = {"certified risk": "risk_bound", "test error": "test_error"}
    ticks, hover = list(D_values), "D = %{x}: %{y:.3g} %"
    for column, attribute in enumerate(panels.values(), start=1):
        for method, curve in curves.items():
            errors = [100 * getattr(one, attribute) for one in curve]
            line = {"color": METHOD_COLOURS[method], "width": 2}
            look = {"mode": "lines+markers", "marker": {"symbol": METHOD_SYMBOLS[method], "size": 7}}
            place = {"legendgroup": method, "showlegend": column == 1, "row": 1, "col": column}
            add_curve(fig, ticks, errors, METHOD_NAMES[method], line, hover, **look, **place)
    name = "test-set bound"
    for method, curve in curves.items():
        held_out = [100 * one.test_set_bound for one in curve if one.test_set_bound is not None]
        if len(held_out) < len(curve):
            continue
        line = {"color": METHOD_COLOURS[method], "width": 1.5, "dash": "dash"}
        place = {"legendgroup": name, "showlegend": method == next(iter(curves)), "row": 1, "col": 1}
        add_curve(fig, ticks, held_out, name, line, hover, extra=f"{name}, {METHOD_NAMES[method]}", **place)
    for column, name in enumerate(panels, start=1):
        add_note(
            fig, 0.5, 1, name, xref=f"x{'' if column == 1 else 2} domain", yref="paper", yanchor="bottom", yshift=2
        )
    fig.add_vline(x=chosen, line={"color": ERROR_COLOUR, "width": 1, "dash": "dot"})
    fig.update_xaxes(title="frequencies D", **log_axis(ticks))
    highest = max(100 * max(one.risk_bound, one.test_error) for curve in curves.values() for one in curve)
    fig.update_yaxes(title="%", range=[0, 1.05 * highest])
    return finish(fig, 420, margin=fixed_margin(top=84), legend={"orientation": "h", "y": 1.1, "yanchor": "bottom"})


def bound_against_rows(certificate: PosteriorCertificate, rows: Sequence[int], target: float) -> go.Figure:
    """Plot the bound against the number of rows that it is computed on, with a mark at the risk `target`."""
    fig = Sheet()
    risks = 100 * certificate.bound_with_rows(rows)
    line = {"color": TOTAL_COLOUR, "width": 3}
    add_curve(fig, np.asarray(rows), risks, "certified risk", line, "%{x:.3s} rows: %{y:.3g} %", extra="")
    fig.add_scatter(
        x=[certificate.n_bound],
        y=[100 * certificate.risk_bound],
        mode="markers",
        marker={"color": TOTAL_COLOUR, "size": 11, "symbol": "diamond"},
        name="your certificate",
        hovertemplate="%{x} rows: %{y:.3g} %<extra>your certificate</extra>",
    )
    fig.add_hline(y=100 * target, line={"color": ERROR_COLOUR, "width": 1, "dash": "dash"})
    fig.update_xaxes(type="log", title="rows of the bound", dtick=1)
    fig.update_yaxes(title="certified risk, %", rangemode="tozero")
    return finish(fig, 380, margin=fixed_margin(top=64))


def blocks_and_test_set(blocks: CertifiedBlocks) -> go.Figure:
    """Plot the certified risk as blocks come, and the test set's bound on the same points."""
    fig = Sheet()
    line, name = {"color": TOTAL_COLOUR, "width": 3}, "blocks, certified so far"
    add_curve(fig, blocks.counts, 100 * blocks.bounds, name, line, "%{x} points: %{y:.3g} %", extra="")
    reached = blocks.ends[blocks.ends[:, 0] <= blocks.counts[-1]]
    fig.add_scatter(
        x=reached[:, 0],
        y=100 * reached[:, 1],
        mode="markers",
        marker={"color": TOTAL_COLOUR, "size": 10, "symbol": "diamond"},
        name="ends fixed beforehand",
        hovertemplate="counted up to %{x} points: %{y:.3g} %<extra></extra>",
    )
    for name, risk, dash in (
        (f"test set of all {blocks.n_bound} points", blocks.test_set_bound, "dash"),
        ("error on fresh points", blocks.test_error, "dot"),
    ):
        line = {"color": ERROR_COLOUR, "width": 2, "dash": dash}
        add_curve(fig, [0, blocks.n_bound], [100 * risk] * 2, name, line, "%{y:.3g} %")
    for start in np.cumsum(blocks.sizes)[:-1]:
        fig.add_vline(x=int(start), line={"color": ERROR_COLOUR, "width": 1, "dash": "dot"})
    highest = 100 * min(1.0, 2.5 * max(blocks.risk_bound, blocks.test_set_bound))
    fig.update_xaxes(title="points that were counted")
    fig.update_yaxes(title="risk, %", range=[0, highest])
    return finish(fig, 420, margin=fixed_margin(top=84), legend={"orientation": "h", "y": 1.1, "yanchor": "bottom"})


def failures_of_peeking(peeking: Peeking, chosen: int, epsilon: float) -> go.Figure:
    """Plot how often the best of several guesses is certified to beat guessing; `epsilon` is allowed."""
    fig = Sheet()
    lines = {
        "test set used for all": (peeking.test_set, ERROR_COLOUR, "dash"),
        "certificate, nothing paid": (peeking.unpaid, "#D55E00", "solid"),
        "certificate, looks paid for": (peeking.paid, TOTAL_COLOUR, "solid"),
    }
    for name, (failures, colour, dash) in lines.items():
        line = {"color": colour, "width": 3, "dash": dash}
        add_curve(fig, peeking.counts, 100 * failures, name, line, "%{x} looked at: fails for %{y:.3g} %")
    fig.add_hline(y=100 * epsilon, line={"color": ERROR_COLOUR, "width": 1, "dash": "dot"})
    fig.add_vline(x=chosen, line={"color": ERROR_COLOUR, "width": 1, "dash": "dot"})
    fig.update_xaxes(type="log", title="classifiers looked at", dtick=1)
    fig.update_yaxes(title="samples on which it fails, %", range=[0, 103])
    return finish(fig, 380, margin=fixed_margin(top=64))
