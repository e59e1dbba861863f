"""Long runs in their own processes: a queue shared by all sessions, with progress, cancellation and a store.

A run is identified by its settings: two visitors who start the same one watch the same one, and a stopped run resumes
where it was. The engine defines what a run computes, the page how it looks.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from cachetools import cached
from streamlit.logger import get_logger

import datasets
from datasets.papers.splits import TEST_FRACTION, VALID_FRACTION
from pages.shared.server import visits
from pages.shared.server.limits import LIMITS
from pages.shared.server.workers import too_many_waiting
from rff_engine.landmarks import landmark_count
from rff_engine.studies.protocols import PRESETS, FeatureSweep, LandmarkStudy, RunSpec
from rff_engine.studies.running.processes import redacted_traceback
from rff_engine.studies.running.store import Store, StoreError, default_store

# Streamlit's logger: with the time, at the level that `logger.level` sets. It names runs, never their data.
_log = get_logger(__name__)

#: Inactive runs that this server keeps in memory; the store keeps all.
MAX_INACTIVE_RUNS = 24
_ROOT = Path(__file__).parents[3]


class RunSize(NamedTuple):
    """The shape of a matrix of cosines, or of kernel values."""

    columns: int
    of: str
    """What the columns are"""
    rows: int

    @property
    def values(self) -> int:
        return self.columns * self.rows

    def __str__(self) -> str:
        return f"{self.columns} {self.of} x {self.rows} training rows = {self.values:,} values"


def training_rows(dataset: str) -> int:
    """Return the number of training rows of a data set, see `datasets.random_split`."""
    info = datasets.describe(dataset)
    rest = info.n_train_file or info.n_samples - math.ceil(TEST_FRACTION * info.n_samples)
    return rest - math.ceil(VALID_FRACTION * rest)


def run_size(protocol: FeatureSweep | LandmarkStudy, dataset: str) -> RunSize:
    """Return the largest matrix of a run: its features on the training rows, or the kernel matrix of its SVM."""
    rows = training_rows(dataset)
    n = min(rows, protocol.max_train or rows)
    n_svm = min(n, protocol.max_train_svm or n)
    sizes = [RunSize(n_svm, "columns of the SVM's kernel", n_svm)]  # it chooses gamma, for all methods
    if isinstance(protocol, FeatureSweep):
        learned = {"pbrff", "okrff"} & set(protocol.methods)
        sizes.append(RunSize(protocol.n_candidates if learned else max(protocol.n_features), "frequencies", n))
    else:
        L = landmark_count(n, 2, max(protocol.shares))
        sizes.append(RunSize(L, "landmarks", n))
        if "pb_landmarks" in protocol.methods:
            sizes.append(RunSize(L * max(protocol.n_features), f"frequencies of {L} landmarks", n))
    return max(sizes, key=lambda size: size.values)


@dataclass(frozen=True)
class RunSettings:
    """The settings that identify a run."""

    study: str
    """"features" or "landmarks" """
    dataset: str
    preset: str
    split_name: str
    """"published" or "random" """
    seed: int
    """Seed of the first repeat: of its random split and all its draws"""
    repeats: int
    """Runs with consecutive seeds"""
    methods: tuple[str, ...]
    scaling: str = "none"
    """Scaling of the columns: "none" or "standard" """

    def protocol(self) -> FeatureSweep | LandmarkStudy:
        kind = {"features": FeatureSweep, "landmarks": LandmarkStudy}[self.study]
        return kind.preset(self.preset, methods=self.methods, scaling=self.scaling)

    @cached_property
    def spec(self) -> RunSpec:
        return RunSpec(self.protocol(), self.dataset, self.split_name, self.repeats, self.seed)

    @property
    def size(self) -> RunSize:
        return run_size(self.protocol(), self.dataset)


@dataclass(eq=False)
class Run:
    """A run and its progress. Only the queue's thread writes to it, and `cancel`."""

    settings: RunSettings
    store: Store
    state: str = "waiting"
    """waiting, running, finished, cancelled, stopped (rows are known, none is computed) or failed"""
    message: str = "waiting in the queue"
    fraction: float = 0.0
    started: float | None = None
    """On the monotonic clock, in seconds"""
    session: str | None = None
    """The session that started it, by which limits count; None if the app or an earlier server did"""
    owner: str | None = None
    """The visitor who started it, see `visits`"""
    cancelled_by: str | None = None
    """The visitor who cancelled it, if one did"""
    seconds: float = 0.0
    """Seconds that it ran before it was cancelled"""
    cancelled: threading.Event = field(default_factory=threading.Event)
    _process: subprocess.Popen | None = None
    _first_report: tuple[float, float] | None = None
    """Time of the first report of its process, and the fraction done by then"""
    _n_reported: int = 0
    _rows: tuple[int, list[dict]] = (-1, [])

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def rows(self) -> list[dict]:
        """The rows so far, in the order of the protocol."""
        n = self._n_reported
        if self._rows[0] != n:
            self._rows = n, self.store.rows(self.settings.spec)
        return self._rows[1]

    @property
    def n_test(self) -> int:
        """Number of test points of a split; 0 if its data can no longer be read."""
        try:
            return _test_points(self.settings.dataset, self.settings.split_name)
        except (ValueError, OSError):
            return 0

    @property
    def time_left(self) -> str:
        """The time left, in words, estimated from the progress since the first report."""
        start, before = self._first_report or (math.inf, self.fraction)
        if self.fraction < before + 0.02:
            return "time left unknown yet"
        seconds = (time.monotonic() - start) * (1 - self.fraction) / (self.fraction - before)
        return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"

    def may_cancel(self, visitor: str) -> bool:
        """Return whether a visitor may cancel the run: its owner, or anyone once the owner has left."""
        return self.owner is not None and (visitor == self.owner or not visits.is_present(self.owner))

    def cancel(self, visitor: str | None = None) -> None:
        """Stop at once; rows in the store stay."""
        self.cancelled_by = visitor
        self.seconds = 0.0 if self.started is None else time.monotonic() - self.started
        self.cancelled.set()
        if self.state == "waiting":
            self.state, self.message = "cancelled", "cancelled before it started"
        self.end()

    def end(self) -> None:
        """Kill its process, if there is one; the store has whole rows only."""
        if self._process is not None:
            self._process.kill()

    def work(self) -> None:
        """Do the run, in the queue's thread; never raises, never calls Streamlit."""
        if self.cancelled.is_set():
            return
        self.state, self.message, self.started = "running", "starting", time.monotonic()
        run = self.settings.spec.run_id
        _log.info("run %s started", run)
        try:
            self._follow()
        except Exception as error:
            self._fail(redacted_traceback(error))
        self.end()
        self._n_reported += 1  # read rows that were not reported, too
        _log.info("run %s %s after %.1f s", run, self.state, time.monotonic() - self.started)

    def _follow(self) -> None:
        """Start the process and read its reports until it ends."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rff_engine.studies.running.subprocess_entry"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
        )
        failure: dict = {}
        with self._process as process:
            process.stdin.write(json.dumps([self.store.url, self.settings.spec.to_json()]) + "\n")
            process.stdin.flush()
            if self.cancelled.is_set():
                self.end()
            for line in process.stdout:
                report = json.loads(line)
                if "error" in report:
                    failure = report
                else:
                    self._take_report(**report)
        if self.cancelled.is_set():
            self.state = "cancelled"
        elif process.returncode == 0:
            self.state = "finished"
        elif failure.get("error"):
            self.state, self.message = "failed", failure["error"]
            _log.warning("run %s was refused: %s", self.settings.spec.run_id, failure["traceback"])
        else:
            self._fail(failure.get("traceback", f"its process ended with code {process.returncode}"))

    def _take_report(self, message: str, done: float, total: float, rows: int) -> None:
        self.fraction, self.message = done / total, message
        self._first_report = self._first_report or (time.monotonic(), self.fraction)
        self._n_reported += rows

    def _fail(self, what: str) -> None:
        """Fail with an internal error."""
        run = self.settings.spec.run_id
        _log.error("run %s failed: %s", run, what)
        self.state, self.message = "failed", f"Internal error; see {run} in the server's log."


@lru_cache(maxsize=64)
def _test_points(dataset: str, split_name: str) -> int:
    if split_name == "published":
        return len(datasets.published_split(dataset).y_test)
    return len(datasets.random_split(datasets.load(dataset), 0).y_test)  # the same for every seed


class RunQueue:
    """All runs of this server, and the store of their rows."""

    def __init__(self, url: str | None = None):
        self.store, self.persistent = _open(url)
        self._lock = threading.Lock()
        self._runs: OrderedDict[RunSettings, Run] = OrderedDict()
        self._waiting: queue.SimpleQueue[Run] = queue.SimpleQueue()
        # One run at a time: the cores are few, and pages need one. The daemon thread ends with the server.
        threading.Thread(target=self._work, name="runs", daemon=True).start()
        atexit.register(self.end)

    def _work(self) -> None:
        while True:
            self._waiting.get().work()

    def find(self, settings: RunSettings) -> Run | None:
        """Return the run of these settings, from this server's memory or from the store."""
        with self._lock:
            known = self._runs.get(settings)
            if known is None and (stored := self._in_store(settings)) is not None:
                known = self._runs[settings] = stored
            return known

    def _in_store(self, settings: RunSettings) -> Run | None:
        spec = settings.spec
        known = len(self.store.rows(spec))
        planned = spec.repeats * len(spec.protocol.settings())
        if not known:
            return None
        state, message = ("finished", "") if known == planned else ("stopped", "known in part")
        return Run(settings, self.store, state, message, known / planned)

    def submit(self, settings: RunSettings, session: str | None = None, owner: str | None = None) -> Run:
        """Start a run, or return it if it is active or finished; a stopped run resumes.

        Limits count by `session`; `owner` is the visitor of `visits` who may cancel it. Both are ``None`` for runs that
        the app starts itself, which no limit refuses.

        Raises
        ------
        ValueError
            If the run is too large, the session has too many active runs, or too many wait.
        """
        known = self.find(settings)
        with self._lock:
            known = self._runs.get(settings, known)
            if known is not None and (known.active or known.state == "finished"):
                return known
            if session is not None:
                _check_size(settings)
                self._check_places(session)
            run = self._runs[settings] = Run(settings, self.store, session=session, owner=owner)
            self._runs.move_to_end(settings)
            for old in [key for key, other in self._runs.items() if not other.active][:-MAX_INACTIVE_RUNS]:
                del self._runs[old]
            self._waiting.put(run)
            return run

    def _check_places(self, session: str) -> None:
        active = [run for run in self._runs.values() if run.active]
        own = [f"the {r.settings.preset} grid on {r.settings.dataset}" for r in active if r.session == session]
        if len(own) >= LIMITS.runs_per_session:
            raise ValueError(
                f"You have {len(own)} active run{'s' if len(own) > 1 else ''} ({', '.join(own)}), the most for one "
                "visitor; wait until one has finished, or cancel it."
            )
        waiting = sum(run.state == "waiting" for run in active)
        if waiting >= LIMITS.waiting_runs:
            raise too_many_waiting("run", waiting)

    def active(self) -> list[Run]:
        """Return the runs that run or wait, in order."""
        with self._lock:
            return [run for run in self._runs.values() if run.active]

    def ahead_of(self, run: Run) -> int:
        """Return the number of active runs before this one."""
        active = self.active()
        return active.index(run) if run in active else 0

    def end(self) -> None:
        """Cancel all active runs."""
        for run in self.active():
            run.cancel()


