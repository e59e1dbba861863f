"""Frequencies of a kernel that the reader has moved: their code in the URL, such as `3_1.25~7_-0.5`.

A frequency is named by its number, from 0, and its place at width 1. Like drawn ones, it is divided by the width.
"""

from __future__ import annotations

import re
from types import SimpleNamespace

import streamlit as st

from pages.shared import escaping

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


class MovedParameter:
    """The code in the URL, there as long as a frequency is moved."""

    key = "moved"
    is_setting = True

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        """Return the code, or ``None`` and a note on what is no code."""
        try:
            decode(raw[0] if len(raw) == 1 else "none")
        except ValueError:
            asked = escaping.value_as_code(", ".join(raw))
            return None, (
                f"The link asked for moved = {asked}; allowed are frequencies and their places at width 1, such as "
                f"3_1.25~7_-0.5, each frequency once, numbered below {MOVABLE}, places up to {FARTHEST}. So all "
                "frequencies stay where they were drawn."
            )
        return raw[0] or None, None

    def settle(self, _values: SimpleNamespace) -> Moved:
        """Return the moved frequencies."""
        return decode(st.query_params.get(self.key, ""))

    def take(self, code: object) -> None:
        """Keep in the URL what a browser sends, if it is a code."""
        try:
            moved = decode(code if isinstance(code, str) else "none")
        except ValueError:
            return
        if moved:
            st.query_params[self.key] = str(code)
        else:
            st.query_params.pop(self.key, None)


MOVED = MovedParameter()
