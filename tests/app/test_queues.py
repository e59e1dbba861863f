"""Lines of a public server: sweeps on visitors' own data, and scripts that compute."""

from __future__ import annotations

import threading

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.testing.v1 import AppTest

from pages.components.results import your_data as your_data_results
from pages.components.server import queues
from pages.components.server.queues import ComputeSlots, WaitingLine

from .sessions import ROOT, chosen, opened, pressed, soon

# --- sweeps on visitors' own data -----------------------------------------------------------------------------------


class Visit(threading.Thread):
    """A visitor in line, with the reports received; ends or raises when an event is set."""

    def __init__(self, line: WaitingLine, visitor: str):
        super().__init__(daemon=True)
        self.line, self.visitor = line, visitor
        self.said, self.problem = [], None
        self.has_turn, self.end, self.leave = (threading.Event() for _ in range(3))

    def say(self, text):
        if self.leave.is_set():
            raise StopException  # as Streamlit ends a script; not a subclass of Exception
        if self.said[-1:] != [text]:
            self.said.append(text)

    def run(self):
        try:
            with self.line.turn(self.visitor, self.say):
                self.has_turn.set()
                while not self.end.wait(0.01):
                    self.say("at work")
        except (StopException, ValueError) as problem:
            self.problem = problem


@pytest.fixture
def arrive(monkeypatch):
    """Add a visitor to a line that reports often."""
    monkeypatch.setattr("pages.components.server.queues._SECONDS_BETWEEN_REPORTS", 0.01)
    visits = []

    def arrive(line, visitor):
        visits.append(Visit(line, visitor))
        visits[-1].start()
        assert soon(lambda: visits[-1].has_turn.is_set() or visits[-1].said or visits[-1].problem)
        return visits[-1]

    yield arrive
    for visit in visits:
        visit.end.set()
        visit.leave.set()
        visit.join(30)
        assert not visit.is_alive()


def test_line_is_first_come_first_served_and_reports_places(arrive):
    line = WaitingLine("sweep", 20)
    visits = [arrive(line, name) for name in "abcd"]
    assert [visit.has_turn.is_set() for visit in visits] == [True, False, False, False]
    assert visits[1].said == ["Waiting: 1 sweep of another visitor is ahead of this one."]
    assert visits[3].said == ["Waiting: 3 sweeps of other visitors are ahead of this one."]
    for i in range(3):
        visits[i].end.set()
        visits[i].join(30)
        assert soon(visits[i + 1].has_turn.is_set) and not any(visit.has_turn.is_set() for visit in visits[i + 2 :])
        assert soon(lambda i=i: len(visits[3].said) == i + 2)
    assert [text[9:16] for text in visits[3].said] == ["3 sweep", "2 sweep", "1 sweep", ""]


@pytest.mark.parametrize("leaving", [0, 1])
def test_a_visitor_whose_script_stops_leaves_the_line(arrive, leaving):
    line = WaitingLine("sweep", 20)
    visits = [arrive(line, name) for name in "abc"]
    visits[leaving].leave.set()
    visits[leaving].join(30)
    assert isinstance(visits[leaving].problem, StopException) and len(line) == 2
    if leaving == 0:
        assert soon(visits[1].has_turn.is_set)
    assert soon(lambda: visits[2].said[-1] == "Waiting: 1 sweep of another visitor is ahead of this one.")
    assert not visits[2].has_turn.is_set()


def test_a_visitor_has_one_place_at_most(arrive):
    line = WaitingLine("sweep", 20)
    arrive(line, "a")
    old = arrive(line, "b")
    arrive(line, "c")
    again = arrive(line, "b")
    old.join(30)
    assert str(old.problem) == "You have started another sweep since; it takes the place of this one."
    assert len(line) == 3 and again.said == ["Waiting: 2 sweeps of other visitors are ahead of this one."]


def test_few_may_wait_in_line(arrive):
    line = WaitingLine("sweep", 1)
    first = arrive(line, "a")
    arrive(line, "b")
    refused = arrive(line, "c")
    assert str(refused.problem) == "1 sweep is waiting, the most allowed; try again when one has finished."
    assert len(line) == 2
    first.end.set()
    first.join(30)
    assert soon(lambda: len(line) == 1) and arrive(line, "c").problem is None


@pytest.mark.second
def test_a_sweep_waits_in_line_and_a_full_line_is_reported(arrive, monkeypatch):
    line = WaitingLine("sweep", 1)
    monkeypatch.setattr(your_data_results, "_line", line)
    holder, waiter = arrive(line, "a"), arrive(line, "b")
    app = pressed(opened("your_data"), "Breast cancer")
    chosen(app, view="error against D")
    pressed(app, "Run")
    assert not app.exception
    assert [error.value for error in app.error] == [
        "1 sweep is waiting, the most allowed; try again when one has finished."
    ]
    waiter.leave.set()
    waiter.join(30)
    said, bar = [], your_data_results.visitor

    def arrived():  # the page is about to join the line: the first visitor may leave
        said.append(len(line))
        threading.Timer(0.1, holder.end.set).start()
        return bar()

    monkeypatch.setattr(your_data_results, "visitor", arrived)
    pressed(app, "Run")
    assert not app.exception and not app.error and app.get("plotly_chart")
    assert said == [1] and len(line) == 0


