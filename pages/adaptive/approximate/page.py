"""Approximate a kernel: all methods on the same rows, two of them side by side."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from pages.adaptive import figures
from pages.adaptive.approximate import compute, view
from pages.adaptive.approximate.compute import DESCENT, DRAWS, R_VALUES, REAL_DATA, ROWS, ApproximationSettings
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls.toy import DATA, KERNEL, NU, SEED, SIGMA
from pages.shared.controls.widgets import Options, Scale, Several, mount
from pages.shared.layout import error_text
from pages.shared.server import workers
from pages.shared.server.cache import cache_results
from rff_engine.kernels import KERNELS_BY_TITLE
from rff_engine.plots.style import METHOD_NAMES

cache_results(compute, "approximation_rows", "approximation_errors", "method_view")
cache_results(compute, "frequency_extent", in_workers=("sequence", "fitted_errors"))
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
        "last of these at most at r is shown, its error in grey."
        + layout.equation(
            "relative error",
            r"\tilde k(x, x') = \sum_{j=1}^{r} p_j \cos\big(\omega_j\cdot(x - x')\big), \qquad "
            r"\text{error} = \lVert \tilde K - K\rVert_F \,/\, \lVert K\rVert_F",
            "The norm is the root of the sum of squares over all pairs of rows. Drawn frequencies weigh $p_j = 1/r$ "
            "each. Weight chooses $p \\ge 0$ for drawn frequencies, Sample and Cluster choose $p$ and the $\\omega_j$ "
            "so that this error is small on $r$ landmarks, rows drawn at random or centroids of k-means (Li, Zhang, "
            "Wang and Kumar, 2019, Equation 5). Nyström has no frequencies: its features are a root of $K_r^{-1}$ "
            "times the kernel's values at $r$ landmarks.",
        ),
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


def settings_of(values) -> ApproximationSettings:
    """Return the settings of the controls; `nu` is fixed for kernels that do not use it."""
    nu = values.nu if "nu" in KERNELS_BY_TITLE[values.kernel].parameters else 1.5
    return ApproximationSettings(values.data, values.kernel, values.width, nu, values.seed)


def main() -> None:
    tour = lessons.Tour("approximate", CONTROLS)
    values = mount(CONTROLS, tour, first=("second", "data"))
    layout.title(
        "A kernel is replaced by the average of **[[r]]** cosines. Their [[frequencies]] may be drawn, spread evenly, "
        "or **fitted to the data**. Raise **r**, and see where two methods err.",
    )
    tour.show_card()

    pair = METHODS[values.first], METHODS[values.second]
    with layout.show_errors():
        settings = settings_of(values)
        rows, _ = settings.rows_and_kernel()

    show_live(values, settings, rows, pair)
    deferred.show("errors", lambda: show_errors(values, settings, rows))
    methods = tuple(METHODS[name] for name in values.methods)
    chosen = {"first": pair[0], "second": pair[1], "methods": methods}
    sharing.offer("approximate", CONTROLS, values, lambda: compute.numbers(settings, pair, values.r, methods), chosen)


if __name__ == "__main__":
    main()
