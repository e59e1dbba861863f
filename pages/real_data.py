"""Real data: test error against the number of features, or of landmarks, as a run computes it (Figures 2, 3, 5, 6)."""

from typing import NamedTuple

import streamlit as st

import datasets
from pages.components import layout, sharing, visits
from pages.components.controls import Number, Options, Several, mount
from pages.components.limits import visitor
from pages.components.runs import BREAST_SWEEP, Run, RunSettings, run_queue
from rff_engine.experiments import report
from rff_engine.experiments.protocols import FeatureSweep, LandmarkStudy
from rff_engine.figures import sweeps

TWO_CLASSES = tuple(name for name in datasets.names() if len(datasets.describe(name).label_names) == 2)
STUDIES = {"features D": FeatureSweep, "landmarks": LandmarkStudy}
METHODS = {
    "features D": {"SVM": "svm", "RFF": "rff", "PBRFF": "pbrff", "OKRFF": "okrff"},
    "landmarks": {"SVM": "svm", "RBF landmarks": "rbf_landmarks", "PB landmarks": "pb_landmarks"},
}

_LEFT = "run that was left"
_ONLY_THE_BEGINNER = "The run goes on. Who began it can cancel it; where that visitor has left, whoever watches it can."

CONTROLS = (
    "Experiment",
    Options("study", "Test error against", None, tuple(STUDIES), "features D", True),
    Options("dataset", "Data set", "Sets with two classes.", TWO_CLASSES, "breast"),
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
        "published: the paper's, to the row; random: drawn from the seed.",
        ("published", "random"),
        "published",
        True,
    ),
    Options(
        "scaling",
        "Columns",
        "none: as they are, like the paper; standard: each to mean 0 and variance 1 on the training rows.",
        ("none", "standard"),
        "none",
        True,
    ),
    Number(
        "repeats", "Repeats", "Runs with consecutive seeds; the band is a 95 % interval of their mean.", 1, 20, 10, 1
    ),
    Number("seed", "First seed", "Of all frequencies, and of the random split.", 0, 99, 0, 1),
    *(
        # A key of its own for each study: the methods of a link belong to one of them.
        Several(key, "Methods", None, tuple(METHODS[study]), tuple(METHODS[study]), only_if=("study", (study,)))
        for key, study in (("methods", "features D"), ("similarities", "landmarks"))
    ),
)


def describe(name: str) -> None:
    info = datasets.describe(name)
    st.caption(f"**{info.title}**: {info.n_samples} rows, {info.n_features} columns. {info.description} {info.source}.")


def show_progress(run: Run) -> None:
    if run.state == "waiting":
        ahead = run_queue().ahead_of(run)
        st.progress(0.0, f"Waiting: {ahead} run{'s' if ahead != 1 else ''} ahead of this one.")
    elif run.state == "running":
        st.progress(run.fraction, f"{100 * run.fraction:.0f} %, {run.time_left}: {run.message}")
    elif run.state == "failed":
        st.error(run.message, icon=":material/error:")
    elif run.state in ("cancelled", "stopped"):
        how = cancelled(run) if run.state == "cancelled" else f"Stopped with the server at {100 * run.fraction:.0f} %"
        st.warning(
            f"{how}; what was known by then is shown. Resume goes on from there.", icon=":material/pause_circle:"
        )


def cancelled(run: Run) -> str:
    """When that was, and by whom."""
    when = f"at {100 * run.fraction:.0f} %, after {run.seconds:.0f} s" if run.started is not None else "before it began"
    if run.cancelled_by is None:
        return f"Cancelled {when}, with the server"
    if run.cancelled_by == visits.who():
        return f"You cancelled it {when}"
    if run.cancelled_by == run.beginner:
        return f"Cancelled {when} by the visitor who began it"
    return f"Cancelled {when} by another visitor, for the one who began it had left"


class Standing(NamedTuple):
    """What the buttons of a run depend on."""

    active: bool = False
    finished: bool = False
    may_cancel: bool = False


def standing(run: Run | None) -> Standing:
    """As this visitor has it now."""
    if run is None:
        return Standing()
    return Standing(run.active, run.state == "finished", run.active and run.may_cancel(visits.who()))


def control(run: Run) -> None:
    """Cancel for whoever may; for all others the way out of a run under way, and back to it."""
    me = visits.who()
    if run.may_cancel(me):
        gone = " The visitor who began it has left." if run.beginner != me else ""
        if st.button("Cancel", icon=":material/stop:", help=f"Ends it for all who watch it.{gone}"):
            run.cancel(me)
    elif has_left(run):
        if st.button("Watch", icon=":material/visibility:"):
            st.session_state[_LEFT] = None
            st.rerun()
    elif st.button("Leave", icon=":material/visibility_off:", help=_ONLY_THE_BEGINNER):
        st.session_state[_LEFT] = run
        st.rerun()


def has_left(run: Run) -> bool:
    return run.active and st.session_state.get(_LEFT) is run and not run.may_cancel(visits.who())


