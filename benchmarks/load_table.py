"""Answers and memory of several numbers of sessions on several processes, as the Markdown table of docs/deployment.md.

    MALLOC_ARENA_MAX=2 .venv/bin/python -m benchmarks.load_table       # about 20 minutes on two cores

Each cell is a run of `benchmarks.load` in a process of its own. Its summary is kept in a JSON file, and a cell that is
there is not run again: after an interruption, the same command goes on. Nothing else should use the cores meanwhile.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.app_response import ROOT
from benchmarks.load import PAGES

#: Seconds that a server keeps the sessions of a cell after their end; they are still there when memory is highest.
KEPT = 1


def run_cell(sessions: int, processes: int, asked: argparse.Namespace) -> dict:
    """Run the load benchmark; return what the table needs of it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "load.json")
        words = ["--sessions", sessions, "--processes", processes, "--minutes", asked.minutes, "--soak", 0]
        words += ["--warm-up", asked.warm_up, "--kept", KEPT, "--seed", asked.seed, "--pages", *asked.pages]
        command = [sys.executable, "-m", "benchmarks.load", *map(str, words), "--output", str(file)]
        ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        results = json.loads(file.read_text()) if file.exists() else {}
    if "load" not in results:  # other errors than those of sessions
        sys.exit(f"{ran.stdout}\nThe load of {sessions} sessions on {processes} processes was not measured.")
    return {
        "overall": results["load"]["overall"],
        "errors": results["load"]["errors"],
        "memory": results["memory in MB"]["peak"],
        "cores kept busy": results["cores kept busy"],
        "machine": results["machine"],
    }


def name(sessions: int, processes: int) -> str:
    """The cell in the file."""
    return f"{sessions} sessions, {processes} processes"


def table(cells: dict[str, dict], sessions: list[int], processes: list[int]) -> str:
    """Median, 95 % quantile and peak memory of each cell; a dash where there is none yet."""
    heads = ["sessions", *(f"{one} process{'es' if one > 1 else ''}" for one in processes)]
    lines = [heads, ["---"] * len(heads)]
    for count in sessions:
        lines.append([str(count), *(shown(cells.get(name(count, one))) for one in processes)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(cell: dict | None) -> str:
    if cell is None:
        return "–"
    of, errors = cell["overall"], sum(cell["errors"].values())
    if not of["moves"]:
        return "no answer"
    text = f"{of['median'] / 1000:.2g} s, {of['p95'] / 1000:.2g} s, {cell['memory']['rss']:.0f} MB"
    return text + (f", {errors} errors" if errors else "")


def known(file: Path, settings: dict) -> dict[str, dict]:
    """The cells of a file; exit if they were run with other settings."""
    if not file.exists():
        return {}
    saved = json.loads(file.read_text())
    if saved["settings"] != settings:
        sys.exit(f"{file} has cells of other settings, {saved['settings']}; name another file with --output.")
    return saved["cells"]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--sessions", type=int, nargs="+", default=[10, 30, 60, 120], metavar="COUNT")
    arguments.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4], metavar="COUNT")
    arguments.add_argument("--minutes", type=float, default=1, help="of load in each cell")
    arguments.add_argument("--warm-up", type=int, default=5, help="moves on each page beforehand")
    arguments.add_argument("--pages", nargs="+", default=list(PAGES), choices=PAGES, metavar="PAGE")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--output", type=Path, default=Path("load_table.json"), help="summaries of the cells")
    asked = arguments.parse_args()
    settings = {"minutes": asked.minutes, "warm-up": asked.warm_up, "pages": asked.pages, "seed": asked.seed}
    cells = known(asked.output, settings)
    for sessions in asked.sessions:
        for processes in asked.processes:
            if (cell := name(sessions, processes)) not in cells:
                cells[cell] = run_cell(sessions, processes, asked)
                asked.output.write_text(json.dumps({"settings": settings, "cells": cells}, indent=1) + "\n")
                print(f"{cell}: {shown(cells[cell])}", file=sys.stderr, flush=True)
    print("median, 95 %, peak memory\n")
    print(table(cells, asked.sessions, asked.processes))


if __name__ == "__main__":
    main()
