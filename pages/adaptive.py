"""Adaptive frequencies: which ones the points ask for, how they get there, and how many landmarks it takes."""

from dataclasses import replace

import streamlit as st

from pages.components import guide, layout, live, presets, sharing
from pages.components.adaptive_results import (
    CURVE_DRAWS,
    CURVE_STEPS,
    LANDMARK_COUNTS,
    METHODS,
    adaptive_settings,
    data_extent,
    descent,
    frequency_extent,
    grid_weights,
    importance,
    inputs,
    landmark_counts,
    landmark_curve,
    landmarks,
    live_descent,
)
from pages.components.controls import Number, Options, Scale, mount, powers
from pages.components.sharing.recipes import adaptive as recipe
from pages.components.toy_controls import DATA, NOISE, PLAIN, SEED, SIGMA
from rff_engine.experiments import toy_adaptive
from rff_engine.figures import adaptive as figures

CONTROLS = (
    "Kernel and frequencies",
    replace(
        SIGMA,
        label="Width σ of the Gaussian kernel",
        values=tuple(value for value in powers(-1, 1, 10) if 0.3 <= value <= 2.1),
        default=1.0,
    ),
    Scale("r", "Frequencies r", "More join the ones already drawn.", (5, 10, 20, 30, 50), 20),
    Scale(
        "ridge",
        "Ridge λ of the grid's weights",
        "The price of ‖p‖². Larger: weights spread evenly over all frequencies that do; smaller: the kernel is met "
        "more closely.",
        powers(-5, 0, 1),
        0.1,
    ),
    "Landmarks",
    Options(
        "method",
        "Landmarks",
        "Rows drawn, centroids of k-means, or the rows nearest to those.",
        tuple(METHODS),
        "Sample",
    ),
    Scale("landmarks", "Number of landmarks n", "No more than there are points.", LANDMARK_COUNTS, 50),
    "Points",
    replace(
        DATA,
        label="Points",
        help="Each is drawn anew from the seed; no labels are used.",
        options=toy_adaptive.input_names(),
        default="line",
    ),
    replace(NOISE, default=0.05),
    Number("N", "Number of points N", None, 50, 500, 300, 10, formerly="n"),
    SEED,
    PLAIN,
)


def side_by_side(curves: dict, counts: tuple, n: int) -> str:
    """The mean errors of both ways to choose n landmarks, in words."""
    sample, cluster = (curves[method][counts.index(n)].mean() for method in ("sample", "cluster"))
    return f"at n = {n} Sample {sample:.2g} and Cluster {cluster:.2g}"


def saving(share: float) -> str:
    """What a density does to the error, in words."""
    return f"saves {layout.percent(share)}" if share >= 0 else f"adds {layout.percent(-share)}"


tour = guide.Tour("adaptive", CONTROLS)
values = mount(CONTROLS, tour)
layout.title(
    "Which frequencies do these points need?",
    "A kernel's spectral density says how often to draw a frequency, whatever the points are. But an approximation "
    "only has to be right **between the points there are**. Choose **points**, see which frequencies they weigh up, "
    "press **Play** to watch drawn frequencies move to where they serve best, and count the landmarks that takes.",
)
presets.offer(presets.ADAPTIVE_PRESETS, CONTROLS)
tour.show()

with layout.problems_explained():
    settings = adaptive_settings(values)
    X, chosen = inputs(settings.data), landmarks(settings)
    extent = frequency_extent(settings)
    grid = grid_weights(settings, values.ridge)
    found = descent(settings, values.r)
    plane = importance(settings.data, values.sigma)

layout.figure(
    figures.inputs_and_grid(X, chosen[0], data_extent(settings.data), grid, extent),
    f"A grid of {grid.weights.size} frequencies, weighed twice. By the prior: a round hill, as concentrated as "
    f"{grid.prior_effective:.0f} equal weights, with error {grid.prior_error:.2g} at the landmarks. By the points: as "
    f"concentrated as {grid.effective:.0f}, with error {grid.error:.2g}. λ pays for even weights with some error, so "
    "weight goes where that costs little: points along a line, for one, do not feel a frequency across it. Raise λ, "
    "and weight spreads further; lower it, and the error falls, and the hill returns where the landmarks ask for it.",
    key="grid",
    alt="The points with their landmarks, the prior's weights on a grid of frequencies, and the weights for the points",
)
layout.equation(
    "empirical kernel approximation loss",
    r"\min_{W,\; p\ge 0}\; \sum_{s,t=1}^{n} q_s^2 q_t^2 "
    r"\Big(\sum_{j=1}^{r} p_j \cos\big(\omega_j\cdot(x_s - x_t)\big) - k(x_s - x_t)\Big)^2 + \lambda \lVert p\rVert^2",
    "The sum is over $n$ landmarks instead of all $N$ points; $q_s^2$ is $1/n$ for landmarks drawn at random (Sample) "
    "and the share of the points in a cluster for centroids (Cluster), or for the rows nearest to them (Li, Zhang, "
    "Wang and Kumar, 2019, Equation 5). For given frequencies the weights are a quadratic program: that is the grid "
    "above, as in Figure 1 of the paper.",
)

