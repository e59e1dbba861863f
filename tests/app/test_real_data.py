"""The page on real data: what is known without a run, and what it shows while rows of other settings are to come."""

import json

import numpy as np
import pandas as pd
import pytest

from pages.data import compute
from pages.shared.server.runs import run_queue
from rff_engine.studies.running.run import run_stored

from .sessions import chosen, opened, pressed
from .test_runs import wait


def figures(app) -> list[list]:
    """The traces of every figure."""
    return [json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")]


def captions(app) -> str:
    return " ".join(caption.value for caption in app.caption)


@pytest.mark.slow
@pytest.mark.parametrize("study", ["features D", "landmarks"])
@pytest.mark.parametrize("dataset", compute.DATASETS)
def test_every_shipped_set_is_known_at_once(dataset, study):
    app = opened("real_data", dataset=dataset, study=study)
    assert not run_queue().active() and len(figures(app)) == (3 if study == "features D" else 2)
    assert not [button for button in app.button if button.label == "Run"]
    if study == "features D":
        assert "**5 learned cosines err" in captions(app)


def test_learned_cosines_are_told_in_random_ones():
    errors = {"rff": (0.30, 0.20, 0.10), "pbrff": (0.20, 0.15, 0.11)}
    rows = [(method, D, error) for method, of in errors.items() for D, error in zip((1, 2, 5), of, strict=True)]
    curves = pd.DataFrame(rows, columns=["method", "D", "test_error"])
    assert compute.saving(curves, 1) == (
        "**1 learned cosines err 20.0 %; random ones need 2 for that, and 1 of them err 30.0 %.**"
    )
    assert "random ones need 5" in compute.saving(curves, 2)
    assert "as many random ones err no more, 10.0 %: here learning saves none" in compute.saving(curves, 5)
    never = curves.assign(test_error=curves["test_error"].where(curves["method"] == "pbrff", 0.5))
    assert compute.saving(never, 2).endswith("no number of random ones up to 5 reaches that.**")
    assert compute.saving(curves, 3) == ""


def test_beta_and_methods_choose_among_the_rows():
    rows = compute.shipped_rows("features", "breast")
    one = compute.chosen(rows, ("rff", "pbrff"), 2, "10")
    assert {(row["method"], row["beta"]) for row in one} == {("rff", None), ("pbrff", 10.0)}
    assert {row["repeat"] for row in one} == {0, 1} and len(one) == 2 * 2 * 10


@pytest.mark.slow("fits 5 linear SVMs")
def test_a_drawn_part_of_the_shipped_rows_comes_out_again():
    spec = compute.shipped_spec("features", "breast")
    drawn = np.random.default_rng(0).choice(spec.repeats)
    methods = spec.protocol.preset("splits", methods=("rff",), n_features=(5, 20))
    again = type(spec)(methods, "breast", "random", 1, spec.seed + int(drawn))
    rows = [row for step in run_stored(None, again) for row in step.rows]
    shipped = [row for row in compute.shipped_rows("features", "breast") if row["repeat"] == drawn]
    known = {row["D"]: row for row in shipped if row["method"] == "rff"}
    assert [row["test_error"] for row in rows] == pytest.approx([known[row["D"]]["test_error"] for row in rows])


@pytest.mark.second("computes one repeat")
def test_what_is_known_stays_until_rows_of_other_settings_arrive():
    app = opened("real_data")
    first = figures(app)[0]
    chosen(app, seed=33, repeats=1, methods=["SVM", "RFF"])
    assert not app.exception and not app.error and "Until rows of your settings arrive" in captions(app)
    assert any("A run takes about " in one.value for one in app.markdown)
    pressed(app, "Run")
    (run,) = [run for run in run_queue()._runs.values() if run.settings.seed == 33 and run.settings.repeats == 1]
    wait(run, 600)
    app.run()
    assert "Until rows" not in captions(app) and len(figures(app)[0]) < len(first)
    chosen(app, seed=0, repeats=10, methods=["SVM", "RFF", "PBRFF", "OKRFF"])
    assert figures(app)[0] == first


def test_a_set_without_shipped_rows_says_that_its_time_is_not_known():
    app = opened("real_data", dataset="mnist01")
    assert any("how long it takes is not known" in one.value for one in app.markdown)
    assert len(figures(app)) == 2
