"""What many sessions at a time do to the app: lost ones, errors, answers to a control, and the server's memory.

    python -m benchmarks.load       # 30 sessions for 5 minutes, then 30 minutes of coming and going
    python -m benchmarks.load --minutes 1 --soak 0 --pages kernel bounds --output load.json

Starts a server of its own with an empty store. Sessions are tabs as the server sees them (`benchmarks.tab`), spread
over the pages; each moves one control after another, waits for the answer and pauses as a hand does. Memory counts as
that of the start once each page has been visited and left; Streamlit keeps a session that has lost its socket for
`server.disconnectedSessionTTL` seconds, and lets go of those that are older when the next one leaves.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path

import numpy as np
import psutil
from scipy import stats
from streamlit import config

from benchmarks.app_response import PAGES as MEASURED
from benchmarks.app_response import served
from benchmarks.tab import LostError, Tab

PAGES = {name: addresses[0] for name, addresses in MEASURED.items() if name != "start"} | {"your_data": "your_data"}
#: A run of minutes, for the session that watches one.
LONG_RUN = "real_data?dataset=mnist49&preset=paper"
#: Seconds between an answer and the next move; of a session's life in the soak; between its samples of memory.
PAUSE, LIFE, BETWEEN_SAMPLES = (0.5, 2.0), (20.0, 60.0), 10.0
#: Moves on each page before anything is measured: the caches, which are bounded, are well filled then.
WARM_UP = 60
#: Parts of the soak's second half whose mean memory the line of growth is fitted to: samples beside each other are
#: alike, so that they would promise too narrow an interval.
PARTS = 8
SESSIONS_OF = ("warm-up", "load", "soak", "cut short")


@dataclass
class Record:
    """What has happened to the sessions."""

    moves: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """By page: the control, and the seconds until its script had run"""
    errors: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    polls: int = 0

    @property
    def n_moves(self) -> int:
        return sum(map(len, self.moves.values()))

    def summary(self) -> dict:
        """For the file of results."""
        of_controls = {}
        for page, moves in self.moves.items():
            for control in sorted({name for name, _ in moves}):
                of_controls[f"{page}: {control}"] = times([late for name, late in moves if name == control])
        return {
            "sessions": self.sessions,
            "moves": self.n_moves,
            "errors": dict(self.errors),
            "refusals": dict(self.refusals),
            "polls of fragments": self.polls,
            "overall": times([late for moves in self.moves.values() for _, late in moves]),
            "pages": {page: times([late for _, late in moves]) for page, moves in self.moves.items()},
            "controls": of_controls,
        }


def times(seconds: list[float]) -> dict:
    """Their number, median, 95 % quantile and maximum, in ms."""
    if not seconds:
        return {"moves": 0}
    median, p95, most = (round(1000 * float(late)) for late in np.percentile(seconds, [50, 95, 100]))
    return {"moves": len(seconds), "median": median, "p95": p95, "max": most}


def growth(minutes: np.ndarray, megabytes: np.ndarray) -> tuple[float, float, float] | None:
    """MB an hour over the second half of the samples, and the ends of its 95 % interval; None of too few samples."""
    late = minutes >= (minutes[0] + minutes[-1]) / 2 if len(minutes) else np.array([])
    if np.sum(late) < PARTS:
        return None
    parts = zip(np.array_split(minutes[late], PARTS), np.array_split(megabytes[late], PARTS), strict=True)
    hours, means = np.array([(np.mean(when) / 60, np.mean(much)) for when, much in parts]).T
    line = stats.linregress(hours, means)
    reach = stats.t.ppf(0.975, PARTS - 2) * line.stderr
    return line.slope, line.slope - reach, line.slope + reach


@dataclass
class Load:
    """A server under load, and what is known of it."""

    address: str
    server: psutil.Process
    asked: argparse.Namespace
    record: Record = field(default_factory=Record)
    peak: dict = field(default_factory=dict)

    def memory(self) -> dict:
        """Of the server, in MB: resident, its share of what is shared, its own; and the shares of its children."""
        with self.server.oneshot():
            of = self.server.memory_full_info()
        found = {"rss": of.rss, "pss": getattr(of, "pss", 0), "uss": of.uss, "children": 0}
        for child in self.server.children(recursive=True):
            try:
                of = child.memory_full_info()
                found["children"] += getattr(of, "pss", of.uss)
            except psutil.Error:  # ended meanwhile
                pass
        found = {name: round(value / 1e6, 1) for name, value in found.items()}
        if found["rss"] > self.peak.get("rss", 0):
            self.peak = found
        return found

    async def visit(self, page: str, choices: random.Random, work=None) -> None:
        """A session on a page, in which `work` is done with its tab; whatever goes wrong is written down."""
        self.record.sessions += 1
        tab = Tab(self.address, PAGES.get(page, page), choices)
        try:
            async with tab:
                if page == "your_data":
                    await hand_in(tab)
                if work is not None:
                    await work(tab)
        except LostError as error:
            self.record.errors[f"{page}: {error}"] += 1
        self.record.errors.update(f"{page}: {fault}" for fault in tab.faults)
        self.record.refusals.update(tab.refusals)
        self.record.polls += tab.polls

    async def session(self, page: str, number: int, until: float) -> None:
        """One hand on one page until a time of the monotonic clock."""
        choices = random.Random(f"{self.asked.seed} {number}")
        await asyncio.sleep(choices.uniform(*PAUSE))

        async def scrub(tab: Tab) -> None:
            while (left := until - time.monotonic()) > 0:
                await asyncio.sleep(min(choices.uniform(*PAUSE), left))
                if left > PAUSE[1]:
                    await self.move(page, tab)

        await self.visit(page, choices, scrub)

    async def move(self, page: str, tab: Tab) -> None:
        moved = await tab.move()
        if moved is None:
            raise LostError("no control is left to move")
        self.record.moves.setdefault(page, []).append(moved)

    async def warm_up(self) -> None:
        """Each page is visited and left, by itself."""
        for number, page in enumerate(self.asked.pages):

            async def try_controls(tab: Tab, page=page) -> None:
                for _ in range(self.asked.warm_up):
                    await self.move(page, tab)

            await self.visit(page, random.Random(f"{self.asked.seed} warm {number}"), try_controls)

    async def let_go(self) -> dict:
        """Wait until the server has let go of all sessions but one that has come and gone; its memory then."""
        await asyncio.sleep(self.asked.kept + 2)
        await self.visit(self.asked.pages[0], random.Random(0))
        await asyncio.sleep(3)
        return self.memory()

    async def sample(self, every: float, report=None) -> None:
        """Look at the memory again and again, and say how things are twice a minute."""
        begun, said = time.monotonic(), 0.0
        while True:
            await asyncio.sleep(every)
            memory, passed = self.memory(), time.monotonic() - begun
            if report is not None:
                report(passed, memory)
            if passed - said >= 30:
                said = passed
                say(
                    f"{passed:5.0f} s: {self.record.n_moves} controls moved, {self.record.errors.total()} errors, "
                    f"{memory['rss']:.0f} MB"
                )

    async def scrub(self) -> None:
        """All sessions at once."""
        until = time.monotonic() + 60 * self.asked.minutes
        pages = zip(range(self.asked.sessions), cycle(self.asked.pages), strict=False)
        await asyncio.gather(*(self.session(page, number, until) for number, page in pages))

    async def come_and_go(self) -> None:
        """As many sessions at a time, but each leaves after a while, and another takes its place."""
        end, numbers, pages = time.monotonic() + 60 * self.asked.soak, count(), cycle(self.asked.pages)

        async def seat() -> None:
            while (now := time.monotonic()) < end:
                number, page = next(numbers), next(pages)
                life = random.Random(f"{self.asked.seed} life {number}").uniform(*LIFE)
                await self.session(page, number, min(now + life, end))

        await asyncio.gather(*(seat() for _ in range(self.asked.sessions)))


async def hand_in(tab: Tab) -> None:
    """Paste a table of one's own."""
    rng = np.random.default_rng(tab.choices.randrange(2**32))
    X = rng.normal(size=(200, 4)).round(3)
    sort = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0, "yes", "no")
    lines = ["length,width,height,weight,sort"]
    lines += [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), sort, strict=True)]
    area = next(one for one in tab.widgets if one.name == "your text")
    await tab.set(area, "\n".join(lines))
    await tab.press("Read the text")


