"""The reader's screen: figures, words and tables fit a narrow window, and colours a dark theme.

The browser reports both, and the page runs again if it was made for another screen. Until the first report, the page
guesses both from the browser's name and theme.
"""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from pages.shared import browser
from pages.shared.figures import narrow as narrow_figures
from rff_engine.plots.style import darken

_LOOK = "look of the screen"
_component = browser.component("screen", Path(__file__).with_name("screen.js"), '<div class="screen"></div>')
#: False in the static edition, where one file serves all screens and the browser chooses.
chooses_words = True
_PLACE = re.compile(r"\[\[([^|\]]*)\|([^|\]]*)\]\]")
_COLOUR = re.compile(r"<<([^|>]*)\|([^|>]*)>>")


def mount() -> None:
    """Let the browser report its screen; called once a page."""
    _component(data={"narrow": narrow(), "dark": dark()}, key="screen_look", on_look_change=_take)


def _take() -> None:
    match st.session_state["screen_look"].get("look"):
        case {"narrow": bool(is_narrow), "dark": bool(is_dark)}:  # a browser may send anything else
            st.session_state[_LOOK] = {"narrow": is_narrow, "dark": is_dark}


def narrow() -> bool:
    """Return whether panels stand one below the other."""
    known = st.session_state.get(_LOOK)
    return known["narrow"] if known else "Mobi" in (st.context.headers.get("User-Agent") or "")


def dark() -> bool:
    """Return whether the theme is dark."""
    known = st.session_state.get(_LOOK)
    return known["dark"] if known else st.context.theme.type == "dark"


def fit(fig):
    """Fit a Plotly figure to this screen."""
    fig = narrow_figures.stack(fig) if narrow() else fig
    return darken(fig) if dark() else fig


def words(text: str) -> str:
    """Fit a text to this screen.

    A narrow screen shows the second words of ``[[right|below]]``, a dark theme of ``<<white|dark grey>>``; other
    screens show the first.
    """
    if not chooses_words:
        return text
    return _COLOUR.sub(r"\2" if dark() else r"\1", _PLACE.sub(r"\2" if narrow() else r"\1", text))