def _check_size(settings: RunSettings) -> None:
    """Raise a ValueError for a run that is too large, naming the finest grid that fits."""
    size, most = settings.size, LIMITS.cosines
    if size.values <= most:
        return
    finest = [(preset, replace(settings, preset=preset).size) for preset in PRESETS]
    fitting = [f"the {preset} grid fits, {other}" for preset, other in finest if other.values <= most]
    raise ValueError(
        f"The {settings.preset} grid on {settings.dataset} takes {size}; at most {most:,} are allowed here: "
        f"{[*fitting, 'no grid fits; choose a data set with fewer rows'][0]}."
    )


def _open(url: str | None) -> tuple[Store, bool]:
    """Open the store of this server; return it and whether it persists. If the user's file fails, use a temporary one.

    Raise a StoreError for a store that RFF_STORE names: its database may be back for the next visitor.
    """
    try:
        return Store(default_store() if url is None else url), True
    except StoreError as error:
        if url is None and os.environ.get("RFF_STORE"):
            raise
        _log.warning("results are kept only until the server ends: %s", error)
        return Store(Path(tempfile.mkdtemp(prefix="rff_engine_")) / "results.sqlite"), False


@cached({}, condition=threading.Condition())
def run_queue() -> RunQueue:
    """Return the runs of this server."""
    return RunQueue()
