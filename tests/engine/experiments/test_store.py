"""The store: no row is computed twice or lost, even if processes die."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import platformdirs
import psutil
import pytest
import sqlalchemy as sa
from toy_problems import SMALL_STUDY, SMALL_SWEEP, make_split

from rff_engine.experiments.reports.html import provenance
from rff_engine.experiments.running import executor, leases, schema
from rff_engine.experiments.running.leases import RunLease
from rff_engine.experiments.running.runner import run_repeats, run_stored
from rff_engine.experiments.running.store import Store, StoreError, default_store
from rff_engine.experiments.studies.protocols import RunSpec
from tests import databases

url = databases.url


def split_of(seed):
    return make_split(seed=seed)


def one_split(seed):
    return make_split()


@pytest.fixture
def kept(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        yield store


@pytest.fixture
def either(url):
    with Store(url) as store:
        yield store


on_postgresql = pytest.mark.xdist_group("postgres")  # one server for all of them


def spec_of(protocol=SMALL_SWEEP, **changes):
    return RunSpec(protocol, "toy", **changes)


def frame(rows):
    return pd.DataFrame(rows).drop(columns=["seconds", "run"])


def rows_of(steps):
    return [row for step in steps for row in step.rows]


def same(frame, other):
    pd.testing.assert_frame_equal(frame, other, check_exact=True)


def direct(protocol, repeats=1, split_of=one_split, split_name="published", seed=0):
    return run_repeats(protocol, split_of, repeats, dataset="toy", split_name=split_name, seed=seed)


def in_order(rows):
    columns = ["repeat", "method", "landmarks", "share", "beta", "rho", "D"]
    return frame(rows).sort_values(columns).reset_index(drop=True)


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_stored_run_equals_direct_run_and_is_not_recomputed(either, protocol):
    spec = spec_of(protocol, repeats=2)
    first = list(run_stored(either, spec, split_of=split_of))
    assert first[-1].done == first[-1].total == 2
    same(in_order(either.rows(spec)), in_order(rows_of(direct(protocol, 2, split_of))))
    same(in_order(either.rows(spec)), in_order(rows_of(first)))
    again = list(run_stored(either, spec, split_of=split_of))
    assert rows_of(again) == [] and again[-1].done == 2
    (info,) = either.runs()
    assert info.finished and info.spec == spec and info.n_rows == info.n_planned == len(rows_of(first))
    assert info.seconds > 0 and "numpy" in either.provenance(spec)[0]


@pytest.mark.more(after=1)
@pytest.mark.slow
def test_run_that_reuses_rows_names_the_run_that_computed_them(either):
    first = spec_of(SMALL_SWEEP)
    coarser = spec_of(replace(SMALL_SWEEP, betas=SMALL_SWEEP.betas[:1]))
    other = spec_of(SMALL_STUDY, seed=1)
    for spec in (first, other):
        list(run_stored(either, spec, split_of=split_of))
    assert rows_of(run_stored(either, coarser, split_of=split_of)) == []
    assert [info.id for info in either.relatives(coarser)] == [first.run_id]
    assert either.relatives(other) == []
    assert list(provenance(either, [coarser])["run"]) == [coarser.run_id, first.run_id]


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_stopped_run_resumes_to_the_same_rows(kept, protocol):
    spec = spec_of(protocol)
    expected = in_order(rows_of(direct(protocol)))
    computed, stops = [], 0
    while not (kept.runs() and kept.runs()[0].finished):
        steps = run_stored(kept, spec, split_of=one_split)
        for step in steps:
            computed += step.rows
            if step.rows and len(computed) % 3 == 0:
                break
        steps.close()
        stops += 1
    assert stops > 4 and len(computed) == len(expected)  # no row is computed twice
    same(in_order(kept.rows(spec)), expected)


@pytest.mark.more(after=1)
@pytest.mark.slow
def test_the_order_of_a_stored_run_is_that_of_its_grid(either):
    spec = spec_of()
    list(run_stored(either, spec, split_of=one_split))
    rows = pd.DataFrame(either.rows(spec))
    assert list(rows["method"].unique()) == ["svm", "rff", "pbrff", "okrff"]
    learned = rows[rows["method"] == "pbrff"]
    assert list(zip(learned["beta"], learned["D"], strict=True)) == [
        (beta, D) for beta in SMALL_SWEEP.betas for D in SMALL_SWEEP.n_features
    ]


@pytest.mark.second
def test_runs_share_rows_that_are_computed_from_the_same(kept):
    list(run_stored(kept, spec_of(), split_of=one_split))
    larger = replace(SMALL_SWEEP, n_features=(1, 3, 10, 20), betas=(0.1, 1.0, 10.0))
    new = rows_of(run_stored(kept, spec_of(larger), split_of=one_split))
    assert all(row["D"] == 20 or row["beta"] == 1.0 for row in new) and len(new) == 9
    same(in_order(kept.rows(spec_of(larger))), in_order(rows_of(direct(larger))))
    # The third repeat from seed 0 is the first from seed 2.
    list(run_stored(kept, spec_of(repeats=3), split_of=split_of))
    steps = list(run_stored(kept, spec_of(seed=2), split_of=split_of))
    assert rows_of(steps) == [] and {row["repeat"] for row in kept.rows(spec_of(seed=2))} == {0}


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{"n_candidates": 301}, {"precision": "float64"}, {"Cs": (0.01, 1.0)}, {"gamma": 0.1}, {"max_train": 50}],
)
def test_fields_that_affect_a_row_affect_its_key(kept, changes):
    list(run_stored(kept, spec_of(), split_of=one_split))
    other = replace(SMALL_SWEEP, **changes)
    new = {row["method"] for row in rows_of(run_stored(kept, spec_of(other), split_of=one_split))}
    unchanged = {"n_candidates": {"svm", "rff"}, "precision": {"svm"}}.get(next(iter(changes)), set())
    assert new == set(SMALL_SWEEP.methods) - unchanged


@pytest.mark.slow
def test_other_data_or_another_seed_are_other_rows(kept):
    list(run_stored(kept, spec_of(), split_of=one_split))
    moved = make_split()
    moved.X_test = moved.X_test + 1e-12
    assert rows_of(run_stored(kept, replace(spec_of(), dataset="other"), split_of=lambda seed: moved))
    assert rows_of(run_stored(kept, spec_of(seed=1), split_of=one_split))
    assert not rows_of(
        run_stored(kept, replace(spec_of(), dataset="third"), split_of=one_split)
    )  # the name does not affect the key


def test_gamma_is_kept_where_the_baseline_is_not_among_the_methods(kept):
    spec = spec_of(replace(SMALL_SWEEP, methods=("rff",)))
    steps = run_stored(kept, spec, split_of=one_split)
    for step in steps:
        if step.rows:
            break
    steps.close()
    messages = [step.message for step in run_stored(kept, spec, split_of=one_split)]
    assert not any(message.startswith("SVM: gamma") for message in messages)
    rows = kept.rows(spec)
    assert {row["method"] for row in rows} == {"rff"} and len(rows) == 3


def at_once(*works):
    """Values of functions called at the same time, one in each thread."""
    ready = threading.Barrier(len(works))

    def begin(work):
        ready.wait(timeout=60)
        return work()

    with ThreadPoolExecutor(len(works)) as threads:
        return [future.result(timeout=120) for future in [threads.submit(begin, work) for work in works]]


@pytest.mark.more(after=1)
@pytest.mark.slow
def test_two_runners_compute_every_row_once(url):
    """A stopped run has left rows before; two processes also create the tables at once.

    Each runner waits at its first row for the other's, so that both compute, however slow one of them begins.
    """
    spec = spec_of(SMALL_STUDY, repeats=3)
    both_compute = threading.Barrier(2)

    def work(rows=None):
        mine = []
        with Store(url) as own:
            steps = run_stored(own, spec, split_of=split_of)
            for step in steps:
                if rows is None and step.rows and not mine:
                    both_compute.wait(timeout=60)
                mine += step.rows
                if rows is not None and len(mine) >= rows:
                    break
            steps.close()
        return mine

    at_once(*[lambda: Store(url).close()] * 2)
    computed = [work(rows=5), *at_once(work, work)]
    with Store(url) as kept:
        rows = kept.rows(spec)
        assert kept.runs()[0].finished
    assert sum(map(len, computed)) == len(rows) and len(computed[0]) == 5 and min(map(len, computed)) > 0
    same(in_order(rows), in_order(rows_of(direct(SMALL_STUDY, 3, split_of))))


ROWS = [{"method": "rff", "D": D} for D in range(1, 11)]
SLOW_CLAIMS = """
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.03); RETURN NEW; END';
CREATE TRIGGER slow BEFORE INSERT ON rff_claims FOR EACH ROW EXECUTE FUNCTION wait()
"""
REFUSED_CLAIMS = """
CREATE SEQUENCE refused;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('refused') <= {times} THEN RAISE EXCEPTION 'blocked, locked and full' USING ERRCODE = '{code}'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refused BEFORE INSERT ON rff_claims FOR EACH STATEMENT EXECUTE FUNCTION refuse()
"""


@on_postgresql
def test_claims_in_opposite_orders_do_not_deadlock(postgres, monkeypatch):
    """Slow insertions overlap; the victim of a deadlock would not try again."""
    monkeypatch.setattr(schema, "_MAX_TRIES", 1)
    with Store(postgres) as one, Store(postgres) as other:
        with one._engine.begin() as connection:
            connection.exec_driver_sql(SLOW_CLAIMS)
        with RunLease(one, spec_of()) as first, RunLease(other, spec_of()) as second:
            claims = [lease.claims("digest", 0, ROWS) for lease in (first, second)]
            orders = ROWS, sorted(ROWS, key=claims[0].key_of), sorted(ROWS, key=claims[0].key_of, reverse=True)
            for order in orders:
                taken = at_once(lambda: claims[0].claim(ROWS), lambda: claims[1].claim(order))  # noqa: B023
                assert sorted(row["D"] for mine in taken for row in mine) == list(range(1, 11))
                with one._engine.begin() as connection:
                    connection.execute(sa.delete(schema.claims))


@on_postgresql
@pytest.mark.parametrize(
    ("code", "times", "tries", "said"),
    [
        ("40P01", 2, 3, None),  # the victim of a deadlock
        ("40001", 2, 3, None),  # of transactions that cannot be serialized
        ("40P01", 99, 4, "aborted a change 4 times"),
        ("53100", 99, 1, "its disk is full or broken"),
        ("P0001", 99, 1, "cannot be used: blocked, locked and full"),  # the message does not matter
    ],
)
def test_database_errors_are_identified_by_code(postgres, monkeypatch, code, times, tries, said):
    monkeypatch.setattr(schema, "_MAX_TRIES", 4)
    monkeypatch.setattr(schema, "_MAX_SECONDS_BETWEEN_TRIES", 0.01)
    with Store(postgres) as kept, RunLease(kept, spec_of()) as lease:
        with kept._engine.begin() as connection:
            connection.exec_driver_sql(REFUSED_CLAIMS.format(code=code, times=times))
        claims = lease.claims("digest", 0, ROWS)
        if said is None:
            assert claims.claim(ROWS) == ROWS
        else:
            with pytest.raises(StoreError, match=said) as caught:
                claims.claim(ROWS)
            assert len(str(caught.value).splitlines()) == 1
        tried = kept.read(lambda connection: connection.exec_driver_sql("SELECT last_value FROM refused").scalar())
        assert tried == tries


def test_locked_file_is_reported_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "_BUSY_SECONDS", 0.1)
    file = tmp_path / "results.sqlite"
    with Store(file) as kept, sqlite3.connect(file, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"has been locked by another program for 0\.1 s\.$"):
            RunLease(kept, spec_of())


def test_an_interrupted_transaction_does_not_block_the_end_of_its_lease(tmp_path, monkeypatch):
    """Ctrl-C between the begin of a transaction and the block that ends it, as the traceback keeps it."""
    monkeypatch.setattr(schema, "_BUSY_SECONDS", 0.5)

    def begin():
        transaction = kept._engine.execution_options(writes=True).begin()
        transaction.__enter__()
        raise KeyboardInterrupt

    with Store(tmp_path / "results.sqlite") as kept:
        with pytest.raises(KeyboardInterrupt), RunLease(kept, spec_of()):
            begin()
        assert kept.read(lambda connection: connection.execute(sa.select(schema.runners)).all()) == []


def test_opening_a_file_waits_while_another_process_switches_its_log():
    """SQLite refuses to switch its log while another does, without waiting."""
    busy = [sqlite3.OperationalError("database is locked") for _ in range(2)]
    for error in busy:
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    asked = []

    def execute(statement):
        asked.append(statement)
        if busy:
            raise busy.pop()

    schema._use_wal(SimpleNamespace(execute=execute))
    assert asked == ["PRAGMA journal_mode = WAL"] * 3


@pytest.mark.slow
def test_only_their_owner_can_claim_rows_again(either):
    with RunLease(either, spec_of()) as first, RunLease(either, spec_of()) as second:
        claims = [lease.claims("digest", 0, ROWS) for lease in (first, second)]
        assert claims[0].claim(ROWS[:6]) == ROWS[:6]
        assert claims[1].claim(ROWS[3:]) == ROWS[6:]
        assert claims[0].claim(ROWS) == ROWS[:6] and claims[1].claim(ROWS) == ROWS[6:]


@pytest.mark.more(after=1)
@pytest.mark.slow
def test_database_needs_no_upsert(either, monkeypatch):
    """Tested with dialects that have more; existing entries stay unchanged."""
    monkeypatch.setattr(schema, "_WITH_ON_CONFLICT", ())
    list(run_stored(either, spec_of(), split_of=one_split))
    with RunLease(either, spec_of()) as lease:
        other = lease.claims("digest", 0, ROWS)
        other.keep(rows_of(direct(replace(SMALL_SWEEP, methods=("svm",)))) * 2)
        assert other.claim(ROWS) == ROWS == other.claim(ROWS)
    same(in_order(either.rows(spec_of())), in_order(rows_of(direct(SMALL_SWEEP))))


def test_database_server_that_does_not_answer_is_reported_in_one_sentence():
    with pytest.raises(StoreError, match="cannot be used") as caught:
        Store("postgresql+psycopg://rff:secret@127.0.0.1:9/none")
    assert len(str(caught.value).splitlines()) == 1 and "secret" not in str(caught.value)


# Forks a process for each line of standard input; prints its id and its exit code.
RUN_TOY = """
import os, sys
sys.path.insert(0, {folder!r})
from test_store import SMALL_STUDY, SMALL_SWEEP, spec_of, split_of
from rff_engine.experiments.running.runner import run_stored
from rff_engine.experiments.running.store import Store
for _ in sys.stdin:
    process = os.fork()
    if process == 0:
        failed = 1
        try:
            with Store({url!r}) as kept:
                for step in run_stored(kept, spec_of({protocol}, repeats=3), split_of=split_of):
                    pass
            failed = 0
        finally:
            os._exit(failed)
    print(process, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@pytest.mark.second
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals and forks")
@pytest.mark.parametrize(("protocol", "kills"), [("SMALL_SWEEP", 10), ("SMALL_STUDY", 4)])
def test_killed_run_resumes_to_the_same_rows(kept, protocol, kills):
    """After several kill -9 no row is lost or duplicated."""
    code = RUN_TOY.format(folder=os.path.dirname(__file__), url=kept.name, protocol=protocol)
    rng, killed = np.random.default_rng(0), 0
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as parent:

        def start() -> int:
            parent.stdin.write("\n")
            return int(parent.stdout.readline())

        while killed < kills and not any(info.finished for info in kept.runs()):
            before, process, deadline = kept.runs(), start(), time.monotonic() + 60
            while [info.n_rows for info in kept.runs()] == [info.n_rows for info in before]:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.05))
            with suppress(ProcessLookupError):  # the run may have finished already
                os.kill(process, signal.SIGKILL)
            killed += int(parent.stdout.readline()) == -signal.SIGKILL
        assert killed > 2
        start()
        assert int(parent.stdout.readline()) == 0
    spec = spec_of({"SMALL_SWEEP": SMALL_SWEEP, "SMALL_STUDY": SMALL_STUDY}[protocol], repeats=3)
    assert kept.runs()[0].finished
    same(in_order(kept.rows(spec)), in_order(rows_of(direct(spec.protocol, 3, split_of))))


