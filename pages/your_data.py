"""Your data: a table that a visitor hands in, and every view of this app that fits it."""

import numpy as np
import streamlit as st

from pages.components import handing_in, layout, literal
from pages.components.controls import Number, Options, mount
from pages.components.toy_controls import BETA, COST, SEED, SIGMA
from pages.components.your_data_results import (
    MOST_ROWS,
    SPLITS,
    SWEEP,
    bounds_along_beta,
    known,
    landmark_maps,
    remembered,
    sweep_means,
    sweep_steps,
    turn,
)
from rff_engine.figures import bounds as bound_figures
from rff_engine.figures import landmarks as figures
from rff_engine.figures import paths, sweeps

VIEWS = ("landmarks", "error against D", "bounds")

CONTROLS = (
    Options("view", "View", None, VIEWS, "landmarks", True),
    "Learning",
    BETA,
    Number("D", "Frequencies D", "Of each landmark; of the candidates behind the bounds.", 1, 256, 50, 1),
    SIGMA,
    COST,
    SEED,
    "Landmarks",
    Options("how", "How they are chosen", None, ("random", "k-means"), "k-means", True),
    Number("landmarks", "Number of landmarks", None, 1, 8, 5, 1),
)


def show_landmarks(chosen) -> None:
    """Prior against learned maps, and what an SVM decides with either."""
    columns = handing_in.choose_coordinates(chosen)
    method = {"random": "random", "k-means": "kmeans"}[values.how]
    key = ("maps", *chosen.key, columns, method, values.beta, values.D, values.sigma, values.C, values.seed)
    with layout.problems_explained():
        made = remembered((*key, values.landmarks), lambda: landmark_maps(chosen.binary, columns, values, method))
    problem, view, train = made.problem, made.view, made.train
    across, upwards = (literal.code(name) for name in train.feature_names)
    layout.figure(
        figures.similarity_mosaic(
            made.extent,
            np.stack([view.prior_maps, view.learned_maps]),
            problem.landmarks,
            train.X,
            train.y,
            row_names=("prior", "learned"),
        ),
        f"Each column is one landmark, the star. Green: similar to it; purple: dissimilar. Across: {across}; upwards: "
        f"{upwards}; both of mean 0 and variance 1, which σ refers to. Points beyond the map stand at its edge.",
        key="maps",
        alt="Similarity maps of each landmark on your data, for the prior and for the learned weights",
    )
    left, right = st.columns([2, 4])
    with left:
        points = figures.points_and_landmarks(train.X, train.y, problem.landmarks, problem.indices, made.extent)
        points.update_xaxes(title=literal.plotly(train.feature_names[0]))
        points.update_yaxes(title=literal.plotly(train.feature_names[1]))
        layout.figure(
            points,
            f"The {train.n_samples} training rows, a random half of yours (at most {MOST_ROWS}), and the landmarks.",
            key="points",
            alt="Training rows of your data in two coordinates, with the landmarks as numbered stars",
        )
    with right:
        layout.figure(
            figures.decision_maps(
                made.extent,
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
            f"A linear SVM on the {len(problem.labels)} similarities of each row, in these two coordinates alone; test "
            f"errors on the {made.n_test} rows held back. Compare the two: does learning pay on your data?",
            key="decisions",
            alt="Decision maps of a linear SVM on prior and learned similarities of your data, with their errors",
        )
    errors = {"test error": made.path.test_error, "train error": made.path.train_error}
    layout.figure(
        paths.errors_and_kl(
            values.beta,
            {name: paths.ErrorPath(made.path.betas, error) for name, error in errors.items()},
            made.path.betas,
            made.path.kl,
            "mean KL(Q‖P) over the landmarks",
        ),
        "What every β comes to; dotted: yours. Look for the β at which the test error is lowest.",
        key="along_beta",
        alt="Train and test error on your data and mean KL divergence against beta",
    )


def show_sweep(chosen) -> None:
    """Error against D of features that are drawn from the prior, or from what the labels say."""
    key = ("sweep", *chosen.key, values.seed)
    st.markdown(
        f"All {chosen.dataset.n_features} columns; {SPLITS} random splits, each method trained on at most "
        f"{SWEEP.max_train} rows, its parameters chosen on validation rows: some seconds."
    )
    rows = known(key)
    if rows is None:
        if not st.button("Run", type="primary", icon=":material/play_arrow:"):
            st.info("Press Run: the figure fills in while the run goes on.", icon=":material/play_arrow:")
            return
        bar, place, rows = st.progress(0.0, "Starting"), st.empty(), []
        with layout.problems_explained(), turn(lambda text: bar.progress(0.0, text)):
            for step in sweep_steps(chosen.binary, values.seed):
                rows += step.rows
                bar.progress(min(step.done / step.total, 1.0), step.message)
        bar.empty()
        place.empty()
        remembered(key, lambda: rows)
    means = sweep_means(rows)
    layout.figure(
        sweeps.error_against_features(means, SWEEP.n_features),
        "Compare the curves at small D: a learned distribution spends few frequencies better than the prior, where the "
        "labels say something about frequencies. Thick: mean test error, 95 % interval. Thin, dotted: training error. "
        "Dashed: the RBF SVM, which has no D."
        + "".join(f" Note: {note}." for note in sorted({row["note"] for row in rows if row["note"]})),
        key="sweep",
        alt="Error of each method on your data against the number of features",
    )
    with st.expander("The means as a table", icon=":material/table:"):
        st.dataframe(means, hide_index=True)


def show_bounds(chosen) -> None:
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
{"landmarks": show_landmarks, "error against D": show_sweep, "bounds": show_bounds}[values.view](chosen)
