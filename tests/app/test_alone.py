"""One picture alone, by its name in the link."""

from __future__ import annotations

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.components.catalogue import BY_NAME, PAGES
from pages.components.controls import alone
from pages.components.controls.alone import View
from rff_engine.figures.live import parts as live_parts

from .sessions import opened

LIVE = {page.name: page.view for page in PAGES if page.view}


def views(app: AppTest) -> dict[str, dict]:
    """The data of live views on the page."""
    parts = [part for part in app.get("bidi_component") if part.proto.component_name.startswith("live_")]
    return {part.proto.component_name.removeprefix("live_"): json.loads(part.proto.json) for part in parts}


def whole_page_link(app: AppTest) -> str:
    (text,) = [shown.value for shown in app.markdown if shown.value.startswith("[Whole page]")]
    return text.removeprefix("[Whole page](").removesuffix(")")


@pytest.mark.parametrize("page", LIVE)
def test_every_part_of_a_live_view_has_a_name_and_every_name_a_part(page):
    html = live_parts.read(f"{LIVE[page]}.html")
    parts = {name for names in re.findall(r'data-part="([^"]*)"', html) for name in names.split()}
    assert parts == {picture.name for picture in BY_NAME[page].pictures if picture.live}


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "name", "query"),
    [
        ("start", "opening", {}),
        ("kernel", "line", {"D": "7"}),
        ("approximate", "methods", {"r": "7"}),
        ("landmarks", "maps", {"beta": "10", "plain": "true"}),
        ("learn_kernel", "kernels", {"rho": "0.1"}),
        ("bounds", "terms", {"hide": "all"}),
        ("certificates", "ledger", {"stretch": "0.5"}),
        ("adaptive", "player", {"r": "5"}),
    ],
)
def test_a_part_of_a_live_view_is_shown_alone(page, name, query):
    app = opened(page, view=name, **query)
    assert not app.warning and not app.get("plotly_chart")
    ((live_name, data),) = views(app).items()
    assert (live_name, data["alone"]) == (LIVE[page], name)
    assert not app.download_button
    link = whole_page_link(app)
    assert link.startswith("./" + ("" if page == "start" else page)) and "view=" not in link
    assert all(f"{key}={value}" in link for key, value in query.items())


@pytest.mark.slow
@pytest.mark.parametrize("name", [picture.name for picture in BY_NAME["kernel"].pictures if not picture.live])
def test_a_figure_is_shown_alone(name):
    app = opened("kernel", view=name, D="7")
    (chart,) = app.get("plotly_chart")
    assert chart.proto.id.endswith(f"-{name}")
    assert "height" not in json.loads(chart.proto.spec)["layout"]  # that of the window
    assert "D=7" in whole_page_link(app)


@pytest.mark.slow
def test_an_unknown_picture_is_named_with_those_allowed_and_the_page_is_whole():
    app = opened("bounds", view="nonsense", beta="10")
    (note,) = [warning.value for warning in app.warning]
    assert note == (
        "The link asked for view = ` 'nonsense' `; allowed is one of curves, terms, map, so the whole page is shown."
    )
    assert "view" not in app.query_params and app.session_state["beta"] == 10
    assert views(app)["bounds"]["alone"] is None and len(app.caption) > 1


@pytest.mark.slow
def test_a_page_without_such_pictures_does_not_know_the_name():
    (note,) = [warning.value for warning in opened("paper", view="maps").warning]
    assert note.startswith("The link asked for ` 'view' `, no setting of this page; allowed is any of ")


@pytest.mark.slow
def test_the_control_of_your_data_of_that_name_is_left_alone():
    app = opened("your_data", view="kernel learning")
    assert not app.warning and app.session_state["view"] == "kernel learning"
    assert not any(alone._STYLE in shown.proto.body for shown in app.get("html"))


def test_a_view_is_one_name():
    assert View("start").sanitize(["opening"]) == ("opening", None)
    taken, note = View("start").sanitize(["opening", "opening"])
    assert taken is None and note.endswith("allowed is opening, so the whole page is shown.")
