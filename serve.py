"""The app for `make app` and the container: app.py, with headers, a safe log, and connections that do not wait.

`streamlit run app.py` serves the same app without them.
"""

import base64
import hashlib
import re
import socket
from pathlib import Path

import streamlit as st
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.pages_manager import PagesManager

from pages.shared.server import browser_messages, logs

#: Where Streamlit serves files with a hash in their name.
FOLDER = "/static/"


def _inline_scripts() -> str:
    """Return the sources of a policy that allow the scripts inside Streamlit's own page."""
    page = Path(st.__file__).with_name("static") / "index.html"
    scripts = re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


#: What a page may load: the server's files and what its own scripts make. Streamlit writes styles into the page, and
#: loads the scripts of components as blobs. Without `frame-ancestors` any site may show a page in a frame.
POLICY = (
    f"default-src 'self'; script-src 'self' blob: {_inline_scripts()}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' blob: data:; font-src 'self' data:; media-src 'self' blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'"
)


class Guarded:
    """Middleware that adds headers for browsers: `POLICY`, no guessing of types, and cookies over TLS only.

    Parameters
    ----------
    app : ASGI application
    """

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                _guard(MutableHeaders(scope=message), scope)
            await send(message)

        await self._app(scope, receive, send_guarded)


def _guard(headers: MutableHeaders, scope: Scope) -> None:
    headers["x-content-type-options"] = "nosniff"
    # A file of FOLDER follows the policy of the page that loads it; for a missing file Streamlit sends its page.
    if FOLDER not in scope["path"] or headers.get("content-type", "").startswith("text/html"):
        headers["content-security-policy"] = POLICY
    if Headers(scope=scope).get("x-forwarded-proto", scope["scheme"]) == "https":
        cookies = headers.getlist("set-cookie")
        del headers["set-cookie"]
        for cookie in cookies:
            headers.append(
                "set-cookie", cookie if re.search(r"; *secure *(;|$)", cookie, re.I) else f"{cookie}; Secure"
            )


start_server = uvicorn.Server.startup


async def _start_without_delay(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
    """Let connections send a small message at once; else it waits, 40 ms on Linux, for a receipt of the one before."""
    for one in sockets or ():
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    await start_server(server, sockets)


# Streamlit binds the socket itself, and asyncio knows only its own ones as TCP (uvicorn, issue 3149).
uvicorn.Server.startup = _start_without_delay
# app.py names the pages. Without this, a fresh server takes pages/ for a list of scripts, and misses a page.
PagesManager.uses_pages_directory = False
logs.protect()
browser_messages.refuse_unused()  # app.py would do so only when the first page is opened
app = st.App("app.py", middleware=[Middleware(Guarded)])
