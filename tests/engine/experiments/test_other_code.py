"""Rows of a cluster are computed by workers that have the code of the process that started the run."""

import sqlite3
from concurrent.futures import CancelledError
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import rff_engine as rff
from rff_engine.experiments.running import cluster, same_code, worker
from rff_engine.experiments.running.cluster_losses import alignment_loss_on_cluster
from rff_engine.experiments.running.executor import Plan
from rff_engine.experiments.running.same_code import CODE
from rff_engine.experiments.running.store import Store, maker_id
from rff_engine.experiments.running.worker import Done, OtherCode
from rff_engine.experiments.studies.units import Unit, UnitStep

FIT, OTHER = "tcp://fit", "tcp://other"


class Future:
    """A finished or failed future."""

    def __init__(self, key, result=None, error=None, failed_on=()):
        self.key, self._result, self._error, self.failed_on = key, result, error, failed_on
        cancelled = isinstance(error, CancelledError)
        self.status = "cancelled" if cancelled else "finished" if error is None else "error"

    def result(self):
        if self._error is not None:
            raise self._error
        return self._result

    def add_done_callback(self, function):
        function(self)


class Client:
    """A cluster that computes each task when it is submitted, on the first of the workers that are asked for.

    `trouble` has functions from a task's key, and whether it is a unit, to an error that befalls it.
    """

    status = "running"

    def __init__(self, *workers, trouble=()):
        self.workers, self.trouble, self.tasks = dict.fromkeys(workers, 1), list(trouble), {}
        self.submitted = []

    def nthreads(self):
        return dict(self.workers)

    def subscribe_topic(self, topic, handler):
        self.log_event = lambda topic, event: handler((0.0, event))

    def get_current_task(self):
        return self.key

    def as_current(self):
        return nullcontext()

    def cancel(self, futures):
        self.cancelled = futures

    def run_on_scheduler(self, function):
        def task(future):
            return SimpleNamespace(exception_blame=SimpleNamespace(erred_on=future.failed_on))

        return function(SimpleNamespace(tasks={key: task(future) for key, future in self.tasks.items()}))

    @property
    def state(self):
        return SimpleNamespace(tasks={self.key: SimpleNamespace(state="executing")})

    def submit(self, function, code, *arguments, workers, allow_other_workers, key=None, pure=False):
        key = key or f"block {len(self.tasks)}"
        self.submitted.append((key, workers[0]))
        self.tasks[key] = self._future(function, code, arguments, key, workers[0])
        return self.tasks[key]

    def _future(self, function, code, arguments, key, where):
        failed = next((a for a in arguments if isinstance(a, Future) and a.status != "finished"), None)
        if failed is not None:
            return Future(key, error=failed._error, failed_on=failed.failed_on)
        if where == OTHER:
            code = "other code"  # what the worker has, and the unit has not
        self.key = key
        try:
            result = function(code, *(a.result() if isinstance(a, Future) else a for a in arguments))
            if self.trouble and (error := self.trouble[0](function)):
                del self.trouble[0]
                raise error
        except Exception as error:
            return Future(key, error=error, failed_on=(where,))
        return Future(key, result)


def rows_of_unit(problem, wanted):
    for row in wanted:
        yield [row | {"value": problem + row["D"]}]


def value_of_unit(problem):
    yield []
    return problem


def plan(n_units=3):
    def unit(name):
        steps = tuple(UnitStep(f"{name} {D}", 1.0, {"method": name, "D": D}) for D in (1, 2))
        return Unit(name, rows_of_unit, ("value",), steps)

    value = Unit("value", value_of_unit, ("problem",), (UnitStep("value", 1.0),))
    return Plan(10, [value, *(unit(f"u{i}") for i in range(n_units))])


EXPECTED = [{"method": f"u{i}", "D": D, "value": 10 + D} for i in range(3) for D in (1, 2)]


@pytest.fixture
def reports(monkeypatch):
    """Run a plan on a client; return its rows in order, and its messages."""

    def run(client):
        monkeypatch.setattr(worker, "get_worker", lambda: client)
        monkeypatch.setattr(worker, "hold_threads", lambda: None)
        found = list(cluster._Running(cluster.Workers(client, set()), iter([plan()])).reports())
        rows = [row for report in found for row in report.rows]
        return sorted(rows, key=lambda row: (row["method"], row["D"])), [report.message for report in found]

    return run


@pytest.mark.parametrize("compute", [partial(worker.do, "other", None, ""), partial(worker.unpack, "other", b"")])
def test_worker_refuses_a_unit_of_other_code(compute):
    with pytest.raises(OtherCode, match=r"this worker has rff_engine"):
        compute()


def test_worker_refuses_a_value_that_other_code_computed():
    with pytest.raises(OtherCode):
        worker.do(CODE, rows_of_unit, "", Done([], 1, "other"))


def test_refused_units_are_computed_by_workers_of_the_same_code(reports):
    rows, messages = reports(client := Client(OTHER, FIT))
    assert rows == EXPECTED
    refusals = [message for message in messages if "refused" in message]
    assert len(refusals) == 1 and refusals[0].startswith("1 Dask worker was refused for other code than rff_engine")
    assert len([1 for key, where in client.submitted if where == OTHER]) == 2  # the problem and one unit


@pytest.mark.parametrize("error", [CancelledError(), ImportError("No module named 'rff_engine'"), OSError("lost")])
@pytest.mark.parametrize("where", [worker.do, worker.unpack])
def test_what_dask_loses_is_submitted_again_and_no_row_twice(error, where, reports):
    client = Client(FIT, FIT + "2", trouble=[lambda function: function is where and error])
    rows, _ = reports(client)
    assert rows == EXPECTED and not client.trouble


