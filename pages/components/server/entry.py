"""Entry to every page through app.py.

Until `st.navigation` has been called once, Streamlit treats a folder named pages/ as an app of the older kind: on a
fresh server, a link straight to a page would show it without the navigation.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

_ENTERED = "entered through app.py"


def record_page(page: str) -> None:
    """Store the address of the current page; app.py calls this in every run."""
    st.session_state[_ENTERED] = page


def current_page() -> str:
    """The address of the current page; `st.context.url` may be wrong after a change of page."""
    return st.session_state[_ENTERED]


def require_navigation() -> None:
    """Rerun through app.py if the page was opened without it; every page calls this first."""
    if _ENTERED not in st.session_state:
        here = urlsplit(st.context.url or "").path.rsplit("/", 1)[-1]
        stand_ins = [st.Page(lambda: None, title="Loading", default=True)]
        stand_ins += [st.Page(lambda: None, title="Loading", url_path=here)] if here else []
        st.navigation(stand_ins, position="hidden")
        st.rerun()
