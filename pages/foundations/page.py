"""Foundations: what a thesis chapter on kernels and their approximations has, a few figures at a time."""

import numpy as np
import streamlit as st

from pages.foundations import compute, figures
from pages.shared import layout, sharing
from pages.shared.controls.toy import KERNEL, NU, SEED
from pages.shared.controls.widgets import Scale, Tabs, hide_controls, mount
from pages.shared.server.cache import cache_results
from rff_engine.studies.toy.kernel import KernelSettings, kernel_settings

# The first run measures the times of regressions, on one thread, so that they do not depend on free cores.
cache_results(compute, "lifted_circles", "variance_curves", "line_fit")
cache_results(compute, in_workers=("regression_errors", "regression_seconds"))

LIFT, MAPS, REGRESSION = PARTS = "Lifting points", "Two feature maps", "Regression"
PART = Tabs("part", "Part", None, PARTS, LIFT)
WHAT_TO_DO = {
    LIFT: "Three cosines **lift** the points of the plane, and a plane separates what no line does.",
    MAPS: "Cosine and sine, or one cosine with a **random phase**: both estimate the kernel, and one has less noise.",
    REGRESSION: "Raise **[[D]]** and see how few features stand in for the kernel, and what that saves.",
}
WIDTH = Scale(
    "width",
    "Width",
    "σ of the Gaussian, the length scale of the Matérn kernel, 1/γ of the others.",
    tuple(float(f"{10 ** (k / 10):.3g}") for k in range(-7, 7)),
    0.501,
)
FREQUENCIES = Scale("D", "Frequencies D", "For Nyström: landmarks.", (2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200), 10)
#: Controls that a part does not use.
WITHOUT_EFFECT = {LIFT: [KERNEL.key, WIDTH.key, NU.key, FREQUENCIES.key], MAPS: [FREQUENCIES.key], REGRESSION: []}
CONTROLS = (PART, "Kernel", KERNEL, WIDTH, NU, "Random features", FREQUENCIES, SEED)


def show_lift(seed: int) -> None:
    """Show nested circles that three cosines lift and a plane separates; losses and risks of the classifiers."""
    lift = compute.lifted_circles(seed)
    left, right = st.columns(2)
    with left:
        layout.figure(
            figures.lifted_points(lift),
            "**No line separates two nested circles; lifted by three cosines, a plane separates nearly all.**",
            "Turn it by hand; it first shows the plane almost from its edge. A linear method on features is nonlinear "
            "in x.",
            key="lift",
            alt="Two nested circles mapped to three dimensions by three cosines, with a plane between the classes",
        )
    with right:
        layout.figure(
            figures.losses_against_margin(lift),
            "**The 0-1 loss counts errors and is hard to minimise; the others are convex and lie above it.**",
            "Losses of a decision value f(x) against the margin, positive where its sign is right. Ticks: the margins "
            "of the circles' points, by the plane and by a line, from the squared hinge loss; those beyond the axis "
            "are at its ends."
            + layout.equation(
                "risk and empirical risk",
                r"\mathfrak R_{\mathrm{emp}}(f) = \frac1n\sum_{i=1}^n L\big(f(x_i), y_i\big), \qquad "
                r"\mathfrak R(f) = \mathbb{E}_{(x,y)}\,L\big(f(x), y\big)",
                "The empirical risk is the mean loss over the sample, the risk its expectation, here estimated on "
                f"{compute.CIRCLE_FRESH} fresh points. For one fixed $f$ the first tends to the second as $n$ grows; "
                f"for an "
                "$f$ chosen on the sample it is usually too small, which is why bounds are needed. The excess risk is "
                r"$\mathfrak R(f)-\inf_g\mathfrak R(g)$. The map: $\varphi(x) = "
                r"\sqrt{2/3}\,\big(\cos(1.76x_1+2.24x_2+2.75),\ \cos(0.40x_1+1.87x_2+5.6),\ "
                r"\cos(0.98x_1-0.98x_2+6.05)\big)$.",
            ),
            key="losses",
            alt="The 0-1, hinge, squared hinge and logistic losses against the margin, with the margins of points",
        )
    rows = ["| loss | a line: empirical risk | a line: risk | the plane: empirical risk | the plane: risk |"]
    rows.append("|---|---|---|---|---|")
    for loss, name in figures.LOSS_NAMES.items():
        risks = [f"{risk:.3f}" for key in ("flat", "lifted") for risk in lift.risks[key][loss]]
        rows.append(f"| {' | '.join([name, *risks])} |")
    st.markdown("\n".join(rows))


