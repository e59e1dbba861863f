"""Parts of a page that wait for the reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.adaptive import compute
from pages.shared import browser, deferred

from .sessions import link, opened

ROOT = Path(__file__).parents[2]


@pytest.fixture
def near(monkeypatch):
    """Names of the parts that the reader is near to; the page waits for the others."""
    names: set[str] = set()
    monkeypatch.setattr(deferred, "waits", True)
    monkeypatch.setattr(deferred, "_near", lambda key, run: float(key.split("_", 1)[1] in names))
    return names


@pytest.fixture
def page():
    """The page, with settings that no other test uses: its results are not cached."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    at.switch_page("pages/adaptive/page.py")
    at.query_params["seed"] = "4711"
    return at


def captions(at) -> str:
    return " ".join(caption.value for caption in at.caption)


@pytest.mark.slow
def test_parts_far_away_are_not_computed(near, page, monkeypatch):
    computed = []
    for name in ("grid_weights", "importance_plane", "landmark_curve"):
        monkeypatch.setattr(compute, name, lambda *args, name=name, **kwargs: computed.append(name))
    assert not page.run().exception
    assert computed == [] and len(page.get("plotly_chart")) == 0
    assert "moving the frequencies lowers it" in captions(page)


@pytest.mark.slow
def test_a_part_is_shown_when_the_reader_is_near(near, page):
    near.update({"grid", "densities"})
    assert not page.run().exception
    assert len(page.get("plotly_chart")) == 2
    assert "Weights for the points" in captions(page) and "Proposition 1" not in captions(page)


def show_refused():
    from pages.shared import deferred
    from pages.shared.server import navigation

    def refuse():
        raise ValueError("r is 7; allowed is 5")

    navigation.record_page("adaptive")
    deferred.show("grid", refuse)


@pytest.mark.slow
def test_an_error_of_a_part_is_one_sentence_in_its_place(near):
    near.add("grid")
    at = AppTest.from_function(show_refused).run()
    assert not at.exception and [error.value for error in at.error] == ["r is 7; allowed is 5."]


@pytest.mark.slow
def test_a_control_runs_again_only_what_follows_it_unless_more_depends_on_it(monkeypatch):
    for settings, key, value, whole in (
        ({"seed": "3"}, "seed", 4, False),
        ({"seed": "3"}, "kernel", "Matérn", True),  # shows its smoothness
        ({"seed": "4711.5"}, "seed", 4, True),  # above it is a note about the link
        ({"lesson": "average-of-cosines"}, "seed", 4, True),
    ):
        app = opened("kernel", **settings)
        with monkeypatch.context() as patch:
            patch.setattr(browser, "interactive", True)
            widget = next(one for one in (*app.slider, *app.selectbox) if one.key == key)
            widget.set_value(value).run()
        assert bool(app.title) == bool(app.slider) == whole
        assert link(app)[key] == str(value)
