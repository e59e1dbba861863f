"""Adaptive frequencies: their best weights, their descent, and the number of landmarks that it needs."""

from dataclasses import replace
from functools import partial

import datasets
from pages.adaptive import compute, figures, view
from pages.adaptive.compute import LANDMARK_COUNTS, AdaptiveSettings, Descent, GridWeights, ImportancePlane
from pages.shared import deferred, layout, live, sharing
from pages.shared.controls.toy import DATA, NOISE, SEED, SIGMA
from pages.shared.controls.widgets import Number, Options, Scale, Several, mount, show_rest
from pages.shared.layout import error_text
from pages.shared.server import workers
from pages.shared.server.cache import cache_results
from rff_engine.plots.style import METHOD_NAMES

cache_results(compute, "inputs", "chosen_landmarks", "importance_plane")
cache_results(compute, in_workers=("grid_weights", "descent", "landmark_curve", "method_curve"))
cache_results(view, "live_descent")

#: Ways to choose landmarks, by their labels.
METHODS = {METHOD_NAMES[method]: method for method in compute.METHODS}
#: Methods whose errors are compared, by their labels.
FEATURES = {METHOD_NAMES[method]: method for method in compute.FEATURES}

CONTROLS = (
    "Kernel and frequencies",
    replace(
        SIGMA,
        label="Width σ of the Gaussian kernel",
        values=tuple(value for value in SIGMA.values if 0.3 <= value <= 2.1),
        default=1.0,
    ),
    Scale("r", "Frequencies r", "A larger r adds frequencies to those already drawn.", (5, 10, 20, 30, 50), 20),
    Scale(
        "ridge",
        "Ridge λ of the grid's weights",
        "The penalty on ‖p‖². Larger: weights spread over all suitable frequencies; smaller: the kernel is "
        "approximated more closely.",
        (1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0),
        0.1,
    ),
    "Landmarks",
    Options(
        "method",
        "Landmarks",
        "Random rows, k-means centroids, or the rows nearest to the centroids.",
        tuple(METHODS),
        "Sample",
    ),
    Scale("landmarks", "Number of landmarks n", "At most the number of points.", LANDMARK_COUNTS, 50),
    "Error against r",
    Several(
        "methods",
        "Methods",
        "Sample and Cluster move frequencies to the points, and take longest.",
        tuple(FEATURES),
        ("Monte Carlo", "Weight", "Sample"),
    ),
    "Points",
    replace(
        DATA,
        label="Points",
        help="Drawn from the seed; no labels are used.",
        options=datasets.toy_input_names(),
        default="line",
    ),
    replace(NOISE, default=0.05),
    Number("N", "Number of points N", None, 50, 500, 300, 10),
    SEED,
)


def mean_errors(curves: dict, counts: tuple, n: int) -> str:
    """Put the mean errors with n landmarks, sampled and as centroids, into words."""
    sample, cluster = (curves[method][counts.index(n)].mean() for method in ("sample", "cluster"))
    return f"at n = {n} Sample {sample:.2g} and Cluster {cluster:.2g}"


def saving(share: float) -> str:
    """Put the fraction of the error that a density saves or adds into words."""
    return f"saves {layout.percent(share)}" if share >= 0 else f"adds {layout.percent(-share)}"


def show_grid(settings: AdaptiveSettings, grid: GridWeights) -> None:
    """Show the weights on a grid of frequencies, by the prior and by the points."""
    X = compute.inputs(settings.data)
    landmarks, _ = compute.chosen_landmarks(settings)
    data_extent = compute.data_extent(settings.data)
    layout.figure(
        figures.inputs_and_grid(X, landmarks, data_extent, grid, compute.frequency_extent(settings.sigma)),
        f"**Weights for the points are as concentrated as {grid.effective:.0f} equal ones, the prior's as "
        f"{grid.prior_effective:.0f}.**",
        f"A grid of {grid.weights.size} [[frequencies]], weighted twice: by the [[prior]], a round hill, with error "
        f"{grid.prior_error:.2g} at the [[landmarks]], and for the points, with error {grid.error:.2g}. λ trades error "
        "for even weights, so weight spreads where that adds little error: a line of points, for example, does not "
        "depend on frequencies across it. Raise λ and the weights spread further; lower it and the error falls, and "
        "the hill returns."
        + layout.equation(
            "empirical kernel approximation loss",
            r"\min_{W,\; p\ge 0}\; \sum_{s,t=1}^{n} q_s^2 q_t^2 \Big(\sum_{j=1}^{r} p_j \cos\big(\omega_j\cdot(x_s - "
            r"x_t)\big) - k(x_s - x_t)\Big)^2 + \lambda \lVert p\rVert^2",
            "The sum is over $n$ landmarks instead of all $N$ points; $q_s^2$ is $1/n$ for landmarks drawn at random "
            "(Sample) and the share of the points in a cluster for centroids (Cluster), or for the rows nearest to "
            "them (Li, Zhang, Wang and Kumar, 2019, Equation 5). For given frequencies the weights are a quadratic "
            "program: that is the grid above, as in Figure 1 of the paper.",
        ),
        key="grid",
        alt="The points with their landmarks, the prior's weights on a grid of frequencies, and the weights for the "
        "points",
    )


