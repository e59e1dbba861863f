"""Compression by the server: which files, how often, and what passes unchanged."""

from __future__ import annotations

import asyncio
import gzip

import pyarrow
import pytest
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from serve import ENCODINGS, POLICY, CompressedOnce, Guarded
from tests import loops

SCRIPT = b"let frequency = 0;" * 1000
FOREVER = {"cache-control": "public, immutable, max-age=31536000", "etag": '"one"'}
ANSWERS = {
    "/static/script.js": ("text/javascript", FOREVER),
    "/static/font.woff2": ("font/woff2", FOREVER),
    "/static/page.html": ("text/html", {"cache-control": "no-cache", "etag": '"one"'}),
    "/static/without.js": ("text/javascript", {"cache-control": FOREVER["cache-control"]}),
    "/media/table.csv": ("text/csv", FOREVER),
}
DECODE = {
    "br": lambda body: pyarrow.Codec("brotli").decompress(body, len(SCRIPT), asbytes=True),
    "gzip": gzip.decompress,
}


@pytest.fixture
def asked():
    """The requests that reached the app itself."""
    return []


@pytest.fixture
def served(asked):
    async def endpoint(request):
        asked.append((request.method, request.url.path))
        kind, headers = ANSWERS[request.url.path]
        return Response(SCRIPT, media_type=kind, headers=headers)

    return CompressedOnce(Starlette(routes=[Route(path, endpoint) for path in ANSWERS]))


def get(served, *requests):
    """Responses to concurrent requests: (status, headers, body) of each."""

    async def one(path, method="GET", **headers):
        said = []

        async def send(message):
            said.append(message)

        raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b"", "root_path": ""}
        await served(scope, None, send)
        found = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return said[0]["status"], found, b"".join(message.get("body", b"") for message in said[1:])

    async def all_of_them():
        return await asyncio.gather(*(one(path, **dict(options)) for path, options in requests))

    return loops.run(all_of_them())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_immutable_file_is_read_and_compressed_once(served, asked, encoding):
    answers = get(served, *[("/static/script.js", {"accept_encoding": encoding})] * 5)
    for status, headers, body in answers:
        assert status == 200 and DECODE[encoding](body) == SCRIPT and int(headers["content-length"]) == len(body)
        assert headers["content-encoding"] == encoding and headers["vary"] == "Accept-Encoding"
        assert headers["cache-control"] == FOREVER["cache-control"] and headers["etag"].startswith("W/")
        assert len(body) < len(SCRIPT) / 10
    assert asked.count(("GET", "/static/script.js")) == 1


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("GZIP", "gzip"),
        ("identity", None),
        ("br;q=0.0", None),
        ("", None),
        (";;=,,q", None),
    ],
)
def test_encoding_follows_the_accept_header(served, offered, taken):
    ((_, headers, body),) = get(served, ("/static/script.js", {"accept_encoding": offered}))
    assert headers.get("content-encoding") == taken
    assert (DECODE[taken](body) if taken else body) == SCRIPT


@pytest.mark.parametrize("path", [path for path in ANSWERS if path != "/static/script.js"])
def test_other_responses_pass_unchanged(served, path):
    ((status, headers, body),) = get(served, (path, {"accept_encoding": "br"}))
    assert (status, body) == (200, SCRIPT) and "content-encoding" not in headers


@pytest.mark.parametrize("disconnects_after", [0, 1, 3])
def test_a_client_that_disconnects_does_not_affect_the_next(tmp_path, disconnects_after):
    (tmp_path / "script.js").write_bytes(SCRIPT * 20)  # several pieces
    files = StaticFiles(directory=tmp_path)

    async def immutable(scope, receive, send):
        async def hear(message):
            if message["type"] == "http.response.start":
                MutableHeaders(raw=message["headers"])["cache-control"] = FOREVER["cache-control"]
            await send(message)
            await asyncio.sleep(0)

        await files(scope | {"path": scope["path"].removeprefix("/static")}, receive, hear)

    served = CompressedOnce(immutable)
    scope = {"type": "http", "method": "GET", "path": "/static/script.js", "root_path": "", "query_string": b""}
    scope["headers"] = [(b"accept-encoding", b"gzip")]

    async def visits():
        bodies = []
        for patience in (disconnects_after, 10**6):
            said, asked = [], 0

            async def receive(patience=patience):
                nonlocal asked
                while asked < patience:
                    asked += 1
                    await asyncio.sleep(0.001)
                return {"type": "http.disconnect"}

            async def send(message, said=said):
                said.append(message)

            await served(scope, receive, send)
            bodies.append(b"".join(message.get("body", b"") for message in said))
        return bodies[-1]

    assert gzip.decompress(loops.run(visits())) == SCRIPT * 20


