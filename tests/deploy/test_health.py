"""The check of health opens a page: a server whose pages fail is found, and started again."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from websockets.sync.client import ClientConnection

from benchmarks.ports import free_ports
from deploy import __main__ as deployed, compose, health
from pages.components.catalogue import BY_NAME

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
    with running(folder / "page.py") as port:
        yield request.param in ("shown", "again"), port


@contextmanager
def running(program: Path, path: str = "", **environment: str):
    """The port of a server of a program, which ends with the block."""
    port = free_ports()
    command = [sys.executable, "-m", "streamlit", "run", program.name, "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, cwd=program.parent, env=os.environ | environment, **quiet)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and not well(port, path):
            time.sleep(0.1)
        assert well(port, path)
        yield port
    finally:
        server.terminate()
        server.wait(30)


def well(port: int, path: str = "") -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}/_stcore/health", timeout=30) as answer:
            return answer.read() == b"ok"
    except OSError:
        return False


@pytest.mark.second("starts four servers")
def test_a_worker_is_started_again_only_if_its_pages_fail(served, monkeypatch):
    shown, port = served
    again = []
    monkeypatch.setattr(deployed.Worker, "restart", lambda worker, why: again.append(why))
    monkeypatch.setattr(deployed, "TO_START", 0)
    worker = deployed.Worker(port, dict(os.environ))
    for _ in range(deployed.MAX_FAILURES):
        worker.check()
        assert worker.asking.wait(120) == (0 if shown else 1)
        worker.check()
    assert again == ([] if shown else ["shows no page"])
    assert worker.failures == (0 if shown else deployed.MAX_FAILURES)


@pytest.mark.second("starts four servers")
def test_a_restart_in_turn_stops_at_the_first_process_whose_pages_fail(served, monkeypatch):
    shown, port = served
    again = []

    def restart(worker, why):
        again.append(worker)
        worker.started = time.monotonic()
        worker.process = SimpleNamespace(poll=lambda: None)  # it runs

    monkeypatch.setattr(deployed.Worker, "restart", restart)
    if not shown:
        monkeypatch.setattr(deployed, "TO_START", 2)
    workers = [deployed.Worker(port, dict(os.environ)) for _ in range(2)]
    deployed.restart_in_turn(workers)
    assert again == (workers if shown else workers[:1])


def test_a_page_may_wait_in_line_for_minutes_and_is_asked_for_every_20_seconds_at_most():
    image = re.search(
        r"^HEALTHCHECK --interval=(\d+)s --timeout=(\d+)s", (ROOT / "Dockerfile").read_text("utf-8"), re.M
    )
    assert image is not None
    check = yaml.safe_load(compose.compose())["services"]["app1"]["healthcheck"]
    for interval, timeout in (image.groups(), (check["interval"].rstrip("s"), check["timeout"].rstrip("s"))):
        assert int(interval) >= 20 and int(timeout) > health.PATIENCE + 10  # to close the connection
    assert 2 * deployed.EVERY >= 20 and health.PATIENCE >= 120


def test_a_server_that_opens_no_connection_is_found_without_the_patience_for_a_page(monkeypatch):
    monkeypatch.setattr(health, "TO_OPEN", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as stuck:
        begun = time.monotonic()
        assert not health.shows_a_page(stuck.getsockname()[1])
    assert time.monotonic() - begun < health.PATIENCE


@pytest.mark.slow
def test_a_server_that_is_not_there_shows_no_page():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        command = [sys.executable, str(ROOT / "deploy" / "health.py"), str(probe.getsockname()[1])]
    assert subprocess.run(command, timeout=60, check=False).returncode == 1


def of_the_image(port: int) -> list[str]:
    """The image's check of health, of another port."""
    (arguments,) = re.findall(r"^HEALTHCHECK .*\\\n *CMD (.*)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    program, *others, _ = yaml.safe_load(arguments)
    assert program == "python"
    return [sys.executable, *others, str(port)]


def of_compose(port: int) -> list[str]:
    """The check of health of a container of compose.yaml, whose environment has the port."""
    kind, line = yaml.safe_load(compose.compose())["services"]["app1"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    line = line.replace("$$", "$").replace("python", sys.executable)
    return ["env", f"STREAMLIT_SERVER_PORT={port}", "/bin/sh", "-c", line]


CHECKS = [of_the_image, of_compose]


@pytest.mark.more(after=1)
@pytest.mark.slow("starts four servers")
@pytest.mark.parametrize("check", CHECKS)
def test_a_container_is_healthy_only_if_its_pages_are_shown(served, check):
    shown, port = served
    assert subprocess.run(check(port), cwd=ROOT, timeout=60, check=False).returncode == (0 if shown else 1)


@pytest.mark.second("starts the app")
@pytest.mark.parametrize("hosts", ["rff.example.org localhost", "*.example.org"])
def test_the_check_of_health_knows_names_and_path_and_asks_no_proxy_and_no_other_page(hosts, tmp_path, monkeypatch):
    settings = {"STREAMLIT_SERVER_ALLOWED_HOSTS": hosts, "STREAMLIT_SERVER_BASE_URL_PATH": "rff"}
    settings |= {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    store = {"RFF_STORE": f"sqlite:///{tmp_path / 'results.sqlite'}"}
    with running(ROOT / "serve.py", "/rff", **settings, **store, no_proxy="127.0.0.1") as port:
        received = messages_of_a_check(port, settings)
        question = {name: BY_NAME[name].question.encode() for name in ("start", health.PAGE)}
        assert any(question[health.PAGE] in message for message in received)
        assert not any(question["start"] in message for message in received)  # that page starts a run
        codes = [
            subprocess.run(check(port), cwd=ROOT, env=os.environ | settings, timeout=60, check=False).returncode
            for check in CHECKS
        ]
        worker = deployed.Worker(port, os.environ | settings)
        monkeypatch.setattr(deployed.Worker, "has_ended", lambda worker: False)
        worker.started = time.monotonic()
        assert codes == [0, 0] and worker.wait_until_healthy()


def messages_of_a_check(port: int, settings: dict[str, str]) -> list[bytes]:
    """What the server sends to a check of health that succeeds."""
    received, receive = [], ClientConnection.recv
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        patch.setattr(
            ClientConnection, "recv", lambda *args, **more: received.append(receive(*args, **more)) or received[-1]
        )
        assert health.shows_a_page(port)
    return received