async def beside(work, *others):
    """Do the work while the others go on, which end with it."""
    tasks = [asyncio.create_task(other) for other in others]
    try:
        return await work
    finally:
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended


async def watch(load: Load, started: asyncio.Event) -> None:
    """Start a run of minutes, watch it as its page does, and cancel it in the end."""

    async def look_on(tab: Tab) -> None:
        await tab.press("Run")
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await tab.press("Cancel")

    await load.visit(LONG_RUN, random.Random(0), look_on)


async def measure(load: Load, results: dict, save) -> None:
    """All that is asked for; results are saved after each part."""
    asked, memory = load.asked, results["memory in MB"]
    say(f"warm-up: {asked.warm_up} moves on each of {len(asked.pages)} pages, then {asked.kept} s")
    await load.warm_up()
    memory["start"] = await load.let_go()
    results["warm-up"] = load.record.summary()

    if asked.minutes:
        say(f"load: {asked.sessions} sessions for {asked.minutes:g} minutes")
        load.record, load.peak = Record(), {}
        before, own = load.server.cpu_times(), time.process_time()
        begun, samples = time.monotonic(), load.sample(1.0)
        if asked.beside_run:
            started = asyncio.Event()
            await beside(load.scrub(), samples, watch(load, started))
            if not started.is_set():
                load.record.errors["the long run did not start"] += 1
        else:
            await beside(load.scrub(), samples)
        after, passed = load.server.cpu_times(), time.monotonic() - begun
        memory["peak"], memory["end of load"] = load.peak, load.memory()
        results["load"] = load.record.summary()
        results["cores kept busy"] = {
            "server": round((after.user + after.system - before.user - before.system) / passed, 2),
            "sessions": round((time.process_time() - own) / passed, 2),
        }
        save()
        say(f"the sessions have ended; {asked.kept} s until the server lets go of them")
        memory["after"] = await load.let_go()
        memory["after / start"] = round(memory["after"]["rss"] / memory["start"]["rss"], 3)
        save()

    if asked.soak:
        say(f"soak: {asked.sessions} sessions at a time for {asked.soak:g} minutes, each of 20 to 60 s")
        load.record, samples = Record(), []
        with asked.output.with_suffix(".csv").open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["seconds", "rss", "pss", "uss", "children", "sessions", "moves", "errors"])

            def write(seconds: float, of: dict) -> None:
                samples.append((seconds / 60, of["rss"]))
                counts = load.record.sessions, load.record.n_moves, load.record.errors.total()
                table.writerow([round(seconds), *of.values(), *counts])
                file.flush()

            await beside(load.come_and_go(), load.sample(BETWEEN_SAMPLES, write))
        found = growth(*np.array(samples).reshape(-1, 2).T)
        named = found and dict(zip(("MB an hour", "from", "to"), (round(end, 1) for end in found), strict=True))
        results["soak"] = load.record.summary() | {"growth over the second half": named}
        memory["after the soak"] = await load.let_go()
        save()


