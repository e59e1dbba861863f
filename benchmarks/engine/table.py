"""Results as text: lines for the terminal, and the table of docs/performance.md between its two markers."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn
from joblib import cpu_count
from threadpoolctl import threadpool_info

from benchmarks.engine.growth import LABELS, slope
from benchmarks.engine.measure import MB, Result

MARKERS = "<!-- benchmark: begin, written by `make bench` -->", "<!-- benchmark: end -->"
HEADER = (
    "| what | size | ours | plain reference | ratio | share of the floor | peak memory |\n|---|---|---|---|---|---|---|"
)


def machine() -> str:
    """The machine and its libraries."""
    blas = {f"{info['internal_api']} {info['version']}" for info in threadpool_info() if info["user_api"] == "blas"}
    cores = cpu_count()
    return (
        f"{cores} {'core' if cores == 1 else 'cores'}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, {' and '.join(sorted(blas))}"
    )


def in_seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s" if value < 600 else f"{value / 60:.0f} min"


def in_memory(value: int | None) -> str:
    return "–" if value is None else f"{value / MB:.0f} MB"


def times(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}×"


def lines(name: str, title: str, result: Result) -> str:
    """Lines for the terminal on one result."""
    if result.skipped:
        return f"{name}: skipped, {result.skipped}"
    shown = [f"{name}: {title}, {result.size}"]
    for contestant, runs in result.seconds.items():
        each = ", ".join(f"{run:.3g}" for run in runs)
        shown.append(f"    {contestant:<9} {in_seconds(result.median(contestant))}   ({each})")
    if result.ratio() is not None:
        shown.append(f"    ratio     {times(result.ratio())}")
    if result.share() is not None:
        shown.append(f"    floor     {times(result.share(), 2)} of it")
    if result.peak is not None:
        shown.append(f"    memory    {in_memory(result.peak)} over the inputs, {in_memory(result.peak_total)} in all")
    for point in result.curve:
        shown.append(f"    {point.x:>8}  {in_seconds(point.seconds)}, {in_memory(point.peak)}")
    if result.curve:
        shown.append(f"    slope     {slope(result):.2f}")
    shown += [
        f"    {what}: {value:.3g}" if isinstance(value, float) else f"    {what}: {value}"
        for what, value in result.facts.items()
    ]
    for target in result.targets:
        sign = ">=" if target.at_least else "<="
        verdict = "met" if target.met else "MISSED"
        shown.append(f"    {verdict:<9} {target.what}: {target.value:.3g} {sign} {target.limit:g}")
    return "\n".join(shown)


def section(entries, results: dict[str, Result]) -> str:
    """The section of docs/performance.md: table, sentences and figure, for the available results."""
    placed = {place: [] for place in ("table", "precision", "presets", "growth")}
    for entry in entries:
        result = results.get(entry.name)
        if result is not None and not result.skipped:
            placed[entry.place].append((entry, result))
    parts = [HEADER + "".join("\n" + row(entry.title, result) for entry, result in placed["table"])]
    if placed["presets"]:
        each = ", ".join(f"{entry.title} {in_seconds(result.median('ours'))}" for entry, result in placed["presets"])
        parts.append(f"The quick feature sweep: {each}.")
    measured = [(entry, result) for entry, result in placed["table"] if "relative error" in result.facts]
    if measured:
        worst = max(result.facts["relative error"] for _, result in measured)
        text = f"Losses of float32 data are within {worst:.1g} of those in float64 (relative)"
        if placed["precision"]:
            raw = max(
                value
                for _, result in placed["precision"]
                for what, value in result.facts.items()
                if what.startswith("relative error")
            )
            text += f", and within {raw:.1g} where adult is not scaled (phases up to 10⁶)"
        parts.append(text + ".")
    if placed["growth"]:
        grown = "; ".join(caption(entry.name, result) for entry, result in placed["growth"])
        parts.append("![Time and peak memory against n, N and D, on log axes](growth.svg)")
        parts.append(f"Growth: {grown}.")
    parts.append(f"Medians of alternating runs in one process{spread(placed['table'])}, on {machine()}.")
    return "\n\n".join(parts)


def spread(rows) -> str:
    """The largest spread of the runs of the engine."""
    apart = [max(runs) / min(runs) for _, result in rows if len(runs := result.seconds["ours"]) > 1]
    return f" (ours: the slowest at most {max(apart):.1f} times the fastest)" if apart else ""


def row(title: str, result: Result) -> str:
    """One row of the table."""
    return (
        "| "
        + " | ".join(
            (
                title,
                result.size,
                in_seconds(result.median("ours")),
                in_seconds(result.median("reference")),
                times(result.ratio()),
                times(result.share(), 2),
                in_memory(result.peak),
            )
        )
        + " |"
    )


def caption(name: str, result: Result) -> str:
    """Slope and memory range of a panel."""
    peaks = [point.peak for point in result.curve if point.peak is not None]
    memory = f", memory {in_memory(min(peaks))} to {in_memory(max(peaks))}" if peaks else ""
    return f"{LABELS[name].what} against {LABELS[name].symbol} ({result.size}): slope {slope(result):.2f}{memory}"


def write(path: Path, text: str, markers: tuple[str, str] = MARKERS) -> None:
    """Put `text` between two markers of the page at `path`; a ValueError if it does not hold each once, in order."""
    page = path.read_text(encoding="utf-8")
    begin, end = markers
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"{path.name} does not hold the lines {begin!r} and {end!r} once each, in this order.")
    head, rest = page.split(begin)
    tail = rest.split(end)[1]
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")
