"""Losses: their values, which of them bound the 0-1 loss, and what minimises them."""

import numpy as np
import pytest
from sklearn.metrics import hinge_loss, log_loss

from rff_engine import linear_svm_path, losses

MARGINS = np.linspace(-3, 3, 61)
SURROGATES = ("hinge", "squared_hinge", "logistic")


def of_margin(name):
    return losses.LOSSES[name](MARGINS, np.ones(61))


@pytest.mark.parametrize("name", SURROGATES)
def test_surrogates_are_convex_above_the_zero_one_loss_and_one_at_the_boundary(name):
    values = of_margin(name)
    assert (values >= of_margin("zero_one") - 1e-12).all()
    assert (np.diff(values, 2) > -1e-12).all()
    assert losses.LOSSES[name]([0.0], [1.0]) == pytest.approx(1)


@pytest.mark.parametrize("name", ["zero_one", *SURROGATES])
def test_losses_depend_on_the_margin_alone_and_are_never_negative(name):
    loss = losses.LOSSES[name]
    np.testing.assert_allclose(loss(-MARGINS, -np.ones(61)), of_margin(name))
    assert (of_margin(name) >= 0).all() and (np.diff(of_margin(name)) <= 0).all()


def test_zero_counts_as_an_error():
    np.testing.assert_array_equal(losses.zero_one([0.0, 0.0, 2.0, -2.0], [1, -1, 1, 1]), [1, 1, 0, 1])


def test_losses_equal_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    decision, y = rng.normal(size=50), rng.choice([-1.0, 1.0], 50)
    assert losses.empirical_risk("hinge", decision, y) == pytest.approx(hinge_loss(y, decision))
    probability = 1 / (1 + np.exp(-decision))
    assert losses.empirical_risk("logistic", decision, y) == pytest.approx(log_loss(y, probability) / np.log(2))
    assert losses.empirical_risk("squared_error", decision, y) == pytest.approx(np.mean((decision - y) ** 2) / 2)


def test_linear_svm_minimises_the_squared_hinge_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    (w,), (b,) = linear_svm_path(X, y, [2.0])

    def objective(w, b):
        return 0.5 * (w @ w + b * b) + 2.0 * 60 * losses.empirical_risk("squared_hinge", X @ w + b, y)

    for step in 1e-3 * rng.normal(size=(20, 3)):
        assert objective(w + step[:2], b + step[2]) > objective(w, b)


def test_empirical_risk_approaches_the_risk():
    """Of f(x) = x on x ~ N(y, 1): the 0-1 risk is the normal distribution function at -1."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 40000)
    found = losses.empirical_risk("zero_one", y + rng.normal(size=40000), y)
    assert abs(found - 0.15866) < 5 * np.sqrt(0.16 * 0.84 / 40000)


@pytest.mark.parametrize(
    ("decision", "y", "said"),
    [
        ([1.0], [1.0, 1.0], "decision has shape"),
        ([], [], "decision has shape"),
        ([[1.0]], [[1.0]], "decision has shape"),
        ([np.inf], [1.0], "decision contains"),
        ([1.0], [0.0], "y contains 0"),
    ],
)
def test_invalid_input_is_refused(decision, y, said):
    for name in ("zero_one", *SURROGATES):
        with pytest.raises(ValueError, match=said):
            losses.LOSSES[name](decision, y)


def test_an_unknown_loss_is_refused():
    with pytest.raises(ValueError, match="loss is 'l1'"):
        losses.empirical_risk("l1", [1.0], [1.0])
