"""Processes that compute for the pages."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from pages.components.results import approximation
from pages.components.server import cache, queues, workers
from pages.components.server.cache import shared_cache
from pages.components.server.limits import LIMITS

from .sessions import soon

HERE, ROOT = os.getpid(), Path(__file__).parents[2]


@pytest.fixture
def one_worker(monkeypatch):
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=1))
    monkeypatch.setattr(workers, "_turns", queues.ComputeSlots(1))


def where() -> int:
    return os.getpid()


def refuse(value):
    raise ValueError(f"value is {value}.")


def end_any_process_but(pid: int) -> int:
    if os.getpid() != pid:
        os._exit(1)
    return pid


@pytest.mark.second
def test_work_is_done_by_another_process_if_there_are_any(one_worker, monkeypatch):
    assert workers.compute(where) != HERE
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=0))
    assert workers.compute(where) == HERE


@pytest.mark.second
def test_an_error_of_a_worker_is_raised_in_the_app(one_worker):
    with pytest.raises(ValueError, match="value is 7"):
        workers.compute(refuse, 7)


@pytest.mark.second("starts processes")
def test_the_app_computes_itself_what_a_worker_could_not_finish(one_worker, caplog):
    assert workers.compute(end_any_process_but, HERE) == HERE
    assert workers.compute(where) != HERE  # by a new worker


@pytest.mark.second("starts processes")
def test_workers_end_when_the_app_is_killed():
    program = """
import os, time
from pages.components.server import workers
print(workers.compute(os.getpid), flush=True)
time.sleep(100)
"""
    environment = os.environ | {"RFF_MAX_WORKERS": "1"}
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=subprocess.PIPE) as app:
        worker = psutil.Process(int(app.stdout.readline()))
        assert app.pid in {one.pid for one in worker.parents()}
        app.kill()
    worker.wait(30)


@pytest.mark.slow
def test_calls_side_by_side_keep_their_names_and_errors(one_worker):
    futures = workers.side_by_side(
        {"good": partial(workers.compute, where), "bad": partial(workers.compute, refuse, 7)}
    )
    assert futures["good"].result() != HERE
    assert isinstance(futures["bad"].exception(), ValueError)
    assert workers.results({}) == {}


@pytest.mark.slow
def test_later_calls_of_a_script_let_another_script_pass(one_worker, monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "_BETWEEN_CALLS", 60.0)
    order, path = [], tmp_path / "ready"

    def call(name):
        workers.compute(wait_for_file, str(path))
        order.append(name)

    calls = {name: partial(call, name) for name in ("one", "two", "three")}
    scripts = [
        threading.Thread(target=work, daemon=True) for work in (lambda: workers.results(calls), lambda: call("other"))
    ]
    try:
        for count, script in enumerate(scripts, 2):
            script.start()
            assert soon(lambda count=count: len(workers._turns) >= count)
    finally:
        path.touch()
    for script in scripts:
        script.join(60)
    assert order == ["one", "other", "two", "three"]


def test_a_script_that_waits_for_workers_leaves_its_slot_to_others(one_worker, monkeypatch):
    slots = queues.ComputeSlots(1)
    monkeypatch.setattr(workers, "release_slot", slots.release)
    entered = threading.Event()

    def other_script():
        with slots.hold():
            entered.set()

    def waiting():
        threading.Thread(target=other_script, daemon=True).start()
        return entered.wait(10)

    with slots.hold():
        assert workers.results({"only": waiting}) == {"only": True}


@pytest.mark.second
def test_error_curves_of_workers_are_those_of_the_app(one_worker, monkeypatch):
    settings = approximation.approximation_settings("wine", "Laplacian", 1.0, 1.5, 12)
    methods = ["monte_carlo", "orthogonal", "nystroem"]
    curves, refused = approximation.error_curves(settings, methods)
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=0))
    for method in curves:
        again = approximation.approximation_errors.__wrapped__(settings, method)
        np.testing.assert_allclose(curves[method], again, rtol=1e-6)
    assert set(curves) == {"monte_carlo", "nystroem"} and "Laplacian" in refused["orthogonal"]


@shared_cache
def result_after(path):
    return workers.compute(wait_for_file, path)


def wait_for_file(path):
    while not Path(path).exists():
        time.sleep(0.05)
    return 7


@pytest.mark.second
def test_scripts_that_need_one_result_leave_their_slot(one_worker, monkeypatch, tmp_path):
    """One script computes it and the others wait for it; only a script that comes after them lets it end."""
    slots, results, path = queues.ComputeSlots(1), [], tmp_path / "ready"
    for module in (workers, cache):
        monkeypatch.setattr(module, "release_slot", slots.release)

    def script(work):
        with slots.hold():
            results.append(work())

    works = [partial(result_after, str(path))] * 3 + [path.touch]
    threads = [threading.Thread(target=script, args=(work,), daemon=True) for work in works]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert results == [None, 7, 7, 7]
    finally:
        path.touch()  # the worker ends however the test does