def show_maps(settings: KernelSettings) -> None:
    """Show the variances of both feature maps."""
    curves = compute.variance_curves(settings)
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
        f"simulated draws of 2 features. {compared} A larger D divides both variances equally."
        + layout.equation(
            "variance of the two feature maps",
            r"\mathrm{Var}_{\cos/\sin} = \tfrac1E\big(1 + k(2\delta) - 2k(\delta)^2\big), \qquad "
            r"\mathrm{Var}_{\text{phase}} = \tfrac1E\big(1 + \tfrac12 k(2\delta) - k(\delta)^2\big)",
            "$E$ is the number of features: $2D$ for $D$ frequencies with cosine and sine, $D$ with random phases. "
            "(Sutherland and Schneider, 2015, Section 2.1.) Both hold for frequencies drawn independently.",
        ),
        key="variances",
        alt="Variance of the cos/sin and of the random-phase estimate against the distance, formula and simulation",
    )


def show_regression(settings: KernelSettings, D: int) -> None:
    """Show kernel ridge regression as a sum over the training points, beside regressions on features."""
    fit = compute.line_fit(settings, D)
    layout.figure(
        figures.fits_on_a_line(fit),
        "**Lower D until the approximations leave the thick line, kernel ridge regression.**",
        f"Regression of {len(fit.x)} noisy points with your kernel. The thick solid line is kernel ridge regression: "
        "the sum of the thin ones, one bump a training point. The dotted line is made of "
        f"{D} random cosines and sines, the long-dashed one of the kernel at {len(fit.landmarks)} points. "
        "Beyond the points, where nothing is known, only cosines keep waving."
        + layout.equation(
            "representer theorem",
            r"\min_{f\in\mathcal H_k}\ \frac1{2n}\sum_{i=1}^n\big(f(x_i)-y_i\big)^2+\frac\lambda2\lVert "
            r"f\rVert_{\mathcal H_k}^2 \quad\text{is reached at}\quad f=\sum_{i=1}^n\alpha_i\,k(\cdot,x_i),\qquad "
            r"\alpha=(K+n\lambda I)^{-1}y",
            r"The part of $f$ orthogonal to all $k(\cdot, x_i)$ is 0 at the points and only adds to the norm, so the "
            r"best $f$ has none (Kimeldorf and Wahba, 1971). This holds for any loss. $\lVert f\rVert^2 = \alpha^\top "
            r"K\alpha$. On features, the rows of $\Phi$, the same problem is solved by $\theta = (\Phi^\top\Phi + "
            r"n\lambda I)^{-1} \Phi^\top y$, with as many unknowns as features.",
        ),
        key="line",
        alt="Kernel ridge regression of points on a line as a sum of kernels, and its approximations by features",
    )
    left, right = st.columns(2)
    with left:
        layout.figure(
            figures.errors_against_D(compute.D_VALUES, compute.regression_errors(settings), D),
            "**A rough kernel is often enough: the error comes close to kernel ridge regression's early.**",
            f"A noisy wave over the plane, {compute.REGRESSION_ROWS // 2} training points: errors on other points, λ "
            "chosen on still others; bands reach from the best draw to the worst.",
            key="learning",
            alt="Test error against the number of frequencies or landmarks, with that of kernel ridge regression",
        )
    with right:
        layout.figure(
            figures.seconds_and_promises(compute.N_VALUES, compute.regression_seconds(settings, D)),
            "**Kernel ridge regression grows like n³, ridge on features like n.**",
            f"The time to fit with {D} frequencies or landmarks, measured on this server when your settings were first "
            "computed; it is no part of the downloaded numbers. Thin dotted lines are what counting operations "
            "promises, drawn through the last point. At small n fixed costs hide it."
            + layout.equation(
                "what it costs",
                r"\underbrace{O\big(n^2(d+n)\big)}_{\text{kernel ridge}}\qquad "
                r"\underbrace{O\big(nD(d+D)+D^3\big)}_{\text{ridge on } D \text{ random or Nyström features}}",
                "The kernel matrix takes $n^2 d$ operations and its factorisation $n^3/3$; features take $nDd$, their "
                "products $nD^2$, and the system $D^3$. Nyström's features add $nD^2 + D^3$ for the root of the "
                "landmarks' matrix (Williams and Seeger, 2001). Rudi and Rosasco (2017) show that $D$ of the order of "
                "$\\sqrt n\\ln n$ frequencies are enough for the error of kernel ridge regression, $O(1/\\sqrt n)$.",
            ),
            key="growth",
            alt="Time to fit against the number of training points, with lines that grow as n cubed and as n",
        )


def main() -> None:
    values = mount(CONTROLS, first=("kernel", "width", "nu", "D"))
    layout.title(WHAT_TO_DO[values.part])
    with layout.show_errors():
        settings = kernel_settings(values.kernel, values.width, values.nu, values.seed)
        hide_controls(WITHOUT_EFFECT[values.part])
        with PART.show():
            if values.part == LIFT:
                show_lift(values.seed)
            elif values.part == MAPS:
                show_maps(settings)
            else:
                show_regression(settings, values.D)
    sharing.offer("foundations", CONTROLS, values, lambda: compute.numbers(settings, values.D))


if __name__ == "__main__":
    main()
