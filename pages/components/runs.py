"""Long runs, in processes of their own: a queue shared by all sessions, with progress, cancel and a store of results.

A run is known by its settings, so two people who ask for the same one watch the same one, and one that was stopped goes
on where it was. What a run computes is the engine's business, what it looks like the page's.
"""

from __future__ import annotations

import atexit
import json
import math
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

import streamlit as st
from streamlit.logger import get_logger

import datasets
from pages.components import visits
from pages.components.limits import LIMITS
from pages.components.run_sizes import RunSize, run_size
from rff_engine.experiments.failures import whereabouts
from rff_engine.experiments.protocols import PRESETS, FeatureSweep, LandmarkStudy, RunSpec
from rff_engine.experiments.store import Store, StoreError, default_store

# Streamlit's own: with the time, at the level that `logger.level` sets. It names runs, never what is in their data.
_log = get_logger(__name__)

#: Runs of this server that are kept in mind; the store keeps all.
KEPT_RUNS = 24
_ROOT = Path(__file__).parents[2]
# A run stops between two steps; one that takes longer is killed, which loses no row.
_SECONDS_TO_STOP = 1.5


@dataclass(frozen=True)
class RunSettings:
    """What a run is known by."""

    study: str
    """"features" or "landmarks" """
    dataset: str
    preset: str
    split_name: str
    """"published" or "random" """
    seed: int
    """Of the first repeat; of the random split and of all draws"""
    repeats: int
    """Runs with consecutive seeds"""
    methods: tuple[str, ...]
    scaling: str = "none"
    """Of the columns: "none" or "standard" """

    def protocol(self) -> FeatureSweep | LandmarkStudy:
        kind = {"features": FeatureSweep, "landmarks": LandmarkStudy}[self.study]
        return kind.preset(self.preset, methods=self.methods, scaling=self.scaling)

    @cached_property
    def spec(self) -> RunSpec:
        return RunSpec(self.protocol(), self.dataset, self.split_name, self.repeats, self.seed)

    @property
    def size(self) -> RunSize:
        return run_size(self.protocol(), self.dataset)


#: The run that needs no click: seconds long, and shown on the first page.
BREAST_SWEEP = RunSettings("features", "breast", "quick", "published", 0, 10, FeatureSweep.known_methods)