@pytest.mark.parametrize("error", [OSError("lost"), MemoryError("no memory is left")])
@pytest.mark.parametrize("where", [worker.do, worker.unpack])
def test_a_worker_that_failed_once_computes_again(error, where, reports, monkeypatch):
    monkeypatch.setattr(cluster, "_REFUSED_SECONDS", -1)
    rows, messages = reports(client := Client(FIT, trouble=[lambda function: function is where and error]))
    assert rows == EXPECTED and not client.trouble and not any("refused" in message for message in messages)


def test_a_value_that_other_code_computed_again_is_computed_once_more(reports):
    def lose(function):
        if "-u2-" not in client.submitted[-1][0]:
            return None
        lost = OtherCode("of a worker that has joined")
        for key, future in client.tasks.items():
            if "-value-" in key or "-problem-" in key:
                future.status, future._error = "error", lost
        return lost

    client = Client(FIT, FIT + "2", trouble=[lose])
    rows, _ = reports(client)
    assert rows == EXPECTED and sum("-problem-" in key for key, _ in client.submitted) == 2


def test_sums_of_blocks_that_other_code_refuses_are_computed_by_others(monkeypatch):
    monkeypatch.setattr(worker, "hold_threads", lambda: None)
    monkeypatch.setattr(cluster, "connected", lambda jobs, scheduler: nullcontext(workers))
    workers = cluster.Workers(client := Client(OTHER, FIT), set())
    X, y, omega = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 1, 0]), np.ones((3, 2))
    loss = alignment_loss_on_cluster([(X[:3], y[:3]), (X[3:], y[3:])], omega, scheduler="tcp://s")
    np.testing.assert_allclose(loss, rff.alignment_loss(X, y, omega), atol=1e-12)
    assert workers.n_refused == 1 and OTHER in {where for _, where in client.submitted}


def test_sums_of_blocks_wait_for_a_worker_that_may_compute(monkeypatch):
    monkeypatch.setattr(worker, "hold_threads", lambda: None)
    monkeypatch.setattr(cluster, "connected", lambda jobs, scheduler: nullcontext(workers))
    monkeypatch.setattr(cluster.time, "sleep", lambda seconds: client.workers.update({FIT: 1}))
    workers = cluster.Workers(client := Client(OTHER), {OTHER})
    X, y, omega = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0]), np.ones((3, 2))
    loss = alignment_loss_on_cluster([(X, y)], omega, scheduler="tcp://s")
    np.testing.assert_allclose(loss, rff.alignment_loss(X, y, omega), atol=1e-12)
    assert {where for _, where in client.submitted} == {FIT}


def test_error_of_a_unit_is_raised_at_once(reports, monkeypatch):
    def fail(problem, wanted):
        raise ValueError("D is 3; it must be another.")
        yield

    client = Client(FIT)
    monkeypatch.setattr(f"{__name__}.rows_of_unit", fail)
    with pytest.raises(ValueError, match=r"^D is 3; it must be another\.$"):
        reports(client)
    assert len(client.submitted) == 3  # the problem, its value and one unit


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (lambda: cluster.KilledWorker("u0", None, 4), r"^One Dask worker after another died while it computed the"),
        (CancelledError, r"^Dask lost the same unit 5 times \(CancelledError:\)\.$"),
        (lambda: OSError("lost"), r"^Dask lost the same unit 5 times \(OSError: lost\)\.$"),
    ],
)
def test_unit_that_is_lost_again_and_again_ends_the_run_in_one_sentence(error, said, reports):
    trouble = [lambda function: function is worker.do and error()] * 5
    with pytest.raises(ConnectionError, match=said):
        reports(Client(FIT, trouble=trouble))


def test_result_without_the_code_of_this_process_is_dropped():
    workers = cluster.Workers(Client(FIT), set())
    assert workers.result("unit", Future("key", Done([], 1, CODE))).value == 1
    assert workers.result("unit", Future("key", Done([], 1, "other"))) is None
    assert workers.result("unit", Future("key", "a result of earlier code")) is None


def test_run_ends_if_all_workers_are_of_other_code_for_long(monkeypatch):
    workers = cluster.Workers(client := Client(FIT, OTHER), {OTHER, FIT})
    assert workers.threads() == {}  # others may come
    monkeypatch.setattr(cluster, "_REFUSED_SECONDS", -1)
    with pytest.raises(ConnectionError, match=r"^No Dask worker is left that may compute; 2 Dask workers were refused"):
        workers.threads()
    client.workers = {}
    assert workers.threads() == {}
    client.workers = {OTHER: 1}  # another worker, at the address of one that has gone
    assert workers.threads() == {OTHER: 1}


@pytest.mark.parametrize(
    ("codes", "refused"),
    [
        ({FIT: CODE, OTHER: "rff_engine 0.0.9"}, {OTHER}),
        ({FIT: CODE, OTHER: ImportError("No module named 'rff_engine'")}, {OTHER}),
        ({FIT: CODE, OTHER: OSError("Timed out during handshake")}, set()),
        ({FIT: OSError("in <TCP (closed)>"), OTHER: OSError("in <TCP (closed)>")}, set()),
    ],
)
def test_workers_of_other_code_are_left_out_and_dead_ones_not_called_so(codes, refused):
    client = SimpleNamespace(
        wait_for_workers=lambda n, timeout: None,
        run_on_scheduler=lambda function: CODE,
        run=lambda function, on_error: codes,
    )
    assert same_code.check_code(client, "tcp://s") == refused


def test_store_keeps_the_code_that_made_a_row(tmp_path):
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        store.write(maker_id)
    with sqlite3.connect(path) as raw:
        ((made_with,),) = raw.execute("SELECT made_with FROM rff_makers").fetchall()
    assert made_with.startswith(f"{CODE}; Python ") and "(files " in CODE and "numpy" in CODE