@pytest.mark.more(after=1)
@pytest.mark.slow
def test_only_claims_of_dead_runners_are_void(either, monkeypatch):
    monkeypatch.setattr(executor, "_WAITING_SECONDS", 0.01)
    spec = spec_of()
    first = run_stored(either, spec, split_of=one_split)
    while not next(first).rows:
        pass  # it has the row of the SVM, and claims no other yet
    next(first)  # now it claims the first group
    second = run_stored(either, spec, split_of=one_split)
    assert [next(second).message for _ in range(12)][-1] == executor.WAITING
    claimed = sa.select(schema.claims.c.runner)
    with either._engine.begin() as raw:  # as if it had been killed
        raw.execute(sa.update(schema.runners).where(schema.runners.c.id.in_(claimed)).values(process=2**22 + 1))
    assert not psutil.pid_exists(2**22 + 1)
    rows = [row for step in second for row in step.rows]
    assert len(rows) == len(either.rows(spec)) - 1
    first.close()


def test_runner_of_another_machine_is_alive_while_its_heartbeats_change(kept, monkeypatch):
    """By the local monotonic clock; the remote time of day does not matter."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(leases, "time", SimpleNamespace(time=time.time, monotonic=lambda: clock.now))
    monkeypatch.setattr(leases, "_heartbeats", {})
    other = SimpleNamespace(id="other", machine="elsewhere", process=1, born=0.0, heard_of=0.0)
    for heard_of in (0.0, 1.0, -1e6, 2e9):  # a clock that is wrong, and one that jumps
        other.heard_of = heard_of
        assert leases._is_alive(other)
        clock.now += leases._SILENT_SECONDS - 1
        assert leases._is_alive(other)
    clock.now += 1
    assert not leases._is_alive(other)


def test_run_time_includes_steps_without_rows(kept, monkeypatch):
    clock = iter(range(10**6))
    monkeypatch.setattr(leases, "time", SimpleNamespace(time=time.time, monotonic=lambda: float(next(clock))))
    spec = spec_of()
    with RunLease(kept, spec) as lease:
        claims = lease.claims("digest", 0, [{"method": "svm"}])
        row = rows_of(direct(replace(SMALL_SWEEP, methods=("svm",))))[0]
        for _ in range(5):
            claims.keep([])
        asked = next(clock)  # nothing has been counted in between
        claims.keep([row])
    assert asked == 1 and kept.find(spec).seconds == 2.0


@pytest.mark.slow
def test_finished_run_leaves_no_lease_or_claim(either):
    list(run_stored(either, spec_of(), split_of=one_split))
    for table in (schema.runners, schema.claims):
        count = sa.select(sa.func.count()).select_from(table)
        assert either.read(lambda connection: connection.scalar(count)) == 0  # noqa: B023


@pytest.mark.slow
def test_a_run_is_found_by_the_beginning_of_its_name(either):
    for seed in (0, 1):
        list(run_stored(either, spec_of(replace(SMALL_SWEEP, methods=("svm",)), seed=seed), split_of=one_split))
    ids = [info.id for info in either.runs()]
    assert either.run(ids[0]).run_id == either.run(ids[0][:-1]).run_id == ids[0]
    with pytest.raises(ValueError, match=r"beginning of .*, "):
        either.run("features-toy")
    with pytest.raises(ValueError, match="no such run: known are"):
        either.run("landmarks")


def test_file_that_is_no_store_is_rejected_unchanged(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("These are my notes, and no database. " * 100)
    for read_only in (False, True):
        with pytest.raises(StoreError, match="not a store of results: file is not a database") as caught:
            Store(file, read_only=read_only)
        assert len(str(caught.value).splitlines()) == 1
    assert file.read_text() == "These are my notes, and no database. " * 100


@pytest.mark.parametrize("url", ["nonsense://here", "sqlite+nonsense:///x", "http://"])
def test_invalid_url_is_rejected_in_one_sentence(url):
    with pytest.raises(StoreError, match="it must be a file, or a URL such as"):
        Store(url)


@pytest.mark.slow
def test_tables_that_another_version_changes_meanwhile_end_the_run(either):
    row = rows_of(direct(replace(SMALL_SWEEP, methods=("svm",))))[:1]
    with RunLease(either, spec_of()) as lease:
        claims = lease.claims("digest", 0, ROWS)
        either.write(lambda connection: connection.execute(sa.text("UPDATE rff_about SET version = 99")))
        for change in (claims.claim, claims.keep):
            with pytest.raises(StoreError, match="version 99; this program reads version 1"):
                change(row)
    assert either.rows_by_key([claims.key_of(row[0])]) == {}


def test_a_run_leaves_the_patience_of_a_store_as_it_was(kept):
    with RunLease(kept, spec_of()) as first, RunLease(kept, spec_of()) as second:
        assert first.store.patience == second.store.patience == leases._PATIENCE_SECONDS
        assert kept.patience == Store.patience
    assert kept.patience == Store.patience


def test_store_of_another_version_is_rejected(tmp_path):
    file = tmp_path / "results.sqlite"
    Store(file).close()
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE rff_about SET version = 99")
    with pytest.raises(StoreError, match="version 99; this program reads version 1"):
        Store(file)


@pytest.mark.second
def test_full_disk_is_reported_in_one_sentence_and_rows_are_kept(tmp_path):
    file = tmp_path / "results.sqlite"
    full = Store(file)
    spec = spec_of(repeats=20)
    room = full.read(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar()) + 4

    @sa.event.listens_for(full._engine, "begin")
    def no_more_room(connection):
        connection.exec_driver_sql(f"PRAGMA max_page_count = {room}")

    rows = []
    with pytest.raises(StoreError, match=r"its disk is full or broken.*rows known so far are kept") as caught:
        for step in run_stored(full, spec, split_of=split_of):
            rows += step.rows
    assert len(str(caught.value).splitlines()) == 1
    full.close()
    with Store(file) as kept:
        same(in_order(kept.rows(spec)), in_order(rows))
        new = rows_of(run_stored(kept, spec, split_of=split_of))
        assert kept.runs()[0].finished and len(kept.rows(spec)) == len(rows) + len(new)


@pytest.mark.slow
def test_read_only_store_is_not_changed(tmp_path):
    file = tmp_path / "results.sqlite"
    with Store(file) as kept:
        list(run_stored(kept, spec_of(), split_of=one_split))
        expected = kept.rows(spec_of())
    before = file.read_bytes(), sorted(os.listdir(tmp_path))
    file.chmod(0o444)
    with Store(file, read_only=True) as kept:
        assert kept.rows(spec_of()) == expected
        with ThreadPoolExecutor(3) as threads:  # as those of a server
            assert list(threads.map(lambda _: kept.rows(spec_of()), range(9))) == [expected] * 9
    assert (file.read_bytes(), sorted(os.listdir(tmp_path))) == before
    with pytest.raises(StoreError, match="There is no store at"):
        Store(tmp_path / "other.sqlite", read_only=True)


def test_invalid_specification_is_rejected_in_one_sentence():
    for changes, said in (
        ({"split": "mine"}, "split is 'mine'"),
        ({"repeats": 0}, "repeats is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"protocol": None}, "protocol is None"),
    ):
        with pytest.raises(ValueError, match=said):
            replace(spec_of(), **changes)


@pytest.mark.parametrize("protocol", [SMALL_SWEEP, SMALL_STUDY])
def test_specification_survives_json(protocol):
    spec = RunSpec(replace(protocol, max_train=np.int64(50)), "toy", "random", 3, 7)
    assert RunSpec.from_json(spec.to_json()) == spec and RunSpec.from_json(spec.to_json()).run_id == spec.run_id
    assert spec.run_id != replace(spec, seed=8).run_id


def test_default_store_is_in_the_user_folder_unless_the_environment_names_one(tmp_path, monkeypatch):
    monkeypatch.delenv("RFF_STORE", raising=False)
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name, appauthor: str(tmp_path / name))
    assert default_store() == f"sqlite:///{tmp_path / 'rff' / 'results.sqlite'}"
    monkeypatch.setenv("RFF_STORE", "elsewhere.sqlite")
    assert default_store() == "elsewhere.sqlite"
