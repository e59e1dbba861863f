"""Open a page as a browser does: `python deploy/health.py 8501` ends with 0 if the server shows it.

A server may answer `/_stcore/health` while every page of it fails. The glossary computes nothing, but waits in line
while the server is busy: a wait is no failure. A server that is stuck does not even open the connection.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.util import find_spec, module_from_spec

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

PAGE = "glossary"
#: Seconds until the connection has to be open, and the page there.
TO_OPEN, PATIENCE = 30.0, 120.0


def shows_a_page(port: int) -> bool:
    """Whether the server on a port of this machine shows a page without an error."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    # As the settings of the server demand, see docs/deployment.md.
    name = (os.environ.get("STREAMLIT_SERVER_ALLOWED_HOSTS", "").split() or ["127.0.0.1"])[0].replace("*", "health")
    path = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    address = "/".join(part for part in (f"ws://{name}:{port}", path, "_stcore/stream") if part)
    asked = BackMsg()
    asked.rerun_script.page_name = PAGE
    # Without it, the first script of a new server goes on with the app's first page, which starts a run.
    asked.rerun_script.context_info.url = f"http://{name}/{PAGE}"
    end = time.monotonic() + PATIENCE
    try:
        with connect(address, address=("127.0.0.1", port), proxy=None, open_timeout=TO_OPEN, max_size=None) as browser:
            browser.send(asked.SerializeToString())
            parts = 0
            while True:
                said = ForwardMsg.FromString(browser.recv(max(0.0, end - time.monotonic()), decode=False))
                if said.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:  # the first page of a new server
                    parts = 0
                elif said.WhichOneof("type") == "script_finished":
                    return parts > 0 and said.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
                if said.delta.new_element.WhichOneof("type") == "exception":
                    return False
                parts += said.WhichOneof("type") == "delta"
    except (OSError, WebSocketException):  # a TimeoutError is an OSError
        return False


if __name__ == "__main__":
    spec = find_spec("streamlit")
    assert spec is not None
    sys.modules["streamlit"] = module_from_spec(spec)  # its messages alone: to import all of it takes a second
    sys.exit(not shows_a_page(int(sys.argv[1])))
