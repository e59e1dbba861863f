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
from datasets import Dataset
from datasets.tables import readers
from datasets.tables.body import LINES, NAMES, SEPARATORS
from datasets.tables.preparation import IMPUTATIONS, SCALINGS, prepare, two_classes
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
from pages.data.your_data import session, table_choices
from pages.data.your_data.cautions import cautions
from pages.data.your_data.table_choices import SAMPLES
from pages.shared import escaping, layout
from pages.shared.controls import undo
from pages.shared.server import limits, visits

LIMITS = Limits()
# By default, an upload of more than 1 MB is written to a temporary file while it arrives.
MultiPartParser.spool_max_size = 2 * LIMITS.bytes

_TABLE, _ERROR, _COUNT = "your table", "error in your table", "number of tables"
_WAITING, _KEPT, _IS_NEW = "choices of the link for your table", "choices in the link", "a table was opened"
_COLUMN, _KIND = "column", "kind of the column"  # the same widget for all tables keeps the focus
_DEFAULT_SAMPLE, *_ = SAMPLES
_FILE, _TEXT = "your file", "your text"
SHOWN_ROWS = 20
_SCALINGS = {"standard": "mean 0, variance 1", "range": "from 0 to 1", "none": "as it is"}
_IMPUTATIONS = {"fill": "fill with the median or the most frequent text", "drop": "drop their rows"}
_TASKS = {"classification": "classes", "regression": "a number"}
_KINDS = {"number": "number", "date": "date", "text": "classes"}
_LEFT_OUT = "left out"
_PREVIEW_HEIGHT = 212
_readers, _MAX_SECONDS_IN_LINE = threading.BoundedSemaphore(limits.LIMITS.readers), 30


@dataclass(frozen=True, eq=False)
class Upload:
    """An uploaded table, numbered within its session."""

    number: int
    name: str
    file: str
    """Its file name in the program that the page offers"""
    table: Table
    data: bytes | str
    """Source, to read again with another answer to a guess"""
    ending: str
    choices: Mapping[str, str]
    """Answers that replace guesses of the reader"""
    learning: Mapping[str, str]
    """Answers of the link on what is learned, with which the controls start"""
    sample: str = ""
    """Its name among `SAMPLES`, if it is one of the app's own"""


