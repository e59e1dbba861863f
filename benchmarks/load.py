"""Load test of the app: lost sessions, errors, response times of controls, and memory of the server.

    python -m benchmarks.load       # 30 sessions for 5 minutes, then 30 minutes of short sessions
    python -m benchmarks.load --minutes 1 --soak 0 --pages kernel bounds --output load.json
    python -m benchmarks.load --sessions 60 --minutes 1 --soak 0 --processes 2 --kill
    python -m benchmarks.load --sessions 22 --minutes 1 --soak 0 --browsers 8
    python -m benchmarks.load --sessions 60 --minutes 1 --soak 0 --arrive 10 --every 5 --link "landmarks?lesson=hover"

Starts a server with an empty store, or several processes behind nginx. Sessions are simulated tabs (`benchmarks.tab`),
spread over the pages; each moves one control after another, waits for the reply and pauses like a user, so that its
hand never rests. A class opens one link, and each moves a control every few seconds (`--every`, from move to move).
`--kill` kills a process halfway; its sessions open their links again, as browsers do. `--browsers` adds pages of a real
browser, on this machine's cores as well. Memory at the start is measured
after a visit to each page; Streamlit keeps a disconnected session for `server.disconnectedSessionTTL` seconds, and
drops older ones when the next one leaves.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path

import numpy as np
import psutil
from scipy import stats
from streamlit import config

from benchmarks.app_response import PAGES as MEASURED, ROOT, served, wait_for_health
from benchmarks.ports import free_ports
from benchmarks.tab import LostError, Tab

PAGES = {name: addresses[0] for name, addresses in MEASURED.items() if name != "start"} | {"your_data": "your_data"}
#: Address of a run of minutes.
LONG_RUN = "real_data?dataset=mnist49&preset=paper"
#: Seconds between a reply and the next move, of a session in the soak, and between samples of memory.
PAUSE, LIFE, BETWEEN_SAMPLES = (0.5, 2.0), (20.0, 60.0), 10.0
#: Seconds for which a session whose process was killed asks again.
LONGEST_LOSS = 30.0
#: Moves on each page before the measurement, to fill the caches.
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
    reopened: list[float] = field(default_factory=list)
    """Seconds from the loss of a session's process until its page was there again"""
    changed: list[list[dict]] = field(default_factory=list)
    """Settings that were others then, of each session that had any"""

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
            "reopened": times(self.reopened)
            | {"with other settings": len(self.changed), "changed": [one for of in self.changed for one in of]},
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
    starter: psutil.Process
    """The process of the app, or the one that runs several"""
    asked: argparse.Namespace
    record: Record = field(default_factory=Record)
    peak: dict = field(default_factory=dict)
    killed: bool = False

    def apps(self) -> list[psutil.Process]:
        """The processes of the app."""
        if self.asked.processes == 1:
            return [self.starter]
        processes = []
        for one in self.starter.children():
            with suppress(psutil.NoSuchProcess):  # killed, and not yet started again
                if "serve.py" in one.cmdline():
                    processes.append(one)
        return processes

    def memory(self) -> dict:
        """Memory of the app's processes in MB: RSS, PSS, USS; and the PSS of their children."""
        memory = dict.fromkeys(("rss", "pss", "uss", "children"), 0)
        for app in self.apps():
            with suppress(psutil.NoSuchProcess):  # killed, and started again
                of = app.memory_full_info()
                memory["rss"] += of.rss
                memory["pss"] += getattr(of, "pss", 0)
                memory["uss"] += of.uss
                for child in app.children(recursive=True):
                    with suppress(psutil.Error):  # has ended
                        of = child.memory_full_info()
                        memory["children"] += getattr(of, "pss", of.uss)
        memory = {name: round(value / 1e6, 1) for name, value in memory.items()}
        if memory["rss"] > self.peak.get("rss", 0):
            self.peak = memory
        return memory

    def seconds(self) -> dict[int, float]:
        """Processor time of the app's processes and their children."""
        seconds = {}
        for app in self.apps():
            with suppress(psutil.NoSuchProcess):
                seconds[app.pid] = sum(app.cpu_times()[:2])
                for one in app.children(recursive=True):
                    with suppress(psutil.Error):  # has ended
                        seconds[one.pid] = sum(one.cpu_times()[:2])
        return seconds

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
            if not self.killed:
                self.record.errors[f"{page}: {error}"] += 1
            elif work is not None:
                await self.reopen(page, tab, work)
        self.count(page, tab)

    def count(self, page: str, tab: Tab) -> None:
        self.record.errors.update(f"{page}: {fault}" for fault in tab.faults)
        self.record.refusals.update(tab.refusals)
        self.record.polls += tab.polls

    async def reopen(self, page: str, lost: Tab, work) -> None:
        """Open the link of a tab whose process was killed, until it answers, and go on."""
        begun = time.monotonic()
        while True:
            tab = Tab(self.address, lost.address, lost.choices)
            try:
                async with tab:
                    self.record.reopened.append(time.monotonic() - begun)
                    if changes := changed_settings(lost, tab):
                        self.record.changed.append([{"page": page, **one} for one in changes])
                    await work(tab)
                break
            except LostError as error:
                if tab.answered is not None:  # it was there, and has lost this process as well
                    self.count(page, tab)
                    lost = tab
                    begun = time.monotonic()
                elif time.monotonic() - begun > LONGEST_LOSS:
                    self.record.errors[f"{page}: {error}"] += 1
                    break
                await asyncio.sleep(0.2)
        self.count(page, tab)

    async def kill(self) -> None:
        """Kill a process halfway through the load."""
        await asyncio.sleep(30 * self.asked.minutes)
        self.killed = True
        self.apps()[0].kill()

    async def session(self, page: str, number: int, until: float) -> None:
        """Move controls on a page until a time of the monotonic clock."""
        choices, every = random.Random(f"{self.asked.seed} {number}"), self.asked.every
        await asyncio.sleep(choices.uniform(0, self.asked.arrive) if self.asked.arrive else choices.uniform(*PAUSE))

        async def scrub(tab: Tab) -> None:
            late = 0.0  # the time that the last move took
            while (left := until - time.monotonic()) > 0:
                pause = max(0.0, every - late) if every else choices.uniform(*PAUSE)
                await asyncio.sleep(min(pause, left))
                if left > max(pause, PAUSE[1]):
                    late = await self.move(page, tab)

        await self.visit(page, choices, scrub)

    async def move(self, page: str, tab: Tab) -> float:
        moved = await tab.move()
        if moved is None:
            raise LostError("no control is left to move")
        self.record.moves.setdefault(page, []).append(moved)
        return moved[1]

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
            memory = self.memory()
            passed = time.monotonic() - begun
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
        end = time.monotonic() + 60 * self.asked.soak
        numbers = count()
        pages = cycle(self.asked.pages)

        async def seat() -> None:
            while (now := time.monotonic()) < end:
                number = next(numbers)
                page = next(pages)
                life = random.Random(f"{self.asked.seed} life {number}").uniform(*LIFE)
                await self.session(page, number, min(now + life, end))

        await asyncio.gather(*(seat() for _ in range(self.asked.sessions)))


