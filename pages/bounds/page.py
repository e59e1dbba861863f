"""Bounds: what they guarantee, their terms, the price of choosing beta, and whether they hold."""

import numpy as np
import streamlit as st

from pages.bounds import compute, view
from pages.bounds.compute import LANDMARK_COUNTS, RISK_POINTS, BoundSettings, Guarantee
from pages.bounds.view import MOST_SAMPLES
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls.toy import BETA, DATA, EPSILON, N_POINTS, NOISE, SEED, SIGMA, toy_data
from pages.shared.controls.widgets import Control, Number, Options, Scale, Switch, Tabs, hide_controls, mount, show_rest
from pages.shared.server.cache import cache_results
from rff_engine.bounds import ALIGNMENT_BOUNDS, KL_BOUNDS
from rff_engine.plots import bounds as figures
from rff_engine.studies.toy.coverage import promise_failures

cache_results(compute, "candidate_risks", "all_bounds", "landmark_union", "promises")
cache_results(view, "live_bounds", "chosen_bound", "live_promises")

NAMES = figures.BOUND_NAMES
# Settings of the simulation for which the printed Theorem 4 fails most visibly.
FAILING_CASE = {"n": 1000, "mu": 5.0, "eps": 0.05}

TIGHTNESS, PRICE, VALIDITY = QUESTIONS = "How tight?", "At what price?", "Does it hold?"
QUESTION = Tabs("question", "Question", None, QUESTIONS, TIGHTNESS)
WHAT_TO_DO = {
    TIGHTNESS: "Drag **[[β]]** and see which term grows.",
    PRICE: "See what it costs to choose **[[β]]** after looking.",
    VALIDITY: "Draw samples, and count how often the bound is too small.",
}

MU = Number("mu", "Order μ of Theorem 4", "At 2 it is Corollary 5.", 1.1, 10.0, 5.0, 0.1)
SAMPLES = Number("samples", "Samples", "Each from a distribution of its own.", 1, MOST_SAMPLES, 1000, 1)

CONTROLS = (
    QUESTION,
    "Learning",
    BETA,
    Scale(
        "N",
        "Candidates N",
        "Frequencies drawn from the prior; the pseudo-posterior weighs them.",
        values=(2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000),
        default=200,
    ),
    SIGMA,
    "Guarantee",
    Options("bound", "Bound in colour, with its terms", None, tuple(NAMES.values()), "Theorem 3"),
    EPSILON,
    MU,
    Options(
        "form",
        "Form of the bounds",
        "As printed by Letarte et al. (2019), or with proved constants.",
        ("paper", "corrected"),
        "corrected",
        True,
    ),
    Switch("price", "Price of choosing β", "After looking: every β of the grid gets an equal share of ε."),
    Scale(
        "union",
        "Landmarks at once",
        "Theorem 1 and PAC-Bayes-kl hold for all of n_L landmarks at once: ln(n_L/ε) in place of ln(1/ε).",
        LANDMARK_COUNTS,
        1,
    ),
    "Data",
    DATA,
    NOISE,
    N_POINTS,
    SAMPLES,
    SEED,
)

EXPLANATION = (
    "A bound is computed from the sample alone and guarantees: *with probability 1 − [[ε]] over samples, the [[true "
    "risk]] is no larger than this.* It holds for **every [[Q]] at once**, so Q may be learned from the same data. It "
    "does **not** hold if other things are chosen after seeing the data: **[[β]]** (where it enters through t = β√n), "
    "**ε**, **μ**, the **[[frequencies]]** and their **width σ**. They must be fixed beforehand, or their choice must "
    "be paid for."
)

MAP_DETAILS = (
    "The map takes the candidates' losses on this sample for those on n points: dark is a large bound, the line its "
    "smallest value for each n. That line is chosen by looking: where β enters through t, it is guaranteed only with "
    "the price paid."
)

