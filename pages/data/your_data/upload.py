"""Upload of a table, and the choices that make a learning problem of it.

The table stays in the session's state until the next one replaces it; no disk holds it. At first a sample is shown.
"""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import pandas as pd
import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.delta_generator import DeltaGenerator

import datasets
from datasets.tables import readers
from datasets.tables.body import LINES, NAMES, SEPARATORS
from datasets.tables.preparation import prepare, two_classes
from datasets.tables.readers import ENCODINGS
from datasets.tables.roles import (
    notes_on_left_out,
    possible_groups,
    suggest_columns,
    suggest_targets,
    target_task,
)
from datasets.tables.table import Column, Guess, Limits, Table, UploadError, counted, printable, quoted
from datasets.tables.uploads import ENDINGS, FORMATS, read_table
from pages.data.your_data import session
from pages.data.your_data.cautions import cautions
from pages.shared import escaping, layout
from pages.shared.server import limits, visits

LIMITS = Limits()
# By default, an upload of more than 1 MB is written to a temporary file while it arrives.
MultiPartParser.spool_max_size = 2 * LIMITS.bytes

#: Tables of the app by their titles.
SAMPLES = {"Breast cancer": "breast", "White wine": "wine"}
_TABLE, _ERROR, _COUNT = "your table", "error in your table", "number of tables"
_SAMPLE = "sample that the link asked for"
BRING = "bring a table"  # with the ways to do it
_COLUMN, _KIND = "column", "kind of the column"  # the same widget for all tables keeps the focus
_FILE, _TEXT = "your file", "your text"
_TASKS = {"classification": "classes", "regression": "a number"}
_KINDS = {"number": "number", "date": "date", "text": "classes"}
_LEFT_OUT = "left out"
SHOWN_ROWS, _PREVIEW_HEIGHT = 20, 212
_readers, _MAX_SECONDS_IN_LINE = threading.BoundedSemaphore(limits.LIMITS.readers), 30


@dataclass(frozen=True, eq=False)
class Upload:
    """An uploaded table, numbered within its session."""

    number: int
    """A table with other columns has another number, so its controls start at their defaults"""
    name: str
    file: str
    """Its file name in the program that the page offers"""
    table: Table
    data: bytes | str
    """Source, to read again with another answer to a guess"""
    ending: str
    choices: Mapping[str, str]
    """Answers that replace guesses of the reader"""
    sample: str = ""
    """Its title among `SAMPLES`, if it is one of the app's own"""


def show_limits() -> None:
    """Say what becomes of a table, and name the limits."""
    st.caption(
        "Your data stay in the memory of this session: they are written to no disk, no other visitor sees them, and "
        f"they are deleted when you reload or close the page. At most {LIMITS.bytes / 1e6:g} MB, {LIMITS.rows} rows, "
        f"{LIMITS.columns} columns and {LIMITS.cells} cells; of a longer table a random part is read. At least "
        f"{LIMITS.fewest_rows} rows. A target may have {LIMITS.classes} classes."
    )


def offer_ways(shown: Upload | None) -> None:
    """Show the ways to give a table; offer to save a sample that is shown."""
    can_upload = visits.has_cookie()
    *upload, paste, sample = st.tabs(["Upload a file", "Paste text", "Try a sample"][not can_upload :])
    for tab in upload:
        tab.file_uploader(
            f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}, up to {LIMITS.bytes / 1e6:g} MB",
            key=_FILE,
            max_upload_size=LIMITS.bytes // 1_000_000,
            on_change=_read_file,
            help="The format is found from the ending ("
            + ", ".join(f".{ending}" for ending in ENDINGS)
            + ") or the content.",
        )
    with paste:
        st.text_area("Lines of CSV, TSV, ARFF or svmlight; the first line may hold column names", key=_TEXT, height=160)
        st.button("Read the text", on_click=_read_text, icon=":material/content_paste_go:")
    with sample, st.container(horizontal=True):
        for title, name in SAMPLES.items():
            st.button(title, key=f"sample {name}", on_click=_choose_sample, args=(title,))
        if shown and shown.sample:
            st.download_button(
                f"Save {shown.file}",
                lambda: shown.data,
                shown.file,
                "text/csv",
                icon=":material/download:",
                on_click="ignore",
            )
    if not can_upload:
        st.info(
            "Files cannot be uploaded here: another site shows this page in a frame, or the browser blocks cookies. "
            "Paste the text of your table, or open this page in its own window.",
            icon=":material/iframe:",
        )
        if st.context.url:
            st.link_button("Open in its own window", st.context.url, icon=":material/open_in_new:")


