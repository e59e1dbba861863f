"""What a public server gives: runs in line, sizes, memory of results, and sentences that say what would fit."""

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
from pages.components import keeping, limits, runs, turns, your_data_results
from pages.components.keeping import kept, n_bytes
from pages.components.limits import LIMITS, ServerLimits
from pages.components.run_sizes import training_rows
from pages.components.runs import RunQueue, RunSettings
from pages.components.turns import Turns
from pages.components.waiting_line import WaitingLine

ROOT = Path(__file__).parents[2]
METHODS = {"features": ("svm", "rff", "pbrff", "okrff"), "landmarks": ("svm", "rbf_landmarks", "pb_landmarks")}


def settings(study="features", dataset="breast", preset="quick", seed=0, **changes) -> RunSettings:
    return RunSettings(study, dataset, preset, "random", seed, 1, changes.pop("methods", METHODS[study]), **changes)


def soon(condition) -> bool:
    """Whether it comes true."""
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
def test_a_variable_counts_from_its_lowest_to_its_highest_value(one, log):
    variable, low, high = (one.metadata[name] for name in ("variable", "low", "high"))
    for value in (low, one.default, high):
        assert ServerLimits.of({variable: str(value)}) == replace(ServerLimits(), **{one.name: value})
    assert not log
    bad = [str(low - 1), f"{high:g}1", "", "many", "2.5", "nan", "inf", "-inf", "2 runs"]
    for text in bad:
        assert ServerLimits.of({variable: text}) == ServerLimits()
    assert len(log) == len(bad)
    for text, line in zip(bad, log, strict=True):
        assert line.startswith(f"{variable} is {text!r}; ") and f" {low} to {high}:" in line
        assert f"{one.default}, holds." in line and "\n" not in line


def test_a_bad_variable_leaves_the_others():
    found = ServerLimits.of({"RFF_MOST_COSINES": "3e9", "RFF_CACHE_MB": "lots", "HOME": "7"})
    assert found == replace(ServerLimits(), cosines=3_000_000_000)


def test_the_readme_has_every_variable_with_its_default():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for one in fields(ServerLimits):
        default = "the cores" if one.name == "scripts" else one.default
        row = rf"^\| `{one.metadata['variable']}` \| .* \| {default} \|$"
        assert re.search(row, readme, re.MULTILINE), one.name


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def done(monkeypatch):
    """Runs compute nothing: each waits until it is cancelled, or its event, by settings, is set."""
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


def test_a_visitor_has_few_runs_under_way_and_others_have_theirs(queue):
    mine = [queue.submit(settings(seed=seed), "ann") for seed in range(LIMITS.runs_per_session)]
    with pytest.raises(ValueError) as refused:
        queue.submit(settings(seed=50), "ann")
    said = str(refused.value)
    assert said.startswith("You have 2 runs under way (the quick grid on breast, the quick grid on breast), the most")
    assert said.endswith("wait until one has finished, or cancel it.")
    assert queue.find(settings(seed=50)) is None
    theirs = queue.submit(settings(seed=51), "ben")
    # What one has not begun oneself does not count, neither for who joins nor for who is joined.
    assert queue.submit(settings(seed=51), "ann") is theirs
    assert queue.submit(settings(seed=0), "ben") is mine[0]
    assert queue.submit(settings(seed=52), "ben").active
    mine[1].cancel()
    assert queue.submit(settings(seed=50), "ann").active


def test_one_allowed_is_said_in_the_singular(queue, monkeypatch):
    limited(monkeypatch, runs_per_session=1)
    queue.submit(settings("landmarks", "adult", "splits"), "ann")
    with pytest.raises(ValueError, match=r"^You have 1 run under way \(the splits grid on adult\), the most"):
        queue.submit(settings(), "ann")


def test_a_run_that_has_finished_makes_room(queue, done):
    first, second = settings(seed=1), settings(seed=2)
    run = running(queue, first, "ann")
    queue.submit(second, "ann")
    done[first].set()
    assert soon(lambda: run.state == "finished")
    assert queue.submit(settings(seed=3), "ann").active