def show_descent(values, settings: AdaptiveSettings, path: Descent) -> None:
    """Show the descent of the frequencies."""
    seen = (
        f"**Weights alone lower the error from {error_text(path.drawn_error)} to {error_text(path.errors[0])}; "
        f"moving the frequencies lowers it to {error_text(path.errors[-1])}.**"
    )
    details = (
        f"Press Play, or drag the slider: {values.r} [[frequencies]] drawn from the [[prior]] (rings) move; the area "
        "of a dot is its weight, the best one at every step; grey dots have almost none. [[Right|Below]]: the error. "
        f"After {len(path.landmark_errors) - 1} steps it is {error_text(path.errors[-1])} over all points and "
        f"{error_text(path.landmark_errors[-1])} at the [[landmarks]], the only "
        f"points that the descent uses. Here and in the last figure λ is tiny, {compute.RIDGE:f}; the reruns of "
        "the paper use a larger one, which keeps the weights even."
    )
    live.mount("descent", view.live_descent(settings, values.r), values)
    layout.caption_below(
        seen,
        details
        + layout.equation(
            "the gradient that moves them",
            r"\nabla_{\omega_j} L = 4\, p_j \sum_{s} \Big( \cos(\omega_j\cdot x_s) \,(G\,\mathbf{s}_j)_s "
            r"- \sin(\omega_j\cdot x_s)\,(G\,\mathbf{c}_j)_s \Big)\, x_s, \qquad "
            r"G_{st} = q_s^2 q_t^2 \big(\tilde k(x_s, x_t) - k(x_s, x_t)\big)",
            "$\\mathbf{c}_j$ and $\\mathbf{s}_j$ are the cosines and sines of $\\omega_j\\cdot x_t$ over the landmarks "
            "(Li et al., 2019, Equation 6, with the factor 4 that finite differences confirm). The paper alternates "
            "steps of $W$ and $p$; here the weights are optimal for every $W$, and L-BFGS moves $W$. A frequency and "
            "its opposite give the same cosine.",
        ),
    )


def ranking(curves: dict, r: int) -> str:
    """List the methods by their mean error at r, best first."""
    means = {method: of_method[compute.FREQUENCY_COUNTS.index(r)].mean() for method, of_method in curves.items()}
    return ", ".join(f"{METHOD_NAMES[method]} {error_text(means[method])}" for method in sorted(means, key=means.get))


def show_methods(values, settings: AdaptiveSettings) -> None:
    """Show the error of every chosen method against the number of frequencies."""
    chosen = [FEATURES[name] for name in values.methods]
    curves = workers.results(
        {
            method: partial(compute.method_curve, settings.data, values.sigma, settings.n_landmarks, method)
            for method in chosen
        }
    )
    nearest = min(compute.FREQUENCY_COUNTS, key=lambda count: abs(count - values.r))
    layout.figure(
        figures.errors_against_frequencies(compute.FREQUENCY_COUNTS, curves, values.r),
        f"**At r = {nearest}, best first: {ranking(curves, nearest)}.**",
        f"Error over all {values.N} points: means of {compute.CURVE_DRAWS} draws, bands from the best to the worst. "
        "Independent draws leave gaps and clusters, orthogonal directions and Sobol's points do not. Weight keeps "
        "drawn frequencies and chooses p ≥ 0, Sample and Cluster choose both, at the page's [[landmarks]] and the "
        "player's λ. r frequencies give 2r features, r landmarks of [[Nyström]] give r: its features are a root of the "
        "inverse of the kernel's matrix, times its values at the landmarks. **More settings** has all methods."
        + layout.equation(
            "relative error",
            r"\tilde k(x, x') = \sum_{j=1}^{r} p_j \cos\big(\omega_j\cdot(x - x')\big), \qquad "
            r"\text{error} = \lVert \tilde K - K\rVert_F \,/\, \lVert K\rVert_F",
            "The norm is the root of the sum of squares over all pairs of points. Drawn frequencies weigh $p_j = 1/r$.",
        ),
        key="errors",
        alt="Relative error of the kernel matrix against the number of frequencies, one line a method",
    )


