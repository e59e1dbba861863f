"""Runs that a public server accepts: how many, how large, in which order, and what it says of the others."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import replace

import pytest

import datasets
from pages.shared.server import runs
from pages.shared.server.limits import LIMITS
from pages.shared.server.runs import RunQueue, RunSettings, training_rows

from .sessions import chosen, opened, pressed, soon

METHODS = {"features": ("svm", "rff", "pbrff", "okrff"), "landmarks": ("svm", "rbf_landmarks", "pb_landmarks")}


def settings(study="features", dataset="breast", preset="quick", seed=0, methods=None) -> RunSettings:
    return RunSettings(study, dataset, preset, "random", seed, 1, methods or METHODS[study])


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


def test_a_session_has_few_active_runs_and_does_not_limit_others(queue, done, monkeypatch):
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
    done[mine[0].settings].set()
    assert soon(lambda: mine[0].state == "finished") and queue.submit(settings(seed=53), "ann").active
    limited(monkeypatch, runs_per_session=1)
    queue.submit(settings("landmarks", "adult", "splits"), "cleo")
    with pytest.raises(ValueError, match=r"^You have 1 active run \(the splits grid on adult\), the most"):
        queue.submit(settings(seed=54), "cleo")


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


@pytest.mark.slow
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


@pytest.mark.second
def test_page_shows_why_a_run_is_refused_and_its_place_in_the_queue(queue):
    queue.submit(settings(seed=98), "somebody")
    app = opened("real_data")
    waiting = len(queue.active())
    for seed in (1, 2):
        pressed(chosen(app, seed=seed), "Run")
        assert not app.exception and not app.error
    bars = [bar.proto.text for bar in app.get("progress")]
    assert bars == [f"Waiting: {waiting + 1} runs ahead of this one."]
    pressed(chosen(app, seed=3), "Run")
    assert not app.exception and [error.value[:24] for error in app.error] == ["You have 2 active runs ("]
    other = chosen(opened("real_data"), seed=3)
    assert not pressed(other, "Run").error and len(queue.active()) == waiting + 3
