"""Results in memory: on toy and shipped data for all sessions, on points drawn by hand for their session alone.

Streamlit keeps both within a limit of bytes. It computes a result once if several sessions need it at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from types import ModuleType
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.server import workers
from pages.shared.server.limits import LIMITS

Function = TypeVar("Function", bound=Callable)


@st.cache_data(max_size=f"{LIMITS.cache_megabytes}MB", ttl="1h", show_spinner=False)
def _of_all(key: str, _make: Callable[[], object]) -> object:
    return _make()


@st.cache_data(max_size=f"{LIMITS.session_megabytes}MB", scope="session", show_spinner=False)
def _of_session(key: str, _make: Callable[[], object]) -> object:
    return _make()


def shared_cache(function: Function) -> Function:
    """Cache what a function returns for its arguments, frozen descriptions; each caller gets its own copy."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(*arguments, **named):
        keep = _of_session if _drawn_by_hand((*arguments, *named.values())) else _of_all
        if keep is _of_session and get_script_run_ctx(suppress_warning=True) is None:
            return function(*arguments, **named)
        # Streamlit's own key of a description leaves out the types of descriptions inside it, and pickled bytes of
        # equal texts differ if these are two objects.
        return keep(repr((name, arguments, named)), partial(function, *arguments, **named))

    return known


def cache_results(
    module: ModuleType, *names: str, in_workers: Sequence[str] = (), parts_in_workers: Sequence[str] = ()
) -> None:
    """Cache what functions of a page's `compute` or `view` return; these know nothing of Streamlit.

    Functions call each other by their names in the module, so each uses cached results of the others. Functions
    `in_workers` take long and run in another process. So do `parts_in_workers`, whose results are not cached.
    """
    for name in (*names, *in_workers, *parts_in_workers):
        function = getattr(module, name)
        if hasattr(function, "__wrapped__"):  # by an earlier run of the page
            continue
        computed = function if name in names else wraps(function)(partial(workers.compute, function))
        setattr(module, name, computed if name in parts_in_workers else shared_cache(computed))


def _drawn_by_hand(value) -> bool:
    """Return whether a description has points that its reader has drawn, see `ToyData`."""
    if is_dataclass(value):  # whose properties may be costly, or have that name too
        named = {one.name: getattr(value, one.name) for one in fields(value)}
        return bool(named.get("points")) or any(map(_drawn_by_hand, named.values()))
    return isinstance(value, tuple) and any(map(_drawn_by_hand, value))
