"""The glossary: terms in texts show their meaning on hover, tap and keyboard focus, and a page lists them all.

A text marks a term as ``[[prior]]`` or ``[[landmarks]]``. The mark becomes a link to the list, which reads as a word on
paper; the browser shows the meaning next to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pages.shared import browser


@dataclass(frozen=True)
class Term:
    """A term of the glossary."""

    key: str
    """Its name in addresses"""
    name: str
    meaning: str
    """One sentence, without Markdown; formulas in plain characters"""
    forms: tuple[str, ...] = ()
    """Other words for it in texts, in lower case, such as its plural"""


TERMS = (
    Term(
        "frequency",
        "frequency ω",
        "A vector ω, with its cosine cos(ω · (x − x′)): a wave over the differences of two points, fast if ω is long.",
        ("frequency", "frequencies", "ω"),
    ),
    Term(
        "D",
        "number of frequencies D",
        "How many frequencies a feature map averages; each gives a cosine and a sine, so D frequencies make 2D "
        "features.",
        ("d", "r"),
    ),
    Term(
        "spectral-density",
        "spectral density p(ω)",
        "How much weight a kernel gives each frequency: its Fourier transform, a probability density.",
        ("spectral density",),
    ),
    Term(
        "prior",
        "prior P",
        "The distribution of the frequencies before any label is seen: the kernel's spectral density, or equal weights "
        "on frequencies drawn from it.",
        ("prior", "priors"),
    ),
    Term(
        "posterior",
        "posterior Q",
        "The prior reweighted by the labels, here the pseudo-posterior: Q(ω) is proportional to "
        "P(ω) exp(−β √n loss(ω)).",
        ("posterior", "pseudo-posterior", "q"),
    ),
    Term(
        "beta",
        "inverse temperature β",
        "How strongly the labels count in the posterior, named after physics, where exp(−β energy) weighs states: at 0 "
        "not at all; at a large β nearly all weight is on the frequency of least loss.",
        ("β", "inverse temperature"),
    ),
    Term(
        "alignment-loss",
        "alignment loss",
        "How far a cosine disagrees with the labels, from 0 to 1: the mean of (1 ∓ cos(ω · (x − x′))) / 2 over pairs, "
        "with − for two points of one class and + for two of different classes.",
        ("alignment loss", "alignment losses"),
    ),
    Term(
        "landmark",
        "landmark",
        "A point that all others are compared with: its similarities to them are a feature for a linear classifier; "
        "where frequencies are fitted, a point at which their kernel is to be right.",
        ("landmark", "landmarks"),
    ),
    Term(
        "KL",
        "Kullback–Leibler divergence KL",
        "How far the posterior is from the prior: KL(Q‖P) = Σ Q ln(Q/P), 0 if they are equal, and at most ln D on D "
        "frequencies of equal prior weight.",
        ("kl", "kl divergence"),
    ),
    Term(
        "empirical-loss",
        "empirical loss",
        "The loss on the sample, the data that are at hand.",
        ("empirical loss",),
    ),
    Term(
        "true-risk",
        "true risk",
        "The expected loss on new data, here estimated on many fresh points.",
        ("true risk", "true risks"),
    ),
    Term(
        "bound",
        "bound",
        "A number computed from the sample alone that the true risk exceeds for at most a fraction ε of all samples.",
        ("bound", "bounds"),
    ),
    Term(
        "epsilon",
        "allowed failures ε",
        "The fraction of samples for which a bound may fail: 0.05 means that it holds with probability 95 %.",
        ("ε",),
    ),
    Term(
        "PBRFF",
        "PBRFF",
        "PAC-Bayesian random Fourier features: frequencies drawn from the pseudo-posterior.",
        ("pbrff",),
    ),
    Term(
        "OKRFF",
        "OKRFF",
        "Optimized kernel random Fourier features: frequencies drawn from the distribution of least loss among those "
        "near the prior.",
        ("okrff",),
    ),
    Term(
        "Nystroem",
        "Nyström features",
        "Features from the kernel's values at a few points of the data, its landmarks, instead of frequencies.",
        ("nyström",),
    ),
)

_MARK = re.compile(r"\[\[([^|\[\]]+)\]\]")
_TERM_OF = {form: term for term in TERMS for form in term.forms}
TIP = '<div class="glossary-tip" id="glossary-tip" role="tooltip"></div>'
_component = browser.component("glossary", Path(__file__).with_name("tip.js"), TIP, ["tip.css"])


def mount() -> None:
    """Let the browser show meanings; called once a page."""
    _component(data={"terms": {term.key: [term.name, term.meaning] for term in TERMS}}, key="glossary_tip")


def linked(text: str) -> str:
    """Replace the marks of a text by links in Markdown; marks of no term stay as they are."""

    def link(mark: re.Match) -> str:
        term = _TERM_OF.get(mark[1].lower())
        return f"[{mark[1]}](glossary#{term.key})" if term else mark[0]

    return _MARK.sub(link, text)
