"""A new server and a browser, shared by the tests of this folder; without a browser they are skipped."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks.ports import free_ports
from tests import perturbation

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
    # One process for all pages of a context compiles the scripts of Streamlit and Plotly once.
    "--renderer-process-limit=1",
    # Compiling and collecting garbage on threads of their own takes a tenth more processor time.
    "--js-flags=--single-threaded",
]

#: What a browser's console says of content that a policy forbids, and all that it said in the test that runs.
VIOLATION = re.compile("Content[ -]Security[ -]Policy")
violations: list[str] = []

SAVES_DATA = "Object.defineProperty(navigator, 'connection', {value: {saveData: %s}, configurable: true})"

#: Where a training point is in a live view of landmarks, in the middle of the window.
PLACE_OF_POINT = """row => {
    const {view} = document.querySelector('.live');
    const {canvas} = view.points;
    canvas.scrollIntoView({block: 'center'});
    const box = canvas.getBoundingClientRect();
    const [x, y] = [view.X[2 * row], view.X[2 * row + 1]].map(value => value / (2 * view.extent));
    return [box.left + (0.5 + x) * box.width, box.top + (0.5 - y) * box.height];
}"""

#: Files of one of the two workers that drive browsers; the others, which take about as long, are of the other.
PICTURES = {"test_live", "test_lessons", "test_player", "test_app", "test_class"}


@pytest.hookimpl(tryfirst=True)  # before `-m` selects and pytest-xdist reads the groups
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not item.get_closest_marker("first") and not item.get_closest_marker("more"):
                item.add_marker(pytest.mark.second)
            # On a busy machine a browser can be too slow: a test fails at its second failure; the first is listed.
            item.add_marker(pytest.mark.flaky(reruns=1))
            # Two workers, each with a browser and a server; starting more would take longer than it saves.
            item.add_marker(pytest.mark.xdist_group("pictures" if item.path.stem in PICTURES else "browser"))


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def serve_folder():
    """Function that serves a folder and returns the port; to a browser, localhost and 127.0.0.1 are two sites."""
    with ExitStack() as stack:

        def serve(folder: Path) -> int:
            host = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder)))
            threading.Thread(target=host.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(stack.enter_context(host).shutdown)
            return host.server_port

        yield serve


def _missing(reason: str):
    if "browser" in os.environ.get("RFF_TEST_REQUIRE", ""):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def start_server(tmp_path_factory, swept_store):
    """Function that starts a server and returns its address; all servers are stopped at the end.

    A server writes `results.sqlite` and `log.txt` in its folder. `processes` has the servers by address.
    """
    started = []

    def start(port: int | None = None, folder: Path | None = None, **variables: str) -> str:
        port, folder = port or free_ports(), folder or tmp_path_factory.mktemp("server")
        if not (folder / "results.sqlite").exists():
            shutil.copy(swept_store, folder / "results.sqlite")
        log = (folder / "log.txt").open("a")
        # The server's engine computes with the same arithmetic as the test.
        program = perturbation.installed + "from streamlit.web.cli import main; main(prog_name='streamlit')"
        command = [sys.executable, "-c", program, "run", "serve.py", "--server.port", str(port)]
        command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
        environment = os.environ | {"RFF_STORE": f"sqlite:///{folder / 'results.sqlite'}", "RFF_MAX_WORKERS": "1"}
        server = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, env=environment | variables)
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
    # The first is Chromium without a screen, which needs less processor time.
    known = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, known)), None)
    if executable is None:
        _missing("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    sync_api.expect.set_options(timeout=40_000)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        new_context = browser.new_context

        def watched(**options):
            context = new_context(**options)
            # Who saves data is sent only the parts that are scrolled to: nothing moves by itself in a test.
            context.add_init_script(SAVES_DATA % "true")
            context.on("console", lambda said: VIOLATION.search(said.text) and violations.append(said.text))
            return context

        browser.new_context = watched
        yield browser
        browser.close()


@pytest.fixture
def new_context(browser):
    """Function that makes a browser context, which the end of the test closes."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(unfolded(browser.new_context(**options)))


def unfolded(context):
    """Open the folds of further settings on every page of a context, but for the projector's."""
    context.add_init_script(
        """new MutationObserver(() => {
            if (location.search.includes('projector')) return;
            const fold = document.querySelector(
                ':is(.st-key-more_settings details, .live details, details.controls):not([open], [data-unfolded])'
            );
            if (!fold) return;
            fold.dataset.unfolded = 'true';
            fold.querySelector('summary').click();
        }).observe(document, {childList: true, subtree: true});"""
    )
    return context


