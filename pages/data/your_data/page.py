"""Your data: an uploaded table, and the views of the other pages for it."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.data.your_data import compute, upload
from pages.data.your_data.session import known, remembered
from pages.data.your_data.table_choices import TABLE_CHOICES
from pages.shared import deferred, escaping, layout, live, sharing
from pages.shared.controls.toy import BETA, COST, SEED, SIGMA
from pages.shared.controls.widgets import Number, Options, hide_controls, mount, without_headings
from pages.shared.figures import certificates as certificate_figures, paths, sweeps
from pages.shared.live import packing
from pages.shared.server import workers
from rff_engine.studies.reports.tables import error_by_features
from rff_engine.studies.toy import landmarks as toy_landmarks
from rff_engine.studies.toy.certificates import rows_in_words

LANDMARKS, SWEEP_VIEW = VIEWS = "landmarks", "error against D"
MAX_FREQUENCIES = 256
SELECTIONS = {"random": "random", "k-means": "kmeans"}

OF_LANDMARKS = {"only_if": ("view", (LANDMARKS,))}
INVERSE_TEMPERATURE = replace(BETA, **OF_LANDMARKS)
FREQUENCIES = Number(
    "D",
    "Frequencies D",
    "Of each landmark.",
    *(1, MAX_FREQUENCIES, 50, 1),
    **OF_LANDMARKS,
)

CONTROLS = (
    Options("view", "View", None, VIEWS, LANDMARKS),
    "Learning",
    INVERSE_TEMPERATURE,
    FREQUENCIES,
    replace(SIGMA, **OF_LANDMARKS),
    replace(COST, **OF_LANDMARKS),
    SEED,
    Options("how", "How landmarks are chosen", None, tuple(SELECTIONS), "k-means", True, **OF_LANDMARKS),
    Number("landmarks", "Number of landmarks", None, 1, 8, 5, 1, **OF_LANDMARKS),
)


#: Words on the smaller bound of `CertifiedClassifier`, by its arm.
ARMS = {"test set": "counting errors on them", "posterior": "the terms of a vote that learns from them too"}

RUN = "The code says what it needs, and recomputes the numbers; it reads"
CAPTION = (
    "The link opens these settings without your table; the first table uploaded there is read as yours is here. It "
    f"tells positions of columns, not their names. {RUN} your table from the file named at its top."
)
CAPTION_OF_SAMPLE = (
    f"The link opens this sample with these settings. {RUN} the file of the sample, which is saved above."
)


def mapped(values, chosen):
    """Return two coordinates of the rows, their columns, the cache key of both, and a sentence on them."""
    columns = upload.choose_coordinates(chosen)
    key = ("coordinates", *chosen.key, columns, values.seed)
    with layout.show_errors():
        where = remembered(key, lambda: compute.coordinates(chosen.binary, columns, values.seed))
    across, upwards = (escaping.code(name) for name in where.train.feature_names)
    words = (
        f"Across: {across}; upwards: {upwards}; both scaled to mean 0 and variance 1, the units of σ. Trained on "
        f"{where.train.n_samples} rows, a random half of yours (at most {compute.ROWS}), and tested on "
        f"{where.test.n_samples} others. Points beyond a map are drawn at its edge."
    )
    return where, columns, key, words


def live_landmarks(where: compute.Coordinates, problem: toy_landmarks.LandmarkProblem, C: float) -> dict:
    """Pack a problem with the frequencies of the largest D."""
    test, extent = where.test, where.extent
    maps, prior = toy_landmarks.prior_view(problem, test.X, test.y, C, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, maps, prior, test, extent, C)


def show_landmarks(values, chosen):
    """Show similarity maps of the prior and of the learned weights, and the decisions of an SVM on both."""
    where, axes, key, words = mapped(values, chosen)
    method = SELECTIONS[values.how]
    key = (*key, method, values.sigma, values.landmarks)

    def problem_of(D: int):
        made = compute.landmark_problem
        return remembered(
            ("problem", *key, D), lambda: made(where, values.sigma, values.landmarks, D, method, values.seed)
        )

    # Frequencies are drawn in sequence, so the live view can take the first D of the maximum.
    with layout.show_errors():
        largest = problem_of(MAX_FREQUENCIES)
        problem = problem_of(values.D)
        path = remembered(("path", *key, values.D, values.C), lambda: compute.landmark_path(where, problem, values.C))
    packed = remembered(("live", *key, values.C), lambda: live_landmarks(where, largest, values.C))
    live.mount("landmarks", packed, values, (INVERSE_TEMPERATURE, FREQUENCIES))
    layout.caption_below(
        "**Drag [[β]] and [[D]]: does learning lower the test error on your data?**",
        "Each [[column|row]] is one [[landmark]], marked by a star. Green: similar to it; purple: dissimilar. "
        "Decisions are those of a linear SVM on the similarities of a [[row|column]], in these two coordinates.",
    )
    st.caption(words)
    layout.figure(
        paths.landmark_errors_and_kl(values.beta, path),
        layout.lowest_error(path.betas, path.test_error, path.betas, path.bound),
        "Results for every [[β]]; dotted: yours. Below, the mean bound on the alignment loss, unless landmarks are "
        "centroids, and the mean [[KL]] divergence.",
        key="along_beta",
        alt="Train and test error on your data, a bound and mean KL divergence against beta",
    )
    return lambda: compute.landmark_numbers(problem, path, values.beta), axes


def show_sweep(values, chosen):
    """Show the error against D of features drawn from the prior and from learned distributions."""
    key = ("sweep", *chosen.key, values.seed)
    st.markdown(
        f"All {chosen.dataset.n_features} columns; {compute.SPLITS} random splits, each method trained on at most "
        f"{compute.SWEEP.max_train} rows, its parameters chosen on validation rows. It takes some seconds."
    )
    rows = known(key)
    if rows is None:
        if not st.button("Run", type="primary", icon=":material/play_arrow:"):
            return pd.DataFrame, None
        bar, rows = st.progress(0.0, "Starting"), []
        workers.release_slot()
        with layout.show_errors(), workers.sweep_turn(lambda text: bar.progress(0.0, text)):
            for step in compute.sweep_steps(chosen.binary, values.seed):
                rows += step.rows
                bar.progress(min(step.done / step.total, 1.0), step.message)
        remembered(key, lambda: rows)
        st.rerun()  # without the button
    means = error_by_features(rows)
    layout.figure(
        sweeps.error_against_features(means, compute.SWEEP.n_features),
        "**Compare the curves at small [[D]]: where the labels favour some frequencies, a learned distribution needs "
        "fewer.**",
        "Thick: mean test error, 95 % interval. Thin, dotted: training error. Dashed: the RBF "
        "SVM, which has no D."
        + "".join(f" Note: {note}." for note in sorted({row["note"] for row in rows if row["note"]})),
        key="sweep",
        alt="Error of each method on your data against the number of features",
    )
    with st.expander("The means as a table", icon=":material/table:"):
        layout.table(means)
    return lambda: means, None


def certificate_key(values, chosen) -> tuple:
    return "certificate", *chosen.key, values.seed


def show_certificate(values, chosen) -> None:
    """Show what a classifier of your rows can promise about itself, its assumption first."""
    st.subheader("What can a classifier of your data promise?")
    st.markdown(
        "**It assumes that your rows are independent draws from one distribution**, and that new rows come from the "
        "same. Several rows of one person, rows in the order of time, or copies of rows break it: then the number "
        "below says nothing."
    )
    for caution in chosen.cautions:
        st.warning(escaping.markdown(caution), icon=":material/warning:")
    certified = remembered(certificate_key(values, chosen), lambda: compute.certified(chosen.binary, values.seed))
    layout.figure(
        certificate_figures.ledger(certified),
        f"**Certified: this vote errs on at most {layout.percent(certified.risk_bound)} of new rows.** On held-out "
        f"rows it errs on {layout.percent(certified.test_error)}.",
        f"A vote on {compute.CERTIFIED_FREQUENCIES} [[frequencies]] of the [[prior]], from all "
        f"{chosen.dataset.n_features} columns. Half of its rows choose the kernel's width and the weights; the other "
        f"{certified.n_bound} rows bound the error, which fails for at most 5 % of all samples ([[ε]]), by "
        f"{ARMS[certified.arm]}. Always saying the class that is most frequent in the first half errs on "
        f"{layout.percent(certified.majority_error)} of them. Dashed: what counting errors gives at the whole ε. Not "
        "covered, as they look at all rows: filled values, the scaling of columns and, for numbers, the median between "
        "the two classes. *Bounds: A certificate* explains the terms."
        + (" Of each group it takes one row at random. " if chosen.dataset.groups is not None else " ")
        + rows_in_words(certified.n_errors, certified.n_bound, certified.epsilon),
        key="certificate",
        alt="Terms of the certificate of a classifier of your data, bars that add up to the certified risk",
    )


def main() -> None:
    values = mount(CONTROLS, parameters=(TABLE_CHOICES,), first=("view",))
    layout.title(
        "Upload a table, choose the column to predict, and see what is learned from your data: similarities to "
        "[[landmarks]], the error of D [[frequencies]], and what a classifier can promise.",
    )
    table = upload.current_table()
    with st.expander("Your table", icon=":material/upload_file:", expanded=table is None or bool(table.sample)):
        upload.offer_ways(table)
        upload.show_limits()
    upload.show_error()
    if table is None:
        hide_controls([control.key for control in without_headings(CONTROLS)])
        upload.forget_in_link()
        st.stop()
    line = st.empty()
    line.markdown(upload.reading(table))
    opened = upload.doubts(table)
    read = st.expander("Change how it was read", icon=":material/table:", key=f"reading {table.file}", expanded=opened)
    with read:
        asked = upload.ask(table)
        upload.show_table(table, asked)
    try:
        chosen = upload.choose(table, asked)
    except ValueError as error:
        st.error(escaping.markdown(str(error)), icon=":material/error:")
        st.stop()
    line.markdown(upload.reading(table, chosen.left_out))
    with read:
        upload.show_preparation(chosen)
    st.header(f"Results: {values.view}")
    upload.show_problem(chosen)
    show = {LANDMARKS: show_landmarks, SWEEP_VIEW: show_sweep}
    numbers, axes = show[values.view](values, chosen)
    deferred.show("certificate", lambda: show_certificate(values, chosen))
    shown = known(certificate_key(values, chosen))

    def certify():  # runs on a click, without the session
        return shown or compute.certified(chosen.binary, values.seed)

    sharing.offer(
        "your_data",
        CONTROLS,
        values,
        lambda: compute.with_certificate(numbers(), values.view, certify),
        chosen.settings | {"axes": axes, "selection": SELECTIONS[values.how]},
        upload.keep_in_link(table, chosen, axes),
        CAPTION_OF_SAMPLE if table.sample else CAPTION,
    )


if __name__ == "__main__":
    main()
