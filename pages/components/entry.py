"""Every page is entered through app.py.

Streamlit takes a folder named pages/ for an older kind of app until `st.navigation` has been called once in the
server's life: a link straight to a page of a fresh server would show it without the app around it.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

_ENTERED = "entered through app.py"


def mark(page: str) -> None:
    """Called by app.py in every run, with the address of the page that is shown."""
    st.session_state[_ENTERED] = page


def here() -> str:
    """The address of the page that is shown. (That of `st.context.url` may be garbled after a change of page.)"""
    return st.session_state[_ENTERED]


def insist() -> None:
    """Called by every page before anything else: without app.py around it, start again with app.py."""
    if _ENTERED not in st.session_state:
        here = urlsplit(st.context.url or "").path.rsplit("/", 1)[-1]
        stand_ins = [st.Page(lambda: None, title="Loading", default=True)]
        stand_ins += [st.Page(lambda: None, title="Loading", url_path=here)] if here else []
        st.navigation(stand_ins, position="hidden")
        st.rerun()
