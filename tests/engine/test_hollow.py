"""What makes a certificate hollow is said once, and honest rows get no warning."""

import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import rff_engine as rff
from rff_engine._hollow import copies_are_meant, warn_if_hollow

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
TREE = rff.CertifiedClassifier(estimator=DecisionTreeClassifier(max_depth=2), random_state=0)


def said(X, y) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TREE.fit(X, y)
    return [str(one.message) for one in caught]


def test_honest_rows_get_no_warning():
    assert said(X, Y) == []
    assert said(X.round(), Y) == []  # few values, which repeat
    assert said(np.sign(X), Y) == []
    assert said(X[:15][:, [0, 0]], X[:15, 0] > 0) == []  # too few rows to tell


def test_copies_of_rows_are_counted():
    (warning,) = said(np.tile(X[:40], (5, 1)), np.tile(Y[:40], 5))
    assert warning.startswith("160 of 200 rows are copies of others") and warning.endswith("keep one of each.")


def test_copies_are_meant_in_one_thread_alone():
    copied = np.tile(X[:40], (5, 1)), np.tile(Y[:40], 5)
    with copies_are_meant(), ThreadPoolExecutor(1) as pool:
        assert said(*copied) == []
        with pytest.warns(UserWarning, match="copies of others"):
            pool.submit(warn_if_hollow, *copied).result()


@pytest.mark.parametrize("y", [X[:, 1] > 0.3, np.digitize(X[:, 1], [-0.5, 0.5])])
def test_a_column_that_tells_the_classes_is_named(y):
    (warning,) = said(X, y)
    assert warning.startswith("A single column tells the classes (column 1): leave it out")


def test_texts_that_tell_the_classes_are_named():
    frame = np.column_stack([X, np.array(["a", "b"])[Y]]).astype(object)
    with pytest.warns(UserWarning, match=r"^A single column tells the classes \(kind\)"):
        warn_if_hollow(frame, Y, ["x", "y", "z", "kind"])


@pytest.mark.parametrize("step", [1, -1])
def test_rows_in_the_order_of_a_column_are_named(step):
    (warning,) = said(X[np.argsort(X[:, 2])[::step]], Y)
    assert warning.startswith("The rows are in the order of a column (column 2): where each depends")


def test_many_rows_are_looked_at_in_part_and_not_copied():
    many = np.random.default_rng(1).normal(size=(40_000, 20)).astype(np.float32)
    labels = np.random.default_rng(2).integers(0, 2, len(many))
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_hollow(many, labels)
    assert tracemalloc.get_traced_memory()[1] < many.nbytes
    tracemalloc.stop()
    many[:, 3] = np.sort(many[:, 3])
    many[:, 5] = labels
    many[-3000:], labels[-3000:] = many[:3000], labels[:3000]
    many[:3000, 0], many[-3000:, 0] = 0.0, -0.0  # one number
    with pytest.warns(UserWarning) as caught:
        warn_if_hollow(many, labels)
    assert [str(one.message)[:38] for one in caught] == [
        "3000 of 40000 rows are copies of other",
        "A single column tells the classes (col",
    ]
    many[-3000:, 3] = np.inf
    with pytest.warns(UserWarning, match=r"in the order of a column \(column 3\)"):
        warn_if_hollow(many, labels)
