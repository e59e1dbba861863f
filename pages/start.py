"""Start here: the story in five pictures, each with links to the pages where it moves, with that picture's settings."""

import numpy as np
import streamlit as st

from pages.components import guide, layout, lecturing, sharing
from pages.components.bound_results import BoundSettings, Promise, promised_curves
from pages.components.controls import mount
from pages.components.kernel_results import KernelSettings, kernel_line
from pages.components.landmark_results import LandmarkSettings, landmark_problem, landmark_view
from pages.components.learning_results import frequency_plane
from pages.components.runs import BREAST_SWEEP, Run, run_queue
from pages.components.sharing.recipes import start as recipe
from pages.components.toy_data import ToyData, map_extent
from rff_engine.experiments import report, toy_learning
from rff_engine.figures import bounds, kernels, landmarks, spectra, sweeps

MOONS = ToyData("moons", 300, 0.1, 0)
LANDMARKS = LandmarkSettings(MOONS, 0.501, 20, 5, "random")
BOUNDS = BoundSettings(MOONS, 0.501, 200), Promise(0.05, 5.0, "corrected", False)
KERNEL = KernelSettings("Gaussian", 1.0, 1.5, 0), 20
BOARD, WIDTH = ToyData("checkerboard", 300, 0.1, 0), 0.251


def picture(number: int, heading: str, text: str) -> None:
    """The words that belong to a picture."""
    st.header(f"{number}. {heading}")
    st.markdown(text)


def link(page: str, label: str, **settings) -> None:
    """The way to the page where a picture moves, with the picture's settings."""
    query = {key: str(value) for key, value in settings.items()}
    st.page_link(f"pages/{page}.py", label=label, icon=":material/arrow_forward:", query_params=query)


def landmark_picture() -> None:
    problem, view = landmark_problem(LANDMARKS), landmark_view(LANDMARKS, 1.0, 1.0)
    layout.figure(
        landmarks.similarity_mosaic(
            map_extent(MOONS),
            np.stack([view.prior_maps, view.learned_maps]),
            problem.landmarks,
            problem.X,
            problem.y,
            row_names=("prior", "learned"),
        ),
        f"Compare the rows: five landmarks on two moons, green similar, purple dissimilar. A linear SVM on the five "
        f"prior similarities errs on {layout.percent(view.prior.test_error)} of fresh points, on the learned ones on "
        f"{layout.percent(view.learned.test_error)}.",
        key="landmarks",
        alt="Similarity maps of five landmarks, by the Gaussian kernel and as learned",
    )


def kernel_picture() -> None:
    layout.figure(
        kernels.spectrum_and_kernel(kernel_line(*KERNEL), height=360),
        "Left: the prior density of frequencies and 20 draws from it. Right: the average of their 20 cosines, next to "
        "the kernel itself.",
        key="kernel",
        alt="Spectral density with 20 sampled frequencies, and the kernel with its approximation",
    )


def spectrum() -> tuple[toy_learning.FrequencyPlane, np.ndarray]:
    plane = frequency_plane(BOARD, WIDTH, 3.5 / WIDTH)
    return plane, toy_learning.plane_posterior(plane, 10.0)


def spectrum_picture() -> None:
    plane, posterior = spectrum()
    layout.figure(
        spectra.frequency_planes(3.5 / WIDTH, plane.prior, plane.loss, posterior, height=340),
        "From left to right, over the plane of frequencies: what the kernel believes, which cosines agree "
        "with the labels of a checkerboard, and the belief after seeing them.",
        key="spectrum",
        alt="Prior density, alignment loss and pseudo-posterior over the frequency plane",
    )


def bound_picture() -> None:
    layout.figure(
        bounds.bounds_along_beta(promised_curves(*BOUNDS), 1.0),
        "Follow one curve from left to right: too little trust in the labels wastes them, too much pays for every "
        "chosen cosine. The lowest point is the best promise, if that β was fixed beforehand. All bounds are in their "
        "corrected form.",
        key="bounds",
        alt="Bounds on the alignment loss against beta, with the empirical loss and the true risk",
    )


