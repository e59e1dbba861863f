"""Parts of a page that are computed when the reader comes near to them.

Most readers move a control and look at the first figure. A part far below is neither computed nor sent until the reader
scrolls to it; then it follows the controls as long as it stays near. When the page rests, a device with a mouse also
fetches the other parts, for the settings of this run alone, so that they can be printed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.shared import browser, layout
from pages.shared.server import navigation, workers

_SCRIPT = Path(__file__).with_name("deferred.js")
_place = browser.component("place", _SCRIPT, '<div class="place"></div>', ["deferred.css"])
#: False without a browser, in tests and in the static edition: nobody scrolls, so all parts are shown at once.
waits = True


def show(name: str, part: Callable[[], object]) -> None:
    """Show a part of a page, once the reader is near to it.

    Parameters
    ----------
    name : str
        Different for each part of a page.
    part : callable
        Computes and shows the part. It runs again by itself when the reader comes near, so it must not set anything
        that other parts use. Expected errors become one sentence in its place.
    """
    # Keys include the page, so that two pages never share state.
    key = f"{navigation.page().name}_{name}"
    if waits:
        _show_when_near(key, navigation.count_of_runs(), part)
        return
    with st.container(key=f"near_{key}"), layout.show_errors():
        part()


@st.fragment
def _show_when_near(key: str, run: int, part: Callable[[], object]) -> None:
    near = _near(key, run)
    with st.container(key=f"near_{key}"):
        sent = {"run": run, "near": near}
        # Streamlit keeps only values that have a callback.
        place = _place(data=sent, key=f"place_{key}", default={"near": 0}, on_near_change=lambda: None)
        if place.near > 0 and not near:  # reported to a server that has been restarted since
            st.rerun()
        if not near:
            return
        with workers.compute_slot(), layout.show_errors():
            part()


def _near(key: str, run: int) -> float:
    """Return the time of the browser's report, minus the one run that a part is shown for; 0 if it is not shown."""
    state = st.session_state.get(f"place_{key}")
    near = state.get("near") if state else 0
    return near if isinstance(near, int | float) and (near > 0 or near == -run) else 0
