"""Identity of visitors, and who may cancel a run."""

from __future__ import annotations

import os

import pytest

from pages.shared.server import runs, visits
from pages.shared.server.runs import Run, RunQueue
from pages.shared.server.visits import visitor_of_cookie

from .sessions import chosen, opened, pressed, soon
from .test_runs import settings

TOKEN = bytes(range(16))


def cookie(token: bytes, mask: bytes) -> str:
    return f"2|{mask.hex()}|{bytes(byte ^ mask[i % 4] for i, byte in enumerate(token)).hex()}|1700000000"


def test_a_token_is_the_same_under_every_mask():
    visitors = {visitor_of_cookie(cookie(TOKEN, os.urandom(4))) for _ in range(5)}
    assert len(visitors) == 1 and TOKEN.hex() not in next(iter(visitors))
    assert visitors != {visitor_of_cookie(cookie(TOKEN[::-1], b"mask"))}


@pytest.mark.parametrize(
    "value",
    [None, "", "2", "2|||", "2||00|1", "2|zz|00|1", "2|00|zz|1", "2|00000000|00|1", "1|2|3|4|5", 7, "|||", "ü|é|ß|x"],
)
def test_an_invalid_token_is_no_visitor(value):
    assert visitor_of_cookie(value) is None


def test_a_visitor_is_present_while_one_of_his_sessions_is_connected(monkeypatch):
    connected = {"one", "two"}
    monkeypatch.setattr(visits, "_connected", connected.__contains__)
    monkeypatch.setattr(visits, "_sessions", {"one": "ann", "two": "ann", "three": "ben"})
    assert visits.is_present("ann") and not visits.is_present("ben")
    connected.remove("one")
    assert visits.is_present("ann")  # another tab
    connected.clear()
    assert not visits.is_present("ann")


# --- two visitors at one run -----------------------------------------------------------------------------------------


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A queue whose runs compute nothing until they are cancelled."""

    def follow(run):
        run._take_report("step", 0.25, 1.0, 0)
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
    monkeypatch.setattr(visits, "is_present", lambda visitor: visitor not in gone)
    return gone


class Watcher:
    """A session on the page Real data."""

    def __init__(self):
        self.app = chosen(opened("real_data"), seed=7)

    def buttons(self) -> set[str]:
        names = {"Run", "Resume", "Cancel"}
        return {button.label for button in self.app.run().button} & names

    def press(self, name: str) -> None:
        self.app.run()
        pressed(self.app, name)
        assert not self.app.exception

    def text(self) -> str:
        self.app.run()
        return " ".join(one.value for one in [*self.app.warning, *self.app.caption])


@pytest.fixture
def two(queue, gone):
    """The owner of a run, another visitor, and the run."""
    owner, watcher = Watcher(), Watcher()
    assert owner.buttons() == watcher.buttons() == {"Run"}
    owner.press("Run")
    (run,) = queue.active()
    assert run.owner is not None
    return owner, watcher, run


@pytest.mark.second
def test_the_owner_cancels_a_run_and_others_see_it(two, queue):
    owner, watcher, run = two
    assert owner.buttons() == {"Cancel"} and watcher.buttons() == set()
    owner.press("Cancel")
    assert soon(lambda: run.state == "cancelled")
    assert "You cancelled it at 25 %, after " in owner.text()
    assert "Cancelled at 25 %, after " in watcher.text() and "by the visitor who started it" in watcher.text()
    assert watcher.buttons() == {"Resume"}
    watcher.press("Resume")  # and is now its owner
    assert watcher.buttons() == {"Cancel"} and owner.buttons() == set()


@pytest.mark.second
def test_a_watcher_cancels_a_run_whose_owner_has_left(two, gone):
    owner, watcher, run = two
    assert "Another visitor started this run; you join it." in watcher.text()
    gone.add(run.owner)
    assert watcher.buttons() == {"Cancel"}
    watcher.press("Cancel")
    assert soon(lambda: run.state == "cancelled")
    assert "by another visitor, after the first one had left" in owner.text()
    assert "You cancelled it" in watcher.text()


def test_no_visitor_cancels_a_run_of_the_app(queue):
    run = Run(settings(), queue.store)
    assert not run.may_cancel("anyone")
