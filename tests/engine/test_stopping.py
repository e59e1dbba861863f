"""Stopping rules of descents, their warnings and output, and their threads."""

import re
import warnings
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import rff_engine as rff
from rff_engine import _approximation_loss
from rff_engine._blocks import blas_threads
from rff_engine.studies import feature_methods

ADAPTIVE = rff.AdaptiveFourierFeatures(rff.GaussianKernel(1.5), 8, random_state=0)
SUPERVISED = rff.SupervisedFourierFeatures(rff.GaussianKernel(1.5), 4, decay=0.01, random_state=0)
CHOSEN = clone(SUPERVISED).set_params(decay=None)
both = pytest.mark.parametrize("estimator", [ADAPTIVE, SUPERVISED], ids=["adaptive", "supervised"])
every = pytest.mark.parametrize(
    "estimator", [ADAPTIVE, SUPERVISED, CHOSEN], ids=["adaptive", "supervised", "supervised-chosen"]
)


def sample(n=60, d=3):
    X = np.random.default_rng(0).normal(size=(n, d))
    return X, np.where(np.sin(2 * X[:, 0]) > 0, 1, -1)


def fitted(estimator, **parameters):
    """The fitted estimator and its warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        estimator = clone(estimator).set_params(**parameters).fit(*sample())
    return estimator, warned


@both
def test_reaching_max_iter_before_tol_warns_at_the_line_that_fits(estimator):
    short, warned = fitted(estimator, max_iter=3, tol=0)
    assert short.n_iter_ == 3 and len(short.loss_curve_) == 4
    (warning,) = warned
    assert issubclass(warning.category, ConvergenceWarning) and warning.filename == __file__
    for part in (type(estimator).__name__, "3 steps", "max_iter=3", "tol=0"):
        assert part in str(warning.message)


@both
@pytest.mark.parametrize("tol", [0.5, 0.05])
def test_tol_ends_the_descent_at_the_first_ten_steps_of_smaller_decrease(estimator, tol):
    done, warned = fitted(estimator, max_iter=400, tol=tol)
    assert not warned and 10 <= done.n_iter_ < 400
    gains = 1 - done.loss_curve_[10:] / done.loss_curve_[:-10]
    assert gains[-1] < tol and (gains[:-1] >= tol).all()
    further, _ = fitted(estimator, max_iter=400, tol=tol / 10)
    assert further.n_iter_ >= done.n_iter_ and further.loss_curve_[-1] <= done.loss_curve_[-1]


@pytest.mark.slow
def test_early_stop_by_held_out_rows_does_not_warn():
    done, warned = fitted(CHOSEN, max_iter=40, tol=0)
    assert done.n_iter_ == 40 and len(done.loss_curve_) - 1 < 40 and not warned
    short, warned = fitted(CHOSEN, max_iter=1, tol=0)
    assert short.n_iter_ == 1
    assert bool(warned) == (len(short.loss_curve_) == 2)


def test_result_says_whether_the_descent_converged():
    X, y = sample()
    kernel, omega = rff.GaussianKernel(1.5), np.random.default_rng(1).normal(size=(5, 3))
    assert not rff.adapt_frequencies(X[:9], kernel, omega, max_steps=0).converged
    assert not rff.adapt_frequencies(X[:9], kernel, omega, max_steps=2).converged
    found = rff.adapt_frequencies(X[:9], kernel, omega, tol=0.1)
    assert found.converged and found.n_iter == len(found.losses) - 1
    nothing_to_lower = rff.adapt_frequencies(np.zeros((1, 3)), kernel, omega[:1], ridge=0)
    assert nothing_to_lower.converged and nothing_to_lower.n_iter == 0
    assert not rff.supervise_frequencies(X, y, kernel, omega, decay=0.1, max_steps=2).converged


@pytest.mark.slow
@every
def test_verbose_prints_every_tenth_objective(estimator, capsys):
    quiet, _ = fitted(estimator, max_iter=25, tol=1e-9)
    assert capsys.readouterr().out == ""
    loud, _ = fitted(estimator, max_iter=25, tol=1e-9, verbose=1)
    np.testing.assert_array_equal(loud.loss_curve_, quiet.loss_curve_)
    lines = capsys.readouterr().out.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("Iteration 0,")]
    assert len(starts) == (4 if estimator is CHOSEN else 1)
    last = lines[starts[-1] :]  # of the descent to `frequencies_`
    steps = len(loud.loss_curve_) - 1
    expected = [f"Iteration {k}, objective {loud.loss_curve_[k]:.6g}" for k in range(0, steps + 1, 10)]
    assert last[:-1] == expected
    assert re.fullmatch(f"(Converged|Stopped) at iteration {steps}, objective .*", last[-1])
    if estimator is CHOSEN:
        assert [line for line in lines if line.startswith("Decay ")] == [
            f"Decay {decay}, without the held-out rows:" for decay in ("0.0001", "0.001", "0.01")
        ]
        assert f"after {steps} iterations" in lines[starts[-1] - 1]


@pytest.mark.slow
def test_defaults_converge_on_standardised_data():
    X = load_breast_cancer().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        done = rff.AdaptiveFourierFeatures(random_state=0).fit(X)
    drawn = rff.RandomFourierFeatures(random_state=0).fit(X)
    missed = [rff.relative_kernel_error(X, fit.kernel_, fit.transform(X)) for fit in (done, drawn)]
    assert missed[0] < 0.7 * missed[1]


@pytest.mark.parametrize(("size", "alone"), [(1, True), (_approximation_loss._SMALL + 1, False)])
def test_small_descents_hold_blas_to_one_thread(size, alone):
    seen = []

    def objective(V):
        seen.append(blas_threads())
        return float((V**2).sum()), 2 * V, None

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        _approximation_loss.descend(objective, np.ones((1, 2)), 3, 0.0, False, False, size)
        assert blas_threads() == before
    assert max(before) == 2  # a library that another test has loaded may have one thread at most
    assert seen and all(threads == ([1] * len(before) if alone else before) for threads in seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "function", "steps"), [("sample", "adapt_frequencies", 150), ("supervise", "supervise_frequencies", 60)]
)
def test_stored_rows_do_not_depend_on_the_defaults(method, function, steps):
    X, y = sample()
    with patch.object(feature_methods, function, wraps=getattr(rff, function)) as asked:
        feature_methods.fit_features(method, X, y, rff.GaussianKernel(1.5), 3, task="classification", random_state=0)
    given = asked.call_args.kwargs
    assert (given["max_steps"], given["tol"]) == (steps, 1e-3)
