"""Long runs: shared by equal settings, cancelled, resumed, and failures in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest

from pages.shared.server import runs
from pages.shared.server.runs import Run, RunQueue, RunSettings
from rff_engine.studies.running.store import Store, StoreError


def settings(**changes) -> RunSettings:
    fields = {"study": "features", "dataset": "breast", "preset": "quick", "split_name": "published", "seed": 0}
    fields |= {"repeats": 1, "methods": ("svm", "rff", "pbrff", "okrff")}
    return RunSettings(**(fields | changes))


def wait(run, seconds=180.0):  # runs have a lower priority than other tests
    end = time.monotonic() + seconds
    while run.active and time.monotonic() < end:
        time.sleep(0.02)
    return run


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "results.sqlite")


@pytest.mark.slow("computes two repeats in a child process")
def test_a_run_finishes_with_the_rows_of_every_repeat(url):
    run = wait(RunQueue(url).submit(settings(repeats=2)))
    assert (run.state, run.fraction) == ("finished", 1.0)
    assert {row["repeat"] for row in run.rows} == {0, 1}
    assert {row["method"] for row in run.rows} == {"svm", "rff", "pbrff", "okrff"}
    assert all(0 <= row["test_error"] <= 1 for row in run.rows)
    assert run.n_test == 143


def begun(run, rows=1):
    """The run, once it has this many rows."""
    end = time.monotonic() + 180
    while len(run.rows) < rows and run.active and time.monotonic() < end:
        time.sleep(0.02)
    assert run.state == "running"
    return run


@pytest.mark.second("starts two runs in child processes")
def test_cancel_stops_at_once_keeps_rows_and_a_new_start_resumes(url):
    queue = RunQueue(url)
    run = begun(queue.submit(settings(preset="paper")))
    run.cancel()
    wait(run, 30)  # otherwise it would end after minutes
    assert run._process.poll() is not None
    assert run.state == "cancelled" and run.rows and run.fraction < 1
    again = begun(queue.submit(settings(preset="paper")), rows=len(run.rows) + 1)
    assert again is not run and again.rows[: len(run.rows)] == run.rows
    again.cancel()
    wait(again)


@pytest.mark.parametrize("before", [0.0, 0.6])
def test_time_left_is_estimated_from_this_process_only(before, url, monkeypatch):
    run, said = Run(settings(), Store(url)), []
    assert run.time_left == "time left unknown yet"
    for share in (0.1, 0.11, 0.5, 0.9):  # of what is left to this process, which takes 100 s
        monkeypatch.setattr(runs.time, "monotonic", lambda share=share: 1000 + 100 * share)
        run._take_report("", before + (1 - before) * share, 1.0, 1)
        said.append(run.time_left)
    assert said == ["time left unknown yet"] * 2 + ["about 50 s left", "about 10 s left"]


@pytest.mark.second("starts three runs in child processes and finishes one")
def test_another_server_finds_stopped_and_finished_runs(url):
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


@pytest.mark.second("starts a server and its run, which waits for an idle core")
def test_a_run_has_low_priority_and_ends_with_its_server(tmp_path):
    """Also if the server is killed."""
    code = f"""
import time
from pages.shared.server.runs import RunQueue, RunSettings
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
    end = time.monotonic() + 60  # it runs only where a core is idle
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:  # its new parent may be slow to reap it
        assert time.monotonic() < end, child
        time.sleep(0.05)


@pytest.mark.second
@pytest.mark.parametrize(("dataset", "split"), [("wine", "random"), ("digits", "random"), ("digits", "published")])
def test_an_impossible_run_fails_with_one_sentence(dataset, split, url):
    run = wait(RunQueue(url).submit(settings(dataset=dataset, split_name=split)))
    assert run.state == "failed" and run.rows == []
    assert run.message and "\n" not in run.message


@pytest.mark.second("starts two runs in child processes")
def test_a_process_that_dies_is_reported_and_the_next_run_starts(url):
    queue = RunQueue(url)
    run = begun(queue.submit(settings(preset="paper")))
    run._process.kill()
    wait(run)
    assert run.state == "failed" and "log" in run.message and run.rows
    assert wait(queue.submit(settings(methods=("svm",)))).state == "finished"


def test_a_store_that_the_server_names_is_not_replaced_but_opened_for_the_next_visitor(tmp_path, monkeypatch):
    """As a database that starts after the app, or is away for a minute."""
    file = tmp_path / "results.sqlite"
    file.write_text("not there yet " * 100)
    monkeypatch.setenv("RFF_STORE", f"sqlite:///{file}")
    with pytest.raises(StoreError, match=r"results\.sqlite"):
        RunQueue()
    file.unlink()
    queue = RunQueue()
    assert queue.persistent and queue.store.contents() == []


def test_a_store_that_cannot_be_opened_is_replaced_until_the_server_ends(tmp_path):
    (tmp_path / "notes.txt").write_text("no database, whatever they say " * 100)
    queue = RunQueue(str(tmp_path / "notes.txt"))
    assert not queue.persistent and queue.store.contents() == []
    assert os.listdir(tmp_path) == ["notes.txt"]
