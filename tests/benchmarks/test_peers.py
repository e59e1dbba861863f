"""The comparison with other libraries gives every method the same rows and as many features."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import peers

GAMMA = 0.5


@pytest.fixture(scope="session")
def split():
    return peers.scaled_split("breast")


@pytest.mark.parametrize("method", peers.METHODS, ids=lambda method: f"{method.library}, {method.name}")
def test_every_method_makes_as_many_features(method, split):
    if method.library in peers.missing():
        pytest.skip(f"{method.library} is not installed")
    features = method.make(GAMMA, 20, 0, method.values[0]).fit(split.X_train, split.y_train)
    assert features.transform(split.X_test).shape == (len(split.y_test), 20)


def test_columns_are_scaled_by_the_training_rows(split):
    assert split.X_train.min() == 0 and split.X_train.max() == pytest.approx(1)
    assert not np.allclose(split.X_test.max(axis=0), 1)


def test_the_least_error_of_a_column_is_bold_and_the_seeds_are_averaged():
    first, second, third = (method.name for method in peers.METHODS[:3])
    rows = [
        ("breast", 20, first, 0, 0.1, 1.0, 2.0),
        ("breast", 20, first, 1, 0.3, 3.0, 4.0),
        ("breast", 20, second, 0, 0.1, 1.0, 0.25),
        ("breast", 500, first, 0, 0.1, 1.0, 0.25),
        ("adult", 20, third, 0, 0.01, 1.0, 0.25),
    ]
    columns = ["dataset", "features", "method", "seed", "test_error", "seconds", "model_seconds"]
    lines = peers.table(pd.DataFrame(rows, columns=columns), "breast", [20, 500]).splitlines()
    assert len(lines) == 4
    assert lines[2].endswith("| 20.0 % (2 + 3 s) | **10.0** % (1 + 0.25 s) |")
    assert lines[3].endswith("| **10.0** % (1 + 0.25 s) | – |")


@pytest.mark.parametrize(("seconds", "shown"), [(1e-5, "0.001"), (0.01234, "0.012"), (1.26, "1.3"), (123.4, "123")])
def test_seconds_have_two_digits(seconds, shown):
    assert peers._rounded(seconds) == shown


def test_no_method_makes_more_features_than_it_has_rows_for():
    made = {setting["method"] for setting in peers.settings(["breast"], [500], 1)}
    assert "RBFSampler" in made and not made & {"Nystroem", "NystroemFeatures, k-means", "LandmarkSimilarity"}


def test_what_is_measured_is_kept(monkeypatch, tmp_path):
    arguments = ["peers", "--data", "breast", "--features", "20", "--repeats", "1", "--results", f"{tmp_path}/rows.csv"]
    monkeypatch.setattr("sys.argv", arguments)
    monkeypatch.setattr(peers, "missing", lambda: {"rfflearn", "rff-engine"})
    monkeypatch.setattr(peers, "best", lambda *_: {"test_error": 0.25, "seconds": 1.5, "model_seconds": 2.5})
    peers.main()
    monkeypatch.setattr(peers, "best", lambda *_: pytest.fail("measured again"))
    peers.main()


def test_a_missing_library_is_left_out_with_a_line(monkeypatch):
    monkeypatch.setattr(peers, "missing", lambda: {"rfflearn"})
    assert peers.notes(["breast"], 3).endswith("Not installed, so left out: rfflearn.")
    left = {setting["method"] for setting in peers.settings(["breast"], [20], 1)}
    assert left == {method.name for method in peers.METHODS if method.library != "rfflearn"}
