"""Landmarks: the kernel's similarity to a few points against the one learned for each (Figures 1 and 4)."""

from dataclasses import replace

import numpy as np
import streamlit as st

from pages.components import guide, layout, literal, live, presets, sharing
from pages.components.controls import Number, Options, mount
from pages.components.landmark_results import (
    LandmarkSettings,
    landmark_path,
    landmark_problem,
    landmark_view,
    live_landmarks,
)
from pages.components.sharing.recipes import landmarks as recipe
from pages.components.toy_controls import BETA, COST, DATA, N_POINTS, NOISE, PLAIN, SEED, SIGMA, toy_data
from pages.components.toy_data import TEST_POINTS, map_extent, toy_sample
from rff_engine.figures import landmarks as figures
from rff_engine.figures import paths

MOST_LANDMARKS, MOST_FREQUENCIES = 8, 256

FREQUENCIES = Number("D", "Frequencies per landmark D", None, 1, MOST_FREQUENCIES, 20, 1)

CONTROLS = (
    "Learning",
    BETA,
    FREQUENCIES,
    SIGMA,
    "Landmarks",
    Options(
        "how",
        "How they are chosen",
        "Click on points of the data figure to choose them yourself.",
        ("random", "k-means", "clicked"),
        "random",
        True,
    ),
    Number("landmarks", "Number of landmarks", None, 1, MOST_LANDMARKS, 5, 1, only_if=("how", ("random", "k-means"))),
    "Data",
    DATA,
    NOISE,
    N_POINTS,
    SEED,
    COST,
    PLAIN,
)

PICKS = "picks"
CLICKS = "clicks on points"


def clicked_points(n: int) -> tuple[int, ...]:
    """Rows of the training points that the URL names as landmarks; what it names wrongly is dropped and said."""
    raw = st.query_params.get(PICKS, "")
    parts = [part for part in raw.split("-") if part]
    rows = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 7 and int(part) < n]
    rows = list(dict.fromkeys(rows))[:MOST_LANDMARKS]
    if len(rows) < len(parts):
        st.warning(
            f"The link names the points {literal.asked(raw)}; kept are at most {MOST_LANDMARKS} different ones below "
            f"n = {n}.",
            icon=":material/link_off:",
        )
        st.query_params[PICKS] = "-".join(map(str, rows))
    return tuple(rows)


def toggle(row: int, shown: tuple[int, ...]) -> None:
    """Make a point a landmark, or a landmark none any more."""
    picks = list(shown)
    if row in picks:
        picks.remove(row)
    elif len(picks) < MOST_LANDMARKS:
        picks.append(row)
    else:
        st.toast(f"There are {MOST_LANDMARKS} landmarks already, the most allowed: click a star to remove it first.")
    st.query_params[PICKS] = "-".join(map(str, picks))
    st.session_state["how"] = "clicked"


def take_click(key: str, shown: tuple[int, ...]) -> None:
    """A click in the plain figure."""
    for mark in st.session_state[key].selection.points:
        toggle(mark["customdata"], shown)
    # The next figure starts with nothing selected, so that the next click is seen whatever it is on.
    st.session_state[CLICKS] = st.session_state.get(CLICKS, 0) + 1


def show_live(settings: LandmarkSettings) -> None:
    """The live pictures; their own sliders stand for those of the sidebar."""
    problem = landmark_problem(settings)
    shown = () if problem.indices is None else tuple(map(int, problem.indices))
    live.mount(
        "landmarks",
        live_landmarks(settings, values.C),
        values,
        (BETA, FREQUENCIES),
        on_clicked=lambda row: toggle(row, shown),
    )
    st.caption(
        "Drag β and D, or press play: everything follows. Each column is one landmark, the star. Green: similar to it; "
        "purple: dissimilar; white: neither. Hover over a weight to see its cosine on the map, over a point to find it "
        "on every map; click a point to make it a landmark, a star to remove it. Decisions are a linear SVM on the "
        f"similarities of a row, with errors on the training points and on {TEST_POINTS} fresh ones."
    )


