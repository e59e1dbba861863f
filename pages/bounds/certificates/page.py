"""Certificates: a classifier that bounds its own risk, and what each look at the data costs."""

from dataclasses import replace

import streamlit as st

from pages.bounds.certificates import compute, view
from pages.bounds.certificates.compute import COUNTS, CertificateSettings
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls import scales
from pages.shared.controls.toy import BETA, DATA, EPSILON, N_POINTS, NOISE, SEED, SIGMA, toy_data
from pages.shared.controls.widgets import Number, Options, Scale, Tabs, hide_in_sidebar, mount
from pages.shared.figures import certificates as figures
from pages.shared.server.cache import cache_results
from rff_engine._hollow import copies_in_words
from rff_engine.plots.style import METHOD_NAMES
from rff_engine.studies.toy.certificates import Certificate, CertifiedBlocks, CertifiedVote

heavy = "certified_vote", "certified_blocks"
cache_results(compute, "peeking", in_workers=heavy)
cache_results(view, "live_certificate", "live_blocks")

#: Methods by their labels.
METHODS = {METHOD_NAMES[method]: method for method in compute.METHODS}

LEARNING, TEACHING = QUESTIONS = "What does it cost?", "May test points teach?"
QUESTION = Tabs("question", "Question", None, QUESTIONS, LEARNING)
INTRODUCTIONS = {
    LEARNING: "It learns from all points, without a test set, and states a **[[bound]]** on its own error. Lengthen "
    "its step away from the prior, and see **what each look at the data costs**.",
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
        "Share of points for the prior",
        "On these points all may be tried at no price; the bound is computed on the others. At 0 all points serve "
        "both ends, and every choice is paid for.",
        (0.0, 0.1, 0.25, 0.5, 0.75, 0.9),
        0.0,
    ),
    Scale(
        "tries",
        "Draws of frequencies that are compared",
        "The best one is kept. Without points for the prior, the bound pays for having looked at all of them.",
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
    "computed from the sample alone; it fails for at most the fraction **[[ε]]** of all samples. Nothing is held out "
    "as a test set. The assumption: the points are independent draws from one distribution.\n\n"
    "What is chosen while looking at the points of the bound costs nats, and nats cost risk: learned weights, learned "
    "frequencies, the better one of several draws. What is chosen on the points of the prior is free, but those points "
    "do not count in the bound. Where points can be spared for a test set, its bound is often smaller: "
    "`CertifiedClassifier` then takes the smaller of two. A certificate lets all points be learned from, and says what "
    "each choice costs."
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
        "**With a longer step fewer voters err, and the price of learned weights grows with its square.** Move D, and "
        "the certificate pays for your look.",
        "The test error is measured on 2000 fresh points, which a learner would not have. [[Left|Below]], the deeper "
        "the colour, the more of the voters agree; pale where they are divided. "
        + what_ledger_shows(certificate, values)
        + " Every step is certified at once, D is not: one that is chosen after looking costs the logarithm of the "
        "number of values that it could have had. On new points you may fix another D beforehand, and pay nothing.",
    )


def new_points(_: int) -> None:
    """Take the next seed."""
    st.session_state[SEED.key] = (int(st.session_state[SEED.key]) + 1) % (int(SEED.high) + 1)


def what_ledger_shows(certificate: Certificate, values) -> str:
    """Explain the ledger."""
    text = (
        "Each bar begins where the one before ends: first the share of voters that err, or are right without a margin, "
        f"on the {certificate.n_bound} points of the bound; then what each choice adds. "
        f"{majority_in_words(certificate.majority_error)}"
        f"The certificate fails for at most the fraction ε = {values.eps:g} of samples. "
    )
    if certificate.test_set_bound is None:
        return text + (
            "All points serve both ends, so that there is no test set to compare with, and learned frequencies and "
            "weights are paid for."
        )
    return text + (
        "The dashed line is the bound that a test set gives: the points of the bound, used for nothing but to count "
        "the errors of the prior's vote. It needs no theory of learning, and is often the smaller one."
    )


def majority_in_words(error: float) -> str:
    """Say what a certificate has to be below to say something."""
    return f"Always saying the more frequent class errs on {layout.percent(error)} of these points. "


