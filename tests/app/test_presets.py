"""Presets: the active one is marked, and a line says what it shows."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.controls import presets
from pages.shared.controls.own_points import OWN

from .sessions import opened, pressed


def marked(app: AppTest) -> list[str]:
    return [button.label for button in app.button if button.proto.type == "primary"]


def line(app: AppTest) -> str:
    (text,) = [
        caption.value for caption in app.caption if "preset" in caption.value or caption.value.startswith("**Shown")
    ]
    return text


@pytest.mark.slow
def test_the_active_preset_is_marked_and_explained():
    app, (first, second, *others) = opened("landmarks"), presets.LANDMARK_PRESETS
    assert marked(app) == [first.name] and first.look_for in line(app)
    for preset in (*others, first, second):
        pressed(app, preset.name)
        assert marked(app) == [preset.name] and preset.look_for in line(app)
    app.session_state["beta"] = 100.0  # no preset sets it
    app.run()
    assert marked(app) == [second.name]
    app.session_state["sigma"] = 2.0
    app.run()
    assert marked(app) == [] and "Shown" not in " ".join(one.value for one in app.caption)
    app.session_state["sigma"] = 0.398
    app.query_params["picks"] = "3-17"  # points that were clicked are no preset
    app.run()
    assert marked(app) == []
    pressed(app, "Draw")
    assert app.session_state["data"] == OWN and "points" in app.query_params
