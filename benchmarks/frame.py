"""What the benchmarks share: tables in Markdown and in pages of docs, and the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def markdown(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(line)} |" for line in (header, *body)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])


def write(path: Path, text: str, marks: tuple[str, str]) -> None:
    """Put `text` between two marks of a page. Raise a ValueError if it does not hold each once, in order."""
    page = path.read_text(encoding="utf-8")
    begin, end = marks
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"{path.name} does not hold the lines {begin!r} and {end!r} once each, in this order.")
    head, rest = page.split(begin)
    path.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def machine() -> str:
    """Return the number of cores, and versions."""
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"
