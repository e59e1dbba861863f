"""The last row of every page: a link to the experiment, its figures, its numbers, and code that recomputes them.

Figures are exported in the browser; the table is computed on a click. *Share* opens a panel
with the link, its QR code from the server, and a choice for a projector.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import streamlit as st

from pages.shared import browser
from pages.shared.catalogue import BY_NAME
from pages.shared.controls import presentation
from pages.shared.controls.widgets import Control, as_text, without_headings
from pages.shared.sharing import codes
from pages.shared.sharing.program import program

#: Called at the end of a page with the function that makes its table; the static edition sets it.
keep: Callable[[Callable[[], pd.DataFrame]], None] | None = None

_PLACE = ("lesson", "step")
_SHOWN_LINK = "link of the panel"
_link_and_figures = browser.component("sharing", Path(__file__).with_name("row.js"), styles=["row.css", "panel.css"])


def query(controls: Sequence[Control | str], values: SimpleNamespace) -> list[tuple[str, str]]:
    """Return the query parameters of a link to these values: all controls that apply, also at their defaults."""
    return [
        (control.key, text)
        for control in without_headings(controls)
        if control.applies(values)
        for text in _texts(getattr(values, control.key))
    ]


def _take_link() -> None:
    """Store the link that the panel shows, so that the next run makes its code."""
    st.session_state[_SHOWN_LINK] = st.session_state["sharing"].get("link")


def _texts(value) -> list[str]:
    """Return a control's value as texts in the URL."""
    return list(value) if isinstance(value, tuple) else [as_text(value)]


def offer(
    page: str,
    controls: Sequence[Control | str],
    values: SimpleNamespace,
    numbers: Callable[[], pd.DataFrame],
    settings: Mapping | None = None,
    parameters: Mapping[str, str | tuple[str, ...]] | None = None,
    caption: str = "Link, figures, numbers and code use the current settings, seed included. The code says what it "
    "needs, and recomputes the numbers.",
) -> None:
    """Show the row at the end of a page.

    Parameters
    ----------
    page : str
        Name of the page.
    controls, values
        Controls of the page and their values.
    numbers : callable
        Makes the table; called on a click, outside the script run.
    settings : mapping, optional
        Settings of the program that differ from the control of the same name, or have no control.
    parameters : mapping, optional
        Further parameters of the link; a parameter with several texts is repeated.
    caption : str, optional
        Text below the row.
    """
    if keep is not None:
        keep(numbers)
    code = program(page, vars(values) | dict(settings or {}))
    further = [(key, text) for key, value in (parameters or {}).items() for text in _texts(value)]
    lesson = [(name, st.query_params[name]) for name in _PLACE if name in st.query_params]
    link = [*query(controls, values), *further, *lesson]
    with st.container(key="ending"):
        st.markdown("**Take it with you**")
        _row(page, {"page": page, "query": link}, numbers, code)
        presentation.show_button()
        st.caption(f"{caption} {documentation_sentence(page)}")


@st.fragment
def _row(page: str, data: dict, numbers: Callable[[], pd.DataFrame], code: str) -> None:
    """Show buttons for the link, figures, numbers and code; a link shown in the panel reruns only this part."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="top", key="take_it_with_you"):
        picture = codes.picture_of(st.session_state.get(_SHOWN_LINK))
        _link_and_figures(key="sharing", data=data | {"code": picture}, width="content", on_link_change=_take_link)
        st.download_button(
            "Numbers (CSV)",
            lambda: numbers().to_csv(index=False),
            f"{page}.csv",
            "text/csv",
            key="numbers",
            icon=":material/table:",
            on_click="ignore",
        )
        shown = st.popover("Python code", icon=":material/code:", key="shown_code", on_change="rerun")
        if browser.interactive and not shown.open:  # highlighting the code loads 1.5 MB of script
            return
        with shown:
            st.download_button(
                "Download it",
                lambda: code,  # may name a visitor's columns, so it gets no address before a click
                f"{page}_experiment.py",
                "text/x-python",
                key="code",
                icon=":material/download:",
                on_click="ignore",
            )
            st.code(code, "python")


def documentation_address(page: str, site: str) -> str:
    """Return the address of a page's documentation on the site at the address `site`."""
    name = BY_NAME[page].documentation[0].replace("examples/", "gallery/").rsplit(".", 1)[0]
    return f"{site.rstrip('/')}/{name}.html"


def documentation_sentence(page: str) -> str:
    """Link a page's documentation, or name its file if `RFF_DOCS` is no address."""
    site = os.environ.get("RFF_DOCS", "")
    if re.fullmatch(r"https?://[^\s()<>\"']+", site):
        return f"[Documentation of this page]({documentation_address(page, site)})."
    return f"Documentation of this page: `docs/{BY_NAME[page].documentation[0]}` in the repository."
