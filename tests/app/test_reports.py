"""What components of the browser report: anyone may send anything in its place, which is ignored."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.util import AttributeDictionary

from pages.bounds import page as bounds
from pages.bounds.certificates import page as certificates
from pages.kernel import page as kernel
from pages.landmarks import page as landmarks
from pages.shared import deferred, lessons, live, sharing
from pages.shared.controls import screen
from pages.shared.controls.widgets import Scale
from pages.shared.lessons import classroom, content, predictions
from pages.shared.live import own_points
from pages.shared.sharing import codes

ROOT = Path(__file__).parents[2]
ANYTHING = [None, True, -1, 7, 10**400, 0.5, 1e308, math.nan, -math.inf, "", "7", "\ud800", [], [[7]], ["7"], [-7, 7.0]]
ANYTHING += [{}, {"7": 7}, {"customdata": "7"}, {"lesson": ["average-of-cosines"]}, [10**400]]
LESSON = content.lessons_of("kernel")["average-of-cosines"]
BETA = Scale("beta", "beta", values=(0.1, 1.0, 10.0))
NAMES = [
    "answer",
    "restore",
    "summary",
    "leave",
    "back",
    "next",
    "open room",
    "close room",
    "reveal",
    "lead",
    "show code",
]


def short(value) -> str:
    return repr(value)[:20]


@pytest.fixture(autouse=True)
def state(monkeypatch):
    """The session's state and the address, as dictionaries."""
    found, query = {}, {}
    monkeypatch.setattr(st, "session_state", found)
    monkeypatch.setattr(st, "query_params", query)
    monkeypatch.setattr(st, "toast", lambda text: None)
    monkeypatch.setattr(classroom, "open_room", lambda lesson: False)
    return SimpleNamespace(of=found, query=query)


def reported(state, component: str, **values) -> None:
    state.of[component] = AttributeDictionary(values)


def test_every_callback_of_a_component_has_a_test_here():
    known = {"act", "look", "link", "points", "settled", "clicked", "reached", "near"}
    sources = [path.read_text(encoding="utf-8") for path in ROOT.glob("pages/**/*.py")]
    assert {name for source in sources for name in re.findall(r"on_(\w+)_change", source)} == known


@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_a_look_of_the_screen(state, value):
    for look in ({"narrow": value, "dark": True}, {"narrow": True}, value):
        reported(state, "screen_look", look=look)
        screen._take()
        assert (screen._LOOK in state.of) == (value is True)
    reported(state, "screen_look")
    screen._take()


@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_a_link_of_the_panel(state, value):
    reported(state, "sharing", link=value)
    sharing._take_link()
    picture = codes.picture_of(state.of.get(sharing._SHOWN_LINK))
    assert picture is None or isinstance(value, str)
    reported(state, "sharing")
    sharing._take_link()


@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_drawn_points(state, value, monkeypatch):
    mounted = {}
    monkeypatch.setattr(own_points, "_canvas", lambda **given: mounted.update(given))
    own_points.mount("", lambda before, after: pytest.fail("they are not drawn"))
    reported(state, "own_points", points=value)
    mounted["on_points_change"]()
    reported(state, "own_points")
    mounted["on_points_change"]()
    assert not state.query


@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_a_slider_or_a_click_of_a_live_view(state, value, monkeypatch):
    mounted, clicked = {}, []
    monkeypatch.setitem(live._components, "landmarks", lambda **given: mounted.update(given))
    monkeypatch.setattr(live, "hide_controls", lambda keys: None)
    live.mount("landmarks", {}, SimpleNamespace(beta=1.0), (BETA,), clicked.append)
    for settled in (value, {"beta": value}, {}):
        reported(state, "live_landmarks", settled=settled)
        mounted["on_settled_change"]()
        assert state.of.get("beta", 1.0) in BETA.values
    reported(state, "live_landmarks", clicked=value)
    mounted["on_clicked_change"]()
    reported(state, "live_landmarks")
    mounted["on_settled_change"]()
    mounted["on_clicked_change"]()
    assert len(clicked) == 2


@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_what_a_click_chooses(state, value):
    landmarks.pick(value)
    assert state.query.get("picks", "") == ""
    bounds.choose_bound(value)
    assert state.of.get("bound", next(iter(bounds.NAMES.values()))) in bounds.NAMES.values()
    state.of["seed"] = 1
    certificates.new_points(value)


@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_whether_a_part_is_near(state, value):
    reported(state, "place_kernel", near=value)
    near = deferred._near("kernel", run=3)
    assert near == 0 or (near is value and near > 0)
    reported(state, "place_kernel", near=-3)
    assert deferred._near("kernel", run=3) == -3 and deferred._near("kernel", run=4) == 0
    reported(state, "place_kernel")
    assert deferred._near("kernel", run=3) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_a_button_of_a_lesson(state, name, value):
    """Each with its own value changed to anything, and with its name, lesson or step changed."""
    tour = lessons.Tour("kernel", kernel.CONTROLS)
    press = {"lesson": LESSON.key, "step": 1, "name": name}
    wrong = [value, {}, press | {"lesson": value}, press | {"step": value} if value is not True else {}]
    wrong += [press | {"name": value} if not isinstance(value, str) else {}, {"lesson": LESSON.key, "step": 1}]
    for act in wrong:
        state.of[lessons._PLACE] = place = lessons.Place(LESSON.key, 1)
        reported(state, "lesson_card", act=act)
        tour._act()
        assert state.of[lessons._PLACE] == place and not state.query
    reported(state, "lesson_card", act=press | dict.fromkeys(("answer", "predicted", "link", "secret"), value))
    tour._act()
    assert set(predictions._of(LESSON).values()) <= set(range(len(LESSON.steps[0].answers)))


@pytest.mark.parametrize("value", ANYTHING, ids=short)
def test_a_button_of_a_summary(state, value):
    tour = lessons.Tour("kernel", kernel.CONTROLS)
    for act in (value, {"lesson": value}, {"lesson": LESSON.key}, {"lesson": LESSON.key, "name": value}):
        reported(state, "lesson_summary", act=act)
        tour._act_on_summary()
    state.query["step"] = str(value) if not isinstance(value, int) else "1e999"
    for name in ("restore", "leave"):
        reported(state, "lesson_summary", act={"lesson": LESSON.key, "name": name, "predicted": value})
        tour._act_on_summary()
    assert state.query["step"] == "1" or name == "restore"
