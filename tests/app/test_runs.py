"""Long runs: one worker, shared by all who ask for the same, stopped when asked, and failures in one sentence."""

from __future__ import annotations

import time

import pytest

from pages.components import runs
from pages.components.runs import RunQueue, RunSettings


def settings(**changes) -> RunSettings:
    fields = {"study": "features", "dataset": "breast", "preset": "quick", "split_name": "published", "seed": 0}
    fields |= {"repeats": 1, "methods": ("svm", "rff", "pbrff", "okrff")}
    return RunSettings(**(fields | changes))


def wait(run, seconds=60.0):
    end = time.monotonic() + seconds
    while run.active and time.monotonic() < end:
        time.sleep(0.02)
    return run


@pytest.mark.slow
def test_a_run_finishes_with_the_rows_of_every_repeat():
    run = wait(RunQueue().submit(settings(repeats=2)))
    assert (run.state, run.fraction) == ("finished", 1.0)
    assert {row["repeat"] for row in run.rows} == {0, 1}
    assert {row["method"] for row in run.rows} == {"svm", "rff", "pbrff", "okrff"}
    assert all(0 <= row["test_error"] <= 1 for row in run.rows)
    assert run.n_test == 143


@pytest.mark.slow
def test_who_asks_for_the_same_gets_the_same():
    queue = RunQueue()
    first = queue.submit(settings())
    assert queue.submit(settings()) is first
    wait(first)
    assert queue.submit(settings()) is first
    assert queue.find(settings(seed=1)) is None


@pytest.mark.slow
def test_cancel_keeps_what_is_known_and_a_new_start_starts_anew():
    queue = RunQueue()
    run = queue.submit(settings(preset="paper"))
    while not run.rows and run.active:
        time.sleep(0.02)
    run.cancel()
    wait(run, 10)
    assert run.state == "cancelled" and run.rows and run.fraction < 1
    assert queue.submit(settings(preset="paper")) is not run
    queue.find(settings(preset="paper")).cancel()


@pytest.mark.slow
def test_a_waiting_run_knows_its_place_and_can_be_cancelled():
    queue = RunQueue()
    first = queue.submit(settings(preset="paper"))
    second = queue.submit(settings(seed=3))
    assert queue.ahead_of(second) == 1
    second.cancel()
    first.cancel()
    wait(first, 10)
    assert second.state == "cancelled" and not second.rows


@pytest.mark.parametrize(("dataset", "split"), [("wine", "random"), ("digits", "random"), ("digits", "published")])
def test_a_run_that_cannot_be_is_one_sentence(dataset, split):
    run = wait(RunQueue().submit(settings(dataset=dataset, split_name=split)))
    assert run.state == "failed"
    assert run.message and "\n" not in run.message


def test_an_error_of_ours_does_not_end_the_worker(monkeypatch):
    def broken(*args, **kwargs):
        raise KeyError("a mistake")

    queue = RunQueue()
    with monkeypatch.context() as patch:
        patch.setattr(runs, "run_repeats", broken)
        failed = wait(queue.submit(settings()))
    assert failed.state == "failed" and "log" in failed.message
    assert wait(queue.submit(settings(methods=("svm",)))).state == "finished"


def test_too_many_waiting_are_refused():
    queue = RunQueue()
    accepted = [queue.submit(settings(preset="paper", seed=seed)) for seed in range(runs.MOST_WAITING)]
    with pytest.raises(ValueError, match="waiting"):
        for seed in range(runs.MOST_WAITING, runs.MOST_WAITING + 2):
            accepted.append(queue.submit(settings(preset="paper", seed=seed)))
    for run in accepted:
        run.cancel()
