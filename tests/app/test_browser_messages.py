"""What a foreign client may send: only the messages that the app uses have an effect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.runtime import caching
from streamlit.runtime.app_session import AppSession

from pages.components.server import browser_messages, rooms, runs

ROOT = Path(__file__).parents[2]


def message(kind: str, operation: str = "") -> BackMsg:
    """A message of a kind, with a false session where it names one."""
    found = BackMsg()
    field = BackMsg.DESCRIPTOR.fields_by_name[kind]
    if field.message_type is None:
        setattr(found, kind, True)
    else:
        getattr(found, kind).SetInParent()
    if operation:
        getattr(found.backend_operation_request, operation).SetInParent()
    return found


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


def test_an_empty_message_is_not_handled():
    assert not browser_messages.is_used(BackMsg())


def test_what_visitors_share_outlasts_the_caches_of_streamlit(store):
    queue, open_rooms = runs.run_queue(), rooms.rooms()
    caching.cache_data.clear()
    caching.cache_resource.clear()
    assert runs.run_queue() is queue and rooms.rooms() is open_rooms


@pytest.mark.parametrize("path", ["app.py", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("pages/**/*.py"))])
def test_nothing_is_kept_in_the_caches_of_streamlit(path):
    assert not re.search(r"cache_(data|resource)", (ROOT / path).read_text(encoding="utf-8"))
