"""Certificates of scikit-learn's classifiers next to conformal prediction: the table of the documentation."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB

from benchmarks.studies import any_classifier


def shown() -> str:
    page = any_classifier.PAGE.read_text(encoding="utf-8")
    begin, end = map(re.escape, any_classifier.MARKS)
    return re.search(f"{begin}\n(.*)\n{end}", page, re.DOTALL)[1]


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "classifier"), [("wine", "naive Bayes"), ("digits", "naive Bayes")])
def test_documented_rows_are_reached_again(dataset, classifier):
    asked = {"dataset": dataset, "classifier": classifier}
    rows = [asked | row for seed in range(any_classifier.SEEDS) for row in any_classifier.rows_of(**asked, seed=seed)]
    (line,) = any_classifier.table(pd.DataFrame(rows)).splitlines()[2:]
    start = " | ".join(line.split(" | ")[:2])
    (written,) = [one for one in shown().splitlines() if one.startswith(start)]
    numbers = [[float(number) for number in re.findall(r"[0-9.]+", one)] for one in (line, written)]
    assert numbers[0] == pytest.approx(numbers[1], abs=1.0)  # few rows, of which rounding may turn one or two


def test_the_table_has_every_pair_and_the_text_its_failures():
    lines = shown().splitlines()[2:]
    assert len(lines) == len(any_classifier.SETS) * len(any_classifier.CLASSIFIERS)
    plane = [line for line in lines if line.startswith(("| moons", "| five blobs"))]
    failures = sum(int(re.search(r"(\d+) of 10", line)[1]) for line in plane)
    assert f"{failures} of the {10 * len(plane)} certificates fail" in any_classifier.PAGE.read_text(encoding="utf-8")


def test_conformal_sets_hold_the_label_as_often_as_promised():
    X, y = make_moons(41_000, noise=0.3, random_state=0)
    model = GaussianNB().fit(X[:1000], y[:1000])
    sets = any_classifier.conformal_sets(model, X[1000:21_000], y[1000:21_000], X[21_000:])
    missed = np.mean(~sets[np.arange(20_000), y[21_000:]])
    assert missed == pytest.approx(any_classifier.EPSILON, abs=0.008)
    few = any_classifier.conformal_sets(model, X[:10], y[:10], X[21_000:])
    assert few.all()  # ten rows cannot promise 95 % otherwise