def test_an_incomplete_response_is_not_cached(served, monkeypatch):
    async def cut_off(scope, receive, send):
        headers = [(name.encode(), value.encode()) for name, value in FOREVER.items()]
        headers += [(b"content-length", b"18000"), (b"content-type", b"text/javascript")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": SCRIPT[:100]})

    monkeypatch.setattr(served, "_app", cut_off)
    ((_, headers, _),) = get(served, ("/static/script.js", {"accept_encoding": "br"}))
    assert "content-encoding" not in headers and not served._cache


@pytest.mark.parametrize("header", ["range", "if_none_match"])
def test_range_and_conditional_requests_pass(served, header):
    ((_, headers, _),) = get(served, ("/static/script.js", {"accept_encoding": "br", header: "bytes=0-9"}))
    assert "content-encoding" not in headers


def test_head_has_the_length_of_the_compressed_body(served):
    wanted = {"accept_encoding": "br"}
    whole, head = get(served, ("/static/script.js", wanted), ("/static/script.js", wanted | {"method": "HEAD"}))
    assert head[2] == b"" and head[1] == whole[1]


def test_cache_is_bounded_for_any_paths(served, monkeypatch):
    async def anything(scope, receive, send):
        await Response(SCRIPT, media_type="text/javascript", headers=FOREVER)(scope, receive, send)

    monkeypatch.setattr(served, "_app", anything)
    monkeypatch.setattr("serve.MAX_CACHE_BYTES", 100)
    names = [f"/static/{'./' * i}script.js" for i in range(20)] + [f"/static/{i}.js" for i in range(20)]
    answers = [get(served, (name, {"accept_encoding": "gzip"}))[0] for name in names[:20]]
    assert len({id(served._cache[key]) for key in served._cache}) == 1 and all(
        headers.get("content-encoding") == "gzip" for _, headers, _ in answers
    )
    for name in names[20:]:
        get(served, (name, {"accept_encoding": "gzip"}))
    assert sum(len(one.result()) for one in served._cache.values()) < 100 + len(gzip.compress(SCRIPT))


# --- headers --------------------------------------------------------------------------------------------------------


def guarded(path: str, **headers: str) -> dict[str, list[str]]:
    """Headers of the answer to a request, by name, through `Guarded`."""

    async def page(request):
        answer = Response("some text", media_type="text/javascript" if path.endswith(".js") else "text/html")
        answer.set_cookie("one", "1", samesite="lax")
        answer.set_cookie("two", "2", secure=True)
        return answer

    app = Guarded(Starlette(routes=[Route("/{path:path}", page)]))
    found = {}
    for name, value in loops.run(headers_of(app, path, headers)):
        found.setdefault(name.decode(), []).append(value.decode())
    return found


async def headers_of(app, path, headers):
    said = []

    async def send(message):
        said.append(message)

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": raw, "query_string": b"", "root_path": ""}
    await app(scope | {"scheme": "http"}, None, send)
    return said[0]["headers"]


@pytest.mark.parametrize(
    ("path", "policies"), [("/", [POLICY]), ("/media/a.js", [POLICY]), ("/static/a.js", []), ("/static/gone", [POLICY])]
)
def test_pages_have_a_policy_and_every_answer_its_own_type(path, policies):
    found = guarded(path)
    assert found.get("content-security-policy", []) == policies
    assert found["x-content-type-options"] == ["nosniff"]


def test_the_policy_allows_no_other_host_no_inline_script_and_any_frame():
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert "unsafe" not in rules["script-src"] and "sha256-" in rules["script-src"]
    allowed = {source for sources in rules.values() for source in sources.split() if "sha256-" not in source}
    assert allowed == {"'self'", "'none'", "'unsafe-inline'", "blob:", "data:"}
    assert "frame-ancestors" not in rules


@pytest.mark.parametrize(
    ("proxied", "secure"), [("https", [True, True]), ("http", [False, True]), (None, [False, True])]
)
def test_cookies_are_secure_behind_tls(proxied, secure):
    cookies = guarded("/", **({"x_forwarded_proto": proxied} if proxied else {}))["set-cookie"]
    assert [cookie.startswith(name) for cookie, name in zip(cookies, ("one=1", "two=2"), strict=True)] == [True, True]
    assert [cookie.count("Secure") for cookie in cookies] == secure
