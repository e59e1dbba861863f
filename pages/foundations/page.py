"""Foundations: what a thesis chapter on kernels and their approximations has, a few figures at a time."""

import numpy as np
import streamlit as st

from pages.foundations import compute, figures, view
from pages.shared import deferred, layout, live, sharing
from pages.shared.controls.toy import KERNEL, NU, SEED
from pages.shared.controls.widgets import Scale, Tabs, hide_controls, mount, show_rest
from pages.shared.server.cache import cache_results
from rff_engine.studies.toy.kernel import KernelSettings, kernel_settings

# The first run measures the times of regressions, on one thread, so that they do not depend on free cores.
cache_results(compute, "lifted_circles", "variance_curves", "line_fit", "line_classifiers")
SLOW = "consistency", "largest_errors", "regression_errors", "regression_seconds", "matrix_eigenvalues", "matrix_errors"
cache_results(compute, in_workers=SLOW)
cache_results(view, "live_lift")

LIFT, MAPS, REGRESSION, SPECTRA = PARTS = "Lifting points", "Two feature maps", "Regression", "Random or Nyström"
PART = Tabs("part", "Part", None, PARTS, LIFT)
WHAT_TO_DO = {
    LIFT: "Three cosines **lift** the points of the plane, and a plane separates what no line does.",
    MAPS: "Cosine and sine, or one cosine with a **random phase** b: 2 cos(ωx + b) cos(ωz + b) = cos ω(x − z) + "
    "cos(ω(x + z) + 2b), and b makes the second term 0 on average.",
    REGRESSION: "Lower **[[D]]** and see how few features stand in for the kernel, and what that saves.",
    SPECTRA: "Compare **clusters** with **uniform** points: with a gap in the spectrum few landmarks suffice.",
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
WITHOUT_EFFECT = {MAPS: [FREQUENCIES.key], REGRESSION: [], SPECTRA: [FREQUENCIES.key]}
WITHOUT_EFFECT[LIFT] = [KERNEL.key, WIDTH.key, NU.key, FREQUENCIES.key]
CONTROLS = (PART, "Kernel", KERNEL, WIDTH, NU, "Random features", FREQUENCIES, SEED)


def show_lift(seed: int) -> None:
    """Show nested circles that three cosines lift and a plane separates; then losses and risks of the classifiers."""
    live.mount("lift", view.live_lift(seed), None)
    layout.caption_below(
        "**Press Play. No line separates two nested circles; lifted by three cosines, a plane separates nearly all.**",
        "A linear method on features is nonlinear in x: [[right|below]], the plane's two sides and its margin, pulled "
        "back to x. The map: "
        r"$\varphi(x) = \sqrt{2/3}\,\big(\cos(1.76x_1+2.24x_2+2.75),\ \cos(0.40x_1+1.87x_2+5.6),\ "
        r"\cos(0.98x_1-0.98x_2+6.05)\big)$.",
    )
    deferred.show("losses", lambda: show_losses(seed))
    deferred.show("consistency", lambda: show_consistency(seed))


def show_losses(seed: int) -> None:
    """Show losses and risks of the line and of the plane."""
    lift = compute.lifted_circles(seed)
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
            f"{compute.CIRCLE_FRESH} fresh points. The excess risk is "
            r"$\mathfrak R(f)-\inf_g\mathfrak R(g)$.",
        ),
        key="losses",
        alt="The 0-1, hinge, squared hinge and logistic losses against the margin, with the margins of points",
    )
    rows = ["| loss | a line: sample | a line: risk | the plane: sample | the plane: risk |"]
    rows.append("|---|---|---|---|---|")
    for loss, name in figures.LOSS_NAMES.items():
        risks = [f"{risk:.3f}" for key in ("flat", "lifted") for risk in lift.risks[key][loss]]
        rows.append(f"| {' | '.join([name, *risks])} |")
    st.markdown("\n".join(rows))


def show_consistency(seed: int) -> None:
    """Show how risk and empirical risk of planes meet."""
    layout.figure(
        figures.risks_against_n(compute.SAMPLE_SIZES, compute.consistency(seed)),
        "**With more points the risk of the fitted plane falls to the least one, and its empirical risk rises to it.**",
        f"Planes fitted to n points of noisier circles, {compute.SAMPLES} samples a size, all of which the bands hold."
        + layout.equation(
            "consistency",
            r"\mathfrak R(f_n) \le \inf_{f\in\mathcal F}\mathfrak R(f) + C(\delta,n), \qquad C(\delta,n)\to0",
            r"This holds with probability $1-\delta$. For one fixed $f$ the empirical risk tends to the risk; for an "
            r"$f_n$ chosen on the sample it is usually too small, so a bound for all of $\mathcal F$ is needed.",
        ),
        key="consistency",
        alt="Risk and empirical risk of fitted planes against the number of points, with the least risk of a plane",
    )


def show_maps(settings: KernelSettings) -> None:
    """Show the variances of both feature maps, and the largest error of one."""
    left, right = st.columns(2)
    with left:
        show_variances(settings)
    with right:
        show_largest_errors(settings)


def show_variances(settings: KernelSettings) -> None:
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