def show_densities(settings: AdaptiveSettings, plane: ImportancePlane) -> None:
    """Show the densities from which frequencies may be drawn."""
    layout.figure(
        figures.importance_densities(plane, compute.frequency_extent(settings.sigma)),
        "**If frequencies may not move, the best density to draw them from "
        f"{saving(plane.saving('data'))} of the squared error.**",
        "[[Left|Above]]: densities on a line through the middle of the plane; [[right|below]]: the best one relative "
        f"to the prior. Claim 1's density {saving(plane.saving('claim'))} of the squared error. Compare "
        "that with the player: with enough landmarks, moving the frequencies helps far more than drawing them well."
        + layout.equation(
            "Claim 1, the optimal importance density",
            r"q(\omega) \;\propto\; p(\omega)\,\sqrt{\mathbb{E}\cos^2\big(\omega\cdot(x - x')\big)} \;\propto\; "
            r"\Big(e^{-\sigma^2\lVert\omega\rVert^2} + e^{-(\sigma^2 + 2\sigma_0^2)\lVert\omega\rVert^2}\Big)^{1/2}",
            "With weights $p/q$ the estimate is unbiased for every $q$, and this one minimizes its mean squared error. "
            "The second form is Claim 1 of Li et al. (2019), for differences $x - x' \\sim N(0, \\sigma_0^2 I)$; here "
            f"$\\sigma_0 = {plane.spread:.2f}$, measured on the points. The first form uses the points themselves: the "
            "mean of $\\cos^2$ over pairs is $(1 + |\\varphi(2\\omega)|^2)/2$, $\\varphi$ their characteristic "
            "function. Since it lies between ½ and 1, no frequency is drawn more than √2 times as often as another "
            "with the same prior density.",
        ),
        key="densities",
        alt="Prior density and two importance densities along a line, and the ratio of the best one to the prior",
    )


def show_landmark_curve(values, settings: AdaptiveSettings, path: Descent) -> None:
    """Show the error against the number of landmarks."""
    curve = partial(compute.landmark_curve, settings.data, values.sigma, values.r)
    curves = workers.results({method: partial(curve, method) for method in compute.COMPARED})
    counts = compute.landmark_counts(values.N)
    layout.figure(
        figures.landmark_errors(counts, curves, values.r, path.drawn_error, settings.n_landmarks),
        "**With fewer landmarks than frequencies, left of n = r, the descent fits the landmarks and misses the points "
        "between them.**",
        f"Error over all {values.N} points for {values.r} frequencies: means of {compute.CURVE_DRAWS} draws after "
        f"{compute.CURVE_STEPS} steps, at the player's λ, bands from the best to the worst. Beyond a few times r, more "
        "landmarks change little. Do k-means centroids help? On average, "
        f"{', '.join(mean_errors(curves, counts, n) for n in sorted({counts[1], settings.n_landmarks}))}."
        + layout.equation(
            "Propositions 1 and 2",
            r"\sup_{f}\, \lvert L_n(f) - L(f)\rvert \le 4\sqrt{\tfrac{2\ln(1/\delta)}{n}} "
            r"+ 16\sqrt{\tfrac{(dr + r - 1)(\ln n + 2\ln(3 r_W d_X + 9))}{n}}, \qquad "
            r"\sup_{f}\, \lvert L^c(f) - L(f)\rvert \le 8\rho\,(r_W + L_k)",
            "$L$ is the mean squared error of the kernel over all pairs of points, $L_n$ that over pairs of different "
            "landmarks, drawn with replacement, and $L^c$ that over weighted centroids. $f$ ranges over all "
            "frequencies of length at most $r_W$ with weights that sum to 1; $d_X$ is the largest distance of two "
            "points, $\\rho$ the largest distance to a centroid, and $L_k = e^{-1/2}/\\sigma$ (Li et al., 2019). The "
            "first holds with probability $1 - \\delta$, here 95 %, the second always.",
        ),
        key="landmark_curve",
        alt="Error over all points against the number of landmarks, for sampled rows and for centroids",
    )


def adaptive_settings(values) -> AdaptiveSettings:
    """Return the settings of the controls, with no more landmarks than points."""
    data = datasets.ToyData(values.data, values.N, values.noise, values.seed)
    allowed = max(compute.landmark_counts(values.N))
    return AdaptiveSettings(data, values.sigma, METHODS[values.method], min(values.landmarks, allowed))


def show(values) -> None:
    """Show what follows the controls."""
    with layout.show_errors():
        settings = adaptive_settings(values)
        path = compute.descent(settings, values.r)
    show_descent(values, settings, path)
    deferred.show("methods", lambda: show_methods(values, settings))
    deferred.show("grid", lambda: show_grid(settings, compute.grid_weights(settings, values.ridge)))
    deferred.show("curve", lambda: show_landmark_curve(values, settings, path))
    deferred.show(
        "densities", lambda: show_densities(settings, compute.importance_plane(settings.data, settings.sigma))
    )
    methods = tuple(FEATURES[name] for name in values.methods)
    chosen = {"method": settings.method, "landmarks": settings.n_landmarks, "methods": methods}
    numbers = partial(compute.numbers, settings, values.r, values.ridge, methods)
    sharing.offer("adaptive", CONTROLS, values, numbers, chosen)


def main() -> None:
    mount(CONTROLS, first=("data", "r"))
    layout.title(
        "An approximation only has to be right **between the given points**: press **Play** to watch [[frequencies]], "
        "drawn from the [[prior]], move to where these points need them.",
    )
    show_rest(show)


if __name__ == "__main__":
    main()
