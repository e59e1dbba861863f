"""A class under load: students of several processes predict, one process is killed, and each prediction counts once.

    python -m benchmarks.classroom                     # 60 students on two processes, one of which is killed
    python -m benchmarks.classroom --students 20 --within 5 --no-kill

A lecturer opens a room. Students open its link, predict at random times within a few seconds, and wait for the outcome,
which the lecturer reveals once all have predicted; so it goes through the steps of a lesson. During the second step a
process is killed: its tabs open their addresses again, as browsers do, with their cookies and the predictions that
their fragments have. At each reveal the room's counts are compared with what the students chose.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http.cookiejar import CookieJar

import psutil

from benchmarks.load import cells, say, started, times
from benchmarks.tab import LostError, Tab
from pages.components.lessons import content

LESSON = content.lessons_of("landmarks")["prior-to-cosine"]
CARD = "lesson_card"
#: Step during which a process is killed.
KILLED_AT = 2
#: Seconds for which something is waited for, and between looks at a card.
PATIENCE, BETWEEN_LOOKS = 60.0, 0.05


@dataclass
class Record:
    """What the class has seen."""

    pressed: list[float] = field(default_factory=list)
    """Seconds from a press to the answer"""
    seen: list[float] = field(default_factory=list)
    """Seconds from a reveal until a student saw the outcome"""
    reopened: list[float] = field(default_factory=list)
    """Seconds from the loss of a tab until its card was there again"""
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    """Step, predictions made, and by how many the room's counts differ from them"""
    faults: Counter[str] = field(default_factory=Counter)


