"""Your data: an uploaded table, and the views of the other pages for it."""

import streamlit as st

from pages.data import view
from pages.data.your_data import compute, figures, upload
from pages.data.your_data.session import known, remembered
from pages.shared import deferred, escaping, layout, live, sharing
from pages.shared.controls.toy import BETA, COST, SEED, SIGMA
from pages.shared.controls.widgets import Number, Options, hide_controls, mount, without_headings
from pages.shared.figures import certificates as certificate_figures, paths
from pages.shared.live import packing
from pages.shared.server import workers
from rff_engine.studies.reports.tables import error_by_features
from rff_engine.studies.toy import landmarks as toy_landmarks
from rff_engine.studies.toy.certificates import rows_in_words

MAX_FREQUENCIES = 256
SELECTIONS = {"random": "random", "k-means": "kmeans"}
FREQUENCIES = Number("D", "Frequencies D", "Of each landmark.", 1, MAX_FREQUENCIES, 50, 1)

CONTROLS = (
    Options("sample", "Sample", None, tuple(upload.SAMPLES), next(iter(upload.SAMPLES))),
    "Learning",
    BETA,
    FREQUENCIES,
    SIGMA,
    COST,
    SEED,
    Options("how", "How landmarks are chosen", None, tuple(SELECTIONS), "k-means", True),
    Number("landmarks", "Number of landmarks", None, 1, 8, 5, 1),
)

CAPTION = (
    "The link opens these settings without your table. The code says what it needs, and recomputes the numbers; it "
    "reads your table from the file named at its top."
)
#: What is said of learned cosines against random ones.
VERDICTS = {
    "helped": "Learning helped.",
    "width": "Learning the width helped; learned weights add nothing.",
    "same": "Learning made no difference that these rows can show.",
    "hurt": "Learning did harm.",
}


def comparison_key(values, chosen) -> tuple:
    return "comparison", *chosen.key[:-1], values.seed


def show_comparison(values, chosen) -> compute.Comparison:
    """Say whether learning helped on all columns, and show the errors."""
    numbers = chosen.dataset.task != "classification"
    problem = chosen.binary if numbers else chosen.dataset
    with layout.show_errors():
        found = remembered(comparison_key(values, chosen), lambda: compute.compare(problem, values.seed))
    error = {name: layout.percent(of_splits.mean()) for name, of_splits in found.errors.items()}
    asked = f" Is {escaping.code(chosen.settings['target'])} above its median?" if numbers else ""
    useless = found.errors["learned"].mean() >= found.errors["majority"].mean()
    st.markdown(
        f"**{VERDICTS[found.verdict]}**{asked} On all {chosen.dataset.n_features} columns: **{error['learned']} error "
        f"with {compute.COSINES} learned cosines**, {error['random']} with random ones ({error['width']} if labels "
        f"choose their width), {error['svm']} by a kernel SVM; always saying one class errs on {error['majority']}."
        + (" No cosines are better than that: **these columns do not tell the classes.**" if useless else "")
    )
    layout.figure(
        figures.errors(found),
        f"**Bars are means of {compute.COMPARED_SPLITS} random halves, dots each of them: {found.n_train} rows teach, "
        f"{found.n_test} test.**",
        "Random cosines have the width of the columns' spread, and no label touches them; below, labels choose the "
        "width on rows that are held out from the training half; learned cosines are drawn from the [[posterior]] too "
        f"([[PBRFF]]). The head is a logistic regression. Random minus learned: {100 * found.gain:+.1f} ± "
        f"{100 * found.gain_error:.1f} points, one standard error; twice that counts as a difference.",
        key="comparison",
        alt="Errors on held-out rows of a constant guess, of random and learned cosines, and of a kernel SVM",
    )
    return found


