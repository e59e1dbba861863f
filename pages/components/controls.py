"""Controls as data, mounted in the sidebar and kept in the URL.

A page lists its controls once; from the list come the widgets, the query parameters of a link, and what happens to a
link that asks for something impossible: the nearest allowed value is taken, an unknown name is left out, and the page
says so. What the values mean is the page's business.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import streamlit as st

from pages.components import entry, lecturing, literal

_NOTES = "notes about the link"
_MOUNTED = "controls of the page"
_HEADINGS = "controls below each heading"

# What mail programs, search engines and social networks append to any link that they pass on. Nobody has asked the page
# for these, so a note about them would be no help: they are left as they are.
_TRACKING_PREFIXES = ("utm_", "mtm_", "matomo_", "pk_", "hsa_", "_hs", "__hs", "mc_", "_ga", "_gl", "_x_tr_")
_TRACKING_SUFFIXES = ("clid", "braid", "clsrc", "_fat_id", "igsh", "igshid", "mkt_tok", "srsltid")


@dataclass(frozen=True)
class Control(ABC):
    """One setting. Its key is also its name in the URL."""

    key: str
    label: str
    help: str | None = None
    only_if: tuple[str, tuple[str, ...]] | None = field(default=None, kw_only=True)
    """An earlier control and the values of it for which this one counts; for others it is not shown."""
    formerly: str | None = field(default=None, kw_only=True)
    """Its name in links that were made before it had this one; they stay valid"""

    def counts(self, values: SimpleNamespace) -> bool:
        """Whether the values of earlier controls leave this one something to say."""
        return self.only_if is None or getattr(values, self.only_if[0]) in self.only_if[1]

    @abstractmethod
    def mend(self, raw: list[str]) -> tuple[str | list[str] | None, str | None]:
        """What the URL should say instead of `raw` (``None``: nothing), and a note if that is something else."""

    @abstractmethod
    def render(self):
        """Show the widget and return its value."""

    def _refused(self, raw, taken: str, allowed: str) -> str:
        return f"The link asked for {self.key} = {literal.asked(raw)}; allowed is {allowed}, so {taken} is used."


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
        chosen = st.pills(
            self.label,
            self.options,
            selection_mode="multi",
            default=list(self.default),
            key=self.key,
            help=self.help,
            bind="query-params",
        )
        if not chosen:
            st.caption(f":red[Choose at least one; shown meanwhile: {', '.join(self.default)}.]")
        return tuple(name for name in self.options if name in chosen) or self.default


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

    def nearest(self, value: float) -> float:
        """The allowed value that is nearest."""
        inside = min(max(value, self.low), self.high)
        return self.low + round((inside - self.low) / self.step) * self.step

    def mend(self, raw):
        value = _as_number(raw)
        if value is None:
            return None, self._refused(", ".join(raw), self._text(self.default), self._allowed)
        nearest = self.nearest(value)
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


def mount(controls: Sequence[Control | str], tour=None, names: Sequence[str] = ()) -> SimpleNamespace:
    """Mend the URL, show the controls in the sidebar, and return their values by key.

    A string among the controls is a heading. A control that does not count has its default. `tour` are the page's
    lessons (`guide.Tour`), which may set controls; `names` are those that the page itself reads from the URL. Must be
    called once a page, before any other widget.
    """
    entry.insist()
    own = [control for control in controls if isinstance(control, Control)]
    _forget_other_pages(own)
    keys = [control.key for control in own]
    _mend_url([*own, *(tour.parameters if tour else ()), *lecturing.parameters(own)], names)
    lecturing.take(keys)
    if tour:
        tour.enter()
    lecturing.dress(keys)
    values, shown = SimpleNamespace(), {}
    with st.sidebar:
        for k, (heading, below) in enumerate(_sections(controls)):
            if heading:
                st.container(key=f"heading_{k}").markdown(f"**{heading}**")
            for control in below:
                setattr(values, control.key, control.render() if control.counts(values) else control.default)
            there = {control.key for control in below if control.counts(values)}
            shown[f"heading_{k}"] = {key for key in there if not lecturing.hidden(key)}
        if keys:
            lecturing.offer(keys)
    st.session_state[_HEADINGS] = shown
    give_way(())
    return values


def give_way(keys: Iterable[str]) -> None:
    """Take controls that the page shows elsewhere out of the sidebar, and every heading that is left with none."""
    empty = [heading for heading, shown in st.session_state[_HEADINGS].items() if shown <= set(keys)]
    if hidden := [f".st-key-{key}" for key in (*keys, *empty)]:
        st.html(f"<style>{', '.join(hidden)} {{display: none}}</style>")


def _sections(controls: Sequence[Control | str]) -> list[tuple[str | None, list[Control]]]:
    """Each heading with the controls below it; the first section has none."""
    sections = [(None, [])]
    for one in controls:
        if isinstance(one, Control):
            sections[-1][1].append(one)
        else:
            sections.append((one, []))
    return sections


def _forget_other_pages(controls: list[Control]) -> None:
    """On the way in from another page, let the link or the page's own example decide, not what that page was set to."""
    here = entry.here()
    mounted = st.session_state.setdefault(_MOUNTED, {"page": here, "keys": set()})
    if mounted["page"] != here:
        mounted["page"], mounted["keys"] = here, set()
    for control in controls:
        if control.key not in mounted["keys"]:
            mounted["keys"].add(control.key)
            st.session_state.pop(control.key, None)


def start_again(notes: Sequence[str] | None = None) -> None:
    """The URL was changed before the widgets came, which read it when they first appear: let them in a new run.

    It shows these notes about the link; without, those that are due already.
    """
    if notes is None:
        notes, _ = st.session_state.get(_NOTES, ((), None))
    st.session_state[_NOTES] = notes, st.query_params.to_dict()
    st.rerun()


def _mend_url(controls: list[Control], names: Sequence[str]) -> None:
    changed = _rename(controls)
    notes = _drop_unknown([*(control.key for control in controls), *names])
    changed |= bool(notes)
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
        start_again(notes)
    notes, mended_url = st.session_state.get(_NOTES, ((), None))
    if st.query_params.to_dict() != mended_url:  # something has been changed since: the notes have done their duty
        st.session_state.pop(_NOTES, None)
    elif notes:
        st.warning("\n\n".join(notes), icon=":material/link_off:")


def _rename(controls: list[Control]) -> bool:
    """Write names of older links as they are now, and return whether there were any; the new name counts if both do."""
    found = [control for control in controls if control.formerly and control.formerly in st.query_params]
    for control in found:
        raw = st.query_params.get_all(control.formerly)
        del st.query_params[control.formerly]
        if control.key not in st.query_params:
            st.query_params[control.key] = raw
    return bool(found)


def _drop_unknown(known: list[str]) -> list[str]:
    """Take out of the URL what is no name of this page, and return what there is to be said of it."""
    unknown = [name for name in st.query_params if name not in known and not _tracks(name)]
    for name in unknown:
        del st.query_params[name]
    if not unknown:
        return []
    return [
        f"The link asked for {literal.asked(', '.join(unknown))}, no setting of this page; allowed is any of "
        f"{', '.join(known)}, so {'it is' if len(unknown) == 1 else 'they are'} left out."
    ]


def _tracks(name: str) -> bool:
    return name.lower().startswith(_TRACKING_PREFIXES) or name.lower().endswith(_TRACKING_SUFFIXES)
