"""Rows of boosting and leverage scores, and the means that the tables hold."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.studies import learners
from rff_engine.experiments.studies import certificate


@pytest.fixture(scope="session")
def rows() -> pd.DataFrame:
    return pd.read_csv(learners.SHIPPED)


@pytest.mark.second
def test_the_documented_certificate_of_boosting_is_reached_again():
    text = (Path(__file__).parents[2] / "docs" / "learners.md").read_text(encoding="utf-8")
    cells = re.search(r"^\| breast \| 213 \| (.*) \|$", text, re.MULTILINE)[1]
    made = certificate.certify("breast", "boosting", 0.05, 0, None)
    found = made.risk_bound, made.test_error, made.gibbs_bound, made.test_set_bound
    # A row of 213, or of the test rows, may fall on the other side on another processor.
    assert [float(cell) for cell in re.findall(r"[0-9.]+", cells)] == pytest.approx(100 * np.array(found), abs=1.0)


def test_every_cell_is_the_mean_of_the_errors_chosen_by_validation(rows):
    """By hand for one cell: an SVM on boosted landmarks, and PB landmarks of the bundled reruns."""
    ((_, errors),) = [
        found for found in learners.mean_errors(rows, "table1", "ads", "share", learners.METHODS) if found[0] == 0.05
    ]
    own = rows[(rows["dataset"] == "ads") & (rows["method"] == "landmarks_svm") & (rows["share"] == 0.05)]
    np.testing.assert_allclose(errors["landmarks_svm"], own.sort_values("repeat")["test_error"])
    known = learners.bundled("table1", "ads")
    known = known[(known["landmarks"] == "clustering") & (known["share"] == 0.05) & (known["method"] == "pb_landmarks")]
    for repeat, error in errors["pb_landmarks"].items():
        tried = known[known["repeat"] == repeat]
        least = tried[tried["valid_error"] == tried["valid_error"].min()]
        assert error in set(least["test_error"])


@pytest.mark.slow
def test_kernel_is_that_of_the_bundled_reruns(rows):
    for (name, repeat), found in rows.groupby(["dataset", "repeat"]):
        assert set(found["gamma"]) == {learners.gamma_of(name, repeat)}
