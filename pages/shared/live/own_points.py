"""The canvas on which the reader places points."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager

import streamlit as st

from datasets.points import CELLS, EXTENT, MAX_POINTS, MIN_OF_A_CLASS
from pages.shared.controls import own_points
from pages.shared.controls.widgets import rerun_page
from pages.shared.live import parts

_KEY = "own_points"
_canvas = st.components.v2.component(
    "own_points",
    html=parts.read("own_points.html"),
    css=parts.read("own_points.css"),
    js=parts.script("own_points"),
    isolate_styles=False,
)


def mount(code: str, on_change: Callable[[str, str], None] | None = None) -> None:
    """Show the canvas with the points of a code; `on_change` gets the code before and after a change."""

    def take() -> None:
        sent = str(st.session_state[_KEY].get("points") or "")
        if own_points.take(sent):
            if on_change is not None:
                on_change(code, sent)
            rerun_page()

    _canvas(
        data={
            "points": code,
            "cells": CELLS,
            "extent": EXTENT,
            "most": MAX_POINTS,
            "fewest": MIN_OF_A_CLASS,
            "start": {"name": own_points.start_name(), "points": own_points.start_code()},
        },
        key=_KEY,
        on_points_change=take,
    )


@contextmanager
def beside(code: str, on_change: Callable[[str, str], None] | None = None):
    """Yield in a place for what shows the reader's points, next to the canvas; without a code it is full width."""
    if not code:
        yield
        return
    with st.container(key="drawing"):
        left, right = st.columns([1, 3.4])
    with left:
        mount(code, on_change)
    with right:
        yield
