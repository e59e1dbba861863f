"""Certificates: a classifier that bounds its own risk, and what each look at the data costs."""

from dataclasses import replace

import streamlit as st

from pages.bounds.certificates import compute, view
from pages.bounds.certificates.compute import COUNTS, CertificateSettings
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls import scales
from pages.shared.controls.toy import BETA, DATA, EPSILON, N_POINTS, NOISE, SEED, SIGMA, toy_data
from pages.shared.controls.widgets import Number, Options, Scale, Tabs, hide_controls, mount, show_rest
from pages.shared.figures import certificates as figures
from pages.shared.server.cache import cache_results
from rff_engine._hollow import copies_in_words
from rff_engine.plots.style import METHOD_NAMES
from rff_engine.studies.toy.certificates import Certificate, CertifiedBlocks

heavy = "certified_vote", "certified_blocks"
cache_results(compute, "peeking", in_workers=heavy)
cache_results(view, "live_certificate", "live_blocks")

#: Methods by their labels.
METHODS = {METHOD_NAMES[method]: method for method in compute.METHODS}

LEARNING, TEACHING = QUESTIONS = "What does it cost?", "May test points teach?"
QUESTION = Tabs("question", "Question", None, QUESTIONS, LEARNING)
INTRODUCTIONS = {
    LEARNING: "A classifier states a **[[bound]]** on its own error. Lengthen its step, and see **what each look at "
    "the points costs**.",
    TEACHING: "Points of a test set only count errors. Here they come in blocks that **test first, then teach**, and "
    "there still is a **[[bound]]** on the error. Press Play, and compare with the same points as a test set.",
}

FREQUENCIES = Scale("D", "Frequencies D", "Number of cosines and sines that the voters weigh.", COUNTS, 20)
STRETCH = Number(
    "stretch",
    "Step away from the prior's weights s",
    "0 leaves the weights that the prior's points chose, 1 goes to those with the smallest bound, 3 far beyond them.",
    *scales.STRETCH,
)
BLOCKS = Scale(
    "blocks",
    "Blocks of points that test and then teach",
    "The second half of the points is divided into so many; the first half teaches beforehand.",
    (1, 2, 3, 5, 10, 20),
    5,
)
ARRIVED = Number("arrived", "Share of the blocks that have come", None, *scales.ARRIVED)

#: Key of the session's state: the settings for which the live view has asked for votes at every D.
REACHED = "certified at every D"

CONTROLS = (
    QUESTION,
    "Features",
    Options("method", "Frequencies", None, tuple(METHODS), METHOD_NAMES["pbrff"]),
    replace(BETA, default=1.0, only_if=("method", (METHOD_NAMES["pbrff"],))),
    FREQUENCIES,
    replace(SIGMA, default=0.251),
    "Certificate",
    STRETCH,
    Scale(
        "prior",
        "Set aside to learn from first",
        "On these points all may be tried at no price; the bound is computed on the others. At 0 all points serve "
        "both ends, and every choice is paid for.",
        (0.0, 0.1, 0.25, 0.5, 0.75, 0.9),
        0.5,
    ),
    Scale(
        "tries",
        "Draws of frequencies that are compared",
        "The best one is kept. Without points set aside, the bound pays for having looked at all of them.",
        (1, 2, 5, 10),
        1,
    ),
    replace(EPSILON, help="The certificate may fail for this fraction of all samples."),
    BLOCKS,
    ARRIVED,
    "Data",
    replace(DATA, default="checkerboard"),
    NOISE,
    replace(N_POINTS, label="Points n, prior and bound together", low=50, high=4000, default=2000, step=50),
    Scale(
        "copies",
        "Copies of each point",
        "So often each point stands among the n, as in a table that repeats rows. Those of the prior and of the bound "
        "then share points, and are not independent.",
        (1, 2, 5),
        1,
    ),
    SEED,
)

EXPLANATION = (
    "The classifier is a **vote**: random weights on D cosines and sines, drawn around learned ones, each say +1 or "
    "−1, and the majority decides. Its **certificate** is a [[bound]] on how often this very vote errs on new points, "
    "computed from the sample alone; it fails for at most the fraction **[[ε]]** of all samples. The assumption: the "
    "points are independent draws from one distribution.\n\n"
    "Points set aside choose frequencies, weights and margin at no price, but do not count in the bound. What is "
    "chosen while looking at the points that count costs nats, and nats cost risk: another D, a step of the weights; "
    "if nothing is set aside, all."
)


