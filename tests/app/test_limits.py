"""Limits of a public server: queues, sizes of runs, caches, and messages that name what fits."""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cachetools import LRUCache
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.testing.v1 import AppTest

import datasets
from pages.components.results import your_data as your_data_results
from pages.components.server import cache, limits, queues, runs
from pages.components.server.cache import n_bytes, shared_cache
from pages.components.server.limits import LIMITS, ServerLimits
from pages.components.server.queues import ComputeSlots, WaitingLine
from pages.components.server.run_sizes import training_rows
from pages.components.server.runs import RunQueue, RunSettings

ROOT = Path(__file__).parents[2]
METHODS = {"features": ("svm", "rff", "pbrff", "okrff"), "landmarks": ("svm", "rbf_landmarks", "pb_landmarks")}


def settings(study="features", dataset="breast", preset="quick", seed=0, **changes) -> RunSettings:
    return RunSettings(study, dataset, preset, "random", seed, 1, changes.pop("methods", METHODS[study]), **changes)


def soon(condition) -> bool:
    """Whether a condition becomes true within 30 s."""
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


# --- the variables ---------------------------------------------------------------------------------------------------


@pytest.fixture
def log():
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())

    handler = Keep()
    limits._log.addHandler(handler)
    yield lines
    limits._log.removeHandler(handler)


@pytest.mark.parametrize("one", fields(ServerLimits), ids=lambda one: one.name)
def test_a_variable_sets_its_limit_within_its_range_only(one, log):
    variable, low, high = (one.metadata[name] for name in ("variable", "low", "high"))
    for value in (low, one.default, high):
        assert ServerLimits.from_environment({variable: str(value)}) == replace(ServerLimits(), **{one.name: value})
    assert not log
    bad = [str(low - 1), f"{high:g}1", "", "many", "2.5", "nan", "inf", "-inf", "2 runs"]
    for text in bad:
        assert ServerLimits.from_environment({variable: text}) == ServerLimits()
    assert len(log) == len(bad)
    for text, line in zip(bad, log, strict=True):
        assert line.startswith(f"{variable} is {text!r}; ") and f" {low} to {high}." in line
        assert f"{one.default}, is used." in line and "\n" not in line


def test_an_invalid_variable_leaves_the_others():
    found = ServerLimits.from_environment({"RFF_MAX_COSINES": "3e9", "RFF_CACHE_MB": "lots", "HOME": "7"})
    assert found == replace(ServerLimits(), cosines=3_000_000_000)


def test_the_readme_has_every_variable_with_its_default():
    readme = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    for one in fields(ServerLimits):
        default = "the cores" if one.name in ("scripts", "workers") else one.default
        row = rf"^\| `{one.metadata['variable']}` \| .* \| {default} \|$"
        assert re.search(row, readme, re.MULTILINE), one.name


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def done(monkeypatch):
    """Events by settings; runs compute nothing and wait until they are cancelled or their event is set."""
    events = defaultdict(threading.Event)

    def follow(run):
        soon(lambda: run.cancelled.is_set() or events[run.settings].is_set())
        run.state = "cancelled" if run.cancelled.is_set() else "finished"

    monkeypatch.setattr(runs.Run, "_follow", follow)
    return events


@pytest.fixture
def queue(tmp_path, done, monkeypatch):
    queue = RunQueue(str(tmp_path / "results.sqlite"))
    monkeypatch.setattr(runs, "run_queue", lambda: queue)
    yield queue
    queue.end()


def limited(monkeypatch, **changes):
    monkeypatch.setattr(runs, "LIMITS", replace(LIMITS, **changes))


def running(queue, settings, visitor="first"):
    run = queue.submit(settings, visitor)
    assert soon(lambda: run.state == "running")
    return run


def test_a_session_has_few_active_runs_and_does_not_limit_others(queue):
    mine = [queue.submit(settings(seed=seed), "ann") for seed in range(LIMITS.runs_per_session)]
    with pytest.raises(ValueError) as refused:
        queue.submit(settings(seed=50), "ann")
    said = str(refused.value)
    assert said.startswith("You have 2 active runs (the quick grid on breast, the quick grid on breast), the most")
    assert said.endswith("wait until one has finished, or cancel it.")
    assert queue.find(settings(seed=50)) is None
    theirs = queue.submit(settings(seed=51), "ben")
    # Only runs that a session has started itself count, whoever joins them.
    assert queue.submit(settings(seed=51), "ann") is theirs
    assert queue.submit(settings(seed=0), "ben") is mine[0]
    assert queue.submit(settings(seed=52), "ben").active
    mine[1].cancel()
    assert queue.submit(settings(seed=50), "ann").active