@pytest.fixture(autouse=True)
def no_violation():
    """Fail a test in which a page broke the server's policy of content, or that of the static edition."""
    yield
    found = violations.copy()
    violations.clear()
    assert found == []


@pytest.fixture(scope="session")
def shared(browser):
    """The browser context of all pages that need no own one; its first page stays open between tests.

    A new context fetches and compiles every script again, which is most of the time of opening a page.
    """
    context = unfolded(browser.new_context())
    yield context
    context.close()


@pytest.fixture
def open_page(new_context, shared, server):
    """Function that opens a path of the app in a clean browser session and waits until the page is complete.

    Of earlier pages, only the cache remains. ``apart=True``, or an option that a page cannot change, such as
    ``has_touch``, gives the page its own context.
    """
    free = shared.pages[:1]

    def open_(
        path="", width=1440, scheme="light", address=server, reduced_motion="no-preference", apart=False, **options
    ):
        if apart or options:
            page = new_page(new_context(**options))
        else:
            page = free.pop() if free else new_page(shared)
            forget(page, address)
        page.complaints = []
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion=reduced_motion)
        page.goto(f"{address}/{path}")
        page.wait_for_selector("h1")
        settle(page)
        return page

    yield open_
    for page in shared.pages[1:]:
        page.close()
    shared.clear_permissions()
    for page in shared.pages:
        leave(page)


def new_page(context):
    page = context.new_page()
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.set_default_timeout(60_000)
    # Every 50 ms; at every frame, waiting itself would keep the processor busy.
    page.wait_for_function = partial(page.wait_for_function, polling=50)
    return page


def forget(page, address: str) -> None:
    """Delete everything that pages of this address have stored in the browser."""
    page.context.clear_cookies()
    tools = page.context.new_cdp_session(page)
    tools.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": "all"})
    tools.detach()


def leave(page) -> None:
    """Reset a page to a blank one, with no mouse button pressed."""
    try:
        if page.url.startswith("http"):
            page.evaluate("sessionStorage.clear()")  # belongs to the tab, not to the origin that `forget` clears
        page.goto("about:blank")
        page.mouse.up()
        page.mouse.move(0, 0)
    except pytest.importorskip("playwright.sync_api").Error:  # a broken page is not used again
        page.close()


def query(page) -> dict[str, str]:
    """The settings in the page's address; `page.url` may be an earlier one where several are written at once."""
    return {name: values[-1] for name, values in parse_qs(urlsplit(page.evaluate("location.href")).query).items()}


def inside(part, across: float = 0.5, down: float = 0.5) -> tuple[float, float]:
    """A place in a part of the page, by fractions of its box."""
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def drag(page, start: tuple[float, float], end: tuple[float, float], steps: int = 4) -> None:
    """Press the mouse at a place, and hold it at another one."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)


DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def wait_until(condition, seconds: float = 40.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not hold in time"
        time.sleep(0.05)


def settle(page):
    """Wait until the script has run and every element and figure is drawn."""
    page.wait_for_function(
        """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
           && !document.querySelector('[data-testid=stSkeleton], .place[data-waiting=true], .live .stale')
           && [...document.querySelectorAll('[class*=st-key-near_]')].every(p => p.querySelector('.place[data-near]'))
           && [...document.querySelectorAll('[data-testid=stPlotlyChart]')].every(c => c.querySelector('.main-svg'))"""
    )


def fold(page) -> None:
    """Close what `unfolded` has opened, as a reader finds the page."""
    page.evaluate("document.querySelectorAll('[data-unfolded][open] > summary').forEach(one => one.click())")


def show_all(page) -> None:
    """Show the parts of a page that wait for the reader to scroll to them."""
    settle(page)
    complete = page.evaluate(
        """async () => {
            const shown = [];
            document.dispatchEvent(new CustomEvent('show-all', {detail: shown}));
            return await Promise.all(shown);
        }"""
    )
    assert False not in complete, "a part of the page is not complete"
    settle(page)


def scroll_to(page, part: str) -> None:
    """Scroll to a part of the page that waits for it, and wait until it is shown."""
    page.locator(f"[class*=st-key-near_][class*=_{part}]").scroll_into_view_if_needed()
    page.wait_for_selector(f"[class*=st-key-near_][class*=_{part}] .main-svg")
    settle(page)


def go_to(page, name: str) -> None:
    """Go to a page by its link in the navigation bar, in one of the menus, or among the tabs of a page."""
    page.locator("[data-testid=stTopNavSection]").first.wait_for()  # hidden until the script has run
    links = page.locator("[data-testid=stTopNavLink], .st-key-tabs a")
    link = links.filter(has=page.get_by_text(name, exact=True))
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
