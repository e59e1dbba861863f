"""The last row of every page: a link to the experiment, its figures, its numbers, and code that recomputes them.

Figures are exported in the browser; the table is computed on a click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import streamlit as st

from pages.components.controls.widgets import Control, without_headings
from pages.components.javascript import join_modules
from pages.components.sharing.recipes import program

_HERE = Path(__file__).parent
_link_and_figures = st.components.v2.component(
    "sharing",
    html=(_HERE / "row.html").read_text(encoding="utf-8"),
    css=(_HERE / "row.css").read_text(encoding="utf-8"),
    js=join_modules(_HERE / "row.js"),
    isolate_styles=False,
)


def query(controls: Sequence[Control | str], values: SimpleNamespace) -> list[tuple[str, str]]:
    """The query parameters of a link to these values: all controls that apply, also those at their defaults."""
    return [
        (control.key, text)
        for control in without_headings(controls)
        if control.applies(values)
        for text in _texts(getattr(values, control.key))
    ]


def _place() -> list[tuple[str, str]]:
    """The parameters of the lesson and of hidden controls; projector mode has a button of its own."""
    return [(name, st.query_params[name]) for name in ("lesson", "step", "hide") if name in st.query_params]


def _texts(value) -> list[str]:
    """A control's value as texts in the URL."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, bool):
        return [str(value).lower()]
    return [value if isinstance(value, str) else f"{round(value, 6):g}"]


def offer(
    page: str,
    controls: Sequence[Control | str],
    values: SimpleNamespace,
    numbers: Callable[[], pd.DataFrame],
    settings: Mapping | None = None,
    parameters: Mapping[str, str] | None = None,
    caption: str = "Link, figures, numbers and code use the current settings, seed included. Run the code from the "
    "repository's root to recompute the numbers.",
) -> None:
    """Show the row at the end of a page.

    Parameters
    ----------
    page : str
        Name of the page's file and of its recipe.
    controls, values
        Controls of the page and their values.
    numbers : callable
        Makes the table, by the recipe's function of that name; called on a click, outside of the script run.
    settings : mapping, optional
        Settings of the recipe that differ from the control of that name, or have none.
    parameters : mapping, optional
        Further parameters of the link.
    caption : str, optional
        Text below the row.
    """
    code = program(page, vars(values) | dict(settings or {}))
    st.divider()
    st.markdown("**Take it with you**")
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="top", key="take_it_with_you"):
        link = [*query(controls, values), *(parameters or {}).items(), *_place()]
        _link_and_figures(key="sharing", data={"page": page, "query": link}, width="content")
        st.download_button(
            "Numbers (CSV)",
            lambda: numbers().to_csv(index=False),
            f"{page}.csv",
            "text/csv",
            key="numbers",
            icon=":material/table:",
            on_click="ignore",
        )
        st.download_button(
            "Python code",
            lambda: code,  # may name a visitor's columns, so it gets no address before a click
            f"{page}_experiment.py",
            "text/x-python",
            key="code",
            icon=":material/code:",
            on_click="ignore",
        )
    st.caption(caption)
    _show(code)


@st.fragment
def _show(code: str) -> None:
    """The code, sent when the expander opens: highlighting it loads 1.5 MB of script."""
    shown = st.expander(
        "Python code that reproduces this view", icon=":material/code:", key="shown_code", on_change="rerun"
    )
    if shown.open:
        shown.code(code, "python")
