"""Live pictures: what the engine computed goes to the browser once, and a canvas follows the sliders at every frame.

Only sums of cosines, softmax and a small linear SVM are evaluated there; a browser test compares them with the engine.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from pathlib import Path

import numpy as np
import streamlit as st

_HERE = Path(__file__).parent


def _read(*names: str) -> str:
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


_landmarks = st.components.v2.component(
    "live_landmarks",
    html=_read("landmarks.html"),
    css=_read("live.css"),
    js=_read("maths.js", "draw.js", "landmarks.js"),
    isolate_styles=False,
)

#: Cells along a side of a live map; the canvas knows it as GRID.
LIVE_CELLS = 100


def _packed(array, dtype) -> str:
    return b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")


def pack_landmarks(problem, view, fresh, extent: float, C: float) -> dict:
    """What the live Landmarks view needs of a problem, its prior's maps and decision, and a fresh sample."""
    rows = [-1] * len(problem.labels) if problem.indices is None else [int(row) for row in problem.indices]
    data = {
        "omega": _packed(problem.omega, "<f4"),
        "loss": _packed(problem.loss, "<f8"),
        "landmarks": _packed(problem.landmarks, "<f4"),
        "points": _packed(problem.X, "<f4"),
        "labels": _packed(problem.y, "i1"),
        "fresh": _packed(fresh.X, "<f4"),
        "fresh_labels": _packed(fresh.y, "i1"),
        "prior_maps": _packed(np.round((view.prior_maps + 1) * 127.5), "u1"),
        "prior_decision": _packed(view.prior.values, "<f4"),
    }
    version = hashlib.sha256(repr((extent, C, rows, sorted(data.items()))).encode()).hexdigest()[:16]
    data |= {"rows": rows, "most": problem.omega.shape[1], "extent": extent, "C": C, "version": version}
    return data | {"prior_train": view.prior.train_error, "prior_test": view.prior.test_error}


def landmarks(packed: dict, beta: float, D: int, *, key: str, on_settled, on_clicked):
    """Mount the live Landmarks view.

    `on_settled` runs when a slider has come to rest: ``st.session_state[key].settled`` is then a dict of beta and D;
    `on_clicked` when a point was clicked: ``st.session_state[key].clicked`` is its row.
    """
    return _landmarks(
        data=packed | {"beta": beta, "D": D},
        key=key,
        on_settled_change=on_settled,
        on_clicked_change=on_clicked,
    )