def breast_sweep() -> Run | None:
    """The run of the fifth picture; None, and said why, where the store of results cannot be used."""
    try:
        run = run_queue().submit(BREAST_SWEEP)
        _ = run.rows  # known from here on, until there are more
        return run
    except layout.PROBLEMS as error:
        layout.explain(error)
        return None


def sweep_picture(run: Run) -> None:
    with layout.problems_explained():
        rows = list(run.rows)
    if run.active:
        st.progress(run.fraction, f"{100 * run.fraction:.0f} %, {run.time_left}: {run.message}")
    layout.figure(
        sweeps.error_against_features(report.error_by_features(rows), run.settings.protocol().n_features),
        "Compare the curves at few frequencies: the learned distributions need fewer than the prior. Mean of "
        f"{BREAST_SWEEP.repeats} draws on the paper's split of the breast cancer data, with 95 % intervals.",
        key="sweep",
        alt="Test error against the number of frequencies on the breast cancer data",
    )
    if not run.active and st.session_state.get("sweep was active"):
        st.session_state["sweep was active"] = False
        st.rerun()
    st.session_state["sweep was active"] = run.active


def numbers():
    """What the pictures state, as a table; of the fifth, what is known by now."""
    results = landmark_view(LANDMARKS, 1.0, 1.0), kernel_line(*KERNEL), *spectrum(), promised_curves(*BOUNDS)
    return recipe.numbers(*results, [] if run is None else list(run.rows))


values = mount(())
layout.title(
    "What if a kernel were only a first guess?",
    "A kernel says which points are similar before any label is seen: it is a **prior**, over cosines. Labels turn it "
    "into a **posterior**. Five pictures tell the story; each opens where you can move it. "
    "Would you rather be asked? [Short lessons](#short-lessons) let you predict before anything moves.",
)
with layout.problems_explained():
    picture(
        1,
        "Every landmark learns its own similarity",
        "The kernel draws the same bump around every landmark. Re-weighting 20 random cosines by the labels gives each "
        "landmark a similarity of its own, which follows the classes.",
    )
    landmark_picture()
    link("landmarks", "Move β, add landmarks, click your own", data="moons", beta=1, D=20, sigma=0.501, landmarks=5)
    st.divider()

    picture(
        2,
        "A kernel is an average of cosines",
        "Draw frequencies from the kernel's Fourier transform, average their cosines, and the kernel comes back. The "
        "distribution of the frequencies is all that a kernel believes.",
    )
    kernel_picture()
    link("kernel", "Add frequencies, change the kernel", kernel="Gaussian", width=1, D=20)
    link("approximate", "Choose better frequencies than random ones", data="wine", first="Monte Carlo", second="Sample")
    link("adaptive", "Watch frequencies move to where the points need them", data="line", r=20, landmarks=50)
    st.divider()

    picture(
        3,
        "Labels say which cosines to believe",
        "A cosine agrees with the labels when it is large within a class and small between classes. The "
        "pseudo-posterior weighs each by $e^{-\\beta\\sqrt n\\,\\text{loss}}$.",
    )
    spectrum_picture()
    link("learn_kernel", "Learn the kernel", data="checkerboard", beta=10, sigma=0.251)
    st.divider()

    picture(
        4,
        "A bound says what belief costs",
        "PAC-Bayes bounds the loss on new data by the loss seen plus the distance from the prior. β balances the two.",
    )
    bound_picture()
    link(
        "bounds",
        "Take a bound apart, break a printed one",
        form="corrected",
        beta=1,
        N=200,
        sigma=0.501,
        eps=0.05,
        mu=5,
    )
    st.divider()

    picture(
        5,
        "Few learned frequencies do the work of many",
        "With the rules of the paper, on real data: below about five frequencies the learned ones err far less often.",
    )
    run = breast_sweep()
    if run is not None:
        st.fragment(sweep_picture, run_every=1.0 if run.active else None)(run)
    link("real_data", "Other data sets, landmarks, the whole grid", dataset="breast")
    st.divider()

    st.header("Short lessons")
    st.markdown("Each is a few steps on one of the pages: look, predict, and see what happens.")
    guide.offer_all()
    lecturing.offer(())

sharing.offer("start", (), values, numbers, {"seed": BREAST_SWEEP.seed, "repeats": BREAST_SWEEP.repeats})
