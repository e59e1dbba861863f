"""Excess losses: the bound on them, the weights where it is least, what a level must gain, and the table."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from benchmarks.studies import excess_losses, seven_sets
from rff_engine import bounds
from rff_engine.certificates import excess_bound, excess_logarithms, unit_features


def test_the_bound_is_the_least_over_rates_for_the_mean_logarithm_of_pairs_of_voters():
    rng = np.random.default_rng(0)
    new, old, gamma = rng.random(30), rng.random(30), 0.5
    chances = {1 - gamma: new * old, 1.0: new * (1 - old), -gamma: (1 - new) * old}
    reached = [
        (1 - np.exp(sum((p * np.log(1 - a * x)).mean() for x, p in chances.items()) - (2 - np.log(0.05)) / 30)) / a
        for a in excess_losses._RATES
    ]
    assert excess_bound(new, old, 2.0, gamma, 0.05, excess_losses._RATES) == pytest.approx(reached)
    assert min(reached) > new.mean() - gamma * old.mean()


def test_at_one_rate_the_excess_of_a_learner_is_bounded_as_often_as_promised():
    """A voter of the other sign wherever the rows say so, at the divergence of one of two: an adversarial posterior."""
    rng = np.random.default_rng(0)
    risks, epsilon, failed = np.array([0.45, 0.5]), 0.2, 0
    for _ in range(2000):
        errors = (rng.random((2, 40)) < risks[:, None]).astype(float)
        best = int(errors.mean(axis=1).argmin())
        old = (rng.random(40) < 0.5).astype(float)
        failed += risks[best] - 0.5 > excess_bound(errors[best], old, np.log(2), 1.0, epsilon, 0.4)
    assert failed < 1.2 * epsilon * 2000
    same = np.zeros(40)
    assert excess_bound(same, 1 - same, 0.0, 1.0, epsilon, 0.4) < -0.5  # not hollow


def test_weights_of_least_excess_are_near_the_old_ones_and_lower_the_bound():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(600) < 0.5, 1.0, -1.0)
    aligned = unit_features(rng.normal(size=(600, 3)) + y[:, None] * [1.0, 0.0, 0.0]) * y[:, None]
    mean = 4 * np.array([0.0, 1.0, 0.0, 0.0])  # a prior that looks at the wrong feature
    old = (aligned @ mean <= 0).astype(float)
    moved = excess_losses.least_excess(aligned, old, mean, 1.0, 600)
    kl = np.sum((moved - mean) ** 2) / 2
    before = excess_bound(ndtr(-aligned @ mean), old, 0.0, 1.0, 0.005, excess_losses._RATES).min()
    after = excess_bound(ndtr(-aligned @ moved), old, kl, 1.0, 0.005, excess_losses._RATES).min()
    assert 0 < kl < 100 and after < before - 0.1
    tested = bounds.test_set(old.sum(), 600, 0.05)
    one, two = (excess_losses.recursion(aligned, mean, n_levels, 1.0) for n_levels in (1, 2))
    assert one < tested - 0.1 and two < tested - 0.05  # levels gain where there is much to gain


def test_the_gain_needed_is_where_the_bound_on_the_excess_is_zero():
    n, disagree = 1000, 0.1
    gain = excess_losses.least_gain(disagree, n)
    assert gain > np.sqrt(disagree * -np.log(0.05) / (n * np.log(2)))
    rates = np.linspace(0.001, 0.999, 999)

    def largest(gain):
        _, alone, saved = excess_logarithms(rates, 1.0)
        return ((disagree - gain) / 2 * alone + (disagree + gain) / 2 * saved).max() + np.log(0.05) / n

    assert largest(gain - 0.002) < 0 < largest(gain + 0.002)
    assert excess_losses.least_gain(0.001, n) == np.inf


def test_the_table_takes_the_better_fraction_and_the_best_test_set():
    rows = [
        {
            "dataset": "breast",
            "split": s,
            "D": 100,
            "fraction": f,
            "vote": 0.1,
            "n_bound": 2000,
            "hybrid": 0.1 + f / 100,
        }
        | {name: f + k / 100 for k, name in enumerate(excess_losses.LEVELS)}
        | {"hybrid": 0.1 + f / 100, "posterior": float(s == 0), "gain": 0.01, "disagree": 0.02}
        for s in (0, 1)
        for f in excess_losses.FRACTIONS
    ]
    (line,) = excess_losses.tables(pd.DataFrame(rows)).splitlines()[2:]
    cells = line.strip("| ").split(" | ")
    tested = pd.read_csv(seven_sets.SHIPPED).query("dataset == 'breast' and D == 100 and split < 2")
    assert cells[2] == f"{100 * tested[seven_sets.TESTS].mean().min():.2f}"
    assert cells[1] == "2" and cells[3:9] == ["10.50", "1", "20.00", "21.00", "22.00", "23.00"]
    assert cells[10:] == ["1.00", f"{100 * excess_losses.least_gain(0.02, 2000):.2f}"]
