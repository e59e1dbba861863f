"""Measures of the static edition: sizes, time to the first moving picture, drags, and a class that opens it at once.

    make site
    python -m benchmarks.site site              # prints the tables of docs/static.md
    python -m benchmarks.site site --clients 0  # without the class, which needs nginx

Pages are served by nginx, or by Python's own server without it, on this machine. The first pictures are those of a
slow visitor: 10 Mbit/s, 40 ms more for each answer, a processor slowed down four times (Chrome's developer protocol).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks import firefox
from benchmarks.app_response import ARGUMENTS, DRAG_SECONDS
from benchmarks.ports import free_ports
from pages.components.catalogue import PAGES

BITS_PER_SECOND, LATENCY, SLOWER = 10e6, 40, 4
#: Links of the live views, and the sliders that are dragged: the first of the view, or one by its name.
DRAGS = (
    ("index.html", ""),
    ("kernel.html#D=50", ""),
    ("kernel.html#D=1000", ""),
    ("landmarks.html#D=20", ""),
    ("landmarks.html#D=256", ""),
    ("landmarks.html#D=20", "sigma"),
    ("landmarks.html#D=256", "sigma"),
    ("landmarks.html#D=20", "noise"),
    ("learn_kernel.html", ""),
    ("learn_kernel.html", "sigma"),
    ("bounds.html", ""),
    ("certificates.html#D=20", ""),
    ("certificates.html#D=100", ""),  # the most that the page has
    ("approximate.html", ""),
    ("adaptive.html", ""),
)
PAUSE = 8  # milliseconds from one place of the pointer to the next
BOX = """selector => {
    const slider = document.querySelector(selector);
    slider.scrollIntoView({block: 'center'});
    const {left, top, width, height} = slider.getBoundingClientRect();
    return [left, top, width, height].join(' ');
}"""
LATENCIES = "document.querySelector('.live').view.latencies"
#: Seconds that one client of the class may take.
PATIENCE = 120
PAINTED = """() => {
    const live = document.querySelector('.live');
    return live ? live.view?.ink !== undefined : document.querySelector('.js-plotly-plot .main-svg') !== null;
}"""
_NGINX = """
worker_processes auto;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 2048; }}
http {{
    types {{ text/html html; text/javascript js; text/css css; }}
    access_log off;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{ listen 127.0.0.1:{port} backlog=1024; root {site}; }}
}}
"""


@contextmanager
def served(site: Path):
    """Serve a folder, and yield the port."""
    port = free_ports()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        settings = Path(folder, "nginx.conf")
        text = _NGINX.format(folder=folder, port=port, site=site.resolve())
        settings.write_text(text, encoding="utf-8")
        command = ["nginx", "-c", str(settings), "-e", f"{folder}/error.log"]
        if not shutil.which("nginx"):
            command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "-d", str(site)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_for(port)
            yield port
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("The server did not start within 10 s.")


def sizes(site: Path) -> None:
    """Print the sizes of the folder and of its parts."""
    files = [path for path in site.rglob("*") if path.is_file()]
    whole, plane = (_megabytes([site / "assets" / f"{name}.js"]) for name in ("plotly", "plotly-cartesian"))
    print(
        f"In all {_megabytes(files):.1f} MB in {len(files)} files, of which Plotly's library is {whole:.1f} MB, "
        f"and its part for figures of a plane {plane:.1f} MB."
    )


def _megabytes(files) -> float:
    return sum(path.stat().st_size for path in files) / 1e6


def first_pictures(browser, site: Path) -> None:
    """Print the time to the first picture of each page on a slow connection, and what it loads until then."""
    print("\n| page | first picture, s | loaded until then, MB |\n|---|---|---|")
    with served(site) as port:
        for page in PAGES:
            name = page.path or "index"
            if page.grid is None or not (site / f"{name}.html").exists():
                continue
            seconds, loaded = _first_picture(browser, f"http://127.0.0.1:{port}/{name}.html")
            print(f"| {page.title} | {seconds:.1f} | {loaded / 1e6:.2f} |", flush=True)


def _first_picture(browser, address: str) -> tuple[float, int]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    protocol = context.new_cdp_session(page)
    per_second = BITS_PER_SECOND / 8
    protocol.send("Network.enable")
    rates = {"downloadThroughput": per_second, "uploadThroughput": per_second}
    protocol.send("Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY} | rates)
    protocol.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    loaded = [0]
    protocol.on("Network.loadingFinished", lambda event: loaded.append(int(event["encodedDataLength"])))
    page.goto(address, wait_until="commit")
    # The time is that of the frame: what the page does next keeps it from answering.
    painted = page.wait_for_function(f"() => ({PAINTED})() && performance.now()", timeout=120_000)
    seconds = painted.json_value() / 1000
    context.close()
    return seconds, sum(loaded)


class Chromium:
    """One window of Chromium, driven like a `firefox.Firefox`."""

    def __init__(self, browser):
        self.page = browser.new_context().new_page()

    def open(self, address: str) -> None:
        """Open a page, as a new one where only the fragment differs."""
        self.page.goto("about:blank")
        self.page.goto(address)

    def resize(self, width: int, height: int) -> None:
        """Give the page a size in CSS pixels."""
        self.page.set_viewport_size({"width": width, "height": height})

    def evaluate(self, expression: str):
        """The value of an expression."""
        return self.page.evaluate(expression)

    def drag(self, places: list[tuple[float, float]], pause: int) -> None:
        """Press at the first place, move through all others, `pause` milliseconds to each, and let go."""
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        begun = time.perf_counter()
        for k, place in enumerate(places):
            if time.perf_counter() - begun > (k + 1) * pause / 1000:
                continue  # the page is slow: the hand goes on
            self.page.mouse.move(*place)
            self.page.wait_for_timeout(pause)
        self.page.mouse.up()


def drags(browser, name: str, site: Path) -> None:
    """Print how long an input takes to its frame while a slider is dragged."""
    browser.resize(1440, 1200)
    with served(site) as port:
        for link, control in DRAGS:
            if not (site / link.partition("#")[0]).exists():
                continue
            browser.open("about:blank")  # another fragment alone would not open the page again
            browser.open(f"http://127.0.0.1:{port}/{link}")
            _wait_until_painted(browser)
            rate, delays = _drag(
                browser, f":is(.controls, .live) input[name={control}]" if control else ".live input[type=range]"
            )
            middle, slow = np.percentile(delays, [50, 95])
            of = f"{link}, {control}" if control else link
            print(f"| {of} | {name} | {rate:.0f} | {middle:.0f} | {slow:.0f} |", flush=True)


def _wait_until_painted(browser) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if browser.evaluate(f"({PAINTED})()"):
            time.sleep(0.8)  # what a view prepares after its first picture
            return
        time.sleep(0.1)
    sys.exit("A page was not drawn.")


def _drag(browser, slider: str) -> tuple[float, list[float]]:
    left, top, width, height = map(float, browser.evaluate(f"({BOX})({slider!r})").split())
    steps = round(1000 * DRAG_SECONDS / PAUSE)
    places = [(left + (0.1 + 0.8 * k / steps) * width, top + height / 2) for k in range(steps + 1)]
    browser.evaluate(f"void ({LATENCIES} = [])")
    begun = time.perf_counter()
    browser.drag(places, PAUSE)
    passed = time.perf_counter() - begun
    delays = [float(text) for text in browser.evaluate(f"{LATENCIES}.join(' ')").split()]
    if not delays:
        sys.exit(f"No frame followed a drag of {slider}.")
    return len(delays) / passed, delays


async def open_page(port: int, paths: list[str]) -> tuple[int, int]:
    """Fetch files over one connection, as a browser does; return the bytes, and the answers that are no success."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = failed = 0
    for path in paths:
        writer.write(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        received += len(await reader.readexactly(length))
        failed += " 200 " not in head.partition("\r\n")[0]
    writer.close()
    return received, failed


async def class_of(clients: int, port: int, site: Path) -> None:
    """Let clients open the page on landmarks at the same time, and print what they met."""
    folder = site / "data" / "samples"
    names = [path.stem.partition("_")[0] for path in sorted(folder.glob("*_0_fresh.js"))]
    data = [[f"data/samples/{name}_{rest}.js" for rest in ("300_0", "0_fresh")] for name in names]
    shared = [
        "landmarks.html",
        "assets/site.js",
        "assets/site.css",
        "assets/landmarks.js",
        "data/samples/landmarks_0.js",
    ]
    begun = time.perf_counter()
    visits = [
        asyncio.wait_for(open_page(port, [*shared, *data[k % len(data)], "assets/plotly-cartesian.js"]), PATIENCE)
        for k in range(clients)
    ]
    results = await asyncio.gather(*visits, return_exceptions=True)
    seconds = time.perf_counter() - begun
    met = [result for result in results if isinstance(result, tuple)]
    errors = len(results) - len(met) + sum(failed for _, failed in met)
    print(
        f"\n{clients} clients at once, each with a page, its data and Plotly's part for a plane: "
        f"{sum(size for size, _ in met) / 1e6:.0f} MB in {seconds:.1f} s, {errors} errors."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path, help="folder of an export")
    parser.add_argument("--clients", type=int, default=500, help="of the class, at most 1000")
    given = parser.parse_args()
    if not (given.site / "assets" / "plotly-cartesian.js").exists():
        sys.exit(f"{given.site} holds no static edition; `make site` writes one.")
    if not 0 <= given.clients <= 1000:
        sys.exit(f"--clients is {given.clients}; 0 to 1000 are allowed.")
    print(f"Load of this machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    sizes(given.site)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        first_pictures(browser, given.site)
        print("\n| drag | browser | frames per second | input to frame, median, ms | 95 %, ms |\n|---|---|---|---|---|")
        drags(Chromium(browser), "Chromium", given.site)
        browser.close()
    if path := firefox.program():
        with firefox.started(path) as other:
            drags(other, "Firefox", given.site)
    else:
        print("Firefox is not here.")
    if given.clients:
        with served(given.site) as port:
            asyncio.run(class_of(given.clients, port, given.site))


if __name__ == "__main__":
    main()
