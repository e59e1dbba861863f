"""The store under faults: a clock that jumps, a folder that cannot be written, a full disk."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
import sqlalchemy as sa
from test_store import (  # noqa: F401
    ROWS,
    direct,
    in_order,
    kept,
    on_postgresql,
    one_split,
    rows_of,
    same,
    spec_of,
    split_of,
)

from rff_engine.experiments.running import executor, leases
from rff_engine.experiments.running.leases import RunLease
from rff_engine.experiments.running.runner import run_stored
from rff_engine.experiments.running.store import Store, StoreError

ROOT = Path(__file__).parents[3]
DAY = 86_400.0


@pytest.fixture
def clock(monkeypatch):
    """The clock of the machine: `clock.ahead` moves it, and all times that the system derives from it."""
    state = SimpleNamespace(ahead=0.0)
    boot_time, create_time = psutil.boot_time, psutil.Process.create_time
    monkeypatch.setattr(
        leases, "time", SimpleNamespace(time=lambda: time.time() + state.ahead, monotonic=time.monotonic)
    )
    # The kernel says when it was started, and psutil when a process was, as time of day.
    monkeypatch.setattr(psutil, "boot_time", lambda: boot_time() + state.ahead)
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) + state.ahead)
    return state


@pytest.mark.slow
@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_clock_jump_during_a_run_loses_no_row(kept, clock, jump, monkeypatch):  # noqa: F811
    monkeypatch.setattr(executor, "_WAITING_SECONDS", 0.01)
    spec, found = spec_of(), []
    for number, step in enumerate(run_stored(kept, spec, split_of=one_split)):
        assert step.message != executor.WAITING, "it waits for itself"
        found += step.rows
        if number in (2, 7):
            clock.ahead += jump
    assert kept.runs()[0].finished and kept.find(spec).seconds >= 0
    same(in_order(kept.rows(spec)), in_order(rows_of(direct(spec.protocol))))
    same(in_order(found), in_order(kept.rows(spec)))


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("jump", [DAY, -DAY])
@pytest.mark.parametrize("elsewhere", [False, True], ids=["one machine", "two machines"])
def test_clock_jump_between_two_runners_duplicates_no_work(kept, clock, jump, elsewhere, monkeypatch):  # noqa: F811
    monkeypatch.setattr(executor, "_WAITING_SECONDS", 0.01)
    spec = spec_of()
    first = run_stored(kept, spec, split_of=one_split)
    found = []
    while not found:
        found += next(first).rows
    next(first)  # it has claimed the first group of rows
    clock.ahead += jump
    if elsewhere:
        monkeypatch.setattr(leases, "_machine", lambda: "another")
    second = run_stored(kept, spec, split_of=one_split)
    for _ in range(12):
        step = next(second)
        found += step.rows
    assert step.message == executor.WAITING  # for what the first has claimed
    monkeypatch.undo()
    monkeypatch.setattr(executor, "_WAITING_SECONDS", 0.01)
    found += rows_of(first)
    found += rows_of(second)
    same(in_order(found), in_order(kept.rows(spec)))  # each row once
    assert kept.runs()[0].finished


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_zombie_process_counts_as_dead():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    me = SimpleNamespace(machine=leases._machine(), process=process.pid, born=leases._process_start_time(process.pid))
    assert leases._is_alive(me)
    assert not leases._is_alive(SimpleNamespace(**{**vars(me), "born": me.born - 5}))  # another had its number before
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is still in the list
    assert psutil.pid_exists(process.pid) and not leases._is_alive(me)
    process.wait()
    assert not leases._is_alive(me)


CHILD = """
import os, resource, signal, sys
sys.path.insert(0, {folder!r})
from test_store import SMALL_SWEEP, spec_of, split_of
from rff_engine.experiments.running.runner import run_stored
from rff_engine.experiments.running.store import Store, StoreError
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
    """Number of rows and final sentence of a run in its own process, with its own limits."""
    code = CHILD.format(folder=os.path.dirname(__file__), file=str(file), before=before, during=during)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert said.returncode == 0 and said.stderr == "", said.stderr
    *rows, last = said.stdout.splitlines()
    assert set(rows) <= {"row"} and last.startswith("refused: ") and last.endswith(".")
    return len(rows), last


posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX limits and users")


@pytest.mark.second("computes 20 repeats with a commit each, some in a child process")
@posix
def test_run_resumes_after_a_full_disk(tmp_path):
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
    """A folder that all users can read, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="rff") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.second
@posix
@pytest.mark.parametrize("there", [False, True], ids=["no store yet", "a store"])
def test_unwritable_folder_is_reported_in_one_sentence_and_unchanged(open_folder, there):
    """For a user who is not root: root can write anywhere."""
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


READ = """
import contextlib, io, json, os, sys
from rff_engine.__main__ import main
from rff_engine.experiments.command_line import reports, runs
if os.geteuid() == 0:  # root can write anywhere
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
for arguments in json.load(sys.stdin):
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(arguments)
    print(json.dumps([code, out.getvalue(), error.getvalue()]))
"""


def read_by_somebody(commands):
    """Exit code, output and messages of each command, by a user who may only read."""
    ended = subprocess.run(
        [sys.executable, "-c", READ], input=json.dumps(commands), capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.second("starts a process that imports the command line")
@posix
def test_store_that_cannot_be_written_is_read_with_its_log(open_folder):
    """Copies of a store in use; the commands that only read see the rows in its log, if that is copied too."""
    commands, expected, before = [], [], {}
    with Store(open_folder / "results.sqlite") as used:
        list(run_stored(used, spec_of(), split_of=one_split))
        with used._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        list(run_stored(used, spec_of(seed=1), split_of=one_split))  # its rows are in the log alone
        later, earlier = used.runs()
        cases = product((["", "-wal", "-shm"], ["", "-wal"], [""]), ("nothing", "the folder", "the file"))
        for number, (ends, writable) in enumerate(cases):
            folder = open_folder / f"copy {number}, 100%?"
            folder.mkdir()
            for end in ends:
                path = folder / f"results.sqlite{end}"
                shutil.copyfile(open_folder / f"results.sqlite{end}", path)
                path.chmod(0o666 if writable == "the file" else 0o444)
            folder.chmod(0o777 if writable == "the folder" else 0o555)
            file = folder / "results.sqlite"
            before[file] = file.read_bytes()
            here = [later, earlier] if "-wal" in ends else [earlier]
            commands.append(["runs", "--store", str(file)])
            commands.append(["report", here[0].id, "--format", "csv", "--store", str(file)])
            expected.append((f"{ends}, {writable} writable", file, here))
        commands.append(["runs", "--store", str(open_folder / "results.sqlite")])  # in use by another user
        *found, in_use = read_by_somebody(commands)
    for (case, file, here), listed, report in zip(expected, found[::2], found[1::2], strict=True):
        assert listed[0] == 0 and listed[2] == "", (case, listed)
        lines = listed[1].splitlines()
        assert [line.split()[0] for line in lines] == [info.id for info in here], (case, lines)
        assert all("finished" in line for line in lines), case
        assert report[0] == 0 and len(report[1].splitlines()) == 1 + here[0].n_rows, (case, report)
        assert file.read_bytes() == before[file], case
    assert len(in_use[1].splitlines()) == 2, in_use


@pytest.mark.second("restarts a database server")
@on_postgresql
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_run_goes_on_while_its_database_restarts(postgres, postgres_server, mode):
    """`fast` ends the sessions with 57P01, `immediate` with 57P02; until the server is back, it refuses connections."""
    spec = spec_of(repeats=3)
    with Store(postgres) as one, ThreadPoolExecutor(1) as thread:
        found, restarts = [], []
        for step in run_stored(one, spec, split_of=split_of):
            found += step.rows
            if step.rows and len(found) % 9 == 0:
                restarts.append(thread.submit(postgres_server.restart, mode))
                for earlier in restarts[:-1]:
                    earlier.result()  # the one before is done; this one takes place during the next steps
        restarts[-1].result()
        assert len(restarts) > 2 and one.runs()[0].finished
        same(in_order(one.rows(spec)), in_order(rows_of(direct(spec.protocol, 3, split_of))))
        same(in_order(found), in_order(one.rows(spec)))


@on_postgresql
def test_read_goes_on_after_a_restart_within_it(postgres, postgres_server):
    with Store(postgres) as one:
        seen = []

        def read(connection):
            seen.append(connection.scalar(sa.text("SELECT pg_backend_pid()")))
            if len(seen) == 1:
                postgres_server.restart("fast")
            return connection.scalar(sa.text("SELECT 7"))

        assert one.read(read) == 7 and len(set(seen)) == 2


@on_postgresql
@pytest.mark.parametrize("done", [True, False], ids=["committed", "not committed"])
def test_transaction_lost_while_it_commits_is_done_once(postgres, monkeypatch, done):
    """The answer to a commit is lost, with the connection."""
    with Store(postgres) as one, RunLease(one, spec_of()) as lease:
        psycopg = pytest.importorskip("psycopg")
        dialect = one._engine.dialect
        commit, lost = dialect.do_commit, []

        def commit_and_lose(connection):
            if lost:
                return commit(connection)
            lost.append(connection)
            if done:
                commit(connection)
            connection.dbapi_connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        claims = lease.claims("digest", 0, ROWS[:1])
        row = rows_of(direct(replace(spec_of().protocol, methods=("rff",))))[0]
        monkeypatch.setattr(lease, "seconds_since_last", lambda: 5.0)
        monkeypatch.setattr(dialect, "do_commit", commit_and_lose)
        claims.keep([row])
        assert lost and one.find(spec_of()).seconds == 5.0
        assert list(one.rows_by_key([claims.key_of(row)])) == [claims.key_of(row)]


@pytest.mark.slow("restarts a database server")
@on_postgresql
def test_work_whose_number_is_given_again_after_a_crash_is_done_again(postgres, postgres_server, monkeypatch):
    """The crash loses all of a transaction, so that its number becomes that of another, which commits."""
    psycopg = pytest.importorskip("psycopg")
    with Store(postgres) as one, RunLease(one, spec_of()) as lease:
        dialect = one._engine.dialect
        commit, lost = dialect.do_commit, []

        def crash(connection):
            if lost:
                return commit(connection)
            lost.append(number_of(connection))
            postgres_server.restart("immediate")
            with psycopg.connect(one.url.replace("+psycopg", ""), autocommit=True) as other:
                while number_of(other) < lost[0]:
                    pass
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        def number_of(connection):
            return connection.execute("SELECT txid_current()").fetchone()[0]

        claims = lease.claims("digest", 0, ROWS[:1])
        row = rows_of(direct(replace(spec_of().protocol, methods=("rff",))))[0]
        monkeypatch.setattr(dialect, "do_commit", crash)
        claims.keep([row])
        assert lost and list(one.rows_by_key([claims.key_of(row)])) == [claims.key_of(row)]


@on_postgresql
def test_database_that_stays_away_is_reported_in_one_sentence(postgres):
    tried = []
    with Store(postgres) as one:
        one.patience = 0.5

        def work(connection):
            tried.append(time.monotonic())
            connection.execute(sa.text("SELECT pg_terminate_backend(pg_backend_pid())"))

        for look in (one.read, one.write):
            tried.clear()
            with pytest.raises(StoreError, match="cannot be used") as caught:
                look(work)
            assert len(str(caught.value).splitlines()) == 1
            assert len(tried) > 1 and tried[-1] - tried[0] < 30