def show_arms(vote: CertifiedVote, values) -> None:
    """Show the two bounds of `CertifiedClassifier`, of which it takes the smaller."""
    arms = vote.model.arm_bounds_
    taken = vote.model.arm_
    if len(arms) == 1:
        headline = "**All points serve both ends, so there is one bound.** Spare points for the prior to see the other."
    else:
        headline = (
            "**Each bar is a promise: at most so many new points in a hundred go wrong. Of the two from the same "
            f"{len(vote.prior_margins)} points the classifier makes the smaller one, {layout.percent(arms[taken])}, by "
            f"{'counting errors' if taken == 'test set' else 'learning from them'}.**"
        )
    layout.figure(
        figures.arms(arms, vote.error),
        headline,
        f"{majority_in_words(vote.model.majority_error_)}"
        "The first counts how often the prior's vote errs on points that it has not seen, at 0.9 ε. The second lets "
        "these points teach new weights, at 0.1 ε, and pays for every nat that was learned. Both hold at once for all "
        f"but the fraction ε = {values.eps:g} of samples, so the smaller one is free to take. The bars differ from the "
        "certificate above by their inequality, not by their shares of ε: that certificate is PAC-Bayes-kl over seven "
        "thresholds, at the whole ε. Here the first is the exact binomial bound, and the second is Catoni's, with rate "
        "and threshold from the prior's points.",
        key="arms",
        alt="Bars of the bounds that the classifier has, with its error on fresh points",
    )


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
    layout.equation(
        "progressive validation",
        r"\sum_{t}\Big(-c_t\ln(1-r_t)-\sum_{i\in E_t}\ln(1-V_ir_t)\Big)\le q,\qquad\Pr(\Gamma_K>q)=\varepsilon",
        r"$r_t$ is the risk of block $t$'s classifier, $c_t$ of its points are right, those in $E_t$ err, each with a "
        r"$V_i$ uniform on $(0,1)$. Counting ends at $K$ errors, and $\Gamma_K$ is a sum of $K$ independent "
        "exponential variables of mean 1. Certified is the largest mean of the $r_t$, weighted by points, that this "
        "allows (Blum, Kalai and Langford, 1999; the proof is in docs/theory.md of the repository). Here the learner "
        "is ridge regression of the labels on the chosen features.",
    )
    if live.has_server:  # the static edition shows all parts at once
        hide_in_sidebar([STRETCH.key, "prior", "tries", ARRIVED.key])


def show_peeking(failures, values) -> None:
    """Show how often a bound fails if looks are not paid for."""
    at = list(failures.counts).index(values.tries)
    layout.figure(
        figures.failures_of_peeking(failures, values.tries, values.eps),
        f"**Look at {values.tries} and keep the best: the bound of a test set then fails for "
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
    vote = compute.certified_vote(settings, METHODS[values.method], values.D)
    certificate = vote.certificate(values.stretch)
    show_live(settings, certificate, values, in_lesson)
    layout.explain(EXPLANATION)
    layout.equation(
        "the certificate",
        r"\mathrm{kl}\big(\widehat R_\theta\,\|\,R_\theta\big)\le\frac1n\Big(\sum_j\ln(N Q_{i_j})+\frac{\lVert v-v_0"
        r"\rVert^2}2+\ln\frac{2\sqrt n\,g}\varepsilon\Big),\qquad R_{\text{vote}}\le R_\theta/\Phi(\theta)",
        r"$\widehat R_\theta$ is the mean over the $n$ points of the bound of $\Phi(\theta - y\,v\cdot z(x))$, the "
        r"share of voters whose margin is below $\theta$; $v_0$ and $v$ are the mean weights of the prior and of the "
        r"vote, $Q$ the weights of the $N$ candidates of which $D$ are drawn, if learned on these points, and $g$ "
        r"the number of draws and thresholds that were compared on them. "
        "The majority errs only where a share $\\Phi(\\theta)$ of the voters has no margin (Langford and Shawe-Taylor, "
        "2003; Maurer, 2004). The proof is in docs/theory.md of the repository.",
    )
    deferred.show("arms", lambda: show_arms(vote, values))
    deferred.show("peeking", lambda: show_peeking(compute.peeking(certificate.n_bound, values.eps), values))
    if live.has_server:
        hide_in_sidebar([BLOCKS.key, ARRIVED.key])


def main() -> None:
    tour = lessons.Tour("certificates", CONTROLS)
    values = mount(CONTROLS, tour, first=("prior", "blocks"))
    layout.title(INTRODUCTIONS[values.question])
    tour.show()
    settings = settings_of(values)
    said = copies_in_words(*settings.sample)
    if said and live.has_server:  # a page of the static edition has the same parts for all settings
        st.warning(said, icon=":material/warning:")
    with layout.show_errors(), QUESTION.show():
        if values.question == TEACHING:
            blocks = compute.certified_blocks(settings, METHODS[values.method], values.D, values.blocks)
            show_blocks(settings, blocks, values)
        else:
            show_learning(settings, values, tour.runs)
    method = METHODS[values.method]
    sharing.offer(
        "certificates",
        CONTROLS,
        values,
        lambda: compute.numbers(settings, method, values.D, values.stretch, values.blocks),
        {"method": method},
    )


if __name__ == "__main__":
    main()
