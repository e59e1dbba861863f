"""Real browsers beside the simulated sessions of `benchmarks.load`: contexts of one headless Chromium.

Each page moves one control of the sidebar after another, by key or click, waits until it is complete, and pauses as a
simulated session does. It is timed in the page, from the input to the first change of a picture, or to the last change
of the page where no picture has changed.
"""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

from playwright.sync_api import Error, sync_playwright

from benchmarks.app_response import ARGUMENTS, PROBE, QUIET, STILL, change, sidebar_controls

#: Seconds after which an answer counts as lost, and within which one begins if the control had another value.
LONGEST, TO_BEGIN = 120.0, 2.0
TIMES = "() => [(probe.painted || probe.moved) - probe.asked, probe.ran]"


@dataclass
class Driven:
    """Seconds of the moves of all pages, and their errors."""

    moves: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Hand:
    """A page whose controls are moved, without waiting for it: other pages have their turn meanwhile."""

    def __init__(self, page, choices: random.Random, pause: tuple[float, float]):
        self._page, self._choices, self._pause = page, choices, pause
        self._controls = sidebar_controls(page)
        self._asked: float | None = None
        self._rest()
        page.evaluate(PROBE)

    def _rest(self) -> None:
        self._asked, self._next = None, time.monotonic() + self._choices.uniform(*self._pause)

    def turn(self, driven: Driven, moves: bool) -> bool:
        """Look for the answer, or make the next move if it is time; return whether an answer is awaited."""
        now = time.monotonic()
        if self._asked is None:
            if moves and now >= self._next:
                self._move()
        elif self._page.evaluate(f"({STILL})()"):
            late, _ = self._page.evaluate(TIMES)
            driven.moves.append(late / 1000)
            self._rest()
        elif now - self._asked > TO_BEGIN and not self._page.evaluate(TIMES)[1]:
            self._rest()  # the control had that value already
        elif now - self._asked > LONGEST:
            driven.errors.append(f"no answer within {LONGEST:g} s")
            self._rest()
        return self._asked is not None

    def _move(self) -> None:
        key = self._choices.choice(self._controls)
        control = self._page.locator(f"[data-testid=stSidebar] .{key}")
        if control.count() and control.is_visible() and change(self._page, control):
            self._asked = time.monotonic()


def drive(
    server: str,
    pages: Sequence[str],
    count: int,
    seconds: float,
    seed: int,
    pause: tuple[float, float],
    ready: threading.Event,
) -> Driven:
    """Open pages, set `ready` once all are complete or one has failed, and move their controls for some seconds.

    The `count` browsers, contexts of one Chromium, take the `pages`, paths and queries, in turn. A rest after an answer
    is between the two numbers of `pause`, in seconds.
    """
    driven = Driven()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            hands = []
            for number, path in zip(range(count), cycle(pages), strict=False):
                page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
                page.set_default_timeout(60_000)
                page.goto(f"{server}/{path}")
                page.wait_for_function(QUIET)
                hands.append(Hand(page, random.Random(f"{seed} browser {number}"), pause))
            ready.set()
            end, awaited = time.monotonic() + seconds, True
            while time.monotonic() < end or awaited:
                awaited = sum(_turn(hand, driven, time.monotonic() < end) for hand in hands) > 0
                time.sleep(0.02)
            browser.close()
    finally:
        ready.set()
    return driven


def _turn(hand: Hand, driven: Driven, moves: bool) -> bool:
    try:
        return hand.turn(driven, moves)
    except Error as error:
        driven.errors.append(str(error).splitlines()[0])
        return False