player_words = (
    f"Press Play, or drag the slider: {values.r} frequencies drawn from the prior (rings) move with their best "
    "weights, the area of a dot. Right: the error that falls meanwhile. Weights alone take it from "
    f"{found.drawn_error:.3g} to {found.errors[0]:.3g}; {len(found.landmark_errors) - 1} steps later it is "
    f"{found.errors[-1]:.3g} over all points, {found.landmark_errors[-1]:.3g} at the landmarks, which alone are seen. "
    f"λ is {toy_adaptive.RIDGE:f} here and in the last figure of this page, next to nothing; the reruns of "
    "the paper take a larger one, which keeps weights even."
)
if values.plain:
    layout.figure(
        figures.descent_player(found, extent),
        player_words,
        key="player",
        alt="Frequencies moving in the plane step by step, and the error of the kernel falling; a button plays the "
        "steps",
    )
else:
    live.mount("descent", live_descent(settings, values.r), values)
    st.caption(player_words)
layout.equation(
    "the gradient that moves them",
    r"\nabla_{\omega_j} L = 4\, p_j \sum_{s} \Big( \cos(\omega_j\cdot x_s) \,(G\,\mathbf{s}_j)_s "
    r"- \sin(\omega_j\cdot x_s)\,(G\,\mathbf{c}_j)_s \Big)\, x_s, \qquad "
    r"G_{st} = q_s^2 q_t^2 \big(\tilde k(x_s, x_t) - k(x_s, x_t)\big)",
    "$\\mathbf{c}_j$ and $\\mathbf{s}_j$ are the cosines and sines of $\\omega_j\\cdot x_t$ over the landmarks (Li et "
    "al., 2019, Equation 6, with the factor 4 that finite differences confirm). The paper alternates steps of $W$ and "
    "$p$; here the weights are at their best for every $W$, and L-BFGS moves $W$. A frequency and its opposite are the "
    "same cosine.",
)

layout.figure(
    figures.importance_densities(plane, extent),
    "From where should frequencies be drawn, if they may not move? Left, on a line through the middle of the plane; "
    "right, how much more often than by the prior. The points shift the density a little: of the squared error, Claim "
    f"1's density {saving(toy_adaptive.saving(plane, 'claim'))}, and the best one "
    f"{saving(toy_adaptive.saving(plane, 'data'))}. Compare that with the player: given landmarks enough, moving the "
    "frequencies is worth far more than drawing them well.",
    key="densities",
    alt="Prior density and two importance densities along a line, and the ratio of the best one to the prior",
)
layout.equation(
    "Claim 1, the optimal importance density",
    r"q(\omega) \;\propto\; p(\omega)\,\sqrt{\mathbb{E}\cos^2\big(\omega\cdot(x - x')\big)} "
    r"\;\propto\; \Big(e^{-\sigma^2\lVert\omega\rVert^2} "
    r"+ e^{-(\sigma^2 + 2\sigma_0^2)\lVert\omega\rVert^2}\Big)^{1/2}",
    f"With weights $p/q$ the estimate is unbiased for every $q$, and this one makes its mean squared error least. The "
    f"second form is Claim 1 of Li et al. (2019), for differences $x - x' \\sim N(0, \\sigma_0^2 I)$; here "
    f"$\\sigma_0 = {plane.spread:.2f}$, measured on the points. The first form takes the points as they are: the mean "
    "of $\\cos^2$ over pairs is $(1 + |\\varphi(2\\omega)|^2)/2$, $\\varphi$ their characteristic function. Since it "
    "lies between ½ and 1, no frequency is asked for more than √2 times as often as another at the same prior.",
)

with layout.problems_explained():
    counts = landmark_counts(values.N)  # not above: the other figures are drawn meanwhile
    curves = {method: landmark_curve(settings.data, values.sigma, values.r, method) for method in ("sample", "cluster")}
layout.figure(
    figures.landmark_errors(counts, curves, values.r, found.drawn_error, settings.n_landmarks),
    f"How many landmarks does it take? Error over all {values.N} points for {values.r} frequencies: means of "
    f"{CURVE_DRAWS} draws after {CURVE_STEPS} steps, at the player's λ, bands from the best to the worst. With fewer "
    "landmarks than frequencies, left of n = r, the descent fits those and misses the points between; beyond a few "
    "times r more landmarks change little. Are centroids of k-means worth it? On average, "
    f"{', '.join(side_by_side(curves, counts, n) for n in sorted({counts[1], settings.n_landmarks}))}.",
    key="landmark_curve",
    alt="Error over all points against the number of landmarks, for sampled rows and for centroids",
)

sharing.offer("adaptive", CONTROLS, values, lambda: recipe.numbers(grid, found, plane, counts, curves))