#: Name, formula and explanation.
THEOREM_4 = (
    "Theorem 4 and Corollary 5 (f-divergences)",
    r"L(Q) \le \widehat L(Q) + c\,\big(D_\mu(Q\|P)+1\big)^{1/\mu}\,\varepsilon^{-(1-1/\mu)}, \qquad "
    r"c = \begin{cases} (\mathbb{E}\,|\Delta|^{q})^{1/q},\ q=\frac{\mu}{\mu-1} & 1<\mu\le 2\\ "
    r"V^{\,1/2} & \mu\ge 2\end{cases}, \qquad V = \frac1{2n}",
    r"This is the corrected form; Corollary 5 is $\mu = 2$: $\sqrt{(\chi^2+1)/(2n\varepsilon)}$. The moment of the "
    r"deviation $\Delta$ is at most $V$, and at most what sub-Gaussian tails allow. Printed are "
    r"$c=(4n)^{-(\mu-1)/2}$ for $\mu\le2$ and $c=(4n)^{-(1-1/\mu)}$ for $\mu>2$. Two steps of the printed proof "
    r"need correction. Hölder's inequality needs the moment conjugate to μ, which gives $V^{1/2}$ for $\mu>2$: "
    "without it the bound fails more often than ε, see *Does it hold?* And one point is in $2(n-1)$ of the "
    "$n(n-1)$ ordered pairs, so the variance of the empirical loss is at most $V=1/(2n)$ (Hoeffding, 1948), not "
    "$1/(4n)$. "
    r"For $\mu\le2$ only the proof is affected: for ε up to 0.05 another one gives the printed bound, see the "
    "errata. Neither has a t, so β may be chosen freely; μ may not.",
)
EQUATIONS = (
    (
        "Theorem 1 (one landmark)",
        r"L^l(Q) \le \widehat L^l(Q) + \frac1t\Big(\mathrm{KL}(Q\|P) + \frac{t^2}{2(n-1)} + \ln\frac1\varepsilon\Big), "
        r"\qquad t = \beta\sqrt n",
        "As printed by Letarte, Morvant and Germain (2019). It is valid; since losses lie in [0, 1], Hoeffding's lemma "
        "(1963) allows $t^2/(8(n-1))$ instead, which is the corrected form. *At what price?* has the union over "
        "landmarks.",
    ),
    (
        "Corollary 2 (the whole kernel, through its landmarks)",
        r"L(Q) \le \widehat L(Q) + \frac2t\Big(\mathrm{KL}(Q\|P) + \frac{t^2}{2(n-1)} + \ln\frac{n+1}\varepsilon\Big)",
        "The loss over pairs is the mean of n landmark losses; bounding these costs a factor 2. Corrected: "
        "$t^2/(8(n-1))$, as above.",
    ),
    (
        "Theorem 3 (the whole kernel, as a U-statistic)",
        r"L(Q) \le \widehat L(Q) + \frac1t\Big(\mathrm{KL}(Q\|P) + \frac{t^2}{2n} + \ln\frac1\varepsilon\Big)",
        r"Valid as printed. Corrected: $t^2/(8\lfloor n/2\rfloor)$, since a mean over all pairs is a mean over ways "
        r"of splitting the sample into $\lfloor n/2\rfloor$ independent pairs (Hoeffding, 1963).",
    ),
    THEOREM_4,
    (
        "PAC-Bayes-kl (one landmark, or all pairs; no t)",
        r"\mathrm{kl}\big(\widehat L^l(Q)\,\|\,L^l(Q)\big) \le \frac{\mathrm{KL}(Q\|P) + "
        r"\ln\frac{2\sqrt{n-1}}\varepsilon}{n-1}, \qquad \mathrm{kl}\big(\widehat L(Q)\,\|\,L(Q)\big) \le "
        r"\frac{\mathrm{KL}(Q\|P) + \ln\frac{2\sqrt m}\varepsilon}m, \quad m=\lfloor n/2\rfloor",
        "Maurer (2004), solved numerically for the largest $L^l(Q)$; the second is not in the paper: a mean over all "
        "pairs is a mean over ways of splitting the sample into m independent pairs, and kl is convex. Both have one "
        "form only, and no t: for each Q they are about as good as Theorems 1 and 3 at the best t, without the price "
        "of choosing it.",
    ),
    (
        "Bernstein, two classes (the whole kernel; no t)",
        r"r(n-1)\big(L(Q)-\widehat L(Q)\big) \le \mathrm{KL}(Q\|P) + \ln\frac K\varepsilon - \ln(1-r) - r\,L(Q) + "
        r"\frac{n r^2}{1-r}\,L(Q)\,\big(1-2L(Q)\big)",
        "Not in the paper: the smallest such bound over K numbers $r$. With two classes the loss of a frequency is at "
        "most 1/2, and its fluctuation is small where the loss is near 0 or near 1/2; the other bounds assume the "
        "worst. The proof is in docs/theory.md of the repository.",
    ),
)