def show_largest_errors(settings: KernelSettings) -> None:
    largest = compute.largest_errors(settings)
    bounded = np.isfinite(largest["bound"]).all()
    layout.figure(
        figures.largest_errors(compute.UNIFORM_D, largest),
        "**Even the largest error falls like 1/√D.** A kernel with a spectral density above 0 on all of ℝᵈ, as each "
        "one here, is universal and characteristic.",
        f"Errors of means of D cosines, the largest over distances up to {compute.DELTA_RANGE:g}; the band reaches "
        f"from the best of {compute.UNIFORM_DRAWS} draws to the worst. Grey: the rates of Rahimi and Recht (2007), "
        "√(ln D/D), and of Sriperumbudur and Szabó (2015), 1/√D, through the last mean."
        + ("" if bounded else " There is no bound: the frequencies of this kernel have no second moment.")
        + layout.equation(
            "bound on the largest error",
            r"\Pr\Big(\sup_{x,z}\lvert\tilde k(x,z)-k(x,z)\rvert\ge\epsilon\Big)\le\beta_d\Big(\frac{\sigma_p\ell}"
            r"\epsilon\Big)^{2d/(d+2)}\exp\Big(-\frac{D\epsilon^2}{4(d+2)}\Big)",
            r"$\ell$ is the diameter of the points, $\sigma_p^2=\mathbb E\lVert\omega\rVert^2$, $\beta_1\approx12$ "
            "(Sutherland and Schneider, 2015, Proposition 1). Drawn is the error that is not exceeded with probability "
            f"{1 - compute.UNIFORM_DELTA:.0%}.",
        ),
        key="largest",
        alt="Largest error of random features against the number of frequencies, with two rates and a bound",
    )


def show_regression(settings: KernelSettings, D: int) -> None:
    """Show kernel regressions as sums over the training points, then regressions on features."""
    left, right = st.columns(2)
    with left:
        show_line(settings, D)
    with right:
        show_classifiers(settings)
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


def show_line(settings: KernelSettings, D: int) -> None:
    fit = compute.line_fit(settings, D)
    layout.figure(
        figures.fits_on_a_line(fit),
        "**How low may D be until the approximations leave the thick line, kernel ridge regression?**",
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


def show_classifiers(settings: KernelSettings) -> None:
    fit = compute.line_classifiers(settings)
    layout.figure(
        figures.classifiers_on_a_line(fit),
        f"**The hinge loss gives {np.count_nonzero(fit.alpha['hinge'])} of {len(fit.x)} points a weight, its support "
        "vectors; the logistic loss gives one to all.**",
        "A kernel SVM and kernel logistic regression learn where the values of these points are above 0."
        + layout.equation(
            "weights of two losses",
            r"f=\sum_{i=1}^n\alpha_i\,k(\cdot,x_i)+b,\qquad \alpha_i=-\frac{1}{n\lambda}\,"
            r"\frac{\partial L}{\partial f}\big(f(x_i),y_i\big)",
            "The slope of the hinge loss is 0 beyond the margin; that of the logistic loss is 0 nowhere.",
        ),
        key="classifiers",
        alt="Decision functions of the hinge and the logistic loss on a line, above the weights of the points",
    )


def show_spectra(settings: KernelSettings) -> None:
    """Show kernel matrices with and without an eigengap, and their approximations."""
    values = compute.matrix_eigenvalues(settings)
    clusters = compute.CLUSTERS_ALONG**2
    last, after = values["clusters"][clusters - 1 : clusters + 1]
    left, right = st.columns(2)
    with left:
        layout.figure(
            figures.eigenvalues(values, 4 * clusters),
            f"**{clusters} clusters: eigenvalue {clusters + 1} is {last / after:.3g} times smaller than {clusters}.**",
            f"Kernel matrices of {compute.MATRIX_POINTS} points, in tight clusters and uniform on a square as large.",
            key="eigenvalues",
            alt="Largest eigenvalues of two kernel matrices, with a gap for clusters and without for uniform points",
        )
    with right:
        layout.figure(
            figures.matrix_errors(compute.D_VALUES, compute.matrix_errors(settings)),
            "**With a gap, Nyström's error drops once each cluster has a landmark; that of random features does not.**",
            "Errors relative to the kernel matrix, in the Frobenius norm; bands reach from the best draw to the worst. "
            "Yang et al. (2012) show that a large gap improves Nyström's rate from $O(1/\\sqrt D)$ to $O(1/D)$; random "
            "frequencies do not depend on the points.",
            key="matrices",
            alt="Relative errors of kernel matrices of clusters and of uniform points, random features and Nyström",
        )


def show(values) -> None:
    """Show what follows the controls."""
    with layout.show_errors():
        settings = kernel_settings(values.kernel, values.width, values.nu, values.seed)
        if values.part == LIFT:
            show_lift(values.seed)
        elif values.part == MAPS:
            show_maps(settings)
        elif values.part == REGRESSION:
            show_regression(settings, values.D)
        else:
            show_spectra(settings)
    sharing.offer("foundations", CONTROLS, values, lambda: compute.numbers(settings, values.D))


def main() -> None:
    values = mount(CONTROLS, first=("kernel", "width", "nu", "D"))
    layout.title(WHAT_TO_DO[values.part])
    hide_controls(WITHOUT_EFFECT[values.part])
    with PART.show():
        show_rest(show)


if __name__ == "__main__":
    main()
