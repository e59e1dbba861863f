"""The current page, and settings that are made once a server."""

from __future__ import annotations

import gc
import threading

import streamlit as st
from cachetools import cached
from streamlit.navigation.page import StreamlitPage
from threadpoolctl import threadpool_limits

from pages.shared import catalogue
from pages.shared.server import workers

_ENTERED, _RUNS = "entered through app.py", "runs of the script"


def record_page(page: str) -> None:
    """Store the address of the current page, and count the run; app.py calls this in every run."""
    st.session_state[_ENTERED] = page
    count_run()


def count_run() -> None:
    """Count a run of the script, or of what it shows below the controls."""
    st.session_state[_RUNS] = count_of_runs() + 1


def current_page() -> str:
    """Return the address of the current page; `st.context.url` may be wrong after a change of page."""
    return st.session_state[_ENTERED]


def move(to: StreamlitPage) -> None:
    """Open the page that took the place of a former one, with the settings of the address."""
    st.switch_page(to, query_params=st.query_params.to_dict())


def page() -> catalogue.Page:
    """Return the record of the current page."""
    return catalogue.BY_NAME[current_page() or "start"]


def count_of_runs() -> int:
    """Return how often `count_run` has counted for this session: not when a smaller part runs alone."""
    return st.session_state.get(_RUNS, 0)


@cached({}, condition=threading.Condition())
def settle_libraries() -> None:
    """Make reruns faster, once a server."""
    # Figures are small problems in many sessions: BLAS threads would mostly wait for each other.
    threadpool_limits(limits=1, user_api="blas")
    # Objects made by imports need not be scanned at each collection.
    gc.collect()
    gc.freeze()
    workers.start()
