"""Controls as data, mounted in the sidebar and kept in the URL.

A page lists its controls once; from the list come the widgets, the query parameters of a link, and what happens to a
link that asks for something impossible: the nearest allowed value is taken and the reader is told. What the values
mean is the page's business.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from urllib.parse import urlsplit

import streamlit as st

from pages.components import entry

_NOTES = "notes about the link"
_MOUNTED = "controls of the page"


@dataclass(frozen=True)
class Control(ABC):
    """One setting. Its key is also its name in the URL."""

    key: str
    label: str
    help: str | None = None
    only_if: tuple[str, tuple[str, ...]] | None = field(default=None, kw_only=True)
    """An earlier control and the values of it for which this one counts; for others it is not shown."""

    @abstractmethod
    def mend(self, raw: list[str]) -> tuple[str | list[str] | None, str | None]:
        """What the URL should say instead of `raw` (``None``: nothing), and a note if that is something else."""

    @abstractmethod
    def render(self):
        """Show the widget and return its value."""

    def _refused(self, raw, taken: str, allowed: str) -> str:
        return f"The link asked for {self.key} = {raw!r}; allowed is {allowed}, so {taken} is used."


@dataclass(frozen=True)
class Options(Control):
    """One of a few names."""

    options: tuple[str, ...] = ()
    default: str = ""
    segmented: bool = False

    def mend(self, raw):
        if len(raw) == 1 and raw[0] in self.options:
            return raw[0], None
        return None, self._refused(", ".join(raw), repr(self.default), "one of " + ", ".join(self.options))

    def render(self):
        if self.segmented:
            return st.segmented_control(
                self.label,
                self.options,
                default=self.default,
                required=True,
                key=self.key,
                help=self.help,
                bind="query-params",
            )
        return st.selectbox(
            self.label,
            self.options,
            index=self.options.index(self.default),
            key=self.key,
            help=self.help,
            bind="query-params",
        )


@dataclass(frozen=True)
class Several(Control):
    """Any of a few names, at least one."""

    options: tuple[str, ...] = ()
    default: tuple[str, ...] = ()

    def mend(self, raw):
        known = list(dict.fromkeys(name for name in raw if name in self.options))
        if known == raw:
            return raw, None
        taken = known or list(self.default)
        return taken, self._refused(", ".join(raw), ", ".join(taken), "any of " + ", ".join(self.options))

    def render(self):
        chosen = st.multiselect(
            self.label,
            self.options,
            default=list(self.default),
            key=self.key,
            help=self.help,
            bind="query-params",
        )
        if not chosen:
            st.caption(f":red[Choose at least one; {', '.join(self.default)} is used meanwhile.]")
        return tuple(chosen) or self.default


@dataclass(frozen=True)
class Number(Control):
    """A number on an even scale; whole if `step` is."""

    low: float = 0
    high: float = 1
    default: float = 0
    step: float = 1

    @property
    def _whole(self) -> bool:
        return isinstance(self.step, int)

    def _text(self, value) -> str:
        return f"{value:d}" if self._whole else f"{round(value, 6):g}"

    def mend(self, raw):
        value = _as_number(raw)
        if value is None:
            return None, self._refused(", ".join(raw), self._text(self.default), self._allowed)
        nearest = min(max(value, self.low), self.high)
        nearest = self.low + round((nearest - self.low) / self.step) * self.step
        if math.isclose(nearest, value, rel_tol=1e-9, abs_tol=1e-9):
            return raw[0], None
        return self._text(nearest), self._refused(raw[0], self._text(nearest), self._allowed)

    @property
    def _allowed(self) -> str:
        whole = "a whole number" if self._whole else "a number"
        steps = "" if self.step == 1 else f" in steps of {self.step:g}"
        return f"{whole} from {self._text(self.low)} to {self._text(self.high)}{steps}"

    def render(self):
        return st.slider(
            self.label,
            self.low,
            self.high,
            self.default,
            self.step,
            key=self.key,
            help=self.help,
            bind="query-params",
        )


@dataclass(frozen=True)
class Scale(Control):
    """A number from a list of values, usually evenly spaced in its logarithm."""

    values: tuple[float, ...] = ()
    default: float = 1.0

    def nearest(self, value: float) -> float:
        """The value of the scale that is nearest, in ratio where both are above 0."""
        logarithmic = value > 0 and self.values[0] > 0
        return min(self.values, key=lambda v: abs(math.log(v / value)) if logarithmic else abs(v - value))

    def mend(self, raw):
        value = _as_number(raw)
        ends = f"a number from {self.values[0]:g} to {self.values[-1]:g}"
        if value is None:
            return None, self._refused(", ".join(raw), f"{self.default:g}", ends)
        nearest = self.nearest(value)
        text = f"{nearest:g}"
        # A value between two of the slider's is no mistake: the slider shows which one is taken.
        inside = self.values[0] <= value <= self.values[-1] or math.isclose(nearest, value, rel_tol=1e-9)
        return text, None if inside else self._refused(raw[0], text, ends)

    def render(self):
        return st.select_slider(
            self.label,
            self.values,
            value=self.default,
            format_func=lambda value: f"{value:g}",
            key=self.key,
            help=self.help,
            bind="query-params",
        )


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

    default: bool = False

    def mend(self, raw):
        if raw in (["true"], ["false"]):
            return raw[0], None
        return None, self._refused(", ".join(raw), str(self.default).lower(), "true or false")

    def render(self):
        return st.toggle(self.label, self.default, key=self.key, help=self.help, bind="query-params")


def powers(low: int, high: int, per_decade: int) -> tuple[float, ...]:
    """Values from 10^low to 10^high, evenly spaced in their logarithm, rounded to three figures."""
    count = (high - low) * per_decade
    return tuple(float(f"{10 ** (low + i / per_decade):.3g}") for i in range(count + 1))


def _as_number(raw: list[str]) -> float | None:
    try:
        value = float(raw[0])
    except ValueError:
        return None
    return value if len(raw) == 1 and math.isfinite(value) else None


def mount(controls: Sequence[Control | str]) -> SimpleNamespace:
    """Mend the URL, show the controls in the sidebar, and return their values by key.

    A string among the controls is a heading. A control that does not count has its default. Must be called once a
    page, before any other widget.
    """
    entry.insist()
    own = [control for control in controls if isinstance(control, Control)]
    _forget_other_pages(own)
    _mend_url(own)
    values = SimpleNamespace()
    with st.sidebar:
        for control in controls:
            if isinstance(control, str):
                st.markdown(f"**{control}**")
                continue
            counts = control.only_if is None or getattr(values, control.only_if[0]) in control.only_if[1]
            setattr(values, control.key, control.render() if counts else control.default)
    return values


def _forget_other_pages(controls: list[Control]) -> None:
    """On the way in from another page, let the link or the page's own example decide, not what that page was set to."""
    here = urlsplit(st.context.url or "").path
    mounted = st.session_state.setdefault(_MOUNTED, {"page": here, "keys": set()})
    if mounted["page"] != here:
        mounted["page"], mounted["keys"] = here, set()
    for control in controls:
        if control.key not in mounted["keys"]:
            mounted["keys"].add(control.key)
            st.session_state.pop(control.key, None)


def _mend_url(controls: list[Control]) -> None:
    changed, notes = False, []
    for control in controls:
        raw = st.query_params.get_all(control.key)
        if not raw or control.key in st.session_state:  # a widget that is there already keeps the URL itself
            continue
        mended, note = control.mend(raw)
        if mended in (raw, *raw[:1]):
            continue
        changed = True
        notes += [note] if note else []
        if mended is None:
            del st.query_params[control.key]
        else:
            st.query_params[control.key] = mended
    if changed:
        # Widgets read the URL when they first appear: let them appear in a run that starts with the mended one.
        st.session_state[_NOTES] = notes, st.query_params.to_dict()
        st.rerun()
    notes, mended_url = st.session_state.get(_NOTES, ((), None))
    if st.query_params.to_dict() != mended_url:  # something has been changed since: the notes have done their duty
        st.session_state.pop(_NOTES, None)
    elif notes:
        st.warning("\n\n".join(notes), icon=":material/link_off:")
