"""The studies of certificates: bounds, choices of beta, and what their tables hold."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rff_engine as rff
from benchmarks.studies import certificates, chosen_beta, pair_bounds, seven_sets
from rff_engine import bounds
from rff_engine._strength import kernel_bound
from rff_engine.certificates import TEST_SET_SHARE


def test_shipped_bounds_are_above_their_parts():
    rows = pd.read_csv(certificates.SHIPPED)
    assert rows[certificates.MEASURED].stack().between(0, 1).all()
    assert (rows["risk_bound"] >= rows["gibbs_bound"] - 1e-9).all() and (rows["D"] > 0).all()
    # Each bound may fail for one split in 20, and hardly ever does by more than the test error's own chance.
    failed = rows["risk_bound"] < rows["test_error"] - 0.02
    assert failed.mean() < 0.05


@pytest.mark.slow
def test_the_docs_have_the_test_set_bounds_at_their_share_of_epsilon():
    rows = pd.read_csv(certificates.SHIPPED).query("method == 'boosting' and D == 100")
    text = (Path(__file__).parents[2] / "docs/certificates.md").read_text(encoding="utf-8")
    sentence = text[text.index("For boosting at D = 100 that is") : text.index("in the mean over the splits")]
    for number, name in re.findall(r"([0-9.]+) % on (\w+)", sentence):
        of = rows[rows["dataset"] == name]
        arms = []
        for n, alone in zip(of["n_bound"], of["test_set_bound"], strict=True):
            every = bounds.test_set(np.arange(n + 1), n, 0.05)
            arms.append(bounds.test_set(int(np.abs(every - alone).argmin()), n, TEST_SET_SHARE * 0.05))
        assert f"{100 * np.mean(arms):.2f}" == number
    assert len(re.findall("%", sentence)) == 5


def test_tables_hold_the_means():
    row = dict.fromkeys(certificates.MEASURED, 0.5) | {"n_bound": 100, "sigma": 1.0}
    rows = pd.DataFrame(
        [
            row
            | {"dataset": "breast", "split": s, "method": method, "D": 100, "test_error": 0.01 * s, "risk_bound": bound}
            for method, bound in (("rff", 0.1), ("boosting", 0.2))
            for s in (1, 2)
        ]
    )
    against, of_bounds = certificates.tables(rows).split("\n\n")
    assert against.splitlines()[-2:] == [
        "| breast | RFF | 1.5 / 10.0 / 50.0 | 2 |",
        "| breast | boosting | 1.5 / 20.0 / 50.0 | 2 |",
    ]
    assert set(certificates.NAMES) == set(certificates.METHODS)
    assert of_bounds.splitlines()[-1].startswith("| breast | RFF | 100 | 1.50 | 10.00 | 50.00 |")


@pytest.mark.slow
def test_beta_by_the_bound_is_the_minimum_on_the_training_rows():
    problem = chosen_beta.BetaProblem("breast", 0)
    n = len(problem.parts.train.y)
    least = kernel_bound(problem.losses, rff.pseudo_posterior(problem.losses, problem.bound_beta, n), n, 0.05)
    for beta in (0.0, *chosen_beta.BETAS):
        assert least <= kernel_bound(problem.losses, rff.pseudo_posterior(problem.losses, beta, n), n, 0.05) + 1e-9
    found = problem.errors(5)
    assert found["validated_beta"] in chosen_beta.BETAS and found["n"] == 340
    assert all(0 <= found[choice] <= 0.5 for choice in chosen_beta.CHOICES)


def test_paired_differences_of_the_choices_of_beta():
    found = {"n": 10, "sigma": 1.0, "bound_beta": 2.0, "validated_beta": 1.0, "prior": 0.3}
    rows = [{"dataset": "ads", "split": s, "D": 5, "bound": 0.1 + s / 100, "validated": 0.2} for s in (0, 2)]
    line = chosen_beta.tables(pd.DataFrame([row | found for row in rows])).splitlines()[-1]
    assert line == "| ads | 5 | 30.00 | 11.00 | 20.00 | -9.00 ± 12.71 | 2 | 1 | 2 |"
    assert chosen_beta.interval([-1.0]) == "-1.00"


def test_least_bounds_over_pairs_are_reached_at_some_beta():
    rng = np.random.default_rng(0)
    loss, variance, n = rng.uniform(0.3, 0.5, 40), rng.uniform(0.05, 0.13, 40), 2000
    *least, elsewhere, bernstein = pair_bounds.least_bounds(loss, variance, n)
    assert least[1] <= elsewhere < 0.5
    least = np.array([*least, bernstein])
    at_prior = (
        bounds.second_order_kl_inverse(loss.mean(), 0.0, n, 0.05),
        bounds.second_order_two_class(loss.mean(), 0.0, n, 0.05),
        bounds.empirical_bernstein(loss.mean(), variance.mean(), 0.0, n, 0.05),
    )
    assert (least > loss.min()).all() and (least <= np.array(at_prior) + 1e-3).all() and least[1] < least[0]


def test_progressive_validation_is_compared_with_the_fraction_best_for_all_and_for_each_set():
    tests = dict.fromkeys(seven_sets.TESTS, 0.3) | {"test_35": 0.2, "D": 100}
    rows = [
        tests
        | {"dataset": name, "split": s, "blocks": 0.1 + s / 100, "rate": 0.25, "test_error": 0.05, "test_80": best}
        for name, best in (("breast", 0.15), ("adult", 0.4))
        for s in (0, 2)
    ]
    breast, adult = seven_sets.tables(pd.DataFrame(rows)).splitlines()[2:]
    middle = "11.00 | 20.00 (35 %) | -9.00 ± 12.71"
    assert breast.startswith(f"| breast | 100 | 5.00 | {middle} | 15.00 (80 %) | -4.00 ± 12.71 | 25.00 |")
    assert adult.startswith(f"| adult | 100 | 5.00 | {middle} | 20.00 (35 %) | -9.00 ± 12.71 | 25.00 |")
    of = pd.read_csv(certificates.SHIPPED).query("method == 'rff' and D == 100 and dataset == 'breast'")
    assert breast.split(" | ")[9] == f"{100 * of['risk_bound'].mean():.2f}"


def test_what_the_best_fraction_of_each_set_gains_over_one_half():
    means = pd.read_csv(seven_sets.SHIPPED).groupby(["D", "dataset"])[seven_sets.TESTS].mean()
    gains = 100 * (means["test_50"] - means.min(axis=1))
    text = " ".join((Path(__file__).parents[2] / "docs/certificates.md").read_text(encoding="utf-8").split())
    assert f"{gains[100].mean():.2f} points below one half over the seven sets at D = 100" in text
    assert f"only ads gains more ({gains[100, 'ads']:.2f} points; {gains[500, 'ads']:.2f} at D = 500)" in text
    assert (gains[100].drop("ads") < 0.1).all()