TERM_NAMES = {"complexity": "the KL term", "deviation": "the t term", "confidence": "the ln term"}


def largest_terms(curve) -> str:
    """Name the largest term of a bound along β."""
    rulers = curve.largest_parts()
    if "rest" in curve.terms:
        return (
            "In this bound n, ε and the divergence are not separate terms: besides the empirical loss it has one term. "
            "Theorems 1 and 3 and Corollary 2 have three."
        )
    if len(rulers) == 1:
        return f"Besides the loss, {TERM_NAMES[rulers[0][0]]} is the largest term everywhere."
    spans = [f"{TERM_NAMES[rulers[0][0]]} up to β = {rulers[0][2]:.3g}"]
    for name, low, high in rulers[1:-1]:
        where = f"at {low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"
        spans.append(f"{TERM_NAMES[name]} {where}")
    spans += [f"{TERM_NAMES[rulers[-1][0]]} from {rulers[-1][1]:.3g} on"]
    return "Besides the loss, the largest term is " + ", ".join(spans) + ". The best β balances the terms."


def form_in_words(form: str) -> str:
    """Put the form of the bounds into words."""
    return "in the corrected form" if form == "corrected" else "as printed by Letarte et al. (2019)"


def choose_bound(position: object) -> None:
    """Take the bound that was clicked in the live view; ignore anything but a position of a bound."""
    if isinstance(position, int) and position in range(len(NAMES)):
        st.session_state["bound"] = tuple(NAMES.values())[position]


def show_curves(values, settings: BoundSettings, curves) -> None:
    """Show the chosen bound as a sum of terms, and all bounds along β."""
    name = next(name for name, shown in NAMES.items() if shown == values.bound)
    held = curves.bounds["landmark_kl"].n_landmarks
    best = curves.bounds[name].best_value
    vacuous = ": vacuous, since no loss exceeds 1" if best >= 1 else ""
    seen = (
        f"**The lowest point of {values.bound}, in colour, is {best:.3f}{vacuous}.** The dashed line is the "
        "[[true risk]] that it bounds."
    )
    at_once = f", which hold for {held} landmarks at once" if held > 1 else ""
    details = (
        f"The bounds are {form_in_words(values.form)}. Diamonds: the smallest value of each. [[Left|Above]], bounds on "
        f"the [[alignment loss]] of one training point as a [[landmark]]{at_once}; [[right|below]], on the loss over "
        f"all pairs. The true risk is estimated on {RISK_POINTS} fresh points: each valid bound lies above it in all "
        f"but {100 * values.eps:g} % of samples, at a β fixed beforehand."
    )
    if values.price:
        details += " Here the bounds with a t pay for the choice of β."
    if values.form == "paper" and values.mu > 2:
        details += f" Theorem 4 as printed is **not valid for μ > 2**: see *{VALIDITY}*"
    which = f"{values.bound}, {form_in_words(values.form)}" if ALIGNMENT_BOUNDS[name].forms else values.bound
    part = f"The areas add up to {which}. {largest_terms(curves.bounds[name])}"
    guarantee = Guarantee(values.eps, values.mu, values.form, values.price, held)
    # The static edition has curves for some n only.
    beside = (N_POINTS,) if live.has_server else ()
    packed = view.live_bounds(settings, guarantee)
    in_colour = view.chosen_bound(settings, guarantee, name)
    live.mount("bounds", packed, values, (BETA,), choose_bound, chosen=in_colour, beside=beside)
    layout.caption_below(
        seen, f"{EXPLANATION}\n\n{details} {part} {MAP_DETAILS}" + "".join(layout.equation(*one) for one in EQUATIONS)
    )
    show_errata()


