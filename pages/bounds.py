"""Bounds: what they promise, what they are made of, what a choice costs, and whether they hold."""

import streamlit as st

from pages.components import guide, layout, live, sharing
from pages.components.bound_results import RISK_POINTS, BoundSettings, Promise, live_bounds, promised_curves, worst_case
from pages.components.controls import Number, Options, Scale, Switch, mount
from pages.components.sharing.recipes import bounds as recipe
from pages.components.toy_controls import BETA, DATA, N_POINTS, NOISE, PLAIN, SEED, SIGMA, toy_data
from rff_engine.figures import bounds as figures

NAMES = figures.BOUND_NAMES
# The case of the third view in which the printed Theorem 4 fails most visibly.
TELLING_CASE = {"n": 1000, "mu": 5.0, "eps": 0.05}

CONTROLS = (
    "Learning",
    BETA,
    Scale(
        "N",
        "Candidates N",
        "Drawn from the prior; the pseudo-posterior weighs them.",
        values=(2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000),
        default=200,
        formerly="D",
    ),
    SIGMA,
    "The promise",
    Scale(
        "eps",
        "Allowed failures ε",
        "The bound may be wrong for this share of all samples.",
        (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
        0.05,
    ),
    Number("mu", "Order μ of Theorem 4", "At 2 it is Corollary 5.", 1.1, 10.0, 5.0, 0.1),
    Options(
        "form",
        "Form of the bounds",
        "As printed by Letarte et al. (2019), or with constants that are proved.",
        ("paper", "corrected"),
        "corrected",
        True,
    ),
    Switch("price", "Price of choosing β after looking", "Every β of the grid gets an equal part of ε."),
    Options("bound", "Bound to take apart", None, tuple(NAMES.values()), "Theorem 3"),
    "Data",
    DATA,
    NOISE,
    N_POINTS,
    SEED,
    PLAIN,
)

TERM_WORDS = {"complexity": "the KL term", "deviation": "the t term", "confidence": "the ln term"}


def what_rules(curve) -> str:
    """Which part of a bound is the largest where, in words."""
    rulers = curve.rulers()
    if "rest" in curve.terms:
        return (
            "In this bound n, ε and the divergence do not add up: beyond the empirical loss it has only one part. "
            "Theorems 1 and 3 and Corollary 2 have three."
        )
    if len(rulers) == 1:
        return f"Beyond the loss, {TERM_WORDS[rulers[0][0]]} is the largest part everywhere."
    spans = [f"{TERM_WORDS[rulers[0][0]]} up to β = {rulers[0][2]:.3g}"]
    for name, low, high in rulers[1:-1]:
        where = f"at {low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"
        spans.append(f"{TERM_WORDS[name]} {where}")
    spans += [f"{TERM_WORDS[rulers[-1][0]]} from {rulers[-1][1]:.3g} on"]
    return "Beyond the loss, the largest part is " + ", ".join(spans) + ". The best β balances them."


def verdict(failures, allowed: float) -> str:
    """The failure rate of a bound in a simulation against the one it allows."""
    low, high = failures.interval()
    rate = f"beyond it lie {layout.percent(failures.rate)} of samples, and {100 * allowed:g} % are allowed"
    if failures.failures == 0:
        return f"no sample lies beyond it, and {100 * allowed:g} % may: the promise is kept"
    if low > allowed:
        return f":red[**{rate}: the promise is broken**]"
    return rate + (": the promise is kept here" if high <= allowed else ": too close to call")


tour = guide.Tour("bounds", CONTROLS)
values = mount(CONTROLS, tour)
layout.title(
    "What does a bound promise, and what does it cost?",
    "A **bound** is computed from the sample alone and promises: *with probability 1 − ε over samples, the true "
    "alignment loss is no larger than this.* The promise covers **every Q at once**, so Q may be learned from the "
    "same data. It does **not** cover what else one might like to choose after looking: **β** (where it enters "
    "through t = β√n), **ε**, **μ**, the **frequencies** and their **width σ**. Those must be fixed beforehand, or "
    "paid for.",
)
tour.show()
with layout.problems_explained():
    settings = BoundSettings(toy_data(values), values.sigma, values.N)
    free, paid = (promised_curves(settings, Promise(values.eps, values.mu, values.form, pay)) for pay in (False, True))
    case = worst_case(values.n, values.mu, values.eps, values.seed)
curves = paid if values.price else free
name = next(key for key, shown in NAMES.items() if shown == values.bound)

st.header("How tight are they, and what are they made of?")
paid_for = " The bounds with a t pay for the choice of β here."
unproved = " Theorem 4 as printed is **no valid promise at μ > 2**: see *Does it hold?* below."
in_form = "in the corrected form" if values.form == "corrected" else "as printed by Letarte et al. (2019)"
curve_words = (
    f"The bounds are {in_form}. Diamonds: the smallest value of each. Left, bounds on the loss of one training point "
    f"as a landmark; right, on the loss over all pairs. The dashed line is the truth, measured on {RISK_POINTS} fresh "
    f"points: each valid bound lies above it in all but {100 * values.eps:g} % of samples, at a β fixed beforehand."
    + (paid_for if values.price else "")
    + (unproved if values.form == "paper" and values.mu > 2 else "")
)
which = values.bound if name == "landmark_kl_inverse" else f"{values.bound}, {in_form}"  # the former has one form
part_words = f"The areas add up to {which}. {what_rules(curves.bounds[name])}"
if values.plain:
    layout.figure(
        figures.bounds_along_beta(curves, values.beta),
        f"{curve_words} Dotted: your β.",
        key="curves",
        alt="Bounds on the alignment loss against beta, for one landmark and for the whole kernel, with empirical and "
        "true losses",
    )
    layout.figure(
        figures.bound_taken_apart(curves, name, values.beta),
        part_words,
        key="parts",
        alt=f"The parts of {values.bound}, stacked, against beta",
    )
else:
    promise = Promise(values.eps, values.mu, values.form, values.price)
    live.mount("bounds", live_bounds(settings, promise, name), values, (BETA,))
    st.caption(f"Drag β, here or on a chart. {curve_words} {part_words}")

st.header("What does it cost to choose β?")
layout.figure(
    figures.price_of_choosing(free, paid, values.beta),
    f"The bounds are {in_form}. To read the best β off the curve, the promise must hold at all {len(free.betas)} "
    f"values at once, each with ε / {len(free.betas)}: the diamond. The circle is what one would claim without paying, "
    "and is no promise. Bounds without a t cover all Q at once and with them all β: there the choice is free. The tick "
    "is your β, free too if you fixed it beforehand. An arrow lies beyond the axis: vacuous.",
    key="price figure",
    alt="Each bound at a fixed beta, at the best beta, and at the best beta with the price of choosing it",
)

st.header("Does it hold?")
st.markdown(
    f"A hard test for **Theorem 4**: a single hypothesis that is 1 everywhere, and labels that are +1 with "
    f"probability (1 + √½)/2 ≈ 0.85. Out of {len(case.losses)} samples of n&nbsp;=&nbsp;{values.n} points, at "
    f"μ&nbsp;=&nbsp;{values.mu:g} and ε&nbsp;=&nbsp;{values.eps:g}:\n"
    f"- printed: {verdict(case.printed, values.eps)};\n"
    f"- corrected: {verdict(case.corrected, values.eps)}."
)
st.page_link(
    "pages/bounds.py",
    label="Show the telling case: n = {n}, μ = {mu:g}, ε = {eps:g}".format(**TELLING_CASE),
    icon=":material/target:",
    query_params=st.query_params.to_dict() | {key: f"{value:g}" for key, value in TELLING_CASE.items()},
)
layout.figure(
    figures.promise_kept(case),
    "Each sample's true loss less its empirical loss; to the right of a line, the sample breaks that bound's promise. "
    "Raise μ with n large: the printed bound shrinks too fast, the corrected one keeps a distance that the "
    "spread of the losses cannot cross.",
    key="promise",
    alt="Histogram of true less empirical loss over many samples, with the widths of the printed and the corrected "
    "Theorem 4",
)

layout.equation(
    "Theorem 1 (one landmark)",
    r"L^l(Q) \le \widehat L^l(Q) + \frac1t\Big(\mathrm{KL}(Q\|P) + \frac{t^2}{2(n-1)} + \ln\frac1\varepsilon\Big), "
    r"\qquad t = \beta\sqrt n",
    "As printed by Letarte, Morvant and Germain (2019). It is valid; since losses lie in [0, 1], Hoeffding's lemma "
    "(1963) allows $t^2/(8(n-1))$ instead, which is the corrected form. Holding for $n_L$ landmarks at once costs "
    r"$\ln(n_L/\varepsilon)$.",
)
layout.equation(
    "Corollary 2 (the whole kernel, through its landmarks)",
    r"L(Q) \le \widehat L(Q) + \frac2t\Big(\mathrm{KL}(Q\|P) + \frac{t^2}{2(n-1)} + \ln\frac{n+1}\varepsilon\Big)",
    "The loss over pairs is the mean of n landmark losses; going through them costs a factor 2. Corrected: "
    "$t^2/(8(n-1))$, as above.",
)
layout.equation(
    "Theorem 3 (the whole kernel, as a U-statistic)",
    r"L(Q) \le \widehat L(Q) + \frac1t\Big(\mathrm{KL}(Q\|P) + \frac{t^2}{2n} + \ln\frac1\varepsilon\Big)",
    r"Valid as printed. Corrected: $t^2/(8\lfloor n/2\rfloor)$, since a mean over all pairs is a mean over ways "
    r"of splitting the sample into $\lfloor n/2\rfloor$ independent pairs (Hoeffding, 1963).",
)
layout.equation(
    "Theorem 4 and Corollary 5 (f-divergences)",
    r"L(Q) \le \widehat L(Q) + c\,\big(D_\mu(Q\|P)+1\big)^{1/\mu}\,\varepsilon^{-(1-1/\mu)}, \qquad "
    r"c = \begin{cases} V^{\,1-1/\mu} & 1<\mu\le 2\\ V^{\,1/2} & \mu\ge 2\end{cases}, \qquad V = \frac1{2n}",
    r"This is the corrected form; Corollary 5 is $\mu = 2$: $\sqrt{(\chi^2+1)/(2n\varepsilon)}$. Printed are "
    r"$c=(4n)^{-(\mu-1)/2}$ for $\mu\le2$ and $c=(4n)^{-(1-1/\mu)}$ for $\mu>2$. Two steps of the printed proof need "
    r"mending. Hölder's inequality asks for the moment conjugate to μ, which gives $V^{1/2}$ for $\mu>2$: without "
    "it the bound fails more often than ε, as shown above. And one point sits in $2(n-1)$ of the $n(n-1)$ ordered "
    r"pairs, so the variance of the empirical loss is at most $V=1/(2n)$ (Hoeffding, 1948), not $1/(4n)$. For "
    "Corollary 5 only the proof is affected: no failure of the printed bound has been seen in simulations. "
    "Neither has a t, so β is free to choose; μ is not.",
)
layout.equation(
    "PAC-Bayes-kl (one landmark, no t)",
    r"\mathrm{kl}\big(\widehat L^l(Q)\,\big\|\,L^l(Q)\big) \le \frac{\mathrm{KL}(Q\|P) + "
    r"\ln\frac{2\sqrt{n-1}}\varepsilon}{n-1}",
    "Maurer (2004), solved numerically for the largest $L^l(Q)$. It has one form only, and no t: for each Q it is "
    "about as good as Theorem 1 at the best t, without the price of choosing it.",
)
st.page_link("pages/errata.py", label="Errata: what is printed, what is right, and why", icon=":material/rule:")
st.caption(
    "Strictly, the theorems ask for independent points. The toy samples hold both classes in equal numbers, a small "
    "departure from it."
)

sharing.offer("bounds", CONTROLS, values, lambda: recipe.numbers(free, paid, values.beta, case))
