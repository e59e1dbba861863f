"""Learn the kernel: weigh the prior's frequencies by how well their cosines agree with the labels (PBRFF, OKRFF)."""

from dataclasses import replace

import streamlit as st

from pages.components import layout
from pages.components.controls import Number, Scale, mount, powers
from pages.components.kernel_results import FREQUENCY_COUNTS
from pages.components.learning_results import (
    CURVE_COUNTS,
    CURVE_DRAWS,
    CandidateSettings,
    OptimizedKernel,
    PriorWeights,
    PseudoPosterior,
    candidate_weights,
    candidates,
    feature_errors,
    feature_errors_at,
    frequency_plane,
    prior_map,
    weighted_map,
)
from pages.components.toy_controls import BETA, COST, DATA, N_POINTS, NOISE, SEED, SIGMA, toy_data
from pages.components.toy_data import TEST_POINTS, map_extent, toy_sample
from rff_engine.experiments import toy_learning
from rff_engine.figures import kernels, spectra
from rff_engine.figures.style import METHOD_NAMES

CONTROLS = (
    "Learning",
    replace(BETA, default=10.0),
    Scale(
        "rho",
        "Radius of OKRFF, ρ/N",
        "How far from the prior the optimized kernel may go, from nearly nowhere to as far as there is.",
        powers(-4, 0, 5),
        0.01,
    ),
    Number("mu", "Order μ of the divergence", "2 is the chi-square divergence.", 1.1, 5.0, 2.0, 0.1),
    Scale("D", "Features drawn: frequencies D", None, tuple(D for D in FREQUENCY_COUNTS if D <= 200), 10),
    "Prior",
    replace(SIGMA, default=0.251),
    Scale("N", "Candidates N", "Frequencies drawn from the prior.", (50, 100, 200, 500, 1000, 2000, 5000), 2000),
    "Data",
    replace(DATA, default="checkerboard"),
    NOISE,
    N_POINTS,
    SEED,
    COST,
)


def heading(method: str, summary: toy_learning.WeightSummary) -> str:
    """A method's name, its divergences from the prior and its effective number of frequencies."""
    effective = f"{summary.effective:.{0 if summary.effective >= 100 else 1}f}"
    return (
        f"<b>{METHOD_NAMES[method]}</b><br>KL {summary.kl:.2f}, D<sub>μ</sub> {summary.divergence:,.4g}"
        f"<br>effective: {effective} of {values.N}"
    )


values = mount(CONTROLS)
layout.title(
    "Which cosines agree with the labels?",
    "The prior kernel believes in every frequency as its density says. **PBRFF** and **OKRFF** look at the labels "
    "once and give more weight to cosines that are large within a class and small between classes. Move **β** and "
    "**ρ** to see belief turn into a learned kernel, and what that is worth with few features.",
)
with layout.problems_explained():
    data = toy_data(values)
    sample = toy_sample(data)
    settings = CandidateSettings(data, values.sigma, values.N)
    weightings = {
        "rff": PriorWeights(),
        "pbrff": PseudoPosterior(values.beta),
        "okrff": OptimizedKernel(values.rho, values.mu),
    }
    frequency_extent, delta_extent = 3.5 / values.sigma, 2 * map_extent(data)
    plane = frequency_plane(data, values.sigma, frequency_extent)
    drawn = candidates(settings)
    weights = {method: candidate_weights(settings, weighting) for method, weighting in weightings.items()}
    learned = {method: weights[method] for method in ("pbrff", "okrff")}
    posterior = toy_learning.plane_posterior(plane, values.beta)
    summaries = {method: toy_learning.weight_summary(Q, values.mu) for method, Q in learned.items()}
    maps = {"rff": prior_map(values.sigma, delta_extent)} | {
        method: weighted_map(settings, weightings[method], delta_extent) for method in learned
    }