def show_price(values, free, paid) -> None:
    """Show the price of choosing β after seeing the bounds."""
    st.header("What does it cost to choose β?")
    dearest = max((paid.bounds[name].best_value - free.bounds[name].best_value for name in KL_BOUNDS), default=0.0)
    layout.figure(
        figures.price_of_choosing(free, paid, values.beta),
        f"**To choose the best of {len(free.betas)} values of β costs at most {dearest:.3f}.**",
        f"The bounds are {form_in_words(values.form)}. To choose the best β from the curve, the bound must hold at all "
        f"{len(free.betas)} values at once, each with [[ε]] / {len(free.betas)}: the diamond. The circle is the value "
        "without this price, which is not guaranteed. Bounds without a t hold for all Q at once and so for all β: "
        "there the choice is free. The tick is your β, also free if you fixed it beforehand. An arrow marks a value "
        "beyond the axis: a vacuous bound.",
        key="price figure",
        alt="Each bound at a fixed beta, at the best beta, and at the best beta with the price of choosing it",
    )


def show_union(values, union) -> None:
    """Show bounds for many landmarks at once, with and without their price."""
    st.header("What does it cost to bound many landmarks?")
    chosen = min(values.union, values.n)
    at = list(union.counts).index(chosen)
    alone, together = union.failures_alone[at], union.failures_together[at]
    left, right = st.columns(2)
    with left:
        layout.figure(
            figures.bounds_for_many_landmarks(union, chosen),
            "**The price grows slowly, even up to all n points.**",
            "Bounds on the loss of one landmark at your β. To hold for n_L landmarks at once, each gets ε / n_L: "
            "ln(n_L/ε) in place of ln(1/ε).",
            key="union price",
            alt="Bounds that hold for several landmarks at once against their number, and the true risk of one",
        )
    with right:
        layout.figure(
            figures.failures_for_many_landmarks(union, chosen, values.eps),
            f"**For {chosen} landmark{'s' if chosen > 1 else ''} at once the bound for one fails somewhere with "
            f"probability {alone:.2g}; with the price paid, {together:.2g}.**",
            "A hard case, computed exactly: each landmark has one hypothesis of its own, right for a pair or wrong "
            "like a coin, and t is the best."
            + "\n\nLandmarks that are chosen by looking at the sample, such as some of each class, are covered by "
            "the bound for all n points. Centroids of k-means are not points of the sample, so no such bound covers "
            "them, unless they are made of other points."
            + layout.equation(
                "landmarks, union of n_L",
                r"L^l(Q^l) \le \widehat L^l(Q^l) + \frac1t\Big(\mathrm{KL}(Q^l\|P) + \frac{t^2}{2(n-1)} + "
                r"\ln\frac{n_L}\varepsilon\Big) \quad\text{for all } l = 1, \dots, n_L",
                "Letarte, Morvant and Germain (2019), Section 4.2, as printed; corrected, $8(n-1)$ takes the place of "
                "$2(n-1)$. If each of $n_L$ bounds fails with probability $\\varepsilon/n_L$, one of them fails with "
                "at most $\\varepsilon$. A width σ chosen among $g$ on the same sample costs a factor $g$ more inside "
                "the logarithm.",
            ),
            key="union figure",
            alt="Probability that a bound fails for one of several landmarks against their number, with and without "
            "the price",
        )


