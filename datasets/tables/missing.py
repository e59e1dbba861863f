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


def sentinels(values: np.ndarray) -> list[float]:
    """Numbers that may stand for missing values: usual as such, repeated, and far from all others."""
    present = values[~np.isnan(values)]
    usual, counts = np.unique(present[np.isin(present, (*_LOW, *_HIGH))], return_counts=True)
    marks = set(usual[counts >= _FEWEST].tolist())
    while marks:
        others = present[~np.isin(present, list(marks))]
        near = {value for value in marks if not _far(value, others)}
        if not near:
            break
        marks -= near
    return sorted(marks)


def _far(value: float, others: np.ndarray) -> bool:
    """Whether a number is far from all others, of which there are several."""
    if len(np.unique(others)) < _FEWEST:
        return False
    if value > 0:
        return bool(value > _FARTHEST * np.abs(others).max())
    return bool(others.min() >= 0 or others.min() - value > np.ptp(others))
