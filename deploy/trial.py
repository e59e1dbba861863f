"""A trial of the containers: `python -m deploy.trial --write` runs compose.yaml for real, in about 11 minutes.

It needs docker with its plugin compose, and the images that compose.yaml and the Dockerfile name. Under load, while a
run writes its rows to PostgreSQL, the apps are replaced one after the other, the processes of one are killed, and
PostgreSQL is killed and started again. Then the project is taken down and started again, and a small volume of
PostgreSQL is filled. The rows must be those of a run that nothing disturbs. Its containers and volumes are projects of
their own, removed at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import io
import json
import math
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.engine.table import write
from benchmarks.load import Load, parser as load_parser, run_with
from benchmarks.ports import free_ports
from benchmarks.tab import LostError, Tab
from deploy.compose import COMPOSE, ROOT

PAGE = ROOT / "docs" / "deployment.md"
MARKS = "<!-- trial: begin, written by `python -m deploy.trial --write` -->", "<!-- trial: end -->"
HEAD = "| after | what was done | what was seen |", "|---|---|---|"
SESSIONS = 12
#: Rows of the run before it is disturbed.
FIRST_ROWS = 20
LOAD = f"--sessions {SESSIONS} --every 5 --pages kernel landmarks bounds approximate"
#: The run: as the command line and as the pages name it.
RUN = ["python", "-m", "rff_engine", "run", "features", "--dataset", "breast", "--preset", "paper", "--repeats", "3"]
RUN_PAGE = "real_data?dataset=breast&preset=paper&repeats=3"
#: Seconds between two requests that are counted, and for which a state is waited for.
EVERY, PATIENCE = 0.5, 900.0
#: Seconds for an answer on the page of the run; then it is opened again.
LONGEST_ANSWER = 20.0
#: What the trial adds to compose.yaml: a run takes its share of busy cores, else it would not end under load.
SHARE = {"services": {f"app{k}": {"environment": {"RFF_RUNS_GIVE_WAY": "0"}} for k in range(1, 5)}}
SMALL_VOLUME = {"type": "tmpfs", "device": "tmpfs", "o": "size=100m,uid=70,gid=70"}
FILL = "/var/lib/postgresql/data/fill"


@dataclass(frozen=True)
class Event:
    """A line of the log."""

    seconds: int
    done: str
    seen: str


def table(events: list[Event]) -> str:
    """The log as a table of Markdown."""
    return "\n".join([*HEAD, *(f"| {one.seconds} s | {one.done} | {one.seen} |" for one in events)])


class Project:
    """A project of compose.yaml under a name of its own.

    Parameters
    ----------
    more : Path
        File of compose that adds to it.
    """

    def __init__(self, name: str, more: Path):
        self.port = free_ports()
        self.run = ""  # id of the run whose rows count
        self._command = ["docker", "compose", "--project-name", name]
        self._command += ["--file", str(ROOT / COMPOSE), "--file", str(more)]
        passwords = {name: secrets.token_hex(32) for name in ("POSTGRES_PASSWORD", "COOKIE_SECRET")}
        self._environment = os.environ | passwords | {"PORT": str(self.port), "ADDRESS": "127.0.0.1"}

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `docker compose`."""
        return subprocess.run([*self._command, *words], cwd=ROOT, env=self._environment, capture_output=True, text=True)

    def do(self, *words: str) -> str:
        """Run a command that must succeed; return what it prints."""
        process = self.ask(*words)
        if process.returncode:
            sys.exit(f"docker compose {' '.join(words)} fails: {process.stderr.strip()[-2000:]}")
        return process.stdout

    def rows(self) -> set[str]:
        """The rows of the run in PostgreSQL; none before it has their table. The first page has a run of its own."""
        of_run = f"SELECT key FROM rff_run_rows WHERE run = '{self.run}'"
        command = ["psql", "-U", "rff", "-d", "rff", "-Atc", f"SELECT r FROM rff_results r WHERE key IN ({of_run})"]
        return set(self.ask("exec", "-T", "store", *command).stdout.splitlines())

    def healthy(self, service: str) -> bool:
        return "(healthy)" in self.do("ps", "--all", "--format", "{{.Status}}", service)