def show_promises(values) -> None:
    """Show Theorem 4, printed and corrected, on samples."""
    case = compute.promises(values.n, values.mu, values.eps, values.seed, values.samples)
    seen = "**A dot above the diagonal is a sample whose bound is too small. Raise n at μ = 5: [[right|below]], "
    seen += "the printed bound fails more and more often, the corrected one never.**"
    details = (
        "A hard case for **Theorem 4**: a single hypothesis that is 1 everywhere, so that Q is the prior, and samples "
        "of two classes. A sample's loss is the share of its pairs that differ in label, the true loss their "
        "probability; each sample has a true loss of its own, drawn between 0 and ½. Dots beyond 1 lie at the edge. "
        "[[Right|Below]], lines are exact probabilities around each true loss, bars the share of samples drawn; the "
        "dotted line is ε." + layout.equation(*THEOREM_4)
    )
    sliders = (SAMPLES, N_POINTS, EPSILON, MU)
    if not live.has_server:
        losses = (np.arange(400) + 0.5) / 800
        widths = {form: getattr(case, f"{form}_width") for form in figures.FORM_COLOURS}
        rates = {form: promise_failures(losses, values.n, width) for form, width in widths.items()}
        # Means of 8: a single rate jumps with the sizes that a class can have.
        means = {form: rate.reshape(-1, 8).mean(axis=1) for form, rate in rates.items()}
        layout.figure(
            figures.kept_and_broken_promises(case, losses.reshape(-1, 8).mean(axis=1), means),
            seen,
            details,
            key="promise",
            alt="True loss against the printed and the corrected Theorem 4 on many samples, and how often each fails",
        )
    else:
        live.mount("promises", view.live_promises(values.seed, EPSILON.values), values, sliders)
        layout.caption_below(seen, details)
    if live.has_server:  # the static edition shows all parts at once
        acting = (QUESTION, SEED)
        hide_controls([one.key for one in CONTROLS if isinstance(one, Control) and one not in acting])
    st.page_link(
        "pages/bounds/page.py",
        label="Show a case that fails: n = {n}, μ = {mu:g}, ε = {eps:g}".format(**FAILING_CASE),
        icon=":material/target:",
        query_params=st.query_params.to_dict() | {key: f"{value:g}" for key, value in FAILING_CASE.items()},
    )
    show_errata()


def show_errata() -> None:
    """Link the printed formulas and their corrections, and list the assumptions of the theorems."""
    layout.link_errata()
    st.caption(
        "Strictly, the theorems need independent points. The toy samples have equally many points of both classes, a "
        "slight dependence."
    )


def show_answer(values, settings: BoundSettings) -> None:
    """Show the part of the page that answers the chosen question."""

    def curves(pay: bool):
        held = min(values.union, values.n)
        return compute.all_bounds(settings, Guarantee(values.eps, values.mu, values.form, pay, held))

    if values.question != VALIDITY and live.has_server:
        hide_controls([SAMPLES.key])
    if values.question == TIGHTNESS:
        show_curves(values, settings, curves(values.price))
    elif values.question == PRICE:
        show_price(values, curves(False), curves(True))
        deferred.show(
            "union",
            lambda: show_union(values, compute.landmark_union(settings, values.beta, values.eps, values.form)),
        )
    else:
        show_promises(values)


def numbers(values, settings: BoundSettings):
    """Return the numbers of all three parts of the page."""
    held = min(values.union, values.n)
    case = compute.promises(values.n, values.mu, values.eps, values.seed, values.samples)
    return compute.numbers(settings, values.beta, values.eps, values.mu, values.form, held, case)


def show(values) -> None:
    """Show what follows the controls."""
    with layout.show_errors():
        settings = BoundSettings(toy_data(values), values.sigma, values.N)
        show_answer(values, settings)
    sharing.offer("bounds", CONTROLS, values, lambda: numbers(values, settings))


def main() -> None:
    tour = lessons.Tour("bounds", CONTROLS)
    values = mount(CONTROLS, tour, first=("data", "n"))
    layout.title(
        f"A **[[bound]]** on new data: the [[empirical loss]] plus what learning costs. {WHAT_TO_DO[values.question]}",
    )
    tour.show_card()
    with QUESTION.show():
        show_rest(show)


if __name__ == "__main__":
    main()
