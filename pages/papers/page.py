"""Paper against rerun: the results of Letarte et al. (2019) and Li et al. (2019), compared with reruns."""

from contextlib import suppress
from threading import Timer

import streamlit as st

from pages.papers import compute, tables, view
from pages.shared import deferred, layout, live, sharing
from pages.shared.controls.widgets import Options, mount, show_rest
from pages.shared.server.cache import cache_results
from rff_engine.studies.reports import letarte, li
from rff_engine.studies.reports.comparison import Judgement, judgement, notes

cache_results(compute, "made_by", in_workers=("beside_paper",))

SHOWN = {
    "Table 1": "table1",
    "Figures 2 and 6": "figure6",
    "Figures 3 and 5": "figure5",
    "Li et al., Table 2": "li-table2",
    "Li et al., Table 3": "li-table3",
}
FIGURES = ("Figures 2 and 6", "Figures 3 and 5")
SIZES = tuple(map(str, li.SIZES))

CONTROLS = (
    Options(
        "what", "Table or figure", "Of Letarte et al. (2019), unless named otherwise.", tuple(SHOWN), "Table 1", True
    ),
    Options("dataset", "Data set", None, letarte.DATASETS, "breast", True, only_if=("what", FIGURES)),
    Options("r", "Frequencies r", None, SIZES, SIZES[-1], True, only_if=("what", ("Li et al., Table 2",))),
)


def result(counts: Judgement, what: str) -> str:
    """Say how many printed numbers the reruns confirm."""
    if not counts.judged:
        return f"**{what}: there is no rerun yet.**"
    inside = counts.inside_draws + counts.inside_splits
    lead = f"**{what}: {inside} of {counts.judged} numbers that were rerun lie inside their spread.**"
    if not counts.outside:
        return lead
    if not counts.unexplained:
        each = "each of the" if counts.outside > 1 else "the"
        return f"{lead} Of {each} {counts.outside} outside, a rerun shows the cause."
    explained = counts.outside - counts.unexplained
    return (
        f"{lead} Of the {counts.outside} outside, a rerun shows the cause of {explained or 'none'}; "
        f"{counts.unexplained or 'none'} {'has' if counts.unexplained == 1 else 'have'} no known cause."
    )


def show_table(comparison) -> None:
    """Show Table 1 of Letarte et al. (2019)."""
    better, here = compute.orders(comparison)
    st.html(tables.table_beside_paper(comparison, letarte.COLUMNS_OF_TABLE_1))
    layout.caption_below(
        "**Blue: another draw gives the paper's number. Green: another split does. Pink: neither, look for the "
        "cause.**",
        f"A draw is of frequencies and landmarks. {judgement(comparison).sentence()} All are test errors in percent; "
        "± is a 95 % interval of the mean, single splits spread further. [[Landmarks]] are k-means centroids, 10 % of "
        "the training points.",
    )
    st.markdown(
        f"**Do learned landmarks (PB) beat the prior's (RBF)?** In the paper they do on {len(better)} data sets "
        f"({', '.join(better)}); in the mean over random splits on {len(here)} of these. *What "
        "explains the difference* has the reasons."
    )


def show_curves(values, comparison, whole) -> None:
    """Show a figure of Letarte et al. (2019) on one data set; `whole` has all data sets."""
    by, read = ("D", "0.2") if values.what == "Figures 3 and 5" else ("share", "0.05")
    live.mount("reruns", view.pack_reruns(comparison, by), values)
    layout.caption_below(
        "**Orange and pink mark numbers that neither another draw nor another split gives. *What explains the "
        "difference* has the cause.**",
        f"The paper's curve is read off its figure to {read} points. The band goes up to the largest value that was "
        "rerun. The solid curve is one draw on the paper's split.",
    )
    rests = "".join(f" The reruns: {note}." for note in notes(comparison))
    st.markdown(
        f"**How many numbers agree?** On {values.dataset}: {judgement(comparison).sentence()} On all data sets: "
        f"{judgement(whole).sentence()}{rests}"
    )


