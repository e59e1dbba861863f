"""Load test of the app: lost sessions, errors, response times of controls, and memory of the server.

    python -m benchmarks.load       # 30 sessions for 5 minutes, then 30 minutes of short sessions
    python -m benchmarks.load --minutes 1 --soak 0 --pages kernel bounds --output load.json

Starts a server with an empty store. Sessions are simulated tabs (`benchmarks.tab`), spread over the pages; each moves
one control after another, waits for the reply and pauses like a user. Memory at the start is measured after a visit to
each page; Streamlit keeps a disconnected session for `server.disconnectedSessionTTL` seconds, and drops older ones when
the next one leaves.
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

from benchmarks.app_response import PAGES as MEASURED, served
from benchmarks.tab import LostError, Tab

PAGES = {name: addresses[0] for name, addresses in MEASURED.items() if name != "start"} | {"your_data": "your_data"}
#: Address of a run of minutes.
LONG_RUN = "real_data?dataset=mnist49&preset=paper"
#: Seconds between a reply and the next move, of a session in the soak, and between samples of memory.
PAUSE, LIFE, BETWEEN_SAMPLES = (0.5, 2.0), (20.0, 60.0), 10.0
#: Moves on each page before the measurement, which fill the bounded caches.
WARM_UP = 60
#: Parts of the soak's second half; the line of growth is fitted to their means, since neighbouring samples are
#: correlated and would give too narrow an interval.
PARTS = 8
SESSIONS_OF = ("warm-up", "load", "soak", "cut short")


@dataclass
class Record:
    """Events of the sessions."""

    moves: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """Control and seconds of its rerun, by page"""
    errors: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    polls: int = 0

    @property
    def n_moves(self) -> int:
        return sum(map(len, self.moves.values()))

    def summary(self) -> dict:
        """The record as JSON."""
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
    """MB per hour over the second half of the samples, and its 95 % interval; None for too few samples."""
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
    """A server under load, and its measurements."""

    address: str
    server: psutil.Process
    asked: argparse.Namespace
    record: Record = field(default_factory=Record)
    peak: dict = field(default_factory=dict)

    def memory(self) -> dict:
        """Memory of the server in MB: RSS, PSS, USS; and the PSS of its children."""
        with self.server.oneshot():
            of = self.server.memory_full_info()
        found = {"rss": of.rss, "pss": getattr(of, "pss", 0), "uss": of.uss, "children": 0}
        for child in self.server.children(recursive=True):
            try:
                of = child.memory_full_info()
                found["children"] += getattr(of, "pss", of.uss)
            except psutil.Error:  # has ended
                pass
        found = {name: round(value / 1e6, 1) for name, value in found.items()}
        if found["rss"] > self.peak.get("rss", 0):
            self.peak = found
        return found

    async def visit(self, page: str, choices: random.Random, work=None) -> None:
        """Open a session on a page, do `work` with its tab, and record errors."""
        self.record.sessions += 1
        tab = Tab(self.address, PAGES.get(page, page), choices)
        try:
            async with tab:
                if page == "your_data":
                    await paste_table(tab)
                if work is not None:
                    await work(tab)
        except LostError as error:
            self.record.errors[f"{page}: {error}"] += 1
        self.record.errors.update(f"{page}: {fault}" for fault in tab.faults)
        self.record.refusals.update(tab.refusals)
        self.record.polls += tab.polls

    async def session(self, page: str, number: int, until: float) -> None:
        """Move controls on a page until a time of the monotonic clock."""
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
        """Visit each page in turn."""
        for number, page in enumerate(self.asked.pages):

            async def try_controls(tab: Tab, page=page) -> None:
                for _ in range(self.asked.warm_up):
                    await self.move(page, tab)

            await self.visit(page, random.Random(f"{self.asked.seed} warm {number}"), try_controls)

    async def idle_memory(self) -> dict:
        """Memory after the server has dropped all sessions but one that has just ended."""
        await asyncio.sleep(self.asked.kept + 2)
        await self.visit(self.asked.pages[0], random.Random(0))
        await asyncio.sleep(3)
        return self.memory()

    async def sample(self, every: float, report=None) -> None:
        """Sample the memory, and print the state twice a minute."""
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
        """Run all sessions at once."""
        until = time.monotonic() + 60 * self.asked.minutes
        pages = zip(range(self.asked.sessions), cycle(self.asked.pages), strict=False)
        await asyncio.gather(*(self.session(page, number, until) for number, page in pages))

    async def soak(self) -> None:
        """Run as many sessions at a time, each replaced by another when it ends."""
        end, numbers, pages = time.monotonic() + 60 * self.asked.soak, count(), cycle(self.asked.pages)

        async def seat() -> None:
            while (now := time.monotonic()) < end:
                number, page = next(numbers), next(pages)
                life = random.Random(f"{self.asked.seed} life {number}").uniform(*LIFE)
                await self.session(page, number, min(now + life, end))

        await asyncio.gather(*(seat() for _ in range(self.asked.sessions)))


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


async def run_with(work, *others):
    """Do the work while other tasks run, which are cancelled at its end."""
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
    """Start a run of minutes, stay on its page, and cancel the run at the end."""

    async def look_on(tab: Tab) -> None:
        await tab.press("Run")
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await tab.press("Cancel")

    await load.visit(LONG_RUN, random.Random(0), look_on)


async def measure(load: Load, results: dict, save) -> None:
    """Measure all parts; results are saved after each."""
    asked, memory = load.asked, results["memory in MB"]
    say(f"warm-up: {asked.warm_up} moves on each of {len(asked.pages)} pages, then {asked.kept} s")
    await load.warm_up()
    memory["start"] = await load.idle_memory()
    results["warm-up"] = load.record.summary()

    if asked.minutes:
        say(f"load: {asked.sessions} sessions for {asked.minutes:g} minutes")
        load.record, load.peak = Record(), {}
        before, own = load.server.cpu_times(), time.process_time()
        begun, samples = time.monotonic(), load.sample(1.0)
        if asked.during_run:
            started = asyncio.Event()
            await run_with(load.scrub(), samples, watch(load, started))
            if not started.is_set():
                load.record.errors["the long run did not start"] += 1
        else:
            await run_with(load.scrub(), samples)
        after, passed = load.server.cpu_times(), time.monotonic() - begun
        memory["peak"], memory["end of load"] = load.peak, load.memory()
        results["load"] = load.record.summary()
        results["cores kept busy"] = {
            "server": round((after.user + after.system - before.user - before.system) / passed, 2),
            "sessions": round((time.process_time() - own) / passed, 2),
        }
        save()
        say(f"the sessions have ended; {asked.kept} s until the server drops them")
        memory["after"] = await load.idle_memory()
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

            await run_with(load.soak(), load.sample(BETWEEN_SAMPLES, write))
        found = growth(*np.array(samples).reshape(-1, 2).T)
        named = found and dict(zip(("MB an hour", "from", "to"), (round(end, 1) for end in found), strict=True))
        results["soak"] = load.record.summary() | {"growth over the second half": named}
        memory["after the soak"] = await load.idle_memory()
        save()


def show(results: dict) -> None:
    """Print the results as tables."""
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
        print(f"after / start: {ratio:.2f} (target: at most 1.20)")
    if busy := results.get("cores kept busy"):
        print(f"cores kept busy under load: {busy['server']} by the server, {busy['sessions']} by the sessions")
    if found := results.get("soak", {}).get("growth over the second half"):
        print(f"growth of rss in the soak: {found['MB an hour']} MB per hour ({found['from']} to {found['to']})")
    print(f"tracebacks in the server's log: {results['tracebacks in the log']}")


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


def run(asked: argparse.Namespace) -> dict:
    """Start a server and measure; return the results, which are also saved."""
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
    arguments.add_argument("--soak", type=float, default=30, help="minutes of short sessions; 0: none")
    arguments.add_argument("--pages", nargs="+", default=list(PAGES), choices=PAGES, metavar="PAGE")
    arguments.add_argument("--seed", type=int, default=0, help="of all random choices")
    arguments.add_argument("--warm-up", type=int, default=WARM_UP, help="moves on each page beforehand")
    arguments.add_argument("--during-run", action="store_true", help="while one more session watches a long run")
    arguments.add_argument(
        "--kept",
        type=int,
        default=config.get_option("server.disconnectedSessionTTL"),
        help="seconds that the server keeps disconnected sessions; default: the app's setting",
    )
    output_help = "results; the soak's .csv and the server's .log are next to it"
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
