"""Runs and their store: no row is computed twice or lost, whatever ends in the middle."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import platformdirs
import psutil
import pytest
import sqlalchemy as sa
from toy_problems import SMALL_STUDY, SMALL_SWEEP, make_split

import datasets
from rff_engine.studies import problems
from rff_engine.studies.protocols import FeatureComparison, FeatureSweep, KernelApproximation, LandmarkStudy, RunSpec
from rff_engine.studies.running import run as running, store as stores
from rff_engine.studies.running.run import problem_of, run, run_stored
from rff_engine.studies.running.store import Store, StoreError, default_store, row_key
from tests import databases

url = databases.url
ROOT = Path(__file__).parents[3]
on_postgresql = pytest.mark.xdist_group("postgres")  # one server for all of them
posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals, users and limits")


def split_of(seed):
    return make_split(seed=seed)


@pytest.fixture
def kept(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        yield store


@pytest.fixture
def either(url):
    with Store(url) as store:
        yield store


def spec_of(protocol=SMALL_SWEEP, **changes):
    return RunSpec(protocol, "toy", **changes)


def rows_of(steps):
    return [row for step in steps for row in step.rows]


def frame(rows):
    columns = ["repeat", "method", "landmarks", "share", "beta", "rho", "D"]
    return pd.DataFrame(rows).drop(columns=["seconds", "run"]).sort_values(columns).reset_index(drop=True)


def same(rows, others):
    pd.testing.assert_frame_equal(frame(rows), frame(others), check_exact=True)


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_a_stored_run_has_the_rows_of_a_direct_one_and_is_not_computed_again(either, protocol):
    spec = spec_of(protocol, repeats=2)
    first = list(run_stored(either, spec, split_of=split_of))
    assert first[-1].done == first[-1].total == 2
    rows = either.rows(spec)
    same(rows, rows_of(first))
    same(rows, rows_of(run_stored(None, spec, split_of=split_of)))
    assert [{name: row[name] for name in one} for one, row in zip(protocol.settings() * 2, rows, strict=True)] == (
        protocol.settings() * 2
    )
    assert rows_of(run_stored(either, spec, split_of=split_of)) == []
    (made_with,) = either.provenance(spec)
    assert "rff_engine " in made_with and f"numpy {np.__version__}" in made_with
    assert sum(kept.rows for kept in either.contents()) == len(rows)


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({"betas": (0.1,)}, 0),
        ({"betas": (0.1, 3.0)}, 3),
        ({"Cs": (0.01, 1.0)}, 13),
        ({"gammas": (0.01, 0.1)}, 13),
        ({"max_train": 50}, 13),
        ({"scaling": "standard"}, 13),
        ({"precision": "float64"}, 12),  # the SVM is always in float64
        ({"n_candidates": 400}, 9),
    ],
)
def test_rows_are_shared_unless_a_field_that_they_depend_on_differs(kept, changes, new):
    list(run_stored(kept, spec_of(replace(SMALL_SWEEP, rhos=(0.01,))), split_of=split_of))
    protocol = replace(SMALL_SWEEP, rhos=(0.01,), **changes)
    assert len(rows_of(run_stored(kept, spec_of(protocol), split_of=split_of))) == new


@pytest.mark.slow
def test_other_data_or_another_seed_are_other_rows_and_the_last_ones_are_read(kept):
    spec = spec_of(replace(SMALL_SWEEP, methods=("svm",)))
    first, other = (rows_of(run_stored(kept, spec, split_of=lambda _, s=s: make_split(seed=s))) for s in (0, 5))
    assert len(first) == len(other) == len(kept.rows(spec)) == 1
    same(kept.rows(spec), other)
    assert len(rows_of(run_stored(kept, replace(spec, seed=1), split_of=lambda _: make_split()))) == 1


def test_gamma_is_kept_where_the_baseline_is_not_among_the_methods(kept, monkeypatch):
    spec = spec_of(replace(SMALL_SWEEP, methods=("rff",)))
    steps = run_stored(kept, spec, split_of=split_of)
    while not rows_of([next(steps)]):
        pass
    steps.close()
    monkeypatch.setattr("rff_engine.studies.baseline._search", None)  # is not called again
    assert len(rows_of(run_stored(kept, spec, split_of=split_of))) == 2
    assert {row["method"] for row in kept.rows(spec)} == {"rff"}


def test_equal_splits_of_two_names_have_rows_of_both(kept):
    """The paper's split is the random one of seed 42; a cap above the number of rows caps nothing."""
    svm = FeatureSweep.preset("quick", methods=("svm",), gammas=(1e-5,), Cs=(1.0,))
    few = KernelApproximation(n_features=(3,), methods=("monte_carlo",), max_rows=10**6)
    for spec, other in (
        (RunSpec(svm, "breast", "random", 2, seed=41), RunSpec(svm, "breast", "published", seed=42)),
        (RunSpec(few, "diabetes"), RunSpec(replace(few, max_rows=None), "diabetes")),
    ):
        if spec.dataset not in datasets.available():
            continue
        assert rows_of(run_stored(kept, spec)) and not rows_of(run_stored(kept, other))
        assert len(kept.rows(other)) == 1