def show_error() -> None:
    """Say why the last table or choice failed."""
    if error := st.session_state.get(_ERROR):
        st.error(escaping.markdown(error), icon=":material/error:")


def _read_file() -> None:
    file = st.session_state[_FILE]
    if file is None:  # removed, with its results; show no sample, since another file may follow at once
        _set(None, None)
        return
    _take(file.getvalue(), file.name)


def _read_text() -> None:
    _take(st.session_state[_TEXT], "the text you pasted", ending="")


def _take(data: bytes | str, name: str, ending: str | None = None) -> None:
    _open(data, name, ending, _read)


def _choose_sample(title: str) -> None:
    st.session_state["sample"] = title
    _take_sample(title)


def _take_sample(title: str) -> None:
    st.session_state[_SAMPLE] = title
    name = SAMPLES[title]
    data = datasets.load(name)
    target = "quality" if data.task == "regression" else "class"
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow([*data.feature_names, target])
    for row, label in zip(data.X, data.y, strict=True):
        writer.writerow([*row, data.label_names.get(label, label)])
    # Read it here, without a separate process: the file comes from the app, not from a visitor.
    _open(lines.getvalue(), f"{name}.csv", None, readers.read, title)


def _open(data: bytes | str, name: str, ending: str | None, read: Callable, sample: str = "") -> None:
    """Read a table; if that fails, keep the reason."""
    st.session_state[BRING], st.session_state[_COLUMN] = False, 0
    file = name if ending is None else "pasted.txt"
    ending = name if ending is None else ending
    try:
        table = read(data, ending)
    except UploadError as error:
        _set(None, str(error))
        return
    _set(Upload(_next_number(), printable(name), file, table, data, ending, {}, sample), None)


def _take_back(key: str, widget: str) -> None:
    """Read the table with another answer to a guess."""
    answer = st.session_state[widget]
    _read_again({key: "none" if key == NAMES and not answer else str(answer)})


def _read_again(answers: Mapping[str, str]) -> None:
    """Read the table with other answers; if that fails, keep the reason.

    Take the table from the session: the table of a control may be older.
    """
    upload: Upload = st.session_state[_TABLE]
    choices = {**upload.choices, **answers}
    try:
        table = _read(upload.data, upload.ending, choices)
    except UploadError as error:
        st.session_state[_ERROR] = f"With this choice the table cannot be read. {error}"
        return
    number = upload.number if table.names == upload.table.names else _next_number()
    _set(replace(upload, number=number, table=table, choices=choices), None)


def _read(data: bytes | str, name: str, choices: Mapping[str, str] = MappingProxyType({})) -> Table:
    """Read a table in one of a few processes. Callbacks hold no slot of `queues`, so no script waits meanwhile."""
    if not _readers.acquire(timeout=_MAX_SECONDS_IN_LINE):
        raise UploadError("The server is reading files of other visitors; try again in a minute.")
    try:
        return read_table(data, name, LIMITS, choices)
    finally:
        _readers.release()


def _set(table: Upload | None, error: str | None) -> None:
    st.session_state[_TABLE], st.session_state[_ERROR] = table, error
    session.forget()


def _next_number() -> int:
    st.session_state[_COUNT] = st.session_state.get(_COUNT, 0) + 1
    return st.session_state[_COUNT]


def current_table(sample: str) -> Upload | None:
    """Return the last table: the sample of the link before the first one, None if it was removed or cannot be read."""
    if st.session_state.get(_SAMPLE) != sample:
        _take_sample(sample)
    return st.session_state[_TABLE]


def reading(upload: Upload, target: str = "", left_out: Sequence[str] = ()) -> str:
    """Describe a table, and the guesses in reading it, as Markdown on one line."""
    table = upload.table
    size = f"{table.n_rows} rows, {counted(len(table.columns), 'column')}"
    start = (
        f"**This is a sample: {upload.sample}, {size}.** Bring your own."
        if upload.sample
        else f"**{escaping.code(upload.name)}: {size}.**"
    )
    missing = sum(column.n_missing for column in table.columns)
    gaps = f", {counted(missing, 'cell')} missing" if missing else ""
    taken = f"Read as {table.format.partition(',')[0]}{gaps}."
    goal = [f"Target: {quoted(target)}."] if target else []
    return " ".join([start, *map(escaping.markdown, [*goal, taken, *table.notes, *left_out])])


