"""Paper against rerun: what Letarte et al. (2019) and Li et al. (2019) print, beside what comes out here."""

import streamlit as st

from pages.components import layout, sharing
from pages.components.controls import Options, Switch, mount
from pages.components.rerun_results import (
    agreement,
    beside_paper,
    closeness,
    differences,
    made_by,
    ties,
)
from pages.components.sharing.recipes import paper as recipe
from rff_engine.experiments import reproduction
from rff_engine.experiments import reproduction_li as li
from rff_engine.figures import reruns

SHOWN = {
    "Table 1": "table1",
    "Figures 2 and 6": "figure6",
    "Figures 3 and 5": "figure5",
    "Li et al., Table 2": "li-table2",
    "Li et al., Table 3": "li-table3",
}
FIGURES = ("Figures 2 and 6", "Figures 3 and 5")
SIZES = tuple(map(str, li.SIZES))
OF_LETARTE = ("Table 1", *FIGURES)

CONTROLS = (
    "What to compare",
    Options("what", "Table or figure", "Without a name: of Letarte et al. (2019).", tuple(SHOWN), "Table 1", True),
    Options("dataset", "Data set", None, reproduction.DATASETS, "breast", only_if=("what", FIGURES)),
    Switch(
        "scaled",
        "Scale the columns of adult",
        "The paper takes them as they are: one, which reaches a million and more, then decides every distance alone. "
        "On: each column has mean 0 and variance 1.",
        only_if=("what", OF_LETARTE),
    ),
    Switch(
        "ties",
        "Show tied choices",
        "The test errors of all settings that err least, equally often, on validation.",
        only_if=("what", OF_LETARTE),
    ),
    Options("r", "Frequencies r", None, SIZES, SIZES[-1], True, only_if=("what", ("Li et al., Table 2",))),
)


def show_table(found) -> None:
    seen = agreement(found)
    layout.figure(
        reruns.table_beside_paper(found, reproduction.COLUMNS_OF_TABLE_1, values.ties),
        "Look for cells that are not blue: there the paper's number is not what another split would give. "
        f"{seen.within} of {seen.known} published numbers lie where 95 % of single random splits do, {seen.in_mean} "
        "even within the 95 % interval of their mean, which is the ± in the cell. All are test errors in percent; "
        "landmarks are k-means centroids, 10 % of the training points.",
        key="table",
        alt="Table 1 of the paper, rerun: test errors of the paper, of a rerun on its split, and over random splits",
    )
    st.markdown(
        f"**Do learned landmarks (PB) beat the prior's (RBF)?** The paper has it so on {len(seen.better)} data sets "
        f"({', '.join(seen.better)}); so has the mean over random splits on {len(seen.better_here)} of these. "
        "Why, is said under *What drives the difference*."
    )


def show_curves(found) -> None:
    by = "D" if target == "figure5" else "share"
    layout.figure(
        reruns.curves_beside_paper(found, values.dataset, by, values.ties),
        "Follow the dashed curve, the paper's, measured off its figure: it should stay near the solid one, our rerun "
        "on the same split. Where it leaves the band, no choice of the split explains the difference.",
        key="curves",
        alt=f"Test errors on {values.dataset} of the paper and of reruns, a panel for each method",
    )
    if by == "D":
        with st.expander("The difference at some D, in percent", icon=":material/difference:"):
            st.dataframe(differences(found, values.dataset), hide_index=True)


def show_notes() -> None:
    names = [name for name in reproduction.NOTES if target == "table1" or name == values.dataset]
    with st.expander("What drives the difference", icon=":material/lightbulb:", expanded=target != "table1"):
        st.markdown("\n".join(f"- **{name}**: {reproduction.NOTES[name]}" for name in names))
        st.page_link("pages/errata.py", label="Errata: what is printed, what is right, and why", icon=":material/rule:")


def show_ties(found) -> None:
    seen = ties(found)
    if seen.moving:
        said = (
            f"is often a choice among equals: for {seen.moving} of these {seen.cases} numbers, on the published split, "
            "settings that tie on validation differ on the test points, by up to "
            f"{100 * seen.largest:.1f} points. Reported is the first of the grid; *Show tied choices* shows the others."
        )
    else:
        said = f"leaves nothing open here: of these {seen.cases} numbers none depends on which tied setting is taken."
    st.markdown(f"**The choice by validation error** {said}")


def show_methods(found) -> None:
    """A table of Li et al. (2019)."""
    layout.figure(
        reruns.methods_beside_paper(found, li.DATASETS, li.METHODS_OF[target], li.units(target)),
        f"With {values.r if target == 'li-table2' else li.SIZES[-1]} frequencies. "
        "Look down a column for the star, the least mean of ours among the methods that the paper has: is it at "
        "Sample, Cluster or Supervise, which the paper proposes? Each cell holds the paper's number and our mean over "
        "random splits with its 95 % interval; cells without a colour have no number of the paper. The paper calls a9a "
        "Adult, mnist01 MNIST and parkinson_motor Parkinson.",
        key="methods",
        alt=f"{values.what}: errors of every method on six data sets, the paper's and ours",
    )
    seen = closeness(found)
    if seen.known:
        st.markdown(
            f"Of {seen.known} printed numbers that are rerun, our mean is within a third of {seen.near}. Among the "
            f"paper's methods, one of its own errs least on {len(seen.best_learned)} of {len(seen.best)} data sets."
        )
    else:
        st.markdown("Not known yet: no rerun of this table has been stored.")
    with st.expander("What is to be known of methods and data sets", icon=":material/lightbulb:"):
        st.markdown("\n".join(f"- **{name}**: {said}" for name, said in li.NOTES.items()))
        st.page_link("pages/errata.py", label="Errata: what is printed, what is right, and why", icon=":material/rule:")


values = mount(CONTROLS)
target = SHOWN[values.what]
scaled = ("adult",) if values.scaled and target not in li.TARGETS else ()
layout.title(
    "Does the paper come out again?",
    "Each number of a paper comes from one split of the data and one draw of frequencies. Here it stands beside a "
    "rerun on the same split, where that is published, and beside what other random splits give: how much of a "
    "difference is chance?",
)
with layout.problems_explained():
    found = beside_paper(target, scaled)
of_view = recipe.numbers(found, target, values.dataset, int(values.r))
if target in li.TARGETS:
    show_methods(of_view)
else:
    if target == "table1":
        show_table(of_view)
    else:
        show_curves(of_view)
    show_ties(of_view)
    show_notes()
with st.expander("All numbers as a table", icon=":material/table:"):
    st.dataframe(of_view, hide_index=True)
with st.expander("Where the reruns come from", icon=":material/history:"):
    st.markdown(
        f"`python -m rff_engine reproduce {target}` makes these rows, and goes on from them where it was stopped; "
        "`python -m rff_engine report --format html --output paper.html` puts all tables and figures into one file."
    )
    st.dataframe(made_by(target, scaled), hide_index=True)
sharing.offer("paper", CONTROLS, values, lambda: of_view, {"target": target, "scaled": scaled, "r": int(values.r)})
