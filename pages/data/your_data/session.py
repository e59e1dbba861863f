"""Results of a visitor's table; the session's state alone keeps them, since all sessions share the other cache."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable

import streamlit as st
from cachetools import LRUCache

from pages.shared.server.limits import LIMITS

_RESULTS = "results on your data"


def remembered(key: Hashable, make: Callable):
    """Return the result of `make` for a key, from this session's cache if it is there; its bytes are bounded."""
    size = 1_000_000 * LIMITS.session_megabytes
    results = st.session_state.setdefault(_RESULTS, LRUCache(size, lambda result: len(pickle.dumps(result))))
    if key not in results:
        result = make()
        try:
            results[key] = result
        except ValueError:  # it is larger than the cache
            return result
    return results[key]


def known(key: Hashable):
    """Return the cached result for a key, or None."""
    return st.session_state.get(_RESULTS, {}).get(key)


def forget() -> None:
    """Drop all results of this session."""
    st.session_state.pop(_RESULTS, None)
