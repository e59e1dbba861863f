"""A fresh server and a real browser, shared by the tests of this folder; skipped with a reason where there is none."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Two hidden pages of the address bar that every window would load.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            # A browser on a busy machine is late at times; what fails twice fails, and what failed once is listed.
            item.add_marker(pytest.mark.flaky(reruns=1))
            # The tests of a file share what they have looked at, so one worker runs them.
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def _missing(reason: str):
    if "browser" in os.environ.get("RFF_TEST_REQUIRE", ""):
        pytest.fail(reason)
    pytest.skip(reason)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def start_server(tmp_path_factory):
    """Start a server of its own and return its address; all are stopped at the end.

    What it writes lies in a folder: `results.sqlite` and `log.txt`. `processes` has each server by its address.
    """
    started = []

    def start(port: int | None = None, folder: Path | None = None, **variables: str) -> str:
        port, folder = port or _free_port(), folder or tmp_path_factory.mktemp("server")
        log = (folder / "log.txt").open("a")
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
        environment = os.environ | {"RFF_STORE": f"sqlite:///{folder / 'results.sqlite'}"} | variables
        server = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, env=environment)
        started.append(server)
        address = f"http://127.0.0.1:{port}"
        start.processes[address] = server
        end = time.monotonic() + 60
        while time.monotonic() < end and server.poll() is None:
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                    if answer.read() == b"ok":
                        return address
            except OSError:
                time.sleep(0.1)
        pytest.fail(f"the server did not start: {Path(log.name).read_text()}")

    start.processes = {}
    yield start
    for server in started:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def server(start_server) -> str:
    return start_server()


@pytest.fixture(scope="session")
def browser():
    # The first is the same browser without what a screen needs, which takes less of the processor.
    known = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, known)), None)
    if executable is None:
        _missing("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    sync_api.expect.set_options(timeout=20_000)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, server):
    """Open an address of the app in a clean browser session, and wait until the page stands still."""
    contexts = []

    def open_(path="", width=1440, scheme="light", address=server, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.set_default_timeout(30_000)
        page.goto(f"{address}/{path}")
        page.wait_for_selector("h1")
        settle(page)
        return page

    yield open_
    for context in contexts:
        context.close()


def wait_until(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.05)


def settle(page):
    """Wait until the script has run, every element is there and every figure is drawn."""
    page.wait_for_function(
        """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
           && !document.querySelector('[data-testid=stSkeleton]')
           && [...document.querySelectorAll('[data-testid=stPlotlyChart]')].every(c => c.querySelector('.main-svg'))"""
    )


def go_to(page, name: str) -> None:
    """Follow the navigation to the page of this name: a link of the bar itself, or of one of its menus."""
    page.locator("[data-testid=stTopNavSection]").first.wait_for()  # it may be folded away until the script has run
    link = page.locator("[data-testid=stTopNavLink]").filter(has_text=name)
    if link.count():
        link.click()
        return
    menus = page.locator("[data-testid=stTopNavSection]")
    for i in range(menus.count()):
        menus.nth(i).click()
        page.locator("[role=menu]").wait_for()
        entry = page.get_by_role("menuitem", name=name)
        if entry.count():
            entry.click()
            return
        page.keyboard.press("Escape")
        page.locator("[role=menu]").wait_for(state="detached")
    raise AssertionError(f"the navigation leads to no page {name!r}")
