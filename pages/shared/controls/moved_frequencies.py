"""Frequencies of a kernel that the reader has moved: their code in the URL, such as `3_1.25~7_-0.5`.

A frequency is named by its number, from 0, and its place at width 1. Like drawn ones, it is divided by the width.
"""

from __future__ import annotations

import re

from pages.shared.controls.widgets import Code

#: Frequencies that may be moved, the first ones, and the farthest place.
MOVABLE, FARTHEST = 100, 40

_PART = re.compile(r"(\d{1,2})_(-?\d{1,2}(?:\.\d{1,4})?)", re.ASCII)

Moved = tuple[tuple[int, float], ...]


def decode(code: str) -> Moved:
    """Return the numbers and places of a code; none for an empty code.

    Raises
    ------
    ValueError
        If `code` is malformed, names a frequency twice, or a place is too far.
    """
    parts = [_PART.fullmatch(part) for part in code.split("~")] if code else []
    moved = tuple((int(part[1]), float(part[2])) for part in parts if part)
    numbers = {number for number, _ in moved}
    if len(numbers) < len(parts) or any(abs(place) > FARTHEST for _, place in moved):
        raise ValueError("no code of moved frequencies")
    return moved


MOVED = Code(
    "moved",
    decode,
    "frequencies and their places at width 1, such as `3_1.25~7_-0.5`, each frequency once, numbered below "
    f"{MOVABLE}, places up to {FARTHEST}",
    "all frequencies stay where they were drawn",
)
