"""Results of a visitor's table; the session's state alone keeps them, since all sessions share the other cache."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable

import streamlit as st

from pages.shared.server.limits import LIMITS

_RESULTS, _MAX_RESULTS = "results on your data", 12


def remembered(key: Hashable, make: Callable):
    """Return the result of `make` for a key, from this session's cache if it is there.

    The cache is bounded in number and in bytes; the least recently used results are dropped first.
    """
    results = st.session_state.setdefault(_RESULTS, OrderedDict())
    if key not in results:
        results[key] = make()
        # Keep the newest, whatever its size: the page needs it again at once, and the limits on tables bound it.
        while len(results) > _MAX_RESULTS or (
            len(results) > 1 and len(pickle.dumps(results)) > 1_000_000 * LIMITS.session_megabytes
        ):
            results.popitem(last=False)
    results.move_to_end(key)
    return results[key]


def known(key: Hashable):
    """Return the cached result for a key, or None."""
    return st.session_state.get(_RESULTS, {}).get(key)


def forget() -> None:
    """Drop all results of this session."""
    st.session_state.pop(_RESULTS, None)