def show(results: dict) -> None:
    """The table."""
    for part in SESSIONS_OF:
        if (found := results.get(part)) is None:
            continue
        print(
            f"\n{part}: {found['sessions']} sessions, {found['moves']} controls moved, "
            f"{found['polls of fragments']} polls, {sum(found['errors'].values())} errors, "
            f"{sum(found['refusals'].values())} refusals; in ms:\n"
        )
        print(f"{'':<16}{'moves':>8}{'median':>8}{'p95':>8}{'max':>8}")
        for name, of in {**found["pages"], "all": found["overall"]}.items():
            print(f"{name:<16}" + "".join(f"{of.get(cell, ''):>8}" for cell in ("moves", "median", "p95", "max")))
        for kind in ("errors", "refusals"):
            for text, times_seen in found[kind].items():
                print(f"{kind[:-1]}, {times_seen} times: {text}")
    print(f"\n{'memory in MB':<16}{'rss':>8}{'pss':>8}{'uss':>8}{'children':>10}")
    for name, of in results["memory in MB"].items():
        if isinstance(of, dict):
            print(f"{name:<16}{of['rss']:>8.0f}{of['pss']:>8.0f}{of['uss']:>8.0f}{of['children']:>10.0f}")
    if ratio := results["memory in MB"].get("after / start"):
        print(f"after / start: {ratio:.2f} (aim: at most 1.20)")
    if busy := results.get("cores kept busy"):
        print(f"cores kept busy under load: {busy['server']} by the server, {busy['sessions']} by the sessions")
    if found := results.get("soak", {}).get("growth over the second half"):
        print(f"growth of rss in the soak: {found['MB an hour']} MB an hour ({found['from']} to {found['to']})")
    print(f"tracebacks in the server's log: {results['tracebacks in the log']}")


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


def run(asked: argparse.Namespace) -> dict:
    """Measure with a server of its own; returns what is in the file."""
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    memory: dict = {}
    settings = {name: value for name, value in vars(asked).items() if name != "output"}
    results = {"asked": settings, "machine": machine, "memory in MB": memory}

    def save() -> None:
        log.seek(0)
        results["tracebacks in the log"] = log.read().count("Traceback (most recent call last)")
        asked.output.write_text(json.dumps(results, indent=1) + "\n")

    with asked.output.with_suffix(".log").open("w+") as log:
        with served("--server.disconnectedSessionTTL", str(asked.kept), log=log) as address:
            port = address.rpartition(":")[2]
            (server,) = [one for one in psutil.Process().children() if port in one.cmdline()]
            load = Load(address, server, asked)
            try:
                asyncio.run(measure(load, results, save))
            except psutil.NoSuchProcess:
                load.record.errors["the server has ended"] += 1
                results["cut short"] = load.record.summary()
        save()
    return results


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--sessions", type=int, default=30)
    arguments.add_argument("--minutes", type=float, default=5, help="of load; 0: none")
    arguments.add_argument("--soak", type=float, default=30, help="minutes of sessions that come and go; 0: none")
    arguments.add_argument("--pages", nargs="+", default=list(PAGES), choices=PAGES, metavar="PAGE")
    arguments.add_argument("--seed", type=int, default=0, help="of all choices that hands make")
    arguments.add_argument("--warm-up", type=int, default=WARM_UP, help="moves on each page beforehand")
    arguments.add_argument("--beside-run", action="store_true", help="while one more session watches a long run")
    arguments.add_argument(
        "--kept",
        type=int,
        default=config.get_option("server.disconnectedSessionTTL"),
        help="seconds that the server keeps sessions that have left; default: the app's own setting",
    )
    output_help = "beside it, the soak's .csv and the server's .log"
    arguments.add_argument("--output", type=Path, default=Path("load.json"), help=output_help)
    return arguments


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and with this, its server
    results = run(parser().parse_args())
    show(results)
    failed = [part for part in SESSIONS_OF if results.get(part, {}).get("errors")]
    sys.exit(f"errors in the {' and the '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
