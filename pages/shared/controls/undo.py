"""Undo and redo: a gesture is one step, however many settings it changes.

The browser's Back and Forward do the same: `undo.js` makes one entry of its history a step. The history of a page
holds the values of all its controls and of the URL's parameters that are settings; it ends when the reader leaves the
page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import streamlit as st

from pages.shared import browser

#: The most steps that can be undone.
MAX_STEPS = 50

#: Of the fragment with the two buttons.
KEY = "steps_of_page"
_STEPS = "steps of the settings"
_HERE = Path(__file__).parent
_component = browser.component("steps", _HERE / "undo.js", '<div class="steps"></div>')
_STYLE = (_HERE / "undo.css").read_text(encoding="utf-8")


@dataclass
class Steps:
    """The settings that a page has had, and the place among them."""

    page: str
    entries: list[dict] = field(default_factory=list)
    place: int = 0
    runs: int = 0
    """How often the page has run"""
    moving: bool = False
    """Whether an undo or a redo sets the next settings"""

    def record(self, entry: dict) -> None:
        """Add settings after the current ones, unless they are the settings before or after."""
        self.runs += 1
        if not self.entries or self.moving:
            self.entries[self.place : self.place + 1] = [entry]
            self.moving = False
        elif entry != self.entries[self.place]:
            self._go_to(entry)

    def _go_to(self, entry: dict) -> None:
        # The browser's Back and Forward lead here too.
        for place in (self.place - 1, self.place + 1):
            if 0 <= place < len(self.entries) and self.entries[place] == entry:
                self.place = place
                return
        self.entries[self.place + 1 :] = [entry]
        del self.entries[: -MAX_STEPS - 1]
        self.place = len(self.entries) - 1

    def can_move(self, by: int) -> bool:
        """Return whether there are settings so many steps away."""
        return 0 <= self.place + by < len(self.entries)

    def move(self, by: int) -> dict:
        """Move to the settings so many steps away, and return them."""
        self.place += by
        self.moving = True
        return self.entries[self.place]


@st.fragment(key=KEY)
def record(page: str, read: Callable[[], SimpleNamespace], keys: Iterable[str], names: Iterable[str]) -> None:
    """Record the settings of a page, by controls and by parameters of the URL, and show the two buttons."""
    values = read()
    steps = st.session_state.get(_STEPS)
    if steps is None or steps.page != page:
        steps = st.session_state[_STEPS] = Steps(page)
    steps.record({key: getattr(values, key) for key in keys} | {name: st.query_params.get_all(name) for name in names})
    names = tuple(names)
    with st.container(horizontal=True, key="steps"):
        keep_entries(page, steps.runs)
        for name, by, shortcut in (("Undo", -1, "Ctrl+Z"), ("Redo", 1, "Ctrl+Shift+Z")):
            st.button(
                name,
                help=f"{name} the last change of the settings ({shortcut})",
                icon=f":material/{name.lower()}:",
                type="tertiary",
                disabled=not steps.can_move(by),
                on_click=_move,
                args=(by, names),
                key=name.lower(),
            )


def keep_entries(page: str, runs: int = 0) -> None:
    """Keep one entry a gesture in the browser's history; pages without settings need it on the way to others."""
    st.html(f"<style>{_STYLE}</style>")
    _component(data={"page": page, "runs": runs}, key="step_entries")


def _move(by: int, names: tuple[str, ...]) -> None:
    steps: Steps = st.session_state[_STEPS]
    if not steps.can_move(by):  # a second click before the first one is answered
        return
    for name, value in steps.move(by).items():
        if name not in names:
            st.session_state[name] = value
        elif value:
            st.query_params[name] = value
        else:
            st.query_params.pop(name, None)
    st.rerun()
