"""Who a visitor is to what outlasts a session, such as a run, and whether that visitor is still here.

A visitor is a browser, known by the token that Streamlit's server gives it against forged requests: so a page that is
loaded again, or another tab, is the same visitor's. Where no cookie comes, in a frame of another site, it is a session.
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
# A page that is loaded again, or a telephone that is put away, is without a connection for a moment.
_SECONDS_OF_GRACE = 30.0


class Visitors:
    """Those that this server has met, by their sessions.

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
        self._seen: dict[str, dict[str, float]] = {}  # by visitor and session, when it was last known to be connected

    def __len__(self) -> int:
        return len(self._seen)

    def meet(self, visitor: str, session: str) -> None:
        with self._lock:
            for other in list(self._seen):
                self._look_after(other)
            self._seen.setdefault(visitor, {})[session] = self._clock()

    def here(self, visitor: str) -> bool:
        """Whether a visitor has a page open, or had one a moment ago."""
        with self._lock:
            self._look_after(visitor)
            return visitor in self._seen

    def _look_after(self, visitor: str) -> None:
        """Forget the sessions that have gone."""
        now, sessions = self._clock(), self._seen.get(visitor, {})
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


def who() -> str:
    """The visitor that this session belongs to; nobody else learns it. Every run of a script calls it."""
    if "browser" not in st.session_state:
        st.session_state["browser"] = of_cookie(st.context.cookies.get(_COOKIE)) or secrets.token_hex(16)
    if (context := get_script_run_ctx()) is not None:  # None where Python runs app.py without a server
        _visitors.meet(st.session_state["browser"], context.session_id)
    return st.session_state["browser"]


def here(visitor: str) -> bool:
    """Whether a visitor has a page open, or had one a moment ago."""
    return _visitors.here(visitor)


def has_cookie() -> bool:
    """Whether this session's browser sends the token, without which the server takes no file from it.

    A frame of another site does not, unless the server allows that. Where nothing is known of a connection, it does.
    """
    guarded = st.get_option("server.enableXsrfProtection")
    return not guarded or not st.context.headers or _COOKIE in st.context.cookies


def of_cookie(value: object) -> str | None:
    """What stands for a token in whichever form its cookie has; None where there is none.

    Streamlit writes ``2|mask|masked token|time``, all but the last in hexadecimal digits, with a new mask each time.
    """
    try:
        _, mask, masked, _ = value.split("|")
        mask, masked = bytes.fromhex(mask), bytes.fromhex(masked)
        token = bytes(byte ^ mask[i % len(mask)] for i, byte in enumerate(masked))
    except (AttributeError, TypeError, ValueError, ZeroDivisionError):
        return None
    return hashlib.sha256(token).hexdigest() if len(token) >= 16 else None
