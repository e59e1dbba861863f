"""Figures of certified classifiers: a certificate term by term, the vote, and errors with their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from rff_engine.plots.style import add_curve, add_rule, finish, fixed_margin, new_figure

if TYPE_CHECKING:
    from rff_engine.studies.toy.certificates import Certificate, CertifiedBlocks, Peeking

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
ERROR_COLOUR = "#8C8C8C"
TOTAL_COLOUR = "#009E73"


def term_label(name: str) -> tuple[str, str]:
    """Return short words for a term, and its colour."""
    return next(label for start, label in TERM_LABELS.items() if name.startswith(start))


def ledger(certificate: Certificate) -> go.Figure:
    """Draw the terms of a certificate as bars, each from the end of the one before, and their sum."""
    fig, base = new_figure(), 0.0
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
        add_rule(fig, x=value, line=line)
        add_curve(fig, [None], [None], f"{name} {value:.3g} %", line)  # the entry of the legend
    fig.update_xaxes(title="risk, %", range=[0, 1.12 * max(total, *(value for value, _ in marks.values()))])
    fig.update_yaxes(autorange="reversed", tickfont={"size": 12})
    return finish(fig, 460, margin=fixed_margin(left=178, top=40), barmode="overlay", bargap=0.3)


def _bar(fig: go.Figure, label: str, colour: str, length: float, base: float, text: str) -> None:
    fig.add_bar(
        x=[length],
        y=[label],
        base=[base],
        orientation="h",
        marker={"color": colour},
        text=[f"{length:.2g}"],
        textposition="outside",
        cliponaxis=False,
        showlegend=False,
        hovertemplate=f"{label}: {text}<extra></extra>",
    )


def blocks_and_test_set(blocks: CertifiedBlocks) -> go.Figure:
    """Plot the certified risk as blocks come, and the test set's bound on the same points."""
    fig = new_figure()
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
        add_rule(fig, x=int(start))
    highest = 100 * min(1.0, 2.5 * max(blocks.risk_bound, blocks.test_set_bound))
    fig.update_xaxes(title="points that were counted")
    fig.update_yaxes(title="risk, %", range=[0, highest])
    return finish(fig, 420, margin=fixed_margin(top=84), legend={"orientation": "h", "y": 1.1, "yanchor": "bottom"})


def failures_of_peeking(peeking: Peeking, chosen: int, epsilon: float) -> go.Figure:
    """Plot how often the best of several guesses is certified to beat guessing; `epsilon` is allowed."""
    fig = new_figure()
    lines = {
        "test set used for all": (peeking.test_set, ERROR_COLOUR, "dash"),
        "certificate, nothing paid": (peeking.unpaid, "#D55E00", "solid"),
        "certificate, looks paid for": (peeking.paid, TOTAL_COLOUR, "solid"),
    }
    for name, (failures, colour, dash) in lines.items():
        line = {"color": colour, "width": 3, "dash": dash}
        add_curve(fig, peeking.counts, 100 * failures, name, line, "%{x} looked at: fails for %{y:.3g} %")
    add_rule(fig, y=100 * epsilon)
    add_rule(fig, x=chosen)
    fig.update_xaxes(type="log", title="classifiers looked at", dtick=1)
    fig.update_yaxes(title="samples on which it fails, %", range=[0, 103])
    return finish(fig, 380, margin=fixed_margin(top=64))
