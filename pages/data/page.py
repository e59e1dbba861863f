"""Real data: test error against the number of features or of landmarks, from long runs (Figures 2, 3, 5, 6)."""

from typing import NamedTuple

import streamlit as st

import datasets
from pages.shared import layout, sharing
from pages.shared.controls.widgets import Control, Number, Options, Several, mount
from pages.shared.figures import sweeps
from pages.shared.server import visits
from pages.shared.server.limits import visitor
from pages.shared.server.runs import BREAST_SWEEP, Run, RunSettings, run_queue
from rff_engine.studies.protocols import FeatureSweep, LandmarkStudy
from rff_engine.studies.reports import tables as report

TWO_CLASSES = tuple(name for name in datasets.names() if len(datasets.describe(name).label_names) == 2)
STUDIES = {"features D": FeatureSweep, "landmarks": LandmarkStudy}
METHODS = {
    "features D": {"SVM": "svm", "RFF": "rff", "PBRFF": "pbrff", "OKRFF": "okrff"},
    "landmarks": {"SVM": "svm", "RBF landmarks": "rbf_landmarks", "PB landmarks": "pb_landmarks"},
}

_LEFT = "run that was left"
#: The last run whose results this visitor has seen.
_SEEN = "run seen last"
_LEAVE_HELP = (
    "Hides the run; it goes on. The visitor who started it can cancel it; once that visitor has left, anyone can."
)

