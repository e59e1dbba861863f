"""How a visitor hands in a table and says what is to be learned from it.

The table lies in the session's state, is replaced by the next one, and goes with the session; it is written nowhere.
"""

from __future__ import annotations

import csv
import io
import threading
from dataclasses import dataclass, replace

import streamlit as st
from starlette.formparsers import MultiPartParser

import datasets
from datasets.preparation import prepare, suggest_columns, suggest_target, target_task, two_classes
from datasets.tables import Limits, Table, UploadError, printable, quoted
from datasets.uploads import ENDINGS, read_table
from pages.components import limits, literal, visits, your_data_results

LIMITS = Limits()
# The server would write an upload of more than 1 MB to a temporary file while it arrives.
MultiPartParser.spool_max_size = 2 * LIMITS.bytes
SAMPLES = {"breast": "Breast cancer", "wine": "White wine"}

_TABLE, _REFUSAL, _COUNT = "your table", "what was wrong with your table", "tables handed in"
_FILE, _TEXT = "your file", "your text"
_SCALINGS = {"standard": "mean 0, variance 1", "range": "from 0 to 1", "none": "as it is"}
_IMPUTATIONS = {"fill": "fill with the median or the most frequent text", "drop": "drop their rows"}
_TASKS = {"classification": "classes", "regression": "a number"}
_readers, _SECONDS_IN_LINE = threading.BoundedSemaphore(limits.LIMITS.readers), 30


@dataclass(frozen=True, eq=False)
class HandedIn:
    """A table, with what it is known by in this session."""

    number: int
    name: str
    file: str
    """Where the program that is offered looks for it"""
    table: Table


def say_limits() -> None:
    """What is allowed, before anything is handed in."""
    st.caption(
        f"Up to {LIMITS.bytes / 1e6:g} MB, {LIMITS.rows} rows, {LIMITS.columns} columns and {LIMITS.cells} cells; at "
        f"least {LIMITS.fewest_rows} rows. A target may have {LIMITS.classes} classes, a column of text "
        f"{LIMITS.categories} values of its own. Your data stay in the memory of this session: they are written to no "
        "disk, no other visitor sees them, and they are gone when you reload or close the page."
    )


def hand_in() -> HandedIn | None:
    """The ways to hand in a table; returns the last one that could be read."""
    can_upload = visits.has_cookie()
    *upload, paste, sample = st.tabs(["Upload a file", "Paste text", "Try a sample"][not can_upload :])
    for tab in upload:
        tab.file_uploader(
            f"CSV, TSV, Parquet or svmlight, up to {LIMITS.bytes / 1e6:g} MB",
            key=_FILE,
            max_upload_size=LIMITS.bytes // 1_000_000,
            on_change=_take_file,
            help="By its ending (" + ", ".join(f".{ending}" for ending in ENDINGS) + "), or by its content.",
        )
    with paste:
        st.text_area(
            "Lines of CSV, TSV or svmlight; the first line may hold the names of the columns", key=_TEXT, height=160
        )
        st.button("Read the text", on_click=_take_text, icon=":material/content_paste_go:")
    with sample, st.container(horizontal=True):
        for name, title in SAMPLES.items():
            st.button(title, key=f"sample {name}", on_click=_take_sample, args=(name,))
    if not can_upload:
        _say_why_not()
    refusal = st.session_state.get(_REFUSAL)
    if refusal:
        st.error(literal.markdown(refusal), icon=":material/error:")
    return st.session_state.get(_TABLE)


def _say_why_not() -> None:
    st.info(
        "Files cannot be uploaded here: another site shows this page in a frame, or the browser refuses cookies. Paste "
        "the text of your table, or open this page in a window of its own.",
        icon=":material/iframe:",
    )
    if st.context.url:
        st.link_button("Open in a window of its own", st.context.url, icon=":material/open_in_new:")


def _take_file() -> None:
    file = st.session_state[_FILE]
    if file is None:  # taken back: what was made of it goes too
        _put(None, None)
        return
    _take(file.getvalue(), file.name)


def _take_text() -> None:
    _take(st.session_state[_TEXT], "the text you pasted", ending="")


def _take_sample(name: str) -> None:
    data = datasets.load(name)
    target = "quality" if data.task == "regression" else "class"
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow([*data.feature_names, target])
    for row, label in zip(data.X, data.y, strict=True):
        writer.writerow([*row, data.label_names.get(label, label)])
    _take(lines.getvalue(), f"{name}.csv")


def _take(data: bytes | str, name: str, ending: str | None = None) -> None:
    try:
        table = _read(data, name if ending is None else ending)
        _put(HandedIn(_next_number(), printable(name), name if ending is None else "pasted.txt", table), None)
    except UploadError as error:
        _put(None, str(error))


def _read(data: bytes | str, name: str) -> Table:
    """In line for one of few processes. Callbacks have no turn of `turns`: nobody else waits for this one meanwhile."""
    if not _readers.acquire(timeout=_SECONDS_IN_LINE):
        raise UploadError("The server is reading files of other visitors; hand yours in again in a minute.")
    try:
        return read_table(data, name)
    finally:
        _readers.release()


def _put(table: HandedIn | None, refusal: str | None) -> None:
    st.session_state[_TABLE], st.session_state[_REFUSAL] = table, refusal
    your_data_results.forget()


def _next_number() -> int:
    st.session_state[_COUNT] = st.session_state.get(_COUNT, 0) + 1
    return st.session_state[_COUNT]