def test_the_message_for_one_allowed_run_is_singular(queue, monkeypatch):
    limited(monkeypatch, runs_per_session=1)
    queue.submit(settings("landmarks", "adult", "splits"), "ann")
    with pytest.raises(ValueError, match=r"^You have 1 active run \(the splits grid on adult\), the most"):
        queue.submit(settings(), "ann")


def test_a_finished_run_does_not_count(queue, done):
    first, second = settings(seed=1), settings(seed=2)
    run = running(queue, first, "ann")
    queue.submit(second, "ann")
    done[first].set()
    assert soon(lambda: run.state == "finished")
    assert queue.submit(settings(seed=3), "ann").active


def test_few_runs_may_wait_in_all(queue, monkeypatch):
    limited(monkeypatch, waiting_runs=3)
    running(queue, settings(seed=99))
    accepted = [queue.submit(settings(seed=seed), f"visitor {seed}") for seed in range(3)]
    with pytest.raises(ValueError, match=r"^3 runs are waiting, the most allowed; try again when one has finished\.$"):
        queue.submit(settings(seed=3), "one more")
    accepted[1].cancel()
    assert queue.submit(settings(seed=3), "one more").active


def test_runs_of_the_app_itself_are_never_refused(queue, monkeypatch):
    limited(monkeypatch, waiting_runs=1, cosines=1, runs_per_session=1)
    assert all(queue.submit(settings(seed=seed)).active for seed in range(5))


def test_places_move_up_when_a_run_leaves_the_queue(queue, done):
    line = [running(queue, settings(seed=0))]
    line += [queue.submit(settings(seed=seed), f"visitor {seed}") for seed in range(1, 6)]

    def places():
        return [queue.ahead_of(run) for run in line]

    assert places() == [0, 1, 2, 3, 4, 5]
    line.pop(2).cancel()
    assert places() == [0, 1, 2, 3, 4]
    line.pop(0).cancel()
    assert soon(lambda: line[0].state == "running") and places() == [0, 1, 2, 3]
    done[line[0].settings].set()
    assert soon(lambda: line[1].state == "running")
    line.pop(0)
    assert places() == [0, 1, 2]
    # A cancelled run that is submitted again is the last in the queue.
    line[1].cancel()
    again = queue.submit(line[1].settings, "back")
    assert queue.ahead_of(again) == 2 and queue.ahead_of(line[1]) == 0


@pytest.mark.parametrize("dataset", ["breast", "adult"])
def test_training_rows_are_known_without_the_data(dataset):
    split = datasets.random_split(datasets.load(dataset), 3)
    assert training_rows(dataset) == len(split.y_train)


OWN = [name for name in datasets.names() if len(datasets.describe(name).label_names) == 2 and name != "covtype"]


@pytest.mark.parametrize("preset", ["quick", "splits", "paper"])
@pytest.mark.parametrize("study", METHODS)
def test_grids_of_the_paper_fit_its_data_and_quick_grids_fit_all(study, preset):
    for dataset in OWN:
        assert settings(study, dataset, preset).size.values <= LIMITS.cosines, dataset
    assert (settings(study, "covtype", preset).size.values <= LIMITS.cosines) == (preset == "quick")


def test_the_size_of_a_run_is_that_of_its_largest_matrix():
    assert settings(preset="paper").size[::2] == (20000, 340)
    assert settings(preset="paper", methods=("svm", "rff")).size[::2] == (5000, 340)
    assert settings(preset="paper", dataset="adult", methods=("svm",)).size[::2] == (26048, 26048)
    assert settings("landmarks", "covtype").size[::2] == (200 * 64, 2000)
    assert settings("landmarks", "covtype", methods=("svm", "rbf_landmarks")).size[::2] == (1000, 1000)


@pytest.mark.parametrize(
    ("run", "cosines", "taken", "allowed", "fitting"),
    [
        (
            settings("features", "covtype", "paper"),
            LIMITS.cosines,
            "348607 columns of the SVM's kernel x 348607 training rows = 121,526,840,449 values",
            "25,000,000,000",
            "the quick grid fits, 5000 frequencies x 348607 training rows = 1,743,035,000 values",
        ),
        (
            settings("landmarks", "adult", "paper"),
            5_000_000_000,
            "833536 frequencies of 6512 landmarks x 26048 training rows = 21,711,945,728 values",
            "5,000,000,000",
            "the splits grid fits, 166656 frequencies of 2604 landmarks x 26048 training rows = 4,341,055,488 values",
        ),
        (
            settings("features", "adult", "quick"),
            1000,
            "5000 frequencies x 26048 training rows = 130,240,000 values",
            "1,000",
            "no grid fits; choose a data set with fewer rows",
        ),
    ],
    ids=["features", "landmarks", "nothing fits"],
)
def test_a_run_that_is_too_large_is_refused_with_a_grid_that_fits(
    queue, monkeypatch, run, cosines, taken, allowed, fitting
):
    limited(monkeypatch, cosines=cosines)
    with pytest.raises(ValueError) as refused:
        queue.submit(run, "ann")
    said = f"The {run.preset} grid on {run.dataset} takes {taken}; at most {allowed} are allowed here: {fitting}."
    assert str(refused.value) == said and queue.active() == []


