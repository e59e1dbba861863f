"""Runs on a Dask cluster give the rows of one process, even if workers die, and leave no process behind."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest
from toy_problems import SMALL_SWEEP, make_split

import datasets
from rff_engine.experiments.running import cluster, same_code
from rff_engine.experiments.running.cluster import run_on_cluster
from rff_engine.experiments.running.executor import Plan
from rff_engine.experiments.running.runner import run, run_repeats
from rff_engine.experiments.running.store import Store
from rff_engine.experiments.studies.protocols import FeatureSweep, LandmarkStudy
from rff_engine.experiments.studies.units import Unit, UnitStep

SWEEP = FeatureSweep(
    gammas=(1e-6, 1e-5, 1e-4),
    n_candidates=3000,
    n_features=(1, 3, 10, 30, 100),
    betas=(0.1, 10.0),
    rhos=(0.01, 1.0),
)
STUDY = LandmarkStudy(gammas=(1e-6, 1e-5, 1e-4), shares=(0.02, 0.05), n_features=(4, 16), betas=(0.1, 10.0))
# Workers start in a second or two; a test that waits longer than this has failed.
pytestmark = pytest.mark.slow("starts worker processes or a Dask cluster")
SECONDS = 60
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def split():
    return datasets.published_split("breast")


def frame_of(steps):
    frame = pd.DataFrame([row for step in steps for row in step.rows]).drop(columns="seconds")
    keys = ["repeat", "method", "landmarks", "share", "D", "beta", "rho"]
    return frame.sort_values(keys).reset_index(drop=True)


def worker_processes():
    """Worker processes started by this process."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def same(frame, other):
    pd.testing.assert_frame_equal(frame, other, check_exact=True)


@pytest.mark.more(after=1)
@pytest.mark.slow("computes two protocols in one process and in two")
@pytest.mark.parametrize("protocol", [SWEEP, STUDY])
def test_two_processes_give_the_rows_of_one(protocol, split):
    expected = frame_of(run(protocol, split, dataset="breast"))
    steps = list(run(protocol, split, dataset="breast", jobs=2))
    same(frame_of(steps), expected)
    done = [step.done for step in steps]
    assert done == sorted(done) and done[-1] == steps[-1].total
    assert worker_processes() == []


@pytest.mark.second("computes three repeats in one process and in two")
def test_parallel_repeats_give_the_rows_of_sequential_ones():
    breast = datasets.load("breast")

    def split_of(seed):
        return datasets.random_split(breast, seed)

    def steps(**where):
        return run_repeats(SWEEP, split_of, 3, dataset="breast", split_name="random", seed=5, **where)

    expected = frame_of(steps())
    assert list(expected["repeat"].unique()) == [0, 1, 2]
    found = list(steps(jobs=2))
    same(frame_of(found), expected)
    assert found[-1].done == found[-1].total == 3


@pytest.mark.second("computes units long enough for a kill between them, in one process and in two")
def test_killed_worker_loses_no_row(split):
    protocol = FeatureSweep(**{**vars(SWEEP), "n_features": (1, 10, 100, 300, 600), "betas": (0.001, 0.01, 0.1, 1.0)})
    expected = frame_of(run(protocol, split, dataset="breast"))
    steps, killed = [], None
    for step in run(protocol, split, dataset="breast", jobs=2):
        steps.append(step)
        if step.rows and killed is None:
            killed = worker_processes()[0].pid
            os.kill(killed, signal.SIGKILL)
    assert killed is not None and sum(bool(step.rows) for step in steps) > 1
    same(frame_of(steps), expected)


@pytest.mark.second("starts two workers and waits for rows of a paper's protocol")
def test_closing_ends_all_processes(split):
    before = dict(os.environ)
    steps = run(FeatureSweep.preset("paper"), split, dataset="breast", jobs=2)
    for step in steps:
        if step.rows:
            break
    assert len(worker_processes()) == 2
    steps.close()
    assert worker_processes() == [] and dict(os.environ) == before


