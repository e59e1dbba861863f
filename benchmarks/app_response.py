"""Response times of the app: first figure, bytes, frames during a drag, and controls that the server handles.

Starts a server, drives headless Chromium through every page, and prints a table with targets. Run it as
`python -m benchmarks.app_response` from the top folder; `--screens` counts what a reader sees of each page instead.
Names of pages restrict it to these.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from playwright.sync_api import TimeoutError, sync_playwright

from benchmarks.ports import free_ports
from pages.shared import catalogue

ROOT = Path(__file__).parents[1]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
ARGUMENTS += ["--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"]  # hidden pages of the address bar

#: Addresses of each page: the drag is measured on all of them, everything else on the first.
PAGES = {
    page.name: tuple(page.path + f"?{query}" * bool(query) for query in page.measured)
    for page in catalogue.PAGES
    if page.measured
}
DRAG_SECONDS, CHANGES = 2.0, 20

PAINTED = """() => document.querySelector('.js-plotly-plot .main-svg, .beside td')
    || [...document.querySelectorAll('.live canvas')].some(canvas => canvas.width > 1 && canvas.height > 1)"""

# Every change of the page counts, until none has occurred for a while: new or stale elements, drawing by Plotly.
PROBE = """() => {
    const probe = window.probe = {asked: 0, painted: 0, moved: 0, ran: false};
    const app = document.querySelector('[data-testid=stApp]');
    const running = () => app.dataset.testScriptState !== 'notRunning';
    for (const kind of ['keydown', 'pointerdown']) addEventListener(kind, event => {
        Object.assign(probe, {asked: event.timeStamp, painted: 0, moved: 0, ran: false});
    }, true);
    new MutationObserver(changes => {
        probe.ran ||= running();
        probe.moved = performance.now();
        const paints = ({target, addedNodes}) => target.closest?.('.js-plotly-plot, .live, .beside')
            || [...addedNodes].some(node => node.matches?.('.beside') || node.querySelector?.('.beside'));
        if (!probe.painted && changes.some(paints))
            probe.painted = probe.moved;
    }).observe(app, {attributes: true, childList: true, characterData: true, subtree: true});
    probe.still = () => probe.ran && !running() && performance.now() - probe.moved > 200
        && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]');
}"""
STILL = "() => window.probe.still()"
# Controls that set a value and Play; words above the first fold; folds; figures, a live view as one; and whether the
# first picture ends above the fold of the screen.
SEEN = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const seen = one => one.checkVisibility() && one.getBoundingClientRect().width > 2;
    const shown = (of, what) => [...of.querySelectorAll(what)].filter(seen);
    const controls = 'input:is([type=range], [type=number], [type=checkbox]), [role=combobox], [role=radiogroup], '
        + '.play, .sets, .st-key-presets, [data-testid=stButtonGroup]:not(:has([role=radiogroup]))';
    const fold = '[data-testid=stExpander]:not(.st-key-more_settings *)';
    const folds = shown(main, fold);
    const [first] = shown(main, `${fold}, hr, .st-key-ending`);
    const end = first ? first.getBoundingClientRect().top : Infinity;
    const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    let words = 0;
    while (texts.nextNode()) {
        const holder = texts.currentNode.parentElement;
        const text = texts.currentNode.data.split(/\\s+/).filter(Boolean);
        if (holder.closest('svg, .beside, .katex-mathml, [data-testid=stIconMaterial]') || !seen(holder)) continue;
        if (holder.getBoundingClientRect().top < end) words += text.length;
    }
    const pictures = shown(main, '.live canvas:not(.scale, .set canvas, .swatch), .js-plotly-plot, .beside');
    const [picture] = pictures.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    const figures = shown(main, '.live, .js-plotly-plot, .beside').length;
    const above = picture && picture.getBoundingClientRect().bottom <= innerHeight ? 'yes' : 'no';
    return [shown(document, controls).length, words, folds.length, figures, above];
}"""
SIZES = (1440, 900), (1024, 700), (768, 1024), (390, 844)
# Figures near the reader are there too: the browser halts for a second when it first loads Plotly.
QUIET = """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-testid=stSkeleton], [data-stale=true], .place[data-waiting=true], '
        + '[data-testid=stPlotlyChart]:not(:has(.main-svg))')"""


