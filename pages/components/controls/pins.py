"""A against B: settings that the reader pins, to compare what the page shows with what it showed.

The pinned settings are in the URL, as a query within the query: those that differ from the page's defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.components import escaping
from pages.components.controls import own_points
from pages.components.controls.own_points import POINTS
from pages.components.controls.widgets import HOW_PAINTED, Control, as_text, without_headings

#: The text of settings that are all at their defaults.
DEFAULTS = "defaults"
_LONGEST = 2000  # letters: the code of the most points, and every control


class Pin:
    """The parameter of the URL that holds the pinned settings of a page."""

    key = "pin"
    is_setting = False

    def __init__(self, controls: Sequence[Control | str], names: Mapping[str, tuple[str, str]] | None = None):
        self.controls = {one.key: one for one in without_headings(controls) if one.key not in HOW_PAINTED}
        self.names = names or {}
        """Other parameters of the URL that are settings of the page, each with a control and its value for which they
        apply"""

    # --- text in the URL ----------------------------------------------------------------------------------------------

    def text(self, values: SimpleNamespace) -> str:
        """Settings as text: values of controls, and of the other parameters that the URL has."""
        pairs = [
            (key, as_text(getattr(values, key)))
            for key, control in self.controls.items()
            if control.applies(values) and as_text(getattr(values, key)) != as_text(control.default)
        ]
        named = self._named(values) | {POINTS.key: values.points}
        return urlencode([*pairs, *((name, text) for name, text in named.items() if text)]) or DEFAULTS

    def _named(self, values: SimpleNamespace) -> dict[str, str]:
        """The other parameters, empty where they do not apply."""
        return {
            name: st.query_params.get(name, "") if getattr(values, key) == value else ""
            for name, (key, value) in self.names.items()
        }

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        """The text with allowed values only, or ``None``, and a note if it differs."""
        if len(raw) != 1 or len(raw[0]) > _LONGEST:
            asked = escaping.value_as_code(", ".join(raw))
            return None, f"The link asked for pin = {asked}; allowed is one text of settings, so nothing is pinned."
        if raw[0] == DEFAULTS:
            return DEFAULTS, None
        kept, notes = [], []
        for name, text in parse_qsl(raw[0], keep_blank_values=True) or [(raw[0], "")]:
            taken, note = self._sanitized(name, text)
            kept += [(name, taken)] if taken is not None else []
            notes += [note] if note else []
        known = dict(kept)
        if known.get("data") == own_points.OWN and POINTS.key not in known:
            return None, " ".join([*notes, f"The pin asked for {own_points.OWN} without them, so nothing is pinned."])
        text = raw[0] if not notes and len(known) == len(kept) else urlencode(known) or None
        return text, f"In the settings that are pinned: {' '.join(notes)}" if notes else None

    def _sanitized(self, name: str, text: str) -> tuple[str | None, str | None]:
        if name == POINTS.key:
            return POINTS.sanitize([text])
        if name in self.names:
            return text, None
        if name not in self.controls:
            known = escaping.allowed([*self.controls, *self.names, POINTS.key], name)
            return None, f"{escaping.value_as_code(name)} is no setting of this page; allowed is any of {known}."
        taken, note = self.controls[name].sanitize([text])
        return taken if isinstance(taken, str) else None, note

    # --- settings -----------------------------------------------------------------------------------------------------

    def settle(self, values: SimpleNamespace) -> SimpleNamespace | None:
        """The pinned settings, or ``None``: values of controls, of `names` as texts, and the code of points."""
        text = st.query_params.get(self.key)
        if not text:
            return None
        asked = {} if text == DEFAULTS else dict(parse_qsl(text))
        pinned = SimpleNamespace(**vars(values))
        for key, control in self.controls.items():
            applies = key in asked and control.applies(pinned)
            setattr(pinned, key, control.read(asked[key]) if applies else control.default)
        for name in self.names:
            setattr(pinned, name, asked.get(name, ""))
        pinned.points = asked.get(POINTS.key, "") if pinned.data == own_points.OWN else ""
        return pinned

    def differences(self, pinned: SimpleNamespace, values: SimpleNamespace) -> list[str]:
        """What has changed since, as "label a → b"."""
        changes = []
        for key, control in self.controls.items():
            before = getattr(pinned, key)
            after = getattr(values, key)
            if as_text(before) != as_text(after) and (control.applies(pinned) or control.applies(values)):
                changes.append(f"{control.label} {as_text(before)} → {as_text(after)}")
        if pinned.points and values.points and pinned.points != values.points:
            changes.append("other points")
        named = self._named(values)
        changes += [f"other {name}" for name, text in named.items() if text and getattr(pinned, name) not in ("", text)]
        return changes

    # --- buttons ------------------------------------------------------------------------------------------------------

    def offer(self, values: SimpleNamespace) -> None:
        """The button that pins the current settings, or the one that unpins."""
        if self.key in st.query_params:
            st.button("Unpin", icon=":material/keep_off:", on_click=self._unpin, help="End the comparison", key="unpin")
            return
        st.button(
            "Pin",
            icon=":material/keep:",
            help="Keep these settings as A, then change something: A and B are shown together.",
            on_click=self._pin,
            args=(self.text(values),),
            key="pin_settings",
        )

    def _pin(self, text: str) -> None:
        st.query_params[self.key] = text

    def _unpin(self) -> None:
        st.query_params.pop(self.key, None)