def test_a_run_that_computes_in_vain_goes_on_elsewhere(kept):
    problem = problem_of(SMALL_SWEEP, make_split(), dataset="toy")
    work = running._Work(problem, SMALL_SWEEP, kept, None)
    assert list(work.in_turn(range(20))) == list(range(20))
    row = problem.row("svm", {"train_error": 0.0, "valid_error": 0.0, "test_error": 0.0}, 1.0, C=1.0)
    assert len(work.keep(row)) == len(running._Work(problem, SMALL_SWEEP, kept, None).keep(row)) == 1
    work.keep(row)
    turns = list(work.in_turn(range(20)))
    assert turns != sorted(turns) == list(range(20))
    assert kept.known([row_key(problem, SMALL_SWEEP, {"method": "svm"})])


@pytest.mark.more(after=1)
@pytest.mark.slow("starts two processes")
@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_two_processes_give_the_rows_of_one(protocol):
    split, problem = make_split(), problem_of(protocol, make_split(), dataset="toy")
    same(rows_of(run(problem, protocol, jobs=2)), rows_of(run(problem_of(protocol, split, dataset="toy"), protocol)))


def _end_once(file, last):
    """Kill the process at the first call."""
    if not file.exists():
        file.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return last


@pytest.mark.slow("starts two processes, twice")
@posix
@pytest.mark.parametrize("times", [1, pytest.param(99, marks=pytest.mark.second("starts ten processes"))])
def test_a_call_whose_worker_is_killed_is_done_again(times, tmp_path, monkeypatch):
    def study(problem, grid, work):
        tries.append(1)
        marks = [tmp_path / f"{len(tries) if len(tries) <= times else 1}-{i}" for i in range(2)]
        for errors in work.each((_end_once, mark, {"train_error": 0.1}) for mark in marks[:1]):
            yield "svm", problem.row("svm", errors | {"valid_error": 0.1, "test_error": 0.1}, 0.1, C=1.0)

    tries = []
    monkeypatch.setitem(problems.STUDIES, FeatureSweep, study)
    steps = run(problem_of(SMALL_SWEEP, make_split(), dataset="toy"), SMALL_SWEEP, jobs=2)
    if times == 1:
        assert len(rows_of(steps)) == 1 and len(tries) == 2
    else:
        with pytest.raises(ConnectionError, match=r"^Workers ended in the middle of a call 5 times in a row\.$"):
            list(steps)


# --- processes that are killed ---

BREAST = RunSpec(LandmarkStudy.preset("quick"), "breast")


def start(store, *more):
    command = [sys.executable, "-m", "rff_engine", "run", "landmarks", "--dataset", "breast", "--store", store]
    return subprocess.Popen([*command, *more], cwd=ROOT, stderr=subprocess.PIPE, text=True)


