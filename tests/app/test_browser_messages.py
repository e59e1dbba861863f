"""What a foreign client may send: only the messages that the app uses have an effect."""

from __future__ import annotations

import random
import runpy
import urllib.request
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from streamlit import net_util
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.runtime import caching
from streamlit.runtime.app_session import AppSession
from streamlit.web.server import server_util
from websockets.asyncio.client import connect

from benchmarks.app_response import served
from benchmarks.tab import Tab
from pages.shared.server import browser_messages, rooms, runs
from tests import programs

ROOT = Path(__file__).parents[2]


def message(kind: str, operation: str = "") -> BackMsg:
    """A message of a kind, with a false session where it names one."""
    back_message = BackMsg()
    field = BackMsg.DESCRIPTOR.fields_by_name[kind]
    if field.message_type is None:
        setattr(back_message, kind, True)
    else:
        getattr(back_message, kind).SetInParent()
    if operation:
        getattr(back_message.backend_operation_request, operation).SetInParent()
    return back_message


OPERATIONS = [field.name for field in BackendOperationRequest.DESCRIPTOR.oneofs_by_name["payload"].fields]
KINDS = [(field.name, "") for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
KINDS += [("backend_operation_request", operation) for operation in OPERATIONS]


@pytest.mark.parametrize(("kind", "operation"), KINDS)
def test_only_messages_that_the_app_uses_are_handled(kind, operation, monkeypatch):
    handled = []
    monkeypatch.setattr(browser_messages, "_handle", lambda session, found: handled.append(found))
    monkeypatch.setattr(AppSession, "handle_backmsg", AppSession.handle_backmsg)
    browser_messages.refuse_unused()
    AppSession.handle_backmsg(None, message(kind, operation))
    used = {("rerun_script", ""), ("stop_script", ""), ("app_heartbeat", ""), ("file_urls_request", "")}
    assert bool(handled) == ((kind, operation) in used | {("backend_operation_request", "deferred_file")})


def test_a_foreign_origin_is_refused_without_a_request_to_another_host(monkeypatch):
    asked = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout: asked.append(url))
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    monkeypatch.setattr(AppSession, "handle_backmsg", AppSession.handle_backmsg)
    browser_messages.refuse_unused()
    assert not server_util.is_url_from_allowed_origins("http://foreign.example")
    assert asked == []


def test_a_server_refuses_messages_before_its_first_page(monkeypatch):
    monkeypatch.setattr(AppSession, "handle_backmsg", browser_messages._handle)
    runpy.run_path(str(ROOT / "serve.py"))
    assert AppSession.handle_backmsg is not browser_messages._handle


def test_an_empty_message_is_not_handled():
    assert not browser_messages.is_used(BackMsg())


def test_what_visitors_share_outlasts_the_caches_of_streamlit(store):
    queue, open_rooms = runs.run_queue(), rooms.rooms()
    caching.cache_data.clear()
    caching.cache_resource.clear()
    assert runs.run_queue() is queue and rooms.rooms() is open_rooms


# --- a foreign client of a real server ----------------------------------------------------------------------------

ROUNDS, MESSAGES = 5, 1000
RUN = "real_data?dataset=breast&preset=paper&repeats=1"
#: Descriptors of a session's event loop: Streamlit keeps a session that has gone for two minutes, 128 at most.
OF_SESSION = 3
#: Threads and descriptors that a library may open late.
SPARE = 5


def held(server: psutil.Process) -> tuple[int, int]:
    """Threads and descriptors."""
    return server.num_threads(), server.num_fds()


def computing(server: psutil.Process) -> int:
    """Runs that compute now."""
    return sum("subprocess_entry" in " ".join(child.cmdline()) for child in server.children())


async def send(address: str, messages) -> None:
    """Send messages on one connection, and read no answers; a pong shows that the last has arrived."""
    stream = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    async with connect(stream, origin=address, max_size=None) as foreign:
        for one in messages:
            await foreign.send(one.SerializeToString())
        await (await foreign.ping())


async def attack(address: str, server: psutil.Process) -> tuple[list, list]:
    """Start a run; send all kinds of messages in rounds, and open a page after each."""
    kinds = cycle([message(*kind) for kind in KINDS])
    runs_at_once, after_round = [], []
    async with Tab(address, RUN, random.Random(0)) as tab:
        await tab.press("Run")
        for _ in range(ROUNDS):
            await send(address, islice(kinds, MESSAGES // ROUNDS))
            async with Tab(address, "", random.Random(0)):
                runs_at_once.append(computing(server))
            after_round.append(held(server))
    return runs_at_once, after_round


@pytest.mark.second("sends 1,000 messages to a server of each kind, and opens a page five times meanwhile")
@pytest.mark.parametrize("script", ["serve.py", "app.py"])
def test_messages_of_a_foreign_client_change_no_limit_and_leak_nothing(script):
    with served(script=script) as address:
        port = str(urlsplit(address).port)
        (server,) = (one for one in psutil.Process().children() if port in one.cmdline())
        runs_at_once, after_round = programs.run_coroutine(attack(address, server))
        assert max(runs_at_once) == 1, runs_at_once
        (threads, descriptors), (threads_then, descriptors_then) = after_round[0], after_round[-1]
        sessions = 2 * (ROUNDS - 1)  # that of the foreign client and that of the page
        assert threads_then - threads <= SPARE, after_round
        assert descriptors_then - descriptors <= OF_SESSION * sessions + SPARE, after_round
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200