def doubts(upload: Upload) -> bool:
    """Return whether there were notes on guesses when the file was first read: then the choices are open, and stay."""
    noted = any(one.note for one in (*upload.table.guesses, *upload.table.columns))
    return st.session_state.setdefault(f"doubts about {upload.file}", noted and not upload.sample)


def show_table(upload: Upload, asked: Asked) -> None:
    """Show a control for each guess of the reader, notes on columns, and the first rows below headings with kinds."""
    table = upload.table
    with st.container(horizontal=True, gap="xsmall", key="guesses"):
        for guess in table.guesses:
            if guess.key in LINES:
                _show_line(guess)
            elif guess.others:
                _show_guess(guess)
    notes = [guess.note for guess in table.guesses if guess.note]
    notes += [f"{quoted(column.name)}: {column.note}" for column in table.columns if column.note]
    if notes:
        shown = [escaping.markdown(note) for note in notes[:5]]
        shown += [f"{len(notes) - 5} more columns have a note."] if len(notes) > 5 else []
        st.info("\n".join(f"- {note}" for note in shown), icon=":material/info:")
    rows = first_rows(table)
    heading = _key("heading", upload)
    headings = {
        label: st.column_config.Column(f"{name} · {asked.use(table.column(name))}")
        for label, name in zip(rows, table.names, strict=True)
    }
    layout.table(
        rows,
        column_config=headings,
        height=_PREVIEW_HEIGHT,
        key=heading,
        selection_mode="single-column",
        on_select=lambda: _choose_heading(heading, list(rows)),
    )
    _show_column(upload, asked)


def _show_line(guess: Guess) -> None:
    """Show the line where the body of the table begins or ends, or where its names stand."""
    widget = f"guess {guess.key}"  # the same after reading again, so that it keeps the focus
    st.session_state[widget] = 0 if guess.taken == "none" else int(guess.taken)
    st.number_input(
        guess.key.capitalize() + (" (0: none)" if guess.key == NAMES else ""),
        min_value=0 if guess.key == NAMES else 1,
        max_value=9_999_999,
        key=widget,
        on_change=_take_back,
        args=(guess.key, widget),
        width=170,
    )


def _show_guess(guess: Guess) -> None:
    widget = f"guess {guess.key}"
    words = {"separator": SEPARATORS, "encoding": ENCODINGS}.get(guess.key, {})
    st.session_state[widget] = guess.taken
    st.selectbox(
        guess.key.capitalize(),
        sorted([guess.taken, *guess.others]),
        key=widget,
        format_func=lambda answer: words.get(answer, printable(answer)),
        on_change=_take_back,
        args=(guess.key, widget),
        width=220,
    )


def _choose_heading(heading: str, labels: list[str]) -> None:
    """Point the control of kinds at the column whose heading was clicked."""
    for label in st.session_state[heading].selection.columns:
        st.session_state[_COLUMN] = labels.index(label)


def _show_column(upload: Upload, asked: Asked) -> None:
    """Show the kind of a column as a control, and whether the column is used."""
    names = upload.table.names
    st.session_state[_COLUMN] = min(st.session_state.get(_COLUMN, 0), len(names) - 1)
    with st.container(horizontal=True, vertical_alignment="bottom", key="kinds"):
        place = st.selectbox(
            "Column", range(len(names)), format_func=lambda at: printable(names[at]), key=_COLUMN, width=220
        )
        column = upload.table.columns[place]
        now = _LEFT_OUT if asked.leaves_out(column) else _KINDS.get(column.kind) and column.kind
        options = _KINDS if column.name in (asked.target, asked.groups) else {**_KINDS, _LEFT_OUT: _LEFT_OUT}
        st.session_state[_KIND] = now
        _segments("is", options, None, _KIND, on_change=_set_kind, args=(upload, asked, place))
    st.caption(f"{counted(column.n_values, 'different value')}, {counted(column.n_missing, 'cell')} missing.")


