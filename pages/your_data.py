"""Your data: a table that a visitor hands in, and every view of this app that fits it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from pages.components import handing_in, layout, literal, live, sharing, turns
from pages.components.controls import Number, Options, Scale, mount, powers
from pages.components.sharing.recipes import your_data as recipe
from pages.components.toy_controls import BETA, COST, PLAIN, SEED, SIGMA
from pages.components.your_data_results import (
    bounds_along_beta,
    coordinates,
    kernel_maps,
    kernel_plane,
    known,
    landmark_path,
    landmark_problem,
    landmark_view,
    live_kernel,
    live_landmarks,
    remembered,
    sweep_means,
    sweep_steps,
    turn,
)
from rff_engine.experiments import toy_learning
from rff_engine.figures import bounds as bound_figures
from rff_engine.figures import kernels, paths, spectra, sweeps
from rff_engine.figures import landmarks as figures

LANDMARKS, KERNEL, SWEEP_VIEW, BOUNDS = VIEWS = "landmarks", "kernel learning", "error against D", "bounds"
MOST_FREQUENCIES = 256
SELECTIONS = {"random": "random", "k-means": "kmeans"}

INVERSE_TEMPERATURE = replace(BETA, only_if=("view", (LANDMARKS, KERNEL, BOUNDS)))
FREQUENCIES = Number(
    "D",
    "Frequencies D",
    "Of each landmark; of the candidates behind the bounds.",
    *(1, MOST_FREQUENCIES, 50, 1),
    only_if=("view", (LANDMARKS, BOUNDS)),
)
RADIUS = Scale(
    "rho",
    "Radius of OKRFF, ρ/N",
    "How far from the prior the optimized kernel may go.",
    powers(-4, 0, 5),
    0.01,
    only_if=("view", (KERNEL,)),
)

CONTROLS = (
    Options("view", "View", None, VIEWS, LANDMARKS),
    "Learning",
    INVERSE_TEMPERATURE,
    FREQUENCIES,
    RADIUS,
    replace(SIGMA, only_if=("view", (LANDMARKS, KERNEL, BOUNDS))),
    replace(COST, only_if=("view", (LANDMARKS,))),
    SEED,
    Options(
        "how", "How landmarks are chosen", None, tuple(SELECTIONS), "k-means", True, only_if=("view", (LANDMARKS,))
    ),
    Number("landmarks", "Number of landmarks", None, 1, 8, 5, 1, only_if=("view", (LANDMARKS,))),
    PLAIN,
)


def mapped(chosen):
    """Two coordinates of the rows, which columns they are, and what they are known by."""
    columns = handing_in.choose_coordinates(chosen)
    key = ("coordinates", *chosen.key, columns, values.seed)
    with layout.problems_explained():
        where = remembered(key, lambda: coordinates(chosen.binary, columns, values.seed))
    across, upwards = (literal.code(name) for name in where.train.feature_names)
    st.caption(
        f"Across: {across}; upwards: {upwards}; both of mean 0 and variance 1, which σ refers to. Points beyond a map "
        f"stand at its edge. Learned from {where.train.n_samples} rows, a random half of yours (at most "
        f"{recipe.ROWS}); errors are measured on {where.test.n_samples} others."
    )
    return where, columns, key


def show_landmarks(chosen):
    """Prior against learned maps, and what an SVM decides with either."""
    where, axes, key = mapped(chosen)
    method = SELECTIONS[values.how]
    key = (*key, method, values.sigma, values.landmarks)
    # Frequencies are drawn one after the other: the live view takes the first of the most.
    with layout.problems_explained():
        drawn = remembered(("live problem", *key), lambda: landmark_problem(where, values, MOST_FREQUENCIES, method))
        problem = remembered(("problem", *key, values.D), lambda: landmark_problem(where, values, values.D, method))
        path = remembered(("path", *key, values.D, values.C), lambda: landmark_path(where, problem, values))
    if values.plain:
        show_plain_landmarks(where, problem, (*key, values.D))
    else:
        packed = remembered(("live", *key, values.C), lambda: live_landmarks(where, drawn, values))
        live.mount("landmarks", packed, values, (INVERSE_TEMPERATURE, FREQUENCIES))
        st.caption(
            "Drag β and D, or press play. Each column is one landmark, the star. Green: similar to it; purple: "
            "dissimilar. Decisions are a linear SVM on the similarities of a row, in these two coordinates alone: does "
            "learning pay on your data?"
        )
    errors = {"test error": path.test_error, "train error": path.train_error}
    layout.figure(
        paths.errors_and_kl(
            values.beta,
            {name: paths.ErrorPath(path.betas, error) for name, error in errors.items()},
            path.betas,
            path.kl,
            "mean KL(Q‖P) over the landmarks",
        ),
        "What every β comes to; dotted: yours. Look for the β at which the test error is lowest.",
        key="along_beta",
        alt="Train and test error on your data and mean KL divergence against beta",
    )
    return lambda: recipe.landmark_numbers(problem, path, values.beta), axes


def show_plain_landmarks(where, problem, key) -> None:
    """The live pictures as Plotly figures."""
    with layout.problems_explained():
        view = remembered(("view", *key, values.beta, values.C), lambda: landmark_view(where, problem, values))
    train = where.train
    layout.figure(
        figures.similarity_mosaic(
            where.extent,
            np.stack([view.prior_maps, view.learned_maps]),
            problem.landmarks,
            train.X,
            train.y,
            row_names=("prior", "learned"),
        ),
        "Each column is one landmark, the star. Green: similar to it; purple: dissimilar; white: neither.",
        key="maps",
        alt="Similarity maps of each landmark on your data, for the prior and for the learned weights",
    )
    left, right = st.columns([2, 4])
    with left:
        points = figures.points_and_landmarks(train.X, train.y, problem.landmarks, problem.indices, where.extent)
        points.update_xaxes(title=literal.plotly(train.feature_names[0]))
        points.update_yaxes(title=literal.plotly(train.feature_names[1]))
        layout.figure(
            points,
            "The training rows and the landmarks.",
            key="points",
            alt="Training rows of your data in two coordinates, with the landmarks as numbered stars",
        )
    with right:
        layout.figure(
            figures.decision_maps(
                where.extent,
                np.stack([view.prior.values, view.learned.values]),
                problem.landmarks,
                train.X,
                train.y,
                titles=[
                    f"<b>{name}</b>: train error {layout.percent(one.train_error)}, "
                    f"test error {layout.percent(one.test_error)}"
                    for name, one in (("prior", view.prior), ("learned", view.learned))
                ],
            ),
            f"A linear SVM on the {len(problem.labels)} similarities of each row, in these two coordinates alone. "
            "Compare the two: does learning pay on your data?",
            key="decisions",
            alt="Decision maps of a linear SVM on prior and learned similarities of your data, with their errors",
        )


def show_kernel(chosen):
    """Which frequencies of the plane agree with the labels, and the kernels that come of it."""
    where, axes, key = mapped(chosen)
    key = (*key, values.sigma)
    with layout.problems_explained():
        made = remembered(("plane", *key), lambda: kernel_plane(where, values))
    if not values.plain:
        packed = remembered(("live kernel", *key), lambda: live_kernel(where, made, values, RADIUS.values))
        live.mount("kernel", packed, values, (INVERSE_TEMPERATURE, RADIUS))
    else:
        posterior = toy_learning.plane_posterior(made.plane, values.beta)
        layout.figure(
            spectra.frequency_planes(made.frequency_extent, made.plane.prior, made.plane.loss, posterior),
            "Bright is where cosines are wanted.",
            key="spectrum",
            alt="Prior density, alignment loss of your data and pseudo-posterior density over the frequency plane",
        )
        layout.figure(
            kernels.kernel_maps(
                remembered(("kernels", *key, values.beta, values.rho), lambda: kernel_maps(made, values)),
                made.delta_extent,
            ),
            "How similar two rows are whose difference is δ: green alike, purple unlike, white neither.",
            key="kernels",
            alt="The prior kernel and the kernels learned from your data over the plane of differences",
        )
    st.caption(
        "What the prior believes, what your labels say of every frequency (bright is low loss), and the two together; "
        f"{recipe.CANDIDATES} candidates weighed by PBRFF and OKRFF; and how similar two rows are whose difference "
        "is δ."
    )
    return lambda: recipe.kernel_numbers(made.drawn, values.beta, values.rho), axes


def show_sweep(chosen):
    """Error against D of features that are drawn from the prior, or from what the labels say."""
    key = ("sweep", *chosen.key, values.seed)
    st.markdown(
        f"All {chosen.dataset.n_features} columns; {recipe.SPLITS} random splits, each method trained on at most "
        f"{recipe.SWEEP.max_train} rows, its parameters chosen on validation rows: some seconds."
    )
    rows = known(key)
    if rows is None:
        if not st.button("Run", type="primary", icon=":material/play_arrow:"):
            return pd.DataFrame, None
        bar, rows = st.progress(0.0, "Starting"), []
        with layout.problems_explained(), turns.aside(), turn(lambda text: bar.progress(0.0, text)):
            for step in sweep_steps(chosen.binary, values.seed):
                rows += step.rows
                bar.progress(min(step.done / step.total, 1.0), step.message)
        remembered(key, lambda: rows)
        st.rerun()  # the button has done its duty
    means = sweep_means(rows)
    layout.figure(
        sweeps.error_against_features(means, recipe.SWEEP.n_features),
        "Compare the curves at small D: a learned distribution spends few frequencies better than the prior, where the "
        "labels say something about frequencies. Thick: mean test error, 95 % interval. Thin, dotted: training error. "
        "Dashed: the RBF SVM, which has no D."
        + "".join(f" Note: {note}." for note in sorted({row["note"] for row in rows if row["note"]})),
        key="sweep",
        alt="Error of each method on your data against the number of features",
    )
    with st.expander("The means as a table", icon=":material/table:"):
        st.dataframe(means, hide_index=True)
    return lambda: means, None


def show_bounds(chosen):
    """What the sample promises, and what the rows held back say."""
    key = ("bounds", *chosen.key, values.D, values.sigma, values.seed)
    with layout.problems_explained():
        made = remembered(key, lambda: bounds_along_beta(chosen.binary, values))
    layout.figure(
        bound_figures.bounds_along_beta(made.curves, values.beta),
        f"Diamonds: the smallest value of each bound, from n = {made.n} of your rows at ε = 0.05, in the corrected "
        f"form. The dashed line is no truth but an estimate of it, on the {made.n_fresh} rows held back. All "
        f"{chosen.dataset.n_features} columns; the kernel's width is σ √(d/2) = {made.width:.3g}. Dotted: your β. The "
        "promise holds for a β fixed beforehand.",
        key="curves",
        alt="Bounds on the alignment loss of your data against beta, for one landmark and for the whole kernel",
    )
    return lambda: recipe.bound_numbers(made.curves), None


values = mount(CONTROLS)
layout.title(
    "What does the kernel learn from your data?",
    "Hand in a table, say which column is to be predicted, and see on it what the other pages show on toys: landmarks, "
    "the error that D frequencies leave, and bounds.",
)
handing_in.say_limits()
handed = handing_in.hand_in()
if handed is None:
    st.stop()
st.header("What was understood")
handing_in.show_table(handed)
st.header("What is to be learned")
try:
    chosen = handing_in.choose(handed)
except ValueError as error:
    st.error(literal.markdown(str(error)), icon=":material/error:")
    st.stop()
handing_in.show_problem(chosen)
st.header(f"What is learned: {values.view}")
show = {LANDMARKS: show_landmarks, KERNEL: show_kernel, SWEEP_VIEW: show_sweep, BOUNDS: show_bounds}
numbers, axes = show[values.view](chosen)
sharing.offer(
    "your_data",
    CONTROLS,
    values,
    numbers,
    chosen.settings | {"axes": axes, "selection": SELECTIONS[values.how]},
    caption="The link opens these settings without your table: whoever follows it hands in a table of their own. The "
    "code reads yours from the file that it names at its top, and prints the numbers anew, from the repository's root.",
)
