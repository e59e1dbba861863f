"""The page on real data: what is known without a run, and what it shows while rows of other settings are to come."""

import json

import numpy as np
import pandas as pd
import pytest

from pages.data import compute
from pages.data.page import METHODS, STUDIES
from pages.shared.server.runs import run_queue
from rff_engine.studies.running.run import run_stored

from .sessions import chosen, opened, pressed
from .test_runs import wait


def view(app) -> dict:
    """What the live view is sent."""
    (sent,) = [part.proto for part in app.get("bidi_component") if part.proto.component_name == "live_errors"]
    return json.loads(sent.json)


def captions(app) -> str:
    return " ".join(caption.value for caption in app.caption)


@pytest.mark.slow
@pytest.mark.parametrize("study", ["features D", "landmarks"])
@pytest.mark.parametrize("dataset", compute.DATASETS)
def test_every_shipped_set_is_known_at_once(dataset, study):
    app = opened("real_data", dataset=dataset, study=study)
    sent = view(app)
    assert not run_queue().active() and (sent["chosen"], sent["run"]) == (dataset, None)
    assert [known["name"] for known in sent["sets"]] == list(compute.DATASETS)
    assert not [button for button in app.button if button.label == "Run"]
    means = pd.concat([compute.shipped_means(STUDIES[study], one)[dataset] for one in METHODS[study].values()])
    (known,) = [known for known in sent["sets"] if known["name"] == dataset]
    errors = [error for curve in known["curves"] for error in curve["test_error"]]
    assert sorted(errors) == pytest.approx(sorted(100 * means.loc[means["method"] != "svm", "test_error"]), abs=1e-4)
    assert known["svm"] == pytest.approx(100 * means.loc[means["method"] == "svm", "test_error"].item())


def test_beta_and_methods_choose_among_the_rows():
    rows = compute.shipped_rows("features", "breast")
    one = compute.chosen(rows, ("rff", "pbrff"), 2, "10")
    assert {(row["method"], row["beta"]) for row in one} == {("rff", None), ("pbrff", 10.0)}
    assert {row["repeat"] for row in one} == {0, 1} and len(one) == 2 * 2 * 10


@pytest.mark.slow("fits linear SVMs")
@pytest.mark.parametrize(
    "name", ["breast", "digits_odd", pytest.param("wine_good", marks=pytest.mark.second("fits on 4,898 rows"))]
)
def test_a_drawn_part_of_the_shipped_rows_comes_out_again(name):
    spec = compute.shipped_spec("features", name)
    drawn = np.random.default_rng(0).choice(spec.repeats)
    methods = spec.protocol.preset("splits", methods=("rff", "pbrff"), n_features=(5, 20))
    again = type(spec)(methods, name, "random", 1, spec.seed + int(drawn))
    rows = [row for step in run_stored(None, again) for row in step.rows]
    shipped = [row for row in compute.shipped_rows("features", name) if row["repeat"] == drawn]
    known = {(row["method"], row["D"], row["beta"]): row["test_error"] for row in shipped}
    of_same = [known[row["method"], row["D"], row["beta"]] for row in rows]
    assert [row["test_error"] for row in rows] == pytest.approx(of_same)


@pytest.mark.second("computes one repeat")
def test_what_is_known_stays_until_rows_of_other_settings_arrive():
    app = opened("real_data")
    first = view(app)
    chosen(app, seed=33, repeats=1, methods=["SVM", "RFF"])
    assert not app.exception and not app.error and "Until rows of your settings arrive" in captions(app)
    assert view(app)["run"] is None
    assert any("A run takes about " in one.value for one in app.markdown)
    pressed(app, "Run")
    (run,) = [run for run in run_queue()._runs.values() if run.settings.seed == 33 and run.settings.repeats == 1]
    wait(run, 600)
    app.run()
    assert "Until rows" not in captions(app) and view(app)["run"]["runs"] == 1
    assert [known["name"] for known in view(app)["sets"]] == list(compute.DATASETS)
    chosen(app, seed=0, repeats=10, methods=["SVM", "RFF", "PBRFF", "OKRFF"])
    assert view(app) == first


def test_a_set_without_shipped_rows_says_that_its_time_is_not_known():
    app = opened("real_data", dataset="mnist01")
    assert any("How long a run takes is not known" in one.value for one in app.markdown)
    assert view(app)["chosen"] == "mnist01" and view(app)["run"] is None
