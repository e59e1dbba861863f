"""Long runs: shared by all who ask for the same, stopped when asked, gone on with, and failures in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest

from pages.components import runs
from pages.components.runs import Run, RunQueue, RunSettings
from rff_engine.experiments.store import Store


def settings(**changes) -> RunSettings:
    fields = {"study": "features", "dataset": "breast", "preset": "quick", "split_name": "published", "seed": 0}
    fields |= {"repeats": 1, "methods": ("svm", "rff", "pbrff", "okrff")}
    return RunSettings(**(fields | changes))


def wait(run, seconds=180.0):  # a run gives way to all other tests
    end = time.monotonic() + seconds
    while run.active and time.monotonic() < end:
        time.sleep(0.02)
    return run


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "results.sqlite")


@pytest.mark.slow
def test_a_run_finishes_with_the_rows_of_every_repeat(url):
    run = wait(RunQueue(url).submit(settings(repeats=2)))
    assert (run.state, run.fraction) == ("finished", 1.0)
    assert {row["repeat"] for row in run.rows} == {0, 1}
    assert {row["method"] for row in run.rows} == {"svm", "rff", "pbrff", "okrff"}
    assert all(0 <= row["test_error"] <= 1 for row in run.rows)
    assert run.n_test == 143


@pytest.mark.slow
def test_who_asks_for_the_same_gets_the_same(url):
    queue = RunQueue(url)
    first = queue.submit(settings())
    assert queue.submit(settings()) is first
    wait(first)
    assert queue.submit(settings()) is first
    assert queue.find(settings(seed=1)) is None


def begun(run, rows=1):
    """The run, when it has so many rows."""
    end = time.monotonic() + 180
    while len(run.rows) < rows and run.active and time.monotonic() < end:
        time.sleep(0.02)
    assert run.state == "running"
    return run


@pytest.mark.slow
def test_cancel_stops_it_at_once_and_keeps_what_is_known_and_a_new_start_goes_on(url):
    queue = RunQueue(url)
    run = begun(queue.submit(settings(preset="paper")))
    run.cancel()
    wait(run, 30)  # of its own accord it would end after minutes
    assert run._process.poll() is not None
    assert run.state == "cancelled" and run.rows and run.fraction < 1
    again = begun(queue.submit(settings(preset="paper")), rows=len(run.rows) + 1)
    assert again is not run and again.rows[: len(run.rows)] == run.rows
    again.cancel()
    wait(again)


@pytest.mark.parametrize("before", [0.0, 0.6])
def test_the_time_left_goes_by_what_this_process_has_done(before, url, monkeypatch):
    run, said = Run(settings(), Store(url)), []
    assert run.time_left == "time left unknown yet"
    for share in (0.1, 0.11, 0.5, 0.9):  # of what is left to this process, which takes 100 s
        monkeypatch.setattr(runs.time, "monotonic", lambda share=share: 1000 + 100 * share)
        run._hear("", before + (1 - before) * share, 1.0, 1)
        said.append(run.time_left)
    assert said == ["time left unknown yet"] * 2 + ["about 50 s left", "about 10 s left"]


@pytest.mark.slow
def test_a_process_that_does_not_listen_is_killed(url, monkeypatch):
    queue = RunQueue(url)
    run = begun(queue.submit(settings(preset="paper")))
    monkeypatch.setattr(run._process, "terminate", lambda: None)
    run.cancel()
    wait(run, 30)  # of its own accord it would end after minutes
    assert run.state == "cancelled"


@pytest.mark.slow
def test_a_waiting_run_knows_its_place_and_can_be_cancelled(url):
    queue = RunQueue(url)
    first = queue.submit(settings(preset="paper"))
    second = queue.submit(settings(seed=3))
    assert queue.ahead_of(second) == 1
    second.cancel()
    first.cancel()
    wait(first, 10)
    assert second.state == "cancelled" and not second.rows


@pytest.mark.slow
def test_another_server_finds_what_was_stopped_and_what_was_finished(url):
    queue = RunQueue(url)
    finished = wait(queue.submit(settings()))
    begun(queue.submit(settings(preset="paper")), rows=10)
    queue.end()
    wait(queue.find(settings(preset="paper")))

    other = RunQueue(url)
    assert other.find(settings()).state == "finished" and other.find(settings()).rows == finished.rows
    stopped = other.find(settings(preset="paper"))
    assert stopped.state == "stopped" and 0 < stopped.fraction < 1 and len(stopped.rows) >= 10
    again = begun(other.submit(settings(preset="paper")), rows=len(stopped.rows) + 1)
    again.cancel()
    wait(again)


@pytest.mark.slow
def test_a_run_gives_way_to_the_process_that_started_it_and_ends_with_it(tmp_path):
    """Even if that one is killed."""
    code = f"""
import time
from pages.components.runs import RunQueue, RunSettings
queue = RunQueue({str(tmp_path / "results.sqlite")!r})
run = queue.submit(RunSettings("features", "breast", "paper", "published", 0, 1, ("svm", "rff")))
while run._process is None or not run.rows:
    time.sleep(0.05)
print(run._process.pid, flush=True)
time.sleep(60)
"""
    environment = os.environ | {"RFF_RUNS_GIVE_WAY": "1"}
    pipe = {"stdout": subprocess.PIPE, "text": True}
    server = subprocess.Popen([sys.executable, "-c", code], **pipe, cwd=runs._ROOT, env=environment)
    child = psutil.Process(int(server.stdout.readline()))
    assert child.nice() > psutil.Process().nice() or child.nice() == 19
    if hasattr(os, "SCHED_IDLE"):
        assert os.sched_getscheduler(child.pid) == os.SCHED_IDLE
    server.kill()
    server.wait()
    assert psutil.wait_procs([child], timeout=5)[1] == []


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "split"), [("wine", "random"), ("digits", "random"), ("digits", "published")])
def test_a_run_that_cannot_be_is_one_sentence(dataset, split, url):
    run = wait(RunQueue(url).submit(settings(dataset=dataset, split_name=split)))
    assert run.state == "failed" and run.rows == []
    assert run.message and "\n" not in run.message


@pytest.mark.slow
def test_a_process_that_dies_is_one_sentence_and_the_next_run_goes_on(url):
    queue = RunQueue(url)
    run = begun(queue.submit(settings(preset="paper")))
    run._process.kill()
    wait(run)
    assert run.state == "failed" and "log" in run.message and run.rows
    assert wait(queue.submit(settings(methods=("svm",)))).state == "finished"


def test_a_store_that_cannot_be_opened_is_replaced_until_the_server_ends(tmp_path):
    (tmp_path / "notes.txt").write_text("no database, whatever they say " * 100)
    queue = RunQueue(str(tmp_path / "notes.txt"))
    assert not queue.lasting and queue.store.runs() == []
    assert os.listdir(tmp_path) == ["notes.txt"]
