"""Points that the reader places: their code in the URL, and the data sets among which they are a choice.

A point takes four letters of the code: a place on a grid of 1001 x 1001 and a class, as three bytes in base64url.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from types import SimpleNamespace

import numpy as np
import streamlit as st

import datasets
from datasets.points import MIN_OF_A_CLASS
from pages.shared import escaping

#: The choice among the toy data sets.
OWN = "your own points"
#: Half the side of the square in which points are placed, and cells of the grid along a side.
EXTENT, CELLS = 2.0, 1000
MAX_POINTS = 200
#: Points of a toy data set to start from.
START_POINTS = 100

_SIDE = CELLS + 1
_BYTES, _LETTERS = 3, 4
_CODE = re.compile(rf"(?:[\w-]{{{_LETTERS}}}){{1,{MAX_POINTS}}}", re.ASCII)
_KEPT, _LAST_TOY = "drawn points", "toy data before the drawn points"

Points = tuple[tuple[float, float, int], ...]


def encode(X, y) -> str:
    """The code of points (n, 2) with classes -1 and 1; points outside of the square move to its border."""
    cells = np.clip(np.rint((np.asarray(X) / (2 * EXTENT) + 0.5) * CELLS), 0, CELLS).astype(int)
    numbers = ((np.asarray(y) > 0) * _SIDE + cells[:, 1]) * _SIDE + cells[:, 0]
    return urlsafe_b64encode(b"".join(int(number).to_bytes(_BYTES, "big") for number in numbers)).decode("ascii")


def decode(code: str) -> Points:
    """The points of a code.

    Raises
    ------
    ValueError
        If it is no code, or a class has fewer than two points.
    """
    if not _CODE.fullmatch(code):
        raise ValueError("no code of points")
    letters = urlsafe_b64decode(code)
    numbers = [int.from_bytes(letters[k : k + _BYTES], "big") for k in range(0, len(letters), _BYTES)]
    if max(numbers) >= 2 * _SIDE**2:
        raise ValueError("a point outside of the grid")
    points = tuple((_coordinate(i % _SIDE), _coordinate(i // _SIDE % _SIDE), 2 * (i // _SIDE**2) - 1) for i in numbers)
    positive = sum(label > 0 for _, _, label in points)
    if min(positive, len(points) - positive) < MIN_OF_A_CLASS:
        raise ValueError("too few points of a class")
    return points


def _coordinate(cell: int) -> float:
    return round((2 * cell / CELLS - 1) * EXTENT, 6)


class PointsParameter:
    """The code in the URL, there as long as the reader's points are the data."""

    key = "points"
    is_setting = True

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        """The code, or ``None`` and a note if it is none."""
        try:
            decode(raw[0] if len(raw) == 1 else "")
        except ValueError:
            asked = escaping.value_as_code(", ".join(raw))
            return None, (
                f"The link asked for points = {asked}; allowed is the code of at most {MAX_POINTS} points, at least "
                f"{MIN_OF_A_CLASS} of each class, so a toy data set is the start."
            )
        return raw[0], None

    def settle(self, values: SimpleNamespace) -> str:
        """The code of the points that are the data, or an empty text; the URL follows.

        Points are kept for the reader's return from a toy data set. Without any, the last toy data set is the start.
        """
        if values.data != OWN:
            st.session_state[_LAST_TOY] = values.data, values.n, values.noise, values.seed
            if self.key in st.query_params:
                st.session_state[_KEPT] = st.query_params[self.key]
                del st.query_params[self.key]
            return ""
        code = st.query_params.get(self.key) or st.session_state.get(_KEPT) or start_code()
        st.session_state[_KEPT] = code
        if st.query_params.get(self.key) != code:
            st.query_params[self.key] = code
        return code


POINTS = PointsParameter()


def start_name() -> str:
    """The name of the toy data set to start from."""
    return st.session_state.get(_LAST_TOY, ("moons",))[0]


def start_code() -> str:
    """The code of the first points of the toy data set that the reader saw last."""
    sample = datasets.make_toy(*st.session_state.get(_LAST_TOY, ("moons", 300, 0.1, 0)))
    return encode(sample.X[:START_POINTS], sample.y[:START_POINTS])


def random_rows(y, count: int, seed: int) -> tuple[int, ...]:
    """Rows of random landmarks, of both classes in turn; a point that comes or goes hardly changes them."""
    order = np.argsort(np.random.default_rng(seed).random(MAX_POINTS)[: len(y)])
    classes = [order[np.asarray(y)[order] == label] for label in (-1, 1)]
    in_turn = sorted((rank, label, int(row)) for label, own in enumerate(classes) for rank, row in enumerate(own))
    return tuple(row for _, _, row in in_turn[:count])


def moved_rows(rows: tuple[int, ...], before: str, after: str) -> tuple[int, ...]:
    """Rows of the same points after a change of the code; a point that was erased is left out."""
    old = _parts(before)
    new = _parts(after)
    places = {part: row for row, part in enumerate(new)}
    kept = [places.get(old[row], row if len(old) == len(new) else None) for row in rows if row < len(old)]
    return tuple(dict.fromkeys(row for row in kept if row is not None))


def _parts(code: str) -> list[str]:
    return [code[k : k + _LETTERS] for k in range(0, len(code), _LETTERS)]


def take(code: str) -> bool:
    """Make the reader's points the data; return whether they can be; what the browser sends is checked like a link."""
    try:
        decode(code)
    except ValueError:
        return False
    st.query_params[POINTS.key] = code
    return True


def of_program(code: str) -> dict:
    """The setting of a program that holds the points, (x_1, x_2, class) each."""
    return {"points": decode(code) if code else ()}
