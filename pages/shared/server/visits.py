"""Identity and presence of visitors, for what outlasts a session, such as a run.

A visitor is a browser, identified by the token that Streamlit's server gives it against forged requests, so a reloaded
page or another tab belongs to the same visitor. Without that cookie, in a frame of another site, it is a session.
"""

from __future__ import annotations

import hashlib
import secrets

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

_COOKIE = "_streamlit_xsrf"
_sessions: dict[str, str] = {}
"""Visitors by session, as far as sessions were connected at the last run"""


def current_visitor() -> str:
    """Return the visitor of this session, a secret; every run of a script calls this."""
    if "browser" not in st.session_state:
        st.session_state["browser"] = visitor_of_cookie(st.context.cookies.get(_COOKIE)) or secrets.token_hex(16)
    if (context := get_script_run_ctx()) is not None:  # None where Python runs app.py without a server
        for gone in [one for one in list(_sessions) if not _connected(one)]:
            _sessions.pop(gone, None)
        _sessions[context.session_id] = st.session_state["browser"]
    return st.session_state["browser"]


def is_present(visitor: str) -> bool:
    """Return whether a visitor has a page open."""
    return any(of == visitor and _connected(session) for session, of in list(_sessions.items()))


def _connected(session: str) -> bool:
    return runtime.exists() and bool(runtime.get_instance().is_active_session(session))


def has_cookie() -> bool:
    """Return whether this session's browser sends the token, without which the server accepts no file.

    In a frame of another site it does not, unless the server allows that. Without a connection, as in tests, it does.
    """
    guarded = st.get_option("server.enableXsrfProtection")
    return not guarded or not st.context.headers or _COOKIE in st.context.cookies


def visitor_of_cookie(value: object) -> str | None:
    """Return a digest of the token in a cookie's value; None if there is no token.

    Streamlit writes ``2|mask|masked token|time``, all but the last in hexadecimal digits, with a new mask each time.
    """
    try:
        _, mask, masked, _ = value.split("|")
        mask = bytes.fromhex(mask)
        masked = bytes.fromhex(masked)
        token = bytes(byte ^ mask[i % len(mask)] for i, byte in enumerate(masked))
    except (AttributeError, TypeError, ValueError, ZeroDivisionError):
        return None
    return hashlib.sha256(token).hexdigest() if len(token) >= 16 else None
