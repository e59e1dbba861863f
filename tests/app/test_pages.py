"""Every page launches, and works with every control at both ends, without an error or an exception."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.bounds import page as bounds
from pages.shared import catalogue, layout
from pages.shared.catalogue import BY_NAME
from pages.shared.controls import screen
from pages.shared.lessons import content
from pages.shared.server import navigation
from rff_engine.studies.toy.bounds import BoundCurve

from .sessions import opened

ROOT = Path(__file__).parents[2]
PAGES = [page.name for page in catalogue.PAGES if page.measured]


def launch(name: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.run()
    if name != "start":
        app.session_state[navigation._ENTERED] = name  # from here on the page runs without app.py
        app.switch_page(BY_NAME[name].script).run()
    return app


def healthy(app: AppTest) -> bool:
    return not app.exception and not app.error


@pytest.fixture(scope="module", params=PAGES)
def page(request) -> AppTest:
    return launch(request.param)


@pytest.mark.slow
def test_a_page_asks_a_question_and_shows_figures_with_captions(page):
    assert healthy(page)
    question = catalogue.BY_NAME[page.session_state[navigation._ENTERED] or "start"].question
    assert question.endswith("?") and [title.value for title in page.title] == [question]
    # The parts that report the reader's screen, keep the browser's history and explain terms are no figures.
    others = ("screen_look", "step_entries", "glossary_tip")
    parts = [part for part in page.get("bidi_component") if part.key not in others]
    figures = page.get("plotly_chart") + parts
    assert figures
    assert len(page.caption) >= len(figures)


@pytest.mark.slow
def test_a_page_offers_its_own_lessons(page):
    named = [button.key.split() for button in page.button if button.key]
    offered = [key for kind, *rest in named if kind == "lesson" for key in rest]
    assert offered == list(content.lessons_of(page.session_state[navigation._ENTERED] or "start"))


def test_a_caption_says_where_the_error_is_lowest_and_what_the_bound_would_choose():
    betas, errors = (0.1, 1.0, 10.0), (0.3, 0.1, 0.2)
    assert layout.lowest_error(betas, errors) == "**The test error is lowest, 10.0 %, at β = 1.**"
    chosen = layout.lowest_error(betas, errors, betas, (0.6, 0.5, 0.4))
    assert "The bound is smallest at β = 10, where the test error is 20.0 %: it bounds the alignment loss" in chosen
    between = layout.lowest_error(betas, errors, (2.0, 5.0), (0.5, 0.4))
    assert "The bound is smallest at β = 5, and at the nearest, 10, the test error is 20.0 %: it bounds" in between


@pytest.mark.second
def test_captions_of_bounds_say_their_form():
    app = launch("bounds")
    shown = [("How tight?", "smallest value of each"), ("How tight?", "areas add up to Theorem 3")]
    for form, words in (("corrected", "in the corrected form"), ("paper", "as printed by Letarte et al. (2019)")):
        put(app, "form", form)
        for question, of_figure in (*shown, ("At what price?", "To choose the best β")):
            app.session_state["question"] = question
            app.run()
            said = [text for caption in app.caption for text in re.split(r"(?<=[.])(?=[*]{2} )", caption.value)]
            assert any(of_figure in caption and words in caption for caption in said), (question, of_figure)


@pytest.mark.slow
def test_each_question_on_bounds_has_its_own_figures():
    app = launch("bounds")
    figures = {}
    for question in ("Does it hold?", "At what price?", "How tight?"):
        app.session_state["question"] = question
        app.run()
        assert healthy(app)
        figures[question] = {chart.proto.id.rsplit("-", 1)[-1] for chart in app.get("plotly_chart")}
    assert figures == {
        "How tight?": set(),
        "At what price?": {"price figure", "union price", "union figure"},
        "Does it hold?": set(),
    }


def ends(widget) -> list:
    """Values at both ends of a widget of any kind."""
    if widget.type == "slider":
        return [widget.min, widget.max]
    if widget.type in ("select_slider", "selectbox"):
        return [widget.options[0], widget.options[-1]]
    if widget.type == "button_group":
        several = isinstance(widget.value, list)
        return [[], widget.options[:1], list(widget.options)] if several else [widget.options[0], widget.options[-1]]
    if widget.type in ("toggle", "checkbox"):
        return [True, False]
    raise AssertionError(f"a kind of control that is not tested: {widget.type}")


KINDS = ("slider", "select_slider", "selectbox", "button_group", "toggle")


def widgets(app: AppTest) -> list:
    return [widget for kind in KINDS for widget in app.main.get(kind)]


@pytest.mark.second("runs a page at every end of every control")
@pytest.mark.parametrize("name", [name for name in PAGES if name != "start"])
def test_every_control_works_at_both_ends(name):
    app = launch(name)
    if name == "certificates":
        put(app, "n", 200)  # with all 2000 points, every change computes for seconds
    keys = [widget.key for widget in widgets(app)]
    assert keys
    for key in keys:
        found = control(app, key)
        assert found is not None, f"{key} did not come back"
        before = app.session_state[key] if found.type == "select_slider" else found.value
        for value in ends(found):
            put(app, key, value)
            for brought in [widget for widget in widgets(app) if widget.key not in keys]:
                for value_of_brought in ends(brought):
                    put(app, brought.key, value_of_brought)
        put(app, key, before)


def control(app: AppTest, key: str):
    return next((widget for widget in widgets(app) if widget.key == key), None)


def put(app: AppTest, key: str, value) -> None:
    """Set a control, if it is still there, and check that nothing breaks."""
    found = control(app, key)
    if found is None:
        return
    if found.type == "select_slider":  # the test sees its numbers as text
        app.session_state[key] = float(value)
    else:
        found.set_value(value)
    app.run()
    assert not app.exception, (key, value, app.exception)
    # Missing data sets and missing published splits are reported in one sentence.
    for error in app.error:
        assert error.value.endswith(".") and "\n" not in error.value and "Traceback" not in error.value


def test_the_largest_terms_of_a_bound_are_said_with_the_beta_at_which_each_begins():
    terms = {"loss": [9, 9, 9, 9, 9], "confidence": [5, 3, 1, 1, 1], "complexity": [1, 2, 4, 2, 2]}
    terms["deviation"] = [0, 0, 0, 3, 8]
    curve = BoundCurve("kl", np.array([1.0, 2, 4, 8, 16]), {name: np.array(values) for name, values in terms.items()})
    expected = "the ln term up to β = 2, the KL term at 4, the t term from 8 on. The best β balances the terms."
    assert bounds.largest_terms(curve) == f"Besides the loss, the largest term is {expected}"


@pytest.mark.parametrize(
    ("narrow", "dark", "text"),
    [
        (False, False, "On the right, white."),
        (True, False, "Below, white."),
        (False, True, "On the right, dark grey."),
        (True, True, "Below, dark grey."),
    ],
)
def test_words_name_places_and_colours_as_the_screen_shows_them(monkeypatch, narrow, dark, text):
    monkeypatch.setattr(screen, "narrow", lambda: narrow)
    monkeypatch.setattr(screen, "dark", lambda: dark)
    assert screen.words("[[On the right|Below]], <<white|dark grey>>.") == text
    assert screen.words("f[[, on the left,|]] |x| < 1 [a](b)") == (
        "f |x| < 1 [a](b)" if narrow else "f, on the left, |x| < 1 [a](b)"
    )


def test_a_view_is_sent_without_its_script_which_stays_the_same():
    first, second = (
        {part.proto.component_name: part.proto for part in opened("kernel", seed=seed).get("bidi_component")}
        for seed in (0, 1)
    )
    assert first["live_prior"].json != second["live_prior"].json and len(first["live_prior"].js_content) < 300
    assert "class" in first["script_of_prior"].js_content and first["script_of_prior"] == second["script_of_prior"]