class Trial:
    """The project under load, and the log of what was done to it."""

    def __init__(self, project: Project):
        self.project = project
        self.events: list[Event] = []
        self._begun = time.monotonic()
        self._asked, self._failed = 0, 0
        self._known: set[str] = set()
        self._over = False
        address = f"http://127.0.0.1:{project.port}"
        self._load = Load(address, psutil.Process(), load_parser().parse_args(LOAD.split()))
        self._load.killed = True  # sessions open their links again

    def log(self, done: str, seen: str) -> None:
        self.events.append(Event(round(time.monotonic() - self._begun), done, seen))
        print(table(self.events[-1:]).splitlines()[-1], flush=True)

    def start(self) -> None:
        self.project.do("up", "--build", "--detach", "--wait")
        services = self.project.do("ps", "--services").split()
        self.log("`docker compose up --build --detach --wait`", f"{', '.join(services)}: healthy")

    async def under_load(self, expected: list[dict[str, str]]) -> None:
        """Disturb the project while sessions move controls and a run goes on, until the run has finished."""
        pages = self._load.asked.pages
        sessions = [self._load.session(pages[number % len(pages)], number, math.inf) for number in range(SESSIONS)]
        await run_with(self._disturb(len(expected)), self._request(), self._start_run(), *sessions)

    async def _disturb(self, planned: int) -> None:
        await self._goes_on(planned)
        said = f"{SESSIONS} sessions, each with a move every 5 s; a run of {planned} rows, started on a page"
        self.log(said, await self._saw())
        services = await self._do("ps", "--services")
        apps = [name for name in services.split() if name.startswith("app")]
        for app in apps:
            await self._do("up", "--detach", "--no-deps", "--force-recreate", "--wait", app)
        await self._goes_on(planned)
        said = f"{', '.join(apps)}: replaced in turn, `up --detach --no-deps --force-recreate --wait`"
        self.log(said, await self._saw())
        await asyncio.to_thread(self.project.ask, "exec", "-T", apps[0], "sh", "-c", "kill -9 -1")
        await self._until(lambda: not self.project.healthy(apps[0]))
        await self._until(lambda: self.project.healthy(apps[0]))
        await self._goes_on(planned)
        self.log(f"{apps[0]}: all its processes killed", f"healthy again by itself; {await self._saw()}")
        await self._do("restart", "--timeout", "0", "store")
        await self._until(lambda: self.project.healthy("store"))
        await self._goes_on(planned)
        self.log("store: killed and started again, `restart --timeout 0`", await self._saw())
        await self._until(lambda: len(self.project.rows()) >= planned)
        self._over = True
        self.log("the run ends", await self._saw())

    async def _goes_on(self, planned: int) -> None:
        """Wait until the run has written more rows, or all."""
        known = await asyncio.to_thread(self.project.rows)
        wanted = min(planned, len(known) + FIRST_ROWS)
        await self._until(lambda: len(self.project.rows()) >= wanted)

    async def _do(self, *words: str) -> str:
        return await asyncio.to_thread(self.project.do, *words)

    async def _until(self, state: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not await asyncio.to_thread(state):
            if time.monotonic() > deadline:
                seen = await self._saw()
                sys.exit(f"After {PATIENCE:.0f} s the state that the trial waits for has not come: {seen}.")
            await asyncio.sleep(1)

    async def _saw(self) -> str:
        return self._seen(await asyncio.to_thread(self.project.rows))

    def _seen(self, rows: set[str]) -> str:
        """Rows, and what visitors noticed since the last line."""
        lost, self._known = len(self._known - rows), rows
        record = self._load.record
        seen = f"{len(rows)} rows, {lost} lost"
        if self._asked:
            seen += f"; {self._failed} of {self._asked} requests failed"
        if record.reopened:
            seen += f"; {len(record.reopened)} pages opened again, after at most {max(record.reopened):.1f} s"
        if record.errors:
            seen += f"; errors: {'; '.join(f'{text} ({count})' for text, count in record.errors.items())}"
        self._failed = self._asked = 0
        record.reopened.clear()
        record.errors.clear()
        return seen

    async def _request(self) -> None:
        """Ask for the first page all the time, as a new visitor does."""
        while True:
            self._asked += 1
            try:
                await asyncio.to_thread(self._open)
            except OSError:
                self._failed += 1
            await asyncio.sleep(EVERY)

    def _open(self) -> None:
        with urllib.request.urlopen(self._load.address, timeout=30) as answer:
            answer.read()

    async def _start_run(self) -> None:
        """Start the run on its page, and resume it as often as the page offers to."""
        while not self._over:  # a tab that closes may swallow the cancellation
            with suppress(LostError, TimeoutError):
                async with Tab(self._load.address, RUN_PAGE, random.Random(0)) as tab:
                    while not tab.lost:
                        for label in ("Run", "Resume"):
                            with suppress(LookupError):
                                await asyncio.wait_for(tab.press(label), LONGEST_ANSWER)
                        await asyncio.sleep(1)
            await asyncio.sleep(1)

    def compare(self, expected: list[dict[str, str]]) -> None:
        """Start the project again from its volumes; compare the rows with those of a run that nothing disturbed."""
        self.project.do("down")
        self.project.do("up", "--detach", "--wait")
        report = ["python", "-m", "rff_engine", "report", expected[0]["run"], "--format", "csv"]
        rows = rows_of(self.project.do("exec", "-T", "app1", *report))
        equal = sum(one in rows for one in expected)
        seen = f"{self._seen(self.project.rows())}; {equal} of {len(expected)} rows equal those of an undisturbed run"
        self.log("`docker compose down`, then `up --detach --wait`", seen)

    def fill(self, small: Project, planned: int) -> None:
        """Fill the volume of PostgreSQL in the middle of a run; free it, and run again."""
        small.do("up", "--detach", "--wait", "app1")
        with ThreadPoolExecutor() as pool:
            running = pool.submit(small.ask, "exec", "-T", "app1", *RUN)
            while len(small.rows()) < FIRST_ROWS and not running.done():
                time.sleep(1)
            small.ask("exec", "-T", "store", "sh", "-c", f"cat /dev/zero > {FILL}")
            refused = running.result()
        (*_, sentence) = refused.stderr.strip().splitlines()
        kept = small.rows()
        self.log("a run, and a volume of 100 MB for PostgreSQL that fills", f"code {refused.returncode}: “{sentence}”")
        small.do("exec", "-T", "store", "rm", FILL)
        small.do("exec", "-T", "app1", *RUN)
        rows = small.rows()
        self.log("room made; the same run", f"{len(rows)} of {planned} rows, {len(kept - rows)} of {len(kept)} lost")


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a report as CSV, without what differs between equal runs."""
    return [
        {name: value for name, value in row.items() if name != "seconds"} for row in csv.DictReader(io.StringIO(text))
    ]


@contextmanager
def project(name: str, **more) -> Iterator[Project]:
    """A project of a name, with more in its file; all of it is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "more.yaml")
        file.write_text(json.dumps(more), encoding="utf-8")
        started = Project(name, file)
        try:
            yield started
        finally:
            started.ask("down", "--volumes", "--timeout", "1")


def run(name: str) -> list[Event]:
    """Run the trial as a project of a name; return its log."""
    with project(name, **SHARE) as whole:
        trial = Trial(whole)
        trial.start()
        undisturbed = ["exec", "-T", "--env", "RFF_STORE=/tmp/undisturbed.sqlite", "app1", *RUN, "--output", "-"]
        expected = rows_of(whole.do(*undisturbed))
        whole.run = expected[0]["run"]
        asyncio.run(trial.under_load(expected))
        trial.compare(expected)
    with project(f"{name}-small", **SHARE, volumes={"results": {"driver_opts": SMALL_VOLUME}}) as small:
        small.run = whole.run
        trial.fill(small, len(expected))
    return trial.events


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m deploy.trial", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--name", default="rff-trial", help="of the project (default rff-trial)")
    parser.add_argument("--write", action="store_true", help="write the log into docs/deployment.md")
    asked = parser.parse_args(argv)
    events = run(asked.name)
    if asked.write:
        write(PAGE, table(events), MARKS)


if __name__ == "__main__":
    main()
