"""The store where the world is unkind: a clock that jumps, a folder that cannot be written, a disk that is full."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from test_store import direct, in_order, kept, one_split, rows_of, same, spec_of, split_of  # noqa: F401

from rff_engine.experiments import _units, store
from rff_engine.experiments.runner import run_stored
from rff_engine.experiments.store import Store

DAY = 86_400.0


@pytest.fixture
def clock(monkeypatch):
    """The clock of the machine: `clock.ahead` moves it, and with it whatever the system reckons from it."""
    state = SimpleNamespace(ahead=0.0)
    boot_time, create_time = psutil.boot_time, psutil.Process.create_time
    monkeypatch.setattr(
        store, "time", SimpleNamespace(time=lambda: time.time() + state.ahead, monotonic=time.monotonic)
    )
    # The kernel says when it was started, and psutil when a process was, as time of day.
    monkeypatch.setattr(psutil, "boot_time", lambda: boot_time() + state.ahead)
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) + state.ahead)
    return state


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_clock_that_jumps_in_a_run_loses_no_row_and_stops_nobody(kept, clock, jump, monkeypatch):  # noqa: F811
    monkeypatch.setattr(_units, "_WAITING_SECONDS", 0.01)
    spec, found = spec_of(), []
    for number, step in enumerate(run_stored(kept, spec, split_of=one_split)):
        assert step.message != _units.WAITING, "it waits for itself"
        found += step.rows
        if number in (2, 7):
            clock.ahead += jump
    assert kept.runs()[0].finished and kept.find(spec).seconds >= 0
    same(in_order(kept.rows(spec)), in_order(rows_of(direct(spec.protocol))))
    same(in_order(found), in_order(kept.rows(spec)))


@pytest.mark.slow
@pytest.mark.parametrize("jump", [DAY, -DAY])
@pytest.mark.parametrize("elsewhere", [False, True], ids=["one machine", "two machines"])
def test_a_clock_that_jumps_between_two_runners_doubles_no_work(kept, clock, jump, elsewhere, monkeypatch):  # noqa: F811
    monkeypatch.setattr(_units, "_WAITING_SECONDS", 0.01)
    spec = spec_of()
    first = run_stored(kept, spec, split_of=one_split)
    found = []
    while not found:
        found += next(first).rows
    next(first)  # it has claimed the first group of rows
    clock.ahead += jump
    if elsewhere:
        monkeypatch.setattr(store, "_machine", lambda: "another")
    second = run_stored(kept, spec, split_of=one_split)
    for _ in range(12):
        step = next(second)
        found += step.rows
    assert step.message == _units.WAITING  # for what the first has claimed
    monkeypatch.undo()
    monkeypatch.setattr(_units, "_WAITING_SECONDS", 0.01)
    found += rows_of(first)
    found += rows_of(second)
    same(in_order(found), in_order(kept.rows(spec)))  # each row once
    assert kept.runs()[0].finished


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux tells it")
def test_a_runner_that_has_ended_is_dead_even_before_anybody_has_noticed():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    me = SimpleNamespace(machine=store._machine(), process=process.pid, born=store._born(process.pid))
    assert store._lives(me)
    assert not store._lives(SimpleNamespace(**{**vars(me), "born": me.born - 5}))  # another had its number before
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is still in the list
    assert psutil.pid_exists(process.pid) and not store._lives(me)
    process.wait()
    assert not store._lives(me)


CHILD = """
import os, resource, signal, sys
sys.path.insert(0, {folder!r})
from test_store import SMALL_SWEEP, spec_of, split_of
from rff_engine.experiments.runner import run_stored
from rff_engine.experiments.store import Store, StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does; then a write fails
{before}
try:
    with Store({file!r}) as kept:
        {during}
        for step in run_stored(kept, spec_of(repeats=20), split_of=split_of):
            for row in step.rows:
                print("row")
except StoreError as error:
    print("refused:", error)
"""


def child(file, before="pass", during="pass"):
    """A run in a process of its own, under limits of its own: its rows, and the sentence it ended with."""
    code = CHILD.format(folder=os.path.dirname(__file__), file=str(file), before=before, during=during)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert said.returncode == 0 and said.stderr == "", said.stderr
    *rows, last = said.stdout.splitlines()
    assert set(rows) <= {"row"} and last.startswith("refused: ") and last.endswith(".")
    return len(rows), last


posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX limits and users")


@pytest.mark.slow
@posix
def test_a_disk_that_fills_up_in_a_run_is_one_sentence_and_the_run_goes_on_later(tmp_path):
    file = tmp_path / "results.sqlite"
    during = "resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))"
    known, sentence = child(file, during=during)
    assert known and str(file) in sentence and "rows known so far are kept" in sentence
    spec = spec_of(repeats=20)
    with Store(file) as again:
        assert len(again.rows(spec)) == known
        new = rows_of(run_stored(again, spec, split_of=split_of))
        assert again.runs()[0].finished and len(again.rows(spec)) == known + len(new)


@pytest.fixture
def open_folder():
    """A folder that everybody may look into, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="rff") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("there", [False, True], ids=["no store yet", "a store"])
def test_a_folder_that_cannot_be_written_is_one_sentence_and_stays_as_it_is(open_folder, there):
    """For somebody who is not root: root may write anywhere."""
    folder = open_folder / "data"
    folder.mkdir()
    file = folder / "results.sqlite"
    if there:
        with Store(file) as store_of_root:
            list(run_stored(store_of_root, spec_of(), split_of=one_split))
        file.chmod(0o444)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(0o555)
    somebody = "os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)"
    known, sentence = child(file, before=somebody if os.geteuid() == 0 else "pass")
    folder.chmod(0o755)
    assert known == 0 and str(file) in sentence, sentence
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