def real_data() -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    return app.switch_page("pages/real_data.py").run()


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


def choose(app: AppTest, **values) -> AppTest:
    for key, value in values.items():
        app.session_state[key] = value
    return app.run()


@pytest.mark.slow
def test_page_shows_why_a_run_is_refused_and_its_place_in_the_queue(queue):
    queue.submit(settings(seed=98), "somebody")
    app = real_data()  # the first visitor's page starts the app's own run
    waiting = len(queue.active())
    for seed in (1, 2):
        press(choose(app, seed=seed), "Run")
        assert not app.exception and not app.error
    bars = [bar.proto.text for bar in app.get("progress")]
    assert bars == [f"Waiting: {waiting + 1} runs ahead of this one."]
    press(choose(app, seed=3), "Run")
    assert not app.exception and [error.value[:24] for error in app.error] == ["You have 2 active runs ("]
    other = choose(real_data(), seed=3)
    assert not press(other, "Run").error and len(queue.active()) == waiting + 3


@pytest.mark.slow
def test_page_shows_which_grid_fits(queue, monkeypatch):
    limited(monkeypatch, cosines=2_000_000)
    app = press(choose(real_data(), preset="paper"), "Run")
    assert not app.exception and len(app.error) == 1
    assert "the quick grid fits, 5000 frequencies x 340 training rows" in app.error[0].value
    assert not press(choose(app, preset="quick", seed=1), "Run").error


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


@pytest.mark.slow
def test_a_sweep_waits_in_line_and_a_full_line_is_reported(arrive, monkeypatch):
    line = WaitingLine("sweep", 1)
    monkeypatch.setattr(your_data_results, "_line", line)
    holder, waiter = arrive(line, "a"), arrive(line, "b")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    app.switch_page("pages/your_data.py").run()
    press(app, "Breast cancer")
    choose(app, view="error against D")
    press(app, "Run")
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
    press(app, "Run")
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


@pytest.mark.slow
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
    press(app, "Breast cancer")
    choose(app, view="error against D")
    steps = your_data_results.sweep_steps

    def sweep(*settings):
        with line.hold():  # the slot is free
            free.append(len(line))
        yield from steps(*settings)

    monkeypatch.setattr(your_data_results, "sweep_steps", sweep)
    press(app, "Run")
    assert not app.exception and not app.error and app.get("plotly_chart")
    assert free == [0]


# --- results in memory -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    values: np.ndarray
    name: str = "x"


@pytest.mark.parametrize(
    ("value", "least"),
    [
        (np.zeros(1000), 8000),
        (np.zeros(1000)[:3], 8000),
        (np.zeros((10, 100)).T[5:][:, 2], 8000),
        (Result(np.zeros(1000)), 8000),
        ({"a": [np.zeros(500), (np.ones(1000),)], "b": {"c": b"x" * 3000}}, 15000),
        (sp.random(1000, 1000, 0.01, "csr", random_state=0), 10000 * 12 + 4000),
        (np.array(["a" * 5000, None, b"b" * 4000], dtype=object), 9000),
        ("é" * 3000, 3000),
        (OrderedDict(a=np.zeros(1000)), 8000),
        (pd.DataFrame({"a": np.zeros(1000)}), 8000),
        ([float(i) for i in range(1000)], 1000 * (24 + 8)),
    ],
)
def test_n_bytes_counts_all_that_a_value_holds(value, least):
    assert least <= n_bytes(value) <= 1.05 * least + 1000
    assert n_bytes([value, value, {"again": value}]) < n_bytes(value) + 1000
    assert n_bytes(Result) < 100 and n_bytes(np) < 1000


@pytest.fixture
def megabyte(monkeypatch):
    """A cache of one megabyte, for functions decorated in the test."""
    monkeypatch.setattr(cache, "_results", LRUCache(1_000_000, getsizeof=n_bytes))
    return cache._results