def wait_for(ready, seconds=120):
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture(scope="module")
def uninterrupted():
    return rows_of(run_stored(None, BREAST))


@pytest.mark.second("starts programs and kills them")
@posix
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_killed_run_goes_on_to_the_same_rows_and_leaves_no_process(kept, uninterrupted, jobs):
    for _ in range(3):
        known, process = len(kept.rows(BREAST)), start(kept.name, "--jobs", jobs)
        wait_for(lambda before=known: len(kept.rows(BREAST)) > before + 5)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        psutil.wait_procs(children, 30)
        assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)
    process = start(kept.name, "--jobs", jobs)
    assert process.communicate()[1].endswith(f"new rows in {kept.name}\n") and process.returncode == 0
    same(kept.rows(BREAST), uninterrupted)


@pytest.mark.second("starts two programs that compute the same")
def test_two_runs_at_once_lose_no_row_and_compute_few_twice(either, uninterrupted):
    processes = [start(either.url) for _ in range(2)]
    said = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    same(either.rows(BREAST), uninterrupted)
    computed = [int(text.split(" new rows in ")[0].split()[-1]) for text in said]
    assert len(uninterrupted) <= sum(computed) < 1.5 * len(uninterrupted), computed


@pytest.mark.second("starts a Dask cluster, of which one worker is killed")
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_rows(kept, uninterrupted):
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": "CRITICAL"}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        with joblib.parallel_config("dask"), closing(run_stored(kept, BREAST)) as steps:
            found = []
            for step in steps:
                found += step.rows
                if pids and len(found) > 10:
                    os.kill(pids.pop(), signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
                    pids.clear()
    same(kept.rows(BREAST), uninterrupted)
    same(found, uninterrupted)


# --- faults of the store ---


def refused(work, *says):
    with pytest.raises(StoreError) as caught:
        work()
    sentence = str(caught.value)
    assert len(sentence.splitlines()) == 1 and sentence.endswith(".") and all(some in sentence for some in says)
    return sentence


@pytest.mark.second
def test_a_full_disk_is_one_sentence_and_rows_are_kept(tmp_path):
    file, spec, found = tmp_path / "results.sqlite", spec_of(repeats=20), []
    with Store(file) as full:
        room = full.read(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar()) + 4
        limit = f"PRAGMA max_page_count = {room}"
        sa.event.listen(full._engine, "begin", lambda connection: connection.exec_driver_sql(limit))
        steps = run_stored(full, spec, split_of=split_of)
        refused(lambda: [found.extend(step.rows) for step in steps], "database or disk is full", "are kept")
    with Store(file) as kept:
        assert found
        same(kept.rows(spec), found)
        new = rows_of(run_stored(kept, spec, split_of=split_of))
        assert len(kept.rows(spec)) == len(found) + len(new) == 20 * len(SMALL_SWEEP.settings())


def test_a_file_that_is_no_store_or_is_damaged_is_one_sentence(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("These are my notes, and no database. " * 100)
    for read_only in (False, True):
        refused(lambda read_only=read_only: Store(file, read_only=read_only).contents(), "file is not a database")
    assert file.read_text() == "These are my notes, and no database. " * 100
    damaged = tmp_path / "results.sqlite"
    with Store(damaged) as kept:
        list(run_stored(kept, spec_of(), split_of=split_of))
    content = damaged.read_bytes()
    damaged.write_bytes(content[:4096] + os.urandom(len(content) - 4096))
    refused(lambda: Store(damaged).rows(spec_of()), str(damaged))


@posix
def test_a_folder_that_cannot_be_written_is_one_sentence_and_reading_changes_nothing(tmp_path, monkeypatch):
    file = tmp_path / "results.sqlite"
    with Store(file) as kept:
        list(run_stored(kept, spec_of(), split_of=split_of))
        expected = kept.rows(spec_of())
    before = file.read_bytes(), sorted(os.listdir(tmp_path))
    for options in ({"read_only": True}, {"read_only": None}):
        monkeypatch.setattr(stores.os, "access", lambda *_: False)  # as for another user; root may write anywhere
        with Store(file, **options) as kept:
            assert kept.rows(spec_of()) == expected
            refused(lambda store=kept: list(run_stored(store, spec_of(seed=1), split_of=split_of)), "readonly")
    assert (file.read_bytes(), sorted(os.listdir(tmp_path))) == before
    refused(lambda: Store(tmp_path / "other.sqlite", read_only=True), "There is no store at")
    refused(lambda: Store(tmp_path / "no" / "other.sqlite"), "there is no folder")


def test_a_locked_file_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "_BUSY_SECONDS", 0.1)
    with Store(tmp_path / "results.sqlite") as kept, closing(sqlite3.connect(kept.name)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused(lambda: list(run_stored(kept, spec_of(), split_of=split_of)), "database is locked")


@pytest.mark.parametrize("url", ["nonsense://here", "sqlite+nonsense:///x", "http://"])
def test_an_invalid_url_is_one_sentence(url):
    refused(lambda: Store(url), "it must be a file, or a URL such as")


def test_a_server_that_does_not_answer_is_one_sentence_without_the_password():
    pytest.importorskip("psycopg")
    said = refused(lambda: Store("postgresql+psycopg://me:secret@127.0.0.1:9/x"), "cannot be used")
    assert "secret" not in said


@on_postgresql
@pytest.mark.parametrize(("code", "tries"), [("40001", 3), ("40P01", 3), ("22012", 1)])
def test_transactions_that_the_database_aborts_are_done_again(postgres, code, tries):
    with Store(postgres) as one:
        tried = []

        def work(connection):
            tried.append(1)
            if len(tried) < 3:
                connection.execute(sa.text(f"DO $$ BEGIN RAISE EXCEPTION SQLSTATE '{code}'; END $$"))
            return 7

        if tries == 1:
            refused(lambda: one.write(work), "cannot be used")
        else:
            assert one.write(work) == 7
        assert len(tried) == tries


@pytest.mark.second("restarts a database server")
@on_postgresql
def test_a_run_goes_on_while_its_database_restarts(postgres, postgres_server):
    spec = spec_of(repeats=2)
    with Store(postgres) as one:
        found, modes = [], ["fast", "immediate"]
        for step in run_stored(one, spec, split_of=split_of):
            found += step.rows
            if modes and len(found) > 9:
                postgres_server.restart(modes.pop())
        same(one.rows(spec), found)
        same(found, rows_of(run_stored(None, spec, split_of=split_of)))
        end = "SELECT pg_terminate_backend(pg_backend_pid())"
        refused(lambda: one.write(lambda connection: connection.execute(sa.text(end)), 0.5), "cannot be used")


# --- what a run is ---


def test_an_invalid_specification_is_one_sentence():
    for changes, said in (
        ({"split": "mine"}, "split is 'mine'"),
        ({"repeats": 0}, "repeats is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"protocol": None}, "protocol is None"),
    ):
        with pytest.raises(ValueError, match=said):
            replace(spec_of(), **changes)


@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY, KernelApproximation(), FeatureComparison()])
def test_a_specification_survives_json(protocol):
    spec = RunSpec(replace(protocol, max_train=np.int64(50)), "toy", "random", 3, 7)
    assert RunSpec.from_json(spec.to_json()) == spec and RunSpec.from_json(spec.to_json()).run_id == spec.run_id
    assert spec.run_id != replace(spec, seed=8).run_id


def test_the_default_store_is_in_the_user_folder_unless_the_environment_names_one(tmp_path, monkeypatch):
    monkeypatch.delenv("RFF_STORE", raising=False)
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name, appauthor: str(tmp_path / name))
    assert default_store() == f"sqlite:///{tmp_path / 'rff' / 'results.sqlite'}"
    monkeypatch.setenv("RFF_STORE", "elsewhere.sqlite")
    assert default_store() == "elsewhere.sqlite"
