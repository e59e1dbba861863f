"""The width of the prior in live views: the server sends draws, which do not depend on it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.components.controls.toy import SIGMA, SIGMA_LIVE
from pages.components.controls.toy_data import ToyData
from pages.components.results import landmarks, learning
from pages.learn_kernel import RADIUS

ROOT = Path(__file__).parents[2]


def opened(page: str, **settings: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["view"] = "opening"  # the least that opens the app
    app.run()
    app.query_params.clear()
    app.query_params.update(settings)
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception and not app.error
    return app


def sent(app: AppTest) -> dict:
    """What the live view gets."""
    (data,) = [part.proto.json for part in app.get("bidi_component") if part.proto.component_name.startswith("live_")]
    return json.loads(data)


@pytest.mark.parametrize("page", ["landmarks", "learn_kernel"])
def test_another_width_changes_nothing_that_the_live_view_gets_but_the_width(page):
    app = opened(page)
    first = sent(app)
    for sigma in (SIGMA_LIVE.values[0], 0.457, SIGMA_LIVE.values[-1]):
        app.session_state["sigma"] = sigma
        app.run()
        assert not app.exception and not app.error
        assert sent(app) == first | {"settings": first["settings"] | {"sigma": sigma}}


def test_another_order_than_2_is_computed_by_the_server_with_the_width_of_the_sidebar():
    data = sent(opened("learn_kernel", mu="3"))
    assert "draws" not in data and data["mu"] == 3 and set(data["settings"]) == {"beta", "rho"}


def test_every_width_of_older_links_is_still_one():
    assert set(SIGMA.values) <= set(SIGMA_LIVE.values)


@pytest.mark.parametrize("n", [20, 1000])
def test_draws_take_no_more_bytes_than_what_is_made_of_them(n):
    data = ToyData("moons", n, 0.1, 0)
    for count in (1, 8):
        settings = landmarks.LandmarkSettings(data, 1.0, landmarks.MAX_FREQUENCIES, count, "random")
        packed = landmarks.live_landmarks(replace(settings, sigma=0.501), 1.0)
        assert len(json.dumps(landmarks.drawn_landmarks(settings, 1.0))) < len(json.dumps(packed))
    for N in (50, 5000):
        candidates = learning.CandidateSettings(data, 1.0, N)
        packed = learning.live_kernel(replace(candidates, sigma=0.251), RADIUS.values, 2.0)
        assert len(json.dumps(learning.drawn_kernel(candidates))) < len(json.dumps(packed))
