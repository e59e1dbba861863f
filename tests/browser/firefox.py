"""Firefox of the system, which Playwright cannot drive, by WebDriver BiDi."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from benchmarks.ports import free_ports

PATIENCE = 60  # seconds until it has started, and for each answer


def program() -> str | None:
    """Where Firefox is, if this machine has one and the library that speaks to it."""
    with suppress(ImportError):
        import websockets.sync.client  # noqa: F401

        return shutil.which("firefox-esr") or shutil.which("firefox")
    return None


class Firefox:
    """One window; commands are those of WebDriver BiDi."""

    def __init__(self, connection):
        self.connection, self.numbers = connection, itertools.count()
        self.call("session.new", capabilities={})
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def call(self, method: str, **parameters) -> dict:
        """The result of a command."""
        number = next(self.numbers)
        self.connection.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.connection.recv(timeout=PATIENCE))
            if answer.get("id") == number:
                if answer["type"] != "success":
                    raise RuntimeError(f"Firefox answers {method} with {answer}")
                return answer["result"]

    def open(self, address: str) -> None:
        """Open a page and wait until it is loaded."""
        self.call("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def resize(self, width: int, height: int) -> None:
        """Give the page a size in CSS pixels."""
        size = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self.context, viewport=size)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression that is a number, a text or a truth value, or a promise of one."""
        target = {"context": self.context}
        answer = self.call("script.evaluate", expression=expression, target=target, awaitPromise=True)
        if answer["type"] != "success":
            raise RuntimeError(f"Firefox cannot evaluate {expression!r}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def drag(self, places: list[tuple[float, float]], pause: int) -> None:
        """Press at the first place, move through all others, `pause` milliseconds to each, and let go."""
        moves: list[dict] = [
            {"type": "pointerMove", "x": round(x), "y": round(y), "duration": pause if k else 0}
            for k, (x, y) in enumerate(places)
        ]
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        source = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        actions = [source | {"actions": [moves[0], down, *moves[1:], up]}]
        self.call("input.performActions", context=self.context, actions=actions)


@contextmanager
def started(path: str) -> Iterator[Firefox]:
    """A Firefox without a screen and with a profile of its own.

    Raises
    ------
    TimeoutError
        If it does not start.
    """
    import websockets.sync.client as client

    port = free_ports()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [path, "--headless", "--profile", folder, "--remote-debugging-port", str(port)],
            env=os.environ | {"HOME": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with ExitStack() as open_until:
                yield Firefox(_connect(client, port, open_until))
        finally:
            process.terminate()
            process.wait(30)


def _connect(client, port: int, open_until: ExitStack):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError):
            address = f"ws://127.0.0.1:{port}/session"
            return open_until.enter_context(client.connect(address, max_size=None))
        time.sleep(0.2)
    raise TimeoutError(f"Firefox did not start within {PATIENCE} s.")