@dataclass(eq=False)
class Run:
    """A run and how far it is. Written by the queue's thread alone, but for what `cancel` sets."""

    settings: RunSettings
    store: Store
    state: str = "waiting"
    """waiting, running, finished, cancelled, stopped (with a server that has ended) or failed"""
    message: str = "waiting for its turn"
    fraction: float = 0.0
    started: float | None = None
    """On the monotonic clock, in seconds"""
    visitor: str | None = None
    """The session that began it, by which limits count; None if the app did, or an earlier server"""
    beginner: str | None = None
    """The visitor who began it, see `visits`"""
    cancelled_by: str | None = None
    """The visitor who did, if one did"""
    seconds: float = 0.0
    """How long it had been running when it was cancelled"""
    cancelled: threading.Event = field(default_factory=threading.Event)
    _process: subprocess.Popen | None = None
    _heard: tuple[float, float] | None = None
    """When its process was first heard of, and the part that was done by then, be it from before"""
    _known: int = 0
    _rows: tuple[int, list[dict]] = (-1, [])

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def rows(self) -> list[dict]:
        """Those known by now, in the order of the protocol."""
        known = self._known
        if self._rows[0] != known:
            self._rows = known, self.store.rows(self.settings.spec)
        return self._rows[1]

    @property
    def n_test(self) -> int:
        """Test points of a split; 0 where its data cannot be read any more, which takes no row away."""
        try:
            return _test_points(self.settings.dataset, self.settings.split_name)
        except (ValueError, OSError):
            return 0

    @property
    def time_left(self) -> str:
        """In words, by what has been done since it was first heard of and the time that took."""
        since, before = self._heard or (math.inf, self.fraction)
        if self.fraction < before + 0.02:
            return "time left unknown yet"
        seconds = (time.monotonic() - since) * (1 - self.fraction) / (self.fraction - before)
        return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"

    def may_cancel(self, visitor: str) -> bool:
        """Whoever began it may; where that visitor has gone, whoever watches it. What the app began takes seconds."""
        return self.beginner is not None and (visitor == self.beginner or not visits.here(self.beginner))

    def cancel(self, visitor: str | None = None) -> None:
        """Stop after the step under way, or in its middle where it is long; rows known by then are kept."""
        self.cancelled_by = visitor
        self.seconds = 0.0 if self.started is None else time.monotonic() - self.started
        self.cancelled.set()
        if self.state == "waiting":
            self.state, self.message = "cancelled", "cancelled before it began"
        self.end()

    def end(self) -> None:
        """Have its process end, if there is one."""
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            timer = threading.Timer(_SECONDS_TO_STOP, process.kill)
            timer.daemon = True
            timer.start()

    def work(self) -> None:
        """The thread's part: never raises, never calls Streamlit."""
        if self.cancelled.is_set():
            return
        self.state, self.message, self.started = "running", "starting", time.monotonic()
        run = "of unknown settings"
        try:
            run = self.settings.spec.run_id
            _log.info("run %s started", run)
            self._follow()
        except Exception as error:
            self._fail(run, whereabouts(error))
        finally:
            self.end()
            self._known += 1  # whatever was not heard of is read
            _log.info("run %s %s after %.1f s", run, self.state, time.monotonic() - self.started)

    def _follow(self) -> None:
        """Start the process and listen to it until it ends."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rff_engine.experiments._child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
        )
        error = fault = None
        with self._process as process:
            process.stdin.write(json.dumps([self.store.url, self.settings.spec.to_json()]) + "\n")
            process.stdin.flush()  # and left open: the process ends when it is closed, be it with this server
            if self.cancelled.is_set():
                self.end()
            for line in process.stdout:
                said = json.loads(line)
                if "error" in said:
                    error = said["error"]
                    _log.warning("run %s was refused: %s", self.settings.spec.run_id, said["whereabouts"])
                elif "fault" in said:
                    fault = said["fault"]
                else:
                    self._hear(**said)
            process.wait()
        if self.cancelled.is_set():
            self.state = "cancelled"
        elif process.returncode == 0:
            self.state = "finished"
        elif error is not None:
            self.state, self.message = "failed", error
        else:
            self._fail(self.settings.spec.run_id, fault or f"its process ended with code {process.returncode}")

    def _hear(self, message: str, done: float, total: float, rows: int) -> None:
        self.fraction, self.message = done / total, message
        self._heard = self._heard or (time.monotonic(), self.fraction)
        self._known += rows

    def _fail(self, run: str, what: str) -> None:
        """By an error of ours."""
        _log.error("run %s failed: %s", run, what)
        message = f"The run met an error of ours; the server's log has its details under {run}."
        self.state, self.message = "failed", message


@lru_cache(maxsize=64)
def _test_points(dataset: str, split_name: str) -> int:
    if split_name == "published":
        return len(datasets.published_split(dataset).y_test)
    return len(datasets.random_split(datasets.load(dataset), 0).y_test)  # whatever the seed


class RunQueue:
    """All runs of this server, and the store that their rows are in."""

    def __init__(self, url: str | None = None):
        self.store, self.lasting = _open(url)
        self._lock = threading.Lock()
        self._runs: OrderedDict[RunSettings, Run] = OrderedDict()
        self._waiting: queue.SimpleQueue[Run] = queue.SimpleQueue()
        # One at a time: the cores are few, and the slider pages need one of them. A daemon: it ends with the server.
        threading.Thread(target=self._work, name="runs", daemon=True).start()
        atexit.register(self.end)

    def _work(self) -> None:
        while True:
            self._waiting.get().work()

    def find(self, settings: RunSettings) -> Run | None:
        """The run as this server knows it, or as the store has it from before."""
        with self._lock:
            known = self._runs.get(settings)
            if known is None and (found := self._in_store(settings)) is not None:
                known = self._runs[settings] = found
            return known

    def _in_store(self, settings: RunSettings) -> Run | None:
        info = self.store.find(settings.spec)
        if info is None:
            return None
        done = info.n_rows / info.n_planned * info.repeats_planned / info.spec.repeats
        state, message = ("finished", "") if info.finished else ("stopped", "stopped with the server")
        return Run(settings, self.store, state, message, done)

    def submit(self, settings: RunSettings, visitor: str | None = None, beginner: str | None = None) -> Run:
        """Start a run, or join it where it is under way or finished already; one that was stopped goes on.

        Limits count by `visitor`, the session; `beginner` is the visitor of `visits`, who may cancel it. No limit holds
        for what the app itself asks for, ``None`` in place of both.

        Raises
        ------
        ValueError
            If the run is too large, the visitor has too many under way, or too many wait.
        """
        known = self.find(settings)
        with self._lock:
            known = self._runs.get(settings, known)
            if known is not None and (known.active or known.state == "finished"):
                return known
            if visitor is not None:
                _check_size(settings)
                self._check_places(visitor)
            run = self._runs[settings] = Run(settings, self.store, visitor=visitor, beginner=beginner)
            self._runs.move_to_end(settings)
            for old in [key for key, other in self._runs.items() if not other.active][:-KEPT_RUNS]:
                del self._runs[old]
            self._waiting.put(run)
            return run

    def _check_places(self, visitor: str) -> None:
        active = [run for run in self._runs.values() if run.active]
        theirs = [f"the {r.settings.preset} grid on {r.settings.dataset}" for r in active if r.visitor == visitor]
        if len(theirs) >= LIMITS.runs_per_session:
            raise ValueError(
                f"You have {len(theirs)} run{'s' if len(theirs) > 1 else ''} under way ({', '.join(theirs)}), the most "
                "for one visitor; wait until one has finished, or cancel it."
            )
        waiting = sum(run.state == "waiting" for run in active)
        if waiting >= LIMITS.waiting_runs:
            some = "1 run is" if waiting == 1 else f"{waiting} runs are"
            raise ValueError(f"{some} waiting, the most allowed; try again when one has finished.")

    def active(self) -> list[Run]:
        """Those that run or wait, in the order of their turns."""
        with self._lock:
            return [run for run in self._runs.values() if run.active]

    def ahead_of(self, run: Run) -> int:
        """How many active runs come before this one."""
        active = self.active()
        return active.index(run) if run in active else 0

    def end(self) -> None:
        """Stop whatever runs or waits."""
        for run in self.active():
            run.cancel()


def _check_size(settings: RunSettings) -> None:
    """Refuse a run that is too large, with the finest grid that would fit."""
    size, most = settings.size, LIMITS.cosines
    if size.values <= most:
        return
    finest = [(preset, replace(settings, preset=preset).size) for preset in PRESETS]
    fitting = [f"the {preset} grid would fit, {other}" for preset, other in finest if other.values <= most]
    raise ValueError(
        f"The {settings.preset} grid on {settings.dataset} takes {size}, and at most {most:,} are allowed here: "
        f"{[*fitting, 'no grid on it would fit; choose a data set of fewer rows'][0]}."
    )


def _open(url: str | None) -> tuple[Store, bool]:
    """The store of this server, and whether it outlasts it: where none can be kept, a temporary one."""
    try:
        return Store(default_store() if url is None else url), True
    except StoreError as error:
        _log.warning("results are kept until the server ends only: %s", error)
        return Store(Path(tempfile.mkdtemp(prefix="rff_engine_")) / "results.sqlite"), False


@st.cache_resource(max_entries=1, show_spinner=False)
def run_queue() -> RunQueue:
    return RunQueue()
