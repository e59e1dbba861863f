"""Landmarks: the prior similarity to a few points, and the one learned for each (Figures 1 and 4)."""

import streamlit as st

from datasets.points import MAX_POINTS
from pages.landmarks import compute, view
from pages.landmarks.compute import MAX_LANDMARKS
from pages.shared import deferred, escaping, layout, lessons, live, sharing
from pages.shared.controls import own_points, presets
from pages.shared.controls.own_points import POINTS
from pages.shared.controls.toy import (
    BETA,
    COST,
    DATA_OR_OWN,
    NOISE_OR_COPIES,
    NUMBER_SAMPLED,
    SEED,
    SIGMA_LIVE,
    toy_data,
)
from pages.shared.controls.widgets import Number, Options, mount, show_rest
from pages.shared.figures import paths
from pages.shared.live import own_points as canvas
from pages.shared.server.cache import cache_results

cache_results(compute, "landmark_problem", "landmark_view", "landmark_path")
cache_results(view, "packed_draws")

_REFUSED = "a click asked for too many landmarks"
#: Message after such a click.
TOO_MANY = f"There are {MAX_LANDMARKS} landmarks already, the most allowed: click a star to remove it first."

FREQUENCIES = Number("D", "Frequencies per landmark D", None, 1, compute.MAX_FREQUENCIES, 20, 1)

CONTROLS = (
    "Learning",
    BETA,
    FREQUENCIES,
    SIGMA_LIVE,
    "Landmarks",
    Options(
        "how",
        "How they are chosen",
        "Click on points of the data figure to choose them yourself.",
        ("random", "k-means", "clicked"),
        "random",
        True,
    ),
    Number("landmarks", "Number of landmarks", None, 1, MAX_LANDMARKS, 5, 1, only_if=("how", ("random", "k-means"))),
    "Data",
    DATA_OR_OWN,
    NOISE_OR_COPIES,
    NUMBER_SAMPLED,
    SEED,
    COST,
)

PICKS = "picks"

EQUATION = (
    "pseudo-posterior and similarity",
    r"Q^l_m = \frac{1}{Z_l}\, e^{-\beta\sqrt{n}\,\widehat L^l_S(h^l_m)}, \qquad "
    r"\widehat k_{Q^l}(x_l - x) = \sum_{m=1}^{D} Q^l_m \cos\big(\omega^l_m\cdot(x_l - x)\big)",
    "Each landmark $l$ draws its own $D$ frequencies from the Gaussian prior and weighs them by their alignment "
    "loss: how far $\\cos(\\omega\\cdot(x_l-x))$ is from $+1$ on points of the landmark's class and from $-1$ on "
    "the others (Letarte, Morvant and Germain, 2019, Equations 12 and 13).",
)

EXPLANATION = (
    "A **landmark** is a point that all others are compared with: five landmarks give every point five similarities, "
    "and a linear SVM learns from these. The **prior [[row|column]]** shows the similarity of the Gaussian kernel, the "
    "same bump everywhere. The **learned [[row|column]]** weighs a few random cosines by how well they agree with the "
    "labels around the landmark; **β** sets how strongly the labels count. A small **σ** draws fast waves, and the "
    "boundary wiggles; a large one draws slow waves, and it is smooth: begin near the distance at which labels change."
    "\n\n"
    "Decisions are those of a linear SVM on the similarities of a [[row|column]], with errors on the training points "
    "and on {fresh_points}. Hover over a weight to see its cosine on the map, over a point to find it on "
    "every map; click a point to make it a landmark, a star to remove it."
)

BOUND = {
    False: "Between them, the PAC-Bayes-kl bound on the alignment loss, mean over the landmarks: with probability 95 % "
    "it holds for every β at once, so that β may be chosen by it. It sees neither the SVM nor the fresh points.",
    True: "No bound holds for centroids, which depend on all points; choose random landmarks to see one.",
}


def rows_named(text: str, n: int) -> tuple[int, ...]:
    """Return the rows below n that a text such as 3-17-40 names, at most `MAX_LANDMARKS`."""
    parts = [part for part in text.split("-") if part.isascii() and part.isdigit() and len(part) < 7]
    return tuple(dict.fromkeys(row for row in map(int, parts) if row < n))[:MAX_LANDMARKS]


def clicked_points(n: int) -> tuple[int, ...]:
    """Return the rows of training points that the URL names as landmarks; drop invalid ones with a note."""
    raw = st.query_params.get(PICKS, "")
    rows = rows_named(raw, n)
    if len(rows) < len([part for part in raw.split("-") if part]):
        st.warning(
            f"The link names the points {escaping.value_as_code(raw)}; kept are at most {MAX_LANDMARKS} different ones "
            f"below n = {n}.",
            icon=":material/link_off:",
        )
        st.query_params[PICKS] = "-".join(map(str, rows))
    return rows


