"""Points that the reader places: their code in the URL, and the data sets that can be chosen instead."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import streamlit as st

import datasets
from datasets.points import LETTERS, MAX_POINTS, MIN_OF_A_CLASS, decode_points, encode_points
from pages.shared import escaping

#: The choice among the toy data sets.
OWN = "your own points"
#: Points of a toy data set to start from.
START_POINTS = 100

_KEPT, _LAST_TOY = "drawn points", "toy data before the drawn points"


class PointsParameter:
    """The code in the URL, there as long as the reader's points are the data."""

    key = "points"
    is_setting = True

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        """Return the code, or ``None`` and a note on what is no code."""
        try:
            decode_points(raw[0] if len(raw) == 1 else "")
        except ValueError:
            asked = escaping.value_as_code(", ".join(raw))
            return None, (
                f"The link asked for points = {asked}; allowed is the code of at most {MAX_POINTS} points, at least "
                f"{MIN_OF_A_CLASS} of each class, so a toy data set is the start."
            )
        return raw[0], None

    def settle(self, values: SimpleNamespace) -> str:
        """Return the code of the reader's points if they are the data, else an empty text; update the URL.

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
    """Return the name of the toy data set to start from."""
    return st.session_state.get(_LAST_TOY, ("moons",))[0]


def start_code() -> str:
    """Return the code of the first points of the toy data set that the reader saw last."""
    sample = datasets.make_toy(*st.session_state.get(_LAST_TOY, ("moons", 300, 0.1, 0)))
    return encode_points(sample.X[:START_POINTS], sample.y[:START_POINTS])


def random_rows(y, count: int, seed: int) -> tuple[int, ...]:
    """Choose rows of random landmarks, of both classes in turn; a point that comes or goes hardly changes them."""
    order = np.argsort(np.random.default_rng(seed).random(MAX_POINTS)[: len(y)])
    classes = [order[np.asarray(y)[order] == label] for label in (-1, 1)]
    in_turn = sorted((rank, label, int(row)) for label, own in enumerate(classes) for rank, row in enumerate(own))
    return tuple(row for _, _, row in in_turn[:count])


def moved_rows(rows: tuple[int, ...], before: str, after: str) -> tuple[int, ...]:
    """Return the rows of the same points after a change of the code; leave out an erased point."""
    old = _parts(before)
    new = _parts(after)
    places = {part: row for row, part in enumerate(new)}
    kept = [places.get(old[row], row if len(old) == len(new) else None) for row in rows if row < len(old)]
    return tuple(dict.fromkeys(row for row in kept if row is not None))


def _parts(code: str) -> list[str]:
    return [code[k : k + LETTERS] for k in range(0, len(code), LETTERS)]


def take(code: str) -> bool:
    """Make the reader's points the data; return whether the code is valid. Browsers may send anything."""
    try:
        decode_points(code)
    except ValueError:
        return False
    st.query_params[POINTS.key] = code
    return True
