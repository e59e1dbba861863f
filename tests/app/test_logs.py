"""The server's log names a failed run, but neither values of its data nor their folder."""

from __future__ import annotations

import logging
import subprocess
import sys
import time

import pytest

from datasets.papers.catalogue import describe
from pages.components.server import runs
from pages.components.server.runs import RunQueue, RunSettings
from rff_engine.experiments.running.failures import redacted_traceback


@pytest.fixture
def log():
    """The lines that the queue writes."""
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append(f"{record.levelname} {self.format(record)}")

    handler = Keep()
    runs._log.addHandler(handler)
    yield lines
    runs._log.removeHandler(handler)


def wait(run):
    end = time.monotonic() + 180
    while run.active and time.monotonic() < end:
        time.sleep(0.02)
    return run


def settings(dataset):
    return RunSettings("features", dataset, "quick", "random", 0, 1, ("svm", "rff"))


def test_redacted_traceback_has_types_and_lines_but_no_message_and_no_folder():
    def read(cell):
        try:
            return float(cell)
        except ValueError as error:
            raise KeyError(f"{cell} of /home/ann/patients.csv") from error

    with pytest.raises(KeyError) as caught:
        read("diagnosis-4711")
    logged = redacted_traceback(caught.value)
    assert logged.startswith("KeyError in read (test_logs.py:") and "; after ValueError in read" in logged
    assert "4711" not in logged and "ann" not in logged and "/" not in logged and "\n" not in logged


@pytest.mark.slow
def test_a_run_with_a_damaged_file_is_logged_by_its_id_only(tmp_path, monkeypatch, log, capfd):
    raw = describe("ads").files[0]
    place = tmp_path / "patients-of-ann" / raw.folder
    place.mkdir(parents=True)
    (place / raw.name).write_text("diagnosis-4711,ad.\n")
    monkeypatch.setenv("RFF_DATA", str(tmp_path / "patients-of-ann"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # without the right file
    run = wait(RunQueue(str(tmp_path / "results.sqlite")).submit(settings("ads")))
    assert run.state == "failed" and "patients-of-ann" in run.message  # the visitor learns which file
    logged = "\n".join([*log, *capfd.readouterr()])
    assert f"WARNING run {run.settings.spec.run_id} was refused: DamagedFileError in " in logged
    assert "patients" not in logged and "4711" not in logged and str(tmp_path) not in logged


@pytest.mark.slow
def test_an_internal_error_is_logged_by_the_run_id_without_its_message(tmp_path, monkeypatch, log, capfd):
    broken = """
import sys
from rff_engine.experiments.running import subprocess_entry
def run_stored(*_):
    raise KeyError("diagnosis-4711 in /home/ann/patients.csv")
    yield
subprocess_entry.run_stored = run_stored
sys.exit(subprocess_entry.main())
"""
    start = subprocess.Popen
    monkeypatch.setattr(runs.subprocess, "Popen", lambda _, **how: start([sys.executable, "-c", broken], **how))
    run = wait(RunQueue(str(tmp_path / "results.sqlite")).submit(settings("breast")))
    assert run.state == "failed" and run.settings.spec.run_id in run.message
    logged = "\n".join([*log, *capfd.readouterr()])
    assert f"ERROR run {run.settings.spec.run_id} failed: KeyError in run_stored (<string>:" in logged
    assert "patients" not in logged and "4711" not in logged and "Traceback" not in logged
