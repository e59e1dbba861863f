"""A kernel is a prior: its spectral density weighs cosines, and random features draw from it."""

import streamlit as st

from pages.kernel import compute, figures, view
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls.moved_frequencies import MOVED, Moved
from pages.shared.controls.toy import KERNEL, NU, SEED
from pages.shared.controls.widgets import Scale, mount, show_rest
from pages.shared.server.cache import cache_results

cache_results(compute, "kernel_draw", "kernel_line", "kernel_functions", "kernel_errors")
cache_results(view, "live_prior")

WIDTH = Scale(
    "width",
    "Width",
    "σ of the Gaussian, the length scale of the Matérn kernel, 1/γ of the others.",
    view.WIDTHS,
    0.501,
)
FREQUENCIES = Scale(
    "D", "Frequencies D", "A larger D adds frequencies to those already drawn.", compute.FREQUENCY_COUNTS, 50
)
CONTROLS = ("Kernel", KERNEL, WIDTH, NU, "Random features", FREQUENCIES, SEED)

PREFERS = "**What does a prior prefer? Drag a frequency to the right: all five functions take up its faster wave.**"
LINES = (
    "The kernel is the average of all cosines, the orange estimate the average of D. Thin lines are single cosines, in "
    "the colours of the long ticks. The random-phase estimate, from as many features, is shown at x′ = 0: it depends "
    "on x and x′, not only on their difference, and it is not 1 at δ = 0."
)


def show_line(values, settings: compute.KernelSettings, moved: Moved | None) -> None:
    """Show the spectral density, the kernel on the line, and functions of the prior; a lesson lets nothing move."""
    packed = view.live_prior(settings.name, settings.nu, settings.seed)
    code = None if moved is None else st.query_params.get(MOVED.key, "")
    live.mount("prior", packed | {"moved": code}, values, (WIDTH, FREQUENCIES), MOVED.take)
    layout.caption_below(
        PREFERS,
        "[[Left|First]]: the D [[frequencies]] (ticks; bars above 100) under the density they are drawn from; up to "
        "100 can be dragged, by keyboard too, and a ring is left where one was drawn. A wide kernel draws slow "
        "functions, a narrow one fast functions. [[Middle|Then]]: as D grows, the average of D cosines becomes the "
        "kernel. [[Right|Last]]: the same frequencies make functions. Each is a sum of the D cosines and sines with "
        "random normal weights, so that "
        f"its covariance is the orange line: a draw of a Gaussian process. {LINES}"
        + layout.equation(
            "Bochner's theorem",
            r"k(x - x') = \int p(\omega)\, e^{\,i\,\omega\cdot(x-x')}\, d\omega "
            r"= \mathbb{E}_{\omega\sim p} \cos\big(\omega\cdot(x - x')\big)",
            "A continuous shift-invariant kernel with $k(0)=1$ is the Fourier transform of a probability density $p$; "
            "here $p$ is symmetric, so only cosines are left (Letarte, Morvant and Germain, 2019, Equations 2 and 3). "
            "A wide kernel favours slow cosines, a narrow one fast cosines; a kernel with a kink at 0 needs heavy "
            "tails. The densities here are positive everywhere, so these kernels are universal: sums of them come "
            "close to every continuous function on a bounded set.",
        ),
    )


def show_errors(values, settings: compute.KernelSettings) -> None:
    """Show the error of both feature maps against the number of features."""
    measured, expected = compute.kernel_errors(settings)
    n_features = [2 * D for D in compute.FREQUENCY_COUNTS]
    at = compute.FREQUENCY_COUNTS.index(values.D)
    layout.figure(
        figures.approximation_error(n_features, measured, expected, at),
        f"**Four times as many features halve the error of both maps.** At D = {values.D} it is "
        f"{measured['cos_sin'][at]:.3f} for cos/sin and {measured['random_phase'][at]:.3f} for random phases.",
        f"Markers: root mean square error over all pairs of {compute.APPROXIMATION_POINTS} points in the plane and "
        f"{compute.APPROXIMATION_DRAWS} draws; the large ones are at the current D. Dashed: what the variance formulas "
        "of Sutherland and Schneider (2015) predict. For the Gaussian kernel cos/sin is the better map at every "
        "distance."
        + layout.equation(
            "two feature maps",
            r"\varphi(x) = \tfrac{1}{\sqrt D}\big(\cos\omega_1\!\cdot x, \dots, \cos\omega_D\!\cdot x,\; "
            r"\sin\omega_1\!\cdot x, \dots, \sin\omega_D\!\cdot x\big)"
            r"\qquad\text{or}\qquad"
            r"\varphi(x) = \sqrt{\tfrac{2}{D}}\,\big(\cos(\omega_1\!\cdot x + b_1), \dots, \cos(\omega_D\!\cdot x + "
            r"b_D)\big)",
            "Frequencies $\\omega_j$ come from $p$, phases $b_j$ are uniform on $[0, 2\\pi)$. For both, "
            "$\\varphi(x)\\cdot\\varphi(x')$ has mean $k(x-x')$ (Rahimi and Recht, 2007). The cos/sin map has $2D$ "
            "features and gives exactly the mean of $D$ cosines of the difference; the random-phase map has one "
            "feature per frequency, so it gets $2D$ frequencies here. There "
            r"$2\cos(a+b)\cos(a'+b)=\cos(a-a')+\cos(a+a'+2b)$, and the uniform $b$ averages the second term to 0.",
        ),
        key="errors",
        alt="Approximation error against the number of features for both feature maps, on logarithmic axes",
    )


def show(values, in_lesson: bool) -> None:
    """Show what follows the controls."""
    moved = () if in_lesson else values.moved
    with layout.show_errors():
        settings = compute.kernel_settings(values.kernel, values.width, values.nu, values.seed)
    show_line(values, settings, None if in_lesson else moved)
    deferred.show("errors", lambda: show_errors(values, settings))
    sharing.offer(
        "kernel",
        CONTROLS,
        values,
        lambda: compute.numbers(settings, values.D, moved),
        {"moved": moved},
        {MOVED.key: st.query_params[MOVED.key]} if moved else {},
    )


def main() -> None:
    tour = lessons.Tour("kernel", CONTROLS)
    mount(CONTROLS, tour, parameters=(MOVED,), first=("kernel", "nu"))
    layout.title(
        "A kernel is an average of cosines. Its **[[spectral density]]**, a [[prior]], says how much of each "
        "[[frequency]] is in it. Change the **width**: density and kernel move in opposite directions.",
    )
    tour.show_card()
    show_rest(lambda values: show(values, tour.runs))


if __name__ == "__main__":
    main()
