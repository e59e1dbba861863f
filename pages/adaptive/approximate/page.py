"""Approximate a kernel: all methods on the same rows, two of them side by side."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from pages.adaptive.approximate import compute, figures, view
from pages.adaptive.approximate.compute import DESCENT, DRAWS, R_VALUES, REAL_DATA, ROWS, ApproximationSettings
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls import presets
from pages.shared.controls.toy import DATA, KERNEL, NU, SEED, SIGMA
from pages.shared.controls.widgets import Options, Scale, Several, mount
from pages.shared.layout import error_text
from pages.shared.server import workers
from pages.shared.server.cache import cache_results
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.plots.style import METHOD_NAMES

cache_results(compute, "approximation_rows", "approximation_errors", "method_view")
cache_results(compute, "frequency_extent", "variance_curves", "line_fit")
# The first run measures the times of regressions, on one thread, so that they do not depend on free cores.
cache_results(compute, in_workers=("sequence", "fitted_errors", "learning_errors", "learning_seconds"))
cache_results(view, "live_approximation")
# The page shows its own note, see `unmatched`.
warnings.filterwarnings("ignore", message=".*too few to match a covariance", category=UserWarning)

#: Methods to compare, by their labels.
METHODS = {METHOD_NAMES[method]: method for method in compute.METHODS}

FREQUENCIES = Scale(
    "r",
    "Frequencies r",
    "D on other pages; a larger r adds frequencies to those already drawn. For Nyström: landmarks.",
    view.FREQUENCY_COUNTS,
    50,
)

#: Key of the session's state: the settings for which the live view has asked for all fits.
REACHED = "fitted at every r"

#: Help on the methods Sample and Cluster.
FITTED = "Sample fits frequencies at rows drawn at random, Cluster at centroids of k-means."

CONTROLS = (
    "Two methods",
    Options("first", "First method", FITTED, tuple(METHODS), "Monte Carlo"),
    Options("second", "Second method", FITTED, tuple(METHODS), "Sample"),
    FREQUENCIES,
    "Rows and kernel",
    replace(
        DATA,
        label="Data set",
        help=f"{ROWS} rows, columns scaled to mean 0 and variance 1. The last three are real data.",
        options=(*DATA.options, *REAL_DATA),
        default="wine",
    ),
    KERNEL,
    Scale(
        "width",
        "Width",
        "At 1 the Gaussian kernel has 2σ² = d, the number of columns, as in Li et al. (2019).",
        tuple(value for value in SIGMA.values if 0.2 <= value <= 4),
        1.0,
    ),
    NU,
    SEED,
    "Error curves",
    Several(
        "methods",
        "Methods",
        "Methods that optimize frequencies (Sample, Cluster) take longest; their curves end at r = 50.",
        tuple(METHODS),
        ("Monte Carlo", "Orthogonal", "Sobol", "Weight", "Sample", "Nyström"),
    ),
)

SPREAD = (
    "**Independent draws leave gaps and clusters, evenly spread ones do not, fitted ones move to where the data need "
    "them.**"
)


def unmatched(rows, methods, r_values) -> str:
    """Return a sentence on moment matching if it is among the methods and some r is too small for it."""
    d = rows.X.shape[1]
    few = compute.too_few_to_match(r_values, d) if "moment_matching" in methods else ()
    if not few:
        return ""
    small = f"r = {few[0]} is" if len(few) == 1 else f"numbers up to r = {max(few)} are"
    matched = "so it is matched in the span of the draws, and then their mean square"
    return f" Moment matching: {small} too few to match a covariance of {d} columns, {matched}."


def show_live(values, settings: ApproximationSettings, rows, pair: tuple[str, str]) -> None:
    """Show both methods at every r; compute fits at other r once the reader reaches for the slider."""
    of_fits = settings, pair
    reached = not live.has_server or st.session_state.get(REACHED) == of_fits

    def reach() -> None:
        st.session_state[REACHED] = of_fits

    packed = view.live_approximation(settings, pair, values.r, reached)
    live.mount("approximation", packed, values, (FREQUENCIES,), on_reached=reach)
    plane = "the plane" if rows.X.shape[1] == 2 else "the plane of the first two principal components"
    stars = " Stars are landmarks among the rows: Nyström has no frequencies."
    layout.caption_below(
        SPREAD + " Raise r, and see where each method still errs.",
        f"The [[frequencies]], seen in {plane}; the area of a dot is its weight."
        + (stars if "Nyström" in values.first + values.second else "")
        + unmatched(rows, pair, [values.r])
        + " Maps: the error of the similarity to the row at the star; white dots are the rows. A method that is fitted "
        f"to data may err where there are none. Curves: the error over all pairs of the {len(rows.X)} rows. "
        "Monte Carlo, Orthogonal, Structured orthogonal, Fastfood, Halton, Sobol and Digital net draw one frequency "
        "after the other, or one block: r are the first r of one sample, and the band spans "
        f"{DRAWS} samples. All other methods are fitted for each r, at the points of their curves; while r moves, the "
        "last of these at most at r is shown, its error in grey.",
    )
    layout.equation(
        "relative error",
        r"\tilde k(x, x') = \sum_{j=1}^{r} p_j \cos\big(\omega_j\cdot(x - x')\big), \qquad "
        r"\text{error} = \lVert \tilde K - K\rVert_F \,/\, \lVert K\rVert_F",
        "The norm is the root of the sum of squares over all pairs of rows. Drawn frequencies weigh $p_j = 1/r$ each. "
        "Weight chooses $p \\ge 0$ for drawn frequencies, Sample and Cluster choose $p$ and the $\\omega_j$ so that "
        "this error is small on $r$ landmarks, rows drawn at random or centroids of k-means (Li, Zhang, Wang and "
        "Kumar, 2019, Equation 5). Nyström has no frequencies: its features are $K_r^{-1/2}$ times the kernel's values "
        "at $r$ landmarks.",
    )


def error_curves(settings: ApproximationSettings, methods) -> tuple[dict, dict]:
    """Compute errors by method at the same time, and a sentence for each method that does not fit the kernel."""
    calls = {method: partial(compute.approximation_errors, settings, method) for method in methods}
    found = workers.side_by_side(calls)
    errors, refused = compute.of_fitting(methods, lambda method: found[method].result())
    return errors, {method: view.misfit(settings, method, error) for method, error in refused.items()}


def ranking(errors: dict, r: int) -> str:
    """List the methods by their mean error at r, best first, without methods that have no error there."""
    counts = {method: compute.curve_counts(method) for method in errors}
    means = {method: of[counts[method].index(r)].mean() for method, of in errors.items() if r in counts[method]}
    return ", ".join(f"{METHOD_NAMES[method]} {error_text(means[method])}" for method in sorted(means, key=means.get))


def show_errors(values, settings: ApproximationSettings, rows) -> None:
    """Show the error of every method against the number of frequencies."""
    errors, refused = error_curves(settings, [METHODS[name] for name in values.methods])
    counts = {method: compute.curve_counts(method) for method in errors}
    nearest = min(R_VALUES, key=lambda count: abs(np.log(count / values.r)))
    ends = f"; there curves end at r = {max(compute.DESCENT_R_VALUES)}" if set(DESCENT) & set(errors) else ""
    layout.figure(
        figures.errors_against_frequencies(counts, errors, values.r),
        f"**At r = {nearest}, best first: {ranking(errors, nearest) or 'no method has an error there'}.**",
        f"Error over all pairs of the {len(rows.X)} rows, {rows.X.shape[1]} columns each: means of {DRAWS} draws "
        f"({compute.DESCENT_DRAWS} where frequencies are optimized{ends}), bands from the best draw to the worst. r "
        "frequencies give 2r features, r landmarks of [[Nyström]] give r. Align and PBRFF use the labels and "
        "approximate another kernel." + unmatched(rows, errors, R_VALUES),
        key="errors",
        alt="Relative error of the kernel matrix against the number of frequencies, one line a method",
    )
    for sentence in refused.values():
        st.info(sentence, icon=":material/info:")


def show_variances(curves) -> None:
    """Show the variances of both feature maps."""
    larger = np.any(curves.expected["cos_sin"] > curves.expected["random_phase"] + 1e-9)
    compared = (
        "At large distances a random phase is slightly better for this kernel: there k(2δ) is above 2 k(δ)²."
        if larger
        else "Here cos/sin is nowhere above it."
    )
    layout.figure(
        figures.variances(curves),
        "**At distance 0 cosine and sine have no error; one cosine with a random phase has.**",
        f"Dashed: the formulas of Sutherland and Schneider (2015). Markers: {compute.VARIANCE_DRAWS} "
        f"simulated draws of 2 features. {compared} A larger r divides both variances equally.",
        key="variances",
        alt="Variance of the cos/sin and of the random-phase estimate against the distance, formula and simulation",
    )
    layout.equation(
        "variance of the two feature maps",
        r"\mathrm{Var}_{\cos/\sin} = \tfrac1E\big(1 + k(2\delta) - 2k(\delta)^2\big), \qquad "
        r"\mathrm{Var}_{\text{phase}} = \tfrac1E\big(1 + \tfrac12 k(2\delta) - k(\delta)^2\big)",
        "$E$ is the number of features: $2r$ for $r$ frequencies with cosine and sine, $r$ with random phases. "
        "(Sutherland and Schneider, 2015, Section 2.1.) Both hold for frequencies drawn independently.",
    )


def show_line(values, fit) -> None:
    """Show kernel ridge regression as a sum over the training points."""
    st.header("What does learning with fewer features lose?")
    layout.figure(
        figures.fits_on_a_line(fit),
        "**Lower r until the approximations leave the thick line, kernel ridge regression.**",
        f"Regression of {len(fit.x)} noisy points with your kernel. The thick solid line is kernel ridge regression: "
        "the sum of the thin ones, one bump a training point. The dotted line is made of "
        f"{values.r} random cosines and sines, the long-dashed one of the kernel at {len(fit.landmarks)} points. "
        "Beyond the points, where nothing is known, only cosines keep waving.",
        key="line",
        alt="Kernel ridge regression of points on a line as a sum of kernels, and its approximations by features",
    )
    layout.equation(
        "representer theorem",
        r"\min_{f\in\mathcal H_k}\ \frac1{2n}\sum_{i=1}^n\big(f(x_i)-y_i\big)^2+\frac\lambda2\lVert "
        r"f\rVert_{\mathcal H_k}^2 \quad\text{is reached at}\quad f=\sum_{i=1}^n\alpha_i\,k(\cdot,x_i),\qquad "
        r"\alpha=(K+n\lambda I)^{-1}y",
        r"The part of $f$ orthogonal to all $k(\cdot, x_i)$ is 0 at the points and only adds to the norm, so the "
        r"best $f$ has none (Kimeldorf and Wahba, 1971). This holds for any loss. $\lVert f\rVert^2 = \alpha^\top "
        r"K\alpha$. On features, the rows of $\Phi$, the same problem is solved by $\theta = (\Phi^\top\Phi + n\lambda "
        r"I)^{-1} \Phi^\top y$, with as many unknowns as features.",
    )


def show_learning(values, settings: ApproximationSettings, task: str) -> None:
    """Show errors and times of kernel ridge regression and of its approximations."""
    # One after the other, because the page shows their times.
    learned = compute.learning_errors(settings)
    measured = compute.learning_seconds(settings, values.r)
    left, right = st.columns(2)
    with left:
        layout.figure(
            figures.errors_against_r(learned, task, values.r),
            "**A rough kernel is often enough: the error comes close to kernel ridge regression's early.**",
            f"Your data with {learned.n} training rows: errors on other rows, λ chosen on still others; bands reach "
            "from the best draw to the worst. Compare with the error of the kernel matrix above, which falls on.",
            key="learning",
            alt="Test error against the number of frequencies or landmarks, with that of kernel ridge regression",
        )
    with right:
        layout.figure(
            figures.seconds_against_r(learned, values.r),
            "**With 2r features and few rows the full kernel can be faster.**",
            "The time to fit, features included, measured on this server when your settings were first computed; it is "
            "no part of the downloaded numbers.",
            key="times",
            alt="Time to fit against the number of frequencies or landmarks, with that of kernel ridge regression",
        )
    layout.figure(
        figures.seconds_and_promises(measured),
        "**Kernel ridge regression grows like n³, ridge on features like n.**",
        f"The time to fit at r = {values.r} against the number of training points. Thin dotted lines are what counting "
        "operations promises, drawn through the last point: n³ for kernel ridge regression, n on features. At small n "
        "fixed costs hide it.",
        key="growth",
        alt="Time to fit against the number of training points, with lines that grow as n cubed and as n",
    )
    layout.equation(
        "what it costs",
        r"\underbrace{O\big(n^2(d+n)\big)}_{\text{kernel ridge}}\qquad "
        r"\underbrace{O\big(nr(d+r)+r^3\big)}_{\text{ridge on } r \text{ random or Nyström features}}",
        "The kernel matrix takes $n^2 d$ operations and its factorisation $n^3/3$; features take $nrd$, their products "
        "$nr^2$, and the system $r^3$. Nyström's features add $nr^2 + r^3$ for the root of the landmarks' matrix "
        "(Williams and Seeger, 2001). Rudi and Rosasco (2017) show that $r$ of the order of $\\sqrt n\\ln n$ "
        "frequencies are enough for the error of kernel ridge regression, $O(1/\\sqrt n)$.",
    )


def settings_of(values) -> ApproximationSettings:
    """Return the settings of the controls; `nu` is fixed for kernels that do not use it."""
    nu = values.nu if "nu" in KERNELS_BY_TITLE[values.kernel].parameters else 1.5
    return ApproximationSettings(values.data, values.kernel, values.width, nu, values.seed)


def main() -> None:
    tour = lessons.Tour("approximate", CONTROLS)
    values = mount(CONTROLS, tour)
    layout.title(
        "Random features replace a kernel by the average of **[[r]]** cosines. Their [[frequencies]] may be drawn "
        "independently, spread evenly, or **fitted to the data**. Choose two methods, raise **r**, and see where their "
        "frequencies lie and where they err; then compare all methods.",
    )
    presets.offer(presets.APPROXIMATION_PRESETS, CONTROLS)
    tour.show()

    pair = METHODS[values.first], METHODS[values.second]
    with layout.show_errors():
        settings = settings_of(values)
        rows, _ = settings.rows_and_kernel()

    show_live(values, settings, rows, pair)
    deferred.show("errors", lambda: show_errors(values, settings, rows))
    deferred.show("variances", lambda: show_variances(compute.variance_curves(settings)))
    deferred.show("line", lambda: show_line(values, compute.line_fit(settings, values.r)))
    deferred.show("learning", lambda: show_learning(values, settings, rows.task))
    methods = tuple(METHODS[name] for name in values.methods)
    chosen = {"first": pair[0], "second": pair[1], "methods": methods}
    sharing.offer("approximate", CONTROLS, values, lambda: compute.numbers(settings, pair, values.r, methods), chosen)


if __name__ == "__main__":
    main()
