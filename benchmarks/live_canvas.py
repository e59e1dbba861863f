"""How fast the live Landmarks canvas follows a hand: frames and delays during a drag of two seconds.

Starts a server of its own, drives headless Chromium, and prints one line for each number of frequencies: frames drawn a
second, median and 95th percentile of the time from an input event to its drawn frame, bytes of the page's data, and the
time to the first picture on a warm server. Run it as `python benchmarks/live_canvas.py` from the top folder.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
SHOWN = "() => document.querySelector('.live')?.view?.testError !== undefined"


def main() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            measure(browser, f"http://127.0.0.1:{port}/landmarks?D=20")  # warms the server up
            print(f"{'D':>4} {'frames/s':>9} {'median ms':>10} {'p95 ms':>7} {'data kB':>8} {'first picture s':>16}")
            for D in (20, 256):
                frames, delays, size, first = measure(browser, f"http://127.0.0.1:{port}/landmarks?D={D}")
                middle, late = np.percentile(delays, [50, 95])
                print(f"{D:>4} {frames:>9.0f} {middle:>10.1f} {late:>7.1f} {size / 1000:>8.0f} {first:>16.1f}")
    finally:
        server.terminate()


def wait_until_healthy(address: str) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("The server did not start within 30 s.")


def measure(browser, address: str):
    page = browser.new_page(viewport={"width": 1440, "height": 1200})
    start = time.perf_counter()
    page.goto(address)
    page.wait_for_function(SHOWN)
    first = time.perf_counter() - start
    page.wait_for_timeout(1000)
    box = page.locator(".live input[name=beta]").bounding_box()
    x, y, width = box["x"], box["y"] + box["height"] / 2, box["width"]
    page.mouse.move(x + 0.1 * width, y)
    page.mouse.down()
    page.evaluate("() => { document.querySelector('.live').view.latencies = []; }")
    begun = time.perf_counter()
    while (passed := time.perf_counter() - begun) < 2:
        page.mouse.move(x + (0.1 + 0.4 * passed) * width, y)
        page.wait_for_timeout(8)
    delays = page.evaluate("() => document.querySelector('.live').view.latencies")
    page.mouse.up()
    size = page.evaluate("() => JSON.stringify(document.querySelector('.live').view.data).length")
    page.close()
    return len(delays) / passed, delays, size, first


if __name__ == "__main__":
    main()
