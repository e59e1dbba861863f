"""What stands for a missing value: marks such as NA, and numbers such as -999."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

MISSING = frozenset(
    {*("", "na", "n/a", "#n/a", "#na", "<na>", "nan", "-nan", "+nan", "nat", "null", "#null!", "none", "\\n")}
    | {*("?", "-", "--", ".", "#div/0!", "#value!", "#ref!", "#num!", "#name?")}
)
"""Cells that count as missing, in lower case."""
_TWO_CAPITALS = re.compile(r"[A-Z]{2}")
_LOW = (-9, -99, -200, -999, -9999, -99999, -999.9, -9999.9)
_HIGH = (99, 999, 9999, 99999, 999.9, 9999.9, 999999)
_FEWEST, _FARTHEST = 3, 9.0


def present_among(texts: Sequence[str], marks: frozenset[str] = MISSING) -> list[bool]:
    """Which texts of a column stand for a value."""
    present = [text.lower() not in marks for text in texts]
    for value, is_value in (("-", _is_minus), ("NA", _is_code)):
        if value in texts:
            others = {text for text, there in zip(texts, present, strict=True) if there}
            present = [
                there or (text == value and is_value(others)) for text, there in zip(texts, present, strict=True)
            ]
    return present


def _is_minus(others: set[str]) -> bool:
    """Whether a minus is a value: where the only other text is a plus."""
    return others == {"+"}


def _is_code(others: set[str]) -> bool:
    """Whether NA is a value, such as North America or Namibia: among other codes of two capitals."""
    return len(others) > 2 and all(map(_TWO_CAPITALS.fullmatch, others))


def sentinel(values: np.ndarray) -> float | None:
    """A number that may stand for a missing value: usual as such, repeated, and far from all others; or None."""
    present = values[~np.isnan(values)]
    if not len(present):
        return None
    for value, usual in ((present.min(), _LOW), (present.max(), _HIGH)):
        others = present[present != value]
        if value in usual and len(present) - len(others) >= _FEWEST and len(np.unique(others)) >= _FEWEST:
            if value > 0 and value > _FARTHEST * np.abs(others).max():
                return float(value)
            if value < 0 and (others.min() >= 0 or others.min() - value > np.ptp(others)):
                return float(value)
    return None
