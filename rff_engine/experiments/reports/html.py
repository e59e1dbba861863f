"""HTML reports, each one file that needs no network: of a run, or of the papers' tables and figures with reruns."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from ...figures.document import Document
from ...figures.reruns import curves_beside_paper, methods_beside_paper, table_beside_paper
from ...figures.sweeps import error_against_features, error_against_landmarks
from ..running.store import RunInfo, Store
from ..studies.protocols import LandmarkStudy, LiProtocol, RunSpec
from ..studies.units import Row
from . import letarte, li, reproduction
from .comparison import judgement, notes
from .tables import error_by_features, error_by_share


def provenance(store: Store, specs: Iterable[RunSpec]) -> pd.DataFrame:
    """Protocol, seeds, time, library versions and machine of stored runs, and of runs that share rows with them.

    Minutes are those of all processes together.
    """
    infos = {info.id: info for info in map(store.find, specs) if info is not None}
    for info in list(infos.values()):
        assert info.spec is not None  # `find` and `relatives` give runs of this version
        infos |= {other.id: other for other in store.relatives(info.spec) if other.id not in infos}
    return pd.DataFrame([_made(store, info) for info in infos.values()])


def _made(store: Store, info: RunInfo) -> dict:
    spec = info.spec
    assert spec is not None
    return {
        "run": info.id,
        "data set": spec.dataset,
        "split": spec.split,
        "columns": "as they are" if spec.protocol.scaling == "none" else "standardised",
        "repeats": f"{spec.repeats}" if info.finished else f"{info.repeats_planned}, unfinished",
        "first seed": spec.seed,
        "rows": info.n_rows,
        "minutes": round(info.seconds / 60, 1),
        "made with": "; ".join(store.provenance(spec)),
    }


def run_report(store: Store, spec: RunSpec) -> str:
    """HTML report of a run: figure, mean errors and provenance; a StoreError if the store cannot be read."""
    rows = store.rows(spec)
    if isinstance(spec.protocol, LiProtocol):
        return _feature_report(store, spec, rows)
    document = Document(f"{spec.run_id}: test error on {spec.dataset}")
    if isinstance(spec.protocol, LandmarkStudy):
        means, over = error_by_share(rows), "the share of landmarks"
        figure = error_against_landmarks(means, spec.protocol.shares)
    else:
        means, over = error_by_features(rows), "the number of frequencies D"
        figure = error_against_features(means, spec.protocol.n_features)
    document.words(
        f"Thick: mean test error over {spec.repeats} repeats, parameters chosen on validation data, with a 95 % "
        "interval. Thin, dotted: training error. Dashed: the RBF SVM."
    )
    document.figure(figure, f"Error of each method on {spec.dataset} against {over}")
    return _with_means(document, means, store, spec)


def _feature_report(store: Store, spec: RunSpec, rows: list[Row]) -> str:
    """HTML report of a kernel approximation or feature comparison: mean errors and provenance."""
    document = Document(f"{spec.run_id}: features on {spec.dataset}")
    document.words(
        f"Means over {spec.repeats} repeats, with the half-width of a 95 % interval; D is the number of frequencies. "
        "Errors of an approximation are relative, those of a regression root mean squares, of a classification "
        "fractions."
    )
    return _with_means(document, error_by_features(rows), store, spec)


def _with_means(document: Document, means: pd.DataFrame, store: Store, spec: RunSpec) -> str:
    """The document as HTML, with mean errors and provenance at its end."""
    document.heading("Means")
    document.table(means)
    document.heading("Provenance")
    document.table(provenance(store, [spec]), digits=1)
    document.words(spec.to_json())
    return document.html()


def _add_tables_of_li(document: Document, store: Store) -> None:
    """Add Tables 2 and 3 of Li et al. (2019) if the store has rows of them."""
    known = {target: rows for target in li.TARGETS if (rows := reproduction.known_rows(store, target))}
    if not known:
        return
    document.heading("Learning adaptive random features (Li et al. 2019)")
    document.words("Means over random splits with their 95 % interval; a star marks the least of the paper's methods.")
    for target, rows in known.items():
        comparison = reproduction.compare_with_paper(target, rows)
        document.words(f"Table {target[-1]}: {judgement(comparison).sentence()}")
        for r in li.sizes(target):
            document.heading(li.HEADINGS[target].format(r))
            of_size = comparison[comparison["D"] == r]
            figure = methods_beside_paper(of_size, li.DATASETS, li.METHODS_OF[target], li.units(target))
            document.figure(figure, f"{li.HEADINGS[target].format(r)}, paper and rerun")
        document.table(comparison, folded="As numbers")
    for name, note in li.NOTES.items():
        document.words(f"{name}: {note}")
    specs = [spec for target in known for spec in reproduction.specs(target)]
    document.table(provenance(store, specs), digits=1)


def paper_report(store: Store) -> str:
    """HTML report of Table 1 and Figures 2, 3, 5 and 6 of Letarte et al. (2019) with the reruns of a store.

    Tables 2 and 3 of Li et al. (2019) follow if the store has reruns of them. A StoreError says that it cannot be read.
    """
    document = Document("Pseudo-Bayesian learning with kernel Fourier transform as prior: the paper and its rerun")
    document.words(
        "Test errors in percent. Each number of the paper comes from one split and one draw of frequencies and "
        "landmarks. It is compared with draws on the same split, of which the mean and the range are given, and with "
        "random splits: the mean with its 95 % interval, and where 95 % of single splits lie. Ties are test errors of "
        "settings with equally many validation errors."
    )
    table = letarte.table_1(reproduction.known_rows(store, "table1", letarte.DATASETS))
    document.heading("Table 1: landmarks are k-means centroids, 10 % of the training points")
    figure = table_beside_paper(table, letarte.COLUMNS_OF_TABLE_1, ties=True)
    document.figure(figure, "Table 1 of the paper and reruns")
    document.words(judgement(table).sentence())
    for name, note in letarte.NOTES.items():
        document.words(f"{name}: {note}")
    document.table(table, folded="As numbers; errors are fractions")
    document.words(letarte.SVM_GRID_NOTE)
    document.table(letarte.svm_grid(), folded="Errors at every C and gamma")
    for heading, target, by in (
        ("Figures 3 and 5: error against the number of frequencies", "figure5", "D"),
        ("Figures 2 and 6: error against the share of landmarks", "figure6", "share"),
    ):
        document.heading(heading)
        comparison = letarte.figure(target, reproduction.known_rows(store, target, letarte.DATASETS))
        document.words(judgement(comparison).sentence())
        for name in letarte.DATASETS:
            document.words(". ".join([name, *notes(comparison[comparison["dataset"] == name])]))
            document.figure(curves_beside_paper(comparison, name, by), f"Test errors on {name}, paper and rerun")
            document.table(comparison[comparison["dataset"] == name], folded="As numbers; errors are fractions")
    document.heading("Provenance of the reruns")
    specs = [spec for target in ("table1", "figure5") for spec in reproduction.specs(target)]
    document.words("python -m rff_engine reproduce --recompute computed these rows, for table1 and figure5.")
    document.table(provenance(store, specs), digits=1)
    _add_tables_of_li(document, store)
    return document.html()