_OF_ALL = (
    "$\\widehat R_\\theta$ is the mean over the $n$ points that count of $\\Phi(\\theta - y\\,v\\cdot z(x))$, the "
    r"share of voters whose margin is below $\theta$; $v_0$ and $v$ are the mean weights of the prior and of the vote. "
)
_OF_MARGINS = (
    r"The majority errs only where a share $\Phi(\theta)$ of the voters has no margin (Langford and Shawe-Taylor, "
    "2003; "
)
#: Without points set aside, and with them: the bound and its letters.
EQUATIONS = (
    (
        r"\mathrm{kl}\big(\widehat R_\theta\,\|\,R_\theta\big)\le\frac1n\Big(\sum_j\ln(N Q_{i_j})+\frac{\lVert v-v_0"
        r"\rVert^2}2+\ln\frac{2\sqrt n\,g}\varepsilon\Big),\qquad R_{\text{vote}}\le R_\theta/\Phi(\theta)",
        _OF_ALL + r"$Q$ are the weights of the $N$ candidates of which $D$ are drawn, if learned on these points, and "
        r"$g$ is the number of draws and thresholds that were compared on them. "
        f"{_OF_MARGINS}Maurer, 2004). The proof is in docs/theory.md of the repository.",
    ),
    (
        r"R_\theta\le\frac{1-\exp\big(-\lambda\widehat R_\theta-\frac1n\big(\frac{\lVert v-v_0\rVert^2}2+\ln\frac{g}"
        r"{0.1\,\varepsilon}\big)\big)}{1-e^{-\lambda}},\qquad R_{\text{vote}}\le R_\theta/\Phi(\theta)",
        _OF_ALL + r"The points set aside fix $\theta$ and $\lambda$; $g$ is the number of $D$ that were looked at. "
        f"{_OF_MARGINS}Catoni, 2007). The proof is in docs/theory.md of the repository.",
    ),
)


def show_live(settings: CertificateSettings, certificate: Certificate, values, in_lesson: bool) -> None:
    """Show the vote and its certificate at every step, and at every D once the reader reaches for the slider of D."""
    method = METHODS[values.method]
    reached = not live.has_server or st.session_state.get(REACHED) == (settings, method)

    def reach() -> None:
        st.session_state[REACHED] = settings, method

    renew = None if in_lesson else new_points
    packed = view.live_certificate(settings, method, COUNTS if reached else (values.D,))
    live.mount("certificate", packed, values, (FREQUENCIES, STRETCH), renew, reach)
    layout.caption_below(
        what_is_promised(certificate),
        "The test error is measured on 2000 fresh points, which a learner would not have. [[Left|Below]], the deeper "
        "the colour, the more of the voters agree; pale where they are divided. "
        + what_ledger_shows(certificate, values)
        + " Both bounds hold at once, and the classifier takes the smaller. All other settings count as fixed "
        "beforehand, and D until you move it. Every step is certified at once, D is not: one that is chosen after "
        "looking costs the logarithm of the number of values that it could have had. On new points you may fix another "
        "D beforehand, and pay nothing."
        + f"\n\n{EXPLANATION}"
        + layout.equation("the certificate", *EQUATIONS[settings.prior_fraction > 0]),
    )


def what_is_promised(certificate: Certificate) -> str:
    """Say what the two bounds come to, or the one if no points are set aside."""
    if certificate.test_set_bound is None:
        return (
            "**A longer step makes more voters agree; its price grows with the square of the step.** Nothing is held "
            "out: move D, and the certificate pays for your look."
        )
    return (
        f"**The other {certificate.n_bound} points bound the error twice: by counting errors alone, the dashed line, "
        "and with what they teach, the bars.**"
    )


def new_points(_: int) -> None:
    """Take the next seed."""
    SEED.put((int(SEED.current()) + 1) % (int(SEED.high) + 1))


def what_ledger_shows(certificate: Certificate, values) -> str:
    """Explain the ledger."""
    text = (
        "Each bar begins where the one before ends: first the share of voters that err, or are right without a margin, "
        f"on the {certificate.n_bound} points of the bound; then what each choice adds. "
        f"{majority_in_words(certificate.majority_error)}"
        f"The certificate fails for at most the fraction ε = {values.eps:g} of samples. "
    )
    counting = (
        "The dashed line is the bound that counting errors gives, of the vote at s = 0. It has 0.9 ε, the bars have "
        "0.1 ε. Counting needs no theory of learning, and often promises less."
    )
    return text if certificate.test_set_bound is None else text + counting


def majority_in_words(error: float) -> str:
    """Say what a certificate has to be below to say something."""
    return f"Always saying the more frequent class errs on {layout.percent(error)} of these points. "


