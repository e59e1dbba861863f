"""The place where pinned settings and the current ones are shown beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import streamlit as st

from pages.components import layout
from pages.components.controls import screen

#: Width in pixels of a side, on a narrow and on a wide screen.
NARROW, WIDE = 340, 520

Side = Callable[[SimpleNamespace, str], None]


def show(pinned: SimpleNamespace, values: SimpleNamespace, differences: Sequence[str], side: Side) -> None:
    """A, the pinned settings, and B, the current ones, with what differs.

    `side` shows one of them; it gets the settings, and "A" or "B".
    """
    changes = "; ".join(differences) if differences else "nothing yet: change a setting, and B follows."
    st.markdown(f"**A → B:** {changes}")
    left, right = st.columns(2)
    for place, settings, name in ((left, pinned, "A"), (right, values, "B")):
        with place, st.container(key=f"side_{name}"):
            try:
                side(settings, name)
            except layout.EXPECTED_ERRORS as error:
                layout.show_error(error)


def heading(name: str, errors: str) -> None:
    """The name of a side with its errors."""
    st.markdown(f"**{name}**{', pinned' if name == 'A' else ', now'}: {errors}")


def width() -> int:
    """Width in pixels of a side."""
    return NARROW if screen.narrow() else WIDE
