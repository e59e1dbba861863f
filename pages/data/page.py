"""Real data: test error against the number of features or of landmarks (Figures 2, 3, 5, 6), at once where known."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

import datasets
from pages.data import compute, figures, view
from pages.data.compute import VALIDATED
from pages.shared import deferred, layout, lessons, live, sharing
from pages.shared.controls.widgets import Number, Options, Scale, Several, Switch, hide_controls, mount, show_rest
from pages.shared.server import visits
from pages.shared.server.cache import cache_results
from pages.shared.server.limits import visitor
from pages.shared.server.runs import Run, RunSettings, run_queue
from rff_engine.studies.reports import tables as report

cache_results(compute, "shipped_rows", "shipped_table", "memory")
cache_results(view, "live_errors", "shipped_curves")

TWO_CLASSES = tuple(name for name in datasets.names() if len(datasets.describe(name).label_names) == 2)
STUDIES = {"features D": "features", "landmarks": "landmarks"}
METHODS = {
    "features D": {"SVM": "svm", "RFF": "rff", "PBRFF": "pbrff", "OKRFF": "okrff"},
    "landmarks": {"SVM": "svm", "RBF landmarks": "rbf_landmarks", "PB landmarks": "pb_landmarks"},
}

FREQUENCIES = Scale("D", "Frequencies D", None, compute.COUNTS, 5)
CONTROLS = (
    Options("dataset", "Data set", "Data sets with two classes.", TWO_CLASSES, "breast"),
    FREQUENCIES,
    Options(
        "beta",
        "β of PBRFF",
        "Chosen on validation rows, or the same on every split.",
        (VALIDATED, "0.01", "0.1", "1", "10", "100"),
        VALIDATED,
    ),
    Switch("shuffled", "Shuffle the labels", "Of the last figure, on breast.", False),
    Options("study", "Test error against", None, tuple(STUDIES), "features D", True),
    "What a run computes",
    Options(
        "preset",
        "Grid",
        "quick: seconds for breast, a minute for large sets; splits: a coarser grid of the paper's size, for many "
        "random splits; paper: the whole grid, minutes to hours.",
        ("quick", "splits", "paper"),
        "splits",
        True,
    ),
    Options(
        "split",
        "Split",
        "published: exactly that of the paper; random: drawn from the seed.",
        ("published", "random"),
        "random",
        True,
    ),
    Options(
        "scaling",
        "Columns",
        "none: unscaled, as in the paper; standard: mean 0 and variance 1 on the training rows. Columns need not lie "
        "in [0, 1], but one of large numbers determines every distance.",
        ("none", "standard"),
        "none",
        True,
    ),
    Number(
        "repeats", "Repeats", "Runs with consecutive seeds; the band is a 95 % interval of their mean.", 1, 20, 10, 1
    ),
    Number("seed", "First seed", "Of all frequencies and of the random split.", 0, 99, 0, 1),
    *(
        # Each study has its own key: the methods in a link belong to one of them.
        Several(key, "Methods", None, tuple(METHODS[study]), tuple(METHODS[study]), only_if=("study", (study,)))
        for key, study in (("methods", "features D"), ("similarities", "landmarks"))
    ),
)


def known_rows(settings: RunSettings) -> list[dict]:
    """Return the rows that ship if these are their settings."""
    if (settings.preset, settings.split_name, settings.scaling, settings.seed) != ("splits", "random", "none", 0):
        return []
    rows = compute.shipped_rows(settings.study, settings.dataset)
    return compute.chosen(rows, settings.methods, settings.repeats)


def show_progress(run: Run) -> None:
    if run.state == "waiting":
        ahead = run_queue().ahead_of(run)
        st.progress(0.0, f"Waiting: {ahead} run{'s' if ahead != 1 else ''} ahead of this one.")
    elif run.state == "running":
        st.progress(run.fraction, f"{100 * run.fraction:.0f} %, {run.time_left}")
    elif run.state == "failed":
        st.error(run.message, icon=":material/error:")
    elif run.state in ("cancelled", "stopped"):
        known = f"{100 * run.fraction:.0f} % of the results are known from earlier runs"
        how = cancelled(run) if run.state == "cancelled" else known
        st.warning(f"{how}; the results so far are shown. Resume continues from there.", icon=":material/pause_circle:")


def cancelled(run: Run) -> str:
    """Say when and by whom a run was cancelled."""
    when = "before it started" if run.started is None else f"at {100 * run.fraction:.0f} %, after {run.seconds:.0f} s"
    if run.cancelled_by == visits.current_visitor():
        return f"You cancelled it {when}"
    others = {None: "when the server ended", run.owner: "by the visitor who started it"}
    return f"Cancelled {when}, {others.get(run.cancelled_by, 'by another visitor, after the first one had left')}"


FEATURES = (
    "Thick: mean test error over random splits (5 of adult and farm, 10 of the others), 95 % interval. Thin, dotted: "
    "training error. RFF draws frequencies from the [[prior]], [[PBRFF]] from the [[posterior]], [[OKRFF]] from an "
    "optimized kernel; widths, β, ρ and C are chosen on validation rows. Of ads and farm only results may be shown, "
    "not the rows."
    + layout.equation(
        "features drawn from a learned distribution",
        r"\phi(x) = \tfrac{1}{\sqrt D}\big(\cos\omega_1\!\cdot\! x,\dots,\cos\omega_D\!\cdot\! x,\,"
        r"\sin\omega_1\!\cdot\! x,\dots,\sin\omega_D\!\cdot\! x\big),\quad \omega_j \sim Q",
        "RFF draws the $D$ frequencies from the kernel's own distribution; PBRFF from the pseudo-posterior "
        "$Q_m \\propto e^{-\\beta\\sqrt n\\,\\widehat L_S(h_m)}$; OKRFF from the distribution that maximises "
        "the alignment within a $\\chi^2$-ball of radius $\\rho$ around the prior (Letarte, Morvant and "
        "Germain, 2019, Section 6.2).",
    )
)
LANDMARKS_ASK = "**Do similarities to landmarks err less when they are learned?**"
LANDMARKS = (
    "[[Prior]] similarities depend on distance alone. Solid: k-means centroids; dotted: random [[landmarks]]. "
    "Thick: mean test error with a 95 % interval; thin: training error. The dashed line is the kernel SVM."
)


class RunStatus(NamedTuple):
    """State of a run, as far as its buttons depend on it."""

    active: bool = False
    finished: bool = False
    may_cancel: bool = False
    has_rows: bool = False


def status(run: Run | None) -> RunStatus:
    """Return the current status of a run for this visitor."""
    if run is None:
        return RunStatus()
    may_cancel = run.active and run.may_cancel(visits.current_visitor())
    return RunStatus(run.active, run.state == "finished", may_cancel, bool(run.rows))


def show_errors(values, settings: RunSettings, rows: Sequence[dict] = (), n_test: int = 0) -> None:
    """Show what is known of all sets, and the rows of a run; a click on a small panel enlarges its set."""
    known = view.live_errors(settings.study, settings.methods, values.beta)
    shown = compute.chosen(rows, settings.methods, settings.repeats, values.beta)
    packed = view.with_run(known, settings.dataset, compute.means(settings.study, shown)) if shown else known
    if not packed["sets"] and packed["run"] is None:
        return
    sliders = (FREQUENCIES,) if settings.study == "features" else ()
    live.mount("errors", packed, values, sliders, enlarge, chosen=settings.dataset)
    notes = sorted({row["note"] for row in rows if row["note"]})
    details = f"One of the {n_test} test points is {100 / n_test:.2f} %. " if n_test else ""
    details += f"Note: {'; '.join(notes)}. " if notes else ""
    if settings.study == "features":
        seen = "**Click a data set to enlarge it; drag the curves to move D.**"
        details += FEATURES
    else:
        seen = "**Click a data set to enlarge it.**"
        details += LANDMARKS
    info = datasets.describe(settings.dataset)
    about = f"**{info.title}**: {info.n_samples} rows, {info.n_features} columns. {info.description} {info.source}."
    layout.caption_below(seen, f"{details}\n\n{about}")


def enlarge(name: object) -> None:
    """Take the data set that was clicked in the live view; ignore anything but a name of one that is known."""
    if name in compute.DATASETS:
        st.session_state["dataset"] = name


def show_memory(values) -> None:
    """Show what a classifier of random cosines learns by heart, and what it can promise."""
    st.header("Can a training error be trusted?")
    found = compute.memory(values.D, values.shuffled)
    error = {name: layout.percent(risk) for name, risk in vars(found).items()}
    labels = "shuffled, so that nothing can be predicted" if values.shuffled else "as they are"
    layout.figure(
        figures.memory(found),
        f"A plainer experiment, one split and one draw, always on breast, labels {labels}: **{values.D} random cosines "
        f"err {error['train']} on the rows that teach, {error['test']} on others; certified: {error['certified']}.**",
        "Nothing is tuned on validation rows, as the SVMs above are: half of the rows teach a logistic regression on D "
        "random cosines and sines, columns scaled; the others test it. *More settings* shuffles the labels: with "
        "enough cosines the training error is 0 all the same, learned by heart. The certificate counts errors on half "
        "of the first half, which did not teach, so it is not fooled ([[certificate]], [[ε]] = 5 %).",
        key="memory",
        alt="Training error, test error and certified risk of a classifier of random cosines on breast",
    )


def run_settings(values) -> RunSettings:
    """Return the settings of a run, from the controls."""
    chosen = values.methods if values.study == "features D" else values.similarities
    methods = tuple(METHODS[values.study][name] for name in chosen)
    return RunSettings(
        STUDIES[values.study],
        values.dataset,
        values.preset,
        values.split,
        values.seed,
        values.repeats,
        methods,
        values.scaling,
    )


def check_data(settings: RunSettings) -> None:
    """Raise a ValueError if the data set or its published split is not available."""
    if datasets.status(settings.dataset) == "to fetch":
        raise ValueError(
            f"{settings.dataset} is not on this server; its administrator can fetch it with `python -m datasets fetch "
            f"{settings.dataset}`. Available are {', '.join(_here())}."
        )
    if settings.split_name == "published" and settings.dataset not in datasets.published_names():
        published = [name for name in _here() if name in datasets.published_names()]
        raise ValueError(
            f"The paper has no split of {settings.dataset}: choose the random split, or one of {', '.join(published)}."
        )


def _here() -> list[str]:
    """Return the names of the sets with two classes on this server."""
    return [name for name in TWO_CLASSES if name in datasets.available()]


def find_run(settings: RunSettings) -> Run | None:
    """Return the run of these settings, if there is one."""
    if not run_queue().persistent:
        st.warning(
            "Results are kept only until this server ends: its store of results cannot be opened. The server's log has "
            "the reason.",
            icon=":material/database_off:",
        )
    return run_queue().find(settings)


def time_of(settings: RunSettings) -> str:
    """Say how long a run takes, if its data set's rows are known."""
    seconds = compute.seconds(settings.study, settings.dataset, settings.protocol().settings(), settings.repeats)
    if seconds is None:
        return "How long a run takes is not known"
    return f"A run takes about {f'{max(seconds, 1):.0f} s' if seconds < 100 else f'{seconds / 60:.0f} min'}"


