"""Identity and presence of visitors, for what outlasts a session, such as a run.

A visitor is a browser, identified by the token that Streamlit's server gives it against forged requests, so a reloaded
page or another tab belongs to the same visitor. Without that cookie, in a frame of another site, it is a session.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

_COOKIE = "_streamlit_xsrf"
# A page that is reloaded, or a phone that is put away, is disconnected for a moment.
_SECONDS_OF_GRACE = 30.0


class Visitors:
    """The visitors that this server has seen, with their sessions.

    Parameters
    ----------
    connected : callable
        Whether a session, by its id, has a connection.
    clock : callable, optional
        Seconds that only grow.
    """

    def __init__(self, connected: Callable[[str], bool], clock: Callable[[], float] = time.monotonic):
        self._connected, self._clock = connected, clock
        self._lock = threading.Lock()
        self._seen: dict[str, dict[str, float]] = {}  # visitor -> session -> when it was last connected

    def __len__(self) -> int:
        return len(self._seen)

    def record(self, visitor: str, session: str) -> None:
        """Record that a session of a visitor is connected."""
        with self._lock:
            for other in list(self._seen):
                self._update(other)
            self._seen.setdefault(visitor, {})[session] = self._clock()

    def is_present(self, visitor: str) -> bool:
        """Whether a visitor has a page open, or had one a moment ago."""
        with self._lock:
            self._update(visitor)
            return visitor in self._seen

    def _update(self, visitor: str) -> None:
        """Drop the sessions of a visitor that have ended."""
        now = self._clock()
        sessions = self._seen.get(visitor, {})
        for session, last in list(sessions.items()):
            if self._connected(session):
                sessions[session] = now
            elif now - last > _SECONDS_OF_GRACE:
                del sessions[session]
        if not sessions:
            self._seen.pop(visitor, None)


def _connected(session: str) -> bool:
    return runtime.exists() and bool(runtime.get_instance().is_active_session(session))


_visitors = Visitors(_connected)


def current_visitor() -> str:
    """The visitor of this session, a secret; every run of a script calls this."""
    if "browser" not in st.session_state:
        st.session_state["browser"] = visitor_of_cookie(st.context.cookies.get(_COOKIE)) or secrets.token_hex(16)
    if (context := get_script_run_ctx()) is not None:  # None where Python runs app.py without a server
        _visitors.record(st.session_state["browser"], context.session_id)
    return st.session_state["browser"]


def is_present(visitor: str) -> bool:
    """Whether a visitor has a page open, or had one a moment ago."""
    return _visitors.is_present(visitor)


def has_cookie() -> bool:
    """Whether this session's browser sends the token, without which the server accepts no file.

    In a frame of another site it does not, unless the server allows that. Without a connection, as in tests, it does.
    """
    guarded = st.get_option("server.enableXsrfProtection")
    return not guarded or not st.context.headers or _COOKIE in st.context.cookies


def visitor_of_cookie(value: object) -> str | None:
    """A digest of the token in a cookie's value; None if there is no token.

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
