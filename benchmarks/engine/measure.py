"""Measurement of time and peak memory of calls, repeated in turn."""

from __future__ import annotations

import ctypes
import gc
import statistics
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

PROC = Path("/proc/self")
MB = 1e6


@dataclass
class Target:
    """A measured number and its limit."""

    what: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass
class Point:
    """One size of a growth curve; `peak` is in bytes over the inputs."""

    x: int
    seconds: float
    peak: int | None


@dataclass
class Result:
    """Result of an entry.

    `seconds` holds the times of every run by contestant ("ours", "reference", "floor"); `peak` is the engine's peak
    memory in bytes over that before the call, `peak_total` the peak of the whole process during the call.
    """

    size: str
    seconds: dict[str, list[float]] = field(default_factory=dict)
    peak: int | None = None
    peak_total: int | None = None
    facts: dict[str, float | str] = field(default_factory=dict)
    targets: list[Target] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)
    skipped: str = ""

    @classmethod
    def of(cls, stored: dict) -> Result:
        """The result of a dictionary made by `stored`."""
        targets = [Target(**t) for t in stored["targets"]]
        curve = [Point(**p) for p in stored["curve"]]
        return cls(**stored | {"targets": targets, "curve": curve})

    def stored(self) -> dict:
        return asdict(self)

    def median(self, contestant: str) -> float | None:
        runs = self.seconds.get(contestant)
        return statistics.median(runs) if runs else None

    def ratio(self) -> float | None:
        """Time of the reference over that of the engine."""
        ours = self.median("ours")
        reference = self.median("reference")
        return reference / ours if ours and reference else None

    def share(self) -> float | None:
        """Time of the engine over that of the floor."""
        ours = self.median("ours")
        floor = self.median("floor")
        return ours / floor if ours and floor else None


def race(contestants: dict[str, Callable], size: str, repeats: int = 3, budget: float = 60.0):
    """Run the contestants in turn, `repeats` times; memory is measured in the first run of the first.

    So no reference affects the engine's peak, and load on the machine affects all contestants. A contestant that would
    take more than `budget` seconds in total is not run again.

    Returns
    -------
    Result, dict of str to the last answer of each contestant
    """
    result, answers = Result(size, {name: [] for name in contestants}), {}
    first = next(iter(contestants))
    for r in range(repeats):
        for name, call in contestants.items():
            runs = result.seconds[name]
            if runs and sum(runs) + min(runs) > budget:
                continue
            if r == 0 and name == first:
                with peak_memory() as memory:
                    answers[name] = timed(call, runs)
                result.peak = memory.get("over")
                result.peak_total = memory.get("total")
            else:
                answers[name] = timed(call, runs)
    return result, answers


def timed(call: Callable, runs: list[float]):
    """Result of `call`; its seconds are appended to `runs`."""
    start = time.perf_counter()
    answer = call()
    runs.append(time.perf_counter() - start)
    return answer


@contextmanager
def peak_memory():
    """Yield a dictionary that holds, after the block, the peak resident memory in bytes: "total", and "over" the start.

    It stays empty if the kernel cannot reset the peak (only Linux can).
    """
    memory = {}
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # freed memory that is not returned would hide allocations
        (PROC / "clear_refs").write_text("5")
    except (AttributeError, OSError):
        yield memory
        return
    before = _status("VmRSS")
    yield memory
    memory["total"] = _status("VmHWM")
    memory["over"] = memory["total"] - before


def available_memory() -> int:
    """Available memory in bytes; 4 GB if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 4 * 10**9
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def _status(name: str) -> int:
    lines = (PROC / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))