def test_variables_that_dask_leaves_behind_are_restored(monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "5")
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    before = dict(os.environ)
    with cluster._keep_environment():
        os.environ |= {"PYTHONHASHSEED": "6640", "LOKY_MAX_CPU_COUNT": "1", "__DASK_PARENT_PID": "1"}
    assert dict(os.environ) == before


@pytest.mark.second
def test_workers_have_one_thread_and_listen_on_loopback_only(split, monkeypatch):
    for name in cluster._THREADS:  # what the user has set is kept
        monkeypatch.delenv(name, raising=False)
    steps = run(SWEEP, split, dataset="breast", jobs=2)
    next(steps)
    workers = worker_processes()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
        assert [worker.environ()[name] for worker in workers] == ["1", "1"]
    sockets = [socket for process in (psutil.Process(), *workers) for socket in process.net_connections()]
    addresses = {socket.laddr.ip for socket in sockets if socket.status == "LISTEN"}
    steps.close()
    assert addresses == {"127.0.0.1"}


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_missing_scheduler_is_reported_in_one_sentence(address, split, monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    with pytest.raises(ValueError, match="no Dask scheduler answers there") as caught:
        list(run(SWEEP, split, dataset="breast", scheduler=address))
    assert address in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_program_that_is_no_scheduler_is_rejected_in_one_sentence(split, monkeypatch):
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = "tcp://{}:{}".format(*silent.getsockname())
        with pytest.raises(ValueError, match="no Dask scheduler answers there"):
            list(run(SWEEP, split, dataset="breast", scheduler=address))


@pytest.fixture
def dask_command(tmp_path):
    """Start `dask scheduler` or `dask worker` outside of the checkout; they end with the test."""
    with ExitStack() as stack:

        def start(*arguments, python_path=None):
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            environment |= {} if python_path is None else {"PYTHONPATH": str(python_path)}
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield start


def address_in(file):
    """Address of a scheduler, as soon as it has written its file."""
    deadline = time.monotonic() + SECONDS
    while not (file.exists() and file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return json.loads(file.read_text())["address"]


def test_cluster_without_rff_engine_is_rejected_in_one_sentence(dask_command, split, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(same_code, "_WORKER_SECONDS", 0.1)
    local = {"n_workers": 0, "dashboard_address": "127.0.0.1:0", "silence_logs": "CRITICAL"}
    with LocalCluster(**local) as cluster:
        address = cluster.scheduler_address

        def said():
            with pytest.raises(ValueError, match=address) as caught:
                list(run(SWEEP, split, dataset="breast", scheduler=address))
            assert len(str(caught.value).splitlines()) == 1
            return str(caught.value)

        assert "it has no workers: start some" in said()
        dask_command("worker", address, "--nthreads", "1", "--no-nanny")
        monkeypatch.setattr(same_code, "_WORKER_SECONDS", SECONDS)
        assert "its worker tcp://" in (sentence := said())
        assert "cannot import rff_engine (No module named 'rff_engine'): start scheduler and workers with" in sentence


@pytest.mark.second
def test_workers_import_the_code_by_PYTHONPATH(dask_command, split, tmp_path, monkeypatch):
    monkeypatch.setattr(same_code, "_WORKER_SECONDS", SECONDS)
    file = tmp_path / "scheduler.json"
    where = ("--scheduler-file", str(file))
    dask_command("scheduler", "--host", "127.0.0.1", "--port", "0", *where, python_path=ROOT)
    dask_command("worker", *where, "--nthreads", "1", "--no-nanny", python_path=ROOT)
    address = address_in(file)
    protocol = FeatureSweep(gammas=(1e-5,), methods=("svm",))
    found = frame_of(run(protocol, split, dataset="breast", scheduler=address))
    same(found, frame_of(run(protocol, split, dataset="breast")))


@pytest.mark.second("starts a scheduler and two workers, one of them of a copy of the engine")
def test_worker_of_other_code_that_joins_late_computes_no_row(dask_command, tmp_path, monkeypatch):
    from distributed import Client

    other = tmp_path / "other"
    shutil.copytree(ROOT / "rff_engine", other / "rff_engine", ignore=shutil.ignore_patterns("__pycache__"))
    kernel = other / "rff_engine/experiments/studies/problem.py"
    kernel.write_text(kernel.read_text().replace("from_gamma(self.gamma)", "from_gamma(1.5 * self.gamma)"))
    monkeypatch.setattr(same_code, "_WORKER_SECONDS", SECONDS)
    where = ("--scheduler-file", str(tmp_path / "scheduler.json"))
    dask_command("scheduler", "--host", "127.0.0.1", "--port", "0", *where, python_path=ROOT)
    dask_command("worker", *where, "--nthreads", "1", "--no-nanny", python_path=ROOT)
    address = address_in(tmp_path / "scheduler.json")
    steps = run(SMALL_SWEEP, make_split(), dataset="toy", scheduler=address)
    found = [next(steps)]
    dask_command("worker", *where, "--nthreads", "1", "--no-nanny", python_path=other)
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=SECONDS)
    found += steps
    assert any("1 Dask worker was refused for other code" in step.message for step in found)
    same(frame_of(found), frame_of(run(SMALL_SWEEP, make_split(), dataset="toy")))


@pytest.mark.parametrize(
    ("scheduler", "worker", "said"),
    [
        (
            "rff_engine 0.0.9 (files 0)",
            None,
            r"its scheduler has rff_engine 0\.0\.9 \(files 0\), here it is rff_engine \d.*, numpy \d.*: start",
        ),
        (None, "rff_engine 0.0.9 (files 0)", r"its worker tcp://w has rff_engine 0\.0\.9"),
        (ImportError("No module\nnamed sklearn"), None, r"its scheduler cannot import rff_engine \(No module named sk"),
        (time.sleep, None, r"its scheduler does not answer within 0\.2 s\.$"),
        (None, time.sleep, r"one of its workers does not answer within 0\.2 s\.$"),
        (None, None, None),
    ],
)
def test_other_code_or_no_answer_is_reported_in_one_sentence(scheduler, worker, said, monkeypatch):
    monkeypatch.setattr(same_code, "_IMPORT_SECONDS", 0.2)

    def answer(what, code):
        if what is time.sleep:
            time.sleep(1)
        return code() if what is None else what

    client = SimpleNamespace(
        wait_for_workers=lambda n, timeout: None,
        run_on_scheduler=lambda code: answer(scheduler, code),
        run=lambda code, on_error: {"tcp://w": answer(worker, code)},
    )
    with pytest.raises(ValueError, match=said) if said else nullcontext() as caught:
        same_code.check_code(client, "tcp://s")
    assert said is None or len(str(caught.value).splitlines()) == 1


@pytest.fixture
def other_cluster():
    """An external cluster: one worker process of two threads, without the settings of a local cluster."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0", memory_limit=None, silence_logs="CRITICAL"
    ) as made:
        yield made


@pytest.mark.second
def test_external_cluster_gives_the_same_rows(other_cluster, split):
    address = other_cluster.scheduler_address
    for protocol in (SWEEP, STUDY):
        expected = frame_of(run(protocol, split, dataset="breast"))
        same(frame_of(run(protocol, split, dataset="breast", scheduler=address)), expected)
    assert len(worker_processes()) == 1  # it goes on


@pytest.mark.second
def test_units_that_dask_has_lost_are_submitted_again(other_cluster, monkeypatch):
    from distributed import Client, Future

    submit, lost = Client.submit, []

    def submit_or_lose(client, function, *arguments, **options):
        if function is cluster.do and len(lost) < 3:
            lost.append(Future(options["key"], client))  # the scheduler knows its name and computes nothing
            return lost[-1]
        return submit(client, function, *arguments, **options)

    monkeypatch.setattr(Client, "submit", submit_or_lose)
    monkeypatch.setattr(cluster, "_IDLE_POLLS", 1)
    found = list(run(SMALL_SWEEP, make_split(), dataset="toy", scheduler=other_cluster.scheduler_address))
    assert len(lost) == 3
    same(frame_of(found), frame_of(run(SMALL_SWEEP, make_split(), dataset="toy")))


@pytest.mark.second
def test_cancelled_unit_stops_between_two_steps(other_cluster, split):
    from distributed import Client

    steps = run(FeatureSweep.preset("paper"), split, dataset="breast", scheduler=other_cluster.scheduler_address)
    for step in steps:
        if step.rows:
            break
    steps.close()

    def tasks(dask_worker):
        return len(dask_worker.state.tasks)

    deadline = time.monotonic() + 10  # the running units would take twice that
    with Client(other_cluster, set_as_default=False) as client:
        while (left := sum(client.run(tasks).values())) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert left == 0


@pytest.mark.second
def test_error_in_a_unit_is_raised_unchanged():
    def fail(problem, wanted):
        yield [{"D": 1}]
        raise ValueError(f"{problem} is 3; it must be another.")

    def wait(problem, wanted):
        yield []
        time.sleep(10 * SECONDS)

    def steps(name):
        return UnitStep("one", 1.0), UnitStep("two", 1.0, {"method": name})

    units = [Unit(work.__name__, work, ("problem",), steps(work.__name__)) for work in (wait, fail)]
    start = time.monotonic()
    with pytest.raises(ValueError, match=r"^this is 3; it must be another\.$"):
        list(run_on_cluster(iter([Plan("this", units)]), 2, None))
    assert worker_processes() == [] and time.monotonic() - start < 5 * SECONDS  # running units are not waited for


@pytest.mark.second
def test_lost_scheduler_is_reported_in_one_sentence(split):
    from distributed import LocalCluster

    cluster = LocalCluster(n_workers=1, dashboard_address="127.0.0.1:0", memory_limit=None, silence_logs="CRITICAL")
    steps = run(FeatureSweep.preset("paper"), split, dataset="breast", scheduler=cluster.scheduler_address)
    closing = threading.Timer(0.5, cluster.close)
    try:
        next(steps)
        closing.start()
        with pytest.raises(ConnectionError, match="scheduler was lost"):
            list(steps)
        closing.join()  # a cluster cannot be closed by two threads at once
    finally:
        steps.close()
        cluster.close()


def test_scheduler_lost_during_a_request_is_reported_in_one_sentence():
    from distributed.comm import CommClosedError

    class Lost:
        def nthreads(self):
            raise CommClosedError("in <TCP (closed)>: Stream is closed")

    with pytest.raises(ConnectionError, match=r"^The Dask scheduler was lost, and the units it was running\.$"):
        cluster._threads_of_workers(Lost())


@pytest.mark.second
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_interrupt_from_a_terminal_keeps_known_rows(tmp_path):
    """Ctrl-C reaches the workers as well; one line is printed, and they end too."""
    url = tmp_path / "results.sqlite"
    command = [sys.executable, "-m", "rff_engine", "run", "features", "--dataset", "breast", "--preset", "paper"]
    process = subprocess.Popen(
        [*command, "--jobs", "2", "--store", str(url)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline, known = time.monotonic() + SECONDS, 0
    while known < 5 and time.monotonic() < deadline:
        time.sleep(0.2)
        if url.exists():
            with Store(url) as store:
                known = sum(info.n_rows for info in store.runs())
    workers = [child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())]
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=SECONDS)
    assert process.returncode == 130 and "are kept; the same command goes on" in error.splitlines()[-1]
    assert "Traceback" not in error
    with Store(url) as store:
        assert store.runs()[0].n_rows >= known >= 5
    assert len(workers) == 2 and not psutil.wait_procs(workers, timeout=10)[1]


@pytest.mark.second
def test_dask_is_not_imported_without_need():
    code = (
        "import sys, rff_engine.experiments.command_line as _; sys.exit(bool({'dask', 'distributed'} & {*sys.modules}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