def show_notes(target: str, dataset: str) -> None:
    """Explain why numbers of Letarte et al. (2019) differ from the rerun."""
    names = [name for name in letarte.NOTES if target == "table1" or name == dataset]
    with st.expander("What explains the difference", icon=":material/lightbulb:", expanded=target != "table1"):
        st.markdown("\n".join(f"- **{name}**: {letarte.NOTES[name]}" for name in names))
        layout.link_errata()


def show_methods(values, comparison) -> None:
    """Show a table of Li et al. (2019)."""
    target = SHOWN[values.what]
    st.html(tables.methods_beside_paper(comparison, li.DATASETS, li.METHODS_OF[target], li.units(target)))
    layout.caption_below(
        "**Look in each column for the star, the lowest mean of the rerun: is it at Sample, Cluster or Supervise, "
        "which the paper proposes?**",
        f"With {values.r if target == 'li-table2' else li.SIZES[-1]} [[frequencies]]; stars are given among the "
        "methods of the paper. Each cell shows the paper's number and the rerun's mean over random splits with its "
        "95 % interval; cells without a colour have no number in the paper. The paper calls a9a Adult, mnist01 MNIST "
        "and parkinson_motor Parkinson.",
    )
    known, near, several, led = compute.closeness(comparison)
    if known:
        st.markdown(
            f"**How many numbers agree?** {judgement(comparison).sentence()} Where the test rows come with the data "
            "(a9a, mnist01) reruns differ by the draw alone, elsewhere by the split as well. A rare draw or split is "
            "the cause where some of many more reruns lie as far out; the cells say how many. "
            f"{near} of {known} differ from the mean by at most a third. "
            f"Among the methods of the paper, a proposed one has the lowest error on {len(led)} of "
            f"{len(several)} data sets."
        )
    with st.expander("Notes on methods and data sets", icon=":material/lightbulb:"):
        st.markdown("\n".join(f"- **{name}**: {note}" for name, note in li.NOTES.items()))
        layout.link_errata()


def show_tables(target: str, of_view) -> None:
    """Show the numbers of the view and their sources in a fold, made and sent only while it is open."""
    shown = st.expander("Numbers and sources", icon=":material/table:", key="all_numbers", on_change="rerun")
    if not shown.open:
        return
    with shown:
        layout.table(of_view)
        if target == "table1":
            st.markdown(f"**How the SVM of adult is chosen.** {letarte.SVM_GRID_NOTE}")
            layout.table(letarte.svm_grid().pivot(index="C", columns="gamma", values="valid"), index=True)
        st.markdown(
            f"**Where the reruns come from.** `python -m rff_engine reproduce {target} --recompute` computes them, and "
            f"resumes where it was stopped; `python -m rff_engine reproduce {target} --output errors.csv` writes all "
            "numbers into one file."
        )
        layout.table(compute.made_by(target))


@st.cache_resource(show_spinner=False)
def read_ahead() -> Timer:
    """Read the reruns of every table and figure in a separate thread, so that none is slow at its first visit."""

    def read() -> None:
        for target in SHOWN.values():
            with suppress(OSError, ValueError):  # the page itself shows the error
                compute.beside_paper(target)

    thread = Timer(0.7, read)  # after the first picture
    thread.daemon = True
    thread.start()
    return thread


def show(values) -> None:
    """Show what follows the controls."""
    target = SHOWN[values.what]
    with layout.show_errors():
        comparison = compute.beside_paper(target)
    of_view = compute.rows_of(comparison, target, values.dataset, int(values.r))
    of = f" on {values.dataset}" if values.what in FIGURES else ""
    of += "" if target in li.TARGETS else " of Letarte et al."
    st.markdown(result(judgement(of_view), values.what + of))
    if target in li.TARGETS:
        show_methods(values, of_view)
    else:
        if target == "table1":
            show_table(of_view)
        else:
            show_curves(values, of_view, comparison)
        show_notes(target, values.dataset)
    deferred.show("tables", lambda: show_tables(target, of_view))
    read_ahead()
    sharing.offer("paper", CONTROLS, values, lambda: of_view, {"target": target, "r": int(values.r)})


def main() -> None:
    mount(CONTROLS, first=("what", "dataset", "r"))
    layout.title(
        "A printed number comes from one split of the data and one draw of frequencies. **Do other draws, or other "
        "splits, give it too?**",
    )
    show_rest(show)


if __name__ == "__main__":
    main()