def mapped(values, chosen, columns):
    """Return two coordinates of the rows, the cache key of both, and a sentence on them."""
    key = ("coordinates", *chosen.key, columns, values.seed)
    with layout.show_errors():
        where = remembered(key, lambda: compute.coordinates(chosen.binary, columns, values.seed))
    across, upwards = (escaping.code(name) for name in where.train.feature_names)
    d = chosen.dataset.n_features
    of = f"two directions of all {d} columns" if columns is None else f"2 of {d} columns"
    red, blue = (escaping.markdown(chosen.binary.label_names[side]) for side in (1, -1))
    words = (
        f"**Map: {of}.** Across: {across}; upwards: {upwards}; red: {red}; blue: {blue}. Errors here are those on the "
        "map, which sees no other column."
    )
    return where, key, words


def live_landmarks(where: compute.Coordinates, problem: toy_landmarks.LandmarkProblem, C: float) -> dict:
    """Pack a problem with the frequencies of the largest D."""
    test, extent = where.test, where.extent
    maps, prior = toy_landmarks.prior_view(problem, test.X, test.y, C, extent, packing.LIVE_CELLS)
    return packing.pack_landmarks(problem, maps, prior, test, extent, C)


def show_landmarks(values, chosen, axes):
    """Show similarity maps of the prior and of the learned weights, and the decisions of an SVM on both."""
    where, key, words = mapped(values, chosen, axes)
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
    st.markdown(words)
    live.mount("landmarks", packed, values, (BETA, FREQUENCIES))
    layout.caption_below(
        "**Drag [[β]] and [[D]]: does learning lower the test error on the map?**",
        "Each [[column|row]] is one [[landmark]], marked by a star. Green: similar to it; purple: dissimilar. "
        "Decisions are those of a linear SVM on the similarities of a [[row|column]]. "
        "Both coordinates are scaled to mean 0 and variance 1, the units of σ. "
        f"Trained on {where.train.n_samples} rows, a random half (at most {compute.ROWS}), and tested on "
        f"{where.test.n_samples} others. Points beyond a map are drawn at its edge. Of many columns "
        "it shows the two on which an SVM errs least on training rows.",
    )
    layout.figure(
        paths.landmark_errors_and_kl(values.beta, path),
        layout.lowest_error(path.betas, path.test_error, path.betas, path.bound),
        "Results for every [[β]]; dotted: yours. Below, the mean bound on the alignment loss, unless landmarks are "
        "centroids, and the mean [[KL]] divergence.",
        key="along_beta",
        alt="Train and test error on your data, a bound and mean KL divergence against beta",
    )
    return problem, path


def sweep_key(values, chosen) -> tuple:
    return "sweep", *chosen.key, values.seed


def show_sweep(values, chosen) -> None:
    """Show the error against D of features drawn from the prior and from learned distributions."""
    key = sweep_key(values, chosen)
    rows = known(key)
    if rows is None:
        if not st.button("Compute the error against D, in about half a minute", icon=":material/play_arrow:"):
            return
        bar, rows = st.progress(0.0, "Starting"), []
        workers.release_slot()
        with layout.show_errors(), workers.sweep_turn(lambda text: bar.progress(0.0, text)):
            for step in compute.sweep_steps(chosen.binary, values.seed):
                rows += step.rows
                bar.progress(min(step.done / step.total, 1.0), step.message)
        remembered(key, lambda: rows)
        st.rerun()  # without the button
    means = error_by_features(rows)
    alone = view.NOTHING | {"counts": compute.SWEEP.n_features}
    live.mount("errors", view.with_run(alone, "your table", means), values, chosen="your table")
    layout.caption_below(
        "**Compare the curves at small [[D]]: where the labels favour some frequencies, a learned distribution needs "
        "fewer.**",
        f"All columns, two classes; {compute.SPLITS} random splits, each method trained on at most "
        f"{compute.SWEEP.max_train} rows, its parameters chosen on validation rows. Thick: mean test error, 95 % "
        "interval. Thin, dotted: training error. Dashed: the RBF SVM, which has no D."
        + "".join(f" Note: {note}." for note in sorted({row["note"] for row in rows if row["note"]})),
        key="sweep",
    )


def certificate_key(values, chosen) -> tuple:
    return "certificate", *chosen.key, values.seed


