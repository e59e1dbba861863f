"""Growth of time and memory with the size of a problem: fitted slopes, and the figure in docs/performance.md."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.engine.measure import MB, Result


class Label(NamedTuple):
    what: str
    symbol: str
    axis: str


LABELS = {
    "growth-n": Label("losses", "n", "points n"),
    "growth-candidates": Label("losses", "N", "frequencies N"),
    "growth-features": Label("SVM path", "D", "frequencies D (2D features)"),
}
# Blue for time and orange for memory, from the palette of Okabe and Ito, which colour-blind readers can tell apart.
TIME, MEMORY = "#0072B2", "#D55E00"


def fit(result: Result) -> tuple[float, float]:
    """Slope and intercept of log seconds against log size, by least squares."""
    x, seconds = np.log([(point.x, point.seconds) for point in result.curve]).T
    slope, intercept = np.polyfit(x, seconds, 1)
    return float(slope), float(intercept)


def slope(result: Result) -> float:
    return fit(result)[0]


def plot(results: dict[str, Result], path: Path) -> None:
    """Save the figure: one column per entry of `LABELS`, time above memory, on a common axis of sizes."""
    import matplotlib  # needed for the figure only

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    style = {
        "font.family": "DejaVu Sans",
        "font.size": 11,
        "svg.fonttype": "path",
        "svg.hashsalt": "growth",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
    }
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            2, len(LABELS), figsize=(11, 4.8), sharex="col", height_ratios=(3, 2), layout="constrained"
        )
        for (above, below), (name, label) in zip(axes.T, LABELS.items(), strict=True):
            _column(above, below, results[name], label)
        axes[0, 0].set_ylabel("seconds")
        axes[1, 0].set_ylabel("peak memory\nover inputs, MB")
        figure.savefig(path, facecolor="white", metadata={"Date": None})
        plt.close(figure)
    # No trailing blanks.
    path.write_text("".join(line.rstrip() + "\n" for line in path.read_text().splitlines()))


def _column(above, below, result: Result, label: Label) -> None:
    x = np.array([point.x for point in result.curve], dtype=float)
    rise, intercept = fit(result)
    above.loglog(x, np.exp(intercept) * x**rise, color="#999999", linewidth=1.5, zorder=1)
    above.loglog(x, [point.seconds for point in result.curve], "o", color=TIME, markersize=7, zorder=2)
    above.set_title(f"{label.what}, time ∝ {label.symbol}$^{{{rise:.2f}}}$", fontsize=11.5)
    above.yaxis.set_major_formatter("{x:g}")
    peaks = [(point.x, point.peak / MB) for point in result.curve if point.peak is not None]
    if peaks:
        below.semilogx(*zip(*peaks, strict=True), "s-", color=MEMORY, markersize=6)
        # At least 50 MB, so that a difference of a megabyte looks small.
        below.set_ylim(0, max(50, 1.25 * max(peak for _, peak in peaks)))
    below.set_xlabel(label.axis)
    below.margins(x=0.08)
