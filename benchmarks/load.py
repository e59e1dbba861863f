"""Load test of the app: lost sessions, errors, response times of controls, and memory of the server.

    python -m benchmarks.load                                   # 30 sessions for 5 minutes, on a server of its own
    python -m benchmarks.load --sessions 60 --minutes 1 --pages kernel bounds
    python -m benchmarks.load --sessions 60 --minutes 1 --every 5 --pages "landmarks?lesson=prior-to-cosine"
    python -m benchmarks.load --server http://localhost:8501    # one that runs already; its processes may be killed

Sessions are simulated tabs (`benchmarks.tab`), spread over the pages; each moves one control after another, waits for
the reply and pauses like a user, so that its hand never rests. With `--every` it moves one every few seconds. A lost
session opens its link again, as browsers do. It is an error if that fails or changes a setting. Memory is that of the
server and its children; the first value is taken after a visit to each page.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import time
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from itertools import cycle

import numpy as np
import psutil

from benchmarks.app_response import PAGES as MEASURED, served
from benchmarks.tab import LostError, Tab

PAGES = {name: addresses[0] for name, addresses in MEASURED.items() if name != "start"} | {"your_data": "your_data"}
#: Seconds between a reply and the next move.
PAUSE = (0.5, 2.0)
#: Seconds for which a lost session asks again.
LONGEST_LOSS = 30.0


@dataclass
class Load:
    """A server under load, and what the sessions observe."""

    address: str
    """Of the server, without a trailing slash"""
    asked: argparse.Namespace
    moves: dict[str, list[float]] = field(default_factory=dict)
    """Seconds of each answer, by page"""
    errors: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    reopened: list[float] = field(default_factory=list)
    """Seconds from the loss of a session until its page was there again"""

    async def visit(self, page: str, choices: random.Random, until: float, moves: int | None = None) -> None:
        """Open a page and move its controls until a time of the monotonic clock, or so many times."""
        link, before, lost_at = PAGES.get(page, page), {}, 0.0
        while True:
            tab = Tab(self.address, link, choices)
            try:
                async with tab:
                    if lost_at:
                        self._compare(page, before, tab.settings)
                        self.reopened.append(time.monotonic() - lost_at)
                        lost_at = 0.0
                    if page == "your_data":
                        await paste_table(tab)
                    await self._move(page, tab, until, moves)
                return
            except LostError as error:
                lost_at = lost_at or time.monotonic()
                if moves is not None or time.monotonic() > min(until, lost_at + LONGEST_LOSS):
                    self.errors[f"{page}: {error}"] += 1
                    return
                link, before = tab.address, tab.settings or before
            finally:
                self.errors.update(f"{page}: {fault}" for fault in tab.faults)
                self.refusals.update(tab.refusals)
            await asyncio.sleep(0.2)

    async def _move(self, page: str, tab: Tab, until: float, moves: int | None) -> None:
        late = 0.0  # the time that the last move took
        while (left := until - time.monotonic()) > PAUSE[1] and moves != 0:
            every = self.asked.every
            pause = max(0.0, every - late) if every else tab.choices.uniform(*PAUSE)
            await asyncio.sleep(min(pause, left))
            if (moved := await tab.move()) is None:
                self.errors[f"{page}: no control is left to move"] += 1
                return
            late = moved[1]
            self.moves.setdefault(page, []).append(late)
            moves = moves and moves - 1

    def _compare(self, page: str, before: dict, after: dict) -> None:
        """Count as an error each setting that its link restores wrongly. A lost move may add or remove settings."""
        for name in before.keys() & after.keys():
            if before[name] != after[name]:
                self.errors[f"{page}: {name} was {before[name]} and is {after[name]}"] += 1

    async def sessions(self) -> None:
        """Run all sessions at once."""
        until = time.monotonic() + 60 * self.asked.minutes
        pages = zip(range(self.asked.sessions), cycle(self.asked.pages), strict=False)

        async def session(number: int, page: str) -> None:
            choices = random.Random(f"{self.asked.seed} {number}")
            await asyncio.sleep(choices.uniform(*PAUSE))
            await self.visit(page, choices, until)

        await asyncio.gather(*(session(number, page) for number, page in pages))

    async def warm_up(self) -> None:
        """Visit each page in turn to fill the caches; these moves do not count."""
        for page in self.asked.pages:
            await self.visit(page, random.Random(self.asked.seed), float("inf"), self.asked.warm_up)
        self.moves.clear()


def megabytes() -> float:
    """Return the memory in MB (RSS) of the servers that this process has started, with their children."""
    total = 0
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # has ended
            total += one.memory_info().rss
    return total / 1e6


async def paste_table(tab: Tab) -> None:
    """Paste a random table on the page "Your data"."""
    rng = np.random.default_rng(tab.choices.randrange(2**32))
    X = rng.normal(size=(200, 4)).round(3)
    sort = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0, "yes", "no")
    lines = ["length,width,height,weight,sort"]
    lines += [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), sort, strict=True)]
    area = next(one for one in tab.widgets if one.name == "your text")
    await tab.set(area, "\n".join(lines))
    await tab.press("Read the text")


async def measure(load: Load) -> list[float]:
    """Warm the server up and load it; return its memory in MB at the start, at its peak and at the end."""
    await load.warm_up()
    memory = [megabytes()]

    async def sample() -> None:
        while True:
            await asyncio.sleep(1)
            memory.append(megabytes())

    sampling = asyncio.create_task(sample())
    await load.sessions()
    sampling.cancel()
    return [memory[0], max(memory), megabytes()]


def times(name: str, seconds: list[float]) -> str:
    """Return a line of the table: number, median, 95 % quantile and maximum."""
    if not seconds:
        return f"| {name} | 0 | – | – | – |"
    cells = [f"{late:.2g} s" for late in np.percentile(seconds, [50, 95, 100])]
    return f"| {name} | {len(seconds)} | {' | '.join(cells)} |"


def show(load: Load, memory: list[float]) -> None:
    """Print the table, memory, refusals and errors."""
    print("| page | moves | median | 95 % | longest |\n|---|---|---|---|---|")
    for page, seconds in load.moves.items():
        print(times(page, seconds))
    print(times("all", [late for of_page in load.moves.values() for late in of_page]))
    if load.reopened:
        print(times("lost, and there again", load.reopened))
    if not load.asked.server:
        print("memory: {:.0f} MB at the start, {:.0f} MB at most, {:.0f} MB at the end".format(*memory))
    for name, met in (("refusal", load.refusals), ("error", load.errors)):
        for what, count in met.items():
            print(f"{name}, {count} times: {what}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--sessions", type=int, default=30)
    arguments.add_argument("--minutes", type=float, default=5)
    names = f"names ({', '.join(PAGES)}), or paths with queries"
    arguments.add_argument("--pages", nargs="+", default=list(PAGES), metavar="PAGE", help=names)
    arguments.add_argument("--seed", type=int, default=0, help="of all random choices")
    arguments.add_argument("--warm-up", type=int, default=10, help="moves on each page beforehand")
    arguments.add_argument("--every", type=float, default=0, help="seconds from move to move of a session; 0: no rest")
    arguments.add_argument("--server", help="address of one that runs already; default: one is started")
    asked = arguments.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; {asked.sessions} sessions")
    with nullcontext(asked.server.rstrip("/")) if asked.server else served() as address:
        load = Load(address, asked)
        memory = asyncio.run(measure(load))
    show(load, memory)
    sys.exit(f"{load.errors.total()} errors" if load.errors else 0)


if __name__ == "__main__":
    main()