def _set_kind(upload: Upload, asked: Asked, place: int) -> None:
    """Give a column another kind, or leave it out."""
    column, kind = upload.table.columns[place], st.session_state[_KIND]
    if kind in (_LEFT_OUT, column.kind):
        others = [name for name in asked.columns if name != column.name]
        st.session_state[asked.columns_key] = others if kind == _LEFT_OUT else [*others, column.name]
        return
    _read_again({f"kind of column {place + 1}": kind})
    if asked.leaves_out(column):
        st.session_state[asked.columns_key] = [*asked.columns, column.name]


@dataclass(frozen=True, eq=False)
class Asked:
    """The choices of which the learning problem is made."""

    target: str
    task: str
    groups: str | None
    columns: tuple[str, ...]
    columns_key: str
    """Of the control of the columns"""
    below: DeltaGenerator
    """Place for the choice of a class"""

    def leaves_out(self, column: Column) -> bool:
        return column.name not in (self.target, self.groups, *self.columns)

    def use(self, column: Column) -> str:
        """Say in a word or two how a column is used."""
        if column.name == self.target:
            return f"{'classes' if self.task == 'classification' else 'number'}, target"
        if self.leaves_out(column):
            return _LEFT_OUT
        return _KINDS.get(column.kind, column.kind) + (", groups" if column.name == self.groups else "")


@dataclass(frozen=True, eq=False)
class Chosen:
    """A learning problem, its two-class version, and the key of both."""

    key: tuple
    dataset: datasets.Dataset
    binary: datasets.Dataset
    cautions: list[str]
    """Cautions: what to mend before a certificate is believed"""
    left_out: list[str]
    """Sentences about columns that are not used"""
    settings: dict
    """Settings of the program that makes the same problem from the same file"""