def show_limits() -> None:
    """Say what becomes of a table, and name the limits."""
    st.caption(
        "Your data stay in the memory of this session: they are written to no disk, no other visitor sees them, and "
        "they are deleted when you reload or close the page."
    )
    with st.expander("Limits", type="compact"):
        st.caption(
            f"Up to {LIMITS.bytes / 1e6:g} MB, {LIMITS.rows} rows, {LIMITS.columns} columns and {LIMITS.cells} cells; "
            f"of a longer table a random part is read. At least {LIMITS.fewest_rows} rows. A target may have "
            f"{LIMITS.classes} classes, a column of text {LIMITS.categories} different values."
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
        for name, title in SAMPLES.items():
            st.button(title, key=f"sample {name}", on_click=_take_sample, args=(name,))
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
    """Read a visitor's table; the first one takes the choices of the link that wait for it."""
    asked = st.session_state.get(_WAITING, {})
    if _open(data, name, ending, asked, _read):
        st.session_state[_WAITING] = {}
        table_choices.keep(asked)


def _take_sample(name: str, asked: Mapping[str, str] = MappingProxyType({})) -> None:
    """Show a sample, with choices of a link to it; choices for a visitor's own table wait on."""
    data = datasets.load(name)
    target = "quality" if data.task == "regression" else "class"
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow([*data.feature_names, target])
    for row, label in zip(data.X, data.y, strict=True):
        writer.writerow([*row, data.label_names.get(label, label)])
    # Read it here, without a separate process: the file comes from the app, not from a visitor.
    _open(lines.getvalue(), f"{name}.csv", None, asked, readers.read, name)


def _open(
    data: bytes | str, name: str, ending: str | None, asked: Mapping[str, str], read: Callable, sample: str = ""
) -> bool:
    """Read a table with choices of a link; if that fails, keep the reason and return False."""
    file = name if ending is None else "pasted.txt"
    ending = name if ending is None else ending
    try:
        table, choices, problem = _read_as_asked(read, data, ending, table_choices.on_reading(asked))
    except UploadError as error:
        _set(None, str(error))
        return False
    learning = table_choices.on_learning(asked, len(table.columns))
    st.session_state[_IS_NEW] = True
    st.session_state[_COLUMN] = 0
    _set(Upload(_next_number(), printable(name), file, table, data, ending, choices, learning, sample), problem)
    return True


def _read_as_asked(read: Callable, data: bytes | str, ending: str, choices: dict) -> tuple[Table, dict, str | None]:
    """Return a table, the choices with which it was read, and a sentence if the link asked for others."""
    try:
        return read(data, ending, choices=choices), choices, None
    except UploadError as error:
        if not choices:
            raise
        problem = f"With the choices of the link the table cannot be read, so they are ignored. {error}"
        return read(data, ending), {}, problem


def _take_back(key: str, widget: str) -> None:
    """Read the table with another answer to a guess."""
    answer = st.session_state[widget]
    _read_again({key: "none" if key == NAMES and not answer else str(answer)}, _in_link())


def _read_again(answers: Mapping[str, str], asked: Mapping[str, str], only: bool = False) -> None:
    """Read the table with other answers, and choices on what is learned; if that fails, keep the reason.

    Take the table from the session: the table of a control may be older.
    """
    upload: Upload = st.session_state[_TABLE]
    choices = table_choices.on_reading({**({} if only else upload.choices), **answers})
    try:
        table = _read(upload.data, upload.ending, choices)
    except UploadError as error:
        st.session_state[_ERROR] = f"With this choice the table cannot be read. {error}"
        return
    same_columns = len(table.columns) == len(upload.table.columns)
    learning = table_choices.on_learning(asked, len(table.columns)) if same_columns else {}
    _set(replace(upload, number=_next_number(), table=table, choices=choices, learning=learning), None)


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


def current_table() -> Upload | None:
    """Return the last table: a sample before the first one, None if the last was removed or cannot be read."""
    if _TABLE not in st.session_state:
        asked = table_choices.of_link()
        st.session_state[_WAITING] = {} if "sample" in asked else asked
        _take_sample(asked.get("sample", _DEFAULT_SAMPLE), asked if "sample" in asked else {})
    elif undo.has_moved() and st.session_state[_TABLE] and not st.session_state[_WAITING]:
        _follow_link(st.session_state[_TABLE])
    return st.session_state[_TABLE]


def _follow_link(upload: Upload) -> None:
    """Read and learn as the URL says after undo or redo; at other times the URL of a browser may be older."""
    asked = table_choices.of_link()
    if asked == st.session_state.get(_KEPT, asked):
        return
    choices = table_choices.on_reading(asked)
    if choices != upload.choices:
        _read_again(choices, asked, only=True)
        return
    learning = table_choices.on_learning(asked, len(upload.table.columns))
    _set(replace(upload, number=_next_number(), learning=learning), None)


def _in_link() -> dict[str, str]:
    """Return the choices in the URL on the table that is shown."""
    return {} if st.session_state[_WAITING] else table_choices.of_link()


def _keep(upload: Upload, choices: dict[str, str]) -> tuple[str, ...]:
    """Put choices on a table into the URL; choices of a link stay there until a visitor's own table has them."""
    named = upload.sample and (choices or upload.sample != _DEFAULT_SAMPLE)
    shown = {"sample": upload.sample, **choices} if named else choices
    before = table_choices.of_link()
    texts = table_choices.keep(st.session_state[_WAITING] or shown)
    st.session_state[_KEPT] = table_choices.of_link()
    if st.session_state.pop(_IS_NEW, False):
        undo.forget()
    if st.session_state[_KEPT] != before:
        st.rerun()  # with the choice among the steps that undo takes back
    return texts


def reading(upload: Upload, left_out: Sequence[str] = ()) -> str:
    """Describe a table, and the guesses in reading it, as Markdown on one line."""
    table = upload.table
    size = f"{table.n_rows} rows, {counted(len(table.columns), 'column')}"
    start = (
        f"**This is a sample: {SAMPLES[upload.sample]}, {size}.** Bring your own above."
        if upload.sample
        else f"**{escaping.code(upload.name)}: {size}.**"
    )
    missing = sum(column.n_missing for column in table.columns)
    gaps = f", {counted(missing, 'cell')} missing" if missing else ""
    taken = f"Read as {table.format.partition(',')[0]}{gaps}."
    return " ".join([start, *map(escaping.markdown, [taken, *table.notes, *left_out])])


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
    link = _in_link()
    for key, change in (("with", set.add), ("without", set.discard)):
        places = set(table_choices.positions(link.get(key, "")))
        change(places, place)
        link = {**link, key: table_choices.as_positions(sorted(places))}
    _read_again({f"kind of column {place + 1}": kind}, link)


@dataclass(frozen=True, eq=False)
class Asked:
    """The choices of which the learning problem is made."""

    target: str
    task: str
    groups: str | None
    columns: tuple[str, ...]
    columns_key: str
    """Of the control of the columns"""
    scaling: str
    imputation: str
    start: Mapping[str, str]
    """Answers of the link, where the controls of this target start"""
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
    asked: dict[str, str]
    """Choices that differ from the guesses, for the link"""
    start: Mapping[str, str]
    """Answers of the link, where the controls of this target start"""


def ask(upload: Upload) -> Asked:
    """Show the choices."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="problem"):
        target, task, start = _choose_target(upload)
        below = st.container(width="content")
        groups = _choose_groups(upload, target, start)
        scaling = upload.learning.get("scaling", SCALINGS[0])
        scaling = _segments("Each column is scaled to", _SCALINGS, scaling, _key("scaling", upload))
        imputation = upload.learning.get("imputation", IMPUTATIONS[0])
        imputation = _segments("Missing values", _IMPUTATIONS, imputation, _key("imputation", upload))
    columns, columns_key = _choose_columns(upload, target, groups, start)
    return Asked(target, task, groups, columns, columns_key, scaling, imputation, start, below)


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
    choices = (upload.number, target, columns, asked.scaling, asked.imputation, task, groups)
    dataset = session.remembered(
        ("dataset", *choices),
        lambda: prepare(upload.table, target, columns, asked.scaling, asked.imputation, task, LIMITS, groups),
    )
    with asked.below:
        label = _choose_class(upload, target, dataset, asked.start)
    binary = session.remembered(("binary", *choices, label), lambda: _binary_problem(dataset, label))
    settings = {"file": upload.file, "target": target, "columns": columns, "task": task, "label": label}
    settings |= {
        "scaling": asked.scaling,
        "imputation": asked.imputation,
        "groups": groups,
        "choices": dict(upload.choices),
    }
    warned = session.remembered(("cautions", *choices), lambda: cautions(upload.table, dataset, target, columns))
    left_out = notes_on_left_out(upload.table, target, (*columns, groups))
    other = {**upload.choices, **_asked(upload.table, settings, dataset)}
    on_map = {key: places for key, places in _in_link().items() if key == "map"}
    _keep(upload, other | on_map)  # also where a view cannot be shown
    return Chosen((*choices, label), dataset, binary, warned, left_out, settings, other, asked.start)


def _asked(table: Table, settings: dict, dataset: datasets.Dataset) -> dict[str, str]:
    """Return the choices on what is learned that differ from the guesses, for the link."""
    names, target, columns, label = table.names, settings["target"], settings["columns"], settings["label"]
    groups = settings["groups"]
    guessed = [name for name in suggest_columns(table, target) if name != groups]
    out = table_choices.as_positions(names.index(name) for name in guessed if name not in columns)
    added = table_choices.as_positions(names.index(name) for name in columns if name not in guessed)
    pairs = {
        "target": (target, suggest_targets(table)[0], table_choices.as_positions([names.index(target)])),
        "task": (settings["task"], target_task(table.column(target)), settings["task"]),
        "class": (label, _likely_class(dataset), str(label)),
        "without": (out, "", out),
        "with": (added, "", added),
        "groups": (groups, None, "" if groups is None else table_choices.as_positions([names.index(groups)])),
        "scaling": (settings["scaling"], SCALINGS[0], settings["scaling"]),
        "imputation": (settings["imputation"], IMPUTATIONS[0], settings["imputation"]),
    }
    return {key: text for key, (taken, guess, text) in pairs.items() if taken != guess}


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


def _choose_target(upload: Upload) -> tuple[str, str, Mapping[str, str]]:
    """Ask for the column to predict; return it, its task, and the answers of the link for it."""
    table, names = upload.table, list(upload.table.names)
    likely = suggest_targets(table)
    asked = table_choices.positions(upload.learning.get("target", ""))
    first = names[asked[0]] if asked else likely[0]
    key = _key("target", upload)
    target = st.selectbox("Target", names, index=names.index(first), key=key)
    with st.container(horizontal=True):
        for name in [one for one in likely if one != target]:  # one click away
            button = f"{key} {names.index(name)}"
            st.button(f"or {escaping.code(name)}", key=button, on_click=st.session_state.__setitem__, args=(key, name))
    start = upload.learning if target == first else {}
    column = table.column(target)
    task = target_task(column)
    if column.kind in ("number", "date"):
        task = start.get("task", task)
        task = _segments("Treat it as", _TASKS, task, _key("task", upload, names.index(target)))
    return target, task, start


def _choose_groups(upload: Upload, target: str, start: Mapping[str, str]) -> str | None:
    """Ask for the column whose equal values mark rows that belong together; return it, or None."""
    names, none = upload.table.names, ""
    possible = [none, *possible_groups(upload.table, target)]
    asked = next((names[at] for at in table_choices.positions(start.get("groups", ""))), none)
    return (
        st.selectbox(
            "Rows that belong together",
            possible,
            index=possible.index(asked) if asked in possible else 0,
            format_func=lambda name: f"those of one {printable(name)}" if name else "none: each is a draw of its own",
            help="Rows of one person, day or place stay on one side of each split. Bounds take one row of each.",
            key=_key("groups", upload, names.index(target)),
        )
        or None
    )


def _choose_columns(
    upload: Upload, target: str, groups: str | None, start: Mapping[str, str]
) -> tuple[tuple[str, ...], str, str]:
    """Ask for the columns to predict from, their scaling, and the treatment of missing values."""
    names = upload.table.names
    out, added = ({names[at] for at in table_choices.positions(start.get(key, ""))} for key in ("without", "with"))
    likely = {*suggest_columns(upload.table, target), *added} - out
    key = _key("columns", upload, names.index(target), groups is not None and names.index(groups))
    columns = st.multiselect(
        "Columns to predict it from",
        [name for name in names if name not in (target, groups)],
        default=[name for name in names if name in likely and name not in (target, groups)],
        key=key,
    )
    return tuple(columns), key


def _choose_class(upload: Upload, target: str, dataset: datasets.Dataset, start: Mapping[str, str]) -> int | None:
    """Ask for the class to separate from all others; return ``None`` if the target is a number."""
    likely = _likely_class(dataset)
    labels = list(dataset.label_names)
    if likely is None or len(labels) <= 2:
        return likely
    asked = int(start.get("class", likely))
    return st.selectbox(
        "Class to separate from all others",
        labels,
        index=labels.index(asked if asked in labels else likely),
        format_func=lambda one: dataset.label_names[one],
        key=_key("class", upload, upload.table.names.index(target)),
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


def show_problem(chosen: Chosen) -> None:
    """Show the learning problem that was chosen."""
    dataset, binary = chosen.dataset, chosen.binary
    above = int((binary.y == 1).sum())
    columns = "column" if dataset.n_features == 1 else "columns"
    st.markdown(
        f"**n = {dataset.n_samples} rows, d = {dataset.n_features} {columns}.** The figures show two "
        f"classes: red, {escaping.markdown(binary.label_names[1])} ({above} rows), and blue, "
        f"{escaping.markdown(binary.label_names[-1])} ({binary.n_samples - above} rows)."
    )


def show_preparation(chosen: Chosen) -> None:
    """Show how the learning problem was made from the table."""
    dataset = chosen.dataset
    st.caption(
        f"{escaping.markdown(dataset.description)} Scaling and filling of missing values use all rows, including those "
        "that are held out below."
    )
    if len(dataset.label_names) > 2:
        st.markdown(f"The {len(dataset.label_names)} classes:")
        layout.table(class_counts(dataset))


def choose_coordinates(chosen: Chosen) -> tuple[int, int] | None:
    """Ask for the two columns of a map; return ``None`` for the first two principal components."""
    names = [printable(name) for name in chosen.dataset.feature_names]
    if len(names) <= 2:
        return (0, 1) if len(names) == 2 else None  # one column allows no map: the error is raised later
    table = " ".join(map(str, chosen.key[:2]))
    positions = list(range(len(names)))
    components, two = "the first two principal components", "two columns"
    asked = [at for at in table_choices.positions(chosen.start.get("map", "")) if at in positions]
    first = asked if len(asked) == 2 else [0, 1]
    left, middle, right = st.columns(3)
    default = two if len(asked) == 2 else components
    how = left.segmented_control("Map of", [components, two], default=default, required=True, key=f"map {table}")
    if how != two:
        return None
    across, upwards = (
        place.selectbox(way, positions, at, format_func=names.__getitem__, key=f"{way.lower()} {table} {len(names)}")
        for place, way, at in ((middle, "Across", first[0]), (right, "Upwards", first[1]))
    )
    return across, upwards


def keep_in_link(upload: Upload, chosen: Chosen, axes: tuple[int, int] | None) -> dict[str, tuple[str, ...]]:
    """Put the choices on the table into the URL, and return the parameters of a link to them."""
    on_map = {"map": table_choices.as_positions(axes)} if axes and chosen.dataset.n_features > 2 else {}
    return {table_choices.TABLE_CHOICES.key: _keep(upload, chosen.asked | on_map)}


def forget_in_link() -> None:
    """Drop the choices on a removed table from the URL; choices of a link wait for the visitor's first table."""
    table_choices.keep(st.session_state[_WAITING])


def first_rows(table: Table) -> pd.DataFrame:
    """Return the first rows of a table, as text."""
    rows = range(min(table.n_rows, SHOWN_ROWS))
    return pd.DataFrame(
        [[escaping.cell(one.shown(i)) if one.kind == "text" else one.shown(i) for one in table.columns] for i in rows],
        columns=[escaping.cell(name) for name in table.names],
    )


def class_counts(dataset: Dataset) -> pd.DataFrame:
    """Count the rows of each class."""
    return pd.DataFrame(
        {
            "class": [escaping.cell(printable(name)) for name in dataset.label_names.values()],
            "rows": [int((dataset.y == label).sum()) for label in dataset.label_names],
        }
    )