def test_few_may_wait_in_all(queue, monkeypatch):
    limited(monkeypatch, waiting_runs=3)
    running(queue, settings(seed=99))
    accepted = [queue.submit(settings(seed=seed), f"visitor {seed}") for seed in range(3)]
    with pytest.raises(ValueError, match=r"^3 runs are waiting, the most allowed; try again when one has finished\.$"):
        queue.submit(settings(seed=3), "one more")
    accepted[1].cancel()
    assert queue.submit(settings(seed=3), "one more").active


def test_what_the_app_itself_asks_for_is_never_refused(queue, monkeypatch):
    limited(monkeypatch, waiting_runs=1, cosines=1, runs_per_session=1)
    assert all(queue.submit(settings(seed=seed)).active for seed in range(5))


def test_the_place_in_line_follows_whoever_leaves_it(queue, done):
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
    # Who was cancelled and comes again stands at the end.
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
def test_the_papers_grids_fit_the_papers_data_and_quick_ones_all(study, preset):
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
            "the quick grid would fit, 5000 frequencies x 348607 training rows = 1,743,035,000 values",
        ),
        (
            settings("landmarks", "adult", "paper"),
            5_000_000_000,
            "833536 frequencies of 6512 landmarks x 26048 training rows = 21,711,945,728 values",
            "5,000,000,000",
            "the splits grid would fit, 166656 frequencies of 2604 landmarks x 26048 training rows = 4,341,055,488 "
            "values",
        ),
        (
            settings("features", "adult", "quick"),
            1000,
            "5000 frequencies x 26048 training rows = 130,240,000 values",
            "1,000",
            "no grid on it would fit; choose a data set of fewer rows",
        ),
    ],
    ids=["features", "landmarks", "nothing fits"],
)
def test_a_run_that_is_too_large_is_told_what_would_fit(queue, monkeypatch, run, cosines, taken, allowed, fitting):
    limited(monkeypatch, cosines=cosines)
    with pytest.raises(ValueError) as refused:
        queue.submit(run, "ann")
    said = f"The {run.preset} grid on {run.dataset} takes {taken}, and at most {allowed} are allowed here: {fitting}."
    assert str(refused.value) == said and queue.active() == []


def real_data() -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    return app.switch_page("pages/real_data.py").run()


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


def choose(app: AppTest, **values) -> AppTest:
    for key, value in values.items():
        app.session_state[key] = value
    return app.run()


@pytest.mark.slow
def test_the_page_says_why_a_visitors_run_is_refused_and_where_a_run_stands(queue):
    queue.submit(settings(seed=98), "somebody")
    app = real_data()  # the first visitor's page starts the app's own run
    waiting = len(queue.active())
    for seed in (1, 2):
        press(choose(app, seed=seed), "Run")
        assert not app.exception and not app.error
    bars = [bar.proto.text for bar in app.get("progress")]
    assert bars == [f"Waiting: {waiting + 1} runs ahead of this one."]
    press(choose(app, seed=3), "Run")
    assert not app.exception and [error.value[:24] for error in app.error] == ["You have 2 runs under wa"]
    other = choose(real_data(), seed=3)
    assert not press(other, "Run").error and len(queue.active()) == waiting + 3


@pytest.mark.slow
def test_the_page_says_which_grid_would_fit(queue, monkeypatch):
    limited(monkeypatch, cosines=2_000_000)
    app = press(choose(real_data(), preset="paper"), "Run")
    assert not app.exception and len(app.error) == 1
    assert "the quick grid would fit, 5000 frequencies x 340 training rows" in app.error[0].value
    assert not press(choose(app, preset="quick", seed=1), "Run").error


# --- sweeps on visitors' own data -----------------------------------------------------------------------------------


class Visit(threading.Thread):
    """A visitor in line: what was said, whether the turn has come; ends when told to, or raises when told to leave."""

    def __init__(self, line: WaitingLine, visitor: str):
        super().__init__(daemon=True)
        self.line, self.visitor = line, visitor
        self.said, self.problem = [], None
        self.has_turn, self.end, self.leave = (threading.Event() for _ in range(3))

    def say(self, text):
        if self.leave.is_set():
            raise StopException  # as Streamlit ends a script; no Exception
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
    """Visitors come one after the other, into a line that is looked at often."""
    monkeypatch.setattr("pages.components.waiting_line._SECONDS_BETWEEN_WORDS", 0.01)
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


