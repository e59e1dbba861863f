"""Start here: tune the radio, then five figures, each with links to pages with the same settings."""

from types import SimpleNamespace

import streamlit as st

from datasets.toy_data import TEST_POINTS
from pages.kernel.figures import spectrum_and_kernel
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.catalogue import BY_NAME
from pages.shared.controls import presentation, screen
from pages.shared.controls.widgets import Code, mount
from pages.shared.figures import sweeps
from pages.shared.server.cache import cache_results
from pages.shared.server.runs import BREAST_SWEEP, Run, run_queue
from pages.start import compute, view
from rff_engine.plots import bounds, landmarks, learning
from rff_engine.studies.reports import tables as report

cache_results(compute, "kernel_line", "landmark_problem", "landmark_view", "spectrum", "bounds")
cache_results(view, "radio")

#: What the reader has set on the radio.
RADIO = Code(
    "radio",
    compute.decode,
    f"data, waves, β, D and σ, such as `checkerboard~12-480~1~2000~0.251`, of {', '.join(compute.STATIONS)}, with "
    f"waves below {compute.CANDIDATES}, β from 0.03 to 30, D from 10 to {compute.CANDIDATES} and σ from 0.1 to 1",
    "the radio starts from the beginning",
)


def introduce(number: int, heading: str, text: str) -> None:
    """Show the heading and the text of a figure, below a line."""
    st.divider()
    st.header(f"{number}. {heading}")
    st.markdown(text)


def link(page: str, label: str, icon: str = "arrow_forward", **settings) -> None:
    """Show a link to a page with the settings of a figure."""
    query = {key: str(value) for key, value in settings.items()}
    st.page_link(BY_NAME[page].script, label=label, icon=f":material/{icon}:", query_params=query)


@st.fragment
def show_radio() -> None:
    """Show the radio, and two links; what the reader sets reruns only this part of the page."""
    with layout.show_errors():
        code = st.query_params.get(RADIO.key, "")
        live.mount("radio", view.radio() | {RADIO.key: code}, SimpleNamespace(), on_clicked=RADIO.take)
    layout.caption_below(
        "**One wave fails along one diagonal; a second one mends it: their mean is a kernel that no bump around the "
        "star can be.** Each dot of the plane is a wave of the [[prior]], $\\cos(\\omega\\cdot(x_\\star - x))$: green "
        "near the star, purple half a wave away. It agrees with the labels where green lies on the star's class. Your "
        "map is the mean of the waves that you keep, and a point takes the star's class where the map is green. "
        "$\\mathrm{KL} = \\ln(N/k)$ for $k$ of $N$ waves is the price of the choice. The [[posterior]] weighs all of "
        "them by $e^{-\\beta\\sqrt n\\,\\text{loss}}$. The bound is on the [[alignment loss]] of the waves, not on the "
        "error; a coin has 0.5. It holds if the star, D and σ are chosen before a look at the labels. Errors are "
        f"measured on {TEST_POINTS} fresh points; on points drawn by hand, on these."
    )
    with st.container(horizontal=True, key="first_steps"):
        link("landmarks", "**Many stars:** the same with all controls", **landmark_query(3, 1.0))
        lessons.offer_to_join()


def landmark_query(count: int, beta: float) -> dict:
    """Return the settings of a figure under the names of the page on landmarks."""
    return {
        "data": compute.MOONS.name,
        "beta": f"{beta:g}",
        "D": compute.FREQUENCIES,
        "sigma": compute.MOONS_SIGMA,
        "landmarks": count,
    }


def kernel_figure() -> None:
    layout.figure(
        spectrum_and_kernel(compute.kernel_line(BREAST_SWEEP.seed), height=360),
        "**[[Right|Below]]: the average of 20 cosines is close to the kernel.** [[Left|Above]]: the [[prior]] density "
        "of their [[frequencies]], and the 20 draws.",
        key="kernel",
        alt="Spectral density with 20 sampled frequencies, and the kernel with its approximation",
    )


def landmark_figure() -> None:
    problem = compute.landmark_problem(compute.MOONS, 5)
    seen = compute.landmark_view(compute.MOONS, 5)
    layout.figure(
        landmarks.prior_and_learned_maps(problem, seen, compute.MOONS.extent, upright=screen.narrow()),
        f"**A linear SVM on five prior similarities errs on {layout.percent(seen.prior.test_error)} of fresh points, "
        f"on learned ones on {layout.percent(seen.learned.test_error)}.** Compare the [[rows|columns]]: five "
        "[[landmarks]] on two moons, green similar, purple dissimilar.",
        key="landmarks",
        alt="Similarity maps of five landmarks, by the Gaussian kernel and as learned",
    )


def spectrum_figure() -> None:
    plane, posterior = compute.spectrum(compute.BOARD)
    layout.figure(
        learning.frequency_planes(compute.FREQUENCY_EXTENT, plane.prior, plane.loss, posterior, height=340),
        "**The posterior is where the prior has weight and cosines agree with the labels.** From [[left to right|top "
        "to bottom]], over the plane of frequencies: the [[prior]] density, the agreement of each cosine with the "
        "labels of a checkerboard, and the [[posterior]] density.",
        key="spectrum",
        alt="Prior density, alignment loss and pseudo-posterior over the frequency plane",
    )