def show_buttons(settings: RunSettings, run: Run | None, shown: RunStatus) -> None:
    """Show Run or Resume for an inactive run, and Cancel to a visitor who may cancel an active one."""
    me = visits.current_visitor()
    if not shown.active and not shown.finished:
        label = "Run" if run is None or run.state == "failed" else "Resume"
        st.markdown(f"These settings are not known yet. {time_of(settings)}, if nobody waits before you.")
        if st.button(label, type="primary", icon=":material/play_arrow:"):
            run_queue().submit(settings, visitor(), me)
            st.rerun()
    elif shown.may_cancel:
        gone = " The visitor who started it has left." if run.owner != me else ""
        if st.button("Cancel", icon=":material/stop:", help=f"Ends the run for everyone who watches it.{gone}"):
            run.cancel(me)
    elif shown.active:
        st.caption("Another visitor started this run; you join it.")


def show_run(values, settings: RunSettings, run: Run | None) -> None:
    """Show the progress and results of a run; before its first rows, what is known of the data set."""
    shown = status(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        show_buttons(settings, run, shown)

    def panel() -> None:
        if run is not None:
            show_progress(run)
        with layout.show_errors():
            if shown.has_rows:
                show_errors(values, settings, list(run.rows), run.n_test)
            else:
                if compute.shipped_rows(settings.study, settings.dataset):
                    st.caption("Until rows of your settings arrive: the results over random splits, first seed 0.")
                show_errors(values, settings)
        if shown != status(run):
            st.rerun()  # rerun the whole page: the buttons change, or polling ends

    st.fragment(panel, run_every=1.0 if shown.active else None)()


def show(values) -> None:
    """Show what follows the controls."""
    settings = run_settings(values)
    if settings.study == "landmarks":
        hide_controls(["D", "beta", "shuffled"])
    rows, run = known_rows(settings), None
    if rows:
        fewer = settings.repeats < compute.shipped_spec(settings.study, settings.dataset).repeats
        show_errors(values, settings, rows if fewer else ())
    else:
        try:
            check_data(settings)
            run = find_run(settings)
            show_run(values, settings, run)
        except layout.EXPECTED_ERRORS as error:
            layout.show_error(error)
    by_heart = [(values.D, values.shuffled)] if settings.study == "features" else []
    if by_heart:
        deferred.show("memory", lambda: show_memory(values))
    sharing.offer(
        "real_data",
        CONTROLS,
        values,
        lambda: report.to_frame(
            [*(rows or (() if run is None else run.rows)), *(compute.memory_row(*one) for one in by_heart)]
        ),
        {"study": settings.study, "methods": settings.methods},
    )


def main() -> None:
    tour = lessons.Tour("real_data", CONTROLS)
    values = mount(CONTROLS, tour, first=("dataset", "D", "beta"))
    layout.title(
        ("**How many learned cosines do what many random ones do?**" if values.study == "features D" else LANDMARKS_ASK)
        + " On nine data sets, over random splits.",
    )
    tour.show_card()
    show_rest(show)


if __name__ == "__main__":
    main()