@contextmanager
def served(*settings: str, log=subprocess.DEVNULL, script: str = "serve.py"):
    """Start a server and yield its address; `settings` are further arguments of Streamlit, `log` takes its output."""
    port = free_ports()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true", *settings]
    folder = tempfile.TemporaryDirectory()
    environment = os.environ | {"RFF_STORE": f"sqlite:///{folder.name}/results.sqlite"}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_for_health(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
        folder.cleanup()


def wait_for_health(server: str) -> None:
    """Return once a server answers; exit if it does not within 30 s."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{server}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("The server did not start within 30 s.")


@contextmanager
def visit(browser, address: str, width: int = 1440, height: int = 1200):
    """Yield a page in a new context, the seconds to its first figure, and the sizes of the server's messages."""
    context = browser.new_context(viewport={"width": width, "height": height})
    page, sizes = context.new_page(), []
    page.set_default_timeout(300_000)
    page.on("websocket", lambda socket: socket.on("framereceived", lambda payload: sizes.append(len(payload))))
    start = time.perf_counter()
    page.goto(address)
    page.wait_for_function(PAINTED)
    first = time.perf_counter() - start
    for _ in range(2):  # parts near the reader are asked for once the first picture is there
        page.wait_for_function(QUIET)
        page.wait_for_timeout(500)
    yield page, first, sizes
    context.close()


def drag(page) -> tuple[float, list[float]] | None:
    """Drag the first slider of a live page; return frames per second, and ms from each input to its frame."""
    if page.locator(".live input").count() == 0:
        return None
    thumb = page.locator(".live input[type=range]").first
    thumb.scroll_into_view_if_needed()
    box = thumb.bounding_box()
    x, y, width = box["x"], box["y"] + box["height"] / 2, box["width"]
    page.mouse.move(x + 0.1 * width, y)
    page.mouse.down()
    page.evaluate("() => { document.querySelector('.live').view.latencies = []; }")
    begun = time.perf_counter()
    while (passed := time.perf_counter() - begun) < DRAG_SECONDS:
        page.mouse.move(x + (0.1 + 0.8 * passed / DRAG_SECONDS) * width, y)
        page.wait_for_timeout(8)
    delays = page.evaluate("() => document.querySelector('.live').view.latencies")
    page.mouse.up()
    page.wait_for_function(QUIET)
    return len(delays) / passed, delays


def change(page, control) -> bool:
    """Give a control of the page another value by mouse or key; False if it has no other."""
    thumb = control.locator("input[type=range]")
    if thumb.count():
        at, least, most = (float(thumb.get_attribute(name)) for name in ("value", "min", "max"))
        if least == most:
            return False
        thumb.focus()
        page.keyboard.press("ArrowRight" if at < most else "Home")
    elif control.locator("[role=radio]").count():
        control.locator("[role=radio][aria-checked=false]").first.click()
    elif control.locator("input[type=checkbox]").count():
        control.locator("label").first.click()
    elif control.locator("[data-baseweb=select], [role=combobox]").count():
        control.locator("input").first.focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
    elif control.locator("button").count():  # pills
        control.locator("button").last.click()
    else:
        return False
    return True


def shown_controls(page) -> list[str]:
    """Return the classes of the visible controls above the picture."""
    controls = page.locator(".st-key-controls [data-testid=stElementContainer][class*=st-key-]")
    keys = [
        next(name for name in controls.nth(i).get_attribute("class").split() if name.startswith("st-key-"))
        for i in range(controls.count())
        if controls.nth(i).is_visible()
    ]
    return [key for key in keys if not key.startswith(("st-key-lesson", "st-key-undo", "st-key-redo", "st-key-step"))]


def server_side(page) -> list[tuple[float, float]]:
    """Measure milliseconds from inputs to the first repainted figure, and to the last change of the page.

    The controls take turns.
    """
    fold = page.locator(".st-key-more_settings summary")
    if fold.count():
        fold.click()
    page.evaluate(PROBE)
    delays: list[tuple[float, float]] = []
    keys = shown_controls(page)
    for key in islice(cycle(keys), 5 * CHANGES):
        control = page.locator(f".st-key-controls .{key}")
        if len(delays) >= max(CHANGES, len(keys)):
            break
        if control.count() == 0 or not control.is_visible() or not change(page, control):
            continue
        try:
            page.wait_for_function("() => probe.ran", polling=20, timeout=2000)
        except TimeoutError:  # the control had that value already
            continue
        # Polling at every frame would slow the page down.
        page.wait_for_function(STILL, polling=50)
        delays.append(page.evaluate("[(probe.painted || probe.moved) - probe.asked, probe.moved - probe.asked]"))
    return delays


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--screens", action="store_true", help="count controls, words, folds and figures instead")
    arguments.add_argument("pages", nargs="*", metavar="PAGE", help=", ".join(PAGES))
    asked = arguments.parse_args()
    if unknown := set(asked.pages) - set(PAGES):
        arguments.error(f"no page is called {', '.join(sorted(unknown))}")
    if asked.screens:
        print(row("page", "size", "controls", "words", "folds", "figures", "picture"))
        print(row("target", "", "4", "150", "3", "4", "above"))
    else:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; p95 in ms, except columns 1 to 3\n")
        print(row("", "first", "data", "frames", "input to", "changes on", "input to", "input to"))
        print(row("page", "figure", "", "per second", "frame", "the server", "a figure", "last change"))
        print(row("target", "1.5 s", "1000 kB", "", "33 / 50", ">= 20", "250", "700"))
    with served() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"), args=ARGUMENTS
        )
        for name in asked.pages or PAGES:
            look(browser, server, name) if asked.screens else measure(browser, server, name)


def look(browser, server: str, name: str) -> None:
    """Count what a reader sees of a page at several sizes, and print it."""
    for width, height in SIZES:
        with visit(browser, f"{server}/{PAGES[name][0]}", width, height) as (page, _, _):
            print(row(name, f"{width}", *map(str, page.evaluate(SEEN))), flush=True)


def measure(browser, server: str, name: str) -> None:
    """Measure a page and print its lines."""
    for i, address in enumerate(PAGES[name]):
        with visit(browser, f"{server}/{address}"):
            pass  # warm-up
        with visit(browser, f"{server}/{address}") as (page, first, sizes):
            cells = [f"{first:.1f} s", f"{sum(sizes) / 1000:.0f} kB"]
            dragged = drag(page)
            cells += [f"{dragged[0]:.0f}", f"{np.percentile(dragged[1] or [np.nan], 95):.0f}"] if dragged else ["", ""]
            if i == 0 and (delays := server_side(page)):
                cells += [f"{len(delays)}", *(f"{late:.0f}" for late in np.percentile(delays, 95, axis=0))]
        print(row(" ".join([name, *re.findall(r"(?<=landmarks=)\d+|\bD=\d+", address)]), *cells), flush=True)


def row(name: str, *cells: str) -> str:
    return f"{name:<18}" + "".join(f"{cell:>11}" for cell in cells)


if __name__ == "__main__":
    main()