def test_first_come_first_served_and_each_knows_its_place(arrive):
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
def test_whoever_is_stopped_gives_up_the_place(arrive, leaving):
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
    assert str(old.problem) == "You have asked for another sweep since; it has the place of this one."
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
def test_the_page_on_your_data_waits_its_turn_and_says_when_the_line_is_full(arrive, monkeypatch):
    line = WaitingLine("sweep", 1)
    monkeypatch.setattr(your_data_results, "_line", line)
    holder, waiter = arrive(line, "a"), arrive(line, "b")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
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

    def arrived():  # the page's visitor is about to join: who has the turn may go
        said.append(len(line))
        threading.Timer(0.1, holder.end.set).start()
        return bar()

    monkeypatch.setattr(your_data_results, "visitor", arrived)
    press(app, "Run")
    assert not app.exception and not app.error and app.get("plotly_chart")
    assert said == [1] and len(line) == 0


# --- turns of scripts ------------------------------------------------------------------------------------------------


class Script(threading.Thread):
    """Has its turn, gives it away when told to, and ends when told to, by an exception if one is given."""

    def __init__(self, line: Turns, problem: Exception | None = None):
        super().__init__(daemon=True)
        self.line, self.problem = line, problem
        self.at_work, self.step_aside, self.back, self.end = (threading.Event() for _ in range(4))

    def run(self):
        try:
            with self.line.turn():
                self.at_work.set()
                self.step_aside.wait(30)
                with self.line.aside():
                    self.back.wait(30)
                    if self.problem is not None:
                        raise self.problem
                self.at_work.clear()
                self.end.wait(30)
        except ValueError:
            pass


@pytest.fixture
def enter():
    """Scripts come one after the other."""
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


def test_few_scripts_compute_at_a_time_and_the_first_come_first(enter):
    line = Turns(2)
    scripts = [enter(line) for _ in range(4)]
    assert at_work(scripts) == [True, True, False, False] and len(line) == 2
    scripts[1].step_aside.set()  # its turn is the third's, and it is behind the fourth when it comes back
    assert soon(scripts[2].at_work.is_set) and not scripts[3].at_work.is_set()
    scripts[1].back.set()
    assert soon(lambda: len(line) == 2)
    scripts[0].step_aside.set()
    assert soon(scripts[3].at_work.is_set) and scripts[1].at_work.is_set() and len(line) == 1


@pytest.mark.parametrize("problem", [None, ValueError("refused")])
def test_a_turn_is_passed_on_however_a_script_ends(enter, problem):
    line = Turns(1)
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
    with line.turn():
        assert len(line) == 0


def test_nothing_is_given_away_without_a_turn():
    line = Turns(1)
    for _ in range(3):
        with line.aside():
            pass
    with line.turn():
        other = Script(line)
        other.start()
        assert soon(lambda: len(line) == 1) and not other.at_work.is_set()
    assert soon(other.at_work.is_set)
    for event in (other.step_aside, other.back, other.end):
        event.set()
    other.join(30)


@pytest.mark.slow
def test_a_page_waits_for_its_turn_and_a_sweep_gives_it_away(monkeypatch):
    line, free = Turns(1), []
    monkeypatch.setattr(turns, "turn", line.turn)
    monkeypatch.setattr(turns, "aside", line.aside)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    with line.turn():
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
        with line.turn():  # nobody has it
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
def test_bytes_are_those_of_all_that_a_value_holds(value, least):
    assert least <= n_bytes(value) <= 1.05 * least + 1000
    assert n_bytes([value, value, {"again": value}]) < n_bytes(value) + 1000
    assert n_bytes(Result) < 100 and n_bytes(np) < 1000


@pytest.fixture
def megabyte(monkeypatch):
    """A cache of one, for what is decorated from now on."""
    monkeypatch.setattr(keeping, "_results", LRUCache(1_000_000, getsizeof=n_bytes))
    return keeping._results


