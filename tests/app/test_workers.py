"""Processes that compute for the pages."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from pages.components.results import approximation
from pages.components.server import queues, workers
from pages.components.server.limits import LIMITS

HERE, ROOT = os.getpid(), Path(__file__).parents[2]


@pytest.fixture
def one_worker(monkeypatch):
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=1))


def where() -> int:
    return os.getpid()


def refuse(value):
    raise ValueError(f"value is {value}.")


def end_any_process_but(pid: int) -> int:
    if os.getpid() != pid:
        os._exit(1)
    return pid


def test_work_is_done_by_another_process_if_there_are_any(one_worker, monkeypatch):
    assert workers.compute(where) != HERE
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=0))
    assert workers.compute(where) == HERE


def test_an_error_of_a_worker_is_raised_in_the_app(one_worker):
    with pytest.raises(ValueError, match="value is 7"):
        workers.compute(refuse, 7)


def test_the_app_computes_itself_what_a_worker_could_not_finish(one_worker, caplog):
    assert workers.compute(end_any_process_but, HERE) == HERE
    assert workers.compute(where) != HERE  # by a new worker


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


def test_calls_side_by_side_keep_their_names_and_errors(one_worker):
    found = workers.side_by_side({"good": partial(workers.compute, where), "bad": partial(workers.compute, refuse, 7)})
    assert found["good"].result() != HERE
    assert isinstance(found["bad"].exception(), ValueError)
    assert workers.results({}) == {}


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


def test_error_curves_of_workers_are_those_of_the_app(one_worker, monkeypatch):
    settings = approximation.approximation_settings("wine", "Laplacian", 1.0, 1.5, 12)
    methods = ["monte_carlo", "orthogonal", "nystroem"]
    curves, refused = approximation.error_curves(settings, methods)
    monkeypatch.setattr(workers, "LIMITS", replace(LIMITS, workers=0))
    for method in curves:
        again = approximation.approximation_errors.__wrapped__(settings, method)
        np.testing.assert_allclose(curves[method], again, rtol=1e-6)
    assert set(curves) == {"monte_carlo", "nystroem"} and "Laplacian" in refused["orthogonal"]


GIVES_WAY = {"give_way", "side_by_side", "results", "release_slot"}


def called(function: ast.AST, *kinds: type) -> set[str]:
    """Names that a function uses, and of modules and objects what it uses of them."""
    found = [node for node in ast.walk(function) if isinstance(node, kinds or (ast.Name, ast.Attribute))]
    return {node.attr if isinstance(node, ast.Attribute) else node.id for node in found}


@pytest.mark.parametrize("path", sorted((ROOT / "pages" / "components" / "results").glob("*.py")), ids=lambda p: p.stem)
def test_no_cached_result_gives_its_slot_away(path):
    """Its lock would be held while it waits for a slot, and the slots by scripts that wait for its lock."""
    functions = {
        node.name: node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
    }
    calls = {name: called(function) for name, function in functions.items()}
    own = {name: called(function, ast.Name) & functions.keys() for name, function in functions.items()}
    for _ in functions:  # through functions of the same file
        for name, others in own.items():
            calls[name] = calls[name].union(*(calls[other] for other in others))
    for name, function in functions.items():
        if any("shared_cache" in called(one) for one in function.decorator_list):
            assert not calls[name] & GIVES_WAY, name