def show_blocks(settings: CertificateSettings, blocks: CertifiedBlocks, values) -> None:
    """Show points that test a classifier and then teach the next, and the same points as a test set."""
    better = "blocks" if blocks.risk_bound < blocks.test_set_bound else "the test set"
    seen = (
        f"**Blocks certify {layout.percent(blocks.risk_bound)}, the same points as a test set "
        f"{layout.percent(blocks.test_set_bound)}: the smaller is better, here that of {better}.** Press Play: a block "
        "comes, is tested, then teaches."
    )
    details = (
        "Half of the points teach a first classifier. The others come in blocks: each point is tested by the "
        "classifier of all points before its block, errors are ringed, then the block teaches and the boundary moves. "
        "**Certified is a random one of these classifiers for each new point.** None has seen the points that test it, "
        f"so the bound fails for at most the fraction ε = {values.eps:g} of samples. Counting ends at one of a few "
        "numbers of errors that are fixed on the first half (dots, the smallest is filled); to have several costs a "
        "little. Dashed: the first classifier alone, tested by all of these points. "
        f"{majority_in_words(blocks.majority_error)}With fewer points n each block teaches more."
        + layout.equation(
            "progressive validation",
            r"\sum_{t}\Big(-c_t\ln(1-r_t)-\sum_{i\in E_t}\ln(1-V_ir_t)\Big)\le q,\qquad\Pr(\Gamma_K>q)=\varepsilon",
            r"$r_t$ is the risk of block $t$'s classifier, $c_t$ of its points are right, those in $E_t$ err, each "
            r"with a $V_i$ uniform on $(0,1)$. Counting ends at $K$ errors, and $\Gamma_K$ is a sum of $K$ independent "
            "exponential variables of mean 1. Certified is the largest mean of the $r_t$, weighted by points, that "
            "this allows (Blum, Kalai and Langford, 1999; the proof is in docs/theory.md of the repository). Here the "
            "learner is ridge regression of the labels on the chosen features.",
        )
    )
    if not live.has_server:
        layout.figure(
            figures.blocks_and_test_set(blocks),
            seen,
            details,
            key="teaching",
            alt="Certified risk against the number of counted points, with the bound of the same points as a test set",
        )
    else:
        packed = view.live_blocks(settings, METHODS[values.method], values.D, values.blocks)
        live.mount("blocks", packed, values, (ARRIVED,))
        layout.caption_below(seen, details)
    if live.has_server:  # the static edition shows all parts at once
        hide_controls([STRETCH.key, "prior", "tries", ARRIVED.key])


def show_peeking(failures, values) -> None:
    """Show how often a bound fails if looks are not paid for."""
    at = list(failures.counts).index(values.tries)
    looked = (
        "One classifier, nothing to choose" if values.tries == 1 else f"Keep the best of {values.tries} classifiers"
    )
    layout.figure(
        figures.failures_of_peeking(failures, values.tries, values.eps),
        f"**{looked}: the bound of a test set then fails for "
        f"{layout.percent(failures.test_set[at])} of samples, and it promises {100 * values.eps:g} %.**",
        "A hard case, computed exactly: labels are coins, so every classifier errs half of the time, and the best of "
        "several is best by luck. A bound fails if it claims less than one half. The same number of rows as in your "
        "certificate.",
        key="peeking",
        alt="Share of samples on which a bound fails against the number of classifiers that were looked at",
    )


def settings_of(values) -> CertificateSettings:
    """Return the settings of the controls."""
    data = replace(toy_data(values), n=values.n // values.copies)
    return CertificateSettings(data, values.sigma, values.beta, values.tries, values.prior, values.eps, values.copies)


def show_learning(settings: CertificateSettings, values, in_lesson: bool) -> None:
    """Show the vote, its certificate, and the cost of each look at the points."""
    certificate = compute.certified_vote(settings, METHODS[values.method], values.D).certificate(values.stretch)
    show_live(settings, certificate, values, in_lesson)
    deferred.show("peeking", lambda: show_peeking(compute.peeking(certificate.n_bound, values.eps), values))
    if live.has_server:
        hide_controls([BLOCKS.key, ARRIVED.key])


def show(values, in_lesson: bool) -> None:
    """Show what follows the controls."""
    settings = settings_of(values)
    said = copies_in_words(*settings.sample) if values.copies > 1 else ""
    if said and live.has_server:  # a page of the static edition has the same parts for all settings
        st.warning(said, icon=":material/warning:")
    with layout.show_errors():
        if values.question == TEACHING:
            blocks = compute.certified_blocks(settings, METHODS[values.method], values.D, values.blocks)
            show_blocks(settings, blocks, values)
        else:
            show_learning(settings, values, in_lesson)
    method = METHODS[values.method]
    sharing.offer(
        "certificates",
        CONTROLS,
        values,
        lambda: compute.numbers(settings, method, values.D, values.stretch, values.blocks),
        {"method": method},
    )


def main() -> None:
    tour = lessons.Tour("certificates", CONTROLS)
    values = mount(CONTROLS, tour, first=("prior", "blocks"))
    layout.title(INTRODUCTIONS[values.question])
    tour.show_card()
    with QUESTION.show():
        show_rest(lambda values: show(values, tour.runs))


if __name__ == "__main__":
    main()
