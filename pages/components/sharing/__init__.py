"""The last row of every page: a link to the whole experiment, its figures, its numbers, and code that recomputes them.

Nothing is computed before it is asked for: figures are exported in the browser, the table is made on a click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import streamlit as st

from pages.components.controls import Control
from pages.components.sharing.recipes import program

_HERE = Path(__file__).parent
_html, _css, _js = ((_HERE / f"row.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
_link_and_figures = st.components.v2.component("sharing", html=_html, css=_css, js=_js, isolate_styles=False)


def query(controls: Sequence[Control | str], values: SimpleNamespace) -> list[tuple[str, str]]:
    """The query of a link to these values: every control that counts, those at their defaults too."""
    return [
        (control.key, text)
        for control in controls
        if isinstance(control, Control) and control.counts(values)
        for text in _texts(getattr(values, control.key))
    ]


def _place() -> list[tuple[str, str]]:
    """The lesson, its step and what is hidden, as the address has them; the projector has a button of its own."""
    return [(name, st.query_params[name]) for name in ("lesson", "step", "hide") if name in st.query_params]


def _texts(value) -> list[str]:
    """What the URL says for a control's value."""
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
    caption: str = "All of it takes the settings that you see, the seed included: the link opens them again, and the "
    "code, run from the repository's root, prints the numbers anew.",
) -> None:
    """Show the row, at the end of a page.

    Parameters
    ----------
    page : str
        Name of its file, and of its recipe.
    controls, values
        Those of the page.
    numbers : callable
        Makes the table, by the recipe's function of that name; called on a click, outside of the script's run.
    settings : mapping, optional
        Settings of the recipe that are no control's value by the control's key.
    parameters : mapping, optional
        What the link says of this page beside the controls.
    caption : str, optional
        What there is to take.
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
            lambda: code,  # it may name columns of a visitor's: nothing lies at an address before it is asked for
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
    """The code, sent when it is asked for: what colours it takes the browser 1.5 MB of script."""
    shown = st.expander(
        "Python code that reproduces this view", icon=":material/code:", key="shown_code", on_change="rerun"
    )
    if shown.open:
        shown.code(code, "python")
