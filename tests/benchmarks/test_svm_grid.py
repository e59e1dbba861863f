"""The banded SVM of the benchmark is libsvm's."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC

from benchmarks.studies.svm_grid import BandedSVM, errors

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs the C compiler cc")


@pytest.fixture(scope="session")
def wide():
    """Points that one column spreads far apart, so that most kernel values are 0."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=600), rng.uniform(-300, 300, 600), rng.normal(size=600)])
    return X, np.where(X[:, 0] + rng.normal(size=600) > 0.3, 1, -1)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_band_takes_the_steps_of_libsvm(wide, C):
    X, y = wide
    svm = BandedSVM(X, y, 0.1)
    assert len(svm.band.values) < 0.3 * len(y) ** 2
    machine = svm.fit(C)
    twin = SVC(C=C, gamma=0.1, shrinking=False).fit(X, y)
    points = np.random.default_rng(1).permutation(X) + 0.1
    # Kernel values that differ in the last digit may lead to other steps, and to another point within the tolerance.
    assert machine.n_steps == pytest.approx(twin.n_iter_[0], rel=0.3)
    np.testing.assert_allclose(svm.decision(machine, points), twin.decision_function(points), atol=5e-3)
    dual = np.zeros(len(y))
    dual[twin.support_] = twin.dual_coef_[0]
    np.testing.assert_allclose(machine.dual.sum(), 0, atol=1e-9 * C * len(y))
    assert (machine.dual * y[svm.order] >= 0).all() and np.abs(machine.dual).max() <= C
    kernel = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    objective = [0.5 * a @ kernel @ a - a @ y for a in (dual, machine.dual[np.argsort(svm.order)])]
    assert objective[1] == pytest.approx(objective[0], rel=1e-4)


@needs_compiler
def test_errors_are_counted_and_larger_C_that_change_nothing_are_skipped(wide):
    X, y = wide
    rows = {"train": slice(400), "valid": slice(400, 500), "test": slice(500, None)}
    split = SimpleNamespace(**{f"X_{part}": X[at] for part, at in rows.items()})
    split.__dict__.update({f"y_{part}": y[at] for part, at in rows.items()})
    svm = BandedSVM(split.X_train, split.y_train, 0.1)
    few, many = errors(svm, 1.0, split), errors(svm, 1e6, split)
    for C, row in ((1.0, few), (1e6, many)):
        twin = SVC(C=C, gamma=0.1).fit(split.X_train, split.y_train)
        for part in ("train", "valid", "test"):
            wrong = (twin.predict(getattr(split, f"X_{part}")) != getattr(split, f"y_{part}")).sum()
            assert abs(row[part] - wrong) <= 1  # a decision value near 0
    assert svm.fit(1e7) is svm.fit(1e6)
