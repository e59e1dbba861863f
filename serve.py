"""The app as `make app` and the container serve it: app.py, with headers, a safe log, and files compressed once.

Streamlit sends its own scripts and styles, 9 MB on a first visit, uncompressed, to spare processor time at every
request. Here each file is compressed at its first request and then cached. The middleware relies on HTTP headers alone:
a response that is not marked immutable passes unchanged. `streamlit run app.py` serves the same app with none of these.
"""

import asyncio
import base64
import gzip
import hashlib
import posixpath
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow
import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.components.server import browser_messages, logs


def _brotli(body: bytes) -> bytes:
    # Higher levels take up to 30 times as long and save a tenth.
    return pyarrow.Codec("brotli", compression_level=5).compress(body, asbytes=True)


#: In order of preference.
ENCODINGS: dict[str, Callable[[bytes], bytes]] = {"br": _brotli, "gzip": gzip.compress}
if not pyarrow.Codec.is_available("brotli"):
    del ENCODINGS["br"]
#: Limit of the cache in bytes; all of Streamlit's files take 14 MB in both encodings.
MAX_CACHE_BYTES = 32 * 2**20
#: Bytes below which a file is not worth compressing.
MIN_BYTES = 1000
#: Where Streamlit serves files with a hash in their name; other paths pass without a HEAD request.
FOLDER = "/static/"
TEXT = ("text/", "application/javascript", "application/json", "image/svg")


def _inline_scripts() -> str:
    """Sources of a policy that allow the scripts inside Streamlit's own page."""
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

_Key = tuple[str, str, str]


class Guarded:
    """Middleware that adds headers for browsers: `POLICY`, types as they are sent, and cookies over TLS only.

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
    # A file of FOLDER follows the policy of the page that loads it; for one that is not there Streamlit sends its page.
    if FOLDER not in scope["path"] or headers.get("content-type", "").startswith("text/html"):
        headers["content-security-policy"] = POLICY
    if Headers(scope=scope).get("x-forwarded-proto", scope["scheme"]) == "https":
        cookies = headers.getlist("set-cookie")
        del headers["set-cookie"]
        for cookie in cookies:
            headers.append(
                "set-cookie", cookie if re.search(r"; *secure *(;|$)", cookie, re.I) else f"{cookie}; Secure"
            )


class CompressedOnce:
    """Middleware that compresses immutable text, in the best encoding that the browser accepts.

    Parameters
    ----------
    app : ASGI application
    """

    def __init__(self, app: ASGIApp):
        self._app = app
        self._cache: dict[_Key, asyncio.Future[bytes | None]] = {}
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        encoding = _encoding_for(scope)
        if encoding is None:
            await self._app(scope, receive, send)
            return
        # A HEAD request returns the headers of the response without reading the file.
        status, headers, _ = await _respond(self._app, scope | {"method": "HEAD"})
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
        changed["etag"] = f"W/{headers['etag'].removeprefix('W/')}"  # same content, other bytes
        changed.add_vary_header("Accept-Encoding")
        await send({"type": "http.response.start", "status": 200, "headers": changed.raw})
        await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})

    async def _compressed(self, key: _Key, scope: Scope) -> bytes | None:
        """The compressed body, from the cache if it is there; None if it must be sent uncompressed."""
        if key not in self._cache:
            if self._size > MAX_CACHE_BYTES:
                return None
            self._cache[key] = asyncio.ensure_future(self._compress(key, scope | {"method": "GET"}))
        try:
            compressed = await asyncio.shield(self._cache[key])  # a request that is cancelled leaves it to the others
        except Exception:  # whatever it is, the app reports it in its own response
            compressed = None
        if compressed is None:
            self._cache.pop(key, None)
        return compressed

    async def _compress(self, key: _Key, scope: Scope) -> bytes | None:
        """The compressed body; None if the response differs from its HEAD or is incomplete."""
        status, headers, body = await _respond(self._app, scope)
        if status != 200 or headers.get("etag") != key[1] or headers.get("content-length") != str(len(body)):
            return None
        compressed = await asyncio.to_thread(ENCODINGS[key[2]], body)
        self._size += len(compressed)
        return compressed


def _encoding_for(scope: Scope) -> str | None:
    """The encoding for the response to a request; None if it must not be changed."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or FOLDER not in scope["path"]:
        return None
    headers = Headers(scope=scope)
    if "range" in headers or "if-none-match" in headers:
        return None
    accepted = dict(_encoding_and_weight(part) for part in headers.get("accept-encoding", "").split(","))
    return next((encoding for encoding in ENCODINGS if accepted.get(encoding, "0").strip("0.")), None)


def _encoding_and_weight(part: str) -> tuple[str, str]:
    """Name and weight of an accepted encoding: "gzip;q=0.5" is ("gzip", "0.5"), "gzip" is ("gzip", "1")."""
    name, _, weight = part.partition(";")
    return name.strip().lower(), weight.partition("=")[2].strip() or "1"


def _worth_compressing(headers: Headers) -> bool:
    return (
        "immutable" in headers.get("cache-control", "")
        and "etag" in headers
        and "content-encoding" not in headers
        and headers.get("content-type", "").startswith(TEXT)
        and int(headers.get("content-length", "0")) >= MIN_BYTES
    )


async def _respond(app: ASGIApp, scope: Scope) -> tuple[int, Headers, bytes]:
    """Status, headers and whole body of an app's response, even if the client disconnects."""
    start: Message = {"status": 500, "headers": []}
    body: list[bytes] = []

    async def collect(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = message
        elif message["type"] == "http.response.body":
            body.append(message.get("body", b""))

    async def never_disconnects() -> Message:
        return await asyncio.get_running_loop().create_future()

    await app(scope, never_disconnects, collect)
    return start["status"], Headers(raw=start["headers"]), b"".join(body)


logs.protect()
browser_messages.refuse_unused()  # app.py would do so only when the first page is opened
app = st.App("app.py", middleware=[Middleware(Guarded), Middleware(CompressedOnce)])