def show_certificate(values, chosen) -> None:
    """Show what a classifier of your rows can promise about itself, its assumption first."""
    st.header("What can a classifier of your data promise?")
    st.markdown(
        "**It assumes that your rows are independent draws from one distribution**, and that new rows come from the "
        "same. Several rows of one person, rows in the order of time, or copies of rows break it: then the number "
        "below says nothing."
    )
    for caution in chosen.cautions:
        st.warning(escaping.markdown(caution), icon=":material/warning:")
    certified = remembered(certificate_key(values, chosen), lambda: compute.certified(chosen.binary, values.seed))
    guess = certified.majority_error
    useless = certified.risk_bound >= guess
    layout.figure(
        certificate_figures.ledger(certified),
        f"**Certified: learned cosines err on at most {layout.percent(certified.risk_bound)} of new rows"
        + (f", which says nothing: always saying one class errs on {layout.percent(guess)}.**" if useless else ".**")
        + f" They err on {layout.percent(certified.test_error)} of the {certified.n_bound} rows that count"
        + ("." if useless else f", where always saying one class errs on {layout.percent(guess)}."),
        f"Half of the rows (at most {compute.ROWS}) teach the classifier of {compute.COSINES} learned cosines, its "
        "kernel and its strength included; the others count its errors. The bound fails for at most 5 % of all samples "
        "([[ε]]). Not covered, as they look at all rows: filled values, the scaling of columns and, for numbers, the "
        "median between the two classes. *Bounds: A certificate* explains the terms."
        + (" Of each group it takes one row at random. " if chosen.dataset.groups is not None else " ")
        + rows_in_words(certified.n_errors, certified.n_bound, certified.epsilon),
        key="certificate",
        alt="Terms of the certificate of a classifier of your data, bars that add up to the certified risk",
    )


def main() -> None:
    values = mount(CONTROLS)
    hide_controls(["sample"])
    layout.title(
        "Bring a table: does **learning from labels** help, and what can a classifier promise?",
    )
    table = upload.current_table(values.sample)
    with st.container(horizontal=True, vertical_alignment="center", key="bring"):
        with st.popover("Bring a table", icon=":material/upload_file:", key=upload.BRING, on_change="rerun"):
            upload.offer_ways(table)
            upload.show_limits()
        line = st.empty()
    upload.show_error()
    if table is None:
        hide_controls([control.key for control in without_headings(CONTROLS)])
        st.stop()
    line.markdown(upload.reading(table))
    results = st.empty()
    opened = upload.doubts(table)
    with st.expander("Change how it was read", icon=":material/table:", key=f"reading {table.file}", expanded=opened):
        asked = upload.ask(table)
        axes_here = st.container(horizontal=True)
        upload.show_table(table, asked)
        below = st.container()
    try:
        chosen = upload.choose(table, asked)
        if known(comparison_key(values, chosen)) is None:
            results.markdown("Learning from these rows …")  # in place of what another table showed
        best = remembered(("axes", *chosen.key, values.seed), lambda: compute.best_columns(chosen.binary, values.seed))
    except ValueError as error:
        results.error(escaping.markdown(str(error)), icon=":material/error:")
        st.stop()
    line.markdown(upload.reading(table, asked.target, chosen.left_out))
    with axes_here:
        axes = upload.choose_axes(chosen, best)
    with below:
        upload.show_preparation(chosen)
    with results.container():
        comparison = show_comparison(values, chosen)
    problem, path = show_landmarks(values, chosen, axes)
    deferred.show("certificate", lambda: show_certificate(values, chosen))
    deferred.show("sweep", lambda: show_sweep(values, chosen))
    promised = known(certificate_key(values, chosen))
    swept = known(sweep_key(values, chosen)) or []

    def numbers():  # runs on a click, without the session
        return compute.numbers(
            comparison,
            problem,
            path,
            values.beta,
            swept,
            lambda: promised or compute.certified(chosen.binary, values.seed),
        )

    sharing.offer(
        "your_data",
        CONTROLS,
        values,
        numbers,
        chosen.settings | {"axes": axes, "selection": SELECTIONS[values.how], "sweep": bool(swept)},
        caption=CAPTION,
    )


if __name__ == "__main__":
    main()
