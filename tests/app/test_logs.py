"""The server's log names a failed run, but neither values of its data nor their folder."""

from __future__ import annotations

import http.client
import logging
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import connect

from benchmarks.ports import free_ports
from datasets.papers.catalogue import describe
from pages.shared.server import logs, runs
from pages.shared.server.runs import RunQueue, RunSettings
from rff_engine.studies.running.processes import redacted_traceback

from .sessions import logged, soon
from .test_runs import wait


@pytest.fixture
def log():
    """The lines that the queue writes."""
    with logged(runs._log, "%(levelname)s %(message)s") as lines:
        yield lines


def settings(dataset):
    return RunSettings("features", dataset, "quick", "random", 0, 1, ("svm", "rff"))


def test_redacted_traceback_has_types_and_lines_but_no_message_and_no_folder():
    def read(cell):
        try:
            return float(cell)
        except ValueError as error:
            raise KeyError(f"{cell} of /home/ann/patients.csv") from error

    with pytest.raises(KeyError) as caught:
        read("diagnosis-4711")
    line = redacted_traceback(caught.value)
    assert line.startswith("KeyError in read (test_logs.py:") and "; after ValueError in read" in line
    assert "4711" not in line and "ann" not in line and "/" not in line and "\n" not in line


@pytest.mark.second
def test_a_run_with_a_damaged_file_is_logged_by_its_id_only(tmp_path, monkeypatch, log, capfd):
    raw = describe("ads").files[0]
    place = tmp_path / "patients-of-ann" / raw.folder
    place.mkdir(parents=True)
    (place / raw.name).write_text("diagnosis-4711,ad.\n")
    monkeypatch.setenv("RFF_DATA", str(tmp_path / "patients-of-ann"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # without the right file
    run = wait(RunQueue(str(tmp_path / "results.sqlite")).submit(settings("ads")))
    assert run.state == "failed" and "patients-of-ann" in run.message  # the visitor learns which file
    logged = "\n".join([*log, *capfd.readouterr()])
    assert f"WARNING run {run.settings.spec.run_id} was refused: DamagedFileError in " in logged
    assert "patients" not in logged and "4711" not in logged and str(tmp_path) not in logged


# --- the server's own entries ---------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
FORGED = "4711\n2026-01-01 ERROR forged: \x1b[31mall is lost\r\u2028\u202e\x00"


def entry(message, *arguments, **named):
    """An entry as a handler prints it."""
    made = logs.SafeRecord("streamlit", logging.ERROR, "file.py", 1, message, arguments, named.get("error"))
    return logging.Formatter("%(levelname)s %(message)s").format(made)


def raised(error):
    try:
        raise error
    except Exception:
        return sys.exc_info()


def test_an_entry_has_one_line_without_control_characters():
    for printed in (entry(FORGED), entry("%s", FORGED), entry("no fragment %s", FORGED), entry("%r", FORGED)):
        assert len(printed.splitlines()) == 1 and printed.isprintable() and "forged" in printed
    assert entry("ratio 100 %") == "ERROR ratio 100 %" and entry("Größe %d ½", 3) == "ERROR Größe 3 ½"
    assert len(entry("id %s", "x" * 10**6)) < 1100 and len(entry("id %s", "\n" * 10**6)) < 2100


@pytest.mark.parametrize("given", ["caught", "argument", "message"])
def test_an_entry_has_an_errors_type_and_place_but_not_its_message(given):
    caught = raised(KeyError(f"diagnosis-{FORGED}"))
    printed = {
        "caught": lambda: entry("a page failed\n", error=caught),
        "argument": lambda: entry("a page failed: %s", caught[1]),
        "message": lambda: entry(caught[1]),
    }[given]()
    assert "KeyError in raised (test_logs.py:" in printed and printed.isprintable()
    assert "4711" not in printed and "forged" not in printed
    assert given == "message" or printed.startswith("ERROR a page failed: KeyError")


@pytest.fixture
def failing(tmp_path):
    """Port and log of a server like `serve.py`, whose page fails with what a visitor sent."""
    page = """
import streamlit as st
raise ValueError("diagnosis " + st.query_params["cell"])
"""
    (tmp_path / "page.py").write_text(page)
    (tmp_path / "failing.py").write_text('import streamlit as st\nimport serve\napp = st.App("page.py")\n')
    (tmp_path / ".streamlit").symlink_to(ROOT / ".streamlit")
    port = free_ports()
    command = [sys.executable, "-m", "streamlit", "run", "failing.py", "--server.port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with (tmp_path / "log.txt").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        assert soon(lambda: health(port) == 200, 120)
        yield port, tmp_path / "log.txt"
    finally:
        server.terminate()
        server.wait(30)


def health(port, **headers):
    """The status of the server, or of a websocket with other headers; None without an answer."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with suppress(OSError, http.client.HTTPException):
        link.request("GET", "/_stcore/stream" if headers else "/_stcore/health", headers=headers)
        return link.getresponse().status
    return None


@pytest.mark.second("starts a server")
def test_no_visitor_writes_lines_into_the_log_and_no_error_its_message(failing):
    port, log = failing
    run, fragment, operation = BackMsg(), BackMsg(), BackMsg()
    run.rerun_script.query_string = "cell=4711"
    fragment.rerun_script.fragment_id = FORGED
    operation.backend_operation_request.request_id = operation.backend_operation_request.session_id = FORGED
    operation.backend_operation_request.deferred_file.SetInParent()  # others have no effect
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    upgrade |= {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Origin": "http://forged.org/\x85"}
    assert health(port, **upgrade) == 403
    with connect(f"ws://127.0.0.1:{port}/_stcore/stream", proxy=None, max_size=None) as browser:
        for message in (run, operation):
            browser.send(message.SerializeToString())
        assert soon(lambda: "Uncaught" in log.read_text("utf-8"), 120)
        browser.send(fragment.SerializeToString())
        browser.send(b"\xff" + FORGED.encode())  # no message at all
        errors = "fragment", "mismatch", "deserializing"
        assert soon(lambda: all(word in log.read_text("utf-8") for word in errors), 120)
    text = log.read_text("utf-8")
    assert "ValueError in <module> (page.py:3)" in text and "DecodeError in " in text
    assert "diagnosis" not in text and "Traceback" not in text
    assert all(line.isprintable() and not line.startswith("2026-01-01 ERROR forged") for line in text.split("\n"))
