"""Who a visitor is, and who may end what another visitor has begun."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.components import runs, visits
from pages.components.runs import Run, RunQueue
from pages.components.visits import Visitors, of_cookie

ROOT = Path(__file__).parents[2]
TOKEN = bytes(range(16))


def cookie(token: bytes, mask: bytes) -> str:
    return f"2|{mask.hex()}|{bytes(byte ^ mask[i % 4] for i, byte in enumerate(token)).hex()}|1700000000"


def test_a_token_is_the_same_under_every_mask():
    found = {of_cookie(cookie(TOKEN, os.urandom(4))) for _ in range(5)}
    assert len(found) == 1 and TOKEN.hex() not in next(iter(found))
    assert found != {of_cookie(cookie(TOKEN[::-1], b"mask"))}


@pytest.mark.parametrize(
    "value",
    [None, "", "2", "2|||", "2||00|1", "2|zz|00|1", "2|00|zz|1", "2|00000000|00|1", "1|2|3|4|5", 7, "|||", "ü|é|ß|x"],
)
def test_what_is_no_token_is_nobody(value):
    assert of_cookie(value) is None


def test_a_visitor_is_here_while_a_session_is_connected_and_a_moment_longer():
    connected, now = {"one", "two"}, [0.0]
    visitors = Visitors(connected.__contains__, lambda: now[0])
    visitors.meet("ann", "one")
    visitors.meet("ann", "two")
    now[0] = 1e4
    assert visitors.here("ann") and not visitors.here("ben")
    connected.remove("one")
    now[0] = 2e4
    assert visitors.here("ann")  # another tab
    connected.remove("two")
    now[0] += 20
    assert visitors.here("ann")  # loading the page again
    visitors.meet("ann", "three")
    connected.add("three")
    now[0] += 1e4
    assert visitors.here("ann")
    connected.clear()
    now[0] += 40
    assert not visitors.here("ann")
    visitors.meet("ben", "four")
    assert len(visitors) == 1


# --- two visitors at one run -----------------------------------------------------------------------------------------


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """Runs compute nothing: each goes on until it is cancelled; that of the start page has finished."""

    def follow(run):
        if run.settings == runs.BREAST_SWEEP:
            run.state = "finished"
            return
        run._hear("step", 0.25, 1.0, 0)
        assert run.cancelled.wait(60)
        run.state = "cancelled"

    monkeypatch.setattr(runs.Run, "_follow", follow)
    queue = RunQueue(str(tmp_path / "results.sqlite"))
    monkeypatch.setattr(runs, "run_queue", lambda: queue)
    yield queue
    queue.end()


@pytest.fixture
def gone(monkeypatch):
    """Visitors who have left."""
    gone = set()
    monkeypatch.setattr(visits, "here", lambda visitor: visitor not in gone)
    return gone


class Watcher:
    """A session at the page Real data."""

    def __init__(self):
        self.app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
        self.app.switch_page("pages/real_data.py").run()
        self.app.session_state["seed"] = 7
        self.app.run()

    def buttons(self) -> set[str]:
        names = {"Run", "Resume", "Cancel", "Leave", "Watch"}
        return {button.label for button in self.app.run().button} & names

    def press(self, name: str) -> None:
        self.app.run()
        next(button for button in self.app.button if button.label == name).click()
        self.app.run()
        assert not self.app.exception

    def told(self) -> str:
        self.app.run()
        return " ".join(one.value for one in [*self.app.warning, *self.app.info])


@pytest.fixture
def two(queue, gone):
    """Who has begun a run, and who watches it."""
    beginner, watcher = Watcher(), Watcher()
    assert beginner.buttons() == watcher.buttons() == {"Run"}
    beginner.press("Run")
    (run,) = queue.active()
    assert run.beginner is not None
    return beginner, watcher, run


def test_whoever_began_a_run_cancels_it_and_others_are_told(two, queue):
    beginner, watcher, run = two
    assert beginner.buttons() == {"Cancel"} and watcher.buttons() == {"Leave"}
    beginner.press("Cancel")
    wait(lambda: run.state == "cancelled")
    assert "You cancelled it at 25 %, after " in beginner.told()
    assert "Cancelled at 25 %, after " in watcher.told() and "by the visitor who began it" in watcher.told()
    assert watcher.buttons() == {"Resume"}
    watcher.press("Resume")  # and is now the one who began it
    assert watcher.buttons() == {"Cancel"} and beginner.buttons() == {"Leave"}


def test_whoever_watches_a_run_can_leave_it_and_come_back(two):
    beginner, watcher, run = two
    watcher.press("Leave")
    assert run.active and not run.cancelled.is_set()
    assert watcher.buttons() == {"Watch"} and "You have left this run" in watcher.told()
    assert beginner.buttons() == {"Cancel"}
    watcher.press("Watch")
    assert watcher.buttons() == {"Leave"}


def test_a_run_whose_beginner_has_gone_is_cancelled_by_whoever_watches_it(two, gone):
    beginner, watcher, run = two
    watcher.press("Leave")
    gone.add(run.beginner)
    assert watcher.buttons() == {"Cancel"}
    watcher.press("Cancel")
    wait(lambda: run.state == "cancelled")
    assert "by another visitor, for the one who began it had left" in beginner.told()
    assert "You cancelled it" in watcher.told()


def test_what_the_app_itself_began_is_nobodys_to_cancel(queue):
    run = Run(runs.BREAST_SWEEP, queue.store)
    assert not run.may_cancel("anyone")


def wait(condition) -> None:
    event = threading.Event()
    for _ in range(1000):
        if condition():
            return
        event.wait(0.01)
    raise AssertionError("it did not come about in time")
