"""Figures of bounds: against beta, by their terms, with the price of choosing beta, and in a simulation.

The curves come from `rff_engine.studies.toy.bounds`, the simulation from `.coverage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import plotly.graph_objects as go

from .._typing import ArrayLike
from ..bounds import KL_BOUNDS, LANDMARK_BOUNDS
from .style import (
    LANDMARK_COLOURS,
    METHOD_COLOURS,
    add_curve,
    add_note,
    add_rule,
    finish,
    fixed_margin,
    log_axis,
    new_figure,
)

if TYPE_CHECKING:
    from ..studies.toy.bounds import BoundCurves, LandmarkUnion
    from ..studies.toy.coverage import WorstCase

ORANGE, GREEN, PINK, SKY, BROWN, YELLOW, GREY, VIOLET = LANDMARK_COLOURS
VERMILION, SLATE, WINE = METHOD_COLOURS["pbrff"], "#5F6E82", "#882255"


class Curve(Protocol):
    """A bound along betas."""

    @property
    def name(self) -> str: ...
    @property
    def n_landmarks(self) -> int: ...
    @property
    def betas(self) -> np.ndarray: ...
    @property
    def values(self) -> np.ndarray: ...
    @property
    def best_beta(self) -> float: ...
    @property
    def best_value(self) -> float: ...


class Look(NamedTuple):
    """How a bound is named and painted."""

    name: str
    kind: str
    """What it does, in a few words"""
    colour: str
    dash: str = "solid"


#: Colours of the bounds along beta, by the names of the engine's functions and in the order of its records.
BOUNDS = {
    "landmark_kl": Look("Theorem 1", "linear", ORANGE),
    "landmark_kl_inverse": Look("PAC-Bayes-kl", "inverse kl", BROWN, "dashdot"),
    "first_order_kl": Look("Corollary 2", "linear, mean over landmarks", PINK, "dashdot"),
    "second_order_kl": Look("Theorem 3", "linear, all pairs", GREEN),
    "second_order_kl_inverse": Look("PAC-Bayes-kl of pairs", "inverse kl, all pairs", BROWN, "longdash"),
    "second_order_two_class": Look("Bernstein, two classes", "variance of the losses", WINE, "longdashdot"),
    "f_divergence": Look("Theorem 4", "divergence of order μ", VERMILION, "dash"),
    "chi_square": Look("Corollary 5", "χ² divergence", SKY, "dot"),
}
BOUND_NAMES = {key: bound.name for key, bound in BOUNDS.items()}
#: Colour of all bounds but the chosen one.
OTHER_COLOUR = "#949494"

#: The terms of a bound.
TERM_NAMES = {
    "loss": "empirical loss",
    "complexity": "KL term: what Q has learned",
    "deviation": "t term: what t = β√n costs",
    "confidence": "ln term: what certainty costs",
    "rest": "everything else",
}
TERM_COLOURS = {"loss": SLATE, "complexity": SKY, "deviation": BROWN, "confidence": YELLOW, "rest": PINK}
# Lines of losses that are measured, not bounded.
EMPIRICAL_LINE: dict[str, Any] = {"color": SLATE, "width": 2}
TRUE_LINE: dict[str, Any] = {"color": VIOLET, "width": 2, "dash": "dash"}

# Least and greatest upper end of the y axis. It rises only to show a minimum.
_TOP, _HIGHEST_TOP = 1.12, 2.0


def bound_label(name: str, n_landmarks: int) -> str:
    """Name a bound in legends, with the number of landmarks that it holds for at once if there are several."""
    union = n_landmarks > 1 and name in LANDMARK_BOUNDS
    return f"{BOUND_NAMES[name]}, {n_landmarks} landmarks" if union else BOUND_NAMES[name]


def bound_of_a_fit(curve: Curve, losses: ArrayLike, beta: float) -> go.Figure:
    """Plot one bound and the empirical losses (B,) against beta; a line marks the beta of a fitted estimator."""
    fig = new_figure()
    look, label = BOUNDS[curve.name], bound_label(curve.name, curve.n_landmarks)
    name = f"{label}: {curve.best_value:.3f} at β = {curve.best_beta:.3g}"
    line = {"color": look.colour, "width": 3, "dash": look.dash}
    add_curve(fig, curve.betas, curve.values, name, line, "%{y:.3f}", extra=label, legendgroup=name)
    fig.add_scatter(
        x=[curve.best_beta],
        y=[curve.best_value],
        showlegend=False,
        mode="markers",
        marker={"symbol": "diamond", "size": 11, "color": look.colour, "line": {"width": 1.2, "color": "white"}},
        hoverinfo="skip",
        legendgroup=name,
    )
    add_curve(fig, curve.betas, losses, "empirical loss", EMPIRICAL_LINE, "%{y:.3f}")
    if beta > 0:
        add_rule(fig, x=beta)
    top = top_of([curve.best_value])
    # Above 1 a bound is vacuous.
    fig.add_hrect(y0=1, y1=top, fillcolor=GREY, opacity=0.15, line={"width": 0})
    add_rule(fig, y=1, line={"color": GREY, "width": 1})
    words = {"xref": "x domain", "xanchor": "left", "yanchor": "bottom", "font": {"size": 11}}
    add_note(fig, 0, 1, "vacuous above 1", **words)
    _beta_axis(fig, curve.betas)
    fig.update_yaxes(range=[0, top], title="alignment loss", fixedrange=True)
    return finish(fig, 430, hovermode="x unified", margin=fixed_margin(top=60))


def price_of_choosing(free: BoundCurves, paid: BoundCurves, beta: float) -> go.Figure:
    """Plot each bound at a fixed beta, at the best beta, and at the best beta with the price of choosing it."""
    names = list(free.bounds)
    rows = [BOUND_NAMES[name] for name in names]
    fixed = [free.bounds[name].at(beta) for name in names]
    unpaid = [free.bounds[name].best_value for name in names]
    honest = [paid.bounds[name].best_value for name in names]
    top = top_of(unpaid + honest)
    fig = new_figure()
    for row, a, b in zip(rows, unpaid, honest, strict=True):
        line = {"color": GREY, "width": 3}
        fig.add_scatter(x=[a, b], y=[row, row], mode="lines", line=line, hoverinfo="skip", showlegend=False)
    colours = [BOUNDS[name].colour for name in names]
    for label, values, symbol in (
        (f"at β = {beta:g}, fixed beforehand", fixed, "line-ns-open"),
        ("at the best β, nothing paid", unpaid, "circle-open"),
        ("at the best β, price paid", honest, "diamond"),
    ):
        # Values beyond the axis are arrows at its end.
        symbols = [symbol if value <= top else "triangle-right-open" for value in values]
        fig.add_scatter(
            x=np.minimum(values, top),
            y=rows,
            customdata=values,
            mode="markers",
            marker={"symbol": symbols, "size": 12, "color": colours, "line": {"width": 2.5, "color": colours}},
            hovertemplate="%{y}: %{customdata:.3f}<extra>" + label + "</extra>",
            showlegend=False,
        )
        _add_key(fig, label, symbol)
    if max(*fixed, *honest) > top:
        _add_key(fig, f"above {top:.3g}", "triangle-right-open")
    for name, row, a, b in zip(names, rows, unpaid, honest, strict=True):
        price = f"+ {b - a:.3f}" if name in KL_BOUNDS else "free"
        add_note(fig, 1, row, price, xref="paper", xanchor="right")
    add_note(fig, 1, 1, "<b>price</b>", xref="paper", yref="paper", xanchor="right", yanchor="bottom")
    fig.update_yaxes(autorange="reversed", type="category", showgrid=False, fixedrange=True)
    fig.update_xaxes(range=[0, 1.35 * top], title="bound on the alignment loss", fixedrange=True)
    return finish(
        fig,
        430,
        legend={"orientation": "v", "yanchor": "bottom", "y": 1.02, "x": 0},
        margin=fixed_margin(left=136, top=104),
    )


def bounds_for_many_landmarks(union: LandmarkUnion, chosen: int) -> go.Figure:
    """Plot bounds that hold for n_L landmarks at once, against n_L."""
    fig = new_figure()
    theorem, inverse = BOUNDS["landmark_kl"], BOUNDS["landmark_kl_inverse"]
    for values, name, line in (
        (union.together, theorem.name, {"color": theorem.colour, "width": 2.5}),
        (np.full(len(union.counts), union.alone), "not paid", {"color": theorem.colour, "width": 2, "dash": "dot"}),
        (union.inverse, inverse.name, {"color": inverse.colour, "width": 2.5, "dash": inverse.dash}),
        (np.full(len(union.counts), union.risk), "true risk", TRUE_LINE),
    ):
        add_curve(fig, union.counts, values, name, line, "n<sub>L</sub> = %{x}: %{y:.3f}")
    top = max(1.05 * float(np.max([union.together[-1], union.inverse[-1]])), 0.6)
    fig.update_yaxes(title="alignment loss", range=[0, min(top, _HIGHEST_TOP)], fixedrange=True)
    return _finish_against_count(fig, union.counts, chosen)


def failures_for_many_landmarks(union: LandmarkUnion, chosen: int, epsilon: float) -> go.Figure:
    """Plot how often a bound fails for at least one of n_L landmarks, against n_L; `epsilon` is allowed."""
    fig, theorem = new_figure(), BOUNDS["landmark_kl"]
    for values, name, line in (
        (union.failures_together, theorem.name, {"color": theorem.colour, "width": 2.5}),
        (union.failures_alone, "not paid", {"color": theorem.colour, "width": 2, "dash": "dot"}),
        (np.full(len(union.counts), epsilon), "allowed: ε", {"color": GREY, "width": 1.5, "dash": "dash"}),
    ):
        add_curve(fig, union.counts, values, name, line, "n<sub>L</sub> = %{x}: %{y:.3f}")
    top = max(1.05 * float(union.failures_alone.max()), 1.5 * epsilon)
    fig.update_yaxes(title="probability that some landmark fails", range=[0, top], fixedrange=True)
    return _finish_against_count(fig, union.counts, chosen)


def _finish_against_count(fig, counts, chosen: int) -> go.Figure:
    add_rule(fig, x=chosen)
    ticks = [count for count in (1, 10, 100, 1000) if count <= counts[-1]]
    fig.update_xaxes(title="landmarks at once, n<sub>L</sub>", fixedrange=True, **log_axis(ticks))
    return finish(fig, 400, margin=fixed_margin(top=64))


#: Of the two forms of Theorem 4 on samples.
FORM_COLOURS = {"printed": VERMILION, "corrected": GREEN}


def kept_and_broken_promises(case: WorstCase, true_loss: np.ndarray, rates: Mapping[str, np.ndarray]) -> go.Figure:
    """Plot bounds on samples against their true losses, and how often they fail, against the same true losses."""
    fig = new_figure(1, 2, widths=[0.7, 0.3], gap=(0.08, 0.1))
    fig.add_scatter(x=[0, 0.5], y=[0, 0.5], mode="lines", name="bound = true loss", line={"color": GREY, "width": 1.5})
    for form, colour in FORM_COLOURS.items():
        bound = case.losses + getattr(case, f"{form}_width")
        fig.add_scatter(
            x=bound,
            y=case.true_loss,
            mode="markers",
            marker={"color": colour, "size": 4, "opacity": 0.5},
            name=f"{form}, one dot a sample",
            hovertemplate="bound %{x:.3f}, true loss %{y:.3f}<extra>" + form + "</extra>",
        )
        line, name = {"color": colour, "width": 2.5}, f"{form}, how often it fails"
        hover = "true loss %{y:.3f}: fails for %{x:.2f} % of samples"
        add_curve(fig, 100 * rates[form], true_loss, name, line, hover, extra=form, row=1, col=2)
    add_rule(fig, x=100 * case.epsilon, col=2)
    fig.update_xaxes(title="bound", range=[0, 1], fixedrange=True, col=1)
    fig.update_xaxes(title="fails for (% of samples)", rangemode="tozero", fixedrange=True, col=2)
    fig.update_yaxes(title="true loss", range=[0, 0.5], fixedrange=True, col=1)
    fig.update_yaxes(range=[0, 0.5], fixedrange=True, col=2)
    return finish(fig, 420, legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0})


def _add_key(fig, label: str, symbol: str) -> None:
    """Add a legend entry for a symbol of several colours."""
    marker = {"symbol": symbol, "size": 12, "color": GREY, "line": {"width": 2.5, "color": GREY}}
    fig.add_scatter(x=[None], y=[None], mode="markers", name=label, marker=marker)


def top_of(minima: Iterable[float]) -> float:
    """Return the upper end of the y axis: a little above 1, more if the minimum of a bound is larger."""
    return float(np.clip(1.08 * max(minima), _TOP, _HIGHEST_TOP))


def _beta_axis(fig, betas) -> None:
    # Every other decade: in a narrow window labels of neighbouring panels would overlap.
    ticks = 10.0 ** np.arange(np.ceil(np.log10(betas[0]) + 0.5), np.log10(betas[-1]), 2)
    fig.update_xaxes(
        range=list(np.log10([betas[0], betas[-1]])),
        title="inverse temperature β",
        unifiedhovertitle={"text": "β = %{x:.3g}"},
        fixedrange=True,
        **log_axis(ticks),
    )