def changed_settings(lost: Tab, again: Tab) -> list[dict]:
    """The settings of a lost tab that are others in one that has opened its link.

    A move that was not answered is in the link. Its answer would have brought other controls or taken some away, so
    only those that are in both tabs are compared then.
    """
    if lost.answered is None or again.answered is None:
        return []
    before, after = lost.answered | lost.moving, again.answered
    names = before.keys() & after.keys() if lost.moving else before.keys() | after.keys()
    return [
        {"setting": name, "before": before.get(name), "after": after.get(name), "while moving": list(lost.moving)}
        for name in sorted(names)
        if before.get(name) != after.get(name)
    ]


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


async def open_browsers(load: Load) -> asyncio.Task:
    """Open pages in real browsers; the task moves their controls from then on."""
    from benchmarks.load_browsers import drive

    asked, ready = load.asked, threading.Event()
    pages = [PAGES.get(page, page) for page in asked.pages]
    driving = asyncio.create_task(
        asyncio.to_thread(drive, load.address, pages, asked.browsers, 60 * asked.minutes, asked.seed, PAUSE, ready)
    )
    await asyncio.to_thread(ready.wait)
    return driving


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
        driving = await open_browsers(load) if asked.browsers else None
        before = load.seconds()
        own = time.process_time()
        begun = time.monotonic()
        samples = load.sample(1.0)
        if asked.during_run:
            started = asyncio.Event()
            await run_with(load.scrub(), samples, watch(load, started))
            if not started.is_set():
                load.record.errors["the long run did not start"] += 1
        else:
            await run_with(load.scrub(), samples, *([load.kill()] if asked.kill else []))
        after = load.seconds()
        passed = time.monotonic() - begun
        memory["peak"], memory["end of load"] = load.peak, load.memory()
        if driving is not None:
            driven = await driving
            results["browsers"] = times(driven.moves)
            load.record.errors.update(f"browser: {error}" for error in driven.errors)
        results["load"] = load.record.summary()
        results["cores kept busy"] = {
            "server": round(sum(after[app] - before.get(app, 0) for app in after) / passed, 2),
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
        slope = growth(*np.array(samples).reshape(-1, 2).T)
        named = slope and dict(zip(("MB an hour", "from", "to"), (round(end, 1) for end in slope), strict=True))
        results["soak"] = load.record.summary() | {"growth over the second half": named}
        memory["after the soak"] = await load.idle_memory()
        save()


def cells(of: dict) -> str:
    """What `times` gives, as cells of a table."""
    return "".join(f"{of.get(cell, ''):>8}" for cell in ("moves", "median", "p95", "max"))


def show(results: dict) -> None:
    """Print the results as tables."""
    for part in SESSIONS_OF:
        if (summary := results.get(part)) is None:
            continue
        print(
            f"\n{part}: {summary['sessions']} sessions, {summary['moves']} controls moved, "
            f"{summary['polls of fragments']} polls, {sum(summary['errors'].values())} errors, "
            f"{sum(summary['refusals'].values())} refusals; in ms:\n"
        )
        print(f"{'':<16}{'moves':>8}{'median':>8}{'p95':>8}{'max':>8}")
        for name, of in {**summary["pages"], "all": summary["overall"]}.items():
            print(f"{name:<16}{cells(of)}")
        if part == "load" and (of := results.get("browsers")):
            print(f"{'browsers':<16}{cells(of)}")
        if summary["reopened"]["moves"]:
            of = summary["reopened"]
            print(
                f"{of['moves']} sessions opened again after their process was killed: median {of['median']} ms, "
                f"at most {of['max']} ms, {of['with other settings']} with other settings"
            )
            for one in of["changed"]:
                print("    {page}: {setting} was {before}, is {after} (while moving: {while moving})".format(**one))
        for kind in ("errors", "refusals"):
            for text, times_seen in summary[kind].items():
                print(f"{kind[:-1]}, {times_seen} times: {text}")
    print(f"\n{'memory in MB':<16}{'rss':>8}{'pss':>8}{'uss':>8}{'children':>10}")
    for name, of in results["memory in MB"].items():
        if isinstance(of, dict):
            print(f"{name:<16}{of['rss']:>8.0f}{of['pss']:>8.0f}{of['uss']:>8.0f}{of['children']:>10.0f}")
    if ratio := results["memory in MB"].get("after / start"):
        print(f"after / start: {ratio:.2f} (target: at most 1.20)")
    if busy := results.get("cores kept busy"):
        print(f"cores kept busy under load: {busy['server']} by the server, {busy['sessions']} by the sessions")
    if pace := results.get("soak", {}).get("growth over the second half"):
        print(f"growth of rss in the soak: {pace['MB an hour']} MB per hour ({pace['from']} to {pace['to']})")
    print(f"tracebacks in the server's log: {results['tracebacks in the log']}")


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


@contextmanager
def started(asked: argparse.Namespace, log):
    """Start the app, and yield its address and the process that answers or runs those that do."""
    if asked.processes == 1:
        with served("--server.disconnectedSessionTTL", str(asked.kept), log=log) as address:
            port = address.rpartition(":")[2]
            yield address, next(one for one in psutil.Process().children() if port in one.cmdline())
        return
    port = free_ports(1 + asked.processes)
    command = [sys.executable, "-m", "deploy", "--workers", str(asked.processes), "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "RFF_STORE": f"sqlite:///{folder}/results.sqlite",
            "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(asked.kept),
        }
        command += ["--address", "127.0.0.1"]
        server = subprocess.Popen(command, cwd=ROOT, env=os.environ | settings, stdout=log, stderr=log)
        try:
            for one in range(port, port + 1 + asked.processes):
                wait_for_health(f"http://127.0.0.1:{one}")
            yield f"http://127.0.0.1:{port}", psutil.Process(server.pid)
        finally:
            server.terminate()
            server.wait()


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
        with started(asked, log) as (address, starter):
            load = Load(address, starter, asked)
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
    arguments.add_argument("--processes", type=int, default=1, help="of the app, behind nginx if there are several")
    arguments.add_argument("--arrive", type=float, default=0, help="seconds within which all sessions open")
    arguments.add_argument("--every", type=float, default=0, help="seconds from move to move of a session; 0: no rest")
    arguments.add_argument("--link", help="path and query that all sessions open, instead of pages")
    arguments.add_argument("--kill", action="store_true", help="kill one of the processes halfway through the load")
    arguments.add_argument("--browsers", type=int, default=0, help="pages of a real browser beside the sessions")
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
    asked = parser().parse_args()
    if asked.link:
        asked.pages = [asked.link]
    if asked.kill and asked.processes == 1:
        sys.exit("--kill needs --processes of at least 2: another one has to go on.")
    results = run(asked)
    show(results)
    failed = [part for part in SESSIONS_OF if results.get(part, {}).get("errors")]
    sys.exit(f"errors in the {' and the '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