def show_table(handed: HandedIn) -> None:
    """What was understood of it."""
    table = handed.table
    st.markdown(
        f"{literal.code(handed.name)}: **{table.n_rows} rows, {len(table.columns)} columns**, read as {table.format}."
    )
    notes = [*table.notes, *(f"{quoted(c.name)}: {c.note}" for c in table.columns if c.note)]
    if notes:
        shown = [literal.markdown(note) for note in notes[:5]]
        shown += [f"{len(notes) - 5} more columns have such a note."] if len(notes) > 5 else []
        st.info("\n\n".join(shown), icon=":material/info:")
    st.dataframe(your_data_results.summary(table), hide_index=True, height=min(38 * (len(table.columns) + 1), 260))
    with st.expander("The first rows", icon=":material/table:"):
        st.dataframe(your_data_results.first_rows(table), hide_index=True)


@dataclass(frozen=True, eq=False)
class Chosen:
    """What is to be learned: the problem, its two-class version, and what both are known by."""

    key: tuple
    dataset: datasets.Dataset
    binary: datasets.Dataset
    settings: dict
    """Of a program that makes the same problem of the same file"""


def choose(handed: HandedIn) -> Chosen:
    """The choices that make a learning problem of the table.

    Raises
    ------
    UploadError
        If they cannot be met.
    """
    table = handed.table

    def key(what: str, *of) -> str:  # choices are made for a table, not carried over to the next
        return " ".join(map(str, (what, handed.number, *of)))

    left, right = st.columns([1, 2])
    names = list(table.names)
    with left:
        target = st.selectbox("Target", names, index=names.index(suggest_target(table)), key=key("target"))
        goal = table.column(target)
        task = target_task(goal)
        if goal.kind in ("number", "date"):
            kinds = list(_TASKS)
            task = st.segmented_control(
                "It stands for",
                kinds,
                default=task,
                format_func=_TASKS.get,
                required=True,
                key=key("task", names.index(target)),
            )
    with right:
        others = [name for name in names if name != target]
        columns = st.multiselect(
            "Columns to predict it from",
            others,
            default=list(suggest_columns(table, target)),
            key=key("columns", names.index(target)),
        )
        scaling = st.segmented_control(
            "Each column is scaled to",
            list(_SCALINGS),
            default="standard",
            format_func=_SCALINGS.get,
            required=True,
            key=key("scaling"),
        )
        imputation = st.segmented_control(
            "Missing values",
            list(_IMPUTATIONS),
            default="fill",
            format_func=_IMPUTATIONS.get,
            required=True,
            key=key("imputation"),
        )
    asked = (handed.number, target, tuple(columns), scaling, imputation, task)
    dataset = your_data_results.remembered(
        ("dataset", *asked), lambda: prepare(table, target, columns, scaling, imputation, task, LIMITS)
    )
    label = None
    if dataset.task == "classification":
        labels = list(dataset.label_names)
        label = labels[-1]
        if len(labels) > 2:
            with left:
                label = st.selectbox(
                    "Class to tell from all others",
                    labels,
                    index=your_data_results.most_balanced(dataset),
                    format_func=lambda one: dataset.label_names[one],
                    key=key("class", names.index(target)),
                )
    binary = your_data_results.remembered(("binary", *asked, label), lambda: _told_apart(dataset, label))
    settings = {"file": handed.file, "target": target, "columns": tuple(columns), "task": task, "label": label}
    settings |= {"scaling": scaling, "imputation": imputation}
    return Chosen((*asked, label), dataset, binary, settings)


def _told_apart(dataset: datasets.Dataset, label: int | None) -> datasets.Dataset:
    """The two-class problem, a stranger's names of classes in quotation marks."""
    binary = two_classes(dataset, label)
    theirs = set(dataset.label_names.values())
    names = {side: quoted(name) if name in theirs else name for side, name in binary.label_names.items()}
    return replace(binary, label_names=names)


def show_problem(chosen: Chosen) -> None:
    """What the choices have come to."""
    dataset, binary = chosen.dataset, chosen.binary
    above = int((binary.y == 1).sum())
    columns = "column" if dataset.n_features == 1 else "columns"
    st.markdown(
        f"**n = {dataset.n_samples} rows, d = {dataset.n_features} {columns}.** The pictures tell two classes apart: "
        f"red, {literal.markdown(binary.label_names[1])} ({above} rows), from blue, "
        f"{literal.markdown(binary.label_names[-1])} ({binary.n_samples - above} rows). "
        f"{literal.markdown(dataset.description)} "
        "Columns are scaled, and gaps filled, by all rows together, those that are held back below among them."
    )
    if len(dataset.label_names) > 2:
        with st.expander(f"The {len(dataset.label_names)} classes", icon=":material/table:"):
            st.dataframe(your_data_results.class_counts(dataset), hide_index=True)


def choose_coordinates(chosen: Chosen) -> tuple[int, int] | None:
    """Which two columns a map shows; ``None`` stands for the first two principal components."""
    names = [printable(name) for name in chosen.dataset.feature_names]
    if len(names) <= 2:
        return (0, 1) if len(names) == 2 else None  # of one column there is no map, which is said where it is made
    where = " ".join(map(str, chosen.key[:2]))
    left, middle, right = st.columns(3)
    with left:
        how = st.segmented_control(
            "Map of",
            ["the first two principal components", "two columns"],
            default="the first two principal components",
            required=True,
            key=f"map {where}",
        )
    if how != "two columns":
        return None
    places = list(range(len(names)))
    with middle:
        across = st.selectbox("Across", places, format_func=names.__getitem__, key=f"across {where} {len(names)}")
    with right:
        upwards = st.selectbox("Upwards", places, 1, format_func=names.__getitem__, key=f"upwards {where} {len(names)}")
    return across, upwards
