"""Tables of result rows, on rows small enough to compute by hand."""

import io

import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from rff_engine.studies.problem import COLUMNS
from rff_engine.studies.reports.tables import best_by_validation, error_by_features, error_by_share, to_csv, to_frame


def row(method, valid, test, **fields):
    values = {"run": "r", "dataset": "toy", "split": "published", "repeat": 0, "note": "", "seconds": 0.1}
    values |= {"gamma": 1.0, "C": 1.0, "train_error": 0.0, "valid_error": valid, "test_error": test}
    return dict.fromkeys(COLUMNS) | values | {"method": method} | fields


SWEEP = [
    row("svm", 0.1, 0.1),
    row("rff", 0.4, 0.5, D=1),
    row("pbrff", 0.3, 0.31, D=1, beta=0.1),
    row("pbrff", 0.2, 0.32, D=1, beta=1.0),
    row("pbrff", 0.2, 0.22, D=1, beta=10.0),
    row("rff", 0.3, 0.3, D=2),
    row("pbrff", 0.1, 0.12, D=2, beta=0.1),
    row("pbrff", 0.1, 0.11, D=2, beta=1.0),
]
STUDY = [
    row("svm", 0.1, 0.1),
    row("rbf_landmarks", 0.2, 0.3, landmarks="random", share=0.1),
    row("pb_landmarks", 0.3, 0.1, landmarks="random", share=0.1, D=8, beta=1.0),
    row("pb_landmarks", 0.2, 0.2, landmarks="random", share=0.1, D=16, beta=1.0),
    row("rbf_landmarks", 0.2, 0.4, landmarks="clustering", share=0.1),
]


def test_the_first_of_the_smallest_validation_errors_is_kept_for_each_D():
    best = best_by_validation(SWEEP)
    assert list(best["test_error"]) == [0.1, 0.5, 0.3, 0.32, 0.12]
    assert list(best["method"]) == ["svm", "rff", "rff", "pbrff", "pbrff"]


def test_rows_may_come_in_any_order():
    for rows in (SWEEP, STUDY):
        pd.testing.assert_frame_equal(to_frame(rows[::-1]), to_frame(rows))
        for over in (("beta", "rho"), ("beta", "rho", "D")):
            pd.testing.assert_frame_equal(best_by_validation(rows[::-1], over), best_by_validation(rows, over))


def test_the_choice_can_be_over_D_too():
    assert list(best_by_validation(STUDY)["test_error"]) == [0.1, 0.4, 0.3, 0.1, 0.2]
    assert list(best_by_validation(STUDY, over=("beta", "rho", "D"))["test_error"]) == [0.1, 0.4, 0.3, 0.2]
    assert len(best_by_validation(SWEEP, over=())) == len(SWEEP)


def test_each_repeat_has_its_own_choice_before_averaging():
    again = [
        {**known, "repeat": repeat, "test_error": known["test_error"] + 0.1 * repeat}
        for known in SWEEP
        for repeat in (1, 2)
    ]
    curve = error_by_features(SWEEP + again)
    assert list(curve.columns) == ["dataset", "method", "D", "test_error", "half_width", "train_error", "runs"]
    at = curve[(curve["method"] == "pbrff") & (curve["D"] == 1)].iloc[0]
    assert at["test_error"] == pytest.approx(0.42) and at["runs"] == 3
    interval = ttest_1samp([0.32, 0.42, 0.52], 0).confidence_interval(0.95)
    assert at["half_width"] == pytest.approx((interval.high - interval.low) / 2)
    assert error_by_features(SWEEP)["half_width"].isna().all()


def test_error_by_share_is_that_of_the_chosen_rows():
    curve = error_by_share(STUDY).set_index(["method", "landmarks"])["test_error"]
    assert curve["pb_landmarks", "random"] == 0.2 and curve["rbf_landmarks", "clustering"] == 0.4


def test_csv_keeps_the_rows():
    text = to_csv(SWEEP)
    assert text.splitlines()[0] == ",".join(COLUMNS)
    settings = ["method", "D", "beta", "C", "test_error"]
    again = best_by_validation(pd.read_csv(io.StringIO(text)))
    pd.testing.assert_frame_equal(again[settings], best_by_validation(SWEEP)[settings], check_dtype=False)
    assert ",1,0.1,," in text  # D is a whole number, what does not apply is empty


def test_no_rows_give_empty_tables():
    assert to_csv([]) == ",".join(COLUMNS) + "\n"
    assert len(best_by_validation([])) == len(error_by_features([])) == len(error_by_share([])) == 0


def test_invalid_rows_and_choices_are_rejected():
    with pytest.raises(ValueError, match="lack the column 'run'"):
        to_frame([{"dataset": "toy"}])
    with pytest.raises(ValueError, match="'C'"):
        best_by_validation(SWEEP, over=("C",))
