"""docs/errata.md: numbers that no block of code prints."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

from rff_engine import bounds
from rff_engine.studies.reports import reproduction

ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"


def test_the_printed_theorem_4_fails_as_often_as_the_errata_say():
    """Exactly: the loss of two classes is a function of the size of the first, which is binomial."""
    said = re.search(r"fails on\s+([\d.]+) % of all samples", ERRATA.read_text(encoding="utf-8"))[1]
    n, p = 1000, (1 + 0.5**0.5) / 2
    size = np.arange(n + 1)
    deviation = 2 * p * (1 - p) - 2 * size * (n - size) / (n * (n - 1))
    fails = deviation > bounds.f_divergence(0.0, 0.0, 5.0, n, 0.05, "paper")
    assert said == f"{100 * binom.pmf(size, n, p)[fails].sum():.2f}"


def test_printed_lines_of_the_stopped_solver_are_those_of_the_shipped_rows():
    text = ERRATA.read_text(encoding="utf-8")
    rows = pd.read_csv(reproduction.SHIPPED.with_name("stopped_solver.csv"))
    ours = rows[["stopped_test", "stopped_C", "exact_test", "exact_C"]].to_numpy()
    known = {f"LinearSVC {100 * a:.2f} (C {b:g})  exact {100 * c:.2f} (C {d:g})" for a, b, c, d in ours}
    printed = re.findall(r"LinearSVC .* exact .*", text)
    assert len(printed) == 5 and set(printed) <= known
