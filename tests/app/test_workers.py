"""Who computes, and where: slots for scripts, turns of sweeps, and processes that compute for the pages."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from pages.shared.server import workers
from pages.shared.server.limits import LIMITS

from .sessions import soon

HERE, ROOT = os.getpid(), Path(__file__).parents[2]


@pytest.fixture
def one_worker(monkeypatch):
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=1))


@pytest.fixture(autouse=True)
def one_slot(monkeypatch):
    """One slot for scripts, and a line for one waiting sweep."""
    monkeypatch.setattr(workers, "_slots", threading.Semaphore(1))
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, waiting_sweeps=1))


def refuse(value):
    raise ValueError(f"value is {value}.")


def end_any_process_but(pid: int) -> int:
    if os.getpid() != pid:
        os._exit(1)
    return pid


def script(work) -> threading.Thread:
    """A script that does some work in a slot."""

    def run():
        with workers.compute_slot(), workers.compute_slot():
            work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_scripts_wait_for_a_slot_which_one_that_raises_or_waits_for_a_worker_frees(one_worker):
    entered, end, worked = threading.Event(), threading.Event(), []
    first = script(lambda: (entered.set(), end.wait(30)))
    assert entered.wait(30)
    second = script(lambda: worked.append("second"))
    second.join(0.2)
    assert not worked
    end.set()
    second.join(30)
    first.join(30)
    with pytest.raises(ValueError, match="value is 7"), workers.compute_slot():
        raise ValueError("value is 7.")
    with workers.compute_slot():  # the other script ends before the call of this one does
        waiting = {"only": lambda: script(lambda: worked.append("third")).join(30)}
        assert workers.results(waiting) == {"only": None}
    assert worked == ["second", "third"]


def test_sweeps_take_turns_see_who_is_ahead_and_are_bounded(monkeypatch):
    said, order, end = [], [], threading.Event()

    def sweep(name, report=said.append):
        with workers.sweep_turn(report):
            order.append(name)
            assert end.wait(30)

    threads = [threading.Thread(target=sweep, args=(name,), daemon=True) for name in ("first", "second")]
    for count, thread in enumerate(threads, 1):
        thread.start()
        assert soon(lambda count=count: len(workers._sweeps) == count)
    assert soon(lambda: said) and set(said) == {"Waiting: 1 sweep of another visitor is ahead of this one."}
    with pytest.raises(ValueError, match="1 sweep is waiting, the most allowed"):
        sweep("third")
    assert order == ["first"]
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):  # a visitor who leaves frees his place
        patch.setattr(workers, "LIMITS", replace(LIMITS, waiting_sweeps=2))
        sweep("fourth", lambda text: 1 / 0)
    end.set()
    for thread in threads:
        thread.join(30)
    assert order == ["first", "second"] and not workers._sweeps


@pytest.mark.second("starts processes")
def test_work_and_its_errors_come_from_another_process_if_there_are_any(one_worker, monkeypatch):
    found = {workers.compute(os.getpid)}
    script(lambda: found.add(workers.compute(os.getpid))).join(30)  # the same for all threads
    assert len(found - {HERE}) == 1 == len(found)
    with pytest.raises(ValueError, match="value is 7"):
        workers.compute(refuse, 7)
    assert workers.compute(end_any_process_but, HERE) == HERE  # the app does what a worker could not finish
    assert workers.compute(os.getpid) != HERE  # a new worker
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=0))
    assert workers.compute(os.getpid) == HERE


@pytest.mark.second("starts processes")
def test_workers_end_when_the_app_is_killed():
    program = """
import os, time
from pages.shared.server import workers
print(workers.compute(os.getpid), flush=True)
time.sleep(100)
"""
    environment = os.environ | {"RFF_MAX_WORKERS": "1"}
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=subprocess.PIPE) as app:
        worker = psutil.Process(int(app.stdout.readline()))
        assert app.pid in {one.pid for one in worker.parents()}
        app.kill()
    worker.wait(30)
