"""Codes of rooms, and a room as its members see it; `rooms` has the rooms themselves, and needs a database."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Seconds for which a room is kept.
LIFETIME = 24 * 3600
#: Letters of codes: no letter resembles another, and there are no vowels, so that no code is a word.
ALPHABET = "23456789BCDFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 6
_CODE = re.compile(f"[{ALPHABET}]{{{CODE_LENGTH}}}")


class RoomEndedError(ValueError):
    """A room has been closed, or is older than a day."""


@dataclass(frozen=True)
class Room:
    """A room as its members see it."""

    code: str
    lesson: str
    step: int
    """Where the lecturer is"""
    revealed: frozenset[int]
    """Steps whose predictions the class may see"""


def clean_code(text: str) -> str | None:
    """Return a code as it is stored, from what someone has written; None if it cannot be a code."""
    code = re.sub(r"[\s-]", "", text[:40]).upper()
    return code if _CODE.fullmatch(code) else None


def shown(code: str) -> str:
    """Return a code for the reader, in two halves."""
    return f"{code[: CODE_LENGTH // 2]} {code[CODE_LENGTH // 2 :]}"
