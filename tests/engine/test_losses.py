"""Losses: their values, which of them bound the 0-1 loss, and what minimises them."""

import numpy as np
import pytest
from sklearn.metrics import hinge_loss, log_loss

from rff_engine import losses

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
    squares = np.maximum(1 - y * decision, 0) ** 2
    assert losses.empirical_risk("squared_hinge", decision, y) == pytest.approx(squares.mean())
    assert losses.empirical_risk("squared_error", decision, y) == pytest.approx(np.mean((decision - y) ** 2) / 2)


def test_empirical_risk_approaches_the_risk():
    """Of f(x) = x on x ~ N(y, 1): the 0-1 risk is the normal distribution function at -1."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 40000)
    found = losses.empirical_risk("zero_one", y + rng.normal(size=40000), y)
    assert abs(found - 0.15866) < 5 * np.sqrt(0.16 * 0.84 / 40000)