def test_a_thousand_results_stay_below_the_cap_and_the_last_ones_are_there(megabyte):
    made = []

    @kept
    def result(i):
        made.append(i)
        return Result(np.full(2000 + 10 * (i % 100), float(i)))

    held = []
    for i in range(1000):
        assert result(i).values[0] == i
        assert result(0).values[0] == 0  # asked for again and again: it is not the one to go
        held.append(megabyte.currsize)
    assert max(held) <= 1_000_000 and min(held[100:]) > 900_000
    assert made == list(range(1000))
    result(999), result(1)
    assert made == [*range(1000), 1]
    assert sum(n_bytes(value) for value in megabyte.values()) == pytest.approx(megabyte.currsize, rel=1e-3)


def test_a_result_larger_than_the_cache_is_handed_out_and_drives_nothing_out(megabyte):
    made = []

    @kept
    def zeros(n):
        made.append(n)
        return np.zeros(n)

    zeros(1000)
    assert len(zeros(200_000)) == len(zeros(200_000)) == 200_000
    zeros(1000)
    assert made == [1000, 200_000, 200_000] and len(megabyte) == 1


def test_functions_and_arguments_are_told_apart(megabyte):
    @kept
    def plus(a, b=1):
        return a + b

    @kept
    def times(a, b=1):
        return a * b

    for _ in range(2):
        assert [plus(2, 3), times(2, 3), plus(2), times(2), plus(3, 2), plus(2, b=4)] == [5, 6, 3, 2, 5, 6]


def test_errors_are_not_kept(megabyte):
    calls = []

    @kept
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
def test_threads_that_ask_for_one_result_have_it_computed_once_and_do_not_wait_for_others(megabyte, fails):
    begun, go, calls, found = threading.Event(), threading.Event(), [], []

    @kept
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
    slow("another")  # is there at once
    assert not found
    go.set()
    for thread in threads:
        thread.join(30)
    arrays = [one for one in found if isinstance(one, np.ndarray)]
    assert len(found) == 4 and len({id(one) for one in arrays}) == 1
    # Where the first fails, its error is its own: the next asks anew.
    assert len(arrays) == 4 - fails and calls.count("slow") == 1 + fails


def test_the_server_keeps_what_the_variable_says():
    assert keeping._results.maxsize == 1_000_000 * LIMITS.cache_megabytes


@pytest.mark.slow
def test_a_rerun_and_another_session_compute_nothing_anew():
    def landmarks():
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
        return app.switch_page("pages/landmarks.py").run()

    app = landmarks()
    known = dict(keeping._results.items())
    assert {"toy_sample", "landmark_problem", "live_landmarks"} <= {key[1] for key in known}
    assert not app.run().exception and not landmarks().exception
    again = dict(keeping._results.items())
    assert again.keys() == known.keys() and all(again[key] is known[key] for key in known)
    assert not any(known[key].X.flags.writeable for key in known if key[1] == "toy_sample")


def test_no_page_keeps_results_elsewhere():
    """Streamlit's caches count results, not bytes; what is left to them is small, or one thing for each server."""
    left = {"app.py": 1, "rerun_results.py": 2, "runs.py": 1}
    for path in [ROOT / "app.py", *(ROOT / "pages").rglob("*.py")]:
        assert path.read_text(encoding="utf-8").count("@st.cache_") == left.get(path.name, 0), path


@pytest.mark.parametrize("megabytes", [0, 1, 32])
def test_a_session_keeps_few_bytes_of_its_own_data(monkeypatch, megabytes):
    state, shared = {}, np.zeros(50_000)
    monkeypatch.setattr(your_data_results.st, "session_state", state)
    monkeypatch.setattr(your_data_results, "LIMITS", replace(LIMITS, session_megabytes=megabytes))
    for i in range(30):
        found = your_data_results.remembered(i, lambda i=i: (shared, np.full(30_000, i)))
        assert found[1][0] == i and your_data_results.known(i) is found
        results = state["results on your data"]
        assert len(results) == 1 or n_bytes(results) <= 1_000_000 * megabytes
    # 400 kB that all share, and 240 kB each.
    assert list(results) == {0: [29], 1: [28, 29], 32: list(range(18, 30))}[megabytes]


def test_no_result_of_anothers_data_is_in_the_servers_cache():
    source = sys.modules["pages.components.your_data_results"]
    assert not [name for name, value in vars(source).items() if hasattr(value, "cache_lock")]
