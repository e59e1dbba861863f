"""Controls as data, mounted in a row below the title and kept in the URL.

A page lists its controls once. The list defines the widgets, the query parameters of a link, and how an invalid link
is sanitized: it gets the nearest allowed value, unknown names are ignored, and the page shows a note.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Protocol

import streamlit as st

from pages.shared import browser, escaping
from pages.shared.controls import presentation, undo
from pages.shared.server import navigation, workers

_NOTES = "notes about the link"
_MOUNTED = "controls of the page"
_HEADINGS = "controls below each heading"
_MORE = "more_settings"

#: Names that older links have; they open the whole page, without a note.
_FORMER = ("hide", "pin", "plain", "star", "table", "ties", "view")

# Parameters that mail programs, search engines and social networks append to links. They stay there, without a note.
_TRACKING_PREFIXES = ("utm_", "mtm_", "matomo_", "pk_", "hsa_", "_hs", "__hs", "mc_", "_ga", "_gl", "_x_tr_")
_TRACKING_SUFFIXES = ("clid", "braid", "clsrc", "_fat_id", "igsh", "igshid", "mkt_tok", "srsltid")


@dataclass(frozen=True)
class Control(ABC):
    """One setting; its key is also its name in the URL."""

    key: str
    label: str
    help: str | None = None
    only_if: tuple[str, tuple[str, ...]] | None = field(default=None, kw_only=True)
    """An earlier control and its values for which this one applies; for other values it is hidden."""

    def current(self):
        """Return the value that the page shows."""
        return st.session_state.get(self.key, self.default)

    def put(self, value) -> None:
        """Set the value, before the widget is shown."""
        st.session_state[self.key] = value

    def applies(self, values: SimpleNamespace) -> bool:
        """Return whether this control applies, given the values of earlier ones."""
        return self.only_if is None or getattr(values, self.only_if[0]) in self.only_if[1]

    @abstractmethod
    def sanitize(self, raw: list[str]) -> tuple[str | list[str] | None, str | None]:
        """Return the value for the URL in place of `raw` (``None``: none), and a note if it differs."""

    def read(self, text: str):
        """Return the value of a sanitized text of the URL."""
        return text

    @abstractmethod
    def render(self):
        """Show the widget and return its value."""

    @property
    def _in_url(self) -> dict[str, Any]:
        """What all widgets get: the key, which is bound to the URL, the help, and what a change runs again."""
        return {"key": self.key, "help": self.help, "bind": "query-params", "on_change": _rerun_rest}

    def _note(self, raw, taken: str, allowed: str) -> str:
        return (
            f"The link asked for {self.key} = {escaping.value_as_code(raw)}; allowed is {allowed}, so {taken} is used."
        )


@dataclass(frozen=True)
class Options(Control):
    """One of a few names."""

    options: tuple[str, ...] = ()
    default: str = ""
    segmented: bool = False

    def sanitize(self, raw):
        if len(raw) == 1 and raw[0] in self.options:
            return raw[0], None
        return None, self._note(", ".join(raw), repr(self.default), "one of " + ", ".join(self.options))

    def render(self):
        if self.segmented:
            return st.segmented_control(self.label, self.options, default=self.default, required=True, **self._in_url)
        return st.selectbox(self.label, self.options, index=self.options.index(self.default), **self._in_url)


@dataclass(frozen=True)
class Tabs(Options):
    """One of a few parts of a page. Its tabs are not in the row: the page shows them where the parts are."""

    def current(self):
        return st.session_state.get(self.key) or st.query_params.get(self.key, self.default)

    def render(self):
        """Return the part that is open; the row shows nothing."""
        return self.current()

    def show(self):
        """Show the tabs, and return a container for the part that is open."""
        tabs = st.tabs(self.options, key=self.key, on_change="rerun", bind="query-params")
        return next(tab for tab in tabs if tab.open)


@dataclass(frozen=True)
class Several(Control):
    """Any of a few names, at least one."""

    options: tuple[str, ...] = ()
    default: tuple[str, ...] = ()

    def read(self, text):
        return (text,)

    def sanitize(self, raw):
        known = list(dict.fromkeys(name for name in raw if name in self.options))
        if known == raw:
            return raw, None
        taken = known or list(self.default)
        return taken, self._note(", ".join(raw), ", ".join(taken), "any of " + ", ".join(self.options))

    def current(self):
        chosen = super().current()
        return tuple(name for name in self.options if name in chosen) or self.default

    def render(self):
        # Presets and undo set tuples; Streamlit knows its default, which the URL omits, as a list.
        if isinstance(set_by_page := st.session_state.get(self.key), tuple):
            st.session_state[self.key] = list(set_by_page)
        default = list(self.default)
        if not st.pills(self.label, self.options, selection_mode="multi", default=default, **self._in_url):
            st.caption(f":red[Choose at least one. Shown until then: {', '.join(self.default)}.]")
        return self.current()


@dataclass(frozen=True)
class Number(Control):
    """A number on an evenly spaced scale; whole if `step` is."""

    low: float = 0
    high: float = 1
    default: float = 0
    step: float = 1

    @property
    def _whole(self) -> bool:
        return isinstance(self.step, int)

    def _text(self, value) -> str:
        return f"{value:d}" if self._whole else f"{round(value, 6):g}"

    def nearest(self, value: float) -> float:
        """Return the nearest allowed value."""
        inside = min(max(value, self.low), self.high)
        # Round: as a sum of steps, 0.35 would differ from the number in a link.
        return round(self.low + round((inside - self.low) / self.step) * self.step, 9)

    def sanitize(self, raw):
        value = _as_number(raw)
        if value is None:
            return None, self._note(", ".join(raw), self._text(self.default), self._allowed)
        nearest = self.nearest(value)
        if math.isclose(nearest, value, rel_tol=1e-9, abs_tol=1e-9):
            return raw[0], None
        return self._text(nearest), self._note(raw[0], self._text(nearest), self._allowed)

    def read(self, text):
        return self.nearest(int(float(text)) if self._whole else float(text))

    @property
    def _allowed(self) -> str:
        whole = "a whole number" if self._whole else "a number"
        steps = "" if self.step == 1 else f" in steps of {self.step:g}"
        return f"{whole} from {self._text(self.low)} to {self._text(self.high)}{steps}"

    def render(self):
        return st.slider(self.label, self.low, self.high, self.default, self.step, **self._in_url)


@dataclass(frozen=True)
class Scale(Control):
    """A number from a list of values, usually evenly spaced in its logarithm."""

    values: tuple[float, ...] = ()
    default: float = 1.0

    def nearest(self, value: float) -> float:
        """Return the nearest value of the scale, by ratio where both are positive."""
        logarithmic = value > 0 and self.values[0] > 0
        return min(self.values, key=lambda v: abs(math.log(v / value)) if logarithmic else abs(v - value))

    def read(self, text):
        return self.nearest(float(text))

    def sanitize(self, raw):
        value = _as_number(raw)
        ends = f"a number from {self.values[0]:g} to {self.values[-1]:g}"
        if value is None:
            return None, self._note(", ".join(raw), as_text(self.default), ends)
        nearest = self.nearest(value)
        text = as_text(nearest)
        if math.isclose(nearest, value, rel_tol=0.006):  # links have three digits, or two
            return text, None
        inside = self.values[0] <= value <= self.values[-1]
        return text, self._note(raw[0], text, "a step of the slider" if inside else ends)

    def render(self):
        return st.select_slider(self.label, self.values, value=self.default, format_func=as_text, **self._in_url)


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    default: bool = False

    def read(self, text):
        return text == "true"

    def sanitize(self, raw):
        if raw in (["true"], ["false"]):
            return raw[0], None
        return None, self._note(", ".join(raw), str(self.default).lower(), "true or false")

    def render(self):
        return st.toggle(self.label, self.default, **self._in_url)


def _as_number(raw: list[str]) -> float | None:
    try:
        value = float(raw[0])
    except ValueError:
        return None
    return value if len(raw) == 1 and math.isfinite(value) else None


def as_text(value) -> str:
    """Return a value of a control as text, also in the URL; as in live views, 0.501 of a logarithmic scale is 0.5."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float):
        return str(value)
    two = float(f"{value:.2g}")
    return f"{two if value % 1 and abs(two - value) < 0.006 * abs(value) else round(value, 6):g}"


