"""Undo and redo: a gesture is one step, of a control, of a preset, and of the points that are drawn."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from datasets.points import encode_points
from pages.shared.controls import own_points
from pages.shared.controls.undo import MAX_STEPS, Steps

from .sessions import opened


def went(*values: int) -> Steps:
    steps = Steps("page")
    for value in values:
        steps.record({"beta": value})
    return steps


def shown(steps: Steps) -> int:
    return steps.entries[steps.place]["beta"]


def undo(steps: Steps, by: int = -1) -> int:
    entry = dict(steps.move(by))
    steps.record(entry)
    return entry["beta"]


def test_undo_and_redo_go_through_the_settings_in_order():
    steps = went(1, 2, 3)
    assert not steps.can_move(1) and [undo(steps), undo(steps)] == [2, 1]
    assert not steps.can_move(-1) and [undo(steps, 1), undo(steps, 1)] == [2, 3]


def test_a_run_without_a_change_is_no_step():
    steps = went(1, 1, 2, 2, 2)
    assert (len(steps.entries), steps.runs) == (2, 5)


def test_a_change_after_undo_replaces_what_could_be_redone():
    steps = went(1, 2, 3)
    undo(steps)
    steps.record({"beta": 7})
    assert not steps.can_move(1) and [undo(steps), undo(steps)] == [2, 1]


def test_settings_that_the_browser_brings_back_are_an_undo():
    steps = went(1, 2)
    steps.record({"beta": 1})
    assert steps.can_move(1) and not steps.can_move(-1)
    steps.record({"beta": 2})
    assert steps.can_move(-1) and len(steps.entries) == 2


@pytest.mark.slow
def test_the_history_is_bounded():
    steps = went(*range(3 * MAX_STEPS))
    assert len(steps.entries) == MAX_STEPS + 1 and shown(steps) == 3 * MAX_STEPS - 1
    for _ in range(MAX_STEPS):
        undo(steps)
    assert not steps.can_move(-1) and shown(steps) == 2 * MAX_STEPS - 1


def press(app: AppTest, key: str) -> None:
    app.button(key).click().run()
    assert not app.exception and not app.error


@pytest.mark.slow
def test_a_preset_is_one_step():
    app = opened("landmarks", beta="10")
    assert app.button("undo").disabled and app.button("redo").disabled
    press(app, "preset Spirals")
    settings = {key: app.session_state[key] for key in ("data", "D", "landmarks", "sigma", "beta")}
    assert settings["data"] == "spirals" and settings["beta"] == 1.0
    press(app, "undo")
    assert app.session_state["data"] == "moons" and app.session_state["beta"] == 10.0
    assert app.button("undo").disabled and not app.button("redo").disabled
    press(app, "redo")
    assert {key: app.session_state[key] for key in settings} == settings


@pytest.mark.slow
def test_undo_takes_back_clicked_landmarks_and_drawn_points():
    code = encode_points([[0, 0], [0, 1], [1, 1], [1, 0]], [1, 1, -1, -1])
    app = opened("landmarks", data=own_points.OWN, points=code, how="clicked", picks="0-2")
    drawn = code + code[:4]
    app.query_params["points"] = drawn
    app.run()
    app.query_params["picks"] = "0"
    app.run()
    press(app, "undo")
    assert "".join(app.query_params["picks"]) == "0-2" and "".join(app.query_params["points"]) == drawn
    press(app, "undo")
    assert "".join(app.query_params["points"]) == code and app.button("undo").disabled
