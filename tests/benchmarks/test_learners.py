"""Rows of boosting and leverage scores: the docs show them, and they come out again."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import learners

DOCS = Path(__file__).resolve().parents[2] / "docs" / "learners.md"
KEYS = ["dataset", "repeat", "method", "share", "D", "K", "beta", "ridge"]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return pd.read_csv(learners.SHIPPED)


@pytest.mark.parametrize("table", [learners.landmark_table, learners.feature_table])
def test_tables_of_the_docs_are_those_of_the_rows(table, rows):
    printed = table(rows)
    assert printed.count("\n") > 10 and printed in DOCS.read_text(encoding="utf-8")


def test_docs_say_where_pb_landmarks_err_least(rows):
    assert learners.won_by_pb_landmarks(rows) in DOCS.read_text(encoding="utf-8").replace("\n", " ")


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


def test_no_row_ships_twice_and_all_shares_of_a_split_are_there(rows):
    assert not rows.duplicated(KEYS).any()
    assert (rows[["valid_error", "test_error"]] >= 0).all(axis=None) and (rows["test_error"] < 0.5).all()
    for (_, _, method), found in rows.groupby(["dataset", "repeat", "method"]):
        if method in ("landmarks", "landmarks_svm", "cosines"):
            assert tuple(found["share"]) == learners.SHARES
        elif method == "leverage":
            assert tuple(found["D"]) == learners.FREQUENCIES


def test_kernel_is_that_of_the_bundled_reruns(rows):
    for (name, repeat), found in rows.groupby(["dataset", "repeat"]):
        assert set(found["gamma"]) == {learners.gamma_of(name, repeat)}


@pytest.mark.slow("boosts, and fits linear SVMs, on a split of breast")
def test_shipped_rows_of_breast_come_out_again(rows, tmp_path):
    """Descents end elsewhere on another processor: of 143 test points a few may change sides."""
    output = tmp_path / "rows.csv"
    learners.compute(["breast"], 1, output)
    again, shipped = pd.read_csv(output), rows[(rows["dataset"] == "breast") & (rows["repeat"] == 0)]
    both = shipped.merge(again, on=KEYS, suffixes=("", "_again"))
    assert len(both) == len(again) == len(shipped)
    np.testing.assert_allclose(both["test_error_again"], both["test_error"], atol=0.06)
    assert (both["test_error_again"] - both["test_error"]).abs().mean() < 0.02
    written = output.read_text(encoding="utf-8")
    learners.compute(["breast"], 1, output)
    assert output.read_text(encoding="utf-8") == written  # nothing is computed twice