# --- turns of scripts ------------------------------------------------------------------------------------------------


class Script(threading.Thread):
    """A script that holds a slot, releases it and ends at events, with an exception if one is given."""

    def __init__(self, line: ComputeSlots, problem: Exception | None = None):
        super().__init__(daemon=True)
        self.line, self.problem = line, problem
        self.at_work, self.step_aside, self.back, self.end = (threading.Event() for _ in range(4))

    def run(self):
        try:
            with self.line.hold():
                self.at_work.set()
                self.step_aside.wait(30)
                with self.line.release():
                    self.back.wait(30)
                    if self.problem is not None:
                        raise self.problem
                self.at_work.clear()
                self.end.wait(30)
        except ValueError:
            pass


@pytest.fixture
def enter():
    """Start a script and wait until it works or waits."""
    scripts = []

    def enter(line, problem=None):
        scripts.append(Script(line, problem))
        scripts[-1].start()
        n = len(scripts)
        assert soon(lambda: len(line) + sum(script.at_work.is_set() for script in scripts) == n)
        return scripts[-1]

    yield enter
    for script in scripts:
        for event in (script.step_aside, script.back, script.end):
            event.set()
    for script in scripts:
        script.join(30)
        assert not script.is_alive()


def at_work(scripts) -> list[bool]:
    return [script.at_work.is_set() for script in scripts]


def test_few_scripts_hold_slots_first_come_first_served(enter):
    line = ComputeSlots(2)
    scripts = [enter(line) for _ in range(4)]
    assert at_work(scripts) == [True, True, False, False] and len(line) == 2
    scripts[1].step_aside.set()  # the third gets its slot
    assert soon(scripts[2].at_work.is_set) and not scripts[3].at_work.is_set()
    scripts[1].back.set()  # it goes on at once, as a third
    assert soon(lambda: not scripts[1].at_work.is_set())
    scripts[0].step_aside.set()  # two are left
    scripts[0].back.set()
    assert soon(lambda: not scripts[0].at_work.is_set()) and len(line) == 1
    for script in scripts[:2]:
        script.end.set()
    assert soon(scripts[3].at_work.is_set) and len(line) == 0


def test_work_that_counts_as_later_lets_others_pass():
    line, order, ends = ComputeSlots(1), [], []

    def work(name, late):
        with line.hold(late):
            order.append(name)

    with line.hold():
        for k, (name, late) in enumerate([("first", 0.0), ("its second", 60.0), ("another's", 0.0)]):
            ends.append(threading.Thread(target=work, args=(name, late)))
            ends[-1].start()
            assert soon(lambda k=k: len(line) == k + 1)
    for one in ends:
        one.join(30)
    assert order == ["first", "another's", "its second"]


@pytest.mark.parametrize("problem", [None, ValueError("refused")])
def test_a_slot_is_freed_however_a_script_ends(enter, problem):
    line = ComputeSlots(1)
    first, second = enter(line, problem), enter(line)
    assert at_work([first, second]) == [True, False]
    for event in (first.step_aside, first.back, first.end):
        event.set()
    assert soon(second.at_work.is_set)
    second.step_aside.set()
    second.back.set()
    second.end.set()
    for script in (first, second):
        script.join(30)
    with line.hold():
        assert len(line) == 0


def test_release_without_a_slot_does_nothing():
    line = ComputeSlots(1)
    for _ in range(3):
        with line.release():
            pass
    with line.hold():
        other = Script(line)
        other.start()
        assert soon(lambda: len(line) == 1) and not other.at_work.is_set()
    assert soon(other.at_work.is_set)
    for event in (other.step_aside, other.back, other.end):
        event.set()
    other.join(30)


@pytest.mark.second
def test_a_page_waits_for_a_slot_and_a_sweep_releases_it(monkeypatch):
    line, free = ComputeSlots(1), []
    monkeypatch.setattr(queues, "compute_slot", line.hold)
    monkeypatch.setattr(queues, "release_slot", line.release)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    with line.hold():
        opened = threading.Thread(target=app.run)
        opened.start()
        assert soon(lambda: len(line) == 1)
    opened.join(30)
    assert not app.exception and app.title
    app.switch_page("pages/your_data.py").run()
    pressed(app, "Breast cancer")
    chosen(app, view="error against D")
    steps = your_data_results.sweep_steps

    def sweep(*settings):
        with line.hold():  # the slot is free
            free.append(len(line))
        yield from steps(*settings)

    monkeypatch.setattr(your_data_results, "sweep_steps", sweep)
    pressed(app, "Run")
    assert not app.exception and not app.error and app.get("plotly_chart")
    assert free == [0]
