"""Several processes behind nginx: visitors are spread, keep their process, and go on with another when it is killed."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
from conftest import ROOT, _missing, settle, wait_until
from playwright.sync_api import expect

from benchmarks.ports import free_ports
from deploy.nginx import processes

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
CONNECTED = "[data-testid=stApp][data-test-connection-state=CONNECTED]"
VIEW = "landmarks?data=xor&beta=2.51&D=37&landmarks=3&sigma=0.794&seed=5"


def starts_servers(test):
    return pytest.mark.slow("starts two servers")(test)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """Port of nginx in front of two processes, and the process that started them."""
    if NGINX is None:
        _missing("no nginx on this machine")
    port, folder = free_ports(3), tmp_path_factory.mktemp("deploy")
    command = [sys.executable, "-m", "deploy", "--workers", "2", "--port", str(port), "--address", "127.0.0.1"]
    environment = os.environ | {"RFF_STORE": f"sqlite:///{folder / 'results.sqlite'}"}
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        for one in (port, port + 1, port + 2):
            wait_until(lambda one=one: answer(one, "/_stcore/health")[0] == 200, 120)
        wait_until(lambda: {answer(port)[1] for _ in range(4)} == {port + 1, port + 2})  # nginx asks both
        yield port, server
    finally:
        server.terminate()
        assert server.wait(30) == 0
    assert children(server) == []


def children(server: subprocess.Popen) -> list[psutil.Process]:
    """Processes of the app that it runs."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for one in psutil.Process(server.pid).children():
            with suppress(psutil.NoSuchProcess):  # has just ended
                found += [one] if "serve.py" in one.cmdline() else []
    return found


def answer(port: int, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str):
    """Status, and the process that the cookie names."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        link.request(method, path, body, headers)
        got = link.getresponse()
        got.read()
        cookie = re.match(r"rff_process=(\d+);", got.getheader("Set-Cookie") or "")
        return got.status, int(cookie[1]) if cookie else None
    except OSError:
        return 0, None
    finally:
        link.close()


@starts_servers
def test_visitors_are_spread_and_keep_their_process(deployed):
    port, _ = deployed
    first = [answer(port) for _ in range(8)]
    assert {status for status, _ in first} == {200}
    assert {process for _, process in first} == {port + 1, port + 2}
    for process in (port + 1, port + 2):
        assert {answer(port, Cookie=f"rff_process={process}") for _ in range(4)} == {(200, None)}
    assert answer(port, Cookie="rff_process=../../anything")[1] in (port + 1, port + 2)


@starts_servers
def test_a_large_request_passes_nginx(deployed):
    port, _ = deployed
    with_process = {"Cookie": f"rff_process={port + 1}"}
    direct, _ = answer(port + 1, "/_stcore/upload_file/a/b", "PUT", b"x" * 300_000)
    assert answer(port, "/_stcore/upload_file/a/b", "PUT", b"x" * 300_000, **with_process)[0] == direct
    assert answer(port, "/_stcore/upload_file/a/b", "PUT", b"x" * 13_000_000, **with_process)[0] == 413


@starts_servers
def test_a_page_goes_on_with_another_process_when_its_own_is_killed(deployed, browser):
    port, server = deployed
    context = browser.new_context()
    page = context.new_page()
    try:
        page.goto(f"http://127.0.0.1:{port}/{VIEW}")
        page.wait_for_selector("h1")
        settle(page)
        settings, own = page.url, pinned(context)
        (process,) = [one for one in children(server) if str(own) in one.cmdline()]
        process.kill()
        page.locator(CONNECTED).wait_for(state="detached")
        assert_goes_on(page, settings)
        assert pinned(context) != own
        wait_until(lambda: answer(own, "/_stcore/health")[0] == 200, 60)  # it is started again
    finally:
        context.close()


def assert_goes_on(page, settings: str) -> None:
    """The page reconnects by itself, has its settings, and follows a control."""
    page.locator(CONNECTED).wait_for(state="attached", timeout=30_000)
    settle(page)
    assert page.url == settings
    page.get_by_role("slider", name=re.compile("Landmarks|Number of landmarks")).first.press("ArrowRight")
    expect(page).to_have_url(re.compile("landmarks=4"))


def pinned(context) -> int:
    (cookie,) = [one for one in context.cookies() if one["name"] == "rff_process"]
    return int(cookie["value"])


@starts_servers
def test_a_reader_goes_on_while_a_restart_replaces_the_processes_one_after_the_other(deployed, browser):
    port, server = deployed
    before, failed = {one.pid for one in children(server)}, []
    context = browser.new_context()
    page = context.new_page()
    try:
        page.goto(f"http://127.0.0.1:{port}/{VIEW}")
        page.wait_for_selector("h1")
        settle(page)
        settings = page.url
        os.kill(server.pid, signal.SIGHUP)
        end = time.monotonic() + 120
        while {one.pid for one in children(server)} & before or len(children(server)) < 2:
            failed += [status for status, _ in [answer(port, "/_stcore/health")] if status != 200]
            assert time.monotonic() < end
            page.wait_for_timeout(50)  # the page goes on meanwhile
        assert failed == []
        wait_until(lambda: {answer(one, "/_stcore/health")[0] for one in (port + 1, port + 2)} == {200}, 60)
        assert_goes_on(page, settings)
    finally:
        context.close()


def test_documented_settings_are_those_of_the_program():
    docs = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    assert f"```nginx\n{processes([8501, 8502])}```" in docs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--workers", "0"], "--workers is 0; a number from 1 to 64"), (["--port", "65535"], "--port is 65535; a number")],
)
def test_wrong_arguments_are_one_sentence(arguments, message):
    found = subprocess.run([sys.executable, "-m", "deploy", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 1 and found.stderr.startswith(message) and found.stderr.count("\n") == 1
