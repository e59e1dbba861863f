"""Entry to every page through app.py.

Until `st.navigation` has been called once, Streamlit treats a folder named pages/ as an app of the older kind: on a
fresh server, a link straight to a page would show it without the navigation.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

_ENTERED, _RUNS = "entered through app.py", "runs of the script"


def record_page(page: str) -> None:
    """Store the address of the current page, and count the run; app.py calls this in every run."""
    st.session_state[_ENTERED] = page
    st.session_state[_RUNS] = count_of_runs() + 1


def current_page() -> str:
    """The address of the current page; `st.context.url` may be wrong after a change of page."""
    return st.session_state[_ENTERED]


def count_of_runs() -> int:
    """How often the whole script has run for this session; runs of fragments are not counted."""
    return st.session_state.get(_RUNS, 0)


def require_navigation() -> None:
    """Rerun through app.py if the page was opened without it; every page calls this first."""
    if _ENTERED not in st.session_state:
        here = urlsplit(st.context.url or "").path.rsplit("/", 1)[-1]
        stand_ins = [st.Page(lambda: None, title="Loading", default=True)]
        stand_ins += [st.Page(lambda: None, title="Loading", url_path=here)] if here else []
        st.navigation(stand_ins, position="hidden")
        st.rerun()
