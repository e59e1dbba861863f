"""Every page is entered through app.py.

Streamlit takes a folder named pages/ for an older kind of app until `st.navigation` has been called once in the
server's life: a link straight to a page of a fresh server would show it without the app around it.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

_ENTERED = "entered through app.py"


def mark() -> None:
    """Called by app.py in every run."""
    st.session_state[_ENTERED] = True


def insist() -> None:
    """Called by every page before anything else: without app.py around it, start again with app.py."""
    if _ENTERED not in st.session_state:
        here = urlsplit(st.context.url or "").path.rsplit("/", 1)[-1]
        stand_ins = [st.Page(lambda: None, title="Loading", default=True)]
        stand_ins += [st.Page(lambda: None, title="Loading", url_path=here)] if here else []
        st.navigation(stand_ins, position="hidden")
        st.rerun()