def same_setting(shown, expected) -> bool:
    """Return whether a widget shows this value of its control; the order of several names does not matter."""
    if isinstance(expected, float):
        return math.isclose(shown, expected)
    if isinstance(expected, tuple):
        return set(shown) == set(expected)
    return shown == expected


def without_headings(controls: Iterable[Control | str]) -> list[Control]:
    """Return the controls of a page."""
    return [control for control in controls if isinstance(control, Control)]


class Parameter(Protocol):
    """A setting in the URL without a widget in the row."""

    key: str
    is_setting: bool
    """Whether undo takes its changes back"""

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        """Return the text for the URL and a note, as for a control."""
        ...

    def settle(self, values: SimpleNamespace):
        """Return its value, given the values of the controls; may change its text in the URL."""
        ...


@dataclass(frozen=True)
class Code:
    """What a reader has set by hand in a live view, as a code in the URL; there is none for the default."""

    key: str
    decode: Callable[[str], Any]
    """Returns the value of a code, also of an empty one, or raises a ValueError"""
    allowed: str
    """What a code holds, and an example"""
    otherwise: str
    """What happens without a code"""
    outcome: Callable[[str, str], str] = lambda _own, shown: shown
    """Returns what the outcome of a lesson's step shows, from the reader's code and the step's"""
    default = ""
    is_setting = True

    def current(self) -> str:
        """Return the code in the URL."""
        return st.query_params.get(self.key, "")

    def put(self, code: str) -> None:
        """Set the code in the URL."""
        if code:
            st.query_params[self.key] = code
        else:
            st.query_params.pop(self.key, None)

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        """Return the code, or ``None`` and a note on what is no code."""
        try:
            self.decode(raw[0] if len(raw) == 1 else "more than one")
        except ValueError:
            asked = escaping.value_as_code(", ".join(raw))
            return None, f"The link asked for {self.key} = {asked}; allowed are {self.allowed}. So {self.otherwise}."
        return raw[0] or None, None

    def settle(self, _values: SimpleNamespace):
        """Return the value in the URL."""
        return self.decode(self.current())

    def take(self, code: object) -> None:
        """Keep in the URL what a browser sends, if it is a code."""
        try:
            value = self.decode(code if isinstance(code, str) else "no text")
        except ValueError:
            return
        self.put(str(code) if value != self.decode("") else "")


