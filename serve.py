"""The app as `make app` and the container serve it: app.py, with what never changes compressed once and kept.

Streamlit sends its own scripts and styles, 9 MB on a first visit, as they are, so that no processor time goes into
compressing them at every request. Here each of them is compressed at its first request alone. A middleware is
Streamlit's own hook for this, and this one knows nothing of Streamlit but what HTTP says: where an answer no longer
says that it is immutable, it passes as it is. `streamlit run app.py` serves the same app without all this.
"""

import asyncio
import gzip
import posixpath
from collections.abc import Callable

import pyarrow
import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def _brotli(body: bytes) -> bytes:
    # More than 5 takes up to 30 times as long, for a tenth less.
    return pyarrow.Codec("brotli", compression_level=5).compress(body, asbytes=True)


#: The best first.
ENCODINGS: dict[str, Callable[[bytes], bytes]] = {"br": _brotli, "gzip": gzip.compress}
if not pyarrow.Codec.is_available("brotli"):
    del ENCODINGS["br"]
#: Kept at most, in bytes: all of Streamlit's files take 14 MB in both encodings.
MOST = 32 * 2**20
SMALLEST = 1000
#: Where Streamlit has files with a hash in their name; nothing else is asked for its head.
FOLDER = "/static/"
TEXT = ("text/", "application/javascript", "application/json", "image/svg")

_Key = tuple[str, str, str]


class CompressedOnce:
    """Middleware: answers that are immutable text go out compressed, in the best encoding that a browser takes.

    Parameters
    ----------
    app : ASGI application
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        self._kept: dict[_Key, asyncio.Future[bytes | None]] = {}
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        encoding = _wanted(scope)
        if encoding is None:
            await self._app(scope, receive, send)
            return
        # Asked for its head alone, the app says what it would send, and reads no file for it.
        status, headers, _ = await _answer(self._app, scope | {"method": "HEAD"})
        if status != 200 or not _worth_compressing(headers):
            await self._app(scope, receive, send)
            return
        path = posixpath.normpath(scope["path"])
        body = await self._compressed((path, headers["etag"], encoding), scope)
        if body is None:
            await self._app(scope, receive, send)
            return
        changed = MutableHeaders(raw=headers.raw)
        changed["content-length"] = str(len(body))
        changed["content-encoding"] = encoding
        changed["etag"] = f"W/{headers['etag'].removeprefix('W/')}"  # the same content in other bytes
        changed.add_vary_header("Accept-Encoding")
        await send({"type": "http.response.start", "status": 200, "headers": changed.raw})
        await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})

    async def _compressed(self, key: _Key, scope: Scope) -> bytes | None:
        """The answer as it is kept, compressed when it is first asked for; None where it is to be sent as it is."""
        if key not in self._kept:
            if self._size > MOST:
                return None
            self._kept[key] = asyncio.ensure_future(self._compress(key, scope | {"method": "GET"}))
        try:
            compressed = await asyncio.shield(self._kept[key])  # a visitor who leaves takes nothing from those who wait
        except Exception:  # whatever it is, the app says it better when it is asked itself
            compressed = None
        if compressed is None:
            self._kept.pop(key, None)
        return compressed

    async def _compress(self, key: _Key, scope: Scope) -> bytes | None:
        """None where the file is not what its head said, or not whole."""
        status, headers, body = await _answer(self._app, scope)
        if status != 200 or headers.get("etag") != key[1] or headers.get("content-length") != str(len(body)):
            return None
        compressed = await asyncio.to_thread(ENCODINGS[key[2]], body)
        self._size += len(compressed)
        return compressed


def _wanted(scope: Scope) -> str | None:
    """The encoding to answer a request in; None where it is to be left alone."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or FOLDER not in scope["path"]:
        return None
    headers = Headers(scope=scope)
    if "range" in headers or "if-none-match" in headers:
        return None
    offered = dict(_weighed(part) for part in headers.get("accept-encoding", "").split(","))
    return next((encoding for encoding in ENCODINGS if offered.get(encoding, "0").strip("0.")), None)


def _weighed(part: str) -> tuple[str, str]:
    """Name and weight of an encoding that a browser takes: "gzip;q=0.5" is ("gzip", "0.5"), "gzip" is ("gzip", "1")."""
    name, _, weight = part.partition(";")
    return name.strip().lower(), weight.partition("=")[2].strip() or "1"


def _worth_compressing(headers: Headers) -> bool:
    return (
        "immutable" in headers.get("cache-control", "")
        and "etag" in headers
        and "content-encoding" not in headers
        and headers.get("content-type", "").startswith(TEXT)
        and int(headers.get("content-length", "0")) >= SMALLEST
    )


async def _answer(app: ASGIApp, scope: Scope) -> tuple[int, Headers, bytes]:
    """Status, headers and body of an app's answer, all of it whoever disconnects meanwhile."""
    start: Message = {"status": 500, "headers": []}
    body: list[bytes] = []

    async def hear(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = message
        elif message["type"] == "http.response.body":
            body.append(message.get("body", b""))

    async def nothing_more() -> Message:
        return await asyncio.get_running_loop().create_future()

    await app(scope, nothing_more, hear)
    return start["status"], Headers(raw=start["headers"]), b"".join(body)


app = st.App("app.py", middleware=[Middleware(CompressedOnce)])
