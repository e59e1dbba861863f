"""Let Streamlit handle only the browser messages that the app uses.

Streamlit accepts messages of its developers' menu from every websocket: to clear the caches of all visitors, to name
the files of the repository, to install programs. A message that the app does not use has no effect and no answer.
"""

from __future__ import annotations

from functools import wraps

from streamlit import net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession

#: Kinds of messages, and of operations without a rerun, such as a download that is computed on a click.
USED = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"}
USED_OPERATIONS = {"deferred_file"}

_handle = AppSession.handle_backmsg


def is_used(message: BackMsg) -> bool:
    """Return whether the app uses messages of this kind."""
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in USED_OPERATIONS
    return kind in USED


@wraps(_handle)
def _handle_used(session: AppSession, message: BackMsg) -> None:
    if is_used(message):
        _handle(session, message)


def refuse_unused() -> None:
    """Make all sessions of this server, now and later, handle only messages that the app uses."""
    AppSession.handle_backmsg = _handle_used
    # At each websocket of a foreign origin Streamlit would ask another host for this server's address, and wait.
    net_util.get_external_ip = lambda: None
