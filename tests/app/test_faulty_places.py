"""Unusable files: one sentence on the page, no traceback, and recovery after repair."""

from __future__ import annotations

import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets.papers.catalogue import describe
from pages.shared.server import runs
from pages.shared.server.runs import RunQueue

from .sessions import opened, reached
from .test_runs import settings, wait

#: The run of `settings`, whose rows do not ship.
QUICK = {"preset": "quick", "split": "published", "repeats": "1"}


@pytest.fixture
def queue(tmp_path, monkeypatch, swept_store):
    """A queue with its own store, in place of the server's."""
    (tmp_path / "store").mkdir()
    queue = RunQueue(str(shutil.copy(swept_store, tmp_path / "store" / "results.sqlite")))
    runs.run_queue.cache_clear()
    monkeypatch.setattr(runs, "RunQueue", lambda: queue)
    yield queue
    queue.end()
    runs.run_queue.cache_clear()


def sentence(app: AppTest) -> str:
    """The one error of a page, as a sentence."""
    assert not app.exception, app.exception
    assert len(app.error) == 1
    said = app.error[0].value
    assert re.fullmatch(r"\S.{15,400}", said), said
    return said


def finished(queue: RunQueue, **changes) -> runs.Run:
    return wait(queue.submit(settings(**changes)), 600)


@pytest.mark.second
def test_a_damaged_store_is_reported_until_it_is_repaired(queue):
    finished(queue, repeats=1)
    opened("real_data", **QUICK)
    file = Path(queue.store.name)
    queue.store.close()
    kept = {path: path.read_bytes() for path in file.parent.iterdir()}
    queue._runs.clear()  # as after a restart: rows have to be read again
    for path in kept:
        path.unlink()
    file.write_bytes(b"no database, whatever they say " * 500)
    broken = reached("real_data", **QUICK)
    assert str(file) in sentence(broken)
    for path, content in kept.items():
        path.write_bytes(content)
    queue.store.close()
    opened("real_data", **QUICK)


@pytest.mark.second
def test_unreadable_rows_are_reported_in_one_sentence(queue):
    run = finished(queue)
    with sqlite3.connect(queue.store.name) as raw:
        raw.execute("ALTER TABLE rff_rows RENAME TO elsewhere")
    run._n_reported += 1  # as if it were active
    assert "rff_rows" in sentence(reached("real_data", **QUICK))
    with sqlite3.connect(queue.store.name) as raw:
        raw.execute("ALTER TABLE elsewhere RENAME TO rff_rows")
    app = opened("real_data", **QUICK)
    assert app.get("plotly_chart")


@pytest.mark.slow
def test_page_warns_if_no_store_can_be_opened(tmp_path, monkeypatch):
    (tmp_path / "in the way").write_text("a file where a folder has to be")
    queue = RunQueue(str(tmp_path / "in the way" / "results.sqlite"))
    runs.run_queue.cache_clear()
    monkeypatch.setattr(runs, "RunQueue", lambda: queue)
    try:
        app = opened("real_data", **QUICK)
        assert "until this server ends" in " ".join(warning.value for warning in app.warning)
    finally:
        queue.end()
        runs.run_queue.cache_clear()


@pytest.mark.second("computes a run in a child process")
def test_results_stay_after_their_data_file_is_damaged(queue, tmp_path, monkeypatch):
    """A new run fails with a message; a known run has its figure, without the number of test points."""
    raw = describe("ads").files[0]
    place = tmp_path / "data" / raw.folder
    place.mkdir(parents=True)
    (place / raw.name).write_text("cut off")
    monkeypatch.setenv("RFF_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(runs, "_test_points", runs._test_points.__wrapped__)
    run = finished(queue, dataset="ads", split_name="random")
    assert run.state == "failed"
    assert raw.name in sentence(reached("real_data", **QUICK | {"dataset": "ads", "split": "random"}))
    # The same settings have rows from an earlier run.
    run.state, run._rows = "finished", (run._n_reported, finished(queue).rows)
    app = opened("real_data", **QUICK | {"dataset": "ads", "split": "random"})
    assert app.get("plotly_chart")