def settings_of(values, picks: tuple[int, ...]) -> compute.LandmarkSettings:
    """Return the settings of the controls, with the rows `picks` as landmarks if landmarks are clicked."""
    data = toy_data(values)
    method = {"random": "random", "k-means": "kmeans", "clicked": picks or "random"}[values.how]
    count = min(values.landmarks, data.n)
    if data.points and method == "random":
        method = own_points.random_rows(data.sample().y, count, values.seed)
    return compute.LandmarkSettings(data, values.sigma, values.D, count, method)


def follow_points(before: str, after: str) -> None:
    """Keep the clicked landmarks when the reader's points change."""
    if PICKS in st.query_params:
        rows = rows_named(st.query_params[PICKS], MAX_POINTS)
        st.query_params[PICKS] = "-".join(map(str, own_points.moved_rows(rows, before, after)))


def pick(rows: object) -> None:
    """Make these training points the landmarks, at most `MAX_LANDMARKS`; ignore anything but a list of rows."""
    if not (isinstance(rows, list) and all(isinstance(row, int) and row in range(10**6) for row in rows)):
        return
    if len(rows) > MAX_LANDMARKS:
        st.session_state[_REFUSED] = True
    st.query_params[PICKS] = "-".join(str(int(row)) for row in rows[:MAX_LANDMARKS])
    st.session_state["how"] = "clicked"


def show_live(values, settings: compute.LandmarkSettings) -> None:
    """Show the live view; its own sliders replace controls of the row."""
    # Frequencies are drawn in sequence: a smaller D uses the first of them, another width divides them.
    packed = view.drawn_landmarks(settings.data) | view.shown_landmarks(settings) | {"C": values.C}
    sliders = (BETA, FREQUENCIES, SIGMA_LIVE)
    if settings.data.points or settings.selection == "kmeans":
        packed |= {"noise": values.noise}  # k-means and copies of the reader's points depend on the noise
    else:
        sliders += (NOISE_OR_COPIES,)
    live.mount("landmarks", packed, values, sliders, on_clicked=pick)
    layout.caption_below(
        "**Labels turn each similarity towards the landmark's own class.** Click a map to add up its cosines.",
        "Each [[column|row]] is one landmark, marked by a star. Green: similar to it; purple: dissimilar; "
        "<<white|dark grey>>: neither.\n\n"
        + EXPLANATION.replace("{fresh_points}", settings.data.fresh_points)
        + layout.equation(*EQUATION),
    )


def show_path(values, settings: compute.LandmarkSettings) -> None:
    """Show errors and KL divergence for every β, with a line at the current one."""
    path = compute.landmark_path(settings, values.C)
    layout.figure(
        paths.landmark_errors_and_kl(values.beta, path, settings.data.test_error),
        layout.lowest_error(path.betas, path.test_error, path.betas, path.bound),
        "Can a bound choose β? Results for every β; dotted: yours. Above, the errors of the SVM on the learned "
        "similarities; below, how far the weights have moved from the prior, at most ln D. "
        f"{BOUND[path.bound is None]}",
        key="along_beta",
        alt="Train and test error, a bound and mean KL divergence against beta, with a line at the current beta",
    )


def link_parameters(values, settings: compute.LandmarkSettings) -> dict[str, str]:
    """Return the parameters of a link besides the controls: the clicked landmarks, and the reader's points."""
    picks = settings.selection if values.how == "clicked" and isinstance(settings.selection, tuple) else ()
    link = {PICKS: "-".join(map(str, picks)), POINTS.key: values.points}
    return {name: text for name, text in link.items() if text}


def show(values) -> None:
    """Show what follows the controls."""
    if st.session_state.pop(_REFUSED, False):
        st.toast(TOO_MANY)
    with layout.show_errors():
        picks = clicked_points(toy_data(values).n) if values.how == "clicked" else ()
        if values.how == "clicked" and not picks:
            st.info("No point is chosen yet: click one in the data figure below. Until then, landmarks are random.")
        settings = settings_of(values, picks)
        with canvas.beside(values.points, follow_points):
            show_live(values, settings)
    deferred.show("path", lambda: show_path(values, settings))
    sharing.offer(
        "landmarks",
        CONTROLS,
        values,
        lambda: compute.numbers(settings, values.beta, values.C),
        {"selection": settings.selection, "n": settings.data.n},
        link_parameters(values, settings),
    )


def main() -> None:
    tour = lessons.Tour("landmarks", CONTROLS)
    mount(CONTROLS, tour, names=(PICKS,), parameters=(POINTS,))
    layout.title(
        "Drag **[[β]]**: how strongly the labels count in what a **[[landmark]]** takes for similar.",
    )
    show_rest(lambda _: presets.offer(presets.LANDMARK_PRESETS, CONTROLS, forget=(PICKS, POINTS.key)))
    tour.show_card()
    show_rest(show)


if __name__ == "__main__":
    main()