layout.figure(
    spectra.frequency_planes(frequency_extent, plane.prior, plane.loss, posterior),
    "Bright is where cosines are wanted. The loss in the middle comes from the labels alone: for two classes it is, up "
    "to constants, minus the power spectrum of the labels, so its low spots are the peaks of that spectrum. Drag β: "
    "the posterior leaves the prior's disc for the nearest and deepest low spots.",
    key="spectrum",
    alt="Prior density, alignment loss and pseudo-posterior density over the frequency plane",
)
layout.equation(
    "alignment loss and pseudo-posterior",
    r"\widehat L_S(\omega) = \frac{1}{n(n-1)} \sum_{i\neq j} "
    r"\frac{1 - \lambda_{ij}\cos\big(\omega\cdot(x_i-x_j)\big)}{2}, \qquad "
    r"Q(\omega) \propto p(\omega)\, e^{-\beta\sqrt n\,\widehat L_S(\omega)}",
    "$\\lambda_{ij}$ is $+1$ for two points of one class and $-1$ otherwise. With labels $\\pm 1$ the loss is a "
    "constant minus $\\big|\\sum_j y_j e^{i\\omega\\cdot x_j}\\big|^2 / (2n(n-1))$, the power spectrum of the "
    "labelled points (Letarte, Morvant and Germain, 2019, Equations 9 and 19, Proposition 8).",
)

left, right = st.columns([2, 1])
with left:
    layout.figure(
        spectra.weighted_candidates(
            sample.X,
            sample.y,
            map_extent(data),
            drawn.omega,
            learned,
            {method: heading(method, summary) for method, summary in summaries.items()},
            frequency_extent,
        ),
        f"The {values.N} candidates drawn from the prior; the area of a dot is its weight. Both methods choose among "
        "them: what the prior did not draw cannot be learned. Grey dust has next to no weight. Of the light ones "
        f"at most {spectra.MOST_LIGHT_DOTS} are drawn.",
        key="candidates",
        alt="The data, and the candidate frequencies sized by their weights under PBRFF and OKRFF",
    )
with right:
    layout.figure(
        spectra.sorted_weights(weights),
        f"Weights from the largest down; 1 is the prior. OKRFF may reach Dμ = ρ = {values.rho * values.N:,.4g}; where "
        "it stays below, all weight is on the best candidate already.",
        key="weights",
        alt="Sorted weights of the candidates under the prior, PBRFF and OKRFF, on logarithmic axes",
    )
layout.equation(
    "optimized kernel",
    r"\max_{Q} \sum_{m=1}^{N} Q_m \sum_{i,j} \lambda_{ij} \cos\big(\omega_m\cdot(x_i - x_j)\big)"
    r"\quad\text{subject to}\quad D_\mu(Q\,\|\,P) = \frac1N\sum_{m=1}^N (N Q_m)^\mu - 1 \le \rho",
    "Sinha and Duchi (2016), as compared in Letarte, Morvant and Germain (2019), Equations 17 and 18. PBRFF instead "
    "trades the loss against $\\mathrm{KL}(Q\\|P)$. The effective number of frequencies is $1/\\sum_m Q_m^2$: "
    "$N$ for the prior, 1 when one candidate has all weight.",
)

layout.figure(
    kernels.kernel_maps(maps, delta_extent),
    "How similar two points are whose difference is δ: green alike, purple unlike, white neither. The prior knows "
    "only near and far. The learned kernels repeat the pattern of the classes, with stripes or cells where the "
    "labels change sign, and at large β become a single wave.",
    key="kernels",
    alt="The prior kernel and the kernels learned by PBRFF and OKRFF over the plane of differences",
)

with layout.problems_explained():
    curves, at_chosen = {}, {}
    for method, weighting in weightings.items():
        curves[method] = toy_learning.mean_and_margin(feature_errors(settings, weighting, values.C, CURVE_COUNTS))
        at_chosen[method] = toy_learning.mean_and_margin(feature_errors_at(settings, weighting, values.C, values.D))
layout.figure(
    kernels.error_curves(CURVE_COUNTS, curves, values.D, at_chosen),
    f"A linear SVM on D frequencies drawn from each distribution, tested on {TEST_POINTS} fresh points: mean of "
    f"{CURVE_DRAWS} draws, with the 95 % interval of the mean; the large markers are at the current D. Learning pays "
    "with few features. With many, a prior that reaches the right frequencies catches up, and weights that are too "
    "concentrated stop improving.",
    key="errors",
    alt="Test error against the number of frequencies for RFF, PBRFF and OKRFF",
)
