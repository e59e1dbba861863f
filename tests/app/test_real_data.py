"""The page on real data: what it shows while the rows of its settings are still to come."""

import json

import pytest

import datasets
from pages.shared.server.runs import run_queue

from .sessions import chosen, opened, pressed, reached
from .test_runs import wait


def figure(app) -> list:
    """The traces of the one figure."""
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)["data"]


def grey(app) -> list[str]:
    return [caption.value for caption in app.caption if caption.value.startswith("Grey, ")]


@pytest.mark.second("computes one repeat")
def test_results_stay_in_grey_until_those_of_other_settings_arrive(monkeypatch):
    app = opened("real_data", repeats="10")
    first = figure(app)
    assert grey(app) == []
    chosen(app, seed=33, repeats=1, methods=["SVM", "RFF"])
    assert not app.exception and not app.error and figure(app) == first
    (said,) = grey(app)
    assert said.endswith("the results for Repeats 10; First seed 0; Methods SVM, RFF, PBRFF, OKRFF.")
    with monkeypatch.context() as patch:
        patch.setattr(datasets, "status", lambda name: "to fetch")
        app.run()
        assert len(app.error) == 1 and figure(app) == first
    pressed(app.run(), "Run")
    (run,) = [run for run in run_queue()._runs.values() if run.settings.seed == 33 and run.settings.repeats == 1]
    wait(run, 600)
    app.run()
    assert grey(app) == [] and len(figure(app)) < len(first)
    chosen(app, seed=0, repeats=10, methods=["SVM", "RFF", "PBRFF", "OKRFF"])
    assert grey(app) == [] and figure(app) == first


@pytest.mark.slow
def test_a_page_that_has_shown_no_results_says_what_to_press():
    app = reached("real_data", seed="97")
    assert not app.get("plotly_chart") and grey(app) == []
    assert any(note.value.startswith("Press Run") for note in app.info)
