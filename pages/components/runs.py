"""Long runs, outside the script thread: a queue of one worker, shared by all sessions, with progress and cancel.

A run is known by its settings, so two people who ask for the same one watch the same one. What a run computes is the
engine's business, what it looks like the page's.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import streamlit as st

import datasets
from rff_engine.experiments.protocols import FeatureSweep, LandmarkStudy
from rff_engine.experiments.runner import Step, run_repeats

_log = logging.getLogger(__name__)

#: Finished runs that are kept; beyond it the oldest is forgotten.
KEPT_RUNS = 24
#: Runs that may wait at a time.
MOST_WAITING = 8


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

    def protocol(self) -> FeatureSweep | LandmarkStudy:
        kind = {"features": FeatureSweep, "landmarks": LandmarkStudy}[self.study]
        return kind.preset(self.preset, methods=self.methods)

    def split(self, seed: int) -> datasets.Split:
        """The published split, or the random one of a repeat's seed."""
        if self.split_name == "published":
            return datasets.published_split(self.dataset)
        return datasets.random_split(datasets.load(self.dataset), seed)


#: The run that needs no click: seconds long, and shown on the first page.
BREAST_SWEEP = RunSettings("features", "breast", "quick", "published", 0, 10, FeatureSweep.known_methods)


@dataclass(eq=False)
class Run:
    """A run and how far it is. Written by the worker alone, but for `cancelled`."""

    settings: RunSettings
    state: str = "waiting"
    """waiting, running, finished, cancelled or failed"""
    message: str = "waiting for its turn"
    fraction: float = 0.0
    rows: list[dict] = field(default_factory=list)
    n_test: int = 0
    started: float | None = None
    """On the monotonic clock, in seconds"""
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def time_left(self) -> str:
        """In words, by what is done and the time it took."""
        if self.started is None or self.fraction < 0.02:
            return "time left unknown yet"
        seconds = (time.monotonic() - self.started) * (1 / self.fraction - 1)
        return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"

    def cancel(self) -> None:
        """Stop after the step under way; rows known by then are kept."""
        self.cancelled.set()
        if self.state == "waiting":
            self.state, self.message = "cancelled", "cancelled before it began"

    def work(self) -> None:
        """The worker's part: never raises, never calls Streamlit."""
        if self.cancelled.is_set():
            return
        self.state, self.message, self.started = "running", "loading the data", time.monotonic()
        try:
            for step in self._steps():
                self.rows.extend(step.rows)
                self.fraction, self.message = step.done / step.total, step.message
                if self.cancelled.is_set():
                    self.state = "cancelled"
                    return
            self.state = "finished"
        except (ValueError, OSError, MemoryError) as error:
            self.state, self.message = "failed", str(error) or type(error).__name__
        except Exception:
            _log.exception("run %s failed", self.settings)
            self.state, self.message = "failed", "The run met an error of ours; the server's log has its details."

    def _steps(self) -> Iterator[Step]:
        wanted = self.settings
        split = lru_cache(maxsize=1)(wanted.split)  # the published one is the same for every repeat

        def split_of(seed: int) -> datasets.Split:
            found = split(0 if wanted.split_name == "published" else seed)
            self.n_test = len(found.y_test)
            return found

        return run_repeats(
            wanted.protocol(),
            split_of,
            wanted.repeats,
            dataset=wanted.dataset,
            split_name=wanted.split_name,
            seed=wanted.seed,
        )


class RunQueue:
    """All runs of this server."""

    def __init__(self):
        self._lock = threading.Lock()
        self._runs: OrderedDict[RunSettings, Run] = OrderedDict()
        self._waiting: queue.SimpleQueue[Run] = queue.SimpleQueue()
        # One at a time: the cores are few, and the slider pages need one of them. A daemon: it ends with the server.
        threading.Thread(target=self._work, name="runs", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._waiting.get().work()

    def find(self, settings: RunSettings) -> Run | None:
        return self._runs.get(settings)

    def submit(self, settings: RunSettings) -> Run:
        """Start a run, or join it where it is under way or finished already; a failed or cancelled one starts anew.

        Raises
        ------
        ValueError
            If too many runs wait.
        """
        with self._lock:
            known = self._runs.get(settings)
            if known is not None and (known.active or known.state == "finished"):
                return known
            waiting = sum(run.state == "waiting" for run in self._runs.values())
            if waiting >= MOST_WAITING:
                raise ValueError(f"{waiting} runs are waiting, the most allowed; try again when one has finished.")
            run = self._runs[settings] = Run(settings)
            self._runs.move_to_end(settings)
            for old in [key for key, other in self._runs.items() if not other.active][:-KEPT_RUNS]:
                del self._runs[old]
            self._waiting.put(run)
            return run

    def ahead_of(self, run: Run) -> int:
        """How many active runs come before this one."""
        with self._lock:
            runs = list(self._runs.values())
        return sum(other.active for other in runs[: runs.index(run)])


@st.cache_resource(max_entries=1, show_spinner=False)
def run_queue() -> RunQueue:
    return RunQueue()
