"""Headers of the server: a policy for pages, types as they are sent, and cookies over TLS alone; no delay."""

from __future__ import annotations

import asyncio
import socket

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from streamlit.web.server.starlette import starlette_server

from serve import POLICY, Guarded
from tests import programs


def guarded(path: str, **headers: str) -> dict[str, list[str]]:
    """Headers of the answer to a request, by name, through `Guarded`."""

    async def page(request):
        answer = Response("some text", media_type="text/javascript" if path.endswith(".js") else "text/html")
        answer.set_cookie("one", "1", samesite="lax")
        answer.set_cookie("two", "2", secure=True)
        return answer

    app = Guarded(Starlette(routes=[Route("/{path:path}", page)]))
    found = {}
    for name, value in programs.run_coroutine(headers_of(app, path, headers)):
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


async def option_of_a_connection(name, sockets):
    server = uvicorn.Server(uvicorn.Config(Guarded(Starlette()), port=0, lifespan="off"))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup(sockets=sockets)
    _, writer = await asyncio.open_connection(*server.servers[0].sockets[0].getsockname())
    while not (connections := server.server_state.connections):
        await asyncio.sleep(0.01)
    (connection,) = connections
    found = connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, name)
    writer.close()
    await server.shutdown(sockets=sockets)
    return found


@pytest.mark.parametrize("by_streamlit", [True, False])
def test_a_connection_sends_small_messages_at_once(by_streamlit):
    bound = [starlette_server._bind_socket("127.0.0.1", 0, 1)] if by_streamlit else None
    assert programs.run_coroutine(option_of_a_connection(socket.TCP_NODELAY, bound))
