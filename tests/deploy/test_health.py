"""The check of health opens a page: a server whose pages fail is found, and started again."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from deploy import __main__ as deployed

ROOT = Path(__file__).parents[2]
PAGES = {"shown": "st.title('Glossary')", "failing": "raise OSError('no thread is left')", "empty": ""}
# As the app's first page on a new server does.
PAGES["again"] = """
if st.session_state.setdefault("runs", 0) == 0:
    st.session_state.runs = 1
    st.rerun()
st.title("Glossary")
"""


@pytest.fixture(scope="module", params=PAGES)
def served(request, tmp_path_factory):
    """Whether a page is shown, and the port of a server of it; it says that it is well in each case."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "page.py").write_text(f"import streamlit as st\n{PAGES[request.param]}\n")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "page.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and not well(port):
            time.sleep(0.1)
        assert well(port)
        yield request.param in ("shown", "again"), port
    finally:
        server.terminate()
        server.wait(30)


def well(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=30) as answer:
            return answer.read() == b"ok"
    except OSError:
        return False


@pytest.mark.slow("starts four servers")
def test_a_worker_is_started_again_only_if_its_pages_fail(served, monkeypatch):
    shown, port = served
    again = []
    monkeypatch.setattr(deployed.Worker, "restart", lambda worker, why: again.append(why))
    monkeypatch.setattr(deployed, "TO_START", 0)
    worker = deployed.Worker(port, {})
    for _ in range(deployed.MAX_FAILURES):
        worker.check()
        assert worker.asking.wait(120) == (0 if shown else 1)
        worker.check()
    assert again == ([] if shown else ["shows no page"])
    assert worker.failures == (0 if shown else deployed.MAX_FAILURES)


def test_a_server_that_is_not_there_shows_no_page():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        command = [sys.executable, str(ROOT / "deploy" / "health.py"), str(probe.getsockname()[1])]
    assert subprocess.run(command, timeout=60, check=False).returncode == 1