def ask(upload: Upload) -> Asked:
    """Show the choices."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="problem"):
        target, task = _choose_target(upload)
        below = st.container(width="content")
        groups = _choose_groups(upload, target)
    columns, columns_key = _choose_columns(upload, target, groups)
    return Asked(target, task, groups, columns, columns_key, below)


def choose(upload: Upload, asked: Asked) -> Chosen:
    """Make the learning problem of the table and the choices.

    Raises
    ------
    UploadError
        If the table does not allow these choices.
    """
    target, task, columns, groups = asked.target, asked.task, asked.columns, asked.groups
    if not columns and (left_out := " ".join(notes_on_left_out(upload.table, target))):
        raise UploadError(f"No column is chosen. {left_out}")
    choices = (upload.number, *upload.choices.items(), target, columns, task, groups)
    dataset = session.remembered(
        ("dataset", *choices),
        lambda: prepare(upload.table, target, columns, task=task, limits=LIMITS, groups=groups),
    )
    with asked.below:
        label = _choose_class(upload, target, dataset)
    binary = session.remembered(("binary", *choices, label), lambda: _binary_problem(dataset, label))
    settings = {"file": upload.file, "target": target, "columns": columns, "task": task, "label": label}
    settings |= {"groups": groups, "choices": dict(upload.choices)}
    warned = session.remembered(("cautions", *choices), lambda: cautions(upload.table, dataset, target, columns))
    left_out = notes_on_left_out(upload.table, target, (*columns, groups))
    return Chosen((*choices, label), dataset, binary, warned, left_out, settings)


def _likely_class(dataset: datasets.Dataset) -> int | None:
    """Return the class that is separated from all others by default; ``None`` if the target is a number."""
    if dataset.task != "classification":
        return None
    labels = list(dataset.label_names)
    if len(labels) <= 2:
        return labels[-1]
    return min(labels, key=lambda label: abs((dataset.y == label).sum() - dataset.n_samples / 2))  # the most balanced


def _key(what: str, upload: Upload, *of) -> str:
    """Return the key of a widget with the number of the table, so that the next table starts with its own defaults."""
    return " ".join(map(str, (what, upload.number, *of)))


def _choose_target(upload: Upload) -> tuple[str, str]:
    """Ask for the column to predict; return it and its task."""
    table, names = upload.table, list(upload.table.names)
    likely = suggest_targets(table)
    key = _key("target", upload)
    target = st.selectbox("Target", names, index=names.index(likely[0]), key=key)
    with st.container(horizontal=True):
        for name in [one for one in likely if one != target]:  # one click away
            button = f"{key} {names.index(name)}"
            st.button(f"or {escaping.code(name)}", key=button, on_click=st.session_state.__setitem__, args=(key, name))
    column = table.column(target)
    task = target_task(column)
    if column.kind in ("number", "date"):
        task = _segments("Treat it as", _TASKS, task, _key("task", upload, names.index(target)))
    return target, task


def _choose_groups(upload: Upload, target: str) -> str | None:
    """Ask for the column whose equal values mark rows that belong together; return it, or None."""
    return (
        st.selectbox(
            "Rows that belong together",
            ["", *possible_groups(upload.table, target)],
            format_func=lambda name: f"those of one {printable(name)}" if name else "none: each is a draw of its own",
            help="Rows of one person, day or place stay on one side of each split. Bounds take one row of each.",
            key=_key("groups", upload, upload.table.names.index(target)),
        )
        or None
    )


def _choose_columns(upload: Upload, target: str, groups: str | None) -> tuple[tuple[str, ...], str]:
    """Ask for the columns to predict from; return them, and the key of the control."""
    names = upload.table.names
    likely = suggest_columns(upload.table, target)
    key = _key("columns", upload, names.index(target), groups is not None and names.index(groups))
    columns = st.multiselect(
        "Columns to predict it from",
        [name for name in names if name not in (target, groups)],
        default=[name for name in names if name in likely and name not in (target, groups)],
        key=key,
    )
    return tuple(columns), key


def _choose_class(upload: Upload, target: str, dataset: datasets.Dataset) -> int | None:
    """Ask for the class to separate from all others; return ``None`` if the target is a number."""
    likely = _likely_class(dataset)
    labels = list(dataset.label_names)
    if likely is None or len(labels) <= 2:
        return likely
    return st.selectbox(
        "Class to separate from all others",
        labels,
        index=labels.index(likely),
        format_func=lambda one: dataset.label_names[one],
        key=_key("class", upload, upload.table.names.index(target), len(labels)),
    )


def _segments(label: str, options: dict[str, str], default: str | None, key: str, **when) -> str:
    """Ask for one of a few options, shown by their texts; `when` has the functions to call on a change."""
    return st.segmented_control(
        label, list(options), default=default, format_func=options.get, required=True, key=key, **when
    )


def _binary_problem(dataset: datasets.Dataset, label: int | None) -> datasets.Dataset:
    """Make the two-class problem, with untrusted class names in quotation marks."""
    binary = two_classes(dataset, label)
    untrusted = set(dataset.label_names.values())
    names = {side: quoted(name) if name in untrusted else name for side, name in binary.label_names.items()}
    return replace(binary, label_names=names)


def show_preparation(chosen: Chosen) -> None:
    """Show how the learning problem was made from the table."""
    dataset = chosen.dataset
    st.caption(
        f"n = {dataset.n_samples} rows, d = {counted(dataset.n_features, 'column')}, each scaled to mean 0 and "
        "variance 1. "
        f"{escaping.markdown(dataset.description)} Scaling and filling of missing values use all rows, including those "
        "that are held out below."
    )


def choose_axes(chosen: Chosen, best: tuple[int, int] | None) -> tuple[int, int] | None:
    """Ask for the two columns of the map, by default the best ones; None: the first two principal components."""
    names = [printable(name) for name in chosen.dataset.feature_names]
    if len(names) < 3:
        return best
    key = " ".join(map(str, ("axis", chosen.key[0], len(names), best)))
    across = st.selectbox(
        "Map: across",
        [*range(len(names)), None],
        len(names) if best is None else best[0],
        format_func=lambda at: "the first two principal components" if at is None else names[at],
        key=key,
    )
    if across is None:
        return None
    others = [at for at in range(len(names)) if at != across]
    start = others.index(best[1]) if best and best[1] != across else 0
    upwards = st.selectbox("Map: upwards", others, start, format_func=names.__getitem__, key=f"{key} {across}")
    return across, upwards


def first_rows(table: Table) -> pd.DataFrame:
    """Return the first rows of a table, as text."""
    rows = range(min(table.n_rows, SHOWN_ROWS))
    return pd.DataFrame(
        [[escaping.cell(one.shown(i)) if one.kind == "text" else one.shown(i) for one in table.columns] for i in rows],
        columns=[escaping.cell(name) for name in table.names],
    )
