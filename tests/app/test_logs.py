"""The server's log names the run that failed, and neither the values of its data nor where they lie."""

from __future__ import annotations

import logging
import subprocess
import sys
import time

import pytest

from datasets.catalogue import describe
from pages.components import runs
from pages.components.runs import RunQueue, RunSettings
from rff_engine.experiments.failures import whereabouts


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


def test_whereabouts_have_types_and_places_but_no_message_and_no_folder():
    def read(cell):
        try:
            return float(cell)
        except ValueError as error:
            raise KeyError(f"{cell} of /home/ann/patients.csv") from error

    with pytest.raises(KeyError) as caught:
        read("diagnosis-4711")
    told = whereabouts(caught.value)
    assert told.startswith("KeyError in read (test_logs.py:") and "; after ValueError in read" in told
    assert "4711" not in told and "ann" not in told and "/" not in told and "\n" not in told


@pytest.mark.slow
def test_a_run_whose_file_is_damaged_is_logged_by_its_id_alone(tmp_path, monkeypatch, log, capfd):
    raw = describe("ads").files[0]
    place = tmp_path / "patients-of-ann" / raw.folder
    place.mkdir(parents=True)
    (place / raw.name).write_text("diagnosis-4711,ad.\n")
    monkeypatch.setenv("RFF_DATA", str(tmp_path / "patients-of-ann"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where the right file cannot be
    run = wait(RunQueue(str(tmp_path / "results.sqlite")).submit(settings("ads")))
    assert run.state == "failed" and "patients-of-ann" in run.message  # who asked is told which file
    told = "\n".join([*log, *capfd.readouterr()])
    assert f"WARNING run {run.settings.spec.run_id} was refused: DamagedFileError in " in told
    assert "patients" not in told and "4711" not in told and str(tmp_path) not in told


@pytest.mark.slow
def test_an_error_of_ours_is_logged_by_the_runs_id_without_its_message(tmp_path, monkeypatch, log, capfd):
    broken = """
import sys
from rff_engine.experiments import _child
def run_stored(*_):
    raise KeyError("diagnosis-4711 in /home/ann/patients.csv")
    yield
_child.run_stored = run_stored
sys.exit(_child.main())
"""
    start = subprocess.Popen
    monkeypatch.setattr(runs.subprocess, "Popen", lambda _, **how: start([sys.executable, "-c", broken], **how))
    run = wait(RunQueue(str(tmp_path / "results.sqlite")).submit(settings("breast")))
    assert run.state == "failed" and run.settings.spec.run_id in run.message
    told = "\n".join([*log, *capfd.readouterr()])
    assert f"ERROR run {run.settings.spec.run_id} failed: KeyError in run_stored (<string>:" in told
    assert "patients" not in told and "4711" not in told and "Traceback" not in told