def bound_figure() -> None:
    layout.figure(
        bounds.bounds_along_beta(compute.bounds(compute.MOONS), 1.0),
        "**Follow one curve from left to right: at a small [[β]] certainty is dear, at a large one learning is.** The "
        "lowest point is the best guarantee, if that β was fixed beforehand. The [[alignment loss]] says how well "
        "similarities agree with the labels; it is not the error of a classifier. All bounds have proved constants.",
        key="bounds",
        alt="Bounds on the alignment loss against beta, with the empirical loss and the true risk",
    )


def breast_sweep() -> Run | None:
    """Return the run of the fifth figure; None, with an error on the page, if the store cannot be used."""
    try:
        run = run_queue().submit(BREAST_SWEEP)
        _ = run.rows  # read here, so that an error of the store is shown here
        return run
    except layout.EXPECTED_ERRORS as error:
        layout.show_error(error)
        return None


def sweep_figure(run: Run) -> None:
    with layout.show_errors():
        rows = list(run.rows)
    if run.active:
        st.progress(run.fraction, f"{100 * run.fraction:.0f} %, {run.time_left}")
    layout.figure(
        sweeps.error_against_features(report.error_by_features(rows), run.settings.protocol().n_features),
        "**Compare the curves at few frequencies: learned distributions need fewer than the prior.** Mean of "
        f"{BREAST_SWEEP.repeats} draws on the paper's split of the breast cancer data, with 95 % intervals.",
        key="sweep",
        alt="Test error against the number of frequencies on the breast cancer data",
    )
    if not run.active and st.session_state.get("sweep was active"):
        st.session_state["sweep was active"] = False
        st.rerun()
    st.session_state["sweep was active"] = run.active


def show_kernel() -> None:
    introduce(
        1,
        "A kernel is an average of cosines",
        "Draw frequencies from the kernel's Fourier transform and average their cosines: the average approximates the "
        "kernel. The distribution of the frequencies determines the kernel.",
    )
    deferred.show("kernel", kernel_figure)
    link("kernel", "Add frequencies, change the kernel", kernel="Gaussian", width=1, D=20)
    link("approximate", "Choose better frequencies than random ones", data="wine", first="Monte Carlo", second="Sample")
    link("adaptive", "Watch frequencies move to where the points need them", data="line", r=20, landmarks=50)


def show_landmarks() -> None:
    introduce(
        2,
        "Every landmark learns its own similarity",
        "The kernel draws the same bump around every landmark. Reweighting 20 random cosines by the labels gives each "
        "landmark its own similarity, which follows the classes.",
    )
    deferred.show("landmarks", landmark_figure)
    link("landmarks", "Move β, add landmarks, click your own", **landmark_query(5, 1.0))


def show_spectrum() -> None:
    introduce(
        3,
        "Labels reweight the cosines",
        "A cosine agrees with the labels when it is large within a class and small between classes. The "
        "pseudo-posterior weighs each by $e^{-\\beta\\sqrt n\\,\\text{loss}}$.",
    )
    deferred.show("spectrum", spectrum_figure)
    link("learn_kernel", "Learn the kernel", data="checkerboard", beta=10, sigma=0.251)


def show_bound() -> None:
    introduce(
        4,
        "A bound shows the price of learning",
        "PAC-Bayes bounds the loss on new data by the loss on the sample plus a price: for certainty, and for the "
        "distance from the prior. β balances the two.",
    )
    deferred.show("bounds", bound_figure)
    link(
        "bounds",
        "See the terms of a bound, and a printed one fail",
        form="corrected",
        beta=1,
        N=200,
        sigma=0.501,
        eps=0.05,
        mu=5,
    )


def show_sweep() -> Run | None:
    """Show the fifth figure and return its run."""
    introduce(
        5,
        "Few learned frequencies replace many random ones",
        "With the protocol of the paper, on real data: with fewer than about five frequencies, learned ones err far "
        "less.",
    )
    run = breast_sweep()
    if run is not None:
        deferred.show("sweep", lambda: st.fragment(sweep_figure, run_every=1.0 if run.active else None)(run))
    link("real_data", "Other data sets, landmarks, the whole grid", dataset="breast")
    return run


def main() -> None:
    tour = lessons.Tour("start", (), (RADIO,))
    values = mount((), tour, parameters=(RADIO,))
    layout.title(
        "**A star asks: which points are like me?** Without labels it can only answer: those nearby. That guess is the "
        "**[[prior]]**. Search the dark plane for waves that agree with the labels.",
    )
    tour.show_card()
    show_radio()
    tour.show_row()
    with layout.show_errors():
        show_kernel()
        show_landmarks()
        show_spectrum()
        show_bound()
        run = show_sweep()
        st.divider()
        st.header("Short lessons")
        st.markdown("A few steps each, on one of the pages: look, predict, and see what happens.")
        with st.container(key="all_lessons"):
            for lesson in lessons.content.all_lessons():
                end = "" if lesson.title.endswith("?") else "."
                label = f"**{lesson.title}{end}** {lesson.takeaway}"
                link(lesson.page, label, icon="school", **lessons.address(lesson))
        presentation.show_button()

    tuning = RADIO.settle(values)
    sharing.offer(
        "start",
        (),
        values,
        lambda: compute.numbers(tuning, BREAST_SWEEP.seed, [] if run is None else list(run.rows)),
        vars(tuning) | {"seed": BREAST_SWEEP.seed, "repeats": BREAST_SWEEP.repeats},
        {RADIO.key: code} if (code := st.query_params.get(RADIO.key, "")) else {},
    )


if __name__ == "__main__":
    main()