def mount(
    controls: Sequence[Control | str],
    tour=None,
    names: Sequence[str] = (),
    parameters: Sequence[Parameter] = (),
    first: Sequence[str] = (),
) -> SimpleNamespace:
    """Sanitize the URL, show the controls in a row below the title, and return their values by key.

    A string among the controls is a heading. The keys `first` come first, all other controls are folded. A control that
    does not apply has its default. `tour` holds the lessons of the page (`lessons.Tour`), which may set controls. The
    page reads the parameters `names` of the URL itself; `parameters` are sanitized here. Call it once a page, before
    any other widget.
    """
    own = without_headings(controls)
    _forget_other_pages(own)
    _sanitize_url([*own, *parameters, *(tour.parameters if tour else ()), presentation.Projector()], names)
    presentation.read_flag()
    if tour:
        tour.enter()
    presentation.apply_styles()
    presentation.keep_place()
    row = st.container(horizontal=True, vertical_alignment="bottom", key="controls")
    with row:
        shown = {control.key: control for control in _show_controls(controls, first)}
        if own and tour:
            tour.show_row()

    def read() -> SimpleNamespace:
        values = SimpleNamespace()
        for key, control in shown.items():
            setattr(values, key, control.current() if control.applies(values) else control.default)
        for parameter in parameters:
            setattr(values, parameter.key, parameter.settle(values))
        return values

    def read_row() -> list[tuple[bool, bool]]:
        values = read()  # a control without a choice says so
        return [(control.applies(values), st.session_state.get(control.key) == []) for control in own]

    whole = _NOTES in st.session_state or bool(tour and tour.runs)
    st.session_state[_MOUNTED] |= {"read": read, "whole": whole, "row": read_row(), "read_row": read_row}
    hide_controls(())
    if own:
        settings = [*names, *(parameter.key for parameter in parameters if parameter.is_setting)]
        with row:
            undo.record(navigation.current_page(), read, list(shown), settings)
    else:
        undo.keep_entries(navigation.current_page())
    return read()


def show_rest(part: Callable[[SimpleNamespace], object]) -> None:
    """Show the rest of a page, or a part of it, by the values of its controls.

    A change of a control runs and sends `part` again, and neither the controls nor the words above unless they depend
    on it. The last part of a page, with its picture, comes first.
    """
    shown: list[str] = st.session_state[_MOUNTED]["rest"]
    key = f"part {len(shown)} of {navigation.current_page()}"

    @st.fragment(key=key)
    def show() -> None:
        if key not in shown:
            shown.append(key)
        navigation.count_run()
        with workers.compute_slot():
            part(st.session_state[_MOUNTED]["read"]())

    show()


def _rerun_rest() -> None:
    """Run again only what `show_rest` has shown, if it has, after a change that leaves the row as it is."""
    mounted = st.session_state[_MOUNTED]
    if browser.interactive and mounted["rest"] and not mounted["whole"] and mounted["row"] == mounted["read_row"]():
        st.rerun([undo.KEY, *reversed(mounted["rest"])])


def rerun_page() -> None:
    """Run the whole page again, after an event in what `show_rest` may have shown, which would run alone."""
    if st.session_state.get(_MOUNTED, {}).get("rest"):
        st.rerun()