CONTROLS = (
    "Experiment",
    Options("study", "Test error against", None, tuple(STUDIES), "features D", True),
    Options("dataset", "Data set", "Data sets with two classes.", TWO_CLASSES, "breast"),
    Options(
        "preset",
        "Grid",
        "quick: seconds for breast, a minute for large sets; splits: a coarser grid of the paper's size, for many "
        "random splits; paper: the whole grid, minutes to hours.",
        ("quick", "splits", "paper"),
        "quick",
        True,
    ),
    Options(
        "split",
        "Split",
        "published: exactly that of the paper; random: drawn from the seed.",
        ("published", "random"),
        "published",
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


def described(name: str) -> str:
    """Describe a data set in two sentences."""
    info = datasets.describe(name)
    return f"**{info.title}**: {info.n_samples} rows, {info.n_features} columns. {info.description} {info.source}."


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
    when = (
        f"at {100 * run.fraction:.0f} %, after {run.seconds:.0f} s" if run.started is not None else "before it started"
    )
    if run.cancelled_by is None:
        return f"Cancelled {when}, when the server ended"
    if run.cancelled_by == visits.current_visitor():
        return f"You cancelled it {when}"
    if run.cancelled_by == run.owner:
        return f"Cancelled {when} by the visitor who started it"
    return f"Cancelled {when} by another visitor, after the one who started it had left"


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


def show_active_buttons(run: Run) -> None:
    """Show Cancel to a visitor who may cancel; to others, Stop watching and Watch again."""
    me = visits.current_visitor()
    if run.may_cancel(me):
        gone = " The visitor who started it has left." if run.owner != me else ""
        if st.button("Cancel", icon=":material/stop:", help=f"Ends the run for everyone who watches it.{gone}"):
            run.cancel(me)
    elif has_left(run):
        if st.button("Watch again", icon=":material/visibility:"):
            st.session_state[_LEFT] = None
            st.rerun()
    elif st.button("Stop watching", icon=":material/visibility_off:", help=_LEAVE_HELP):
        st.session_state[_LEFT] = run
        st.rerun()


def has_left(run: Run) -> bool:
    """Return whether this visitor has left an active run."""
    return run.active and st.session_state.get(_LEFT) is run and not run.may_cancel(visits.current_visitor())


def show_result(run: Run) -> None:
    """Show the figure of the results so far, and their means."""
    rows = list(run.rows)
    protocol = run.settings.protocol()
    if run.settings.study == "features":
        means = report.error_by_features(rows)
        figure = sweeps.error_against_features(means, protocol.n_features)
        seen = "**Compare the curves at small [[D]]: does a learned distribution need fewer frequencies?**"
        details = (
            "Thick: mean test error, 95 % interval. Thin, dotted: training error. Dashed: the RBF SVM, which has no D."
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
    else:
        means = report.error_by_share(rows)
        figure = sweeps.error_against_landmarks(means, protocol.shares)
        seen = "**Compare the colours: do learned similarities, which follow the labels, err less?**"
        details = (
            "[[Prior]] similarities depend on distance alone. Solid: k-means centroids; dotted: random [[landmarks]]. "
            "Thick: mean test error with a 95 % interval; thin: training error."
        )
    one = f"One of the {run.n_test} test points is {100 / run.n_test:.2f} %. " if run.n_test else ""
    notes = sorted({row["note"] for row in rows if row["note"]})
    layout.figure(
        figure,
        seen,
        one + (f"Note: {'; '.join(notes)}. " if notes else "") + details,
        key="sweep",
        alt=f"Error of each method on {run.settings.dataset} against the number of {run.settings.study}",
    )
    with st.expander("The means as a table", icon=":material/table:"):
        layout.table(means)


def show_seen(seen: Run | None) -> None:
    """Show the previous results in grey."""
    if seen is not None and seen.rows:
        with st.container(key="seen_before"):
            st.html("<style>.st-key-seen_before [data-testid=stPlotlyChart] {opacity: 0.4}</style>")
            show_result(seen)


def seen_note(seen: Run, settings: RunSettings) -> str:
    """Say which settings the grey results have, as far as they differ."""
    names = {"study": "study", "split": "split_name", "similarities": "methods"}
    fields = {names.get(c.key, c.key): c.label for c in CONTROLS if isinstance(c, Control)}
    methods = {key: label for of_study in METHODS.values() for label, key in of_study.items()}

    def words(value) -> str:
        return ", ".join(methods[key] for key in value) if isinstance(value, tuple) else str(value)

    before = {field: getattr(seen.settings, field) for field in fields}
    differing = [
        f"{fields[field]} {words(value)}" for field, value in before.items() if value != getattr(settings, field)
    ]
    return f"Grey, until rows of your settings arrive: the results for {'; '.join(differing)}."


def run_settings(values) -> RunSettings:
    """Return the settings of a run, from the controls."""
    chosen = values.methods if values.study == "features D" else values.similarities
    methods = tuple(METHODS[values.study][name] for name in chosen)
    study = "features" if values.study == "features D" else "landmarks"
    return RunSettings(
        study, values.dataset, values.preset, values.split, values.seed, values.repeats, methods, values.scaling
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
    """Return the run of these settings, if there is one; start that of the defaults without a click."""
    if not run_queue().persistent:
        st.warning(
            "Results are kept only until this server ends: its store of results cannot be opened. The server's log has "
            "the reason.",
            icon=":material/database_off:",
        )
    run = run_queue().find(settings)
    if run is None and settings == BREAST_SWEEP:
        run = run_queue().submit(settings)  # the first visitor sees results without a click
    return run


def show_buttons(settings: RunSettings, run: Run | None, shown: RunStatus) -> None:
    """Show Run or Resume for an inactive run, the buttons of an active one otherwise."""
    if not shown.active and not shown.finished:
        label = "Run" if run is None or run.state == "failed" else "Resume"
        if st.button(label, type="primary", icon=":material/play_arrow:"):
            run_queue().submit(settings, visitor(), visits.current_visitor())
            st.rerun()
    elif shown.active:
        show_active_buttons(run)


def show_run(run: Run | None, shown: RunStatus, seen: Run | None) -> None:
    """Show the progress and results of a run; before its first results, the previous ones or why there are none."""

    def panel() -> None:
        show_progress(run)
        with layout.show_errors():
            if shown.has_rows:
                st.session_state[_SEEN] = run
                show_result(run)
            else:
                show_seen(seen)
        if shown != status(run):
            st.rerun()  # rerun the whole page: the buttons change, or polling ends

    if run is not None and has_left(run):
        st.info(
            "You no longer watch this run; it continues. *Watch again* shows it; everyone can see its results.",
            icon=":material/visibility_off:",
        )
    elif run is not None:
        st.fragment(panel, run_every=1.0 if shown.active else None)()
    elif seen is not None:
        show_seen(seen)
    else:
        st.info("Press Run: the figure is updated during the run.", icon=":material/play_arrow:")


def main() -> None:
    values = mount(CONTROLS, first=("study", "dataset", "preset"))
    layout.title(
        "RFF draws frequencies from the [[prior]], [[PBRFF]] from the [[posterior]], [[OKRFF]] from an optimized "
        "kernel: which needs fewest?",
    )
    settings = run_settings(values)
    seen = st.session_state.get(_SEEN)
    try:
        check_data(settings)
    except layout.EXPECTED_ERRORS as error:
        layout.show_error(error)
        show_seen(seen)
        st.stop()
    with layout.show_errors():
        run = find_run(settings)
        shown = status(run)
        with st.container(horizontal=True, vertical_alignment="center"):
            show_buttons(settings, run, shown)
            if seen is not None and not shown.has_rows:
                st.caption(seen_note(seen, settings))
    show_run(run, shown, seen)
    st.caption(described(values.dataset))

    sharing.offer(
        "real_data",
        CONTROLS,
        values,
        lambda: report.to_frame([] if run is None else list(run.rows)),
        {"study": settings.study, "methods": settings.methods},
    )


if __name__ == "__main__":
    main()