def show_plain(settings: LandmarkSettings) -> None:
    """The same in Plotly figures, drawn anew when a slider is let go."""
    with layout.problems_explained():
        problem = landmark_problem(settings)
        view = landmark_view(settings, values.beta, values.C)

    layout.figure(
        figures.similarity_mosaic(
            map_extent(data),
            np.stack([view.prior_maps, view.learned_maps]),
            problem.landmarks,
            sample.X,
            sample.y,
            row_names=("prior", "learned"),
        ),
        "Each column is one landmark, the star. Green: similar to it; purple: dissimilar; white: neither. The learned "
        "maps try to be green on the landmark's own class and purple on the other. At the smallest β they are the "
        "plain average of the same D cosines, a rough copy of the prior row: raise D and it becomes smooth.",
        key="maps",
        alt="Similarity maps of each landmark for the prior and for the learned weights",
    )

    left, right = st.columns([2, 4])
    with left:
        shown = () if problem.indices is None else tuple(map(int, problem.indices))
        key = f"points{st.session_state.get(CLICKS, 0)}"
        layout.figure(
            figures.points_and_landmarks(sample.X, sample.y, problem.landmarks, problem.indices, map_extent(data)),
            "Click a point to make it a landmark; click a star to remove it.",
            key=key,
            alt="Training points of two classes with the landmarks as numbered stars",
            on_select=lambda: take_click(key, shown),
            selection_mode="points",
        )
    with right:
        layout.figure(
            figures.decision_maps(
                map_extent(data),
                np.stack([view.prior.values, view.learned.values]),
                problem.landmarks,
                sample.X,
                sample.y,
                titles=[
                    f"<b>{name}</b>: train error {layout.percent(made.train_error)}, "
                    f"test error {layout.percent(made.test_error)}"
                    for name, made in (("prior", view.prior), ("learned", view.learned))
                ],
            ),
            f"A linear SVM on the {len(problem.labels)} similarities of each row; the black line is its boundary. Test "
            f"errors are measured on {TEST_POINTS} fresh points.",
            key="decisions",
            alt="Decision maps of a linear SVM on the prior and on the learned similarities, with their errors",
        )
    layout.figure(
        figures.spectral_weights(view.Q, np.linalg.norm(problem.omega, axis=2)),
        "One row a landmark, one cell a frequency, from slow to fast: its weight as a multiple of the prior's. At "
        "small β every cell is 1; as β grows the weight gathers on the few cosines that agree with the labels.",
        key="weights",
        alt="Heatmap of the pseudo-posterior weights, landmarks by frequencies",
    )


def show_path(settings: LandmarkSettings) -> None:
    """What every beta would come to, with a marker at the one in force."""
    path = landmark_path(settings, values.C)
    errors = {"test error": path.test_error, "train error": path.train_error}
    layout.figure(
        paths.errors_and_kl(
            values.beta,
            {name: paths.ErrorPath(path.betas, error) for name, error in errors.items()},
            path.betas,
            path.kl,
            "mean KL(Q‖P) over the landmarks",
        ),
        "What every β comes to; dotted: yours. Above, the errors of the SVM on the learned similarities; below, how "
        "far the weights have moved from the prior, at most ln D. Look for the β at which the test error is lowest, "
        "and at what it costs in KL, the price in a bound.",
        key="along_beta",
        alt="Train and test error and mean KL divergence against beta, with a line at the present beta",
    )


tour = guide.Tour("landmarks", CONTROLS)
values = mount(CONTROLS, tour, names=(PICKS,))
layout.title(
    "What does a landmark learn about its neighbourhood?",
    "A **landmark** is a point that all others are compared with: five landmarks give every point five similarities, "
    "and a linear SVM learns from these. The **prior row** shows the similarity of the Gaussian kernel, the same bump "
    "everywhere. The **learned row** weighs a few random cosines by how well they agree with the labels around the "
    "landmark; **β** says how strongly the labels count. Drag it.",
)
presets.offer(presets.LANDMARK_PRESETS, CONTROLS, forget=(PICKS,))
tour.show()
with layout.problems_explained():
    data = toy_data(values)
    sample = toy_sample(data)
    picks = clicked_points(values.n) if values.how == "clicked" else ()
    if values.how == "clicked" and not picks:
        st.info("No point is chosen yet: click one in the data figure below. Random landmarks are shown meanwhile.")
    method = {"random": "random", "k-means": "kmeans", "clicked": picks or "random"}[values.how]
    settings = LandmarkSettings(data, values.sigma, values.D, values.landmarks, method)
    if not values.plain:
        # Frequencies are drawn one after the other: a smaller D takes the first of them.
        show_live(replace(settings, n_frequencies=MOST_FREQUENCIES))
if values.plain:
    show_plain(settings)
with layout.problems_explained():
    show_path(settings)

layout.equation(
    "pseudo-posterior and similarity",
    r"Q^l_m = \frac{1}{Z_l}\, e^{-\beta\sqrt{n}\,\widehat L^l_S(h^l_m)}, \qquad "
    r"\widehat k_{Q^l}(x_l - x) = \sum_{m=1}^{D} Q^l_m \cos\big(\omega^l_m\cdot(x_l - x)\big)",
    "Each landmark $l$ draws its own $D$ frequencies from the Gaussian prior and weighs them by their alignment loss: "
    "how far $\\cos(\\omega\\cdot(x_l-x))$ is from $+1$ on points of the landmark's class and from $-1$ on the others "
    "(Letarte, Morvant and Germain, 2019, Equations 12 and 13).",
)

sharing.offer(
    "landmarks",
    CONTROLS,
    values,
    lambda: recipe.numbers(
        landmark_problem(settings), landmark_view(settings, values.beta, values.C), landmark_path(settings, values.C)
    ),
    {"selection": method},
    {PICKS: "-".join(map(str, picks))} if picks else None,
)