def _show_controls(controls: Sequence[Control | str], first: Sequence[str]) -> list[Control]:
    """Show the first controls, and the others in a fold below their headings; return all in this order."""
    own = without_headings(controls)
    in_order = [control for key in first for control in own if control.key == key]
    values, shown = SimpleNamespace(), {}
    for control in in_order:
        _show(control, values)
    if len(own) > len(first):
        with st.expander("More settings", key=_MORE):
            for k, (heading, below) in enumerate(_sections(controls)):
                rest = [control for control in below if control.key not in first]
                in_order += rest
                if not any(control.applies(values) for control in rest):
                    values.__dict__.update({control.key: control.default for control in rest})
                    continue
                with st.container(horizontal=True, key=f"heading_{k}"):
                    if heading:
                        st.markdown(f"**{heading}**")
                    shown[f"heading_{k}"] = {control.key for control in rest if _show(control, values)}
        shown[_MORE] = set().union(*shown.values())
    st.session_state[_HEADINGS] = shown
    return in_order


def _show(control: Control, values: SimpleNamespace) -> bool:
    """Show a control if it applies, and add its value; return whether it is visible."""
    applies = control.applies(values)
    setattr(values, control.key, control.render() if applies else control.default)
    return applies


def hide_controls(keys: Iterable[str]) -> None:
    """Hide controls that the page shows elsewhere, and headings that have no other control."""
    empty = [heading for heading, shown in st.session_state[_HEADINGS].items() if shown <= set(keys)]
    if hidden := [f".st-key-{key}" for key in (*keys, *empty)]:
        st.html(f"<style>{', '.join(hidden)} {{display: none}}</style>")


def _sections(controls: Sequence[Control | str]) -> list[tuple[str | None, list[Control]]]:
    """Pair each heading with the controls below it; the first section has no heading."""
    sections = [(None, [])]
    for one in controls:
        if isinstance(one, Control):
            sections[-1][1].append(one)
        else:
            sections.append((one, []))
    return sections


def _forget_other_pages(controls: list[Control]) -> None:
    """Drop the values of the previous page after a change of page: the link or the defaults set the controls."""
    here = navigation.current_page()
    mounted = st.session_state.setdefault(_MOUNTED, {"page": here, "keys": set()})
    mounted["rest"] = []
    if mounted["page"] != here:
        for key in mounted["keys"]:
            st.session_state.pop(key, None)
        mounted["page"], mounted["keys"] = here, set()
    for control in controls:
        if control.key not in mounted["keys"]:
            mounted["keys"].add(control.key)
            st.session_state.pop(control.key, None)


def rerun_with_notes(notes: Sequence[str] | None = None) -> None:
    """Rerun after a change of the URL, which widgets read when they first appear.

    The rerun shows these notes about the link, or else the pending ones.
    """
    if notes is None:
        notes, _ = st.session_state.get(_NOTES, ((), None))
    st.session_state[_NOTES] = notes, st.query_params.to_dict()
    st.rerun()


def _sanitize_url(controls: list, names: Sequence[str]) -> None:
    notes = _drop_unknown([*(control.key for control in controls), *names])
    changed = bool(notes)
    for control in controls:
        raw = st.query_params.get_all(control.key)
        if not raw or control.key in st.session_state:  # a widget that exists keeps the URL up to date itself
            continue
        sanitized, note = control.sanitize(raw)
        if sanitized in (raw, *raw[:1]):
            continue
        changed = True
        notes += [note] if note else []
        if sanitized is None:
            del st.query_params[control.key]
        else:
            st.query_params[control.key] = sanitized
    if changed:
        rerun_with_notes(notes)
    notes, sanitized_url = st.session_state.get(_NOTES, ((), None))
    if st.query_params.to_dict() != sanitized_url:  # changed since: the notes are out of date
        st.session_state.pop(_NOTES, None)
    elif notes:
        with st.container(key="link_note"):
            st.warning("\n\n".join(notes), icon=":material/link_off:")


def _drop_unknown(known: list[str]) -> list[str]:
    """Remove unknown names from the URL, and return a note about them."""
    asked = [
        name
        for name in st.query_params
        if name not in known
        and not (name.lower().startswith(_TRACKING_PREFIXES) or name.lower().endswith(_TRACKING_SUFFIXES))
    ]
    for name in asked:
        del st.query_params[name]
    unknown = [name for name in asked if name not in _FORMER]
    if not unknown:
        return []
    return [
        f"The link asked for {escaping.value_as_code(', '.join(unknown))}, no setting of this page; allowed is any of "
        f"{escaping.allowed(known, unknown[0])}, so {'it is' if len(unknown) == 1 else 'they are'} ignored."
    ]