def test_cache_stays_below_its_limit_and_keeps_recent_results(megabyte):
    made = []

    @shared_cache
    def result(i):
        made.append(i)
        return Result(np.full(2000 + 10 * (i % 100), float(i)))

    held = []
    for i in range(1000):
        assert result(i).values[0] == i
        assert result(0).values[0] == 0  # used again and again, so it is not dropped
        held.append(megabyte.currsize)
    assert max(held) <= 1_000_000 and min(held[100:]) > 900_000
    assert made == list(range(1000))
    result(999), result(1)
    assert made == [*range(1000), 1]
    assert sum(n_bytes(value) for value in megabyte.values()) == pytest.approx(megabyte.currsize, rel=1e-3)


def test_a_result_larger_than_the_cache_evicts_nothing(megabyte):
    made = []

    @shared_cache
    def zeros(n):
        made.append(n)
        return np.zeros(n)

    zeros(1000)
    assert len(zeros(200_000)) == len(zeros(200_000)) == 200_000
    zeros(1000)
    assert made == [1000, 200_000, 200_000] and len(megabyte) == 1


def test_cache_distinguishes_functions_and_arguments(megabyte):
    @shared_cache
    def plus(a, b=1):
        return a + b

    @shared_cache
    def times(a, b=1):
        return a * b

    for _ in range(2):
        assert [plus(2, 3), times(2, 3), plus(2), times(2), plus(3, 2), plus(2, b=4)] == [5, 6, 3, 2, 5, 6]


def test_errors_are_not_cached(megabyte):
    calls = []

    @shared_cache
    def picky(x):
        calls.append(x)
        if len(calls) < 3:
            raise ValueError(f"{x} does not fit.")
        return x

    for _ in range(2):
        with pytest.raises(ValueError, match="7 does not fit"):
            picky(7)
    assert picky(7) == picky(7) == 7 and len(calls) == 3


@pytest.mark.parametrize("fails", [False, True])
def test_threads_share_one_computation_and_do_not_wait_for_others(megabyte, fails):
    begun, go, calls, found = threading.Event(), threading.Event(), [], []

    @shared_cache
    def slow(x):
        calls.append(x)
        if x == "slow":
            begun.set()
            assert go.wait(30)
            if fails and len(calls) < 3:
                raise ValueError("It did not work.")
        return np.zeros(10)

    def ask():
        try:
            found.append(slow("slow"))
        except ValueError as error:
            found.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    slow("another")  # does not wait
    assert not found
    go.set()
    for thread in threads:
        thread.join(30)
    arrays = [one for one in found if isinstance(one, np.ndarray)]
    assert len(found) == 4 and len({id(one) for one in arrays}) == 1
    # If the first fails, only it gets the error: the next one computes again.
    assert len(arrays) == 4 - fails and calls.count("slow") == 1 + fails


def test_cache_has_the_size_of_its_limit():
    assert cache._results.maxsize == 1_000_000 * LIMITS.cache_megabytes


@pytest.mark.slow
def test_a_rerun_and_another_session_recompute_nothing():
    def landmarks():
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
        return app.switch_page("pages/landmarks.py").run()

    app = landmarks()
    known = dict(cache._results.items())
    assert {"toy_sample", "landmark_problem", "live_landmarks"} <= {key[1] for key in known}
    assert not app.run().exception and not landmarks().exception
    again = dict(cache._results.items())
    assert again.keys() == known.keys() and all(again[key] is known[key] for key in known)
    assert not any(known[key].X.flags.writeable for key in known if key[1] == "toy_sample")


def test_no_page_uses_another_cache():
    """Streamlit's caches count results, not bytes, and any visitor's message may clear them."""
    for path in [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]:
        assert "st.cache_" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("megabytes", [0, 1, 32])
def test_results_of_a_session_are_bounded_in_bytes(monkeypatch, megabytes):
    state, shared = {}, np.zeros(50_000)
    monkeypatch.setattr(your_data_results.st, "session_state", state)
    monkeypatch.setattr(your_data_results, "LIMITS", replace(LIMITS, session_megabytes=megabytes))
    for i in range(30):
        found = your_data_results.remembered(i, lambda i=i: (shared, np.full(30_000, i)))
        assert found[1][0] == i and your_data_results.known(i) is found
        results = state["results on your data"]
        assert len(results) == 1 or n_bytes(results) <= 1_000_000 * megabytes
    # 400 kB shared by all, and 240 kB each.
    assert list(results) == {0: [29], 1: [28, 29], 32: list(range(18, 30))}[megabytes]


def test_results_on_uploads_are_not_in_the_shared_cache():
    source = sys.modules["pages.components.results.your_data"]
    assert not [name for name, value in vars(source).items() if hasattr(value, "cache_lock")]