def show_result(run: Run) -> None:
    """The figure of what is known so far, and its rows."""
    rows = list(run.rows)
    protocol = run.settings.protocol()
    if run.settings.study == "features":
        means = report.error_by_features(rows)
        figure = sweeps.error_against_features(means, protocol.n_features)
        caption = (
            "Compare the curves at small D: a learned distribution spends few frequencies better than the prior. "
            "Thick: mean test error, 95 % interval. Thin, dotted: training error. Dashed: the RBF SVM, which has no D."
        )
    else:
        means = report.error_by_share(rows)
        figure = sweeps.error_against_landmarks(means, protocol.shares)
        caption = (
            "Compare the colours: with the prior, a landmark only knows distance; learned landmarks follow the labels. "
            "Solid: k-means centroids; dotted: random landmarks. Thick: mean test error with a 95 % interval; thin: "
            "training error."
        )
    if run.n_test:
        caption += f" One error among the {run.n_test} test points is {100 / run.n_test:.2f} %."
    notes = sorted({row["note"] for row in rows if row["note"]})
    layout.figure(
        figure,
        caption + (f" Note: {'; '.join(notes)}." if notes else ""),
        key="sweep",
        alt=f"Error of each method on {run.settings.dataset} against the number of {run.settings.study}",
    )
    if rows:
        with st.expander("The means as a table", icon=":material/table:"):
            st.dataframe(means, hide_index=True)


values = mount(CONTROLS)
chosen = values.methods if values.study == "features D" else values.similarities
methods = tuple(METHODS[values.study][name] for name in chosen)
layout.title(
    "Do learned frequencies help on real data?",
    "Each curve is a method, each point a linear SVM whose parameters were chosen on validation data, as in the paper: "
    "RFF draws random Fourier features from the prior, PBRFF from the pseudo-posterior, OKRFF from the optimized "
    "kernel. "
    "A run goes on when you leave this page, and anyone with the same settings sees it.",
)
describe(values.dataset)
study = "features" if values.study == "features D" else "landmarks"
settings = RunSettings(
    study, values.dataset, values.preset, values.split, values.seed, values.repeats, methods, values.scaling
)
with layout.problems_explained():
    here = [name for name in TWO_CLASSES if name in datasets.available()]
    if settings.dataset not in here:
        raise ValueError(
            f"{settings.dataset} is not on this machine: whoever runs this server can fetch it with "
            f"`python -m datasets fetch {settings.dataset}`; here now are {', '.join(here)}."
        )
    published = [name for name in here if name in datasets.published_names()]
    if settings.split_name == "published" and settings.dataset not in published:
        raise ValueError(
            f"The paper has no split of {settings.dataset}: choose the random split, or one of {', '.join(published)}."
        )
    if not run_queue().lasting:
        st.warning(
            "Results are kept until this server ends: its store of results cannot be used. Whoever runs the server "
            "finds the reason in its log.",
            icon=":material/database_off:",
        )
    run = run_queue().find(settings)
    if run is None and settings == BREAST_SWEEP:
        run = run_queue().submit(settings)  # the first visitor sees a run without a click
    shown = standing(run)
    if not shown.active and not shown.finished:
        label = "Run" if run is None or run.state == "failed" else "Resume"
        if st.button(label, type="primary", icon=":material/play_arrow:"):
            run = run_queue().submit(settings, visitor(), visits.who())
            st.rerun()
    elif shown.active:
        control(run)


def panel() -> None:
    show_progress(run)
    with layout.problems_explained():
        show_result(run)
    if shown != standing(run):
        st.rerun()  # the whole page: the buttons change, or polling ends


if run is not None and has_left(run):
    st.info(
        "You have left this run, which goes on. Watch shows how far it is; what it computes stays here for all.",
        icon=":material/visibility_off:",
    )
elif run is not None:
    st.fragment(panel, run_every=1.0 if shown.active else None)()
else:
    st.info("Press Run: the figure fills in while the run goes on.", icon=":material/play_arrow:")

layout.equation(
    "features drawn from a learned distribution",
    r"\phi(x) = \tfrac{1}{\sqrt D}\big(\cos\omega_1\!\cdot\! x,\dots,\cos\omega_D\!\cdot\! x,\,"
    r"\sin\omega_1\!\cdot\! x,\dots,\sin\omega_D\!\cdot\! x\big),\quad \omega_j \sim Q",
    "RFF draws the $D$ frequencies from the kernel's own distribution; PBRFF from the pseudo-posterior "
    "$Q_m \\propto e^{-\\beta\\sqrt n\\,\\widehat L_S(h_m)}$; OKRFF from the distribution that maximises the alignment "
    "within a $\\chi^2$-ball of radius $\\rho$ around the prior (Letarte, Morvant and Germain, 2019, Section 6.2).",
)

sharing.offer(
    "real_data",
    CONTROLS,
    values,
    lambda: report.to_frame([] if run is None else list(run.rows)),
    {"study": study, "methods": methods},
)