class Member:
    """A browser in the class: its tab, its cookies, and what the fragment of its address has.

    Parameters
    ----------
    link : str
        Path and query that it opens first.
    """

    def __init__(self, server: str, link: str, seed: str, record: Record):
        self._server, self._record = server, record
        self._cookies = CookieJar()
        self.choices = random.Random(seed)
        self.tab = Tab(server, link, self.choices, self._cookies)
        self._card: dict = {}
        self.fragment: str | None = None
        self.secret: str | None = None

    async def open(self) -> None:
        """Open the page, and what the browser knows of it."""
        await self.tab.__aenter__()
        if self.secret is not None:
            await self._send("lead", secret=self.secret)
        elif self.fragment is not None:
            await self._send("restore", predicted=self.fragment)

    async def close(self) -> None:
        self._record.faults.update(self.tab.faults)
        if not self.tab.lost:
            await self.tab.__aexit__()

    @property
    def card(self) -> dict:
        """The data of the lesson's card; while the page is sent again, the last ones."""
        component = self.tab.component(CARD)
        self._card = component[1] if component else self._card
        return self._card

    async def press(self, name: str, done: Callable[[dict], bool], **more) -> None:
        """Press a button of the card until the card shows that it was; a lost tab is opened again."""
        begun = time.perf_counter()
        while not done(self.card):
            if time.perf_counter() - begun > PATIENCE:
                raise LostError(f"{name} had no effect")
            await self._reopen_if_lost(lambda: self._send(name, **more))
        self._record.pressed.append(time.perf_counter() - begun)

    async def wait(self, done: Callable[[dict], bool]) -> None:
        """Wait until the card, which looks at the room by itself, shows something."""
        begun = time.perf_counter()
        while self.tab.lost or not done(self.card):
            if time.perf_counter() - begun > PATIENCE:
                raise LostError("the card did not change")
            if self.tab.lost:
                await self._reopen()
            await asyncio.sleep(BETWEEN_LOOKS)

    async def _send(self, name: str, **more) -> None:
        card = self.card
        await self.tab.act(CARD, "act", {"name": name, "lesson": card["lesson"], "step": card["step"], **more})
        self.fragment = self.card["app"]["predicted"] or self.fragment
        room = self.card["app"]["room"]
        self.secret = (room and room["secret"]) or self.secret

    async def _reopen_if_lost(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except LostError:
            await self._reopen()

    async def _reopen(self) -> None:
        """Open the address of a lost tab until it answers."""
        begun = time.perf_counter()
        self._record.faults.update(self.tab.faults)
        while True:
            self.tab = Tab(self._server, self.tab.address, self.choices, self._cookies)
            try:
                await self.open()
            except LostError:
                if time.perf_counter() - begun > PATIENCE:
                    raise
                await asyncio.sleep(0.2)
                continue
            self._record.reopened.append(time.perf_counter() - begun)
            return


class Lesson:
    """A lecturer and students in a room, from step to step."""

    def __init__(self, server: str, processes: Callable[[], list[psutil.Process]], asked: argparse.Namespace):
        self._server, self._processes, self._asked = server, processes, asked
        self.record = Record()
        self.link = f"{LESSON.page}?lesson={LESSON.key}&step=1"
        self.lecturer = Member(server, self.link, f"{asked.seed} lecturer", self.record)
        self.students: list[Member] = []

    async def run(self) -> Record:
        await self.lecturer.open()
        await self.lecturer.press("open room", lambda card: bool(card["app"]["room"]))
        code = self.lecturer.card["app"]["room"]["name"]
        for number in range(self._asked.students):
            seed = f"{self._asked.seed} {number}"
            self.students.append(Member(self._server, f"{self.link}&room={code}", seed, self.record))
        await asyncio.gather(*(self._arrive(one) for one in self.students))
        for step in range(1, len(LESSON.steps) + 1):
            await self._step(step)
            say(f"step {step}: {self.record.steps[-1][1]} predictions, {self.record.steps[-1][2]} counted otherwise")
        for member in (self.lecturer, *self.students):
            await member.close()
        return self.record

    async def _arrive(self, student: Member) -> None:
        await asyncio.sleep(student.choices.uniform(0, self._asked.within))
        await student.open()

    async def _step(self, step: int) -> None:
        """All predict, the lecturer compares and reveals, all see the outcome and go on."""
        work = [self._predict(student, step) for student in self.students]
        if step == KILLED_AT and self._asked.kill:
            work.append(self._kill())
        chosen = Counter(answer for answer in await asyncio.gather(*work) if answer is not None)
        expected = [chosen[answer] for answer in range(len(LESSON.steps[step - 1].answers))]
        await self.lecturer.wait(lambda card: sum(counts_of(card)) >= len(self.students))
        counts = counts_of(self.lecturer.card)
        wrong = sum(abs(a - b) for a, b in zip(counts, expected, strict=True))
        self.record.steps.append((step, len(self.students), wrong))
        await self.lecturer.press("reveal", lambda card: bool(card["outcome"]))
        revealed = time.perf_counter()
        await asyncio.gather(*(self._see(student, revealed) for student in self.students))
        if step < len(LESSON.steps):
            await asyncio.gather(*(self._go_on(one, step + 1) for one in (self.lecturer, *self.students)))

    async def _predict(self, student: Member, step: int) -> int:
        answer = student.choices.randrange(len(LESSON.steps[step - 1].answers))
        await asyncio.sleep(student.choices.uniform(0, self._asked.within))
        await student.press("answer", lambda card: card["answer"] is not None, answer=answer)
        return answer

    async def _see(self, student: Member, revealed: float) -> None:
        await student.wait(lambda card: bool(card["outcome"]))
        self.record.seen.append(time.perf_counter() - revealed)

    async def _go_on(self, member: Member, step: int) -> None:
        await asyncio.sleep(member.choices.uniform(0, self._asked.within))
        await member.press("next", lambda card: card["step"] == step)

    async def _kill(self) -> None:
        await asyncio.sleep(self._asked.within / 2)
        killed = self._processes()[0]
        say(f"process {killed.pid} is killed")
        killed.kill()


def counts_of(card: dict) -> list[int]:
    """The predictions that a card shows."""
    room = card["app"]["room"]
    return (room and room["counts"]) or []


def show(record: Record) -> bool:
    """Print what the class has seen, and return whether every prediction counted once and nothing failed."""
    print(f"\n{'in ms':<28}{'number':>8}{'median':>8}{'p95':>8}{'max':>8}")
    for name, seconds in (
        ("a press, until answered", record.pressed),
        ("a reveal, until seen", record.seen),
        ("a lost tab, until back", record.reopened),
    ):
        print(f"{name:<28}{cells(times(seconds))}")
    made = sum(made for _, made, _ in record.steps)
    wrong = sum(wrong for *_, wrong in record.steps)
    print(f"{made} predictions in {len(record.steps)} steps, {wrong} of them lost or counted otherwise")
    for text, count in record.faults.items():
        print(f"error, {count} times: {text}")
    return wrong == 0 and not record.faults


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--students", type=int, default=60)
    arguments.add_argument("--processes", type=int, default=2, help="of the app, behind nginx if there are several")
    arguments.add_argument("--within", type=float, default=10, help="seconds within which all predict, or go on")
    arguments.add_argument("--no-kill", dest="kill", action="store_false", help="let all processes live")
    arguments.add_argument("--seed", type=int, default=0, help="of all random choices")
    arguments.set_defaults(kept=120)
    return arguments


def run(asked: argparse.Namespace) -> Record:
    """Start the app and hold a lesson."""
    with tempfile.TemporaryFile("w+") as log, started(asked, log) as (address, starter):

        def processes() -> list[psutil.Process]:
            return [one for one in (starter, *starter.children()) if "serve.py" in one.cmdline()]

        return asyncio.run(Lesson(address, processes, asked).run())


def main() -> None:
    asked = parser().parse_args()
    if asked.kill and asked.processes == 1:
        sys.exit("--processes is 1; to kill one, at least 2 are needed, or --no-kill.")
    sys.exit(0 if show(run(asked)) else "the class has seen errors")


if __name__ == "__main__":
    main()
